// On paper the head of a page says when it was printed: it may have been open for hours.
// The zone is that of the page's other times.
addEventListener("beforeprint", () => {
  const printed = document.querySelector("[data-printed]");
  if (!printed) return;
  const { lang } = document.documentElement;
  printed.hidden = false;
  printed.querySelector("time").textContent = new Date().toLocaleString(
    lang === "en" ? "en-GB" : lang, // the day before the month, as on the page
    {
      dateStyle: "medium",
      timeStyle: "short",
      hourCycle: "h23",
      timeZone: printed.dataset.zone,
    },
  );
});
