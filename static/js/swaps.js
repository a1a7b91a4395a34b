// Before htmx swaps: it copies the style attribute of each element with an id, such as
// that of a text area that was resized, and the content policy forbids and reports that.
document.addEventListener("htmx:before:swap", () => {
  for (const node of document.querySelectorAll("[id][style]")) {
    node.removeAttribute("style");
  }
});

// After htmx has swapped: focus the first invalid field, read a changed count aloud.
document.addEventListener("htmx:after:swap", (event) => {
  const { ctx } = event.detail;
  const target =
    typeof ctx.target === "string" ? document.querySelector(ctx.target) : ctx.target;
  const region = target?.isConnected ? target : document;
  if (ctx.response?.status === 422) {
    region.querySelector('[aria-invalid="true"], fieldset:has(.err) input')?.focus();
  }
  const news = region.querySelector("[data-announce]");
  if (news) document.getElementById("live").textContent = news.textContent.trim();
});
