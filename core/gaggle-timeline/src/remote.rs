//! What a session knows about one other machine.

use gaggle_kit::{Frame, Micros, PeerId};

use crate::announce::Findings;
use crate::budget::RateLimiter;
use crate::clock::EchoClock;
use crate::membership::{Acceptance, PeerStatus};
use crate::packet::{CheckBlock, TAG_NONE};
use crate::roster::{Incarnation, StreamId};
use crate::stall_timer::StallTimer;
use crate::time_sync::Advantage;

/// How the hand-shake with a peer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handshake {
    /// There is no link.
    Unlinked,
    /// We told who we are.
    Linked,
    /// The peer told who it is, and it fits.
    Announced,
    /// The time between us is known, too.
    Synchronized,
    /// It plays by other rules or broke them: nothing it says counts.
    Refused,
}

/// Whether a peer is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Heard,
    Interrupted,
    Gone,
}

/// The hashes we have for one confirmed frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnCheck {
    pub(crate) frame: Frame,
    pub(crate) state_hash: u32,
    pub(crate) inputs_hash: u32,
}

/// A checksum a peer told before we had our own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteCheck {
    pub(crate) frame: Frame,
    pub(crate) block: CheckBlock,
}

/// Hashes of a peer that are remembered: as many as own ones.
const TOLD_CHECKS: usize = 4;

/// What packets with the tag last seen mean, as long as nothing about membership changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SenderContext {
    pub(crate) tag: u8,
    pub(crate) epoch: u32,
    /// What its packets say of it.
    pub(crate) observer: bool,
    /// It need not be judged again while nothing changes.
    pub(crate) plain: bool,
    pub(crate) hearing: Acceptance,
    /// The stream the sender stands for, and its first frame.
    pub(crate) stream: StreamId,
    pub(crate) first: Option<Frame>,
    pub(crate) players: u8,
    /// What it acknowledges are entries of the stream we have now.
    pub(crate) knows_us: bool,
    /// Its stream may grow.
    pub(crate) grows: bool,
    /// Where the stream lies in the ledger.
    pub(crate) track: Option<usize>,
}

impl SenderContext {
    /// A tag that means nothing to us.
    pub(crate) fn nothing(peer: PeerId, tag: u8) -> SenderContext {
        SenderContext {
            tag,
            epoch: 0,
            observer: false,
            plain: false,
            hearing: Acceptance::Nothing,
            stream: StreamId { peer, incarnation: Incarnation(0) },
            first: None,
            players: 0,
            knows_us: false,
            grows: false,
            track: None,
        }
    }
}

/// One other machine.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) peer: PeerId,
    /// As told when the link came up.
    pub(crate) incarnation: Option<Incarnation>,
    pub(crate) handshake: Handshake,
    /// There is a link to it, whatever is thought of it.
    pub(crate) is_up: bool,
    pub(crate) liveness: Liveness,
    /// What people were told of that.
    pub(crate) liveness_told: Liveness,
    /// The companies told to each other when the link came up, 0 for none: theirs and ours.
    pub(crate) companies: (u64, u64),
    /// It is in the roster, without an end.
    pub(crate) is_open: bool,
    /// It only watches.
    pub(crate) watches: bool,
    /// It can be talked to, as the membership machine was told.
    pub(crate) reachable: bool,
    pub(crate) meaning: Option<SenderContext>,
    /// The last of our entries it holds without a gap, once it told.
    pub(crate) acked: Option<Frame>,
    /// The last frame it said it confirmed.
    pub(crate) confirmed: Frame,
    pub(crate) heard_at: Micros,
    /// How long others have waited for it.
    pub(crate) hold_up: StallTimer,
    /// When somebody who hears it last told so.
    pub(crate) heard_via: Option<(PeerId, Micros)>,
    pub(crate) clock: EchoClock,
    pub(crate) advantage: Advantage,
    /// Since when the line to it is too slow for the match, and whether that was told. Once for
    /// each link.
    pub(crate) slow_since: Option<Micros>,
    pub(crate) slow_told: bool,
    /// Half a round trip, in hundredths of a frame; a lot until it is known.
    pub(crate) one_way_percent: u32,
    pub(crate) delay_frames: u32,
    /// The newest frame its packets told of, and when.
    pub(crate) newest: Option<(Frame, Micros)>,
    /// Until when packets go out every frame, because packets get lost one way or the other.
    pub(crate) lossy_until: Micros,
    /// Until when the peer is told that its packets get lost.
    pub(crate) missing_until: Micros,
    pub(crate) sent: Sent,
    /// How we stand, as last told on this link.
    pub(crate) told: SentStatus,
    /// Checks not yet compared, oldest first.
    pub(crate) checks: [Option<RemoteCheck>; 2],
    /// The last hashes it told, newest first, whatever became of them.
    told_checks: [Option<RemoteCheck>; TOLD_CHECKS],
    /// The last frame whose hashes were equal.
    pub(crate) agreed: Frame,
    /// A hash of this stay was compared with ours, whatever came of it.
    pub(crate) is_compared: bool,
    /// Others hold other entries of it than we do.
    pub(crate) contested: bool,
    /// It said that it has no state to give, and not that it stands otherwise since: when it may be
    /// asked again.
    pub(crate) unable_until: Option<Micros>,
    /// They say so, or their hashes do.
    pub(crate) accusers: Vec<PeerId>,
    /// What it may still send.
    pub(crate) allowed: Allowed,
    /// A difference was found: nothing more is compared with this peer.
    pub(crate) differs: bool,
    /// The last frame at which its state was told to differ.
    pub(crate) differed_at: Frame,
    /// The hashes that differed, until an inquest looks into them.
    pub(crate) difference: Option<OwnCheck>,
    /// What the peer found, until our own inquest is over.
    pub(crate) findings: Option<Findings>,
}

/// What is left of what a peer may do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allowed {
    /// Packets.
    pub(crate) packets: RateLimiter,
    /// Messages, but for those a transfer consists of.
    pub(crate) messages: RateLimiter,
    /// Attempts to change the view.
    pub(crate) changes: RateLimiter,
    /// Wishes for a state or a feed.
    pub(crate) asks: RateLimiter,
    /// States it says it took from others.
    pub(crate) recoveries: RateLimiter,
    /// Its highest attempt so far.
    pub(crate) ballot: u32,
    /// Promises it says it made to others, and the highest of these.
    pub(crate) promises: RateLimiter,
    pub(crate) promise_ballot: u32,
    /// Bytes of letters that are passed on for it, and to it.
    pub(crate) letter_bytes_from: RateLimiter,
    pub(crate) letter_bytes_to: RateLimiter,
    /// Attempts it brings letters about, and the highest of these.
    pub(crate) letters: RateLimiter,
    pub(crate) letter_ballot: u32,
}

/// Our standing as a peer was told it.
#[derive(Debug, Default)]
pub(crate) struct SentStatus {
    /// How often; the tag follows from it.
    count: u64,
    standing: Option<PeerStatus>,
    /// It was never said: it follows from starting together.
    pub(crate) implied: bool,
    /// Since what was looked at last, nothing changed that it should be told.
    pub(crate) epoch: Option<u32>,
}

/// Tags in use on one link at a time.
const TAGS: u64 = TAG_NONE as u64;

impl SentStatus {
    /// The tag for our packets to this peer.
    pub(crate) fn tag(&self) -> u8 {
        match self.standing {
            Some(_) => (self.count % TAGS) as u8,
            None => TAG_NONE,
        }
    }

    /// What the peer believes.
    pub(crate) fn standing(&self) -> Option<&PeerStatus> {
        self.standing.as_ref()
    }

    /// It is told something else from now on, under a new tag.
    pub(crate) fn tell(&mut self, standing: PeerStatus) -> u8 {
        self.count += 1;
        self.standing = Some(standing);
        self.implied = false;
        self.tag()
    }

    /// It knows this without being told, by starting together with us. Nothing was told before.
    pub(crate) fn imply(&mut self, standing: PeerStatus) {
        self.standing = Some(standing);
        self.implied = true;
    }

    /// We stand for nothing any more.
    pub(crate) fn forget(&mut self) {
        self.standing = None;
        self.epoch = None;
        self.implied = false;
    }
}

/// What was last told to a peer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    /// In which tick.
    pub(crate) tick: u64,
    /// Up to which entry.
    pub(crate) newest: Frame,
    /// When the clocks.
    pub(crate) time_at: Option<Micros>,
    /// Which input delay.
    pub(crate) delay_frames: u32,
    /// The hashes of which frame, how often, and in which tick last.
    pub(crate) check: Frame,
    pub(crate) check_times: u8,
    pub(crate) check_tick: u64,
}

impl Peer {
    pub(crate) fn new(peer: PeerId) -> Self {
        Peer {
            peer,
            incarnation: None,
            handshake: Handshake::Unlinked,
            is_up: false,
            liveness: Liveness::Heard,
            liveness_told: Liveness::Heard,
            companies: (0, 0),
            is_open: false,
            watches: false,
            reachable: false,
            meaning: None,
            acked: None,
            confirmed: Frame::START,
            heard_at: Micros::ZERO,
            hold_up: StallTimer::default(),
            heard_via: None,
            clock: EchoClock::new(),
            advantage: Advantage::default(),
            slow_since: None,
            slow_told: false,
            one_way_percent: u32::MAX,
            delay_frames: 0,
            newest: None,
            lossy_until: Micros::ZERO,
            missing_until: Micros::ZERO,
            sent: Sent::default(),
            told: SentStatus::default(),
            checks: [None; 2],
            told_checks: [None; TOLD_CHECKS],
            agreed: Frame::START,
            is_compared: false,
            contested: false,
            unable_until: None,
            accusers: Vec::new(),
            allowed: Allowed::default(),
            differs: false,
            differed_at: Frame::START,
            difference: None,
            findings: None,
        }
    }

    /// Another stay begins, theirs or ours: what was compared and measured between the old ones
    /// says nothing about it.
    pub(crate) fn begin_stay(&mut self, agreed: Frame) {
        self.is_compared = false;
        self.meaning = None;
        self.acked = None;
        self.confirmed = Frame::START;
        self.advantage = Advantage::default();
        self.newest = None;
        self.sent = Sent { tick: self.sent.tick, time_at: self.sent.time_at, ..Sent::default() };
        self.contested = false;
        self.unable_until = None;
        self.accusers.clear();
        self.differed_at = Frame::START;
        self.settle_difference(agreed);
        self.forget_told_checks();
    }

    /// What was compared up to `agreed` is settled, one way or the other. What it told stays told:
    /// whoever is forgotten has no voice when the next difference is voted on, and fewer might win.
    pub(crate) fn settle_difference(&mut self, agreed: Frame) {
        self.agreed = agreed;
        self.differs = false;
        self.difference = None;
        self.findings = None;
    }

    /// It has another state than the one whose hashes it told up to this frame.
    pub(crate) fn forget_told_through(&mut self, frame: Frame) {
        for told in self.checks.iter_mut().chain(&mut self.told_checks) {
            *told = told.filter(|check| check.frame > frame);
        }
    }

    /// The history is another: hashes told in the one before may rest on inputs that do not count
    /// any more.
    pub(crate) fn forget_told_checks(&mut self) {
        self.checks = [None; 2];
        self.told_checks = [None; TOLD_CHECKS];
    }

    pub(crate) fn note_told_check(&mut self, check: RemoteCheck) {
        if self.told_checks[0].is_none_or(|newest| newest.frame < check.frame) {
            self.told_checks.rotate_right(1);
            self.told_checks[0] = Some(check);
        }
    }

    /// Inputs and state hash it told for a frame, lately.
    pub(crate) fn told_check(&self, frame: Frame) -> Option<(u32, u32)> {
        let told = self.told_checks.iter().flatten().find(|check| check.frame == frame)?;
        Some((told.block.inputs_hash, told.block.state_hash))
    }

    /// Whether packets should be exchanged with it.
    pub(crate) fn is_linked(&self) -> bool {
        matches!(self.handshake, Handshake::Linked | Handshake::Announced | Handshake::Synchronized)
    }

    /// Whether what it says counts.
    pub(crate) fn is_trusted(&self) -> bool {
        matches!(self.handshake, Handshake::Announced | Handshake::Synchronized)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_a_state_somebody_gave_up_are_forgotten_and_those_it_told_since_are_not() {
        let mut remote = Peer::new(PeerId::from_u128(1));
        for frame in [60, 120, 180].map(Frame::new) {
            let block = CheckBlock { age_frames: 0, state_hash: frame.number(), inputs_hash: 0 };
            remote.note_told_check(RemoteCheck { frame, block });
        }
        remote.checks = [remote.told_checks[1], remote.told_checks[0]];
        remote.forget_told_through(Frame::new(120));
        let told = [60, 120, 180].map(|frame| remote.told_check(Frame::new(frame)).is_some());
        assert_eq!(told, [false, false, true]);
        assert_eq!(remote.checks.map(|check| check.is_some()), [false, true]);
    }
}
