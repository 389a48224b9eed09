/**
 * Bars of probabilities and of parts of log-odds.
 */

import { element, named, signed } from "./elements.js";

const MOST_PARTS = 12; // bars of the log-odds

export function bar(label, text, share, color, attributes = {}) {
  const track = element("div", { class: "track", "aria-hidden": "true" });
  const fill = element("div", { class: `bar c${color}` });
  fill.style.width = `${(100 * share).toFixed(2)}%`;
  track.append(fill);
  return element("li", attributes, element("div", { class: "top" }, named(label), element("span", {}, text)), track);
}

/** A bar that begins in the middle: to the right for evidence in favour, to the left for evidence against. */
export function partBar(name, value, most, colors) {
  const share = Number.isFinite(value) ? Math.abs(value) / most : 1;
  const item = bar(name, signed(value), Math.min(share, 1) / 2, value >= 0 ? colors[0] : colors[1]);
  item.querySelector(".bar").style.left = value >= 0 ? "50%" : `${50 - 50 * Math.min(share, 1)}%`;
  return item;
}

/** One part for each name: those of all members of an ensemble together. */
export function byName(parts) {
  const sums = new Map();
  for (const { name, columns, value } of parts) {
    const key = JSON.stringify([name, columns]); // a word may have the name of a column
    sums.set(key, { name, value: (sums.get(key)?.value ?? 0) + value });
  }
  return [...sums.values()];
}

/** The strongest parts first, and the sum of the others. */
export function strongestParts(parts, most = MOST_PARTS) {
  const order = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const rest = order.slice(most);
  if (!rest.length) return order;
  const value = rest.reduce((sum, each) => sum + each.value, 0);
  return [...order.slice(0, most), { name: `${rest.length} other parts`, value }];
}
