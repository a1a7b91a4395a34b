// A pressed button whose answer takes longer than 300 ms says so, and until the answer
// is there a second press does nothing. data-download: the answer is a file, and the
// page stays. Without script a press does what it always did.
const SHOWN_AFTER_MS = 300;
// A file that is no data-download brings no event that tells that it has come.
const GIVEN_UP_AFTER_MS = 30000;
const pressed = new Map(); // form or button to what ends it

function start(origin, button) {
  const live = document.getElementById("live");
  const words = pageText("busy");
  const shown = setTimeout(() => {
    button.setAttribute("aria-busy", "true");
    live.textContent = words;
  }, SHOWN_AFTER_MS);
  const over = setTimeout(() => end(origin), GIVEN_UP_AFTER_MS);
  pressed.set(origin, () => {
    clearTimeout(shown);
    clearTimeout(over);
    button.removeAttribute("aria-busy");
    if (live.textContent === words) live.textContent = "";
  });
}

function end(origin) {
  pressed.get(origin)?.();
  pressed.delete(origin);
}

// Before everyone else: a second press reaches neither htmx nor the server.
for (const name of ["submit", "click"]) {
  document.addEventListener(
    name,
    (event) => {
      const origin = event.target.closest?.(name === "click" ? "button, a" : "form");
      if (!pressed.has(origin)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
}

// After everyone else: what is sent by script is not left to the browser.
addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  if (event.defaultPrevented || !button || button.matches("[data-download]")) return;
  // Another frame or tab takes the answer, so this page learns nothing of it.
  const target =
    button.getAttribute("formtarget") ?? form.getAttribute("target") ?? "_self";
  if (form.getAttribute("method") === "dialog" || target !== "_self") return;
  start(form, button);
});

function origin({ ctx }) {
  const source = ctx.sourceElement;
  return source.matches?.("form, button, a") ? source : null;
}
document.addEventListener("htmx:before:request", ({ detail }) => {
  const source = origin(detail);
  const button = detail.ctx.request?.submitter ?? source;
  if (source && button.matches("button, a.btn") && !pressed.has(source)) {
    start(source, button);
  }
});
document.addEventListener("htmx:finally:request", ({ detail }) => end(origin(detail)));

// A page that comes back from the browser's memory was left with its button pressed.
addEventListener("pageshow", () => [...pressed.keys()].forEach(end));
