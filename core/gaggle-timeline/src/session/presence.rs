//! What follows from who is there: the ledger's rows, what is confirmed, and what people are told
//! of it.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};

use super::Session;
use super::gossip::SILENCE;
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{Fault, Mode};
use crate::remote::{Liveness, Peer};
use crate::roster::StreamId;

/// Where nobody comes or goes, the membership machine looks around once in so many ticks.
const THOROUGH_TICKS: u64 = 8;

impl<I: Input> Session<I> {
    /// The membership machine learns what the ledger took by itself.
    pub(super) fn sync_held(&mut self) {
        if self.held_news {
            self.held_news = false;
            self.membership.grow_own(self.ledger.local.newest());
            let tracks = self.ledger.tracks().iter();
            self.membership.grow(tracks.map(|track| (track.row.stream, track.since, track.have)));
        }
    }

    /// Time passes for the membership machine.
    #[inline]
    pub(super) fn tick_membership(&mut self) {
        if !self.running {
            return;
        }
        if !self.ticks.is_multiple_of(THOROUGH_TICKS) && self.membership.rest(self.now) {
            self.update_horizon();
            self.update_confirmed();
        } else {
            self.tick_thoroughly();
        }
    }

    #[inline(never)]
    fn tick_thoroughly(&mut self) {
        self.sync_held();
        for remote in self.remotes.iter().filter(|remote| remote.is_open) {
            self.membership.note_confirmed(remote.peer, remote.confirmed);
        }
        let silent = |at: Micros| self.now.since(at) >= SILENCE;
        let doubtful = |remote: &Peer| {
            let unheard_via = remote.heard_via.is_none_or(|(_, at)| silent(at));
            let fades = remote.reachable && silent(remote.heard_at) && unheard_via;
            // Its link ended, which others may know more about.
            let parted = !remote.reachable && self.now.since(remote.heard_at) < self.config.timeout;
            remote.is_open && (fades || parted)
        };
        self.membership.set_doubtful(self.remotes.iter().any(doubtful));
        self.membership.tick(self.now, &mut self.ledger);
        self.membership.tidy(&mut self.ledger);
        self.watch_standstill();
        self.follow_membership();
        self.forget_absent();
        self.watch_goodbye();
    }

    /// Something happened in the membership machine: the rest follows.
    pub(super) fn follow_membership(&mut self) {
        self.sync_roster();
        self.update_horizon();
        self.update_confirmed();
        self.watch_usurper();
        self.note_history();
        self.send_membership();
        if self.membership.take_lost().is_some() {
            self.lose_match();
        }
    }

    /// The ledger has the rows that are known, and remotes know whether they are in them.
    pub(super) fn sync_roster(&mut self) {
        if !self.membership.take_roster_changed() {
            return;
        }
        self.sync_held();
        let Session { membership, ledger, .. } = self;
        let held = |stream| membership.held(stream).map(|held| (held.first, held.through));
        ledger.set_rows(membership.known(), membership.confirmed(), held);
        self.everybody = None;
        self.note_strangers();
        let agreed = self.agreed_lately();
        for remote in &mut self.remotes {
            let known = self.membership.known().iter();
            let was_open = remote.is_open;
            remote.is_open = known.clone().any(|row| row.stream.peer == remote.peer && row.is_active());
            if remote.is_open && !was_open {
                // It took the state of a peer that agreed with all.
                remote.agreed = remote.agreed.max(agreed);
            }
            if !remote.is_open && self.seats.is_empty() {
                // It is missed no more, and may play again before anybody looks.
                remote.liveness_told = Liveness::Heard;
            }
            if let Some(meaning) = &mut remote.meaning {
                meaning.track = self.ledger.track_of(meaning.stream, meaning.players);
            }
        }
        self.update_horizon();
    }

    /// Somebody in the roster may have no link to us, now or ever: whoever told us of it hears it.
    fn note_strangers(&mut self) {
        for nth in 0..self.membership.known().len() {
            let peer = self.membership.known()[nth].stream.peer;
            let Err(index) = self.remotes.binary_search_by(|remote| remote.peer.cmp(&peer)) else { continue };
            if peer != self.local_peer {
                let mut remote = Peer::new(peer);
                remote.heard_via = self.joining.donor().map(|donor| (donor, self.now));
                self.remotes.insert(index, remote);
                self.outbox.close();
            }
        }
    }

    pub(super) fn update_horizon(&mut self) {
        self.received_frame = self.ledger.received_frame();
    }

    /// Frames are confirmed as far as everything in them is held.
    #[inline(always)]
    pub(super) fn update_confirmed(&mut self) {
        // This is looked at twice in a tick, and at least once there is nothing new.
        let member = self.membership.mode() == Mode::Member;
        if !member || self.received_frame.min(self.own_horizon()) > self.membership.confirmed() {
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
            let to = self.received_frame.min(self.own_horizon());
            if to <= confirmed {
                return;
            }
            let quiet_to = to.min(self.membership.quiet_until().previous());
            if quiet_to > confirmed {
                let present = match self.everybody {
                    Some(present) => present,
                    None => *self.everybody.insert(self.ledger.present_at(confirmed.next())),
                };
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

    /// Frame by frame, where the roster may change. True if anything was confirmed.
    fn confirm_slowly(&mut self) -> bool {
        let before = self.membership.confirmed();
        while let Some(frame) = self.membership.confirm_next() {
            self.everybody = None;
            let here = self.membership.rows().iter().filter(|row| row.is_present_at(frame));
            let present = here.fold(SlotSet::EMPTY, |set, row| set.union(row.slots));
            self.finish_frame(frame, present);
            self.tell_roster(frame);
            self.sync_roster();
            if self.membership.mode() == Mode::Member && frame < self.membership.quiet_until().previous() {
                break;
            }
        }
        self.membership.confirmed() > before
    }

    /// A frame's inputs are final. Where nobody sits nothing is pressed, whoever sat there before.
    fn finish_frame(&mut self, frame: Frame, present: SlotSet) {
        let empty = SlotSet::first(self.slot_count).difference(present);
        if !empty.is_empty() {
            self.ledger.table.clear_slots(frame, empty);
        }
        self.checks.confirm(frame, self.ledger.table.row(frame), present);
    }

    /// Up to which frame our own entries are there; for ever once we have said goodbye.
    fn own_horizon(&self) -> Frame {
        match self.membership.own_end() {
            Some(_) => Frame::NEVER.previous(),
            None => self.ledger.local.newest(),
        }
    }

    /// The others agreed on another view.
    pub(super) fn note_history(&mut self) {
        let history = self.membership.lineage().history();
        if self.reported_branch != Some(history) && self.membership.mode() != Mode::Out {
            if self.reported_branch.is_some() {
                let frame = self.membership.confirmed();
                self.events.push(SessionEvent::ViewChanged { frame });
            }
            self.reported_branch = Some(history);
            self.remotes.iter_mut().for_each(Peer::forget_told_checks);
        }
    }

    /// Our part ended against our will: we come in again, unless we were about to go.
    pub(super) fn lose_match(&mut self) {
        self.over |= self.leaving_since.is_some();
        self.stats.rejoins += 1;
        self.catching_up = false;
        if self.spectates && self.recovery.is_under_way() {
            // The state that is to make ours good is as good for coming in.
            return;
        }
        self.recovery.restart();
        self.joining.seek();
    }

    /// Whoever said goodbye may go once everybody has read it.
    fn watch_goodbye(&mut self) {
        let (Some(at), Some(end)) = (self.left_at, self.membership.own_end()) else {
            if self.leaving_since.is_some_and(|at| self.now.since(at) >= super::GOODBYE_PATIENCE) {
                self.over = true;
                self.membership.quit();
            }
            return;
        };
        let read = self.remotes.iter().filter(|r| r.is_open).all(|r| r.acked.is_some_and(|a| a >= end));
        let confirmed = self.membership.confirmed() >= end;
        if confirmed && read || self.now.since(at) >= super::LINGER {
            self.over = true;
            self.membership.quit();
        }
    }

    /// The frame the others are simulating right now, as far as their packets tell: what the one in
    /// the middle says, so that nobody far off alone counts, and of two in the middle the earlier.
    pub(super) fn present_frame(&self) -> Option<Frame> {
        let frame_us = self.frame.get() as i64;
        let mut told = Vec::new();
        for remote in self.remotes.iter().filter(|remote| remote.is_open) {
            let (Some((newest, at)), Some(rtt)) = (remote.newest, remote.clock.rtt()) else { continue };
            let under_way = rtt.get() as i64 / 2 + self.now.since(at).get() as i64;
            told.push(i64::from(newest.number()) - i64::from(remote.delay_frames) + under_way / frame_us);
        }
        gaggle_kit::insertion_sort(&mut told, |frame| *frame);
        let middle = *told.get(told.len().saturating_sub(1) / 2)?;
        // Inputs are told no more than a reach before they are played.
        let oldest = self.membership.confirmed().saturating_sub(self.config.reach_frames());
        let middle = Frame::new(middle.clamp(0, i64::from(u32::MAX - 1)) as u32);
        Some(middle.max(oldest))
    }

    /// What the membership machine finds wrong is the fault of whoever said it.
    pub(super) fn blame(&mut self, index: usize, result: Result<(), Fault>) {
        let giver = self.remotes[index].peer;
        if let Some((stream, frame)) = self.membership.take_contested() {
            self.note_contested(giver, stream, frame);
        }
        if let Err(fault) = result {
            let fault = match fault {
                Fault::EntryChanged { stream, frame } if stream.peer == self.remotes[index].peer => {
                    PeerFault::InputChanged { frame }
                }
                Fault::EntryChanged { stream, frame } => {
                    self.note_contested(giver, stream, frame);
                    return;
                }
                Fault::Value(error) => PeerFault::Malformed(error),
                Fault::BallotLeap { number } => PeerFault::BallotTooHigh { number },
                Fault::ViewUnasked { number } => PeerFault::UnsolicitedView { number },
                Fault::NoSuchSlots => PeerFault::UnknownSlots,
                Fault::ReportFalse => PeerFault::FalseReport,
                Fault::PlayersChanged { players, seats } => PeerFault::SlotCountChanged { players, seats },
            };
            self.fault(index, fault);
        }
    }

    /// Somebody holds another entry of a third machine than we do: that one told us different
    /// things, or the giver lies. Nobody is thrown out on one's word against another's.
    fn note_contested(&mut self, peer: PeerId, stream: StreamId, frame: Frame) {
        let owner = self.remotes.iter_mut().find(|remote| remote.peer == stream.peer);
        if let Some(owner) = owner.filter(|owner| !owner.contested) {
            owner.contested = true;
            self.events.push(SessionEvent::InputsDiverged { peer, frame, suspect: Some(stream.peer) });
        }
        self.accuse(peer, stream.peer, frame);
    }

    /// Somebody holds other entries of a third machine than we do, so one of the two lies. One's
    /// word against another's decides nothing, unless there is nobody else to ask: but what most of
    /// the others say does. Whoever does not play has no say.
    pub(super) fn accuse(&mut self, accuser: PeerId, accused: PeerId, frame: Frame) {
        let Some(index) = self.remote_index(accused) else { return };
        if !self.remote_index(accuser).is_some_and(|index| self.remotes[index].is_open) {
            return;
        }
        let others = self.remotes.iter().filter(|r| r.is_open && r.is_trusted() && r.peer != accused).count();
        let accusers = &mut self.remotes[index].accusers;
        if !accusers.contains(&accuser) {
            accusers.push(accuser);
        }
        if accuser == accused || accusers.len() * 2 > others {
            self.fault(index, PeerFault::Equivocation { frame });
        }
    }

    /// Whoever admits somebody without being the lead can only mean harm.
    fn watch_usurper(&mut self) {
        if let Some((stream, frame)) = self.membership.take_usurper()
            && let Some(index) = self.remote_index(stream.peer)
        {
            self.fault(index, PeerFault::NotLeader { frame });
        }
    }

    /// How far a joiner's entries may lag behind ours when we admit it.
    pub(super) fn set_lags(&mut self) {
        for remote in self.remotes.iter().filter(|remote| !remote.is_open) {
            if remote.one_way_percent < u32::MAX {
                self.membership.set_lag(remote.peer, remote.one_way_percent.div_ceil(100) + 1);
            }
        }
    }
}
