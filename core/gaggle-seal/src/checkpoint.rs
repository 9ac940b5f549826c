//! Checkpoint: the state of every slot at the end of one frame, from which lanes can continue.
//!
//! Snapshots, journals and answers to a new referee begin with one. Absent: the game's state,
//! terms.

use gaggle_kit::{BitReader, BitWriter, BufferFull, ByteReader, DecodeError, Frame, PeerId, Slot, Varint};
use thiserror::Error;

use crate::ablation::Ablation;
use crate::lanes::{self, LaneError, read_value, write_value};
use crate::log::Log;
use crate::roster::{Row, StreamId};
use crate::rows::Set;
use crate::shape::{PACKET_BYTES_MAX, Shape};

/// Frames of one lane before the other lanes follow: a reader has little room for lanes ahead of
/// others.
const LANE_STRIDE: u32 = 16;
/// Bits of a slot beside its value.
const SLOT_BITS: usize = 256;

/// Reason why bytes are no log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExtractError {
    /// The checkpoint or its frame numbers are malformed.
    #[error("checkpoint: {0}")]
    Malformed(#[from] DecodeError),
    /// The frames after the checkpoint are wrong.
    #[error(transparent)]
    Lane(#[from] LaneError),
}

/// Appends the state of a kept frame.
pub(crate) fn write(log: &Log, frame: Frame, out: &mut Vec<u8>) {
    let shape = log.shape();
    let mut buffer = vec![0; 16 + shape.slots() * (shape.value_bytes() + SLOT_BITS / 8)];
    let mut w = BitWriter::new(&mut buffer);
    let written = write_bits(log, frame, &mut w);
    debug_assert!(written.is_ok(), "every checkpoint fits");
    let bytes = w.finish();
    out.extend_from_slice(&Varint::new(bytes.len() as u64));
    out.extend_from_slice(bytes);
}

fn write_bits(log: &Log, frame: Frame, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
    let rows = log.rows();
    w.bits(frame.number().into(), 32)?;
    w.bits(log.hash(frame).unwrap_or(0), 64)?;
    let mut last = None;
    for slot in 0..log.shape().slots() {
        let row = log.row(frame, Slot::at(slot));
        w.bool(row.is_some())?;
        let Some(row) = row else { continue };
        w.bool(last == Some(row.stream))?;
        if last != Some(row.stream) {
            w.bytes(row.stream.peer.as_bytes())?;
            w.bits(row.stream.incarnation.into(), 32)?;
        }
        last = Some(row.stream);
        w.varint(frame.since(row.first).into())?;
        let has = |set| rows.has(frame, set, slot);
        w.bool(has(Set::Made))?;
        w.bool(if has(Set::Made) { has(Set::Repeated) } else { has(Set::Passive) })?;
        w.bool(has(Set::Spoken))?;
        if has(Set::Spoken) {
            write_value(w, rows.value(frame, slot))?;
        }
        if !has(Set::Made) && !has(Set::Passive) {
            w.varint(rows.missed(frame, slot).into())?;
        }
    }
    Ok(())
}

/// Reads a checkpoint into a log, which restarts there.
pub(crate) fn read(r: &mut ByteReader<'_>, log: &mut Log) -> Result<(), DecodeError> {
    let shape = log.shape();
    let bytes = r.counted("checkpoint", 32 + shape.slots() * (shape.value_bytes() + SLOT_BITS / 8))?;
    let mut r = BitReader::new(bytes);
    let frame = Frame::new(r.bits("frame", 32)? as u32);
    // Frames after it must have numbers, too.
    if frame.number() > u32::MAX - (1 << 20) {
        return Err(DecodeError::out_of_range("frame", frame.number(), 0, u32::MAX - (1 << 20)));
    }
    let hash = r.bits("hash", 64)?;
    log.reset(frame, hash);
    let mut last = None;
    for slot in 0..shape.slots() {
        if r.bool("row")? {
            read_row(&mut r, log, frame, slot, &mut last)?;
        }
    }
    r.finish("checkpoint")
}

fn read_row(
    r: &mut BitReader<'_>,
    log: &mut Log,
    frame: Frame,
    slot: usize,
    last: &mut Option<StreamId>,
) -> Result<(), DecodeError> {
    let is_same = r.bool("stream as before")?;
    let stream = match last {
        Some(stream) if is_same => *stream,
        _ if is_same => return Err(DecodeError::NotCanonical { what: "stream as before" }),
        _ => {
            let mut peer = [0; 16];
            r.bytes("peer", &mut peer)?;
            let incarnation = r.bits("incarnation", 32)? as u32;
            StreamId { peer: PeerId::from_bytes(peer), incarnation }
        }
    };
    *last = Some(stream);
    let age = r.varint("age of a row")?;
    let age = u32::try_from(age).ok().filter(|age| *age <= frame.number());
    let age = age.ok_or(DecodeError::Unknown { what: "age of a row", value: frame.number().into() })?;
    log.set_row(slot, Row { stream, first: frame - age });
    let (made, other, spoken) = (r.bool("made")?, r.bool("kind")?, r.bool("spoken")?);
    if made && !spoken {
        return Err(DecodeError::NotCanonical { what: "spoken" });
    }
    let rows = log.rows_mut();
    rows.put(frame, Set::Made, slot, made);
    rows.put(frame, Set::Repeated, slot, made && other);
    rows.put(frame, Set::Passive, slot, !made && other);
    rows.put(frame, Set::Spoken, slot, spoken);
    if spoken {
        read_value(r, rows.value_mut(frame, slot))?;
    }
    let run = if made || other { 0 } else { r.varint("missed frames")? };
    let run = u16::try_from(run).map_err(|_| DecodeError::Unknown { what: "missed frames", value: run })?;
    rows.set_missed(frame, slot, run);
    Ok(())
}

/// Appends a log from a kept frame on: a checkpoint, and the frames after it.
pub(crate) fn write_extract(log: &Log, from: Frame, out: &mut Vec<u8>) {
    write(log, from, out);
    write_frames(log, from, log.sealed(), out);
}

/// Appends the frames after a kept one up to another: the last frame, and blocks up to the end of
/// the bytes.
pub(crate) fn write_frames(log: &Log, from: Frame, sealed: Frame, out: &mut Vec<u8>) {
    out.extend_from_slice(&sealed.number().to_le_bytes());
    let lanes = log.shape().lanes();
    let stride = if lanes == 1 { sealed.since(from).max(1) } else { LANE_STRIDE };
    let mut start = from;
    while start < sealed {
        let end = (start + stride).min(sealed);
        for lane in 0..lanes {
            let mut at = start;
            while at < end {
                let next = lanes::write(log, lane, at, end, sealed, PACKET_BYTES_MAX, out);
                debug_assert!(next > at, "one frame of a lane always fits");
                if next == at {
                    return;
                }
                at = next;
            }
        }
        start = end;
    }
}

/// Reads what [`write_frames`] wrote, to the end of the bytes.
pub(crate) fn read_frames(r: &mut ByteReader<'_>, log: &mut Log) -> Result<(), ExtractError> {
    let sealed = Frame::new(r.u32("last frame")?);
    let first = log.sealed();
    if sealed < first || sealed.since(first) > 1 << 20 {
        let number = sealed.number();
        return Err(DecodeError::out_of_range("last frame", number, first.number(), u32::MAX).into());
    }
    let mut bits = BitReader::new(r.rest());
    while bits.remaining() > 0 {
        lanes::read(&mut bits, sealed, log, Ablation::default())?;
    }
    if log.sealed() != sealed {
        return Err(DecodeError::Truncated { what: "frames", needed: 1, left: 0 }.into());
    }
    Ok(())
}

/// Reads what [`write_extract`] wrote.
pub(crate) fn read_extract(
    r: &mut ByteReader<'_>,
    shape: Shape,
    history: u32,
    lookahead: u32,
) -> Result<Log, ExtractError> {
    let mut log = Log::new(shape, history, lookahead);
    read(r, &mut log)?;
    read_frames(r, &mut log)?;
    Ok(log)
}
