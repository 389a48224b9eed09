/**
 * The what-if form of a report: a field for each column, and the posterior and its parts as they change.
 *
 * The page holds `{fields, parameters}` as JSON; `scoring.js` computes posteriors from the parameters.
 */

import { explain, score } from "./scoring.js";

const MOST_CLASSES = 10; // bars of probabilities
const MOST_PARTS = 12; // bars of the log-odds
const UNSEEN = "\u0000"; // the text of a level that no column has
const DAY_AND_TIME = 19; // characters of an ISO 8601 time to the second

/** An element with attributes, a text and children. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A name in its own writing direction. */
const named = (text) => element("bdi", {}, text);

/** The name of a class or a part as text. */
const nameText = (name) => (name === "" ? "(empty)" : name);

/** The name of a column as text; a column of an array has its position as its name. */
const columnText = (name, named) => (named ? nameText(name) : `column ${name}`);

/** A probability as people read it. */
export function percentText(p) {
  if (!Number.isFinite(p)) return "–";
  const percent = 100 * p;
  if (percent >= 9.95 && percent <= 99.5) return `${percent.toFixed(1)} %`;
  if (p === 0 || p === 1) return `${percent} %`;
  if (percent > 99.5) return percent > 99.9999 ? "> 99.9999 %" : `${percent.toPrecision(6)} %`;
  return percent < 0.0001 ? "< 0.0001 %" : `${Number(percent.toPrecision(3))} %`;
}

/** The text of a level: True and False as in Python, and the text of a value of another type. */
function levelText(level) {
  if (level === "") return "(empty)";
  if (typeof level === "boolean") return level ? "True" : "False";
  return typeof level === "object" ? level.text : String(level);
}

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

// ---------------------------------------------------------------------- fields
//
// Each function returns the elements of a field and how to read and set its cell.

function numberField(id, field, changed) {
  const input = element("input", { type: "number", id, step: "any", inputmode: "decimal" });
  if (field.may_be_missing) input.placeholder = "missing";
  const low = Math.min(field.low, field.start);
  const high = Math.max(field.high, field.start);
  const step = sliderStep(low, high, field.kind);
  const slider = element("input", { type: "range", min: low, max: high, step, "aria-label": `${field.column}, slider` });
  const set = (cell) => {
    input.value = cell === null ? "" : String(cell);
    if (cell !== null) slider.value = String(cell);
  };
  input.addEventListener("input", () => {
    if (input.value !== "") slider.value = input.value;
    changed();
  });
  slider.addEventListener("input", () => {
    input.value = String(Number(Number(slider.value).toPrecision(15)));
    changed();
  });
  return { parts: [slider, input, ...clearButton(field, () => set(null), changed)], read: () => readNumber(input), set };
}

/** A number, null for an empty field, or the text of something else, which is a problem to report. */
function readNumber(input) {
  if (input.validity.badInput) return "?";
  return input.value === "" ? null : Number(input.value);
}

function timeField(id, field, changed) {
  const input = element("input", { type: "datetime-local", id, step: 1 });
  const set = (cell) => {
    input.value = cell === null ? "" : timeText(cell);
  };
  input.addEventListener("input", changed);
  const read = () => (input.value === "" ? null : input.value);
  return { parts: [input, ...clearButton(field, () => set(null), changed)], read, set };
}

function clearButton(field, clear, changed) {
  if (!field.may_be_missing) return [];
  const button = element("button", { type: "button", class: "clear", "aria-label": `Make ${field.column} missing` }, "×");
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
    if (select.value === "unseen") return UNSEEN;
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
function makeField(field, column, i, changed) {
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

// ---------------------------------------------------------------------- results

function bar(label, text, share, color, attributes = {}) {
  const track = element("div", { class: "track", "aria-hidden": "true" });
  const fill = element("div", { class: `bar c${color}` });
  fill.style.width = `${(100 * share).toFixed(2)}%`;
  track.append(fill);
  return element("li", attributes, element("div", { class: "top" }, named(label), element("span", {}, text)), track);
}

/** A bar that begins in the middle: to the right for evidence in favour, to the left for evidence against. */
function partBar(name, value, most, colors) {
  const share = Number.isFinite(value) ? Math.abs(value) / most : 1;
  const item = bar(name, signed(value), Math.min(share, 1) / 2, value >= 0 ? colors[0] : colors[1]);
  item.querySelector(".bar").style.left = value >= 0 ? "50%" : `${50 - 50 * Math.min(share, 1)}%`;
  return item;
}

/** A number with its sign, to two decimals; zero has none. */
function signed(value) {
  const text = Number.isFinite(value) ? Math.abs(value).toFixed(2) : "∞";
  return `${text === "0.00" ? "" : value > 0 ? "+" : "−"}${text}`;
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

/** What the parts add up to. */
export function measureOf(calibration) {
  if (!calibration) return "log-odds";
  return calibration.by_column ? "weighted log-odds" : "log-odds before calibration";
}

/** Run the form in the elements of a page. */
export function run(root, data) {
  const { fields, parameters, colors } = data;
  const { classes, columns } = parameters;
  const at = (name) => root.querySelector(`[data-${name}]`);
  const place = new Map(columns.map((column, i) => [column.name, i]));
  const chosen = { label: at("label"), against: at("against") };
  const color = (k) => colors[k] ?? "none";
  const isColumn = new Set(columns.map((column) => column.name));
  const measure = measureOf(parameters.calibration);
  let last = null;

  const titled = fields.map((field) => ({ ...field, title: columnText(field.column, data.named) }));
  const made = titled.map((field, i) => makeField(field, columns[place.get(field.column)], i, () => update()));
  root.querySelector("fieldset").append(...made.map((each) => each.place));
  for (const select of Object.values(chosen)) {
    select.append(element("option", { value: "auto" }, select === chosen.label ? "the most probable class" : "the next class"));
    classes.forEach((label, k) => select.append(element("option", { value: k }, nameText(label))));
    select.addEventListener("change", () => showParts());
  }
  at("explanation").hidden = classes.length < 2;
  at("typical").addEventListener("click", () => {
    made.forEach((each) => each.set(each.field.start));
    update();
  });
  at("missing").addEventListener("click", () => {
    made.forEach((each) => each.set(each.field.may_be_missing ? null : each.field.start));
    update();
  });

  function update() {
    const row = columns.map(() => null);
    made.forEach((each) => (row[place.get(each.field.column)] = each.read()));
    last = score(parameters, row);
    const error = at("error");
    error.textContent = last.problem ?? "";
    error.hidden = !last.problem;
    root.toggleAttribute("data-has-problem", Boolean(last.problem));
    showPosterior();
    showParts();
  }

  function showPosterior() {
    const list = at("posterior");
    list.replaceChildren();
    at("status").textContent = "";
    if (!last.posterior) return;
    const order = ranked(last.posterior);
    const shown = classes.length > MOST_CLASSES ? order.slice(0, MOST_CLASSES) : classes.map((_, k) => k);
    for (const k of shown) {
      const p = last.posterior[k];
      list.append(bar(nameText(classes[k]), percentText(p), p, color(k), { "data-class": k, "data-p": p }));
    }
    if (shown.length < classes.length) {
      const rest = order.slice(MOST_CLASSES).reduce((sum, k) => sum + last.posterior[k], 0);
      list.append(bar(`${classes.length - shown.length} other classes`, percentText(rest), rest, "none"));
    }
    const notes = [`Most probable: ${nameText(classes[order[0]])}, ${percentText(last.posterior[order[0]])}.`];
    if (last.ignored.length) {
      notes.push(`Unknown values count as missing: ${last.ignored.map((i) => columnText(columns[i].name, data.named)).join(", ")}.`);
    }
    if (last.unknown.length) notes.push(`Words that the model does not know: ${last.unknown.slice(0, 8).join(", ")}.`);
    at("status").textContent = notes.join(" ");
  }

  function showParts() {
    const list = at("parts");
    list.replaceChildren();
    if (!last?.posterior || classes.length < 2) return;
    const [first, second] = compared(last.posterior);
    if (first === second) return;
    const shown = strongestParts(byName(explain(last, first, second)).filter((each) => each.value !== 0));
    const finite = shown.map((each) => Math.abs(each.value)).filter(Number.isFinite);
    const most = Math.max(...finite, 1);
    const total = last.scores[first] - last.scores[second];
    const title = `${measure} of ${nameText(classes[first])} against ${nameText(classes[second])}`;
    const sides = [color(first), color(second)];
    list.append(partBar(title, total, Math.max(most, Math.abs(total)), sides));
    const odds = Math.log(last.posterior[first]) - Math.log(last.posterior[second]);
    if (measure !== "log-odds" && Number.isFinite(odds) && signed(odds) !== signed(total)) {
      list.append(partBar("log-odds of the probabilities above", odds, Math.max(most, Math.abs(odds)), sides));
    }
    for (const each of shown) {
      const text = isColumn.has(each.name) ? columnText(each.name, data.named) : nameText(each.name);
      list.append(partBar(text, each.value, most, sides));
    }
  }

  /** The classes to compare: those that were chosen, or the most probable ones. */
  function compared(posterior) {
    const order = ranked(posterior);
    const first = chosen.label.value === "auto" ? null : Number(chosen.label.value);
    const second = chosen.against.value === "auto" ? null : Number(chosen.against.value);
    const left = first ?? order.find((k) => k !== second);
    return [left, second ?? order.find((k) => k !== left)];
  }

  made.forEach((each) => each.set(each.field.start));
  root.hidden = false;
  update();
}

/** Positions of the classes, the most probable first. */
const ranked = (posterior) => posterior.map((_, k) => k).sort((a, b) => posterior[b] - posterior[a] || a - b);
