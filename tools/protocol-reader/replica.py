"""Messages and packets of the replica engine: docs/protocol/5-replica.md and 5-replica-values.md.

The packets of the vectors follow each other on one link, so each is read after those before it.
"""

import math
import pathlib
import struct

from wire import Bits, Malformed, Reader, at_most, complete, fnv1a_64

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "core/gaggle-replica/vectors"
PACKETS = ["introduction", "second", "third", "difference", "deletion", "keep_alive"]
MASK32 = 0xFFFFFFFF


def decode(name, data):
    if name == "hellos":
        return hellos(data)
    if name == "rotations":
        return rotations(data)
    if name not in PACKETS:
        return message(data)
    link = Link([fields for _, fields in hellos(load("hellos"))])
    for before in PACKETS[: PACKETS.index(name)]:
        link.packet(load(before))
    return link.packet(data)


def load(name):
    lines = (VECTORS / (name + ".hex")).read_text().splitlines()
    return bytes.fromhex("".join(line.split("#")[0] for line in lines).replace(" ", ""))


# Messages


def slot(r):
    return at_most(r.u8(), 254)


def hello(r):
    names = ("epoch", "echo", "join_order", "tag", "highest", "age_ms", "tick", "objects")
    found = {"version": r.u16(), "fingerprint": r.u64()}
    if found["version"] != 1:
        raise Malformed("version")
    found.update((name, r.u32()) for name in names)
    found["slot"], flags = slot(r), at_most(r.u8(), 15)
    found.update(blank=bool(flags & 1), spectator=bool(flags & 2), unknown=bool(flags & 4))
    if not found["epoch"] or not found["tag"] or (flags & 2 and found["join_order"] != MASK32):
        raise Malformed("hello")
    if flags & 8:
        extra = r.u64()
        found["extra_slots"] = [bit for bit in range(64) if extra >> bit & 1]
        at_most(len(found["extra_slots"]), 7)
        if not extra or flags & 2 or found["extra_slots"][0] <= found["slot"]:
            raise Malformed("extra slots")
    found["parts"] = []
    while r.left():
        found["parts"].append(r.u32())
    at_most(len(found["parts"]), 770)
    return found


def rest(r, most):
    content = r.rest()
    at_most(len(content), most)
    return content.hex()


def event(r):
    kind, to, target = r.u8(), at_most(r.u8(), 3), r.u8()
    if target and to != 3:
        raise Malformed("target")
    found = [kind, [to, at_most(target, 254)], slot(r), r.u32(), r.u32(), r.u16()]
    return found + [[r.u64() for _ in range(at_most(r.u8(), 8))], rest(r, 1_024)]


def message(data):
    r = Reader(data)
    kind = r.u8()
    if kind == 1:
        found = [hello(r)]
    elif kind in (2, 3):
        found = [r.u64()]
    elif kind in (4, 5):
        found = event(r)
    elif kind == 6:
        found = [r.u32(), r.flag()]
    elif kind == 7:
        found = [slot(r), r.u8(), r.u32(), [r.u32(), r.u32()], rest(r, 1_024)]
    elif kind in (8, 9):
        found = [r.u64(), r.u32()]
    elif kind == 10:
        found = [r.u64(), r.u32(), r.u32(), rest(r, 1_000)]
    else:
        raise Malformed("kind")
    r.finish()
    return [kind] + found


def hellos(data):
    r, found = Reader(data), []
    for _ in range(2):
        found.append(message(r.take(r.u16())))
    r.finish()
    if any(fields["fingerprint"] != fingerprint() for _, fields in found):
        raise Malformed("fingerprint")
    return found


# The schema of the vectors


class Field:
    def __init__(self, name, encoding, words, axis=None, bits=0, constant=False, moved_by=""):
        self.name, self.encoding, self.words, self.constant = name, encoding, words, constant
        self.bits, self.moved_by = bits, moved_by
        if axis:
            low, high, self.precision = axis
            self.low, self.high = math.floor(low / self.precision), math.ceil(high / self.precision)
        self.axis = axis

    def number_bits(self):
        return (self.high - self.low).bit_length()


BOAT = [
    Field("position", 0, 2, (0, 64, 1 / 16), moved_by="velocity"),
    Field("velocity", 0, 2, (-8, 8, 1 / 8)),
    Field("heading", 2, 1, bits=8),
    Field("fuel", 1, 1, (0, 100, 1)),
    Field("flag", 1, 1, (0, 65_535, 1)),
    Field("paint", 1, 1, (0, 255, 1), constant=True),
]
NAMES = {field.name: field for field in BOAT}
GLIDES = [NAMES[name] for name in ("velocity", "position", "heading")]
JUMPS = [NAMES[name] for name in ("fuel", "flag")]
INTERVAL = 0.05


def fingerprint():
    def text(part):
        return len(part).to_bytes(4, "little") + part

    kind = b"\0" + text(b"Boat")
    for field in BOAT:
        kind += text(field.name.encode()) + text(field.moved_by.encode())
        kind += text(bytes([field.encoding, field.bits, field.constant]))
        kind += text(field.words.to_bytes(8, "little")) + text(b"")
        if field.axis:
            kind += text(struct.pack("<i", field.low)) + text(struct.pack("<i", field.high))
            kind += text(struct.pack("<d", field.precision))
    kind += text(b"\0")
    kinds = fnv1a_64(text(fnv1a_64(kind).to_bytes(8, "little")))
    parts = (0, kinds, 1, 50_000)
    return fnv1a_64(b"".join(part.to_bytes(8, "little") for part in parts))


# Packets


def mark(sender, receiver):
    turned = receiver * 0x85EBCA77 & MASK32
    turned = (turned << 13 | turned >> 19) & MASK32
    return (sender * 0x9E3779B1 & MASK32) ^ turned


class Link:
    """What the receiver of the vectors knows."""

    def __init__(self, both):
        self.mark = mark(both[0]["epoch"], both[1]["epoch"])
        self.tick, self.newest = both[0]["tick"], 0
        self.values, self.claims = {}, {}

    def packet(self, data):
        r = Reader(data)
        if r.u32() != self.mark:
            raise Malformed("mark")
        number = complete(r.u16(), 16, self.newest)
        tick = complete(r.u16(), 16, self.tick)
        found = {"packet": number, "tick": tick, "phase": r.u8(), "ack": r.u16(), "held": r.u8()}
        counts = r.u16()
        words = (counts & 3) + 1
        found["acks"] = r.uint(4 * words)
        if counts & 4:
            raise Malformed("inputs")
        b, before, self.base, found["records"] = Bits(r.rest()), -1, None, []
        for _ in range(counts >> 3):
            before = handle(b, before)
            found["records"].append([before] + self.record(b, before, tick))
        b.finish()
        self.newest, self.tick = number, tick
        return found

    def record(self, b, at, tick):
        form, slots = read_form(b)
        if form in ("plain", "pair", "single"):
            held = self.values.get(at)
            if held is None:
                raise Malformed("handle")
            if form != "plain":
                self.base = [held[slot][0] if slot in held else None for slot in slots] + [None]
            if self.base is None:
                raise Malformed("baseline")
            value = difference(b, held, self.base, tick)
        elif form == "absolute":
            value = whole(b)
        elif form == "intro":
            identity = [b.bits(8), b.bits(32), b.varint(), optional(b)]
            claim = read_claim(b)
            constants = None if claim[3] else [b.bits(8)]
            value = None if claim[3] else whole(b)
            self.values[at], self.claims[at] = {}, claim
            self.keep(at, tick, value)
            return [form, identity, claim, constants, value]
        elif form == "authority":
            self.claims[at] = claim = read_claim(b)
            value = None if claim[3] else whole(b)
            self.keep(at, tick, value)
            return [form, claim, value]
        elif form == "close":
            return [form, b.flag()]
        else:
            raise Malformed("form")
        self.keep(at, tick, value)
        return [form, slots, value]

    def keep(self, at, tick, value):
        if value is not None:
            self.values[at][tick % 32] = (tick, value)


def handle(b, before):
    if not b.flag():
        return before + 1
    kind = b.bits(2)
    widths = (3, 6, 10, 17)
    above = b.bits(widths[kind])
    if kind and above >> widths[kind - 1] == 0:
        raise Malformed("handle")
    return at_most(before + above + 2, 65_535)


def read_form(b):
    if not b.flag():
        return "plain", []
    kind = b.bits(2)
    if kind == 0:
        return "pair", [b.bits(5), b.bits(5)]
    if kind == 1:
        return "single", [b.bits(5)]
    if kind == 3:
        return "absolute", []
    return ("intro", "authority", "relay", "close")[b.bits(2)], []


def optional(b):
    return at_most(b.bits(8), 254) if b.flag() else None


def read_claim(b):
    return [b.varint(), b.varint(), b.flag(), b.flag(), optional(b)]


def whole(b):
    value = {}
    for field in GLIDES:
        if field.name == "velocity" and b.flag():
            value[field.name] = [0] * field.words
        elif field.encoding == 2:
            value[field.name] = [b.bits(field.bits)]
        else:
            value[field.name] = [b.ranged(field.low, field.high) for _ in range(field.words)]
            if field.name == "velocity" and not any(value[field.name]):
                raise Malformed("velocity")
    for field in JUMPS:
        value[field.name] = [b.ranged(field.low, field.high)]
    return value


def toward_zero(left, right):
    return abs(left) // right * (1 if left >= 0 else -1)


def turn(number, bits):
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def clamp(number, field):
    return min(max(number, field.low), field.high)


def expected(field, index, b1, b2, k, g, velocity):
    one = b1[field.name][index]
    line = b2 is not None and k <= 3 * g
    if field.moved_by:
        speed = NAMES[field.moved_by]
        steps = round(2**24 * speed.precision * INTERVAL / 2 / field.precision)
        total = b1[field.moved_by][index] + velocity[index]
        return clamp(one + (total * k * steps + 2**23 >> 24), field)
    way = one - b2[field.name][index] if line else 0
    if field.encoding == 2:
        way = turn(way, field.bits)
        return (one + toward_zero(way * k, g if line else 1)) % (1 << field.bits)
    return clamp(one + toward_zero(way * k, g if line else 1), field)


def difference(b, held, base, tick):
    def of(wanted):
        found = held.get(wanted % 32) if wanted is not None else None
        if wanted is not None and (found is None or found[0] != wanted):
            raise Malformed("no such value")
        return found

    newer, older = of(base[0]), of(base[1])
    if newer is None or newer[0] >= tick or (older and older[0] >= newer[0]):
        raise Malformed("baseline")
    b1, b2 = newer[1], older[1] if older else None
    k, g = min(tick - newer[0], 1_024), newer[0] - older[0] if older else 0
    guess = {}
    for field in GLIDES:
        now = guess.get("velocity")
        guess[field.name] = [expected(field, i, b1, b2, k, g, now) for i in range(field.words)]
    for field in JUMPS:
        guess[field.name] = list(b1[field.name])
    if b.flag():
        return guess
    value, glides = {name: list(words) for name, words in b1.items()}, True
    jumped = b.flag()
    changed = []
    if jumped:
        glides = b.flag()
        changed = [field for field in JUMPS if b.flag()]
        if not changed:
            raise Malformed("fields")
    if glides:
        for field in GLIDES:
            for i in range(field.words):
                wanted = expected(field, i, b1, b2, k, g, value["velocity"])
                value[field.name][i] = residual(b, field, wanted)
        if jumped and all(value[field.name] == b1[field.name] for field in GLIDES):
            raise Malformed("fields")
    for field in changed:
        for i in range(field.words):
            if field.number_bits() <= 5:
                value[field.name][i] = b.ranged(field.low, field.high)
            else:
                value[field.name][i] = residual(b, field, b1[field.name][i])
        if value[field.name] == b1[field.name]:
            raise Malformed("fields")
    if value == guess:
        raise Malformed("difference")
    return value


def residual(b, field, wanted):
    if field.encoding == 2:
        half = 1 << (field.bits - 1)
        away = step(b, -half, half - 1, 0)
        return (wanted + away) % (2 * half)
    return step(b, field.low, field.high, wanted)


def step(b, low, high, wanted):
    least = 0
    for bits, most in ((3, 8), (6, 64), (10, 1_024)):
        if not b.flag():
            code = b.bits(bits)
            if code < least:
                raise Malformed("residual")
            value = wanted + (code >> 1 if code % 2 == 0 else -(code >> 1) - 1)
            if not low <= value <= high:
                raise Malformed("range")
            return value
        least = most
    value = b.ranged(low, high)
    away = value - wanted
    if (2 * away if away >= 0 else -2 * away - 1) < 1_024:
        raise Malformed("residual")
    return value


# Rotations


def rotations(data):
    r, found = Reader(data), []
    for _ in range(3):
        newer, older = [r.u16() for _ in range(4)], [r.u16() for _ in range(4)]
        k, g = r.u8(), r.u8()
        told = [r.u16() for _ in range(4)]
        if told != rotation(newer, older, k, g, 10):
            raise Malformed(f"rotation: {rotation(newer, older, k, g, 10)}")
        found.append([newer, older, k, g, told])
    r.finish()
    return found


def rotation(newer, older, k, g, bits):
    most = 2**bits - 2
    square = 2 * most * most

    def half_steps(words):
        q = [2 * word - most for word in words[:3]]
        left = square - sum(part * part for part in q)
        q.insert(words[3], math.isqrt(left) if left > 0 else 0)
        return q

    q1, q2 = half_steps(newer), half_steps(older)
    dot = sum(a * b for a, b in zip(q1, q2))
    q2 = [-part for part in q2] if dot < 0 else q2
    if k > 3 * g:
        q = q1
    elif k == g:
        q = [(2 * abs(dot) * a + square // 2) // square - b for a, b in zip(q1, q2)]
    else:
        q = [a + toward_zero((a - b) * k, g) for a, b in zip(q1, q2)]
    out = max(range(4), key=lambda index: abs(q[index]))
    sign = -1 if q[out] < 0 else 1
    words = [min(max((sign * q[i] + most) // 2, 0), most) for i in range(4) if i != out]
    return words + [out]
