"""A consensus, a path or a selection that was stopped continues from there, and gives the same bits."""

import json

import numpy as np
import pytest

from nashgraph import GLGP, BestResponse, ConsensusGL, DataWarning, GamePrior
from nashgraph.consensus import checkpoint, members


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
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    return tmp_path / "checkpoints"


def saved_in(folder):
    return folder / "nashgraph-consensus"


def model(**given):
    return ConsensusGL(**{"n_replicates": 6, "signals": "answers", "random_state": 0, **given})


def stopped(folder, X, at=2):
    with pytest.raises(StoppedError):
        model().fit(X, checkpoint=folder, progress=stopping(at))


def made_from(folder, X, monkeypatch, progress=None, **given):
    """Return the fit, and the geometries whose ladders it computed."""
    used = []
    monkeypatch.setattr(members.Ladders, "_made", lambda self, X, name: used.append(name) or MADE(self, X, name))
    return model(**given).fit(X, checkpoint=folder, progress=progress), used


MADE, ALL = members.Ladders._made, ["distance", "cosine", "inner"]


def test_a_fit_that_was_stopped_goes_on_and_is_the_same(folder, signals, monkeypatch):
    whole = model().fit(signals)
    stopped(folder, signals)
    told, tell = counting()
    found, used = made_from(folder, signals, monkeypatch, tell)
    assert used == ["inner"]
    assert told[-1] == (10, 10)
    np.testing.assert_array_equal(found.adjacency_.toarray(), whole.adjacency_.toarray())
    assert found.edges().equals(whole.edges())
    assert found.graph_.nodes().equals(whole.graph_.nodes())
    assert not folder.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("signals", "of other signals, settings or another version"),
        ("degrees", "of other signals, settings or another version"),
        ("code", "of other signals, settings or another version"),
        ("damage", "step-0.npz is damaged"),
        ("another file", r"step-0.npz is damaged \(File is not a zip file\)"),
        ("another step", r"step-0.npz is damaged \(it is not as it was written\)"),
        ("a link", "step-0.npz is not a file that was written here"),
        ("a folder", "step-0.npz is not a file that was written here"),
        ("manifest", "no manifest of ours"),
    ],
)
def test_a_checkpoint_that_cannot_be_used_is_reported(folder, signals, monkeypatch, change, said):
    stopped(folder, signals)
    degrees, files = 8, saved_in(folder)
    if change == "signals":
        signals = signals + np.eye(*signals.shape)
    elif change == "degrees":
        degrees = 7
    elif change == "code":
        monkeypatch.setattr(checkpoint, "code_digest", lambda: "other")
    elif change == "damage":
        (files / "step-0.npz").write_bytes(b"PK")
    elif change == "another file":
        (files / "step-0.npz").write_bytes(b"text")
    elif change == "another step":
        (files / "step-0.npz").write_bytes((files / "step-1.npz").read_bytes())
    elif change == "a link":
        (files / "step-0.npz").rename(folder / "elsewhere.npz")
        (files / "step-0.npz").symlink_to(folder / "elsewhere.npz")
    elif change == "a folder":
        (files / "step-0.npz").unlink()
        (files / "step-0.npz").mkdir()
    else:
        (files / "manifest.json").write_text('{"digest": "", "files": ["../mine.npz"]}')
    with pytest.warns(DataWarning, match=said) as caught:
        found, used = made_from(folder, signals, monkeypatch, n_degrees=degrees)
    assert "the run starts from the beginning" in str(caught[0].message)
    assert used == ALL
    np.testing.assert_array_equal(
        found.adjacency_.toarray(), model(n_degrees=degrees).fit(signals).adjacency_.toarray()
    )
    if change == "a link":
        assert (folder / "elsewhere.npz").exists()
    elif change not in {"a folder", "manifest"}:  # files that no checkpoint wrote stay
        assert not folder.exists()


def test_a_lost_ladder_means_starting_again(folder, signals, monkeypatch):
    stopped(folder, signals)
    (saved_in(folder) / "step-0.npz").unlink()
    assert made_from(folder, signals, monkeypatch)[1] == ALL
    assert not folder.exists()


MINE = ("mean.npz", "graph-1.npz", "step-0.npz", "replicate-1.npz", "manifest.json", "mine.txt")


@pytest.mark.parametrize("through_link", [False, True])
def test_files_of_others_are_never_removed(folder, signals, tmp_path, through_link):
    """In the user's folder, in the checkpoint's own, and where links in it point to."""
    folder.mkdir()
    for name in MINE:
        (folder / name).write_text("mine")
    given = folder
    if through_link:
        given = tmp_path / "link"
        given.symlink_to(folder)
    stopped(given, signals)
    (saved_in(folder) / "mine.txt").write_text("mine")
    (saved_in(folder) / "step-7.npz").symlink_to(folder / "mine.txt")
    model().fit(signals, checkpoint=given)
    path_of(signals, checkpoint=given)
    assert [(folder / name).read_text() for name in MINE] == ["mine"] * len(MINE)
    assert sorted(file.name for file in saved_in(folder).iterdir()) == ["mine.txt", "step-7.npz"]
    assert not (folder / "nashgraph-path").exists()


def test_a_folder_of_the_users_with_the_checkpoint_s_name_is_left_alone(folder, signals):
    saved_in(folder).mkdir(parents=True)
    (saved_in(folder) / "mean.npz").write_text("mine")
    with pytest.warns(DataWarning, match="no manifest of ours"):
        model().fit(signals, checkpoint=folder)
    assert [file.name for file in saved_in(folder).iterdir()] == ["mean.npz"]
    assert (saved_in(folder) / "mean.npz").read_text() == "mine"


def test_a_link_in_the_checkpoint_s_place_is_not_followed(folder, signals, tmp_path):
    stopped(tmp_path / "other", signals)
    before = sorted((tmp_path / "other").rglob("*"))
    folder.mkdir()
    saved_in(folder).symlink_to(saved_in(tmp_path / "other"))
    with pytest.warns(DataWarning, match="is not used"):
        model().fit(signals, checkpoint=folder)
    assert sorted((tmp_path / "other").rglob("*")) == before


def test_what_a_killed_run_left_half_written_is_removed(folder, signals):
    stopped(folder, signals)
    (saved_in(folder) / "step-0.npz.new").write_bytes(b"half")
    model().fit(signals, checkpoint=folder)
    assert not folder.exists()


def test_an_empty_folder_of_the_users_stays(folder, signals):
    folder.mkdir()
    model().fit(signals, checkpoint=folder)
    assert list(folder.iterdir()) == []


def test_a_short_fit_saves_nothing(tmp_path, signals):
    stopped(tmp_path, signals)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_saved_the_fit_goes_on_and_says_so(folder, signals):
    folder.write_text("a file, not a folder")
    with pytest.warns(DataWarning, match="no checkpoint can be saved"):
        assert model().fit(signals, checkpoint=folder).converged_
    assert folder.read_text() == "a file, not a folder"


def path_of(X, **given):
    solver = BestResponse(storage=given.pop("storage", "auto"))
    return GLGP(degree=5, benefit=np.arange(30.0), solver=solver).path(X, n_lams=5, **given)


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
    found, solve = [], BestResponse.solve
    monkeypatch.setattr(BestResponse, "solve", lambda *given: found.append(given[2]) or solve(*given))
    return found


@pytest.mark.parametrize("at", [2, 7], ids=["upward", "downward"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_path_that_was_stopped_goes_on_and_is_the_same(folder, signals, solves, storage, at):
    whole = path_of(signals, storage=storage)
    with pytest.raises(StoppedError):
        path_of(signals, storage=storage, checkpoint=folder, progress=stopping_after(at))
    solves.clear()
    told = []
    found = path_of(signals, storage=storage, checkpoint=folder, progress=lambda: told.append(None))
    assert (len(solves), len(told)) == (9 - at, 9)
    assert found.table().equals(whole.table())
    for ours, theirs in zip(found.models, whole.models, strict=True):
        assert ours.edges().equals(theirs.edges())
        assert ours.graph_.nodes().equals(theirs.graph_.nodes())
        assert vars(ours.certificate_) == vars(theirs.certificate_)
    assert not folder.exists()


@pytest.mark.parametrize("change", ["signals", "interaction", "tol", "lams", "damage"])
def test_solves_of_another_path_are_not_used(folder, signals, solves, change):
    with pytest.raises(StoppedError):
        path_of(signals, checkpoint=folder, progress=stopping_after(4))
    solves.clear()
    given = {"degree": 5, "benefit": np.arange(30.0)}
    count = 5
    if change == "signals":
        signals = signals + np.eye(*signals.shape)
    elif change == "interaction":
        given["prior"] = GamePrior(interaction="linear")
    elif change == "tol":
        given["solver"] = BestResponse(tol=1e-3)
    elif change == "lams":
        count = 4
    else:
        (folder / "nashgraph-path" / "step-0.npz").write_bytes(b"PK")
    with pytest.warns(DataWarning, match="is not used"):
        GLGP(**given).path(signals, n_lams=count, checkpoint=folder)
    assert len(solves) == 2 * count - 1
    assert not folder.exists()


def test_a_selection_that_was_stopped_goes_on_and_is_the_same(folder, signals, monkeypatch):
    fitted = model().fit(signals)
    whole = fitted.select(signals, 20, n_splits=10)
    with pytest.raises(StoppedError):
        fitted.select(signals, 20, n_splits=10, checkpoint=folder, progress=stopping(13))
    learned, plain = [], ConsensusGL._plain
    monkeypatch.setattr(ConsensusGL, "_plain", lambda self, X: learned.append(None) or plain(self, X))
    found = fitted.select(signals, 20, n_splits=10, checkpoint=folder)
    assert len(learned) == 20 - 13
    assert found.edges().equals(whole.edges())
    assert not folder.exists()


def changed(file, with_digest, **arrays):
    """Change arrays of a saved step, and its digest if that should match."""
    digest = json.loads((file.parent / "manifest.json").read_text())["digest"]
    with np.load(file) as saved:
        found = {name: saved[name] for name in saved.files} | {key: np.asarray(each) for key, each in arrays.items()}
    if with_digest:
        del found[checkpoint.CHECK]
        found[checkpoint.CHECK] = checkpoint.check_of(digest + file.name, found)
    np.savez(file, **found)
    return found


BAD_LADDERS = {
    "sums": lambda saved: {"weights": 2.0 * saved["weights"]},
    "nan": lambda saved: {"weights": np.nan * saved["weights"]},
    "type": lambda saved: {"weights": saved["weights"].astype("f4")},
    "far": lambda saved: {"labels": saved["labels"] + 10**6},
    "loops": lambda saved: {"labels": saved["labels"] * 0},
    "text": lambda saved: {"labels": saved["labels"].astype(str)},
    "shape": lambda saved: {name: saved[name][:-1] for name in ("labels", "weights", "shares")},
    "betas": lambda saved: {"betas": 0.0 * saved["betas"]},
    "shares": lambda saved: {"shares": 2.0 + saved["shares"]},
}


@pytest.mark.parametrize("with_digest", [False, True])
@pytest.mark.parametrize("bad", BAD_LADDERS)
def test_ladders_that_cannot_be_are_refused(folder, signals, monkeypatch, bad, with_digest):
    stopped(folder, signals)
    file = saved_in(folder) / "step-0.npz"
    changed(file, with_digest, **BAD_LADDERS[bad](changed(file, with_digest)))
    with pytest.warns(DataWarning, match="step-0.npz is damaged"):
        found, used = made_from(folder, signals, monkeypatch)
    assert used == ALL
    np.testing.assert_array_equal(found.adjacency_.toarray(), model().fit(signals).adjacency_.toarray())
    assert not folder.exists()


BAD_SOLVES = {
    "sums": lambda saved: {"graph_data": 2.0 * saved["graph_data"]},
    "far": lambda saved: {"graph_indices": saved["graph_indices"] + 10**6},
    "actions": lambda saved: {"actions": saved["actions"][:-1]},
    "numbers": lambda saved: {"numbers": np.nan * saved["numbers"]},
    "square": lambda saved: {"square": np.array(np.nan)},
    "names": lambda saved: {"names": np.array(["a", "b", "c"])},
}


@pytest.mark.parametrize("bad", BAD_SOLVES)
def test_solves_that_cannot_be_are_refused(folder, signals, solves, bad):
    whole = path_of(signals)
    with pytest.raises(StoppedError):
        path_of(signals, checkpoint=folder, progress=stopping_after(4))
    file = folder / "nashgraph-path" / "step-0.npz"
    changed(file, True, **BAD_SOLVES[bad](changed(file, True)))
    solves.clear()
    with pytest.warns(DataWarning, match="step-0.npz is damaged"):
        assert path_of(signals, checkpoint=folder).table().equals(whole.table())
    assert len(solves) == 9


@pytest.mark.parametrize("keys", [[-1], [30], [10**12], [1, 1], [1.0], ["a"], [[1]], np.arange(1, 30)])
def test_pairs_that_cannot_be_are_refused(folder, signals, keys):
    fitted = model().fit(signals)
    whole = fitted.select(signals, 1, n_splits=5)
    with pytest.raises(StoppedError):
        fitted.select(signals, 1, n_splits=5, checkpoint=folder, progress=stopping(3))
    changed(folder / "nashgraph-selection" / "step-0.npz", True, keys=np.array(keys))
    with pytest.warns(DataWarning, match="step-0.npz is damaged"):
        assert fitted.select(signals, 1, n_splits=5, checkpoint=folder).edges().equals(whole.edges())


def test_a_manifest_that_is_nested_too_deeply_is_reported(folder, signals):
    stopped(folder, signals)
    (saved_in(folder) / "manifest.json").write_text("[" * 100_000)
    with pytest.warns(DataWarning, match="no manifest of ours"):
        model().fit(signals, checkpoint=folder)


def test_a_checkpoint_that_cannot_be_removed_is_reported(folder, signals, monkeypatch):
    stopped(folder, signals)

    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(checkpoint.Path, "unlink", refuse)
    with pytest.warns(DataWarning, match="cannot be removed"):
        model().fit(signals, checkpoint=folder)
