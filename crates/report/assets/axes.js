// Scales from data to pixels, and where their ticks are.

/** A scale is a function from value to pixel, with `invert` for the way back. */
function linearScale([low, high], [from, to]) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (pixel) => low + ((pixel - from) / (to - from || 1)) * span;
  scale.domain = [low, high];
  return scale;
}

/** Values below the domain, zero among them, stand at its lower end. */
function logScale([low, high], [from, to]) {
  const inner = linearScale([Math.log10(low), Math.log10(high)], [from, to]);
  const scale = (value) => inner(Math.log10(Math.max(value, low)));
  scale.invert = (pixel) => 10 ** inner.invert(pixel);
  scale.domain = [low, high];
  return scale;
}

/** A domain for a log axis that leaves some room around the data. */
function logDomain(low, high) {
  const floor = Math.max(low, 1);
  const top = Math.max(high, floor * 1.5);
  const room = (top / floor) ** 0.09;
  return [floor / room, top * room];
}

const SECOND_STEPS = [1, 2, 5];
const LONG_STEPS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

/** The smallest of 1, 2, 5 · 10^k that is at least `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return (SECOND_STEPS.find((s) => s * power >= least * 0.999) ?? 10) * power;
}

/** Round values, at most about `most` of them. */
function linearTicks([low, high], most) {
  const step = niceStep((high - low) / Math.max(most, 1));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i += 1) ticks.push(i * step);
  return { ticks, step };
}

/** Moments in seconds, or round minutes and hours in a long run; `label` writes them. */
function momentTicks([low, high], most) {
  const [from, to] = [low / 1e9, high / 1e9];
  let step = niceStep((to - from) / Math.max(most, 1));
  if (step > 50) step = LONG_STEPS.find((s) => s >= (to - from) / most) ?? step;
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to; i += 1) ticks.push(i * step * 1e9);
  const long = step >= 60;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const two = (n) => String(n).padStart(2, "0");
  const clock = (s) => `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}`;
  const label = (ns) => (long ? clock(Math.round(ns / 1e9)) : (ns / 1e9).toFixed(decimals));
  return { ticks, label, unit: long ? "h:min" : "s" };
}

/** Powers of ten, with 2 and 5 (or all round values) between where there is room. */
function logTicks([low, high], most) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks([low, high], most).ticks;
  const mantissas = decades * 3 <= most + 2 ? [1, 2, 5] : decades * 1.5 <= most ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(most, 1)));
  const ticks = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k += 1) {
    if (k % every) continue;
    for (const m of mantissas) {
      const value = m * 10 ** k;
      if (value >= low && value <= high) ticks.push(value);
    }
  }
  return ticks;
}

/**
 * Draws horizontal grid lines and their labels on the left.
 * `at` is the plot's inner rectangle {left, top, right, bottom}.
 */
function drawLeftAxis(plot, scale, ticks, label, title) {
  const { pen, at, colours } = plot;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const tick of ticks) {
    const y = Math.round(scale(tick)) + 0.5;
    plot.line(at.left, y, at.right, y, colours.grid);
    pen.fillStyle = colours.muted;
    pen.fillText(label(tick), at.left - 8, y);
  }
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillStyle = colours.muted;
  pen.fillText(title, 0, 12);
}

/** Draws ticks and labels below; a label that would touch the one before it is left out. */
function drawBottomAxis(plot, scale, ticks, label, title, grid = false) {
  const { pen, at, colours } = plot;
  plot.line(at.left, at.bottom + 0.5, at.right, at.bottom + 0.5, colours.axis);
  pen.textAlign = "center";
  pen.textBaseline = "top";
  let free = 0;
  for (const tick of ticks) {
    const x = Math.round(scale(tick)) + 0.5;
    if (grid) plot.line(x, at.top, x, at.bottom, colours.grid);
    plot.line(x, at.bottom, x, at.bottom + 4, colours.axis);
    const text = label(tick);
    const half = pen.measureText(text).width / 2;
    if (x - half < free || x + half > plot.width) continue;
    pen.fillStyle = colours.muted;
    pen.fillText(text, x, at.bottom + 7);
    free = x + half + 8;
  }
  pen.textAlign = "right";
  pen.fillStyle = colours.muted;
  pen.fillText(title, at.right, at.bottom + 24);
}
