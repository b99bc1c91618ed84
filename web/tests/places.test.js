import assert from "node:assert/strict";
import test from "node:test";
import { offset, spread } from "../places.js";

const drawing = { x: [-1, 0.2, 1], y: [0.5, -0.6, 0.1], community: [0, 0, 1], bubbles: null };

test("every node is on the sheet, whatever its shape", () => {
  for (const sheet of [{ width: 900, height: 300 }, { width: 300, height: 900 }, { width: 60, height: 60 }]) {
    const by = spread(sheet, drawing);
    for (const node of [0, 1, 2]) {
      assert.ok(Math.abs(offset(by, "x", node, drawing)) <= sheet.width / 2);
      assert.ok(Math.abs(offset(by, "y", node, drawing)) <= sheet.height / 2);
    }
  }
});

test("the members of a disc keep their distances from its middle, the same along both axes", () => {
  const bubbles = { x: [-0.5, 0.8], y: [0, 0], radius: [0.4, 0.2] };
  const by = spread({ width: 900, height: 400 }, bubbles, bubbles.radius);
  const inside = { x: [-0.4, -0.5, 0.8], y: [0, 0.1, 0], community: [0, 0, 1], bubbles };
  const centre = by.x * -0.5;
  assert.ok(Math.abs(offset(by, "x", 0, inside) - centre - by.unit * 0.1) < 1e-9);
  assert.ok(Math.abs(offset(by, "y", 1, inside) - by.unit * 0.1) < 1e-9);
});
