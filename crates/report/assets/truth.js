// A store's truth and the measurement around the worst moment, and below how far they are apart.

/** Share of the height that the differences take, and the room above them, in pixels. */
const APART_SHARE = 0.27;
const APART_GAP = 30;

function truthFigure(figure, data, numbers) {
  const moment = data.truth;
  const [at, truth, measured] = [moment.at, moment.truth, moment.measured].map((i) => numbers.get(i));
  const apart = measured.map((ns, i) => ns - truth[i]);
  const domain = [at[0], Math.max(at[at.length - 1], at[0] + 1)];
  const times = [Math.min(...truth, ...measured), Math.max(...truth, ...measured)];
  const [least, most] = [Math.min(0, ...apart), Math.max(1, ...apart)];
  const room = 0.06 * (most - least);
  const reach = [least - room, most + room];
  let x = null;
  const draw = (plot) => {
    const whole = plot.at;
    const split = whole.bottom - APART_SHARE * whole.height;
    x = linearScale(domain, [whole.left, whole.right]);
    plot.at = { ...whole, bottom: split - APART_GAP, height: split - APART_GAP - whole.top };
    const y = logScale(logDomain(...times), [plot.at.bottom, plot.at.top]);
    drawLeftAxis(plot, y, logTicks(y.domain, plot.at.height / 34), tickTime, `${moment.measure} (logarithmic)`);
    plot.line(whole.left, plot.at.bottom + 0.5, whole.right, plot.at.bottom + 0.5, plot.colours.axis);
    plot.clipped(() => drawTruth(plot, { at, truth, measured }, x, y));
    plot.at = { ...whole, top: split, height: whole.bottom - split };
    drawApart(plot, at, apart, x, reach);
    const { ticks, label, unit } = momentTicks(domain, whole.width / 90);
    drawBottomAxis(plot, x, ticks, label, `time since the start of the run (${unit})`);
    plot.at = whole;
    plot.state.drawn = at.length;
  };
  const plot = new Plot(figure, {
    height: (width) => (width < 560 ? 360 : 430),
    margins: (narrow) => ({ left: narrow ? 58 : 66, right: 12, top: 26, bottom: 48 }),
    draw,
    hover: (_, px) => truthLines({ at, truth, measured, apart }, x, px),
  });
  plot.legend([
    ["line", "service", "true, by the store"],
    ["dot", "extreme", "measured, by the client"],
    ["dot", "point", "measured − true"],
  ]);
  return plot;
}

function drawTruth(plot, { at, truth, measured }, x, y) {
  const { pen, colours } = plot;
  // The line on top: where both agree, it lies in the middle of the points.
  for (let i = 0; i < at.length; i += 1) plot.dot(x(at[i]), y(measured[i]), 2.2, colours.extreme);
  pen.strokeStyle = colours.service;
  pen.lineWidth = 1.25;
  pen.lineJoin = "round";
  pen.beginPath();
  for (let i = 0; i < at.length; i += 1) pen.lineTo(x(at[i]), y(truth[i]));
  pen.stroke();
  pen.lineWidth = 1;
}

const apartWords = (ns) => (ns === 0 ? "0" : `${ns < 0 ? "−" : "+"}${timeWords(Math.abs(ns))}`);

function drawApart(plot, at, apart, x, reach) {
  const { pen, colours } = plot;
  const y = linearScale(reach, [plot.at.bottom, plot.at.top]);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const tick of linearTicks(reach, plot.at.height / 22).ticks) {
    const py = Math.round(y(tick)) + 0.5;
    plot.line(plot.at.left, py, plot.at.right, py, tick === 0 ? colours.axis : colours.grid);
    pen.fillStyle = colours.muted;
    pen.fillText(apartWords(tick), plot.at.left - 8, py);
  }
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillText("measured − true", 0, plot.at.top - 12);
  for (let i = 0; i < at.length; i += 1) plot.dot(x(at[i]), y(apart[i]), 1.3, colours.point);
}

function truthLines({ at, truth, measured, apart }, x, px) {
  const after = Math.min(firstFrom(at, x.invert(px)), at.length - 1);
  const before = Math.max(after - 1, 0);
  const i = Math.abs(x(at[before]) - px) < Math.abs(x(at[after]) - px) ? before : after;
  return [
    momentWords(at[i], x.domain[1] - x.domain[0]),
    `true ${timeWords(truth[i])}`,
    `measured ${timeWords(measured[i])}`,
    `apart ${apartWords(apart[i])}`,
  ];
}
