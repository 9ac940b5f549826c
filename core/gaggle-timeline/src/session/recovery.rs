//! After a desync: who is wrong, and making it good with somebody else's state.
//!
//! Whoever finds, simulating again, that its own state was changed from outside takes the other's.
//! Else those who hold the same hashes for a frame are a group: the smaller one takes the state of
//! the larger one; of two equally large the one without the member present longest does. Its stream
//! goes on, membership does not notice, the others are not disturbed. Where inputs differ, too, it
//! comes in anew. So does whoever only watches, which has no voice itself: it goes by what those
//! say who play.

use gaggle_kit::{Frame, Input, Micros, PeerId};

use super::Session;
use super::gossip::SILENCE;
use crate::announce::Message;
use crate::budget::RateLimit;
use crate::driver::MESSAGE_STREAM;
use crate::event::{DesyncCause, SessionEvent};
use crate::membership::Mode;
use crate::remote::{OwnCheck, Peer};
use crate::transfer::{self, Offer};

/// So long everybody has to tell its hashes.
const VOTE_PATIENCE: Micros = Micros::from_secs(1);
/// So long an inquest may hold up a recovery.
const INQUEST_PATIENCE: Micros = Micros::from_millis(1_800);
/// Between two recoveries passes so long at least, twice as long after each that follows soon.
const PAUSE_MIN: Micros = Micros::from_secs(4);
const PAUSE_MAX: Micros = Micros::from_secs(120);

/// What others may tell of theirs: more than they can have. Those beyond are not heeded.
const RECOVERIES: RateLimit = RateLimit { burst: 4, per_second: 1 };

/// What is known of a difference, and what is being done about it.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// A frame for which somebody has other hashes, and since when that is known.
    suspect: Option<(Frame, Micros)>,
    /// Inquests found that our state was changed from outside, and this peer's is right.
    wrong: Option<PeerId>,
    /// They found that these peers' states were, and ours is right.
    changed: Vec<PeerId>,
    /// A state was asked for.
    under_way: bool,
    recovered_at: Option<Micros>,
    /// Whose state was taken then.
    donor: Option<PeerId>,
    pause: Micros,
}

impl Recovery {
    /// An inquest is over. Where both states were changed it says nothing about who is right.
    pub(super) fn note_cause(&mut self, peer: PeerId, cause: DesyncCause, both_changed: bool) {
        match cause {
            DesyncCause::LocalStateCorrupted { .. } if !both_changed => self.wrong = Some(peer),
            DesyncCause::RemoteStateCorrupted { .. } => self.changed.push(peer),
            _ => {}
        }
    }

    /// Somebody holds other hashes for this frame.
    pub(super) fn note_difference(&mut self, frame: Frame, now: Micros) {
        self.suspect.get_or_insert((frame, now));
    }

    /// Whether there is a difference nobody has settled.
    pub(super) fn is_open(&self) -> bool {
        self.suspect.is_some() || self.under_way
    }

    /// Whether the state that is coming replaces ours without our leaving the match.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Another stay begins: what was compared is void.
    pub(super) fn restart(&mut self) {
        self.suspect = None;
        self.wrong = None;
        self.changed.clear();
        self.under_way = false;
    }

    /// A state was asked for, whatever the reason.
    #[cfg(test)]
    pub(super) fn begin_with(&mut self, donor: PeerId) {
        self.wrong = Some(donor);
        self.under_way = true;
    }

    /// Another stay begins, with somebody else's state. If that is how a wrong one was made good,
    /// it counts like any recovery.
    pub(super) fn end_by_entry(&mut self, now: Micros, donor: PeerId) {
        match self.under_way {
            true => self.note_recovered(now, donor),
            false => self.restart(),
        }
    }

    /// Whoever was asked gave nothing. That our state was changed is as true as before.
    fn retry(&mut self) {
        let wrong = self.wrong;
        self.restart();
        self.wrong = wrong;
    }

    fn is_due(&self, now: Micros) -> bool {
        self.recovered_at.is_none_or(|at| now.since(at) >= self.pause)
    }

    fn note_recovered(&mut self, now: Micros, donor: PeerId) {
        self.donor = Some(donor);
        let soon = self.recovered_at.is_some_and(|at| now.since(at) < self.pause + self.pause);
        self.pause = if soon { (self.pause + self.pause).min(PAUSE_MAX) } else { PAUSE_MIN };
        self.recovered_at = Some(now);
        self.restart();
    }
}

/// The rank of those who only watch.
const WATCHING: (Frame, u32) = (Frame::NEVER, u32::MAX);

/// One machine's word in the vote.
struct Voice {
    /// When it came, and its first slot.
    rank: (Frame, u32),
    peer: PeerId,
    hashes: (u32, u32),
}

impl<I: Input> Session<I> {
    /// Whether a wrong state of ours is being made good with somebody else's.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_under_way()
    }

    pub(super) fn watch_recovery(&mut self) {
        if self.recovery.under_way && !self.joining.is_busy() {
            // The donor went or declined. What differs still differs: the next check tells.
            self.recovery.retry();
            self.recovery.donor = self.joining.given_up().or(self.recovery.donor);
            self.forget_differences();
            self.look_on();
        }
        let Some((frame, since)) = self.recovery.suspect else { return };
        let waited = self.now.since(since);
        let looked_into = !self.is_inquest_open() || waited >= INQUEST_PATIENCE;
        let able = if self.spectates { self.joining.is_fed() } else { self.is_settled_in() };
        if self.recovery.under_way || !able || !looked_into || !self.recovery.is_due(self.now) {
            return;
        }
        let open = || self.remotes.iter().filter(|remote| remote.is_open);
        let heard = open().all(|remote| remote.told_check(frame).is_some());
        if !heard && waited < VOTE_PATIENCE {
            return;
        }
        self.recovery.suspect = None;
        let own = self.own_check(frame);
        let wrong = self.recovery.wrong.take();
        let mut winners = match (wrong, own) {
            (Some(peer), _) => self.who_agrees_with(peer, frame),
            (None, Some(own)) => self.outvoted_by(own, heard),
            (None, None) => Vec::new(),
        };
        self.recovery.changed.clear();
        // What it gave, or feeds us, may be why there is a difference again.
        let givers = [self.recovery.donor, self.joining.donor()];
        Self::prefer(&mut winners, &|peer| !givers.contains(&Some(peer)));
        // A state comes over a link of its own: who is only heard through others cannot give one.
        Self::prefer(&mut winners, &|peer| self.is_heard_directly(peer));
        if let Some(donor) = self.rng.pick(&winners).copied() {
            self.recovery.under_way = true;
            self.recovery.wrong = wrong;
            self.leave_feeder();
            self.seek_from(donor);
        } else if !heard || own.is_none() {
            // Too long ago, or not everybody spoke: the next check tells whether there still is a
            // difference.
            self.forget_differences();
        }
    }

    fn is_settled_in(&self) -> bool {
        self.membership.mode() == Mode::Member && !self.joining.is_busy()
    }

    /// Those who hold the same hashes for a frame as this peer, which is one of them.
    fn who_agrees_with(&self, peer: PeerId, frame: Frame) -> Vec<PeerId> {
        let told = |remote: &Peer| remote.told_check(frame);
        let right = self.remotes.iter().find(|remote| remote.peer == peer).and_then(told);
        let open = self.remotes.iter().filter(|remote| remote.is_open && remote.is_trusted());
        let same = open.filter(|remote| remote.peer == peer || right.is_some() && told(remote) == right);
        same.map(|remote| remote.peer).collect()
    }

    /// Leaves only those who are so, if there are any.
    fn prefer(peers: &mut Vec<PeerId>, so: &dyn Fn(PeerId) -> bool) {
        if peers.iter().any(|peer| so(*peer)) {
            peers.retain(|peer| so(*peer));
        }
    }

    fn is_heard_directly(&self, peer: PeerId) -> bool {
        let remote = self.remotes.iter().find(|remote| remote.peer == peer);
        remote.is_some_and(|remote| remote.is_trusted() && self.now.since(remote.heard_at) < SILENCE)
    }

    /// The group that wins against ours, if one does. Whoever is known to have been changed from
    /// outside has no voice. Of two equally large ours wins if it is known to be right, or if not
    /// everybody was `heard`.
    fn outvoted_by(&self, own: OwnCheck, heard: bool) -> Vec<PeerId> {
        let right = !self.recovery.changed.is_empty() || !heard || self.spectates;
        let rank_of = |peer: PeerId| {
            let row = self.membership.known().iter().find(|row| row.is_active() && row.stream.peer == peer);
            row.map(|row| (row.first_frame, row.slots.bits().trailing_zeros()))
        };
        let mut voices = vec![];
        let ours = (own.inputs_hash, own.state_hash);
        if let Some(rank) = rank_of(self.local_peer) {
            voices.push(Voice { rank, peer: self.local_peer, hashes: ours });
        }
        for remote in self.remotes.iter().filter(|remote| remote.is_trusted()) {
            // To those who watch, others who do are the last to be asked.
            let watches = self.spectates && remote.watches && remote.peer < self.local_peer;
            let rank = match rank_of(remote.peer) {
                Some(rank) if remote.is_open && !self.recovery.changed.contains(&remote.peer) => rank,
                None if watches => WATCHING,
                _ => continue,
            };
            if let Some(hashes) = remote.told_check(own.frame) {
                voices.push(Voice { rank, peer: remote.peer, hashes });
            }
        }
        // Larger first, then whoever has the most senior member.
        let weight = |hashes: (u32, u32)| {
            let group = voices.iter().filter(|voice| voice.hashes == hashes);
            let senior = group.clone().map(|voice| voice.rank).min().unwrap_or(WATCHING);
            let players = group.filter(|voice| voice.rank != WATCHING).count();
            (players, right && hashes == ours, std::cmp::Reverse(senior))
        };
        let winner = voices.iter().map(|voice| voice.hashes).max_by_key(|hashes| weight(*hashes));
        match winner {
            Some(winner) if winner != ours => {
                voices.iter().filter(|voice| voice.hashes == winner).map(|voice| voice.peer).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a state can replace ours where we are: it is of our history, the same inputs led to
    /// it, and what came since is still held.
    pub(super) fn can_repair(&self, offer: &Offer) -> bool {
        let frame = offer.tidings.confirmed;
        let newest = self.ledger.current.max(self.ledger.local.newest());
        let held = self.ledger.table.frames().saturating_sub(2 * self.config.reach_frames());
        self.recovery.under_way
            && self.membership.mode() == Mode::Member
            && offer.tidings.told.view.history == self.membership.lineage().history()
            && self.checks.inputs_at(frame) == Some(offer.inputs_hash)
            && newest.since(frame) < held
    }

    /// The game took another state of a confirmed frame: everything since is simulated again.
    pub(super) fn repair(&mut self, donor: PeerId, frame: Frame) {
        let target = self.ledger.current;
        self.ledger.go_back(frame);
        self.plan.begin(target);
        let through = self.checks.forget_after(frame);
        for remote in &mut self.remotes {
            remote.settle_difference(frame);
        }
        for index in 0..self.remotes.len() {
            let remote = &self.remotes[index];
            if (remote.is_open || remote.watches) && remote.is_trusted() {
                let peer = remote.peer;
                Message::Recovered { through }.encode(self.outbox.letter(peer, MESSAGE_STREAM));
            }
        }
        transfer::Message::Enough.encode(self.outbox.letter(donor, MESSAGE_STREAM));
        self.recovery.note_recovered(self.now, donor);
        self.stats.recoveries += 1;
        self.events.push(SessionEvent::DesyncRecovered { peer: self.local_peer, frame });
    }

    /// Somebody else took another state. Hashes it told before are worth nothing.
    pub(super) fn take_recovered(&mut self, index: usize, through: Frame) {
        let remote = &mut self.remotes[index];
        if !remote.allowed.recoveries.spend(self.now, RECOVERIES) {
            return;
        }
        remote.forget_told_through(through);
        // Nothing after what is confirmed was compared yet, whatever it says.
        let through = through.min(self.membership.confirmed());
        remote.settle_difference(through);
        if remote.is_open {
            let peer = remote.peer;
            self.events.push(SessionEvent::DesyncRecovered { peer, frame: through });
        }
    }

    fn forget_differences(&mut self) {
        for remote in &mut self.remotes {
            remote.settle_difference(remote.agreed);
        }
    }
}
