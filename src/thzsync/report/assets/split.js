// What each carrier carried and spent, and how much of every collective type went over THz.
function splitPanels(box) {
  const legend = make(box, "div", { class: "legend" });
  swatchChip(legend, "THz", "var(--thz)");
  swatchChip(legend, "Fibre", "var(--fibre)");
  const grid = make(box, "div", { class: "panels small" });
  for (const column of [bytesColumn(), joulesColumn(), ...kindKeys.map(shareColumn)]) {
    const holder = panel(grid, column.title, column.note);
    chart(holder, (target, width) => drawSplit(target, width, column));
  }
}
function bytesColumn() {
  const parts = ({ total }) => ({ thz: total.thz_bytes, fibre: total.wired_bytes });
  return { title: "Bytes", note: "per iteration", parts, text: size };
}
function joulesColumn() {
  const parts = ({ total }) => ({ thz: total.thz_j, fibre: total.optical_j });
  const text = (value) => quantity(value, "J", 3);
  return { title: DATA.split[0].energy, note: "per iteration, less is better", parts, text };
}
function shareColumn(kind) {
  const parts = ({ kinds }) => {
    const { thz_bytes: thz, wired_bytes: fibre } = kinds[kind] || { thz_bytes: 0, wired_bytes: 0 };
    return { thz: thz / (thz + fibre || 1), fibre: fibre / (thz + fibre || 1) };
  };
  const text = (value) => percent(value, 2);
  return { title: kindName(kind), note: "share of bytes on THz [%]", parts, text, share: true };
}

function drawSplit(box, width, column) {
  const rowHeight = 36, rows = DATA.split;
  const label = `${column.title} on THz and on fibre per policy`;
  const svg = fresh(box, width, rows.length * rowHeight, label);
  const sums = rows.map(column.parts).map(({ thz, fibre }) => thz + fibre);
  const top = column.share ? 1 : sums.reduce((a, b) => Math.max(a, b), 1e-12);
  rows.forEach((row, k) => splitBar(svg, column, row, k * rowHeight, width - 64, top));
  return rows.length;
}
function splitBar(svg, column, row, top, span, whole) {
  const { thz, fibre } = column.parts(row);
  const name = policyOf(row.policy).label;
  const bar = (x, width, fill) =>
    shape(svg, "rect", { x, y: top + 15, width: Math.max(0, width), height: 14, rx: 3, style: `fill:${fill}` });
  shape(svg, "text", { x: 0, y: top + 10, class: "name" }, brief(name, Math.floor((span + 64) / 7)));
  const a = (span * thz) / whole, b = (span * fibre) / whole;
  bar(0, span, "var(--grid)");
  bar(0, a, "var(--thz)");
  bar(a, b, "var(--fibre)");
  const shown = column.share ? thz : thz + fibre;
  shape(svg, "text", { x: span + 6, y: top + 26 }, column.text(shown));
  tipOver(bar(0, span, "transparent"), () => ({
    title: `${name}: ${column.title.toLowerCase()}`,
    rows: [
      ["THz", column.text(thz), "var(--thz)"],
      ["Fibre", column.text(fibre), "var(--fibre)"],
    ],
  }));
}
