"""Sums over a sample of pairs against those over all, and the fit that steps on a sample against the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from nashgraph.ties.pair_sample import draw_sample
from nashgraph.ties.pair_terms import cell_counts
from nashgraph.ties.report_fit import fit_reports
from nashgraph.ties.reports import ReportPriors, ReportProblem
from nashgraph.ties.sampled_fit import fit_sampled

from .test_reports import simulated, small_task


def shares(problem):
    """Return the share of pairs in each cell."""
    counts = cell_counts(problem.data, np.arange(len(problem.data.group)))
    return counts / counts[0]


@pytest.mark.parametrize("kind", ["plain", "within", "directed"])
def test_a_sample_of_all_pairs_adds_up_to_the_same(kind):
    task = small_task(n=40, seed=2, within=kind == "within", directed=kind == "directed", asks_in=kind == "directed")
    problem = ReportProblem(task, ReportPriors())
    sample = draw_sample(problem.data, shares(problem), 1e9)
    assert (sample.weight == 1.0).all()
    assert len(sample.partner) == problem.n_groups * (problem.n_groups - 1) // 2
    theta = problem.start() + 0.3 * np.random.default_rng(0).normal(size=len(problem.mean))
    value, gradient = problem.likelihood(theta)
    sampled_value, sampled_gradient = problem.likelihood(theta, sample)
    assert sampled_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(sampled_gradient, gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(problem.information(theta, sample), problem.information(theta), rtol=1e-9)


def test_sampled_sums_are_unbiased_and_reports_are_always_in_the_sample():
    problem = ReportProblem(small_task(n=60, seed=4), ReportPriors())
    theta = problem.start()
    value, gradient = problem.likelihood(theta)
    reported = {
        frozenset((int(problem.data.group[i]), int(problem.data.group[problem.data.target[entry]])))
        for i in range(60)
        for entry in range(problem.data.start[i], problem.data.start[i + 1])
        if problem.data.bits[entry] & 0b1011
    }
    values = []
    gradients = []
    for seed in range(300):
        sample = draw_sample(problem.data, shares(problem), 8.0, seed)
        values.append(problem.likelihood(theta, sample)[0])
        gradients.append(problem.likelihood(theta, sample)[1])
        ends = np.repeat(np.arange(problem.n_groups), np.diff(sample.start))
        always = {frozenset(map(int, pair)) for pair in zip(ends, sample.partner, strict=True)}
        assert reported <= always
    assert len(sample.partner) < 0.9 * problem.n_groups * (problem.n_groups - 1) / 2
    error = np.std(values) / np.sqrt(300)
    assert abs(np.mean(values) - value) < 4.0 * error
    errors = np.std(gradients, axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(gradients, axis=0) - gradient) < 5.0 * errors + 1e-9).all()


def test_steps_on_a_sample_end_at_the_same_solution():
    task = simulated(n=300)[0]
    plain = fit_reports(task, n_classes=1, strong=False, tol=1e-4)
    sampled = fit_reports(task, n_classes=1, strong=False, tol=1e-4, exact_up_to=100)
    assert sampled.certificate.converged
    assert sampled.objective == pytest.approx(plain.objective, abs=1e-2)
    people = np.arange(300)
    np.testing.assert_allclose(sampled.rows(people)[0], plain.rows(people)[0], atol=5e-3)
    ratio = sampled.information / plain.problem.information(plain.theta)
    assert 0.7 < np.quantile(ratio, 0.05) < np.quantile(ratio, 0.95) < 1.4


def test_a_poor_sample_is_doubled_until_the_exact_gradient_is_small():
    problem = ReportProblem(simulated(n=150)[0], ReportPriors(), 1, False)
    solution = fit_sampled(problem, 10.0, 1e-3, 500, 1e-3, n_controls=2.0)
    assert solution.certificate.converged
    scale = 1.0 / np.sqrt(problem.information(solution.theta))
    assert np.linalg.norm(scale * problem.objective(solution.theta)[1]) / 10.0 < 2e-3
