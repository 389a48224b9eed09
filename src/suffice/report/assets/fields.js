/**
 * Fields of a form: one for each column of a row, with a slider, levels to choose from, a time or a text.
 *
 * A field is made of `{column, title, kind, low, high, start, may_be_missing, unit}`, as `suffice.report.summary.Field`
 * has them; `column` is the key of its cell, and `title` is what people read. Without `low` there is no slider; times
 * have one if `slider` is true. `unseen` is the cell of another level.
 */

import { element, levelText, named } from "./elements.js";

const UNSEEN = "\u0000"; // the text of a level that no column has
const DAY_AND_TIME = 19; // characters of an ISO 8601 time to the second
const DAY = 86400;
const LONGEST_LABEL = 100; // characters of a name that is read aloud

/** A step of a slider: a round number, a hundredth or so of its range. */
export function sliderStep(low, high, kind) {
  if (kind === "count") return 1;
  const span = high - low;
  if (!(span > 0)) return "any";
  return 10 ** Math.floor(Math.log10(span / 50));
}

/** An ISO 8601 text of seconds since 1970, in UTC. */
export function timeText(seconds) {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, DAY_AND_TIME);
}

// Each function returns the elements of a field and how to read and set its cell.

function numberField(id, field, changed) {
  const input = element("input", { type: "number", id, step: "any", inputmode: "decimal" });
  if (field.may_be_missing) input.placeholder = "missing";
  const slider = makeSlider(field, (low, high) => sliderStep(low, high, field.kind));
  const set = (cell) => {
    input.value = cell === null ? "" : String(cell);
    if (cell !== null && slider) slider.value = String(cell);
  };
  input.addEventListener("input", () => {
    if (input.value !== "" && slider) slider.value = input.value;
    changed();
  });
  slider?.addEventListener("input", () => {
    input.value = String(Number(Number(slider.value).toPrecision(15)));
    changed();
  });
  const parts = [slider, input, ...clearButton(field, () => set(null), changed)].filter(Boolean);
  return { parts, read: () => readNumber(input), set };
}

/** A slider over the range of a column; null if the range is unknown. */
function makeSlider(field, stepOf) {
  if (field.low === null || field.low === undefined) return null;
  const low = Math.min(field.low, field.start);
  const high = Math.max(field.high, field.start);
  const label = `${field.title.slice(0, LONGEST_LABEL)}, slider`;
  return element("input", { type: "range", min: low, max: high, step: stepOf(low, high), "aria-label": label });
}

/** A number, null for an empty field, or the text of something else, which is a problem to report. */
function readNumber(input) {
  if (input.validity.badInput) return "?";
  return input.value === "" ? null : Number(input.value);
}

function timeField(id, field, changed) {
  const input = element("input", { type: "datetime-local", id, step: 1 });
  const slider = field.slider ? makeSlider(field, (low, high) => (high - low >= 4 * DAY ? DAY : 1)) : null;
  const set = (cell) => {
    input.value = cell === null ? "" : timeText(cell);
    if (cell !== null && slider) slider.value = String(cell);
  };
  input.addEventListener("input", () => {
    if (input.value !== "" && slider) slider.value = String(Date.parse(`${input.value}Z`) / 1000);
    changed();
  });
  slider?.addEventListener("input", () => {
    input.value = timeText(Number(slider.value));
    changed();
  });
  const read = () => (input.value === "" ? null : input.value);
  return { parts: [slider, input, ...clearButton(field, () => set(null), changed)].filter(Boolean), read, set };
}

function clearButton(field, clear, changed) {
  if (!field.may_be_missing) return [];
  const label = `Make ${field.title.slice(0, LONGEST_LABEL)} missing`;
  const button = element("button", { type: "button", class: "clear", "aria-label": label }, "×");
  button.addEventListener("click", () => {
    clear();
    changed();
  });
  return [button];
}

/** A choice of levels. Options hold the position of a level, or "missing" or "unseen". */
function levelsField(id, field, changed, levels, texts = levels.map(levelText)) {
  const select = element("select", { id });
  if (field.may_be_missing) select.append(element("option", { value: "missing" }, "(missing)"));
  texts.forEach((text, i) => select.append(element("option", { value: i }, text)));
  if (field.kind === "levels") select.append(element("option", { value: "unseen" }, "(another level)"));
  select.addEventListener("change", changed);
  const read = () => {
    if (select.value === "missing") return null;
    if (select.value === "unseen") return field.unseen ?? UNSEEN;
    return levels[Number(select.value)];
  };
  const set = (cell) => {
    select.value = cell === null ? "missing" : String(cell);
  };
  return { parts: [select], read, set };
}

function textField(id, field, changed) {
  const area = element("textarea", { id, rows: 6, placeholder: "Type or paste a text." });
  const box = element("input", { type: "checkbox", id: `${id}-missing` });
  area.addEventListener("input", changed);
  box.addEventListener("change", () => {
    area.disabled = box.checked;
    changed();
  });
  const set = (cell) => {
    box.checked = cell === null;
    area.disabled = box.checked;
    area.value = cell ?? "";
  };
  const missing = element("label", { for: box.id, class: "small-text" }, box, " missing");
  const parts = field.may_be_missing ? [element("div", {}, area, missing)] : [area];
  return { parts, read: () => (box.checked ? null : area.value), set };
}

/** A field of the form: its element, and functions that read and set its cell. */
export function makeField(field, column, i, changed) {
  const id = `field-${i}`;
  let made;
  if (field.kind === "text") made = textField(id, field, changed);
  else if (field.kind === "levels") made = levelsField(id, field, changed, column.levels ?? []);
  else if (field.kind === "yes_no") made = levelsField(id, field, changed, column.levels);
  else if (field.kind === "above") {
    made = levelsField(id, field, changed, [field.low, field.high], [`at most ${field.low}`, `above ${field.low}`]);
  } else if (field.kind === "time") made = timeField(id, field, changed);
  else made = numberField(id, field, changed);
  const unit = field.unit ? [element("span", { class: "soft unit" }, ` (${field.unit})`)] : [];
  const label = element("label", { for: id }, named(field.title), ...unit);
  const inputs = element("div", { class: "inputs" }, ...made.parts);
  const long = field.kind === "number" && [field.low, field.high, field.start].some((each) => Math.abs(each) > 1e6);
  const kind = field.kind === "text" ? "field wide" : long ? "field long" : "field";
  const place = element("div", { class: kind }, label, inputs);
  return { ...made, place, field };
}
