// The replay's controls: play, pause, step, speed, slider; and what is going on right now.
function replayPlayer(box, current) {
  const ui = playerMarkup(box);
  const state = { playing: false, last: 0, from: 0 };
  const film = () => decode(current());
  const reduced = () => still.matches;

  function paint() {
    const now = film();
    const { shown, loads, place, dot, canvas } = paintFloor(ui.floor, ui.floor.clientWidth, now, state.from, clock.at);
    ui.floor.dataset.marks = DATA.floor.racks.length + shown.length;
    ui.floor.dataset.active = shown.length;
    ui.strip.dataset.marks = paintActivity(ui.strip, ui.strip.clientWidth, now);
    readout(ui, now, shown, loads, current());
    wireHover(canvas, now, place, dot);
  }
  function go(ticksNow, from = ticksNow) {
    state.from = Math.max(0, from);
    clock.set(Math.max(0, Math.min(film().end, ticksNow)));
  }
  clock.listeners.push((now) => {
    if (state.from > now || !state.playing) state.from = Math.min(state.from, now);
    ui.slider.max = film().end;
    ui.slider.value = now;
    ui.slider.setAttribute("aria-valuetext", show(now / film().ticksPerMs, 6) + " milliseconds");
    if (ui.floor.clientWidth) paint();
  });
  function step(direction) {
    pause();
    const { steps, end } = film();
    const next = direction > 0 ? steps.find((s) => s > clock.at) ?? end : [...steps].reverse().find((s) => s < clock.at) ?? 0;
    go(next);
  }
  const speed = () => (film().ticksPerMs * Number(ui.speed.value)) / 1000; // ticks per real ms
  function tick(time) {
    if (!state.playing) return;
    if (reduced()) { // no motion: a still picture every 600 ms
      if (time - state.last >= 600) { const jump = speed() * 600; state.last = time; go(clock.at + jump); }
    } else {
      const passed = Math.min(100, time - state.last);
      state.last = time;
      const next = clock.at + passed * speed();
      go(next, next - Math.max(passed, 110) * speed());
    }
    if (clock.at >= film().end) pause(); else requestAnimationFrame(tick);
  }
  function play() {
    if (clock.at >= film().end) go(0);
    state.playing = true;
    state.last = performance.now();
    ui.play.textContent = "Pause";
    ui.play.setAttribute("aria-label", "Pause the replay");
    requestAnimationFrame(tick);
  }
  function pause() {
    state.playing = false;
    ui.play.textContent = "▶ Play";
    ui.play.setAttribute("aria-label", "Play the replay");
  }
  ui.play.addEventListener("click", () => (state.playing ? pause() : play()));
  ui.back.addEventListener("click", () => step(-1));
  ui.forth.addEventListener("click", () => step(1));
  ui.slider.addEventListener("input", () => { pause(); go(Number(ui.slider.value)); });
  ui.slider.addEventListener("keydown", (event) => {
    const leap = film().end / 20;
    const keys = {
      ArrowRight: () => step(1), ArrowUp: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(-1),
      PageUp: () => go(clock.at + leap), PageDown: () => go(clock.at - leap), " ": () => ui.play.click(),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  ui.strip.addEventListener("click", (event) => {
    const frame = ui.strip.getBoundingClientRect();
    pause();
    go(((event.clientX - frame.left) / frame.width) * film().end);
  });
  chart(ui.floor, () => { paint(); return ui.floor.dataset.marks; }, ["closeup"]);
  chart(ui.strip, (target, width) => paintActivity(target, width, film()), ["closeup"]);
  return {
    reset() { // begin where something happens: the middle of the first busy stretch
      pause();
      const { steps, busy, end } = film();
      const first = busy.findIndex((b) => b > 0.6 * Math.max(...busy));
      const target = first >= 0 ? ((first + 0.5) / BINS) * end : 0;
      go(steps.find((s) => s >= target) ?? target);
      const pace = end / film().ticksPerMs / 40;
      const choices = [...ui.speed.options].map((o) => Number(o.value));
      ui.speed.value = String(choices.reduce((a, b) => (Math.abs(Math.log(b / pace)) < Math.abs(Math.log(a / pace)) ? b : a)));
    },
  };
}

function playerMarkup(box) {
  const tools = make(box, "div", { class: "tools", role: "group", "aria-label": "Replay" });
  const button = (text, label, extra = "") => make(tools, "button", { type: "button", class: "button " + extra, "aria-label": label }, text);
  const back = button("‹ Step", "Step to the previous round");
  const play = button("▶ Play", "Play the replay", "main");
  play.id = "play";
  const forth = button("Step ›", "Step to the next round");
  const label = make(tools, "label", { class: "hint", style: "margin-left:8px" }, "speed ");
  const speed = make(label, "select", { "aria-label": "Speed: simulated milliseconds per second" });
  for (const pace of [0.5, 1, 2, 5, 10, 25, 50, 100, 250]) make(speed, "option", { value: pace }, `${pace} ms per s`);
  const strip = make(box, "div", { id: "activity" });
  const slider = make(box, "input", { type: "range", id: "slider", min: 0, max: 1, step: 1, value: 0, "aria-label": "Time in the iteration" });
  const body = make(box, "div", { class: "replay" });
  const floor = make(body, "div", { id: "floor" });
  const side = make(body, "div", { class: "side" });
  const numbers = make(side, "div", { class: "readout" });
  const fields = ["time in the iteration", "active THz links", "THz throughput", "busiest fibre"].map((name) => {
    const cell = make(numbers, "div");
    const value = make(cell, "b", {}, "–");
    make(cell, "span", {}, name);
    return value;
  });
  make(side, "h3", {}, "In flight");
  const list = make(side, "ul", { class: "now" });
  make(side, "h3", {}, "Subbands");
  const legend = make(side, "div", { class: "legend" });
  const note = make(side, "p", { class: "lead" });
  return { back, play, forth, speed, strip, slider, floor, fields, list, legend, note };
}

function readout(ui, film, shown, loads, closeup) {
  const live = shown.filter((k) => film.start[k] + film.length[k] > clock.at);
  const gbps = live.reduce((sum, k) => sum + film.rate[k], 0) * 1024 * 8 * film.ticksPerMs * 1e3 / 1e9;
  const fibre = [...loads.values()].reduce((top, [own, other]) => Math.max(top, own + other), 0);
  const values = [show(clock.at / film.ticksPerMs, 6) + " ms", String(live.length), show(gbps, 3) + " Gbit/s", percent(fibre, 2)];
  values.forEach((text, k) => { ui.fields[k].textContent = text; });
  ui.list.replaceChildren();
  const flying = closeup.timeline.rows.filter((r) => r.lane !== "compute").flatMap((r) => r.bars.filter((b) => b[0] <= clock.at && clock.at < b[1]).map((b) => [r, b]));
  for (const [row, bar] of flying.slice(0, 6)) {
    const item = make(ui.list, "li");
    make(item, "span", { class: "swatch", style: `background:var(--${row.lane})` });
    item.append(`${row.title} ${bar[4]}, stage ${row.stage}, micro-batch ${bar[3]}`);
  }
  if (flying.length > 6) make(ui.list, "li", {}, `and ${flying.length - 6} more`);
  if (!flying.length) make(ui.list, "li", {}, "nothing: the stages compute");
  if (ui.legend.dataset.theme !== root.dataset.theme) {
    ui.legend.dataset.theme = root.dataset.theme;
    ui.legend.replaceChildren();
    DATA.floor.subbands.forEach((name, k) => {
      const chip = make(ui.legend, "span", { class: "chip" });
      make(chip, "span", { class: "swatch", style: `background:${subbandColour(k)};margin:0` });
      chip.append(name);
    });
  }
  ui.note.textContent = film.every > 1 ? `One round in ${film.every} is drawn.` : film.steps.length && film.start.length ? "" : "This policy sends nothing over THz.";
}

function wireHover(canvas, film, place, dot) {
  canvas.onpointerleave = hideTip;
  canvas.onpointermove = (event) => {
    const frame = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
    const rack = DATA.floor.racks.findIndex((spot) => { const [x, y] = place(spot); return Math.hypot(px - x, py - y) <= dot + 4; });
    if (rack < 0) { hideTip(); return; }
    const live = activeBetween(film, clock.at, clock.at).filter((k) => film.src[k] === rack || film.dst[k] === rack);
    const lanes = DATA.floor.lanes;
    showTip(event.clientX, event.clientY, `Rack ${rack} (ring ${Math.floor(rack / lanes)}, lane ${rack % lanes})`, live.length
      ? live.map((k) => [film.src[k] === rack ? `sends to ${film.dst[k]}` : `receives from ${film.src[k]}`, DATA.floor.subbands[film.subband[k]], subbandColour(film.subband[k])])
      : [["THz", "idle"]]);
  };
}
