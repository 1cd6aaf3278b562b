// The delay-energy plane: every policy, its published place, and the Pareto frontier.
function drawPlane(box, width) {
  const { points, frontier, oracle } = DATA.plane;
  const height = Math.round(Math.max(340, Math.min(460, width * 0.55)));
  const frame = { width, height, edge: { left: 52, right: 20, top: 24, bottom: 42 } };
  const svg = fresh(box, width, height, "Completion time and energy of every policy");
  const { x, y } = planeScales(points, oracle, frame);
  planeAxes(svg, x, y, frame);
  if (frontier.length > 1) drawFrontier(svg, frontier.map((k) => points[k]), x, y, frame);
  for (const p of points) drawCloud(svg, p, x, y);
  const published = points.filter((p) => p.paper_x !== null && p.paper_y !== null);
  for (const p of published) drawPublishedPoint(svg, p, x, y);
  if (oracle) drawOracle(svg, x(oracle.x), y(oracle.y));
  for (const p of points) drawPolicyPoint(svg, p, x, y);
  drawNames(svg, points, published, oracle, x, y, frame);
  return points.length + published.length + (oracle ? 1 : 0);
}

function planeScales(points, oracle, { width, height, edge }) {
  const all = (key) => [
    ...points.flatMap((p) => [p[key], p[`paper_${key}`], ...p.cloud[key]]),
    oracle ? oracle[key] : null,
  ];
  const [, highest] = extent(all("y"), 0.08, true);
  return {
    x: scale(...extent(all("x"), 0.1), edge.left, width - edge.right),
    y: scale(0, highest, height - edge.bottom, edge.top),
  };
}
function planeAxes(svg, x, y, frame) {
  const time = fittingUnit("ms", x.high), energy = fittingUnit("J", y.high);
  const { width, height, edge } = frame;
  yTicks(svg, y, frame, ticks(y.low, y.high, height / 70), energy.factor);
  xTicks(svg, x, frame, ticks(x.low, x.high, width / 110), time.factor);
  xTitle(svg, frame, `completion time [${time.unit}], less is better`);
  shape(svg, "text", { x: 4, y: 12 }, `${DATA.plane.energy.toLowerCase()} [${energy.unit}], less is better`);
  shape(svg, "text", { x: edge.left + 8, y: height - edge.bottom - 10 }, "↙ better");
}

function drawFrontier(svg, front, x, y, { width, edge }) {
  const steps = front.slice(1).map((p) => `H${x(p.x)}V${y(p.y)}`).join("");
  const d = `M${x(front[0].x)},${edge.top}V${y(front[0].y)}${steps}H${width - edge.right}`;
  shape(svg, "path", { d: `${d}V${edge.top}Z`, style: "fill:var(--wash);opacity:.7" });
  shape(svg, "path", {
    d,
    style: "stroke:var(--accent);fill:none",
    "stroke-width": 1.5,
    "stroke-dasharray": "5 4",
    "data-frontier": front.length,
  });
}
function drawCloud(svg, p, x, y) {
  const style = `fill:${styleColour(policyOf(p.policy).style)};opacity:.35`;
  for (const one of rowsOf(p.cloud)) {
    shape(svg, "circle", { cx: x(one.x), cy: y(one.y), r: 2.2, style });
  }
}
function drawPublishedPoint(svg, p, x, y) {
  const { style } = policyOf(p.policy);
  const line = { x1: x(p.x), y1: y(p.y), x2: x(p.paper_x), y2: y(p.paper_y) };
  const look = { style: `stroke:${styleColour(style)};opacity:.55`, "stroke-dasharray": "2 3" };
  shape(svg, "line", { ...line, ...look });
  hollow(svg, style, x(p.paper_x), y(p.paper_y), 6);
}
function drawOracle(svg, cx, cy) {
  const corners = range(10).map((k) => {
    const r = k % 2 ? 4 : 9, angle = (Math.PI * k) / 5 - Math.PI / 2;
    return `${cx + r * Math.cos(angle)},${cy + r * Math.sin(angle)}`;
  });
  shape(svg, "path", { d: `M${corners.join("L")}Z`, style: "fill:var(--ink)" });
}

function drawPolicyPoint(svg, p, x, y) {
  const policy = policyOf(p.policy), style = `stroke:${styleColour(policy.style)}`;
  const [cx, cy] = [x(p.x), y(p.y)];
  const spoken = `${policy.label}: ${quantity(p.x, "ms")}, ${quantity(p.y, "J")}`;
  const group = shape(svg, "g", { class: "point", tabindex: "0", role: "img", "aria-label": spoken });
  const reach = (along, value, half) => // an interval may be wider than the plane
    [Math.max(along.low, value - half), Math.min(along.high, value + half)].map(along);
  if (p.half_x) {
    const [x1, x2] = reach(x, p.x, p.half_x);
    shape(group, "line", { x1, x2, y1: cy, y2: cy, style });
  }
  if (p.half_y) {
    const [y1, y2] = reach(y, p.y, p.half_y);
    shape(group, "line", { x1: cx, x2: cx, y1, y2, style });
  }
  const fill = `fill:${styleColour(policy.style)}`;
  shape(group, "path", { d: markPath(policy.style, cx, cy, 7), style: fill });
  tipOver(group, () => pointTip(p, policy));
  group.addEventListener("focus", () => {
    const frame = svg.getBoundingClientRect(), { title, rows } = pointTip(p, policy);
    showTip(frame.left + cx, frame.top + cy, title, rows);
  });
  group.addEventListener("blur", hideTip);
}
function pointTip(p, policy) {
  const rows = [
    ["Completion time", plusMinus(p.x, p.half_x, "ms")],
    [DATA.plane.energy, plusMinus(p.y, p.half_y, "J")],
  ];
  if (p.paper_x !== null) rows.push(["Published time", quantity(p.paper_x, "ms")]);
  if (p.paper_y !== null) rows.push(["Published energy", quantity(p.paper_y, "J")]);
  return { title: policy.label, rows };
}

// Names of policies, each with its mark, and of the oracle; one that had to move away gets a line.
function drawNames(svg, points, published, oracle, x, y, { width, height, edge }) {
  const named = points.map((p) => nameOf(svg, policyOf(p.policy), x(p.x), y(p.y)));
  const hindsight = { label: "hindsight", style: null };
  if (oracle) named.push(nameOf(svg, hindsight, x(oracle.x), y(oracle.y)));
  const marks = [
    ...named.map((n) => boxAround(n.x, n.y, 7)),
    ...published.map((p) => boxAround(x(p.paper_x), y(p.paper_y), 7)),
    { left: edge.left, top: height - edge.bottom - 24, width: 70, height: 24 }, // "better"
  ];
  const frame = { left: edge.left, top: 14, width: width - edge.left - 4, height: height - 14 - edge.bottom };
  placeNames(named, marks, frame).forEach((box, k) => {
    if (box) moveName(svg, named[k], box);
    else named[k].group.remove(); // its tooltip and the table still tell
  });
}
function nameOf(svg, { label, style }, x, y) {
  const group = shape(svg, "g", { class: "label" });
  const pill = shape(group, "rect", { class: "pill", rx: 7 }); // a mark in it is no point
  const indent = style === null ? 0 : 14;
  if (style !== null) {
    shape(group, "path", { d: markPath(style, 5, 0, 4), style: `fill:${styleColour(style)}` });
  }
  const look = { x: indent, class: "name", "dominant-baseline": "central" };
  const text = shape(group, "text", look, brief(label)).getBBox();
  const size = { width: indent + text.width + 8, height: text.height + 2 };
  for (const [key, value] of Object.entries(size)) pill.setAttribute(key, value);
  pill.setAttribute("x", -4);
  pill.setAttribute("y", -size.height / 2);
  return { group, x, y, ...size };
}
function moveName(svg, name, box) {
  name.group.setAttribute("transform", `translate(${box.left + 4},${box.top + box.height / 2})`);
  if (box.far <= DISTANCES[1]) return;
  const clamp = (v, low, high) => Math.max(low, Math.min(high, v));
  const end = {
    x2: clamp(name.x, box.left, box.left + box.width),
    y2: clamp(name.y, box.top, box.top + box.height),
  };
  const line = shape(svg, "line", { x1: name.x, y1: name.y, ...end, style: "stroke:var(--faint)" });
  svg.insertBefore(line, svg.querySelector(".point")); // below the marks
}
