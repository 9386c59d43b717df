// What lies behind every figure over time: phases and events.

const OUTAGES = ["outage", "connection-lost", "reconnected"];

const PAUSE = "jvm-pause";

function eventColour(kind, colours) {
  if (kind === PAUSE) return colours.pause;
  return OUTAGES.includes(kind) ? colours.outage : colours.event;
}

/** Warm-up is shaded, phases are parted by lines and named above; events are bands and marks. */
function drawBackdrop(plot, x, data) {
  const { pen, at, colours } = plot;
  const [low, high] = x.domain;
  const from = (ns) => Math.max(at.left, Math.min(at.right, x(ns)));
  let free = at.left;
  for (const { name, warmUp, begin, end } of data.phases) {
    const [left, right] = [from(begin ?? low), from(end ?? high)];
    if (right <= left) continue;
    if (warmUp) {
      pen.fillStyle = colours.warmUp;
      pen.fillRect(left, at.top, right - left, at.height);
    }
    if (begin > low) plot.line(Math.round(left) + 0.5, at.top - 4, Math.round(left) + 0.5, at.bottom, colours.axis);
    const room = right - Math.max(left, free) - 8;
    if (room < 24) continue;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = colours.muted;
    const text = plot.fitted(name, room);
    pen.fillText(text, Math.max(left, free) + 4, at.top - 6);
    free = Math.max(left, free) + 4 + pen.measureText(text).width;
  }
  drawEvents(plot, x, data.events);
}

/** Events of one pixel are drawn once: ten thousand of them are no more work than a thousand pixels. */
function drawEvents(plot, x, events) {
  const { pen, at, colours } = plot;
  const [low, high] = x.domain;
  let [last, drawn] = [-1, 0];
  for (const [kind, begin, end] of events) {
    if (end < low || begin > high) continue;
    const left = Math.max(at.left, x(begin));
    const width = Math.min(at.right, x(end)) - left;
    const pixel = Math.round(left);
    if (width < 1 && pixel === last) continue;
    last = pixel;
    drawn += 1;
    pen.fillStyle = eventColour(kind, colours);
    if (width >= 1) {
      pen.globalAlpha = 0.18;
      pen.fillRect(left, at.top, width, at.height);
      pen.globalAlpha = 1;
      pen.fillRect(left, at.top, width, 3);
    } else {
      pen.globalAlpha = 0.55;
      pen.fillRect(pixel, at.top, 1, at.height);
      pen.globalAlpha = 1;
      // Pauses come by the hundred: a short stroke for each is told apart from the next one, a triangle is not.
      if (kind === PAUSE) pen.fillRect(pixel, at.top, 1, 7);
      else plot.triangle(pixel + 0.5, at.top + 3, -3.5, pen.fillStyle);
    }
  }
  plot.state.events = drawn;
}

/** What the tooltip says of the phase and events at a pixel. */
function backdropLines(x, pixel, data) {
  const moment = x.invert(pixel);
  const reach = x.invert(pixel + 3) - moment;
  const lines = [];
  const phase = data.phases.find((p) => moment >= (p.begin ?? 0) && moment < (p.end ?? Infinity));
  if (phase && data.phases.length > 1) lines.push(`phase ${phase.name}`);
  const near = data.events.filter(([, begin, end]) => begin - reach <= moment && end + reach >= moment);
  for (const [kind, begin, end, subject, detail] of near.slice(0, 3)) {
    const length = end > begin ? ` for ${timeWords(end - begin)}` : "";
    lines.push(`${kind}${length}${subject ? ` of ${subject}` : ""}${detail ? `: ${detail}` : ""}`);
  }
  if (near.length > 3) lines.push(`… ${near.length - 3} more events`);
  return lines;
}

/** Keys of the legend for what a recording has of phases and events. */
function backdropKeys(data) {
  const keys = [];
  if (data.phases.some((p) => p.warmUp)) keys.push(["box", "warm-up", "warm-up (does not count)"]);
  if (data.events.some(([kind]) => OUTAGES.includes(kind))) keys.push(["box", "outage", "outage or reconnect"]);
  if (data.events.some(([kind]) => kind === PAUSE)) keys.push(["box", "pause", "pause of a JVM"]);
  if (data.events.some(([kind]) => kind !== PAUSE && !OUTAGES.includes(kind))) keys.push(["box", "event", "event"]);
  return keys;
}
