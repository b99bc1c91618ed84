"""Plan a study before there is any data: what asking some people some questions about their ties would buy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, roc_auc_score

from .estimators import TieModel
from .graph import as_graph
from .interventions.positions import largest_eigenvalue
from .interventions.seeds import best_seeds, draw_sets
from .validation import Array, InputError, check_integer, check_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# seeds as a share of the nodes, and how they are judged
SEEDS = 0.05
ROUNDS = 3
SAMPLES = 3000
MOST_NODES = 2000  # a table takes minutes there
MEASURES = ("average_precision", "auc", "rank_of_ties", "seeding")


def plan_study(
    n_nodes: int = 200,
    n_ties: float = 8.0,
    *,
    asked: Sequence[float] = (0.1, 0.3, 1.0),
    questions: Sequence[int] = (0, 5, 10),
    mixing: float = 0.5,
    recall: float = 1.0,
    like: tuple[Any, Any] | None = None,
    n_draws: int = 5,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return what to expect from asking a share of the people for their number of ties and counts of some traits.

    Networks like the one to be studied are drawn, people in them are asked, :class:`TieModel` learns from what they
    say, and the result is compared with the network that was drawn.

    Parameters
    ----------
    n_nodes, n_ties : the number of people, and a guess of how many ties they have on average
    asked, questions : shares of the people who are asked, and numbers of traits counted (0: the number of ties only)
    mixing : float
        A guess of how traits mix: the log-odds that sharing one trait adds to a tie. 0: nothing; 0.5: some; 1: much. It
        matters little.
    recall : float, the share of their ties that people remember
    like : (network, traits), optional
        A similar group whose ties are known, as a network and a table of 0/1 traits, instead of the guesses: its people
        are asked about its traits, those that split people most evenly first.
    n_draws, random_state : int, the number of networks drawn (with ``like``, of samples of people asked), and the seed

    Returns
    -------
    DataFrame with a row for every combination: asked, n_asked, questions, then means over the draws: average_precision
    and auc over all pairs, rank_of_ties (rank correlation of expected with true numbers of ties), seeding (share of the
    possible gain with 5% of the nodes as seeds; 0: seeds at random, 1: chosen on the true network) and seeding_error
    (its standard error). ``attrs["chance"]`` is the average precision of a random order of pairs.

    Examples
    --------
    >>> table = plan_study(40, 6, asked=[0.5, 1], questions=[6], n_draws=1)
    >>> bool(table.average_precision[1] > table.average_precision[0] > table.attrs["chance"])
    True
    """
    check_integer("n_draws", n_draws, low=1, high=1000, remedy="it is how many networks are drawn; try 5")
    for share in asked:
        check_number("asked", share, low=0, high=1, open_low=True, remedy="0.3 asks 30% of the people")
    for count in questions:
        check_integer("questions", count, low=0, high=100, remedy="it is how many traits are counted; try 10")
    check_number("recall", recall, low=1e-6, high=1, remedy="the share of ties people remember, as 0.8")
    if not len(asked) or not len(questions):
        raise InputError("nothing to plan: give at least one share in asked and one number in questions")
    if like is None:
        group = None
    else:
        group = similar_group(*like, most=max(questions))
    rows = []
    for draw in range(n_draws):
        random = np.random.default_rng([random_state, draw])
        A, T = drawn_group(n_nodes, n_ties, max(questions), mixing, random) if group is None else group
        judge = SeedingGain(A, random)
        order = random.permutation(len(A))
        recalled = A * (random.random(A.shape) < recall)
        for share in asked:
            who = np.sort(order[: max(2, round(share * len(A)))])
            for count in questions:
                found = judged(A, T[:, :count], recalled, who, recall, judge)
                rows.append({"asked": share, "n_asked": len(who), "questions": count, "chance": A.mean(), **found})
    frame = pd.DataFrame(rows)
    by = ["asked", "n_asked", "questions"]
    table = frame.groupby(by, sort=False)[list(MEASURES)].mean().reset_index()
    table["seeding_error"] = frame.groupby(by, sort=False)["seeding"].sem().fillna(0.0).to_numpy()
    table.attrs["chance"] = float(frame["chance"].mean())
    return table


def judged(A: Array, T: Array, recalled: Array, who: Array, recall: float, judge: SeedingGain) -> dict[str, float]:
    """Ask some people about a network, learn from what they say, and compare with the network."""
    traits = pd.DataFrame(T, index=range(len(A))).add_prefix("trait ")
    counted = [name for name, column in traits.items() if column.nunique() > 1]  # nobody counts what all have
    if counted:
        counts = pd.DataFrame(recalled @ T, columns=traits.columns)[counted].iloc[who]
    else:
        counts = None
    n_ties = pd.Series(recalled.sum(axis=1)).iloc[who]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = TieModel(recall=recall).fit(traits=traits, counts=counts, n_ties=n_ties).probabilities().to_numpy()
    upper = np.triu_indices(len(A), 1)
    vary = min(np.ptp(p.sum(axis=1)), np.ptp(A.sum(axis=1))) > 0  # else nobody has more ties than others
    if vary:
        rank = spearmanr(p.sum(axis=1), A.sum(axis=1)).statistic
    else:
        rank = 0.0
    values = (average_precision_score(A[upper], p[upper]), roc_auc_score(A[upper], p[upper]), rank, judge.share(p))
    return dict(zip(MEASURES, map(float, values), strict=True))


def drawn_group(
    n_nodes: int, n_ties: float, n_traits: int, mixing: float, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return a network drawn from the tie model itself, and the traits of its people."""
    n = check_integer("n_nodes", n_nodes, low=10, remedy="it is the number of people, 10 to 2,000")
    if n > MOST_NODES:
        raise InputError(f"n_nodes={n} is too many to draw and ask often: plan for {MOST_NODES}, or one group")
    remedy = f"it is a guess of ties per person; try {min(8, n / 4):g}"
    check_number("n_ties", n_ties, low=0, high=n / 2, open_low=True, remedy=remedy)
    check_number(
        "mixing", mixing, low=-100, high=100, remedy="it is the log-odds that a shared trait adds to a tie; try 0.5"
    )
    # Questions are chosen to split people: 20 to 50% have a trait. Popularity varies as in villages 1 to 37.
    T = (random.random((n, n_traits)) < random.uniform(0.2, 0.5, n_traits)).astype(float)
    centred = T - T.mean(axis=0)
    popular = random.normal(0.0, 0.4, n)
    theta = mixing * centred @ centred.T + popular[:, None] + popular
    reach = 50.0 + float(np.abs(theta).max())
    np.fill_diagonal(theta, -np.inf)
    level = brentq(lambda shift: expit(theta + shift).sum() - n * n_ties, -reach, reach)
    A = np.triu(random.random((n, n)) < expit(theta + level), 1).astype(float)
    return A + A.T, T


def similar_group(network: Any, traits: Any, most: int) -> tuple[Array, Array]:
    """Return a known network and its traits, those first that split people most evenly."""
    graph = as_graph(network)
    A = ((graph.weights + graph.weights.T) > 0).astype(float).toarray()
    traits = pd.DataFrame(traits)
    place = {str(name): k for k, name in enumerate(traits.index)}
    if lacking := [name for name in map(str, graph.names) if name not in place]:
        raise InputError(f"like: the traits lack {len(lacking)} of the network's nodes, for example {lacking[0]!r}")
    table = traits.iloc[[place[str(name)] for name in graph.names]]
    flags = [name for name in table if table[name].isin((0, 1)).all() and table[name].nunique() > 1]
    if len(flags) < most:
        raise InputError(f"like has {len(flags)} traits of 0 and 1, and {most} questions are planned: plan fewer")
    if not 10 <= len(A) <= MOST_NODES or not A.any():
        raise InputError(f"like must be a network with ties of 10 to {MOST_NODES:,} nodes, got {len(A)}")
    T = table[flags].to_numpy(dtype=float)
    return A, T[:, np.argsort(-T.var(axis=0), kind="stable")]


class SeedingGain:
    """The share of the possible gain in seeding on one network: 0 at random, 1 with seeds chosen on the network.

    News pass along a tie with probability 1 over the largest eigenvalue, in three rounds (Banerjee et al. 2013).
    """

    def __init__(self, A: Array, random: np.random.Generator) -> None:
        if not A.any():
            raise InputError("a network was drawn that has no ties: plan for more people, or for more ties per person")
        n = len(A)
        passing = 1.0 / largest_eigenvalue(sparse.csr_array(A))
        self.count = max(1, round(SEEDS * n))
        self.judge = draw_sets(sparse.csr_array(A), SAMPLES, random, scale=passing, rounds=ROUNDS)
        self.chance = float(np.mean([self.reach(random.permutation(n)[: self.count]) for _ in range(50)]))
        self.best = self.reach(self.seeds(A))

    def seeds(self, weights: Array) -> Array:
        """Return the seeds that a network leads to."""
        scale = 1.0 / largest_eigenvalue(sparse.csr_array(weights))
        table = best_seeds(weights, self.count, scale=scale, rounds=ROUNDS, samples=SAMPLES)
        return table["name"].to_numpy(dtype=np.int64)

    def reach(self, seeds: Array) -> float:
        """Return how many seeds reach on the true network."""
        return float(self.judge.gains(seeds).sum())

    def share(self, weights: Array) -> float:
        """Return the share of the possible gain."""
        return float((self.reach(self.seeds(weights)) - self.chance) / max(1e-9, self.best - self.chance))


def plot_plan(table: pd.DataFrame, ax: Axes | None = None, *, measure: str = "seeding") -> Axes:
    """Draw a measure of :func:`plan_study` by the share of people asked, a line for every number of questions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> table = plan_study(30, 5, asked=[0.5, 1], questions=[0], n_draws=1)
    >>> plot_plan(table, Figure().subplots()).get_ylabel()
    'seeding'
    """
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    if ax is None:
        import matplotlib.pyplot as plt  # noqa: PLC0415 (an extra: imported where used)

        ax = plt.gca()
    for count in sorted(table["questions"].unique().tolist()):
        rows = table[table["questions"] == count]
        if count:
            label = f"{count} counting questions"
        else:
            label = "number of ties only"
        ax.plot(100 * rows["asked"], rows[measure], marker="o", label=label)
    ax.set_xlabel("people asked, in percent")
    ax.set_ylabel(measure.replace("_", " "))
    ax.legend(frameon=False)
    return ax
