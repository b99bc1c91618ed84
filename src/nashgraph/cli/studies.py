"""``nashgraph demo`` and ``datasets``: a first look, and the data sets."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from ..comparison import CHANCE, CONTROL, SCORES, SHUFFLED, compare
from ..datasets import import_villages, load_karate, smooth_signals
from ..datasets.networks import DOLPHINS, WIKI_VOTE
from ..datasets.store import find_home, load_tables
from ..datasets.villages import VILLAGES
from ..estimators import GLGP, ConsensusGL, GraphEstimator, LinearGLGP, SmoothGL
from ..files import claimed, written_together
from ..io import write_edges, write_graphml
from ..report import Summary, plot_networks, summarize, write_report
from ..solvers import BestResponse
from ..validation import check_choice
from .commands import DONE, load_matplotlib
from .fitting import part_to_write
from .learn import most_influential
from .messages import Voice, counting, listed, tallied
from .options import DemoArguments, FetchArguments, ImportArguments

SOURCES = {source.name: source for source in (DOLPHINS, *WIKI_VOTE.values(), VILLAGES)}
N_SIGNALS, N_DRAWS = 50, 8  # one draw of signals does not show which method is better


def run_demo(asked: DemoArguments) -> int:
    """Learn the karate club four ways, print how well, and write the graph, a picture and a report."""
    out, seed, voice = asked.out, asked.seed, asked.speech.voice()
    club = load_karate().graph
    names = [f"member {node + 1}" for node in club]
    draws = [
        pd.DataFrame(smooth_signals(club, N_SIGNALS, "gmrf", random_state=seed + draw), columns=names)
        for draw in range(N_DRAWS)
    ]
    signals = draws[0]
    voice.say(
        f"The karate club: {club.number_of_nodes()} members, {club.number_of_edges()} friendships. Learned from "
        f"{N_SIGNALS} Gaussian-Markov signals, drawn {N_DRAWS} times (seeds {seed} to {seed + N_DRAWS - 1}); means "
        "over the draws. Controls learn no graph, except the shuffled benefit: GLGP with a benefit that means nothing. "
        "Friendship has no direction, so scores are of symmetrised weights."
    )
    # c, degree and lam are the same for the last three, so that these rows differ by the method alone.
    model = ConsensusGL(random_state=seed)
    models: list[GraphEstimator] = [model, SmoothGL(), LinearGLGP(lam=0.3), GLGP(lam=0.3)]
    with voice.noting_warnings(), claimed(out):
        warm_up(signals)
        with counting(voice, "learning", len(draws)) as progress:
            tables = []
            for each in draws:
                tables.append(compare(each, club, models))
                progress()
        together = pd.concat(tables).groupby("method", sort=False)
        means = together[[*SCORES, "seconds"]].mean()
        found = means.assign(converged=together["converged"].all()).reset_index()
        voice.say(listed(found))
        words = verdicts_over_draws(tables, type(model).__name__)
        for line in words:
            voice.say(line)
        model.fit(signals)
        for sentence in most_influential(model.graph_):
            voice.say(sentence)
        friends = sorted(club, key=lambda node: -club.degree[node])[:5]
        voice.say("The members with most friends: " + ", ".join(f"{names[k]} ({club.degree[k]})" for k in friends))
        scores = found.set_index("method").to_dict("index")
        ours = scores["ConsensusGL"]
        summary = summarize(
            model,
            title="Zachary's karate club",
            source=f"{N_SIGNALS} Gaussian-Markov signals (seed {seed})",
            scores={"AUC": ours["auc"], "average precision": ours["average_precision"]},
            columns=signals.T.add_prefix("signal "),
            truth=club,
        )
        written = write_demo(out, model, club, summary, voice)
    voice.say(f"Wrote {', '.join(written)} to {out}/")
    seconds = {name: row.pop("seconds") for name, row in scores.items()}
    voice.answer({"command": "demo", "out": str(out), "scores": scores, "seconds": seconds, "verdict": words})
    return DONE


def verdicts_over_draws(tables: list[pd.DataFrame], method: str) -> list[str]:
    """Say whether a method has a higher average precision than the best control, and than the best other method."""
    scores = pd.DataFrame([table.set_index("method")["average_precision"] for table in tables])
    chance, scores = scores[CHANCE].mean(), scores.drop(columns=[CHANCE, SHUFFLED])
    is_control = scores.columns.str.startswith(CONTROL)
    rivals = {"control": scores.columns[is_control], "other method": scores.columns[~is_control].drop(method)}
    lines = []
    for kind, names in rivals.items():
        best = str(scores[names].mean().idxmax())
        lead = scores[method] - scores[best]
        mean, error = float(lead.mean()), float(lead.std(ddof=1) / np.sqrt(len(lead)))
        word = "better than" if mean > 2 * error else "worse than" if mean < -2 * error else "no better than"
        lines.append(
            f"{method}, the default, is {word} the best {kind} here, {best.removeprefix(CONTROL)}: average precision "
            f"{scores[method].mean():.3f} against {scores[best].mean():.3f} (difference {mean:+.3f} ± {error:.3f}; "
            f"chance is {chance:.3f})."
        )
    return lines


def warm_up(signals: pd.DataFrame) -> None:
    """Have the kernels compiled, so that the seconds in the table are those of learning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GLGP(solver=BestResponse(max_iter=1)).fit(signals.iloc[:, :4])
        ConsensusGL(random_state=0).fit(signals.iloc[:, :4])


def write_demo(out: Path, model: GraphEstimator, club: nx.Graph[int], summary: Summary, voice: Voice) -> list[str]:
    """Write the graph, the picture and the report, all or none, and return the files' names."""
    with written_together(out) as folder:
        written = part_to_write(model.graph_, None)
        write_edges(written, folder / "edges.csv")
        write_graphml(written, folder / "karate.graphml")
        try:
            load_matplotlib()
            true = nx.convert_node_labels_to_integers(club, first_label=1)  # short names, so that all can be shown
            graphs = {"The true club": true, "Learned by the consensus": replace(model.graph_, names=np.array(true))}
            figure = plot_networks(graphs, n_edges=true.number_of_edges(), n_labels=len(true))
            figure.savefig(folder / "karate.png", dpi=130, bbox_inches="tight")
        except ImportError:
            voice.note("karate.png is left out, because drawing needs matplotlib: pip install 'nashgraph[plot]'")
        write_report(summary, folder / "report.html")
        return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def list_datasets() -> None:
    """List the data sets: how large they are, where they are stored, and what to cite."""
    karate = load_karate()
    table = Table("name", "size", "found in", box=None, pad_edge=False)
    table.add_row(karate.name, f"{len(karate.names)} nodes, {karate.graph.number_of_edges()} edges", "networkx")
    for source in SOURCES.values():
        table.add_row(source.name, source.size, str(find_home(source) or "not here"))
    Console().print(table)
    typer.echo(f"\nWhom to cite:\n{karate.name}: {karate.citation}")
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.citation}")


def run_fetch(asked: FetchArguments) -> int:
    """Fetch data sets and say where they are."""
    for source in [SOURCES[check_choice("NAME", name, SOURCES)] for name in asked.names]:
        with tallied(Voice(), source.archive) as progress:
            load_tables(source, asked.place.data_home, progress=progress)
        typer.echo(f"{source.name}: in {find_home(source, asked.place.data_home)}")
    return DONE


def run_import(asked: ImportArguments) -> int:
    """Import the villages and say where they are."""
    typer.echo(f"{VILLAGES.name}: in {import_villages(asked.archive, asked.place.data_home)}")
    return DONE
