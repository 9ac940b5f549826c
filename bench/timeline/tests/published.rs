//! Published figures of the other libraries, which this harness must reproduce.
//!
//! Bytes, packets, allocations and stalls are exact in virtual time. These tests also show when a
//! library changes under a pinned version.

use bench_report::{Allocations, CountingAllocator};
use bench_timeline::fortress::Fortress;
use bench_timeline::game::Tiny;
use bench_timeline::ggrs::Ggrs;
use bench_timeline::network::NetConditions;
use bench_timeline::{Contestant, Match, Setup, Tally};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn ggrs_bytes_and_packets_at_latency_4() {
    for (players, bytes, packets) in
        [(2, 4_784.0, 130.0), (4, 16_146.0, 390.0), (8, 46_088.0, 910.0), (16, 134_767.0, 1_950.0)]
    {
        let tally =
            settled::<Ggrs<Tiny>>(&Setup::players(players).encoded(), NetConditions::latency(4), 1_200);
        assert_near(tally.bytes_per_second(), bytes, 0.01);
        assert_near(tally.packets_per_second(), packets, 0.01);
    }
}

#[test]
fn ggrs_allocations_without_and_with_rollback() {
    for (players, calm, rollback) in [(2, 31.0, 65.0), (4, 76.0, 177.0), (8, 168.0, 404.0)] {
        let covered = Setup::players(players).delay(2);
        assert_near(allocations::<Ggrs<Tiny>>(&covered, NetConditions::latency(1)), calm, 0.02);
        let setup = Setup::players(players);
        assert_near(allocations::<Ggrs<Tiny>>(&setup, NetConditions::latency(4)), rollback, 0.02);
    }
}

#[test]
fn ggrs_lockstep_stalls_although_delay_covers_latency() {
    for (delay, stalled) in [(3, 41.7), (4, 33.3), (5, 25.0)] {
        let setup = Setup::players(2).window(0).delay(delay);
        let tally = settled::<Ggrs<Tiny>>(&setup, NetConditions::latency(3), 1_200);
        assert_near(tally.stalled_percent(), stalled, 0.01);
    }
}

#[test]
fn ggrs_stalls_longer_than_blackout_lasts() {
    for (frames, worst) in [(10, 11), (20, 24), (30, 37)] {
        let stalled = (0..24).map(|phase| blackout::<Ggrs<Tiny>>(8, frames, phase)).max();
        assert_eq!(stalled, Some(worst), "blackout of {frames}");
    }
}

#[test]
fn ggrs_stalls_under_loss_as_published() {
    let percent = |latency, loss| {
        let weather = NetConditions::latency(latency).loss(loss);
        settled::<Ggrs<Tiny>>(&Setup::players(2), weather, 60_000).stalled_percent()
    };
    assert!(percent(3, 0.05) < 0.01);
    let hard = percent(3, 0.2);
    assert!((0.02..0.12).contains(&hard), "{hard}");
    assert_near(percent(6, 0.05), 0.47, 0.3);
    assert_near(percent(6, 0.2), 5.3, 0.1);
}

#[test]
fn fortress_traffic_stalls_and_allocations_as_published() {
    let tally = settled::<Fortress<Tiny>>(&Setup::players(2).encoded(), NetConditions::latency(4), 1_200);
    assert_near(tally.bytes_per_second(), 4_519.0, 0.01);
    for (latency, stalled) in [(4, 20.0), (6, 43.0)] {
        let tally = settled::<Fortress<Tiny>>(&Setup::players(4), NetConditions::latency(latency), 1_200);
        assert_near(tally.stalled_percent(), stalled, 0.02);
    }
    assert_near(allocations::<Fortress<Tiny>>(&Setup::players(2), NetConditions::latency(4)), 19.0, 0.2);
}

/// Figures of the first peer, after two seconds.
fn settled<C: Contestant>(setup: &Setup, weather: NetConditions, frames: u64) -> Tally {
    let mut game = Match::<C>::new(setup, weather);
    game.run(120);
    game.mark();
    game.run(frames);
    game.tallies()[0]
}

fn allocations<C: Contestant>(setup: &Setup, weather: NetConditions) -> f64 {
    let mut game = Match::<C>::new(setup, weather);
    game.run(240);
    let before = Allocations::now();
    game.run(1_200);
    Allocations::now().since(before).count as f64 / (1_200 * setup.players) as f64
}

/// Longest stall of any peer after a blackout.
fn blackout<C: Contestant>(window: usize, frames: u64, phase: u64) -> u64 {
    let mut game = Match::<C>::new(&Setup::players(2).window(window), NetConditions::latency(3));
    game.run(120 + phase);
    game.mark();
    game.network().set_blackout(true);
    game.run(frames);
    game.network().set_blackout(false);
    game.run(120);
    game.tallies().iter().map(|tally| tally.stalled).max().unwrap()
}

fn assert_near(measured: f64, published: f64, tolerance: f64) {
    let off = (measured - published).abs() / published;
    assert!(off <= tolerance, "measured {measured}, published {published}");
}
