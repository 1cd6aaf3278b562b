// Grid lines, tick names and titles that the charts in SVG share; a frame is {width, height, edge}.
function yTicks(svg, y, { width, edge }, values, factor = 1) {
  const text = tickNames(values, factor);
  for (const t of values) {
    const line = { x1: edge.left, x2: width - edge.right, y1: y(t), y2: y(t) };
    shape(svg, "line", { class: "grid", ...line });
    shape(svg, "text", { x: edge.left - 8, y: y(t) + 4, "text-anchor": "end" }, text(t));
  }
}
function xTicks(svg, x, { height, edge }, values, factor = 1, lines = true) {
  const floor = height - edge.bottom, text = tickNames(values, factor);
  for (const t of values) {
    if (lines) shape(svg, "line", { class: "grid", x1: x(t), x2: x(t), y1: edge.top, y2: floor });
    shape(svg, "text", { x: x(t), y: floor + 17, "text-anchor": "middle" }, text(t));
  }
}
function xTitle(svg, { width, height, edge }, text) {
  const middle = (edge.left + width - edge.right) / 2;
  shape(svg, "text", { x: middle, y: height - 5, "text-anchor": "middle" }, text);
}
