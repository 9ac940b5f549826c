//! Calls between the parts of a session: decisions of one part that another one carries out.
//!
//! `Session` calls. Absent: rules of any part.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};

use super::Session;
use crate::announce::{Findings, Message};
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::desync::{Conclusion, Difference, Vote, Voter, stream_hashes};
use crate::event::{DesyncCause, SessionEvent};
use crate::gossip::{Gossip, NEEDS_MAX, SILENCE, heard_age, heard_at, held_range, may_be_true};
use crate::join::{Asker, Joining, Progress};
use crate::membership::{self, History, Mode, Relation, row_of};
use crate::packet::CheckBlock;
use crate::peers::{Liveness, Peer};
use crate::relay::{Backfill, Other};
use crate::request::SimId;
use crate::roster::StreamId;
use crate::transfer::{self, Offer};

impl<I: Input> Session<I> {
    /// Peers whose agreement is needed to go on without a silent one, in join order: with
    /// [`Quorum::Majority`](crate::Quorum::Majority) more than half of these, or half including the
    /// first. A recent joiner has a vote from the next view on. While too few of them are heard all
    /// wait: the application may [leave](Session::leave) for a match of its own.
    pub fn quorum_members(&self) -> Vec<StreamId> {
        self.membership.voters()
    }

    /// Slots that are present at a frame.
    pub fn slots_at(&self, frame: Frame) -> SlotSet {
        self.log.present_at(frame)
    }

    /// Peer that leads at a frame: the first in join order.
    pub fn leader_at(&self, frame: Frame) -> Option<PeerId> {
        membership::leader_at(self.membership.known(), frame).map(|row| row.stream.peer)
    }

    /// Identity of the branch this peer is in: peers with the same one agree on all confirmed
    /// frames. It changes when a peer falls silent and the others go on without it.
    pub fn branch_id(&self) -> u64 {
        self.membership.lineage().history().0
    }

    /// Time since a peer in the match was heard; none for peers that are not in it.
    pub fn time_since_heard(&self, peer: PeerId) -> Option<Micros> {
        let remote = self.peers.iter().find(|remote| remote.peer == peer && remote.is_open);
        remote.map(|remote| self.cx.now.since(remote.presence.heard_at()))
    }

    /// Whether a state hash of every other peer in the match was compared with the local one since
    /// that peer joined. False for a peer that is alone: nothing was compared.
    pub fn is_compared(&self) -> bool {
        let mut others = self.peers.open().peekable();
        others.peek().is_some() && others.all(|remote| remote.audit.is_compared())
    }

    /// The last frame whose hashes were equal with all members, or that was hashed if this peer is
    /// alone.
    pub(super) fn agreed_lately(&self) -> Frame {
        match self.peers.iter().any(|remote| remote.is_open) {
            true => self.peers.agreed_by_all(),
            false => self.audit.newest().map_or(Frame::START, |own| own.frame),
        }
    }

    pub(super) fn take_own_hash(&mut self, frame: Frame, hash: Option<u64>) {
        if !self.audit.take_own_hash(frame, hash) {
            return;
        }
        for index in 0..self.peers.len() {
            let remote = &mut self.peers[index];
            for check in remote.audit.take_waiting(frame).into_iter().flatten() {
                let remote = &mut self.peers[index];
                let found = self.audit.compare(&mut remote.audit, remote.peer, check, !self.cx.spectates);
                self.take_difference(found);
            }
        }
    }

    pub(super) fn take_check(&mut self, index: usize, frame: Frame, block: CheckBlock) {
        let remote = &mut self.peers[index];
        // A spectator takes the members' state and does not make them audit a difference.
        let is_audited = !self.cx.spectates;
        let told = (frame, block);
        let found = self.audit.handle_checksum(&mut remote.audit, remote.peer, told, is_audited);
        self.take_difference(found);
    }

    fn take_difference(&mut self, found: Option<Difference>) {
        if let Some(Difference { frame, event }) = found {
            self.peers.disturb();
            self.recovery.note_difference(frame, self.cx.now);
            event.into_iter().for_each(|event| self.cx.events.push(event));
        }
    }

    /// Whether a difference is under audit, or waits for one.
    pub(super) fn is_audit_open(&self) -> bool {
        self.audit.is_open() || self.peers.iter().any(|remote| remote.audit.has_difference())
    }

    /// Audits one difference after the other, each with a time limit.
    pub(super) fn tick_audit(&mut self) {
        let there = |peer: PeerId| {
            let with = self.peers.get(peer);
            with.is_some_and(|remote| remote.is_trusted() && remote.presence.liveness() != Liveness::Gone)
        };
        if let Some(peer) = self.audit.tick(self.cx.now, there) {
            self.sim.end_side();
            self.cx.events.push(SessionEvent::DesyncLocated { peer, cause: DesyncCause::Unknown });
        }
        if self.audit.is_open() {
            return;
        }
        let mut trusted = self.peers.iter_mut().filter(|remote| remote.is_trusted());
        let Some(remote) = trusted.find(|remote| remote.audit.has_difference()) else { return };
        let Some(own) = remote.audit.take_difference() else { return };
        let (peer, remote) = (remote.peer, &*remote);
        let Session { log, membership, cx, audit, .. } = self;
        let confirmed = membership.confirmed();
        let kept = |frame| log.is_kept(frame, confirmed, cx.config.lookahead_frames());
        let streams = |from: Frame, to| match kept(from.next()) {
            true => stream_hashes(log, membership.rows().iter(), from, to),
            false => Vec::new(),
        };
        if let Some((from, to)) = audit.open(cx.now, (peer, &remote.audit), own, kept, streams) {
            self.sim.begin_side(SimId::Audit, from, to);
        }
    }

    pub(super) fn take_side_hash(&mut self, hash: Option<u64>) {
        if !self.audit.take_side_hash(hash) {
            self.sim.stop_side();
        }
    }

    pub(super) fn tell_findings(&mut self) {
        if let Some((with, findings)) = self.audit.findings() {
            Message::Findings(findings).encode(self.cx.outbox.message(with));
            self.conclude_audit();
        }
    }

    pub(super) fn take_findings(&mut self, index: usize, findings: Findings) {
        let Peer { peer, is_open, .. } = self.peers[index];
        if self.membership.relation_of(peer) != Some(Relation::Same) || !is_open {
            // In another branch other inputs count; and a peer that does not play accuses no other.
            return;
        }
        let Session { log, membership, cx, audit, peers, .. } = self;
        let streams = |from: Frame, to| {
            let is_kept = log.is_kept(from.next(), membership.confirmed(), cx.config.lookahead_frames());
            let rows = membership.rows().iter().filter(|_| is_kept);
            stream_hashes(log, rows, from, to)
        };
        let found = audit.handle_findings(&mut peers[index].audit, peer, findings, streams);
        self.take_difference(found);
        self.conclude_audit();
    }

    fn conclude_audit(&mut self) {
        let Some(index) = self.audit.awaited().and_then(|with| self.peers.index_of(with)) else { return };
        match self.audit.conclude(&mut self.peers[index].audit) {
            Some(Conclusion::Inputs { with: peer, suspect, frame }) => {
                let event = SessionEvent::InputsDiverged { peer, frame, suspect: Some(suspect) };
                self.cx.events.push(event);
                self.accuse(peer, suspect, frame);
            }
            Some(Conclusion::Cause { with: peer, cause, both_changed }) => {
                self.recovery.note_cause(peer, cause, both_changed);
                self.cx.events.push(SessionEvent::DesyncLocated { peer, cause });
            }
            None => {}
        }
    }

    /// Whether a wrong local state is being replaced with another peer's.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_under_way()
    }

    pub(super) fn tick_recovery(&mut self) {
        if self.recovery.is_under_way() && !self.joiner.is_busy() {
            // The donor left or declined. The difference remains: the next check finds it.
            self.recovery.retry_without(self.joiner.given_up());
            self.forget_differences();
            self.look_on();
        }
        let is_member = self.membership.mode() == Mode::Member && !self.joiner.is_busy();
        let is_able = if self.cx.spectates { self.joiner.is_fed() } else { is_member };
        let Some(frame) = self.recovery.due(self.cx.now, is_able, self.is_audit_open()) else { return };
        let rank = |peer| {
            let mut open = self.membership.known().iter().filter(|row| row.is_active());
            let row = open.find(|row| row.stream.peer == peer)?;
            Some((row.first_frame, row.slots.bits().trailing_zeros()))
        };
        let voter = |remote: &Peer| Voter {
            peer: remote.peer,
            rank: rank(remote.peer),
            is_member: remote.is_open,
            is_trusted: remote.is_trusted(),
            is_spectator: remote.watches,
            is_near: remote.is_trusted() && self.cx.now.since(remote.presence.heard_at()) < SILENCE,
            told: remote.audit.told(frame),
        };
        let others: Vec<Voter> = self.peers.iter().map(voter).collect();
        let peer = self.cx.local_peer;
        let (rank, is_spectator) = (rank(peer), self.cx.spectates);
        let local =
            Voter { peer, rank, is_member, is_trusted: true, is_spectator, is_near: false, told: None };
        let (own, feeder) = (self.audit.own(frame), self.joiner.donor());
        let by = (self.cx.now, &mut self.cx.rng);
        match self.recovery.vote(by, own, &local, &others, feeder) {
            Vote::Take(donor) => {
                self.leave_feeder();
                self.seek_from(donor);
            }
            Vote::Forget => self.forget_differences(),
            Vote::Wait | Vote::Keep => {}
        }
    }

    fn forget_differences(&mut self) {
        self.peers.iter_mut().for_each(|remote| remote.audit.settle_as_agreed());
    }

    /// Whether a state can replace the local one during this stay: it is of this branch, has the
    /// same inputs before it, and later entries are still held.
    pub(super) fn can_repair(&self, offer: &Offer) -> bool {
        let frame = offer.join_context.confirmed;
        let newest = self.log.past().current().max(self.log.local().newest());
        let held = self.log.past().frames().saturating_sub(2 * self.cx.config.lookahead_frames());
        self.recovery.is_under_way()
            && self.membership.mode() == Mode::Member
            && offer.join_context.told.view.history == self.membership.lineage().history()
            && self.audit.inputs_at(frame) == Some(offer.inputs_hash)
            && newest.since(frame) < held
    }

    /// The game took another state of a confirmed frame: all later frames are resimulated.
    pub(super) fn repair(&mut self, donor: PeerId, frame: Frame) {
        let target = self.log.past().current();
        self.log.past_mut().go_back(frame);
        self.sim.set_target(target);
        self.sim.end_side();
        let through = self.audit.forget_after(frame);
        for remote in self.peers.iter_mut() {
            remote.audit.settle(frame);
            if (remote.is_open || remote.watches) && remote.is_trusted() {
                Message::Recovered { through }.encode(self.cx.outbox.message(remote.peer));
            }
        }
        transfer::Message::Enough.encode(self.cx.outbox.message(donor));
        self.recovery.note_recovered(self.cx.now, donor);
        self.note_recovered(frame);
    }

    /// Another peer's state replaced the local one.
    pub(super) fn note_recovered(&mut self, frame: Frame) {
        self.cx.stats.recoveries += 1;
        self.cx.events.push(SessionEvent::DesyncRecovered { peer: self.cx.local_peer, frame });
    }

    /// A peer took another state. Hashes it sent before are void.
    pub(super) fn take_recovered(&mut self, index: usize, through: Frame) {
        let remote = &mut self.peers[index];
        if !remote.allowed.may_recover(self.cx.now) {
            return;
        }
        remote.audit.forget_told_through(through);
        // No frame after the confirmed one was compared yet, whatever the peer says.
        let through = through.min(self.membership.confirmed());
        remote.audit.settle(through);
        if remote.is_open {
            let peer = remote.peer;
            self.cx.events.push(SessionEvent::DesyncRecovered { peer, frame: through });
        }
    }

    fn asker(&mut self, index: usize) -> Asker {
        let is_able = self.life.is_running() && self.membership.may_donate();
        let remote = &mut self.peers[index];
        let is_limited = !remote.allowed.may_ask(self.cx.now);
        self.cx.stats.requests_rate_limited += u64::from(is_limited);
        Asker { peer: remote.peer, is_spectator: remote.watches, is_limited, is_able }
    }

    pub(super) fn take_ask_snapshot(&mut self, index: usize) {
        let asker = self.asker(index);
        self.donor.handle_request(&mut self.cx, asker);
    }

    pub(super) fn take_ask_feed(&mut self, index: usize, from: Frame, history: History, depth: u32) {
        let asker = self.asker(index);
        self.sync_held();
        let Session { cx, membership, log, donor, .. } = self;
        let known = Progress { frame: from.previous(), history, depth };
        let has_feed = || membership.feed(from, history, depth, log).is_some();
        donor.handle_feed_request(cx, asker, known, has_feed);
    }

    /// The state of `frame` was encoded, or could not be.
    pub(super) fn take_export(&mut self, frame: Frame, state: &[u8]) {
        if state.is_empty() {
            // The game could not decode its own encoding: another peer could not either.
            self.cx.events.push(SessionEvent::StateNotDecodable { frame });
        }
        self.sync_held();
        let context = self.membership.join_context(frame, &self.log).zip(self.audit.inputs_at(frame));
        let progress = Progress { frame, ..self.progress() };
        self.donor.handle_export(&mut self.cx, state, context, progress);
    }

    pub(super) fn tick_donor(&mut self) {
        let Session { cx, membership, peers, donor, .. } = self;
        donor.tick(cx, membership.may_donate(), |peer| {
            let remote = peers.get(peer);
            let stays = membership.latest_status(peer).map(|status| status.incarnation);
            let row = stays.and_then(|incarnation| row_of(membership.rows(), StreamId { peer, incarnation }));
            Joining {
                is_spectator: remote.is_some_and(|remote| remote.watches),
                is_here: remote.is_some_and(|remote| remote.is_trusted() && remote.presence.is_reachable()),
                is_full: remote
                    .zip(row)
                    .is_some_and(|(remote, row)| remote.stream.confirmed() >= row.first_frame),
            }
        });
        self.feed_joiners();
    }

    /// Sends a feed to all joiners for which one is due.
    pub(super) fn feed_joiners(&mut self) {
        let progress = self.progress();
        if self.donor.is_feed_due(&self.cx, progress) {
            self.sync_held();
            let Session { cx, membership, log, donor, .. } = self;
            donor.feed(cx, progress, |known| {
                membership.feed(known.frame.next(), known.history, known.depth, log)
            });
        }
    }

    /// Asks all members for entries that do not arrive from their owner.
    pub(super) fn tick_gossip(&mut self) {
        let silent = |at: Micros| self.cx.now.since(at) >= SILENCE;
        let missing =
            self.peers.iter().any(|r| r.is_open && (!r.is_trusted() || silent(r.presence.heard_at())));
        let is_late = Gossip::is_late(self.time.stalled_ticks());
        if !self.life.is_running() || self.cx.spectates || !(missing || is_late) {
            return;
        }
        if !self.gossip.take_due(self.cx.ticks) {
            return;
        }
        let mut needs: Vec<(StreamId, Frame)> = Vec::new();
        for track in self.log.tracks() {
            let owner = self.peers.iter().find(|remote| remote.peer == track.row.stream.peer);
            let unheard = owner.is_none_or(|owner| !owner.is_trusted() || silent(owner.presence.heard_at()));
            let late = is_late && track.have <= self.log.received();
            if track.have < track.row.last_frame && (unheard || late) && needs.len() < NEEDS_MAX {
                let needed = track.row.first_frame.max(self.membership.confirmed().next());
                needs.push((track.row.stream, track.have.next().max(needed)));
            }
        }
        let members = self.peers.iter().filter(|remote| remote.is_open && remote.is_trusted());
        self.gossip.ask(&mut self.cx, &needs, members.map(|remote| remote.peer));
    }

    pub(super) fn take_other(&mut self, index: usize, other: Other) {
        let peer = self.peers[index].peer;
        // Only peers of this branch can help this peer, or be helped.
        if self.membership.relation_of(peer) != Some(Relation::Same) {
            return;
        }
        match other {
            Other::BackfillRequest(needs) => {
                for (stream, from) in needs {
                    // Requests for streams that no peer knows are not remembered.
                    let known = row_of(self.membership.known(), stream).is_some();
                    if known && self.gossip.may_give(peer, stream, self.cx.ticks) {
                        self.give(index, stream, from);
                    }
                }
            }
            Other::Backfill(give) => self.take_give(index, &give),
        }
    }

    /// Gives the held entries of a stream, and when its owner was last heard.
    fn give(&mut self, index: usize, stream: StreamId, from: Frame) {
        let Some(row) = row_of(self.membership.known(), stream) else { return };
        let players = row.slots.len();
        self.sync_held();
        let Some(held) = self.membership.held(stream) else { return };
        let room = self.cx.config.packet_bytes_max.saturating_sub(PACKET_OVERHEAD_BYTES);
        let count = (room / (players * I::SIZE + 2)).clamp(1, 64) as u32;
        let tail = held_range(&self.log, held, stream, from, count);
        let owner = self.peers.get(stream.peer);
        let heard = owner.filter(|owner| owner.is_trusted()).map(|owner| owner.presence.heard_at());
        let heard_age = heard_age(self.cx.now, heard);
        let confirmed = owner.map_or(Frame::START, |owner| owner.stream.confirmed());
        let remote = &self.peers[index];
        if remote.hello.told().status().is_some() {
            let give = Backfill { tag: remote.hello.told().tag(), heard_age, confirmed, tail };
            Other::Backfill(give).encode(self.cx.outbox.packet(remote.peer));
        }
    }

    fn take_give(&mut self, index: usize, give: &Backfill) {
        let giver = self.peers[index].peer;
        let ours = self.membership.lineage();
        let status = self.membership.status_of(giver, give.tag);
        let stands_here = status.is_some_and(|status| ours.relate(&status.tip) == Relation::Same);
        let stream = give.tail.stream;
        if !stands_here || stream.peer == giver || row_of(self.membership.known(), stream).is_none() {
            return;
        }
        if !self.gossip.has_asked(stream, self.cx.ticks) {
            self.cx.stats.entries_unsolicited += 1;
            return;
        }
        self.sync_held();
        let taken = self.membership.take_tail(&give.tail, &mut self.log);
        self.blame(index, taken);
        let under_way = self.peers[index].time.clock().rtt().map_or(0, |rtt| rtt.get() / 2);
        let heard_at = heard_at(give, self.cx.now, Micros::new(under_way));
        if let Some(owner) = self.peers.get_mut(stream.peer) {
            owner.stream.note_confirmed(give.confirmed);
            if let Some(at) = heard_at {
                owner.presence.note_heard_via(giver, at);
            }
        }
        self.unsettled = true;
    }

    /// Sends a message about membership, through another peer if the receiver is not linked.
    pub(super) fn send_forward(&mut self, to: PeerId, bytes: &[u8]) {
        let Some(index) = self.peers.index_of(to) else { return };
        if self.peers[index].is_trusted() {
            self.cx.outbox.message(to).extend_from_slice(bytes);
        } else if let Some((via, _)) = self.peers[index].presence.heard_via() {
            transfer::Message::Forward { to, bytes }.encode(self.cx.outbox.message(via));
        }
    }

    /// Forwards a message from one member to another.
    pub(super) fn take_forward(&mut self, index: usize, to: PeerId, bytes: &[u8]) {
        let from = self.peers[index].peer;
        let Some(receiver) = self.peers.index_of(to).filter(|receiver| *receiver != index) else { return };
        let Some([sender, receiver]) = self.peers.pair_mut(index, receiver) else { return };
        let are_members = [&*sender, &*receiver].into_iter().all(|r| r.is_open && r.is_trusted());
        let (by, to_limits) = (&mut sender.allowed, &mut receiver.allowed);
        if are_members && by.may_forward(self.cx.now, bytes.len(), to_limits) {
            transfer::Message::ForwardFrom { from, bytes }.encode(self.cx.outbox.message(to));
        } else {
            self.cx.stats.forwards_rejected += 1;
        }
    }

    /// Takes a message that a peer without a link sent through another. Either of the two may be
    /// the cause of a violation in it, so none is blamed.
    pub(super) fn take_forward_from(&mut self, via: usize, from: PeerId, bytes: &[u8]) {
        let direct = self.peers.index_of(from).map(|index| self.peers[index].is_trusted());
        let Ok(message) = membership::Message::decode(bytes) else {
            self.cx.stats.forwards_rejected += 1;
            return;
        };
        if direct != Some(false) || !self.life.is_running() {
            return;
        }
        let messenger = &mut self.peers[via];
        let relation = self.membership.relation_of(messenger.peer);
        let is_apart = matches!(relation, None | Some(Relation::Apart { .. }));
        let is_awaited = |incarnation| self.membership.awaits(StreamId { peer: from, incarnation });
        if !messenger.is_open
            || is_apart
            || !may_be_true(self.cx.now, &mut messenger.allowed, &message, is_awaited)
        {
            self.cx.stats.forwards_rejected += 1;
            return;
        }
        self.sync_held();
        let taken = self.membership.handle_message(self.cx.now, from, message, &mut self.log);
        self.cx.stats.forwards_rejected += u64::from(taken.is_err());
        self.unsettled = true;
    }
}
