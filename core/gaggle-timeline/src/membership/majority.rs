//! Majorities: an optional rule by which a view counts once more than half of the members accepted
//! it.
//!
//! View changes call it. Absent: how reports are collected.

use gaggle_kit::{PeerId, VecSet};

use super::ballot::Ballot;
use super::entry_range::EntryRange;
use super::history::Relation;
use super::messages::{Message, Proposal, Told};
use super::rows::{self, RosterEntry};
use super::view::View;
use super::{Fault, Membership, Mode};
use crate::entries::Entries;
use crate::roster::StreamId;

/// Whether these streams may decide what follows `view`: more than half of its open streams, or
/// exactly half including the first of them.
pub(super) fn is_quorum(view: &View, streams: impl Fn(StreamId) -> bool) -> bool {
    let mut voters = view.rows.iter().filter(|row| row.is_active()).peekable();
    let first = view.rows.iter().filter(|row| row.is_active()).min_by_key(|row| row.rank());
    if voters.peek().is_none() {
        return false;
    }
    let (mut all, mut ours) = (0, 0);
    for row in voters {
        all += 1;
        ours += usize::from(streams(row.stream));
    }
    ours * 2 > all || ours * 2 == all && first.is_some_and(|first: &RosterEntry| streams(first.stream))
}

impl Membership {
    /// Whether `circle`, the quorum members, may make a child of `view`.
    pub(super) fn may_decide(&self, view: &View, circle: &[StreamId]) -> bool {
        !self.settings.majority || is_quorum(view, |stream| circle.contains(&stream))
    }

    /// Whether the reachable peers may change the view without this stream.
    pub(super) fn decide_without(&self, stream: StreamId) -> bool {
        let here = |voter: StreamId| voter != stream && (voter == self.me || self.is_reachable(voter));
        !self.settings.majority || is_quorum(&self.electorate(&self.view, &self.known), here)
    }

    /// Whether the reachable peers may go on without all streams under eviction. Otherwise two
    /// peers that evict each other after a stall could never make the view that needs both.
    pub(super) fn may_do_without_evicted(&self) -> bool {
        let here = |voter: StreamId| {
            let is_here =
                || self.peers.is_reachable(&self.lineage, voter) && !self.watch.evicted().contains(&voter);
            voter == self.me || is_here()
        };
        let is_enough = || is_quorum(&self.electorate(&self.view, &self.known), here);
        !self.settings.majority || !self.rules.needed_are_kept || is_enough()
    }

    /// Voters, if there is a majority rule: more than half of them must agree to end any stay.
    pub(crate) fn voters(&self) -> Vec<StreamId> {
        let electorate = self.electorate(&self.view, &self.known);
        let mut voters: Vec<RosterEntry> =
            electorate.rows.into_iter().filter(RosterEntry::is_active).collect();
        gaggle_kit::insertion_sort(&mut voters, RosterEntry::rank);
        voters.into_iter().map(|row| row.stream).collect()
    }

    /// Joins add no voters: with a majority the leader makes a view that contains the joiners,
    /// without a cut.
    pub(super) fn voters_are_missing(&self) -> bool {
        self.settings.majority
            && self.rows.iter().any(|row| row.is_active() && !self.view.is_open(row.stream))
    }

    /// Whether a known joiner votes only in the next view: if all present voters left before that,
    /// no peer could ever make a view.
    pub(super) fn joiners_have_no_vote(&self) -> bool {
        let came = || self.known.iter().any(|row| row.is_active() && !self.view.is_open(row.stream));
        self.settings.majority && self.rules.goodbyes_end_votes && came()
    }

    /// Voters on the view that follows `view`: its members that have not said goodbye, as known so
    /// far.
    ///
    /// No peer writes a goodbye while it has an open promise, and a peer that wrote one votes no
    /// more. So any two quorums have a voter in common, whether or not they know of the goodbye;
    /// and a few goodbyes and one crash leave enough voters.
    pub(super) fn electorate(&self, view: &View, rows: &[RosterEntry]) -> View {
        let mut electorate = view.clone();
        if self.rules.goodbyes_end_votes {
            electorate.rows.retain(|row| !row.is_active() || rows::is_open(rows, row.stream));
        }
        electorate
    }

    /// Proposes a view for the vote.
    pub(super) fn propose(
        &mut self,
        told: Told,
        tails: Vec<EntryRange>,
        circle: &[StreamId],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let me = self.me;
        let Some(collection) = &mut self.collection else { return Ok(()) };
        let ballot = collection.ballot;
        let proposal = Proposal { ballot, told, tails };
        collection.circle = circle.to_vec();
        collection.proposal = Some(proposal.clone());
        collection.accepted_by = VecSet::from_iter([me]);
        self.accepted = Some(proposal);
        self.ask_for_acceptance();
        self.finish_vote(entries)
    }

    /// Asks all quorum members to accept the proposal.
    pub(super) fn ask_for_acceptance(&mut self) {
        let Some(collection) = &self.collection else { return };
        let Some(Proposal { ballot, told, tails }) = collection.proposal.clone() else { return };
        for stream in collection.circle.clone() {
            let (told, tails) = (told.clone(), tails.clone());
            self.send(stream.peer, Message::Accept { told, ballot, tails });
        }
    }

    pub(super) fn take_accept(
        &mut self,
        from: PeerId,
        told: Told,
        ballot: Ballot,
        tails: Vec<EntryRange>,
    ) -> Result<(), Fault> {
        if self.mode != Mode::Member || !self.settings.majority {
            return Ok(());
        }
        self.see_number(ballot.number)?;
        let incarnation = self.me.incarnation;
        if told.view.history == self.view.history {
            self.send(from, Message::Accepted { incarnation, ballot });
            return Ok(());
        }
        // Its parent must be the current view, or a later one of this branch.
        if self.peers.entry(from).relation(&self.lineage, &told.tip) != Relation::Descendant {
            return Ok(());
        }
        if ballot < self.fence.promised() {
            let promised = self.fence.promised();
            self.send(from, Message::Nack { incarnation, promised });
            return Ok(());
        }
        self.fence.raise(ballot);
        self.epoch.advance();
        self.accepted = Some(Proposal { ballot, told, tails });
        self.send(from, Message::Accepted { incarnation, ballot });
        Ok(())
    }

    pub(super) fn take_accepted(
        &mut self,
        by: StreamId,
        ballot: Ballot,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if let Some(collection) = &mut self.collection
            && collection.ballot == ballot
            && collection.proposal.is_some()
        {
            collection.accepted_by.insert(by);
            self.finish_vote(entries)?;
        }
        Ok(())
    }

    /// Makes the view once a quorum accepted it, even if it does not contain this peer.
    fn finish_vote(&mut self, entries: &mut dyn Entries) -> Result<(), Fault> {
        let Some(collection) = &self.collection else { return Ok(()) };
        let Some(proposal) = &collection.proposal else { return Ok(()) };
        let Some(parent) = &collection.parent else { return Ok(()) };
        if !is_quorum(parent, |stream| collection.accepted_by.contains(&stream)) {
            return Ok(());
        }
        let Proposal { told, tails, .. } = proposal.clone();
        self.make(&told, &tails, entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::history::MatchId;
    use crate::roster::Incarnation;
    use gaggle_kit::{Frame, SlotSet};

    #[test]
    fn half_is_quorum_only_with_first_in_rank() {
        let stream = |n: u128| StreamId { peer: PeerId::from_u128(n), incarnation: Incarnation(0) };
        let view = |open: usize, ended: usize| {
            let rows = (0..open + ended).map(|nth| RosterEntry {
                stream: stream(nth as u128),
                slots: SlotSet::from_bits(1 << nth),
                first_frame: Frame::new(1),
                last_frame: if nth < open { Frame::NEVER } else { Frame::new(4) },
            });
            View::founding(MatchId::default(), rows.collect())
        };
        let decides = |view: &View, who: &[u128]| is_quorum(view, |s| who.iter().any(|n| stream(*n) == s));
        assert!(decides(&view(2, 1), &[0]));
        assert!(!decides(&view(2, 0), &[1]));
        assert!(decides(&view(3, 2), &[1, 2]));
        assert!(!decides(&view(3, 2), &[2, 3, 4]), "who has left has no vote");
        assert!(!decides(&view(4, 0), &[1, 2]));
        assert!(decides(&view(4, 0), &[0, 3]));
    }
}
