"""The default, LogDegreeGL and their peers in one run: ``python -m benchmarks.peers [--quick]``, extra ``peers``.

Every method learns the same networks from the same signals, each fit in a separate process (one thread, a
time limit, an untimed warm-up on thirty nodes for compilation). The benchmark measures the seconds of the fit,
the peak resident memory of that process, interpreter and libraries included, and how well the edges are found.
Then LogDegreeGL and LogModel of ``graph-structure-learning`` are compared in one objective at one theta, and
LogDegreeGL learns 30,000 nodes. Prints tables and writes ``benchmarks/PEERS.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from nashgraph import (
    ConsensusGL,
    LogDegreeGL,
    SmoothGL,
    edge_auc,
    edge_average_precision,
    edge_precision_recall,
    squared_distances,
)
from nashgraph.datasets import preferential_attachment, random_geometric, smooth_signals

from .report import Report

GRAPHS = {"geometric": random_geometric, "preferential": preferential_attachment}
SIGNALS, DEGREE, LARGE, LIMIT = 50, 10, 30_000, 300.0
HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PACKAGES = ("nashgraph", "graph-structure-learning", "gglasso", "scikit-learn", "numpy", "scipy", "numba")


# --------------------------------------------------------------------------------------------- the methods


def log_degree(X: Any) -> Any:
    return LogDegreeGL(degree=DEGREE).fit(X).adjacency_.toarray()


def log_degree_listed(X: Any) -> Any:
    return LogDegreeGL(degree=DEGREE, candidates="auto").fit(X).adjacency_.toarray()


def consensus(X: Any) -> Any:
    return ConsensusGL(random_state=0).fit(X).evidence_.toarray()


def smooth(X: Any) -> Any:
    return SmoothGL(degree=DEGREE).fit(X).adjacency_.toarray()


def log_model(X: Any) -> Any:
    from graph_learn.smooth_learning import LogModel  # noqa: PLC0415

    return LogModel(avg_degree=DEGREE).fit(X).weights_


def gglasso(X: Any) -> Any:
    from gglasso.problem import glasso_problem  # noqa: PLC0415

    problem = glasso_problem(np.corrcoef(X.T), len(X), reg_params={"lambda1": lasso_penalty(X)}, latent=False)
    problem.solve()
    return off_diagonal(np.abs(problem.solution.precision_))


def graphical_lasso(X: Any) -> Any:
    from sklearn.covariance import GraphicalLasso  # noqa: PLC0415

    model = GraphicalLasso(alpha=lasso_penalty(X), covariance="precomputed").fit(np.corrcoef(X.T))
    return off_diagonal(np.abs(model.precision_))


def nearest_neighbours(X: Any) -> Any:
    from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415

    graph = kneighbors_graph(X.T, DEGREE)
    return graph.maximum(graph.T)


def negative_distance(X: Any) -> Any:
    distances = squared_distances(X)
    return off_diagonal(distances.max() - distances)


def lasso_penalty(X: Any) -> float:
    """Return the theory's rate, sqrt(log N / M), for correlations, chosen without the true graph."""
    return float(np.sqrt(np.log(X.shape[1]) / len(X)))


def off_diagonal(matrix: Any) -> Any:
    np.fill_diagonal(matrix, 0.0)
    return matrix


METHODS: dict[str, Callable[[Any], Any]] = {
    "ConsensusGL, the default": consensus,
    "LogDegreeGL": log_degree,
    'LogDegreeGL, candidates="auto"': log_degree_listed,
    "SmoothGL": smooth,
    "graph-structure-learning LogModel": log_model,
    "gglasso": gglasso,
    "scikit-learn GraphicalLasso": graphical_lasso,
    "nearest neighbours": nearest_neighbours,
    "negative distance": negative_distance,
}
ASKED = {
    name for name in METHODS if "asso" not in name and name not in {"ConsensusGL, the default", "negative distance"}
}


# ---------------------------------------------------------------------------------------------- one process


def make(graph: str, n_nodes: int) -> tuple[Any, Any]:
    network = GRAPHS[graph](n_nodes, random_state=0)
    return network, smooth_signals(network, SIGNALS, "tikhonov", noise=0.1, random_state=0)


def timed(fit: Callable[[Any], Any], X: Any, small: Any) -> tuple[Any, dict[str, float]]:
    fit(small)
    before, start = peak_megabytes(), time.process_time()  # one thread: the speed of an otherwise idle core
    result = fit(X)
    figures = {"seconds": time.process_time() - start, "before_mb": before, "peak_mb": peak_megabytes()}
    return result, figures


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def score_method(name: str, graph: str, n_nodes: int) -> dict[str, float]:
    truth, X = make(graph, n_nodes)
    W, figures = timed(METHODS[name], X, make(graph, 30)[1])
    weights = sparse.csr_array(W)
    weights.eliminate_zeros()
    figures["degree"] = weights.nnz / n_nodes
    figures["auc"] = edge_auc(truth, W, symmetrize="mean")
    figures["average_precision"] = edge_average_precision(truth, W, symmetrize="mean")
    figures["precision"] = edge_precision_recall(truth, W, symmetrize="mean").precision
    return figures


def compare_objective(name: str, graph: str, n_nodes: int) -> dict[str, float]:
    """Time one of the two on LogModel's own problem: cost theta * ||x_i - x_j||^2, alpha = beta = 1.

    LogModel cuts weights below its ``edge_tol``; with 1e-3, its default, a node may lose all its edges, which
    makes its objective infinite. So it is also run without the cut.
    """
    from graph_learn.smooth_learning import LogModel, get_theta  # noqa: PLC0415

    _, X = make(graph, n_nodes)
    # The package's costs are ||x_i - x_j||^2 = 2 M D_ij, so its theta is 2 M times smaller than ours.
    squared = 2.0 * SIGNALS * squared_distances(X)
    theta = get_theta(squared, DEGREE)
    scale = 1.0 / (2.0 * SIGNALS * theta)
    fits: dict[str, Callable[[Any], Any]] = {
        "LogDegreeGL": lambda signals: LogDegreeGL(alpha=scale, beta=scale).fit(signals).adjacency_.toarray(),
        "LogModel": lambda signals: LogModel(avg_degree=DEGREE).fit(signals).weights_,
        "LogModel, edge_tol=0": lambda signals: LogModel(avg_degree=DEGREE, edge_tol=0.0).fit(signals).weights_,
    }
    W, figures = timed(fits[name], X, make(graph, 30)[1])
    with np.errstate(divide="ignore"):
        barrier = float(np.log(W.sum(axis=1)).sum())
    figures["objective"] = theta * float(np.sum(W * squared)) - barrier + 0.5 * float(np.sum(W * W))
    figures["degree"] = np.count_nonzero(W) / n_nodes
    return figures


def large(name: str, graph: str, n_nodes: int) -> dict[str, float]:
    _, X = make(graph, n_nodes)
    candidates: Any = "auto" if name == "auto" else int(name)
    model, figures = timed(
        lambda signals: LogDegreeGL(degree=DEGREE, candidates=candidates).fit(signals), X, X[:, :100]
    )
    return {**figures, "degree": model.mean_degree_, "gap": model.certificate_.value, "iterations": model.n_iter_}


TASKS: dict[str, Callable[[str, str, int], dict[str, float]]] = {
    "score": score_method,
    "objective": compare_objective,
    "large": large,
}


def in_process(task: str, name: str, graph: str, n_nodes: int) -> dict[str, Any]:
    """Run one task in a separate process; a failure becomes a row with its reason."""
    command = [sys.executable, "-m", "benchmarks.peers", "--worker", task, name, graph, str(n_nodes)]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env=environment,
            cwd=HERE.parent,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {LIMIT:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        missing = "ModuleNotFoundError" in lines[-1]
        return {"failed": "not installed" if missing else lines[-1][:120]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


# ------------------------------------------------------------------------------------------------ the tables


def score_tables(report: Report, sizes: list[int]) -> None:
    columns = [
        "method",
        "seconds",
        "peak MB",
        "rise in fit",
        "AUC",
        "average precision",
        "precision at true count",
    ]
    for n_nodes in sizes:
        for graph in GRAPHS:
            rows = []
            for name in METHODS:
                figures = in_process("score", name, graph, n_nodes)
                asked = str(DEGREE) if name in ASKED else "-"
                if "failed" in figures:
                    rows.append([name, figures["failed"], *["-"] * 5, asked, "-"])
                    continue
                rows.append(
                    [
                        name,
                        f"{figures['seconds']:.3g}",
                        f"{figures['peak_mb']:.0f}",
                        f"{figures['peak_mb'] - figures['before_mb']:.0f}",
                        *(f"{figures[key]:.3f}" for key in ("auc", "average_precision", "precision")),
                        asked,
                        f"{figures['degree']:.4g}",
                    ]
                )
            report.section(f"{graph}, N = {n_nodes}, M = {SIGNALS}")
            report.table([*columns, "degree asked", "obtained"], rows)


def objective_table(report: Report, n_nodes: int) -> None:
    for graph in GRAPHS:
        names = ["LogDegreeGL", "LogModel", "LogModel, edge_tol=0"]
        figures = {name: in_process("objective", name, graph, n_nodes) for name in names}
        rows = []
        for name in names:
            mine = figures[name]
            if "failed" in mine:
                rows.append([name, mine["failed"], "-", "-", "-"])
                continue
            ratio = mine["seconds"] / figures["LogDegreeGL"].get("seconds", float("nan"))
            rows.append(
                [
                    name,
                    f"{mine['seconds']:.3g}",
                    f"{ratio:.1f}",
                    f"{mine['objective']:.8g}",
                    f"{mine['degree']:.4g}",
                ]
            )
        report.section(f"One objective, one theta (LogModel's for degree {DEGREE}): {graph}, N = {n_nodes}")
        report.table(["method", "seconds", "times LogDegreeGL", "objective", "degree"], rows)


def large_table(report: Report) -> None:
    rows = []
    for graph in GRAPHS:
        for name in ("auto", "30"):
            figures = in_process("large", name, graph, LARGE)
            label = f"{graph}, candidates={name}"
            if "failed" in figures:
                rows.append([label, figures["failed"], *["-"] * 4])
                continue
            rows.append(
                [
                    label,
                    f"{figures['seconds']:.3g}",
                    f"{figures['peak_mb'] / 1024:.2f}",
                    f"{figures['degree']:.4g}",
                    f"{figures['gap']:.1e}",
                    str(figures["iterations"]),
                ]
            )
    report.section(f"LogDegreeGL(degree={DEGREE}) on listed pairs, N = {LARGE:,}, M = {SIGNALS}")
    report.table(["graph", "seconds", "peak GB", "degree", "gap", "Newton steps"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="N = 100 only; does not write PEERS.md")
    parser.add_argument("--scores", nargs="+", type=int, metavar="N", help="only scores, at these sizes, in PEERS.md")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        task, name, graph, n_nodes = options.worker
        warnings.simplefilter("ignore")
        print(json.dumps(TASKS[task](name, graph, int(n_nodes))))
        return
    command = " ".join(["python -m benchmarks.peers", *sys.argv[1:]])
    report = Report("The default, LogDegreeGL and their peers", command, PACKAGES)
    report.say(
        "Signals: white noise through the filter (I + L)^-1, plus noise of standard deviation 0.1; seed 0. "
        "Each fit runs in its own process after a warm-up on a small problem, with one thread; memory is the "
        "peak resident size of that process, interpreter and libraries included, and how much the fit raised "
        f"it; seconds are of CPU time. A process of more than {LIMIT:.0f} s is stopped. The two graphical lassos "
        "take sqrt(log N / M) as penalty, on correlations, and score by |precision|. Scores are on all pairs, the two "
        "directions of a directed graph averaged; degrees count weights above zero."
    )
    score_tables(report, options.scores or ([100] if options.quick else [100, 1000]))
    if options.scores:
        report.write(HERE / "PEERS.md")
        return
    objective_table(report, 100 if options.quick else 1000)
    if not options.quick:
        large_table(report)
        report.write(HERE / "PEERS.md")


if __name__ == "__main__":
    main()
