// What a page decides by itself: the room it joins, the keys it takes.

import assert from 'node:assert/strict';
import test from 'node:test';

import { choiceOf, joinTarget, settingsOf } from '../handle.js';
import { Keys } from '../keys.js';

test('link_and_reload_win_over_kind_of_room', () => {
  const cases = [
    [undefined, null, null, 'matchmake', null],
    ['private', null, null, 'private', null],
    ['private', 'BCDFGH', null, 'BCDFGH', null],
    ['private', null, 'BCDFGH', 'BCDFGH', 'private'],
    ['private', 'BCDFGH', 'BCDFGH', 'BCDFGH', 'private'],
    [undefined, 'bcdfgh', 'KLMNPQ', 'bcdfgh', null],
    [undefined, 'nonsense', 'KLMNPQ', 'KLMNPQ', 'matchmake'],
    [undefined, 'nonsense', null, 'matchmake', null],
    ['offline', 'BCDFGH', 'BCDFGH', 'offline', null],
    ['ZZZZZZ', 'BCDFGH', 'BCDFGH', 'ZZZZZZ', null],
  ];
  for (const [join, asked, stored, ...chosen] of cases) {
    const choice = choiceOf(join, asked, stored);
    assert.deepEqual([choice.join, choice.fallback], chosen, `${join} ${asked} ${stored}`);
  }
  const watching = { spectate: 'BCDFGH' };
  assert.equal(choiceOf(watching, 'ZZZZZZ', null).join, watching);
  assert.deepEqual(joinTarget('toString'), [2, 'toString']);
});

test('preferred_slot_out_of_range_is_named', () => {
  const game = { game: 'g', version: '1', maxPlayers: 2, shape: '', tickRate: 60, predictionFrames: 8 };
  for (const preferredSlot of [2, -2, 0.5, 'a']) {
    assert.throws(() => settingsOf(game, { preferredSlot }, [0, 0]), /preferredSlot is .*; give 0 to 1/);
  }
  assert.equal(settingsOf(game, { preferredSlot: 1 }, [0, 0]).numbers[3], 2);
  assert.equal(settingsOf(game, {}, [0, 0]).numbers[3], 0);
});

/** A page that has listeners and events, and nothing else. */
function page() {
  const heard = {};
  const target = { addEventListener: (type, listener) => (heard[type] = listener) };
  const keys = new Keys(target);
  const send = (type, code, at = {}, held = {}) => {
    let isPrevented = false;
    heard[type]({ code, ...held, composedPath: () => [at], preventDefault: () => (isPrevented = true) });
    return isPrevented;
  };
  return { keys, send };
}

test('keys_of_text_fields_are_no_keys_of_game', () => {
  const { keys, send } = page();
  for (const at of [{ tagName: 'INPUT' }, { tagName: 'TEXTAREA' }, { tagName: 'SELECT' }, { tagName: 'DIV', isContentEditable: true }]) {
    assert.equal(send('keydown', 'Space', at), false);
    assert.equal(keys.isDown('Space'), false);
  }
  const button = { tagName: 'BUTTON', closest: () => button };
  assert.equal(send('keydown', 'Space', button), false);
  assert.equal(send('keydown', 'Space', { tagName: 'BODY', closest: () => null }), true);
  assert.ok(keys.isDown('Space'));
});

test('modifiers_are_keys_and_blur_releases_all', () => {
  const { keys, send } = page();
  assert.equal(send('keydown', 'ControlLeft', {}, { ctrlKey: true }), false);
  assert.equal(send('keydown', 'ArrowUp', {}, { ctrlKey: true }), false);
  assert.ok(keys.isDown('ControlLeft') && keys.isDown('ArrowUp'));
  send('keydown', 'KeyR', {}, { metaKey: true });
  assert.equal(keys.isDown('KeyR'), false);
  send('blur');
  assert.equal(keys.isDown('ControlLeft', 'ArrowUp'), false);
});
