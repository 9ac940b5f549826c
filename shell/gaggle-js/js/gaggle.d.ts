/**
 * Multiplayer rooms for games in JavaScript and TypeScript.
 *
 * All players simulate the same game from each other's inputs: only inputs travel. `tick` must give
 * the same result on every machine, which `checkDeterminism` tests and development mode enforces.
 */

/** What a state may hold: plain data without cycles. `NaN` and `undefined` are errors. */
export type Plain =
  | null
  | boolean
  | number
  | string
  | Plain[]
  | { [name: string]: Plain }
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/**
 * Kind of an input's field. `'press'` counts once per press, however long a key is down; a list of
 * words is one of them, the first if nothing is pressed. At most 16 presses, and 14 bytes of all else.
 */
export type FieldKind =
  | 'bool'
  | 'press'
  | 'int8'
  | 'uint8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | readonly string[];

/** Declared fields of an input. */
export type InputFields = { readonly [name: string]: FieldKind };

/** The record that declared fields make. */
export type InputOf<F extends InputFields> = {
  [Name in keyof F]: F[Name] extends 'bool' | 'press'
    ? boolean
    : F[Name] extends readonly (infer Word)[]
      ? Word
      : number;
};

/** Functions with the same bits in every engine. Use them instead of `Math` inside `tick`. */
export interface GameMath {
  sin(x: number): number;
  cos(x: number): number;
  tan(x: number): number;
  asin(x: number): number;
  acos(x: number): number;
  atan(x: number): number;
  atan2(y: number, x: number): number;
  exp(x: number): number;
  log(x: number): number;
  pow(x: number, y: number): number;
  hypot(x: number, y: number): number;
  sqrt(x: number): number;
  abs(x: number): number;
  sign(x: number): number;
  floor(x: number): number;
  ceil(x: number): number;
  round(x: number): number;
  trunc(x: number): number;
  min(...values: number[]): number;
  max(...values: number[]): number;
  clamp(value: number, least: number, most: number): number;
  readonly PI: number;
  readonly E: number;
}

/** Random numbers that belong to the state: equal on all peers, and rolled back with it. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  (): number;
  /** A whole number from 0 up to, but not including, `count`. */
  below(count: number): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  /** True with this probability, 0 to 1. */
  chance(share: number): boolean;
  /** One item of a list. */
  pick<T>(list: readonly T[]): T;
  /** Puts a list into another order, in place. */
  shuffle<T>(list: T[]): T[];
}

/**
 * The players' inputs of one frame. While an input is only predicted, every read is remembered: if
 * the real one differs in what was read, the frames since are simulated again.
 */
export interface Inputs<I> {
  /** The input of the player in a slot; neutral if there is none. */
  readonly [slot: number]: I;
  /** The same as `inputs[slot]`. */
  get(slot: number): I;
  /**
   * The answer to a weaker question: only another answer costs a rollback. `ask` must not use
   * anything but its arguments; what it needs is passed as `context`, which is plain data.
   */
  ask<C, R>(slot: number, context: C, ask: (input: I, context: C) => R): R;
  /** Whether a player is in this slot. */
  isPresent(slot: number): boolean;
  /** All slots with a player, lowest first. */
  readonly slots: number[];
}

/** What `setup` gets. */
export interface SetupContext {
  readonly random: Random;
  readonly math: GameMath;
  /** Number of the match in its room if its host starts it; 0 before. */
  readonly round: number;
  /** Slots of the players that begin a match together; all slots before. */
  readonly slots: number[];
  /** The room's settings. */
  readonly settings: Record<string, unknown>;
}

/** What `tick` gets. */
export interface TickContext {
  /** Number of the frame that this step makes. */
  readonly frame: number;
  readonly random: Random;
  readonly math: GameMath;
}

/** A game: the part of the options that all peers must have in common. */
export interface Game<S = any, F extends InputFields = any> {
  /** Name at the server: small letters, digits, dashes. */
  game: string;
  /** Change it with every rule of the game: only equal versions play together. */
  version: string;
  /** 2 to 64; 2 by default. */
  maxPlayers?: number;
  /** Declared fields of one player's input. */
  input?: F;
  /** Makes the first state. */
  setup(context: SetupContext): S;
  /** Changes the state by one step, or returns the next one. */
  tick(state: S, inputs: Inputs<InputOf<F>>, context: TickContext): S | void;
  /** Bytes of a state that is not plain data. Equal states have equal bytes. */
  save?(state: S): Uint8Array;
  /** The state of these bytes, which may come from anywhere. Throws if they are none. */
  load?(bytes: Uint8Array): S;
  /** Steps per second, 60 by default. */
  tickRate?: number;
  /** `'rollback'` predicts other players' inputs, `'lockstep'` waits for them. */
  netcode?: 'rollback' | 'lockstep';
  /** Most predicted frames, 1 to 60; 8 by default. */
  predictionFrames?: number;
}

/**
 * The room to join: any open one, a new one that only its code opens, none, or the one with this
 * code, to play or to spectate.
 */
export type JoinTarget = 'matchmake' | 'private' | 'browse' | 'offline' | (string & {}) | { spectate: string };

/** Keys of a page by `KeyboardEvent.code`, such as `'ArrowUp'` or `'KeyW'`. */
export interface Keys {
  /** Whether one of these keys is down, or was since the last frame. */
  isDown(...codes: string[]): boolean;
  /** −1, 0 or 1 by two keys or two lists of keys. */
  axis(less: string | string[], more: string | string[]): number;
}

/** What `draw` gets besides the state. */
export interface DrawContext<S, F extends InputFields> {
  readonly room: Room<S, F>;
  /** How far the display is between `previous` and the state, 0 to 1. */
  readonly alpha: number;
  /** The state one frame ago with `interpolate: true`, otherwise the state itself. */
  readonly previous: S;
}

/** Options of a room in a page. */
export interface OpenOptions<S = any, F extends InputFields = any> extends Game<S, F> {
  /** Address such as `wss://play.example`; by default that of the page. */
  server?: string;
  /**
   * The room to join, any by default. `'matchmake'`, `'private'` and `'browse'` are for a page without
   * `?room=` in its address: a link, or a reload, joins the room it names.
   */
  join?: JoinTarget;
  /** Mode of the game at the server. */
  mode?: string;
  /** Who begins matches in a room that this peer makes: they run from the beginning, or its host starts them. */
  start?: 'dropIn' | 'host' | 'hostLateJoin';
  /** Settings of a room that this peer makes. */
  settings?: object;
  /** Display name of the player. */
  name?: string;
  /** Token of the server's issuer. */
  token?: string;
  /** The slot this player likes, below `maxPlayers`. */
  preferredSlot?: number;
  /** Players at this peer, 1 by default. `controls` returns a list then. */
  localPlayers?: number;
  /** Draws; called for every displayed frame. */
  draw?(state: S, context: DrawContext<S, F>): void;
  /** The local player's input; called for every displayed frame. */
  controls?(keys: Keys): Partial<InputOf<F>> | Partial<InputOf<F>>[];
  /** Keeps the state of the frame before, for `draw`. */
  interpolate?: boolean;
  /**
   * Checks the state after every tick, and freezes what differs between players while `tick` runs.
   * On for pages of localhost.
   */
  development?: boolean;
  /** Whether the room's code is put into the page's address, so that a link invites. On by default. */
  link?: boolean;
  /** Records the shown match for `room.replay`. */
  record?: boolean;
  /** Whether the page's frames update the room; otherwise call `room.update`. On by default. */
  loop?: boolean;
  /** Where the module is, if not beside the script. */
  wasm?: string | URL | Request | Response | BufferSource | WebAssembly.Module;
}

export type Phase = 'solo' | 'lobby' | 'joining' | 'playing' | 'spectating' | 'suspended';

/** A member of the room. */
export interface Member {
  /** Names the peer in messages, values and commands. */
  readonly peer: string;
  readonly name: string;
  /** Slots of its players; empty for a spectator. */
  readonly slots: number[];
  readonly isLocal: boolean;
  /** Has been in the match longest and admits joiners. */
  readonly isLeader: boolean;
  readonly isHost: boolean;
  readonly isReady: boolean;
  /** Its page is hidden, or its connection to the server is lost. */
  readonly isAway: boolean;
  readonly path: 'direct' | 'relay' | 'socket' | null;
  /** Round trip in milliseconds. */
  readonly rtt: number | null;
  /** Share of lost packets, 0 to 1. */
  readonly loss: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

interface Said {
  /** A short sentence for players. */
  readonly text: string;
}
interface OfPeer extends Said {
  readonly peer: string;
  readonly name: string;
}

/** Events of a room by name. */
export interface RoomEvents {
  /** `setup`, `tick`, `save` or `load` threw, in an update or outside: this room has stopped, the other players play on. */
  error: Said & { frame: number; error: GameError };
  roomJoined: Said & { code: string; resumed: boolean };
  roomLeft: Said & { reason: string };
  /** The server rejected a request: another version, a full room, an unknown code. */
  rejected: Said & { code: string };
  matchJoined: Said;
  spectatingStarted: Said;
  joining: Said & { percent: number };
  joinFailed: Said;
  matchStarting: Said & { at: number };
  matchEnded: Said;
  playerJoined: OfPeer;
  playerLeft: OfPeer & { cause: 'left' | 'timed out' };
  playerInterrupted: OfPeer;
  playerResumed: OfPeer;
  slowPlayer: OfPeer & { share: number };
  hostChanged: OfPeer;
  leaderChanged: OfPeer;
  readyChanged: OfPeer & { ready: boolean };
  settingsChanged: Said;
  valuesChanged: OfPeer;
  message: OfPeer & { data: Plain };
  pathChanged: OfPeer & { path: string };
  /** Another build of the game, or data that no correct peer sends. */
  peerRejected: OfPeer & { reason: string };
  linkTooSlow: OfPeer & { rtt: number };
  stateTooLarge: Said & { bytes: number };
  stateNotDecodable: Said & { frame: number };
  desyncDetected: OfPeer & { frame: number };
  desyncLocated: OfPeer & { cause: string };
  desyncRecovered: OfPeer & { frame: number };
  inputsDiverged: OfPeer & { frame: number };
  branchAbandoned: Said;
  resultStored: Said;
  serverLost: Said;
  serverBack: Said;
  openedElsewhere: Said;
  guestKey: Said & { key: string };
  signedIn: Said;
  signInRejected: Said;
}

/** Counters of the shown match. */
export interface Figures {
  readonly frame: number;
  /** Last frame whose inputs are all known. */
  readonly confirmedFrame: number;
  readonly rollbacks: number;
  readonly framesResimulated: number;
  readonly deepestRollback: number;
  /** Ticks in which the game waited for other peers. */
  readonly stalledTicks: number;
  /** Frames between sampling an input and its effect. */
  readonly inputDelay: number;
  readonly packetsSent: number;
  readonly bytesSent: number;
  /** Desyncs of this peer that were repaired. */
  readonly recoveries: number;
  /** Wrong predictions that changed no answer. */
  readonly spared: number;
}

/** One game online: solo at once, with others as soon as they are there. */
export class Room<S = any, F extends InputFields = any> {
  private constructor();
  /** Listens to an event; `'*'` hears all. Returns a function that stops it. */
  on<T extends keyof RoomEvents>(type: T, listener: (event: RoomEvents[T] & { type: T }) => void): () => void;
  on(type: '*', listener: (event: Said & { type: keyof RoomEvents }) => void): () => void;
  /** Does everything that is due at this time in milliseconds, now by default; only without the page's `loop`. */
  update(now?: number): number;
  /** Sets the input of a local player until the next call. */
  setInput(input: Partial<InputOf<F>>, player?: number): void;
  /** The state to draw. Only `tick` may change it. */
  readonly state: S;
  /** The state one frame ago with `interpolate: true`, otherwise the state. */
  readonly previous: S;
  readonly alpha: number;
  readonly frame: number;
  /** A copy of the latest state without predictions, equal on all peers; null if it is not held. */
  readonly confirmed: { frame: number; state: S } | null;
  /** Checksums of the last minute: equal frames of one match have equal hashes on all peers. */
  readonly checksums: { frame: number; hash: string }[];
  /** The shown match so far as bytes, with `record: true`: for `openReplay`, in a file or sent away. */
  readonly replay: Uint8Array | null;
  /** What stopped this room. */
  readonly error: GameError | null;
  readonly phase: Phase;
  /** How much of a match has arrived while it is joined, 0 to 100. */
  readonly joiningPercent: number | null;
  /** When the match starts, while the countdown runs, in the time of `performance.now()`. */
  readonly startsAt: number | null;
  /** Six letters that others join by; null while solo. */
  readonly code: string | null;
  readonly members: Member[];
  readonly me: Member | null;
  /** Slot of the local player; null for a spectator. */
  readonly slot: number | null;
  readonly slots: number[];
  /** May kick, start and change settings. */
  readonly isHost: boolean;
  /** Peers whose input is missing while the match stalls. */
  readonly waitingFor: string[];
  readonly figures: Figures;
  /** Settings of the room, which its host sets. */
  readonly settings: Record<string, unknown>;
  setSettings(settings: object): void;
  setAccess(access: { locked?: boolean; private?: boolean; maxPlayers?: number }): void;
  /** Tells the others that the local player is ready for the next match. */
  ready(isReady?: boolean): void;
  /** The host starts a match after so many seconds. */
  start(options?: { countdown?: number }): void;
  /** The host ends the match. */
  end(): void;
  kick(peer: string): void;
  transferHost(peer: string): void;
  setName(name: string): void;
  /** Frames between input and effect; none adapts to the network. */
  setInputDelay(frames?: number): void;
  /** Sends plain data beside the match, to one peer or all; 4,096 bytes at most. */
  send(data: unknown, to?: string): void;
  /** What members tell all others, later joiners included; 2,048 bytes per member. */
  readonly values: {
    set(key: string, value: unknown): void;
    get(peer: string, key: string): Plain | undefined;
    of(peer: string): Record<string, Plain>;
  };
  join(target: JoinTarget): void;
  spectate(code: string): void;
  /**
   * Reports how a match ended, by slot. Every peer reports the same, from a confirmed state. Returns
   * whether it was sent.
   */
  reportResult(result: { scores: Record<number, number>; level?: number; digest?: Plain }): boolean;
  /** Begins another match in the same room. */
  startRound(): void;
  /** Leaves the room and plays on alone. */
  leave(): void;
  /** Takes the slot over from another tab. */
  takeOver(): void;
  suspend(): void;
  resume(): void;
  /** Ends the room; the server keeps the slot for ten seconds. */
  close(): void;
  readonly isClosed: boolean;
  /** An element that shows what the network does. */
  panel(): HTMLElement;
}

/** An error in a game, and its frame. `cause` is what was thrown. */
export class GameError extends Error {
  readonly frame: number;
}

/** Options of a check. */
export interface CheckOptions<F extends InputFields = any> {
  /** Steps to play, 600 by default. */
  frames?: number;
  /** Players, all by default. */
  players?: number;
  /** Frames of each rollback, 8 by default. */
  depth?: number;
  seed?: number;
  /** Inputs of a player in a frame; random ones by default. */
  inputs?(slot: number, frame: number, random: Random): Partial<InputOf<F>>;
}

/**
 * Opens a room: the game runs at once, alone, and joins others when it finds them.
 *
 * @throws if an option is wrong, or `setup` throws.
 */
export function open<S, const F extends InputFields>(options: OpenOptions<S, F>): Promise<Room<S, F>>;

/** A recorded match. Show `state` after each `step`, or after `seek`. */
export class Replay<S = any> {
  private constructor();
  readonly state: S;
  /** As counted in the match. */
  readonly frame: number;
  /** Where the recording begins: for a joiner later than the match. */
  readonly firstFrame: number;
  readonly lastFrame: number;
  readonly tickRate: number;
  /** Plays one frame; false at the end. */
  step(): boolean;
  seek(frame: number): void;
}

/** Opens a replay. @throws if the bytes are none, or of another game or version. */
export function openReplay<S, const F extends InputFields>(game: Game<S, F>, bytes: Uint8Array): Promise<Replay<S>>;

/** Loads the module before a room is opened. */
export function load(wasm?: OpenOptions['wasm']): Promise<unknown>;

/**
 * Plays a game four ways with the same inputs: straight, again, with a rollback in every frame, and
 * saved and loaded in every frame. Returns the last state.
 *
 * @throws with the frame and the path of the first difference.
 */
export function checkDeterminism<S, const F extends InputFields>(game: Game<S, F>, options?: CheckOptions<F>): Promise<S>;
