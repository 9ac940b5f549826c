//! Packet of the running game: layout and bounds.
//!
//! `wire` writes and reads it; docs/protocol/3-timeline.md specifies the bytes. Absent: session,
//! time, input type.

use gaggle_kit::{ByteReader, DecodeError, Frame};

use crate::membership::{Ballot, EntryControl, codec};
use crate::runs::{CHANGES_FOLLOW, FLAG_DENSE, Runs};

/// Largest tag: statuses are numbered from 0 to this on each link.
pub(crate) const TAG_MAX: u8 = 61;
/// Tag of a sender in no match: only the clocks of its packets are used.
pub(crate) const TAG_NONE: u8 = 62;
/// Tag of packets of other kinds: see `relay.rs`.
pub(crate) const TAG_OTHER: u8 = 63;

const TAG_MASK: u8 = 0b0011_1111;
const TAG_MISSING: u8 = 0b0100_0000;
const TAG_EXTRAS: u8 = 0b1000_0000;

const FLAG_TIME: u8 = 0b0001_0000;
const FLAG_CHECK: u8 = 0b0010_0000;
const FLAG_FENCED: u8 = 0b0100_0000;
const FLAG_OBSERVER: u8 = 0b1000_0000;

/// Value of the acknowledgement's byte that says its low 16 bits follow.
const ACK_FOLLOWS: u8 = 255;
const ACK_BIAS: i64 = 128;

/// "No echo yet" in [`TimeBlock::hold_ms`].
pub(crate) const HOLD_NONE: u8 = 255;
/// "Not measured yet" in [`TimeBlock::ahead_quarters`].
pub(crate) const AHEAD_NONE: i8 = -128;

/// Clocks of sender and receiver, and the sender's time measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBlock {
    /// Clock of the sender in ms, wrapping.
    pub(crate) clock_ms: u16,
    /// Last clock the sender received from the receiver.
    pub(crate) echo_ms: u16,
    /// How long it held that echo, or [`HOLD_NONE`].
    pub(crate) hold_ms: u8,
    /// Frames the sender seems ahead of the receiver, in quarters, or [`AHEAD_NONE`].
    pub(crate) ahead_quarters: i8,
    /// Input delay of the sender in frames.
    pub(crate) delay_frames: u8,
}

/// Checksums of a confirmed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckBlock {
    /// Frames between it and the newest entry.
    pub(crate) age_frames: u8,
    /// Hash of the state.
    pub(crate) state_hash: u32,
    /// Hash of all inputs up to it.
    pub(crate) inputs_hash: u32,
}

/// Controls of some of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EntryControls<'a> {
    /// Bytes written by [`EntryControls::write`]; empty if no entry has controls.
    bytes: &'a [u8],
}

/// Most entries of one packet that may have controls.
pub(crate) const CONTROLS_MAX: usize = 4;

impl<'a> EntryControls<'a> {
    /// Writes controls, each with the number of frames its entry is before the newest. At most
    /// [`CONTROLS_MAX`], newest last.
    pub(crate) fn write(controls: &[(u8, EntryControl)], out: &'a mut Vec<u8>) -> EntryControls<'a> {
        out.clear();
        if !controls.is_empty() {
            out.push(controls.len() as u8);
        }
        for (age_frames, extras) in controls {
            out.push(*age_frames);
            codec::put_extras(out, *extras);
        }
        EntryControls { bytes: out }
    }

    /// Controls that [`write`](Sayings::write) encoded; none if the bytes are empty.
    pub(crate) fn written(bytes: &'a [u8]) -> EntryControls<'a> {
        EntryControls { bytes }
    }

    fn decode(r: &mut ByteReader<'a>, carried: u8) -> Result<EntryControls<'a>, DecodeError> {
        let all = r.clone().rest();
        let count = r.u8("entries that say anything")?;
        if count == 0 || usize::from(count) > CONTROLS_MAX {
            let (count, max) = (count.into(), CONTROLS_MAX as u64);
            return Err(DecodeError::CountTooLarge { what: "entries that say anything", count, max });
        }
        let mut before = carried;
        for _ in 0..count {
            let age = r.u8("entry that says something")?;
            if age >= before {
                return Err(DecodeError::NotCanonical { what: "entry that says something" });
            }
            before = age;
            codec::extras(r)?;
        }
        Ok(EntryControls { bytes: &all[..all.len() - r.remaining()] })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Each with the number of frames its entry is before the newest one, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, EntryControl)> + use<'a> {
        let mut r = ByteReader::new(self.bytes);
        let count = r.u8("count").unwrap_or(0);
        (0..count).map_while(move |_| Some((r.u8("age").ok()?, codec::extras(&mut r).ok()?)))
    }
}

/// A whole packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    /// Tag of the sender's status on this link, or [`TAG_NONE`].
    pub(crate) tag: u8,
    /// Whether the sender misses packets of the receiver.
    pub(crate) missing: bool,
    /// Low 16 bits of the sender's newest entry in this packet.
    pub(crate) newest_low: u16,
    /// Low 16 bits of the receiver's newest contiguous entry the sender holds.
    pub(crate) ack_low: u16,
    /// Frames between the newest entry and the last frame the sender confirmed; saturates.
    pub(crate) confirmed_age: u8,
    pub(crate) time: Option<TimeBlock>,
    pub(crate) check: Option<CheckBlock>,
    /// Whether the sender is not in the roster.
    pub(crate) observer: bool,
    /// Ballot the sender promised, while that promise is open.
    pub(crate) promised: Option<Ballot>,
    pub(crate) entry_controls: EntryControls<'a>,
    pub(crate) runs: Runs<'a>,
}

/// Frame nearest to `near` with these low 16 bits, signed because it may lie before the start.
pub(crate) fn complete(low: u16, near: Frame) -> i64 {
    let difference = low.wrapping_sub(near.number() as u16) as i16;
    i64::from(near.number()) + i64::from(difference)
}

impl<'a> Packet<'a> {
    /// Appends the encoded packet.
    // Always inline: for a packet known to have no blocks, nothing of their code remains.
    #[inline(always)]
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let runs = &self.runs;
        let counted = !runs.dense && runs.changes >= CHANGES_FOLLOW;
        let changes = if runs.dense { 0 } else { runs.changes.min(CHANGES_FOLLOW) };
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let ack_distance = i64::from(self.ack_low.wrapping_sub(self.newest_low) as i16) + ACK_BIAS;
        let ack_near = (0..i64::from(ACK_FOLLOWS)).contains(&ack_distance);

        let [newest0, newest1] = self.newest_low.to_le_bytes();
        out.extend_from_slice(&[
            self.tag | flag(self.missing, TAG_MISSING) | flag(!self.entry_controls.is_empty(), TAG_EXTRAS),
            changes
                | flag(runs.dense, FLAG_DENSE)
                | flag(self.time.is_some(), FLAG_TIME)
                | flag(self.check.is_some(), FLAG_CHECK)
                | flag(self.promised.is_some(), FLAG_FENCED)
                | flag(self.observer, FLAG_OBSERVER),
            newest0,
            newest1,
            runs.carried,
            if ack_near { ack_distance as u8 } else { ACK_FOLLOWS },
            self.confirmed_age,
        ]);
        if !ack_near {
            out.extend_from_slice(&self.ack_low.to_le_bytes());
        }
        if let Some(time) = self.time {
            let [clock0, clock1] = time.clock_ms.to_le_bytes();
            let [echo0, echo1] = time.echo_ms.to_le_bytes();
            let ahead = time.ahead_quarters as u8;
            out.extend_from_slice(&[clock0, clock1, echo0, echo1, time.hold_ms, ahead, time.delay_frames]);
        }
        if let Some(check) = self.check {
            out.push(check.age_frames);
            out.extend_from_slice(&check.state_hash.to_le_bytes());
            out.extend_from_slice(&check.inputs_hash.to_le_bytes());
        }
        if let Some(promised) = self.promised {
            codec::put_ballot(out, promised);
        }
        out.extend_from_slice(self.entry_controls.bytes);
        if counted {
            out.push(runs.changes);
        }
        out.extend_from_slice(runs.bytes);
    }

    /// Decodes a packet of a peer whose entries have `entry_bytes` each.
    #[inline]
    pub(crate) fn decode(bytes: &'a [u8], entry_bytes: usize) -> Result<Packet<'a>, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let [tag, flags, newest0, newest1, carried, ack, confirmed_age] = r.array::<7>("packet header")?;
        if tag & TAG_MASK > TAG_NONE {
            return Err(DecodeError::Unknown { what: "packet tag", value: tag.into() });
        }
        let newest_low = u16::from_le_bytes([newest0, newest1]);
        let ack_low = if ack == ACK_FOLLOWS {
            r.u16("acknowledgement")?
        } else {
            newest_low.wrapping_add_signed((i64::from(ack) - ACK_BIAS) as i16)
        };
        if ack == ACK_FOLLOWS {
            let distance = i64::from(ack_low.wrapping_sub(newest_low) as i16) + ACK_BIAS;
            if (0..i64::from(ACK_FOLLOWS)).contains(&distance) {
                return Err(DecodeError::NotCanonical { what: "acknowledgement" });
            }
        }
        let time = if flags & FLAG_TIME != 0 {
            Some(TimeBlock {
                clock_ms: r.u16("clock")?,
                echo_ms: r.u16("echoed clock")?,
                hold_ms: r.u8("hold time")?,
                ahead_quarters: r.i8("frames ahead")?,
                delay_frames: r.u8("input delay")?,
            })
        } else {
            None
        };
        let check = if flags & FLAG_CHECK != 0 {
            Some(CheckBlock {
                age_frames: r.u8("check age")?,
                state_hash: r.u32("state hash")?,
                inputs_hash: r.u32("inputs hash")?,
            })
        } else {
            None
        };
        let promised = if flags & FLAG_FENCED != 0 { Some(codec::ballot(&mut r)?) } else { None };
        let controls = if tag & TAG_EXTRAS != 0 {
            EntryControls::decode(&mut r, carried)?
        } else {
            EntryControls::default()
        };
        let runs = Runs::decode(&mut r, flags, carried, entry_bytes)?;
        r.finish("packet")?;
        Ok(Packet {
            tag: tag & TAG_MASK,
            missing: tag & TAG_MISSING != 0,
            newest_low,
            ack_low,
            confirmed_age,
            time,
            check,
            observer: flags & FLAG_OBSERVER != 0,
            promised,
            entry_controls: controls,
            runs,
        })
    }

    /// Tag of a packet, read before the rest is decoded.
    pub(crate) fn tag_of(bytes: &[u8]) -> Option<u8> {
        bytes.first().map(|tag| tag & TAG_MASK)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::membership::held::Join;
    use crate::roster::{Incarnation, StreamId};
    use crate::runs::RunsWriter;
    use gaggle_kit::{PeerId, Prng, Slot, SlotSet};
    use gaggle_testkit::protocol_reader::{fields_of, hex_text, list, or_null};

    /// Bytes of a packet without entries and blocks.
    const HEADER_BYTES: usize = 7;

    /// Bytes of a vector file: hexadecimal digits, comments after `#`.
    pub(crate) fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text
            .lines()
            .flat_map(|line| line.split('#').next().unwrap_or_default().chars())
            .filter_map(|c| c.to_digit(16))
            .collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    /// A stream in the words of tools/protocol-reader.
    pub(crate) fn stream_fields(stream: StreamId) -> String {
        list([format!(r#""{}""#, stream.peer), stream.incarnation.0.to_string()])
    }

    pub(crate) fn slot_fields(slots: SlotSet) -> String {
        list(slots.iter().map(Slot::index))
    }

    /// Fields of a packet with entries of one byte.
    fn fields(packet: &Packet<'_>) -> String {
        let mut fields = format!(
            r#""tag":{},"missing":{},"in_no_roster":{},"confirmed":{},"newest":{},"carried":{},"ack":{}"#,
            packet.tag,
            packet.missing,
            packet.observer,
            packet.confirmed_age,
            packet.newest_low,
            packet.runs.carried,
            packet.ack_low
        );
        if let Some(TimeBlock { clock_ms, echo_ms, hold_ms, ahead_quarters, delay_frames }) = packet.time {
            let time =
                [clock_ms.into(), echo_ms.into(), hold_ms.into(), ahead_quarters.into(), delay_frames.into()];
            fields += &format!(r#","time":{}"#, list::<i32>(time));
        }
        if let Some(CheckBlock { age_frames, state_hash, inputs_hash }) = packet.check {
            fields += &format!(r#","check":{}"#, list([age_frames.into(), state_hash, inputs_hash]));
        }
        if let Some(Ballot { number, by }) = packet.promised {
            fields += &format!(r#","promise":{}"#, list([number.to_string(), stream_fields(by)]));
        }
        if !packet.entry_controls.is_empty() {
            let join = |join: Join| list([stream_fields(join.stream), slot_fields(join.slots)]);
            let control = |(age, control): (u8, EntryControl)| {
                format!(r#"[{age},{{"end":{},"join":{}}}]"#, control.end, or_null(control.join.map(join)))
            };
            fields += &format!(r#","controls":{}"#, list(packet.entry_controls.iter().map(control)));
        }
        let entries = packet.runs.entries(1).map(|entry| or_null(entry.map(hex_text)));
        format!(r#"{{{fields},"entries":{}}}"#, list(entries))
    }

    #[test]
    fn packets_have_fields_found_by_reader() {
        let vectors = [
            ("idle", include_str!("../vectors/idle.hex")),
            ("everything", include_str!("../vectors/everything.hex")),
            ("dense", include_str!("../vectors/dense.hex")),
            ("sayings", include_str!("../vectors/sayings.hex")),
        ];
        for (name, vector) in vectors {
            let bytes = hex(vector);
            let packet = Packet::decode(&bytes, 1).expect("a whole packet");
            assert_eq!(fields(&packet), fields_of(&format!("core/gaggle-timeline/vectors/{name}.hex")));
        }
    }

    fn encoded(packet: &Packet<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        bytes
    }

    /// An idle packet, one with every block, one in dense form, and one of a leader with a promise
    /// that admits a joiner; entries of one byte.
    fn samples<'a>(writer: &'a mut [RunsWriter; 3], said: &'a mut Vec<u8>) -> [Packet<'a>; 4] {
        let [idle, sparse, dense] = writer;
        idle.clear();
        (0..9).for_each(|_| idle.repeat());
        sparse.clear();
        sparse.repeat();
        sparse.repeat();
        sparse.change(1, |out| out[0] = 0x21);
        (0..5).for_each(|_| sparse.repeat());
        dense.clear();
        for value in [0x31, 0x32, 0x33] {
            dense.change(1, |out| out[0] = value);
        }
        let plain = Packet {
            tag: 0,
            missing: false,
            newest_low: 0x0140,
            ack_low: 0x013c,
            confirmed_age: 6,
            time: None,
            check: None,
            observer: false,
            promised: None,
            entry_controls: EntryControls::default(),
            runs: idle.finish(1),
        };
        let stream = |peer, incarnation| StreamId {
            peer: PeerId::from_u128(peer),
            incarnation: Incarnation(incarnation),
        };
        let join = Join { stream: stream(9, 0xc1c2_c3c4), slots: SlotSet::from_bits(0b100) };
        let controls =
            [(3, EntryControl { join: Some(join), end: false }), (0, EntryControl { join: None, end: true })];
        let time =
            TimeBlock { clock_ms: 0x1234, echo_ms: 0x1200, hold_ms: 9, ahead_quarters: -2, delay_frames: 3 };
        let check = CheckBlock { age_frames: 20, state_hash: 0xa1a2_a3a4, inputs_hash: 0xb1b2_b3b4 };
        [
            plain,
            Packet { missing: true, time: Some(time), check: Some(check), runs: sparse.finish(1), ..plain },
            Packet { ack_low: 0xfff0, runs: dense.finish(1), ..plain },
            Packet {
                observer: true,
                promised: Some(Ballot { number: 7, by: stream(2, 0xd1d2_d3d4) }),
                entry_controls: EntryControls::write(&controls, said),
                ..plain
            },
        ]
    }

    #[test]
    fn packets_match_vectors_and_round_trip() {
        let vectors = [
            include_str!("../vectors/idle.hex"),
            include_str!("../vectors/everything.hex"),
            include_str!("../vectors/dense.hex"),
            include_str!("../vectors/sayings.hex"),
        ];
        let (mut writers, mut said) = Default::default();
        for (packet, vector) in samples(&mut writers, &mut said).iter().zip(vectors) {
            assert_eq!(encoded(packet), hex(vector), "{packet:x?}");
            assert_eq!(Packet::decode(&hex(vector), 1), Ok(*packet));
        }
    }

    /// Indexes of the header's bytes in which a packet differs from another.
    fn places_changed(packet: &Packet<'_>, other: &Packet<'_>) -> BTreeSet<usize> {
        let (bytes, others) = (encoded(packet), encoded(other));
        (0..HEADER_BYTES).filter(|place| bytes[*place] != others[*place]).collect()
    }

    #[test]
    fn unchanged_packet_spends_two_of_seven_bytes_on_membership() {
        let (mut writers, mut said) = Default::default();
        let [idle, everything, ..] = samples(&mut writers, &mut said);
        assert_eq!(encoded(&idle).len(), HEADER_BYTES);

        let for_membership = Packet { tag: TAG_MAX, confirmed_age: 255, ..idle };
        assert_eq!(places_changed(&idle, &for_membership), BTreeSet::from([0, 6]));

        // Two peers that never lose packets use only bytes that the other packets cover.
        let newest = Packet { newest_low: !idle.newest_low, ack_low: !idle.newest_low - 4, ..idle };
        let for_play = [
            newest,
            Packet { ack_low: idle.ack_low + 1, ..idle },
            Packet { runs: Runs { carried: 8, ..idle.runs }, ..idle },
            Packet { time: everything.time, check: everything.check, ..idle },
        ];
        let places: BTreeSet<usize> =
            for_play.iter().flat_map(|packet| places_changed(&idle, packet)).collect();
        assert_eq!(places, BTreeSet::from([1, 2, 3, 4, 5]));
    }

    #[test]
    fn entries_round_trip_in_order_in_either_form() {
        let (mut writers, mut said) = Default::default();
        let [idle, sparse, dense, controls] = samples(&mut writers, &mut said);
        let ages: Vec<u8> = controls.entry_controls.iter().map(|(age, _)| age).collect();
        assert_eq!(ages, [3, 0]);
        let told = |packet: &Packet<'_>| packet.runs.entries(1).map(|e| e.map(|b| b[0])).collect::<Vec<_>>();
        assert_eq!(told(&idle), [None; 9]);
        assert_eq!(told(&sparse), [None, None, Some(0x21), None, None, None, None, None]);
        assert_eq!(told(&dense), [Some(0x31), Some(0x32), Some(0x33)]);
    }

    #[test]
    fn truncated_or_extended_packets_fail() {
        let (mut writers, mut said) = Default::default();
        for packet in samples(&mut writers, &mut said) {
            let mut bytes = encoded(&packet);
            for length in 0..bytes.len() {
                assert!(Packet::decode(&bytes[..length], 1).is_err(), "{length} bytes of {packet:x?}");
            }
            bytes.push(0);
            assert!(Packet::decode(&bytes, 1).is_err(), "one byte more than {packet:x?}");
        }
    }

    #[test]
    fn decodable_bytes_have_one_encoding() {
        let mut rng = Prng::new(1);
        let (mut writers, mut said) = Default::default();
        let samples = samples(&mut writers, &mut said);
        let mut readable = 0;
        for round in 0..200_000 {
            let mut bytes = encoded(&samples[round % samples.len()]);
            for _ in 0..rng.below(3) + 1 {
                let at = rng.below(bytes.len() as u32) as usize;
                bytes[at] ^= 1 << rng.below(8);
            }
            let entry_bytes = rng.below(4) as usize;
            if let Ok(packet) = Packet::decode(&bytes, entry_bytes) {
                readable += 1;
                assert_eq!(packet.runs.entries(entry_bytes).count(), usize::from(packet.runs.carried));
                assert_eq!(encoded(&packet), bytes, "one packet has one encoding");
            }
        }
        assert!(readable > 10_000, "only {readable} were readable");
    }

    #[test]
    fn frame_bits_complete_to_nearest_frame() {
        let near = Frame::new(70_000);
        assert_eq!(complete(70_003u32 as u16, near), 70_003);
        assert_eq!(complete(69_000u32 as u16, near), 69_000);
        assert_eq!(complete(65_535, Frame::new(2)), -1, "before the start");
    }
}
