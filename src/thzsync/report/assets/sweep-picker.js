// What of a sweep is shown: the metric, the axis, what becomes panels, and where the rest is held.
function sweepCharts(box) {
  const { metrics, axes } = DATA.sweep;
  const chosen = { metric: metrics[0].key, axis: axes[0].key, split: null, held: {} };
  const tools = make(box, "div", { class: "tools" });
  if (policies.length > 1) seriesLegend(box, policies, "sweep");
  const stage = make(box, "div");
  const refresh = () => {
    sweepControls(tools, chosen, refresh);
    sweepStage(stage, chosen);
  };
  refresh();
}

function sweepControls(tools, chosen, refresh) {
  const { metrics, axes, panels } = DATA.sweep;
  const focused = tools.contains(document.activeElement) ? document.activeElement.name : null;
  tools.replaceChildren();
  const named = (list) => list.map(({ key, title }) => [key, title]);
  const choose = (name, label, options, value, set) => {
    const select = picker(tools, name, label, options, value);
    select.addEventListener("change", () => {
      set(select.value);
      refresh();
    });
    if (name === focused) select.focus();
  };
  const others = axes.filter(({ key }) => key !== chosen.axis);
  if (!others.some(({ key }) => key === chosen.split)) chosen.split = others[0]?.key ?? null;
  choose("metric", "Metric", named(metrics), chosen.metric, (key) => (chosen.metric = key));
  const drawn = axes.filter(({ key }) => key in panels);
  if (drawn.length > 1) choose("axis", "against", named(drawn), chosen.axis, (key) => (chosen.axis = key));
  if (others.length < 2) return;
  choose("split", "a panel per", named(others), chosen.split, (key) => (chosen.split = key));
  for (const { key, title, names } of others.filter((other) => other.key !== chosen.split)) {
    const options = names.map((name, k) => [String(k), name]);
    choose(`at ${key}`, `${title} =`, options, heldAt(chosen, key), (k) => (chosen.held[key] = k));
  }
}
const heldAt = (chosen, key) => chosen.held[key] ?? "0";

function picker(parent, name, label, options, value) {
  const frame = make(parent, "label", { class: "choice" }, label + " ");
  const select = make(frame, "select", { name });
  for (const [key, text] of options) make(select, "option", { value: key }, text);
  select.value = value;
  return select;
}

// All panels share the range of values, so that heights can be compared across them.
function sweepStage(stage, chosen) {
  forget(stage);
  const { metrics, axes, panels } = DATA.sweep;
  const metric = metrics.find(({ key }) => key === chosen.metric);
  const axis = axes.find(({ key }) => key === chosen.axis);
  const held = axes.map(({ key }) => key).filter((key) => key !== chosen.axis && key !== chosen.split);
  const shown = panels[axis.key].filter((one) => held.every((key) => String(one.held[key]) === heldAt(chosen, key)));
  const specs = shown.map((one) => sweepSpec(one, metric, axis));
  const reach = specs.flatMap((s) => s.series.flatMap((one) => one.points.flatMap(bothEnds)));
  const means = specs.flatMap((s) => s.series.flatMap((one) => one.points.map((p) => p.y)));
  const positive = means.every((y) => y >= 0) && !isPaired(metric);
  const values = positive ? reach.map((v) => Math.max(0, v)) : reach; // time is never below 0
  // Curves that compete would coincide if every axis began at 0.
  const wide = positive && Math.min(...means) < 0.2 * largestOf(means);
  const [low, high] = extent(values, 0.07, wide || isPaired(metric));
  const fit = fittingUnit(metric.unit, largestOf(means));
  const grid = make(stage, "div", { class: specs.length > 1 ? "panels" : "" });
  for (const spec of specs) sweepPanel(grid, { ...spec, range: { low, high }, fit }, metric);
  if (!specs.length) make(stage, "p", { class: "lead" }, "No run is finished here.");
}
// The first metric of several policies: the difference to the reference policy in the same seeds.
const isPaired = ({ paired }) => paired !== undefined;
const bothEnds = ({ y, half }) => [y - (half || 0), y + (half || 0)];

function sweepSpec(one, metric, axis) {
  const curves = one.series[metric.key];
  const series = policies.filter(({ key }) => key in curves).map((policy) => {
    const { at, mean, half } = curves[policy.key];
    const points = at.map((k, n) => ({ x: axis.places[k], y: mean[n], half: half[n] }));
    const known = points.filter((p) => p.y !== null);
    const bent = metric.key.endsWith("_diff_pct") && axis.numeric;
    const between = bent ? betweenPoints(known, one, axis) : null;
    return { ...policy, whiskers: !isPaired(metric), points: known, between };
  });
  return {
    series, axis, title: one.title, crossovers: one.crossovers[metric.key], unit: metric.unit,
    label: `${metric.title} against ${axis.title}` + (one.title ? ` at ${one.title}` : ""),
    paired: isPaired(metric) ? policyOf(DATA.sweep.against).label : null,
    xName: `${axis.title} =`, xText: (place) => axis.names[axis.places.indexOf(place)],
  };
}

// Times are taken as straight lines between points, as crossovers do; shares of them are then bent.
function betweenPoints(points, one, axis) {
  const { at, mean } = one.series.makespan_ms[DATA.sweep.against];
  const times = new Map(at.map((k, n) => [axis.places[k], mean[n]]));
  const mix = (a, b, share) => a + (b - a) * share;
  return points.flatMap((a, k) => {
    const b = points[k + 1], [s, t] = [times.get(a.x), times.get(b?.x)];
    if (!b || !s || !t) return [a];
    return range(STEPS).map((n) => {
      const share = n / STEPS, time = mix(s, t, share);
      const ofTime = (key) => mix(s * a[key], t * b[key], share) / time;
      return { x: mix(a.x, b.x, share), y: ofTime("y"), half: ofTime("half") };
    });
  });
}
const STEPS = 24;

function sweepPanel(grid, spec, metric) {
  const ends = { low: "lower is better", high: "higher is better" };
  const unit = spec.fit.unit ? `[${spec.fit.unit}]` : "";
  const band = spec.paired ? "band: 95 % of the paired difference" : null;
  const note = [unit, metric.paired ?? ends[metric.better], band].filter(Boolean).join(", ");
  const holder = panel(grid, spec.title ? `${metric.title}, ${spec.title}` : metric.title, note);
  const below = make(holder.parentNode, "p", { class: "below crossings" });
  chart(holder, (target, width) => {
    below.textContent = shownCrossovers(spec).map(crossoverSentence).join(" ");
    return drawSweep(target, width, spec);
  }, ["sweep"]);
}
