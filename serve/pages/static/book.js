// The page of a book: live progress, and the names to confirm.
import { call, clear, events, fail } from "./api.js";

const find = (id) => document.getElementById(id);
const id = find("book").dataset.id;

const duration = (seconds) => {
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    const count = Math.round(seconds / length);
    if (seconds >= length) return `${count} ${unit}${count > 1 ? "s" : ""}`;
  }
  return "less than a minute";
};
const number = (value) => value.toLocaleString("en");

// Replaces the part that depends on the state, from the page as the server makes it now.
const reload = async () => {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = document.activeElement?.closest?.("#book form")?.getAttribute("action");
  find("book").replaceWith(document.adoptNode(page.getElementById("book")));
  if (focused) find("book").querySelector("button, a")?.focus();
};

const showProgress = ({ share, counts, seconds_left: left, state }) => {
  if (!find("bar")) return;
  find("bar").value = share;
  find("words").textContent = number(counts.words_done);
  find("left").textContent = left !== null && state === "running" ? ` · about ${duration(left)} left` : "";
  for (const name of ["edited", "unchanged", "rejected", "quarantined", "skipped", "waiting"]) {
    find(`count-${name}`).textContent = number(counts[name]);
  }
};

let stop = null;
const follow = () => {
  stop?.();
  stop = events(`/v1/jobs/${id}/events`, {
    progress: showProgress,
    state: () => reload(),
    end: async () => { await reload(); },
    open: () => { if (find("connection")) find("connection").textContent = ""; },
    lost: (closed) => {
      if (find("connection")) find("connection").textContent = " · the service can’t be reached; what is done is safe";
      if (closed) setTimeout(follow, 3000);
    },
  });
};
if (["running", "paused"].includes(find("book").dataset.state)) follow();
addEventListener("pagehide", () => stop?.());

let isLeaving = false;
document.addEventListener("submit", async (event) => {
  const { target } = event;
  const action = target.getAttribute("action");
  if (target.dataset.question && !confirm(target.dataset.question)) return event.preventDefault();
  isLeaving = true;
  if (!changedNames().length || action.includes("/delete")) return undefined;
  // Another page is opened: names that were typed and not confirmed go first.
  event.preventDefault();
  try {
    await saveNames();
    (document.querySelector(`form[action="${action}"]`) ?? target).submit(); // the page may have been renewed meanwhile
  } catch (error) {
    isLeaving = false;
    fail(error);
  }
  return undefined;
});
addEventListener("beforeunload", (event) => {
  if (!isLeaving && changedNames().length) event.preventDefault();
});

// Names: what was changed or shown is confirmed; the rest of the ledger goes back as it came.
const rowsToConfirm = () => {
  const rows = [...document.querySelectorAll("#shown-names tr")];
  return find("more-names") && !find("more-names").hidden ? [...rows, ...find("more-names").rows] : rows;
};

const isChanged = (row) => {
  const [target, gender, ignore] = [".target", ".gender", ".ignore"].map((name) => row.querySelector(name));
  return target.value !== target.defaultValue || ignore.checked !== ignore.defaultChecked
    || [...gender.options].some((one) => one.selected !== one.defaultSelected);
};
const changedNames = () => [...document.querySelectorAll("#names tr[data-id]")].filter(isChanged);
// What is stored now is what the fields had from the start.
const keepRow = (row) => {
  const [target, gender, ignore] = [".target", ".gender", ".ignore"].map((name) => row.querySelector(name));
  target.defaultValue = target.value;
  ignore.defaultChecked = ignore.checked;
  for (const one of gender.options) one.defaultSelected = one.selected;
};

const withRow = (entity, row) => {
  const target = row.querySelector(".target").value.trim() || entity.target;
  const status = row.querySelector(".ignore").checked ? "ignored" : "confirmed";
  const variants = entity.variants.some((one) => one.text === entity.target) || !entity.target
    ? entity.variants
    : [...entity.variants, { text: entity.target, count: 0, firm: true }];
  return { ...entity, target, variants, gender: row.querySelector(".gender").value, status };
};

const saveNames = async () => {
  const ledger = await call("GET", `/v1/jobs/${id}/names`, { headers: { Accept: "application/json" } });
  const rows = new Map(rowsToConfirm().map((row) => [row.dataset.id, row]));
  const entities = ledger.entities.map((one) => (rows.has(one.id) ? withRow(one, rows.get(one.id)) : one));
  await call("PUT", `/v1/jobs/${id}/names`, { json: { ...ledger, entities } });
  for (const row of rows.values()) keepRow(row);
  return rows.size;
};

find("confirm")?.addEventListener("click", async () => {
  clear();
  find("confirm").disabled = true;
  try {
    const count = await saveNames();
    find("names-saved").textContent = `Saved: ${count} name${count === 1 ? " is" : "s are"} confirmed.`;
    await reload();
  } catch (error) { fail(error); } finally { find("confirm").disabled = false; }
});
find("show-more")?.addEventListener("click", () => {
  find("more-names").hidden = false;
  find("show-more").hidden = true;
  find("more-names").querySelector("input").focus();
});
