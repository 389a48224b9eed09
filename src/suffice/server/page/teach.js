/**
 * Teach the model the class of the row in the form, see how the model changes, and undo it.
 *
 * Undoing unlearns the same row, which is exact. The list of what was taught is that of this tab.
 */

import { element, percentText, ranked } from "./elements.js";
import { Gone, askJson } from "./server.js";
import { classOptions, labelText, namedLabel, numberText, shortText } from "./texts.js";

const MOST_CHIPS = 8; // classes to choose from without a list
const MOST_CHANGES = 4; // classes of a receipt

/** A key that makes a request safe to repeat. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

/**
 * Make the part that teaches in the element of a view.
 *
 * `form.row()` is the row of the form, `form.problem()` what is wrong with it, and `form.update()` asks for its answer.
 */
export function teaching(root, model, form) {
  const { classes, learns } = model.description;
  const at = (name) => root.querySelector(`[data-${name}]`);
  const taught = [];
  let busy = null; // a promise that ends with the task that runs
  let pending = null; // a lesson without a receipt; its key makes another try safe
  at("teach").hidden = !learns;
  at("teach-closed").hidden = learns;
  if (!learns) return { forget() {}, lessons: () => [], keep() {} };

  const choice = classes.length <= MOST_CHIPS ? chips(at("teach-classes"), model) : list(at("teach-classes"), model);
  at("teach-button").addEventListener("click", () => busy || run(teach)); // a second click is a mistake

  /** Forget the chosen class: the row has changed. */
  function forget() {
    choice.clear();
    say("");
  }

  /** Run a task after those that run already. */
  async function run(task) {
    while (busy) await busy;
    let ended;
    busy = new Promise((done) => (ended = done));
    at("teach").setAttribute("aria-busy", "true");
    try {
      await task();
    } catch (error) {
      const unsure = pending ? " Teach again to be sure that the row is learned; it is never learned twice." : "";
      say(error instanceof Gone ? `${error.message}${unsure}` : error.message);
    } finally {
      busy = null;
      ended();
      at("teach").setAttribute("aria-busy", "false");
    }
  }

  /** Say what went wrong, or nothing. */
  function say(text) {
    at("teach-error").textContent = text;
    at("teach-error").hidden = !text;
  }

  const post = (verb, { row, label, key }) =>
    askJson(model.address(verb), { rows: [row], labels: [label] }, { headers: { "Idempotency-Key": key } });
  const probabilities = async (row) => (await model.predict([row]))[0].probabilities;

  async function teach() {
    const k = choice.chosen();
    if (form.problem()) return say(form.problem());
    if (k === null) return say("Choose the right class first.");
    say("");
    let lesson = { row: form.row(), label: classes[k], key: newKey(), undo: newKey() };
    if (pending && isSame(pending, lesson)) lesson = pending;
    const before = await probabilities(lesson.row);
    pending = lesson;
    const receipt = await post("learn", lesson);
    pending = null;
    taught.unshift(lesson);
    await finish("Taught", lesson, receipt, before);
  }

  async function undo(lesson) {
    const before = await probabilities(lesson.row);
    const receipt = await post("unlearn", { ...lesson, key: lesson.undo });
    taught.splice(taught.indexOf(lesson), 1);
    await finish("Undone", lesson, receipt, before);
  }

  /** Show what the change has done: it is made, even if the server goes away now. */
  async function finish(verb, lesson, receipt, before) {
    showTaught();
    choice.clear();
    form.update();
    const after = await probabilities(lesson.row);
    showReceipt(verb, lesson, receipt, before, after);
    await model.refresh();
  }

  function showReceipt(verb, lesson, receipt, before, after) {
    const rows = ` The model now knows ${numberText(receipt.weight)} rows (version ${receipt.version}).`;
    const title = element("p", {}, element("strong", {}, `${verb}: `), namedLabel(lesson.label), ".", rows);
    const own = classes.findIndex((label) => JSON.stringify(label) === JSON.stringify(lesson.label));
    const order = [own, ...ranked(after).filter((k) => k !== own)].slice(0, MOST_CHANGES);
    const body = element("tbody");
    for (const k of order) {
      const cells = [before[k], after[k]].map((p, i) =>
        element("td", { "data-p": p, class: i && p !== before[k] ? "changed" : "" }, percentText(p)),
      );
      const name = element("th", { scope: "row" }, namedLabel(classes[k]));
      body.append(element("tr", { "data-class": k }, name, ...cells));
    }
    const headCell = (text, i) => element("th", { scope: "col", class: i ? "n" : "" }, text);
    const head = element("tr", {}, ...["this row", "before", "after"].map(headCell));
    at("receipt").replaceChildren(title, element("table", {}, element("thead", {}, head), body));
    at("receipt").hidden = false;
    at("receipt").dataset.version = receipt.version;
  }

  function showTaught() {
    at("taught").hidden = !taught.length;
    const items = taught.map((lesson) => {
      const button = element("button", { type: "button" }, "Undo");
      button.addEventListener("click", () => {
        button.disabled = true;
        run(() => undo(lesson)).finally(() => (button.disabled = false));
      });
      const label = element("strong", {}, namedLabel(lesson.label));
      const row = element("bdi", { class: "soft" }, summary(lesson.row));
      const what = element("span", { class: "what" }, label, " ", row);
      return element("li", {}, what, button);
    });
    at("taught-list").replaceChildren(...items);
  }

  /** Continue with the lessons of an older view of the model, which may have had fewer classes. */
  function keep(lessons) {
    taught.push(...lessons);
    showTaught();
  }

  return { forget, lessons: () => taught, keep };
}

const isSame = (a, b) => JSON.stringify([a.row, a.label]) === JSON.stringify([b.row, b.label]);

/** The first cells of a row in one line. */
function summary(row) {
  const known = Object.entries(row).filter(([, cell]) => cell !== null);
  const one = known.length === 1;
  const text = ([name, cell]) => `${shortText(name, 20)} ${shortText(cellText(cell), 16)}`;
  const texts = known.slice(0, 4).map((each) => (one ? shortText(each[1], 80) : text(each)));
  return texts.join(", ") + (known.length > 4 ? ", …" : "");
}

const cellText = (cell) => (typeof cell === "number" ? numberText(cell) : labelText(cell));

/** One button for each class, as radio buttons. */
function chips(root, model) {
  const { classes } = model.description;
  const name = `teach-${model.name}`;
  const inputs = classes.map((label, k) => {
    const input = element("input", { type: "radio", name, value: k });
    root.append(element("label", { class: "chip" }, input, namedLabel(label)));
    return input;
  });
  return {
    chosen: () => {
      const k = inputs.findIndex((each) => each.checked);
      return k < 0 ? null : k;
    },
    clear: () => inputs.forEach((each) => (each.checked = false)),
  };
}

/** A list of all classes. */
function list(root, model) {
  const none = element("option", { value: "" }, "choose a class");
  const select = element("select", { "aria-label": "The right class" }, none);
  select.append(...classOptions(model.description.classes));
  root.append(select);
  return { chosen: () => (select.value === "" ? null : Number(select.value)), clear: () => (select.value = "") };
}
