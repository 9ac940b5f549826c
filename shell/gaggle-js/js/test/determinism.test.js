// `checkDeterminism`: sound games pass, each kind of mistake is named.

import assert from 'node:assert/strict';
import test from 'node:test';

import { checkDeterminism } from 'gaggle-js/testing';

import { ships } from './games.js';

const small = (tick, setup = () => ({ n: 0 })) => ({ game: 'small', version: '1', input: { go: 'bool' }, setup, tick });

test('sound_game_passes_and_returns_its_end', async () => {
  const end = await checkDeterminism(ships, { frames: 300 });
  assert.ok(end.ships.some((ship) => ship.shots > 0) && end.log.last, JSON.stringify(end));
  assert.deepEqual(await checkDeterminism(ships, { frames: 300 }), end);
  const other = await checkDeterminism(ships, { frames: 300, seed: 2 });
  assert.notDeepEqual(other, end);
});

test('state_outside_of_state_is_found', async () => {
  let outside = 0;
  const leaky = small((state, inputs) => {
    if (inputs[0].go) state.n = ++outside;
  });
  await assert.rejects(checkDeterminism(leaky), /in frame \d+, .*: state\.n is \d+ and \d+; keep all/);
});

test('cached_object_outside_of_state_is_found', async () => {
  const seen = new WeakMap();
  const cached = small((state) => {
    if (!seen.has(state)) seen.set(state, 0);
    seen.set(state, seen.get(state) + 1);
    state.n = seen.get(state);
  });
  await assert.rejects(checkDeterminism(cached), /in frame 2, the state changed by saving and loading: state\.n is 2 and 1/);
});

test('globals_and_bad_states_are_named', async () => {
  const cases = [
    [small((state) => void (state.n = Math.random())), /tick failed in frame 1: tick called Math\.random\(\) at determinism\.test\.js:\d+:\d+/],
    [small((state) => void (state.n = 0 / 0)), /tick failed in frame 1: state\.n is NaN/],
    [small((state) => void (state.on = () => 0)), /state\.on is a function/],
    [small((state, inputs) => void (state.last = inputs[0], state.again = state.last)), /same object/],
    [small(async () => {}), /tick is async/],
    [small(() => Promise.resolve()), /returned a promise/],
    [small(() => {}, () => undefined), /setup returned nothing/],
    [small(() => {}, () => ({ m: new Map() })), /state\.m is a Map/],
  ];
  for (const [game, words] of cases) await assert.rejects(checkDeterminism(game), words);
});

test('language_of_player_and_clocks_are_trapped', async () => {
  const cases = {
    'String.localeCompare': () => 'a'.localeCompare('b'),
    'String.toLocaleUpperCase': () => 'i'.toLocaleUpperCase(),
    'Number.toLocaleString': () => (1.5).toLocaleString(),
    'Intl.Collator': () => new Intl.Collator(),
    'Intl.NumberFormat': () => Intl.NumberFormat(),
    'Date.parse': () => Date.parse('2000-01-01 00:00'),
    'Date.now': () => Date.now(),
  };
  const clock = globalThis.Date;
  for (const [name, call] of Object.entries(cases)) {
    const wrong = small((state) => void (state.n = String(call())));
    await assert.rejects(checkDeterminism(wrong), (error) => error.message.includes(`tick called ${name}()`));
    call();
  }
  class Fake extends clock {}
  globalThis.Date = Fake;
  try {
    await checkDeterminism(small((state) => void state.n++), { frames: 2 });
    assert.equal(globalThis.Date, Fake);
  } finally {
    globalThis.Date = clock;
  }
});

test('own_save_and_load_are_used_and_checked', async () => {
  class Counter {
    n = 0;
  }
  const own = {
    ...small((state, inputs) => void (state.n += inputs[0].go ? 1 : 2), () => new Counter()),
    save: (state) => Uint8Array.of(state.n & 255, state.n >> 8),
    load: (bytes) => Object.assign(new Counter(), { n: bytes[0] | (bytes[1] << 8) }),
  };
  const end = await checkDeterminism(own, { frames: 100 });
  assert.ok(end instanceof Counter && end.n > 100);
  const lossy = { ...own, load: (bytes) => Object.assign(new Counter(), { n: bytes[0] }) };
  await assert.rejects(checkDeterminism(lossy, { frames: 300 }), /in frame \d+/);
});
