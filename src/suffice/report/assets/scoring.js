/**
 * Posteriors of a fitted model, computed from the values that `suffice.report.scoring.scoring_payload` writes.
 *
 *     scores_k = log p(k) + Σ_blocks weight · formula_k(x),    p(y | x) ∝ exp(calibrated scores)
 *
 * The forms are those of `suffice.families.formula`, which documents each of them.
 *
 * @typedef {number | string | boolean | {text: string} | null | undefined} Cell  missing cells are null, undefined or
 *   NaN; in a column of numbers also "", which is a text or a level elsewhere. Points in time are seconds since 1970 or
 *   ISO 8601 texts, in UTC by default. Levels of other types are given by their text.
 * @typedef {Object<string, Cell> | Cell[]} Row  cells by the name of their column, or in the order of `model.columns`
 *
 * @typedef {object} Part  what a column, a word or a block adds to the scores
 * @property {string} name
 * @property {string} member  the member of an ensemble that it belongs to; empty for the prior and other models
 * @property {number[]} columns  positions in `model.columns`
 * @property {number[]} values  of each class
 * @property {function(number, number): number} between  what it adds to the log-odds of one class against another
 * @property {number} [count]  how often a text has the word
 *
 * @typedef {object} Result
 * @property {number[] | null} posterior  p(y | x); null if there is a problem
 * @property {string | null} problem  a sentence that says why there is no posterior
 * @property {number[]} scores  log p(x, y) up to a common term: the sums of the parts
 * @property {Part[]} parts  of the scores; the prior is the first
 * @property {string[]} unknown  words of texts that the model does not use
 * @property {number[]} ignored  columns whose value counts as missing, because the model does not know it
 */

import { calibrated, rowOffsets } from "./calibration.js";
import { Problem, numberOf } from "./cells.js";
import { columnForms } from "./column_forms.js";
import { gaussianBlock, linearParts } from "./gaussian_form.js";
import { decoded, logRise, normalized, numbers, range, sum, zeros } from "./numbers.js";
import { added, difference, settled, times } from "./parts.js";
import { jointCells, pairTables } from "./table_forms.js";
import { wordScores } from "./word_form.js";

const PRIOR = "(prior)";
const FIRST = "naive bayes"; // the name of the blocks of an ensemble that belong to no further member

// ---------------------------------------------------------------------- forms of a block
//
// Each function returns a function from cells to the values of each class, and the parts that they consist of. A part
// may say what it adds `between` two classes, where this is not the difference of two values.

const blockForms = {
  CentredLines({ slope, away, origin }, K) {
    return (x) => linearParts(x, slope, away, origin, K);
  },

  CountDraws({ draws }, K) {
    const d = draws.length / K;
    const size = range(K, (k) => sum(draws.subarray(k * d, k * d + d)));
    return (x) => {
      const total = sum(x);
      const rises = (k) => sum(x.map((count, j) => logRise(draws[k * d + j], count)));
      return { values: range(K, (k) => rises(k) - logRise(size[k], total)) };
    };
  },

  GaussianBlock: gaussianBlock,
  JointCells: jointCells,
  PairTables: pairTables,
  Words: wordScores,
};

// ---------------------------------------------------------------------- models

const preparedModels = new WeakMap();

/** A model with decoded numbers, ready for rows; made once for each payload. */
function prepare(payload) {
  if (preparedModels.has(payload)) return preparedModels.get(payload);
  const K = payload.classes.length;
  const columns = payload.columns.map((column, at) => ({ ...column, at }));
  const blocks = payload.blocks.map((block) => ({
    ...block,
    own: block.columns.map((at) => columns[at]),
    weights: block.weights ? numbers(block.weights) : null,
    evaluate: block.by_column
      ? block.forms.map((form) => columnForms[form.form](decoded(form), K))
      : blockForms[block.forms[0].form](decoded(block.forms[0]), K),
  }));
  const calibration = payload.calibration && decodedCalibration(payload.calibration);
  const model = {
    K,
    columns,
    blocks,
    calibration,
    prior: numbers(payload.prior),
    log_prior: numbers(payload.log_prior),
    impossible: payload.impossible,
    isEnsemble: blocks.some((block) => block.member),
  };
  preparedModels.set(payload, model);
  return model;
}

function decodedCalibration(calibration) {
  const decodeAll = (list) => list && list.map((each) => each && numbers(each));
  return { ...decoded(calibration), knots: decodeAll(calibration.knots), values: decodeAll(calibration.values) };
}

/** The cells of a row, in the order of the columns. */
function cellsOf(model, row) {
  return model.columns.map(({ name }, at) => {
    if (Array.isArray(row)) return row[at];
    return Object.hasOwn(row, name) ? row[name] : null;
  });
}

/** Values and parts of a block; null for a block of weight zero that cannot score the row. */
function scoreBlock(block, cells, seen, K) {
  try {
    return blockScores(block, cells, seen, K);
  } catch (error) {
    if (error instanceof Problem && block.weights?.every((weight) => weight === 0)) return null;
    throw error;
  }
}

function blockScores(block, cells, seen, K) {
  const own = block.columns.map((at) => cells[at]);
  if (!block.by_column) {
    const { form } = block.forms[0];
    const takesCells = ["JointCells", "PairTables", "Words"].includes(form);
    const x = takesCells ? own : own.map((cell, j) => numberOf(block, cell, block.own[j], seen));
    return block.evaluate(x, block.own, seen);
  }
  const details = block.forms.map(({ form }, j) => {
    const [cell, column] = [own[j], block.own[j]];
    if (form === "LevelLogs" && block.domain === "any") return { values: block.evaluate[j](cell, column, seen) };
    const x = numberOf(block, cell, column, seen);
    if (form !== "LevelLogs" && Number.isNaN(x)) return { values: zeros(K) };
    return { values: block.evaluate[j](x, column, seen) };
  });
  return { values: added(details, K), details: settled(details, K) };
}

/** Parts of a block, as `explain` divides it. */
function partsOf(model, block, { values, details }) {
  const { form } = block.forms[0];
  const one = model.blocks.length === 1;
  const apart = {
    Words: one,
    GaussianBlock: one || model.isEnsemble,
    CentredLines: true,
    PairTables: true,
  };
  const member = block.member ?? (model.isEnsemble ? FIRST : "");
  const divided = details && (block.by_column || apart[form]);
  const list = divided ? details : [{ values }];
  return list.map((each, j) => {
    const weight = block.weights ? block.weights[block.by_column && block.weights.length > 1 ? j : 0] : 1;
    const columns = !divided || form === "Words" ? block.columns : j < block.columns.length ? [block.columns[j]] : [];
    const weighted = each.values.map((value) => times(value, weight));
    return {
      name: each.name ?? columns.map((at) => model.columns[at].name).join(", "),
      member,
      columns,
      values: weighted,
      between: each.between
        ? (a, b) => times(each.between(a, b), weight)
        : (a, b) => difference(weighted[a], weighted[b]),
      ...(each.count === undefined ? {} : { count: each.count }),
    };
  });
}

/** Parts in the order of the columns, if the model is not an ensemble. */
function ordered(model, parts) {
  if (model.isEnsemble || model.blocks.length === 1) return parts;
  return [...parts].sort((a, b) => (a.columns[0] ?? Infinity) - (b.columns[0] ?? Infinity));
}

/** The weighted values of a block: of each column, or of the whole block. */
function weightedValues({ weights, by_column }, { values, details }, K) {
  if (!weights) return values;
  const equal = weights.every((each) => each === weights[0]);
  if (equal || !by_column) return values.map((value) => times(value, weights[0]));
  return added(details.map((each, j) => ({ values: each.values.map((value) => times(value, weights[j])) })), K);
}

const NO_CLASS = "No class can explain this row: its density is zero in every class.";

/**
 * The posterior of a row, and the parts of its scores.
 * @param {object} payload  what `scoring_payload` wrote
 * @param {Row} row
 * @returns {Result}
 */
export function score(payload, row) {
  const model = prepare(payload);
  const { K } = model;
  const seen = { ignored: new Set(), unknown: [] };
  const result = { posterior: null, problem: null, scores: zeros(K), parts: [], unknown: seen.unknown, ignored: [] };
  let joint = Array.from(model.log_prior);
  const parts = [];
  try {
    const cells = cellsOf(model, row);
    for (const block of model.blocks) {
      const found = scoreBlock(block, cells, seen, K);
      if (!found) continue;
      const values = weightedValues(block, found, K);
      joint = joint.map((each, k) => each + values[k]);
      parts.push(...partsOf(model, block, found));
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...result, problem: error.message };
  }
  joint = joint.map((each) => (each < Infinity ? each : -Infinity));
  const offsets = rowOffsets(model, joint);
  const values = Array.from(model.log_prior, (each, k) => each + offsets[k]);
  const between = (a, b) => difference(values[a], values[b]);
  result.parts = [{ name: PRIOR, member: "", columns: [], values, between }, ...ordered(model, parts)];
  result.scores = joint.map((each, k) => each + offsets[k]);
  result.ignored = [...seen.ignored];
  if (joint.every((each) => each === -Infinity)) return withoutPosterior(model, result);
  result.posterior = normalized(model.calibration ? calibrated(model.calibration, joint) : joint);
  return result;
}

/** The result of a row that no class can explain, by the setting of the model. */
function withoutPosterior(model, result) {
  if (model.impossible === "error") return { ...result, problem: NO_CLASS };
  const posterior = Array.from(model.prior, (each) => (model.impossible === "nan" ? NaN : each));
  return { ...result, posterior };
}

/**
 * What each part adds to the log-odds of one class against another.
 * @param {Result} result
 * @param {number} a  position of the class
 * @param {number} b  position of the other class
 * @returns {{name: string, member: string, columns: number[], value: number}[]}
 */
export function explain(result, a, b) {
  return result.parts.map(({ name, member, columns, between }) => ({ name, member, columns, value: between(a, b) }));
}
