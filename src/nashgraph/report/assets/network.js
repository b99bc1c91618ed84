// The drawing. A sheet is something to draw the network on: the screen, with a second canvas above it for the ties of
// one node, and paper, which is drawn in advance, because what is drawn while a page prints comes out blank.

const LEVELS = 12; // of opacity: edges of one level are stroked in one go
const WHILE_MOVING = 3000; // edges drawn during a drag
const WITH_ARROWS = 2500;
const BEND = 0.12;
const STRETCH = 1.5;
const MARGIN = 26;
const PAPER = { width: 720, height: 500, scale: 3, delay: 400 };

const stage = byId("stage");
const base = byId("base");
const overlay = byId("overlay");
const printed = byId("printed");
const onScreen = { context: base.getContext("2d"), canvas: base };
const above = { context: overlay.getContext("2d") };
const onPaper = { context: printed.getContext("2d"), canvas: printed, width: PAPER.width, height: PAPER.height };
let transform = d3.zoomIdentity;
let moving = false;
let finder = null;

// Opacity can be compared between lambdas, because the weight of full opacity is that of the fitted graph.
const fullWeight = d3.quantile(drawing.views[drawing.fitted].weight, 0.98) || 1;

// How strongly to draw an edge, from 0 to 1: by the share of members that have it, where that is known.
const strength = (weight, frequency) => frequency ?? Math.min(1, weight / fullWeight);

function readColours(sheet) {
  const style = getComputedStyle(sheet.canvas);
  sheet.colours = { font: style.fontFamily };
  for (const name of ["paper", "ink", "tie", "least", "most", "into", "from"]) {
    sheet.colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

function prepare(canvas, width, height, scale) {
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
}

function resize() {
  const { clientWidth: width, clientHeight: height } = stage;
  Object.assign(onScreen, { width, height });
  Object.assign(above, { width, height });
  for (const canvas of [base, overlay]) prepare(canvas, width, height, window.devicePixelRatio || 1);
}

// Places fill the sheet, stretched a little where its shape asks for it. Circles grow with the square root of the zoom,
// so that nearer is also roomier.
function computePlaces(sheet) {
  const { width, height } = sheet;
  const { influence } = currentView();
  const mean = d3.mean(influence) || 1;
  const across = (width / 2 - MARGIN) / (d3.max(drawing.x, Math.abs) || 1);
  const upward = (height / 2 - MARGIN) / (d3.max(drawing.y, Math.abs) || 1);
  const unit = Math.max(1, Math.min(across, upward));
  const [stretchX, stretchY] = [across, upward].map((room) => Math.min(room, STRETCH * unit));
  const { k, x: moveX, y: moveY } = transform;
  const ratio = width / (onScreen.width || width); // the screen's zoom, on a sheet of another size
  sheet.places = drawing.x.map((x, node) => {
    const grown = drawing.radius * Math.sqrt(influence[node] / mean);
    const radius = Math.min(Math.max(grown, drawing.least), drawing.widest);
    return {
      x: k * (width / 2 + stretchX * x) + moveX * ratio,
      y: k * (height / 2 + stretchY * drawing.y[node]) + moveY * ratio,
      radius: Math.max(1.3, unit * radius) * Math.sqrt(k),
    };
  });
}

// ------------------------------------------------------------------------------------------------ edges

// Where there are many lines each is fainter and thinner: 1 up to a thousand of them, and less above.
const airiness = (count) => Math.min(1, Math.sqrt(1000 / Math.max(count, 1)));

// A directed edge bends, so that two opposite ones are seen as two.
function bend(a, b) {
  return { x: (a.x + b.x) / 2 + BEND * (b.y - a.y), y: (a.y + b.y) / 2 - BEND * (b.x - a.x) };
}

function traceEdge(context, a, b) {
  context.moveTo(a.x, a.y);
  if (!state.directed) return context.lineTo(b.x, b.y);
  const middle = bend(a, b);
  return context.quadraticCurveTo(middle.x, middle.y, b.x, b.y);
}

function traceArrow(context, a, b, length) {
  const middle = bend(a, b);
  const along = Math.atan2(b.y - middle.y, b.x - middle.x);
  const tip = { x: b.x - b.radius * Math.cos(along), y: b.y - b.radius * Math.sin(along) };
  context.moveTo(tip.x, tip.y);
  for (const side of [-0.38, 0.38]) {
    context.lineTo(tip.x - length * Math.cos(along + side), tip.y - length * Math.sin(along + side));
  }
}

function strokeEdges({ context, places, width: room }, list, { colour, alpha, width, arrows }) {
  context.globalAlpha = alpha;
  context.lineWidth = width;
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  for (const [a, b] of list) traceEdge(context, places[a], places[b]);
  context.stroke();
  if (!arrows) return;
  context.beginPath();
  for (const [a, b] of list) {
    const length = Math.min(4 + 2.5 * width, 2 + room / 110, 1.5 + 1.3 * places[b].radius); // no larger than its node
    traceArrow(context, places[a], places[b], length);
  }
  context.fill();
}

function drawEdges(sheet) {
  const { source, target, weight, drawn, edge_columns: { frequency } } = edges();
  const count = Math.min(shownCount(edges()), moving ? WHILE_MOVING : Infinity);
  const levels = Array.from({ length: LEVELS }, () => []);
  for (let k = count - 1; k >= 0; k--) {
    const level = Math.min(LEVELS - 1, Math.floor(LEVELS * strength(weight[drawn[k]], frequency?.[drawn[k]])));
    levels[level].push([source[drawn[k]], target[drawn[k]]]);
  }
  const air = airiness(count);
  const arrows = state.directed && count <= WITH_ARROWS && !moving;
  levels.forEach((list, level) => {
    const share = (level + 0.5) / LEVELS;
    const alpha = (0.1 + 0.75 * share) * (0.15 + 0.85 * air);
    const width = (0.7 + 0.9 * share) * (0.6 + 0.4 * air);
    strokeEdges(sheet, list, { colour: sheet.colours.tie, alpha, width, arrows });
  });
}

// ------------------------------------------------------------------------------------------------ nodes

function nodeColour({ colours }) {
  const { action } = currentView();
  const shade = d3.interpolateLab(colours.least, colours.most);
  if (!action) return () => shade(0.6);
  const share = d3.scaleLinear().domain(d3.extent(action)).range([0, 1]);
  return (node) => shade(share(action[node]));
}

function drawNode({ context, places, colours }, node, fill, ring) {
  const { x, y, radius } = places[node];
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  context.lineWidth = ring ? 2 : 1;
  context.strokeStyle = ring || colours.paper;
  if (ring || radius > 2.5) context.stroke();
}

// Names are drawn as plain text; the page's own background around them keeps them readable over lines.
function drawNames({ context, places, colours, width }, list) {
  const taken = [];
  Object.assign(context, { globalAlpha: 1, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  context.font = `600 13px ${colours.font}`;
  for (const node of list) {
    const letters = Array.from(nodes.name[node]);
    const name = letters.length > 24 ? `${letters.slice(0, 23).join("")}…` : letters.join("");
    const half = context.measureText(name).width / 2 + 3;
    const { x, y, radius } = places[node];
    const at = { x: Math.min(Math.max(x, half), width - half), y: y - radius - (y < radius + 18 ? -10 - 2 * radius : 10) };
    if (taken.some((other) => Math.abs(other.x - at.x) < other.half + half && Math.abs(other.y - at.y) < 16)) continue;
    taken.push({ ...at, half });
    context.lineWidth = 4;
    context.strokeStyle = colours.paper;
    context.strokeText(name, at.x, at.y);
    context.fillStyle = colours.ink;
    context.fillText(name, at.x, at.y);
  }
}

function hubsOfView(most) {
  const { influence } = currentView();
  return d3.range(drawnCount).sort((a, b) => influence[b] - influence[a]).slice(0, most);
}

// --------------------------------------------------------------------------------------------- pictures

function drawNetwork(sheet) {
  const { context, width, height } = sheet;
  context.clearRect(0, 0, width, height);
  computePlaces(sheet);
  drawEdges(sheet);
  context.globalAlpha = 1;
  const fill = nodeColour(sheet);
  for (let node = drawnCount - 1; node >= 0; node--) drawNode(sheet, node, fill(node));
  drawNames(sheet, hubsOfView(width < 500 ? 5 : 9));
}

// The ties of one node in two colours: whom it listens to, and who listens to it.
function drawTies(sheet, node) {
  const { context, colours } = sheet;
  const { into, from } = neighbours(node, 400);
  const visible = ({ node: other, sure }, place) => other < drawnCount && (sure || place < LISTED);
  const groups = [
    [from.filter(visible), colours.from, (other) => [node, other]],
    [into.filter(visible), state.directed ? colours.into : colours.from, (other) => [other, node]],
  ];
  for (const [ties, colour, pair] of groups) {
    for (const tie of ties) {
      const share = tie.strength;
      const style = { colour, alpha: 0.35 + 0.65 * share, width: 1 + 2 * share, arrows: state.directed };
      strokeEdges(sheet, [pair(tie.node)], style);
    }
  }
  context.globalAlpha = 1;
  const fill = nodeColour(sheet);
  for (const [ties, colour] of groups) for (const tie of ties) drawNode(sheet, tie.node, fill(tie.node), colour);
  drawNode(sheet, node, fill(node), colours.ink);
  const nearest = [...groups[0][0], ...groups[1][0]].sort((a, b) => b.weight - a.weight).slice(0, 10);
  drawNames(sheet, [node, ...nearest.map((tie) => tie.node)]);
}

function drawOverlay() {
  above.context.clearRect(0, 0, above.width, above.height);
  const node = state.selected ?? state.hovered;
  const focused = node !== null && node < drawnCount;
  base.classList.toggle("faded", focused);
  if (focused) drawTies({ ...onScreen, ...above }, node);
}

function drawScreen() {
  drawNetwork(onScreen);
  drawOverlay();
  finder = null;
  drawPaperSoon();
}

function drawPaper() {
  prepare(printed, PAPER.width, PAPER.height, PAPER.scale);
  drawNetwork(onPaper);
  if (state.selected === null || state.selected >= drawnCount) return;
  Object.assign(onPaper.context, { globalAlpha: 0.84, fillStyle: onPaper.colours.paper });
  onPaper.context.fillRect(0, 0, PAPER.width, PAPER.height);
  drawTies(onPaper, state.selected);
}

let paperTimer = null;
function drawPaperSoon() {
  clearTimeout(paperTimer);
  paperTimer = setTimeout(drawPaper, PAPER.delay);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawScreen();
  });
}

// --------------------------------------------------------------------------------------------- pointing

function nodeAt(event) {
  const { places } = onScreen;
  finder ??= d3.quadtree(d3.range(drawnCount), (node) => places[node].x, (node) => places[node].y);
  const [x, y] = d3.pointer(event, overlay);
  const node = finder.find(x, y, 40);
  if (node === undefined) return null;
  return Math.hypot(places[node].x - x, places[node].y - y) <= places[node].radius + 8 ? node : null;
}

// A wheel alone scrolls the page, and so does one finger: the drawing never catches a reader on the way down.
const zoom = d3
  .zoom()
  .scaleExtent([0.7, 30])
  .filter((event) => {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    if (event.type.startsWith("touch")) return event.touches.length > 1;
    return !event.button;
  })
  .on("zoom", (event) => {
    moving = event.sourceEvent !== null;
    transform = event.transform;
    redraw();
  })
  .on("end", () => {
    moving = false;
    redraw();
  });
