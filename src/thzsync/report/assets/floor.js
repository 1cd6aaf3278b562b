// The floor from above: racks and switches, THz links as they fire, load on the fibres.
const MOST_HIGH = 596, MARGIN = 22; // of the plan [CSS pixels]
function planOf(width) {
  const { frame: [low, high], rack_m: rack, switch_m: square } = DATA.floor;
  const [left, bottom] = low, [right, top] = high;
  const unit = Math.min((width - 2 * MARGIN) / (right - left), MOST_HIGH / (top - bottom));
  const middle = (left + right) / 2;
  return {
    unit,
    height: (top - bottom) * unit + 2 * MARGIN,
    place: ([x, y]) => [width / 2 + (x - middle) * unit, MARGIN + (top - y) * unit],
    dot: Math.max(2.5, Math.min(10, rack * unit)),
    half: Math.max(2, Math.min(8, square * unit)),
  };
}
function paintFloor(target, width, film, from, now) {
  const { floor } = DATA, plan = planOf(width), { place, unit } = plan;
  const label = "Floor plan: racks and switches, active THz links and fibre load";
  const { canvas, pen } = canvasIn(target, width, plan.height, label);
  pen.clearRect(0, 0, width, plan.height);
  pen.lineWidth = 1;
  pen.strokeStyle = css("--grid");
  for (const r of floor.radii) paintCircle(pen, place([0, 0]), r * unit);
  const loads = loadsAt(film, now);
  paintFibre(pen, loads, plan);
  const shown = activeBetween(film, from, now);
  const busy = new Set();
  const colours = floor.subbands.map((_, k) => subbandColour(k));
  for (const k of shown) paintLink(pen, film, k, place, colours, now, from, busy);
  paintSwitches(pen, plan);
  target.dataset.numbered = paintRacks(pen, plan, busy);
  return { canvas, plan, loads, shown };
}
function paintCircle(pen, centre, radius) {
  pen.beginPath();
  pen.arc(...centre, radius, 0, 2 * Math.PI);
  pen.stroke();
}
// Idle fibres are one path, since a large network has thousands.
function paintFibre(pen, loads, plan) {
  const { lines, hub } = DATA.floor, busy = [];
  pen.strokeStyle = css("--fibre");
  pen.globalAlpha = 0.16;
  pen.lineWidth = 0.8;
  pen.beginPath();
  lines.from.forEach((from, k) => {
    const [a, b] = lineEnds(from, lines.to[k], plan);
    const share = Math.max(loadOf(loads, 2 * k), loadOf(loads, 2 * k + 1));
    if (share > 0) busy.push([share, [a, b]]);
    pen.moveTo(...a);
    if (share === 0) pen.lineTo(...b);
  });
  pen.stroke();
  for (const [share, [a, b]] of busy) {
    pen.globalAlpha = 0.16 + 0.84 * Math.sqrt(share);
    pen.lineWidth = 0.8 + 4 * share;
    pen.beginPath();
    pen.moveTo(...a);
    pen.lineTo(...b);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  if (hub) paintCircle(pen, plan.place([0, 0]), hub * plan.unit);
}
// Around the switches of rings fibres end on a circle, and those of different rings keep apart.
function lineEnds(from, to, { place, unit, dot }) {
  const { racks, switches, hub, groups, lanes } = DATA.floor;
  const spot = (node) => place(node < racks.length ? racks[node] : switches[node - racks.length]);
  if (!hub || from >= racks.length) return [spot(from), spot(to)];
  const [x, y] = spot(from), [cx, cy] = place([0, 0]);
  const length = Math.hypot(x - cx, y - cy) || 1, [ux, uy] = [(x - cx) / length, (y - cy) / length];
  const apart = Math.min(4, ((dot * 1.4) / Math.max(1, groups - 1)) * 2);
  const off = (Math.floor(from / lanes) - (groups - 1) / 2) * apart, end = hub * unit;
  return [[x - uy * off, y + ux * off], [cx + ux * end - uy * off, cy + uy * end + ux * off]];
}
function paintSwitches(pen, { place, half }) {
  const { switches, names } = DATA.floor;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  switches.forEach((spot, s) => {
    const [x, y] = place(spot), [number] = names[s].match(/\d+$/) || [""];
    pen.fillStyle = css("--fibre");
    pen.fillRect(x - half, y - half, 2 * half, 2 * half);
    pen.fillStyle = css("--card");
    if (half > 6) pen.fillText(number, x, y + 3.5);
  });
}
// Bent by subband and direction, so that links of one pair stay apart.
function paintLink(pen, film, k, place, colours, now, from, busy) {
  const { racks } = DATA.floor, ends = [film.src[k], film.dst[k]];
  const [[x0, y0], [x1, y1]] = ends.map((rack) => place(racks[rack]));
  const ended = film.start[k] + film.length[k];
  const fade = ended > now || now <= from ? 1 : Math.max(0.12, 1 - (now - ended) / (now - from));
  const bend = (film.subband[k] - (colours.length - 1) / 2) * 7 + 5;
  const off = bend / (Math.hypot(x1 - x0, y1 - y0) || 1);
  const [mx, my] = [(x0 + x1) / 2 - (y1 - y0) * off, (y0 + y1) / 2 + (x1 - x0) * off];
  pen.strokeStyle = pen.fillStyle = colours[film.subband[k]];
  pen.globalAlpha = fade * 0.9;
  pen.lineWidth = 0.8 + 3.6 * Math.sqrt(film.rate[k] / film.fastest);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.quadraticCurveTo(mx, my, x1, y1);
  pen.stroke();
  pen.globalAlpha = 1;
  if (ended <= now) return;
  const t = Math.max(0, Math.min(1, (now - film.start[k]) / film.length[k])), u = 1 - t;
  const along = (a, m, b) => u * u * a + 2 * u * t * m + t * t * b;
  pen.beginPath();
  pen.arc(along(x0, mx, x1), along(y0, my, y1), 3.2, 0, 2 * Math.PI);
  pen.fill();
  for (const rack of ends) busy.add(rack);
}
function paintRacks(pen, { place, dot }, busy) {
  const [card, ink, soft] = [css("--card"), css("--ink"), css("--soft")];
  const numbered = dot >= (DATA.floor.racks.length > 100 ? 8 : 5.5); // all digits fit into the mark
  pen.font = `${Math.max(7.5, Math.min(10.5, dot))}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.lineWidth = 1.4;
  DATA.floor.racks.forEach((spot, rack) => {
    const [x, y] = place(spot), on = busy.has(rack);
    pen.beginPath();
    pen.arc(x, y, dot, 0, 2 * Math.PI);
    pen.fillStyle = on ? ink : card;
    pen.fill();
    pen.strokeStyle = on ? ink : soft;
    pen.stroke();
    pen.fillStyle = on ? card : soft;
    if (numbered) pen.fillText(String(rack), x, y + (dot < 8 ? 2.7 : 3.6));
  });
  return numbered ? DATA.floor.racks.length : 0;
}
