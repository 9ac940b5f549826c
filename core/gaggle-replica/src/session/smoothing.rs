//! What a player sees of an object: the truth a little later or a little ahead, and errors that
//! vanish instead of jumping.

#![expect(clippy::float_arithmetic, reason = "only for display")]

use gaggle_kit::Micros;

use super::Session;
use crate::history::SLOTS;
use crate::link::{NONE, Peer};
use crate::playout::{self, Motion};
use crate::store::ObjectIndex;
use crate::{Interpolation, Kind, ObjectId};

/// Kinds of up to so many words are shown without taking memory.
const WORDS_AT_HAND: usize = 48;
/// An error of less than this part of a step is none.
const NEGLIGIBLE: f64 = 1.0 / 64.0;

impl Session {
    /// An object as it should be drawn now, which is the time of the last call of the session.
    /// Objects held here are shown as they are; others as [`KindOptions`](crate::KindOptions) of
    /// their kind say; a deleted object of a kind that is played in sequence until its deletion is
    /// to be seen. Never use it to decide anything: see [`get`](Session::get).
    pub fn interpolated<K: Kind>(&self, id: ObjectId) -> Option<K> {
        let Ok(place) = self.live(id) else { return self.shown_departing(id) };
        let kind = self.kinds.number_of::<K>()?;
        let record = self.store[place].record?;
        if usize::from(record.kind) != kind {
            return None;
        }
        let layout = &self.store.kinds[kind].layout;
        let (words, all) = (layout.words, layout.words_all());
        let show = |words: &mut [i32], shown: &mut [f64]| {
            let mut motion = Motion { words, shown };
            self.show(place, self.now, &mut motion);
            K::from_interpolated(motion.words, motion.shown)
        };
        Some(if all <= WORDS_AT_HAND {
            show(&mut [0; WORDS_AT_HAND][..all], &mut [0.0; WORDS_AT_HAND][..words])
        } else {
            show(&mut vec![0; all], &mut vec![0.0; words])
        })
    }

    /// How old what is known of others' objects is, the way here included: of those that were told
    /// about within a second.
    pub fn update_ages(&self) -> impl Iterator<Item = Micros> + '_ {
        self.store.iter().filter_map(|(_, object)| {
            let record = object.record.filter(|record| !record.gone)?;
            let holder = record.version.authority;
            let is_holder = |link: &&Peer| link.present.is_some_and(|other| other.id == holder);
            if self.now.since(object.changed_at) >= Micros::from_secs(1) {
                return None;
            }
            let link = self.links.iter().find(is_holder)?;
            let half = link.rtt.map_or(0, |rtt| rtt.get() / 2);
            let then = link.clock.now(self.now)?;
            let age = then - link.clock.time_of(record.version.tick) + half as i64;
            Some(Micros::new(u64::try_from(age).unwrap_or(0)))
        })
    }

    /// What is shown of an object at a moment.
    fn show(&self, place: ObjectIndex, now: Micros, motion: &mut Motion<'_>) {
        self.move_to(place, now, motion);
        let (Some(kind), Some((block, since))) = (self.store.kind(place), self.store[place].error) else {
            return;
        };
        let part = playout::error_left(kind.rules.smoothing, now.since(since));
        if part > 0.0 {
            playout::add_error(&kind.layout, motion.shown, kind.errors.get(block), part);
        }
    }

    /// Where an object is to be shown, errors aside.
    fn move_to(&self, place: ObjectIndex, now: Micros, motion: &mut Motion<'_>) {
        let object = &self.store[place];
        let (Some(record), Some(kind)) = (object.record, self.store.kind(place)) else { return };
        let value = self.store.value(place);
        let holder = record.version.authority;
        let link = self.links.iter().find(|link| link.present.is_some_and(|other| other.id == holder));
        let Some(link) = link else { return motion.rest(&kind.layout, value) };
        match kind.rules.interpolation {
            Interpolation::Extrapolated => {
                let told = link.clock.time_of(record.version.tick);
                // Half a round trip ago the sender's clock said what a packet without delay would
                // bring now.
                let half = link.rtt.map_or(0, |rtt| rtt.get() / 2);
                let age = link.clock.now(now).map_or(0, |then| then - told + half as i64);
                let silence = now.since(object.changed_at).get() as f64;
                motion.move_on(&kind.layout, value, age as f64, silence);
            }
            Interpolation::Buffered => {
                let handle = link.table_of[place as usize];
                if handle == NONE {
                    return motion.rest(&kind.layout, value);
                }
                let history = link.table[handle as usize].history;
                let told = (0..SLOTS).filter_map(|slot| kind.histories.in_slot(history, slot));
                let tick = link.playhead.at() / self.config.send_interval.get() as f64;
                motion.play(&kind.layout, value, told, tick);
            }
        }
    }

    /// Something about an object is about to change: notes what is shown of it, if that is to
    /// change smoothly.
    pub(super) fn before_change(&mut self, place: ObjectIndex, same_holder: bool) -> bool {
        let Some(kind) = self.store.kind(place) else { return false };
        let steady = kind.rules.interpolation == Interpolation::Buffered && same_holder;
        if !self.config.smoothing
            || kind.rules.smoothing >= 1.0
            || steady
            || self.store.value(place).is_empty()
        {
            return false;
        }
        let (words, all) = (kind.layout.words, kind.layout.words_all());
        let mut scratch = std::mem::take(&mut self.smoothing);
        scratch.words.resize(all, 0);
        scratch.shown.resize(words, 0.0);
        scratch.kind = self.store[place].record.map_or(0, |record| record.kind);
        self.show(place, self.now, &mut Motion { words: &mut scratch.words, shown: &mut scratch.shown });
        self.smoothing = scratch;
        true
    }

    /// Something about an object has changed: what it was shown wrongly by vanishes from now on.
    pub(super) fn after_change(&mut self, place: ObjectIndex) {
        let Some(kind) = self.store.kind(place) else { return };
        let same_kind = self.store[place].record.is_some_and(|record| record.kind == self.smoothing.kind);
        if !same_kind || self.store.value(place).is_empty() {
            return;
        }
        let (words, all) = (kind.layout.words, kind.layout.words_all());
        let mut scratch = std::mem::take(&mut self.smoothing);
        scratch.words.resize(all, 0);
        scratch.target.resize(words, 0.0);
        scratch.error.resize(words, 0.0);
        self.move_to(place, self.now, &mut Motion { words: &mut scratch.words, shown: &mut scratch.target });
        let number = usize::from(scratch.kind);
        let kind = &mut self.store.kinds[number];
        playout::error_between(&kind.layout, &scratch.shown, &scratch.target, &mut scratch.error);
        let too_far =
            playout::distance_of(&kind.layout, &scratch.error) > f64::from(kind.rules.snap_distance);
        let none = too_far || scratch.error.iter().all(|error| error.abs() < NEGLIGIBLE);
        let held = self.store[place].error;
        let kind = &mut self.store.kinds[number];
        let error = match (none, held) {
            (true, Some((block, _))) => {
                kind.errors.give(block);
                None
            }
            (true, None) => None,
            (false, held) => {
                let block = held.map_or_else(|| kind.errors.take(), |(block, _)| block);
                kind.errors.get_mut(block).copy_from_slice(&scratch.error);
                Some((block, self.now))
            }
        };
        self.store[place].error = error;
        self.smoothing = scratch;
    }
}

/// Room to compare what was shown with what will be.
#[derive(Debug, Default)]
pub(super) struct Display {
    words: Vec<i32>,
    shown: Vec<f64>,
    target: Vec<f64>,
    error: Vec<f64>,
    kind: u8,
}
