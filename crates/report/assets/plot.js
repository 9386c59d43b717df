// A canvas with margins, colours of the page, a tooltip and a state that tests can read.

const COLOURS = [
  "ink", "muted", "grid", "axis", "paper", "band", "band-line", "point", "mean", "extreme", "failed", "service",
  "pool-wait", "lag", "pick-up", "response", "warm-up", "event", "outage", "pause", "doubt", "select",
];

/** All plots of the page, by the id of their figure. */
const plots = new Map();

class Plot {
  /**
   * `draw(plot)` paints everything, `hover(plot, x, y)` gives the tooltip's lines or null.
   * `height(width)` is in CSS pixels.
   */
  constructor(figure, { height, margins, draw, hover }) {
    this.figure = figure;
    this.box = figure.querySelector(".plot");
    this.canvas = figure.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.legendBox = figure.querySelector(".legend");
    this.height = height;
    this.margins = margins;
    this.paint = draw;
    this.hover = hover;
    this.state = { kind: figure.dataset.kind, drawn: 0 };
    this.tooltip = document.createElement("div");
    this.tooltip.className = "tooltip";
    this.cross = document.createElement("div");
    this.cross.className = "cross";
    this.box.append(this.cross, this.tooltip);
    this.canvas.addEventListener("pointermove", (e) => this.point(e.offsetX, e.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.unpoint());
    new ResizeObserver(() => this.later()).observe(this.box);
    plots.set(figure.id, this);
    window.truetail.figures[figure.id] = this.state;
  }

  /** Draws once before the next frame, however often it is asked. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const width = this.box.clientWidth;
    if (width === 0) return;
    const height = this.height(width);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.width = width;
    this.narrow = width < 560;
    const { left, right, top, bottom } = this.margins(this.narrow);
    this.at = { left, top, right: width - right, bottom: height - bottom };
    this.at.width = Math.max(this.at.right - left, 1);
    this.at.height = Math.max(this.at.bottom - top, 1);
    this.colours = themeColours();
    this.state.at = this.at;
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.pen.font = "12px system-ui, sans-serif";
    this.pen.lineWidth = 1;
    this.paint(this);
  }

  line(x0, y0, x1, y1, colour) {
    this.pen.strokeStyle = colour;
    this.pen.beginPath();
    this.pen.moveTo(x0, y0);
    this.pen.lineTo(x1, y1);
    this.pen.stroke();
  }

  dot(x, y, radius, colour) {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.pen.fill();
  }

  /** A triangle that points up or down (`size` < 0). */
  triangle(x, y, size, colour) {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.moveTo(x, y - size);
    this.pen.lineTo(x + Math.abs(size), y + 0.8 * size);
    this.pen.lineTo(x - Math.abs(size), y + 0.8 * size);
    this.pen.fill();
  }

  /** Everything that `paint` draws stays inside of the axes. */
  clipped(paint) {
    const { left, top, width, height } = this.at;
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(left, top - 1, width, height + 2);
    this.pen.clip();
    paint();
    this.pen.restore();
  }

  /** Text with a halo of the paper's colour, so that it can stand on anything. */
  label(text, x, y, align = "left", colour = this.colours.ink) {
    const { pen } = this;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeStyle = this.colours.paper;
    pen.strokeText(text, x, y);
    pen.lineWidth = 1;
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  /** The text, cut to a width. */
  fitted(text, width) {
    if (this.pen.measureText(text).width <= width) return text;
    let cut = text;
    while (cut.length > 1 && this.pen.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
    return `${cut}…`;
  }

  /** Entries are [shape, colour name, words]; shapes are classes of the style sheet. */
  legend(entries) {
    const items = entries.map(([shape, colour, words]) => {
      const item = document.createElement("span");
      const key = document.createElement("i");
      key.className = shape;
      key.style.setProperty("--key", `var(--${colour})`);
      item.append(key, words);
      return item;
    });
    this.legendBox.replaceChildren(...items);
  }

  point(x, y) {
    const { left, right, top, bottom } = this.at;
    const inside = x >= left && x <= right && y >= top && y <= bottom;
    const lines = inside && this.hover ? this.hover(this, x, y) : null;
    if (!lines) {
      this.unpoint();
      return;
    }
    const [head, ...rest] = lines;
    const title = document.createElement("b");
    title.textContent = head;
    const others = rest.map((line) => Object.assign(document.createElement("div"), { textContent: line }));
    this.tooltip.replaceChildren(title, ...others);
    this.tooltip.style.display = "block";
    const width = this.tooltip.offsetWidth;
    const beside = x + 14 + width > this.width ? x - 14 - width : x + 14;
    this.tooltip.style.left = `${Math.max(0, Math.min(beside, this.width - width))}px`;
    this.tooltip.style.top = `${Math.max(0, y - this.tooltip.offsetHeight - 10)}px`;
    if (this.view) {
      this.cross.style.cssText = `display:block;left:${x}px;top:${top}px;height:${bottom - top}px`;
    }
  }

  unpoint() {
    this.tooltip.style.display = "none";
    this.cross.style.display = "none";
  }
}

/** The style sheet's custom properties, by names without hyphens. */
function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => name.replace(/-(\w)/g, (_, c) => c.toUpperCase());
  return Object.fromEntries(COLOURS.map((name) => [named(name), style.getPropertyValue(`--${name}`).trim()]));
}
