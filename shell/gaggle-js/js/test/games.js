// Games of the tests. Absent: tests.

/** Ships that steer, with most of what a state may hold. */
export const ships = {
  game: 'ships',
  version: '1',
  maxPlayers: 4,
  input: { turn: 'int8', thrust: 'bool', fire: 'press' },
  setup: ({ random }) => ({
    ships: Array.from({ length: 4 }, (_, slot) => ({ x: slot * 10.5, y: 0, angle: 0, shots: 0, name: `ship ${slot}` })),
    field: new Uint16Array(16),
    log: { last: null, drawn: random.below(1000), on: true },
  }),
  tick(state, inputs, { random, math, frame }) {
    for (const slot of inputs.slots) {
      const ship = state.ships[slot];
      ship.angle += inputs[slot].turn / 40;
      if (inputs[slot].thrust) {
        ship.x += math.cos(ship.angle);
        ship.y += math.sin(ship.angle);
      }
      if (inputs[slot].fire) {
        ship.shots++;
        state.field[random.below(16)]++;
        state.log.last = { frame, slot };
      }
    }
  },
};

/** Inputs that change now and then. */
export function steer(player, frame) {
  return { turn: ((frame >> 4) + player) % 3 - 1, thrust: (frame >> 3) % 2 === player % 2, fire: frame % 50 === player };
}
