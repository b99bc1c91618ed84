import assert from "node:assert/strict";
import test from "node:test";
import { CHANGE, HUES, PAPERS, REST, contrast, hue, ramp } from "../colour.js";

test("every colour stands out from the page, light and dark", () => {
  for (const [theme, paper] of Object.entries(PAPERS)) {
    const steps = Array.from({ length: 51 }, (_, k) => ramp(k / 50, theme === "dark"));
    for (const colour of [...HUES[theme], ...CHANGE[theme], ...steps, REST[theme]]) assert.ok(contrast(colour, paper) >= 3, `${theme} ${colour}`);
  }
});

test("contrast is that of WCAG", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#777777"), 1);
});

test("groups beyond the hues are grey", () => assert.equal(hue(99, true), REST.dark));
