"""The demonstration: the karate club learned from signals by three methods."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from rich.progress import track
from rich.table import Table

from ..datasets import load_karate, smooth_signals
from ..estimators import GLGP, GraphEstimator, LinearGLGP, SmoothGL, glgp_path
from ..files import check_writable, written_together
from ..games import welfare
from ..metrics import edge_auc, edge_average_precision
from ..report import summarize, write_report
from ..solvers import Path as LambdaPath
from ..tables import graph_tables, write_edges, write_graphml
from ._options import SpeechArguments
from ._running import DONE, Voice

N_SIGNALS = 50
HUBS = 5
LAM = 0.3
LAMS = np.geomspace(0.03, 30, 12)
FILES = ("edges.csv", "karate.graphml", "karate.png", "report.html")
INTERACTION = "log1p"


def run_demo(out: Path, seed: int, speech: SpeechArguments) -> int:
    """Learn the karate club three ways, print a table and the hubs, write the graph, a figure and a report."""
    voice = Voice(quiet=speech.quiet, as_json=speech.json)
    check_writable(out)
    club = load_karate().graph
    names = [f"member {node + 1}" for node in club]
    signals = pd.DataFrame(smooth_signals(club, N_SIGNALS, "gmrf", random_state=seed), columns=names)
    source = f"{N_SIGNALS} Gaussian-Markov signals (seed {seed})"
    voice.say(
        f"The karate club: {club.number_of_nodes()} members, {club.number_of_edges()} friendships. "
        f"Learned from {source}."
    )
    # c, degree and lam are the same for all, so that the rows differ by the method alone.
    models: dict[str, GraphEstimator] = {
        "SmoothGL": SmoothGL(),
        "LinearGLGP": LinearGLGP(lam=LAM),
        "GLGP": GLGP(lam=LAM, interaction=INTERACTION),
    }
    with voice.noting_warnings():
        seconds = learn_all(models, signals, voice)
        glgp: Any = models["GLGP"]
        scores = {name: score(model, club, glgp.benefit_) for name, model in models.items()}
        voice.say(score_table(models, scores, seconds))
        say_hubs(glgp, club, names, voice)
        path = glgp_path(signals, np.union1d(LAMS, LAM), interaction=INTERACTION)
        write_demo(out, glgp, club, path=path, source=source, scores=scores["GLGP"])
    voice.say(f"Wrote {', '.join(FILES)} to {out}/")
    voice.answer({"command": "demo", "out": str(out), "scores": scores, "seconds": seconds})
    return DONE


def learn_all(models: dict[str, GraphEstimator], signals: pd.DataFrame, voice: Voice) -> dict[str, float]:
    """Fit the models and return the seconds each took."""
    warm_up(signals)
    seconds = {}
    for name, model in track(
        models.items(), "learning", console=voice.errors, transient=True, disable=not voice.animated
    ):
        start = time.perf_counter()
        model.fit(signals)
        seconds[name] = time.perf_counter() - start
    return seconds


def say_hubs(glgp: Any, club: nx.Graph[int], names: list[str], voice: Voice) -> None:
    """Say who GLGP takes for hubs, and who has most friends."""
    strengths = np.asarray(glgp.adjacency_.sum(axis=0))
    strongest = np.argsort(-strengths)[:HUBS]
    voice.say(
        f"The {HUBS} strongest hubs GLGP sees: " + ", ".join(f"{names[k]} ({strengths[k]:.2f})" for k in strongest)
    )
    true_hubs = sorted(club, key=lambda node: -club.degree[node])[:HUBS]
    voice.say(
        f"The {HUBS} members with most friends:  " + ", ".join(f"{names[k]} ({club.degree[k]})" for k in true_hubs)
    )


def write_demo(
    out: Path, glgp: Any, club: nx.Graph[int], *, path: LambdaPath, source: str, scores: dict[str, float]
) -> None:
    """Write the graph, the figure and the report, all or none."""
    graph = graph_tables(glgp)
    with written_together(out) as folder:
        write_edges(graph, folder / "edges.csv")
        write_graphml(graph, folder / "karate.graphml")
        draw_side_by_side(club, glgp.adjacency_, folder / "karate.png")
        shown = {"AUC": scores["auc"], "average precision": scores["average_precision"]}
        summary = summarize(glgp, title="Zachary's karate club", source=source, scores=shown, path=path)
        write_report(summary, folder / "report.html")


def warm_up(signals: pd.DataFrame) -> None:
    """Have the kernels compiled, so that the seconds in the table are those of learning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GLGP(max_iter=1).fit(signals.iloc[:, :4])


def score(model: Any, club: nx.Graph[int], benefit: Any) -> dict[str, float]:
    """Return a model's scores; the welfare of every graph is that of the same game."""
    return {
        "auc": edge_auc(model.adjacency_, club),
        "average_precision": edge_average_precision(model.adjacency_, club),
        "welfare": welfare(model.adjacency_, benefit, INTERACTION),
        "stationarity": float(model.stationarity_),
    }


def score_table(models: Iterable[str], scores: dict[str, dict[str, float]], seconds: dict[str, float]) -> Table:
    """Return the table of scores."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    for heading in ("method", "AUC", "average precision", "welfare", "stationarity", "seconds"):
        table.add_column(heading, justify="left" if heading == "method" else "right", no_wrap=True)
    for name in models:
        found = scores[name]
        table.add_row(
            name,
            f"{found['auc']:.3f}",
            f"{found['average_precision']:.3f}",
            f"{found['welfare']:.3f}",
            f"{found['stationarity']:.0e}",
            f"{seconds[name]:.3f}",
        )
    return table


def draw_side_by_side(club: nx.Graph[int], weights: Any, path: Path) -> None:
    """Draw the true club and the learned one, in one layout, hubs large, into a PNG file."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 (an extra: imported where used)
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    places = nx.spring_layout(club, seed=4)
    labels = {node: str(node + 1) for node in club}
    degrees = np.array([club.degree[node] for node in club])
    true_edges = {frozenset(edge) for edge in club.edges()}
    # As many of the strongest pairs as there are friendships, so that the two pictures weigh the same.
    mutual = np.triu(weights + weights.T)
    order = np.argsort(-mutual, axis=None)[: len(true_edges)]
    pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, mutual.shape), strict=True)]
    hit = [pair for pair in pairs if frozenset(pair) in true_edges]
    missed = [pair for pair in pairs if frozenset(pair) not in true_edges]
    strengths = weights.sum(axis=0)
    for axes, sizes, title in (
        (left, degrees, f"The true club: {len(true_edges)} friendships"),
        (right, strengths, f"Learned by GLGP: its {len(pairs)} strongest pairs, {len(hit)} of them true"),
    ):
        nx.draw_networkx_nodes(
            club,
            places,
            ax=axes,
            node_size=90 + 500 * sizes / sizes.max(),
            node_color="#dbe7f3",
            edgecolors="#1f4e79",
        )
        nx.draw_networkx_labels(club, places, labels, ax=axes, font_size=8)
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_axis_off()
    nx.draw_networkx_edges(club, places, ax=left, edge_color="#1f4e79", alpha=0.6)
    nx.draw_networkx_edges(club, places, edgelist=hit, ax=right, edge_color="#1f4e79", alpha=0.8)
    nx.draw_networkx_edges(club, places, edgelist=missed, ax=right, edge_color="#d55e00", alpha=0.7, style="dashed")
    caption = "solid: a true friendship; dashed: not one. Circles grow with friends (left), with influence (right)."
    figure.supxlabel(caption, fontsize=9)
    figure.savefig(path, dpi=130, bbox_inches="tight", format="png")
