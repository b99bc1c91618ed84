"""Whom to interview next and whom to inform first: the two answers that people with a network want before any table."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..estimators import GraphEstimator, TieModel
from ..interventions import best_seeds
from ..validation import check_integer


class Step(NamedTuple):
    """Something to do: a heading, one sentence, and the people concerned."""

    heading: str
    sentence: str
    names: list[Any]


def next_steps(model: GraphEstimator, *, n_ask: int = 10, n_tell: int = 5, most_nodes: int = 2000) -> list[Step]:
    """Return what a network supports doing next; nothing if it does not tell who is central.

    Draws of news over more than ``most_nodes`` would take longer than the page.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> traits = pd.DataFrame({"farmer": np.arange(30) % 2})
    >>> n_ties = pd.Series(np.where(np.arange(30) < 20, 2.0 + np.arange(30) % 5, np.nan))
    >>> model = TieModel(random_state=0).fit(traits=traits, n_ties=n_ties)
    >>> [step.heading for step in next_steps(model, n_ask=3)]
    ['Ask these 3 next', 'Tell these 5 first']
    """
    steps = []
    if isinstance(model, TieModel) and not model.asked_.all():
        steps.append(whom_to_ask(model, check_integer("n_ask", n_ask, low=1, remedy="try 10")))
    graph = model.graph_
    central = isinstance(model, TieModel) or graph.influence_supported is True
    if central and graph.n_edges and n_tell < graph.n_nodes <= most_nodes:
        steps.append(whom_to_tell(model, n_tell))
    return steps


def whom_to_ask(model: TieModel, count: int) -> Step:
    """Return the people whose ties are least certain among those who were not asked."""
    table = model.ask(count)
    sentence = "Nobody asked them yet, and their ties are the least certain."
    return Step(f"Ask these {len(table)} next", sentence, table["name"].tolist())


def whom_to_tell(model: GraphEstimator, count: int) -> Step:
    """Return the people from whom news would reach most others, and how many drawn at random would reach as many."""
    table = best_seeds(model, count, samples=2000)  # the reach of five among 80 to within one person
    reached = float(table["reached"].iloc[-1])
    random = int(table["random_seeds"].iloc[-1])
    sentence = (
        f"News told to them would reach about {reached:.0f} of {model.graph_.n_nodes:,}, if each tie passes them on "
        f"once with its weight as the probability; {random:,} people drawn at random reach as many."
    )
    return Step(f"Tell these {len(table)} first", sentence, table["name"].tolist())
