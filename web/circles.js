// The circles and their names.

import * as d3 from "d3";
import { aspect, passes } from "./aspects.js";
import { isOpen } from "./bubbles.js";
import { drawnCount, nodes, sizes, state, supported } from "./data.js";
import { onSheet } from "./sheets.js";
import { camera } from "./stage.js";

const NAMES = 9; // of hubs, at first; nearer there are more
const ALL_NAMED = 40; // nodes that are all named, as far as there is room, if nobody is known to be central

export const fillOf = ({ dark, colours }, group) => (group < 0 ? colours.line : aspect().colour(group, dark));

// Circles of one colour are filled in one go, the filtered ones last and on top of the faded.
export function drawNodes(sheet) {
  const { context, x, y, r, colours } = sheet;
  const { groups } = aspect();
  const lists = d3.group(d3.range(drawnCount).filter((node) => onSheet(sheet, node)), (node) => groups[node]);
  const order = d3.sort(lists.keys(), (group) => (state.kept.size && state.kept.has(group) ? 1 : 0));
  for (const group of order) {
    const list = lists.get(group);
    context.globalAlpha = !state.kept.size || state.kept.has(group) ? 1 : 0.12;
    context.beginPath();
    for (const node of list) {
      context.moveTo(x[node] + r[node], y[node]);
      context.arc(x[node], y[node], r[node], 0, 2 * Math.PI);
    }
    context.fillStyle = fillOf(sheet, group);
    context.fill();
    if (r[list[0]] <= 2.5) continue;
    Object.assign(context, { lineWidth: 1, strokeStyle: group < 0 ? colours.quiet : colours.paper });
    context.stroke();
  }
  context.globalAlpha = 1;
}

export function drawNode(sheet, node, ring) {
  const { context, x, y, r } = sheet;
  context.beginPath();
  context.arc(x[node], y[node], Math.max(r[node], 4), 0, 2 * Math.PI);
  context.fillStyle = fillOf(sheet, aspect().groups[node]);
  context.fill();
  Object.assign(context, { lineWidth: 2, strokeStyle: ring });
  context.stroke();
}

export function shortName(node, most = 24) {
  const letters = Array.from(nodes.name[node]);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}

// Names are drawn as plain text; the page's own background around them keeps them readable over lines.
export function drawNames({ context, x, y, r, colours, width }, list) {
  const taken = [];
  Object.assign(context, { globalAlpha: 1, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  context.font = `600 13px ${colours.font}`;
  for (const node of list) {
    const name = shortName(node);
    const half = context.measureText(name).width / 2 + 3;
    const below = y[node] < r[node] + 18;
    const at = { x: Math.min(Math.max(x[node], half), width - half), y: y[node] + (below ? 1 : -1) * (r[node] + 10) };
    if (taken.some((other) => Math.abs(other.x - at.x) < other.half + half && Math.abs(other.y - at.y) < 16)) continue;
    taken.push({ ...at, half });
    Object.assign(context, { lineWidth: 4, strokeStyle: colours.paper, fillStyle: colours.ink });
    context.strokeText(name, at.x, at.y);
    context.fillText(name, at.x, at.y);
  }
}

const ordered = new Map();
function largestFirst() {
  const size = sizes();
  if (!ordered.has(state.view)) ordered.set(state.view, d3.range(drawnCount).sort((a, b) => size[b] - size[a]));
  return ordered.get(state.view);
}

// The largest circles of those that can be seen; the nearer, the more of them.
export function hubsOnSheet(sheet) {
  const few = !supported && drawnCount <= ALL_NAMED;
  if (!supported && !few && camera.transform.k < 2) return []; // nobody stands out: names when nearer
  const most = few ? drawnCount : (sheet.width < 500 ? 5 : NAMES) * Math.min(4, Math.ceil(camera.transform.k));
  const list = [];
  for (const node of largestFirst()) {
    if (list.length >= most) break;
    if (nodes.silent?.[node]) continue; // a node without any signal is not a hub
    if (isOpen(node) && passes(node) && onSheet(sheet, node)) list.push(node);
  }
  return list;
}
