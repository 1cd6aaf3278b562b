// The strip above the slider: how busy THz and fibre are over the whole iteration.
const strips = new Map(); // drawn once per policy, size and theme; then only the cursor moves
function paintActivity(target, width, film) {
  const height = 54, label = "Active THz links and fibre load over the iteration";
  const { canvas, pen } = canvasIn(target, width, height, label);
  const key = `${canvas.width} ${root.dataset.theme}`;
  const kept = strips.get(film);
  if (kept && kept.key === key) {
    pen.drawImage(kept.image, 0, 0, width, height);
  } else {
    paintStrip(pen, width, height, film);
    const image = make(null, "canvas", { width: canvas.width, height: canvas.height });
    image.getContext("2d").drawImage(canvas, 0, 0);
    strips.set(film, { key, image });
  }
  pen.fillStyle = css("--accent");
  pen.fillRect((clock.at / film.end) * width - 1, 0, 2, height);
  return film.spans.length + film.steps.length;
}
function paintStrip(pen, width, height, film) {
  const top = largestOf([1, ...film.busy]), columns = Math.floor(width);
  const totals = film.spans.map((span) => span.own.reduce((a, b) => a + b, 0));
  const most = largestOf([1, ...totals]);
  pen.fillStyle = css("--fibre");
  pen.globalAlpha = 0.4;
  film.spans.forEach((s, k) => {
    const [a, b] = [s.start, s.end].map((at) => (at / film.end) * width);
    const tall = (totals[k] / most) * (height - 4);
    pen.fillRect(a, height - tall, Math.max(0.5, b - a), tall);
  });
  pen.globalAlpha = 1;
  pen.fillStyle = css("--thz");
  for (let c = 0; c < columns; c += 1) {
    const from = Math.floor((c / columns) * BINS);
    const to = Math.max(from + 1, Math.floor(((c + 1) / columns) * BINS));
    const peak = largestOf(film.busy.slice(from, to));
    pen.fillRect(c, height - (peak / top) * (height - 4), 1, (peak / top) * (height - 4));
  }
}
