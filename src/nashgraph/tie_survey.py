"""TieSurvey: everything that people said about their ties, and what is known about pairs, as one checked value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from .decisions import Decision
from .matching import NameIndex, name_text
from .tie_tables import (
    Counts,
    check_countable,
    in_people_order,
    labels_of,
    objects,
    people_of,
    read_asked,
    read_claims,
    read_counts,
    read_numbers,
    read_reports,
    read_room,
    unique_columns,
    with_ends,
)
from .validation import Array, InputError, InputTypeError, listing

MOST_TRAITS = 100  # 5,151 mixing terms, whose Hessian takes 212 MB
MOST_KNOWN_PAIRS = 50_000_000  # 1.2 GB of numbers
PAIR_FORMS = "give a table with the columns source, target and at least one column of numbers"


@dataclass(frozen=True, eq=False, repr=False)
class TieSurvey:
    """What people said about their ties, in one order of people, with the names as text in every index.

    :meth:`of` makes it from tables as people have them. Tables of people have a row for every person.

    Attributes
    ----------
    names : array of objects, the people as the user calls them
    traits : table of numbers; a trait that is counted is 1 where a person has it, else 0
    counts : table of how many ties with the trait of each column; NaN where it was not asked
    at_least : table of the shape of ``counts``, true for answers such as "10+"
    n_ties, n_ties_at_least : Series, how many ties in all
    reports : table with respondent, source, target, relation and wave
        The respondent said that there is a tie from source to target. The target None is somebody outside the table,
        who takes up room in a list. Relation and wave are "" where there is only one.
    asked : table with respondent, relation and wave ("": all of them): who was asked for names
    room : dict from relation to the number of names that a list had room for
    known : table with source, target and tie (true or false), each pair once
    complete : list of people all of whose ties are in ``known``; any other pair of theirs is no tie
    places : table of numbers, coordinates or a house number; NaN where not known
    groups : table of memberships (household, hamlet, class); None where not known
    pairs : table with source, target and covariates of the pair; other pairs have 0
    wave : the wave whose network is wanted; the last by default
    decisions : what was added up, left out or looks wrong

    Examples
    --------
    >>> survey = TieSurvey.of(reports={"ann": ["bob"], "bob": ["ann", "cat"]}, names=["ann", "bob", "cat"])
    >>> survey
    <TieSurvey: 3 people, 2 asked for names, 3 reports>
    >>> survey.respondents.tolist()
    ['ann', 'bob']
    """

    names: Array
    traits: pd.DataFrame
    counts: pd.DataFrame
    at_least: pd.DataFrame
    n_ties: pd.Series
    n_ties_at_least: pd.Series
    reports: pd.DataFrame
    asked: pd.DataFrame
    room: Mapping[str, int]
    known: pd.DataFrame
    complete: list[str]
    places: pd.DataFrame
    groups: pd.DataFrame
    pairs: pd.DataFrame
    wave: str | None = None
    decisions: tuple[Decision, ...] = field(default=())

    @classmethod
    def of(
        cls,
        names: Iterable[Any] | None = None,
        *,
        traits: Any = None,
        counts: Any = None,
        n_ties: Any = None,
        reports: Any = None,
        asked: Any = None,
        room: int | Mapping[str, int] | None = None,
        known: Any = None,
        places: Any = None,
        groups: Any = None,
        pairs: Any = None,
        wave: Any = None,
        outside: str = "refuse",
    ) -> TieSurvey:
        """Check tables and bring them into one order of people.

        Names match by their text, and 5.0 is 5. Without ``names``, the people are those of the first table with a row
        for every person (traits, places, groups, n_ties, counts), else all whom reports and known ties name.
        ``outside="keep"`` keeps reports about people who are not among them; else they are refused.
        """
        return _Reading(
            names, (traits, places, groups, n_ties, counts), reports, asked, known, outside == "keep"
        ).survey(traits, counts, n_ties, room, places, groups, pairs, wave)

    def __repr__(self) -> str:
        parts = [f"{len(self.names):,} people"]
        if self.counts.shape[1]:
            parts.append(f"{self.counts.shape[1]} traits counted")
        if self.n_ties.notna().any():
            parts.append(f"{int(self.n_ties.notna().sum()):,} numbers of ties")
        if len(self.asked):
            parts.append(f"{len(self.respondents):,} asked for names")
            parts.append(f"{len(self.reports):,} reports")
        if len(self.known) or self.complete:
            parts.append(f"{len(self.known):,} known pairs")
        sizes = {"places": self.places, "groups": self.groups, "covariates of pairs": self.pairs.iloc[:, 2:]}
        parts.extend(f"{name}: {', '.join(map(str, table.columns))}" for name, table in sizes.items() if table.shape[1])
        if len(self.waves) > 1:
            parts.append(f"{len(self.waves)} waves")
        return f"<TieSurvey: {', '.join(parts)}>"

    def updated(self, *, known: Any = None, room: int | Mapping[str, int] | None = None) -> TieSurvey:
        """Return this survey with other known ties, or with room for so many names."""
        changes: dict[str, Any] = {}
        if known is not None:
            other = TieSurvey.of(self.names, known=known)
            changes = {"known": other.known, "complete": other.complete}
        if room is not None:
            changes["room"] = read_room(room, self.reports)
        return replace(self, **changes)

    @property
    def respondents(self) -> Array:
        """Names of those who were asked for names."""
        return objects(dict.fromkeys(self.asked["respondent"]))

    @property
    def relations(self) -> list[str]:
        """The relations that were asked about; one that is called "" where there is only one."""
        return labels_of(pd.concat([self.reports["relation"], self.asked["relation"]])) or [""]

    @property
    def waves(self) -> list[str]:
        """The waves, in order; one that is called "" where there is only one."""
        return labels_of(self.reports["wave"]) or [""]

    @property
    def wave_wanted(self) -> str:
        """The wave whose network is wanted: the one that was chosen, or the last."""
        return self.waves[-1] if self.wave is None else self.wave

    @property
    def answered(self) -> Array:
        """Who told anything about ties: a flag for each person."""
        answered = self.counts.notna().any(axis=1).to_numpy() | self.n_ties.notna().to_numpy()
        answered |= np.isin(self.index.texts, self.asked["respondent"].to_numpy(dtype=object).astype(str))
        return answered | np.isin(self.index.texts, self.complete)

    @property
    def index(self) -> NameIndex:
        """Who a label means."""
        return NameIndex(self.names)


class _Reading:
    """One reading of tables: the people, and the decisions taken on the way."""

    def __init__(
        self,
        names: Iterable[Any] | None,
        tables: tuple[Any, ...],
        reports: Any,
        asked: Any,
        known: Any,
        keep_outside: bool,
    ) -> None:
        self.decisions: list[Decision] = []
        self.keep_outside = keep_outside
        if isinstance(known, Iterator):
            known = list(known)  # it is read twice
        given = read_reports(reports)
        self.table = given.table
        self.asked = read_asked(given.respondents)
        if asked is not None:
            self.asked = pd.concat([read_asked(asked), self.asked], ignore_index=True)
        if names is None:
            names = people_of(tables, self.table, self.asked, known)
        self.names = objects(names)
        self.people = NameIndex(self.names)
        self.claims = read_claims(known, self.people)

    def survey(
        self, traits: Any, counts: Any, n_ties: Any, room: Any, places: Any, groups: Any, pairs: Any, wave: Any
    ) -> TieSurvey:
        """Return the checked value."""
        T = self.traits(traits)
        numbers = self.counts(counts, T)
        ties = self.n_ties(n_ties)
        reports = self.reports()
        known, complete = self.known()
        coordinates = pd.DataFrame(index=T.index)
        if places is not None:
            coordinates = read_numbers("places", in_people_order("places", places, self.people))
        memberships = pd.DataFrame(index=T.index)
        if groups is not None:
            memberships = in_people_order("groups", groups, self.people).astype(object)
            memberships = memberships.where(memberships.notna(), None)
        survey = TieSurvey(
            names=self.names,
            traits=T,
            counts=numbers.values,
            at_least=numbers.at_least,
            n_ties=ties.values.iloc[:, 0],
            n_ties_at_least=ties.at_least.iloc[:, 0],
            reports=reports,
            asked=self.respondents(reports),
            room=read_room(room, reports),
            known=known,
            complete=complete,
            places=coordinates,
            groups=memberships,
            pairs=self.pairs(pairs),
            wave=None if wave is None else name_text(wave),
        )
        if survey.wave is not None and survey.wave not in survey.waves:
            raise InputError(
                f"wave={wave!r} is not among the waves of the reports: {listing(survey.waves)}",
                parameter="wave",
                value=wave,
            )
        self.note_contradictions(survey)
        object.__setattr__(survey, "decisions", tuple(self.decisions))
        return survey

    def decide(self, kind: str, columns: Iterable[object], reason: str) -> None:  # what was done with odd data
        """Remember what was done with data that are not as expected."""
        self.decisions.append(Decision(kind, tuple(map(str, columns)), reason, unsure=True))

    # ------------------------------------------------------------------------------ tables of people

    def traits(self, traits: Any) -> pd.DataFrame:
        """Return the traits as numbers, a column for each."""
        if traits is None:
            return pd.DataFrame(index=pd.Index(self.people.texts, dtype=object))
        table = in_people_order("traits", traits, self.people)
        try:
            values = table.astype(float)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"traits must be numbers, 1 where a node has the trait and 0 where not ({error}): "
                "pandas.get_dummies(traits) makes such columns of words",
                parameter="traits",
            ) from error
        gaps = ~np.isfinite(values.to_numpy())
        if gaps.any():
            row, column = np.argwhere(gaps)[0]
            raise InputError(
                f"traits has a gap for {self.names[row]} in {table.columns[column]!r} ({int(gaps.sum())} such cells): "
                "fill it in, or leave the trait out; counts may have gaps, traits may not",
                parameter="traits",
            )
        if values.shape[1] > MOST_TRAITS:
            raise InputError(
                f"traits has {values.shape[1]} columns, and at most {MOST_TRAITS} can be fitted, because memory grows "
                "with the fourth power of their number: keep those that people were asked about",
                parameter="traits",
            )
        return values.set_axis(unique_columns("traits", values), axis=1)

    def counts(self, counts: Any, traits: pd.DataFrame) -> Counts:
        """Return how many ties people have with each trait, or say which columns cannot be that."""
        if counts is None:
            empty = pd.DataFrame(index=traits.index)
            return Counts(empty, empty.astype(bool))
        table = counts
        if not isinstance(counts, pd.DataFrame):
            table = pd.DataFrame(counts)
            table.columns = traits.columns[: table.shape[1]]
        if unknown := [name for name in table.columns if name_text(name) not in traits]:
            raise InputError(
                f"counts has columns that are not traits: {listing(unknown)}; the traits are "
                f"{listing(traits.columns)}: name each column of counts like the column of traits that it counts",
                parameter="counts",
                value=unknown,
            )
        table = in_people_order("counts", table, self.people)
        numbers = read_counts("counts", table.set_axis(unique_columns("counts", table), axis=1))
        check_countable(traits[numbers.values.columns])
        return numbers

    def n_ties(self, n_ties: Any) -> Counts:
        """Return everybody's number of ties."""
        if n_ties is None:
            index = pd.Index(self.people.texts, dtype=object)
            numbers = pd.DataFrame({"n_ties": np.nan}, index=index)
            return Counts(numbers, numbers.notna())
        table = in_people_order("n_ties", n_ties, self.people)
        if table.shape[1] != 1:
            raise InputError(f"n_ties must be one column, got {table.shape[1]}", parameter="n_ties")
        return read_counts("n_ties", table.set_axis(["n_ties"], axis=1))

    def note_contradictions(self, survey: TieSurvey) -> None:
        """Note how many people gave counts that cannot all be right: people forget and miscount."""
        n = len(self.names)
        holders = survey.traits[survey.counts.columns].to_numpy()
        others = holders.sum(axis=0) - holders
        ties = survey.n_ties.where(~survey.n_ties_at_least).to_numpy()
        counts = survey.counts.to_numpy()
        too_many = (counts > others).any(axis=1) | (survey.n_ties.to_numpy() > n - 1)
        if too_many.any():
            self.decide(
                "more_than_others",
                self.names[too_many],
                f"{int(too_many.sum())} people told of more ties than there are others whom they could mean (for "
                f"example {self.names[too_many][0]}); these counts are taken as errors: check whether ties to people "
                "outside the table were counted",
            )
        more = ((counts > ties[:, None]) & ~survey.at_least.to_numpy(dtype=bool)).any(axis=1)
        if more.any():
            self.decide(
                "contradicting_counts",
                self.names[more],
                f"{int(more.sum())} people told of more ties with a trait than ties in all (for example "
                f"{self.names[more][0]}); both counts are used, as answers with errors",
            )

    # ------------------------------------------------------------------------------ reports

    def reports(self) -> pd.DataFrame:
        """Return the reports with names as the people are called, each once."""
        table = self.table.copy()
        people = self.people
        texts = people.texts
        lost: list[Any] = []
        for column in ("respondent", "source", "target"):
            places = people.places(table[column])
            stranger = (places < 0) & table[column].notna().to_numpy()
            lost += table.loc[stranger, column].tolist()
            called = [None if place < 0 else texts[place] for place in places]
            table[column] = pd.Series(called, index=table.index, dtype=object)  # None, not NaN
        unknown = list(dict.fromkeys(name_text(label) for label in lost))
        if unknown and not self.keep_outside:
            raise InputError(
                f"reports have {len(unknown)} name(s) that are not people: {listing(unknown)}; correct the spelling, "
                "or leave out names of people outside the table",
                parameter="reports",
                value=unknown,
            )
        if unknown:
            self.decide("outside", unknown, f"{len(unknown)} name(s) in reports are not among the people")
        table = table[table["respondent"].notna() & table["source"].notna()]
        loops = table["source"] == table["target"]
        if loops.any():
            people_named = table.loc[loops, "respondent"].unique()
            self.decide(
                "named_themselves", people_named, f"{listing(people_named)} named themselves; these names are left out"
            )
            table = table[~loops]
        for column in ("relation", "wave"):
            table[column] = table[column].map(lambda label: "" if pd.isna(label) else name_text(label))
        twice = table.duplicated() & table["target"].notna()
        if twice.any():
            self.decide("repeated", (), f"{int(twice.sum())} reports say the same as another one; they count once")
        return table[~twice].reset_index(drop=True)

    def respondents(self, reports: pd.DataFrame) -> pd.DataFrame:
        """Return who was asked for names: those listed, and everybody who reported something."""
        asked = self.asked.copy()
        places = self.people.places(asked["respondent"])
        if (places < 0).any():
            strangers = asked.loc[places < 0, "respondent"].tolist()
            raise InputError(
                f"asked has {len(strangers)} name(s) that are not people: {listing(strangers)}; write names alike",
                parameter="asked",
                value=strangers,
            )
        asked["respondent"] = objects(self.people.texts[place] for place in places)
        for column in ("relation", "wave"):
            asked[column] = asked[column].map(lambda label: "" if pd.isna(label) else name_text(label))
        everywhere = asked[(asked["relation"] == "") & (asked["wave"] == "")]
        partly = asked[(asked["relation"] != "") | (asked["wave"] != "")]
        everywhere = everywhere[~everywhere["respondent"].isin(partly["respondent"])]
        asked = pd.concat([partly, everywhere], ignore_index=True)
        missing = reports.loc[~reports["respondent"].isin(asked["respondent"]), ["respondent"]]
        asked = pd.concat([asked, missing.assign(relation="", wave="")], ignore_index=True)
        return asked.drop_duplicates(ignore_index=True)

    # ------------------------------------------------------------------------------ pairs

    def known(self) -> tuple[pd.DataFrame, list[str]]:
        """Return known pairs, without direction and each once, and the people all of whose ties are known."""
        texts = self.people.texts
        labels = [label for one, other, _ in self.claims.pairs for label in (one, other)]
        places = self.people.places([*labels, *self.claims.complete])
        if (places < 0).any():
            strangers = [
                label for label, place in zip([*labels, *self.claims.complete], places, strict=True) if place < 0
            ]
            unknown = list(dict.fromkeys(strangers))
            raise InputError(
                f"known names {len(unknown)} node(s) that are not people: {listing(unknown)}; the people are "
                f"{listing(texts)}: leave the strangers out, or write them alike",
                parameter="known",
                value=unknown,
            )
        ends = places[: len(labels)].reshape(-1, 2)
        if (loops := ends[ends[:, 0] == ends[:, 1], 0]).size:
            raise InputError(f"known has a tie of {texts[loops[0]]} with itself: leave it out", parameter="known")
        one = ends.min(axis=1)
        other = ends.max(axis=1)
        tied = np.array([tie for *_, tie in self.claims.pairs], dtype=bool)
        table = pd.DataFrame({"one": one, "other": other, "tie": tied}).drop_duplicates()
        both = table[table.duplicated(["one", "other"])]
        if len(both):
            shown = listing(
                f"{texts[one]} - {texts[other]}" for one, other in zip(both["one"], both["other"], strict=True)
            )
            raise InputError(
                f"known says of {len(both)} pair(s) that they are tied and that they are not: {shown}; keep one of the "
                "two",
                parameter="known",
            )
        complete = list(dict.fromkeys(texts[place] for place in places[len(labels) :]))
        if len(complete) * len(texts) > MOST_KNOWN_PAIRS:
            raise InputError(
                f"known has all ties of {len(complete):,} of {len(texts):,} nodes, too many pairs to list: leave some "
                "out, or pass n_ties and counts",
                parameter="known",
            )
        columns = {
            "source": [texts[place] for place in table["one"]],
            "target": [texts[place] for place in table["other"]],
        }
        return pd.DataFrame({**columns, "tie": table["tie"].to_numpy()}), complete

    def pairs(self, pairs: Any) -> pd.DataFrame:
        """Return covariates of pairs, each pair once."""
        if pairs is None:
            return pd.DataFrame(columns=["source", "target"], dtype=object)
        if not isinstance(pairs, pd.DataFrame):
            raise InputTypeError(f"pairs cannot be a {type(pairs).__name__}: {PAIR_FORMS}", parameter="pairs")
        table = with_ends("pairs", pairs, PAIR_FORMS)
        covariates = table.drop(columns=["source", "target"])
        if not covariates.shape[1]:
            raise InputError(f"pairs has no column of numbers: {PAIR_FORMS}", parameter="pairs")
        one = self.people.places(table["source"])
        other = self.people.places(table["target"])
        strangers = [*table["source"][one < 0], *table["target"][other < 0]]
        if strangers:
            raise InputError(
                f"pairs has {len(strangers)} name(s) that are not people: {listing(dict.fromkeys(strangers))}; write "
                "names alike, or leave these rows out",
                parameter="pairs",
                value=strangers,
            )
        texts = objects(self.people.texts)
        ends = pd.DataFrame({"source": texts[np.minimum(one, other)], "target": texts[np.maximum(one, other)]})
        values = read_numbers("pairs", covariates).fillna(0.0).reset_index(drop=True)
        whole = pd.concat([ends, values], axis=1).drop_duplicates(ignore_index=True)
        if whole.duplicated(["source", "target"]).any():
            first = whole[whole.duplicated(["source", "target"])].iloc[0]
            raise InputError(
                f"pairs has two rows with different values for {first['source']} - {first['target']}: keep one",
                parameter="pairs",
            )
        return whole[whole["source"] != whole["target"]].reset_index(drop=True)
