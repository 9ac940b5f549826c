//! A member of a room at the relay: its connections and its pairs.
//!
//! Owned by `machine.rs`. Absent: other members, limits.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{RelayLeg, RelayReject};
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
    peer: PeerId,
    room: RoomId,
    epoch: u32,
    expires: u64,
    /// Issue time of its newest ticket.
    issued: u64,
    /// Network from which it authenticated.
    network: u64,
    connections: [Option<ConnectionId>; 2],
    /// Sorted by peer.
    pairs: Vec<Pair>,
    heard_at: Micros,
    /// Whether the server itself is this member: limits of members do not apply to it.
    is_insider: bool,
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

    /// The server itself as a member of this room. Its epoch and expiry are never reached; those of
    /// the room are its members'.
    pub(crate) fn insider(claims: &Claims, network: u64, now: Micros) -> Member {
        Member { is_insider: true, epoch: u32::MAX, ..Member::new(claims, network, now) }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.peer
    }

    pub(crate) fn room(&self) -> RoomId {
        self.room
    }

    /// Whether the server itself is this member: limits of members do not apply to it.
    pub(crate) fn is_insider(&self) -> bool {
        self.is_insider
    }

    /// Network from which it authenticated.
    pub(crate) fn network(&self) -> u64 {
        self.network
    }

    /// It authenticated from another network.
    pub(crate) fn move_to(&mut self, network: u64) {
        self.network = network;
    }

    /// When it was last heard.
    pub(crate) fn heard_at(&self) -> Micros {
        self.heard_at
    }

    pub(crate) fn note_heard(&mut self, now: Micros) {
        self.heard_at = now;
    }

    /// Whether it was not heard for this long. The server never counts as silent.
    pub(crate) fn is_idle(&self, now: Micros, timeout: Micros) -> bool {
        !self.is_insider && now.since(self.heard_at) >= timeout
    }

    /// Takes a ticket of this member; an older one changes nothing.
    ///
    /// # Errors
    /// If it is a ticket of another member.
    pub(crate) fn renew(&mut self, claims: &Claims) -> Result<(), RelayReject> {
        if (claims.room, claims.peer) != (self.room, self.peer) {
            return Err(RelayReject::Ticket);
        }
        self.epoch = self.epoch.max(claims.epoch);
        self.expires = self.expires.max(claims.expires);
        self.issued = self.issued.max(claims.issued);
        Ok(())
    }

    /// Whether its tickets are of an epoch before this one.
    pub(crate) fn is_before(&self, epoch: u32) -> bool {
        self.epoch < epoch
    }

    /// Whether its newest ticket expired by this time in Unix seconds.
    pub(crate) fn has_expired(&self, unix_seconds: u64) -> bool {
        self.expires <= unix_seconds
    }

    /// Whether a ticket shown from this network may be stolen from this member. From another
    /// network only a newer one is accepted, which its owner gets and a thief does not.
    pub(crate) fn is_stolen(&self, claims: &Claims, network: u64) -> bool {
        self.network != network
            && self.connection(RelayLeg::WebSocket).is_some()
            && (claims.epoch, claims.issued) <= (self.epoch, self.issued)
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: u64 = 7;
    const AWAY: u64 = 8;

    fn claims(epoch: u32, issued: u64) -> Claims {
        Claims { issued, ..Claims::bare(1, PeerId::from_u128(1), epoch, 100 + issued) }
    }

    fn member() -> Member {
        let mut member = Member::new(&claims(2, 5), HOME, Micros::ZERO);
        member.set_connection(RelayLeg::WebSocket, Some(ConnectionId(1)));
        member
    }

    #[test]
    fn older_ticket_changes_nothing() {
        let mut member = member();
        assert!(member.renew(&claims(1, 4)).is_ok());
        assert!(member.is_before(3) && !member.is_before(2) && !member.has_expired(104));
        assert!(member.renew(&claims(3, 9)).is_ok());
        assert!(!member.is_before(3) && member.has_expired(109) && !member.has_expired(108));
        let other = Claims { peer: PeerId::from_u128(2), ..claims(9, 9) };
        assert_eq!(member.renew(&other), Err(RelayReject::Ticket));
    }

    #[test]
    fn old_ticket_from_another_network_is_stolen() {
        let mut member = member();
        assert!(member.is_stolen(&claims(2, 5), AWAY) && !member.is_stolen(&claims(2, 5), HOME));
        assert!(!member.is_stolen(&claims(2, 6), AWAY), "only its owner gets a newer one");
        member.set_connection(RelayLeg::WebSocket, None);
        assert!(!member.is_stolen(&claims(2, 5), AWAY), "it has lost its connection");
    }

    #[test]
    fn server_is_never_idle() {
        let timeout = Micros::from_secs(9);
        let (mut member, insider) = (member(), Member::insider(&claims(0, 0), HOME, Micros::ZERO));
        assert!(member.is_idle(timeout, timeout) && !insider.is_idle(timeout, timeout));
        member.note_heard(Micros::from_secs(1));
        assert!(!member.is_idle(timeout, timeout));
        assert!(insider.is_insider() && !insider.is_before(u32::MAX));
    }

    #[test]
    fn reply_uses_leg_of_last_datagram() {
        let mut member = member();
        let peer = PeerId::from_u128(2);
        member.set_connection(RelayLeg::Datagram, Some(ConnectionId(2)));
        member.pair(peer, 1).expect("there is space").leg = Some(RelayLeg::WebSocket);
        assert_eq!(member.route(peer), Some(ConnectionId(1)));
        assert!(member.pair(PeerId::from_u128(3), 1).is_none(), "it has as many pairs as it may");
        member.tidy();
        assert!(member.find(peer).is_none());
        assert_eq!(member.route(peer), Some(ConnectionId(2)), "the datagram channel is better");
    }
}
