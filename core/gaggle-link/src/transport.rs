//! The interface engines are written against.

use gaggle_kit::{Micros, PeerId};
use thiserror::Error;

use crate::{Channel, CloseCode, LinkStats, TransportEvent};

/// Moves messages between peers. Engines know no more of the network than this.
///
/// Nothing blocks and nothing happens between calls: poll until there is no more event, at the
/// latest at [`Transport::poll_timeout`] and whenever something may have arrived. `now` is the
/// caller's clock and must not run backwards. The suite in [`contract`](mod@crate::contract) says
/// point by point what may be counted on.
pub trait Transport {
    /// The name of this machine, the same for the whole life of the transport.
    fn local_id(&self) -> PeerId;

    /// Everyone joined and not left, in ascending order. Never includes this machine.
    fn peers(&self) -> &[PeerId];

    /// Sends a message, or takes it over to be sent.
    ///
    /// # Errors
    /// If it was not taken: see [`SendError`]. Nothing of it arrives then.
    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError>;

    /// Sends a message to everyone joined.
    ///
    /// # Errors
    /// The first refusal, after everyone was tried: the others get the message all the same.
    fn broadcast(&mut self, now: Micros, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let mut first_refusal = Ok(());
        for index in 0..self.peers().len() {
            let peer = self.peers()[index];
            first_refusal = first_refusal.and(self.send(now, peer, channel, bytes));
        }
        first_refusal
    }

    /// What happened next, or none if nothing more did until `now`.
    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>>;

    /// When to poll again even if nothing arrives; [`Micros::MAX`] if only an arrival can change
    /// anything.
    fn poll_timeout(&self) -> Micros;

    /// Ends the link to this peer. It is told the reason; what was not acknowledged by now may not
    /// reach it. [`TransportEvent::Disconnected`] follows on both sides. A peer that is not joined
    /// is left alone.
    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode);

    /// What is known about the link to this peer; none if it is not joined.
    fn stats(&self, peer: PeerId) -> Option<LinkStats>;

    /// [`LinkStats::packets_lost`] alone, which engines look at every frame.
    fn packets_lost(&self, peer: PeerId) -> Option<u64> {
        self.stats(peer).map(|stats| stats.packets_lost)
    }
}

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The peer is not joined.
    #[error("{peer:?} is not joined")]
    NotConnected {
        /// The peer that was addressed.
        peer: PeerId,
    },
    /// The message is larger than this channel takes, now or ever.
    #[error("{bytes} bytes are too many for one message: at most {max} are taken")]
    TooLarge {
        /// Bytes of the message.
        bytes: usize,
        /// Bytes of the largest possible one.
        max: usize,
    },
    /// Too much is waiting to be acknowledged by this peer. Try again later.
    #[error("{queued} bytes already wait for {peer:?}, at most {max} may")]
    Backpressure {
        /// The peer that was addressed.
        peer: PeerId,
        /// Bytes waiting.
        queued: usize,
        /// Bytes that may wait.
        max: usize,
    },
}
