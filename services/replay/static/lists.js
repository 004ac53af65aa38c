// Keeps a list of running games up to date while somebody looks at it.

const EVERY_MS = 5000;

const list = document.querySelector("[data-refresh]");

async function refresh() {
  // Never under the hands of who is about to open a game.
  if (document.hidden || list.contains(document.activeElement)) return;
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-refresh]");
  if (fresh !== null && fresh.innerHTML !== list.innerHTML) list.replaceChildren(...fresh.childNodes);
}

setInterval(() => refresh().catch(() => {}), EVERY_MS); // a service that is away comes back
