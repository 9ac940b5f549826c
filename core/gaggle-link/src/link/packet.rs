//! Encoding of a link's packets, as in docs/protocol/1-link.md.
//!
//! Called by `link.rs` and `session.rs`. Absent: state, time.

use std::ops::Range;

use gaggle_kit::{BufferFull, ByteReader, ByteWriter, DecodeError};

use crate::{CloseCode, DATAGRAM_BYTES_MAX};

/// Version of all encodings in this file.
pub(crate) const VERSION: u8 = 1;

/// Ranges per acknowledgement. Each packet is in many acknowledgements, so this suffices.
pub(crate) const ACK_RANGES_MAX: usize = 32;

/// The oldest packet that an acknowledgement or a floor may name, counted back from its base.
const BACK_MAX: u64 = 0x7fff;

/// Longest stream in bytes.
const OFFSET_MAX: u64 = 1 << 56;

pub(crate) const UNRELIABLE_HEADER_BYTES: usize = 3;

/// Stream number, offset and length in front of a piece, at most.
pub(crate) const PIECE_HEADER_BYTES_MAX: usize = 1 + 8 + 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    Hello(Hello),
    Unreliable { tag: u8, number: u16, message: &'a [u8] },
    Streams(Head, Streams<'a>),
    Ack(Head, Ack),
    Ping(Head, Ping),
    Bye(Head, CloseCode),
}

/// Distinguishes the packets of this link from those of earlier links between the two peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) tag: u8,
    pub(crate) check: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) label: Label,
    pub(crate) number: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Nonce of the sender. Never 0.
    pub(crate) nonce: u32,
    /// Nonce of the receiver known to the sender; 0 if unknown.
    pub(crate) echo: u32,
    /// Bytes of incomplete messages the sender buffers.
    pub(crate) grant: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ping {
    /// Loss of the receiver's packets as seen by the sender, in 1/255.
    pub(crate) loss: u8,
    /// Clock of the sender; its presence requests an answer.
    pub(crate) clock: Option<u32>,
    /// Answer to an earlier ping.
    pub(crate) echo: Option<Echo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Echo {
    /// Clock of the answered ping.
    pub(crate) clock: u32,
    /// Delay of the answer in µs, saturating.
    pub(crate) hold: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ack {
    /// How long the newest packet was held, in units of 8 µs, saturating.
    pub(crate) hold: u16,
    /// Number of the newest packet.
    pub(crate) newest: u16,
    /// Counted back from the newest: 0 is the newest itself, ends excluded; ascending and separate.
    ranges: [(u16, u16); ACK_RANGES_MAX],
    count: usize,
}

/// Numbers of packets that arrived, newest range first, none touching another.
#[derive(Debug, Clone, Default)]
pub(crate) struct AckRanges {
    ranges: [(u64, u64); ACK_RANGES_MAX],
    count: usize,
}

impl AckRanges {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn push(&mut self, range: Range<u64>) {
        self.ranges[self.count] = (range.start, range.end);
        self.count += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges[..self.count].iter().map(|&(start, end)| start..end)
    }
}

impl Ack {
    /// None if there is nothing to acknowledge.
    pub(crate) fn new(ranges: &AckRanges, hold: u16) -> Option<Ack> {
        let newest = ranges.iter().next()?.end - 1;
        let mut ack = Ack { hold, newest: newest as u16, ranges: [(0, 0); ACK_RANGES_MAX], count: 0 };
        for range in ranges.iter().take_while(|range| newest - range.start < BACK_MAX) {
            ack.ranges[ack.count] = ((newest + 1 - range.end) as u16, (newest + 1 - range.start) as u16);
            ack.count += 1;
        }
        Some(ack)
    }

    /// Acknowledged numbers, given the full number of the newest; newest range first.
    pub(crate) fn ranges(&self, newest: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges[..self.count].iter().map(move |&(from, to)| {
            (newest + 1).saturating_sub(u64::from(to))..(newest + 1).saturating_sub(u64::from(from))
        })
    }

    fn write(&self, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
        w.u16(self.newest)?;
        w.varint(u64::from(self.hold))?;
        w.varint(self.count as u64 - 1)?;
        let mut at = 0;
        for (index, &(from, to)) in self.ranges[..self.count].iter().enumerate() {
            if index > 0 {
                w.varint(u64::from(from - at) - 1)?;
            }
            w.varint(u64::from(to - from) - 1)?;
            at = to;
        }
        Ok(())
    }

    fn read(r: &mut ByteReader<'_>) -> Result<Ack, DecodeError> {
        let newest = r.u16("ack newest")?;
        let hold = r.varint_max("ack hold", u64::from(u16::MAX))? as u16;
        let count = r.count("ack ranges", ACK_RANGES_MAX - 1)? + 1;
        let mut ack = Ack { hold, newest, ranges: [(0, 0); ACK_RANGES_MAX], count };
        let mut at = 0;
        for (index, range) in ack.ranges[..count].iter_mut().enumerate() {
            if index > 0 {
                at += r.varint_max("ack gap", BACK_MAX)? + 1;
            }
            let to = at + r.varint_max("ack range", BACK_MAX)? + 1;
            if to > BACK_MAX {
                return Err(DecodeError::CountTooLarge { what: "acked packets", count: to, max: BACK_MAX });
            }
            *range = (at as u16, to as u16);
            at = to;
        }
        Ok(ack)
    }
}

/// Pieces of streams, optionally with an acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Streams<'a> {
    /// Distance to the oldest packet the sender still waits for.
    pub(crate) floor: u16,
    pub(crate) ack: Option<Ack>,
    /// At least one piece, all well-formed.
    pieces: &'a [u8],
}

/// Part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) stream: u8,
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Streams<'a> {
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'a>> + use<'a> {
        let mut r = ByteReader::new(self.pieces);
        std::iter::from_fn(move || if r.is_empty() { None } else { Piece::read(&mut r).ok() })
    }
}

impl<'a> Piece<'a> {
    fn read(r: &mut ByteReader<'a>) -> Result<Piece<'a>, DecodeError> {
        let stream = r.u8("stream")?;
        let offset = r.varint_max("stream offset", OFFSET_MAX)?;
        let bytes = r.counted("stream piece", DATAGRAM_BYTES_MAX)?;
        if bytes.is_empty() {
            return Err(DecodeError::OutOfRange {
                what: "stream piece",
                value: 0,
                min: 1,
                max: DATAGRAM_BYTES_MAX as i64,
            });
        }
        Ok(Piece { stream, offset, bytes })
    }
}

const UNRELIABLE: u8 = 1;
const STREAMS: u8 = 2;
const ACK: u8 = 3;
const PING: u8 = 4;
const BYE: u8 = 5;
const HELLO: u8 = 6;

/// Kind of a packet before it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peek {
    Unreliable,
    Hello,
    Labeled(Label),
}

#[inline]
pub(crate) fn peek(bytes: &[u8]) -> Peek {
    match *bytes {
        [first, ..] if first >> 4 == HELLO => Peek::Hello,
        [first, _, _, low, high, ..] if first >> 4 != UNRELIABLE => {
            Peek::Labeled(Label { tag: first & 0xf, check: u16::from_le_bytes([low, high]) })
        }
        _ => Peek::Unreliable,
    }
}

/// Tag and number of an unreliable message.
#[inline]
pub(crate) fn read_unreliable_header(bytes: &[u8]) -> Option<(u8, u16)> {
    let [first, low, high] = *bytes.first_chunk()?;
    (first >> 4 == UNRELIABLE).then(|| (first & 0xf, u16::from_le_bytes([low, high])))
}

impl<'a> Packet<'a> {
    /// Common header of all kinds but handshakes and unreliable messages.
    pub(crate) fn head(&self) -> Option<Head> {
        match self {
            Packet::Streams(head, _)
            | Packet::Ack(head, _)
            | Packet::Ping(head, _)
            | Packet::Bye(head, _) => Some(*head),
            Packet::Hello(_) | Packet::Unreliable { .. } => None,
        }
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Result<Packet<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let first = r.u8("packet kind")?;
        let (kind, tag) = (first >> 4, first & 0xf);
        if kind == UNRELIABLE {
            let number = r.u16("packet number")?;
            return Ok(Packet::Unreliable { tag, number, message: r.rest() });
        }
        if kind == HELLO {
            return Hello::read(r, tag).map(Packet::Hello);
        }
        let number = r.u16("packet number")?;
        let head = Head { label: Label { tag, check: r.u16("packet check")? }, number };
        let packet = match kind {
            STREAMS => {
                let has_ack = r.bool("ack follows")?;
                let floor = r.varint_max("floor", BACK_MAX)? as u16;
                let ack = if has_ack { Some(Ack::read(&mut r)?) } else { None };
                let pieces = r.rest();
                r = ByteReader::new(pieces);
                Piece::read(&mut r)?;
                while !r.is_empty() {
                    Piece::read(&mut r)?;
                }
                Packet::Streams(head, Streams { floor, ack, pieces })
            }
            ACK => Packet::Ack(head, Ack::read(&mut r)?),
            PING => Packet::Ping(head, Ping::read(&mut r)?),
            BYE => Packet::Bye(head, CloseCode(r.u8("goodbye")?)),
            _ => return Err(DecodeError::Unknown { what: "packet kind", value: u64::from(kind) }),
        };
        r.finish("packet")?;
        Ok(packet)
    }
}

impl Hello {
    fn read(mut r: ByteReader<'_>, version: u8) -> Result<Hello, DecodeError> {
        if version != VERSION {
            return Err(DecodeError::Unknown { what: "link version", value: u64::from(version) });
        }
        let hello = Hello { nonce: r.u32("nonce")?, echo: r.u32("nonce echoed")?, grant: r.u32("grant")? };
        if hello.nonce == 0 {
            return Err(DecodeError::Unknown { what: "nonce", value: 0 });
        }
        r.finish("hello")?;
        Ok(hello)
    }

    pub(crate) fn write(&self, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
        w.u8(HELLO << 4 | VERSION)?;
        w.u32(self.nonce)?;
        w.u32(self.echo)?;
        w.u32(self.grant)
    }
}

impl Ping {
    fn read(r: &mut ByteReader<'_>) -> Result<Ping, DecodeError> {
        let flags = r.u8("ping flags")?;
        if flags > 3 {
            return Err(DecodeError::Unknown { what: "ping flags", value: u64::from(flags) });
        }
        let loss = r.u8("loss")?;
        let clock = if flags & 1 != 0 { Some(r.u32("clock")?) } else { None };
        let echo = if flags & 2 != 0 {
            Some(Echo { clock: r.u32("clock echoed")?, hold: r.u16("echo hold")? })
        } else {
            None
        };
        Ok(Ping { loss, clock, echo })
    }

    pub(crate) fn write(&self, head: Head, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
        write_head(PING, head, w)?;
        w.u8(u8::from(self.clock.is_some()) | u8::from(self.echo.is_some()) << 1)?;
        w.u8(self.loss)?;
        if let Some(clock) = self.clock {
            w.u32(clock)?;
        }
        if let Some(echo) = self.echo {
            w.u32(echo.clock)?;
            w.u16(echo.hold)?;
        }
        Ok(())
    }
}

/// Header of an unreliable message; the message follows.
#[inline]
pub(crate) fn unreliable_header(tag: u8, number: u16) -> [u8; UNRELIABLE_HEADER_BYTES] {
    let [low, high] = number.to_le_bytes();
    [UNRELIABLE << 4 | tag, low, high]
}

pub(crate) fn write_ack(head: Head, ack: &Ack, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
    write_head(ACK, head, w)?;
    ack.write(w)
}

pub(crate) fn write_bye(head: Head, goodbye: CloseCode, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
    write_head(BYE, head, w)?;
    w.u8(goodbye.0)
}

/// Writes what precedes the pieces.
pub(crate) fn write_streams_head(
    head: Head,
    floor: u16,
    ack: Option<&Ack>,
    w: &mut ByteWriter<'_>,
) -> Result<(), BufferFull> {
    write_head(STREAMS, head, w)?;
    w.bool(ack.is_some())?;
    w.varint(u64::from(floor).min(BACK_MAX))?;
    ack.map_or(Ok(()), |ack| ack.write(w))
}

fn write_head(kind: u8, head: Head, w: &mut ByteWriter<'_>) -> Result<(), BufferFull> {
    w.u8(kind << 4 | head.label.tag)?;
    w.u16(head.number)?;
    w.u16(head.label.check)
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Prng;
    use gaggle_testkit::protocol_reader::{fields_of, hex_text, list, or_null};

    use super::*;

    const LABEL: Label = Label { tag: 7, check: 0xbeef };

    fn head(number: u16) -> Head {
        Head { label: LABEL, number }
    }

    fn ack(newest: u16, hold: u16, ranges: &[(u16, u16)]) -> Ack {
        let mut ack = Ack { hold, newest, ranges: [(0, 0); ACK_RANGES_MAX], count: ranges.len() };
        ack.ranges[..ranges.len()].copy_from_slice(ranges);
        ack
    }

    /// Every kind of packet, with its vector file.
    fn vectors() -> [(&'static str, Packet<'static>); 8] {
        const TWO_PIECES: &[u8] = &[0, 5, 3, 2, b'h', b'i', 9, 0x80, 0x89, 0x7a, 2, 0xaa, 0xbb];
        let streams = Streams { floor: 2, ack: None, pieces: TWO_PIECES };
        let with_ack = Streams { floor: 0, ack: Some(ack(0x000f, 250, &[(0, 5)])), pieces: &[1, 0, 1, 0] };
        let answer = Echo { clock: 1_000_000, hold: 300 };
        [
            (
                include_str!("../../vectors/hello.hex"),
                Packet::Hello(Hello { nonce: 0x0102_0304, echo: 0x1112_1314, grant: 4 << 20 }),
            ),
            (
                include_str!("../../vectors/unreliable.hex"),
                Packet::Unreliable { tag: 7, number: 0x1234, message: b"hey" },
            ),
            (include_str!("../../vectors/streams.hex"), Packet::Streams(head(0x1235), streams)),
            (include_str!("../../vectors/streams-with-ack.hex"), Packet::Streams(head(0x1236), with_ack)),
            (
                include_str!("../../vectors/ack.hex"),
                Packet::Ack(head(0x1237), ack(0x0002, 0, &[(0, 2), (3, 7), (136, 137)])),
            ),
            (
                include_str!("../../vectors/ping.hex"),
                Packet::Ping(head(0x1238), Ping { loss: 13, clock: Some(1_000_000), echo: None }),
            ),
            (
                include_str!("../../vectors/pong.hex"),
                Packet::Ping(head(0x1239), Ping { loss: 0, clock: Some(2_000_000), echo: Some(answer) }),
            ),
            (include_str!("../../vectors/bye.hex"), Packet::Bye(head(0x123a), CloseCode::LEAVING)),
        ]
    }

    fn bytes_of(hex: &str) -> Vec<u8> {
        let digits = hex.lines().map(|line| line.split('#').next().unwrap()).flat_map(str::split_whitespace);
        digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    fn encode(packet: &Packet<'_>) -> Vec<u8> {
        let mut buffer = [0; 2_000];
        let mut w = ByteWriter::new(&mut buffer);
        match packet {
            Packet::Hello(hello) => hello.write(&mut w),
            Packet::Unreliable { tag, number, message } => {
                w.bytes(&unreliable_header(*tag, *number)).and_then(|()| w.bytes(message))
            }
            Packet::Streams(head, streams) => {
                write_streams_head(*head, streams.floor, streams.ack.as_ref(), &mut w)
                    .and_then(|()| w.bytes(streams.pieces))
            }
            Packet::Ack(head, ack) => write_ack(*head, ack, &mut w),
            Packet::Ping(head, ping) => ping.write(*head, &mut w),
            Packet::Bye(head, goodbye) => write_bye(*head, *goodbye, &mut w),
        }
        .unwrap();
        w.finish().to_vec()
    }

    /// Checks that a decoded packet encodes to the same bytes.
    fn check(bytes: &[u8]) -> bool {
        match Packet::read(bytes) {
            Ok(packet) => {
                assert_eq!(encode(&packet), bytes, "{packet:?}");
                true
            }
            Err(_) => false,
        }
    }

    #[test]
    fn packets_match_their_vectors() {
        for (hex, packet) in vectors() {
            let bytes = bytes_of(hex);
            assert_eq!(encode(&packet), bytes, "{packet:?}");
            assert_eq!(Packet::read(&bytes), Ok(packet));
        }
    }

    /// Fields of a packet in the words of tools/protocol-reader.
    fn fields(packet: &Packet<'_>) -> String {
        let head = |kind: &str, head: &Head| {
            let Head { label, number } = head;
            format!(r#""tag":{},"number":{number},"check":{},"kind":"{kind}""#, label.tag, label.check)
        };
        let ack = |ack: &Ack| {
            let ranges = ack.ranges[..ack.count].iter().map(|(from, end)| list([*from, end - 1]));
            format!(r#"{{"newest":{},"hold":{},"ranges":{}}}"#, ack.newest, ack.hold, list(ranges))
        };
        let fields = match packet {
            Packet::Hello(Hello { nonce, echo, grant }) => {
                format!(r#""kind":"Hello","nonce":{nonce},"echo":{echo},"grant":{grant}"#)
            }
            Packet::Unreliable { tag, number, message } => {
                let message = hex_text(message);
                format!(r#""kind":"Unreliable","tag":{tag},"number":{number},"message":{message}"#)
            }
            Packet::Streams(named, streams) => {
                let piece = |piece: Piece<'_>| {
                    list([piece.stream.to_string(), piece.offset.to_string(), hex_text(piece.bytes)])
                };
                let (pieces, acked) =
                    (list(streams.pieces().map(piece)), or_null(streams.ack.as_ref().map(ack)));
                let named = head("Streams", named);
                format!(r#"{named},"floor":{},"ack":{acked},"pieces":{pieces}"#, streams.floor)
            }
            Packet::Ack(named, acked) => format!(r#"{},"ack":{}"#, head("Ack", named), ack(acked)),
            Packet::Ping(named, ping) => {
                let echo = |echo: Echo| format!(r#"{{"clock":{},"hold":{}}}"#, echo.clock, echo.hold);
                let (clock, response) = (or_null(ping.clock), or_null(ping.echo.map(echo)));
                let named = head("Ping", named);
                format!(r#"{named},"loss":{},"clock":{clock},"response":{response}"#, ping.loss)
            }
            Packet::Bye(named, code) => format!(r#"{},"code":{}"#, head("Bye", named), code.0),
        };
        format!("{{{fields}}}")
    }

    #[test]
    fn packets_have_fields_found_by_reader() {
        let names = ["hello", "unreliable", "streams", "streams-with-ack", "ack", "ping", "pong", "bye"];
        for (name, (hex, _)) in names.iter().zip(vectors()) {
            let bytes = bytes_of(hex);
            let packet = Packet::read(&bytes).unwrap();
            assert_eq!(fields(&packet), fields_of(&format!("core/gaggle-link/vectors/{name}.hex")));
        }
    }

    #[test]
    fn pieces_read_back_as_written() {
        let (_, packet) = &vectors()[2];
        let Packet::Streams(_, streams) = packet else { panic!("{packet:?}") };
        let pieces: Vec<Piece<'_>> = streams.pieces().collect();
        let first = Piece { stream: 0, offset: 5, bytes: b"\x02hi" };
        assert_eq!(pieces, [first, Piece { stream: 9, offset: 2_000_000, bytes: &[0xaa, 0xbb] }]);
    }

    #[test]
    fn every_truncation_is_refused() {
        for (hex, packet) in vectors() {
            let bytes = bytes_of(hex);
            for cut in 0..bytes.len() {
                // Unreliable messages may have any length: the carrier keeps them whole. Without
                // its second piece a stream packet is a valid other packet.
                let another = matches!(packet, Packet::Unreliable { .. }) && cut >= 3
                    || hex.contains("stream 9") && cut == 13;
                assert_eq!(check(&bytes[..cut]), another, "{cut} bytes of {packet:?}");
            }
            let longer = [&bytes[..], &[0]].concat();
            assert_eq!(
                check(&longer),
                matches!(packet, Packet::Unreliable { .. }),
                "one more byte than {packet:?}"
            );
        }
    }

    #[test]
    fn damaged_packets_are_rejected_or_decode_to_others() {
        let mut readable = 0;
        for (hex, _) in vectors() {
            let bytes = bytes_of(hex);
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                readable += u32::from(check(&flipped));
            }
        }
        let mut random = Prng::new(1);
        for _ in 0..200_000 {
            let mut noise = vec![0; random.below(64) as usize];
            random.fill(&mut noise);
            // Force all kinds, which noise alone would rarely hit.
            if let Some(first) = noise.first_mut() {
                *first = (random.below(8) << 4) as u8 | 1;
            }
            readable += u32::from(check(&noise));
        }
        assert!(readable > 20_000, "only {readable} were decoded: this tests nothing");
    }

    #[test]
    fn ack_names_numbers_it_was_made_of() {
        let mut ranges = AckRanges::default();
        ranges.push(0x1_0001..0x1_0003);
        ranges.push(0xfffc..0x1_0000);
        let ack = Ack::new(&ranges, 3).unwrap();
        assert_eq!(ack.newest, 2);
        assert_eq!(ack.ranges(0x1_0002).collect::<Vec<_>>(), [0x1_0001..0x1_0003, 0xfffc..0x1_0000]);
        assert_eq!(Ack::new(&AckRanges::default(), 0), None);
        // Numbers too far back are left out.
        ranges.push(0x10..0x20);
        assert_eq!(Ack::new(&ranges, 3).unwrap().ranges(0x1_0002).count(), 2);
    }
}
