//! Known facts about other peers: whether they are reachable, their incarnation and their branch.
//!
//! `Membership` owns it. Absent: links, entries.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Micros, PeerId, VecMap};

use super::history::{History, Lineage, Relation, Tip};
use super::messages::PeerStatus;
use crate::roster::{Incarnation, StreamId};

/// Statuses remembered of a peer: packets on their way may refer to the last few.
const STANDINGS_MAX: usize = 8;
/// Replaces a tag to which nothing refers any more.
const TAG_VOID: u8 = u8::MAX;
/// Former incarnations remembered of a peer.
const GONE_MAX: usize = 8;

/// A peer that stalled all others for the second time is admitted again after this, and after twice
/// as long each further time.
const BAR_MIN: Micros = Micros::from_secs(30);
const BAR_MAX: Micros = Micros::from_secs(480);
/// Stalls longer ago than this do not count.
const BAR_MEMORY: Micros = Micros::from_secs(600);

/// How often and when a peer was evicted because all others waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Bar {
    at: Option<Micros>,
    span: Micros,
    /// Stay in which it last did.
    of: Option<Incarnation>,
}

/// One other peer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Peer {
    bar: Bar,
    /// Whether there is a path to it and it was heard recently.
    pub(crate) reachable: bool,
    /// Its present stay.
    pub(crate) incarnation: Option<Incarnation>,
    gone: VecDeque<Incarnation>,
    /// Oldest status first.
    statuses: VecDeque<(u8, PeerStatus)>,
    /// Last frame it said it had confirmed in this stay.
    pub(crate) confirmed: Frame,
    /// Frames its entries may lag when it is admitted: the latency from it to this peer.
    pub(crate) lag_frames: Option<u32>,
    /// Whether its packets say that it is not in the roster.
    pub(crate) observes: bool,
    /// Incarnation with which it was in the roster, so long ago that its row is forgotten.
    pub(crate) sat_as: Option<Incarnation>,
    /// Since when it has been ready for this branch.
    pub(crate) ready_since: Option<Micros>,
    /// Result of comparing whole paths: its branch, the local branch, and their relation.
    parted: Option<(History, History, Relation)>,
    pub(crate) path_asked_at: Option<Micros>,
    pub(crate) path_told_at: Option<Micros>,
    pub(crate) view_told: Option<(History, Micros)>,
    pub(crate) snapshot_asked_at: Option<Micros>,
}

impl Peer {
    /// Status that packets with this tag refer to, if it is of the present stay.
    pub(crate) fn status(&self, tag: u8) -> Option<&PeerStatus> {
        let (_, status) = self.statuses.iter().rev().find(|(known, _)| *known == tag)?;
        (Some(status.incarnation) == self.incarnation).then_some(status)
    }

    /// Its newest status.
    pub(crate) fn latest(&self) -> Option<&PeerStatus> {
        let (_, status) = self.statuses.back()?;
        (Some(status.incarnation) == self.incarnation).then_some(status)
    }

    /// Whether it is not in the roster and may want to be: a peer without players only spectates.
    pub(crate) fn may_come_in(&self) -> bool {
        self.observes && self.latest().is_none_or(|status| status.players > 0)
    }

    /// Notes that it stalled all others; counts once for every stay.
    pub(crate) fn bar(&mut self, now: Micros, stay: Incarnation) {
        if self.bar.of == Some(stay) {
            return;
        }
        let lately = self.is_on_record(now);
        let span = match self.bar.span {
            _ if !lately => Micros::ZERO,
            Micros::ZERO => BAR_MIN,
            span => (span + span).min(BAR_MAX),
        };
        self.bar = Bar { at: Some(now), span, of: Some(stay) };
    }

    /// Whether it stalled all others recently.
    pub(crate) fn is_on_record(&self, now: Micros) -> bool {
        self.bar.at.is_some_and(|at| now.since(at) < BAR_MEMORY)
    }

    /// Whether it may not be admitted yet.
    pub(crate) fn is_barred(&self, now: Micros) -> bool {
        self.bar.at.is_some_and(|at| now.since(at) < self.bar.span)
    }

    /// The peer announced this incarnation; any other is over.
    pub(crate) fn set_incarnation(&mut self, incarnation: Incarnation) {
        if self.incarnation == Some(incarnation) {
            return;
        }
        if let Some(former) = self.incarnation.replace(incarnation) {
            self.set_gone(former);
        }
        self.confirmed = Frame::START;
        self.observes = false;
        self.ready_since = None;
    }

    pub(crate) fn set_gone(&mut self, incarnation: Incarnation) {
        if self.gone.contains(&incarnation) {
            return;
        }
        if self.gone.len() == GONE_MAX {
            self.gone.pop_front();
        }
        self.gone.push_back(incarnation);
        if self.incarnation == Some(incarnation) {
            self.incarnation = None;
        }
    }

    pub(crate) fn is_gone(&self, incarnation: Incarnation) -> bool {
        self.gone.contains(&incarnation) || self.incarnation.is_some_and(|present| present != incarnation)
    }

    /// Takes the status it sent. Statuses of one link arrive in order; an incarnation that is over
    /// stays over.
    pub(crate) fn set_status(&mut self, tag: u8, status: PeerStatus) {
        if self.gone.contains(&status.incarnation) {
            return;
        }
        self.set_incarnation(status.incarnation);
        self.statuses.retain(|(known, _)| *known != tag);
        if self.statuses.len() == STANDINGS_MAX {
            self.statuses.pop_front();
        }
        self.statuses.push_back((tag, status));
    }

    /// Another link was established: tags of the link before are void on it, and may be used again.
    pub(crate) fn forget_tags(&mut self) {
        self.statuses.iter_mut().for_each(|(tag, _)| *tag = TAG_VOID);
    }

    /// How the branch of this peer relates to the local one.
    pub(crate) fn relation(&self, ours: &Lineage, tip: &Tip) -> Relation {
        let relation = ours.relate(tip);
        match (relation, self.parted) {
            (Relation::Unknown, Some((theirs, mine, found)))
                if tip.links.iter().any(|link| link.history == theirs)
                    && (mine == ours.history()
                        || matches!(found, Relation::Apart { .. }) && ours.contains(mine)) =>
            {
                found
            }
            _ => relation,
        }
    }

    /// Takes the whole path it sent.
    pub(crate) fn set_path(&mut self, ours: &Lineage, path: &Tip) {
        self.parted = Some((path.history(), ours.history(), ours.relate_whole(path)));
    }
}

/// All other peers, by id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Peers {
    all: VecMap<PeerId, Peer>,
}

impl Peers {
    pub(crate) fn get(&self, peer: PeerId) -> Option<&Peer> {
        self.all.get(&peer)
    }

    pub(crate) fn entry(&mut self, peer: PeerId) -> &mut Peer {
        self.all.get_or_insert_with(peer, Peer::default)
    }

    pub(crate) fn remove(&mut self, peer: PeerId) {
        self.all.remove(&peer);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.all.iter().map(|(id, peer)| (*id, peer))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (PeerId, &mut Peer)> {
        self.all.iter_mut().map(|(id, peer)| (*id, peer))
    }

    /// Notes the stream of a row that is forgotten.
    pub(crate) fn note_forgotten(&mut self, stream: StreamId) {
        if let Some((_, peer)) = self.iter_mut().find(|(id, _)| *id == stream.peer) {
            peer.sat_as = Some(stream.incarnation);
        }
    }

    /// Whether a stream's peer is reachable, still has that incarnation, and is not in a branch
    /// that left the local one.
    pub(crate) fn is_reachable(&self, ours: &Lineage, stream: StreamId) -> bool {
        self.get(stream.peer).is_some_and(|peer| {
            let astray = || {
                let latest = peer.latest();
                latest.is_some_and(|s| matches!(peer.relation(ours, &s.tip), Relation::Apart { .. }))
            };
            peer.reachable && !peer.is_gone(stream.incarnation) && !astray()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::history::{Link, MatchId};
    use gaggle_kit::SlotSet;

    fn link(history: u64) -> Link {
        Link { history: History(history), by: 0, number: 1, size: 1, stale: false }
    }

    fn status(incarnation: u32, history: u64) -> PeerStatus {
        let tip = Tip { game: MatchId::default(), depth: 0, links: vec![link(history)] };
        let incarnation = Incarnation(incarnation);
        PeerStatus { tip, incarnation, first: None, players: 1, wanted: SlotSet::EMPTY, knows: None }
    }

    #[test]
    fn gone_incarnation_never_returns() {
        let mut peer = Peer::default();
        peer.set_status(0, status(1, 10));
        assert!(!peer.is_gone(Incarnation(1)));
        peer.set_status(1, status(2, 10));
        assert!(peer.is_gone(Incarnation(1)) && !peer.is_gone(Incarnation(2)));
        assert_eq!(peer.status(0), None, "packets of the former stay mean nothing");
        peer.set_status(2, status(1, 10));
        assert_eq!(peer.latest().map(|s| s.incarnation), Some(Incarnation(2)));
        peer.set_gone(Incarnation(2));
        assert_eq!(peer.latest(), None);
    }

    #[test]
    fn peer_without_players_only_spectates() {
        let mut peer = Peer::default();
        peer.set_status(0, status(1, 10));
        assert!(!peer.may_come_in(), "it is in the roster");
        peer.observes = true;
        assert!(peer.may_come_in());
        peer.set_status(1, PeerStatus { players: 0, ..status(1, 10) });
        assert!(!peer.may_come_in(), "it needs no look in every tick");
    }

    #[test]
    fn tag_meaning_is_per_link() {
        let mut peer = Peer::default();
        peer.set_status(3, status(1, 10));
        peer.forget_tags();
        assert_eq!(peer.status(3), None, "what it means now is still under way");
        assert_eq!(peer.latest().map(|s| s.tip.history()), Some(History(10)));
        peer.set_status(3, status(1, 11));
        assert_eq!(peer.status(3).map(|s| s.tip.history()), Some(History(11)));
    }

    #[test]
    fn packets_may_refer_to_recent_statuses() {
        let mut peer = Peer::default();
        for tag in 0..20 {
            peer.set_status(tag, status(1, tag.into()));
        }
        assert_eq!(peer.status(19).map(|s| s.tip.history()), Some(History(19)));
        assert_eq!(peer.status(12).map(|s| s.tip.history()), Some(History(12)));
        assert_eq!(peer.status(11), None);
    }

    #[test]
    fn relation_from_whole_path_holds_while_both_advance() {
        let game = MatchId::default();
        let path = |from: u64| {
            let mut lineage = Lineage::founded(game, link(0));
            (1..60).for_each(|nth| lineage.push(link(from + nth)));
            lineage
        };
        let (mut ours, mut theirs) = (path(100), path(200));
        let mut peer = Peer::default();
        assert_eq!(peer.relation(&ours, &theirs.tip()), Relation::Unknown);
        peer.set_path(&ours, &theirs.whole());
        let senior = Relation::Apart { senior: true };
        assert_eq!(peer.relation(&ours, &theirs.tip()), senior);
        ours.push(link(300));
        theirs.push(link(301));
        assert_eq!(peer.relation(&ours, &theirs.tip()), senior);
        assert_eq!(peer.relation(&path(400), &theirs.tip()), Relation::Unknown, "this peer went elsewhere");
        assert_eq!(peer.relation(&ours, &path(500).tip()), Relation::Unknown, "it went elsewhere");
    }
}
