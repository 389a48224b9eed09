/**
 * Drift: how the rows that were predicted differ from the training rows, asked for while the view is visible.
 */

import { barList } from "./bar_list.js";
import { element, percentText } from "./elements.js";
import { linkTo } from "./links.js";
import { Gone, askJson } from "./server.js";
import { counted, factTerms, labelText, numberText, shortText } from "./texts.js";

const EVERY = 3000; // milliseconds between questions
const MOST_CLASSES = 12;
const MOST_FINDINGS = 30;
const MOST_WINDOWS = 24;
const OF_LABELS = ["accuracy", "calibration", "labels", "unknown labels"]; // tests
const QUANTILES = [0.04, 0.1, 0.25, 0.5, 0.75, 0.9]; // of log p(x) that have bars

const timeOfDay = (seconds) => new Date(1000 * seconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const dayAndTime = (seconds) => new Date(1000 * seconds).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

const NO_ROWS =
  "Rows of files and of programs that are predicted here are compared with the training rows. Only sums of them are " +
  "kept. Rows of the form do not count.";

const testedText = (tested, since, level) =>
  `${counted(tested, "test")} of the rows that were predicted since ${timeOfDay(since)}, against the training rows. ` +
  `If nothing has changed, any finding has a probability of at most ${percentText(level)} at one look.`;

const badge = (strong, text) => element("span", { class: `badge${strong ? " strong" : ""}` }, text);

/** Make the view of a model in an element: functions that begin and end asking. */
export function driftView(root, model) {
  const at = (name) => root.querySelector(`[data-${name}]`);
  const bars = { classes: barList(at("class-shares")), density: barList(at("density")) };
  let timer = null;
  let visible = false;

  async function look() {
    clearTimeout(timer);
    if (!visible) return;
    if (document.visibilityState === "visible") {
      try {
        show(await askJson(model.address("drift")));
        fail(null);
      } catch (error) {
        fail(error instanceof Gone ? null : error.message);
        if (error.status === 401) return; // the person has closed the dialog: do not ask again
      }
    }
    clearTimeout(timer);
    if (visible) timer = setTimeout(look, EVERY);
  }

  function fail(sentence) {
    at("error").textContent = sentence ?? "";
    at("error").hidden = !sentence;
  }

  /** Show `{open, windows, learned}`: the open window, those that have ended, and those of learned rows. */
  function show({ open, windows, since, missed, learned }) {
    const drift = open ?? { alarm: false, rows: 0, findings: [] };
    const significant = drift.findings.filter((each) => each.significant);
    const withheld = drift.findings.filter((each) => each.withheld);
    const tested = drift.findings.length - withheld.length;
    at("state").className = `state ${drift.alarm ? "alarm" : "calm"}`;
    at("state-icon").textContent = drift.alarm ? "!" : tested ? "✓" : "…";
    const title = headline(drift, significant, tested);
    if (at("state-title").textContent !== title) at("state-title").textContent = title;
    at("state-text").textContent = drift.rows ? testedText(tested, since, drift.level) : NO_ROWS;
    const others = drift.findings.filter((each) => !each.significant && !each.withheld);
    at("findings").replaceChildren(...significant.slice(0, MOST_FINDINGS).map(findingItem));
    at("findings-box").hidden = !drift.rows;
    at("calm-box").hidden = !others.length;
    at("calm").replaceChildren(...others.slice(0, MOST_FINDINGS).map(findingItem));
    at("calm-title").textContent = counted(others.length, "test without a finding", "tests without a finding");
    at("withheld-box").hidden = !withheld.length;
    const reasons = [...new Set(withheld.map((each) => each.sentence))].slice(0, 10);
    at("withheld").replaceChildren(...reasons.map((text) => element("li", {}, text)));
    at("missed").hidden = !missed;
    at("missed").textContent = `${counted(missed, "row")} could not be watched.`;
    at("page-link").hidden = !drift.rows;
    showClasses(drift.class_shares);
    showDensity(drift.log_density);
    showLabels(learned?.open);
    showWindows(windows);
    root.dataset.rows = drift.rows;
    root.dataset.alarm = drift.alarm;
  }

  /** The windows that have ended. */
  function showWindows(windows) {
    at("windows-box").hidden = !windows.length;
    const items = windows.slice(0, MOST_WINDOWS).map((each) => {
      const text = ` until ${dayAndTime(each.end)}, ${counted(each.rows, "row")} `;
      const found = each.findings.slice(0, 3);
      const sentences = found.map(({ sentence }) => element("p", { class: "small-text" }, sentence));
      return element("li", {}, badge(each.alarm, each.alarm ? "drift" : "no drift"), text, ...sentences);
    });
    at("windows").replaceChildren(...items);
  }

  function headline(drift, significant, tested) {
    if (!drift.rows) return "No rows yet";
    if (!tested) return `Too few rows to compare (${numberText(drift.rows)})`;
    if (!drift.alarm) return `No drift in ${counted(drift.rows, "row")}`;
    const names = significant.filter((each) => each.column !== null).map((each) => shortText(each.column, 30));
    const columns = [...new Set(names)];
    const more = columns.length > 3 ? ` and ${columns.length - 3} more` : "";
    const places = columns.length ? ` in ${columns.slice(0, 3).join(", ")}${more}` : "";
    return `Drift${places}: ${counted(significant.length, "finding")}`;
  }

  function findingItem(finding) {
    const column = finding.column === null ? "all columns" : shortText(finding.column, 60);
    const head = element(
      "div",
      {},
      badge(finding.significant, finding.significant ? "significant" : "not significant"),
      " ",
      element("bdi", { class: "finding-column" }, column),
      element("span", { class: "soft" }, ` ${finding.test}`),
    );
    const p = finding.p_value === null ? "" : ` p = ${numberText(finding.p_value)}.`;
    const sentence = element("p", {}, finding.sentence, element("span", { class: "soft" }, p));
    return element("li", { class: `card${finding.significant ? "" : " quiet"}` }, head, sentence);
  }

  function showClasses(shares) {
    at("classes-box").hidden = !shares;
    if (!shares) return;
    const known = model.description.classes;
    const order = shares.classes.map((_, i) => i).sort((a, b) => shares.trained[b] - shares.trained[a]);
    bars.classes(
      order.slice(0, MOST_CLASSES).map((i) => ({
        key: i,
        label: shortText(labelText(shares.classes[i]), 60),
        text: `${percentText(shares.share[i])} ± ${percentText(shares.standard_error[i])}`,
        from: 0,
        to: Math.min(shares.share[i], 1),
        mark: shares.trained[i],
        color: model.color(known.indexOf(shares.classes[i])),
        data: { share: shares.share[i] },
      })),
    );
  }

  /** Of the training rows, a share q lies at or below each quantile: how much of the window does? */
  function showDensity(density) {
    const all = Object.entries(density ?? {});
    const away = (each, q) => Math.abs(each[0] - q);
    const nearest = (q) => all.reduce((best, each) => (away(each, q) < away(best, q) ? each : best));
    const entries = all.length ? [...new Set(QUANTILES.map(nearest))] : [];
    at("density-box").hidden = !entries.length;
    bars.density(
      entries.map(([q, share]) => ({
        key: q,
        label: `lowest ${percentText(Number(q))}`,
        text: percentText(share),
        from: 0,
        to: Math.min(share ?? 0, 1),
        mark: Number(q),
        color: "0",
        data: { share },
      })),
    );
  }

  /** Scores of the rows that were learned, and what has changed in them. */
  function showLabels(drift) {
    const labels = drift?.labels;
    at("labels-box").hidden = !labels;
    if (!labels) return;
    const changed = drift.findings.filter((each) => each.significant && OF_LABELS.includes(each.test));
    at("labels-findings").replaceChildren(...changed.map(({ sentence }) => element("li", {}, sentence)));
    const known = labels.trained_accuracy !== null;
    const trained = known ? `; held-out training rows ${percentText(labels.trained_accuracy)}` : "";
    const facts = [
      ["Accuracy", percentText(labels.accuracy), `± ${percentText(labels.accuracy_error)}${trained}`],
      ["Log-loss", numberText(labels.log_loss), `± ${numberText(labels.log_loss_error)} nats`],
      ["Calibration error", percentText(labels.calibration_error), ""],
      ["Labelled rows", numberText(labels.n_rows), ""],
    ];
    at("labels").replaceChildren(...factTerms(facts));
  }

  linkTo(at("page-link"), model.address("drift"), `${model.name}-drift.html`, { failed: fail });
  document.addEventListener("visibilitychange", () => visible && look());
  return {
    shown: () => {
      visible = true;
      look();
    },
    hidden: () => {
      visible = false;
      clearTimeout(timer);
    },
    update: look,
  };
}
