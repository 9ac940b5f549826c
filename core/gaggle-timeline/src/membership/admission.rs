//! Controls of the next own entry (a join, when this peer leads, or a goodbye), and evictions.
//!
//! The session asks before it writes an entry. Absent: which peers may join, which rows decide.

use gaggle_kit::{Frame, Micros, PeerId, SlotSet};

use super::held::{EntryControl, Join};
use super::history::Relation;
use super::messages::PeerStatus;
use super::rows::{self, ROWS_MAX};
use super::{Membership, Mode};
use crate::roster::StreamId;

impl Membership {
    /// The local players leave: the goodbye goes into the next entry that can carry it.
    pub(crate) fn leave(&mut self) {
        self.own_stream.set_leaving(true);
        self.epoch.advance();
    }

    /// Whether the next own entry may need a control.
    pub(crate) fn may_say(&self) -> bool {
        self.own_stream.is_leaving()
            || !self.is_at_rest() && self.peers.iter().any(|(_, peer)| peer.may_come_in())
    }

    /// Last frame of the own stream, once the goodbye is written.
    #[inline]
    pub(crate) fn own_end(&self) -> Option<Frame> {
        if self.is_at_rest() {
            return None;
        }
        self.own_stream.last()
    }

    /// Newest frame for which an entry may be written.
    pub(crate) fn emit_until(&self) -> Frame {
        self.confirmed.saturating_add(self.settings.lookahead_frames)
    }

    /// Controls of the own entry for `frame`.
    pub(crate) fn extras_due(&self, now: Micros, frame: Frame) -> EntryControl {
        let Some(row) = rows::row_of(&self.known, self.me).copied() else { return EntryControl::NONE };
        if self.mode != Mode::Member || frame < row.first_frame || !row.is_active() {
            return EntryControl::NONE;
        }
        let busy = self.is_busy();
        if self.own_stream.is_leaving()
            && !(busy && self.rules.no_end_while_busy)
            && !self.joiners_have_no_vote()
        {
            return EntryControl { end: true, join: None };
        }
        let leads = rows::leader_at(&self.known, frame).is_some_and(|leader| leader.stream == self.me);
        if !leads || !self.is_full() || busy && self.rules.no_join_while_busy {
            return EntryControl::NONE;
        }
        EntryControl { join: self.candidate(now, frame), end: false }
    }

    /// An observer that is ready, whose entries keep up with the local ones, and for which slots
    /// are free.
    fn candidate(&self, now: Micros, frame: Frame) -> Option<Join> {
        if self.known.len() >= ROWS_MAX {
            return None;
        }
        let free = rows::free_slots(&self.known, frame.next(), self.settings.slot_count);
        self.peers.iter().find_map(|(id, peer)| {
            let status = peer.latest()?;
            let stream = StreamId { peer: id, incarnation: status.incarnation };
            let here = self
                .known
                .iter()
                .any(|row| row.stream == stream || row.stream.peer == id && row.last_frame >= frame.next());
            let named = !self.rules.ready_names_history || self.lineage.relate(&status.tip) == Relation::Same;
            if here || !named || !peer.may_come_in() || peer.is_barred(now) || !self.is_reachable(stream) {
                return None;
            }
            let held = self.streams.get(stream).filter(|held| !held.is_empty())?;
            let flowing = held.first() <= frame.next() && status.first.is_some();
            let patient = peer.ready_since.is_some_and(|at| now.since(at) >= self.settings.patience);
            let lagging = peer.lag_frames.is_some_and(|lag| held.through() + lag.saturating_add(1) < frame);
            if !flowing || lagging && !patient {
                return None;
            }
            Some(Join { stream, slots: choose_slots(status, free)? })
        })
    }

    /// Whether a peer stalled all others recently, so that it must not be admitted as a new one.
    pub(crate) fn is_wary_of(&self, now: Micros, peer: PeerId) -> bool {
        self.peers.get(peer).is_some_and(|peer| peer.is_on_record(now))
    }

    /// Sets the number of frames the entries of a peer may lag when it is admitted.
    pub(crate) fn set_lag(&mut self, peer: PeerId, frames: u32) {
        self.peers.entry(peer).lag_frames = Some(frames);
    }

    /// Evicts this stream, though its peer may be alive.
    pub(crate) fn evict(&mut self, stream: StreamId) {
        if rows::is_open(&self.known, stream) && stream != self.me {
            self.watch.evict(stream);
            self.epoch.advance();
        }
    }

    /// Evicts a stream that all others have waited for too long. It is not admitted again at once.
    /// A peer that returned under another incarnation meanwhile is spared, because the others may
    /// not have agreed yet that the former stay is over.
    pub(crate) fn evict_idle(&mut self, now: Micros, stream: StreamId) {
        let is_here = rows::is_open(&self.known, stream) && self.peers.is_reachable(&self.lineage, stream);
        if is_here && self.decide_without(stream) && stream != self.me {
            self.peers.entry(stream.peer).bar(now, stream.incarnation);
        }
        self.evict(stream);
    }

    /// Evicts a stream that was waited for too long. The first of the others in join order decides:
    /// it also refuses to admit that peer again too soon. Another one does after twice the time.
    pub(crate) fn take_off(&mut self, now: Micros, stream: StreamId, waited: Micros, after: Micros) {
        let others = self.known.iter().filter(|row| row.is_active() && row.stream != stream);
        let first = others.min_by_key(|row| row.rank()).map(|row| row.stream.peer);
        let limit = if first == Some(self.me.peer) { after } else { after + after };
        if waited >= limit {
            self.evict_idle(now, stream);
        }
    }

    /// Notes since when observers have been ready.
    pub(super) fn note_ready(&mut self, now: Micros) {
        let lineage = &self.lineage;
        for (_, peer) in self.peers.iter_mut() {
            let here = |s: &PeerStatus| s.first.is_some() && lineage.relate(&s.tip) == Relation::Same;
            let ready = peer.observes && peer.latest().is_some_and(here);
            peer.ready_since = if ready { peer.ready_since.or(Some(now)) } else { None };
        }
    }
}

/// Preferred slots of a joiner if they are free, else the lowest free ones.
fn choose_slots(status: &PeerStatus, free: SlotSet) -> Option<SlotSet> {
    let players = usize::from(status.players);
    if status.wanted.len() == players && status.wanted.difference(free).is_empty() {
        return Some(status.wanted);
    }
    (free.len() >= players).then(|| free.iter().take(players).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::history::{History, Link, MatchId, Tip};
    use crate::roster::Incarnation;

    #[test]
    fn joiner_gets_old_slots_or_lowest_free_ones() {
        let link = Link { history: History(1), by: 0, number: 0, size: 1, stale: false };
        let mut status = PeerStatus {
            tip: Tip { game: MatchId::default(), depth: 0, links: vec![link] },
            incarnation: Incarnation(1),
            first: Some(Frame::new(5)),
            players: 2,
            wanted: SlotSet::from_bits(0b1010),
            knows: None,
        };
        assert_eq!(choose_slots(&status, SlotSet::from_bits(0b1111)).map(SlotSet::bits), Some(0b1010));
        assert_eq!(choose_slots(&status, SlotSet::from_bits(0b0111)).map(SlotSet::bits), Some(0b0011));
        assert_eq!(choose_slots(&status, SlotSet::from_bits(0b0100)), None, "two players need two");
        status.wanted = SlotSet::EMPTY;
        assert_eq!(choose_slots(&status, SlotSet::from_bits(0b1100)).map(SlotSet::bits), Some(0b1100));
    }
}
