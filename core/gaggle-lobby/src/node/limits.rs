//! How much one address and one person may do, over all their connections.
//!
//! A guest's identity costs nothing to make, so what matters is counted per address as well.

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::Micros;

use super::too_fast;
use crate::id::PlayerId;
use crate::message::{Refusal, RefusalCode};
use crate::rate::Meter;
use crate::rules::{Rate, Rules};

/// How often meters that count nothing any more are thrown away.
const FORGET_EVERY: Micros = Micros::from_secs(30);

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
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
const SIGNAL_BYTES: usize = Doing::Report as usize + 1;

/// What addresses and people have done lately.
#[derive(Debug, Default)]
pub(super) struct Limits {
    addresses: BTreeMap<u128, AddressMeters>,
    people: BTreeMap<PlayerId, [Meter; 9]>,
    /// How many connections each person has.
    connected: BTreeMap<PlayerId, usize>,
    forget_at: Option<Micros>,
}

/// A room that was counted for an address and may turn out not to be needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoomAside(u128);

#[derive(Debug, Default)]
struct AddressMeters {
    connections: usize,
    connect: Meter,
    message: Meter,
    create: Meter,
    join: Meter,
    report: Meter,
}

impl Limits {
    /// Counts a connection, if there may be one more.
    pub(super) fn connect(&mut self, now: Micros, address: IpAddr, rules: &Rules) -> Result<(), Refusal> {
        self.forget_at.get_or_insert(now + FORGET_EVERY);
        let meters = self.addresses.entry(place(address)).or_default();
        if meters.connections >= rules.connections_per_address_max {
            let text = format!("{} connections from your address are enough", meters.connections);
            return Err(Refusal::new(RefusalCode::TooMany, text));
        }
        meters.connect.take(now, rules.rates.connect).map_err(too_fast)?;
        meters.connections += 1;
        Ok(())
    }

    /// Gives back what [`Limits::connect`] counted.
    pub(super) fn disconnect(&mut self, address: IpAddr) {
        if let Some(meters) = self.addresses.get_mut(&place(address)) {
            meters.connections = meters.connections.saturating_sub(1);
        }
    }

    /// Counts a connection of which it is known now whose it is.
    pub(super) fn identify(&mut self, player: PlayerId) {
        *self.connected.entry(player).or_default() += 1;
    }

    /// Gives back what [`Limits::identify`] counted.
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
    pub(super) fn take_message(&mut self, now: Micros, address: IpAddr, rate: Rate) -> Result<(), Micros> {
        if rate == Rate::UNLIMITED {
            return Ok(());
        }
        // Who is connected is counted already.
        let meters = self.addresses.get_mut(&place(address));
        meters.map_or(Ok(()), |meters| meters.message.take(now, rate))
    }

    /// Counts something somebody does, if it is not too often.
    pub(super) fn take(
        &mut self,
        now: Micros,
        doing: Doing,
        player: PlayerId,
        address: IpAddr,
        rules: &Rules,
    ) -> Result<(), Refusal> {
        let rates = &rules.rates;
        let rate = match doing {
            Doing::Find => rates.find,
            Doing::Create => rates.create,
            Doing::Join => rates.join,
            Doing::TakeOver => rates.take_over,
            Doing::Change => rates.change,
            Doing::Signal => rates.signal,
            Doing::Look => rates.look,
            Doing::Report => rates.report,
        };
        // Most servers are asked by people who are nowhere near a limit that is not even set.
        if rate != Rate::UNLIMITED {
            let meters = self.people.entry(player).or_default();
            meters[doing as usize].take(now, rate).map_err(too_fast)?;
        }
        // Signals, of which there are most, need no look at their address.
        let (meter, rate): (fn(&mut AddressMeters) -> &mut Meter, Rate) = match doing {
            Doing::Create => (|meters| &mut meters.create, rates.create_per_address),
            Doing::Join => (|meters| &mut meters.join, rates.join_per_address),
            Doing::Report => (|meters| &mut meters.report, rates.report_per_address),
            _ => return Ok(()),
        };
        let meters = self.addresses.entry(place(address)).or_default();
        meter(meters).take(now, rate).map_err(too_fast)
    }

    /// Counts the bytes of a signal, if they are not too many.
    pub(super) fn take_signal(
        &mut self,
        now: Micros,
        player: PlayerId,
        bytes: u32,
        rules: &Rules,
    ) -> Result<(), Refusal> {
        let rate = rules.rates.signal_bytes;
        if rate == Rate::UNLIMITED {
            return Ok(());
        }
        let meters = self.people.entry(player).or_default();
        meters[SIGNAL_BYTES].take_many(now, rate, bytes).map_err(too_fast)
    }

    /// Counts a room that somebody who looks for one may need, if one more may be made from their address. It is counted before the
    /// directory is asked: many may look at once, and its answers take their time.
    pub(super) fn set_room_aside(
        &mut self,
        now: Micros,
        address: IpAddr,
        rules: &Rules,
    ) -> Option<RoomAside> {
        let meters = self.addresses.entry(place(address)).or_default();
        meters.create.take(now, rules.rates.create_per_address).ok().map(|()| RoomAside(place(address)))
    }

    /// It was not needed.
    pub(super) fn give_room_back(&mut self, RoomAside(place): RoomAside, rules: &Rules) {
        if let Some(meters) = self.addresses.get_mut(&place) {
            meters.create.give_back(rules.rates.create_per_address);
        }
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
        self.addresses.retain(|_, meters| {
            meters.connections > 0
                || ![meters.connect, meters.message, meters.create, meters.join, meters.report]
                    .iter()
                    .all(|m| m.is_clear(now))
        });
        let is_empty = self.people.is_empty() && self.addresses.is_empty();
        self.forget_at = (!is_empty).then(|| now + FORGET_EVERY);
    }
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
        let mut limits = Limits::default();
        let rules = Rules { connections_per_address_max: 2, ..Rules::default() };
        let (now, here) = (Micros::from_secs(1), "10.0.0.1".parse().unwrap());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert!(limits.connect(now, here, &rules).is_ok());
        assert_eq!(limits.connect(now, here, &rules).unwrap_err().code, RefusalCode::TooMany);
        assert!(limits.connect(now, "10.0.0.2".parse().unwrap(), &rules).is_ok());
        limits.disconnect(here);
        assert!(limits.connect(now, here, &rules).is_ok());
    }

    #[test]
    fn what_counts_nothing_any_more_is_thrown_away() {
        let mut limits = Limits::default();
        let rules = Rules::default();
        let here = "10.0.0.1".parse().unwrap();
        limits.connect(Micros::ZERO, here, &rules).unwrap();
        for who in 0..100 {
            let player = PlayerId::from_bytes([who; 16]);
            limits.take(Micros::ZERO, Doing::Find, player, here, &rules).unwrap();
        }
        limits.forget_idle(Micros::from_secs(30));
        assert_eq!((limits.people.len(), limits.addresses.len()), (0, 1));
        limits.disconnect(here);
        limits.forget_idle(Micros::from_secs(60));
        assert_eq!((limits.addresses.len(), limits.due()), (0, None));
    }
}
