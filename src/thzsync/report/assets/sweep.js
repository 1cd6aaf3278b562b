// One panel of a sweep: a metric along an axis, policies with intervals, crossovers marked.
function drawSweep(box, width, spec) {
  const height = Math.round(Math.max(180, Math.min(340, width * 0.66)));
  const frame = { width, height, edge: { left: 60, right: 18, top: 26, bottom: 40 } };
  const svg = fresh(box, width, height, spec.label);
  const series = spec.series.filter((s) => !hiddenSeries.has(s.key));
  const x = sweepScale(spec.axis, frame);
  const y = scale(spec.range.low, spec.range.high, height - frame.edge.bottom, frame.edge.top);
  sweepCrossovers(svg, spec, x, frame);
  yTicks(svg, y, frame, ticks(y.low, y.high, height / 46), spec.fit.factor);
  sweepAxis(svg, spec.axis, x, frame);
  if (spec.paired) zeroLine(svg, y(0), frame, spec.paired);
  let marks = 0;
  for (const s of [...series].reverse()) marks += drawSeries(svg, s, x, y, frame);
  crosshair(svg, series, spec.axis.places, x, frame, spec);
  return marks;
}

// Where the reference policy stands: below it an iteration is shorter.
function zeroLine(svg, y, { width, edge }, name) {
  const line = { x1: edge.left, x2: width - edge.right, y1: y, y2: y };
  shape(svg, "line", { ...line, class: "zero", style: "stroke:var(--ink)", "stroke-width": 1.5 });
  shape(svg, "text", { x: edge.left + 4, y: y - 5, class: "halo" }, brief(name));
}

// Values that span a wide range stand at equal distances for equal ratios.
function sweepScale({ places, wide }, { width, edge }) {
  const bend = wide ? Math.log2 : (value) => value;
  const gap = places.length > 1 ? 0.04 * (bend(places[places.length - 1]) - bend(places[0])) : 1;
  const low = bend(places[0]) - gap, high = bend(places[places.length - 1]) + gap;
  const straight = scale(low, high, edge.left, width - edge.right);
  return (value) => straight(bend(value));
}

// Names of values, as many as there is room for.
function sweepAxis(svg, { places, names, title }, x, frame) {
  const { width, height, edge } = frame, floor = height - edge.bottom;
  shape(svg, "line", { class: "axis", x1: edge.left, x2: width - edge.right, y1: floor, y2: floor });
  let free = -Infinity;
  places.forEach((place, k) => {
    const name = brief(names[k], 14), room = 3.6 * name.length + 5;
    shape(svg, "line", { class: "axis", x1: x(place), x2: x(place), y1: floor, y2: floor + 4 });
    if (x(place) - room < free) return;
    shape(svg, "text", { x: x(place), y: floor + 17, "text-anchor": "middle" }, name);
    free = x(place) + room;
  });
  xTitle(svg, frame, brief(title, Math.floor(width / 7)));
}

// The place where two policies change their order, and the interval of that place.
function sweepCrossovers(svg, spec, x, { width, height, edge }) {
  const floor = height - edge.bottom, shown = shownCrossovers(spec);
  const left = edge.left, right = width - edge.right;
  for (const { low, high } of shown) {
    if (low === null && high === null) continue;
    const from = low === null ? left : x(low), to = high === null ? right : x(high);
    const span = { x: from, y: edge.top, width: Math.max(1, to - from), height: floor - edge.top };
    shape(svg, "rect", { ...span, class: "crossover-interval", style: "fill:var(--faint);opacity:.18" });
  }
  shown.forEach((found, k) => {
    const line = { x1: x(found.x), x2: x(found.x), y1: edge.top, y2: floor };
    const style = "stroke:var(--soft)";
    shape(svg, "line", { ...line, class: "crossover", style, "stroke-dasharray": "2 3", "stroke-width": 1.5 });
    const place = { x: x(found.x), y: k % 2 ? 11 : 22, "text-anchor": "middle" };
    shape(svg, "text", { ...place, class: "halo name" }, found.names.x);
  });
}
const shownCrossovers = (spec) =>
  spec.crossovers.filter(({ before, behind }) => ![before, behind].some((p) => hiddenSeries.has(p)));

function crossoverSentence({ before, behind, names }) {
  const ends = names.low === null && names.high === null;
  const unknown = DATA.seeds === 1 ? "one seed, no interval" : "95 %: beyond both ends of the axis";
  const from = names.low === null ? "up to" : names.low + (names.high === null ? " and on" : " to");
  const interval = ends ? unknown : `95 %: ${from} ${names.high ?? ""}`.trimEnd();
  const first = policyOf(before).label, then = policyOf(behind).label;
  return `Below ${names.x} ${first} is lower, above it ${then} (${interval}).`;
}
