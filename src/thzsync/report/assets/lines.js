// Lines over a common x with intervals and published marks: learning curves and synthesis.
const hiddenSeries = new Set();

function drawLines(box, width, spec) {
  const height = Math.round(Math.max(230, Math.min(320, width * 0.66)));
  const frame = { width, height, edge: { left: 60, right: spec.room || 16, top: 20, bottom: 38 } };
  const svg = fresh(box, width, height, spec.label);
  const series = spec.series.filter((s) => !hiddenSeries.has(s.key));
  const xs = [...new Set(spec.series.flatMap((s) => s.points.map((p) => p.x)))];
  xs.sort((a, b) => a - b);
  const { x, y } = lineScales(series, xs, spec, frame);
  lineAxes(svg, x, y, frame, spec, xs);
  let marks = 0;
  for (const s of [...series].reverse()) marks += drawSeries(svg, s, x, y, frame);
  crosshair(svg, series, xs, x, frame, spec);
  return marks;
}

function lineScales(series, xs, spec, { width, height, edge }) {
  const reach = ({ y, half }) => [y - (half || 0), y + (half || 0)];
  let values = series.flatMap((s) => [
    ...s.points.flatMap((p) => [...reach(p), p.paper ?? null, p.bound ?? null]),
    s.published ?? null,
  ]);
  // A wide interval may reach below 0, time cannot.
  const positive = series.every((s) => s.points.every((p) => p.y >= 0));
  if (positive) values = values.map((v) => (v === null ? v : Math.max(0, v)));
  const [low, high] = extent(values, 0.07, spec.zero);
  const gap = xs.length > 1 ? 0 : 1;
  return {
    x: scale(xs[0] - gap, xs[xs.length - 1] + gap, edge.left, width - edge.right),
    y: scale(low, high, height - edge.bottom, edge.top),
  };
}
function lineAxes(svg, x, y, frame, spec, xs) {
  const { width, height, edge } = frame, floor = height - edge.bottom;
  if (spec.first && spec.first > xs[0]) {
    const from = x(spec.first - 0.5), room = width - edge.right - from;
    const band = { x: from, y: edge.top, width: room, height: floor - edge.top };
    shape(svg, "rect", { ...band, style: "fill:var(--wash)" });
    shape(svg, "text", { x: width - edge.right, y: 12, "text-anchor": "end" }, "averaged");
  }
  yTicks(svg, y, frame, ticks(y.low, y.high, height / 46), spec.fit.factor);
  const line = { x1: edge.left, x2: width - edge.right, y1: floor, y2: floor };
  shape(svg, "line", { class: "axis", ...line });
  const whole = ticks(xs[0], xs[xs.length - 1], width / 90).filter(Number.isInteger);
  xTicks(svg, x, frame, spec.everyX ? xs : whole, 1, false);
  xTitle(svg, frame, spec.xTitle);
}

function drawSeries(svg, s, x, y, { width, edge }) {
  const style = `stroke:${styleColour(s.style)};fill:none`;
  const group = shape(svg, "g", { style, "data-series": s.key });
  if (!s.whiskers) drawBand(group, s, x, y);
  drawBound(group, s, x, y);
  shape(group, "path", {
    d: "M" + (s.between || s.points).map((p) => `${x(p.x)},${y(p.y)}`).join("L"),
    "stroke-width": s.strong ? 2.6 : 1.8,
    "stroke-dasharray": DASHES[s.style],
    "stroke-linejoin": "round",
  });
  for (const p of s.points) drawPoint(group, s, p, x, y);
  if (s.published !== null && s.published !== undefined) {
    hollow(group, s.style, width - edge.right + 10, y(s.published), 5);
  }
  return s.points.length;
}
function drawBand(group, s, x, y) {
  const banded = (s.between || s.points).filter((p) => p.half);
  if (banded.length < 2) return;
  const up = banded.map((p) => `${x(p.x)},${y(p.y + p.half)}`);
  const down = banded.map((p) => `${x(p.x)},${y(Math.max(y.low, p.y - p.half))}`).reverse();
  const style = `fill:${styleColour(s.style)};stroke:none;opacity:.16`;
  shape(group, "path", { d: `M${up.join("L")}L${down.join("L")}Z`, style });
}
function drawBound(group, s, x, y) {
  const bounds = s.points.filter((p) => p.bound);
  if (bounds.length < 2) return;
  shape(group, "path", {
    d: "M" + bounds.map((p) => `${x(p.x)},${y(p.bound)}`).join("L"),
    style: "stroke:var(--faint)",
    "stroke-dasharray": "2 4",
    "stroke-width": 1.5,
  });
}
function drawPoint(group, s, p, x, y) {
  if (s.whiskers && p.half) {
    const d = `M${x(p.x)},${y(Math.max(y.low, p.y - p.half))}V${y(p.y + p.half)}`;
    shape(group, "path", { d, "stroke-width": 1.2 });
  }
  if (s.points.length <= 30) {
    const style = `fill:${styleColour(s.style)};stroke:none`;
    shape(group, "path", { d: markPath(s.style, x(p.x), y(p.y), 3.2), style });
  }
  if (p.paper) hollow(group, s.style, x(p.x), y(p.paper), 5.5);
}

// A rule that follows the pointer or the arrow keys and tells every series' value there.
function crosshair(svg, series, xs, x, { height, edge }, spec) {
  const ends = { y1: edge.top, y2: height - edge.bottom };
  const rule = shape(svg, "line", { ...ends, style: "stroke:var(--faint)", visibility: "hidden" });
  svg.setAttribute("tabindex", "0");
  let at = -1;
  const point = (k, clientX, clientY) => {
    at = Math.max(0, Math.min(xs.length - 1, k));
    rule.setAttribute("visibility", "visible");
    for (const end of ["x1", "x2"]) rule.setAttribute(end, x(xs[at]));
    const title = `${spec.xName} ${(spec.xText || show)(xs[at])}`;
    showTip(clientX, clientY, title, valuesAt(series, xs[at], spec.unit));
  };
  const leave = () => {
    rule.setAttribute("visibility", "hidden");
    at = -1;
    hideTip();
  };
  svg.addEventListener("pointermove", (event) => {
    const place = event.clientX - svg.getBoundingClientRect().left;
    const far = xs.map((v) => Math.abs(x(v) - place));
    point(far.indexOf(Math.min(...far)), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const start = move > 0 ? 0 : xs.length - 1;
    const next = Math.max(0, Math.min(xs.length - 1, at < 0 ? start : at + move));
    const box = svg.getBoundingClientRect();
    point(next, box.left + x(xs[next]), box.top + edge.top + 20);
  });
}
function valuesAt(series, place, unit) {
  const paper = (p) => (p.paper ? ` (published ${quantity(p.paper, unit)})` : "");
  const found = series
    .map((s) => ({ s, p: s.points.find((one) => one.x === place) }))
    .filter(({ p }) => p)
    .sort((a, b) => b.p.y - a.p.y);
  const rows = found.map(({ s, p }) => [
    s.label,
    plusMinus(p.y, p.half, unit) + paper(p),
    styleColour(s.style),
  ]);
  const bound = found.find(({ p }) => p.bound);
  if (bound) rows.push(["Lower bound", quantity(bound.p.bound, unit)]);
  return rows;
}
