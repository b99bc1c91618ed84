"""Options of the tie model's fit."""

from __future__ import annotations

from dataclasses import dataclass, field

from .reports import ReportPriors


@dataclass(frozen=True)
class TieOptions:
    """How the tie model is fitted.

    ``recall`` is the share of their ties that people name or count, if it is known. ``groups_share_ties`` says that
    the members of the finest group (a household) share classes of ties; ``group_most`` is the largest mean size of
    such a group. ``strong`` allows ties of two strengths, which needs groups to be told apart. ``calibrate`` corrects
    probabilities from counts by asking drawn networks.
    """

    recall: float | None = None
    error: float | None = None
    groups_share_ties: bool = True
    group_most: float = 8.0  # larger groups (hamlets, classes) are covariates of pairs
    strong: bool = True
    directed: bool = False
    priors: ReportPriors = field(default_factory=ReportPriors)
    known_recall_spread: float = 0.1  # of the log-odds of a recall that was given
    # Surveys in which people are alone (no households): five names each, 20% of them wrong, in four villages.
    popularity: float = 0.7  # spread of people's part in the log-odds of their ties
    popularity_counted: float = 0.4  # the same where people counted ties (9 villages)
    named_alone: float = 0.3  # spread of being named beyond that
    false_spreads_alone: tuple[float, ...] = (0.2, 2.0)  # everybody errs alike, or a few exaggerate: the likelier one
    wrong_names_alone: float = 0.1
    recall_alone: float = 0.5
    recall_alone_spread: float = 1.5  # of its log-odds: lists have room for 3 names or for 20
    tol: float = 1e-3
    max_iter: int = 300
    calibrate: bool = True
    seed: int = 0
