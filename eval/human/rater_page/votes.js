"use strict";
// Vote storage: on the server, which confirms each vote, or offline in this browser only.
//
// Drafts and unconfirmed votes are also stored in the browser, so that a lost connection or a closed browser loses
// nothing. A vote replaces the earlier one on its item, so sending it twice is harmless.
class Refused extends Error {}

class Votes {
  #key;
  #items;
  #touched = new Set();  // items changed by this page; another tab may have stored newer votes on the others
  #send;
  #report;
  #sending = null;
  #wake = null;
  #failures = 0;
  #refusals = new WeakMap();

  constructor(sheet, { send = null, report = () => {} } = {}) {
    this.#key = `ape-ab:${sheet.trial}:${sheet.rater}`;
    this.#send = send;
    this.#report = report;
    this.lasts = true;  // whether local storage works
    this.#items = new Set(sheet.items.map(({ id }) => id));
    const stored = this.#read();
    this.confirmed = this.#known([...sheet.votes, ...(send ? [] : stored.confirmed ?? [])]);
    this.waiting = this.#known(send ? stored.waiting : []);
    this.drafts = this.#known(stored.drafts);
    globalThis.addEventListener("online", () => this.hurry());
  }

  // A passage that was allocated after the page was loaded.
  admit(item) { this.#items.add(item); }

  get(item) { return this.waiting.get(item) ?? this.confirmed.get(item) ?? null; }

  get list() {
    if (!this.#send) this.#others("confirmed").forEach((vote) => this.confirmed.set(vote.item, vote));
    return [...this.confirmed.values()];
  }

  // Store an unfinished vote. A vote that still waits for the server is updated.
  begin(vote) {
    (vote.choice && this.waiting.has(vote.item) ? this.waiting : this.drafts).set(vote.item, vote);
    this.#write(vote);
  }

  // Resolve once the vote is stored; throw Refused if the server rejects it.
  async save(vote) {
    this.drafts.delete(vote.item);
    (this.#send ? this.waiting : this.confirmed).set(vote.item, vote);
    this.#write(vote);
    if (this.#send) await this.flush(vote);
  }

  load(votes) {
    const newer = votes.filter((vote) => !(this.confirmed.get(vote.item)?.at >= vote.at));
    newer.forEach((vote) => this.confirmed.set(vote.item, vote));
    this.#write(...newer);
    return newer.length;
  }

  async flush(vote = null) {
    while (vote ? this.waiting.has(vote.item) : this.waiting.size) {
      this.#sending ??= this.#sendOne().finally(() => { this.#sending = null; });
      await this.#sending;
    }
    if (vote && this.#refusals.has(vote)) throw this.#refusals.get(vote);
  }

  hurry() { this.#wake?.(); }

  async #sendOne() {
    const [[item, vote]] = this.waiting;
    try {
      await this.#send(vote);
    } catch (error) {
      this.#report(error);
      if (error instanceof Refused) return this.#revertToDraft(vote, error);
      this.#failures += 1;
      return this.#wait(Math.min(30, 2 ** this.#failures));
    }
    if (this.#failures) this.#report(null);
    this.#failures = 0;
    this.confirmed.set(item, vote);
    if (this.waiting.get(item) === vote) this.waiting.delete(item);
    this.#write(vote);
  }

  #revertToDraft(vote, error) {
    this.#refusals.set(vote, error);
    this.waiting.delete(vote.item);
    this.drafts.set(vote.item, vote);
    this.#write(vote);
  }

  #wait(seconds) {
    return new Promise((done) => {
      const timer = setTimeout(done, 1000 * seconds);
      this.#wake = () => { clearTimeout(timer); done(); };
    });
  }

  #read() {
    try {
      return JSON.parse(localStorage.getItem(this.#key)) ?? {};
    } catch {
      return {};
    }
  }

  #known(list) {
    return new Map((list ?? []).filter((vote) => this.#items.has(vote?.item)).map((vote) => [vote.item, vote]));
  }

  #others(name) {
    return [...this.#known(this.#read()[name]).values()].filter(({ item }) => !this.#touched.has(item));
  }

  #write(...changed) {
    changed.forEach(({ item }) => this.#touched.add(item));
    const mine = (votes) => [...votes.values()].filter(({ item }) => this.#touched.has(item));
    const names = this.#send ? ["waiting", "drafts"] : ["confirmed", "drafts"];
    const stored = Object.fromEntries(names.map((name) => [name, [...this.#others(name), ...mine(this[name])]]));
    try {
      localStorage.setItem(this.#key, JSON.stringify(stored));
      this.lasts = true;
    } catch {
      this.lasts = false;
    }
  }
}

// Parse a file saved by this page; throw Refused with the reason if it is invalid.
const votesIn = (text, sheet) => {
  let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Refused("This file is not JSON. Choose a file saved by this page.");
  }
  if (!Array.isArray(file?.votes)) throw new Refused("There are no votes in this file. Choose a file saved by this page.");
  if (file.trial !== sheet.trial) throw new Refused("These votes belong to another test and were not loaded.");
  if (file.rater !== sheet.rater) throw new Refused(`These votes are by ${file.rater}, but this page belongs to ${sheet.rater}. They were not loaded.`);
  const items = new Set(sheet.items.map(({ id }) => id));
  const choices = sheet.ties ? ["first", "second", "tie"] : ["first", "second"];
  return file.votes.filter((vote) => items.has(vote?.item) && choices.includes(vote.choice));
};
