/**
 * Forms of one column, by their names; see `suffice.families.formula`.
 *
 * Each function takes a form with decoded arrays and the number of classes, and returns a function from a cell to an
 * array of K numbers. A number is not missing; cells of levels may be.
 */

import { Problem, asNumber, isMissing, levelOf, levelPlaces, quoted } from "./cells.js";
import { countBelow, excess, logQuotient, logRise, range } from "./numbers.js";

export const columnForms = {
  Normal({ mean, mean_low, scale, log_norm, freedom, of_logarithm }, K) {
    return (cell) => {
      const x = of_logarithm ? Math.log(cell) : cell;
      return range(K, (k) => {
        const z = (x - mean[k] - mean_low[k]) * scale[k];
        if (!freedom) return log_norm[k] - 0.5 * z * z;
        return log_norm[k] - 0.5 * (freedom[k] + 1) * Math.log1p((z * z) / freedom[k]);
      });
    };
  },

  YesNo({ yes, no, above }) {
    return (x) => Array.from(x > above ? yes : no);
  },

  // An infinite slope is returned as it is: the block as a whole interprets it.
  Line({ at_origin, slope, origin }, K) {
    const add = (x, k) => (Number.isFinite(slope[k]) ? (x - origin) * slope[k] : x > 0 ? slope[k] : 0);
    return (x) => range(K, (k) => at_origin[k] + add(x, k));
  },

  Rising({ offset, slope, up, down }, K) {
    return (x) =>
      range(K, (k) => offset[k] + x * slope[k] + logRise(up[k], x) - (down ? logRise(down[k], x) : 0));
  },

  PowerTail({ offset, power, scale }, K) {
    return (x) => range(K, (k) => offset[k] - power[k] * Math.log1p(x / scale[k]));
  },

  GammaCurve({ offset, shape, mean, wide, spread }, K) {
    return (x) =>
      range(K, (k) => {
        const t = (x - mean[k]) / mean[k];
        const log = logQuotient(x, mean[k]);
        if (!wide) return offset[k] - shape[k] * excess(t, log);
        const share = t / spread[k];
        if (Math.abs(t) < 1) return offset[k] - shape[k] * excess(t, log) + wide[k] * excess(share);
        return offset[k] + shape[k] * log - wide[k] * Math.log1p(share); // without t, which cancels
      });
  },

  Steps({ cuts, table }, K) {
    return (x) => {
      const at = countBelow(cuts, x, false);
      return Array.from(table.subarray(at * K, at * K + K));
    };
  },

  Knots({ knots, table }, K) {
    return (x) => {
      const at = Math.min(Math.max(countBelow(knots, x, true) - 1, 0), knots.length - 2);
      const share = Math.min(Math.max((x - knots[at]) / (knots[at + 1] - knots[at]), 0), 1);
      return range(K, (k) => (1 - share) * table[at * K + k] + share * table[(at + 1) * K + k]);
    };
  },

  LevelLogs({ levels, table, missing, unseen, size }, K) {
    const places = levelPlaces(levels);
    return (cell, column, seen) => {
      const value = size === undefined ? cell : Math.trunc(asNumber(cell, column));
      if (isMissing(value)) return Array.from(missing);
      const at = levelOf(places, value);
      if (at >= 0) return Array.from(table.subarray(at * K, at * K + K));
      if (!unseen && levels.length) {
        throw new Problem(`${quoted(column.name)} holds a level that the model has never seen.`);
      }
      const scores = value >= size || !unseen ? missing : unseen;
      if (levels.length && scores.every((each, k) => each === missing[k])) seen.ignored.add(column.at);
      return Array.from(scores);
    };
  },
};
