// Counts over time and duration.

/** Light to dark on white paper, dark to light on black. */
const RAMPS = {
  light: [[178, 209, 235], [124, 188, 220], [49, 130, 189], [8, 69, 148], [6, 30, 80]],
  dark: [[38, 66, 104], [38, 98, 140], [54, 150, 180], [150, 210, 160], [253, 240, 160]],
};

function rampColour(ramp, share) {
  const place = Math.min(share, 1) * (ramp.length - 1);
  const index = Math.min(Math.floor(place), ramp.length - 2);
  const mixed = ramp[index].map((low, i) => Math.round(low + (place - index) * (ramp[index + 1][i] - low)));
  return `rgb(${mixed.join(" ")})`;
}

/** Visible columns, summed where several share a pixel, so that a lone cell is never skipped. */
function visibleColumns(map, x, at) {
  const [low, high] = x.domain;
  const first = Math.max(0, Math.floor((low - map.begin) / map.width));
  const last = Math.min(map.columns - 1, Math.floor((high - map.begin) / map.width));
  const group = Math.max(1, Math.ceil((last - first + 1) / at.width));
  const columns = [];
  for (let c = first; c <= last; c += group) {
    const until = Math.min(c + group, last + 1);
    const counts = new Float64Array(map.rows);
    for (let i = c * map.rows; i < until * map.rows; i += 1) counts[i % map.rows] += map.counts[i];
    columns.push({ begin: map.begin + c * map.width, end: map.begin + until * map.width, counts });
  }
  return columns;
}

function heatFigure(figure, data, numbers, view) {
  const description = data.heatMaps[Number(figure.dataset.index)];
  const map = { ...description, counts: numbers.get(description.counts) };
  let shown = null;
  const draw = (plot) => {
    const { at, state } = plot;
    const x = view.scale(plot);
    const y = logScale(logDomain(map.limits[0], map.limits[map.rows]), [at.bottom, at.top]);
    const columns = visibleColumns(map, x, at);
    const most = columns.reduce((high, c) => Math.max(high, ...c.counts), 1);
    const ramp = RAMPS[isDark() ? "dark" : "light"];
    drawBackdrop(plot, x, data);
    plot.clipped(() => {
      state.drawn = drawCells(plot, map, columns, x, y, (n) => rampColour(ramp, Math.log(n) / Math.log(Math.max(most, 2))));
    });
    drawLeftAxis(plot, y, logTicks(y.domain, at.height / 34), tickTime, `${map.measure} (logarithmic)`);
    view.drawAxis(plot, x);
    drawRamp(plot, ramp, most);
    shown = { x, y, columns };
    Object.assign(state, { visible: [view.low, view.high], most });
  };
  const plot = new Plot(figure, {
    height: (width) => (width < 560 ? 280 : 320),
    margins: (narrow) => ({ left: narrow ? 58 : 66, right: 12, top: 40, bottom: 48 }),
    draw,
    hover: (_, px, py) => heatLines(map, data, shown, px, py),
  });
  view.attach(plot);
  return plot;
}

/** A cell is never smaller than two pixels either way: a lone request must be seen. */
function drawCells(plot, map, columns, x, y, colour) {
  let drawn = 0;
  for (const { begin, end, counts } of columns) {
    const left = Math.floor(x(begin));
    const width = Math.max(Math.ceil(x(end)) - left, 2);
    counts.forEach((n, row) => {
      if (n === 0) return;
      const top = Math.floor(y(map.limits[row + 1]));
      plot.pen.fillStyle = colour(n);
      plot.pen.fillRect(left, top, width, Math.max(Math.ceil(y(map.limits[row])) - top, 2));
      drawn += 1;
    });
  }
  return drawn;
}

/** The key: how many requests a colour stands for. */
function drawRamp(plot, ramp, most) {
  const { pen, at, colours } = plot;
  const width = plot.narrow ? 60 : 110;
  const words = `${countWords(most)} requests`;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "right";
  pen.fillStyle = colours.muted;
  pen.fillText(words, at.right, 12);
  const left = at.right - pen.measureText(words).width - width - 8;
  pen.fillText("1", left - 6, 12);
  for (let i = 0; i < width; i += 1) {
    pen.fillStyle = rampColour(ramp, i / width);
    pen.fillRect(left + i, 3, 1, 10);
  }
}

function heatLines(map, data, { x, y, columns }, px, py) {
  const moment = x.invert(px);
  const column = columns.find((c) => moment >= c.begin && moment < c.end);
  const row = Math.max(0, firstFrom(map.limits, y.invert(py)) - 1);
  if (!column || row >= map.rows) return null;
  const range = x.domain[1] - x.domain[0];
  return [
    `${momentWords(column.begin, range)} to ${momentWords(column.end, range)}`,
    `${timeWords(map.limits[row])} to ${timeWords(map.limits[row + 1])}: ${countWords(column.counts[row])} requests`,
    ...backdropLines(x, px, data),
  ];
}
