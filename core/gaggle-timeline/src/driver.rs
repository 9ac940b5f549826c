//! Moves what a session sends and receives over a transport. Decides nothing.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_link::{Channel, CloseCode, Transport, TransportEvent};

use crate::Session;

/// The reliable stream a session's messages travel in.
pub const MESSAGE_STREAM: u8 = 0;
/// The reliable stream states travel in: they may be large, and hold up nothing else.
pub const TRANSFER_STREAM: u8 = 1;

/// Ties a session to a transport: [`receive`](Driver::receive) before the ticks of a frame,
/// [`send`](Driver::send) after them.
///
/// It also tells the session when packets get lost, and ends the links of peers the session
/// refuses.
#[derive(Debug, Default)]
pub struct Driver {
    linked: Vec<Linked>,
}

#[derive(Debug)]
struct Linked {
    peer: PeerId,
    /// Packets of it that were missed so far.
    missed: u64,
    /// Something came since that was last looked at: only then can more be missing.
    heard: bool,
}

impl Driver {
    /// Tells a session of a link that was up before the session began.
    pub fn connect<I: Input>(&mut self, now: Micros, session: &mut Session<I>, peer: PeerId) {
        // Fails if there are too many links already.
        if session.handle_connected(now, peer).is_ok() {
            self.linked.push(Linked { peer, missed: 0, heard: false });
        }
    }

    /// Hands everything that arrived to the session. Streams it does not use are not listened to.
    pub fn receive<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut Session<I>,
    ) {
        self.receive_with(now, transport, session, |_, _, _| {});
    }

    /// The same for a game that has reliable streams of its own: what arrives in one goes to
    /// `other`, with who sent it and the stream's number. Take numbers from 16 on.
    pub fn receive_with<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut Session<I>,
        mut other: impl FnMut(PeerId, u8, &[u8]),
    ) {
        // Packets of one frame mostly come in the order of their senders.
        let mut next = 0;
        while let Some(event) = transport.poll(now) {
            match event {
                TransportEvent::Connected { peer } => self.connect(now, session, peer),
                TransportEvent::Disconnected { peer, .. } => {
                    self.linked.retain(|linked| linked.peer != peer);
                    session.handle_disconnected(now, peer);
                }
                TransportEvent::Message { peer, channel: Channel::Unreliable, bytes } => {
                    session.handle_packet(now, peer, bytes);
                    let is_sender = |linked: &Linked| linked.peer == peer;
                    if !self.linked.get(next).is_some_and(is_sender) {
                        next = self.linked.iter().position(is_sender).unwrap_or(next);
                    }
                    if let Some(linked) = self.linked.get_mut(next).filter(|linked| linked.peer == peer) {
                        linked.heard = true;
                        next += 1;
                    }
                }
                TransportEvent::Message {
                    peer,
                    channel: Channel::Reliable(MESSAGE_STREAM | TRANSFER_STREAM),
                    bytes,
                } => session.handle_message(now, peer, bytes),
                TransportEvent::Message { peer, channel: Channel::Reliable(stream), bytes } => {
                    other(peer, stream, bytes);
                }
            }
        }
        for linked in self.linked.iter_mut().filter(|linked| linked.heard) {
            linked.heard = false;
            let Some(missed) = transport.packets_lost(linked.peer) else { continue };
            if missed > linked.missed {
                session.handle_packet_loss(now, linked.peer);
            }
            linked.missed = missed;
        }
    }

    /// Sends everything the session has to say. What the transport does not take is lost like any
    /// other packet: the next one tells it again.
    pub fn send<I: Input>(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session<I>) {
        while let Some(packet) = session.poll_transmit() {
            let taken = transport.send(now, packet.to, packet.channel, packet.bytes);
            if taken.is_err() && packet.is_reliable() {
                // A peer that takes no messages any more cannot stay.
                transport.disconnect(now, packet.to, CloseCode::KICKED);
            }
        }
        while let Some((peer, goodbye)) = session.poll_disconnect() {
            transport.disconnect(now, peer, goodbye);
        }
    }
}
