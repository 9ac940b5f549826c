//! When a client asks for a newer ticket.
//!
//! Called by [`RelayClient`](super::RelayClient). Absent: how the lobby is asked, and by whom.

use gaggle_kit::Micros;

/// Delay of a request: the lobby may first report that another device took over.
const AFTER: Micros = Micros::from_secs(1);
/// Shortest time between two requests: a thief of the ticket may connect again.
const AGAIN: Micros = Micros::from_secs(10);

/// Need of a newer ticket, after the relay rejected the current one.
#[derive(Debug, Default)]
pub(super) struct TicketRequest {
    due: Option<Micros>,
    asked: Option<Micros>,
}

impl TicketRequest {
    /// Whether retrying with the current ticket is pointless.
    pub(super) fn is_open(&self) -> bool {
        self.due.is_some()
    }

    /// The relay rejected a ticket; unless `for_good`, it may be accepted later.
    pub(super) fn refused(&mut self, now: Micros, for_good: bool) {
        let earliest = self.asked.map_or(Micros::ZERO, |asked| asked + AGAIN);
        self.due = for_good.then(|| earliest.max(now + AFTER));
    }

    /// A newer ticket has arrived.
    pub(super) fn granted(&mut self) {
        self.due = None;
    }

    /// Whether to request a ticket now; repeated until one arrives.
    pub(super) fn take(&mut self, now: Micros) -> bool {
        let is_due = self.due.is_some_and(|at| at <= now);
        if is_due {
            (self.due, self.asked) = (Some(now + AGAIN), Some(now));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;

    use super::*;
    use crate::relay::{RelayClient, RelayFrame, RelayLeg, RelayReject};

    #[test]
    fn client_whose_ticket_was_used_elsewhere_wants_newer_one() {
        let start = Micros::from_secs(100);
        let mut client = RelayClient::new(PeerId::from_u128(1), "ticket", &RelayLeg::ALL);
        let mut replaced = Vec::new();
        RelayFrame::Refused { reason: RelayReject::Replaced }.write(&mut replaced);
        assert!(!client.wants_ticket(start));
        client.handle_frame(start, RelayLeg::WebSocket, &replaced);
        assert!(!client.wants_ticket(start), "the lobby may report that another device has taken over");
        let (asked, again) = (start + AFTER, start + AFTER + AGAIN);
        assert_eq!([asked, asked, again].map(|at| client.wants_ticket(at)), [true, false, true]);
        client.set_ticket(again, "newer");
        assert!(!client.wants_ticket(again + AGAIN));
        // A thief that connects again at once causes no further requests.
        client.handle_frame(again, RelayLeg::WebSocket, &replaced);
        assert_eq!([AFTER, AGAIN].map(|wait| client.wants_ticket(again + wait)), [false, true]);
    }
}
