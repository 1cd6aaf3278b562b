// The replay's controls: play, pause, step, speed, slider.
function replayPlayer(box, current) {
  const ui = playerMarkup(box);
  const film = () => decode(current());
  const player = { ui, film, playing: false, last: 0, from: 0 };
  const paint = () => paintNow(player, current());
  clock.listeners.push((now) => {
    if (player.from > now || !player.playing) player.from = Math.min(player.from, now);
    ui.slider.max = film().end;
    ui.slider.value = now;
    ui.slider.setAttribute("aria-valuetext", show(now / film().ticksPerMs, 6) + " milliseconds");
    if (ui.floor.clientWidth) paint();
  });
  wirePlayer(player);
  const drawFloor = () => {
    paint();
    return ui.floor.dataset.marks;
  };
  chart(ui.floor, drawFloor, ["closeup"]);
  chart(ui.strip, (target, width) => paintActivity(target, width, film()), ["closeup"]);
  return { reset: () => resetPlayer(player) };
}

function paintNow({ ui, film, from }, closeup) {
  const now = film(), width = ui.floor.clientWidth;
  const { shown, loads, plan, canvas } = paintFloor(ui.floor, width, now, from, clock.at);
  ui.floor.dataset.marks = DATA.floor.racks.length + shown.length;
  ui.floor.dataset.active = shown.length;
  ui.strip.dataset.marks = paintActivity(ui.strip, ui.strip.clientWidth, now);
  readout(ui, now, shown, loads, closeup);
  wireHover(canvas, now, loads, plan);
}
function go(player, ticksNow, from = ticksNow) {
  player.from = Math.max(0, from);
  clock.set(Math.max(0, Math.min(player.film().end, ticksNow)));
}
function step(player, direction) {
  pause(player);
  const { steps, end } = player.film();
  const later = steps.find((s) => s > clock.at) ?? end;
  const earlier = steps.findLast((s) => s < clock.at) ?? 0;
  go(player, direction > 0 ? later : earlier);
}
const ticksPerRealMs = ({ film, ui }) => (film().ticksPerMs * Number(ui.speed.value)) / 1000;
const STILL_MS = 600; // without motion: one still picture after another

function tick(player, time) {
  if (!player.playing) return;
  const speed = ticksPerRealMs(player), passed = time - player.last;
  if (!still.matches) {
    player.last = time;
    const next = clock.at + Math.min(100, passed) * speed;
    go(player, next, next - Math.max(Math.min(100, passed), 110) * speed);
  } else if (passed >= STILL_MS) {
    player.last = time;
    go(player, clock.at + speed * STILL_MS);
  }
  if (clock.at >= player.film().end) pause(player);
  else requestAnimationFrame((next) => tick(player, next));
}
function play(player) {
  if (clock.at >= player.film().end) go(player, 0);
  player.playing = true;
  player.last = performance.now();
  player.ui.play.textContent = "Pause";
  player.ui.play.setAttribute("aria-label", "Pause the replay");
  requestAnimationFrame((time) => tick(player, time));
}
function pause(player) {
  player.playing = false;
  player.ui.play.textContent = "▶ Play";
  player.ui.play.setAttribute("aria-label", "Play the replay");
}

function wirePlayer(player) {
  const { ui, film } = player;
  ui.play.addEventListener("click", () => (player.playing ? pause(player) : play(player)));
  ui.back.addEventListener("click", () => step(player, -1));
  ui.forth.addEventListener("click", () => step(player, 1));
  ui.slider.addEventListener("input", () => {
    pause(player);
    go(player, Number(ui.slider.value));
  });
  ui.slider.addEventListener("keydown", (event) => {
    const leap = film().end / 20;
    const keys = {
      ArrowRight: () => step(player, 1),
      ArrowUp: () => step(player, 1),
      ArrowLeft: () => step(player, -1),
      ArrowDown: () => step(player, -1),
      PageUp: () => go(player, clock.at + leap),
      PageDown: () => go(player, clock.at - leap),
      " ": () => ui.play.click(),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  ui.strip.addEventListener("click", (event) => {
    const frame = ui.strip.getBoundingClientRect();
    pause(player);
    go(player, ((event.clientX - frame.left) / frame.width) * film().end);
  });
}
// Begins where something happens, at a speed at which the iteration lasts about 40 seconds.
function resetPlayer(player) {
  pause(player);
  const { steps, busy, end, ticksPerMs } = player.film();
  const top = busy.reduce((a, b) => Math.max(a, b), 0);
  const first = busy.findIndex((b) => b > 0.6 * top);
  const target = first >= 0 ? ((first + 0.5) / BINS) * end : 0;
  go(player, steps.find((s) => s >= target) ?? target);
  const pace = end / ticksPerMs / 40;
  const far = (choice) => Math.abs(Math.log(choice / pace));
  const choices = [...player.ui.speed.options].map((option) => Number(option.value));
  player.ui.speed.value = String(choices.reduce((a, b) => (far(b) < far(a) ? b : a)));
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
  for (const pace of [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000])
    make(speed, "option", { value: pace }, `${pace} ms per s`);
  const strip = make(box, "div", { id: "activity" });
  const span = { type: "range", id: "slider", min: 0, max: 1, step: 1, value: 0 };
  const slider = make(box, "input", { ...span, "aria-label": "Time in the iteration" });
  const body = make(box, "div", { class: "replay" });
  const floor = make(body, "div", { id: "floor" });
  const side = make(body, "div", { class: "side" });
  const numbers = make(side, "div", { class: "readout" });
  const names = ["time in the iteration", "active THz links", "THz throughput", "busiest fibre"];
  const fields = names.map((name) => {
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
