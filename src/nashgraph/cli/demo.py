"""``nashgraph demo``: a village asked about ties, next to the truth, and the karate club from four signals."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy.special import expit

from ..comparison import ABLATION, CHANCE, CONTROL, compare
from ..datasets import load_karate, smooth_signals
from ..estimators import GLGP, ConsensusGL, SmoothGL, TieModel
from ..files import claimed, written_together
from ..graph import LearnedGraph
from ..interventions import best_seeds, expected_reach
from ..io import write_edges, write_graphml
from ..metrics import edge_scores
from ..report import plot_networks, summarize, write_report
from ..validation import Array
from .commands import DONE, load_matplotlib
from .fitting import part_to_write
from .messages import Voice, counting, listed
from .options import DemoArguments

TRAITS = ("weaver", "tractor", "well", "school", "shop", "cattle", "savings", "phone", "temple", "radio")
FILTERS = ("gmrf", "heat", "tikhonov", "lowpass")
N_SIGNALS = 50


class Village(NamedTuple):
    """A simulated village: who is tied to whom, everybody's traits, and the answers of those who were asked.

    ``counts`` has the number of ties to people with each trait, and ``n_ties`` the number of ties.
    """

    A: Array
    traits: pd.DataFrame
    counts: pd.DataFrame
    n_ties: pd.Series


def drawn_village(
    seed: int, n_households: int = 100, ties: float = 8.0, asked: float = 0.7, forgotten: float = 0.15
) -> Village:
    """Draw a village, not from the tie model: ties are short on a map, and neighbours are alike.

    ``ties`` is the mean number of ties, ``asked`` the share of the households that answer, and ``forgotten`` the
    probability that a household leaves a tie out of all of its answers.
    """
    random = np.random.default_rng(seed)
    n = n_households
    names = [f"household {k + 1}" for k in range(n)]
    places = random.random((n, 2))
    # A trait is a wave over the map, so that it is frequent in some quarters and rare in others.
    waves = random.normal(0.0, 4.0, (2, len(TRAITS)))
    shares = expit(2.0 * np.cos(places @ waves + random.uniform(0.0, 2.0 * np.pi, len(TRAITS))) - 0.5)
    traits = (random.random(shares.shape) < shares).astype(float)
    popular = random.normal(0.0, 0.5, n)
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    score = popular[:, None] + popular - distance / 0.08
    above = np.triu_indices(n, 1)
    score_of_pairs = score[above] + random.logistic(size=len(above[0]))
    A = np.zeros((n, n))
    A[above] = score_of_pairs >= np.sort(score_of_pairs)[-round(n * ties / 2)]
    A += A.T
    remembered = A * (random.random((n, n)) > forgotten)
    who = np.sort(random.choice(n, round(asked * n), replace=False))
    table = pd.DataFrame(traits, index=names, columns=list(TRAITS))
    counts = pd.DataFrame(remembered @ traits, index=names, columns=list(TRAITS)).iloc[who]
    return Village(A, table, counts, pd.Series(remembered.sum(axis=1), index=names).iloc[who])


def example_survey(seed: int = 0) -> pd.DataFrame:
    """Return a survey of a drawn village as a table: traits of all, and what those who were asked count."""
    village = drawn_village(seed)
    counts = village.counts.add_prefix("n_friends_").astype(int).astype("Int64")
    n_ties = village.n_ties.astype(int).astype("Int64").rename("n_friends")
    table = pd.concat([village.traits.astype(int), n_ties, counts], axis=1)
    return table.rename_axis("household")


def village_scores(village: Village, model: TieModel) -> pd.DataFrame:
    """Return the scores of the tie model and of controls, which are given the same answers."""
    told = village.n_ties.reindex(village.traits.index).fillna(village.n_ties.mean()).to_numpy()
    traits = village.traits.to_numpy()
    scaled = (traits - traits.mean(axis=0)) / traits.std(axis=0)
    # Chances of ties that are bilinear in traits, by least squares on the counts.
    Z = np.column_stack([np.ones(len(traits)), traits])
    asked = village.traits.index.get_indexer(village.counts.index)
    answers = np.column_stack([village.n_ties, village.counts])
    mixing = Z @ np.linalg.pinv(Z[asked]) @ answers @ np.linalg.pinv(Z.T @ Z) @ Z.T
    mixing = np.log(np.maximum(mixing + mixing.T, 1e-3))
    popularity = np.log(np.outer(told + 0.5, told + 0.5))
    scores = {
        "TieModel": model,
        f"{CONTROL}mixing of traits and numbers of ties": mixing + popularity,
        f"{CONTROL}numbers of ties": popularity,
        f"{CONTROL}likeness of traits": scaled @ scaled.T,
        CHANCE: np.zeros(village.A.shape),
    }
    names = village.traits.index
    truth = pd.DataFrame(village.A, names, names)
    rows = []
    for name, score in scores.items():
        weights = score if isinstance(score, TieModel) else pd.DataFrame(score - score.min(), names, names)
        rows.append({"method": name, **edge_scores(truth, weights, "mean")._asdict()})
    return pd.DataFrame(rows)


def reached(
    village: Village, model: TieModel, count: int = 3, scale: float = 0.1
) -> tuple[list[str], dict[str, float]]:
    """Return the households to inform first, and how many hear the news on the true network, by who chose."""
    names = village.traits.index.to_list()
    truth = LearnedGraph.of(village.A, names)
    ours = best_seeds(model, count, scale=scale)["name"].tolist()
    best = best_seeds(truth, count, scale=scale)["name"].tolist()
    random = np.random.default_rng(0)
    draws = [random.choice(names, count, replace=False) for _ in range(50)]
    by_chance = float(np.mean([expected_reach(truth, drawn, scale=scale, samples=2000) for drawn in draws]))
    return ours, {
        "chosen on the learned network": expected_reach(truth, ours, scale=scale),
        "chosen on the true network": expected_reach(truth, best, scale=scale),
        "drawn at random": by_chance,
    }


def club_scores(club: nx.Graph[int], seed: int, voice: Voice, n_draws: int = 3) -> pd.DataFrame:
    """Return the average precision by filter: a row for each method and control, means over the draws."""
    columns = {}
    with counting(voice, "learning", len(FILTERS) * n_draws) as progress:
        for kind in FILTERS:
            tables = []
            for draw in range(n_draws):
                signals = smooth_signals(club, N_SIGNALS, kind, random_state=seed + draw)
                tables.append(compare(signals, club, [ConsensusGL(random_state=seed), SmoothGL(), GLGP()]))
                progress()
            columns[kind] = pd.concat(tables).groupby("method", sort=False)["average_precision"].mean()
    return pd.DataFrame(columns).rename_axis("method").reset_index()


def club_sentence(scores: pd.DataFrame, ours: str = "ConsensusGL") -> str:
    """Say for how many filters the default is above every control, and above the other methods."""
    table = scores.set_index("method")
    controls = table[table.index.str.startswith(CONTROL)].max()
    is_method = ~table.index.str.startswith((CONTROL, ABLATION))
    methods = table[is_method].drop(index=ours).max()
    mine = table.loc[[ours]].iloc[0]
    above_controls = np.count_nonzero(mine > controls)
    above_methods = np.count_nonzero(mine > methods)
    return (
        f"{ours}, the default, is above every control for {above_controls} of {len(mine)} kinds of signals, and above "
        f"the other methods for {above_methods}."
    )


def drawings(village: Village, model: TieModel, club: nx.Graph[int], seed: int) -> dict[str, dict[str, LearnedGraph]]:
    """Return by file the networks to draw side by side: the true one, and what was learned of it."""
    signals = smooth_signals(club, N_SIGNALS, "heat", random_state=seed)
    members = [f"{node + 1}" for node in club]  # short names, so that all can be shown
    learned = ConsensusGL(random_state=seed).fit(pd.DataFrame(signals, columns=members)).graph_
    true_club = LearnedGraph.of(nx.to_numpy_array(club, weight=None), members)
    true_village = LearnedGraph.of(village.A, village.traits.index)
    return {
        "village.png": {"The true village": true_village, "Learned from 70 households' answers": model.graph_},
        "karate.png": {"The true club": true_club, "Learned by the consensus": learned},
    }


def write_demo(
    out: Path, village: Village, model: TieModel, scores: pd.DataFrame, club: nx.Graph[int], seed: int, voice: Voice
) -> list[str]:
    """Write the village's graph and report and both pictures, all or none, and return the files' names."""
    names = village.traits.index
    ours = scores.set_index("method").to_dict("index")["TieModel"]
    summary = summarize(
        model,
        title="A simulated village",
        source=f"the answers of {len(village.n_ties)} of {len(names)} simulated households (seed {seed})",
        scores={"AUC": ours["auc"], "average precision": ours["average_precision"]},
        columns=village.traits,
        truth=pd.DataFrame(village.A, names, names),
    )
    with written_together(out) as folder:
        graph = part_to_write(model.graph_, None)
        write_edges(graph, folder / "edges.csv")
        write_graphml(graph, folder / "village.graphml")
        try:
            load_matplotlib()
            for file, graphs in drawings(village, model, club, seed).items():
                n_ties = next(iter(graphs.values())).undirected().n_edges
                figure = plot_networks(graphs, n_edges=n_ties, n_labels=34 if file == "karate.png" else 0)
                figure.savefig(folder / file, dpi=130, bbox_inches="tight")
        except ImportError:
            voice.note("the pictures are left out, because drawing needs matplotlib: pip install 'nashgraph[plot]'")
        write_report(summary, folder / "report.html")
        return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def run_demo(asked: DemoArguments) -> int:
    """Learn a village and the karate club, print how well, and write graphs, pictures and a report."""
    out = asked.out
    seed = asked.seed
    voice = asked.speech.voice()
    village = drawn_village(seed)
    n = len(village.A)
    with voice.noting_warnings(), claimed(out):
        voice.say(
            f"1. A simulated village of {n} households with {int(village.A.sum() / 2)} ties. {len(village.n_ties)} "
            f"households said how many ties they have, and how many of these people have each of {len(TRAITS)} traits. "
            "They forgot 15% of their ties, and nobody named anybody. Controls get the same answers."
        )
        model = TieModel(random_state=seed)
        model.fit(traits=village.traits, counts=village.counts, n_ties=village.n_ties)
        found = village_scores(village, model)
        voice.say(listed(found))
        seeds, reach = reached(village, model)
        heard = ", ".join(f"{figure:.1f} if {who}" for who, figure in reach.items())
        voice.say(f"Whom to inform first: {', '.join(seeds)}. The number of households that the news reaches: {heard}.")
        voice.say(f"Whom to interview next: {', '.join(map(str, model.ask(3)['name']))}.")
        voice.say()
        club = load_karate().graph
        voice.say(
            f"2. Zachary's karate club: {club.number_of_nodes()} members, {club.number_of_edges()} friendships, "
            f"learned from {N_SIGNALS} signals that the club made, of four kinds, drawn three times each. Mean average "
            "precision:"
        )
        by_filter = club_scores(club, seed, voice)
        voice.say(listed(by_filter))
        words = club_sentence(by_filter)
        voice.say(words)
        written = write_demo(out, village, model, found, club, seed, voice)
    voice.say(f"Wrote {', '.join(written)} to {out}/")
    voice.say(f"open {out / 'report.html'}")
    content = {
        "village": found.set_index("method").to_dict("index"),
        "reached": reach,
        "club": by_filter.set_index("method").to_dict("index"),
        "verdict": words,
    }
    voice.answer({"command": "demo", "out": str(out), **content})
    return DONE
