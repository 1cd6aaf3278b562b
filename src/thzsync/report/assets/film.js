// The recorded iteration as a film: what is in the air and on the fibres at any time.
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
      busy[b] +=
        (Math.min(to, ((b + 1) * end) / BINS) - Math.max(from, (b * end) / BINS)) / (end / BINS);
    }
  });
  const rate = start.map((_, k) => packed.kib[k] / packed.length[k]);
  const steps = [...new Set(start.length ? start : packed.spans.map((span) => span.start))];
  steps.sort((a, b) => a - b);
  const fastest = largestOf([1e-9, ...rate]), ticksPerMs = closeup.timeline.ticks_per_ms;
  const made = { ...packed, start, bins, binOf, busy, rate, steps, end, fastest, ticksPerMs };
  decoded.set(closeup, made);
  return made;
}
function activeBetween(film, from, to) {
  const seen = new Set();
  for (let b = film.binOf(from); b <= film.binOf(to); b += 1) {
    for (const k of film.bins[b]) {
      if (film.start[k] <= to && film.start[k] + film.length[k] > from) seen.add(k);
    }
  }
  return [...seen].sort((a, b) => a - b);
}
// Own and background load of every busy fibre at a time, as shares of its rate.
function loadsAt(film, t) {
  let low = 0, high = film.spans.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (film.spans[mid].end <= t) low = mid + 1;
    else high = mid;
  }
  const span = film.spans[low];
  if (!span || span.start > t) return new Map();
  const { fibre, own, background } = span;
  return new Map(fibre.map((id, k) => [id, { own: own[k] / 1000, background: background[k] / 1000 }]));
}
const loadOf = (loads, fibre) => {
  const found = loads.get(fibre);
  return found ? Math.min(1, found.own + found.background) : 0;
};
function subbandColour(index) {
  const stops = [0, 1, 2, 3].map((n) => css(`--band${n}`).split(",").map(Number));
  const count = DATA.floor.subbands.length, at = count > 1 ? (3 * index) / (count - 1) : 0;
  const k = Math.min(2, Math.floor(at)), mix = at - k;
  return `rgb(${stops[k].map((v, i) => Math.round(v + (stops[k + 1][i] - v) * mix)).join(",")})`;
}
