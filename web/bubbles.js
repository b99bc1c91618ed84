// Communities as discs, where there are too many nodes for all lines at once. All nodes are points in the disc of their
// community; ties between communities are drawn as one line for each two. An open community shows its own lines.

import * as d3 from "d3";
import { byId, communityNames, currentView, drawing, drawnCount, pairs, shownCount, state } from "./data.js";
import { refresh } from "./page.js";
import { spreadOf } from "./sheets.js";
import { camera, onScreen, stage } from "./stage.js";
import { said } from "./text.js";
import { zoomTo } from "./zoom.js";

const LINKS = 2; // lines of a bubble, on average
export const { bubbles } = drawing;
export const members = bubbles ? d3.group(d3.range(drawnCount), (node) => drawing.community[node]) : new Map();

export const isOpen = (node) => !bubbles || state.tab === "map" || state.open.has(drawing.community[node]);
export const linesShown = (a, b) => isOpen(a) && isOpen(b);

// How much weight goes from one community to another over the ties shown, heaviest first; made once for each cut.
let betweenFor = null;
let betweenNow = null;
function between() {
  const count = shownCount();
  const key = `${state.view} ${count}`;
  if (betweenFor === key) return betweenNow;
  const { source, target, weight } = currentView();
  const sums = new Map();
  for (const { edges } of pairs().slice(0, count)) {
    for (const e of edges) {
      const [from, to] = [drawing.community[source[e]], drawing.community[target[e]]];
      if (from !== to) sums.set(from * members.size + to, (sums.get(from * members.size + to) ?? 0) + weight[e]);
    }
  }
  const list = [...sums].map(([code, sum]) => ({ from: Math.floor(code / members.size), to: code % members.size, sum }));
  betweenFor = key;
  betweenNow = d3.sort(list, (each) => -each.sum).slice(0, LINKS * members.size);
  return betweenNow;
}

export function placeBubbles(sheet, by, ratio) {
  const { width, height } = sheet;
  const { k, x, y } = camera.transform;
  sheet.bubbles = bubbles.x.map((at, bubble) => ({
    x: k * (width / 2 + by.x * at) + x * ratio,
    y: k * (height / 2 + by.y * bubbles.y[bubble]) + y * ratio,
    r: k * by.unit * bubbles.radius[bubble],
  }));
}

export function drawBubbles(sheet) {
  const { context, colours, bubbles: at } = sheet;
  const heaviest = between()[0]?.sum || 1;
  for (const bubble of members.keys()) drawDisc(sheet, at[bubble]);
  Object.assign(context, { strokeStyle: colours.tie, fillStyle: colours.tie });
  for (const { from, to, sum } of between()) {
    if (state.open.has(from) && state.open.has(to)) continue;
    const share = Math.sqrt(sum / heaviest);
    Object.assign(context, { globalAlpha: 0.12 + 0.4 * share, lineWidth: 0.5 + 4 * share });
    drawLink(context, at[from], at[to], 3 + 7 * share);
  }
  context.globalAlpha = 1;
}

function drawDisc({ context, colours }, { x, y, r }) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  Object.assign(context, { globalAlpha: 0.35, fillStyle: colours.line, strokeStyle: colours.line, lineWidth: 1 });
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
}

// From rim to rim; with direction it bends, so that two opposite ones are seen as two, and has an arrow.
function drawLink(context, from, to, arrow) {
  const along = Math.atan2(to.y - from.y, to.x - from.x);
  const turn = state.directed ? 0.25 : 0;
  const start = { x: from.x + from.r * Math.cos(along - turn), y: from.y + from.r * Math.sin(along - turn) };
  const end = { x: to.x - to.r * Math.cos(along + turn), y: to.y - to.r * Math.sin(along + turn) };
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.lineTo(end.x, end.y);
  context.stroke();
  if (!state.directed) return;
  const last = Math.atan2(end.y - start.y, end.x - start.x);
  context.beginPath();
  context.moveTo(end.x, end.y);
  for (const side of [-0.4, 0.4]) context.lineTo(end.x - arrow * Math.cos(last + side), end.y - arrow * Math.sin(last + side));
  context.fill();
}

// A closed disc is called by what sets its community apart, where there is room, and how many it holds.
export function nameBubbles({ context, colours, bubbles: at, width, height }) {
  Object.assign(context, { globalAlpha: 1, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  for (const [bubble, list] of members) {
    const { x, y, r } = at[bubble];
    if (state.open.has(bubble) || r < 13 || x < -r || y < -r || x > width + r || y > height + r) continue;
    context.font = `400 12px ${colours.font}`;
    const name = communityNames[bubble];
    const lines = [said(list.length), ...(context.measureText(name).width < 1.9 * r ? [name] : [])];
    lines.forEach((line, k) => {
      context.font = `${k ? 400 : 600} ${k ? 12 : 13}px ${colours.font}`;
      Object.assign(context, { lineWidth: 3.5, strokeStyle: colours.paper, fillStyle: colours.ink });
      const top = y + (k - (lines.length - 1) / 2) * 15;
      context.strokeText(line, x, top);
      context.fillText(line, x, top);
    });
  }
}

function discAt(event) {
  const [left, top] = d3.pointer(event, stage);
  return [...members.keys()].find((bubble) => {
    const { x, y, r } = onScreen.bubbles[bubble];
    return Math.hypot(x - left, y - top) <= r;
  });
}

export function bubbleAt(event) {
  if (!bubbles || state.tab !== "network") return null;
  const found = discAt(event);
  return found === undefined || state.open.has(found) ? null : found;
}

export function onOpenBubble(event) {
  if (state.tab !== "network") return true;
  const found = discAt(event);
  return found !== undefined && state.open.has(found);
}

export function closeBubbles() {
  state.open.clear();
  zoomTo(null);
  sayBubbles();
  refresh();
}

export function openBubble(bubble) {
  state.open.add(bubble);
  const at = spreadOf(onScreen);
  const [x, y, r] = [at.x * bubbles.x[bubble], at.y * bubbles.y[bubble], at.unit * bubbles.radius[bubble]];
  zoomTo({ x: [x - r, x + r], y: [y - r, y + r] }, 20);
  sayBubbles();
  refresh();
}

export function sayBubbles() {
  if (!bubbles) return;
  const all = state.open.size === members.size;
  stage.dataset.open = state.open.size;
  byId("bubbles-said").textContent = `${said(members.size)} communities, ${all ? "all" : said(state.open.size)} of them open. Click one to see its ties; Escape or a click outside closes it.`;
  byId("open-all").textContent = state.open.size ? "Close all" : "Open all";
  byId("crumbs").hidden = !state.open.size;
  const [only] = state.open;
  byId("crumb").textContent = state.open.size === 1 ? `${communityNames[only]} (${said(members.get(only).length)})` : `${said(state.open.size)} communities open`;
}

export function startBubbles() {
  byId("open-all").hidden = byId("bubbles-said").hidden = !bubbles;
  byId("open-all").addEventListener("click", () => {
    if (state.open.size) return closeBubbles();
    for (const bubble of members.keys()) state.open.add(bubble);
    sayBubbles();
    return refresh();
  });
  byId("all-communities").addEventListener("click", closeBubbles);
  sayBubbles();
}
