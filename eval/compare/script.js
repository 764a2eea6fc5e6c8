"use strict";
// Paragraph list: filters use a small index; blocks of texts are decompressed on demand, and long work yields often,
// so that the page stays responsive.
(() => {
  const query = (selector) => document.querySelector(selector);
  const formatNumber = (number) => number.toLocaleString("en");
  const index = JSON.parse(query("#index").textContent);
  const sources = [...document.querySelectorAll(".block")];
  const form = query("#filters");
  const status = query("#status");
  const list = query("#paragraphs");
  const [before, after] = [query("#before"), query("#after")];
  const PAGE = 20;
  const PAUSE = 12;  // milliseconds of work between yields to the browser

  // ---- Panels: show one at a time. ----
  const choice = query("#panel-choice");
  if (choice) {
    const show = () => {
      for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.dataset.panel !== choice.value;
    };
    choice.hidden = false;
    choice.addEventListener("change", show);
    show();
  }
  for (const part of document.querySelectorAll("[data-grow]")) part.style.flexGrow = part.dataset.grow;

  // ---- Document and number of each paragraph. ----
  const documentOf = [];
  const numberOf = [];
  index.sizes.forEach((size, place) => {
    for (let number = 1; number <= size; number += 1) {
      documentOf.push(place);
      numberOf.push(number);
    }
  });
  const every = documentOf.map((_, place) => place);
  const byApart = [...every].sort((a, b) => index.apart[b] - index.apart[a] || a - b);

  // ---- Texts. ----
  const blocks = new Map();
  const folded = new Map();
  const blockOf = (place) => Math.floor(place / index.block);
  const paragraphOf = (place) => blocks.get(blockOf(place))[place % index.block];
  const unpack = async (number) => {
    const packed = Uint8Array.from(atob(sources[number].textContent), (letter) => letter.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    blocks.set(number, await new Response(plain).json());
  };
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/[‘’]/g, "'").replace(/[“”]/g, '"');
  const plain = (text, mt) =>
    text === 0 ? mt : typeof text === "string" ? text : text.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("");
  const searchText = (place, system) => {
    const key = `${system}:${place}`;
    if (!folded.has(key)) {
      const { source = "", references, texts } = paragraphOf(place);
      const visible = system === "" ? texts : [texts[0], texts[system]];
      folded.set(key, fold([source, ...references, ...visible.map((text) => plain(text, texts[0]))].join("\n")));
    }
    return folded.get(key);
  };

  // ---- Filters. ----
  const currentFilter = () => {
    const fields = new FormData(form);
    return { system: fields.get("system"), decision: fields.get("decision"), document: fields.get("document"),
      order: fields.get("order"), text: fold(fields.get("text").trim()) };
  };
  const decided = (place, system, decision) =>
    system === "" ? index.decided[place].includes(decision, 1) : index.decided[place][system] === decision;
  const fits = (place, want) =>
    (want.document === "" || documentOf[place] === Number(want.document)) &&
    (want.decision === "" || decided(place, want.system, want.decision));
  const pause = () => new Promise((done) => setTimeout(done));

  let turn = 0;
  let found = [];
  let page = 0;
  const filter = async () => {
    const mine = (turn += 1);
    const want = currentFilter();
    const fitting = [];
    let shown = false;
    let began = performance.now();
    for (const place of want.order === "apart" ? byApart : every) {
      if (!fits(place, want)) continue;
      if (want.text !== "" && !blocks.has(blockOf(place))) {
        await unpack(blockOf(place));
        if (mine !== turn) return;
      }
      if (want.text === "" || searchText(place, want.system).includes(want.text)) fitting.push(place);
      if (performance.now() - began > PAUSE) {
        if (!shown && fitting.length >= PAGE) {
          [found, page, shown] = [fitting, 0, true];
          await render(mine);
        }
        status.textContent = `${formatNumber(fitting.length)} found so far …`;
        await pause();
        if (mine !== turn) return;
        began = performance.now();
      }
    }
    [found, page] = [fitting, shown ? page : 0];
    if (shown) showStatus(); else await render(mine);
    if (mine === turn) list.dataset.turn = mine;
  };

  // ---- Rendering. ----
  const make = (name, text, kind = "") => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const setLanguage = (element, side) => {
    element.lang = index.languages[side].code;
    element.dir = index.languages[side].direction;
    return element;
  };
  const renderText = (text, mt) => {
    const paragraph = setLanguage(make("p", undefined, "text"), "target");
    for (const piece of text === 0 ? [mt] : typeof text === "string" ? [text] : text) {
      if (typeof piece === "string") paragraph.append(piece);
      else {
        const [now, was, kind] = piece;
        for (const [name, words] of [["del", was], ["ins", now]]) {
          if (!words) continue;
          const mark = make(name, words);
          mark.title = `${kind}: ${was || "∅"} → ${now || "∅"}`;
          paragraph.append(mark);
        }
      }
    }
    return paragraph;
  };
  const renderInput = (name, text, side) => {
    const part = make("div");
    const words = setLanguage(make("p", text, "text"), side);
    part.append(make("h4", name), words);
    return part;
  };
  const renderOutput = (number, place, paragraph) => {
    const decision = index.decisions[index.decided[place][number]];
    const text = paragraph.texts[number];
    const part = make("div", undefined, text === 0 ? "same" : "");
    const heading = make("h4", index.systems[number]);
    const score = paragraph.scores?.[number];
    if (score !== undefined && score !== null) heading.append(make("small", `${index.metric} ${score.toFixed(1)}`));
    if (number && index.kinds[number] === "model") heading.append(make("small", decision, `decision ${decision}`));
    else if (number && text === 0) heading.append(make("small", "same as the MT"));
    part.append(heading, renderText(text, paragraph.texts[0]));
    const findings = paragraph.findings?.[number];
    if (findings) {
      const notes = make("ul", undefined, "notes");
      for (const [guard, severity, message] of findings) {
        const note = make("li", undefined, severity);
        note.append(make("b", guard), ` ${message}`);
        notes.append(note);
      }
      part.append(notes);
    }
    return part;
  };
  const articleOf = (place, system) => {
    const paragraph = paragraphOf(place);
    const article = make("article");
    const header = make("header", `${index.documents[documentOf[place]]}, paragraph ${formatNumber(numberOf[place])}`);
    if (index.apart[place]) header.append(make("b", `${index.metric ? "" : "edit rate "}difference ${index.apart[place].toFixed(2)}`));
    const above = make("div", undefined, "given");
    if (paragraph.source !== undefined) above.append(renderInput("source", paragraph.source, "source"));
    paragraph.references.forEach((text, number) =>
      above.append(renderInput(paragraph.references.length > 1 ? `reference ${number + 1}` : "reference", text, "target")));
    const below = make("div", undefined, "made");
    const numbers = system === "" ? index.systems.keys() : new Set([0, Number(system)]);
    for (const number of numbers) below.append(renderOutput(number, place, paragraph));
    article.append(header, above, below);
    return article;
  };
  const showStatus = () => {
    const first = page * PAGE;
    const last = Math.min(first + PAGE, found.length);
    status.textContent = found.length
      ? `${formatNumber(first + 1)} to ${formatNumber(last)} of ${formatNumber(found.length)} paragraphs`
      : "No paragraph matches.";
    before.disabled = page === 0;
    after.disabled = last >= found.length;
  };
  const render = async (mine) => {
    const places = found.slice(page * PAGE, (page + 1) * PAGE);
    for (const number of new Set(places.map(blockOf))) if (!blocks.has(number)) await unpack(number);
    if (mine !== turn) return;
    const system = new FormData(form).get("system");
    list.replaceChildren(...places.map((place) => articleOf(place, system)));
    showStatus();
  };
  const turnTo = async (next) => {
    page = next;
    await render(turn);
    query("#side-by-side").scrollIntoView();
  };

  // ---- Controls. ----
  const fill = (name, names) => {
    const select = form.elements[name];
    names.forEach((text, value) => {
      if (text === null) return;
      const option = make("option", text);
      option.value = value;
      select.append(option);
    });
  };
  fill("system", index.systems.map((name, number) => (number ? name : null)));
  fill("decision", index.decisions);
  fill("document", index.documents);
  form.elements.document.closest("label").hidden = index.documents.length < 2;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    if (event.target.name === "gone") list.classList.toggle("gone", event.target.checked);
    else if (event.target.name !== "text") filter();
  });
  let typed = 0;
  form.elements.text.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(filter, 150);
  });
  before.addEventListener("click", () => turnTo(page - 1));
  after.addEventListener("click", () => turnTo(page + 1));
  for (const element of [form, before, after]) element.hidden = false;
  setTimeout(filter);
})();
