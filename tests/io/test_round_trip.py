"""Tables with a known content, written in every way that text can be, are read back unchanged."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from nashgraph import InputError, read_study
from nashgraph.io import TableOptions
from nashgraph.io.text import read_text

from ..commands import LAST_DIGIT

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp"))
WORDS = st.text(LETTERS, min_size=1, max_size=8).filter(lambda word: word.strip() == word)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)
QUANTITIES = st.floats(-1e4, 1e4).map(lambda value: round(value, 3))


@st.composite
def tables(draw):
    """Names, a column of numbers, one of numbers with gaps, one of words; a separator, an encoding, a line end."""
    rows = draw(st.integers(2, 8))
    headings = draw(st.lists(WORDS.filter(lambda name: "#" not in name), min_size=4, max_size=4, unique=True))
    return (
        pd.DataFrame(
            {
                headings[0]: draw(st.lists(WORDS, min_size=rows, max_size=rows, unique=True)),
                headings[1]: draw(st.lists(NUMBERS, min_size=rows, max_size=rows)),
                headings[2]: draw(st.lists(NUMBERS | st.none(), min_size=rows, max_size=rows)),
            }
        ).astype({headings[1]: float, headings[2]: float}),
        draw(st.sampled_from(",;\t|§")),
        draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        draw(st.sampled_from(["\n", "\r\n"])),
    )


@settings(max_examples=100)
@given(table=tables())
def test_every_number_and_name_comes_back(table, tmp_path_factory):
    frame, separator, encoding, end = table
    path = tmp_path_factory.getbasetemp() / "round.csv"
    text = frame.to_csv(index=False, sep=separator, lineterminator=end, quoting=1)
    path.write_bytes(text.encode(encoding))
    back, _ = read_text(path, TableOptions(separator=separator, encoding=encoding), exact=[frame.columns[0]])
    assert list(back.columns) == list(frame.columns)
    assert back.iloc[:, 0].tolist() == frame.iloc[:, 0].tolist()
    np.testing.assert_allclose(back.iloc[:, 1:].to_numpy(float), frame.iloc[:, 1:].to_numpy(), rtol=LAST_DIGIT, atol=0)


def written(value, decimal, group, before, after):
    """Write a number as people do."""
    whole, _, rest = f"{abs(value):,.3f}".partition(".")
    rest = rest.rstrip("0")
    return f"{'-' if value < 0 else ''}{before}{whole.replace(',', group)}{decimal + rest if rest else ''}{after}"


@settings(max_examples=100)
@given(
    values=st.lists(QUANTITIES, min_size=4, max_size=12, unique=True),
    style=st.sampled_from(
        [
            (".", ",", "$", ""),
            (".", " ", "", " €"),
            (",", ".", "", "%"),
            (",", "\u202f", "", ""),
            (".", "'", "CHF ", ""),
        ]
    ),
    said=st.booleans(),
)
def test_numbers_as_people_write_them_come_back(values, style, said, tmp_path_factory):
    decimal, group, before, after = style
    cells = [written(value, decimal, group, before, after) for value in values]
    path = tmp_path_factory.getbasetemp() / "written.csv"
    pd.DataFrame({"id": [f"p{k}" for k in range(len(cells))], "x": cells}).to_csv(path, index=False)
    layout = {"decimal": decimal, "thousands": group if said else None}
    study = read_study(path, standardize=False, keep=["x"], **layout)
    np.testing.assert_array_equal(study.signals.loc["x"], np.array(values) + 0.0)


@settings(max_examples=150)
@given(content=st.binary(max_size=60) | st.text(st.sampled_from('a1,;"\n#. -'), max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(content)
    try:
        study = read_study(path, gaps="pairwise")
    except InputError:
        return
    assert study.signals.shape[1] >= 2
