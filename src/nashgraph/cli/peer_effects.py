"""``nashgraph fit-game``: the game fitted to what people do, and the file that ``act --game`` plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import typer

from .. import io
from ..files import claimed, written_whole
from ..graph import LearnedGraph
from ..io import TableError, TableOptions, read_record
from ..io.read import read_table
from ..peer_effects import fit_game
from ..validation import listing
from .act_options import FitGameArguments
from .commands import DONE
from .fitting import MODEL
from .learn import check_inputs_kept
from .messages import listed, records
from .saved import FIT, learned_graph
from .tie_options import TIES

TABLE = "fit.csv"


def run_fit_game(asked: FitGameArguments) -> int:
    """Fit the game to a table of actions, print the coefficients, and write the fit."""
    voice = asked.speech.voice()
    if asked.action is None:
        raise typer.BadParameter("--action is missing: name the column of what people do")
    out = asked.out or (asked.network if asked.network.is_dir() else asked.network.parent) / "fit"
    check_inputs_kept(out, (asked.network, asked.actions), [FIT, TABLE])
    with voice.noting_warnings(), claimed(out):
        graph = read_draws(asked.network, directed=not asked.undirected)
        people = read_people(asked.actions, asked.id)
        covariates = [name for text in asked.covariates or [] for name in text.split(",")]
        fit = fit_game(
            graph,
            asked.action,
            covariates or None,
            data=people,
            interaction=asked.interaction or "linear",
            method=asked.method,
            link=asked.link,
            normalize=not asked.as_it_is,
            groups=asked.groups,
            fixed_effects=asked.fixed_effects,
            contextual=asked.contextual,
            errors=asked.errors,
        )
        low, high = fit.interval
        voice.say(listed(fit.coefficients))
        condition = ", if the network is exogenous"
        for name, value in fit.figures().items():
            voice.say(f"{name[0].lower()}{name[1:]}: {value}{condition if 'interval' in name else ''}")
        with written_whole(out / FIT) as file:
            file.write_text(fit.to_json(), encoding="utf-8")
        with written_whole(out / TABLE) as file:
            fit.coefficients.to_csv(file, index=False)
        voice.say(f"wrote {FIT}, {TABLE} to {out}/")
        voice.say(f"next: nashgraph act {asked.network} --game {out}")
    voice.answer(
        {
            "command": "fit-game",
            "out": str(out),
            "peer_effect": fit.peer_effect,
            "standard_error": fit.standard_error,
            "interval": [low, high],
            "draws": fit.n_draws,
            "coefficients": records(fit.coefficients),
            "left_out": {reason: [str(name) for name in names] for reason, names in fit.left_out.items()},
            "notes": voice.notes,
        }
    )
    return DONE


def read_draws(network: Path, *, directed: bool) -> Any:
    """Return a network, or the draws of one that was learned from questions about ties."""
    if not network.is_dir() and network.name != MODEL:
        return io.read_network(network, directed=directed)
    record, place = read_record(network)
    graph, replicates = learned_graph(record, place.parent)
    if record.job.method == TIES and len(replicates):
        return [LearnedGraph.of(draw, graph.names) for draw in replicates]
    return graph


def read_people(file: Path, named: str | None) -> pd.DataFrame:
    """Return a table of people by name."""
    headings = [str(name) for name in read_table(file, TableOptions(), ())[0].columns]
    column = headings[0] if named is None else named
    if column not in headings:
        raise TableError(f"{file.name} has no column {column!r}: it has {listing(headings, 10)}")
    table = read_table(file, TableOptions(), [column])[0]  # "007" is a name
    return table.set_index(table[column].astype(str)).drop(columns=column)
