// Shared by all charts: elements, data by name, tooltip, drawing and redrawing.
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

// Python hands tables over column by column; this makes one object per row.
function rowsOf(columns) {
  const names = Object.keys(columns);
  const count = names.length ? columns[names[0]].length : 0;
  return range(count).map((k) => Object.fromEntries(names.map((name) => [name, columns[name][k]])));
}
const range = (count) => Array.from({ length: count }, (_, k) => k);

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
function hideTip() {
  tip.hidden = true;
}
// Shows what `tell()` returns, {title, rows}, while the pointer is over an element.
function tipOver(element, tell) {
  element.addEventListener("pointermove", (event) => {
    const { title, rows } = tell();
    showTip(event.clientX, event.clientY, title, rows);
  });
  element.addEventListener("pointerleave", hideTip);
}
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

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
// Takes the charts inside an element away.
function forget(holder) {
  for (const entry of charts.filter(({ box }) => holder.contains(box))) {
    observer.unobserve(entry.box);
    charts.splice(charts.indexOf(entry), 1);
  }
  holder.replaceChildren();
}
function redrawAll(group = null) {
  for (const entry of charts) if (!group || entry.groups.includes(group)) redraw(entry);
}
function fresh(box, width, height, label) {
  box.replaceChildren();
  return shape(box, "svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": label,
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
