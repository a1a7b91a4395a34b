// The texts that scripts show come from the page (portal/script_texts.py): runs before
// the other modules, which ask for them by key.
const texts = JSON.parse(document.getElementById("texts").textContent);

globalThis.pageText = (key, values = {}) =>
  texts[key].replace(/\{(\w+)\}/g, (_whole, name) => values[name]);
