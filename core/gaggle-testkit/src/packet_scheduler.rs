//! Messages on their way between numbered peers, in virtual time: delay, jitter, loss, duplicates,
//! reordering and cut directions.
//!
//! Harnesses with a clock of their own call it; [`PacketPool`](crate::PacketPool) delivers in any
//! order. Absent: content of messages, links, clocks. Randomness is an argument of each call.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, Prng};

/// Conditions of the messages of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetConditions {
    /// Time every message takes.
    pub latency: Micros,
    /// Largest additional delay, drawn uniformly; datagrams may overtake each other.
    pub jitter: Micros,
    /// Datagrams lost, in thousandths.
    pub loss: u32,
    /// Datagrams that arrive twice, in thousandths.
    pub duplicate: u32,
    /// Messages delayed by [`LATE`] more, in thousandths.
    pub late: u32,
}

/// Extra time of a message that [`NetConditions::late`] picks.
pub const LATE: Micros = Micros::from_millis(60);

impl NetConditions {
    /// Conditions with this latency in milliseconds and no faults.
    #[must_use]
    pub const fn latency_ms(millis: u64) -> NetConditions {
        let latency = Micros::from_millis(millis);
        NetConditions { latency, jitter: Micros::ZERO, loss: 0, duplicate: 0, late: 0 }
    }
}

/// Delivery mode of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Delivery {
    /// May be lost, duplicated and overtaken.
    Datagram,
    /// Arrives once, in order; waits while its direction is cut.
    Ordered,
}

/// A message on its way, or at its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<M> {
    /// When it arrives.
    pub at: Micros,
    /// Index of the sender.
    pub from: usize,
    /// Index of the receiver.
    pub to: usize,
    /// Its delivery mode.
    pub delivery: Delivery,
    /// Content of the message.
    pub message: M,
}

/// One direction between two peers, where it differs from the others.
#[derive(Debug, Clone, Copy, Default)]
struct Direction {
    latency: Option<Micros>,
    ordered_delay: Micros,
    is_cut: bool,
    /// When the newest ordered message arrives.
    ordered_until: Micros,
}

/// Carries messages of any type between peers that are numbered from 0: see the module.
///
/// ```
/// use gaggle_kit::{Micros, Prng};
/// use gaggle_testkit::{Delivery, NetConditions, PacketScheduler};
///
/// let (mut net, mut random) = (PacketScheduler::default(), Prng::new(7));
/// net.set_conditions(NetConditions::latency_ms(20));
/// assert!(net.send(&mut random, Micros::ZERO, 0, 1, Delivery::Datagram, "hello"));
/// assert_eq!(net.poll(Micros::from_millis(19)), None);
/// assert_eq!(net.poll(Micros::from_millis(20)).map(|packet| packet.message), Some("hello"));
/// ```
#[derive(Debug, Clone)]
pub struct PacketScheduler<M> {
    conditions: NetConditions,
    directions: BTreeMap<(usize, usize), Direction>,
    /// By arrival; those that arrive together in the order in which they were sent.
    queue: VecDeque<Packet<M>>,
    /// Ordered messages of directions that are cut.
    held_back: VecDeque<Packet<M>>,
    lost: u64,
}

impl<M> Default for PacketScheduler<M> {
    fn default() -> PacketScheduler<M> {
        PacketScheduler {
            conditions: NetConditions::default(),
            directions: BTreeMap::new(),
            queue: VecDeque::new(),
            held_back: VecDeque::new(),
            lost: 0,
        }
    }
}

impl<M: Clone> PacketScheduler<M> {
    /// Sends a message under the conditions of its direction. False if it is lost for good.
    pub fn send(
        &mut self,
        random: &mut Prng,
        now: Micros,
        from: usize,
        to: usize,
        delivery: Delivery,
        message: M,
    ) -> bool {
        let direction = self.direction(from, to);
        let is_datagram = delivery == Delivery::Datagram;
        if direction.is_cut {
            self.lost += u64::from(is_datagram);
            if !is_datagram {
                self.held_back.push_back(Packet { at: now, from, to, delivery, message });
            }
            return !is_datagram;
        }
        let NetConditions { jitter, loss, duplicate, late, .. } = self.conditions;
        let latency = direction.latency.unwrap_or(self.conditions.latency);
        let copies = 1 + u32::from(is_datagram && duplicate > 0 && random.chance(duplicate, 1_000));
        let mut arrives = false;
        for _ in 0..copies {
            if is_datagram && random.chance(loss, 1_000) {
                self.lost += 1;
                continue;
            }
            let jitter = Micros::new(u64::from(random.below(jitter.get() as u32 + 1)));
            let is_late = late > 0 && random.chance(late, 1_000);
            let at = now + latency + jitter + if is_late { LATE } else { Micros::ZERO };
            self.schedule(at, from, to, delivery, message.clone());
            arrives = true;
        }
        arrives
    }
}

impl<M> PacketScheduler<M> {
    /// Schedules a message for this time; an ordered one arrives no earlier than those before it.
    pub fn schedule(&mut self, at: Micros, from: usize, to: usize, delivery: Delivery, message: M) {
        let mut at = at;
        if delivery == Delivery::Ordered {
            let direction = self.directions.entry((from, to)).or_default();
            at = (at + direction.ordered_delay).max(direction.ordered_until);
            direction.ordered_until = at;
        }
        let place = self.queue.iter().rev().take_while(|other| other.at > at).count();
        self.queue.insert(self.queue.len() - place, Packet { at, from, to, delivery, message });
    }

    /// The next message that has arrived by now.
    pub fn poll(&mut self, now: Micros) -> Option<Packet<M>> {
        self.queue.front().filter(|packet| packet.at <= now)?;
        self.queue.pop_front()
    }

    /// When the next message arrives.
    pub fn poll_timeout(&self) -> Option<Micros> {
        self.queue.front().map(|packet| packet.at)
    }

    /// Everything on its way, by arrival.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<M>> {
        self.queue.iter()
    }

    /// Conditions of all directions from now on. Messages on their way are not affected.
    pub fn set_conditions(&mut self, conditions: NetConditions) {
        self.conditions = conditions;
    }

    /// Sets a latency for one direction, or with `None` restores the common one.
    pub fn set_latency(&mut self, from: usize, to: usize, latency: Option<Micros>) {
        self.directions.entry((from, to)).or_default().latency = latency;
    }

    /// Latency of one direction.
    pub fn latency(&self, from: usize, to: usize) -> Micros {
        self.direction(from, to).latency.unwrap_or(self.conditions.latency)
    }

    /// Delays ordered messages of this direction by this much more.
    pub fn set_ordered_delay(&mut self, from: usize, to: usize, delay: Micros) {
        self.directions.entry((from, to)).or_default().ordered_delay = delay;
    }

    /// Delays ordered messages that are sent from now on until at least this time.
    pub fn hold_ordered_until(&mut self, from: usize, to: usize, until: Micros) {
        self.directions.entry((from, to)).or_default().ordered_until = until;
    }

    /// Cuts one direction: datagrams sent into it are lost, ordered messages wait until it is open
    /// again. Messages on their way arrive.
    pub fn set_cut(&mut self, now: Micros, from: usize, to: usize, is_cut: bool) {
        self.directions.entry((from, to)).or_default().is_cut = is_cut;
        let is_here = |packet: &Packet<M>| (packet.from, packet.to) == (from, to);
        if !is_cut && self.held_back.iter().any(is_here) {
            let (free, held_back) = std::mem::take(&mut self.held_back).into_iter().partition(is_here);
            self.held_back = held_back;
            let free: VecDeque<Packet<M>> = free;
            let at = now + self.latency(from, to);
            free.into_iter().for_each(|packet| self.schedule(at, from, to, packet.delivery, packet.message));
        }
    }

    /// Datagrams lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn direction(&self, from: usize, to: usize) -> Direction {
        self.directions.get(&(from, to)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Micros = Micros::from_millis(1);

    fn arrivals(conditions: NetConditions, delivery: Delivery, seed: u64) -> Vec<(Micros, u64)> {
        let (mut net, mut random) = (PacketScheduler::default(), Prng::new(seed));
        net.set_conditions(conditions);
        for number in 0..1_000 {
            net.send(&mut random, Micros::from_millis(number), 0, 1, delivery, number);
        }
        let end = Micros::from_secs(100);
        std::iter::from_fn(|| net.poll(end)).map(|packet| (packet.at, packet.message)).collect()
    }

    #[test]
    fn equal_seeds_deliver_equally() {
        let rough =
            NetConditions { jitter: MS, loss: 100, duplicate: 50, late: 20, ..NetConditions::latency_ms(5) };
        let run = |seed| arrivals(rough, Delivery::Datagram, seed);
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn loss_and_duplicates_take_their_share() {
        let lossy = NetConditions { loss: 200, ..NetConditions::latency_ms(5) };
        let arrived = arrivals(lossy, Delivery::Datagram, 1).len();
        assert!((750..850).contains(&arrived), "{arrived} of 1000");
        let doubled = NetConditions { duplicate: 200, ..NetConditions::latency_ms(5) };
        let arrived = arrivals(doubled, Delivery::Datagram, 1).len();
        assert!((1_150..1_250).contains(&arrived), "{arrived} of 1000");
    }

    #[test]
    fn jitter_reorders_datagrams_and_keeps_ordered_messages() {
        let rough = NetConditions {
            jitter: Micros::from_millis(30),
            loss: 300,
            duplicate: 300,
            late: 100,
            ..NetConditions::latency_ms(5)
        };
        let numbers = |delivery| arrivals(rough, delivery, 1).into_iter().map(|(_, number)| number);
        assert!(!numbers(Delivery::Datagram).is_sorted());
        assert!(numbers(Delivery::Ordered).eq(0..1_000));
        assert!(arrivals(rough, Delivery::Datagram, 1).is_sorted_by_key(|(at, _)| *at));
    }

    #[test]
    fn cut_direction_loses_datagrams_and_holds_ordered_messages() {
        let (mut net, mut random) = (PacketScheduler::default(), Prng::new(1));
        net.set_conditions(NetConditions::latency_ms(5));
        assert!(net.send(&mut random, Micros::ZERO, 0, 1, Delivery::Datagram, 'a'));
        net.set_cut(MS, 0, 1, true);
        assert!(!net.send(&mut random, MS, 0, 1, Delivery::Datagram, 'b'));
        assert!(net.send(&mut random, MS, 0, 1, Delivery::Ordered, 'c'));
        assert!(net.send(&mut random, MS, 1, 0, Delivery::Datagram, 'd'));
        let at = Micros::from_millis(50);
        let polled: Vec<char> = std::iter::from_fn(|| net.poll(at)).map(|packet| packet.message).collect();
        assert_eq!((polled, net.lost()), (vec!['a', 'd'], 1));
        net.set_cut(at, 0, 1, false);
        assert_eq!(net.poll_timeout(), Some(Micros::from_millis(55)));
        assert_eq!(net.poll(Micros::from_millis(55)).map(|packet| packet.message), Some('c'));
    }

    #[test]
    fn direction_settings_leave_other_directions_alone() {
        let (mut net, mut random) = (PacketScheduler::default(), Prng::new(1));
        net.set_conditions(NetConditions::latency_ms(5));
        net.set_latency(0, 1, Some(Micros::from_millis(9)));
        net.set_ordered_delay(1, 0, Micros::from_millis(2));
        net.hold_ordered_until(2, 0, Micros::from_millis(30));
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 0)] {
            net.send(&mut random, Micros::ZERO, from, to, Delivery::Ordered, ());
        }
        let times: Vec<(usize, usize, u64)> =
            net.iter().map(|packet| (packet.from, packet.to, packet.at.get() / 1_000)).collect();
        assert_eq!(times, [(1, 2, 5), (1, 0, 7), (0, 1, 9), (2, 0, 30)]);
    }
}
