"""The report's interventions, computed only if asked for, and the game in the page's data."""

import base64

import numpy as np
import pytest
from scipy import sparse

from nashgraph import GLGP, GamePrior, best_support, best_ties, key_players
from nashgraph.games import CustomInteraction, WeightedTotal
from nashgraph.priors import adjoint, equilibrium
from nashgraph.report import game as report_game
from nashgraph.report import summarize
from nashgraph.report.html import render

from .models import HOSTILE, held, karate, karate_consensus, popular_graph
from .test_html import Outline


def players(n_nodes, degree=10, **settings):
    """Return a model whose game is played on a graph given by hand."""
    weights, benefit = popular_graph(n_nodes, degree), np.linspace(0.5, 1.5, n_nodes)
    names = settings.pop("names", None)
    columns = {"benefit": benefit, "action": equilibrium(weights, benefit)}
    prior = GamePrior(benefit, **settings)
    model = held(weights, names, node_columns=columns, prior_played=prior)
    model.game_ = prior
    return model


def asked(model):
    """Return a model's interventions as the report has them."""
    return summarize(model, interventions=True).interventions


def test_nothing_is_solved_unless_asked_for(monkeypatch):
    """Without the option a report solves no game, and its page says how to get interventions."""
    model, _ = karate()

    def refused(*_, **__):
        raise AssertionError("a game was solved")

    monkeypatch.setattr(GamePrior, "evaluate", refused)
    summary = summarize(model)
    assert summary.interventions is None
    assert not {"worth", "loss"} & {*summary.hubs.columns}
    page = render(summary)
    assert "<code>nashgraph act</code>" in page
    assert "<code>--set interventions=yes</code>" in page
    assert "What-ifs are not in this page" not in page
    with pytest.raises(AssertionError, match="a game was solved"):
        asked(model)


def test_every_node_has_its_worth_and_its_loss():
    model, _ = karate()
    hubs = summarize(model, interventions=True).hubs.set_index("name")
    worth = adjoint(model.adjacency_.toarray(), model.equilibrium_)
    np.testing.assert_allclose(hubs.loc[list(model.node_names_), "worth"], worth, rtol=1e-6)
    losses = key_players(model).set_index("name")["loss"]
    np.testing.assert_allclose(hubs["loss"], losses[hubs.index], rtol=1e-6)


def test_the_game_is_the_models_own():
    signals = np.random.default_rng(0).normal(size=(30, 12))
    model = GLGP(degree=3, lam=0.1, prior=GamePrior(interaction="linear", welfare="utilitarian")).fit(signals)
    first = asked(model).answers[0]
    same = key_players(model, interaction="linear", welfare="utilitarian")
    assert first.table["name"].tolist() == same["name"].tolist()
    assert first.table["loss"].iloc[0] == pytest.approx(same["loss"][0])


def test_replicates_give_intervals_and_one_graph_says_that_it_has_none():
    model = players(30, 4)
    assert "only a consensus learned with replicates shows it" in asked(model).caution
    model.replicate_graphs_ = (model.graph_.weights, popular_graph(30, 4, seed=1))
    found = asked(model)
    assert {"low", "high", "among_best"} <= {*found.answers[0].table.columns}
    assert "replicates" in found.answers[0].sentence
    assert "only a consensus" not in found.caution
    page = render(summarize(model, interventions=True))
    for words in ("90% interval", "How often among the first", "Source", "Target", "Reached so far", "Random seeds"):
        assert words in page


def test_what_the_prior_accounts_for_is_said():
    found = asked(karate_consensus())
    assert "partly an assumption" in found.caution
    assert "the prior" in found.answers[0].sentence
    assert "partly an assumption" not in asked(players(30)).caution


def test_many_nodes_have_a_worth_and_the_few_that_matter_a_loss():
    found = summarize(players(1_600, 5), interventions=True)
    assert {"worth"} == {*found.interventions.columns}
    first = found.interventions.answers[0]
    assert "losses are exact" in first.sentence
    assert first.table["loss"].head(first.shown).notna().all()
    assert found.game is not None


def test_the_page_has_the_rows_that_the_sentence_is_about():
    model = players(30, 4)
    found = {answer.name: answer for answer in asked(model).answers}
    assert found["support"].table["name"].head(5).tolist() == best_support(model, 5, cost="units").name[:5].tolist()
    expected = best_ties(model, 5).iloc[0]
    assert found["ties_to_build"].table.iloc[0][["source", "target"]].tolist() == [expected.source, expected.target]
    page = Outline(render(summarize(model, interventions=True)))
    named = [text for tag, text in page.texts if tag == "bdi"]
    for name in map(str, found["players"].table["name"].head(5)):
        assert name in named
    assert {answer.shown for answer in found.values()} == {5}
    columns = {"benefit": np.ones(3), "action": np.ones(3)}
    tiny = summarize(held(0.4 * (1 - np.eye(3)), node_columns=columns), interventions=True)  # no tie to build
    assert "Not available: count=2 is more than the 0 pairs" in render(tiny)


def test_a_graph_without_a_game_has_no_such_section():
    summary = summarize(held(popular_graph(20)), interventions=True)
    assert summary.interventions is None
    assert summary.to_dict()["game"] is None
    assert 'id="act"' not in render(summary)


def test_names_in_tables_are_text():
    names = [*HOSTILE, *(f"household {k}" for k in range(40 - len(HOSTILE)))]
    model = players(40, names=names)
    plain, outline = (Outline(render(summarize(each, interventions=True))) for each in (players(40), model))
    for tag in ("script", "img", "h1", "b"):
        assert outline.count(tag) == plain.count(tag)
    assert len([text for tag, text in outline.texts if tag == "bdi"]) > 10


def test_the_page_has_the_game_to_the_last_weight():
    model = players(30, 4, interaction="saturating", welfare=WeightedTotal(np.arange(30.0)))
    game, order = summarize(model).to_dict()["game"], model.graph_.by_influence
    assert (game["interaction"], game["welfare"]) == ("saturating", "weighted")

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
    monkeypatch.setattr(report_game, "WEIGHTS", 2_000)
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
    assert "Ties too light for this page" in render(summary)


def test_a_game_that_the_page_cannot_play_is_left_out_and_told():
    own = CustomInteraction(np.arctan, lambda x: 1 / (1 + x**2))
    summary = summarize(players(30, interaction=own), interventions=True)
    assert summary.game is None
    assert summary.interventions.answers
    assert "What-ifs are not in this page" in render(summary)
