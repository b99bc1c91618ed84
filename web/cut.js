// Pairs of nodes by their evidence, and how many pass a cut. What the evidence is, Python decides (report/cut.py).

const SLACK = 1e-9;

// The pairs of a view, surest first and then heaviest: both ends, the evidence, the mean weight, and the edges each way.
export function pairsOf({ source, target, weight, pair }, count) {
  const found = new Map();
  for (let e = 0; e < weight.length; e++) {
    const [a, b] = source[e] < target[e] ? [source[e], target[e]] : [target[e], source[e]];
    const key = a * count + b;
    if (!found.has(key)) found.set(key, { a, b, evidence: pair[e], weight: 0, edges: [] });
    const one = found.get(key);
    one.weight += weight[e] / 2;
    one.edges.push(e);
  }
  return [...found.values()].sort((one, other) => other.evidence - one.evidence || other.weight - one.weight);
}

// How many of the pairs, surest first, have at least such evidence.
export function countAt(pairs, cut) {
  let [low, high] = [0, pairs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairs[middle].evidence >= cut - SLACK) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The lowest cut that leaves no more than so many pairs, and not less than `least`.
export function cutFor(pairs, most, least) {
  if (countAt(pairs, least) <= most) return least;
  let place = Math.max(1, Math.floor(most));
  while (place > 1 && pairs[place - 1].evidence <= pairs[place].evidence + SLACK) place -= 1;
  return pairs[place - 1].evidence;
}

// From the slider, 0 to 100, to evidence and back: a share as it is, other evidence by its square root, because most of
// it is small.
export function scaleOf(pairs, share) {
  const top = share ? 1 : pairs[0]?.evidence || 1;
  const bottom = share ? 0 : Math.min(0, pairs.at(-1)?.evidence ?? 0);
  const power = share ? 1 : 2;
  return {
    cut: (value) => bottom + (top - bottom) * (value / 100) ** power,
    value: (cut) => 100 * (Math.max(0, cut - bottom) / (top - bottom)) ** (1 / power),
  };
}

// How many pairs there are in each of so many parts of the slider.
export function binned(pairs, scale, bins) {
  const counts = new Array(bins).fill(0);
  for (const { evidence } of pairs) counts[Math.min(bins - 1, Math.floor((scale.value(evidence) / 100) * bins + SLACK))] += 1;
  return counts;
}
