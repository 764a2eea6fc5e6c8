// The review of a chapter by keyboard: decide about edits, edit in place, comment, undo, search and replace.
import { call, clear, fail, make, say } from "./api.js";

const root = document.querySelector("#review");
const { api, book, guest, targetLanguage } = root.dataset;
let author = guest ? root.dataset.author : localStorage.getItem("ape-reviewer") || root.dataset.author;
const bar = document.querySelector("#actions");
const dialog = document.querySelector("#dialog");
const known = new Map(); // the last state of a paragraph from the service, by id
let last = Number(root.dataset.last);
let current = null; // an edit, or a paragraph without one
let busy = 0; // how many calls have no answer yet

const articles = () => [...root.querySelectorAll(".paragraph")];
const byId = new Map([...root.querySelectorAll(".paragraph")].map((one) => [one.dataset.id, one]));
const articleOf = (id) => byId.get(id);
const edits = () => [...root.querySelectorAll(".edit")];
const plain = (text) => text.replaceAll(/⟦\/?\d{1,4}\/?⟧/g, "");

// Moving.

const select = (element, { focus = true, scroll = "center" } = {}) => {
  if (!element) return;
  for (const one of root.querySelectorAll(".current")) one.classList.remove("current");
  const article = element.closest(".paragraph");
  article.classList.add("current");
  if (element !== article) element.classList.add("current");
  current = element;
  describe();
  if (focus) element.focus({ preventScroll: true });
  if (scroll) element.scrollIntoView({ block: scroll });
};

const STATES = { open: "Open: not in the text yet.", accepted: "Accepted: in the text.", rejected: "Rejected: the machine translation stays." };

// Says what the current edit is, and why it is open: a tooltip can't be seen by touch or keyboard.
const describe = () => {
  const state = Object.keys(STATES).find((one) => current.classList.contains(one));
  const position = Number(current.closest(".paragraph").id.slice(1)) + 1;
  const title = `${current.title.slice(0, 1).toUpperCase()}${current.title.slice(1)}${current.title.endsWith(".") ? "" : "."}`;
  document.querySelector("#about").textContent = state ? `${title} ${STATES[state]}` : `Paragraph ${number(position)}; no edit is chosen.`;
};

const move = (step) => {
  const all = edits();
  if (!all.length) return say("There are no edits here.");
  let place = all.indexOf(current);
  if (place < 0 && current) {
    const after = all.findIndex((one) => current.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    place = step > 0 ? (after < 0 ? all.length : after) - 1 : after < 0 ? all.length : after;
  }
  const next = all[place + step];
  if (next) select(next);
  else say(step > 0 ? "This was the last edit of this page." : "This is the first edit of this page.");
};

const here = () => {
  if (!current?.isConnected) select(edits()[0] ?? articles()[0]);
  const article = current?.closest(".paragraph") ?? null;
  if (!article) say("No paragraph is shown. Choose another filter.");
  return article;
};

// Showing what the service says of a paragraph.

const editElement = (edit) => {
  const label = `${edit.kind}: ${edit.before || "nothing"} becomes ${edit.after || "nothing"}, ${edit.state}`;
  const title = [edit.kind, edit.reason, edit.doubt].filter(Boolean).join(": ");
  const element = make("span", {
    className: `edit ${edit.state}${edit.decided ? " decided" : ""}`, role: "button", tabIndex: 0, title, "aria-label": label,
  });
  element.dataset.number = edit.number;
  if (edit.before) element.append(make("del", {}, plain(edit.before)));
  if (edit.after) element.append(make("ins", {}, plain(edit.after)));
  return element;
};

const opened = (one) => one.edits.filter((edit) => edit.state === "open").length;
const countChapter = (chapter, change) => {
  const option = root.querySelector(`[name=chapter] option[value="${chapter}"]`);
  if (!option || !change) return;
  option.dataset.open = Number(option.dataset.open) + change;
  option.textContent = option.dataset.title + (Number(option.dataset.open) ? ` (${number(Number(option.dataset.open))} open)` : "");
};

const tally = (one, sign) => {
  for (const edit of one.edits) {
    count(edit.state, sign);
    if (edit.decided && edit.state !== "open") count("decided", sign);
  }
  count("dismissed", sign * one.findings.filter((finding) => finding.dismissed && !finding.refused_draft).length);
};

const number = (value) => value.toLocaleString("en");
const count = (name, change) => {
  const place = document.querySelector(`#count-${name}`);
  place.dataset.count = Number(place.dataset.count) + change;
  place.textContent = number(Number(place.dataset.count));
};

// The counts are of the whole book: what changes on other pages is asked for.
const recount = async () => {
  const { edits: counts, dismissed } = await call("GET", api);
  for (const [name, value] of Object.entries({ ...counts, dismissed })) {
    const place = document.querySelector(`#count-${name}`);
    if (place) Object.assign(place, { textContent: number(value) }).dataset.count = value;
  }
};

// The state that the page was rendered with, for the counts.
const readState = (article) => ({
  edits: [...article.querySelectorAll(".edit")].map((one) => ({
    state: ["open", "accepted", "rejected"].find((state) => one.classList.contains(state)), decided: one.classList.contains("decided"),
  })),
  findings: [...article.querySelectorAll(".findings li")].map((one) => ({ dismissed: one.classList.contains("dismissed") })),
});

// Why drafts were refused is folded: it says nothing about the text.
const showRefused = (list, messages) => {
  const found = [...new Set(messages)];
  const before = list.parentElement.querySelector(".refused");
  const summary = make("summary", {}, `A draft was refused: ${found.length} reason${found.length > 1 ? "s" : ""}`);
  const after = make("details", { className: "refused", open: before?.open ?? false }, summary, make("ul", {}, ...found.map((text) => make("li", {}, text))));
  before?.remove();
  if (found.length) list.after(after);
};

const show = (one) => {
  const article = articleOf(one.id);
  if (!article) return;
  const before = known.get(one.id) ?? readState(article);
  tally(before, -1);
  tally(one, 1);
  countChapter(one.chapter, opened(one) - opened(before));
  known.set(one.id, one);
  article.dataset.version = one.version;
  const result = article.querySelector(".result");
  const chosen = current?.closest(".paragraph") === article ? Number(current.dataset.number ?? -1) : null;
  const hadFocus = result.contains(document.activeElement) || document.activeElement === article;
  const characters = Array.from(one.mt); // spans count characters, not UTF-16 units
  const same = (from, to) => plain(characters.slice(from, to).join(""));
  const pieces = [];
  let at = 0;
  for (const edit of one.edits) {
    pieces.push(same(at, edit.mt_span[0]), editElement(edit));
    at = edit.mt_span[1];
  }
  result.replaceChildren(...pieces, same(at));
  const list = article.querySelector(".findings");
  list.replaceChildren(...one.findings.filter((finding) => !finding.refused_draft).map((finding) => {
    const item = make("li", { className: finding.dismissed ? "dismissed" : "" }, finding.message);
    Object.assign(item.dataset, { guard: finding.guard, message: finding.message });
    return item;
  }));
  showRefused(list, one.findings.filter((finding) => finding.refused_draft).map((finding) => finding.message));
  article.querySelector(".comments").replaceChildren(...one.comments.map((comment) =>
    make("li", {}, make("b", {}, make("bdi", {}, comment.author)), " ", make("span", { dir: "auto" }, comment.text))));
  if (chosen === null) return;
  select(result.querySelector(`[data-number="${chosen}"]`) ?? article, { focus: hadFocus, scroll: null });
};

// Deciding.

const attempt = async (work) => {
  busy += 1;
  clear();
  try {
    await work();
    return true;
  } catch (error) {
    for (const one of error.problem?.paragraphs ?? []) show(one);
    fail(error);
    return false;
  } finally {
    busy -= 1;
  }
};

const send = async (path, json) => {
  const answer = await call("POST", `${api}/${path}`, { json: { ...json, author } });
  const paragraphs = answer.paragraphs ?? [answer];
  for (const one of paragraphs) show(one);
  if (paragraphs.some(({ id }) => !articleOf(id))) await recount();
  return answer;
};

const decide = (action, more, { id, version }) => attempt(() => send("decisions", { decisions: [{ paragraph: id, version, action, ...more }] }));

const choose = async (action, { stay = false } = {}) => {
  if (!here()) return undefined;
  if (!current.classList.contains("edit")) return say("Choose an edit first: N goes to the next one.");
  const { number } = current.dataset;
  const following = edits()[edits().indexOf(current) + 1];
  if (!(await decide(action, { edits: [Number(number)] }, current.closest(".paragraph").dataset))) return;
  say(action === "accept" ? "Accepted." : "Rejected.");
  if (stay) return;
  if (following?.isConnected) select(following);
  else move(1);
};

// What pressing an edit itself does.
const toggle = () => choose(current?.classList.contains("accepted") ? "reject" : "accept", { stay: true });

const undo = () => attempt(async () => {
  await send("undo", {});
  say("Your last step is undone.");
});

// A form below a paragraph, for its text, a comment or an instruction. `save` is given what was typed and the version
// that its author saw; after a conflict, when the page shows the present state, it is the present version.
const write = (label, value, save) => {
  const article = here();
  if (!article) return;
  const open = article.querySelector(".target form");
  if (open && isTyped(open.elements.text)) {
    say("Save or cancel this text first.");
    open.elements.text.focus();
    return;
  }
  open?.remove();
  const box = make("textarea", { name: "text", defaultValue: value, lang: targetLanguage, dir: "auto" });
  const submit = make("button", { type: "submit" }, "Save");
  const form = make("form", {}, make("label", {}, label, box), submit, make("button", { type: "button", className: "quiet" }, "Cancel"),
    make("span", { className: "note" }, "Ctrl+Enter saves, Escape cancels"));
  let { version } = article.dataset;
  let isWarned = false;
  const close = () => {
    const isHere = current?.closest(".paragraph") === article || !current?.isConnected;
    form.remove();
    if (isHere) select(current?.isConnected ? current : article);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    if (await save(box.value, article.dataset.id, version)) close();
    ({ version } = article.dataset);
    submit.disabled = false;
  });
  form.querySelector("[type=button]").addEventListener("click", close);
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    if (event.key !== "Escape") return;
    if (!isTyped(box) || isWarned) return close();
    isWarned = true;
    say("Escape once more discards what you have typed.");
  });
  article.querySelector(".target").append(form);
  form.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
  box.setSelectionRange(value.length, value.length);
};

const isTyped = (box) => box.value !== box.defaultValue;
// The browser asks before it leaves a page with a text that is not saved.
addEventListener("beforeunload", (event) => {
  if ([...root.querySelectorAll(".target textarea")].some(isTyped)) event.preventDefault();
});

const paragraph = async (article) => {
  const { id, version } = article.dataset;
  const present = known.get(id);
  if (present?.version === version) return present;
  const position = Number(article.id.slice(1));
  const { paragraphs } = await call("GET", `${api}/paragraphs?after=${position - 1}&limit=1`);
  if (paragraphs[0].version !== version) show(paragraphs[0]);
  return paragraphs[0];
};

const editText = () => attempt(async () => {
  const article = here();
  if (!article) return;
  const { text } = await paragraph(article);
  write("Text of the paragraph", text, (value, id, version) => decide("change", { text: value }, { id, version }));
});

const comment = () => write("Comment", "", (text, id, version) => decide("comment", { text }, { id, version }));

const redo = () => write("Instruction for the model", "", (instruction, id, version) => attempt(async () => {
  say("The model is editing this paragraph again…");
  await send("redo", { paragraph: id, version, instruction });
  say("The model has edited this paragraph again; the old version is in its history.");
}));

const dismiss = () => attempt(async () => {
  const article = here();
  if (!article) return;
  const open = [...article.querySelectorAll(".findings li:not(.dismissed)")];
  if (!open.length) return say("This paragraph has no findings.");
  const { id, version } = article.dataset;
  const decisions = open.map(({ dataset }) => ({ paragraph: id, version, action: "dismiss", finding: [dataset.guard, dataset.message] }));
  await send("decisions", { decisions });
  say("Dismissed.");
});

// Dialogs.

const openDialog = (title, ...children) => {
  document.querySelector("#dialog-title").textContent = title;
  const close = make("button", { type: "button", className: "quiet" }, "Close");
  close.addEventListener("click", () => dialog.close());
  document.querySelector("#dialog-body").replaceChildren(...children, close);
  if (!dialog.open) dialog.showModal();
};
dialog.addEventListener("keydown", (event) => event.stopPropagation());
dialog.addEventListener("close", () => current?.isConnected && current.focus());

const keys = () => openDialog("Actions and their keys", make("ul", { className: "all-keys" }, ...[...bar.querySelectorAll("button")].map((one) => {
  const button = make("button", { type: "button", className: "quiet" }, make("kbd", {}, one.getAttribute("aria-keyshortcuts")), ` ${one.title}`);
  button.addEventListener("click", () => { dialog.close(); one.click(); });
  return make("li", {}, button);
})));

const rename = () => {
  const form = make("form", {}, make("label", { className: "field" }, "Your name, as others see it", make("input", { name: "author", value: author, required: true, maxLength: 80 })),
    make("button", {}, "Save"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    author = form.elements.author.value.trim() || author;
    localStorage.setItem("ape-reviewer", author);
    showAuthor();
    dialog.close();
  });
  openDialog("Who decides", form);
};

const showAuthor = () => {
  const place = document.querySelector("#author");
  if (place) place.replaceChildren(make("bdi", {}, author));
};

const DONE = {
  accept: "accepted", reject: "rejected", reopen: "opened again", change: "wrote", comment: "commented", dismiss: "dismissed a finding",
  restore: "brought back a finding", replace: "replaced", redo: "had the model edit it again", undo: "undid a step",
};

const history = () => attempt(async () => {
  const article = here();
  if (!article) return;
  const { entries } = await call("GET", `${api}/history?paragraph=${encodeURIComponent(article.dataset.id)}`);
  const items = entries.map(({ at, author: who, action, detail, undone }) => {
    const what = (detail.edits ?? []).map((edit) => ["", `${edit.before || "nothing"} → ${edit.after || "nothing"}`]);
    const parts = [...what, [action === "redo" ? "Before: " : "", detail.text], ["Instruction: ", detail.instruction]]
      .filter(([, text]) => text).map(([label, text]) => make("span", { className: "place" }, label, make("bdi", {}, text)));
    return make("li", {}, make("bdi", {}, who), ` ${DONE[action] ?? action}${undone ? " (undone)" : ""}, `,
      make("time", { dateTime: at }, new Date(at).toLocaleString()), ...parts);
  });
  openDialog("History", items.length ? make("ol", {}, ...items) : make("p", {}, "Nobody has decided about this paragraph yet."));
});

// Rows of a long list are made a few at a time, so that the page answers meanwhile.
const ROWS = 40;
const fill = async (list, items, row) => {
  const turn = (list.dataset.turn = String(1 + Number(list.dataset.turn ?? 0)));
  list.replaceChildren();
  for (let at = 0; at < items.length && list.dataset.turn === turn; at += ROWS) {
    list.append(...items.slice(at, at + ROWS).map(row));
    await new Promise((done) => { setTimeout(done); });
  }
};

const kindOf = (edit) => edit.getAttribute("aria-label").split(":")[0];

// All edits of this page, or those of one kind: listed first, decided in one step.
const decideAll = () => {
  const undecided = edits().filter((one) => !one.classList.contains("decided"));
  if (!undecided.length) return say("Every edit shown here is decided.");
  const kinds = Map.groupBy(undecided, kindOf);
  const option = (value, count) => make("option", { value }, `${value || "all kinds"} (${count})`);
  const choice = make("select", { name: "kind" }, option("", undecided.length), ...[...kinds].map(([kind, found]) => option(kind, found.length)));
  choice.value = kinds.has(root.querySelector("[name=kind]").value) ? root.querySelector("[name=kind]").value : "";
  const list = make("ul", { className: "matches", tabIndex: 0, "aria-label": "Edits" });
  const listed = () => (choice.value ? kinds.get(choice.value) : undecided);
  const row = (one) => make("li", {}, ...[...one.children].map((part) => part.cloneNode(true)), make("span", { className: "note" }, ` ${one.title}`));
  const button = (action, label, kind) => {
    const made = make("button", { type: "button", className: kind }, label);
    made.addEventListener("click", async () => {
      dialog.close();
      const by = Map.groupBy(listed(), (one) => one.closest(".paragraph"));
      const decisions = [...by].map(([{ dataset }, found]) => ({
        paragraph: dataset.id, version: dataset.version, action, edits: found.map((one) => Number(one.dataset.number)),
      }));
      const count = listed().length;
      if (await attempt(() => send("decisions", { decisions }))) say(`${count} edits ${action}ed. U undoes all of them.`);
    });
    return made;
  };
  const update = () => fill(list, listed(), row);
  choice.addEventListener("change", update);
  openDialog("Decide about all edits shown", make("label", { className: "field" }, "Kind of edit", choice), list,
    button("accept", "Accept all of these", ""), button("reject", "Reject all of these", "second"));
  update();
};

const search = () => {
  const field = (name, label) => make("label", { className: "field" }, label, make("input", { name, dir: "auto" }));
  const check = (name, label, checked) => make("label", { className: "check" }, make("input", { type: "checkbox", name, checked }), label);
  const list = make("div", { className: "matches" });
  const count = make("p", { role: "status" });
  const go = make("button", { type: "button", className: "second", disabled: true }, "Replace the chosen");
  const form = make("form", {}, field("find", "Find"), field("replacement", "Replace by"), check("whole_word", "whole word", false),
    check("regex", "regular expression", false), check("match_case", "match case", true),
    make("div", { className: "row" }, make("button", {}, "Preview"), go), count, list);
  let wanted = null;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const values = (name) => form.elements[name].checked;
      wanted = { find: form.elements.find.value, replacement: form.elements.replacement.value, whole_word: values("whole_word"),
        regex: values("regex"), match_case: values("match_case") };
      const found = await call("POST", `${api}/search`, { json: wanted });
      const many = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
      count.textContent = found.matches
        ? `${many(found.matches, "place")} in ${many(found.paragraphs.length, "paragraph")}. Clear the mark of those to leave alone.`
        : "Nothing was found in the text of the book. Edits that are not accepted are not searched.";
      go.disabled = true;
      await fill(list, found.paragraphs, preview);
      go.disabled = !found.paragraphs.length;
    }).then((fine) => { if (!fine) count.textContent = document.querySelector("#problem").textContent; });
  });
  go.addEventListener("click", () => attempt(async () => {
    const paragraphs = [...list.querySelectorAll("input:checked")].map(({ dataset }) => ({ id: dataset.id, version: dataset.version }));
    const made = await send("replace", { ...wanted, paragraphs });
    dialog.close();
    say(`Replaced in ${made.paragraphs.length} paragraphs. U undoes all of it.`);
  }).then((fine) => { if (!fine) dialog.close(); }));
  openDialog("Search and replace in the whole book", form);
  form.elements.find.focus();
};

// An ellipsis where the words around a match are cut off.
const CONTEXT = 40;
const around = (text) => (Array.from(text).length < CONTEXT ? "" : "…");

const preview = (one) => {
  const box = make("input", { type: "checkbox", checked: !one.refused, disabled: Boolean(one.refused) });
  Object.assign(box.dataset, { id: one.id, version: one.version });
  const places = one.matches.map((match) => make("span", { className: "place", dir: "auto", lang: targetLanguage },
    around(match.left), plain(match.left), make("del", {}, match.found), make("ins", {}, match.replacement), plain(match.right), around(match.right)));
  const remarks = [one.refused, ...one.findings.map((finding) => finding.message)].filter(Boolean);
  return make("div", {}, make("label", { className: "check" }, box, make("span", {}, ...places)),
    ...remarks.map((remark) => make("p", { className: "note" }, `⚑ ${remark}`)));
};

// A comment does not change the version.
const differs = ({ id, version, comments }) =>
  articleOf(id)?.dataset.version !== version || articleOf(id).querySelectorAll(".comments li").length !== comments.length;

// What others decide appears here as well. A text that is being edited keeps the version that its author saw.
const follow = async () => {
  try {
    const found = await call("GET", `${api}/changes?after=${last}`);
    last = found.last_change;
    for (const one of found.paragraphs) if (differs(one)) show(one);
  } catch { /* the next try may reach the service */ }
};
setInterval(() => { if (!document.hidden && !busy) follow(); }, 5000);

// Keys and buttons.

const columns = () => {
  const on = root.classList.toggle("with-mt");
  root.querySelector("[data-do=columns]").setAttribute("aria-pressed", on);
};
const commands = {
  accept: () => choose("accept"), reject: () => choose("reject"), toggle, edit: editText, next: () => move(1), previous: () => move(-1), undo, comment, dismiss,
  history, redo, names: () => { location.href = `${book}#names`; }, search, keys, columns, all: decideAll, author: rename,
};

// One after the other: a key that is pressed before the last answer has come speaks of the edit that is then chosen.
let turn = Promise.resolve();
const run = (name) => { turn = turn.then(commands[name]).catch(fail); };
const byKey = new Map([...bar.querySelectorAll("button")].map((one) => [one.getAttribute("aria-keyshortcuts").toLowerCase(), one.dataset.do]));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
  const isPressed = event.target.closest?.(".edit") && [" ", "Enter"].includes(event.key);
  const name = isPressed ? "toggle" : byKey.get(event.key.toLowerCase());
  if (!name) return;
  event.preventDefault();
  run(name);
});
root.addEventListener("click", (event) => {
  const name = event.target.closest("[data-do]")?.dataset.do;
  if (name) return run(name);
  const element = event.target.closest(".edit") ?? event.target.closest(".paragraph");
  if (element && !event.target.closest("form, a, button")) select(element, { focus: element.classList.contains("edit") });
});
root.addEventListener("focusin", (event) => {
  const element = event.target.closest(".edit");
  if (element && element !== current) select(element, { focus: false, scroll: "nearest" });
});

// Links for reviewers.

const links = document.querySelector("#links");
const listLinks = async () => {
  const { links: found } = await call("GET", `${api}/links`);
  document.querySelector("#link-list").replaceChildren(...found.filter((one) => !one.revoked).map((one) => {
    const revoke = make("button", { type: "button", className: "danger" }, "Revoke");
    revoke.addEventListener("click", () => attempt(async () => { await call("DELETE", `${api}/links/${one.id}`); await listLinks(); }));
    return make("li", {}, make("bdi", {}, one.name), ` until ${new Date(one.expires).toLocaleDateString()} `, revoke);
  }));
};
if (links) {
  links.hidden = false;
  listLinks().catch(fail);
  document.querySelector("#link-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, days } = event.target.elements;
    attempt(async () => {
      const made = await call("POST", `${api}/links`, { json: { name: name.value, days: Number(days.value) } });
      await listLinks();
      const address = new URL(made.address, location.href).href;
      const copy = make("button", { type: "button", className: "second" }, "Copy");
      copy.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(address);
          say("The address is copied.");
        } catch {
          getSelection().selectAllChildren(copy.previousElementSibling);
          say("The browser does not allow copying here: the address is selected, press Ctrl + C.");
        }
      });
      name.value = "";
      document.querySelector("#link-list").prepend(make("li", {}, "Send this address; it is shown once: ", make("code", {}, address), copy));
    });
  });
}

// On a phone the filters are folded, unless one is chosen.
const fold = document.querySelector("#fold");
const phone = matchMedia("(max-width: 48rem)");
const isFiltered = [...fold.querySelectorAll("select:not([name=chapter]), input")].some((one) => one.value);
const foldFilters = () => { fold.open = !phone.matches || isFiltered; };
phone.addEventListener("change", foldFilters);
foldFilters();

// Messages belong where one looks: at the bottom, with the actions.
bar.prepend(document.querySelector("#problem"), document.querySelector("#notice"));
bar.hidden = root.querySelector(".tools").hidden = false;
showAuthor();
select(edits().find((one) => one.classList.contains("open")) ?? edits()[0], { focus: false, scroll: null });
root.dataset.ready = "1";
