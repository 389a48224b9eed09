/**
 * One row: the form, the posterior and the parts of the log-odds as it changes, and what-if over one column.
 */

import { barList, stackedBar } from "./bar_list.js";
import { strongestParts } from "./bars.js";
import { curvePoints, makeCurve } from "./curve.js";
import { element, named, percentText, ranked, signed } from "./elements.js";
import { areNamed, makeForm } from "./form.js";
import { newest, settled } from "./newest.js";
import { withFewDigits } from "./ranges.js";
import { Gone, askJson } from "./server.js";
import { teaching } from "./teach.js";
import { classOptions, labelText, namedLabel, shortText } from "./texts.js";

const MOST_CLASSES = 10; // bars of probabilities
const FEW_COLUMNS = 10; // leave room for the curve and for lessons below the form
const QUIET = 600; // milliseconds without a change, before a screen reader is told

/** A label as addresses have it. */
const nameOfClass = (label) => (typeof label === "boolean" ? labelText(label) : String(label));

/** The name of a part that is no column. */
const partText = (name) => (name === "(prior)" ? "class shares (prior)" : shortText(name));

/** Make the view of a model in an element: functions to show it and to open a row in it. */
export function predictView(root, model) {
  const { columns, classes, density } = model.description;
  const at = (name) => root.querySelector(`[data-${name}]`);
  const form = makeForm(root, model.name, columns, { changed, focused: (name) => follow(name, true) });
  const curve = makeCurve(at("curve"), classes, model.color, (column, value) => form.set(column.name, value));
  const bars = { posterior: barList(at("posterior")), parts: barList(at("parts")) };
  const chosen = { label: at("label"), against: at("against") };
  let followed = columns.find((column) => curvePoints(column, null))?.name ?? null; // the column of the curve
  let chosenByPerson = false; // or else it follows the strongest part
  let last = null; // the newest answer
  let curveIsOld = true;

  const say = settled((text) => (at("status").textContent = text), QUIET);
  const update = newest(answer);
  const updateCurve = newest(drawCurve);
  const teach = teaching(root, model, { row: form.row, problem: form.problem, update: updateAll });

  function changed(name) {
    if (name !== null) follow(name, true);
    if (name === null || name !== followed || !curve.covers(form.row()[name])) curveIsOld = true;
    teach.forget();
    updateAll(false);
  }

  function updateAll(curveToo = true) {
    curveIsOld ||= curveToo;
    root.setAttribute("aria-busy", "true");
    update();
    updateCurve();
  }

  /** Draw the curve of a column from now on. */
  function follow(name, byPerson) {
    const column = form.columnOf(name);
    if (!column || !curvePoints(column, null)) return;
    chosenByPerson ||= byPerson;
    if (name === followed) return;
    followed = name;
    curveIsOld = true;
    updateCurve();
  }

  // ---------------------------------------------------------------------- one row

  async function answer(isNewest) {
    const row = form.row();
    const problem = form.problem();
    if (problem) return refused(problem);
    try {
      const [found, parts] = await Promise.all([model.predict([row]), explained(row)]);
      if (found[0].label === null) return refused("No class can explain this row: its density is zero in every class.");
      last = { row, probabilities: found[0].probabilities, label: found[0].label, parts };
      refused(null);
      showPosterior();
      showParts();
      if (!chosenByPerson) followStrongest();
    } catch (error) {
      refused(error instanceof Gone ? null : error.message.replace(/^Row 0 /, "This row "));
    }
    if (isNewest()) root.setAttribute("aria-busy", "false");
  }

  function followStrongest() {
    const parts = [...(last.parts?.parts ?? [])].sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
    const strongest = parts.find(({ column }) => form.columnOf(column) && curvePoints(form.columnOf(column), null));
    if (strongest) follow(strongest.column, false);
  }

  function refused(sentence) {
    at("error").textContent = sentence ?? "";
    at("error").hidden = !sentence;
    at("answer").toggleAttribute("data-old", Boolean(sentence));
    if (sentence) root.setAttribute("aria-busy", "false");
  }

  /** The parts of the log-odds of the classes that are compared; null if the model has none. */
  async function explained(row) {
    if (!model.description.explains) return null;
    const asked = new URLSearchParams();
    for (const [name, select] of [["class", chosen.label], ["against", chosen.against]]) {
      if (select.value !== "auto") asked.set(name, nameOfClass(classes[Number(select.value)]));
    }
    if (asked.get("class") !== null && asked.get("class") === asked.get("against")) return null;
    const text = asked.toString();
    const found = await askJson(`${model.address("explain")}${text ? `?${text}` : ""}`, { rows: [row] });
    return found.explanations[0];
  }

  function showPosterior() {
    const { probabilities } = last;
    const order = ranked(probabilities);
    const best = order[0];
    at("best").replaceChildren(namedLabel(classes[best], 200));
    at("best-p").textContent = percentText(probabilities[best]);
    at("mini-text").replaceChildren(namedLabel(classes[best]), ` ${percentText(probabilities[best])}`);
    at("mini-bar").replaceChildren(stackedBar(probabilities, model.color));
    const shown = classes.length > MOST_CLASSES ? order.slice(0, MOST_CLASSES) : classes.map((_, k) => k);
    const entries = shown.map((k) => ({
      key: k,
      label: labelText(classes[k]),
      text: percentText(probabilities[k]),
      from: 0,
      to: probabilities[k],
      color: model.color(k),
      data: { class: k, p: probabilities[k] },
    }));
    if (shown.length < classes.length) {
      const rest = order.slice(MOST_CLASSES).reduce((sum, k) => sum + probabilities[k], 0);
      const label = `${classes.length - shown.length} other classes`;
      entries.push({ key: "rest", label, text: percentText(rest), from: 0, to: rest, color: "none", data: {} });
    }
    bars.posterior(entries);
    curve.mark(last.row[followed] ?? null);
    say(`Most probable: ${shortText(labelText(classes[best]))}, ${percentText(probabilities[best])}.`);
  }

  function showParts() {
    const { parts } = last;
    at("same").hidden = !(model.description.explains && !parts);
    if (!parts) return bars.parts([]);
    const positions = [parts.label, parts.against].map((label) => classes.indexOf(label));
    const sides = positions.map(model.color);
    const all = parts.parts.map(({ column, word, part }) => {
      return { name: column ?? word, isWord: column === undefined, value: part };
    });
    const shown = strongestParts(all.filter((each) => each.value !== 0));
    const total = parts.log_odds;
    const most = Math.max(1, Math.abs(total), ...shown.map((each) => Math.abs(each.value)).filter(Number.isFinite));
    const entry = (key, label, value, press) => {
      const half = Math.min(Math.abs(value) / most, 1) / 2;
      const ends = value >= 0 ? { from: 0.5, to: 0.5 + half } : { from: 0.5 - half, to: 0.5 };
      const color = value >= 0 ? sides[0] : sides[1];
      return { key, label, text: signed(value), ...ends, color, press, data: { part: value } };
    };
    const before = parts.calibrated ? "log-odds before calibration" : "log-odds";
    const measure = parts.weighted ? "weighted log-odds" : before;
    bars.parts([
      entry("total", measure, total),
      ...shown.map(({ name, isWord, value }) => {
        const column = isWord ? undefined : form.titleOf(name);
        const press = column === undefined ? undefined : () => form.focus(name);
        return entry(`${press ? "column" : "part"} ${name}`, column ?? partText(name), value, press);
      }),
    ]);
  }

  // ---------------------------------------------------------------------- the curve

  async function drawCurve() {
    if (!curveIsOld || followed === null || !root.isConnected) return;
    curveIsOld = false;
    const [column, row] = [form.columnOf(followed), form.row()];
    if (form.problem()) return;
    const points = curvePoints(column, row[followed], Math.max(columns.length, classes.length));
    try {
      const found = await model.predict(points.cells.map((cell) => ({ ...row, [column.name]: cell })));
      at("curve-title").replaceChildren("If ", named(shortText(form.titleOf(column.name), 40)), " were different");
      at("curve-box").hidden = false;
      curve.show({ column, points, probabilities: found.map((each) => each.probabilities) });
      curve.mark(form.row()[followed]);
    } catch {
      curve.show(null); // the row has an error, which `answer` shows
    }
  }

  // ---------------------------------------------------------------------- controls

  for (const select of Object.values(chosen)) {
    select.append(element("option", { value: "auto" }, select === chosen.label ? "most probable class" : "next class"));
    select.append(...classOptions(classes));
    select.addEventListener("change", () => updateAll(false));
  }
  if (columns.length <= FEW_COLUMNS) {
    at("form").after(at("curve-box"));
    const wide = matchMedia("(min-width: 56rem)");
    const place = () => at(wide.matches ? "given" : "answer").append(at("teach"), at("teach-closed"));
    wide.addEventListener("change", place);
    place();
  }
  if (!areNamed(columns) && columns.length > 1) at("columns-note").hidden = false;
  at("typical").addEventListener("click", form.setTypical);
  at("missing").addEventListener("click", form.setMissing);
  const isText = columns.length === 1 && columns[0].kind === "text";
  at("typical").hidden = isText;
  at("missing").hidden = isText || !columns.some((column) => column.missing);
  at("order").addEventListener("click", () => {
    const parts = [...(last?.parts?.parts ?? [])].sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
    form.order(parts.map((each) => each.column));
  });
  at("explanation").hidden = !model.description.explains;
  at("order").hidden = columns.length < 4 || !model.description.explains;
  at("draw").hidden = !density || isText;
  at("draw").addEventListener("click", async () => {
    root.setAttribute("aria-busy", "true");
    try {
      const found = await askJson(model.address("sample"), { rows: 1 });
      const [row] = found.rows;
      for (const column of columns) row[column.name] = withFewDigits(column, row[column.name]);
      form.setRow(row);
    } catch (error) {
      refused(error.message);
    }
  });
  form.setTypical();

  /** Continue with the row and the lessons of an older view of the model. */
  function keep(older) {
    form.setRow(older.row());
    teach.keep(older.lessons());
  }

  return { row: form.row, open: form.setRow, update: updateAll, lessons: teach.lessons, keep };
}
