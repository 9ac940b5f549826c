"""Bytes, bits and hashes as docs/protocol/0-conventions.md defines them.

Every decoder uses it. Absent: packets, files, any document but 0.
"""


class Malformed(Exception):
    """The bytes have no meaning, or not the one encoding of it."""


class Reader:
    """Reads values from bytes, first to last."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Malformed("cut short")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def left(self):
        return len(self.data) - self.at

    def rest(self):
        return self.take(self.left())

    def finish(self):
        if self.left():
            raise Malformed("bytes after the end")

    def uint(self, size, order="little"):
        return int.from_bytes(self.take(size), order)

    def int(self, size):
        return int.from_bytes(self.take(size), "little", signed=True)

    def u8(self):
        return self.uint(1)

    def u16(self):
        return self.uint(2)

    def u32(self):
        return self.uint(4)

    def u64(self):
        return self.uint(8)

    def flag(self):
        return {0: False, 1: True}[at_most(self.u8(), 1)]

    def peer(self):
        return self.take(16).hex()

    def varint(self, most=(1 << 64) - 1):
        return at_most(varint(self.u8), most)

    def zigzag(self):
        return unzigzag(self.varint())

    def counted(self, most):
        return self.take(self.varint(most))


class Bits:
    """Reads values of any number of bits, lowest bit of the first byte first."""

    def __init__(self, data):
        self.number = int.from_bytes(data, "little")
        self.count = 8 * len(data)
        self.at = 0

    def bits(self, count):
        if self.at + count > self.count:
            raise Malformed("cut short")
        value = self.number >> self.at & ((1 << count) - 1)
        self.at += count
        return value

    def flag(self):
        return self.bits(1) == 1

    def ranged(self, low, high):
        return low + at_most(self.bits((high - low).bit_length()), high - low)

    def varint(self):
        return varint(lambda: self.bits(8))

    def zigzag(self):
        return unzigzag(self.varint())

    def finish(self):
        left = self.count - self.at
        if left >= 8 or self.bits(left):
            raise Malformed("padding")


def varint(next_byte):
    value = 0
    for index in range(10):
        byte = next_byte()
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if (byte == 0 and index) or (index == 9 and byte > 1):
                raise Malformed("varint")
            return value
    raise Malformed("varint")


def unzigzag(number):
    return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def at_most(value, most):
    if value > most:
        raise Malformed("out of range")
    return value


def complete(low, bits, expected):
    """The number with these low bits that is nearest to the expected one."""
    half = 1 << (bits - 1)
    ahead = (low - expected) % (1 << bits)
    return expected + (ahead - (1 << bits) if ahead >= half else ahead)


MASK64 = (1 << 64) - 1


def xxh64(data):
    """XXH64 with seed 0."""
    p1, p2, p3, p4, p5 = (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )

    def rotate(value, count):
        return (value << count | value >> (64 - count)) & MASK64

    def step(lane, word):
        return rotate((lane + word * p2) & MASK64, 31) * p1 & MASK64

    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & MASK64, p2, 0, -p1 & MASK64]
        while len(data) - at >= 32:
            for index in range(4):
                start = at + 8 * index
                lanes[index] = step(lanes[index], int.from_bytes(data[start : start + 8], "little"))
            at += 32
        value = sum(rotate(lane, count) for lane, count in zip(lanes, (1, 7, 12, 18))) & MASK64
        for lane in lanes:
            value = ((value ^ step(0, lane)) * p1 + p4) & MASK64
    else:
        value = p5
    value = (value + len(data)) & MASK64
    while len(data) - at >= 8:
        value ^= step(0, int.from_bytes(data[at : at + 8], "little"))
        value = (rotate(value, 27) * p1 + p4) & MASK64
        at += 8
    if len(data) - at >= 4:
        value ^= int.from_bytes(data[at : at + 4], "little") * p1 & MASK64
        value = (rotate(value, 23) * p2 + p3) & MASK64
        at += 4
    for byte in data[at:]:
        value ^= byte * p5 & MASK64
        value = rotate(value, 11) * p1 & MASK64
    value = (value ^ value >> 33) * p2 & MASK64
    value = (value ^ value >> 29) * p3 & MASK64
    return value ^ value >> 32


def fold(value):
    return (value >> 32) ^ (value & 0xFFFFFFFF)


def fnv1a_64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK64
    return value


def fnv1a_32(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def conventions(name, data):
    """Decodes a vector of 0-conventions.md."""
    r = Reader(data)
    if name == "hashes":
        found = {}
        for what in (b"", b"a", b"foobar", bytes(range(100))):
            expected = [xxh64(what), fold(xxh64(what)), fnv1a_64(what), fnv1a_32(what)]
            if [r.u64(), r.u32(), r.u64(), r.u32()] != expected:
                raise Malformed("hash of " + what.hex())
            found[what.hex()] = expected
        r.finish()
        return found
    if name == "state":
        found = {
            "flag": r.flag(),
            "array": [r.int(2), r.int(2)],
            "option": r.u8() if r.flag() else None,
            "absent": r.u8() if r.flag() else None,
            "text": text(r.counted(64)),
            "list": [r.u32() for _ in range(r.varint(64))],
            "map": [[r.u8(), r.flag()] for _ in range(r.varint(64))],
            "variant": [at_most(r.u8(), 2), r.int(1)],
            "frame": r.u32(),
            "slots": slots(r.u64()),
            "char": chr(r.u32()),
        }
        r.finish()
        return found
    if name == "bits":
        b = Bits(data)
        found = [b.flag(), b.ranged(-3, 3), b.bits(13), b.varint(), b.zigzag(), b.ranged(5, 5)]
        b.finish()
        return found
    return None


def text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("text") from error


def slots(bits):
    return [slot for slot in range(64) if bits >> slot & 1]
