//! Spectators soon show confirmed frames, and no player is disturbed.

use crate::cluster::{Cluster, config};
use gaggle_link::sim::{Conditions, NetChange};
use gaggle_timeline::SessionEvent;

fn recovered(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::DesyncRecovered { .. })
}

#[test]
fn spectator_follows_joins_and_leaves() {
    let mut cluster = Cluster::configured(6, 3, 51, config(4), 20_000);
    cluster.run_ms(2_000);
    let stalls = cluster.stalls();
    cluster.watch(4).watch(5).run_until("it shows the match", 3_000, |c| c.session(4).is_running());
    cluster.run_ms(3_000);
    assert_eq!(cluster.stalls()[..3], stalls[..3], "no player waits for spectators");
    cluster.join(3).run_until("a fourth plays", 3_000, |c| c.session(3).is_member());
    cluster.leave(0).run_ms(3_000).crash(0);
    cluster.run_ms(3_000).expect_together(&[1, 2, 3]);
    let playing = cluster.session(1).confirmed_frame();
    for index in [4, 5] {
        let session = cluster.session(index);
        assert!(session.is_spectating() && !session.is_member() && session.local_slots().is_empty());
        assert!(session.current_frame() <= session.confirmed_frame(), "nothing guessed is shown");
        let behind = playing.since(session.current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", cluster.describe());
        assert_eq!(session.stats().rollbacks, 0);
        assert!(cluster.machines[index].compared > 300, "{}", cluster.machines[index].compared);
    }
    assert_eq!(
        cluster.session(1).roster().iter().filter(|row| row.is_active()).count(),
        3,
        "no seat is taken"
    );
}

#[test]
fn spectators_survive_leaving_donor() {
    for seed in 52..56 {
        let mut cluster = Cluster::of(4, 3, seed);
        cluster.run_ms(1_500).watch(3).run_ms(2_000);
        let donor = (0..3).find(|index| cluster.session(*index).stats().snapshots_sent > 0);
        let donor = donor.expect("a donor sent it a snapshot");
        cluster.crash(donor).run_ms(9_000);
        let others: Vec<usize> = (0..3).filter(|index| *index != donor).collect();
        cluster.expect_together(&others);
        let behind = cluster.session(others[0]).confirmed_frame().since(cluster.session(3).current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", cluster.describe());
        assert_eq!(cluster.count(3, |event| matches!(event, SessionEvent::PeerFault { .. })), 0);
    }
}

#[test]
fn those_who_watch_pass_it_on_to_each_other() {
    let mut cluster = Cluster::configured(24, 2, 57, config(4), 0);
    cluster.run_ms(1_500);
    for index in 2..24 {
        cluster.watch(index).run_ms(60);
    }
    let stalls = cluster.stalls();
    cluster.run_ms(8_000).expect_together(&[0, 1]);
    assert_eq!(cluster.stalls()[..2], stalls[..2]);
    let playing = cluster.session(0).confirmed_frame();
    for index in 2..24 {
        let behind = playing.since(cluster.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", cluster.describe());
    }
    let passed_on: u64 = (2..24).map(|index| cluster.session(index).stats().snapshots_sent).sum();
    assert!(passed_on >= 6, "only {passed_on} were fed by others who watch");
}

/// Events of a peer about another one's liveness, and about its own end.
fn told_of(cluster: &Cluster, index: usize, other: usize) -> Vec<&'static str> {
    let who = cluster.id(other);
    let name = |event: &SessionEvent| match event {
        SessionEvent::Interrupted { peer } if *peer == who => Some("interrupted"),
        SessionEvent::TimedOut { peer } if *peer == who => Some("gone"),
        SessionEvent::Resumed { peer } if *peer == who => Some("resumed"),
        SessionEvent::Left { peer, .. } if *peer == who => Some("left"),
        _ => None,
    };
    cluster.machines[index].events.iter().filter_map(name).collect()
}

#[test]
fn spectator_behind_spectator_reports_no_false_silence() {
    let mut cluster = Cluster::configured(5, 3, 61, config(4), 0);
    cluster.run_ms(1_500).watch_via(3, &[0, 1, 2]).run_ms(1_500).watch_via(4, &[3]);
    cluster.run_until("the second one shows it, too", 5_000, |c| c.session(4).is_running());
    cluster.run_ms(10_000);
    assert!(cluster.session(3).stats().snapshots_sent > 0, "the first one passes it on");
    let playing = cluster.session(0).confirmed_frame();
    assert!(playing.since(cluster.session(4).current_frame()) < 60, "{}", cluster.describe());
    for player in 0..3 {
        assert_eq!(told_of(&cluster, 4, player), [""; 0], "{player} plays on:\n{}", cluster.describe());
    }
    cluster.crash(2).run_ms(8_000).expect_together(&[0, 1]);
    assert_eq!(told_of(&cluster, 3, 2), ["interrupted", "left"], "it heard it, and then no peer did");
    assert_eq!(told_of(&cluster, 4, 2), ["left"], "it never heard it, and sees it go");
}

/// A spectator of three players, fed by one of them. Returns which of the others will fall silent.
fn watched(cluster: &mut Cluster) -> usize {
    cluster.run_ms(1_500).watch(3).run_ms(2_000);
    let feeder = (0..3).find(|index| cluster.session(*index).stats().snapshots_sent > 0);
    (feeder.expect("a donor sent it a snapshot") + 1) % 3
}

#[test]
fn spectator_with_dead_link_sees_player_through_others() {
    let mut cluster = Cluster::of(4, 3, 62);
    let silent = watched(&mut cluster);
    cluster.net.set_both(silent, 3, Conditions { is_cut: true, ..Conditions::latency_ms(50) });
    cluster.run_ms(8_000).expect_together(&[0, 1, 2]);
    assert_eq!(told_of(&cluster, 3, silent), [""; 0], "{}", cluster.describe());
}

#[test]
fn spectator_is_told_of_stall_and_its_end() {
    let mut cluster = Cluster::of(4, 3, 63);
    let silent = watched(&mut cluster);
    let others: Vec<usize> = (0..4).filter(|other| *other != silent).collect();
    for other in &others {
        cluster.net.set_both(silent, *other, Conditions { is_cut: true, ..Conditions::latency_ms(50) });
    }
    cluster.run_ms(2_400);
    assert_eq!(told_of(&cluster, 3, silent), ["interrupted"], "{}", cluster.describe());
    for other in others.iter().filter(|other| **other != 3) {
        cluster.net.set_both(silent, *other, Conditions::latency_ms(50));
    }
    cluster.run_ms(4_000).expect_together(&[0, 1, 2]);
    assert_eq!(told_of(&cluster, 3, silent), ["interrupted", "resumed"], "though its own link stays dead");
}

#[test]
fn spectator_of_yielding_branch_is_told_of_other() {
    let mut cluster = Cluster::of(4, 3, 64);
    cluster.run_ms(1_500).watch(3).run_ms(2_000);
    cluster.net.apply(&NetChange::Partition(vec![vec![0, 3], vec![1, 2]]));
    cluster.run_ms(12_000).expect_together(&[1, 2]);
    assert_eq!(
        cluster.session(3).branch_id(),
        cluster.session(0).branch_id(),
        "it watches who went on alone"
    );
    let roster = |cluster: &Cluster| cluster.session(3).roster().iter().filter(|row| row.is_active()).count();
    assert_eq!((roster(&cluster), told_of(&cluster, 3, 1)), (1, vec!["interrupted", "left"]));
    cluster.clear_events().net.apply(&NetChange::Heal);
    cluster.connect_all().run_until("it watches what goes on", 20_000, |c| {
        c.session(3).branch_id() == c.session(1).branch_id() && c.session(0).is_member()
    });
    cluster.run_ms(3_000).expect_together(&[0, 1, 2]);
    assert_eq!(roster(&cluster), 3);
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
    let came = |other: usize| {
        let peer = cluster.id(other);
        cluster.count(3, |event| matches!(event, SessionEvent::Joined { peer: who, .. } if *who == peer))
    };
    let lead = SessionEvent::LeaderChanged { leader: cluster.id(1) };
    assert_eq!(cluster.count(3, lost), 1, "{}", cluster.describe());
    assert_eq!([1, 2].map(came), [1, 1], "{}", cluster.describe());
    assert_eq!(cluster.count(3, |event| *event == lead), 1, "{}", cluster.describe());
}

fn expect_shown(cluster: &Cluster, watchers: std::ops::Range<usize>) {
    for index in watchers {
        let behind = cluster.session(0).confirmed_frame().since(cluster.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", cluster.describe());
    }
}

#[test]
fn many_spectators_block_no_join_and_no_recovery() {
    for seed in 61..64 {
        // All spectators at once, with those that the fewest others can feed last.
        let mut cluster = Cluster::configured(14, 1, seed, config(4), 0);
        cluster.run_ms(1_000);
        (2..13).rev().for_each(|index| _ = cluster.watch(index));
        cluster.run_until("all of them watch", 8_000, |c| (2..13).all(|index| c.session(index).is_running()));
        cluster.run_ms(4_000);
        expect_shown(&cluster, 2..13);
        // A fed spectator stays fed, and is not sent a snapshot again.
        let taken =
            |c: &Cluster| (2..13).map(|index| c.session(index).stats().snapshots_received).sum::<u64>();
        assert!(taken(&cluster) <= 13, "{}:\n{}", taken(&cluster), cluster.describe());
        cluster.join(1).run_until("one more plays", 4_000, |c| c.session(1).is_member());
        cluster.run_ms(1_500).clear_events();
        let desync = |event: &SessionEvent| matches!(event, SessionEvent::DesyncDetected { .. });
        // Resimulation may repair the difference.
        while cluster.count(1, desync) == 0 {
            cluster.flip_a_bit(1).run_ms(1_500);
        }
        cluster.run_until("it is made good", 8_000, |c| c.session(1).stats().recoveries == 1);
        cluster.machines[1].damaged = false;
        // A spectator with the highest id is fed by other spectators; one that returns with a lower
        // id displaces another.
        cluster.watch(13).crash(2).run_ms(4_000).watch(2);
        cluster.run_ms(5_000).clear_events().run_ms(2_000).expect_together(&[0, 1]);
        expect_shown(&cluster, 2..14);
        assert!(taken(&cluster) <= 18, "{}:\n{}", taken(&cluster), cluster.describe());
    }
}

#[test]
fn spectator_of_wrong_state_gets_right_one() {
    for bulk_bytes in [0, 400_000] {
        let mut cluster = Cluster::configured(4, 3, 58, config(4), bulk_bytes);
        cluster.run_ms(1_500).watch(3);
        cluster.run_until("it shows the match", 6_000, |c| c.session(3).is_running());
        cluster.run_ms(2_000).clear_events();
        let stalls = cluster.stalls();
        cluster.flip_a_bit(3);
        cluster.run_until("it is made good", 8_000, |c| c.session(3).stats().recoveries == 1);
        cluster.machines[3].damaged = false;
        let compared = cluster.machines[3].compared;
        cluster.run_ms(4_000);
        assert_eq!(cluster.count(3, recovered), 1, "{}", cluster.describe());
        assert_eq!(cluster.session(3).stats().recoveries, 1, "{}", cluster.describe());
        assert!(cluster.machines[3].compared > compared + 100, "{}", cluster.describe());
        assert_eq!(cluster.stalls()[..3], stalls[..3], "no player notices");
        for index in 0..3 {
            assert_eq!(cluster.machines[index].events, [], "no player notices");
        }
        cluster.clear_events().run_ms(2_000).expect_together(&[0, 1, 2]);
    }
}

#[test]
fn spectator_behind_spectator_is_recovered() {
    let mut cluster = Cluster::of(4, 2, 59);
    cluster.run_ms(1_500).watch_via(2, &[0, 1]);
    cluster.run_until("it shows the match", 4_000, |c| c.session(2).is_running());
    cluster.run_ms(2_500).flip_a_bit(2).run_ms(50);
    // A spectator that joins now through this one gets the wrong state.
    cluster.watch_via(3, &[2]);
    cluster.machines[3].damaged = true;
    cluster.run_until("so does who comes by it", 1_000, |c| c.session(3).is_running());
    cluster.run_until("it is made good", 8_000, |c| c.session(2).stats().recoveries == 1);
    cluster.machines[2].damaged = false;
    cluster.run_until("so is who came by it", 1_000, |c| c.session(3).stats().snapshots_received == 2);
    cluster.machines[3].damaged = false;
    cluster.machines[3].confirmed.clear();
    cluster.clear_events().run_ms(5_000).expect_together(&[0, 1]);
    // Only its donor can tell it that its state is wrong.
    cluster.flip_a_bit(3);
    cluster.run_until("it is made good", 8_000, |c| c.session(3).stats().recoveries == 1);
    cluster.machines[3].damaged = false;
    cluster.clear_events().run_ms(3_000).expect_together(&[0, 1]);
    for index in 2..4 {
        let behind = cluster.session(0).confirmed_frame().since(cluster.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", cluster.describe());
    }
}

#[test]
fn repeatedly_wrong_spectator_backs_off() {
    let mut cluster = Cluster::of(3, 2, 60);
    cluster.run_ms(1_500).watch(2).run_ms(2_000);
    for _ in 0..60 {
        cluster.flip_a_bit(2).run_ms(1_000);
    }
    let recoveries = cluster.session(2).stats().recoveries;
    assert!((2..=7).contains(&recoveries), "{recoveries} in a minute:\n{}", cluster.describe());
    assert_eq!(cluster.count(0, recovered) + cluster.count(1, recovered), 0);
}
