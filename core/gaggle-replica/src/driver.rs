//! Moves what a session sends and receives over a transport. Decides nothing.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, CloseCode, DisconnectReason, Transport, TransportEvent};

use crate::Session;

/// The reliable stream a session's messages travel in.
pub const MESSAGE_STREAM: u8 = 0;
/// The reliable stream in which large contents travel, so that they hold up nothing else.
pub const BLOB_STREAM: u8 = 1;

/// Ties a session to a transport: [`receive`](Driver::receive) before the game moves its objects,
/// [`send`](Driver::send) after [`Session::tick`].
#[derive(Debug, Default)]
pub struct Driver;

impl Driver {
    /// Hands everything that arrived to the session. Streams it does not use are not listened to.
    pub fn receive(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session) {
        self.receive_with(now, transport, session, |_, _, _| {});
    }

    /// The same for a game that has reliable streams of its own: what arrives in one goes to
    /// `other`, with who sent it and the stream's number. Take numbers from 16 on.
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

    /// Sends everything the session has to say. A packet the transport does not take is lost like
    /// any other.
    pub fn send(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session) {
        while let Some(out) = session.poll_transmit() {
            let channel = if out.reliable { Channel::Reliable(out.stream) } else { Channel::Unreliable };
            let taken = transport.send(now, out.to, channel, out.bytes);
            if taken.is_err() && out.reliable {
                // A peer that takes no messages any more cannot stay.
                transport.disconnect(now, out.to, CloseCode::KICKED);
            }
        }
        while let Some(peer) = session.poll_disconnect() {
            transport.disconnect(now, peer, CloseCode::KICKED);
        }
    }
}
