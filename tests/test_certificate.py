"""One certificate for every method, and one place that ends runs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from nashgraph.certificate import Certificate, Measure, Monitor, Status, exact, summed_up
from nashgraph.estimators import METHODS

SMALL = {"spectemp": {"max_iter": 60}, "glasso": {"alpha": 0.3}}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_certified_alike(name, random):
    signals = random.normal(size=(20, 12)) + np.repeat(random.normal(size=(20, 2)), 6, axis=1)
    model = METHODS[name](**SMALL.get(name, {})).fit(signals)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.value <= certificate.tol or certificate.measure is Measure.EXACT
    assert model.converged_ is certificate.converged
    assert model.n_iter_ == certificate.iterations
    assert certificate.sentence.startswith(("converged: ", "solved exactly "))
    assert certificate.as_dict()["converged"] is True
    for record in certificate.history:
        assert record.value >= 0


def test_a_watch_ends_a_run_in_one_place():
    seen = []
    monitor = Monitor(Measure.GAP, 1e-3, 5, callback=lambda record: seen.append(record) or record.iteration == 3)
    assert [monitor.check(k, 1.0 - k, 0.5) for k in range(4)] == [None, None, None, Status.STOPPED]
    assert monitor.check(4, 0.0, 1e-4) is Status.CONVERGED
    assert monitor.check(5, 0.0, 0.1) is Status.MAX_ITER
    assert len(seen) == len(monitor.records) == 6
    assert pd.DataFrame(monitor.certificate(Status.MAX_ITER).history).columns.tolist() == [
        "iteration",
        "objective",
        "value",
        "welfare",
    ]


def test_a_callback_may_say_how_a_run_ended():
    monitor = Monitor(Measure.GAP, 1e-3, 5, callback=lambda record: Status.STALLED)
    assert monitor.check(0, 1.0, 0.5) is Status.STALLED


def test_falling_short_is_said_with_the_figure_and_a_remedy():
    short = Certificate(Measure.STATIONARITY, 0.25, 1e-6, Status.MAX_ITER, 1, "take a smaller lam")
    with pytest.warns(
        ConvergenceWarning, match=r"GLGP has not converged: stationarity 2\.5e-01 > tol=1e-06 after 1 iter"
    ):
        short.warn("GLGP")
    assert short.sentence.endswith("take a smaller lam")
    exact().warn("SmoothGL")  # says nothing


def test_what_is_not_finite_becomes_none_in_json():
    certificate = Certificate(Measure.GAP, np.nan, np.inf, Status.STALLED, 3)
    assert certificate.as_dict()["value"] is None
    assert certificate.as_dict()["tol"] is None
    assert Certificate(Measure.GAP, 1.0, 10**30, Status.CONVERGED, 3).as_dict()["tol"] == 1e30  # too large for NumPy


def test_the_worst_certificate_stands_for_many():
    good = Certificate(Measure.GAP, 1e-5, 1e-4, Status.CONVERGED, 40)
    bad = Certificate(Measure.GAP, 2e-3, 1e-4, Status.MAX_ITER, 100)
    assert summed_up([good, exact()]).sentence == "converged: duality gap 1.0e-05 <= tol=0.0001 after 41 iterations"
    assert summed_up([good, bad, good]).remedy == "1 of 3 members fell short: raise max_iter"
