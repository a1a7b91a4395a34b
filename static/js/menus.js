// Menus are popovers: put each beside its button, flip when short of room, arrows move.
const EDGE = 8;
// A sheet, not style attributes: htmx copies those onto swapped content, which the
// content policy forbids.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);

document.addEventListener(
  "toggle",
  (event) => {
    const menu = event.target;
    if (!menu.matches?.(".menu") || event.newState !== "open") return;
    const button = document.querySelector(`[popovertarget="${menu.id}"]`);
    const { left, top, bottom } = button.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = menu;
    const below = bottom + height + EDGE <= innerHeight;
    const x = Math.max(EDGE, Math.min(left, innerWidth - width - EDGE));
    const y = below ? bottom + 6 : Math.max(EDGE, top - height - 6);
    sheet.replaceSync(`#${menu.id} { left: ${x}px; top: ${y}px; }`);
    menu.querySelector("a, button")?.focus();
  },
  true, // toggle does not bubble
);

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.(".menu");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step) return;
  event.preventDefault();
  const items = [...menu.querySelectorAll("a, button")];
  const here = items.indexOf(document.activeElement);
  items[(here + step + items.length) % items.length].focus();
});
