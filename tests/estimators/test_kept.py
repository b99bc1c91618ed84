"""A consensus that was stopped goes on where it was, and gives the same bits."""

import numpy as np
import pytest

from nashgraph import ConsensusGL
from nashgraph.estimators import _kept, _members


class StoppedError(Exception):
    pass


def stopping(at):
    def tell(done, total):
        if done == at:
            raise StoppedError

    return tell


def counting():
    told = []
    return told, lambda done, total: told.append((done, total))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_kept, "EVERY", 0.0)
    return tmp_path / "kept"


def model(**given):
    return ConsensusGL(**{"resamples": 6, "geometries": ["distance", "cosine"], "random_state": 0, **given})


def stopped(kept, X, at=9):
    with pytest.raises(StoppedError):
        model(checkpoint=kept, progress=stopping(at)).fit(X)


def made_from(kept, X, monkeypatch, **given):
    """Return the fit, and of how many resamples it made ladders."""
    used = []
    monkeypatch.setattr(_members.Resample, "of", lambda self, X: used.append(self.number) or OF(self, X))
    return model(checkpoint=kept, **given).fit(X), used


OF = _members.Resample.of


@pytest.mark.parametrize("dense_nodes", [3000, 5], ids=["dense", "sparse"])
def test_a_fit_that_was_stopped_goes_on_and_is_the_same(kept, signals, monkeypatch, dense_nodes):
    monkeypatch.setattr(_members, "DENSE_NODES", dense_nodes)
    whole = model().fit(signals)
    stopped(kept, signals)
    told, tell = counting()
    found, used = made_from(kept, signals, monkeypatch, progress=tell)
    assert used == [4, 5, 6]
    assert told[-1] == (17, 17)
    np.testing.assert_array_equal(found.adjacency_, whole.adjacency_)
    assert found.edges().equals(whole.edges())
    assert found.graph_.nodes().equals(whole.graph_.nodes())
    assert not kept.exists()


@pytest.mark.parametrize("change", ["signals", "seed", "code", "damage", "a graph lost"])
def test_what_was_kept_of_something_else_is_not_used(kept, signals, monkeypatch, change):
    stopped(kept, signals)
    seed = 0
    if change == "signals":
        signals = signals + np.eye(*signals.shape)
    elif change == "seed":
        seed = 1
    elif change == "code":
        monkeypatch.setattr(_kept, "code_digest", lambda: "other")
    elif change == "damage":
        (kept / "mean.npz").write_bytes(b"PK")
    else:
        (kept / "graph-1.npz").unlink()
    found, used = made_from(kept, signals, monkeypatch, random_state=seed)
    assert used == list(range(7))
    np.testing.assert_array_equal(found.adjacency_, model(random_state=seed).fit(signals).adjacency_)
    assert not kept.exists()


def test_a_short_fit_keeps_nothing_and_other_files_stay(tmp_path, signals):
    (tmp_path / "mine.txt").write_text("")
    stopped(tmp_path, signals)
    model(checkpoint=tmp_path).fit(signals)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_where_nothing_can_be_kept_the_fit_goes_on(kept, signals):
    kept.write_text("a file, and no folder")
    assert model(checkpoint=kept).fit(signals).converged_
