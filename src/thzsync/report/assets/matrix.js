// Heat maps on canvas: a matrix in groups of rows and columns, its scale, pointer and keyboard.
function heatRamp(hue) {
  const [a, b] = [css("--heat-ground"), css(hue)].map((text) => text.split(",").map(Number));
  return (depth) => `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * depth)).join(",")})`;
}
// Colour deepens with the root of a share, so that small ones can be told from none.
const depthOf = (share) => Math.sqrt(Math.min(1, share));

// `spec.cell(r, c)` gives {share, title, rows, text}, null where there is no such pair, or undefined
// where nothing is drawn.
function drawMatrix(box, width, spec) {
  const place = matrixLayout(width, spec);
  const { canvas, pen } = canvasIn(box, width, place.height, spec.label);
  pen.clearRect(0, 0, width, place.height);
  const colour = heatRamp(spec.hue);
  let marks = 0;
  for (const r of range(place.rows)) {
    for (const c of range(place.columns)) {
      const cell = spec.cell(r, c);
      if (cell && cell.share > 0) marks += 1;
      paintCell(pen, cell, place, r, c, cell ? colour(depthOf(cell.share)) : css("--grid"));
    }
  }
  matrixLabels(pen, spec, place);
  matrixPointer(canvas, spec, place);
  return marks;
}
function matrixLayout(width, spec) {
  const longest = spec.rowNames.reduce((top, name) => Math.max(top, name.length), 0);
  const left = Math.max(54, Math.min(width / 4, 14 + 6.3 * longest)), top = 34, right = 4;
  const order = (groups) => groups.map((g) => [...new Set(groups)].indexOf(g));
  const across = order(spec.columnGroup), down = order(spec.rowGroup);
  const gapsAcross = Math.max(...across), gapsDown = Math.max(...down);
  const gap = Math.max(gapsAcross, gapsDown) > 8 ? 1 : 4;
  const columns = across.length, rows = down.length;
  const wide = (width - left - right - gap * gapsAcross) / columns;
  const most = spec.tallest || wide;
  const tall = Math.max(2, Math.min(gapsDown > 8 ? 14 : most, 30, Math.max(4, 640 / rows)));
  return {
    left, columns, rows, wide, tall, across, down,
    height: Math.ceil(top + rows * tall + gap * gapsDown + 4),
    xOf: (c) => left + c * wide + gap * across[c],
    yOf: (r) => top + r * tall + gap * down[r],
  };
}
function paintCell(pen, cell, { xOf, yOf, wide, tall }, r, c, colour) {
  if (cell === undefined) return;
  const inset = wide > 9 ? 0.5 : 0;
  pen.fillStyle = colour;
  pen.fillRect(xOf(c) + inset, yOf(r) + inset, wide - 2 * inset, tall - 2 * inset);
  if (cell && cell.text && wide > 44) {
    pen.fillStyle = depthOf(cell.share) > 0.55 ? css("--card") : css("--ink");
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.fillText(cell.text, xOf(c) + wide / 2, yOf(r) + tall / 2 + 4);
  }
}

// What the colours of a map mean; `text` gives the value of a share.
function matrixScale(parent, hue, text) {
  const scaleBox = make(parent, "div", { class: "scale", "aria-hidden": "true" });
  const ramp = `linear-gradient(to right, rgb(var(--heat-ground)), rgb(var(${hue})))`;
  make(scaleBox, "div", { class: "ramp", style: `background:${ramp}` });
  const names = make(scaleBox, "div", { class: "ticks" });
  for (const share of [0, 1 / 16, 1 / 4, 9 / 16, 1]) {
    make(names, "span", { style: `left:${100 * depthOf(share)}%` }, text(share));
  }
}

function matrixLabels(pen, spec, m) {
  pen.fillStyle = css("--soft");
  pen.font = "11.5px system-ui, sans-serif";
  const middle = (groups, g, at, step) =>
    (at(groups.indexOf(g)) + at(groups.lastIndexOf(g)) + step) / 2;
  pen.textAlign = "center";
  let last = -Infinity; // names that would run into each other are left out
  spec.columnNames.forEach((name, g) => {
    const at = middle(m.across, g, m.xOf, m.wide);
    if (at - last < pen.measureText(name).width + 6) return;
    pen.fillText(name, at, 26);
    last = at;
  });
  pen.textAlign = "right";
  last = -Infinity;
  spec.rowNames.forEach((name, g) => {
    const at = middle(m.down, g, m.yOf, m.tall);
    if (at - last < 13) return;
    pen.fillText(brief(name, Math.floor((m.left - 8) / 6.6)), m.left - 7, at + 4);
    last = at;
  });
}
function matrixPointer(canvas, spec, m) {
  const find = (count, at, place, step) => {
    for (let k = 0; k < count; k += 1) if (place >= at(k) && place < at(k) + step) return k;
    return -1;
  };
  const tell = (r, c, x, y) => {
    const cell = r >= 0 && c >= 0 ? spec.cell(r, c) : null;
    if (cell) showTip(x, y, cell.title, cell.rows);
    else hideTip();
  };
  canvas.onpointermove = (event) => {
    const { left, top } = canvas.getBoundingClientRect(), { clientX, clientY } = event;
    const row = find(m.rows, m.yOf, clientY - top, m.tall);
    tell(row, find(m.columns, m.xOf, clientX - left, m.wide), clientX, clientY);
  };
  canvas.onpointerleave = canvas.onblur = hideTip;
  canvas.tabIndex = 0;
  let row = 0, column = 0;
  canvas.onkeydown = (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const within = (count, k, step) => Math.max(0, Math.min(count - 1, k + step));
    const [down, right] = moves[event.key];
    row = within(m.rows, row, down);
    column = within(m.columns, column, right);
    const { left, top } = canvas.getBoundingClientRect();
    tell(row, column, left + m.xOf(column) + m.wide / 2, top + m.yOf(row) + m.tall / 2);
  };
}
