"""What the report advises, how far it says that it may be trusted, and the game that it hands to the page."""

import base64

import numpy as np
import pytest
from scipy import sparse

from nashgraph import GLGP, games
from nashgraph.games import CustomInteraction, WeightedTotal, adjoint, equilibrium
from nashgraph.games.leaving import key_players
from nashgraph.report import advice as questions
from nashgraph.report import playable, prose, summarize
from nashgraph.report.html import render

from .models import HOSTILE, held, karate, karate_consensus, popular_graph
from .test_html import Outline


def players(n_nodes, degree=10, **settings):
    """Return a model whose game is played on a graph given by hand."""
    weights, benefit = popular_graph(n_nodes, degree), np.linspace(0.5, 1.5, n_nodes)
    names = settings.pop("names", None)
    columns = {"benefit": benefit, "action": equilibrium(weights, benefit)}
    model = held(weights, names, node_columns=columns)
    for name, value in settings.items():
        setattr(model, name, value)
    return model


def advice(model):
    return summarize(model).act.advice


def test_every_node_has_its_worth_and_its_loss():
    model, _ = karate()
    hubs = summarize(model).hubs.set_index("name")
    worth = adjoint(model.adjacency_, model.equilibrium_)
    np.testing.assert_allclose(hubs.loc[list(model.node_names_), "worth"], worth, rtol=1e-6)
    losses = key_players(model).set_index("name")["loss"]
    np.testing.assert_allclose(hubs["loss"], losses[hubs.index], rtol=1e-6)


def test_advice_plays_the_models_own_game():
    signals = np.random.default_rng(0).normal(size=(30, 12))
    model = GLGP(degree=3, interaction="linear", welfare="utilitarian", lam=0.1).fit(signals)
    first = advice(model)[0]
    same = key_players(model, interaction="linear", welfare="utilitarian")
    assert first.table["name"].tolist() == same["name"].head(10).tolist()
    assert first.table["loss"].iloc[0] == pytest.approx(same["loss"][0])


def test_one_graph_says_that_it_is_one():
    assert "a consensus says" in advice(players(30))[0].sentence


def test_resamples_say_what_changes_and_give_intervals(monkeypatch):
    model = players(30, 4)
    model.resampled_graphs_ = (model.graph_.weights, popular_graph(30, 4, seed=1))
    (first, *_) = advice(model)
    assert {"low", "high", "among_best"} <= {*first.table.columns}
    assert "changes with" in first.sentence
    page = render(summarize(model))
    assert "90 % interval" in page
    assert "How often among the first" in page
    monkeypatch.setattr(questions, "WITH_RESAMPLES", 20)  # of very many nodes the resamples would take too long
    (large, *_) = advice(model)
    assert "low" not in large.table
    assert "a consensus says" in large.sentence


def test_what_was_put_in_by_the_prior_is_said():
    model = karate_consensus()
    found = summarize(model).act
    assert "part of what the hubs are worth here was put in" in found.caution
    assert "ithout the prior" in found.advice[0].sentence or "the prior alone" in found.advice[0].sentence
    assert "put in" not in summarize(players(30)).act.caution


def test_many_nodes_have_a_worth_and_the_few_that_matter_a_loss():
    found = summarize(players(1_600, 5))
    assert {"worth"} == {*found.act.columns}
    assert "matter most to first order" in found.act.advice[0].sentence
    assert found.act.advice[0].table["loss"].notna().all()
    assert found.game is not None


def test_of_millions_of_ties_only_what_takes_seconds_is_asked(monkeypatch):
    monkeypatch.setattr(questions, "TIES", 100)
    monkeypatch.setattr(questions, "WITH_RESAMPLES", 20)
    found = summarize(players(30)).act
    assert {*found.columns} == {"worth"}
    assert {advised.title for advised in found.advice} == {"Whom to tell first"}
    assert "only what takes seconds was asked" in found.caution


def test_support_ties_and_seeds_are_advised_in_words_and_numbers():
    model = players(30, 4)
    model.resampled_graphs_ = (model.graph_.weights, popular_graph(30, 4, seed=1))
    found = {advised.title: advised for advised in advice(model)}
    rules = {"interaction": "log1p", "welfare": "total"}
    supported = games.best_support(model, 5, cost="units", **rules)
    assert found["Whom to support"].table["name"].tolist() == supported["name"].head(5).tolist()
    rise = prose.percent(supported.attrs["gain"] / model.graph_.node_columns["action"].sum())
    assert f"rise most with these: by {rise}" in found["Whom to support"].sentence
    tie = games.best_ties(model, 5, **rules).iloc[0]
    assert found["Which ties to build"].table.iloc[0][["listener", "speaker"]].tolist() == [tie.listener, tie.speaker]
    assert len(found["Which ties to watch"].table) == 5
    assert found["Whom to tell first"].table["reached"].is_monotonic_increasing
    page = render(summarize(model))
    for words in ("Who listens", "To whom", "Reached so far", "resamples"):
        assert words in page
    columns = {"benefit": np.ones(3), "action": np.ones(3)}
    tiny = {advised.title for advised in advice(held(0.4 * (1 - np.eye(3)), node_columns=columns))}  # no tie to build
    assert "Whose leaving would cost most" in tiny


def test_a_graph_without_a_game_has_no_such_section():
    summary = summarize(held(popular_graph(20)))
    assert summary.act is None
    assert summary.to_dict()["game"] is None
    assert 'id="act"' not in render(summary)


def test_names_in_tables_are_text():
    names = [*HOSTILE, *(f"household {k}" for k in range(40 - len(HOSTILE)))]
    model = players(40, names=names)
    plain, outline = Outline(render(summarize(players(40)))), Outline(render(summarize(model)))
    for tag in ("script", "img", "h1", "b"):
        assert outline.count(tag) == plain.count(tag)
    assert len([text for tag, text in outline.texts if tag == "bdi"]) > 10


def test_the_page_has_the_game_to_the_last_weight():
    model = players(30, 4, interaction="saturating", welfare=WeightedTotal(np.arange(30.0)))
    game, order = summarize(model).to_dict()["game"], model.graph_.by_influence
    assert (game["interaction"], game["welfare"], game["lightest"]) == ("saturating", "weighted", 0.0)

    def numbers(name, kind):
        return np.frombuffer(base64.b64decode(game[name]), kind)

    ends = np.concatenate([[0], np.cumsum(numbers("row_lengths", "<u2"))]).astype(int)
    rows = np.split(numbers("steps", "<u2"), ends[1:-1])
    indices = np.concatenate([np.cumsum(row) for row in rows])
    weights = sparse.csr_array((numbers("weights", "<f4"), indices, ends), shape=(30, 30))
    np.testing.assert_allclose(weights.toarray(), model.graph_.weights.toarray()[order][:, order], rtol=1e-6)
    np.testing.assert_array_equal(numbers("benefit", "<f8"), model.graph_.node_columns["benefit"][order])
    np.testing.assert_array_equal(numbers("counts", "<f8"), order)


def test_weights_too_light_to_be_held_keep_what_each_node_gives_and_gets(monkeypatch):
    monkeypatch.setattr(playable, "WEIGHTS", 2_000)
    model = players(300)
    summary = summarize(model)
    game, order = summary.game, model.graph_.by_influence
    whole = game.weights.toarray() + np.outer(game.rows, game.columns)
    true = model.graph_.weights.toarray()[order][:, order]
    assert game.weights.nnz == 2_000
    for axis in (0, 1):
        np.testing.assert_allclose(whole.sum(axis=axis), true.sum(axis=axis))
    actions = equilibrium(true, game.benefit)
    assert np.abs(equilibrium(whole, game.benefit) - actions).max() < 0.02 * actions.max()
    assert "Ties too light to be held in this page" in render(summary)


def test_a_game_that_the_page_cannot_play_is_left_out_and_told():
    own = CustomInteraction(np.arctan, lambda x: 1 / (1 + x**2), lambda x: -2 * x / (1 + x**2) ** 2)
    summary = summarize(players(30, interaction=own))
    assert summary.game is None
    assert summary.act.advice
    assert "What-ifs are not in this page" in render(summary)
