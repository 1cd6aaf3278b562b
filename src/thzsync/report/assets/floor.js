// The floor from above: racks on their rings, THz links as they fire, fibre load on the spokes.
function paintFloor(target, width, film, from, now) {
  const side = Math.min(width, 640);
  const { canvas, pen } = canvasIn(
    target,
    width,
    side,
    "Floor plan: racks on rings, active THz links and fibre load",
  );
  const floor = DATA.floor,
    reach = Math.max(...floor.radii);
  const unit = (side / 2 - 22) / reach,
    centre = [width / 2, side / 2];
  const place = ([a, b]) => [centre[0] + a * unit, centre[1] - b * unit];
  const dot = Math.max(
    2.5,
    Math.min(10, (unit * floor.radii[0] * 2.2) / Math.max(4, floor.lanes), unit * 0.66),
  );
  pen.clearRect(0, 0, width, side);
  pen.lineWidth = 1;
  pen.strokeStyle = css("--grid");
  for (const r of floor.radii) {
    pen.beginPath();
    pen.arc(...centre, r * unit, 0, 2 * Math.PI);
    pen.stroke();
  }
  const loads = loadsAt(film, now);
  paintFibre(pen, loads, place, unit, centre, dot);
  const shown = activeBetween(film, from, now);
  const busy = new Set();
  const colours = floor.subbands.map((_, k) => subbandColour(k));
  for (const k of shown) paintLink(pen, film, k, place, colours, now, from, busy);
  paintSwitches(pen, unit, centre);
  target.dataset.numbered = paintRacks(pen, place, dot, busy);
  return { canvas, place, dot, loads, shown };
}
const hubRadius = (unit) => DATA.floor.radii[0] * unit * 0.55;
function switchPlaces(unit, centre) {
  const { rings } = DATA.floor;
  return range(rings).map((s) => {
    const angle = (2 * Math.PI * (s + 0.5)) / rings,
      r = rings > 1 ? hubRadius(unit) * 0.6 : 0;
    return [centre[0] + r * Math.cos(angle), centre[1] - r * Math.sin(angle)];
  });
}
function paintFibre(pen, loads, place, unit, centre, dot) {
  const { rings, lanes, racks } = DATA.floor, hub = hubRadius(unit);
  const apart = Math.min(4, ((dot * 1.4) / Math.max(1, rings - 1)) * 2);
  pen.strokeStyle = css("--fibre");
  racks.forEach((spot, rack) => {
    const [x, y] = place(spot), length = Math.hypot(x - centre[0], y - centre[1]) || 1;
    const [ux, uy] = [(x - centre[0]) / length, (y - centre[1]) / length];
    const off = (Math.floor(rack / lanes) - (rings - 1) / 2) * apart;
    const share = Math.max(loadOf(loads, rack), loadOf(loads, racks.length + rack));
    const inner = [centre[0] + ux * hub - uy * off, centre[1] + uy * hub + ux * off];
    strokeLoad(pen, share, [x - uy * off, y + ux * off], inner);
  });
  paintTrunks(pen, loads, switchPlaces(unit, centre));
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.arc(...centre, hub, 0, 2 * Math.PI);
  pen.stroke();
}
function paintTrunks(pen, loads, switches) {
  const { rings, racks } = DATA.floor, link = (s, t) => 2 * racks.length + s * rings + t;
  for (let s = 0; s < rings; s += 1) {
    for (let t = s + 1; t < rings; t += 1) {
      const share = Math.max(loadOf(loads, link(s, t)), loadOf(loads, link(t, s)));
      strokeLoad(pen, share, switches[s], switches[t]);
    }
  }
}
function strokeLoad(pen, share, from, to) {
  pen.globalAlpha = 0.16 + 0.84 * Math.sqrt(share);
  pen.lineWidth = 0.8 + 4 * share;
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}
function paintSwitches(pen, unit, centre) {
  const hub = hubRadius(unit),
    half = Math.max(2, Math.min(8, hub * 0.2));
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
  const { racks } = DATA.floor,
    [a, b] = [film.src[k], film.dst[k]];
  const [x0, y0] = place(racks[a]),
    [x1, y1] = place(racks[b]);
  const ended = film.start[k] + film.length[k];
  const fade = ended > now || now <= from ? 1 : Math.max(0.12, 1 - (now - ended) / (now - from));
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  // Bent by subband and direction, so that links of one pair stay apart.
  const bend = (film.subband[k] - (colours.length - 1) / 2) * 7 + 5;
  const [mx, my] = [
    (x0 + x1) / 2 - ((y1 - y0) / length) * bend,
    (y0 + y1) / 2 + ((x1 - x0) / length) * bend,
  ];
  pen.strokeStyle = pen.fillStyle = colours[film.subband[k]];
  pen.globalAlpha = fade * 0.9;
  pen.lineWidth = 0.8 + 3.6 * Math.sqrt(film.rate[k] / film.fastest);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.quadraticCurveTo(mx, my, x1, y1);
  pen.stroke();
  if (ended > now) {
    const t = Math.max(0, Math.min(1, (now - film.start[k]) / film.length[k])),
      u = 1 - t;
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(
      u * u * x0 + 2 * u * t * mx + t * t * x1,
      u * u * y0 + 2 * u * t * my + t * t * y1,
      3.2,
      0,
      2 * Math.PI,
    );
    pen.fill();
    busy.add(a);
    busy.add(b);
  }
  pen.globalAlpha = 1;
}
function paintRacks(pen, place, dot, busy) {
  const [card, ink, soft] = [css("--card"), css("--ink"), css("--soft")];
  const numbered = dot >= 5.5; // two digits fit into the mark
  pen.font = `${Math.max(7.5, Math.min(10.5, dot))}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.lineWidth = 1.4;
  DATA.floor.racks.forEach((spot, rack) => {
    const [x, y] = place(spot),
      on = busy.has(rack);
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
