//! Helping others in: our state in pieces, then what we confirm, until they need it no more.

use gaggle_kit::{Frame, Input, Micros, PeerId, StateHasher, compress};

use super::Session;
use super::receive::ASKS;
use crate::driver::{MESSAGE_STREAM, TRANSFER_STREAM};
use crate::event::SessionEvent;
use crate::membership::{History, row_of};
use crate::remote::Peer;
use crate::transfer::{Decline, Message, Offer, PIECE_BYTES, STATE_BYTES_MAX, WINDOW_BYTES};

/// Whom one machine helps at a time, those who watch included: more are fed by each other.
const DONATIONS_MAX: usize = 8;
/// What was confirmed is told in so many frames at least, or after so long.
const FEED_FRAMES: u32 = 3;
const FEED_INTERVAL: Micros = Micros::from_millis(50);
/// Whoever plays has less time for those who only watch. They pass it on at once, so that a chain
/// of them is late but once.
const WATCHER_FEED_FRAMES: u32 = 9;
const WATCHER_FEED_INTERVAL: Micros = Micros::from_millis(150);
/// Bytes most feeds take beside their tails, and for each of these.
const FEED_BYTES: usize = 32;
const FEED_TAIL_BYTES: usize = 64;
/// Of those so many keep their places although they only watch: others who do can feed the rest,
/// but nobody who plays.
const WATCHERS_MAX: usize = 6;
/// Somebody who takes nothing for so long is not coming.
const DONATION_PATIENCE: Micros = Micros::from_secs(10);
/// Nor is somebody who has all it needs for so long and does not play.
const DONATION_TIMEOUT: Micros = Micros::from_secs(60);

/// A state that was too large is not written again for so long.
const TOO_LARGE_REST: Micros = Micros::from_secs(10);

/// Everybody who is being helped.
#[derive(Debug, Default)]
pub(super) struct Donations {
    all: Vec<Donation>,
    count: u32,
    /// Our state was too large when it was last written: its bytes, and when that was.
    too_large: Option<(u64, Micros)>,
}

#[derive(Debug)]
struct Donation {
    to: PeerId,
    number: u32,
    /// When it began, or last went on.
    since: Micros,
    watches: bool,
    parcel: SnapshotTransfer,
    /// What was told of what we confirmed: up to which frame, in which view, at which depth.
    fed: Option<Fed>,
}

#[derive(Debug)]
enum SnapshotTransfer {
    /// The state is to be written.
    Wanted,
    Sending {
        state: Vec<u8>,
        sent: usize,
        got: usize,
    },
    /// All of it has arrived, or none was asked for.
    Done,
}

#[derive(Debug, Clone, Copy)]
struct Fed {
    to: Frame,
    history: History,
    depth: u32,
    at: Micros,
}

impl Donations {
    pub(super) fn forget(&mut self, peer: PeerId) {
        self.all.retain(|donation| donation.to != peer);
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// Whether everybody who is helped only watches and has all it needs but what we confirm.
    pub(super) fn only_feed(&self) -> bool {
        self.all.iter().all(|donation| donation.watches && matches!(donation.parcel, SnapshotTransfer::Done))
    }

    /// A state that is being sent.
    #[cfg(test)]
    pub(super) fn parcel(&self) -> Option<Vec<u8>> {
        self.all.iter().find_map(|donation| match &donation.parcel {
            SnapshotTransfer::Sending { state, .. } => Some(state.clone()),
            SnapshotTransfer::Wanted | SnapshotTransfer::Done => None,
        })
    }

    /// Somebody who is being sent a state, and the transfer's number.
    #[cfg(test)]
    pub(super) fn sending(&self) -> Option<(PeerId, u32)> {
        let sending =
            self.all.iter().find(|donation| matches!(donation.parcel, SnapshotTransfer::Sending { .. }))?;
        Some((sending.to, sending.number))
    }

    /// How many are sent a state and have not got it.
    #[cfg(test)]
    pub(super) fn unfinished(&self) -> usize {
        self.all.iter().filter(|donation| !matches!(donation.parcel, SnapshotTransfer::Done)).count()
    }

    /// Whether a state must be written for somebody.
    #[inline]
    pub(super) fn export_due(&self) -> bool {
        self.all.iter().any(|donation| matches!(donation.parcel, SnapshotTransfer::Wanted))
    }
}

impl<I: Input> Session<I> {
    /// Somebody wants our state.
    pub(super) fn take_ask_snapshot(&mut self, index: usize) {
        let peer = self.remotes[index].peer;
        self.donations.forget(peer);
        if let Some(why) = self.cannot_donate(index) {
            self.decline(peer, why);
            return;
        }
        self.donations.count += 1;
        let number = self.donations.count;
        let (since, parcel, watches) = (self.now, SnapshotTransfer::Wanted, self.remotes[index].watches);
        self.donations.all.push(Donation { to: peer, number, since, watches, parcel, fed: None });
    }

    /// Somebody whose donor is gone wants to be fed on.
    pub(super) fn take_ask_feed(&mut self, index: usize, from: Frame, known: History, depth: u32) {
        let peer = self.remotes[index].peer;
        self.donations.forget(peer);
        if let Some(why) = self.cannot_donate(index) {
            self.decline(peer, why);
            return;
        }
        self.sync_held();
        if self.membership.feed(from, known, depth, &self.ledger).is_none() {
            self.decline(peer, Decline::TooOld);
            return;
        }
        let fed = Fed { to: from.previous(), history: known, depth, at: Micros::ZERO };
        let (since, parcel, watches) = (self.now, SnapshotTransfer::Done, self.remotes[index].watches);
        self.donations.all.push(Donation { to: peer, number: 0, since, watches, parcel, fed: Some(fed) });
    }

    fn cannot_donate(&mut self, index: usize) -> Option<Decline> {
        if !self.remotes[index].allowed.asks.spend(self.now, ASKS) {
            self.stats.requests_rate_limited += 1;
            return Some(Decline::Busy);
        }
        let now = self.now;
        self.donations.too_large.take_if(|(_, at)| now.since(*at) >= TOO_LARGE_REST);
        if let Some((bytes, _)) = self.donations.too_large {
            return Some(Decline::TooLarge { bytes });
        }
        match () {
            () if !self.running || !self.membership.may_donate() => Some(Decline::Unable),
            () if self.donations.all.len() < DONATIONS_MAX || self.make_room(index) => None,
            () => Some(Decline::Busy),
        }
    }

    /// Only once it is in the match somebody can say that it will only watch, so any number of
    /// those may fill all places. The one whom most others could feed goes, unless whoever asks is
    /// such a one itself. False if nobody does.
    fn make_room(&mut self, index: usize) -> bool {
        let Peer { peer, watches, .. } = self.remotes[index];
        let fed =
            || self.donations.all.iter().filter(|d| d.watches && matches!(d.parcel, SnapshotTransfer::Done));
        let last = fed().map(|donation| donation.to).max().filter(|last| !watches || peer < *last);
        let Some(last) = last.filter(|_| fed().count() > WATCHERS_MAX) else { return false };
        self.donations.forget(last);
        self.decline(last, Decline::Busy);
        true
    }

    fn decline(&mut self, peer: PeerId, why: Decline) {
        Message::Decline(why).encode(self.outbox.letter(peer, MESSAGE_STREAM));
    }

    /// What we told those we feed was wrong: nothing but our new state helps them.
    pub(super) fn send_off_fed(&mut self, was_wrong: bool) {
        for donation in std::mem::take(&mut self.donations.all).into_iter().filter(|_| was_wrong) {
            self.decline(donation.to, Decline::TooOld);
        }
    }

    pub(super) fn take_got(&mut self, index: usize, number: u32, bytes: u64) {
        let peer = self.remotes[index].peer;
        let now = self.now;
        let donation = self.donations.all.iter_mut().find(|d| d.to == peer && d.number == number);
        if let Some(Donation { parcel: SnapshotTransfer::Sending { sent, got, .. }, since, .. }) = donation {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(*sent);
            if bytes > *got {
                (*got, *since) = (bytes, now);
            }
        }
    }

    /// The state of `frame` is written, or could not be: whoever waits for it gets it, or is told.
    pub(super) fn export_done(&mut self, frame: Frame, state: &[u8]) {
        self.sync_held();
        let tidings = self.membership.tidings(frame, &self.ledger);
        let inputs_hash = self.checks.inputs_at(frame);
        let (Some(tidings), Some(inputs_hash), false) = (tidings, inputs_hash, state.is_empty()) else {
            self.decline_wanted(Decline::Unable);
            return;
        };
        let (bytes, max) = (state.len() as u64, STATE_BYTES_MAX);
        if bytes > max {
            self.donations.too_large = Some((bytes, self.now));
            self.events.push(SessionEvent::StateTooLarge { peer: self.local_peer, bytes, max });
            self.decline_wanted(Decline::TooLarge { bytes });
            return;
        }
        for nth in 0..self.donations.all.len() {
            let Donation { to, number, parcel: SnapshotTransfer::Wanted, .. } = &self.donations.all[nth]
            else {
                continue;
            };
            let (to, number) = (*to, *number);
            let offer = Offer {
                number,
                state_bytes: state.len() as u64,
                state_hash: StateHasher::of(state),
                inputs_hash,
                tidings: tidings.clone(),
            };
            Message::Offer(Box::new(offer)).encode(self.outbox.letter(to, MESSAGE_STREAM));
            self.stats.snapshots_sent += 1;
            let donation = &mut self.donations.all[nth];
            donation.parcel = SnapshotTransfer::Sending { state: state.to_vec(), sent: 0, got: 0 };
            donation.fed = Some(Fed {
                to: frame,
                history: self.membership.lineage().history(),
                depth: self.membership.lineage().depth(),
                at: self.now,
            });
        }
    }

    /// The state could not be written. It would be asked for again for ever if anybody went on
    /// waiting for it.
    fn decline_wanted(&mut self, why: Decline) {
        let all = std::mem::take(&mut self.donations.all);
        let (wanted, others) = all.into_iter().partition(|d| matches!(d.parcel, SnapshotTransfer::Wanted));
        self.donations.all = others;
        let wanted: Vec<Donation> = wanted;
        wanted.iter().for_each(|donation| self.decline(donation.to, why));
    }

    pub(super) fn tend_donations(&mut self) {
        if self.donations.all.is_empty() {
            return;
        }
        if !self.membership.may_donate() {
            // We may be about to leave, or were told of another history: others must help.
            for donation in std::mem::take(&mut self.donations.all) {
                self.decline(donation.to, Decline::Unable);
            }
            return;
        }
        self.drop_donations();
        (0..self.donations.all.len()).for_each(|nth| self.send_pieces(nth));
        self.feed_all();
    }

    /// Tells everybody what we confirmed who was not told for long enough.
    pub(super) fn feed_all(&mut self) {
        // From the end: whoever is too far behind is helped no more.
        let mut nth = self.donations.all.len();
        while nth > 0 {
            nth -= 1;
            self.send_feed(nth);
        }
    }

    /// Those who are gone, or have what they need.
    fn drop_donations(&mut self) {
        let now = self.now;
        let Session { donations, membership, remotes, .. } = self;
        donations.all.retain_mut(|donation| {
            let remote = remotes.iter().find(|remote| remote.peer == donation.to);
            // Only once it is in the match it can say that it will only watch.
            donation.watches |= remote.is_some_and(|remote| remote.watches);
            let here = remote.is_some_and(|remote| remote.is_trusted() && remote.reachable);
            let stands = membership.latest_standing(donation.to).map(|standing| standing.incarnation);
            let full = remote.is_some_and(|remote| {
                let row = stands.and_then(|incarnation| {
                    let stream = crate::roster::StreamId { peer: donation.to, incarnation };
                    row_of(membership.rows(), stream)
                });
                row.is_some_and(|row| remote.confirmed >= row.first_frame)
            });
            let done = matches!(donation.parcel, SnapshotTransfer::Done);
            let patience = if done { DONATION_TIMEOUT } else { DONATION_PATIENCE };
            // Whoever watches is fed for as long as it likes.
            let coming = done && donation.watches || now.since(donation.since) < patience;
            here && !(full && done) && coming
        });
    }

    fn send_pieces(&mut self, nth: usize) {
        let Donation { to, number, parcel, .. } = &mut self.donations.all[nth];
        let SnapshotTransfer::Sending { state, sent, got } = parcel else { return };
        let mut packed = Vec::new();
        while *sent < state.len() && *sent - *got < WINDOW_BYTES {
            let end = (*sent + PIECE_BYTES).min(state.len());
            // Now and not all at once: nobody who plays has time for a large state within a frame.
            let (number, bytes) = (*number, &state[*sent..end]);
            packed.clear();
            compress(bytes, &mut packed);
            let piece = match packed.len() < bytes.len() {
                true => Message::Packed { number, bytes: &packed },
                false => Message::Piece { number, bytes },
            };
            piece.encode(self.outbox.letter(*to, TRANSFER_STREAM));
            *sent = end;
        }
        if *got == state.len() {
            *parcel = SnapshotTransfer::Done;
        }
    }

    fn send_feed(&mut self, nth: usize) {
        let Donation { to, watches, fed: Some(fed), .. } = self.donations.all[nth] else { return };
        let confirmed = self.membership.confirmed();
        let history = self.membership.lineage().history();
        let (frames, interval) = match watches && !self.spectates {
            true => (WATCHER_FEED_FRAMES, WATCHER_FEED_INTERVAL),
            false => (FEED_FRAMES, FEED_INTERVAL),
        };
        let news = confirmed.since(fed.to) >= frames || history != fed.history;
        if !news && self.now.since(fed.at) < interval {
            return;
        }
        self.sync_held();
        let Some(feed) = self.membership.feed(fed.to.next(), fed.history, fed.depth, &self.ledger) else {
            self.decline(to, Decline::TooOld);
            self.donations.forget(to);
            return;
        };
        let letter = self.outbox.letter(to, MESSAGE_STREAM);
        // At once what it will need, or it would grow with every field.
        letter.reserve(FEED_BYTES + feed.tails.len() * FEED_TAIL_BYTES);
        Message::Feed(Box::new(feed)).encode(letter);
        let depth = self.membership.lineage().depth();
        self.donations.all[nth].fed = Some(Fed { to: confirmed, history, depth, at: self.now });
    }
}
