"""Ids and quantities, on both sides of every rule."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.io import TableOptions, signals_of

N = 30
SHUFFLED = np.random.default_rng(0).permutation(N)
HOUSEHOLDS = [f"hh {k}" for k in range(N)]


def drawn(low, high, size=N):
    return np.random.default_rng(1).integers(low, high, size=size).tolist()


def distinct(low, high, size=N):
    return np.random.default_rng(2).choice(np.arange(low, high), size=size, replace=False).tolist()


LEFT_OUT = {
    "counts from 1001": ("no", [1001 + k for k in range(N)], "it counts the rows"),
    "counts from 1001, as floats": ("no", [1001.0 + k for k in range(N)], "it counts the rows"),
    "counts with some left out": ("no", [k + k // 5 for k in range(N)], "it counts the rows"),
    "counts by tens": ("no", [10 * k for k in range(N)], "it counts the rows"),
    "counts, shuffled": ("no", (1001 + SHUFFLED).tolist(), "it numbers the nodes"),
    "an id by name": ("friend_id", drawn(1, 500), "its name says so"),
    "an id by name, in one word": ("FriendID", drawn(1, 500), "its name says so"),
    "a zip code": ("zip", drawn(10_000, 99_999), "its name says so"),
    "zeros in front": ("plz", [f"{k:05d}" for k in drawn(1, 99_999)], "begin with zeros"),
    "telephones": ("call", distinct(600_000_000, 699_999_999), "long numbers"),
    "nominations": ("friend", [HOUSEHOLDS[k] for k in drawn(0, N)], "it names other nodes"),
    "free text": ("remark", [f"remark {k}" for k in range(N)], "text with 30 different values"),
}
SIGNALS = {
    "income": ("income", drawn(500, 9_000)),
    "income, all different": ("income", distinct(10_000, 99_999)),
    "income, sorted": ("income", sorted(distinct(500, 9_000))),
    "large round incomes": ("income", [1000 * k for k in distinct(100_000, 99_999_000)]),
    "age": ("age", drawn(18, 80)),
    "age, sorted": ("age", sorted(drawn(18, 80))),
    "rank": ("rank", (1 + SHUFFLED).tolist()),
    "rank, sorted": ("rank", list(range(1, N + 1))),
    "plays": ("plays", distinct(0, 10_000)),
    "what was paid": ("paid", drawn(0, 400)),
    "a video's views": ("video", drawn(0, 400)),
    "yes and no": ("has_id", drawn(0, 2)),
    "a measure that grows": ("height", np.linspace(1.5, 1.9, N).tolist()),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_codes_are_left_out_and_said_and_kept_if_asked(case):
    name, values, why = LEFT_OUT[case]
    table = pd.DataFrame({"id": HOUSEHOLDS, "age": drawn(18, 80), name: values})
    found = signals_of(table)
    assert list(found.table.index) == ["age"]
    assert any(f"{name!r} (" in note and why in note for note in found.notes)
    if not isinstance(values[0], str):
        assert list(signals_of(table, TableOptions(keep=(name,))).table.index) == ["age", name]
    named = signals_of(table, TableOptions(categorical=(name,)))
    assert len(named.table) == 1 + len(set(values))


@pytest.mark.parametrize("case", SIGNALS)
def test_quantities_are_signals(case):
    name, values = SIGNALS[case]
    table = pd.DataFrame({"id": [1001 + k for k in range(N)], "size": drawn(1, 9), name: values})
    assert list(signals_of(table).table.index) == ["size", name]


def test_nominations_by_number_are_found_where_numbers_are_plainly_names():
    named = [1001 + int(k) for k in drawn(0, N)]
    table = pd.DataFrame({"id": [1001 + k for k in range(N)], "best": named, "age": drawn(18, 80)})
    assert list(signals_of(table).table.index) == ["age"]
    heights = pd.DataFrame({"id": range(101, 401), "height": drawn(150, 190, 300), "age": drawn(18, 80, 300)})
    assert list(signals_of(heights).table.index) == ["height", "age"]


def test_codes_of_few_values_make_a_category():
    table = pd.DataFrame({"id": HOUSEHOLDS, "village_id": [1, 2, 3] * 10, "zip": ["02139", "10001"] * 15})
    found = signals_of(table)
    assert list(found.table.index) == ["village_id=1", "village_id=2", "village_id=3", "zip=02139", "zip=10001"]
    assert any("'village_id' is a category, for its name says so, coded as 3 signals" in note for note in found.notes)


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        ({"age": drawn(18, 80), "Household": distinct(0, 900)}, "Household"),
        ({"age": drawn(18, 80), "person_id": distinct(0, 900)}, "person_id"),
        ({"no": [1001 + k for k in range(N)], "age": drawn(18, 80)}, "no"),
        ({"no": sorted(distinct(10_000, 99_999)), "age": drawn(18, 80)}, "no"),
        ({"town": HOUSEHOLDS, "age": drawn(18, 80)}, "town"),
        ({"age": drawn(18, 80), "size": distinct(0, 900)}, None),
        ({"income": distinct(10_000, 99_999), "age": drawn(18, 80)}, None),
        ({"household": [1, 2, 3] * 10, "income": drawn(0, 900)}, None),
    ],
)
def test_what_plainly_names_the_nodes_is_taken_as_their_names(columns, taken):
    found = signals_of(pd.DataFrame(columns))
    names = list(map(str, range(1, N + 1))) if taken is None else [str(value) for value in columns[taken]]
    assert list(found.table.columns) == names
    assert (f"nodes are named by the column {taken!r}" in found.notes) == (taken is not None)
    assert taken not in found.table.index


def test_a_first_column_of_shuffled_numbers_without_a_hole_names_the_rows(random):
    table = pd.DataFrame({"nr": random.permutation(40) + 1, "age": random.integers(18, 80, 40), "q": np.arange(40) % 5})
    assert list(signals_of(table).table.index) == ["age", "q"]
    table.loc[7, "nr"] = 90
    assert list(signals_of(table).table.index) == ["nr", "age", "q"]
