// Cost of saving and loading a state, beside structuredClone and JSON: `node copy.js`.
// Absent: rooms.

import { copy, decode, encode } from '../codec.js';

const ROUNDS = 3000;

/** A state of about 10 KB: 100 bodies of eight fields, and a grid. */
const state = {
  bodies: Array.from({ length: 100 }, (_, nth) => ({
    x: nth * 1.25, y: nth / 3, vx: 0.5, vy: -0.25, angle: nth, health: nth % 7, name: `body ${nth}`, isAlive: nth % 3 > 0,
  })),
  grid: new Uint8Array(2048),
  frame: 12345,
};

function microseconds(work) {
  for (let round = 0; round < ROUNDS; round++) work();
  let best = Infinity;
  for (let pass = 0; pass < 5; pass++) {
    const began = performance.now();
    for (let round = 0; round < ROUNDS; round++) work();
    best = Math.min(best, ((performance.now() - began) * 1000) / ROUNDS);
  }
  return best;
}

const bytes = encode(state);
const clone = microseconds(() => structuredClone(state));
const rows = {
  'structuredClone': clone,
  'JSON.parse(JSON.stringify)': microseconds(() => JSON.parse(JSON.stringify(state))),
  'save or load (copy)': microseconds(() => copy(state)),
  'encode, for a joiner or a checksum': microseconds(() => encode(state)),
  'decode': microseconds(() => decode(bytes)),
};
console.log(`a state of ${bytes.length} bytes`);
for (const [name, time] of Object.entries(rows)) console.log(`${time.toFixed(1).padStart(8)} µs  ${name}, 1/${(clone / time).toFixed(1)} of structuredClone`);
