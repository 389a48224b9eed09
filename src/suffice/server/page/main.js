/**
 * The page of a server: chooses a model and a view, and keeps what it knows of both.
 *
 * The address ends with `#MODEL/VIEW`, so links and the buttons of the browser work.
 */

import { aboutView } from "./about.js";
import { driftView } from "./drift.js";
import { element } from "./elements.js";
import { fileView } from "./file.js";
import { predictView } from "./predict.js";
import { withRoundEnds } from "./ranges.js";
import { askJson, on } from "./server.js";
import { counted, numberText } from "./texts.js";

const VIEWS = ["predict", "file", "drift", "about"];
const COLORS = 10; // of the palette
const EVERY = 2000; // milliseconds between looks at the version of the model

const at = (name) => document.querySelector(`[data-${name}]`);
const models = new Map(); // by name: the model and its views
let current = { name: null, view: null };
let timer = null;

/** A model as the views use it. */
function makeModel(description) {
  const base = `models/${description.name}`; // a name that can stand in an address
  const model = {
    name: description.name,
    description: withRanges(description),
    address: (verb) => `${base}/${verb}`,
    color: (k) => (k >= 0 && k < COLORS ? k : "none"),
    /** Predictions of rows that a person tries out: `{label, probabilities}` of each. */
    predict: async (rows) => {
      const found = await askJson(`${base}/predict?watch=no`, { rows });
      if (JSON.stringify(found.classes) !== JSON.stringify(model.description.classes)) await renew(model);
      return found.predictions;
    },
    /** Read the description again: the model has changed. */
    refresh: async () => {
      model.description = withRanges(await askJson(base));
      if (current.name === model.name) showFacts(model);
    },
  };
  return model;
}

const withRanges = (description) => ({ ...description, columns: description.columns.map(withRoundEnds) });

function showFacts(model) {
  const { estimator, classes, columns, rows, version } = model.description;
  const texts = [estimator, counted(classes.length, "class", "classes"), counted(columns.length, "column")];
  if (rows !== null) texts.push(`${numberText(rows)} rows learned`);
  if (version) texts.push(`version ${numberText(version)}`);
  at("model-facts").textContent = texts.join(" · ");
}

/** The elements and functions of the views of a model, made when it is first shown. */
function openModel(name) {
  const found = models.get(name);
  if (found.views) return found;
  found.place = document.getElementById("views").content.cloneNode(true).firstElementChild;
  at("main").append(found.place);
  const root = (view) => found.place.querySelector(`[data-view=${view}]`);
  const { model } = found;
  const open = (row) => {
    location.hash = `#${model.name}/predict`;
    found.views.predict.open(row);
  };
  found.views = {
    predict: predictView(root("predict"), model),
    file: fileView(root("file"), model, open),
    drift: driftView(root("drift"), model),
    about: aboutView(root("about"), model),
  };
  return found;
}

/** What the views of a model are made of. */
const partsOf = ({ classes, columns, learns }) => JSON.stringify([classes, learns, columns.map(({ name }) => name)]);

/** Read the description of a model again, and show what has changed: by lessons, or by a restart of the server. */
async function renew(model) {
  const found = models.get(model.name);
  const { views } = found;
  const before = model.description;
  await model.refresh();
  if (!views || found.views !== views) return; // another answer was first
  if (partsOf(before) !== partsOf(model.description)) remake(found);
  else if (before.version !== model.description.version) Object.values(views).forEach((each) => each.update?.());
}

/** Make the views of a model again, because it has a new class; the row of the form and its lessons stay. */
function remake(found) {
  const { model, place, views } = found;
  Object.values(views).forEach((each) => each.hidden?.());
  place.remove();
  found.views = found.place = undefined;
  openModel(model.name);
  route();
  found.views.predict.keep(views.predict);
}

/** Look from time to time whether another client has changed the model that is shown. */
function watch() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      if (document.visibilityState === "visible") await renew(models.get(current.name).model);
    } catch (error) {
      if (error.status === 401) return; // the person has closed the dialog: do not ask again
    }
    watch();
  }, EVERY);
}

/** Show the model and the view of the address. */
function route() {
  const [name, view] = location.hash.slice(1).split("/");
  if (!models.size) return; // they are still loaded
  if (location.hash && view === undefined) return; // a place within the page
  const shown = {
    name: models.has(name) ? name : [...models.keys()][0],
    view: VIEWS.includes(view) ? view : "predict",
  };
  if (current.name !== null) models.get(current.name).views?.[current.view].hidden?.();
  current = shown;
  const { model, place, views } = openModel(shown.name);
  for (const each of models.values()) if (each.place) each.place.hidden = each.place !== place;
  for (const each of place.children) each.hidden = each.dataset.view !== shown.view;
  at("title").textContent = shown.name;
  at("models").value = shown.name;
  document.title = `${shown.name} – Suffice`;
  for (const each of at("views-nav").querySelectorAll("a")) {
    each.href = `#${shown.name}/${each.dataset.to}`;
    if (each.dataset.to === shown.view) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  showFacts(model);
  views[shown.view].shown?.();
  watch();
}

function fail(sentence) {
  at("banner").textContent = sentence ?? "";
  at("banner").hidden = !sentence;
}

async function start() {
  try {
    const found = (await askJson("models")).models;
    found.forEach((each) => models.set(each.name, { model: makeModel(each) }));
    at("models").append(...found.map((each) => element("option", { value: each.name }, each.name)));
    at("models-box").hidden = found.length < 2;
    at("title").classList.toggle("visually-hidden", found.length > 1);
    route();
    at("loading").hidden = true;
    at("page").hidden = false;
    fail(null);
  } catch (error) {
    fail(error.status === 401 ? "This server needs a token. Load this page again to enter it." : error.message);
  }
}

at("models").addEventListener("change", (event) => (location.hash = `#${event.target.value}/${current.view}`));
addEventListener("hashchange", route);
const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (event.defaultPrevented || !hasFiles(event)) return; // the view of files has it
  event.preventDefault(); // or else the browser leaves the page
  const [file] = event.dataTransfer.files;
  if (!file || current.name === null) return;
  location.hash = `#${current.name}/file`;
  models.get(current.name).views.file.score(file);
});
on("gone", fail);
on("back", async () => {
  fail(null);
  if (current.name === null) return start();
  const found = models.get(current.name);
  try {
    await renew(found.model);
  } catch {
    return; // gone again, or a token is needed: the next request says so
  }
  for (const each of Object.values(found.views)) each.update?.(); // answers that did not come
});
start();
