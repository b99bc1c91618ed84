"""Small functions of the command line that return words or values."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.cli.commands import _plain_usage, as_options, meant, printable
from nashgraph.cli.fitting import as_values, in_time
from nashgraph.cli.groups import folder_names
from nashgraph.cli.learn import counted, graph_files
from nashgraph.cli.messages import plain


def test_messages_of_the_library_and_of_the_parser_name_options():
    assert as_options("degree=100 is more than the 33 others: try engine='threads'") == (
        "--degree 100 is more than the 33 others: try --engine threads"
    )
    assert as_options("GLGP has not converged: check X") == "the method glgp has not converged: check the table"
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
