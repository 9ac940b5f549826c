//! One member of a room, as its relay sees it: its connections, whom it talks to, how much it may
//! send.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::RelayLeg;
use gaggle_lobby::{Claims, RoomId};

use crate::limits::MemberKey;
use crate::machine::ConnectionId;

/// The place of a member in the list of all.
pub(crate) type MemberId = usize;

/// Another member, as this one sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) peer: PeerId,
    /// This member wants to talk to it.
    pub(crate) called: bool,
    /// Where it is, while the two talk.
    pub(crate) open: Option<MemberId>,
    /// The leg on which this member last said something to it: answers go there.
    pub(crate) leg: Option<RelayLeg>,
}

/// One member.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) peer: PeerId,
    pub(crate) room: RoomId,
    pub(crate) epoch: u32,
    pub(crate) expires: u64,
    /// When its newest ticket was made.
    pub(crate) issued: u64,
    /// Where it proved itself from.
    pub(crate) network: u64,
    connections: [Option<ConnectionId>; 2],
    /// Sorted by peer.
    pairs: Vec<Pair>,
    pub(crate) heard_at: Micros,
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
        }
    }

    /// What its limits are counted by.
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

    /// The pair with this peer, made if there is room for it.
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

    /// Forgets pairs that are of no use to this member any more.
    pub(crate) fn tidy(&mut self) {
        self.pairs.retain(|pair| pair.called || pair.open.is_some());
    }

    /// Where something from this peer goes: to the leg on which it was last spoken to, else to the
    /// best there is.
    pub(crate) fn route(&self, from: PeerId) -> Option<ConnectionId> {
        let chosen = self.find(from).and_then(|pair| pair.leg).and_then(|leg| self.connection(leg));
        chosen.or_else(|| self.connections().next())
    }
}
