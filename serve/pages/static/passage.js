// The passage page: stream a post-edit, show its changes, switch them, ask for other versions.
import { call, clear, fail, make, say, stream } from "./api.js";
import { piecesOf, textOf } from "./edits.js";

const find = (id) => document.getElementById(id);
const form = find("passage");
let pieces = null;
let language = "";
let asked = 0;
let running = null;

const question = () => {
  const content = { source: find("source").value, mt: find("mt").value };
  for (const side of ["source", "target"]) {
    const chosen = find(`${side}-language`).value;
    if (chosen) content[`${side}_language`] = chosen;
  }
  return content;
};

// Languages: detected while one types, shown in words.
let timer = 0;
const detect = async () => {
  const { source, mt } = question();
  if (!source.trim() || !mt.trim()) return;
  try {
    const found = await call("POST", "/v1/languages", { json: { source: source.slice(0, 5000), mt: mt.slice(0, 5000) } });
    find("languages").textContent = `Detected: ${found.source_name} → ${found.target_name}`;
    find("source").lang = found.source_language;
    find("mt").lang = find("text").lang = find("draft").lang = language = found.target_language;
  } catch { find("languages").textContent = ""; }
};
for (const id of ["source", "mt"]) {
  find(id).addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(detect, 400); });
}

// Tags that small models copy from the prompt; they are taken out of the result as well.
const TAGS = /<\/?(?:translation|source)>/g;
const SENTENCES = {
  unchanged: "Nothing to mend was found. The translation stays as it is.",
  rejected: "The drafts did not pass the checks, so the translation stays as it is. The reasons are below.",
};
const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

const decisionOf = (result) =>
  SENTENCES[result.decision] ?? `${count(result.edits.length, "change", "changes")}, all accepted. Switch off what you do not want.`;

const showPieces = () => {
  find("text").replaceChildren(
    ...pieces.map((piece, index) => {
      if (!piece.edit) return document.createTextNode(piece.text);
      return make(
        "button",
        { type: "button", className: "edit", "data-index": index, "aria-pressed": piece.on, title: piece.edit.kind },
        make("span", { className: "unseen" }, `${piece.edit.kind}: `),
        ...(piece.before ? [make("del", {}, piece.before)] : []),
        ...(piece.before && piece.after ? [make("span", { className: "unseen" }, " becomes ")] : []),
        ...(piece.after ? [make("ins", {}, piece.after)] : []),
      );
    }),
  );
};

const toggle = (button, on) => {
  const piece = pieces[Number(button.dataset.index)];
  piece.on = on ?? !piece.on;
  button.setAttribute("aria-pressed", piece.on);
  const edits = pieces.filter((one) => one.edit);
  const accepted = edits.filter((one) => one.on).length;
  find("decision").textContent = `${accepted} of ${count(edits.length, "change", "changes")} accepted.`;
};

const findingOf = (finding) =>
  make("li", { className: finding.severity }, make("b", {}, finding.severity === "reject" ? "Refused" : "Check"), ` ${finding.message}`);

const showResult = (result, mt) => {
  find("draft").hidden = true;
  find("decision").textContent = decisionOf(result);
  pieces = piecesOf(mt, result) ?? [{ text: result.post_edit }];
  showPieces();
  const seen = new Set();
  const findings = result.findings.filter((one) => !seen.has(one.message) && seen.add(one.message));
  find("findings").replaceChildren(...findings.map(findingOf));
  find("findings-part").hidden = !findings.length;
  for (const id of ["all", "none"]) find(id).hidden = !result.edits.length;
  find("actions").hidden = find("keys").hidden = find("text").hidden = false;
};

// Asks for one post-edit; `watch` is given the draft as it grows.
const ask = async (content, watch) => {
  running?.abort();
  running = new AbortController();
  const drafts = {};
  for await (const [name, data] of stream("POST", "/v1/post-edit", { json: content, signal: running.signal })) {
    if (name === "attempt") drafts[data.attempt] = "";
    if (name === "token") watch((drafts[data.attempt] = (drafts[data.attempt] ?? "") + data.text));
    if (name === "retry") say("The model does not answer yet; trying again …");
    if (name === "error") throw Object.assign(new Error(data.detail || data.title), { name: "PassageError" });
    if (name === "result") return data;
  }
  throw Object.assign(new Error("The connection ended before the result. Try again."), { name: "PassageError" });
};

const busy = (is) => {
  find("stop").hidden = !is;
  for (const id of ["edit", "other"]) find(id).disabled = is;
};

const showProblem = (error) => {
  if (error.name !== "PassageError") return fail(error);
  find("problem").textContent = error.message;
  find("problem").hidden = false;
  find("problem").scrollIntoView({ block: "nearest" });
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clear();
  const content = question();
  asked = 0;
  find("versions").replaceChildren();
  find("versions-part").hidden = find("findings-part").hidden = true;
  find("actions").hidden = find("keys").hidden = find("text").hidden = true;
  find("result").hidden = find("draft").hidden = false;
  find("draft").textContent = "";
  find("decision").textContent = "The model is reading …";
  busy(true);
  try {
    await detect();
    const watch = (text) => { find("draft").textContent = text.replaceAll(TAGS, "").trimStart(); find("decision").textContent = "The model is writing …"; };
    showResult(await ask(content, watch), content.mt);
    find("result-title").focus();
  } catch (error) {
    find("result").hidden = true;
    showProblem(error);
  } finally { busy(false); }
});
find("stop").addEventListener("click", () => { running?.abort(); find("result").hidden = true; say("Stopped."); });

// Another version: the same question with another seed, freer than the first.
const another = async () => {
  clear();
  busy(true);
  const content = question();
  asked += 1;
  say("Writing another version …");
  try {
    const result = await ask({ ...content, temperature: 0.8, top_p: 0.95, seed: 1 + asked }, () => {});
    const use = make("button", { type: "button", className: "second" }, "Use this");
    use.addEventListener("click", () => { showResult(result, content.mt); find("result-title").focus(); });
    const same = result.decision !== "edited" ? SENTENCES[result.decision] : "";
    find("versions").append(make("li", {}, make("p", { className: "text", dir: "auto", lang: language }, result.post_edit), make("p", { className: "rest" }, same), use));
    find("versions-part").hidden = false;
    say("Another version is below.");
  } catch (error) { showProblem(error); } finally { busy(false); }
};
find("other").addEventListener("click", another);

const copy = async () => {
  try {
    await navigator.clipboard.writeText(textOf(pieces));
    say("The text is copied.");
  } catch {
    getSelection().selectAllChildren(find("text"));
    say("The browser does not allow copying here: the text is selected, press Ctrl + C.");
  }
};
find("copy").addEventListener("click", copy);

const buttons = () => [...find("text").querySelectorAll(".edit")];
find("text").addEventListener("click", (event) => {
  const button = event.target.closest(".edit");
  if (button) toggle(button);
});
find("all").addEventListener("click", () => buttons().forEach((button) => toggle(button, true)));
find("none").addEventListener("click", () => buttons().forEach((button) => toggle(button, false)));

const move = (step) => {
  const all = buttons();
  const at = all.indexOf(document.activeElement);
  if (all.length) all[(at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step + all.length) % all.length].focus();
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return form.requestSubmit();
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, select, input") || find("text").hidden) return undefined;
  const keys = { n: () => move(1), p: () => move(-1), c: copy, v: another };
  keys[event.key.toLowerCase()]?.();
  return undefined;
});
