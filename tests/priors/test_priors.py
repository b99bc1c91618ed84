"""Every prior: its gradient against differences, closed forms and limits, and its fits by GLGP."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from nashgraph import GLGP, TTGD, BestResponse, InputError
from nashgraph.games import EqualGroups
from nashgraph.pairs import make_search
from nashgraph.priors import PRIORS as NAMED
from nashgraph.priors import (
    Activities,
    CustomPrior,
    Dynamics,
    Epidemic,
    GamePrior,
    GraphFilter,
    Opinions,
    Resilience,
    TieDeletion,
    prior_test,
    random_deletions,
    targeted_deletions,
)
from nashgraph.priors.prior import InMemory
from nashgraph.smoothness import make_smoothness
from nashgraph.solvers import Problem, lam_range

N = 14
random = np.random.default_rng(0)
B, X = random.random(N), random.normal(size=(6, N))
TANH = SimpleNamespace(value=np.tanh, slope=lambda z: 1.0 / np.cosh(z) ** 2, range=(-1.0, 1.0))


def two_step_walks(W):
    first, last = np.eye(N)[:2]
    ahead, back = W.dot(last), W.tdot(first)
    return first @ W.dot(ahead), np.stack([first, back], axis=1), np.stack([ahead, last], axis=1)


PRIORS = {
    "game": GamePrior(B),
    "utilitarian game": GamePrior(B, "linear", "utilitarian"),
    "cap": GamePrior(B, cap=1.2),
    "substitutes": GamePrior(B, share=-0.9),
    "weak complements": GamePrior(B, share=0.4),
    "two activities": Activities(random.random((N, 2)), 0.1, 0.8, "utilitarian"),
    "fair game": GamePrior(B, welfare=EqualGroups(np.arange(N) % 3)),
    "dynamics": Dynamics(B - 0.5, TANH),
    "epidemic": Epidemic(0.1 + B, 3.0),
    "epidemic near its threshold": Epidemic(1e-4 + 1e-3 * B, 1.2),
    "mean opinion": Opinions(B, "mean"),
    "polarisation": Opinions(B - 0.5, "polarisation", 0.3 + 0.5 * B),
    "disagreement": Opinions(B - 0.5, "disagreement"),
    "filter": GraphFilter([1.0, 0.5, 0.3, -0.2], B, "utilitarian"),
    "resilience": Resilience(GamePrior(B), random_deletions(N, 4, share=0.2)),
    "worst case": Resilience(GamePrior(B), random_deletions(N, 4, share=0.2), 0.2),
    "ties": Resilience(Epidemic(0.1 + B, 3.0), random_deletions(N, 3, share=0.2, ties=True), 0.2),
    "lost opinions": Resilience(Opinions(B - 0.5, "polarisation", 0.3 + 0.5 * B), random_deletions(N, 4, share=0.2)),
    "lost ties of opinions": Resilience(Opinions(B), random_deletions(N, 3, share=0.2, ties=True)),
    "custom": CustomPrior(two_step_walks),
    "sum": GamePrior(B) - 2.0 * Epidemic(0.1 + B),
}


def held(matrix):
    return InMemory(lambda vector: matrix @ vector, lambda vector: matrix.T @ vector)


def some_graph(n=N, c=0.9, seed=1):
    draw = np.random.default_rng(seed)
    W = draw.random((n, n)) * (draw.random((n, n)) < 0.4) + 0.01
    np.fill_diagonal(W, 0.0)
    return c * W / W.sum(axis=1, keepdims=True)


def full(state):
    return np.reshape(state.left, (N, -1)) @ np.reshape(state.right, (N, -1)).T


@pytest.mark.parametrize("name", PRIORS)
def test_gradient_agrees_with_differences_along_every_direction_of_s(name):
    prior, W, step = PRIORS[name], some_graph(), 1e-5
    gradient = full(prior.evaluate(held(W)))
    for i in range(N):
        one = (i + 1) % N
        for j in {*range(N)} - {i, one}:
            change = np.zeros((N, N))
            change[i, [j, one]] = step, -step
            up, down = (prior.evaluate(held(W + sign * change)).value for sign in (1, -1))
            expected = (gradient[i, j] - gradient[i, one]) * 2 * step
            assert up - down == pytest.approx(expected, abs=1e-6 * 2 * step * np.abs(gradient).max())


@pytest.mark.parametrize("name", PRIORS)
def test_gradient_agrees_with_differences_of_single_weights(name):
    """Row sums are free here: deletions change them, so no constant of a row may be left out of a gradient."""
    prior, W, step = PRIORS[name], some_graph(), 1e-5
    gradient = full(prior.evaluate(held(W)))
    for i, j in np.ndindex(N, N):
        if i != j:
            change = np.zeros((N, N))
            change[i, j] = step
            up, down = (prior.evaluate(held(W + sign * change)).value for sign in (1, -1))
            assert up - down == pytest.approx(2 * step * gradient[i, j], abs=1e-6 * 2 * step * np.abs(gradient).max())


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name", PRIORS)
def test_state_is_the_same_on_every_storage_and_from_a_warm_start(name, storage):
    smoothness = make_smoothness(make_search(X), beta=2.0, c=0.9, storage=storage)
    weights, prior = smoothness.smooth, PRIORS[name]
    here, there = prior.evaluate(held(weights.matrix().toarray())), prior.evaluate(weights)
    other = prior.evaluate(held(some_graph()), tol=1e-3)
    for state in (there, prior.evaluate(weights, start=other)):
        assert state.value == pytest.approx(here.value, rel=1e-10)
        np.testing.assert_allclose(full(state), full(here), rtol=1e-8, atol=1e-10 * np.abs(full(here)).max())


@pytest.mark.parametrize("name", PRIORS)
def test_products_may_live_elsewhere(name):
    W = some_graph()

    class Elsewhere:
        put = staticmethod(lambda vector: np.array(vector, copy=True))
        dot, tdot = staticmethod(lambda vector: W @ vector), staticmethod(lambda vector: W.T @ vector)

    prior = PRIORS[name]
    np.testing.assert_allclose(full(prior.evaluate(Elsewhere())), full(prior.evaluate(held(W))), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name", PRIORS)
def test_glgp_converges_with_every_prior_for_auto_and_a_given_strength(name, storage):
    for lam in ("auto", 1.0):
        model = GLGP(lam=lam, degree=4, prior=PRIORS[name], solver=BestResponse(storage=storage)).fit(X)
        assert model.stationarity_ <= 1e-6
        assert np.isfinite(model.welfare_)
        assert clone(model).fit(X).welfare_ == model.welfare_


@pytest.mark.parametrize("name", PRIORS)
def test_value_rises_along_the_path(name):
    path = GLGP(degree=4, prior=PRIORS[name]).path(X, n_lams=4)
    assert np.all(np.diff(path.welfares) >= -1e-9 * np.abs(path.welfares).max())
    assert path.welfares[-1] > path.welfares[0]


def test_range_of_strengths_for_several_columns_is_that_for_their_sum():
    smoothness = make_smoothness(make_search(X), beta=2.0, c=0.9)
    game = GamePrior(B)
    once, split = (lam_range(Problem(smoothness, prior)) for prior in (game, 0.25 * game + 0.75 * game))
    np.testing.assert_allclose(once[0], split[0])


def test_plain_game_is_the_same_solved_as_any_dynamics():
    W, relu = held(some_graph()), SimpleNamespace(range=(0.0, np.inf))
    relu.value, relu.slope = lambda z: np.maximum(0.0, z), lambda z: (z > 0).astype(float)
    game, dynamics = GamePrior(B).evaluate(W), Dynamics(B, relu, "log1p").evaluate(W)
    assert game.value == pytest.approx(dynamics.value, rel=1e-12)
    np.testing.assert_allclose(full(game), full(dynamics), rtol=1e-10)


def test_linear_substitutes_have_the_closed_form_where_all_are_active():
    W, b = some_graph(), np.ones(N)
    state = GamePrior(b, "linear", share=-0.5).evaluate(held(W))
    np.testing.assert_allclose(state.actions, np.linalg.solve(np.eye(N) + 0.5 * W, b), rtol=1e-12)


def test_two_activities_have_the_closed_form_and_substitute_each_other():
    W, benefits = some_graph(), random.random((N, 2))
    state = Activities(benefits, 0.2, 0.7).evaluate(held(W))
    # Their sum and their difference are games of their own (Chen, Zenou, Zhou).
    for sign in (1, -1):
        mode = np.linalg.solve((1 + sign * 0.2) * np.eye(N) - 0.7 * W, benefits @ [1, sign])
        np.testing.assert_allclose(state.actions @ [1, sign], mode, rtol=1e-11, atol=1e-11)
    more = Activities(benefits + np.array([0.0, 1.0]), 0.2, 0.7).evaluate(held(W)).actions
    assert (more[:, 0] < state.actions[:, 0]).all()


def test_substitutes_leave_some_inactive_and_a_cap_binds_some():
    W = held(some_graph())
    idle = GamePrior(B**6, "linear", share=-1.0).evaluate(W)
    bound = GamePrior(B, "linear", cap=2.0).evaluate(W)
    assert (idle.actions == 0).any()
    assert (bound.actions == 2.0).any()
    assert (idle.left[idle.actions == 0] == 0).all()


def test_rounded_corners_tend_to_sharp_ones():
    W = held(some_graph())
    for options in ({"cap": 0.8}, {"share": -0.9}):
        sharp, near, round_ = (GamePrior(B, rounding=r, **options).evaluate(W).actions for r in (0.0, 1e-4, 0.2))
        np.testing.assert_allclose(near, sharp, atol=1e-4)
        assert np.abs(round_ - sharp).max() < 0.2


@pytest.mark.parametrize("strength", [1.0, 100.0])
def test_strong_priors_with_corners_and_small_values_converge(strength):
    draw = np.random.default_rng(0)
    signals, b = draw.normal(size=(10, 60)), draw.random(60)
    fair = GamePrior(b, welfare=EqualGroups(np.arange(60) % 2))
    for prior in (GamePrior(b, cap=2.0), GamePrior(b, "linear", share=-0.9), fair):
        lam = GLGP(prior=prior, degree=3, c=0.5).fit(signals).lam_
        assert GLGP(lam=strength * lam, prior=prior, degree=3, c=0.5).fit(signals).stationarity_ <= 1e-6


def test_epidemic_is_a_root_of_its_equations_above_and_below_the_threshold():
    W = some_graph()
    for rate in (0.1, 1.0, 1.1, 10.0, 1000.0):
        y = Epidemic(np.full(N, 1e-6), rate).evaluate(held(W)).actions
        z = 1e-6 + W @ y
        np.testing.assert_allclose(y, rate * z / (1 + rate * z), rtol=1e-9)
        assert (y.mean() > 0.05) == (rate * 0.9 > 1.05 or rate > 1.1)


def test_opinions_are_weighted_means_and_agree_where_all_innate_opinions_do():
    W = held(some_graph())
    assert Opinions(np.full(N, 3.0), "mean").evaluate(W).value == pytest.approx(3.0)
    assert Opinions(np.full(N, 3.0)).evaluate(W).value == pytest.approx(0.0, abs=1e-20)
    y = Opinions(B, "mean").evaluate(W).actions
    assert B.min() < y.min() <= y.max() < B.max()


def test_filter_with_all_powers_tends_to_the_linear_game():
    W = held(some_graph(c=0.5))
    game, walks = GamePrior(B, "linear").evaluate(W), GraphFilter(np.ones(60), B).evaluate(W)
    assert walks.value == pytest.approx(game.value, rel=1e-12)
    np.testing.assert_allclose(full(walks), full(game), rtol=1e-10)


def test_resilience_deletes_what_it_says():
    W = some_graph()
    without = W.copy()
    without[[2, 5], :] = without[:, [2, 5]] = 0.0
    cut = W.copy()
    cut[np.ix_([0, 1], [2, 3, 4])] = 0.0
    game = GamePrior(B)
    for scenario, left in (([2, 5], without), (TieDeletion([0, 1], [2, 3, 4]), cut)):
        found = Resilience(game, [scenario]).evaluate(held(W)).value
        assert found == pytest.approx(game.evaluate(held(left)).value, rel=1e-12)


def test_targets_are_the_most_important_first():
    attacks = targeted_deletions(B, 3, share=0.2)
    assert [len(nodes) for nodes in attacks] == [3, 3, 3]
    assert B[attacks[0]].min() > B[attacks[1]].max() > B[attacks[2]].max()
    assert len(targeted_deletions(B, 99, share=0.2)) == 5


def test_value_over_more_scenarios_tends_to_the_mean_over_all_deletions():
    W, game = held(some_graph()), GamePrior(B)
    exact = Resilience(game, [[node] for node in range(N)]).evaluate(W).value

    def error(count):
        drawn = [Resilience(game, random_deletions(N, count, share=1 / N, random_state=k)) for k in range(20)]
        return np.sqrt(np.mean([(each.evaluate(W).value - exact) ** 2 for each in drawn]))

    assert error(64) < 0.5 * error(8)


def test_worst_case_lies_between_the_least_and_the_mean_and_tends_to_the_least():
    W, scenarios = held(some_graph()), random_deletions(N, 5, share=0.2)
    values = [Resilience(GamePrior(B), [each]).evaluate(W).value for each in scenarios]
    worst = [Resilience(GamePrior(B), scenarios, T).evaluate(W).value for T in (1e-3, 0.1, 1e4)]
    assert worst[0] == pytest.approx(min(values), abs=1e-2)
    assert worst[2] == pytest.approx(np.mean(values), rel=1e-3)
    assert min(values) < worst[1] < np.mean(values)


def test_scenarios_are_fixed_by_the_random_state():
    one, same, other = (random_deletions(50, 4, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_strength_of_a_sum_weighs_its_priors():
    W = held(some_graph())
    game, epidemic = PRIORS["game"].evaluate(W), PRIORS["epidemic"].evaluate(W)
    both = (PRIORS["game"] * 2.0 - PRIORS["epidemic"] + -PRIORS["game"]).evaluate(W)
    assert both.value == pytest.approx(game.value - epidemic.value)
    np.testing.assert_allclose(full(both), full(game) - full(epidemic), atol=1e-12)


def test_fairness_brings_groups_nearer():
    groups = np.arange(N) < N // 2
    b = np.where(groups, 1.0, 0.2) + 0.3 * B

    def gap(model):
        return model.equilibrium_[groups].mean() - model.equilibrium_[~groups].mean()

    fair = GamePrior(b, welfare=EqualGroups(groups))
    assert gap(GLGP(lam=50.0, degree=4, prior=fair).fit(X)) < gap(GLGP(lam=0.0, degree=4, prior=fair).fit(X))


def test_low_and_high_epidemics_are_asked_for_by_the_sign():
    epidemic = Epidemic(0.01 + 0.1 * B, 1.5)
    sizes = [sign * GLGP(lam=5.0, degree=4, prior=sign * epidemic).fit(X).welfare_ for sign in (-1.0, 1.0)]
    none = GLGP(lam=0.0, degree=4, prior=epidemic).fit(X).welfare_
    assert sizes[0] < none < sizes[1]


def test_ttgd_and_best_response_agree_on_an_epidemic():
    options = {"lam": 0.5, "beta": 2.0, "prior": Epidemic(0.1 + B, 1.0)}
    fast = GLGP(**options, solver=BestResponse(tol=1e-9)).fit(X)
    slow = GLGP(**options, solver=TTGD(tol=1e-8, gamma=0.05)).fit(X)
    np.testing.assert_allclose(fast.adjacency_.toarray(), slow.adjacency_.toarray(), atol=1e-6)


def hub_signals(seed, n=60, M=40):
    """Signals of a network in which everybody is tied to one of three hubs."""
    draw = np.random.default_rng(seed)
    hubs = draw.normal(size=(M, 3))
    others = hubs[:, np.arange(n - 3) % 3] + draw.normal(size=(M, n - 3))
    return np.hstack([hubs, others])


def test_signals_support_a_benefit_of_hubs_and_not_one_of_others():
    found = {}
    for seed in range(20):
        signals, draw = hub_signals(seed), np.random.default_rng(seed)
        b = np.where(np.arange(60) < 3, 5.0, 1.0) / 72
        for name, benefit in {"hubs": b, "shuffled": draw.permutation(b), "noise": draw.random(60)}.items():
            test = GLGP(benefit=benefit, degree=5).prior_test(signals)
            found.setdefault(name, []).append(test.found)
    assert np.mean(found["hubs"]) == 1.0
    assert np.mean(found["shuffled"]) <= 0.2
    assert np.mean(found["noise"]) <= 0.2


@pytest.mark.parametrize("name", ["game", "resilience", "polarisation", "two activities", "sum"])
def test_a_test_relabels_the_graph_and_not_the_prior(name):
    """A prior has the same value on a relabelled graph if its data are relabelled alike."""
    found = prior_test(PRIORS[name], held(some_graph()))
    assert 0 < found.p_value <= 1
    assert found.value == pytest.approx(PRIORS[name].evaluate(held(some_graph())).value, rel=1e-6)
    assert found.chance != found.value
    assert prior_test(GamePrior(np.ones(N)), held(some_graph())).p_value == 1.0


def test_guessed_benefit_that_fails_its_test_leaves_the_prior_off_and_a_given_one_is_kept():
    noise = np.random.default_rng(3).normal(size=(20, 40))
    guessed = GLGP(degree=5).fit(noise)
    assert not guessed.prior_.test.found
    assert guessed.lam_ == 0.0
    assert "do not support the prior" in guessed.prior_.test.sentence
    given = GLGP(degree=5, benefit=np.arange(40.0)).fit(noise)
    assert given.lam_ > 0
    assert given.prior_.test is None
    assert GLGP(lam=0.1, degree=5).fit(noise).lam_ == 0.1


@pytest.mark.parametrize("name", ["polarisation", "filter", "resilience", "two activities", "sum"])
def test_ttgd_agrees_with_best_response_on_every_kind_of_prior(name):
    options = {"lam": 0.1, "beta": 2.0, "prior": PRIORS[name]}
    slow = GLGP(**options, solver=TTGD(tol=1e-8, gamma=0.05)).fit(X)
    fast = GLGP(**options, solver=BestResponse(tol=1e-9)).fit(X)
    np.testing.assert_allclose(fast.adjacency_.toarray(), slow.adjacency_.toarray(), atol=1e-6)


def test_scenarios_are_drawn_as_asked():
    assert [len(nodes) for nodes in random_deletions(N, 1, share=0.2)] == [round(0.2 * N)]
    with pytest.raises(InputError, match="n_scenarios"):
        random_deletions(N, 0)


@pytest.mark.parametrize("name", NAMED)
def test_a_name_makes_a_prior_of_the_benefit(name):
    model = GLGP(lam=1.0, degree=4, prior=name, benefit=B).fit(X)
    by_hand = GLGP(lam=1.0, degree=4, prior=NAMED[name](B / B.sum())).fit(X)
    assert model.converged_
    np.testing.assert_allclose(model.adjacency_.toarray(), by_hand.adjacency_.toarray())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Activities(B), "one column per activity"),
        (lambda: Activities(np.ones((N, 2)), 0.9).evaluate(held(some_graph())), "may be no equilibrium"),
        (lambda: GamePrior(B, share=-1.5), "share"),
        (lambda: GamePrior(B, share=1.5), "share"),
        (lambda: GamePrior(B, cap=0.0), "cap"),
        (lambda: Epidemic(B - B.min()), "positive at every node"),
        (lambda: Epidemic(B, -1.0), "rate"),
        (lambda: Opinions(B, "median"), "measure"),
        (lambda: Opinions(B, susceptibility=2.0), "susceptibility"),
        (lambda: GraphFilter([1.0], B), "two or more"),
        (lambda: Resilience(GamePrior(B), []), "at least one scenario"),
        (lambda: Resilience(GamePrior(B), [["a"]]), "node numbers"),
        (lambda: Resilience("game", [[0]]), "needs a prior"),
        (lambda: Resilience(GamePrior(B), [[N]]).evaluate(held(some_graph())), f"deletes node {N}"),
        (lambda: GamePrior(B) + 3.0, "only priors can be added"),
        (lambda: GamePrior(B, welfare=EqualGroups([1, 2])).evaluate(held(some_graph())), "one group per node"),
        (lambda: CustomPrior(lambda W: (0.0, B, B[:3])).evaluate(held(some_graph())), "one shape"),
        (lambda: CustomPrior(lambda W: (np.nan, B, B)).evaluate(held(some_graph())), "NaN"),
        (lambda: GLGP(prior=GamePrior(B), benefit=B).fit(X), "both prior and benefit"),
        (lambda: GLGP(prior=GamePrior() + GamePrior(B)).fit(X), "this GamePrior has no benefit"),
        (lambda: GLGP(prior=3.0).fit(X), "must be a name or an object with evaluate"),
        (lambda: GLGP(prior="gain").fit(X), "choose one of .game"),
        (lambda: GLGP(prior="spread").set_params(prior__welfare="utilitarian"), "not of prior='spread'"),
        (
            lambda: GLGP(prior=Opinions(B), lam=1.0, solver=TTGD(steps="theory")).fit(X),
            "paper's game",
        ),
        (lambda: GLGP(prior=GamePrior(B[:5])).fit(X), "for 5 nodes, but X has 14"),
        (lambda: GLGP(prior=-Resilience(Opinions(B[:5]), [[0]])).fit(X), "for 5 nodes, but X has 14"),
        (lambda: GLGP(prior=GamePrior(B) + GamePrior(B[:5])).fit(X), "different numbers of nodes"),
    ],
)
def test_refusals_say_what_is_wrong(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_dynamics_that_do_not_come_to_rest_are_refused():
    cubic = SimpleNamespace(value=lambda z: 4.0 * np.sin(7.0 * z), slope=lambda z: 28.0 * np.cos(7.0 * z))
    cubic.range = (-4.0, 4.0)
    with pytest.raises(InputError, match="do not come to rest"):
        Dynamics(B, cubic).evaluate(held(some_graph()))


def test_stationary_graphs_of_a_prior_are_its_best_responses_to_its_own_gradient():
    problem = Problem(make_smoothness(make_search(X), beta=2.0, c=0.9), PRIORS["resilience"])
    result = BestResponse(tol=1e-10).solve(problem, 2.0)
    assert problem.stationarity(result.weights, PRIORS["resilience"].evaluate(result.weights), 2.0) < 1e-9


@pytest.mark.parametrize(("size", "error"), [(1.0, 0.05), (0.01, 0.002)])
def test_evidence_to_first_order_is_that_of_relabelled_graphs(size, error):
    X = np.random.default_rng(3).normal(size=(12, 80))
    smooth = make_smoothness(make_search(X), beta=2.0, c=0.9).smooth
    for benefit in (smooth.csr.sum(axis=0), np.random.default_rng(4).random(80)):
        prior = GamePrior(size * benefit / benefit.sum())
        exact, quick = (prior_test(prior, smooth, first_order_from=nodes, n_permutations=999) for nodes in (10_000, 0))
        assert quick.found == exact.found
        assert quick.p_value == pytest.approx(exact.p_value, abs=0.15)  # other draws
        # With 2,000 nodes or more, benefits are as small as the second size.
        assert quick.value == pytest.approx(exact.value, rel=error)
        assert quick.chance == pytest.approx(exact.chance, rel=error)


@pytest.mark.parametrize("first_order_from", [0, 10_000])
def test_the_p_value_does_not_depend_on_the_order_of_nodes(first_order_from):
    """Relabellings were drawn by the nodes' numbers: where p is near 0.05, another order decided otherwise."""
    random = np.random.default_rng(0)
    for _ in range(5):
        W, benefit, order = some_graph(seed=random.integers(100)), random.random(N), random.permutation(N)
        found = [
            prior_test(GamePrior(b), held(matrix), first_order_from=first_order_from)
            for b, matrix in ((benefit, W), (benefit[order], W[np.ix_(order, order)]))
        ]
        assert found[0].p_value == found[1].p_value
        assert found[0].chance == pytest.approx(found[1].chance, rel=1e-6)
