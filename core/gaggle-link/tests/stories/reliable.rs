//! Reliable streams on bad networks: every message exactly once, in order within its stream.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use crate::mesh::{Mesh, Told};
use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::{Burst, Chance, Conditions};
use gaggle_link::{Channel, LinkConfig, SendError, Transport, TransportEvent};

const TERRIBLE: Conditions = Conditions {
    latency: Micros::from_millis(30),
    jitter: Micros::from_millis(20),
    loss: Chance::percent(20),
    duplicate: Chance::percent(10),
    reorder: Chance::percent(20),
    reorder_by: Micros::from_millis(60),
    ..Conditions::PERFECT
};

/// A message that names sender, stream and number, followed by bytes derived from them.
fn message(from: usize, stream: u8, count: u32, size: usize) -> Vec<u8> {
    let mut bytes = vec![from as u8, stream];
    bytes.extend(count.to_le_bytes());
    bytes.extend((0..size).map(|n| (n as u32 ^ count) as u8 ^ stream));
    bytes
}

/// Two peers exchange messages of all sizes on five streams on a bad network that heals.
fn exactly_once(conditions: Conditions, seed: u64) -> Mesh {
    let mut mesh = Mesh::of(2, seed);
    mesh.world.set_all(conditions);
    let mut random = Prng::new(seed);
    let mut sent: [Vec<Vec<u8>>; 2] = Default::default();
    let ids = [mesh.id(0), mesh.id(1)];
    let mut next_at = [Micros::ZERO; 2];
    mesh.run(Micros::from_secs(20), |peer, now, link| {
        let other = ids[1 - peer];
        if now < next_at[peer] || !link.peers().contains(&other) {
            return;
        }
        next_at[peer] = now + Micros::from_millis(20);
        let stream = random.below(5) as u8;
        let size = if random.chance(1, 50) { random.below(60_000) } else { random.below(300) } as usize;
        let message = message(peer, stream, sent[peer].len() as u32, size);
        match link.send(now, other, Channel::Reliable(stream), &message) {
            Ok(()) => sent[peer].push(message),
            Err(error) => assert!(matches!(error, SendError::Backpressure { .. }), "{error}"),
        }
    });
    mesh.world.set_all(Conditions::latency_ms(30));
    mesh.run_ms(8_000);
    for (peer, sent) in sent.iter().enumerate() {
        assert!(sent.len() > 200, "seed {seed}: only {} messages were sent", sent.len());
        for stream in 0..5 {
            let expected: Vec<&[u8]> = sent.iter().filter(|m| m[1] == stream).map(Vec::as_slice).collect();
            let got: Vec<&[u8]> =
                mesh.got(1 - peer, Channel::Reliable(stream)).into_iter().map(|(_, m)| m).collect();
            assert!(
                got == expected,
                "seed {seed}: stream {stream} of peer {peer}: {} of {} arrived",
                got.len(),
                expected.len()
            );
        }
    }
    mesh
}

#[test]
fn messages_arrive_exactly_once_with_20_percent_loss() {
    for seed in 0..10 {
        let mesh = exactly_once(TERRIBLE, seed);
        let totals = mesh.world.totals();
        assert!(totals.lost_random > 500 && totals.duplicated > 200, "{totals:?}");
        assert_eq!(
            mesh.told[0].iter().filter(|told| !matches!(told, Told::Message { .. })).count(),
            1,
            "connected once"
        );
    }
}

#[test]
fn messages_arrive_exactly_once_with_bursts_of_loss() {
    for seed in 0..10 {
        let bursts =
            Conditions { loss: Chance::NEVER, burst: Some(Burst::of(Chance::percent(30), 8)), ..TERRIBLE };
        let mesh = exactly_once(bursts, seed);
        assert!(mesh.world.totals().lost_burst > 800, "{:?}", mesh.world.totals());
    }
}

#[test]
fn large_transfer_does_not_delay_small_message() {
    let mut mesh = Mesh::of(2, 1);
    let narrow = Conditions { bytes_per_second: Some(250_000), ..Conditions::latency_ms(20) };
    mesh.world.set_all(narrow);
    mesh.run_ms(500);
    let other = mesh.id(1);
    let start = mesh.world.now();
    mesh.links[0].send(start, other, Channel::Reliable(1), &vec![1; 1_000_000]).unwrap();
    let mut sent_at = Vec::new();
    for _ in 0..20 {
        mesh.run_ms(50);
        sent_at.push(mesh.world.now());
        mesh.links[0].send(mesh.world.now(), other, Channel::Reliable(0), b"small").unwrap();
    }
    mesh.run_ms(8_000);
    let took: Vec<u64> = mesh
        .got(1, Channel::Reliable(0))
        .iter()
        .zip(&sent_at)
        .map(|((at, _), sent)| (*at - *sent).as_millis())
        .collect();
    let large_at = mesh.got(1, Channel::Reliable(1))[0].0;
    assert_eq!(took.len(), 20);
    assert!(*took.iter().max().unwrap() < 60, "{took:?}");
    assert!(large_at > sent_at[19], "the transfer ended before the last small message");
}

#[test]
fn full_buffer_is_reported_and_accepted_messages_arrive() {
    let config = LinkConfig { send_bytes_max: 10_000, ..LinkConfig::default() };
    let mut mesh = Mesh::on(gaggle_link::sim::SimNet::new(2, 1), &config, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(200);
    let (now, other) = (mesh.world.now(), mesh.id(1));
    let link = &mut mesh.links[0];
    let too_large = link.send(now, other, Channel::Reliable(0), &vec![0; 9_999]);
    assert_eq!(too_large, Err(SendError::TooLarge { bytes: 9_999, max: 9_998 }));
    let mut taken = 0;
    let full = loop {
        match link.send(now, other, Channel::Reliable(taken as u8 % 3), &[taken as u8; 999]) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((taken, full), (9, SendError::Backpressure { peer: other, queued: 9 * 1_001, max: 10_000 }));
    assert_eq!(link.stats(other).unwrap().reliable_queued_bytes, 9 * 1_001);
    mesh.run_ms(300);
    let got: usize = (0..3).map(|stream| mesh.got(1, Channel::Reliable(stream)).len()).sum();
    assert_eq!((got, mesh.links[0].stats(other).unwrap().reliable_queued_bytes), (9, 0));
    mesh.links[0].send(mesh.world.now(), other, Channel::Reliable(0), &vec![7; 9_998]).unwrap();
}

#[test]
fn receivers_grant_bounds_sender() {
    let world = gaggle_link::sim::SimNet::new(2, 1);
    let mut mesh = Mesh::on(world, &LinkConfig { receive_bytes_max: 5_000, ..LinkConfig::default() }, 1);
    mesh.run_ms(100);
    let other = mesh.id(1);
    let refused = mesh.links[0].send(mesh.world.now(), other, Channel::Reliable(0), &vec![0; 5_000]);
    assert_eq!(refused, Err(SendError::TooLarge { bytes: 5_000, max: 4_998 }));
    mesh.links[0].send(mesh.world.now(), other, Channel::Reliable(0), &vec![0; 4_998]).unwrap();
    mesh.run_ms(100);
    assert_eq!(mesh.got(1, Channel::Reliable(0)).len(), 1);
}

#[test]
fn short_outage_costs_little_more_than_itself() {
    let mut mesh = Mesh::of(2, 1);
    mesh.world.set_all(Conditions::latency_ms(20));
    mesh.run_ms(500);
    let other = mesh.id(1);
    mesh.world.set_all(Conditions { is_cut: true, ..Conditions::latency_ms(20) });
    mesh.links[0].send(mesh.world.now(), other, Channel::Reliable(0), b"after the outage").unwrap();
    mesh.run_ms(1_800);
    mesh.world.set_all(Conditions::latency_ms(20));
    let healed_at = mesh.world.now();
    mesh.run_ms(1_000);
    let came_at = mesh.got(1, Channel::Reliable(0))[0].0;
    assert!(came_at - healed_at < Micros::from_millis(600), "{}", came_at - healed_at);
    assert_eq!(mesh.told[1].len(), 2, "connected, and the message");
}

#[test]
fn message_is_borrowed_from_receive_buffer() {
    // Two messages in one packet: each is borrowed from the same buffer in turn.
    let mut mesh = Mesh::of(2, 1);
    mesh.run_ms(100);
    let (now, other) = (mesh.world.now(), mesh.id(1));
    mesh.world.set_direction(0, 1, Conditions { is_blocked: true, ..Conditions::PERFECT });
    for text in [&b"first"[..], b"", b"third"] {
        mesh.links[0].send(now, other, Channel::Reliable(9), text).unwrap();
    }
    mesh.world.set_direction(0, 1, Conditions::PERFECT);
    mesh.world.advance(Micros::from_millis(5));
    let later = mesh.world.now();
    while mesh.links[0].poll(later).is_some() {}
    mesh.world.advance(Micros::from_millis(5));
    let mut seen = Vec::new();
    while let Some(event) = mesh.links[1].poll(mesh.world.now()) {
        if let TransportEvent::Message { bytes, channel, .. } = event {
            seen.push((channel, bytes.len(), bytes.first().copied()));
        }
    }
    let stream = Channel::Reliable(9);
    assert_eq!(seen, [(stream, 5, Some(b'f')), (stream, 0, None), (stream, 5, Some(b't'))]);
}
