//! The two connections of a client to its relay.
//!
//! Used by the client of the relay and its carriers. Absent: which of them is open (`client.rs`).

/// One of the two connections to a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelayLeg {
    /// Like UDP: [`Path::Relay`](crate::Path::Relay).
    Datagram,
    /// A byte stream: [`Path::WebSocket`](crate::Path::WebSocket).
    WebSocket,
}

impl RelayLeg {
    /// Both legs, the better one first.
    pub const ALL: [RelayLeg; 2] = [RelayLeg::Datagram, RelayLeg::WebSocket];

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}
