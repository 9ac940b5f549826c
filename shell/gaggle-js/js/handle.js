// Settings of a room as `src/settings.rs` reads them, and what `src/room.rs` returns, by name.
// Absent: what a room does.

export const JOIN = { matchmake: 0, private: 1, code: 2, spectate: 3, browse: 4, offline: 5 };
/** As the server makes them. */
export const ROOM_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{6}$/i;
const START = { dropIn: 0, hostLateJoin: 1, host: 2 };
const PHASES = ['solo', 'lobby', 'joining', 'playing', 'spectating', 'suspended'];
const FIGURES = [
  'frame', 'confirmedFrame', 'rollbacks', 'framesResimulated', 'deepestRollback', 'stalledTicks', 'inputDelay',
  'packetsSent', 'bytesSent', 'recoveries', 'spared',
];

/** Number and code of a room to join: 'matchmake', 'private', 'offline', 'browse', or its code. */
export function joinTarget(join = 'matchmake') {
  if (typeof join === 'object' && join?.spectate) return [JOIN.spectate, String(join.spectate)];
  return isKind(join) ? [JOIN[join], ''] : [JOIN.code, String(join)];
}

function isKind(join) {
  return Object.hasOwn(JOIN, join) && join !== 'code' && join !== 'spectate';
}

/**
 * The room that a page joins: that of its options if they name one, else that of the link, else that
 * of before a reload. `fallback` takes the place of a room that is gone; null if there is none.
 */
export function choiceOf(join, asked, stored) {
  const isNamed = join !== undefined && (!isKind(join) || join === 'offline');
  if (isNamed) return { join, fallback: null };
  const fallback = join ?? 'matchmake';
  const code = [asked, stored].find((one) => one && ROOM_CODE.test(one));
  const isStored = code !== undefined && code === stored;
  return { join: code ?? fallback, fallback: isStored ? fallback : null };
}

/** Texts and numbers by position. */
export function settingsOf(game, options, seed) {
  const [kind, code] = joinTarget(options.join);
  const start = START[options.start ?? 'dropIn'];
  if (start === undefined) throw new TypeError(`start is ${options.start}; give 'dropIn', 'host' or 'hostLateJoin'`);
  const settings = options.settings === undefined ? '' : JSON.stringify(options.settings);
  const texts = [
    options.server ?? '', game.game, game.version, options.mode ?? '', code, settings,
    options.guestKey ?? '', options.deviceKey ?? '', options.name ?? '', options.token ?? '',
    game.shape, options.conditions ?? '',
  ];
  const preferred = options.preferredSlot ?? -1;
  if (!Number.isInteger(preferred) || preferred < -1 || preferred >= game.maxPlayers) {
    throw new TypeError(`preferredSlot is ${preferred}; give 0 to ${game.maxPlayers - 1}`);
  }
  const numbers = [
    game.maxPlayers, kind, start, preferred + 1, options.localPlayers ?? 1, game.tickRate, game.predictionFrames,
    ...seed,
  ];
  return { texts, numbers: Uint32Array.from(numbers) };
}

export function membersOf(text) {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [peer, name, slots, flags, path, rtt, loss, bytesIn, bytesOut] = line.split('\t');
    const is = (nth) => ((Number(flags) >> nth) & 1) === 1;
    return {
      peer,
      name,
      slots: slots === '' ? [] : slots.split(',').map(Number),
      isLocal: is(0),
      isLeader: is(1),
      isHost: is(2),
      isReady: is(3),
      isAway: is(4),
      path: path || null,
      rtt: rtt === '' ? null : Number(rtt) / 1000,
      loss: Number(loss) / 1000,
      bytesIn: Number(bytesIn),
      bytesOut: Number(bytesOut),
    };
  });
}

export function figuresOf(numbers) {
  return Object.fromEntries(FIGURES.map((name, nth) => [name, numbers[nth]]));
}

export function phaseOf([nth, detail]) {
  return { phase: PHASES[nth], percent: PHASES[nth] === 'joining' ? detail : null, startsAt: nth === 1 && detail >= 0 ? detail : null };
}

export function checksumsOf(text) {
  return text.split('\n').filter((line) => line !== '').map((line) => {
    const [frame, hash] = line.split(' ');
    return { frame: Number(frame), hash };
  });
}
