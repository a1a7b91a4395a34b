// The command palette: a combobox over a listbox. Pages and actions are in the page and
// sifted here; what is found by id comes from the server into #palette-live.
const LEAST_LETTERS = 2;
const palette = document.getElementById("palette");
const input = palette?.querySelector("input");
const live = document.getElementById("palette-live");
const commands = document.getElementById("palette-commands");
// The text that Enter was pressed for before its answer was there.
let awaited = null;

const options = (within = palette) => [
  ...within.querySelectorAll('[role="option"]:not([hidden])'),
];
const marked = () => palette.querySelector('[aria-selected="true"]:not([hidden])');

function answered() {
  const text = input.value.trim();
  const answer = live.querySelector("[data-answers]")?.dataset.answers.trim();
  return text.length < LEAST_LETTERS || answer === text;
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
  for (const group of commands.querySelectorAll('[role="group"]')) {
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
  live.replaceChildren();
  awaited = null;
  palette.showModal();
  sift();
  input.focus();
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
    if (live.hasChildNodes()) live.replaceChildren();
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
    if (!answered() || input.value.trim().length < LEAST_LETTERS) live.replaceChildren();
    sift();
  });
  new MutationObserver(take).observe(live, { childList: true });
  document.addEventListener("htmx:before:request", (event) => {
    const source = event.detail?.ctx?.sourceElement ?? event.target;
    if (source === input && (answered() || !palette.open)) event.preventDefault();
  });
}
