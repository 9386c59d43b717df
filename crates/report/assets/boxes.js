// Operations side by side: box plots that lie, with the marks of the tail.

const BOX_STEP = 52;
const MARKS = [["max", "100"], ["p99", "99"], ["p95", "95"], ["min", "0"]];

function boxesFigure(figure, data) {
  const rows = data.boxes;
  const longest = Math.max(...rows.map((r) => r.name.length));
  const reach = [Math.min(...rows.map((r) => r.min)), Math.max(...rows.map((r) => r.max))];
  const draw = (plot) => {
    const { at, pen, colours } = plot;
    const x = logScale(logDomain(...reach), [at.left, at.right]);
    const title = `${rows[0].measure} (logarithmic)`;
    drawBottomAxis(plot, x, logTicks(x.domain, at.width / 70), tickTime, title, true);
    plot.state.labels = [];
    rows.forEach((row, index) => {
      const middle = at.top + (index + 0.6) * BOX_STEP;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillStyle = colours.ink;
      pen.fillText(plot.fitted(row.name, at.left - 12), at.left - 10, middle);
      drawBox(plot, x, row, middle);
    });
    plot.state.drawn = rows.length;
  };
  const plot = new Plot(figure, {
    height: () => rows.length * BOX_STEP + 62,
    margins: (narrow) => ({ left: Math.min(longest * 7 + 24, narrow ? 104 : 220), right: 18, top: 6, bottom: 48 }),
    draw,
    hover: (plot, px, py) => boxLines(rows[Math.floor((py - plot.at.top - 5) / BOX_STEP)]),
  });
  return plot;
}

function drawBox(plot, x, row, middle) {
  const { pen, colours } = plot;
  const half = 9;
  plot.line(x(row.low), middle, x(row.high), middle, colours.ink);
  for (const end of [row.low, row.high]) plot.line(x(end), middle - 5, x(end), middle + 5, colours.ink);
  const width = Math.max(x(row.q3) - x(row.q1), 1.5);
  pen.fillStyle = colours.band;
  pen.fillRect(x(row.q1), middle - half, width, 2 * half);
  pen.strokeStyle = colours.service;
  pen.strokeRect(x(row.q1), middle - half, width, 2 * half);
  pen.lineWidth = 2.5;
  plot.line(x(row.median), middle - half, x(row.median), middle + half, colours.ink);
  pen.lineWidth = 1;
  drawMarks(plot, x, row, middle, half);
}

/** Diamonds with their names above; names that would touch stand beside each other, with a line to their mark. */
function drawMarks(plot, x, row, middle, half) {
  const { pen, colours } = plot;
  pen.fillStyle = colours.extreme;
  const marks = MARKS.filter(([key]) => row[key] !== null);
  for (const [key] of marks) {
    pen.beginPath();
    for (const [dx, dy] of [[0, -4.5], [4.5, 0], [0, 4.5], [-4.5, 0]]) pen.lineTo(x(row[key]) + dx, middle + dy);
    pen.fill();
  }
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const line = middle - half - 8;
  const labels = [];
  // From the right: each one keeps its place unless the one before it needs the room.
  let free = plot.width;
  for (const [key, name] of marks) {
    const mark = x(row[key]);
    const reach = pen.measureText(name).width / 2;
    const px = Math.min(mark, free - reach);
    free = px - reach - 5;
    if (mark - px > 2) plot.line(px, line + 2, mark, middle - 5, colours.muted);
    pen.fillStyle = colours.muted;
    pen.fillText(name, px, line);
    labels.push([name, px - reach, px + reach]);
  }
  plot.state.labels.push(labels);
}

function boxLines(row) {
  if (!row) return null;
  return [
    `${row.name}: ${countWords(row.n)} requests`,
    `middle half ${timeWords(row.q1)} to ${timeWords(row.q3)}, median ${timeWords(row.median)}`,
    `whiskers ${timeWords(row.low)} to ${timeWords(row.high)}`,
    [["min", row.min], ["p95", row.p95], ["p99", row.p99], ["max", row.max]]
      .filter(([, value]) => value !== null).map(([name, value]) => `${name} ${timeWords(value)}`).join(", "),
  ];
}
