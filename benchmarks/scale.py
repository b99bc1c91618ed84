"""How the fast solver scales: against one nearest-neighbour pass, in memory, and with the number of nodes.

A separate module, because the fits run in new processes, which import it.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from nashgraph import GLGP, BestResponse, ConsensusGL
from nashgraph.estimators import GraphEstimator
from nashgraph.pairs import Bonus, CandidateSet, make_search
from nashgraph.smoothness import beta_for_degree

from .report import Report

PRIOR = "degree 20, lam='auto', the spectral benefit, given in advance so that it is not left out"


def scale(report: Report) -> None:
    """Compare a whole GLGP fit, lam its default, with one brute-force nearest-neighbour pass; fit a scan's exponent."""
    report.section("Scale: N = 20,000 and 50,000, M = 16, degree 20, the default lam")
    X = scale_signals(20_000)
    start = time.perf_counter()
    NearestNeighbors(n_neighbors=20, algorithm="brute").fit(X.T).kneighbors(X.T)
    neighbours = time.perf_counter() - start
    known = GLGP(degree=20, solver=BestResponse(storage="sparse"))
    fitted = in_process(20_000, known)
    report.say(
        f"N = 20,000: one brute-force 20-nearest-neighbour pass (scikit-learn) {neighbours:.1f} s; the whole GLGP fit "
        f"{fitted['seconds']:.1f} s, {fitted['seconds'] / neighbours:.1f} times that, in {fitted['storage']} storage "
        f"with {fitted['rounds']} steps, stationarity {fitted['stationarity']:.0e}, peak memory of its process "
        f"{fitted['memory']:.2f} GB."
    )
    large = in_process(50_000, known)
    report.say(
        f"N = 50,000: {large['seconds']:.0f} s in {large['storage']} storage with {large['rounds']} steps, "
        f"stationarity {large['stationarity']:.0e}, peak memory of its process {large['memory']:.2f} GB."
    )
    sizes, seconds = [5000, 10_000, 20_000, 40_000], []
    for n in sizes:
        seconds.append(one_scan(n))
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    report.say(
        "One scan in sparse storage: "
        + ", ".join(f"N = {n:,}: {t:.2f} s" for n, t in zip(sizes, seconds, strict=True))
        + f"; fitted exponent {slope:.2f}."
    )


def spectral_benefit(X, engine: str = "threads"):
    """Return the benefit that GLGP guesses."""
    return GLGP(lam=0.0, degree=20, engine=engine, solver=BestResponse(storage="sparse")).fit(X).benefit_


def with_prior(X, benefit, **settings) -> GLGP:
    """Fit GLGP with a benefit that is given, because a guessed one is left out if the signals do not support it."""
    model = GLGP(degree=20, benefit=benefit, **settings).fit(X)
    if model.lam_ == 0 or model.n_iter_ == 0:
        raise RuntimeError("the prior had no effect: this would measure SmoothGL")
    return model


def scale_signals(n: int):
    """Smooth signals without a graph: nodes on a curved sheet, so that neighbourhoods are real."""
    random = np.random.default_rng(0)
    place = random.random((2, n))
    waves = random.normal(size=(16, 2)) * 4
    return np.sin(waves @ place + random.random((16, 1)) * 6) + 0.1 * random.normal(size=(16, n))


def one_scan(n: int) -> float:
    """Time one best response in sparse storage, the best of several."""
    search = make_search(scale_signals(n))
    beta = beta_for_degree(search, 20, 0.95)
    times = []
    for _ in range(5 if n <= 10_000 else 3):
        start = time.perf_counter()
        CandidateSet.of(search).respond(Bonus.none(n), gain=0.5 / beta, total=0.95)
        times.append(time.perf_counter() - start)
    return min(times)


def consensus(report: Report) -> None:
    """Time the default: eight degrees, its geometries, 20 replicates."""
    report.section("The default: ConsensusGL() on M = 16 signals, nothing set")
    for n in (330, 2_000, 20_000, 100_000):
        found = in_process(n, ConsensusGL(random_state=0))
        report.say(
            f"N = {n:,}: {found['seconds']:.2g} s, {found['cpu']:.2g} s of CPU time on all threads; peak memory of its "
            f"process {found['memory']:.2f} GB."
        )


def fit_alone(n: int, model: GraphEstimator, pipe) -> None:
    """Fit in a separate process, so that its peak memory is measured alone."""
    X = scale_signals(n)
    clone(model).fit(X[:, :3000])  # compiles what the fit needs; the prior has no effect on fewer nodes
    start, busy = time.perf_counter(), time.process_time()
    model.fit(X)
    pipe.send(
        {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - busy,
            "rounds": model.n_iter_,
            "stationarity": model.certificate_.value,
            "storage": "sparse",
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        }
    )


def in_process(n: int, model: GraphEstimator) -> dict:
    """Run :func:`fit_alone` and return what it measured."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=fit_alone, args=(n, model, theirs))
    process.start()
    found = mine.recv()
    process.join()
    return found
