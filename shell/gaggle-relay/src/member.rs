//! A member of a room at the relay: its connections and its pairs.
//!
//! Owned by `machine.rs`. Absent: other members, limits.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::RelayLeg;
use gaggle_lobby::{Claims, RoomId};

use crate::limits::MemberKey;
use crate::machine::ConnectionId;

/// Index of a member in the list of all.
pub(crate) type MemberId = usize;

/// Pair with another member, from this one's side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) peer: PeerId,
    /// This member has requested the pair.
    pub(crate) called: bool,
    /// Index of the other member, while the pair is open.
    pub(crate) open: Option<MemberId>,
    /// Leg on which this member last sent to the other: replies use it.
    pub(crate) leg: Option<RelayLeg>,
}

/// One member of a room.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) peer: PeerId,
    pub(crate) room: RoomId,
    pub(crate) epoch: u32,
    pub(crate) expires: u64,
    /// Issue time of its newest ticket.
    pub(crate) issued: u64,
    /// Network from which it authenticated.
    pub(crate) network: u64,
    connections: [Option<ConnectionId>; 2],
    /// Sorted by peer.
    pairs: Vec<Pair>,
    pub(crate) heard_at: Micros,
    /// Whether the server itself is this member: limits of members do not apply to it.
    pub(crate) is_insider: bool,
}

impl Member {
    pub(crate) fn new(claims: &Claims, network: u64, now: Micros) -> Member {
        Member {
            peer: claims.peer,
            room: claims.room,
            epoch: claims.epoch,
            expires: claims.expires,
            issued: claims.issued,
            network,
            connections: [None; 2],
            pairs: Vec::new(),
            heard_at: now,
            is_insider: false,
        }
    }

    /// Key of its limits.
    pub(crate) fn key(&self) -> MemberKey {
        MemberKey { room: self.room, peer: self.peer }
    }

    pub(crate) fn connection(&self, leg: RelayLeg) -> Option<ConnectionId> {
        self.connections[leg as usize]
    }

    pub(crate) fn set_connection(
        &mut self,
        leg: RelayLeg,
        connection: Option<ConnectionId>,
    ) -> Option<ConnectionId> {
        std::mem::replace(&mut self.connections[leg as usize], connection)
    }

    pub(crate) fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.connections.iter().flatten().copied()
    }

    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    pub(crate) fn find(&self, peer: PeerId) -> Option<&Pair> {
        self.pairs.binary_search_by_key(&peer, |pair| pair.peer).ok().map(|index| &self.pairs[index])
    }

    pub(crate) fn find_mut(&mut self, peer: PeerId) -> Option<&mut Pair> {
        self.pairs.binary_search_by_key(&peer, |pair| pair.peer).ok().map(|index| &mut self.pairs[index])
    }

    /// The pair with this peer, created if there is space.
    pub(crate) fn pair(&mut self, peer: PeerId, max: usize) -> Option<&mut Pair> {
        let index = match self.pairs.binary_search_by_key(&peer, |pair| pair.peer) {
            Ok(index) => index,
            Err(_) if self.pairs.len() >= max => return None,
            Err(index) => {
                self.pairs.insert(index, Pair { peer, called: false, open: None, leg: None });
                index
            }
        };
        Some(&mut self.pairs[index])
    }

    /// Drops pairs that are neither open nor requested.
    pub(crate) fn tidy(&mut self) {
        self.pairs.retain(|pair| pair.called || pair.open.is_some());
    }

    /// Connection for datagrams from this peer: the leg of the last datagram to it, else the best
    /// one.
    pub(crate) fn route(&self, from: PeerId) -> Option<ConnectionId> {
        let chosen = self.find(from).and_then(|pair| pair.leg).and_then(|leg| self.connection(leg));
        chosen.or_else(|| self.connections().next())
    }
}
