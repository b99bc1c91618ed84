"""Tables of known content, written in many ways, are read correctly."""

import csv
import io
import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nashgraph import read_study
from nashgraph.io.model_record import record_from_json, record_to_json
from nashgraph.validation import InputError

from ..io.test_model import RECORD

pytestmark = pytest.mark.filterwarnings("ignore")
LETTERS = st.characters(categories=["L", "N", "P", "S"], exclude_characters="\"'")
NAMES = st.text(LETTERS, min_size=1, max_size=8)
NUMBERS = st.integers(-3000, 3000).map(lambda k: k / 32 + 1 / 64)  # measurements: no codes, no levels, no outliers


@st.composite
def tables(draw):
    """A table of numbers with names of rows and columns, and how to write it."""
    n, m = draw(st.integers(3, 8)), draw(st.integers(2, 5))
    ids = draw(st.lists(NAMES, min_size=n, max_size=n, unique_by=str.strip))
    columns = [f"q{k}" for k in range(m)]
    values = np.array(draw(st.lists(NUMBERS, min_size=n * m, max_size=n * m))).reshape(n, m)
    values[0], values[1] = 1 / 64, 2 + 1 / 64  # no column is constant
    return ids, columns, values


@given(tables(), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_is_read_as_what_it_says(tmp_path_factory, table, separator, encoding):
    ids, columns, values = table
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["who", *columns])
    writer.writerows([name, *map(float, row)] for name, row in zip(ids, values, strict=True))
    file = tmp_path_factory.getbasetemp() / "table.csv"
    file.write_bytes(text.getvalue().encode(encoding))
    layout = {"separator": separator, "encoding": encoding}
    found = read_study(file, id="who", keep=columns, standardize=False, **layout).signals
    assert [str(name) for name in found.columns] == [name.strip() for name in ids] or list(found.columns) == ids
    np.testing.assert_array_equal(found.to_numpy(), values.T)


@pytest.mark.usefixtures("read_here")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is the same for every example
@given(tables(), st.sampled_from(["npy", "parquet", "xlsx"]))
def test_every_kind_of_file_gives_the_same_numbers(tmp_path_factory, table, kind):
    ids, columns, values = table
    frame = pd.DataFrame(values, columns=columns)
    file = tmp_path_factory.getbasetemp() / f"table.{kind}"
    if kind == "npy":
        np.save(file, values)
    elif kind == "parquet":
        frame.assign(who=ids).to_parquet(file)
    else:
        assume(not any(name.startswith(("=", "#")) for name in ids))  # written as formulas, and as Excel's errors
        frame.assign(who=ids).to_excel(file, index=False)
    who, keep = ("none", [f"column {k + 1}" for k in range(len(columns))]) if kind == "npy" else ("who", columns)
    study = read_study(file, id=who, keep=keep, standardize=False)
    np.testing.assert_allclose(study.signals.to_numpy(), values.T, rtol=1e-14)


def places(content, at=()):
    """Yield every place in a JSON value."""
    yield at
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from places(value, (*at, key))


WHOLE = json.loads(record_to_json(RECORD))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.sampled_from([place for place in places(WHOLE) if place]), VALUES)
def test_a_model_with_any_value_at_any_place_is_a_model_or_is_refused(place, value):
    content = json.loads(json.dumps(WHOLE))
    part = content
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with suppress(InputError):
        record = record_from_json(json.dumps(content))
        assert record_from_json(record_to_json(record)) is not None
