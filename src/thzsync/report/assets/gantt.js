// One iteration as bars: compute and collectives per stage; zoom, pan, hover, keyboard.
// The clock is shared with the replay: a click here moves the floor plan, and back.
const clock = {
  at: 0,
  listeners: [],
  set(ticksNow) {
    this.at = ticksNow;
    for (const tell of this.listeners) tell(ticksNow);
  },
};

function ganttChart(box, current) {
  const tools = make(box, "div", { class: "tools" });
  const area = make(make(box, "div", { class: "tall" }), "div");
  const view = { from: 0, to: 1, shown: null };
  let layout = null;
  const show = (from, to) => {
    const { end } = current().timeline;
    const span = Math.min(end, Math.max(end / 20000, to - from));
    view.from = Math.max(0, Math.min(end - span, from));
    view.to = view.from + span;
  };
  const paint = () => {
    area.dataset.marks = draw(area, area.clientWidth);
    area.dataset.playhead = playhead() ?? "";
  };
  // Where the clock stands as a share of what is shown; null outside.
  const playhead = () => {
    const share = (clock.at - view.from) / (view.to - view.from);
    return share >= 0 && share <= 1 ? share : null;
  };
  const act = {
    current,
    zoom: (factor, around = playhead() ?? 0.5) => {
      const span = view.to - view.from, centre = view.from + span * around;
      show(centre - span * factor * around, centre + span * factor * (1 - around));
      paint();
    },
    pan: (share) => {
      const step = (view.to - view.from) * share;
      show(view.from + step, view.to + step);
      paint();
    },
    reset: () => {
      show(0, current().timeline.end);
      paint();
    },
  };
  function draw(target, width) {
    if (view.shown !== current()) {
      view.shown = current();
      show(0, current().timeline.end);
    }
    layout = ganttLayout(current().timeline, width);
    const label = "Gantt chart of one iteration; arrow keys pan, plus and minus zoom";
    const { canvas, pen } = canvasIn(target, width, layout.height, label);
    if (!canvas.dataset.wired) {
      canvas.dataset.wired = "yes";
      canvas.tabIndex = 0;
      ganttInput(canvas, view, () => layout, act);
    }
    return paintGantt(pen, current().timeline, layout, view);
  }
  ganttTools(tools, act);
  ganttLegend(box);
  clock.listeners.push((now) => {
    const span = view.to - view.from;
    if (playhead() === null) show(now - span / 4, now + (3 * span) / 4);
    if (area.clientWidth) paint();
  });
  chart(area, draw, ["closeup"]);
}
function ganttTools(tools, act) {
  const button = (text, label, press) => {
    const look = { type: "button", class: "button", "aria-label": label };
    make(tools, "button", look, text).addEventListener("click", press);
  };
  button("+", "Zoom in", () => act.zoom(0.6));
  button("−", "Zoom out", () => act.zoom(1 / 0.6));
  button("◀", "Earlier", () => act.pan(-0.25));
  button("▶", "Later", () => act.pan(0.25));
  button("Whole iteration", "Show the whole iteration", act.reset);
  const hint = "drag to pan, Ctrl + wheel or pinch to zoom, click to move the replay";
  make(tools, "span", { class: "hint" }, hint);
}
function ganttLegend(box) {
  const legend = make(box, "div", { class: "legend below" });
  swatchChip(legend, "Forward", "var(--forward)");
  swatchChip(legend, "Backward", "var(--backward)");
  for (const kind of kindKeys) swatchChip(legend, kindName(kind), kindColour(kind));
  make(legend, "span", { class: "chip" }, "solid part: share on THz");
}

const isCompute = (row) => row.lane === "compute";
const FONT = "11.5px system-ui, sans-serif";

function ganttLayout(line, width) {
  const top = 26, bar = 15;
  const jobs = new Set(line.rows.map((row) => row.job)).size;
  const longest = line.rows.reduce((most, row) => Math.max(most, row.title.length), 0);
  const left = Math.round((width < 560 && jobs === 1 ? 30 : 60) + 6.4 * longest);
  let y = top, stage = null;
  const places = line.rows.map((row) => {
    const name = `${row.job} ${row.stage}`, first = name !== stage;
    if (stage !== null && first) y += 10;
    stage = name;
    const place = { y, first, tall: row.depth * bar + 4 };
    y += place.tall;
    return place;
  });
  return { left, top, bar, jobs, places, height: y + 6, width };
}

function paintGantt(pen, line, layout, view) {
  const { left, top, places, height, width } = layout;
  const x = scale(view.from, view.to, left, width - 4);
  pen.clearRect(0, 0, width, height);
  pen.font = FONT;
  paintTimes(pen, line, layout, view, x);
  let marks = 0;
  line.rows.forEach((row, k) => {
    paintRowName(pen, row, places[k], layout);
    marks += paintBars(pen, row, places[k].y, x, layout);
  });
  const now = x(clock.at);
  if (now >= left && now <= width) {
    pen.fillStyle = css("--accent");
    pen.fillRect(now - 0.75, top - 6, 1.5, height - top + 2);
  }
  return marks;
}
function paintTimes(pen, line, { left, top, height, width }, view, x) {
  const ms = (place) => place / line.ticks_per_ms;
  const fit = fittingUnit("ms", ms(view.to));
  pen.textAlign = "center";
  for (const t of ticks(ms(view.from), ms(view.to), (width - left) / 75)) {
    const place = x(t * line.ticks_per_ms);
    pen.fillStyle = css("--grid");
    pen.fillRect(place, top - 6, 1, height - top);
    pen.fillStyle = css("--soft");
    if (place <= left + 12 || place >= width - 24) continue;
    pen.fillText(`${show(t * fit.factor, 7)} ${fit.unit}`, place, 13);
  }
}
function paintRowName(pen, row, { y, first }, { left, jobs, width }) {
  if (first) {
    const stage = jobs > 1 ? `${brief(row.job, 7)} ` : width < 560 ? "S" : "Stage ";
    pen.textAlign = "left";
    pen.fillStyle = css("--ink");
    pen.font = `600 ${FONT}`;
    pen.fillText(stage + row.stage, 0, y + 12);
    pen.font = FONT;
  }
  pen.fillStyle = css("--soft");
  pen.textAlign = "right";
  pen.fillText(row.title, left - 8, y + 12);
}

function paintBars(pen, row, y, x, { left, bar, width }) {
  const tall = bar - 2;
  let marks = 0;
  for (const one of row.bars) {
    const a = Math.max(left, x(one.start)), b = Math.min(width - 4, x(one.end));
    if (b < left || a > width - 4) continue;
    const box = { a, top: y + one.sub_row * bar + 1, wide: Math.max(1.5, b - a - 0.5), tall };
    if (isCompute(row)) paintTask(pen, one, box);
    else paintEvent(pen, row, one, box);
    marks += 1;
  }
  return marks;
}
function paintTask(pen, one, { a, top, wide, tall }) {
  pen.fillStyle = css(`--${one.name}`);
  pen.fillRect(a, top, wide, tall);
  if (wide <= 16) return;
  pen.fillStyle = css("--ink");
  pen.textAlign = "center";
  pen.font = "10.5px system-ui, sans-serif";
  pen.fillText(String(one.microbatch), a + wide / 2, top + tall - 3);
  pen.font = FONT;
}
function paintEvent(pen, row, one, { a, top, wide, tall }) {
  pen.fillStyle = css(kindProperty(row.lane));
  pen.globalAlpha = 0.42;
  pen.fillRect(a, top, wide, tall);
  pen.globalAlpha = 1;
  pen.fillRect(a, top + tall * (1 - one.thz_share), wide, tall * one.thz_share);
}
