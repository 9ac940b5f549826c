//! Table of linked peers: identity, sent and received state, and playback of each. Every part of
//! the session reads it; `route.rs` adds and removes peers. Absent: rules of authority, meaning of
//! records.

mod handles;
mod handshake;
mod inbound;
mod incoming;
mod outbound;
mod outgoing;
mod playback;
mod side;

use std::ops::{Index, IndexMut};

use gaggle_kit::{Micros, PeerId};

use crate::MemberId;
use crate::interest::Receiver;
use crate::roster::RosterMember;

pub(crate) use handles::Handles;
pub(crate) use handshake::Handshake;
pub(crate) use inbound::Inbound;
pub(crate) use incoming::{Incoming, LinkRecord};
pub(crate) use outbound::Outbound;
pub(crate) use outgoing::Outgoing;
pub(crate) use playback::Playback;
pub(crate) use side::{RELAYED_VALUES, SideStreams};

/// Marks a missing handle or index.
pub(crate) const NONE: u32 = u32::MAX;

/// A peer with a link to it.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) handshake: Handshake,
    pub(crate) out: Outbound,
    pub(crate) inbound: Inbound,
    pub(crate) playback: Playback,
    pub(crate) side: SideStreams,
}

impl Peer {
    /// A peer whose link starts. `brought` objects it introduced before are still known.
    pub(crate) fn new(id: PeerId, epoch: u32, places: usize, brought: usize, interval: Micros) -> Peer {
        Peer {
            id,
            handshake: Handshake::new(epoch),
            out: Outbound::new(places),
            inbound: Inbound::new(places, brought),
            playback: Playback::new(interval),
            side: SideStreams::default(),
        }
    }

    /// The peer after it restarted: nothing sent or received in either direction counts.
    pub(crate) fn restarted(&self, places: usize, brought: usize, interval: Micros) -> Peer {
        let new = Peer::new(self.id, self.handshake.epoch(), places, brought, interval);
        Peer { handshake: self.handshake.restarted(), ..new }
    }

    /// Member or spectator at the other end, which gets data.
    #[inline]
    pub(crate) fn present(&self) -> Option<RosterMember> {
        self.handshake.present()
    }

    /// The member at the other end; `None` for a spectator.
    pub(crate) fn member(&self) -> Option<RosterMember> {
        self.handshake.member()
    }

    /// Whether this member or spectator is at the other end.
    #[inline]
    pub(crate) fn is(&self, member: MemberId) -> bool {
        self.handshake.present().is_some_and(|present| present.id == member)
    }

    /// The peer as a game's interest sees it.
    pub(crate) fn receiver(&self) -> Option<Receiver> {
        let present = self.present()?;
        let RosterMember { id, slot, extra_slots } = present;
        Some(Receiver { peer: self.id, player: slot, extra_slots, member: id })
    }
}

/// All peers with a link.
#[derive(Debug, Default)]
pub(crate) struct PeerTable {
    peers: Vec<Peer>,
}

impl PeerTable {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    #[inline]
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Peer> {
        self.peers.iter()
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Peer> {
        self.peers.iter_mut()
    }

    /// Index of a peer, valid until one is removed.
    pub(crate) fn find(&self, peer: PeerId) -> Option<usize> {
        self.peers.iter().position(|other| other.id == peer)
    }

    /// Peer at which this member or spectator is.
    #[inline]
    pub(crate) fn of(&self, member: MemberId) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.is(member))
    }

    /// Peers that are members.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Peer> + Clone {
        self.peers.iter().filter(|peer| peer.member().is_some())
    }

    /// Peer at which a member is, mutable.
    pub(crate) fn of_member_mut(&mut self, member: RosterMember) -> Option<&mut Peer> {
        self.peers.iter_mut().find(|peer| peer.present() == Some(member))
    }

    /// Adds a peer and returns its index.
    pub(crate) fn push(&mut self, peer: Peer) -> usize {
        self.peers.push(peer);
        self.peers.len() - 1
    }

    /// Removes a peer; another one takes its index.
    pub(crate) fn swap_remove(&mut self, index: usize) -> Peer {
        self.peers.swap_remove(index)
    }

    /// Reserves room for this many objects with every peer.
    pub(crate) fn reserve(&mut self, places: usize) {
        for peer in self.peers.iter_mut().filter(|peer| peer.out.places() < places) {
            peer.out.reserve(places);
            peer.inbound.reserve(places);
        }
    }
}

impl Index<usize> for PeerTable {
    type Output = Peer;

    #[inline]
    fn index(&self, index: usize) -> &Peer {
        &self.peers[index]
    }
}

impl IndexMut<usize> for PeerTable {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Peer {
        &mut self.peers[index]
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;

    use super::*;
    use crate::MemberTag;

    fn member(number: u32) -> RosterMember {
        let id = MemberId { join_order: number, tag: MemberTag(number + 1) };
        RosterMember::new(id, Slot::at(number as usize))
    }

    fn table() -> PeerTable {
        let mut table = PeerTable::default();
        for number in 0..3 {
            let mut peer = Peer::new(PeerId::from_u128(number.into()), 7, 4, 0, Micros::from_millis(50));
            match number {
                2 => peer.handshake.note_spectator(member(number)),
                _ => peer.handshake.note_member(member(number), Micros::ZERO),
            }
            assert_eq!(table.push(peer), number as usize);
        }
        table
    }

    #[test]
    fn spectator_is_present_and_no_member() {
        let table = table();
        assert_eq!(table.members().count(), 2);
        assert_eq!(table[2].present(), Some(member(2)));
        assert_eq!(table[2].member(), None);
        assert!(table.of(member(2).id).is_some_and(|peer| peer.receiver().is_some()));
    }

    #[test]
    fn removed_peer_is_not_found() {
        let mut table = table();
        let index = table.find(PeerId::from_u128(0)).expect("it is there");
        assert_eq!(table.swap_remove(index).id, PeerId::from_u128(0));
        assert_eq!(table.find(PeerId::from_u128(0)), None);
        assert!(table.of(member(0).id).is_none() && table.of_member_mut(member(1)).is_some());
    }

    #[test]
    fn reserve_grows_every_peer_and_shrinks_none() {
        let mut table = table();
        table.reserve(9);
        table.reserve(2);
        assert!(table.iter().all(|peer| peer.out.places() == 9 && peer.inbound.handle_of(8).is_none()));
    }

    #[test]
    fn restart_keeps_epoch_and_counts() {
        let mut table = table();
        for restarts in 1..=3 {
            table[0] = table[0].restarted(5, 0, Micros::from_millis(50));
            let handshake = &table[0].handshake;
            assert_eq!((handshake.restarts(), handshake.epoch(), handshake.present()), (restarts, 7, None));
        }
    }
}
