// Where the bytes of one iteration went: rack to rack, group to group, and fibre by fibre.
const FABRICS = [
  { key: "fibre", title: "Over fibre", hue: "--heat-fibre" },
  { key: "thz", title: "Over THz", hue: "--heat-thz" },
];
const everyTraffic = () => Object.values(DATA.closeups).map((closeup) => closeup.traffic);

function trafficCharts(box, current) {
  const { racks, groups, lanes, noun, switches } = DATA.floor;
  const group = racks.map((_, rack) => Math.floor(rack / lanes));
  if (everyTraffic().every((t) => t.racks.fibre)) pairMaps(box, current, "racks", "rack", group);
  pairMaps(box, current, "groups", noun, range(groups));
  if (switches.length <= MOST_SWITCHES) fibreMap(box, current);
  busiestFibres(box, current);
}
function mapIn(grid, title, note, hue, text, draw) {
  const holder = panel(grid, title, note);
  chart(make(holder, "div"), draw, ["closeup"]);
  matrixScale(holder, hue, text);
}

// From rack to rack, or from ring to ring; `group` names the ring of each.
function pairMaps(box, current, which, noun, group) {
  const single = noun === "rack", note = `bytes from ${noun} (left) to ${noun} (top)`;
  const grid = make(box, "div", { class: single ? "panels two" : "panels two apart" });
  const sizes = everyTraffic().flatMap((t) => FABRICS.flatMap(({ key }) => t[which][key].bytes));
  const top = largestOf([1, ...sizes]);
  const names = [...new Set(group)].map((g) => `${DATA.floor.noun} ${g}`);
  for (const { key, title, hue } of FABRICS) {
    const name = single ? title : `${title}, ${noun} to ${noun}`;
    mapIn(grid, name, note, hue, (share) => size(share * top), (target, width) => {
      const place = (src, dst) => src * group.length + dst;
      const sent = new Map(rowsOf(current().traffic[which][key]).map((p) => [place(p.src, p.dst), p.bytes]));
      return drawMatrix(target, width, {
        label: `${title}: bytes from ${noun} to ${noun}`,
        hue,
        tallest: single ? null : 30,
        rowGroup: group,
        columnGroup: group,
        rowNames: names,
        columnNames: names,
        cell: (r, c) => {
          const bytes = sent.get(place(r, c)) || 0;
          return single && r === c ? null : {
            share: bytes / top,
            text: bytes && !single ? size(bytes) : "",
            title: `${noun} ${r} → ${noun} ${c}`,
            rows: [[title, size(bytes)]],
          };
        },
      });
    });
  }
}

// A fibre is one direction of a line of the floor plan: up to the higher node, or back.
function endsOf(fibre) {
  const { from, to } = DATA.floor.lines, line = fibre >> 1;
  return fibre % 2 ? [to[line], from[line]] : [from[line], to[line]];
}
const isRack = (node) => node < DATA.floor.racks.length;
function fibreName(fibre) {
  const { racks, names } = DATA.floor;
  return endsOf(fibre).map((node) => (isRack(node) ? `rack ${node}` : names[node - racks.length])).join(" → ");
}
// The fibres of every switch: from racks, to racks, and to other switches.
function fibresOfSwitches() {
  const { lines, racks, switches } = DATA.floor;
  const found = switches.map(() => [[], [], []]);
  for (const fibre of range(2 * lines.from.length)) {
    const [a, b] = endsOf(fibre), kind = isRack(a) ? 0 : isRack(b) ? 1 : 2;
    found[(isRack(a) ? b : a) - racks.length][kind].push(fibre);
  }
  return found;
}
const MOST_SWITCHES = 160; // beyond this, a map of switches is no picture any more
const MOST_LISTED = 8;
const fibreRows = (load) => [
  ["Mean load", percent(load.mean)],
  ["Peak in a sample", percent(load.peak)],
  ["Collectives", size(load.bytes)],
  ["Background", size(load.background_bytes)],
];
const NO_LOAD = { bytes: 0, background_bytes: 0, mean: 0, peak: 0 };
function fibreMap(box, current) {
  const own = fibresOfSwitches(), kinds = [0, 1, 2];
  const wide = kinds.map((kind) => Math.max(...own.map((row) => row[kind].length)));
  const groups = kinds.flatMap((kind) => Array(wide[kind]).fill(kind));
  const first = kinds.map((kind) => groups.indexOf(kind));
  const note = "mean load over the iteration in % of the fibre's rate, background included";
  const grid = make(box, "div", { class: "apart" });
  mapIn(grid, "Fibre by fibre", note, "--heat-fibre", (share) => percent(share, 2), (target, width) => {
    const loads = new Map(rowsOf(current().traffic.fibres).map((row) => [row.fibre, row]));
    const names = ["rack → switch", "switch → rack", "switch → switch"];
    const short = ["up", "down", "between"];
    return drawMatrix(target, width, {
      label: "Mean load of every fibre",
      hue: "--heat-fibre",
      tallest: 26,
      rowGroup: range(own.length),
      columnGroup: groups,
      rowNames: DATA.floor.names,
      columnNames: [...new Set(groups)].map((kind) => (width > 560 ? names : short)[kind]),
      cell: (r, c) => {
        const fibre = own[r][groups[c]][c - first[groups[c]]];
        if (fibre === undefined) return undefined;
        const load = loads.get(fibre) || NO_LOAD;
        // Of the fibre's rate: full colour is a full fibre.
        return { share: load.mean, title: fibreName(fibre), rows: fibreRows(load) };
      },
    });
  });
}
function busiestFibres(box, current) {
  const figure = make(box, "figure", { class: "table apart" });
  const caption = make(figure, "figcaption");
  make(caption, "b", {}, "Busiest fibres");
  caption.append("By mean load over the iteration, background included.");
  chart(make(figure, "div", { class: "scroll" }), (target) => {
    target.replaceChildren();
    const loads = rowsOf(current().traffic.fibres).sort((a, b) => b.mean - a.mean).slice(0, MOST_LISTED);
    const table = make(target, "table"), head = make(make(table, "thead"), "tr");
    make(head, "th", { scope: "col", class: "text" }, "Fibre");
    for (const [name] of fibreRows(NO_LOAD)) make(head, "th", { scope: "col" }, name);
    const body = make(table, "tbody");
    for (const load of loads) {
      const row = make(body, "tr");
      make(row, "th", { scope: "row" }, fibreName(load.fibre));
      for (const [, text] of fibreRows(load)) make(row, "td", {}, text);
    }
    return loads.length;
  }, ["closeup"]);
}
