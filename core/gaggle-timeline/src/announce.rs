//! Messages of the reliable channel about peers: announcements, and findings of an audit.
//!
//! `PeerTable` and `DesyncAudit` send them. Absent: what follows from them.

use gaggle_kit::{ByteReader, DecodeError, Frame, PeerId, SlotSet};

use crate::membership::codec;
use crate::roster::Incarnation;

/// Version of everything the timeline puts on the wire.
pub const PROTOCOL_VERSION: u16 = 1;

const KIND_ANNOUNCE: u8 = 1;
const KIND_FINDINGS: u8 = 2;
const KIND_RECOVERED: u8 = 3;

/// Announcement of a peer: its identity and the settings it plays with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announce {
    pub(crate) version: u16,
    pub(crate) game_fingerprint: u64,
    pub(crate) settings_fingerprint: u64,
    /// Fingerprint of the fields of its state and its inputs; 0 if the peer does not know.
    pub(crate) shape: u64,
    pub(crate) incarnation: Incarnation,
    pub(crate) slots: SlotSet,
    /// Hash of the peers it starts a match with; 0 if it starts none.
    pub(crate) cohort: u64,
}

/// Findings of a peer that resimulated a range of frames after a desync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The resimulated range begins after this frame.
    pub(crate) from: Frame,
    /// Frame whose checksums differed.
    pub(crate) to: Frame,
    /// Checksum of the peer's live game there.
    pub(crate) live_hash: u32,
    /// Checksum of every resimulated state after `from` up to `to`. Empty if the peer could not
    /// resimulate.
    pub(crate) hashes: Vec<u32>,
    /// Hash of every peer's inputs in the range.
    pub(crate) streams: Vec<(PeerId, u32)>,
}

/// A message of the reliable channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    Announce(Announce),
    Findings(Findings),
    /// The sender took another peer's state: the checksums it sent up to this frame are void.
    Recovered {
        through: Frame,
    },
}

/// Longest range of frames an audit resimulates.
pub(crate) const FINDINGS_FRAMES_MAX: u32 = 2_400;

impl Message {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Announce(announce) => {
                out.push(KIND_ANNOUNCE);
                out.extend_from_slice(&announce.version.to_le_bytes());
                out.extend_from_slice(&announce.game_fingerprint.to_le_bytes());
                out.extend_from_slice(&announce.settings_fingerprint.to_le_bytes());
                out.extend_from_slice(&announce.shape.to_le_bytes());
                out.extend_from_slice(&announce.incarnation.0.to_le_bytes());
                out.extend_from_slice(&announce.slots.bits().to_le_bytes());
                out.extend_from_slice(&announce.cohort.to_le_bytes());
            }
            Message::Recovered { through } => {
                out.push(KIND_RECOVERED);
                out.extend_from_slice(&through.number().to_le_bytes());
            }
            Message::Findings(findings) => {
                out.push(KIND_FINDINGS);
                out.extend_from_slice(&findings.from.number().to_le_bytes());
                out.extend_from_slice(&findings.to.number().to_le_bytes());
                out.extend_from_slice(&findings.live_hash.to_le_bytes());
                out.extend_from_slice(&(findings.hashes.len() as u16).to_le_bytes());
                for hash in &findings.hashes {
                    out.extend_from_slice(&hash.to_le_bytes());
                }
                out.push(findings.streams.len() as u8);
                for (peer, hash) in &findings.streams {
                    out.extend_from_slice(peer.as_bytes());
                    out.extend_from_slice(&hash.to_le_bytes());
                }
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message kind")? {
            KIND_ANNOUNCE => {
                let version = r.u16("protocol version")?;
                if version != PROTOCOL_VERSION {
                    // The rest is not read: its format belongs to another version.
                    r.rest();
                    let unknown = Incarnation::default();
                    return Ok(Message::Announce(Announce {
                        version,
                        game_fingerprint: 0,
                        settings_fingerprint: 0,
                        shape: 0,
                        incarnation: unknown,
                        slots: SlotSet::EMPTY,
                        cohort: 0,
                    }));
                }
                Message::Announce(Announce {
                    version,
                    game_fingerprint: r.u64("game fingerprint")?,
                    settings_fingerprint: r.u64("settings fingerprint")?,
                    shape: r.u64("shape of the state")?,
                    incarnation: Incarnation(r.u32("incarnation")?),
                    slots: SlotSet::from_bits(r.u64("slots")?),
                    cohort: r.u64("company")?,
                })
            }
            KIND_FINDINGS => Message::Findings(Findings::decode(&mut r)?),
            KIND_RECOVERED => Message::Recovered { through: codec::frame(&mut r, "frame")? },
            kind => return Err(DecodeError::Unknown { what: "message kind", value: kind.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

impl Findings {
    fn decode(r: &mut ByteReader<'_>) -> Result<Findings, DecodeError> {
        let from = codec::frame(r, "first frame")?;
        let to = codec::frame(r, "last frame")?;
        let live_hash = r.u32("live hash")?;
        let count = r.u16("hashes")?;
        let length = u64::from(to.since(from));
        if length == 0 || length > FINDINGS_FRAMES_MAX.into() {
            let max = FINDINGS_FRAMES_MAX.into();
            return Err(DecodeError::CountTooLarge { what: "frames", count: length, max });
        }
        if count != 0 && u64::from(count) != length {
            return Err(DecodeError::CountTooLarge { what: "hashes", count: count.into(), max: length });
        }
        let hashes = (0..count).map(|_| r.u32("state hash")).collect::<Result<_, _>>()?;
        let streams = r.u8("streams")?;
        if streams > 64 {
            return Err(DecodeError::CountTooLarge { what: "streams", count: streams.into(), max: 64 });
        }
        let streams = (0..streams)
            .map(|_| Ok((PeerId::from_bytes(r.array("peer")?), r.u32("stream hash")?)))
            .collect::<Result<_, DecodeError>>()?;
        Ok(Findings { from, to, live_hash, hashes, streams })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::slot_fields;
    use gaggle_testkit::protocol_reader::{fields_of, list};

    fn samples() -> [Message; 3] {
        [
            Message::Announce(Announce {
                version: PROTOCOL_VERSION,
                game_fingerprint: 0x0102_0304_0506_0708,
                settings_fingerprint: 0x1112_1314_1516_1718,
                shape: 0x3132_3334_3536_3738,
                incarnation: Incarnation(0xa1a2_a3a4),
                slots: SlotSet::first(2),
                cohort: 0x2122_2324_2526_2728,
            }),
            Message::Findings(Findings {
                from: Frame::new(60),
                to: Frame::new(62),
                live_hash: 7,
                hashes: vec![8, 9],
                streams: vec![(PeerId::from_u128(5), 10)],
            }),
            Message::Recovered { through: Frame::new(0x0140) },
        ]
    }

    #[test]
    fn messages_match_vectors() {
        let vectors = [
            include_str!("../vectors/announce.hex"),
            include_str!("../vectors/findings.hex"),
            include_str!("../vectors/recovered.hex"),
        ];
        for (message, vector) in samples().iter().zip(vectors) {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(bytes, crate::packet::tests::hex(vector), "{message:x?}");
        }
    }

    /// Fields of a message in the words of tools/protocol-reader.
    fn fields(message: &Message) -> String {
        match message {
            Message::Announce(announce) => format!(
                r#"["Announce",{},{},{},{},{},{},{}]"#,
                announce.version,
                announce.game_fingerprint,
                announce.settings_fingerprint,
                announce.shape,
                announce.incarnation.0,
                slot_fields(announce.slots),
                announce.cohort
            ),
            Message::Findings(Findings { from, to, live_hash, hashes, streams }) => {
                let stream = |(peer, hash): &(PeerId, u32)| format!(r#"["{peer}",{hash}]"#);
                let (from, to) = (from.number(), to.number());
                let (hashes, streams) = (list(hashes), list(streams.iter().map(stream)));
                format!(r#"["Findings",{from},{to},{live_hash},{hashes},{streams}]"#)
            }
            Message::Recovered { through } => format!(r#"["Recovered",{}]"#, through.number()),
        }
    }

    #[test]
    fn messages_have_fields_found_by_reader() {
        let vectors = [
            ("announce", include_str!("../vectors/announce.hex")),
            ("findings", include_str!("../vectors/findings.hex")),
            ("recovered", include_str!("../vectors/recovered.hex")),
        ];
        for (name, vector) in vectors {
            let message = Message::decode(&crate::packet::tests::hex(vector)).expect("a whole message");
            assert_eq!(fields(&message), fields_of(&format!("core/gaggle-timeline/vectors/{name}.hex")));
        }
    }

    #[test]
    fn messages_round_trip_and_truncations_fail() {
        for message in samples() {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(Message::decode(&bytes), Ok(message));
            for length in 0..bytes.len() {
                assert!(Message::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
            }
            bytes.push(0);
            assert!(Message::decode(&bytes).is_err(), "something follows");
        }
    }

    #[test]
    fn other_version_is_recognized_whatever_follows() {
        let decoded = Message::decode(&[KIND_ANNOUNCE, 9, 0, 1, 2, 3]).expect("only the version is read");
        let Message::Announce(announce) = decoded else { panic!("an announcement was sent") };
        assert_eq!(announce.version, 9);
    }

    #[test]
    fn absurd_stretch_is_rejected_before_allocation() {
        let mut bytes = vec![KIND_FINDINGS, 0, 0, 0, 0];
        bytes.extend_from_slice(&codec::FRAME_MAX.number().to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&u16::MAX.to_le_bytes());
        assert!(matches!(Message::decode(&bytes), Err(DecodeError::CountTooLarge { what: "frames", .. })));
    }
}
