"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs docs/_build/html``.

Nothing is fetched, neither while building nor by the pages when they are read: formulas are MathML, which browsers draw
themselves. The option reference of the command line and the reference of the methods are written from the
registries in the code, and the gallery is run.
"""

from __future__ import annotations

import html
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numba
import scipy.linalg  # noqa: F401 (it brings a BLAS of its own, to be held to one thread below)
import typer
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from threadpoolctl import threadpool_limits
from typer.cli import get_docs_for_click

import nashgraph
from nashgraph.cli.app import app as command_line

HERE = Path(__file__).parent
GENERATED = HERE / "generated"
EXTRA = GENERATED / "extra"  # copied to the root of the built site as it is
EXTRA.mkdir(parents=True, exist_ok=True)
sys.path.insert(0, str(HERE))
from pages import methods_reference, run_tutorial, write_reproduction  # noqa: E402

logger = logging.getLogger(__name__)

project = "nashgraph"
author = "the nashgraph developers"
copyright = author
version = release = nashgraph.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "report", "generated/command_line.md", "generated/methods.rst"]

html_theme = "furo"
html_title = f"nashgraph {release}"
html_static_path = ["_static"]
html_extra_path = ["generated/extra"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
pygments_style = "friendly"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = False  # tables of what is on the page; the entries themselves are written below them
autodoc_typehints = "none"  # the docstrings say the types, in words
autodoc_member_order = "bysource"
autoclass_content = "class"
napoleon_google_docstring = False
napoleon_custom_sections = [
    ("Attributes", "params_style")
]  # as fields, names like ``adjacency_`` lose their underscore
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "run_stale_examples": True,  # the numbers shown are those of the code as it is
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
}
mpl.use("agg")
# The examples are small: threads would cost more than they bring.
numba.set_num_threads(1)
threadpool_limits(1)


def write_option_reference(page: Path) -> None:
    """Write the commands and their options from the code, so that the page cannot be out of date."""
    command = typer.main.get_command(command_line)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="nashgraph")
    codes = re.findall(r"^(Exit codes: .*)\n", text, flags=re.MULTILINE)
    commands = text.split("\n## ", 1)[1]  # what comes before is the guide's own to say
    commands = re.sub(r"^Exit codes: .*\n", "", commands, flags=re.MULTILINE)
    commands = re.sub(r"^Example: (.*)$", r"```bash\n\1\n```", commands, flags=re.MULTILINE)
    commands = commands.replace("```console\n$ ", "```bash\n")
    page.write_text("\n\n".join([*codes[:1], f"## {commands}"]))


def generate(app: Any) -> None:
    """Write what is made of code and runs, before Sphinx looks for pages."""
    write_option_reference(GENERATED / "command_line.md")
    (GENERATED / "methods.rst").write_text(methods_reference())
    write_reproduction(GENERATED / "reproduction.md")
    run_tutorial(GENERATED / "tutorial")
    shutil.copy(GENERATED / "tutorial" / "village" / "report.html", EXTRA / "tutorial-report.html")


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula as MathML; what docutils cannot read is warned of and shown as it was typed."""
    tex = re.sub(r"\\(textstyle|displaystyle|[Bb]ig+[lr]?)(?![A-Za-z])\s*", "", node.astext())
    try:
        return tex2mathml(re.sub(r"\\tfrac(\d)(\d)", r"\\tfrac{\1}{\2}", tex), as_block=as_block)
    except MathError as error:
        logger.warning("formula not understood: %s", error, location=node)
        return f"<code>{html.escape(tex)}</code>"


def draw_inline(self: Any, node: nodes.math) -> None:
    """Write a formula inside a line."""
    self.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def draw_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on its own."""
    self.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Tell Sphinx of what is above."""
    app.connect("builder-inited", generate)
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
