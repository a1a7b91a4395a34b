// The page's keys are the lines of its key sheet; `?` opens it. They act outside fields,
// dialogs and menus, and not at all when switched off in the profile.
const SEQUENCE_MS = 1500;
const FIELD = "input, textarea, select, [contenteditable]";
const OPEN = 'dialog[open], [popover]:not([popover="manual"]):popover-open';
let typed = "";
let typedAt = 0;

function act(line) {
  const { go, focus, press } = line.dataset;
  const field = focus && document.querySelector(focus);
  if (go) {
    location.assign(go);
  } else if (field) {
    field.focus();
    field.select?.();
  } else if (press) {
    document.querySelector(press)?.click();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key.length !== 1 || document.body.dataset.shortcuts === "off") return;
  if (event.defaultPrevented || event.target.closest(FIELD)) return;
  const sheet = document.getElementById("d-keys");
  if (event.key === "?" && sheet?.open) return sheet.close();
  if (!sheet || document.querySelector(OPEN)) return;
  if (event.key === "?") return sheet.showModal();

  const lines = [...sheet.querySelectorAll("[data-keys]")];
  const before = event.timeStamp - typedAt < SEQUENCE_MS && typed ? `${typed} ` : "";
  typed = before + event.key;
  typedAt = event.timeStamp;
  const line = lines.find((one) => one.dataset.keys === typed);
  if (line) {
    event.preventDefault();
    typed = "";
    act(line);
  } else if (!lines.some((one) => one.dataset.keys.startsWith(`${typed} `))) {
    typed = "";
  }
});
