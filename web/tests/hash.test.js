import assert from "node:assert/strict";
import test from "node:test";
import { decode, encode } from "../hash.js";

const opening = { node: null, colour: "community", cut: 0.5, view: 0, directed: false, tab: "network" };

test("what is chosen survives the address, with any name", () => {
  const chosen = { ...opening, node: "Ann & <Bob> = 3#4 é", colour: "age", cut: 0.9, directed: true };
  assert.deepEqual(decode(`#${encode(chosen, opening)}`, opening), chosen);
});

test("a page as it opens has no address of its own", () => assert.equal(encode(opening, opening), ""));

test("what cannot be read is left as it opens", () => {
  assert.deepEqual(decode("#cut=high&stranger=1", opening), opening);
});
