"""The demonstration: the karate club learned from signals by three methods."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..datasets import smooth_signals
from ..estimators import GLGP, GraphEstimator, LinearGLGP, SmoothGL
from ..files import written_whole
from ..games import welfare
from ..metrics import edge_auc, edge_average_precision

N_SIGNALS = 50
HUBS = 5
LAM = 0.3
INTERACTION = "log1p"


def run_demo(out: Path, seed: int = 0, console: Console | None = None) -> None:
    """Learn the karate club three ways, print a table and the hubs, write edges, GraphML and a figure to ``out``."""
    console = console or Console()
    club = karate_club()
    names = [f"member {node + 1}" for node in club]
    signals = pd.DataFrame(smooth_signals(club, N_SIGNALS, "gmrf", random_state=seed), columns=names)
    console.print(
        f"The karate club: {club.number_of_nodes()} members, {club.number_of_edges()} friendships. "
        f"Learned from {N_SIGNALS} Gaussian-Markov signals (seed {seed})."
    )
    # c, degree and lam are the same for all, so that the rows differ by the method alone.
    models: dict[str, GraphEstimator] = {
        "SmoothGL": SmoothGL(),
        "LinearGLGP": LinearGLGP(lam=LAM),
        "GLGP": GLGP(lam=LAM, interaction=INTERACTION),
    }
    warm_up(signals)
    rows = []
    for name, model in track(models.items(), "learning", console=console, transient=True):
        start = time.perf_counter()
        model.fit(signals)
        rows.append((name, model, time.perf_counter() - start))
    glgp = models["GLGP"]
    console.print(score_table(rows, club, glgp.benefit_))
    strengths = np.asarray(glgp.adjacency_.sum(axis=0))
    strongest = np.argsort(-strengths)[:HUBS]
    console.print(
        f"The {HUBS} strongest hubs GLGP sees: " + ", ".join(f"{names[k]} ({strengths[k]:.2f})" for k in strongest)
    )
    true_hubs = sorted(club, key=lambda node: -club.degree[node])[:HUBS]
    console.print(
        f"The {HUBS} members with most friends:  " + ", ".join(f"{names[k]} ({club.degree[k]})" for k in true_hubs)
    )
    with written_whole(out / "edges.csv") as path:
        glgp.edges().to_csv(path, index=False)
    with written_whole(out / "karate.graphml") as path:
        nx.write_graphml(glgp.to_networkx(), path)
    with written_whole(out / "karate.png") as path:
        draw_side_by_side(club, glgp.adjacency_, path)
    console.print(f"Wrote edges.csv, karate.graphml and karate.png to {out}/")


def karate_club() -> nx.Graph[int]:
    """Return Zachary's club with friendships unweighted."""
    weighted = nx.karate_club_graph()
    club: nx.Graph[int] = nx.Graph()
    club.add_nodes_from(weighted)
    club.add_edges_from(weighted.edges())
    return club


def warm_up(signals: pd.DataFrame) -> None:
    """Have the kernels compiled, so that the seconds in the table are those of learning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GLGP(max_iter=1).fit(signals.iloc[:, :4])


def score_table(rows: list[tuple[str, Any, float]], club: nx.Graph[int], benefit: Any) -> Table:
    """Return the table of scores; the welfare of every graph is that of the same game."""
    table = Table(box=None, pad_edge=False, title_justify="left")
    for heading in ("method", "AUC", "average precision", "welfare", "stationarity", "seconds"):
        table.add_column(heading, justify="left" if heading == "method" else "right", no_wrap=True)
    for name, model, seconds in rows:
        table.add_row(
            name,
            f"{edge_auc(model.adjacency_, club):.3f}",
            f"{edge_average_precision(model.adjacency_, club):.3f}",
            f"{welfare(model.adjacency_, benefit, INTERACTION):.3f}",
            f"{model.stationarity_:.0e}",
            f"{seconds:.3f}",
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
