/**
 * The form of a row, made from the description of a model: a field for each column, with its usual range.
 */

import { columnText, element, levelText } from "./elements.js";
import { makeField, timeText } from "./fields.js";
import { counted, roundText } from "./texts.js";

const MANY_FIELDS = 12; // from here on there is a box to find columns
const NOT_A_NUMBER = "?"; // what a field of numbers reads from other texts

/** Whether columns have names, or only positions. */
export const areNamed = (columns) => columns.some((column, i) => column.name !== String(i));

/**
 * A form in an element.
 *
 * `changed(name)` is called after each change of a cell, with the name of its column, or null for all; `focused(name)`
 * when a field gets the focus.
 */
export function makeForm(root, prefix, columns, { changed, focused }) {
  const named = areNamed(columns);
  const fields = columns.map((column, i) => {
    const title = columnText(column.name, named);
    const made = makeCell(column, title, `${prefix}-${i}`, () => {
      markOutside(made);
      changed(column.name);
    });
    made.place.dataset.column = column.name;
    made.place.addEventListener("focusin", () => focused(column.name));
    return made;
  });
  const byName = new Map(fields.map((each) => [each.column.name, each]));
  const list = root.querySelector("[data-fields]");
  list.append(...fields.map((each) => each.place));
  const finder = root.querySelector("[data-finder]");
  finder.hidden = columns.length < MANY_FIELDS;
  root.querySelector("[data-find]").addEventListener("input", (event) => find(event.target.value));

  function find(text) {
    const wanted = text.trim().toLowerCase();
    let shown = 0;
    for (const each of fields) {
      each.place.hidden = wanted !== "" && !each.title.toLowerCase().includes(wanted);
      shown += each.place.hidden ? 0 : 1;
    }
    root.querySelector("[data-found]").textContent =
      shown < fields.length ? `${counted(shown, "column")} of ${fields.length}` : "";
  }

  /** Set the cells of the columns that an object has, or of all columns by a function. */
  function setAll(cellOf) {
    for (const each of fields) {
      each.set(cellOf(each.column));
      markOutside(each);
    }
    changed(null);
  }

  return {
    titleOf: (name) => byName.get(name)?.title,
    columnOf: (name) => byName.get(name)?.column,
    row: () => Object.fromEntries(fields.map((each) => [each.column.name, each.read()])),
    problem: () => problemOf(fields),
    setTypical: () => setAll((column) => startOf(column)),
    setMissing: () => setAll((column) => (column.missing ? null : startOf(column))),
    setRow: (row) => setAll((column) => cellOf(column, row[column.name])),
    set(name, value) {
      const each = byName.get(name);
      each.set(value);
      markOutside(each);
      changed(name);
    },
    focus(name) {
      const each = byName.get(name);
      if (!each) return;
      each.place.hidden = false;
      each.place.scrollIntoView({ block: "center" });
      each.place.querySelector("input, select, textarea").focus({ preventScroll: true });
    },
    /** Put columns into an order of names; the others follow. */
    order(names) {
      const place = new Map(names.map((name, i) => [name, i]));
      const at = (each) => place.get(each.column.name) ?? names.length;
      list.append(...[...fields].sort((a, b) => at(a) - at(b)).map((each) => each.place));
    },
  };
}

/** The first sentence about a cell that no server needs to see. */
function problemOf(fields) {
  const bad = fields.find((each) => isNumber(each.column) && each.read() === NOT_A_NUMBER);
  return bad ? `“${bad.title}” must be a number.` : null;
}

const isNumber = (column) => ["number", "count", "duration"].includes(column.kind);

/** The value that a field has at first. */
function startOf(column) {
  if (column.kind === "text") return "";
  return column.start ?? (column.missing ? null : (column.levels?.[0] ?? column.low ?? 0));
}

/** The cell of a field for a value of a file or of the server. */
function cellOf(column, value) {
  if (value === undefined || value === null || value === "") {
    if (column.levels?.includes("") && value === "") return "";
    return column.missing || column.kind !== "text" ? null : "";
  }
  if (column.kind === "time") {
    if (typeof value === "number") return value;
    const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(value) || !value.includes(":");
    return Date.parse(zoned ? value : `${value.replace(" ", "T")}Z`) / 1000;
  }
  return isNumber(column) ? Number(value) : value;
}

// ---------------------------------------------------------------------- fields

function makeCell(column, title, id, changed) {
  const field = {
    ...column,
    column: column.name,
    title,
    kind: column.kind === "duration" ? "number" : column.kind,
    may_be_missing: column.missing,
    start: startOf(column),
    slider: true,
    unseen: unseenLevel(column.levels),
  };
  if (column.levels && column.n_levels > column.levels.length) return manyLevels(field, column, id, changed);
  const made = makeField(field, column, id, changed);
  const cell = { ...made, column, title };
  if (column.levels) cell.set = (value) => made.set(placeOf(column, value));
  const slider = made.place.querySelector("input[type=range]");
  if (slider) {
    const box = element("div", { class: "slide" });
    slider.replaceWith(box);
    box.append(slider, rangeText(column));
  }
  return cell;
}

/** The position of a level, "unseen" for another one, and null for a missing cell. */
function placeOf(column, value) {
  if (value === null || value === undefined) return null;
  let at = column.levels.indexOf(value);
  if (at < 0) at = column.levels.findIndex((level) => sameLevel(level, value));
  return at < 0 ? "unseen" : at;
}

/** Whether a text of a file is a level: True, true and 1 are one value of a yes/no column. */
function sameLevel(level, value) {
  const text = String(value).toLowerCase();
  if (typeof level === "boolean") return (level ? ["true", "1", "yes"] : ["false", "0", "no"]).includes(text);
  if (typeof level === "number" && text !== "" && Number(value) === level) return true;
  return levelText(level).toLowerCase() === text;
}

/** A cell that is no level of a column. */
function unseenLevel(levels) {
  if (!levels?.length) return "(another level)";
  if (levels.every((each) => typeof each === "number")) return Math.max(...levels.map(Math.abs)) + 1;
  let text = "(another level)";
  while (levels.includes(text)) text += "…";
  return text;
}

/** A text field with proposals, for a column with more levels than the description holds. */
function manyLevels(field, column, id, changed) {
  const options = element("datalist", { id: `levels-${id}` });
  options.append(...column.levels.map((level) => element("option", { value: levelText(level) })));
  const input = element("input", { id: `field-${id}`, list: options.id, autocomplete: "off" });
  if (column.missing) input.placeholder = "missing";
  input.addEventListener("input", changed);
  const label = element("label", { for: input.id }, element("bdi", {}, field.title));
  const note = element("div", { class: "range" }, element("span", {}, counted(column.n_levels, "level")));
  const place = element("div", { class: "field" }, label, element("div", { class: "inputs" }, input, options), note);
  const known = () => column.levels[placeOf(column, input.value)];
  const read = () => (input.value === "" ? null : (known() ?? input.value));
  const set = (value) => {
    const level = column.levels[placeOf(column, value)];
    input.value = value === null || value === undefined ? "" : level === undefined ? String(value) : levelText(level);
  };
  return { place, read, set, column, title: field.title };
}

/** The ends of the usual range, below the slider. */
function rangeText(column) {
  const text = (value) => (column.kind === "time" ? timeText(value).slice(0, 10) : roundText(value));
  const note = element("span", { class: "outside", hidden: true }, "outside the usual range");
  const [low, high] = [column.low, column.high].map((each) => element("span", {}, text(each)));
  return element("div", { class: "range" }, low, note, high);
}

/** Say that a number is outside the usual range. */
function markOutside({ place, column, read }) {
  const note = place.querySelector(".outside");
  if (!note) return;
  const cell = read();
  const value = column.kind === "time" && cell !== null ? Date.parse(`${cell}Z`) / 1000 : cell;
  const step = 1e-9 * (Math.abs(column.high) + Math.abs(column.low));
  note.hidden = value === null || !(value < column.low - step || value > column.high + step);
}
