//! Stays of a session in a match: joining, taking another peer's state, joining again.
//!
//! `Session` ticks it and forwards messages. Absent: the rules, which are those of `Joiner` and
//! `Membership`.

use gaggle_kit::{Frame, Input, PeerId};

use super::{Session, Tick};
use crate::event::PeerFault;
use crate::join::{Candidate, Declined, FeedVerdict, FeedView, JoinAction, Progress, head_of};
use crate::membership::{Feed, Followed, JoinContext, MatchId, Mode, Relation, row_of};
use crate::peers::Handshake;
use crate::roster::{Incarnation, StreamId};
use crate::roster_events::FormerStay;
use crate::time_sync::CATCH_UP_FRAMES;
use crate::transfer::{Decline, Message, Offer};
use crate::wire::check_entry;

impl<I: Input> Session<I> {
    pub(super) fn tick_joiner(&mut self) {
        let mode = self.membership.mode();
        if self.life.is_gathering() || self.life.is_closed() {
            return;
        }
        let there = |donor| {
            let remote = self.peers.index_of(donor).map(|index| &self.peers[index]);
            remote.is_some_and(|remote| remote.is_trusted() && remote.presence.is_reachable())
        };
        if let Some(donor) = self.joiner.overdue_donor(self.cx.now, there) {
            self.lose_donor(donor);
        }
        match mode {
            Mode::Out if !self.joiner.is_busy() => self.choose_donor(),
            Mode::Out => {}
            Mode::Observer => self.follow_along(),
            Mode::Member => self.settle_in(),
        }
        self.tell_progress();
    }

    /// Peers that can serve as donors: members, and for a spectator other spectators. Of those only
    /// the ones with a lower id, so that spectators never feed each other in a cycle.
    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let able = self.peers.iter().filter(|remote| remote.is_trusted() && remote.presence.is_reachable());
        let stands = able.filter(|remote| self.membership.latest_status(remote.peer).is_some());
        let gives = stands.filter(|remote| {
            let passes_on = self.cx.spectates && remote.peer < self.cx.local_peer;
            if remote.watches { passes_on } else { !self.membership.observes(remote.peer) }
        });
        gives.map(|remote| Candidate { peer: remote.peer, unable_until: remote.unable_until })
    }

    /// While joining: whether there is no match to join. All linked peers have announced themselves
    /// and none plays; they may be waiting as well, and one of them must [create](Session::create)
    /// a match.
    pub fn found_no_match(&self) -> bool {
        let greeted = self.peers.iter().all(|remote| remote.hello.handshake() >= Handshake::Synchronized);
        let seeks = self.membership.mode() == Mode::Out && self.joiner.is_seeking();
        // Peers whose state is too large to send do play.
        seeks
            && greeted
            && !self.life.is_closed()
            && !self.joiner.is_too_large()
            && !self.candidates().any(|candidate| candidate.unable_until.is_none())
    }

    fn choose_donor(&mut self) {
        let candidates: Vec<Candidate> = self.candidates().collect();
        let caught_up = self.log.past().current() >= self.membership.confirmed();
        let may_create = self.life.is_running() && caught_up && !self.cx.spectates;
        let Session { cx, joiner, peers, membership, .. } = self;
        let may_follow = || {
            let mut linked = peers.iter().filter(|remote| remote.is_linked());
            linked.any(|remote| membership.latest_status(remote.peer).is_none())
        };
        if joiner.choose(cx, &candidates, may_follow, may_create) == JoinAction::CreateMatch {
            self.create_match();
        }
    }

    /// Goes on alone from the last confirmed state, as a new match with a new identity.
    fn create_match(&mut self) {
        let former = self.membership.lineage().game().started_at;
        let started_at = self.cx.config.match_id.started_at.max(former).saturating_add(1);
        let game = MatchId { started_at, nonce: self.cx.rng.next_u64() };
        let (name, former) = (self.cx.draw_incarnation(), self.end_stay(None));
        self.membership.found(self.cx.now, game, name, &mut self.log);
        let confirmed = self.membership.confirmed();
        if self.log.past().current() > confirmed {
            self.sim.go_back(confirmed);
        }
        self.restart_log(self.membership.me().incarnation, confirmed);
        self.joiner.seek();
        self.begin_running();
        let before = self.log.record_neutral(self.time.delay());
        self.write_own(before);
        self.begin_stay(former);
        self.follow_membership();
    }

    /// Another branch wins: requests its snapshot, unless it is being sent already.
    pub(super) fn seek_from(&mut self, winner: PeerId) {
        let is_linked = self.peers.index_of(winner).is_some_and(|index| self.peers[index].is_trusted());
        if is_linked && !self.joiner.is_busy() {
            self.joiner.ask_snapshot(&mut self.cx, winner);
        }
    }

    fn lose_donor(&mut self, donor: PeerId) {
        if self.joiner.lose_donor(donor, self.membership.mode() == Mode::Observer) {
            self.ask_other_feeder(donor);
        }
    }

    /// The donor is gone: another peer of the same branch may feed from the current frame on. False
    /// if none can.
    pub(super) fn ask_other_feeder(&mut self, former: PeerId) -> bool {
        let mut others: Vec<PeerId> = self.candidates().map(|candidate| candidate.peer).collect();
        others.retain(|peer| {
            let relation = self.membership.relation_of(*peer);
            *peer != former && matches!(relation, Some(Relation::Same | Relation::Descendant))
        });
        let donor = self.cx.rng.pick(&others).copied();
        if let Some(donor) = donor {
            let known = self.progress();
            self.joiner.ask_feed(&mut self.cx, donor, known);
        }
        donor.is_some()
    }

    pub(super) fn progress(&self) -> Progress {
        let lineage = self.membership.lineage();
        let frame = self.membership.confirmed();
        Progress { frame, history: lineage.history(), depth: lineage.depth() }
    }

    pub(super) fn take_decline(&mut self, index: usize, why: Decline) {
        let peer = self.peers[index].peer;
        match self.joiner.handle_decline(&mut self.cx, peer, why) {
            Declined::Nothing => {}
            Declined::UntilLater(until) => self.peers[index].unable_until = Some(until),
            Declined::Lost => self.lose_donor(peer),
        }
    }

    pub(super) fn take_offer(&mut self, index: usize, offer: Box<Offer>) {
        if !self.joiner.awaits_offer(self.peers[index].peer) {
            return;
        }
        self.peers[index].unable_until = None;
        // Before anything changes: a violation found later would leave this peer between two
        // matches.
        if let Err(fault) = self.membership.judge(&offer.join_context, check_entry::<I>) {
            self.joiner.drop_state();
            self.blame(index, Err(fault));
            return;
        }
        let is_wanted = self.membership.wants(&offer.join_context) || self.recovery.is_under_way();
        let taken = self.joiner.handle_offer(&mut self.cx, offer, is_wanted);
        self.fault_if(index, taken);
    }

    pub(super) fn take_feed(&mut self, index: usize, feed: Feed) {
        if self.joiner.handle_feed(self.cx.now, self.peers[index].peer, feed) {
            self.follow_feeds(index);
        }
    }

    /// Takes the donor's feeds.
    fn follow_feeds(&mut self, index: usize) {
        let lookahead = self.cx.config.lookahead_frames();
        while let Some(feed) =
            self.joiner.next_feed(self.membership.confirmed(), self.log.past().current(), lookahead)
        {
            self.follow(index, &feed);
        }
    }

    fn follow(&mut self, index: usize, feed: &Feed) {
        if self.membership.mode() != Mode::Observer {
            return;
        }
        self.sync_held();
        let (donor, before) = (self.peers[index].peer, self.membership.confirmed());
        match self.membership.follow(self.cx.now, feed, &mut self.log) {
            Ok(Followed::Yes | Followed::Ignored) => {}
            Ok(Followed::Gap) => {
                let known = self.progress();
                self.joiner.ask_feed_again(&mut self.cx, donor, known);
            }
            Ok(Followed::Impossible) => self.joiner.ask_snapshot(&mut self.cx, donor),
            Err(fault) => self.blame(index, Err(fault)),
        }
        self.follow_membership();
        if self.membership.confirmed() > before {
            self.joiner.note_brought_on(self.cx.now);
        }
    }

    /// Whether a snapshot is due that the game must take.
    pub(super) fn import_due(&mut self) -> bool {
        let Some((offer, _)) = self.joiner.complete() else { return false };
        let repairs = self.recovery.is_under_way();
        let here = self.log.past().current().min(self.membership.confirmed());
        if repairs && offer.join_context.confirmed > here && !self.cx.spectates {
            // The simulation has not reached the state's frame yet.
            return false;
        }
        let is_wanted = repairs || self.membership.wants(&offer.join_context);
        if !is_wanted {
            self.joiner.drop_state();
        }
        is_wanted
    }

    /// Whether the pending snapshot replaces the local state without ending the stay.
    pub(super) fn import_repairs(&self) -> bool {
        self.joiner.complete().is_some_and(|(offer, _)| self.can_repair(offer))
    }

    /// The game took the snapshot, or could not.
    pub(super) fn import_done(&mut self, taken: bool) {
        let Some((donor, offer)) = self.joiner.take_complete() else { return };
        let index = self.peers.index_of(donor);
        if !taken {
            if let Some(index) = index {
                self.fault(index, PeerFault::SnapshotMalformed);
            }
            return;
        }
        if self.can_repair(&offer) {
            self.joiner.settle();
            self.repair(donor, offer.join_context.confirmed);
            return;
        }
        let made_good = self.cx.spectates && self.recovery.is_under_way();
        self.recovery.end_by_entry(self.cx.now, donor);
        self.cx.stats.snapshots_received += 1;
        let former = self.end_stay(Some(&offer.join_context));
        let (name, frame) = (self.cx.draw_incarnation(), offer.join_context.confirmed);
        self.donor.end_all(&mut self.cx, made_good);
        self.restart_log(name, frame);
        let adopted = self.membership.adopt(self.cx.now, &offer.join_context, name, &mut self.log);
        self.audit.restart(frame, offer.inputs_hash);
        self.sim.end_side();
        self.joiner.begin_fed(self.cx.now, donor);
        if frame > former.last {
            self.joiner.note_brought_on(self.cx.now);
        }
        self.begin_running();
        self.begin_stay(former);
        if made_good {
            self.note_recovered(frame);
        }
        if let Some(index) = index {
            self.blame(index, adopted);
            self.follow_feeds(index);
        }
        self.follow_membership();
    }

    /// Ends a stay: another one begins in another peer's branch, or in a new match.
    fn end_stay(&self, next: Option<&JoinContext>) -> FormerStay {
        let sat = || row_of(self.membership.known(), self.membership.me()).is_some();
        let is_lost = |next: &JoinContext| {
            let relation = self.membership.lineage().relate_whole(&next.told.tip);
            let goes_on = matches!(relation, Relation::Same | Relation::Descendant);
            self.membership.mode() == Mode::Member || sat() || !goes_on || self.membership.takes_back(next)
        };
        let last = self.membership.confirmed();
        FormerStay { is_first: !self.life.is_running(), is_lost: next.is_some_and(is_lost), last }
    }

    /// Reports the differences between the former stay and the new one.
    fn begin_stay(&mut self, former: FormerStay) {
        if !former.is_first && !former.is_lost {
            self.note_history();
        }
        let (rows, branch) = (self.membership.rows(), self.membership.lineage().history());
        let confirmed = self.membership.confirmed();
        match former.is_first {
            true => self.roster_events.begin(rows, confirmed, branch),
            false => self.roster_events.begin_stay(&mut self.cx.events, former, rows, confirmed, branch),
        }
    }

    /// Restarts the log for another stay; entries before `frame` are not needed.
    fn restart_log(&mut self, incarnation: Incarnation, frame: Frame) {
        self.log.restart(StreamId { peer: self.cx.local_peer, incarnation }, frame);
        self.sim.begin_stay(frame);
        self.time.begin_stay(frame);
        self.life.begin_stay();
        self.donor.clear();
        for remote in self.peers.iter_mut() {
            remote.begin_stay(frame);
            // No peer is waited for yet.
            remote.presence.forget_waiting();
        }
    }

    /// A learner that has caught up begins its own stream, and is ready with it.
    fn follow_along(&mut self) {
        let donor = self.joiner.donor().and_then(|donor| self.peers.index_of(donor));
        if let Some(donor) = donor {
            self.follow_feeds(donor);
        }
        if let Some(donor) = self.joiner.look_due(self.cx.now) {
            self.look_at_feeds(donor);
        }
        if self.membership.mode() != Mode::Observer || self.cx.spectates {
            return;
        }
        if self.joiner.has_begun() {
            self.watch_own_stream();
            return;
        }
        let Some(present) = self.present_frame() else { return };
        let limit = self.membership.confirmed().saturating_add(self.cx.config.prediction_frames());
        // A few more frames will be simulated by the time a member writes the join.
        let soon = self.log.past().current().saturating_add(2 * CATCH_UP_FRAMES);
        let in_step = soon >= present.min(limit);
        let lag = present.since(self.log.received().min(present));
        if lag > self.cx.config.lookahead_frames() || !in_step {
            return;
        }
        self.time.start_delay(self.peers.rtt_worst(self.life.is_gathering()), false);
        let pace_frame = present.max(self.log.past().current());
        self.time.begin_following(pace_frame);
        let before = pace_frame.saturating_add(self.time.delay());
        self.log.local_mut().begin_after(before);
        self.log.local_mut().record_anew();
        self.joiner.begin_stream(self.cx.now);
        // No peer can hold entries of a stream that begins: all of it is sent at once.
        self.peers.iter_mut().for_each(|remote| remote.stream.begin_sending(before));
    }

    /// A peer that became leader recently cannot follow the own stream if its beginning was
    /// dropped: begins another stream.
    fn watch_own_stream(&mut self) {
        if !self.joiner.is_admission_late(self.cx.now) {
            return;
        }
        let leader =
            self.leader_at(self.membership.confirmed()).and_then(|leader| self.peers.index_of(leader));
        let leader = leader.map(|index| &self.peers[index]).filter(|leader| leader.is_trusted());
        let oldest = self.log.local().oldest();
        if leader.is_some_and(|leader| leader.stream.acked().is_none_or(|acked| acked < oldest)) {
            let name = self.cx.draw_incarnation();
            self.membership.rename(name, &mut self.log);
            self.log.rename(self.membership.me());
            _ = self.joiner.end_stream();
        }
    }

    /// A full member needs no donor any more; its first ticks catch up.
    fn settle_in(&mut self) {
        if self.joiner.end_stream() {
            self.time.set_catching_up(true);
        }
        if let Some(donor) = self.joiner.donor().filter(|_| self.joiner.is_fed())
            && self.membership.may_donate()
        {
            Message::Enough.encode(self.cx.outbox.message(donor));
            self.joiner.seek();
        }
    }

    fn tell_progress(&mut self) {
        if self.membership.mode() == Mode::Member {
            self.joiner.end_progress();
            return;
        }
        let confirmed = self.membership.confirmed();
        let unshown = confirmed.since(self.log.past().current().min(confirmed));
        let is_shown = self.cx.spectates && unshown <= CATCH_UP_FRAMES;
        let present = if self.joiner.needs_present() { self.present_frame() } else { None };
        let behind = || present.map(|present| present.since(self.log.past().current()));
        self.joiner.tell_progress(&mut self.cx, is_shown, behind);
    }

    /// Gives up a donor that is heard but does not bring this peer closer to the others.
    fn look_at_feeds(&mut self, donor: PeerId) {
        let claim =
            self.peers.index_of(donor).map_or(Frame::START, |index| self.peers[index].stream.confirmed());
        let open = self.peers.iter().filter(|remote| remote.is_open && remote.is_trusted());
        let heard = open.filter_map(|remote| {
            let is_ahead = self.membership.relation_of(remote.peer) == Some(Relation::Descendant);
            let head = if is_ahead { Frame::NEVER } else { remote.stream.confirmed() };
            (remote.presence.is_reachable() && head > Frame::START).then_some((remote.peer, head))
        });
        let view = FeedView {
            donor,
            head: head_of(heard, donor),
            claim,
            fed: self.membership.confirmed(),
            lookahead: self.cx.config.lookahead_frames(),
            is_spectator: self.cx.spectates,
            begun_at: None,
            is_waiting: false,
        };
        match self.joiner.look(self.cx.now, view) {
            FeedVerdict::Fine => {}
            FeedVerdict::Leave { withheld } => {
                self.cx.stats.donors_abandoned += 1;
                self.joiner.give_up(donor);
                let index = self.peers.index_of(donor);
                if let Some((index, confirmed)) = index.zip(withheld) {
                    self.fault(index, PeerFault::FeedWithheld { fed: view.fed, confirmed });
                }
                if !self.ask_other_feeder(donor) {
                    self.start_elsewhere(donor);
                }
            }
            FeedVerdict::Overdue => {
                let active = self.membership.known().iter().filter(|row| row.is_active());
                let taken: usize = active.map(|row| row.slots.len()).sum();
                if taken + self.log.local().players() <= self.cx.slot_count {
                    self.start_elsewhere(donor);
                }
            }
        }
    }

    /// A learner has other peers' entries from its donor. If one of those peers contradicts them,
    /// it or the donor lies: this peer joins through another donor, and if that one is
    /// contradicted, too, the donors were honest. False if the fault has another reason.
    pub(super) fn blame_donor(&mut self, index: usize, fault: PeerFault) -> bool {
        let is_fed = self.membership.mode() == Mode::Observer;
        if !is_fed || !matches!(fault, PeerFault::InputChanged { .. }) {
            return false;
        }
        let peer = self.peers[index].peer;
        let Some(donor) = self.joiner.contradicted_donor(peer) else { return false };
        let is_left = self.start_elsewhere(donor);
        if is_left {
            self.joiner.note_contradicted(peer, donor);
        }
        is_left
    }

    /// Joins again through another peer, if there is one.
    fn start_elsewhere(&mut self, donor: PeerId) -> bool {
        self.joiner.forget_progress();
        let has_others = self.candidates().any(|other| other.peer != donor);
        if has_others {
            self.joiner.give_up(donor);
            self.membership.quit();
            self.lose_match();
        }
        has_others
    }

    /// The stay ended against the peer's will: joins again, unless it was about to leave.
    pub(super) fn lose_match(&mut self) {
        self.life.lose_stay();
        self.cx.stats.rejoins += 1;
        self.time.set_catching_up(false);
        if self.cx.spectates && self.recovery.is_under_way() {
            // The snapshot requested to replace the local state also serves to join.
            return;
        }
        self.recovery.restart();
        self.joiner.seek();
    }

    /// Ticks of a spectator: confirmed frames one by one, several at once only to catch up.
    pub(super) fn tick_spectating(&mut self) -> Tick {
        let (current, confirmed) = (self.log.past().current(), self.membership.confirmed());
        let behind = confirmed.since(current.min(confirmed));
        let frames = if behind > CATCH_UP_FRAMES { CATCH_UP_FRAMES } else { behind.min(1) };
        self.sim.begin_tick(current.saturating_add(frames));
        if frames > 0 { Tick::Advanced } else { Tick::Stalled }
    }

    /// Whether newly confirmed frames still reach this peer.
    pub(super) fn sees_play_go_on(&self) -> bool {
        self.cx.now.since(self.joiner.brought_on_at()) < self.cx.config.interrupted_after
    }

    /// Drops a spectator's donor: another peer sends it a snapshot and feeds it from then on.
    pub(super) fn leave_feeder(&mut self) {
        if let Some(feeder) = self.joiner.donor().filter(|_| self.cx.spectates) {
            Message::Enough.encode(self.cx.outbox.message(feeder));
            self.joiner.seek();
        }
    }

    /// No peer sent a spectator another snapshot: it keeps its state, and any peer may feed it.
    pub(super) fn look_on(&mut self) {
        if self.cx.spectates && self.membership.mode() == Mode::Observer {
            let silent = self.joiner.given_up().unwrap_or(self.cx.local_peer);
            self.ask_other_feeder(silent);
        }
    }
}
