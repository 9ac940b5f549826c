// The state of a game and its steps, as the module calls them: it decides when to save, load and
// advance. Absent: rooms, players, what is drawn.

import { copy, decode, encode, problem } from './codec.js';
import { frozen } from './freeze.js';
import { Inputs } from './inputs.js';
import { Generator, randomOf } from './random.js';

/** Bytes of the generator before those of the state. */
const HEAD = 16;

/** What went wrong in a game, with the frame. */
export class GameError extends Error {
  constructor(message, frame, cause) {
    super(message, { cause });
    this.name = 'GameError';
    this.frame = frame;
  }
}

/** One state with its game. */
export class Driver {
  constructor(game, math, { development = false, interpolate = false, seed = [0, 0] } = {}) {
    this.game = game;
    this.development = development;
    this.interpolate = interpolate;
    this.generator = new Generator(...seed);
    this.random = randomOf(this.generator);
    this.math = math;
    this.inputs = new Inputs(game.schema);
    this.context = { frame: 0, random: this.random, math };
    this.frame = 0;
    this.error = null;
    this.isTicking = false;
    this.previous = null;
    this.previousFrame = -1;
    const slots = Array.from({ length: game.maxPlayers }, (_, slot) => slot);
    this.state = this.#setUp({ round: 0, slots, settings: {} });
  }

  #setUp(about) {
    const state = this.#guarded(() => this.game.setup({ ...about, random: this.random, math: this.math }));
    if (!this.game.save) {
      const found = state === undefined ? 'setup returned nothing; return the first state' : problem(state);
      if (found) throw new TypeError(found);
    }
    return state;
  }

  #guarded(step) {
    this.isTicking = true;
    try {
      return this.development ? frozen(step) : step();
    } finally {
      this.isTicking = false;
    }
  }

  /** Called by the module: all peers start a match. */
  start(high, low, round, slots, settings) {
    this.generator.seed(high, low);
    this.frame = 0;
    try {
      this.state = this.#setUp({ round, slots: [...slots], settings: JSON.parse(settings || '{}') });
    } catch (error) {
      this.#fail(error, 'setup');
    }
  }

  /** Called by the module: whether the game threw, at any time. */
  hasFailed() {
    return this.error !== null;
  }

  /** Called by the module: ticks once. False once the game threw. */
  advance(frame, read) {
    if (this.error) return false;
    try {
      this.frame = frame;
      if (this.interpolate) this.#keep(frame - 1);
      this.#tick(frame, read);
      return true;
    } catch (error) {
      this.#fail(error, 'tick');
      return false;
    }
  }

  #keep(frame) {
    this.previous = this.#copyOf(this.state);
    this.previousFrame = frame;
  }

  #tick(frame, read) {
    this.context.frame = frame;
    this.inputs.begin(read);
    let next;
    try {
      next = this.#guarded(() => this.game.tick(this.state, this.inputs, this.context));
    } finally {
      this.inputs.end();
    }
    if (typeof next?.then === 'function') throw new TypeError('tick returned a promise; a step cannot wait');
    if (next !== undefined) this.state = next;
    if (this.development && !this.game.save) {
      const found = problem(this.state);
      if (found) throw new TypeError(found);
    }
  }

  #fail(error, where) {
    if (this.error) return;
    const message = error instanceof Error ? error.message : String(error);
    this.error = new GameError(`${where} failed in frame ${this.frame}: ${message}`, this.frame, error);
  }

  #copyOf(state) {
    return this.game.save ? this.game.load(this.game.save(state)) : copy(state);
  }

  /** Called by `inputs` through the module. */
  put(a, b, c, d) {
    this.inputs.put(a, b, c, d);
  }

  /** Called by the module: a copy that later ticks do not change. */
  save() {
    try {
      return this.#saved();
    } catch (error) {
      this.#fail(error, this.game.save ? 'save' : 'tick');
      return undefined;
    }
  }

  #saved() {
    const state = this.game.save ? bytesOf(this.game.save(this.state)) : copy(this.state);
    return { state, words: this.generator.words.slice() };
  }

  /** A copy for the page, whose questions never stop a match; undefined if there is none. */
  peek() {
    try {
      return this.#saved();
    } catch {
      return undefined;
    }
  }

  /** Called by the module: back to a copy. */
  load(saved) {
    if (this.error) return;
    try {
      this.state = this.game.load ? this.game.load(saved.state.slice()) : copy(saved.state);
      this.generator.words.set(saved.words);
    } catch (error) {
      this.#fail(error, 'load');
    }
  }

  /** The state of a copy, for its caller to keep. */
  stateOf(saved) {
    return this.game.load ? this.game.load(saved.state.slice()) : copy(saved.state);
  }

  /** Called by the module: the bytes of a copy; none once the game failed. */
  encode(saved) {
    try {
      return this.bytesOf(saved);
    } catch (error) {
      // What another peer sent says nothing about this game.
      if (!saved.isForeign) this.#fail(error, this.game.save ? 'save' : 'tick');
      return new Uint8Array(0);
    }
  }

  /** The bytes of a copy. */
  bytesOf(saved) {
    const bytes = this.game.save ? new Uint8Array(HEAD + saved.state.length) : encode(saved.state, HEAD);
    if (this.game.save) bytes.set(saved.state, HEAD);
    const view = new DataView(bytes.buffer);
    saved.words.forEach((word, nth) => view.setUint32(4 * nth, word, true));
    return bytes;
  }

  /** Called by the module: another peer's bytes, which may be anything. */
  decode(bytes) {
    try {
      if (bytes.length < HEAD) return undefined;
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      const words = Uint32Array.from([0, 4, 8, 12], (at) => view.getUint32(at, true));
      if (!this.game.load) return { state: decode(bytes, HEAD), words, isForeign: true };
      // A state that its game does not load is none.
      const state = bytes.slice(HEAD);
      this.game.load(state.slice());
      return { state, words, isForeign: true };
    } catch {
      return undefined;
    }
  }
}

function bytesOf(saved) {
  if (saved instanceof Uint8Array) return saved.slice();
  throw new TypeError('save returned no Uint8Array');
}
