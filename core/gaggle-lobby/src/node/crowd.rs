//! A full node: who makes way, and who has the last places. Absent: how many connections one
//! network may have (`limits.rs`).

use std::net::IpAddr;

use gaggle_kit::Micros;

use super::connection::Phase;
use super::{ConnectionId, Node};
use crate::message::{Rejection, RejectionCode};

/// One part in so many of all places is the reserve. The first half of it is for networks that are
/// proven and for members who show a ticket, the second half for tickets alone: a network can be
/// proven before an attack, a ticket needs a room. As many connections make way at once: looking
/// for them takes a look at every connection.
const RESERVE: usize = 32;
/// A network has one part in so many of the reserve: one that has collected tickets does not shut
/// out the members of others.
const RESERVE_SHARE: usize = 8;
/// As many in any case, on small servers.
const RESERVE_SHARE_MIN: usize = 2;

impl Node {
    /// Whether with so many more connections only the reserve would be left.
    pub(super) fn reaches_reserve(&self, more: usize) -> bool {
        let max = self.rules.connections_max;
        self.connections.len() + more > max - max / RESERVE
    }

    /// Gives a connection a place of the reserve, if it may have one.
    pub(super) fn take_reserve(&mut self, now: Micros, connection: ConnectionId, has_ticket: bool) -> bool {
        let reserve = self.rules.connections_max / RESERVE;
        let is_for_proven = self.connections.len() <= self.rules.connections_max - reserve / 2;
        let Some(known) = self.connections.get_mut(&connection) else { return false };
        let address = known.address;
        let is_admitted = has_ticket || is_for_proven && self.limits.is_proven(now, address);
        let share = (reserve / RESERVE_SHARE).max(RESERVE_SHARE_MIN);
        known.in_reserve = is_admitted && self.limits.take_reserve(address, share);
        known.in_reserve
    }

    /// Ends some connections without a room for one from this address, which is counted already if
    /// it has a number: of networks that have many first, then those that said nothing for longest.
    /// Members of rooms stay.
    pub(super) fn make_way(&mut self, now: Micros, address: IpAddr, newcomer: Option<ConnectionId>) {
        let weight_min = self.limits.weight(address) + usize::from(newcomer.is_none());
        let idle = self.connections.iter().filter(|(id, known)| match &known.phase {
            _ if newcomer == Some(**id) => false,
            Phase::New => true,
            Phase::Verifying(..) => false,
            Phase::Known(session) => session.room.is_none() && !known.busy,
        });
        let idle = idle.map(|(id, known)| (known.address, (known.heard_at, *id)));
        let count = (self.rules.connections_max / RESERVE).max(1);
        let chosen: Vec<(Micros, ConnectionId)> = self.limits.making_way(weight_min, idle, count);
        for (_, connection) in chosen {
            let text = "the server is full, and you are in no room";
            self.disconnect(now, connection, Rejection::new(RejectionCode::ServerFull, text));
        }
    }
}
