// Names beside points: each takes the nearest free place, and no two ever overlap.
const DISTANCES = [5, 11, 18, 27, 38, 52, 70, 92, 120, 155, 200];
const ANGLES = range(16).map((k) => (2 * Math.PI * k) / 16);

const overlap = (a, b) =>
  a.left < b.left + b.width && b.left < a.left + a.width &&
  a.top < b.top + b.height && b.top < a.top + a.height;
const inside = (box, frame) =>
  box.left >= frame.left && box.left + box.width <= frame.left + frame.width &&
  box.top >= frame.top && box.top + box.height <= frame.top + frame.height;
const boxAround = (x, y, reach) =>
  ({ left: x - reach, top: y - reach, width: 2 * reach, height: 2 * reach });

// A box for every name {x, y, width, height}, in the same order; null where none is free.
// `taken` are boxes that must stay clear, such as marks; crowded names choose first.
function placeNames(names, taken, frame) {
  const near = (a) => names.filter((b) => Math.hypot(a.x - b.x, a.y - b.y) < 60).length;
  const order = range(names.length).sort((a, b) => near(names[b]) - near(names[a]) || a - b);
  const placed = Array(names.length).fill(null);
  for (const k of order) {
    const busy = [...taken, ...placed.filter(Boolean)];
    const free = (box) => inside(box, frame) && !busy.some((other) => overlap(box, other));
    placed[k] = candidates(names[k]).find(free) || null;
  }
  return placed;
}
// From near to far; beside a mark reads best, so the sides come before above and below.
function candidates({ x, y, width, height }) {
  const sides = [...ANGLES].sort((a, b) => Math.abs(Math.sin(a)) - Math.abs(Math.sin(b)));
  return DISTANCES.flatMap((far) =>
    sides.map((angle) => {
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const centre = { x: x + cos * (7 + far + width / 2), y: y + sin * (7 + far + height / 2) };
      return { left: centre.x - width / 2, top: centre.y - height / 2, width, height, far };
    }));
}
