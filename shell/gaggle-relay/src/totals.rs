//! What a relay did so far, for whoever watches over it.

use gaggle_link::relay::RelayReject;

use crate::limits::LIMITS;

/// Counts since the start, but for the first two, which are now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Members connected now.
    pub members: u64,
    /// Rooms with a member now.
    pub rooms: u64,
    /// Connections that came.
    pub connections: u64,
    /// Connections that proved who they are.
    pub proven: u64,
    /// Connections refused for a ticket that is forged, unreadable or another's.
    pub refused_ticket: u64,
    /// Connections refused or ended for a ticket whose time or epoch is over.
    pub refused_old: u64,
    /// Connections and calls refused because there was no place.
    pub refused_full: u64,
    /// Connections that said something without meaning, or nothing in time.
    pub malformed: u64,
    /// Connections that took the place of an older one of the same machine.
    pub replaced: u64,
    /// Datagrams members handed in.
    pub received: u64,
    /// Datagrams that went out, each receiver counted.
    pub forwarded: u64,
    /// Their bytes, without any header.
    pub forwarded_bytes: u64,
    /// Datagrams dropped because their sender sends too much.
    pub dropped_rate: u64,
    /// Datagrams dropped because nobody is there to receive them.
    pub dropped_nobody: u64,
    /// Datagrams dropped because their receiver does not keep up.
    pub dropped_slow: u64,
    /// Calls and ends of calls that a member said too often.
    pub words_ignored: u64,
    /// Offers of channels that came too often, cannot be used, or are for a port that is busy or
    /// gone.
    pub offers_refused: u64,
    /// Channels that ended because the library below failed at what came over them.
    pub channels_crashed: u64,
    /// Questions at the UDP port where somebody is seen from, answered.
    pub questions: u64,
    /// Datagrams at the UDP port that were damaged, forged, of no meaning, or questions beyond the
    /// limit.
    pub strays_refused: u64,
    /// Datagrams at the UDP port from addresses nobody speaks from.
    pub strays_unknown: u64,
    /// How often each limit was exceeded, in the order of
    /// [`RelayConfig::limits`](crate::RelayConfig::limits).
    pub limited: [u64; LIMITS],
}

impl Totals {
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

    /// Each count that only rises, by name and meaning, for metrics.
    pub fn counters(&self) -> [(&'static str, &'static str, u64); 19] {
        [
            ("connections", "Connections that came.", self.connections),
            ("proven", "Connections that proved who they are.", self.proven),
            ("refused_ticket", "Connections refused for a bad ticket.", self.refused_ticket),
            ("refused_old", "Connections refused or ended for an old ticket.", self.refused_old),
            ("refused_full", "Connections and calls refused for lack of a place.", self.refused_full),
            ("malformed", "Connections that said something without meaning.", self.malformed),
            ("replaced", "Connections that replaced one of the same machine.", self.replaced),
            ("received", "Datagrams handed in.", self.received),
            ("forwarded", "Datagrams that went out.", self.forwarded),
            ("forwarded_bytes", "Bytes of datagrams that went out.", self.forwarded_bytes),
            ("dropped_rate", "Datagrams dropped because their sender sends too much.", self.dropped_rate),
            ("dropped_nobody", "Datagrams dropped because nobody is there.", self.dropped_nobody),
            ("dropped_slow", "Datagrams dropped because their receiver is slow.", self.dropped_slow),
            ("words_ignored", "Calls that members said too often.", self.words_ignored),
            ("offers_refused", "Offers of channels beyond the rate, or of no use.", self.offers_refused),
            ("channels_crashed", "Channels ended by a fault of their library.", self.channels_crashed),
            ("questions", "STUN questions answered.", self.questions),
            ("strays_refused", "Datagrams refused at the UDP port.", self.strays_refused),
            ("strays_unknown", "Datagrams from unknown addresses at the UDP port.", self.strays_unknown),
        ]
    }
}
