// How long the events of one collective type took under every policy.
function distributionPanels(box) {
  const grid = make(box, "div", { class: "panels" });
  for (const one of DATA.distributions) {
    const { unit } = fittingUnit("ms", one.top);
    const holder = panel(grid, one.title, `[${unit}], shorter is better`);
    chart(holder, (target, width) => drawDistributions(target, width, one));
  }
}

function drawDistributions(box, width, one) {
  const rowHeight = 50, edge = { left: 14, right: 14, top: 4, bottom: 36 };
  const height = edge.top + edge.bottom + rowHeight * one.rows.length;
  const svg = fresh(box, width, height, `Completion times of ${one.title} events per policy`);
  const x = scale(0, one.top, edge.left, width - edge.right);
  const fit = fittingUnit("ms", one.top);
  const frame = { width, height, edge };
  xTicks(svg, x, frame, ticks(0, one.top, width / 80), fit.factor);
  xTitle(svg, frame, `completion time [${fit.unit}]`);
  one.rows.forEach((row, k) => {
    const base = edge.top + (k + 1) * rowHeight - 10;
    drawDistribution(svg, row, one, x, base);
    const policy = policyOf(row.policy);
    const place = { x: width - edge.right, y: base - 22, "text-anchor": "end", class: "name halo" };
    shape(svg, "text", place, brief(policy.label, 28));
    const hit = { x: 0, y: base - 38, width, height: rowHeight, fill: "transparent" };
    tipOver(shape(svg, "rect", hit), () => distributionTip(row, one, policy));
  });
  return one.rows.length;
}
function drawDistribution(svg, row, one, x, base) {
  const colour = styleColour(policyOf(row.policy).style);
  const step = one.top / row.density.length;
  const outline = row.density.map((v, n) => `L${x((n + 0.5) * step)},${base - v * 24}`).join("");
  const d = `M${x(0)},${base}${outline}L${x(one.top)},${base}Z`;
  shape(svg, "path", { d, style: `fill:${colour};opacity:.28` });
  const at = (name) => x(Math.min(row.quantiles[name], one.top));
  const bar = (from, to, thick) =>
    shape(svg, "path", {
      d: `M${at(from)},${base}H${at(to)}`,
      style: `stroke:${colour}`,
      "stroke-width": thick,
    });
  bar("p05", "p95", 1.5);
  bar("p25", "p75", 6);
  const dot = { cx: at("p50"), cy: base, r: 4, "stroke-width": 2 };
  shape(svg, "circle", { ...dot, style: `fill:var(--card);stroke:${colour}` });
}
function distributionTip(row, one, policy) {
  const { p05, p25, p50, p75, p95 } = row.quantiles;
  const span = (from, to) => `${quantity(from, "ms", 3)} – ${quantity(to, "ms", 3)}`;
  return {
    title: `${policy.label}: ${one.title}`,
    rows: [
      ["Events", show(row.count, 7)],
      ["Mean", quantity(row.mean, "ms")],
      ["Median", quantity(p50, "ms")],
      ["Middle half", span(p25, p75)],
      ["5 – 95 %", span(p05, p95)],
      ["Longest", quantity(row.greatest, "ms")],
    ],
  };
}
