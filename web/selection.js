// One node: what is known of it, and its heaviest ties.

import * as d3 from "d3";
import { OWN, TITLES } from "./aspects.js";
import { bubbles, isOpen, sayBubbles } from "./bubbles.js";
import { VERDICTS, verdict } from "./checks.js";
import { LISTED, byId, communityNames, currentView, data, drawing, element, game, matches, neighbours, nodes, pairs, ranked, state, suggested } from "./data.js";
import { refresh } from "./page.js";
import { figure, percent, said } from "./text.js";
import { asTried, isGone, isTried, nodeButton, showWhatIf } from "./whatif.js";
import { whyDetails, whyTied } from "./why.js";
import { calm, zoomTo, zoomToTies } from "./zoom.js";

const MANY_ANSWERS = 8; // more are folded away

export function select(node, { scroll = false, go = true } = {}) {
  const before = state.selected;
  Object.assign(state, { selected: node, other: null, tie: null });
  state.hovered = null;
  byId("tooltip").hidden = true;
  if (node !== null && bubbles && !isOpen(node)) {
    state.open.add(drawing.community[node]);
    sayBubbles();
  }
  refresh();
  if (node !== null && go && state.tab === "network") zoomToTies(node);
  else if (node === null && before !== null) zoomTo(null);
  byId("status").textContent = node === null ? "Nothing is selected." : spoken(node);
  for (const button of document.querySelectorAll("#nodes button.node")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.node) === node));
  }
  if (scroll) byId("network").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
}

function spoken(node) {
  const { into } = neighbours(node, 3);
  const names = into.map((tie) => nodes.name[tie.node]).join(", ");
  return `${nodes.name[node]} is selected. ${names ? `It listens most to ${names}.` : ""}`;
}

export function showSelection() {
  const node = state.selected;
  showWhatIf();
  byId("selection").hidden = node === null;
  byId("unchosen").hidden = node !== null;
  if (node === null) return;
  byId("selection-heading").textContent = state.other === null ? nodes.name[node] : `${nodes.name[node]} and ${nodes.name[state.other]}`;
  byId("compare").value = state.other === null ? "" : nodes.name[state.other];
  byId("selection-text").replaceChildren(...(state.other === null ? [factsOf(node), ...answersOf(node), ...tieLists(node)] : comparison(node, state.other)));
}

// A second node beside the one that is chosen; null takes it away.
export function compare(node) {
  if (state.selected === null || node === state.selected) return;
  state.other = node;
  if (node !== null && bubbles && !isOpen(node)) {
    state.open.add(drawing.community[node]);
    sayBubbles();
  }
  refresh();
  if (node !== null) byId("status").textContent = `${nodes.name[state.selected]} and ${nodes.name[node]} are compared.`;
}

export function compareTie({ a, b }) {
  if (a !== state.selected) select(a, { go: false });
  compare(b);
}

// Two nodes side by side: whether they are tied, who is more influential as far as that is known, and their answers.
function comparison(a, b) {
  const pair = pairs().find((each) => each.a === Math.min(a, b) && each.b === Math.max(a, b));
  const level = (value) => (suggested.share ? percent(value) : figure(value));
  const counts = pair && pair.evidence >= suggested.level - 1e-9;
  const tie = pair
    ? `${counts ? "They count as tied" : "They do not count as tied"}: ${suggested.column} ${level(pair.evidence)}, and a tie needs ${level(suggested.level)}.`
    : "There is no sign of a tie between them in this page.";
  const table = element("table", null, { class: "compared" });
  const row = (name, one, other) => {
    const line = element("tr", null, { class: one === other ? "same" : "" });
    line.append(element("th", name, { scope: "row", dir: "auto" }), element("td", one, { dir: "auto" }), element("td", other, { dir: "auto" }));
    return line;
  };
  const head = element("tr", null);
  head.append(element("td", null), ...[a, b].map((node) => {
    const cell = element("th", null, { scope: "col" });
    cell.append(nodeButton(node));
    return cell;
  }));
  const { influence } = currentView();
  const interval = (node) => (nodes.influence_low ? `${figure(influence[node])}, ${figure(nodes.influence_low[node])} to ${figure(nodes.influence_high[node])}` : figure(influence[node]));
  table.append(
    head,
    row("community", ...[a, b].map((node) => communityNames[drawing.community[node]])),
    ...(ranked ? [row("influence", interval(a), interval(b))] : []),
    ...data.columns.map((column) => row(column.name, answer(column, a) || "not known", answer(column, b) || "not known")),
  );
  const known = ranked && data.differ && Math.max(a, b) < data.differ.length;
  const apart = known ? (data.differ[a][b] ? " Their influence differs: the 90% interval of the difference excludes zero." : " Replicates do not tell which of them has more influence.") : "";
  return [element("p", tie + apart, { class: "note" }), table, ...(data.columns.length ? whyTied(a, b) : [])];
}

function definitions(list) {
  const made = element("dl", null, { class: "settings" });
  for (const [name, value] of list) {
    const group = element("div", null);
    group.append(element("dt", name, { dir: "auto" }), element("dd", value, { dir: "auto" }));
    made.append(group);
  }
  return made;
}

function factsOf(node) {
  const view = currentView();
  const { influence } = view;
  const rank = d3.sum(influence, (value) => value > influence[node]) + 1;
  const settled = nodes.rank_low && state.view === drawing.fitted;
  const list = settled
    ? [
        ["influence", `${figure(influence[node])}, ${figure(nodes.influence_low[node])} to ${figure(nodes.influence_high[node])}`],
        ["rank", `${said(rank)}, ${said(nodes.rank_low[node])} to ${said(nodes.rank_high[node])}`],
      ]
    : [["influence", `${figure(influence[node])}, rank ${said(rank)}`]];
  if (!ranked) list.length = 0;
  list.push(["community", communityNames[drawing.community[node]]]);
  for (const [column, values] of Object.entries(nodes)) {
    if (OWN.includes(column)) continue;
    if (column === "expected_ties" && nodes.ties_low) list.push([TITLES[column], `${figure(values[node])}, ${figure(nodes.ties_low[node])} to ${figure(nodes.ties_high[node])}`]);
    else if (column === "missing") list.push([TITLES[column], percent(values[node] ?? 0)]);
    else list.push([TITLES[column] ?? column, figure(column === "action" && view.action ? view.action[node] : values[node])]);
  }
  if (game && isTried() && asTried) list.push(["action, what if", isGone(node) ? "gone" : figure(asTried[node])]);
  return definitions(list);
}

export const answer = ({ levels, values }, node) => (values[node] === null ? "" : levels ? levels[values[node]] : figure(values[node]));

function answersOf(node) {
  if (!data.columns.length) return [];
  const list = definitions(data.columns.map((column) => [column.name, answer(column, node) || "not known"]));
  const details = element("details", null, { class: "answers" });
  details.open = data.columns.length <= MANY_ANSWERS;
  details.append(element("summary", `In the table: ${said(data.columns.length)} columns`), list);
  return [details];
}

function tieLists(node) {
  const { into, from } = neighbours(node, state.directed ? LISTED : 2 * LISTED);
  if (!state.directed) return tieList(node, "Tied most to", from, "from");
  const fitted = state.view === drawing.fitted;
  const of = (ties, column) => (fitted && nodes[column][node] > ties.length ? ` (${ties.length} of ${nodes[column][node]})` : "");
  return [
    ...tieList(node, `Listens most to${of(into, "listens_to")}`, into, "into"),
    ...tieList(node, `Is listened to most by${of(from, "followers")}`, from, "from"),
  ];
}

// How strong a tie is, in words: "strong, in 96% of versions", or the probability that there is a tie.
const SAID = ["probability", "frequency"];
function strengthSaid(tie) {
  const column = (wanted) => tie.columns.find(([name]) => name === wanted)?.[1];
  if (typeof column("probability") === "number") return `${percent(column("probability"))} likely`;
  let word = "weak";
  if (tie.strength >= 2 / 3) word = "strong";
  else if (tie.strength >= 1 / 3) word = "medium";
  const frequency = column("frequency");
  return typeof frequency === "number" ? `${word}, in ${percent(frequency)} of versions` : word;
}

function tieList(node, title, ties, kind) {
  const heading = element("h4", title, { class: kind });
  if (!ties.length) return [heading, element("p", "nobody", { class: "note" })];
  const list = element("ol", null, { class: "ties" });
  for (const tie of ties) {
    const item = element("li", null);
    const button = element("button", null, { type: "button", class: "node" });
    button.append(element("bdi", nodes.name[tie.node]));
    button.addEventListener("click", () => select(tie.node));
    item.append(button, element("span", strengthSaid(tie), { class: "figure" }));
    const interval = tie.range ? ` (90%: ${tie.range.map(figure).join(" to ")})` : "";
    const shown = tie.columns.filter(([name, value]) => value !== "" && !SAID.includes(name));
    const weight = tie.columns.some(([name]) => name === "probability") ? [] : [`weight ${figure(tie.weight)}${interval}`];
    const more = [...weight, ...shown.map(([name, value]) => `${name} ${figure(value)}`)];
    const told = VERDICTS[kind === "into" ? verdict(tie.node, node) : verdict(node, tie.node)];
    if (told) more.unshift(told);
    const foot = element("div", null, { class: "foot" });
    if (data.columns.length) foot.append(whyDetails(node, tie.node));
    if (more.length) foot.append(element("small", more.join(" · "), { class: "figure note" }));
    if (foot.childElementCount) item.append(foot);
    list.append(item);
  }
  return [heading, list];
}

export function clear() {
  byId("search").value = "";
  sayFound("");
  select(null);
}

// ----------------------------------------------------------------------------------------------- search

const SUGGESTIONS = 20;

function sayFound(words, invalid = false) {
  byId("found").textContent = words;
  byId("search").setAttribute("aria-invalid", String(invalid));
}

function suggest() {
  const wanted = byId("search").value;
  const { exact, list } = matches(wanted, SUGGESTIONS);
  byId("names").replaceChildren(...list.map((node) => element("option", null, { value: nodes.name[node] })));
  if (exact) return findNode();
  if (wanted.trim() && !list.length) return findNode();
  return sayFound("");
}

// Enter opens the best match; other names that match are said.
function findNode() {
  const wanted = byId("search").value.trim();
  const { exact, list } = matches(wanted, SUGGESTIONS);
  if (!wanted) return clear();
  if (!list.length) {
    if (state.selected !== null) select(null);
    return sayFound(`No node is called “${wanted}”.`, true);
  }
  const others = list.slice(1, 4).map((node) => nodes.name[node]).join(", ");
  sayFound(exact || !others ? "" : `The best match for “${wanted}”; others: ${others}.`);
  return select(list[0]);
}

export function startSearch() {
  byId("search").addEventListener("input", suggest);
  byId("search").addEventListener("keydown", (event) => event.key === "Enter" && findNode());
  byId("clear").addEventListener("click", clear);
  byId("compare").addEventListener("input", () => {
    const { list } = matches(byId("compare").value, SUGGESTIONS);
    byId("names").replaceChildren(...list.map((node) => element("option", null, { value: nodes.name[node] })));
    if (!byId("compare").value.trim()) compare(null);
    else if (list.length && nodes.name[list[0]] === byId("compare").value.trim()) compare(list[0]);
  });
  byId("compare").addEventListener("keydown", (event) => {
    const { list } = matches(byId("compare").value, 1);
    if (event.key === "Enter" && list.length) compare(list[0]);
  });
}
