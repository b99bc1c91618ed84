// The table of all nodes: what the legend and the search field leave, sorted by any column, a few rows at a time.

import * as d3 from "d3";
import { OWN, passes } from "./aspects.js";
import { byId, communityNames, data, drawing, element, nodes, ranked, searchable, state, supported } from "./data.js";
import { answer, select } from "./selection.js";
import { evenly, percent, said } from "./text.js";

const ROWS = 15;
const MORE_ROWS = 100;
const WIDE = 6; // columns of the user's table that are shown; the saved table has all

const HEADINGS = {
  followers: "Listened to by",
  listens_to: "Listens to",
  action: "Action",
  benefit: "Benefit",
  missing: "Missing",
  worth: "Worth of a unit",
  loss: "Loss if gone",
  silent: "Without any signal",
};
const TOLD = ["expected_ties", "ties_low", "ties_high", "followers", "listens_to"]; // of a tie model: shown first, together

function between90(low, high) {
  const write = evenly(high);
  return (node) => `${write(low[node])} to ${write(high[node])}`;
}

function shownOf(name, values) {
  const write = evenly(values);
  if (name === "missing") return (node) => percent(values[node] ?? 0);
  return (node) => (values[node] === null ? "" : write(values[node]));
}

// A column of the table: its heading, what it says of a node, and what it is sorted by.
function tableColumns() {
  const oneWay = nodes.followers?.every((count, node) => count === nodes.listens_to[node]);
  const plain = Object.entries(nodes)
    .filter(([name]) => !OWN.includes(name) || name in HEADINGS)
    .filter(([name]) => !(oneWay && name === "listens_to"))
    .filter(([name]) => !(nodes.expected_ties && TOLD.includes(name)));
  const first = d3.sort(data.columns.filter((column) => column.alike !== null), (column) => -column.alike).slice(0, WIDE);
  const chosen = data.columns.filter((column) => first.includes(column));
  return [
    { heading: "Node", says: (node) => nodes.name[node], by: (node) => nodes.name[node] },
    ...(nodes.expected_ties ? [{ heading: "Expected ties", says: shownOf("expected_ties", nodes.expected_ties), by: (node) => nodes.expected_ties[node] }] : []),
    ...(nodes.ties_low ? [{ heading: "90% interval", says: between90(nodes.ties_low, nodes.ties_high), by: (node) => nodes.ties_low[node] }] : []),
    ...(ranked ? [{ heading: "Influence", bar: true, says: shownOf("influence", nodes.influence), by: (node) => nodes.influence[node] }] : []),
    ...(ranked && nodes.influence_low ? [{ heading: "90% interval", says: between90(nodes.influence_low, nodes.influence_high), by: (node) => nodes.influence_low[node] }] : []),
    ...(ranked && nodes.rank_low ? [{ heading: "Rank", says: between90(nodes.rank_low, nodes.rank_high), by: (node) => -nodes.rank_low[node] }] : []),
    { heading: "Community", says: (node) => communityNames[drawing.community[node]], words: true, by: (node) => -drawing.community[node] },
    ...plain.map(([name, values]) => ({
      heading: oneWay && name === "followers" ? "Ties" : (HEADINGS[name] ?? name),
      says: shownOf(name, values),
      by: (node) => values[node],
    })),
    ...chosen.map((column) => ({ heading: column.name, says: (node) => answer(column, node), by: (node) => column.values[node], words: Boolean(column.levels) })),
  ];
}

let columnsShown = []; // made when the page starts
const table = { by: 1, down: true, rows: ROWS };

const lowered = new Map();
function answersLowered(column) {
  if (!lowered.has(column)) lowered.set(column, column.levels?.map((level) => level.toLocaleLowerCase()));
  return lowered.get(column);
}

export function rowsWanted() {
  const wanted = byId("sift").value.trim().toLocaleLowerCase();
  const answered = (node) => data.columns.some((column) => column.levels && column.values[node] !== null && answersLowered(column)[column.values[node]].includes(wanted));
  const kept = d3.range(nodes.name.length).filter((node) => passes(node) && (!wanted || searchable[node].includes(wanted) || answered(node)));
  const { by } = columnsShown[table.by];
  const unknown = kept.filter((node) => by(node) === null); // last, whichever way
  const known = kept.filter((node) => by(node) !== null);
  return [...d3.sort(known, (a, b) => (table.down ? d3.descending(by(a), by(b)) : d3.ascending(by(a), by(b)))), ...unknown];
}

export function showTable() {
  const list = rowsWanted();
  const top = d3.max(nodes.influence_high ?? nodes.influence) || 1;
  byId("nodes").querySelector("tbody").replaceChildren(...list.slice(0, table.rows).map((node) => tableRow(node, top)));
  columnsShown.forEach((_, place) => {
    const sorted = place === table.by ? (table.down ? "descending" : "ascending") : "none";
    byId("nodes").querySelectorAll("thead th")[place].setAttribute("aria-sort", sorted);
  });
  const shown = Math.min(table.rows, list.length);
  byId("rows-said").textContent = list.length ? `${said(shown)} of ${said(list.length)} shown${list.length < nodes.name.length ? `, out of ${said(nodes.name.length)} nodes` : ""}.` : "Nobody is like that.";
  byId("more-rows").hidden = shown === list.length;
}

function tableRow(node, top) {
  const row = element("tr", null);
  const head = element("th", null, { scope: "row" });
  const button = element("button", null, { type: "button", class: "node", "data-node": node, "aria-pressed": String(state.selected === node) });
  button.append(element("bdi", nodes.name[node]));
  button.addEventListener("click", () => select(node, { scroll: true }));
  head.append(button);
  row.append(head);
  columnsShown.slice(1).forEach(({ says, words, bar: drawn }) => {
    const cell = element("td", null, { class: words ? "" : "figure" });
    if (drawn) cell.append(influenceBar(node, top));
    cell.append(element("span", says(node), { dir: "auto" }));
    row.append(cell);
  });
  return row;
}

// Influence as a bar, or as a point with its interval.
function influenceBar(node, top) {
  const low = nodes.influence_low?.[node] ?? 0;
  const high = nodes.influence_high?.[node] ?? nodes.influence[node];
  const bar = element("span", null, { class: nodes.influence_low ? "bar interval" : "bar", "aria-hidden": "true" });
  const [line, point] = [element("i", null), element("b", null)];
  line.style.marginInlineStart = `${(100 * low) / top}%`;
  line.style.width = `${(100 * (high - low)) / top}%`;
  point.style.insetInlineStart = `${(100 * nodes.influence[node]) / top}%`;
  bar.append(line, ...(nodes.influence_low ? [point] : []));
  return bar;
}

export function startTable() {
  columnsShown = tableColumns();
  if (!supported) Object.assign(table, { by: 0, down: false });
  const heads = columnsShown.map(({ heading, words }, place) => {
    const head = element("th", null, { scope: "col", class: place && !words ? "figure" : "" });
    const button = element("button", null, { type: "button", class: "sort" });
    button.append(element("bdi", heading));
    button.addEventListener("click", () => {
      Object.assign(table, { down: table.by === place ? !table.down : place > 0 && !words, by: place });
      showTable();
    });
    head.append(button);
    return head;
  });
  byId("nodes").querySelector("thead tr").replaceChildren(...heads);
  byId("sift").addEventListener("input", () => {
    table.rows = ROWS;
    showTable();
  });
  byId("more-rows").addEventListener("click", () => {
    table.rows += MORE_ROWS;
    showTable();
  });
  showTable();
}
