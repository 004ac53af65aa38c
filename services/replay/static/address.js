// What the address says of the moment that is shown. It is kept up to date without loading anything.

const WRITE_AFTER_MS = 200; // browsers refuse to be told of every step of a quick playback

let waiting = 0;
let newest = null;

function write() {
  clearTimeout(waiting);
  waiting = 0;
  if (newest !== null) history.replaceState(null, "", newest);
  newest = null;
}

addEventListener("pagehide", write);
document.addEventListener("visibilitychange", write);

/** The parameters of the address, with what has not been written yet. */
export function parameters() {
  return new URLSearchParams(newest ?? location.search);
}

/** Changes parameters of the address; null takes one away. */
export function change(changes) {
  const query = parameters();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  newest = `?${query}`;
  if (waiting === 0) waiting = setTimeout(write, WRITE_AFTER_MS);
}

/** A link's address with the step that is shown, and with what else of the moment the link does not change itself. */
export function kept(link) {
  const url = new URL(link.href);
  for (const [name, value] of parameters()) {
    if (name === "step" || !url.searchParams.has(name)) {
      if (name !== "theme" && name !== "lang") url.searchParams.set(name, value);
    }
  }
  return url.href;
}
