"""What do questions about ties gain? The tie model on networks whose ties are known, and controls: EVIDENCE.md.

Answers are counted from the true ties. All choices were made on villages 1 to 37. The tables are about the other
villages, Korean villages, lawyers and synthetic networks, none of which was looked at before.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.recovery_problems import NETWORKS
from benchmarks.report import Report
from nashgraph import GLGP, ConsensusGL, TieModel
from nashgraph.datasets import load_villages, smooth_signals
from nashgraph.survey_plan import ROUNDS, SEEDS, SeedingGain, drawn_group
from nashgraph.ties import probabilities
from nashgraph.ties.probabilities import ENOUGH_TIES, MOST_NETWORKS
from nashgraph.validation import Array

REPORT = Path(__file__).parent / "EVIDENCE.md"
ALL = [number for number in range(1, 78) if number not in (13, 22)]
TUNED, REPORTED = [number for number in ALL if number <= 37], [number for number in ALL if number > 37]
TEACHERS = TUNED[::3]  # villages known where "other villages are known"
BINS = 10


class Case(NamedTuple):
    """A network with the traits of its nodes."""

    name: str
    A: Array
    traits: pd.DataFrame


def yes_no(table: pd.DataFrame, fewest: float = 0.03) -> pd.DataFrame:
    """Return a table's answers as traits: each category, and for numbers whether they are above the median."""
    found = {}
    for name, column in table.items():
        if column.dtype.kind in "if" and column.nunique() > 6:
            found[f"{name} > {column.median():g}"] = column > column.median()
        else:
            for value in sorted(set(column.dropna()) - {0, "0"}, key=str):
                found[f"{name} = {value}"] = column == value
    traits = pd.DataFrame(found, index=table.index).astype(float)
    share = traits.mean()
    return traits.loc[:, (share > fewest) & (share < 1 - fewest)]


def pick(traits: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the traits that split people most evenly, none of them twice."""
    alike, chosen = np.abs(np.corrcoef(traits.T.to_numpy())), list[int]()
    for k in np.argsort(-traits.var().to_numpy(), kind="stable"):
        if all(alike[k, other] < 0.95 for other in chosen):
            chosen.append(int(k))
    return traits.iloc[:, chosen[:count]]


def village(number: int, count: int = 10) -> Case:
    """Return the surveyed households of a village: those not surveyed were not asked for their ties."""
    data = load_villages([number])[number]
    households = data.attributes
    there = (households["hhSurveyed"] == 1).to_numpy()
    A = nx.to_numpy_array(data.graph, weight=None)[np.ix_(there, there)]
    table = households[there]
    answers = table[["hohreligion", "castesubcaste", "electricity", "latrine", "ownrent", "leader"]].astype(str)
    answers = answers.where(answers != "", None)
    answers[[f"rooftype{k}" for k in range(1, 6)]] = table[[f"rooftype{k}" for k in range(1, 6)]]
    traits = yes_no(answers)
    for name, level in (("room_no", 1), ("room_no", 2), ("room_no", 3), ("bed_no", 0), ("bed_no", 1)):
        traits[f"{name} > {level}"] = (table[name] > level).astype(float)
    traits = traits.loc[:, (traits.mean() > 0.03) & (traits.mean() < 0.97)]
    return Case(f"village {number}", A, named(pick(traits, count)))


def common_village(number: int) -> Case:
    """Return a village with the same ten traits as every other."""
    data = load_villages([number])[number]
    table = data.attributes[(data.attributes["hhSurveyed"] == 1)]
    there = (data.attributes["hhSurveyed"] == 1).to_numpy()
    A = nx.to_numpy_array(data.graph, weight=None)[np.ix_(there, there)]
    traits = {f"rooftype{k}": table[f"rooftype{k}"] == 1 for k in range(1, 5)}
    traits |= {"rooms > 2": table.room_no > 2, "beds > 0": table.bed_no > 0, "private": table.electricity == 1}
    traits |= {"latrine": table.latrine == 1, "owns": table.ownrent == 1, "leader": table.leader == 1}
    return Case(f"village {number}", A, named(pd.DataFrame(traits).fillna(False).astype(float)))


def named(traits: pd.DataFrame) -> pd.DataFrame:
    return traits.set_axis([f"n{k}" for k in range(len(traits))], axis=0)


def folder(path: Path, count: int = 10) -> Case:
    """Return a network of the shared recovery data."""
    table = pd.read_csv(path / "signals.csv").set_index("id")
    place = {str(name): k for k, name in enumerate(table.index)}
    A = np.zeros((len(table), len(table)))
    for one, other in pd.read_csv(path / "truth.csv").astype(str).to_numpy():
        A[place[one], place[other]] = A[place[other], place[one]] = 1.0
    return Case(path.name, A, named(pick(yes_no(table, 0.1), count)))


def drawn(kind: str, seed: int, count: int = 10) -> Case:
    """Return a synthetic network; traits are noisy halves of it, so that neighbours share them more often."""
    random = np.random.default_rng(seed)
    A = nx.to_numpy_array(NETWORKS[kind](100, seed), weight=None)
    A = np.maximum(A, A.T)
    smooth = np.linalg.matrix_power(np.eye(100) + A / np.linalg.norm(A, 2), 3) @ random.normal(size=(100, count))
    noisy = smooth / smooth.std(axis=0) + random.normal(size=smooth.shape)
    return Case(kind, A, named(pd.DataFrame((noisy > np.quantile(noisy, 0.65, axis=0)).astype(float)).add_prefix("t")))


# ------------------------------------------------------------------------------------------- questions


def told(case: Case, seed: int, share: float = 1.0, forgotten: float = 0.0, off: bool = False) -> dict[str, Any]:
    """Return the answers of a share of the nodes: the number of their ties, and of those with each trait."""
    random = np.random.default_rng([seed, 1])
    T, n = case.traits.to_numpy(), len(case.A)
    recalled = case.A * (random.random((n, n)) >= forgotten)
    d, counts = recalled.sum(axis=1), recalled @ T
    if off:
        d = np.maximum(0, d + random.integers(-1, 2, n))
        counts = np.maximum(0, counts + random.integers(-1, 2, counts.shape))
        counts = np.minimum(counts, np.minimum(d[:, None], T.sum(axis=0) - T))
    rows = np.sort(random.permutation(n)[: max(2, round(share * n))])
    index = case.traits.index
    return {
        "counts": pd.DataFrame(counts, index, case.traits.columns).iloc[rows],
        "n_ties": pd.Series(d, index).iloc[rows],
    }


def evidence(case: Case, seed: int) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the kinds of evidence: parameters of the model, and arguments of fit."""
    everybody = told(case, seed)
    names, n = case.traits.index, len(case.A)
    random = np.random.default_rng([seed, 2])
    five = {names[k]: list(names[random.permutation(np.flatnonzero(case.A[k]))[:5]]) for k in range(n)}
    whole = np.sort(random.permutation(n)[: max(1, round(0.1 * n))])
    ties = [(names[i], names[j]) for i in whole for j in np.flatnonzero(case.A[i])]
    return {
        "number of ties, all asked": ({}, {"n_ties": everybody["n_ties"]}),
        "counts, all asked": ({}, everybody),
        "counts, all asked, 30% forgotten": ({"recall": 0.7}, told(case, seed, forgotten=0.3)),
        "the same and counts off by one": ({"recall": 0.7}, told(case, seed, forgotten=0.3, off=True)),
        "the same, recall not given": ({}, told(case, seed, forgotten=0.3, off=True)),
        "counts, 30% asked": ({}, told(case, seed, 0.3)),
        "counts, 30% asked, 30% forgotten, off by one": ({"recall": 0.7}, told(case, seed, 0.3, 0.3, True)),
        "counts, 10% asked": ({}, told(case, seed, 0.1)),
        "five names each": ({"max_names": 5}, {"nominations": five}),
        "all ties of 10% known": ({}, {"known": {"ties": ties, "nodes": list(names[whole])}}),
    }


# --------------------------------------------------------------------------------------------- controls


def controls(case: Case, seed: int) -> dict[str, Array]:
    """Return scores of all pairs without the tie model."""
    T = case.traits.to_numpy()
    d = case.A.sum(axis=1)
    scaled = (T - T.mean(axis=0)) / T.std(axis=0)
    # chances of ties that are bilinear in traits, by least squares on the counts
    Z = np.column_stack([np.ones(len(T)), T])
    mixing = Z @ np.linalg.pinv(Z) @ (case.A @ Z) @ np.linalg.pinv(Z.T @ Z) @ Z.T
    mixing = np.log(np.maximum(mixing + mixing.T, 1e-3))
    return {
        "control: likeness of traits": scaled @ scaled.T,
        "control: product of numbers of ties": np.outer(d, d),
        "control: mixing of traits alone": mixing,
        "control: mixing and numbers of ties": mixing + np.log(np.outer(d + 0.5, d + 0.5)),
        "control: nuclear norm (Alidaee et al.)": nuclear_norm(T, case.A @ T),
        "control: chance": np.zeros(case.A.shape),
    }


def nuclear_norm(T: Array, counts: Array, rounds: int = 150) -> Array:
    """Return the matrix of least ‖M T − counts‖² / 2 + λ ‖M‖_*, symmetrised (accelerated proximal gradient)."""
    n, step = len(T), 1.0 / np.linalg.norm(T.T @ T, 2)
    lam = 0.1 * np.linalg.norm(counts @ T.T, 2)  # not tuned: a tenth of the value that makes M zero
    M = last = np.zeros((n, n))
    for k in range(rounds):
        ahead = M + k / (k + 3) * (M - last)
        U, size, V = np.linalg.svd(ahead - step * (ahead @ T - counts) @ T.T, full_matrices=False)
        last, M = M, (U * np.maximum(size - step * lam, 0.0)) @ V
    return M + M.T


def pair_features(T: Array, one: Array, other: Array) -> Array:
    return np.hstack([T[one] * T[other], T[one] + T[other]])


def pair_regression(cases: list[Case]) -> LogisticRegression:
    """Return a logistic regression of ties on products and sums of traits, over all pairs of some networks."""
    X, y = [], []
    for case in cases:
        one, other = np.triu_indices(len(case.A), 1)
        X.append(pair_features(case.traits.to_numpy(), one, other))
        y.append(case.A[one, other])
    return LogisticRegression(max_iter=1000).fit(np.vstack(X), np.concatenate(y))


# --------------------------------------------------------------------------------------------- measures


def measures(case: Case, score: Array, probability: Array | None, seeding: SeedingGain | None) -> dict[str, Any]:
    upper = np.triu_indices(len(case.A), 1)
    tie, value = case.A[upper], score[upper]
    row: dict[str, Any] = {
        "average precision": average_precision_score(tie, value),
        "AUC": roc_auc_score(tie, value),
    }
    if probability is not None:
        p = probability[upper]
        place = np.minimum((p * BINS).astype(int), BINS - 1)
        row["error of bins"] = np.bincount(place, p - tie, BINS)
        row["pairs"] = len(p)
        row["calibration error"] = np.abs(row["error of bins"]).sum() / len(p)
        row["ties"] = spearmanr(probability.sum(axis=1), case.A.sum(axis=1)).statistic
        if seeding is not None:
            row["seeding"] = seeding.share(probability)
    return row


def fitted(
    case: Case, parameters: dict[str, Any], given: dict[str, Any], seeding: SeedingGain | None
) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = TieModel(**parameters).fit(traits=case.traits, **given).probabilities().to_numpy()
    return measures(case, p, p, seeding)


def study(case: Case, group: str, seed: int) -> list[dict[str, Any]]:
    """Return a row for every kind of evidence and every control on one network."""
    seeding, rows = SeedingGain(case.A, np.random.default_rng([seed, 3])), []
    for name, (parameters, given) in evidence(case, seed).items():
        rows.append({"evidence": name, **fitted(case, parameters, given, seeding)})
    for name, score in controls(case, seed).items():
        rows.append({"evidence": name, **measures(case, score, None, None)})
    return [{"group": group, "network": case.name, **row} for row in rows]


def by_traits(number: int) -> list[dict[str, Any]]:
    """Return a row for 5, 10 and 20 traits in one village."""
    rows = []
    for count in (5, 10, 20):
        case = village(number, count)
        for share, forgotten in ((1.0, 0.0), (1.0, 0.3), (0.3, 0.0)):
            given = told(case, number, share, forgotten)
            name = f"{count} traits, {share:.0%} asked" + (", 30% forgotten" if forgotten else "")
            parameters = {"recall": 0.7} if forgotten else {}
            rows.append({"group": "traits", "evidence": name, **fitted(case, parameters, given, None)})
    return rows


def across(number: int, teachers: list[Case], regression: LogisticRegression) -> list[dict[str, Any]]:
    """Return rows of a village with no evidence, or little, while other villages are known."""
    case, names = common_village(number), ["group", "network"]
    seeding = SeedingGain(case.A, np.random.default_rng([number, 3]))
    networks = [(nx.relabel_nodes(nx.from_numpy_array(one.A), lambda k: f"n{k}"), one.traits) for one in teachers]
    one, other = np.triu_indices(len(case.A), 1)
    control = np.zeros_like(case.A)
    control[one, other] = regression.predict_proba(pair_features(case.traits.to_numpy(), one, other))[:, 1]
    control += control.T
    usable = case.traits.columns[(case.traits.mean() > 0) & (case.traits.mean() < 1)]
    some = told(case, number, 0.1)
    some["counts"] = some["counts"][usable]
    rows = [
        {"evidence": "other villages, nothing asked", **fitted(case, {}, {"networks": networks}, seeding)},
        {"evidence": "control: pair regression", **measures(case, control, control, seeding)},
        {"evidence": "10% asked, no other villages", **fitted(case, {}, some, seeding)},
        {"evidence": "10% asked and other villages", **fitted(case, {}, {"networks": networks, **some}, seeding)},
    ]
    return [dict(zip(names, ("other villages", case.name), strict=True)) | row for row in rows]


def next_asked(number: int) -> list[dict[str, Any]]:
    """Return rows for 30% asked: 10% at random, then 20% at random or as ask() says."""
    case = village(number)
    seeding, everybody = SeedingGain(case.A, np.random.default_rng([number, 3])), told(case, number)
    n, rows = len(case.A), []
    order = np.random.default_rng([number, 4]).permutation(n)
    first, more = order[: round(0.1 * n)], round(0.2 * n)
    index = case.traits.index

    def given(who: Any) -> dict[str, Any]:
        return {name: table.loc[who] for name, table in everybody.items()}

    model = TieModel().fit(traits=case.traits, **given(index[first]))
    chosen = {"at random": list(index[order[round(0.1 * n) :][:more]]), "as ask() says": list(model.ask(more)["name"])}
    for name, who in chosen.items():
        row = fitted(case, {}, given([*index[first], *who]), seeding)
        rows.append({"group": "ask", "network": case.name, "evidence": name, **row})
    return rows


def next_questions(number: int) -> list[dict[str, Any]]:
    """Return rows for five counting questions out of twenty, at random, the most even, or as ask_about() says."""
    case = village(number, 20)
    random, everybody = np.random.default_rng([number, 6]), told(case, number)
    first = random.permutation(len(case.A))[: round(0.2 * len(case.A))]
    model = TieModel().fit(traits=case.traits, n_ties=everybody["n_ties"].iloc[first])
    chosen = {
        "five questions at random": list(random.permutation(case.traits.columns)[:5]),
        "the five that split people most evenly": list(case.traits.columns[:5]),
        "the five that ask_about() says": list(model.ask_about()["trait"][:5]),
    }
    rows = []
    for name, traits in chosen.items():
        given = {"counts": everybody["counts"][traits], "n_ties": everybody["n_ties"]}
        row = fitted(case._replace(traits=case.traits[traits]), {}, given, None)
        rows.append({"group": "questions", "network": case.name, "evidence": name, **row})
    return rows


def with_signals(kind: str, seed: int, signals: int) -> list[dict[str, Any]]:
    """Return rows for signals, counted answers and both, with traits that are unrelated to the network."""
    graph = NETWORKS[kind](100, seed)
    A = nx.to_numpy_array(graph, weight=None)
    random = np.random.default_rng([seed, 5])
    case = Case(kind, A, named(pd.DataFrame((random.random((100, 8)) < 0.35).astype(float)).add_prefix("t")))
    X = np.asarray(smooth_signals(graph, signals, "gmrf", noise=0.1, random_state=seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = ConsensusGL(n_replicates=0, scale="standard").fit(X).graph_.weights.toarray()
    rows = [{"evidence": f"{signals} signals: consensus", **measures(case, weights + weights.T, None, None)}]
    for share in (0.3, 1.0):
        given, parameters = told(case, seed, share, 0.15), {"recall": 0.85}
        name = f"{share:.0%} asked eight traits, 15% forgotten"
        rows.append({"evidence": name, **fitted(case, parameters, given, None)})
        rows.append({"evidence": f"{name}, {signals} signals", **fitted(case, parameters, {"X": X, **given}, None)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prior = TieModel(**parameters).fit(traits=case.traits, **given).prior()
            model = ConsensusGL(GLGP(prior=prior, lam=signals**-0.5), n_replicates=0, scale="standard").fit(X)
        weights = model.graph_.weights.toarray()
        name = f"{name}, {signals} signals: consensus with the answers as prior"
        rows.append({"evidence": name, **measures(case, weights + weights.T, None, None)})
    return [{"group": "signals", "network": kind, **row} for row in rows]


# ----------------------------------------------------------------------------------------------- report

COLUMNS = ("average precision", "AUC", "calibration error", "pooled", "ties", "seeding")
HEADINGS = ["evidence", "average precision", "AUC", "calibration error", "pooled", "rank of ties", "seeding"]


def lines(frame: pd.DataFrame) -> list[list[str]]:
    """Return a line for every kind of evidence: means over networks, and calibration over all pairs together."""
    found = []
    for name, rows in frame.groupby("evidence", sort=False):
        means = {column: rows[column].mean() if column in rows else np.nan for column in COLUMNS}
        if "pairs" in rows and rows["pairs"].notna().any():
            means["pooled"] = np.abs(np.sum(rows["error of bins"].tolist(), axis=0)).sum() / rows["pairs"].sum()
        found.append([str(name), *("" if np.isnan(means[column]) else f"{means[column]:.3f}" for column in COLUMNS)])
    return found


def moved_by_chance() -> list[list[str]]:
    """Return how far probabilities differ between six seeds of the calibration, with one network and by default."""
    rows = []
    for n, share in ((40, 1.0), (40, 0.4), (150, 1.0), (150, 0.4), (400, 1.0), (400, 0.4)):
        found = []
        for most in (1, MOST_NETWORKS):
            probabilities.MOST_NETWORKS, start = most, time.process_time()
            fits = [[_drawn_fit(n, share, group, seed) for seed in range(6)] for group in range(4)]
            seconds = (time.process_time() - start) / 24
            furthest = np.mean([np.ptp(each, axis=0).max() for each in fits])
            likely = np.mean([np.std(each, axis=0)[np.mean(each, axis=0) > 0.2].mean() for each in fits])
            found += [f"{furthest:.3f}", f"{likely:.4f}", f"{seconds:.2f}"]
        rows.append([f"{n} people, {share:.0%} asked", *found])
    return rows


def _drawn_fit(n: int, share: float, group: int, seed: int) -> Array:
    """Return the probabilities of all pairs of a drawn group, some of whose members were asked."""
    random = np.random.default_rng(group)
    A, T = drawn_group(n, 8.0, 6, 0.6, random)
    asked = np.where(random.random(n) < share, 1.0, np.nan)
    given = {"traits": pd.DataFrame(T), "counts": pd.DataFrame(A @ T * asked[:, None])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TieModel(random_state=seed).fit(**given, n_ties=pd.Series(A.sum(axis=1) * asked))
    return model.probabilities().to_numpy()[np.triu_indices(n, 1)]


def main() -> None:
    report = Report("What questions about ties buy", "python -m benchmarks.evidence")
    data = Path(os.environ["NASHGRAPH_DATA"])
    folders = sorted([*(data / "recovery").glob("korea_*"), *(data / "recovery").glob("lazega_*")])
    teachers = [common_village(number) for number in TEACHERS]
    regression = pair_regression(teachers)
    jobs = [delayed(study)(village(number), "villages", number) for number in REPORTED]
    jobs += [delayed(study)(folder(path), path.name.split("_")[0], k) for k, path in enumerate(folders)]
    jobs += [delayed(study)(drawn(kind, seed), "synthetic", seed) for kind in NETWORKS for seed in (0, 1)]
    jobs += [delayed(with_signals)(kind, seed, m) for kind in NETWORKS for seed in (0, 1) for m in (10, 50)]
    jobs += [delayed(by_traits)(number) for number in REPORTED]
    jobs += [delayed(across)(number, teachers, regression) for number in REPORTED]
    jobs += [delayed(next_asked)(number) for number in REPORTED]
    jobs += [delayed(next_questions)(number) for number in REPORTED]
    frame = pd.DataFrame([row for rows in Parallel(n_jobs=-1)(jobs) for row in rows])
    said = {
        "villages": f"The {len(REPORTED)} villages from number 38 on, surveyed households, ten traits of the census.",
        "traits": "The same villages with 5, 10 and 20 traits.",
        "other villages": f"The same villages; {len(TEACHERS)} of the villages up to 37 are known. Ten traits, "
        "the same everywhere.",
        "ask": "The same villages: 10% of households asked at random, then another 20%.",
        "questions": "The same villages, everybody asked five of twenty questions; 20% told their number of ties "
        "before these were chosen.",
        "signals": "Six kinds of network, 100 nodes, two draws each; signals of a Gaussian Markov random field.",
        "korea": "Twelve Korean villages of 28 to 59 women, ten traits out of a survey on family planning.",
        "lazega": "71 lawyers, three networks, ten traits out of status, gender, office, seniority, age, "
        "practice and school.",
        "synthetic": "Six kinds of network, 100 nodes, two draws each; ten traits that neighbours share more often.",
    }
    report.say(
        "Means over networks. Truth without direction, all pairs of nodes. Calibration error: expected "
        "calibration error of "
        f"{BINS} bins, mean over networks, and pooled over the pairs of all networks; a perfect model has 0 "
        f"pooled, and "
        "about 0.01 on one village by chance. Rank of ties: rank correlation of expected with true numbers of "
        "ties. Seeding: "
        f"share of the possible gain with {SEEDS:.0%} of the nodes as seeds and {ROUNDS} rounds (0: at random, "
        f"1: chosen on "
        "the true network). All ties of 10% known: the known pairs are scored, too. 30% forgotten: every tie is "
        "left out of a person's answers with probability 0.3, so "
        "both ends may "
        "disagree. Off by one: every answer has −1, 0 or 1 added. Controls know what the first line of the "
        "counts knows."
    )
    for group, text in said.items():
        if (rows := frame[frame["group"] == group]).size:
            report.section(group.capitalize())
            report.say(text)
            report.table(HEADINGS, lines(rows))
    report.section("Chance in the calibration")
    report.say(
        "Groups drawn from the model, eight ties a person and six traits. The same answers are fitted with six "
        "seeds: the largest difference between the probabilities of a pair, and the standard deviation over pairs with "
        "a probability above 0.2; means over four groups. "
        f"Calibrated by one drawn network, and as it is: until {ENOUGH_TIES:,} ties are drawn, at most {MOST_NETWORKS} "
        "networks."
    )
    measured = ("largest difference", "standard deviation", "CPU seconds")
    columns = [f"{what}, {how}" for how in ("one network", "as it is") for what in measured]
    report.table(["group", *columns], moved_by_chance())
    # Sections that benchmarks.tie_targets, tie_speed and the like print stay, after the introduction.
    before = REPORT.read_text(encoding="utf-8").split("\n## ")[1:]
    report.write(REPORT)
    introduction, *after = REPORT.read_text(encoding="utf-8").split("\n## ")
    titles = {section.partition("\n")[0] for section in after}
    others = [section for section in before if section.partition("\n")[0] not in titles]
    REPORT.write_text("\n## ".join([introduction, *others, *after]), encoding="utf-8")


if __name__ == "__main__":
    main()
