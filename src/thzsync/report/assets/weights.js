// What the reward's weights buy: completion time and energy at every pair of weights.
function weightPanels(box) {
  const grid = make(box, "div", { class: "panels two" });
  const panels = [
    { key: "completion_ms", title: "Completion time", unit: "ms" },
    { key: "energy_j", title: "Transmission energy", unit: "J" },
  ];
  for (const one of panels) {
    const { unit } = fittingUnit(one.unit, largestOf(DATA.weights.map((row) => row[one.key].ours)));
    const holder = panel(grid, one.title, `[${unit}], lower is better`);
    chart(holder, (target, width) => drawWeights(target, width, one));
  }
}

function drawWeights(box, width, { key, title, unit }) {
  const rows = DATA.weights, height = 250, edge = { left: 52, right: 10, top: 12, bottom: 42 };
  const frame = { width, height, edge };
  const svg = fresh(box, width, height, `${title} per pair of weights`);
  const highest = rows.map((r) => Math.max(r[key].ours + (r[key].half || 0), r[key].paper || 0));
  const top = Math.max(...highest) * 1.12;
  const fit = fittingUnit(unit, largestOf(rows.map((row) => row[key].ours)));
  const y = scale(0, top, height - edge.bottom, edge.top);
  yTicks(svg, y, frame, ticks(0, top, 4), fit.factor);
  const room = (width - edge.left - edge.right) / rows.length;
  rows.forEach((row, k) => {
    const mid = edge.left + room * (k + 0.5);
    weightBar(svg, row[key], row.label, { y, mid, wide: Math.min(64, room * 0.5), unit, fit });
    const place = { x: mid, y: height - edge.bottom + 17, "text-anchor": "middle" };
    shape(svg, "text", place, row.label);
  });
  xTitle(svg, frame, "weights of time / energy");
  return rows.length;
}
function weightBar(svg, cell, label, { y, mid, wide, unit, fit }) {
  const half = cell.half || 0, head = y(cell.ours);
  const bar = shape(svg, "rect", {
    x: mid - wide / 2, y: head, width: wide, height: y(0) - head, rx: 3,
    style: `fill:${styleColour(0)}`,
  });
  if (half) {
    const d = `M${mid},${y(cell.ours - half)}V${y(cell.ours + half)}`;
    shape(svg, "path", { d, style: "stroke:var(--ink)", "stroke-width": 1.5 });
  }
  if (cell.paper) hollow(svg, 0, mid + wide / 2 + 10, y(cell.paper), 6);
  const place = { x: mid, y: y(cell.ours + half) - 6, "text-anchor": "middle", class: "name" };
  shape(svg, "text", place, show(cell.ours * fit.factor));
  tipOver(bar, () => ({
    title: `Weights ${label}`,
    rows: [
      ["Ours", plusMinus(cell.ours, half, unit)],
      ["Published", cell.paper ? quantity(cell.paper, unit) : "–"],
    ],
  }));
}
