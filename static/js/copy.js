// A button with data-copy puts that text on the clipboard; with data-copy-quietly the
// toast does not repeat it, since it is a secret.
const toast = (detail) => dispatchEvent(new CustomEvent("toast", { detail }));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    const isSecret = button.dataset.copyQuietly !== undefined;
    toast({ title: pageText("copied"), text: isSecret ? "" : button.dataset.copy });
  } catch {
    toast({
      kind: "bad",
      title: pageText("copy_blocked"),
      text: pageText("copy_blocked_help"),
    });
  }
});
