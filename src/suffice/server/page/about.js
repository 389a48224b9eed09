/**
 * The model: what it is, what it reads, its report and its file.
 */

import { barList } from "./bar_list.js";
import { columnText, element, percentText } from "./elements.js";
import { areNamed } from "./form.js";
import { timeText } from "./fields.js";
import { linkTo } from "./links.js";
import { factTerms, hiddenText, labelText, numberText, roundText, shortText } from "./texts.js";

const MOST_CLASSES = 50;
const MOST_COLUMNS = 200;
const MOST_LEVELS = 8;

/** Make the view of a model in an element. */
export function aboutView(root, model) {
  const at = (name) => root.querySelector(`[data-${name}]`);
  const shares = barList(at("prior"));

  function show() {
    const { estimator, rows, classes, prior, columns, target, version, learns } = model.description;
    const facts = [
      ["Model", estimator, ""],
      ["Rows learned", rows === null ? "–" : numberText(rows), rows === null ? "built from parameters" : ""],
      ["Classes", numberText(classes.length), target ? `column “${shortText(target, 40)}”` : ""],
      ["Columns", numberText(columns.length), ""],
      ["Version", numberText(version), learns ? "increases with each lesson" : "this server does not learn"],
    ];
    at("facts").replaceChildren(...factTerms(facts));
    const order = classes.map((_, k) => k).sort((a, b) => prior[b] - prior[a]).slice(0, MOST_CLASSES);
    shares(
      order.map((k) => ({
        key: k,
        label: shortText(labelText(classes[k]), 200),
        text: percentText(prior[k]),
        from: 0,
        to: prior[k],
        color: model.color(k),
        data: { p: prior[k] },
      })),
    );
    at("prior-more").textContent = hiddenText(classes.length - MOST_CLASSES, "other classes");
  }

  function showColumns() {
    const { columns } = model.description;
    const named = areNamed(columns);
    const rows = columns.slice(0, MOST_COLUMNS).map((column) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("bdi", {}, shortText(columnText(column.name, named), 200))),
        element("td", { class: "t" }, column.kind.replace("_", "/")),
        element("td", { class: "t" }, (column.family ?? "").replaceAll("_", " ")),
        element("td", { class: "t" }, element("bdi", {}, valuesText(column))),
        element("td", { class: "t" }, column.missing ? "yes" : "no"),
      ),
    );
    at("columns").replaceChildren(...rows);
    at("columns-more").textContent = hiddenText(columns.length - MOST_COLUMNS, "columns");
  }

  function fail(sentence) {
    at("error").textContent = sentence ?? "";
    at("error").hidden = !sentence;
  }

  linkTo(at("report"), model.address("report"), `${model.name}-report.html`, { failed: fail });
  linkTo(at("model-file"), model.address("model"), `${model.name}.suffice`, { accept: "*/*", failed: fail });
  linkTo(at("openapi"), "openapi.json", "openapi.json", { accept: "application/json", failed: fail });
  at("report-box").hidden = !model.description.report;
  show();
  showColumns();
  return { update: show, shown: show };
}

/** What a column takes: its levels or its usual range. */
function valuesText(column) {
  if (column.levels) {
    const more = column.n_levels - MOST_LEVELS;
    const shown = column.levels.slice(0, MOST_LEVELS).map((level) => shortText(labelText(level), 30));
    return shown.join(", ") + (more > 0 ? ` and ${numberText(more)} more` : "");
  }
  if (column.low === null) return "";
  const text = (value) => (column.kind === "time" ? timeText(value).slice(0, 10) : roundText(value));
  return `${text(column.low)} to ${text(column.high)}${column.unit ? ` ${column.unit}` : ""}`;
}
