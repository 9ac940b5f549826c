//! Lanes: sealed frames of a group of slots, encoded as changes in bits.
//!
//! Merged packets, journal records and answers to a new referee consist of these blocks. A slot's
//! frame equals the one before unless the block has a change, so a block is useful only to a log
//! that holds the frame before it. Absent: links, acknowledgements, time.

use gaggle_kit::{BitReader, BitWriter, BufferFull, DecodeError, Frame, PeerId};
use thiserror::Error;

use crate::ablation::{Ablation, Rule};
use crate::log::{Log, LogError};
use crate::rice;
use crate::roster::{OutReason, RosterChange, StreamId};
use crate::rows::Set;
use crate::shape::{PACKET_BYTES_MAX, Shape, VALUE_BYTES_MAX, ones, word_mask};

/// Most frames of one block.
pub(crate) const BLOCK_FRAMES_MAX: u32 = 4_096;

/// Rooms up to this size try a small buffer first.
const SMALL_SLOTS: usize = 16;
const SMALL_BYTES: usize = 128;

const MISSED: u64 = 0;
const MADE: u64 = 1;
const PASSIVE: u64 = 2;
const ROSTER: u64 = 3;

/// Why a block is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LaneError {
    /// No sealer writes these bytes.
    #[error("lane: {0}")]
    Malformed(#[from] DecodeError),
    /// The bytes contradict earlier frames.
    #[error("lane: {0}")]
    Contradiction(#[from] LogError),
}

/// Result of reading a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The block begins after a frame that is not held, and nothing was taken.
    pub(crate) is_gap: bool,
    /// Number of new frames.
    pub(crate) frames: u32,
}

/// Appends the frames after `from` up to `to` of a lane to `out`, as far as they fit in `room`
/// bytes. Frame numbers are relative to `anchor`, which the packet's header has. Returns the last
/// frame written; if not even one fits, returns `from` and appends nothing.
pub(crate) fn write(
    log: &Log,
    lane: usize,
    from: Frame,
    to: Frame,
    anchor: Frame,
    room: usize,
    out: &mut Vec<u8>,
) -> Frame {
    let mut to = to.min(from + BLOCK_FRAMES_MAX);
    // Most blocks of small rooms are short, and a small buffer is cleared faster.
    if to > from && log.shape().slots() <= SMALL_SLOTS {
        let mut buffer = [0; SMALL_BYTES];
        let room = room.min(SMALL_BYTES);
        let mut w = BitWriter::new(&mut buffer[..room]);
        if write_block(log, lane, from, to, anchor, &mut w).is_ok() {
            out.extend_from_slice(w.finish());
            return to;
        }
    }
    let mut buffer = [0; PACKET_BYTES_MAX];
    let room = room.min(buffer.len());
    while to > from {
        let mut w = BitWriter::new(&mut buffer[..room]);
        match write_block(log, lane, from, to, anchor, &mut w) {
            Ok(()) => {
                out.extend_from_slice(w.finish());
                return to;
            }
            // Frame at which the buffer was full: all frames before it fit.
            Err(full) => to = full.min(to).previous(),
        }
    }
    from
}

fn write_block(
    log: &Log,
    lane: usize,
    from: Frame,
    to: Frame,
    anchor: Frame,
    w: &mut BitWriter<'_>,
) -> Result<(), Frame> {
    let shape = log.shape();
    let slots = shape.lane(lane);
    let mut changes = 0;
    for frame in from.number() + 1..=to.number() {
        for word in slots.start / 64..slots.end.div_ceil(64) {
            let bits = log.rows().value_changes(Frame::new(frame), word) & word_mask(&slots, word);
            changes += bits.count_ones() as usize;
        }
    }
    let parameter = rice::parameter(slots.len() * to.since(from) as usize, changes);
    let head = |w: &mut BitWriter<'_>| {
        if shape.lanes() > 1 {
            w.bits(lane as u64, 8)?;
        }
        w.varint(anchor.since(from).into())?;
        w.bool(to == anchor)?;
        if to != anchor {
            w.varint(to.since(from).into())?;
        }
        w.bits(parameter.into(), rice::PARAMETER_BITS)
    };
    head(w).map_err(|_| from.next())?;
    for frame in from.number() + 1..=to.number() {
        let frame = Frame::new(frame);
        write_frame(log, frame, lane, parameter, w).map_err(|_| frame)?;
    }
    Ok(())
}

fn write_frame(
    log: &Log,
    frame: Frame,
    lane: usize,
    parameter: u32,
    w: &mut BitWriter<'_>,
) -> Result<(), BufferFull> {
    let slots = log.shape().lane(lane);
    let rows = log.rows();
    let words = || slots.start / 64..slots.end.div_ceil(64);
    let (mut kinds, mut values) = (0, 0);
    for word in words() {
        let mask = word_mask(&slots, word);
        kinds += (rows.kind_changes(frame, word) & mask).count_ones() as usize;
        values += (rows.value_changes(frame, word) & mask).count_ones() as usize;
    }
    w.bool(kinds + values > 0)?;
    if kinds + values == 0 {
        return Ok(());
    }
    w.bool(kinds > 0)?;
    let end = slots.len() as u32;
    if kinds > 0 {
        let parameter = rice::parameter(slots.len(), kinds);
        w.bits(parameter.into(), rice::PARAMETER_BITS)?;
        let (mut at, mut last) = (0, None);
        for word in words() {
            for bit in ones(rows.kind_changes(frame, word) & word_mask(&slots, word)) {
                let slot = word * 64 + bit;
                let index = (slot - slots.start) as u32;
                rice::write(w, index - at, end - at, parameter)?;
                write_kind(log, frame, slot, &mut last, w)?;
                at = index + 1;
            }
        }
        if at < end {
            rice::write(w, end - at, end - at, parameter)?;
        }
        w.bool(values > 0)?;
        if values == 0 {
            return Ok(());
        }
    }
    let mut at = 0;
    for word in words() {
        for bit in ones(rows.value_changes(frame, word) & word_mask(&slots, word)) {
            let slot = word * 64 + bit;
            let index = (slot - slots.start) as u32;
            rice::write(w, index - at, end - at, parameter)?;
            write_value(w, rows.value(frame, slot))?;
            at = index + 1;
        }
    }
    if at < end {
        rice::write(w, end - at, end - at, parameter)?;
    }
    Ok(())
}

fn write_kind(
    log: &Log,
    frame: Frame,
    slot: usize,
    last: &mut Option<StreamId>,
    w: &mut BitWriter<'_>,
) -> Result<(), BufferFull> {
    let rows = log.rows();
    if rows.has(frame, Set::Joined, slot) {
        let joined = log.roster().changes(frame, slot).find_map(|change| match change {
            RosterChange::Joined(stream) => Some(stream),
            RosterChange::Left(..) => None,
        });
        let Some(stream) = joined else {
            debug_assert!(false, "a join without a change of the roster");
            return Ok(());
        };
        w.bits(ROSTER, 2)?;
        w.bool(true)?;
        w.bool(*last == Some(stream))?;
        if *last != Some(stream) {
            w.bytes(stream.peer.as_bytes())?;
            w.bits(stream.incarnation.into(), 32)?;
        }
        *last = Some(stream);
        return Ok(());
    }
    if !rows.has(frame, Set::Present, slot) {
        let left = log.roster().changes(frame, slot).find_map(|change| match change {
            RosterChange::Left(_, why) => Some(why),
            RosterChange::Joined(_) => None,
        });
        w.bits(ROSTER, 2)?;
        w.bool(false)?;
        return w.bits(left.unwrap_or(OutReason::Removed).code(), 2);
    }
    if rows.has(frame, Set::Made, slot) {
        w.bits(MADE, 2)?;
        w.bool(rows.has(frame, Set::Repeated, slot))?;
        return write_value(w, rows.value(frame, slot));
    }
    w.bits(if rows.has(frame, Set::Passive, slot) { PASSIVE } else { MISSED }, 2)
}

#[inline]
pub(crate) fn write_value(w: &mut BitWriter<'_>, value: &[u8]) -> Result<(), BufferFull> {
    if let [byte] = value { w.bits(u64::from(*byte), 8) } else { w.bytes(value) }
}

/// Reads one block and takes its frames into the log.
///
/// # Errors
/// If the bytes are no block, or contradict the log. Frames before the wrong one were taken.
pub(crate) fn read(
    r: &mut BitReader<'_>,
    anchor: Frame,
    log: &mut Log,
    ablation: Ablation,
) -> Result<Taken, LaneError> {
    let shape = log.shape();
    let lane = if shape.lanes() > 1 { r.ranged("lane", &(0..=255))? as usize } else { 0 };
    if lane >= shape.lanes() {
        return Err(DecodeError::out_of_range("lane", lane as u64, 0, shape.lanes() as u64 - 1).into());
    }
    let age = varint(r, "frames told", anchor.number())?;
    let from = anchor - age;
    let is_whole = r.bool("whole lane")?;
    let count = if is_whole { age } else { varint(r, "frames of a lane", age)? };
    if count > BLOCK_FRAMES_MAX {
        let (count, max) = (count.into(), BLOCK_FRAMES_MAX.into());
        return Err(DecodeError::CountTooLarge { what: "frames of a lane", count, max }.into());
    }
    let parameter = r.bits("parameter", rice::PARAMETER_BITS)? as u32;
    if parameter > rice::PARAMETER_MAX {
        return Err(DecodeError::out_of_range("parameter", parameter, 0, rice::PARAMETER_MAX).into());
    }
    if !ablation.holds(Rule::GapsAreNotTaken) {
        while log.sealed_lane(lane) < from {
            log.begin_lane(lane);
            log.finish_lane(lane);
        }
    }
    let held = log.sealed_lane(lane);
    let mut is_gap = from > held;
    let mut frames = 0;
    for index in 1..=count {
        // A lane that is far ahead of other lanes waits for them.
        is_gap |= from + index > held && !log.has_room(from + index);
        if is_gap || from + index <= held {
            read_frame(r, shape, lane, parameter, None)?;
            continue;
        }
        let frame = log.begin_lane(lane);
        if let Err(error) = read_frame(r, shape, lane, parameter, Some((log, frame))) {
            log.abandon_lane(lane);
            return Err(error);
        }
        log.finish_lane(lane);
        frames += 1;
    }
    r.align("lane")?;
    Ok(Taken { is_gap, frames })
}

fn varint(r: &mut BitReader<'_>, what: &'static str, max: u32) -> Result<u32, DecodeError> {
    let number = r.varint(what)?;
    match u32::try_from(number) {
        Ok(fits) if fits <= max => Ok(fits),
        _ => Err(DecodeError::out_of_range(what, number, 0u64, u64::from(max))),
    }
}

fn read_frame(
    r: &mut BitReader<'_>,
    shape: Shape,
    lane: usize,
    parameter: u32,
    mut into: Option<(&mut Log, Frame)>,
) -> Result<(), LaneError> {
    let slots = shape.lane(lane);
    let end = slots.len() as u32;
    if !r.bool("frame")? {
        return Ok(());
    }
    if r.bool("kinds")? {
        let parameter = (r.bits("parameter", rice::PARAMETER_BITS)? as u32).min(rice::PARAMETER_MAX);
        let (mut at, mut last) = (0, None);
        while at < end {
            let gap = rice::read(r, "slot", end - at, parameter)?;
            if at + gap == end {
                break;
            }
            read_kind(r, shape, slots.start + (at + gap) as usize, &mut last, &mut into)?;
            at += gap + 1;
        }
        if !r.bool("values")? {
            return Ok(());
        }
    }
    let mut at = 0;
    while at < end {
        let gap = rice::read(r, "slot", end - at, parameter)?;
        if at + gap == end {
            break;
        }
        let slot = slots.start + (at + gap) as usize;
        match &mut into {
            Some((log, frame)) => {
                log.apply_value(*frame, slot)?;
                read_value(r, log.rows_mut().value_mut(*frame, slot))?;
            }
            None => skip_value(r, shape)?,
        }
        at += gap + 1;
    }
    Ok(())
}

fn read_kind(
    r: &mut BitReader<'_>,
    shape: Shape,
    slot: usize,
    last: &mut Option<StreamId>,
    into: &mut Option<(&mut Log, Frame)>,
) -> Result<(), LaneError> {
    match r.bits("kind", 2)? {
        MISSED => {
            if let Some((log, frame)) = into {
                log.apply_missed(*frame, slot)?;
            }
        }
        PASSIVE => {
            if let Some((log, frame)) = into {
                log.apply_passive(*frame, slot)?;
            }
        }
        MADE => {
            let repeated = r.bool("repetition")?;
            match into {
                Some((log, frame)) => {
                    log.apply_made(*frame, slot, repeated)?;
                    read_value(r, log.rows_mut().value_mut(*frame, slot))?;
                }
                None => skip_value(r, shape)?,
            }
        }
        _ if r.bool("join")? => {
            let is_same = r.bool("stream as before")?;
            let stream = match last {
                Some(stream) if is_same => *stream,
                _ if is_same => return Err(DecodeError::NotCanonical { what: "stream as before" }.into()),
                _ => {
                    let mut peer = [0; 16];
                    r.bytes("peer", &mut peer)?;
                    let incarnation = r.bits("incarnation", 32)? as u32;
                    StreamId { peer: PeerId::from_bytes(peer), incarnation }
                }
            };
            *last = Some(stream);
            if let Some((log, frame)) = into {
                log.apply_join(*frame, slot, stream);
            }
        }
        _ => {
            let why = OutReason::from_code(r.bits("reason", 2)?);
            if let Some((log, frame)) = into {
                log.apply_leave(*frame, slot, why)?;
            }
        }
    }
    Ok(())
}

#[inline]
pub(crate) fn read_value(r: &mut BitReader<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
    if let [byte] = out {
        *byte = r.bits("value", 8)? as u8;
        return Ok(());
    }
    r.bytes("value", out)
}

fn skip_value(r: &mut BitReader<'_>, shape: Shape) -> Result<(), DecodeError> {
    let mut value = [0; VALUE_BYTES_MAX];
    read_value(r, &mut value[..shape.value_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{Prng, Slot};

    /// A log of random frames, in which rows begin and end, and entries are made, missed and
    /// passive.
    pub(crate) fn random_log(shape: Shape, frames: u32, random: &mut Prng) -> Log {
        let mut log = Log::new(shape, 400, 8);
        let change = 1 + random.below(100);
        for number in 1..=frames {
            let frame = Frame::new(number);
            log.rows_mut().clear(frame);
            let mut present: Vec<u64> =
                (0..shape.words()).map(|word| log.rows().word(log.sealed(), Set::Present, word)).collect();
            let mut joins = 0;
            for slot in 0..shape.slots() {
                let is_present = present[slot / 64] >> (slot % 64) & 1 == 1;
                let stream = StreamId { peer: PeerId::from_u128(slot as u128), incarnation: number };
                if is_present && random.chance(1, 60) {
                    present[slot / 64] &= !(1 << (slot % 64));
                    log.seal_leave(slot, OutReason::from_code(u64::from(random.below(4))));
                } else if joins < 8 && random.chance(1, if is_present { 200 } else { 4 }) {
                    joins += 1;
                    if is_present {
                        log.seal_leave(slot, OutReason::Replaced);
                    }
                    present[slot / 64] |= 1 << (slot % 64);
                    log.seal_join(slot, stream);
                } else if random.chance(19, 20) {
                    let made = log.rows().has(log.sealed(), Set::Made, slot);
                    let repeats = made && random.below(100) >= change;
                    if repeats {
                        log.rows_mut().keep_value(frame, slot);
                    } else {
                        random.fill(log.rows_mut().value_mut(frame, slot));
                    }
                    log.rows_mut().put(frame, Set::Made, slot, true);
                    log.rows_mut().put(frame, Set::Repeated, slot, repeats || !made && random.chance(1, 2));
                } else {
                    log.rows_mut().put(frame, Set::Passive, slot, random.chance(1, 3));
                }
            }
            log.seal(&present);
        }
        log
    }

    fn expect_equal(a: &Log, b: &Log) {
        assert_eq!((a.sealed(), a.hash(a.sealed())), (b.sealed(), b.hash(b.sealed())));
        for number in 1..=a.sealed().number() {
            for slot in (0..a.shape().slots()).map(Slot::at) {
                let frame = Frame::new(number);
                assert_eq!(a.cell(frame, slot), b.cell(frame, slot), "{frame} {slot}");
                assert_eq!(a.row(frame, slot), b.row(frame, slot), "{frame} {slot}");
            }
        }
    }

    #[test]
    fn random_logs_round_trip_in_packets_of_any_size() {
        for seed in 0..150 {
            let mut random = Prng::new(seed);
            let (slots, value_bytes) = (1 + random.below(200) as usize, 1 + random.below(20) as usize);
            let shape = Shape::new(slots, value_bytes).unwrap();
            let log = random_log(shape, 1 + random.below(40), &mut random);
            let mut copy = Log::new(shape, 400, 64);
            while copy.sealed() < log.sealed() {
                for lane in 0..shape.lanes() {
                    let from = copy.sealed_lane(lane).saturating_sub(random.below(3));
                    let to = (from + 1 + random.below(20)).min(log.sealed());
                    let mut bytes = Vec::new();
                    let reached =
                        write(&log, lane, from, to, log.sealed(), PACKET_BYTES_MAX - 16, &mut bytes);
                    assert!(reached > from || from == to, "one frame of one lane fits");
                    let mut r = BitReader::new(&bytes);
                    while r.remaining() > 0 {
                        read(&mut r, log.sealed(), &mut copy, Ablation::default()).unwrap();
                    }
                }
            }
            expect_equal(&log, &copy);
        }
    }

    #[test]
    fn worst_frame_of_every_shape_fits_one_packet() {
        for (slots, value_bytes) in
            [(1_024, 1), (1_000, 1), (606, 1), (1_024, 8), (256, 3), (1_024, 64), (14, 64)]
        {
            let shape = Shape::new(slots, value_bytes).unwrap();
            let mut random = Prng::new(7);
            let mut log = random_log(shape, 3, &mut random);
            // All rows turn from missed to made, eight join, and none is a repetition.
            for (number, made) in [(4, false), (5, true)] {
                let frame = Frame::new(number);
                log.rows_mut().clear(frame);
                let mut present = vec![0u64; shape.words()];
                (0..slots).for_each(|slot| present[slot / 64] |= 1 << (slot % 64));
                let mut joins = 0;
                for slot in 0..slots {
                    if log.roster().row(slot).is_none() && (number == 4 || joins < 8) {
                        joins += 1;
                        let stream = StreamId { peer: PeerId::from_u128(slot as u128), incarnation: number };
                        log.seal_join(slot, stream);
                    }
                    random.fill(log.rows_mut().value_mut(frame, slot));
                    log.rows_mut().put(frame, Set::Made, slot, made);
                }
                log.seal(&present);
            }
            for lane in 0..shape.lanes() {
                let mut bytes = Vec::new();
                let (from, to) = (Frame::new(4), Frame::new(5));
                let room = PACKET_BYTES_MAX - 16;
                assert_eq!(write(&log, lane, from, to, to, room, &mut bytes), to, "{slots} {value_bytes}");
            }
        }
    }

    #[test]
    fn damaged_blocks_leave_whole_frames_only() {
        let mut random = Prng::new(3);
        let shape = Shape::new(9, 2).unwrap();
        let log = random_log(shape, 12, &mut random);
        let mut bytes = Vec::new();
        write(&log, 0, Frame::START, log.sealed(), log.sealed(), 1_180, &mut bytes);
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            let mut copy = Log::new(shape, 400, 64);
            let _ = read(&mut BitReader::new(&damaged), log.sealed(), &mut copy, Ablation::default());
            let held = copy.sealed();
            // Later blocks build on whole frames, even after a row was undone.
            copy.truncate(Frame::START);
            let taken = read(&mut BitReader::new(&bytes), log.sealed(), &mut copy, Ablation::default());
            assert!(taken.is_ok(), "bit {at}: {held} then {taken:?}");
            expect_equal(&log, &copy);
        }
    }
}
