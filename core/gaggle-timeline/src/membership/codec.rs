//! Encoding of membership's types. Every count is bounded before anything is allocated.
//!
//! Messages and packets use it. Absent: what the values mean.

use gaggle_kit::{ByteReader, DecodeError, Frame, PeerId, SlotSet, Varint};

use super::ballot::Ballot;
use super::entry_range::EntryRange;
use super::held::{EntryControl, Join};
use super::history::{History, LINKS_MAX, Link, MatchId, Tip};
use super::messages::Told;
use super::rows::{ROWS_MAX, RosterEntry};
use super::view::View;
use crate::roster::{Incarnation, StreamId};

/// Entry ranges in a message: two for each stream of the roster, because ranges of one stream may
/// overlap.
pub(crate) const TAILS_MAX: usize = 2 * ROWS_MAX + 32;

/// Last frame any message may name. No match gets there: at 60 frames per second it takes more than
/// a year. A match whose first frame was chosen by a dishonest peer still has as many frames before
/// numbers run out.
pub(crate) const FRAME_MAX: Frame = Frame::new(u32::MAX / 2);
/// Greatest depth of a view: no possible rate of view changes gets there.
pub(crate) const DEPTH_MAX: u32 = u32::MAX / 2;

const EXTRAS_END: u8 = 1;
const EXTRAS_JOIN: u8 = 2;

pub(crate) fn put_stream(out: &mut Vec<u8>, stream: StreamId) {
    out.extend_from_slice(stream.peer.as_bytes());
    out.extend_from_slice(&stream.incarnation.0.to_le_bytes());
}

pub(crate) fn stream(r: &mut ByteReader<'_>) -> Result<StreamId, DecodeError> {
    let peer = PeerId::from_bytes(r.array("peer")?);
    Ok(StreamId { peer, incarnation: Incarnation(r.u32("incarnation")?) })
}

pub(crate) fn put_frame(out: &mut Vec<u8>, frame: Frame) {
    out.extend_from_slice(&frame.number().to_le_bytes());
}

pub(crate) fn frame(r: &mut ByteReader<'_>, what: &'static str) -> Result<Frame, DecodeError> {
    let number = r.u32(what)?;
    if number > FRAME_MAX.number() {
        return Err(DecodeError::out_of_range(what, number, 0, FRAME_MAX.number()));
    }
    Ok(Frame::new(number))
}

/// Last frame of a row; `NEVER` while the row is open.
fn last_frame(r: &mut ByteReader<'_>) -> Result<Frame, DecodeError> {
    let number = r.u32("last frame")?;
    if number > FRAME_MAX.number() && number != Frame::NEVER.number() {
        return Err(DecodeError::out_of_range("last frame", number, 0, FRAME_MAX.number()));
    }
    Ok(Frame::new(number))
}

pub(crate) fn put_slots(out: &mut Vec<u8>, slots: SlotSet) {
    out.extend_from_slice(&slots.bits().to_le_bytes());
}

pub(crate) fn slots(r: &mut ByteReader<'_>) -> Result<SlotSet, DecodeError> {
    r.u64("slots").map(SlotSet::from_bits)
}

pub(crate) fn put_ballot(out: &mut Vec<u8>, ballot: Ballot) {
    out.extend_from_slice(&ballot.number.to_le_bytes());
    put_stream(out, ballot.by);
}

pub(crate) fn ballot(r: &mut ByteReader<'_>) -> Result<Ballot, DecodeError> {
    Ok(Ballot { number: r.u32("ballot")?, by: stream(r)? })
}

pub(crate) fn put_extras(out: &mut Vec<u8>, extras: EntryControl) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    out.push(flag(extras.end, EXTRAS_END) | flag(extras.join.is_some(), EXTRAS_JOIN));
    if let Some(join) = extras.join {
        put_stream(out, join.stream);
        put_slots(out, join.slots);
    }
}

/// Reads control flags. Flags of 0 are malformed: without any, the encoding leaves them out.
pub(crate) fn extras(r: &mut ByteReader<'_>) -> Result<EntryControl, DecodeError> {
    let flags = r.u8("what an entry says")?;
    if flags == 0 || flags > EXTRAS_END | EXTRAS_JOIN {
        return Err(DecodeError::Unknown { what: "what an entry says", value: flags.into() });
    }
    let join =
        if flags & EXTRAS_JOIN != 0 { Some(Join { stream: stream(r)?, slots: slots(r)? }) } else { None };
    Ok(EntryControl { join, end: flags & EXTRAS_END != 0 })
}

pub(crate) fn put_rows(out: &mut Vec<u8>, rows: &[RosterEntry]) {
    out.push(rows.len() as u8);
    for row in rows {
        put_stream(out, row.stream);
        put_slots(out, row.slots);
        put_frame(out, row.first_frame);
        put_frame(out, row.last_frame);
    }
}

pub(crate) fn rows(r: &mut ByteReader<'_>) -> Result<Vec<RosterEntry>, DecodeError> {
    let count = bounded("rows", r.u8("rows")?.into(), ROWS_MAX)?;
    let row = |_| {
        let (stream, slots) = (stream(r)?, slots(r)?);
        let (first, last) = (frame(r, "first frame")?, last_frame(r)?);
        if first == Frame::START || last < first.previous() {
            let (value, min) = (last.number().into(), first.previous().number().into());
            return Err(DecodeError::OutOfRange { what: "last frame", value, min, max: i64::MAX });
        }
        Ok(RosterEntry { stream, slots, first_frame: first, last_frame: last })
    };
    (0..count).map(row).collect()
}

pub(crate) fn put_streams(out: &mut Vec<u8>, streams: &[StreamId]) {
    out.push(streams.len() as u8);
    streams.iter().for_each(|stream| put_stream(out, *stream));
}

pub(crate) fn streams(r: &mut ByteReader<'_>) -> Result<Vec<StreamId>, DecodeError> {
    let count = bounded("streams", r.u8("streams")?.into(), ROWS_MAX)?;
    (0..count).map(|_| stream(r)).collect()
}

fn put_link(out: &mut Vec<u8>, link: &Link) {
    out.extend_from_slice(&link.history.0.to_le_bytes());
    out.extend_from_slice(&link.by.to_le_bytes());
    out.extend_from_slice(&link.number.to_le_bytes());
    out.extend_from_slice(&[link.size, u8::from(link.stale)]);
}

fn link(r: &mut ByteReader<'_>) -> Result<Link, DecodeError> {
    Ok(Link {
        history: History(r.u64("history")?),
        by: r.u64("coordinator")?,
        number: r.u32("ballot")?,
        size: r.u8("size of a view")?,
        stale: r.bool("stale view")?,
    })
}

pub(crate) fn put_tip(out: &mut Vec<u8>, tip: &Tip) {
    out.extend_from_slice(&tip.game.started_at.to_le_bytes());
    out.extend_from_slice(&tip.game.nonce.to_le_bytes());
    out.extend_from_slice(&tip.depth.to_le_bytes());
    out.extend_from_slice(&Varint::new(tip.links.len() as u64));
    tip.links.iter().for_each(|link| put_link(out, link));
}

pub(crate) fn tip(r: &mut ByteReader<'_>) -> Result<Tip, DecodeError> {
    let game = MatchId { started_at: r.u64("birth of a match")?, nonce: r.u64("match")? };
    let depth = r.u32("depth")?;
    if depth > DEPTH_MAX {
        return Err(DecodeError::out_of_range("depth", depth, 0, DEPTH_MAX));
    }
    let count = r.count("ancestors", LINKS_MAX)?;
    if count == 0 || count as u64 > u64::from(depth) + 1 {
        let max = i64::from(depth) + 1;
        return Err(DecodeError::OutOfRange { what: "ancestors", value: count as i64, min: 1, max });
    }
    let links = (0..count).map(|_| link(r)).collect::<Result<_, _>>()?;
    Ok(Tip { game, depth, links })
}

/// The identity of a view is not sent: it is computed from its content.
pub(crate) fn put_told(out: &mut Vec<u8>, told: &Told) {
    put_tip(out, &told.tip);
    put_ballot(out, told.view.ballot);
    out.extend_from_slice(&told.view.parent.0.to_le_bytes());
    put_rows(out, &told.view.rows);
}

pub(crate) fn told(r: &mut ByteReader<'_>) -> Result<Told, DecodeError> {
    let tip = tip(r)?;
    let ballot = ballot(r)?;
    let parent = History(r.u64("history")?);
    let rows = rows(r)?;
    let sorted = rows.is_sorted_by_key(RosterEntry::rank);
    let last = *tip.links.last().ok_or(DecodeError::NotCanonical { what: "ancestors" })?;
    let view = View::new(tip.game, parent, ballot, rows, last.size, last.stale);
    if !sorted || view.link() != last || tip.parent().is_some_and(|before| before != parent) {
        return Err(DecodeError::NotCanonical { what: "name of a view" });
    }
    Ok(Told { tip, view })
}

pub(crate) fn put_tails(out: &mut Vec<u8>, tails: &[EntryRange]) {
    out.extend_from_slice(&Varint::new(tails.len() as u64));
    tails.iter().for_each(|tail| tail.encode(out));
}

pub(crate) fn tails(r: &mut ByteReader<'_>) -> Result<Vec<EntryRange>, DecodeError> {
    let count = r.count("tails", TAILS_MAX)?;
    (0..count).map(|_| EntryRange::decode(r)).collect()
}

fn bounded(what: &'static str, count: usize, max: usize) -> Result<usize, DecodeError> {
    if count > max {
        return Err(DecodeError::CountTooLarge { what, count: count as u64, max: max as u64 });
    }
    Ok(count)
}
