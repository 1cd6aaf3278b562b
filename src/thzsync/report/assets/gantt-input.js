// The timeline under the pointer, the fingers and the keyboard.
function ganttInput(canvas, view, layoutOf, act) {
  const pointers = new Map();
  let moved = 0;
  const share = (event) => {
    const frame = canvas.getBoundingClientRect(),
      { left } = layoutOf();
    return Math.max(0, Math.min(1, (event.clientX - frame.left - left) / (frame.width - left - 4)));
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel keeps scrolling the page
      event.preventDefault();
      act.zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event));
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      ganttHover(event, canvas, view, layoutOf(), act.current().timeline);
      return;
    }
    const room = canvas.clientWidth - layoutOf().left;
    if (pointers.size === 1) {
      moved += Math.abs(event.clientX - before.clientX);
      if (moved > 3) {
        hideTip();
        act.pan((before.clientX - event.clientX) / room);
      }
    } else {
      const other = [...pointers.values()].find((p) => p.pointerId !== event.pointerId);
      const was = Math.abs(before.clientX - other.clientX),
        is = Math.abs(event.clientX - other.clientX);
      moved += 9;
      if (is > 8 && was > 8) act.zoom(was / is, (share(event) + share(other)) / 2);
    }
    pointers.set(event.pointerId, event);
  });
  const release = (event) => {
    if (event.type === "pointerup" && pointers.size === 1 && moved <= 3)
      clock.set(Math.round(view.from + share(event) * (view.to - view.from)));
    pointers.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", (event) => {
    release(event);
    hideTip();
  });
  canvas.addEventListener("dblclick", (event) => act.zoom(0.4, share(event)));
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => act.pan(-0.15),
      ArrowRight: () => act.pan(0.15),
      "+": () => act.zoom(0.7),
      "=": () => act.zoom(0.7),
      "-": () => act.zoom(1 / 0.7),
      0: act.reset,
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
}

function ganttHover(event, canvas, view, layout, line) {
  const frame = canvas.getBoundingClientRect();
  const place = { x: event.clientX - frame.left, y: event.clientY - frame.top };
  const found = barUnder(place, view, layout, line, frame.width);
  if (!found) {
    hideTip();
    return;
  }
  const { row, one } = found;
  const name = isCompute(row) ? one.name : `${row.title} ${one.name}`;
  const title = `${row.job}, stage ${row.stage}: ${name}, micro-batch ${one.microbatch}`;
  showTip(event.clientX, event.clientY, title, barFacts(row, one, line.ticks_per_ms));
}
function barUnder(place, view, layout, line, width) {
  const k = layout.places.findIndex((p) => place.y >= p.y && place.y < p.y + p.tall);
  if (k < 0 || place.x < layout.left) return null;
  const x = scale(view.from, view.to, layout.left, width - 4);
  const row = line.rows[k], subRow = Math.floor((place.y - layout.places[k].y) / layout.bar);
  const touches = (b) => place.x >= x(b.start) - 2 && place.x <= x(b.end) + 2;
  const one = row.bars.find((b) => b.sub_row === subRow && touches(b));
  return one ? { row, one } : null;
}
function barFacts(row, one, ticksPerMs) {
  const time = (ticksLong) => quantity(ticksLong / ticksPerMs, "ms", 5);
  const rows = [
    ["Start", time(one.start)],
    ["Duration", time(one.end - one.start)],
  ];
  if (isCompute(row)) return rows;
  rows.push(
    ["On THz", percent(one.thz_share)],
    ["Carried", size(one.bytes)],
    ["Transmission energy, fibre", quantity(one.optical_energy_j, "J", 3)],
    ["Transmission energy, THz", quantity(one.thz_energy_j, "J", 3)],
  );
  if (one.latest) rows.push(["Latest straggler", time(one.latest)]);
  if (one.moved_chunks) rows.push(["Chunks moved to the other carrier", show(one.moved_chunks)]);
  return rows;
}
