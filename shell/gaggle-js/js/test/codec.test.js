// The codec: what travels, what is rejected, and with which words.

import assert from 'node:assert/strict';
import test from 'node:test';

import { copy, decode, difference, encode, problem } from '../codec.js';
import { Generator, randomOf } from '../random.js';

const RICH = {
  ships: [{ x: 1.5, y: -0, name: 'Ünïcode 🦆', half: '\ud83e' }, { x: -33, y: 159, name: '', half: 'a' }],
  big: Number.MAX_SAFE_INTEGER,
  small: Number.MIN_SAFE_INTEGER,
  far: [Infinity, -Infinity, 1e300, 5e-324],
  flags: [true, false, null],
  5: 'numbers come first',
  bytes: new Uint8Array([1, 2, 3]),
  floats: new Float32Array([0.5, -0]),
  empty: { list: [], object: {} },
};

test('data_survives_encoding_and_copying', () => {
  for (const other of [decode(encode(RICH)), copy(RICH)]) {
    assert.deepEqual(other, RICH);
    assert.equal(difference(RICH, other), null);
    assert.notEqual(other.ships[0], RICH.ships[0]);
    assert.notEqual(other.bytes.buffer, RICH.bytes.buffer);
  }
  assert.deepEqual(encode(decode(encode(RICH))), encode(RICH));
});

test('copy_is_independent_of_later_changes', () => {
  const state = { list: [{ n: 1 }], typed: new Int32Array(2) };
  const saved = copy(state);
  state.list[0].n = 2;
  state.typed[0] = 9;
  assert.deepEqual(saved, { list: [{ n: 1 }], typed: new Int32Array(2) });
});

test('bad_state_is_rejected_with_its_path', () => {
  class Ship {}
  const cycle = { ships: [{}] };
  cycle.ships[0].owner = cycle.ships;
  const shared = { one: { x: 1 } };
  shared.two = [shared.one];
  const sparse = [1, 2];
  sparse[5] = 1;
  const cases = [
    [{ ships: [1, 2, 3, { onHit() {} }] }, 'state.ships[3].onHit is a function'],
    [{ a: { b: [NaN] } }, 'state.a.b[0] is NaN'],
    [{ scores: new Map() }, 'state.scores is a Map; use an object'],
    [{ tags: new Set() }, 'state.tags is a Set; use a list'],
    [{ at: new Date(0) }, 'state.at is a Date'],
    [{ ship: new Ship() }, 'state.ship is a Ship; use an object without a class'],
    [cycle, 'state.ships[0].owner leads back to state.ships'],
    [{ x: undefined }, 'state.x is undefined'],
    [{ x: 1n }, 'state.x is a bigint'],
    [{ x: Symbol('s') }, 'state.x is a symbol'],
    [{ 'a b': () => 0 }, 'state["a b"] is a function'],
    [{ sparse }, 'state.sparse[2] is undefined'],
    [new Map(), 'state is a Map'],
  ];
  for (const [state, words] of cases) {
    assert.ok(problem(state)?.startsWith(words), `${problem(state)} instead of ${words}`);
    for (const refuse of [copy, encode]) assert.throws(() => refuse(state), { message: problem(state) }, words);
  }
  // A copy would not notice these; encoding and development mode do.
  const floats = { typed: new Float64Array([0, NaN]) };
  assert.match(problem(floats), /state\.typed\[1\] is NaN/);
  assert.throws(() => encode(floats), /is NaN/);
  assert.match(problem(shared), /state\.two\[0\] is the same object as state\.one/);
  assert.throws(() => encode(shared), /same object/);
  assert.match(problem({ [Symbol('s')]: 1 }), /symbol as a name/);
  let deep = {};
  for (let level = 0; level < 100; level++) deep = { deep };
  assert.throws(() => copy(deep), /nested deeper/);
  assert.throws(() => copy(JSON.parse('{"__proto__": 1}')), /reserved/);
});

test('names_alike_and_dots_in_names_mislead_no_message', () => {
  const one = { x: 1 };
  assert.match(problem({ a: one, ab: one }), /state\.ab is the same object as state\.a;/);
  assert.equal(problem({ ['a.b.c[0].d'.repeat(40)]: [{}] }), null);
});

test('decoder_refuses_what_encoder_refuses', () => {
  const nested = (levels, last) => Uint8Array.from([...Array(levels).fill([8, 1]).flat(), ...last]);
  const nan = new Uint8Array(9);
  new DataView(nan.buffer).setFloat64(1, NaN, true);
  nan[0] = 3;
  const typed = encode(new Float32Array([1]));
  typed.fill(255, 2);
  for (const [bytes, words] of [[nan, /NaN/], [typed, /NaN/], [nested(64, [9, 0]), /too deep/], [nested(64, [17, 0]), /too deep/]]) {
    assert.throws(() => decode(bytes), (error) => error instanceof RangeError && words.test(error.message));
  }
  for (const most of [nested(64, [0]), nested(63, [9, 0])]) assert.deepEqual(encode(copy(decode(most))), most);
});

test('foreign_bytes_are_rejected_or_canonical', () => {
  const random = randomOf(new Generator(3, 4));
  const good = encode(RICH);
  let [rejected, accepted] = [0, 0];
  for (let round = 0; round < 20_000; round++) {
    const bytes = good.slice(0, random.chance(0.3) ? random.between(1, good.length) : good.length);
    for (let change = random.between(1, 3); change > 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    let read;
    try {
      read = decode(bytes);
      accepted++;
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error.stack));
      rejected++;
      continue;
    }
    assert.doesNotThrow(() => [copy(read), encode(read)]);
  }
  assert.ok(rejected > 1000 && accepted > 1000, `${rejected} rejected, ${accepted} accepted`);
  // A count of a billion allocates nothing.
  assert.throws(() => decode(Uint8Array.of(8, 255, 255, 255, 255, 3)), /ends early/);
  assert.equal({}.polluted, undefined);
});

test('difference_names_path_and_values', () => {
  assert.equal(difference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }), 'state.a[1].b is 2 and 3');
  assert.equal(difference({ a: 0 }, { a: -0 }), 'state.a is 0 and -0');
  assert.equal(difference({}, { a: 1 }), 'state.a is missing and 1');
  assert.match(difference({ a: 1, b: 2 }, { b: 2, a: 1 }), /another order/);
});
