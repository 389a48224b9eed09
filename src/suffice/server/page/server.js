/**
 * Requests to the server: tokens, problem documents, and a server that does not answer.
 *
 * A token is kept in the session storage of this tab only; it is never part of an address.
 */

const KEY = "suffice-token";
const FIRST_WAIT = 500; // milliseconds until the server is asked again
const LONGEST_WAIT = 2000;
const AWAY = [502, 503, 504]; // of a proxy without a server, or of a server that stops or has too much to do
const GONE = "The server does not answer. It may be stopping or starting; this page tries again by itself.";

/** An answer that says why a request was refused: a problem document of RFC 9457. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server answered with status ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

/** No answer. */
export class Gone extends Error {}

const listeners = { gone: [], back: [] };
let waiting = false;
let token = stored();
let asked = null; // the promise of a token, while the dialog is open

/** Call a function when the server stops answering ("gone"), or answers again ("back"). */
export const on = (event, listener) => listeners[event].push(listener);

/** Whether requests carry a token, so that links to other pages of the server would be refused. */
export const hasToken = () => Boolean(token);

function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // storage is switched off
  }
}

function store(value) {
  token = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    // The token lasts until the page is closed.
  }
}

/**
 * Ask the server; the answer as a Response.
 * Throws `Refusal` for a status of 400 or more, and `Gone` without an answer.
 */
export async function ask(path, { method = "GET", body, headers = {}, signal } = {}) {
  for (;;) {
    const sent = token;
    const response = await answered(path, { method, body, signal, headers: withToken(headers), cache: "no-store" });
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (AWAY.includes(response.status)) {
      lost(problem.detail);
      throw new Gone(problem.detail ?? GONE);
    }
    if (response.status !== 401) throw new Refusal(response.status, problem);
    if (sent === token) {
      asked ??= askForToken(problem).finally(() => (asked = null));
      if (!(await asked)) throw new Refusal(401, problem);
    }
  }
}

/** Ask with a value as JSON, and read the answer as JSON. */
export async function askJson(path, value, { signal, headers } = {}) {
  const about = { Accept: "application/json", ...headers };
  if (value === undefined) return (await ask(path, { headers: about, signal })).json();
  about["Content-Type"] = "application/json";
  return (await ask(path, { method: "POST", body: JSON.stringify(value), headers: about, signal })).json();
}

const withToken = (headers) => (token ? { ...headers, Authorization: `Bearer ${token}` } : headers);

async function answered(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Gone(GONE);
  }
}

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

/** Tell the listeners, and wait until the server is ready again. */
async function lost(sentence = GONE) {
  if (waiting) return;
  waiting = true;
  listeners.gone.forEach((each) => each(sentence));
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    await new Promise((done) => setTimeout(done, wait));
    if (await isReady()) break;
  }
  waiting = false;
  listeners.back.forEach((each) => each());
}

async function isReady() {
  try {
    return (await fetch("ready", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Ask the person for a token: true if one was given. */
function askForToken(problem) {
  const dialog = document.querySelector("[data-token-dialog]");
  const input = dialog.querySelector("input");
  const error = dialog.querySelector("[data-error]");
  error.textContent = token ? (problem.detail ?? "The server did not accept this token.") : "";
  error.hidden = !token;
  store(null);
  input.value = "";
  dialog.showModal();
  return new Promise((done) => {
    const close = (event) => {
      event.preventDefault();
      const given = event.type === "submit" && input.value.trim();
      if (event.type === "submit" && !given) return;
      dialog.removeEventListener("submit", close);
      dialog.removeEventListener("cancel", close);
      if (given) store(given);
      input.value = "";
      dialog.close();
      done(Boolean(given));
    };
    dialog.addEventListener("submit", close);
    dialog.addEventListener("cancel", close);
  });
}
