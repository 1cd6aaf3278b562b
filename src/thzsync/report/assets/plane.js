// The delay-energy plane: every policy, its published place, and the Pareto frontier.
function drawPlane(box, width) {
  const { points, frontier, oracle } = DATA.plane;
  const height = Math.round(Math.max(300, Math.min(460, width * 0.55)));
  const edge = { left: 52, right: 20, top: 24, bottom: 42 };
  const svg = fresh(box, width, height, "Completion time and energy of every policy");
  const all = (key) => [...points.flatMap((p) => [p[key], p["paper_" + key], ...p.cloud.map((c) => c[key === "x" ? 0 : 1])]), oracle ? oracle[key] : null];
  const x = scale(...extent(all("x"), 0.1), edge.left, width - edge.right);
  const [, highest] = extent(all("y"), 0.08, true);
  const y = scale(0, highest, height - edge.bottom, edge.top);
  planeAxes(svg, x, y, width, height, edge);
  const taken = [];
  if (frontier.length > 1) drawFrontier(svg, frontier.map((k) => points[k]), x, y, edge, width);
  for (const p of points) drawCloud(svg, p, x, y);
  let marks = 0;
  for (const p of points) marks += drawPublishedPoint(svg, p, x, y, taken);
  if (oracle) marks += drawOracle(svg, oracle, x, y, taken);
  for (const p of points) taken.push([x(p.x) - 8, y(p.y) - 8, 16, 16]);
  for (const p of points) marks += drawPolicyPoint(svg, p, x, y, taken, { width, height, edge });
  return marks;
}

function planeAxes(svg, x, y, width, height, edge) {
  for (const t of ticks(y.low, y.high, height / 70)) {
    shape(svg, "line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(t), y2: y(t) });
    shape(svg, "text", { x: edge.left - 8, y: y(t) + 4, "text-anchor": "end" }, show(t));
  }
  for (const t of ticks(x.low, x.high, width / 110)) {
    shape(svg, "line", { class: "grid", x1: x(t), x2: x(t), y1: edge.top, y2: height - edge.bottom });
    shape(svg, "text", { x: x(t), y: height - edge.bottom + 17, "text-anchor": "middle" }, show(t));
  }
  shape(svg, "text", { x: (edge.left + width - edge.right) / 2, y: height - 6, "text-anchor": "middle" }, "completion time [ms]");
  shape(svg, "text", { x: 4, y: 12 }, "energy [J]");
  shape(svg, "text", { x: edge.left + 8, y: height - edge.bottom - 10 }, "↙ better");
}

function drawFrontier(svg, front, x, y, edge, width) {
  let d = `M${x(front[0].x)},${edge.top}V${y(front[0].y)}`;
  for (const p of front.slice(1)) d += `H${x(p.x)}V${y(p.y)}`;
  d += `H${width - edge.right}`;
  shape(svg, "path", { d: d + `V${edge.top}Z`, style: "fill:var(--wash);opacity:.7" });
  shape(svg, "path", { d, style: "stroke:var(--accent);fill:none", "stroke-width": 1.5, "stroke-dasharray": "5 4", "data-frontier": front.length });
}
function drawCloud(svg, p, x, y) {
  for (const [a, b] of p.cloud) {
    shape(svg, "circle", { cx: x(a), cy: y(b), r: 2.2, style: `fill:${styleColour(policyOf(p.policy).style)};opacity:.35` });
  }
}
function drawPublishedPoint(svg, p, x, y, taken) {
  if (p.paper_x === null || p.paper_y === null) return 0;
  const { style } = policyOf(p.policy);
  shape(svg, "line", { x1: x(p.x), y1: y(p.y), x2: x(p.paper_x), y2: y(p.paper_y), style: `stroke:${styleColour(style)};opacity:.55`, "stroke-dasharray": "2 3" });
  hollow(svg, style, x(p.paper_x), y(p.paper_y), 6);
  taken.push([x(p.paper_x) - 8, y(p.paper_y) - 8, 16, 16]);
  return 1;
}
function drawOracle(svg, oracle, x, y, taken) {
  const [cx, cy] = [x(oracle.x), y(oracle.y)];
  const corners = Array.from({ length: 10 }, (_, k) => {
    const r = k % 2 ? 4 : 9, angle = (Math.PI * k) / 5 - Math.PI / 2;
    return `${cx + r * Math.cos(angle)},${cy + r * Math.sin(angle)}`;
  });
  shape(svg, "path", { d: `M${corners.join("L")}Z`, style: "fill:var(--ink)" });
  shape(svg, "text", { x: cx, y: cy + 24, "text-anchor": "middle", class: "halo" }, "hindsight");
  taken.push([cx - 30, cy - 10, 60, 38]);
  return 1;
}

function drawPolicyPoint(svg, p, x, y, taken, frame) {
  const policy = policyOf(p.policy), colour = styleColour(policy.style);
  const [cx, cy] = [x(p.x), y(p.y)];
  const group = shape(svg, "g", { class: "point", tabindex: "0", role: "img", "aria-label": `${policy.label}: ${show(p.x)} ms, ${show(p.y)} J` });
  if (p.half_x) shape(group, "line", { x1: x(p.x - p.half_x), x2: x(p.x + p.half_x), y1: cy, y2: cy, style: `stroke:${colour}` });
  if (p.half_y) shape(group, "line", { x1: cx, x2: cx, y1: y(p.y - p.half_y), y2: y(p.y + p.half_y), style: `stroke:${colour}` });
  shape(group, "path", { d: markPath(policy.style, cx, cy, 7), style: `fill:${colour}` });
  const name = brief(policy.label), wide = name.length * 7.2;
  const spots = [[12, 4, "start"], [-12, 4, "end"], [0, -14, "middle"], [0, 24, "middle"], [12, -12, "start"], [-12, -12, "end"]];
  const boxOf = ([dx, dy, anchor]) => [cx + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0), cy + dy - 11, wide, 15];
  const inside = ([a, b, w, h]) => a > frame.edge.left && a + w < frame.width - 4 && b > 2 && b + h < frame.height - frame.edge.bottom;
  const free = ([a, b, w, h]) =>
    inside([a, b, w, h]) &&
    taken.every(([c, d, e, f]) => a + w < c || c + e < a || b + h < d || d + f < b);
  const spot = spots.find((s) => free(boxOf(s))) || spots.find((s) => inside(boxOf(s))) || spots[1];
  taken.push(boxOf(spot));
  shape(group, "text", { x: cx + spot[0], y: cy + spot[1], "text-anchor": spot[2], class: "name halo" }, name);
  const tell = (left, top) => showTip(left, top, policy.label, [
    ["Completion time", plusMinus(p.x, p.half_x, "ms")], ["Energy", plusMinus(p.y, p.half_y, "J")],
    ...(p.paper_x !== null ? [["Published time", show(p.paper_x) + " ms"]] : []),
    ...(p.paper_y !== null ? [["Published energy", show(p.paper_y) + " J"]] : []),
  ]);
  group.addEventListener("pointermove", (event) => tell(event.clientX, event.clientY));
  group.addEventListener("pointerleave", hideTip);
  group.addEventListener("focus", () => { const f = svg.getBoundingClientRect(); tell(f.left + cx, f.top + cy); });
  group.addEventListener("blur", hideTip);
  return 1;
}
