"""A survey as the tie model fits it: units, covariates, relations, respondents and the rows of probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.arrays import tie_arrays
from nashgraph.ties.covariates import covariates, unit_of_ties
from nashgraph.ties.fit import fit_ties
from nashgraph.ties.options import TieOptions


def village(seed=0, n_groups=40, asked_share=0.6, wrong=0.002):
    """Return a survey of people in households of two and three along a road, and the true ties."""
    random = np.random.default_rng(seed)
    house = np.repeat(np.arange(n_groups), random.integers(2, 4, n_groups))
    n = len(house)
    close = np.abs(house[:, None] - house[None, :])
    linked = np.triu(
        random.random((n_groups, n_groups)) < expit(1.5 - 0.5 * np.abs(np.subtract.outer(*[np.arange(n_groups)] * 2))),
        1,
    )
    linked = linked | linked.T
    ties = np.triu((random.random((n, n)) < 0.7) & linked[house][:, house] & (close > 0), 1)
    ties = ties | ties.T
    named = np.where(ties, random.random((n, n)) < 0.5, random.random((n, n)) < wrong) & (close > 0)
    names = [f"p{k}" for k in range(n)]
    asked = random.random(n) < asked_share
    rows = []
    for i, j in np.argwhere(named & asked[:, None]):
        rows.append((names[i], names[i], names[j], "visit" if random.random() < 0.7 else "lend"))
    survey = TieSurvey.of(
        names,
        reports=pd.DataFrame(rows, columns=["respondent", "source", "target", "relation"]),
        asked=[name for name, was in zip(names, asked, strict=True) if was],
        places=pd.DataFrame({"house": house}, index=names),
        groups=pd.DataFrame({"household": house, "hamlet": house // 10}, index=names),
    )
    return tie_arrays(survey), ties, named, house


@pytest.fixture(scope="module")
def fitted():
    arrays, ties, named, house = village()
    return fit_ties(arrays), ties, named, house


def test_the_finest_group_shares_ties_and_larger_ones_are_covariates():
    arrays, _, _, house = village()
    group = unit_of_ties(arrays, TieOptions())
    assert (group == house).all()
    labels = {term.label: term for term in covariates(arrays, group)}
    assert labels["place"].use.in_class
    assert "hamlet" in labels
    assert "household" not in labels


def test_hidden_people_are_predicted(fitted):
    fit, ties, named, house = fitted
    hidden = np.flatnonzero(~fit.arrays.asked.any(axis=(1, 2)))
    others = house[hidden][:, None] != house[None, :]
    expected = fit.expected_reports(hidden)
    assert fit.certificate.converged
    assert expected[others].sum() == pytest.approx(named[hidden][others].sum(), rel=0.3)
    tie = fit.probabilities(hidden)
    assert tie[ties[hidden]].mean() > 5 * tie[~ties[hidden] & others].mean()


def test_rows_are_symmetric_and_relations_are_part_of_the_union(fitted):
    fit, *_ = fitted
    everybody = np.arange(fit.arrays.n)
    tie = fit.probabilities(everybody)
    np.testing.assert_allclose(tie, tie.T, atol=1e-12)
    assert (np.diag(tie) == 0).all()
    for relation in range(2):
        assert (fit.probabilities(everybody, relation) <= tie + 1e-12).all()
        assert (fit.expected_reports(everybody, relation) <= fit.expected_reports(everybody) + 1e-12).all()
    assert (fit.strong(everybody) <= tie + 1e-12).all()
    np.testing.assert_allclose(fit.expected, tie.sum(axis=1))
    assert fit.probabilities(everybody[:3], 0).sum() > fit.probabilities(everybody[:3], 1).sum()


def test_respondents_have_a_recall_with_an_interval(fitted):
    fit, *_ = fitted
    respondents = fit.respondents
    asked = fit.arrays.asked.any(axis=(1, 2))
    assert (np.isnan(respondents["recall"]) == ~asked).all()
    assert (respondents["recall_low"][asked] < respondents["recall"][asked]).all()
    assert (respondents["recall"][asked] < respondents["recall_high"][asked]).all()
    assert fit.errors[0] == pytest.approx(0.5, abs=0.2)


def test_the_parts_of_a_pair_add_up_to_more_for_neighbours(fitted):
    fit, *_ = fitted
    parts = {(kind, label): value for kind, label, value in fit.parts(0, 3)}
    far = {(kind, label): value for kind, label, value in fit.parts(0, fit.arrays.n - 1)}
    assert parts["covariate", "place"] > 0 > far["covariate", "place"]
    assert all(0.0 <= weight.share <= 1.0 for weight in fit.weights)


def test_drawn_networks_have_as_many_ties_as_expected(fitted):
    fit, *_ = fitted
    random = np.random.default_rng(0)
    counts = [len(fit.draw(random)[0]) for _ in range(20)]
    assert np.mean(counts) == pytest.approx(fit.expected.sum() / 2, rel=0.05)


def test_known_ties_weigh_the_questions_and_stay_certain():
    random = np.random.default_rng(1)
    n = 80
    X = random.normal(size=(6, n))
    ties = np.triu(random.random((n, n)) < expit(-3.0 + 1.5 * np.outer(X[0], X[0])), 1)
    ties = ties | ties.T
    names = [f"p{k}" for k in range(n)]
    nodes = [0, 1, 2, 3, 4, 5, 6, 7]
    known = {
        "ties": [(names[i], names[j]) for i in nodes for j in np.flatnonzero(ties[i])],
        "nodes": [names[i] for i in nodes],
    }
    X = pd.DataFrame(X, index=[f"q{k}" for k in range(6)], columns=names)
    fit = fit_ties(tie_arrays(TieSurvey.of(names, known=known), X))
    weights = {weight.name: weight.weight for weight in fit.weights}
    assert weights["likeness in q0"] > 2 * max(weights[f"likeness in q{k}"] for k in range(1, 6))
    assert set(np.unique(fit.probabilities(np.array(nodes)).round(9))) == {0.0, 1.0}
    assert ((fit.probabilities(np.array(nodes)) > 0.5) == ties[nodes]).all()


def both_ends_report(seed, n=60, exaggerators=6):
    """Return directed ties that both ends report, where some people also report many that are not there."""
    random = np.random.default_rng(seed)
    ties = random.random((n, n)) < 5.0 / n
    np.fill_diagonal(ties, False)
    false = np.where(np.arange(n) < exaggerators, 0.25, 0.002)
    rows = []
    for i in range(n):
        for out in (True, False):
            mine = ties[i] if out else ties[:, i]
            says = np.where(mine, random.random(n) < 0.95, random.random(n) < false[i])
            says[i] = False
            rows += [(i, i, int(j)) if out else (i, int(j), i) for j in np.flatnonzero(says)]
    names = [f"p{k}" for k in range(n)]
    table = pd.DataFrame([[names[k] for k in row] for row in rows], columns=["respondent", "source", "target"])
    return tie_arrays(TieSurvey.of(names, reports=table, asked=names)), ties


def test_a_few_exaggerators_are_told_from_everybody_else():
    arrays, ties = both_ends_report(0)
    fit = fit_ties(arrays, TieOptions(directed=True))
    false = fit.respondents["false_naming"]
    assert false[:6].min() > 3 * false[6:].mean()
    guess = fit.probabilities(np.arange(60)) > 0.5
    assert 2 * (guess & ties).sum() / (guess.sum() + ties.sum()) > 0.9


def test_one_wave_is_fitted_from_its_own_reports():
    names = [f"p{k}" for k in range(12)]
    rows = [
        (names[k], names[k], names[(k + step) % 12], wave) for k in range(12) for step, wave in ((1, "a"), (5, "b"))
    ]
    reports = pd.DataFrame(rows, columns=["respondent", "source", "target", "wave"])
    arrays = tie_arrays(TieSurvey.of(names, reports=reports, asked=names))
    first = fit_ties(arrays, wave=0).probabilities(np.arange(12))
    second = fit_ties(arrays, wave=1).probabilities(np.arange(12))
    assert first[0, 1] > first[0, 5]
    assert second[0, 5] > second[0, 1]
