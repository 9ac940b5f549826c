//! What an application learns from a session, besides what it must do.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame, Micros, PeerId, SlotSet};
use thiserror::Error;

/// Something worth telling a player or a log. Each happening is told once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The hand-shake with a peer made progress: `count` of `total` steps are done.
    Synchronizing {
        /// With whom.
        peer: PeerId,
        /// Steps done.
        count: u32,
        /// Steps in all.
        total: u32,
    },
    /// Both sides know each other's rules and the time between them.
    Synchronized {
        /// With whom.
        peer: PeerId,
    },
    /// Everybody is synchronized: the game runs.
    Started,
    /// A peer plays by other rules and was refused; its link should be closed.
    Rejected {
        /// Who.
        peer: PeerId,
        /// Why.
        reason: RejectReason,
    },
    /// Nothing was heard from a peer that plays for a while, or it came in unheard. Resumed or Gone
    /// follows, unless its part ends. Whoever watches is told only while nothing new is shown, and
    /// only of those it has a link to: in every frame that is shown, everybody who plays was heard
    /// by somebody.
    Interrupted {
        /// From whom.
        peer: PeerId,
    },
    /// A peer of whom Interrupted or Gone was told is back.
    Resumed {
        /// Who.
        peer: PeerId,
    },
    /// A peer was silent for too long, or its link ended. It may still come back, which is told by
    /// Resumed.
    TimedOut {
        /// Who.
        peer: PeerId,
    },
    /// The window is used up: the game waits for these slots.
    Stalled {
        /// Whose input is missing.
        waiting_for: SlotSet,
    },
    /// The game goes on after a stall.
    StallEnded {
        /// How many ticks it stood still.
        ticks: u32,
    },
    /// This machine comes into a running match: how far it is, in percent.
    JoinProgress {
        /// 0 to 99.
        percent: u8,
    },
    /// Somebody came; `peer` may be this machine.
    Joined {
        /// Who.
        peer: PeerId,
        /// Its players' slots.
        slots: SlotSet,
        /// Its first frame.
        first: Frame,
    },
    /// Somebody's part ended, by itself or because the others agreed that it is gone; `peer` may be
    /// this machine.
    Left {
        /// Who.
        peer: PeerId,
        /// Its last frame.
        last: Frame,
    },
    /// Another peer is present longest now: it admits those who come.
    LeaderChanged {
        /// Who.
        leader: PeerId,
    },
    /// The peers agreed on another set of members. Everything played here is kept.
    ViewChanged {
        /// The last frame confirmed in the view before.
        frame: Frame,
    },
    /// Another branch of the match goes on, and this peer has taken its state over: the inputs
    /// played here since the split are lost. [`Joined`](SessionEvent::Joined),
    /// [`Left`](SessionEvent::Left) and [`LeaderChanged`](SessionEvent::LeaderChanged) follow for
    /// every difference between the two rosters.
    BranchAbandoned {
        /// The last confirmed frame of the branch that goes on.
        frame: Frame,
    },
    /// Two machines hold different states for a confirmed frame, from equal inputs.
    DesyncDetected {
        /// With whom.
        peer: PeerId,
        /// The frame that was compared.
        frame: Frame,
        /// Our hash.
        local: u32,
        /// Theirs.
        remote: u32,
        /// The last frame known to be equal.
        agreed: Frame,
    },
    /// Where the states of a [`SessionEvent::DesyncDetected`] part, and why.
    DesyncLocated {
        /// With whom.
        peer: PeerId,
        /// What was found.
        cause: DesyncCause,
    },
    /// A machine whose state differed took the others' and plays on; `peer` may be this machine.
    DesyncRecovered {
        /// Who.
        peer: PeerId,
        /// The frame up to which what it had computed was wrong or in doubt.
        frame: Frame,
    },
    /// Two machines hold different inputs for one frame: somebody lies.
    InputsDiverged {
        /// Who told us of it.
        peer: PeerId,
        /// The frame that was compared.
        frame: Frame,
        /// Whose inputs differ, once that is known. It said so, or `peer` lies about it.
        suspect: Option<PeerId>,
    },
    /// Our own state cannot be read back from what it is written as, so nobody can come in by us.
    /// The game's `State` is to be mended: [`check_determinism`](crate::check_determinism) names
    /// the field.
    StateNotDecodable {
        /// The frame whose state was asked for.
        frame: Frame,
    },
    /// The state of the match is larger than can be sent to a joiner: none can join. To mend in the
    /// game: what never changes belongs outside of its state.
    StateTooLarge {
        /// Who has it: this machine, or one that was asked for its state.
        peer: PeerId,
        /// What it has, in bytes.
        bytes: u64,
        /// What it may have: [`STATE_BYTES_MAX`](crate::STATE_BYTES_MAX).
        max: u64,
    },
    /// For seconds, a packet to a peer and back has taken longer than window and input delay make
    /// up for together. The match runs slower than it should; a joiner over such a link may not get
    /// in.
    LineTooSlow {
        /// To whom.
        peer: PeerId,
        /// How long it takes.
        rtt: Micros,
        /// How long it may take.
        max: Micros,
    },
    /// A peer did what no network can do to a packet; its link should be closed.
    PeerFault {
        /// Who.
        peer: PeerId,
        /// What.
        fault: PeerFault,
    },
}

/// Why a peer was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// Another version of the protocol.
    #[error("speaks version {theirs} of the timeline protocol, this is version {ours}: update the older one")]
    Version {
        /// Ours.
        ours: u16,
        /// Theirs.
        theirs: u16,
    },
    /// Another game, or another version of it.
    #[error("plays another game or version (fingerprint {theirs:016x}, ours {ours:016x})")]
    Game {
        /// Ours.
        ours: u64,
        /// Theirs.
        theirs: u64,
    },
    /// The same game with other settings.
    #[error(
        "plays with other settings: tick rate, window, delay limits, checks, slots and input size must be equal"
    )]
    Settings,
    /// The same version of the game with other fields in its state or its input. Two builds were
    /// given one version.
    #[error(
        "has other fields in its state or input under the same version (shape {theirs:016x}, ours {ours:016x}): \
         give every build whose fields differ a version of its own"
    )]
    Shape {
        /// Ours.
        ours: u64,
        /// Theirs.
        theirs: u64,
    },
    /// Claims seats it was not given.
    #[error("claims {theirs:?}, but was given {ours:?}")]
    Slots {
        /// What it was given.
        ours: SlotSet,
        /// What it claims.
        theirs: SlotSet,
    },
}

/// What only a peer can do, never the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// Its packet cannot be read.
    #[error("sent a packet that cannot be read: {0}")]
    Malformed(#[from] DecodeError),
    /// It changed what it had said.
    #[error("sent a second, different input for {frame}")]
    InputChanged {
        /// Of which frame.
        frame: Frame,
    },
    /// It told inputs no honest peer can have made yet.
    #[error("sent input up to {frame}, although nothing after {possible} can exist yet")]
    InputTooFarAhead {
        /// The newest it told.
        frame: Frame,
        /// The newest possible.
        possible: Frame,
    },
    /// It made up a ballot nobody can have got to.
    #[error("used ballot {number}, although nobody can have got there")]
    BallotTooHigh {
        /// The number.
        number: u32,
    },
    /// It admitted somebody, which only the lead may.
    #[error("admitted somebody in {frame}, although it does not lead")]
    NotLeader {
        /// In which of its entries.
        frame: Frame,
    },
    /// It gave somebody slots the game does not have.
    #[error("gave somebody slots the game does not have")]
    UnknownSlots,
    /// Asked what it holds, it left out somebody who is present, or had confirmed frames without
    /// us.
    #[error(
        "said it holds what cannot be: somebody who is present is left out, or frames are confirmed without us"
    )]
    FalseReport,
    /// It told a view with us in it that it had never asked us about.
    #[error("told a view made at ballot {number}, although it never asked what we hold")]
    UnsolicitedView {
        /// The view's ballot.
        number: u32,
    },
    /// It wants another view again and again.
    #[error("called for a change of the roster so often that nobody could play")]
    TooManyViewChanges,
    /// It told different machines different inputs.
    #[error("told others other inputs than us, as found at {frame}")]
    Equivocation {
        /// The frame that was compared.
        frame: Frame,
    },
    /// It sends more messages than anybody has reason to.
    #[error("sent more messages than anybody has reason to")]
    RateLimitExceeded,
    /// The state it gave is not what it said it gives.
    #[error("gave a state that is not the one it announced")]
    SnapshotMismatch,
    /// The state it gave cannot be read.
    #[error("gave a state that cannot be read")]
    SnapshotMalformed,
    /// Helping us in, it kept from us what it had said it had.
    #[error("fed us up to {fed} for seconds, although it had said before that it had confirmed {confirmed}")]
    FeedWithheld {
        /// How far it brought us.
        fed: Frame,
        /// How far it said it was.
        confirmed: Frame,
    },
    /// It left entries out.
    #[error("sent inputs from {from} on, although it was told we hold them only up to {have}")]
    InputGap {
        /// The first it told.
        from: Frame,
        /// What we hold.
        have: Frame,
    },
    /// It acknowledged what was never sent.
    #[error("acknowledged {frame}, although our newest input is {newest}")]
    AckBeyondSent {
        /// What it acknowledged.
        frame: Frame,
        /// What we sent.
        newest: Frame,
    },
    /// It says that it has more or fewer players than it said before.
    #[error("says that it has {players} players, although it came with {seats}")]
    SlotCountChanged {
        /// What it says.
        players: u8,
        /// What it said before.
        seats: u8,
    },
    /// It gave itself other rules in the middle of a match.
    #[error("announced itself differently a second time")]
    DuplicateAnnounce,
}

/// What is behind a desync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DesyncCause {
    /// From equal states and equal inputs two machines computed different states: the tick is not
    /// deterministic.
    #[error(
        "frame {frame} came out differently from equal states and inputs, so the tick is not deterministic"
    )]
    NondeterministicTick {
        /// The first frame that differs.
        frame: Frame,
    },
    /// Simulated again, both machines agree: our state was changed outside the tick, or depends on
    /// something that is not in it.
    #[error(
        "our state of frame {frame} comes out differently when simulated again, so it was changed outside the tick"
    )]
    LocalStateCorrupted {
        /// The compared frame, at which simulating again gives another state than we had.
        frame: Frame,
    },
    /// The same on the other machine.
    #[error(
        "their state of frame {frame} comes out differently when simulated again, so it was changed outside the tick"
    )]
    RemoteStateCorrupted {
        /// The compared frame.
        frame: Frame,
    },
    /// What is needed to find out is gone, or the other side does not answer the same way.
    #[error("the cause could not be found any more")]
    Unknown,
}

/// Events waiting to be read. An application that never reads loses the oldest, not its memory.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<SessionEvent>,
    lost: u64,
}

/// More than one match tells between two frames, even with 64 slots.
const EVENTS_MAX: usize = 512;

impl Events {
    pub(crate) fn push(&mut self, event: SessionEvent) {
        if self.queue.len() == EVENTS_MAX {
            self.queue.pop_front();
            self.lost += 1;
        }
        self.queue.push_back(event);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<SessionEvent> {
        self.queue.pop_front()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_events_are_bounded_and_counted() {
        let mut events = Events::default();
        for frame in 0..EVENTS_MAX as u32 + 3 {
            events.push(SessionEvent::StallEnded { ticks: frame });
        }
        assert_eq!(events.lost(), 3);
        assert_eq!(events.pop(), Some(SessionEvent::StallEnded { ticks: 3 }));
    }
}
