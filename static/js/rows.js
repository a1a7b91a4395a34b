// Rows of a list by keys: data-rows names what a row is opened by. j and k act on the
// whole page, arrows once focus is in the list; not when switched off in the profile.
const FIELD = "input, textarea, select, [contenteditable], dialog, [popover]";

function step(list, to) {
  const rows = [...list.querySelectorAll(list.dataset.rows)];
  const at = rows.indexOf(document.activeElement);
  const wanted = { first: 0, last: rows.length - 1, next: at + 1, before: at - 1 }[to];
  rows[Math.min(Math.max(wanted, 0), rows.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  const list = document.querySelector("[data-rows]");
  if (!list || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(FIELD)) return;
  const inList = list.contains(event.target);
  const letters = document.body.dataset.shortcuts === "off" ? {} : { j: "next", k: "before" };
  const arrows = inList
    ? { ArrowDown: "next", ArrowUp: "before", Home: "first", End: "last" }
    : {};
  const to = { ...letters, ...arrows }[event.key];
  if (!to) return;
  event.preventDefault();
  step(list, to);
});
