/**
 * The table of scored rows: sorted by any column, filtered by class and text, in pages.
 */

import { stackedBar } from "./bar_list.js";
import { element, named, percentText } from "./elements.js";
import { settled } from "./newest.js";
import { classOptions, numberText, shortText } from "./texts.js";

const PAGE = 50; // rows
const MOST_KEPT = 40; // columns of the file that are shown
const MOST_CLASSES = 10; // columns of probabilities
const NUMBERS = ["p", "given"]; // kinds of columns
const PAUSE = 150; // milliseconds after a letter of the filter

const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

/** Make the table in the element of a view; `open(row)` shows a row in the form. */
export function makeTable(root, model, open) {
  const { classes } = model.description;
  const at = (name) => root.querySelector(`[data-${name}]`);
  let found = null;
  let columns = []; // that are shown
  let shown = []; // positions of the rows that match, in their order
  let page = 0;
  let sort = { column: null, falling: false };

  at("filter-class").append(element("option", { value: "" }, "all classes"), ...classOptions(classes));
  at("filter-class").addEventListener("change", choose);
  at("filter-text").addEventListener("input", settled(choose, PAUSE));
  at("filter-wrong").addEventListener("change", choose);
  at("before").addEventListener("click", () => turn(-1));
  at("after").addEventListener("click", () => turn(1));

  function show(next) {
    found = next;
    columns = shownColumns();
    sort = { column: null, falling: false };
    at("filter-class").value = at("filter-text").value = "";
    at("filter-wrong").checked = false;
    at("wrong-box").hidden = found.target === null;
    choose();
  }

  /** The rows that match the filters, sorted. */
  function choose() {
    const text = at("filter-text").value.trim().toLowerCase();
    const k = at("filter-class").value;
    const wrong = at("filter-wrong").checked;
    shown = found.rows.map((_, i) => i).filter((i) => {
      const row = found.rows[i];
      if (k !== "" && found.classOf(row) !== Number(k)) return false;
      if (wrong && found.isRight(row)) return false;
      return !text || row.some((cell, j) => (j < found.kept || j === found.label) && cell.toLowerCase().includes(text));
    });
    if (sort.column !== null) order();
    page = 0;
    draw();
  }

  function order() {
    const key = found.rows.map((row) => keyOf(row, sort.column));
    const numbers = shown.every((i) => key[i] === "" || Number.isFinite(Number(key[i])));
    const compare = numbers ? (a, b) => Number(a) - Number(b) : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    const turned = sort.falling ? -1 : 1;
    shown.sort((i, j) => {
      if ((key[i] === "") !== (key[j] === "")) return key[i] === "" ? 1 : -1; // missing cells last
      return turned * compare(key[i], key[j]) || i - j;
    });
  }

  /** The value of a row that a column is sorted by: a cell, or the probability of the predicted class. */
  function keyOf(row, column) {
    return column === "confidence" ? confidence(row) : row[column];
  }

  const probabilities = (row) => classes.map((_, k) => Number(row[found.first + k]));
  const confidence = (row) => String(Math.max(...probabilities(row)));

  function sortBy(column) {
    const falling = sort.column === column ? !sort.falling : column === "confidence" || column >= found.first;
    sort = { column, falling };
    choose();
    at("table").querySelector("[aria-sort] button")?.focus();
  }

  function turn(step) {
    page = Math.min(Math.max(page + step, 0), lastPage());
    draw();
    at("table-box").scrollTop = 0;
  }

  const lastPage = () => Math.max(Math.ceil(shown.length / PAGE) - 1, 0);

  // ---------------------------------------------------------------------- elements

  function draw() {
    const head = element("tr", {}, element("th", { scope: "col" }, "row"), ...columns.map(headCell));
    const body = element("tbody", {}, ...shown.slice(page * PAGE, (page + 1) * PAGE).map(rowOf));
    at("table").replaceChildren(element("thead", {}, head), body);
    const first = Math.min(page * PAGE + 1, shown.length);
    const last = Math.min((page + 1) * PAGE, shown.length);
    at("page-text").textContent = shown.length
      ? `${numberText(first)}–${numberText(last)} of ${numberText(shown.length)}`
      : "No row matches.";
    at("before").disabled = page === 0;
    at("after").disabled = page === lastPage();
    const hidden = Math.max(found.kept - MOST_KEPT, 0);
    at("columns-hidden").textContent = hidden ? `${hidden} more columns of the file are in the download.` : "";
  }

  /** Columns of the table: the prediction, its probability, columns of the file, and the other probabilities. */
  function shownColumns() {
    const { header, label, first, kept } = found;
    const kindOf = (j) => (found.rows.every((row) => isNumber(row[j]) || row[j] === "") ? "given" : "cell");
    const column = (key, kind, title = header[key]) => ({ key, kind, title });
    const own = header.slice(0, Math.min(kept, MOST_KEPT)).map((_, j) => column(j, kindOf(j)));
    const all = classes.length > MOST_CLASSES ? [] : classes.map((_, k) => column(first + k, "p"));
    return [column(label, "label", "predicted"), column("confidence", "confidence", "probability"), ...own, ...all];
  }

  function headCell({ key, title, kind }) {
    const sorted = sort.column === key;
    const sign = sorted ? (sort.falling ? "▼" : "▲") : "";
    const arrow = element("span", { class: "arrow", "aria-hidden": "true" }, sign);
    const button = element("button", { type: "button", "data-sort": key }, named(shortText(title, 40)), arrow);
    button.addEventListener("click", () => sortBy(key));
    const attributes = { scope: "col", "aria-sort": sorted ? (sort.falling ? "descending" : "ascending") : null };
    return element("th", { ...attributes, class: NUMBERS.includes(kind) ? "n" : "" }, button);
  }

  function rowOf(i) {
    const row = found.rows[i];
    const about = { type: "button", class: "link", title: "Open this row in the form" };
    const button = element("button", about, numberText(i + 1));
    const cells = () => found.header.slice(0, found.kept).map((name, j) => [name, row[j]]);
    button.addEventListener("click", () => open(Object.fromEntries(cells())));
    const wrong = found.target !== null && !found.isRight(row);
    const head = element("th", { scope: "row" }, button);
    return element("tr", { "data-row": i }, head, ...columns.map((each) => cellOf(row, each, wrong)));
  }

  function cellOf(row, { key, kind }, wrong) {
    if (kind === "confidence") {
      const all = probabilities(row);
      const text = element("span", {}, percentText(Math.max(...all)));
      return element("td", { class: "t confidence" }, text, stackedBar(all, model.color));
    }
    const text = row[key];
    if (kind === "p") return element("td", { "data-value": text }, percentText(Number(text)));
    const cell = element("td", { class: kind === "given" ? "" : "t" }, named(shortText(text, 80)));
    if (kind === "label") cell.classList.add("label", ...(wrong ? ["wrong"] : []));
    if (text === "") cell.classList.add("soft");
    return cell;
  }

  return { show };
}
