// What the page knows: the data, what is chosen now, and the edges that follow from both.

const byId = (id) => document.getElementById(id);
const said = (count) => count.toLocaleString("en");

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const data = JSON.parse(byId("data").textContent);
const { nodes, drawing } = data;
const drawnCount = drawing.x.length;

const LINES_AT_FIRST = 5000; // more are a fog: the weaker ones are there, behind the slider
const LISTED = 5; // ties of a node, each way

const state = {
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
function edges() {
  const key = `${state.view}${state.directed}`;
  if (!edgeCache.has(key)) edgeCache.set(key, splitEdges(state.directed ? currentView() : mutual(currentView())));
  return edgeCache.get(key);
}

function currentView() {
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
function shownCount({ weight, drawn, edge_columns: { frequency } }) {
  if (!drawn.length) return 0;
  if (frequency) return d3.bisector((e) => -frequency[e]).right(drawn, 1e-9 - state.sure);
  const kept = Math.max(1, Math.round(drawn.length * (1 - state.hidden / 100)));
  const lightest = weight[drawn[kept - 1]];
  let count = kept;
  while (count < drawn.length && weight[drawn[count]] >= lightest) count++;
  return count;
}

const figured = (columns) => Object.entries(columns).filter(([name]) => !["low", "high"].includes(name));

// A node's heaviest ties, heaviest first: those it listens to and those that listen to it, each with its columns.
function neighbours(node, most) {
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

const searchable = nodes.name.map((name) => name.toLocaleLowerCase());

// Nodes by name: who is called just so, then those whose name begins with the text, then those that contain it, most
// influential first; and whether the first one is called so.
function matches(text, most) {
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

// Three figures, as in the text of the report; what is no number is written as it is.
function figure(value) {
  if (value === null || value === undefined) return "not known";
  if (typeof value !== "number") return String(value);
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

// What writes the numbers of a column: with as many decimals each, three figures for the largest.
function evenly(values) {
  const largest = d3.max(values, Math.abs) || 1;
  const whole = values.every((value) => value === null || Number.isInteger(value));
  const decimals = whole ? 0 : Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(largest))));
  return (value) => (typeof value !== "number" ? figure(value) : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
}
