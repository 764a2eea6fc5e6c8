"use strict";
// Filters, search and keys. The rows are in the page already: all this does is hide, find and go to them.
(() => {
  const one = (selector) => document.querySelector(selector);
  const main = one("#report-book");
  const bar = one("#report-bar");
  const form = one("#report-filters");
  const status = one("#report-status");
  const help = one("#report-help");
  const clear = one("#report-clear");
  const marks = one("#report-marks");
  const keysOn = one("#report-keys-on");
  const search = form.querySelector("[name=q]");
  const buttons = [...form.querySelectorAll("[name=show]")];
  const choices = [...form.querySelectorAll("select")];
  const sections = [...main.querySelectorAll("section")];
  const counted = (number) => number.toLocaleString("en");

  const paragraphs = [...main.querySelectorAll("article")].map((element, index) => ({
    element, index, status: element.dataset.status, chapter: element.parentElement.dataset.chapter, hits: 0,
  }));
  const paragraphOf = new Map(paragraphs.map((paragraph) => [paragraph.element, paragraph]));
  let shown = paragraphs;
  let open = [];  // the chapters that have any of those, and where in them each begins and ends
  let filters = { show: "", chapter: "", kind: "", guard: "", q: "" };
  let sought = "";
  let changes = null;  // all that j and k go through, and what n and p do; made on first use
  let hits = null;
  let change = null;
  let hit = null;

  // ---- Searching: letters count as equal whatever their case, accent or kind of quotation mark. ----
  const folds = new Map();
  const foldOne = (letter) => {
    if (!folds.has(letter)) {
      const plain = { "‘": "'", "’": "'", "“": '"', "”": '"' }[letter] ?? letter.normalize("NFD").charAt(0);
      folds.set(letter, plain.toLowerCase().length === 1 ? plain.toLowerCase() : letter);
    }
    return folds.get(letter);
  };
  // Every letter stays one letter, so that a place in the folded text is the same place in the text.
  const fold = (text) => {
    const plain = text.replace(/[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff\u2018\u2019\u201c\u201d]/g, foldOne);
    const lower = plain.toLowerCase();
    return lower.length === plain.length ? lower : plain.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  };
  const textsOf = (paragraph) =>
    (paragraph.texts ??= [...paragraph.element.querySelectorAll(".text")].map((text) => fold(text.textContent)));
  const countIn = (text) => {
    let count = 0;
    for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) count += 1;
    return count;
  };
  const hitsOf = (paragraph) => {
    const found = [];
    textsOf(paragraph).forEach((text, column) => {
      for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
        found.push({ paragraph, column, at });
      }
    });
    return found;
  };
  const rangeOf = ({ paragraph, column, at }) => {
    const nodes = document.createTreeWalker(paragraph.element.querySelectorAll(".text")[column], NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let passed = 0;
    let begun = false;
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (!begun && at < passed + node.length) {
        range.setStart(node, at - passed);
        begun = true;
      }
      if (begun && at + sought.length <= passed + node.length) {
        range.setEnd(node, at + sought.length - passed);
        break;
      }
      passed += node.length;
    }
    return range;
  };

  // ---- What is in view ----
  const firstInView = () => {
    const top = getComputedStyle(bar).position === "sticky" ? bar.getBoundingClientRect().bottom : 0;
    const isAbove = (element) => element.getBoundingClientRect().bottom <= top + 1;
    // By chapters first: a chapter out of view has a guessed height, and its paragraphs may reach beyond it.
    const here = open.find(({ section }) => !isAbove(section));
    if (!here) return shown.length;
    let low = here.from;
    for (let high = here.to; low < high;) {
      const middle = (low + high) >> 1;
      if (isAbove(shown[middle].element)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  // Hits are marked where the reader looks, not in the whole book: "the" is in every line of it.
  const paint = () => {
    if (!globalThis.Highlight) return;
    CSS.highlights.delete("hit");
    CSS.highlights.delete("current-hit");
    if (!sought) return;
    const ranges = [];
    for (let i = Math.max(0, firstInView() - 3); i < shown.length; i += 1) {
      if (shown[i].element.getBoundingClientRect().top > 2 * innerHeight) break;
      if (shown[i].hits) ranges.push(...hitsOf(shown[i]).map(rangeOf));
    }
    CSS.highlights.set("hit", new Highlight(...ranges));
    if (!hit) return;
    const current = new Highlight(rangeOf(hit));
    current.priority = 1;
    CSS.highlights.set("current-hit", current);
  };
  let painting = false;
  const paintSoon = () => {
    if (painting || !sought) return;
    painting = true;
    requestAnimationFrame(() => {
      painting = false;
      paint();
    });
  };

  // ---- Filtering ----
  let named = null;
  const withKindsAndGuards = () => {
    if (named) return;
    named = true;
    for (const paragraph of paragraphs) paragraph.kinds = paragraph.guards = null;
    for (const [selector, key, list] of [["[data-edit]", "kind", "kinds"], ["[data-guard]", "guard", "guards"]]) {
      for (const element of main.querySelectorAll(selector)) {
        const paragraph = paragraphOf.get(element.closest("article"));
        (paragraph[list] ??= new Set()).add(element.dataset[key]);
      }
    }
  };
  const isWanted = (paragraph) =>
    (!filters.show || paragraph.status === filters.show) &&
    (!filters.chapter || paragraph.chapter === filters.chapter) &&
    (!filters.kind || paragraph.kinds?.has(filters.kind)) &&
    (!filters.guard || paragraph.guards?.has(filters.guard)) &&
    (!sought || paragraph.hits > 0 || fold(paragraph.element.id) === sought);
  const say = (text) => { status.textContent = text; };
  const sayWhatIsShown = () => {
    if (shown.length === paragraphs.length && !sought) return say("");
    const found = shown.reduce((sum, paragraph) => sum + paragraph.hits, 0);
    const where = `${counted(shown.length)} of ${counted(paragraphs.length)} paragraphs`;
    say(sought ? `${counted(found)} hit${found === 1 ? "" : "s"} in ${where}` : where);
  };
  const openChapters = () => {
    const found = [];
    shown.forEach((paragraph, at) => {
      const section = paragraph.element.parentElement;
      if (found.at(-1)?.section !== section) found.push({ section, from: at, to: at });
      found.at(-1).to = at + 1;
    });
    return found;
  };
  const apply = () => {
    const before = sought;
    sought = fold(filters.q);
    if (filters.kind || filters.guard) withKindsAndGuards();
    if (sought !== before) {
      for (const paragraph of paragraphs) {
        paragraph.hits = sought ? textsOf(paragraph).reduce((sum, text) => sum + countIn(text), 0) : 0;
      }
    }
    shown = paragraphs.filter(isWanted);
    const wanted = new Set(shown);
    for (const paragraph of paragraphs) {
      const hidden = !wanted.has(paragraph);
      if (hidden !== paragraph.element.hidden) paragraph.element.hidden = hidden;
    }
    open = openChapters();
    const left = new Set(open.map(({ section }) => section));
    for (const section of sections) section.hidden = !left.has(section);
    one("#report-none").hidden = shown.length > 0 || paragraphs.length === 0;
    changes = hits = hit = null;
    leaveChange();
    sayWhatIsShown();
    clear.hidden = !Object.values(filters).some(Boolean);
    for (const button of buttons) button.setAttribute("aria-pressed", button.value === filters.show);
    for (const choice of choices) choice.value = filters[choice.name];
    if (search.value !== filters.q) search.value = filters.q;
    paint();
  };
  const filterBy = (wanted) => {
    filters = { show: "", chapter: "", kind: "", guard: "", q: "", ...wanted };
    apply();
    // What was filtered begins at its beginning, unless that is in view anyway.
    if (main.getBoundingClientRect().top < 0) main.scrollIntoView();
  };
  const filterAndTell = (wanted) => {
    filterBy({ ...filters, ...wanted });
    const set = Object.entries(filters).filter(([, value]) => value);
    const address = set.length ? `#?${new URLSearchParams(set)}` : "#";
    try {
      history.replaceState(null, "", address);
    } catch {
      // A browser may limit the changes of the address in a minute; the page works without.
    }
  };

  // ---- Going places ----
  const isInView = (box) => box.top >= bar.getBoundingClientRect().bottom - 1 && box.bottom <= innerHeight;
  const reveal = (target, element) => {
    element.scrollIntoView({ block: "center" });
    // Rows out of view have a guessed height: on the way there the guesses are replaced, and the place moves.
    requestAnimationFrame(() => {
      const box = target.getBoundingClientRect();
      if (!isInView(box)) scrollBy(0, box.top - innerHeight / 2);
      paintSoon();
    });
  };
  const elementsOf = (item) => [item.before, item.after].filter(Boolean);
  const leaveChange = () => {
    if (change) for (const element of elementsOf(change)) element.classList.remove("current");
    change = null;
  };
  const changesOf = (paragraph) => {
    const found = new Map();
    for (const element of paragraph.element.querySelectorAll("[data-edit]")) {
      const number = Number(element.dataset.edit);
      if (filters.kind && element.dataset.kind !== filters.kind) continue;
      if (!found.has(number)) found.set(number, { paragraph, number, before: null, after: null });
      found.get(number)[element.localName === "del" ? "before" : "after"] = element;
    }
    return [...found.values()].sort((a, b) => a.number - b.number);
  };
  // The next of a list in book order: after the one we are at if it is still in view, else from what is in view.
  const nextOf = (list, current, step, seen) => {
    const at = list.indexOf(current);
    if (at >= 0 && seen()) return (at + step + list.length) % list.length;
    const from = shown[firstInView()]?.index ?? Infinity;
    const after = list.findIndex((item) => item.paragraph.index >= from);
    const next = after < 0 ? list.length : after;
    return (step > 0 ? next : next - 1 + list.length) % list.length;
  };
  const stillSeen = (box) => box.bottom > 0 && box.top < innerHeight;
  const focusOn = (paragraph) => {
    paragraph.element.tabIndex = -1;
    paragraph.element.focus({ preventScroll: true });
  };
  const goToChange = (step) => {
    changes ??= shown.flatMap(changesOf);
    if (!changes.length) return say("No changes here.");
    const next = nextOf(changes, change, step, () => stillSeen(elementsOf(change)[0].getBoundingClientRect()));
    leaveChange();
    change = changes[next];
    const elements = elementsOf(change);
    for (const element of elements) element.classList.add("current");
    focusOn(change.paragraph);
    reveal(elements.at(-1), elements.at(-1));
    say(`change ${counted(next + 1)} of ${counted(changes.length)}: ${elements.at(-1).title}`);
  };
  const goToHit = (step) => {
    if (!sought) return search.focus();
    hits ??= shown.flatMap(hitsOf);
    if (!hits.length) return say("No hits.");
    const next = nextOf(hits, hit, step, () => stillSeen(rangeOf(hit).getBoundingClientRect()));
    hit = hits[next];
    const range = rangeOf(hit);
    reveal(range, range.startContainer.parentElement);
    paint();
    say(`hit ${counted(next + 1)} of ${counted(hits.length)}`);
  };
  const goToParagraph = (step) => {
    if (!shown.length) return;
    const focused = shown.indexOf(paragraphOf.get(document.activeElement));
    const here = focused >= 0 && stillSeen(shown[focused].element.getBoundingClientRect());
    const first = firstInView();
    const next = here ? focused + step : step > 0 ? first : first - 1;
    const paragraph = shown[Math.min(shown.length - 1, Math.max(0, next))];
    focusOn(paragraph);
    paragraph.element.scrollIntoView();
    requestAnimationFrame(() => paragraph.element.scrollIntoView());
  };

  // ---- The address: "#?show=rejected&q=harbour" filters, "#id" goes to a paragraph or a chapter ----
  const followAddress = () => {
    const raw = location.hash.slice(1);
    let name = raw;
    try {
      name = decodeURIComponent(raw);
    } catch {
      // not an address that we made
    }
    const target = name && document.getElementById(name);
    if (!target && raw.startsWith("?")) {
      const wanted = new URLSearchParams(raw.slice(1));
      const known = Object.keys(filters).filter((key) => wanted.has(key));
      filterBy(Object.fromEntries(known.map((key) => [key, wanted.get(key)])));
      return main.scrollIntoView();
    }
    if (!target || !main.contains(target) || target === main) return;
    if (target.closest("[hidden]")) filterBy({});
    target.scrollIntoView();
    requestAnimationFrame(() => target.scrollIntoView());
    if (paragraphOf.has(target)) focusOn(paragraphOf.get(target));
  };

  // ---- Ears ----
  let typing = 0;
  const searchNow = () => {
    clearTimeout(typing);
    if (search.value !== filters.q) filterAndTell({ q: search.value });
  };
  const filterByAll = () => filterAndTell({ show: "", chapter: "", kind: "", guard: "", q: "" });
  const showKeys = () => {
    help.showModal();
    help.querySelector("button").focus();
  };
  const toggle = (box) => { box.checked = !box.checked; };
  const keys = {
    j: () => goToChange(1),
    k: () => goToChange(-1),
    J: () => goToParagraph(1),
    K: () => goToParagraph(-1),
    n: () => goToHit(1),
    p: () => goToHit(-1),
    m: () => toggle(marks),
    x: filterByAll,
    "/": () => { search.focus(); search.select(); },
    "?": showKeys,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!keysOn.checked || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(searchNow, 120);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    searchNow();
    search.blur();
    if (sought) goToHit(1);
  });
  form.addEventListener("change", (event) => {
    if (event.target.localName === "select") filterAndTell({ [event.target.name]: event.target.value });
  });
  for (const button of buttons) button.addEventListener("click", () => filterAndTell({ show: button.value }));
  clear.addEventListener("click", filterByAll);
  one("#report-keys").addEventListener("click", showKeys);
  addEventListener("scroll", paintSoon, { passive: true });
  addEventListener("resize", paintSoon);
  addEventListener("hashchange", followAddress);

  for (const tool of form.querySelectorAll("[data-script]")) tool.hidden = false;
  // What is gone to must not hide behind the bar, however many lines it takes.
  new ResizeObserver(() => {
    const height = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    document.documentElement.style.scrollPaddingTop = `${height + 8}px`;
  }).observe(bar);
  open = openChapters();
  followAddress();
})();
