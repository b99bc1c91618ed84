// What circles can be coloured and filtered by: an aspect puts every node into one of a few groups, and has words,
// a count and a colour for each. A group of -1 is of those of whom it is not known.

import * as d3 from "d3";
import { CHANGE, REST, farHues, hue, ramp } from "./colour.js";
import { byId, communityNames, currentView, data, drawing, element, game, nodes, nothingFound, ranked, state } from "./data.js";
import { refresh, theme } from "./page.js";
import { showTable } from "./table.js";
import { figure, percent, said } from "./text.js";
import { isGone, shareOfChange, trial } from "./whatif.js";

const GROUPS = 5; // of a quantity, as many nodes in each
const ANSWERS = 8; // of a category, the most frequent ones
export const CHIPS = 8; // groups in the legend
// Columns of nodes that are shown in their own way; all others are shown as they are, under their names.
export const OWN = ["name", "influence", "followers", "listens_to", "influence_low", "influence_high", "rank_low", "rank_high", "ties_low", "ties_high", "community"];

export const TITLES = { expected_ties: "expected ties", missing: "share of answers missing", worth: "worth of a unit of benefit", loss: "loss of welfare if gone" };

const counted = (groups, count) => d3.range(count).map((group) => d3.sum(groups, (each) => each === group));

function quantity(name, values, write = figure) {
  const known = values.filter((value) => value !== null);
  const steps = d3.range(1, GROUPS).map((k) => d3.quantile(known, k / GROUPS));
  const cuts = [...new Set(steps)].filter((cut) => cut > d3.min(known));
  const groups = values.map((value) => (value === null ? -1 : d3.bisectRight(cuts, value)));
  const words = d3.range(cuts.length + 1).map((group) => {
    const [low, high] = d3.extent(values.filter((_, node) => groups[node] === group));
    return low === high ? write(low) : `${write(low)} to ${write(high)}`;
  });
  const colour = (group, dark) => ramp(words.length > 1 ? group / (words.length - 1) : 0.6, dark);
  return { name, groups, words, counts: counted(groups, words.length), colour };
}

// An ordered answer has its levels in order, from one end of a scale of colours to the other.
function orderedAnswers({ name, values, levels }) {
  const groups = values.map((value) => value ?? -1);
  return { name, groups, words: levels, counts: counted(groups, levels.length), colour: (group, dark) => ramp(group / (levels.length - 1), dark) };
}

// How much more or less each does, in percent of what it did: less than VISIBLE is no change that anybody could see.
const VISIBLE = 0.005;
const MUCH = 0.05;
const MOVES = [`at least ${percent(MUCH)} less`, "0.5% to 5% less", "no visible change (under 0.5%)", "0.5% to 5% more", `at least ${percent(MUCH)} more`, "gone"];
function movement(name, shares) {
  const groupOf = (share) => (Math.abs(share) < VISIBLE ? 2 : share < 0 ? (share > -MUCH ? 1 : 0) : share < MUCH ? 3 : 4);
  const groups = shares.map((share, node) => (isGone(node) ? 5 : groupOf(share)));
  const colour = (group, dark) => CHANGE[dark ? "dark" : "light"][group] ?? REST[dark ? "dark" : "light"];
  return { name, groups, words: MOVES, counts: counted(groups, MOVES.length), colour };
}

function category(name, values, levels, answers = ANSWERS) {
  const most = d3.sort(d3.range(levels.length), (level) => -d3.sum(values, (value) => value === level));
  const shown = levels.length <= answers ? levels.map((_, level) => level) : most.slice(0, answers - 1);
  const place = new Map(shown.map((level, group) => [level, group]));
  const groups = values.map((value) => (value === null ? -1 : place.get(value) ?? shown.length));
  const rest = levels.length - shown.length;
  const words = [...shown.map((level) => levels[level]), ...(rest ? [`${rest} others`] : [])];
  const colour = (group, dark) => hue(group < shown.length ? group : Infinity, dark);
  return { name, groups, words, counts: counted(groups, words.length), colour };
}

// Communities share eight hues; those of one hue lie far apart.
function communities() {
  const centre = (axis) => d3.range(communityNames.length).map((group) => d3.mean(drawing[axis].filter((_, node) => drawing.community[node] === group)) ?? 0);
  const hues = farHues({ x: centre("x"), y: centre("y") });
  const colour = (group, dark) => hue(hues[group], dark);
  return { ...category("community", drawing.community, communityNames, Infinity), colour, tints: true };
}

function ofWords(name, values) {
  const levels = [...new Set(values.filter((value) => value !== null))].sort();
  const place = new Map(levels.map((level, k) => [level, k]));
  return category(name, values.map((value) => (value === null ? null : place.get(value))), levels);
}

const isQuantity = (values) => values.some((value) => typeof value === "number");
const named = (name, values) => (isQuantity(values) ? quantity(name, values) : ofWords(name, values));

// Aspects are made when they are first asked for; the influence and the action are those of the graph that is drawn.
export const aspects = [
  { group: "Network", name: "community", make: communities },
  ...(ranked ? [{ group: "Network", name: "influence", changes: true, make: () => quantity("influence", currentView().influence) }] : []),
  ...Object.keys(nodes)
    .filter((name) => !OWN.includes(name))
    .map((name) => ({
      group: "Network",
      name: TITLES[name] ?? name,
      changes: name === "action",
      make: () => (name === "missing" ? quantity(name, nodes[name], percent) : named(name, (name === "action" && currentView().action) || nodes[name])),
    })),
  ...(game ? [{ group: "Network", name: "change of action, what if", tried: true, make: () => movement("change of action", nodes.name.map((_, node) => shareOfChange(node))) }] : []),
  ...data.columns.map((column) => ({
    group: "Table",
    name: column.name,
    make: () => (column.ordered ? orderedAnswers(column) : column.levels ? category(column.name, column.values, column.levels) : quantity(column.name, column.values)),
  })),
  { group: "", name: "nothing", make: () => ({ name: "nothing", groups: nodes.name.map(() => 0), words: ["all"], counts: [nodes.name.length], colour: () => "#5d7285" }) },
];

const madeAspects = new Map();
export function aspect() {
  const { make, changes, tried } = aspects[state.aspect];
  const key = changes ? `${state.aspect} ${state.view}` : tried ? `tried ${trial.version}` : state.aspect;
  if (!madeAspects.has(key)) madeAspects.set(key, make());
  return madeAspects.get(key);
}

export const passes = (node) => !state.kept.size || state.kept.has(aspect().groups[node]);

// Pick a group out, or leave it be again.
export function pickOut(group) {
  if (!state.kept.delete(group)) state.kept.add(group);
  showAspect();
  refresh();
  showTable();
}

// The legend is the filter: a group's button leaves the others faded, in the drawing and out of the table.
export function showAspect() {
  const { groups, words, counts, colour } = aspect();
  const dark = theme() === "dark";
  const unknown = d3.sum(groups, (group) => group === -1);
  const rows = words.map((word, group) => [group, word, counts[group], colour(group, dark)]);
  const more = rows.length - CHIPS;
  if (more > 0) rows.splice(CHIPS);
  if (unknown) rows.push([-1, "not known", unknown, null]);
  byId("groups").replaceChildren(
    ...rows.map(([group, word, count, fill]) => {
      const button = element("button", null, { type: "button", class: "chip", "aria-pressed": String(state.kept.has(group)) });
      const swatch = element("i", null, { "aria-hidden": "true" });
      if (fill) swatch.style.background = fill;
      button.append(swatch, element("bdi", word), element("span", said(count), { class: "figure note" }));
      button.addEventListener("click", () => {
        pickOut(group);
        byId("groups").children[rows.findIndex(([each]) => each === group)]?.focus();
      });
      return button;
    }),
  );
  byId("groups-said").textContent = state.kept.size
    ? `${said(d3.sum(d3.range(nodes.name.length), passes))} of ${said(nodes.name.length)} nodes are picked out; press again for all.`
    : more > 0
      ? `And ${said(more)} smaller ${more === 1 ? "one" : "ones"}.`
      : "";
}

export function colourBy(place) {
  state.aspect = place;
  state.kept.clear();
  byId("colour").value = place;
  showAspect();
  refresh();
  showTable();
}

export function startAspects() {
  const field = byId("colour");
  if (nothingFound) state.aspect = aspects.length - 1; // no colours where there are no groups
  for (const [title, list] of d3.group(d3.range(aspects.length), (place) => aspects[place].group)) {
    const options = list.map((place) => element("option", aspects[place].name, { value: place }));
    const under = title ? element("optgroup", null, { label: title === "Table" ? "From the table" : "From the network" }) : field;
    under.append(...options);
    if (title) field.append(under);
  }
  field.value = state.aspect;
  field.addEventListener("change", () => colourBy(Number(field.value)));
  showAspect();
}
