// A region on a document and the row beside it are one selection, from either side.
function pick(key, from) {
  for (const part of document.querySelectorAll("[data-region]")) {
    part.classList.toggle("is-on", part.dataset.region === key);
  }
  for (const name of document.querySelectorAll(".bm__name")) {
    const isOn = name.closest("[data-region]").dataset.region === key;
    name.setAttribute("aria-expanded", isOn);
    const form = document.getElementById(name.getAttribute("aria-controls"));
    if (form) form.hidden = !isOn;
  }
  const other = from === "page" ? ".bm" : ".region";
  document
    .querySelector(`${other}[data-region="${CSS.escape(key)}"]`)
    ?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

document.addEventListener("click", (event) => {
  const region = event.target.closest(".region");
  const name = event.target.closest(".bm__name");
  if (region) {
    event.preventDefault();
    pick(region.dataset.region, "page");
  } else if (name) {
    event.preventDefault();
    pick(name.closest("[data-region]").dataset.region, "row");
  }
});

// The page of the document: larger, smaller, to the width, a quarter turn. A sheet of
// its own, since the content policy forbids style attributes.
const STEPS = [1, 1.25, 1.5, 2, 3];
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);
let step = 0;
let turns = 0;

document.addEventListener("click", (event) => {
  const how = event.target.closest("[data-zoom]")?.dataset.zoom;
  if (!how) return;
  if (how === "in") step = Math.min(step + 1, STEPS.length - 1);
  if (how === "out") step = Math.max(step - 1, 0);
  if (how === "fit") step = turns = 0;
  if (how === "turn") turns = (turns + 1) % 4;
  const zoom = STEPS[step];
  sheet.replaceSync(
    `.viewer__page { width: ${zoom * 100}%; max-width: ${zoom * 46}rem; rotate: ${turns * 90}deg; }`,
  );
});
