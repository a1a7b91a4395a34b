// A form with data-passkey asks the browser for a passkey before it is sent: "create"
// makes one, "get" uses one. The options stand in the page (data-options names the
// element) or are fetched (data-options-url). Without script such forms stay hidden.

async function optionsOf(form) {
  const { options, optionsUrl } = form.dataset;
  if (options) return JSON.parse(document.getElementById(options).textContent);
  const reply = await fetch(optionsUrl, { headers: { Accept: "application/json" } });
  if (!reply.ok) throw new Error(reply.status);
  return (await reply.json()).request_options;
}

function showFault(form, text) {
  const fault = form.querySelector("[data-passkey-fault]");
  fault.querySelector("p").textContent = text;
  fault.hidden = false;
}

async function ask(form) {
  const button = form.querySelector('button[type="submit"]');
  form.querySelector("[data-passkey-fault]").hidden = true;
  button.disabled = true;
  try {
    const { create, get } = window.webauthnJSON;
    const act = form.dataset.passkey === "create" ? create : get;
    const credential = await act(await optionsOf(form));
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  } catch (fault) {
    const isKnown = fault.name === "InvalidStateError";
    showFault(form, pageText(isKnown ? "passkey_known" : "passkey_refused"));
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll("[data-passkey]")) {
  if (!window.webauthnJSON?.supported()) continue;
  form.hidden = false;
  for (const note of document.querySelectorAll("[data-no-passkey]")) note.hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form);
  });
}
