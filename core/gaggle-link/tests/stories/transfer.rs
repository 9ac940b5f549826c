//! Speed of large messages, and their effect on game packets beside them. Deterministic: a change
//! shows as a failing number, without a quiet machine.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use crate::mesh::Mesh;
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Conditions};
use gaggle_link::{Channel, Transport};

const FRAME: Micros = Micros::new(16_667);

/// 4 Mbit/s with a queue of 64 KB and a round trip of 50 ms.
const NARROW: Conditions = Conditions {
    latency: Micros::from_millis(25),
    bytes_per_second: Some(500_000),
    queue_bytes: 64 * 1024,
    ..Conditions::PERFECT
};

struct Outcome {
    done: Micros,
    /// 95th percentile of the delay that game packets had beyond that of an empty path.
    added_p95: Micros,
    resent: u64,
}

/// Sends one large message beside a game that sends a packet per frame, and waits for it.
fn transfer(conditions: Conditions, bytes: usize, tick: Option<Micros>, seed: u64) -> Outcome {
    let mut mesh = Mesh::of(2, seed);
    mesh.tick = tick;
    mesh.world.set_all(conditions);
    let payload: Vec<u8> = (0..bytes).map(|n| (n * 7 + n / 256) as u8).collect();
    let (other, start) = (mesh.id(1), Micros::from_secs(2));
    let (mut next_frame, mut handed_over) = (Micros::ZERO, false);
    for _ in 0..1_200 {
        mesh.run(FRAME, |peer, now, link| {
            if peer == 1 || !link.peers().contains(&other) {
                return;
            }
            if now >= start && !handed_over {
                link.send(now, other, Channel::Reliable(1), &payload).unwrap();
                handed_over = true;
            }
            if now >= next_frame {
                let mut packet = [0; 40];
                packet[..8].copy_from_slice(&now.get().to_le_bytes());
                link.send(now, other, Channel::Unreliable, &packet).unwrap();
                next_frame = now + FRAME;
            }
        });
        if !mesh.got(1, Channel::Reliable(1)).is_empty() {
            break;
        }
    }
    let large = mesh.got(1, Channel::Reliable(1));
    assert_eq!(large.len(), 1, "seed {seed}: {:?}", mesh.links[0].stats(other));
    assert!(large[0].1 == payload, "seed {seed}: received and sent messages differ");
    let mut delays: [Vec<u64>; 2] = Default::default();
    for (at, bytes) in mesh.got(1, Channel::Unreliable) {
        let sent_at = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        delays[usize::from(sent_at >= start.get())].push(at.get() - sent_at);
    }
    delays.iter_mut().for_each(|delays| delays.sort_unstable());
    let [before, during] = delays;
    let added_p95 = during[during.len() * 95 / 100] - before[before.len() / 2];
    let resent = mesh.links[0].stats(other).unwrap().packets_resent;
    Outcome { done: large[0].0 - large[0].0.min(start), added_p95: Micros::new(added_p95), resent }
}

fn check(
    name: &str,
    conditions: Conditions,
    bytes: usize,
    tick: Option<Micros>,
    done_ms: u64,
    added_p95_ms: u64,
) {
    for seed in 0..8 {
        let outcome = transfer(conditions, bytes, tick, seed);
        let line = format!(
            "{name}, seed {seed}: done in {}, game packets {} later at p95, {} packets retransmitted",
            outcome.done, outcome.added_p95, outcome.resent
        );
        println!("{line}");
        assert!(outcome.done < Micros::from_millis(done_ms), "{line}");
        assert!(outcome.added_p95 < Micros::from_millis(added_p95_ms), "{line}");
    }
}

#[test]
fn megabyte_on_narrow_lossy_path_barely_delays_game() {
    let lossy = Conditions { loss: Chance::percent(5), ..NARROW };
    // Bandwidth alone takes 2.2 s.
    check("1 MB, 5 % loss", lossy, 1_000_000, None, 3_000, 16);
    // Both sides poll once per frame, which adds a frame of delay.
    check("1 MB, 5 % loss, polled once a frame", lossy, 1_000_000, Some(FRAME), 3_500, 34);
}

#[test]
fn snapshot_arrives_in_four_round_trips_of_open_path() {
    let far = Conditions::latency_ms(50);
    check("100 KB", far, 100_000, None, 400, 1);
    check("100 KB, polled once a frame", far, 100_000, Some(FRAME), 400, 1);
    check("100 KB, 5 % loss", Conditions { loss: Chance::percent(5), ..far }, 100_000, None, 700, 1);
    let wavering = Conditions { jitter: Micros::from_millis(20), ..far };
    check("100 KB, 20 ms jitter", wavering, 100_000, None, 1_200, 20);
}

#[test]
fn jitter_is_distinguished_from_queue() {
    let wavering = Conditions { jitter: Micros::from_millis(20), loss: Chance::percent(5), ..NARROW };
    // 2.2 s without jitter; 7 s if all of it were taken for a queue.
    check("1 MB, 20 ms jitter, 5 % loss", wavering, 1_000_000, None, 4_500, 30);
    let fast = Conditions { bytes_per_second: Some(2_500_000), jitter: Micros::from_millis(10), ..NARROW };
    check("4 MB, 20 Mbit/s, 10 ms jitter", fast, 4_000_000, None, 6_000, 15);
}

#[test]
fn path_that_drops_instead_of_queueing_is_not_flooded() {
    for queue_bytes in [8_000, 3_000] {
        let shallow = Conditions { queue_bytes, ..NARROW };
        let outcome = transfer(shallow, 1_000_000, None, 1);
        assert!(outcome.done < Micros::from_secs(4), "{}", outcome.done);
        // 930 packets are needed.
        assert!(outcome.resent < 300, "{} packets retransmitted", outcome.resent);
    }
}
