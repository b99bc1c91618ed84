"""What tools/prose.py reads and counts."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "prose.py"


@pytest.fixture
def tool():
    spec = spec_from_file_location("prose", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_messages_are_texts_without_docstrings_and_help(tool, tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        'def f(x):\n    """A docstring is not a message."""\n'
        '    option(help="Neither is this help text of it.")\n'
        '    raise ValueError(f"{x} must be a whole number, for example 3")\n'
        '    return "short"\n'
    )
    assert tool.messages(file) == "x must be a whole number, for example 3"


def test_words_of_a_page_and_of_a_script_are_read(tool, tmp_path):
    page, script = tmp_path / "page.html", tmp_path / "table.js"
    page.write_text("{% if a %}<p>All <b>circles</b> are {{ size }}</p>{# no #}<style>p {}</style>{% endif %}")
    assert tool.page_text(page).split() == ["All", "circles", "are", "x"]
    script.write_text('const text = `${n} of the pairs are tied`; const key = "not_prose";')
    assert tool.page_text(script) == "x of the pairs are tied"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("compute it from what is there", "headless what"),
        ("those who answered", "those who/that"),
        ("pairwise where there are gaps", "where for if"),
        ("it takes a matrix", "takes, holds"),
        ("the page says", "says, tells"),
        ("At 0.9 nine of ten find it, however one looks", "however, whoever"),
        ("of two resamples' weight is in common", "resample"),
        ("how settled that is", "settled, steady"),
    ],
)
def test_a_stumbling_block_is_found(tool, text, block):
    assert [name for name, pattern in tool.STUMBLES.items() if re.search(pattern, text, re.MULTILINE)] == [block]
