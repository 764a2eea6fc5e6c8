"use strict";
// The page asks for itself every few seconds while somebody looks at it, and shows what has changed.
(() => {
  const SECONDS = 5;
  let mark = null;

  const say = (text) => {
    const live = document.querySelector("#live");
    if (live.textContent !== text) live.textContent = text;
  };
  const take = async (answer) => {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#main");
    const old = document.querySelector("#main");
    if (old.isEqualNode(fresh)) return;
    const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    old.replaceWith(document.adoptNode(fresh));
    if (focused) document.querySelector(`#main a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  const look = async () => {
    try {
      const headers = mark ? { "If-None-Match": mark } : {};
      const answer = await fetch(location.pathname, { headers, cache: "no-store", signal: AbortSignal.timeout(20_000) });
      if (answer.status === 200 && !answer.redirected) {
        mark = answer.headers.get("ETag");
        await take(answer);
      } else if (answer.status !== 304) throw new Error();
      say("Live: new votes are shown as they come.");
    } catch {
      say("The service can’t be reached at the moment: these are the last votes that were seen.");
    }
  };
  const goOn = async () => {
    if (!document.hidden) await look();
    setTimeout(goOn, 1000 * SECONDS);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  goOn();
})();
