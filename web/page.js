// The controls, and what they say. Every name goes into the page as text.

import * as d3 from "d3";
import { showAspect } from "./aspects.js";
import { bubbleAt, bubbles, isDrawn, members, openBubble } from "./bubbles.js";
import { paretoFront } from "./charts.js";
import { VERDICTS, checks, sayChecked } from "./checks.js";
import { shortName } from "./circles.js";
import { LINES_AT_FIRST, byId, currentView, data, drawing, drawnCount, edges, element, nodes, shownCount, state } from "./data.js";
import { LINES_AT_ONCE } from "./lines.js";
import { drawOverlay, drawScreen, redraw } from "./network.js";
import { clear, select, showSelection } from "./selection.js";
import { base, camera, onScreen, readColours, stage } from "./sheets.js";
import { figure, said } from "./text.js";
import { move, nodeAt, surface, zoom, zoomTo } from "./zoom.js";

export const root = document.documentElement;

function sayShown() {
  const list = edges();
  const count = shownCount(list);
  const kind = state.directed ? "lines" : "pairs";
  const known = list.drawn.length;
  const whole = state.directed && currentView().n_edges > known ? ` held here (the network has ${said(currentView().n_edges)})` : "";
  const { frequency } = list.edge_columns;
  const least = `${Math.round(100 * state.sure)} %`;
  if (frequency) byId("sure").textContent = least;
  const those = frequency ? `that at least ${least} of the members have` : `of weight ${figure(list.weight[list.drawn[count - 1]])} or more`;
  const most = count > LINES_AT_ONCE ? `, ${said(LINES_AT_ONCE)} at once, the strongest` : "";
  const which = count < known ? `, those ${those}` : "";
  byId("shown").textContent = `Shown: ${count < known ? said(count) : "all"} of ${said(known)} ${kind}${whole}${which}${most}.`;
  byId("threshold").setAttribute("aria-valuetext", `${frequency ? `${least}: ` : ""}${count} ${kind} shown`);
  stage.dataset.edges = count;
  stage.dataset.nodes = d3.sum(d3.range(drawnCount), isDrawn);
  stage.dataset.view = state.view;
  stage.dataset.selected = state.selected === null ? "" : nodes.name[state.selected];
  base.setAttribute("aria-label", `A drawing of ${drawnCount} nodes and ${count} ${kind}. The table of nodes and the search field give the same in words.`);
  sayChecked();
}

export function refresh() {
  sayShown();
  showSelection();
  redraw();
}

function chooseView(view) {
  state.view = view;
  byId("lam").value = view;
  const { lam } = currentView();
  const own = view === drawing.fitted ? "the graph of this report" : `${said(currentView().n_edges)} ties`;
  const words = lam === null ? own : `λ = ${figure(lam)}: ${own}`;
  byId("lam-said").textContent = words;
  byId("lam").setAttribute("aria-valuetext", words);
  stage.dataset.lam = lam ?? "";
  markFront(view);
  showAspect();
  refresh();
}

let markFront = () => {};

export function startPath() {
  if (!data.front) return;
  markFront = paretoFront(byId("front-chart"), data.front, byId("front-sentence").textContent, chooseView);
  byId("lam").max = drawing.views.length - 1;
  byId("lam").addEventListener("input", () => chooseView(Number(byId("lam").value)));
  chooseView(state.view);
}

export function startControls() {
  byId("threshold").addEventListener("input", () => {
    state.hidden = Number(byId("threshold").value);
    state.sure = state.hidden / 100;
    refresh();
  });
  const switches = checks ? ["directed", "checked"] : ["directed"];
  for (const name of switches) {
    byId(name).checked = state[name];
    byId(name).addEventListener("change", () => {
      state[name] = byId(name).checked;
      showLegend();
      refresh();
    });
  }
  byId("nearer").addEventListener("click", () => move((target) => zoom.scaleBy(target, 1.5)));
  byId("farther").addEventListener("click", () => move((target) => zoom.scaleBy(target, 1 / 1.5)));
  byId("whole").addEventListener("click", () => zoomTo(null));
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());
}

export function startPointer() {
  surface.call(zoom).on("dblclick.zoom", null);
  stage.addEventListener("click", (event) => {
    const [node, bubble] = [nodeAt(event), bubbleAt(event)];
    if (node === null && bubble !== null) openBubble(bubble);
    else if (node !== null || state.selected !== null) select(node);
  });
  stage.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !camera.moving && hover(nodeAt(event), bubbleAt(event)));
  stage.addEventListener("pointerleave", () => hover(null, null));
}

function hover(node, bubble) {
  const tooltip = byId("tooltip");
  tooltip.hidden = node === null && bubble === null;
  if (!tooltip.hidden) {
    const list = members.get(bubble);
    tooltip.textContent = node !== null ? nodes.name[node] : `${said(list.length)} nodes, first ${shortName(list[0])}`;
    const at = node !== null ? { x: onScreen.x[node], y: onScreen.y[node], r: onScreen.r[node] } : onScreen.bubbles[bubble];
    const left = Math.min(Math.max(at.x - tooltip.offsetWidth / 2, 0), onScreen.width - tooltip.offsetWidth);
    const top = Math.min(at.y + at.r + 6, onScreen.height - 30);
    tooltip.style.transform = `translate(${left}px, ${top}px)`;
  }
  stage.classList.toggle("over-node", !tooltip.hidden);
  if (node === state.hovered) return;
  state.hovered = node;
  if (state.selected === null) drawOverlay();
}

// --------------------------------------------------------------------------------------- light and dark

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

export function theme() {
  return root.dataset.theme ?? (darkSystem.matches ? "dark" : "light");
}

export function applyTheme() {
  byId("theme").textContent = theme() === "dark" ? "Light page" : "Dark page";
  readColours(onScreen);
  showAspect();
  drawScreen();
}

export function startTheme() {
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    applyTheme();
  });
  darkSystem.addEventListener("change", applyTheme);
}

export function showLegend() {
  const checking = checks && state.checked;
  const parts = [
    ["big", "influence"],
    ["strong", edges().edge_columns.frequency ? "share of members that have the tie" : "weight"],
    ...(checking ? [...Object.entries(VERDICTS), ["missed", "missed"]] : []),
    ...(state.directed && !checking ? [["into", "whom a chosen node listens to"], ["from", "who listens to it"]] : []),
  ];
  byId("legend").replaceChildren(
    ...parts.map(([kind, words]) => {
      const part = element("span", words, { class: "key" });
      part.prepend(element("i", null, { class: kind, "aria-hidden": "true" }));
      return part;
    }),
  );
}

export function startThreshold() {
  const drawnAtOnce = bubbles ? Infinity : LINES_AT_FIRST;
  state.hidden = Math.max(0, Math.floor(100 * (1 - drawnAtOnce / Math.max(1, edges().drawn.length))));
  if (edges().edge_columns.frequency) {
    while (state.sure < 0.95 && shownCount(edges()) > drawnAtOnce) state.sure += 0.05;
    state.hidden = Math.round(100 * state.sure);
  }
  byId("threshold").value = state.hidden;
}
