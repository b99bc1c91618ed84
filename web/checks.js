// Lines held against what is known: the true network, or the ties that were known in advance.

import * as d3 from "d3";
import { byId, data, drawnCount, pairs, shownCount, state } from "./data.js";
import { stage } from "./stage.js";
import { percent, said } from "./text.js";

export const { checks } = data;
const pairKey = (a, b) => Math.min(a, b) * drawnCount + Math.max(a, b);
const RIGHT = "right";
const WRONG = "wrong";
const UNTOLD = "tie";

// In words: of a true network, or of ties that were known.
export const VERDICTS = checks?.others ? { right: "known tie", wrong: "known to be none" } : { right: "true", wrong: "not true" };

let checkSet = null;
function checkSets() {
  const set = (list) => list && new Set(list[0].map((a, k) => pairKey(a, list[1][k])));
  checkSet ??= { ties: set(checks.ties), others: set(checks.others) };
  return checkSet;
}

// Whether a line is right, wrong or not told: where only some ties are known, most are not.
export function verdict(a, b) {
  if (!checks || !state.checked) return UNTOLD;
  const { ties, others } = checkSets();
  const key = pairKey(a, b);
  if (ties.has(key)) return RIGHT;
  return others === null || others.has(key) ? WRONG : UNTOLD;
}

// The pairs shown that are right and wrong, and those that are not shown and should be.
let checkedFor = null;
let checkedNow = null;
export function checkedPairs() {
  const count = shownCount();
  const key = `${state.view} ${count}`;
  if (checkedFor === key) return checkedNow;
  const shown = new Set(pairs().slice(0, count).map(({ a, b }) => pairKey(a, b)));
  const { ties, others } = checkSets();
  const missed = [...ties].filter((each) => !shown.has(each)).map((each) => [Math.floor(each / drawnCount), each % drawnCount]);
  const right = ties.size - missed.length;
  const wrong = others === null ? shown.size - right : d3.sum(shown, (each) => others.has(each));
  checkedFor = key;
  checkedNow = { right, wrong, missed, ties: ties.size };
  return checkedNow;
}

export function sayChecked() {
  if (!checks) return;
  const { right, wrong, missed, ties } = checkedPairs();
  const [kind, none] = checks.others ? ["known", "known to be none"] : ["true", "wrong"];
  const counts = `Of ${said(ties)} ${kind} ties ${said(right)} are shown and ${said(missed.length)} missed; ${said(wrong)} shown ${wrong === 1 ? "is" : "are"} ${none}.`;
  const share = !checks.others && right + wrong ? ` Of what is shown, ${percent(right / (right + wrong))} is right.` : "";
  byId("checked-said").textContent = counts + share;
  Object.assign(stage.dataset, { right, wrong, missed: missed.length });
}
