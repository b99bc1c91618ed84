"""Tables of answers about ties, checked and brought into the order of the people: numbers, names, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader
import numpy as np
import pandas as pd

from .matching import NameIndex, name_text
from .validation import Array, InputError, InputTypeError, listing

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

ALL = "*"  # in place of a target: all ties of the source are known
KNOWN_FORMS = (
    "give a table with the columns source, target (* says that all ties of the source are known) and, where there are "
    "non-ties, tie (1 or 0); a list of such rows; a networkx graph; or a dict with the lists 'ties', 'non_ties' and "
    "'nodes' (those whose ties are all known)"
)
REPORT_FORMS = (
    "give a table with the columns source and target (and respondent, relation, wave if there are any), a table with "
    "a row for every respondent and the names in its cells, or a dict from respondent to a list of names"
)
SYNONYMS = {"from": "source", "ego": "source", "to": "target", "alter": "target", "reporter": "respondent"}
TRUTHS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}


def objects(items: Iterable[Any]) -> Array:
    """Return items as an array of objects, because a name may be a tuple."""
    return pd.Series(list(items), dtype=object).to_numpy()


def in_people_order(what: str, table: Any, people: NameIndex) -> pd.DataFrame:
    """Return a table with a row for every person, matched by name, empty for those it does not have.

    Rows are taken in their order only if the table has no names: an array, or a default index where people have names.
    """
    rows = pd.DataFrame(table)
    numbered = [str(label) for label in rows.index] == [str(k) for k in range(len(rows))]
    named_by_number = set(people.texts) == {str(k) for k in range(len(people.texts))}
    if numbered and len(rows) == len(people.texts) and not (named_by_number and isinstance(table, _LABELLED)):
        return rows.set_axis(pd.Index(people.texts, dtype=object), axis=0)
    places = people.places(rows.index)
    strangers = [label for label, place in zip(rows.index, places, strict=True) if place < 0]
    if strangers:
        raise InputError(
            f"{what} has rows for {len(strangers)} person(s) who are not among the people: {listing(strangers)}; write "
            "names alike, or add these people to the table of traits",
            parameter=what,
            value=strangers,
        )
    if len(set(places.tolist())) < len(places):
        doubled = rows.index[pd.Series(places).duplicated().to_numpy()].unique()
        raise InputError(
            f"{what} has more than one row for {listing(doubled)}: give every person one row",
            parameter=what,
            value=list(doubled),
        )
    ordered = rows.set_axis(pd.Index(places), axis=0).reindex(range(len(people.texts)))
    return ordered.set_axis(pd.Index(people.texts, dtype=object), axis=0)


_LABELLED = (pd.DataFrame, pd.Series)


class Counts(NamedTuple):
    """Answers to "how many?", NaN where not asked, and which of them are "so many or more"."""

    values: pd.DataFrame
    at_least: pd.DataFrame


def read_counts(what: str, table: pd.DataFrame) -> Counts:
    """Return answers as numbers; "10+" is ten or more."""
    values = pd.DataFrame(index=table.index, columns=table.columns, dtype=float)
    at_least = pd.DataFrame(data=False, index=table.index, columns=table.columns)
    for place in range(table.shape[1]):
        numbers, open_ended = count_cells(table.iloc[:, place])
        wrong = ~np.isnan(numbers) & ((numbers < 0) | (numbers != np.round(numbers)))
        filled = table.iloc[:, place].notna().to_numpy() & (table.iloc[:, place].astype(str) != "").to_numpy()
        wrong |= np.isnan(numbers) & filled
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"{what} must be whole numbers of 0 or more, got {str(table.iloc[row, place])!r} for "
                f"{table.index[row]} in {table.columns[place]!r} ({int(wrong.sum())} such cells): leave a cell empty "
                "where the answer is not known, and write 10+ for ten or more",
                parameter=what,
                value=table.iloc[row, place],
            )
        values.iloc[:, place] = numbers
        at_least.iloc[:, place] = open_ended
    return Counts(values, at_least)


def count_cells(column: pd.Series) -> tuple[Array, Array]:
    """Return cells such as 3, "3", "10+" and "" as numbers (NaN: none), and where they end in a plus.

    Examples
    --------
    >>> count_cells(pd.Series(["3", "10+", "", "many"]))
    (array([ 3., 10., nan, nan]), array([False,  True, False, False]))
    """
    if column.dtype.kind in "iufb":
        return column.to_numpy(dtype=float), np.zeros(len(column), dtype=bool)
    texts = column.astype(object).where(column.notna(), "").map(lambda cell: str(cell).strip())
    open_ended = texts.map(lambda text: text.endswith("+")).to_numpy(dtype=bool)
    numbers = pd.to_numeric(texts.map(lambda text: text.rstrip("+")), errors="coerce")
    return numbers.to_numpy(dtype=float), open_ended


class Claims(NamedTuple):
    """Pairs of which it is known whether they are tied, and people all of whose ties are known, as labels."""

    pairs: list[tuple[Any, Any, bool]]
    complete: list[Any]


def read_claims(known: Any, people: NameIndex) -> Claims:
    """Return known pairs from a graph, a dict, a table or a list.

    The target ``*`` stands for all people, unless a person is called so.
    """
    if known is None:
        return Claims([], [])
    if isinstance(known, nx.Graph):
        complete = [node for node, whole in known.nodes(data="known") if whole]
        return Claims([(one, other, True) for one, other in known.edges()], complete)
    if isinstance(known, Mapping):
        if unknown := {*map(str, known)} - {"ties", "non_ties", "nodes"}:
            raise InputError(f"known has parts that are not known: {listing(sorted(unknown))}; {KNOWN_FORMS}")
        ties = [(*_claim(row)[:2], True) for row in known.get("ties", ())]
        non_ties = [(*_claim(row)[:2], False) for row in known.get("non_ties", ())]
        return Claims(ties + non_ties, list(known.get("nodes", ())))
    if isinstance(known, pd.DataFrame):
        table = with_ends("known", known, KNOWN_FORMS)
        columns = [name for name in ("source", "target", "tie") if name in table.columns]
        known = zip(*(table[name].tolist() for name in columns), strict=True)
    elif isinstance(known, str) or not isinstance(known, Iterable):
        raise InputTypeError(f"known cannot be a {type(known).__name__}: {KNOWN_FORMS}", parameter="known")
    claims = [_claim(row) for row in known]
    if ALL in people.exact:
        return Claims(claims, [])
    pairs = [claim for claim in claims if str(claim[1]) != ALL]
    return Claims(pairs, [claim[0] for claim in claims if str(claim[1]) == ALL])


def _claim(row: Any) -> tuple[Any, Any, bool]:
    """Return two people and whether they are tied."""
    parts = () if isinstance(row, str) or not isinstance(row, Iterable) else tuple(row)
    if len(parts) not in (2, 3):
        raise InputError(
            f"known has {row!r}, which is not a pair of people, with 1 or 0 for its tie or without; {KNOWN_FORMS}",
            parameter="known",
            value=row,
        )
    stated = len(parts) == 3 and not (str(parts[1]) == ALL and pd.isna(parts[2]))
    tied = TRUTHS.get(str(parts[2]).strip().lower()) if stated else True
    if tied is None and str(parts[1]) == ALL:
        tied = True
    if tied is None:
        raise InputError(
            f"known has the tie {parts[2]!r} for {parts[0]} and {parts[1]}: it must be 1 or 0",
            parameter="known",
            value=parts[2],
        )
    return parts[0], parts[1], tied


def with_ends(what: str, table: pd.DataFrame, forms: str) -> pd.DataFrame:
    """Return a table of pairs with the columns source and target in lower case, or say which forms there are."""
    names = [str(name).strip().lower() for name in table.columns]
    table = table.set_axis([SYNONYMS.get(name, name) for name in names], axis=1)
    if not {"source", "target"} <= {*table.columns}:
        raise InputError(
            f"{what} has the columns {listing(names)}, but it needs source and target; {forms}", parameter=what
        )
    return table


class Reports(NamedTuple):
    """Who said that a tie goes from whom to whom, by any label, and all who were asked, named somebody or not.

    The target None is somebody outside the table.
    """

    table: pd.DataFrame
    respondents: list[Any]


REPORT_COLUMNS = ["respondent", "source", "target", "relation", "wave"]


def read_reports(given: Any) -> Reports:
    """Return reports from a table of ties, a table with a row of names for every respondent, or a dict of lists."""
    if given is None:
        return Reports(pd.DataFrame(columns=REPORT_COLUMNS, dtype=object), [])
    if isinstance(given, pd.DataFrame) and _is_list_of_ties(given):
        table = with_ends("reports", given, REPORT_FORMS)
        if "respondent" not in table:
            table = table.assign(respondent=table["source"])
        for name in ("relation", "wave"):
            if name not in table:
                table = table.assign(**{name: ""})
        named = table["target"].notna() & table["source"].notna()
        respondents = list(dict.fromkeys(table["respondent"]))
        return Reports(table.loc[named, REPORT_COLUMNS].astype(object).reset_index(drop=True), respondents)
    rows: list[tuple[Any, Any, Any]] = []
    respondents = []
    for respondent, names in _lists(given):
        respondents.append(respondent)
        rows.extend((respondent, respondent, name) for name in names)
    table = pd.DataFrame(rows, columns=REPORT_COLUMNS[:3], dtype=object)
    return Reports(table.assign(relation="", wave="").astype(object), respondents)


def _is_list_of_ties(table: pd.DataFrame) -> bool:
    names = {str(name).strip().lower() for name in table.columns}
    return {"source", "target"} <= {SYNONYMS.get(name, name) for name in names}


def _lists(given: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Return every respondent with the names that they gave."""
    if isinstance(given, pd.DataFrame):
        for respondent, row in zip(given.index, given.to_numpy(dtype=object), strict=True):
            yield respondent, [name for name in row if not pd.isna(name) and str(name).strip()]
    elif isinstance(given, Mapping | pd.Series):
        for respondent, names in given.items():
            if isinstance(names, str) or not isinstance(names, Iterable):
                raise InputTypeError(
                    f"reports of {respondent} must be a list of names, got {names!r}", parameter="reports", value=names
                )
            yield respondent, list(names)
    else:
        raise InputTypeError(f"reports cannot be a {type(given).__name__}: {REPORT_FORMS}", parameter="reports")


def read_asked(asked: Any) -> pd.DataFrame:
    """Return the respondents, and the wave and relation of each if they are told ("": all)."""
    if isinstance(asked, pd.DataFrame) and "respondent" in {str(name).lower() for name in asked.columns}:
        table = asked.rename(columns=lambda name: str(name).lower())
        for name in ("relation", "wave"):
            if name not in table:
                table = table.assign(**{name: ""})
        return table[["respondent", "relation", "wave"]].astype(object).reset_index(drop=True)
    if isinstance(asked, pd.Series) and pd.api.types.is_bool_dtype(asked.dtype):
        asked = asked.index[asked.to_numpy(dtype=bool)]
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        raise InputTypeError(
            f"asked cannot be a {type(asked).__name__}: give the names of the people who were asked, a Series of True "
            "and False by name, or a table with the column respondent",
            parameter="asked",
        )
    return pd.DataFrame({"respondent": objects(asked), "relation": "", "wave": ""}, dtype=object)


def read_room(room: Any, reports: pd.DataFrame) -> dict[str, int]:
    """Return how many names a list had room for, by relation, or say who gave more."""
    if room is None:
        return {}
    relations = labels_of(reports["relation"]) or [""]
    by_relation = room if isinstance(room, Mapping) else dict.fromkeys(relations, room)
    most = {name_text(relation): int(names) for relation, names in by_relation.items()}
    sizes = reports.groupby(["relation", "wave", "respondent"], sort=False).size().reset_index(name="names")
    limit = sizes["relation"].map(most)
    if (longer := sizes[sizes["names"] > limit]).size:
        raise InputError(
            f"reports: {listing(longer['respondent'].unique())} gave more than max_names={listing(most.values())} "
            "names, so there was room for more; correct one of the two",
            parameter="max_names",
            value=room,
        )
    return most


def read_numbers(what: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of numbers, NaN where nothing is known."""
    try:
        return table.apply(pd.to_numeric).astype(float)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"{what} must be numbers ({error})", parameter=what) from error


def labels_of(column: pd.Series) -> list[str]:
    """Return the labels of relations or waves: in order where they are numbers, else as they come."""
    labels = list(dict.fromkeys(name_text(label) for label in column))
    numbers = pd.to_numeric(pd.Series(labels, dtype=object), errors="coerce")
    if numbers.notna().all():
        return [labels[place] for place in np.argsort(numbers.to_numpy(), kind="stable")]
    return labels


def unique_columns(what: str, table: pd.DataFrame) -> list[str]:
    """Return the names of columns as text, each of which may occur once."""
    names = [name_text(name) for name in table.columns]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"{what} has several columns of one name: {listing(doubled)}; rename them, or keep one",
            parameter=what,
            value=doubled,
        )
    return names


def check_countable(traits: pd.DataFrame) -> None:
    """Refuse to count traits that are not 0 or 1, or that nobody or everybody has."""
    for name, column in traits.items():
        if not column.isin((0.0, 1.0)).all():
            raise InputError(
                f"counts has {name!r}, whose trait is not 0 or 1: only people who have a trait can be counted",
                parameter="counts",
                value=name,
            )
        if column.nunique() < 2:
            who = "everybody" if column.all() else "nobody"
            other = "give these answers as n_ties" if column.all() else "check how the trait is coded"
            raise InputError(
                f"{who} has the trait {name!r}, so counting it says nothing of ties: {other}, or leave it out",
                parameter="counts",
                value=name,
            )


def people_of(tables: tuple[Any, ...], reports: pd.DataFrame, asked: pd.DataFrame, known: Any) -> list[Any]:
    """Return the people: the rows of the first table of people, else everybody who is named anywhere."""
    for table in tables:
        if isinstance(table, pd.DataFrame | pd.Series):
            if table.index.has_duplicates:
                doubled = table.index[table.index.duplicated()].unique()
                raise InputError(f"nodes have more than one row: {listing(doubled)}; give every node one row")
            return list(table.index)
    sizes = [len(table) for table in tables if table is not None]
    if sizes:
        return list(range(sizes[0]))
    labels = [*asked["respondent"], *reports["source"], *reports["target"]]
    if known is not None:
        claims = read_claims(known, NameIndex([]))
        labels += [label for one, other, _ in claims.pairs for label in (one, other)]
        labels += claims.complete
    by_text: dict[str, Any] = {}
    for label in labels:
        if not pd.isna(label):
            by_text.setdefault(name_text(label), label)
    if not by_text:
        raise InputError("nothing was given: pass traits, and counts or n_ties with one row for every node")
    return list(by_text.values())
