"""Frames between a relay and its members: docs/protocol/7-paths-and-relay.md."""

from wire import Malformed, Reader, at_most, text


def frame(data):
    r = Reader(data)
    kind = r.u8()
    if kind in (1, 6, 10):
        if kind == 1 and r.u8() != 1:
            raise Malformed("version")
        content = r.rest()
        at_most(len(content), 8_192)
        return [kind, text(content)]
    if kind in (2, 3, 8, 9):
        found = [kind, r.peer()]
    elif kind in (4, 5):
        found = [kind] + ([r.peer()] if kind == 4 else [])
        content = r.rest()
        at_most(len(content), 1_100)
        found.append(content.hex())
    elif kind == 7:
        found = [kind, r.u64(), r.flag()]
    elif kind == 11:
        found = [kind, at_most(r.u8(), 6)]
    else:
        raise Malformed("kind")
    r.finish()
    return found


def probe(data):
    """A question on a path, or its answer."""
    r = Reader(data)
    kind = {0xF0: "question", 0xF1: "answer"}.get(r.u8())
    if kind is None:
        raise Malformed("kind")
    found = [kind, r.u32()]
    r.finish()
    return found
