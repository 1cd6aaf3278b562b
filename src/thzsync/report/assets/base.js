// Shared by all charts: elements, numbers, scales, colours, tooltip, redrawing.
const DATA = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const root = document.documentElement;
const still = matchMedia("(prefers-reduced-motion: reduce)");

function make(parent, tag, attributes = {}, text = null, space = null) {
  const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  if (text !== null) made.textContent = text; // never innerHTML: names come from users' files
  if (parent) parent.append(made);
  return made;
}
const shape = (parent, tag, attributes, text) =>
  make(parent, tag, attributes, text, "http://www.w3.org/2000/svg");

// -- numbers ------------------------------------------------------------------------------------
function show(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toLocaleString("en", { maximumSignificantDigits: digits });
  return text.replace("-", "−");
}
const percent = (share, digits = 3) => show(100 * share, digits) + " %";
function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let k = 0;
  while (bytes >= 1024 && k < units.length - 1) { bytes /= 1024; k += 1; }
  return show(bytes, 3) + " " + units[k];
}
const plusMinus = (value, half, unit) =>
  show(value) + (half ? " ± " + show(half, 2) : "") + (unit ? " " + unit : "");

// -- scales -------------------------------------------------------------------------------------
function scale(low, high, from, to) {
  const span = high - low || 1;
  const map = (value) => from + ((value - low) / span) * (to - from);
  map.low = low;
  map.high = high;
  map.invert = (place) => low + ((place - from) / (to - from)) * span;
  return map;
}
function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}
function extent(values, pad = 0.06, zero = false) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) { low = 0; high = 1; }
  if (zero) { low = Math.min(0, low); high = Math.max(0, high); }
  const room = (high - low || Math.abs(high) || 1) * pad;
  const from = zero && low === 0 ? 0 : low - room;
  return [low >= 0 ? Math.max(0, from) : from, zero && high === 0 ? 0 : high + room];
}

// -- colours and marks --------------------------------------------------------------------------
const palette = new Map(); // emptied when the theme changes
function css(name) {
  if (!palette.has(name)) palette.set(name, getComputedStyle(root).getPropertyValue(name).trim());
  return palette.get(name);
}
const styleColour = (style) => `var(--s${style})`;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "", "5 2", "2 2", "10 4"];
const policies = DATA.policies || [];
const policyOf = (key) => policies.find((p) => p.key === key) || { key, label: key, style: 6 };
const brief = (name, most = 18) => (name.length > most ? name.slice(0, most - 1) + "…" : name);
const kindName = (kind) => DATA.kinds[kind] || kind;

function markPath(style, x, y, r) {
  const corners = {
    1: [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => [a * 0.88, b * 0.88]),
    2: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
    3: [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
    4: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
    5: [[-1, 0], [-0.35, -0.35], [0, -1.3], [0.35, -0.35], [1, 0], [0.35, 0.35], [0, 1.3], [-0.35, 0.35]],
    6: [[-0.6, -1.1], [0.6, -1.1], [1.1, 0], [0.6, 1.1], [-0.6, 1.1], [-1.1, 0]],
    7: [[-1.2, -0.7], [1.2, -0.7], [1.2, 0.7], [-1.2, 0.7]],
  }[style];
  if (!corners) {
    return `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  }
  return "M" + corners.map(([a, b]) => `${(x + a * r).toFixed(2)},${(y + b * r).toFixed(2)}`).join("L") + "Z";
}
function legendMark(parent, style, line = true) {
  const svg = shape(parent, "svg", { viewBox: "0 0 22 12", "aria-hidden": "true" });
  const colour = styleColour(style);
  if (line) {
    shape(svg, "path", { d: "M0,6H22", style: `stroke:${colour}`, "stroke-width": 2, "stroke-dasharray": DASHES[style], fill: "none" });
  }
  shape(svg, "path", { d: markPath(style, 11, 6, 4), style: `fill:${colour}` });
}

// -- tooltip ------------------------------------------------------------------------------------
const tip = byId("tip");
function showTip(x, y, title, rows) {
  tip.replaceChildren();
  make(tip, "b", {}, title);
  const list = make(tip, "dl");
  for (const [name, value, colour] of rows) {
    const term = make(list, "dt");
    if (colour) make(term, "span", { class: "swatch", style: `background:${colour}` });
    term.append(name);
    make(list, "dd", {}, value);
  }
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16;
  tip.style.left = Math.max(6, left) + "px";
  tip.style.top = Math.max(6, Math.min(y + 12, innerHeight - box.height - 6)) + "px";
}
function hideTip() { tip.hidden = true; }
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

// -- drawing and redrawing ------------------------------------------------------------------------
const charts = [];
function redraw(entry) {
  const width = Math.floor(entry.box.clientWidth);
  if (width < 40) return;
  entry.width = width;
  entry.box.dataset.marks = entry.draw(entry.box, width);
}
const observer = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const entry = charts.find((c) => c.box === target);
    if (entry && Math.floor(target.clientWidth) !== entry.width) redraw(entry);
  }
});
// A chart is a box and a function that draws into it for a width and returns its number of marks.
function chart(box, draw, groups = []) {
  const entry = { box, draw, groups, width: 0 };
  box.classList.add("chart");
  charts.push(entry);
  observer.observe(box);
  return entry;
}
function redrawAll(group = null) {
  for (const entry of charts) if (!group || entry.groups.includes(group)) redraw(entry);
}
function fresh(box, width, height, label) {
  box.replaceChildren();
  return shape(box, "svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label,
  });
}
function panel(parent, title, note = "") {
  const figure = make(parent, "figure");
  const caption = make(figure, "figcaption", {}, title + " ");
  if (note) make(caption, "small", {}, note);
  return make(figure, "div");
}
function canvasIn(box, width, height, label) {
  let canvas = box.querySelector("canvas");
  if (!canvas) canvas = make(box, "canvas", { role: "img" });
  canvas.setAttribute("aria-label", label);
  const ratio = Math.min(3, devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { canvas, pen };
}
