//! Players whose inputs come late: frozen, crashed, on a lossy or unsteady link.

use gaggle_kit::{Micros, Slot};
use gaggle_seal::OutReason;
use gaggle_testkit::NetConditions;
use gaggle_timeline::SessionEvent;

use super::world::{Condition, Mix, Player, SLOTS, World};

fn refused(player: &Player<Mix>) -> u64 {
    player.told(|event| matches!(event, SessionEvent::InputRefused { .. })) as u64
}

/// Refused entries of the given players in thousandths of a percent: mean and worst.
fn refused_share(world: &World<Mix>, players: std::ops::Range<usize>) -> (u64, u64) {
    let shares: Vec<u64> = players
        .map(|index| refused(&world.players[index]) * 100_000 / world.players[index].depth_ticks.max(1))
        .collect();
    (shares.iter().sum::<u64>() / shares.len() as u64, shares.iter().copied().max().unwrap_or(0))
}

#[test]
fn frozen_player_stalls_no_other() {
    let mut world = World::<Mix>::new(1, SLOTS, NetConditions { loss: 0, ..NetConditions::latency_ms(30) });
    world.settle();
    let before: Vec<u64> =
        world.players.iter().map(|player| player.session().stats().stalled_ticks).collect();
    for _ in 0..8 {
        world.run_ms(3_000);
        world.players[7].condition = Condition::Frozen;
        world.run_ms(2_000);
        world.players[7].condition = Condition::Awake;
    }
    for (index, player) in world.players.iter().enumerate().take(7) {
        let stats = player.session().stats();
        println!(
            "{index}: depth {}, refused {}, delay {}",
            player.depth_percent(),
            refused(player),
            stats.input_delay_frames
        );
        assert_eq!(stats.stalled_ticks, before[index], "player {index}");
    }
    let depth = world.players[..7].iter().map(Player::depth_percent).sum::<u64>() / 7;
    assert!(depth <= 500, "{depth}");
    let (mean, _) = refused_share(&world, 0..7);
    assert!(mean <= 100, "{mean}");
    println!("frozen: depth {}, refused {}", world.players[7].depth_percent(), refused(&world.players[7]));
    assert!(world.players[7].depth_ticks > 1_000, "it plays between its freezes");
    assert!(world.players[7].session().is_member());
    assert!(world.compared > 5_000, "{}", world.compared);
}

#[test]
fn crashed_player_stalls_no_other_and_leaves_everywhere_at_once() {
    for is_noticed in [false, true] {
        let mut world = World::<Mix>::new(2, SLOTS, NetConditions::latency_ms(30));
        world.settle();
        let before: Vec<u64> =
            world.players.iter().map(|player| player.session().stats().stalled_ticks).collect();
        world.crash(3, is_noticed);
        world.run_ms(12_000);
        let slot = Slot::at(3);
        let left = world.players[0].session().left(slot).expect("it left");
        assert_eq!(left.1, OutReason::Silent);
        for (index, player) in world.players.iter().enumerate().filter(|(index, _)| *index != 3) {
            assert_eq!(player.session().stats().stalled_ticks, before[index], "player {index}");
            assert_eq!(player.session().left(slot), Some(left), "the same frame on every peer");
            assert_eq!(player.told(|event| matches!(event, SessionEvent::Left { .. })), 1);
            assert_eq!(player.session().roster().len(), SLOTS - 1);
        }
        assert_eq!(refused_share(&world, 0..3).1, 0);
    }
}

#[test]
fn few_inputs_are_refused_at_ten_percent_loss() {
    let mut world = World::<Mix>::new(3, SLOTS, NetConditions { loss: 100, ..NetConditions::latency_ms(30) });
    world.settle();
    world.run_ms(30_000);
    assert!(world.net.lost() > 1_000);
    let (mean, worst) = refused_share(&world, 0..SLOTS);
    println!("loss: mean {mean}, worst {worst}");
    assert!(mean <= 100 && worst <= 500, "mean {mean}, worst {worst}");
}

#[test]
fn few_inputs_are_refused_at_jitter() {
    let jitter = Micros::from_millis(40);
    let mut world =
        World::<Mix>::new(4, SLOTS, NetConditions { loss: 20, jitter, ..NetConditions::latency_ms(30) });
    world.settle();
    world.run_ms(30_000);
    let (mean, worst) = refused_share(&world, 0..SLOTS);
    println!("jitter: mean {mean}, worst {worst}");
    assert!(mean <= 100 && worst <= 500, "mean {mean}, worst {worst}");
    assert!(world.players.iter().all(|player| player.session().stats().rollbacks > 10));
}
