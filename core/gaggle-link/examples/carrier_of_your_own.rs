//! A custom [`Carrier`](gaggle_link::Carrier), here through queues in memory, and the contract that
//! tests it.
//!
//! Anything that can move a datagram to a named peer becomes a transport for every engine with
//! these five functions: a serial line, a platform's friends service, a test. `cargo run -p
//! gaggle-link --example carrier_of_your_own` runs the whole contract on it, and
//! `tests/carrier_of_your_own.rs` makes a test of each rule.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{Harness, Rule, run};
use gaggle_link::{Carrier, CarrierEvent, Endpoint, LinkConfig, WouldBlock};

/// Datagrams in flight to each peer, with their senders. A real carrier has a socket instead.
type Post = Rc<RefCell<BTreeMap<PeerId, VecDeque<(PeerId, Vec<u8>)>>>>;

/// Queued datagrams per peer; beyond that, sending reports backpressure.
const WAITING_MAX: usize = 256;

pub(crate) struct Queues {
    me: PeerId,
    post: Post,
    /// Events not polled yet: every peer is reachable from the start.
    told: Vec<CarrierEvent>,
    closed: Vec<PeerId>,
}

impl Carrier for Queues {
    fn local_id(&self) -> PeerId {
        self.me
    }

    fn send(&mut self, _: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let mut post = self.post.borrow_mut();
        let waiting = post.entry(to).or_default();
        if waiting.len() >= WAITING_MAX {
            return Err(WouldBlock);
        }
        waiting.push_back((self.me, datagram.to_vec()));
        Ok(())
    }

    fn poll(&mut self, _: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        if let Some(event) = self.told.pop() {
            return Some(event);
        }
        loop {
            let (peer, bytes) = self.post.borrow_mut().get_mut(&self.me)?.pop_front()?;
            if !self.closed.contains(&peer) {
                *datagram = bytes;
                return Some(CarrierEvent::Datagram { peer });
            }
        }
    }

    fn poll_timeout(&self) -> Micros {
        // Only an arrival changes anything here.
        Micros::MAX
    }

    fn close(&mut self, _: Micros, peer: PeerId) {
        self.closed.push(peer);
    }
}

/// Three peers and a clock, as the contract requires.
#[derive(Default)]
pub(crate) struct Three {
    now: Micros,
}

impl Harness for Three {
    type Transport = Endpoint<Queues>;

    fn transports(&mut self) -> Vec<Endpoint<Queues>> {
        let (peers, post) = ([1, 2, 3].map(PeerId::from_u128), Post::default());
        let carrier = |me: PeerId| {
            let others = peers.into_iter().filter(|peer| *peer != me);
            let told = others.map(|peer| CarrierEvent::Opened { peer }).collect();
            Queues { me, post: Rc::clone(&post), told, closed: vec![] }
        };
        peers.map(|me| Endpoint::new(carrier(me), LinkConfig::default(), me.to_u128() as u64)).into()
    }

    fn wait(&mut self) -> Micros {
        self.now += Micros::from_millis(1);
        self.now
    }

    fn timeout(&self) -> Micros {
        LinkConfig::default().timeout
    }
}

fn main() -> ExitCode {
    let mut ended = ExitCode::SUCCESS;
    for point in Rule::ALL {
        match run(point, Three::default()) {
            Ok(()) => println!("kept    {point:?}"),
            Err(failure) => {
                println!("BROKEN  {point:?}: {failure}");
                ended = ExitCode::FAILURE;
            }
        }
    }
    ended
}
