#!/usr/bin/env python3
"""Small edits that must come before the renames, so that no new name meets an old one.

usage: tools/rename/before.py ROOT

Each edit names its file and must apply exactly as often as it says; otherwise nothing is written."""
import os, sys

EDITS = [
    # Alias and target get the same name: the target is named with its crate.
    ('shell/gaggle-native/src/online.rs', 'use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig, Room, SharedRoom};',
     'use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig, Room};', 1),
    ('shell/gaggle-native/src/online.rs', '= SharedRoom<W', '= gaggle::SharedRoom<W', 1),
    ('shell/gaggle-browser/src/page.rs', 'Room, RoomConfig, SharedRoom, Wish};', 'Room, RoomConfig, Wish};', 1),
    ('shell/gaggle-browser/src/page.rs', '= SharedRoom<W', '= gaggle::SharedRoom<W', 1),
    ('shell/gaggle-browser/src/elsewhere.rs', 'Room, RoomConfig, SharedRoom};', 'Room, RoomConfig};', 1),
    ('shell/gaggle-browser/src/elsewhere.rs', '= SharedRoom<W', '= gaggle::SharedRoom<W', 1),
    # `Person` becomes `Member`, beside the lobby's.
    ('core/gaggle/src/lounge/people.rs', 'use gaggle_lobby::view::Member;', 'use gaggle_lobby::view;', 1),
    ('core/gaggle/src/lounge/people.rs', 'Member::slots)', 'view::Member::slots)', 1),
    # A fuzz target is called `Target` already, which `To` becomes.
    ('fuzz/src/replica.rs', 'SignalRules, To, Writer,', 'SignalRules, Writer,', 1),
    ('fuzz/src/replica.rs', 'signal(To::All', 'signal(gaggle_replica::To::All', 1),
    # `OneShot::either` becomes `merge`, which `Input` has too.
    ('core/gaggle-kit/src/input.rs', 'self[index].either(other[index])', 'OneShot::either(self[index], other[index])', 1),
    # `Session::touch` becomes `claim`.
    ('core/gaggle-replica/src/session/claims.rs', 'pub(super) fn claim(', 'pub(super) fn raise_claim(', 1),
    ('core/gaggle-replica/src/session/claims.rs', 'self.claim(', 'self.raise_claim(', 4),
    ('core/gaggle-replica/src/session/standing.rs', 'self.claim(', 'self.raise_claim(', 1),
    ('core/gaggle-replica/src/session/judge.rs', 'self.claim(', 'self.raise_claim(', 1),
    ('core/gaggle-replica/src/session/harness.rs', 'session.claim(', 'session.raise_claim(', 1),
]

root, texts, wrong = sys.argv[1], {}, []
for path, old, new, count in EDITS:
    text = texts.setdefault(path, open(os.path.join(root, path), encoding='utf8').read())
    if text.count(old) != count:
        wrong.append('%s: %d times instead of %d: %s' % (path, text.count(old), count, old.split('\n')[0]))
    texts[path] = text.replace(old, new)
if wrong:
    sys.exit('\n'.join(wrong))
for path, text in texts.items():
    open(os.path.join(root, path), 'w', encoding='utf8').write(text)
print('%d edits in %d files' % (len(EDITS), len(texts)))
