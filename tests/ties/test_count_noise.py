"""The covariance of counts under forgetting, nearness of places, and what both gain."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score

from nashgraph import TieModel
from nashgraph.ties.count_noise import error_covariances
from nashgraph.ties.inputs import nearness_of
from nashgraph.ties.pair_sums import Factors


def test_the_covariance_is_that_of_counts_with_forgotten_ties():
    random = np.random.default_rng(0)
    n = 40
    Z = np.column_stack([np.ones(n), random.random((n, 2)) < 0.5]).astype(float)
    p = np.full((n, n), 0.3)
    low_rank = Factors(logit(p[:, :1]), np.ones((n, 1)))
    recall = 0.4
    got = error_covariances(low_rank, Z, np.array([0]), np.zeros((1, 3)), np.array([recall]), binding=1.0)[0]
    ties = random.random((100_000, n)) < 0.3
    error = (ties & (random.random(ties.shape) < recall)) @ Z / recall - ties @ Z
    np.testing.assert_allclose(got, np.cov(error.T), rtol=0.03)


def test_exact_answers_have_only_their_own_error():
    low_rank = Factors(np.zeros((5, 1)), np.zeros((5, 1)))
    got = error_covariances(low_rank, np.ones((5, 2)), np.arange(2), np.full((2, 2), 0.3), np.ones(2))
    np.testing.assert_allclose(got, np.tile(0.3 * np.eye(2), (2, 1, 1)))


def test_nearness_falls_with_distance_and_unknown_places_are_near_nobody():
    places = np.append(np.arange(60.0), np.nan)[:, None]
    near = nearness_of(places)
    likeness = near @ near.T
    assert likeness[30, 31] > likeness[30, 36] > likeness[30, 55]
    assert (near[60] == 0).all()
    assert likeness[np.triu_indices(60, 1)].std() == pytest.approx(1.0, abs=0.05)


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
