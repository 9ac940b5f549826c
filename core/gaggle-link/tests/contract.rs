//! The contract of transports, kept by links on the simulated network, good and bad.

use gaggle_kit::Micros;
use gaggle_link::contract::Stage;
use gaggle_link::sim::{Burst, Chance, Conditions, SimCarrier, World};
use gaggle_link::{Carrier, Impaired, Link, LinkConfig};

struct Simulated<C> {
    world: World,
    wrap: fn(SimCarrier, u64) -> C,
}

impl<C: Carrier> Stage for Simulated<C> {
    type Transport = Link<C>;

    fn transports(&mut self) -> Vec<Link<C>> {
        let link =
            |i| Link::new((self.wrap)(self.world.carrier(i), i as u64), LinkConfig::default(), i as u64);
        (0..3).map(link).collect()
    }

    fn wait(&mut self) -> Micros {
        self.world.advance(Micros::from_millis(1));
        self.world.now()
    }
}

fn on(conditions: Conditions) -> Simulated<SimCarrier> {
    let world = World::of(3, 11);
    world.everywhere(conditions);
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

    fn stage() -> Simulated<Impaired<SimCarrier>> {
        Simulated {
            world: World::of(3, 12),
            wrap: |carrier, seed| {
                let settings = [("latency", "80"), ("jitter", "15"), ("loss", "3"), ("burst", "2")];
                Impaired::new(carrier, Conditions::from_settings(settings).expect("these are settings"), seed)
            },
        }
    }

    gaggle_link::contract!(stage());
}

mod boxed {
    use super::*;

    fn stage() -> Simulated<Box<dyn Carrier>> {
        Simulated { world: World::of(3, 13), wrap: |carrier, _| Box::new(carrier) }
    }

    gaggle_link::contract!(stage());
}
