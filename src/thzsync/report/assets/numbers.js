// Numbers as people read them, the unit that fits their size, and scales with round ticks.
function show(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toLocaleString("en", { maximumSignificantDigits: digits });
  return text.replace("-", "−");
}
const percent = (share, digits = 3) => show(100 * share, digits) + " %";
function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let k = 0;
  while (bytes >= 1024 && k < units.length - 1) {
    bytes /= 1024;
    k += 1;
  }
  return show(bytes, 3) + " " + units[k];
}
// The unit that suits values up to `largest`, and the factor that takes values to it. The ladders of
// units come with the data, so that the page and its tables change units at the same sizes.
function fittingUnit(unit, largest) {
  const ladder = DATA.units.find((rungs) => rungs.some(([name]) => name === unit));
  const size = Math.abs(largest || 0);
  if (!ladder || !Number.isFinite(size) || size === 0 || (size >= 0.1 && size < 1e4)) {
    return { unit, factor: 1 };
  }
  const [, held] = ladder.find(([name]) => name === unit);
  const [name, rung] = ladder.findLast(([, one]) => (size * held) / one >= 1) || ladder[0];
  return { unit: name, factor: held / rung };
}
function quantity(value, unit, digits = 4) {
  const fit = fittingUnit(unit, value);
  return (show(value * fit.factor, digits) + " " + fit.unit).trim();
}
function plusMinus(value, half, unit) {
  const fit = fittingUnit(unit, value);
  const digit = 10 ** Math.floor(Math.log10(Math.abs(value) || 1e-300) - 3); // the last one shown
  const width = half < digit / 2 ? "0" : show(half * fit.factor, 2);
  const interval = half ? " ± " + width : "";
  return (show(value * fit.factor) + interval + " " + fit.unit).trim();
}
const largestOf = (values) => values.reduce((top, v) => Math.max(top, Math.abs(v ?? 0)), 0);


function scale(low, high, from, to) {
  const span = high - low || 1;
  const map = (value) => from + ((value - low) / span) * (to - from);
  map.low = low;
  map.high = high;
  map.invert = (place) => low + ((place - from) / (to - from)) * span;
  return map;
}
function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}
// Names of neighbouring ticks, with as many decimals as it takes to tell them apart.
function tickNames(values, factor = 1) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) * factor : 1;
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  const scaled = step * 10 ** decimals;
  const shown = decimals + (Math.abs(scaled - Math.round(scaled)) > 1e-6 ? 1 : 0); // steps of 2.5
  const digits = { minimumFractionDigits: shown, maximumFractionDigits: shown };
  return (t) => (t * factor).toLocaleString("en", digits).replace("-", "−");
}
function extent(values, pad = 0.06, zero = false) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  const held = [...(known.length ? known : [0, 1]), ...(zero ? [0] : [])];
  const low = Math.min(...held), high = Math.max(...held);
  const room = (high - low || Math.abs(high) || 1) * pad;
  const from = zero && low === 0 ? 0 : low - room;
  return [low >= 0 ? Math.max(0, from) : from, zero && high === 0 ? 0 : high + room];
}
