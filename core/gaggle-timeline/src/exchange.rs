//! Moves what a session sends and receives over a transport. Decides nothing.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_link::{Channel, Event, Goodbye, Transport};

use crate::Session;

/// The reliable stream a session's messages travel in.
pub const MESSAGE_STREAM: u8 = 0;

/// Ties a session to a transport: [`receive`](Exchange::receive) before the ticks of a frame,
/// [`send`](Exchange::send) after them.
///
/// It also tells the session when packets get lost, and ends the links of peers the session refuses.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Packets missed so far, by peer.
    missed: Vec<(PeerId, u64)>,
}

impl Exchange {
    /// Hands everything that arrived to the session.
    pub fn receive<I: Input>(
        &mut self,
        now: Micros,
        transport: &mut impl Transport,
        session: &mut Session<I>,
    ) {
        while let Some(event) = transport.poll(now) {
            match event {
                Event::Joined { peer } => {
                    if session.handle_linked(now, peer).is_err() {
                        // Somebody without a seat; what it wants is not the session's business.
                        continue;
                    }
                    self.missed.push((peer, 0));
                }
                Event::Left { peer, .. } => {
                    self.missed.retain(|(known, _)| *known != peer);
                    session.handle_unlinked(now, peer);
                }
                Event::Message { peer, channel: Channel::Unreliable, bytes } => {
                    session.handle_packet(now, peer, bytes);
                }
                Event::Message { peer, channel: Channel::Reliable(MESSAGE_STREAM), bytes } => {
                    session.handle_message(now, peer, bytes);
                }
                Event::Message { .. } => {}
            }
        }
        for (peer, missed) in &mut self.missed {
            let Some(stats) = transport.stats(*peer) else { continue };
            if stats.packets_missed > *missed {
                session.handle_loss(now, *peer);
            }
            *missed = stats.packets_missed;
        }
    }

    /// Sends everything the session has to say. What the transport does not take is lost like any
    /// other packet: the next one tells it again.
    pub fn send<I: Input>(&mut self, now: Micros, transport: &mut impl Transport, session: &mut Session<I>) {
        while let Some(packet) = session.next_packet() {
            let channel =
                if packet.reliable { Channel::Reliable(MESSAGE_STREAM) } else { Channel::Unreliable };
            let taken = transport.send(now, packet.to, channel, packet.bytes);
            if taken.is_err() && packet.reliable {
                // A peer that takes no messages any more cannot stay.
                transport.disconnect(now, packet.to, Goodbye::REMOVED);
            }
        }
        while let Some((peer, goodbye)) = session.next_refused() {
            transport.disconnect(now, peer, goodbye);
        }
    }
}
