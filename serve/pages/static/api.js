// Calls of the HTTP API from the pages: the CSRF token, problem details as sentences, streams of events, messages.

let csrf = document.querySelector('meta[name="csrf-token"]')?.content ?? "";

// The API names fields; a page has labels.
const LABELS = { source_language: "From", target_language: "Into" };
const inWords = (text) => text.replaceAll(/Set (source_language|target_language)\./g, (_, name) => `Choose it under “${LABELS[name]}”.`);

// An answer that is no success; `message` is a sentence for the reader.
export class ApiError extends Error {
  constructor(status, problem = {}) {
    super(inWords(problem.detail || problem.title || `The service answered with status ${status}.`));
    Object.assign(this, { status, problem, field: problem.field ?? null });
  }
}

export const csrfHeaders = () => (csrf ? { "X-CSRF-Token": csrf } : {});

// The problem of a response that failed; `text` is its body.
export const problemOf = (status, text) => {
  let problem = {};
  try { problem = JSON.parse(text); } catch { /* no problem details */ }
  if (status === 401) problem = { ...problem, detail: "Your session has ended. Log in again in another tab, then repeat this here: what you typed is kept." };
  return new ApiError(status, problem);
};

// After a new log-in in another tab this page has an old token: takes that of the page as it is now. Whether it is new.
const renewToken = async () => {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page.querySelector('meta[name="csrf-token"]')?.content ?? "";
  if (!token || token === csrf) return false;
  csrf = token;
  return true;
};

const send = async (method, path, options = {}) => {
  const answer = await request(method, path, options);
  if (answer.ok) return answer;
  if (answer.status === 403 && method !== "GET" && (await renewToken())) return send(method, path, options);
  throw problemOf(answer.status, await answer.text());
};

const request = async (method, path, { json, body, headers = {}, signal }) => {
  const content = json === undefined ? body : JSON.stringify(json);
  const type = json === undefined ? {} : { "Content-Type": "application/json" };
  try {
    return await fetch(path, { method, body: content, signal, headers: { ...type, ...csrfHeaders(), ...headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { detail: "The service can’t be reached. Nothing is lost; try again in a moment." });
  }
};

// Calls the API and returns the JSON of the answer, or its text, or null if it has none.
export const call = async (method, path, options) => {
  const answer = await send(method, path, options);
  if (answer.status === 204) return null;
  return (answer.headers.get("Content-Type") ?? "").includes("json") ? answer.json() : answer.text();
};

// Calls the API and yields the server-sent events of the answer as [name, data].
export async function* stream(method, path, options = {}) {
  const headers = { Accept: "text/event-stream", ...options.headers };
  const answer = await send(method, path, { ...options, headers });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const parts = buffer.split("\n\n");
    buffer = parts.pop();
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (name && data) yield [name, JSON.parse(data)];
    }
  }
}

// Follows the events of an address; `handlers` maps their names to functions of the data. The browser reconnects by
// itself; `handlers.lost` and `handlers.open` tell of that. Returns a function that stops.
export const events = (path, handlers) => {
  const source = new EventSource(path);
  for (const [name, handle] of Object.entries(handlers)) {
    if (name === "lost") source.onerror = () => handle(source.readyState === EventSource.CLOSED);
    else if (name === "open") source.onopen = () => handle();
    else source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  source.addEventListener("end", () => source.close());
  return () => source.close();
};

// Shows a message that screen readers announce politely. Where it lies over the page it goes away by itself.
const NOTICE_MILLISECONDS = 8000;
let notices = 0;
export const say = (text) => {
  const place = document.querySelector("#notice");
  place.textContent = text;
  const shown = (notices += 1);
  if (text && !place.closest("#actions")) setTimeout(() => { if (shown === notices) place.textContent = ""; }, NOTICE_MILLISECONDS);
};

// Shows what went wrong, until `clear` or the next message.
export const fail = (error) => {
  if (error.name === "AbortError") return;
  const place = document.querySelector("#problem");
  place.textContent = error instanceof ApiError ? error.message : `Something went wrong on this page: ${error.message}`;
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
};

export const clear = () => {
  document.querySelector("#problem").hidden = true;
  say("");
};

// Makes an element: make("p", { className: "rest" }, "text", child, …).
export const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
};
