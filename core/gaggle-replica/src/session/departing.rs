//! Deletions that wait for the motion they belong to: an object of a kind that is played in
//! sequence is shown until the moment at which it was deleted is shown.
//!
//! The world knows of the deletion at once; only what is drawn, and [`SessionEvent::Despawned`],
//! come later. Absent: what is shown of objects that exist (`display.rs`).

#![expect(clippy::float_arithmetic, reason = "only for display")]

use gaggle_kit::PeerId;

use super::Session;
use crate::event::SessionEvent;
use crate::history::{History, SLOTS};
use crate::link::{NONE, Peer};
use crate::playout::Motion;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{Interpolation, Kind, ObjectId};

/// Deleted objects that are still shown. Beyond these an object vanishes at once.
const DEPARTING_MAX: usize = 256;

/// A deleted object that is still shown.
#[derive(Debug)]
pub(super) struct Departing {
    id: ObjectId,
    kind: u8,
    /// Whose motion is shown.
    peer: PeerId,
    /// The moment of the deletion on that peer's clock, in µs.
    at: i64,
    /// The last value, constants included, and what was told before, by tick.
    value: Vec<i32>,
    told: Vec<(u32, Vec<i32>)>,
}

impl Session {
    /// A record that deletes an object is about to replace what is known of it. Whether what is
    /// shown of it has to go on.
    pub(super) fn keep_showing(&mut self, place: ObjectIndex, deletion: &Record) -> bool {
        let object = &self.store[place];
        let (Some(before), Some(kind)) = (object.record, self.store.kind(place)) else { return false };
        let buffered = kind.rules.interpolation == Interpolation::Buffered && self.config.smoothing;
        if !buffered || before.gone || self.departing.len() >= DEPARTING_MAX {
            return false;
        }
        let holder = before.version.authority;
        let is_theirs = |link: &&Peer| link.present.is_some_and(|it| it.id == holder);
        let Some(link) = self.links.iter().find(is_theirs) else { return false };
        // A deletion by another peer is no moment of the holder's: what the holder told until now
        // is shown to its end.
        let by_holder = deletion.version.authority == holder;
        let at = link.clock.time_of(if by_holder { deletion.version.tick } else { before.version.tick });
        if link.playhead.at() >= at as f64 {
            return false;
        }
        let handle = link.table_of[place as usize];
        let history = if handle == NONE { History::Empty } else { link.table[handle as usize].history };
        let in_slot = |slot: u32| kind.histories.in_slot(history, slot);
        let told = (0..SLOTS).filter_map(in_slot).map(|(tick, words)| (tick, words.to_vec())).collect();
        let (id, peer) = (object.id, link.peer);
        let value = self.store.value(place).to_vec();
        self.departing.push(Departing { id, kind: before.kind, peer, at, value, told });
        true
    }

    /// Whether an object is deleted and still shown.
    pub(super) fn is_departing(&self, id: ObjectId) -> bool {
        self.departing.iter().any(|departing| departing.id == id)
    }

    /// The object exists again: nothing is to be told of its deletion. Whether there was anything
    /// to tell.
    pub(super) fn return_departing(&mut self, id: ObjectId) -> bool {
        let before = self.departing.len();
        self.departing.retain(|departing| departing.id != id);
        self.departing.len() < before
    }

    /// Tells of the deletions whose moment is shown now, and of all whose peer is gone.
    pub(super) fn let_depart(&mut self) {
        let (links, events) = (&self.links, &mut self.events);
        self.departing.retain(|departing| {
            let link = links.iter().find(|link| link.peer == departing.peer);
            let is_over = link.is_none_or(|link| link.playhead.at() >= departing.at as f64);
            if is_over {
                events.push(SessionEvent::Despawned { id: departing.id });
            }
            !is_over
        });
    }

    /// A deleted object as it is still to be drawn.
    pub(super) fn shown_departing<K: Kind>(&self, id: ObjectId) -> Option<K> {
        let departing = self.departing.iter().find(|departing| departing.id == id)?;
        self.show_departing(departing)
    }

    /// All objects of a kind as they should be drawn now, in no particular order: those that exist,
    /// as [`interpolated`](Session::interpolated) has them, and those of a kind that is played in
    /// sequence whose deletion is not shown yet.
    pub fn shown_all<K: Kind>(&self) -> impl Iterator<Item = (ObjectId, K)> + '_ {
        let here = self.iter::<K>().filter_map(move |(id, _)| Some((id, self.interpolated::<K>(id)?)));
        let departing =
            self.departing.iter().filter_map(move |it| Some((it.id, self.show_departing::<K>(it)?)));
        here.chain(departing)
    }

    fn show_departing<K: Kind>(&self, departing: &Departing) -> Option<K> {
        if self.kinds.number_of::<K>() != Some(usize::from(departing.kind)) {
            return None;
        }
        let layout = &self.store.kinds[usize::from(departing.kind)].layout;
        let link = self.links.iter().find(|link| link.peer == departing.peer)?;
        let tick = link.playhead.at() / self.config.send_interval.get() as f64;
        let (mut words, mut shown) = (vec![0; layout.words_all()], vec![0.0; layout.words]);
        let mut motion = Motion { words: &mut words, shown: &mut shown };
        let told = departing.told.iter().map(|(tick, words)| (*tick, &words[..]));
        motion.play(layout, &departing.value, told, tick);
        Some(K::from_interpolated(motion.words, motion.shown))
    }
}
