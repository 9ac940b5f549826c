//! Settings of a link.

use gaggle_kit::Micros;

/// Settings of a [`Endpoint`](crate::Endpoint). The two sides need not agree on any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkConfig {
    /// A packet is sent about this often at least, a small one if there is nothing else to send.
    pub heartbeat_interval: Micros,
    /// A peer that was not heard for this long has left.
    pub timeout: Micros,
    /// The round trip time is measured at least this often, however much is sent.
    pub rtt_probe_interval: Micros,
    /// Unreliable messages that wait for a busy carrier, per peer. One more drops the oldest.
    pub unreliable_queue_max: usize,
    /// Bytes of reliable messages, per peer, that were not acknowledged as a whole; also bounds a
    /// single message. What the peer grants (its [`LinkConfig::receive_bytes_max`]) may bound it
    /// further.
    pub send_bytes_max: u32,
    /// Bytes of unfinished messages held for each peer; also bounds a single message.
    pub receive_bytes_max: u32,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        LinkConfig {
            heartbeat_interval: Micros::from_secs(1),
            timeout: Micros::from_secs(3),
            rtt_probe_interval: Micros::from_secs(2),
            // One second of a game at 60 Hz: what is older is of no use to anybody.
            unreliable_queue_max: 60,
            send_bytes_max: 4 << 20,
            receive_bytes_max: 4 << 20,
        }
    }
}
