// Menus are popovers: put each beside its button, flip when short of room, arrows move.
const EDGE = 8;
const ITEMS = "a[href], button:not(:disabled), input:not([type=hidden])";
// A sheet, not style attributes: htmx copies those onto swapped content, which the
// content policy forbids.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);

const buttonOf = (menu) => document.querySelector(`[popovertarget="${menu.id}"]`);

function place(menu) {
  const { left, top, bottom } = buttonOf(menu).getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = bottom + height + EDGE <= innerHeight;
  const x = Math.max(EDGE, Math.min(left, innerWidth - width - EDGE));
  const y = below ? bottom + 6 : Math.max(EDGE, top - height - 6);
  sheet.replaceSync(`#${CSS.escape(menu.id)} { left: ${x}px; top: ${y}px; }`);
}

const openMenuOf = (part) => {
  const menu = part.closest?.("[popovertarget]")?.popoverTargetElement;
  return menu?.matches(".menu:popover-open") ? menu : null;
};

// Showing a popover moves focus to what has autofocus in it, at once; `toggle` comes too
// late for someone who types on.
document.addEventListener(
  "beforetoggle",
  (event) => {
    const menu = event.target;
    if (!menu.matches?.(".menu") || event.newState !== "open") return;
    const first = menu.querySelector(ITEMS);
    if (first) first.autofocus = true;
  },
  true, // neither event bubbles
);

document.addEventListener(
  "toggle",
  (event) => {
    const menu = event.target;
    if (!menu.matches?.(".menu")) return;
    menu.querySelectorAll("[autofocus]").forEach((item) => (item.autofocus = false));
    if (event.newState === "open") {
      place(menu);
    } else if (document.activeElement === document.body) {
      // The browser gives focus back itself, but not out of a menu within the nav.
      buttonOf(menu)?.focus();
    }
  },
  true,
);

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.(".menu") ?? openMenuOf(event.target);
  // In a field the arrows are the field's own.
  if (!menu || event.target.matches("input")) return;
  const items = [...menu.querySelectorAll(ITEMS)];
  const here = items.indexOf(document.activeElement);
  const next = {
    ArrowDown: (here + 1) % items.length,
    ArrowUp: (Math.max(here, 0) - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items[next]?.focus();
});

// Leaving a menu, or the button of an open one, by Tab shuts it.
document.addEventListener("focusout", (event) => {
  const menu = event.target.closest?.(".menu:popover-open") ?? openMenuOf(event.target);
  const next = event.relatedTarget;
  if (menu && next && !menu.contains(next) && next !== buttonOf(menu)) menu.hidePopover();
});
