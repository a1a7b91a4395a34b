// The pages of the review desk: zoom, turn, contrast, the current row's boxes with the
// rest dimmed, and telling the server which page was displayed.
const desk = document.querySelector(".desk");
const stage = desk.querySelector(".viewer__stage");
const STEPS = [1, 1.25, 1.5, 2, 3, 4];
const SEEN_MS = 600; // shorter is scrolling past
// A sheet of its own, since the content policy forbids style attributes.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);
let at = 0;
let turns = 0;
const looks = { contrast: false, invert: false };

function look() {
  const zoom = STEPS[at];
  const filter = [
    looks.contrast ? "contrast(1.6)" : "",
    looks.invert ? "invert(1)" : "",
  ].join(" ");
  sheet.replaceSync(
    `.desk .viewer__page { width: ${zoom * 100}%; max-width: ${zoom * 46}rem; rotate: ${turns * 90}deg; }
     .desk .viewer__page img { filter: ${filter.trim() || "none"}; }`,
  );
  for (const [name, on] of Object.entries(looks)) {
    desk.querySelector(`[data-view="${name}"]`).setAttribute("aria-pressed", on);
  }
}

function change(how) {
  if (how === "in") at = Math.min(at + 1, STEPS.length - 1);
  else if (how === "out") at = Math.max(at - 1, 0);
  else if (how === "fit") at = turns = 0;
  else if (how === "turn") turns = (turns + 1) % 4;
  else if (Object.hasOwn(looks, how)) looks[how] = !looks[how];
  look();
}

desk.addEventListener("click", (event) => {
  const how = event.target.closest("[data-view]")?.dataset.view;
  if (how) change(how);
});

// The current row: its boxes, and the page beside them dimmed.
let shown = null;
let current = null;
function show(position, { move = true } = {}) {
  current = position;
  shown = desk.querySelector(`[data-box="${position}"]`);
  for (const box of desk.querySelectorAll("[data-box], [data-part]")) {
    box.classList.toggle("is-on", (box.dataset.box ?? box.dataset.part) === position);
  }
  for (const veil of desk.querySelectorAll(".veil")) {
    const svg = veil.ownerSVGElement;
    const hole = shown && svg.contains(shown) ? shown.querySelector("polygon") : null;
    const { width, height } = svg.viewBox.baseVal;
    veil.setAttribute(
      "d",
      hole
        ? `M0 0H${width}V${height}H0ZM${hole.getAttribute("points").replaceAll(" ", "L")}Z`
        : "",
    );
  }
  if (shown && move) bring(shown);
}

function bring(box) {
  const place = box.getBoundingClientRect();
  const frame = stage.getBoundingClientRect();
  if (place.top < frame.top + 40 || place.bottom > frame.bottom - 40) {
    stage.scrollBy({ top: place.top - frame.top - frame.height / 3 });
  }
  if (place.left < frame.left || place.right > frame.right) {
    stage.scrollBy({ left: place.left - frame.left - 24 });
  }
}

desk.addEventListener("desk:row", (event) => show(event.detail.row));

// Boxes that moved come as a new overlay of their page.
document.addEventListener("htmx:after:swap", () => {
  if (current && !shown?.isConnected) show(current, { move: false });
});

desk.addEventListener("keydown", (event) => {
  if (document.body.dataset.shortcuts === "off") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, button, summary")) return;
  const how = { "+": "in", "-": "out", 0: "fit" }[event.key];
  if (how) change(how);
  else if (event.key === " " && shown && event.target.closest(".bm")) {
    at = at ? 0 : 3;
    look();
    requestAnimationFrame(() => bring(shown));
  } else return;
  event.preventDefault();
});

// A page that was refused, as others were being drawn, is asked for again for a while.
const AGAIN_MS = 3000;
const TRIES = 5;
function askAgain(picture) {
  const tries = Number(picture.dataset.tries ?? 0);
  if (tries === TRIES) return;
  picture.dataset.tries = tries + 1;
  setTimeout(() => picture.setAttribute("src", picture.getAttribute("src")), AGAIN_MS);
}
desk.addEventListener("error", ({ target }) => target.matches("img") && askAgain(target), true);
for (const picture of desk.querySelectorAll("img")) {
  if (picture.complete && !picture.naturalWidth) askAgain(picture);
}

// A page counts as displayed once half of what fits of it has been in view for a while.
const timers = new Map();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      clearTimeout(timers.get(target));
      if (!isIntersecting) continue;
      timers.set(target, setTimeout(() => seen(target), SEEN_MS));
    }
  },
  { root: stage, threshold: 0.35 },
);

function seen(page) {
  const form = page.querySelector("figcaption form");
  const picture = page.querySelector("img");
  if (!picture.complete) {
    picture.addEventListener("load", () => seen(page), { once: true });
  } else if (form && picture.naturalWidth) {
    watcher.unobserve(page);
    form.requestSubmit();
  }
}

for (const page of desk.querySelectorAll(".desk__page:not([data-seen])")) {
  watcher.observe(page);
}

// The thumbnail of the page in view.
const links = new Map(
  [...desk.querySelectorAll("[data-page-link]")].map((link) => [link.dataset.pageLink, link]),
);
let page = null;
function markCurrentPage() {
  const line = stage.getBoundingClientRect().top + stage.clientHeight / 3;
  const pages = [...stage.querySelectorAll(".desk__page")];
  const here =
    pages.findLast((one) => one.getBoundingClientRect().top <= line) ?? pages[0];
  const link = links.get(here?.dataset.pageNumber);
  if (!link || link === page) return;
  page?.removeAttribute("aria-current");
  page = link;
  page.setAttribute("aria-current", "true");
  const strip = page.closest("nav");
  const { offsetTop, offsetLeft, offsetWidth, offsetHeight } = page.closest("li");
  strip.scrollTo({
    top: offsetTop - (strip.clientHeight - offsetHeight) / 2,
    left: offsetLeft - (strip.clientWidth - offsetWidth) / 2,
  });
}
stage.addEventListener("scroll", () => requestAnimationFrame(markCurrentPage), { passive: true });

const wanted = desk.dataset.page;
const now = desk.querySelector(".bm.is-on");
if (wanted) document.getElementById(`page-${wanted}`)?.scrollIntoView();
else if (now) show(now.dataset.row);
markCurrentPage();
