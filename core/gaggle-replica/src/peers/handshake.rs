//! Identity a peer states, and counters of its hellos. The session updates it. Absent: which
//! statements are accepted.

use gaggle_kit::Micros;

use crate::MemberTag;
use crate::roster::RosterMember;

/// Identity of the other end of a link.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Epochs of this side and the other; the other is 0 until its hello arrives.
    pub(crate) epoch: u32,
    pub(crate) their_epoch: u32,
    pub(crate) their_tag: MemberTag,
    /// Epoch of the other side as of this side's last hello.
    pub(crate) greeted: u32,
    /// Member or spectator at the other end, once its hello is accepted.
    pub(crate) present: Option<RosterMember>,
    /// Whether it spectates: it receives everything, and is not in the roster.
    pub(crate) spectator: bool,
    /// No packet arrived for a while.
    pub(crate) interrupted: bool,
    /// It announced that it leaves.
    pub(crate) goodbye: bool,
    /// Restarts of the other side.
    pub(crate) restarts: u32,
    /// Times since the last restart that it claimed a membership it cannot have.
    pub(crate) doubts: u32,
    /// Hellos sent because it did not seem to know this side's epoch.
    pub(crate) answered: u32,
    /// Time of its first hello, and time it became a member.
    pub(crate) greeted_at: Micros,
    pub(crate) welcomed_at: Micros,
}

impl Handshake {
    pub(crate) fn new(epoch: u32) -> Handshake {
        Handshake {
            epoch,
            their_epoch: 0,
            their_tag: MemberTag(0),
            greeted: 0,
            present: None,
            spectator: false,
            interrupted: false,
            goodbye: false,
            restarts: 0,
            doubts: 0,
            answered: 0,
            greeted_at: Micros::ZERO,
            welcomed_at: Micros::ZERO,
        }
    }
}
