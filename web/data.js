// What the page knows: the data, what is chosen now, and the edges that follow from both.

import { quantile } from "d3";
import { countAt, pairsOf } from "./cut.js";
import { unpackGame } from "./game.js";

export const byId = (id) => document.getElementById(id);

export function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The page holds its data as JSON, compressed by zlib, in base 64.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

export const data = await unpack(byId("data").textContent);
export const { nodes, drawing, supported } = data; // supported: whether the signals tell who is influential
export const nothingFound = data.structure === false; // the test says that shuffled answers look alike
export const told = Boolean(nodes.expected_ties); // a tie model: it rests on what people told
export const ranked = supported && !told; // whether influence is shown; a tie model has expected ties instead
export const communityNames = data.profile.names;
export const game = unpackGame(data.game);
export const drawnCount = drawing.x.length;

export const { cut: suggested } = data; // by which evidence pairs are ranked, and from where on they count as ties
export const LISTED = 5; // ties of a node, each way

export const state = {
  view: drawing.fitted, // which graph
  cut: suggested.level, // the least evidence shown
  directed: false,
  checked: data.checks !== null, // whether lines are held against the true network
  aspect: 0, // what circles are coloured by, see aspects.js
  kept: new Set(), // of its groups, those that are filtered for; none is all
  open: new Set(), // communities whose lines are drawn, where there are too many nodes for all
  tab: "network", // or "matrix", or "map"
  mapX: 0, // which column of numbers a map goes by, see tabs.js
  mapY: 1,
  selected: null, // a node's number
  other: null, // the one it is compared with
  hovered: null,
  tie: null, // the pair under the pointer
};

export function currentView() {
  return drawing.views[state.view];
}

// How large circles are: by expected ties, else by influence in the graph that is drawn.
export const sizes = () => nodes.expected_ties ?? currentView().influence;

// The pairs of the graph drawn, surest first. Made once for each graph.
const pairCache = new Map();
export function pairs() {
  if (!pairCache.has(state.view)) pairCache.set(state.view, pairsOf(currentView(), nodes.name.length));
  return pairCache.get(state.view);
}

export const shownCount = () => countAt(pairs(), state.cut);

// How strongly to draw a pair, from 0 to 1: evidence that is no share is compared with the fitted graph's strongest.
const strongest = suggested.share ? 1 : quantile(drawing.views[drawing.fitted].pair, 0.98) || 1;
export const strength = (evidence) => Math.min(1, Math.max(0, evidence / strongest));

const figured = (columns) => Object.entries(columns).filter(([name]) => !["low", "high"].includes(name));

// A node's heaviest ties, heaviest first: those it listens to and those that listen to it, each with its columns. Without
// direction all are in `from`, and a weight or a column is the mean of both directions.
const SAME_BOTH_WAYS = ["probability", "evidence", "known"];
export function neighbours(node, most) {
  const { source, target, weight, pair, edge_columns: columns } = currentView();
  const told = (other, list, evidence, ways) => {
    const mean = (name, values) => (SAME_BOTH_WAYS.includes(name) || typeof values[list[0]] !== "number" ? values[list[0]] : list.reduce((sum, e) => sum + values[e], 0) / ways);
    return {
      node: other,
      weight: mean("weight", weight),
      strength: strength(evidence),
      sure: evidence >= state.cut - 1e-9,
      range: columns.low && [mean("low", columns.low), mean("high", columns.high)],
      columns: figured(columns).map(([name, values]) => [name, mean(name, values)]),
    };
  };
  if (!state.directed) {
    const own = pairs().filter(({ a, b }) => a === node || b === node);
    own.sort((one, other) => other.weight - one.weight);
    return { into: [], from: own.slice(0, most).map(({ a, b, edges, evidence }) => told(a === node ? b : a, edges, evidence, 2)) };
  }
  const into = [];
  const from = [];
  for (let e = 0; e < weight.length; e++) {
    if (target[e] === node && into.length < most) into.push(told(source[e], [e], pair[e], 1));
    if (source[e] === node && from.length < most) from.push(told(target[e], [e], pair[e], 1));
  }
  return { into, from };
}

export const searchable = nodes.name.map((name) => name.toLocaleLowerCase());

// Nodes by name: who is called just so, then those whose name begins with the text, then those that contain it, most
// influential first; and whether the first one is called so.
export function matches(text, most) {
  const wanted = text.trim().toLocaleLowerCase();
  const found = { exact: false, list: [] };
  if (!wanted) return found;
  const groups = [[], [], [], []];
  for (let node = 0; node < searchable.length; node++) {
    const place = searchable[node].indexOf(wanted);
    if (place < 0) continue;
    if (searchable[node] === wanted) groups[nodes.name[node] === text.trim() ? 0 : 1].push(node);
    else groups[place === 0 ? 2 : 3].push(node);
  }
  return { exact: groups[0].length + groups[1].length > 0, list: groups.flat().slice(0, most) };
}

