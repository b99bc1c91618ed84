"""How well a fit predicts whom hidden respondents named: scores and calibration on a survey's own people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..metrics import scikit_metrics
from ..tie_survey import TieSurvey
from ..validation import Array

EDGES = np.array([0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0])  # of the bins of the calibration curve


@dataclass(frozen=True)
class HeldOut:
    """How well it was predicted whom respondents named whose reports were hidden.

    Attributes
    ----------
    n_respondents, n_reports : how many respondents were hidden in turn, and how many names they gave
    average_precision, auc, log_loss : of the probabilities that they name each other person
    chance : the share of pairs with a name: the average precision of a random order
    calibration : DataFrame with predicted and observed shares, and the number of pairs of each bin
    """

    n_respondents: int
    n_reports: int
    average_precision: float
    auc: float
    log_loss: float
    chance: float
    calibration: pd.DataFrame

    def __str__(self) -> str:
        return (
            f"{self.n_respondents} respondents hidden in turn, who gave {self.n_reports:,} names: average precision "
            f"{self.average_precision:.3f} (chance {self.chance:.3f}), AUC {self.auc:.3f}, log loss {self.log_loss:.4f}"
        )


def folds(survey: TieSurvey, n_folds: int, seed: int) -> Iterator[tuple[TieSurvey, Array]]:
    """Yield surveys without the reports of a share of the respondents, and the numbers of these respondents.

    The hidden ones count as people who were not asked, in every wave and relation.
    """
    respondents = survey.respondents
    order = np.random.default_rng(seed).permutation(len(respondents))
    for fold in range(n_folds):
        hidden = respondents[order[fold::n_folds]]
        reports = survey.reports[~survey.reports["respondent"].isin(hidden)]
        asked = survey.asked[~survey.asked["respondent"].isin(hidden)]
        visible = replace(
            survey, reports=reports.reset_index(drop=True), asked=asked.reset_index(drop=True), decisions=()
        )
        yield visible, survey.index.places(hidden)


def named_matrix(survey: TieSurvey, wave: str) -> Array:
    """Return whether each person (row) named each other one in a wave, in any relation."""
    n = len(survey.names)
    inside = survey.reports[survey.reports["target"].notna() & (survey.reports["wave"] == wave)]
    people = survey.index
    respondent = people.places(inside["respondent"])
    source = people.places(inside["source"])
    target = people.places(inside["target"])
    named = np.zeros((n, n), dtype=bool)
    named[respondent, np.where(source == respondent, target, source)] = True
    return named


def scored(named: Array, predicted: Array, n_respondents: int) -> HeldOut:
    """Return the scores of predicted probabilities of names."""
    p = np.clip(predicted, 1e-9, 1.0 - 1e-9)
    log_loss = -np.mean(np.where(named, np.log(p), np.log1p(-p)))
    bins = np.clip(np.digitize(predicted, EDGES) - 1, 0, len(EDGES) - 2)
    table = pd.DataFrame({"bin": bins, "predicted": predicted, "observed": named.astype(float)})
    calibration = table.groupby("bin").agg(
        predicted=("predicted", "mean"), observed=("observed", "mean"), pairs=("observed", "size")
    )
    average_precision = auc = np.nan
    if 0 < named.sum() < len(named):
        scores = scikit_metrics()
        average_precision = float(scores.average_precision_score(named, predicted))
        auc = float(scores.roc_auc_score(named, predicted))
    return HeldOut(
        n_respondents=n_respondents,
        n_reports=int(named.sum()),
        average_precision=average_precision,
        auc=auc,
        log_loss=float(log_loss),
        chance=float(named.mean()),
        calibration=calibration.reset_index(drop=True),
    )
