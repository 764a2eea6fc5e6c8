"use strict";
// Where votes are kept: by the server, which has to confirm each, or by this browser alone where there is none.
//
// What is begun and what the server has not confirmed is kept in the browser as well, so that neither a broken
// connection nor a closed browser loses it. A vote replaces the one before it: to send it twice does no harm.
class Refused extends Error {}

class Votes {
  #key;
  #items;
  #touched = new Set();  // items of which this page knows better than what is kept; another tab may know of the rest
  #send;
  #tell;
  #sending = null;
  #wake = null;
  #failures = 0;
  #refusals = new WeakMap();

  constructor(sheet, { send = null, tell = () => {} } = {}) {
    this.#key = `ape-ab:${sheet.trial}:${sheet.rater}`;
    this.#send = send;
    this.#tell = tell;
    this.lasts = true;  // whether this browser keeps what is given to it
    this.#items = new Set(sheet.items.map(({ id }) => id));
    const kept = this.#read();
    this.confirmed = this.#known([...sheet.votes, ...(send ? [] : kept.confirmed ?? [])]);
    this.waiting = this.#known(send ? kept.waiting : []);
    this.drafts = this.#known(kept.drafts);
    globalThis.addEventListener("online", () => this.hurry());
  }

  get(item) { return this.waiting.get(item) ?? this.confirmed.get(item) ?? null; }

  get list() {
    if (!this.#send) this.#others("confirmed").forEach((vote) => this.confirmed.set(vote.item, vote));
    return [...this.confirmed.values()];
  }

  // What is chosen so far. A vote that still waits for the server is sent as it is now.
  begin(vote) {
    (vote.choice && this.waiting.has(vote.item) ? this.waiting : this.drafts).set(vote.item, vote);
    this.#write(vote);
  }

  // Comes back once the vote is where it belongs; throws Refused where the server will not have it.
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

  async flush(wanted = null) {
    while (wanted ? this.waiting.has(wanted.item) : this.waiting.size) {
      this.#sending ??= this.#sendOne().finally(() => { this.#sending = null; });
      await this.#sending;
    }
    if (wanted && this.#refusals.has(wanted)) throw this.#refusals.get(wanted);
  }

  hurry() { this.#wake?.(); }

  async #sendOne() {
    const [[item, vote]] = this.waiting;
    try {
      await this.#send(vote);
    } catch (error) {
      this.#tell(error);
      if (error instanceof Refused) return this.#takeBack(vote, error);
      this.#failures += 1;
      return this.#rest(Math.min(30, 2 ** this.#failures));
    }
    if (this.#failures) this.#tell(null);
    this.#failures = 0;
    this.confirmed.set(item, vote);
    if (this.waiting.get(item) === vote) this.waiting.delete(item);
    this.#write(vote);
  }

  #takeBack(vote, error) {
    this.#refusals.set(vote, error);
    this.waiting.delete(vote.item);
    this.drafts.set(vote.item, vote);
    this.#write(vote);
  }

  #rest(seconds) {
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
    const kept = Object.fromEntries(names.map((name) => [name, [...this.#others(name), ...mine(this[name])]]));
    try {
      localStorage.setItem(this.#key, JSON.stringify(kept));
      this.lasts = true;
    } catch {
      this.lasts = false;
    }
  }
}

// The votes of a file that this page saved before, or a sentence on why they are not.
const votesIn = (text, sheet) => {
  let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Refused("This file is no JSON. Choose one that this page has saved.");
  }
  if (!Array.isArray(file?.votes)) throw new Refused("There are no votes in this file. Choose one that this page has saved.");
  if (file.trial !== sheet.trial) throw new Refused("These votes are of another test, and were left alone.");
  if (file.rater !== sheet.rater) throw new Refused(`These votes are ${file.rater}’s, and this page is ${sheet.rater}’s. They were left alone.`);
  const items = new Set(sheet.items.map(({ id }) => id));
  const choices = sheet.ties ? ["first", "second", "tie"] : ["first", "second"];
  return file.votes.filter((vote) => items.has(vote?.item) && choices.includes(vote.choice));
};
