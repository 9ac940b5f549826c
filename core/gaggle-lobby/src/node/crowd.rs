//! A full node: who makes way, and who has the last places. Absent: how many connections one
//! network may have (`limits.rs`).

use std::net::IpAddr;

use gaggle_kit::Micros;

use super::ConnectionId;
use super::connection::Phase;
use super::connections::Connections;
use super::limits::ConnectionLimits;
use crate::rules::Rules;

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

/// Whether with so many connections only the reserve is left.
pub(super) fn reaches_reserve(count: usize, rules: &Rules) -> bool {
    count > rules.connections_max - rules.connections_max / RESERVE
}

/// Gives a connection a place of the reserve, if it may have one.
pub(super) fn take_reserve(
    now: Micros,
    connection: ConnectionId,
    has_ticket: bool,
    connections: &mut Connections,
    limits: &mut ConnectionLimits,
    rules: &Rules,
) -> bool {
    let reserve = rules.connections_max / RESERVE;
    let is_for_proven = connections.len() <= rules.connections_max - reserve / 2;
    let Some(known) = connections.get_mut(connection) else { return false };
    let is_admitted = has_ticket || is_for_proven && limits.is_proven(now, known.address);
    let share = (reserve / RESERVE_SHARE).max(RESERVE_SHARE_MIN);
    known.in_reserve = is_admitted && limits.take_reserve(known.address, share);
    known.in_reserve
}

/// Connections without a room that make way for one from this address, which is counted already if
/// it has a number: of networks that have many first, then those that said nothing for longest.
/// Members of rooms stay.
#[must_use]
pub(super) fn making_way(
    address: IpAddr,
    joiner: Option<ConnectionId>,
    connections: &Connections,
    limits: &ConnectionLimits,
    rules: &Rules,
) -> Vec<ConnectionId> {
    let weight_min = limits.weight(address) + usize::from(joiner.is_none());
    let idle = connections.iter().filter(|(id, known)| match &known.phase {
        _ if joiner == Some(*id) => false,
        Phase::New => true,
        Phase::Verifying(..) => false,
        Phase::Known(session) => session.room.is_none() && !known.must_wait(),
    });
    let idle = idle.map(|(id, known)| (known.address, (known.heard_at, id)));
    let count = (rules.connections_max / RESERVE).max(1);
    limits.making_way(weight_min, idle, count).into_iter().map(|(_, connection)| connection).collect()
}
