// Where nodes are on a sheet, and its colours.

import * as d3 from "d3";
import { placeBubbles } from "./bubbles.js";
import { isDark } from "./colour.js";
import { drawing, drawnCount, sizes, state, supported } from "./data.js";
import { offset, spread } from "./places.js";
import { above, base, camera, onScreen, overlay, stage } from "./stage.js";
import { placeOnMap } from "./tabs.js";

export function readColours(sheet) {
  const style = getComputedStyle(sheet.canvas);
  sheet.colours = { font: style.fontFamily };
  for (const name of ["paper", "ink", "quiet", "line", "tie", "into", "from", "right", "wrong", "missed"]) {
    sheet.colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  sheet.dark = isDark(sheet.colours.paper);
}

export function prepare(canvas, width, height, scale) {
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
}

export function resize() {
  const { clientWidth: width, clientHeight: height } = stage;
  Object.assign(onScreen, { width, height });
  Object.assign(above, { width, height });
  for (const canvas of [base, overlay]) prepare(canvas, width, height, window.devicePixelRatio || 1);
}

// Of a sheet and its size, what spread() found; it is asked for at every frame.
const spreads = new WeakMap();
export function spreadOf(sheet) {
  const known = spreads.get(sheet);
  if (known && known.width === sheet.width && known.height === sheet.height) return known.by;
  const by = spread(sheet, drawing.bubbles ?? drawing, drawing.bubbles?.radius);
  spreads.set(sheet, { width: sheet.width, height: sheet.height, by });
  return by;
}

// Circles grow with the square root of the zoom, so that nearer is also roomier.
export function computePlaces(sheet) {
  const { width, height } = sheet;
  const size = sizes();
  const mean = d3.mean(size) || 1;
  const by = spreadOf(sheet);
  const { k, x: moveX, y: moveY } = camera.transform;
  const ratio = width / (onScreen.width || width); // the screen's zoom, on a sheet of another size
  const grow = Math.sqrt(k);
  sheet.x ??= new Float64Array(drawnCount);
  sheet.y ??= new Float64Array(drawnCount);
  sheet.r ??= new Float64Array(drawnCount);
  for (let node = 0; node < drawnCount; node++) {
    const radius = drawing.radius * (supported ? Math.sqrt(size[node] / mean) : 0.8);
    sheet.x[node] = k * (width / 2 + offset(by, "x", node, drawing)) + moveX * ratio;
    sheet.y[node] = k * (height / 2 + offset(by, "y", node, drawing)) + moveY * ratio;
    sheet.r[node] = Math.max(1.3, by.unit * Math.min(Math.max(radius, drawing.least), drawing.widest)) * grow;
  }
  if (state.tab === "map") placeOnMap(sheet);
  else if (drawing.bubbles) placeBubbles(sheet, by, ratio);
}

export const onSheet = ({ x, y, width, height }, node) => x[node] > -20 && y[node] > -20 && x[node] < width + 20 && y[node] < height + 20;
