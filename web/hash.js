// What is chosen, as the part of the address after "#": it can be shared, kept as a bookmark, and gone back to.

const READ = { node: String, other: String, colour: String, cut: Number, view: Number, directed: (text) => text === "1", tab: String };

// Only what differs from how the page opens is written.
export function encode(chosen, opening) {
  const written = new URLSearchParams();
  for (const name of Object.keys(READ)) {
    const value = chosen[name];
    if (value === undefined || value === null || value === opening[name]) continue;
    written.set(name, typeof value === "boolean" ? Number(value) : typeof value === "number" ? Number(value.toPrecision(6)) : value);
  }
  return written.toString();
}

// What an address says, the rest as the page opens; what cannot be read is left as it opens.
export function decode(text, opening) {
  const read = new URLSearchParams(text.replace(/^#/, ""));
  const chosen = { ...opening };
  for (const [name, parse] of Object.entries(READ)) {
    if (!read.has(name)) continue;
    const value = parse(read.get(name));
    if (!Number.isNaN(value)) chosen[name] = value;
  }
  return chosen;
}
