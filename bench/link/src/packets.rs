//! Packets through encoding, simulated network and decoding, on one core.
//!
//! `main` and `instructions` run the pairs. Absent: transfers.

use bench_report::{Allocations, Report, Row, cpu_time, median};
use gaggle_kit::Micros;
use gaggle_link::sim::{Conditions, SimCarrier, SimNet};
use gaggle_link::{Channel, Endpoint, LinkConfig, Transport, TransportEvent};

/// Bytes of a message: a large packet of a running game.
const MESSAGE_BYTES: usize = 60;
/// Messages per peer and millisecond: with 50 ms of latency, thousands are under way.
const PER_MILLISECOND: u64 = 20;

/// Kind of message the peers send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Unreliable,
    Reliable,
}

impl Load {
    pub(crate) const ALL: [Load; 2] = [Load::Unreliable, Load::Reliable];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Load::Unreliable => "unreliable",
            Load::Reliable => "reliable",
        }
    }

    fn channel(self) -> Channel {
        match self {
            Load::Unreliable => Channel::Unreliable,
            Load::Reliable => Channel::Reliable(0),
        }
    }
}

/// Two peers that send each other as much as they can, in virtual time.
pub(crate) struct Pair {
    world: SimNet,
    links: [Endpoint<SimCarrier>; 2],
    load: Load,
    received: u64,
}

impl Pair {
    pub(crate) fn new(load: Load) -> Pair {
        let world = SimNet::new(2, 1);
        world.set_all(Conditions::latency_ms(50));
        let links = [0, 1].map(|peer| Endpoint::new(world.carrier(peer), LinkConfig::default(), peer as u64));
        let mut pair = Pair { world, links, load, received: 0 };
        // Connects both and lets all buffers grow to their final size.
        pair.run(200_000);
        pair
    }

    /// Runs until this many more messages have arrived.
    pub(crate) fn run(&mut self, messages: u64) {
        let until = self.received + messages;
        let message = [7; MESSAGE_BYTES];
        let ids = [self.world.id(0), self.world.id(1)];
        while self.received < until {
            self.world.advance(Micros::from_millis(1));
            let now = self.world.now();
            for (peer, link) in self.links.iter_mut().enumerate() {
                while let Some(event) = link.poll(now) {
                    self.received += u64::from(matches!(event, TransportEvent::Message { .. }));
                }
                for _ in 0..PER_MILLISECOND {
                    // Rejected before the peers are connected, and while the window is full.
                    _ = link.send(now, ids[1 - peer], self.load.channel(), &message);
                }
            }
        }
    }
}

pub(crate) fn rows(report: &mut Report) {
    const MESSAGES: u64 = 1_000_000;
    report.section("Two peers, virtual time, one core");
    for load in Load::ALL {
        let mut pair = Pair::new(load);
        let mut per_second = Vec::with_capacity(5);
        let before = Allocations::now();
        for _ in 0..5 {
            let start = cpu_time();
            pair.run(MESSAGES);
            per_second.push(MESSAGES as f64 / (cpu_time() - start).as_secs_f64());
        }
        let allocations = Allocations::now().since(before).count as f64 / (5 * MESSAGES) as f64;
        let name = format!("{} messages of {MESSAGE_BYTES} B, sent, simulated, received", load.name());
        let rate = Row::new(name, "1/s").gaggle(median(&per_second));
        // The target is for unreliable messages; reliable ones share their packets.
        report.row(if load == Load::Unreliable { rate.at_least(1_000_000.0) } else { rate });
        let name = format!("allocations per {} message", load.name());
        report.row(Row::new(name, "").gaggle(allocations).at_most(0.0));
    }
}
