"""The names that hidden respondents give, in villages where the reporter of every tie is known.

Half of the respondents of a village are hidden. The model sees the others' reports, and predicts the
names that each hidden person gives among the surveyed people of other households. Development used twelve villages;
ten others, drawn beforehand, are reported here.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.arrays import tie_arrays
from nashgraph.ties.fit import TieFit, fit_ties
from nashgraph.ties.options import TieOptions
from nashgraph.validation import Array

REPORTED = (1, 8, 11, 15, 20, 21, 25, 32, 33, 37)  # villages set aside before anything was tried
DEVELOPED = (2, 3, 5, 7, 10, 14, 16, 19, 27, 29, 34, 36)


class Village(NamedTuple):
    """Surveyed people, with household numbers, and the reports: ``named[i, j]`` if i names j in any question."""

    number: int
    people: pd.DataFrame
    household: Array
    named: Array
    hidden: Array

    @property
    def scored(self) -> tuple[Array, Array]:
        """The pairs that are scored: hidden people with everybody of another household."""
        return np.nonzero(self.hidden[:, None] & (self.household[:, None] != self.household[None, :]))


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    folder = Path(os.environ["NASHGRAPH_DATA"]) / "reports"
    reports = pd.read_csv(folder / "reports.csv.gz")
    reports["other"] = np.where(reports["respondent"] == reports["source"], reports["target"], reports["source"])
    return reports[reports["source"] != reports["target"]], pd.read_csv(folder / "persons.csv.gz").set_index("pid")


def village(number: int) -> Village:
    reports, persons = tables()
    people = persons[(persons["village"] == number) & (persons["didsurv"] == 1)].copy()
    place = {person: k for k, person in enumerate(people.index)}
    mine = reports[reports["respondent"].isin(place) & reports["other"].isin(place)]
    named = np.zeros((len(people), len(people)), dtype=bool)
    named[mine["respondent"].map(place), mine["other"].map(place)] = True
    household = pd.factorize(people["hhid"])[0]
    named &= household[:, None] != household[None, :]
    # The number of the house is what follows the village's in the number of the household.
    people["house"] = people["hhid"] - 1000 * number
    known = people["caste"].where(people["caste"] != "DO NOT KNOW")
    people["caste"] = known.groupby(household).transform(lambda column: column.mode().get(0))
    people["religion"] = people["religion"].groupby(household).transform(lambda column: column.mode().get(0))
    hidden = np.zeros(len(people), dtype=bool)
    hidden[np.random.default_rng(number).permutation(len(people))[: len(people) // 2]] = True
    return Village(number, people, household, named, hidden)


def survey(case: Village) -> tuple[TieSurvey, pd.DataFrame]:
    """Return the survey without the hidden people's reports, and people's answers as signals."""
    names = [str(person) for person in case.people.index]
    one, other = np.nonzero(case.named & ~case.hidden[:, None])
    reports = pd.DataFrame(
        {
            "respondent": [names[k] for k in one],
            "source": [names[k] for k in one],
            "target": [names[k] for k in other],
        }
    )
    answers = pd.get_dummies(case.people[["gender", "resp_status", "caste", "religion"]], prefix_sep="=", dtype=float)
    answers["age"] = case.people["age"].fillna(case.people["age"].mean())
    made = TieSurvey.of(
        names,
        reports=reports,
        asked=[name for name, hidden in zip(names, case.hidden, strict=True) if not hidden],
        places=pd.DataFrame({"house": case.people["house"].to_numpy(dtype=float)}, index=names),
        groups=pd.DataFrame({"household": case.household}, index=names),
    )
    return made, answers.set_axis(names, axis=0).T


def fitted(case: Village, options: TieOptions | None = None) -> TieFit:
    made, answers = survey(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_ties(tie_arrays(made, answers), options or TieOptions())


def pair_features(case: Village, one: Array, other: Array) -> Array:
    """Return all that the model knows about whether one names other, as if one had not been asked."""
    people = case.people
    seen = case.named & ~case.hidden[:, None]
    asked = ~case.hidden
    codes = {name: pd.factorize(people[name])[0] for name in ("gender", "resp_status", "caste", "religion")}
    age = people["age"].fillna(people["age"].mean()).to_numpy()
    house = people["house"].to_numpy(dtype=float)
    size = np.bincount(case.household)[case.household]
    household = case.household
    between = np.zeros((household.max() + 1,) * 2)
    np.add.at(between, (household[:, None], household[None, :]), seen)
    to_household = np.zeros((len(people), household.max() + 1))
    np.add.at(to_household.T, household, seen.T)
    named = seen.sum(axis=0)
    naming = seen.sum(axis=1)
    house_named = np.bincount(household, named)
    house_naming = np.bincount(household, naming)
    house_asked = np.bincount(household, asked)
    g = household[one]
    h = household[other]
    own = seen[one, other]  # what one says itself is taken out everywhere
    columns = [-np.log1p(np.abs(house[one] - house[other])), np.abs(house[one] - house[other])]
    for code in codes.values():
        columns += [code[one] == code[other], code[one], code[other]]
    columns += [age[one], age[other], np.abs(age[one] - age[other]), size[one], size[other]]
    columns += [seen[other, one], between[g, h] - to_household[one, h], between[h, g]]
    columns += [to_household[other, g] - seen[other, one], asked[other], house_asked[g] - asked[one], house_asked[h]]
    columns += [named[other] - own, named[one], naming[other], house_named[h] - to_household[one, h], house_named[g]]
    columns += [house_naming[h], house_naming[g] - naming[one]]
    return np.column_stack(columns).astype(float)


def controls(cases: list[Village]) -> dict[str, list[Array]]:
    """Return scores of hidden people's pairs by village: classifiers learn from the visible respondents of all."""
    visible = []
    labels = []
    tested = []
    for case in cases:
        one, other = np.nonzero(~case.hidden[:, None] & (case.household[:, None] != case.household[None, :]))
        visible.append(pair_features(case, one, other))
        labels.append(case.named[one, other])
        tested.append(pair_features(case, *case.scored))
    classifiers = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "gradient boosting": HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=200, l2_regularization=1.0, min_samples_leaf=50, random_state=0
        ),
    }
    scores: dict[str, list[Array]] = {
        "distance of house numbers": [features[:, 0] for features in tested],
        "named back (and distance)": [features[:, 0] + 1e3 * features[:, 19] for features in tested],
    }
    for name, classifier in classifiers.items():
        classifier.fit(np.vstack(visible), np.concatenate(labels))
        scores[f"{name}, all villages"] = [classifier.predict_proba(features)[:, 1] for features in tested]
        alone = []
        for k in range(len(cases)):
            classifier.fit(visible[k], labels[k])
            alone.append(classifier.predict_proba(tested[k])[:, 1])
        scores[f"{name}, by village"] = alone
    return scores


def measured(case: Village, score: Array) -> list[float]:
    """Return average precision, AUC, and the log loss if scores are probabilities."""
    truth = case.named[case.scored]
    loss = log_loss(truth, np.clip(score, 1e-9, 1 - 1e-9)) if score.min() >= 0 and score.max() <= 1 else np.nan
    return [average_precision_score(truth, score), roc_auc_score(truth, score), loss]


def compare(numbers: tuple[int, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return means over villages for the model and all controls, and the model against the best control by village."""
    cases = [village(number) for number in numbers]
    scores = controls(cases)
    model = []
    for case in cases:
        expected = np.zeros(case.named.shape)
        hidden = np.flatnonzero(case.hidden)
        expected[hidden] = fitted(case).expected_reports(hidden)
        model.append(expected[case.scored])
    scores["this model"] = model
    rows = {name: [measured(case, s) for case, s in zip(cases, values, strict=True)] for name, values in scores.items()}
    columns = ["AP", "AUC", "log loss"]
    means = pd.DataFrame({name: np.mean(values, axis=0) for name, values in rows.items()}, index=columns).T
    truth = np.concatenate([case.named[case.scored] for case in cases])
    means.loc["chance"] = [truth.mean(), 0.5, log_loss(truth, np.full(len(truth), truth.mean()))]
    best = means.drop(index="this model")["AP"].idxmax()
    difference = np.array(rows["this model"]) - np.array(rows[best])
    table = pd.DataFrame(difference, columns=columns, index=list(numbers))
    table.attrs["control"] = best
    return means, table


def calibration(cases: list[Village], scores: list[Array]) -> pd.DataFrame:
    """Return the mean prediction and the share observed in bins of the prediction."""
    predicted = np.concatenate(scores)
    observed = np.concatenate([case.named[case.scored] for case in cases])
    bins = np.digitize(predicted, [0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7])
    return pd.DataFrame({"predicted": predicted, "observed": observed}).groupby(bins).mean()


if __name__ == "__main__":
    print(*compare(DEVELOPED), sep="\n")
