// The page: keys in, pictures out.

import { open } from 'gaggle-js';

import { COLORS, game, HEIGHT, WIDTH, type State } from './game';

const canvas = document.querySelector('canvas')!.getContext('2d')!;
const said = document.querySelector('#said')!;

function draw(state: State): void {
  canvas.fillStyle = '#182032';
  canvas.fillRect(0, 0, WIDTH, HEIGHT);
  canvas.fillStyle = '#fff3c4';
  canvas.beginPath();
  canvas.arc(state.coin.x, state.coin.y, 8, 0, 2 * Math.PI);
  canvas.fill();
  state.runners.forEach((runner, slot) => {
    canvas.fillStyle = COLORS[slot]!;
    canvas.fillRect(runner.x - 12, runner.y - 12, 24, 36);
    canvas.fillText(String(runner.score), runner.x - 4, runner.y - 18);
  });
}

const room = await open({
  ...game,
  server: import.meta.env.VITE_GAGGLE_SERVER, // in production the page's own server
  controls: (keys) => ({ move: keys.axis(['ArrowLeft', 'KeyA'], ['ArrowRight', 'KeyD']), jump: keys.isDown('Space', 'ArrowUp') }),
  draw,
});

room.on('*', (event) => (said.textContent = event.text));
addEventListener('keydown', (event) => event.code === 'F3' && document.body.append(room.panel()));
