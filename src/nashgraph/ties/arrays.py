"""A TieSurvey and signals in node numbers: what the mathematics of the tie model works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..tie_survey import TieSurvey
from ..validation import Array, InputError, listing


@dataclass(frozen=True, eq=False, repr=False)
class TieArrays:
    """Everything that is known of n people and their ties, by their numbers 0 to n − 1.

    Attributes
    ----------
    names : array of objects
    signals : array of shape (n, M), standardised, with 0 for gaps
    signal_questions : the number of the question that each column belongs to (a category has a column for each value)
    question_names : list of str
    traits : array of shape (n, T)
    counts, counts_at_least : arrays of shape (n, T): how many ties have the trait (NaN: not asked), or more
    n_ties, n_ties_at_least : arrays of shape (n,)
    respondent, source, target, relation, wave : arrays with an entry for each report
        The target −1 is somebody outside the table.
    asked : array of shape (n, number of relations, number of waves), true for those who were asked for names
    room : how many names a list had room for, by relation; −1 for no limit
    known_one, known_other, known_value : known pairs, each once, the smaller number first
        All pairs of the people in ``complete`` are among them.
    places : array of shape (n, number of coordinates), NaN where not known
    groups : array of shape (n, number of kinds of groups), −1 where not known
    pair_one, pair_other, pair_values : covariates of pairs; other pairs have 0
    """

    names: Array
    signals: Array
    signal_questions: Array
    question_names: list[str]
    traits: Array
    trait_names: list[str]
    counts: Array
    counts_at_least: Array
    n_ties: Array
    n_ties_at_least: Array
    respondent: Array
    source: Array
    target: Array
    relation: Array
    wave: Array
    relations: list[str]
    waves: list[str]
    asked: Array
    room: Array
    known_one: Array
    known_other: Array
    known_value: Array
    complete: Array
    places: Array
    place_names: list[str]
    groups: Array
    group_names: list[str]
    pair_one: Array
    pair_other: Array
    pair_values: Array
    pair_names: list[str]

    @property
    def n(self) -> int:
        """The number of people."""
        return len(self.names)

    @cached_property
    def features(self) -> Array:
        """The features Z = (1, T) of everybody: what answers count."""
        return np.hstack([np.ones((self.n, 1)), self.traits])

    @property
    def labels(self) -> list[str]:
        """Names of the counted features: ties, and those with each trait."""
        return ["ties", *self.trait_names]

    @cached_property
    def answers(self) -> Array:
        """The counts of ties by feature, NaN where not asked."""
        return np.column_stack([self.n_ties, self.counts])

    @cached_property
    def at_least(self) -> Array:
        """Which of the answers are "so many or more"."""
        return np.column_stack([self.n_ties_at_least, self.counts_at_least])

    def with_known(self, p: Array, rows: Array) -> Array:
        """Set the known pairs in rows of probabilities to 1 and 0, and the diagonal to 0; in place."""
        place = np.full(self.n, -1)
        place[rows] = np.arange(len(rows))
        for one, other in ((self.known_one, self.known_other), (self.known_other, self.known_one)):
            mine = place[one] >= 0
            p[place[one[mine]], other[mine]] = self.known_value[mine]
        p[np.arange(len(rows)), rows] = 0.0
        return p

    def known_ties(self) -> tuple[Array, Array]:
        """Return the ends of the known ties, in both directions."""
        tied = self.known_value > 0
        one = self.known_one[tied]
        other = self.known_other[tied]
        return np.concatenate([one, other]), np.concatenate([other, one])


def tie_arrays(survey: TieSurvey, X: Any = None) -> TieArrays:
    """Return a survey and signals (rows are signals, columns are people) in node numbers."""
    people = survey.index
    signals, questions, question_names = read_signals(X, survey)
    one, other, value, complete = _known_pairs(survey)
    reports = survey.reports
    relations = survey.relations
    waves = survey.waves
    trait_names = [str(name) for name in survey.traits.columns]
    counts = survey.counts.reindex(columns=trait_names)
    at_least = np.zeros(counts.shape, dtype=bool)
    for k, name in enumerate(trait_names):
        if name in survey.at_least:
            at_least[:, k] = survey.at_least[name].to_numpy(dtype=bool)
    targets = [-1 if target is None else people.place(target) for target in reports["target"]]
    groups = [_codes(column) for _, column in survey.groups.items()]
    return TieArrays(
        names=survey.names,
        signals=signals,
        signal_questions=questions,
        question_names=question_names,
        traits=survey.traits.to_numpy(dtype=float),
        trait_names=trait_names,
        counts=counts.to_numpy(dtype=float),
        counts_at_least=at_least,
        n_ties=survey.n_ties.to_numpy(dtype=float),
        n_ties_at_least=survey.n_ties_at_least.to_numpy(dtype=bool),
        respondent=people.places(reports["respondent"]),
        source=people.places(reports["source"]),
        target=np.array(targets, dtype=np.int64),
        relation=_places_in(relations, reports["relation"]),
        wave=_places_in(waves, reports["wave"]),
        relations=relations,
        waves=waves,
        asked=_asked(survey, relations, waves),
        room=np.array([survey.room.get(relation, survey.room.get("", -1)) for relation in relations], dtype=np.int64),
        known_one=one,
        known_other=other,
        known_value=value,
        complete=complete,
        places=survey.places.to_numpy(dtype=float),
        place_names=[str(name) for name in survey.places.columns],
        groups=np.column_stack(groups) if groups else np.zeros((len(survey.names), 0), dtype=np.int64),
        group_names=[str(name) for name in survey.groups.columns],
        pair_one=people.places(survey.pairs["source"]),
        pair_other=people.places(survey.pairs["target"]),
        pair_values=survey.pairs.iloc[:, 2:].to_numpy(dtype=float),
        pair_names=[str(name) for name in survey.pairs.columns[2:]],
    )


def read_signals(X: Any, survey: TieSurvey) -> tuple[Array, Array, list[str]]:
    """Return standardised signals, a column each, the question of each column, and the questions' names.

    Columns that are the same for everybody say nothing and are left out.
    """
    n = len(survey.names)
    if X is None:
        return np.zeros((n, 0)), np.zeros(0, dtype=np.int64), []
    table = X.T if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X, dtype=float).T)
    if len(table) != n:
        raise InputError(
            f"X has {len(table)} nodes (columns) and the other tables have {n}: give all for the same nodes",
            parameter="X",
        )
    if isinstance(X, pd.DataFrame):
        table = table.iloc[_order_of_signals(table.index, survey)]
    values = table.to_numpy(dtype=float)
    values = values - np.nanmean(values, axis=0)
    deviation = np.nanstd(values, axis=0)
    varies = deviation > 0
    values = np.nan_to_num(values[:, varies] / deviation[varies])
    if not values.shape[1]:
        raise InputError(
            "X is the same for every node in every signal, so it says nothing of likeness: leave it out", parameter="X"
        )
    # "job=weaver" and "job=farmer" are two columns of one question.
    questions = [str(name).partition("=")[0] for name in table.columns[varies]]
    if isinstance(X, pd.DataFrame):
        names = list(dict.fromkeys(questions))
        return values, np.array([names.index(question) for question in questions], dtype=np.int64), names
    return values, np.arange(values.shape[1]), [f"signal {k}" for k in np.flatnonzero(varies)]


def _order_of_signals(columns: pd.Index, survey: TieSurvey) -> Array:
    """Return where each person stands among the columns of X, by name if the columns have names."""
    people = survey.index
    places = people.places(columns)
    if (places < 0).any() and list(columns) == list(range(len(columns))):
        return np.arange(len(columns))  # a default index says nothing
    order = np.full(len(columns), -1)
    order[places[places >= 0]] = np.flatnonzero(places >= 0)
    if (order < 0).any():
        missing = survey.names[order < 0]
        raise InputError(
            f"X has no column for {listing(missing)}: name its columns like the rows of the other tables", parameter="X"
        )
    return order


def _known_pairs(survey: TieSurvey) -> tuple[Array, Array, Array, Array]:
    """Return the known pairs with those of complete people, and everybody all of whose pairs are known."""
    n = len(survey.names)
    people = survey.index
    one = people.places(survey.known["source"])
    other = people.places(survey.known["target"])
    keys = np.minimum(one, other) * n + np.maximum(one, other)
    tied = keys[survey.known["tie"].to_numpy(dtype=bool)]
    complete = np.unique(people.places(survey.complete))
    mine = np.repeat(complete, n)
    theirs = np.tile(np.arange(n), len(complete))
    rest = (np.minimum(mine, theirs) * n + np.maximum(mine, theirs))[mine != theirs]
    every = np.union1d(keys, rest)
    pairs_of = np.bincount(np.concatenate([every // n, every % n]), minlength=n)
    value = np.isin(every, tied).astype(float)
    return every // n, every % n, value, np.flatnonzero(pairs_of == n - 1)


def _asked(survey: TieSurvey, relations: Sequence[str], waves: Sequence[str]) -> Array:
    """Return who was asked about which relation in which wave; "" stands for all of them."""
    asked = np.zeros((len(survey.names), len(relations), len(waves)), dtype=bool)
    people = survey.index.places(survey.asked["respondent"])
    for person, relation, wave in zip(people, survey.asked["relation"], survey.asked["wave"], strict=True):
        which_relation = relations.index(relation) if relation in relations and relation else slice(None)
        which_wave = waves.index(wave) if wave in waves and wave else slice(None)
        asked[person, which_relation, which_wave] = True
    return asked


def _places_in(labels: Sequence[str], column: pd.Series) -> Array:
    place = {label: k for k, label in enumerate(labels)}
    return np.array([place[label] for label in column], dtype=np.int64)


def _codes(column: pd.Series) -> Array:
    codes, _ = pd.factorize(column.map(str, na_action="ignore"))
    return codes.astype(np.int64)
