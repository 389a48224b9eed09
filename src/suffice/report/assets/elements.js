/**
 * Elements of a page, and names and numbers as people read them.
 */

/** An element with attributes, a text and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A name in its own writing direction. */
export const named = (text) => element("bdi", {}, text);

/** The name of a class or a part as text. */
export const nameText = (name) => (name === "" ? "(empty)" : name);

/** The name of a column as text; a column of an array has its position as its name. */
export const columnText = (name, named) => (named ? nameText(name) : `column ${name}`);

/** A probability as people read it. */
export function percentText(p) {
  if (!Number.isFinite(p)) return "–";
  const percent = 100 * p;
  if (percent >= 0.95 && percent <= 99.5) return `${percent.toFixed(1)} %`;
  if (p === 0 || p === 1) return `${percent} %`;
  if (percent > 99.9999) return "> 99.9999 %";
  if (percent > 99.5) return `${Number(percent.toFixed(1 - Math.floor(Math.log10(100 - percent))))} %`;
  return percent < 0.0001 ? "< 0.0001 %" : `${Number(percent.toPrecision(2))} %`;
}

/** The text of a level: True and False as in Python, and the text of a value of another type. */
export function levelText(level) {
  if (level === "") return "(empty)";
  if (typeof level === "boolean") return level ? "True" : "False";
  return typeof level === "object" ? level.text : withBlanks(String(level));
}

const BLANKS = { "\n": "↵", "\t": "⇥" };

/** A text in quotes if a page would not show all of its blanks; they do not collapse then. */
function withBlanks(text) {
  if (!/^\s|\s$|\s\s/.test(text)) return text;
  return `“${text.replace(/\s/g, (blank) => BLANKS[blank] ?? "\u00a0")}”`;
}

/** A number with its sign, to two decimals; zero has none. */
export function signed(value) {
  const text = Number.isFinite(value) ? Math.abs(value).toFixed(2) : "∞";
  return `${text === "0.00" ? "" : value > 0 ? "+" : "−"}${text}`;
}

/** Positions of the classes, the most probable first. */
export const ranked = (posterior) => posterior.map((_, k) => k).sort((a, b) => posterior[b] - posterior[a] || a - b);
