// The lines: how strongly each is drawn, which are drawn, and how.

import { aspect, passes } from "./aspects.js";
import { linesShown } from "./bubbles.js";
import { checkedPairs, checks, verdict } from "./checks.js";
import { fillOf } from "./circles.js";
import { currentView, nothingFound, pairs, shownCount, state, strength } from "./data.js";
import { onSheet } from "./sheets.js";

const LEVELS = 12; // of opacity: edges of one level are stroked in one go
const WITH_ARROWS = 2500;
export const LINES_AT_ONCE = 6000; // of those that could be drawn, the strongest
const STROKE = 100; // lines in one path: a path of thousands takes seconds
const BEND = 0.12;

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

export function strokeEdges(sheet, list, { colour, alpha, width, arrows }) {
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

const apart = (px, py, ax, ay, bx, by) => {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(px - ax - along * dx, py - ay - along * dy);
};

// The pair whose line is nearest to a point, within a few pixels; a bent line is taken as two straight halves.
const REACH = 6;
export function pairAt(sheet, left, top) {
  const { x, y } = sheet;
  const { source, target } = currentView();
  const count = Math.min(shownCount(), LINES_AT_ONCE);
  let [nearest, found] = [REACH, null];
  for (const pair of pairs().slice(0, count)) {
    const { a, b, edges } = pair;
    if (!linesShown(a, b) || !passes(a) || !passes(b)) continue;
    const bent = state.directed && !sheet.straight;
    for (const [from, to] of bent ? edges.map((e) => [source[e], target[e]]) : [[a, b]]) {
      const middle = bent ? [0.5 * bendX(sheet, from, to) + 0.25 * (x[from] + x[to]), 0.5 * bendY(sheet, from, to) + 0.25 * (y[from] + y[to])] : [x[to], y[to]];
      const far = Math.min(apart(left, top, x[from], y[from], ...middle), apart(left, top, ...middle, x[to], y[to]));
      if (far < nearest) [nearest, found] = [far, pair];
    }
  }
  return found;
}

// Lines of one level of strength and one colour are stroked in one go. A line is drawn where both its ends are, and are
// not filtered out. Lines within a community have its colour, if circles have.
export function drawEdges(sheet) {
  const list = pairs();
  const count = shownCount();
  const { source, target } = currentView();
  const { groups, tints } = aspect();
  const found = new Map();
  let lines = 0;
  for (let k = 0; k < count && lines < LINES_AT_ONCE; k++) {
    const { a, b, evidence, edges } = list[k];
    if (!linesShown(a, b) || !passes(a) || !passes(b)) continue;
    if ((!onSheet(sheet, a) && !onSheet(sheet, b)) || Number.isNaN(sheet.x[a] + sheet.x[b])) continue;
    const level = Math.min(LEVELS - 1, Math.floor(LEVELS * strength(evidence)));
    const kind = verdict(a, b);
    const colour = kind === "tie" && tints && groups[a] === groups[b] ? fillOf(sheet, groups[a]) : sheet.colours[kind];
    if (!found.has(colour)) found.set(colour, Array.from({ length: LEVELS }, () => []));
    if (state.directed) for (const e of edges) found.get(colour)[level].push([source[e], target[e]]);
    else found.get(colour)[level].push([a, b]);
    lines += 1;
  }
  const air = airiness((lines * 800) / sheet.width); // a smaller sheet is sooner full
  const arrows = state.directed && lines <= WITH_ARROWS;
  sheet.straight = !arrows;
  if (checks && state.checked) drawMissed(sheet);
  for (const [colour, levels] of found) {
    levels.forEach((part, level) => {
      if (!part.length) return;
      const share = (level + 0.5) / LEVELS;
      const faint = state.tab === "map" || nothingFound; // a map is about its points, and lines that mean nothing stay behind
      const alpha = (0.15 + 0.6 * share) * (0.3 + 0.7 * air) * (faint ? 0.4 : 1);
      const width = (0.8 + 1.1 * share) * (0.6 + 0.4 * air);
      strokeEdges(sheet, part, { colour, alpha, width, arrows });
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
    if (!linesShown(a, b) || !passes(a) || !passes(b)) continue;
    context.moveTo(x[a], y[a]);
    context.lineTo(x[b], y[b]);
  }
  context.stroke();
  context.setLineDash([]);
}
