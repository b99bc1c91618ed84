"""Small functions of the command line that return words or values."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.cli.commands import _plain_usage, meant, printable
from nashgraph.cli.fitting import as_values, in_time
from nashgraph.cli.groups import folder_names
from nashgraph.cli.learn import counted, graph_files
from nashgraph.cli.messages import plain
from nashgraph.cli.phrases import as_typed, phrased
from nashgraph.decisions import Remedy
from nashgraph.validation import InputError


def test_errors_are_phrased_from_their_fields():
    error = InputError("degree is too large", parameter="degree", value=100, remedy=Remedy("degree", 10))
    assert str(error) == "degree is too large; try degree=10"
    assert phrased(error) == "--degree: degree is too large; try --degree 10"
    assert phrased(InputError("no room", parameter="reports")) == "--names: no room"
    assert phrased(InputError("no such field", parameter="points")) == "no such field"
    assert phrased(ValueError("other")) == "other"


@pytest.mark.parametrize(
    ("remedy", "words"),
    [
        (Remedy("random_state", 1), "--seed 1"),
        (Remedy("drop", ("a", "b")), "--drop a,b"),
        (Remedy("standardize", True), "--set standardize=yes"),
        (Remedy("tol", 1e-8), "--set tol=1e-08"),
    ],
)
def test_a_remedy_is_what_to_type(remedy, words):
    assert as_typed(remedy) == words


def test_the_parser_says_what_may_have_been_meant():
    assert _plain_usage("Value error, 'imput' is not one of 'error', 'impute'.") == (
        "'imput' is not one of 'error', 'impute' (did you mean 'impute'?)"
    )
    assert meant("glpg", ["smooth", "glgp"]) == " (did you mean 'glgp'?)"


def test_numbers_and_names_are_written_for_people():
    assert (counted(1, "note"), counted(1786, "tie")) == ("1 note", "1,786 ties")
    assert [in_time(seconds) for seconds in (42, 400, 9000)] == ["42 s", "7 minutes", "2.5 hours"]
    assert printable("ann[bold] \x1b[31m") == r"ann[bold] \x1b[31m"


def test_folders_of_groups_differ_on_every_system():
    groups = ["x", "x-2", "x!", "X", "Nord/Ost", "..", "con", "aux.csv"]
    assert folder_names(groups) == {
        **{"x": "x", "x-2": "x-2", "X": "X-3", "x!": "x-4", "Nord/Ost": "Nord_Ost", "..": "group", "con": "con_"},
        "aux.csv": "aux_.csv",
    }


def test_graph_files_are_those_asked_for():
    assert graph_files("graphml", 50) == ["edges.csv", "nodes.csv", "graph.graphml"]
    assert graph_files(None, 5000) == ["edges.csv", "nodes.csv"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([1, None], dtype="Int64"), np.array([1.0, np.nan])),
        (pd.Series(["n", None]), np.array(["n", None], dtype=object)),
        (pd.Series([True, False]), np.array([True, False])),
    ],
)
def test_columns_keep_their_values(column, expected):
    assert as_values(column).dtype == expected.dtype
    np.testing.assert_array_equal(as_values(column), expected)


@pytest.mark.parametrize(
    ("value", "expected"), [(np.float64(0.5), 0.5), (np.int64(3), 3), (np.nan, None), (np.inf, None), ("a", "a")]
)
def test_values_are_plain_in_json(value, expected):
    assert plain(value) == expected
