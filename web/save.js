// What a reader takes away: the picture as it stands, and the tables.

import { CHIPS, aspect } from "./aspects.js";
import { VERDICTS, checks } from "./checks.js";
import { byId, currentView, data, drawing, element, nodes, pairs, shownCount, state } from "./data.js";
import { drawPicture } from "./network.js";
import { prepare } from "./sheets.js";
import { onScreen } from "./stage.js";
import { SvgContext } from "./svg.js";
import { rowsWanted } from "./table.js";
import { said } from "./text.js";

const LINE = 22; // of the legend below the picture, its height

function download(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", null, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const fileName = (what) => `${data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "network"}-${what}`;

// The network as it stands on the screen, with a legend below.
function paintSheet(context, width, height, rows) {
  const sheet = { context, width, height, colours: onScreen.colours, dark: onScreen.dark };
  drawPicture(sheet);
  Object.assign(context, { globalAlpha: 1, fillStyle: sheet.colours.paper });
  context.fillRect(0, height, width, rows.length * LINE + LINE / 2);
  rows.forEach((row, place) => drawLegend(sheet, row, height + (place + 0.75) * LINE));
}

// What the colours mean, in rows as wide as the picture: groups of nodes, then lines where they are right or wrong.
function legendRows(width) {
  const { name, words, counts, colour } = aspect();
  const measure = new SvgContext(0, 0);
  measure.font = `400 12px ${onScreen.colours.font}`;
  const verdicts = checks && state.checked ? [...Object.entries(VERDICTS), ["missed", "missed"]] : [];
  const entries = [
    ...words.slice(0, CHIPS).map((word, group) => [`${Array.from(word).slice(0, 30).join("")} (${said(counts[group])})`, colour(group, onScreen.dark)]),
    ...verdicts.map(([kind, word]) => [`line: ${word}`, onScreen.colours[kind]]),
  ];
  const rows = [[]];
  let x = 20 + measure.measureText(name).width;
  for (const [label, fill] of entries) {
    const room = 32 + measure.measureText(label).width;
    if (x + room > width) {
      rows.push([]);
      x = 10;
    }
    rows[rows.length - 1].push({ label, fill, x });
    x += room;
  }
  return rows;
}

function drawLegend({ context, height, colours }, row, y) {
  Object.assign(context, { font: `400 12px ${colours.font}`, textAlign: "start", textBaseline: "middle", fillStyle: colours.quiet });
  if (y < height + LINE) context.fillText(aspect().name, 10, y);
  for (const { label, fill, x } of row) {
    context.fillStyle = fill;
    context.beginPath();
    context.arc(x + 5, y, 5, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = colours.ink;
    context.fillText(label, x + 14, y);
  }
}

function savePng() {
  const { width, height, colours } = onScreen;
  const rows = legendRows(width);
  const canvas = document.createElement("canvas");
  const whole = height + (rows.length + 0.5) * LINE;
  prepare(canvas, width, whole, 3);
  const context = canvas.getContext("2d");
  paintSheet(context, width, height, rows);
  Object.assign(context, { globalAlpha: 1, fillStyle: colours.paper, globalCompositeOperation: "destination-over" });
  context.fillRect(0, 0, width, whole);
  canvas.toBlob((blob) => download(blob, `${fileName("network")}.png`), "image/png");
}

function saveSvg() {
  const { width, height, colours } = onScreen;
  const rows = legendRows(width);
  const context = new SvgContext(width, height + (rows.length + 0.5) * LINE);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, context.width, context.height);
  paintSheet(context, width, height, rows);
  download(String(context), `${fileName("network")}.svg`, "image/svg+xml");
}

const cell = (value) => (/[",\r\n]/.test(String(value ?? "")) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
const csv = (heads, rows) => `${[heads, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

// All columns of the nodes that the legend and the search field leave, in the order of the table.
function saveNodes() {
  const own = Object.entries(nodes).filter(([name]) => name !== "community");
  const heads = [...own.map(([name]) => name), "community", ...data.columns.map((column) => column.name)];
  const value = ({ levels, values }, node) => (levels && values[node] !== null ? levels[values[node]] : values[node]);
  const rows = rowsWanted().map((node) => [
    ...own.map(([, values]) => values[node]),
    drawing.community[node] + 1,
    ...data.columns.map((column) => value(column, node)),
  ]);
  download(csv(heads, rows), `${fileName("nodes")}.csv`, "text/csv");
}

// The edges of the ties that the cut leaves, each way.
function saveTies() {
  const { source, target, weight, edge_columns: columns } = currentView();
  const shown = pairs().slice(0, shownCount()).flatMap(({ edges }) => edges);
  const rows = shown.map((e) => [nodes.name[source[e]], nodes.name[target[e]], weight[e], ...Object.values(columns).map((values) => values[e])]);
  download(csv(["source", "target", "weight", ...Object.keys(columns)], rows), `${fileName("ties")}.csv`, "text/csv");
}

export function startSaving() {
  for (const [id, save] of Object.entries({ "save-svg": saveSvg, "save-png": savePng, "save-nodes": saveNodes, "save-ties": saveTies })) {
    byId(id).addEventListener("click", save);
  }
}
