// data-dialog="id" opens a <dialog>; data-close shuts the one it is in. The opener is a
// link to a page with the same form, for when there is no script.
const openers = new WeakMap();
const FIELD = 'input:not([type="hidden"]), textarea, select';

// Where focus goes back to: a menu is gone by then, so the button that opened it.
function origin(opener) {
  const menu = opener.closest(".menu");
  return menu ? document.querySelector(`[popovertarget="${menu.id}"]`) : opener;
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    event.preventDefault();
    const dialog = document.getElementById(opener.dataset.dialog);
    openers.set(dialog, origin(opener));
    dialog.showModal();
  }
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});

// A dialog with data-opens is filled by a request and opens once it is.
document.addEventListener("htmx:after:swap", (event) => {
  const { target } = event.detail.ctx;
  const dialog = typeof target === "string" ? document.querySelector(target) : target;
  if (!dialog?.matches("dialog[data-opens]:not([open])")) return;
  dialog.showModal();
  // Else focus is on the button that closes it, and a space typed there does.
  if (!dialog.querySelector("[autofocus]")) dialog.querySelector(FIELD)?.focus();
});

document.addEventListener(
  "close",
  (event) => {
    const opener = openers.get(event.target);
    const here = document.activeElement;
    if (here === document.body || !here?.checkVisibility()) opener?.focus();
  },
  true, // close does not bubble
);

// A press on the backdrop shuts a dialog that opted in with data-light.
document.addEventListener("mousedown", (event) => {
  const dialog = event.target;
  if (!dialog.matches("dialog[data-light]")) return;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  const inside =
    event.clientX >= left &&
    event.clientX <= right &&
    event.clientY >= top &&
    event.clientY <= bottom;
  if (!inside) dialog.close();
});
