//! Deleted objects still on display: a buffered kind is shown in the past, so its deletion is shown
//! and reported when the playhead reaches it. The record is deleted at once. `Smoothing` owns it.
//! Absent: objects that exist.

use gaggle_kit::PeerId;

use super::{Scene, Smoothing};
use crate::event::SessionEvent;
use crate::history::{History, SLOTS};
use crate::peers::PeerTable;
use crate::playout::Motion;
use crate::session::cx::Cx;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{Interpolation, Kind, ObjectId};

/// Most deleted objects on display. Beyond these an object vanishes at once.
const DEPARTING_MAX: usize = 256;

/// A deleted object that is still on display.
#[derive(Debug)]
pub(crate) struct Departing {
    id: ObjectId,
    kind: u8,
    /// Peer whose motion is shown.
    peer: PeerId,
    /// Time of the deletion on that peer's clock, in µs.
    at: i64,
    /// Last value, constants included; `told` has earlier ones by tick.
    value: Vec<i32>,
    told: Vec<(u32, Vec<i32>)>,
}

impl Smoothing {
    /// Called before a deleting record replaces the object's record. Returns whether the object
    /// stays on display.
    pub(crate) fn keep_showing(&mut self, scene: Scene<'_>, place: ObjectIndex, deletion: &Record) -> bool {
        let Scene { cx, objects, peers } = scene;
        let object = &objects[place];
        let (Some(before), Some(kind)) = (object.record, objects.kind(place)) else { return false };
        let buffered = kind.rules.interpolation == Interpolation::Buffered && cx.config.smoothing;
        if !buffered || before.gone || self.departing.len() >= DEPARTING_MAX {
            return false;
        }
        let holder = before.version.authority;
        let Some(link) = peers.of(holder) else { return false };
        // Another peer's deletion has no tick of the authority: the object is shown up to the tick
        // of its last record.
        let by_holder = deletion.version.authority == holder;
        let at = link.playback.time_of(if by_holder { deletion.version.tick } else { before.version.tick });
        if link.playback.displayed_at() >= at as f64 {
            return false;
        }
        let history = link.inbound.of_object(place).map_or(History::Empty, |incoming| incoming.history);
        let in_slot = |slot: u32| kind.histories.in_slot(history, slot);
        let told = (0..SLOTS).filter_map(in_slot).map(|(tick, words)| (tick, words.to_vec())).collect();
        let (id, peer) = (object.id, link.id);
        let value = objects.value(place).to_vec();
        self.departing.push(Departing { id, kind: before.kind, peer, at, value, told });
        true
    }

    /// Whether an object is deleted and still shown.
    pub(crate) fn is_departing(&self, id: ObjectId) -> bool {
        self.departing.iter().any(|departing| departing.id == id)
    }

    /// Forgets a deletion that is not reported yet, because the object exists again. True if there
    /// was one.
    pub(crate) fn return_departing(&mut self, id: ObjectId) -> bool {
        let before = self.departing.len();
        self.departing.retain(|departing| departing.id != id);
        self.departing.len() < before
    }

    /// Reports deletions that are due now, and all whose peer left.
    pub(crate) fn let_depart(&mut self, cx: &mut Cx, peers: &PeerTable) {
        let (links, events) = (peers, &mut cx.events);
        self.departing.retain(|departing| {
            let link = links.iter().find(|link| link.id == departing.peer);
            let is_over = link.is_none_or(|link| link.playback.displayed_at() >= departing.at as f64);
            if is_over {
                events.push(SessionEvent::Despawned { id: departing.id });
            }
            !is_over
        });
    }

    /// A deleted object as it is still displayed.
    pub(crate) fn departing<K: Kind>(&self, scene: Scene<'_>, id: ObjectId, kind: usize) -> Option<K> {
        let departing = self.departing.iter().find(|departing| departing.id == id)?;
        departing.shown(scene, kind)
    }

    /// All deleted objects of a kind that are still displayed.
    pub(crate) fn departing_all<'a, K: Kind>(
        &'a self,
        scene: Scene<'a>,
        kind: usize,
    ) -> impl Iterator<Item = (ObjectId, K)> + 'a {
        self.departing.iter().filter_map(move |it| Some((it.id, it.shown(scene, kind)?)))
    }
}

impl Departing {
    fn shown<K: Kind>(&self, scene: Scene<'_>, kind: usize) -> Option<K> {
        let Scene { cx, objects, peers } = scene;
        if kind != usize::from(self.kind) {
            return None;
        }
        let layout = &objects.kinds()[usize::from(self.kind)].layout;
        let link = peers.iter().find(|link| link.id == self.peer)?;
        let tick = link.playback.displayed_at() / cx.config.send_interval.get() as f64;
        let (mut words, mut shown) = (vec![0; layout.words_all()], vec![0.0; layout.words]);
        let mut motion = Motion { words: &mut words, shown: &mut shown };
        let told = self.told.iter().map(|(tick, words)| (*tick, &words[..]));
        motion.play(layout, &self.value, told, tick);
        Some(K::from_interpolated(motion.words, motion.shown))
    }
}

#[cfg(test)]
mod tests {
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;
    use crate::smoothing::Scene;
    use crate::version::Record;

    #[test]
    fn deletion_of_extrapolated_kind_is_shown_at_once() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = bench.object(1, 1);
        let deletion = Record { gone: true, ..bench.record(1) };
        let scene = Scene { cx: &bench.cx, objects: &bench.objects, peers: &bench.peers };
        assert!(!bench.smoothing.keep_showing(scene, place, &deletion));
        assert!(!bench.smoothing.is_departing(bench.objects[place].id));
        assert!(!bench.smoothing.return_departing(bench.objects[place].id));
    }
}
