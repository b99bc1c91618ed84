"""Every measured figure quoted in the texts is the one in the file that a command printed.

A quote is a piece of text with {} in place of its figures. Its sources are, in order, files with a pattern whose
groups are those figures. To quote a new figure, add a line here.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

from nashgraph.experiments.beyond import chosen, scored
from nashgraph.experiments.fig1 import BEST_RESPONSE, HALVED, PRODUCT
from nashgraph.experiments.methods import CONSENSUS, GLGP_NAMES, SMOOTH
from nashgraph.experiments.villages import CONTROL, NOT_TOLD, PAPER, SURVEYED, TOLD

HOME = Path(__file__).parent.parent
README, SEEDING, PERFORMANCE = "README.md", "docs/guide/seeding.md", "docs/guide/performance.md"
CLUSTER_GUIDE, SURE = "docs/guide/cluster.md", "docs/guide/sure.md"
RECOVERY, RESULTS, STRESS = "benchmarks/RECOVERY.md", "benchmarks/RESULTS.md", "benchmarks/STRESS.md"
GPU, LAM, SKIPPING = "benchmarks/GPU.md", "benchmarks/DEFAULT_LAM.md", "benchmarks/SKIPPING.md"
SELECTION, DIFFUSION, EVIDENCE = "benchmarks/SELECTION.md", "results/diffusion.md", "benchmarks/EVIDENCE.md"

EARLIER = (
    r"GLGP took ([\d.]+) and ([\d.]+) s at N = 20,000 \(([\d.]+) and ([\d.]+) of scikit-learn's passes\), "
    r"(\d+) and (\d+) s at N = 50,000"
)


def family(title: str, control: str) -> str:
    """Return the pattern of a section's number of problems and three average precisions: ours, a control's, chance."""
    row = r"(?:.*\n)+?\| {} \| \S+ \| \**([\d.]+)"
    rows = "".join(row.format(name) for name in (r"\*\*consensus\*\*", control, "random"))
    return rf"## {title}\n\nAll (\d+) problems{rows}"


def share(networks: str, strategy: str, what: str) -> str:
    """Return the pattern of a share of the possible gain and its error."""
    return rf"\| {networks}, {what} \| {strategy} \| \S+ \| \S+ \| (\S+) \| (\S+) \|"


QUOTES: list[tuple[str, str, list[tuple[str, str]]]] = [
    *(
        (README, f"| {{}} {words} | {{}} | {{}} ({name}) | {{}} |", [(RECOVERY, family(title, control))])
        for words, name, title, control in (
            ("synthetic networks that made their own signals", "cosine", "Synthetic networks", "cosine"),
            ("synthetic networks, 200 to 3,000 signals", "inverse covariance", "Many signals", "inverse covariance"),
            (
                "synthetic networks, signals cut to five values",
                "distance",
                "Synthetic networks, signals with five values",
                "negative distance",
            ),
            (
                "real networks of 10 populations, mean over populations",
                "inner product",
                "Real networks, real signals",
                "inner product",
            ),
        )
    ),
    (
        README,
        "| {} Indian villages among them | {} | {} (inner product) | {} |",
        [
            (RECOVERY, r"\| villages \((\d+)\)"),
            (RECOVERY, r"\| villages \| ([\d.]+) (?:\| \S+ ){8}\| \**([\d.]+)\** \| \S+ \| ([\d.]+)"),
        ],
    ),
    *(
        (README, f"| {words} | {{}} |", [(EVIDENCE, rf"## Villages\n(?:.*\n)+?\| {re.escape(row)} \| ([\d.]+) \|")])
        for words, row in (
            ("everybody answers ten counting questions exactly", "counts, all asked"),
            ("the same, with 30% of ties forgotten and answers off by one", "the same and counts off by one"),
            ("30% of households asked, answered exactly", "counts, 30% asked"),
            ("everybody gives five names", "five names each"),
            ("*control*: mixing of traits and numbers of ties", "control: mixing and numbers of ties"),
            ("*control*: likeness of traits", "control: likeness of traits"),
        )
    ),
    (README, "`make stress`), {} problems", [(STRESS, r"## ([\d,]+) problems")]),
    (README, "feasible to {} and monotone", [(STRESS, r"largest violation of S \| (\S+) \|")]),
    (README, "{} % reach 1e-6", [(STRESS, r"1e-6 reached \| ([\d.]+) %")]),
    (
        README,
        "TTGD as published takes {} times as long in geometric mean ({} to",
        [(RESULTS, r"published TTGD takes (\d+) times as long in geometric mean, (\d+) times")],
    ),
    (README, "to {} times), TTGD at its best", [(RESULTS, r"N=330, beta=1, linear \|.*?\| (\d+)x")]),
    (README, "TTGD at its best {} times", [(RESULTS, r"TTGD at its best takes (\d+) times as long in geometric")]),
    (README, "{} times at N = 77", [(RESULTS, r"village-like N=77, .*? ms \| \S+ / \S+ \| (\d+)x")]),
    (
        README,
        "{} s and 0.6 GB, {} brute-force",
        [(RESULTS, r"the whole GLGP fit ([\d.]+) s, ([\d.]+) times that")],
    ),
    (
        README,
        "| N = 330: {} s; N = 2,000: {} s; N = 20,000: {} s ({} GB)",
        [
            (
                RESULTS,
                r"N = 330: (0\.\d)\d s, peak.*\n\nN = 2,000: (\d+) s, peak.*\n\nN = 20,000: (\d+) s, peak memory of "
                r"its process ([\d.]+) GB",
            )
        ],
    ),
    (README, "takes {} times as long as the same λ given", [(LAM, r"curved sheet.*\| ([\d.]+) \| 1.5 \|")]),
    (PERFORMANCE, "| 20,000 | {} | {} |", [(GPU, r"\| 20,000 \| \S+ \| (\S+) \|  \| (\S+) \|")]),
    (PERFORMANCE, "| 50,000 | {} | {} |", [(GPU, r"\| 50,000 \| \S+ \| (\S+) \| at most 1 s \| (\S+) \|")]),
    (PERFORMANCE, "| 1,048,576 | {} | {} |", [(GPU, r"\| 1,048,576 \| \S+ \| (\S+) \| at .*?\| (\S+) \|")]),
    (PERFORMANCE, "the same {} edges", [(GPU, r"of ([\d,]+) edges 0 are in one graph only")]),
    (PERFORMANCE, "the objective to {}.", [(GPU, r"Objectives differ by (\S+) relative")]),
    (CLUSTER_GUIDE, "one H200 | | {} s", [(GPU, r"\| 1,048,576 \| \S+ \| (\S+) \|")]),
    (
        SURE,
        "five on average in {} of the settings, and {} in the worst",
        [(SELECTION, r"more than 5 on average in (\d+) settings"), (SELECTION, r"\| 50 gmrf \|.*\| (17\.7) \| 94 %")],
    ),
]


@pytest.mark.parametrize(("text", "quote", "sources"), QUOTES, ids=[quote[:40] for _, quote, _ in QUOTES])
def test_a_quoted_figure_is_the_one_that_was_printed(text, quote, sources):
    found: list[str] = []
    for file, pattern in sources:
        match = re.search(pattern, read(file))
        assert match, f"{file} has nothing like {pattern}"
        found += match.groups()
    assert quote.format(*found) in read(text)


def test_the_verdicts_are_those_of_the_last_run():
    report = (HOME / "results" / "REPRODUCTION.md").read_text(encoding="utf-8")
    verdicts = [line for line in report.split("## ")[0].splitlines() if line.startswith("| ")]
    assert len(verdicts) == 11
    assert all(line in read(README) for line in verdicts)


def test_the_scores_of_the_paper_s_networks_are_those_of_the_last_run():
    figure, villages, beyond = (
        pd.read_csv(HOME / "results" / f"{name}.csv") for name in ("fig1", "villages", "beyond")
    )
    figure = figure[figure["reading"] == HALVED]
    glgp = figure[(figure["method"] == GLGP_NAMES["linear"]) & (figure["solver"] == BEST_RESPONSE)]
    best = glgp.groupby("lam")[["auc", "auc_symmetric"]].mean().max()
    better = scored(beyond, "linear", *chosen(beyond, "linear"))["auc"].mean()

    def drawn(method: str) -> str:
        return both(figure[figure["method"] == method])

    def lived(method: str, setting: str) -> str:
        return both(villages[(villages["method"] == method) & (villages["setting"] == setting)])

    rows = [
        f"Figure 1, {figure['trial'].nunique()} draws | Table 2, 40 villages |",
        f"who was surveyed | {best['auc']:.3f} ({best['auc_symmetric']:.3f}) | {lived(GLGP_NAMES['log1p'], PAPER)} |",
        f"SmoothGL | {drawn(SMOOTH)} | {lived(SMOOTH, PAPER)} |",
        f"inner products; who was surveyed | {drawn(PRODUCT)} | {lived(SURVEYED, CONTROL)} |",
        f"the default, told who was surveyed | | {lived(CONSENSUS, TOLD)} |",
        f"the default, told nothing | {drawn(CONSENSUS)} | {lived(CONSENSUS, NOT_TOLD)} |",
        f"GLGP has {better:.3f} on the forty",
    ]
    for row in rows:
        assert row in read(README), row


def test_how_much_faster_a_search_with_skipping_is():
    cells = re.findall(r"\n\| 100,000 \|(?: [^|]* \|){3} (\S+) \|(?: [^|]* \|){3} (\S+) \|", read(SKIPPING, raw=True))
    latent, classes, few, cloud = ([float(cell) for cell in row] for row in cells)
    low, high = min(*latent, *classes), max(*latent, *classes)
    for text in (README, PERFORMANCE):
        assert f"{low:.0f} to {high:.0f} times faster" in read(text)
        assert f"few distinct answers {min(few):.0f} to {max(few):.0f} times" in read(text)
    assert f"a Gaussian cloud {min(cloud):.0f} to {max(cloud):.0f} times" in read(README)


def test_what_an_earlier_version_took_is_called_that():
    idle, busy, passes, busy_passes, larger, busy_larger = re.search(EARLIER, read(RESULTS)).groups()
    assert f"an earlier version on another machine: {idle} s and {passes}, {busy} s and {busy_passes}" in read(README)
    assert f"an earlier version on another machine: {larger} s, {busy_larger} s while it was busy" in read(README)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| preferential attachment | {} | {} |", [("preferential attachment", "learned network", "seeds, T = 6"),
                                                  ("preferential attachment", "learned network", "key players")]),
        ("| communities | {} | {} |", [("communities", "learned network", "seeds, T = 6"),
                                      ("communities", "learned network", "key players")]),
        ("| small world | {} | {} |", [("small world", "learned network", "seeds, T = 6"),
                                      ("small world", "learned network", "key players")]),
        *(
            (f"{words} | {{}} | {{}} |", [("villages", strategy, f"seeds, T = {rounds}") for rounds in (3, 6)])
            for words, strategy in (
                ("| on the learned network", "learned network"),
                ("told who was surveyed", "learned network, told hhSurveyed"),
                ("anybody who was surveyed", "control: hhSurveyed"),
                ("is a leader in the census", "leaders"),
            )
        ),
    ],
)  # fmt: skip
def test_how_well_seeds_do_is_what_came_out(line, cells):
    figures = [re.search(share(*cell), read(DIFFUSION)).groups() for cell in cells]
    written = [f"{mean} ± {error}".replace("-", "−") for mean, error in figures]
    assert line.format(*written) in read(SEEDING)


def read(file: str, raw: bool = False) -> str:
    """Return a file's text; of the guides and the README, a line break in a sentence is a space."""
    text = (HOME / file).read_text(encoding="utf-8")
    return text if raw or not file.startswith(("README", "docs")) else re.sub(r"(?<![|\n])\n(?![\n|])", " ", text)


def both(rows: pd.DataFrame) -> str:
    """Return the mean AUC over ordered pairs, and in brackets on symmetrised weights."""
    return f"{rows['auc'].mean():.3f} ({rows['auc_symmetric'].mean():.3f})"
