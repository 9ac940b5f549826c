//! Hashes one peer sent, how they compare with the local ones, and what other peers' hashes say
//! about it.
//!
//! `DesyncAudit` compares them, the peer table owns one per peer. Absent: states, links, whether
//! the peer plays.

use gaggle_kit::{Frame, PeerId};

use crate::announce::Findings;
use crate::event::SessionEvent;
use crate::packet::CheckBlock;

/// Local hashes of one confirmed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnCheck {
    pub(crate) frame: Frame,
    pub(crate) state_hash: u32,
    pub(crate) inputs_hash: u32,
}

/// Hashes a peer sent for one frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteCheck {
    pub(crate) frame: Frame,
    pub(crate) block: CheckBlock,
}

/// A difference that was found, for the event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub(crate) struct Difference {
    pub(crate) frame: Frame,
    pub(crate) event: Option<SessionEvent>,
}

/// Hashes remembered of a peer: as many as local ones.
const TOLD_CHECKS: usize = 4;

/// State comparison with one peer.
#[derive(Debug, Default)]
pub(crate) struct PeerAudit {
    /// Hashes not yet compared, oldest first.
    waiting: [Option<RemoteCheck>; 2],
    /// Last hashes the peer sent, newest first, compared or not.
    told: [Option<RemoteCheck>; TOLD_CHECKS],
    /// Last frame whose hashes were equal.
    agreed: Frame,
    /// A hash of this stay was compared with a local one, equal or not.
    is_compared: bool,
    /// A difference was found: nothing more is compared with this peer.
    differs: bool,
    /// Last frame at which a difference with this peer was reported.
    differed_at: Frame,
    /// Local hashes that differed, until an audit examines them.
    difference: Option<OwnCheck>,
    /// Findings the peer sent, until the local audit is over.
    findings: Option<Findings>,
    /// Other peers hold other entries of this peer than the local peer does; this was reported.
    is_contested: bool,
    /// Peers that reported other entries of it, or whose hashes imply them.
    accusers: Vec<PeerId>,
}

impl PeerAudit {
    /// Another stay begins, of either peer: earlier comparisons are void.
    pub(crate) fn begin_stay(&mut self, agreed: Frame) {
        *self = PeerAudit { agreed, ..PeerAudit::default() };
    }

    pub(crate) fn agreed(&self) -> Frame {
        self.agreed
    }

    /// The peer took the state of a peer that agreed with all local states up to this frame.
    pub(crate) fn raise_agreed(&mut self, agreed: Frame) {
        self.agreed = self.agreed.max(agreed);
    }

    pub(crate) fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// Ends all comparisons up to `agreed`. The hashes the peer sent stay remembered: without them
    /// it would have no vote on the next difference, and a smaller group might win.
    pub(crate) fn settle(&mut self, agreed: Frame) {
        self.agreed = agreed;
        self.differs = false;
        self.difference = None;
        self.findings = None;
    }

    /// As [`settle`](PeerAudit::settle), up to the last frame with equal hashes.
    pub(crate) fn settle_as_agreed(&mut self) {
        self.settle(self.agreed);
    }

    /// The peer replaced the state whose hashes it sent up to this frame.
    pub(crate) fn forget_told_through(&mut self, frame: Frame) {
        for told in self.waiting.iter_mut().chain(&mut self.told) {
            *told = told.filter(|check| check.frame > frame);
        }
    }

    /// The branch changed: hashes sent in the branch before may depend on inputs that do not count
    /// any more.
    pub(crate) fn forget_told(&mut self) {
        self.waiting = [None; 2];
        self.told = [None; TOLD_CHECKS];
    }

    pub(crate) fn note_told(&mut self, check: RemoteCheck) {
        if self.told[0].is_none_or(|newest| newest.frame < check.frame) {
            self.told.rotate_right(1);
            self.told[0] = Some(check);
        }
    }

    /// Input hash and state hash the peer sent recently for a frame.
    pub(crate) fn told(&self, frame: Frame) -> Option<(u32, u32)> {
        let told = self.told.iter().flatten().find(|check| check.frame == frame)?;
        Some((told.block.inputs_hash, told.block.state_hash))
    }

    /// Keeps hashes whose local counterpart is not computed yet. At most two wait; a third replaces
    /// the older.
    pub(crate) fn keep_waiting(&mut self, check: RemoteCheck) {
        let place = self.waiting.iter().position(Option::is_none).unwrap_or(0);
        self.waiting[place] = Some(check);
    }

    /// Takes the hashes up to `frame` that wait to be compared.
    pub(crate) fn take_waiting(&mut self, frame: Frame) -> [Option<RemoteCheck>; 2] {
        self.waiting.each_mut().map(|waiting| waiting.take_if(|check| check.frame <= frame))
    }

    /// Compares hashes with local ones. A difference is kept for an audit only if `is_audited`.
    pub(crate) fn compare(
        &mut self,
        peer: PeerId,
        own: OwnCheck,
        check: RemoteCheck,
        is_audited: bool,
    ) -> Option<Difference> {
        if self.differs || check.frame <= self.agreed {
            return None;
        }
        self.is_compared = true;
        let (frame, block) = (check.frame, check.block);
        let event = match () {
            () if own.inputs_hash != block.inputs_hash => {
                SessionEvent::InputsDiverged { peer, frame, suspect: None }
            }
            () if own.state_hash != block.state_hash => self.desync(peer, own, block.state_hash),
            () => {
                self.agreed = frame;
                return None;
            }
        };
        self.differs = true;
        self.difference = Some(own).filter(|_| is_audited);
        Some(Difference { frame, event: Some(event) })
    }

    fn desync(&mut self, peer: PeerId, own: OwnCheck, theirs: u32) -> SessionEvent {
        self.differed_at = own.frame;
        let (frame, agreed) = (own.frame, self.agreed);
        SessionEvent::DesyncDetected { peer, frame, local: own.state_hash, remote: theirs, agreed }
    }

    /// Whether findings up to this frame report a difference not known yet. If hashes of it were
    /// forgotten since, the answer is no; the next check will find the difference again.
    pub(crate) fn is_news(&self, to: Frame) -> bool {
        !self.differs && to > self.agreed.max(self.differed_at)
    }

    /// The peer noticed a difference first: it has the local hashes, and its own were lost.
    pub(crate) fn note_noticed(&mut self, peer: PeerId, own: OwnCheck, theirs: u32) -> Difference {
        self.differs = true;
        self.difference = Some(own);
        let event = (own.state_hash != theirs).then(|| self.desync(peer, own, theirs));
        Difference { frame: own.frame, event }
    }

    pub(crate) fn set_findings(&mut self, findings: Findings) {
        self.findings = Some(findings);
    }

    /// Takes the peer's findings about the range that ends here.
    pub(crate) fn take_findings(&mut self, to: Frame) -> Option<Findings> {
        self.findings.take_if(|found| found.to == to)
    }

    /// Whether a difference waits for an audit.
    pub(crate) fn has_difference(&self) -> bool {
        self.difference.is_some()
    }

    pub(crate) fn take_difference(&mut self) -> Option<OwnCheck> {
        self.difference.take()
    }

    /// Notes that other peers hold other entries of this peer. True the first time.
    #[must_use]
    pub(crate) fn contest(&mut self) -> bool {
        !std::mem::replace(&mut self.is_contested, true)
    }

    /// Notes that a peer accuses this one. Returns how many do.
    #[must_use]
    pub(crate) fn accuse(&mut self, accuser: PeerId) -> usize {
        if !self.accusers.contains(&accuser) {
            self.accusers.push(accuser);
        }
        self.accusers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerId = PeerId::from_u128(2);

    fn check(frame: u32, state_hash: u32, inputs_hash: u32) -> RemoteCheck {
        let block = CheckBlock { age_frames: 0, state_hash, inputs_hash };
        RemoteCheck { frame: Frame::new(frame), block }
    }

    fn own(frame: u32) -> OwnCheck {
        OwnCheck { frame: Frame::new(frame), state_hash: 1, inputs_hash: 1 }
    }

    #[test]
    fn hashes_of_replaced_state_are_forgotten() {
        let mut audit = PeerAudit::default();
        for frame in [60, 120, 180] {
            audit.note_told(check(frame, frame, 0));
        }
        audit.waiting = [audit.told[1], audit.told[0]];
        audit.forget_told_through(Frame::new(120));
        let told = [60, 120, 180].map(|frame| audit.told(Frame::new(frame)).is_some());
        assert_eq!(told, [false, false, true]);
        assert_eq!(audit.waiting.map(|check| check.is_some()), [false, true]);
    }

    #[test]
    fn equal_hashes_agree_and_first_difference_ends_comparing() {
        let mut audit = PeerAudit::default();
        assert_eq!(audit.compare(PEER, own(60), check(60, 1, 1), true), None);
        assert_eq!((audit.agreed(), audit.is_compared()), (Frame::new(60), true));
        let found = audit.compare(PEER, own(120), check(120, 2, 1), true).expect("another state");
        let (frame, agreed) = (Frame::new(120), Frame::new(60));
        let desync = SessionEvent::DesyncDetected { peer: PEER, frame, local: 1, remote: 2, agreed };
        assert_eq!(found.event, Some(desync));
        assert!(audit.has_difference());
        assert_eq!(audit.compare(PEER, own(180), check(180, 1, 1), true), None, "nothing more counts");
        assert_eq!(audit.agreed(), agreed);
        audit.settle_as_agreed();
        assert_eq!(audit.compare(PEER, own(180), check(180, 1, 1), true), None);
        assert_eq!(audit.agreed(), Frame::new(180));
    }

    #[test]
    fn third_waiting_hash_replaces_oldest() {
        let mut audit = PeerAudit::default();
        [60, 120, 180].iter().for_each(|frame| audit.keep_waiting(check(*frame, 1, 1)));
        let frames = |checks: [Option<RemoteCheck>; 2]| checks.map(|c| c.map(|c| c.frame.number()));
        assert_eq!(frames(audit.take_waiting(Frame::new(120))), [None, Some(120)]);
        assert_eq!(frames(audit.take_waiting(Frame::new(999))), [Some(180), None]);
    }

    #[test]
    fn peer_is_contested_once_and_accusers_count_once() {
        let mut audit = PeerAudit::default();
        assert!(audit.contest() && !audit.contest());
        assert_eq!([audit.accuse(PEER), audit.accuse(PEER)], [1, 1]);
        assert_eq!(audit.accuse(PeerId::from_u128(3)), 2);
    }
}
