// Fields that say more as they are filled in.
document.addEventListener("input", (event) => {
  const field = event.target;
  // data-count="id": how much of the longest length is used.
  const count = field.dataset.count && document.getElementById(field.dataset.count);
  if (count) {
    const [used, limit] = [field.value.length, field.maxLength];
    count.textContent = pageText("count_characters", { used, limit });
  }
  // data-match="name" on a form: it can be sent once that name has been typed.
  const form = field.closest("[data-match]");
  if (form) guard(form);
});

function guard(form) {
  const typed = form.querySelector('[name="typed_name"]');
  form.querySelector('[type="submit"]').disabled =
    typed.value.trim() !== form.dataset.match;
}

const guardAll = () => document.querySelectorAll("[data-match]").forEach(guard);
guardAll();
document.addEventListener("htmx:after:swap", guardAll);
