// Why there is a tie: in what its two ends are alike and in what not, by their answers in the table; and which answers
// ties go by in the whole network.

import * as d3 from "d3";
import { aspects, colourBy } from "./aspects.js";
import { byId, data, element, nodes } from "./data.js";
import { figure, percent, said } from "./text.js";

const SAMPLE = 3000; // pairs that say how far apart any two are
const NEAR = 0.7; // nearer than this share of all pairs is alike, farther than that share is not
const REASONS = 6;
const DRIVES = 8;

// What any two nodes are like in a column: how frequent each answer is, or sorted differences of pairs. Made once each.
const usual = new Map();
function usualOf(column) {
  if (!usual.has(column)) {
    const known = column.values.filter((value) => value !== null);
    if (column.levels && !column.ordered) usual.set(column, d3.rollup(known, (list) => list.length / known.length, (value) => value));
    else {
      const step = (k, by) => known[Math.floor(((k * by) % 1) * known.length)]; // pairs without chance
      const apart = d3.range(SAMPLE).map((k) => Math.abs(step(k + 1, 0.7548776662) - step(k + 1, 0.5698402909)));
      usual.set(column, d3.sort(apart));
    }
  }
  return usual.get(column);
}

// Each column two nodes both have, with words, whether they are alike in it, and how rare that is.
function compared(a, b) {
  return data.columns.flatMap((column) => {
    const [one, other] = [column.values[a], column.values[b]];
    if (one === null || other === null) return [];
    const { name, levels, ordered } = column;
    const word = (value) => (levels ? levels[value] : figure(value));
    if (levels && !ordered) {
      const share = usualOf(column).get(one);
      if (one !== other) return [{ name, alike: -1, rare: 1, words: `${levels[one]} and ${levels[other]}` }];
      return [{ name, alike: 1, rare: share ** 2, words: `both ${levels[one]} (${percent(share)} of all)` }];
    }
    const apart = usualOf(column);
    const nearer = 1 - d3.bisectLeft(apart, Math.abs(one - other)) / apart.length;
    const alike = nearer >= NEAR ? 1 : nearer <= 1 - NEAR ? -1 : 0;
    if (levels && one === other) {
      const share = d3.mean(column.values.filter((value) => value !== null), (value) => Number(value === one));
      return [{ name, alike: 1, rare: share ** 2, words: `both ${word(one)} (${percent(share)} of all)` }];
    }
    const shown = one === other ? `both ${word(one)}` : `${word(one)} and ${word(other)}`;
    const tail = alike < 0 ? `, farther apart than ${percent(1 - nearer)} of pairs` : `, nearer than ${percent(nearer)} of pairs`;
    return [{ name, alike, rare: 1 - nearer, words: shown + tail }];
  });
}

function reasons(title, list) {
  if (!list.length) return [];
  const items = element("ul", null);
  for (const { name, words } of list.slice(0, REASONS)) {
    const item = element("li", null);
    item.append(element("bdi", name, { class: "answer" }), ": ", element("bdi", words));
    items.append(item);
  }
  if (list.length > REASONS) items.append(element("li", `and ${said(list.length - REASONS)} more`, { class: "note" }));
  return [element("h5", title), items];
}

// In few words: in how many answers two nodes are alike, and in which rarest one.
export function alikeIn(a, b) {
  const all = compared(a, b);
  const alike = d3.sort(all.filter((each) => each.alike > 0), (each) => each.rare);
  return all.length ? `; alike in ${alike.length} of ${all.length} answers${alike.length ? `, ${alike[0].name} first` : ""}` : "";
}

export function whyTied(a, b) {
  const all = compared(a, b);
  const alike = d3.sort(all.filter((each) => each.alike > 0), (each) => each.rare);
  const unlike = d3.sort(all.filter((each) => each.alike < 0), (each) => -each.rare);
  const gaps = data.columns.length - all.length;
  const middle = all.length - alike.length - unlike.length;
  const rest = [middle ? `neither near nor far in ${said(middle)}` : "", gaps ? `${said(gaps)} not answered by both` : ""].filter(Boolean);
  const note = `Alike in ${said(alike.length)} of ${said(all.length)} answers${rest.length ? `; ${rest.join(", ")}` : ""}.`;
  return [element("p", note, { class: "note" }), ...reasons("Alike", alike), ...reasons("Not alike", unlike)];
}

// Under a tie, opened when asked for.
export function whyDetails(a, b) {
  const details = element("details", null, { class: "why" });
  const summary = element("summary", "why?", { "aria-label": `Why the tie of ${nodes.name[a]} and ${nodes.name[b]}` });
  details.append(summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...whyTied(a, b));
  });
  return details;
}

// How much more alike tied nodes are than those of a network of shuffled answers: by construction both are alike.
const aboveChance = ({ alike, by_chance: chance }) => alike - Math.max(0, chance ?? 0);

// The columns in which tied nodes differ least, each a button that colours by it, with a tick for shuffled answers.
export function showDrives() {
  const measured = data.columns.filter((column) => column.alike !== null);
  const compared = measured.filter((column) => column.by_chance !== null);
  const known = d3.sort(compared.length ? compared : measured, (column) => -aboveChance(column));
  byId("drives").hidden = !known.length;
  const first = aspects.findIndex((each) => each.group === "Table");
  byId("drives-list").replaceChildren(
    ...known.slice(0, DRIVES).map((column) => {
      const item = element("li", null);
      const button = element("button", null, { type: "button", class: "node" });
      button.append(element("bdi", column.name));
      button.addEventListener("click", () => colourBy(first + data.columns.indexOf(column)));
      const meter = element("span", null, { class: "meter", "aria-hidden": "true" });
      meter.append(element("i", null));
      meter.firstChild.style.width = `${100 * Math.max(0, column.alike)}%`;
      let words = column.alike >= 0 ? `${percent(column.alike)} less` : `${percent(-column.alike)} more`;
      if (column.by_chance !== null) {
        const tick = element("b", null);
        tick.style.insetInlineStart = `${100 * Math.min(1, Math.max(0, column.by_chance))}%`;
        meter.append(tick);
        words += ` (${percent(Math.max(0, column.by_chance))})`;
      }
      item.append(button, meter, element("span", words, { class: "figure" }));
      if (column.learned_from === false) item.append(element("small", "not used to learn", { class: "unused" }));
      return item;
    }),
  );
  const more = known.length - DRIVES;
  byId("drives-more").textContent = more > 0 ? `${said(more)} more columns are in the menu “Colour by”.` : "";
}
