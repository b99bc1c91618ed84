// The drawing. A sheet is something to draw the network on: the screen, with a second canvas above it for the ties of
// one node, and paper, which is drawn in advance, because what is drawn while a page prints comes out blank.

const LEVELS = 12; // of opacity: edges of one level are stroked in one go
const WITH_ARROWS = 2500;
const STROKE = 100; // lines in one path: a path of thousands takes seconds
const BEND = 0.12;
const STRETCH = 2.2;
const MARGIN = 26;
const NAMES = 9; // of hubs, at first; nearer there are more
const SMOOTH = 40; // milliseconds: what takes longer to draw is moved as a picture, and drawn anew at rest
const LINES_AT_ONCE = 6000; // of those that could be drawn, the strongest
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
let drawnAt = transform; // of the picture that is on the screen
let cost = 0; // of drawing it, in milliseconds
let finder = null;

// Opacity can be compared between lambdas, because the weight of full opacity is that of the fitted graph.
const fullWeight = d3.quantile(drawing.views[drawing.fitted].weight, 0.98) || 1;

// How strongly to draw an edge, from 0 to 1: by the share of members that have it, where that is known.
const strength = (weight, frequency) => frequency ?? Math.min(1, weight / fullWeight);

function readColours(sheet) {
  const style = getComputedStyle(sheet.canvas);
  sheet.colours = { font: style.fontFamily };
  for (const name of ["paper", "ink", "quiet", "line", "tie", "into", "from", "right", "wrong", "missed"]) {
    sheet.colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  sheet.dark = d3.lab(sheet.colours.paper).l < 50;
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

// From the layout to a sheet without zoom: places fill it, stretched a little where its shape asks for that. Bubbles
// move apart, but stay round.
const points = drawing.bubbles ?? drawing;
const reaches = drawing.bubbles?.radius ?? null;
const furthest = (axis) => d3.max(points[axis], (at, k) => Math.abs(at) + (reaches?.[k] ?? 0)) || 1;
const extents = { x: furthest("x"), y: furthest("y") };

function spread({ width, height }) {
  const room = { x: width / 2 - MARGIN, y: height / 2 - MARGIN };
  const unit = Math.max(1, Math.min(room.x / extents.x, room.y / extents.y));
  const within = (axis) => d3.min(points[axis], (at, k) => (room[axis] - unit * (reaches?.[k] ?? 0)) / Math.abs(at || 1e-9));
  const along = (axis) => Math.min(STRETCH * unit, within(axis));
  return { unit, x: along("x"), y: along("y") };
}

// Where a node is on a sheet without zoom, from its middle.
function offset(by, axis, node) {
  if (!drawing.bubbles) return by[axis] * drawing[axis][node];
  const centre = drawing.bubbles[axis][drawing.community[node]];
  return by[axis] * centre + by.unit * (drawing[axis][node] - centre);
}

// Circles grow with the square root of the zoom, so that nearer is also roomier.
function computePlaces(sheet) {
  const { width, height } = sheet;
  const { influence } = currentView();
  const mean = d3.mean(influence) || 1;
  const by = spread(sheet);
  const { k, x: moveX, y: moveY } = transform;
  const ratio = width / (onScreen.width || width); // the screen's zoom, on a sheet of another size
  const grow = Math.sqrt(k);
  sheet.x ??= new Float64Array(drawnCount);
  sheet.y ??= new Float64Array(drawnCount);
  sheet.r ??= new Float64Array(drawnCount);
  for (let node = 0; node < drawnCount; node++) {
    const size = drawing.radius * Math.sqrt(influence[node] / mean);
    sheet.x[node] = k * (width / 2 + offset(by, "x", node)) + moveX * ratio;
    sheet.y[node] = k * (height / 2 + offset(by, "y", node)) + moveY * ratio;
    sheet.r[node] = Math.max(1.3, by.unit * Math.min(Math.max(size, drawing.least), drawing.widest)) * grow;
  }
  if (drawing.bubbles) placeBubbles(sheet, by, ratio);
}

const onSheet = ({ x, y, width, height }, node) => x[node] > -20 && y[node] > -20 && x[node] < width + 20 && y[node] < height + 20;

// ------------------------------------------------------------------------------------------------ edges

// Where there are many lines each is fainter and thinner: 1 up to a thousand of them, and less above.
const airiness = (count) => Math.min(1, Math.sqrt(1000 / Math.max(count, 1)));

// A directed edge bends, so that two opposite ones are seen as two.
const bendX = ({ x, y }, a, b) => (x[a] + x[b]) / 2 + BEND * (y[b] - y[a]);
const bendY = ({ x, y }, a, b) => (y[a] + y[b]) / 2 - BEND * (x[b] - x[a]);

function traceEdge(sheet, a, b) {
  const { context, x, y } = sheet;
  context.moveTo(x[a], y[a]);
  if (state.directed && !sheet.straight) context.quadraticCurveTo(bendX(sheet, a, b), bendY(sheet, a, b), x[b], y[b]);
  else context.lineTo(x[b], y[b]);
}

function traceArrow(sheet, a, b, length) {
  const { context, x, y, r } = sheet;
  const along = Math.atan2(y[b] - bendY(sheet, a, b), x[b] - bendX(sheet, a, b));
  const tip = { x: x[b] - r[b] * Math.cos(along), y: y[b] - r[b] * Math.sin(along) };
  context.moveTo(tip.x, tip.y);
  for (const side of [-0.38, 0.38]) {
    context.lineTo(tip.x - length * Math.cos(along + side), tip.y - length * Math.sin(along + side));
  }
}

function strokeEdges(sheet, list, { colour, alpha, width, arrows }) {
  const { context, r, width: room } = sheet;
  context.globalAlpha = alpha;
  context.lineWidth = width;
  context.strokeStyle = context.fillStyle = colour;
  for (let from = 0; from < list.length; from += STROKE) {
    context.beginPath();
    for (const [a, b] of list.slice(from, from + STROKE)) traceEdge(sheet, a, b);
    context.stroke();
  }
  if (!arrows) return;
  context.beginPath();
  for (const [a, b] of list) {
    const length = Math.min(4 + 2.5 * width, 2 + room / 110, 1.5 + 1.3 * r[b]); // no larger than its node
    traceArrow(sheet, a, b, length);
  }
  context.fill();
}

// Lines of one level of strength and one verdict are stroked in one go. A line is drawn where both its ends are, and
// are not filtered out.
function drawEdges(sheet) {
  const { source, target, weight, drawn, edge_columns: { frequency } } = edges();
  const count = shownCount(edges());
  const groups = new Map();
  let lines = 0;
  for (let k = 0; k < count && lines < LINES_AT_ONCE; k++) {
    const [a, b] = [source[drawn[k]], target[drawn[k]]];
    if (!isDrawn(a) || !isDrawn(b) || !passes(a) || !passes(b)) continue;
    if (!onSheet(sheet, a) && !onSheet(sheet, b)) continue;
    const level = Math.min(LEVELS - 1, Math.floor(LEVELS * strength(weight[drawn[k]], frequency?.[drawn[k]])));
    const kind = verdict(a, b);
    if (!groups.has(kind)) groups.set(kind, Array.from({ length: LEVELS }, () => []));
    groups.get(kind)[level].push([a, b]);
    lines += 1;
  }
  const air = airiness((lines * 800) / sheet.width); // a smaller sheet is sooner full
  const arrows = state.directed && lines <= WITH_ARROWS;
  sheet.straight = !arrows;
  if (checks && state.checked) drawMissed(sheet);
  for (const [kind, levels] of groups) {
    levels.forEach((list, level) => {
      if (!list.length) return;
      const share = (level + 0.5) / LEVELS;
      const alpha = (0.1 + 0.75 * share) * (0.15 + 0.85 * air);
      const width = (0.7 + 0.9 * share) * (0.6 + 0.4 * air);
      strokeEdges(sheet, list, { colour: sheet.colours[kind], alpha, width, arrows });
    });
  }
}

function drawMissed(sheet) {
  const { context, x, y, colours } = sheet;
  const { missed } = checkedPairs();
  const alpha = 0.06 + 0.6 * airiness(12 * missed.length);
  Object.assign(context, { globalAlpha: alpha, lineWidth: 1, strokeStyle: colours.missed });
  context.setLineDash([4, 4]);
  context.beginPath();
  for (const [a, b] of missed) {
    if (!isDrawn(a) || !isDrawn(b) || !passes(a) || !passes(b)) continue;
    context.moveTo(x[a], y[a]);
    context.lineTo(x[b], y[b]);
  }
  context.stroke();
  context.setLineDash([]);
}

// ------------------------------------------------------------------------------------------------ nodes

const fillOf = ({ dark, colours }, group) => (group < 0 ? colours.line : aspect().colour(group, dark));

// Circles of one colour are filled in one go, the filtered ones last and on top of the faded.
function drawNodes(sheet) {
  const { context, x, y, r, colours } = sheet;
  const { groups } = aspect();
  const lists = d3.group(d3.range(drawnCount).filter((node) => isDrawn(node) && onSheet(sheet, node)), (node) => groups[node]);
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

function drawNode(sheet, node, ring) {
  const { context, x, y, r } = sheet;
  context.beginPath();
  context.arc(x[node], y[node], Math.max(r[node], 4), 0, 2 * Math.PI);
  context.fillStyle = fillOf(sheet, aspect().groups[node]);
  context.fill();
  Object.assign(context, { lineWidth: 2, strokeStyle: ring });
  context.stroke();
}

function shortName(node, most = 24) {
  const letters = Array.from(nodes.name[node]);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}

// Names are drawn as plain text; the page's own background around them keeps them readable over lines.
function drawNames({ context, x, y, r, colours, width }, list) {
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

const ranked = new Map();
function byInfluence() {
  const { influence } = currentView();
  if (!ranked.has(state.view)) ranked.set(state.view, d3.range(drawnCount).sort((a, b) => influence[b] - influence[a]));
  return ranked.get(state.view);
}

// The most influential of those that can be seen; the nearer, the more of them.
function hubsOnSheet(sheet) {
  const most = (sheet.width < 500 ? 5 : NAMES) * Math.min(4, Math.ceil(transform.k));
  const list = [];
  for (const node of byInfluence()) {
    if (list.length >= most) break;
    if (isDrawn(node) && passes(node) && onSheet(sheet, node)) list.push(node);
  }
  return list;
}

// --------------------------------------------------------------------------------------------- pictures

function drawNetwork(sheet) {
  const { context, width, height } = sheet;
  context.clearRect(0, 0, width, height);
  computePlaces(sheet);
  if (drawing.bubbles) drawBubbles(sheet);
  drawEdges(sheet);
  drawNodes(sheet);
  if (drawing.bubbles) nameBubbles(sheet);
  drawNames(sheet, hubsOnSheet(sheet));
}

// The ties of a node that are picked out: those that are sure enough, and its heaviest anyhow.
function pickedTies(node) {
  const { into, from } = neighbours(node, 400);
  const picked = ({ sure }, place) => sure || place < LISTED;
  return { into: into.filter(picked), from: from.filter(picked) };
}

// The ties of one node in two colours: whom it listens to, and who listens to it.
function drawTies(sheet, node) {
  const { context, colours } = sheet;
  const { into, from } = pickedTies(node);
  const colourOf = (a, b, usual) => (checks && state.checked ? colours[verdict(a, b)] : usual);
  const groups = [
    [from, colours.from, (other) => [node, other]],
    [into, state.directed ? colours.into : colours.from, (other) => [other, node]],
  ];
  for (const [ties, usual, pair] of groups) {
    for (const { node: other, strength: share } of ties) {
      const colour = colourOf(...pair(other), usual);
      const style = { colour, alpha: 0.35 + 0.65 * share, width: 1 + 2 * share, arrows: state.directed };
      strokeEdges(sheet, [pair(other)], style);
    }
  }
  context.globalAlpha = 1;
  for (const [ties, colour] of groups) for (const tie of ties) drawNode(sheet, tie.node, colour);
  drawNode(sheet, node, colours.ink);
  const nearest = [...from, ...into].sort((a, b) => b.weight - a.weight).slice(0, 24);
  drawNames(sheet, [node, ...nearest.map((tie) => tie.node)]);
}

function drawOverlay() {
  above.context.clearRect(0, 0, above.width, above.height);
  const node = state.selected ?? state.hovered;
  base.classList.toggle("faded", node !== null);
  if (node !== null) drawTies({ ...onScreen, ...above }, node);
}

function drawScreen() {
  const start = performance.now();
  for (const canvas of [base, overlay]) canvas.style.transform = "";
  drawNetwork(onScreen);
  drawOverlay();
  // What a canvas is told it draws later: the cost is known when the frame after this one begins.
  requestAnimationFrame(() => requestAnimationFrame(() => (cost = performance.now() - start)));
  drawnAt = transform;
  finder = null;
  drawPaperSoon();
}

function drawPaper() {
  prepare(printed, PAPER.width, PAPER.height, PAPER.scale);
  drawPicture(onPaper);
}

// A picture that stands alone: with a node chosen, the rest is veiled.
function drawPicture(sheet) {
  drawNetwork(sheet);
  if (state.selected === null) return;
  const { context, width, height, colours } = sheet;
  Object.assign(context, { globalAlpha: 0.84, fillStyle: colours.paper });
  context.fillRect(0, 0, width, height);
  drawTies(sheet, state.selected);
}

let paperTimer = null;
function drawPaperSoon() {
  clearTimeout(paperTimer);
  paperTimer = setTimeout(drawPaper, PAPER.delay);
}

// While it is moved, a picture that takes long to draw is shifted and scaled as it is.
function movePicture() {
  const k = transform.k / drawnAt.k;
  const [x, y] = [transform.x - k * drawnAt.x, transform.y - k * drawnAt.y];
  for (const canvas of [base, overlay]) canvas.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (moving && cost > SMOOTH) movePicture();
    else drawScreen();
  });
}

// --------------------------------------------------------------------------------------------- pointing

function nodeAt(event) {
  const { x, y, r } = onScreen;
  finder ??= d3.quadtree(d3.range(drawnCount).filter(isDrawn), (node) => x[node], (node) => y[node]);
  const [left, top] = d3.pointer(event, stage);
  const node = finder.find(left, top, 40);
  if (node === undefined) return null;
  return Math.hypot(x[node] - left, y[node] - top) <= r[node] + 8 ? node : null;
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// A wheel alone scrolls the page, and so does one finger: the drawing never catches a reader on the way down.
const zoom = d3
  .zoom()
  .scaleExtent([0.7, 40])
  .filter((event) => {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    if (event.type.startsWith("touch")) return event.touches.length > 1;
    return !event.button;
  })
  .on("start", () => (moving = true))
  .on("zoom", (event) => {
    transform = event.transform;
    redraw();
  })
  .on("end", () => {
    moving = false;
    redraw();
  });

const surface = d3.select(stage);
const move = (change) => change(calm.matches ? surface : surface.transition().duration(350));

// Go where a box fills the sheet, given from the middle of the sheet without zoom; null is all of it.
function zoomTo(box, nearest = 6) {
  if (box === null) return move((target) => zoom.transform(target, d3.zoomIdentity));
  const { width, height } = onScreen;
  const [left, right] = box.x.map((at) => width / 2 + at);
  const [top, bottom] = box.y.map((at) => height / 2 + at);
  const room = (side) => side - Math.min(90, side / 5);
  const k = Math.max(1, Math.min(nearest, room(width) / (right - left || 1), room(height) / (bottom - top || 1)));
  const at = d3.zoomIdentity.translate(width / 2 - (k * (left + right)) / 2, height / 2 - (k * (top + bottom)) / 2).scale(k);
  return move((target) => zoom.transform(target, at));
}

function zoomToTies(node) {
  const { into, from } = pickedTies(node);
  const heaviest = [...into, ...from].sort((a, b) => b.weight - a.weight).slice(0, 30);
  const list = [node, ...heaviest.map((tie) => tie.node)];
  const by = spread(onScreen);
  const extent = (axis) => d3.extent(list, (each) => offset(by, axis, each));
  zoomTo({ x: extent("x"), y: extent("y") }, drawing.bubbles ? 12 : 4);
}
