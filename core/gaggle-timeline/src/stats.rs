//! Numbers for overlays, tests and logs.

use gaggle_kit::{Frame, Micros};

/// What a session did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionStats {
    /// Frames simulated for the first time.
    pub frames: u64,
    /// Times a correction changed the past.
    pub rollbacks: u64,
    /// Frames simulated again.
    pub frames_resimulated: u64,
    /// The deepest rollback in frames.
    pub rollback_frames_max: u32,
    /// How deep the last one was.
    pub rollback_frames_last: u32,
    /// Copies of the state asked for.
    pub saves: u64,
    /// Ticks in which the game waited for others.
    pub stalled_ticks: u64,
    /// Running-game packets sent.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Corrections that changed no answer, so nothing was simulated again.
    pub corrections_without_rollback: u64,
    /// Times this machine lost its place in the match and came in again.
    pub rejoins: u64,
    /// States given to somebody who came in.
    pub snapshots_sent: u64,
    /// States taken from somebody else.
    pub snapshots_received: u64,
    /// Times whoever helped this machine in led it nowhere and another one was asked.
    pub donors_abandoned: u64,
    /// Times this machine's state was wrong and somebody else's was taken.
    pub recoveries: u64,
    /// The most entries that are held of another machine's stream right now: bounded, whatever
    /// happens.
    pub entries_buffered_max: u32,
    /// Messages passed on by others that made no sense, or that nobody passes on.
    pub forwards_rejected: u64,
    /// Packets that came late, twice or out of order: older than what their sender had told before.
    pub packets_stale: u64,
    /// Packets that were not looked at, because their sender sent far too many.
    pub packets_rate_limited: u64,
    /// Wishes for a state or a feed that were declined, because they came too often.
    pub requests_rate_limited: u64,
    /// Entries of third machines somebody passed on unasked.
    pub entries_unsolicited: u64,
    /// How far the newest local input is ahead of the simulation.
    pub input_delay_frames: u32,
    /// How far this machine is ahead of the others, in thousandths of a frame.
    pub frame_advantage_permille: i32,
    /// Events nobody read in time.
    pub events_dropped: u64,
}

/// What a session knows about one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStats {
    /// The last round trip, polling of both sides included.
    pub rtt: Option<Micros>,
    /// The last frame up to which its input is held.
    pub received_frame: Frame,
    /// The last frame up to which it holds ours.
    pub acked_frame: Frame,
    /// The last frame it confirmed.
    pub confirmed_frame: Frame,
    /// Its input delay.
    pub input_delay_frames: u32,
    /// How far this machine is ahead of it, in thousandths of a frame.
    pub frame_advantage_permille: Option<i32>,
    /// Entries it has not acknowledged.
    pub unacked_frames: u32,
}
