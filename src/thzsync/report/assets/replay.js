// The floor from above over time: THz links as they fire, fibre load on the spokes.
const BINS = 2048;
const decoded = new Map();

function decode(closeup) {
  if (decoded.has(closeup)) return decoded.get(closeup);
  const packed = closeup.replay, end = Math.max(1, closeup.timeline.end);
  let time = 0;
  const start = packed.start.map((step) => (time += step));
  const bins = Array.from({ length: BINS }, () => []);
  const binOf = (t) => Math.max(0, Math.min(BINS - 1, Math.floor((t / end) * BINS)));
  const busy = new Float64Array(BINS);
  start.forEach((from, k) => {
    const to = from + packed.length[k];
    for (let b = binOf(from); b <= binOf(to); b += 1) {
      bins[b].push(k);
      busy[b] += (Math.min(to, ((b + 1) * end) / BINS) - Math.max(from, (b * end) / BINS)) / (end / BINS);
    }
  });
  const rate = start.map((_, k) => packed.kib[k] / packed.length[k]);
  const steps = [...new Set(start.length ? start : packed.spans.map((s) => s[0]))].sort((a, b) => a - b);
  const made = { ...packed, start, bins, binOf, busy, rate, steps, end, fastest: rate.reduce((a, b) => Math.max(a, b), 1e-9), ticksPerMs: closeup.timeline.ticks_per_ms };
  decoded.set(closeup, made);
  return made;
}
function activeBetween(film, from, to) {
  const seen = new Set();
  for (let b = film.binOf(from); b <= film.binOf(to); b += 1) for (const k of film.bins[b]) {
    if (film.start[k] <= to && film.start[k] + film.length[k] > from) seen.add(k);
  }
  return [...seen].sort((a, b) => a - b);
}
function spanAt(film, t) {
  let low = 0, high = film.spans.length;
  while (low < high) { const mid = (low + high) >> 1; if (film.spans[mid][1] <= t) low = mid + 1; else high = mid; }
  const span = film.spans[low];
  const loads = new Map();
  if (span && span[0] <= t) for (let k = 0; k < span[2].length; k += 3) loads.set(span[2][k], [span[2][k + 1] / 1000, span[2][k + 2] / 1000]);
  return loads;
}
function subbandColour(index) {
  const stops = [0, 1, 2, 3].map((n) => css(`--band${n}`).split(",").map(Number));
  const count = DATA.floor.subbands.length, at = count > 1 ? (3 * index) / (count - 1) : 0;
  const k = Math.min(2, Math.floor(at)), mix = at - k;
  return `rgb(${stops[k].map((v, i) => Math.round(v + (stops[k + 1][i] - v) * mix)).join(",")})`;
}

function paintFloor(target, width, film, from, now) {
  const side = Math.min(width, 640);
  const { canvas, pen } = canvasIn(target, width, side, "Floor plan: racks on rings, active THz links and fibre load");
  const floor = DATA.floor, reach = Math.max(...floor.radii);
  const unit = (side / 2 - 22) / reach, centre = [width / 2, side / 2];
  const place = ([a, b]) => [centre[0] + a * unit, centre[1] - b * unit];
  const dot = Math.max(2.5, Math.min(10, (unit * floor.radii[0] * 2.2) / Math.max(4, floor.lanes), unit * 0.66));
  pen.clearRect(0, 0, width, side);
  pen.lineWidth = 1;
  pen.strokeStyle = css("--grid");
  for (const r of floor.radii) { pen.beginPath(); pen.arc(...centre, r * unit, 0, 2 * Math.PI); pen.stroke(); }
  const loads = spanAt(film, now);
  paintFibre(pen, loads, place, unit, centre, dot);
  const shown = activeBetween(film, from, now);
  const busy = new Set();
  const colours = floor.subbands.map((_, k) => subbandColour(k));
  for (const k of shown) paintLink(pen, film, k, place, colours, now, from, busy);
  paintSwitches(pen, unit, centre);
  paintRacks(pen, place, dot, busy);
  return { canvas, place, dot, loads, shown };
}
const hubRadius = (unit) => DATA.floor.radii[0] * unit * 0.55;
function switchPlaces(unit, centre) {
  const { rings } = DATA.floor;
  return range(rings).map((s) => {
    const angle = (2 * Math.PI * (s + 0.5)) / rings, r = rings > 1 ? hubRadius(unit) * 0.6 : 0;
    return [centre[0] + r * Math.cos(angle), centre[1] - r * Math.sin(angle)];
  });
}
function paintFibre(pen, loads, place, unit, centre, dot) {
  const { rings, lanes, racks } = DATA.floor, colour = css("--fibre");
  const hub = hubRadius(unit), apart = Math.min(4, (dot * 1.4) / Math.max(1, rings - 1) * 2);
  const load = (link) => { const [own, other] = loads.get(link) || [0, 0]; return own + other; };
  pen.strokeStyle = colour;
  racks.forEach((spot, rack) => {
    const [x, y] = place(spot), length = Math.hypot(x - centre[0], y - centre[1]) || 1;
    const [ux, uy] = [(x - centre[0]) / length, (y - centre[1]) / length];
    const off = (Math.floor(rack / lanes) - (rings - 1) / 2) * apart;
    const share = Math.min(1, Math.max(load(rack), load(racks.length + rack)));
    pen.globalAlpha = 0.16 + 0.84 * Math.sqrt(share);
    pen.lineWidth = 0.8 + 4 * share;
    pen.beginPath();
    pen.moveTo(x - uy * off, y + ux * off);
    pen.lineTo(centre[0] + ux * hub - uy * off, centre[1] + uy * hub + ux * off);
    pen.stroke();
  });
  const switches = switchPlaces(unit, centre);
  for (let s = 0; s < rings; s += 1) for (let t = s + 1; t < rings; t += 1) {
    const base = 2 * racks.length;
    const share = Math.min(1, Math.max(load(base + s * rings + t), load(base + t * rings + s)));
    pen.globalAlpha = 0.16 + 0.84 * Math.sqrt(share);
    pen.lineWidth = 0.8 + 4 * share;
    pen.beginPath(); pen.moveTo(...switches[s]); pen.lineTo(...switches[t]); pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  pen.beginPath(); pen.arc(...centre, hub, 0, 2 * Math.PI); pen.stroke();
}
function paintSwitches(pen, unit, centre) {
  const hub = hubRadius(unit), half = Math.max(2, Math.min(8, hub * 0.2));
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  switchPlaces(unit, centre).forEach(([x, y], s) => {
    pen.fillStyle = css("--fibre");
    pen.fillRect(x - half, y - half, 2 * half, 2 * half);
    pen.fillStyle = css("--card");
    if (half > 6) pen.fillText(String(s), x, y + 3.5);
  });
}
function paintLink(pen, film, k, place, colours, now, from, busy) {
  const { racks } = DATA.floor, [a, b] = [film.src[k], film.dst[k]];
  const [x0, y0] = place(racks[a]), [x1, y1] = place(racks[b]);
  const ended = film.start[k] + film.length[k];
  const fade = ended > now || now <= from ? 1 : Math.max(0.12, 1 - (now - ended) / (now - from));
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const bend = (film.subband[k] - (colours.length - 1) / 2) * 7 + 5; // tells subbands and directions apart
  const [mx, my] = [(x0 + x1) / 2 - ((y1 - y0) / length) * bend, (y0 + y1) / 2 + ((x1 - x0) / length) * bend];
  pen.strokeStyle = pen.fillStyle = colours[film.subband[k]];
  pen.globalAlpha = fade * 0.9;
  pen.lineWidth = 0.8 + 3.6 * Math.sqrt(film.rate[k] / film.fastest);
  pen.beginPath(); pen.moveTo(x0, y0); pen.quadraticCurveTo(mx, my, x1, y1); pen.stroke();
  if (ended > now) {
    const t = Math.max(0, Math.min(1, (now - film.start[k]) / film.length[k])), u = 1 - t;
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(u * u * x0 + 2 * u * t * mx + t * t * x1, u * u * y0 + 2 * u * t * my + t * t * y1, 3.2, 0, 2 * Math.PI);
    pen.fill();
    busy.add(a); busy.add(b);
  }
  pen.globalAlpha = 1;
}
function paintRacks(pen, place, dot, busy) {
  const [card, ink, soft] = [css("--card"), css("--ink"), css("--soft")];
  pen.font = `${Math.max(8, Math.min(10.5, dot))}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.lineWidth = 1.4;
  DATA.floor.racks.forEach((spot, rack) => {
    const [x, y] = place(spot), on = busy.has(rack);
    pen.beginPath(); pen.arc(x, y, dot, 0, 2 * Math.PI);
    pen.fillStyle = on ? ink : card;
    pen.fill();
    pen.strokeStyle = on ? ink : soft;
    pen.stroke();
    pen.fillStyle = on ? card : soft;
    if (dot >= 8) pen.fillText(String(rack), x, y + 3.6);
  });
}
const strips = new Map(); // drawn once per policy, size and theme; then only the cursor moves
function paintActivity(target, width, film) {
  const height = 54, { canvas, pen } = canvasIn(target, width, height, "Active THz links and fibre load over the iteration");
  const key = `${canvas.width} ${root.dataset.theme}`;
  const kept = strips.get(film);
  if (kept && kept.key === key) {
    pen.drawImage(kept.image, 0, 0, width, height);
  } else {
    paintStrip(pen, width, height, film);
    const image = make(null, "canvas", { width: canvas.width, height: canvas.height });
    image.getContext("2d").drawImage(canvas, 0, 0);
    strips.set(film, { key, image });
  }
  pen.fillStyle = css("--accent");
  pen.fillRect((clock.at / film.end) * width - 1, 0, 2, height);
  return film.spans.length + film.steps.length;
}
function paintStrip(pen, width, height, film) {
  const top = film.busy.reduce((a, b) => Math.max(a, b), 1), columns = Math.floor(width);
  const totals = film.spans.map((s) => { let sum = 0; for (let k = 1; k < s[2].length; k += 3) sum += s[2][k]; return sum; });
  const most = totals.reduce((a, b) => Math.max(a, b), 1);
  pen.fillStyle = css("--fibre");
  pen.globalAlpha = 0.4;
  film.spans.forEach((s, k) => {
    const a = (s[0] / film.end) * width, b = (s[1] / film.end) * width, tall = (totals[k] / most) * (height - 4);
    pen.fillRect(a, height - tall, Math.max(0.5, b - a), tall);
  });
  pen.globalAlpha = 1;
  pen.fillStyle = css("--thz");
  for (let c = 0; c < columns; c += 1) {
    const from = Math.floor((c / columns) * BINS), to = Math.max(from + 1, Math.floor(((c + 1) / columns) * BINS));
    let peak = 0;
    for (let b = from; b < to; b += 1) peak = Math.max(peak, film.busy[b]);
    pen.fillRect(c, height - (peak / top) * (height - 4), 1, (peak / top) * (height - 4));
  }
}
