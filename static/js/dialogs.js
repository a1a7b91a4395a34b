// data-dialog="id" opens a <dialog>; data-close shuts the one it is in. The opener is a
// link to a page with the same form, for when there is no script.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.dialog).showModal();
  }
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});

// A press on the backdrop shuts a dialog that opted in with data-light.
document.addEventListener("mousedown", (event) => {
  const dialog = event.target;
  if (!dialog.matches("dialog[data-light]")) return;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  const inside =
    event.clientX >= left &&
    event.clientX <= right &&
    event.clientY >= top &&
    event.clientY <= bottom;
  if (!inside) dialog.close();
});
