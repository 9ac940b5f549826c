//! The network of all matches: in memory, in virtual time, drawn from one seed.
//!
//! Losses are drawn per direction, frame and packet within the frame, and bursts and blackouts go
//! by time, so that every library meets the same. Traffic is counted before loss. Called by
//! `matches.rs` and links. Absent: links, encodings.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::chance::{draw, happens, unit};

/// Start of a frame at 60 Hz, in microseconds. Frames are 16,666⅔ µs: 12 of them are exactly the
/// 200 ms of ggrs's timers.
pub const fn frame_us(frame: u64) -> u64 {
    frame * 1_000_000 / 60
}

/// Frame that a time is in.
const fn frame_at(now_us: u64) -> u64 {
    // 59, because starts are rounded down and must not count to the frame before.
    (now_us * 60 + 59) / 1_000_000
}

/// Mean length of a burst of loss, in frames.
pub const BURST_FRAMES: f64 = 4.0;

/// Packets kept for reuse: more than are ever on their way in one direction.
const SPARE_PER_DIRECTION: usize = 64;

/// Conditions of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetConditions {
    /// Latency one way, in microseconds.
    pub latency_us: u64,
    /// Most additional latency, evenly distributed; packets can overtake each other.
    pub jitter_us: u64,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Share of time in which everything is lost, in bursts of [`BURST_FRAMES`] on average.
    pub burst_loss: f64,
}

impl NetConditions {
    /// A latency in frames and nothing else.
    pub fn latency(frames: u64) -> NetConditions {
        NetConditions { latency_us: frame_us(frames), ..NetConditions::default() }
    }

    /// Whether packets are only delayed.
    fn is_plain(&self) -> bool {
        self.jitter_us == 0 && self.loss == 0.0 && self.burst_loss == 0.0
    }

    /// The same with random loss.
    #[must_use]
    pub fn loss(self, loss: f64) -> NetConditions {
        NetConditions { loss, ..self }
    }

    /// The same with bursts of loss.
    #[must_use]
    pub fn bursts(self, burst_loss: f64) -> NetConditions {
        NetConditions { burst_loss, ..self }
    }
}

/// Traffic given to the socket by one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of payload, without headers of IP and UDP.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    weather: NetConditions,
    in_burst: bool,
    burst_drawn_to: u64,
    frame: u64,
    packets_in_frame: u64,
}

#[derive(Debug)]
struct InFlight<P> {
    arrives_us: u64,
    from: usize,
    packet: P,
}

/// All directions between all peers.
#[derive(Debug)]
pub struct Network<P> {
    peers: usize,
    seed: u64,
    now_us: u64,
    blackout: bool,
    directions: Vec<Direction>,
    inboxes: Vec<VecDeque<InFlight<P>>>,
    sent: Vec<Sent>,
    lost: u64,
    spare: Vec<P>,
}

impl<P> Network<P> {
    /// A network with the same conditions in all directions.
    pub fn new(peers: usize, weather: NetConditions, seed: u64) -> Network<P> {
        let mut network = Network {
            peers,
            seed,
            now_us: 0,
            blackout: false,
            directions: vec![Direction::default(); peers * peers],
            inboxes: (0..peers).map(|_| VecDeque::with_capacity(256)).collect(),
            sent: vec![Sent::default(); peers],
            lost: 0,
            spare: Vec::with_capacity(peers * peers * SPARE_PER_DIRECTION),
        };
        network.set_weather(weather);
        network
    }

    /// Sets the conditions of all directions.
    pub fn set_weather(&mut self, weather: NetConditions) {
        for direction in &mut self.directions {
            direction.weather = weather;
        }
    }

    /// Sets the conditions from one peer to another.
    pub fn set_weather_between(&mut self, from: usize, to: usize, weather: NetConditions) {
        self.directions[from * self.peers + to].weather = weather;
    }

    /// While on, all packets sent are lost; those on their way still arrive.
    pub fn set_blackout(&mut self, on: bool) {
        self.blackout = on;
    }

    /// Sets the time, also of the clock that libraries read.
    pub fn set_now(&mut self, now_us: u64) {
        self.now_us = now_us;
        instant::set_now(instant::Duration::from_micros(now_us));
    }

    /// Time in microseconds.
    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// Sends a packet from one peer to another.
    pub fn send(&mut self, from: usize, to: usize, bytes: usize, packet: P) {
        self.sent[from].packets += 1;
        self.sent[from].bytes += bytes as u64;
        let Some(delay_us) = self.delay(from, to) else {
            self.lost += 1;
            self.recycle(packet);
            return;
        };
        let arrives_us = self.now_us + delay_us;
        let inbox = &mut self.inboxes[to];
        let flying = InFlight { arrives_us, from, packet };
        match inbox.iter().rev().take_while(|other| other.arrives_us > arrives_us).count() {
            0 => inbox.push_back(flying),
            behind => inbox.insert(inbox.len() - behind, flying),
        }
    }

    /// Takes back a packet that was read, to reuse its memory.
    pub fn recycle(&mut self, packet: P) {
        if self.spare.len() < self.spare.capacity() {
            self.spare.push(packet);
        }
    }

    /// Next packet that has arrived, with its sender.
    pub fn receive(&mut self, to: usize) -> Option<(usize, P)> {
        let inbox = &mut self.inboxes[to];
        if inbox.front()?.arrives_us > self.now_us {
            return None;
        }
        inbox.pop_front().map(|arrived| (arrived.from, arrived.packet))
    }

    /// Traffic of this peer so far.
    pub fn sent(&self, peer: usize) -> Sent {
        self.sent[peer]
    }

    /// Packets lost so far, in all directions.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Delay of the next packet in microseconds, or none if it is lost.
    fn delay(&mut self, from: usize, to: usize) -> Option<u64> {
        let at = from * self.peers + to;
        let direction = &mut self.directions[at];
        if direction.weather.is_plain() && !self.blackout {
            return Some(direction.weather.latency_us);
        }
        let frame = frame_at(self.now_us);
        let seed = self.seed;
        if direction.frame != frame {
            direction.frame = frame;
            direction.packets_in_frame = 0;
        }
        direction.packets_in_frame += 1;
        let coordinates = [at as u64, frame, direction.packets_in_frame];
        let weather = direction.weather;
        if weather.burst_loss > 0.0 {
            direction.draw_bursts(frame, at as u64, seed);
        }
        let lost = self.blackout
            || (weather.burst_loss > 0.0 && direction.in_burst)
            || (weather.loss > 0.0 && happens(weather.loss, seed, coordinates));
        if lost {
            return None;
        }
        let jitter_us = match weather.jitter_us {
            0 => 0,
            most => (unit(draw(seed ^ 0x6a69_7474, coordinates)) * most as f64) as u64,
        };
        Some(weather.latency_us + jitter_us)
    }
}

impl Direction {
    /// Bursts start and end frame by frame, whether or not a packet is sent.
    fn draw_bursts(&mut self, frame: u64, at: u64, seed: u64) {
        let part = self.weather.burst_loss;
        let ends = 1.0 / BURST_FRAMES;
        let begins = part / (1.0 - part) * ends;
        while self.burst_drawn_to < frame {
            self.burst_drawn_to += 1;
            let turns = if self.in_burst { ends } else { begins };
            if happens(turns, seed ^ 0x6275_7273, [at, self.burst_drawn_to, 0]) {
                self.in_burst = !self.in_burst;
            }
        }
    }
}

impl Network<Vec<u8>> {
    /// Sends bytes, in memory that was used before.
    pub fn send_bytes(&mut self, from: usize, to: usize, bytes: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(bytes);
        self.send(from, to, bytes.len(), packet);
    }

    /// Replaces the buffer with the next datagram that has arrived. Returns its sender.
    pub fn receive_into(&mut self, to: usize, datagram: &mut Vec<u8>) -> Option<usize> {
        let (from, packet) = self.receive(to)?;
        datagram.clear();
        datagram.extend_from_slice(&packet);
        self.recycle(packet);
        Some(from)
    }
}

/// One peer's socket on the network.
#[derive(Debug)]
pub struct Socket<P> {
    network: Rc<RefCell<Network<P>>>,
    me: usize,
}

impl<P> Socket<P> {
    /// Socket of peer `me`.
    pub fn new(network: &Rc<RefCell<Network<P>>>, me: usize) -> Socket<P> {
        Socket { network: Rc::clone(network), me }
    }

    /// Sends from this peer, as [`Network::send`].
    pub fn send(&self, to: usize, bytes: usize, packet: P) {
        self.network.borrow_mut().send(self.me, to, bytes, packet);
    }

    /// Returns a buffer, as [`Network::recycle`].
    pub fn recycle(&self, packet: P) {
        self.network.borrow_mut().recycle(packet);
    }

    /// Next packet to this peer, as [`Network::receive`].
    pub fn receive(&self) -> Option<(usize, P)> {
        self.network.borrow_mut().receive(self.me)
    }

    /// Time in microseconds, as [`Network::now_us`].
    pub fn now_us(&self) -> u64 {
        self.network.borrow().now_us
    }
}

impl Socket<Vec<u8>> {
    /// Sends bytes from this peer, as [`Network::send_bytes`].
    pub fn send_bytes(&self, to: usize, bytes: &[u8]) {
        self.network.borrow_mut().send_bytes(self.me, to, bytes);
    }

    /// Next datagram to this peer, as [`Network::receive_into`].
    pub fn receive_into(&self, datagram: &mut Vec<u8>) -> Option<usize> {
        self.network.borrow_mut().receive_into(self.me, datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(weather: NetConditions, packets_per_frame: u64) -> (u64, Vec<u64>) {
        let mut network = Network::new(2, weather, 7);
        let mut arrived = Vec::new();
        for frame in 0..20_000 {
            network.set_now(frame_us(frame));
            for _ in 0..packets_per_frame {
                network.send(0, 1, 10, frame);
            }
            while let Some((from, sent_at)) = network.receive(1) {
                assert_eq!(from, 0);
                arrived.push(sent_at);
            }
        }
        (network.lost(), arrived)
    }

    #[test]
    fn latency_is_exact_in_frames() {
        let mut network = Network::new(2, NetConditions::latency(4), 1);
        network.send(1, 0, 3, "hello");
        for frame in 0..4 {
            network.set_now(frame_us(frame));
            assert_eq!(network.receive(0), None);
        }
        network.set_now(frame_us(4));
        assert_eq!(network.receive(0), Some((1, "hello")));
        assert_eq!(network.sent(1), Sent { packets: 1, bytes: 3 });
    }

    #[test]
    fn frame_starts_and_frames_agree() {
        assert!((0..100_000).all(|frame| frame_at(frame_us(frame)) == frame));
        assert_eq!(frame_us(12), 200_000);
    }

    #[test]
    fn loss_and_bursts_have_their_share() {
        let (lost, _) = run(NetConditions::latency(1).loss(0.2), 1);
        assert!((3_800..4_200).contains(&lost), "{lost}");
        let (lost, arrived) = run(NetConditions::latency(1).bursts(0.1), 1);
        assert!((1_600..2_400).contains(&lost), "{lost}");
        let gaps = arrived.windows(2).filter(|pair| pair[1] > pair[0] + 1).count() as f64;
        let mean = lost as f64 / gaps;
        assert!((3.5..4.5).contains(&mean), "bursts of {mean} frames");
    }

    #[test]
    fn peer_that_sends_more_meets_same_losses() {
        let (_, once) = run(NetConditions::latency(1).loss(0.1).bursts(0.1), 1);
        let (_, mut twice) = run(NetConditions::latency(1).loss(0.1).bursts(0.1), 2);
        twice.dedup();
        assert!(once.iter().all(|frame| twice.binary_search(frame).is_ok()));
        assert!(twice.len() > once.len());
    }

    #[test]
    fn jitter_lets_packets_overtake_and_keeps_them_all() {
        let weather = NetConditions { jitter_us: 60_000, ..NetConditions::latency(1) };
        let (lost, arrived) = run(weather, 1);
        assert_eq!(lost, 0);
        assert!(arrived.windows(2).any(|pair| pair[1] < pair[0]));
    }

    #[test]
    fn blackout_loses_sent_packets_and_not_those_on_their_way() {
        let mut network = Network::new(2, NetConditions::latency(2), 1);
        network.send(0, 1, 1, 'a');
        network.set_blackout(true);
        network.send(0, 1, 1, 'b');
        network.set_blackout(false);
        network.set_now(frame_us(2));
        assert_eq!(network.receive(1), Some((0, 'a')));
        assert_eq!(network.receive(1), None);
    }
}
