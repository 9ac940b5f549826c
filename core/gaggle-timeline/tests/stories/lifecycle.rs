//! A long match: players join one by one, drop out and return, and no clock or counter overflows.

use crate::cluster::{Cluster, config, ms};
use gaggle_kit::{Frame, Micros, Slot, SlotSet};
use gaggle_link::sim::{Chance, Conditions, NetChange};
use gaggle_timeline::{SessionEvent, TimelineConfig};

/// Four peers join one by one, each while the others play.
fn staggered(seed: u64, conditions: Conditions) -> Cluster {
    let mut cluster = Cluster::empty(4, seed);
    cluster.weather(conditions);
    cluster.found(0, 1).run_ms(700);
    for index in 1..4 {
        cluster.join(index).run_until("it is a member", 6_000, |c| c.session(index).is_member());
        cluster.run_ms(700);
    }
    cluster
}

#[test]
fn four_come_one_by_one() {
    let mut cluster = staggered(60, Conditions::latency_ms(30));
    cluster.run_ms(5_000).expect_together(&[0, 1, 2, 3]);
    assert_eq!(cluster.stalls()[0], 0, "no peer waited for a joiner:\n{}", cluster.describe());
    for index in 0..4 {
        let joined = cluster.count(index, |event| matches!(event, SessionEvent::Joined { .. }));
        assert_eq!(joined, 4 - index.max(1), "a peer hears once of itself and of each later one");
    }
}

#[test]
fn four_come_one_by_one_while_packets_get_lost() {
    let lossy = Conditions { loss: Chance::percent(2), jitter: ms(8), ..Conditions::latency_ms(30) };
    for seed in 61..64 {
        let mut cluster = staggered(seed, lossy);
        cluster.run_ms(8_000).expect_together(&[0, 1, 2, 3]);
        let rollbacks: u64 = (0..4).map(|index| cluster.session(index).stats().rollbacks).sum();
        assert!(rollbacks > 50, "only {rollbacks} rollbacks: nothing was put to the test");
    }
}

#[test]
fn large_snapshot_arrives_over_lossy_link() {
    let lossy = Conditions { loss: Chance::percent(10), jitter: ms(15), ..Conditions::latency_ms(40) };
    for (seed, state_bytes) in [(80, 2_400), (81, 40_000)] {
        let mut cluster = Cluster::configured(3, 2, seed, config(4), state_bytes);
        cluster.weather(lossy).run_ms(2_000);
        cluster.join(2).run_until("it is in", 8_000, |c| c.session(2).is_member());
        cluster.run_ms(2_000).expect_together(&[0, 1, 2]);
        assert_eq!(cluster.session(2).stats().snapshots_received, 1, "{}", cluster.describe());
    }
}

#[test]
fn joiner_counts_from_same_frame_on_all_peers() {
    for seed in 82..86 {
        let mut cluster = Cluster::of(3, 2, seed);
        cluster.weather(Conditions { jitter: ms(20), ..Conditions::latency_ms(45) }).run_ms(2_000);
        cluster.join(2).run_until("it is in", 4_000, |c| c.session(2).is_member());
        cluster.run_ms(1_000).expect_together(&[0, 1, 2]);
        let first = cluster.machines[0].events.iter().find_map(|event| match event {
            SessionEvent::Joined { peer, first, .. } if *peer == cluster.id(2) => Some(*first),
            _ => None,
        });
        let first = first.expect("machine 0 was told");
        for (index, machine) in cluster.machines.iter().enumerate() {
            let (frame, counted) = (machine.straight_at, machine.present_frames[2]);
            let there = frame.since(first) + 1;
            assert_eq!(counted, there, "machine {index} at {frame}, {first}\n{}", cluster.describe());
        }
    }
}

#[test]
fn same_peer_joins_and_leaves_repeatedly() {
    let mut cluster = Cluster::of(3, 2, 64);
    cluster.run_ms(1_500);
    for round in 0..3 {
        cluster.join(2).run_until("it is in", 3_000, |c| c.session(2).is_member());
        // The peer leaves again before it has caught up.
        cluster.run_ms(100).leave(2).run_until("it is out", 2_000, |c| c.session(2).is_closed());
        cluster.crash(2).run_ms(200).expect_together(&[0, 1]);
        let present = cluster.session(0).slots_at(cluster.session(0).confirmed_frame());
        assert_eq!(present.len(), 2, "round {round}");
    }
    assert_eq!(cluster.stalls()[..2], [0, 0], "{}", cluster.describe());
    let left = |event: &SessionEvent| matches!(event, SessionEvent::Left { .. });
    assert_eq!((cluster.count(0, left), cluster.count(1, left)), (3, 3));
}

#[test]
fn joiner_gone_at_once_leaves_no_trace() {
    let mut cluster = Cluster::of(3, 2, 65);
    cluster.run_ms(1_500);
    for after_ms in [1, 60, 140, 220] {
        cluster.join(2).run_ms(after_ms).crash(2).run_ms(5_000).expect_together(&[0, 1]);
        assert_eq!(cluster.session(0).roster().iter().filter(|row| row.is_active()).count(), 2);
    }
}

#[test]
fn three_peers_agree_on_last_frame_of_fourth() {
    // Each of the other peers heard it up to another frame when it fell silent.
    for seed in 66..70 {
        let mut cluster = Cluster::of(4, 4, seed);
        cluster.run_ms(2_000);
        for (other, latency) in [(0, 10), (1, 60), (2, 110)] {
            cluster.net.set_both(3, other, Conditions::latency_ms(latency));
        }
        cluster.run_ms(1_000 + seed).crash(3).run_ms(6_000).expect_together(&[0, 1, 2]);
        let last = |index: usize| {
            cluster.machines[index].events.iter().find_map(|event| match event {
                SessionEvent::Left { peer, last } if *peer == cluster.id(3) => Some(*last),
                _ => None,
            })
        };
        assert!(last(0).is_some(), "{}", cluster.describe());
        assert_eq!((last(0), last(0)), (last(1), last(2)), "peers count different inputs of it");
    }
}

#[test]
fn brief_link_loss_costs_no_slot() {
    let mut cluster = Cluster::of(4, 4, 70);
    cluster.run_ms(2_000).clear_events();
    for _ in 0..3 {
        cluster.net.apply(&NetChange::Disconnect(0, 3));
        cluster.run_ms(400);
        cluster.net.apply(&NetChange::Connect(0, 3));
        cluster.run_ms(1_500);
    }
    cluster.expect_together(&[0, 1, 2, 3]);
    let left = |event: &SessionEvent| matches!(event, SessionEvent::Left { .. });
    assert_eq!((0..4).map(|index| cluster.count(index, left)).sum::<usize>(), 0, "{}", cluster.describe());
}

#[test]
fn returning_peer_gets_old_slot_from_new_leader() {
    let mut cluster = Cluster::of(3, 3, 71);
    cluster.run_ms(2_000).crash(0).run_ms(5_000).expect_together(&[1, 2]);
    cluster.rejoin(0, SlotSet::of(Slot::at(0)));
    cluster.run_until("it is back", 4_000, |c| c.session(0).is_member());
    cluster.run_ms(1_000).expect_together(&[0, 1, 2]);
    let session = cluster.session(0);
    assert_eq!(session.local_slots(), SlotSet::of(Slot::at(0)));
    assert_eq!(session.leader_at(session.confirmed_frame()), Some(cluster.id(1)), "not the lead any more");
}

#[test]
fn overflowing_counters_are_harmless() {
    // Twice as many frames as 16 bits can count: at 60 per second they overflow after 18 minutes,
    // and again after 36.
    let fast = TimelineConfig { tick_rate: 250, ..config(4) };
    let mut cluster = Cluster::configured(3, 2, 72, fast, 0);
    cluster.weather(Conditions::latency_ms(8)).run_ms(523_000).clear_events();
    cluster.join(2).run_until("it is in", 3_000, |c| c.session(2).is_member());
    cluster.run_ms(2_000).expect_together(&[0, 1, 2]);
    assert!(cluster.session(2).confirmed_frame() > Frame::new(2 * 65_536), "{}", cluster.describe());
    cluster.crash(1).run_ms(5_000).expect_together(&[0, 2]);
    cluster.leave(0).run_ms(1_500).crash(0).run_ms(200);
    assert_eq!(cluster.session(2).slots_at(cluster.session(2).confirmed_frame()).len(), 1);
}

#[test]
fn clocks_with_other_origin_measure_equally() {
    let mut cluster = Cluster::empty(2, 75);
    cluster.net.apply(&NetChange::Clock { peer: 1, shows: Micros::from_secs(3_600) });
    cluster.found(0, 1).run_ms(200).join(1);
    cluster.run_until("it is in", 3_000, |c| c.session(1).is_member());
    cluster.run_ms(2_000).expect_together(&[0, 1]);
    for (index, other) in [(0, 1), (1, 0)] {
        let stats = cluster.session(index).peer_stats(cluster.id(other));
        let rtt = stats.and_then(|stats| stats.rtt).map_or(0, Micros::as_millis);
        assert!((95..=140).contains(&rtt), "twice 50 ms and a frame or two: {rtt}\n{}", cluster.describe());
    }
}
