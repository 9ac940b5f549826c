// A check of a game before it is played: whether rollback, copies and encodings change what
// happens. Absent: networks.

import { difference } from './codec.js';
import { Driver } from './driver.js';
import { defineGame } from './game.js';
import { readRow } from './inputs.js';
import { Generator, randomOf } from './random.js';

/** Plays a game four ways with the same inputs; throws an error that names the first difference. */
export function checkWith(math, options, { frames = 600, players, depth = 8, seed = 1, inputs } = {}) {
  const game = defineGame(options);
  const count = players ?? game.maxPlayers;
  const present = Array.from({ length: count }, (_, slot) => slot);
  const make = () => new Driver(game, math, { development: true, seed: [seed, seed] });
  const [straight, second, rolled, traveled] = [make(), make(), make(), make()];
  compare('at the start, a second setup gave another state', straight, second);
  const draw = randomOf(new Generator(seed, 7));
  let held = present.map(() => ({}));
  const past = [];
  for (let frame = 1; frame <= frames; frame++) {
    // Keys are held for a while, as players do.
    if (inputs) held = present.map((slot) => inputs(slot, frame, draw));
    else held = held.map((before) => (draw.chance(0.2) || frame === 1 ? game.schema.draw(draw.below) : before));
    const row = held;
    const step = (driver, at, with_) => {
      if (!driver.advance(at, readRow(driver.inputs, game.schema, with_, present))) throw driver.error;
    };
    step(straight, frame, row);
    step(second, frame, row);
    compare(`in frame ${frame}, a second run with the same inputs gave another state`, straight, second);
    past.push({ frame, row, saved: rolled.save() });
    if (past.length > depth) past.shift();
    step(rolled, frame, row);
    rolled.load(past[0].saved);
    for (const { frame: at, row: again } of past) step(rolled, at, again);
    compare(`in frame ${frame}, ${past.length} frames after a rollback gave another state`, straight, rolled);
    step(traveled, frame, row);
    const bytes = traveled.encode(traveled.save());
    const read = traveled.error ? undefined : traveled.decode(bytes);
    if (traveled.error) throw traveled.error;
    if (read === undefined) throw new Error(`in frame ${frame}, the state cannot be read back from its bytes`);
    traveled.load(read);
    compare(`in frame ${frame}, the state changed by saving and loading`, straight, traveled);
  }
  return straight.state;
}

function compare(what, one, other) {
  const words = (driver) => [...driver.generator.words];
  const states = one.game.save ? [[...one.save().state], [...other.save().state]] : [one.state, other.state];
  const found = difference(...states) ?? difference(words(one), words(other), 'random');
  if (found) throw new Error(`${what}: ${found}; keep all that tick reads in the state`);
}
