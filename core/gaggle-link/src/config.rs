//! Settings of a link.
//!
//! [`Endpoint`](crate::Endpoint) uses them. Absent: paths (`paths.rs`).

use gaggle_kit::Micros;

/// Settings of an [`Endpoint`](crate::Endpoint). The two sides need not agree on any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkConfig {
    /// Longest time without sending; then a small packet is sent.
    pub heartbeat_interval: Micros,
    /// A peer that is silent for this long is disconnected.
    pub timeout: Micros,
    /// Longest time between measurements of the round trip.
    pub rtt_probe_interval: Micros,
    /// Unreliable messages queued per peer while the carrier is busy; beyond that the oldest is
    /// dropped.
    pub unreliable_queue_max: usize,
    /// Unacknowledged bytes of reliable messages per peer; also bounds a single message. The peer's
    /// [`LinkConfig::receive_bytes_max`] may lower it.
    pub send_bytes_max: u32,
    /// Buffered bytes of incomplete messages per peer; also bounds a single message.
    pub receive_bytes_max: u32,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        LinkConfig {
            heartbeat_interval: Micros::from_secs(1),
            timeout: Micros::from_secs(3),
            rtt_probe_interval: Micros::from_secs(2),
            // One second of a game at 60 Hz: older messages are useless.
            unreliable_queue_max: 60,
            send_bytes_max: 4 << 20,
            receive_bytes_max: 4 << 20,
        }
    }
}
