//! Parsing of SCTP packets (RFC 9260) as far as guarding a channel needs it: streams a packet
//! names, its chunks, and merging a lone acknowledgement into the next data packet.
//!
//! Used by `gate.rs`, `intake.rs` and `acks.rs`; keeps no state. Absent: SCTP associations.

use crc::{CRC_32_ISCSI, Crc, Table};

/// Common header: ports, tag and checksum.
const HEADER_BYTES: usize = 12;
const CHECKSUM_AT: usize = 8;
/// Chunk header: kind, flags and length.
const CHUNK_HEADER_BYTES: usize = 4;
/// An acknowledgement that reports no gaps and no duplicates.
const PLAIN_ACK_BYTES: usize = 16;
/// A packet with such an acknowledgement only.
pub(crate) const LONE_ACK_BYTES: usize = HEADER_BYTES + PLAIN_ACK_BYTES;

const DATA: u8 = 0;
const ACK: u8 = 3;
/// Interleaved data (RFC 8260).
const INTERLEAVED_DATA: u8 = 64;
const RESET: u8 = 130;
const FORWARD: u8 = 192;
const INTERLEAVED_FORWARD: u8 = 194;
/// Header of a data chunk, and its flags: last fragment, first fragment, unordered.
const DATA_HEADER_BYTES: usize = 16;
const LAST: u8 = 0b001;
const FIRST: u8 = 0b010;
const UNORDERED: u8 = 0b100;
/// Offset of an acknowledgement's gap count, and of the gaps.
const GAP_COUNT_AT: usize = 12;
const GAPS_AT: usize = 16;
/// Kinds of reset parameters that list streams, with the offset of the list: own streams, and those
/// of the other side.
const LISTING_RESETS: [(u16, usize); 2] = [(13, 16), (14, 8)];

static CHECKSUM: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// Packet of a lone acknowledgement.
pub(crate) type LoneAck = [u8; LONE_ACK_BYTES];

/// Whether a packet names any stream but number 0. A malformed packet names none, as SCTP keeps
/// nothing for it.
pub(crate) fn mentions_another_stream(packet: &[u8]) -> bool {
    chunks(packet).any(|(kind, chunk)| match kind {
        DATA | INTERLEAVED_DATA => number(chunk, 8).is_some_and(|stream| stream != 0),
        FORWARD => lists_another(chunk.get(8..), 4),
        INTERLEAVED_FORWARD => lists_another(chunk.get(8..), 8),
        RESET => parameters(chunk).any(|parameter| {
            let listing = LISTING_RESETS.iter().find(|(kind, _)| number(parameter, 0) == Some(*kind));
            listing.is_some_and(|(_, from)| lists_another(parameter.get(*from..), 2))
        }),
        _ => false,
    })
}

/// A chunk, as far as it affects what SCTP keeps or does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// An unordered message or a fragment of one, with its number.
    Data { number: u32, ends: Ends },
    /// A protocol violation: an ordered or empty message, or an acknowledgement with overlapping
    /// gaps.
    Broken,
    /// Any other chunk.
    Other,
}

/// Whether a data chunk is the first of its message, and the last; fragments have consecutive
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
}

/// Classifies a chunk.
pub(crate) fn read(kind: u8, chunk: &[u8]) -> Chunk {
    match kind {
        DATA => match chunk.get(4..8).and_then(|number| number.try_into().ok()) {
            Some(number) if chunk.len() > DATA_HEADER_BYTES && chunk[1] & UNORDERED != 0 => Chunk::Data {
                number: u32::from_be_bytes(number),
                ends: Ends { is_first: chunk[1] & FIRST != 0, is_last: chunk[1] & LAST != 0 },
            },
            _ => Chunk::Broken,
        },
        ACK if !names_each_once(chunk) => Chunk::Broken,
        _ => Chunk::Other,
    }
}

/// Whether the gaps of an acknowledgement are in order and disjoint.
fn names_each_once(ack: &[u8]) -> bool {
    let count = number(ack, GAP_COUNT_AT).unwrap_or(0);
    let mut next = 1;
    let gaps = ack.get(GAPS_AT..).unwrap_or_default().chunks_exact(4).take(count.into());
    for (from, to) in gaps.filter_map(|gap| number(gap, 0).zip(number(gap, 2))) {
        if from < next || to < from {
            return false;
        }
        next = to.saturating_add(1);
    }
    true
}

/// Number up to which a packet acknowledges; `None` without an acknowledgement.
pub(crate) fn acknowledged(packet: &[u8]) -> Option<u32> {
    let (_, ack) = chunks(packet).find(|(kind, _)| *kind == ACK)?;
    ack.get(4..8).and_then(|number| number.try_into().ok()).map(u32::from_be_bytes)
}

/// Whether a packet contains data.
pub(crate) fn brings_data(packet: &[u8]) -> bool {
    chunks(packet).any(|(kind, _)| kind == DATA)
}

/// The packet, if it only acknowledges everything received so far.
pub(crate) fn lone_ack(packet: &[u8]) -> Option<LoneAck> {
    let ack: LoneAck = packet.try_into().ok()?;
    let is_plain = ack[HEADER_BYTES] == ACK && ack[LONE_ACK_BYTES - 4..] == [0; 4];
    is_plain.then_some(ack)
}

/// Whether a packet contains an acknowledgement.
pub(crate) fn acknowledges(packet: &[u8]) -> bool {
    chunks(packet).any(|(kind, _)| kind == ACK)
}

/// Writes a packet with the acknowledgement in front of its chunks.
pub(crate) fn join(ack: &LoneAck, packet: &[u8], joined: &mut Vec<u8>) {
    joined.clear();
    joined.extend_from_slice(&packet[..CHECKSUM_AT]);
    joined.extend_from_slice(&[0; 4]);
    joined.extend_from_slice(&ack[HEADER_BYTES..]);
    joined.extend_from_slice(&packet[HEADER_BYTES..]);
    let checksum = CHECKSUM.checksum(joined);
    joined[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// Chunks of a packet with their kinds, as far as they are well-formed.
pub(crate) fn chunks(packet: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    pieces(packet.get(HEADER_BYTES..).unwrap_or_default()).map(|chunk| (chunk[0], chunk))
}

fn parameters(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    pieces(&chunk[CHUNK_HEADER_BYTES..])
}

/// Chunks or parameters: four bytes, of which the last two are the length, then the content, padded
/// to a multiple of four.
fn pieces(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = usize::from(number(rest, 2)?);
        let piece = rest.get(..length).filter(|_| length >= CHUNK_HEADER_BYTES)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(piece)
    })
}

/// Whether any entry of a list names a stream other than 0. Each entry begins with a stream number.
fn lists_another(list: Option<&[u8]>, entry_bytes: usize) -> bool {
    list.unwrap_or_default()
        .chunks(entry_bytes)
        .any(|entry| number(entry, 0).is_some_and(|stream| stream != 0))
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A packet of these chunks: kind, and what follows the length.
    pub(crate) fn packet(chunks: &[(u8, &[u8])]) -> Vec<u8> {
        flagged(UNORDERED | FIRST | LAST, chunks)
    }

    /// A packet of data with these flags.
    pub(crate) fn piece(flags: u8, body: &[u8]) -> Vec<u8> {
        flagged(flags, &[(DATA, body)])
    }

    fn flagged(flags: u8, chunks: &[(u8, &[u8])]) -> Vec<u8> {
        let mut packet = vec![0x13, 0x88, 0x13, 0x88, 1, 2, 3, 4, 0, 0, 0, 0];
        for (kind, body) in chunks {
            packet.extend([*kind, flags]);
            packet.extend((4 + body.len() as u16).to_be_bytes());
            packet.extend(*body);
            packet.resize(packet.len().next_multiple_of(4), 0);
        }
        let checksum = CHECKSUM.checksum(&packet);
        packet[8..12].copy_from_slice(&checksum.to_le_bytes());
        packet
    }

    /// Data of a stream.
    pub(crate) fn data(stream: u16, bytes: &[u8]) -> Vec<u8> {
        [&[0, 0, 0, 9][..], &stream.to_be_bytes(), &[0; 6], bytes].concat()
    }

    /// An acknowledgement up to a number, with or without gaps.
    pub(crate) fn ack(upto: u8, gaps: u8) -> Vec<u8> {
        let mut body = vec![0, 0, 0, upto, 0, 1, 0, 0, 0, gaps, 0, 0];
        (0..gaps).for_each(|gap| body.extend([0, 2 * gap + 2, 0, 2 * gap + 2]));
        body
    }

    fn reset(kind: u16, fixed: usize, streams: &[u16]) -> Vec<u8> {
        let mut body = kind.to_be_bytes().to_vec();
        body.extend((4 + fixed as u16 + 2 * streams.len() as u16).to_be_bytes());
        body.resize(4 + fixed, 7);
        streams.iter().for_each(|stream| body.extend(stream.to_be_bytes()));
        body
    }

    #[test]
    fn packet_naming_another_stream_is_found_in_every_form() {
        let honest: [(u8, Vec<u8>); 10] = [
            (DATA, data(0, b"hello")),
            (INTERLEAVED_DATA, data(0, b"hello")),
            (ACK, ack(200, 2)),
            (FORWARD, vec![0, 0, 0, 5]),
            (FORWARD, vec![0, 0, 0, 5, 0, 0, 0, 9]),
            (RESET, reset(13, 12, &[0])),
            (RESET, reset(13, 12, &[])),
            (RESET, reset(16, 8, &[])),
            (1, vec![0xff; 16]),
            (4, vec![0xff; 40]),
        ];
        for (kind, body) in &honest {
            assert!(!mentions_another_stream(&packet(&[(*kind, body)])), "{kind}: {body:?}");
        }
        let hostile: [(u8, Vec<u8>); 8] = [
            (DATA, data(1, b"hello")),
            (DATA, data(65_535, b"")),
            (INTERLEAVED_DATA, data(256, b"hello")),
            (FORWARD, vec![0, 0, 0, 5, 0, 0, 0, 9, 0, 1, 0, 9]),
            (INTERLEAVED_FORWARD, vec![0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 0, 9]),
            (RESET, reset(13, 12, &[3])),
            (RESET, reset(13, 12, &[0, 3])),
            (RESET, reset(14, 4, &[0, 0, 9])),
        ];
        for (kind, body) in &hostile {
            assert!(mentions_another_stream(&packet(&[(*kind, body)])), "{kind}: {body:?}");
            // Behind a valid chunk, and with a length that omits the padding.
            let behind = packet(&[(DATA, &data(0, b"odd")), (3, &ack(1, 0)), (*kind, body)]);
            assert!(mentions_another_stream(&behind), "{kind}: {body:?}");
        }
    }

    #[test]
    fn truncated_and_damaged_packets_are_read_safely() {
        let whole = packet(&[(DATA, &data(0, b"hello")), (RESET, &reset(13, 12, &[0])), (ACK, &ack(9, 3))]);
        for length in 0..whole.len() {
            assert!(!mentions_another_stream(&whole[..length]), "{length}");
            assert_eq!(lone_ack(&whole[..length]), None, "{length}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _ = (mentions_another_stream(&damaged), brings_data(&damaged), acknowledges(&damaged));
            }
        }
    }

    #[test]
    fn ack_is_joined_to_data() {
        let lone = lone_ack(&packet(&[(ACK, &ack(9, 0))])).unwrap();
        assert_eq!(lone_ack(&packet(&[(ACK, &ack(9, 1))])), None);
        assert_eq!(lone_ack(&packet(&[(FORWARD, &ack(9, 0))])), None);
        let mut joined = vec![1; 5];
        join(&lone, &packet(&[(DATA, &data(0, b"hello")), (DATA, &data(0, b"there"))]), &mut joined);
        let expected = packet(&[(ACK, &ack(9, 0)), (DATA, &data(0, b"hello")), (DATA, &data(0, b"there"))]);
        // The flags of an acknowledgement are preserved.
        assert_eq!(joined, expected);
        assert!(brings_data(&joined) && acknowledges(&joined));
    }
}
