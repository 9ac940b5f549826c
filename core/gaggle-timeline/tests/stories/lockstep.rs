//! Lockstep: with a window of 0 peers join, leave, crash, return, spectate, part and recover as
//! with a larger one, and not one frame is ever simulated twice.

use crate::cluster::{Cluster, ms};
use gaggle_kit::{Frame, Micros, Slot, SlotSet};
use gaggle_link::sim::{Chance, Conditions, NetChange};
use gaggle_timeline::{Quorum, SessionEvent, TimelineConfig};

fn config(slots: usize) -> TimelineConfig {
    TimelineConfig { slot_count: slots, ..TimelineConfig::lockstep() }
}

fn of(machines: usize, players: usize, seed: u64) -> Cluster {
    Cluster::configured(machines, players, seed, config(machines.max(4)), 0)
}

fn cut() -> Conditions {
    Conditions { is_cut: true, ..Conditions::latency_ms(50) }
}

fn joined(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Joined { .. })
}

fn left(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Left { .. })
}

fn abandoned(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::BranchAbandoned { .. })
}

fn recovered(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::DesyncRecovered { .. })
}

fn confirmed(cluster: &Cluster, index: usize) -> Frame {
    cluster.session(index).confirmed_frame()
}

/// These play one match, at full speed, and no machine has ever simulated on predicted input.
fn expect_lockstep(cluster: &mut Cluster, who: &[usize]) {
    let before = who.iter().map(|index| cluster.session(*index).current_frame()).collect::<Vec<_>>();
    cluster.run_ms(2_000).expect_together(who);
    for (index, before) in who.iter().zip(before) {
        let played = cluster.session(*index).current_frame().since(before);
        assert!(played >= 110, "{index} played {played} frames in two seconds:\n{}", cluster.describe());
    }
    for (index, machine) in cluster.machines.iter().enumerate() {
        let session = machine.timeline.session();
        let stats = session.stats();
        assert_eq!((stats.rollbacks, stats.frames_resimulated), (0, 0), "{index}:\n{}", cluster.describe());
        assert!(session.current_frame() <= session.confirmed_frame(), "{index}:\n{}", cluster.describe());
    }
}

fn expect_one_branch(cluster: &mut Cluster, limit_ms: u64) {
    let all = cluster.machines.len();
    cluster.run_until("all are in one match", limit_ms, |c| {
        let branch = c.session(0).branch_id();
        (0..all).all(|index| c.session(index).is_member() && c.session(index).branch_id() == branch)
    });
}

#[test]
fn joiner_stalls_no_lockstep_peer() {
    for seed in 0..4 {
        let mut cluster = of(4, 3, seed);
        cluster.run_ms(3_000);
        let stalls = cluster.stalls();
        cluster.join(3).run_until("the fourth is a member", 3_000, |c| c.session(3).is_member());
        expect_lockstep(&mut cluster, &[0, 1, 2, 3]);
        assert_eq!(cluster.stalls()[..3], stalls[..3], "no peer waits for a joiner: {}", cluster.describe());
        for index in 0..4 {
            assert_eq!(cluster.count(index, joined), 1, "{}", cluster.describe());
        }
    }
}

#[test]
fn lone_lockstep_peer_has_no_delay_and_gets_company() {
    let mut cluster = of(4, 0, 2);
    cluster.found(0, 1).run_ms(2_000);
    assert!(cluster.session(0).current_frame() >= Frame::new(115), "alone at full speed");
    assert_eq!((cluster.stalls()[0], cluster.session(0).stats().input_delay_frames), (0, 0));
    cluster.join(1).join(2).join(3);
    cluster.run_until("all are members", 4_000, |c| (1..4).all(|index| c.session(index).is_member()));
    cluster.run_ms(1_000);
    let stalls = cluster.stalls();
    expect_lockstep(&mut cluster, &[0, 1, 2, 3]);
    assert_eq!(cluster.stalls(), stalls, "the delay covers the latency");
    assert!((0..4).all(|index| cluster.session(index).stats().input_delay_frames >= 4));
}

#[test]
fn lockstep_goodbye_costs_no_stall() {
    for (seed, gone) in [(4, 2), (5, 0)] {
        let mut cluster = of(4, 4, seed);
        cluster.run_ms(3_000).clear_events();
        let stalls = cluster.stalls();
        cluster.leave(gone).run_until("the goodbye is done", 1_000, |c| c.session(gone).is_closed());
        cluster.crash(gone);
        let others: Vec<usize> = (0..4).filter(|index| *index != gone).collect();
        expect_lockstep(&mut cluster, &others);
        assert_eq!(cluster.stalls(), stalls, "{}", cluster.describe());
        for index in others {
            assert_eq!(cluster.count(index, left), 1, "{}", cluster.describe());
        }
    }
}

#[test]
fn lockstep_crash_stalls_until_timeout_only() {
    for (seed, gone, timeout_ms) in [(7, 2, 3_000), (8, 0, 3_000), (9, 1, 2_000)] {
        let config = TimelineConfig { timeout: ms(timeout_ms), ..config(4) };
        let mut cluster = Cluster::configured(3, 3, seed, config, 0);
        cluster.run_ms(3_000).clear_events();
        let before = cluster.stalls();
        cluster.crash(gone).run_ms(timeout_ms + 2_000);
        let others: Vec<usize> = (0..3).filter(|index| *index != gone).collect();
        expect_lockstep(&mut cluster, &others);
        for index in others {
            let stalled = cluster.stalls()[index] - before[index];
            // The timeout and two round trips, less what the delay had covered.
            let most = timeout_ms * 60 / 1_000 + 12;
            assert!((most - 30..=most).contains(&stalled), "{stalled}:\n{}", cluster.describe());
            assert_eq!(cluster.count(index, left), 1, "{}", cluster.describe());
        }
    }
}

#[test]
fn crashed_lockstep_peer_gets_slot_back() {
    let mut cluster = of(3, 3, 10);
    cluster.run_ms(3_000).clear_events();
    let stalls = cluster.stalls();
    cluster.crash(1).run_ms(150).rejoin(1, SlotSet::of(Slot::at(1)));
    cluster.run_until("it is back", 3_000, |c| c.session(1).is_member());
    expect_lockstep(&mut cluster, &[0, 1, 2]);
    assert_eq!(cluster.session(1).local_slots(), SlotSet::of(Slot::at(1)));
    for index in [0, 2] {
        let stalled = cluster.stalls()[index] - stalls[index];
        assert!((1..60).contains(&stalled), "no timeout is waited for: {stalled}");
        assert_eq!((cluster.count(index, left), cluster.count(index, joined)), (1, 1));
    }
}

#[test]
fn lockstep_survives_leader_crash_during_join() {
    let mut exercised = 0;
    for after_ms in [20, 200, 280, 340, 400, 520] {
        let mut cluster = Cluster::configured(4, 3, after_ms, config(4), 40_000);
        cluster.run_ms(2_000).join(3).run_ms(after_ms);
        exercised += u32::from(!cluster.session(3).is_member());
        cluster.crash(0).run_until("it is in", 12_000, |c| c.session(3).is_member());
        cluster.run_ms(4_000);
        expect_lockstep(&mut cluster, &[1, 2, 3]);
    }
    assert!(exercised >= 3, "only {exercised} of these were under way");
}

#[test]
fn lockstep_spectator_follows_without_disturbing() {
    let mut cluster = Cluster::configured(6, 3, 51, config(4), 20_000);
    cluster.run_ms(2_000);
    let stalls = cluster.stalls();
    cluster.watch(4).watch(5).run_until("it shows the match", 3_000, |c| c.session(4).is_running());
    cluster.run_ms(3_000);
    assert_eq!(cluster.stalls()[..3], stalls[..3], "no player waits for spectators");
    cluster.join(3).run_until("a fourth plays", 3_000, |c| c.session(3).is_member());
    cluster.leave(0).run_ms(2_000).crash(0).run_ms(2_000);
    expect_lockstep(&mut cluster, &[1, 2, 3]);
    for index in [4, 5] {
        let session = cluster.session(index);
        assert!(session.is_spectating() && session.local_slots().is_empty());
        let behind = confirmed(&cluster, 1).since(session.current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", cluster.describe());
        assert!(cluster.machines[index].compared > 300, "{}", cluster.machines[index].compared);
    }
}

#[test]
fn split_lockstep_match_reunites() {
    let mut cluster = of(5, 5, 14);
    cluster.run_ms(3_000);
    cluster.net.apply(&NetChange::Partition(vec![vec![0, 1], vec![2, 3, 4]]));
    cluster.run_ms(10_000);
    cluster.expect_together(&[0, 1]).expect_together(&[2, 3, 4]);
    assert_ne!(cluster.session(0).branch_id(), cluster.session(2).branch_id(), "both halves play");
    cluster.clear_events().net.apply(&NetChange::Heal);
    expect_one_branch(&mut cluster, 20_000);
    cluster.run_ms(1_000);
    expect_lockstep(&mut cluster, &[0, 1, 2, 3, 4]);
    assert_eq!([0, 1, 2, 3, 4].map(|index| cluster.count(index, abandoned)), [1, 1, 0, 0, 0]);
    let slots = [0, 1, 2, 3, 4].map(|index| cluster.session(index).local_slots().bits());
    assert_eq!(slots, [1, 2, 4, 8, 16]);
}

#[test]
fn minority_of_lockstep_match_waits_and_returns() {
    let config = TimelineConfig { quorum: Quorum::Majority, ..config(5) };
    let mut cluster = Cluster::configured(5, 5, 80, config, 0);
    cluster.run_ms(3_000);
    cluster.net.apply(&NetChange::Partition(vec![vec![0, 1], vec![2, 3, 4]]));
    cluster.run_ms(6_000);
    let (stood, went) = ([0, 1].map(|index| confirmed(&cluster, index)), confirmed(&cluster, 2));
    cluster.run_ms(6_000).expect_together(&[2, 3, 4]);
    assert_eq!([0, 1].map(|index| confirmed(&cluster, index)), stood, "two of five decide nothing");
    assert!(confirmed(&cluster, 2).since(went) > 300, "three of five play on");
    cluster.net.apply(&NetChange::Heal);
    expect_one_branch(&mut cluster, 20_000);
    cluster.run_ms(1_000);
    expect_lockstep(&mut cluster, &[0, 1, 2, 3, 4]);
    assert!((2..5).all(|index| cluster.count(index, abandoned) == 0), "{}", cluster.describe());
}

#[test]
fn lockstep_plays_through_third_peer() {
    let mut cluster = of(3, 3, 13);
    cluster.run_ms(3_000).clear_events();
    let branch = cluster.session(0).branch_id();
    cluster.net.set_both(0, 1, cut());
    cluster.run_ms(10_000);
    expect_lockstep(&mut cluster, &[0, 1, 2]);
    assert_eq!(cluster.session(0).branch_id(), branch, "no peer is cut:\n{}", cluster.describe());
    let stalled: u64 = cluster.stalls().iter().sum();
    assert!(stalled < 360, "{stalled} ticks stalled in ten seconds:\n{}", cluster.describe());
}

#[test]
fn sleeping_lockstep_peer_returns_as_same_player() {
    for sleep_ms in [2_000, 8_000] {
        let mut cluster = of(3, 3, 15);
        cluster.run_ms(3_000).clear_events();
        cluster.machines[1].asleep_until = cluster.now() + ms(sleep_ms);
        cluster.run_ms(sleep_ms);
        expect_one_branch(&mut cluster, 10_000);
        cluster.run_ms(1_000);
        expect_lockstep(&mut cluster, &[0, 1, 2]);
        assert_eq!(cluster.session(1).local_slots(), SlotSet::of(Slot::at(1)));
        // Only one that slept beyond the timeout was taken out.
        let gone = usize::from(sleep_ms > 3_000);
        assert_eq!([0, 2].map(|index| cluster.count(index, left)), [gone; 2], "{}", cluster.describe());
    }
}

#[test]
fn wrong_state_in_lockstep_is_replaced() {
    for (victim, bulk_bytes) in [(0, 0), (1, 0), (2, 200_000)] {
        let mut cluster = Cluster::configured(3, 3, 30 + victim as u64, config(4), bulk_bytes);
        cluster.run_ms(2_000).clear_events();
        let stalls = cluster.stalls();
        cluster.flip_a_bit(victim);
        cluster.run_until("it is made good", 8_000, |c| c.session(victim).stats().recoveries == 1);
        cluster.machines[victim].damaged = false;
        cluster.run_ms(2_000);
        assert_eq!([0, 1, 2].map(|index| cluster.count(index, recovered)), [1; 3]);
        let others = (0..3).filter(|index| *index != victim);
        assert!(others.clone().all(|index| cluster.session(index).stats().recoveries == 0));
        assert!(others.clone().all(|index| cluster.stalls()[index] == stalls[index]), "no peer waits");
        cluster.clear_events();
        expect_lockstep(&mut cluster, &[0, 1, 2]);
    }
}

#[test]
fn lockstep_holds_on_bad_network() {
    for seed in 20..23 {
        let mut cluster = of(4, 3, seed);
        let bad = Conditions {
            jitter: ms(30),
            loss: Chance::percent(8),
            duplicate: Chance::percent(2),
            reorder: Chance::percent(5),
            ..Conditions::latency_ms(60)
        };
        cluster.weather(bad).run_ms(3_000);
        for round in 0..2 {
            cluster.join(3).run_until("it is a member", 10_000, |c| c.session(3).is_member());
            cluster.run_ms(2_000);
            if round == 0 {
                cluster.leave(3).run_until("it is out", 2_000, |c| c.session(3).is_closed());
            }
            cluster.crash(3).run(Micros::from_secs(6)).expect_together(&[0, 1, 2]);
        }
        expect_lockstep(&mut cluster, &[0, 1, 2]);
    }
}

/// Round trips of 40 to 160 ms between six players, jitter 20 ms, loss 3 %.
fn six_on_mixed_links(seed: u64) -> (Cluster, u64) {
    let cluster = Cluster::configured(6, 6, seed, config(6), 0);
    let mut slowest = 0;
    for a in 0..6 {
        for b in a + 1..6 {
            let one_way = 20 + 60 * ((a * 5 + b * 3 + seed as usize) % 7) as u64 / 6;
            slowest = slowest.max(one_way);
            let conditions =
                Conditions { jitter: ms(20), loss: Chance::percent(3), ..Conditions::latency_ms(one_way) };
            cluster.net.set_both(a, b, conditions);
        }
    }
    (cluster, slowest)
}

#[test]
fn delay_covers_jitter_and_loss_in_lockstep() {
    let (mut frames, mut stalled) = (0, 0);
    for seed in 0..4 {
        let (mut cluster, slowest) = six_on_mixed_links(seed);
        cluster.run_ms(3_000);
        let (stalls, at) = (cluster.stalls(), cluster.session(0).current_frame());
        cluster.run_ms(60_000).expect_together(&[0, 1, 2, 3, 4, 5]);
        frames += 6 * u64::from(cluster.session(0).current_frame().since(at));
        stalled += cluster.stalls().iter().zip(&stalls).map(|(now, then)| now - then).sum::<u64>();
        let delays = [0, 1, 2, 3, 4, 5].map(|index| cluster.session(index).stats().input_delay_frames);
        let covered = ((slowest + 20) * 60).div_ceil(1_000) + 3;
        println!(
            "seed {seed}: slowest {slowest} ms, delays {delays:?} of {covered}, stalled {stalled} of {frames}"
        );
        let bytes = (0..6).map(|index| cluster.session(index).stats().bytes_sent).max().unwrap() / 63;
        println!("{bytes} bytes a second");
        assert!(delays.iter().all(|delay| u64::from(*delay) <= covered), "{delays:?} of {covered}");
        assert!(bytes <= 4_200, "{bytes} bytes a second");
    }
    assert!(stalled * 1_000 <= frames, "{stalled} of {frames} frames stalled");
}
