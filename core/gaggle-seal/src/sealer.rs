//! The sealer: it takes entries, and decides frame by frame which of them count.
//!
//! The referee owns it and passes the time; its decisions are in its log. Absent: links,
//! acknowledgements, packets' headers, terms.

mod gate;

use std::collections::VecDeque;

use gaggle_kit::{BitReader, DecodeError, Frame, Micros, Slot};
use thiserror::Error;

use crate::ablation::{Ablation, Rule};
use crate::config::SealConfig;
use crate::log::Log;
use crate::packet::{EntrySpan, read_entries};
use crate::roster::{OutReason, RosterEvent, StreamId};
use crate::rows::Set;
use crate::shape::{JOINS_PER_FRAME_MAX, StreamSlots, ones};
use gate::Gate;

/// Frames after which the effect of misses on the gate halves (`gate.rs`): 10 s at 60 Hz.
const FORGIVE_FRAMES: u32 = 600;

/// Provable violation of the protocol by a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// It sent bytes that no client writes.
    #[error("packet not decodable: {0}")]
    Malformed(#[from] DecodeError),
    /// It sent two values of one stream for one frame.
    #[error("{slot} gave two values for frame {frame}")]
    Equivocation {
        /// Slot of the stream.
        slot: Slot,
        /// Frame both values are for.
        frame: Frame,
    },
    /// It acknowledged frames that are not sealed.
    #[error("acknowledged frame {0}, which is not sealed")]
    AckBeyondSealed(Frame),
    /// Its log contradicts itself.
    #[error("answer to the referee's question not usable")]
    BadAnswer,
    /// It began with something else than its hello.
    #[error("a message that is no hello, or names no recipient")]
    NoHello,
    /// It gave another state than it had offered.
    #[error("the state given is not the one that was offered")]
    FalseState,
    /// It sent more packets or messages than any client needs.
    #[error("more packets than allowed")]
    Flood,
}

/// Number of a packet's entries that were in time, and late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Intake {
    /// Entries that were new and in time.
    pub(crate) taken: u32,
    /// Entries whose frame was sealed without them.
    pub(crate) late: u32,
}

/// A row that begins or ends with the next sealed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leaving {
    stream: StreamId,
    slots: StreamSlots,
    why: OutReason,
}

/// Entries of coming frames, deadlines, and the log made from them.
#[derive(Debug)]
pub(crate) struct Sealer {
    config: SealConfig,
    log: Log,
    gate: Gate,
    /// Time at which frame `origin` was due.
    started_at: Micros,
    /// How early and how late a frame may be sealed.
    early: Micros,
    accept: Micros,
    origin: Frame,
    joining: VecDeque<(StreamId, StreamSlots)>,
    leaving: Vec<Leaving>,
    /// Rows of the frame that is being sealed.
    present: Vec<u64>,
    /// Changes of the last sealed frame that were polled.
    polled: usize,
    ablation: Ablation,
}

impl Sealer {
    /// A sealer that continues after `log`'s last frame, which is due now.
    pub(crate) fn new(config: SealConfig, log: Log, now: Micros, ablation: Ablation) -> Sealer {
        let shape = log.shape();
        let origin = log.sealed();
        let mut sealer = Sealer {
            gate: Gate::new(shape, config.gating_run_max),
            early: config.span(config.early_frames),
            accept: config.span(config.accept_frames),
            config,
            log,
            started_at: now,
            origin,
            joining: VecDeque::new(),
            leaving: Vec::new(),
            present: vec![0; shape.words()],
            polled: 0,
            ablation,
        };
        for ahead in 1..=sealer.config.lookahead() {
            sealer.log.rows_mut().clear(origin + ahead);
        }
        sealer
    }

    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    #[cfg(test)]
    pub(crate) fn set_ablation(&mut self, ablation: Ablation) {
        self.ablation = ablation;
    }

    /// When this frame is due.
    pub(crate) fn due(&self, frame: Frame) -> Micros {
        self.started_at + self.config.span(frame.since(self.origin))
    }

    /// Moves all deadlines, because the referee itself was suspended and no client could know.
    pub(crate) fn postpone(&mut self, by: Micros) {
        self.started_at += by;
    }

    /// Adds a stream that plays from the next frame with free slots on. A repeated call has no
    /// effect.
    pub(crate) fn join(&mut self, stream: StreamId, slots: StreamSlots) {
        if self.joining.iter().all(|(waiting, _)| *waiting != stream) {
            self.joining.push_back((stream, slots));
        }
    }

    pub(crate) fn is_joining(&self, stream: StreamId) -> bool {
        self.joining.iter().any(|(waiting, _)| *waiting == stream)
    }

    /// Ends the rows of older processes of this stream's peer with the next frame.
    pub(crate) fn replace_older(&mut self, stream: StreamId) {
        for slot in 0..self.log.shape().slots() {
            let Some(row) = self.log.roster().row(slot) else { continue };
            let is_older = row.stream.peer == stream.peer && row.stream.incarnation < stream.incarnation;
            if is_older {
                self.leaving.retain(|leaving| leaving.stream != row.stream);
                let (slots, why) = (StreamSlots::one(slot), OutReason::Replaced);
                self.leaving.push(Leaving { stream: row.stream, slots, why });
            }
        }
    }

    /// Rows that began or ended in the last sealed frame, each once.
    pub(crate) fn poll_roster_event(&mut self, frame: Frame) -> Option<RosterEvent> {
        let event = self.log.roster().nth_of(frame, self.polled)?;
        self.polled += 1;
        Some(event)
    }

    /// Removes a stream that waits for free slots.
    pub(crate) fn cancel_join(&mut self, stream: StreamId) {
        self.joining.retain(|(waiting, _)| *waiting != stream);
    }

    /// Ends the stream's rows with the next frame.
    pub(crate) fn leave(&mut self, stream: StreamId, slots: StreamSlots, why: OutReason) {
        self.cancel_join(stream);
        let has_row = slots.iter().any(|slot| self.log.has_row(slot, stream));
        if has_row && self.leaving.iter().all(|leaving| leaving.stream != stream) {
            self.leaving.push(Leaving { stream, slots, why });
        }
    }

    /// Whether all slots of the stream have its row in the last sealed frame.
    pub(crate) fn is_present(&self, stream: StreamId, slots: &StreamSlots) -> bool {
        slots.iter().all(|slot| self.log.has_row(slot, stream))
    }

    /// Number of entries without gap after a frame.
    pub(crate) fn held_ahead(&self, slot: usize, after: Frame) -> u8 {
        let held = |ahead: &u32| self.is_held(after + *ahead, slot);
        (1..=self.config.lookahead().min(254)).take_while(held).count() as u8
    }

    fn is_held(&self, frame: Frame, slot: usize) -> bool {
        let rows = self.log.rows();
        rows.has(frame, Set::Made, slot) || rows.has(frame, Set::Passive, slot)
    }

    /// Takes the entries of a stream whose rows are present.
    pub(crate) fn take(
        &mut self,
        slots: &StreamSlots,
        span: &EntrySpan,
        r: &mut BitReader<'_>,
    ) -> Result<Intake, Fault> {
        let (sealed, last) = (self.log.sealed(), self.log.sealed() + self.config.lookahead());
        let shape = self.log.shape();
        let mut intake = Intake::default();
        let reopen = !self.ablation.holds(Rule::SealedStaysSealed);
        let rows = self.log.rows_mut();
        for slot in slots.indexes() {
            read_entries(r, shape, span, |index, value, is_repeated| {
                let frame = span.first + index;
                let reopens = reopen && frame == sealed && !rows.has(frame, Set::Made, slot);
                if !reopens && (frame <= sealed || frame > last) {
                    intake.late += u32::from(frame <= sealed && !rows.has(frame, Set::Made, slot));
                    return Ok(());
                }
                if rows.has(frame, Set::Made, slot) {
                    let is_same = rows.value(frame, slot) == value
                        && rows.has(frame, Set::Repeated, slot) == is_repeated;
                    return if is_same {
                        Ok(())
                    } else {
                        Err(Fault::Equivocation { slot: Slot::at(slot), frame })
                    };
                }
                if rows.has(frame, Set::Passive, slot) && !reopens {
                    return Err(Fault::Equivocation { slot: Slot::at(slot), frame });
                }
                rows.value_mut(frame, slot).copy_from_slice(value);
                rows.put(frame, Set::Made, slot, true);
                rows.put(frame, Set::Repeated, slot, is_repeated);
                intake.taken += 1;
                Ok(())
            })?;
            for index in (0..span.count).filter(|index| span.is_passive(*index)) {
                let frame = span.first + index;
                if frame <= sealed || frame > last || rows.has(frame, Set::Passive, slot) {
                    continue;
                }
                if rows.has(frame, Set::Made, slot) {
                    return Err(Fault::Equivocation { slot: Slot::at(slot), frame });
                }
                rows.put(frame, Set::Passive, slot, true);
                intake.taken += 1;
            }
        }
        Ok(intake)
    }

    /// Seals the next frame if it is due or complete.
    pub(crate) fn try_seal(&mut self, now: Micros) -> bool {
        let frame = self.log.sealed().next();
        let due = self.due(frame);
        if now + self.early < due || frame.next() == Frame::NEVER {
            return false;
        }
        let lacking = self.gate.lacking(&self.log, frame);
        let is_complete = lacking.is_expected && !lacking.is_missing;
        let is_over = now >= due && (!lacking.waits || now >= due + self.accept);
        if !is_complete && (!is_over || lacking.is_missing && !self.ablation.holds(Rule::DeadlinesSeal)) {
            return false;
        }
        self.seal(frame);
        true
    }

    fn seal(&mut self, frame: Frame) {
        for (word, present) in self.present.iter_mut().enumerate() {
            *present = self.log.rows().word(self.log.sealed(), Set::Present, word);
        }
        self.seal_outs();
        self.seal_joins();
        let present = std::mem::take(&mut self.present);
        self.log.seal(&present);
        self.present = present;
        self.polled = 0;
        // The row that becomes reachable reuses the place of a dropped one.
        self.log.rows_mut().clear(frame + self.config.lookahead());
        if frame.number().is_multiple_of(FORGIVE_FRAMES) {
            self.gate.forgive();
        }
        self.gate.note(&self.log, frame);
        self.note_silent(frame);
    }

    fn seal_outs(&mut self) {
        for index in 0..self.leaving.len() {
            let Leaving { stream, slots, why } = self.leaving[index];
            for (slot, named) in slots.indexes().zip(slots.iter()) {
                // The row may have ended already, of a silent peer that left.
                if self.log.has_row(named, stream) {
                    self.present[slot / 64] &= !(1 << (slot % 64));
                    self.log.seal_leave(slot, why);
                    self.drop_pending(slot);
                }
            }
        }
    }

    fn seal_joins(&mut self) {
        let mut joined = 0;
        for _ in 0..self.joining.len() {
            let Some((stream, slots)) = self.joining.pop_front() else { break };
            if joined == JOINS_PER_FRAME_MAX || !slots.indexes().all(|slot| self.is_free(slot, stream)) {
                self.joining.push_back((stream, slots));
                continue;
            }
            joined += 1;
            for slot in slots.indexes() {
                self.present[slot / 64] |= 1 << (slot % 64);
                self.drop_pending(slot);
                self.log.seal_join(slot, stream);
            }
        }
        self.leaving.clear();
    }

    /// Whether a slot is free: it has no row, or loses it in this frame to a newer process of its
    /// peer.
    fn is_free(&self, slot: usize, stream: StreamId) -> bool {
        let is_taken = self.present[slot / 64] >> (slot % 64) & 1 == 1;
        let had_row = self.log.rows().has(self.log.sealed(), Set::Present, slot);
        let is_own = self.leaving.iter().any(|leaving| {
            leaving.why == OutReason::Replaced
                && leaving.stream.peer == stream.peer
                && leaving.slots.indexes().any(|own| own == slot)
        });
        !is_taken && (!had_row || is_own)
    }

    /// Drops entries of a row that ended, which do not belong to the next one.
    fn drop_pending(&mut self, slot: usize) {
        for ahead in 1..=self.config.lookahead() {
            let frame = self.log.sealed() + ahead;
            let rows = self.log.rows_mut();
            rows.put(frame, Set::Made, slot, false);
            rows.put(frame, Set::Repeated, slot, false);
            rows.put(frame, Set::Passive, slot, false);
        }
    }

    fn note_silent(&mut self, frame: Frame) {
        let limit = self.config.out_after_frames.min(u32::from(u16::MAX));
        for word in 0..self.present.len() {
            let missed = self.log.rows().missed_word(frame, word);
            for slot in ones(missed).map(|bit| word * 64 + bit) {
                if u32::from(self.log.rows().missed(frame, slot)) < limit {
                    continue;
                }
                if let Some(row) = self.log.roster().row(slot) {
                    let (slots, why) = (StreamSlots::one(slot), OutReason::Silent);
                    self.leaving.push(Leaving { stream: row.stream, slots, why });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{BitWriter, PeerId};

    const SPAN: u64 = 1_000_000 / 60;

    fn stream(slot: usize) -> StreamId {
        StreamId { peer: PeerId::from_u128(slot as u128 + 1), incarnation: 0 }
    }

    fn sealer(slots: usize) -> Sealer {
        let config = SealConfig { slot_count: slots, ..SealConfig::default() };
        let log = Log::new(config.check().unwrap(), 600, config.lookahead());
        let mut sealer = Sealer::new(config, log, Micros::ZERO, Ablation::default());
        (0..slots).for_each(|slot| sealer.join(stream(slot), StreamSlots::one(slot)));
        assert!(sealer.try_seal(Micros::new(SPAN + 1)));
        sealer
    }

    fn give(sealer: &mut Sealer, slot: usize, frame: u32, value: u8) -> Result<Intake, Fault> {
        let mut buffer = [0; 8];
        let mut w = BitWriter::new(&mut buffer);
        w.bits(u64::from(value) << 1, 9).unwrap();
        let span = EntrySpan { first: Frame::new(frame), count: 1, passive: 0 };
        sealer.take(&StreamSlots::one(slot), &span, &mut BitReader::new(w.finish()))
    }

    fn due(frame: u32) -> Micros {
        Micros::new(u64::from(frame) * 1_000_000 / 60)
    }

    #[test]
    fn complete_frame_is_sealed_at_once_but_not_too_early() {
        let mut sealer = sealer(2);
        for frame in 2..60 {
            for slot in 0..2 {
                assert!(give(&mut sealer, slot, frame, 1).is_ok());
            }
        }
        while sealer.try_seal(Micros::new(due(2).get() + 1)) {}
        assert_eq!(sealer.log().sealed(), Frame::new(18), "16 frames before they are due");
    }

    #[test]
    fn frame_waits_for_slot_that_was_in_time_until_its_deadline() {
        let mut sealer = sealer(2);
        for frame in 2..5 {
            for slot in 0..2 {
                assert!(give(&mut sealer, slot, frame, 1).is_ok());
            }
            assert!(sealer.try_seal(due(frame)));
        }
        assert!(give(&mut sealer, 0, 5, 1).is_ok());
        let deadline = due(5) + sealer.config.span(6);
        assert!(!sealer.try_seal(Micros::new(deadline.get() - 1)));
        assert!(sealer.try_seal(deadline));
        // The slot missed: no frame waits for it until it has made enough entries in time.
        assert!(give(&mut sealer, 0, 6, 1).is_ok());
        assert!(sealer.try_seal(due(6)));
    }

    #[test]
    fn sealed_frame_takes_no_late_entry() {
        let mut sealer = sealer(1);
        assert!(sealer.try_seal(due(9)) && sealer.log().sealed() == Frame::new(2));
        let intake = give(&mut sealer, 0, 2, 7).unwrap();
        assert_eq!(intake, Intake { taken: 0, late: 1 });
        assert!(!sealer.log().rows().has(Frame::new(2), Set::Made, 0));
    }

    #[test]
    fn second_value_for_one_frame_is_fault() {
        let mut sealer = sealer(1);
        assert_eq!(give(&mut sealer, 0, 9, 7).map(|intake| intake.taken), Ok(1));
        assert_eq!(give(&mut sealer, 0, 9, 7).map(|intake| intake.taken), Ok(0));
        let fault = Fault::Equivocation { slot: Slot::at(0), frame: Frame::new(9) };
        assert_eq!(give(&mut sealer, 0, 9, 8), Err(fault));
    }

    #[test]
    fn slot_is_shared_by_no_two_rows() {
        let mut sealer = sealer(2);
        let guest = StreamId { peer: PeerId::from_u128(9), incarnation: 0 };
        sealer.join(guest, StreamSlots::one(1));
        assert!(sealer.try_seal(due(20)));
        assert!(sealer.is_joining(guest) && sealer.log().has_row(Slot::at(1), stream(1)));
        assert!(give(&mut sealer, 1, 6, 3).is_ok());
        sealer.leave(stream(1), StreamSlots::one(1), OutReason::Goodbye);
        assert!(sealer.try_seal(due(20)));
        assert!(!sealer.log().has_row(Slot::at(1), stream(1)), "first it ends");
        assert!(sealer.try_seal(due(20)));
        assert!(sealer.log().has_row(Slot::at(1), guest), "then the other begins");
        assert!(!sealer.is_held(Frame::new(6), 1), "without the entries of the one before");
    }
}
