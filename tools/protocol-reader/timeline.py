"""Messages and packets of the timeline engine: docs/protocol/3-timeline.md."""

import membership
import replay
from wire import Malformed, Reader, at_most, fnv1a_64, fold, slots

FRAME_MAX = (1 << 31) - 1
PACKETS = ("idle", "everything", "dense", "sayings")


def decode(name, data):
    if name in PACKETS:
        return packet(data, 1)
    if name in ("need", "give"):
        return backfill(data)
    if name == "inputs_hash":
        return inputs_hash(data)
    if name == "fingerprints":
        return fingerprints(data)
    if name in ("replay", "bundle"):
        return replay.decode(name, data)
    return message(data)


def message(data):
    r = Reader(data)
    kind = r.u8()
    if kind == 1:
        version = r.u16()
        if version != 1:
            return ["Announce", version]
        found = ["Announce", version, r.u64(), r.u64(), r.u64(), r.u32(), slots(r.u64()), r.u64()]
    elif kind == 2:
        first, last, live = frame(r), frame(r), r.u32()
        count = r.u16()
        if not 1 <= last - first <= 2_400 or count not in (0, last - first):
            raise Malformed("frames of findings")
        hashes = [r.u32() for _ in range(count)]
        streams = [[r.peer(), r.u32()] for _ in range(at_most(r.u8(), 64))]
        found = ["Findings", first, last, live, hashes, streams]
    elif kind == 3:
        found = ["Recovered", frame(r)]
    else:
        return membership.message(data)
    r.finish()
    return found


def frame(r):
    return at_most(r.u32(), FRAME_MAX)


def packet(data, entry_bytes):
    r = Reader(data)
    tag, flags = r.u8(), r.u8()
    found = {"tag": tag & 63, "missing": bool(tag & 64), "in_no_roster": bool(flags & 128)}
    if found["tag"] == 63:
        raise Malformed("tag")
    newest, carried, ack, found["confirmed"] = r.u16(), r.u8(), r.u8(), r.u8()
    found.update(newest=newest, carried=carried)
    if ack < 255:
        found["ack"] = (newest + ack - 128) & 0xFFFF
    else:
        found["ack"] = r.u16()
        distance = (found["ack"] - newest + 128) & 0xFFFF
        if distance < 255:
            raise Malformed("form of the acknowledgement")
    if flags & 16:
        found["time"] = [r.u16(), r.u16(), r.u8(), r.int(1), r.u8()]
    if flags & 32:
        found["check"] = [r.u8(), r.u32(), r.u32()]
    if flags & 64:
        found["promise"] = membership.ballot(r)
    if tag & 128:
        found["controls"], before = [], carried
        count = r.u8()
        if not 1 <= count <= 4:
            raise Malformed("count of controls")
        for _ in range(count):
            age = r.u8()
            if age >= before:
                raise Malformed("order of controls")
            before = age
            found["controls"].append([age, membership.control(r)])
    found["entries"] = entries(r, flags, carried, entry_bytes)
    return found


def entries(r, flags, carried, entry_bytes):
    """Each entry: its bytes if it is a change, else None."""
    count, bitmap_bytes = flags & 7, (carried + 7) // 8
    if flags & 8:
        if count:
            raise Malformed("changes of a dense packet")
        bitmap = r.uint(bitmap_bytes)
        if bitmap >> carried:
            raise Malformed("bitmap")
        changed = [bool(bitmap >> index & 1) for index in range(carried)]
        told = [r.take(entry_bytes).hex() if change else None for change in changed]
        r.finish()
        changes = sum(changed)
    else:
        changes = count
        if count == 7:
            changes = r.u8()
            if changes < 7:
                raise Malformed("count of changes")
        told = []
        for _ in range(changes):
            told += [None] * r.u8() + [r.take(entry_bytes).hex()]
        r.finish()
        if len(told) > carried:
            raise Malformed("entries")
        told += [None] * (carried - len(told))
    if bool(flags & 8) != (changes > bitmap_bytes):
        raise Malformed("form of the entries")
    return told


def backfill(data):
    r = Reader(data)
    if r.u8() != 63:
        raise Malformed("tag")
    kind = r.u8()
    if kind == 1:
        found = [[membership.stream(r), frame(r)] for _ in range(at_most(r.u8(), 8))]
    elif kind == 2:
        found = [at_most(r.u8(), 61), r.u8(), frame(r), membership.entry_range(r)]
    else:
        raise Malformed("kind")
    r.finish()
    return found


def mixed(value, data):
    """A hash of inputs with one more input."""
    data = data + bytes(-len(data) % 8)
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at : at + 8], "little")
        value = (value ^ word) * 0x9E3779B97F4A7C15 & ((1 << 64) - 1)
        value = (value << 29 | value >> 35) & ((1 << 64) - 1)
    return value


def inputs_hash(data):
    r, found = Reader(data), []
    for _ in range(2):
        size, value, frames = r.u8(), 0, []
        for _ in range(r.u8()):
            present = slots(r.u64())
            inputs = [r.take(size) for _ in present]
            for one in inputs:
                value = mixed(value, one)
            frames.append([present, [one.hex() for one in inputs]])
        if [r.u64(), r.u32()] != [value, fold(value)]:
            raise Malformed("hash of inputs")
        found.append([size, frames, value])
    r.finish()
    return found


def fingerprints(data):
    r = Reader(data)
    settings = r.take(64)
    found = [[int.from_bytes(settings[n : n + 8], "little") for n in range(0, 64, 8)], r.u64()]
    start = r.at
    match = [r.u64(), r.u64()]
    count = r.u8()
    peers = [[r.peer(), slots(r.u64())] for _ in range(count)]
    told = data[start : start + 16] + data[start + 17 : r.at]
    cohort = r.u64()
    r.finish()
    if found[1] != fnv1a_64(settings) or cohort != (fnv1a_64(told) or 1):
        raise Malformed("fingerprint")
    return found + [match, peers, cohort]
