"""Decodes every vector and compares the fields with expected.json.

`python3 tools/protocol-reader/check.py` from anywhere; exit status 1 if a vector is not decoded,
decodes to something else, or still means the same when it is cut short. `--write` writes
expected.json anew: read the difference before it is committed.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True

import link  # noqa: E402
import lobby  # noqa: E402
import replica  # noqa: E402
import seal  # noqa: E402
import timeline  # noqa: E402
import udp  # noqa: E402
import wire  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPECTED = HERE / "expected.json"

DECODERS = {
    "core/gaggle": link.beside,
    "core/gaggle-kit": wire.conventions,
    "core/gaggle-link": link.decode,
    "core/gaggle-lobby": lobby.decode,
    "core/gaggle-replica": replica.decode,
    "core/gaggle-seal": seal.decode,
    "core/gaggle-timeline": timeline.decode,
    "shell/gaggle-native": udp.decode,
}


def vectors():
    """Path from the root and content of every vector file."""
    for path in sorted(ROOT.glob("*/*/vectors/*")):
        data = path.read_bytes()
        if path.suffix == ".hex":
            digits = "".join(line.split("#")[0] for line in data.decode().splitlines())
            data = bytes.fromhex("".join(digits.split()))
        yield path.relative_to(ROOT).as_posix(), data


def decode(path, data):
    folder, _, file = path.partition("/vectors/")
    decoder = DECODERS.get(folder)
    return decoder(file.partition(".")[0], data) if decoder else None


def means(path, data):
    """The fields, or None if the bytes are malformed."""
    try:
        return json.loads(json.dumps(decode(path, data)))
    except (wire.Malformed, KeyError, IndexError, ValueError):
        return None


def objections(path, data, expected):
    found = means(path, data)
    if found is None:
        try:
            decode(path, data)
        except wire.Malformed as error:
            return [f"{path}: malformed: {error}"]
        except (KeyError, IndexError, ValueError) as error:
            return [f"{path}: {type(error).__name__}: {error}"]
        return [f"{path}: no decoder"]
    if found != expected:
        return [f"{path}: decodes to {json.dumps(found, ensure_ascii=False)}"]
    if path.endswith(".jsonl"):
        return [objection for line in data.splitlines() for objection in cut_line(path, line)]
    changed = [data[:end] for end in range(len(data))]
    # Bytes after the end of a replay are ignored.
    changed += [] if path.endswith("/replay.hex") else [data + b"\0"]
    same = [len(other) for other in changed if means(path, other) == found]
    return [f"{path}: {length} of {len(data)} bytes mean the same" for length in same]


def cut_line(path, line):
    """Each line is a message of its own: no part of one, nor it and a brace more, is any message."""
    kinds = lobby.SIDES[pathlib.PurePath(path).stem]

    def is_message(data):
        try:
            return bool(lobby.message(kinds, data.decode()))
        except (wire.Malformed, AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False

    changed = [line[:end] for end in range(len(line))] + [line + b"}"]
    same = [len(other) for other in changed if is_message(other)]
    same += [] if is_message(line) else [len(line)]
    return [f"{path}: {length} of {len(line)} bytes: {line.decode()}" for length in same]


def main():
    if sys.argv[1:] == ["--write"]:
        found = {path: decode(path, data) for path, data in vectors()}
        lines = [f"{json.dumps(path)}: {json.dumps(fields, ensure_ascii=False)}" for path, fields in found.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    expected = json.loads(EXPECTED.read_text())
    wrong, count = [], 0
    for path, data in vectors():
        wrong += objections(path, data, expected.pop(path, None))
        count += 1
    wrong += [f"{path}: expected, and not there" for path in expected]
    print("\n".join(wrong) or f"{count} vectors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
