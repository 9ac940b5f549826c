"""AES-128-CCM with a 13-byte nonce and an 8-byte tag (FIPS 197, SP 800-38C).

Slow and not constant in time: for vectors only.
"""


def _tables():
    sbox, value, inverse = [0] * 256, 1, 1
    while True:
        value ^= (value << 1 ^ (0x11B if value & 0x80 else 0)) & 0xFF | 0
        for shift in (1, 2, 4):
            inverse = (inverse ^ inverse << shift) & 0xFF
        if inverse & 0x80:
            inverse ^= 9
        mixed = inverse
        for shift in (1, 2, 3, 4):
            mixed ^= (inverse << shift | inverse >> (8 - shift)) & 0xFF
        sbox[value] = mixed ^ 0x63
        if value == 1:
            break
    sbox[0] = 0x63
    return sbox


SBOX = _tables()


def _double(byte):
    return (byte << 1 ^ (0x1B if byte & 0x80 else 0)) & 0xFF


def _schedule(key):
    words, constant = [list(key[n : n + 4]) for n in range(0, 16, 4)], 1
    for index in range(4, 44):
        word = list(words[-1])
        if index % 4 == 0:
            word = [SBOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _double(constant)
        words.append([a ^ b for a, b in zip(words[-4], word)])
    return [sum(words[n : n + 4], []) for n in range(0, 44, 4)]


def encrypt_block(key, block):
    schedule = _schedule(key)
    state = [a ^ b for a, b in zip(block, schedule[0])]
    for turn in range(1, 11):
        state = [SBOX[state[(index + 4 * (index % 4)) % 16]] for index in range(16)]
        if turn < 10:
            mixed = []
            for column in range(0, 16, 4):
                a = state[column : column + 4]
                whole = a[0] ^ a[1] ^ a[2] ^ a[3]
                mixed += [a[n] ^ whole ^ _double(a[n] ^ a[(n + 1) % 4]) for n in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, schedule[turn])]
    return bytes(state)


def open_ccm(key, nonce, header, sealed):
    """The content, or None if the tag is wrong."""

    def stream(index):
        return encrypt_block(key, b"\1" + nonce + index.to_bytes(2, "big"))

    def xor(left, right):
        return bytes(a ^ b for a, b in zip(left, right))

    body, tag = sealed[:-8], sealed[-8:]
    content = b"".join(xor(body[n : n + 16], stream(n // 16 + 1)) for n in range(0, len(body), 16))
    blocks = bytes([0x40 | 3 << 3 | 1]) + nonce + len(content).to_bytes(2, "big")
    blocks += len(header).to_bytes(2, "big") + header
    blocks += bytes(-len(blocks) % 16) + content
    blocks += bytes(-len(blocks) % 16)
    mac = bytes(16)
    for start in range(0, len(blocks), 16):
        mac = encrypt_block(key, xor(mac, blocks[start : start + 16]))
    return content if xor(mac[:8], stream(0)) == tag else None
