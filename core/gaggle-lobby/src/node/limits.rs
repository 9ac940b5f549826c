//! How much one address and one person may do, over all their connections.
//!
//! A guest's identity costs nothing to make, so what matters is counted per address as well.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use gaggle_kit::Micros;

use super::too_fast;
use crate::id::PlayerId;
use crate::message::{Rejection, RejectionCode};
use crate::network_rates::{Charge, NetworkRates};
use crate::places::{ConcurrencyLimit, making_way, network};
use crate::rate::RateLimiter;
use crate::rules::{Limits, RateLimit, Rules};

/// How often meters that count nothing any more are thrown away.
const FORGET_EVERY: Micros = Micros::from_secs(30);

/// What is counted.
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

/// The place of a person's bytes of signals, after everything that is done.
const SIGNAL_BYTES: usize = LimitedAction::Report as usize + 1;

/// What is counted by network.
#[derive(Debug, Clone, Copy)]
enum Counted {
    Connect,
    Message,
    Bytes,
    Join,
    Report,
    Room,
}

const COUNTED: usize = Counted::Room as usize + 1;
/// Prefixes counted at a time: three for each of as many networks of IPv6 as have connections by
/// default.
const PREFIXES_MAX: usize = 65_536;
/// Networks remembered as proven. The one proven longest ago makes way.
const PROVEN_MAX: usize = 16_384;
/// A network is proven for this long after a member of a room was seen there.
const PROVEN_TTL: Micros = Micros::from_secs(24 * 3_600);

/// Entries of a leaderboard by default.
pub(super) const TOP_COUNT: u8 = 10;
/// Entries of a leaderboard at most.
pub(super) const TOP_COUNT_MAX: u8 = 100;

/// What networks and people have done lately.
#[derive(Debug)]
pub(super) struct ConnectionLimits {
    rates: NetworkRates<COUNTED>,
    /// Connections by network, and by the prefixes networks lie in.
    places: ConcurrencyLimit,
    /// Those of them that were given from the reserve.
    reserve: ConcurrencyLimit,
    people: BTreeMap<PlayerId, [RateLimiter; 9]>,
    /// How many connections each person has.
    connected: BTreeMap<PlayerId, usize>,
    /// Networks from which a member of a room was connected for a while, and when one was seen
    /// last.
    proven: BTreeMap<u64, Micros>,
    proven_order: BTreeSet<(Micros, u64)>,
    forget_at: Option<Micros>,
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            rates: NetworkRates::new(PREFIXES_MAX),
            places: ConcurrencyLimit::default(),
            reserve: ConcurrencyLimit::default(),
            people: BTreeMap::new(),
            connected: BTreeMap::new(),
            proven: BTreeMap::new(),
            proven_order: BTreeSet::new(),
            forget_at: None,
        }
    }
}

/// A room that was counted for an address and may turn out not to be needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoomCharge(u64);

impl ConnectionLimits {
    /// Counts a connection, if there may be one more.
    pub(super) fn connect(&mut self, now: Micros, address: IpAddr, rules: &Rules) -> Result<(), Rejection> {
        self.forget_at.get_or_insert(now + FORGET_EVERY);
        let (network, max) = (network(address), rules.connections_per_address_max);
        if !self.places.take(network, max) {
            let text = match self.places.held(network) {
                held if held >= max => format!("{held} connections from your address are enough"),
                _ => "there are enough connections from your provider's network".into(),
            };
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        self.count(now, network, Counted::Connect, rules.limits.connect).map_err(|wait| {
            self.places.give_back(network);
            too_fast(wait)
        })
    }

    /// Counts a connection in the reserve, if its network may have one more there.
    pub(super) fn take_reserve(&mut self, address: IpAddr, share: usize) -> bool {
        self.reserve.take(network(address), share)
    }

    fn count(&mut self, now: Micros, network: u64, counted: Counted, rate: RateLimit) -> Result<(), Micros> {
        self.rates.take(now, network, &[charge(counted, rate, 1)])
    }

    /// Remembers that a member of a room is connected from this address.
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

    /// Whether a member of a room was connected from this address lately.
    pub(super) fn is_proven(&self, now: Micros, address: IpAddr) -> bool {
        self.proven.get(&network(address)).is_some_and(|at| now.since(*at) < PROVEN_TTL)
    }

    /// How many connections the provider's network of this address has.
    pub(super) fn weight(&self, address: IpAddr) -> usize {
        self.places.weight(network(address))
    }

    /// Which of these connections make way: see [`making_way`].
    pub(super) fn making_way<T: Ord + Copy>(
        &self,
        weight_min: usize,
        held: impl Iterator<Item = (IpAddr, T)>,
        count: usize,
    ) -> Vec<T> {
        let held = held.map(|(address, held)| (network(address), held));
        making_way(&self.places, weight_min, held, count)
    }

    /// Gives back what [`ConnectionLimits::connect`] counted.
    pub(super) fn disconnect(&mut self, address: IpAddr, in_reserve: bool) {
        if in_reserve {
            self.reserve.give_back(network(address));
        }
        self.places.give_back(network(address));
    }

    /// Counts a connection of which it is known now whose it is.
    pub(super) fn identify(&mut self, player: PlayerId) {
        *self.connected.entry(player).or_default() += 1;
    }

    /// Gives back what [`ConnectionLimits::identify`] counted.
    pub(super) fn forget_identity(&mut self, player: PlayerId) {
        match self.connected.get_mut(&player) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.connected.remove(&player)),
        }
    }

    /// How many connections this person has.
    pub(super) fn connections_of(&self, player: PlayerId) -> usize {
        self.connected.get(&player).copied().unwrap_or(0)
    }

    /// Counts a message of any kind, or says how long to wait until one more is allowed.
    pub(super) fn take_message(
        &mut self,
        now: Micros,
        address: IpAddr,
        bytes: u32,
        rates: &Limits,
    ) -> Result<(), Micros> {
        if rates.message_per_address == RateLimit::UNLIMITED {
            return Ok(());
        }
        let charges = [
            charge(Counted::Message, rates.message_per_address, 1),
            charge(Counted::Bytes, rates.message_bytes_per_address, bytes),
        ];
        self.rates.take(now, network(address), &charges)
    }

    /// Counts something somebody does, if it is not too often.
    pub(super) fn take(
        &mut self,
        now: Micros,
        doing: LimitedAction,
        player: PlayerId,
        address: IpAddr,
        rules: &Rules,
    ) -> Result<(), Rejection> {
        let rates = &rules.limits;
        let rate = match doing {
            LimitedAction::Find => rates.find,
            LimitedAction::Create => rates.create,
            LimitedAction::Join => rates.join,
            LimitedAction::TakeOver => rates.take_over,
            LimitedAction::Change => rates.change,
            LimitedAction::Signal => rates.signal,
            LimitedAction::Look => rates.look,
            LimitedAction::Report => rates.report,
        };
        // Most servers are asked by people who are nowhere near a limit that is not even set.
        if rate != RateLimit::UNLIMITED {
            let meters = self.people.entry(player).or_default();
            meters[doing as usize].take(now, rate).map_err(too_fast)?;
        }
        // Signals, of which there are most, need no look at their address.
        let (counted, rate) = match doing {
            LimitedAction::Create => (Counted::Room, rates.create_per_address),
            LimitedAction::Join => (Counted::Join, rates.join_per_address),
            LimitedAction::Report => (Counted::Report, rates.report_per_address),
            _ => return Ok(()),
        };
        self.count(now, network(address), counted, rate).map_err(too_fast)
    }

    /// Counts the bytes of a signal, if they are not too many.
    pub(super) fn take_signal(
        &mut self,
        now: Micros,
        player: PlayerId,
        bytes: u32,
        rules: &Rules,
    ) -> Result<(), Rejection> {
        let rate = rules.limits.signal_bytes;
        if rate == RateLimit::UNLIMITED {
            return Ok(());
        }
        let meters = self.people.entry(player).or_default();
        meters[SIGNAL_BYTES].take_many(now, rate, bytes).map_err(too_fast)
    }

    /// Counts a room that somebody who looks for one may need, if one more may be made from their
    /// address. It is counted before the directory is asked: many may look at once, and its answers
    /// take their time.
    pub(super) fn set_room_aside(
        &mut self,
        now: Micros,
        address: IpAddr,
        rules: &Rules,
    ) -> Option<RoomCharge> {
        let network = network(address);
        let counted = self.count(now, network, Counted::Room, rules.limits.create_per_address);
        counted.ok().map(|()| RoomCharge(network))
    }

    /// It was not needed.
    pub(super) fn give_room_back(&mut self, RoomCharge(network): RoomCharge, rules: &Rules) {
        self.rates.give_back(network, charge(Counted::Room, rules.limits.create_per_address, 1));
    }

    pub(super) fn due(&self) -> Option<Micros> {
        self.forget_at
    }

    /// Throws away what makes no difference any more.
    pub(super) fn forget_idle(&mut self, now: Micros) {
        if self.forget_at.is_none_or(|at| at > now) {
            return;
        }
        self.people.retain(|_, meters| !meters.iter().all(|meter| meter.is_clear(now)));
        self.rates.forget_idle(now);
        while let Some((at, network)) =
            self.proven_order.first().copied().filter(|(at, _)| now.since(*at) >= PROVEN_TTL)
        {
            self.proven_order.remove(&(at, network));
            self.proven.remove(&network);
        }
        let is_empty = self.people.is_empty() && self.rates.is_empty() && self.proven.is_empty();
        self.forget_at = (!is_empty).then(|| now + FORGET_EVERY);
    }
}

fn charge(counted: Counted, rate: RateLimit, count: u32) -> Charge {
    Charge { kind: counted as usize, rate, count }
}

/// Addresses that belong to one place: of IPv6, a household has a whole /64.
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
    fn a_household_of_ipv6_is_one_place() {
        let place = |text: &str| place(text.parse().unwrap());
        assert_eq!(place("2001:db8::1"), place("2001:db8::ffff:2"));
        assert_ne!(place("2001:db8::1"), place("2001:db8:0:1::1"));
        assert_eq!(place("10.0.0.1"), place("::ffff:10.0.0.1"));
        assert_ne!(place("10.0.0.1"), place("10.0.0.2"));
    }

    #[test]
    fn connections_are_counted_and_given_back() {
        let mut limits = ConnectionLimits::default();
        let rules = Rules { connections_per_address_max: 2, ..Rules::default() };
        let (now, here) = (Micros::from_secs(1), "10.0.0.1".parse().unwrap());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert_eq!(limits.connect(now, here, &rules).unwrap_err().code, RejectionCode::TooMany);
        assert!(limits.connect(now, "10.0.0.2".parse().unwrap(), &rules).is_ok());
        limits.disconnect(here, false);
        assert!(limits.connect(now, here, &rules).is_ok());
    }

    #[test]
    fn what_counts_nothing_any_more_is_thrown_away() {
        let mut limits = ConnectionLimits::default();
        let rules = Rules::default();
        let here = "10.0.0.1".parse().unwrap();
        limits.connect(Micros::ZERO, here, &rules).unwrap();
        for who in 0..100 {
            let player = PlayerId::from_bytes([who; 16]);
            limits.take(Micros::ZERO, LimitedAction::Find, player, here, &rules).unwrap();
        }
        limits.forget_idle(Micros::from_secs(30));
        assert_eq!((limits.people.len(), limits.rates.len()), (0, 0));
        limits.disconnect(here, false);
        limits.forget_idle(Micros::from_secs(60));
        assert_eq!((limits.rates.len(), limits.due()), (0, None));
    }
}
