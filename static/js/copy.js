// A button with data-copy puts that text on the clipboard.
const toast = (detail) => dispatchEvent(new CustomEvent("toast", { detail }));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    toast({ title: "Copied", text: button.dataset.copy });
  } catch {
    toast({
      kind: "bad",
      title: "Copy is blocked by the browser",
      text: "Select the text and copy it by hand.",
    });
  }
});
