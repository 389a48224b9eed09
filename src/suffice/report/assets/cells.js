/**
 * Cells of a row: numbers, levels and missing cells.
 */

/** A row that has no posterior. */
export class Problem extends Error {}

/** Whether a cell is missing. An empty text is a level like any other. */
export function isMissing(cell) {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

/** A cell as a number, NaN if it is missing or empty; points in time may be ISO 8601 texts. */
export function asNumber(cell, column) {
  if (isMissing(cell) || cell === "") return NaN;
  const value = typeof cell === "string" && column.kind === "time" ? secondsOf(cell) : Number(cell);
  if (!Number.isFinite(value)) throw new Problem(`${quoted(column.name)} must be a finite number.`);
  return value;
}

/** Seconds since 1970 of a date or a time; without a zone, it is in UTC. */
function secondsOf(text) {
  const plain = text.trim();
  if (plain !== "" && !Number.isNaN(Number(plain))) return Number(plain);
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(plain) || !plain.includes(":");
  return Date.parse(zoned ? plain : `${plain.replace(" ", "T")}Z`) / 1000;
}

/** A name in a sentence. */
export const quoted = (name) => `“${name}”`;

const SENTENCES = {
  yes_no: "is 0 or 1, yes or no",
  count: "is a whole number of at least 0",
  not_negative: "is at least 0",
  positive: "is above 0",
};
const DOMAINS = {
  yes_no: (x) => x === 0 || x === 1,
  count: (x) => x >= 0 && Number.isInteger(x),
  not_negative: (x) => x >= 0,
  positive: (x) => x > 0,
};

/** The cell of a block as a number; NaN if it is missing, or counts as missing. */
export function numberOf(block, cell, column, seen) {
  const x = asNumber(cell, column);
  if (Number.isNaN(x)) {
    if (!column.missing) throw new Problem(`${quoted(column.name)} is missing; the model needs a value.`);
    return x;
  }
  if (!(block.domain in DOMAINS) || DOMAINS[block.domain](x)) return x;
  if (block.outside !== "missing") throw new Problem(`${quoted(column.name)} ${SENTENCES[block.domain]}.`);
  seen.ignored.add(column.at);
  return NaN;
}

/** Positions of levels by a text that tells their types apart. */
export function levelPlaces(levels) {
  const places = new Map();
  levels.forEach((level, i) => places.set(levelKey(level), i));
  return places;
}

function levelKey(value) {
  if (typeof value === "object") return `t${value.text}`;
  return typeof value === "string" ? `s${value}` : `n${Number(value)}`;
}

/** Position of the level of a cell; −1 for a level that is not among them. */
export function levelOf(places, cell) {
  const at = places.get(levelKey(cell));
  if (at !== undefined) return at;
  if (typeof cell !== "string") return -1;
  // Fields of a page hold texts: also of numbers, and of values of other types.
  return places.get(`t${cell}`) ?? (cell.trim() === "" ? -1 : (places.get(`n${Number(cell)}`) ?? -1));
}
