// The chart of series: drag across it to zoom, point or press arrows to read values.
// Zooming follows links of the page, so that every view has an address.
const SVG = "http://www.w3.org/2000/svg";
const SMALLEST_PX = 6;
const KEYS = { "+": "#zoom-in", "=": "#zoom-in", "-": "#zoom-out" };
// A sheet of its own, since the content policy forbids style attributes.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(sheet);
let dragged = null;

const plotOf = (node) => node?.closest?.("[data-series]");

function read(plot) {
  const block = document.getElementById(plot.dataset.series);
  plot.series ??= JSON.parse(block.textContent);
  return plot.series;
}

// Where the pointer is, in the units of the drawing and in time.
function place(plot, event) {
  const svg = plot.querySelector("svg");
  const box = svg.getBoundingClientRect();
  const { left, right, start, end } = read(plot);
  const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  const inside = Math.min(right, Math.max(left, x));
  return { x: inside, at: start + ((inside - left) / (right - left)) * (end - start) };
}

function shape(plot, kind, attributes) {
  const svg = plot.querySelector("svg");
  let node = svg.querySelector(`.${kind}`);
  if (!attributes) return node?.remove();
  if (!node) {
    node = document.createElementNS(SVG, kind === "sr-pick" ? "rect" : "line");
    node.setAttribute("class", kind);
    svg.append(node);
  }
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function clock(plot, at) {
  const { zone, offset } = read(plot);
  const { lang } = document.documentElement;
  // English puts the day first, as the server does.
  const language = lang === "en" ? "en-GB" : lang;
  const shown = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  return zone
    ? new Date(at).toLocaleString(language, { ...shown, timeZone: zone })
    : new Date(at + offset * 1000).toLocaleString(language, { ...shown, timeZone: "UTC" });
}

// The points of each curve that lie nearest to a time.
function nearest(plot, at) {
  return read(plot)
    .curves.filter((curve) => curve.points.length)
    .map((curve) => {
      let low = 0;
      let high = curve.points.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (curve.points[middle][0] < at) low = middle + 1;
        else high = middle;
      }
      const before = curve.points[Math.max(0, low - 1)];
      const after = curve.points[low];
      return { curve, point: at - before[0] < after[0] - at ? before : after };
    });
}

function show(plot, at) {
  const found = nearest(plot, at);
  if (!found.length) return "";
  const { left, right, start, end } = read(plot);
  const times = found.map(({ point }) => point[0]);
  const here = times.reduce((a, b) => (Math.abs(a - at) <= Math.abs(b - at) ? a : b));
  const x = left + ((here - start) / (end - start)) * (right - left);
  const svg = plot.querySelector("svg");
  const height = svg.viewBox.baseVal.height;
  shape(plot, "sr-here", { x1: x, x2: x, y1: 0, y2: height - 22 });
  const lines = found.map(({ curve, point: [, value, low, high, own] }) => {
    // Values stand as the page's tables write them: never with a decimal comma.
    const thin = document.documentElement.lang !== "en";
    const shown = (number) => {
      const text = number.toLocaleString("en");
      return thin ? text.replaceAll(",", "\u202f") : text;
    };
    const point = { name: own ?? curve.name, unit: curve.unit, value: shown(value) };
    return low < high
      ? pageText("chart_point_range", { ...point, low: shown(low), high: shown(high) })
      : pageText("chart_point", point);
  });
  const text = [clock(plot, here), ...lines].join("\n");
  const tip = plot.querySelector(".plot__tip");
  tip.textContent = text;
  tip.hidden = false;
  const px = (x / svg.viewBox.baseVal.width) * plot.clientWidth;
  const most = plot.clientWidth - tip.offsetWidth;
  const beside = px + 12 > most ? px - tip.offsetWidth - 12 : px + 12;
  const left_px = Math.max(0, Math.min(most, beside));
  sheet.replaceSync(`.plot__tip { translate: ${left_px}px 0; }`);
  return text;
}

function hide(plot) {
  shape(plot, "sr-here");
  plot.querySelector(".plot__tip").hidden = true;
}

function zoom(start, end) {
  const link = document.getElementById("zoom-in");
  const url = new URL(link.href);
  url.searchParams.set("start", new Date(start).toISOString());
  url.searchParams.set("end", new Date(end).toISOString());
  link.href = url;
  link.click();
}

document.addEventListener("pointerdown", (event) => {
  const plot = plotOf(event.target);
  if (!plot || event.button || event.pointerType === "touch") return;
  dragged = { plot, from: place(plot, event) };
  event.preventDefault();
});

document.addEventListener("pointermove", (event) => {
  if (dragged) {
    const { x } = place(dragged.plot, event);
    const from = dragged.from.x;
    hide(dragged.plot);
    const height = dragged.plot.querySelector("svg").viewBox.baseVal.height - 22;
    shape(dragged.plot, "sr-pick", {
      x: Math.min(x, from),
      width: Math.abs(x - from),
      y: 0,
      height,
    });
    return;
  }
  const plot = plotOf(event.target);
  if (plot) show(plot, place(plot, event).at);
});

document.addEventListener("pointerup", (event) => {
  if (!dragged) return;
  const { plot, from } = dragged;
  dragged = null;
  shape(plot, "sr-pick");
  const to = place(plot, event);
  if (Math.abs(to.x - from.x) < SMALLEST_PX) return;
  zoom(Math.min(from.at, to.at), Math.max(from.at, to.at));
});

document.addEventListener("pointerout", (event) => {
  const plot = plotOf(event.target);
  if (plot && !plot.contains(event.relatedTarget)) hide(plot);
});

// Marks the time between two moments, as dragging does.
function pick(plot, from, to) {
  const { left, right, start, end } = read(plot);
  const [x1, x2] = [Math.min(from, to), Math.max(from, to)].map(
    (at) => left + ((at - start) / (end - start)) * (right - left),
  );
  const height = plot.querySelector("svg").viewBox.baseVal.height - 22;
  shape(plot, "sr-pick", { x: x1, width: Math.max(1, x2 - x1), y: 0, height });
  return pageText("chart_selection", {
    start: clock(plot, Math.min(from, to)),
    end: clock(plot, Math.max(from, to)),
  });
}

function unpick(plot) {
  delete plot.picked;
  shape(plot, "sr-pick");
}

// Every moment that some curve has a point at, for the arrow keys.
function moments(plot) {
  plot.moments ??= [
    ...new Set(read(plot).curves.flatMap((curve) => curve.points.map(([at]) => at))),
  ].sort((a, b) => a - b);
  return plot.moments;
}

document.addEventListener("keydown", (event) => {
  const slider = event.target;
  if (!slider.matches?.(".plot__slider") || event.ctrlKey || event.metaKey) return;
  const plot = plotOf(slider);
  if (event.defaultPrevented) return; // the page's own keys zoom too
  if (KEYS[event.key]) {
    event.preventDefault();
    return document.querySelector(KEYS[event.key]).click();
  }
  if (event.key === "Enter" && plot.picked) {
    event.preventDefault();
    const [from, to] = plot.picked;
    unpick(plot);
    return from === to || zoom(Math.min(from, to), Math.max(from, to));
  }
  if (event.key === "Escape" && plot.picked) {
    event.preventDefault();
    return unpick(plot);
  }
  const all = moments(plot);
  const here = Number(slider.getAttribute("aria-valuenow"));
  const steps = {
    ArrowLeft: here - 1,
    ArrowRight: here + 1,
    PageUp: here - 10,
    PageDown: here + 10,
    Home: 0,
    End: all.length - 1,
  };
  if (!(event.key in steps) || !all.length) return;
  event.preventDefault();
  const next = Math.min(all.length - 1, Math.max(0, steps[event.key]));
  slider.setAttribute("aria-valuemax", all.length - 1);
  slider.setAttribute("aria-valuenow", next);
  let text = show(plot, all[next]).replaceAll("\n", ", ");
  if (event.shiftKey) {
    plot.picked = [plot.picked?.[0] ?? all[here], all[next]];
    text = `${pick(plot, ...plot.picked)}, ${text}`;
  } else {
    unpick(plot);
  }
  slider.setAttribute("aria-valuetext", text);
});

document.addEventListener("focusout", (event) => {
  if (!event.target.matches?.(".plot__slider")) return;
  hide(plotOf(event.target));
  unpick(plotOf(event.target));
});
