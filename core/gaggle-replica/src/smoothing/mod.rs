//! Values as they are displayed: interpolated or extrapolated, with errors that fade out after a
//! correction, and deleted objects that fade out as well.
//!
//! Called by `Session::interpolated` and, before and after each change of a record, by `authority`.
//! Absent: which peer may change a record, what is sent.

#![expect(clippy::float_arithmetic, reason = "only for display")]

mod departing;

use gaggle_kit::Micros;

use crate::history::SLOTS;
use crate::peers::PeerTable;
use crate::playout::{self, Motion};
use crate::session::cx::Cx;
use crate::store::{ObjectIndex, ObjectStore};
use crate::{Interpolation, Kind};

use departing::Departing;

/// Most words of a kind that is displayed without an allocation.
const WORDS_AT_HAND: usize = 48;
/// Errors below this part of a quantization step are ignored.
const NEGLIGIBLE: f64 = 1.0 / 64.0;

/// Errors that fade out, and deleted objects still shown.
#[derive(Debug, Default)]
pub(crate) struct Smoothing {
    scratch: Scratch,
    departing: Vec<Departing>,
}

/// Buffers to compare what was shown with what will be.
#[derive(Debug, Default)]
struct Scratch {
    words: Vec<i32>,
    shown: Vec<f64>,
    target: Vec<f64>,
    error: Vec<f64>,
    kind: u8,
}

/// State that displaying reads.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) cx: &'a Cx,
    pub(crate) objects: &'a ObjectStore,
    pub(crate) peers: &'a PeerTable,
}

impl<'a> Scene<'a> {
    /// Displayed value of an existing object of the kind `K`.
    pub(crate) fn interpolated<K: Kind>(self, place: ObjectIndex) -> K {
        let Some(kind) = self.objects.kind(place) else { return K::from_words(&[]) };
        let (words, all) = (kind.layout.words, kind.layout.words_all());
        let show = |words: &mut [i32], shown: &mut [f64]| {
            let mut motion = Motion { words, shown };
            self.show(place, self.cx.now, &mut motion);
            K::from_interpolated(motion.words, motion.shown)
        };
        if all <= WORDS_AT_HAND {
            show(&mut [0; WORDS_AT_HAND][..all], &mut [0.0; WORDS_AT_HAND][..words])
        } else {
            show(&mut vec![0; all], &mut vec![0.0; words])
        }
    }

    /// Age of the updates of the last second, network delay included.
    pub(crate) fn update_ages(self) -> impl Iterator<Item = Micros> + 'a {
        self.objects.iter().filter_map(move |(_, object)| {
            let record = object.record.filter(|record| !record.gone)?;
            let holder = record.version.authority;
            if self.cx.now.since(object.changed_at) >= Micros::from_secs(1) {
                return None;
            }
            let link = self.peers.of(holder)?;
            let half = link.playback.one_way();
            let then = link.playback.their_now(self.cx.now)?;
            let age = then - link.playback.time_of(record.version.tick) + half;
            Some(Micros::new(u64::try_from(age).unwrap_or(0)))
        })
    }

    /// Writes the displayed value of an object at a time into `motion`.
    fn show(self, place: ObjectIndex, now: Micros, motion: &mut Motion<'_>) {
        self.move_to(place, now, motion);
        let (Some(kind), Some((block, since))) = (self.objects.kind(place), self.objects[place].error) else {
            return;
        };
        let part = playout::error_left(kind.rules.smoothing, now.since(since));
        if part > 0.0 {
            playout::add_error(&kind.layout, motion.shown, kind.errors.get(block), part);
        }
    }

    /// The same without the fading error.
    fn move_to(self, place: ObjectIndex, now: Micros, motion: &mut Motion<'_>) {
        let object = &self.objects[place];
        let (Some(record), Some(kind)) = (object.record, self.objects.kind(place)) else { return };
        let value = self.objects.value(place);
        let holder = record.version.authority;
        let link = self.peers.of(holder);
        let Some(link) = link else { return motion.rest(&kind.layout, value) };
        match kind.rules.interpolation {
            Interpolation::Extrapolated => {
                let told = link.playback.time_of(record.version.tick);
                // The clock estimate is half a round trip behind the sender's present.
                let half = link.playback.one_way();
                let age = link.playback.their_now(now).map_or(0, |then| then - told + half);
                let silence = now.since(object.changed_at).get() as f64;
                motion.move_on(&kind.layout, value, age as f64, silence);
            }
            Interpolation::Buffered => {
                let Some(incoming) = link.inbound.of_object(place) else {
                    return motion.rest(&kind.layout, value);
                };
                let history = incoming.history;
                let told = (0..SLOTS).filter_map(|slot| kind.histories.in_slot(history, slot));
                let tick = link.playback.displayed_at() / self.cx.config.send_interval.get() as f64;
                motion.play(&kind.layout, value, told, tick);
            }
        }
    }
}

impl Smoothing {
    /// Notes what is shown of an object before it changes. False if it does not fade:
    /// [`after_change`](Smoothing::after_change) is then not needed.
    pub(crate) fn before_change(
        &mut self,
        cx: &Cx,
        objects: &ObjectStore,
        peers: &PeerTable,
        place: ObjectIndex,
        same_holder: bool,
    ) -> bool {
        let Some(kind) = objects.kind(place) else { return false };
        let steady = kind.rules.interpolation == Interpolation::Buffered && same_holder;
        if !cx.config.smoothing || kind.rules.smoothing >= 1.0 || steady || objects.value(place).is_empty() {
            return false;
        }
        let (words, all) = (kind.layout.words, kind.layout.words_all());
        let scratch = &mut self.scratch;
        scratch.words.resize(all, 0);
        scratch.shown.resize(words, 0.0);
        scratch.kind = objects[place].record.map_or(0, |record| record.kind);
        Scene { cx, objects, peers }.show(
            place,
            cx.now,
            &mut Motion { words: &mut scratch.words, shown: &mut scratch.shown },
        );
        true
    }

    /// Starts fading the difference between what was shown before a change and what is shown now.
    pub(crate) fn after_change(
        &mut self,
        cx: &Cx,
        objects: &mut ObjectStore,
        peers: &PeerTable,
        place: ObjectIndex,
    ) {
        let Some(kind) = objects.kind(place) else { return };
        let same_kind = objects[place].record.is_some_and(|record| record.kind == self.scratch.kind);
        if !same_kind || objects.value(place).is_empty() {
            return;
        }
        let (words, all) = (kind.layout.words, kind.layout.words_all());
        let scratch = &mut self.scratch;
        scratch.words.resize(all, 0);
        scratch.target.resize(words, 0.0);
        scratch.error.resize(words, 0.0);
        Scene { cx, objects, peers }.move_to(
            place,
            cx.now,
            &mut Motion { words: &mut scratch.words, shown: &mut scratch.target },
        );
        let number = usize::from(scratch.kind);
        let kind = objects.kind_mut(number);
        playout::error_between(&kind.layout, &scratch.shown, &scratch.target, &mut scratch.error);
        let too_far =
            playout::distance_of(&kind.layout, &scratch.error) > f64::from(kind.rules.snap_distance);
        let none = too_far || scratch.error.iter().all(|error| error.abs() < NEGLIGIBLE);
        let held = objects[place].error;
        let kind = objects.kind_mut(number);
        let error = match (none, held) {
            (true, Some((block, _))) => {
                kind.errors.give(block);
                None
            }
            (true, None) => None,
            (false, held) => {
                let block = held.map_or_else(|| kind.errors.take(), |(block, _)| block);
                kind.errors.get_mut(block).copy_from_slice(&scratch.error);
                Some((block, cx.now))
            }
        };
        objects[place].error = error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::{Bench, Crate};

    fn shown(bench: &Bench, place: ObjectIndex) -> f32 {
        let scene = Scene { cx: &bench.cx, objects: &bench.objects, peers: &bench.peers };
        scene.interpolated::<Crate>(place).place
    }

    fn set(bench: &mut Bench, place: ObjectIndex, value: f32) {
        let mut work = bench.work();
        let is_shown = work.before_change(place, true);
        Crate { place: value }.to_words(work.objects.value_mut(place));
        work.objects[place].changed_at = work.cx.now;
        if is_shown {
            work.after_change(place);
        }
    }

    #[test]
    fn object_without_peer_is_shown_as_it_is() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 1);
        let place = bench.object(0, 1);
        Crate { place: 12.5 }.to_words(bench.objects.value_mut(place));
        assert_eq!(shown(&bench, place), 12.5);
    }

    #[test]
    fn error_of_update_fades_to_nothing() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = bench.object(1, 1);
        Crate { place: 10.0 }.to_words(bench.objects.value_mut(place));
        bench.cx.note_now(Micros::from_secs(1));
        set(&mut bench, place, 11.0);
        assert!(shown(&bench, place) < 11.0, "it does not jump");
        bench.cx.note_now(Micros::from_secs(9));
        assert_eq!(shown(&bench, place), 11.0);
    }

    #[test]
    fn without_smoothing_setting_updates_jump() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        bench.cx.config.smoothing = false;
        let place = bench.object(1, 1);
        bench.cx.note_now(Micros::from_secs(1));
        set(&mut bench, place, 11.0);
        assert_eq!(shown(&bench, place), 11.0);
    }
}
