/**
 * Parts of scores, which may be infinite, and their sums.
 */

import { range, sum } from "./numbers.js";

/** Sums of the values of parts; +∞ in a class makes classes without it impossible. */
export function added(parts, K) {
  const sure = range(K, (k) => parts.some(({ values }) => values[k] === Infinity));
  return range(K, (k) => {
    if (sure.includes(true) && !sure[k]) return -Infinity;
    return sum(parts.map(({ values }) => (values[k] === Infinity ? 0 : values[k])));
  });
}

/** Parts in which classes that another class makes impossible have −∞. */
export function settled(parts, K) {
  return parts.map((part) => {
    if (!part.values.includes(Infinity)) return part;
    return { ...part, values: range(K, (k) => (part.values[k] === Infinity ? 0 : -Infinity)) };
  });
}

/** A value times its weight; a weight of zero gives zero, even for an infinite value. */
export const times = (value, weight) => (weight === 1 ? value : weight > 0 ? value * weight : 0);

/** The difference of two values; 0 if both are infinite, since the part does not separate the classes. */
export const difference = (a, b) => (a === b ? 0 : a - b);
