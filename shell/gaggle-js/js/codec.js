// State of a game: plain data. Copies it, encodes it as canonical bytes, and names the path of what
// cannot be in it. Absent: rooms, frames.

/** Most levels of objects in objects. */
const DEPTH_MAX = 64;

const TAG = { NULL: 0, FALSE: 1, TRUE: 2, FLOAT: 3, PLUS: 4, MINUS: 5, ASCII: 6, UTF16: 7, ARRAY: 8, OBJECT: 9 };
/** Typed arrays, by tags from 16. */
const TYPED = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
];
const TYPED_FROM = 16;
/** Integers from here on have a tag each, up to the last tag. */
const SMALL = -32;
const SMALL_FROM = 64;

const plainProto = Object.prototype;

function isPlain(value) {
  const proto = Object.getPrototypeOf(value);
  // Objects of another realm (a frame, a test runner's context) have another `Object.prototype`.
  return proto === plainProto || proto === null || Object.getPrototypeOf(proto) === null;
}

function isTyped(value) {
  return ArrayBuffer.isView(value) && TYPED.some((type) => value instanceof type);
}

/** A deep copy of plain data. Throws an error that names the path of what is not plain. */
export function copy(value, name = 'state') {
  const copied = copyValue(value, 0);
  if (copied === BAD) throw new TypeError(problem(value, name) ?? `${name} cannot be copied`);
  return copied;
}

const BAD = Symbol('not plain data');

function copyValue(value, depth) {
  if (typeof value === 'number') return value === value ? value : BAD;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || depth === DEPTH_MAX) return BAD;
  if (Array.isArray(value)) {
    const list = [];
    for (let nth = 0; nth < value.length; nth++) {
      const item = copyValue(value[nth], depth + 1);
      if (item === BAD) return BAD;
      list.push(item);
    }
    return list;
  }
  if (Object.getPrototypeOf(value) !== plainProto && !isPlain(value)) return isTyped(value) ? value.slice() : BAD;
  const object = {};
  for (const key in value) {
    const item = copyValue(value[key], depth + 1);
    if (item === BAD || key === '__proto__') return BAD;
    object[key] = item;
  }
  return object;
}

/** Why a value cannot be part of a state, with its path; null if it can. */
export function problem(value, name = 'state') {
  return problemOf(value, name, 0, new Map());
}

function problemOf(value, path, depth, seen) {
  switch (typeof value) {
    case 'number':
      return value === value ? null : `${path} is NaN; check the computation before it`;
    case 'string':
    case 'boolean':
      return null;
    case 'undefined':
      return `${path} is undefined; delete it, or use null`;
    case 'function':
      return `${path} is a function; keep code outside of the state`;
    case 'bigint':
    case 'symbol':
      return `${path} is a ${typeof value}; use a number or a string`;
  }
  if (value === null) return null;
  const known = seen.get(value);
  // `state.ab` begins like `state.a`, but is not in it.
  if (known !== undefined && path.startsWith(known) && /^[.[]/.test(path.slice(known.length))) {
    return `${path} leads back to ${known}; a state has no cycles, so store an index or a name`;
  }
  if (known !== undefined) {
    return `${path} is the same object as ${known}; a copy would part them, so store an index or a name`;
  }
  seen.set(value, path);
  if (seen.size > 1e6) return `${path} is too much for a state`;
  if (depth === DEPTH_MAX) return `${path} is nested deeper than ${DEPTH_MAX} levels`;
  if (isTyped(value)) {
    const isFloat = value instanceof Float32Array || value instanceof Float64Array;
    const nan = isFloat ? value.findIndex((item) => item !== item) : -1;
    return nan < 0 ? null : `${path}[${nan}] is NaN; check the computation before it`;
  }
  if (Array.isArray(value)) {
    const extra = Object.keys(value).length - value.length;
    if (extra > 0) return `${path} is a list with names beside its numbers; use an object`;
    for (let nth = 0; nth < value.length; nth++) {
      const found = problemOf(value[nth], `${path}[${nth}]`, depth + 1, seen);
      if (found) return found;
    }
    return null;
  }
  if (!isPlain(value)) {
    const kind = value.constructor?.name ?? 'class';
    const instead = { Map: 'an object', Set: 'a list', Date: 'a number' }[kind] ?? 'an object without a class';
    return `${path} is a ${kind}; use ${instead}`;
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return `${path} has a symbol as a name; use a string`;
  for (const key of Object.keys(value)) {
    const at = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    if (key === '__proto__') return `${at} is a reserved name; use another`;
    const found = problemOf(value[key], at, depth + 1, seen);
    if (found) return found;
  }
  return null;
}

let buffer = new Uint8Array(4096);
let view = new DataView(buffer.buffer);
let end = 0;

function grow(bytes) {
  if (end + bytes <= buffer.length) return;
  const larger = new Uint8Array(Math.max(2 * buffer.length, end + bytes));
  larger.set(buffer);
  buffer = larger;
  view = new DataView(larger.buffer);
}

/** The canonical bytes of plain data: equal data have equal bytes. `head` comes before them. */
export function encode(value, head = 0, name = 'state') {
  end = head;
  grow(0);
  const keys = new Map();
  if (!put(value, keys, 0, new Set())) throw new TypeError(problem(value, name) ?? `${name} cannot be encoded`);
  return buffer.slice(0, end);
}

function byte(value) {
  grow(1);
  buffer[end++] = value;
}

function varint(value) {
  grow(8);
  while (value >= 128) {
    buffer[end++] = (value % 128) + 128;
    value = Math.floor(value / 128);
  }
  buffer[end++] = value;
}

function put(value, keys, depth, seen) {
  switch (typeof value) {
    case 'number':
      return putNumber(value);
    case 'string':
      putString(value);
      return true;
    case 'boolean':
      byte(value ? TAG.TRUE : TAG.FALSE);
      return true;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) {
    byte(TAG.NULL);
    return true;
  }
  if (depth === DEPTH_MAX || seen.has(value)) return false;
  seen.add(value);
  if (Array.isArray(value)) {
    byte(TAG.ARRAY);
    varint(value.length);
    for (let nth = 0; nth < value.length; nth++) if (!put(value[nth], keys, depth + 1, seen)) return false;
    return true;
  }
  if (isTyped(value)) return putTyped(value);
  if (!isPlain(value)) return false;
  const names = Object.keys(value);
  byte(TAG.OBJECT);
  varint(names.length);
  for (const key of names) {
    // A name is written once; later it is a number from 1.
    const known = keys.get(key);
    varint(known ?? 0);
    if (known === undefined) {
      if (key === '__proto__') return false;
      keys.set(key, keys.size + 1);
      putString(key);
    }
    if (!put(value[key], keys, depth + 1, seen)) return false;
  }
  return true;
}

function putNumber(value) {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
    const nth = value - SMALL + SMALL_FROM;
    if (nth >= SMALL_FROM && nth < 256) {
      byte(nth);
    } else {
      byte(value < 0 ? TAG.MINUS : TAG.PLUS);
      varint(Math.abs(value));
    }
    return true;
  }
  if (value !== value) return false;
  byte(TAG.FLOAT);
  grow(8);
  view.setFloat64(end, value, true);
  end += 8;
  return true;
}

function putString(text) {
  const start = end;
  byte(TAG.ASCII);
  varint(text.length);
  grow(2 * text.length);
  for (let nth = 0; nth < text.length; nth++) {
    const unit = text.charCodeAt(nth);
    if (unit > 127) {
      // Code units, because a text may hold half of a pair.
      end = start;
      return putUnits(text);
    }
    buffer[end++] = unit;
  }
}

function putUnits(text) {
  byte(TAG.UTF16);
  varint(text.length);
  grow(2 * text.length);
  for (let nth = 0; nth < text.length; nth++, end += 2) view.setUint16(end, text.charCodeAt(nth), true);
}

function hasNan(typed) {
  const isFloat = typed instanceof Float32Array || typed instanceof Float64Array;
  return isFloat && typed.some((item) => item !== item);
}

function putTyped(value) {
  if (hasNan(value)) return false;
  byte(TYPED_FROM + TYPED.findIndex((type) => value instanceof type));
  varint(value.length);
  grow(value.byteLength);
  buffer.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), end);
  end += value.byteLength;
  return true;
}

/**
 * The data of these bytes, which may come from anywhere. Throws if they are no encoding. What it
 * accepts can be copied and encoded: otherwise another peer's bytes would stop this one.
 */
export function decode(bytes, head = 0) {
  const reader = { bytes, at: head, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), keys: [] };
  const value = take(reader, 0);
  if (reader.at !== bytes.length) throw new RangeError('bytes follow the state');
  return value;
}

function next(reader) {
  if (reader.at >= reader.bytes.length) throw new RangeError('the state ends early');
  return reader.bytes[reader.at++];
}

function number(reader) {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const part = next(reader);
    value += (part % 128) * scale;
    if (part < 128) break;
    if (scale > 2 ** 49) throw new RangeError('a number is too long');
  }
  if (!Number.isSafeInteger(value)) throw new RangeError('a number is too large');
  return value;
}

/** A count of things of at least this many bytes each, so that no count allocates more. */
function count(reader, bytes) {
  const value = number(reader);
  if (value * bytes > reader.bytes.length - reader.at) throw new RangeError('the state ends early');
  return value;
}

function take(reader, depth) {
  const tag = next(reader);
  if (tag >= SMALL_FROM) return tag - SMALL_FROM + SMALL;
  if (depth === DEPTH_MAX && tag >= TAG.ARRAY) throw new RangeError('the state is nested too deep');
  switch (tag) {
    case TAG.NULL:
      return null;
    case TAG.FALSE:
      return false;
    case TAG.TRUE:
      return true;
    case TAG.PLUS:
      return number(reader);
    case TAG.MINUS:
      return -number(reader);
    case TAG.FLOAT: {
      if (reader.at + 8 > reader.bytes.length) throw new RangeError('the state ends early');
      const value = reader.view.getFloat64(reader.at, true);
      if (value !== value) throw new RangeError('a number is NaN');
      reader.at += 8;
      return value;
    }
    case TAG.ASCII:
    case TAG.UTF16:
      return text(reader, tag);
    case TAG.ARRAY: {
      const list = [];
      for (let left = count(reader, 1); left > 0; left--) list.push(take(reader, depth + 1));
      return list;
    }
    case TAG.OBJECT:
      return object(reader, depth);
    default:
      return typed(reader, tag);
  }
}

function text(reader, tag) {
  const width = tag === TAG.ASCII ? 1 : 2;
  const units = count(reader, width);
  let value = '';
  for (let nth = 0; nth < units; nth++, reader.at += width) {
    value += String.fromCharCode(width === 1 ? reader.bytes[reader.at] : reader.view.getUint16(reader.at, true));
  }
  return value;
}

function object(reader, depth) {
  const value = {};
  for (let left = count(reader, 2); left > 0; left--) {
    const known = number(reader);
    if (known === 0) {
      const key = text(reader, next(reader));
      if (key === '__proto__') throw new RangeError('a name is reserved');
      reader.keys.push(key);
    } else if (known > reader.keys.length) {
      throw new RangeError('a name is unknown');
    }
    value[reader.keys[(known || reader.keys.length) - 1]] = take(reader, depth + 1);
  }
  return value;
}

function typed(reader, tag) {
  const type = TYPED[tag - TYPED_FROM];
  if (!type) throw new RangeError('a tag is unknown');
  const length = count(reader, type.BYTES_PER_ELEMENT);
  const bytes = reader.bytes.slice(reader.at, reader.at + length * type.BYTES_PER_ELEMENT);
  reader.at += bytes.length;
  const value = new type(bytes.buffer, 0, length);
  if (hasNan(value)) throw new RangeError('a number is NaN');
  return value;
}

/** The path of the first difference between two states, with both values; null if there is none. */
export function difference(one, other, path = 'state') {
  const isObject = (value) => typeof value === 'object' && value !== null;
  if (!isObject(one) || !isObject(other)) {
    return Object.is(one, other) ? null : `${path} is ${show(one)} and ${show(other)}`;
  }
  const [names, others] = [Object.keys(one), Object.keys(other)];
  for (const key of names) {
    const at = Array.isArray(one) || isTyped(one) ? `${path}[${key}]` : `${path}.${key}`;
    const found = difference(one[key], other[key], at);
    if (found) return found;
  }
  const extra = others.find((key) => !names.includes(key));
  if (extra !== undefined) return `${path}.${extra} is missing and ${show(other[extra])}`;
  const nth = names.findIndex((key, index) => key !== others[index]);
  return nth < 0 ? null : `${path} has its names in another order: ${names[nth]} and ${others[nth]}`;
}

function show(value) {
  if (value === undefined) return 'missing';
  const shown = Object.is(value, -0) ? '-0' : (JSON.stringify(value) ?? String(value));
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}
