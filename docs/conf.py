"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs docs/_build/html``.

Nothing is fetched, neither while building nor by the pages when they are read: formulas are MathML, which browsers draw
themselves. The reference of the methods is written from the registry in the code, and the gallery is run. What the
tutorial shows and the options of the command line are part of their pages, and ``make pages`` updates them.

The pages are plain Markdown, so that a code host shows them as they are. Here their links to benchmarks, results and
examples become links to pages of the site, and names of the library in backticks link to the reference.
"""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numba
import scipy.linalg  # noqa: F401 (it brings a BLAS of its own, to be held to one thread below)
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.util import logging
from threadpoolctl import threadpool_limits

import nashgraph

HERE = Path(__file__).parent
GENERATED = HERE / "generated"
sys.path.insert(0, str(HERE))
from pages import FROM_REPOSITORY, contents, methods_reference, run_tutorial, write_generated  # noqa: E402

logger = logging.getLogger(__name__)

project = "nashgraph"
author = "the nashgraph developers"
copyright = author
version = release = nashgraph.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "report", "generated/methods.rst"]

html_theme = "furo"
html_title = f"nashgraph {release}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
pygments_style = "friendly"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

# Other projects' pages are linked only when asked for, because their indexes have to be fetched.
ONLINE = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "sklearn": "https://scikit-learn.org/stable/",
    "networkx": "https://networkx.org/documentation/stable/",
}
intersphinx_mapping = {name: (where, None) for name, where in ONLINE.items()} if os.getenv("DOCS_ONLINE") else {}

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
    "doc_module": ("nashgraph",),  # which examples use a class: their pictures are on its page
    "backreferences_dir": "generated/backreferences",
    "run_stale_examples": True,  # the numbers shown are those of the code as it is
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
}
mpl.use("agg")
# The examples are small: threads would cost more than they bring.
numba.set_num_threads(1)
threadpool_limits(1)


def generate(app: Any) -> None:
    """Write what is made of code and runs, before Sphinx looks for pages."""
    write_generated(GENERATED)
    (GENERATED / "methods.rst").write_text(methods_reference(GENERATED / "classes"))
    run_tutorial(GENERATED / "tutorial")


def link_within_site(app: Any, docname: str, source: list[str]) -> None:
    """Point links to files of the repository at their pages in the site, and add the contents to the first page."""
    written = FROM_REPOSITORY.get(docname)
    folder = (HERE / f"{docname}.md").parent if written is None else written.parent
    pages = {str(file.resolve()): HERE / f"{name}.md" for name, file in FROM_REPOSITORY.items()}
    examples = HERE.parent / "examples"
    pages |= {str(file): HERE / "gallery" / f"{file.stem}.rst" for file in examples.glob("plot_*.py")}
    pages |= {str(examples): HERE / "gallery" / "index.rst"}

    def moved(link: re.Match[str]) -> str:
        path, _, anchor = link[1].partition("#")
        file = os.path.normpath(folder / path)
        page = pages.get(file, file if written is not None and Path(file).exists() else None)
        if not path or page is None:
            return link[0]
        return f"]({os.path.relpath(page, (HERE / docname).parent)}{'#' if anchor else ''}{anchor})"

    source[0] = re.sub(r"\]\(([^()\s]+)\)", moved, source[0])
    if docname == "generated/benchmarks/README":
        source[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    if docname == "index":
        source[0] += contents()


def link_names(app: Any, doctree: nodes.document) -> None:
    """Make a name of the library in backticks a link to its place in the reference."""
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()")
        public = name.split(".")[0] in nashgraph.__all__ or name.startswith("nashgraph.")
        if (
            not public
            or not re.fullmatch(r"[\w.]+", name)
            or isinstance(literal.parent, nodes.reference | pending_xref)
        ):
            continue
        target = name if name.startswith("nashgraph.") else f"nashgraph.{name}"
        link = pending_xref("", literal.copy(), refdomain="py", reftype="obj", reftarget=target, refwarn=False)
        link[0] += nodes.Text(literal.astext())
        link["refdoc"] = app.env.docname
        literal.replace_self(link)


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula as MathML; what docutils cannot read is warned of and shown as it was typed."""
    tex = node.astext().replace(r"\dots", r"\ldots")
    tex = re.sub(r"\\(textstyle|displaystyle|[Bb]ig+[lr]?)(?![A-Za-z])\s*", "", tex)
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
    app.connect("source-read", link_within_site)
    app.connect("doctree-read", link_names)
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
