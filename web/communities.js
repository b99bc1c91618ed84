// Communities, by what sets them apart from everybody else (report/inputs.py finds it), and the most influential nodes.

import * as d3 from "d3";
import { colourBy, pickOut } from "./aspects.js";
import { byId, communityNames, data, drawing, element, nodes } from "./data.js";
import { figure, said } from "./text.js";
import { nodeButton } from "./whatif.js";

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
      cell.style.setProperty("--share", Math.min(1, Math.abs(lead)).toFixed(2));
      cell.append(element("bdi", words[group][column]));
      row.append(cell);
    });
    return row;
  }));
  const more = communityNames.length - PROFILED;
  byId("profile-more").textContent = more > 0 ? `The ${said(PROFILED)} largest of ${said(communityNames.length)} communities.` : "";
}

const HUBS = 10;

export function showOverview() {
  if (byId("forest-list")) showForest();
}

// Who has most ties: what a tie model expects of each person, else influence; both with 90% intervals.
const measured = nodes.expected_ties
  ? { value: nodes.expected_ties, low: nodes.ties_low, high: nodes.ties_high }
  : { value: nodes.influence, low: nodes.influence_low, high: nodes.influence_high };

function showForest() {
  const { value, low, high } = measured;
  const heard = d3.range(nodes.name.length).filter((node) => !nodes.silent?.[node]);
  const first = d3.sort(heard, (node) => -value[node]).slice(0, HUBS);
  const top = d3.max(first, (node) => high[node]) || 1;
  const at = (value) => (100 * value) / top;
  byId("forest-list").replaceChildren(
    ...first.map((node) => {
      const item = element("li", null);
      const words = `${figure(value[node])}, ${figure(low[node])} to ${figure(high[node])}`;
      const interval = element("span", null, { class: "interval", role: "img", "aria-label": words, title: words });
      const [line, point] = [element("i", null), element("b", null)];
      line.style.insetInlineStart = `${at(low[node])}%`;
      line.style.width = `${at(high[node] - low[node])}%`;
      point.style.insetInlineStart = `${at(value[node])}%`;
      interval.append(line, point);
      item.append(nodeButton(node), interval);
      return item;
    }),
  );
}
