// Communities by what sets them apart from everybody else: the answers that are much more frequent in them.

import * as d3 from "d3";
import { colourBy, pickOut } from "./aspects.js";
import { hue } from "./colour.js";
import { byId, data, drawing, drawnCount, element, nodes } from "./data.js";
import { theme } from "./page.js";
import { figure, said } from "./text.js";
import { nodeButton } from "./whatif.js";

const APART = 0.2; // an answer's share in the community is that much above its share among all
const FAR = 0.6; // the mean of a quantity is so many standard deviations from that of all
const WORDS = 3;
const LISTED_COMMUNITIES = 8;

function unusual(column, list) {
  const known = list.map((node) => column.values[node]).filter((value) => value !== null);
  if (known.length < 2) return [];
  if (column.levels && !column.ordered) {
    const counts = d3.rollup(known, (each) => each.length / known.length, (value) => value);
    const all = sharesOf(column);
    return [...counts].map(([level, share]) => ({ lead: share - all.get(level), words: wordsOf(column, level) })).filter(({ lead }) => lead >= APART);
  }
  const { mean, deviation } = sharesOf(column);
  const far = deviation ? (d3.mean(known) - mean) / deviation : 0;
  return Math.abs(far) < FAR ? [] : [{ lead: Math.min(1, Math.abs(far) / 2), words: `${far > 0 ? "high" : "low"} ${column.name}` }];
}

// An answer by itself where it is a word of its own, else with its question.
const BARE = /^(none|other|yes|no|true|false|unknown|[-\d.,\s]*)$/i;
const wordsOf = ({ name, levels }, level) => (BARE.test(levels[level]) ? `${name}: ${levels[level]}` : levels[level]);

const shares = new Map();
function sharesOf(column) {
  if (!shares.has(column)) {
    const known = column.values.filter((value) => value !== null);
    if (column.levels && !column.ordered) shares.set(column, d3.rollup(known, (list) => list.length / known.length, (value) => value));
    else shares.set(column, { mean: d3.mean(known), deviation: d3.deviation(known) });
  }
  return shares.get(column);
}

// Each community's name; without a table, or without anything that stands out, that of its most influential node.
let names = null;
export function communityNames() {
  if (names) return names;
  const lists = d3.group(d3.range(drawnCount), (node) => drawing.community[node]);
  names = d3.range(lists.size).map((each) => {
    const list = lists.get(each);
    const found = d3.sort(data.columns.flatMap((column) => unusual(column, list)), ({ lead }) => -lead);
    return found.length ? found.slice(0, WORDS).map(({ words }) => words).join(", ") : `around ${nodes.name[list[0]]}`;
  });
  return names;
}

const HUBS = 10;

// The list of communities, each of which picks itself out, and the most influential nodes with their intervals.
export function showOverview() {
  const all = communityNames();
  const sizes = d3.rollup(drawing.community, (list) => list.length, (each) => each);
  byId("communities").hidden = all.length < 2;
  byId("communities-list").replaceChildren(
    ...all.slice(0, LISTED_COMMUNITIES).map((name, group) => {
      const item = element("li", null);
      const swatch = element("i", null, { "aria-hidden": "true" });
      swatch.style.background = hue(group, theme() === "dark");
      const button = element("button", null, { type: "button", class: "node" });
      button.append(element("bdi", name));
      button.addEventListener("click", () => {
        colourBy(0);
        pickOut(group);
      });
      item.append(swatch, button, element("span", said(sizes.get(group)), { class: "figure" }));
      return item;
    }),
  );
  if (byId("forest-list")) showForest();
}

function showForest() {
  const { influence, influence_low: low, influence_high: high } = nodes;
  const first = d3.range(nodes.name.length).filter((node) => !nodes.silent?.[node]).slice(0, HUBS);
  const top = d3.max(first, (node) => high[node]) || 1;
  const at = (value) => (100 * value) / top;
  byId("forest-list").replaceChildren(
    ...first.map((node) => {
      const item = element("li", null);
      const words = `${figure(influence[node])}, ${figure(low[node])} to ${figure(high[node])}`;
      const interval = element("span", null, { class: "interval", role: "img", "aria-label": words, title: words });
      const [line, point] = [element("i", null), element("b", null)];
      line.style.insetInlineStart = `${at(low[node])}%`;
      line.style.width = `${at(high[node] - low[node])}%`;
      point.style.insetInlineStart = `${at(influence[node])}%`;
      interval.append(line, point);
      item.append(nodeButton(node), interval);
      return item;
    }),
  );
}
