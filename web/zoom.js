// Pointing at nodes, and going nearer.

import * as d3 from "d3";
import { isOpen } from "./bubbles.js";
import { drawing, drawnCount } from "./data.js";
import { pickedTies, redraw } from "./network.js";
import { offset } from "./places.js";
import { camera, onScreen, spreadOf, stage } from "./sheets.js";

export function nodeAt(event) {
  const { x, y, r } = onScreen;
  camera.finder ??= d3.quadtree(d3.range(drawnCount).filter(isOpen), (node) => x[node], (node) => y[node]);
  const [left, top] = d3.pointer(event, stage);
  const node = camera.finder.find(left, top, 40);
  if (node === undefined) return null;
  return Math.hypot(x[node] - left, y[node] - top) <= r[node] + 8 ? node : null;
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
