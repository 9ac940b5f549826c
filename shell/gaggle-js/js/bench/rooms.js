// CPU and bytes of rooms with a tiny tick: `node rooms.js`, with the package installed.
// Absent: pages, whose links cost more.

import { simulate } from 'gaggle-js/testing';

const SECONDS = 60;
const PLAYERS = [2, 4];

const game = {
  game: 'bench', version: '1', maxPlayers: 4, input: { x: 'int8', y: 'int8', fire: 'bool' },
  setup: () => ({ bodies: Array.from({ length: 4 }, () => ({ x: 0, y: 0, shots: 0 })) }),
  tick(state, inputs) {
    for (const slot of inputs.slots) {
      const { x, y, fire } = inputs[slot];
      state.bodies[slot].x += x;
      state.bodies[slot].y += y;
      if (fire) state.bodies[slot].shots++;
    }
  },
};
const inputs = (player, frame) => ({ x: ((frame >> 4) + player) % 3 - 1, y: ((frame >> 5) + player) % 3 - 1, fire: frame % 30 < 3 });

for (const players of PLAYERS) {
  const sim = await simulate({ ...game, players, latency: 100, development: false, inputs });
  sim.runUntil(() => sim.rooms.every((room) => room.phase === 'playing'), 10);
  sim.run(20);
  const before = sim.rooms.map((room) => room.figures);
  const began = process.cpuUsage();
  sim.run(SECONDS);
  const used = process.cpuUsage(began);
  const frames = sim.rooms.reduce((sum, room, nth) => sum + room.figures.frame - before[nth].frame, 0);
  const bytes = sim.rooms.reduce((sum, room, nth) => sum + room.figures.bytesSent - before[nth].bytesSent, 0);
  const again = sim.rooms.reduce((sum, room, nth) => sum + room.figures.framesResimulated - before[nth].framesResimulated, 0);
  const cpu = (used.user + used.system) / frames;
  const rate = bytes / SECONDS / players / (players - 1);
  console.log(`${players} players: ${cpu.toFixed(1)} µs per frame and room (a tiny tick, network and lobby of the simulation included), ${(again / frames).toFixed(2)} frames resimulated per frame, ${rate.toFixed(0)} B/s per peer`);
}
