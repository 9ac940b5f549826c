//! Equal seeds give equal runs to the byte: ten minutes of eight peers on a network with every
//! impairment.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::{Burst, Chance, Conditions, NetChange, SimNet, SimStats};
use gaggle_link::{Channel, CloseCode, Endpoint, LinkConfig, Transport, TransportEvent};

const PEERS: usize = 8;

struct Outcome {
    log: u64,
    totals: SimStats,
    joined: u32,
    left: u32,
    messages: u64,
}

fn ten_minutes(seed: u64) -> Outcome {
    let mut world = SimNet::new(PEERS, seed);
    let mut random = Prng::new(seed);
    script(&world, &mut random);
    let mut links: Vec<_> =
        (0..PEERS).map(|i| Endpoint::new(world.carrier(i), LinkConfig::default(), seed ^ i as u64)).collect();
    let mut outcome = Outcome { log: 0, totals: SimStats::default(), joined: 0, left: 0, messages: 0 };
    let mut next_frame = [Micros::ZERO; PEERS];
    world.run_for(Micros::from_secs(600), |peer, now| {
        let link = &mut links[peer];
        while let Some(event) = link.poll(now) {
            match event {
                TransportEvent::Connected { .. } => outcome.joined += 1,
                TransportEvent::Disconnected { .. } => outcome.left += 1,
                TransportEvent::Message { .. } => outcome.messages += 1,
            }
        }
        if now >= next_frame[peer] {
            next_frame[peer] = now + Micros::from_millis(100);
            link.broadcast(now, Channel::Unreliable, &[peer as u8; 20]).unwrap();
            let others = link.peers().len() as u32;
            if others > 0 && random.chance(1, 20) {
                let other = link.peers()[random.below(others) as usize];
                let size = random.below(3_000) as usize;
                // Rejected if too much is queued already.
                _ = link.send(now, other, Channel::Reliable(random.below(3) as u8), &vec![7; size]);
            }
            if others > 0 && random.chance(1, 2_000) {
                let other = link.peers()[random.below(others) as usize];
                link.disconnect(now, other, CloseCode::LEAVING);
            }
        }
        link.poll_timeout().min(next_frame[peer])
    });
    outcome.log = world.log_hash();
    outcome.totals = world.totals();
    outcome
}

/// Every two seconds a condition changes for the worse or the better.
fn script(world: &SimNet, random: &mut Prng) {
    let pick = |random: &mut Prng| random.below(PEERS as u32) as usize;
    for second in (0..600).step_by(2) {
        let at = Micros::from_secs(second);
        let (from, to) = (pick(random), pick(random));
        let conditions = Conditions {
            latency: Micros::from_millis(u64::from(random.below(150))),
            jitter: Micros::from_millis(u64::from(random.below(40))),
            loss: Chance::percent(random.below(15)),
            burst: random.chance(1, 3).then(|| Burst::of(Chance::percent(20), 5)),
            duplicate: Chance::percent(random.below(5)),
            reorder: Chance::percent(random.below(10)),
            bytes_per_second: random.chance(1, 4).then_some(3_000),
            queue_bytes: 2_000,
            datagram_bytes_max: if random.chance(1, 10) { 500 } else { 1_500 },
            ..Conditions::PERFECT
        };
        world.schedule(
            at,
            match random.below(8) {
                0 => NetChange::Partition(vec![vec![0, 1, 2, from], vec![4, 5]]),
                1 => NetChange::Isolate(from),
                2 | 3 => NetChange::Heal,
                4 => NetChange::Drift { peer: from, ppm: random.range(-10_000..=10_000) },
                5 if from != to => NetChange::Disconnect(from, to),
                _ if from != to => NetChange::Direction { from, to, conditions },
                _ => NetChange::Everywhere(conditions),
            },
        );
        if from != to && random.chance(1, 2) {
            world.schedule(at + Micros::from_secs(1), NetChange::Connect(from, to));
        }
    }
}

#[test]
fn ten_minutes_of_chaos_are_repeatable() {
    let (first, second, other) = (ten_minutes(1), ten_minutes(1), ten_minutes(2));
    assert_eq!((first.log, first.totals, first.messages), (second.log, second.totals, second.messages));
    assert_ne!(first.log, other.log);
    let totals = first.totals;
    println!("{} datagrams, log {:016x}, {totals:?}", totals.sent, first.log);
    assert!(totals.sent > 100_000 && first.messages > 50_000, "{totals:?}");
    assert!(first.joined > 100 && first.left > 80, "{} connected, {} disconnected", first.joined, first.left);
    for lost in
        [totals.lost_random, totals.lost_burst, totals.lost_queue, totals.lost_too_large, totals.lost_cut]
    {
        assert!(lost > 50, "{totals:?}");
    }
}
