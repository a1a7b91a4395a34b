// The divider between the document and the values: by pointer and by arrow keys, kept in
// this browser for this member.
const split = document.querySelector("[data-split]");
const desk = split.closest(".desk");
const KEPT_AS = `assay.desk.document.${split.dataset.split}`;
const LEAST = Number(split.ariaValueMin);
const MOST = Number(split.ariaValueMax);
const USUAL = Number(split.ariaValueNow);
// A sheet of its own, since the content policy forbids style attributes.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);

const share = () => Number(split.ariaValueNow);

function place(wanted) {
  const now = Math.min(Math.max(Math.round(wanted), LEAST), MOST);
  split.ariaValueNow = now;
  sheet.replaceSync(`.review.desk { --document: ${now}%; }`);
}

function keep() {
  try {
    localStorage.setItem(KEPT_AS, share());
  } catch {
    // A browser that keeps nothing begins in the middle each time.
  }
}

try {
  place(Number(localStorage.getItem(KEPT_AS)) || USUAL);
} catch {
  place(USUAL);
}

split.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  event.preventDefault();
  split.focus();
  split.setPointerCapture(event.pointerId);
});

split.addEventListener("pointermove", (event) => {
  if (!split.hasPointerCapture(event.pointerId)) return;
  const { left, width } = desk.getBoundingClientRect();
  place(((event.clientX - left) / width) * 100);
});

split.addEventListener("lostpointercapture", keep);

split.addEventListener("dblclick", () => {
  place(USUAL);
  keep();
});

split.addEventListener("keydown", (event) => {
  const by = event.shiftKey ? 10 : 2;
  const to = {
    ArrowLeft: share() - by,
    ArrowRight: share() + by,
    Home: LEAST,
    End: MOST,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  place(to);
  keep();
});
