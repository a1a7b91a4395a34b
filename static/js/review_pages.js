// The pages of the review desk: zoom, turn, contrast, the current row's boxes with the
// rest dimmed, drawing a box, and telling the server which page was displayed.
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
  else looks[how] = !looks[how];
  look();
}

desk.addEventListener("click", (event) => {
  const how = event.target.closest("[data-view]")?.dataset.view;
  if (how) change(how);
});

// The current row: its boxes, and the page beside them dimmed.
let shown = null;
function show(position) {
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
  if (shown) bring(shown);
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

// A box drawn on a page is read, and becomes a row once the reader agrees.
let from = null;
let drawn = null;
function pointOn(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(svg.getScreenCTM().inverse());
}

stage.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest(".viewer__page svg");
  if (!svg || !desk.dataset.desk || event.button || event.pointerType === "touch") return;
  if (event.target.closest("[data-box]")) return;
  from = { svg, ...pick(pointOn(svg, event)) };
});

const pick = ({ x, y }) => ({ x, y });

stage.addEventListener("pointermove", (event) => {
  if (!from) return;
  const to = pointOn(from.svg, event);
  drawn ??= from.svg.appendChild(
    document.createElementNS("http://www.w3.org/2000/svg", "rect"),
  );
  drawn.setAttribute("class", "drawn");
  drawn.setAttribute("x", Math.min(from.x, to.x));
  drawn.setAttribute("y", Math.min(from.y, to.y));
  drawn.setAttribute("width", Math.abs(to.x - from.x));
  drawn.setAttribute("height", Math.abs(to.y - from.y));
});

addEventListener("pointerup", (event) => {
  const begun = from;
  const rect = drawn;
  from = drawn = null;
  if (!begun || !rect) return;
  rect.remove();
  const to = pointOn(begun.svg, event);
  const { width, height } = begun.svg.viewBox.baseVal;
  if (Math.abs(to.x - begun.x) < width / 100 || Math.abs(to.y - begun.y) < height / 200) return;
  const inside = (value, most) => Math.min(Math.max(value, 0), most).toFixed(1);
  const query = new URLSearchParams({
    page: begun.svg.closest(".desk__page").dataset.pageNumber,
    x0: inside(begun.x, width),
    y0: inside(begun.y, height),
    x1: inside(to.x, width),
    y1: inside(to.y, height),
  });
  const add = desk.querySelector('[data-act="add"]');
  htmx.ajax("GET", `${add.getAttribute("href")}?${query}`, { target: "#d-form" });
});

const wanted = desk.dataset.page;
const now = desk.querySelector(".bm.is-on");
if (wanted) document.getElementById(`page-${wanted}`)?.scrollIntoView();
else if (now) show(now.dataset.row);
