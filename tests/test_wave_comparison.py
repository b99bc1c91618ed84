"""Networks of waves against fits of repeated signals; permutation p-values against all permutations."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from nashgraph import ConsensusGL, InputError, SmoothGL, compare_waves, fit_waves


def distance_of(first, second):
    """Return the share of weight that moved, and that of each node, entry by entry."""
    n = len(first)
    moved = np.zeros(n)
    total = np.zeros(n)
    for i, j in itertools.product(range(n), range(n)):
        for node in (i, j):
            moved[node] += abs(first[i, j] - second[i, j])
            total[node] += first[i, j] + second[i, j]
    return moved.sum() / total.sum(), moved / total


def fitted(X):
    return SmoothGL(degree=4).fit(X).adjacency_.toarray()


def test_a_bandwidth_of_zero_uses_the_signals_of_the_wave_alone():
    X = np.random.default_rng(0).normal(size=(24, 15))
    waves = np.repeat(["a", "b", "c"], 8)
    models = fit_waves(X, waves, SmoothGL(degree=4), bandwidth=0)
    assert list(models) == ["a", "b", "c"]
    np.testing.assert_allclose(models["b"].adjacency_.toarray(), fitted(X[8:16]))


def test_a_weight_of_one_half_is_as_if_the_other_signals_came_twice():
    X = np.random.default_rng(1).normal(size=(16, 15))
    half = 1.0 / np.sqrt(2.0 * np.log(2.0))  # exp(-1 / (2 h^2)) = 1/2
    models = fit_waves(X, [2020] * 8 + [2021] * 8, SmoothGL(degree=4), bandwidth=half)
    np.testing.assert_allclose(models[2020].adjacency_.toarray(), fitted(np.vstack([X[:8], X[:8], X[8:]])), atol=1e-9)
    np.testing.assert_allclose(models[2021].adjacency_.toarray(), fitted(np.vstack([X[:8], X[8:], X[8:]])), atol=1e-9)


def test_a_consensus_keeps_names_and_scales_before_it_weighs():
    random = np.random.default_rng(2)
    X = pd.DataFrame(random.integers(0, 2, (20, 12)) * 1000.0, columns=[f"p{k}" for k in range(12)])
    models = fit_waves(X, [0] * 10 + [1] * 10, ConsensusGL(n_replicates=0), bandwidth=0)
    again = ConsensusGL(n_replicates=0, signals="answers", scale="standard").fit(X.iloc[10:])
    assert list(models[1].node_names_) == list(X.columns)
    np.testing.assert_allclose(models[1].adjacency_.toarray(), again.adjacency_.toarray(), atol=1e-12)


def test_p_values_are_those_of_all_swaps():
    X = np.random.default_rng(3).normal(size=(8, 9))
    X[4:] = X[:4] + 0.5 * X[4:]
    result = compare_waves(
        X, [0] * 4 + [1] * 4, questions=list("abcd") * 2, estimator=SmoothGL(degree=4), n_permutations=800
    )
    change, by_node = distance_of(fitted(X[:4]), fitted(X[4:]))
    assert result.change == pytest.approx(change)
    nodes = result.nodes.set_index("name").loc[range(9)]
    np.testing.assert_allclose(nodes["change"], by_node)
    every = []
    for swaps in itertools.product((False, True), repeat=4):
        swapped = np.array(swaps)[:, None]
        every.append(distance_of(fitted(np.where(swapped, X[4:], X[:4])), fitted(np.where(swapped, X[:4], X[4:]))))
    exact = np.mean([values[0] >= change - 1e-9 for values in every])
    assert result.p_value == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1 - exact) / 800) + 2 / 800)
    assert result.expected == pytest.approx(np.mean([values[0] for values in every]), rel=0.05)
    means = np.mean([values[1] for values in every], axis=0)
    spreads = np.std([values[1] for values in every], axis=0)
    largest = [((values[1] - means) / spreads).max() for values in every]
    adjusted = np.array([np.mean(largest >= value - 1e-9) for value in (by_node - means) / spreads])
    np.testing.assert_allclose(nodes["p_value"], adjusted, atol=0.08)


@pytest.mark.parametrize("with_questions", [False, True])
def test_without_change_small_p_values_are_as_rare_as_they_should_be(with_questions):
    values = []
    smallest = []
    for seed in range(60):
        random = np.random.default_rng([seed, 7])
        traits = np.repeat(random.normal(size=(10, 4)), 3, axis=1)
        X = np.vstack([traits, traits]) + random.normal(size=(20, 12))
        result = compare_waves(
            X,
            [1] * 10 + [2] * 10,
            questions=list(range(10)) * 2 if with_questions else None,
            estimator=SmoothGL(degree=3),
            n_permutations=19,
            random_state=seed,
        )
        values.append(result.p_value)
        smallest.append(result.nodes["p_value"].min())
    if with_questions:
        assert 0.4 < np.mean(values) < 0.65
    assert np.mean(np.array(values) <= 0.1) <= 0.2
    assert np.mean(np.array(smallest) <= 0.1) <= 0.2


def test_a_node_that_changed_its_group_is_found():
    random = np.random.default_rng(5)
    groups = np.repeat(np.arange(4), 4)
    moved = groups.copy()
    moved[0] = 3
    X = np.vstack([random.normal(size=(200, 4))[:, groups], random.normal(size=(200, 4))[:, moved]])
    X = X + random.normal(size=X.shape)
    result = compare_waves(X, [1] * 200 + [2] * 200, estimator=SmoothGL(degree=3), n_permutations=99)
    assert result.nodes["name"][0] == 0
    assert result.nodes["p_value"][0] <= 0.05
    assert "of the weight moved from 1 to 2" in str(result)


def test_what_cannot_be_compared_is_refused():
    X = np.random.default_rng(0).normal(size=(6, 5))
    with pytest.raises(InputError, match="wave of each row"):
        fit_waves(X, [0, 1])
    with pytest.raises(InputError, match="two are needed"):
        fit_waves(X, [0] * 6)
    with pytest.raises(InputError, match="before and after"):
        compare_waves(X, [0, 0, 0, 1, 1, 1], before=0, after=3)
    with pytest.raises(InputError, match="one signal in each"):
        compare_waves(X, [0, 0, 0, 1, 1, 1], questions=["a", "b", "c", "a", "b", "d"])
