//! Trait that engines are written against.
//!
//! [`Endpoint`](crate::Endpoint), [`MultipathMesh`](crate::MultipathMesh) and tests implement it.
//! Absent: paths, signals, games.

use gaggle_kit::{Micros, PeerId};
use thiserror::Error;

use crate::{Channel, CloseCode, LinkStats, TransportEvent};

/// Moves messages between peers; all an engine knows of the network.
///
/// Nothing blocks and nothing happens between calls: poll until there are no more events, at the
/// latest at [`Transport::poll_timeout`] and whenever something may have arrived. `now` is the
/// caller's clock and must not run backwards. The tests in [`contract`](mod@crate::contract) define
/// the behavior rule by rule.
pub trait Transport {
    /// Id of the local peer, constant for the life of the transport.
    fn local_id(&self) -> PeerId;

    /// Connected peers in ascending order, without the local one.
    fn peers(&self) -> &[PeerId];

    /// Sends a message, or queues it.
    ///
    /// # Errors
    /// If it was not accepted: see [`SendError`]. Nothing of it arrives then.
    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError>;

    /// Sends a message to every connected peer.
    ///
    /// # Errors
    /// The first error, after all peers were tried: the others get the message all the same.
    fn broadcast(&mut self, now: Micros, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let mut first_refusal = Ok(());
        for index in 0..self.peers().len() {
            let peer = self.peers()[index];
            first_refusal = first_refusal.and(self.send(now, peer, channel, bytes));
        }
        first_refusal
    }

    /// Next event, or none if nothing more happened until `now`.
    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>>;

    /// When to poll again even if nothing arrives; [`Micros::MAX`] if only an arrival changes
    /// anything.
    fn poll_timeout(&self) -> Micros;

    /// Closes the link to this peer with a reason; unacknowledged data may not reach it.
    /// [`TransportEvent::Disconnected`] follows on both sides. No effect on an unconnected peer.
    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode);

    /// Statistics of the link to this peer; none if it is not connected.
    fn stats(&self, peer: PeerId) -> Option<LinkStats>;

    /// [`LinkStats::packets_lost`] alone, which engines read every frame.
    fn packets_lost(&self, peer: PeerId) -> Option<u64> {
        self.stats(peer).map(|stats| stats.packets_lost)
    }
}

/// Why a message was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The peer is not connected.
    #[error("{peer:?} is not connected; wait for `TransportEvent::Connected`")]
    NotConnected {
        /// Receiver of the message.
        peer: PeerId,
    },
    /// The message is larger than this channel ever accepts.
    #[error("a message of {bytes} bytes is too large; at most {max} are possible")]
    TooLarge {
        /// Bytes of the message.
        bytes: usize,
        /// Largest possible message in bytes.
        max: usize,
    },
    /// Too many bytes wait for the peer's acknowledgement. Try again later.
    #[error("{queued} bytes already wait for {peer:?}, at most {max} may; try again later")]
    Backpressure {
        /// Receiver of the message.
        peer: PeerId,
        /// Bytes waiting now.
        queued: usize,
        /// Bytes that may wait.
        max: usize,
    },
}
