// Numbers: from base64 to typed arrays, and from 16-bit logarithms to nanoseconds.

const ABSENT = 65535;
const CODE_STEPS = 1024;

/** Nanoseconds of a code; 0.07 % at most from the value itself. */
const decoded = (code) => 2 ** (code / CODE_STEPS) - 1;

/** The zlib stream in base64 as one buffer. */
async function inflate(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Arrays by their numbers in the directory of [type, offset, count]. */
class Numbers {
  constructor(buffer, directory) {
    this.buffer = buffer;
    this.directory = directory;
  }

  get(index) {
    const [type, offset, count] = this.directory[index];
    // A copy, since typed arrays must begin at multiples of their width.
    const cut = (width) => this.buffer.slice(offset, offset + count * width);
    if (type === "u32") return new Uint32Array(cut(4));
    if (type === "f64") return new Float64Array(cut(8));
    return planes(new Uint8Array(this.buffer, offset, 2 * count), count);
  }
}

/** Low bytes, then high bytes as differences to the one before. */
function planes(bytes, count) {
  const values = new Uint16Array(count);
  let high = 0;
  for (let i = 0; i < count; i += 1) {
    high = (high + bytes[count + i]) & 255;
    values[i] = (high << 8) | bytes[i];
  }
  return values;
}

/** First index whose value is not less than `wanted`, in an ascending array. */
function firstFrom(values, wanted) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
