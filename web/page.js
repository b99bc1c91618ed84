// The controls, and what they say. Every name goes into the page as text.

import { pointer } from "d3";
import { keepAddress } from "./address.js";
import { showAspect } from "./aspects.js";
import { bubbleAt, bubbles, closeBubbles, members, onOpenBubble, openBubble } from "./bubbles.js";
import { paretoFront } from "./charts.js";
import { VERDICTS, checks, sayChecked } from "./checks.js";
import { shortName } from "./circles.js";
import { showOverview } from "./communities.js";
import { binned, cutFor, scaleOf } from "./cut.js";
import { byId, communityNames, currentView, data, drawing, drawnCount, element, nodes, pairs, shownCount, state, suggested, supported, told } from "./data.js";
import { LINES_AT_ONCE } from "./lines.js";
import { drawOverlay, drawScreen, redraw } from "./network.js";
import { clear, compare, compareTie, select, showSelection } from "./selection.js";
import { readColours } from "./sheets.js";
import { base, camera, onScreen, stage } from "./stage.js";
import { figure, percent, said } from "./text.js";
import { alikeIn } from "./why.js";
import { move, nodeAt, stepTo, surface, tieAt, zoom, zoomTo } from "./zoom.js";

export const root = document.documentElement;

const EVIDENCE = { probability: "probability", evidence: "evidence", frequency: "frequency", weight: "weight" };
const BINS = 50;
const LINES_A_NODE = 2.5; // at first: more are a fog, and the others are there, behind the cut

const levelSaid = (cut) => (suggested.share ? percent(cut) : figure(cut));

// One number of ties: that of the graph, by its suggested cut. What is shown is a part of them, or more.
function sayShown() {
  const count = shownCount();
  const whole = state.view === drawing.fitted ? suggested.n_ties : null;
  const at = `${EVIDENCE[suggested.column]} at least ${levelSaid(state.cut)}`;
  const part = count === whole ? `all ${said(count)} ties` : count < whole ? `${said(count)} of ${said(whole)} ties` : `${said(count)} pairs`;
  const held = count < whole && state.cut <= suggested.level ? ", those that this page holds" : "";
  const more = whole !== null && count > whole ? `; ${said(whole)} of them count as ties, from ${levelSaid(suggested.level)} on` : "";
  const drawn = !bubbles && count > LINES_AT_ONCE ? `, ${said(LINES_AT_ONCE)} at once, the surest` : "";
  byId("shown").textContent = `${part[0].toUpperCase()}${part.slice(1)} shown${held}${drawn}: ${at}${more}.`;
  byId("threshold").setAttribute("aria-valuetext", `${levelSaid(state.cut)}: ${count} ties shown`);
  Object.assign(stage.dataset, { edges: count, nodes: drawnCount, cut: state.cut, view: state.view, selected: state.selected === null ? "" : nodes.name[state.selected] });
  base.setAttribute("aria-label", `A drawing of ${drawnCount} nodes and ${count} ties. The table of nodes and the search field give the same in words.`);
  sayChecked();
}

// The evidence of all pairs as a histogram, on which the cut is dragged: what is right of it is shown.
function showEvidence() {
  const scale = scaleOf(pairs(), suggested.share);
  const counts = binned(pairs(), scale, BINS);
  const most = Math.max(...counts, 1);
  const bar = (count, k) => {
    const height = count ? Math.max(1.5, 30 * Math.sqrt(count / most)) : 0; // roots, or the few sure ones are not seen
    const kept = (100 * (k + 0.5)) / BINS >= scale.value(state.cut);
    return `<rect x="${k + 0.08}" y="${30 - height}" width="0.84" height="${height}" class="${kept ? "kept" : "cut"}"/>`;
  };
  byId("evidence").setAttribute("viewBox", `0 0 ${BINS} 30`);
  byId("evidence").innerHTML = counts.map(bar).join("");
  byId("threshold").value = scale.value(state.cut);
  byId("evidence-least").textContent = levelSaid(scale.cut(0));
  byId("evidence-most").textContent = levelSaid(scale.cut(100));
}

export function setCut(cut) {
  state.cut = cut;
  showEvidence();
  refresh();
}

export function refresh() {
  sayShown();
  showSelection();
  keepAddress();
  redraw();
}

export function chooseView(view) {
  state.view = view;
  byId("lam").value = view;
  const { lam } = currentView();
  const own = view === drawing.fitted ? "the graph of this report" : `${said(currentView().n_edges)} ties`;
  const words = lam === null ? own : `λ = ${figure(lam)}: ${own}`;
  byId("lam-said").textContent = words;
  byId("lam").setAttribute("aria-valuetext", words);
  stage.dataset.lam = lam ?? "";
  markFront(view);
  showEvidence();
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
    setCut(scaleOf(pairs(), suggested.share).cut(Number(byId("threshold").value)));
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
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (state.other !== null) compare(null);
    else if (state.selected === null && bubbles && state.open.size) closeBubbles();
    else clear();
  });
}

export function startPointer() {
  surface.call(zoom).on("dblclick.zoom", null);
  stage.addEventListener("click", (event) => {
    byId("tooltip").hidden = true;
    const [node, bubble] = [nodeAt(event), bubbleAt(event)];
    const tie = node === null && bubble === null ? tieAt(event) : null;
    if (node !== null && event.shiftKey && state.selected !== null) compare(node);
    else if (tie) compareTie(tie);
    else if (node === null && bubble !== null) openBubble(bubble);
    else if (node === null && state.selected === null && bubbles && state.open.size && !onOpenBubble(event)) closeBubbles();
    else if (node !== null || state.selected !== null) select(node);
  });
  stage.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !camera.moving && hover(event));
  stage.addEventListener("keydown", stepTo);
  stage.addEventListener("pointerleave", () => hover(null));
}

// What is under the pointer: a node, else a closed community, else a tie.
function under(event) {
  const { x, y, r } = onScreen;
  const node = event && nodeAt(event);
  if (node !== null) return { node, words: nodes.name[node], at: { x: x[node], y: y[node], r: r[node] } };
  const bubble = bubbleAt(event);
  if (bubble !== null) return { node, words: `${communityNames[bubble]}: ${said(members.get(bubble).length)} nodes`, at: onScreen.bubbles[bubble] };
  const tie = tieAt(event);
  if (!tie) return { node, words: null };
  const words = `${shortName(tie.a)} – ${shortName(tie.b)}, ${EVIDENCE[suggested.column]} ${levelSaid(tie.evidence)}${alikeIn(tie.a, tie.b)}`;
  const middle = { x: (x[tie.a] + x[tie.b]) / 2, y: (y[tie.a] + y[tie.b]) / 2, r: 12 };
  const [left, top] = pointer(event, stage);
  return { node, tie, words, at: state.tab === "matrix" ? { x: left, y: top, r: 8 } : middle };
}

function hover(event) {
  const tooltip = byId("tooltip");
  const { node, tie = null, words, at } = event ? under(event) : { node: null, words: null };
  tooltip.hidden = words === null;
  if (!tooltip.hidden) {
    tooltip.textContent = words;
    const left = Math.min(Math.max(at.x - tooltip.offsetWidth / 2, 0), onScreen.width - tooltip.offsetWidth);
    const top = Math.min(at.y + at.r + 6, onScreen.height - 30);
    tooltip.style.transform = `translate(${left}px, ${top}px)`;
  }
  stage.classList.toggle("over-node", !tooltip.hidden);
  if (node === state.hovered && tie === state.tie) return;
  const changed = state.selected === null || tie !== state.tie;
  Object.assign(state, { hovered: node, tie });
  if (changed) drawOverlay();
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
  showOverview();
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
    ...(supported ? [["big", told ? "expected ties" : "influence"]] : []),
    ["strong", EVIDENCE[suggested.column]],
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

// The page opens with two or three lines a node, and never with pairs that do not count as ties. A tie model knows how many
// ties there are, so all of them are drawn.
export function startThreshold() {
  state.cut = told ? suggested.level : cutFor(pairs(), LINES_A_NODE * nodes.name.length, suggested.level);
  showEvidence();
}
