// The rules: the same on every player's machine. `random`, `math` and the state are all they use.

import type { Game } from 'gaggle-js';

export const WIDTH = 640;
export const HEIGHT = 360;
export const COLORS = ['#f4c95d', '#62c7b8'];

export interface Runner {
  x: number;
  y: number;
  speed: number;
  score: number;
}

export interface State {
  runners: Runner[];
  coin: { x: number; y: number };
}

export const input = { move: 'int8', jump: 'press' } as const;

export const game: Game<State, typeof input> = {
  game: 'GAME',
  version: '1', // change it with every rule
  maxPlayers: 2,
  input,

  setup: ({ random }) => ({
    runners: [0, 1].map((slot) => ({ x: 160 + 320 * slot, y: HEIGHT - 24, speed: 0, score: 0 })),
    coin: { x: random.between(40, WIDTH - 40), y: random.between(160, HEIGHT - 40) },
  }),

  tick(state, inputs, { random, math }) {
    for (const slot of inputs.slots) {
      const runner = state.runners[slot]!;
      const isOnGround = runner.y >= HEIGHT - 24;
      runner.x = math.clamp(runner.x + 4 * inputs[slot]!.move, 12, WIDTH - 12);
      runner.speed = inputs[slot]!.jump && isOnGround ? -11 : runner.speed + 0.5;
      runner.y = math.min(HEIGHT - 24, runner.y + runner.speed);
      if (math.hypot(runner.x - state.coin.x, runner.y - state.coin.y) > 28) continue;
      runner.score++;
      state.coin = { x: random.between(40, WIDTH - 40), y: random.between(160, HEIGHT - 40) };
    }
  },
};
