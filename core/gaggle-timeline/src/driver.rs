//! Connection of a session with a transport: it moves packets and messages both ways.
//!
//! Applications and `gaggle` call it around every tick. Absent: decisions, time.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_link::{Channel, CloseCode, Transport, TransportEvent};

use crate::MatchSession;

/// Reliable stream of a session's messages.
pub const MESSAGE_STREAM: u8 = 0;
/// Reliable stream of states, separate from messages because a state may be large and must not
/// delay them.
pub const TRANSFER_STREAM: u8 = 1;

/// Ties a session to a transport: call [`receive`](Driver::receive) before the ticks of a frame,
/// [`send`](Driver::send) after them.
///
/// It also reports packet loss to the session, and disconnects peers the session rejects.
#[derive(Debug, Default)]
pub struct Driver {
    linked: Vec<Linked>,
}

#[derive(Debug)]
struct Linked {
    peer: PeerId,
    /// Packets of the link that were lost so far.
    missed: u64,
    /// A packet came since losses were last counted: only then can the count have grown.
    heard: bool,
}

impl Driver {
    /// Tells a session of a link that was connected before the session began.
    pub fn connect<I: Input>(&mut self, now: Micros, session: &mut impl MatchSession<I>, peer: PeerId) {
        // Too many links already: the peer is not connected.
        if session.handle_connected(now, peer) {
            self.linked.push(Linked { peer, missed: 0, heard: false });
        }
    }

    /// Hands everything that arrived to the session. Reliable streams the session does not use are
    /// not read.
    pub fn receive<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut impl MatchSession<I>,
    ) {
        self.receive_with(now, transport, session, |_, _, _| {});
    }

    /// As `receive`, for a game with reliable streams of its own: what arrives in one goes to
    /// `other`, with its sender and the stream's number. Use numbers from 16 on.
    pub fn receive_with<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut impl MatchSession<I>,
        mut other: impl FnMut(PeerId, u8, &[u8]),
    ) {
        // Packets of one frame usually arrive in the order of their senders.
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

    /// Sends everything the session has queued. What the transport rejects counts as lost: the next
    /// packet repeats it.
    pub fn send<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut impl MatchSession<I>,
    ) {
        while let Some(packet) = session.poll_transmit() {
            let taken = transport.send(now, packet.to, packet.channel, packet.bytes);
            if taken.is_err() && packet.is_reliable() {
                // A peer whose reliable stream is full is disconnected.
                transport.disconnect(now, packet.to, CloseCode::KICKED);
            }
        }
        while let Some((peer, goodbye)) = session.poll_disconnect() {
            transport.disconnect(now, peer, goodbye);
        }
    }
}
