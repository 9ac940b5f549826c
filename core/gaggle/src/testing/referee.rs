//! A referee at the simulated lobby's server, for one room.
//!
//! [`SimLobby`](super::SimLobby) advances it. Absent: sealing, games, limits of a real server.

use std::sync::Arc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::sim::SimCarrier;
use gaggle_link::{Channel, CloseCode, Endpoint, LinkConfig, Transport, TransportEvent};
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_seal::{Admission, Epoch, Origin, OutReason, RefereeRoom, RoomSetup, StreamSlots};

use super::Held;
use super::lobby::{EPOCH, SECRET, Shared};
use super::mesh::LobbyNamed;

/// The referee of one room, and its links.
#[derive(Debug)]
pub(super) struct SimReferee {
    room: RefereeRoom,
    link: Endpoint<LobbyNamed>,
    shared: Held<Shared>,
    ids: Arc<Vec<PeerId>>,
    epoch: u32,
    /// Number of the match in its room.
    round: u32,
    journal: Vec<u8>,
}

fn room(now: Micros, round: u32, epoch: u32, origin: Origin) -> RefereeRoom {
    let match_id = u64::from(round) + 7;
    RefereeRoom::new(now, RoomSetup { match_id, epoch: Epoch(epoch), origin, ..RoomSetup::default() })
}

/// What a peer's ticket says.
fn claims_of(shared: &Held<Shared>, now: Micros, peer: PeerId) -> Option<Claims> {
    let ticket = shared.lock().tickets.get(&peer)?.clone();
    let seconds = (EPOCH + now).get() / 1_000_000;
    TicketSigner::from_secret(&SECRET).key().open(&ticket, seconds).ok()
}

impl SimReferee {
    pub(super) fn new(inner: SimCarrier, shared: Held<Shared>, ids: Arc<Vec<PeerId>>) -> SimReferee {
        let carrier = LobbyNamed { local: HOST_PEER, inner, shared: shared.clone(), ids: Arc::clone(&ids) };
        SimReferee {
            room: room(Micros::ZERO, 0, 1, Origin::Found),
            link: Endpoint::new(carrier, LinkConfig::default(), 1),
            shared,
            ids,
            epoch: 1,
            round: 0,
            journal: Vec::new(),
        }
    }

    pub(super) fn restart(&mut self, now: Micros, inner: SimCarrier, with_journal: bool) {
        let (shared, ids) = (self.shared.clone(), Arc::clone(&self.ids));
        let carrier = LobbyNamed { local: HOST_PEER, inner, shared, ids };
        self.epoch += 1;
        self.link = Endpoint::new(carrier, LinkConfig::default(), self.epoch.into());
        let journal = std::mem::take(&mut self.journal);
        let origin = if with_journal { Origin::Journal(journal) } else { Origin::Ask };
        self.room = room(now, self.round, self.epoch, origin);
    }

    /// Receives, seals, sends.
    pub(super) fn advance(&mut self, now: Micros) {
        while let Some(event) = self.link.poll(now) {
            match event {
                TransportEvent::Connected { peer } => {
                    let claims = claims_of(&self.shared, now, peer);
                    let round = claims.as_ref().map_or(0, |claims| claims.round);
                    if round > self.round {
                        // Every match of a room has a referee of its own.
                        (self.round, self.epoch) = (round, self.epoch + 1);
                        self.room = room(now, self.round, self.epoch, Origin::Found);
                        self.journal.clear();
                    }
                    let slot = claims.and_then(|claims| claims.slot);
                    let slots = slot.and_then(|slot| StreamSlots::new(&[slot]));
                    self.room.handle_connected(now, peer, Admission { slots });
                }
                TransportEvent::Disconnected { peer, .. } => {
                    self.room.handle_disconnected(now, peer, OutReason::Silent);
                }
                TransportEvent::Message { peer, channel, bytes } => match channel {
                    Channel::Unreliable => self.room.handle_packet(now, peer, bytes),
                    Channel::Reliable(stream) => self.room.handle_message(now, peer, stream, bytes),
                },
            }
        }
        self.room.tick(now);
        if self.room.is_journal_new() {
            self.journal.clear();
        }
        self.journal.extend_from_slice(self.room.records());
        self.room.mark_records_written();
        while let Some(sent) = self.room.poll_transmit() {
            let channel = sent.stream.map_or(Channel::Unreliable, Channel::Reliable);
            // What a full link rejects is sent again by the protocol, or closes the link.
            let _ = self.link.send(now, sent.peer, channel, sent.bytes);
        }
        while let Some((peer, _)) = self.room.poll_close() {
            self.link.disconnect(now, peer, CloseCode::INCOMPATIBLE);
        }
    }
}
