/**
 * Arrays of numbers as strings, and functions that take digits to compute.
 */

const LOG_2PI = Math.log(2 * Math.PI);

/**
 * Decode an array of numbers: "f8:" and float64, or "vi:" and whole numbers with seven bits in each byte, in base64.
 * @param {string} text
 * @returns {Float64Array}
 */
export function numbers(text) {
  const bytes = Uint8Array.from(atob(text.slice(3)), (c) => c.charCodeAt(0));
  if (text.startsWith("f8")) {
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  }
  const out = [];
  let [value, unit] = [0, 1];
  for (const byte of bytes) {
    value += (byte & 127) * unit;
    unit *= 128;
    if (byte < 128) {
      out.push(value);
      [value, unit] = [0, 1];
    }
  }
  return Float64Array.from(out);
}

/** log Σ exp. */
export function logSumExp(values) {
  let most = -Infinity;
  for (const each of values) most = Math.max(most, each);
  if (!Number.isFinite(most)) return most;
  let sum = 0;
  for (const each of values) sum += Math.exp(each - most);
  return most + Math.log(sum);
}

/** The correction to Stirling's formula, 1/12z − 1/360z³ + …, for z of at least 16. */
function correction(z) {
  const s = 1 / (z * z);
  return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / z;
}

/** log Γ(a) for a > 0. */
export function logGamma(a) {
  let product = 1;
  let shift = 0;
  while (a < 16) {
    product *= a;
    a += 1;
    if (product < 1e-200 || product > 1e200) {
      shift += Math.log(product);
      product = 1;
    }
  }
  return (a - 0.5) * Math.log(a) - a + 0.5 * LOG_2PI + correction(a) - Math.log(product) - shift;
}

/** log Γ(a + x)/Γ(a) for a ≥ 0 and x ≥ 0; −∞ for a = 0 and x > 0. */
export function logRise(a, x) {
  if (x === 0) return 0;
  if (a === 0) return -Infinity;
  if (a >= 16) {
    const end = a + x;
    return (a - 0.5) * Math.log1p(x / a) + x * (Math.log(end) - 1) + correction(end) - correction(a);
  }
  if (x <= 16 && Number.isInteger(x)) {
    let sum = 0;
    for (let i = 0; i < x; i++) sum += Math.log(a + i);
    return sum;
  }
  return logGamma(a + x) - logGamma(a);
}

/** t − log(1 + t) for t > −1, accurate also near zero; log(1 + t) may be given with more digits than t has. */
export function excess(t, logOneMore = Math.log1p(t)) {
  if (Math.abs(t) >= 0.1) return t - logOneMore;
  const s = t / (2 + t); // log(1 + t) = 2 (s + s³/3 + s⁵/5 + …)
  const q = s * s;
  const series = 1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q / 13))));
  return s * (t - 2 * q * series);
}

/** log x/y for positive numbers, accurate also where x/y is about 1, or is no double. */
export function logQuotient(x, y) {
  const away = (x - y) / y;
  if (Math.abs(away) < 0.5) return Math.log1p(away);
  const log = Math.log(x / y);
  return Math.abs(log) < 690 ? log : Math.log(x) - Math.log(y);
}

/** Number of sorted values below x, or up to x. */
export function countBelow(sorted, x, including) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < x || (including && sorted[middle] === x)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const zeros = (n) => new Array(n).fill(0);
export const range = (n, of) => Array.from({ length: n }, (_, i) => of(i));

/** Σ of values. */
export function sum(values) {
  let total = 0;
  for (const each of values) total += each;
  return total;
}

/** exp, normalized to a sum of one. */
export function normalized(scores) {
  const most = Math.max(...scores);
  const shares = scores.map((each) => Math.exp(each - most));
  const total = sum(shares);
  return shares.map((each) => each / total);
}

/** A form with its arrays of numbers decoded; other values stay. */
export function decoded(form) {
  const isArray = (value) => typeof value === "string" && /^(f8|vi):/.test(value);
  const decode = ([name, value]) => [name, isArray(value) ? numbers(value) : value];
  return Object.fromEntries(Object.entries(form).map(decode));
}
