from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from nashgraph import GLGP, BestResponse, LinearGLGP, SmoothGL, spectral_benefit
from nashgraph.certificate import Record
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.pairs import make_search
from nashgraph.priors import GamePrior
from nashgraph.smoothness import beta_for_degree
from nashgraph.solvers import (
    COST,
    PATIENCE,
    Problem,
    lam_for_cost,
    lam_range,
    solve_at_cost,
    typical_share,
)
from nashgraph.solvers.strength import Budget, GivenUp

from ..problems import TABLES


def problem(degree_like: float, storage: str = "dense", interaction: str = "log1p") -> Problem:
    X = smooth_signals(preferential_attachment(40, 2, random_state=0), 20, "lowpass", noise=0.1, random_state=1)
    benefit = np.linspace(1.0, 2.0, 40)
    return Problem.from_signals(X, benefit / benefit.sum(), beta=degree_like, interaction=interaction, storage=storage)


def at_cost(given: Problem):
    return solve_at_cost(given, lambda lam, monitor: BestResponse(callback=monitor).solve(given, lam))


@pytest.mark.parametrize("interaction", ["linear", "log1p"])
def test_the_cost_is_a_thousandth_of_j_where_no_edge_changes(interaction):
    smooth = problem(100.0, interaction=interaction)
    _, result = at_cost(smooth)
    least = smooth.smoothness.value(smooth.smooth)
    spent = smooth.smoothness.value(result.weights) / least - 1.0
    assert spent == pytest.approx(COST * typical_share(smooth.smoothness), rel=0.1)


def test_the_cost_is_the_square_of_lambda():
    smooth = problem(100.0)
    one, four = (lam_for_cost(smooth.smoothness, np.ones(40), smooth.prior.benefit, cost) for cost in (1e-4, 4e-4))
    assert four == pytest.approx(2.0 * one)


def test_both_storages_find_the_same():
    there, here = (at_cost(problem(0.5, name))[0] for name in ("sparse", "dense"))
    assert there == pytest.approx(here, rel=1e-9)


def test_a_uniform_benefit_finds_zero():
    uniform = replace(problem(0.5), prior=GamePrior(np.full(40, 1 / 40)))
    assert at_cost(uniform)[0] == 0.0


def test_scaling_the_signals_changes_no_graph():
    X = smooth_signals(preferential_attachment(30, 1, random_state=0), 15, "lowpass", noise=0.1, random_state=1)
    for method in (GLGP, LinearGLGP):
        one, ten = (method(degree=6).fit(scale * X) for scale in (1.0, 10.0))
        assert ten.lam_ == pytest.approx(100.0 * one.lam_, rel=1e-6)
        np.testing.assert_allclose(ten.adjacency_.toarray(), one.adjacency_.toarray(), atol=1e-5)


def test_a_lambda_given_is_kept_and_a_wrong_name_refused():
    X = np.random.default_rng(0).normal(size=(5, 12))
    assert GLGP(lam=0.5, degree=4).fit(X).lam_ == 0.5
    with pytest.raises(ValueError, match=r"lam.*auto"):
        GLGP(lam="much", degree=4).fit(X)


def test_the_range_starts_where_the_prior_is_first_felt_even_where_all_pairs_are_edges():
    dense = problem(100.0)
    low, high = lam_range(dense)
    least = dense.smoothness.value(dense.smooth)
    rise = dense.smoothness.value(BestResponse().solve(dense, low).weights) / least - 1.0
    assert low < high
    assert rise <= 1.1e-4


@pytest.mark.parametrize("degree", [3, 10])
def test_auto_is_nearly_free_even_where_the_graph_would_tip_over(degree):
    X = smooth_signals(nx.karate_club_graph(), 50, "gmrf", random_state=0)
    smooth = SmoothGL(degree=degree).fit(X)
    model = GLGP(degree=degree, benefit=spectral_benefit(X)).fit(X)
    spent = (model.objective_ + model.lam_ * model.welfare_) / smooth.objective_ - 1.0
    assert 0 < spent <= 1.5 * COST


def test_the_lambda_returned_is_that_of_the_result_even_where_nothing_is_cheap_enough():
    tried = []

    given = problem(0.5)

    def solve(lam, monitor):
        tried.append(lam)
        return BestResponse(callback=lambda record: monitor(record._replace(objective=np.inf))).solve(given, 1e3)

    lam, result = solve_at_cost(given, solve)
    assert len(tried) == 21
    assert lam == tried[-1]
    assert result.converged  # the last runs to its end


def test_lambda_is_halved_until_its_prior_is_cheap_enough_in_a_few_scans():
    """On 1,500 nodes whose graph tips over: the first order is far too much, and smaller ones are tried."""
    X = np.random.default_rng(0).normal(size=(8, 1500))
    given = Problem.from_signals(
        X, spectral_benefit(X), beta=beta_for_degree(make_search(X), 10, 0.95), storage="sparse"
    )
    tried = []

    def solve(lam, monitor):
        tried.append((lam, BestResponse(callback=monitor).solve(given, lam)))
        return tried[-1][1]

    lam, result = solve_at_cost(given, solve, 1e-2)
    at_once = lam_for_cost(given.smoothness, given.smooth_state.left, given.smooth_state.right, 1e-2)
    halvings = np.log2(typical_share(given.smoothness) ** 0.5 * at_once / lam)
    assert halvings == pytest.approx(round(halvings), abs=1e-9)
    assert halvings >= 1
    assert given.smoothness.search.scans <= 4.0  # the nearest, the first response, and the proof at the end
    assert len(tried) == 1  # the first response told that more would cost too much
    assert (lam, result) == tried[0]
    assert result.converged
    assert 0 < given.smoothness.value(result.weights) / given.smoothness.value(given.smooth) - 1.0 <= 2.0 * 1e-2


def test_a_lambda_at_which_the_graph_nearly_tips_over_and_steps_are_slow_is_halved():
    """The first lambda would take 172 steps, and half of it takes ten."""
    X, benefit = TABLES["lognormal, sigma 1"](300, np.random.default_rng(0)), np.random.default_rng(1).random(300)
    steps = []
    solver = BestResponse(callback=lambda record: steps.append(record.iteration) and None)
    model = GLGP(benefit=benefit, solver=solver).fit(X)
    assert model.converged_
    assert steps.count(0) == 2
    assert max(steps) <= PATIENCE
    assert GLGP(lam=2.0 * model.lam_, benefit=benefit).fit(X).n_iter_ > 2 * PATIENCE


def test_a_few_huge_nodes_leave_the_prior_of_the_others_as_it_is():
    """Ten rows hold most of J: a thousandth of the sum would be an enormous prior for a typical row."""
    random = np.random.default_rng(0)
    X = random.lognormal(sigma=3.0, size=(30, 200))
    model = GLGP(degree=6).fit(X)
    assert model.converged_
    counted = typical_share(Problem.from_signals(X, np.ones(200), beta=model.beta_).smoothness)
    assert counted < 0.05
    typical = np.argsort((X**2).sum(axis=0))[:150]
    rows = SmoothGL(beta=model.beta_).fit(X).adjacency_.toarray()[typical]
    moved = np.linalg.norm(model.adjacency_.toarray()[typical] - rows) / np.linalg.norm(rows)
    assert 0 < moved < 0.3


def test_a_users_callback_still_stops_at_once():
    X = smooth_signals(nx.karate_club_graph(), 50, "gmrf", random_state=0)
    seen = []
    solver = BestResponse(callback=lambda record: seen.append(record) or len(seen) == 2)
    with pytest.warns(ConvergenceWarning, match="callback asked to stop"):
        GLGP(benefit=spectral_benefit(X), solver=solver).fit(X)
    assert len(seen) == 2


def test_a_graph_that_tips_over_is_given_up_before_it_costs_much():
    """Its J would stay below the limit for 40 steps, while it comes to be six times as far from stationary."""
    budget = Budget(1.0, limit=10.0, first=2e-2, patience=40)
    for iteration, value in enumerate((2e-2, 6e-3, 3e-3, 6e-3, 1.1e-2)):
        assert not budget(Record(iteration, 1.0, value, 0.0))
    with pytest.raises(GivenUp, match="tip over"):
        budget(Record(5, 1.0, 1.3e-2, 0.0))
    for record, reason in ((Record(0, 11.0, 1e-3, 0.0), "costs too much"), (Record(40, 1.0, 1e-3, 0.0), "steps")):
        with pytest.raises(GivenUp, match=reason):
            Budget(1.0, limit=10.0, first=2e-2, patience=40)(record)
