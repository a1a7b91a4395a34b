// Sends a call of the API reference with a sandbox key. The key stays in the field: it
// is put in no storage and no address.
const section = document.querySelector("[data-try]");
if (section) {
  section.hidden = false;
  const form = section.querySelector("form");
  const status = form.querySelector("[data-try-status]");
  const answer = form.querySelector("[data-try-answer]");

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let path = section.dataset.path;
    for (const field of form.querySelectorAll("[data-try-path]")) {
      path = path.replace(
        `{${field.dataset.tryPath}}`,
        encodeURIComponent(field.value.trim()),
      );
    }
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("[data-try-query]")) {
      query.append(field.dataset.tryQuery, field.value.trim());
    }
    const body = form.querySelector("[data-try-body]");
    const headers = { "x-service-api-key": form.querySelector("#try-key").value.trim() };
    if (body) headers["content-type"] = "application/json";
    const started = performance.now();
    try {
      const reply = await fetch(query.size ? `${path}?${query}` : path, {
        method: section.dataset.method,
        headers,
        body: body ? body.value : undefined,
        credentials: "omit",
      });
      const isJson = (reply.headers.get("content-type") || "").includes("json");
      const text = isJson ? JSON.stringify(await reply.json(), null, 2) : "";
      const took = Math.round(performance.now() - started);
      status.textContent = `${reply.status} ${reply.statusText} · ${took} ms`;
      answer.textContent = text;
      answer.hidden = !text;
    } catch (error) {
      status.textContent = error.message;
      answer.hidden = true;
    }
  });
}
