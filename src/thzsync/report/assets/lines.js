// Lines over a common x with intervals and published marks: learning curves and synthesis.
const hiddenSeries = new Set();

function drawLines(box, width, spec) {
  const height = Math.round(Math.max(230, Math.min(320, width * 0.66)));
  const edge = { left: 52, right: spec.room || 16, top: 20, bottom: 38 };
  const svg = fresh(box, width, height, spec.label);
  const series = spec.series.filter((s) => !hiddenSeries.has(s.key));
  const values = series.flatMap((s) => [
    ...s.points.flatMap((p) => [p.y - (p.half || 0), p.y + (p.half || 0), p.paper ?? null, p.bound ?? null]),
    s.published ?? null,
  ]);
  const positive = series.every((s) => s.points.every((p) => p.y >= 0)); // a wide interval may reach below 0, time cannot
  const [low, high] = extent(positive ? values.map((v) => (v === null ? v : Math.max(0, v))) : values, 0.07, spec.zero);
  const xs = [...new Set(spec.series.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b);
  const gap = xs.length > 1 ? 0 : 1;
  const x = scale(xs[0] - gap, xs[xs.length - 1] + gap, edge.left, width - edge.right);
  const y = scale(low, high, height - edge.bottom, edge.top);
  lineAxes(svg, x, y, width, height, edge, spec, xs);
  let marks = 0;
  for (const s of [...series].reverse()) marks += drawSeries(svg, s, x, y, width, edge);
  crosshair(box, svg, series, xs, x, y, height, edge, spec);
  return marks;
}

function lineAxes(svg, x, y, width, height, edge, spec, xs) {
  if (spec.first && spec.first > xs[0]) {
    const from = x(spec.first - 0.5);
    shape(svg, "rect", { x: from, y: edge.top, width: width - edge.right - from, height: height - edge.top - edge.bottom, style: "fill:var(--wash)" });
    shape(svg, "text", { x: width - edge.right, y: 12, "text-anchor": "end" }, "averaged");
  }
  for (const t of ticks(y.low, y.high, height / 46)) {
    shape(svg, "line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(t), y2: y(t) });
    shape(svg, "text", { x: edge.left - 8, y: y(t) + 4, "text-anchor": "end" }, show(t));
  }
  shape(svg, "line", { class: "axis", x1: edge.left, x2: width - edge.right, y1: height - edge.bottom, y2: height - edge.bottom });
  const wanted = spec.everyX ? xs : ticks(xs[0], xs[xs.length - 1], width / 90).filter(Number.isInteger);
  for (const t of wanted) {
    shape(svg, "text", { x: x(t), y: height - edge.bottom + 17, "text-anchor": "middle" }, show(t));
  }
  shape(svg, "text", { x: (edge.left + width - edge.right) / 2, y: height - 4, "text-anchor": "middle" }, spec.xTitle);
}

function drawSeries(svg, s, x, y, width, edge) {
  const colour = styleColour(s.style);
  const group = shape(svg, "g", { style: `stroke:${colour};fill:none`, "data-series": s.key });
  const banded = s.points.filter((p) => p.half);
  if (banded.length > 1 && !s.whiskers) {
    const up = banded.map((p) => `${x(p.x)},${y(p.y + p.half)}`);
    const down = banded.map((p) => `${x(p.x)},${y(Math.max(y.low, p.y - p.half))}`).reverse();
    shape(group, "path", { d: `M${up.join("L")}L${down.join("L")}Z`, style: `fill:${colour};stroke:none;opacity:.16` });
  }
  const bounds = s.points.filter((p) => p.bound);
  if (bounds.length > 1) {
    shape(group, "path", { d: "M" + bounds.map((p) => `${x(p.x)},${y(p.bound)}`).join("L"), style: "stroke:var(--faint)", "stroke-dasharray": "2 4", "stroke-width": 1.5 });
  }
  shape(group, "path", { d: "M" + s.points.map((p) => `${x(p.x)},${y(p.y)}`).join("L"), "stroke-width": s.strong ? 2.6 : 1.8, "stroke-dasharray": DASHES[s.style], "stroke-linejoin": "round" });
  for (const p of s.points) {
    if (s.whiskers && p.half) shape(group, "path", { d: `M${x(p.x)},${y(Math.max(y.low, p.y - p.half))}V${y(p.y + p.half)}`, "stroke-width": 1.2 });
    if (s.points.length <= 30) shape(group, "path", { d: markPath(s.style, x(p.x), y(p.y), 3.2), style: `fill:${colour};stroke:none` });
    if (p.paper) hollow(group, s.style, x(p.x), y(p.paper), 5.5);
  }
  if (s.published !== null && s.published !== undefined) hollow(group, s.style, width - edge.right + 10, y(s.published), 5);
  return s.points.length;
}
function hollow(parent, style, x, y, r) {
  shape(parent, "path", { d: markPath(style, x, y, r), style: `fill:var(--card);stroke:${styleColour(style)}`, "stroke-width": 1.8, class: "published" });
}

function crosshair(box, svg, series, xs, x, y, height, edge, spec) {
  const rule = shape(svg, "line", { y1: edge.top, y2: height - edge.bottom, style: "stroke:var(--faint)", visibility: "hidden" });
  svg.setAttribute("tabindex", "0");
  let at = -1;
  const point = (k, clientX, clientY) => {
    at = Math.max(0, Math.min(xs.length - 1, k));
    rule.setAttribute("visibility", "visible");
    for (const end of ["x1", "x2"]) rule.setAttribute(end, x(xs[at]));
    const rows = series
      .map((s) => [s, s.points.find((p) => p.x === xs[at])])
      .filter(([, p]) => p)
      .sort(([, a], [, b]) => b.y - a.y)
      .map(([s, p]) => [s.label, plusMinus(p.y, p.half, spec.unit) + (p.paper ? ` (published ${show(p.paper)})` : ""), styleColour(s.style)]);
    const bound = series.flatMap((s) => s.points).find((p) => p.x === xs[at] && p.bound);
    if (bound) rows.push(["Lower bound", plusMinus(bound.bound, 0, spec.unit)]);
    showTip(clientX, clientY, `${spec.xName} ${show(xs[at])}`, rows);
  };
  const leave = () => { rule.setAttribute("visibility", "hidden"); at = -1; hideTip(); };
  svg.addEventListener("pointermove", (event) => {
    const place = x.invert(event.clientX - svg.getBoundingClientRect().left);
    const nearest = xs.reduce((best, v, k) => (Math.abs(v - place) < Math.abs(xs[best] - place) ? k : best), 0);
    point(nearest, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const frame = svg.getBoundingClientRect();
    const next = at < 0 ? (move > 0 ? 0 : xs.length - 1) : at + move;
    point(next, frame.left + x(xs[Math.max(0, Math.min(xs.length - 1, next))]), frame.top + edge.top + 20);
  });
}

function seriesLegend(parent, members, group) {
  const legend = make(parent, "div", { class: "legend", role: "group", "aria-label": "Show or hide" });
  for (const member of members) {
    const button = make(legend, "button", { type: "button", "aria-pressed": "true", title: "Show or hide" });
    legendMark(button, member.style);
    button.append(member.label);
    button.addEventListener("click", () => {
      const off = !hiddenSeries.delete(member.key);
      if (off) hiddenSeries.add(member.key);
      button.setAttribute("aria-pressed", String(!off));
      redrawAll(group);
    });
  }
  return legend;
}
function keyNote(legend, hollowText) {
  const chip = make(legend, "span", { class: "chip" });
  const svg = shape(chip, "svg", { viewBox: "0 0 22 12", "aria-hidden": "true" });
  shape(svg, "path", { d: markPath(0, 11, 6, 4.5), style: "fill:none;stroke:var(--soft)", "stroke-width": 1.8 });
  chip.append(hollowText);
}

function learningCurves(box) {
  const { metrics, series, first, published } = DATA.curves;
  const legend = policies.length > 1 ? seriesLegend(box, policies, "policies") : make(box, "div", { class: "legend" });
  const anyPublished = Object.values(published).some((row) => Object.values(row).some((v) => v !== null));
  if (anyPublished) keyNote(legend, "published mean");
  const grid = make(box, "div", { class: "panels" });
  for (const metric of metrics) {
    const note = (metric.unit ? `[${metric.unit}], ` : "") + (metric.better === "high" ? "higher is better" : "lower is better");
    const lines = policies.map((p, k) => ({
      ...p,
      strong: k === 0,
      published: anyPublished ? published[p.key]?.[metric.key] : null,
      points: series[p.key].iteration.map((x, i) => ({
        x, y: series[p.key][metric.key].mean[i], half: series[p.key][metric.key].half[i],
      })).filter((point) => point.y !== null),
    }));
    chart(panel(grid, metric.title, note), (target, width) => drawLines(target, width, {
      label: `${metric.title} per iteration and policy`, series: lines, unit: metric.unit, first,
      xTitle: "iteration", xName: "Iteration", room: anyPublished ? 26 : 14,
    }), ["policies"]);
  }
}

function synthesisPanels(box) {
  const methods = new Map();
  for (const p of DATA.synthesis) for (const m of p.methods) methods.set(m.key, m);
  const legend = seriesLegend(box, [...methods.values()], "methods");
  if (DATA.synthesis.some((p) => p.points.some((q) => q.paper))) keyNote(legend, "published");
  make(legend, "span", { class: "chip" }, "┄ lower bound");
  const grid = make(box, "div", { class: "panels two" });
  for (const one of DATA.synthesis) {
    const lines = one.methods.map((m) => ({
      ...m, whiskers: true, strong: m.key === "proposed",
      points: one.points.filter((p) => p.method === m.key).map((p) => (m.key === "proposed" ? p : { ...p, bound: null })),
    }));
    chart(panel(grid, one.title, "completion time [ms]"), (target, width) => drawLines(target, width, {
      label: `${one.title}: completion time over the number of racks`, series: lines, unit: "ms", zero: true,
      xTitle: "racks", xName: "Racks", everyX: true,
    }), ["methods"]);
  }
}
