// Quantities in words.

function threeDigits(value) {
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Three significant digits with the unit that keeps the number short, as everywhere in truetail. */
function timeWords(ns) {
  if (ns < 999.5) return `${Math.round(ns)} ns`;
  if (ns < 999.5e3) return `${threeDigits(ns / 1e3)} µs`;
  if (ns < 999.5e6) return `${threeDigits(ns / 1e6)} ms`;
  return `${threeDigits(ns / 1e9)} s`;
}

/** A tick's duration: no more digits than it has. */
function tickTime(ns) {
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [name, size] = units.find(([, size]) => ns >= 0.9999 * size) ?? units[3];
  return `${Number((ns / size).toPrecision(4))} ${name}`;
}

const countWords = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");

/** Counts and rates on ticks: 20k, 1.5M. */
function tickCount(n) {
  if (n >= 1e6) return `${Number((n / 1e6).toPrecision(4))}M`;
  if (n >= 1e4) return `${Number((n / 1e3).toPrecision(4))}k`;
  return n >= 1000 ? countWords(n) : `${Number(n.toPrecision(4))}`;
}

const rateWords = (n) => `${n < 99.95 ? threeDigits(n) : countWords(n)}/s`;

/** A moment of the run, as exact as the visible range needs. */
function momentWords(ns, range) {
  const decimals = Math.min(6, Math.max(1, Math.ceil(3 - Math.log10(range / 1e9))));
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

/** 0.999 as 99.9 %, without the noise of binary fractions. */
const percentWords = (q) => `${Number((q * 100).toPrecision(9))} %`;

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
