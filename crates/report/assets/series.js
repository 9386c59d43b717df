// A measure over time: band of the pyramid, sampled points, sliding mean, extremes.

/** Decodes what a series draws; levels are finest first. */
function readSeries(description, numbers) {
  const levels = description.levels.map(({ width, max, range }) => ({
    width,
    max: numbers.get(max),
    range: numbers.get(range),
  }));
  const arrays = (of) => Object.fromEntries(Object.entries(of).map(([name, index]) => [name, numbers.get(index)]));
  return {
    ...description,
    levels,
    sampled: arrays(description.sampled),
    mean: arrays(description.mean),
    extremes: arrays(description.extremes),
  };
}

/** The coarsest level that still has a bucket for each pixel; the finest where none has. */
function levelFor(series, perPixel) {
  let best = 0;
  series.levels.forEach((level, index) => {
    if (level.width <= perPixel) best = index;
  });
  return best;
}

/**
 * Least and greatest code for each column of pixels, `ABSENT` where there is no request. A bucket wider than a
 * pixel fills all columns that it covers.
 */
function columnsOf(series, level, x, at) {
  const { width, max, range } = series.levels[level];
  const count = Math.ceil(at.width);
  const least = new Uint16Array(count).fill(ABSENT);
  const most = new Uint16Array(count).fill(ABSENT);
  const [low, high] = x.domain;
  const first = Math.max(0, Math.floor((low - series.begin) / width));
  const last = Math.min(max.length - 1, Math.floor((high - series.begin) / width));
  for (let i = first; i <= last; i += 1) {
    if (max[i] === ABSENT) continue;
    const begin = x(series.begin + i * width) - at.left;
    const from = Math.max(0, Math.min(count - 1, Math.floor(begin)));
    const until = Math.max(from, Math.min(count - 1, Math.ceil(x(series.begin + (i + 1) * width) - at.left) - 1));
    // A bucket narrower than a pixel belongs to the column that it begins in.
    for (let c = from; c <= (width > x.perPixel ? until : from); c += 1) {
      if (most[c] === ABSENT || max[i] > most[c]) most[c] = max[i];
      if (least[c] === ABSENT || max[i] - range[i] < least[c]) least[c] = max[i] - range[i];
    }
  }
  return { least, most };
}

/** Least and greatest nanoseconds of all columns; null where nothing is visible. */
function reachOf({ least, most }) {
  let [low, high] = [ABSENT, -1];
  for (let c = 0; c < most.length; c += 1) {
    if (most[c] === ABSENT) continue;
    low = Math.min(low, least[c]);
    high = Math.max(high, most[c]);
  }
  return high < 0 ? null : [decoded(low), decoded(high)];
}

function drawBand(plot, columns, y) {
  const { pen, at, colours } = plot;
  pen.fillStyle = colours.band;
  let drawn = 0;
  columns.most.forEach((code, c) => {
    if (code === ABSENT) return;
    const [top, bottom] = [y(decoded(code)), y(decoded(columns.least[c]))];
    const height = Math.max(bottom - top, 1.5);
    pen.fillRect(at.left + c, (top + bottom - height) / 2, 1, height);
    drawn += 1;
  });
  return drawn;
}

function drawSampled(plot, series, x, y) {
  const { at, value } = series.sampled;
  const [low, high] = x.domain;
  const [first, last] = [firstFrom(at, low), firstFrom(at, high)];
  plot.pen.fillStyle = plot.colours.point;
  for (let i = first; i < last; i += 1) plot.pen.fillRect(x(at[i]) - 0.75, y(decoded(value[i])) - 0.75, 1.5, 1.5);
  return last - first;
}

function drawMean(plot, series, x, y) {
  const { at, value } = series.mean;
  const [low, high] = x.domain;
  const first = Math.max(0, firstFrom(at, low) - 1);
  const last = Math.min(at.length, firstFrom(at, high) + 1);
  const { pen } = plot;
  pen.strokeStyle = plot.colours.mean;
  pen.lineWidth = 1.75;
  pen.lineJoin = "round";
  pen.beginPath();
  for (let i = first; i < last; i += 1) pen.lineTo(x(at[i]), y(value[i]));
  pen.stroke();
  pen.lineWidth = 1;
  return Math.max(0, last - first);
}

/** Dots; crosses where the request did not end well. */
function drawExtremes(plot, series, x, y) {
  const { at, value, outcome } = series.extremes;
  const [low, high] = x.domain;
  let drawn = 0;
  for (let i = 0; i < at.length; i += 1) {
    if (at[i] < low || at[i] > high) continue;
    drawn += 1;
    const [px, py] = [x(at[i]), y(value[i])];
    if (outcome[i] === 0) {
      plot.dot(px, py, 1.8, plot.colours.extreme);
    } else {
      plot.line(px - 2.5, py - 2.5, px + 2.5, py + 2.5, plot.colours.failed);
      plot.line(px - 2.5, py + 2.5, px + 2.5, py - 2.5, plot.colours.failed);
    }
  }
  return drawn;
}

/** The longest and the shortest request of the whole run, where they are visible. */
function drawOutermost(plot, series, x, y) {
  for (const [pair, size, name] of [[series.most, -5, "max"], [series.least, 5, "min"]]) {
    if (!pair || pair[0] < x.domain[0] || pair[0] > x.domain[1]) continue;
    const [px, py] = [x(pair[0]), y(pair[1])];
    plot.triangle(px, py + size * 1.4, size, plot.colours.ink);
    const right = px > plot.at.right - 110;
    plot.label(`${name} ${timeWords(pair[1])}`, px + (right ? -10 : 10), py + size * 1.6, right ? "right" : "left");
  }
}

function seriesFigure(figure, data, numbers, view) {
  const series = readSeries(data.series[Number(figure.dataset.index)], numbers);
  let shown = null;
  const draw = (plot) => {
    const { at, state } = plot;
    const x = view.scale(plot);
    x.perPixel = (view.high - view.low) / at.width;
    const level = levelFor(series, x.perPixel);
    const columns = columnsOf(series, level, x, at);
    const reach = reachOf(columns);
    const y = logScale(reach ? logDomain(...reach) : [1, 10], [at.bottom, at.top]);
    drawBackdrop(plot, x, data);
    const ticks = logTicks(y.domain, at.height / 34);
    drawLeftAxis(plot, y, ticks, tickTime, `${series.measure} (logarithmic)`);
    view.drawAxis(plot, x);
    plot.clipped(() => {
      state.drawn = drawBand(plot, columns, y);
      state.sampled = drawSampled(plot, series, x, y);
      state.mean = drawMean(plot, series, x, y);
      state.extremes = drawExtremes(plot, series, x, y);
    });
    drawOutermost(plot, series, x, y);
    shown = { x, y, columns };
    Object.assign(state, { visible: [view.low, view.high], level, levels: series.levels.length, reach });
    state.width = series.levels[level].width;
  };
  const plot = new Plot(figure, {
    height: (width) => (width < 560 ? 280 : 340),
    margins: (narrow) => ({ left: narrow ? 58 : 66, right: 12, top: 40, bottom: 48 }),
    draw,
    hover: (plot, px, py) => seriesLines(plot, series, data, shown, px, py),
  });
  view.attach(plot);
  plot.legend(seriesKeys(series, data));
  return plot;
}

function seriesKeys(series, data) {
  const { extremes, sampled, extremesTotal, share, limits } = series;
  const of = extremesTotal > extremes.at.length ? `the ${countWords(extremes.at.length)} farthest of ` : "";
  const limit = `below ${timeWords(limits[0])} or above ${timeWords(limits[1])}`;
  const every = share >= 1 ? "all others" : `${countWords(sampled.at.length)} others, drawn at random`;
  return [
    ["box", "band", "shortest to longest"],
    ["dot", "point", every],
    ["line", "mean", "mean of 1,000 neighbours"],
    ["dot", "extreme", `${of}${countWords(extremesTotal)} extremes (${limit})`],
    ...(extremes.outcome.some((o) => o !== 0) ? [["dot", "failed", "extreme that did not end ok (×)"]] : []),
    ...backdropKeys(data),
  ];
}

/** The extreme within a few pixels, else the band at this moment. */
function seriesLines(plot, series, data, { x, y, columns }, px, py) {
  const moment = x.invert(px);
  const lines = [momentWords(moment, x.domain[1] - x.domain[0])];
  const near = nearestExtreme(series, x, y, px, py);
  if (near >= 0) {
    const e = series.extremes;
    lines[0] = momentWords(e.at[near], 1e6);
    lines.push(`extreme: ${timeWords(e.value[near])}`, `${data.operations[e.op[near]] ?? "?"}, request ${e.seq[near]}`);
    lines.push(`ended ${data.outcomes[e.outcome[near]]}${e.client[near] ? `, client ${e.client[near]}` : ""}`);
    return [...lines, ...backdropLines(x, px, data)];
  }
  const c = Math.min(Math.floor(px - plot.at.left), columns.most.length - 1);
  if (columns.most[c] === ABSENT) {
    lines.push("no request here");
  } else {
    const [least, most] = [decoded(columns.least[c]), decoded(columns.most[c])];
    lines.push(least === most ? timeWords(most) : `from ${timeWords(least)} to ${timeWords(most)}`);
  }
  const after = firstFrom(series.mean.at, moment);
  if (after < series.mean.at.length) lines.push(`sliding mean ${timeWords(series.mean.value[after])}`);
  return [...lines, ...backdropLines(x, px, data)];
}

function nearestExtreme({ extremes: { at, value } }, x, y, px, py) {
  let [best, distance] = [-1, 7];
  for (let i = 0; i < at.length; i += 1) {
    const off = Math.hypot(x(at[i]) - px, y(value[i]) - py);
    if (off < distance) [best, distance] = [i, off];
  }
  return best;
}
