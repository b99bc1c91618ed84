"""Statements that the texts got wrong once: each is checked against the library, and the wrong wording stays away."""

import re
from pathlib import Path

import pandas as pd
import pytest

from nashgraph import ConsensusGL
from nashgraph.consensus.stability import halves
from nashgraph.graph import NOT_CENTRAL
from nashgraph.interventions import Game, answer_questions

HOME = Path(__file__).parent.parent
FOLDERS = ("docs", "src/nashgraph/report/assets", "web", "examples")
ENDINGS = (".md", ".rst", ".html", ".js", ".py")
BUILT = ("_build", "generated", "gallery", "page.js")
PAGES = [
    path
    for folder in FOLDERS
    for path in sorted((HOME / folder).rglob("*"))
    if path.suffix in ENDINGS and not any(part in BUILT for part in path.parts)
]
TEXTS = {str(path.relative_to(HOME)): path.read_text(encoding="utf-8") for path in PAGES}
TEXTS |= {name: (HOME / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
SOURCE = {str(path.relative_to(HOME)): path.read_text(encoding="utf-8") for path in (HOME / "src").rglob("*.py")}
INTERVAL = "90% interval for the value that the same number of new signals would give"


def sentences(text):
    """Return the sentences of a text on one line each."""
    return re.split(r"(?<=[.!?:;|])\s", " ".join(text.split()))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (r"intervals? [^.]*(?:contain|hold)s? nine of ten", "an interval is for new signals, not for the replicates"),
        (r"intervals? (?:over|of) (?:the |its )?replicates", "an interval is for new signals, not for the replicates"),
        (r"bootstrap (?:replicate|sample)", "replicates are random halves of the signals"),
        (r"reweighted signals", "replicates are random halves of the signals"),
        (r"resamples?\b", "the word is replicate"),
        (r"now come first", "the command says that nobody can be named as central"),
        (r"controls that learn nothing[^.]*shuffled", "a shuffled benefit is an ablation of GLGP, which learns"),
        (r"got much of the possible gain", "AUTO_LAM.md measures +0.0002"),
        (r"fresh signals would give in 90%", "an interval has one definition"),
        (r"this is about the arithmetic", "say what a certificate does not show"),
        (r"how settled|however one looks|of two resamples|among how many neighbours", "rewritten in plain words"),
        (r"[Ii]t is not settled who", "rewritten in plain words"),
        (r"from what is unfinished|What the network is good for, with", "rewritten in plain words"),
        (r"allows much more than", "ten times the default strength gains nothing with the true degrees"),
        (r"often (?:far |much )?too\s+weak", "ten times the default strength gains nothing with the true degrees"),
    ],
)
def test_a_wrong_statement_does_not_come_back(wrong, why):
    places = [
        f"{name}: {each}"
        for name, text in (TEXTS | SOURCE).items()
        for each in sentences(text)
        if re.search(wrong, each)
    ]
    assert places == [], why


@pytest.mark.parametrize("file", ["docs/guide/sure.md", "docs/glossary.md", "docs/cheat_sheet.md"])
def test_an_interval_has_one_definition(file):
    assert INTERVAL in " ".join(TEXTS[file].split())


def test_the_page_and_the_written_example_use_the_same_definition():
    for file in ("docs/guide/write_up.md", "src/nashgraph/report/assets/reading.html"):
        assert "the same number of new signals would give" in " ".join(TEXTS[file].replace("> ", "").split())


def test_replicates_are_halves_of_the_signals():
    """What the glossary says of a replicate: each is learned from a random half of the signals, and its rest."""
    drawn = list(halves(20, 3, 0))
    assert [len(rows) for rows in drawn] == [10] * 6
    assert sorted([*drawn[0], *drawn[1]]) == list(range(20))


def test_act_refuses_what_the_guides_say_it_refuses(random):
    """Key players, support, seeds and brokers are not named for a survey without questions about ties."""
    answers = pd.DataFrame(random.integers(1, 6, size=(12, 30)), columns=[f"person {k}" for k in range(30)])
    model = ConsensusGL(signals="answers", random_state=0).fit(answers)
    refused = {answer.name for answer in answer_questions(Game.on(model)) if answer.sentence == NOT_CENTRAL}
    assert refused == {"players", "group", "support", "ties_to_build", "seeds", "roles"}
    for file in ("docs/guide/act.md", "docs/guide/seeding.md", "docs/guide/positions.md"):
        assert (
            "without questions about ties" in " ".join(TEXTS[file].split()) or "no question about ties" in TEXTS[file]
        )
    assert "needs `--n-ties`, `--counts` or `--names`" in TEXTS["docs/cheat_sheet.md"]


def test_links_between_pages_lead_somewhere():
    """Links of Markdown and of HTML in it, to files of the repository."""
    broken = []
    for name, text in TEXTS.items():
        if name.endswith(".md"):
            plain = re.sub(r"(?s)```.*?```", "", text)
            for link in re.findall(r"\]\(([^)\s]+)\)|href=\"([^\"]+)\"", plain):
                target = (link[0] or link[1]).partition("#")[0]
                if target and "://" not in target and not (HOME / name).parent.joinpath(target).exists():
                    broken.append(f"{name}: {target}")
    assert broken == []


def test_pictures_are_used():
    """Every picture of the documentation is on a page."""
    texts = " ".join(TEXTS.values())
    pictures = [path for path in (HOME / "docs").rglob("*.png") if not any(part in BUILT for part in path.parts)]
    assert pictures
    assert [str(path) for path in pictures if path.name not in texts] == []


def test_every_fact_that_code_cites_is_in_the_mathematics():
    """Comments cite facts by number; each is in the list of docs/mathematics.md, and its link leads somewhere."""
    page = TEXTS["docs/mathematics.md"]
    facts = dict(re.findall(r"(?m)^(\d+)\. \[[^\]]*\]\(#([^)]*)\)", page))
    headings = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"(?m)^## (.*)", page)}
    assert set(facts.values()) <= headings
    code = [path for folder in ("src", "tests", "benchmarks") for path in (HOME / folder).rglob("*.py")]
    for path in code:
        text = path.read_text(encoding="utf-8")
        assert "of the " + "design" not in text, path
        for cited in re.findall(r"\b[Ff]acts? (\d+(?:(?:, | and | to |\s+and )\d+)*)", text):
            assert set(re.findall(r"\d+", cited)) <= set(facts), (path, cited)
