// What the page knows: the data, what is chosen now, and the edges that follow from both.

import * as d3 from "d3";
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
export const { nodes, drawing } = data;
export const game = unpackGame(data.game);
export const drawnCount = drawing.x.length;

export const LINES_AT_FIRST = 5000; // more are a fog: the weaker ones are there, behind the slider
export const LISTED = 5; // ties of a node, each way

export const state = {
  view: drawing.fitted, // which graph
  hidden: 0, // the percentage of edges hidden, the lightest
  sure: 0.5, // the least frequency shown, where edges have one
  directed: data.directed,
  checked: data.checks !== null, // whether lines are held against the ties that are known
  aspect: 0, // what circles are coloured by, see aspects.js
  kept: new Set(), // of its groups, those that are filtered for; none is all
  open: new Set(), // communities whose members are drawn, where there are bubbles
  selected: null, // a node's number
  hovered: null,
};

// Edges of a view, heaviest first: all that are known, and how many of them lead, those drawn. Made once each.
const edgeCache = new Map();
export function edges() {
  const key = `${state.view}${state.directed}`;
  if (!edgeCache.has(key)) edgeCache.set(key, splitEdges(state.directed ? currentView() : mutual(currentView())));
  return edgeCache.get(key);
}

export function currentView() {
  return drawing.views[state.view];
}

// Without direction an edge, and each of its columns, is the mean of the two directions, as in LearnedGraph.undirected;
// a column of pairs has the same in both.
const PAIR_COLUMNS = ["probability", "known"];
function mutual({ source, target, weight, edge_columns: columns }) {
  const sums = new Map();
  const count = nodes.name.length;
  const all = [weight, ...Object.values(columns)];
  const ofPair = [false, ...Object.keys(columns).map((name) => PAIR_COLUMNS.includes(name))];
  for (let e = 0; e < weight.length; e++) {
    const key = Math.min(source[e], target[e]) * count + Math.max(source[e], target[e]);
    if (!sums.has(key)) sums.set(key, all.map(() => 0));
    const sum = sums.get(key);
    all.forEach((values, k) => (sum[k] = ofPair[k] ? values[e] : sum[k] + values[e] / 2));
  }
  const pairs = [...sums].sort((a, b) => b[1][0] - a[1][0]);
  return {
    source: pairs.map(([key]) => Math.floor(key / count)),
    target: pairs.map(([key]) => key % count),
    weight: pairs.map(([, sum]) => sum[0]),
    edge_columns: Object.fromEntries(Object.keys(columns).map((name, k) => [name, pairs.map(([, sum]) => sum[k + 1])])),
  };
}

function splitEdges(listed) {
  const { weight, edge_columns: { frequency } } = listed;
  const drawn = d3.range(weight.length);
  if (frequency) drawn.sort((a, b) => frequency[b] - frequency[a]);
  return { ...listed, drawn };
}

// How many of the edges drawn are left by the threshold: those that are sure enough, where that is known, else those at
// least as heavy as the lightest one kept.
export function shownCount({ weight, drawn, edge_columns: { frequency } }) {
  if (!drawn.length) return 0;
  if (frequency) return d3.bisector((e) => -frequency[e]).right(drawn, 1e-9 - state.sure);
  const kept = Math.max(1, Math.round(drawn.length * (1 - state.hidden / 100)));
  const lightest = weight[drawn[kept - 1]];
  let count = kept;
  while (count < drawn.length && weight[drawn[count]] >= lightest) count++;
  return count;
}

// Opacity can be compared between lambdas, because the weight of full opacity is that of the fitted graph.
const fullWeight = d3.quantile(drawing.views[drawing.fitted].weight, 0.98) || 1;

// How strongly to draw an edge, from 0 to 1: by the share of members that have it, where that is known.
export const strength = (weight, frequency) => frequency ?? Math.min(1, weight / fullWeight);

const figured = (columns) => Object.entries(columns).filter(([name]) => !["low", "high"].includes(name));

// A node's heaviest ties, heaviest first: those it listens to and those that listen to it, each with its columns.
export function neighbours(node, most) {
  const { source, target, weight, edge_columns: columns } = edges();
  const tie = (e, other) => ({
    node: other,
    weight: weight[e],
    strength: strength(weight[e], columns.frequency?.[e]),
    sure: !columns.frequency || columns.frequency[e] >= state.sure - 1e-9,
    range: columns.low && [columns.low[e], columns.high[e]],
    columns: figured(columns).map(([name, values]) => [name, values[e]]),
  });
  const into = [];
  const from = [];
  for (let e = 0; e < weight.length; e++) {
    if (target[e] === node && into.length < most) into.push(tie(e, source[e]));
    if (source[e] === node && from.length < most) from.push(tie(e, target[e]));
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

