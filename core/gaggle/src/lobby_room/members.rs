//! Members of the room and their names. The room and engines read them. Absent: messages of the
//! lobby.

use gaggle_kit::{PeerId, Slot, SlotSet};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::{LinkStats, Mesh, Path, Transport};
use gaggle_lobby::client::Client;
use gaggle_lobby::view;

use super::LobbyRoom;
use crate::platform::Platform;

/// Name of a peer whose name is unknown.
const UNNAMED: &str = "a player";
/// Names kept of peers that have left.
const NAMES_MAX: usize = 256;

/// A member of the room: a peer, and the player whose name it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The peer in the match and in the lobby.
    pub peer: PeerId,
    /// The display name.
    pub name: String,
    /// The slots of its players in the match; empty if it is not in the match.
    pub slots: SlotSet,
    /// Whether it is this peer.
    pub is_local: bool,
    /// Whether it has been in the match longest: see [`Room::leader`](crate::Room::leader).
    pub is_leader: bool,
    /// Whether it may change the room: see [`Room::host`](crate::Room::host).
    pub is_host: bool,
    /// Whether it is ready for the next match: see [`Room::set_ready`](crate::Room::set_ready).
    pub is_ready: bool,
    /// Whether its connection to the lobby is lost, or its page is hidden. Its link may be alive.
    pub is_away: bool,
    /// The path of the link to it.
    pub path: Option<Path>,
    /// Round trip, loss and bytes of that link.
    pub link_stats: Option<LinkStats>,
}

impl<S, P: Platform> LobbyRoom<S, P> {
    /// All members, as far as the lobby has reported. `slots_of` and `leader` are those of the
    /// match.
    pub(crate) fn members(&self, slots_of: impl Fn(PeerId) -> SlotSet, lead: Option<PeerId>) -> Vec<Member> {
        let Some((_, local)) = self.reservation else { return Vec::new() };
        let room = self.lobby_client.as_ref().and_then(Client::room);
        let mut members: Vec<Member> = room
            .iter()
            .flat_map(|room| &room.members)
            .map(|member| Member {
                peer: member.peer,
                name: member.name.as_str().to_string(),
                slots: slots_of(member.peer),
                is_local: member.peer == local,
                is_leader: lead == Some(member.peer),
                is_host: room.is_some_and(|room| room.host == member.peer),
                is_ready: member.ready,
                is_away: member.away || member.resting,
                path: None,
                link_stats: None,
            })
            .collect();
        for member in members.iter_mut().filter(|member| !member.is_local) {
            member.path = self.mesh.as_ref().and_then(|mesh| mesh.path(member.peer));
            member.link_stats = self.mesh.as_ref().and_then(|mesh| mesh.stats(member.peer));
        }
        members
    }

    /// The first slot of each member with a reservation, as the lobby gave it.
    pub(crate) fn reservations(&self) -> impl Iterator<Item = (PeerId, Slot)> + '_ {
        let room = self.lobby_client.as_ref().and_then(Client::room).filter(|_| self.reservation.is_some());
        let members = room.into_iter().flat_map(|room| &room.members);
        members.filter_map(|member| Some((member.peer, member.slot?)))
    }

    /// Slots of all players at each peer, as the lobby reserved them.
    pub(crate) fn all_reservations(&self) -> impl Iterator<Item = (PeerId, SlotSet)> + '_ {
        let room = self.lobby_client.as_ref().and_then(Client::room).filter(|_| self.reservation.is_some());
        let members = room.into_iter().flat_map(|room| &room.members);
        members.filter(|member| member.slot.is_some()).map(|member| (member.peer, member.slots()))
    }

    /// The slots that the lobby gave to the local players.
    pub(crate) fn own_reserved_slots(&self) -> SlotSet {
        let room = self.lobby_client.as_ref().and_then(Client::room);
        let member = self.me().zip(room).and_then(|(me, room)| room.member(me));
        member.map_or(SlotSet::EMPTY, view::Member::slots)
    }

    /// Members without a slot, which spectate.
    pub(crate) fn spectators(&self) -> impl Iterator<Item = PeerId> + '_ {
        let room = self.lobby_client.as_ref().and_then(Client::room).filter(|_| self.reservation.is_some());
        let members = room.into_iter().flat_map(|room| &room.members);
        members.filter(|member| member.slot.is_none()).map(|member| member.peer)
    }

    /// Whether there is a link to every other member with a slot, and this peer is the first of
    /// all.
    pub(crate) fn is_first_of_linked(&mut self) -> bool {
        let Some(me) = self.me() else { return false };
        let is_other = |peer: &PeerId| *peer != me && !self.is_shunned(*peer);
        let others: Vec<PeerId> = self.reservations().map(|(peer, _)| peer).filter(is_other).collect();
        let linked = self.mesh.as_ref().map(|mesh| mesh.peers().to_vec()).unwrap_or_default();
        !others.is_empty() && others.iter().all(|peer| *peer > me && linked.contains(peer))
    }

    /// Whether a peer is still a member, as far as the lobby has reported.
    pub(crate) fn has_reservation(&self, peer: PeerId) -> bool {
        let room = self.lobby_client.as_ref().and_then(Client::room);
        room.is_none_or(|room| room.member(peer).is_some())
    }

    /// Whether a member has no slot and spectates.
    pub(crate) fn is_spectator(&self, peer: PeerId) -> bool {
        let room = self.lobby_client.as_ref().and_then(Client::room);
        room.and_then(|room| room.member(peer)).is_some_and(|member| member.slot.is_none())
    }

    /// Whether this peer is in the room without a reservation.
    pub(crate) fn is_spectator_here(&self) -> bool {
        self.me().is_some_and(|me| self.is_spectator(me))
    }

    pub(super) fn learn_names(&mut self) {
        let Some(room) = self.lobby_client.as_ref().and_then(Client::room) else { return };
        if self.names.len() > NAMES_MAX {
            self.names.clear();
        }
        self.names.extend(room.members.iter().map(|member| (member.peer, member.name.as_str().to_string())));
    }

    /// The display name of a peer that is a member, or was.
    pub(crate) fn name(&self, peer: PeerId) -> String {
        if peer == HOST_PEER {
            return "the server".to_string();
        }
        self.names.get(&peer).map_or(UNNAMED, String::as_str).to_string()
    }
}
