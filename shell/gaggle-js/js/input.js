// Declared inputs: a small record of named fields, as 128 bits. Absent: keys, rooms.

/** Presses have the upper half of the last word, as in `src/pad.rs`, and all else the bits before. */
const PRESS_FROM = 112;
const PRESSES_MAX = 16;
const INTEGERS = { int8: 8, uint8: 8, int16: 16, uint16: 16, int32: 32, uint32: 32 };
const KINDS = `'bool', 'press', ${Object.keys(INTEGERS).map((name) => `'${name}'`).join(', ')} or a list of words`;

/** A declared input. */
export class InputSchema {
  constructor(declared) {
    this.fields = [];
    let [bit, press] = [0, PRESS_FROM];
    for (const [name, kind] of Object.entries(declared ?? {})) {
      const bits = bitsOf(name, kind);
      // A field is in one word.
      if (kind !== 'press' && (bit % 32) + bits > 32) bit += 32 - (bit % 32);
      const at = kind === 'press' ? press++ : bit;
      if (kind !== 'press') bit += bits;
      this.fields.push({ name, kind, bits, word: at >> 5, shift: at % 32, isSigned: /^int/.test(kind) });
    }
    if (bit > PRESS_FROM) throw new RangeError(`an input has ${Math.ceil(bit / 8)} bytes beside its presses, at most 14; use smaller fields`);
    if (press > PRESS_FROM + PRESSES_MAX) throw new RangeError(`an input has ${press - PRESS_FROM} presses, at most 16; use a list of words`);
    this.text = JSON.stringify(Object.entries(declared ?? {}));
  }

  /** The bits of a record; fields that it lacks are 0. */
  pack(record, words = [0, 0, 0, 0]) {
    words.fill(0);
    let known = 0;
    for (const field of this.fields) {
      const value = record?.[field.name];
      if (value === undefined) continue;
      known++;
      const bits = packField(field, value);
      words[field.word] = (words[field.word] | (bits << field.shift)) >>> 0;
    }
    if (record && Object.keys(record).length > known) this.#reject(record);
    return words;
  }

  #reject(record) {
    const names = this.fields.map((field) => field.name);
    const other = Object.keys(record).find((name) => record[name] !== undefined && !names.includes(name));
    if (other) throw new TypeError(`the input has no field ${other}; declared are ${names.join(', ') || 'none'}`);
  }

  /** The record of these bits. */
  unpack(words) {
    const record = {};
    for (const { name, kind, bits, word, shift, isSigned } of this.fields) {
      const value = bits === 32 ? words[word] : (words[word] >>> shift) & ((1 << bits) - 1);
      if (isSigned) record[name] = (value << (32 - bits)) >> (32 - bits);
      else if (Array.isArray(kind)) record[name] = kind[value] ?? kind[0];
      else record[name] = bits === 1 ? value === 1 : value >>> 0;
    }
    return record;
  }

  /** A random record, for tests. `below(n)` draws a number. */
  draw(below) {
    const record = {};
    for (const { name, kind, bits, isSigned } of this.fields) {
      if (Array.isArray(kind)) record[name] = kind[below(kind.length)];
      else if (bits === 1) record[name] = below(kind === 'press' ? 10 : 2) === 1;
      else record[name] = below(2 ** Math.min(bits, 30)) - (isSigned ? 2 ** (Math.min(bits, 30) - 1) : 0);
    }
    return record;
  }
}

function bitsOf(name, kind) {
  if (kind === 'bool' || kind === 'press') return 1;
  if (INTEGERS[kind]) return INTEGERS[kind];
  const isWords = Array.isArray(kind) && kind.length > 1 && kind.every((word) => typeof word === 'string');
  if (!isWords || kind.length > 256) throw new TypeError(`the input's field ${name} is ${JSON.stringify(kind)}; give ${KINDS}`);
  return Math.max(1, 32 - Math.clz32(kind.length - 1));
}

function packField({ name, kind, bits, isSigned }, value) {
  if (Array.isArray(kind)) {
    const nth = kind.indexOf(value);
    if (nth < 0) throw new TypeError(`the input's field ${name} is ${JSON.stringify(value)}; give one of ${kind.join(', ')}`);
    return nth;
  }
  if (bits === 1) return value ? 1 : 0;
  if (typeof value !== 'number' || value !== value) throw new TypeError(`the input's field ${name} is ${value}; give a number`);
  const [least, most] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  const whole = Math.min(most, Math.max(least, Math.round(value)));
  return bits === 32 ? whole >>> 0 : whole & (2 ** bits - 1);
}
