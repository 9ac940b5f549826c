// Replays: a recorded match plays again to the same states.

import assert from 'node:assert/strict';
import test from 'node:test';

import { openReplay, simulate } from 'gaggle-js/testing';

import { ships, steer } from './games.js';

async function recorded() {
  const sim = await simulate({ ...ships, players: 3, latency: 80, loss: 0.02, record: true, inputs: steer });
  assert.ok(sim.runUntil(() => sim.rooms.every((room) => room.phase === 'playing' && room.members.length === 3), 10));
  sim.run(30);
  return sim;
}

test('replays_of_two_players_have_states_of_match', async () => {
  const sim = await recorded();
  const { frame, state } = sim.rooms[0].confirmed;
  sim.run(2);
  const replays = await Promise.all(sim.rooms.map((room) => openReplay(ships, room.replay)));
  for (const replay of replays) {
    assert.ok(replay.lastFrame - replay.firstFrame > 1500, `${replay.lastFrame} frames`);
    const [begin, first] = [structuredClone(replay.state), replay.frame];
    const seen = new Map();
    while (replay.step()) seen.set(replay.frame, JSON.stringify(replay.state));
    for (const to of [replay.lastFrame, first + 700, first + 1, frame, first + 699]) {
      replay.seek(to);
      assert.equal(replay.frame, to);
      assert.equal(JSON.stringify(replay.state), seen.get(to));
    }
    replay.seek(frame);
    assert.deepEqual(replay.state, state, 'the state that the first player had then');
    replay.seek(0);
    assert.deepEqual([replay.frame, replay.state], [first, begin]);
  }
  const size = sim.rooms[0].replay.length;
  assert.ok(size < 40_000, `${size} bytes for 30 s`);
});

test('replay_of_other_game_or_damaged_is_refused', async () => {
  const sim = await recorded();
  const bytes = sim.rooms[0].replay;
  await assert.rejects(openReplay({ ...ships, version: '2' }, bytes), /this replay is of ships 1, you have ships 2/);
  await assert.rejects(openReplay({ ...ships, input: { turn: 'int8' } }, bytes), /another build of ships 1/);
  await assert.rejects(openReplay(ships, bytes.slice(0, 500)), /no replay, or it is damaged/);
  await assert.rejects(openReplay(ships, new Uint8Array(3)), /no replay/);
  assert.equal((await simulate(ships)).rooms[0].replay, null, 'nothing was recorded');
});
