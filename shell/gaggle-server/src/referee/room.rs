//! One room of a referee thread: its links, its `RefereeRoom`, and which peers may play.
//!
//! `thread.rs` drives it. Absent: threads, journals' files, other rooms.

use std::collections::BTreeMap;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{
    Channel, CloseCode, DisconnectReason, Endpoint, LinkConfig, SendError, Transport, TransportEvent,
};
use gaggle_lobby::RoomId;
use gaggle_relay::{ConnectionId, InsiderEvent, RelayServer};
use gaggle_seal::{
    Admission, CloseReason, OutReason, RefereeEvent, RefereeRoom, RoomEvent, RoomPhase, RoomSetup,
};

use super::carrier::InsiderCarrier;
use super::figures::Figures;
use super::members::{Members, Seat};

/// Time between two looks at the lobby's members.
const MEMBERS_INTERVAL: Micros = Micros::from_millis(500);
/// Time between two ticks until the first client has named its tick rate.
const GATHERING_INTERVAL: Micros = Micros::from_millis(20);

/// Time that a connected peer has to become a member of the lobby's room.
const UNKNOWN_MAX: Micros = Micros::from_secs(30);
/// First messages kept of such a peer, and their bytes.
const EARLY_MAX: usize = 8;
const EARLY_BYTES_MAX: usize = 16 << 10;

/// A peer the lobby does not know yet, and its first messages.
#[derive(Debug)]
struct Waiting {
    since: Micros,
    early: Vec<(u8, Vec<u8>)>,
}

/// A room that this process seals.
#[derive(Debug)]
pub(super) struct HostedRoom {
    id: RoomId,
    match_id: u64,
    round: u32,
    room: RefereeRoom,
    link: Endpoint<InsiderCarrier>,
    /// Connected peers that the lobby does not know yet: its members return one by one after a
    /// restart.
    unknown: BTreeMap<PeerId, Waiting>,
    due_at: Micros,
    looked_at: Micros,
}

impl HostedRoom {
    pub(super) fn new(
        now: Micros,
        id: RoomId,
        round: u32,
        connection: ConnectionId,
        setup: RoomSetup,
        seed: u64,
    ) -> HostedRoom {
        let link = Endpoint::new(InsiderCarrier::new(connection), LinkConfig::default(), seed);
        let match_id = setup.match_id;
        let room = RefereeRoom::new(now, setup);
        HostedRoom { id, match_id, round, room, link, unknown: BTreeMap::new(), due_at: now, looked_at: now }
    }

    pub(super) const fn id(&self) -> RoomId {
        self.id
    }

    pub(super) const fn match_id(&self) -> u64 {
        self.match_id
    }

    pub(super) const fn round(&self) -> u32 {
        self.round
    }

    pub(super) const fn room(&self) -> &RefereeRoom {
        &self.room
    }

    pub(super) const fn room_mut(&mut self) -> &mut RefereeRoom {
        &mut self.room
    }

    pub(super) fn is_closed(&self) -> bool {
        self.room.phase() == RoomPhase::Closed
    }

    pub(super) const fn due_at(&self) -> Micros {
        self.due_at
    }

    pub(super) fn arrive(&mut self, event: InsiderEvent) {
        self.link.carrier_mut().arrive(event);
    }

    /// Handles arrivals, and seals frames that are due.
    pub(super) fn tick(&mut self, now: Micros, lobby: &dyn Members, figures: &Figures) {
        self.receive(now);
        if now.since(self.looked_at) >= MEMBERS_INTERVAL {
            self.looked_at = now;
            self.look_at_members(now, lobby);
        }
        self.admit(now, lobby);
        self.room.tick(now);
        let rate = self.room.referee().map_or(0, |referee| referee.tick_rate());
        let interval = if rate == 0 { GATHERING_INTERVAL } else { Micros::new(1_000_000 / u64::from(rate)) };
        // A late tick shortens the next interval, so that the rate holds.
        self.due_at = (self.due_at + interval).max(now);
        while let Some(event) = self.room.poll_event() {
            self.note(&event, figures);
        }
    }

    fn receive(&mut self, now: Micros) {
        while let Some(event) = self.link.poll(now) {
            match event {
                TransportEvent::Connected { peer } => {
                    self.unknown.insert(peer, Waiting { since: now, early: Vec::new() });
                }
                TransportEvent::Disconnected { peer, reason } => {
                    let why = match reason {
                        DisconnectReason::Remote(CloseCode::LEAVING) => OutReason::Goodbye,
                        DisconnectReason::Local(_) => OutReason::Removed,
                        _ => OutReason::Silent,
                    };
                    self.unknown.remove(&peer);
                    self.room.handle_disconnected(now, peer, why);
                }
                TransportEvent::Message { peer, channel: Channel::Unreliable, bytes } => {
                    self.room.handle_packet(now, peer, bytes);
                }
                TransportEvent::Message { peer, channel: Channel::Reliable(stream), bytes } => {
                    match self.unknown.get_mut(&peer) {
                        Some(Waiting { early, .. })
                            if early.len() < EARLY_MAX && bytes.len() <= EARLY_BYTES_MAX =>
                        {
                            early.push((stream, bytes.to_vec()));
                        }
                        Some(_) => {}
                        None => self.room.handle_message(now, peer, stream, bytes),
                    }
                }
            }
        }
    }

    /// Admits connected peers that the lobby knows, and handles their first messages.
    fn admit(&mut self, now: Micros, lobby: &dyn Members) {
        let (room, id) = (&mut self.room, self.id);
        let mut strangers = Vec::new();
        self.unknown.retain(|peer, waiting| {
            let slots = match lobby.seat(id, *peer) {
                Seat::Unknown => {
                    if now.since(waiting.since) >= UNKNOWN_MAX {
                        strangers.push(*peer);
                    }
                    return true;
                }
                Seat::Player(slots) => Some(slots),
                Seat::Spectator => None,
            };
            room.handle_connected(now, *peer, Admission { slots });
            for (stream, bytes) in waiting.early.drain(..) {
                room.handle_message(now, *peer, stream, &bytes);
            }
            false
        });
        for peer in strangers {
            self.link.disconnect(now, peer, CloseCode::KICKED);
        }
    }

    /// Disconnects peers that the lobby removed from the room.
    fn look_at_members(&mut self, now: Micros, lobby: &dyn Members) {
        if !lobby.knows(self.id) {
            return;
        }
        let peers: Vec<PeerId> = self.link.peers().to_vec();
        for peer in peers {
            if lobby.seat(self.id, peer) == Seat::Unknown && !self.unknown.contains_key(&peer) {
                self.room.remove(peer);
                self.link.disconnect(now, peer, CloseCode::KICKED);
            }
        }
        let ids: Vec<PeerId> = lobby.present(self.id);
        self.room.expect_answers(ids.into_iter());
    }

    fn note(&mut self, event: &RoomEvent, figures: &Figures) {
        let room = self.id;
        match event {
            RoomEvent::Recovered { frame, damage: None } => {
                figures.resumed("journal");
                tracing::info!(%room, %frame, "the match goes on from its journal");
            }
            RoomEvent::Recovered { frame, damage: Some(damage) } => {
                figures.resumed("damaged_journal");
                let (offset, reason) = (damage.byte_offset, damage.reason);
                tracing::warn!(%room, %frame, offset, %reason, "the match goes on from the whole part of its \
                     journal; the frames behind it are lost unless a player holds them");
            }
            RoomEvent::JournalRejected(error) => {
                tracing::warn!(%room, %error, "the journal is of no use: players are asked for the match");
            }
            RoomEvent::Referee(RefereeEvent::Resumed { base, answers, is_anew }) => {
                figures.resumed(if *is_anew { "anew" } else { "players" });
                tracing::info!(%room, %base, answers, is_anew, "the match goes on without its journal");
            }
            RoomEvent::Referee(RefereeEvent::Desync { stream, frame }) => {
                figures.desynced();
                tracing::info!(%room, peer = %stream.peer, %frame, "a player's game differs from the others'");
            }
            RoomEvent::Closed { peer, reason } => {
                figures.closed(reason);
                tracing::debug!(%room, %peer, %reason, "a player's link is closed");
            }
            RoomEvent::Referee(_) => {}
        }
    }

    /// Sends the room's packets and messages. The caller has written its records to the journal.
    pub(super) fn send(&mut self, now: Micros, relay: &RelayServer) {
        let mut slow = Vec::new();
        while let Some(sent) = self.room.poll_transmit() {
            let channel = sent.stream.map_or(Channel::Unreliable, Channel::Reliable);
            if let Err(SendError::Backpressure { peer, .. }) =
                self.link.send(now, sent.peer, channel, sent.bytes)
                && sent.stream.is_some()
            {
                slow.push(peer);
            }
        }
        // A peer whose stream is full would miss a reliable message.
        for peer in slow {
            self.link.disconnect(now, peer, CloseCode::PROTOCOL_ERROR);
        }
        while let Some((peer, reason)) = self.room.poll_close() {
            let code = match reason {
                CloseReason::Incompatible | CloseReason::Settings => CloseCode::INCOMPATIBLE,
                CloseReason::Rejected(_) => CloseCode::FULL,
                CloseReason::Silent | CloseReason::Fault(_) => CloseCode::PROTOCOL_ERROR,
            };
            self.link.disconnect(now, peer, code);
        }
        // The link sends more of its streams when it is polled.
        self.receive(now);
        let batch = self.link.carrier_mut().batch_mut();
        if !batch.is_empty() {
            relay.send_from_insiders(batch);
            batch.clear();
        }
    }
}
