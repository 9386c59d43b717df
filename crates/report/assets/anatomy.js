// Where the time goes: for each quantile one bar of shares.

const PARTS = [
  ["poolWait", "pool-wait", "pool wait"],
  ["lag", "lag", "lag"],
  ["service", "service", "service"],
  ["pickUp", "pick-up", "pick-up"],
];
const BAR_STEP = 30;

function anatomy(figure, data) {
  const rows = data.anatomy.map((row) => {
    const parts = PARTS.map(([key]) => row[key] ?? 0);
    return { ...row, parts, sum: parts.reduce((a, b) => a + b, 0) };
  });
  const draw = (plot) => {
    const { at, pen, colours } = plot;
    const x = linearScale([0, 1], [at.left, at.right]);
    const ticks = plot.narrow ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
    drawBottomAxis(plot, x, ticks, percentWords, "share of the whole", true);
    plot.state.drawn = 0;
    rows.forEach((row, index) => {
      const top = at.top + index * BAR_STEP + 4;
      const middle = top + (BAR_STEP - 8) / 2;
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      pen.fillStyle = colours.ink;
      pen.fillText(row.quantile, at.left - 10, middle);
      pen.textAlign = "left";
      pen.fillText(timeWords(row.whole), at.right + 10, middle);
      plot.state.drawn += drawShares(plot, x, row, top, BAR_STEP - 8);
    });
  };
  const hover = (plot, px, py) => {
    const row = rows[Math.floor((py - plot.at.top) / BAR_STEP)];
    if (!row) return null;
    const lines = PARTS.filter(([key]) => row[key] !== null).map(([key, , name]) => {
      const share = row.sum > 0 ? (100 * row[key]) / row.sum : 0;
      return `${name}: ${timeWords(row[key])} (${share.toFixed(1)} %)`;
    });
    return [`${row.quantile}: ${timeWords(row.whole)}`, ...lines, `mean of ${countWords(row.requests)} requests`];
  };
  const plot = new Plot(figure, {
    height: () => rows.length * BAR_STEP + 52,
    margins: (narrow) => ({ left: narrow ? 52 : 60, right: narrow ? 66 : 84, top: 4, bottom: 48 }),
    draw,
    hover,
  });
  const present = PARTS.filter(([key]) => rows.some((row) => row[key] !== null));
  const whose = (key) => (key === "poolWait" ? "no session was free" : "the harness’s own");
  plot.legend(present.map(([key, colour, name]) => [
    "box", colour, key === "service" ? "service (the database)" : `${name} (${whose(key)})`,
  ]));
  const absent = rows.every((row) => row.pickUp === null);
  if (absent) plot.legendBox.append(" No kernel stamps: pick-up is part of the service here.");
  return plot;
}

/** The number of parts wide enough to be seen; a share that fits is written into its part. */
function drawShares(plot, x, row, top, height) {
  const { pen, colours } = plot;
  if (row.sum <= 0) return 0;
  let [sum, drawn] = [0, 0];
  PARTS.forEach(([, colour], index) => {
    const left = x(sum / row.sum);
    sum += row.parts[index];
    const width = x(sum / row.sum) - left;
    if (width <= 0) return;
    drawn += 1;
    pen.fillStyle = colours[colour.replace(/-(\w)/g, (_, c) => c.toUpperCase())];
    pen.fillRect(left, top, Math.max(width - (width > 4 ? 1 : 0), 0.5), height);
    if (width < 44) return;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = "#fff";
    pen.fillText(`${((100 * row.parts[index]) / row.sum).toFixed(0)} %`, left + width / 2, top + height / 2);
  });
  return drawn;
}
