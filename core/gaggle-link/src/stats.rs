//! What is known about a link, at any time.

use gaggle_kit::Micros;

/// What is known about the link to one peer since it joined. Sums never wrap; bytes are those given
/// to or taken from the carrier, headers of the link included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Round trip time, smoothed; none until the first measurement.
    pub rtt: Option<Micros>,
    /// Shortest round trip of the last seconds: the path without queues.
    pub rtt_min: Option<Micros>,
    /// Mean deviation of the round trip time.
    pub jitter: Micros,
    /// Packets from the peer that did not arrive, of the last few hundred, per mille.
    pub loss_in_permille: u16,
    /// The same for our packets, as the peer last told.
    pub loss_out_permille: u16,
    /// Packets sent.
    pub packets_out: u64,
    /// Packets received, repeated ones included.
    pub packets_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Packets from the peer that did not arrive, as seen by gaps in its numbering.
    pub packets_lost: u64,
    /// Unreliable messages thrown away because the carrier was busy and the queue full.
    pub unreliable_dropped: u64,
    /// Packets with reliable data that were taken for lost and sent again.
    pub packets_resent: u64,
    /// Packets that were refused: repeated, too old, of another incarnation, or unreadable.
    pub packets_rejected: u64,
    /// Datagrams that came to this machine, of all peers together, and were thrown away before a
    /// link saw them: nobody polled, or they were longer than any of ours.
    pub carrier_dropped: u64,
    /// Unreliable messages waiting for the carrier.
    pub unreliable_queued: usize,
    /// Bytes of reliable messages not yet acknowledged as a whole.
    pub reliable_queued_bytes: usize,
    /// Bytes of reliable data the path is thought to hold without building a queue.
    pub congestion_window_bytes: usize,
}
