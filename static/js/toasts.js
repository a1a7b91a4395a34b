// Toasts: raised by a `toast` event, which the server sends as
// HX-Trigger: {"toast": {"kind": "ok", "title": "...", "text": "..."}}.
const STAYS_MS = 6000;
const WHY = {
  401: ["You are signed out", "Sign in again to go on."],
  403: ["Your role cannot do that", "Ask a team admin for access."],
  404: ["That is no longer there", "Reload the page to see what changed."],
  409: ["Someone else changed this first", "Reload to see their version."],
  413: ["That file is too large", "Nothing was stored."],
  429: ["Too many requests", "Wait a moment, then try again."],
};
const OTHERWISE = [
  "That did not go through",
  "Nothing was changed. Check the connection and try again.",
];

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
  const [title, text] = WHY[status] || OTHERWISE;
  raise({ kind: "bad", title, text });
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
