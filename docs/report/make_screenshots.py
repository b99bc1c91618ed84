"""Make the pictures of the report: ``python docs/report/make_screenshots.py``.

``dark.png``, which the documentation shows, is made in this folder, the others in ``docs/_build/report``: they are to
be looked at after a change to the page, not kept. Needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
from playwright.sync_api import Browser, Page, sync_playwright

from nashgraph import GLGP, ConsensusGL, edge_auc
from nashgraph.datasets import smooth_signals
from nashgraph.report import summarize, write_report

HERE = Path(__file__).parent
LOOK = HERE.parent / "_build" / "report"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 2600}
PAPER = {"width": 688, "height": 970}  # A4 within its margins
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "مريم الخوارزمي", "שרה כהן", 'Ana "la jefa" 🌾']


def karate_report(out: Path) -> None:
    """Write the report of the karate club."""
    club = nx.karate_club_graph()
    signals = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
    table = pd.DataFrame(signals, columns=[f"member {node + 1}" for node in club])
    model = ConsensusGL(random_state=0).fit(table)
    summary = summarize(
        model,
        title="Zachary’s karate club, learned from signals",
        source="signals.csv",
        scores={"AUC": edge_auc(club, model, symmetrize="mean")},
        notes=["The table has 50 signals on 34 members. Nothing was dropped or filled in."],
        columns=table.T.add_prefix("signal "),
        truth=club,
    )
    write_report(summary, out)


def hostile_report(out: Path) -> None:
    """Write the report of three thousand nodes, the most popular of which have names that are hard to show."""
    graph = nx.barabasi_albert_graph(3000, 2, seed=1)
    signals = smooth_signals(graph, n_signals=50, filter="gmrf", random_state=0)
    names = [*HOSTILE, *(f"household {node}" for node in range(len(HOSTILE), 3000))]
    model = GLGP(lam=0.3, degree=6).fit(pd.DataFrame(signals, columns=names))
    write_report(summarize(model, title="Three thousand households <b>&</b> hard names", source="<table>.csv"), out)


def opened(browser: Browser, file: Path, viewport: dict[str, int], **options: Any) -> Page:
    """Open a report and wait until all of it is drawn, for paper too."""
    page = browser.new_page(viewport=viewport, **options)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector("#printed[width='2160']", state="attached")
    return page


def save(page: Page, file: Path, **options: Any) -> None:
    """Save what a page shows, in 256 colours: a third of the bytes, and rare colours stay what they are."""
    from PIL import Image  # noqa: PLC0415 (comes with matplotlib)

    page.screenshot(path=file, **options)
    Image.open(file).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE).save(file, optimize=True)
    page.close()


def main() -> None:
    """Make all pictures."""
    LOOK.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        karate, hostile = Path(folder) / "karate.html", Path(folder) / "hostile.html"
        karate_report(karate)
        hostile_report(hostile)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        save(opened(browser, karate, DESKTOP), LOOK / "light.png", full_page=True)

        dark = opened(browser, karate, DESKTOP, color_scheme="dark", reduced_motion="reduce")
        dark.fill("#search", "member 34")
        dark.locator("#search").blur()
        save(dark, HERE / "dark.png")

        save(opened(browser, karate, PHONE, has_touch=True, is_mobile=True), LOOK / "phone.png")

        paper = opened(browser, karate, DESKTOP, color_scheme="dark")
        paper.set_viewport_size(PAPER)
        paper.emulate_media(media="print")
        save(paper, LOOK / "print.png", full_page=True)

        save(opened(browser, hostile, {**DESKTOP, "height": 1250}), LOOK / "hostile.png")
        browser.close()


if __name__ == "__main__":
    main()
