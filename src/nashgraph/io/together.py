"""Further files of a study: alters of egor and Network Canvas, a list of ties between the people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..plan import ColumnPlan, TablePlan
from ..validation import listing
from .columns import as_name
from .errors import TableError
from .load import Raw, load
from .names import plain_names
from .profiles import is_ego
from .reshape import turned
from .rows import kind_of_rows
from .shapes import Rows
from .told import Building


def with_others(building: Building, others: Sequence[str | Path | pd.DataFrame]) -> None:
    """Add alters or ties of the people from other files."""
    for source in others:
        raw = load(source, {})
        rows = _rows_of(raw)
        table = TablePlan(
            raw.file, raw.sha256, raw.reading, raw.trim.no_data, rows.kind, why=rows.why, columns=rows.columns
        )
        if rows.kind == "alters":
            _count_alters(building, raw.table, rows.columns[0].name, raw.file)
        elif rows.kind == "alter ties":
            building.decide("alter ties", f"{raw.file} has ties between the alters of one person, and is not used")
        elif rows.kind in ("reports", "matrix", "network"):
            if raw.network is None:
                network = turned(raw.table, table).network
            else:
                network = raw.network
            _add_reports(building, network, raw.file)
        else:
            raise TableError(
                f"{raw.file} seems to have {rows.kind} ({rows.why}), and further files of a study have alters or ties"
            )
        known = {listed.file for listed in building.plan.tables}
        if table.file not in known:
            building.plan = replace(building.plan, tables=(*building.plan.tables, table))


def _rows_of(raw: Raw) -> Rows:
    """Return what the rows of a further file are: with a column of egos they are alters, even if each ego has one."""
    profiles = raw.profiles()
    rows = kind_of_rows(raw.table, profiles)
    ego = next((profile for profile in profiles if is_ego(profile)), None)
    if ego is None or rows.kind in ("alters", "alter ties", "reports", "matrix", "network"):
        return replace(rows, question="")
    return Rows("alters", (ColumnPlan(ego.name, "id", why="the person who was asked"),), "a row is an alter")


def _add_reports(building: Building, network: pd.DataFrame | None, file: str) -> None:
    if network is None:
        raise TableError(f"{file} has distances, and not ties")
    known = {*building.people}
    inside = network["source"].isin(known) & network["target"].isin(known)
    if not inside.any():
        raise TableError(f"{file} has no tie between two people of the study: it names {listing(network['source'])}")
    ties = network[inside].reset_index(drop=True)
    building.decide(
        "ties", f"{file}: {len(ties)} ties; {int((~inside).sum())} of people outside the study are left out"
    )
    reports = ties.assign(respondent=ties["source"], relation="", wave="").drop(columns="weight")
    building.network = ties
    building.reports = (
        reports if building.reports is None else pd.concat([building.reports, reports], ignore_index=True)
    )


def _count_alters(building: Building, alters: pd.DataFrame, ego: str, file: str) -> None:
    """Count the alters of every ego, in all and by each trait that both tables have."""
    who = pd.Series(plain_names([as_name(cell) for cell in alters[ego]]))
    strangers = sorted({*who} - {*building.people})
    if strangers:
        raise TableError(
            f"{file} has alters of {len(strangers)} people who are not in the first table: {listing(strangers)}"
        )
    total = who.value_counts().reindex(building.who).to_numpy(dtype=float)
    columns: dict[str, Any] = {"alters": total}
    plans = [ColumnPlan("alters", "n_ties", why=f"people named in {file}; nobody named is not asked")]
    traits: dict[str, ColumnPlan] = {}
    for name in map(str, alters.columns):
        own = next((column for column in building.columns if column.name == name and column.role == "answer"), None)
        if own is None or name == ego:
            continue
        texts = alters[name].map(lambda cell: as_name(cell).strip(), na_action="ignore")
        values = sorted({as_name(cell).strip() for cell in building.table[name].dropna()})
        if len(values) < 2 or len({*texts.dropna(), *values}) > 8 or building.table[name].isna().any():
            building.decide("not counted", "values are missing or too many", [name])
            continue
        for value in values[1:] if values in (["0", "1"], ["False", "True"]) else values:
            counted = (texts == value).astype(float).where(texts.notna()).groupby(who.to_numpy())
            label = f"alters: {name}={value}"
            columns[label] = counted.apply(lambda part: part.sum(skipna=False)).reindex(building.who).to_numpy()
            plans.append(ColumnPlan(label, "count", of=f"{name}={value}", why=f"counted in {file}"))
        traits[name] = ColumnPlan(name, "trait", own.scale, own.order, own.missing, why="counted among alters")
    building.table = pd.concat([building.table, pd.DataFrame(columns, index=building.table.index)], axis=1)
    kept = [traits.get(column.name, column) for column in building.columns]
    building.columns = (*kept, *plans)
    unnamed = len(building.people) - int((total > 0).sum())
    if unnamed:
        building.decide("alters", f"{unnamed} people without alters in {file} count as not asked", ["alters"])
    building.decide("alters", f"{file}: {len(alters)} people named by {int((total > 0).sum())} people", ["alters"])
