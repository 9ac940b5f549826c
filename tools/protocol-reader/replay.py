"""Replays and desync bundles: docs/protocol/8-files.md."""

from membership import unpack
from wire import MASK64, Malformed, Reader, at_most, fold, slots, xxh64

CONTENT_MAX = 1 << 26


def decode(name, data):
    return replay(data) if name == "replay" else bundle(data)


def replay(data):
    """Chunks as told; a row is the slots present and the inputs that are no repetition."""
    r = Reader(data)
    if r.take(8) != b"gaggleR\1":
        raise Malformed("magic")
    head = Reader(chunk(r, 1)[1])
    seats_and_size = [head.u64(), head.u32(), at_most(head.u8(), 64), head.u32()]
    found, last, present = [["head"] + seats_and_size + [head.rest().hex()]], 0, []
    while True:
        kind, content = chunk(r)
        c = Reader(content)
        if c.u32() != last:
            raise Malformed("gap")
        if kind == 2:
            count, state = c.u8(), c.u64()
            rows = []
            for _ in range(count):
                present, changed = row(c, present, *seats_and_size[2:])
                rows.append([present, changed])
            c.finish()
            last += count
            found.append(["frames", state, rows])
        elif kind in (3, 5):
            state = c.rest() if kind == 3 else unpack(c.rest(), CONTENT_MAX)
            found.append(["keyframe", last, state.hex()])
        elif kind == 4:
            return found + [["end", last]]
        else:
            raise Malformed("kind")


def chunk(r, wanted=None):
    kind = r.u8()
    content = r.take(at_most(r.u32(), CONTENT_MAX))
    seal = fold(xxh64(content) ^ (kind * 0x9E3779B97F4A7C15 & MASK64))
    if r.u32() != seal or wanted not in (None, kind):
        raise Malformed("chunk")
    return kind, content


def row(r, present, seats, size):
    bits = 0
    for shift in range(0, 70, 7):
        byte = r.u8()
        bits |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    else:
        raise Malformed("row")
    if bits >> (seats + 1):
        raise Malformed("slots")
    if bits & 1:
        present = slots(at_most(r.u64(), (1 << seats) - 1))
    return present, [[slot, r.take(size).hex()] for slot in range(seats) if bits >> (slot + 1) & 1]


def bundle(data):
    if len(data) < 8 or xxh64(data[:-8]) != int.from_bytes(data[-8:], "little"):
        raise Malformed("hash")
    r = Reader(data[:-8])
    if r.take(8) != b"gaggleD\1":
        raise Malformed("magic")
    game, seats, size = r.u64(), at_most(r.u8(), 64), r.u32()
    states = [[r.u32(), r.take(at_most(r.u64(), 1 << 28)).hex()] for _ in range(2)]
    count = r.u32()
    if count > 4_096 or count != states[1][0] - states[0][0]:
        raise Malformed("frames")
    rows = [[slots(at_most(r.u64(), (1 << seats) - 1)), r.take(seats * size).hex()] for _ in range(count)]
    r.finish()
    return [game, states, rows]
