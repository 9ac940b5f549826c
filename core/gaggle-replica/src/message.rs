//! Messages of the reliable stream and their encoding. Every part sends them. Absent: links,
//! effects of a message.

mod hello;

use gaggle_kit::{ByteReader, DecodeError, Slot};

use crate::blob::{Blob, PIECE_BYTES};
use crate::id::slot_of_byte;
use crate::remote_event::{EVENT_BYTES_MAX, EVENT_OBJECTS_MAX};
use crate::value::VALUE_BYTES_MAX;
use crate::{KINDS_MAX, MemberId, MemberTag, ObjectId, Target};

pub(crate) use hello::Hello;

/// Version of everything the replica engine sends.
pub const PROTOCOL_VERSION: u16 = 1;

/// Kinds, remote events, values, an input, and three settings.
const PARTS_MAX: usize = KINDS_MAX + 2 * 255 + 1 + 3;

const KIND_HELLO: u8 = 1;
const KIND_FORGOTTEN: u8 = 2;
const KIND_ASK: u8 = 3;
const KIND_SIGNAL: u8 = 4;
const KIND_PETITION: u8 = 5;
const KIND_VERDICT: u8 = 6;
const KIND_VALUE: u8 = 7;
const KIND_BLOB_ASK: u8 = 8;
const KIND_BLOB_MISSING: u8 = 9;
const KIND_BLOB_PIECE: u8 = 10;

/// Join order of a peer that is no member yet.
pub(crate) const NUMBER_NONE: u32 = u32::MAX;

/// A remote event as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignalMessage<'a> {
    pub(crate) kind: u8,
    pub(crate) to: Target,
    /// Player that sent it first: the leader forwards events of others.
    pub(crate) origin: Slot,
    pub(crate) tag: u32,
    /// Number among a member's requests for approval; 0 if none is needed.
    pub(crate) number: u32,
    /// Low bits of the sender's tick: the receiver shows the objects' states up to it first.
    pub(crate) tick: u16,
    pub(crate) objects: Vec<ObjectId>,
    pub(crate) bytes: &'a [u8],
}

/// A value of a player as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueMessage<'a> {
    pub(crate) player: Slot,
    pub(crate) key: u8,
    pub(crate) rev: u32,
    pub(crate) writer: MemberId,
    pub(crate) bytes: &'a [u8],
}

/// A piece of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) blob: Blob,
    pub(crate) offset: u32,
    pub(crate) bytes: &'a [u8],
}

/// A message of the reliable stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    Hello(Hello),
    /// The object was deleted so long ago that only its id is left.
    Forgotten(ObjectId),
    /// Asks a member whether it left the object in the state another peer reports.
    Ask(ObjectId),
    RemoteEvent(SignalMessage<'a>),
    /// A remote event for the leader to approve.
    EventRequest(SignalMessage<'a>),
    /// Whether the request of this number was approved.
    Verdict {
        number: u32,
        granted: bool,
    },
    Value(ValueMessage<'a>),
    /// Requests the bytes of a blob.
    BlobAsk(Blob),
    /// The sender does not have the blob.
    BlobMissing(Blob),
    BlobPiece(Piece<'a>),
}

impl<'a> Message<'a> {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Hello(hello) => hello.encode(out),
            Message::Forgotten(id) | Message::Ask(id) => {
                let forgotten = matches!(self, Message::Forgotten(_));
                out.push(if forgotten { KIND_FORGOTTEN } else { KIND_ASK });
                out.extend_from_slice(&id.to_bits().to_le_bytes());
            }
            Message::RemoteEvent(signal) => {
                out.push(KIND_SIGNAL);
                signal.encode(out);
            }
            Message::EventRequest(signal) => {
                out.push(KIND_PETITION);
                signal.encode(out);
            }
            Message::Verdict { number, granted } => {
                out.push(KIND_VERDICT);
                out.extend_from_slice(&number.to_le_bytes());
                out.push(u8::from(*granted));
            }
            Message::Value(value) => {
                out.extend_from_slice(&[KIND_VALUE, value.player.byte(), value.key]);
                for number in [value.rev, value.writer.join_order, value.writer.tag.0] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                out.extend_from_slice(value.bytes);
            }
            Message::BlobAsk(blob) => encode_blob(out, KIND_BLOB_ASK, *blob),
            Message::BlobMissing(blob) => encode_blob(out, KIND_BLOB_MISSING, *blob),
            Message::BlobPiece(piece) => {
                encode_blob(out, KIND_BLOB_PIECE, piece.blob);
                out.extend_from_slice(&piece.offset.to_le_bytes());
                out.extend_from_slice(piece.bytes);
            }
        }
    }

    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message kind")? {
            KIND_HELLO => {
                let hello = Hello::decode(&mut r)?;
                if hello.version != PROTOCOL_VERSION {
                    return Ok(Message::Hello(hello));
                }
                Message::Hello(hello)
            }
            KIND_FORGOTTEN => Message::Forgotten(ObjectId::from_bits(r.u64("object")?)),
            KIND_ASK => Message::Ask(ObjectId::from_bits(r.u64("object")?)),
            KIND_SIGNAL => Message::RemoteEvent(SignalMessage::decode(&mut r)?),
            KIND_PETITION => Message::EventRequest(SignalMessage::decode(&mut r)?),
            KIND_VERDICT => Message::Verdict { number: r.u32("request")?, granted: r.bool("approved")? },
            KIND_VALUE => {
                let (player, key) = (read_player(&mut r)?, r.u8("key")?);
                let rev = r.u32("revision")?;
                let writer =
                    MemberId { join_order: r.u32("join order")?, tag: MemberTag(r.u32("member's tag")?) };
                let bytes = limited(&mut r, "value", VALUE_BYTES_MAX)?;
                Message::Value(ValueMessage { player, key, rev, writer, bytes })
            }
            KIND_BLOB_ASK => Message::BlobAsk(read_blob(&mut r)?),
            KIND_BLOB_MISSING => Message::BlobMissing(read_blob(&mut r)?),
            KIND_BLOB_PIECE => {
                let (blob, offset) = (read_blob(&mut r)?, r.u32("offset")?);
                let bytes = limited(&mut r, "piece of a blob", PIECE_BYTES)?;
                Message::BlobPiece(Piece { blob, offset, bytes })
            }
            kind => return Err(DecodeError::Unknown { what: "message kind", value: kind.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

impl<'a> SignalMessage<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let (code, player) = match self.to {
            Target::All => (0, 0),
            Target::Others => (1, 0),
            Target::Leader => (2, 0),
            Target::Slot(player) => (3, player.byte()),
        };
        out.extend_from_slice(&[self.kind, code, player, self.origin.byte()]);
        out.extend_from_slice(&self.tag.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.tick.to_le_bytes());
        out.push(self.objects.len() as u8);
        for id in &self.objects {
            out.extend_from_slice(&id.to_bits().to_le_bytes());
        }
        out.extend_from_slice(self.bytes);
    }

    fn decode(r: &mut ByteReader<'a>) -> Result<SignalMessage<'a>, DecodeError> {
        let kind = r.u8("remote event")?;
        let (code, player) = (r.u8("receivers")?, r.u8("player")?);
        let to = match (code, player) {
            (0, 0) => Target::All,
            (1, 0) => Target::Others,
            (2, 0) => Target::Leader,
            (3, player) if player != u8::MAX => Target::Slot(Slot::at(player.into())),
            _ => return Err(DecodeError::Unknown { what: "receivers", value: code.into() }),
        };
        let origin = read_player(r)?;
        let (tag, number) = (r.u32("member's tag")?, r.u32("request")?);
        let tick = r.u16("tick")?;
        let count = r.u8("objects")?;
        if usize::from(count) > EVENT_OBJECTS_MAX {
            let max = EVENT_OBJECTS_MAX as u64;
            return Err(DecodeError::CountTooLarge { what: "objects", count: count.into(), max });
        }
        let objects =
            (0..count).map(|_| r.u64("object").map(ObjectId::from_bits)).collect::<Result<_, _>>()?;
        let bytes = limited(r, "remote event", EVENT_BYTES_MAX)?;
        Ok(SignalMessage { kind, to, origin, tag, number, tick, objects, bytes })
    }
}

fn encode_blob(out: &mut Vec<u8>, kind: u8, blob: Blob) {
    out.push(kind);
    out.extend_from_slice(&blob.hash.to_le_bytes());
    out.extend_from_slice(&blob.length.to_le_bytes());
}

fn read_blob(r: &mut ByteReader<'_>) -> Result<Blob, DecodeError> {
    Ok(Blob { hash: r.u64("hash of a blob")?, length: r.u32("length of a blob")? })
}

fn read_player(r: &mut ByteReader<'_>) -> Result<Slot, DecodeError> {
    let player = r.u8("player")?;
    slot_of_byte(player).ok_or(DecodeError::Unknown { what: "player", value: player.into() })
}

/// The rest of the message, up to a limit.
fn limited<'a>(r: &mut ByteReader<'a>, what: &'static str, max: usize) -> Result<&'a [u8], DecodeError> {
    if r.remaining() > max {
        return Err(DecodeError::CountTooLarge { what, count: r.remaining() as u64, max: max as u64 });
    }
    Ok(r.rest())
}

#[cfg(test)]
pub(crate) mod tests {
    use gaggle_kit::SlotSet;
    use gaggle_testkit::protocol_reader::{fields_of, hex_text, list};

    use super::*;

    pub(crate) fn samples() -> [Message<'static>; 10] {
        [
            Message::Hello(Hello {
                version: PROTOCOL_VERSION,
                fingerprint: 0x0102_0304_0506_0708,
                epoch: 0xa0,
                echo: 0xb1,
                member: MemberId { join_order: 3, tag: MemberTag(0xc2c2_c2c2) },
                player: Slot::at(2),
                extra_slots: SlotSet::EMPTY,
                highest: 5,
                age_ms: 61_000,
                tick: 1_220,
                blank: false,
                unknown: false,
                spectator: false,
                objects: 400,
                parts: vec![0x0d0c_0b0a, 0x1d1c_1b1a],
            }),
            Message::Forgotten(ObjectId::new(MemberTag(7), 9)),
            Message::Ask(ObjectId::new(MemberTag(8), 10)),
            Message::RemoteEvent(SignalMessage {
                kind: 2,
                to: Target::All,
                origin: Slot::at(3),
                tag: 0x0a0b_0c0d,
                number: 7,
                tick: 0x0102,
                objects: vec![ObjectId::new(MemberTag(1), 2), ObjectId::new(MemberTag(1), 3)],
                bytes: &[1, 2, 3],
            }),
            Message::EventRequest(SignalMessage {
                kind: 0,
                to: Target::Slot(Slot::at(4)),
                origin: Slot::at(3),
                tag: 0x0a0b_0c0d,
                number: 8,
                tick: 9,
                objects: vec![],
                bytes: &[],
            }),
            Message::Verdict { number: 8, granted: true },
            Message::Value(ValueMessage {
                player: Slot::at(1),
                key: 4,
                rev: 9,
                writer: MemberId { join_order: 0, tag: MemberTag(0x1122_3344) },
                bytes: &[5, 6],
            }),
            Message::BlobAsk(Blob { hash: 0x0102_0304_0506_0708, length: 70_000 }),
            Message::BlobMissing(Blob { hash: 0x0102_0304_0506_0708, length: 70_000 }),
            Message::BlobPiece(Piece {
                blob: Blob { hash: 0x0102_0304_0506_0708, length: 70_000 },
                offset: 1_000,
                bytes: &[9, 8, 7],
            }),
        ]
    }

    #[test]
    fn message_reads_back_and_truncated_message_is_error() {
        for message in samples() {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(Message::decode(&bytes).as_ref(), Ok(&message));
            // The rest of a hello, a remote event or a value has any length.
            let payload = match &message {
                Message::Hello(hello) => Some(4 * hello.parts.len()),
                Message::RemoteEvent(signal) | Message::EventRequest(signal) => Some(signal.bytes.len()),
                Message::Value(value) => Some(value.bytes.len()),
                Message::BlobPiece(piece) => Some(piece.bytes.len()),
                _ => None,
            };
            for length in 0..bytes.len() - payload.unwrap_or(0) {
                assert!(Message::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
            }
            bytes.resize(bytes.len() + payload.map_or(1, |_| 4 * PARTS_MAX), 0);
            assert!(Message::decode(&bytes).is_err(), "trailing bytes are an error");
        }
    }

    #[test]
    fn message_of_another_version_is_recognized() {
        match Message::decode(&[KIND_HELLO, 9, 0]) {
            Ok(Message::Hello(hello)) => assert_eq!(hello.version, 9),
            other => panic!("{other:?}"),
        }
    }

    /// Bytes of a vector file: hexadecimal digits, comments after `#`.
    pub(crate) fn bytes_of(vector: &str) -> Vec<u8> {
        let digits = vector.lines().flat_map(|line| line.split('#').next().unwrap_or_default().chars());
        let digits: Vec<u32> = digits.filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    /// Fields of a message beside hellos, in the words of tools/protocol-reader.
    fn fields(message: &Message<'_>) -> String {
        let event = |kind: u8, event: &SignalMessage<'_>| {
            let to = match event.to {
                Target::All => [0, 0],
                Target::Others => [1, 0],
                Target::Leader => [2, 0],
                Target::Slot(slot) => [3, slot.byte()],
            };
            let SignalMessage { kind: event_kind, origin, tag, number, tick, objects, bytes, .. } = event;
            let objects = list(objects.iter().map(|id| id.to_bits()));
            let (to, origin, content) = (list(to), origin.byte(), hex_text(bytes));
            format!("[{kind},{event_kind},{to},{origin},{tag},{number},{tick},{objects},{content}]")
        };
        match message {
            Message::Hello(_) => "see message/hello.rs".to_string(),
            Message::Forgotten(id) => list([2, id.to_bits()]),
            Message::Ask(id) => list([3, id.to_bits()]),
            Message::RemoteEvent(signal) => event(4, signal),
            Message::EventRequest(signal) => event(5, signal),
            Message::Verdict { number, granted } => format!("[6,{number},{granted}]"),
            Message::Value(ValueMessage { player, key, rev, writer, bytes }) => {
                let (writer, content) = (list([writer.join_order, writer.tag.0]), hex_text(bytes));
                format!("[7,{},{key},{rev},{writer},{content}]", player.byte())
            }
            Message::BlobAsk(blob) => list([8, blob.hash, blob.length.into()]),
            Message::BlobMissing(blob) => list([9, blob.hash, blob.length.into()]),
            Message::BlobPiece(Piece { blob, offset, bytes }) => {
                format!("[10,{},{},{offset},{}]", blob.hash, blob.length, hex_text(bytes))
            }
        }
    }

    #[test]
    fn messages_have_fields_found_by_reader() {
        let vectors = [
            ("forgotten", include_str!("../vectors/forgotten.hex")),
            ("ask", include_str!("../vectors/ask.hex")),
            ("signal", include_str!("../vectors/signal.hex")),
            ("petition", include_str!("../vectors/petition.hex")),
            ("verdict", include_str!("../vectors/verdict.hex")),
            ("value", include_str!("../vectors/value.hex")),
            ("blob_ask", include_str!("../vectors/blob_ask.hex")),
            ("blob_missing", include_str!("../vectors/blob_missing.hex")),
            ("blob_piece", include_str!("../vectors/blob_piece.hex")),
        ];
        for (name, vector) in vectors {
            let bytes = bytes_of(vector);
            let message = Message::decode(&bytes).expect("a whole message");
            assert_eq!(fields(&message), fields_of(&format!("core/gaggle-replica/vectors/{name}.hex")));
        }
    }

    pub(crate) fn expect_vector(message: &Message<'_>, vector: &str) {
        let digits: String = vector.lines().filter_map(|line| line.split('#').next()).collect();
        let digits: String = digits.split_whitespace().collect();
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(shown, digits, "{message:?}");
        assert_eq!(Message::decode(&bytes).as_ref(), Ok(message));
    }

    #[test]
    fn messages_match_their_vectors() {
        let vectors = [
            include_str!("../vectors/hello.hex"),
            include_str!("../vectors/forgotten.hex"),
            include_str!("../vectors/ask.hex"),
            include_str!("../vectors/signal.hex"),
            include_str!("../vectors/petition.hex"),
            include_str!("../vectors/verdict.hex"),
            include_str!("../vectors/value.hex"),
            include_str!("../vectors/blob_ask.hex"),
            include_str!("../vectors/blob_missing.hex"),
            include_str!("../vectors/blob_piece.hex"),
        ];
        for (message, vector) in samples().iter().zip(vectors) {
            expect_vector(message, vector);
        }
    }
}
