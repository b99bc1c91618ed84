"""The villages as data sets: their ties, their signals, and known figures of the real ones."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.datasets import ONE_RELIGION_VILLAGES, import_villages, load_villages, villages
from nashgraph.datasets.villages import VILLAGES, code_signals

from ..village_archive import HOUSEHOLDS, pinned_to, village_archive

SURVEY16 = [
    *("religion=1", "religion=2", "religion=3"),
    *("rooftype1", "rooftype2", "rooftype3", "rooftype4", "rooftype5", "room_no", "bed_no"),
    *("electricity=1", "electricity=2", "electricity=3", "latrine=1", "latrine=2", "latrine=3"),
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a data home with two small villages."""
    archive = village_archive(tmp_path / "a.zip")
    monkeypatch.setattr(villages, "VILLAGES", pinned_to(VILLAGES, archive))
    return import_villages(archive, tmp_path / "home")


def test_a_village_is_a_graph_with_signals_and_attributes(home):
    loaded = load_villages(data_home=home)
    assert list(loaded) == [2, 10]
    village = loaded[10]
    assert repr(village) == "Dataset('village 10': 4 nodes, 2 edges, 16 signals)"
    names = [10001, 10002, 10003, 10004]  # the last has no neighbour, and stays
    assert village.names == list(village.graph) == list(village.signals) == list(village.attributes.index) == names
    assert sorted(village.graph.edges()) == [(10001, 10002), (10002, 10003)]
    assert village.attributes["hhSurveyed"].tolist() == [1, 1, 0, 0]
    assert village.attributes["leader"].tolist() == [0, 0, 0, 1]
    assert village.attributes["rooftypeoth"].tolist() == ["", "", "", "MUD AND WOOD"]
    assert "Banerjee" in village.citation
    assert "U3BIHX" in village.source


def test_nodes_are_told_by_their_row_not_by_their_number(home):
    assert sorted(load_villages([2], data_home=home)[2].graph.edges()) == [(2001, 2002), (2002, 2004)]


def test_the_sixteen_signals(home):
    signals = load_villages([10], data_home=home)[10].signals
    assert signals.index.tolist() == SURVEY16
    assert set(signals.dtypes) == {np.dtype("float64")}
    assert signals[10001].tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]  # gave no answer to the last
    assert signals[10002].tolist() == [0, 1, 0, 0, 0, 0, 1, 0, 5, 1, 1, 0, 0, 1, 0, 0]
    assert signals[10004].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 1, 0, 0, 1]


def test_other_signals_can_be_asked_for(home):
    village = load_villages([10], ["castesubcaste", "leader", "ownrent"], home)[10]
    assert village.signals.index.tolist() == [
        *("castesubcaste=GENERAL", "castesubcaste=MINORITY", "castesubcaste=OBC"),
        *("castesubcaste=SCHEDULE CASTE", "castesubcaste=SCHEDULE TRIBE", "leader"),
        *(f"ownrent={kind}" for kind in range(1, 6)),
    ]
    assert village.signals[10003].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert village.signals[10004].tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


def test_signals_of_small_tables_have_every_category():
    assert code_signals(HOUSEHOLDS[:1], ["latrine"]).T.to_numpy().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize(
    ("signals", "message"),
    [
        ("survey17", r"signals='survey17' is not known: choose one of 'survey16', or a list of columns"),
        (["room_no", "rooftypeoth"], "cannot be used: rooftypeoth; choose from hohreligion"),
        ([], "none given"),
    ],
)
def test_signals_that_cannot_be_are_refused(home, signals, message):
    with pytest.raises(ValueError, match=message):
        load_villages([10], signals, home)


def test_villages_that_are_not_there_are_refused(home):
    with pytest.raises(ValueError, match="no such village: 13, 22; the numbers are 1 to 77 without 13 and 22"):
        load_villages([2, 13, 22], data_home=home)
    with pytest.raises(TypeError, match=r"got 10: write ids=\[10\]"):
        load_villages(10, data_home=home)


def test_villages_come_in_the_order_asked_for(home):
    assert list(load_villages((10, 2), data_home=home)) == [10, 2]
    assert list(load_villages(np.array([10]), data_home=home)) == [10]


# ----------------------------------------------------------------------------------------------- the real villages


@pytest.fixture(scope="module")
def real(real_home):
    return load_villages(data_home=real_home, download=False)


def test_the_real_villages_have_their_published_sizes(real):
    assert list(real) == [number for number in range(1, 78) if number not in (13, 22)]
    assert sum(len(village.names) for village in real.values()) == 14_904
    assert sum(village.graph.number_of_edges() for village in real.values()) == 66_862
    surveyed = [village.attributes["hhSurveyed"] for village in real.values()]
    assert sum(asked.sum() for asked in surveyed) == 6_901
    assert sum(village.attributes["leader"].sum() for village in real.values()) == 1_838


def test_the_real_households_that_were_not_surveyed_are_never_linked(real):
    for village in real.values():
        surveyed = village.attributes["hhSurveyed"]
        assert all(surveyed[first] or surveyed[second] for first, second in village.graph.edges())


def test_the_villages_of_one_religion_are_found_again(real):
    found = [number for number, village in real.items() if village.attributes["hohreligion"].nunique() == 1]
    assert tuple(found) == ONE_RELIGION_VILLAGES
    sizes = [len(real[number].names) for number in found]
    assert (len(found), min(sizes), max(sizes)) == (40, 77, 327)
    assert [number for number, village in real.items() if len(village.names) == 77] == [10]


def test_the_real_signals_have_no_gaps(real):
    signals = pd.concat([village.signals for village in real.values()], axis=1)
    assert signals.index.tolist() == SURVEY16
    assert signals.notna().all(axis=None)
    totals = signals.sum(axis=1)
    assert totals[["religion=1", "religion=2", "religion=3"]].tolist() == [14_279, 611, 14]
    assert totals[["electricity=1", "electricity=2", "electricity=3"]].tolist() == [9_195, 4_565, 1_141]
    assert totals[["latrine=1", "latrine=2", "latrine=3"]].tolist() == [3_887, 84, 10_930]
