// What if somebody were gone, or gained more by acting? The game is played anew at once, and the page says who does more
// then and who less.

import * as d3 from "d3";
import { aspects, colourBy, showAspect } from "./aspects.js";
import { isOpen } from "./bubbles.js";
import { shortName } from "./circles.js";
import { byId, element, game, nodes, state } from "./data.js";
import { equilibriumOf, norm, welfareOf } from "./game.js";
import { refresh } from "./page.js";
import { select } from "./selection.js";
import { figure } from "./text.js";

const MOST_MOVED = 5;
const DEAREST = 4; // times the largest benefit, where the slider ends
export const trial = { gone: new Set(), benefits: new Map(), past: [], last: null, version: 0, colour: 0 };

export const asGiven = game && equilibriumOf(game);
export let asTried = asGiven;

export const isGone = (node) => trial.gone.has(node);
export const isTried = () => trial.gone.size + trial.benefits.size > 0;
const benefitNow = (node) => trial.benefits.get(node) ?? game.benefit[node];
// The change as a share of the action before; of a node that did nothing, all of it.
export const shareOfChange = (node) => (changeOf(node) ?? 0) / (Math.abs(asGiven?.[node] ?? 0) || 1);
const changeOf = (node) => (asTried && asGiven ? asTried[node] - asGiven[node] : null);

// Every change can be taken back; the steps of one slider are one change.
function remember(what) {
  if (what === null || trial.last !== what) trial.past.push({ gone: new Set(trial.gone), benefits: new Map(trial.benefits) });
  trial.last = what;
}

function takeOut(node) {
  remember(null);
  if (!trial.gone.delete(node)) trial.gone.add(node);
  playAnew();
}

function giveBenefit(node, benefit) {
  remember(node);
  if (benefit === game.benefit[node]) trial.benefits.delete(node);
  else trial.benefits.set(node, benefit);
  playAnew();
}

function undo() {
  if (trial.past.length) Object.assign(trial, trial.past.pop(), { last: null });
  playAnew();
}

function reset() {
  remember(null);
  trial.gone.clear();
  trial.benefits.clear();
  playAnew();
}

function playAnew() {
  const benefits = game.benefit.map((_, node) => benefitNow(node));
  asTried = isTried() ? equilibriumOf(game, trial.gone, benefits) : asGiven;
  trial.version += 1;
  const colouring = aspects[state.aspect].tried;
  if (colouring && !isTried()) colourBy(trial.colour); // nothing is changed any more: the colours are what they were
  else {
    showAspect();
    refresh();
  }
}

// ------------------------------------------------------------------------------------------ what is said

const signed = (value) => `${value < 0 ? "−" : "+"}${figure(Math.abs(value))}`;
const shared = (value, whole) => (whole ? ` (${value < 0 ? "−" : "+"}${figure((100 * Math.abs(value)) / Math.abs(whole))} %)` : "");

function welfareSaid() {
  if (!asTried) return "There is no equilibrium: everybody's actions would drive each other up without end. Take somebody out, or learn the network with less attention (c).";
  const after = welfareOf(game, asTried);
  if (!asGiven) return `Welfare ${figure(after)}; before there was no equilibrium.`;
  const before = welfareOf(game, asGiven);
  return isTried() ? `Welfare ${figure(before)} → ${figure(after)}${shared(after - before, before)}.` : `Welfare ${figure(before)}.`;
}

export function nodeButton(node) {
  const button = element("button", null, { type: "button", class: "node" });
  button.append(element("bdi", nodes.name[node]));
  button.addEventListener("click", () => select(node));
  return button;
}

function movedList(title, list) {
  if (!list.length) return [element("h4", title), element("p", "nobody", { class: "note" })];
  const made = element("ol", null, { class: "ties" });
  for (const node of list) {
    const item = element("li", null);
    item.append(nodeButton(node), element("span", `${signed(changeOf(node))}${shared(changeOf(node), asGiven[node])}`, { class: "figure" }));
    made.append(item);
  }
  return [element("h4", title), made];
}

// Of those who stay, the five who do so much more, or less, than before; what rounding moves is nothing.
function mostMoved(sign) {
  const least = 1e-9 * norm(asGiven);
  const moved = d3.range(nodes.name.length).filter((node) => !isGone(node) && sign * changeOf(node) > least);
  return d3.sort(moved, (node) => -sign * changeOf(node)).slice(0, MOST_MOVED);
}

function changesList() {
  const made = element("ul", null, { class: "changes" });
  const item = (node, words, takeBack) => {
    const one = element("li", null);
    const button = element("button", "undo", { type: "button", "aria-label": `Undo: ${nodes.name[node]} ${words}` });
    button.addEventListener("click", () => {
      takeBack();
      byId("what-if-heading").focus();
    });
    one.append(nodeButton(node), element("span", ` ${words}`), button);
    made.append(one);
  };
  for (const node of trial.gone) item(node, "is gone", () => takeOut(node));
  for (const [node, benefit] of trial.benefits) {
    if (!isGone(node)) item(node, `gets benefit ${figure(benefit)}, not ${figure(game.benefit[node])}`, () => giveBenefit(node, game.benefit[node]));
  }
  return made;
}

export function showWhatIf() {
  if (!game) return;
  const node = state.selected;
  byId("what-if").hidden = node === null && !isTried() && asGiven !== null;
  byId("what-if-node").hidden = node === null;
  if (node !== null) {
    byId("take-out").replaceChildren(isGone(node) ? "Put back " : "Take out ", element("bdi", shortName(node)));
    for (const id of ["benefit", "benefit-figure"]) {
      byId(id).disabled = isGone(node);
      if (document.activeElement !== byId(id)) byId(id).value = id === "benefit" ? benefitNow(node) : Number(benefitNow(node).toPrecision(4));
    }
    byId("benefit").setAttribute("aria-valuetext", figure(benefitNow(node)));
  }
  byId("undo").disabled = !trial.past.length;
  byId("reset").disabled = !isTried();
  byId("welfare-said").textContent = welfareSaid();
  Object.assign(byId("what-if").dataset, { welfare: asTried ? welfareOf(game, asTried) : "", tried: isTried() });
  const moved = isTried() && asTried && asGiven ? [...movedList("Do more", mostMoved(1)), ...movedList("Do less", mostMoved(-1))] : [];
  byId("moved").replaceChildren(...(isTried() ? [changesList()] : []), ...moved);
  byId("colour-change").hidden = !moved.length;
}

// ------------------------------------------------------------------------------------------ in the picture

// Who is gone is an empty circle, crossed out.
export function drawGone({ context, x, y, r, colours }) {
  for (const node of trial.gone) {
    if (!isOpen(node)) continue;
    const size = Math.max(r[node], 4);
    Object.assign(context, { globalAlpha: 1, fillStyle: colours.paper, strokeStyle: colours.quiet, lineWidth: 1.5 });
    context.beginPath();
    context.arc(x[node], y[node], size, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    context.beginPath();
    for (const side of [-1, 1]) {
      context.moveTo(x[node] - 0.7 * size, y[node] - 0.7 * side * size);
      context.lineTo(x[node] + 0.7 * size, y[node] + 0.7 * side * size);
    }
    context.stroke();
  }
}

export function startWhatIf() {
  for (const button of document.querySelectorAll("#act button[data-node], .next button[data-node]")) {
    button.addEventListener("click", () => select(Number(button.dataset.node), { scroll: true }));
  }
  if (!game) return;
  const most = DEAREST * (d3.max(game.benefit) || 1);
  Object.assign(byId("benefit"), { min: 0, max: most, step: most / 400 });
  byId("take-out").addEventListener("click", () => takeOut(state.selected));
  for (const id of ["benefit", "benefit-figure"]) {
    byId(id).addEventListener("input", () => {
      const benefit = byId(id).valueAsNumber;
      byId("benefit-figure").setAttribute("aria-invalid", String(!(benefit >= 0)));
      if (benefit >= 0) giveBenefit(state.selected, benefit);
    });
    byId(id).addEventListener("blur", showWhatIf);
  }
  byId("undo").addEventListener("click", undo);
  byId("reset").addEventListener("click", reset);
  byId("colour-change").addEventListener("click", () => {
    if (!aspects[state.aspect].tried) trial.colour = state.aspect;
    colourBy(aspects.findIndex((each) => each.tried));
  });
}
