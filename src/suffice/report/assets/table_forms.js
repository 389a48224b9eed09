/**
 * Counts of combinations of levels, and of pairs of bins.
 */

import { Problem, asNumber, isMissing, levelOf, levelPlaces, quoted } from "./cells.js";
import { countBelow, logSumExp, range, sum, zeros } from "./numbers.js";

export function jointCells({ levels, cells, count, log_size, alpha, knows_all }, K) {
  const d = levels.length;
  const places = levels.map(levelPlaces);
  const codes = cells.map((at) => at - 1);
  const C = codes.length / d;
  return (row, columns, seen) => {
    const known = [];
    row.forEach((cell, j) => {
      const at = isMissing(cell) ? -1 : levelOf(places[j], cell);
      if (at >= 0) known.push([j, at]);
      else if (!isMissing(cell) && levels[j].length) {
        if (knows_all) throw new Problem(`${quoted(columns[j].name)} holds a level that the model has never seen.`);
        seen.ignored.add(columns[j].at);
      }
    });
    if (!C || !known.length) return { values: zeros(K) };
    const some = new Set(known.map(([j]) => j));
    const prior = Math.log(alpha) + sum(levels.map((each, j) => (some.has(j) ? 0 : Math.log(each.length))));
    const counted = zeros(K);
    for (let c = 0; c < C; c++) {
      if (known.every(([j, at]) => codes[c * d + j] === at)) for (let k = 0; k < K; k++) counted[k] += count[k * C + c];
    }
    return { values: range(K, (k) => logSumExp([Math.log(counted[k]), prior]) - log_size[k]) };
  };
}

export function pairTables(form, K) {
  const { cuts, levels, others, parents, single, pairs, weight, smoothing: m, marginal } = form;
  const [placed, rows] = [form.places.map((at) => at - 1), form.rows.map((at) => at - 1)];
  const d = cuts.length;
  const C = single.length / K;
  const R = pairs.length / Math.max(K * C, 1);
  const places = levels.map((each) => each && levelPlaces(each));
  const sizes = range(d, (j) => (cuts[j] ? cuts[j].length + 2 : levels[j].length + (others[j] ? 2 : 1)));
  const starts = sizes.map((_, j) => sum(sizes.slice(0, j)));
  const total = Math.max(sum(weight), 1e-300);
  const pooled = range(C, (b) => sum(range(K, (k) => single[k * C + b])) / total);
  const share = (k, b) => (single[k * C + b] + marginal * pooled[b]) / (weight[k] + marginal);

  function binOf(j, cell, columns, seen) {
    const value = cuts[j] ? asNumber(cell, columns[j]) : cell;
    if (isMissing(value)) return sizes[j] - 1;
    if (cuts[j]) return countBelow(cuts[j], value, false);
    const at = levelOf(places[j], cell);
    if (at >= 0) return at;
    if (others[j]) return levels[j].length;
    seen.ignored.add(columns[j].at);
    return -1;
  }

  return (row, columns, seen) => {
    const bins = range(d, (j) => {
      const bin = binOf(j, row[j], columns, seen);
      return bin < 0 ? -1 : placed[starts[j] + bin];
    });
    const known = range(d, (j) => j).filter((j) => bins[j] >= 0);
    const usable = parents.filter((i) => bins[i] >= 0);
    const details = range(d, () => ({ values: zeros(K) }));
    const values = range(K, (k) => {
      const own = bins.map((b) => (b < 0 ? 1 : share(k, b)));
      const lifts = usable.map((i) =>
        range(d, (j) => {
          if (j === i || bins[j] < 0) return 0;
          const joint = pairs[(k * R + rows[bins[i]]) * C + bins[j]] + m * own[j];
          return Math.log(joint / ((single[k * C + bins[i]] + m) * own[j]));
        }),
      );
      const t = lifts.map(sum);
      const base = sum(known.map((j) => Math.log(own[j])));
      const factors = slopes(t);
      known.forEach((j) => (details[j].values[k] += Math.log(own[j])));
      usable.forEach((i, p) => {
        known.forEach((j) => {
          const part = lifts[p][j] * factors[p];
          details[j].values[k] += part / 2;
          details[i].values[k] += part / 2;
        });
      });
      return t.length ? base + logSumExp(t) - Math.log(t.length) : base;
    });
    return { values, details };
  };
}

/** Positive g with log mean exp t = Σ g t: g = c (exp t − 1)/t. */
function slopes(t) {
  const n = Math.max(t.length, 1);
  const top = Math.max(0, ...t);
  const gain = t.map((each) =>
    Math.abs(each) < 0.5 ? Math.expm1(each) * Math.exp(-top) : Math.exp(each - top) - Math.exp(-top),
  );
  const mean = sum(gain) / n;
  let whole = t.length ? logSumExp(t) - Math.log(n) : 0;
  if (top < 1 && Math.abs(mean) < 0.1) whole = Math.log1p(mean * Math.exp(Math.min(top, 1)));
  const common = (mean === 0 ? Math.exp(-top) : whole / mean) / n;
  return t.map((each, i) => (each === 0 ? common * Math.exp(-top) : (common * gain[i]) / each));
}
