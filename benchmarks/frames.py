"""Frames a second while the report's network is dragged: ``python -m benchmarks.frames``.

All communities are open. Either every frame is drawn, or the picture is moved and drawn again at rest, as the page does
if drawing takes long. Headless Chromium without a graphics card is slower than a reader's browser.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from scipy import sparse

from nashgraph.certificate import exact
from nashgraph.estimators import GraphEstimator
from nashgraph.graph import LearnedGraph
from nashgraph.report import summarize, write_report

SIZES = (5_000, 20_000)
DEGREE, BLOCK, OUTSIDE = 10, 150, 0.25
DRAG = """async (anew) => {
  if (!state.open.size) byId("open-all").click();
  await new Promise((done) => setTimeout(done, 1500));
  let [frames, last] = [0, performance.now()];
  const gaps = [];
  moving = true;
  await new Promise((done) => {
    const step = (now) => {
      gaps.push(now - last);
      last = now;
      if (anew) cost = 0;
      transform = d3.zoomIdentity.translate(-200 + 2 * frames, -frames).scale(1.5);
      redraw();
      frames += 1;
      if (d3.sum(gaps) > 4000) done();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  moving = false;
  return 1000 / d3.mean(gaps.slice(1));
}"""


class Held(GraphEstimator):
    """A graph of communities, as if it had been fitted."""

    def __init__(self, n_nodes: int = SIZES[0]) -> None:
        self.n_nodes = n_nodes

    certificate_ = exact()

    @property
    def graph_(self) -> LearnedGraph:
        """Everyone listens to ten others, most of them in the same block."""
        random = np.random.default_rng(0)
        target = np.repeat(np.arange(self.n_nodes), DEGREE)
        near = target // BLOCK * BLOCK + random.integers(0, BLOCK, len(target))
        source = np.where(random.random(len(target)) < OUTSIDE, random.integers(0, self.n_nodes, len(target)), near)
        shape = (self.n_nodes, self.n_nodes)
        weight = random.random(len(target))
        return LearnedGraph.of(sparse.coo_array((weight, (target, source.clip(max=self.n_nodes - 1))), shape=shape))


def main() -> None:
    """Print the frames a second, both ways."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for n_nodes in SIZES:
            file = Path(folder) / "report.html"
            write_report(summarize(Held(n_nodes)), file)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            anew, moved = (page.evaluate(DRAG, way) for way in (True, False))
            sys.stdout.write(
                f"{n_nodes:,} nodes: {anew:.0f} frames a second drawn anew, {moved:.0f} as the page does\n"
            )
        browser.close()


if __name__ == "__main__":
    main()
