//! The transport contract on the simulated network, with good and bad conditions.

use gaggle_kit::Micros;
use gaggle_link::contract::Harness;
use gaggle_link::sim::{Burst, Chance, Conditions, SimCarrier, SimNet};
use gaggle_link::{Carrier, Endpoint, LinkConditioner, LinkConfig};

struct Simulated<C> {
    world: SimNet,
    wrap: fn(SimCarrier, u64) -> C,
}

impl<C: Carrier> Harness for Simulated<C> {
    type Transport = Endpoint<C>;

    fn transports(&mut self) -> Vec<Endpoint<C>> {
        let link =
            |i| Endpoint::new((self.wrap)(self.world.carrier(i), i as u64), LinkConfig::default(), i as u64);
        (0..3).map(link).collect()
    }

    fn wait(&mut self) -> Micros {
        self.world.advance(Micros::from_millis(1));
        self.world.now()
    }
}

fn on(conditions: Conditions) -> Simulated<SimCarrier> {
    let world = SimNet::new(3, 11);
    world.set_all(conditions);
    Simulated { world, wrap: |carrier, _| carrier }
}

mod on_a_perfect_network {
    gaggle_link::contract!(super::on(super::Conditions::PERFECT));
}

mod on_a_bad_network {
    use super::*;

    gaggle_link::contract!(on(Conditions {
        latency: Micros::from_millis(40),
        jitter: Micros::from_millis(20),
        loss: Chance::percent(5),
        burst: Some(Burst::of(Chance::percent(2), 4)),
        duplicate: Chance::percent(5),
        reorder: Chance::percent(10),
        ..Conditions::PERFECT
    }));
}

mod on_a_narrow_network {
    use super::*;

    gaggle_link::contract!(on(Conditions {
        latency: Micros::from_millis(20),
        bytes_per_second: Some(500_000),
        ..Conditions::PERFECT
    }));
}

mod impaired {
    use super::*;

    fn stage() -> Simulated<LinkConditioner<SimCarrier>> {
        Simulated {
            world: SimNet::new(3, 12),
            wrap: |carrier, seed| {
                let settings = [("latency", "80"), ("jitter", "15"), ("loss", "3"), ("burst", "2")];
                LinkConditioner::new(
                    carrier,
                    Conditions::from_settings(settings).expect("these are settings"),
                    seed,
                )
            },
        }
    }

    gaggle_link::contract!(stage());
}

mod boxed {
    use super::*;

    fn stage() -> Simulated<Box<dyn Carrier>> {
        Simulated { world: SimNet::new(3, 13), wrap: |carrier, _| Box::new(carrier) }
    }

    gaggle_link::contract!(stage());
}
