// The network drawn: whole, the ties of one node above it, on paper, and while it moves.

import { drawBubbles, nameBubbles } from "./bubbles.js";
import { checks, verdict } from "./checks.js";
import { drawNames, drawNode, drawNodes, hubsOnSheet } from "./circles.js";
import { LISTED, drawing, neighbours, pairs, state } from "./data.js";
import { drawEdges, strokeEdges } from "./lines.js";
import { computePlaces, prepare } from "./sheets.js";
import { PAPER, above, base, camera, onPaper, onScreen, overlay, printed } from "./stage.js";
import { drawMapAxes, drawMatrix, markMatrix } from "./tabs.js";
import { drawGone } from "./whatif.js";

const SMOOTH = 40; // milliseconds: what takes longer to draw is moved as a picture, and drawn anew at rest
let drawnAt = camera.transform; // of the picture that is on the screen
let cost = 0; // of drawing it, in milliseconds

function drawNetwork(sheet) {
  const { context, width, height } = sheet;
  context.clearRect(0, 0, width, height);
  computePlaces(sheet);
  if (state.tab === "matrix") return drawMatrix(sheet);
  if (drawing.bubbles && state.tab === "network") drawBubbles(sheet);
  drawEdges(sheet);
  drawNodes(sheet);
  drawGone(sheet);
  if (drawing.bubbles && state.tab === "network") nameBubbles(sheet);
  if (state.tab === "map") drawMapAxes(sheet);
  return drawNames(sheet, hubsOnSheet(sheet));
}

// The ties of a node that are picked out: those that are sure enough, and its heaviest anyhow.
export function pickedTies(node) {
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
  drawGone(sheet);
  const nearest = [...from, ...into].sort((a, b) => b.weight - a.weight).slice(0, 24);
  drawNames(sheet, [node, ...nearest.map((tie) => tie.node)]);
}

// Two nodes that are compared, or the ends of a tie: the line between them, where there is one, and both names.
function drawPair(sheet, a, b) {
  const tied = pairs().some((pair) => pair.a === Math.min(a, b) && pair.b === Math.max(a, b));
  if (tied) strokeEdges({ ...sheet, straight: true }, [[a, b]], { colour: sheet.colours.from, alpha: 1, width: 3, arrows: false });
  sheet.context.globalAlpha = 1;
  for (const node of [a, b]) drawNode(sheet, node, sheet.colours.ink);
  drawNames(sheet, [a, b]);
}

export function drawOverlay() {
  above.context.clearRect(0, 0, above.width, above.height);
  const sheet = { ...onScreen, ...above };
  if (state.tab === "matrix") {
    base.classList.remove("faded");
    markMatrix(sheet, [state.selected, state.other].filter((node) => node !== null));
    return;
  }
  const node = state.selected ?? state.hovered;
  base.classList.toggle("faded", node !== null);
  if (node !== null && state.other !== null) drawPair(sheet, node, state.other);
  else if (node !== null) drawTies(sheet, node);
  if (state.tie && state.hovered === null) drawPair(sheet, state.tie.a, state.tie.b);
}

export function drawScreen() {
  const start = performance.now();
  for (const canvas of [base, overlay]) canvas.style.transform = "";
  drawNetwork(onScreen);
  drawOverlay();
  // What a canvas is told it draws later: the cost is known when the frame after this one begins.
  requestAnimationFrame(() => requestAnimationFrame(() => (cost = performance.now() - start)));
  drawnAt = camera.transform;
  camera.finder = null;
  drawPaperSoon();
}

function drawPaper() {
  prepare(printed, PAPER.width, PAPER.height, PAPER.scale);
  drawPicture(onPaper);
}

// A picture that stands alone: with a node chosen, the rest is veiled.
export function drawPicture(sheet) {
  drawNetwork(sheet);
  if (state.selected === null) return;
  const { context, width, height, colours } = sheet;
  Object.assign(context, { globalAlpha: 0.84, fillStyle: colours.paper });
  context.fillRect(0, 0, width, height);
  if (state.other === null) drawTies(sheet, state.selected);
  else drawPair(sheet, state.selected, state.other);
}

let paperTimer = null;
function drawPaperSoon() {
  clearTimeout(paperTimer);
  paperTimer = setTimeout(drawPaper, PAPER.delay);
}

// While it is moved, a picture that takes long to draw is shifted and scaled as it is.
function movePicture() {
  const k = camera.transform.k / drawnAt.k;
  const [x, y] = [camera.transform.x - k * drawnAt.x, camera.transform.y - k * drawnAt.y];
  for (const canvas of [base, overlay]) canvas.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
}

let waiting = false;
export function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (camera.moving && cost > SMOOTH) movePicture();
    else drawScreen();
  });
}
