"""The tie model: gradients and optima against references, recovery, every kind of evidence, bad input."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import lsq_linear
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from nashgraph import GLGP, ConsensusGL, DataWarning, InputError, TieModel, edge_auc, edge_average_precision
from nashgraph.datasets import smooth_signals
from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.answers import Errors, error_variances, estimate_errors, scaled_up
from nashgraph.ties.arrays import tie_arrays
from nashgraph.ties.covariates import report_task
from nashgraph.ties.fitted import likely_pairs
from nashgraph.ties.options import TieOptions
from nashgraph.ties.probabilities import logistic_line, uncertainty_removed


def village(n=60, n_traits=8, seed=0):
    """A network with popularity and homophily, its traits, and everybody's answers about it."""
    random = np.random.default_rng(seed)
    names = [f"p{k}" for k in range(n)]
    T = (random.random((n, n_traits)) < 0.35).astype(float)
    popular = random.normal(0, 0.5, n)
    theta = -2.6 + popular[:, None] + popular[None] + 1.2 * np.outer(T[:, 0], T[:, 0])
    A = np.triu(random.random((n, n)) < expit(theta), 1).astype(float)
    A += A.T
    traits = pd.DataFrame(T, index=names, columns=[f"t{k}" for k in range(n_traits)])
    counts = pd.DataFrame(A @ T, index=names, columns=traits.columns)
    return A, traits, counts, pd.Series(A.sum(axis=1), index=names)


def precision(model, A):
    upper = np.triu_indices(len(A), 1)
    return average_precision_score(A[upper], model.probabilities().to_numpy()[upper])


def test_counts_carry_the_network_and_expected_ties_are_those_told():
    A, traits, counts, n_ties = village()
    model = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties)
    degree_only = TieModel().fit(traits=traits, n_ties=n_ties)
    assert precision(model, A) > 0.6 > precision(degree_only, A) > A.mean()
    assert model.converged_
    assert edge_auc(A, model) > 0.9
    table = model.expected_ties_
    inside = (table.ties_low <= n_ties) & (n_ties <= table.ties_high)
    assert inside.mean() > 0.8
    assert model.graph_.edges().probability.is_monotonic_decreasing


def test_some_respondents_tell_about_those_not_asked():
    A, traits, counts, n_ties = village(80)
    some = np.random.default_rng(0).permutation(80)[:30]
    model = TieModel().fit(traits=traits, counts=counts.iloc[some], n_ties=n_ties.iloc[some])
    assert precision(model, A) > 1.5 * A.mean()
    assert not set(model.ask(5)["name"]) & set(traits.index[some])
    table = model.expected_ties_
    wide = table.ties_high - table.ties_low
    assert wide[traits.index[some]].max() < wide.drop(traits.index[some]).min()


def test_helpers_give_what_can_be_counted_by_hand():
    Z, counts = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.full((5, 2), np.nan)
    counts[4] = np.nan, 1
    np.testing.assert_allclose(scaled_up(counts, Z)[4], [2.5, 1.0])
    theta = np.repeat([-2.0, 0.0, 2.0], 1000)
    tie = np.arange(3000) % 1000 < 1000 * expit(0.5 * theta)
    np.testing.assert_allclose(logistic_line(theta, tie), [0.0, 0.5], atol=0.01)
    # Three others, each tied with probability one half. Their number is known; a count of one is most informative.
    none = np.array([[0.0, 0.5, 0.5, 0.5]])
    candidates = np.column_stack([[0.0, 1, 0, 0], np.ones(4)])
    removed = uncertainty_removed(none, np.ones((4, 1)), candidates, 1e-9)
    np.testing.assert_allclose(removed, [0.5, 0.0], atol=1e-3)


def test_counts_without_numbers_of_ties_are_scaled_up():
    A, traits, counts, _ = village()
    model = TieModel().fit(traits=traits, counts=counts)
    assert precision(model, A) > 0.45
    assert model.probabilities().to_numpy().sum() == pytest.approx(A.sum(), rel=0.25)


def test_forgetting_is_given_estimated_or_assumed_and_said():
    A, traits, _, _ = village(150, 10)
    random = np.random.default_rng(0)
    recalled = A * (random.random(A.shape) < 0.7)
    counts = pd.DataFrame(recalled @ traits.to_numpy(), traits.index, traits.columns)
    n_ties = pd.Series(recalled.sum(axis=1), traits.index)
    given = TieModel(recall=0.7).fit(traits=traits, counts=counts, n_ties=n_ties)
    assert given.probabilities().to_numpy().sum() == pytest.approx(A.sum(), rel=0.15)
    assert "given" in given.errors_.source
    found = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties)
    assert found.errors_.recall < 1.0
    assert "both sides" in found.errors_.source
    exact = TieModel().fit(
        traits=traits,
        counts=pd.DataFrame(A @ traits.to_numpy(), traits.index, traits.columns),
        n_ties=pd.Series(A.sum(axis=1), traits.index),
    )
    assert exact.errors_[:2] == (1.0, 0.0)
    part = TieModel().fit(traits=traits, counts=counts.iloc[:50], n_ties=n_ties.iloc[:50])
    assert "assumed" in part.errors_.source


def test_open_ended_and_heaped_counts():
    A, traits, counts, n_ties = village()
    cut = counts.astype(int).astype(str).where(counts < 4, "4+")
    model = TieModel().fit(traits=traits, counts=cut, n_ties=n_ties)
    assert precision(model, A) > 0.5
    heaped = n_ties.where(n_ties < 8, (n_ties / 5).round() * 5 + 5).clip(lower=counts.max(axis=1))
    with pytest.warns(UserWarning, match="multiples of 5"):
        TieModel().fit(traits=traits, n_ties=(heaped / 5).round() * 5 + 5)


def test_variances_of_rounded_and_open_ended_counts():
    counts = np.array([[10.0, 15.0], [20.0, 30.0], [25.0, 3.0], [np.nan, 5.0]])
    open_ended = np.zeros(counts.shape, bool)
    open_ended[2, 1] = True
    with pytest.warns(UserWarning, match="5 of the 5 counts of 10 or more"):
        variances = error_variances(counts, open_ended, Errors(0.5, 0.1, "given"))
    plain = 0.05 + 0.1 / 0.5**2
    rounded = plain + 5.0**2 / 12.0  # the variance of a number drawn evenly from an interval of length 5
    expected = [[rounded, rounded], [rounded, rounded], [rounded, plain + 1.0], [plain, plain]]
    np.testing.assert_allclose(variances, expected)


def test_recall_and_error_are_the_least_squares_fit_of_both_sides():
    """Every pair of traits by hand, and SciPy's bounded least squares."""
    random = np.random.default_rng(7)
    A, traits, _, _ = village(60, 6)
    recalled = A * (random.random(A.shape) < 0.7)
    Z = np.column_stack([np.ones(60), traits])
    told = recalled @ Z + random.integers(0, 2, Z.shape)
    arrays = tie_arrays(TieSurvey.of(traits=traits, counts=pd.DataFrame(told[:, 1:], traits.index, traits.columns)))
    rows = []
    for k in range(7):
        for other in range(k + 1, 7):
            here, there = Z[:, k] @ told[:, other], Z[:, other] @ told[:, k]
            both = (told[:, 0] @ (Z[:, k] * Z[:, other])) ** 2 / told[:, 0].sum()
            forgotten = here + there - 2 * both
            people = Z[:, k].sum() + Z[:, other].sum()
            weight = 1 / (0.3 * forgotten + 0.5 * people)
            rows.append((weight * forgotten, weight * people, weight * (here - there) ** 2))
    forgotten, people, difference = np.array(rows).T
    free = lsq_linear(np.column_stack([forgotten, people]), difference, bounds=(0, np.inf), tol=1e-12).x
    errors = estimate_errors(arrays, told, None, None)
    assert 0.5 < errors.recall < 1.0
    np.testing.assert_allclose([1 - errors.recall, errors.variance], free, atol=1e-5)
    given = lsq_linear(people[:, None], difference - 0.1 * forgotten, bounds=(0, np.inf)).x[0]
    assert given > 0
    assert estimate_errors(arrays, told, 0.9, None).variance == pytest.approx(given, rel=1e-6)
    assert estimate_errors(arrays, told, 0.9, 0.2)[:2] == (0.9, 0.2)


def test_known_ties_hold_and_complete_nodes_teach():
    A, traits, counts, n_ties = village(80)
    names = traits.index
    graph = nx.relabel_nodes(nx.from_numpy_array(A), dict(enumerate(names)))
    whole = list(names[:16])
    ties = [edge for edge in graph.edges if set(edge) & set(whole)]
    model = TieModel().fit(traits=traits, known={"ties": ties, "nodes": whole})
    p = model.probabilities()
    np.testing.assert_array_equal(p.to_numpy()[:16], A[:16])
    rest = np.triu_indices(64, 1)
    assert average_precision_score(A[16:, 16:][rest], p.to_numpy()[16:, 16:][rest]) > 1.3 * A.mean()
    both = TieModel().fit(
        traits=traits, counts=counts, n_ties=n_ties, known={"ties": ties, "non_ties": [("p20", "p21")]}
    )
    assert both.probabilities().loc["p20", "p21"] == 0.0
    assert precision(both, A) > precision(TieModel().fit(traits=traits, counts=counts, n_ties=n_ties), A)


def test_names_are_ties_and_full_lists_leave_room():
    A, traits, _, _ = village(80)
    names = traits.index
    lists = {names[k]: list(names[np.flatnonzero(A[k])[:3]]) for k in range(80)}
    full = TieModel(max_names=3).fit(traits=traits, nominations=lists)
    p = full.probabilities()
    reported = np.array([p.loc[who, name] for who, named in lists.items() for name in named])
    assert 0.5 < reported.min() < reported.max() < 1.0  # a name may be wrong
    assert np.median(p.to_numpy()) < 0.2
    named = np.zeros_like(A)
    for k in range(80):
        named[k, np.flatnonzero(A[k])[:3]] = 1
    control = np.triu(named + named.T > 0, 1)[np.triu_indices(80, 1)]
    upper = np.triu_indices(80, 1)
    assert precision(full, A) > average_precision_score(A[upper], control)
    assert p.to_numpy().sum() > 1.1 * 2 * control.sum()
    table = pd.DataFrame([(who, name) for who, given in lists.items() for name in given], columns=["source", "target"])
    pd.testing.assert_frame_equal(TieModel(max_names=3).fit(traits=traits, nominations=table).probabilities(), p)


def test_other_groups_teach_a_group_that_nobody_was_asked_in():
    A, traits, counts, n_ties = village(70, 4, 0)
    groups = []
    for seed in range(1, 5):
        there, T, _, _ = village(60, 4, seed)
        groups.append((nx.relabel_nodes(nx.from_numpy_array(there), dict(enumerate(T.index))), T))
    model = TieModel().fit(traits=traits, networks=groups)
    assert precision(model, A) > 1.2 * A.mean()
    few = {"counts": counts.iloc[:8], "n_ties": n_ties.iloc[:8]}
    assert precision(TieModel().fit(traits=traits, networks=groups, **few), A) > precision(
        TieModel().fit(traits=traits, **few), A
    )


def test_likeness_and_counts_add_up():
    A, traits, counts, n_ties = village(80, 5, 2)
    random = np.random.default_rng(0)
    X = np.linalg.matrix_power(np.eye(80) + A / np.linalg.norm(A, 2), 3) @ random.normal(size=(80, 40))
    X = pd.DataFrame(X.T, columns=traits.index)
    some = slice(0, 40)
    told = {"traits": traits, "counts": counts.iloc[some], "n_ties": n_ties.iloc[some]}
    both, counted = TieModel().fit(X, **told), TieModel().fit(**told)
    assert precision(both, A) > precision(counted, A)
    prior = both.prior()
    np.testing.assert_allclose(prior.left @ prior.right.T, prior.right @ prior.left.T, atol=1e-8)
    GLGP(benefit=both.benefit_).fit(X)


@pytest.mark.parametrize("n_signals", [10, 50])
def test_a_consensus_with_the_log_odds_as_bonus_is_at_least_as_good_as_the_better_part(n_signals):
    scores = []
    for seed, graph in enumerate(
        (nx.barabasi_albert_graph(60, 3, seed=0), nx.watts_strogatz_graph(60, 6, 0.1, seed=0))
    ):
        A = nx.to_numpy_array(graph)
        traits = pd.DataFrame((np.random.default_rng(seed).random((60, 6)) < 0.4).astype(float))
        answers = {
            "counts": pd.DataFrame(A @ traits.to_numpy()).iloc[:30],
            "n_ties": pd.Series(A.sum(axis=1)).iloc[:30],
        }
        answers["counts"].columns = traits.columns
        told = TieModel().fit(traits=traits, **answers)
        X = smooth_signals(graph, n_signals, "gmrf", noise=0.1, random_state=seed)
        alike = ConsensusGL(n_replicates=0, scale="standard").fit(X)
        bonus = GLGP(prior=told.prior(), lam=n_signals**-0.5)
        both = ConsensusGL(bonus, n_replicates=0, scale="standard").fit(X)
        scores.append([edge_average_precision(graph, model, symmetrize="mean") for model in (told, alike, both)])
    answers_alone, signals_alone, together = np.mean(scores, axis=0)
    assert together >= max(answers_alone, signals_alone)


def test_other_groups_need_all_traits():
    A, traits, _, _ = village(10, 2)
    with pytest.raises(InputError, match=r"networks\[0\]: its traits lack t0, which traits has"):
        TieModel().fit(traits=traits, networks=[(nx.from_numpy_array(A), traits[["t1"]])])


def test_the_pairs_that_matter_are_those_of_a_sorted_list():
    random = np.random.default_rng(0)
    p = np.triu(random.random((40, 40)) ** 6, 1)
    p += p.T
    fit = SimpleNamespace(probabilities=lambda rows, wave=None: p[rows])
    pairs = likely_pairs(fit, 40)
    np.testing.assert_allclose(pairs.expected, p.sum(axis=1))
    np.testing.assert_allclose(pairs.variance, (p * (1.0 - p)).sum(axis=1))
    np.testing.assert_array_equal(p[pairs.one, pairs.other], pairs.probability)
    chosen = {*zip(pairs.one.tolist(), pairs.other.tolist(), strict=True)}
    assert all(one < other for one, other in chosen)
    best = {tuple(sorted((k, int(p[k].argmax())))) for k in range(40)}
    order = np.argsort(-p[np.triu_indices(40, 1)])
    ends = np.column_stack(np.triu_indices(40, 1))[order]
    whole = {(int(one), int(other)) for one, other in ends[: round(p.sum())]}  # two for every expected tie
    nearly = {(int(one), int(other)) for one, other in ends[: round(0.9 * p.sum())]}
    assert best <= chosen
    assert nearly <= chosen <= whole | best


def test_whom_hidden_respondents_name_is_predicted_and_scored():
    A, traits, _, _ = village(80)
    names = traits.index
    random = np.random.default_rng(1)
    named = A * (random.random(A.shape) < 0.6)
    lists = {names[k]: list(names[named[k] > 0]) for k in range(50)}
    model = TieModel(calibrate=False).fit(traits=traits, nominations=lists)
    check = model.validate(n_folds=4)
    assert (check.n_respondents, check.n_reports) == (50, int(named[:50].sum()))
    assert check.chance == pytest.approx(named[:50].sum() / (50 * 79))
    assert check.average_precision > 1.5 * check.chance
    assert check.calibration["pairs"].sum() == 50 * 79
    weighted = (check.calibration["observed"] * check.calibration["pairs"]).sum()
    assert weighted == pytest.approx(named[:50].sum())
    assert str(check).startswith("50 respondents hidden in turn")
    with pytest.raises(InputError, match="too few to hide them in 60 parts"):
        model.validate(n_folds=60)
    with pytest.raises(InputError, match="nobody was asked for names"):
        TieModel().fit(n_ties=pd.Series(range(6)) % 4).expected_reports()


def test_respondents_weights_and_the_response_rate_are_told():
    A, traits, _, _ = village(40)
    names = traits.index
    lists = {names[k]: list(names[A[k] > 0]) for k in range(25)} | {names[30]: []}
    model = TieModel().fit(traits=traits, nominations=lists, asked=[names[35]])
    table = model.respondents_
    assert table["names_given"].to_dict() == {**{name: len(lists[name]) for name in lists}, names[35]: 0}
    assert table["recall"].between(0, 1).all()
    assert model.weights_["share"].sum() == pytest.approx(1.0)
    assert "27 of 40 asked" in [decision.reason for decision in model.decisions_][-1]
    reports = model.expected_reports()
    given = np.array([[name in lists.get(who, []) for name in names] for who in names])
    assert reports.to_numpy().min() >= 0.0
    assert reports.to_numpy()[given].mean() > 2 * reports.to_numpy()[~given].mean()


def test_draws_vary_around_the_probabilities():
    _A, traits, counts, n_ties = village()
    model = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties, known=[("p0", "p1")])
    draws = [draw.weights.toarray() for draw in model.sample(200)]
    assert all(draw[0, 1] == 1.0 for draw in draws)
    assert all((draw == draw.T).all() and not np.diag(draw).any() for draw in draws)
    assert np.abs(np.mean(draws, axis=0) - model.probabilities().to_numpy()).max() < 0.17
    np.testing.assert_array_equal(draws[0], model.sample(1)[0].weights.toarray())


def test_why_adds_up_and_names_the_answers():
    _, traits, counts, n_ties = village()
    model = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties)
    table = model.why("p0", "p1")
    assert table.evidence.str.contains("p0 told of").any()
    assert table.log_odds.abs().is_monotonic_decreasing
    with pytest.raises(InputError, match="no such node: nobody"):
        model.why("p0", "nobody")


def test_the_report_and_the_tools_of_every_estimator_work(tmp_path):
    _, traits, counts, n_ties = village(20, 3)
    model = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties)
    assert model.report(tmp_path / "page.html", show=False).stat().st_size > 10_000
    assert model.to_networkx(directed=False).number_of_edges() == len(model.edges())
    assert "relative gradient" in model.certificate_.sentence


def test_numbers_as_names_survive_gaps_and_likeness_without_counts_is_assumed():
    _A, traits, _, n_ties = village(20, 3)
    traits, n_ties = traits.reset_index(drop=True), n_ties.reset_index(drop=True)
    table = pd.DataFrame({"first": [1, 2, None], "second": [3, None, None]}, index=[0, 1, 2])
    p = TieModel(max_names=2).fit(traits=traits, nominations=table).probabilities()
    assert min(p.loc[0, 1], p.loc[0, 3], p.loc[1, 2]) > 0.5 > p.loc[4, 5]
    X = np.random.default_rng(0).normal(size=(5, 20))
    p = TieModel().fit(X, n_ties=n_ties).probabilities().to_numpy()
    alike = np.corrcoef(X.T)
    upper = np.triu_indices(20, 1)
    popular = np.add.outer(*2 * (np.log(n_ties.to_numpy() + 0.5),))[upper]
    fitted = np.linalg.lstsq(np.column_stack([popular, alike[upper]]), np.log(p[upper]), rcond=None)[0]
    assert fitted[1] > 0.1


def test_order_of_nodes_does_not_matter_and_parameters_clone():
    _A, traits, counts, n_ties = village()
    order = np.random.default_rng(0).permutation(60)
    model = TieModel(calibrate=False).fit(traits=traits, counts=counts, n_ties=n_ties)
    other = clone(model).fit(traits=traits.iloc[order], counts=counts, n_ties=n_ties)
    pd.testing.assert_frame_equal(
        other.probabilities().loc[traits.index, traits.index], model.probabilities(), atol=2e-3
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_pairs_that_are_kept_do_not_depend_on_the_order_of_the_people(seed):
    """With two traits, many people are equally probable: the first of them was each one's best pair."""
    random = np.random.default_rng(seed)
    names = [f"p{k:02d}" for k in range(30)]
    traits = pd.DataFrame((random.random((30, 2)) < 0.4).astype(float), names, ["t0", "t1"])
    A = np.triu(random.random((30, 30)) < 0.1, 1).astype(float)
    counts = pd.DataFrame((A + A.T) @ traits.to_numpy(), names, traits.columns)
    found = []
    for order in (names, random.permutation(names)):
        model = TieModel(calibrate=False).fit(traits=traits.loc[order], counts=counts.loc[order])
        found.append({frozenset(pair) for pair in model.edges()[["source", "target"]].to_numpy()})
    assert found[0] == found[1]
    assert len(found[0]) > 30


def test_answers_that_tell_no_pair_from_another_give_no_pair_and_a_warning():
    with pytest.warns(DataWarning, match="do not tell who is tied to whom.*Ask how many ties have a trait"):
        model = TieModel().fit(n_ties=pd.Series(3, index=[f"p{k}" for k in range(40)]))
    assert model.graph_.n_edges == 0
    np.testing.assert_allclose(model.expected_ties_["expected_ties"], 3.0, rtol=5e-3)


def test_calibration_hardly_depends_on_chance():
    """By one drawn network, another seed moved a probability by 0.34 in this group."""
    _A, traits, counts, n_ties = village(40, 6, seed=3)
    told = {"traits": traits, "counts": counts[::3], "n_ties": n_ties[::3]}
    found = [TieModel(random_state=seed).fit(**told).probabilities().to_numpy() for seed in range(4)]
    assert 0.0 < np.ptp(found, axis=0).max() < 0.1


def bad(**changes):
    _, traits, counts, n_ties = village(20, 3)
    return {"traits": traits, "counts": counts, "n_ties": n_ties} | changes


_, TRAITS, COUNTS, TIES = village(20, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": COUNTS - 5}, "whole numbers of 0 or more, got '-"),
        ({"counts": COUNTS + 0.5}, "whole numbers"),
        ({"counts": COUNTS.astype(str).replace("0.0", "some")}, "got 'some'"),
        ({"traits": TRAITS.assign(t0=0)}, "nobody has the trait 't0'"),
        ({"traits": TRAITS.assign(t0=1)}, "everybody has the trait 't0'"),
        ({"traits": TRAITS.assign(t0=0.5)}, "not 0 or 1"),
        ({"traits": TRAITS.assign(t0="red")}, "get_dummies"),
        ({"traits": TRAITS.rename(columns={"t0": "t1"})}, "several columns of one name: t1"),
        ({"traits": pd.DataFrame(np.eye(20, 101), TRAITS.index)}, "has 101 columns, and at most 100 can be fitted"),
        ({"counts": COUNTS.rename(columns={"t0": "age"})}, "not traits: age"),
        ({"counts": COUNTS.rename(index={"p0": "zoe"})}, "not among the people: zoe"),
        ({"counts": None, "n_ties": None}, "nobody was asked"),
        ({"nominations": {"p0": ["zoe"]}}, "not people: zoe"),
        ({"nominations": {"p0": "p1"}}, "must be a list of names"),
        ({"known": [("p0", "p1", 1), ("p1", "p0", 0)]}, "tied and that they are not: p0 - p1"),
        ({"networks": [(nx.path_graph(3), TRAITS.iloc[:3, :1])]}, "its traits lack t1"),
    ],
)
def test_bad_input_is_said(changes, message):
    with pytest.raises(InputError, match=message):
        TieModel().fit(**bad(**changes))


def test_questions_to_add_split_people_and_do_not_repeat_each_other():
    _, traits, counts, n_ties = village(60, 4)
    others = traits.assign(again=traits["t1"], rare=(np.arange(60) == 3).astype(float))
    model = TieModel().fit(traits=others, counts=counts[["t0"]].iloc[:20], n_ties=n_ties.iloc[:20])
    table = model.ask_about()
    assert set(table.trait) == {"t1", "t2", "t3", "again", "rare"}
    assert set(table.trait[-2:]) <= {"rare", "again", "t1"}  # a twin, and a trait that nearly nobody has, come last
    assert table.removed.is_monotonic_decreasing
    assert model.ask_about(traits[["t2"]]).trait.tolist() == ["t2"]
    with pytest.raises(InputError, match="no other trait of 0 and 1"):
        TieModel().fit(traits=traits, counts=counts, n_ties=n_ties).ask_about()


def test_bad_parameters_are_said():
    for parameters, message in (({"recall": 0}, "recall"), ({"error": -1}, "error"), ({"max_names": 0}, "max_names")):
        with pytest.raises(InputError, match=message):
            TieModel(**parameters).fit(**bad())
    with pytest.raises(InputError, match=r"gave more than max_names=1"):
        TieModel(max_names=1).fit(traits=TRAITS, nominations={"p0": ["p1", "p2"]})
    with pytest.raises(InputError, match="everybody was asked"):
        TieModel().fit(**bad()).ask(2)


def test_people_outside_the_table_take_up_room_on_a_list():
    ring = {f"a{k}": [f"a{(k + 1) % 60}", None] for k in range(60)}
    arrays = tie_arrays(TieSurvey.of([*ring, "b"], reports=ring | {"b": ["a1"]}, room=2))
    assert report_task(arrays, TieOptions()).full.tolist() == [True] * 60 + [False]
    names = [*ring]
    with pytest.raises(InputError, match=r"a0.* gave more than max_names"):
        TieSurvey.of(names, reports=ring, room=1)


@pytest.mark.parametrize("seed", range(3))
def test_tables_match_by_label_whatever_their_order(seed):
    """Labels 0 to n - 1 in another order were taken as positions."""
    _, traits, counts, n_ties = (
        part if isinstance(part, np.ndarray) else part.reset_index(drop=True) for part in village(30, 3)
    )
    random = np.random.default_rng(seed)
    tables = {"traits": traits, "counts": counts, "n_ties": n_ties}
    shuffled = {name: table.iloc[random.permutation(30)] for name, table in tables.items()}
    p = TieModel(calibrate=False).fit(**tables).probabilities()
    other = TieModel(calibrate=False).fit(**shuffled).probabilities()
    pd.testing.assert_frame_equal(other.loc[p.index, p.columns], p, atol=2e-3, check_index_type=False)


def test_contradicting_answers_are_noise():
    _, traits, counts, n_ties = village(40, 4)
    counts.iloc[:6, 0] = n_ties.iloc[:6] + 2
    with pytest.warns(DataWarning, match="6 people told of more ties with a trait than ties in all"):
        model = TieModel(calibrate=False).fit(traits=traits, counts=counts, n_ties=n_ties)
    assert model.converged_
    assert np.isfinite(model.probabilities().to_numpy()).all()


def test_known_ties_hold_where_answers_and_names_contradict_them():
    _, traits, counts, n_ties = village(20, 3)
    known = {"ties": [("p0", "p1")], "nodes": ["p0"]}
    with pytest.warns(DataWarning, match="1 people all of whose ties are known told of another number"):
        p = TieModel().fit(traits=traits, counts=counts, n_ties=n_ties, known=known).probabilities()
    assert p.loc["p0"].sum() == p.loc["p0", "p1"] == 1.0
    p = TieModel().fit(traits=traits, nominations={"p2": ["p0", "p3"]}, known=known).probabilities()
    assert p.loc["p2", "p0"] == 0.0
    told = {"traits": traits, "nominations": {"p2": ["p0", "p3"]}, "n_ties": n_ties.iloc[3:]}
    p = TieModel().fit(**told, known=known).probabilities()
    assert p.loc["p2", "p0"] == 0.0
