// The game on the network, played here: y = φ(b + δ W f(y)), by Newton's method with products only, as
// games/_fixed_points.py has it and in the same words. The rules f, φ, δ and the welfare come with the page's data.

const total = (values, of = (each) => each) => values.reduce((sum, each, k) => sum + of(each, k), 0);

export const INTERACTIONS = {
  linear: { value: (x) => x, slope: () => 1 },
  log1p: { value: Math.log1p, slope: (x) => 1 / (1 + x) },
  saturating: { value: (x) => (2 * x) / (2 + x), slope: (x) => 4 / (2 + x) ** 2 },
  exponential: { value: (x) => -Math.expm1(-x), slope: (x) => Math.exp(-x) },
};
export const WELFARES = {
  total: (y) => total(y),
  utilitarian: (y) => total(y, (each) => each * each) / 2,
  weighted: (y, counts) => total(y, (each, node) => counts[node] * each),
};
// A response φ: its value, its slope, and the least and the greatest action; without a value, φ does nothing.
const rising = (z, width) => (width ? Math.min(Math.max((z + width) / (2 * width), 0), 1) : Number(z > 0));
const positive = (z, width) => (Math.abs(z) < width ? (z + width) ** 2 / (4 * width) : Math.max(z, 0));
export const RESPONSES = {
  identity: () => ({ low: 0, high: Infinity }),
  clipped: ({ cap, width }) => ({
    low: 0,
    high: cap ?? Infinity,
    value: (z) => (cap === null ? positive(z, width) : cap - positive(cap - positive(z, width), width)),
    slope: (z) => rising(z, width) * (cap === null ? 1 : rising(cap - positive(z, width), width)),
  }),
  infection: ({ rate }) => ({
    low: 0,
    high: 1,
    value: (z) => (rate * z) / (1 + rate * z),
    slope: (z) => rate / (1 + rate * z) ** 2,
  }),
};
const TOLERANCE = 1e-11; // relative to the actions
const MOST_PRODUCTS = 20000;
const KRYLOV_STEPS = 200;
const FIRST_PLAIN_RUN = 16;
const GROWTH = 1e8;

const unpacked = (packed, Kind) => packed && new Kind(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)).buffer);

// The game as the page's data hold it, with its arrays as numbers; null where there is none.
export function unpackGame(held) {
  if (!held) return null;
  const lengths = unpacked(held.row_lengths, Uint16Array);
  return {
    ...held,
    lengths,
    indices: indicesOf(lengths, unpacked(held.steps, Uint16Array)),
    weights: unpacked(held.weights, Float32Array),
    rows: unpacked(held.rows, Float64Array),
    columns: unpacked(held.columns, Float64Array),
    benefit: unpacked(held.benefit, Float64Array),
    counts: unpacked(held.counts, Float64Array),
  };
}

// The columns of the entries of a matrix, of which each row holds how far each is from the one before.
function indicesOf(lengths, steps) {
  let [e, end] = [0, 0];
  for (const length of lengths) {
    end += length;
    for (let at = 0; e < end; e++) at = steps[e] += at;
  }
  return steps;
}

const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};
export const norm = (a) => Math.sqrt(dot(a, a));
const plus = (a, b, times = 1) => a.map((each, k) => each + times * b[k]);

// W v among those who stay: who is gone has neither ear nor voice.
function multiplied({ lengths, indices, weights, rows, columns }, gone, vector) {
  const result = new Float64Array(vector.length);
  const light = gone.size ? total(vector, (each, node) => (gone.has(node) ? 0 : columns[node] * each)) : dot(columns, vector);
  let e = 0;
  for (let node = 0; node < result.length; node++) {
    let sum = rows[node] * light;
    for (const end = e + lengths[node]; e < end; e++) sum += weights[e] * vector[indices[e]];
    result[node] = sum;
  }
  for (const node of gone) result[node] = 0;
  return result;
}

// x = constant + linear(x), by BiCGSTAB; where that breaks down, by plain steps. Null where it runs away.
function solveAffine(linear, constant, tolerance) {
  let best = constant;
  let left = plus(plus(constant, linear(best)), best, -1);
  const limit = GROWTH * 2 * norm(constant);
  for (let run = FIRST_PLAIN_RUN; norm(left) > tolerance * norm(best) && linear.calls < MOST_PRODUCTS; run *= 2) {
    const trial = bicgstab((v) => plus(v, linear(v), -1), best, left, tolerance * norm(constant));
    const rest = plus(plus(constant, linear(trial)), trial, -1);
    if (norm(rest) < norm(left)) [best, left] = [trial, rest];
    for (let k = 0; k < run && norm(left) > tolerance * norm(best); k++) {
      best = plus(best, left);
      left = plus(plus(constant, linear(best)), best, -1);
    }
    if (!(norm(best) <= limit)) return null;
  }
  return best;
}

function bicgstab(operator, start, residual, accuracy) {
  let [x, r, p] = [start, residual, residual];
  const shadow = residual;
  let rho = dot(shadow, r);
  for (let k = 0; k < KRYLOV_STEPS && norm(r) > accuracy; k++) {
    const v = operator(p);
    const alpha = rho / dot(shadow, v);
    const s = plus(r, v, -alpha);
    const t = operator(s);
    const omega = dot(t, s) / (dot(t, t) || 1);
    x = plus(plus(x, p, alpha), s, omega);
    r = plus(s, t, -omega);
    const next = dot(shadow, r);
    const beta = (next / rho) * (alpha / omega);
    p = plus(r, plus(p, v, -omega), beta);
    rho = next;
    if (!Number.isFinite(beta) || rho === 0) break;
  }
  return x.every(Number.isFinite) ? x : start;
}

// Where Newton's method starts, as Python has it: from above where φ has a greatest action.
function firstActions(response, benefit, gone) {
  const { value, high } = response;
  return benefit.map((each, node) => {
    if (gone.has(node)) return 0;
    if (!value) return each;
    return high === Infinity ? value(each) : high;
  });
}

// The actions at which nobody wants to move, without those who are gone; null where they grow without bound.
export function equilibriumOf(played, gone = new Set(), benefits = played.benefit) {
  const { value, slope } = INTERACTIONS[played.interaction];
  const response = RESPONSES[played.response.kind](played.response);
  const benefit = benefits.map((each, node) => (gone.has(node) ? 0 : each));
  const product = Object.assign(
    (vector) => {
      product.calls += 1;
      return multiplied(played, gone, vector).map((each) => played.share * each);
    },
    { calls: 0 },
  );
  const inside = (y) => y.map((each, node) => (gone.has(node) ? 0 : Math.min(Math.max(each, response.low), response.high)));
  // z and the defect φ(z) - y; who is gone has none.
  const reply = (y) => {
    const inner = plus(benefit, product(y.map(value)));
    const image = response.value ? inner.map((each, node) => (gone.has(node) ? 0 : response.value(each))) : inner;
    return { inner, defect: plus(image, y, -1) };
  };
  let point = firstActions(response, benefit, gone);
  let { inner, defect: left } = reply(point);
  const limit = GROWTH * 2 * (norm(point) + norm(benefit));
  for (let run = FIRST_PLAIN_RUN; norm(left) > TOLERANCE * Math.max(norm(point), norm(benefit)); ) {
    if (product.calls > MOST_PRODUCTS) return null;
    const relative = norm(left) / Math.max(norm(point), norm(benefit));
    const slopes = point.map(slope);
    const outer = response.slope ? inner.map((each, node) => (gone.has(node) ? 0 : response.slope(each))) : null;
    const tangent = (vector) => {
      tangent.calls += 1;
      const image = product(vector.map((each, node) => slopes[node] * each));
      return outer ? image.map((each, node) => outer[node] * each) : image;
    };
    tangent.calls = 0;
    const step = solveAffine(tangent, left, Math.max(0.1 * Math.min(relative, 1), (0.3 * TOLERANCE) / relative));
    const trial = step && inside(plus(point, step));
    const rest = trial && reply(trial);
    if (rest && norm(rest.defect) < 0.5 * norm(left)) [point, inner, left] = [trial, rest.inner, rest.defect];
    else {
      for (let k = 0; k < run; k++) {
        point = plus(point, left);
        ({ inner, defect: left } = reply(point));
      }
      run *= 2;
      if (!(norm(point) <= limit)) return null;
    }
  }
  return point;
}

export const welfareOf = (played, actions) => played.strength * WELFARES[played.welfare](actions, played.counts);
