//! Recovery from a desync: which peer is wrong, and which state replaces a wrong one.
//!
//! A peer whose audit finds its own state changed from outside takes the other's state. Otherwise
//! peers with equal hashes form a group: the smaller group takes the larger one's state; between
//! equal groups the one with the longest-present member wins. Absent: transfers.

use gaggle_kit::{Frame, Micros, PeerId, Prng};

use super::peer_audit::OwnCheck;
use crate::event::DesyncCause;

/// Time all peers have to send their hashes.
const VOTE_TIMEOUT: Micros = Micros::from_secs(1);
/// Longest time an audit may delay a recovery.
const AUDIT_GRACE: Micros = Micros::from_millis(1_800);
/// Shortest pause between two recoveries, doubled after each that follows soon.
const PAUSE_MIN: Micros = Micros::from_secs(4);
const PAUSE_MAX: Micros = Micros::from_secs(120);

/// A difference and its recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// A frame for which another peer has other hashes, and when this was noticed.
    suspect: Option<(Frame, Micros)>,
    /// Audits found that the local state was changed from outside, and that this peer's state is
    /// right.
    wrong: Option<PeerId>,
    /// Peers whose states audits found changed, while the local one is right.
    changed: Vec<PeerId>,
    /// Another peer's state was requested.
    is_under_way: bool,
    recovered_at: Option<Micros>,
    /// Peer whose state was taken last.
    donor: Option<PeerId>,
    pause: Micros,
}

/// First frame and first slot of a member; a smaller rank means longer present.
type Rank = (Frame, u32);

/// The rank of spectators.
const SPECTATOR: Rank = (Frame::NEVER, u32::MAX);

/// One peer as a vote sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voter {
    pub(crate) peer: PeerId,
    /// Rank in the roster; none for a peer without a row.
    pub(crate) rank: Option<Rank>,
    pub(crate) is_member: bool,
    pub(crate) is_trusted: bool,
    pub(crate) is_spectator: bool,
    /// The peer was heard recently on a direct link, so it can send its state.
    pub(crate) is_near: bool,
    /// Input hash and state hash it sent for the frame under vote.
    pub(crate) told: Option<(u32, u32)>,
}

/// What a vote decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Vote {
    /// Some peers have not sent their hashes yet.
    Wait,
    /// The local state is right.
    Keep,
    /// The frame is too old, or some peers were not heard. The next comparison will show whether a
    /// difference remains.
    Forget,
    /// This peer's state replaces the local one.
    Take(PeerId),
}

impl Recovery {
    /// Takes the cause an audit found. If both states were changed, neither is known to be right.
    pub(crate) fn note_cause(&mut self, peer: PeerId, cause: DesyncCause, both_changed: bool) {
        match cause {
            DesyncCause::LocalStateCorrupted { .. } if !both_changed => self.wrong = Some(peer),
            DesyncCause::RemoteStateCorrupted { .. } => self.changed.push(peer),
            _ => {}
        }
    }

    /// A peer holds other hashes for this frame.
    pub(crate) fn note_difference(&mut self, frame: Frame, now: Micros) {
        self.suspect.get_or_insert((frame, now));
    }

    /// Whether a difference is not resolved yet.
    pub(crate) fn is_open(&self) -> bool {
        self.suspect.is_some() || self.is_under_way
    }

    /// Whether a requested state replaces the local one while this peer stays in the match.
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Another stay begins: earlier comparisons are void.
    pub(crate) fn restart(&mut self) {
        self.suspect = None;
        self.wrong = None;
        self.changed.clear();
        self.is_under_way = false;
    }

    /// A state was requested from this peer, for whatever reason.
    #[cfg(test)]
    pub(crate) fn begin_with(&mut self, donor: PeerId) {
        self.wrong = Some(donor);
        self.is_under_way = true;
    }

    /// Another stay begins with another peer's state. If it replaced a wrong state, it counts as a
    /// recovery.
    pub(crate) fn end_by_entry(&mut self, now: Micros, donor: PeerId) {
        match self.is_under_way {
            true => self.note_recovered(now, donor),
            false => self.restart(),
        }
    }

    pub(crate) fn note_recovered(&mut self, now: Micros, donor: PeerId) {
        self.donor = Some(donor);
        let soon = self.recovered_at.is_some_and(|at| now.since(at) < self.pause + self.pause);
        self.pause = if soon { (self.pause + self.pause).min(PAUSE_MAX) } else { PAUSE_MIN };
        self.recovered_at = Some(now);
        self.restart();
    }

    /// The asked peer sent no state. The finding that the local state was changed stays valid.
    pub(crate) fn retry_without(&mut self, donor: Option<PeerId>) {
        let wrong = self.wrong;
        self.restart();
        self.wrong = wrong;
        self.donor = donor.or(self.donor);
    }

    /// Frame to vote on, once it is time to vote.
    #[must_use]
    pub(crate) fn due(&self, now: Micros, is_able: bool, is_audited: bool) -> Option<Frame> {
        let (frame, since) = self.suspect?;
        let is_looked_into = !is_audited || now.since(since) >= AUDIT_GRACE;
        let is_rested = self.recovered_at.is_none_or(|at| now.since(at) >= self.pause);
        (!self.is_under_way && is_able && is_looked_into && is_rested).then_some(frame)
    }

    /// Decides with the hashes of `others` for the frame that is [`due`](Recovery::due); `own` are
    /// the local ones. If this peer is fed by `feeder`, wrong entries of that donor may be the
    /// cause.
    pub(crate) fn vote(
        &mut self,
        (now, rng): (Micros, &mut Prng),
        own: Option<OwnCheck>,
        local: &Voter,
        others: &[Voter],
        feeder: Option<PeerId>,
    ) -> Vote {
        let Some((_, since)) = self.suspect else { return Vote::Keep };
        let all_told = others.iter().filter(|voter| voter.is_member).all(|voter| voter.told.is_some());
        if !all_told && now.since(since) < VOTE_TIMEOUT {
            return Vote::Wait;
        }
        self.suspect = None;
        let wrong = self.wrong.take();
        let mut winners = match (wrong, own) {
            (Some(peer), _) => group_of(peer, others),
            (None, Some(own)) => self.outvoted_by(own, all_told, local, others),
            (None, None) => Vec::new(),
        };
        self.changed.clear();
        let givers = [self.donor, feeder];
        prefer(&mut winners, |voter| !givers.contains(&Some(voter.peer)));
        // A state needs a direct link: a peer heard only through others cannot send one.
        prefer(&mut winners, |voter| voter.is_near);
        if let Some(donor) = rng.pick(&winners).map(|voter| voter.peer) {
            self.is_under_way = true;
            self.wrong = wrong;
            return Vote::Take(donor);
        }
        if all_told && own.is_some() { Vote::Keep } else { Vote::Forget }
    }

    /// The group that wins against the local one, if any. A peer known to have been changed from
    /// outside has no vote. Of two equal groups the local one wins if its state is known to be
    /// right, or if some peers have not sent hashes. Spectators ask other spectators last.
    fn outvoted_by(&self, own: OwnCheck, all_told: bool, local: &Voter, others: &[Voter]) -> Vec<Voter> {
        let is_right = !self.changed.is_empty() || !all_told || local.is_spectator;
        let ours = (own.inputs_hash, own.state_hash);
        let mut voices: Vec<(Rank, (u32, u32), &Voter)> = Vec::new();
        voices.extend(local.rank.map(|rank| (rank, ours, local)));
        for voter in others.iter().filter(|voter| voter.is_trusted) {
            let counts = local.is_spectator && voter.is_spectator && voter.peer < local.peer;
            let rank = match voter.rank {
                Some(rank) if voter.is_member && !self.changed.contains(&voter.peer) => rank,
                None if counts => SPECTATOR,
                _ => continue,
            };
            voices.extend(voter.told.map(|hashes| (rank, hashes, voter)));
        }
        // Larger groups first, then the one with the longest-present member.
        let weight = |hashes: (u32, u32)| {
            let group = voices.iter().filter(|(_, told, _)| *told == hashes);
            let first = group.clone().map(|(rank, ..)| *rank).min().unwrap_or(SPECTATOR);
            let players = group.filter(|(rank, ..)| *rank != SPECTATOR).count();
            (players, is_right && hashes == ours, std::cmp::Reverse(first))
        };
        let winner = voices.iter().map(|(_, hashes, _)| *hashes).max_by_key(|hashes| weight(*hashes));
        let Some(winner) = winner.filter(|winner| *winner != ours) else { return Vec::new() };
        voices.iter().filter(|(_, hashes, _)| *hashes == winner).map(|(.., voter)| **voter).collect()
    }
}

/// Peers with the same hashes as this one, itself included.
fn group_of(peer: PeerId, others: &[Voter]) -> Vec<Voter> {
    let right = others.iter().find(|voter| voter.peer == peer).and_then(|voter| voter.told);
    let able = others.iter().filter(|voter| voter.is_member && voter.is_trusted);
    able.filter(|voter| voter.peer == peer || right.is_some() && voter.told == right).copied().collect()
}

/// Keeps only the voters that meet the condition, if any do.
fn prefer(voters: &mut Vec<Voter>, so: impl Fn(&Voter) -> bool) {
    if voters.iter().any(&so) {
        voters.retain(so);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame::new(60);

    fn voter(number: u32, hash: u32) -> Voter {
        Voter {
            peer: PeerId::from_u128(number.into()),
            rank: Some((Frame::new(1), number)),
            is_member: true,
            is_trusted: true,
            is_spectator: false,
            is_near: true,
            told: (hash > 0).then_some((0, hash)),
        }
    }

    /// Vote of peer `number`, whose hash is 1, at `secs`, with the others' hashes.
    fn vote(recovery: &mut Recovery, number: u32, secs: u64, others: &[Voter]) -> Vote {
        let own = OwnCheck { frame: FRAME, inputs_hash: 0, state_hash: 1 };
        let now = Micros::from_secs(secs);
        recovery.vote((now, &mut Prng::new(1)), Some(own), &voter(number, 1), others, None)
    }

    fn differing() -> Recovery {
        let mut recovery = Recovery::default();
        recovery.note_difference(FRAME, Micros::ZERO);
        recovery
    }

    #[test]
    fn smaller_group_takes_state_of_larger() {
        let mut recovery = differing();
        assert_eq!(recovery.due(Micros::ZERO, true, false), Some(FRAME));
        let Vote::Take(donor) = vote(&mut recovery, 1, 0, &[voter(2, 9), voter(3, 9)]) else {
            panic!("outvoted");
        };
        assert!([2, 3].contains(&donor.to_u128()) && recovery.is_under_way());
        assert_eq!(vote(&mut differing(), 1, 0, &[voter(2, 1), voter(3, 9)]), Vote::Keep);
    }

    #[test]
    fn equal_groups_go_by_longest_present_member() {
        assert_eq!(vote(&mut differing(), 1, 0, &[voter(2, 9)]), Vote::Keep);
        assert_eq!(vote(&mut differing(), 2, 0, &[voter(1, 9)]), Vote::Take(PeerId::from_u128(1)));
    }

    #[test]
    fn silent_member_delays_vote_and_then_ours_is_kept() {
        let others = [voter(1, 9), voter(3, 0)];
        assert_eq!(vote(&mut differing(), 2, 0, &others), Vote::Wait);
        assert_eq!(vote(&mut differing(), 2, 2, &others), Vote::Forget);
    }

    #[test]
    fn corrupted_peer_takes_right_state_whatever_others_hold() {
        let mut recovery = differing();
        let cause = DesyncCause::LocalStateCorrupted { frame: FRAME };
        recovery.note_cause(PeerId::from_u128(2), cause, false);
        let others = [voter(2, 9), voter(3, 1), voter(4, 1)];
        assert_eq!(vote(&mut recovery, 1, 0, &others), Vote::Take(PeerId::from_u128(2)));
    }

    #[test]
    fn recoveries_in_row_are_ever_further_apart() {
        let (mut recovery, donor, mut now) = (Recovery::default(), PeerId::from_u128(2), Micros::ZERO);
        let mut pauses = Vec::new();
        for _ in 0..4 {
            recovery.note_recovered(now, donor);
            recovery.note_difference(FRAME, now);
            let began = now;
            while recovery.due(now, true, false).is_none() {
                now += Micros::from_secs(1);
            }
            pauses.push(now.since(began).as_millis() / 1_000);
        }
        assert_eq!(pauses, [4, 8, 16, 32]);
    }
}
