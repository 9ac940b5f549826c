//! A match: all peers of one library on one network, step by step.
//!
//! Called by `rows/`, `cost.rs`, `differential.rs` and tests. Absent: libraries, which are
//! contestants.

use std::cell::RefCell;
use std::rc::Rc;

use crate::contest::{Calls, Contestant, Setup, Step};
use crate::game::{Game, presses};
use crate::network::{NetConditions, Network, Sent, Socket, frame_us};

/// Frames of prepared inputs; longer matches repeat them.
const PRESSED_FRAMES: usize = 4_096;

/// Most steps of a handshake: ten seconds.
const HANDSHAKE_STEPS_MAX: usize = 600;

/// Figures of one peer over some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps taken by the peer.
    pub steps: u64,
    /// Steps in which the match advanced.
    pub advanced: u64,
    /// Steps in which the peer stalled.
    pub stalled: u64,
    /// Calls of its game.
    pub calls: Calls,
    /// Packets and bytes given to the socket.
    pub sent: Sent,
}

impl Tally {
    /// Sum over all peers.
    pub fn sum(tallies: &[Tally]) -> Tally {
        let mut sum = Tally::default();
        for tally in tallies {
            sum.steps += tally.steps;
            sum.advanced += tally.advanced;
            sum.stalled += tally.stalled;
            sum.calls.ticks += tally.calls.ticks;
            sum.calls.saves += tally.calls.saves;
            sum.calls.loads += tally.calls.loads;
            sum.sent.packets += tally.sent.packets;
            sum.sent.bytes += tally.sent.bytes;
        }
        sum
    }

    /// Frames resimulated after a rollback.
    pub fn resimulated(&self) -> u64 {
        self.calls.ticks - self.advanced
    }

    /// Percentage of steps that stalled.
    pub fn stalled_percent(&self) -> f64 {
        self.stalled as f64 * 100.0 / self.steps as f64
    }

    /// Packets per second at 60 steps per second.
    pub fn packets_per_second(&self) -> f64 {
        self.sent.packets as f64 * 60.0 / self.steps as f64
    }

    /// Bytes per second at 60 steps per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.sent.bytes as f64 * 60.0 / self.steps as f64
    }
}

/// All peers of one library on one network.
pub struct Match<C: Contestant> {
    network: Rc<RefCell<Network<C::Packet>>>,
    peers: Vec<C>,
    presses: Vec<Vec<<C::Game as Game>::Input>>,
    advanced: Vec<u64>,
    stalled: Vec<u64>,
    step: u64,
    base: Vec<Tally>,
}

impl<C: Contestant> Match<C> {
    /// Creates all peers and lets them shake hands on a network without loss, but with the given
    /// latency. All conditions hold from then on.
    ///
    /// # Panics
    /// If the handshake takes more than ten seconds.
    pub fn new(setup: &Setup, weather: NetConditions) -> Match<C> {
        // At least a frame of latency, so that all peers are ready in the same step.
        let clear =
            NetConditions { latency_us: weather.latency_us.max(frame_us(1)), ..NetConditions::default() };
        let network = Rc::new(RefCell::new(Network::new(setup.players, clear, setup.seed)));
        network.borrow_mut().set_now(0);
        let mut peers: Vec<C> =
            (0..setup.players).map(|me| C::join(setup, me, Socket::new(&network, me))).collect();
        let mut step = 0;
        // Counted because `all` would stop at the first that is not ready.
        while peers.iter_mut().filter_map(|peer| peer.ready().then_some(())).count() < setup.players {
            step += 1;
            assert!(step < HANDSHAKE_STEPS_MAX, "{}: the handshake takes more than ten seconds", C::NAME);
            network.borrow_mut().set_now(frame_us(step as u64));
        }
        network.borrow_mut().set_weather(weather);
        let mut fresh = Match {
            presses: (0..setup.players).map(|player| presses(PRESSED_FRAMES, player, setup.seed)).collect(),
            advanced: vec![0; setup.players],
            stalled: vec![0; setup.players],
            step: step as u64,
            base: vec![Tally::default(); setup.players],
            network,
            peers,
        };
        fresh.mark();
        fresh
    }

    /// One frame of all peers.
    pub fn step(&mut self) {
        self.step += 1;
        self.network.borrow_mut().set_now(frame_us(self.step));
        for (player, peer) in self.peers.iter_mut().enumerate() {
            let pressed = &self.presses[player];
            match peer.step(pressed[self.advanced[player] as usize % PRESSED_FRAMES]) {
                Step::Advanced => self.advanced[player] += 1,
                Step::Stalled => self.stalled[player] += 1,
            }
        }
    }

    /// Some frames of all peers.
    pub fn run(&mut self, frames: u64) {
        for _ in 0..frames {
            self.step();
        }
    }

    /// Steps so far, those of the handshake included.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Network, to change its conditions.
    pub fn network(&self) -> std::cell::RefMut<'_, Network<C::Packet>> {
        self.network.borrow_mut()
    }

    /// Peers, by slot.
    pub fn peers(&self) -> &[C] {
        &self.peers
    }

    /// Inputs of each player.
    pub fn presses(&self) -> &[Vec<<C::Game as Game>::Input>] {
        &self.presses
    }

    /// Starts the figures of [`Match::tallies`] anew.
    pub fn mark(&mut self) {
        self.base = self.totals();
    }

    /// Figures of each peer since the last [`Match::mark`].
    pub fn tallies(&self) -> Vec<Tally> {
        let since = |now: &Tally, then: &Tally| Tally {
            steps: now.steps - then.steps,
            advanced: now.advanced - then.advanced,
            stalled: now.stalled - then.stalled,
            calls: now.calls.since(then.calls),
            sent: Sent {
                packets: now.sent.packets - then.sent.packets,
                bytes: now.sent.bytes - then.sent.bytes,
            },
        };
        self.totals().iter().zip(&self.base).map(|(now, then)| since(now, then)).collect()
    }

    fn totals(&self) -> Vec<Tally> {
        let network = self.network.borrow();
        self.peers
            .iter()
            .enumerate()
            .map(|(peer, contestant)| Tally {
                steps: self.step,
                advanced: self.advanced[peer],
                stalled: self.stalled[peer],
                calls: contestant.stage().calls(),
                sent: network.sent(peer),
            })
            .collect()
    }
}
