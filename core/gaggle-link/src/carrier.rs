//! Trait of a path that moves single datagrams, on which links run.
//!
//! Implemented by sockets, WebRTC, the relay and simulations; called by
//! [`Endpoint`](crate::Endpoint). Absent: retransmission, order, fragments and measurements, which
//! belong to the link and are the same on every path.

use gaggle_kit::{Micros, PeerId};

/// Largest datagram in bytes; links never send more.
///
/// 1,200 bytes of UDP payload pass on every path (IPv6 guarantees 1,232). DTLS, SCTP and a relay's
/// header take up to 100 of them, so 1,100 remain everywhere, and a change of path changes no
/// limit.
pub const DATAGRAM_BYTES_MAX: usize = 1_100;

/// One kind of connection to named peers: a socket, a WebRTC channel, a relay, a simulation.
///
/// Every implementation guarantees:
/// - A datagram arrives unaltered or not at all, from the named peer. It may arrive late, twice or
///   out of order.
/// - Datagrams arrive only between [`CarrierEvent::Opened`] and [`CarrierEvent::Closed`] for that
///   peer.
/// - Nothing blocks. Queues are bounded: an excess datagram is rejected with [`WouldBlock`] or
///   lost.
/// - Datagrams of an earlier connection do not arrive in a later one, where the carrier can tell
///   (by keys or tokens per connection). The link checks that again.
pub trait Carrier {
    /// Id of the local peer.
    fn local_id(&self) -> PeerId;

    /// Sends one datagram of at most [`DATAGRAM_BYTES_MAX`] bytes. To a closed peer it is dropped.
    ///
    /// # Errors
    /// If the datagram was not taken; it may be sent again at a later poll.
    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock>;

    /// Next event, or none if nothing happened until `now`. For [`CarrierEvent::Datagram`] its
    /// bytes replace the content of `datagram`; otherwise that content is undefined.
    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent>;

    /// When to poll again even if nothing arrives; [`Micros::MAX`] if only an arrival changes
    /// anything.
    fn poll_timeout(&self) -> Micros;

    /// Closes the connection to this peer after pending datagrams. No event follows.
    fn close(&mut self, now: Micros, peer: PeerId);

    /// Received datagrams dropped before they were polled, because the queue was full or they were
    /// too long.
    fn dropped(&self) -> u64 {
        0
    }
}

/// Event of a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierEvent {
    /// Datagrams can be exchanged with this peer. If it was open before, that connection has ended.
    Opened {
        /// Peer that is open, as authenticated by the carrier.
        peer: PeerId,
    },
    /// A datagram of the peer is in the buffer given to [`Carrier::poll`].
    Datagram {
        /// Peer that sent it.
        peer: PeerId,
    },
    /// The connection moved to another path: measurements of the old one are void.
    Rerouted {
        /// Peer of the connection.
        peer: PeerId,
    },
    /// The connection has ended and will not reopen by itself.
    Closed {
        /// Peer of the connection.
        peer: PeerId,
    },
}

/// The carrier cannot take another datagram at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the carrier cannot take another datagram at the moment; send it again after the next poll")]
pub struct WouldBlock;

impl<C: Carrier + ?Sized> Carrier for Box<C> {
    fn local_id(&self) -> PeerId {
        (**self).local_id()
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        (**self).send(now, to, datagram)
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        (**self).poll(now, datagram)
    }

    fn poll_timeout(&self) -> Micros {
        (**self).poll_timeout()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        (**self).close(now, peer);
    }

    fn dropped(&self) -> u64 {
        (**self).dropped()
    }
}
