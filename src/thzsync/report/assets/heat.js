// Heat maps on canvas: rack to rack on each fabric, ring to ring, and fibre by fibre.
function heatRamp(hue) {
  const [a, b] = [css("--heat-ground"), css(hue)].map((text) => text.split(",").map(Number));
  return (share) => `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * share)).join(",")})`;
}

// A matrix with gaps between groups of rows and columns; `cell(r, c)` gives {value, share, title}.
function drawMatrix(box, width, spec) {
  const left = 54, top = 34, right = 4;
  const groupsAcross = new Set(spec.columnGroup).size - 1, groupsDown = new Set(spec.rowGroup).size - 1;
  const gap = Math.max(groupsAcross, groupsDown) > 8 ? 1 : 4;
  const columns = spec.columnGroup.length, rows = spec.rowGroup.length;
  const wide = (width - left - right - gap * groupsAcross) / columns;
  const tall = Math.max(2, Math.min(groupsDown > 8 ? 14 : spec.tallest || wide, 30));
  const height = Math.ceil(top + rows * tall + gap * groupsDown + 4);
  const { canvas, pen } = canvasIn(box, width, height, spec.label);
  const order = (groups) => { const seen = [...new Set(groups)]; return groups.map((g) => seen.indexOf(g)); };
  const across = order(spec.columnGroup), down = order(spec.rowGroup);
  const xOf = (c) => left + c * wide + gap * across[c];
  const yOf = (r) => top + r * tall + gap * down[r];
  pen.clearRect(0, 0, width, height);
  const colour = heatRamp(spec.hue);
  const [blank, onDark, onLight] = [css("--grid"), css("--card"), css("--ink")];
  let marks = 0;
  for (let r = 0; r < rows; r += 1) for (let c = 0; c < columns; c += 1) {
    const cell = spec.cell(r, c);
    pen.fillStyle = cell ? colour(Math.sqrt(Math.min(1, cell.share))) : blank;
    if (cell && cell.share > 0) marks += 1;
    const inset = wide > 9 ? 0.5 : 0;
    pen.fillRect(xOf(c) + inset, yOf(r) + inset, wide - 2 * inset, tall - 2 * inset);
    if (cell && cell.text && wide > 44) {
      pen.fillStyle = Math.sqrt(cell.share) > 0.55 ? onDark : onLight;
      pen.font = "12px system-ui, sans-serif";
      pen.textAlign = "center";
      pen.fillText(cell.text, xOf(c) + wide / 2, yOf(r) + tall / 2 + 4);
    }
  }
  matrixLabels(pen, spec, { xOf, yOf, wide, tall, columns, rows, across, down, left });
  matrixPointer(canvas, spec, { xOf, yOf, wide, tall, columns, rows });
  return marks;
}
function matrixLabels(pen, spec, m) {
  pen.fillStyle = css("--soft");
  pen.font = "11.5px system-ui, sans-serif";
  const middle = (groups, g, at, step) => {
    const members = groups.map((v, k) => [v, k]).filter(([v]) => v === g).map(([, k]) => k);
    return (at(members[0]) + at(members[members.length - 1]) + step) / 2;
  };
  pen.textAlign = "center";
  let last = -Infinity; // names that would run into each other are left out
  spec.columnNames.forEach((name, g) => {
    const at = middle(m.across, g, m.xOf, m.wide);
    if (at - last < pen.measureText(name).width + 6) return;
    pen.fillText(name, at, 26);
    last = at;
  });
  pen.textAlign = "right";
  spec.rowNames.forEach((name, g) => pen.fillText(name, m.left - 7, middle(m.down, g, m.yOf, m.tall) + 4));
}
function matrixPointer(canvas, spec, m) {
  const find = (count, at, place, step) => {
    for (let k = 0; k < count; k += 1) if (place >= at(k) && place < at(k) + step) return k;
    return -1;
  };
  const tell = (r, c, x, y) => {
    const cell = r >= 0 && c >= 0 ? spec.cell(r, c) : null;
    if (cell) showTip(x, y, cell.title, cell.rows); else hideTip();
  };
  canvas.onpointermove = (event) => {
    const frame = canvas.getBoundingClientRect();
    tell(find(m.rows, m.yOf, event.clientY - frame.top, m.tall), find(m.columns, m.xOf, event.clientX - frame.left, m.wide), event.clientX, event.clientY);
  };
  canvas.onpointerleave = canvas.onblur = hideTip;
  canvas.tabIndex = 0;
  let at = [0, 0];
  canvas.onkeydown = (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    at = [Math.max(0, Math.min(m.rows - 1, at[0] + move[0])), Math.max(0, Math.min(m.columns - 1, at[1] + move[1]))];
    const frame = canvas.getBoundingClientRect();
    tell(at[0], at[1], frame.left + m.xOf(at[1]) + m.wide / 2, frame.top + m.yOf(at[0]) + m.tall / 2);
  };
}

const range = (count) => Array.from({ length: count }, (_, k) => k);
function trafficCharts(box, current) {
  const { rings, lanes } = DATA.floor, racks = rings * lanes;
  const ringOf = (rack) => Math.floor(rack / lanes);
  const names = range(rings).map((s) => `ring ${s}`);
  const everything = Object.values(DATA.closeups).map((c) => c.traffic);
  const fabrics = [["fibre", "Over fibre", "--heat-fibre"], ["thz", "Over THz", "--heat-thz"]];
  const most = (pick) => Math.max(1, ...everything.flatMap(pick));
  if (everything.every((t) => t.pairs.fibre)) {
    const grid = make(box, "div", { class: "panels two" });
    const top = most((t) => fabrics.flatMap(([key]) => t.pairs[key].map((p) => p[2])));
    for (const [key, title, hue] of fabrics) {
      chart(panel(grid, title, "bytes from rack (row) to rack (column)"), (target, width) => {
        const sent = new Map(current().traffic.pairs[key].map(([a, b, v]) => [a * racks + b, v]));
        return drawMatrix(target, width, {
          label: `${title}: bytes from rack to rack`, hue,
          rowGroup: range(racks).map(ringOf), columnGroup: range(racks).map(ringOf), rowNames: names, columnNames: names,
          cell: (r, c) => (r === c ? null : {
            share: (sent.get(r * racks + c) || 0) / top, title: `Rack ${r} → rack ${c}`,
            rows: [[title, size(sent.get(r * racks + c) || 0)]],
          }),
        });
      }, ["closeup"]);
    }
  }
  const grid = make(box, "div", { class: "panels two", style: "margin-top:24px" });
  const top = most((t) => fabrics.flatMap(([key]) => t.rings[key].flat()));
  for (const [key, title, hue] of fabrics) {
    chart(panel(grid, `${title}, ring to ring`, "bytes from ring (row) to ring (column)"), (target, width) => drawMatrix(target, width, {
      label: `${title}: bytes from ring to ring`, hue, tallest: 30,
      rowGroup: range(rings), columnGroup: range(rings), rowNames: names, columnNames: names,
      cell: (r, c) => {
        const value = current().traffic.rings[key][r][c];
        return { share: value / top, text: value ? size(value) : "", title: `Ring ${r} → ring ${c}`, rows: [[title, size(value)]] };
      },
    }), ["closeup"]);
  }
  fibreLoads(box, current, names, ringOf);
}
function fibreLoads(box, current, names) {
  const { rings, lanes } = DATA.floor, racks = rings * lanes;
  const groups = [...Array(lanes).fill(0), ...Array(lanes).fill(1), ...Array(rings).fill(2)];
  const linkAt = (ring, column) => {
    if (column < lanes) return [ring * lanes + column, `Rack ${ring * lanes + column} → switch ${ring}`];
    if (column < 2 * lanes) return [racks + ring * lanes + column - lanes, `Switch ${ring} → rack ${ring * lanes + column - lanes}`];
    const other = column - 2 * lanes;
    return other === ring ? null : [2 * racks + ring * rings + other, `Switch ${ring} → switch ${other}`];
  };
  const holder = make(box, "div", { style: "margin-top:24px" });
  chart(panel(holder, "Fibre by fibre", "mean load over the iteration, background included"), (target, width) => {
    const loads = new Map(current().traffic.links.map((row) => [row[0], row]));
    const top = Math.max(0.01, ...current().traffic.links.map((row) => row[3]));
    return drawMatrix(target, width, {
      label: "Mean load of every fibre", hue: "--heat-fibre", tallest: 26,
      rowGroup: range(rings), columnGroup: groups, rowNames: names,
      columnNames: width > 560 ? ["rack → switch", "switch → rack", "switch → switch"] : ["up", "down", "between"],
      cell: (r, c) => {
        const link = linkAt(r, c);
        if (!link) return null;
        const [, own, other, mean, peak] = loads.get(link[0]) || [0, 0, 0, 0, 0];
        return { share: mean / top, title: link[1], rows: [
          ["Mean load", percent(mean)], ["Peak in a sample", percent(peak)], ["Collectives", size(own)], ["Background", size(other)],
        ] };
      },
    });
  }, ["closeup"]);
}
