// Three ways to look at the network: drawn, as a matrix by community, and as a map by two columns of numbers.

import * as d3 from "d3";
import { aspect } from "./aspects.js";
import { fillOf } from "./circles.js";
import { byId, data, drawing, drawnCount, element, nodes, pairs, shownCount, state, strength, supported } from "./data.js";
import { refresh } from "./page.js";
import { camera, stage } from "./stage.js";
import { zoomTo } from "./zoom.js";

const TABS = ["network", "matrix", "map"];
const EDGE = 34; // of a map, for what its axes are called

// Columns that can be an axis: numbers, of the table or of the network.
const axes = () => [
  ...data.columns.filter(({ levels }) => !levels),
  ...(supported ? [{ name: "influence", values: nodes.influence }] : []),
  ...data.columns.filter(({ ordered }) => ordered).map(({ name, values }) => ({ name, values: values.map(jittered) })),
];

// Nodes with the same answer are moved apart a little, each always by the same.
const jittered = (value, node) => (value === null ? null : value + 0.5 * ((node * 0.618034) % 1) - 0.25);

let extentsFor = null;
let extentsNow = null;
function mapScales({ width, height }) {
  const key = `${state.mapX} ${state.mapY} ${width} ${height}`;
  if (extentsFor !== key) {
    const [x, y] = [state.mapX, state.mapY].map((place) => axes()[place].values.slice(0, drawnCount));
    const scale = (values, from, to) => d3.scaleLinear().domain(d3.extent(values.filter((value) => value !== null))).range([from, to]);
    extentsNow = { x, y, toX: scale(x, EDGE, width - 20), toY: scale(y, height - EDGE, 20) };
    extentsFor = key;
  }
  return extentsNow;
}

// Places by two columns instead of the layout's; who lacks one is nowhere.
export function placeOnMap(sheet) {
  const { x, y, toX, toY } = mapScales(sheet);
  const { k, x: moveX, y: moveY } = camera.transform;
  for (let node = 0; node < drawnCount; node++) {
    const known = x[node] !== null && y[node] !== null;
    sheet.x[node] = known ? k * toX(x[node]) + moveX : NaN;
    sheet.y[node] = known ? k * toY(y[node]) + moveY : NaN;
    sheet.r[node] = Math.min(sheet.r[node], 9);
  }
}

export function drawMapAxes({ context, width, height, colours }) {
  const [x, y] = [state.mapX, state.mapY].map((place) => axes()[place].name);
  Object.assign(context, { globalAlpha: 1, font: `400 12px ${colours.font}`, fillStyle: colours.quiet, textBaseline: "middle", textAlign: "end" });
  context.fillText(`${x} →`, width - 8, height - 12);
  context.textAlign = "start";
  context.fillText(`↑ ${y}`, 8, 12);
}

// A row and a column for every node, by community and then by influence; a dark cell is a tie.
export function drawMatrix(sheet) {
  const { context, width, height, colours } = sheet;
  const order = d3.sort(d3.range(drawnCount), (node) => drawing.community[node]);
  const place = new Array(drawnCount);
  order.forEach((node, at) => (place[node] = at));
  const side = Math.min(width, height) - 16;
  const [left, top, size] = [(width - side) / 2, 8, side / drawnCount];
  context.clearRect(0, 0, width, height);
  Object.assign(context, { globalAlpha: 1, fillStyle: colours.line });
  const sizes = d3.rollup(drawing.community, (list) => list.length, (each) => each);
  let from = 0;
  for (const each of d3.range(sizes.size)) {
    Object.assign(context, { globalAlpha: 0.14, fillStyle: fillOf(sheet, aspect().tints ? each : 0) });
    context.fillRect(left + from * size, top + from * size, sizes.get(each) * size, sizes.get(each) * size);
    from += sizes.get(each);
  }
  context.fillStyle = colours.ink;
  for (const { a, b, evidence } of pairs().slice(0, shownCount())) {
    context.globalAlpha = 0.25 + 0.75 * strength(evidence);
    for (const [row, column] of [[a, b], [b, a]]) context.fillRect(left + place[column] * size, top + place[row] * size, Math.max(1, size), Math.max(1, size));
  }
  Object.assign(context, { globalAlpha: 1, strokeStyle: colours.line, lineWidth: 1 });
  context.beginPath();
  for (const [x, y] of [[left, top], [left + side, top], [left + side, top + side], [left, top + side], [left, top]]) context.lineTo(x, y);
  context.stroke();
}

export function chooseTab(tab) {
  state.tab = tab;
  for (const name of TABS) byId(`${name}-tab`).setAttribute("aria-pressed", String(name === tab));
  byId("axes").hidden = tab !== "map";
  stage.dataset.tab = tab;
  zoomTo(null);
  refresh();
}

export function startTabs() {
  for (const name of TABS) byId(`${name}-tab`).addEventListener("click", () => chooseTab(name));
  const list = axes();
  byId("map-tab").hidden = list.length < 2;
  Object.assign(state, { mapX: 0, mapY: Math.min(1, list.length - 1) });
  for (const axis of ["mapX", "mapY"]) {
    byId(axis).replaceChildren(...list.map(({ name }, place) => element("option", name, { value: place })));
    byId(axis).value = state[axis];
    byId(axis).addEventListener("change", () => {
      state[axis] = Number(byId(axis).value);
      refresh();
    });
  }
}
