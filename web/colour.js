// Colours for groups of nodes. Every one of them has a contrast of at least 3 : 1 with the page, light or dark, which
// tests/colour.test.js checks.

export const PAPERS = { light: "#fcfbf8", dark: "#14181c" };
export const HUES = {
  light: ["#0072b2", "#b36b00", "#00805c", "#b0467f", "#6a51a3", "#c0392b", "#5b7a12", "#2b7f8c"],
  dark: ["#56a9e0", "#e69f00", "#2fbf91", "#e08bbf", "#a893e0", "#ff7f6b", "#a9bf4f", "#6fc3cf"],
};
export const REST = { light: "#7d868e", dark: "#7d868e" }; // of many groups the smallest, and what did not change
export const RAMP = { light: ["#4b96a3", "#2a6f97", "#1f4e8c", "#1c2b5e"], dark: ["#4f7fb5", "#3fa7a0", "#8ccf6b", "#f4e45c"] };
export const CHANGE = { light: ["#9a4700", "#c77a2b", "#7d868e", "#4a8fc4", "#17549c"], dark: ["#ff9a4d", "#c48552", "#7d868e", "#6aa7d8", "#9ed0ff"] };

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const themeOf = (dark) => (dark ? "dark" : "light");

export const hue = (group, dark) => HUES[themeOf(dark)][group] ?? REST[themeOf(dark)];

// A hue for every group that has a place: the first groups have one each, and a later one takes the hue whose groups are
// farthest away from it, so that neighbours never look like one group. Places are lists of x and y.
export function farHues({ x, y }) {
  const taken = HUES.light.map(() => []);
  return x.map((_, group) => {
    const apart = (other) => Math.hypot(x[group] - x[other], y[group] - y[other]);
    const nearest = (others) => others.reduce((least, other) => Math.min(least, apart(other)), Infinity);
    const free = taken.findIndex((others) => !others.length);
    const distances = taken.map(nearest);
    const chosen = free >= 0 ? free : distances.indexOf(Math.max(...distances));
    taken[chosen].push(group);
    return chosen;
  });
}

// A colour between the stops of the ramp, from 0 to 1.
export function ramp(share, dark) {
  const stops = RAMP[themeOf(dark)];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const from = Math.min(Math.floor(at), stops.length - 2);
  const [one, other] = [channels(stops[from]), channels(stops[from + 1])];
  return `#${one.map((value, k) => Math.round(value + (at - from) * (other[k] - value)).toString(16).padStart(2, "0")).join("")}`;
}

function luminance(colour) {
  const [red, green, blue] = channels(colour).map((value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export const isDark = (colour) => luminance(colour) < 0.18;

// The contrast of two colours as WCAG defines it, from 1 to 21.
export function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}
