//! Coming in: which donor is asked, its state as it arrives, what it feeds, when our stream begins.
//!
//! `Session` passes messages on and ticks it. Absent: simulation, checksums, which peers are
//! members and why.

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

/// After the first donor shows up the others get so long, so that every one is as likely.
const GATHER_DONORS: Micros = Micros::from_millis(120);
/// A donor that says nothing for so long, or gives less than a piece of its state meanwhile, is
/// given up.
const DONOR_TIMEOUT: Micros = Micros::from_millis(1_500);
/// A peer that has nothing to give is asked again after this.
const UNABLE_TTL: Micros = Micros::from_secs(1);
/// A peer whose state is too large, after this.
const TOO_LARGE_TTL: Micros = Micros::from_secs(10);
/// Feeds that wait for the state they follow on; beyond this the transfer takes too long to be of
/// use.
const FEEDS_MAX: usize = 4_096;
/// And so many bytes of them.
const FEED_BYTES_MAX: usize = 8 << 20;
/// A peer that is ready for so long and not admitted looks for the reason.
const ADMISSION_TIMEOUT: Micros = Micros::from_secs(4);
/// A peer without a match to come to goes on with its own state after so long.
const ALONE_TIMEOUT: Micros = Micros::from_secs(3);
/// A feed that is missing is asked for once in so long.
const REPEAT_INTERVAL: Micros = Micros::from_millis(250);

/// How far coming in is.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    stage: Stage,
    /// What the donor confirmed since its state, until we have that and have simulated as far.
    feeds: VecDeque<Feed>,
    /// The peer that was of no use when asked last.
    given_up: Option<PeerId>,
    /// Since when there has been a peer to ask.
    donors_since: Option<Micros>,
    /// Since when there has been none.
    alone_since: Option<Micros>,
    /// When a feed was last asked for.
    feed_asked_at: Micros,
    percent_told: Option<u8>,
    /// A spectator sees the match.
    shows: bool,
    /// When our own stream began.
    begun_at: Option<Micros>,
    progress: FeedProgress,
    /// When what we were fed last brought us on.
    brought_on_at: Micros,
    /// A donor said that the state is too large to be sent.
    is_too_large: bool,
    /// The peer that last said that it did something else than this donor says it did.
    contradicted: Option<(PeerId, PeerId)>,
}

impl Joiner {
    /// Starts over: whatever was under way is of no use.
    pub(crate) fn seek(&mut self) {
        self.settle();
        self.shows = false;
        // A peer that asks another one has not come any further: that is no news.
        self.percent_told = self.percent_told.filter(|told| *told == 0);
    }

    /// Nothing is under way any more.
    pub(crate) fn settle(&mut self) {
        self.stage = Stage::Idle;
        self.feeds.clear();
        self.begun_at = None;
        self.progress = FeedProgress::default();
    }

    /// The state the game must take next.
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

    /// What is under way is not wanted any more.
    pub(crate) fn drop_state(&mut self) {
        self.stage = Stage::Idle;
    }

    /// A stay begins with the state of this donor, which feeds us from now on.
    pub(crate) fn begin_fed(&mut self, now: Micros, donor: PeerId) {
        let feeds = std::mem::take(&mut self.feeds);
        self.settle();
        self.feeds = feeds;
        self.stage = Stage::Fed { donor, at: now };
    }

    /// Whether a donor helps us.
    pub(crate) fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Whether a donor tells us what it confirms.
    pub(crate) fn is_fed(&self) -> bool {
        matches!(self.stage, Stage::Fed { .. })
    }

    /// Whether a donor is still to be found, or has not answered.
    pub(crate) fn is_seeking(&self) -> bool {
        matches!(self.stage, Stage::Idle | Stage::Asked { .. })
    }

    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// The peer that helps us in.
    pub(crate) fn donor(&self) -> Option<PeerId> {
        self.stage.donor()
    }

    /// Whether our own stream has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun_at.is_some()
    }

    /// Our own stream begins.
    pub(crate) fn begin_stream(&mut self, now: Micros) {
        self.begun_at = Some(now);
    }

    /// Ends the count of how long our stream runs. True if it has begun.
    #[must_use]
    pub(crate) fn end_stream(&mut self) -> bool {
        self.begun_at.take().is_some()
    }

    /// Whether our stream runs for so long that being admitted is overdue.
    pub(crate) fn is_admission_late(&self, now: Micros) -> bool {
        self.begun_at.is_some_and(|at| now.since(at) >= ADMISSION_TIMEOUT)
    }

    /// All we had to say went out, and with it how much of a state arrived.
    pub(crate) fn note_acknowledged(&mut self) {
        if let Stage::Receiving { incoming, .. } = &mut self.stage {
            incoming.note_acknowledged();
        }
    }

    /// The peer that was of no use when asked last.
    pub(crate) fn given_up(&self) -> Option<PeerId> {
        self.given_up
    }

    /// A peer is of no use, and not asked next.
    pub(crate) fn give_up(&mut self, donor: PeerId) {
        self.given_up = Some(donor);
    }

    /// What we were fed brought us on.
    pub(crate) fn note_brought_on(&mut self, now: Micros) {
        self.brought_on_at = now;
    }

    pub(crate) fn brought_on_at(&self) -> Micros {
        self.brought_on_at
    }

    /// The donor, if it is not `there` any more, or has given nothing for too long.
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

    /// A donor helps no more, and is not asked next. True if another one must feed us.
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

    /// Any member is as good as any other: which one is asked is left to chance, so that none pays
    /// for all. While others `may_follow`, they get a moment. A peer that can go on with a state of
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
        // One that gave nothing, or for ever, is not asked twice in a row.
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

    /// Asks to be told what was confirmed after what we know.
    pub(crate) fn ask_feed(&mut self, cx: &mut Cx, donor: PeerId, known: Progress) {
        let Progress { frame, history, depth } = known;
        let ask = Message::AskFeed { from: frame.next(), known: history, depth };
        ask.encode(cx.outbox.message(donor));
        self.feeds.clear();
        self.feed_asked_at = cx.now;
        self.stage = Stage::Fed { donor, at: cx.now };
    }

    /// A feed we could not take at the time is missing now. What is under way is of no use either,
    /// so it is asked for once.
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
                // Too far behind for any peer: only a state helps.
                self.ask_snapshot(cx, peer);
                Declined::Nothing
            }
            (Stage::Asked { .. }, Decline::Unable) => {
                // It lost its match as we did, and cannot tell: each would wait for the other for
                // ever.
                self.stage = Stage::Idle;
                Declined::UntilLater(cx.now + UNABLE_TTL)
            }
            (Stage::Asked { .. }, Decline::TooLarge { bytes }) => {
                self.stage = Stage::Idle;
                // Others have the same.
                if !std::mem::replace(&mut self.is_too_large, true) {
                    cx.events.push(SessionEvent::StateTooLarge { peer, bytes, max: STATE_BYTES_MAX });
                }
                Declined::UntilLater(cx.now + TOO_LARGE_TTL)
            }
            _ => Declined::Lost,
        }
    }

    /// Whether a state was asked for that this peer may offer.
    pub(crate) fn awaits_offer(&self, peer: PeerId) -> bool {
        matches!(self.stage, Stage::Asked { donor, .. } if donor == peer)
    }

    /// A state is offered that [was asked for](Joiner::awaits_offer).
    ///
    /// # Errors
    /// If it is empty and not what its hash says.
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

    /// The next piece of a state, packed. Only what was asked for is worth the work.
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

    /// The next piece of a state.
    ///
    /// # Errors
    /// If there are more than can be under way, or the state is not what its hash says.
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

    /// Looks whether all of a state is there.
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

    /// The donor tells what it confirmed. False if it is not taken.
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

    /// The next feed to follow, no further ahead of the simulation than inputs are kept.
    #[must_use]
    pub(crate) fn next_feed(&mut self, confirmed: Frame, current: Frame, lookahead: u32) -> Option<Feed> {
        let is_near = confirmed <= current.saturating_add(2 * lookahead);
        if self.is_fed() && is_near { self.feeds.pop_front() } else { None }
    }

    /// Whether it is time to look how far being fed has led: by which donor.
    #[must_use]
    pub(crate) fn look_due(&self, now: Micros) -> Option<PeerId> {
        self.donor().filter(|donor| self.is_fed() && self.progress.is_look_due(now, *donor))
    }

    /// A donor that is heard, but brings us no closer to where the others are, is given up.
    pub(crate) fn look(&mut self, now: Micros, view: FeedView) -> FeedVerdict {
        let view = FeedView { begun_at: self.begun_at, is_waiting: !self.feeds.is_empty(), ..view };
        self.progress.look(now, &view)
    }

    /// What was known of how far being fed led is void.
    pub(crate) fn forget_progress(&mut self) {
        self.progress = FeedProgress::default();
    }

    /// The donor that told us what `peer` did, which that one denies. None if `peer` denied another
    /// donor's word before: then it lies itself.
    #[must_use]
    pub(crate) fn contradicted_donor(&self, peer: PeerId) -> Option<PeerId> {
        let donor = self.donor().filter(|donor| *donor != peer)?;
        let is_again = |(owner, former): (PeerId, PeerId)| owner == peer && former != donor;
        (!self.contradicted.is_some_and(is_again)).then_some(donor)
    }

    pub(crate) fn note_contradicted(&mut self, peer: PeerId, donor: PeerId) {
        self.contradicted = Some((peer, donor));
    }

    /// Whether progress depends on how far behind the present frame we are.
    pub(crate) fn needs_present(&self) -> bool {
        self.is_fed() && !self.shows && self.begun_at.is_none()
    }

    /// A member needs no progress told.
    pub(crate) fn end_progress(&mut self) {
        self.percent_told = None;
    }

    /// Tells how far coming in is; `behind` the present frame if that is known. A spectator that
    /// `is_shown` the match comes in no more: what it may fall behind from then on is no coming in.
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
