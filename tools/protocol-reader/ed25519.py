"""Ed25519 signatures, verified as RFC 8032 defines it. Slow: for vectors only."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def _recover(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    if x * x % P != square or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x, y)


def _add(left, right):
    (x1, y1), (x2, y2) = left, right
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P
    return (x, (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P)


def _times(scalar, point):
    total = (0, 1)
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point, scalar = _add(point, point), scalar >> 1
    return total


BASE = _recover((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verify(key, message, signature):
    a, r = _recover(key), _recover(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or a is None or r is None or s >= ORDER:
        return False
    if (0, 1) in (_times(8, a), _times(8, r)):
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return _times(s, BASE) == _add(r, _times(challenge, a))
