// Finds the figures' places and fills them; tells when it is done, or why it could not.

const MAKERS = {
  anatomy, series: seriesFigure, spectrum: spectrumFigure, boxes: boxesFigure, heat: heatFigure, load: loadFigure, truth: truthFigure,
};

/** Zooming ends when the visible range is this many of the finest buckets. */
const FINEST_BUCKETS = 24;

const darkMode = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return darkMode.matches && !document.documentElement.classList.contains("on-paper");
}

function redraw() {
  for (const plot of plots.values()) plot.draw();
}

async function start() {
  const data = JSON.parse(document.getElementById("description").textContent);
  const buffer = await inflate(document.getElementById("numbers").textContent);
  const numbers = new Numbers(buffer, data.arrays);
  const widths = data.series.flatMap((s) => s.levels.map((l) => l.width));
  const view = new TimeView(data.span, FINEST_BUCKETS * Math.min(...widths, 1e9));
  for (const figure of document.querySelectorAll("figure[data-kind]")) {
    MAKERS[figure.dataset.kind](figure, data, numbers, view).draw();
  }
  darkMode.addEventListener("change", redraw);
  // Paper is white: figures must not be printed for a dark screen.
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("on-paper");
    redraw();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("on-paper");
    redraw();
  });
}

window.truetail = { ready: false, trouble: null, figures: {} };
start().catch((error) => {
  const words = `The figures could not be drawn (${error.message}). All numbers are in the tables; a browser of 2023 or later draws them.`;
  Object.assign(document.getElementById("trouble"), { hidden: false, textContent: words });
  window.truetail.trouble = String(error.stack ?? error);
}).finally(() => {
  window.truetail.ready = true;
});
