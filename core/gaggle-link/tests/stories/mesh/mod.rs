//! Linked peers on a simulated network, with the events of each.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use gaggle_kit::{Micros, PeerId};
use gaggle_link::sim::{SimCarrier, SimNet};
use gaggle_link::{Channel, DisconnectReason, Endpoint, LinkConfig, Transport, TransportEvent};

/// Event of one peer, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Joined(PeerId),
    Left(PeerId, DisconnectReason),
    Message { from: PeerId, channel: Channel, bytes: Vec<u8>, at: Micros },
}

pub struct Mesh {
    pub world: SimNet,
    pub links: Vec<Endpoint<SimCarrier>>,
    pub told: Vec<Vec<Told>>,
    /// Polling interval; none to poll whenever something arrives.
    pub tick: Option<Micros>,
}

impl Mesh {
    pub fn of(peers: usize, seed: u64) -> Mesh {
        Mesh::on(SimNet::new(peers, seed), &LinkConfig::default(), seed)
    }

    pub fn on(world: SimNet, config: &LinkConfig, seed: u64) -> Mesh {
        let link = |i| Endpoint::new(world.carrier(i), config.clone(), seed ^ (i as u64) << 32);
        let links = (0..world.peer_count()).map(link).collect();
        Mesh { links, told: vec![Vec::new(); world.peer_count()], world, tick: None }
    }

    pub fn id(&self, peer: usize) -> PeerId {
        self.world.id(peer)
    }

    pub fn run_ms(&mut self, millis: u64) -> &mut Mesh {
        self.run_with(Micros::from_millis(millis), Micros::MAX, |_, _, _| {})
    }

    /// Runs, and after each poll of a peer, at least every millisecond, calls `act` with its link.
    pub fn run(
        &mut self,
        span: Micros,
        act: impl FnMut(usize, Micros, &mut Endpoint<SimCarrier>),
    ) -> &mut Mesh {
        self.run_with(span, Micros::from_millis(1), act)
    }

    fn run_with(
        &mut self,
        span: Micros,
        act_every: Micros,
        mut act: impl FnMut(usize, Micros, &mut Endpoint<SimCarrier>),
    ) -> &mut Mesh {
        self.world.set_wake_on_arrival(self.tick.is_none());
        let (links, told, tick) = (&mut self.links, &mut self.told, self.tick);
        self.world.run_for(span, |peer, now| {
            let link = &mut links[peer];
            while let Some(event) = link.poll(now) {
                told[peer].push(match event {
                    TransportEvent::Connected { peer } => Told::Joined(peer),
                    TransportEvent::Disconnected { peer, reason } => Told::Left(peer, reason),
                    TransportEvent::Message { peer, channel, bytes } => {
                        Told::Message { from: peer, channel, bytes: bytes.to_vec(), at: now }
                    }
                });
            }
            act(peer, now, link);
            tick.map_or_else(|| link.poll_timeout().min(now.saturating_add(act_every)), |tick| now + tick)
        });
        self
    }

    /// Messages a peer received on a channel, with their times.
    pub fn got(&self, peer: usize, wanted: Channel) -> Vec<(Micros, &[u8])> {
        self.told[peer]
            .iter()
            .filter_map(|told| match told {
                Told::Message { channel, bytes, at, .. } if *channel == wanted => {
                    Some((*at, bytes.as_slice()))
                }
                _ => None,
            })
            .collect()
    }
}
