/**
 * Multivariate Gaussians and Student's t distributions of several columns, some of which may be missing.
 */

import { logRise, numbers, range, sum, zeros } from "./numbers.js";

const LOG_2PI = Math.log(2 * Math.PI);
const EPSILON = 2 ** -52;
const SPREAD = "(spread)"; // the part of the volumes of own covariances

/** Σ_j slope_kj ((x_j − origin_j) − away_kj/2), and its parts. */
export function linearParts(x, slope, away, origin, K) {
  const d = x.length;
  const at = (k, j) => slope[k * d + j] * (x[j] - origin[j] - away[k * d + j] / 2);
  const details = range(d, (j) => ({
    values: range(K, (k) => at(k, j)),
    between(a, b) {
      const midpoint = (away[a * d + j] + away[b * d + j]) / 2;
      return (slope[a * d + j] - slope[b * d + j]) * (x[j] - origin[j] - midpoint);
    },
  }));
  return { values: range(K, (k) => sum(details.map((each) => each.values[k]))), details };
}

/** A whitening as a matrix (d, r), from its triangle if it is triangular. */
function whiteningMatrix({ triangle, matrix, rank }, d) {
  if (matrix) return { rank, matrix: numbers(matrix) };
  const packed = numbers(triangle);
  const out = new Float64Array(d * d);
  let next = 0;
  for (let i = 0; i < d; i++) for (let j = i; j < d; j++) out[i * d + j] = packed[next++];
  return { rank: d, matrix: out };
}

/** Σ = (W Wᵀ)⁻¹ of an upper triangular whitening W (d, d): Cᵀ C with C = W⁻¹. */
function covarianceOf(w, d) {
  const inverse = new Float64Array(d * d);
  for (let j = 0; j < d; j++) {
    inverse[j * d + j] = 1 / w[j * d + j];
    for (let i = j - 1; i >= 0; i--) {
      let total = 0;
      for (let m = i + 1; m <= j; m++) total += w[i * d + m] * inverse[m * d + j];
      inverse[i * d + j] = -total / w[i * d + i];
    }
  }
  const out = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let total = 0;
      for (let m = 0; m <= j; m++) total += inverse[m * d + i] * inverse[m * d + j];
      out[i * d + j] = out[j * d + i] = total;
    }
  }
  return out;
}

/** A map to unit covariance, and log |Σ| on the subspace where Σ is not zero: by Cholesky, or by eigenvectors. */
function whiten(covariance, d) {
  const deviation = range(d, (j) => Math.sqrt(Math.max(covariance[j * d + j], 0)));
  const varying = range(d, (j) => j).filter((j) => deviation[j] > 0);
  const n = varying.length;
  const r = new Float64Array(n * n);
  varying.forEach((a, i) =>
    varying.forEach((b, j) => (r[i * n + j] = covariance[a * d + b] / deviation[a] / deviation[b])),
  );
  const found = triangularRoot(r, n) ?? spectralRoot(r, n);
  const matrix = new Float64Array(d * found.rank);
  varying.forEach((a, i) => {
    for (let m = 0; m < found.rank; m++) matrix[a * found.rank + m] = found.inverse[i * found.rank + m] / deviation[a];
  });
  return { rank: found.rank, matrix, log_det: found.logDet(varying.map((a) => deviation[a])) };
}

/** L⁻ᵀ (n, n) of the Cholesky factor L of a correlation matrix; null if it is singular to working precision. */
function triangularRoot(r, n) {
  const lower = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = r[i * n + j];
      for (let m = 0; m < j; m++) rest -= lower[i * n + m] * lower[j * n + m];
      if (i === j && !(rest > 64 * n * EPSILON)) return null;
      lower[i * n + j] = i === j ? Math.sqrt(rest) : rest / lower[j * n + j];
    }
  }
  const inverse = new Float64Array(n * n); // of Lᵀ
  for (let j = 0; j < n; j++) {
    inverse[j * n + j] = 1 / lower[j * n + j];
    for (let i = j - 1; i >= 0; i--) {
      let total = 0;
      for (let m = i + 1; m <= j; m++) total += lower[m * n + i] * inverse[m * n + j];
      inverse[i * n + j] = -total / lower[i * n + i];
    }
  }
  const logDet = (deviation) =>
    2 * sum(deviation.map((each, i) => Math.log(lower[i * n + i]) + Math.log(each)));
  return { rank: n, inverse, logDet };
}

/** Eigenvectors over the roots of their eigenvalues (n, rank) of a singular correlation matrix. */
function spectralRoot(r, n) {
  const { values, vectors } = eigen(r, n);
  const largest = Math.max(0, ...values);
  const kept = range(n, (i) => i).filter((i) => values[i] > 64 * n * EPSILON * largest);
  const rank = kept.length;
  const inverse = new Float64Array(n * rank);
  kept.forEach((at, m) => {
    for (let i = 0; i < n; i++) inverse[i * rank + m] = vectors[i * n + at] / Math.sqrt(values[at]);
  });
  // The product of the variances within the subspace is the squared volume that the columns of a root of Σ span.
  const logDet = (deviation) =>
    logVolume(kept.map((at) => deviation.map((each, i) => vectors[i * n + at] * Math.sqrt(values[at]) * each)));
  return { rank, inverse, logDet };
}

/** Twice the logarithm of the volume that vectors span, by Gram–Schmidt. */
function logVolume(vectors) {
  let total = 0;
  const units = [];
  for (const vector of vectors) {
    for (let pass = 0; pass < 2; pass++) {
      for (const unit of units) {
        const along = sum(vector.map((each, i) => each * unit[i]));
        unit.forEach((each, i) => (vector[i] -= along * each));
      }
    }
    const norm = Math.hypot(...vector);
    total += 2 * Math.log(norm);
    units.push(vector.map((each) => each / norm));
  }
  return total;
}

/** Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations. */
function eigen(symmetric, n) {
  const a = Float64Array.from(symmetric);
  const vectors = new Float64Array(n * n);
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off = Math.max(off, Math.abs(a[i * n + j]));
    if (off < 1e-300) break;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (a[p * n + q] === 0) continue;
        const theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let i = 0; i < n; i++) {
          const [x, y] = [a[i * n + p], a[i * n + q]];
          a[i * n + p] = c * x - s * y;
          a[i * n + q] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const [x, y] = [a[p * n + i], a[q * n + i]];
          a[p * n + i] = c * x - s * y;
          a[q * n + i] = s * x + c * y;
          const [u, v] = [vectors[i * n + p], vectors[i * n + q]];
          vectors[i * n + p] = c * u - s * v;
          vectors[i * n + q] = s * u + c * v;
        }
      }
    }
  }
  return { values: range(n, (i) => a[i * n + i]), vectors };
}

export function gaussianBlock({ mean, mean_low, origin, whitening, log_det, covariance, freedom, spread }, K) {
  const d = origin.length;
  const whole = whitening.map((each, i) => ({ ...whiteningMatrix(each, d), log_det: log_det[i] }));
  const marginals = new Map();
  const away = range(K, (k) => Float64Array.from(origin, (o, j) => mean[k * d + j] - o + mean_low[k * d + j]));

  /** The factors of the columns that a row has. */
  function factors(known) {
    if (known.length === d) return whole;
    const key = known.join();
    if (!marginals.has(key)) {
      const own = whole.map((each, i) => {
        const full = covariance ? covariance.subarray(i * d * d, (i + 1) * d * d) : covarianceOf(each.matrix, d);
        const some = Float64Array.from(known.flatMap((a) => known.map((b) => full[a * d + b])));
        return whiten(some, known.length);
      });
      marginals.set(key, own);
    }
    return marginals.get(key);
  }

  /** z = v W, and W z. */
  function products({ rank, matrix }, v) {
    const z = new Float64Array(rank);
    v.forEach((each, i) => {
      for (let m = 0; m < rank; m++) z[m] += each * matrix[i * rank + m];
    });
    const back = v.map((_, i) => sum(z.map((each, m) => matrix[i * rank + m] * each)));
    return { z, back };
  }

  function linear(x, known, factor) {
    const rows = range(K, (k) => known.map((j) => away[k][j]));
    const slope = Float64Array.from(rows.flatMap((row) => Array.from(products(factor, row).back)));
    const some = (values) => known.map((j) => values[j]);
    const found = linearParts(some(x), slope, Float64Array.from(rows.flat()), some(origin), K);
    const absent = { values: zeros(K), between: () => 0 };
    const details = range(d, (j) => (known.includes(j) ? found.details[known.indexOf(j)] : absent));
    return { values: found.values, details };
  }

  function logDensity(k, x, known, factor) {
    const v = known.map((j) => x[j] - mean[k * d + j] - mean_low[k * d + j]);
    const { z, back } = products(factor, v);
    const distance = sum(z.map((each) => each * each));
    const { rank } = factor;
    if (!freedom) {
      const parts = zeros(d);
      known.forEach((j, i) => (parts[j] = -0.5 * v[i] * back[i]));
      return { value: -0.5 * (rank * LOG_2PI + factor.log_det + distance), parts };
    }
    const scale = freedom[k] * spread[k];
    const norm = logRise(freedom[k] / 2, rank / 2) - 0.5 * (rank * Math.log(scale * Math.PI) + factor.log_det);
    return { value: norm - 0.5 * (freedom[k] + rank) * Math.log1p(distance / scale) };
  }

  return (x) => {
    const known = range(d, (j) => j).filter((j) => !Number.isNaN(x[j]));
    const shared = whole.length === 1 && !freedom;
    if (!known.length) {
      const none = { values: zeros(K) };
      const details = range(d, () => none);
      return freedom ? none : { ...none, details: shared ? details : [...details, { ...none, name: SPREAD }] };
    }
    const own = factors(known);
    if (shared) return linear(x, known, own[0]);
    const found = range(K, (k) => logDensity(k, x, known, own[whole.length === 1 ? 0 : k]));
    const values = found.map((each) => each.value);
    if (freedom) return { values };
    const details = range(d, (j) => ({ values: found.map((each) => each.parts[j]) }));
    const volume = (k) => -0.5 * (own[k].rank * LOG_2PI + own[k].log_det);
    details.push({ name: SPREAD, values: range(K, volume) });
    return { values, details };
  };
}
