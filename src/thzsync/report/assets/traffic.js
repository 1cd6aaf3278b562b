// Where the bytes of one iteration went: rack to rack, ring to ring, and fibre by fibre.
const FABRICS = [
  { key: "fibre", title: "Over fibre", hue: "--heat-fibre" },
  { key: "thz", title: "Over THz", hue: "--heat-thz" },
];
const ringNames = () => range(DATA.floor.rings).map((s) => `ring ${s}`);
const everyTraffic = () => Object.values(DATA.closeups).map((closeup) => closeup.traffic);
const most = (pick) => everyTraffic().flatMap(pick).reduce((top, v) => Math.max(top, v), 1);

function trafficCharts(box, current) {
  if (everyTraffic().every((t) => t.pairs.fibre)) rackMaps(box, current);
  ringMaps(box, current);
  fibreMap(box, current);
}
function mapIn(grid, title, note, hue, text, draw) {
  const holder = panel(grid, title, note);
  chart(make(holder, "div"), draw, ["closeup"]);
  matrixScale(holder, hue, text);
}

function rackMaps(box, current) {
  const { rings, lanes } = DATA.floor, racks = rings * lanes;
  const groups = range(racks).map((rack) => Math.floor(rack / lanes));
  const grid = make(box, "div", { class: "panels two" });
  const top = most((t) => FABRICS.flatMap(({ key }) => t.pairs[key].bytes));
  for (const { key, title, hue } of FABRICS) {
    const note = "bytes from rack (row) to rack (column)";
    mapIn(grid, title, note, hue, (share) => size(share * top), (target, width) => {
      const sent = new Map(rowsOf(current().traffic.pairs[key]).map((p) => [p.src * racks + p.dst, p.bytes]));
      const bytes = (r, c) => sent.get(r * racks + c) || 0;
      return drawMatrix(target, width, {
        label: `${title}: bytes from rack to rack`,
        hue,
        rowGroup: groups,
        columnGroup: groups,
        rowNames: ringNames(),
        columnNames: ringNames(),
        cell: (r, c) => r === c ? null : {
          share: bytes(r, c) / top,
          title: `Rack ${r} → rack ${c}`,
          rows: [[title, size(bytes(r, c))]],
        },
      });
    });
  }
}

function ringMaps(box, current) {
  const { rings } = DATA.floor;
  const grid = make(box, "div", { class: "panels two apart" });
  const top = most((t) => FABRICS.flatMap(({ key }) => t.rings[key].flat()));
  for (const { key, title, hue } of FABRICS) {
    const note = "bytes from ring (row) to ring (column)";
    mapIn(grid, `${title}, ring to ring`, note, hue, (share) => size(share * top), (target, width) =>
      drawMatrix(target, width, {
        label: `${title}: bytes from ring to ring`,
        hue,
        tallest: 30,
        rowGroup: range(rings),
        columnGroup: range(rings),
        rowNames: ringNames(),
        columnNames: ringNames(),
        cell: (r, c) => {
          const bytes = current().traffic.rings[key][r][c];
          return {
            share: bytes / top,
            text: bytes ? size(bytes) : "",
            title: `Ring ${r} → ring ${c}`,
            rows: [[title, size(bytes)]],
          };
        },
      }));
  }
}

// The fibre in a ring's row: to the switch, from the switch, or to another switch.
function fibreAt(ring, column) {
  const { rings, lanes } = DATA.floor, racks = rings * lanes;
  const rack = ring * lanes + (column % lanes);
  if (column < lanes) return { link: rack, name: `Rack ${rack} → switch ${ring}` };
  if (column < 2 * lanes) return { link: racks + rack, name: `Switch ${ring} → rack ${rack}` };
  const other = column - 2 * lanes;
  if (other === ring) return null;
  return { link: 2 * racks + ring * rings + other, name: `Switch ${ring} → switch ${other}` };
}
function fibreMap(box, current) {
  const { rings, lanes } = DATA.floor;
  const groups = [...Array(lanes).fill(0), ...Array(lanes).fill(1), ...Array(rings).fill(2)];
  const idle = { bytes: 0, background_bytes: 0, mean: 0, peak: 0 };
  const note = "mean load over the iteration in % of the fibre's rate, background included";
  const grid = make(box, "div", { class: "apart" });
  mapIn(grid, "Fibre by fibre", note, "--heat-fibre", (share) => percent(share, 2), (target, width) => {
    const loads = new Map(rowsOf(current().traffic.links).map((row) => [row.link, row]));
    const names = ["rack → switch", "switch → rack", "switch → switch"];
    return drawMatrix(target, width, {
      label: "Mean load of every fibre",
      hue: "--heat-fibre",
      tallest: 26,
      rowGroup: range(rings),
      columnGroup: groups,
      rowNames: ringNames(),
      columnNames: width > 560 ? names : ["up", "down", "between"],
      cell: (r, c) => {
        const fibre = fibreAt(r, c);
        if (!fibre) return null;
        const load = loads.get(fibre.link) || idle;
        return {
          share: load.mean, // of the fibre's rate: full colour is a full fibre
          title: fibre.name,
          rows: [
            ["Mean load", percent(load.mean)],
            ["Peak in a sample", percent(load.peak)],
            ["Collectives", size(load.bytes)],
            ["Background", size(load.background_bytes)],
          ],
        };
      },
    });
  });
}
