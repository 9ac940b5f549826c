// Rooms of a page: the module, its clock, its keys, its address and its storage. Absent: games.

import { checkWith } from './determinism.js';
import { Driver } from './driver.js';
import { defineGame } from './game.js';
import { choiceOf, ROOM_CODE, settingsOf } from './handle.js';
import { questions } from './inputs.js';
import { Keys } from './keys.js';
import { mathOf } from './math.js';
import { Replay } from './replay.js';
import { Room } from './room.js';
import { loadModule } from './load.js';

/** Update interval of a hidden page. */
const HIDDEN_EVERY_MS = 250;

let ready = null;

/** Loads the module once. */
export function load(from) {
  ready ??= loadModule(from).then((module) => {
    module.setQuestions(questions);
    return { module, math: mathOf(module) };
  });
  // A module that did not arrive may arrive when it is asked for again.
  ready.catch(() => (ready = null));
  return ready;
}

export async function openReplay(game, bytes) {
  const { math } = await load();
  return new Replay(math, game, bytes);
}

export async function checkDeterminism(game, options) {
  const { math } = await load();
  return checkWith(math, game, options);
}

/** Storage that a browser may deny. */
function kept(lasting, name, value) {
  try {
    const storage = lasting ? localStorage : sessionStorage;
    if (value === undefined) return storage.getItem(name);
    if (value === null) storage.removeItem(name);
    else storage.setItem(name, value);
  } catch {
    // Then nothing is kept.
  }
  return null;
}

function seedOf() {
  return [...crypto.getRandomValues(new Uint32Array(2))];
}

function isLocalPage() {
  return location.protocol === 'file:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);
}

export async function open(options) {
  const game = defineGame(options);
  const { module, math } = await load(options.wasm);
  const page = new Page(options, game);
  const seed = seedOf();
  const { development = isLocalPage(), interpolate = false } = options;
  if (development && /[^*]\*\*[^*]/.test(String(game.tick))) console.warn('gaggle: tick uses `**`, which differs between engines for fractions; use `math.pow`');
  const driver = new Driver(game, math, { development, interpolate, seed });
  const { texts, numbers } = settingsOf(game, page.options(), seed);
  let handle;
  try {
    handle = module.Room.open(performance.now(), texts, numbers, driver);
  } catch (error) {
    throw typeof error === 'string' ? new Error(`gaggle: ${error}`) : error;
  }
  const room = new Room(game, driver, handle, options);
  page.run(room);
  return room;
}

class Page {
  #options;
  #name;
  #fallback;
  #keys = null;
  #ended = new AbortController();

  constructor(options, game) {
    this.#options = options;
    this.#name = `gaggle.${game.game}`;
    const asked = new URLSearchParams(location.search).get('room');
    const stored = kept(false, `${this.#name}.room`);
    if (asked && !ROOM_CODE.test(asked)) console.warn(`gaggle: ?room=${asked} is no code of a room`);
    const { join, fallback } = choiceOf(options.join, asked, stored);
    this.join = join;
    this.#fallback = fallback;
  }

  /** The options of the room, with what the page knows. */
  options() {
    const device = kept(false, `${this.#name}.device`) ?? crypto.getRandomValues(new Uint32Array(2)).join('-');
    kept(false, `${this.#name}.device`, device);
    return {
      guestKey: kept(true, `${this.#name}.key`) ?? '',
      deviceKey: device,
      conditions: isLocalPage() ? location.search : '',
      ...this.#options,
      join: this.join,
    };
  }

  run(room) {
    const { link = true, loop = true, controls } = this.#options;
    if (loop && controls) this.#keys = new Keys(window, this.#ended.signal);
    room.on('guestKey', ({ key }) => kept(true, `${this.#name}.key`, key));
    room.on('roomJoined', ({ code }) => {
      this.#fallback = null;
      kept(false, `${this.#name}.room`, code);
      if (link) this.#address(code);
    });
    room.on('roomLeft', () => {
      kept(false, `${this.#name}.room`, null);
      if (link) this.#address(null);
    });
    room.on('rejected', (event) => {
      // The room of before a reload is gone; one that a link names is reported.
      if (this.#fallback && room.code === null) {
        const join = this.#fallback;
        this.#fallback = null;
        kept(false, `${this.#name}.room`, null);
        room.join(join);
      } else {
        console.warn(`gaggle: ${event.text}`);
      }
    });
    for (const type of ['desyncDetected', 'desyncLocated', 'peerRejected', 'stateTooLarge', 'linkTooSlow']) {
      room.on(type, (event) => console.warn(`gaggle: ${event.text}`));
    }
    this.#watch(room);
    if (loop) this.#loop(room);
  }

  /** Puts the code into the address, so that a link invites. */
  #address(code) {
    const url = new URL(location.href);
    if (code) url.searchParams.set('room', code);
    else url.searchParams.delete('room');
    history.replaceState(history.state, '', url);
  }

  #watch(room) {
    const { signal } = this.#ended;
    const look = () => room.update(performance.now());
    const note = () => {
      if (room.isClosed || room.error) return;
      room.onArrival(document.hidden ? look : undefined);
      if (document.hidden) room.suspend();
      else room.resume();
    };
    note();
    document.addEventListener('visibilitychange', note, { signal });
    const timer = setInterval(() => document.hidden && look(), HIDDEN_EVERY_MS);
    const hide = () => {
      // Restored from the cache of pages: its slot and links are gone.
      addEventListener('pageshow', (event) => event.persisted && location.reload(), { once: true });
      if (!room.error) room.close();
    };
    addEventListener('pagehide', hide, { signal });
    room.onClosed = () => {
      clearInterval(timer);
      this.#ended.abort();
    };
  }

  #loop(room) {
    const { controls, draw } = this.#options;
    const frame = () => {
      if (room.isClosed) return;
      requestAnimationFrame(frame);
      if (controls && !room.error) {
        [controls(this.#keys)].flat().forEach((input, player) => input && room.setInput(input, player));
        this.#keys.seen();
      }
      // Also after an error, which it reports.
      room.update(performance.now());
      // A step that threw may have left half a state, so the picture before it stays.
      if (!room.isClosed && !room.error) draw?.(room.state, { room, alpha: room.alpha, previous: room.previous });
    };
    requestAnimationFrame(frame);
  }
}
