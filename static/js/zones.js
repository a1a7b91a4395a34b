// data-zone-offer holds the zone of the page's times. The offer appears where this
// device's clock differs from it in winter or in summer; a polled page keeps it.
const MONTHS = [new Date(Date.UTC(2024, 0, 1)), new Date(Date.UTC(2024, 6, 1))];

function clocks(timeZone) {
  const clock = new Intl.DateTimeFormat("en", {
    timeZone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return MONTHS.map((at) => clock.format(at)).join();
}

function offer() {
  const box = document.querySelector("[data-zone-offer]");
  if (!box) return;
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!here || clocks(here) === clocks(box.dataset.zoneOffer)) return;
  box.querySelector("[name=time_zone]").value = here;
  box.querySelector("[data-zone-name]").textContent = here;
  box.hidden = false;
}

offer();
