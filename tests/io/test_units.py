"""Names stay as written, and units do not decide which nodes are near."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from nashgraph import read_study
from nashgraph.io import read_nodes

from ..commands import run


def test_a_name_of_digits_stays_as_it_is_written(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\n007,1.5,2.1\n08,2.5,7.2\n1e3,3.5,1.3\n+4,9.5,4.4\n")
    out = tmp_path / "out"
    assert run("learn", tmp_path / "t.csv", "--method", "smooth", "--degree", "2", "--out", out).exit_code == 0
    assert set(read_nodes(out / "nodes.csv").name) == {"007", "08", "1e3", "+4"}


@given(st.integers(0, 1000), st.sampled_from([1e-3, 1e3]))
def test_gaps_are_filled_alike_in_any_unit(seed, unit):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(20, 4)), columns=list("abcd")).assign(name=[f"n{k}" for k in range(20)])
    table.loc[3, "d"] = np.nan
    both = (table, table.assign(a=unit * table.a))
    here, there = (read_study(one, gaps="impute", standardize=False).signals.loc["d", "n3"] for one in both)
    np.testing.assert_allclose(here, there)
