//! Admission when a node is nearly full: which connections are closed, and which may use the
//! reserve.
//!
//! Called by `hello.rs`. Absent: connections per network (`limits.rs`).

use std::net::IpAddr;

use gaggle_kit::Micros;

use super::ConnectionId;
use super::connection::Phase;
use super::connections::Connections;
use super::limits::ConnectionLimits;
use crate::rules::Rules;

/// The reserve is 1/32 of all connections. Its first half is for proven networks and for members
/// with a ticket, its second half for tickets only: an attacker can prove networks in advance, but
/// needs a room for a ticket. The same number of connections is closed at once, because choosing
/// them scans all connections.
const RESERVE: usize = 32;
/// One network may use 1/8 of the reserve: a network that collected tickets cannot shut out the
/// members of others.
const RESERVE_SHARE: usize = 8;
/// Smallest share of a network, for small servers.
const RESERVE_SHARE_MIN: usize = 2;

/// Whether only the reserve is left at this number of connections.
pub(super) fn reaches_reserve(count: usize, rules: &Rules) -> bool {
    count > rules.connections_max - rules.connections_max / RESERVE
}

/// Admits a connection to the reserve, if it may use it.
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
    let is_admitted = has_ticket || is_for_proven && limits.is_proven(now, known.address());
    let share = (reserve / RESERVE_SHARE).max(RESERVE_SHARE_MIN);
    let in_reserve = is_admitted && limits.take_reserve(known.address(), share);
    known.set_in_reserve(in_reserve);
    in_reserve
}

/// Connections outside rooms to close for one from this address, which is counted already if
/// `joiner` is given: first of networks with many connections, then the longest silent. Members of
/// rooms stay.
#[must_use]
pub(super) fn making_way(
    address: IpAddr,
    joiner: Option<ConnectionId>,
    connections: &Connections,
    limits: &ConnectionLimits,
    rules: &Rules,
) -> Vec<ConnectionId> {
    let weight_min = limits.weight(address) + usize::from(joiner.is_none());
    let idle = connections.iter().filter(|(id, known)| match known.phase() {
        _ if joiner == Some(*id) => false,
        Phase::New => true,
        Phase::Verifying(..) => false,
        Phase::Known(session) => session.room.is_none() && !known.must_wait(),
    });
    let idle = idle.map(|(id, known)| (known.address(), (known.heard_at(), id)));
    let count = (rules.connections_max / RESERVE).max(1);
    limits.making_way(weight_min, idle, count).into_iter().map(|(_, connection)| connection).collect()
}
