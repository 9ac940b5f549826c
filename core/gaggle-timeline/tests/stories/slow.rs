//! Slow peers: named to all, told so themselves, and never waited for without end.

use crate::cluster::{Cluster, ms};
use gaggle_kit::{Slot, SlotSet};
use gaggle_link::sim::Conditions;
use gaggle_timeline::{LatePolicy, SessionEvent, SlowPolicy, TimelineConfig};

/// A frame takes a machine twice as long as it may.
const HALF_SPEED_MS: u64 = 33;

fn config(policy: SlowPolicy) -> TimelineConfig {
    TimelineConfig { slot_count: 4, slow_policy: policy, loosen_frames_max: 3, ..TimelineConfig::lockstep() }
}

fn left(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Left { .. })
}

/// Peers that were named as slow, as one was told.
fn slow(cluster: &Cluster, index: usize) -> Vec<usize> {
    let named = |event: &SessionEvent| match event {
        SessionEvent::SlowPeer { peer, share_permille } => {
            assert!((101..=1_000).contains(share_permille), "{share_permille}");
            (0..cluster.machines.len()).find(|other| cluster.id(*other) == *peer)
        }
        _ => None,
    };
    cluster.machines[index].events.iter().filter_map(named).collect()
}

/// Three that play, of which the third becomes slow.
fn slowing(config: TimelineConfig, seed: u64) -> Cluster {
    let mut cluster = Cluster::configured(3, 3, seed, config, 0);
    cluster.run_ms(3_000).clear_events();
    cluster.machines[2].busy_ms = HALF_SPEED_MS;
    cluster
}

/// Frames that the first two play in this time, per second.
fn frames_per_second(cluster: &mut Cluster, seconds: u64) -> u64 {
    let before = [0, 1].map(|index| cluster.session(index).current_frame());
    cluster.run_ms(1_000 * seconds);
    let played = [0, 1].map(|index| cluster.session(index).current_frame().since(before[index]));
    u64::from(played[0].min(played[1])) / seconds
}

#[test]
fn slow_peer_is_named_and_told_and_waited_for() {
    for window in [0, 8] {
        let late_policy = LatePolicy::Stall { prediction_frames: window };
        let mut cluster = slowing(TimelineConfig { late_policy, ..config(SlowPolicy::Wait) }, 1);
        cluster.run_until("all know", 6_000, |c| (0..3).all(|index| !slow(c, index).is_empty()));
        assert_eq!([0, 1, 2].map(|index| slow(&cluster, index)), [[2]; 3], "{}", cluster.describe());
        let speed = frames_per_second(&mut cluster, 10);
        assert!((27..=33).contains(&speed), "{speed} frames a second:\n{}", cluster.describe());
        assert_eq!([0, 1, 2].map(|index| slow(&cluster, index)), [[2]; 3], "told once");
        // The host sends it away.
        let peer = cluster.id(2);
        cluster.machines[0].timeline.session_mut().evict(peer).unwrap();
        cluster.crash(2).run_ms(500);
        assert!(frames_per_second(&mut cluster, 5) >= 56, "{}", cluster.describe());
        cluster.expect_together(&[0, 1]);
    }
}

#[test]
fn slow_peer_that_recovers_is_named_again_later() {
    let mut cluster = slowing(config(SlowPolicy::Wait), 2);
    cluster.run_ms(4_000).machines[2].busy_ms = 0;
    cluster.run_ms(15_000).machines[2].busy_ms = HALF_SPEED_MS;
    cluster.run_ms(4_000);
    assert_eq!([0, 1, 2].map(|index| slow(&cluster, index)), [[2, 2]; 3], "{}", cluster.describe());
    cluster.expect_together(&[0, 1, 2]);
}

#[test]
fn slow_peer_is_taken_off_and_not_readmitted_for_ever() {
    for (seed, window) in [(3, 0), (4, 8)] {
        let late_policy = LatePolicy::Stall { prediction_frames: window };
        let mut cluster = slowing(TimelineConfig { late_policy, ..config(SlowPolicy::TakeOff) }, seed);
        cluster.run_until("it is off", 8_000, |c| [0, 1].iter().all(|index| c.count(*index, left) == 1));
        let slots = cluster.session(0).slots_at(cluster.session(0).confirmed_frame());
        assert_eq!(slots, SlotSet::first(2), "its slot is free");
        let speed = frames_per_second(&mut cluster, 120);
        assert!(speed >= 52, "{speed} frames a second in two minutes:\n{}", cluster.describe());
        let evictions = cluster.count(0, left);
        assert!((2..=5).contains(&evictions), "{evictions} times:\n{}", cluster.describe());
        // Once it is fast it plays on in its slot.
        cluster.machines[2].busy_ms = 0;
        cluster.run_until("it is back", 250_000, |c| c.session(2).is_member());
        cluster.run_ms(20_000).expect_together(&[0, 1, 2]);
        assert_eq!(cluster.session(2).local_slots(), SlotSet::of(Slot::at(2)));
    }
}

#[test]
fn slow_leader_is_taken_off_by_next() {
    let mut cluster = Cluster::configured(3, 3, 5, config(SlowPolicy::TakeOff), 0);
    cluster.run_ms(3_000).clear_events();
    cluster.machines[0].busy_ms = HALF_SPEED_MS;
    cluster.run_until("it is off", 8_000, |c| [1, 2].iter().all(|index| c.count(*index, left) == 1));
    let before = cluster.session(1).current_frame();
    cluster.run_ms(60_000);
    let played = cluster.session(1).current_frame().since(before);
    assert!(played >= 3_000, "{played} frames in a minute:\n{}", cluster.describe());
}

#[test]
fn frozen_peer_stalls_others_no_longer_than_setting() {
    for (seed, frozen) in [(6, 2), (7, 0), (8, 1)] {
        let config = TimelineConfig { take_off_after: ms(1_000), ..config(SlowPolicy::TakeOff) };
        let mut cluster = Cluster::configured(3, 3, seed, config, 0);
        cluster.run_ms(3_000).clear_events();
        let before = cluster.stalls();
        cluster.machines[frozen].asleep_until = cluster.now() + ms(2_000);
        cluster.run_ms(2_000);
        for index in (0..3).filter(|index| *index != frozen) {
            let stalled = cluster.stalls()[index] - before[index];
            // A second and two round trips.
            assert!((30..=60 + 14).contains(&stalled), "{stalled}:\n{}", cluster.describe());
            assert_eq!(cluster.count(index, left), 1, "{}", cluster.describe());
        }
        cluster.run_until("it is back", 5_000, |c| {
            let branches = [0, 1, 2].map(|index| c.session(index).branch_id());
            branches.iter().all(|branch| *branch == branches[0])
                && (0..3).all(|index| c.session(index).is_member())
        });
        cluster.run_ms(2_000).expect_together(&[0, 1, 2]);
        assert_eq!(cluster.session(frozen).local_slots(), SlotSet::of(Slot::at(frozen)));
    }
}

#[test]
fn pause_of_own_machine_accuses_no_other() {
    let mut cluster = Cluster::configured(3, 3, 9, config(SlowPolicy::TakeOff), 0);
    cluster.run_ms(3_000).clear_events();
    for _ in 0..4 {
        cluster.machines[1].asleep_until = cluster.now() + ms(300);
        cluster.run_ms(2_000);
    }
    for index in 0..3 {
        assert!(slow(&cluster, index).iter().all(|slow| *slow == 1), "{}", cluster.describe());
        assert_eq!(cluster.count(index, left), 0, "{}", cluster.describe());
    }
    cluster.expect_together(&[0, 1, 2]);
}

#[test]
fn loosened_window_hides_late_packets_and_closes_again() {
    let mut cluster = Cluster::configured(3, 3, 10, config(SlowPolicy::Loosen { frames: 3 }), 0);
    cluster.run_ms(3_000).clear_events();
    // A frame of delay for three of latency.
    for machine in &mut cluster.machines {
        machine.timeline.session_mut().set_input_delay(Some(1)).unwrap();
    }
    cluster.run_until("it is loosened", 12_000, |c| {
        (0..3).all(|index| c.session(index).prediction_frames() == 3)
    });
    cluster.run_ms(1_000);
    let stalls = cluster.stalls();
    assert!(frames_per_second(&mut cluster, 5) >= 58, "{}", cluster.describe());
    assert_eq!(cluster.stalls(), stalls, "predicted input covers the rest");
    assert!((0..3).all(|index| cluster.session(index).stats().rollbacks > 20), "{}", cluster.describe());
    assert_eq!((0..3).map(|index| cluster.count(index, left)).sum::<usize>(), 0);
    cluster.machines.iter_mut().for_each(|machine| {
        machine.timeline.session_mut().set_input_delay(None).unwrap();
    });
    cluster.run_until("it closes", 25_000, |c| (0..3).all(|index| c.session(index).prediction_frames() == 0));
    cluster.run_ms(1_000).expect_together(&[0, 1, 2]);
}

#[test]
fn half_speed_peer_is_loosened_for_and_then_taken_off() {
    let mut cluster = slowing(config(SlowPolicy::Loosen { frames: 2 }), 11);
    cluster.run_until("it is loosened", 6_000, |c| c.session(0).prediction_frames() == 2);
    assert_eq!(cluster.count(0, left), 0, "first it is loosened");
    cluster.run_until("it is off", 14_000, |c| [0, 1].iter().all(|index| c.count(*index, left) == 1));
    let speed = frames_per_second(&mut cluster, 120);
    assert!(speed >= 50, "{speed} frames a second in two minutes:\n{}", cluster.describe());
}

#[test]
fn window_is_set_during_match_up_to_its_maximum() {
    let mut cluster = Cluster::configured(2, 2, 12, config(SlowPolicy::Wait), 0);
    cluster.run_ms(2_000);
    let rollbacks = |cluster: &Cluster| [0, 1].map(|index| cluster.session(index).stats().rollbacks);
    assert_eq!(rollbacks(&cluster), [0, 0]);
    for machine in &mut cluster.machines {
        let session = machine.timeline.session_mut();
        let error = session.set_prediction_frames(4).unwrap_err().to_string();
        assert_eq!(error, "prediction_frames is 4; choose 0 to 3");
        session.set_prediction_frames(3).unwrap();
        session.set_input_delay(Some(1)).unwrap();
    }
    cluster.run_ms(3_000);
    let guessed = rollbacks(&cluster);
    assert!(guessed.iter().all(|count| *count > 10), "{guessed:?}");
    for machine in &mut cluster.machines {
        machine.timeline.session_mut().set_prediction_frames(0).unwrap();
        machine.timeline.session_mut().set_input_delay(None).unwrap();
    }
    cluster.run_ms(1_000);
    let before = rollbacks(&cluster);
    cluster.run_ms(3_000).expect_together(&[0, 1]);
    assert_eq!(rollbacks(&cluster), before, "it is lockstep again");
}

#[test]
fn policy_beyond_maximum_is_rejected() {
    let mut cluster = Cluster::configured(1, 1, 13, config(SlowPolicy::Wait), 0);
    let session = cluster.machines[0].timeline.session_mut();
    assert!(session.set_slow_policy(SlowPolicy::Loosen { frames: 3 }).is_ok());
    let error = |policy| {
        let config = TimelineConfig { slow_policy: policy, loosen_frames_max: 1, ..config(policy) };
        config_error(config)
    };
    assert_eq!(error(SlowPolicy::Loosen { frames: 2 }), "loosen_frames_max is 1; choose 2 to 60");
    assert_eq!(error(SlowPolicy::Loosen { frames: 0 }), "slow_policy.frames is 0; choose 1 to 1");
}

fn config_error(config: TimelineConfig) -> String {
    use gaggle_kit::PeerId;
    use gaggle_timeline::{Incarnation, Session};
    let created = Session::<u8>::create(config, PeerId::from_u128(1), 1, Incarnation(1));
    created.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn fixed_delay_of_zero_plays_in_lockstep() {
    let mut cluster = Cluster::configured(2, 2, 14, config(SlowPolicy::Wait), 0);
    cluster.net.set_all(Conditions::latency_ms(5));
    cluster.run_ms(2_000);
    for machine in &mut cluster.machines {
        machine.timeline.session_mut().set_input_delay(Some(0)).unwrap();
    }
    cluster.run_ms(1_000);
    let before = cluster.session(0).current_frame();
    cluster.run_ms(5_000).expect_together(&[0, 1]);
    let played = cluster.session(0).current_frame().since(before);
    assert!(played > 120, "{played} frames:\n{}", cluster.describe());
    assert!((0..2).all(|index| cluster.session(index).stats().input_delay_frames == 0));
    assert!((0..2).all(|index| cluster.session(index).stats().rollbacks == 0));
}
