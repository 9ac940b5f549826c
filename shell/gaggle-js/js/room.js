// A room: what games see of the module's room. Absent: pages, virtual time.

import { decode, encode } from './codec.js';
import { Listeners, Queue } from './events.js';
import { checksumsOf, figuresOf, joinTarget, membersOf, phaseOf } from './handle.js';
import { makePanel } from './panel.js';
import { Recorder } from './replay.js';

const COMMAND = { start: 0, end: 1, kick: 2, host: 3, settings: 4, locked: 5, private: 6, maxPlayers: 7 };
/** Digits of a peer before the bytes of its message. */
const PEER_DIGITS = 32;
/** Time from the end of a room until its memory is free. */
const FREE_AFTER_MS = 1000;

/** Calls the module, whose errors are texts. */
function said(call) {
  try {
    return call();
  } catch (error) {
    throw typeof error === 'string' ? new Error(error) : error;
  }
}

export class Room {
  #handle;
  #driver;
  #game;
  #listeners = new Listeners();
  #queue = new Queue();
  #values = {};
  #code = null;
  #isClosed = false;
  #isClosing = false;
  #isStopped = false;
  #freeing;
  #recorder;
  #words = [0, 0, 0, 0];

  /** For `open` and `simulate`. */
  constructor(game, driver, handle, { record = false } = {}) {
    this.#recorder = record ? new Recorder() : null;
    this.#game = game;
    this.#driver = driver;
    this.#handle = handle;
    this.values = Object.freeze({
      set: (key, value) => this.#setValue(key, value),
      get: (peer, key) => this.#valuesOf(peer)[key],
      of: (peer) => this.#valuesOf(peer),
    });
  }

  get #room() {
    if (this.#driver.isTicking) throw new Error('a room cannot be used inside tick; read the inputs, and act on the room outside');
    if (this.#isClosed) throw new Error('this room is closed');
    return this.#handle;
  }

  on(type, listener) {
    return this.#listeners.on(type, listener);
  }

  /** Does everything that is due at this time, in milliseconds. Returns the number of ticks. */
  update(now = performance.now()) {
    if (this.#isClosed || this.#isStopped) return 0;
    let ticks;
    try {
      ticks = this.#room.update(now);
    } catch (error) {
      // A fault of the module leaves nothing that could go on.
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#isClosed = true;
      this.onClosed?.();
      this.#listeners.tell({ type: 'error', text: `the module failed: ${error.message}`, frame: this.#driver.frame, error });
      throw error;
    }
    this.#deliver();
    // A listener may have closed the room.
    if (this.#isClosed) return Math.max(ticks, 0);
    if (ticks < 0) this.#stop();
    else if (ticks > 0) this.#recorder?.follow(this.#handle, this.#driver, this.frame);
    return Math.max(ticks, 0);
  }

  #deliver() {
    while (this.#handle.pollEvent(this.#queue));
    const messages = [];
    for (let bytes = this.#handle.pollMessage(); bytes.length > 0; bytes = this.#handle.pollMessage()) {
      const from = String.fromCharCode(...bytes.subarray(0, PEER_DIGITS));
      try {
        messages.push({ from, data: decode(bytes, PEER_DIGITS) });
      } catch {
        // Not sent by this package.
      }
    }
    for (const event of this.#queue.take()) {
      if (this.#isClosed) return;
      if (event.type === 'roomJoined') this.#code = event.code;
      if (event.type === 'roomLeft') this.#code = null;
      this.#listeners.tell(event);
    }
    if (messages.length === 0 || this.#isClosed) return;
    const names = new Map(this.members.map((member) => [member.peer, member.name]));
    for (const { from, data } of messages) {
      if (this.#isClosed) return;
      const name = names.get(from) ?? 'a player';
      this.#listeners.tell({ type: 'message', text: `${name} sent a message`, peer: from, name, data });
    }
  }

  #stop() {
    const error = this.#driver.error;
    this.#isStopped = true;
    this.#code = null;
    if (!this.#listeners.has('error')) console.error(error);
    this.#listeners.tell({ type: 'error', text: error.message, frame: error.frame, error });
  }

  get state() {
    return this.#driver.state;
  }

  get previous() {
    const isPrevious = this.#driver.previous !== null && this.#driver.previousFrame === this.frame - 1;
    return isPrevious ? this.#driver.previous : this.#driver.state;
  }

  get error() {
    return this.#driver.error;
  }

  get frame() {
    return this.#room.figures()[0];
  }

  get alpha() {
    return this.#room.alpha();
  }

  get confirmed() {
    const frame = this.#room.confirmedFrame();
    const saved = this.#room.saved(frame);
    if (saved !== undefined) return { frame, state: this.#driver.stateOf(saved) };
    const current = frame === this.frame ? this.#driver.peek() : undefined;
    return current ? { frame, state: this.#driver.stateOf(current) } : null;
  }

  get checksums() {
    return checksumsOf(this.#room.checksums());
  }

  get replay() {
    return this.#recorder?.bytes(this.#game) ?? null;
  }

  get phase() {
    return phaseOf(this.#room.phase()).phase;
  }

  get joiningPercent() {
    return phaseOf(this.#room.phase()).percent;
  }

  get startsAt() {
    return phaseOf(this.#room.phase()).startsAt;
  }

  get code() {
    return this.#code;
  }

  get members() {
    return membersOf(this.#room.members());
  }

  get me() {
    return this.members.find((member) => member.isLocal) ?? null;
  }

  get slot() {
    return this.slots[0] ?? null;
  }

  get slots() {
    return [...this.#room.localSlots()];
  }

  get isHost() {
    return this.#room.isHost();
  }

  get waitingFor() {
    const text = this.#room.stall();
    return text === '' ? [] : text.split(' ');
  }

  get figures() {
    return figuresOf(this.#room.figures());
  }

  get settings() {
    return JSON.parse(this.#room.settings());
  }

  setInput(record, player = 0) {
    this.#room.input(player, ...this.#game.schema.pack(record, this.#words));
  }

  setInputDelay(frames) {
    said(() => this.#room.setInputDelay(frames ?? -1));
  }

  setName(name) {
    this.#room.setName(name);
  }

  setSettings(settings) {
    this.#command(COMMAND.settings, JSON.stringify(settings));
  }

  setAccess({ locked, private: isPrivate, maxPlayers }) {
    if (locked !== undefined) this.#command(COMMAND.locked, '', locked ? 1 : 0);
    if (isPrivate !== undefined) this.#command(COMMAND.private, '', isPrivate ? 1 : 0);
    if (maxPlayers !== undefined) this.#command(COMMAND.maxPlayers, '', maxPlayers);
  }

  ready(isReady = true) {
    this.#room.setReady(isReady);
  }

  start({ countdown = 0 } = {}) {
    this.#command(COMMAND.start, '', countdown * 1000);
  }

  end() {
    this.#command(COMMAND.end);
  }

  kick(peer) {
    this.#command(COMMAND.kick, peer);
  }

  transferHost(peer) {
    this.#command(COMMAND.host, peer);
  }

  #command(nth, text = '', number = 0) {
    said(() => this.#room.hostCommand(nth, text, number));
  }

  send(data, to = '') {
    said(() => this.#room.send(to, encode(data, 0, 'the message')));
  }

  #setValue(key, value) {
    const values = { ...this.#values, [key]: value };
    if (value === undefined || value === null) delete values[key];
    said(() => this.#room.setValues(encode(values, 0, 'values')));
    this.#values = values;
  }

  #valuesOf(peer) {
    const bytes = this.#room.values(peer);
    try {
      const values = bytes.length === 0 ? {} : decode(bytes);
      return typeof values === 'object' && values !== null ? values : {};
    } catch {
      return {};
    }
  }

  join(target) {
    said(() => this.#room.join(...joinTarget(target)));
  }

  spectate(code) {
    this.join({ spectate: code });
  }

  reportResult({ scores, level, digest }) {
    const slots = Object.keys(scores).map(Number);
    const numbers = Float64Array.from(slots, (slot) => scores[slot]);
    const what = encode([slots, [...numbers], level ?? null, digest ?? null], 0, 'the result');
    return this.#room.reportResult(Uint8Array.from(slots), numbers, level ?? -1, what);
  }

  startRound() {
    this.#room.startRound();
  }

  leave() {
    this.#room.leave();
    this.#deliver();
  }

  takeOver() {
    this.#room.takeOver();
  }

  suspend() {
    this.#room.suspend();
  }

  resume() {
    this.#room.resume();
  }

  close() {
    if (this.#isClosed || this.#isClosing) return;
    const room = this.#room;
    this.#isClosing = true;
    room.close();
    this.#deliver();
    room.onArrival?.(undefined);
    this.#isClosed = true;
    // Later, because its last packets are on their way, and a call of it may be running.
    this.#freeing = setTimeout(() => room.free(), FREE_AFTER_MS);
    this.#freeing.unref?.();
    this.onClosed?.();
  }

  get isClosed() {
    return this.#isClosed;
  }

  panel() {
    return makePanel(this);
  }

  /** For the page of `open`: called once the room is closed. */
  onClosed = null;

  /** For the page of `open`. */
  onArrival(handler) {
    if (!this.#isClosed) this.#handle.onArrival(handler);
  }

  /** For `simulate`: the module's room, which this one no longer uses. */
  abandon() {
    clearTimeout(this.#freeing);
    this.#isClosed = true;
    return this.#handle;
  }
}
