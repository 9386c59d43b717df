// Offered and achieved load, and failures.

function loadFigure(figure, data, numbers, view) {
  const arrays = Object.entries(data.load).map(([name, i]) => [name, i === null ? null : numbers.get(i)]);
  const load = Object.fromEntries(arrays);
  const most = Math.max(1, ...load.achieved, ...(load.offered ?? []));
  const failed = load.failed.some((n) => n > 0);
  let shown = null;
  const draw = (plot) => {
    const { at, state } = plot;
    const x = view.scale(plot);
    const y = linearScale([0, most * 1.06], [at.bottom, at.top]);
    drawBackdrop(plot, x, data);
    drawLeftAxis(plot, y, linearTicks(y.domain, at.height / 40).ticks, tickCount, "requests per second");
    view.drawAxis(plot, x);
    plot.clipped(() => {
      if (failed) drawSteps(plot, load.at, load.failed, x, y, plot.colours.failed, true);
      state.drawn = drawSteps(plot, load.at, load.achieved, x, y, plot.colours.service);
      if (load.offered) drawSteps(plot, load.at, load.offered, x, y, plot.colours.ink, false, [4, 5]);
    });
    shown = { x };
    state.visible = [view.low, view.high];
  };
  const plot = new Plot(figure, {
    height: (width) => (width < 560 ? 220 : 250),
    margins: (narrow) => ({ left: narrow ? 58 : 66, right: 12, top: 40, bottom: 48 }),
    draw,
    hover: (_, px) => loadLines(load, data, shown.x, px),
  });
  view.attach(plot);
  plot.legend([
    ...(load.offered ? [["dashes", "ink", "offered"]] : []),
    ["line", "service", "achieved (completed, however)"],
    ...(failed ? [["box", "failed", "failed: errors, timeouts, unfinished"]] : []),
    ...backdropKeys(data),
  ]);
  return plot;
}

/** A rate holds from its step's begin to the next one's; the number of steps drawn. */
function drawSteps(plot, at, rates, x, y, colour, filled = false, dash = []) {
  const { pen } = plot;
  const first = Math.max(0, firstFrom(at, x.domain[0]) - 1);
  const last = firstFrom(at, x.domain[1]);
  const width = at.length > 1 ? at[1] - at[0] : x.domain[1];
  pen.beginPath();
  if (filled) pen.moveTo(x(at[first]), y(0));
  for (let i = first; i < last; i += 1) {
    pen.lineTo(x(at[i]), y(rates[i]));
    pen.lineTo(x(Math.min(at[i] + width, plot.view.full[1])), y(rates[i]));
  }
  if (filled) {
    pen.lineTo(x(Math.min(at[last - 1] + width, plot.view.full[1])), y(0));
    pen.fillStyle = colour;
    pen.fill();
  } else {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.75;
    pen.setLineDash(dash);
    pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 1;
  }
  return last - first;
}

function loadLines(load, data, x, px) {
  const index = Math.max(0, firstFrom(load.at, x.invert(px) + 1e-6) - 1);
  const lines = [momentWords(load.at[index], x.domain[1] - x.domain[0])];
  if (load.offered) lines.push(`offered ${rateWords(load.offered[index])}`);
  lines.push(`achieved ${rateWords(load.achieved[index])}`);
  if (load.failed[index] > 0) lines.push(`failed ${rateWords(load.failed[index])}`);
  return [...lines, ...backdropLines(x, px, data)];
}
