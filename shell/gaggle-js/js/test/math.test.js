// `math` has the same bits here, in Chromium and natively (`src/math.rs`).

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';

import { simulate } from 'gaggle-js/testing';

import { mathSum } from './math-sum.js';

test('values_have_golden_bits', async () => {
  let sum = '';
  const probe = {
    game: 'probe', version: '1',
    setup: ({ math }) => {
      sum = mathSum(math);
      return 0;
    },
    tick() {},
  };
  await simulate(probe);
  assert.equal(sum, (await readFile(new URL('math.golden', import.meta.url), 'utf8')).trim());
});
