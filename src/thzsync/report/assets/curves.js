// Legends that hide and show series, learning curves, and completion times of single collectives.
function seriesLegend(parent, members, group) {
  const legend = make(parent, "div", {
    class: "legend",
    role: "group",
    "aria-label": "Show or hide",
  });
  for (const member of members) {
    const button = make(legend, "button", {
      type: "button",
      "aria-pressed": "true",
      title: "Show or hide",
    });
    legendMark(button, member.style);
    button.append(member.label);
    button.addEventListener("click", () => {
      const off = !hiddenSeries.delete(member.key);
      if (off) hiddenSeries.add(member.key);
      button.setAttribute("aria-pressed", String(!off));
      redrawAll(group);
    });
  }
  return legend;
}
function keyNote(legend, hollowText) {
  const chip = make(legend, "span", { class: "chip" });
  const svg = shape(chip, "svg", { viewBox: "0 0 22 12", "aria-hidden": "true" });
  shape(svg, "path", {
    d: markPath(0, 11, 6, 4.5),
    style: "fill:none;stroke:var(--soft)",
    "stroke-width": 1.8,
  });
  chip.append(hollowText);
}

function learningCurves(box) {
  const { metrics, first, published } = DATA.curves;
  const several = policies.length > 1;
  const legend = several
    ? seriesLegend(box, policies, "policies")
    : make(box, "div", { class: "legend" });
  const values = Object.values(published).flatMap((row) => Object.values(row));
  const anyPublished = values.some((v) => v !== null);
  if (anyPublished) keyNote(legend, "published mean");
  const grid = make(box, "div", { class: "panels" });
  for (const metric of metrics) {
    const series = policies.map((policy, k) => ({
      ...policy,
      strong: k === 0,
      published: anyPublished ? published[policy.key]?.[metric.key] : null,
      points: curvePoints(policy, metric),
    }));
    const fit = fittingUnit(metric.unit, largestOf(series.flatMap((s) => s.points.map((p) => p.y))));
    const better = metric.better === "high" ? "higher is better" : "lower is better";
    const note = fit.unit ? `[${fit.unit}], ${better}` : better;
    const spec = {
      label: `${metric.title} per iteration and policy`, series, fit, unit: metric.unit, first,
      xTitle: "iteration", xName: "Iteration", room: anyPublished ? 26 : 14,
    };
    const draw = (target, width) => drawLines(target, width, spec);
    chart(panel(grid, metric.title, note), draw, ["policies"]);
  }
}
function curvePoints(policy, metric) {
  const curves = DATA.curves.series[policy.key], { mean, half } = curves[metric.key];
  const points = curves.iteration.map((x, k) => ({ x, y: mean[k], half: half[k] }));
  return points.filter((point) => point.y !== null);
}

function synthesisPanels(box) {
  const methods = new Map(DATA.synthesis.flatMap((p) => p.methods.map((m) => [m.key, m])));
  const legend = seriesLegend(box, [...methods.values()], "methods");
  if (DATA.synthesis.some((p) => p.points.some((q) => q.paper))) keyNote(legend, "published");
  make(legend, "span", { class: "chip" }, "┄ lower bound");
  const grid = make(box, "div", { class: "panels two" });
  for (const one of DATA.synthesis) {
    const series = one.methods.map((method) => methodSeries(one, method));
    const fit = fittingUnit("ms", largestOf(one.points.map((p) => p.y)));
    const spec = {
      label: `${one.title}: completion time over the number of racks`, series, fit, unit: "ms",
      zero: true, xTitle: "racks", xName: "Racks", everyX: true,
    };
    const note = `completion time [${fit.unit}], lower is better`;
    chart(panel(grid, one.title, note), (target, width) => drawLines(target, width, spec), ["methods"]);
  }
}
function methodSeries(one, method) {
  const proposed = method.key === "proposed";
  const points = one.points.filter((p) => p.method === method.key);
  return {
    ...method,
    whiskers: true,
    strong: proposed,
    points: proposed ? points : points.map((p) => ({ ...p, bound: null })), // the bound is drawn once
  };
}
