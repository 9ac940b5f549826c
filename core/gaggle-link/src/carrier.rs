//! What one way of moving datagrams has to provide, so that a link can run on it.
//!
//! A carrier knows who can be reached and hands over single datagrams. It does not retransmit,
//! order, fragment or measure anything: that is the link's, so that it is the same on every path.

use gaggle_kit::{Micros, PeerId};

/// Bytes every carrier takes in one datagram. A link never asks for more.
///
/// 1,200 bytes of UDP payload pass everywhere (IPv6 guarantees 1,232). DTLS, SCTP and a relay's
/// header take up to 100 of them, so that 1,100 is what is left on every path, and a change of path
/// changes no limit.
pub const DATAGRAM_BYTES_MAX: usize = 1_100;

/// One way of moving datagrams between named peers: a socket, a WebRTC channel, a relay, a
/// simulation.
///
/// What a link counts on, and every implementation promises:
/// - A datagram arrives unaltered or not at all, from the peer that is named. It may come late,
///   twice or out of order.
/// - Datagrams come only between [`CarrierEvent::Opened`] and [`CarrierEvent::Closed`] for that
///   peer.
/// - Nothing blocks. Queues are bounded: a datagram that has no room is refused with
///   [`WouldBlock`] or
///   lost.
/// - What was sent before a connection was opened does not arrive in it, where the carrier can know
///   (it has keys or tokens per connection). The link has a second line of defence: see
///   PROTOCOL.md.
pub trait Carrier {
    /// The name of this machine.
    fn local_id(&self) -> PeerId;

    /// Sends one datagram of at most [`DATAGRAM_BYTES_MAX`] bytes. To a peer that is not open it
    /// goes nowhere.
    ///
    /// # Errors
    /// If the datagram was not taken; the same one may be tried again at a later poll.
    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock>;

    /// What happened next, or none if nothing did until `now`. For [`CarrierEvent::Datagram`] the
    /// bytes have replaced the content of `datagram`; otherwise its content is of no meaning.
    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent>;

    /// When to poll again even if nothing arrives; [`Micros::MAX`] if only an arrival can change
    /// anything.
    fn poll_timeout(&self) -> Micros;

    /// Ends the connection to this peer, after what was already sent. No event follows for it.
    fn close(&mut self, now: Micros, peer: PeerId);

    /// Datagrams of any peer that were thrown away before they could be polled: there
    /// was no room, or they were longer than any of ours.
    fn dropped(&self) -> u64 {
        0
    }
}

/// What a carrier tells its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierEvent {
    /// Datagrams can now go to and come from this peer. If it was open before, that connection has
    /// ended.
    Opened {
        /// The peer, as proven to this carrier.
        peer: PeerId,
    },
    /// The peer sent a datagram: it is in the buffer given to [`Carrier::poll`].
    Datagram {
        /// The sender.
        peer: PeerId,
    },
    /// The same connection now runs another way: what was measured about it no longer holds.
    Rerouted {
        /// The peer at the other end.
        peer: PeerId,
    },
    /// The connection has ended and will not come back by itself.
    Closed {
        /// The peer that can no longer be reached.
        peer: PeerId,
    },
}

/// The carrier has no room for another datagram right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the carrier has no room for another datagram right now")]
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
