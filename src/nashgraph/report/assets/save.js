// What a reader takes away: the picture as it stands, and the tables.

const LEGEND = 30; // height, below the picture

function download(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", null, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const fileName = (what) => `${data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "network"}-${what}`;

function picture(context, width, height) {
  const sheet = { context, width, height, colours: onScreen.colours, dark: onScreen.dark };
  Object.assign(context, { globalAlpha: 1, fillStyle: sheet.colours.paper });
  context.clearRect(0, 0, width, height + LEGEND);
  drawPicture({ ...sheet });
  Object.assign(context, { globalAlpha: 1, fillStyle: sheet.colours.paper });
  context.fillRect(0, height, width, LEGEND);
  drawLegend(sheet);
  return context;
}

function drawLegend({ context, height, width, colours, dark }) {
  const { name, words, counts, colour } = aspect();
  Object.assign(context, { font: `400 12px ${colours.font}`, textAlign: "start", textBaseline: "middle" });
  let x = 10;
  const write = (text, fill) => {
    context.fillStyle = fill;
    context.fillText(text, x, height + LEGEND / 2);
    x += context.measureText(text).width;
  };
  write(name, colours.quiet);
  words.forEach((word, group) => {
    const label = `${Array.from(word).slice(0, 24).join("")} (${said(counts[group])})`;
    if (x + 40 + context.measureText(label).width > width) return;
    x += 16;
    context.fillStyle = colour(group, dark);
    context.beginPath();
    context.arc(x + 5, height + LEGEND / 2, 5, 0, 2 * Math.PI);
    context.fill();
    x += 14;
    write(label, colours.ink);
  });
}

function savePng() {
  const { width, height } = onScreen;
  const canvas = document.createElement("canvas");
  prepare(canvas, width, height + LEGEND, 3);
  const context = canvas.getContext("2d");
  Object.assign(context, { fillStyle: onScreen.colours.paper });
  const painted = picture(context, width, height);
  painted.globalCompositeOperation = "destination-over";
  Object.assign(painted, { globalAlpha: 1, fillStyle: onScreen.colours.paper });
  painted.fillRect(0, 0, width, height + LEGEND);
  canvas.toBlob((blob) => download(blob, `${fileName("network")}.png`), "image/png");
}

function saveSvg() {
  const { width, height } = onScreen;
  const context = new SvgContext(width, height + LEGEND);
  context.fillStyle = onScreen.colours.paper;
  context.fillRect(0, 0, width, height + LEGEND);
  download(String(picture(context, width, height)), `${fileName("network")}.svg`, "image/svg+xml");
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

// The ties that the slider leaves.
function saveTies() {
  const { source, target, weight, drawn, edge_columns: columns } = edges();
  const rows = drawn.slice(0, shownCount(edges())).map((e) => [
    nodes.name[source[e]],
    nodes.name[target[e]],
    weight[e],
    ...Object.values(columns).map((values) => values[e]),
  ]);
  download(csv(["source", "target", "weight", ...Object.keys(columns)], rows), `${fileName("ties")}.csv`, "text/csv");
}

function startSaving() {
  for (const [id, save] of Object.entries({ "save-svg": saveSvg, "save-png": savePng, "save-nodes": saveNodes, "save-ties": saveTies })) {
    byId(id).addEventListener("click", save);
  }
}
