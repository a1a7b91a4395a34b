// Lines of lists by keys: j and k act on the whole page, arrows once a line has the focus;
// not when switched off in the profile. A line is what its row is opened by: rowlink.
const FIELD = "input, textarea, select, [contenteditable], dialog, [popover]";
const STEPS = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(FIELD)) return;
  const rows = [...document.querySelectorAll("#content .rowlink")].filter(
    (row) => row.checkVisibility() && !row.closest("dialog"),
  );
  const at = rows.indexOf(document.activeElement);
  const isLetter = event.key === "j" || event.key === "k";
  if (isLetter ? document.body.dataset.shortcuts === "off" : at < 0) return;
  const ends = { Home: 0, End: rows.length - 1 };
  const step = STEPS[event.key];
  const to = step ? Math.min(Math.max(at + step, 0), rows.length - 1) : ends[event.key];
  if (to === undefined || !rows[to]) return;
  event.preventDefault();
  rows[to].focus();
});
