//! Lobby side of a room: reservation, members, mesh, queued events.
//!
//! The engine carries out what [`LobbyRoom::poll_action`] returns. In `lobby_room/`, `lobby.rs`
//! handles lobby messages, `members.rs` members, `host.rs` roles, `values.rs` values, `results.rs`
//! results of matches. Absent: game state, frames, engine types.

mod host;
mod lobby;
mod members;
mod results;
mod start;
#[cfg_attr(not(feature = "values"), path = "lobby_room/no_values.rs")]
mod values;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng, SlotSet, VecMap};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::{Mesh, SendError, Transport};
use gaggle_lobby::client::{Client, RequestId};
use gaggle_lobby::message::client::{Leave, Profile};
use gaggle_lobby::{DisplayName, Label, RoomId};

use crate::config::{JoinTarget, RoomConfig};
use crate::event::RoomEvent;
use crate::messages::{self, MessageQueue};
use crate::platform::{MeshSetup, Platform};

use results::Results;
use start::EarlyMessages;
use values::MemberValues;

pub use host::{HostCommand, NotHost};
pub use members::Member;
pub(crate) use start::{HOST_STARTS, Start};
#[cfg(feature = "values")]
pub use values::VALUES_BYTES_MAX;

/// Most events kept for a caller that does not fetch them.
const EVENTS_MAX: usize = 256;
/// Most changes of values reported in one update.
const VALUES_REPORTED: usize = 8;

/// Action of an engine that follows a lobby message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LobbyAction {
    /// This peer has a reservation in a new room: the shown match becomes the room's.
    OpenMatch,
    /// This peer has a reservation in a room with other members: it joins their match.
    JoinMatch,
    /// This peer has a reservation in a room that waits for its host to start a match.
    EnterLobby,
    /// The countdown to a match runs: the previous match is left.
    PrepareStart,
    /// All members start a match together.
    StartMatch,
    /// This peer has no reservation and no links any more.
    GoSolo,
    /// A member joined the room or left it.
    MembersChanged,
    /// The lobby knows that this peer is no longer suspended: later joiners join its match, earlier
    /// ones may play in a match of their own.
    Resumed,
}

/// Messages and values that peers send beside the match.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) messages: MessageQueue,
    pub(crate) values: MemberValues,
}

impl Inbox {
    /// Takes a message of a stream that the engine does not use. A referee forwards those of other
    /// members, and names them before the content.
    pub(crate) fn receive(&mut self, from: PeerId, stream: u8, bytes: &[u8]) {
        let (from, bytes) = match bytes.split_first_chunk::<16>().filter(|_| from == HOST_PEER) {
            Some((sender, content)) => (PeerId::from_bytes(*sender), content),
            None => (from, bytes),
        };
        self.messages.receive(from, stream, bytes);
        self.values.receive(from, stream, bytes);
    }
}

/// State of this peer's connection to the lobby.
#[derive(Debug, Default)]
struct Connection {
    /// Whether it was lost, and is not restored yet.
    server_lost: bool,
    /// Whether it was reported that the lobby accepted the token.
    signed_in: bool,
    /// Whether this peer closed it.
    hung_up: bool,
    /// When the lobby was last reachable again.
    back_at: Option<Micros>,
    /// The latest request for a reservation.
    reservation_request: Option<RequestId>,
}

/// When to request ICE servers again, before their credentials expire.
#[derive(Debug, Default)]
struct IceRenewal {
    due: Option<Micros>,
    /// The request under way.
    asked: Option<RequestId>,
}

/// The reservation of this peer, or its request for one, and everything that belongs to it.
pub struct LobbyRoom<S, P: Platform> {
    pub(crate) config: RoomConfig<S>,
    /// Identity by which the lobby matches peers.
    pub(crate) build_id: Label,
    pub(crate) platform: P,
    /// The links to the members, while in a room.
    pub(crate) mesh: Option<P::Mesh>,
    pub(crate) lobby_client: Option<Client>,
    pub(crate) rng: Prng,
    /// The room of the reservation, and the id of this peer in it.
    pub(crate) reservation: Option<(RoomId, PeerId)>,
    connection: Connection,
    /// Peers that left the room, and when to remove them.
    leaving: Vec<(Micros, PeerId)>,
    names: VecMap<PeerId, String>,
    ice: IceRenewal,
    /// Local slots that another player had last, until this peer is in the match: state the game
    /// keeps for them belongs to that player.
    pub(crate) reused_slots: SlotSet,
    /// Whether this peer is joining a match, and may be admitted by a suspended member.
    pub(crate) joins: bool,
    results: Results,
    early: EarlyMessages,
    /// Number of the match for whose start the links were renewed.
    links_renewed_for: u32,
    /// Whether the only link is to the server's referee, which forwards messages and values.
    pub(crate) has_referee: bool,
    /// Messages and values that arrived beside the match.
    pub(crate) inbox: Inbox,
    events: VecDeque<RoomEvent>,
    pub(crate) now: Micros,
}

impl<S, P: Platform> LobbyRoom<S, P> {
    /// A lobby side without any request yet: see [`LobbyRoom::look_for_others`].
    pub(crate) fn new(
        now: Micros,
        mut config: RoomConfig<S>,
        build: Label,
        platform: P,
        rng: Prng,
    ) -> LobbyRoom<S, P> {
        config.lobby.display_name = config.lobby.display_name.as_deref().and_then(cleaned);
        LobbyRoom {
            config,
            build_id: build,
            platform,
            mesh: None,
            lobby_client: None,
            rng,
            reservation: None,
            connection: Connection::default(),
            leaving: Vec::new(),
            names: VecMap::new(),
            ice: IceRenewal::default(),
            reused_slots: SlotSet::EMPTY,
            joins: false,
            results: Results::default(),
            early: EarlyMessages::default(),
            links_renewed_for: 0,
            has_referee: false,
            inbox: Inbox::default(),
            events: VecDeque::new(),
            now,
        }
    }

    /// Requests the room that is wanted, and gives up another reservation for it if `switch`.
    pub(crate) fn look_for_others(&mut self, leave_current: bool) {
        if self.config.join != JoinTarget::Offline && self.lobby_client.is_none() {
            self.lobby_client = Some(Client::new(self.now, self.config.lobby.clone(), self.rng.next_u64()));
        }
        if let Some(client) =
            self.lobby_client.as_mut().filter(|_| std::mem::take(&mut self.connection.hung_up))
        {
            client.reconnect(self.now);
        }
        self.request_reservation(leave_current);
    }

    /// Changes the display name.
    pub(crate) fn set_name(&mut self, name: &str) {
        let Some(name) = cleaned(name) else { return };
        self.config.lobby.display_name = Some(name.clone());
        if let Some(client) = &mut self.lobby_client {
            client.set_profile(Profile { name: Some(name), preferred_slot: None });
        }
    }

    /// Signs in with a token, or out.
    pub(crate) fn set_token(&mut self, token: Option<String>) {
        self.connection.signed_in = false;
        self.config.lobby.token.clone_from(&token);
        if let Some(client) = &mut self.lobby_client {
            client.set_token(self.now, token);
        }
        self.carry_out();
    }

    /// Gives the reservation up, if there is one, or asks the lobby to keep it for 10 s. Then
    /// closes all links.
    pub(crate) fn give_up_reservation(&mut self, back: bool) -> bool {
        self.config.join = JoinTarget::Browse;
        self.tell_score();
        if self.reservation.take().is_none() {
            return false;
        }
        if let Some(client) = &mut self.lobby_client {
            client.leave(Leave { keep_reservation: back });
        }
        self.carry_out();
        self.mesh = None;
        self.inbox.values.forget(None);
        true
    }

    /// The page is closed: sends nothing more to the lobby, so that another page can use the
    /// reservation at once.
    pub(crate) fn hang_up(&mut self) {
        if let Some(client) = &mut self.lobby_client {
            client.close();
            self.connection.hung_up = true;
        }
        self.carry_out();
    }

    /// Takes the reservation over from another tab.
    pub(crate) fn take_over(&mut self) {
        if let Some(client) = &mut self.lobby_client {
            client.take_over(self.now);
        }
    }

    /// Tells the lobby whether this peer is suspended.
    pub(crate) fn set_resting(&mut self, resting: bool) {
        if let Some(client) = &mut self.lobby_client {
            client.set_resting(resting);
        }
        // At once, because the page may not be updated again for a while.
        self.carry_out();
    }

    /// The id of this peer in the room.
    pub(crate) fn me(&self) -> Option<PeerId> {
        self.reservation.map(|(_, peer)| peer)
    }

    /// Replaces the links to all members: the old ones belong to a match that has ended.
    pub(crate) fn renew_links(&mut self) {
        self.mesh = None;
        self.open_links();
    }

    fn open_links(&mut self) {
        let (Some(client), Some((_, local))) = (&self.lobby_client, self.reservation) else { return };
        let setup = MeshSetup {
            local_id: local,
            ticket: client.ticket().unwrap_or_default(),
            ice_servers: client.ice_servers(),
            relay: client.relay(),
            seed: self.rng.next_u64(),
        };
        // Only the lobby's next answer says how long these are valid.
        let has_credentials = setup.ice_servers.iter().any(|server| server.credential.is_some());
        self.ice.due = has_credentials.then_some(self.now);
        self.mesh = Some(self.platform.open_mesh(self.now, &setup));
        self.early.clear();
        self.inbox.values.forget_connections();
        for (_, peer) in std::mem::take(&mut self.leaving) {
            self.inbox.values.forget(Some(peer));
        }
        self.connect_to_all();
    }

    /// The next peer that left the room a while ago and must be removed from the match, too.
    pub(crate) fn next_leaver(&mut self) -> Option<PeerId> {
        let index = self.leaving.iter().position(|(at, _)| *at <= self.now)?;
        Some(self.leaving.swap_remove(index).1)
    }

    /// Ends the link to a peer that left.
    pub(crate) fn remove_link(&mut self, peer: PeerId) {
        // A suspended member keeps its values, as it keeps its reservation.
        if !self.has_reservation(peer) {
            self.inbox.values.forget(Some(peer));
        }
        if let Some(mesh) = &mut self.mesh {
            mesh.remove_peer(self.now, peer);
        }
    }

    /// Connects to every member without a link, or to the referee alone.
    fn connect_to_all(&mut self) {
        if self.has_referee {
            // A referee closes links on which nothing is said, as before the start of a match.
            let is_waiting = self.is_waiting();
            if let Some(mesh) = self.mesh.as_mut().filter(|_| !is_waiting) {
                mesh.add_server(self.now, HOST_PEER);
            }
            return;
        }
        let Some(room) = self.lobby_client.as_ref().and_then(Client::room) else { return };
        let members: Vec<PeerId> = room.members.iter().map(|member| member.peer).collect();
        members.into_iter().for_each(|peer| self.connect_to(peer));
    }

    fn connect_to(&mut self, peer: PeerId) {
        let Some((_, local)) = self.reservation else { return };
        let is_wanted = peer != local && !self.has_referee && !self.is_shunned(peer);
        if let Some(mesh) = self.mesh.as_mut().filter(|mesh| is_wanted && !mesh.peers().contains(&peer)) {
            mesh.add_peer(self.now, peer);
        }
    }

    /// Sends a message beside the match to one peer, or to all. In solo play there is no peer to
    /// reject it.
    pub(crate) fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        match &mut self.mesh {
            Some(links) if self.has_referee => messages::send_through(self.now, links, to, bytes),
            Some(links) => messages::send(self.now, links, to, bytes),
            None => to.map_or(Ok(()), |peer| Err(SendError::NotConnected { peer })),
        }
    }

    /// Sends own values to peers that do not have them, and reports changed ones: a few at a time,
    /// so that no member displaces other events.
    pub(crate) fn run_values(&mut self) {
        if let Some(mesh) = &mut self.mesh {
            self.inbox.values.send(self.now, mesh);
        }
        for _ in 0..VALUES_REPORTED {
            let Some((peer, key)) = self.inbox.values.poll_change() else { break };
            self.push(RoomEvent::ValueChanged { peer, key });
        }
    }

    /// A member's value, this peer's own included.
    #[cfg(feature = "values")]
    pub(crate) fn value(&self, peer: PeerId, key: u8) -> Option<&[u8]> {
        match self.me() == Some(peer) {
            true => self.inbox.values.own(key),
            false => self.inbox.values.remote(peer, key),
        }
    }

    pub(crate) fn push(&mut self, event: RoomEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    pub(crate) fn poll_event(&mut self) -> Option<RoomEvent> {
        self.events.pop_front()
    }
}

/// A name as the server accepts it: characters that cannot be shown are removed.
fn cleaned(name: &str) -> Option<String> {
    DisplayName::sanitized(name).map(|name| name.as_str().to_string())
}
