// The command palette: a combobox over a listbox. Pages and actions are in the page and
// sifted here; what the server finds comes into #palette-live: for no text, or too
// little, what was opened lately.
const LEAST_LETTERS = 2;
const palette = document.getElementById("palette");
const input = palette?.querySelector("input");
const live = document.getElementById("palette-live");
const commands = document.getElementById("palette-commands");
// Found as well, but below pages and actions; each answer brings it anew.
const last = () => document.getElementById("palette-last");
// The text that Enter was pressed for before its answer was there.
let awaited = null;

function clear() {
  live.replaceChildren();
  last().replaceChildren();
}

const options = (within = palette) => [
  ...within.querySelectorAll('[role="option"]:not([hidden])'),
];
const marked = () => palette.querySelector('[aria-selected="true"]:not([hidden])');

function asked() {
  const text = input.value.trim();
  return text.length < LEAST_LETTERS ? "" : text;
}

function answered() {
  return live.querySelector("[data-answers]")?.dataset.answers.trim() === asked();
}

function mark(option) {
  palette
    .querySelectorAll('[aria-selected="true"]')
    .forEach((other) => other.setAttribute("aria-selected", "false"));
  if (option) {
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
  } else {
    input.removeAttribute("aria-activedescendant");
  }
}

function sift() {
  const wanted = input.value.trim().toLowerCase();
  const sifted = asked() ? commands : palette;
  for (const group of sifted.querySelectorAll('[role="group"]')) {
    for (const option of group.querySelectorAll('[role="option"]')) {
      option.hidden = !option.textContent.toLowerCase().includes(wanted);
    }
    group.hidden = !options(group).length;
  }
  const number = options().length;
  input.setAttribute("aria-expanded", String(number > 0));
  document.getElementById("palette-none").hidden = number > 0 || !answered();
  document.getElementById("palette-status").textContent = pageText("count_results", {
    number,
  });
  mark(options()[0]);
}

function open() {
  if (palette.open) return;
  document.querySelectorAll("dialog[open]").forEach((other) => other.close());
  input.value = "";
  clear();
  awaited = null;
  palette.showModal();
  sift();
  input.focus();
  input.dispatchEvent(new Event("ask"));
}

function follow(newTab) {
  const option = marked();
  if (!option) return;
  if (newTab) window.open(option.href, "_blank", "noopener");
  else location.assign(option.href);
}

function press(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const all = options();
    if (all.length) mark(all[(all.indexOf(marked()) + step + all.length) % all.length]);
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    if (answered()) {
      follow(event.ctrlKey || event.metaKey);
    } else {
      awaited = input.value.trim();
      input.dispatchEvent(new Event("ask"));
    }
  }
}

// Runs before any key can come between an answer and its marked line. What was found for
// other text goes: htmx gives a line's attributes to one of the same id that follows it.
function take() {
  if (!palette.open) return;
  if (!answered()) {
    if (live.hasChildNodes()) clear();
    return;
  }
  sift();
  if (awaited === input.value.trim()) follow(false);
  awaited = null;
}

if (palette) {
  if (/Mac|iPhone|iPad/.test(navigator.platform)) {
    document
      .querySelectorAll("[data-palette] kbd")
      .forEach((keys) => (keys.textContent = "⌘ K"));
  }
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (palette.open) palette.close();
    else open();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-palette]")) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  palette.addEventListener("keydown", press);
  palette.addEventListener("pointermove", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option && option !== marked()) mark(option);
  });
  input.addEventListener("input", () => {
    awaited = null;
    if (!answered()) clear();
    sift();
  });
  new MutationObserver(take).observe(live.parentElement, {
    childList: true,
    subtree: true,
  });
  document.addEventListener("htmx:before:request", (event) => {
    const source = event.detail?.ctx?.sourceElement ?? event.target;
    if (source === input && (answered() || !palette.open)) event.preventDefault();
  });
}
