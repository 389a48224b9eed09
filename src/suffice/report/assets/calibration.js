/**
 * Maps of posteriors to calibrated posteriors; see suffice/learning/calibration.py.
 */

import { countBelow, logSumExp, normalized, range, zeros } from "./numbers.js";

const MAX_LOG_ODDS = 700; // larger log-odds are a probability of 1
const ROUNDING = 1e-12; // of log-odds

/** Whether scores differ from the logarithm of a prior by more than a constant. */
function hasEvidence(scores, log_prior) {
  let likeliest = 0;
  log_prior.forEach((each, k) => (likeliest = each > log_prior[likeliest] ? k : likeliest));
  const evidence = scores.map((each, k) => each - log_prior[k]);
  return evidence.some((each) => Math.abs(each - evidence[likeliest]) > ROUNDING);
}

/** Offsets that weights of columns add to the prior; 0 for other calibrations. */
export function rowOffsets(model, joint) {
  const { calibration: c, K } = model;
  if (!c || !c.by_column || (c.keeps_prior && !hasEvidence(joint, model.prior.map(Math.log)))) return zeros(K);
  return range(K, (k) => (1 - c.slope) * c.shift[k] + c.offset[k]);
}

/** Calibrated scores; see `Calibration.applied` in suffice/learning/calibration.py. */
export function calibrated(c, joint) {
  const known = joint.map((each, k) => each - c.shift[k]);
  const keeps = c.keeps_prior && !hasEvidence(known, c.log_share);
  const mapped = keeps ? Array.from(c.log_share) : c.knots ? isotonic(c, known) : tempered(c, known);
  return mapped.map((each, k) => each + c.shift[k]);
}

function logPosterior(scores) {
  const evidence = logSumExp(scores);
  return scores.map((each) => each - evidence);
}

/** A temperature, offsets, and a mixture with the prior. */
function tempered(c, known) {
  const sloped = c.slope !== 1 || !c.outliers ? logPosterior(known).map((each) => each * c.slope) : known;
  const mapped = sloped.map((each, k) => each + c.offset[k]);
  if (!c.outliers) return mapped;
  return normalized(mapped).map((each, k) => Math.log((1 - c.outliers) * each + c.outliers * Math.exp(c.log_share[k])));
}

/** A monotone function of the log-odds of each class. */
function isotonic(c, scores) {
  const known = logPosterior(scores);
  return known.map((each, k) => {
    if (each === -Infinity) return -Infinity;
    if (!c.knots[k]) return each;
    const others = known.filter((_, i) => i !== k);
    const odds = others.length ? each - logSumExp(others) : MAX_LOG_ODDS;
    return Math.log(interpolated(Math.min(Math.max(odds, -MAX_LOG_ODDS), MAX_LOG_ODDS), c.knots[k], c.values[k]));
  });
}

function interpolated(x, knots, values) {
  const after = countBelow(knots, x, true);
  if (after === 0) return values[0];
  if (after === knots.length) return values[after - 1];
  const slope = (values[after] - values[after - 1]) / (knots[after] - knots[after - 1]);
  return slope * (x - knots[after - 1]) + values[after - 1];
}
