/**
 * Texts as bags of words.
 */

import { decoded, logRise, range, sum, zeros } from "./numbers.js";
import { added, settled } from "./parts.js";

const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"; // Python's
const WORDS = /[\p{L}\p{N}_]+/gu;
const WORDS_AND_MARKS = new RegExp(`[\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}_${SPACE}]`, "gu");
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const SEVERAL_SPACES = new RegExp(`[${SPACE}]{2,}`, "gu");

/**
 * The words of a text, with repetitions.
 * @param {string} text
 * @param {object} reading  the fields of `suffice.families.formula.WordReading`
 * @returns {string[]}
 */
export function wordsOf(text, reading) {
  const plain = prepared(text, reading);
  const [least, most] = reading.ngram_range;
  if (reading.analyzer === "char") return runs([...plain.replace(SEVERAL_SPACES, " ")], least, most);
  if (reading.analyzer === "char_wb") return withinWords(plain, least, most, " ");
  const stop = new Set(reading.stop_words);
  const found = plain.match(reading.punctuation ? WORDS_AND_MARKS : WORDS) ?? [];
  const words = found.filter((word) => (isMark(word) || [...word].length >= reading.min_length) && !stop.has(word));
  const out = [];
  for (let n = least; n <= most; n++) {
    for (let i = 0; i + n <= words.length; i++) out.push(n === 1 ? words[i] : words.slice(i, i + n).join(" "));
  }
  if (!reading.characters) return out;
  const fragment = (each) => `~${each.replace(/[\0-\x1f]/g, "|")}`;
  return out.concat(withinWords(plain, ...reading.characters, "|").map(fragment));
}

const isMark = (word) => !/^[\p{L}\p{N}_]/u.test(word);

/** The text in lower case and without accents, as far as the settings ask for it. */
function prepared(text, { lowercase, strip_accents, combining }) {
  const lower = lowercase ? text.toLowerCase() : text;
  if (!strip_accents || /^[\0-\x7f]*$/.test(lower)) return lower;
  const apart = lower.normalize("NFKD");
  if (strip_accents === "ascii") return apart.replace(/[^\0-\x7f]/gu, "");
  const isCombining = (c) => combining.some(([first, last]) => first <= c && c <= last);
  return [...apart].filter((each) => !isCombining(each.codePointAt(0))).join("");
}

/** All runs of n characters. */
function runs(characters, least, most) {
  const out = [];
  for (let n = least; n <= Math.min(most, characters.length); n++) {
    for (let i = 0; i + n <= characters.length; i++) out.push(characters.slice(i, i + n).join(""));
  }
  return out;
}

/** Runs of characters within words that have an edge on either side; a word shorter than a run is one run. */
function withinWords(text, least, most, edge) {
  const out = [];
  for (const word of text.split(SPACES)) {
    if (!word) continue;
    const characters = [edge, ...word, edge];
    for (let n = least; n <= most; n++) {
      for (let i = 0; i === 0 || i + n <= characters.length; i++) out.push(characters.slice(i, i + n).join(""));
      if (characters.length <= n) break;
    }
  }
  return out;
}

/** A weight as the nearest multiple of 2⁻³⁰ above 0, as the library rounds it. */
const inUnits = (value) => Math.max(Math.round(value * 2 ** 30), 1) / 2 ** 30;

/** Entries of a table (K, M), which may be logarithms of counts that are multiplied by the weights of words. */
function entriesOf(table, weight, M) {
  if (table instanceof Float64Array) return (k, j) => table[k * M + j];
  const { count, log_size, scale, unit, added: more, weighted } = decoded(table);
  return (k, j) => {
    const value = Math.log(unit * count[k * M + j] * (weighted ? weight[j] : 1) + more) - log_size[k];
    return scale ? value * scale[k] : value;
  };
}

export function wordScores(form, K) {
  const { kind, words, reading, total, weight, distinct, unit, length, mean_length } = form;
  const M = words.length;
  const places = new Map(words.map((word, i) => [word, i]));
  const drawn = kind === "draws" && !(form.table instanceof Float64Array) ? decoded(form.table) : null;
  const table = drawn ? (k, j) => drawn.count[k * M + j] + form.table.added : entriesOf(form.table, weight, M);
  const absent = form.absent ? entriesOf(form.absent, weight, M) : null;
  const needed = absent && range(K, (k) => range(M, (j) => j).filter((j) => absent(k, j) === -Infinity));
  const size = kind === "draws" ? range(K, (k) => sum(range(M, (j) => table(k, j)))) : null;

  /** The known words of a text with their values; unknown words are noted. */
  function known(text, seen) {
    const counts = new Map();
    for (const word of wordsOf(text, reading)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const logs = unit ? Array.from(counts.values(), (x) => Math.log1p(x)) : [];
    const norm = Math.sqrt(sum(logs.map((each) => each * each)));
    const out = [];
    for (const [word, count] of counts) {
      const at = places.get(word);
      if (at === undefined) seen.unknown.push(word);
      else out.push({ word, at, count, value: distinct ? 1 : unit ? inUnits(Math.log1p(count) / norm) : count });
    }
    out.sort((a, b) => a.at - b.at);
    const whole = sum(out.map((each) => each.value));
    const factor = (whole > 0 ? mean_length / whole : 1) ** length;
    if (length) for (const each of out) each.value *= factor;
    return out;
  }

  function presentWords(found) {
    const has = new Set(found.map((each) => each.at));
    const details = found.map((each) => part(each, (k) => table(k, each.at)));
    const rest = range(K, (k) => {
      if (needed[k].some((j) => !has.has(j))) return -Infinity;
      const without = found.map(({ at }) => absent(k, at)).filter((each) => each !== -Infinity);
      return total[k] - sum(without);
    });
    details.push({ name: "(absent words)", values: rest });
    return details;
  }

  function drawnWords(found) {
    const weighted = found.map((each) => each.value * (weight ? weight[each.at] : 1));
    const all = sum(weighted);
    const details = found.map((each, i) => part(each, (k) => logRise(table(k, each.at), weighted[i])));
    details.push({ name: "(length)", values: range(K, (k) => -logRise(size[k], all)) });
    return details;
  }

  /** Words in a sum; a word that some class has alone makes the others impossible. */
  function summedWords(found) {
    return found.map((each) => {
      const slope = range(K, (k) => table(k, each.at) * (weight ? weight[each.at] : 1));
      // Relative to their mean, so that long texts cost no digits.
      const finite = slope.filter(Number.isFinite);
      const common = finite.length ? sum(finite) / finite.length : 0;
      const add = (k) => (Number.isFinite(slope[k]) ? (slope[k] - common) * each.value : slope[k]);
      return part(each, add);
    });
  }

  const part = ({ word, count }, value) => ({ name: word, count, values: range(K, value) });

  return ([text], columns, seen) => {
    if (text === null || text === undefined) return { values: zeros(K), details: [] };
    const found = known(String(text), seen);
    if (kind === "present" && unit && !found.length) return { values: zeros(K), details: [] };
    const parts = { present: presentWords, draws: drawnWords, sum: summedWords }[kind](found);
    return { values: added(parts, K), details: settled(parts, K) };
  };
}
