//! Events of a session: what an application may tell players or write to a log.
//!
//! `Session::poll_event` returns them; parts push them through `Cx`. Absent: what causes them.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame, Micros, PeerId, SlotSet};
use thiserror::Error;

/// An event for a player or a log. Each is reported once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The handshake with a peer made progress: `count` of `total` steps are done.
    Synchronizing {
        /// Peer at the other end.
        peer: PeerId,
        /// Steps done so far.
        count: u32,
        /// Steps of a whole handshake.
        total: u32,
    },
    /// Both sides know each other's settings and the round trip between them.
    Synchronized {
        /// Peer at the other end.
        peer: PeerId,
    },
    /// All peers are synchronized: the game runs.
    Started,
    /// A peer's settings differ and it was rejected; close its link.
    Rejected {
        /// Peer that was rejected.
        peer: PeerId,
        /// What differs between the two peers.
        reason: RejectReason,
    },
    /// No packet came from a playing peer for `TimelineConfig::interrupted_after`, or it joined
    /// without having been heard. `Resumed` or `TimedOut` follows, unless the peer leaves. A
    /// spectator gets this event only for peers it is linked to, and only while it has no new
    /// frames to show.
    Interrupted {
        /// Peer that is silent.
        peer: PeerId,
    },
    /// A peer reported as interrupted or timed out is heard again.
    Resumed {
        /// Peer that is back.
        peer: PeerId,
    },
    /// A peer was silent for too long, or its link ended. It may still return: `Resumed` follows
    /// then.
    TimedOut {
        /// Peer that timed out.
        peer: PeerId,
    },
    /// The prediction window is used up: the game waits for these slots.
    Stalled {
        /// Slots whose input is missing.
        waiting_for: SlotSet,
    },
    /// The game goes on after a stall.
    StallEnded {
        /// Ticks without a new frame.
        ticks: u32,
    },
    /// This peer is joining a running match: progress in percent.
    JoinProgress {
        /// From 0 to 99.
        percent: u8,
    },
    /// A player joined; `peer` may be the local one.
    Joined {
        /// Peer that joined.
        peer: PeerId,
        /// Slots of its players.
        slots: SlotSet,
        /// Its first frame in the match.
        first: Frame,
    },
    /// A peer left, or the others agreed to remove it; `peer` may be the local one.
    Left {
        /// Peer that left.
        peer: PeerId,
        /// Its last frame in the match.
        last: Frame,
    },
    /// Another peer is now first in join order: it admits joiners.
    LeaderChanged {
        /// Peer that leads from now on.
        leader: PeerId,
    },
    /// Peers agreed on another set of members. All frames played here are kept.
    ViewChanged {
        /// Last frame confirmed in the previous view.
        frame: Frame,
    },
    /// Another branch of the match goes on, and this peer took its state over: inputs played here
    /// since the partition are lost. [`Joined`](SessionEvent::Joined), [`Left`](SessionEvent::Left)
    /// and [`LeaderChanged`](SessionEvent::LeaderChanged) follow for every difference between the
    /// two rosters.
    BranchAbandoned {
        /// Last confirmed frame of the branch that goes on.
        frame: Frame,
    },
    /// Two peers have different states for a confirmed frame, from equal inputs.
    DesyncDetected {
        /// Peer whose state differs.
        peer: PeerId,
        /// Frame that was compared.
        frame: Frame,
        /// Checksum of the local state.
        local: u32,
        /// Checksum of the remote state.
        remote: u32,
        /// Last frame known to be equal.
        agreed: Frame,
    },
    /// Where the states of a [`SessionEvent::DesyncDetected`] diverged, and why.
    DesyncLocated {
        /// Peer whose state differs.
        peer: PeerId,
        /// What the audit found.
        cause: DesyncCause,
    },
    /// A peer whose state differed took another peer's state and plays on; `peer` may be the local
    /// one.
    DesyncRecovered {
        /// Peer that recovered.
        peer: PeerId,
        /// Frame up to which its own states were wrong or in doubt.
        frame: Frame,
    },
    /// Two peers have different inputs for one frame, so one of them is dishonest.
    InputsDiverged {
        /// Peer that reported it.
        peer: PeerId,
        /// Frame that was compared.
        frame: Frame,
        /// Owner of the differing inputs, once known. Either it sent two versions, or `peer`
        /// reports them wrongly.
        suspect: Option<PeerId>,
    },
    /// The local state cannot be decoded from its own encoding, so no peer can join through this
    /// one. The bug is in the game's `State`; [`check_determinism`](crate::check_determinism) names
    /// the field.
    StateNotDecodable {
        /// Frame whose state was requested.
        frame: Frame,
    },
    /// The state of the match is too large to send, so no peer can join. Move constant data out of
    /// the game's state.
    StateTooLarge {
        /// Peer that has this state: the local one, or the donor that was asked for it.
        peer: PeerId,
        /// Size of its state in bytes.
        bytes: u64,
        /// Limit in bytes: [`STATE_BYTES_MAX`](crate::STATE_BYTES_MAX).
        max: u64,
    },
    /// Round trips to a peer have been longer for seconds than prediction window and input delay
    /// cover together. The match runs slower than it should, and a peer that joins over such a link
    /// may not be admitted.
    LinkTooSlow {
        /// Peer at the other end.
        peer: PeerId,
        /// Measured round trip.
        rtt: Micros,
        /// Longest round trip the settings cover.
        max: Micros,
    },
    /// A peer computes too slowly or is heard too late: the others spent more than a tenth of the
    /// last 10 s waiting for its input. `peer` may be the local one, which then made fewer ticks
    /// than are due. Told once, and again after a time without waiting. What follows is up to
    /// [`TimelineConfig::slow_policy`](crate::TimelineConfig::slow_policy).
    SlowPeer {
        /// Peer that was last to send its input.
        peer: PeerId,
        /// Thousandths of the last 10 s that were spent waiting for it.
        share_permille: u16,
    },
    /// An input of the local players did not count: the referee sealed its frame without it.
    InputRefused {
        /// Frame of the input.
        frame: Frame,
    },
    /// Many inputs of the local players come too late to count, so they lag behind. Told once, and
    /// again after a time without.
    LaggingBehind {
        /// Thousandths of the last inputs that did not count.
        refused_permille: u16,
    },
    /// Another start of the referee continues the match from an earlier frame. Frames after it are
    /// simulated again.
    FramesTakenBack {
        /// Last frame that is kept.
        kept: Frame,
        /// Last frame that was sealed before.
        sealed: Frame,
    },
    /// Most other players have another state for a sealed frame. Theirs replaces the local one, and
    /// `DesyncRecovered` follows.
    StateOutvoted {
        /// Frame whose states differ.
        frame: Frame,
        /// Last frame before it that was compared.
        agreed: Frame,
    },
    /// A peer did what no network can do to a packet; close its link.
    PeerFault {
        /// Peer at fault.
        peer: PeerId,
        /// Rule it broke.
        fault: PeerFault,
    },
}

/// Why a peer was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// It uses another version of the protocol.
    #[error("speaks version {theirs} of the timeline protocol, this is version {ours}; update the older one")]
    Version {
        /// Version of this peer.
        ours: u16,
        /// Version of the other peer.
        theirs: u16,
    },
    /// It runs another game, or another version of it.
    #[error(
        "plays another game or version (fingerprint {theirs:016x}, local {ours:016x}); run the same build"
    )]
    Game {
        /// Fingerprint of this peer.
        ours: u64,
        /// Fingerprint of the other peer.
        theirs: u64,
    },
    /// It runs the same game with other settings.
    #[error(
        "plays with other settings; make tick rate, window, delay limits, checks, slots and input size equal"
    )]
    Settings,
    /// It runs the same version with other fields in state or input: two builds share one version.
    #[error(
        "has other fields in its state or input under the same version (shape {theirs:016x}, local {ours:016x}); \
         give every build whose fields differ a version of its own"
    )]
    Shape {
        /// Shape of this build.
        ours: u64,
        /// Shape of the other build.
        theirs: u64,
    },
    /// It claims slots that were not given to it.
    #[error("claims {theirs:?}, but was given {ours:?}")]
    Slots {
        /// Slots it was given.
        ours: SlotSet,
        /// Slots it claims.
        theirs: SlotSet,
    },
}

/// A provable violation: no network can cause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// Its packet cannot be decoded.
    #[error("sent a packet that cannot be read: {0}")]
    Malformed(#[from] DecodeError),
    /// It changed an input it had sent.
    #[error("sent a second, different input for {frame}")]
    InputChanged {
        /// Frame of the input.
        frame: Frame,
    },
    /// It sent inputs that no honest peer can have made yet.
    #[error("sent input up to {frame}, although no input after {possible} can exist yet")]
    InputTooFarAhead {
        /// Newest frame it sent.
        frame: Frame,
        /// Newest frame possible.
        possible: Frame,
    },
    /// It used a ballot no peer can have reached.
    #[error("used ballot {number}, which no peer can have reached")]
    BallotTooHigh {
        /// Ballot it used.
        number: u32,
    },
    /// It admitted a joiner without being the leader.
    #[error("admitted a joiner in {frame}, although it does not lead")]
    NotLeader {
        /// Frame of the entry that admits.
        frame: Frame,
    },
    /// It gave a joiner slots that the game does not have.
    #[error("gave a joiner slots the game does not have")]
    UnknownSlots,
    /// Its report left out a peer that is present, or confirmed frames without this one.
    #[error(
        "sent a report that cannot be true: it omits a peer that is present, or confirms frames without this one"
    )]
    FalseReport,
    /// It sent a view that contains this peer without having asked it for a report.
    #[error("sent a view made at ballot {number}, although it never asked this peer for a report")]
    UnsolicitedView {
        /// Ballot of the view.
        number: u32,
    },
    /// It starts view changes again and again.
    #[error("started view changes so often that no peer could play")]
    TooManyViewChanges,
    /// It sent different inputs to different peers.
    #[error("sent different inputs to different peers, as found at {frame}")]
    Equivocation {
        /// Frame that was compared.
        frame: Frame,
    },
    /// It sends more messages than any peer needs.
    #[error("sent more messages than any peer needs")]
    RateLimitExceeded,
    /// The snapshot it sent is not the one it announced.
    #[error("sent a snapshot that is not the one it announced")]
    SnapshotMismatch,
    /// The snapshot it sent cannot be decoded.
    #[error("sent a snapshot that cannot be decoded")]
    SnapshotMalformed,
    /// A donor did not feed entries it had said it had.
    #[error(
        "fed the local peer only up to {fed} for seconds, although it said before that it confirmed {confirmed}"
    )]
    FeedWithheld {
        /// Last frame it fed to this peer.
        fed: Frame,
        /// Last frame it said it had confirmed.
        confirmed: Frame,
    },
    /// It left out entries in the middle of its stream.
    #[error("sent inputs from {from} on, although only those up to {have} had been acknowledged")]
    InputGap {
        /// First frame it sent.
        from: Frame,
        /// Newest frame this peer holds.
        have: Frame,
    },
    /// It acknowledged an entry that was never sent.
    #[error("acknowledged {frame}, although the newest local input is {newest}")]
    AckBeyondSent {
        /// Frame it acknowledged.
        frame: Frame,
        /// Newest frame this peer sent.
        newest: Frame,
    },
    /// It announced another number of players than before.
    #[error("says that it has {players} players, although it joined with {seats}")]
    SlotCountChanged {
        /// Players it says it has now.
        players: u8,
        /// Players it joined with.
        seats: u8,
    },
    /// The referee sent sealed frames or messages that cannot be read, or that contradict earlier
    /// ones.
    #[cfg(feature = "seal")]
    #[error("sent sealed frames that cannot be: {0}")]
    Sealed(#[from] gaggle_seal::ClientError),
    /// It announced other settings during the match.
    #[error("announced itself differently a second time")]
    DuplicateAnnounce,
}

/// Cause of a desync, as an audit found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DesyncCause {
    /// From equal states and inputs two peers computed different states: the tick is not
    /// deterministic.
    #[error(
        "frame {frame} differs from equal states and inputs, so the tick is not deterministic; run check_determinism"
    )]
    NondeterministicTick {
        /// First frame that differs.
        frame: Frame,
    },
    /// When resimulated, both peers agree: the local state was changed outside the tick, or the
    /// tick depends on data outside the state.
    #[error("the local state of frame {frame} differs when resimulated; look for changes outside the tick")]
    LocalStateCorrupted {
        /// Compared frame, for which resimulation gives another state than the live game had.
        frame: Frame,
    },
    /// The same on the other peer.
    #[error(
        "the other peer's state of frame {frame} differs when resimulated; look for changes outside the tick"
    )]
    RemoteStateCorrupted {
        /// Frame that was compared.
        frame: Frame,
    },
    /// The inputs or states the audit needs are gone, or the other peer did not send its findings.
    #[error("the cause could not be located, its inputs are gone; check the game with `check_determinism`")]
    Unknown,
}

/// Events waiting to be polled. An application that does not poll loses the oldest events; memory
/// stays bounded.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<SessionEvent>,
    lost: u64,
}

/// Capacity of the queue: a match with 64 slots reports fewer events between two frames.
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
