"""``nashgraph demo``: the karate club learned from signals by four methods, over several draws, next to controls."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ..comparison import CHANCE, CONTROL, SCORES, SHUFFLED, compare
from ..datasets import load_karate, smooth_signals
from ..estimators import GLGP, ConsensusGL, GraphEstimator, LinearGLGP, SmoothGL
from ..files import claimed, written_together
from ..io import write_edges, write_graphml
from ..report import Summary, plot_graph, summarize, write_report
from ..solvers import BestResponse
from .commands import DONE
from .fitting import part_to_write
from .learn import most_influential
from .messages import Voice, listed
from .options import DemoArguments
from .progress import counting

N_SIGNALS = 50
N_DRAWS = 8  # of signals: one draw does not show which method is better
FRIENDS = 5
LAM = 0.3


def run_demo(asked: DemoArguments) -> int:
    """Learn the karate club four ways, print how well, and write the graph, a picture and a report."""
    with claimed(asked.out):
        return demonstrated(asked.out, asked.seed, asked.speech.voice())


def demonstrated(out: Path, seed: int, voice: Voice) -> int:
    """Learn and write, with the folder for this run alone."""
    club = load_karate().graph
    names = [f"member {node + 1}" for node in club]
    draws = [
        pd.DataFrame(smooth_signals(club, N_SIGNALS, "gmrf", random_state=seed + draw), columns=names)
        for draw in range(N_DRAWS)
    ]
    signals, source = draws[0], f"{N_SIGNALS} Gaussian-Markov signals (seed {seed})"
    voice.say(
        f"The karate club: {club.number_of_nodes()} members, {club.number_of_edges()} friendships. Learned from "
        f"{N_SIGNALS} Gaussian-Markov signals, drawn {N_DRAWS} times (seeds {seed} to {seed + N_DRAWS - 1}); means "
        "over the draws. Controls learn no graph, except the shuffled benefit: GLGP with a benefit that means nothing. "
        "Friendship has no direction, so scores are of symmetrised weights."
    )
    # c, degree and lam are the same for the last three, so that these rows differ by the method alone.
    model = ConsensusGL(random_state=seed)
    models: list[GraphEstimator] = [model, SmoothGL(), LinearGLGP(lam=LAM), GLGP(lam=LAM)]
    with voice.noting_warnings():
        warm_up(signals)
        with counting(voice, "learning", len(draws)) as progress:
            tables = []
            for each in draws:
                tables.append(compare(each, club, models))
                progress()
        found = averaged(tables)
        voice.say(listed(found))
        words = verdicts_over_draws(tables, type(model).__name__)
        for line in words:
            voice.say(line)
        model.fit(signals)
        for sentence in most_influential(model.graph_):
            voice.say(sentence)
        friends = sorted(club, key=lambda node: -club.degree[node])[:FRIENDS]
        voice.say("The members with most friends: " + ", ".join(f"{names[k]} ({club.degree[k]})" for k in friends))
        scores = found.set_index("method").to_dict("index")
        ours = scores["ConsensusGL"]
        shown = {"AUC": ours["auc"], "average precision": ours["average_precision"]}
        summary = summarize(
            model,
            title="Zachary's karate club",
            source=source,
            scores=shown,
            columns=signals.T.add_prefix("signal "),
            truth=club,
        )
        written = write_demo(out, model, club, summary, voice)
    voice.say(f"Wrote {', '.join(written)} to {out}/")
    seconds = {name: row.pop("seconds") for name, row in scores.items()}
    voice.answer({"command": "demo", "out": str(out), "scores": scores, "seconds": seconds, "verdict": words})
    return DONE


def averaged(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the mean over draws of every score, methods and controls in the order of the first table."""
    together = pd.concat(tables).groupby("method", sort=False)
    means = together[[*SCORES, "seconds"]].mean()
    return means.assign(converged=together["converged"].all()).reset_index()


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
            draw_side_by_side(club, model, folder / "karate.png")
        except ImportError:
            voice.note("karate.png is left out, because drawing needs matplotlib: pip install 'nashgraph[plot]'")
        write_report(summary, folder / "report.html")
        return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def draw_side_by_side(club: nx.Graph[int], model: GraphEstimator, path: Path) -> None:
    """Draw the true club and the learned one, in one layout, into a PNG file."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra: imported where used)

    figure = Figure(figsize=(11, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    true = nx.convert_node_labels_to_integers(club, first_label=1)  # short names, so that all can be shown
    learned = replace(model.graph_, names=np.array(true))
    shared: dict[str, Any] = {"positions": nx.spring_layout(true, seed=4), "n_labels": len(true)}
    plot_graph(true, left, **shared).set_title("The true club", loc="left")
    plot_graph(learned, right, truth=true, **shared).set_title(
        "Learned by the consensus: its heaviest pairs", loc="left"
    )
    figure.supxlabel("Circles grow with friends (left), with influence (right).", fontsize=9)
    figure.savefig(path, dpi=130, bbox_inches="tight", format="png")
