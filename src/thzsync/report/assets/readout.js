// What is going on right now, in numbers and words, and under the pointer.
function readout(ui, film, shown, loads, closeup) {
  const live = shown.filter((k) => film.start[k] + film.length[k] > clock.at);
  const gbps =
    (live.reduce((sum, k) => sum + film.rate[k], 0) * 1024 * 8 * film.ticksPerMs * 1e3) / 1e9;
  const fibre = [...loads.values()].reduce((top, load) => Math.max(top, load.own + load.background), 0);
  const values = [
    timeIn(film, clock.at),
    String(live.length),
    show(gbps, 3) + " Gbit/s",
    percent(fibre, 2),
  ];
  values.forEach((text, k) => {
    ui.fields[k].textContent = text;
  });
  listInFlight(ui.list, closeup);
  if (ui.legend.dataset.theme !== root.dataset.theme) subbandLegend(ui.legend);
  const nothing = film.start.length ? "" : "This policy sends nothing over THz.";
  ui.note.textContent = film.every > 1 ? `One round in ${film.every} is drawn.` : nothing;
}
// In the unit of the whole iteration, so that it does not change while the film runs.
function timeIn(film, at) {
  const { unit, factor } = fittingUnit("ms", film.end / film.ticksPerMs);
  return `${show((at / film.ticksPerMs) * factor, 6)} ${unit}`;
}
function listInFlight(list, { timeline }) {
  list.replaceChildren();
  const open = (bar) => bar.start <= clock.at && clock.at < bar.end;
  const flying = timeline.rows
    .filter((row) => !isCompute(row))
    .flatMap((row) => row.bars.filter(open).map((bar) => ({ row, bar })));
  for (const { row, bar } of flying.slice(0, 6)) {
    const item = make(list, "li");
    make(item, "span", { class: "swatch", style: `background:${kindColour(row.lane)}` });
    item.append(`${row.title} ${bar.name}, stage ${row.stage}, micro-batch ${bar.microbatch}`);
  }
  if (flying.length > 6) make(list, "li", {}, `and ${flying.length - 6} more`);
  if (!flying.length) make(list, "li", {}, "nothing: the stages compute");
}
function subbandLegend(legend) {
  legend.dataset.theme = root.dataset.theme;
  legend.replaceChildren();
  DATA.floor.subbands.forEach((name, k) => swatchChip(legend, name, subbandColour(k)));
}

function wireHover(canvas, film, loads, { place, dot, half }) {
  const { racks, switches, names, noun, lanes } = DATA.floor;
  canvas.onpointerleave = hideTip;
  canvas.onpointermove = (event) => {
    const frame = canvas.getBoundingClientRect(), { clientX, clientY } = event;
    const near = (reach) => (spot) => {
      const [x, y] = place(spot);
      return Math.hypot(clientX - frame.left - x, clientY - frame.top - y) <= reach + 4;
    };
    const rack = racks.findIndex(near(dot)), at = switches.findIndex(near(half));
    if (rack >= 0) {
      const title = `Rack ${rack} (${noun} ${Math.floor(rack / lanes)}, lane ${rack % lanes})`;
      showTip(clientX, clientY, title, rackFacts(film, rack));
    } else if (at >= 0) showTip(clientX, clientY, names[at], switchFacts(racks.length + at, loads));
    else hideTip();
  };
}
// The busiest fibres that end at a switch.
function switchFacts(node, loads) {
  const busy = [...loads.keys()].filter((fibre) => endsOf(fibre).includes(node));
  const first = busy.sort((a, b) => loadOf(loads, b) - loadOf(loads, a)).slice(0, 6);
  if (!first.length) return [["Fibres", "idle"]];
  return first.map((fibre) => [fibreName(fibre), percent(loadOf(loads, fibre), 2)]);
}
function rackFacts(film, rack) {
  const mine = (k) => film.src[k] === rack || film.dst[k] === rack;
  const live = activeBetween(film, clock.at, clock.at).filter(mine);
  if (!live.length) return [["THz", "idle"]];
  return live.map((k) => [
    film.src[k] === rack ? `sends to ${film.dst[k]}` : `receives from ${film.src[k]}`,
    DATA.floor.subbands[film.subband[k]],
    subbandColour(film.subband[k]),
  ]);
}
