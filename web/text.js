// Numbers in words, as in the text of the report.

export const said = (count) => count.toLocaleString("en");
export const percent = (share) => `${Math.round(100 * share)}%`;

// Three figures, as in the text of the report; what is no number is written as it is.
export function figure(value) {
  if (value === null || value === undefined) return "not known";
  if (typeof value !== "number") return String(value);
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

// What writes the numbers of a column: with as many decimals each, three figures for the largest.
export function evenly(values) {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const whole = values.every((value) => value === null || Number.isInteger(value));
  const decimals = whole ? 0 : Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(largest))));
  return (value) => (typeof value !== "number" ? figure(value) : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
}
