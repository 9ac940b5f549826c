//! Desyncs are located even if they happen soon after a join or a recovery.

use crate::cluster;
use crate::cluster::Cluster;
use gaggle_timeline::{DesyncCause, SessionEvent};

/// Asserts that all peers that compared checksums with this peer, and the peer itself, report this
/// frame and no other.
fn expect_located(cluster: &mut Cluster, odd: usize, frame: u32, story: &str) {
    let is_told = |cluster: &Cluster, index: usize| {
        cluster.count(index, |event| matches!(event, SessionEvent::DesyncLocated { .. })) > 0
    };
    let end = cluster.now() + cluster::ms(12_000);
    while !(0..3).all(|index| is_told(cluster, index)) && cluster.now() < end {
        cluster.run_ms(50);
    }
    for index in 0..3 {
        let located: Vec<DesyncCause> = cluster.machines[index]
            .events
            .iter()
            .filter_map(|event| match event {
                SessionEvent::DesyncLocated { cause, .. } => Some(*cause),
                _ => None,
            })
            .collect();
        let right = |cause: &DesyncCause| matches!(cause, DesyncCause::NondeterministicTick { frame: at } if at.number() == frame);
        let all_right = !located.is_empty() && located.iter().all(right);
        assert!(
            all_right,
            "{story}: {odd} in frame {frame}, told {index}: {located:?}\n{}",
            cluster.describe()
        );
    }
}

#[test]
fn desync_after_join_is_located_to_frame() {
    for later in [1, 10, 25, 40, 55] {
        for seed in 0..3 {
            let mut cluster = Cluster::of(3, 2, 90 + seed);
            cluster.run_ms(2_000 + 330 * seed).clear_events().join(2);
            cluster.run_until("it is in", 6_000, |c| c.session(2).is_member());
            let first = cluster.session(2).roster().iter().map(|row| row.first_frame.number()).max();
            let frame = first.expect("a roster").max(cluster.session(2).current_frame().number()) + later;
            cluster.compute_oddly(2, frame);
            expect_located(&mut cluster, 2, frame, &format!("{later} after a join, {seed}"));
        }
    }
}

#[test]
fn desync_while_joining_is_located_to_frame() {
    for later in [2, 8, 20] {
        let mut cluster = Cluster::of(3, 2, 95);
        cluster.run_ms(2_500).clear_events().join(2);
        cluster.run_until("it has a state", 6_000, |c| c.session(2).is_running());
        let frame = cluster.session(2).start_frame().number() + later;
        let current = cluster.session(2).current_frame().number();
        assert!(frame > current, "{later} after the state is no frame to come: it is at {current}");
        cluster.compute_oddly(2, frame);
        expect_located(&mut cluster, 2, frame, &format!("{later} after the state"));
    }
}

#[test]
fn desync_after_recovery_is_located_to_frame() {
    for later in [10, 30, 50] {
        for seed in 0..3 {
            let mut cluster = Cluster::of(3, 3, 70 + seed);
            cluster.run_ms(2_000).clear_events();
            for _ in 0..4 {
                cluster.flip_a_bit(2).run_ms(90);
            }
            cluster.run_until("it is made good", 12_000, |c| c.session(2).stats().recoveries == 1);
            cluster.clear_events();
            let frame = cluster.session(2).current_frame().number() + later;
            cluster.compute_oddly(2, frame);
            expect_located(&mut cluster, 2, frame, &format!("{later} after a repair, {seed}"));
        }
    }
}
