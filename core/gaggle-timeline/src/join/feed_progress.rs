//! Progress of being fed: how far a donor has brought this peer, and when that last improved.
//!
//! `Joiner` owns it; `Session` checks it periodically. Absent: feeds, links, other donors.

use gaggle_kit::{Frame, Micros, PeerId};

/// Time a donor has to bring this peer closer to the others.
const PROGRESS_TIMEOUT: Micros = Micros::from_secs(3);
/// Interval between checks: progress is slow, and spectators check without end.
const LOOK_INTERVAL: Micros = Micros::from_millis(250);
/// Frames this peer may be behind the members and still count as up to date, beyond their own
/// spread: for the interval of feeds and a slow link.
const NEAR_FRAMES: u32 = 30;
/// The same for spectators: their frames came through other spectators, each with some delay.
const NEAR_FRAMES_SPECTATING: u32 = 120;
/// After this many feeds within the timeout without a new frame, the donor withholds entries it
/// said it had. On a slow link feeds would arrive late, but they would contain new frames.
const FEEDS_MIN: u32 = 40;
/// A peer that is ready for this long, has a free slot and is not admitted was fed a wrong branch.
const ADMISSION_TIMEOUT: Micros = Micros::from_secs(20);

/// Progress at the last improvement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FeedProgress {
    donor: Option<PeerId>,
    at: Micros,
    looked_at: Micros,
    /// Head of the match, how far this peer was behind it, and the last frame it was fed.
    head: Frame,
    lag: u32,
    fed: Frame,
    /// Last frame the donor said it had confirmed.
    claim: Frame,
    /// Feeds received since.
    feeds: u32,
    /// Since when this peer has been ready, under any incarnation.
    ready_since: Option<Micros>,
}

/// Facts known when progress is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeedView {
    pub(crate) donor: PeerId,
    /// Head of the match; `NEVER` if its view is not known here.
    pub(crate) head: Frame,
    /// Last frame the donor says it has confirmed.
    pub(crate) claim: Frame,
    /// Last frame this peer was fed.
    pub(crate) fed: Frame,
    /// Frames by which two members can be apart.
    pub(crate) lookahead: u32,
    pub(crate) is_spectator: bool,
    /// When the stream of this peer began.
    pub(crate) begun_at: Option<Micros>,
    /// Entries wait for the local simulation, which is not the donor's fault.
    pub(crate) is_waiting: bool,
}

/// Judgment of a donor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum FeedVerdict {
    /// The donor makes progress, or no peer does.
    Fine,
    /// The donor brings this peer no closer, and another one may. If `withheld` is set, it had said
    /// it confirmed that frame and fed nothing new up to it.
    Leave { withheld: Option<Frame> },
    /// The donor fed this peer completely, but the members do not admit it.
    Overdue,
}

impl FeedProgress {
    pub(crate) fn note_feed(&mut self) {
        self.feeds = self.feeds.saturating_add(1);
    }

    pub(crate) fn is_look_due(&self, now: Micros, donor: PeerId) -> bool {
        now.since(self.looked_at) >= LOOK_INTERVAL || self.donor != Some(donor)
    }

    /// Checks whether the donor brought this peer closer to the others.
    pub(crate) fn look(&mut self, now: Micros, view: &FeedView) -> FeedVerdict {
        let FeedView { donor, head, claim, fed, .. } = *view;
        let before = *self;
        let lag = head.since(fed);
        let ready_since = before.ready_since.or(view.begun_at);
        self.ready_since = ready_since;
        let near = if view.is_spectator { NEAR_FRAMES_SPECTATING } else { NEAR_FRAMES };
        let has_arrived = lag <= view.lookahead + near && (view.is_spectator || view.begun_at.is_some());
        let is_closer = lag <= before.lag / 4 * 3 && lag < before.lag;
        if before.donor != Some(donor) || has_arrived || is_closer || view.is_waiting {
            let donor = Some(donor);
            *self =
                FeedProgress { donor, at: now, looked_at: now, head, lag, fed, claim, feeds: 0, ready_since };
        } else if now.since(before.at) < PROGRESS_TIMEOUT {
            self.looked_at = now;
        } else if head <= before.head && head != Frame::NEVER {
            // No peer makes progress.
            *self =
                FeedProgress { at: now, looked_at: now, head, fed, claim, feeds: 0, ready_since, ..before };
        } else {
            let is_withheld = before.feeds >= FEEDS_MIN && fed == before.fed && fed < before.claim;
            return FeedVerdict::Leave { withheld: is_withheld.then_some(before.claim) };
        }
        match ready_since.is_some_and(|at| now.since(at) >= ADMISSION_TIMEOUT) {
            true => FeedVerdict::Overdue,
            false => FeedVerdict::Fine,
        }
    }
}

/// Last frame the others have confirmed: the median of what they said. The donor's own claim counts
/// only if there is no other.
pub(crate) fn head_of(heard: impl Iterator<Item = (PeerId, Frame)>, donor: PeerId) -> Frame {
    let (own, mut others): (Vec<_>, Vec<_>) = heard.partition(|(peer, _)| *peer == donor);
    gaggle_kit::insertion_sort(&mut others, |(_, head)| *head);
    let middle = others.get(others.len() / 2).or(own.first());
    middle.map_or(Frame::START, |(_, head)| *head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONOR: PeerId = PeerId::from_u128(2);

    fn view(head: u32, fed: u32) -> FeedView {
        FeedView {
            donor: DONOR,
            head: Frame::new(head),
            claim: Frame::new(head),
            fed: Frame::new(fed),
            lookahead: 10,
            is_spectator: false,
            begun_at: None,
            is_waiting: false,
        }
    }

    /// Checks every second what a donor has fed while the match goes on.
    fn looked(feeds: u32, fed: impl Fn(u32) -> u32) -> FeedVerdict {
        let mut progress = FeedProgress::default();
        for second in 0..9 {
            let now = Micros::from_secs(1 + u64::from(second));
            let verdict = progress.look(now, &view(1_000 + 60 * second, fed(second)));
            (0..feeds).for_each(|_| progress.note_feed());
            if verdict != FeedVerdict::Fine {
                return verdict;
            }
        }
        FeedVerdict::Fine
    }

    #[test]
    fn donor_that_brings_joiner_closer_stays() {
        let lag = [1_000, 700, 490, 343, 240, 168, 117, 82, 57];
        assert_eq!(looked(20, |second| 1_000 + 60 * second - lag[second as usize]), FeedVerdict::Fine);
    }

    #[test]
    fn donor_that_feeds_nothing_is_left_and_blamed_for_empty_feeds() {
        assert_eq!(looked(0, |_| 100), FeedVerdict::Leave { withheld: None });
        let withheld = Some(Frame::new(1_000));
        assert_eq!(looked(20, |_| 100), FeedVerdict::Leave { withheld });
    }

    #[test]
    fn ready_joiner_that_is_not_admitted_is_overdue() {
        let mut progress = FeedProgress::default();
        let ready = FeedView { begun_at: Some(Micros::ZERO), ..view(100, 100) };
        assert_eq!(progress.look(Micros::from_secs(19), &ready), FeedVerdict::Fine);
        assert_eq!(progress.look(ADMISSION_TIMEOUT, &ready), FeedVerdict::Overdue);
    }

    #[test]
    fn head_is_middle_of_others_or_word_of_donor() {
        let heard = |all: &[(u128, u32)]| {
            let all = all.iter().map(|(peer, head)| (PeerId::from_u128(*peer), Frame::new(*head)));
            head_of(all, DONOR).number()
        };
        assert_eq!(heard(&[(1, 10), (2, 999), (3, 30), (4, 20)]), 20);
        assert_eq!(heard(&[(2, 999)]), 999);
        assert_eq!(heard(&[]), 0);
    }
}
