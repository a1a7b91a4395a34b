// Toasts: raised by a `toast` event, which the server sends as
// HX-Trigger: {"toast": {"kind": "ok", "title": "...", "text": "..."}}.
const STAYS_MS = 6000;
// Failures with a text of their own; the rest share one.
const EXPLAINED = [401, 403, 404, 409, 413, 429];

function raise({ kind = "ok", title = "", text = "" }) {
  const box = document.getElementById("toasts");
  const template = document.getElementById(kind === "bad" ? "toast-bad" : "toast-ok");
  const toast = template.content.firstElementChild.cloneNode(true);
  toast.querySelector("b").textContent = title;
  toast.querySelector("span").textContent = text;
  box.append(toast);
  if (!box.matches(":popover-open")) box.showPopover();
  // An error stays until it is dismissed.
  if (kind !== "bad") setTimeout(() => toast.remove(), STAYS_MS);
}

function failed(event) {
  const status = event.detail?.ctx?.response?.status ?? event.detail?.status;
  if (status === 422) return; // the form comes back with its errors
  const failure = `failure_${EXPLAINED.includes(status) ? status : "other"}`;
  raise({ kind: "bad", title: pageText(failure), text: pageText(`${failure}_help`) });
}

addEventListener("toast", (event) => raise(event.detail));
addEventListener("htmx:response:error", failed);
addEventListener("htmx:error", failed);
addEventListener("upload:failed", failed);
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) {
    event.target.closest(".toast, .note").remove();
  }
});
