// Rooms of tests: the module with a simulated network. Absent: pages.

import { checkWith } from './determinism.js';
import { questions } from './inputs.js';
import { mathOf } from './math.js';
import { Replay } from './replay.js';
import { Simulation } from './simulate.js';
import { loadModule } from './load.js';

let ready = null;

function load() {
  ready ??= loadModule().then((module) => {
    module.setQuestions(questions);
    return { module, math: mathOf(module) };
  });
  return ready;
}

export async function simulate(options) {
  const { module, math } = await load();
  return new Simulation(module.Network, math, options);
}

export async function openReplay(game, bytes) {
  const { math } = await load();
  return new Replay(math, game, bytes);
}

export async function checkDeterminism(game, options) {
  const { math } = await load();
  return checkWith(math, game, options);
}
