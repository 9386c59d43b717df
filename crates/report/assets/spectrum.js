// The percentile spectrum: a value for each share of requests that took longer.

/** The maximum stands a little beyond the last percentile that its sample count has. */
const beyond = (q, n) => (q >= 1 ? 1.5 * n : 1 / (1 - q));

const SPECTRUM_TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999, 0.99999999];

function spectrumFigure(figure, data) {
  const spectra = data.spectra.map((s) => ({
    ...s,
    colour: s.key === "response_time" ? "response" : "service",
    points: s.points.map(([q, ns]) => [beyond(q, s.n), ns, q]),
  }));
  const floors = styled(data.floors).map((f) => ({ ...f, points: f.points.map(([q, ns]) => [1 / (1 - q), ns, q]) }));
  const own = spectra.flatMap((s) => s.points);
  const end = Math.max(...own.map(([x]) => x), 10);
  const all = [...own, ...floors.flatMap((f) => f.points.filter(([x]) => x <= end))];
  const reach = [Math.min(...all.map((p) => p[1])), Math.max(...all.map((p) => p[1]))];
  let scales = null;
  const draw = (plot) => {
    const { at } = plot;
    const x = logScale([1, end], [at.left, at.right]);
    const y = logScale(logDomain(...reach), [at.bottom, at.top]);
    scales = { x, y };
    drawDoubt(plot, x, data);
    drawLeftAxis(plot, y, logTicks(y.domain, at.height / 34), tickTime, "time (logarithmic)");
    const most = Math.max(...spectra.map((s) => s.n));
    const ticks = SPECTRUM_TICKS.map((q) => beyond(q, most)).filter((v) => x(end) - x(v) > 48);
    const name = (v) => (v === end ? "max" : percentWords(1 - 1 / v));
    drawBottomAxis(plot, x, [...ticks, end], name, "percentile: share of requests that took no longer", true);
    plot.state.dotted = [];
    plot.state.floors = floors.map((f) => drawFloor(plot, f, x, y, end));
    plot.state.drawn = spectra.reduce((sum, s) => sum + drawSpectrum(plot, s, x, y), 0);
    plot.state.believable = data.believable;
  };
  const plot = new Plot(figure, {
    height: (width) => (width < 560 ? 280 : 330),
    margins: (narrow) => ({ left: narrow ? 58 : 66, right: 26, top: 30, bottom: 48 }),
    draw,
    hover: (_, px) => [...spectrumLines(spectra, scales, px), ...floorLines(floors, scales, px)],
  });
  plot.legend([
    ...spectra.map((s) => ["line", s.colour, s.measure]),
    ...floors.map((f) => [f.dash[0] < 3 ? "dots" : "dashes", f.colour, `floor: ${f.name}`]),
    ["dots", "muted", `fewer than ${LEAST_BEYOND} requests beyond`],
    ...(data.believable === 1 ? [] : [["box", "doubt", `not shown to be the database’s own${reason(data)}`]]),
  ]);
  return plot;
}

const reason = (data) => (data.boundReason ? ` (${data.boundReason})` : "");

/** Shades what is not believable; the whole, where not even the median is. */
function drawDoubt(plot, x, data) {
  const { pen, at, colours } = plot;
  if (data.believable === 1) return;
  const left = data.believable === null ? at.left : x(1 / (1 - data.believable));
  pen.fillStyle = colours.doubt;
  pen.fillRect(left, at.top, at.right - left, at.height);
  if (data.believable === null) return;
  pen.setLineDash([4, 3]);
  plot.line(left, at.top - 6, left, at.bottom, colours.muted);
  pen.setLineDash([]);
  const words = `believable to p${Number((data.believable * 100).toPrecision(9))}`;
  const outside = left - pen.measureText(words).width < at.left;
  plot.label(words, left + (outside ? 6 : -6), at.top - 4, outside ? "left" : "right", colours.muted);
}

/** Requests that must lie beyond a quantile for it to say what to expect. */
const LEAST_BEYOND = 10;

/** How many of the points, from the first on, have enough requests beyond them. */
function carriedPoints({ points, n }) {
  const first = points.findIndex(([, , q]) => q >= 1 || n * (1 - q) < LEAST_BEYOND * (1 - 1e-9));
  return first < 0 ? points.length : first;
}

function drawCurve(plot, points, x, y, dash) {
  const { pen } = plot;
  pen.setLineDash(dash);
  pen.beginPath();
  for (const [at, ns] of points) pen.lineTo(x(at), y(ns));
  pen.stroke();
  pen.setLineDash([]);
}

function drawSpectrum(plot, spectrum, x, y) {
  const { pen, colours } = plot;
  const colour = colours[spectrum.colour];
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.lineJoin = "round";
  const carried = carriedPoints(spectrum);
  drawCurve(plot, spectrum.points.slice(0, carried), x, y, []);
  drawCurve(plot, spectrum.points.slice(Math.max(carried - 1, 0)), x, y, [1.5, 4.5]);
  plot.state.dotted.push([spectrum.key, spectrum.points.length - carried, spectrum.points[carried - 1]?.[2] ?? 0]);
  pen.lineWidth = 1.25;
  for (const [, q, , interval] of spectrum.quantiles) {
    if (!interval) continue;
    const [low, high] = interval;
    const px = x(beyond(q, spectrum.n));
    plot.line(px, y(low), px, y(high), colour);
    plot.line(px - 3, y(low), px + 3, y(low), colour);
    plot.line(px - 3, y(high), px + 3, y(high), colour);
  }
  pen.lineWidth = 1;
  const [at, ns] = spectrum.points[spectrum.points.length - 1];
  plot.dot(x(at), y(ns), 3, colour);
  return spectrum.points.length;
}

const DOTS = [1.5, 3];
const DASHES = [6, 4];

/** Each floor with a kind of line and a colour that no result has: what is asked for nothing has four of them. */
function styled(floors) {
  let noops = 0;
  return floors.map((f) => {
    if (f.kind === "null") return { ...f, colour: "point", dash: DOTS };
    if (f.kind === "echo") return { ...f, colour: "ink", dash: DASHES };
    const [colour, dash] = [["event", DOTS], ["event", DASHES], ["lag", DOTS], ["lag", DASHES]][noops % 4];
    noops += 1;
    return { ...f, colour, dash };
  });
}

/** Thin, so that nobody takes it for a result. Gives what was drawn. */
function drawFloor(plot, floor, x, y, end) {
  const points = floor.points.filter(([at]) => at <= end);
  plot.pen.strokeStyle = plot.colours[floor.colour];
  plot.pen.lineWidth = 1.25;
  drawCurve(plot, points, x, y, floor.dash);
  return [floor.name, points.length];
}

/** The floors' values at a place, as far as they reach. */
function floorLines(floors, { x }, px) {
  const at = x.invert(px);
  const reached = floors.filter((f) => f.points.length > 0 && f.points[f.points.length - 1][0] >= at * 0.999);
  return reached.map((f) => {
    const index = Math.min(firstFrom(f.points.map((p) => p[0]), at), f.points.length - 1);
    return `floor, ${f.name}: ${timeWords(f.points[index][1])}`;
  });
}

function spectrumLines(spectra, { x }, px) {
  const at = x.invert(px);
  const lines = [];
  let head = null;
  for (const s of spectra) {
    const index = Math.min(firstFrom(s.points.map((p) => p[0]), at), s.points.length - 1);
    const before = s.points[Math.max(index - 1, 0)];
    const near = Math.abs(x(before[0]) - px) < Math.abs(x(s.points[index][0]) - px) ? before : s.points[index];
    head ??= near[2] >= 1 ? "max" : `${Number((near[2] * 100).toPrecision(Math.ceil(Math.log10(near[0])) + 3))} %`;
    lines.push(`${s.measure}: ${timeWords(near[1])}`);
    const printed = s.quantiles.find(([, q]) => Math.abs(x(beyond(q, s.n)) - px) < 5);
    if (printed) {
      const [name, , point, interval, atLeast] = printed;
      const reach = interval ? `[${timeWords(interval[0])}, ${timeWords(interval[1])}]` : "no interval";
      lines.push(`  ${name} ${atLeast ? "≥ " : ""}${timeWords(point)} ${reach}`);
    }
  }
  return [head, ...lines];
}
