"""Figures of what ties rest on: weights, respondents, changes between waves, and ties per person."""

import numpy as np
import pandas as pd
import pytest

from nashgraph import ConsensusGL, SmoothGL, TieModel
from nashgraph.report.evidence import evidence_of, ties_per_node, weight_bars
from nashgraph.report.html import render
from nashgraph.report.places import rough_places
from nashgraph.report.summary import summarize


def test_bars_share_a_scale_with_zero_and_all_intervals():
    weights = pd.DataFrame({"name": ["age", "place"], "weight": [-0.5, 1.5], "standard_error": [0.1, np.nan]})
    place, age = weight_bars(weights)
    assert (place.name, place.words, age.words) == ("place", "1.5", "-0.5")
    scale = 100 / (1.5 + 0.5 + 1.645 * 0.1)
    assert place.length == pytest.approx(1.5 * scale)
    assert age.length == pytest.approx(0.5 * scale)
    assert age.start + age.length == pytest.approx(place.start)  # zero
    assert (age.low, place.low) == pytest.approx((0.0, 100.0))


def test_ties_per_node_have_intervals_over_replicates():
    path = np.diag([1.0, 2.0, 3.0], 1)
    star = np.zeros((4, 4))
    star[0, 1:] = 1.0
    drawn = ties_per_node([path, star], None)
    assert drawn["ties"].tolist() == [0, 1, 2, 3, 4]
    assert drawn["people"].tolist() == [0.0, 2.5, 1.0, 0.5]
    assert (drawn["low"] <= drawn["people"]).all()
    assert (drawn["people"] <= drawn["high"]).all()
    assert ties_per_node([path], 1)["people"].tolist() == [2.0, 2.0]  # the heaviest pair only


@pytest.fixture(scope="module")
def waves():
    """Return a model of ten people who name their neighbours on a ring; one tie comes and one goes."""
    names = [f"p{k}" for k in range(10)]
    ring = {(k, (k + 1) % 10) for k in range(10)}
    rows = []
    for wave, ties in (("2019", ring), ("2021", ring - {(0, 1)} | {(0, 5)})):
        for one, other in sorted(ties):
            rows += [(names[one], names[one], names[other], wave), (names[other], names[other], names[one], wave)]
    return TieModel().fit(reports=pd.DataFrame(rows, columns=["respondent", "source", "target", "wave"]))


def test_changes_between_waves_are_in_the_page(waves):
    (change,) = evidence_of(waves).changes
    assert change.waves == "2019 to 2021"
    assert (change.formed, change.lost) == (1, 1)
    assert any("p0 – p5 formed" in words for words in change.surest)
    page = render(summarize(waves))
    assert "Changes between waves" in page
    assert "p0 – p5 formed" in page


def test_models_of_likeness_have_no_such_figures(signals):
    assert not any(evidence_of(SmoothGL().fit(signals)))


def test_places_are_moved_by_about_the_distance_to_the_nearest_neighbour():
    across, up = np.meshgrid(np.arange(10), np.arange(10))
    table = pd.DataFrame({"gps_lat": 45.0 + 1e-3 * up.ravel(), "gps_lon": 7.0 + 1e-3 * across.ravel() * 2**0.5})
    moved = rough_places(table, None)
    shift = (moved - table).to_numpy() * [1.0, 0.5**0.5]
    assert np.median(np.hypot(*shift.T)) == pytest.approx(1e-3, rel=0.5)
    assert rough_places(table[["gps_lat"]], None).equals(table[["gps_lat"]])


def test_signals_with_gaps_that_part_of_them_cannot_tell_apart_have_no_curve():
    """With two signals out of eight, two of the nodes share none."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 12)))
    X.iloc[:4, 0] = np.nan
    X.iloc[4:7, 1] = np.nan
    model = ConsensusGL(random_state=0, missing="pairwise").fit(X)
    assert "stability" not in summarize(model, signals=X).trust
