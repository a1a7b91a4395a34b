// Drawing a box on a page: around a row that was not read, or where a row's value stands.
// The mouse may always draw; touch and keys once it was asked for.
const desk = document.querySelector(".desk");
const stage = desk.querySelector(".viewer__stage");
const toggle = desk.querySelector("[data-draw]");
const STEP = 0.01; // of the page's width, for each press of an arrow
const SHAPE = { width: 0.4, height: 0.02 }; // of a box that begins in the middle
const MOVES = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
let task = null; // while a box is asked for: its row, and where focus goes back to
let from = null; // where a pointer began, on which page
let box = null; // the rectangle, and the page it lies on

const say = (text) => {
  document.getElementById("live").textContent = text;
};

function pointOn(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  const { x, y } = point.matrixTransform(svg.getScreenCTM().inverse());
  return { x, y };
}

function outline(svg, { x0, y0, x1, y1 }) {
  const { width, height } = svg.viewBox.baseVal;
  const inside = (value, most) => Math.min(Math.max(value, 0), most);
  if (box?.svg !== svg) box?.rect.remove();
  const rect =
    box?.svg === svg && box.rect.isConnected
      ? box.rect
      : svg.appendChild(
          document.createElementNS("http://www.w3.org/2000/svg", "rect"),
        );
  const left = inside(Math.min(x0, x1), width);
  const top = inside(Math.min(y0, y1), height);
  const right = inside(Math.max(x0, x1), width);
  const bottom = inside(Math.max(y0, y1), height);
  rect.setAttribute("class", "drawn");
  rect.setAttribute("x", left);
  rect.setAttribute("y", top);
  rect.setAttribute("width", right - left);
  rect.setAttribute("height", bottom - top);
  box = { svg, rect, x0: left, y0: top, x1: right, y1: bottom };
}

function drop() {
  box?.rect.remove();
  box = from = null;
}

// Where the row's value stands now, else the middle of the page in view.
function begin(row) {
  const position = row?.dataset.row;
  const part = row && desk.querySelector(`.part--value[data-part="${position}"]`);
  if (part) {
    const { x, y, width, height } = part.getBBox();
    return outline(part.ownerSVGElement, { x0: x, y0: y, x1: x + width, y1: y + height });
  }
  const middle = stage.getBoundingClientRect().top + stage.clientHeight / 2;
  const pages = [...stage.querySelectorAll(".viewer__page svg")];
  const svg = pages.find((one) => one.getBoundingClientRect().bottom > middle) ?? pages[0];
  if (!svg) return;
  const { width, height } = svg.viewBox.baseVal;
  const w = SHAPE.width * width;
  const h = SHAPE.height * width;
  const [x, y] = [(width - w) / 2, (height - h) / 2];
  outline(svg, { x0: x, y0: y, x1: x + w, y1: y + h });
}

function ask(row) {
  leave();
  task = { row: row?.id ?? null, back: document.activeElement };
  desk.classList.add("is-drawing");
  toggle.setAttribute("aria-pressed", "true");
  begin(row);
  stage.focus({ preventScroll: true });
  box?.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  const name = row?.querySelector(".bm__name b").textContent;
  say(name ? pageText("draw_value", { name }) : pageText("draw_row"));
}

function leave() {
  drop();
  if (!task) return;
  const { back } = task;
  task = null;
  desk.classList.remove("is-drawing");
  toggle.setAttribute("aria-pressed", "false");
  if (back?.isConnected) back.focus({ preventScroll: true });
}

async function keep() {
  if (!box) return;
  const place = { page: box.svg.closest(".desk__page").dataset.pageNumber };
  for (const side of ["x0", "y0", "x1", "y1"]) place[side] = box[side].toFixed(1);
  const row = document.getElementById(task?.row ?? "");
  const { rect } = box;
  box = null; // it stays in sight until the answer is there
  leave();
  try {
    await (row ? redraw(row, place) : read(place));
  } finally {
    rect.remove();
  }
}

async function read(place) {
  say(pageText("reading_area"));
  const add = desk.querySelector('[data-act="add"]').getAttribute("href");
  await htmx.ajax("GET", `${add}?${new URLSearchParams(place)}`, { target: "#d-form" });
}

async function redraw(row, place) {
  const link = row.querySelector('[data-act="redraw"]');
  await htmx.ajax("POST", link.pathname, {
    target: `#${row.id}`,
    swap: "outerHTML",
    values: { ...place, version: link.dataset.version },
  });
  document.getElementById(row.id.replace("row", "name"))?.focus({ preventScroll: true });
}

desk.addEventListener("click", (event) => {
  const redraw = event.target.closest('[data-act="redraw"]');
  if (redraw) {
    event.preventDefault();
    ask(redraw.closest(".bm"));
  } else if (event.target.closest("[data-draw]")) {
    if (task) leave();
    else ask(null);
  }
});

stage.addEventListener("dragstart", (event) => event.preventDefault());

stage.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest(".viewer__page svg");
  if (!svg || !toggle || event.button) return;
  const isOnBox = event.target.closest("[data-box]");
  if (!task && (event.pointerType === "touch" || isOnBox)) return;
  from = { svg, ...pointOn(svg, event) };
  if (task) svg.setPointerCapture(event.pointerId);
});

stage.addEventListener("pointermove", (event) => {
  if (!from) return;
  const { x, y } = pointOn(from.svg, event);
  outline(from.svg, { x0: from.x, y0: from.y, x1: x, y1: y });
});

addEventListener("pointerup", () => {
  if (!from) return;
  const { svg } = from;
  from = null;
  const { width, height } = svg.viewBox.baseVal;
  const isSlip =
    !box || box.x1 - box.x0 < width / 100 || box.y1 - box.y0 < height / 200;
  if (!isSlip) keep();
  else if (task) begin(document.getElementById(task.row ?? ""));
  else drop();
});

addEventListener("pointercancel", () => {
  if (from) drop();
});

document.addEventListener(
  "keydown",
  (event) => {
    if (!task || event.target.closest("dialog")) return;
    const move = MOVES[event.key];
    if (event.key === "Escape") leave();
    else if (event.target !== stage) return;
    else if (event.key === "Enter") keep();
    else if (event.key === "PageUp" || event.key === "PageDown") {
      turn(event.key === "PageUp" ? -1 : 1);
    } else if (move && box) {
      nudge(move, event.shiftKey);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  },
  true, // before the keys of the desk
);

function turn(by) {
  const pages = [...stage.querySelectorAll(".viewer__page svg")];
  const svg = pages[pages.indexOf(box?.svg) + by];
  if (!svg) return;
  outline(svg, box);
  box.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  const number = svg.closest(".desk__page").dataset.pageNumber;
  say(pageText("page_number", { number }));
}

function nudge([right, down], isSizing) {
  const { width, height } = box.svg.viewBox.baseVal;
  const [dx, dy] = [right * STEP * width, down * STEP * width];
  const { x0, y0, x1, y1 } = box;
  const least = STEP * width;
  outline(
    box.svg,
    isSizing
      ? { x0, y0, x1: Math.max(x1 + dx, x0 + least), y1: Math.max(y1 + dy, y0 + least) }
      : { x0: x0 + dx, y0: y0 + dy, x1: x1 + dx, y1: y1 + dy },
  );
  box.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  const percent = (value, most) => Math.round((value / most) * 100);
  const left = percent(box.x0, width);
  const top = percent(box.y0, height);
  say(
    pageText("box_position", {
      left,
      top,
      right: percent(box.x1, width),
      bottom: percent(box.y1, height),
    }),
  );
}
