//! Rooms whose host starts the matches: the phases before and between them, and the peers that
//! start together.
//!
//! `lobby.rs` calls it at every change of the room's status. Absent: the match itself.

use gaggle_kit::{Micros, PeerId, SlotSet};
use gaggle_link::{Channel, CloseCode, Transport, TransportEvent};
use gaggle_lobby::Seed;
use gaggle_lobby::client::Client;
use gaggle_lobby::view::{Member, RoomView, Status, StatusChanged};
use gaggle_timeline::{MatchId, MatchStart, PeerSlots};

use super::{LobbyAction, LobbyRoom};
use crate::event::RoomEvent;
use crate::phase::Phase;
use crate::platform::Platform;

/// Whether the host of a room can start matches: pages that do not need it leave out its code.
pub(crate) const HOST_STARTS: bool = cfg!(feature = "host-starts");
/// Reliable streams below this number belong to the engine.
const ENGINE_STREAMS: u8 = 16;
/// Most messages kept that a peer sends which starts sooner, and most bytes of each.
const EARLY_MESSAGES: usize = 4;
const EARLY_BYTES: usize = 4_096;
/// A peer that learns of a start later than this joins the match instead.
const START_WITHIN: Micros = Micros::from_secs(3);

/// Messages for the engine that arrived before this peer has started its match.
#[derive(Debug, Default)]
pub(super) struct EarlyMessages(Vec<(PeerId, Vec<u8>)>);

impl EarlyMessages {
    /// Keeps a message. False if the peer sends more than a session does before it is answered.
    #[must_use]
    fn push(&mut self, from: PeerId, bytes: &[u8]) -> bool {
        let count = self.0.iter().filter(|(peer, _)| *peer == from).count();
        let fits = count < EARLY_MESSAGES && bytes.len() <= EARLY_BYTES;
        if fits {
            self.0.push((from, bytes.to_vec()));
        }
        fits
    }

    fn forget(&mut self, peer: PeerId) {
        self.0.retain(|(from, _)| *from != peer);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A match that all its peers start together.
pub(crate) struct Start {
    pub(crate) match_id: MatchId,
    pub(crate) peers: Vec<PeerSlots>,
    /// The peer that begins the match, for engines where one must be first: the host if it plays.
    pub(crate) first: Option<PeerId>,
    seed: u64,
    round: u32,
    settings: String,
}

impl Start {
    pub(crate) fn facts(&self) -> MatchStart<'_> {
        let slots = self.peers.iter().fold(SlotSet::EMPTY, |slots, peer| slots.union(peer.slots));
        MatchStart { seed: self.seed, round: self.round, slots, settings: &self.settings }
    }
}

impl<S, P: Platform> LobbyRoom<S, P> {
    fn room_view(&self) -> Option<&RoomView> {
        self.reservation?;
        self.lobby_client.as_ref().and_then(Client::room)
    }

    /// Whether the room waits for its host to start a match.
    pub(crate) fn is_waiting(&self) -> bool {
        HOST_STARTS && self.room_view().is_some_and(waits)
    }

    pub(crate) fn lobby_phase(&self) -> Option<Phase> {
        let room = self.room_view().filter(|room| HOST_STARTS && waits(room))?;
        let client = self.lobby_client.as_ref()?;
        Some(Phase::Lobby { starts_at: room.starts_at.map(|at| client.local_time(at)) })
    }

    /// Action that follows from a change of the room's status.
    pub(super) fn handle_status(&mut self, change: &StatusChanged) -> Option<LobbyAction> {
        self.room_view().filter(|room| HOST_STARTS && room.starts_together())?;
        if change.status == Status::Finished {
            self.push(RoomEvent::MatchEnded);
            return None;
        }
        let room = self.room_view()?;
        // The client may have received further changes already.
        let is_latest = (room.status, room.round) == (change.status, change.round);
        let client = self.lobby_client.as_ref().filter(|_| is_latest)?;
        match change.status {
            Status::Starting => {
                let at = client.local_time(change.starts_at.unwrap_or(change.match_started_at));
                self.results.forget_score();
                self.push(RoomEvent::MatchStarting { at });
                Some(LobbyAction::PrepareStart)
            }
            Status::Playing => {
                let is_late = self.now.since(client.local_time(change.match_started_at)) > START_WITHIN;
                self.results.forget_score();
                if is_late {
                    self.renew_links();
                    return Some(LobbyAction::JoinMatch);
                }
                Some(LobbyAction::StartMatch)
            }
            _ => None,
        }
    }

    /// The match that a referee begins: its state is the same whenever a peer arrives.
    #[cfg(feature = "seal")]
    pub(crate) fn referee_start(&self) -> Option<Start> {
        let room = self.room_view()?;
        Some(Start {
            match_id: match_id(room.match_started_at, room.seed),
            peers: Vec::new(),
            first: None,
            seed: room.seed.0,
            round: room.round,
            settings: room.settings.as_str().to_string(),
        })
    }

    /// The match that starts now.
    pub(crate) fn start(&self) -> Option<Start> {
        let room = self.room_view()?;
        // All peers have the same information about each other from the lobby. A member the lobby
        // cannot reach, or whose page is hidden, joins when it is back.
        let is_here = |member: &&Member| !member.away && !member.resting;
        let peers: Vec<PeerSlots> = room
            .players()
            .filter(is_here)
            .map(|member| PeerSlots { peer: member.peer, slots: member.slots() })
            .collect();
        let host = peers.iter().map(|other| other.peer).find(|peer| *peer == room.host);
        Some(Start {
            match_id: match_id(room.match_started_at, room.seed),
            first: host.or(peers.first().map(|other| other.peer)),
            peers,
            seed: room.seed.0,
            round: room.round,
            settings: room.settings.as_str().to_string(),
        })
    }

    /// Renews links before a match: packets that sessions of the previous match still send must not
    /// reach the next one. Once for each match, and not before the first.
    pub(crate) fn renew_links_for_start(&mut self) {
        let Some(round) = self.room_view().map(|room| room.round) else { return };
        if round > 1 && self.links_renewed_for != round {
            self.links_renewed_for = round;
            self.renew_links();
        }
    }

    /// Receives while no match of this room is shown: messages and values of members, and packets
    /// of engines that start sooner.
    pub(crate) fn receive_beside_match(&mut self) {
        let is_waiting = self.is_waiting();
        let LobbyRoom { mesh: Some(mesh), inbox, early, now, .. } = self else { return };
        let mut flooding = Vec::new();
        while let Some(event) = mesh.poll(*now) {
            match event {
                TransportEvent::Connected { peer } | TransportEvent::Disconnected { peer, .. } => {
                    early.forget(peer);
                }
                TransportEvent::Message { peer, channel: Channel::Reliable(stream), bytes } => {
                    if stream >= ENGINE_STREAMS {
                        inbox.receive(peer, stream, bytes);
                    } else if is_waiting && !early.push(peer, bytes) {
                        flooding.push(peer);
                    }
                }
                TransportEvent::Message { .. } => {}
            }
        }
        for peer in flooding {
            early.forget(peer);
            mesh.disconnect(*now, peer, CloseCode::PROTOCOL_ERROR);
        }
    }

    /// Peers whose links were open before a session began, and the messages they sent meanwhile.
    pub(crate) fn take_early(&mut self) -> (Vec<PeerId>, Vec<(PeerId, Vec<u8>)>) {
        let peers = self.mesh.as_ref().map_or(Vec::new(), |mesh| mesh.peers().to_vec());
        (peers, std::mem::take(&mut self.early.0))
    }
}

/// Id of the match that all members of a room start together.
const fn match_id(born_ms: u64, seed: Seed) -> MatchId {
    MatchId { started_at: born_ms / 1_000, nonce: seed.0 }
}

fn waits(room: &RoomView) -> bool {
    room.starts_together() && room.status != Status::Playing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_and_match_id_match_their_vector() {
        let vector = include_str!("../../vectors/match.hex");
        let digits: String = vector.lines().filter_map(|line| line.split('#').next()).collect();
        let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        let config = crate::RoomConfig::new("kayak", 2).unwrap().version("1.0.3");
        let (born, seed) = (1_700_000_000_999_u64, Seed(0x9e37_79b9_7f4a_7c15));
        let id = match_id(born, seed);
        let numbers = [config.engine.game_fingerprint, born, seed.0, id.started_at, id.nonce];
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(bytes, [&[5], &b"1.0.3"[..], &numbers[..]].concat());
    }

    #[test]
    fn early_messages_are_bounded_per_peer() {
        let [ada, bo] = [1, 2].map(PeerId::from_u128);
        let mut early = EarlyMessages::default();
        assert!((0..EARLY_MESSAGES).all(|_| early.push(ada, b"hello")));
        assert!(!early.push(ada, b"once more"));
        assert!(!early.push(bo, &[0; EARLY_BYTES + 1]));
        assert!(early.push(bo, b"hello"));
        early.forget(ada);
        assert_eq!(early.0, [(bo, b"hello".to_vec())]);
    }
}
