"""Codes in place of people's ids, in everything that is written of a study; the key is apart."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ..decisions import Decision
from ..plan import PlanError
from ..study import Study
from ..tie_survey import TieSurvey
from ..validation import InputError

# Columns whose values may be in the files; ids, names, places and what is left out may tell who somebody is.
SHARED_ROLES = ("answer", "trait", "count", "n_ties", "group", "wave", "weight", "benefit")


def anonymised(study: Study, key: Mapping[str, str] | None = None) -> Study:
    """Return a study whose people have codes for names; ``key`` has the id of each code.

    Without a key, codes are drawn at random, so that their order tells nothing. What people wrote in their own words,
    places, telephone numbers and spellings of names are left out of ``people``; places still serve as evidence.

    Examples
    --------
    >>> import nashgraph
    >>> table = pd.DataFrame({"name": ["ann", "bob", "cat"], "age": [31, 45, 28], "phone": ["+4", "+5", "+6"]})
    >>> study = anonymised(nashgraph.read_study(table))
    >>> sorted(study.people.index), list(study.people), sorted(study.key.values())
    (['P1', 'P2', 'P3'], ['age'], ['ann', 'bob', 'cat'])
    """
    ids = [str(person) for person in study.people.index]
    key = drawn_key(ids) if key is None else dict(key)
    codes = {person: code for code, person in key.items()}
    if strangers := [person for person in ids if person not in codes]:
        raise InputError(f"the key has no code for {len(strangers)} of {len(ids)} people: give the key of this table")
    columns = {column.name for table in study.plan.tables for column in table.columns}
    if telling := sorted(columns & {*ids}):
        raise PlanError(
            f"{len(telling)} columns are called by people, for example the first and the last person, and the plan "
            "would tell their names: give the columns other names first",
            parameter="anonymous",
        )
    rename = coded_text(codes)
    shared = [column.name for column in study.plan.table.of_role(*SHARED_ROLES) if column.name in study.people]
    decisions = tuple(_coded_decision(decision, codes, rename) for decision in study.decisions)
    return replace(
        study,
        plan=replace(study.plan, anonymous=True, names=""),
        signals=study.signals.rename(columns=codes),
        people=study.people[shared].rename(index=codes),
        ties=coded_survey(study.ties, codes),
        decisions=decisions,
        network=None if study.network is None else coded_ties(study.network, codes),
        names=study.names.iloc[:0],
        weights=None if study.weights is None else study.weights.rename(index=codes),
        benefit=None if study.benefit is None else study.benefit.rename(index=codes),
        missing=study.missing.rename(index=codes),
        silent=study.silent.rename(index=codes),
        key=key,
    )


def drawn_key(ids: Sequence[str]) -> dict[str, str]:
    """Return the id of each code, in an order that is drawn anew."""
    order = np.random.default_rng(secrets.randbits(128)).permutation(len(ids))
    width = len(str(len(ids)))
    return {f"P{number + 1:0{width}d}": ids[place] for number, place in enumerate(order)}


def coded_text(codes: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces ids in a sentence; an id of digits alone only in quotation marks or after "of"."""
    words = sorted((person for person in codes if not person.isdecimal()), key=len, reverse=True)
    if words:
        parts = [rf"(?<![^\W_])(?:{'|'.join(map(re.escape, words))})(?![^\W_])"]
    else:
        parts = []
    if len(words) < len(codes):
        parts.append(r"(?<=')\d+(?=')|(?<=\bof )\d+\b|(?<=\bfor )\d+\b")
    pattern = re.compile("|".join(parts))
    return lambda text: pattern.sub(lambda match: codes.get(match[0], match[0]), text)


def _coded_decision(decision: Decision, codes: Mapping[str, str], rename: Callable[[str], str]) -> Decision:
    if decision.kind in ("spelling", "misspelt", "outside"):  # names that people wrote
        return replace(decision, reason=decision.reason.partition(":")[0])
    columns = tuple(codes.get(column, column) for column in decision.columns)
    return replace(decision, columns=columns, reason=rename(decision.reason))


def coded_survey(survey: TieSurvey, codes: Mapping[str, str]) -> TieSurvey:
    """Return what people said about ties with codes for their names."""
    changes: dict[str, Any] = {}
    for name in ("traits", "counts", "at_least", "n_ties", "n_ties_at_least", "places", "groups"):
        changes[name] = getattr(survey, name).rename(index=codes)
    for name in ("reports", "asked", "known", "pairs"):
        table = getattr(survey, name)
        changes[name] = coded_ties(table, codes)
    names = np.array([codes[str(person)] for person in survey.names], dtype=object)
    rename = coded_text(codes)
    decisions = tuple(_coded_decision(decision, codes, rename) for decision in survey.decisions)
    return replace(survey, names=names, complete=[codes[p] for p in survey.complete], decisions=decisions, **changes)


def coded_ties(ties: Any, codes: Mapping[str, str]) -> Any:
    """Return a network or a table of ties with codes for the names of their ends."""
    if isinstance(ties, pd.DataFrame):
        ends = [end for end in ("respondent", "source", "target") if end in ties]
        return ties.assign(**{end: ties[end].map(lambda name: codes.get(name, name)) for end in ends})
    return nx.relabel_nodes(ties, dict(codes))


def write_key(key: Mapping[str, str], path: Path) -> None:
    """Write which id each code stands for, to a file that its owner alone may read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    table = pd.DataFrame({"code": list(key), "id": list(key.values())})
    table.to_csv(path, index=False)


def read_key(path: Path) -> dict[str, str]:
    """Read which id each code stands for.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "key.csv"
    >>> write_key({"P1": "007", "P2": "ann"}, file)
    >>> read_key(file), oct(file.stat().st_mode & 0o777)
    ({'P1': '007', 'P2': 'ann'}, '0o600')
    """
    if not path.is_file():
        raise InputError(f"{path} is not there: people have codes in this network, and its key says who they are")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return dict(zip(table["code"], table["id"], strict=True))
