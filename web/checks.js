// Lines held against the true network.

import { byId, data, drawnCount, pairs, shownCount, state } from "./data.js";
import { stage } from "./stage.js";
import { percent, said } from "./text.js";

export const { checks } = data;
const pairKey = (a, b) => Math.min(a, b) * drawnCount + Math.max(a, b);
const RIGHT = "right";
const WRONG = "wrong";
const UNTOLD = "tie";

export const VERDICTS = { right: "true", wrong: "not true" };
const trueTies = checks && new Set(checks[0].map((a, k) => pairKey(a, checks[1][k])));

export function verdict(a, b) {
  if (!checks || !state.checked) return UNTOLD;
  return trueTies.has(pairKey(a, b)) ? RIGHT : WRONG;
}

// The pairs shown that are right and wrong, and those that are not shown and should be.
let checkedFor = null;
let checkedNow = null;
export function checkedPairs() {
  const count = shownCount();
  const key = `${state.view} ${count}`;
  if (checkedFor === key) return checkedNow;
  const shown = new Set(pairs().slice(0, count).map(({ a, b }) => pairKey(a, b)));
  const missed = [...trueTies].filter((each) => !shown.has(each)).map((each) => [Math.floor(each / drawnCount), each % drawnCount]);
  const right = trueTies.size - missed.length;
  checkedFor = key;
  checkedNow = { right, wrong: shown.size - right, missed };
  return checkedNow;
}

export function sayChecked() {
  if (!checks) return;
  const { right, wrong, missed } = checkedPairs();
  const counts = `Of ${said(trueTies.size)} true ties ${said(right)} are shown and ${said(missed.length)} missed; ${said(wrong)} shown ${wrong === 1 ? "is" : "are"} wrong.`;
  const share = right + wrong ? ` Of what is shown, ${percent(right / (right + wrong))} is right.` : "";
  byId("checked-said").textContent = counts + share;
  Object.assign(stage.dataset, { right, wrong, missed: missed.length });
}
