"""Every measured figure quoted in the texts is the one that a command printed, cell by cell.

A quote is a piece of text with {} for each figure, or {2} for one rounded to two digits after the point, and the cells
that the figures come from, in the same order. Texts in ``COVERED`` may have no other figures with decimals. To quote a
new figure, add a line to ``QUOTES``.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

HOME = Path(__file__).parent.parent
README, SEEDING, PERFORMANCE = "README.md", "docs/guide/seeding.md", "docs/guide/performance.md"
CLUSTER_GUIDE, SURE, CHOOSING = "docs/guide/cluster.md", "docs/guide/sure.md", "docs/guide/choosing.md"
WHAT_TO_ASK, FAQ, CHANGES = "docs/guide/what_to_ask.md", "docs/faq.md", "CHANGELOG.md"
COVERED = (README, SEEDING, WHAT_TO_ASK)  # every figure with two digits after the point is in a quote

RECOVERY, RESULTS, STRESS = "benchmarks/RECOVERY.md", "benchmarks/RESULTS.md", "benchmarks/STRESS.md"
GPU, AUTO_LAM, SKIPPING = "benchmarks/GPU.md", "benchmarks/AUTO_LAM.md", "benchmarks/SKIPPING.md"
SELECTION, DIFFUSION, EVIDENCE = "benchmarks/SELECTION.md", "benchmarks/DIFFUSION.md", "benchmarks/EVIDENCE.md"
CLUSTER, RELIABILITY = "benchmarks/CLUSTER.md", "benchmarks/RELIABILITY.md"


class Cell(NamedTuple):
    """A cell of a printed table: the section's heading, the row's first cell or first two, and the column's heading."""

    file: str
    section: str
    row: str
    column: str

    def read(self) -> str:
        """Return the cell without emphasis."""
        for rows in tables(self.file, self.section):
            headings, *body = rows
            for row in body:
                if self.column in headings and self.row in (row[0], " | ".join(row[:2])):
                    return row[headings.index(self.column)]
        raise LookupError(f"{self.file} has no {self.row!r} under {self.column!r} in the section {self.section!r}")


class Sentence(NamedTuple):
    """A figure in a printed sentence: the words around it, with the figure as the pattern's only group."""

    file: str
    pattern: str

    def read(self) -> str:
        """Return the figure; the pattern must fit one place only."""
        (figure,) = re.findall(self.pattern, read(self.file))
        return figure


class Value(NamedTuple):
    """A figure computed from the file of trials that an experiment wrote."""

    figure: str

    def read(self) -> str:
        """Return the figure."""
        return self.figure


Source = Cell | Sentence | Value


@cache
def tables(file: str, section: str) -> list[list[list[str]]]:
    """Return the tables of a section: rows of cells, the headings first."""
    parts = re.split(r"(?m)^## (.*)\n", read(file, raw=True))
    headings, bodies = parts[1::2], parts[2::2]
    found = []
    for block in re.findall(r"(?m)(?:^\|.*\n)+", bodies[headings.index(section)] + "\n"):
        lines = [line for line in block.splitlines() if not re.fullmatch(r"[|:\- ]+", line)]
        found.append([[cell.strip().strip("*") for cell in line.strip("|").split("|")] for line in lines])
    return found


def read(file: str, raw: bool = False) -> str:
    """Return a file's text; unless raw, a line break in a sentence is a space."""
    text = (HOME / file).read_text(encoding="utf-8")
    return text if raw else re.sub(r"(?<![|\n])\n *(?![\n|])", " ", text)


def rounded(figure: str, digits: int) -> str:
    """Return a figure to some digits after the point, halves upward as people round."""
    return str(Decimal(figure).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def filled(quote: str, sources: list[Source]) -> str:
    """Return a quote with its figures."""
    figures = iter(sources)

    def figure(place: re.Match[str]) -> str:
        value = next(figures).read().replace("-", "−")
        return rounded(value, int(place[1])) if place[1] else value

    text = re.sub(r"\{(\d?)\}", figure, quote)
    assert next(figures, None) is None, f"more figures than places in {quote!r}"
    return text


def recovery(words: str, section: str, control: str, name: str) -> tuple[str, str, list[Source]]:
    """Return the quote of a line of the README's first table: ours, the best control, chance."""
    cells = [Cell(RECOVERY, section, method, "AP") for method in ("consensus", control, "random")]
    return README, f"{words} | {{}} | {{}} ({name}) | {{}} |", cells


def asked(row: str, column: str = "average precision", section: str = "Villages") -> Cell:
    """Return a cell of the tables about questions."""
    return Cell(EVIDENCE, section, row, column)


def shares(networks: str, chosen: str, *kinds: str) -> list[Source]:
    """Return the shares of the possible gain and their errors: the last two figures of a row."""
    row = r"\| {}, {} \| {} \|(?: \S+ \|){{2}} "
    places = (r"(\S+) \| \S+ \|", r"\S+ \| (\S+) \|")
    return [Sentence(DIFFUSION, row.format(networks, kind, chosen) + place) for kind in kinds for place in places]


def speedups(*sections: str) -> list[Source]:
    """Return the least and the most times that skipping is faster at 100,000 nodes."""
    times = []
    for section in sections:
        headings, *rows = tables(SKIPPING, section)[0]
        (row,) = [row for row in rows if row[0] == "100,000"]
        times += [float(row[place]) for place, heading in enumerate(headings) if heading.endswith("times faster")]
    return [Value(str(min(times))), Value(str(max(times)))]


def coverage(least: bool) -> Value:
    """Return the least or most percent of fresh values that intervals cover."""
    (rows,) = tables(RELIABILITY, "What the intervals cover")
    percents = [int(cell.split()[0]) for row in rows[1:] for cell in row[1:]]
    return Value(str(min(percents) if least else max(percents)))


CLOUD = "Gaussian cloud"
FIT = "Whole fits, from a NumPy array to the CSR result, tol = 1e-5"
LIKENESS = "control: likeness of traits"
STRONGEST = "control: mixing and numbers of ties"

QUOTES: list[tuple[str, str, list[Source]]] = [
    recovery("signals that the network made (96 synthetic networks)", "Synthetic networks", "cosine", "cosine"),
    recovery(
        "ordinary answers (59 real networks of 10 populations)",
        "Real networks, real signals",
        "inner product",
        "inner product",
    ),
    *(
        (README, f"| {words} | {{}} | {{}} | {{}} |", [asked(row), asked(STRONGEST), asked("control: chance")])
        for words, row in (
            ("numbers of ties with ten traits, from 30% of households", "counts, 30% asked"),
            (
                "the same, with 30% of ties forgotten and numbers off by one",
                "counts, 30% asked, 30% forgotten, off by one",
            ),
            ("the same numbers from everybody, exact", "counts, all asked"),
        )
    ),
    (
        README,
        "| the same from 30% of households, with house numbers | {} | {} (distance) | {} |",
        [
            Cell(EVIDENCE, "Targets", "counts, 30% asked, with house numbers", "now"),
            Sentence(EVIDENCE, r"chance \S+; distance of house numbers ([\d.]+) \|"),
            Sentence(EVIDENCE, r"chance (\S+); distance of house numbers [\d.]+ \|"),
        ],
    ),
    (
        README,
        "| real names, half of them hidden (ten villages) | {} | {} (gradient boosting) | {} |",
        [
            Sentence(EVIDENCE, r"\| real reports, half hidden: AP; log loss \|[^|]*\|[^|]*\| ([\d.]+);"),
            Sentence(EVIDENCE, r"; gradient boosting, all villages ([\d.]+), "),
            Sentence(EVIDENCE, r"gradient boosting, by village [^|]*?; chance ([\d.]+), "),
        ],
    ),
    (README, "learns 100,000 nodes on two cores in {} s", [Sentence(RESULTS, r"\nN = 100,000: (\S+) s, \S+ s of CPU")]),
    *(
        (
            PERFORMANCE,
            f"| {nodes} | {{}} | {{}} |",
            [Cell(GPU, FIT, nodes, column) for column in ("again, s", "GB on the GPU")],
        )
        for nodes in ("20,000", "50,000", "1,048,576")
    ),
    (PERFORMANCE, "the same {} edges", [Sentence(GPU, r"of ([\d,]+) edges 0 are in one graph only")]),
    (
        PERFORMANCE,
        "search is {0} to {0} times faster",
        speedups("Five latent dimensions and noise", "40 latent classes, answers 1 to 5, one in five at random"),
    ),
    (
        PERFORMANCE,
        "few distinct answers {0} to {0} times",
        speedups("Few distinct answers: 4 latent classes, yes or no, three in ten at random"),
    ),
    (PERFORMANCE, "a Gaussian cloud {1} to {1} times", speedups(CLOUD)),
    (
        CLUSTER_GUIDE,
        "1, 2, 4 workers on 2 cores | {}, {}, {} s | {}, {}, {} s |",
        [
            Value(Cell(CLUSTER, section, workers, "seconds (of the first's)").read().split()[0])
            for section in (
                "One scan of all pairs, N = 20,000",
                "A whole GLGP fit, N = 20,000, 16 signals",
            )
            for workers in ("1", "2", "4")
        ],
    ),
    (CLUSTER_GUIDE, "one H200 | | {} s", [Cell(GPU, FIT, "1,048,576", "again, s")]),
    (
        CLUSTER_GUIDE,
        "measured, {} MB at N = 20,000, {} MB at 200,000 and {} MB at 1,000,000. Python with the libraries takes "
        "another {} MB",
        [
            *(
                Cell(CLUSTER, "Memory of a worker", nodes, "MB more at the peak of a task")
                for nodes in ("20,000", "200,000", "1,000,000")
            ),
            Cell(CLUSTER, "Memory of a worker", "1,000,000", "MB with the libraries"),
        ],
    ),
    (
        FAQ,
        "learned 100,000 nodes on two cores in {} s, with {} GB",
        [
            Sentence(RESULTS, r"\nN = 100,000: (\S+) s, \S+ s of CPU"),
            Sentence(RESULTS, r"\nN = 100,000: \S+ s, \S+ s of CPU.*process ([\d.]+) GB"),
        ],
    ),
    (
        FAQ,
        "with the true degrees as benefit it gains {} average precision",
        [Cell(AUTO_LAM, "By benefit", "true degrees", "auto, always")],
    ),
    (
        CHOOSING,
        "{} average precision over five benefits. With the true degrees as benefit it gains {}. Ten times that `lam` "
        "gains nothing even with the true degrees ({}) and loses {} over all",
        [
            Cell(AUTO_LAM, "Over all", "all", "auto, always"),
            Cell(AUTO_LAM, "By benefit", "true degrees", "auto, always"),
            Cell(AUTO_LAM, "By benefit", "true degrees", "10 x, always"),
            Cell(AUTO_LAM, "Over all", "all", "10 x, always"),
        ],
    ),
    (
        SURE,
        "five on average in {} of the settings, and {} in the worst",
        [
            Sentence(SELECTION, r"more than 5 on average in (\d+) settings"),
            Sentence(SELECTION, r"\| tree of preferential attachment \| 50 gmrf \|.*\| (\S+) \| \d+ % \|"),
        ],
    ),
    (
        SEEDING,
        "are a little better ({} ± {} and {} ± {})",
        shares("villages", "learned network, by influence", "seeds, T = 3", "seeds, T = 6"),
    ),
    *(
        (
            SEEDING,
            f"| {kind} | {{}} ± {{}} | {{}} ± {{}} | {{}} |",
            [
                *shares(kind, "learned network", "seeds, T = 6", "key players"),
                Sentence(DIFFUSION, rf"\| {kind}, key players \| learned network \|(?: \S+ \|){{4}} (\S+) \|"),
            ],
        )
        for kind in ("preferential attachment", "communities", "small world")
    ),
    *(
        (
            SEEDING,
            f"{words} | {{}} ± {{}} | {{}} ± {{}} |",
            shares("villages", chosen, "seeds, T = 3", "seeds, T = 6"),
        )
        for words, chosen in (
            ("| on the learned network", "learned network"),
            ("told who was surveyed", "learned network, told hhSurveyed"),
            ("anybody who was surveyed", "control: hhSurveyed"),
            ("is a leader in the census", "leaders"),
        )
    ),
    (
        CHANGES,
        "{2} with ten counting questions to everybody, against {2} for the best control",
        [asked("counts, all asked"), asked("control: mixing and numbers of ties")],
    ),
    (CHANGES, "intervals hold {} to {}% of what fresh signals give", [coverage(True), coverage(False)]),
    (WHAT_TO_ASK, "| nothing: likeness of census answers | {2} | |", [asked(LIKENESS)]),
    *(
        (WHAT_TO_ASK, f"| {words} | {{2}} | {{2}} |", [asked(row), asked(row, "seeding")])
        for words, row in (
            ("everybody: the number of ties", "number of ties, all asked"),
            ("10% of households: the number of ties and ten counts", "counts, 10% asked"),
            ("30% of households: the same", "counts, 30% asked"),
            ("everybody: the same, answered exactly", "counts, all asked"),
            ("everybody: the same, with 30% of ties forgotten", "counts, all asked, 30% forgotten"),
            ("everybody: the same, also with every answer off by up to one", "the same and counts off by one"),
            ("everybody: five names", "five names each"),
        )
    ),
    (
        WHAT_TO_ASK,
        "Five counting questions instead of ten reach {2} when everybody answers exactly, twenty reach {2}.",
        [asked(f"{count} traits, 100% asked", section="Traits") for count in (5, 20)],
    ),
    (
        WHAT_TO_ASK,
        "50 signals alone reach {2}, counts from everybody (15% forgotten) {2}, and both together {2}",
        [
            asked(row, section="Signals")
            for row in (
                "50 signals: consensus",
                "100% asked eight traits, 15% forgotten",
                "100% asked eight traits, 15% forgotten, 50 signals",
            )
        ],
    ),
    (
        WHAT_TO_ASK,
        "With the five of `ask`, average precision reached {2}, with five at random {2}, and without them {2}. Seeding "
        "gained {2} and {2} of what is possible. People with many expected ties ({2} and {2})",
        [
            asked("as ask() says", section="Next interviews"),
            asked("at random", section="Next interviews"),
            asked("nobody", section="Next interviews"),
            asked("as ask() says", "seeding", "Next interviews"),
            asked("at random", "seeding", "Next interviews"),
            asked("most expected ties", section="Next interviews"),
            asked("most expected ties", "seeding", "Next interviews"),
        ],
    ),
    (
        WHAT_TO_ASK,
        "seeding gained {2}, at random {2}. Average precision was the same ({2}), and the AUC a little lower "
        "({2} against {2})",
        [
            asked("as ask() says", "seeding", "Ask"),
            asked("at random", "seeding", "Ask"),
            asked("as ask() says", section="Ask"),
            asked("as ask() says", "AUC", "Ask"),
            asked("at random", "AUC", "Ask"),
        ],
    ),
    (
        WHAT_TO_ASK,
        "reached {2}, five at random {2}, the five that split people most evenly {2}",
        [
            asked(row, section="Questions")
            for row in (
                "the five that ask_about() says",
                "five questions at random",
                "the five that split people most evenly",
            )
        ],
    ),
    (
        WHAT_TO_ASK,
        "The measured figures are {2}, {2}, {2} and {2}",
        [
            asked("counts, all asked"),
            asked("5 traits, 100% asked", section="Traits"),
            asked("counts, 30% asked"),
            asked("number of ties, all asked"),
        ],
    ),
]

# Figures with two digits that are no measurements of ours: what a plan says before any data, settings, thresholds.
SETTINGS = {WHAT_TO_ASK: {"0.35", "0.25", "0.95"}, SEEDING: set(), README: {"3.11"}}


@pytest.mark.parametrize(("text", "quote", "sources"), QUOTES, ids=[quote[:40] for _, quote, _ in QUOTES])
def test_a_quoted_figure_is_the_one_in_its_cell(text, quote, sources):
    assert filled(quote, sources) in read(text).replace("-0.", "−0.")


@pytest.mark.parametrize("text", COVERED)
def test_every_figure_of_a_text_is_quoted_from_a_cell(text):
    rest = re.sub(r"(?s)```.*?```", "", read(text)).replace("-0.", "−0.")
    for file, quote, sources in QUOTES:
        if file == text:
            rest = rest.replace(filled(quote, sources), "")
    assert {*re.findall(r"(?<![\d.])\d+\.\d\d+", rest)} <= SETTINGS[text]


def test_a_figure_is_rounded_and_not_cut():
    assert filled("{0} s, {2}, {}", [Value("27.55"), Value("0.345"), Value("0.345")]) == "28 s, 0.35, 0.345"


def test_a_figure_of_another_row_is_not_accepted():
    with pytest.raises(LookupError, match="no 'counts, 31% asked'"):
        asked("counts, 31% asked").read()
    assert asked("at random", section="Ask").read() == "0.356"
    assert asked("at random", "AUC", section="Ask").read() == "0.783"


def test_the_verdicts_are_those_of_the_last_run():
    report = read("results/REPRODUCTION.md", raw=True).split("## ")[0]
    verdicts = dict(re.findall(r"\n\| (\w+ \d): [^|]* \| ([^|]*) \|", report))
    assert verdicts == dict.fromkeys(("Table 1", "Figure 2", "Theorem 1"), "reproduced") | dict.fromkeys(
        ("Figure 1", "Table 2", "Table 3"), "partly reproduced"
    )
    assert "Table 1, Figure 2 and Theorem 1 are reproduced; Figure 1 and Tables 2 and 3 only partly" in read(README)


def test_the_best_control_of_a_table_is_the_best():
    """A quoted control is the highest of its table, so that no stronger one is left out."""
    controls = ("negative distance", "cosine", "correlation", "inner product", "inverse covariance", "benefit alone")
    for section, best in (
        ("Synthetic networks", "cosine"),
        ("Real networks, real signals", "inner product"),
    ):
        scores = {name: float(Cell(RECOVERY, section, name, "AP").read()) for name in controls}
        assert max(scores, key=scores.get) == best
    for rows in tables(EVIDENCE, "Villages"):
        scores = {row[0]: float(row[1]) for row in rows[1:] if row[0].startswith("control")}
        assert max(scores, key=scores.get) == STRONGEST
