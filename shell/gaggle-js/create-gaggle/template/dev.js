// `npm run dev`: a local gaggle-server and the page of this folder. Ctrl+C ends both.
// GAME_SERVER names the server's program, GAME_SERVER_PORT its port.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PORT = process.env.GAME_SERVER_PORT ?? '8080';
const REPOSITORY = 'https://github.com/gaggle-rs/gaggle';
const HERE = join('.gaggle', 'bin', 'gaggle-server');

/** Whether a program runs. */
const runs = (program) => spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;

/** The server: named, on the path, built before, or built now. */
function findServer() {
  const named = process.env.GAME_SERVER;
  if (named && !existsSync(named)) throw `GAME_SERVER is ${named}, which does not exist`;
  const known = [named, 'gaggle-server', HERE].find((program) => program && runs(program));
  if (known) return known;
  if (!runs('cargo')) {
    throw `There is no gaggle-server: put it on PATH, name it in GAME_SERVER, or install Rust (https://rustup.rs), with which this command builds it`;
  }
  console.log('Building gaggle-server, once: this takes minutes.');
  const from = process.env.GAME_SERVER_SOURCE ? ['--path', join(process.env.GAME_SERVER_SOURCE, 'shell/gaggle-server')] : ['--git', REPOSITORY, 'gaggle-server'];
  const built = spawnSync('cargo', ['install', '--locked', '--no-default-features', '--root', '.gaggle', ...from], { stdio: 'inherit' });
  if (built.status !== 0) throw `gaggle-server does not build; get the binary from ${REPOSITORY} and name it in GAME_SERVER`;
  return HERE;
}

let server;
try {
  server = findServer();
} catch (words) {
  console.error(words);
  process.exit(1);
}
const children = [
  spawn(server, ['--listen', `127.0.0.1:${PORT}`, '--data', '.gaggle/data', '--log', 'warn'], { stdio: 'inherit' }),
  spawn(process.execPath, ['node_modules/vite/bin/vite.js', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, VITE_GAGGLE_SERVER: process.env.VITE_GAGGLE_SERVER ?? `ws://127.0.0.1:${PORT}` },
  }),
];
const end = (code) => {
  for (const child of children) child.kill();
  process.exit(code);
};
for (const child of children) child.on('exit', (code) => end(code ?? 1));
process.on('SIGINT', () => end(0));
process.on('SIGTERM', () => end(0));
