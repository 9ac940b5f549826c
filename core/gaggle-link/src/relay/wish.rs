//! When a client asks for a newer ticket.
//!
//! Called by [`RelayClient`](super::RelayClient). Absent: how the lobby is asked, and by whom.

use gaggle_kit::Micros;

/// Another tab may have taken over: this long the lobby has to say so.
const AFTER: Micros = Micros::from_secs(1);
/// The shortest time between two questions. A thief at the same address may come again.
const AGAIN: Micros = Micros::from_secs(10);

/// A wish for a newer ticket, after the relay had no place for the one it was shown.
#[derive(Debug, Default)]
pub(super) struct TicketWish {
    due: Option<Micros>,
    asked: Option<Micros>,
}

impl TicketWish {
    /// Whether there is no sense in trying again with the ticket there is.
    pub(super) fn is_open(&self) -> bool {
        self.due.is_some()
    }

    /// The relay refused a ticket, which may do at another time unless it did so for good.
    pub(super) fn refused(&mut self, now: Micros, for_good: bool) {
        let earliest = self.asked.map_or(Micros::ZERO, |asked| asked + AGAIN);
        self.due = for_good.then(|| earliest.max(now + AFTER));
    }

    /// There is a newer one.
    pub(super) fn granted(&mut self) {
        self.due = None;
    }

    /// Whether it is time to ask. As long as there is no newer one, it is again after a while.
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
        assert!(!client.wants_ticket(start), "the lobby may say that another tab has taken over");
        let (asked, again) = (start + AFTER, start + AFTER + AGAIN);
        assert_eq!([asked, asked, again].map(|at| client.wants_ticket(at)), [true, false, true]);
        client.set_ticket(again, "newer");
        assert!(!client.wants_ticket(again + AGAIN));
        // A thief that comes again at once does not make it ask more often.
        client.handle_frame(again, RelayLeg::WebSocket, &replaced);
        assert_eq!([AFTER, AGAIN].map(|wait| client.wants_ticket(again + wait)), [false, true]);
    }
}
