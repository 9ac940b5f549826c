//! Statistics of a link.
//!
//! [`Transport::stats`](crate::Transport::stats) returns them. Absent: how they are measured.

use gaggle_kit::Micros;

/// Statistics of the link to one peer since it connected. Sums never wrap; bytes are those given to
/// or taken from the carrier, including headers of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Smoothed round trip time; none until the first measurement.
    pub rtt: Option<Micros>,
    /// Shortest round trip of the last seconds: the path without queues.
    pub rtt_min: Option<Micros>,
    /// Mean deviation of the round trip time.
    pub jitter: Micros,
    /// Loss of the last few hundred packets from the peer, in permille.
    pub loss_in_permille: u16,
    /// Loss of packets to the peer in permille, as it last reported.
    pub loss_out_permille: u16,
    /// Number of packets sent.
    pub packets_out: u64,
    /// Number of packets received, including repeated ones.
    pub packets_in: u64,
    /// Number of bytes sent.
    pub bytes_out: u64,
    /// Number of bytes received.
    pub bytes_in: u64,
    /// Packets from the peer that are missing in its numbering.
    pub packets_lost: u64,
    /// Unreliable messages dropped because the carrier was busy and the queue full.
    pub unreliable_dropped: u64,
    /// Reliable packets considered lost and sent again.
    pub packets_resent: u64,
    /// Rejected packets: repeated, too old, of an earlier link, or malformed.
    pub packets_rejected: u64,
    /// Received datagrams of all peers that were dropped before a link saw them: not polled in
    /// time, or too long.
    pub carrier_dropped: u64,
    /// Unreliable messages queued for the carrier.
    pub unreliable_queued: usize,
    /// Bytes of reliable messages not acknowledged as a whole.
    pub reliable_queued_bytes: usize,
    /// Bytes of reliable data in flight that the path is expected to hold without a queue.
    pub congestion_window_bytes: usize,
}
