"""Tickets and messages of the lobby: docs/protocol/6-lobby.md and 8-files.md."""

import json

import ed25519
from wire import Malformed, Reader, at_most, text

CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
LABEL_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"


# Fields of 6-lobby.md, sections 2 and 3: `?` may be omitted, `?=` and false is another thing; what
# follows `:` is a part below.
CLIENT = {
    "hello": "version? key? seat? name? token? resume? seen? ticket? settings?",
    "take_over": "",
    "find": "game? mode? build? seats? players? palette? switch? settings?",
    "create": "game? mode? build? seats? players? private? drop_in? host_starts? palette? switch? settings?",
    "join": "code? room? build? players? palette? watch? switch?",
    "leave": "back?",
    "touch": "",
    "ready": "ready?",
    "rest": "resting?",
    "start": "countdown_ms?",
    "finish": "",
    "settings": "settings",
    "access": "locked?= private?= seats?",
    "kick": "peer",
    "host": "peer",
    "profile": "name? palette?",
    "signal": "to n? seen? data",
    "ticket": "",
    "ice": "",
    "look": "",
    "list": "game? mode? build? all?",
    "unlist": "",
    "report": "round scores:score level? digest?",
    "score": "round score level?",
    "top": "game? mode? verified? count?",
    "mine": "game? mode?",
}
SERVER = {
    "welcome": "version server now player peer name key? resume resumed? got? seat code? ticket_key touch_ms sign_in?",
    "joined": "created? returned? peer slot? inherited? ticket expires room:room ice?:ice relay?:relay",
    "room": "room:room",
    "change": "version events?:event",
    "left": "room reason",
    "signal": "from n data",
    "ticket": "ticket expires",
    "ice": "servers?:ice ttl relay?:relay",
    "rooms": "game? whole? rooms?:listing gone?",
    "searching": "rating range waiting",
    "result": "round verdict",
    "top": "game? mode? entries?:entry",
    "mine": "game? mode? best?:entry rating? matches?:match",
    "ok": "",
    "error": "code text retry_ms? game?",
    "drain": "reconnect_ms",
    "bye": "code text reconnect?",
}
PARTS = {
    "score": "peer slot score place?",
    "ice": "urls username? credential?",
    "relay": "socket udp? fingerprint?",
    "room": "id code game? mode? build? seats private? locked? drop_in? host_starts? matched? status round"
    " seed epoch born starts_at? host settings? version members?:member",
    "member": "peer player name slot? also? palette ready? away? resting?",
    "listing": "id code mode? build? status players seats watchers open? host",
    "entry": "player name score level? verdict at",
    "match": "room round score place players verdict at",
    "rating": "peer before after",
}
EVENTS = {
    "joined": "member:member",
    "left": "peer reason",
    "away": "peer left?",
    "returned": "peer",
    "host": "peer",
    "ready": "peer ready?",
    "rest": "peer resting?",
    "profile": "peer name palette",
    "settings": "settings?",
    "access": "locked? private? seats matched?",
    "vote": "peer by votes needed",
    "status": "status round seed born starts_at?",
    "epoch": "epoch",
    "result": "round verdict ratings?:rating",
}
WORDS = {
    "status": "waiting starting playing finished",
    "reason": "left kicked lost silent closed",
    "verdict": "pending disputed claimed agreed refereed",
}
HEX = {"player": 32, "peer": 32, "from": 32, "to": 32, "by": 32, "seed": 16, "digest": 16}
LABELS = ("game", "mode", "build")


SIDES = {"client": CLIENT, "server": SERVER}


def decode(name, data):
    if name == "ticket":
        return ticket(data[:32], data[32:])
    return messages(SIDES[name], text(data).splitlines()) if name in SIDES else None


def messages(kinds, lines):
    """How many examples there are of each type and event."""
    count = {}
    for line in lines:
        for name in message(kinds, line):
            count[name] = count.get(name, 0) + 1
    if not set(kinds) <= set(count):
        raise Malformed("types without example: " + " ".join(set(kinds) - set(count)))
    return count


def message(kinds, line):
    """The type of one message, and its events."""
    at_most(len(line.encode()), 65_536)
    found = json.loads(line, object_pairs_hook=pairs)
    kind = found.pop("type")
    number = found.pop("id", 0)
    if not isinstance(number, int):
        raise Malformed("id")
    fields(kinds[kind], found)
    return [kind] + [event["event"] for event in found.get("events", [])]


def pairs(found):
    if len(found) > 32 or len({name for name, _ in found}) < len(found):
        raise Malformed("fields")
    return dict(found)


def fields(declared, message):
    known = {}
    for word in declared.split():
        name, _, part = word.partition(":")
        known[name.rstrip("?=")] = (name[len(name.rstrip("?=")) :], part)
    missing = [name for name, (optional, _) in known.items() if not optional and name not in message]
    unknown = [name for name in message if name not in known]
    if missing or unknown:
        raise Malformed(f"missing {missing}, unknown {unknown}")
    for name, value in message.items():
        optional, part = known[name]
        if optional == "?" and (value is False or value == "" or value == []):
            raise Malformed(f"{name} means the same omitted")
        for one in value if part and isinstance(value, list) else [value]:
            if part == "event":
                event = dict(one)
                fields(EVENTS[event.pop("event")], event)
            elif part:
                fields(PARTS[part], one)
            else:
                check(name, one)


def check(name, value):
    if name in HEX and (len(value) != HEX[name] or not set(value) <= set("0123456789abcdef")):
        raise Malformed(name)
    if name in WORDS and value not in WORDS[name].split():
        raise Malformed(name)
    if name in LABELS and not (len(value) <= 32 and set(value) <= set(LABEL_LETTERS)):
        raise Malformed(name)
    if name == "slot" and not 0 <= value < 64:
        raise Malformed(name)
    if name == "name" and not 1 <= len(value) <= 24:
        raise Malformed(name)


def ticket(key, data):
    at_most(len(data), 269)
    body, signature = data[:-64], data[-64:]
    r = Reader(body)
    if r.u8() != 1:
        raise Malformed("version")
    names = ("room", "player", "peer")
    found = {name: r.take(16).hex() for name in names}
    slot = r.u8()
    found["slot"] = None if slot == 255 else at_most(slot, 63)
    found.update(epoch=r.u32(), round=r.u32(), seed=r.u64(), born=r.u64(), made=r.u64(), until=r.u64())
    found["code"] = text(r.take(6))
    if not set(found["code"]) <= set(CODE_LETTERS):
        raise Malformed("code")
    players, flags = r.u8(), r.u8()
    found.update(players=players & 127, host_starts=bool(players & 128), local_players=(flags >> 5) + 1)
    for bit, name in enumerate(("private", "locked", "drop_in", "playing", "host")):
        found[name] = bool(flags >> bit & 1)
    found["settings"] = r.take(8).hex()
    for name in ("game", "mode", "build"):
        found[name] = text(r.take(at_most(r.u8(), 32)))
        if not set(found[name]) <= set(LABEL_LETTERS):
            raise Malformed("label")
    r.finish()
    if not ed25519.verify(key, b"gaggle ticket 1\0" + body, signature):
        raise Malformed("signature")
    return found
