// Communities as bubbles, where there are too many nodes to draw at once: closed, a bubble shows how its members are
// spread over the groups that circles are coloured by; open, it shows the members.

import * as d3 from "d3";
import { aspect } from "./aspects.js";
import { fillOf, shortName } from "./circles.js";
import { byId, currentView, drawing, drawnCount, state } from "./data.js";
import { refresh } from "./page.js";
import { camera, onScreen, spread, stage } from "./sheets.js";
import { said } from "./text.js";
import { zoomTo } from "./zoom.js";

const LINKS = 2; // lines of a bubble, on average
export const { bubbles } = drawing;
export const members = bubbles ? d3.group(d3.range(drawnCount), (node) => drawing.community[node]) : new Map();

export const isDrawn = (node) => !bubbles || state.open.has(drawing.community[node]);

// The weight between communities, both ways, heaviest first; made once for each graph.
const betweenCache = new Map();
function between() {
  if (!betweenCache.has(state.view)) {
    const { source, target, weight } = currentView();
    const sums = new Map();
    weight.forEach((each, e) => {
      const [a, b] = d3.sort([drawing.community[source[e]], drawing.community[target[e]]]);
      if (a !== b) sums.set(a * members.size + b, (sums.get(a * members.size + b) ?? 0) + each);
    });
    const list = [...sums].map(([key, sum]) => ({ a: Math.floor(key / members.size), b: key % members.size, sum }));
    betweenCache.set(state.view, d3.sort(list, (pair) => -pair.sum).slice(0, LINKS * members.size));
  }
  return betweenCache.get(state.view);
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
  const heaviest = d3.max(between(), (pair) => pair.sum) || 1;
  context.strokeStyle = colours.tie;
  for (const { a, b, sum } of between()) {
    if (state.open.has(a) && state.open.has(b)) continue;
    Object.assign(context, { globalAlpha: 0.06 + 0.3 * (sum / heaviest) ** 2, lineWidth: 0.5 + 5 * (sum / heaviest) ** 2 });
    context.beginPath();
    context.moveTo(at[a].x, at[a].y);
    context.lineTo(at[b].x, at[b].y);
    context.stroke();
  }
  for (const [bubble, list] of members) {
    if (state.open.has(bubble)) drawOpen(sheet, at[bubble]);
    else drawClosed(sheet, at[bubble], list);
  }
  context.globalAlpha = 1;
}

function drawOpen({ context, colours }, { x, y, r }) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  Object.assign(context, { globalAlpha: 1, fillStyle: colours.paper, strokeStyle: colours.line, lineWidth: 1 });
  context.fill();
  context.stroke();
}

function drawClosed(sheet, { x, y, r }, list) {
  const { context, colours } = sheet;
  const { groups } = aspect();
  let from = -Math.PI / 2;
  for (const [group, count] of d3.sort(d3.rollup(list, (each) => each.length, (node) => groups[node]), ([each]) => each)) {
    const to = from + (2 * Math.PI * count) / list.length;
    context.beginPath();
    if (count === list.length) context.arc(x, y, r, 0, 2 * Math.PI);
    else {
      context.moveTo(x, y);
      context.arc(x, y, r, from, to);
      context.closePath();
    }
    Object.assign(context, { globalAlpha: 1, fillStyle: colours.paper });
    context.fill();
    Object.assign(context, { globalAlpha: !state.kept.size || state.kept.has(group) ? 0.8 : 0.12, fillStyle: fillOf(sheet, group) });
    context.fill();
    from = to;
  }
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  Object.assign(context, { globalAlpha: 1, strokeStyle: colours.paper, lineWidth: 1.5 });
  context.stroke();
}

// A closed bubble is called by how many it holds and, where there is room, who is first among them.
export function nameBubbles({ context, colours, bubbles: at, width, height }) {
  Object.assign(context, { globalAlpha: 1, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  for (const [bubble, list] of members) {
    const { x, y, r } = at[bubble];
    if (state.open.has(bubble) || r < 13 || x < -r || y < -r || x > width + r || y > height + r) continue;
    context.font = `400 12px ${colours.font}`;
    const name = shortName(list[0]);
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

export function bubbleAt(event) {
  if (!bubbles) return null;
  const [left, top] = d3.pointer(event, stage);
  const found = [...members.keys()].find((bubble) => {
    const { x, y, r } = onScreen.bubbles[bubble];
    return Math.hypot(x - left, y - top) <= r;
  });
  return found === undefined || state.open.has(found) ? null : found;
}

export function openBubble(bubble) {
  state.open.add(bubble);
  const at = spread(onScreen);
  const [x, y, r] = [at.x * bubbles.x[bubble], at.y * bubbles.y[bubble], at.unit * bubbles.radius[bubble]];
  zoomTo({ x: [x - r, x + r], y: [y - r, y + r] }, 20);
  sayBubbles();
  refresh();
}

export function sayBubbles() {
  if (!bubbles) return;
  const all = state.open.size === members.size;
  stage.dataset.open = state.open.size;
  byId("bubbles-said").textContent = `${said(members.size)} communities, ${all ? "all" : said(state.open.size)} of them open. Click one to see who is in it.`;
  byId("open-all").textContent = state.open.size ? "Close all" : "Open all";
}

export function startBubbles() {
  byId("open-all").hidden = byId("bubbles-said").hidden = !bubbles;
  byId("open-all").addEventListener("click", () => {
    const none = state.open.size === 0;
    state.open.clear();
    if (none) for (const bubble of members.keys()) state.open.add(bubble);
    else zoomTo(null);
    sayBubbles();
    refresh();
  });
  sayBubbles();
}
