// Development mode: while `tick` runs, what differs between players throws an error that names its
// line. Absent: rooms.

const SAME = 'the same on every peer';
const OF_MATH = ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'exp', 'log', 'pow', 'hypot'];
const WITHOUT_TWIN = ['sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'expm1', 'log1p', 'log2', 'log10', 'cbrt'];
const LATER = ['setTimeout', 'setInterval', 'requestAnimationFrame', 'queueMicrotask', 'fetch'];

const BY_LANGUAGE = 'compare with `<`, and make texts for players outside of tick';
/** What a player's language and place decide. */
const OF_LANGUAGE = [
  ...['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase'].map((name) => [String.prototype, 'String', name, BY_LANGUAGE]),
  [Number.prototype, 'Number', 'toLocaleString', BY_LANGUAGE],
  ...['Collator', 'NumberFormat', 'DateTimeFormat'].map((name) => [globalThis.Intl, 'Intl', name, BY_LANGUAGE]),
];

/** Owner, name of the owner, function, and what to use instead. */
const TRAPS = [
  [Math, 'Math', 'random', 'use the `random` that tick gets'],
  ...OF_MATH.map((name) => [Math, 'Math', name, `use \`math.${name}\`, which is ${SAME}`]),
  ...WITHOUT_TWIN.map((name) => [Math, 'Math', name, 'build it from `math.exp` and `math.log`']),
  ...OF_LANGUAGE,
  [globalThis.performance, 'performance', 'now', 'use `frame`'],
  [globalThis.crypto, 'crypto', 'getRandomValues', 'use the `random` that tick gets'],
  [globalThis.crypto, 'crypto', 'randomUUID', 'use the `random` that tick gets'],
  ...LATER.map((name) => [globalThis, '', name, 'count frames in the state']),
].filter(([owner, , name]) => typeof owner?.[name] === 'function');

/** Place of the caller of a trap, from the lines of a stack, which differ between engines. */
function placeOf(stack) {
  const lines = String(stack).split('\n');
  const caller = lines[lines[0].startsWith('Error') ? 3 : 2] ?? '';
  return caller.match(/([^/\\(@\s]+:\d+:\d+)\)?\s*$/)?.[1] ?? 'an unknown line';
}

function complain(what, instead) {
  const place = placeOf(new Error().stack);
  throw new Error(`tick called ${what} at ${place}, which differs between players; ${instead}`);
}

const trapped = TRAPS.map(([owner, of, name, instead]) => {
  const trap = function () {
    complain(`${of ? `${of}.` : ''}${name}()`, instead);
  };
  return { owner, name, trap, own: Object.getOwnPropertyDescriptor(owner, name), real: null };
});

const TrapDate = new Proxy(globalThis.Date, {
  construct: () => complain('new Date()', 'use `frame`'),
  apply: () => complain('Date()', 'use `frame`'),
  get: (date, name) => {
    const isTrap = name === 'now' || name === 'parse';
    return isTrap ? () => complain(`Date.${name}()`, 'use `frame`') : Reflect.get(date, name);
  },
});

/** Runs `tick` while everything that differs between players is frozen. */
export function frozen(tick) {
  for (const one of trapped) {
    one.real = one.owner[one.name];
    one.owner[one.name] = one.trap;
  }
  // Tests may have put a clock of their own here.
  const date = globalThis.Date;
  globalThis.Date = TrapDate;
  try {
    return tick();
  } finally {
    globalThis.Date = date;
    for (const one of trapped) {
      if (one.own) one.owner[one.name] = one.real;
      else delete one.owner[one.name];
    }
  }
}
