"use strict";
// The page: one passage at a time, by mouse, touch or keys alone.
(() => {
  const one = (selector) => document.querySelector(selector);
  const form = one("#vote");
  const overview = one("#overview");
  const marks = one("#marks");
  const served = JSON.parse(one("#sheet").textContent) === null;
  const address = location.pathname.replace(/\/$/, "");
  const LETTERS = { first: "A", second: "B" };
  const WORDS = { first: "A is better", second: "B is better", tie: "no difference" };

  let sheet = null;
  let votes = null;
  let at = 0;
  let saving = false;

  // ---- What is said ----
  const say = (text) => { one("#said").textContent = text; };
  const warn = (text, { again = null } = {}) => {
    one("#notice").hidden = !text;
    one("#notice-text").textContent = text;
    one("#again").hidden = !again;
    one("#again").onclick = again;
  };
  const showProgress = () => {
    const done = sheet.items.filter(({ id }) => votes.get(id)).length;
    one("#bar").max = sheet.items.length || 1;
    one("#bar").value = done;
    const waiting = votes.waiting.size ? `, ${votes.waiting.size} on the way` : "";
    one("#count").textContent = `${done} of ${sheet.items.length} voted${waiting}`;
    return done;
  };
  const tellOfSending = (error) => {
    if (!error) return warn("");
    if (error instanceof Refused) return warn(`A vote was refused: ${error.message}`);
    const waiting = votes.waiting.size === 1 ? "Your vote is" : `Your ${votes.waiting.size} votes are`;
    warn(
      `${waiting} not with the server yet: ${error.message} Nothing is lost: it is kept in this browser and sent again ` +
        "by itself.", { again: () => votes.hurry() });
  };

  // ---- The server ----
  const ask = async (path, options = {}) => {
    let answer = null;
    try {
      answer = await fetch(address + path, { ...options, signal: AbortSignal.timeout(20_000), cache: "no-store" });
    } catch {
      throw new Error("the connection is broken.");
    }
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    const problem = await answer.json().catch(() => ({}));
    const detail = problem.detail ?? `the server answered ${answer.status}.`;
    throw answer.status >= 500 || answer.status === 429 ? new Error(detail) : new Refused(detail);
  };
  const send = ({ item, at: _, ...vote }) => ask(`/votes/${encodeURIComponent(item)}`, {
    method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(vote),
  });

  // ---- The texts ----
  const paragraphsOf = (texts) => texts.map((text) => {
    const paragraph = document.createElement("p");
    paragraph.textContent = text;
    return paragraph;
  });
  const marked = (pieces) => {
    const paragraph = document.createElement("p");
    for (const { text, same } of pieces) {
      if (same || !text.trim()) {
        paragraph.append(text);
        continue;
      }
      const mark = document.createElement("mark");
      mark.textContent = text.trim();
      const [before, after] = text.split(mark.textContent);
      paragraph.append(before, mark, after);
    }
    return paragraph;
  };
  const pairOf = ({ a, b }) => {
    if (!marks.checked) return [paragraphsOf(a), paragraphsOf(b)];
    const pairs = a.length === b.length
      ? a.map((text, place) => differences(text, b[place]))
      : [differences(a.join("\n"), b.join("\n"))];
    return [0, 1].map((side) => pairs.map((pair) => marked(pair[side])));
  };
  const put = (column, paragraphs, language) => {
    column.querySelectorAll("p").forEach((old) => old.remove());
    for (const paragraph of paragraphs) {
      if (language && language !== "und") paragraph.lang = language;
      paragraph.dir = (language !== "und" && sheet.languages[language]?.direction) || "auto";
    }
    column.append(...paragraphs);
  };
  const showTexts = () => {
    const item = sheet.items[at];
    const language = item.language || sheet.source_language;
    const [first, second] = pairOf(item);
    one("#source").hidden = !sheet.bilingual;
    one("#source-title small").textContent = sheet.languages[language]?.name ?? "";
    put(one("#source"), paragraphsOf(sheet.bilingual ? item.sources : []), language);
    put(one("#first"), first, sheet.target_language);
    put(one("#second"), second, sheet.target_language);
    one("#texts").classList.toggle("bilingual", sheet.bilingual);
    const rows = Math.max(item.sources.length, first.length, second.length);
    one("#texts").style.setProperty("--rows", rows + 1);
  };
  const placeWords = () => {
    const item = sheet.items[at];
    const group = sheet.items.filter(({ group }) => group === item.group);
    const part = group.length > 1 ? ` · part ${group.indexOf(item) + 1} of ${group.length} of one text` : "";
    return `Passage ${at + 1} of ${sheet.items.length}${part}`;
  };

  // ---- The answers ----
  const picked = (name) => form.querySelector(`[name=${name}]:checked`)?.value ?? null;
  const read = () => ({
    item: sheet.items[at].id,
    choice: picked("choice"),
    confidence: picked("confidence"),
    believed_human: picked("believed_human"),
    errors: Object.fromEntries(Object.keys(LETTERS).map((side) => [
      side, [...form.querySelectorAll(`[name=${side}-error]:checked`)].map((box) => box.value),
    ])),
    comment: form.comment.value.trim(),
    at: new Date().toISOString(),
  });
  const fill = (vote) => {
    form.reset();
    if (!vote) return;
    for (const name of ["choice", "confidence", "believed_human"]) pick(name, vote[name]);
    for (const side of Object.keys(LETTERS)) {
      for (const box of form.querySelectorAll(`[name=${side}-error]`)) box.checked = !!vote.errors?.[side]?.includes(box.value);
    }
    form.comment.value = vote.comment ?? "";
  };
  const pick = (name, value) => {
    for (const box of form.querySelectorAll(`[name=${name}]`)) box.checked = box.value === value;
  };
  const begin = () => votes.begin(read());

  // ---- Going about ----
  const focusOn = (selector) => {
    one(selector).focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  const show = (place) => {
    at = place;
    const item = sheet.items[at];
    form.hidden = false;
    overview.hidden = true;
    one("#place").textContent = placeWords();
    one("#voted").hidden = !votes.get(item.id);
    one("#skip span").textContent = votes.get(item.id) ? "next" : "skip for now";
    one("#back").disabled = at === 0;
    fill(votes.drafts.get(item.id) ?? votes.get(item.id));
    showTexts();
    showProgress();
    focusOn("#place");
  };
  const firstLeft = (from = 0) => {
    const isLeft = ({ id }) => !votes.get(id);
    const later = sheet.items.findIndex((item, place) => place >= from && isLeft(item));
    return later >= 0 ? later : sheet.items.findIndex(isLeft);
  };
  const summary = (done) => {
    const left = sheet.items.length - done;
    if (!sheet.items.length) return ["There is nothing to vote on", "This test has no passages. Tell whoever sent you here."];
    if (left) return [`${done} of ${sheet.items.length} voted`, `${left} ${left === 1 ? "is" : "are"} left. You can close the page and come back later.`];
    return ["All voted. Thank you!", served
      ? "Your votes are with whoever runs this test. You can still change them."
      : "Save the votes to a file, and send it to whoever gave you this page. You can still change them."];
  };
  const showOverview = () => {
    const done = showProgress();
    const [title, words] = summary(done);
    form.hidden = true;
    overview.hidden = false;
    one("#overview-title").textContent = title;
    one("#overview-words").textContent = words;
    one("#go-on").hidden = done === sheet.items.length;
    one("#passages").replaceChildren(...sheet.items.map(({ id }, place) => {
      const vote = votes.get(id);
      const row = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = place + 1;
      button.className = vote?.choice ?? "left";
      button.setAttribute("aria-label", `passage ${place + 1}: ${vote ? WORDS[vote.choice] : "not voted"}`);
      button.addEventListener("click", () => show(place));
      row.append(button);
      return row;
    }));
    focusOn("#overview-title");
  };
  const goOn = (from) => {
    const next = firstLeft(from);
    if (next < 0) showOverview();
    else show(next);
  };
  const step = (by) => {
    const place = (overview.hidden ? at : sheet.items.length) + by;
    if (place >= sheet.items.length) return showOverview();
    if (place >= 0) show(place);
  };

  const save = async () => {
    if (saving) return say("The last vote is still on its way.");
    const vote = read();
    if (!vote.choice) {
      say(`Choose first: A, B${sheet.ties ? " or no difference" : ""}.`);
      form.querySelector("[name=choice]").focus();
      return;
    }
    const place = at;
    const isNew = !votes.get(vote.item);
    saving = true;
    one("#save").disabled = true;
    try {
      await votes.save(vote);
      warn(votes.lasts || served ? "" : "This browser keeps nothing. Save the votes to a file before you close the page.");
      say(`Saved: ${WORDS[vote.choice]}.`);
      if (at === place && overview.hidden) isNew ? goOn(place + 1) : step(1);
      else showProgress();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    } finally {
      saving = false;
      one("#save").disabled = false;
    }
  };

  // ---- Keys ----
  const choose = (name, value, { again = false } = {}) => {
    if (!form.querySelector(`[name=${name}][value=${value}]`)) return;
    const taken = again && picked(name) === value;
    pick(name, taken ? null : value);
    say(taken ? `${value} taken back` : WORDS[value] ?? value);
    begin();
  };
  const nextBelief = () => {
    const all = [null, ...[...form.querySelectorAll("[name=believed_human]")].map((box) => box.value)];
    const next = all[(all.indexOf(picked("believed_human")) + 1) % all.length];
    pick("believed_human", next);
    say(next ? `a person wrote ${LETTERS[next] ?? next}` : "taken back: who wrote it");
    begin();
  };
  const toErrors = () => {
    const [first, second] = ["first", "second"].map((side) => form.querySelector(`[name=${side}-error]`));
    (document.activeElement?.name === "first-error" ? second : first).focus();
  };
  const KEYS = {
    1: () => choose("choice", "first"), a: () => choose("choice", "first"),
    2: () => choose("choice", "second"), b: () => choose("choice", "second"),
    0: () => choose("choice", "tie"), t: () => choose("choice", "tie"),
    s: () => choose("confidence", "sure", { again: true }), u: () => choose("confidence", "unsure", { again: true }),
    p: nextBelief, e: toErrors, c: () => form.comment.focus(), Enter: save,
  };
  const ANYWHERE = {
    ArrowLeft: () => step(-1), ArrowRight: () => { if (overview.hidden) step(1); },
    m: () => { if (sheet.marks) marks.click(); }, o: showOverview, "?": () => one("#keys").showModal(),
  };
  const isWorked = (element, key) =>
    (key === "Enter" && element.matches("button, a, label, summary, [type=file]")) ||
    (key.startsWith("Arrow") && element.matches("[type=radio]"));
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!sheet || event.altKey || event.metaKey || one("#keys").open) return;
    if (target.matches("textarea")) {
      if (key === "Escape") one("#place").focus();
      if (key === "Enter" && event.ctrlKey) save();
      return;
    }
    if (event.ctrlKey || event.repeat || isWorked(target, key)) return;
    if (key !== "Enter" && !key.startsWith("Arrow") && !one("#keys-on").checked) return;
    const name = key.length === 1 ? key.toLowerCase() : key;
    const onOverview = name === "Enter" ? () => { if (!one("#go-on").hidden) goOn(0); } : null;
    const work = ANYWHERE[name] ?? (overview.hidden ? KEYS[name] : onOverview);
    if (!work) return;
    event.preventDefault();
    work();
  });

  // ---- Files, where there is no server ----
  const toFile = () => {
    const file = { trial: sheet.trial, rater: sheet.rater, votes: votes.list };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" }));
    link.download = `votes-${sheet.trial}-${sheet.rater}.json`.replace(/[^\p{L}\p{N}._-]+/gu, "-");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`${votes.list.length} votes saved to ${link.download}.`);
  };
  const fromFile = async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    try {
      const found = votesIn(await file.text(), sheet);
      const count = votes.load(found);
      warn("");
      showOverview();
      say(`${found.length} votes read, ${count} of them new.`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      warn(error.message);
    }
    target.value = "";
  };

  const listen = () => {
    form.addEventListener("submit", (event) => { event.preventDefault(); save(); });
    form.addEventListener("input", begin);
    one("#back").addEventListener("click", () => step(-1));
    one("#skip").addEventListener("click", () => step(1));
    one("#to-overview").addEventListener("click", showOverview);
    one("#go-on").addEventListener("click", () => goOn(0));
    one("#to-keys").addEventListener("click", () => one("#keys").showModal());
    marks.addEventListener("change", showTexts);
    one("#to-file")?.addEventListener("click", toFile);
    one("#from-file")?.addEventListener("change", fromFile);
    addEventListener("beforeunload", (event) => { if (!served && !votes.lasts) event.preventDefault(); });
  };

  const start = (given) => {
    sheet = given;
    votes = new Votes(sheet, { send: served ? send : null, tell: tellOfSending });
    for (const selector of ["#marks-tool", "#marks-key", "#marks-tells"]) one(selector).hidden = !sheet.marks;
    listen();
    goOn(0);
    votes.flush().then(showProgress);
  };
  const fetchSheet = async () => {
    say("Fetching the passages …");
    try {
      const given = await ask("/sheet");
      warn("");
      say("");
      start(given);
    } catch (error) {
      say("");
      warn(`The passages can’t be shown: ${error.message}`, { again: error instanceof Refused ? null : fetchSheet });
    }
  };
  if (served) fetchSheet();
  else start(JSON.parse(one("#sheet").textContent));
})();
