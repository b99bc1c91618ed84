// Lines held against what is known: the true network, or the ties that were known in advance.

import * as d3 from "d3";
import { byId, data, drawnCount, edges, shownCount, state } from "./data.js";
import { stage } from "./sheets.js";
import { said } from "./text.js";

export const { checks } = data;
const pairKey = (a, b) => (checks?.directed && state.directed ? a * drawnCount + b : Math.min(a, b) * drawnCount + Math.max(a, b));
const RIGHT = "right";
const WRONG = "wrong";
const UNTOLD = "tie";

// In words: of a true network, or of ties that were known.
export const VERDICTS = checks?.others ? { right: "known tie", wrong: "known to be none" } : { right: "true", wrong: "not true" };

const checkCache = new Map();
function checkSets() {
  const key = checks.directed && state.directed;
  if (!checkCache.has(key)) {
    const set = (pairs) => pairs && new Set(pairs[0].map((a, k) => pairKey(a, pairs[1][k])));
    checkCache.set(key, { ties: set(checks.ties), others: set(checks.others) });
  }
  return checkCache.get(key);
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
  const list = edges();
  const count = shownCount(list);
  const key = `${state.view} ${state.directed} ${count}`;
  if (checkedFor === key) return checkedNow;
  const { source, target, drawn } = list;
  const shown = new Set(drawn.slice(0, count).map((e) => pairKey(source[e], target[e])));
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
  const share = !checks.others && right + wrong ? ` Of what is shown, ${Math.round((100 * right) / (right + wrong))} % is right.` : "";
  byId("checked-said").textContent = counts + share;
  Object.assign(stage.dataset, { right, wrong, missed: missed.length });
}
