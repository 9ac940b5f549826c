//! Identity a peer states, and how often it may state it. The session updates it. Absent: which
//! statements are accepted.

use gaggle_kit::Micros;

use crate::MemberTag;
use crate::event::PeerFault;
use crate::roster::RosterMember;

/// Restarts a peer may make in one link; each costs a pass over all objects.
const RESTARTS_MAX: u32 = 16;
/// Most answers within one start of a link to a peer that does not know this peer's epoch: honest
/// peers need one or two.
const ANSWERED_MAX: u32 = 32;
/// Times a peer may claim a membership it cannot have: the same hello may have been sent twice.
const DOUBTS_MAX: u32 = 4;

/// Identity of the other end of a link.
#[derive(Debug, Clone)]
pub(crate) struct Handshake {
    /// Epochs of this side and the other; the other is 0 until its hello arrives.
    epoch: u32,
    their_epoch: u32,
    their_tag: MemberTag,
    /// Epoch of the other side as of this side's last hello.
    greeted: u32,
    /// Member or spectator at the other end, once its hello is accepted.
    present: Option<RosterMember>,
    /// Whether it spectates: it receives everything, and is not in the roster.
    spectator: bool,
    /// No packet arrived for a while.
    interrupted: bool,
    /// It announced that it leaves.
    goodbye: bool,
    /// Restarts of the other side.
    restarts: u32,
    /// Times since the last restart that it claimed a membership it cannot have.
    doubts: u32,
    /// Hellos sent because it did not seem to know this side's epoch.
    answered: u32,
    /// Time of its first hello, and time it became a member.
    greeted_at: Micros,
    welcomed_at: Micros,
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

    /// The handshake after the other side restarted: it begins again, in the same epoch.
    pub(super) fn restarted(&self) -> Handshake {
        Handshake { restarts: self.restarts + 1, ..Handshake::new(self.epoch) }
    }

    /// Member or spectator at the other end, once its hello is accepted.
    #[inline]
    pub(crate) fn present(&self) -> Option<RosterMember> {
        self.present
    }

    /// The member at the other end; `None` for a spectator.
    pub(crate) fn member(&self) -> Option<RosterMember> {
        self.present.filter(|_| !self.spectator)
    }

    /// Whether it spectates: it receives everything, and is not in the roster.
    pub(crate) fn is_spectator(&self) -> bool {
        self.spectator
    }

    /// Epoch of this side.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Epoch of the other side; 0 until its hello arrives.
    pub(crate) fn their_epoch(&self) -> u32 {
        self.their_epoch
    }

    /// Whether its hello arrived.
    #[inline]
    pub(crate) fn is_greeted(&self) -> bool {
        self.their_epoch != 0
    }

    /// Tag in its first hello.
    pub(crate) fn their_tag(&self) -> MemberTag {
        self.their_tag
    }

    /// Time of its first hello.
    pub(crate) fn greeted_at(&self) -> Micros {
        self.greeted_at
    }

    /// Time it became a member.
    pub(crate) fn welcomed_at(&self) -> Micros {
        self.welcomed_at
    }

    /// Whether it announced that it leaves.
    pub(crate) fn has_said_goodbye(&self) -> bool {
        self.goodbye
    }

    #[cfg(test)]
    pub(super) fn restarts(&self) -> u32 {
        self.restarts
    }

    /// A hello of this epoch arrived. Returns whether the other side restarted since its last one.
    ///
    /// # Errors
    /// If it restarted too often.
    pub(crate) fn has_restarted(&self, their_epoch: u32) -> Result<bool, PeerFault> {
        let restarted = self.is_greeted() && self.their_epoch != their_epoch;
        if restarted && self.restarts >= RESTARTS_MAX {
            return Err(PeerFault::TooManyRestarts { max: RESTARTS_MAX });
        }
        Ok(restarted)
    }

    /// Notes its first hello since it started.
    pub(crate) fn note_hello(&mut self, their_epoch: u32, tag: MemberTag, now: Micros) {
        self.their_epoch = their_epoch;
        self.their_tag = tag;
        self.greeted_at = now;
    }

    /// This side's hello was sent; it names this epoch of the other side.
    pub(crate) fn note_greeting(&mut self, echo: u32) {
        self.greeted = echo;
    }

    /// A member is at the other end.
    pub(crate) fn note_member(&mut self, member: RosterMember, now: Micros) {
        self.present = Some(member);
        self.welcomed_at = now;
    }

    /// A spectator is at the other end.
    pub(crate) fn note_spectator(&mut self, present: RosterMember) {
        self.present = Some(present);
        self.spectator = true;
    }

    /// It announced that it leaves.
    pub(crate) fn note_goodbye(&mut self) {
        self.goodbye = true;
    }

    /// Notes whether it is silent. Returns whether this changed.
    pub(crate) fn note_silence(&mut self, is_silent: bool) -> bool {
        std::mem::replace(&mut self.interrupted, is_silent) != is_silent
    }

    /// It claims a membership it cannot have.
    ///
    /// # Errors
    /// If it did so too often.
    pub(crate) fn doubt(&mut self) -> Result<(), PeerFault> {
        self.doubts += 1;
        if self.doubts > DOUBTS_MAX { Err(PeerFault::FalseJoinOrder) } else { Ok(()) }
    }

    /// A hello of `their_epoch` arrived that names `echo` as the epoch of this side. Returns
    /// whether it has to be answered. A hello sent before the peer can have received the local one
    /// is answered once, however many are on their way: the peer would take repeated answers for
    /// insistence.
    ///
    /// # Errors
    /// If it needed too many answers.
    pub(crate) fn needs_answer(&mut self, their_epoch: u32, echo: u32) -> Result<bool, PeerFault> {
        if echo == self.epoch {
            return Ok(false);
        }
        self.answered += 1;
        if self.answered > ANSWERED_MAX {
            return Err(PeerFault::TooManyRestarts { max: ANSWERED_MAX });
        }
        Ok(self.greeted != their_epoch)
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;

    use super::*;
    use crate::MemberId;

    fn member() -> RosterMember {
        RosterMember::new(MemberId { join_order: 1, tag: MemberTag(5) }, Slot::at(1))
    }

    #[test]
    fn spectator_is_present_and_no_member() {
        let mut handshake = Handshake::new(7);
        handshake.note_spectator(member());
        assert!(handshake.is_spectator() && handshake.present() == Some(member()));
        assert_eq!(handshake.member(), None);
        let mut handshake = Handshake::new(7);
        handshake.note_member(member(), Micros::from_secs(2));
        assert_eq!((handshake.member(), handshake.welcomed_at()), (Some(member()), Micros::from_secs(2)));
    }

    #[test]
    fn peer_that_restarts_too_often_is_at_fault() {
        let mut handshake = Handshake::new(7);
        assert_eq!(handshake.has_restarted(1), Ok(false), "it is its first hello");
        for epoch in 1..=RESTARTS_MAX {
            handshake.note_hello(epoch, MemberTag(5), Micros::ZERO);
            assert_eq!(handshake.has_restarted(epoch), Ok(false));
            assert_eq!(handshake.has_restarted(epoch + 1), Ok(true));
            handshake = handshake.restarted();
            assert!(!handshake.is_greeted() && handshake.epoch() == 7);
        }
        handshake.note_hello(90, MemberTag(5), Micros::ZERO);
        assert_eq!(handshake.has_restarted(90), Ok(false));
        let fault = PeerFault::TooManyRestarts { max: RESTARTS_MAX };
        assert_eq!(handshake.has_restarted(91), Err(fault));
    }

    #[test]
    fn hello_is_answered_once_per_epoch_of_other_side() {
        let mut handshake = Handshake::new(7);
        assert_eq!(handshake.needs_answer(3, 7), Ok(false), "it knows this side");
        assert_eq!(handshake.needs_answer(3, 0), Ok(true));
        handshake.note_greeting(3);
        for _ in 1..ANSWERED_MAX {
            assert_eq!(handshake.needs_answer(3, 0), Ok(false));
        }
        assert_eq!(handshake.needs_answer(3, 0), Err(PeerFault::TooManyRestarts { max: ANSWERED_MAX }));
    }

    #[test]
    fn doubts_are_counted_until_restart() {
        let mut handshake = Handshake::new(7);
        (0..DOUBTS_MAX).for_each(|_| assert_eq!(handshake.doubt(), Ok(())));
        assert_eq!(handshake.doubt(), Err(PeerFault::FalseJoinOrder));
        assert_eq!(handshake.restarted().doubt(), Ok(()));
    }

    #[test]
    fn silence_is_reported_when_it_begins_and_ends() {
        let mut handshake = Handshake::new(7);
        let reports = [false, true, true, false].map(|is_silent| handshake.note_silence(is_silent));
        assert_eq!(reports, [false, true, false, true]);
        handshake.note_goodbye();
        assert!(handshake.has_said_goodbye());
    }
}
