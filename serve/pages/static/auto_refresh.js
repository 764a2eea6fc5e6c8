"use strict";
// Reloads the page content every few seconds while the page is visible.
(() => {
  const SECONDS = 5;
  let etag = null;

  const setStatus = (text) => {
    const live = document.querySelector("#live");
    if (live.textContent !== text) live.textContent = text;
  };
  const update = async (answer) => {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#main");
    const old = document.querySelector("#main");
    if (old.isEqualNode(fresh)) return;
    const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    old.replaceWith(document.adoptNode(fresh));
    if (focused) document.querySelector(`#main a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  const refresh = async () => {
    try {
      const headers = etag ? { "If-None-Match": etag } : {};
      const answer = await fetch(location.pathname, { headers, cache: "no-store", signal: AbortSignal.timeout(20_000) });
      if (answer.status === 200 && !answer.redirected) {
        etag = answer.headers.get("ETag");
        await update(answer);
      } else if (answer.status !== 304) throw new Error();
      setStatus("Live: new votes appear as they come in.");
    } catch {
      setStatus("The service can’t be reached at the moment: these are the last known votes.");
    }
  };
  const loop = async () => {
    if (!document.hidden) await refresh();
    setTimeout(loop, 1000 * SECONDS);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  loop();
})();
