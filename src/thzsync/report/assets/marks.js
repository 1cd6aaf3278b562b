// Colours and marks: the same for one policy, method or collective in every chart.
const palette = new Map(); // emptied when the theme changes
function css(name) {
  if (!palette.has(name)) palette.set(name, getComputedStyle(root).getPropertyValue(name).trim());
  return palette.get(name);
}
const styleColour = (style) => `var(--s${style})`;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "", "5 2", "2 2", "10 4"];
const policies = DATA.policies || [];
const policyOf = (key) => policies.find((p) => p.key === key) || { key, label: key, style: 6 };
const brief = (name, most = 18) => (name.length > most ? name.slice(0, most - 1) + "…" : name);

// A collective's colour is a custom property that follows the theme; names are an open family.
const kindKeys = Object.keys(DATA.kinds || {});
const kindName = (kind) => DATA.kinds[kind]?.label ?? kind;
const kindProperty = (kind) => (kind in DATA.kinds ? `--kind-${kindKeys.indexOf(kind)}` : "--s6");
const kindColour = (kind) => `var(${kindProperty(kind)})`;
function paintKinds() {
  for (const kind of kindKeys) {
    root.style.setProperty(kindProperty(kind), DATA.kinds[kind][root.dataset.theme]);
  }
}

// Corners of each style's mark around the origin; a style without corners is a circle.
const CORNERS = {
  1: "-.88,-.88 .88,-.88 .88,.88 -.88,.88",
  2: "0,-1.25 1.25,0 0,1.25 -1.25,0",
  3: "0,-1.2 1.15,.9 -1.15,.9",
  4: "0,1.2 1.15,-.9 -1.15,-.9",
  5: "-1,0 -.35,-.35 0,-1.3 .35,-.35 1,0 .35,.35 0,1.3 -.35,.35",
  6: "-.6,-1.1 .6,-1.1 1.1,0 .6,1.1 -.6,1.1 -1.1,0",
  7: "-1.2,-.7 1.2,-.7 1.2,.7 -1.2,.7",
};
function markPath(style, x, y, r) {
  if (!CORNERS[style]) {
    return `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  }
  const corners = CORNERS[style].split(" ").map((pair) => pair.split(",").map(Number));
  const places = corners.map(([a, b]) => `${(x + a * r).toFixed(2)},${(y + b * r).toFixed(2)}`);
  return `M${places.join("L")}Z`;
}
// A published value: the series' mark, hollow.
function hollow(parent, style, x, y, r) {
  shape(parent, "path", {
    d: markPath(style, x, y, r),
    style: `fill:var(--card);stroke:${styleColour(style)}`,
    "stroke-width": 1.8,
    class: "published",
  });
}
function swatchChip(parent, name, colour) {
  const chip = make(parent, "span", { class: "chip" });
  make(chip, "span", { class: "swatch", style: `background:${colour};margin:0` });
  chip.append(name);
}
function legendMark(parent, style) {
  const svg = shape(parent, "svg", { viewBox: "0 0 22 12", "aria-hidden": "true" });
  const colour = styleColour(style);
  shape(svg, "path", {
    d: "M0,6H22",
    style: `stroke:${colour}`,
    "stroke-width": 2,
    "stroke-dasharray": DASHES[style],
    fill: "none",
  });
  shape(svg, "path", { d: markPath(style, 11, 6, 4), style: `fill:${colour}` });
}
