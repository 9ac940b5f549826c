//! Three transports under test, their events, and invariants that hold at every moment.
//!
//! Owned by [`Run`](super::Run). Absent: rules (`rules.rs`).

use std::fmt;

use gaggle_kit::{Micros, PeerId};

use crate::{Channel, DisconnectReason, Transport, TransportEvent};

/// Event of a transport, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Joined(PeerId),
    Left(PeerId, DisconnectReason),
    Message { from: PeerId, channel: Channel, bytes: Vec<u8> },
}

/// A violated rule, with an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

#[derive(Debug)]
pub(crate) struct Room<T> {
    transports: Vec<T>,
    told: Vec<Vec<Told>>,
    timeout: Micros,
    /// A peer whose program hangs: it is not polled.
    hangs: Option<usize>,
    /// Progress of the rule, and when it was reached.
    phase: u32,
    phase_at: Micros,
}

impl<T: Transport> Room<T> {
    pub(crate) fn new(transports: Vec<T>, timeout: Micros) -> Room<T> {
        let told = transports.iter().map(|_| Vec::new()).collect();
        Room { transports, told, timeout, hangs: None, phase: 0, phase_at: Micros::ZERO }
    }

    pub(crate) fn poll(&mut self, now: Micros) -> Result<(), Failure> {
        if self.transports.len() != 3 {
            return Err(self.failure(format!("{} transports instead of 3", self.transports.len())));
        }
        for index in 0..self.transports.len() {
            if self.hangs == Some(index) {
                continue;
            }
            while let Some(event) = self.transports[index].poll(now) {
                let told = match event {
                    TransportEvent::Connected { peer } => Told::Joined(peer),
                    TransportEvent::Disconnected { peer, reason } => Told::Left(peer, reason),
                    TransportEvent::Message { peer, channel, bytes } => {
                        Told::Message { from: peer, channel, bytes: bytes.to_vec() }
                    }
                };
                self.check(index, &told)?;
                self.told[index].push(told);
            }
        }
        Ok(())
    }

    /// Checks that a peer is connected before its messages and disconnected after them, and that no
    /// peer but the three appears.
    fn check(&self, index: usize, told: &Told) -> Result<(), Failure> {
        let (peer, what) = match told {
            Told::Joined(peer) => (*peer, "joined"),
            Told::Left(peer, _) => (*peer, "left"),
            Told::Message { from, .. } => (*from, "sent a message"),
        };
        let (me, before) = (self.id(index), self.joined_at(index, peer));
        let broken = if peer == me {
            "is the transport itself"
        } else if !self.transports.iter().any(|transport| transport.local_id() == peer) {
            "is unknown"
        } else if matches!(told, Told::Joined(_)) && before {
            "was connected already"
        } else if !matches!(told, Told::Joined(_)) && !before {
            "was not connected"
        } else {
            return Ok(());
        };
        Err(self.failure(format!("{me:?} reported that {peer:?} {what}, which {broken}")))
    }

    fn joined_at(&self, index: usize, peer: PeerId) -> bool {
        let last = self.told[index].iter().rev().find_map(|told| match told {
            Told::Joined(other) if *other == peer => Some(true),
            Told::Left(other, _) if *other == peer => Some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    pub(crate) fn transport(&self, index: usize) -> &T {
        &self.transports[index]
    }

    pub(crate) fn transport_mut(&mut self, index: usize) -> &mut T {
        &mut self.transports[index]
    }

    /// Events of a transport, in order.
    pub(crate) fn told(&self, index: usize) -> &[Told] {
        &self.told[index]
    }

    /// Events of all transports, by transport.
    pub(crate) fn all_told(&self) -> impl Iterator<Item = &[Told]> {
        self.told.iter().map(Vec::as_slice)
    }

    /// Timeout of the transports for a silent peer.
    pub(crate) fn timeout(&self) -> Micros {
        self.timeout
    }

    /// The program of a peer hangs from now on: its transport is not polled.
    pub(crate) fn hang(&mut self, index: usize) {
        self.hangs = Some(index);
    }

    /// Progress of the rule; 0 until its first step.
    pub(crate) fn phase(&self) -> u32 {
        self.phase
    }

    /// Progress of a rule that counts, without a new time for [`waited`](Room::waited).
    pub(crate) fn count_phases(&mut self, count: u32) {
        self.phase += count;
    }

    /// The time of [`waited`](Room::waited) begins now.
    pub(crate) fn wait_again(&mut self, now: Micros) {
        self.phase_at = now;
    }

    pub(crate) fn id(&self, index: usize) -> PeerId {
        self.transports[index].local_id()
    }

    pub(crate) fn all_joined(&self) -> bool {
        self.transports.iter().all(|transport| transport.peers().len() == 2)
    }

    /// Messages a transport received on a channel, in order.
    pub(crate) fn got(&self, index: usize, wanted: Channel) -> impl Iterator<Item = (PeerId, &[u8])> {
        self.told[index].iter().filter_map(move |told| match told {
            Told::Message { from, channel, bytes } if *channel == wanted => Some((*from, bytes.as_slice())),
            _ => None,
        })
    }

    /// Reasons for which a transport reported a peer as disconnected.
    pub(crate) fn left(&self, index: usize, peer: PeerId) -> Vec<DisconnectReason> {
        let reason = |told: &Told| match told {
            Told::Left(other, reason) if *other == peer => Some(*reason),
            _ => None,
        };
        self.told[index].iter().filter_map(reason).collect()
    }

    pub(crate) fn next_phase(&mut self, now: Micros) {
        self.phase += 1;
        self.phase_at = now;
    }

    /// Time since the current phase began.
    pub(crate) fn waited(&self, now: Micros) -> Micros {
        now.since(self.phase_at)
    }

    pub(crate) fn failure(&self, what: String) -> Failure {
        Failure(what)
    }

    pub(crate) fn expect(&self, holds: bool, what: &str) -> Result<(), Failure> {
        if holds { Ok(()) } else { Err(self.failure(what.to_string())) }
    }
}
