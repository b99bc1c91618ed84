"""The targets of the tie model, with today's figure, the controls and chance next to each: a section of EVIDENCE.md.

``python -m benchmarks.tie_targets`` replaces the section "Targets" of EVIDENCE.md. Villages up to 37, and the
populations of ``recovery_problems.TUNED``, were used in development; none of them is in this table, except that the
real reports come from ten villages that were set aside before anything was tried.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score

from nashgraph import TieModel
from nashgraph.datasets import load_villages
from nashgraph.tie_survey import TieSurvey
from nashgraph.ties.arrays import tie_arrays
from nashgraph.ties.fit import fit_ties
from nashgraph.ties.options import TieOptions
from nashgraph.validation import Array

from . import real_reports
from .evidence import REPORT, Case, told, village
from .recovery_problems import TUNED

COUNTED = tuple(range(38, 78))  # villages of the counts and of simulated names
FEW = COUNTED[::5]  # of the counts: eight villages
LAMBDAS = (1.0, 3.0, 10.0)  # of the nuclear norm, as its authors try them


def precision(case: Case, score: Array, pairs: tuple[Array, Array] | None = None) -> float:
    """Return the average precision over pairs."""
    where = np.triu_indices(len(case.A), 1) if pairs is None else pairs
    return float(average_precision_score(case.A[where], score[where]))


def houses(number: int) -> Array:
    """Return the house numbers of the surveyed households of a village."""
    households = load_villages([number])[number].attributes
    return households.loc[households["hhSurveyed"] == 1, "HHnum_in_village"].to_numpy(dtype=float)


def authors_estimator(T: Array, counts: Array, n_ties: Array, lam: float, rounds: int = 100) -> Array:
    """Return the estimator of Alidaee et al.: least ‖M (T, 1) − (counts, n_ties)‖² / 2 + λ ‖M‖_*, by FISTA."""
    features = np.column_stack([T, np.ones(len(T))])
    answers = np.column_stack([counts, n_ties])
    step = 1.0 / np.linalg.norm(features.T @ features, 2)
    M = np.zeros((len(T), len(T)))
    last = M
    for k in range(rounds):
        ahead = M + k / (k + 3) * (M - last)
        U, size, V = np.linalg.svd(ahead - step * (ahead @ features - answers) @ features.T, full_matrices=False)
        last = M
        M = (U * np.maximum(size - step * lam, 0.0)) @ V
    return M + M.T


# The questions: share of people asked, share forgotten, off by one, recall told, house numbers.
COUNTS: dict[str, tuple[float, float, bool, float | None, bool]] = {
    "counts exact": (1.0, 0.0, False, None, False),
    "counts, 30% forgotten, off by one": (1.0, 0.3, True, 0.7, False),
    "counts, 60% forgotten, recall told": (1.0, 0.6, False, 0.4, False),
    "counts, 60% forgotten, recall not told": (1.0, 0.6, False, 1.0, False),
    "counts, 70% forgotten, recall told": (1.0, 0.7, False, 0.3, False),
    "counts, 70% forgotten, recall not told": (1.0, 0.7, False, 1.0, False),
    "counts, 30% asked, with house numbers": (0.3, 0.0, False, None, True),
    "counts, 30% asked, without": (0.3, 0.0, False, None, False),
}


def counted(number: int) -> dict[str, dict[str, float]]:
    """Return the precision of the model and of controls in one village, by kind of counts."""
    case = village(number)
    T = case.traits.to_numpy()
    rows: dict[str, dict[str, float]] = {}
    for name, (share, forgotten, off, recall, with_places) in COUNTS.items():
        answers = told(case, number, share, forgotten, off)
        places = pd.DataFrame({"house": houses(number)}, index=case.traits.index) if with_places else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TieModel(recall=recall).fit(traits=case.traits, places=places, **answers)
        row = {"this model": precision(case, model.probabilities().to_numpy()), "chance": float(case.A.mean())}
        if forgotten > 0.5 and recall != 1.0:
            n_ties = answers["n_ties"].to_numpy()
            for lam in LAMBDAS:
                score = authors_estimator(T, answers["counts"].to_numpy(), n_ties, lam)
                row[f"nuclear norm, lambda {lam:g}"] = precision(case, score)
        if with_places:
            house = houses(number)
            row["distance of house numbers"] = precision(case, -np.abs(house[:, None] - house[None, :]))
        rows[name] = row
    return rows


def wrong_names(number: int, share: float = 0.2, room: int = 5) -> dict[str, dict[str, float]]:
    """Return precision with some of five names each wrong, and the share of false pairs among those above 0.99."""
    case = village(number)
    random = np.random.default_rng([number, 7])
    n = len(case.A)
    names = list(case.traits.index)
    rows = []
    for i in range(n):
        for j in random.permutation(np.flatnonzero(case.A[i]))[:room]:
            other = random.choice(np.setdiff1d(np.arange(n), [i])) if random.random() < share else j
            rows.append((names[i], names[i], names[other]))
    reports = pd.DataFrame(rows, columns=["respondent", "source", "target"]).drop_duplicates()
    upper = np.triu_indices(n, 1)
    out = {}
    for label, places in (("names", None), ("names and house numbers", pd.DataFrame({"h": houses(number)}, names))):
        survey = TieSurvey.of(names, reports=reports, traits=case.traits, room={"": room}, places=places)
        p = fit_ties(tie_arrays(survey)).probabilities(np.arange(n))
        sure = p[upper] > 0.99
        out[label] = {
            "this model": precision(case, p),
            "false above 0.99": float((1.0 - case.A[upper][sure]).mean()) if sure.any() else 0.0,
            "chance": float(case.A.mean()),
        }
    place = {name: k for k, name in enumerate(names)}
    named = np.zeros((n, n))
    for _, one, other in reports.to_numpy():
        named[place[one], place[other]] = 1.0
    house = houses(number)
    near = -np.abs(house[:, None] - house[None, :])
    out["names"]["number of times named"] = precision(case, named + named.T)
    out["names and house numbers"]["number of times named, then distance"] = precision(
        case, named + named.T + 1e-6 * near
    )
    out["names and house numbers"]["distance"] = precision(case, near)
    return out


def known_people(path: Path, share: float = 0.05) -> dict[str, float]:
    """Return precision on other people's pairs if all ties of some people are known."""
    table = pd.read_csv(path / "signals.csv", index_col=0)
    names = [str(name) for name in table.index]
    place = {name: k for k, name in enumerate(names)}
    A = np.zeros((len(names), len(names)))
    for one, other in pd.read_csv(path / "truth.csv").astype(str).to_numpy():
        if one in place and other in place and one != other:
            A[place[one], place[other]] = A[place[other], place[one]] = 1.0
    columns = {}
    for name, column in table.items():
        numbers = pd.to_numeric(column, errors="coerce")
        if numbers.notna().sum() >= 0.9 * column.notna().sum() and numbers.nunique() > 1:
            columns[str(name)] = numbers
        elif 1 < column.nunique() <= 12:
            for value in column.dropna().unique():
                columns[f"{name}={value}"] = (column == value).astype(float)
    X = pd.DataFrame(columns).set_axis(names, axis=0)
    n = len(A)
    complete = np.random.default_rng(0).permutation(n)[: max(4, round(share * n))]
    ties = [(names[i], names[j]) for i in complete for j in np.flatnonzero(A[i])]
    survey = TieSurvey.of(names, known={"ties": ties, "nodes": [names[i] for i in complete]})
    p = fit_ties(tie_arrays(survey, X.T)).probabilities(np.arange(n))
    rest = np.setdiff1d(np.arange(n), complete)
    one, other = np.triu_indices(len(rest), 1)
    pairs = (rest[one], rest[other])
    Z = np.nan_to_num(((X - X.mean()) / X.std()).to_numpy(dtype=float))
    case = Case(path.name, A, X)
    row = {"this model": precision(case, p, pairs), "inner product": precision(case, Z @ Z.T, pairs)}
    row["chance"] = float(A[pairs].mean())
    mine = np.repeat(complete, n)
    theirs = np.tile(np.arange(n), len(complete))
    products = Z[mine] * Z[theirs]
    popularity = A[complete].sum(axis=0)
    seen = A[mine, theirs]
    keep = mine != theirs
    features = np.column_stack([products, popularity[theirs] - seen])[keep]
    tested = np.column_stack([Z[pairs[0]] * Z[pairs[1]], popularity[pairs[0]] + popularity[pairs[1]]])
    for name, classifier in {
        "logistic regression": LogisticRegression(max_iter=500),
        "gradient boosting": HistGradientBoostingClassifier(max_iter=100, random_state=0),
    }.items():
        classifier.fit(features, seen[keep])
        row[name] = float(average_precision_score(A[pairs], classifier.predict_proba(tested)[:, 1]))
    return row


def next_wave() -> dict[str, float]:
    """Return how well earlier waves of the pupils' friendships predict the next (waves 2 to 4): ordered pairs."""
    folder = Path(os.environ["NASHGRAPH_DATA"]) / "waves"
    ties = pd.read_csv(folder / "knecht_ties.csv").astype({"source": str, "target": str})
    ties = ties[ties["source"] != ties["target"]]
    answers = pd.read_csv(folder / "knecht_answers.csv")
    pupils = sorted({*ties["source"], *ties["target"]})
    place = {pupil: k for k, pupil in enumerate(pupils)}
    named = {}
    for wave, rows in ties.groupby("wave"):
        named[wave] = np.zeros((len(pupils), len(pupils)), dtype=bool)
        named[wave][rows["source"].map(place), rows["target"].map(place)] = True
    sex = answers.drop_duplicates("name").set_index("name")["gender"]
    X = pd.DataFrame({"gender": [float(sex.get(pupil, 0)) for pupil in pupils]}, index=pupils)
    rows = []
    waves = sorted(named)
    off = ~np.eye(len(pupils), dtype=bool)
    for k in range(1, len(waves)):
        truth = named[waves[k]][off]
        earlier = waves[:k]
        scores = {
            "last wave": named[waves[k - 1]],
            "all earlier waves": sum(named[wave].astype(float) for wave in earlier),
            "chance": np.zeros(off.shape),
        }
        expected = []
        for group in [*([wave] for wave in earlier), earlier]:
            mine = ties[ties["wave"].isin(group)]
            table = mine[["source", "target"]].drop_duplicates().assign(respondent=lambda rows: rows["source"])
            survey = TieSurvey.of(pupils, reports=table, asked=pupils)
            expected.append(fit_ties(tie_arrays(survey, X.T)).expected_reports(np.arange(len(pupils))))
        scores["this model"] = np.mean(expected, axis=0)
        rows.append({name: average_precision_score(truth, np.asarray(s)[off]) for name, s in scores.items()})
    return {str(name): float(value) for name, value in pd.DataFrame(rows).mean().items()}


def exaggerators(seed: int, kind: str, n: int = 100, degree: float = 5.0, mutual: float = 0.2) -> dict[str, float]:
    """Return F1 of directed ties in two communities, both ends reporting, where 10% exaggerate or forget half.

    Controls: all ties that either end, or that both ends report.
    """
    random = np.random.default_rng(seed)
    community = np.arange(n) % 2
    density = np.where(community[:, None] == community[None, :], 1.8, 0.2) * degree / n
    ties = random.random((n, n)) < density * (1.0 - mutual)
    ties |= ties.T & (random.random((n, n)) < mutual)
    np.fill_diagonal(ties, False)
    odd = random.random(n) < 0.1
    recall = np.where(odd & (kind == "under-reporters"), 0.5, 0.95)
    false = np.where(odd & (kind == "exaggerators"), 0.2, 0.002)
    n_ends = np.zeros((n, n))
    rows = []
    for i in range(n):
        for direction in (0, 1):
            mine = ties[i] if direction == 0 else ties[:, i]
            says = np.where(mine, random.random(n) < recall[i], random.random(n) < false[i])
            says[i] = False
            n_ends[(i, slice(None)) if direction == 0 else (slice(None), i)] += says
            for j in np.flatnonzero(says):
                rows.append((i, i, j) if direction == 0 else (i, j, i))
    names = [str(k) for k in range(n)]
    reports = pd.DataFrame([[names[k] for k in row] for row in rows], columns=["respondent", "source", "target"])
    arrays = tie_arrays(TieSurvey.of(names, reports=reports, asked=names))
    p = fit_ties(arrays, TieOptions(directed=True)).probabilities(np.arange(n))
    decided = {"this model": p > 0.5, "either end": n_ends > 0, "both ends": n_ends > 1}
    return {name: float(f1_score(ties.ravel(), ends.ravel())) for name, ends in decided.items()}


def covered(seed: int, n: int = 120) -> dict[str, float]:
    """Return how often 90% intervals hold the truth, if people along a road report with a recall of their own."""
    random = np.random.default_rng(seed)
    place = np.sort(random.random(n))
    gap = np.abs(place[:, None] - place[None, :])
    ties = np.triu(random.random((n, n)) < expit(1.0 - 40.0 * gap), 1)
    ties |= ties.T
    recall = expit(random.normal(0.0, 0.4, n))
    asked = random.random(n) < 0.7
    named = np.where(ties, random.random((n, n)) < recall[:, None], random.random((n, n)) < 0.002)
    np.fill_diagonal(named, False)
    names = [str(k) for k in range(n)]
    one, other = np.nonzero(named & asked[:, None])
    reports = pd.DataFrame(
        {"respondent": [names[k] for k in one], "source": [names[k] for k in one], "target": [names[k] for k in other]}
    )
    who = [names[k] for k in np.flatnonzero(asked)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = pd.DataFrame({"road": place}, index=names)
        model = TieModel().fit(TieSurvey.of(names, reports=reports, asked=who, places=places))
    people = model.respondents_.reindex(who)
    expected = model.expected_ties_.reindex(names)
    degree = ties.sum(axis=1)
    return {
        "recall": float(((people["recall_low"] <= recall[asked]) & (recall[asked] <= people["recall_high"])).mean()),
        "number of ties": float(((expected["ties_low"] <= degree) & (degree <= expected["ties_high"])).mean()),
        "mean recall, estimated over true": float(people["recall"].mean() / recall[asked].mean()),
        "ties, expected over true": float(expected["expected_ties"].sum() / degree.sum()),
    }


def coverage() -> str:
    """Return the section about intervals."""
    row = means([covered(seed) for seed in range(20)])
    lines = ["## Intervals of the tie model\n", "Printed by `python -m benchmarks.tie_targets coverage`."]
    lines.append("Twenty simulated surveys of 120 people along a road, 70% asked, recall of their own around 0.5.")
    lines.append("Share of people whose 90% interval holds the truth, and ratios of means.\n")
    lines += ["| what | figure |", "| --- | --- |", *(f"| {name} | {value:.3f} |" for name, value in row.items()), ""]
    return "\n".join(lines)


ABOUT = (
    "Printed by `python -m benchmarks.tie_targets`. Average precision if nothing else is said, means over networks. "
    "Real reports: ten villages set aside at the start; classifiers of the controls learn from the visible respondents "
    "of one village, or of all ten together. Simulated names: the villages from 38 on; counts: every fifth of them."
)


def means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {str(name): float(value) for name, value in pd.DataFrame(rows).mean().items()}


def controls_of(row: dict[str, float]) -> str:
    return "; ".join(f"{name} {value:.3f}" for name, value in row.items() if name not in ("this model",))


def add(what: str, before: str, wanted: str, value: str, others: str) -> None:
    """Write one row of the table at once, in place of the row of this name."""
    page = REPORT.read_text(encoding="utf-8")
    section = page.partition("## Targets\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    rows = [line for line in rows if not line.startswith(f"| {what} |")]
    rows.append(f"| {what} | {before} | {wanted} | {value} | {others} |")
    heads = ["| what | before | wanted | now | controls and chance |", "| --- | --- | --- | --- | --- |"]
    write_section("Targets", "\n".join(["## Targets\n", ABOUT, "", *heads, *rows, ""]))


def reports_rows(run: Callable[..., Any]) -> None:
    reports, against = real_reports.compare(real_reports.REPORTED)
    mine = reports.loc["this model"]
    others = "; ".join(
        f"{k} {v['AP']:.3f}, {v['log loss']:.4f}" for k, v in reports.drop(index="this model").iterrows()
    )
    better = f"; better than {against.attrs['control']} in {int((against['AP'] > 0).sum())} of {len(against)} villages"
    value = f"{mine['AP']:.3f}; {mine['log loss']:.4f} (AUC {mine['AUC']:.3f})"
    add("real reports, half hidden: AP; log loss", "0.100; 0.181", ">= 0.35; <= 0.0485", value, others + better)


def names_rows(run: Callable[..., Any]) -> None:
    names = run(delayed(wrong_names)(number) for number in COUNTED)
    for label in ("names", "names and house numbers"):
        row = means([one[label] for one in names])
        false = row.pop("false above 0.99")
        value = f"{row['this model']:.3f}; {false:.1%}"
        add(f"20% of names wrong, {label}: AP; false", "0.650; 21%", ">= 0.80; <= 2%", value, controls_of(row))


def known_rows(run: Callable[..., Any]) -> None:
    folders = sorted((Path(os.environ["NASHGRAPH_DATA"]) / "recovery").iterdir())
    tuned = tuple(TUNED)
    folders = [path for path in folders if path.is_dir() and not path.name.startswith(tuned)]
    row = means(run(delayed(known_people)(path) for path in folders))
    label = f"all ties of 5% known, {len(folders)} networks"
    add(label, "0.291", ">= 0.32", f"{row['this model']:.3f}", controls_of(row))


def counts_rows(run: Callable[..., Any]) -> None:
    counts = run(delayed(counted)(number) for number in FEW)
    wanted = {
        "counts exact": ("0.782", "not worse"),
        "counts, 30% forgotten, off by one": ("0.421", "not worse"),
        "counts, 60% forgotten, recall told": ("0.360", ">= 0.42"),
        "counts, 70% forgotten, recall told": ("0.305", ">= 0.38"),
        "counts, 30% asked, with house numbers": ("0.364", ">= 0.50"),
    }
    for name in COUNTS:
        row = means([one[name] for one in counts])
        add(name, *wanted.get(name, ("", "")), f"{row['this model']:.3f}", controls_of(row))


def other_rows(run: Callable[..., Any]) -> None:
    row = next_wave()
    add("next wave of the pupils", "", "above all earlier waves", f"{row['this model']:.3f}", controls_of(row))
    for kind, goal in (("exaggerators", ">= 0.92"), ("under-reporters", ">= 0.97")):
        row = means(run(delayed(exaggerators)(seed, kind) for seed in range(10)))
        add(f"10% {kind}, simulated: F1", "", goal, f"{row['this model']:.3f}", controls_of(row))


def write_section(title: str, text: str) -> None:
    """Replace one section of EVIDENCE.md, or put it first."""
    page = REPORT.read_text(encoding="utf-8")
    heading = f"## {title}\n"
    before, found, rest = page.partition(heading)
    if found:
        after = rest.partition("\n## ")[2]
        page = f"{before}{text}\n## {after}" if after else f"{before}{text}"
    else:
        first, _, rest = page.partition("\n## ")
        page = f"{first}\n{text}\n## {rest}"
    REPORT.write_text(page, encoding="utf-8")


PARTS: dict[str, Callable[..., None]] = {
    "reports": reports_rows,
    "names": names_rows,
    "known": known_rows,
    "counts": counts_rows,
    "others": other_rows,
}


def main() -> None:
    """Print all parts, or those that are named on the command line."""
    if "coverage" in sys.argv or len(sys.argv) == 1:
        write_section("Intervals of the tie model", coverage())
    run: Callable[..., Any] = Parallel(n_jobs=2)
    for name, part in PARTS.items():
        if name in sys.argv or len(sys.argv) == 1:
            part(run)


if __name__ == "__main__":
    main()
