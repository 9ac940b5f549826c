// A match as bytes: the state where it begins, and the inputs of every frame. Absent: rooms, files.

import { decode, encode } from './codec.js';
import { Driver } from './driver.js';
import { defineGame } from './game.js';

/** Raised when the bytes of a replay change. */
const FORMAT = 1;
/** Words of a row before its inputs: frames it lasts, and slots with a player. */
const ROW_HEAD = 3;
/** Frames between two states that a seek begins from. */
const KEYFRAME = 600;

/** Records the shown match of a room, frame by frame as they are settled. */
export class Recorder {
  #match = -1;
  #state = null;
  #from = 0;
  #next = 0;
  #rows = [];

  /** Takes what an update settled. */
  follow(handle, driver, frame) {
    if (handle.matchNumber() !== this.#match) {
      const from = handle.confirmedFrame();
      const saved = handle.saved(from) ?? (from === frame ? driver.peek() : undefined);
      const state = saved && encoded(driver, saved);
      if (!state) return;
      this.#match = handle.matchNumber();
      this.#from = from;
      this.#state = state;
      this.#next = from + 1;
      this.#rows = [];
    }
    const rows = handle.settledRows(this.#next);
    if (rows === undefined) {
      // Frames are missing, so it begins again.
      this.#match = -1;
      return;
    }
    const length = 2 + 4 * driver.game.maxPlayers;
    for (let at = 0; at < rows.length; at += length) this.#add(rows.subarray(at, at + length));
    this.#next += rows.length / length;
  }

  #add(row) {
    const last = this.#rows.at(-1);
    if (last && row.every((word, nth) => word === last[nth + 1])) last[0]++;
    else this.#rows.push([1, ...row]);
  }

  /** The match so far; null before its first frame. */
  bytes(game) {
    if (this.#state === null || this.#rows.length === 0) return null;
    const { game: name, version, shape, maxPlayers, tickRate } = game;
    const rows = Uint32Array.from(this.#rows.flat());
    return encode({ format: FORMAT, game: name, version, shape, maxPlayers, tickRate, from: this.#from, state: this.#state, rows }, 0, 'the replay');
  }
}

/** The bytes of a copy; null if it has none, which the next step of the match reports. */
function encoded(driver, saved) {
  try {
    return driver.bytesOf(saved);
  } catch {
    return null;
  }
}

/** A recorded match, played frame by frame. */
export class Replay {
  #driver;
  #file;
  #keyframes = [];
  #row = 0;
  #left = 0;

  constructor(math, options, bytes) {
    const game = defineGame(options);
    this.#file = readFile(bytes, game);
    this.#driver = new Driver(game, math, {});
    const saved = this.#driver.decode(this.#file.state);
    if (saved === undefined) throw new Error('this replay is damaged');
    this.#driver.load(saved);
    const width = ROW_HEAD + 4 * game.maxPlayers;
    this.firstFrame = this.#file.from;
    this.lastFrame = this.firstFrame;
    for (let at = 0; at < this.#file.rows.length; at += width) this.lastFrame += this.#file.rows[at];
    this.frame = this.firstFrame;
    this.tickRate = game.tickRate;
    this.#left = this.#file.rows[0] ?? 0;
    this.#keep();
  }

  get state() {
    return this.#driver.state;
  }

  #keep() {
    const nth = (this.frame - this.firstFrame) / KEYFRAME;
    if (Number.isInteger(nth)) this.#keyframes[nth] ??= { saved: this.#driver.save(), row: this.#row, left: this.#left };
  }

  /** Plays one frame; false at the end. */
  step() {
    if (this.frame === this.lastFrame) return false;
    const rows = this.#file.rows;
    while (this.#left === 0) {
      this.#row += ROW_HEAD + 4 * this.#driver.game.maxPlayers;
      this.#left = rows[this.#row];
    }
    this.#left--;
    const row = this.#row;
    const { inputs } = this.#driver;
    const read = inputs.reader((slot) => rows.subarray(row + ROW_HEAD + 4 * slot, row + ROW_HEAD + 4 * slot + 4), rows[row + 1], rows[row + 2]);
    this.frame++;
    if (!this.#driver.advance(this.frame, read)) throw this.#driver.error;
    this.#keep();
    return true;
  }

  /** Goes to a frame, from the first to the last one. */
  seek(frame) {
    const to = Math.min(this.lastFrame, Math.max(this.firstFrame, Math.trunc(frame)));
    let nth = Math.floor((to - this.firstFrame) / KEYFRAME);
    while (!this.#keyframes[nth]) nth--;
    const at = this.firstFrame + nth * KEYFRAME;
    if (at > this.frame || this.frame > to) {
      const { saved, row, left } = this.#keyframes[nth];
      this.#driver.load(saved);
      [this.frame, this.#row, this.#left] = [at, row, left];
    }
    while (this.frame < to) this.step();
  }
}

function readFile(bytes, game) {
  let file;
  try {
    file = decode(bytes);
  } catch {
    throw new Error('this is no replay, or it is damaged');
  }
  if (file?.format !== FORMAT) throw new Error('this is no replay, or one of another version of the package');
  const named = (of) => `${of.game} ${of.version}`;
  if (named(file) !== named(game)) throw new Error(`this replay is of ${named(file)}, you have ${named(game)}`);
  if (file.shape !== game.shape || file.maxPlayers !== game.maxPlayers) {
    throw new Error(`this replay is of another build of ${named(game)}`);
  }
  const isWhole = file.rows instanceof Uint32Array && file.rows.length % (ROW_HEAD + 4 * game.maxPlayers) === 0;
  if (!(file.state instanceof Uint8Array) || !Number.isInteger(file.from) || !isWhole) throw new Error('this replay is damaged');
  return file;
}
