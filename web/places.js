// From the layout, which reaches from -1 to 1, to a sheet without zoom: places fill it, stretched where its shape asks for
// that. Communities that are drawn as discs move apart, but stay round.

const STRETCH = 2.2;
const MARGIN = 26;

const largest = (values, of) => values.reduce((most, value, k) => Math.max(most, of(value, k)), 0);
const smallest = (values, of) => values.reduce((least, value, k) => Math.min(least, of(value, k)), Infinity);

// Pixels for a unit of the layout: along each axis, and of a radius.
export function spread({ width, height }, points, reaches = null) {
  const reach = (k) => reaches?.[k] ?? 0;
  const extent = (axis) => largest(points[axis], (at, k) => Math.abs(at) + reach(k)) || 1;
  const room = { x: Math.max(1, width / 2 - MARGIN), y: Math.max(1, height / 2 - MARGIN) };
  const unit = Math.max(1, Math.min(room.x / extent("x"), room.y / extent("y")));
  const within = (axis) => smallest(points[axis], (at, k) => (room[axis] - unit * reach(k)) / Math.abs(at || 1e-9));
  const along = (axis) => Math.min(STRETCH * unit, within(axis));
  return { unit, x: along("x"), y: along("y") };
}

// Where a node is, from the middle of the sheet.
export function offset(by, axis, node, { bubbles, community, ...places }) {
  const at = places[axis][node];
  if (!bubbles) return by[axis] * at;
  const centre = bubbles[axis][community[node]];
  return by[axis] * centre + by.unit * (at - centre);
}
