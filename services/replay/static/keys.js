// The keyboard. What is typed into a field, and what a button does with a key by itself, is left alone.

const FIELDS = "input, textarea, select, [contenteditable]";
const PRESSED_BY_SPACE = "button, summary, [role=button]";

/** Calls the action that is named for a key; `actions` by the key's name, with "Shift+" before it. */
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest?.(FIELDS) || document.querySelector("dialog[open]")) return;
    if (event.key === " " && event.target.closest?.(PRESSED_BY_SPACE)) return;
    const arrow = event.key.startsWith("Arrow");
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions[event.shiftKey && arrow ? `Shift+${name}` : name];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
