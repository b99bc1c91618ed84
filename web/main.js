// The page's start, in order. What a test or a curious reader wants to look at is in `nashgraph`.

import { startAddress } from "./address.js";
import { aspects, startAspects } from "./aspects.js";
import { isOpen, members, startBubbles } from "./bubbles.js";
import { convergence, histogram } from "./charts.js";
import { byId, data, drawing, game, nodes, pairs, shownCount, state } from "./data.js";
import { INTERACTIONS, WELFARES, equilibriumOf, welfareOf } from "./game.js";
import { drawScreen } from "./network.js";
import { applyTheme, refresh, root, showLegend, startControls, startPath, startPointer, startTheme, startThreshold } from "./page.js";
import { startSaving } from "./save.js";
import { startSearch } from "./selection.js";
import { readColours, resize } from "./sheets.js";
import { camera, onPaper, onScreen, stage } from "./stage.js";
import { startTable } from "./table.js";
import { startTabs } from "./tabs.js";
import { asGiven, asTried, startWhatIf, trial } from "./whatif.js";
import { showDrives } from "./why.js";

root.classList.add("scripted");
startThreshold();
resize();
readColours(onPaper);
readColours(onScreen);
for (const container of document.querySelectorAll("[data-chart]")) {
  const name = container.dataset.chart;
  histogram(container, data.distributions[name], name === "weight" ? "weight" : "neighbours", name === "weight" ? "lines" : "nodes");
}
if (data.history) convergence(byId("history-chart"), data.history, data.certificate, document.querySelector("#history figcaption").textContent);
showLegend();
startAspects();
showDrives();
startTable();
startBubbles();
startPath();
startControls();
startSearch();
startSaving();
startWhatIf();
startPointer();
startTheme();
applyTheme();
startTabs();
startAddress();
refresh();
new ResizeObserver(() => {
  if (matchMedia("print").matches) return;
  resize();
  drawScreen();
}).observe(stage);
const actions = () => ({ before: asGiven, after: asTried });
globalThis.nashgraph = { INTERACTIONS, WELFARES, actions, aspects, camera, data, drawing, equilibriumOf, game, isOpen, members, nodes, pairs, shownCount, onPaper, onScreen, state, trial, welfareOf };
root.dataset.ready = "true";
