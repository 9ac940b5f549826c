//! Joining: which donor is asked, its state as it arrives, the entries it feeds, when the own
//! stream begins.
//!
//! `Session` forwards messages and ticks it. Absent: simulation, checksums, which peers are members
//! and why.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Micros, PeerId, decompress};

use super::donor::Progress;
use super::feed_progress::{FeedProgress, FeedVerdict, FeedView};
use super::incoming::{IncomingState, TRANSFER_PERCENT};
use super::stage::{Candidate, Declined, JoinAction, Stage};
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{self, Feed};
use crate::session::Cx;
use crate::transfer::{Decline, Message, Offer, PIECE_BYTES, STATE_BYTES_MAX};

/// Time other donors get after the first appears, so that the choice among them is fair.
const GATHER_DONORS: Micros = Micros::from_millis(120);
/// A donor that says nothing for this long, or sends less than one piece of its state, is given up.
const DONOR_TIMEOUT: Micros = Micros::from_millis(1_500);
/// A peer that had nothing to give is asked again after this.
const UNABLE_TTL: Micros = Micros::from_secs(1);
/// A peer whose state was too large is asked again after this.
const TOO_LARGE_TTL: Micros = Micros::from_secs(10);
/// Feeds that may wait for the state they follow; with more the transfer has taken too long to be
/// useful.
const FEEDS_MAX: usize = 4_096;
/// Bytes of feeds that may wait.
const FEED_BYTES_MAX: usize = 8 << 20;
/// A peer that is ready for this long and not admitted looks for the reason.
const ADMISSION_TIMEOUT: Micros = Micros::from_secs(4);
/// A peer that found no match for this long goes on with its own state.
const ALONE_TIMEOUT: Micros = Micros::from_secs(3);
/// Interval between two requests for a missing feed.
const REPEAT_INTERVAL: Micros = Micros::from_millis(250);

/// Progress of joining.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    stage: Stage,
    /// Feeds since the donor's state, until the state arrived and the simulation has reached them.
    feeds: VecDeque<Feed>,
    /// Donor that failed most recently.
    given_up: Option<PeerId>,
    /// Since when there has been a peer to ask.
    donors_since: Option<Micros>,
    /// Since when there has been none.
    alone_since: Option<Micros>,
    /// When a missing feed was last requested.
    feed_asked_at: Micros,
    percent_told: Option<u8>,
    /// A spectator shows the match.
    shows: bool,
    /// When the own stream began.
    begun_at: Option<Micros>,
    progress: FeedProgress,
    /// When a feed last brought this peer forward.
    brought_on_at: Micros,
    /// A donor said that the state is too large to be sent.
    is_too_large: bool,
    /// Last pair of a peer and a donor whose claims about that peer it denied.
    contradicted: Option<(PeerId, PeerId)>,
}

impl Joiner {
    /// Starts over: transfers under way are dropped.
    pub(crate) fn seek(&mut self) {
        self.settle();
        self.shows = false;
        // Changing the donor is no progress and reported as none.
        self.percent_told = self.percent_told.filter(|told| *told == 0);
    }

    /// Ends all transfers.
    pub(crate) fn settle(&mut self) {
        self.stage = Stage::Idle;
        self.feeds.clear();
        self.begun_at = None;
        self.progress = FeedProgress::default();
    }

    /// State that the game must take next.
    pub(crate) fn complete(&self) -> Option<(&Offer, &[u8])> {
        match &self.stage {
            Stage::Complete { offer, state, .. } => Some((offer, state)),
            _ => None,
        }
    }

    /// The game took the state, or could not.
    pub(crate) fn take_complete(&mut self) -> Option<(PeerId, Box<Offer>)> {
        match std::mem::take(&mut self.stage) {
            Stage::Complete { donor, offer, .. } => Some((donor, offer)),
            other => {
                self.stage = other;
                None
            }
        }
    }

    /// Drops the state under way, which is not wanted any more.
    pub(crate) fn drop_state(&mut self) {
        self.stage = Stage::Idle;
    }

    /// A stay begins with the state of this donor, which feeds this peer from now on.
    pub(crate) fn begin_fed(&mut self, now: Micros, donor: PeerId) {
        let feeds = std::mem::take(&mut self.feeds);
        self.settle();
        self.feeds = feeds;
        self.stage = Stage::Fed { donor, at: now };
    }

    /// Whether a donor serves this peer.
    pub(crate) fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Whether a donor feeds this peer.
    pub(crate) fn is_fed(&self) -> bool {
        matches!(self.stage, Stage::Fed { .. })
    }

    /// Whether no donor was found yet, or the asked one has not answered.
    pub(crate) fn is_seeking(&self) -> bool {
        matches!(self.stage, Stage::Idle | Stage::Asked { .. })
    }

    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// The donor, if there is one.
    pub(crate) fn donor(&self) -> Option<PeerId> {
        self.stage.donor()
    }

    /// Whether the own stream has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun_at.is_some()
    }

    /// Notes that the own stream begins.
    pub(crate) fn begin_stream(&mut self, now: Micros) {
        self.begun_at = Some(now);
    }

    /// Notes that the own stream ends. True if it had begun.
    #[must_use]
    pub(crate) fn end_stream(&mut self) -> bool {
        self.begun_at.take().is_some()
    }

    /// Whether the own stream has run for so long that admission is overdue.
    pub(crate) fn is_admission_late(&self, now: Micros) -> bool {
        self.begun_at.is_some_and(|at| now.since(at) >= ADMISSION_TIMEOUT)
    }

    /// An acknowledgement of all bytes of a state so far was sent.
    pub(crate) fn note_acknowledged(&mut self) {
        if let Stage::Receiving { incoming, .. } = &mut self.stage {
            incoming.note_acknowledged();
        }
    }

    /// Donor that failed most recently.
    pub(crate) fn given_up(&self) -> Option<PeerId> {
        self.given_up
    }

    /// A donor failed, and is not asked next.
    pub(crate) fn give_up(&mut self, donor: PeerId) {
        self.given_up = Some(donor);
    }

    /// A feed brought this peer forward.
    pub(crate) fn note_brought_on(&mut self, now: Micros) {
        self.brought_on_at = now;
    }

    pub(crate) fn brought_on_at(&self) -> Micros {
        self.brought_on_at
    }

    /// The donor, if it is not `there` any more, or has sent nothing for too long.
    #[must_use]
    pub(crate) fn overdue_donor(&self, now: Micros, there: impl Fn(PeerId) -> bool) -> Option<PeerId> {
        let donor = self.stage.donor()?;
        let (since, drags_on) = match &self.stage {
            Stage::Asked { at, .. } | Stage::Fed { at, .. } | Stage::Complete { at, .. } => (*at, false),
            Stage::Receiving { incoming, .. } => incoming.progress(now),
            Stage::Idle => (now, false),
        };
        (!there(donor) || drags_on || now.since(since) >= DONOR_TIMEOUT).then_some(donor)
    }

    /// A donor serves this peer no more, and is not asked next. True if another one must feed it.
    #[must_use]
    pub(crate) fn lose_donor(&mut self, donor: PeerId, is_learner: bool) -> bool {
        self.given_up = Some(donor);
        let needs_feeder = is_learner && self.is_fed();
        if !needs_feeder {
            self.stage = Stage::Idle;
            self.feeds.clear();
        }
        needs_feeder
    }

    /// Asks a donor. It is chosen at random, so that no member bears all joiners. While other
    /// candidates `may_follow`, they get a moment to appear. A peer that can go on with a state of
    /// its own `may_create` a match.
    pub(crate) fn choose(
        &mut self,
        cx: &mut Cx,
        candidates: &[Candidate],
        may_follow: impl FnOnce() -> bool,
        may_create: bool,
    ) -> JoinAction {
        if candidates.iter().any(|candidate| candidate.unable_until.is_none()) {
            self.alone_since = None;
        } else {
            let since = *self.alone_since.get_or_insert(cx.now);
            if may_create && cx.now.since(since) >= ALONE_TIMEOUT {
                self.alone_since = None;
                return JoinAction::CreateMatch;
            }
        }
        let may_ask = |candidate: &&Candidate| candidate.unable_until.is_none_or(|until| cx.now >= until);
        let mut donors: Vec<PeerId> = candidates.iter().filter(may_ask).map(|c| c.peer).collect();
        if donors.is_empty() {
            self.donors_since = None;
            return JoinAction::Nothing;
        }
        let since = *self.donors_since.get_or_insert(cx.now);
        if may_follow() && cx.now.since(since) < GATHER_DONORS {
            return JoinAction::Nothing;
        }
        // A donor that failed is not asked twice in a row.
        let given_up = self.given_up;
        if donors.iter().any(|donor| Some(*donor) != given_up) {
            donors.retain(|donor| Some(*donor) != given_up);
        }
        if let Some(donor) = cx.rng.pick(&donors).copied() {
            self.ask_snapshot(cx, donor);
        }
        JoinAction::Nothing
    }

    pub(crate) fn ask_snapshot(&mut self, cx: &mut Cx, donor: PeerId) {
        membership::Message::AskSnapshot.encode(cx.outbox.message(donor));
        self.stage = Stage::Asked { donor, at: cx.now };
        self.feeds.clear();
    }

    /// Asks a donor to be fed after `known`.
    pub(crate) fn ask_feed(&mut self, cx: &mut Cx, donor: PeerId, known: Progress) {
        let Progress { frame, history, depth } = known;
        let ask = Message::AskFeed { from: frame.next(), known: history, depth };
        ask.encode(cx.outbox.message(donor));
        self.feeds.clear();
        self.feed_asked_at = cx.now;
        self.stage = Stage::Fed { donor, at: cx.now };
    }

    /// Asks again for a feed that was dropped when it arrived. Later feeds under way are useless,
    /// so it is requested once per interval.
    pub(crate) fn ask_feed_again(&mut self, cx: &mut Cx, donor: PeerId, known: Progress) {
        if cx.now.since(self.feed_asked_at) >= REPEAT_INTERVAL {
            self.ask_feed(cx, donor, known);
        }
    }

    pub(crate) fn handle_decline(&mut self, cx: &mut Cx, peer: PeerId, why: Decline) -> Declined {
        if self.stage.donor() != Some(peer) {
            return Declined::Nothing;
        }
        match (&self.stage, why) {
            (Stage::Fed { .. }, Decline::TooOld) => {
                // Too far behind for any donor's feed: only a state helps.
                self.ask_snapshot(cx, peer);
                Declined::Nothing
            }
            (Stage::Asked { .. }, Decline::Unable) => {
                // That peer lost its match, too, and cannot tell: each would wait for the other
                // without end.
                self.stage = Stage::Idle;
                Declined::UntilLater(cx.now + UNABLE_TTL)
            }
            (Stage::Asked { .. }, Decline::TooLarge { bytes }) => {
                self.stage = Stage::Idle;
                // Other peers have the same state.
                if !std::mem::replace(&mut self.is_too_large, true) {
                    cx.events.push(SessionEvent::StateTooLarge { peer, bytes, max: STATE_BYTES_MAX });
                }
                Declined::UntilLater(cx.now + TOO_LARGE_TTL)
            }
            _ => Declined::Lost,
        }
    }

    /// Whether this peer was asked for a state and may offer it.
    pub(crate) fn awaits_offer(&self, peer: PeerId) -> bool {
        matches!(self.stage, Stage::Asked { donor, .. } if donor == peer)
    }

    /// Takes the offer of a state that [was asked for](Joiner::awaits_offer).
    ///
    /// # Errors
    /// If it is empty and its hash says otherwise.
    pub(crate) fn handle_offer(
        &mut self,
        cx: &mut Cx,
        offer: Box<Offer>,
        is_wanted: bool,
    ) -> Result<(), PeerFault> {
        let Stage::Asked { donor, .. } = self.stage else { return Ok(()) };
        if !is_wanted {
            Message::Enough.encode(cx.outbox.message(donor));
            self.stage = Stage::Idle;
            return Ok(());
        }
        let incoming = Box::new(IncomingState::new(offer, cx.now));
        self.stage = Stage::Receiving { donor, incoming };
        self.complete_state(cx.now)
    }

    /// Takes the next compressed piece of a state. Pieces that were not requested are not
    /// decompressed.
    pub(crate) fn handle_packed(
        &mut self,
        cx: &mut Cx,
        peer: PeerId,
        number: u32,
        packed: &[u8],
    ) -> Result<(), PeerFault> {
        let is_awaited = matches!(&self.stage, Stage::Receiving { donor, incoming }
            if *donor == peer && incoming.number() == number);
        if !is_awaited {
            return Ok(());
        }
        match decompress(packed, PIECE_BYTES) {
            Ok(bytes) => self.handle_piece(cx, peer, number, &bytes),
            Err(why) => {
                self.stage = Stage::Idle;
                Err(why.into())
            }
        }
    }

    /// Takes the next piece of a state.
    ///
    /// # Errors
    /// If there are more than a donor may send, or the whole state does not match its hash.
    pub(crate) fn handle_piece(
        &mut self,
        cx: &mut Cx,
        peer: PeerId,
        number: u32,
        bytes: &[u8],
    ) -> Result<(), PeerFault> {
        let Stage::Receiving { donor, incoming } = &mut self.stage else { return Ok(()) };
        if *donor != peer || number != incoming.number() {
            return Ok(());
        }
        match incoming.push(cx.now, bytes) {
            Ok(bytes) => Message::Got { number, bytes }.encode(cx.outbox.message(peer)),
            Err(fault) => {
                self.stage = Stage::Idle;
                return Err(fault);
            }
        }
        self.complete_state(cx.now)
    }

    /// Completes the state if all of it has arrived.
    fn complete_state(&mut self, now: Micros) -> Result<(), PeerFault> {
        match std::mem::take(&mut self.stage) {
            Stage::Receiving { donor, incoming } if incoming.is_complete() => {
                let (offer, state) = incoming.finish()?;
                self.stage = Stage::Complete { donor, offer, state, at: now };
            }
            other => self.stage = other,
        }
        Ok(())
    }

    /// Takes a feed. False if it was ignored.
    #[must_use]
    pub(crate) fn handle_feed(&mut self, now: Micros, peer: PeerId, feed: Feed) -> bool {
        if self.stage.donor() != Some(peer) {
            return false;
        }
        if let Stage::Fed { at, .. } = &mut self.stage {
            *at = now;
            self.progress.note_feed();
        }
        let waiting: usize = self.feeds.iter().map(Feed::weight).sum();
        let has_room = self.feeds.len() < FEEDS_MAX && waiting + feed.weight() <= FEED_BYTES_MAX;
        if has_room {
            self.feeds.push_back(feed);
        } else {
            self.given_up = Some(peer);
            self.seek();
        }
        has_room
    }

    /// Next feed to follow, as long as inputs up to its frame fit in the table.
    #[must_use]
    pub(crate) fn next_feed(&mut self, confirmed: Frame, current: Frame, lookahead: u32) -> Option<Feed> {
        let is_near = confirmed <= current.saturating_add(2 * lookahead);
        if self.is_fed() && is_near { self.feeds.pop_front() } else { None }
    }

    /// The donor, if its progress is to be checked now.
    #[must_use]
    pub(crate) fn look_due(&self, now: Micros) -> Option<PeerId> {
        self.donor().filter(|donor| self.is_fed() && self.progress.is_look_due(now, *donor))
    }

    /// Checks progress: a donor that is heard, but brings this peer no closer to the others, is
    /// given up.
    pub(crate) fn look(&mut self, now: Micros, view: FeedView) -> FeedVerdict {
        let view = FeedView { begun_at: self.begun_at, is_waiting: !self.feeds.is_empty(), ..view };
        self.progress.look(now, &view)
    }

    /// Forgets measured progress.
    pub(crate) fn forget_progress(&mut self) {
        self.progress = FeedProgress::default();
    }

    /// Donor whose claims about `peer` this peer denies. None if `peer` denied another donor's
    /// claims before: then `peer` is the dishonest one.
    #[must_use]
    pub(crate) fn contradicted_donor(&self, peer: PeerId) -> Option<PeerId> {
        let donor = self.donor().filter(|donor| *donor != peer)?;
        let is_again = |(owner, former): (PeerId, PeerId)| owner == peer && former != donor;
        (!self.contradicted.is_some_and(is_again)).then_some(donor)
    }

    pub(crate) fn note_contradicted(&mut self, peer: PeerId, donor: PeerId) {
        self.contradicted = Some((peer, donor));
    }

    /// Whether the reported progress depends on the distance to the head of the match.
    pub(crate) fn needs_present(&self) -> bool {
        self.is_fed() && !self.shows && self.begun_at.is_none()
    }

    /// Ends progress reports, for a member.
    pub(crate) fn end_progress(&mut self) {
        self.percent_told = None;
    }

    /// Reports progress; `behind` is the distance to the head of the match if known. Once a
    /// spectator `is_shown` the match, it no longer counts as joining, however far it falls behind.
    pub(crate) fn tell_progress(
        &mut self,
        cx: &mut Cx,
        is_shown: bool,
        behind: impl FnOnce() -> Option<u32>,
    ) {
        self.shows |= is_shown && self.is_fed();
        if self.shows {
            return;
        }
        let percent = match &self.stage {
            Stage::Idle => return,
            Stage::Asked { .. } => 0,
            Stage::Receiving { incoming, .. } => incoming.percent(),
            Stage::Complete { .. } => TRANSFER_PERCENT,
            Stage::Fed { .. } if self.begun_at.is_some() => 99,
            Stage::Fed { .. } => TRANSFER_PERCENT + 18 * u64::from(60 - behind().unwrap_or(60).min(60)) / 60,
        };
        let percent = percent.min(99) as u8;
        if self.percent_told.is_none_or(|told| percent > told) {
            self.percent_told = Some(percent);
            cx.events.push(SessionEvent::JoinProgress { percent });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONOR: PeerId = PeerId::from_u128(2);

    fn candidate(number: u128) -> Candidate {
        Candidate { peer: PeerId::from_u128(number), unable_until: None }
    }

    fn asked(cx: &mut Cx) -> Vec<u128> {
        let mut asked = Vec::new();
        while let Some((to, _, bytes)) = cx.outbox.pop() {
            if membership::Message::decode(bytes) == Ok(membership::Message::AskSnapshot) {
                asked.push(to.to_u128());
            }
        }
        asked
    }

    #[test]
    fn donor_is_asked_once_all_had_time_to_show_up() {
        let (mut cx, mut joiner) = (Cx::for_test(), Joiner::default());
        let choose = |cx: &mut Cx, joiner: &mut Joiner| joiner.choose(cx, &[candidate(2)], || true, false);
        assert_eq!(choose(&mut cx, &mut joiner), JoinAction::Nothing);
        assert!(asked(&mut cx).is_empty());
        cx.now = GATHER_DONORS;
        assert_eq!(choose(&mut cx, &mut joiner), JoinAction::Nothing);
        assert_eq!(asked(&mut cx), [2]);
        assert_eq!(joiner.donor(), Some(DONOR));
        assert_eq!(joiner.overdue_donor(GATHER_DONORS, |_| true), None);
        assert_eq!(joiner.overdue_donor(GATHER_DONORS + DONOR_TIMEOUT, |_| true), Some(DONOR));
        assert_eq!(joiner.overdue_donor(GATHER_DONORS, |_| false), Some(DONOR));
    }

    #[test]
    fn lost_donor_is_not_asked_next() {
        let (mut cx, mut joiner) = (Cx::for_test(), Joiner::default());
        assert!(!joiner.lose_donor(DONOR, false));
        let both = [candidate(2), candidate(3)];
        assert_eq!(joiner.choose(&mut cx, &both, || false, false), JoinAction::Nothing);
        assert_eq!(asked(&mut cx), [3]);
    }

    #[test]
    fn peer_with_state_and_without_match_creates_one() {
        let (mut cx, mut joiner) = (Cx::for_test(), Joiner::default());
        let unable = Candidate { unable_until: Some(Micros::from_secs(60)), ..candidate(2) };
        assert_eq!(joiner.choose(&mut cx, &[unable], || false, true), JoinAction::Nothing);
        cx.now = ALONE_TIMEOUT;
        assert_eq!(joiner.choose(&mut cx, &[unable], || false, true), JoinAction::CreateMatch);
        assert_eq!(joiner.choose(&mut cx, &[unable], || false, false), JoinAction::Nothing);
    }

    #[test]
    fn refusals_end_what_was_asked_for() {
        let (mut cx, mut joiner) = (Cx::for_test(), Joiner::default());
        let stranger = joiner.handle_decline(&mut cx, DONOR, Decline::Busy);
        assert_eq!(stranger, Declined::Nothing, "it was not asked");
        joiner.ask_snapshot(&mut cx, DONOR);
        assert!(joiner.awaits_offer(DONOR));
        let large = joiner.handle_decline(&mut cx, DONOR, Decline::TooLarge { bytes: 9 });
        assert_eq!(large, Declined::UntilLater(TOO_LARGE_TTL));
        assert!(joiner.is_too_large() && !joiner.is_busy());
        let event = SessionEvent::StateTooLarge { peer: DONOR, bytes: 9, max: STATE_BYTES_MAX };
        assert_eq!(cx.events.pop(), Some(event));
        joiner.ask_snapshot(&mut cx, DONOR);
        assert_eq!(joiner.handle_decline(&mut cx, DONOR, Decline::Busy), Declined::Lost);
    }

    #[test]
    fn peer_that_contradicts_two_donors_lies_itself() {
        let (mut cx, mut joiner) = (Cx::for_test(), Joiner::default());
        let (owner, other) = (PeerId::from_u128(5), PeerId::from_u128(3));
        joiner.ask_snapshot(&mut cx, DONOR);
        assert_eq!(joiner.contradicted_donor(owner), Some(DONOR));
        joiner.note_contradicted(owner, DONOR);
        joiner.ask_snapshot(&mut cx, other);
        assert_eq!(joiner.contradicted_donor(owner), None);
        assert_eq!(joiner.contradicted_donor(other), None, "its own word");
    }
}
