//! Counters of a relay, for operators.
//!
//! Metrics and tests read them. Absent: when they are counted.

use gaggle_link::relay::RelayReject;

use crate::limits::LIMITS;

/// Counters since the start, except `members` and `rooms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RelayStats {
    /// Members connected now.
    pub members: u64,
    /// Rooms with a member now.
    pub rooms: u64,
    /// Connections opened by clients.
    pub connections: u64,
    /// Connections authenticated by tickets.
    pub proven: u64,
    /// Connections rejected for a forged, malformed or foreign ticket.
    pub refused_ticket: u64,
    /// Connections rejected or closed for a ticket of an earlier epoch, or an expired one.
    pub refused_old: u64,
    /// Connections and pairs rejected by capacity limits.
    pub refused_full: u64,
    /// Connections closed for a malformed frame, or without authenticating in time.
    pub malformed: u64,
    /// Connections that replaced an older one of the same peer.
    pub replaced: u64,
    /// Datagrams received from members.
    pub received: u64,
    /// Datagrams forwarded, counted per receiver.
    pub forwarded: u64,
    /// Their bytes without headers.
    pub forwarded_bytes: u64,
    /// Datagrams dropped by the sender's rate limit.
    pub dropped_rate: u64,
    /// Datagrams dropped because the receiver is not connected.
    pub dropped_unconnected: u64,
    /// Datagrams dropped because the receiver is too slow.
    pub dropped_slow: u64,
    /// Pair requests ignored by the member's rate limit.
    pub words_ignored: u64,
    /// Offers of channels rejected: rate limited, unusable, or without a port to serve them.
    pub offers_refused: u64,
    /// Channels ended by a panic of their library.
    pub channels_crashed: u64,
    /// STUN requests answered at the UDP port.
    pub questions: u64,
    /// Datagrams rejected at the UDP port: damaged, forged, meaningless or rate limited.
    pub strays_refused: u64,
    /// Datagrams at the UDP port from unknown addresses.
    pub strays_unknown: u64,
    /// Excesses per limit, in the order of [`RelayConfig::limits`](crate::RelayConfig::limits).
    pub limited: [u64; LIMITS],
}

impl RelayStats {
    pub(crate) fn refuse(&mut self, reason: RelayReject) {
        match reason {
            RelayReject::Ticket => self.refused_ticket += 1,
            RelayReject::Expired | RelayReject::StaleEpoch => self.refused_old += 1,
            RelayReject::Full => self.refused_full += 1,
            RelayReject::Malformed => self.malformed += 1,
            RelayReject::Replaced => self.replaced += 1,
            _ => {}
        }
    }

    /// Every counter that only rises, with name and meaning, for metrics.
    pub fn counters(&self) -> [(&'static str, &'static str, u64); 19] {
        [
            ("connections", "Connections opened.", self.connections),
            ("proven", "Connections authenticated.", self.proven),
            ("refused_ticket", "Connections rejected for a bad ticket.", self.refused_ticket),
            ("refused_old", "Connections rejected or closed for an outdated ticket.", self.refused_old),
            ("refused_full", "Connections and pairs rejected by capacity limits.", self.refused_full),
            ("malformed", "Connections closed for malformed frames or silence.", self.malformed),
            ("replaced", "Connections that replaced one of the same peer.", self.replaced),
            ("received", "Datagrams received from members.", self.received),
            ("forwarded", "Datagrams forwarded.", self.forwarded),
            ("forwarded_bytes", "Bytes of forwarded datagrams.", self.forwarded_bytes),
            ("dropped_rate", "Datagrams dropped by the sender's rate limit.", self.dropped_rate),
            (
                "dropped_unconnected",
                "Datagrams dropped because the receiver is not connected.",
                self.dropped_unconnected,
            ),
            ("dropped_slow", "Datagrams dropped because the receiver is too slow.", self.dropped_slow),
            ("words_ignored", "Pair requests ignored by the member's rate limit.", self.words_ignored),
            ("offers_refused", "Offers of channels rejected.", self.offers_refused),
            ("channels_crashed", "Channels ended by a fault of their library.", self.channels_crashed),
            ("questions", "STUN requests answered.", self.questions),
            ("strays_refused", "Datagrams rejected at the UDP port.", self.strays_refused),
            ("strays_unknown", "Datagrams from unknown addresses at the UDP port.", self.strays_unknown),
        ]
    }
}
