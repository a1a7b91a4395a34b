// data-until="2026-11-24T15:40:00Z": counts down to that moment, then says data-over.
function tick() {
  for (const clock of document.querySelectorAll("[data-until]")) {
    const left = Math.ceil((Date.parse(clock.dataset.until) - Date.now()) / 1000);
    if (left > 0) {
      const seconds = String(left % 60).padStart(2, "0");
      const time = `${Math.floor(left / 60)}:${seconds}`;
      clock.textContent = pageText("time_left", { time });
    } else {
      clock.textContent = clock.dataset.over;
      delete clock.dataset.until;
    }
  }
}

setInterval(tick, 1000);
document.addEventListener("htmx:after:swap", tick);
tick();
