"""Write report pages of several kinds of data, print how large they are, and with --shots photograph them.

    python tools/report_pages.py --out build/pages                 # pages and sizes
    python tools/report_pages.py --out build/pages --shots docs/report

All data are simulated: a survey, the same answers shuffled, counted ties, names with spelling mistakes, names by half
the people with places, larger surveys, a network whose leaders are supported, and two waves of a panel as groups.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

GROUP = "group"
WIDTHS = {1440: 900, 1024: 900, 390: 844}
ORDERED = ("trusts neighbours", "visits the market", "gives advice", "owns land", "feels safe")
WORDS = {
    "water": ("tap", "well", "river", "tank"),
    "language": ("Alur", "Luo", "Swahili", "Lendu", "English"),
    "group": ("savings", "church", "farmers", "none"),
}


def survey(count: int, seed: int = 0) -> pd.DataFrame:
    """Return the answers of households, which are alike within a village and less so beyond."""
    random = np.random.default_rng(seed)
    village = random.integers(0, max(3, min(40, count // 25)), count)
    table = pd.DataFrame(index=[f"household {1000 + k}" for k in range(count)])
    for name in ORDERED:
        centre = random.normal(size=village.max() + 1)[village]
        table[name] = np.clip(np.round(3 + 1.1 * centre + 0.7 * random.normal(size=count)), 1, 5)
    for name, words in WORDS.items():
        usual = random.integers(0, len(words), village.max() + 1)[village]
        other = random.integers(0, len(words), count)
        table[name] = np.asarray(words, dtype=object)[np.where(random.random(count) < 0.7, usual, other)]
    for name in ("age", "income", "plot size"):
        centre = random.normal(size=village.max() + 1)[village]
        table[name] = np.round(50 + 12 * centre + 9 * random.normal(size=count), 1)
    return table.mask(random.random(table.shape) < 0.03)


def signals(table: pd.DataFrame) -> pd.DataFrame:
    """Return the answers as numbers, one row for each signal."""
    coded = pd.get_dummies(table.astype(dict.fromkeys(WORDS, str)), dtype=float).fillna(table.mean(numeric_only=True))
    return ((coded - coded.mean()) / coded.std().replace(0, 1)).T


def learned(table: pd.DataFrame, **about: Any) -> dict[str, Any]:
    """Return the arguments of a page about the default network of a survey."""
    from nashgraph import ConsensusGL  # noqa: PLC0415 (the import is slow and a help text needs none)

    coded = signals(table)
    return {"model": ConsensusGL(random_state=0).fit(coded), "columns": table, "signals": coded, **about}


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    """Return a survey with each column shuffled: nothing is left in it."""
    random = np.random.default_rng(1)
    return pd.DataFrame({name: random.permutation(table[name].to_numpy()) for name in table}, index=table.index)


def counted() -> dict[str, Any]:
    """Return a village that counted its ties, next to the truth."""
    from nashgraph import TieModel  # noqa: PLC0415
    from nashgraph.cli.demo import drawn_village  # noqa: PLC0415

    village = drawn_village(seed=0)
    model = TieModel(random_state=0).fit(traits=village.traits, counts=village.counts, n_ties=village.n_ties)
    return {"model": model, "columns": village.traits, "title": "A village that counted its ties"}


def named(seed: int = 0, n: int = 70) -> pd.DataFrame:
    """Return people on a map who wrote the names of up to four friends, some with a mistake, half of them asked."""
    random = np.random.default_rng(seed)
    first = ("Anil", "Bela", "Chitra", "Dinesh", "Esha", "Farid", "Gita", "Hari", "Indu", "Jaya")
    last = ("Bose", "Das", "Nair", "Patil", "Rao", "Shah", "Singh")
    names = [f"{one} {other}" for other in last for one in first][:n]
    places = random.random((n, 2))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2) + 9.0 * np.eye(n)
    table = pd.DataFrame({"latitude": 12.9 + 0.02 * places[:, 1], "longitude": 77.5 + 0.02 * places[:, 0]})
    table.insert(0, "name", names)
    table["age"] = random.integers(18, 70, n)
    near = np.argsort(distance + 0.1 * random.random((n, n)), axis=1)
    for k in range(4):
        written = [names[other] for other in near[:, k]]
        table[f"friend {k + 1}"] = [name[:-2] + name[-1] if random.random() < 0.08 else name for name in written]
    table.loc[random.random(n) < 0.5, [f"friend {k + 1}" for k in range(4)]] = None
    return table


def reported(places: bool) -> dict[str, Any]:
    """Return the tie model of people who named friends, with or without their places."""
    from nashgraph import TieModel, read_study  # noqa: PLC0415

    table = named()
    if not places:
        table = table.drop(columns=["latitude", "longitude"])
    study = read_study(table)
    title = "Named by half of the people, with places" if places else "Names with spelling mistakes"
    model = TieModel(random_state=0).fit(study)
    return {"model": model, "columns": study.people, "spellings": study.names, "title": title}


def with_leaders() -> dict[str, Any]:
    """Return a network learned from what it made itself, by which signals tell who is central."""
    import networkx as nx  # noqa: PLC0415

    from nashgraph import ConsensusGL  # noqa: PLC0415
    from nashgraph.datasets import smooth_signals  # noqa: PLC0415

    network = nx.barabasi_albert_graph(60, 2, seed=3)
    made = smooth_signals(network, n_signals=200, filter="heat", random_state=0)
    table = pd.DataFrame(made, columns=[f"member {node + 1}" for node in network])
    return {"model": ConsensusGL(random_state=0).fit(table), "signals": table, "title": "A network with leaders"}


def panel(n: int = 20, n_questions: int = 24) -> pd.DataFrame:
    """Return the answers of the same people in two waves, with other friends in the second."""
    random = np.random.default_rng(0)
    waves = []
    for wave, group in (("2019", np.arange(n) // (n // 2)), ("2021", np.arange(n) % 2)):
        answers = random.normal(size=(2, n_questions))[group] * 1.2 + random.normal(size=(n, n_questions))
        table = pd.DataFrame(answers.round(2), columns=[f"question {k + 1}" for k in range(n_questions)])
        table.insert(0, "name", [f"person {k + 1}" for k in range(n)])
        table.insert(1, "wave", wave)
        waves.append(table)
    return pd.concat(waves)


def write_group_page(out: Path) -> None:
    """Write the page of two groups by the command, which alone makes one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "panel.csv"
        panel().to_csv(file, index=False)
        command = [sys.executable, "-m", "nashgraph", "learn", str(file), "--id", "name", "--group", "wave"]
        subprocess.run([*command, "--out", folder + "/out"], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(Path(folder) / "out" / "index.html", out)


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "survey": lambda: learned(survey(60), title="60 households"),
    "shuffled": lambda: learned(shuffled(survey(60)), title="60 households, shuffled"),
    "counts": counted,
    "names": lambda: reported(places=False),
    "places": lambda: reported(places=True),
    "communities": lambda: learned(survey(1000), title="1,000 households"),
    "large": lambda: learned(survey(5000), title="5,000 households"),
    "leaders": with_leaders,
}


def write_pages(cases: list[str], folder: Path) -> None:
    """Write a page of every case and print the sizes of the files."""
    from nashgraph.report import summarize, write_report  # noqa: PLC0415

    for case in cases:
        out = folder / f"report-{case}.html"
        if case == GROUP:
            write_group_page(out)
            print(f"{case:<12} {out.stat().st_size / 1e6:6.2f} MB  {out}", flush=True)
            continue
        about = CASES[case]()
        write_report(summarize(about.pop("model"), **about), out)
        print(f"{case:<12} {out.stat().st_size / 1e6:6.2f} MB  {out}", flush=True)


def photograph(cases: list[str], folder: Path, out: Path) -> None:
    """Write a picture of each page, three widths wide, light and dark."""
    from PIL import Image  # noqa: PLC0415 (matplotlib brings it)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (needed for pictures only)

    def shoot(page: Any, name: str) -> None:
        page.wait_for_timeout(500)
        picture = Image.open(BytesIO(page.screenshot()))
        picture.convert("RGB").save(out / f"{name}.webp", quality=42, method=6)  # a third of a PNG's size

    out.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for case in cases:
            for width, height in WIDTHS.items():
                for scheme in ("light", "dark"):
                    view = {"width": width, "height": height}
                    page = browser.new_page(viewport=view, color_scheme=scheme, reduced_motion="reduce")
                    page.goto((folder / f"report-{case}.html").resolve().as_uri())
                    page.wait_for_selector("html[data-ready], body.index")
                    shoot(page, f"{case}-{width}-{scheme}")
                    page.close()
        browser.close()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/pages"), help="folder for models and pages")
    parser.add_argument("--cases", nargs="+", choices=[*CASES, GROUP], default=[*CASES, GROUP], help="kinds of data")
    parser.add_argument("--shots", type=Path, help="folder for pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_pages(options.cases, options.out)
    if options.shots:
        photograph(options.cases, options.out, options.shots)


if __name__ == "__main__":
    main()
