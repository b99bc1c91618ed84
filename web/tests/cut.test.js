import assert from "node:assert/strict";
import test from "node:test";
import { binned, countAt, cutFor, pairsOf, scaleOf } from "../cut.js";

const view = { source: [0, 1, 2, 0], target: [1, 0, 1, 2], weight: [0.4, 0.2, 0.3, 0.1], pair: [0.9, 0.9, 0.5, 0.2] };
const pairs = pairsOf(view, 3);

test("both directions are one pair, surest first", () => {
  assert.deepEqual(pairs.map(({ a, b, evidence }) => [a, b, evidence]), [[0, 1, 0.9], [1, 2, 0.5], [0, 2, 0.2]]);
  assert.deepEqual(pairs[0].edges, [0, 1]);
  assert.ok(Math.abs(pairs[0].weight - 0.3) < 1e-12);
});

test("a cut counts the pairs at least so sure", () => {
  assert.deepEqual([0, 0.2, 0.5, 0.51, 0.9, 0.95].map((cut) => countAt(pairs, cut)), [3, 3, 2, 1, 1, 0]);
});

test("an opening cut leaves no more than it may, and never a part of equals", () => {
  assert.equal(cutFor(pairs, 2, 0), 0.5);
  assert.equal(cutFor(pairs, 9, 0.4), 0.4);
  const equal = [0.9, 0.7, 0.7, 0.1].map((evidence) => ({ evidence }));
  assert.equal(countAt(equal, cutFor(equal, 2, 0)), 1);
});

test("the slider goes there and back, and the bins hold every pair", () => {
  for (const share of [true, false]) {
    const scale = scaleOf(pairs, share);
    for (const { evidence } of pairs) assert.ok(Math.abs(scale.cut(scale.value(evidence)) - evidence) < 1e-12);
    assert.equal(binned(pairs, scale, 20).reduce((sum, count) => sum + count, 0), 3);
  }
});
