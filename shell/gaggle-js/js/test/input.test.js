// Declared inputs, random numbers and frozen globals.

import assert from 'node:assert/strict';
import test from 'node:test';

import { frozen } from '../freeze.js';
import { InputSchema } from '../input.js';
import { Generator, randomOf } from '../random.js';

const ALL = { fire: 'press', x: 'int8', wide: 'uint32', up: 'bool', way: ['none', 'left', 'right'], y: 'int16', last: 'int16', jump: 'press' };

test('record_survives_packing', () => {
  const schema = new InputSchema(ALL);
  const random = randomOf(new Generator(1, 2));
  for (let round = 0; round < 1000; round++) {
    const record = schema.draw(random.below);
    assert.deepEqual(schema.unpack(schema.pack(record)), record);
  }
  assert.deepEqual(schema.unpack(schema.pack({ x: -128, wide: 2 ** 32 - 1, last: -(2 ** 15), way: 'right' })), {
    fire: false, x: -128, wide: 2 ** 32 - 1, up: false, way: 'right', y: 0, last: -(2 ** 15), jump: false,
  });
  assert.deepEqual(schema.pack({ fire: true }), [0, 0, 0, 0x10000]);
});

test('numbers_are_rounded_and_limited', () => {
  const schema = new InputSchema({ x: 'int8' });
  for (const [given, taken] of [[0.6, 1], [-0.4, 0], [500, 127], [-500, -128]]) {
    assert.equal(schema.unpack(schema.pack({ x: given })).x, taken);
  }
});

test('wrong_declaration_or_record_is_named', () => {
  assert.throws(() => new InputSchema({ x: 'float' }), /field x is "float"; give 'bool', 'press'/);
  assert.throws(() => new InputSchema({ a: 'int32', b: 'int32', c: 'int32', d: 'int32', e: 'bool' }), /at most 14/);
  const schema = new InputSchema({ x: 'int8', way: ['up', 'down'] });
  assert.throws(() => schema.pack({ jump: true }), /no field jump; declared are x, way/);
  assert.throws(() => schema.pack({ x: NaN }), /field x is NaN/);
  assert.throws(() => schema.pack({ way: 'out' }), /give one of up, down/);
});

test('generator_repeats_and_is_even', () => {
  const [one, other, third] = [new Generator(1, 2), new Generator(1, 2), new Generator(2, 1)];
  const draw = (generator) => Array.from({ length: 50 }, () => generator.next());
  const first = draw(one);
  assert.deepEqual(draw(other), first);
  assert.notDeepEqual(draw(third), first);
  const random = randomOf(one);
  const counts = new Array(10).fill(0);
  for (let round = 0; round < 10_000; round++) counts[random.below(10)]++;
  assert.ok(counts.every((count) => count > 850 && count < 1150), counts.join());
  assert.deepEqual(random.shuffle([1, 2, 3, 4]).sort(), [1, 2, 3, 4]);
});

test('frozen_global_names_call_and_line', () => {
  const calls = [
    [() => Math.random(), /Math\.random\(\) at input\.test\.js:\d+:\d+, .*use the `random`/],
    [() => Math.sin(1), /Math\.sin\(\) at input\.test\.js:\d+:\d+, .*use `math\.sin`/],
    [() => Date.now(), /Date\.now\(\) at input\.test\.js:\d+:\d+, .*use `frame`/],
    [() => new Date(), /new Date\(\) at input\.test\.js/],
    [() => performance.now(), /performance\.now\(\) at input\.test\.js/],
    [() => crypto.randomUUID(), /crypto\.randomUUID\(\)/],
    [() => setTimeout(() => 0), /setTimeout\(\) at/],
  ];
  for (const [call, words] of calls) assert.throws(() => frozen(call), words);
  assert.equal(frozen(() => Math.sqrt(Math.floor(16.5))), 4, 'these are the same everywhere');
  assert.ok(Math.random() < 1 && Math.sin(0) === 0 && Date.now() > 0 && new Date() && performance.now() > 0);
});
