//! What a session knows about one other machine.

use gaggle_kit::{Frame, Micros, PeerId};

use crate::announce::Findings;
use crate::clock::EchoClock;
use crate::packet::CheckBlock;
use crate::roster::{Incarnation, Row};
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

/// One other machine.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) row: Row,
    pub(crate) incarnation: Option<Incarnation>,
    pub(crate) handshake: Handshake,
    pub(crate) liveness: Liveness,
    /// The last frame up to which its entries are held without a gap.
    pub(crate) have: Frame,
    /// The last of our entries it holds without a gap.
    pub(crate) acked: Frame,
    /// The last frame it said it confirmed.
    pub(crate) confirmed: Frame,
    pub(crate) heard_at: Micros,
    pub(crate) clock: EchoClock,
    pub(crate) advantage: Advantage,
    /// Half a round trip, in hundredths of a frame; a lot until it is known.
    pub(crate) one_way_percent: u32,
    pub(crate) delay_frames: u32,
    /// Until when packets go out every frame, because packets get lost one way or the other.
    pub(crate) lossy_until: Micros,
    /// Until when the peer is told that its packets get lost.
    pub(crate) missing_until: Micros,
    pub(crate) sent: Sent,
    /// Checks not yet compared, oldest first.
    pub(crate) checks: [Option<RemoteCheck>; 2],
    /// The last frame whose hashes were equal.
    pub(crate) agreed: Frame,
    /// A difference was found: nothing more is compared with this peer.
    pub(crate) differs: bool,
    /// The hashes that differed, until an inquest looks into them.
    pub(crate) difference: Option<OwnCheck>,
    /// What the peer found, until our own inquest is over.
    pub(crate) findings: Option<Findings>,
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
    /// The hashes of which frame.
    pub(crate) check: Frame,
}

impl Remote {
    pub(crate) fn new(row: Row) -> Self {
        Remote {
            row,
            incarnation: None,
            handshake: Handshake::Unlinked,
            liveness: Liveness::Heard,
            have: row.first.previous(),
            acked: Frame::START,
            confirmed: Frame::START,
            heard_at: Micros::ZERO,
            clock: EchoClock::new(),
            advantage: Advantage::default(),
            one_way_percent: u32::MAX,
            delay_frames: 0,
            lossy_until: Micros::ZERO,
            missing_until: Micros::ZERO,
            sent: Sent::default(),
            checks: [None; 2],
            agreed: Frame::START,
            differs: false,
            difference: None,
            findings: None,
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.row.peer
    }

    /// Up to which frame nobody needs to wait for this peer.
    pub(crate) fn horizon(&self) -> Frame {
        if self.have >= self.row.last { Frame::NEVER } else { self.have }
    }

    /// Whether packets should be exchanged with it.
    pub(crate) fn is_linked(&self) -> bool {
        matches!(self.handshake, Handshake::Linked | Handshake::Announced | Handshake::Synchronized)
    }

    /// Whether what it says counts.
    pub(crate) fn is_trusted(&self) -> bool {
        matches!(self.handshake, Handshake::Announced | Handshake::Synchronized)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.row.last == Frame::NEVER
    }
}
