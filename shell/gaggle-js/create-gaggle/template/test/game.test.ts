// The game without a page: is it deterministic, and does it survive a bad network?

import { checkDeterminism, simulate } from 'gaggle-js/testing';
import { expect, test } from 'vitest';

import { game } from '../src/game';

test('game is deterministic', async () => {
  const end = await checkDeterminism(game);
  expect(end.runners).toHaveLength(2);
});

test('two players stay in sync on a bad network', async () => {
  const move = (player: number, frame: number) => ({ move: ((frame >> 5) + player) % 3 - 1, jump: frame % 40 === 0 });
  const sim = await simulate({ ...game, latency: 80, loss: 0.03, inputs: move });
  expect(sim.runUntil(() => sim.rooms.every((room) => room?.phase === 'playing' && room.members.length === 2))).toBe(true);
  sim.run(20);
  expect(sim.assertInSync()).toBeGreaterThan(10);
});
