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
      make(face, "span", {
        class: "swatch",
        style: `background:${styleColour(policyOf(name).style)};border:0;padding:0`,
      });
      face.append(policyOf(name).label);
      input.addEventListener("change", () => {
        chosen = name;
        redrawAll("closeup");
        player.reset();
      });
    }
  }
  player.reset();
}

function unpackTimelines() {
  for (const { timeline } of Object.values(DATA.closeups || {})) {
    for (const row of timeline.rows) row.bars = rowsOf(row.bars);
  }
}

unpackTimelines();
paintKinds();
if (DATA.curves) learningCurves(byId("curves-charts"));
if (DATA.plane) chart(byId("plane-charts"), drawPlane);
if (DATA.distributions) distributionPanels(byId("distributions-charts"));
if (DATA.split) splitPanels(byId("split-charts"));
if (DATA.closeups) closeups(byId("picker"));
if (DATA.synthesis) synthesisPanels(byId("synthesis-charts"));
if (DATA.weights) weightPanels(byId("weights-charts"));
if (DATA.sweep) sweepCharts(byId("sweep-charts"));

// A table that goes on at its right edge says so.
for (const holder of document.querySelectorAll(".scroll")) {
  const tell = () => {
    const rest = holder.scrollWidth - holder.clientWidth - holder.scrollLeft;
    holder.parentNode.classList.toggle("more", rest > 2);
  };
  holder.addEventListener("scroll", tell, { passive: true });
  new ResizeObserver(tell).observe(holder);
}

byId("theme").addEventListener("click", () => {
  const next = root.dataset.theme === "dark" ? "light" : "dark";
  root.setAttribute("data-theme", next);
  try {
    localStorage.setItem("thzsync-theme", next);
  } catch (refused) {
    /* a file may have no storage */
  }
});
function repaint() {
  palette.clear();
  paintKinds();
  redrawAll();
}
new MutationObserver(repaint).observe(root, { attributes: true, attributeFilter: ["data-theme"] });

// Paper is light and narrow: charts are drawn anew for it, and back again afterwards.
let onScreen = null;
addEventListener("beforeprint", () => {
  onScreen = root.dataset.theme;
  root.dataset.theme = "light";
  root.classList.add("paper");
  repaint();
});
addEventListener("afterprint", () => {
  root.classList.remove("paper");
  root.dataset.theme = onScreen;
  repaint();
});
