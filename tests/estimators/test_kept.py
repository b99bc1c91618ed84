"""A consensus, a path or a selection that was stopped goes on where it was, and gives the same bits."""

import numpy as np
import pytest

from nashgraph import GLGP, ConsensusGL
from nashgraph.estimators import _kept, _members
from nashgraph.solvers import paths


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
    return model(checkpoint=kept, **given).fit(X), sorted({*used})


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


def path_of(X, **given):
    return GLGP(degree=5, benefit=np.arange(30.0), storage=given.pop("storage", "auto")).path(X, n_lams=5, **given)


def stopping_after(count):
    told = []

    def tell():
        told.append(None)
        if len(told) == count:
            raise StoppedError

    return tell


@pytest.fixture
def solves(monkeypatch):
    """The lambdas that are solved for."""
    found, solve = [], paths.best_response
    monkeypatch.setattr(paths, "best_response", lambda *given, **rest: found.append(given[1]) or solve(*given, **rest))
    return found


@pytest.mark.parametrize("at", [2, 7], ids=["upward", "downward"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_path_that_was_stopped_goes_on_and_is_the_same(kept, signals, solves, storage, at):
    whole = path_of(signals, storage=storage)
    with pytest.raises(StoppedError):
        path_of(signals, storage=storage, checkpoint=kept, progress=stopping_after(at))
    solves.clear()
    told = []
    found = path_of(signals, storage=storage, checkpoint=kept, progress=lambda: told.append(None))
    assert (len(solves), len(told)) == (9 - at, 9)
    assert found.table().equals(whole.table())
    for ours, theirs in zip(found.models, whole.models, strict=True):
        assert ours.edges().equals(theirs.edges())
        assert ours.graph_.nodes().equals(theirs.graph_.nodes())
        assert vars(ours.certificate_) == vars(theirs.certificate_)
    assert not kept.exists()


@pytest.mark.parametrize("change", ["signals", "interaction", "tol", "lams", "damage"])
def test_solves_of_another_path_are_not_used(kept, signals, solves, change):
    with pytest.raises(StoppedError):
        path_of(signals, checkpoint=kept, progress=stopping_after(4))
    solves.clear()
    given = {"degree": 5, "benefit": np.arange(30.0)}
    count = 5
    if change == "signals":
        signals = signals + np.eye(*signals.shape)
    elif change == "interaction":
        given["interaction"] = "linear"
    elif change == "tol":
        given["tol"] = 1e-3
    elif change == "lams":
        count = 4
    else:
        (kept / "step-0.npz").write_bytes(b"PK")
    GLGP(**given).path(signals, n_lams=count, checkpoint=kept)
    assert len(solves) == 2 * count - 1
    assert not kept.exists()


def test_a_selection_that_was_stopped_goes_on_and_is_the_same(kept, signals, monkeypatch):
    fitted = model().fit(signals)
    whole = fitted.select(20, splits=10)
    with pytest.raises(StoppedError):
        fitted.select(20, splits=10, checkpoint=kept, progress=stopping(13))
    learned, plain = [], ConsensusGL._plain
    monkeypatch.setattr(ConsensusGL, "_plain", lambda self, X: learned.append(None) or plain(self, X))
    found = fitted.select(20, splits=10, checkpoint=kept)
    assert len(learned) == 20 - 13
    assert found.edges().equals(whole.edges())
    assert not kept.exists()
