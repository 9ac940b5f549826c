"""Packets of a link and what travels beside the engines: docs/protocol/1-link.md."""

from wire import Malformed, Reader, at_most, fnv1a_64
import relay

BACK = 32_767


def decode(name, data):
    if name.startswith("relay-"):
        return relay.frame(data)
    if name.startswith("path-"):
        return relay.probe(data)
    if name == "labels":
        return labels(data)
    return packet(data)


def packet(data):
    r = Reader(data)
    first = r.u8()
    kind, tag = first >> 4, first & 15
    if kind == 6:
        if tag != 1:
            raise Malformed("version")
        found = {"kind": "Hello", "nonce": r.u32(), "echo": r.u32(), "grant": r.u32()}
        r.finish()
        if not found["nonce"]:
            raise Malformed("nonce")
        return found
    number = r.u16()
    if kind == 1:
        message = r.rest()
        at_most(len(message), 1_097)
        return {"kind": "Unreliable", "tag": tag, "number": number, "message": message.hex()}
    found = {"tag": tag, "number": number, "check": r.u16()}
    if kind == 2:
        found["kind"] = "Streams"
        has_ack = r.flag()
        found["floor"] = r.varint(BACK)
        found["ack"] = acknowledgement(r) if has_ack else None
        found["pieces"] = [piece(r)]
        while r.left():
            found["pieces"].append(piece(r))
    elif kind == 3:
        found.update(kind="Ack", ack=acknowledgement(r))
    elif kind == 4:
        found["kind"] = "Ping"
        flags = at_most(r.u8(), 3)
        found["loss"] = r.u8()
        found["clock"] = r.u32() if flags & 1 else None
        found["response"] = {"clock": r.u32(), "hold": r.u16()} if flags & 2 else None
    elif kind == 5:
        found.update(kind="Bye", code=r.u8())
    else:
        raise Malformed("kind")
    r.finish()
    return found


def acknowledgement(r):
    """Ranges as distances from the newest: [nearest, farthest]."""
    newest, hold, count = r.u16(), r.varint(65_535), r.varint(31) + 1
    ranges, at = [], 0
    for index in range(count):
        if index:
            at += r.varint(BACK) + 1
        end = at_most(at + r.varint(BACK) + 1, BACK)
        ranges.append([at, end - 1])
        at = end
    return {"newest": newest, "hold": hold, "ranges": ranges}


def piece(r):
    stream, offset, data = r.u8(), r.varint(1 << 56), r.counted(1_100)
    if not data:
        raise Malformed("empty piece")
    return [stream, offset, data.hex()]


def label(first, second):
    """Tag, check and first number of packets from one nonce to the other."""
    mask = (1 << 64) - 1
    z = (first << 32) + second
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    return [z & 15, z >> 16 & 0xFFFF, z >> 32 & 0xFFFF]


def labels(data):
    r = Reader(data)
    found = []
    for _ in range(4):
        first, second = r.u32(), r.u32()
        told = [r.u8(), r.u16(), r.u16()]
        if told != label(first, second):
            raise Malformed("label")
        found.append([first, second, told])
    r.finish()
    return found


def origin(data):
    """Version text, game; born and seed of a lobby room, and the match id they lead to (3.1)."""
    r = Reader(data)
    version = r.counted(64)
    game, born, seed, started_at, nonce = (r.u64() for _ in range(5))
    r.finish()
    if game != fnv1a_64(version) or [started_at, nonce] != [born // 1_000, seed]:
        raise Malformed("origin of a match")
    return [version.decode(), game, born, seed, [started_at, nonce]]


def beside(name, data):
    """Stream 17, and where a match id comes from."""
    if name == "match":
        return origin(data)
    if name != "values":
        return None
    r = Reader(data)
    at_most(len(data), 2_048)
    found = {}
    while r.left() > 2:
        key = r.u8()
        value = r.take(r.u16()).hex()
        found.setdefault(key, value)
    return [[key, value] for key, value in found.items()] + [r.left()]
