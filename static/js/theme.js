// Light or dark, before the first paint: the saved choice, else the system's.
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
  root.dataset.theme = saved || (dark ? "dark" : "light");

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // Not saved: the choice holds for this page.
    }
  });
})();
