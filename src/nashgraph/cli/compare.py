"""``nashgraph compare``: several methods on one table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.table import Table

from ..comparison import METHODS
from ..comparison import compare as compare_methods
from ..estimators import GraphEstimator
from ..files import check_writable, written_together
from ..tables import Job, Signals
from ._fitting import plain_number, refusals
from ._jobs import load_noted, truth_noted
from ._options import GameArguments, SpeechArguments, TableArguments, TruthArguments
from ._running import DONE, UNFINISHED, Voice, printable

FILE = "compare.csv"
KIND = re.compile(r"\b\w+(?:Warning|Error): ")  # what Python calls it says nothing to the user
# Nodes up to which a method takes seconds; named, it runs at any size.
QUICK_UP_TO = {"spectemp": 60, "glasso": 80, "modular": 200, "quadgame": 200, "sigrep": 200}


def run_compare(
    file: Path,
    *,
    methods: list[str],
    out: Path | None,
    table: TableArguments,
    game: GameArguments,
    truth: TruthArguments,
    speech: SpeechArguments,
) -> int:
    """Fit methods on the same signals, print their scores, and write them where asked."""
    voice = Voice(quiet=speech.quiet, as_json=speech.json)
    job = Job("compare", "", game.parameters(), table.options(game.benefit))
    if job.table.missing == "pairwise":
        raise typer.BadParameter("compare needs complete signals: pass --missing impute, or learn with one method")
    with voice.noting_warnings(), refusals():
        signals = load_noted(file, job, voice)
        known = None if truth.truth is None else truth_noted(truth.truth, signals, truth.truth_directed, voice)
        if out is not None:
            check_writable(out)
        names = chosen_methods(methods, signals.table.shape[1], voice)
        found = compare_methods(
            signals.table,
            known,
            entries(names, job.parameters, signals),
            benefit=job.parameters.get("benefit", "spectral") if signals.benefit is None else signals.benefit,
            interaction=job.parameters.get("interaction", "log1p"),
            progress=voice.animated,
        )
    voice.say(score_table(found))
    for text, which in remarks(found).items():
        voice.note(f"{', '.join(which)}: {text}")
    if out is not None:
        with written_together(out) as folder:
            found.to_csv(folder / FILE, index=False)
        voice.say(f"wrote {FILE} to {out}/")
    voice.answer({"command": "compare", "methods": plain_rows(found), "notes": voice.notes})
    return DONE if found["converged"].all() else UNFINISHED


def chosen_methods(given: list[str], n_nodes: int, voice: Voice) -> list[str]:
    """Return the methods named, or all that are quick on this many nodes; say which were left out."""
    names = [name for item in given for name in item.split(",")]
    for name in names:
        if name not in METHODS:
            raise typer.BadParameter(f"there is no method {name!r}: there are {', '.join(METHODS)}")
    if names:
        return names
    slow = [name for name, limit in QUICK_UP_TO.items() if n_nodes > limit]
    if slow:
        voice.note(f"left out {', '.join(slow)}, slow on {n_nodes} nodes; --methods takes them in")
    return [name for name in METHODS if name not in slow]


def entries(names: list[str], parameters: dict[str, Any], signals: Signals) -> list[tuple[str, GraphEstimator]]:
    """Return every method with those of the parameters that it has."""
    given = parameters if signals.benefit is None else {**parameters, "benefit": signals.benefit}
    models = [(name, METHODS[name]()) for name in names]
    return [
        (name, model.set_params(**{key: value for key, value in given.items() if key in model.get_params()}))
        for name, model in models
    ]


def score_table(found: pd.DataFrame) -> Table:
    """Return the scores as a table for people."""
    table = Table(box=None, pad_edge=False)
    shown = [column for column in found.columns if column not in ("warnings", "error")]
    for column in shown:
        table.add_column(column.replace("_", " "), justify="left" if column == "method" else "right", no_wrap=True)
    for row in found[shown].itertuples(index=False):
        table.add_row(*(f"{value:.3f}" if isinstance(value, float) else printable(str(value)) for value in row))
    return table


def remarks(found: pd.DataFrame) -> dict[str, list[str]]:
    """Return what methods warned of or failed of, each once, with the methods that did."""
    said: dict[str, list[str]] = {}
    for method, warned, failed in zip(found["method"], found["warnings"], found["error"], strict=True):
        for text in filter(None, (failed, warned)):
            said.setdefault(KIND.sub("", text), []).append(method)
    return said


def plain_rows(found: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON has them."""
    return [
        {str(key): value if isinstance(value, str) else _plain(value) for key, value in row.items()}
        for row in found.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    return None if pd.isna(value) else plain_number(value)
