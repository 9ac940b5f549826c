//! Consequences of a change of roster, peers or held entries: input rows, confirmed frames, events,
//! messages, faults.
//!
//! Every handler and tick ends here. Absent: rules of any part.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};
use gaggle_link::CloseCode;

#[cfg(debug_assertions)]
use super::invariants;
use super::{HANDSHAKE_STEPS, Session};
use crate::announce::{Announce, Message};
use crate::event::{PeerFault, SessionEvent};
use crate::gossip::SILENCE;
use crate::lifecycle::LifecycleAction;
use crate::membership::{self, Blame, Fault, Known, Mode, PeerStatus};
use crate::peers::{Liveness, Peer, own_announce, refusal};
use crate::roster::StreamId;

/// While no peer joins or leaves, membership is ticked once in this many ticks.
const THOROUGH_TICKS: u64 = 8;

impl<I: Input> Session<I> {
    /// Ends every handler and tick: carries out what a change of membership made due, and checks
    /// what holds between two calls.
    #[inline]
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.unsettled) {
            self.follow_membership();
        }
        #[cfg(debug_assertions)]
        self.assert_invariants();
    }

    #[cfg(debug_assertions)]
    fn assert_invariants(&self) {
        if self.membership.mode() == Mode::Member {
            let window = self.cx.config.prediction_frames_max();
            let own = self.own_frames_through();
            invariants::check_frames(&self.log, own, self.membership.confirmed(), window);
        }
        if !self.life.is_gathering() {
            invariants::check_liveness(&self.peers);
        }
    }

    /// Tells membership about entries that the input log took.
    pub(super) fn sync_held(&mut self) {
        if self.log.take_news() {
            self.membership.grow_own(self.log.local().newest());
            let tracks = self.log.tracks().iter();
            self.membership.grow(tracks.map(|track| (track.row.stream, track.since, track.have)));
        }
    }

    /// Advances time for membership.
    #[inline]
    pub(super) fn tick_membership(&mut self) {
        if !self.life.is_running() {
            return;
        }
        if !self.cx.ticks.is_multiple_of(THOROUGH_TICKS) && self.membership.rest(self.cx.now) {
            self.log.update_received();
            self.update_confirmed();
        } else {
            self.tick_thoroughly();
        }
    }

    #[inline(never)]
    fn tick_thoroughly(&mut self) {
        self.sync_held();
        for remote in self.peers.open() {
            self.membership.note_confirmed(remote.peer, remote.stream.confirmed());
        }
        let silent = |at: Micros| self.cx.now.since(at) >= SILENCE;
        let doubtful = |remote: &Peer| {
            let unheard_via = remote.presence.heard_via().is_none_or(|(_, at)| silent(at));
            let fades = remote.presence.is_reachable() && silent(remote.presence.heard_at()) && unheard_via;
            // Its link ended, and other peers may know the reason.
            let parted = !remote.presence.is_reachable()
                && self.cx.now.since(remote.presence.heard_at()) < self.cx.config.timeout;
            remote.is_open && (fades || parted)
        };
        self.membership.set_doubtful(self.peers.iter().any(doubtful));
        self.membership.tick(self.cx.now, &mut self.log);
        self.membership.tidy(&mut self.log);
        self.watch_standstill();
        self.follow_membership();
        self.forget_absent();
        self.watch_goodbye();
    }

    /// Carries out the consequences of a change of membership.
    pub(super) fn follow_membership(&mut self) {
        self.sync_roster();
        self.log.update_received();
        self.update_confirmed();
        self.watch_false_leader();
        self.note_history();
        self.send_membership();
        if self.membership.take_lost().is_some() {
            self.lose_match();
        }
    }

    /// Gives the known rows to the input log, and notes which peers are in them.
    pub(super) fn sync_roster(&mut self) {
        if !self.membership.take_roster_changed() {
            return;
        }
        self.sync_held();
        let Session { membership, log, .. } = self;
        let held = |stream| membership.held(stream).map(|held| (held.first(), held.through()));
        log.set_rows(membership.known(), membership.confirmed(), held);
        self.log.forget_present();
        self.note_strangers();
        let agreed = self.agreed_lately();
        for remote in self.peers.iter_mut() {
            let known = self.membership.known().iter();
            let is_open = known.clone().any(|row| row.stream.peer == remote.peer && row.is_active());
            remote.set_open(is_open, agreed, self.life.is_gathering());
            if let Some(meaning) = remote.hello.meaning_mut() {
                meaning.track = self.log.track_of(meaning.stream, meaning.players);
            }
        }
        self.log.update_received();
    }

    /// A peer in the roster may have no link to this one: announces this peer through the peers
    /// that know it.
    fn note_strangers(&mut self) {
        for nth in 0..self.membership.known().len() {
            let peer = self.membership.known()[nth].stream.peer;
            if peer == self.cx.local_peer {
                continue;
            }
            let (index, is_new) = self.peers.find_or_insert(peer);
            if is_new {
                let donor = self.joiner.donor();
                let heard_via = donor.map(|donor| (donor, self.cx.now));
                self.peers[index].presence.set_heard_via(heard_via);
                self.sender.close();
            }
        }
    }

    /// Confirms frames whose entries are all held.
    #[inline(always)]
    pub(super) fn update_confirmed(&mut self) {
        // Called twice per tick, at least once without new entries.
        let member = self.membership.mode() == Mode::Member;
        if !member || self.log.received().min(self.own_frames_through()) > self.membership.confirmed() {
            self.confirm_held();
        }
    }

    #[inline(never)]
    fn confirm_held(&mut self) {
        if self.membership.mode() != Mode::Member {
            self.sync_held();
            self.confirm_slowly();
            return;
        }
        loop {
            let confirmed = self.membership.confirmed();
            let to = self.log.received().min(self.own_frames_through());
            if to <= confirmed {
                return;
            }
            let quiet_to = to.min(self.membership.quiet_until().previous());
            if quiet_to > confirmed {
                let present = self.log.present_from(confirmed.next());
                debug_assert!(
                    !self.membership.is_roster_changed(),
                    "frames are confirmed under a roster that the input log does not know"
                );
                for number in confirmed.next().number()..=quiet_to.number() {
                    self.finish_frame(Frame::new(number), present);
                }
                self.membership.confirm_to(quiet_to);
            } else {
                self.sync_held();
                if !self.confirm_slowly() {
                    return;
                }
            }
        }
    }

    /// Confirms frame by frame where the roster may change. True if any was confirmed.
    fn confirm_slowly(&mut self) -> bool {
        let before = self.membership.confirmed();
        while let Some(frame) = self.membership.confirm_next() {
            self.log.forget_present();
            let here = self.membership.rows().iter().filter(|row| row.is_present_at(frame));
            let present = here.fold(SlotSet::EMPTY, |set, row| set.union(row.slots));
            self.finish_frame(frame, present);
            self.roster_events.observe(&mut self.cx.events, self.membership.rows(), frame);
            self.sync_roster();
            if self.membership.mode() == Mode::Member && frame < self.membership.quiet_until().previous() {
                break;
            }
        }
        self.membership.confirmed() > before
    }

    fn finish_frame(&mut self, frame: Frame, present: SlotSet) {
        self.log.finish_frame(frame, present);
        self.audit.confirm(frame, self.log.past().row(frame), present);
    }

    /// Frame up to which own entries exist; unlimited after the goodbye.
    fn own_frames_through(&self) -> Frame {
        match self.membership.own_end() {
            Some(_) => Frame::NEVER.previous(),
            None => self.log.local().newest(),
        }
    }

    /// Reports that the others agreed on another view.
    pub(super) fn note_history(&mut self) {
        let (branch, confirmed) = (self.membership.lineage().history(), self.membership.confirmed());
        if self.membership.mode() != Mode::Out
            && self.roster_events.observe_branch(&mut self.cx.events, branch, confirmed)
        {
            self.peers.iter_mut().for_each(|remote| remote.audit.forget_told());
        }
    }

    /// Lets a peer that said goodbye close once all have read its last entry.
    fn watch_goodbye(&mut self) {
        let is_read = |end| {
            let mut open = self.peers.open();
            open.all(|r| r.stream.acked().is_some_and(|acked| acked >= end))
        };
        let (end, confirmed) = (self.membership.own_end(), self.membership.confirmed());
        if let Some(LifecycleAction::Quit) = self.life.tick(self.cx.now, end, confirmed, is_read) {
            self.membership.quit();
        }
    }

    /// Frame the other peers are simulating now, from their packets: the median, so that no single
    /// peer decides, and of two in the middle the earlier.
    pub(super) fn present_frame(&self) -> Option<Frame> {
        let present = self.peers.present_frame(self.cx.now, self.cx.frame)?;
        // Inputs are sent at most one lookahead before their frame is simulated.
        let oldest = self.membership.confirmed().saturating_sub(self.cx.config.lookahead_frames());
        Some(present.max(oldest))
    }

    /// Turns a fault that membership found into one of the peer that sent it.
    pub(super) fn blame(&mut self, index: usize, result: Result<(), Fault>) {
        let giver = self.peers[index].peer;
        if let Some((stream, frame)) = self.membership.take_contested() {
            self.note_contested(giver, stream, frame);
        }
        if let Err(fault) = result {
            let fault = match fault.of(self.peers[index].peer) {
                Blame::Sender(fault) => fault,
                Blame::Contested { stream, frame } => {
                    self.note_contested(giver, stream, frame);
                    return;
                }
            };
            self.fault(index, fault);
        }
    }

    /// A peer holds another entry of a third stream than this one: either the owner sent different
    /// values, or that peer lies. No peer is evicted because of a single other one.
    fn note_contested(&mut self, peer: PeerId, stream: StreamId, frame: Frame) {
        let owner = self.peers.get_mut(stream.peer);
        if owner.is_some_and(|owner| owner.audit.contest()) {
            self.cx.events.push(SessionEvent::InputsDiverged { peer, frame, suspect: Some(stream.peer) });
        }
        self.accuse(peer, stream.peer, frame);
    }

    /// A peer reports other entries of a third stream, so the owner or the reporter lies. One
    /// report decides nothing, unless no other peer can be asked; the reports of most peers do.
    /// Spectators do not count.
    pub(super) fn accuse(&mut self, accuser: PeerId, accused: PeerId, frame: Frame) {
        let Some(index) = self.peers.index_of(accused) else { return };
        if !self.peers.index_of(accuser).is_some_and(|index| self.peers[index].is_open) {
            return;
        }
        let others = self.peers.iter().filter(|r| r.is_open && r.is_trusted() && r.peer != accused).count();
        let accusers = self.peers[index].audit.accuse(accuser);
        if accuser == accused || accusers * 2 > others {
            self.fault(index, PeerFault::Equivocation { frame });
        }
    }

    /// Reports a violation of a peer that admits a joiner without leading.
    fn watch_false_leader(&mut self) {
        if let Some((stream, frame)) = self.membership.take_false_leader()
            && let Some(index) = self.peers.index_of(stream.peer)
        {
            self.fault(index, PeerFault::NotLeader { frame });
        }
    }

    /// Sets how far a joiner's entries may lag behind the local ones when it is admitted.
    pub(super) fn set_lags(&mut self) {
        for remote in self.peers.iter().filter(|remote| !remote.is_open) {
            if remote.time.one_way_percent() < u32::MAX {
                self.membership.set_lag(remote.peer, remote.time.one_way_percent().div_ceil(100) + 1);
            }
        }
    }

    /// Announces this peer and its settings.
    pub(super) fn say_hello(&mut self, peer: PeerId) {
        let cohort = self.life.cohort(self.cx.config.match_id);
        if let Some(index) = self.peers.index_of(peer) {
            self.peers[index].hello.begin_cohort(cohort);
        }
        let slots = self.life.seat_of(self.cx.local_peer).unwrap_or_default();
        let announce =
            Message::Announce(own_announce(&self.cx, self.membership.me().incarnation, slots, cohort));
        let bytes = self.cx.outbox.message(peer);
        announce.encode(bytes);
    }

    /// Peers that start together know each other's status and assume it from the first packet on:
    /// the match begins at once, even if packets are lost.
    pub(super) fn imply_statuses(&mut self, cohort: u64) {
        let Some(own) = self.membership.status() else { return };
        for index in 0..self.peers.len() {
            let Peer { peer, ref hello, .. } = self.peers[index];
            let row = self.membership.known().iter().find(|row| row.stream.peer == peer).copied();
            let Some(row) = row.filter(|_| hello.shares_cohort(cohort)) else { continue };
            let knows = |incarnation| Some(Known { incarnation, first: row.first_frame });
            let theirs = PeerStatus {
                incarnation: row.stream.incarnation,
                players: row.slots.len() as u8,
                wanted: row.slots,
                knows: knows(own.incarnation),
                ..own.clone()
            };
            if self.membership.imply_status(peer, theirs) {
                let ours = PeerStatus { knows: knows(row.stream.incarnation), ..own.clone() };
                self.peers[index].hello.told_mut().imply(ours);
            }
        }
    }

    /// Sends this peer's status to all peers that do not have it.
    pub(super) fn tell_status(&mut self) {
        let Session { cx, membership, peers, .. } = self;
        let epoch = membership.epoch().number();
        for remote in peers.iter_mut() {
            let told = remote.tell_status(cx.now, epoch, |peer| membership.status_for(peer));
            if let Some((tag, status)) = told {
                membership::Message::PeerStatus { tag, status }.encode(cx.outbox.message(remote.peer));
            }
        }
    }

    /// Sends the messages of membership, through another peer where needed.
    pub(super) fn send_membership(&mut self) {
        while let Some((to, message)) = self.membership.next_message() {
            if message == membership::Message::AskSnapshot {
                self.seek_from(to);
                continue;
            }
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            self.send_forward(to, &bytes);
        }
    }

    /// Measures how long the match waits for each stream, and evicts those it waits for too long.
    pub(super) fn watch_standstill(&mut self) {
        let Some(span) = self.time.stall_span(self.cx.now) else { return };
        let Session { cx, log, peers, membership, time, .. } = self;
        for track in log.awaited() {
            let stream = track.row.stream;
            let Some(owner) = peers.get_mut(stream.peer) else { continue };
            // An unreachable peer cannot send anything: suspicions handle that.
            if !owner.presence.is_reachable() {
                continue;
            }
            // Reports that others hear a peer count no longer than a silent peer is waited for.
            let timeout = match owner.presence.liveness() {
                Liveness::Heard => cx.config.evict_stalled_after,
                Liveness::Interrupted | Liveness::Gone => {
                    cx.config.evict_stalled_after.max(cx.config.timeout)
                }
            };
            if time.is_overdue(owner.presence.stall_timer_mut(), stream, track.have, span, timeout) {
                membership.evict_idle(cx.now, stream);
            }
        }
    }

    pub(super) fn take_announce(&mut self, index: usize, announce: &Announce) {
        let peer = self.peers[index].peer;
        // A peer that arrives late, or again, still announces the slots it was given: it does not
        // know that the match began.
        let given = self.life.given_slots(peer);
        if let Some(reason) = refusal(&self.cx, announce, given) {
            _ = self.peers.reject(index, CloseCode::INCOMPATIBLE);
            self.cx.events.push(SessionEvent::Rejected { peer, reason });
            return;
        }
        let remote = &mut self.peers[index];
        if remote.is_trusted() {
            self.fault(index, PeerFault::DuplicateAnnounce);
            return;
        }
        self.membership.handle_link(peer);
        if remote.hello.handle_announce(announce) {
            self.membership.handle_hello(peer, announce.incarnation);
        }
        remote.presence.greet(self.cx.now);
        self.cx.events.push(SessionEvent::Synchronizing { peer, count: 1, total: HANDSHAKE_STEPS });
        let change = self.peers.judge_reachable(index, &self.cx);
        self.note_reach(change);
    }

    pub(super) fn note_heard(&mut self, index: usize) {
        let remote = &mut self.peers[index];
        let peer = remote.peer;
        if remote.presence.liveness() != Liveness::Heard {
            self.set_heard(index);
        }
        let remote = &mut self.peers[index];
        if remote.time.clock().is_known() && remote.hello.synchronize() {
            self.cx.events.push(SessionEvent::Synchronizing {
                peer,
                count: HANDSHAKE_STEPS,
                total: HANDSHAKE_STEPS,
            });
            self.cx.events.push(SessionEvent::Synchronized { peer });
            self.start_when_ready();
        }
    }

    /// Turns an error of a part into a fault of the sender.
    pub(super) fn fault_if(&mut self, index: usize, taken: Result<(), PeerFault>) {
        if let Err(fault) = taken {
            self.fault(index, fault);
        }
    }

    pub(super) fn fault(&mut self, index: usize, fault: PeerFault) {
        if !self.peers.reject(index, CloseCode::PROTOCOL_ERROR) {
            return;
        }
        let peer = self.peers[index].peer;
        self.cx.events.push(SessionEvent::PeerFault { peer, fault });
        self.set_gone(index);
    }
}
