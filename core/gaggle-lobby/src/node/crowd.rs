//! A full node: who makes way, and who has the last places. Absent: how many connections one network may have (`limits.rs`).

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

impl Node {
    /// Whether with so many more connections only the reserve would be left.
    pub(super) fn reaches_reserve(&self, more: usize) -> bool {
        let max = self.rules.connections_max;
        self.connections.len() + more > max - max / RESERVE
    }

    /// Whether a connection without a ticket may have a place of the reserve.
    pub(super) fn has_place_for_proven(&self, now: Micros, address: IpAddr) -> bool {
        let max = self.rules.connections_max;
        self.connections.len() <= max - max / RESERVE / 2 && self.limits.is_proven(now, address)
    }

    /// Ends some connections without a room for one from this address, which is counted already if it has a number: of networks
    /// that have many first, then those that said nothing for longest. Members of rooms stay.
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
