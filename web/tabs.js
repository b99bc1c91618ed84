// Three ways to look at the network: drawn, as a matrix by community, and as a map by two columns of numbers.

import * as d3 from "d3";
import { aspect } from "./aspects.js";
import { fillOf, shortName } from "./circles.js";
import { byId, data, drawing, drawnCount, element, nodes, pairs, ranked, shownCount, state, strength } from "./data.js";
import { refresh } from "./page.js";
import { camera, stage } from "./stage.js";
import { zoomTo } from "./zoom.js";

const TABS = ["network", "matrix", "map"];
const EDGE = 34; // of a map, for what its axes are called

// Columns that can be an axis: numbers, of the table or of the network.
const axes = () => [
  ...data.columns.filter(({ levels }) => !levels),
  ...(ranked ? [{ name: "influence", values: nodes.influence }] : []),
  ...data.columns.filter(({ ordered }) => ordered).map(({ name, values }) => ({ name, values: values.map(jittered) })),
];

// The columns of coordinates, where the table has both.
function coordinates() {
  const list = axes();
  const [longitude, latitude] = ["longitude", "latitude"].map((wanted) => list.findIndex(({ place }) => place === wanted));
  return longitude >= 0 && latitude >= 0 ? { longitude, latitude } : null;
}

const isGeographic = () => {
  const pair = coordinates();
  return pair !== null && state.mapX === pair.longitude && state.mapY === pair.latitude;
};

// A degree of longitude is shorter than one of latitude by the cosine of the latitude, so a map has one scale in metres.
const METRES = 111_320; // along a meridian, for one degree
function geographicScales(x, y, { width, height }) {
  const known = (values) => values.filter((value) => value !== null);
  const [[west, east], [south, north]] = [d3.extent(known(x)), d3.extent(known(y))];
  const shrink = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const across = Math.max((east - west) * shrink, 1e-9);
  const up = Math.max(north - south, 1e-9);
  const pixels = Math.min((width - EDGE - 20) / across, (height - EDGE - 20) / up); // for a degree of latitude
  const [centreX, centreY] = [(width + EDGE) / 2 - 10, (height - EDGE) / 2 + 10];
  return {
    toX: (value) => centreX + (value - (west + east) / 2) * shrink * pixels,
    toY: (value) => centreY - (value - (south + north) / 2) * pixels,
    pixelsPerMetre: pixels / METRES,
  };
}

// Nodes with the same answer are moved apart a little, each always by the same.
const jittered = (value, node) => (value === null ? null : value + 0.5 * ((node * 0.618034) % 1) - 0.25);

let extentsFor = null;
let extentsNow = null;
function mapScales({ width, height }) {
  const key = `${state.mapX} ${state.mapY} ${width} ${height}`;
  if (extentsFor !== key) {
    const [x, y] = [state.mapX, state.mapY].map((place) => axes()[place].values.slice(0, drawnCount));
    const scale = (values, from, to) => d3.scaleLinear().domain(d3.extent(values.filter((value) => value !== null))).range([from, to]);
    const scales = isGeographic() ? geographicScales(x, y, { width, height }) : { toX: scale(x, EDGE, width - 20), toY: scale(y, height - EDGE, 20) };
    extentsNow = { x, y, ...scales };
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

// A bar of 1, 2 or 5 times a power of ten metres, about a fifth as long as the picture is wide.
function drawScaleBar({ context, width, height, colours }, pixelsPerMetre) {
  const metres = width / 5 / pixelsPerMetre;
  const power = 10 ** Math.floor(Math.log10(metres));
  const length = power * d3.max([1, 2, 5].filter((times) => times * power <= metres));
  const [left, bottom] = [12, height - 12];
  const right = left + length * pixelsPerMetre;
  Object.assign(context, { strokeStyle: colours.quiet, fillStyle: colours.quiet, lineWidth: 2, textAlign: "start" });
  context.beginPath();
  context.moveTo(left, bottom - 5);
  context.lineTo(left, bottom);
  context.lineTo(right, bottom);
  context.lineTo(right, bottom - 5);
  context.stroke();
  context.fillText(length >= 1000 ? `${length / 1000} km` : `${length} m`, right + 6, bottom - 3);
}

export function drawMapAxes(sheet) {
  const { context, width, height, colours } = sheet;
  const [x, y] = [state.mapX, state.mapY].map((place) => axes()[place].name);
  Object.assign(context, { globalAlpha: 1, font: `400 12px ${colours.font}`, fillStyle: colours.quiet, textBaseline: "middle", textAlign: "end" });
  context.fillText(`${x} →`, width - 8, height - 12);
  context.textAlign = "start";
  context.fillText(`↑ ${y}`, 8, 12);
  if (isGeographic()) drawScaleBar(sheet, mapScales(sheet).pixelsPerMetre * camera.transform.k);
}

// The order of rows and columns of the matrix: by community, and then by influence.
const matrixOrder = d3.sort(d3.range(drawnCount), (node) => drawing.community[node]);
const NAMED = 9; // pixels that a row needs for its name

function matrixGrid({ width, height, context, colours }) {
  const named = (Math.min(width, height) - 16) / drawnCount >= NAMED;
  let room = 0;
  if (named) {
    context.font = `400 11px ${colours.font}`;
    room = Math.min(140, d3.max(matrixOrder, (node) => context.measureText(shortName(node, 18)).width) + 8);
  }
  const side = Math.min(width - room, height) - 16;
  return { left: (width - room - side) / 2 + room, top: 8, size: side / drawnCount, side, named };
}

// The pair whose cell is at a point of the matrix, or null.
export function matrixCell(sheet, x, y) {
  const { left, top, size } = matrixGrid(sheet);
  const row = matrixOrder[Math.floor((y - top) / size)];
  const column = matrixOrder[Math.floor((x - left) / size)];
  return row === undefined || column === undefined || x < left || y < top ? null : { a: row, b: column };
}

// The row and the column of the chosen nodes, marked.
export function markMatrix(sheet, chosen) {
  const { context, colours } = sheet;
  const { left, top, size, side } = matrixGrid(sheet);
  Object.assign(context, { globalAlpha: 1, strokeStyle: colours.from, lineWidth: 1.5 });
  for (const node of chosen) {
    const at = matrixOrder.indexOf(node) * size;
    context.strokeRect(left, top + at, side, size);
    context.strokeRect(left + at, top, size, side);
  }
}

// A row and a column for every node; a dark cell is a tie.
export function drawMatrix(sheet) {
  const { context, colours } = sheet;
  const place = new Array(drawnCount);
  matrixOrder.forEach((node, at) => (place[node] = at));
  const { left, top, size, side, named } = matrixGrid(sheet);
  const { width, height } = sheet;
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
  if (named) {
    Object.assign(context, { globalAlpha: 1, fillStyle: colours.ink, textAlign: "end", textBaseline: "middle", font: `400 11px ${colours.font}` });
    matrixOrder.forEach((node, at) => context.fillText(shortName(node, 18), left - 4, top + (at + 0.5) * size));
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
  const pair = coordinates();
  byId("map-tab").textContent = pair ? "Map" : "Plot";
  Object.assign(state, { mapX: pair?.longitude ?? 0, mapY: pair?.latitude ?? Math.min(1, list.length - 1) });
  for (const axis of ["mapX", "mapY"]) {
    byId(axis).replaceChildren(...list.map(({ name }, place) => element("option", name, { value: place })));
    byId(axis).value = state[axis];
    byId(axis).addEventListener("change", () => {
      state[axis] = Number(byId(axis).value);
      refresh();
    });
  }
}
