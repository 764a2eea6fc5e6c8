"use strict";
// Rater page: one passage at a time, usable by mouse, touch or keyboard alone.
(() => {
  const query = (selector) => document.querySelector(selector);
  const form = query("#vote");
  const overview = query("#overview");
  const marks = query("#marks");
  const served = JSON.parse(query("#sheet").textContent) === null;
  const address = location.pathname.replace(/\/$/, "");
  const LETTERS = { first: "A", second: "B" };
  const WORDS = { first: "A is better", second: "B is better", tie: "no difference" };

  let sheet = null;
  let votes = null;
  let at = 0;
  let saving = false;
  let editor = null;  // of spans, in trials that ask for them
  let lesson = -1;  // the passage of the tutorial, if it is shown

  const current = () => (lesson >= 0 ? lessonItem(sheet.spans.tutorial[lesson]) : sheet.items[at]);
  const lessonItem = ({ source, a, b }) => ({ id: "", group: "", language: "fr", sources: [source], a: [a], b: [b] });

  // ---- Messages ----
  const say = (text) => { query("#said").textContent = text; };
  const warn = (text, { again = null } = {}) => {
    query("#notice").hidden = !text;
    query("#notice-text").textContent = text;
    query("#again").hidden = !again;
    query("#again").onclick = again;
  };
  const showProgress = () => {
    const done = sheet.items.filter(({ id }) => votes.get(id)).length;
    query("#bar").value = done;
    const waiting = votes.waiting.size ? `, ${votes.waiting.size} being sent` : "";
    const all = sheet.per_rater ?? sheet.items.length;
    query("#bar").max = all || 1;
    query("#count").textContent = `${done} of ${all} voted${waiting}`;
    return done;
  };
  const reportSending = (error) => {
    if (!error) return warn("");
    if (error instanceof Refused) return warn(`A vote was rejected: ${error.message}`);
    const waiting = votes.waiting.size === 1 ? "Your vote is" : `${votes.waiting.size} of your votes are`;
    warn(
      `${waiting} not saved on the server yet: ${error.message} Nothing is lost: this browser has stored it and keeps ` +
        "trying to send it.", { again: () => votes.hurry() });
  };

  // ---- Server ----
  const request = async (path, options = {}) => {
    let answer = null;
    try {
      answer = await fetch(address + path, { ...options, signal: AbortSignal.timeout(20_000), cache: "no-store" });
    } catch {
      throw new Error("the server can’t be reached.");
    }
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    const problem = await answer.json().catch(() => ({}));
    const detail = problem.detail ?? `the server answered ${answer.status}.`;
    throw answer.status >= 500 || answer.status === 429 ? new Error(detail) : new Refused(detail);
  };
  const send = ({ item, at: _, ...vote }) => request(`/votes/${encodeURIComponent(item)}`, {
    method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(vote),
  });

  // ---- Texts ----
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
    column.querySelectorAll(":scope > p, :scope > .words").forEach((old) => old.remove());
    for (const paragraph of paragraphs) {
      if (language && language !== "und") paragraph.lang = language;
      paragraph.dir = (language !== "und" && sheet.languages[language]?.direction) || "auto";
    }
    column.append(...paragraphs);
  };
  const showTexts = () => {
    const item = current();
    const language = item.language || sheet.source_language;
    const [first, second] = editor ? editor.show(item) : pairOf(item);
    query("#source").hidden = !sheet.bilingual && lesson < 0;
    query("#source-title small").textContent = sheet.languages[language]?.name ?? "";
    put(query("#source"), paragraphsOf(sheet.bilingual || lesson >= 0 ? item.sources : []), language);
    put(query("#first"), first, sheet.target_language);
    put(query("#second"), second, sheet.target_language);
    query("#texts").classList.toggle("bilingual", sheet.bilingual || lesson >= 0);
    const rows = Math.max(item.sources.length, first.length, second.length);
    query("#texts").style.setProperty("--rows", rows + 1);
  };
  const placeLabel = () => {
    const item = sheet.items[at];
    const group = sheet.items.filter(({ group }) => group === item.group);
    const part = group.length > 1 ? ` · part ${group.indexOf(item) + 1} of ${group.length} of one text` : "";
    return `Passage ${at + 1} of ${sheet.per_rater ?? sheet.items.length}${part}`;
  };

  // ---- Answers ----
  const picked = (name) => form.querySelector(`[name=${name}]:checked`)?.value ?? null;
  const read = () => (editor ? readSpans() : {
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
  const readSpans = () => ({
    item: sheet.items[at].id, ...editor.read(), comment: form.comment.value.trim(), at: new Date().toISOString(),
  });
  const fill = (vote) => {
    form.reset();
    if (editor) {
      editor.load(vote);
      form.comment.value = vote?.comment ?? "";
      return;
    }
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
  const begin = () => { if (lesson < 0) votes.begin(read()); };

  // ---- Navigation ----
  const focusOn = (selector) => {
    query(selector).focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  const show = (place) => {
    at = place;
    lesson = -1;
    const item = sheet.items[at];
    query("#lesson").hidden = true;
    form.hidden = false;
    overview.hidden = true;
    query("#place").textContent = placeLabel();
    query("#voted").hidden = !votes.get(item.id);
    query("#skip span").textContent = votes.get(item.id) ? "next" : "skip for now";
    query("#back").disabled = at === 0;
    if (editor) showTexts();
    fill(votes.drafts.get(item.id) ?? votes.get(item.id));
    if (!editor) showTexts();
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
    if (!sheet.items.length) return ["There is nothing to vote on", "This test has no passages. Please tell the person who sent you the link."];
    if (left) return [`${done} of ${sheet.items.length} voted`, `${left} ${left === 1 ? "passage is" : "passages are"} left. You can close the page and come back later.`];
    return ["All voted. Thank you!", served
      ? "All votes are saved on the server. You can still change them."
      : "Save the votes to a file and send it to the person who gave you this page. You can still change them."];
  };
  const showOverview = () => {
    const done = showProgress();
    const [title, words] = summary(done);
    form.hidden = true;
    overview.hidden = false;
    query("#overview-title").textContent = title;
    query("#overview-words").textContent = words;
    query("#go-on").hidden = done === sheet.items.length;
    query("#passages").replaceChildren(...sheet.items.map(({ id }, place) => {
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
  // The next passage is allocated by the server where raters see only some of them.
  const allocate = async () => {
    if (!sheet.per_rater || sheet.items.some(({ id }) => !votes.get(id))) return;
    try {
      const { item } = await request("/next");
      if (!item || sheet.items.some(({ id }) => id === item.id)) return;
      votes.admit(item.id);
      sheet.items.push(item);
    } catch (error) {
      warn(`The next passage can’t be loaded: ${error.message}`, { again: () => showNext(0) });
    }
  };
  const showNext = async (from) => {
    await allocate();
    const next = firstLeft(from);
    if (next < 0) showOverview();
    else show(next);
  };
  const step = (by) => {
    if (lesson >= 0) return by > 0 ? showLesson(sheet.spans.tutorial.length) : undefined;
    const place = (overview.hidden ? at : sheet.items.length) + by;
    if (place >= sheet.items.length) return showOverview();
    if (place >= 0) show(place);
  };

  // ---- Tutorial ----
  const LEARNED = () => `ape-ab:learned:${sheet.trial}:${sheet.rater}`;
  const showLesson = (place) => {
    if (place >= sheet.spans.tutorial.length) {
      try { localStorage.setItem(LEARNED(), "yes"); } catch { /* the tutorial is shown again */ }
      lesson = -1;
      query("#lesson").hidden = true;
      return showNext(0);
    }
    lesson = place;
    form.hidden = false;
    overview.hidden = true;
    query("#place").textContent = `Tutorial ${place + 1} of ${sheet.spans.tutorial.length}`;
    query("#voted").hidden = true;
    query("#skip span").textContent = "skip the tutorial";
    query("#back").disabled = true;
    query("#lesson").hidden = false;
    query("#lesson").textContent = sheet.spans.tutorial[place].task;
    showTexts();
    fill(null);
    showProgress();
    focusOn("#place");
  };
  const saveLesson = () => {
    const wrong = editor.check(sheet.spans.tutorial[lesson]);
    if (wrong) return say(`Not yet. ${wrong}`);
    say("Right.");
    showLesson(lesson + 1);
  };
  const learned = () => {
    try {
      return localStorage.getItem(LEARNED()) === "yes";
    } catch {
      return false;
    }
  };

  const save = async () => {
    if (lesson >= 0) return saveLesson();
    if (saving) return say("The last vote is still being saved.");
    const vote = read();
    if (editor && !vote.choice) {
      say(editor.missing());
      query(`#${vote.scores.first === undefined ? "first" : "second"}-score`).focus();
      return;
    }
    if (!vote.choice) {
      say(`Choose first: A, B${sheet.ties ? " or no difference" : ""}.`);
      form.querySelector("[name=choice]").focus();
      return;
    }
    const place = at;
    const isNew = !votes.get(vote.item);
    saving = true;
    query("#save").disabled = true;
    try {
      await votes.save(vote);
      warn(votes.lasts || served ? "" : "This browser can’t store votes. Save the votes to a file before you close the page.");
      say(`Saved: ${WORDS[vote.choice]}.`);
      if (at === place && overview.hidden) isNew ? showNext(place + 1) : step(1);
      else showProgress();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    } finally {
      saving = false;
      query("#save").disabled = false;
    }
  };

  // ---- Keys ----
  const choose = (name, value, { again = false } = {}) => {
    if (!form.querySelector(`[name=${name}][value=${value}]`)) return;
    const undo = again && picked(name) === value;
    pick(name, undo ? null : value);
    say(undo ? `${value}: undone` : WORDS[value] ?? value);
    begin();
  };
  const nextBelief = () => {
    const all = [null, ...[...form.querySelectorAll("[name=believed_human]")].map((box) => box.value)];
    const next = all[(all.indexOf(picked("believed_human")) + 1) % all.length];
    pick("believed_human", next);
    say(next ? `a human wrote ${LETTERS[next] ?? next}` : "human author: undone");
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
  const SPAN_KEYS = {
    a: () => editor.focus("first"), b: () => editor.focus("second"),
    s: () => query("#first-score").focus(), d: () => query("#second-score").focus(),
    c: () => form.comment.focus(), Enter: save,
  };
  const ANYWHERE = {
    ArrowLeft: () => step(-1), ArrowRight: () => { if (overview.hidden) step(1); },
    m: () => { if (sheet.marks) marks.click(); }, o: showOverview, "?": () => query("#keys").showModal(),
  };
  const handlesKey = (element, key) =>
    (key === "Enter" && element.matches("button, a, label, summary, [type=file]")) ||
    (key.startsWith("Arrow") && element.matches("[type=radio], [type=range], [type=number], select"));
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!sheet || event.altKey || event.metaKey || query("#keys").open) return;
    if (target.matches("textarea")) {
      if (key === "Escape") query("#place").focus();
      if (key === "Enter" && event.ctrlKey) save();
      return;
    }
    if (editor && !event.ctrlKey && editor.key(event)) return event.preventDefault();
    if (editor && key === "Escape") return query("#place").focus();
    if (target.matches("[type=number], select") && key !== "Enter") return;
    if (event.ctrlKey || event.repeat || handlesKey(target, key)) return;
    if (key !== "Enter" && !key.startsWith("Arrow") && !query("#keys-on").checked) return;
    const name = key.length === 1 ? key.toLowerCase() : key;
    const onOverview = name === "Enter" ? () => { if (!query("#go-on").hidden) showNext(0); } : null;
    const action = ANYWHERE[name] ?? (overview.hidden ? (editor ? SPAN_KEYS : KEYS)[name] : onOverview);
    if (!action) return;
    event.preventDefault();
    action();
  });

  // ---- Files of the offline page ----
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
    query("#back").addEventListener("click", () => step(-1));
    query("#skip").addEventListener("click", () => step(1));
    query("#to-overview").addEventListener("click", showOverview);
    query("#go-on").addEventListener("click", () => showNext(0));
    query("#to-keys").addEventListener("click", () => query("#keys").showModal());
    marks.addEventListener("change", showTexts);
    query("#to-file")?.addEventListener("click", toFile);
    query("#from-file")?.addEventListener("change", fromFile);
    addEventListener("beforeunload", (event) => { if (!served && !votes.lasts) event.preventDefault(); });
  };

  const start = (given) => {
    sheet = given;
    votes = new Votes(sheet, { send: served ? send : null, report: reportSending });
    for (const selector of ["#marks-tool", "#marks-key", "#marks-help"]) query(selector).hidden = !sheet.marks;
    listen();
    if (sheet.spans) editor = new SpanEditor(sheet.spans, { say, changed: begin });
    if (editor && !learned() && !votes.list.length) showLesson(0);
    else showNext(0);
    votes.flush().then(showProgress);
  };
  const fetchSheet = async () => {
    say("Loading the passages …");
    try {
      const given = await request("/sheet");
      warn("");
      say("");
      start(given);
    } catch (error) {
      say("");
      warn(`The passages can’t be loaded: ${error.message}`, { again: error instanceof Refused ? null : fetchSheet });
    }
  };
  if (served) fetchSheet();
  else start(JSON.parse(query("#sheet").textContent));
})();
