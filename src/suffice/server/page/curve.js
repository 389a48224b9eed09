/**
 * The posterior over the values of one column, as lines of an SVG picture or as one bar for each level.
 */

import { columnText, element, levelText, percentText, ranked } from "./elements.js";
import { stackedBar } from "./bar_list.js";
import { timeText } from "./fields.js";
import { labelText, namedLabel, numberText, roundText, shortText } from "./texts.js";

const POINTS = 61;
const CELLS = 20_000; // of a request
const MOST_LEVELS = 12; // bars
const MOST_LINES = 10;
const MARGIN = { left: 40, right: 10, top: 10, bottom: 24 };
const SVG = "http://www.w3.org/2000/svg";

/** Cells of a column to compute a curve at, and where they are; null for a column that has none. */
export function curvePoints(column, cell, n_columns = 1) {
  if (column.levels) {
    const levels = column.levels.slice(0, MOST_LEVELS);
    if (cell !== null && column.levels.includes(cell) && !levels.includes(cell)) levels[MOST_LEVELS - 1] = cell;
    return { levels, cells: levels };
  }
  if (column.kind === "text" || column.low === null || !(column.high > column.low)) return null;
  const at = placeOf(column, cell);
  const low = at === null ? column.low : Math.min(column.low, at);
  const high = at === null ? column.high : Math.max(column.high, at);
  const n = Math.min(POINTS, Math.max(Math.floor(CELLS / n_columns), 13));
  let places = Array.from({ length: n }, (_, i) => low + ((high - low) * i) / (n - 1));
  if (column.kind === "count") places = [...new Set(places.map(Math.round))].filter((each) => each >= 0);
  return { low, high, places, cells: column.kind === "time" ? places.map(timeText) : places };
}

/** A cell as a number. */
function placeOf(column, cell) {
  if (cell === null) return null;
  const value = column.kind === "time" ? Date.parse(`${cell}Z`) / 1000 : Number(cell);
  return Number.isFinite(value) ? value : null;
}

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * A picture of a curve in an element; `pick(cell)` is called while a person drags in it.
 *
 * Returns functions that show a curve, `{column, points, probabilities}`, and that mark the value of the form.
 */
export function makeCurve(root, classes, colors, pick) {
  let shown = null;
  let cell = null;
  let drawn = 0; // width of the picture
  let height = 0;

  function show(next) {
    shown = next;
    draw();
  }

  function mark(next) {
    cell = next;
    if (!shown) return;
    if (shown.points.levels) markLevel();
    else markPlace();
  }

  function draw() {
    root.replaceChildren();
    if (!shown) return;
    root.append(shown.points.levels ? levels() : lines());
    mark(cell);
  }

  // ---------------------------------------------------------------------- lines

  const x = (value) => {
    const { low, high } = shown.points;
    return MARGIN.left + ((value - low) / (high - low)) * (drawn - MARGIN.left - MARGIN.right);
  };
  const y = (p) => MARGIN.top + (1 - p) * (height - MARGIN.top - MARGIN.bottom);

  function lines() {
    drawn = Math.max(root.clientWidth, 240);
    height = Math.min(Math.max(Math.round(0.42 * drawn), 160), 280);
    const { column, points, probabilities } = shown;
    const picture = shape("svg", { viewBox: `0 0 ${drawn} ${height}`, class: "curve", role: "img" });
    const name = columnText(column.name, true).slice(0, 100);
    picture.append(shape("title", {}, `Probability of each class as ${name} changes`));
    for (const p of [0, 0.5, 1]) {
      picture.append(shape("line", { class: "grid", x1: MARGIN.left, x2: drawn - MARGIN.right, y1: y(p), y2: y(p) }));
      picture.append(shape("text", { class: "small end", x: MARGIN.left - 6, y: y(p) + 4 }, `${100 * p} %`));
    }
    const text = (value) => (column.kind === "time" ? timeText(value).slice(0, 10) : roundText(value));
    picture.append(shape("text", { class: "small", x: MARGIN.left, y: height - 6 }, text(points.low)));
    picture.append(shape("text", { class: "small end", x: drawn - MARGIN.right, y: height - 6 }, text(points.high)));
    const order = likeliest(probabilities);
    for (const k of order) {
      const path = points.places.map((value, i) => `${x(value).toFixed(1)} ${y(probabilities[i][k]).toFixed(1)}`);
      picture.append(shape("path", { class: `line c${colorOf(k, order)}`, d: `M${path.join("L")}` }));
    }
    picture.append(...lineNames(probabilities, order));
    picture.append(shape("line", { class: "now", y1: MARGIN.top, y2: height - MARGIN.bottom }));
    picture.append(shape("text", { class: "now-text mid", y: height - 6 }));
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      drag(event, picture);
    });
    picture.addEventListener("pointermove", (event) => event.buttons && drag(event, picture));
    return picture;
  }

  /** The names of the classes, each where its line is highest, unless another name is there. */
  function lineNames(probabilities, order) {
    const placed = [];
    const names = [];
    for (const k of [...order].reverse()) {
      const line = probabilities.map((each) => each[k]);
      const most = Math.max(...line);
      const top = line.map((_, i) => i).filter((i) => line[i] >= most - 0.01);
      const text = shortText(labelText(classes[k]), 16);
      const half = 3.5 * text.length;
      const middle = x(shown.points.places[top[top.length >> 1]]);
      const at = Math.min(Math.max(middle, MARGIN.left + half), drawn - MARGIN.right - half);
      const high = y(most) < MARGIN.top + 20 ? y(most) + 15 : y(most) - 6;
      const touches = (each) => Math.abs(each.high - high) < 14 && Math.abs(each.at - at) < half + each.half;
      if (most < 0.1 || placed.some(touches)) continue;
      placed.push({ at, high, half });
      names.push(shape("text", { class: `mid line-name c${colorOf(k, order)}`, x: at, y: high }, text));
    }
    return names;
  }

  /** The colour of a line: of its class, or of many classes, one for each line that is shown. */
  const colorOf = (k, order) => (classes.length > MOST_LINES ? order.length - 1 - order.indexOf(k) : colors(k));

  /** The classes with lines: all of a few, or those that are most probable somewhere. */
  function likeliest(probabilities) {
    const most = classes.map((_, k) => Math.max(...probabilities.map((each) => each[k])));
    const order = classes.map((_, k) => k).sort((a, b) => most[b] - most[a]);
    return order.slice(0, MOST_LINES).reverse();
  }

  function drag(event, picture) {
    const { low, high } = shown.points;
    const box = picture.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * drawn;
    const share = (place - MARGIN.left) / (drawn - MARGIN.left - MARGIN.right);
    const value = low + Math.min(Math.max(share, 0), 1) * (high - low);
    const { kind } = shown.column;
    if (kind === "time") pick(shown.column, value);
    else pick(shown.column, kind === "count" ? Math.round(value) : Number(value.toPrecision(4)));
  }

  function markPlace() {
    const at = placeOf(shown.column, cell);
    const [line, text] = [root.querySelector(".now"), root.querySelector(".now-text")];
    const inside = at !== null && at >= shown.points.low && at <= shown.points.high;
    for (const each of [line, text]) each.toggleAttribute("hidden", !inside);
    if (!inside) return;
    for (const end of ["x1", "x2"]) line.setAttribute(end, x(at));
    text.setAttribute("x", Math.min(Math.max(x(at), MARGIN.left + 70), drawn - 80));
    text.textContent = shown.column.kind === "time" ? timeText(at).slice(0, 10) : numberText(at);
  }

  // ---------------------------------------------------------------------- levels

  function levels() {
    const { column, points, probabilities } = shown;
    const list = element("ul", { class: "levels" });
    points.levels.forEach((level, i) => {
      const name = element("bdi", {}, levelText(level));
      const best = ranked(probabilities[i])[0];
      const percent = ` ${percentText(probabilities[i][best])}`;
      const answer = element("span", { class: "soft" }, namedLabel(classes[best]), percent);
      const button = element("button", { type: "button" }, name, stackedBar(probabilities[i], colors), answer);
      button.addEventListener("click", () => pick(column, level));
      list.append(element("li", {}, button));
    });
    const hidden = column.n_levels - points.levels.length;
    if (hidden > 0) list.append(element("li", { class: "soft small-text" }, `${numberText(hidden)} more levels`));
    return list;
  }

  function markLevel() {
    root.querySelectorAll(".levels button").forEach((button, i) => {
      button.setAttribute("aria-pressed", String(shown.points.levels[i] === cell));
    });
  }

  new ResizeObserver(() => {
    if (shown?.points.places && Math.abs(root.clientWidth - drawn) > 4 && root.clientWidth > 0) draw();
  }).observe(root);
  /** Whether a value is within the curve that is shown. */
  function covers(value) {
    if (!shown || value === null) return true;
    if (shown.points.levels) return shown.points.levels.includes(value) || !shown.column.levels.includes(value);
    const at = placeOf(shown.column, value);
    return at === null || (at >= shown.points.low && at <= shown.points.high);
  }

  return { show, mark, covers };
}
