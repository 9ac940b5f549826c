//! Counters of a session for overlays, tests and logs: plain data.
//!
//! Parts of the session count; applications read. Absent: what follows from them.

use gaggle_kit::{Frame, Micros};

/// Counters of a session since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionStats {
    /// Frames simulated for the first time.
    pub frames: u64,
    /// Rollbacks, caused by corrections that changed an answer.
    pub rollbacks: u64,
    /// Frames simulated again.
    pub frames_resimulated: u64,
    /// Deepest rollback in frames.
    pub rollback_frames_max: u32,
    /// Depth of the last rollback in frames.
    pub rollback_frames_last: u32,
    /// Save requests for the state.
    pub saves: u64,
    /// Ticks in which the game waited for other peers.
    pub stalled_ticks: u64,
    /// Packets of the running game that were sent.
    pub packets_sent: u64,
    /// Bytes of those packets.
    pub bytes_sent: u64,
    /// Corrections that changed no answer to a question, so no frame was resimulated.
    pub corrections_without_rollback: u64,
    /// Times this peer was dropped from the match and joined it again.
    pub rejoins: u64,
    /// Snapshots sent to joiners.
    pub snapshots_sent: u64,
    /// Snapshots taken over from other peers.
    pub snapshots_received: u64,
    /// Donors given up because their feed made no progress.
    pub donors_abandoned: u64,
    /// Times the local state was wrong and replaced by another peer's.
    pub recoveries: u64,
    /// Entries buffered of that other peer of which most are buffered now.
    pub entries_buffered_max: u32,
    /// Forwarded messages that were invalid, or of a kind that is not forwarded.
    pub forwards_rejected: u64,
    /// Packets that came late, twice or out of order: older than what their sender sent before.
    pub packets_stale: u64,
    /// Packets dropped unread because their sender exceeded its rate.
    pub packets_rate_limited: u64,
    /// Requests for a snapshot or a feed that were declined because they came too often.
    pub requests_rate_limited: u64,
    /// Entries of third peers that were forwarded without a request.
    pub entries_unsolicited: u64,
    /// Frames between the newest local input and the simulation.
    pub input_delay_frames: u32,
    /// Frames this peer is ahead of the others, in thousandths.
    pub frame_advantage_permille: i32,
    /// Own inputs that a referee sealed without, because they arrived too late.
    pub inputs_refused: u64,
    /// Events that were not polled in time.
    pub events_dropped: u64,
}

/// What a session knows about one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStats {
    /// Last round trip, including the polling of both sides.
    pub rtt: Option<Micros>,
    /// Last frame up to which its input is held.
    pub received_frame: Frame,
    /// Last frame up to which it acknowledged ours.
    pub acked_frame: Frame,
    /// Last frame it confirmed.
    pub confirmed_frame: Frame,
    /// Its input delay in frames.
    pub input_delay_frames: u32,
    /// Frames this peer is ahead of it, in thousandths.
    pub frame_advantage_permille: Option<i32>,
    /// Entries it has not acknowledged.
    pub unacked_frames: u32,
}
