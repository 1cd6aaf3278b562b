// One iteration as bars: compute and collectives per stage; zoom, pan, hover, keyboard.
// The clock is shared with the replay: a click here moves the floor plan, and back.
const clock = {
  at: 0,
  listeners: [],
  set(ticksNow) { this.at = ticksNow; for (const tell of this.listeners) tell(ticksNow); },
};

function ganttChart(box, current) {
  const tools = make(box, "div", { class: "tools" });
  const area = make(make(box, "div", { class: "tall" }), "div");
  const view = { from: 0, to: 1, policy: null };
  let layout = null;
  const button = (text, label, act) => make(tools, "button", { type: "button", class: "button", "aria-label": label }, text).addEventListener("click", act);
  const clampView = (from, to, end) => {
    const span = Math.min(end, Math.max(end / 20000, to - from));
    view.from = Math.max(0, Math.min(end - span, from));
    view.to = view.from + span;
  };
  const zoom = (factor, around = 0.5) => {
    const span = view.to - view.from, centre = view.from + span * around;
    clampView(centre - span * factor * around, centre + span * factor * (1 - around), current().timeline.end);
    paint();
  };
  const pan = (share) => {
    const step = (view.to - view.from) * share;
    clampView(view.from + step, view.to + step, current().timeline.end);
    paint();
  };
  const reset = () => { clampView(0, current().timeline.end, current().timeline.end); paint(); };
  button("+", "Zoom in", () => zoom(0.6));
  button("−", "Zoom out", () => zoom(1 / 0.6));
  button("◀", "Earlier", () => pan(-0.25));
  button("▶", "Later", () => pan(0.25));
  button("Whole iteration", "Show the whole iteration", reset);
  make(tools, "span", { class: "hint" }, "drag to pan, Ctrl + wheel or pinch to zoom, click to move the replay");
  ganttLegend(box);

  function paint() { area.dataset.marks = draw(area, area.clientWidth); }
  function draw(target, width) {
    const line = current().timeline;
    if (view.policy !== current()) { view.policy = current(); clampView(0, line.end, line.end); }
    layout = ganttLayout(line, width);
    const { canvas, pen } = canvasIn(target, width, layout.height, "Gantt chart of one iteration; arrow keys pan, plus and minus zoom");
    if (!canvas.dataset.wired) { canvas.dataset.wired = "yes"; canvas.tabIndex = 0; ganttInput(canvas, view, () => layout, { zoom, pan, reset, clampView, paint, current }); }
    return paintGantt(pen, line, layout, view, width);
  }
  clock.listeners.push(() => { if (area.clientWidth) paint(); });
  chart(area, draw, ["closeup"]);
}

function ganttLegend(box) {
  const legend = make(box, "div", { class: "legend", style: "margin-top:10px" });
  const entries = [["Forward", "--forward"], ["Backward", "--backward"], ...Object.entries(DATA.kinds).map(([k, n]) => [n, `--${k}`])];
  for (const [name, colour] of entries) {
    const chip = make(legend, "span", { class: "chip" });
    make(chip, "span", { class: "swatch", style: `background:var(${colour});margin:0` });
    chip.append(name);
  }
  make(legend, "span", { class: "chip" }, "solid part: share on THz");
}

function ganttLayout(line, width) {
  const left = width < 560 ? 82 : 132, top = 26, bar = 15;
  let y = top, stage = null;
  const places = line.rows.map((row) => {
    const name = `${row.job} ${row.stage}`;
    if (stage !== null && name !== stage) y += 10;
    const first = name !== stage;
    stage = name;
    const place = { y, first, tall: row.depth * bar + 4 };
    y += place.tall;
    return place;
  });
  return { left, top, bar, places, height: y + 6, width };
}

function paintGantt(pen, line, layout, view, width) {
  const { left, top, bar, places, height } = layout;
  const x = scale(view.from, view.to, left, width - 4);
  const colours = { ink: css("--ink"), soft: css("--soft"), grid: css("--grid"), card: css("--card"), accent: css("--accent") };
  const jobs = new Set(line.rows.map((r) => r.job)).size;
  pen.clearRect(0, 0, width, height);
  pen.font = "11.5px system-ui, sans-serif";
  pen.textAlign = "center";
  for (const t of ticks(view.from / line.ticks_per_ms, view.to / line.ticks_per_ms, (width - left) / 75)) {
    const place = x(t * line.ticks_per_ms);
    pen.fillStyle = colours.grid;
    pen.fillRect(place, top - 6, 1, height - top);
    pen.fillStyle = colours.soft;
    if (place > left + 12 && place < width - 24) pen.fillText(show(t, 7) + " ms", place, 13);
  }
  let marks = 0;
  line.rows.forEach((row, k) => {
    const { y, first } = places[k];
    pen.textAlign = "left";
    if (first) {
      pen.fillStyle = colours.ink;
      pen.font = "600 11.5px system-ui, sans-serif";
      pen.fillText((jobs > 1 ? row.job + " " : width < 560 ? "S" : "Stage ") + row.stage, 0, y + 12);
      pen.font = "11.5px system-ui, sans-serif";
    }
    pen.fillStyle = colours.soft;
    pen.textAlign = "right";
    pen.fillText(row.title, left - 8, y + 12);
    marks += paintBars(pen, row, y, x, layout, colours);
  });
  const now = x(clock.at);
  if (now >= left && now <= width) { pen.fillStyle = colours.accent; pen.fillRect(now - 0.75, top - 6, 1.5, height - top + 2); }
  return marks;
}

function paintBars(pen, row, y, x, { left, bar, width }, colours) {
  const compute = row.lane === "compute";
  let marks = 0;
  for (const one of row.bars) {
    const a = Math.max(left, x(one[0])), b = Math.min(width - 4, x(one[1]));
    if (b < left || a > width - 4) continue;
    const top = y + one[2] * bar + 1, wide = Math.max(1.5, b - a - 0.5), tall = bar - 2;
    pen.fillStyle = css(compute ? `--${one[4]}` : `--${row.lane}`) || css("--s6");
    if (compute) pen.fillRect(a, top, wide, tall);
    else {
      pen.globalAlpha = 0.42;
      pen.fillRect(a, top, wide, tall);
      pen.globalAlpha = 1;
      pen.fillRect(a, top + tall * (1 - one[5]), wide, tall * one[5]);
    }
    if (wide > 16) {
      pen.fillStyle = colours.ink;
      pen.textAlign = "center";
      pen.font = "10.5px system-ui, sans-serif";
      if (compute) pen.fillText(String(one[3]), a + wide / 2, top + tall - 3);
      pen.font = "11.5px system-ui, sans-serif";
    }
    marks += 1;
  }
  return marks;
}

function ganttInput(canvas, view, layoutOf, act) {
  const pointers = new Map();
  let moved = 0;
  const share = (event) => {
    const frame = canvas.getBoundingClientRect(), { left } = layoutOf();
    return Math.max(0, Math.min(1, (event.clientX - frame.left - left) / (frame.width - left - 4)));
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel keeps scrolling the page
    event.preventDefault();
    act.zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); moved = 0; });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) { ganttHover(event, canvas, view, layoutOf(), act.current().timeline); return; }
    const room = canvas.clientWidth - layoutOf().left;
    if (pointers.size === 1) {
      moved += Math.abs(event.clientX - before.clientX);
      if (moved > 3) { hideTip(); act.pan((before.clientX - event.clientX) / room); }
    } else {
      const other = [...pointers.values()].find((p) => p.pointerId !== event.pointerId);
      const was = Math.abs(before.clientX - other.clientX), is = Math.abs(event.clientX - other.clientX);
      moved += 9;
      if (is > 8 && was > 8) act.zoom(was / is, (share(event) + share(other)) / 2);
    }
    pointers.set(event.pointerId, event);
  });
  const release = (event) => {
    if (event.type === "pointerup" && pointers.size === 1 && moved <= 3) clock.set(Math.round(view.from + share(event) * (view.to - view.from)));
    pointers.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", (event) => { release(event); hideTip(); });
  canvas.addEventListener("dblclick", (event) => act.zoom(0.4, share(event)));
  canvas.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: () => act.pan(-0.15), ArrowRight: () => act.pan(0.15), "+": () => act.zoom(0.7), "=": () => act.zoom(0.7), "-": () => act.zoom(1 / 0.7), 0: act.reset };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
}

function ganttHover(event, canvas, view, layout, line) {
  const frame = canvas.getBoundingClientRect();
  const x = scale(view.from, view.to, layout.left, frame.width - 4);
  const [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
  const k = layout.places.findIndex((p) => py >= p.y && py < p.y + p.tall);
  if (k < 0 || px < layout.left) { hideTip(); return; }
  const row = line.rows[k], sub = Math.floor((py - layout.places[k].y) / layout.bar);
  const one = row.bars.find((b) => b[2] === sub && px >= x(b[0]) - 2 && px <= x(b[1]) + 2);
  if (!one) { hideTip(); return; }
  const ms = (v) => show(v / line.ticks_per_ms, 5) + " ms";
  const rows = [["Start", ms(one[0])], ["Duration", ms(one[1] - one[0])]];
  if (row.lane !== "compute") {
    rows.push(["On THz", percent(one[5])], ["Carried", size(one[6])], ["Energy, fibre", show(one[7], 3) + " J"], ["Energy, THz", show(one[8], 3) + " J"]);
    if (one[9]) rows.push(["Latest straggler", ms(one[9])]);
    if (one[10]) rows.push(["Chunks moved to the other fabric", show(one[10])]);
  }
  const name = row.lane === "compute" ? one[4] : `${row.title} ${one[4]}`;
  showTip(event.clientX, event.clientY, `${row.job}, stage ${row.stage}: ${name}, micro-batch ${one[3]}`, rows);
}
