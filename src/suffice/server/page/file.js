/**
 * A file: sent to the server as it is, and its answers as a table and as a download.
 *
 * The answers are read as they arrive. The table holds the first rows, the download all of them.
 */

import { stackedBar } from "./bar_list.js";
import { csvReader } from "./csv.js";
import { element, percentText } from "./elements.js";
import { makeTable } from "./file_table.js";
import { ask } from "./server.js";
import { newKey } from "./teach.js";
import { counted, namedLabel, numberText, shortText, sizeText } from "./texts.js";

const MOST_ROWS = 10_000; // of the table
const MOST_CELLS = 600_000;
const MOST_SHARES = 12; // classes with a count
const PIECE = 4_000_000; // bytes that are joined at once, so that the browser can keep large answers on disk
const TYPES = {
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
  arrows: "application/vnd.apache.arrow.stream",
  jsonl: "application/x-ndjson",
  ndjson: "application/x-ndjson",
  json: "application/json",
  eml: "message/rfc822",
  txt: "text/plain",
};

const TABLES = [TYPES.csv, TYPES.parquet, TYPES.arrow, TYPES.jsonl]; // whose columns can be kept

/** The Content-Type and the Content-Encoding of a file by its name; null for a file that is not read. */
export function headersOf(name) {
  const parts = name.toLowerCase().split(".");
  const packed = parts.at(-1) === "gz";
  const type = TYPES[packed ? parts.at(-2) : parts.at(-1)];
  if (!type) return null;
  return packed ? { "Content-Type": type, "Content-Encoding": "gzip" } : { "Content-Type": type };
}

const mostProbable = (cells) => cells.reduce((best, cell, k) => (Number(cell) > Number(cells[best]) ? k : best), 0);

/** Whether two texts are one label: files may write numbers and truth values differently. */
function sameText(a, b) {
  if (a === b) return true;
  return a !== "" && b !== "" && (Number(a) === Number(b) || a.toLowerCase() === b.toLowerCase());
}

/** What is wrong with a file; the server speaks of the body of a request. */
const sentenceOf = (error) => error.message.replace(/^the body\b/i, "The file");

/** Make the view of a model in an element; `open(row)` shows a row in the form. */
export function fileView(root, model, open) {
  const { classes, columns, target, learns } = model.description;
  const at = (name) => root.querySelector(`[data-${name}]`);
  const isText = columns.length === 1 && columns[0].kind === "text";
  const input = at("file");
  const table = makeTable(root, model, open);
  let running = null; // the request that can be stopped
  let changing = false; // while rows are learned
  let scored = null;
  let address = null; // of the answers as a download

  at("mail-note").hidden = !isText;
  at("target-note").textContent = target ?? "";
  at("choose").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files.length) score(input.files[0]);
    input.value = "";
  });
  at("stop").addEventListener("click", () => running?.abort());
  const zone = at("drop");
  for (const name of ["dragenter", "dragover"]) {
    root.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  root.addEventListener("dragleave", (event) => root.contains(event.relatedTarget) || zone.classList.remove("over"));
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files.length) score(event.dataTransfer.files[0]);
  });

  function fail(sentence) {
    at("error").textContent = sentence ?? "";
    at("error").hidden = !sentence;
  }

  async function score(file) {
    running?.abort();
    const own = (running = new AbortController());
    fail(null);
    at("scored").hidden = true;
    const headers = headersOf(file.name);
    const name = shortText(file.name);
    if (!headers) return fail(`“${name}” is not a file that is read here. Choose a CSV or Parquet file.`);
    at("progress").hidden = false;
    at("progress-text").textContent = `Sending ${name}, ${sizeText(file.size)} …`;
    try {
      const found = await answersOf(file, headers, own.signal);
      if (running === own) show(file, headers, found);
    } catch (error) {
      const stopped = error.name === "AbortError";
      if (running === own) fail(stopped ? "Stopped. Nothing of the file was kept." : sentenceOf(error));
    } finally {
      if (running === own) at("progress").hidden = true;
    }
  }

  /** All answers of a file: the first rows, the counts of all rows, and the whole as a Blob. */
  async function answersOf(file, headers, signal) {
    const path = `${model.address("predict")}${TABLES.includes(headers["Content-Type"]) ? "?keep=all" : ""}`;
    const about = { ...headers, Accept: "text/csv" };
    const response = await ask(path, { method: "POST", body: file, headers: about, signal });
    const found = { header: null, rows: [], n: 0, counts: classes.map(() => 0), right: 0, blob: new Blob([]) };
    const rows = csvReader((cells) => addRow(found, cells));
    const decoder = new TextDecoder();
    let [pieces, waiting] = [[], 0];
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await piece(reader, found);
      if (value) {
        rows.push(decoder.decode(value, { stream: true }));
        pieces.push(value);
        waiting += value.length;
      }
      if (done || waiting > PIECE) {
        found.blob = new Blob([found.blob, ...pieces], { type: "text/csv" });
        [pieces, waiting] = [[], 0];
        at("progress-text").textContent = `${numberText(found.n)} rows of ${shortText(file.name)} …`;
      }
      if (done) break;
    }
    rows.push(decoder.decode());
    rows.end();
    return found;
  }

  /** The next bytes of an answer; an answer that ends early has no sentence of its own. */
  async function piece(reader, found) {
    try {
      return await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      const rows = counted(found.n, "row");
      throw new Error(`The answer ended after ${rows}. A later row may have an error, or the server has stopped.`);
    }
  }

  function addRow(found, cells) {
    if (found.header === null) {
      Object.assign(found, placesOf(cells));
      found.most = Math.min(MOST_ROWS, Math.max(100, Math.floor(MOST_CELLS / cells.length)));
      return;
    }
    found.n++;
    const k = found.classOf(cells);
    if (k >= 0) found.counts[k]++;
    if (found.target !== null && found.isRight(cells)) found.right++;
    if (found.rows.length < found.most) found.rows.push(cells);
  }

  /** Where the answers are among the columns: kept columns come first, then the label, and p of each class. */
  function placesOf(header) {
    const first = header.length - classes.length;
    const kept = header.slice(0, first - 1);
    const of = kept.indexOf(target);
    const places = { header, label: first - 1, first, kept: kept.length, target: of < 0 ? null : of };
    const known = new Map(); // positions of classes by the texts of their labels
    places.classOf = (row) => {
      const label = row[places.label];
      if (!known.has(label)) known.set(label, label === "" ? -1 : mostProbable(row.slice(first)));
      return known.get(label);
    };
    places.isRight = (row) => sameText(row[of], row[places.label]);
    return places;
  }

  // ---------------------------------------------------------------------- results

  function show(file, headers, found) {
    scored = { file, headers, found, keys: {} };
    zone.classList.add("done");
    at("scored").hidden = false;
    at("file-title").replaceChildren(element("bdi", {}, shortText(file.name)));
    const shares = found.counts.map((count) => count / Math.max(found.n, 1));
    const texts = [counted(found.n, "row")];
    const right = percentText(found.right / found.n);
    if (found.target !== null) texts.push(`${right} have the predicted class in the column “${target}”`);
    if (found.rows.length < found.n) texts.push(`the table has the first ${numberText(found.rows.length)}`);
    at("file-facts").textContent = `${texts.join("; ")}.`;
    const few = classes.length <= MOST_SHARES;
    at("shares-bar").replaceChildren(...(few ? [stackedBar(shares, model.color)] : []));
    const order = classes.map((_, k) => k).sort((a, b) => found.counts[b] - found.counts[a]).slice(0, MOST_SHARES);
    const dot = (k) => element("span", { class: `dot bar c${model.color(k)}` });
    const share = (k) => element("li", {}, dot(k), namedLabel(classes[k]), `: ${numberText(found.counts[k])}`);
    const others = found.n - order.reduce((sum, k) => sum + found.counts[k], 0);
    const rest = few ? [] : [element("li", { class: "soft" }, `other classes: ${numberText(others)}`)];
    at("shares").replaceChildren(...order.map(share), ...rest);
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(found.blob);
    at("download").href = address;
    at("download").download = `${file.name.replace(/(\.gz)?$/i, "").replace(/\.\w+$/, "")}-predicted.csv`;
    at("download-size").textContent = sizeText(found.blob.size);
    at("teach-file").hidden = !learns || found.target === null;
    at("teach-file-text").textContent = `Teach these ${counted(found.n, "row")}`;
    at("teach-file-run").hidden = false;
    at("teach-file-undo").hidden = true;
    at("teach-file-note").textContent = "";
    table.show(found);
    at("scored").focus();
  }

  // ---------------------------------------------------------------------- teaching a file

  async function change(verb) {
    if (changing) return; // a second click is a mistake
    changing = true;
    const own = scored;
    const { file, headers } = own;
    own.keys[verb] ??= newKey(); // stays until there is a receipt, so that another try is safe
    at("teach-file-note").textContent = verb === "learn" ? "Teaching …" : "Unlearning …";
    try {
      const about = { ...headers, Accept: "application/json", "Idempotency-Key": own.keys[verb] };
      const receipt = await (await ask(model.address(verb), { method: "POST", body: file, headers: about })).json();
      own.keys[verb] = undefined;
      await model.refresh();
      if (scored !== own) return; // another file is shown
      const done = verb === "learn" ? "Taught" : "Unlearned";
      at("teach-file-note").textContent =
        `${done} ${counted(receipt.rows, "row")}: version ${receipt.version}. The table shows predictions from before.`;
      at("teach-file-undo").hidden = verb !== "learn";
      at("teach-file-run").hidden = verb === "learn";
    } catch (error) {
      if (scored === own) at("teach-file-note").textContent = sentenceOf(error);
    } finally {
      changing = false;
    }
  }
  at("teach-file-run").addEventListener("click", () => change("learn"));
  at("teach-file-undo").addEventListener("click", () => change("unlearn"));
  return { score };
}
