// Pointing at nodes, and going nearer.

import * as d3 from "d3";
import { isOpen } from "./bubbles.js";
import { drawing, drawnCount, pairs, state } from "./data.js";
import { pairAt } from "./lines.js";
import { pickedTies, redraw } from "./network.js";
import { offset } from "./places.js";
import { select } from "./selection.js";
import { spreadOf } from "./sheets.js";
import { matrixCell } from "./tabs.js";
import { camera, onScreen, stage } from "./stage.js";

export function nodeAt(event) {
  if (state.tab === "matrix") return null;
  const { x, y, r } = onScreen;
  camera.finder ??= d3.quadtree(d3.range(drawnCount).filter(isOpen), (node) => x[node], (node) => y[node]);
  const [left, top] = d3.pointer(event, stage);
  const node = camera.finder.find(left, top, 40);
  if (node === undefined) return null;
  return Math.hypot(x[node] - left, y[node] - top) <= r[node] + 8 ? node : null;
}

// The tie under the pointer, where there is no node.
export function tieAt(event) {
  if (state.tab !== "matrix") return pairAt(onScreen, ...d3.pointer(event, stage));
  const cell = matrixCell(onScreen, ...d3.pointer(event, stage));
  if (cell === null || cell.a === cell.b) return null;
  const [a, b] = [Math.min(cell.a, cell.b), Math.max(cell.a, cell.b)];
  return pairs().find((pair) => pair.a === a && pair.b === b) ?? { a, b, evidence: 0 };
}

export const calm = matchMedia("(prefers-reduced-motion: reduce)");

// A wheel alone scrolls the page, and so does one finger: the drawing never catches a reader on the way down.
export const zoom = d3
  .zoom()
  .scaleExtent([0.7, 40])
  .filter((event) => {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    if (event.type.startsWith("touch")) return event.touches.length > 1;
    return !event.button;
  })
  .on("start", () => (camera.moving = true))
  .on("zoom", (event) => {
    camera.transform = event.transform;
    redraw();
  })
  .on("end", () => {
    camera.moving = false;
    redraw();
  });

export const surface = d3.select(stage);
export const move = (change) => change(calm.matches ? surface : surface.transition().duration(350));

// Go where a box fills the sheet, given from the middle of the sheet without zoom; null is all of it.
export function zoomTo(box, nearest = 6) {
  if (box === null) return move((target) => zoom.transform(target, d3.zoomIdentity));
  const { width, height } = onScreen;
  const [left, right] = box.x.map((at) => width / 2 + at);
  const [top, bottom] = box.y.map((at) => height / 2 + at);
  const room = (side) => side - Math.min(90, side / 5);
  const k = Math.max(1, Math.min(nearest, room(width) / (right - left || 1), room(height) / (bottom - top || 1)));
  const at = d3.zoomIdentity.translate(width / 2 - (k * (left + right)) / 2, height / 2 - (k * (top + bottom)) / 2).scale(k);
  return move((target) => zoom.transform(target, at));
}

export function zoomToTies(node) {
  const { into, from } = pickedTies(node);
  const heaviest = [...into, ...from].sort((a, b) => b.weight - a.weight).slice(0, 30);
  const list = [node, ...heaviest.map((tie) => tie.node)];
  const by = spreadOf(onScreen);
  const extent = (axis) => d3.extent(list, (each) => offset(by, axis, each, drawing));
  zoomTo({ x: extent("x"), y: extent("y") }, drawing.bubbles ? 12 : 4);
}

const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// From the keyboard: an arrow goes to the nearest node that way, from the one that is chosen or the first.
export function stepTo(event) {
  const way = ARROWS[event.key];
  if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (state.selected === null) return void select(0, { go: false });
  const { x, y } = onScreen;
  const from = state.selected;
  const far = (node) => {
    const [right, down] = [x[node] - x[from], y[node] - y[from]];
    const along = right * way[0] + down * way[1];
    return along <= 0.5 ? Infinity : along + 2 * Math.abs(right * way[1] + down * way[0]);
  };
  const next = d3.least(d3.range(drawnCount).filter((node) => node !== from && isOpen(node)), far);
  if (next !== undefined && far(next) < Infinity) select(next, { go: false });
}
