/**
 * The usual range of a column, with ends that people would choose.
 */

const DAY = 86400;
const REAL = ["gaussian", "multivariate_gaussian", "linear", "histogram", "binned"]; // families that take any number

/** A column whose range has round ends and holds the range of the model; others may end where a density does. */
export function withRoundEnds(column) {
  const { kind, family, low, high } = column;
  if (!REAL.includes(family) || !["number", "duration", "time"].includes(kind)) return column;
  if (low === null || !(high > low)) return column;
  const days = high - low >= 4 * DAY ? DAY : 1;
  const unit = kind === "time" ? days : 10 ** Math.floor(Math.log10((high - low) / 20));
  const rounded = (value, round) => Number((round(value / unit) * unit).toPrecision(15));
  const ends = { low: rounded(low, Math.floor), high: rounded(high, Math.ceil) };
  return ends.low <= low && ends.high >= high ? { ...column, ...ends } : column;
}

/** A cell with as many digits as people read; it stays as it is where a density may end near it. */
export function withFewDigits({ kind, family, low, high }, cell) {
  if (kind !== "number" || !REAL.includes(family) || typeof cell !== "number" || !(high > low)) return cell;
  const digits = 4 + Math.max(0, Math.ceil(Math.log10(Math.abs(cell) / (high - low))));
  return digits < 16 ? Number(cell.toPrecision(digits)) : cell;
}
