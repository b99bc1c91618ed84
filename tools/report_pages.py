"""Write report pages of networks of several sizes, print how large they are, and with --shots photograph them.

    python tools/report_pages.py --out build/pages                 # pages and sizes
    python tools/report_pages.py --out build/pages --shots build/shots

The networks are synthetic: communities of households that answer a survey with scales, categories and numbers.
"""

from __future__ import annotations

import argparse
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIZES = (34, 60, 600, 5_000, 20_000)
SHOT_SIZES = (60, 600, 20_000)
WIDTHS = {1440: 900, 768: 1024, 390: 844}
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


def fitted(count: int, folder: Path) -> tuple[object, pd.DataFrame]:
    """Return the default model of a survey, and the survey; a model that was fitted before is read from its file."""
    from nashgraph import ConsensusGL  # noqa: PLC0415 (the import is slow and a help text needs none)

    table, file = survey(count), folder / f"model-{count}.pickle"
    if not file.exists():
        model = ConsensusGL(random_state=0).fit(signals(table))
        file.write_bytes(pickle.dumps(model))
    return pickle.loads(file.read_bytes()), table


def write_pages(sizes: list[int], folder: Path) -> None:
    """Write a page of every size and print the sizes of the files."""
    from nashgraph.report import summarize, write_report  # noqa: PLC0415

    for count in sizes:
        model, table = fitted(count, folder)
        out = folder / f"report-{count}.html"
        write_report(summarize(model, title=f"{count:,} households", columns=table), out)
        print(f"{count:>7,} nodes  {out.stat().st_size / 1e6:6.2f} MB  {out}", flush=True)


def photograph(sizes: list[int], folder: Path, out: Path) -> None:
    """Write a picture of each page, three widths wide, light and dark."""
    from PIL import Image  # noqa: PLC0415 (matplotlib brings it)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (needed for pictures only)

    def shoot(page: Any, name: str) -> None:
        file = out / f"{name}.png"
        page.wait_for_timeout(500)
        page.screenshot(path=str(file))
        Image.open(file).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE).save(
            file, optimize=True
        )  # a third of the size

    out.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for count in sizes:
            for width, height in WIDTHS.items():
                for scheme in ("light", "dark"):
                    view = {"width": width, "height": height}
                    page = browser.new_page(viewport=view, color_scheme=scheme, reduced_motion="reduce")
                    page.goto((folder / f"report-{count}.html").resolve().as_uri())
                    page.wait_for_selector("html[data-ready]")
                    shoot(page, f"{count}-{width}-{scheme}")
                    page.close()
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark", reduced_motion="reduce")
        page.goto((folder / f"report-{sizes[0]}.html").resolve().as_uri())
        page.fill("#search", "household 1007")  # a name that every survey has
        page.keyboard.press("Enter")
        shoot(page, "dark")  # the one that README.md shows
        browser.close()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/pages"), help="folder for models and pages")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of nodes")
    parser.add_argument("--shots", type=Path, help="folder for pictures")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write_pages(given.sizes, given.out)
    if given.shots:
        photograph([size for size in given.sizes if size in SHOT_SIZES], given.out, given.shots)


if __name__ == "__main__":
    main()
