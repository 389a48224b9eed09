/**
 * Numbers and values as people read them.
 */

import { element, levelText, named } from "./elements.js";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const digits = (n) => new Intl.NumberFormat("en", { maximumSignificantDigits: n });
const [three, four] = [digits(3), digits(4)];

/** A number with four significant digits, or all digits of a large whole one. */
export function numberText(value, format = four) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2).replace("-", "−");
  return (size >= 1e4 ? whole : format).format(value).replace("-", "−");
}

/** An end of a range, with three significant digits. */
export const roundText = (value) => numberText(value, three);

/** A number and a noun. */
export const counted = (n, one, many = `${one}s`) => `${numberText(n)} ${n === 1 ? one : many}`;

/** The label of a class. */
export const labelText = (label) => (label === null ? "(none)" : levelText(label));

/** A text of at most some characters. */
export function shortText(text, most = 60) {
  const characters = [...String(text).slice(0, 4 * most)];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : String(text);
}

/** The label of a class in its own writing direction. */
export const namedLabel = (label, most = 40) => named(shortText(labelText(label), most));

/** An option of a list for each class. */
export const classOptions = (classes) =>
  classes.map((label, k) => element("option", { value: k }, shortText(labelText(label))));

/** Facts `[name, value, note]` as the terms of a description list. */
export const factTerms = (facts) =>
  facts.map(([name, value, note]) => {
    const description = element("dd", {}, value, element("small", {}, note));
    return element("div", {}, element("dt", {}, name), description);
  });

/** How many things are not shown, as a sentence; nothing if all are. */
export const hiddenText = (hidden, what) => (hidden > 0 ? `${numberText(hidden)} ${what} are not shown.` : "");

/** Bytes in words. */
export function sizeText(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  let [value, at] = [bytes, 0];
  while (value >= 1000 && at < 3) [value, at] = [value / 1000, at + 1];
  return `${at && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}
