//! Gate: the slots that a frame waits for, because their entries were in time recently.
//!
//! The sealer asks it which entries a frame lacks, and reports the result of each frame. Absent:
//! deadlines.

use gaggle_kit::Frame;

use crate::log::Log;
use crate::rows::Set;
use crate::shape::{Shape, ones};

/// Entries that the next frame lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lacking {
    /// Whether any slot is expected to give an entry.
    pub(super) is_expected: bool,
    /// Whether any expected entry has not arrived.
    pub(super) is_missing: bool,
    /// Whether any of those is worth waiting for beyond the due time.
    pub(super) waits: bool,
}

/// After a miss a slot is waited for again only after a number of consecutive entries in time,
/// which grows with its misses. Otherwise a client that misses every second frame would delay all
/// others permanently.
#[derive(Debug)]
pub(super) struct Gate {
    gating: Vec<u64>,
    /// Consecutive entries in time of slots that are not waited for.
    run: Vec<u16>,
    /// Consecutive entries in time after which a slot is waited for.
    need: Vec<u16>,
    need_max: u16,
}

impl Gate {
    pub(super) fn new(shape: Shape, need_max: u16) -> Gate {
        let slots = shape.slots();
        Gate { gating: vec![0; shape.words()], run: vec![0; slots], need: vec![1; slots], need_max }
    }

    pub(super) fn lacking(&self, log: &Log, frame: Frame) -> Lacking {
        let mut lacking = Lacking { is_expected: false, is_missing: false, waits: false };
        let (rows, before) = (log.rows(), log.sealed());
        for (word, gating) in self.gating.iter().enumerate() {
            let active = rows.word(before, Set::Present, word) & !rows.word(before, Set::Passive, word);
            let held = rows.word(frame, Set::Made, word) | rows.word(frame, Set::Passive, word);
            lacking.is_expected |= active != 0;
            lacking.is_missing |= active & !held != 0;
            lacking.waits |= active & !held & gating != 0;
        }
        lacking
    }

    /// Takes the result of a sealed frame.
    pub(super) fn note(&mut self, log: &Log, frame: Frame) {
        let rows = log.rows();
        for word in 0..self.gating.len() {
            let (made, missed) = (rows.word(frame, Set::Made, word), rows.missed_word(frame, word));
            // Until its first entry arrives, a row that began had no chance to be in time.
            let joined = rows.word(frame, Set::Joined, word);
            for slot in ones(joined).map(|bit| word * 64 + bit) {
                (self.run[slot], self.need[slot]) = (0, 1);
            }
            let spoken = rows.word(frame, Set::Spoken, word);
            for slot in ones(missed & spoken).map(|bit| word * 64 + bit) {
                self.run[slot] = 0;
                self.need[slot] = (self.need[slot] * 2).min(self.need_max);
            }
            let mut gating = self.gating[word] & made;
            for bit in ones(made & !gating) {
                let slot = word * 64 + bit;
                self.run[slot] = self.run[slot].saturating_add(1);
                if self.run[slot] >= self.need[slot] {
                    gating |= 1 << bit;
                }
            }
            self.gating[word] = gating;
        }
    }

    /// Halves the effect of old misses.
    pub(super) fn forgive(&mut self) {
        for need in &mut self.need {
            *need = (*need / 2).max(1);
        }
    }
}
