// Puts every chart into its section, and wires the theme button and the policy picker.
function closeups(box) {
  const names = Object.keys(DATA.closeups);
  let chosen = names[0];
  const current = () => DATA.closeups[chosen];
  trafficCharts(byId("traffic-charts"), current);
  ganttChart(byId("gantt-charts"), current);
  const player = replayPlayer(byId("replay-charts"), current);
  if (names.length > 1) {
    const set = make(box, "fieldset");
    make(set, "legend", {}, "Policy shown");
    for (const name of names) {
      const label = make(set, "label");
      const input = make(label, "input", { type: "radio", name: "policy", value: name });
      input.checked = name === chosen;
      const face = make(label, "span");
      make(face, "span", { class: "swatch", style: `background:${styleColour(policyOf(name).style)};border:0;padding:0` });
      face.append(policyOf(name).label);
      input.addEventListener("change", () => { chosen = name; redrawAll("closeup"); player.reset(); });
    }
  }
  player.reset();
}

if (DATA.curves) learningCurves(byId("curves-charts"));
if (DATA.plane) chart(byId("plane-charts"), drawPlane);
if (DATA.distributions) {
  const grid = make(byId("distributions-charts"), "div", { class: "panels" });
  for (const one of DATA.distributions) {
    chart(panel(grid, one.title), (target, width) => drawDistribution(target, width, one));
  }
}
if (DATA.split) {
  fabricLegend(byId("split-charts"));
  chart(make(byId("split-charts"), "div"), drawSplit);
}
if (DATA.closeups) closeups(byId("picker"));
if (DATA.synthesis) synthesisPanels(byId("synthesis-charts"));
if (DATA.weights) {
  const grid = make(byId("weights-charts"), "div", { class: "panels two" });
  chart(panel(grid, "Completion time", "[ms]"), (target, width) => drawWeights(target, width, "completion_ms", "ms"));
  chart(panel(grid, "Transmission energy", "[J]"), (target, width) => drawWeights(target, width, "energy_j", "J"));
}

byId("theme").addEventListener("click", () => {
  const next = root.dataset.theme === "dark" ? "light" : "dark";
  root.setAttribute("data-theme", next);
  try { localStorage.setItem("thzsync-theme", next); } catch (refused) { /* a file may have no storage */ }
});
new MutationObserver(() => { palette.clear(); redrawAll(); }).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
