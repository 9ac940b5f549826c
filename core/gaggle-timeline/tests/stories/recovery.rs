//! A wrong state is detected, located and replaced, and no other peer is disturbed.

use crate::cluster;
use std::cell::Cell;
use std::collections::BTreeMap;

use crate::cluster::{Cluster, config};
use crate::world::{MixGame, NetConditions, World};
use gaggle_kit::{Frame, Micros, State, state_hash};
use gaggle_link::sim::Conditions;
use gaggle_timeline::{DesyncBundle, DesyncCause, Game, Inputs, SessionEvent, TimelineConfig};

fn recovered(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::DesyncRecovered { .. })
}

/// Flips bits until a difference lasts: resimulation may repair one.
fn damage(cluster: &mut Cluster, index: usize) {
    for _ in 0..40 {
        cluster.flip_a_bit(index).run_ms(1_500);
        if cluster.count(index, |event| matches!(event, SessionEvent::DesyncDetected { .. })) > 0 {
            return;
        }
    }
    panic!("no peer noticed:\n{}", cluster.describe());
}

#[test]
fn flipped_bit_is_outvoted_and_recovered() {
    for victim in 0..3 {
        let mut cluster = Cluster::of(3, 3, 30 + victim as u64);
        cluster.run_ms(2_000).clear_events();
        let stalls = cluster.stalls();
        damage(&mut cluster, victim);
        cluster.run_until("it is made good", 8_000, |c| c.session(victim).stats().recoveries == 1);
        cluster.machines[victim].damaged = false;
        cluster.run_ms(4_000);
        for index in 0..3 {
            assert_eq!(cluster.count(index, recovered), 1, "{}", cluster.describe());
            let recoveries = cluster.session(index).stats().recoveries;
            assert_eq!(recoveries, u64::from(index == victim), "{}", cluster.describe());
        }
        assert_eq!(cluster.stalls(), stalls, "no peer waits for it");
        cluster.clear_events().run_ms(3_000).expect_together(&[0, 1, 2]);

        let bundle =
            cluster.machines[victim].timeline.take_desync_bundle().expect("there is something to look at");
        let bundle = DesyncBundle::decode(&bundle.encode()).expect("just written");
        let view = bundle.diff::<cluster::MixGame>().expect("it is of this game");
        assert!(view.differences.iter().any(|line| line.starts_with("mixed: ")), "{view:?}");
        assert!(cluster.machines[victim].timeline.take_desync_bundle().is_none(), "told once");
    }
}

#[test]
fn externally_changed_state_of_two_yields() {
    for victim in 0..2 {
        let mut cluster = Cluster::of(2, 2, 40 + victim as u64);
        cluster.run_ms(2_000).clear_events();
        damage(&mut cluster, victim);
        cluster.run_until("it is made good", 8_000, |c| c.session(victim).stats().recoveries == 1);
        cluster.machines[victim].damaged = false;
        cluster.clear_events().run_ms(4_000).expect_together(&[0, 1]);
        assert_eq!(cluster.session(1 - victim).stats().recoveries, 0);
    }
}

/// Flips bits of one peer for a while, of which at least one lasts.
fn batter(cluster: &mut Cluster, index: usize) {
    for _ in 0..4 {
        cluster.flip_a_bit(index).run_ms(90);
    }
}

/// Asserts that within seconds all states equal the reference run, and that no peer with the right
/// state was replaced.
fn expect_made_good(cluster: &mut Cluster, damaged: &[usize], story: &str) {
    cluster.run_ms(20_000);
    let desync = |event: &SessionEvent| matches!(event, SessionEvent::DesyncDetected { .. });
    for index in 0..cluster.machines.len() {
        assert!(cluster.count(index, desync) > 0, "{story}: nothing happened\n{}", cluster.describe());
        let recoveries = cluster.session(index).stats().recoveries;
        assert_eq!(recoveries > 0, damaged.contains(&index), "{story}: {index}\n{}", cluster.describe());
        assert!(recoveries <= 2, "{story}: {index}\n{}", cluster.describe());
        cluster.machines[index].damaged = false;
    }
    let all: Vec<usize> = (0..cluster.machines.len()).collect();
    cluster.clear_events().run_ms(3_000).expect_together(&all);
}

#[test]
fn two_that_are_wrong_at_once_are_made_good_both() {
    for (players, victims) in [(3, [1, 2]), (3, [0, 1]), (3, [0, 2]), (4, [2, 3]), (4, [0, 1])] {
        for seed in 0..4 {
            let mut cluster = Cluster::of(players, players, 60 + seed);
            cluster.run_ms(2_000).clear_events();
            for _ in 0..4 {
                cluster.flip_a_bit(victims[0]).run_ms(45).flip_a_bit(victims[1]).run_ms(45);
            }
            expect_made_good(&mut cluster, &victims, &format!("{victims:?} of {players}, {seed}"));
        }
    }
}

#[test]
fn second_corruption_is_recovered_after_first() {
    for (first, second) in [(2, 1), (1, 2), (2, 0), (0, 2)] {
        for later_ms in [300, 900, 1_500, 2_100] {
            // A snapshot that takes long to arrive.
            let mut cluster = Cluster::configured(3, 3, 70 + later_ms, config(4), 200_000);
            cluster.run_ms(2_000).clear_events();
            batter(&mut cluster, first);
            cluster.run_ms(later_ms);
            batter(&mut cluster, second);
            let story = format!("{first}, {later_ms} ms later {second}");
            expect_made_good(&mut cluster, &[first, second], &story);
        }
    }
}

#[test]
fn corruption_during_recovery_is_recovered() {
    for later_ms in [300, 900, 1_500, 2_100] {
        let mut cluster = Cluster::configured(3, 3, 80 + later_ms, config(4), 200_000);
        cluster.run_ms(2_000).clear_events();
        batter(&mut cluster, 2);
        cluster.run_ms(later_ms);
        batter(&mut cluster, 2);
        expect_made_good(&mut cluster, &[2], &format!("{later_ms} ms later again"));
    }
}

#[test]
fn wrong_peer_recovers_from_reachable_donor() {
    // Inputs are kept for 128 frames: less than two peers with an open audit take to hear each
    // other again.
    let config = TimelineConfig { checksum_interval_frames: 32, ..config(4) };
    let mut cluster = Cluster::configured(3, 3, 46, config, 0);
    cluster.run_ms(2_000).clear_events();
    let desync = |event: &SessionEvent| matches!(event, SessionEvent::DesyncDetected { .. });
    for _ in 0..4_000 {
        if cluster.count(0, desync) > 0 && cluster.count(2, desync) > 0 {
            break;
        }
        if cluster.now().as_millis().is_multiple_of(700) {
            cluster.flip_a_bit(2);
        }
        cluster.run_ms(1);
    }
    let cut = Conditions { is_cut: true, ..Conditions::PERFECT };
    cluster.net.set_both(0, 2, cut);
    cluster.run_until("it is made good", 2_400, |c| c.session(2).stats().recoveries == 1);
    cluster.machines[2].damaged = false;
    let recovered_at = cluster.now();
    cluster.run_ms(2_400).net.set_both(0, 2, Conditions::latency_ms(50));
    cluster.run_ms(4_000);
    for index in 0..3 {
        let accused = cluster.count(index, |event| matches!(event, SessionEvent::InputsDiverged { .. }));
        assert_eq!(accused, 0, "no peer lied, {recovered_at}:\n{}", cluster.describe());
    }
    cluster.clear_events().run_ms(3_000).expect_together(&[0, 1, 2]);
}

#[test]
fn unanswered_recovery_request_is_repeated() {
    let mut cluster = Cluster::of(3, 3, 47);
    cluster.run_ms(2_000);
    // 1 and 2 do not hear each other: neither of the differing states of 0 and 1 wins a vote.
    let cut = Conditions { is_cut: true, ..Conditions::latency_ms(50) };
    cluster.net.set_both(1, 2, cut);
    cluster.run_ms(1_000).clear_events();
    let ours = |event: &SessionEvent| {
        matches!(event, SessionEvent::DesyncLocated { cause: DesyncCause::LocalStateCorrupted { .. }, .. })
    };
    for _ in 0..40_000 {
        if cluster.count(1, ours) > 0 {
            break;
        }
        if cluster.now().as_millis().is_multiple_of(700) {
            cluster.flip_a_bit(1);
        }
        cluster.run_ms(1);
    }
    assert_eq!(cluster.count(1, ours), 1, "{}", cluster.describe());
    assert_eq!(cluster.session(1).stats().recoveries, 0, "it has not asked yet");
    cluster.net.set_direction(0, 1, cut);
    cluster.run_ms(2_700);
    cluster.net.set_direction(0, 1, Conditions::latency_ms(50));
    cluster.run_until("it is made good", 8_000, |c| c.session(1).stats().recoveries == 1);
    cluster.machines[1].damaged = false;
    cluster.run_ms(2_000).clear_events().run_ms(3_000).expect_together(&[0, 1, 2]);
}

#[test]
fn recovery_of_always_wrong_peer_backs_off() {
    let mut cluster = Cluster::of(3, 3, 44);
    cluster.run_ms(2_000);
    for _ in 0..600 {
        cluster.flip_a_bit(2).run_ms(100);
    }
    let stats = [0, 1, 2].map(|index| cluster.session(index).stats().recoveries);
    assert_eq!(stats[..2], [0, 0]);
    assert!((2..=7).contains(&stats[2]), "{stats:?} in a minute");
}

thread_local! {
    /// Index of the peer that ticks.
    static HERE: Cell<usize> = const { Cell::new(0) };
    /// Bits that are flipped in the state from outside the tick.
    static FLIPS: Cell<u8> = const { Cell::new(0) };
}

/// Frame in which states are changed.
const WHIM: u32 = 137;

/// A game in whose tick of one frame each peer adds a value of its own, whenever it simulates it.
#[derive(Clone, Debug, State)]
struct Whims {
    stew: MixGame,
    by_machine: [u8; 5],
}

impl Game for Whims {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.stew.tick(inputs);
        if inputs.frame().number() == WHIM {
            self.stew.mixed ^= u32::from_le_bytes([self.by_machine[HERE.get()], FLIPS.get(), 0, 0]);
        }
    }
}

/// A match of as many peers.
fn whimsical(whims: &[u8], seed: u64) -> World<Whims> {
    let mut by_machine = [0; 5];
    by_machine[..whims.len()].copy_from_slice(whims);
    let start = |_| Whims { stew: MixGame::new(Vec::new()), by_machine };
    let mut world = World::with(whims.len(), seed, &TimelineConfig::default(), start);
    world.compare_with_straight = false;
    world.before_tick = Box::new(|index, _| HERE.set(index));
    world.conditions(NetConditions::latency_ms(40));
    world
}

/// Asserts that from here on all peers hold the same states, for this many seconds.
fn expect_same_states(world: &mut World<Whims>, seconds: usize, story: &str) {
    let mut shown = vec![BTreeMap::new(); world.machines.len()];
    for _ in 0..seconds * 200 {
        world.run(Micros::from_millis(5));
        for (machine, shown) in world.machines.iter().zip(&mut shown) {
            shown.extend(machine.timeline.confirmed_game().map(|(frame, game)| (frame, state_hash(game))));
        }
    }
    for (index, other) in shown.iter().enumerate() {
        let both: Vec<&Frame> = shown[0].keys().filter(|frame| other.contains_key(frame)).collect();
        assert!(both.len() > 3 * seconds, "{story}: only {} frames of {index} can be compared", both.len());
        let parted = both.iter().find(|frame| shown[0][frame] != other[frame]);
        assert_eq!(parted, None, "{story}: {index} holds another state:\n{}", world.describe());
    }
}

#[test]
fn larger_group_wins_then_group_of_leader() {
    let stories: [(&[u8], &[usize]); 14] = [
        (&[1, 0], &[1]),
        (&[0, 1], &[1]),
        (&[1, 0, 0], &[0]),
        (&[0, 1, 0], &[1]),
        (&[0, 0, 1], &[2]),
        (&[0, 1, 2], &[1, 2]),
        (&[1, 0, 0, 0], &[0]),
        (&[1, 1, 0, 0], &[2, 3]),
        (&[0, 0, 1, 1], &[2, 3]),
        (&[1, 0, 0, 1], &[1, 2]),
        (&[0, 1, 0, 1], &[1, 3]),
        (&[0, 1, 1, 2], &[0, 3]),
        (&[1, 1, 0, 0, 0], &[0, 1]),
        (&[2, 1, 1, 0, 0], &[0, 3, 4]),
    ];
    for ((whims, wrong), seed) in stories.into_iter().flat_map(|story| (0..6).map(move |seed| (story, seed)))
    {
        let story = format!("{whims:?}, {seed}");
        let mut world = whimsical(whims, seed);
        // The three groups recover one after the other.
        world.run_seconds(12);
        for index in 0..whims.len() {
            let (recoveries, gives_way) = (world.session(index).stats().recoveries, wrong.contains(&index));
            assert_eq!(recoveries, u64::from(gives_way), "{story}, {index}:\n{}", world.describe());
            assert_eq!(world.count_events(index, recovered), wrong.len(), "{story}:\n{}", world.describe());
            assert_eq!(world.machines[index].stalled, 0, "{story}:\n{}", world.describe());
        }
        world.machines.iter_mut().for_each(|machine| machine.events.clear());
        expect_same_states(&mut world, 8, &story);
        let differ = |event: &SessionEvent| {
            matches!(event, SessionEvent::DesyncDetected { .. } | SessionEvent::InputsDiverged { .. })
        };
        for index in 0..whims.len() {
            assert_eq!(world.count_events(index, differ), 0, "{story}:\n{}", world.describe());
        }
    }
}

#[test]
fn externally_changed_peer_has_no_vote() {
    let stories: [(&[u8], &[u8], &[u64]); 4] = [
        // Groups with changed states are as large as the right one, or larger.
        (&[0, 0, 0], &[1, 1, 0], &[1, 1, 0]),
        (&[0, 0, 0, 0], &[1, 1, 0, 0], &[1, 1, 0, 0]),
        (&[0, 0, 0, 0], &[1, 1, 1, 0], &[1, 1, 1, 0]),
        // In addition to the changed state the tick of the leader differs.
        (&[1, 0, 0], &[0, 1, 0], &[1, 1, 0]),
    ];
    for (whims, flips, wrong) in stories {
        for seed in 0..5 {
            let story = format!("{whims:?}, {flips:?}, {seed}");
            let mut world = whimsical(whims, seed);
            world.before_tick = Box::new(move |index, tick| {
                HERE.set(index);
                // The flips have ended when the frame is resimulated.
                FLIPS.set(if tick < u64::from(WHIM) + 33 { flips[index] } else { 0 });
            });
            world.run_seconds(15);
            let stats = world.machines.iter().map(|machine| machine.timeline.session().stats());
            let recoveries: Vec<u64> = stats.map(|stats| stats.recoveries).collect();
            assert_eq!(recoveries, wrong, "{story}:\n{}", world.describe());
            expect_same_states(&mut world, 5, &story);
        }
    }
}
