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
import { askJson, on } from "./server.js";
import { counted, numberText } from "./texts.js";

const VIEWS = ["predict", "file", "drift", "about"];
const COLORS = 10; // of the palette

const at = (name) => document.querySelector(`[data-${name}]`);
const models = new Map(); // by name: the model and its views
let current = { name: null, view: null };

/** A model as the views use it. */
function makeModel(description) {
  const base = `models/${description.name}`; // a name that can stand in an address
  const model = {
    name: description.name,
    description,
    address: (verb) => `${base}/${verb}`,
    color: (k) => (k >= 0 && k < COLORS ? k : "none"),
    /** Predictions of rows that a person tries out: `{label, probabilities}` of each. */
    predict: async (rows) => {
      const found = await askJson(`${base}/predict?watch=no`, { rows });
      if (JSON.stringify(found.classes) !== JSON.stringify(model.description.classes)) await remake(model);
      return found.predictions;
    },
    /** Read the description again: the model has changed. */
    refresh: async () => {
      model.description = await askJson(base);
      showFacts(model);
    },
  };
  return model;
}

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

/** Make the views of a model again, because it has learned a new class; the row of the form stays. */
async function remake(model) {
  const found = models.get(model.name);
  const { place, views } = found;
  await model.refresh();
  if (found.views !== views) return; // another answer was first
  Object.values(views).forEach((each) => each.hidden?.());
  place.remove();
  found.views = found.place = undefined;
  const row = views.predict.row();
  openModel(model.name);
  route();
  found.views.predict.open(row);
}

/** Show the model and the view of the address. */
function route() {
  const [name, view] = location.hash.slice(1).split("/");
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
    fail(error.message);
  }
}

at("models").addEventListener("change", (event) => (location.hash = `#${event.target.value}/${current.view}`));
addEventListener("hashchange", route);
on("gone", fail);
on("back", async () => {
  fail(null);
  if (current.name === null) return start();
  const { model, views } = models.get(current.name);
  try {
    await model.refresh();
  } catch {
    return; // gone again, or a token is needed: the next request says so
  }
  for (const each of Object.values(views)) each.update?.();
});
start();
