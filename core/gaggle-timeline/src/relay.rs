//! Unreliable packets beside those of the running game: requests for missing entries, and entries
//! of third peers. Layout and bounds.
//!
//! Gossip uses it. Absent: which entries are requested or given.

use gaggle_kit::{ByteReader, DecodeError, Frame};

use crate::membership::{EntryRange, codec};
use crate::packet::{TAG_MAX, TAG_OTHER};
use crate::roster::StreamId;

const NEED: u8 = 1;
const GIVE: u8 = 2;

/// Most streams requested in one packet.
pub(crate) const NEEDS_MAX: usize = 8;

/// "Not linked to it" in [`Backfill::heard_age`].
pub(crate) const HEARD_NEVER: u8 = 255;
/// Milliseconds in one unit of [`Backfill::heard_age`].
pub(crate) const HEARD_UNIT_MS: u64 = 16;

/// Entries of a third peer, and when it was last heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backfill {
    /// Status of the sender, as in packets of the running game.
    pub(crate) tag: u8,
    /// Time since the sender heard the owner of the stream.
    pub(crate) heard_age: u8,
    /// Last frame the owner said it had confirmed.
    pub(crate) confirmed: Frame,
    pub(crate) tail: EntryRange,
}

/// A packet of another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Other {
    /// Requests these streams from these frames on.
    BackfillRequest(Vec<(StreamId, Frame)>),
    Backfill(Backfill),
}

impl Other {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Other::BackfillRequest(needs) => {
                out.extend_from_slice(&[TAG_OTHER, NEED, needs.len() as u8]);
                for (stream, from) in needs {
                    codec::put_stream(out, *stream);
                    codec::put_frame(out, *from);
                }
            }
            Other::Backfill(give) => {
                out.extend_from_slice(&[TAG_OTHER, GIVE, give.tag, give.heard_age]);
                codec::put_frame(out, give.confirmed);
                give.tail.encode(out);
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Other, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let other = match r.array::<2>("packet kind")? {
            [TAG_OTHER, NEED] => {
                let count = r.u8("streams")?;
                if usize::from(count) > NEEDS_MAX {
                    let (count, max) = (count.into(), NEEDS_MAX as u64);
                    return Err(DecodeError::CountTooLarge { what: "streams", count, max });
                }
                let need = |_| Ok((codec::stream(&mut r)?, codec::frame(&mut r, "frame")?));
                Other::BackfillRequest((0..count).map(need).collect::<Result<_, DecodeError>>()?)
            }
            [TAG_OTHER, GIVE] => {
                let (tag, heard_age) = (r.u8("tag")?, r.u8("how long ago")?);
                if tag > TAG_MAX {
                    return Err(DecodeError::Unknown { what: "tag", value: tag.into() });
                }
                let confirmed = codec::frame(&mut r, "confirmed frame")?;
                Other::Backfill(Backfill { tag, heard_age, confirmed, tail: EntryRange::decode(&mut r)? })
            }
            [_, kind] => return Err(DecodeError::Unknown { what: "packet kind", value: kind.into() }),
        };
        r.finish("packet")?;
        Ok(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::EntryControl;
    use crate::packet::tests::hex;
    use crate::roster::Incarnation;
    use gaggle_kit::PeerId;

    fn samples() -> [Other; 2] {
        let stream = StreamId { peer: PeerId::from_u128(3), incarnation: Incarnation(0xc1c2_c3c4) };
        let mut tail = EntryRange::from(stream, Frame::new(0x0140));
        for value in [5, 5, 6] {
            tail.push(&[value], EntryControl::NONE);
        }
        let give = Backfill { tag: 4, heard_age: 2, confirmed: Frame::new(0x013e), tail };
        [Other::BackfillRequest(vec![(stream, Frame::new(0x0140))]), Other::Backfill(give)]
    }

    #[test]
    fn packets_match_vectors_and_truncations_fail() {
        let vectors = [include_str!("../vectors/need.hex"), include_str!("../vectors/give.hex")];
        for (packet, vector) in samples().iter().zip(vectors) {
            let mut bytes = Vec::new();
            packet.encode(&mut bytes);
            assert_eq!(bytes, hex(vector), "{packet:x?}");
            assert_eq!(Other::decode(&bytes).as_ref(), Ok(packet));
            for length in 0..bytes.len() {
                assert!(Other::decode(&bytes[..length]).is_err(), "{length} bytes");
            }
        }
    }
}
