// Inputs of all players in one tick, read lazily: what a tick does not read costs no rollback when
// it was predicted wrongly. Absent: where inputs come from.

import { copy, encode } from './codec.js';

/** Kinds of reading, as in `src/script.rs`. */
const READ = { INPUT: 0, QUESTION: 1 << 8, PRESENCE: 2 << 8, ALL: 3 << 8 };
const SLOTS_MAX = 64;
/** Questions that are kept. An older one counts as changed, which costs a rollback and nothing else. */
const QUESTIONS_KEPT = 8192;

/** Questions of all games of this page. The module asks them again when an input arrives. */
export class Questions {
  constructor() {
    this.ring = new Array(QUESTIONS_KEPT);
    this.count = 0;
    this.last = undefined;
    this.error = null;
  }

  add(ask, context, schema) {
    const nth = this.count++ >>> 0;
    this.ring[nth % QUESTIONS_KEPT] = { nth, ask, context, schema };
    return nth;
  }

  /** The answer as a number: equal answers are equal numbers. NaN stands for none. */
  answer(nth, a, b, c, d) {
    const question = this.ring[nth % QUESTIONS_KEPT];
    this.error = null;
    if (question?.nth !== nth) return NaN;
    try {
      this.last = question.ask(question.schema.unpack([a, b, c, d]), question.context);
      return asNumber(this.last);
    } catch (error) {
      this.error = error;
      return NaN;
    }
  }
}

export const questions = new Questions();

function asNumber(answer) {
  switch (answer) {
    case true:
      return 1e300;
    case false:
      return 1e299;
    case undefined:
      return 1e298;
  }
  if (typeof answer === 'number' && answer === answer) return answer;
  // Hashes of all else are whole numbers and a half.
  let [one, two] = [0x811c9dc5, 0x9e3779b9];
  for (const part of encode(answer, 0, 'the answer')) {
    one = Math.imul(one ^ part, 0x01000193);
    two = Math.imul(two ^ part, 0x85ebca6b) ^ (two >>> 13);
  }
  return (one >>> 0) * 2 ** 18 + (two >>> 14) + 0.5;
}

/** What `tick` gets as its second argument. */
export class Inputs {
  #schema;
  #read = null;
  #words = [0, 0, 0, 0];
  #known = new Array(SLOTS_MAX).fill(null);
  #slots = null;

  constructor(schema) {
    this.#schema = schema;
  }

  /** A tick begins: `read` answers from now on. */
  begin(read) {
    this.#read = read;
    this.#slots = null;
    this.#known.fill(null);
  }

  end() {
    this.#read = null;
  }

  /** Called back by `read`. */
  put(a, b, c, d) {
    const words = this.#words;
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
  }

  /** A `read` for inputs that are known: words by slot, and slots with a player as two words. */
  reader(wordsOf, low, high) {
    return (what, question) => {
      const slot = what & 63;
      switch (what - slot) {
        case READ.INPUT:
          this.put(...wordsOf(slot));
          return 0;
        case READ.QUESTION:
          questions.answer(question, ...wordsOf(slot));
          return 0;
        case READ.PRESENCE:
          return ((slot < 32 ? low >>> slot : high >>> (slot - 32)) & 1);
        default:
          this.put(low, high, 0, 0);
          return 0;
      }
    };
  }

  #ask(what, question) {
    if (!this.#read) throw new Error('inputs can be read only while tick runs; copy what you need');
    return this.#read(what, question);
  }

  get(slot) {
    const known = this.#known[slot];
    if (known) return known;
    this.#check(slot);
    this.#ask(READ.INPUT | slot, 0);
    return (this.#known[slot] = this.#schema.unpack(this.#words));
  }

  ask(slot, context, ask) {
    this.#check(slot);
    if (typeof ask !== 'function') throw new TypeError('inputs.ask needs a slot, a context and a function');
    this.#ask(READ.QUESTION | slot, questions.add(ask, copy(context ?? null, 'the context'), this.#schema));
    if (questions.error) throw questions.error;
    return questions.last;
  }

  isPresent(slot) {
    this.#check(slot);
    return this.#ask(READ.PRESENCE | slot, 0) === 1;
  }

  get slots() {
    if (!this.#slots) {
      this.#ask(READ.ALL, 0);
      const [low, high] = this.#words;
      const isIn = (slot) => ((slot < 32 ? low >>> slot : high >>> (slot - 32)) & 1) === 1;
      this.#slots = Array.from({ length: SLOTS_MAX }, (_, slot) => slot).filter(isIn);
    }
    return this.#slots.slice();
  }

  #check(slot) {
    if (!Number.isInteger(slot) || slot < 0 || slot >= SLOTS_MAX) throw new RangeError(`there is no slot ${slot}`);
  }
}

for (let slot = 0; slot < SLOTS_MAX; slot++) {
  Object.defineProperty(Inputs.prototype, slot, {
    get() {
      return this.get(slot);
    },
  });
}

/** A `read` for inputs that are known: rows of records, for tests without a room. */
export function readRow(inputs, schema, row, present) {
  const words = row.map((record) => schema.pack(record));
  const bits = [0, 0];
  for (const slot of present) bits[slot >> 5] |= 1 << (slot & 31);
  return inputs.reader((slot) => words[slot] ?? [0, 0, 0, 0], bits[0] >>> 0, bits[1] >>> 0);
}
