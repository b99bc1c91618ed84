// Communities, by what sets them apart from everybody else (report/inputs.py finds it), and the most influential nodes.

import * as d3 from "d3";
import { colourBy, pickOut } from "./aspects.js";
import { hue } from "./colour.js";
import { byId, communityNames, data, drawing, element, nodes } from "./data.js";
import { theme } from "./page.js";
import { figure, said } from "./text.js";
import { nodeButton } from "./whatif.js";

const LISTED_COMMUNITIES = 8;
const PROFILED = 12; // rows of the table of communities
const sizes = d3.rollup(drawing.community, (list) => list.length, (each) => each);

function communityButton(group) {
  const button = element("button", null, { type: "button", class: "node" });
  button.append(element("bdi", communityNames[group]));
  button.addEventListener("click", () => {
    colourBy(0);
    pickOut(group);
  });
  return button;
}

// A row for each community and a column for each question: the darker, the farther from everybody's answers.
export function showProfile() {
  const { columns, leads, words } = data.profile;
  byId("profile").hidden = !columns.length || communityNames.length < 2;
  byId("profile-table").querySelector("thead tr").replaceChildren(...["Community", "Nodes", ...columns].map((name, place) => {
    const head = element("th", null, { scope: "col", class: place === 1 ? "figure" : "" });
    head.append(element("bdi", name));
    return head;
  }));
  byId("profile-table").querySelector("tbody").replaceChildren(...communityNames.slice(0, PROFILED).map((_, group) => {
    const row = element("tr", null);
    const head = element("th", null, { scope: "row" });
    head.append(communityButton(group));
    row.append(head, element("td", said(sizes.get(group)), { class: "figure" }));
    columns.forEach((_name, column) => {
      const lead = leads[group][column];
      const cell = element("td", null, { class: lead < 0 ? "less" : "more" });
      cell.style.setProperty("--share", `${Math.round(55 * Math.min(1, Math.abs(lead)))}%`);
      cell.append(element("bdi", words[group][column]));
      row.append(cell);
    });
    return row;
  }));
  const more = communityNames.length - PROFILED;
  byId("profile-more").textContent = more > 0 ? `The ${said(PROFILED)} largest of ${said(communityNames.length)} communities.` : "";
}

const HUBS = 10;

// The list of communities, each of which picks itself out, and the most influential nodes with their intervals.
export function showOverview() {
  byId("communities").hidden = communityNames.length < 2;
  byId("communities-list").replaceChildren(
    ...communityNames.slice(0, LISTED_COMMUNITIES).map((_, group) => {
      const item = element("li", null);
      const swatch = element("i", null, { "aria-hidden": "true" });
      swatch.style.background = hue(group, theme() === "dark");
      item.append(swatch, communityButton(group), element("span", said(sizes.get(group)), { class: "figure" }));
      return item;
    }),
  );
  const more = communityNames.length - LISTED_COMMUNITIES;
  const rest = `and ${said(more)} smaller ${more === 1 ? "one" : "ones"}, drawn grey`;
  if (more > 0) byId("communities-list").append(element("li", rest, { class: "note" }));
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
