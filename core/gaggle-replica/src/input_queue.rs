//! Queue of a player's input on its way to the peer that simulates: every change in order, each
//! applied once, however short a press was. `InputRelay` owns them. Absent: packets, meaning of an
//! input.

use std::collections::VecDeque;

use gaggle_kit::{BitReader, BitWriter, BufferFull, DecodeError};

/// Most changes that wait for acknowledgement: over half a second of rapid presses.
const CHANGES_MAX: usize = 32;
/// Most bytes of an input.
pub(crate) const INPUT_BYTES_MAX: usize = 32;
/// Samples between changes that count as idle: the next change is applied at once.
const IDLE_SAMPLES: u32 = 3;
/// With more samples than this waiting, two are taken at once.
const BACKLOG_SAMPLES: u32 = 8;

/// Most bits of changes in a packet; the rest goes with the next.
pub(crate) const INPUT_BITS_MAX: usize = 400 * 8;

/// An input as it is sent, zero beyond its size.
pub(crate) type Bytes = [u8; INPUT_BYTES_MAX];

/// A sample of an input that differs from a repetition of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// Number of the sample, from the first.
    pub(crate) number: u32,
    pub(crate) bytes: Bytes,
}

/// Changes of the local player that the leader has not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct InputOut {
    number: u32,
    changes: VecDeque<Change>,
    /// The newest sample, as it would be repeated.
    repeated: Option<Bytes>,
}

impl InputOut {
    /// Adds a sample. `repeated` is what a repetition of it would be, `merge` makes one of two.
    pub(crate) fn sample(&mut self, bytes: Bytes, repeated: Bytes, merge: impl Fn(&Bytes, &Bytes) -> Bytes) {
        self.number = self.number.saturating_add(1);
        if self.repeated != Some(bytes) {
            if self.changes.len() == CHANGES_MAX
                && let Some(oldest) = self.changes.pop_front()
                && let Some(next) = self.changes.front_mut()
            {
                // No peer acknowledges, so two changes are merged: presses count a little later and
                // are not lost.
                next.bytes = merge(&oldest.bytes, &next.bytes);
            }
            self.changes.push_back(Change { number: self.number, bytes });
        }
        self.repeated = Some(repeated);
    }

    /// Number of the newest change; 0 before any.
    pub(crate) fn newest(&self) -> u32 {
        self.changes.back().map_or(0, |change| change.number)
    }

    /// The simulating peer has all changes up to this one. The newest is kept for that peer's
    /// successor, as a held input without its presses.
    pub(crate) fn acknowledge(&mut self, number: u32) {
        while self.changes.len() > 1 && self.changes.front().is_some_and(|change| change.number <= number) {
            self.changes.pop_front();
        }
        if let Some(last) = self.changes.back_mut().filter(|last| last.number <= number)
            && let Some(repeated) = self.repeated
        {
            last.bytes = repeated;
        }
    }

    /// Writes the changes after an acknowledged one, at least one and as many more as fit these
    /// bits, and returns the number of the last.
    pub(crate) fn write(
        &self,
        w: &mut BitWriter<'_>,
        acked: u32,
        size: usize,
        bits: usize,
    ) -> Result<u32, BufferFull> {
        let room = (bits.min(INPUT_BITS_MAX).saturating_sub(6) / (40 + size * 8)).max(1);
        let changes = || self.changes.iter().filter(|change| change.number > acked).take(room);
        w.bits(changes().count() as u64, 6)?;
        let mut before = None;
        for change in changes() {
            match before {
                None => w.bits(u64::from(change.number), 32)?,
                Some(before) => w.varint(u64::from(change.number - before))?,
            }
            before = Some(change.number);
            w.bytes(&change.bytes[..size])?;
        }
        Ok(before.unwrap_or(acked))
    }
}

/// Input of the player at this peer, for the case that this peer simulates.
#[derive(Debug, Default)]
pub(crate) struct LocalInput {
    waiting: Option<Bytes>,
}

impl LocalInput {
    pub(crate) fn sample(&mut self, bytes: Bytes, merge: impl Fn(&Bytes, &Bytes) -> Bytes) {
        self.waiting = Some(self.waiting.map_or(bytes, |earlier| merge(&earlier, &bytes)));
    }

    pub(crate) fn take(&mut self, repeat: impl Fn(&Bytes) -> Bytes) -> Option<Bytes> {
        let taken = self.waiting?;
        self.waiting = Some(repeat(&taken));
        Some(taken)
    }
}

/// Reads what [`InputOut::write`] wrote.
pub(crate) fn read_changes(
    r: &mut BitReader<'_>,
    size: usize,
    mut each: impl FnMut(Change),
) -> Result<(), DecodeError> {
    let count = r.bits("input changes", 6)?;
    if count > CHANGES_MAX as u64 {
        return Err(DecodeError::CountTooLarge { what: "input changes", count, max: CHANGES_MAX as u64 });
    }
    let mut number = 0_u32;
    for index in 0..count {
        number = if index == 0 {
            r.bits("input number", 32)? as u32
        } else {
            let gap = r.varint("input number")?;
            let next = u64::from(number) + gap;
            u32::try_from(next).ok().filter(|_| gap > 0).ok_or(DecodeError::out_of_range(
                "input number",
                next,
                1,
                u64::from(u32::MAX),
            ))?
        };
        let mut bytes = [0; INPUT_BYTES_MAX];
        r.bytes("input", &mut bytes[..size])?;
        each(Change { number, bytes });
    }
    Ok(())
}

/// Changes of a remote player that wait to be applied.
#[derive(Debug, Default, Clone)]
pub(crate) struct InputIn {
    queue: VecDeque<Change>,
    /// Number of the newest change that was received.
    newest: u32,
    /// Number of the sample that was last applied.
    cursor: u32,
    /// Input that is held now.
    held: Option<Bytes>,
}

impl InputIn {
    /// Takes a change, if it is new.
    pub(crate) fn push(&mut self, change: Change) {
        if change.number <= self.newest {
            return;
        }
        self.newest = change.number;
        if self.queue.len() == 2 * CHANGES_MAX {
            self.queue.pop_front();
        }
        self.queue.push_back(change);
    }

    /// Next sample, if there ever was one: `merge` makes one of two, `repeat` is what a sample
    /// becomes when it is held.
    pub(crate) fn next(
        &mut self,
        merge: impl Fn(&Bytes, &Bytes) -> Bytes,
        repeat: impl Fn(&Bytes) -> Bytes,
    ) -> Option<Bytes> {
        let repeated = self.held.as_ref().map(&repeat);
        let Some(front) = self.queue.front() else {
            self.held = repeated;
            return repeated;
        };
        self.cursor = self.cursor.saturating_add(1);
        if front.number > self.cursor.saturating_add(IDLE_SAMPLES) || self.held.is_none() {
            self.cursor = front.number;
        }
        let behind = self.newest.saturating_sub(self.cursor);
        if behind > BACKLOG_SAMPLES {
            self.cursor += 1;
        }
        let mut taken = None;
        while let Some(front) = self.queue.front()
            && front.number <= self.cursor
        {
            taken = Some(taken.map_or(front.bytes, |taken| merge(&taken, &front.bytes)));
            self.queue.pop_front();
        }
        self.held = taken.or(repeated);
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESS: u8 = 0b10;

    /// The lowest bit is held, the next one is a press.
    fn bytes(value: u8) -> Bytes {
        let mut bytes = [0; INPUT_BYTES_MAX];
        bytes[0] = value;
        bytes
    }

    fn repeat(value: &Bytes) -> Bytes {
        bytes(value[0] & !PRESS)
    }

    fn merge(earlier: &Bytes, later: &Bytes) -> Bytes {
        bytes(later[0] | earlier[0] & PRESS)
    }

    fn sample(out: &mut InputOut, value: u8) {
        out.sample(bytes(value), repeat(&bytes(value)), merge);
    }

    fn send(out: &InputOut, acked: u32, to: &mut InputIn) -> usize {
        let mut buffer = [0; 300];
        let mut w = BitWriter::new(&mut buffer);
        out.write(&mut w, acked, 1, INPUT_BITS_MAX).unwrap();
        let written = w.finish().to_vec();
        let mut r = BitReader::new(&written);
        read_changes(&mut r, 1, |change| to.push(change)).unwrap();
        written.len()
    }

    #[test]
    fn tap_lost_or_duplicated_in_transit_is_applied_once() {
        let (mut out, mut to) = (InputOut::default(), InputIn::default());
        let pattern = [0, 1, 1, 3, 1, 0, 0, 2, 0, 2, 2, 0, 0, 0, 0, 1, 3, 0];
        let mut applied = Vec::new();
        for (index, value) in pattern.into_iter().cycle().take(18 * 20).enumerate() {
            sample(&mut out, value);
            if index % 3 == 0 && index % 9 != 0 {
                send(&out, 0, &mut to);
                send(&out, 0, &mut to);
            }
            applied.push(to.next(merge, repeat).map_or(0, |bytes| bytes[0]));
        }
        for _ in 0..20 {
            send(&out, 0, &mut to);
            applied.push(to.next(merge, repeat).map_or(0, |bytes| bytes[0]));
        }
        let presses = |values: &[u8]| values.iter().filter(|value| **value & PRESS != 0).count();
        let pressed: Vec<u8> = pattern.into_iter().cycle().take(18 * 20).collect();
        let merged = presses(&pressed) - presses(&applied);
        assert!(merged <= presses(&pressed) / 8, "{merged} of {} presses were merged", presses(&pressed));
        assert!(presses(&applied) > 70);
    }

    #[test]
    fn steady_input_costs_nothing_new_and_is_held() {
        let (mut out, mut to) = (InputOut::default(), InputIn::default());
        sample(&mut out, 1);
        let newest = out.newest();
        for _ in 0..500 {
            sample(&mut out, 1);
        }
        assert_eq!(out.newest(), newest);
        send(&out, 0, &mut to);
        for _ in 0..500 {
            assert_eq!(to.next(merge, repeat), Some(bytes(1)));
        }
        sample(&mut out, 3);
        sample(&mut out, 1);
        send(&out, newest, &mut to);
        let applied: Vec<u8> = (0..3).filter_map(|_| to.next(merge, repeat)).map(|bytes| bytes[0]).collect();
        assert_eq!(applied, [3, 1, 1]);
    }

    #[test]
    fn new_leader_learns_held_input_and_repeats_no_press() {
        let mut out = InputOut::default();
        sample(&mut out, 0);
        sample(&mut out, 3);
        let (mut first, mut second) = (InputIn::default(), InputIn::default());
        send(&out, 0, &mut first);
        assert_eq!(first.next(merge, repeat), Some(bytes(0)));
        assert_eq!(first.next(merge, repeat), Some(bytes(3)));
        out.acknowledge(out.newest());
        send(&out, 0, &mut second);
        assert_eq!(second.next(merge, repeat), Some(bytes(1)));
    }

    #[test]
    fn unacknowledged_presses_are_merged_not_lost() {
        let (mut out, mut to) = (InputOut::default(), InputIn::default());
        sample(&mut out, 2);
        for round in 0..2 * CHANGES_MAX {
            sample(&mut out, (round % 2) as u8);
        }
        assert_eq!(out.changes.len(), CHANGES_MAX);
        send(&out, 0, &mut to);
        let mut presses = 0;
        while !to.queue.is_empty() {
            presses += to.next(merge, repeat).map_or(0, |bytes| bytes[0] >> 1 & 1);
        }
        assert_eq!(presses, 1);
    }

    #[test]
    fn press_on_simulating_peer_is_taken_once() {
        let mut local = LocalInput::default();
        assert_eq!(local.take(repeat), None);
        local.sample(bytes(3), merge);
        local.sample(bytes(1), merge);
        assert_eq!(local.take(repeat), Some(bytes(3)));
        assert_eq!(local.take(repeat), Some(bytes(1)));
    }

    #[test]
    fn burst_of_samples_is_caught_up() {
        let (mut out, mut to) = (InputOut::default(), InputIn::default());
        for round in 0..30 {
            sample(&mut out, round % 2);
        }
        send(&out, 0, &mut to);
        let calls =
            (0..40).take_while(|_| to.queue.front().is_some() && to.next(merge, repeat).is_some()).count();
        assert!(calls < 22, "30 samples took {calls} calls");
    }

    #[test]
    fn impossible_counts_and_numbers_are_rejected() {
        let read = |bytes: &[u8]| read_changes(&mut BitReader::new(bytes), 1, |_| {});
        assert!(matches!(read(&[0xff; 40]), Err(DecodeError::CountTooLarge { .. })));
        let mut buffer = [0; 40];
        let mut w = BitWriter::new(&mut buffer);
        w.bits(2, 6).unwrap();
        w.bits(u64::from(u32::MAX), 32).unwrap();
        w.bits(7, 8).unwrap();
        w.varint(1).unwrap();
        w.bits(7, 8).unwrap();
        assert!(matches!(read(w.finish()), Err(DecodeError::OutOfRange { .. })));
    }
}
