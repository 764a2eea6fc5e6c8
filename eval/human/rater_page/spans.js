"use strict";
// Marks errors in two texts word by word, by mouse, touch or keyboard, and scores the texts.
//
// A span is { start, end, severity, category }, in code points of the paragraphs joined by an empty line. An empty span
// at the end of the text says that something is missing.
class SpanEditor {
  static #WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\s+|[^]/gu;
  static #BREAK = 2;  // length of the empty line between paragraphs
  #settings;
  #say;
  #changed;
  #sides = {};
  #dragging = null;

  constructor(settings, { say, changed }) {
    this.#settings = settings;
    this.#say = say;
    this.#changed = changed;
    for (const [name, letter] of [["first", "A"], ["second", "B"]]) {
      const side = { name, letter, words: [], spans: [], cursor: 0, anchor: 0, length: 0, box: document.createElement("div") };
      side.box.className = "words";
      side.box.tabIndex = 0;
      side.box.setAttribute("role", "group");
      side.box.setAttribute("aria-label", `Text of ${letter}; arrow keys move by word, Space marks an error`);
      this.#sides[name] = side;
      this.#listen(side);
    }
  }

  // Show the texts of an item without marks; returns their elements.
  show({ a, b }) {
    return [this.#fill(this.#sides.first, a), this.#fill(this.#sides.second, b)];
  }

  load(vote) {
    for (const side of Object.values(this.#sides)) {
      side.spans = (vote?.spans?.[side.name] ?? []).map((span) => ({ ...span }));
      side.cursor = side.anchor = 0;
      this.#score(side, vote?.scores?.[side.name] ?? null);
      this.#draw(side);
    }
  }

  read() {
    const sides = Object.values(this.#sides);
    const scores = Object.fromEntries(sides.filter((side) => side.score !== null).map((side) => [side.name, side.score]));
    const spans = Object.fromEntries(sides.map((side) => [side.name, side.spans.map((span) => ({ ...span }))]));
    const { first, second } = scores;
    const both = first !== undefined && second !== undefined;
    return { choice: both ? (first === second ? "tie" : first > second ? "first" : "second") : null, scores, spans };
  }

  // What is still missing from a complete answer; empty if nothing is.
  missing() {
    const left = Object.values(this.#sides).filter((side) => side.score === null);
    return left.length ? `Give ${left.map((side) => side.letter).join(" and ")} a score from 0 to 100 first.` : "";
  }

  // What an answer to a tutorial passage lacks; empty if it is right.
  check({ expected, higher }) {
    for (const { side: name, words, severity } of expected) {
      const side = this.#sides[name];
      const text = side.text;
      const start = words ? [...text.slice(0, text.indexOf(words))].length : side.length;
      const end = start + [...words].length;
      const found = side.spans.find((span) => (words ? span.start < end && span.end > start : span.start === span.end));
      const what = words ? `“${words}”` : "that something is missing";
      if (!found) return `Mark ${what} in ${side.letter}.`;
      if (found.severity !== severity) return `Make the mark of ${what} ${severity}.`;
    }
    if (this.missing()) return this.missing();
    const [best, other] = higher === "first" ? ["first", "second"] : ["second", "first"];
    return this.#sides[best].score > this.#sides[other].score ? "" : `${this.#sides[best].letter} is better: give it the higher score.`;
  }

  focus(name) { this.#sides[name].box.focus({ preventScroll: false }); }

  // Handle a key inside a text; true if it meant something.
  key(event) {
    const side = Object.values(this.#sides).find(({ box }) => box === event.target);
    if (!side) return false;
    const { key, shiftKey } = event;
    if (key === "ArrowLeft" || key === "ArrowRight") this.#move(side, key === "ArrowLeft" ? -1 : 1, shiftKey);
    else if (key === "Home" || key === "End") this.#move(side, key === "Home" ? -Infinity : Infinity, shiftKey);
    else if (key === " ") this.#mark(side);
    else if (key === "Delete" || key === "Backspace") this.#remove(side, this.#spanAt(side));
    else if (key === "v") this.#addMissing(side);
    else if (key === "k") this.#category(side)?.focus();
    else return false;
    return true;
  }

  // ---- Texts ----
  #fill(side, paragraphs) {
    side.words = [];
    side.text = paragraphs.join("\n\n");
    let at = 0;
    const shown = paragraphs.map((text, place) => {
      const paragraph = document.createElement("p");
      if (place) at += SpanEditor.#BREAK;
      for (const word of text.match(SpanEditor.#WORDS) ?? []) {
        const element = document.createElement("span");
        element.textContent = word;
        const start = at;
        at += [...word].length;
        paragraph.append(element);
        if (!word.trim()) continue;
        element.dataset.word = side.words.length;
        side.words.push({ element, start, end: at, text: word });
      }
      return paragraph;
    });
    side.length = at;
    side.box.replaceChildren(...shown);
    return [side.box];
  }

  #spanAt(side) {
    const word = side.words[side.cursor];
    return word && side.spans.find((span) => span.start < word.end && span.end > word.start);
  }

  #draw(side) {
    const [low, high] = [Math.min(side.anchor, side.cursor), Math.max(side.anchor, side.cursor)];
    side.words.forEach(({ element, start, end }, place) => {
      const span = side.spans.find((one) => one.start < end && one.end > start);
      element.className = ["word", span?.severity, low < high && place >= low && place <= high ? "chosen" : "", place === side.cursor ? "cursor" : ""]
        .filter(Boolean).join(" ");
    });
    side.spans.sort((one, other) => one.start - other.start);
    document.querySelector(`#${side.name}-marked`).replaceChildren(...side.spans.map((span) => this.#row(side, span)));
  }

  #words(side, { start, end }) { return start === end ? "something is missing" : [...side.text].slice(start, end).join(""); }

  #row(side, span) {
    const row = document.createElement("li");
    const words = document.createElement(span.start === span.end ? "span" : "q");
    words.textContent = this.#words(side, span);
    const severity = this.#button(span.severity, `severity of ${words.textContent}: ${span.severity}`, () => this.#cycle(side, span));
    const remove = this.#button("remove", `remove the mark of ${words.textContent}`, () => this.#remove(side, span));
    row.append(words, severity);
    if (Object.keys(this.#settings.categories).length) row.append(this.#select(side, span, words.textContent));
    row.append(remove);
    return row;
  }

  #button(text, label, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", action);
    return button;
  }

  #select(side, span, words) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", `category of ${words}`);
    select.add(new Option("category …", ""));
    for (const [kind, names] of Object.entries(this.#settings.categories)) {
      const group = document.createElement("optgroup");
      group.label = kind;
      group.append(...names.map((name) => new Option(name, `${kind}/${name}`)));
      select.append(group);
    }
    select.value = span.category;
    select.addEventListener("change", () => { span.category = select.value; this.#changed(); });
    return select;
  }

  #category(side) {
    const place = side.spans.indexOf(this.#spanAt(side));
    return document.querySelectorAll(`#${side.name}-marked select`)[place];
  }

  // ---- Marks ----
  #move(side, by, extend) {
    side.cursor = Math.min(Math.max(side.cursor + by, 0), side.words.length - 1);
    if (!extend) side.anchor = side.cursor;
    this.#draw(side);
    side.words[side.cursor]?.element.scrollIntoView({ block: "nearest" });
    this.#say(`${side.words[side.cursor]?.text ?? ""}${this.#spanAt(side) ? `, ${this.#spanAt(side).severity} error` : ""}`);
  }

  #mark(side) {
    const [low, high] = [Math.min(side.anchor, side.cursor), Math.max(side.anchor, side.cursor)];
    const [first, last] = [side.words[low], side.words[high]];
    if (!first) return;
    const span = { start: first.start, end: last.end, severity: "minor", category: "" };
    const known = side.spans.filter((one) => one.start < span.end && one.end > span.start);
    if (known.length === 1 && low === high) return this.#cycle(side, known[0]);
    if (known.length) return this.#say("A mark is there already: remove it first, or press Space on it for its severity.");
    side.spans.push(span);
    side.anchor = side.cursor;
    this.#after(side, span);
  }

  #cycle(side, span) {
    const { severities } = this.#settings;
    span.severity = severities[(severities.indexOf(span.severity) + 1) % severities.length];
    this.#after(side, span);
  }

  #addMissing(side) {
    const known = side.spans.find((span) => span.start === span.end);
    if (known) return this.#cycle(side, known);
    const span = { start: side.length, end: side.length, severity: "minor", category: "" };
    side.spans.push(span);
    this.#after(side, span);
  }

  #remove(side, span) {
    if (!span) return this.#say("There is no mark here.");
    side.spans = side.spans.filter((one) => one !== span);
    this.#draw(side);
    this.#say("mark removed");
    this.#changed();
  }

  #after(side, span) {
    this.#draw(side);
    this.#say(`${this.#words(side, span)}: ${span.severity} error in ${side.letter}`);
    this.#changed();
  }

  // ---- Scores ----
  #score(side, value) {
    side.score = value;
    document.querySelector(`#${side.name}-score`).value = value ?? "";
    document.querySelector(`#${side.name}-slider`).value = value ?? 50;
    document.querySelector(`#${side.name}-slider`).closest(".score").classList.toggle("unset", value === null);
  }

  // ---- Mouse and touch ----
  #listen(side) {
    const wordUnder = ({ clientX, clientY }) => {
      const found = document.elementFromPoint(clientX, clientY)?.closest("[data-word]");
      return found && side.box.contains(found) ? Number(found.dataset.word) : null;
    };
    side.box.addEventListener("pointerdown", (event) => {
      const place = wordUnder(event);
      if (place === null || event.button) return;
      event.preventDefault();  // no selection of the browser's own
      side.box.focus({ preventScroll: true });
      this.#dragging = side;
      side.anchor = side.cursor = place;
      this.#draw(side);
    });
    side.box.addEventListener("pointermove", (event) => {
      const place = this.#dragging === side ? wordUnder(event) : null;
      if (place === null || place === side.cursor) return;
      side.cursor = place;
      this.#draw(side);
    });
    addEventListener("pointerup", () => {
      if (this.#dragging !== side) return;
      this.#dragging = null;
      this.#mark(side);
    });
    document.querySelector(`#${side.name}-missing`).addEventListener("click", () => this.#addMissing(side));
    for (const id of ["score", "slider"]) {
      document.querySelector(`#${side.name}-${id}`).addEventListener("input", ({ target }) => {
        const valid = target.value !== "" && target.checkValidity();
        side.score = valid ? Number(target.value) : null;
        if (valid && id === "slider") document.querySelector(`#${side.name}-score`).value = target.value;
        if (valid && id === "score") document.querySelector(`#${side.name}-slider`).value = target.value;
        target.closest(".score").classList.toggle("unset", side.score === null);
      });
    }
  }
}
