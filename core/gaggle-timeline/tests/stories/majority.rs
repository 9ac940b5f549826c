//! The majority rule: a match has one branch, the smaller part waits, and no played frame is ever
//! taken back.

use crate::cluster::{Cluster, config};
use gaggle_kit::Frame;
use gaggle_link::sim::NetChange;
use gaggle_timeline::{Quorum, SessionEvent, TimelineConfig};

fn of(machines: usize, players: usize, seed: u64) -> Cluster {
    let config = TimelineConfig { quorum: Quorum::Majority, ..config(machines.max(4)) };
    Cluster::configured(machines, players, seed, config, 0)
}

fn confirmed(cluster: &Cluster, index: usize) -> Frame {
    cluster.session(index).confirmed_frame()
}

fn nothing_was_lost(cluster: &Cluster, who: &[usize]) {
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
    for index in who {
        assert_eq!(cluster.count(*index, lost), 0, "{}", cluster.describe());
    }
}

#[test]
fn larger_part_of_split_goes_on_and_smaller_waits() {
    let mut cluster = of(5, 5, 80);
    cluster.run_ms(3_000);
    cluster.net.apply(&NetChange::Partition(vec![vec![0, 1], vec![2, 3, 4]]));
    cluster.run_ms(6_000);
    let stood = [0, 1].map(|index| confirmed(&cluster, index));
    let went = confirmed(&cluster, 2);
    cluster.run_ms(6_000).expect_together(&[2, 3, 4]);
    assert_eq!([0, 1].map(|index| confirmed(&cluster, index)), stood, "two of five decide nothing");
    assert!(confirmed(&cluster, 2).since(went) > 300, "three of five play on");
    cluster.net.apply(&NetChange::Heal);
    cluster.run_until("all are in one match", 20_000, |c| {
        let history = c.session(2).branch_id();
        (0..5).all(|index| c.session(index).is_member() && c.session(index).branch_id() == history)
    });
    cluster.run_ms(2_000).expect_together(&[0, 1, 2, 3, 4]);
    nothing_was_lost(&cluster, &[2, 3, 4]);
}

#[test]
fn parts_without_majority_wait_and_reunite() {
    let mut cluster = of(3, 3, 81);
    cluster.run_ms(3_000).clear_events();
    let parts = vec![vec![0], vec![1], vec![2]];
    cluster.net.apply(&NetChange::Partition(parts));
    cluster.run_ms(8_000);
    let stood = [0, 1, 2].map(|index| confirmed(&cluster, index));
    cluster.run_ms(4_000);
    assert_eq!([0, 1, 2].map(|index| confirmed(&cluster, index)), stood, "one of three decides nothing");
    cluster.net.apply(&NetChange::Heal);
    cluster.run_until("they go on", 15_000, |c| (0..3).all(|index| confirmed(c, index) > stood[index] + 60));
    cluster.run_ms(1_000).expect_together(&[0, 1, 2]);
    // Two peers that meet first may decide without the third, which then joins again.
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
    assert!((0..3).filter(|index| cluster.count(*index, lost) > 0).count() <= 1, "{}", cluster.describe());
}

#[test]
fn awaited_peer_may_join_as_new_incarnation() {
    // The leader crashes and returns, and the other peer may not declare it gone alone. A third
    // joins, loses both for a while and joins again: it waits, and evicts no peer that is not at
    // fault.
    let mut cluster = of(3, 2, 84);
    cluster.run_ms(2_000).crash(0).run_ms(1_000).join(2).join(0);
    let frame = confirmed(&cluster, 1);
    for _ in 0..3 {
        cluster.run_ms(15_000).net.apply(&NetChange::Partition(vec![vec![0, 1], vec![2]]));
        cluster.run_ms(6_000).net.apply(&NetChange::Heal);
        cluster.connect_all();
    }
    cluster.run_ms(15_000);
    assert_eq!(confirmed(&cluster, 1), frame, "one of two may not decide");
    // A peer that is left alone begins a match of its own.
    cluster.crash(0).crash(1).run_until("it plays alone", 8_000, |c| c.session(2).is_member());
    cluster.join(0).run_until("the other one is back", 8_000, |c| c.session(0).is_member());
    cluster.run_ms(1_000).expect_together(&[0, 2]);
}

#[test]
fn leader_of_two_goes_on_and_other_waits() {
    let mut cluster = of(2, 2, 82);
    cluster.run_ms(2_000).crash(1).run_ms(5_000);
    let frame = confirmed(&cluster, 0);
    cluster.run_ms(2_000);
    assert!(confirmed(&cluster, 0).since(frame) > 100, "the lead is half, with the first in rank");
    cluster.join(1).run_until("it is back", 4_000, |c| c.session(1).is_member());
    cluster.run_ms(1_000).expect_together(&[0, 1]);

    let mut cluster = of(2, 2, 83);
    cluster.run_ms(2_000).crash(0).run_ms(5_000);
    let frame = confirmed(&cluster, 1);
    cluster.run_ms(5_000);
    assert_eq!(confirmed(&cluster, 1), frame, "the other half may not decide");
    assert!(cluster.session(1).is_member(), "but it waits in its place");
}

#[test]
fn joiner_soon_has_vote() {
    let mut cluster = of(3, 0, 84);
    cluster.found(0, 1).run_ms(500);
    for index in 1..3 {
        cluster.join(index).run_until("it is in", 4_000, |c| c.session(index).is_member());
    }
    cluster.run_ms(1_500);
    let stalls = cluster.stalls();
    cluster.run_ms(1_500);
    assert_eq!(cluster.stalls(), stalls, "a vote stalls no peer");
    // The creator was the only voter at first.
    cluster.crash(0).run_ms(7_000).expect_together(&[1, 2]);
    assert!(confirmed(&cluster, 1) > Frame::new(350), "two of three go on:\n{}", cluster.describe());
}

#[test]
fn leaver_has_no_vote_after_goodbye() {
    // Five play, two leave, the leader crashes: two are left of three voters.
    let mut cluster = of(5, 5, 85);
    cluster.run_ms(2_000);
    for index in [3, 4] {
        cluster.leave(index).run_until("the goodbye is done", 3_000, |c| c.session(index).is_closed());
        cluster.crash(index);
    }
    cluster.run_ms(500).crash(0).run_ms(6_000);
    let frame = confirmed(&cluster, 1);
    cluster.run_ms(2_000).expect_together(&[1, 2]);
    assert!(confirmed(&cluster, 1).since(frame) > 100, "{}", cluster.describe());
}

#[test]
fn peer_waiting_for_majority_may_leave() {
    let mut cluster = of(3, 3, 86);
    cluster.run_ms(2_000).crash(0).crash(1).run_ms(6_000);
    cluster.leave(2).run_until("it is out", 6_000, |c| c.session(2).is_closed());
}

fn of_at_least_two(seed: u64) -> Cluster {
    Cluster::configured(2, 2, seed, TimelineConfig { quorum_min: 2, ..config(4) }, 0)
}

#[test]
fn lone_peer_waits_for_minimum_until_reunion() {
    let mut cluster = of_at_least_two(87);
    cluster.run_ms(2_000);
    cluster.net.apply(&NetChange::Partition(vec![vec![0], vec![1]]));
    cluster.run_ms(6_000);
    let stood = [0, 1].map(|index| confirmed(&cluster, index));
    cluster.run_ms(4_000);
    assert_eq!([0, 1].map(|index| confirmed(&cluster, index)), stood, "none goes on alone");
    cluster.net.apply(&NetChange::Heal);
    cluster.run_until("they go on", 10_000, |c| (0..2).all(|index| confirmed(c, index) > stood[index] + 60));
    cluster.run_ms(1_000).expect_together(&[0, 1]);
    nothing_was_lost(&cluster, &[0, 1]);
}

#[test]
fn lone_peer_waits_for_crashed_peer_to_return() {
    for crashed in [0, 1] {
        let mut cluster = of_at_least_two(88);
        cluster.run_ms(2_000).crash(crashed).run_ms(6_000);
        let left = 1 - crashed;
        let stood = confirmed(&cluster, left);
        cluster.run_ms(4_000);
        assert_eq!(confirmed(&cluster, left), stood, "it does not go on alone");
        assert!(cluster.session(left).is_member(), "but waits in its place");
        cluster.join(crashed).run_until("it is back", 10_000, |c| c.session(crashed).is_member());
        cluster.run_ms(2_000).expect_together(&[0, 1]);
        assert!(confirmed(&cluster, left) > stood + 60, "both go on:\n{}", cluster.describe());
        nothing_was_lost(&cluster, &[left]);
    }
}

#[test]
fn waiting_peer_reports_stall_end_after_snapshot() {
    let mut cluster = of(3, 3, 84);
    cluster.run_ms(3_000).clear_events();
    cluster.net.apply(&NetChange::Isolate(2));
    cluster.run_ms(6_000);
    cluster.net.apply(&NetChange::Heal);
    cluster.run_until("it plays again", 20_000, |c| c.session(2).stats().snapshots_received > 0);
    cluster.run_ms(2_000).expect_together(&[0, 1, 2]);
    let stalls = cluster.machines[2].events.iter().filter_map(|event| match event {
        SessionEvent::Stalled { .. } => Some(true),
        SessionEvent::StallEnded { .. } => Some(false),
        _ => None,
    });
    let stalls: Vec<bool> = stalls.collect();
    let in_turn = stalls.iter().enumerate().all(|(nth, stalled)| *stalled == nth.is_multiple_of(2));
    assert!(
        stalls.len() >= 2 && stalls.len().is_multiple_of(2) && in_turn,
        "{stalls:?}\n{}",
        cluster.describe()
    );
}
