// Light or dark, before the first paint: this device's choice, else the profile's, which
// the server wrote, else the system's.
// A classic script on purpose: a module would run after the page is drawn.
(() => {
  const root = document.documentElement;
  let saved = null;
  try {
    saved = localStorage.getItem("theme");
  } catch {
    // Storage may be shut; the system's setting then holds.
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const chosen = "chosen" in root.dataset ? root.dataset.theme : null;
  root.dataset.theme = saved || chosen || (dark ? "dark" : "light");

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // Not saved: the choice holds for this page.
    }
  });

  // A choice in the profile is for every device, so this one's own gives way.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-theme-form]")) return;
    try {
      localStorage.removeItem("theme");
    } catch {
      // Nothing can be saved here, so nothing was.
    }
  });
})();
