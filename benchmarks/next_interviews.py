"""Whom to interview next: five more people as ``TieModel.ask`` says, as controls say, or at random.

``python -m benchmarks.next_interviews`` replaces the section "Next interviews" of EVIDENCE.md. In every village 15% of
the households (by two draws) name those that they are tied to, 70% of them; house numbers and ten traits are known of
everybody. Then five more are asked. Rules were compared on villages up to 37; the others are reported.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from nashgraph import TieModel
from nashgraph.survey_plan import SeedingGain
from nashgraph.tie_survey import TieSurvey
from nashgraph.validation import Array

from .evidence import TUNED, Case, village
from .tie_targets import houses, precision, write_section

DEVELOPED = (2, 6, 9, 12, 17, 24, 30, 35)
REPORTED = (38, 41, 44, 47, 50, 53, 55, 58, 61, 64, 67, 70, 73, 76)
RECALL = 0.7
MORE = 5


def interviewed(case: Case, number: int, who: Array, named: Array) -> TieModel:
    """Return the model of a village in which some households were asked for names."""
    names = [str(name) for name in case.traits.index]
    one, other = np.nonzero(named & np.isin(np.arange(len(names)), who)[:, None])
    respondents = [names[k] for k in one]
    reports = pd.DataFrame({"respondent": respondents, "source": respondents, "target": [names[k] for k in other]})
    survey = TieSurvey.of(
        names,
        reports=reports,
        asked=[names[k] for k in who],
        places=pd.DataFrame({"house": houses(number)}, index=names),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TieModel().fit(case.traits.set_axis(names).T, survey)


def rules(model: TieModel, case: Case, who: Array, random: np.random.Generator) -> dict[str, Array]:
    """Return the people each rule asks."""
    left = np.setdiff1d(np.arange(len(case.A)), who)
    expected = model.expected_ties_["expected_ties"].to_numpy()
    place = {str(name): k for k, name in enumerate(model.node_names_)}
    asked = [place[str(name)] for name in model.ask(MORE)["name"]]
    return {
        "at random": random.permutation(left)[:MORE],
        "most expected ties": left[np.argsort(-expected[left], kind="stable")][:MORE],
        "as ask() says": np.array(asked),
    }


def measured(number: int, draws: int = 2) -> list[dict[str, Any]]:
    """Return precision over all pairs and the gain in seeding, before and after five more interviews, by rule."""
    case = village(number)
    random = np.random.default_rng([number, 11])
    judge = SeedingGain(case.A, random)
    rows = []
    for draw in range(draws):
        named = (case.A > 0) & (random.random(case.A.shape) < RECALL)
        who = np.sort(random.permutation(len(case.A))[: max(5, round(0.15 * len(case.A)))])
        before = interviewed(case, number, who, named)
        chosen = {"nobody": np.zeros(0, dtype=int)} | rules(before, case, who, random)
        for rule, more in chosen.items():
            model = before if rule == "nobody" else interviewed(case, number, np.union1d(who, more), named)
            p = model.probabilities().to_numpy()
            rows.append(
                {
                    "village": number,
                    "draw": draw,
                    "rule": rule,
                    "average precision": precision(case, p),
                    "seeding": judge.share(p),
                }
            )
    return rows


def compared(numbers: tuple[int, ...]) -> list[str]:
    """Return a row for each rule: means, and differences from random choice with standard errors over villages."""
    parts = Parallel(n_jobs=2)(delayed(measured)(number) for number in numbers)
    table = pd.DataFrame([row for part in parts for row in part])
    by_village = table.groupby(["village", "rule"])[["average precision", "seeding"]].mean().unstack()
    rows = []
    for rule in table["rule"].unique():
        cells = [str(rule)]
        for measure in ("average precision", "seeding"):
            values = by_village[measure]
            difference = values[rule] - values["at random"]
            cells += [f"{values[rule].mean():.3f}", f"{difference.mean():+.3f} ({difference.sem():.3f})"]
        rows.append("| " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print the villages of development, or write the section about the others."""
    if "develop" in sys.argv:
        compared(DEVELOPED)
        return
    assert not set(REPORTED) & set(TUNED)
    head = "| who is asked | average precision | against random (SE) | seeding | against random (SE) |"
    text = (
        f"## Next interviews\n\nPrinted by `python -m benchmarks.next_interviews`. {len(REPORTED)} villages from "
        "number 38 on, two draws each: 15% of the households name 70% of their ties, then five more. House numbers and "
        "ten traits are known."
    )
    write_section("Next interviews", "\n".join([text, "", head, "|---|---:|---:|---:|---:|", *compared(REPORTED), ""]))


if __name__ == "__main__":
    main()
