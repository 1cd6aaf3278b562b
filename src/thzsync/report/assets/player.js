// The replay's controls: play, pause, step, speed, slider.
function replayPlayer(box, current) {
  const ui = playerMarkup(box);
  const state = { playing: false, last: 0, from: 0 };
  const film = () => decode(current());
  const reduced = () => still.matches;

  function paint() {
    const now = film();
    const { shown, loads, place, dot, canvas } = paintFloor(
      ui.floor,
      ui.floor.clientWidth,
      now,
      state.from,
      clock.at,
    );
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
    const next =
      direction > 0
        ? (steps.find((s) => s > clock.at) ?? end)
        : ([...steps].reverse().find((s) => s < clock.at) ?? 0);
    go(next);
  }
  const speed = () => (film().ticksPerMs * Number(ui.speed.value)) / 1000; // ticks per real ms
  function tick(time) {
    if (!state.playing) return;
    if (reduced()) {
      // no motion: a still picture every 600 ms
      if (time - state.last >= 600) {
        const jump = speed() * 600;
        state.last = time;
        go(clock.at + jump);
      }
    } else {
      const passed = Math.min(100, time - state.last);
      state.last = time;
      const next = clock.at + passed * speed();
      go(next, next - Math.max(passed, 110) * speed());
    }
    if (clock.at >= film().end) pause();
    else requestAnimationFrame(tick);
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
  ui.slider.addEventListener("input", () => {
    pause();
    go(Number(ui.slider.value));
  });
  ui.slider.addEventListener("keydown", (event) => {
    const leap = film().end / 20;
    const keys = {
      ArrowRight: () => step(1),
      ArrowUp: () => step(1),
      ArrowLeft: () => step(-1),
      ArrowDown: () => step(-1),
      PageUp: () => go(clock.at + leap),
      PageDown: () => go(clock.at - leap),
      " ": () => ui.play.click(),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  ui.strip.addEventListener("click", (event) => {
    const frame = ui.strip.getBoundingClientRect();
    pause();
    go(((event.clientX - frame.left) / frame.width) * film().end);
  });
  chart(
    ui.floor,
    () => {
      paint();
      return ui.floor.dataset.marks;
    },
    ["closeup"],
  );
  chart(ui.strip, (target, width) => paintActivity(target, width, film()), ["closeup"]);
  return {
    reset() {
      // begin where something happens: the middle of the first busy stretch
      pause();
      const { steps, busy, end } = film();
      const top = busy.reduce((a, b) => Math.max(a, b), 0);
      const first = busy.findIndex((b) => b > 0.6 * top);
      const target = first >= 0 ? ((first + 0.5) / BINS) * end : 0;
      go(steps.find((s) => s >= target) ?? target);
      const pace = end / film().ticksPerMs / 40;
      const choices = [...ui.speed.options].map((o) => Number(o.value));
      ui.speed.value = String(
        choices.reduce((a, b) =>
          Math.abs(Math.log(b / pace)) < Math.abs(Math.log(a / pace)) ? b : a,
        ),
      );
    },
  };
}

function playerMarkup(box) {
  const tools = make(box, "div", { class: "tools", role: "group", "aria-label": "Replay" });
  const button = (text, label, extra = "") =>
    make(tools, "button", { type: "button", class: "button " + extra, "aria-label": label }, text);
  const back = button("‹ Step", "Step to the previous round");
  const play = button("▶ Play", "Play the replay", "main");
  play.id = "play";
  const forth = button("Step ›", "Step to the next round");
  const label = make(tools, "label", { class: "hint", style: "margin-left:8px" }, "speed ");
  const speed = make(label, "select", { "aria-label": "Speed: simulated milliseconds per second" });
  for (const pace of [0.5, 1, 2, 5, 10, 25, 50, 100, 250])
    make(speed, "option", { value: pace }, `${pace} ms per s`);
  const strip = make(box, "div", { id: "activity" });
  const slider = make(box, "input", {
    type: "range",
    id: "slider",
    min: 0,
    max: 1,
    step: 1,
    value: 0,
    "aria-label": "Time in the iteration",
  });
  const body = make(box, "div", { class: "replay" });
  const floor = make(body, "div", { id: "floor" });
  const side = make(body, "div", { class: "side" });
  const numbers = make(side, "div", { class: "readout" });
  const fields = [
    "time in the iteration",
    "active THz links",
    "THz throughput",
    "busiest fibre",
  ].map((name) => {
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
