"""Datagrams of the UDP carrier, with its cryptography: docs/protocol/2-udp.md."""

import hashlib
import hmac

from aes import open_ccm
from wire import Malformed, Reader, complete

ROOM_KEY = bytes(range(32))


def decode(name, data):
    if name in ("knock", "challenge"):
        return handshake(data, handshake_key(ROOM_KEY))
    if name == "welcome":
        return handshake(data, bytes([0xCF]) * 32)
    if name == "sealed":
        return sealed(data, bytes([0x5E]) * 16, 0x50100)
    if name == "session":
        return session(data)
    return None


def hkdf(salt, secret, info, count):
    key = hmac.new(salt, secret, hashlib.sha256).digest()
    out, block, index = b"", b"", 0
    while len(out) < count:
        index += 1
        block = hmac.new(key, block + info + bytes([index]), hashlib.sha256).digest()
        out += block
    return out[:count]


def handshake_key(room_key):
    return hkdf(b"gaggle udp 1", room_key, b"greetings", 32)


def handshake(data, key):
    r = Reader(data)
    kind = r.u8()
    if r.u8() != 1:
        raise Malformed("version")
    if kind == 1:
        found = {"kind": "Knock", "peer": r.peer(), "key": r.take(32).hex(), "session": number(r)}
        found["cookie"] = r.take(16).hex()
    elif kind == 2:
        found = {"kind": "Challenge", "of": r.take(8).hex(), "cookie": r.take(16).hex()}
    elif kind == 3:
        found = {"kind": "Welcome", "to": number(r), "peer": r.peer(), "key": r.take(32).hex()}
        found["session"] = number(r)
    else:
        raise Malformed("kind")
    code = r.take(16)
    r.finish()
    if code != hmac.new(key, data[:-16], hashlib.sha256).digest()[:16]:
        raise Malformed("code")
    return found


def number(r):
    session = r.uint(2, "big")
    if session >= 1 << 14:
        raise Malformed("session")
    return session


def sealed(data, key, expected):
    r = Reader(data)
    first, low = r.uint(2, "big"), r.uint(2, "big")
    if first >> 14 not in (1, 2) or r.left() < 8:
        raise Malformed("kind")
    count = complete(low, 16, expected)
    count = count if count >= 0 else count + 65_536
    nonce = bytes(5) + count.to_bytes(8, "big")
    content = open_ccm(key, nonce, data[:4], data[4:])
    if content is None:
        raise Malformed("tag")
    kind = {1: "data", 2: "probe"}[first >> 14]
    return {"kind": kind, "session": first & 0x3FFF, "count": count, "content": content.hex()}


def session(data):
    r = Reader(data)
    room_key, initiator, responder = r.take(32), r.take(32), r.take(32)
    keys = [r.take(32), r.take(32)]
    secret, greeting_key = r.take(32), r.take(32)
    knock, welcome = r.take(84), r.take(70)
    transcript, derived = r.take(32), r.take(64)
    base = bytes([9]) + bytes(31)
    facts = [
        keys == [x25519(initiator, base), x25519(responder, base)],
        secret == x25519(initiator, keys[1]) == x25519(responder, keys[0]) != bytes(32),
        greeting_key == handshake_key(room_key),
        transcript == hashlib.sha256(knock[:-16] + welcome[:-16]).digest(),
        derived == hkdf(room_key, secret, b"gaggle udp 1 session" + transcript, 64),
    ]
    if not all(facts):
        raise Malformed(f"keys: {facts}")
    found = [handshake(knock, greeting_key), handshake(welcome, derived[32:])]
    found.append(sealed(r.take(12 + 4), derived[:16], 0))
    found.append(sealed(r.take(12 + 9), derived[16:32], 0))
    r.finish()
    return found


def x25519(scalar, point):
    """RFC 7748."""
    prime = 2**255 - 19
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    u = int.from_bytes(point, "little") & ~(1 << 255)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for bit in reversed(range(255)):
        now = k >> bit & 1
        if swap ^ now:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = now
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a, c * b, a * a, b * b
        x3, z3 = (da + cb) ** 2 % prime, u * (da - cb) ** 2 % prime
        x2, z2 = aa * bb % prime, (aa - bb) * (aa + 121665 * (aa - bb)) % prime
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, prime - 2, prime) % prime).to_bytes(32, "little")
