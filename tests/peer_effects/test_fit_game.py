"""The game fitted to actions: published fits, independent optimisers, finite differences, tables as users have them."""

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse, stats
from sklearn.exceptions import ConvergenceWarning

from nashgraph import GLGP, GamePrior, best_support, fit_game, key_players, what_if
from nashgraph.games import INTERACTIONS, as_interaction
from nashgraph.graph import LearnedGraph
from nashgraph.interventions import Game
from nashgraph.peer_effects import GameFit, NotIdentifiedError
from nashgraph.peer_effects.likelihood import component_eigenvalues, hessian, log_determinant
from nashgraph.peer_effects.links import LINKS, response_of
from nashgraph.peer_effects.reduced_form import Network, ReducedForm
from nashgraph.validation import DataWarning

DATA = Path(os.environ.get("NASHGRAPH_DATA", "")) / "congress"
published = pytest.mark.skipif(not (DATA / "campaign.csv").is_file(), reason="NASHGRAPH_DATA has no congress data")


def village(n=120, seed=0, groups=6, degree=4):
    """Return a directed network in groups, and three covariates."""
    random = np.random.default_rng(seed)
    group = np.arange(n) % groups
    A = (random.random((n, n)) < degree * groups / n) & (group[:, None] == group)
    np.fill_diagonal(A, False)
    return A.astype(float), random.normal(size=(n, 3)), group


def rows(A):
    return A / np.maximum(A.sum(axis=1, keepdims=True), 1.0)


def simulated(A, X, phi=0.4, beta=(1.0, -0.5, 0.3), noise=0.3, seed=1):
    W = rows(A)
    mean = np.linalg.solve(np.eye(len(A)) - phi * W, 0.5 + X @ np.array(beta))
    return mean + noise * np.random.default_rng(seed).normal(size=len(A))


# ------------------------------------------------------------------------------------------ published fits


@published
def test_campaign_money_of_the_111th_congress():
    """econet, model A, nonlinear least squares, money in millions: all figures to five digits."""
    table = pd.read_csv(DATA / "campaign.csv")
    G = np.load(DATA / "campaign_alumni.npz")["G"]
    columns = table[["gender", "party", "nchair", "isolate"]]
    fit = fit_game(G, table.PAC / 1e6, columns, normalize=False, played="constant", errors="classical")
    rows = fit.coefficients.set_index("term")
    expected = {
        "peer effect": 0.21440,
        "constant": 0.47325,
        "gender": -0.26991,
        "party": 0.55883,
        "nchair": -0.17409,
        "isolate": 0.18813,
    }
    for term, estimate in expected.items():
        assert round(rows.estimate[term], 5) == estimate
    assert round(fit.standard_error, 5) == 0.27005
    assert round(rows.standard_error["constant"], 5) == 0.17969
    assert round(fit.log_likelihood, 2) == -514.28


@published
def test_legislative_effectiveness_without_the_endogeneity_step():
    table = pd.read_csv(DATA / "effectiveness.csv")
    G = np.load(DATA / "effectiveness_cosponsors.npz")["G"]
    fit = fit_game(G, "les ~ gender + party + nchair", data=table, normalize=False, errors="classical")
    estimates = fit.coefficients.set_index("term").estimate
    assert (round(fit.peer_effect, 5), round(fit.standard_error, 5)) == (0.39882, 0.06152)
    assert round(fit.log_likelihood, 2) == -665.05
    expected = {"constant": 0.2462, "gender": -0.2308, "party": 0.42355, "nchair": 3.09553}
    for term, estimate in expected.items():
        assert estimates[term] == pytest.approx(estimate, abs=5e-6 if term != "constant" else 5e-5)
    likely = fit_game(G, "les ~ gender + party + nchair", data=table, normalize=False, method="qml")
    assert likely.log_likelihood == pytest.approx(-662.98, abs=0.01)  # another model: errors are played as well


# ------------------------------------------------------------------------------------------ mathematics


@pytest.mark.parametrize("factored", [True, False])
@pytest.mark.parametrize("interaction", [*INTERACTIONS, "logit", "log"])
def test_the_jacobian_agrees_with_differences(interaction, factored):
    A, X, _ = village(60)
    W = sparse.csr_array(rows(A))
    played = np.column_stack([np.full(60, 1.0), np.abs(X[:, :2])])
    linked = interaction in ("logit", "log")
    response = response_of(interaction if linked else "identity", linked or interaction == "linear", np.zeros(1))
    rule = as_interaction("linear" if linked else interaction)
    network = Network(W, played, X[:, 2:], rule, response, dense_up_to=400 if factored else 0)
    form = ReducedForm((network,))
    theta, step = np.array([0.5, 0.4, 0.8, 0.2, -0.7]) * (0.2 if interaction == "log" else 1.0), 1e-6
    point = form.at(theta[0], theta[1:])
    for k in range(5):
        shift = step * (np.arange(5) == k)
        up, down = (form.at((theta + sign * shift)[0], (theta + sign * shift)[1:]).mean for sign in (1, -1))
        np.testing.assert_allclose(point.jacobian[:, k], (up - down) / (2 * step), rtol=1e-5, atol=1e-7)
    # The series over powers of W, for linear games, against a solve on the network.
    solved = network.at(theta[0], theta[1:])
    np.testing.assert_allclose(point.mean, solved.mean, rtol=1e-10)
    np.testing.assert_allclose(point.jacobian, solved.jacobian, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("contextual", [False, True])
@pytest.mark.parametrize("fixed_effects", [False, True])
def test_least_squares_is_that_of_another_optimiser(contextual, fixed_effects):
    A, X, group = village()
    y = simulated(A, X)
    fit = fit_game(A, y, X, groups=group, contextual=contextual, fixed_effects=fixed_effects, errors="classical")
    W, n = rows(A), len(y)
    constants = np.eye(6)[group] if fixed_effects else np.ones((n, 1))
    Z = np.column_stack([constants, X, W @ X] if contextual else [constants, X])

    def residuals(theta):
        return y - np.linalg.solve(np.eye(n) - theta[0] * W, Z @ theta[1:])

    other = optimize.least_squares(residuals, np.r_[0.1, np.zeros(Z.shape[1])], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    np.testing.assert_allclose(fit.parameters, other.x, atol=1e-6)
    spread = 2 * other.cost / (n - len(other.x)) * np.linalg.inv(other.jac.T @ other.jac)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), np.sqrt(np.diag(spread)), rtol=1e-4)
    assert len(fit.coefficients) == 1 + (not fixed_effects) + (6 if contextual else 3)


@pytest.mark.parametrize("interaction", ["log1p", "saturating"])
def test_a_nonlinear_game_is_found_again(interaction):
    A, X, _ = village(300, degree=6)
    b = np.exp(0.5 * X[:, 0])
    prior = GamePrior(0.3 + 1.5 * b, interaction, share=0.8)
    y = prior.evaluate(rows(A)).actions + 0.02 * np.random.default_rng(3).normal(size=300)
    fit = fit_game(A, y, b, interaction=interaction)
    np.testing.assert_allclose(fit.parameters, [0.8, 0.3, 1.5], atol=0.05)
    np.testing.assert_allclose(fit.prior().evaluate(rows(A)).actions, fit.fitted_actions, rtol=1e-8)
    assert fit.log_likelihood > fit_game(A, y, b, interaction="linear").log_likelihood


def test_two_stages_are_those_of_the_textbook():
    A, X, _ = village()
    y, W = simulated(A, X), rows(A)
    fit = fit_game(A, y, X, method="2sls", errors="classical")
    Z = np.column_stack([np.ones(len(y)), X])
    H = np.column_stack([Z, W @ X, W @ W @ X])
    R = np.column_stack([W @ y, Z])
    P = H @ np.linalg.pinv(H)
    theta = np.linalg.solve(R.T @ P @ R, R.T @ P @ y)
    np.testing.assert_allclose(fit.parameters, theta, rtol=1e-8)
    e = y - R @ theta
    spread = e @ e / (len(y) - 5) * np.linalg.inv(R.T @ P @ R)
    np.testing.assert_allclose(fit.covariance, spread, rtol=1e-6)
    assert fit.overidentification.freedom == H.shape[1] - 5
    assert 0.01 < fit.overidentification.p_value <= 1.0
    assert fit.first_stage.statistic > 10


def test_the_likelihood_is_that_of_a_dense_computation():
    A, X, _ = village()
    W, phi = rows(A), 0.4
    values = component_eigenvalues(sparse.csr_array(W))
    assert log_determinant(phi, values) == pytest.approx(np.linalg.slogdet(np.eye(120) - phi * W)[1])
    y = np.linalg.solve(np.eye(120) - phi * W, 0.5 + X @ [1.0, -0.5, 0.3] + np.random.default_rng(1).normal(size=120))
    fit = fit_game(A, y, X, method="qml")
    Z = np.column_stack([np.ones(120), X])

    def negative(theta):
        e = y - theta[0] * W @ y - Z @ theta[1:-1]
        density = stats.norm.logpdf(e, scale=np.exp(theta[-1])).sum()
        return -density - np.linalg.slogdet(np.eye(120) - theta[0] * W)[1]

    other = optimize.minimize(negative, np.r_[0.1, np.zeros(5)], method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(fit.parameters, other.x[:-1], atol=1e-4)
    assert fit.log_likelihood == pytest.approx(-other.fun, abs=1e-6)
    observed = np.linalg.inv(hessian(negative, other.x))[:-1, :-1]  # Lee's allows for errors that are not normal
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), np.sqrt(np.diag(observed)), rtol=0.25)


def test_censored_actions_are_fitted_by_their_own_likelihood():
    A, X, _ = village(600, degree=5)
    W, random = rows(A), np.random.default_rng(4)
    shocks, y = 0.3 + X @ [1.0, -0.5, 0.3] + random.normal(size=600), np.zeros(600)
    for _ in range(200):
        y = np.maximum(0.0, 0.4 * W @ y + shocks)
    assert 0.2 < np.mean(y == 0) < 0.6
    fit = fit_game(A, y, X, method="qml", censored=True)
    np.testing.assert_allclose(fit.parameters, [0.4, 0.3, 1.0, -0.5, 0.3], atol=0.2)
    assert abs(fit.peer_effect - 0.4) < 3 * fit.standard_error
    naive = fit_game(A, y, X, method="qml").coefficients.estimate[2]
    assert abs(fit.coefficients.estimate[2] - 1.0) < abs(naive - 1.0)
    with pytest.raises(ValueError, match="cannot be below zero, and some are"):
        fit_game(A, y - 1, X, method="qml", censored=True)


@pytest.mark.parametrize(("link", "phi"), [("logit", 1.2), ("log", 0.15)])
def test_answers_yes_or_no_and_counts_are_fitted_by_their_link(link, phi):
    A, X, _ = village(2000, groups=20, degree=6)
    W, random = rows(A), np.random.default_rng(6)
    size = 1.0 if link == "logit" else 0.5
    z0, mean = size * (0.8 * X[:, 0] - 0.4 * X[:, 1]), np.full(2000, 0.5)
    for _ in range(300):
        mean = LINKS[link]().value(z0 + phi * W @ mean)
    y = (random.random(2000) < mean).astype(float) if link == "logit" else random.poisson(mean).astype(float)
    fit = fit_game(A, y, X[:, :2], link=link)
    assert abs(fit.peer_effect - phi) < 3 * fit.standard_error
    np.testing.assert_allclose(fit.parameters[2:], [0.8 * size, -0.4 * size], atol=0.2)
    np.testing.assert_allclose(Game.on(A, game=fit).actions, fit.fitted_actions, rtol=1e-6)
    with pytest.raises(ValueError, match="not negative" if link == "log" else "0 or 1"):
        fit_game(A, y - 0.5, X, link=link)


def expected_actions(link, z0, phi, W):
    """Iterate E[y] = φ(z0 + φ W E[y]) to its fixed point."""
    mean = np.full(len(z0), 0.5)
    for _ in range(200):
        z = z0 + phi * W @ mean
        mean = 1.0 / (1.0 + np.exp(-z)) if link == "logit" else np.exp(z)
    return mean


@pytest.mark.parametrize(("link", "phi"), [("logit", 1.2), ("log", 0.15)])
def test_the_likelihood_of_a_link_is_maximised_as_by_brute_force(link, phi):
    """The likelihood written out, its equilibrium by plain iteration, maximised by another optimiser."""
    A, X, _ = village(150, groups=3, degree=3)
    W = rows(A)
    Z = np.column_stack([np.ones(150), X[:, :2]])
    mean = expected_actions(link, Z @ ([0.2, 1.5, -1.0] if link == "logit" else [0.2, 0.5, -0.3]), phi, W)
    distribution = stats.bernoulli if link == "logit" else stats.poisson
    y = distribution.rvs(mean, random_state=8).astype(float)
    fit = fit_game(A, y, X[:, :2], link=link, errors="classical")

    def negative(theta):
        return -distribution.logpmf(y, expected_actions(link, Z @ theta[1:], theta[0], W)).sum()

    assert fit.log_likelihood == pytest.approx(-negative(fit.parameters), abs=1e-8)
    step = 1e-5
    for k in range(4):
        shift = step * (np.arange(4) == k)
        slope = (negative(fit.parameters + shift) - negative(fit.parameters - shift)) / (2 * step)
        assert slope == pytest.approx(0.0, abs=1e-4)
    other = optimize.minimize(negative, np.r_[0.0, np.linalg.lstsq(Z, y, rcond=None)[0]], method="Nelder-Mead")
    assert fit.log_likelihood >= -other.fun - 1e-6
    # The observed information is near the expected one, and Pearson's dispersion near 1.
    observed = np.sqrt(np.diag(np.linalg.inv(hessian(negative, fit.parameters))))
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), observed, rtol=0.5)


def test_the_bootstrap_of_a_link_draws_answers():
    A, X, _ = village(300, groups=6, degree=5)
    mean = expected_actions("logit", X[:, 0], 1.0, rows(A))
    y = (np.random.default_rng(3).random(300) < mean).astype(float)
    plain = fit_game(A, y, X[:, :1], link="logit")
    drawn = fit_game(A, y, X[:, :1], link="logit", n_bootstrap=40)
    assert 0.5 < drawn.standard_error / plain.standard_error < 2.0


def test_what_does_not_identify_the_peer_effect_is_refused():
    groups = sparse.block_diag([np.ones((5, 5)) - np.eye(5)] * 8).toarray()
    X = np.random.default_rng(0).normal(size=(40, 1))
    y = X[:, 0] + np.random.default_rng(1).normal(size=40)
    for method in ("nls", "qml", "2sls"):
        with pytest.raises(NotIdentifiedError, match="complete groups of one size"):
            fit_game(groups, y, X, contextual=True, method=method)
    with pytest.raises(NotIdentifiedError, match="without covariates"):
        fit_game(groups, y)
    with pytest.raises(NotIdentifiedError, match="empty network"):
        fit_game(np.zeros((40, 40)), y, X)


def test_clustered_errors_and_the_bootstrap_are_of_the_right_size():
    A, X, group = village(240, groups=24, degree=3)
    y = simulated(A, X, noise=0.5)
    plain = fit_game(A, y, X)
    clustered = fit_game(A, y, X, groups=group, errors="cluster")
    drawn = fit_game(A, y, X, n_bootstrap=60)
    for other in (clustered, drawn):
        assert other.peer_effect == plain.peer_effect
        assert 0.5 < other.standard_error / plain.standard_error < 2.0
    assert clustered.freedom == 23
    low, high = drawn.interval
    assert low < drawn.peer_effect < high
    with pytest.raises(ValueError, match="needs groups"):
        fit_game(A, y, X, errors="cluster")


def test_draws_add_what_is_not_known_of_the_network():
    A, X, _ = village()
    y, random = simulated(A, X), np.random.default_rng(5)
    draws = []
    for _ in range(8):
        other = A * (random.random(A.shape) < 0.8)
        draws.append(np.where(random.random(A.shape) < 0.01, 1.0, other))
    fit = fit_game(draws, y, X)
    assert fit.n_draws == 8
    assert fit.between_draws > 0
    same = fit_game([A] * 4, y, X)
    one = fit_game(A, y, X)
    np.testing.assert_allclose(same.parameters, one.parameters, atol=1e-6)
    assert same.between_draws == pytest.approx(0.0, abs=1e-8)
    moments = fit_game(draws, y, X, method="smm")
    assert moments.between_draws > 0
    assert abs(moments.peer_effect - fit.peer_effect) < 2 * fit.standard_error
    with pytest.raises(ValueError, match="4 draws"):
        fit_game(draws[:2], y, X, method="smm")
    with pytest.raises(ValueError, match="needs one network"):
        fit_game(draws, y, X, method="2sls")


def test_simulated_moments_are_those_of_a_dense_computation():
    """Boucher and Houndetoungan's moments written out with dense matrices, minimised over all parameters at once."""
    A, X, _ = village(60, groups=3)
    y = simulated(A, X)
    random = np.random.default_rng(5)
    draws = []
    for _ in range(6):
        draws.append(A * (random.random(A.shape) < 0.9))
    fit = fit_game(draws, y, X, method="smm")
    networks = [rows(draw) for draw in draws]
    Z = np.column_stack([np.ones(60), X])

    def residuals(theta):
        means = [np.linalg.solve(np.eye(60) - theta[0] * W, Z @ theta[1:]) for W in networks[:3]]
        return y - sum(means) / 3

    def kernel(phi):
        columns = []
        for W in networks[3:]:
            H = np.column_stack([Z, W @ X, W @ W @ X])
            columns.append((np.eye(60) - phi * W).T @ H)
        return sum(columns) / 3

    def objective(theta, weight=None):
        K = kernel(theta[0])
        moments = K.T @ residuals(theta)
        return moments @ (np.linalg.inv(K.T @ K) if weight is None else weight) @ moments

    def minimised(start, weight=None):
        options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20000, "maxfev": 20000}
        return optimize.minimize(objective, start, args=(weight,), method="Nelder-Mead", options=options).x

    first = minimised(np.r_[0.3, 0.5, 1.0, -0.5, 0.3])
    scores = kernel(first[0]) * residuals(first)[:, None]
    second = minimised(first, np.linalg.inv(60 / (60 - scores.shape[1]) * scores.T @ scores))
    np.testing.assert_allclose(fit.parameters, second, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_simulated_moments_find_the_effect_on_draws_of_which_one_is_the_truth(seed):
    """On the true network, given as all draws, simulated moments are consistent, and their weights efficient."""
    A, X, _ = village(400, groups=8, seed=seed)
    y = simulated(A, X, noise=0.3, seed=seed + 10)
    moments, squares = fit_game([A] * 4, y, X, method="smm"), fit_game(A, y, X)
    assert abs(moments.peer_effect - 0.4) < 3 * moments.standard_error
    assert 0.5 < moments.standard_error / squares.standard_error < 2.5
    assert moments.between_draws == pytest.approx(0.0, abs=1e-6)


# ------------------------------------------------------------------------------------------ tables as users have them


def named_village():
    A, X, group = village()
    names = [f"p{k}" for k in range(120)]
    table = pd.DataFrame(X, index=names, columns=["age", "land", "wealth"])
    table["savings"], table["village"] = simulated(A, X), [f"v{k}" for k in group]
    return LearnedGraph.of(A, names), table


def test_people_are_matched_by_name_in_any_order_and_as_a_formula():
    graph, table = named_village()
    expected = fit_game(graph.weights, table.savings.to_numpy(), table[["age", "land", "wealth"]].to_numpy())
    mixed = table.sample(frac=1.0, random_state=0)
    for fit in (
        fit_game(graph, mixed.savings, mixed[["age", "land", "wealth"]]),
        fit_game(graph, "savings ~ age + land + wealth", data=mixed),
        fit_game(graph, "savings", ["age", "land", "wealth"], data=mixed),
        fit_game(graph, mixed.savings, table[["age", "land", "wealth"]]),
        fit_game(graph, mixed.savings, "age + land + wealth", data=mixed),
    ):
        np.testing.assert_allclose(fit.parameters, expected.parameters, rtol=1e-6)
        assert fit.residuals.index.tolist() == graph.names.tolist()
    words = fit_game(graph, "savings ~ age + C(village)", data=table).coefficients.term
    assert [term for term in words if "village" in term] == [f"C(village)[T.v{k}]" for k in range(1, 6)]
    assert "village[v1]" in fit_game(graph, table.savings, table[["age", "village"]]).coefficients.term.tolist()


def test_people_of_one_side_only_are_listed_and_those_not_asked_stay():
    graph, table = named_village()
    fewer = table.drop(index="p3").rename(index={"p5": "stranger"})
    with pytest.warns(DataWarning, match="left out"):
        fit = fit_game(graph, "savings ~ age + land", data=fewer)
    assert fit.left_out == {
        "in the network but not in the table": ["p3", "p5"],
        "in the table but not in the network": ["stranger"],
    }
    table.loc["p7", "savings"] = np.nan
    fit = fit_game(graph, "savings ~ age + land", data=table)
    assert ("p7" in fit.names.tolist(), "p7" in fit.residuals) == (True, False)
    assert np.isfinite(fit.fitted_actions).all()
    table.loc["p9", "age"] = np.nan
    with pytest.warns(DataWarning, match="without covariates: p9"):
        assert "p9" not in fit_game(graph, "savings ~ age + land", data=table).names.tolist()


def test_actions_of_a_nonlinear_game_in_single_coins_are_warned_of():
    graph, table = named_village()
    with (
        pytest.warns(DataWarning, match="give actions in thousands"),
        pytest.warns(ConvergenceWarning, match="end of its range"),
    ):
        fit_game(graph, 5000 + 1000 * table.savings.clip(-4), table.age, interaction="log1p")


def test_empty_cells_are_of_people_who_were_not_asked_and_groups_may_be_missing():
    graph, table = named_village()
    texts = table.savings.astype(str)
    texts.iloc[:3] = ["", " ", None]
    fit = fit_game(graph, texts, table[["age", "land"]])
    assert (len(fit.names), len(fit.residuals)) == (120, 117)
    table.loc["p4", "village"] = None
    with pytest.warns(DataWarning, match="1 person is left out, without covariates or group: p4"):
        fit = fit_game(graph, "savings ~ age", data=table, groups="village", fixed_effects=True, errors="cluster")
    assert fit.freedom == 5
    assert fit.coefficients.term.tolist() == ["peer effect", "age"]


def test_isolated_people_units_and_networkx_graphs():
    graph, table = named_village()
    weights = graph.weights.toarray()
    weights[4], weights[:, 4] = 0.0, 0.0
    fit = fit_game(weights, table.savings.to_numpy(), table[["age", "land"]].to_numpy())
    assert np.isfinite(fit.fitted_actions).all()
    thousands = fit_game(graph, 1000 * table.savings, table[["age", "land"]])
    units = fit_game(graph, table.savings, table[["age", "land"]])
    assert thousands.peer_effect == pytest.approx(units.peer_effect, rel=1e-6)
    club = nx.karate_club_graph()
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=34)}, index=[*club])
    assert fit_game(club, X.x + random.normal(size=34), X).n_draws == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"X": t[["age"]].assign(twice=2 * t.age)}, "covariates twice are combinations"),
        (lambda t: {"X": t[["age"]].assign(one=1.0)}, "covariates one are combinations"),
        (lambda t: {"X": t[["age"]].assign(rich=1.0 * (t.village == "v1")), "contextual": True}, "friends' rich"),
        (
            lambda t: {"actions": t.savings.astype(object).where(t.index != "p2", "1,200")},
            "not numbers: '1,200'",
        ),
        (lambda t: {"actions": "income ~ age", "data": t}, "no column 'income'"),
        (lambda t: {"actions": "savings ~ age"}, "needs data"),
        (lambda t: {"actions": "savings ~ age +* land", "data": t}, "cannot be read"),
        (lambda t: {"actions": pd.Series(1.0, t.index)}, "everybody has the same action"),
        (lambda t: {"actions": pd.concat([t.savings, t.savings[:2]])}, "more than one action: p0, p1"),
        (lambda t: {"actions": t.savings.rename(index=lambda name: f"q{name}")}, "nobody in the table"),
        (lambda t: {"interaction": "log1p"}, "actions that are not negative"),
        (lambda t: {"fixed_effects": True}, "needs groups"),
        (lambda t: {"method": "gmm"}, "method='gmm' is not known"),
        (lambda t: {"method": "2sls", "played": "constant"}, "needs played='all'"),
        (lambda t: {"censored": True}, "needs method='qml'"),
        (lambda t: {"n_bootstrap": 5, "method": "qml"}, "is for method='nls'"),
    ],
)
def test_bad_input(change, message):
    graph, table = named_village()
    asked = {"actions": table.savings, "X": table[["age", "land"]]} | change(table)
    if isinstance(asked["actions"], str):
        del asked["X"]
    with pytest.raises(ValueError, match=message.replace("*", r"\*")):
        fit_game(graph, **asked)


# ------------------------------------------------------------------------------------------ what comes of it


def test_interventions_play_the_fitted_game_with_intervals_over_its_parameters():
    graph, table = named_village()
    fit = fit_game(graph, "savings ~ age + land + wealth", data=table)
    game = Game.on(graph, game=fit)
    np.testing.assert_allclose(game.actions, fit.fitted_actions, rtol=1e-6, atol=1e-9)
    assert len(game.replicates) == 50
    players = key_players(graph, game=fit)
    assert {"low", "high", "among_best"} <= {*players.columns}
    assert (players.low <= players.loss).all()
    assert (players.high > players.low).all()
    support = best_support(graph, 5, game=fit, cost="units")
    assert support.support.sum() == 5
    assert what_if(graph, game=fit, without=["p0"]).attrs["welfare_after"] < game.value
    with pytest.raises(ValueError, match="not in the graph: p0"):
        key_players(LearnedGraph.of(np.eye(3)[::-1], ["a", "b", "c"]), game=fit)


def test_interventions_on_model_a_play_the_constant_and_leave_covariates_out():
    graph, table = named_village()
    A = graph.weights.toarray()
    X = table[["age", "land"]].to_numpy()
    noise = np.random.default_rng(3).normal(size=120)
    y = np.linalg.solve(np.eye(120) - 0.05 * A, np.ones(120)) + X @ [1.0, -0.5] + 0.05 * noise
    fit = fit_game(graph, y, X, normalize=False, played="constant")
    assert abs(fit.peer_effect - 0.05) < 4 * fit.standard_error
    game = Game.on(graph, game=fit)
    phi, constant, *beta = fit.parameters
    np.testing.assert_allclose(game.actions, np.linalg.solve(np.eye(120) - phi * A, np.full(120, constant)), rtol=1e-6)
    np.testing.assert_allclose(game.actions + X @ beta, fit.fitted_actions, rtol=1e-6, atol=1e-9)
    # Support gains what the game says: a unit of benefit at i adds the sum of column i of the inverse.
    worth = np.linalg.inv(np.eye(120) - phi * A).sum(axis=0)
    support = best_support(graph, 1, game=fit, cost="units", unit=1.0)
    assert support.name[0] == graph.names[np.argmax(worth)]
    np.testing.assert_allclose(support.worth[0], worth.max(), rtol=1e-6)


def test_the_fitted_game_is_a_prior_of_graph_learning():
    graph, table = named_village()
    table["savings"] += 5.0  # so that all benefits are positive, as the prior of GLGP has them
    fit = fit_game(graph, "savings ~ age + land + wealth", data=table)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 120)), columns=graph.names)
    model = GLGP(lam=1e-3, prior=fit.prior()).fit(X)
    assert model.converged_
    assert Game.on(model).prior.share == pytest.approx(fit.peer_effect)
    np.testing.assert_allclose(model.benefit_, fit.benefit)


def test_a_fit_goes_through_json_and_has_tables(tmp_path):
    graph, table = named_village()
    fit = fit_game(graph, "savings ~ age + land + wealth", data=table)
    again = GameFit.from_json(fit.to_json())
    pd.testing.assert_frame_equal(again.coefficients, fit.coefficients)
    np.testing.assert_allclose(again.benefit, fit.benefit)
    assert again.summary() == fit.summary()
    assert Game.on(graph, game=again).value == pytest.approx(Game.on(graph, game=fit).value)
    assert r"peer effect & " in fit.to_latex()
    assert f"People                      {120}" in fit.summary()
    with pytest.raises(ValueError, match="not a fitted game"):
        GameFit.from_json("{}")
    pytest.importorskip("matplotlib").use("Agg")
    assert fit.plot().get_ylabel() == "action"
