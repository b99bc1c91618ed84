"""``nashgraph act``: what to do about a network, out of the game on it, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..files import claimed, written_together
from ..games import (
    Game,
    best_seeds,
    best_support,
    best_ties,
    costliest_ties,
    key_group,
    key_players,
    roles,
    what_if,
)
from ..io import read_node_numbers
from ..io.graphs import write_csv
from ._acting import Society, society_of
from ._fitting import plain_number
from ._options import ActArguments
from ._running import DONE, Voice
from ._showing import listed
from ._writing import check_inputs_kept
from .show import records, with_interval

FOLDER, BEST, SURE = "act", 5, 0.9
TITLES = {
    "players": "key players: what the welfare loses when one leaves",
    "group": "key group: who costs most together",
    "support": "whom to support",
    "ties_to_build": "ties to build: who should listen to whom",
    "ties_to_watch": "ties to watch: whose loss costs most",
    "seeds": "whom to inform first",
    "roles": "communities and roles",
    "what_if": "what if: whom the change moves most",
}
ENDS = ("name", "listener", "speaker")
TOO_MUCH = ("low", "high", "action_before", "action_after", "influence")  # for a terminal; the files have them


def run_act(given: Path, asked: ActArguments) -> int:
    """Advise on a network, print the first of each answer, and write all."""
    voice = asked.speech.voice()
    out = asked.out or (given if given.is_dir() else given.parent) / FOLDER
    check_inputs_kept(out, (given, asked.benefit), [f"{name}.csv" for name in TITLES])
    with voice.noting_warnings(), claimed(out):
        rules = {"interaction": asked.interaction, "welfare": asked.welfare}
        society = society_of(given, rules, directed=not asked.undirected, voice=voice)
        game = society.game
        count = min(BEST, game.n_nodes - 1) if asked.best is None else asked.best
        voice.say(
            f"{given.name}: {game.n_nodes} nodes, {game.weights.nnz:,} ties, {len(game.members)} resamples; "
            f"the welfare is {game.value:.4g}"
        )
        tables = dict(advice(society, count, asked))
        with written_together(out) as folder:
            for name, table in tables.items():
                write_csv(table, folder / f"{name}.csv", *(end for end in ENDS if end in table))
    for name, table in tables.items():
        voice.say(TITLES[name])
        voice.say(listed(few_columns(table.head(count))))
        for sentence in (said(name, table, game), how_sure(table, count)):
            if sentence:
                voice.say(sentence)
        voice.say()
    voice.say(f"wrote {', '.join(f'{name}.csv' for name in tables)} to {out}/")
    voice.answer(answer(game, tables, count, out, voice))
    return DONE


def advice(society: Society, count: int, asked: ActArguments) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the answers by name."""
    game = society.game
    yield "players", key_players(game, best=count)
    if count < game.n_nodes:
        yield "group", key_group(game, count)
    yield "support", best_support(game, asked.budget, cost=asked.cost, cap=asked.cap, best=count)
    if game.weights.nnz:
        yield "ties_to_build", best_ties(game, count)
        yield "ties_to_watch", costliest_ties(game, min(count, game.weights.nnz))
    yield "seeds", best_seeds(game, count)
    yield "roles", roles(game, communities=society.communities, best=count)
    if asked.changes:
        yield (
            "what_if",
            what_if(
                game,
                without=nodes_named(asked.without or [], game),
                new_benefit=None if asked.benefit is None else new_benefits(asked.benefit, game),
                cap_influence=asked.cap_influence,
                best=count,
            ),
        )


def nodes_named(given: list[str], game: Game) -> list[str]:
    """Return the nodes named, one or several with commas between in each text; a name may have a comma, too."""
    return [name for text in given for name in ([text] if text in game.numbers else text.split(","))]


def new_benefits(file: Path, game: Game) -> pd.Series:
    """Return the benefits in a file."""
    return read_node_numbers(file, "benefit", [str(name) for name in game.names])


def few_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that fit a terminal, an interval in one, shares as percent."""
    for share in {"share", "among_best"} & {*table.columns}:
        table = table.assign(**{share: table[share].map("{:.0%}".format)})
    shown = [str(name) for name in table.columns if name not in TOO_MUCH]
    if "low" in table:
        shown.insert(shown.index("among_best"), "interval")
    return with_interval(table, "low", "high", tuple(shown))


def said(name: str, table: pd.DataFrame, game: Game) -> str:
    """Return what else there is to say of an answer."""
    figures: dict[Any, Any] = table.attrs
    if name == "support":
        best, even, connected = (
            f"{figures[gain]:.3g} ({figures[gain] / game.value:.1%})"
            for gain in ("gain", "gain_even", "gain_connected")
        )
        return (
            f"The welfare rises by {best}. The same budget gains {even} when all get the same, and {connected} when "
            f"the {figures['connected']} most influential do. One of support is a benefit of {figures['unit']:.3g}."
        )
    if name == "ties_to_build":
        together = f"gain {figures['gain']:.3g}" if np.isfinite(figures["gain"]) else "leave no equilibrium"
        return f"Each is of weight {figures['weight']:.3g}; all of them together {together}."
    if name == "what_if":
        before, after = figures["welfare_before"], figures["welfare_after"]
        gain, lose = int((table["change"] > 0).sum()), int((table["change"] < 0).sum())
        share = after / before - 1.0
        return f"The welfare goes from {before:.4g} to {after:.4g} ({share:+.1%}); {gain} gain, {lose} lose."
    return ""


def how_sure(table: pd.DataFrame, count: int) -> str:
    """Return how far an advice holds over the resamples; what changes with them is said to change.

    Examples
    --------
    >>> how_sure(pd.DataFrame({"name": ["ann", "bob"], "among_best": [1.0, 0.4]}), 2)
    'Of these 2, 1 is among the first 2 in nine of ten resamples; the others change with the resamples.'
    """
    if "among_best" not in table:
        return ""
    first = table["among_best"].head(count)
    sure = int((first >= SURE).sum())
    few = "none is" if not sure else "1 is" if sure == 1 else f"{sure} are"
    rest = "; the others change with the resamples" if sure else ": this advice is not settled"
    ends = rest if sure < len(first) else ""
    return f"Of these {len(first)}, {few} among the first {count} in nine of ten resamples{ends}."


def answer(game: Game, tables: dict[str, pd.DataFrame], count: int, out: Path, voice: Voice) -> dict[str, object]:
    """Return the JSON object: the first of every table, and its figures; the files have all."""
    return {
        "command": "act",
        "out": str(out),
        "nodes": game.n_nodes,
        "ties": int(game.weights.nnz),
        "resamples": len(game.members),
        "welfare": game.value,
        **{name: records(table.head(count)) for name, table in tables.items()},
        "figures": {
            name: {str(figure): plain_number(value) for figure, value in table.attrs.items()}
            for name, table in tables.items()
            if table.attrs
        },
        "notes": voice.notes,
    }
