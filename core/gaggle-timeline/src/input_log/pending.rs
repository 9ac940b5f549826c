//! Entries of streams that have no column in the table, and access to all entries as bytes.
//!
//! `InputLog` moves them into its table when their stream counts. Absent: the frame from which a
//! stream counts.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame, Input};

use super::InputLog;
use crate::entries::Entries;
use crate::roster::{RosterEntry, StreamId};

/// Entries of a peer that may have no slot in the table yet.
#[derive(Debug)]
pub(super) struct PendingStream<I> {
    players: usize,
    first: Frame,
    count: u32,
    inputs: VecDeque<I>,
}

impl<I: Input> PendingStream<I> {
    /// Frame of the oldest entry.
    pub(super) fn first(&self) -> Frame {
        self.first
    }

    pub(super) fn entry(&self, frame: Frame) -> Option<impl Iterator<Item = I> + '_> {
        let nth = frame.number().checked_sub(self.first.number()).filter(|nth| *nth < self.count)? as usize;
        Some(self.inputs.range(nth * self.players..(nth + 1) * self.players).copied())
    }

    pub(super) fn forget_before(&mut self, frame: Frame) {
        while self.first < frame && self.count > 0 {
            self.inputs.drain(..self.players);
            self.count -= 1;
            self.first = self.first.next();
        }
    }
}

impl<I: Input> Entries for InputLog<I> {
    fn write(&self, stream: StreamId, frame: Frame, out: &mut Vec<u8>) {
        let mut put = |input: I| {
            let at = out.len();
            out.resize(at + I::SIZE, 0);
            input.write(&mut out[at..]);
        };
        if stream == self.me {
            self.local.entry(frame).iter().for_each(|input| put(*input));
            return;
        }
        if let Some(track) = self.track_index(stream) {
            let row = self.tracks[track].row;
            if row.is_present_at(frame) {
                row.slots.iter().for_each(|slot| put(self.past.cell(frame, slot)));
                return;
            }
        }
        match self.pending.get(&stream).and_then(|pending| pending.entry(frame)) {
            Some(entry) => entry.for_each(put),
            // Before its first frame a stream counts for no peer, and no peer needs those entries.
            None => {
                let players = self.track_index(stream).map_or(0, |track| self.tracks[track].row.slots.len());
                (0..players).for_each(|_| put(I::default()));
            }
        }
    }

    fn equals(&self, stream: StreamId, frame: Frame, value: &[u8]) -> bool {
        let counts = |row: &RosterEntry| row.stream == stream && row.is_present_at(frame);
        let kept = self.pending.get(&stream).is_some_and(|pending| pending.entry(frame).is_some());
        if !kept && !self.rows().any(counts) {
            return true;
        }
        let mut held = Vec::with_capacity(value.len());
        self.write(stream, frame, &mut held);
        held == value
    }

    fn store(&mut self, stream: StreamId, frame: Frame, value: &[u8]) -> Result<(), DecodeError> {
        let inputs: Vec<I> = match I::SIZE {
            0 => Vec::new(),
            size => value.chunks(size).map(I::read).collect::<Result<_, _>>()?,
        };
        if let Some(track) = self.track_index(stream) {
            let players = self.tracks[track].row.slots.len();
            if I::SIZE > 0 && inputs.len() != players {
                let (value, max) = (inputs.len() as i64, players as i64);
                return Err(DecodeError::OutOfRange { what: "players", value, min: max, max });
            }
            self.store_tracked(track, frame, &inputs);
            if !self.pending.contains_key(&stream) {
                return Ok(());
            }
        }
        let pending = self.pending.get_or_insert_with(stream, || PendingStream {
            players: inputs.len(),
            first: frame,
            count: 0,
            inputs: VecDeque::new(),
        });
        if pending.players != inputs.len() || frame != pending.first.saturating_add(pending.count) {
            *pending =
                PendingStream { players: inputs.len(), first: frame, count: 0, inputs: VecDeque::new() };
        }
        pending.inputs.extend(inputs);
        pending.count += 1;
        let keep = self.past.frames();
        pending.forget_before(frame.saturating_sub(keep));
        Ok(())
    }

    fn cut(&mut self, stream: StreamId, last: Frame) {
        if let Some(track) = self.track_index(stream) {
            self.tracks[track].have = self.tracks[track].have.min(last);
        }
    }

    fn forget(&mut self, stream: StreamId) {
        self.pending.remove(&stream);
    }
}
