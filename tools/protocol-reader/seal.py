"""Packets, messages and journals of sealed matches: docs/protocol/9-seal*.md.

The vectors are of a match with three slots and values of one byte. Absent: what a log says, which
blocks need; frames are read as what changes in them.
"""

from wire import Bits, Malformed, Reader, at_most, xxh64

SLOTS, VALUE, PIECE = 3, 1, 8192
WHY = ("goodbye", "silent", "removed", "replaced")
OVER = ("left", "closed", "draining", "fault")


def decode(name, data):
    if name == "journal":
        return journal(data)
    if name.startswith("up"):
        return up(data)
    if name.startswith("merged"):
        return merged(data)
    return message(data)


def time(r):
    return [r.u16(), r.u16(), r.u8()]


def up(data):
    r = Reader(data)
    flags = r.u8()
    if flags & 1:
        raise Malformed("a packet of a client")
    names = ("ready", "leaving", "gap", "time", "lanes", "passive", "entries")
    said = [name for bit, name in enumerate(names, 1) if flags >> bit & 1]
    found = ["up", said, r.u8(), r.u8(), r.u16()]
    if "time" in said:
        found.append(time(r))
    bits = Bits(r.rest())
    if "lanes" in said:
        found.append([bits.varint()])
    if "entries" in said:
        found.append(entries(bits, "passive" in said))
    elif "passive" in said:
        raise Malformed("passive entries")
    bits.finish()
    return found


def entries(bits, has_passive):
    first = at_most(bits.varint(), 1 << 20)
    if first == 0:
        raise Malformed("first entry")
    count = bits.bits(7) + 1
    passive = [has_passive and bits.flag() for _ in range(count)]
    if has_passive and not any(passive):
        raise Malformed("passive entries")
    found, is_whole = [], True
    for rests in passive:
        if rests:
            found.append("passive")
            is_whole = True
            continue
        if is_whole:
            repeats = bits.flag()
            found.append([bits.bits(8 * VALUE), repeats])
        else:
            found.append(bits.bits(8 * VALUE) if bits.flag() else "repeats")
        is_whole = False
    return [first, found]


def merged(data):
    r = Reader(data)
    flags = r.u8()
    if flags & 1 == 0 or flags > 7:
        raise Malformed("a merged packet")
    found = ["merged", r.u8(), r.u8(), r.u16()]
    found.append(r.u8() if flags & 4 else None)
    found.append(time(r) + [r.int(1)] if flags & 2 else None)
    return found + [blocks(r, found[3])]


def blocks(r, told):
    bits, found = Bits(r.rest()), []
    while bits.at < bits.count:
        found.append(block(bits, told))
        spare = -bits.at % 8
        if bits.bits(spare):
            raise Malformed("padding")
    return found


def block(bits, told):
    age = at_most(bits.varint(), told)
    count = age if bits.flag() else at_most(bits.varint(), age)
    k = at_most(bits.bits(4), 10)
    return [told - age, [frame(bits, k) for _ in range(at_most(count, 4096))]]


def frame(bits, k):
    if not bits.flag():
        return []
    found = []
    if bits.flag():
        last = [None]
        found = listed(bits, min(bits.bits(4), 10), lambda: kind(bits, last))
        if not bits.flag():
            return found
    return found + listed(bits, k, lambda: bits.bits(8 * VALUE))


def listed(bits, k, read):
    found, at = [], 0
    while at < SLOTS:
        gap = rice(bits, SLOTS - at, k)
        if at + gap == SLOTS:
            break
        found.append([at + gap, read()])
        at += gap + 1
    return found


def rice(bits, most, k):
    last, zeros = most >> k, 0
    while zeros < last and not bits.flag():
        zeros += 1
    low = (most - (zeros << k)).bit_length() if zeros == last else k
    return at_most((zeros << k) + bits.bits(low), most)


def peer(bits):
    return bytes(bits.bits(8) for _ in range(16)).hex()


def kind(bits, last):
    code = bits.bits(2)
    if code == 0:
        return "missed"
    if code == 1:
        repeats = bits.flag()
        return ["made", bits.bits(8 * VALUE), repeats]
    if code == 2:
        return "passive"
    if not bits.flag():
        return ["out", WHY[bits.bits(2)]]
    if not bits.flag():
        last[0] = [peer(bits), bits.bits(32)]
    if last[0] is None:
        raise Malformed("stream as before")
    return ["join", last[0]]


def lineage(r):
    match, count = r.u64(), r.varint(32)
    terms = [[r.varint((1 << 32) - 1), r.varint((1 << 32) - 2)] for _ in range(count)]
    if not terms or any(a[0] >= b[0] or a[1] > b[1] for a, b in zip(terms, terms[1:])):
        raise Malformed("terms")
    return [match, terms]


def checkpoint(r):
    bits = Bits(r.counted(1 << 20))
    found, last = [bits.bits(32), f"{bits.bits(64):016x}"], None
    for _ in range(SLOTS):
        if not bits.flag():
            found.append(None)
            continue
        if not bits.flag():
            last = [peer(bits), bits.bits(32)]
        if last is None:
            raise Malformed("stream as before")
        row = [last, at_most(bits.varint(), found[0])]
        made, other, spoken = bits.flag(), bits.flag(), bits.flag()
        if made and not spoken:
            raise Malformed("spoken")
        row.append(["made", other] if made else "passive" if other else "missed")
        row.append(bits.bits(8 * VALUE) if spoken else None)
        if not made and not other:
            row.append(at_most(bits.varint(), 0xFFFF))
        found.append(row)
    bits.finish()
    return found


def frames(r):
    sealed = r.u32()
    return [sealed, blocks(r, sealed)]


def message(data):
    r = Reader(data)
    code = at_most(r.u8(), 13)
    if code == 1:
        found = ["Enter"] + ([lineage(r), r.u32()] if r.flag() else [])
    elif code == 2:
        found = ["Answer", r.u32(), lineage(r), checkpoint(r), frames(r)]
    elif code == 3:
        found = ["WhoAreYou", r.u32()]
    elif code == 4:
        found = ["Terms", lineage(r)]
    elif code == 5:
        found = ["Snapshot", lineage(r), *state(r)]
        found += [r.take(min(found[-1], PIECE)).hex(), checkpoint(r)]
    elif code == 6:
        found = ["Over", OVER[at_most(r.u8(), 3)]]
    elif code == 7:
        found = hello(r)
    elif code == 8:
        found = ["Ask", r.u32(), r.u32()]
    elif code == 9:
        found = ["Offer", *state(r), r.u32(), f"{r.u64():016x}"]
    elif code == 10:
        found = ["Piece", r.u32(), r.varint(0xFFFFFFFF), r.rest().hex()]
    elif code == 11:
        found = ["Got", r.u32(), r.varint(0xFFFFFFFF)]
    elif code == 12:
        found = ["Check", r.u32(), f"{r.u64():016x}", f"{r.u64():016x}", r.u8()]
    elif code == 13:
        found = ["Verdict", r.u32(), "log" if r.flag() else "state"]
    else:
        raise Malformed("message")
    r.finish()
    return found


def state(r):
    return [r.u32(), f"{r.u64():016x}", r.varint(16 << 20)]


def hello(r):
    if r.u8() != 1:
        raise Malformed("version")
    found = ["Hello", r.u32(), "spectator" if r.flag() else "player"]
    found.append([f"{r.u64():016x}" for _ in range(3)])
    return found + [[r.varint(0xFFFFFFFF) for _ in range(13)]]


def journal(data):
    r = Reader(data)
    if r.take(8) != b"GGSEAL\0\x01":
        raise Malformed("journal")
    found = ["journal", r.u16(), r.u8()]
    while r.left():
        code, body = r.u8(), r.counted(8 << 20)
        if r.u32() != xxh64(bytes([code]) + body) & 0xFFFFFFFF:
            raise Malformed("checksum")
        inner = Reader(body)
        found.append([lineage(inner), checkpoint(inner)] if code == 1 else frames(inner))
        inner.finish()
    return found
