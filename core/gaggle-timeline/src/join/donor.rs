//! Service for joiners: the local state in pieces, then confirmed entries, until they need no more.
//!
//! `Session` forwards requests and ticks it. Absent: which peers may join, how states are
//! simulated, views.

use gaggle_kit::{Frame, Micros, PeerId, StateHasher, compress};

use crate::driver::TRANSFER_STREAM;
use crate::event::SessionEvent;
use crate::membership::{Feed, History, JoinContext};
use crate::session::Cx;
use crate::transfer::{Decline, Message, Offer, PIECE_BYTES, STATE_BYTES_MAX, WINDOW_BYTES};

/// Joiners one peer serves at a time, spectators included; others are fed by other peers.
const DONATIONS_MAX: usize = 8;
/// Newly confirmed frames after which a feed is sent, or the longest interval if they are fewer.
const FEED_FRAMES: u32 = 3;
const FEED_INTERVAL: Micros = Micros::from_millis(50);
/// The same for feeds of a member to spectators. Spectators forward feeds at once, so a chain of
/// them adds this latency only once.
const SPECTATOR_FEED_FRAMES: u32 = 9;
const SPECTATOR_FEED_INTERVAL: Micros = Micros::from_millis(150);
/// Size of most feeds without their tails, and of each tail.
const FEED_BYTES: usize = 32;
const FEED_TAIL_BYTES: usize = 64;
/// Spectators among them that keep being served by a player: further ones can be fed by spectators.
const SPECTATORS_MAX: usize = 6;
/// A joiner that acknowledges nothing for this long is dropped.
const DONATION_TIMEOUT: Micros = Micros::from_secs(10);
/// A joiner that has all it needs for this long without playing is dropped.
const ADMISSION_TIMEOUT: Micros = Micros::from_secs(60);

/// A state that was too large is not encoded again for this long.
const TOO_LARGE_TTL: Micros = Micros::from_secs(10);

/// All joiners this peer serves.
#[derive(Debug, Default)]
pub(crate) struct Donor {
    all: Vec<Donation>,
    count: u32,
    /// Size of the local state when it was last found too large, and when that was.
    too_large: Option<(u64, Micros)>,
}

#[derive(Debug)]
struct Donation {
    to: PeerId,
    number: u32,
    /// When the stage began, or last made progress.
    since: Micros,
    is_spectator: bool,
    transfer: SnapshotTransfer,
    fed: Option<Fed>,
}

#[derive(Debug)]
enum SnapshotTransfer {
    /// The state must be encoded.
    Wanted,
    Sending {
        state: Vec<u8>,
        sent: usize,
        got: usize,
    },
    /// The whole state has arrived, or none was requested.
    Done,
}

/// Progress a joiner was last fed up to, and when.
#[derive(Debug, Clone, Copy)]
struct Fed {
    known: Progress,
    at: Micros,
}

/// Last confirmed frame that is known, with its branch and the depth of its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) frame: Frame,
    pub(crate) history: History,
    pub(crate) depth: u32,
}

/// A peer that asks to be served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) peer: PeerId,
    pub(crate) is_spectator: bool,
    /// Its requests exceed the rate limit.
    pub(crate) is_limited: bool,
    /// The local peer has a state to give.
    pub(crate) is_able: bool,
}

/// Condition of a joiner that is served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joining {
    pub(crate) is_spectator: bool,
    pub(crate) is_here: bool,
    /// It is a member and has confirmed all frames since it became one.
    pub(crate) is_full: bool,
}

impl Donor {
    pub(crate) fn forget(&mut self, peer: PeerId) {
        self.all.retain(|donation| donation.to != peer);
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    /// Whether all joiners are spectators that need only confirmed entries.
    pub(crate) fn only_feed(&self) -> bool {
        self.all
            .iter()
            .all(|donation| donation.is_spectator && matches!(donation.transfer, SnapshotTransfer::Done))
    }

    /// Piece of a state that is being sent.
    #[cfg(test)]
    pub(crate) fn transfer(&self) -> Option<Vec<u8>> {
        self.all.iter().find_map(|donation| match &donation.transfer {
            SnapshotTransfer::Sending { state, .. } => Some(state.clone()),
            SnapshotTransfer::Wanted | SnapshotTransfer::Done => None,
        })
    }

    /// A joiner that is being sent a state, and the number of the transfer.
    #[cfg(test)]
    pub(crate) fn sending(&self) -> Option<(PeerId, u32)> {
        let sending =
            self.all.iter().find(|donation| matches!(donation.transfer, SnapshotTransfer::Sending { .. }))?;
        Some((sending.to, sending.number))
    }

    /// Number of joiners whose state has not arrived yet.
    #[cfg(test)]
    pub(crate) fn unfinished(&self) -> usize {
        self.all.iter().filter(|donation| !matches!(donation.transfer, SnapshotTransfer::Done)).count()
    }

    /// Whether the state must be encoded for a joiner.
    #[inline]
    pub(crate) fn export_due(&self) -> bool {
        self.all.iter().any(|donation| matches!(donation.transfer, SnapshotTransfer::Wanted))
    }

    /// A joiner requests the local state. Declined if `cx` or `is_able` forbid it, or if no place
    /// is left.
    pub(crate) fn handle_request(&mut self, cx: &mut Cx, asker: Asker) {
        self.forget(asker.peer);
        if !self.admits(cx, asker) {
            return;
        }
        self.count += 1;
        self.all.push(Donation {
            to: asker.peer,
            number: self.count,
            since: cx.now,
            is_spectator: asker.is_spectator,
            transfer: SnapshotTransfer::Wanted,
            fed: None,
        });
    }

    /// A joiner that lost its donor asks to be fed from the frame it knows on. `has_feed` says
    /// whether those entries are still held.
    pub(crate) fn handle_feed_request(
        &mut self,
        cx: &mut Cx,
        asker: Asker,
        known: Progress,
        has_feed: impl FnOnce() -> bool,
    ) {
        self.forget(asker.peer);
        if !self.admits(cx, asker) {
            return;
        }
        if !has_feed() {
            decline(cx, asker.peer, Decline::TooOld);
            return;
        }
        self.all.push(Donation {
            to: asker.peer,
            number: 0,
            since: cx.now,
            is_spectator: asker.is_spectator,
            transfer: SnapshotTransfer::Done,
            fed: Some(Fed { known, at: Micros::ZERO }),
        });
    }

    /// Whether a joiner is served; a joiner that is not gets a refusal.
    fn admits(&mut self, cx: &mut Cx, asker: Asker) -> bool {
        let now = cx.now;
        self.too_large.take_if(|(_, at)| now.since(*at) >= TOO_LARGE_TTL);
        let too_large = self.too_large;
        let why = match too_large {
            _ if asker.is_limited => Decline::Busy,
            Some((bytes, _)) => Decline::TooLarge { bytes },
            None if !asker.is_able => Decline::Unable,
            None if self.all.len() < DONATIONS_MAX || self.make_room(cx, asker) => return true,
            None => Decline::Busy,
        };
        decline(cx, asker.peer, why);
        false
    }

    /// Makes a place for a player. Only in the match can a peer show that it is a spectator, so
    /// spectators may fill all places. The spectator that most other peers could feed is dropped,
    /// unless the asker is itself one of those. False if none is dropped.
    fn make_room(&mut self, cx: &mut Cx, asker: Asker) -> bool {
        let is_fed = |d: &&Donation| d.is_spectator && matches!(d.transfer, SnapshotTransfer::Done);
        let fed = || self.all.iter().filter(is_fed);
        let last = fed().map(|donation| donation.to).max();
        let last = last.filter(|last| !asker.is_spectator || asker.peer < *last);
        let Some(last) = last.filter(|_| fed().count() > SPECTATORS_MAX) else { return false };
        self.forget(last);
        decline(cx, last, Decline::Busy);
        true
    }

    /// Ends all feeds. If `was_wrong`, what they contained was wrong, and the joiners need the new
    /// state.
    pub(crate) fn end_all(&mut self, cx: &mut Cx, was_wrong: bool) {
        for donation in std::mem::take(&mut self.all).into_iter().filter(|_| was_wrong) {
            decline(cx, donation.to, Decline::TooOld);
        }
    }

    /// A joiner acknowledged this much of the state.
    pub(crate) fn handle_ack(&mut self, now: Micros, peer: PeerId, number: u32, bytes: u64) {
        let donation = self.all.iter_mut().find(|d| d.to == peer && d.number == number);
        if let Some(Donation { transfer: SnapshotTransfer::Sending { sent, got, .. }, since, .. }) = donation
        {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(*sent);
            if bytes > *got {
                (*got, *since) = (bytes, now);
            }
        }
    }

    /// The state was encoded, or could not be: joiners that wait get it, or a refusal. `context` is
    /// the join context, with the hash of all inputs before.
    pub(crate) fn handle_export(
        &mut self,
        cx: &mut Cx,
        state: &[u8],
        context: Option<(JoinContext, u64)>,
        progress: Progress,
    ) {
        let (Some((join_context, inputs_hash)), false) = (context, state.is_empty()) else {
            self.decline_wanted(cx, Decline::Unable);
            return;
        };
        let (bytes, max) = (state.len() as u64, STATE_BYTES_MAX);
        if bytes > max {
            self.too_large = Some((bytes, cx.now));
            cx.events.push(SessionEvent::StateTooLarge { peer: cx.local_peer, bytes, max });
            self.decline_wanted(cx, Decline::TooLarge { bytes });
            return;
        }
        let state_hash = StateHasher::of(state);
        for donation in &mut self.all {
            if !matches!(donation.transfer, SnapshotTransfer::Wanted) {
                continue;
            }
            let (number, join_context) = (donation.number, join_context.clone());
            let offer = Offer { number, state_bytes: bytes, state_hash, inputs_hash, join_context };
            Message::Offer(Box::new(offer)).encode(cx.outbox.message(donation.to));
            cx.stats.snapshots_sent += 1;
            donation.transfer = SnapshotTransfer::Sending { state: state.to_vec(), sent: 0, got: 0 };
            donation.fed = Some(Fed { known: progress, at: cx.now });
        }
    }

    /// The state could not be encoded: joiners that wait are declined, or it would be requested
    /// without end.
    fn decline_wanted(&mut self, cx: &mut Cx, why: Decline) {
        self.all.retain(|donation| {
            let is_wanted = matches!(donation.transfer, SnapshotTransfer::Wanted);
            if is_wanted {
                decline(cx, donation.to, why);
            }
            !is_wanted
        });
    }

    /// Advances time: sends pieces, and drops joiners that are gone or have what they need,
    /// according to `joiner`. Feeds are sent by [`feed`](Donor::feed).
    pub(crate) fn tick(&mut self, cx: &mut Cx, is_able: bool, joiner: impl Fn(PeerId) -> Joining) {
        if !is_able {
            // This peer may be about to leave, or was told of another branch: other donors must
            // take over.
            for donation in std::mem::take(&mut self.all) {
                decline(cx, donation.to, Decline::Unable);
            }
            return;
        }
        let now = cx.now;
        self.all.retain_mut(|donation| {
            let joiner = joiner(donation.to);
            // Only in the match can a peer show that it is a spectator.
            donation.is_spectator |= joiner.is_spectator;
            let is_done = matches!(donation.transfer, SnapshotTransfer::Done);
            let timeout = if is_done { ADMISSION_TIMEOUT } else { DONATION_TIMEOUT };
            // A spectator is fed without time limit.
            let is_coming = is_done && donation.is_spectator || now.since(donation.since) < timeout;
            joiner.is_here && !(joiner.is_full && is_done) && is_coming
        });
        self.all.iter_mut().for_each(|donation| donation.send_pieces(cx));
    }

    /// Whether a feed to any joiner is due.
    pub(crate) fn is_feed_due(&self, cx: &Cx, progress: Progress) -> bool {
        self.all.iter().any(|donation| donation.is_feed_due(cx, progress))
    }

    /// Sends newly confirmed entries to all joiners whose feed is due. `feed` makes it from the
    /// joiner's progress; none if that is too old.
    pub(crate) fn feed(&mut self, cx: &mut Cx, progress: Progress, feed: impl Fn(Progress) -> Option<Feed>) {
        // From the end, because a joiner too far behind is removed.
        for nth in (0..self.all.len()).rev() {
            let donation = &mut self.all[nth];
            let (to, Some(fed)) = (donation.to, donation.fed) else { continue };
            if !donation.is_feed_due(cx, progress) {
                continue;
            }
            let Some(feed) = feed(fed.known) else {
                decline(cx, to, Decline::TooOld);
                self.forget(to);
                continue;
            };
            let message = cx.outbox.message(to);
            // Reserve all bytes at once, because the vector would grow with every field.
            message.reserve(FEED_BYTES + feed.tails.len() * FEED_TAIL_BYTES);
            Message::Feed(Box::new(feed)).encode(message);
            donation.fed = Some(Fed { known: progress, at: cx.now });
        }
    }
}

impl Donation {
    fn is_feed_due(&self, cx: &Cx, progress: Progress) -> bool {
        let Some(fed) = self.fed else { return false };
        let (frames, interval) = match self.is_spectator && !cx.spectates {
            true => (SPECTATOR_FEED_FRAMES, SPECTATOR_FEED_INTERVAL),
            false => (FEED_FRAMES, FEED_INTERVAL),
        };
        let is_news =
            progress.frame.since(fed.known.frame) >= frames || progress.history != fed.known.history;
        is_news || cx.now.since(fed.at) >= interval
    }

    fn send_pieces(&mut self, cx: &mut Cx) {
        let SnapshotTransfer::Sending { state, sent, got } = &mut self.transfer else { return };
        let (number, mut packed) = (self.number, Vec::new());
        while *sent < state.len() && *sent - *got < WINDOW_BYTES {
            let end = (*sent + PIECE_BYTES).min(state.len());
            // A piece per tick: compressing a large state takes longer than a frame.
            let bytes = &state[*sent..end];
            packed.clear();
            compress(bytes, &mut packed);
            let piece = match packed.len() < bytes.len() {
                true => Message::Packed { number, bytes: &packed },
                false => Message::Piece { number, bytes },
            };
            piece.encode(cx.outbox.forward(self.to, TRANSFER_STREAM));
            *sent = end;
        }
        if *got == state.len() {
            self.transfer = SnapshotTransfer::Done;
        }
    }
}

fn decline(cx: &mut Cx, peer: PeerId, why: Decline) {
    Message::Decline(why).encode(cx.outbox.message(peer));
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Option<(JoinContext, u64)> = None;

    fn asker(number: u128, is_spectator: bool) -> Asker {
        Asker { peer: PeerId::from_u128(number), is_spectator, is_limited: false, is_able: true }
    }

    fn at(frame: u32) -> Progress {
        Progress { frame: Frame::new(frame), history: History(1), depth: 0 }
    }

    fn here(_: PeerId) -> Joining {
        Joining { is_spectator: false, is_here: true, is_full: false }
    }

    /// Refusals that were sent, in order.
    fn declined(cx: &mut Cx) -> Vec<(u128, Decline)> {
        let mut declined = Vec::new();
        while let Some((to, _, bytes)) = cx.outbox.pop() {
            if let Ok(Message::Decline(why)) = Message::decode(bytes) {
                declined.push((to.to_u128(), why));
            }
        }
        declined
    }

    #[test]
    fn request_is_declined_if_limited_unable_or_full() {
        let (mut cx, mut donor) = (Cx::for_test(), Donor::default());
        donor.handle_request(&mut cx, Asker { is_limited: true, ..asker(2, false) });
        donor.handle_request(&mut cx, Asker { is_able: false, ..asker(2, false) });
        (0..=DONATIONS_MAX as u128).for_each(|nth| donor.handle_request(&mut cx, asker(3 + nth, false)));
        let full = (3 + DONATIONS_MAX as u128, Decline::Busy);
        assert_eq!(declined(&mut cx), [(2, Decline::Busy), (2, Decline::Unable), full]);
        assert!(donor.export_due());
    }

    #[test]
    fn spectators_make_room_for_players() {
        let (mut cx, mut donor) = (Cx::for_test(), Donor::default());
        for number in 0..DONATIONS_MAX as u128 {
            donor.handle_feed_request(&mut cx, asker(10 + number, true), at(5), || true);
        }
        assert!(donor.only_feed());
        donor.handle_request(&mut cx, asker(2, false));
        let last = 10 + DONATIONS_MAX as u128 - 1;
        assert_eq!(declined(&mut cx), [(last, Decline::Busy)], "most others could feed it");
    }

    #[test]
    fn state_that_cannot_be_written_is_declined() {
        let (mut cx, mut donor) = (Cx::for_test(), Donor::default());
        donor.handle_request(&mut cx, asker(2, false));
        donor.handle_export(&mut cx, &[1], NONE, at(5));
        assert_eq!(declined(&mut cx), [(2, Decline::Unable)]);
        assert!(!donor.export_due());
    }

    #[test]
    fn joiner_is_dropped_when_gone_full_or_silent() {
        let mut cx = Cx::for_test();
        let left = |donor: &Donor| donor.all.len();
        for (joiner, after, kept) in [
            (here(PeerId::from_u128(2)), Micros::from_secs(59), 1),
            (here(PeerId::from_u128(2)), ADMISSION_TIMEOUT, 0),
            (Joining { is_here: false, is_spectator: false, is_full: false }, Micros::ZERO, 0),
            (Joining { is_here: true, is_spectator: false, is_full: true }, Micros::ZERO, 0),
            (Joining { is_here: true, is_spectator: true, is_full: false }, ADMISSION_TIMEOUT, 1),
        ] {
            let mut donor = Donor::default();
            cx.now = Micros::ZERO;
            donor.handle_feed_request(&mut cx, asker(2, false), at(5), || true);
            cx.now = after;
            donor.tick(&mut cx, true, |_| joiner);
            assert_eq!(left(&donor), kept, "{joiner:?} after {after:?}");
        }
    }

    #[test]
    fn feed_is_due_after_frames_or_time() {
        let (mut cx, mut donor) = (Cx::for_test(), Donor::default());
        cx.now = Micros::from_secs(9);
        donor.handle_feed_request(&mut cx, asker(2, false), at(5), || true);
        assert!(donor.is_feed_due(&cx, at(5)), "never told");
        donor.feed(&mut cx, at(6), |_| None);
        assert_eq!(declined(&mut cx), [(2, Decline::TooOld)]);
        assert!(!donor.is_feed_due(&cx, at(99)), "served no more");
    }
}
