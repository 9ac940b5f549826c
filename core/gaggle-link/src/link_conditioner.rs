//! Network impairment for any carrier.
//!
//! Used by [`MultipathMesh`](crate::MultipathMesh) and tests. Absent: kinds of impairment
//! (`sim/conditions.rs`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gaggle_kit::{Micros, PeerId, Prng};

use crate::sim::Conditions;
use crate::sim::shaper::{Fate, Shaper};
use crate::{Carrier, CarrierEvent, DATAGRAM_BYTES_MAX, WouldBlock};

/// Delayed datagrams at a time. Further ones are lost, as in a router.
const DELAYED_MAX: usize = 16_384;

/// A carrier that delays, loses, doubles and reorders what is sent through it. Received datagrams
/// pass unchanged: to impair both directions, wrap both sides.
///
/// ```
/// use gaggle_link::sim::{Conditions, SimNet};
/// use gaggle_link::{LinkConditioner, Endpoint, LinkConfig};
///
/// let world = SimNet::new(2, 1);
/// // As from `?latency=200&loss=5` in the address of a page.
/// let settings = [("latency", "200"), ("loss", "5")];
/// let conditions = Conditions::from_settings(settings).unwrap();
/// let carrier = LinkConditioner::new(world.carrier(0), conditions, 7);
/// let link = Endpoint::new(carrier, LinkConfig::default(), 1);
/// # _ = link;
/// ```
#[derive(Debug)]
pub struct LinkConditioner<C> {
    carrier: C,
    conditions: Conditions,
    seed: u64,
    /// One per destination, sorted by peer.
    shapers: Vec<(PeerId, Shaper)>,
    /// Due datagrams: time, a counter that keeps the order, and index in `delayed`.
    agenda: BinaryHeap<Reverse<(Micros, u64, usize)>>,
    count: u64,
    delayed: Vec<(PeerId, Vec<u8>)>,
    free: Vec<usize>,
    /// Peers to close once earlier datagrams were passed on.
    closing: Vec<(PeerId, Micros)>,
}

impl<C: Carrier> LinkConditioner<C> {
    /// Wraps a carrier. Equal seeds and calls give equal losses and delays.
    pub fn new(carrier: C, conditions: Conditions, seed: u64) -> LinkConditioner<C> {
        LinkConditioner {
            carrier,
            conditions,
            seed,
            shapers: Vec::new(),
            agenda: BinaryHeap::new(),
            count: 0,
            delayed: Vec::new(),
            free: Vec::new(),
            closing: Vec::new(),
        }
    }

    /// Changes the impairment of datagrams sent from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
        self.shapers.iter_mut().for_each(|(_, shaper)| shaper.set_conditions(conditions));
    }

    /// The wrapped carrier.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// The wrapped carrier, for example to connect to peers.
    pub fn carrier_mut(&mut self) -> &mut C {
        &mut self.carrier
    }

    fn shaper(&mut self, peer: PeerId) -> &mut Shaper {
        let (conditions, seed) = (self.conditions, self.seed);
        let index = self.shapers.binary_search_by_key(&peer, |(peer, _)| *peer).unwrap_or_else(|index| {
            let number = peer.to_u128();
            let random = Prng::stream(seed, (number >> 64) as u64 ^ number as u64);
            self.shapers.insert(index, (peer, Shaper::new(conditions, random)));
            index
        });
        &mut self.shapers[index].1
    }

    fn delay(&mut self, at: Micros, to: PeerId, datagram: &[u8]) {
        if self.agenda.len() >= DELAYED_MAX {
            return;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.delayed.push((to, Vec::with_capacity(DATAGRAM_BYTES_MAX)));
            self.free.reserve(self.delayed.len());
            self.delayed.len() - 1
        });
        let (peer, bytes) = &mut self.delayed[index];
        *peer = to;
        bytes.clear();
        bytes.extend_from_slice(datagram);
        self.count += 1;
        self.agenda.push(Reverse((at, self.count, index)));
    }

    /// Passes on datagrams that are due.
    fn pass_on(&mut self, now: Micros) {
        while let Some(Reverse((_, _, index))) =
            self.agenda.peek().copied().filter(|Reverse(due)| due.0 <= now)
        {
            self.agenda.pop();
            let (peer, bytes) = &self.delayed[index];
            // If the carrier is busy by then, the datagram is lost, as on a bad network.
            _ = self.carrier.send(now, *peer, bytes);
            self.free.push(index);
        }
        while let Some(index) = self.closing.iter().position(|(_, at)| *at <= now) {
            let (peer, _) = self.closing.swap_remove(index);
            self.carrier.close(now, peer);
        }
    }

    fn is_closing(&self, peer: PeerId) -> bool {
        self.closing.iter().any(|(closing, _)| *closing == peer)
    }
}

impl<C: Carrier> Carrier for LinkConditioner<C> {
    fn local_id(&self) -> PeerId {
        self.carrier.local_id()
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        if self.is_closing(to) {
            return Ok(());
        }
        if self.conditions == Conditions::PERFECT && self.agenda.is_empty() {
            return self.carrier.send(now, to, datagram);
        }
        if self.conditions.is_blocked {
            return Err(WouldBlock);
        }
        if let Fate::Arrives { at, again_at } = self.shaper(to).send(now, datagram.len()) {
            self.delay(at, to, datagram);
            if let Some(at) = again_at {
                self.delay(at, to, datagram);
            }
        }
        self.pass_on(now);
        Ok(())
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.pass_on(now);
        loop {
            let event = self.carrier.poll(now, datagram)?;
            match event {
                CarrierEvent::Opened { peer } => self.closing.retain(|(closing, _)| *closing != peer),
                CarrierEvent::Datagram { peer } | CarrierEvent::Rerouted { peer }
                    if self.is_closing(peer) =>
                {
                    continue;
                }
                CarrierEvent::Closed { peer } if self.is_closing(peer) => {
                    self.closing.retain(|(closing, _)| *closing != peer);
                    continue;
                }
                _ => {}
            }
            return Some(event);
        }
    }

    fn poll_timeout(&self) -> Micros {
        let due = self.agenda.peek().map_or(Micros::MAX, |Reverse(due)| due.0);
        let closing = self.closing.iter().map(|(_, at)| *at).fold(Micros::MAX, Micros::min);
        self.carrier.poll_timeout().min(due).min(closing)
    }

    fn dropped(&self) -> u64 {
        self.carrier.dropped()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        let last = self
            .agenda
            .iter()
            .filter(|Reverse(due)| self.delayed[due.2].0 == peer)
            .map(|Reverse(due)| due.0)
            .max();
        match last {
            Some(at) => self.closing.push((peer, at)),
            None => self.carrier.close(now, peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Chance, SimCarrier, SimNet};

    fn pair(conditions: Conditions) -> (SimNet, LinkConditioner<SimCarrier>, SimCarrier) {
        let world = SimNet::new(2, 1);
        let (a, mut b) = (LinkConditioner::new(world.carrier(0), conditions, 1), world.carrier(1));
        b.poll(Micros::ZERO, &mut Vec::new());
        (world, a, b)
    }

    fn arrivals(
        a: &mut LinkConditioner<SimCarrier>,
        b: &mut SimCarrier,
        world: &SimNet,
        millis: u64,
    ) -> Vec<(u64, u8)> {
        let (mut arrivals, mut datagram) = (Vec::new(), Vec::new());
        for _ in 0..millis {
            world.advance(Micros::from_millis(1));
            let now = world.now();
            while a.poll(now, &mut datagram).is_some() {}
            world.advance(Micros::ZERO);
            while b.poll(now, &mut datagram).is_some() {
                arrivals.push((now.as_millis(), datagram[0]));
            }
        }
        arrivals
    }

    #[test]
    fn datagrams_arrive_later_and_fewer() {
        let conditions = Conditions {
            latency: Micros::from_millis(10),
            loss: Chance::percent(30),
            ..Conditions::default()
        };
        let (world, mut a, mut b) = pair(conditions);
        (0..100).for_each(|n| a.send(Micros::ZERO, world.id(1), &[n]).unwrap());
        assert_eq!(a.poll_timeout(), Micros::from_millis(10));
        let came = arrivals(&mut a, &mut b, &world, 20);
        assert!((55..=85).contains(&came.len()), "{} of 100", came.len());
        assert!(came.iter().all(|(at, _)| *at == 10));
        assert!(came.is_sorted_by_key(|(_, n)| *n), "the order is preserved");
    }

    #[test]
    fn closing_waits_for_earlier_datagrams() {
        let (world, mut a, mut b) = pair(Conditions::latency_ms(10));
        let other = world.id(1);
        a.send(Micros::ZERO, other, b"\x01last words").unwrap();
        a.close(Micros::ZERO, other);
        a.send(Micros::ZERO, other, b"\x02too late").unwrap();
        b.send(Micros::ZERO, world.id(0), b"\x03not received").unwrap();
        world.advance(Micros::from_millis(1));
        let mut datagram = Vec::new();
        assert!(matches!(a.poll(world.now(), &mut datagram), Some(CarrierEvent::Opened { .. })));
        // Reopened after it was closed, as far as this carrier knows: close it again.
        a.close(world.now(), other);
        assert_eq!(a.poll(world.now(), &mut datagram), None);
        assert_eq!(arrivals(&mut a, &mut b, &world, 20), [(10, 1)]);
        b.send(world.now(), world.id(0), b"\x04to a closed peer").unwrap();
        arrivals(&mut a, &mut b, &world, 20);
        assert_eq!(world.totals().lost_closed, 1);
    }
}
