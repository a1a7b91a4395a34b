// The rows of the review desk: which is current, and the keys of the desk. They act only
// while focus is inside it (z anywhere), outside fields and dialogs, and not when switched
// off in the profile.
const desk = document.querySelector(".desk");
const FIELD = "input, textarea, select";
const KEYS = {
  e: ["edit", "value"],
  u: ["edit", "units"],
  r: ["edit", "reference_range"],
  l: ["loinc", "loinc_code"],
  x: ["exclude"],
  s: ["split"],
  m: ["merge"],
  b: ["redraw"],
  c: ["comment"],
};
let wanted = null; // the field to focus once a panel is there
let chosen = desk.querySelector(".bm.is-on")?.id; // its element may be replaced

const rows = () => [...desk.querySelectorAll(".bm")];
const current = () => document.getElementById(chosen ?? "");
const mark = () => {
  for (const one of rows()) one.classList.toggle("is-on", one.id === chosen);
};
const nameOf = (row) => row?.querySelector(".bm__name");
const versionOf = (row) => row?.querySelector("[data-version]")?.dataset.version;

// What z undoes: rows in the order in which they were changed here, then the current one.
const versions = new Map(rows().map((row) => [row.id, versionOf(row)]));
const changed = [];
const undoing = new Set();
function undo() {
  const row = document.getElementById(changed.pop() ?? chosen ?? "");
  if (press(row, "undo")) undoing.add(row.id);
  else announce(pageText("nothing_to_undo"));
}

function choose(row, { focus = true } = {}) {
  if (!row) return;
  chosen = row.id;
  mark();
  if (focus) nameOf(row).focus({ preventScroll: true });
  // A row can be taller than the room there is: its name is seen in any case.
  for (const one of [row, nameOf(row)]) one.scrollIntoView({ block: "nearest" });
  desk.dispatchEvent(new CustomEvent("desk:row", { detail: row.dataset }));
}

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  choose(all[Math.min(Math.max(at + by, 0), all.length - 1)]);
}

function next(row = current()) {
  const all = rows();
  const at = all.indexOf(row);
  const rest = [...all.slice(at + 1), ...all.slice(0, at)];
  return rest.find((one) => "needs" in one.dataset);
}

function press(row, act) {
  const control = row?.querySelector(`[data-act="${act}"]`);
  control?.click();
  return Boolean(control);
}

function confirmAndGo() {
  const row = current();
  const all = rows();
  const after = all[all.indexOf(row) + 1] ?? next(row) ?? row;
  // One that a check contradicts asks for a reason first: it stays the current one.
  const asks = row?.querySelector('a[data-act="confirm"]');
  press(row, "confirm");
  if (!asks) choose(after);
}

desk.addEventListener("keydown", (event) => {
  if (document.body.dataset.shortcuts === "off") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target.closest(".bm__panel")) return shut(event);
  if (event.target.closest(FIELD) || !desk.dataset.desk) return moveOnly(event);
  const inRow = event.target.closest(".bm");
  if (inRow && !event.target.closest(".bm__panel")) choose(inRow, { focus: false });
  if (event.key === "Enter" && event.target.closest(".bm__name")) confirmAndGo();
  else if (event.key === "a") desk.querySelector('[data-act="add"]').click();
  else if (KEYS[event.key]) {
    const [act, field] = KEYS[event.key];
    wanted = field ?? null;
    press(current(), act);
  } else return moveOnly(event);
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "z" || document.body.dataset.shortcuts === "off") return;
  if (event.ctrlKey || event.metaKey || event.altKey || !desk.dataset.desk) return;
  if (event.target.closest(`${FIELD}, dialog`) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  undo();
});

function moveOnly(event) {
  if (event.target.closest(FIELD)) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "n") choose(next());
  else return;
  event.preventDefault();
}

function shut(event) {
  const panel = event.target.closest(".bm__panel");
  panel.replaceChildren();
  nameOf(panel.closest(".bm"))?.focus();
}

desk.addEventListener("click", (event) => {
  const name = event.target.closest(".bm__name");
  const go = event.target.closest("[data-go]")?.dataset.go;
  const box = event.target.closest("[data-box]")?.dataset.box;
  if (event.target.closest("[data-shut]") && event.target.closest(".bm__panel")) {
    event.preventDefault();
    shut(event);
  } else if (name) {
    event.preventDefault();
    choose(name.closest(".bm"));
  } else if (go ?? box) {
    event.preventDefault();
    choose(document.getElementById(`row-${go ?? box}`));
  } else {
    const row = event.target.closest(".bm");
    if (row && row !== current()) choose(row, { focus: false });
  }
});

const targetOf = ({ target }) =>
  typeof target === "string" ? document.querySelector(target) : target;

// What was saved, and what is left to do: the one thing of the desk that is read aloud.
function say(text) {
  const left = desk.querySelector("[data-left]")?.textContent.trim() ?? "";
  document.getElementById("live").textContent = `${text} ${left}`;
}

// Of an undoing, which may be of a row out of sight, also to be seen.
function announce(title) {
  dispatchEvent(new CustomEvent("toast", { detail: { title } }));
}

// Where the keys were before a row was replaced: focus must not be lost with it.
let held = null;
let wasOnDesk = false;
document.addEventListener("htmx:before:swap", () => {
  held = document.activeElement?.closest?.(".bm, dialog")?.id ?? null;
  wasOnDesk = desk.contains(document.activeElement);
});

document.addEventListener("htmx:after:swap", (event) => {
  const { ctx } = event.detail;
  const target = targetOf(ctx);
  const panel = target?.closest?.(".bm__panel");
  if (panel) {
    choose(panel.closest(".bm"), { focus: false });
    const field = wanted && panel.querySelector(`[name="${wanted}"]:checked, [name="${wanted}"]:not([type="radio"])`);
    (field ?? panel.querySelector("input:not([type=hidden])"))?.focus();
    field?.select?.();
    wanted = null;
    return;
  }
  mark();
  for (const box of desk.querySelectorAll("[data-box]")) {
    const row = document.getElementById(`row-${box.dataset.box}`);
    if (row) box.dataset.state = row.dataset.state;
  }
  const match = /^#?row-(\d+)$/.exec(
    typeof ctx.target === "string" ? ctx.target : (target?.id ?? ""),
  );
  if (!match) {
    // What was pressed is gone, such as the button of a panel that is confirmed.
    const here = current();
    const isLost = wasOnDesk && document.activeElement === document.body;
    if (isLost) choose(here && "needs" in here.dataset ? here : (next() ?? here));
    const bar = desk.querySelector("[data-told]");
    if (bar) say(bar.dataset.told);
    if (bar?.dataset.told) changed.length = 0; // rows confirmed together: the current one
    bar?.removeAttribute("data-told");
    return;
  }
  const saved = document.getElementById(`row-${match[1]}`);
  const refused = ctx.response?.status === 422;
  const dialog = document.getElementById("d-form");
  const wasHere = held === saved?.id || (held === "d-form" && dialog.open);
  if (dialog.open) dialog.close();
  if (refused || wasHere) choose(saved);
  const status = saved?.querySelector(".bm__row .icon")?.getAttribute("aria-label");
  const name = nameOf(saved)?.querySelector("b").textContent;
  const isUndone = undoing.delete(saved?.id) && !refused;
  if (isUndone) {
    choose(saved);
    announce(pageText("row_undone", { name, status }));
  } else if (!refused && versions.get(saved?.id) !== versionOf(saved)) changed.push(saved.id);
  for (const row of rows()) versions.set(row.id, versionOf(row));
  say(
    refused ? pageText("row_not_saved", { name }) : pageText("row_saved", { name, status }),
  );
});

const first = current();
if (first) choose(first);
desk.dataset.keys = "on";
