/**
 * The what-if form of a report: a field for each column, and the posterior and its parts as they change.
 *
 * The page holds `{fields, parameters}` as JSON; `scoring.js` computes posteriors from the parameters.
 */

import { bar, byName, partBar, strongestParts } from "./bars.js";
import { columnText, element, nameText, percentText, ranked, signed } from "./elements.js";
import { makeField } from "./fields.js";
import { explain, score } from "./scoring.js";

const MOST_CLASSES = 10; // bars of probabilities

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
