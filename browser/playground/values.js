// Argument values: numbers of OpenCL C types in bytes, and the initial contents of buffers.

const scalars = {
  char: { size: 1, get: "getInt8", set: "setInt8" },
  uchar: { size: 1, get: "getUint8", set: "setUint8" },
  short: { size: 2, get: "getInt16", set: "setInt16" },
  ushort: { size: 2, get: "getUint16", set: "setUint16" },
  int: { size: 4, get: "getInt32", set: "setInt32" },
  uint: { size: 4, get: "getUint32", set: "setUint32" },
  long: { size: 8, get: "getBigInt64", set: "setBigInt64", big: true },
  ulong: { size: 8, get: "getBigUint64", set: "setBigUint64", big: true },
  half: { size: 2, float: true, half: true },
  float: { size: 4, get: "getFloat32", set: "setFloat32", float: true },
  double: { size: 8, get: "getFloat64", set: "setFloat64", float: true },
};
const synonyms = { size_t: "ulong", ptrdiff_t: "long", intptr_t: "long", uintptr_t: "ulong", bool: "uchar" };

/** Returns the layout of a type such as `float4`. Types with other names, such as structures, are bytes. */
export function layoutOf(typeName) {
  const [, base, lanes] = /^([a-z_]+?)(2|3|4|8|16)?$/.exec(typeName) ?? [];
  const name = synonyms[base] ?? base;
  const scalar = scalars[name];
  if (!scalar) return { name: "uchar", ...scalars.uchar, lanes: 1, stride: 1, isKnown: false };
  const count = Number(lanes ?? 1);
  // A vector with three components has the size of one with four.
  return { name, ...scalar, lanes: count, stride: scalar.size * (count === 3 ? 4 : count), isKnown: true };
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

// Rounds to nearest, ties to even.
function numberToHalf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude || 2 ** -24)));
  const scaled = magnitude / 2 ** (exponent - 10);
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const rounded = floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0);
  return sign | (rounded + ((exponent + 14) << 10));
}

export function read(layout, view, at) {
  return layout.half ? halfToNumber(view.getUint16(at, true)) : view[layout.get](at, true);
}

export function write(layout, view, at, value) {
  if (layout.half) view.setUint16(at, numberToHalf(Number(value)), true);
  else if (layout.big) view[layout.set](at, typeof value === "bigint" ? value : BigInt(Math.trunc(Number(value) || 0)), true);
  else view[layout.set](at, Number(value), true);
}

/** Parses numbers that are separated by commas or spaces. Throws an error that names the first invalid one. */
export function numbers(text, layout) {
  const words = text.replace(/[(){}[\]]/g, " ").split(/[\s,]+/).filter(Boolean);
  return words.map((word) => {
    const plain = word.replace(/(?<=[\d.])(f|u|l|ul|h)$/i, (suffix) => (/^0x/i.test(word) && /f/i.test(suffix) ? suffix : ""));
    if (layout.big && /^[-+]?(0x[\da-f]+|\d+)$/i.test(plain)) return plain.startsWith("-") ? -BigInt(plain.slice(1)) : BigInt(plain.replace("+", ""));
    const value = /^[-+]?(inf|infinity)$/i.test(plain) ? (plain.startsWith("-") ? -Infinity : Infinity) : /^nan$/i.test(plain) ? NaN : Number(plain);
    if (Number.isNaN(value) && !/^nan$/i.test(plain)) throw new Error(`"${word}" is not a number`);
    return value;
  });
}

/** Returns the bytes of an argument by value. */
export function valueBytes(typeName, size, text) {
  const layout = layoutOf(typeName);
  const bytes = new Uint8Array(size);
  const list = numbers(text, layout);
  const lanes = layout.isKnown ? layout.lanes : size;
  if (list.length !== 1 && list.length !== lanes) throw new Error(`${lanes === 1 ? "one number is" : `1 or ${lanes} numbers are`} needed, found ${list.length}`);
  const view = new DataView(bytes.buffer);
  for (let lane = 0; lane < lanes; lane++) write(layout, view, lane * layout.size, list[list.length === 1 ? 0 : lane]);
  return bytes;
}

// A sequence of numbers from 0 to 1 that is the same in each run.
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The colour of a test picture, with channels from 0 to 1. */
export function pictureColour(x, y, width, height) {
  const [u, v] = [(x + 0.5) / width, (y + 0.5) / height];
  const ring = Math.hypot(u - 0.5, v - 0.5);
  if (ring < 0.18) return [0.95, 0.75, 0.15, 1];
  if (ring < 0.3) return [0.85, 0.2, 0.2, 1];
  if ((Math.floor(u * 8) + Math.floor(v * 8)) % 2) return [u, v, 0.75, 1];
  return [0.15 + 0.3 * v, 0.2, 0.35 + 0.5 * u, 1];
}

/** Returns the bytes of a buffer of `count` elements. `width` is the number of pixels in a line of a picture. */
export function bufferBytes(typeName, { count, init, values = "", width }) {
  const layout = layoutOf(typeName.replace(/\*$/, ""));
  if (!(count > 0 && count * layout.stride <= 1 << 28)) throw new Error("the number of elements must be from 1 to 2^28 bytes");
  const bytes = new Uint8Array(count * layout.stride);
  const view = new DataView(bytes.buffer);
  const next = random(1);
  const list = init === "values" ? numbers(values, layout) : [];
  const element = (index, lane) => {
    switch (init) {
      case "index":
        return layout.lanes === 1 ? index : index * layout.lanes + lane;
      case "random":
        return layout.float ? next() : Math.floor(next() * Math.min(2 ** (8 * layout.size), 2 ** 31));
      case "ones":
        return 1;
      case "picture": {
        const line = width || Math.ceil(Math.sqrt(count));
        const colour = pictureColour(index % line, Math.floor(index / line), line, Math.ceil(count / line));
        const channel = layout.lanes === 1 ? 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] : (colour[lane] ?? 1);
        return layout.float ? channel : Math.round(channel * 255);
      }
      case "values":
        return list[index * layout.lanes + lane] ?? 0;
      default:
        return 0;
    }
  };
  if (init === "zeros") return bytes;
  for (let index = 0; index < count; index++) {
    for (let lane = 0; lane < layout.lanes; lane++) write(layout, view, index * layout.stride + lane * layout.size, element(index, lane));
  }
  return bytes;
}

const channels = { rgba8: 4, rgba8uint: 4, rgba32float: 4, r8: 1, r32float: 1 };

/** Returns the bytes of an image. */
export function imageBytes({ width, height, format = "rgba8", init }) {
  if (!(width > 0 && height > 0 && width * height <= 1 << 24)) throw new Error("the sizes must be from 1 to 2^24 pixels");
  const isFloat = format.endsWith("float");
  const count = channels[format];
  const data = isFloat ? new Float32Array(width * height * count) : new Uint8Array(width * height * count);
  if (init === "picture") {
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const colour = pictureColour(x, y, width, height);
        for (let channel = 0; channel < count; channel++) data[at++] = isFloat ? colour[channel] : Math.round(colour[channel] * 255);
      }
    }
  }
  return new Uint8Array(data.buffer);
}

/** Returns the first elements of a buffer as text. */
export function shown(typeName, bytes, most = 256) {
  const layout = layoutOf(typeName.replace(/\*$/, ""));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.floor(bytes.length / layout.stride);
  const text = (value) => (layout.float ? String(Number(value.toPrecision(layout.size === 8 ? 15 : layout.half ? 5 : 7))) : String(value));
  const elements = Array.from({ length: Math.min(count, most) }, (_, index) => {
    const lanes = Array.from({ length: layout.lanes }, (_, lane) => text(read(layout, view, index * layout.stride + lane * layout.size)));
    return layout.lanes === 1 ? lanes[0] : `(${lanes.join(", ")})`;
  });
  return elements.join("  ") + (count > most ? `  … ${count - most} more` : "");
}

/** Returns the pixels of a buffer as RGBA. Floats from 0 to 1 and bytes from 0 to 255 are shown from black to white. */
export function pixels(typeName, bytes, width) {
  const layout = layoutOf(typeName.replace(/\*$/, ""));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.floor(bytes.length / layout.stride);
  const height = Math.max(1, Math.floor(count / width));
  const data = new Uint8ClampedArray(4 * width * height);
  const scale = layout.float ? 255 : 1;
  for (let index = 0; index < Math.min(count, width * height); index++) {
    const channel = (lane) => scale * Number(read(layout, view, index * layout.stride + lane * layout.size));
    const colour = layout.lanes >= 3 ? [channel(0), channel(1), channel(2)] : Array(3).fill(channel(0));
    data.set([...colour, 255], 4 * index);
  }
  return { data, width, height };
}

/** Compares the results of two runs. Returns a sentence about the differences. */
export function difference(typeName, left, right) {
  const layout = layoutOf(typeName.replace(/\*$/, ""));
  const [a, b] = [left, right].map((bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  let [count, most] = [0, 0];
  for (let at = 0; at + layout.size <= left.length; at += layout.size) {
    const [x, y] = [Number(read(layout, a, at)), Number(read(layout, b, at))];
    if (Object.is(x, y) || x === y) continue;
    count += 1;
    most = Math.max(most, Math.abs(x - y) / Math.max(Math.abs(x), Math.abs(y)) || 0);
  }
  return { count, total: Math.floor(left.length / layout.size), most, isFloat: Boolean(layout.float) };
}
