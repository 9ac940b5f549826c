// Whole matches in virtual time, for tests: a lobby, a network and the rooms of all players in one
// process. Absent: pages, sockets.

import { Driver } from './driver.js';
import { defineGame, gameOptions } from './game.js';
import { settingsOf } from './handle.js';
import { Room } from './room.js';

/** Conditions of the network as the address of a page writes them. */
function query({ latency = 0, jitter = 0, loss = 0, burst = 0 }) {
  const percent = (share) => String(Math.round(share * 100_000) / 1_000);
  return `latency=${Math.round(latency)}&jitter=${Math.round(jitter)}&loss=${percent(loss)}&burst=${percent(burst)}`;
}

export class Simulation {
  #network;
  #game;
  #math;
  #options;

  constructor(Network, math, options) {
    this.#options = { players: 2, seed: 1, development: true, ...options };
    this.#game = defineGame(options);
    this.#math = math;
    const { players, seed, openAt = () => 0 } = this.#options;
    this.#network = new Network(players, seed, query(this.#options));
    this.now = 0;
    this.rooms = new Array(players).fill(null);
    this.waiting = this.rooms.map((_, player) => ({ player, at: openAt(player) * 1000 }));
    this.#openDue();
  }

  #openDue() {
    const due = this.waiting.filter(({ at }) => at <= this.now);
    this.waiting = this.waiting.filter(({ at }) => at > this.now);
    for (const { player } of due) this.open(player);
  }

  /** Opens the room of a player, for the first time or again. */
  open(player, options = {}) {
    const own = { ...this.#options.of?.(player), ...options };
    const all = { ...this.#options, ...own };
    const game = Object.keys(gameOptions(own)).length > 0 ? defineGame(all) : this.#game;
    const seed = [all.seed, player];
    const driver = new Driver(game, this.#math, { ...all, seed });
    const keys = { guestKey: `guest-key-of-peer-${player}`, name: `Player ${player}` };
    const { texts, numbers } = settingsOf(game, { ...keys, ...all, server: '' }, seed);
    try {
      this.rooms[player] = new Room(game, driver, this.#network.open(player, texts, numbers, driver), all);
    } catch (error) {
      throw typeof error === 'string' ? new Error(error) : error;
    }
    return this.rooms[player];
  }

  /** Plays for some seconds. */
  run(seconds) {
    this.runUntil(() => false, seconds);
  }

  /** Plays until a condition holds; whether it did within these seconds. */
  runUntil(condition, seconds = 30) {
    const end = this.now + seconds * 1000;
    while (this.now < end) {
      this.now = this.#network.advance();
      this.#openDue();
      for (const [player, room] of this.rooms.entries()) {
        if (!room || room.isClosed) continue;
        const input = room.error ? null : this.#options.inputs?.(player, room.frame, room.state);
        if (input) room.setInput(input);
        room.update(this.now);
      }
      if (condition(this)) return true;
    }
    return false;
  }

  /** The process of a player ends without a word. */
  crash(player) {
    const room = this.rooms[player];
    this.rooms[player] = null;
    this.#network.crash(player, room.abandon());
  }

  setConditions(conditions) {
    this.#network.setConditions(query(conditions));
  }

  setServerUp(isUp) {
    this.#network.setServerUp(isUp);
  }

  /** Compares the checksums of all rooms; returns how many were compared, throws if two differ. */
  assertInSync() {
    const known = new Map();
    let compared = 0;
    for (const [player, room] of this.rooms.entries()) {
      if (!room || room.isClosed || room.error) continue;
      for (const { frame, hash } of room.checksums) {
        const other = known.get(frame);
        if (!other) {
          known.set(frame, { player, hash });
          continue;
        }
        compared++;
        if (other.hash !== hash) throw new Error(`in frame ${frame} players ${other.player} and ${player} have different states`);
      }
    }
    return compared;
  }
}
