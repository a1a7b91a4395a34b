// A pin of a map and its row in the list are one: pointed at or in focus, both are
// marked, and a press on the pin chooses the row. Without script the pin leads there.
function pair(target) {
  const pin = target.closest?.("[data-pin]");
  const id = pin?.dataset.pin ?? target.closest?.("li")?.querySelector("input")?.id;
  const other = id && document.querySelector(`[data-pin="${CSS.escape(id)}"]`);
  return other ? [other, document.getElementById(id)] : [];
}

for (const [name, on] of Object.entries({
  mouseover: true,
  focusin: true,
  mouseout: false,
  focusout: false,
})) {
  document.addEventListener(name, ({ target }) => {
    for (const one of pair(target)) one?.classList.toggle("is-near", on);
  });
}

document.addEventListener("click", (event) => {
  const pin = event.target.closest("[data-pin]");
  const row = pin && document.getElementById(pin.dataset.pin);
  if (!row) return;
  event.preventDefault();
  row.focus();
  row.click();
});
