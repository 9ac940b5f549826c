//! Coming in: finding a donor, taking its state, following what it confirms, and beginning a stream
//! of our own once we are in step with the others.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame, Input, Micros, PeerId, StateHasher, decompress};

use super::Session;
use super::feed_progress::FeedProgress;
use crate::driver::MESSAGE_STREAM;
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{self, Feed, Followed, MatchId, Mode, Relation};
use crate::remote::Handshake;
use crate::roster::Incarnation;
use crate::stall_timer::StallTimer;
use crate::transfer::{Decline, Message, Offer, PIECE_BYTES, STATE_BYTES_MAX, WINDOW_BYTES};

/// After the first donor shows up the others get so long, so that every one is as likely.
const GATHER_DONORS: Micros = Micros::from_millis(120);
/// A donor that says nothing for so long, or gives less than a piece of its state meanwhile, is
/// given up.
const DONOR_PATIENCE: Micros = Micros::from_millis(1_500);
/// A state takes no longer than this. What is confirmed meanwhile fills [`FEEDS_MAX`] in about that
/// time.
const TRANSFER_PATIENCE: Micros = Micros::from_secs(200);
/// Whoever has nothing to give is asked again after this.
const UNABLE_REST: Micros = Micros::from_secs(1);
/// A peer whose state is too large, after this.
const TOO_LARGE_REST: Micros = Micros::from_secs(10);
/// Feeds that wait for the state they follow on; beyond this the transfer takes too long to be of
/// use.
const FEEDS_MAX: usize = 4_096;
/// And so many bytes of them.
const FEED_BYTES_MAX: usize = 8 << 20;
/// Whoever is ready for so long and not admitted looks for the reason.
const ADMISSION_PATIENCE: Micros = Micros::from_secs(4);
/// How much of the progress is the transfer of the state.
const TRANSFER_PERCENT: u64 = 80;

/// How far coming in is.
#[derive(Debug, Default)]
pub(super) struct Joining {
    stage: Stage,
    /// What the donor confirmed since its state, until we have that and have simulated as far.
    feeds: VecDeque<Feed>,
    /// Whoever was of no use when asked last.
    given_up: Option<PeerId>,
    /// Since when there has been somebody to ask.
    donors_since: Option<Micros>,
    /// Since when there has been nobody.
    alone_since: Option<Micros>,
    /// When a feed was last asked for.
    feed_asked_at: Micros,
    percent_told: Option<u8>,
    /// Whoever watches sees the match.
    shows: bool,
    /// When our own stream began.
    begun: Option<Micros>,
    /// Whether being fed leads anywhere.
    pub(super) headway: FeedProgress,
    /// When what we were fed last brought us on.
    pub(super) brought_on_at: Micros,
    /// Pieces of a state that came since everything we had to say went out: what the donor cannot
    /// know yet that we have.
    unacknowledged: usize,
    /// A donor said that the state is too large to be sent.
    too_large: bool,
    /// Who last said that it did something else than this donor says it did.
    pub(super) contradicted: Option<(PeerId, PeerId)>,
}

#[derive(Debug, Default)]
enum Stage {
    /// Nothing to do: in a match, or not asked to be in one yet.
    #[default]
    Idle,
    /// Asked for a state.
    Asked { donor: PeerId, at: Micros },
    /// It is coming.
    Receiving { donor: PeerId, offer: Box<Offer>, state: Vec<u8>, since: Micros, mark: Mark },
    /// It is there: the game must take it next, or once we are as far.
    Complete { donor: PeerId, offer: Box<Offer>, state: Vec<u8>, at: Micros },
    /// An observer that is fed.
    Fed { donor: PeerId, at: Micros },
}

/// How much of a state was there at which time.
#[derive(Debug, Clone, Copy)]
struct Mark {
    bytes: usize,
    at: Micros,
}

impl Stage {
    fn donor(&self) -> Option<PeerId> {
        match self {
            Stage::Idle => None,
            Stage::Asked { donor, .. }
            | Stage::Receiving { donor, .. }
            | Stage::Complete { donor, .. }
            | Stage::Fed { donor, .. } => Some(*donor),
        }
    }
}

impl Joining {
    /// Starts over: whatever was under way is of no use.
    pub(super) fn seek(&mut self) {
        self.settle();
        self.shows = false;
        // Who asks somebody else has not come any further: that is no news.
        self.percent_told = self.percent_told.filter(|told| *told == 0);
    }

    fn settle(&mut self) {
        self.stage = Stage::Idle;
        self.feeds.clear();
        self.begun = None;
        self.headway = FeedProgress::default();
    }

    /// The state the game must take next.
    pub(super) fn complete(&self) -> Option<(Frame, &[u8])> {
        match &self.stage {
            Stage::Complete { offer, state, .. } => Some((offer.tidings.confirmed, state)),
            _ => None,
        }
    }

    /// Whether somebody helps us.
    pub(super) fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Whether somebody tells us what it confirms.
    pub(super) fn is_fed(&self) -> bool {
        matches!(self.stage, Stage::Fed { .. })
    }

    /// Whoever helps us in.
    pub(super) fn donor(&self) -> Option<PeerId> {
        self.stage.donor()
    }

    /// Whether our own stream has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// When it did.
    pub(super) fn begun_at(&self) -> Option<Micros> {
        self.begun
    }

    /// Whether there is more than our simulation could follow so far.
    pub(super) fn has_feeds_waiting(&self) -> bool {
        !self.feeds.is_empty()
    }

    /// All we had to say went out, and with it how much of a state arrived.
    pub(super) fn note_acknowledged(&mut self) {
        self.unacknowledged = 0;
    }

    /// Whoever was of no use when asked last.
    pub(super) fn given_up(&self) -> Option<PeerId> {
        self.given_up
    }

    /// Somebody is of no use, and not asked next.
    pub(super) fn give_up_donor(&mut self, donor: PeerId) {
        self.given_up = Some(donor);
    }
}

impl<I: Input> Session<I> {
    pub(super) fn tend_joining(&mut self) {
        let mode = self.membership.mode();
        if !self.seats.is_empty() || self.over {
            return;
        }
        self.watch_donor();
        match mode {
            Mode::Out if matches!(self.joining.stage, Stage::Idle) => self.choose_donor(),
            Mode::Out => {}
            Mode::Observer => self.follow_along(),
            Mode::Member => self.settle_in(),
        }
        self.tell_progress();
    }

    /// A donor that is gone or says nothing is given up; another one may do.
    fn watch_donor(&mut self) {
        let Some(donor) = self.joining.stage.donor() else { return };
        let there = self
            .remote_index(donor)
            .is_some_and(|index| self.remotes[index].is_trusted() && self.remotes[index].reachable);
        let since = match &self.joining.stage {
            Stage::Asked { at, .. } | Stage::Fed { at, .. } | Stage::Complete { at, .. } => *at,
            Stage::Receiving { mark, .. } => mark.at,
            Stage::Idle => self.now,
        };
        let drags_on = matches!(&self.joining.stage, Stage::Receiving { since, .. }
            if self.now.since(*since) >= TRANSFER_PATIENCE);
        if there && !drags_on && self.now.since(since) < DONOR_PATIENCE {
            return;
        }
        self.lose_donor(donor);
    }

    /// Whoever helped us does no more, and is not asked next.
    fn lose_donor(&mut self, donor: PeerId) {
        self.joining.given_up = Some(donor);
        if self.membership.mode() == Mode::Observer && matches!(self.joining.stage, Stage::Fed { .. }) {
            self.ask_other_feeder(donor);
        } else {
            self.joining.stage = Stage::Idle;
            self.joining.feeds.clear();
        }
    }

    /// Those whose state we could take: members, and for whoever watches others who do. Only those
    /// with a lower name, so that nobody is fed by itself in the end.
    pub(super) fn donors(&self) -> Vec<PeerId> {
        let able = self.remotes.iter().filter(|remote| remote.is_trusted() && remote.reachable);
        let stands = able.filter(|remote| self.membership.latest_standing(remote.peer).is_some());
        let gives = stands.filter(|remote| {
            let passes_on = self.spectates && remote.peer < self.local_peer;
            if remote.watches { passes_on } else { !self.membership.observes(remote.peer) }
        });
        gives.map(|remote| remote.peer).collect()
    }

    /// While coming in: whether nobody is there to come to. Everybody we have a link to has greeted
    /// us, and none of them plays; they may be waiting for somebody, too, and one of us must
    /// [begin](Session::create).
    pub fn found_no_match(&self) -> bool {
        let greeted = self.remotes.iter().all(|remote| remote.handshake >= Handshake::Synchronized);
        let seeks = self.membership.mode() == Mode::Out
            && matches!(self.joining.stage, Stage::Idle | Stage::Asked { .. });
        // Those whose state is too large play all the same.
        seeks
            && greeted
            && !self.over
            && !self.joining.too_large
            && !self.donors().into_iter().any(|donor| self.may_give(donor))
    }

    /// Whether somebody may have a state for us, for all we know: it has not said otherwise.
    fn may_give(&self, donor: PeerId) -> bool {
        self.remote_index(donor).is_some_and(|index| self.remotes[index].unable_until.is_none())
    }

    /// Whether it makes sense to ask somebody now.
    fn may_ask(&self, donor: PeerId) -> bool {
        let until = self.remote_index(donor).and_then(|index| self.remotes[index].unable_until);
        until.is_none_or(|until| self.now >= until)
    }

    /// Any member is as good as any other: whom we take is left to chance, so that nobody pays for
    /// all.
    fn choose_donor(&mut self) {
        let mut donors = self.donors();
        if donors.iter().any(|donor| self.may_give(*donor)) {
            self.joining.alone_since = None;
        } else if self.wait_alone() {
            return;
        }
        donors.retain(|donor| self.may_ask(*donor));
        if donors.is_empty() {
            self.joining.donors_since = None;
            return;
        }
        let since = *self.joining.donors_since.get_or_insert(self.now);
        let undecided = self
            .remotes
            .iter()
            .any(|remote| remote.is_linked() && self.membership.latest_standing(remote.peer).is_none());
        if undecided && self.now.since(since) < GATHER_DONORS {
            return;
        }
        // Somebody who gave nothing, or for ever, is not asked twice in a row.
        let given_up = self.joining.given_up;
        if donors.iter().any(|donor| Some(*donor) != given_up) {
            donors.retain(|donor| Some(*donor) != given_up);
        }
        if let Some(donor) = self.rng.pick(&donors).copied() {
            self.ask_snapshot(donor);
        }
    }

    /// Nobody is there who plays. Whoever has a state goes on with it, in a match of its own: then
    /// it is true.
    fn wait_alone(&mut self) -> bool {
        let since = *self.joining.alone_since.get_or_insert(self.now);
        let caught_up = self.ledger.current >= self.membership.confirmed();
        let begins =
            self.running && caught_up && !self.spectates && self.now.since(since) >= super::FEED_TIMEOUT;
        if begins {
            self.joining.alone_since = None;
            self.found_match();
        }
        begins
    }

    /// Goes on alone from the last confirmed state, as a new match: nobody may take it for the old
    /// one.
    fn found_match(&mut self) {
        let game = MatchId {
            started_at: self
                .config
                .match_id
                .started_at
                .max(self.membership.lineage().game.started_at)
                .saturating_add(1),
            nonce: self.rng.next_u64(),
        };
        let (name, former) = (self.draw_name(), self.end_stay(None));
        self.membership.found(self.now, game, name, &mut self.ledger);
        let confirmed = self.membership.confirmed();
        if self.ledger.current > confirmed {
            self.plan.go_back(confirmed);
        }
        self.restart_ledger(confirmed);
        self.joining.seek();
        self.begin_running();
        let before = self.ledger.local.newest();
        self.ledger.emit_neutral(self.delay.target());
        self.write_own(before);
        self.begin_stay(&former);
        self.follow_membership();
    }

    fn draw_name(&mut self) -> Incarnation {
        Incarnation(self.rng.next_u32())
    }

    fn ask_snapshot(&mut self, donor: PeerId) {
        membership::Message::AskSnapshot.encode(self.outbox.letter(donor, MESSAGE_STREAM));
        self.joining.stage = Stage::Asked { donor, at: self.now };
        self.joining.feeds.clear();
    }

    /// Another history wins: its state is asked for, unless that is under way.
    pub(super) fn seek_from(&mut self, winner: PeerId) {
        let linked = self.remote_index(winner).is_some_and(|index| self.remotes[index].is_trusted());
        if linked && matches!(self.joining.stage, Stage::Idle) {
            self.ask_snapshot(winner);
        }
    }

    /// The donor we have is gone: somebody else of the same history may go on from our frame. False
    /// if nobody can.
    pub(super) fn ask_other_feeder(&mut self, former: PeerId) -> bool {
        let mut others = self.donors();
        others.retain(|peer| {
            let relation = self.membership.relation_of(*peer);
            *peer != former && matches!(relation, Some(Relation::Same | Relation::Descendant))
        });
        let donor = self.rng.pick(&others).copied();
        if let Some(donor) = donor {
            self.ask_feed(donor);
        }
        donor.is_some()
    }

    /// Asks to be told what was confirmed after the last frame we know of.
    fn ask_feed(&mut self, donor: PeerId) {
        let ask = Message::AskFeed {
            from: self.membership.confirmed().next(),
            known: self.membership.lineage().history(),
            depth: self.membership.lineage().depth(),
        };
        ask.encode(self.outbox.letter(donor, MESSAGE_STREAM));
        self.joining.feeds.clear();
        self.joining.feed_asked_at = self.now;
        self.joining.stage = Stage::Fed { donor, at: self.now };
    }

    /// A feed we could not take at the time is missing now. What is under way is of no use either,
    /// so it is asked for once.
    fn ask_feed_again(&mut self, index: usize) {
        if self.now.since(self.joining.feed_asked_at) >= super::REPEAT_AFTER {
            let donor = self.remotes[index].peer;
            self.ask_feed(donor);
        }
    }

    pub(super) fn take_decline(&mut self, index: usize, why: Decline) {
        if self.joining.stage.donor() != Some(self.remotes[index].peer) {
            return;
        }
        match (&self.joining.stage, why) {
            (Stage::Fed { donor, .. }, Decline::TooOld) => {
                // Too far behind for anybody: only a state helps.
                let donor = *donor;
                self.ask_snapshot(donor);
            }
            (Stage::Asked { .. }, Decline::Unable) => {
                // It lost its match as we did, and cannot tell: each would wait for the other for
                // ever.
                self.remotes[index].unable_until = Some(self.now + UNABLE_REST);
                self.joining.stage = Stage::Idle;
            }
            (Stage::Asked { .. }, Decline::TooLarge { bytes }) => {
                self.remotes[index].unable_until = Some(self.now + TOO_LARGE_REST);
                self.joining.stage = Stage::Idle;
                let (peer, max) = (self.remotes[index].peer, STATE_BYTES_MAX);
                // Others have the same.
                if !std::mem::replace(&mut self.joining.too_large, true) {
                    self.events.push(SessionEvent::StateTooLarge { peer, bytes, max });
                }
            }
            _ => self.lose_donor(self.remotes[index].peer),
        }
    }

    pub(super) fn take_offer(&mut self, index: usize, offer: Box<Offer>) {
        let peer = self.remotes[index].peer;
        let Stage::Asked { donor, .. } = self.joining.stage else { return };
        if donor != peer {
            return;
        }
        self.remotes[index].unable_until = None;
        // Before anything changes: what is found wrong later would leave us between two matches.
        if let Err(fault) = self.membership.judge(&offer.tidings, read_entry::<I>) {
            self.joining.stage = Stage::Idle;
            self.blame(index, Err(fault));
            return;
        }
        if !self.membership.wants(&offer.tidings) && !self.recovery.is_under_way() {
            Message::Enough.encode(self.outbox.letter(peer, MESSAGE_STREAM));
            self.joining.stage = Stage::Idle;
            return;
        }
        // Grown as it arrives: an offer alone claims no memory.
        let mark = Mark { bytes: 0, at: self.now };
        self.joining.stage = Stage::Receiving { donor, offer, state: Vec::new(), since: self.now, mark };
        self.joining.unacknowledged = 0;
        self.take_piece(index, None);
    }

    /// The next piece, packed.
    pub(super) fn take_packed(&mut self, index: usize, number: u32, packed: &[u8]) {
        // Only what was asked for is worth the work.
        let awaited = matches!(&self.joining.stage, Stage::Receiving { donor, offer, .. }
            if *donor == self.remotes[index].peer && offer.number == number);
        if !awaited {
            return;
        }
        match decompress(packed, PIECE_BYTES) {
            Ok(bytes) => self.take_piece(index, Some((number, &bytes))),
            Err(why) => {
                self.joining.stage = Stage::Idle;
                self.fault(index, why.into());
            }
        }
    }

    /// The next piece of the state, or a look whether it is complete.
    pub(super) fn take_piece(&mut self, index: usize, piece: Option<(u32, &[u8])>) {
        let (peer, now) = (self.remotes[index].peer, self.now);
        let Stage::Receiving { donor, offer, state, mark, .. } = &mut self.joining.stage else { return };
        if *donor != peer || piece.is_some_and(|(number, _)| number != offer.number) {
            return;
        }
        if let Some((_, bytes)) = piece {
            // Pieces are bounded by nothing else, and packed or empty they cost whoever sends them
            // next to nothing.
            self.joining.unacknowledged += 1;
            if self.joining.unacknowledged > WINDOW_BYTES / PIECE_BYTES + 1 {
                self.joining.stage = Stage::Idle;
                self.fault(index, PeerFault::RateLimitExceeded);
                return;
            }
            state.extend_from_slice(bytes);
            if state.len() >= mark.bytes + PIECE_BYTES {
                // All but the last are whole: whoever sends crumbs means to keep us waiting.
                *mark = Mark { bytes: state.len(), at: now };
            }
            let got = Message::Got { number: offer.number, bytes: state.len() as u64 };
            got.encode(self.outbox.letter(peer, MESSAGE_STREAM));
        }
        if (state.len() as u64) < offer.state_bytes {
            return;
        }
        let right = state.len() as u64 == offer.state_bytes && StateHasher::of(state) == offer.state_hash;
        let Stage::Receiving { donor, offer, state, .. } = std::mem::take(&mut self.joining.stage) else {
            return;
        };
        if right {
            self.joining.stage = Stage::Complete { donor, offer, state, at: now };
        } else {
            self.fault(index, PeerFault::SnapshotMismatch);
        }
    }

    pub(super) fn take_feed(&mut self, index: usize, feed: Feed) {
        let peer = self.remotes[index].peer;
        if self.joining.stage.donor() != Some(peer) {
            return;
        }
        if let Stage::Fed { at, .. } = &mut self.joining.stage {
            *at = self.now;
            self.joining.headway.note_feed();
        }
        let waiting: usize = self.joining.feeds.iter().map(Feed::weight).sum();
        if self.joining.feeds.len() < FEEDS_MAX && waiting + feed.weight() <= FEED_BYTES_MAX {
            self.joining.feeds.push_back(feed);
            self.follow_feeds(index);
        } else {
            self.joining.given_up = Some(peer);
            self.joining.seek();
        }
    }

    /// Follows what the donor confirmed, no further ahead of the simulation than inputs are kept.
    fn follow_feeds(&mut self, index: usize) {
        let ahead = 2 * self.config.reach_frames();
        while matches!(self.joining.stage, Stage::Fed { .. })
            && self.membership.confirmed() <= self.ledger.current.saturating_add(ahead)
            && let Some(feed) = self.joining.feeds.pop_front()
        {
            self.follow(index, &feed);
        }
    }

    fn follow(&mut self, index: usize, feed: &Feed) {
        if self.membership.mode() != Mode::Observer {
            return;
        }
        self.sync_held();
        let before = self.membership.confirmed();
        match self.membership.follow(self.now, feed, &mut self.ledger) {
            Ok(Followed::Yes | Followed::Ignored) => {}
            Ok(Followed::Gap) => self.ask_feed_again(index),
            Ok(Followed::Impossible) => {
                let donor = self.remotes[index].peer;
                self.ask_snapshot(donor);
            }
            Err(fault) => self.blame(index, Err(fault)),
        }
        self.follow_membership();
        if self.membership.confirmed() > before {
            self.joining.brought_on_at = self.now;
        }
    }

    /// A state the game must take, if it is still wanted.
    pub(super) fn import_due(&mut self) -> bool {
        let Stage::Complete { offer, .. } = &self.joining.stage else { return false };
        let repairs = self.recovery.is_under_way();
        let here = self.ledger.current.min(self.membership.confirmed());
        if repairs && offer.tidings.confirmed > here && !self.spectates {
            // Not there yet ourselves.
            return false;
        }
        if !repairs && !self.membership.wants(&offer.tidings) {
            self.joining.stage = Stage::Idle;
            return false;
        }
        true
    }

    /// Whether the state that is there replaces ours without our leaving the match.
    pub(super) fn import_repairs(&self) -> bool {
        matches!(&self.joining.stage, Stage::Complete { offer, .. } if self.can_repair(offer))
    }

    /// The game took the state, or could not.
    pub(super) fn import_done(&mut self, taken: bool) {
        let Stage::Complete { donor, offer, .. } = std::mem::take(&mut self.joining.stage) else { return };
        let index = self.remote_index(donor);
        if !taken {
            if let Some(index) = index {
                self.fault(index, PeerFault::SnapshotMalformed);
            }
            return;
        }
        if self.can_repair(&offer) {
            self.joining.settle();
            self.repair(donor, offer.tidings.confirmed);
            return;
        }
        let made_good = self.spectates && self.recovery.is_under_way();
        self.recovery.end_by_entry(self.now, donor);
        self.stats.snapshots_received += 1;
        let former = self.end_stay(Some(&offer.tidings));
        let (name, frame) = (self.draw_name(), offer.tidings.confirmed);
        let feeds = std::mem::take(&mut self.joining.feeds);
        self.joining.settle();
        self.send_off_fed(made_good);
        self.restart_ledger_as(name, frame);
        let adopted = self.membership.adopt(self.now, &offer.tidings, name, &mut self.ledger);
        self.checks.restart(frame, offer.inputs_hash);
        self.joining.stage = Stage::Fed { donor, at: self.now };
        if frame > former.last() {
            self.joining.brought_on_at = self.now;
        }
        self.begin_running();
        self.begin_stay(&former);
        if made_good {
            self.stats.recoveries += 1;
            self.events.push(SessionEvent::DesyncRecovered { peer: self.local_peer, frame });
        }
        self.joining.feeds = feeds;
        if let Some(index) = index {
            self.blame(index, adopted);
            self.follow_feeds(index);
        }
        self.follow_membership();
    }

    /// Everything of the old stay is void; entries before `frame` are behind us.
    fn restart_ledger(&mut self, frame: Frame) {
        let name = self.membership.me().incarnation;
        self.restart_ledger_as(name, frame);
    }

    fn restart_ledger_as(&mut self, name: Incarnation, frame: Frame) {
        let me = crate::roster::StreamId { peer: self.local_peer, incarnation: name };
        self.ledger.restart(me, frame);
        self.held_news = false;
        self.origin = frame;
        self.everybody = None;
        self.pace_frame = frame;
        self.catching_up = false;
        self.newest_change = frame;
        self.left_at = None;
        self.leaving_since = None;
        self.donations.clear();
        for remote in &mut self.remotes {
            remote.begin_stay(frame);
            // We wait for nobody yet.
            remote.hold_up = StallTimer::default();
        }
    }

    /// An observer in step with the others begins a stream of its own: with it, it is ready.
    fn follow_along(&mut self) {
        let donor = self.joining.stage.donor().and_then(|donor| self.remote_index(donor));
        if let Some(donor) = donor {
            self.follow_feeds(donor);
        }
        if matches!(self.joining.stage, Stage::Fed { .. }) {
            self.watch_headway();
        }
        if self.membership.mode() != Mode::Observer || self.spectates {
            return;
        }
        if let Some(begun) = self.joining.begun {
            self.watch_own_stream(begun);
            return;
        }
        let Some(present) = self.present_frame() else { return };
        let reach = self.config.reach_frames();
        let limit = self.membership.confirmed().saturating_add(self.config.prediction_frames());
        // By the time somebody has written us in, a few frames more are made up for.
        let soon = self.ledger.current.saturating_add(2 * super::CATCH_UP_FRAMES);
        let in_step = soon >= present.min(limit);
        if present.since(self.received_frame.min(present)) > reach || !in_step {
            return;
        }
        self.delay.start(self.rtt_worst());
        self.pace_frame = present.max(self.ledger.current);
        let before = self.pace_frame.saturating_add(self.delay.target());
        self.ledger.local.begin_after(before);
        self.joining.begun = Some(self.now);
        self.told_for = Frame::START;
        self.newest_change = before;
        // Nobody can hold anything of a stream that begins: everything goes out at once.
        self.remotes.iter_mut().for_each(|remote| remote.acked = Some(before));
    }

    /// A lead we have reached only lately can follow our stream no more if its beginning is
    /// forgotten: it gets another.
    fn watch_own_stream(&mut self, begun: Micros) {
        if self.now.since(begun) < ADMISSION_PATIENCE {
            return;
        }
        let lead = self.leader_at(self.membership.confirmed()).and_then(|lead| self.remote_index(lead));
        let Some(lead) = lead.map(|index| &self.remotes[index]).filter(|lead| lead.is_trusted()) else {
            return;
        };
        if lead.acked.is_none_or(|acked| acked < self.ledger.local.oldest()) {
            let name = self.draw_name();
            self.membership.rename(name, &mut self.ledger);
            self.ledger.rename(self.membership.me());
            self.joining.begun = None;
        }
    }

    /// A member needs nobody to feed it once it is full; the first ticks as a member catch up.
    fn settle_in(&mut self) {
        if self.joining.begun.take().is_some() {
            self.catching_up = true;
        }
        if let Stage::Fed { donor, .. } = self.joining.stage
            && self.membership.may_donate()
        {
            Message::Enough.encode(self.outbox.letter(donor, MESSAGE_STREAM));
            self.joining.seek();
        }
    }

    fn tell_progress(&mut self) {
        if self.membership.mode() == Mode::Member {
            self.joining.percent_told = None;
            return;
        }
        if self.spectates && self.joining.is_fed() {
            // What it may fall behind from now on is no coming in.
            let behind =
                self.membership.confirmed().since(self.ledger.current.min(self.membership.confirmed()));
            self.joining.shows |= behind <= super::CATCH_UP_FRAMES;
        }
        if self.joining.shows {
            return;
        }
        let percent = match &self.joining.stage {
            Stage::Idle => return,
            Stage::Asked { .. } => 0,
            Stage::Receiving { offer, state, .. } => {
                state.len() as u64 * TRANSFER_PERCENT / offer.state_bytes.max(1)
            }
            Stage::Complete { .. } => TRANSFER_PERCENT,
            Stage::Fed { .. } if self.joining.begun.is_some() => 99,
            Stage::Fed { .. } => {
                let behind = self.present_frame().map_or(60, |present| present.since(self.ledger.current));
                TRANSFER_PERCENT + 18 * u64::from(60 - behind.min(60)) / 60
            }
        };
        let percent = percent.min(99) as u8;
        if self.joining.percent_told.is_none_or(|told| percent > told) {
            self.joining.percent_told = Some(percent);
            self.events.push(SessionEvent::JoinProgress { percent });
        }
    }
}

/// Whether bytes are what so many players of a machine do in a frame.
fn read_entry<I: Input>(value: &[u8], players: Option<usize>) -> Result<(), DecodeError> {
    if let Some(players) = players.filter(|players| players * I::SIZE != value.len()) {
        let (value, max) = (value.len() as i64, (players * I::SIZE) as i64);
        return Err(DecodeError::OutOfRange { what: "bytes of a value", value, min: max, max });
    }
    match I::SIZE {
        0 => Ok(()),
        size => value.chunks(size).try_for_each(|bytes| I::read(bytes).map(|_| ())),
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Micros;

    use crate::membership::Message;
    use crate::roster::Incarnation;
    use crate::session::Session;
    use crate::session::hostile::{Cluster, config, peer};

    /// Whom somebody asks under this name who hears these words of three members when it comes.
    fn asked_by(name: u32, words: &[(usize, Vec<u8>)]) -> usize {
        let mut joiner = Session::<u8>::join(config(), peer(3), 1, Incarnation(name)).expect("sensible");
        (0..3).for_each(|member| joiner.handle_connected(Micros::ZERO, peer(member)).expect("few links"));
        for (from, bytes) in words {
            joiner.handle_message(Micros::ZERO, peer(*from), bytes);
        }
        for tick in 1..60 {
            joiner.tick(Micros::from_millis(16 * tick));
            while let Some(packet) = joiner.poll_transmit() {
                if packet.is_reliable() && Message::decode(packet.bytes) == Ok(Message::AskSnapshot) {
                    return packet.to.to_u128() as usize - 1;
                }
            }
        }
        panic!("{name} asks nobody");
    }

    #[test]
    fn every_member_is_as_likely_to_be_asked() {
        const JOINERS: u32 = 3_000;
        let mut table = Cluster::of(3, 9);
        table.run(60).join(&[0, 1, 2]);
        let mut words = Vec::new();
        while words.len() < 6 {
            table.run(1);
            words.extend(table.said_to(3).map(|(from, bytes)| (from, bytes.to_vec())));
        }
        let mut asked = [0i64; 3];
        (0..JOINERS).for_each(|name| asked[asked_by(name, &words)] += 1);
        // Chi-square with two degrees of freedom: a fair choice is beyond 13.8 once in a thousand
        // times.
        let expected = i64::from(JOINERS) / 3;
        let off = asked.iter().map(|count| (count - expected).pow(2)).sum::<i64>() * 10 / expected;
        assert!(off < 138, "{asked:?} of {expected} each");
    }
}
