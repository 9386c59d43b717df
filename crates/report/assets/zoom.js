// The visible part of the run: one for all figures over time, so that a stall can be followed through them.

class TimeView {
  constructor(full, finest) {
    this.full = full;
    [this.low, this.high] = full;
    this.least = Math.min(full[1] - full[0], finest);
    this.plots = [];
  }

  get zoomed() {
    return this.low > this.full[0] || this.high < this.full[1];
  }

  /** Kept inside of the run, and not below the finest range that the data can show. */
  show(low, high) {
    const [begin, end] = this.full;
    const length = Math.min(Math.max(high - low, this.least), end - begin);
    const from = Math.min(Math.max((low + high - length) / 2, begin), end - length);
    [this.low, this.high] = [from, from + length];
    for (const plot of this.plots) plot.later();
    for (const button of document.querySelectorAll("button.whole")) button.hidden = !this.zoomed;
  }

  reset() {
    this.show(...this.full);
  }

  /** Zooms by a factor (above 1: in) around a moment that stays where it is. */
  around(moment, factor) {
    const low = moment - (moment - this.low) / factor;
    this.show(low, low + (this.high - this.low) / factor);
  }

  shift(share) {
    const by = share * (this.high - this.low);
    const bounded = Math.max(this.full[0] - this.low, Math.min(by, this.full[1] - this.high));
    this.show(this.low + bounded, this.high + bounded);
  }

  /** Makes a plot show this range and change it. */
  attach(plot) {
    plot.view = this;
    this.plots.push(plot);
    plot.canvas.tabIndex = 0;
    plot.canvas.classList.add("zooms");
    addDrag(plot, this);
    addKeys(plot, this);
    plot.canvas.addEventListener("dblclick", () => this.reset());
    plot.canvas.addEventListener("wheel", (e) => onWheel(e, plot, this), { passive: false });
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "whole", hidden: true, textContent: "Whole run" });
    button.addEventListener("click", () => this.reset());
    plot.figure.querySelector("h3").append(button);
  }

  scale(plot) {
    return linearScale([this.low, this.high], [plot.at.left, plot.at.right]);
  }

  /** The axis below, with the unit that its labels have. */
  drawAxis(plot, x) {
    const { ticks, label, unit } = momentTicks([this.low, this.high], plot.at.width / 90);
    drawBottomAxis(plot, x, ticks, label, `time since the start of the run (${unit})`);
  }
}

/** A wheel over a page scrolls it; over a figure that has the focus, or with Ctrl, it zooms. */
function onWheel(event, plot, view) {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== plot.canvas) return;
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
  view.around(view.scale(plot).invert(event.offsetX), Math.exp(-pixels / 300));
}

function addDrag(plot, view) {
  const chosen = Object.assign(document.createElement("div"), { className: "chosen" });
  plot.box.append(chosen);
  let from = null;
  const inside = (x) => Math.min(Math.max(x, plot.at.left), plot.at.right);
  plot.canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    from = inside(e.offsetX);
    plot.canvas.setPointerCapture(e.pointerId);
  });
  plot.canvas.addEventListener("pointermove", (e) => {
    if (from === null) return;
    const [low, high] = [from, inside(e.offsetX)].sort((a, b) => a - b);
    const { top, height } = plot.at;
    chosen.style.cssText = `display:block;left:${low}px;width:${high - low}px;top:${top}px;height:${height}px`;
  });
  const end = (e, take) => {
    if (from === null) return;
    const [low, high] = [from, inside(e.offsetX)].sort((a, b) => a - b);
    from = null;
    chosen.style.display = "none";
    // A click that trembles is no range.
    if (!take || high - low < 5) return;
    const x = view.scale(plot);
    view.show(x.invert(low), x.invert(high));
  };
  plot.canvas.addEventListener("pointerup", (e) => end(e, true));
  plot.canvas.addEventListener("pointercancel", (e) => end(e, false));
}

function addKeys(plot, view) {
  const keys = {
    "+": () => view.around((view.low + view.high) / 2, 1.6),
    "=": () => view.around((view.low + view.high) / 2, 1.6),
    "-": () => view.around((view.low + view.high) / 2, 1 / 1.6),
    "0": () => view.reset(),
    Escape: () => view.reset(),
    ArrowLeft: () => view.shift(-0.2),
    ArrowRight: () => view.shift(0.2),
  };
  plot.canvas.addEventListener("keydown", (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  });
}
