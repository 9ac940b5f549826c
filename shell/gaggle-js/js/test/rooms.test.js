// Rooms in virtual time: matches, late joiners, crashes, hosts, messages, errors.

import assert from 'node:assert/strict';
import test from 'node:test';

import { simulate } from 'gaggle-js/testing';

import { ships, steer } from './games.js';

const playing = (count) => (sim) => sim.rooms.every((room) => room?.phase === 'playing' && room.members.filter((member) => member.slots.length > 0).length === count);
const heard = (room) => {
  room.on('error', () => {});
  const events = [];
  room.on('*', (event) => events.push(event));
  return events;
};

test('four_players_on_bad_network_stay_in_sync', async () => {
  const sim = await simulate({ ...ships, players: 4, latency: 80, jitter: 10, loss: 0.03, inputs: steer });
  assert.ok(sim.runUntil(playing(4), 10), sim.rooms.map((room) => room.phase).join());
  sim.run(20);
  const compared = sim.assertInSync();
  assert.ok(compared >= 30, `${compared} checksums compared`);
  const figures = sim.rooms.map((room) => room.figures);
  assert.ok(figures.every((one) => one.rollbacks > 10), 'predictions were wrong and repaired');
  assert.ok(sim.rooms.every((room) => room.confirmed.state.ships.every((ship) => ship.shots > 0)));
  const slots = sim.rooms.map((room) => room.slot);
  assert.deepEqual([...slots].sort(), [0, 1, 2, 3]);
});

test('joiner_gets_running_match_and_no_player_waits', async () => {
  const sim = await simulate({ ...ships, players: 3, latency: 60, inputs: steer, openAt: (player) => (player === 2 ? 10 : 0) });
  sim.run(9.5);
  const before = sim.rooms[0].figures.stalledTicks;
  assert.ok(sim.runUntil((now) => now.rooms[2]?.phase === 'playing', 10));
  sim.run(5);
  assert.ok(sim.rooms[2].state.ships[0].shots > 5, 'shots of before it came');
  assert.ok(sim.rooms[0].figures.stalledTicks - before <= 2, `${sim.rooms[0].figures.stalledTicks - before} stalled`);
  assert.ok(sim.assertInSync() > 10);
});

test('crashed_player_leaves_match_that_goes_on', async () => {
  const sim = await simulate({ ...ships, players: 3, latency: 40, inputs: steer });
  assert.ok(sim.runUntil(playing(3), 10));
  const events = heard(sim.rooms[0]);
  sim.crash(2);
  sim.run(8);
  assert.equal(events.find(({ type }) => type === 'playerLeft').cause, 'timed out');
  sim.open(2);
  assert.ok(sim.runUntil(playing(3), 10), 'it comes back');
  sim.run(3);
  assert.ok(sim.assertInSync() > 5);
});

test('tick_that_throws_stops_one_room_only', async () => {
  const broken = { ...ships, tick: (state, inputs, context) => {
    if (isBroken && context.frame === breakAt) throw new Error('a bug of one page');
    return ships.tick(state, inputs, context);
  } };
  let [isBroken, breakAt] = [false, 0];
  const sim = await simulate({ ...ships, players: 3, latency: 40, inputs: steer, openAt: (player) => (player === 2 ? 1 : 0) });
  sim.runUntil(() => sim.rooms[2] !== null, 5);
  const other = sim.rooms[2];
  other.close();
  const bad = sim.open(2, { tick: broken.tick });
  assert.ok(sim.runUntil(() => bad.phase === 'playing' && bad.members.length === 3, 15));
  const [events, own] = [heard(sim.rooms[0]), heard(bad)];
  [isBroken, breakAt] = [true, bad.frame + 30];
  sim.run(8);
  const told = own.filter(({ type }) => type === 'error');
  assert.equal(told.length, 1);
  assert.equal(told[0].frame, breakAt);
  assert.match(told[0].text, new RegExp(`tick failed in frame ${breakAt}: a bug of one page`));
  assert.equal(told[0].error.cause.message, 'a bug of one page');
  assert.equal(bad.error, told[0].error);
  assert.deepEqual(events.filter(({ type }) => /desync|rejected/i.test(type)), [], 'no other state was spoiled');
  assert.equal(events.filter(({ type }) => type === 'playerLeft').length, 1);
  assert.equal(sim.rooms[0].phase, 'playing');
  const frame = sim.rooms[0].frame;
  sim.run(3);
  assert.ok(sim.rooms[0].frame > frame + 150 && sim.assertInSync() > 5);
});

test('setup_that_throws_stops_one_room_and_is_told', async () => {
  const setup = (context) => {
    if (context.round > 0) throw new Error('no such round');
    return ships.setup(context);
  };
  const sim = await simulate({ ...ships, players: 2, start: 'host', join: 'private', inputs: steer, of: (player) => (player === 1 ? { setup } : {}) });
  assert.ok(sim.runUntil(() => sim.rooms[0].code, 5));
  const [host, guest] = sim.rooms;
  guest.join(host.code);
  assert.ok(sim.runUntil(() => sim.rooms.every((room) => room.phase === 'lobby' && room.members.length === 2), 10));
  for (const room of sim.rooms) room.ready();
  sim.run(1);
  const own = heard(guest);
  host.start();
  sim.run(8);
  assert.deepEqual(own.filter(({ type }) => type === 'error').map(({ text }) => text), ['setup failed in frame 0: no such round']);
  assert.deepEqual([host.phase, host.members.length, guest.phase], ['playing', 1, 'solo'], 'it has left the others');
});

test('questions_of_page_do_not_stop_match', async () => {
  const [good] = (await simulate({ ...ships, players: 1, development: false, record: true })).rooms;
  assert.equal(good.confirmed.frame, 0);
  const sim = await simulate({ ...ships, players: 1, development: false, record: true });
  const [room] = sim.rooms;
  const events = heard(room);
  room.state.log.drawn = NaN;
  assert.equal(room.confirmed, null);
  assert.equal(room.error, null);
  room.state.log.drawn = 1;
  sim.run(1);
  assert.deepEqual([room.error, events.filter(({ type }) => type === 'error')], [null, []]);
  assert.ok(room.frame > 30 && room.replay !== null);
});

test('room_may_be_closed_in_its_listener', async () => {
  const sim = await simulate({ ...ships, players: 3, latency: 40, inputs: steer, record: true });
  assert.ok(sim.runUntil(playing(3), 10));
  const [one, two, three] = sim.rooms;
  const heardAfter = [];
  for (const type of ['message', 'playerLeft']) {
    two.on(type, () => two.close());
    two.on(type, () => two.close());
  }
  three.on('playerLeft', () => three.close());
  one.send('first');
  one.send('second');
  assert.ok(sim.runUntil(() => two.isClosed && three.isClosed, 10));
  two.on('*', (event) => heardAfter.push(event));
  assert.equal(two.update(sim.now), 0);
  sim.run(1);
  assert.deepEqual(heardAfter, []);
  assert.equal(one.error, null);
});

test('other_version_is_refused_with_words', async () => {
  const sim = await simulate({ ...ships, players: 2, join: 'private', openAt: (player) => player });
  assert.ok(sim.runUntil(() => sim.rooms[0].code, 5));
  sim.runUntil(() => sim.rooms[1], 5);
  sim.rooms[1].close();
  const other = sim.open(1, { version: '2', join: sim.rooms[0].code });
  const events = heard(other);
  sim.run(3);
  const refused = events.find(({ type }) => type === 'rejected');
  assert.equal(refused?.text, 'this room plays ships 1, you have 2; get the same version');
  assert.equal(other.phase, 'solo');
});

test('host_starts_match_that_all_begin_alike', async () => {
  const game = { ...ships, setup: (context) => ({ ...ships.setup(context), about: { slots: context.slots, level: context.settings.level ?? 0, round: context.round } }) };
  const sim = await simulate({ ...game, players: 3, start: 'host', settings: { level: 7 }, join: 'private', inputs: steer, openAt: (player) => player });
  sim.runUntil(() => sim.rooms[0].code, 5);
  sim.run(3);
  const [host, ...guests] = sim.rooms;
  for (const guest of guests) guest.join(host.code);
  assert.ok(sim.runUntil(() => sim.rooms.every((room) => room.phase === 'lobby' && room.members.length === 3), 10), sim.rooms.map((room) => room.phase).join());
  assert.ok(host.isHost && !guests[0].isHost);
  assert.throws(() => guests[0].start(), /only the host/);
  for (const guest of guests) guest.ready();
  host.setSettings({ level: 9 });
  sim.run(1);
  assert.deepEqual(guests[1].settings, { level: 9 });
  assert.ok(host.members.filter((member) => member.isReady).length === 2);
  host.ready();
  sim.run(1);
  host.start({ countdown: 1 });
  assert.ok(sim.runUntil(playing(3), 10), sim.rooms.map((room) => room.phase).join());
  sim.run(5);
  assert.deepEqual(host.state.about, { slots: [0, 1, 2], level: 9, round: 1 });
  assert.ok(sim.assertInSync() > 5);
  host.kick(guests[1].me.peer);
  const events = heard(guests[1]);
  sim.run(3);
  assert.deepEqual(events.filter(({ type }) => type === 'roomLeft').map(({ reason }) => reason), ['kicked']);
});

test('messages_and_values_reach_all_members', async () => {
  const sim = await simulate({ ...ships, players: 3, latency: 50, inputs: steer });
  sim.runUntil(playing(3), 10);
  const [one, two, three] = sim.rooms;
  const events = heard(three);
  one.send({ emote: 'honk', at: [1, 2] });
  one.values.set('team', 'red');
  one.values.set('skin', { hue: 3 });
  one.values.set('skin', undefined);
  two.send('only you', three.me.peer);
  sim.run(2);
  const messages = events.filter(({ type }) => type === 'message');
  assert.deepEqual(messages.map(({ name, data }) => [name, data]), [['Player 0', { emote: 'honk', at: [1, 2] }], ['Player 1', 'only you']]);
  assert.equal(three.values.get(one.me.peer, 'team'), 'red');
  assert.deepEqual(three.values.of(one.me.peer), { team: 'red' });
  assert.ok(events.some(({ type }) => type === 'valuesChanged'));
  assert.throws(() => one.send(new Map()), /the message is a Map/);
  assert.throws(() => one.send('x'.repeat(5000)), /4096|4,096/);
});

test('spectator_sees_match_without_slot', async () => {
  const sim = await simulate({ ...ships, players: 3, latency: 40, inputs: steer, openAt: (player) => (player === 2 ? 4 : 0) });
  sim.runUntil(() => sim.rooms[2], 5);
  sim.rooms[2].spectate(sim.rooms[0].code);
  assert.ok(sim.runUntil(() => sim.rooms[2].phase === 'spectating', 10));
  sim.run(5);
  assert.deepEqual(sim.rooms[2].slots, []);
  assert.ok(sim.assertInSync() > 5);
  assert.ok(sim.rooms[2].state.ships[0].shots > 0);
});

test('question_spares_rollbacks_and_changes_nothing', async () => {
  const play = async (read) => {
    const game = { ...ships, tick: (state, inputs, { frame }) => {
      for (const slot of inputs.slots) if (frame % 20 === slot && read(inputs, slot)) state.ships[slot].x++;
    } };
    const sim = await simulate({ ...game, players: 3, latency: 120, inputs: steer });
    sim.runUntil(playing(3), 10);
    sim.run(20);
    assert.ok(sim.assertInSync() > 10);
    return sim.rooms.reduce((sum, room) => sum + room.figures.framesResimulated, 0);
  };
  const asked = await play((inputs, slot) => inputs.ask(slot, { least: 0 }, (input, { least }) => input.turn >= least));
  const read = await play((inputs, slot) => inputs[slot].turn >= 0);
  const all = await play((inputs, slot) => {
    for (const other of inputs.slots) void inputs[other];
    return inputs[slot].turn >= 0;
  });
  const everyFrame = await play((inputs, slot) => inputs[slot].turn >= 0);
  assert.ok(asked < read && read < all, `${asked} resimulated with ask, ${read} with get, ${all} with all`);
  assert.equal(read, everyFrame, 'the same seed gives the same run');
});

test('lockstep_never_predicts', async () => {
  const sim = await simulate({ ...ships, netcode: 'lockstep', players: 2, latency: 60, inputs: steer });
  assert.ok(sim.runUntil(playing(2), 10));
  sim.run(10);
  assert.deepEqual(sim.rooms.map((room) => room.figures.rollbacks), [0, 0]);
  assert.ok(sim.assertInSync() > 5);
});

test('press_counts_once_per_press', async () => {
  const sim = await simulate({ ...ships, players: 2, latency: 80, loss: 0.05, inputs: (player, frame) => ({ fire: frame % 60 < 20 }) });
  sim.runUntil(playing(2), 10);
  const shots = () => sim.rooms[0].confirmed.state.ships[0].shots;
  const before = shots();
  sim.run(20);
  const made = shots() - before;
  assert.ok(made >= 19 && made <= 21, `${made} shots in 20 s of one press a second`);
});

test('result_of_all_players_is_sent', async () => {
  const sim = await simulate({ ...ships, players: 2, inputs: steer });
  sim.runUntil(playing(2), 10);
  sim.run(1);
  const events = sim.rooms.map(heard);
  for (const room of sim.rooms) assert.ok(room.reportResult({ scores: { 0: 5, 1: 3 }, level: 2 }));
  sim.run(3);
  assert.ok(events.every((list) => list.some(({ type }) => type === 'resultStored')), JSON.stringify(events));
});

test('wrong_options_are_named', async () => {
  const cases = [
    [{ ...ships, game: 'My Game' }, /game is "My Game"; give a name of small letters/],
    [{ ...ships, version: undefined }, /version is missing/],
    [{ ...ships, maxPlayers: 99 }, /maxPlayers is 99; give 2 to 64/],
    [{ ...ships, tick: undefined }, /tick is missing/],
    [{ ...ships, netcode: 'delay' }, /netcode is "delay"/],
    [{ ...ships, save: () => 0 }, /save and load belong together/],
    [{ ...ships, join: 'none' }, /is no code of a room/],
    [{ ...ships, join: 'toString' }, /is no code of a room/],
    [{ ...ships, loss: 'much' }, /loss/],
    [{ ...ships, mode: 'No Mode' }, /No Mode/],
    [{ ...ships, preferredSlot: 4 }, /preferredSlot is 4; give 0 to 3/],
    [{ ...ships, setup: () => ({ f: () => 0 }) }, /state\.f is a function/],
  ];
  for (const [options, words] of cases) await assert.rejects(simulate(options), words);
});

test('room_inside_tick_and_inputs_outside_are_refused', async () => {
  let [room, kept] = [null, null];
  const game = { ...ships, tick(state, inputs) {
    kept = inputs;
    if (room) room.send('hello');
  } };
  const sim = await simulate({ ...game, players: 1 });
  sim.run(0.1);
  assert.throws(() => kept[0], /only while tick runs/);
  room = sim.rooms[0];
  heard(room);
  sim.run(0.1);
  assert.match(room.error.message, /a room cannot be used inside tick/);
});
