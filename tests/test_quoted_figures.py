"""Every measured figure quoted in the texts is the one in the file that a command printed.

A quote is a piece of text with {} in place of its figures. Its sources are, in order, files with a pattern whose
groups are those figures. To quote a new figure, add a line here.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pandas as pd
import pytest
from reproduce.fig1 import BEST_RESPONSE, CONSENSUS, GLGP_NAMES, HALVED, PRODUCT, SMOOTH
from reproduce.villages import CONTROL, NOT_TOLD, PAPER, SURVEYED, TOLD

HOME = Path(__file__).parent.parent
README, SEEDING, PERFORMANCE = "README.md", "docs/guide/seeding.md", "docs/guide/performance.md"
CLUSTER_GUIDE, SURE = "docs/guide/cluster.md", "docs/guide/sure.md"
RECOVERY, RESULTS, STRESS = "benchmarks/RECOVERY.md", "benchmarks/RESULTS.md", "benchmarks/STRESS.md"
GPU, LAM, SKIPPING = "benchmarks/GPU.md", "benchmarks/DEFAULT_LAM.md", "benchmarks/SKIPPING.md"
SELECTION, DIFFUSION, EVIDENCE = "benchmarks/SELECTION.md", "benchmarks/DIFFUSION.md", "benchmarks/EVIDENCE.md"


CLUSTER = "benchmarks/CLUSTER.md"
CLUSTER_ROWS = r"\| 1 \| (\S+) .*\n\| 2 \| (\S+) .*\n\| 4 \| (\S+) "
WHAT_TO_ASK = "docs/guide/what_to_ask.md"


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
            ("*control*: mixing of traits and numbers of ties", "control: mixing and numbers of ties"),
            ("*control*: likeness of traits", "control: likeness of traits"),
        )
    ),
    (README, "`make stress`, {} hard problems", [(STRESS, r"## ([\d,]+) problems")]),
    (README, "{}% reach stationarity 1e-6", [(STRESS, r"1e-6 reached \| ([\d.]+) %")]),
    (
        README,
        "| N = 20,000: {} s, {} brute-force nearest-neighbour passes; N = 50,000: {} s |",
        [
            (RESULTS, r"the whole GLGP fit ([\d.]+) s, ([\d.]+) times that"),
            (RESULTS, r"\nN = 50,000: (\S+) s in sparse"),
        ],
    ),
    (
        README,
        "| N = 2,000: {} s; N = 20,000: {} s ({} GB); N = 100,000: {} s ({} GB)",
        [
            (
                RESULTS,
                r"N = 2,000: .*, (\S+) s of CPU.*\n\nN = 20,000: .*, (\S+) s of CPU.* ([\d.]+) GB\.\n\n"
                r"N = 100,000: .*, (\S+) s of CPU.* ([\d.]+) GB",
            )
        ],
    ),
    (PERFORMANCE, "| 20,000 | {} | {} |", [(GPU, r"\| 20,000 \| \S+ \| (\S+) \|  \| (\S+) \|")]),
    (PERFORMANCE, "| 50,000 | {} | {} |", [(GPU, r"\| 50,000 \| \S+ \| (\S+) \| at most 1 s \| (\S+) \|")]),
    (PERFORMANCE, "| 1,048,576 | {} | {} |", [(GPU, r"\| 1,048,576 \| \S+ \| (\S+) \| at .*?\| (\S+) \|")]),
    (PERFORMANCE, "the same {} edges", [(GPU, r"of ([\d,]+) edges 0 are in one graph only")]),
    (PERFORMANCE, "the objective to {}.", [(GPU, r"Objectives differ by (\S+) relative")]),
    (README, "N = 1,048,576: {} s ([benchmarks/GPU.md]", [(GPU, r"\| 1,048,576 \| \S+ \| (\d+)\.\d+ \|")]),
    (CLUSTER_GUIDE, "one H200 | | {} s", [(GPU, r"\| 1,048,576 \| \S+ \| (\S+) \|")]),
    (
        CLUSTER_GUIDE,
        "1, 2, 4 workers on 2 cores | {}, {}, {} s | {}, {}, {} s |",
        [
            (CLUSTER, rf"One scan(?:.*\n)+?{CLUSTER_ROWS}"),
            (CLUSTER, rf"A whole GLGP fit(?:.*\n)+?{CLUSTER_ROWS}"),
        ],
    ),
    (
        CLUSTER_GUIDE,
        "measured, {} MB at N = 20,000, {} MB at 200,000 and {} MB at 1,000,000. Python with the libraries takes "
        "another {} MB",
        [
            (CLUSTER, r"\| 20,000 \| \d+ \| (\d+) \|"),
            (CLUSTER, r"\| 200,000 \| \d+ \| (\d+) \|"),
            (CLUSTER, r"\| 1,000,000 \| \d+ \| (\d+) \|"),
            (CLUSTER, r"\| 1,000,000 \| (\d+) \|"),
        ],
    ),
    (
        SEEDING,
        "are a little better ({} ± {} and {} ± {})",
        [(DIFFUSION, share("villages", "learned network, by influence", f"seeds, T = {rounds}")) for rounds in (3, 6)],
    ),
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
    report = read("results/REPRODUCTION.md", raw=True).split("## ")[0]
    verdicts = dict(re.findall(r"\n\| (\w+ \d): [^|]* \| ([^|]*) \|", report))
    assert verdicts == dict.fromkeys(("Table 1", "Figure 2", "Theorem 1"), "reproduced") | dict.fromkeys(
        ("Figure 1", "Table 2", "Table 3"), "partly reproduced"
    )
    assert "Table 1, Figure 2 and Theorem 1 are reproduced; Figure 1 and Tables 2 and 3 only partly" in read(README)


def test_how_much_faster_than_the_published_algorithm():
    slower = [int(times) for times in re.findall(r"village-like N=330.*? ms \| \S+ / \S+ \| (\d+)x", read(RESULTS))]
    (small,) = re.findall(r"attachment N=50, .*? ms \| \S+ / \S+ \| (\d+)x", read(RESULTS))
    assert len(slower) == 4
    assert small == "1"
    assert f"| {min(slower)} to {max(slower)} times faster; about equal at N = 50 |" in read(README)


def test_the_scores_of_the_paper_s_networks_are_those_of_the_last_run():
    figure, villages = (pd.read_csv(HOME / "results" / f"{name}.csv") for name in ("fig1", "villages"))
    figure = figure[figure["reading"] == HALVED]
    glgp = figure[(figure["method"] == GLGP_NAMES["linear"]) & (figure["solver"] == BEST_RESPONSE)]
    best = glgp.groupby("lam")[["auc", "auc_symmetric"]].mean().max()

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
    ]
    for row in rows:
        assert row in read(README), row


def test_how_much_faster_a_search_with_skipping_is():
    cells = re.findall(r"\n\| 100,000 \|(?: [^|]* \|){3} (\S+) \|(?: [^|]* \|){3} (\S+) \|", read(SKIPPING, raw=True))
    latent, classes, few, cloud = ([float(cell) for cell in row] for row in cells)
    low, high = min(*latent, *classes), max(*latent, *classes)
    assert f"{low:.0f} to {high:.0f} times faster" in read(PERFORMANCE)
    assert f"few distinct answers {min(few):.0f} to {max(few):.0f} times" in read(PERFORMANCE)
    assert f"a Gaussian cloud {min(cloud):.1f} to {max(cloud):.1f} times" in read(PERFORMANCE)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        *(
            (
                f"| {kind} | {{}} | {{}} | {{found}} |",
                [(kind, "learned network", what) for what in ("seeds, T = 6", "key players")],
            )
            for kind in ("preferential attachment", "communities", "small world")
        ),
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
    overlap = re.search(
        rf"\| {cells[0][0]}, key players \| learned network \|(?: \S+ \|){{4}} (\S+) \|", read(DIFFUSION)
    )
    assert line.format(*written, found=overlap[1] if overlap else "") in read(SEEDING)


@pytest.mark.parametrize(
    ("words", "row"),
    [
        ("everybody: the number of ties", "number of ties, all asked"),
        ("10% of households: the number of ties and ten counts", "counts, 10% asked"),
        ("30% of households: the same", "counts, 30% asked"),
        ("everybody: the same, answered exactly", "counts, all asked"),
        ("everybody: the same, with 30% of ties forgotten", "counts, all asked, 30% forgotten"),
        ("everybody: the same, also with every answer off by up to one", "the same and counts off by one"),
        ("everybody: five names", "five names each"),
    ],
)
def test_what_questions_buy_is_what_came_out(words, row):
    found = re.search(
        rf"## Villages\n(?:.*\n)+?\| {re.escape(row)} \| ([\d.]+) \|(?: \S+ \|){{4}} (\S+) \|", read(EVIDENCE)
    )
    precision, seeding = (rounded(figure) for figure in found.groups())
    assert f"| {words} | {precision} | {seeding} |" in read(WHAT_TO_ASK)


def test_every_score_on_the_page_about_questions_was_printed():
    printed = {rounded(figure) for figure in re.findall(r"\d\.\d{3}", read(EVIDENCE))}
    prose = re.sub(r"(?s)```.*?```", "", (HOME / WHAT_TO_ASK).read_text(encoding="utf-8"))
    scores = set(re.findall(r"(?<![\d.])0\.\d\d(?!\d)", prose))
    assert len(scores) > 10
    assert scores <= printed


def test_the_highlights_of_the_changes_are_what_came_out():
    changes = " ".join(read("CHANGELOG.md", raw=True).split())
    counts, control = (
        rounded(re.search(rf"\| {row} \| ([\d.]+) \|", read(EVIDENCE))[1])
        for row in ("counts, all asked", "control: mixing and numbers of ties")
    )
    assert f"{counts} with ten counting questions to everybody, against {control} for the best control" in changes
    cover = read("benchmarks/RELIABILITY.md").split("## What the intervals cover")[1]
    shares = [int(share) for share in re.findall(r"(\d+) %", "\n".join(re.findall(r"\n\|.*", cover)))]
    assert f"intervals hold {min(shares)} to {max(shares)}% of what fresh signals give" in changes


def read(file: str, raw: bool = False) -> str:
    """Return a file's text; in the guides and the README, a line break in a sentence is a space."""
    text = (HOME / file).read_text(encoding="utf-8")
    return text if raw or not file.startswith(("README", "docs")) else re.sub(r"(?<![|\n])\n(?![\n|])", " ", text)


def rounded(figure: str) -> str:
    """Return a figure to two digits after the point, halves upward as people round."""
    return str(Decimal(figure).quantize(Decimal("0.01"), ROUND_HALF_UP))


def both(rows: pd.DataFrame) -> str:
    """Return the mean AUC over ordered pairs, and in brackets on symmetrised weights."""
    return f"{rows['auc'].mean():.3f} ({rows['auc_symmetric'].mean():.3f})"
