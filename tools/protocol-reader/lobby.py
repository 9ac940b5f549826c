"""Tickets and messages of the lobby: docs/protocol/6-lobby.md and 8-files.md."""

import ed25519
from wire import Malformed, Reader, at_most, text

CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
LABEL_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"


def decode(name, data):
    return ticket(data[:32], data[32:]) if name == "ticket" else None


def ticket(key, data):
    at_most(len(data), 269)
    body, signature = data[:-64], data[-64:]
    r = Reader(body)
    if r.u8() != 1:
        raise Malformed("version")
    names = ("room", "player", "peer")
    found = {name: r.take(16).hex() for name in names}
    slot = r.u8()
    found["slot"] = None if slot == 255 else at_most(slot, 63)
    found.update(epoch=r.u32(), round=r.u32(), seed=r.u64(), born=r.u64(), made=r.u64(), until=r.u64())
    found["code"] = text(r.take(6))
    if not set(found["code"]) <= set(CODE_LETTERS):
        raise Malformed("code")
    players, flags = r.u8(), r.u8()
    found.update(players=players & 127, host_starts=bool(players & 128), local_players=(flags >> 5) + 1)
    for bit, name in enumerate(("private", "locked", "drop_in", "playing", "host")):
        found[name] = bool(flags >> bit & 1)
    found["settings"] = r.take(8).hex()
    for name in ("game", "mode", "build"):
        found[name] = text(r.take(at_most(r.u8(), 32)))
        if not set(found[name]) <= set(LABEL_LETTERS):
            raise Malformed("label")
    r.finish()
    if not ed25519.verify(key, b"gaggle ticket 1\0" + body, signature):
        raise Malformed("signature")
    return found
