//! Transfer of packets and messages between a session and a transport. A game's loop or `Room`
//! calls it. Absent: decisions, packet contents.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, CloseCode, DisconnectReason, Transport, TransportEvent};

use crate::Session;

/// Reliable stream of a session's messages.
pub const MESSAGE_STREAM: u8 = 0;
/// Reliable stream of blobs, separate so that they delay nothing else.
pub const BLOB_STREAM: u8 = 1;

/// Connects a session to a transport: [`receive`](Driver::receive) before the game changes its
/// objects, [`send`](Driver::send) after [`Session::tick`].
#[derive(Debug, Default)]
pub struct Driver;

impl Driver {
    /// Hands everything that arrived to the session. Streams it does not use are ignored.
    pub fn receive(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session) {
        self.receive_with(now, transport, session, |_, _, _| {});
    }

    /// As `receive`, for a game with reliable streams of its own: their messages go to `other`,
    /// with the sender and the number of the stream. Use numbers from 16 on.
    pub fn receive_with(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut Session,
        mut other: impl FnMut(PeerId, u8, &[u8]),
    ) {
        while let Some(event) = transport.poll(now) {
            match event {
                TransportEvent::Connected { peer } => session.handle_connected(now, peer),
                TransportEvent::Disconnected {
                    peer,
                    reason: DisconnectReason::Remote(CloseCode::LEAVING),
                } => {
                    session.handle_leaving(now, peer);
                }
                TransportEvent::Disconnected { peer, .. } => session.handle_disconnected(now, peer),
                TransportEvent::Message { peer, channel: Channel::Unreliable, bytes } => {
                    session.handle_packet(now, peer, bytes);
                }
                TransportEvent::Message {
                    peer,
                    channel: Channel::Reliable(MESSAGE_STREAM | BLOB_STREAM),
                    bytes,
                } => {
                    session.handle_message(now, peer, bytes);
                }
                TransportEvent::Message { peer, channel: Channel::Reliable(stream), bytes } => {
                    other(peer, stream, bytes);
                }
            }
        }
    }

    /// Sends everything the session has queued. A packet the transport does not take counts as
    /// lost.
    pub fn send(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session) {
        while let Some(out) = session.poll_transmit() {
            let channel = if out.reliable { Channel::Reliable(out.stream) } else { Channel::Unreliable };
            let taken = transport.send(now, out.to, channel, out.bytes);
            if taken.is_err() && out.reliable {
                // A peer whose stream takes no more messages cannot stay in step.
                transport.disconnect(now, out.to, CloseCode::KICKED);
            }
        }
        while let Some(peer) = session.poll_disconnect() {
            transport.disconnect(now, peer, CloseCode::KICKED);
        }
    }
}
