/** Whole matches in virtual time, for tests in Node. */

import type { Game, InputFields, InputOf, JoinTarget, Plain, Room } from './gaggle.js';

export { checkDeterminism, GameError, openReplay, Replay, Room } from './gaggle.js';

/** Conditions of every link. */
export interface Conditions {
  /** Round trip in milliseconds. */
  latency?: number;
  /** Largest additional delay in milliseconds. */
  jitter?: number;
  /** Share of lost packets, 0 to 1. */
  loss?: number;
  /** Share of packets lost in bursts, 0 to 1. */
  burst?: number;
}

/** Options of one room of a simulation. */
export interface SimulatedRoom {
  join?: JoinTarget;
  start?: 'dropIn' | 'host' | 'hostLateJoin';
  settings?: Record<string, unknown>;
  name?: string;
  localPlayers?: number;
  record?: boolean;
  version?: string;
}

/** A game and how it is simulated. */
export interface SimulateOptions<S = any, F extends InputFields = any> extends Game<S, F>, Conditions, Omit<SimulatedRoom, 'version'> {
  /** Rooms, 2 by default. */
  players?: number;
  /** The same seed gives the same network. */
  seed?: number;
  /** Checks states and freezes globals; on by default. */
  development?: boolean;
  /** Input of a player for the next frame. */
  inputs?(player: number, frame: number, state: S): Partial<InputOf<F>> | undefined;
  /** When a player's room opens, in seconds. At once by default. */
  openAt?(player: number): number;
  /** Options of one player's room. */
  of?(player: number): SimulatedRoom;
}

/** Rooms of all players in one process. */
export class Simulation<S = any, F extends InputFields = any> {
  private constructor();
  /** Virtual time in milliseconds. */
  readonly now: number;
  /** By player; null before a room opens and after it crashed. */
  readonly rooms: (Room<S, F> | null)[];
  /** Plays for some seconds. */
  run(seconds: number): void;
  /** Plays until the condition holds, 30 seconds at most by default; whether it did. */
  runUntil(condition: (simulation: Simulation<S, F>) => boolean, seconds?: number): boolean;
  /** Opens a player's room, for the first time or again. */
  open(player: number, options?: SimulatedRoom & Partial<Game<S, F>>): Room<S, F>;
  /** Ends a player's process without a word. */
  crash(player: number): void;
  setConditions(conditions: Conditions): void;
  /** Stops the server, or starts it again without its rooms. */
  setServerUp(isUp: boolean): void;
  /** Compares checksums; returns how many were compared. @throws if two differ. */
  assertInSync(): number;
}

export type { Plain };

/** Makes a lobby, a network and a room for each player. */
export function simulate<S, const F extends InputFields>(options: SimulateOptions<S, F>): Promise<Simulation<S, F>>;
