//! Violations that membership proves, and reasons for the end of a stay.
//!
//! `Membership` returns them, the session acts on them. Absent: what follows.

use gaggle_kit::{DecodeError, Frame, PeerId};

use crate::event::PeerFault;
use crate::roster::StreamId;

/// Why a stay ended against the peer's will.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StayEnd {
    /// No donor fed this peer, or it was not admitted in time.
    Starved,
    /// A view contradicts frames this peer has confirmed.
    Contradicted,
}

/// A provable violation: no network can cause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It sent an entry whose value differs from the one held.
    EntryChanged { stream: StreamId, frame: Frame },
    /// A value in an entry cannot be decoded.
    Value(DecodeError),
    /// It used a ballot above all that can have been used.
    BallotTooHigh { number: u32 },
    /// It sent a view that contains this peer without having asked it for a report.
    UnsolicitedView { number: u32 },
    /// It gave a stream slots that the game does not have.
    UnknownSlots,
    /// Its report cannot be true.
    FalseReport,
    /// It says another number of players than before.
    SlotCountChanged { players: u8, seats: u8 },
}

/// Who is to blame for a fault.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Blame {
    /// Its sender committed this.
    Sender(PeerFault),
    /// The sender or the owner of the stream: they say different things about its entry.
    Contested { stream: StreamId, frame: Frame },
}

impl Fault {
    /// Who is to blame, if `sender` sent what it was found in.
    pub(crate) fn of(self, sender: PeerId) -> Blame {
        Blame::Sender(match self {
            Fault::EntryChanged { stream, frame } if stream.peer != sender => {
                return Blame::Contested { stream, frame };
            }
            Fault::EntryChanged { frame, .. } => PeerFault::InputChanged { frame },
            Fault::Value(error) => PeerFault::Malformed(error),
            Fault::BallotTooHigh { number } => PeerFault::BallotTooHigh { number },
            Fault::UnsolicitedView { number } => PeerFault::UnsolicitedView { number },
            Fault::UnknownSlots => PeerFault::UnknownSlots,
            Fault::FalseReport => PeerFault::FalseReport,
            Fault::SlotCountChanged { players, seats } => PeerFault::SlotCountChanged { players, seats },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Incarnation;

    #[test]
    fn changed_entry_of_third_peer_is_contested() {
        let (owner, frame) = (PeerId::from_u128(1), Frame::new(5));
        let stream = StreamId { peer: owner, incarnation: Incarnation(1) };
        let fault = Fault::EntryChanged { stream, frame };
        assert_eq!(fault.of(owner), Blame::Sender(PeerFault::InputChanged { frame }));
        assert_eq!(fault.of(PeerId::from_u128(2)), Blame::Contested { stream, frame });
        assert_eq!(Fault::FalseReport.of(owner), Blame::Sender(PeerFault::FalseReport));
    }
}
