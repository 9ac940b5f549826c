"""Messages about membership of the timeline engine: docs/protocol/4-membership.md."""

from wire import Malformed, Reader, at_most, slots, xxh64

FRAME_MAX = (1 << 31) - 1
OPEN = 0xFFFFFFFF


def message(data):
    r = Reader(data)
    kind = r.u8()
    if kind not in KINDS:
        raise Malformed("kind")
    name, read = KINDS[kind]
    found = [name] + read(r)
    r.finish()
    return found


def frame(r):
    return at_most(r.u32(), FRAME_MAX)


def stream(r):
    return [r.peer(), r.u32()]


def ballot(r):
    return [r.u32(), stream(r)]


def row(r):
    owner, seats, first, last = stream(r), slots(r.u64()), frame(r), r.u32()
    if first == 0 or last < first - 1 or (last > FRAME_MAX and last != OPEN):
        raise Malformed("row")
    return [owner, seats, first, last]


def rows(r):
    return [row(r) for _ in range(at_most(r.u8(), 64))]


def rank(one):
    owner, seats, first, _ = one
    return [first, min(seats, default=64), owner]


def link(r):
    return [r.u64(), r.u64(), r.u32(), r.u8(), r.flag()]


def tip(r):
    match, depth = [r.u64(), r.u64()], at_most(r.u32(), FRAME_MAX)
    count = r.varint(4_096)
    if not 1 <= count <= depth + 1:
        raise Malformed("links")
    return {"match": match, "depth": depth, "links": [link(r) for _ in range(count)]}


def view(r):
    path = tip(r)
    start = r.at
    made_by = ballot(r)
    made_by_bytes = r.data[start : r.at]
    parent = r.u64()
    at = r.at
    members = rows(r)
    history, coordinator, number, size, stale = path["links"][-1]
    name = b"".join(part.to_bytes(8, "little") for part in path["match"] + [parent])
    name += made_by_bytes + bytes([size, stale]) + r.data[at + 1 : r.at]
    facts = [
        history == xxh64(name),
        coordinator == int(made_by[1][0][:16], 16),
        number == made_by[0],
        len(path["links"]) < 2 or path["links"][-2][0] == parent,
        members == sorted(members, key=rank),
    ]
    if not all(facts):
        raise Malformed(f"name of a view {facts}")
    return {"tip": path, "ballot": made_by, "parent": parent, "rows": members}


def control(r):
    flags = r.u8()
    if not 1 <= flags <= 3:
        raise Malformed("control")
    return {"end": bool(flags & 1), "join": [stream(r), slots(r.u64())] if flags & 2 else None}


def entry_range(r):
    found = {"stream": stream(r), "from": frame(r), "entries": [], "controls": []}
    count = r.varint(363)
    if count:
        size, before = r.varint(4_096), None
        while len(found["entries"]) < count:
            repeats = r.varint(count - len(found["entries"]) - 1)
            value = r.take(size).hex()
            if value == before:
                raise Malformed("repetition")
            found["entries"] += [value] * (1 + repeats)
            before = value
        least = 0
        for _ in range(r.varint(count)):
            nth = r.varint(count - 1)
            if nth < least:
                raise Malformed("order of controls")
            least = nth + 1
            found["controls"].append([found["from"] + nth, control(r)])
    return found


def entry_ranges(r):
    return [entry_range(r) for _ in range(r.varint(160))]


def status(r):
    tag, begun, first = r.u8(), r.flag(), frame(r)
    if begun == (first == 0):
        raise Malformed("first frame")
    stay, players, wanted = r.u32(), r.u8(), slots(r.u64())
    knows = [r.u32(), frame(r)] if r.flag() else None
    return [tag, first if begun else None, stay, players, wanted, knows, tip(r)]


def report(r):
    found = [ballot(r), r.u32(), view(r), rows(r), frame(r), entry_ranges(r)]
    return found + [[ballot(r), view(r), entry_ranges(r)] if r.flag() else None]


def piece(r):
    number, content = r.u32(), r.rest()
    at_most(len(content), 8_192)
    return [number, content.hex()]


def packed(r):
    number, content = r.u32(), r.rest()
    at_most(len(content), 8_192)
    return [number, unpack(content, 8_192).hex()]


def forward(r):
    peer, content = r.peer(), r.rest()
    at_most(len(content), 262_144)
    return [peer, content.hex()]


def decline(r):
    reason = at_most(r.u8(), 3)
    return [reason, r.u64() if reason == 3 else None]


def feed(r):
    return [r.u64(), view(r) if r.flag() else None, frame(r), entry_ranges(r)]


def offer(r):
    number, size = r.u32(), at_most(r.u64(), 1 << 26)
    return [number, size, r.u64(), r.u64(), view(r), rows(r), frame(r), entry_ranges(r)]


def unpack(data, most):
    """A block of LZ4."""
    r, out = Reader(data), bytearray()

    def length(nibble):
        total = nibble
        if nibble == 15:
            more = 255
            while more == 255:
                more = r.u8()
                total += more
        return total

    while True:
        token = r.u8()
        out += r.take(length(token >> 4))
        if not r.left():
            if token & 15 or len(out) > most:
                raise Malformed("block of LZ4")
            return bytes(out)
        back, count = r.u16(), length(token & 15) + 4
        if not 0 < back <= len(out) or len(out) + count > most:
            raise Malformed("block of LZ4")
        for _ in range(count):
            out.append(out[-back])


KINDS = {
    0x10: ("Status", status),
    0x11: ("AskPath", lambda r: []),
    0x12: ("Path", lambda r: [tip(r)]),
    0x13: ("Collect", lambda r: [ballot(r), [stream(r) for _ in range(at_most(r.u8(), 64))], tip(r)]),
    0x14: ("Report", report),
    0x15: ("Nack", lambda r: [r.u32(), ballot(r)]),
    0x16: ("Gone", lambda r: [r.u32()]),
    0x17: ("View", lambda r: [ballot(r), view(r), entry_ranges(r)]),
    0x18: ("Accept", lambda r: [ballot(r), view(r), entry_ranges(r)]),
    0x19: ("Accepted", lambda r: [r.u32(), ballot(r)]),
    0x1A: ("AskSnapshot", lambda r: []),
    0x20: ("Offer", offer),
    0x21: ("Piece", piece),
    0x22: ("Got", lambda r: [r.u32(), r.u64()]),
    0x23: ("Decline", decline),
    0x24: ("Feed", feed),
    0x25: ("AskFeed", lambda r: [frame(r), r.u64(), r.u32()]),
    0x26: ("Enough", lambda r: []),
    0x27: ("Forward", forward),
    0x28: ("ForwardFrom", forward),
    0x29: ("Packed", packed),
}
