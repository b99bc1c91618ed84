"""How long the tie model takes, and whether steps on sampled pairs end where steps on all pairs do.

``python -m benchmarks.tie_speed`` (or ``make tie-speed``) replaces the sections "Speed of the tie model" and "Sampled
pairs" of EVIDENCE.md; ``check``, ``counts`` or numbers of people behind it replace these parts alone.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import average_precision_score, log_loss

from nashgraph import TieModel
from nashgraph.datasets import random_geometric
from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.arrays import tie_arrays
from nashgraph.ties.covariates import report_task
from nashgraph.ties.options import TieOptions
from nashgraph.ties.report_fit import fit_reports
from nashgraph.ties.reports import ReportPriors

from .evidence import REPORT
from .tie_targets import write_section

ABOUT = (
    "## Speed of the tie model\n\nPrinted by `make tie-speed`. One fit, probabilities and graph included, on 2 cores. "
    "CPU seconds add up both cores; seconds also depend on other work. Up to 2,000 people all pairs are "
    "added up in every step. Beyond, steps use a sample of 300 pairs a person and all reported ones, corrected by "
    "a few sums over all pairs, so the relative gradient is exact. With counts, all pairs are added up at any size."
)


def reported(n: int, seed: int = 0) -> tuple[TieSurvey, pd.DataFrame, nx.Graph[int]]:
    """Return a survey of people on a map, 70% asked for names, with ten questions, and their network.

    Ten ties to people nearby and four anywhere; recall around 0.4, 3% of the names are wrong.
    """
    random = np.random.default_rng(seed)
    graph = random_geometric(n, 10, random_state=seed)
    places = np.array([graph.nodes[node]["pos"] for node in graph])
    far = random.integers(0, n, (2 * n, 2))
    graph.add_edges_from(far[far[:, 0] != far[:, 1]].tolist())
    edges = np.array(graph.edges)
    one = np.concatenate([edges[:, 0], edges[:, 1]])
    other = np.concatenate([edges[:, 1], edges[:, 0]])
    asked = random.random(n) < 0.7
    recall = expit(random.normal(-0.5, 0.4, n))
    named = asked[one] & (random.random(len(one)) < recall[one])
    n_wrong = int(0.03 * named.sum())
    one = np.concatenate([one[named], random.choice(np.flatnonzero(asked), n_wrong)])
    other = np.concatenate([other[named], random.integers(0, n, n_wrong)])
    reports = pd.DataFrame({"respondent": one, "source": one, "target": other}).astype(str)
    reports = reports[reports["source"] != reports["target"]].drop_duplicates()
    names = [str(node) for node in range(n)]
    answers = (random.random((n, 10)) < random.uniform(0.2, 0.5, 10)).astype(float)
    survey = TieSurvey.of(
        names,
        reports=reports,
        asked=[names[k] for k in np.flatnonzero(asked)],
        places=pd.DataFrame(places, index=names, columns=["x", "y"]),
    )
    return survey, pd.DataFrame(answers, index=names).add_prefix("question ").T, graph


def counted(n: int, n_traits: int) -> dict[str, pd.DataFrame | pd.Series]:
    """Return what everybody counts in a network of 12 ties a person."""
    random = np.random.default_rng(0)
    T = (random.random((n, n_traits)) < random.uniform(0.05, 0.5, n_traits)).astype(float)
    ends = random.integers(0, n, (2, 6 * n))
    graph = nx.empty_graph(n)
    graph.add_edges_from(ends.T[ends[0] != ends[1]].tolist())
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    return {"traits": pd.DataFrame(T), "counts": pd.DataFrame(A @ T), "n_ties": pd.Series(A.sum(axis=1))}


def timed(label: str, *args: object, **tables: Any) -> None:
    """Fit, and put the row of this name into the table of speed."""
    start = time.perf_counter()
    busy = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TieModel().fit(*args, **tables)
    seconds = time.perf_counter() - start
    busy = time.process_time() - busy
    certificate = model.certificate_
    row = f"| {label} | {seconds:.0f} | {busy:.0f} | {certificate.iterations} | {certificate.value:.1e} |"
    print(row, flush=True)
    section = REPORT.read_text(encoding="utf-8").partition("## Speed of the tie model\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    rows = [line for line in rows if not line.startswith(f"| {label} |")]
    head = "| problem | seconds | CPU seconds | iterations | relative gradient |\n|---|---:|---:|---:|---:|"
    write_section("Speed of the tie model", "\n".join([ABOUT, "", head, *rows, row, ""]))


def speed(sizes: tuple[int, ...]) -> None:
    """Write rows of the speed of reports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TieModel(max_iter=2).fit(*reported(2100)[1::-1])  # compiles
    for n in sizes:
        survey, X, _ = reported(n)
        timed(f"reports, places and ten questions, {n:,} people", X, survey)


def sampled_against_exact(n: int = 1000, seeds: int = 3) -> list[str]:
    """Return rows that compare a fit by sampled pairs with one by all pairs."""
    rows = []
    for seed in range(seeds):
        survey, X, graph = reported(n, seed)
        arrays = tie_arrays(survey, X)
        truth = nx.to_numpy_array(graph, weight=None)[np.triu_indices(n, 1)] > 0
        task = report_task(arrays, TieOptions())
        priors = ReportPriors(tie_person=0.7, respondent_group=0.0, named_group=0.0, class_group=0.0)
        fits = []
        for exact_up_to in (n, n - 1):
            fits.append(fit_reports(task, priors, 1, False, tol=3e-4, max_iter=1000, exact_up_to=exact_up_to))
        exact, sampled = fits
        p = [fit.rows(np.arange(n))[0][np.triu_indices(n, 1)] for fit in fits]
        error = 1.0 / np.sqrt(exact.problem.information(exact.theta))
        apart = np.abs(exact.theta - sampled.theta) / error
        precision = [average_precision_score(truth, values) for values in p]
        loss = [log_loss(truth, np.clip(values, 1e-9, 1.0 - 1e-9)) for values in p]
        rows.append(
            f"| {seed} | {precision[0]:.4f} | {precision[1]:.4f} | {loss[0]:.5f} | {loss[1]:.5f} | "
            f"{sampled.objective - exact.objective:+.3f} | {np.sqrt(np.mean(apart**2)):.4f} | {apart.max():.2f} | "
            f"{np.abs(p[0] - p[1]).max():.4f} |"
        )
        print(rows[-1], flush=True)
    return rows


def comparison() -> None:
    """Write the section that compares sampled pairs with all pairs."""
    columns = (
        "| seed | AP, all pairs | AP, sampled | log loss, all pairs | log loss, sampled | objective, difference | "
        "parameters, rms difference in standard errors | largest | probabilities, largest difference |"
    )
    text = "## Sampled pairs\n\n1,000 people of the same kind of survey, fitted both ways to a gradient of 3e-4."
    line = "|---:|" + "---:|" * 8
    write_section("Sampled pairs", "\n".join([text, "", columns, line, *sampled_against_exact(), ""]))


def main() -> None:
    """Run everything, or the parts named on the command line: "check", "counts", and numbers of people."""
    parts = sys.argv[1:] or ["check", "1000", "5000", "20000", "counts"]
    if "check" in parts:
        comparison()
    speed(tuple(int(part) for part in parts if part.isdigit()))
    if "counts" in parts:
        for n in (1000, 2000, 5000):
            timed(f"counts of ten traits, {n:,} people", **counted(n, 10))


if __name__ == "__main__":
    main()
