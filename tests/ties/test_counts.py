"""Counts as evidence: tilts against a solver, their errors under forgetting, and what recall and places gain."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score

from nashgraph import TieModel
from nashgraph.ties.counts import Counts, Tilts
from nashgraph.ties.pair_terms import number_term
from nashgraph.ties.report_kernels import NO_TIE, TIE
from nashgraph.ties.reports import ReportPriors, ReportProblem, ReportTask


def counting_task(n=8, asked=5, seed=1):
    """Return a task of people alone who counted ties, not all asked everything, and a known tie."""
    random = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n), random.random((n, 2)) < 0.5]).astype(float)
    answers = random.integers(0, 4, (n, 3)).astype(float)
    answers[asked:] = np.nan
    answers[0, 2] = np.nan
    return ReportTask(
        asked=np.zeros(n, dtype=bool),
        group=np.arange(n),
        says=(np.zeros(0, dtype=int),) * 3,
        terms=[number_term("age", random.normal(size=n))],
        w=np.zeros((n, 0)),
        full=np.zeros(n, dtype=bool),
        within=True,
        known=(np.array([0, 2]), np.array([6, 3]), np.array([NO_TIE, TIE])),
        counts=Counts(Z, answers, np.full((n, 3), 0.4), recall=0.6),
    )


def test_the_tilts_are_the_optimum_that_cvxpy_finds():
    task = counting_task()
    problem = ReportProblem(task, ReportPriors(), n_classes=1, strong=False)
    theta = problem.start()
    problem.measure_counts(theta)
    problem.fit_tilts(theta, 1e-8)
    tilts = problem.tilts
    before = problem.rows(theta, np.arange(8), np.zeros((3, 8)))[0]
    Z = task.counts.features
    E = cp.Variable(tilts.told.shape)
    terms = []
    for i in range(len(tilts.rows)):
        for j in range(i + 1, 8):
            tilt = E[i] @ Z[j] + (E[j] @ Z[i] if j < len(tilts.rows) else 0)
            if before[i, j] == 1.0:
                terms.append(tilt)
            elif before[i, j] > 0.0:
                terms.append(cp.logistic(logit(before[i, j]) + tilt))
    value = cp.sum(cp.hstack(terms)) - cp.sum(cp.multiply(tilts.answers, E))
    value += sum(0.5 * cp.quad_form(E[i], tilts.noise[i]) for i in range(len(tilts.rows)))
    cp.Problem(cp.Minimize(value), [cp.multiply(1.0 - tilts.told, E) == 0]).solve(solver="CLARABEL")
    assert tilts.relative_residual < 1e-8
    np.testing.assert_allclose(tilts.values, E.value, atol=1e-4)


def test_the_covariance_is_that_of_counts_with_forgotten_ties():
    random = np.random.default_rng(0)
    n = 40
    Z = np.column_stack([np.ones(n), random.random((n, 2)) < 0.5]).astype(float)
    p = np.full((n, n), 0.3)
    recall = 0.4
    tilts = Tilts(Counts(Z, np.ones((n, 3)), np.full((n, 3), 0.2), recall, binding=1.0))
    assert tilts.measure_errors(lambda people: p[people]) == 1.0
    ties = random.random((100_000, n)) < 0.3
    error = (ties & (random.random(ties.shape) < recall)) @ Z / recall - ties @ Z
    np.testing.assert_allclose(tilts.noise[0], np.cov(error.T) + 0.2 * np.eye(3), rtol=0.03)
    assert tilts.measure_errors(lambda people: p[people]) == 0.0


def test_exact_answers_have_only_their_own_error():
    tilts = Tilts(Counts(np.ones((5, 2)), np.ones((5, 2)), np.full((5, 2), 0.3)))
    tilts.measure_errors(lambda people: np.full((len(people), 5), 0.5))
    np.testing.assert_allclose(tilts.noise, np.tile(0.3 * np.eye(2), (5, 1, 1)))


def test_counts_inform_the_class_of_households():
    """A person who counts a tie with the only person of a trait makes ties between the two households likelier."""
    names = [f"p{k}" for k in range(24)]
    household = pd.DataFrame({"household": np.arange(24) // 2}, index=names)
    random = np.random.default_rng(0)
    traits = pd.DataFrame({"smith": (np.arange(24) == 23).astype(float), "old": random.random(24) < 0.5}, index=names)
    traits["old"] = traits["old"].astype(float)
    n_ties = pd.Series(3, index=names[:20])
    tied = pd.DataFrame({"smith": [1.0] + [0.0] * 19}, index=names[:20])
    answers = {"traits": traits, "groups": household, "n_ties": n_ties}
    p = TieModel(calibrate=False, error=0.0).fit(**answers, counts=tied).probabilities()
    assert p.loc["p0", "p23"] > 0.6
    # p1 lives with p0, and p22 with the smith; both told of no other tie than p2 and p20 did
    assert p.loc["p1", "p22"] > 1.5 * p.loc["p2", "p20"]


def road(seed, n=110):
    """Return a network along a road whose people have traits by where they live, and places."""
    random = np.random.default_rng(seed)
    house = np.arange(float(n))
    gap = np.abs(house[:, None] - house[None, :])
    ties = np.triu(random.random((n, n)) < expit(0.5 - 0.35 * gap), 1)
    ties = ties | ties.T
    waves = np.sin(house[:, None] / random.uniform(3, 15, 8) + random.uniform(0, 6, 8))
    traits = pd.DataFrame((waves + 0.5 * random.normal(size=waves.shape) > 0.3).astype(float)).add_prefix("t")
    return ties, traits, pd.DataFrame({"house": house})


def precision(ties, **parts):
    recall = parts.pop("recall", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = TieModel(recall=recall, calibrate=False).fit(**parts).probabilities().to_numpy()
    upper = np.triu_indices(len(ties), 1)
    return average_precision_score(ties[upper], p[upper])


def test_telling_the_true_recall_does_not_cost_precision():
    gains = []
    for seed in range(3):
        ties, traits, _ = road(seed)
        random = np.random.default_rng(seed + 10)
        recalled = ties & (random.random(ties.shape) < 0.35)
        answers = {"traits": traits, "counts": pd.DataFrame(recalled @ traits.to_numpy(), columns=traits.columns)}
        answers["n_ties"] = pd.Series(recalled.sum(axis=1))
        gains.append(precision(ties, recall=0.35, **answers) - precision(ties, recall=1.0, **answers))
    assert np.mean(gains) > 0.0


def test_places_help_where_few_were_asked():
    ties, traits, places = road(5)
    asked = np.arange(0, 110, 3)
    counts = pd.DataFrame(ties @ traits.to_numpy(), columns=traits.columns).iloc[asked]
    answers = {"traits": traits, "counts": counts, "n_ties": pd.Series(ties.sum(axis=1)).iloc[asked]}
    assert precision(ties, places=places, **answers) > precision(ties, **answers) + 0.1
