// Polling waits while the tab is hidden. Done here, since a filter inside hx-trigger is
// script in an attribute, which the content policy forbids.
document.addEventListener("htmx:before:request", (event) => {
  const source = event.detail?.ctx?.sourceElement ?? event.target;
  const polls = source.getAttribute?.("hx-trigger")?.startsWith("every ");
  if (polls && document.hidden) event.preventDefault();
});
