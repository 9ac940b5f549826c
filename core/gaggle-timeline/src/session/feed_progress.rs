//! Whether being fed leads anywhere. Whoever comes in hears from everybody how far the match is; a
//! donor that does not bring it there is left for another one, whatever it says and however much.

use gaggle_kit::{Frame, Input, Micros, PeerId};

use super::Session;
use crate::event::PeerFault;
use crate::membership::{Mode, Relation};

/// So long a donor has to bring us closer to the others.
const PATIENCE: Micros = Micros::from_secs(3);
/// Looked at so often: it changes slowly, and those who watch look for ever.
const LOOK_INTERVAL: Micros = Micros::from_millis(250);
/// Frames behind the others that are as good as none, beyond what these are apart themselves: what
/// a feed is late, and a slow line between.
const NEAR_FRAMES: u32 = 30;
/// For those who watch: what they see has come by others who do, each a little later.
const NEAR_FRAMES_WATCHING: u32 = 120;
/// After so many feeds in that time with nothing new in them, what the donor had said it has is
/// kept from us. They come as fast as they are told then; what a slow line holds up comes late, but
/// it comes.
const FEEDS_MIN: u32 = 40;
/// Whoever is ready for so long, has a seat to come to and is not let in was brought somewhere
/// else.
const ADMISSION_TIMEOUT: Micros = Micros::from_secs(20);

/// Where a donor had brought us when that was last better than before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FeedProgress {
    donor: Option<PeerId>,
    at: Micros,
    looked_at: Micros,
    /// How far the match was, how far behind it we were, and how far we were fed.
    head: Frame,
    lag: u32,
    fed: Frame,
    /// What the donor itself said it had confirmed.
    claim: Frame,
    /// What it has fed since.
    feeds: u32,
    /// Since when we have been ready, under whatever name.
    ready_since: Option<Micros>,
}

impl FeedProgress {
    pub(super) fn note_feed(&mut self) {
        self.feeds = self.feeds.saturating_add(1);
    }
}

impl<I: Input> Session<I> {
    /// A donor that is heard, but brings us no closer to where the others are, is given up.
    pub(super) fn watch_headway(&mut self) {
        let mark = self.joining.headway;
        let (Some(donor), now) = (self.joining.donor(), self.now) else { return };
        if now.since(mark.looked_at) < LOOK_INTERVAL && mark.donor == Some(donor) {
            return;
        }
        let claim = self.remote_index(donor).map_or(Frame::START, |index| self.remotes[index].confirmed);
        let head = self.head_of_match(donor);
        let fed = self.membership.confirmed();
        let lag = head.since(fed);
        let ready_since = mark.ready_since.or(self.joining.begun_at());
        self.joining.headway.ready_since = ready_since;
        let near = if self.spectates { NEAR_FRAMES_WATCHING } else { NEAR_FRAMES };
        let arrived =
            lag <= self.config.reach_frames() + near && (self.spectates || self.joining.has_begun());
        let closer = lag <= mark.lag / 4 * 3 && lag < mark.lag;
        // What waits for our own simulation is not the donor's fault.
        if mark.donor != Some(donor) || arrived || closer || self.joining.has_feeds_waiting() {
            let donor = Some(donor);
            self.joining.headway =
                FeedProgress { donor, at: now, looked_at: now, head, lag, fed, claim, feeds: 0, ready_since };
        } else if now.since(mark.at) < PATIENCE {
            self.joining.headway.looked_at = now;
        } else if head <= mark.head && head != Frame::NEVER {
            // Nobody gets anywhere.
            self.joining.headway =
                FeedProgress { at: now, looked_at: now, head, fed, claim, feeds: 0, ready_since, ..mark };
        } else {
            self.leave_donor(donor, mark);
            return;
        }
        if ready_since.is_some_and(|at| now.since(at) >= ADMISSION_TIMEOUT) && self.has_seats_free() {
            self.start_elsewhere(donor);
        }
    }

    /// The last frame the others have confirmed, as the one in the middle says: never, if we are
    /// not even told of their view. The donor's own word counts only if there is nobody else.
    fn head_of_match(&self, donor: PeerId) -> Frame {
        let open = self.remotes.iter().filter(|remote| remote.is_open && remote.is_trusted());
        let heard = open.filter_map(|remote| {
            let ahead = self.membership.relation_of(remote.peer) == Some(Relation::Descendant);
            let head = if ahead { Frame::NEVER } else { remote.confirmed };
            (remote.reachable && head > Frame::START).then_some((remote.peer, head))
        });
        let (own, mut others): (Vec<_>, Vec<_>) = heard.partition(|(peer, _)| *peer == donor);
        gaggle_kit::insertion_sort(&mut others, |(_, head)| *head);
        let middle = others.get(others.len() / 2).or(own.first());
        middle.map_or(Frame::START, |(_, head)| *head)
    }

    fn leave_donor(&mut self, donor: PeerId, mark: FeedProgress) {
        self.stats.donors_abandoned += 1;
        self.joining.give_up_donor(donor);
        let fed = self.membership.confirmed();
        let withheld = mark.feeds >= FEEDS_MIN && fed == mark.fed && fed < mark.claim;
        if let Some(index) = self.remote_index(donor).filter(|_| withheld) {
            self.fault(index, PeerFault::FeedWithheld { fed, confirmed: mark.claim });
        }
        if !self.ask_other_feeder(donor) {
            self.start_elsewhere(donor);
        }
    }

    /// Whoever is fed holds of others what its donor says they did. If one of them says that it did
    /// something else, one of the two lies: we come in by another donor, and if that one is
    /// contradicted, too, it was not the donor. False if that is not what a fault is about.
    pub(super) fn blame_donor(&mut self, index: usize, fault: PeerFault) -> bool {
        let peer = self.remotes[index].peer;
        let donor = self.joining.donor().filter(|donor| *donor != peer);
        let fed = self.membership.mode() == Mode::Observer && matches!(fault, PeerFault::InputChanged { .. });
        let Some(donor) = donor.filter(|_| fed) else { return false };
        let again = |(owner, former): (PeerId, PeerId)| owner == peer && former != donor;
        if self.joining.contradicted.is_some_and(again) || !self.start_elsewhere(donor) {
            return false;
        }
        self.joining.contradicted = Some((peer, donor));
        true
    }

    /// Comes in again by somebody else, if there is anybody else.
    fn start_elsewhere(&mut self, donor: PeerId) -> bool {
        self.joining.headway = FeedProgress::default();
        let others = self.donors().iter().any(|other| *other != donor);
        if others {
            self.joining.give_up_donor(donor);
            self.membership.quit();
            self.lose_match();
        }
        others
    }

    fn has_seats_free(&self) -> bool {
        let taken = self.membership.known().iter().filter(|row| row.is_active()).map(|row| row.slots.len());
        taken.sum::<usize>() + self.ledger.local.players() <= self.slot_count
    }
}
