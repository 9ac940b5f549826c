//! Who a peer says it is, and how often it said so. Absent: what of it is believed.

use gaggle_kit::Micros;

use crate::MemberTag;
use crate::roster::RosterMember;

/// Identity of the other end of a link.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Ours and theirs; theirs is 0 until its hello came.
    pub(crate) epoch: u32,
    pub(crate) their_epoch: u32,
    pub(crate) their_tag: MemberTag,
    /// Their epoch as of our last hello.
    pub(crate) greeted: u32,
    /// Who is at the other end, once it said so and is a member or a spectator.
    pub(crate) present: Option<RosterMember>,
    /// It is told everything, and is not in the roster.
    pub(crate) spectator: bool,
    /// Nothing was heard of it for a while.
    pub(crate) interrupted: bool,
    /// It said that it goes.
    pub(crate) goodbye: bool,
    /// How often the other side started anew.
    pub(crate) restarts: u32,
    /// How often it said, since then, that it is a member it cannot be.
    pub(crate) doubts: u32,
    /// How often a hello went to it because it did not seem to know our epoch.
    pub(crate) answered: u32,
    /// When its first hello came, and when it became a member.
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
