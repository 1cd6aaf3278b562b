// Where bytes and joules went, how long collectives took, and what the weights buy.
function drawSplit(box, width) {
  const rows = DATA.split;
  const kinds = [...new Set(rows.flatMap((r) => Object.keys(r.kinds)))];
  const narrow = width < 620;
  const bytes = Math.max(...rows.map((r) => r.total.thz_bytes + r.total.wired_bytes), 1);
  const joules = Math.max(...rows.map((r) => r.total.thz_energy_j + r.total.optical_energy_j), 1e-12);
  const columns = [
    { title: "Bytes per iteration", top: bytes, parts: (r) => [r.total.wired_bytes, r.total.thz_bytes], text: size },
    { title: "Joules per iteration", top: joules, parts: (r) => [r.total.optical_energy_j, r.total.thz_energy_j], text: (v) => show(v, 3) + " J" },
    ...kinds.map((kind) => ({
      title: `${kindName(kind)}: THz share`, top: 1, share: true, text: (v) => percent(v),
      parts: (r) => {
        const cell = r.kinds[kind] || { thz_bytes: 0, wired_bytes: 0 };
        const whole = cell.thz_bytes + cell.wired_bytes || 1;
        return [cell.wired_bytes / whole, cell.thz_bytes / whole];
      },
    })),
  ];
  const gutter = narrow ? 0 : 116;
  const across = narrow ? 1 : columns.length;
  const weights = columns.map((c) => (c.share ? 0.62 : 1));
  const whole = narrow ? 1 : weights.reduce((a, b) => a + b, 0);
  const rowHeight = narrow ? 36 : 30;
  const block = 26 + rows.length * rowHeight;
  const height = narrow ? columns.length * (block + 14) : block;
  const svg = fresh(box, width, height, "Bytes and joules on fibre and on THz per policy");
  let left = gutter, marks = 0;
  columns.forEach((column, k) => {
    const room = narrow ? width : ((width - gutter) * weights[k]) / whole;
    const top = narrow ? k * (block + 14) : 0;
    const span = room - (column.share ? 44 : 62) - (narrow || k === across - 1 ? 2 : 20);
    shape(svg, "text", { x: left, y: top + 13 }, column.title);
    rows.forEach((row, n) => { marks += splitBar(svg, column, row, left, top + 26 + n * rowHeight, span, narrow); });
    if (!narrow) left += room;
  });
  if (!narrow) {
    rows.forEach((row, n) => shape(svg, "text", { x: 0, y: 26 + n * rowHeight + 14, class: "name" }, brief(policyOf(row.policy).label, 16)));
  }
  return marks;
}
function splitBar(svg, column, row, left, top, span, narrow) {
  const [fibre, thz] = column.parts(row);
  const name = policyOf(row.policy).label;
  if (narrow) shape(svg, "text", { x: left, y: top + 10, class: "name", "font-size": 11 }, name);
  const y = top + (narrow ? 15 : 2), tall = narrow ? 14 : 18;
  shape(svg, "rect", { x: left, y, width: span, height: tall, rx: 3, style: "fill:var(--grid)" });
  const a = (span * thz) / column.top, b = (span * fibre) / column.top;
  shape(svg, "rect", { x: left, y, width: Math.max(0, a), height: tall, rx: 3, style: "fill:var(--thz)" });
  shape(svg, "rect", { x: left + a, y, width: Math.max(0, b), height: tall, rx: 3, style: "fill:var(--fibre)" });
  const hit = shape(svg, "rect", { x: left, y, width: span, height: tall, fill: "transparent" });
  shape(svg, "text", { x: left + span + 6, y: y + tall - 4 }, column.share ? percent(thz, 2) : column.text(fibre + thz));
  hit.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, `${name}: ${column.title.toLowerCase()}`, [
    ["THz", column.text(thz), "var(--thz)"], ["Fibre", column.text(fibre), "var(--fibre)"],
  ]));
  hit.addEventListener("pointerleave", hideTip);
  return 1;
}
function fabricLegend(parent) {
  const legend = make(parent, "div", { class: "legend" });
  for (const [name, colour] of [["THz", "--thz"], ["Fibre", "--fibre"]]) {
    const chip = make(legend, "span", { class: "chip" });
    make(chip, "span", { class: "swatch", style: `background:var(${colour});margin:0` });
    chip.append(name);
  }
}

function drawDistribution(box, width, one) {
  const rowHeight = 50, edge = { left: 6, right: 14, top: 4, bottom: 36 };
  const height = edge.top + edge.bottom + rowHeight * one.rows.length;
  const svg = fresh(box, width, height, `Completion times of ${one.title} events per policy`);
  const x = scale(0, one.top, edge.left, width - edge.right);
  for (const t of ticks(0, one.top, width / 80)) {
    shape(svg, "line", { class: "grid", x1: x(t), x2: x(t), y1: edge.top, y2: height - edge.bottom });
    shape(svg, "text", { x: x(t), y: height - edge.bottom + 16, "text-anchor": "middle" }, show(t));
  }
  shape(svg, "text", { x: width / 2, y: height - 4, "text-anchor": "middle" }, "completion time [ms]");
  one.rows.forEach((row, k) => {
    const base = edge.top + (k + 1) * rowHeight - 10;
    const policy = policyOf(row.policy), colour = styleColour(policy.style);
    const step = one.top / row.density.length;
    let d = `M${x(0)},${base}`;
    row.density.forEach((v, n) => { d += `L${x((n + 0.5) * step)},${base - v * 24}`; });
    shape(svg, "path", { d: d + `L${x(one.top)},${base}Z`, style: `fill:${colour};opacity:.28` });
    const [q05, q25, q50, q75, q95] = row.quantiles.map((q) => x(Math.min(q, one.top)));
    shape(svg, "path", { d: `M${q05},${base}H${q95}`, style: `stroke:${colour}`, "stroke-width": 1.5 });
    shape(svg, "path", { d: `M${q25},${base}H${q75}`, style: `stroke:${colour}`, "stroke-width": 6 });
    shape(svg, "circle", { cx: q50, cy: base, r: 4, style: `fill:var(--card);stroke:${colour}`, "stroke-width": 2 });
    shape(svg, "text", { x: width - edge.right, y: base - 22, "text-anchor": "end", class: "name halo" }, brief(policy.label, 28));
    const hit = shape(svg, "rect", { x: 0, y: base - 38, width, height: rowHeight, fill: "transparent" });
    hit.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, `${policy.label}: ${one.title}`, [
      ["Events", show(row.count, 7)], ["Mean", show(row.mean) + " ms"], ["Median", show(row.quantiles[2]) + " ms"],
      ["Middle half", `${show(row.quantiles[1], 3)} – ${show(row.quantiles[3], 3)} ms`],
      ["5 – 95 %", `${show(row.quantiles[0], 3)} – ${show(row.quantiles[4], 3)} ms`], ["Longest", show(row.greatest) + " ms"],
    ]));
    hit.addEventListener("pointerleave", hideTip);
  });
  return one.rows.length;
}

function drawWeights(box, width, key, unit) {
  const rows = DATA.weights, height = 250, edge = { left: 52, right: 10, top: 12, bottom: 42 };
  const svg = fresh(box, width, height, `${key} per pair of weights`);
  const top = Math.max(...rows.flatMap((r) => [r[key].ours + (r[key].half || 0), r[key].paper || 0])) * 1.12;
  const y = scale(0, top, height - edge.bottom, edge.top);
  for (const t of ticks(0, top, 4)) {
    shape(svg, "line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(t), y2: y(t) });
    shape(svg, "text", { x: edge.left - 8, y: y(t) + 4, "text-anchor": "end" }, show(t));
  }
  const room = (width - edge.left - edge.right) / rows.length;
  rows.forEach((row, k) => {
    const cell = row[key], wide = Math.min(64, room * 0.5), mid = edge.left + room * (k + 0.5);
    const bar = shape(svg, "rect", { x: mid - wide / 2, y: y(cell.ours), width: wide, height: y(0) - y(cell.ours), rx: 3, style: `fill:${styleColour(0)}` });
    if (cell.half) shape(svg, "path", { d: `M${mid},${y(cell.ours - cell.half)}V${y(cell.ours + cell.half)}`, style: "stroke:var(--ink)", "stroke-width": 1.5 });
    if (cell.paper) hollow(svg, 0, mid + wide / 2 + 10, y(cell.paper), 6);
    shape(svg, "text", { x: mid, y: y(cell.ours + (cell.half || 0)) - 6, "text-anchor": "middle", class: "name" }, show(cell.ours));
    shape(svg, "text", { x: mid, y: height - edge.bottom + 17, "text-anchor": "middle" }, row.label);
    bar.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, `Weights ${row.label}`, [
      ["Ours", plusMinus(cell.ours, cell.half, unit)], ["Published", cell.paper ? show(cell.paper) + " " + unit : "–"],
    ]));
    bar.addEventListener("pointerleave", hideTip);
  });
  shape(svg, "text", { x: (edge.left + width - edge.right) / 2, y: height - 5, "text-anchor": "middle" }, "weights of time / energy");
  return rows.length;
}
