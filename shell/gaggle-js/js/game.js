// The definition of a game, checked once. Absent: rooms, states.

import { InputSchema } from './input.js';

/** Version of this package; peers with another one never meet. */
export const PACKAGE_VERSION = 'VERSION';
/** Raised when the bytes of the codec change. */
const CODEC = 1;

const OURS = ['game', 'version', 'maxPlayers', 'setup', 'tick', 'input', 'save', 'load', 'tickRate', 'netcode', 'predictionFrames'];

/** Checks the options that make a game. */
export function defineGame(options) {
  const fail = (what) => {
    throw new TypeError(`gaggle: ${what}`);
  };
  if (typeof options !== 'object' || options === null) fail('give an object with game, version, maxPlayers, setup and tick');
  const { game, version, maxPlayers = 2, setup, tick, save, load, tickRate = 60, netcode = 'rollback' } = options;
  if (!/^[a-z0-9][a-z0-9._-]{0,31}$/.test(game ?? '')) fail(`game is ${JSON.stringify(game)}; give a name of small letters, digits and dashes, 32 at most`);
  if (typeof version !== 'string' || version === '') fail('version is missing; change it with every rule of the game');
  if (!Number.isInteger(maxPlayers) || maxPlayers < 2 || maxPlayers > 64) fail(`maxPlayers is ${maxPlayers}; give 2 to 64`);
  if (typeof setup !== 'function') fail('setup is missing; give a function that returns the first state');
  if (typeof tick !== 'function') fail('tick is missing; give a function that changes the state by one step');
  if (tick.constructor.name === 'AsyncFunction') fail('tick is async; a step cannot wait');
  if ((save === undefined) !== (load === undefined)) fail('save and load belong together; give both or none');
  if (!Number.isInteger(tickRate) || tickRate < 1 || tickRate > 240) fail(`tickRate is ${tickRate}; give 1 to 240`);
  if (netcode !== 'rollback' && netcode !== 'lockstep') fail(`netcode is ${JSON.stringify(netcode)}; give 'rollback' or 'lockstep'`);
  const predictionFrames = netcode === 'lockstep' ? 0 : (options.predictionFrames ?? 8);
  if (!Number.isInteger(predictionFrames) || predictionFrames > 60 || (netcode === 'rollback' && predictionFrames < 1)) {
    fail(`predictionFrames is ${predictionFrames}; give 1 to 60, or use lockstep`);
  }
  const schema = new InputSchema(options.input);
  const shape = [PACKAGE_VERSION, CODEC, save ? 'own' : 'plain', schema.text].join('|');
  return { game, version, maxPlayers, setup, tick, save, load, tickRate, predictionFrames, schema, shape, owner: options };
}

/** The options that make a game, without those of a room. */
export function gameOptions(options) {
  return Object.fromEntries(OURS.filter((name) => name in options).map((name) => [name, options[name]]));
}
