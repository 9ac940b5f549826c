//! Rate and connection limits of networks and players, over all their connections.
//!
//! The node asks before it acts. A guest's identity is free, so costly actions are limited per
//! network as well. Absent: rooms, messages, texts for clients.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::net::IpAddr;

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{
    ConcurrencyLimit, KeyedRateLimiter, LimitKey, Prefix, choose_evicted, network, prefixes,
};

use super::{Exceeded, LobbyLimit, too_fast};
use crate::id::PlayerId;
use crate::message::{Rejection, RejectionCode};
use crate::rules::Rules;

/// How often idle players and networks are dropped.
const FORGET_EVERY: Micros = Micros::from_secs(30);

/// An action with a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitedAction {
    Find,
    Create,
    Join,
    TakeOver,
    Change,
    Signal,
    Look,
    Report,
}

impl LimitedAction {
    fn limit(self) -> LobbyLimit {
        match self {
            LimitedAction::Find => LobbyLimit::Find,
            LimitedAction::Create => LobbyLimit::Create,
            LimitedAction::Join => LobbyLimit::Join,
            LimitedAction::TakeOver => LobbyLimit::TakeOver,
            LimitedAction::Change => LobbyLimit::Change,
            LimitedAction::Signal => LobbyLimit::Signal,
            LimitedAction::Look => LobbyLimit::Look,
            LimitedAction::Report => LobbyLimit::Report,
        }
    }
}

/// Index of the limit on a player's signal bytes, after the actions.
const SIGNAL_BYTES: usize = LimitedAction::Report as usize + 1;
const PLAYER_LIMITS: usize = SIGNAL_BYTES + 1;

/// Actions limited per network.
#[derive(Debug, Clone, Copy)]
enum Counted {
    Connect,
    Message,
    Bytes,
    Join,
    Report,
    Room,
}

impl Counted {
    fn limit(self) -> LobbyLimit {
        match self {
            Counted::Connect => LobbyLimit::Connect,
            Counted::Message => LobbyLimit::MessagePerAddress,
            Counted::Bytes => LobbyLimit::MessageBytesPerAddress,
            Counted::Join => LobbyLimit::JoinPerAddress,
            Counted::Report => LobbyLimit::ReportPerAddress,
            Counted::Room => LobbyLimit::CreatePerAddress,
        }
    }
}

const COUNTED: usize = Counted::Room as usize + 1;
/// Network prefixes tracked: three for each IPv6 network of a full server with default limits.
const PREFIXES_MAX: usize = 65_536;
/// Players tracked: several for each connection of a full server with default limits.
const PLAYERS_MAX: usize = 131_072;
/// Proven networks remembered; the oldest is dropped first.
const PROVEN_MAX: usize = 16_384;
/// Time a network stays proven after a member of a room connected from it.
const PROVEN_TTL: Micros = Micros::from_secs(24 * 3_600);

/// Default number of leaderboard entries.
pub(super) const TOP_COUNT: u8 = 10;
/// Largest number of leaderboard entries.
pub(super) const TOP_COUNT_MAX: u8 = 100;

impl LimitKey for PlayerId {}

/// Recent activity of networks and players.
#[derive(Debug)]
pub(super) struct ConnectionLimits {
    rates: KeyedRateLimiter<Prefix, COUNTED>,
    /// Connections by network and by its wider prefixes.
    places: ConcurrencyLimit<Prefix>,
    /// Connections from the reserve.
    reserve: ConcurrencyLimit<Prefix>,
    players: KeyedRateLimiter<PlayerId, PLAYER_LIMITS>,
    /// Connections of each player.
    connected: ConcurrencyLimit<PlayerId>,
    /// Networks from which a member of a room was connected for a while, with the last time.
    proven: BTreeMap<u64, Micros>,
    proven_order: BTreeSet<(Micros, u64)>,
    forget_at: Option<Micros>,
    exceeded: Exceeded,
}

/// A charge to an address for a room that may turn out not to be needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoomCharge(u64);

impl ConnectionLimits {
    pub(super) fn new(rules: &Rules) -> ConnectionLimits {
        let limits = &rules.limits;
        // In the order of `Counted` and of `LimitedAction`.
        let of_network = [
            limits.connect,
            limits.message_per_address,
            limits.message_bytes_per_address,
            limits.join_per_address,
            limits.report_per_address,
            limits.create_per_address,
        ];
        let of_player = [
            limits.find,
            limits.create,
            limits.join,
            limits.take_over,
            limits.change,
            limits.signal,
            limits.look,
            limits.report,
            limits.signal_bytes,
        ];
        ConnectionLimits {
            rates: KeyedRateLimiter::new(of_network, PREFIXES_MAX),
            places: ConcurrencyLimit::default(),
            reserve: ConcurrencyLimit::default(),
            players: KeyedRateLimiter::new(of_player, PLAYERS_MAX),
            connected: ConcurrencyLimit::default(),
            proven: BTreeMap::new(),
            proven_order: BTreeSet::new(),
            forget_at: None,
            exceeded: Exceeded::default(),
        }
    }

    pub(super) fn exceeded(&self) -> &Exceeded {
        &self.exceeded
    }

    /// Counts an excess found elsewhere.
    pub(super) fn exceed(&mut self, limit: LobbyLimit) {
        self.exceeded.count(limit);
    }

    /// Counts a connection, if one more is allowed.
    pub(super) fn connect(&mut self, now: Micros, address: IpAddr, rules: &Rules) -> Result<(), Rejection> {
        self.forget_at.get_or_insert(now + FORGET_EVERY);
        let (network, max) = (network(address), rules.connections_per_address_max);
        if !self.places.try_acquire(prefixes(network), usize::MAX, max) {
            self.exceed(LobbyLimit::Connections);
            let text = match self.places.held_by(network) {
                held if held >= max => format!(
                    "{held} connections from your network are open \
                 already; close one of them"
                ),
                _ => "too many connections from your provider's network are open; try again later".into(),
            };
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        self.count(now, network, Counted::Connect).map_err(|wait| {
            self.places.release(prefixes(network));
            too_fast(wait)
        })
    }

    /// Counts a connection in the reserve, if its network may have one more there.
    pub(super) fn take_reserve(&mut self, address: IpAddr, share: usize) -> bool {
        self.reserve.try_acquire(prefixes(network(address)), usize::MAX, share)
    }

    fn count(&mut self, now: Micros, network: u64, counted: Counted) -> Result<(), Micros> {
        let taken = self.rates.try_acquire(now, prefixes(network), &[(counted as usize, 1)]);
        taken.inspect_err(|_| self.exceeded.count(counted.limit()))
    }

    /// Records that a member of a room is connected from this address.
    pub(super) fn prove(&mut self, now: Micros, address: IpAddr) {
        let network = network(address);
        if self.proven.len() >= PROVEN_MAX && !self.proven.contains_key(&network) {
            let oldest = self.proven_order.pop_first();
            if let Some((_, oldest)) = oldest {
                self.proven.remove(&oldest);
            }
        }
        if let Some(before) = self.proven.insert(network, now) {
            self.proven_order.remove(&(before, network));
        }
        self.proven_order.insert((now, network));
        self.forget_at.get_or_insert(now + FORGET_EVERY);
    }

    /// Whether this address was proven lately.
    pub(super) fn is_proven(&self, now: Micros, address: IpAddr) -> bool {
        self.proven.get(&network(address)).is_some_and(|at| now.since(*at) < PROVEN_TTL)
    }

    /// Number of connections from the provider's network of this address.
    pub(super) fn weight(&self, address: IpAddr) -> usize {
        self.places.weight(network(address))
    }

    /// Which of these connections to close: see [`choose_evicted`].
    pub(super) fn making_way<T: Ord + Copy>(
        &self,
        weight_min: usize,
        held: impl Iterator<Item = (IpAddr, T)>,
        count: usize,
    ) -> Vec<T> {
        let held = held.map(|(address, held)| (network(address), held));
        choose_evicted(&self.places, weight_min, held, count)
    }

    /// Reverts what [`ConnectionLimits::connect`] counted.
    pub(super) fn disconnect(&mut self, address: IpAddr, in_reserve: bool) {
        if in_reserve {
            self.reserve.release(prefixes(network(address)));
        }
        self.places.release(prefixes(network(address)));
    }

    /// Counts a connection for its identified player.
    pub(super) fn identify(&mut self, player: PlayerId) {
        let _ = self.connected.try_acquire(once(player), usize::MAX, usize::MAX);
    }

    /// Reverts what [`ConnectionLimits::identify`] counted.
    pub(super) fn forget_identity(&mut self, player: PlayerId) {
        self.connected.release(once(player));
    }

    /// Number of connections of this player.
    pub(super) fn connections_of(&self, player: PlayerId) -> usize {
        self.connected.held(player)
    }

    /// Counts a message of any kind, or returns the limit it exceeds and how long to wait.
    pub(super) fn take_message(
        &mut self,
        now: Micros,
        address: IpAddr,
        bytes: u64,
    ) -> Result<(), (LobbyLimit, Micros)> {
        let (network, message) = (network(address), (Counted::Message as usize, 1));
        let charges = [message, (Counted::Bytes as usize, bytes)];
        let taken = self.rates.try_acquire(now, prefixes(network), &charges);
        taken.map_err(|wait| {
            let has_message = self.rates.retry_after(now, prefixes(network), &[message]) == Micros::ZERO;
            let counted = if has_message { Counted::Bytes } else { Counted::Message };
            (counted.limit(), wait)
        })
    }

    /// Counts an action of a player, or returns how long to wait.
    pub(super) fn take(
        &mut self,
        now: Micros,
        action: LimitedAction,
        player: PlayerId,
        address: IpAddr,
    ) -> Result<(), Rejection> {
        let taken = self.players.try_acquire(now, once(player), &[(action as usize, 1)]);
        taken.inspect_err(|_| self.exceeded.count(action.limit())).map_err(too_fast)?;
        // Signals are the most frequent action and have no limit per network.
        let counted = match action {
            LimitedAction::Create => Counted::Room,
            LimitedAction::Join => Counted::Join,
            LimitedAction::Report => Counted::Report,
            _ => return Ok(()),
        };
        self.count(now, network(address), counted).map_err(too_fast)
    }

    /// Counts the bytes of a signal, or returns how long to wait.
    pub(super) fn take_signal(&mut self, now: Micros, player: PlayerId, bytes: u32) -> Result<(), Rejection> {
        let taken = self.players.try_acquire(now, once(player), &[(SIGNAL_BYTES, bytes.into())]);
        taken.inspect_err(|_| self.exceeded.count(LobbyLimit::SignalBytes)).map_err(too_fast)
    }

    /// Charges a room that a search may create, if this address may create one more. Charged before
    /// the directory answers: many players may search at once.
    pub(super) fn charge_room(&mut self, now: Micros, address: IpAddr) -> Option<RoomCharge> {
        let network = network(address);
        self.count(now, network, Counted::Room).ok().map(|()| RoomCharge(network))
    }

    /// Refunds a room that was not needed.
    pub(super) fn refund_room(&mut self, RoomCharge(network): RoomCharge) {
        self.rates.refund(prefixes(network), (Counted::Room as usize, 1));
    }

    pub(super) fn due(&self) -> Option<Micros> {
        self.forget_at
    }

    /// Drops entries that no longer limit anything.
    pub(super) fn forget_idle(&mut self, now: Micros) {
        if self.forget_at.is_none_or(|at| at > now) {
            return;
        }
        self.players.evict_idle(now);
        self.rates.evict_idle(now);
        while let Some((at, network)) =
            self.proven_order.first().copied().filter(|(at, _)| now.since(*at) >= PROVEN_TTL)
        {
            self.proven_order.remove(&(at, network));
            self.proven.remove(&network);
        }
        let is_empty = self.players.is_empty() && self.rates.is_empty() && self.proven.is_empty();
        self.forget_at = (!is_empty).then(|| now + FORGET_EVERY);
    }
}

/// Groups addresses that belong together: an IPv6 household has a whole /64.
pub(super) fn place(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits() & !u128::from(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_household_is_one_group() {
        let place = |text: &str| place(text.parse().unwrap());
        assert_eq!(place("2001:db8::1"), place("2001:db8::ffff:2"));
        assert_ne!(place("2001:db8::1"), place("2001:db8:0:1::1"));
        assert_eq!(place("10.0.0.1"), place("::ffff:10.0.0.1"));
        assert_ne!(place("10.0.0.1"), place("10.0.0.2"));
    }

    #[test]
    fn connections_are_counted_and_given_back() {
        let rules = Rules { connections_per_address_max: 2, ..Rules::default() };
        let mut limits = ConnectionLimits::new(&rules);
        let (now, here) = (Micros::from_secs(1), "10.0.0.1".parse().unwrap());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert_eq!(limits.connect(now, here, &rules).unwrap_err().code, RejectionCode::TooMany);
        assert!(limits.connect(now, "10.0.0.2".parse().unwrap(), &rules).is_ok());
        limits.disconnect(here, false);
        assert!(limits.connect(now, here, &rules).is_ok());
    }

    #[test]
    fn idle_entries_are_dropped() {
        let rules = Rules::default();
        let mut limits = ConnectionLimits::new(&rules);
        let here = "10.0.0.1".parse().unwrap();
        limits.connect(Micros::ZERO, here, &rules).unwrap();
        for who in 0..100 {
            let player = PlayerId::from_bytes([who; 16]);
            limits.take(Micros::ZERO, LimitedAction::Find, player, here).unwrap();
        }
        limits.forget_idle(Micros::from_secs(30));
        assert_eq!((limits.players.len(), limits.rates.len()), (0, 0));
        limits.disconnect(here, false);
        limits.forget_idle(Micros::from_secs(60));
        assert_eq!((limits.rates.len(), limits.due()), (0, None));
    }
}
