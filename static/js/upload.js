// A form with data-upload is sent with a progress bar; without script it is sent plainly.
// fetch, and so htmx, cannot see how much of a body has left; XMLHttpRequest can.
function show(form, loaded, total) {
  const bar = form.querySelector("progress");
  const words = form.querySelector("[data-upload-words]");
  bar.hidden = words.hidden = false;
  bar.max = total;
  bar.value = loaded;
  const percent = Math.round((loaded / total) * 100);
  words.textContent =
    percent < 100 ? pageText("upload_progress", { percent }) : pageText("upload_sent");
}

function busy(form, on) {
  const button = form.querySelector('button[type="submit"]');
  button.disabled = on;
  button.classList.toggle("htmx-request", on);
  if (!on) {
    form.querySelector("progress").hidden = true;
    form.querySelector("[data-upload-words]").hidden = true;
  }
}

// What was chosen is kept, unless it is the file that was refused.
function keepFiles(form, fresh) {
  const given = form.querySelector('input[type="file"]');
  const input = fresh.querySelector('input[type="file"]');
  if (input.matches('[aria-invalid="true"]')) return;
  input.files = given.files;
  nameFiles(input);
}

function send(form) {
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) show(form, event.loaded, event.total);
  });
  const fail = (status) => {
    busy(form, false);
    dispatchEvent(new CustomEvent("upload:failed", { detail: { status } }));
  };
  request.addEventListener("error", () => fail(0));
  request.addEventListener("load", () => {
    const next = request.getResponseHeader("HX-Redirect");
    if (next) {
      location.assign(next);
    } else if (request.status === 422) {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const fresh = page.querySelector("[data-upload]");
      form.replaceWith(fresh);
      keepFiles(form, fresh);
      fresh.querySelector('[aria-invalid="true"]')?.focus();
    } else {
      fail(request.status);
    }
  });
  busy(form, true);
  request.send(new FormData(form));
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-upload]")) return;
  event.preventDefault();
  send(event.target);
});

// The drop zone is the label of a file input, so a drop fills the input.
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    const zone = event.target.closest?.(".drop");
    if (!zone) return;
    event.preventDefault();
    zone.classList.toggle("is-over", name === "dragover");
    if (name !== "drop" || !event.dataTransfer.files.length) return;
    const input = zone.querySelector('input[type="file"]');
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}
function nameFiles(input) {
  const words = input.closest(".drop")?.querySelector("[data-file-name]");
  if (words) words.textContent = [...input.files].map((file) => file.name).join(", ");
}
document.addEventListener("change", ({ target }) => nameFiles(target));
