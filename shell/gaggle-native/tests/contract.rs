//! The transport contract on real UDP sockets.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{Harness, SteppedClock};
use gaggle_link::sim::Conditions;
use gaggle_link::{Carrier, Endpoint, LinkConditioner, LinkConfig};
use gaggle_native::{Clock, RoomKey, UdpCarrier, UdpConfig};

struct Loopback<C> {
    clock: Clock,
    forgiving: SteppedClock,
    wrap: fn(UdpCarrier, u64) -> C,
}

impl<C> Loopback<C> {
    fn of(wrap: fn(UdpCarrier, u64) -> C) -> Loopback<C> {
        Loopback { clock: Clock::start(), forgiving: SteppedClock::default(), wrap }
    }
}

impl<C: Carrier> Harness for Loopback<C> {
    type Transport = Endpoint<C>;

    fn transports(&mut self) -> Vec<Endpoint<C>> {
        let key = RoomKey::random().unwrap();
        let bind = |n: u128| {
            let peer = PeerId::from_u128(0xfeed_0000 + n);
            UdpCarrier::bind("127.0.0.1:0".parse().unwrap(), peer, &key, UdpConfig::default()).unwrap()
        };
        let mut carriers: Vec<UdpCarrier> = (0..3).map(bind).collect();
        // All connect to all, so every pair connects from both sides at once.
        let addresses: Vec<_> = carriers.iter().map(|carrier| carrier.local_address().unwrap()).collect();
        for (index, carrier) in carriers.iter_mut().enumerate() {
            let others = addresses.iter().enumerate().filter(|(other, _)| *other != index);
            others.for_each(|(_, address)| carrier.connect(*address));
        }
        // Half of the default times or less, to shorten waiting for timeouts.
        let config = LinkConfig {
            heartbeat_interval: Micros::from_millis(250),
            timeout: self.timeout(),
            rtt_probe_interval: Micros::from_millis(500),
            // Enough for every rule, and sent soon on a busy machine.
            send_bytes_max: 1_100_000,
            ..LinkConfig::default()
        };
        let link = |(carrier, seed)| Endpoint::new((self.wrap)(carrier, seed), config.clone(), seed);
        carriers.into_iter().zip(1..).map(link).collect()
    }

    fn wait(&mut self) -> Micros {
        std::thread::sleep(Duration::from_millis(1));
        self.forgiving.look(self.clock.now())
    }

    fn timeout(&self) -> Micros {
        Micros::from_millis(1_500)
    }
}

mod on_loopback {
    use super::*;

    gaggle_link::contract!(Loopback::of(|carrier, _| carrier));
}

mod on_loopback_made_bad {
    use super::*;

    fn stage() -> Loopback<LinkConditioner<UdpCarrier>> {
        let wrap = |carrier, seed| {
            let settings = [("latency", "60"), ("jitter", "10"), ("loss", "3"), ("burst", "1")];
            LinkConditioner::new(carrier, Conditions::from_settings(settings).unwrap(), seed)
        };
        Loopback::of(wrap)
    }

    gaggle_link::contract!(stage());
}
