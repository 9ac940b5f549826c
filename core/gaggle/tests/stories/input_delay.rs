//! Input delay: none solo, as much as the network needs in a match, and none again afterwards.

use crate::cluster::Subject;
use crate::presses;
use crate::presses::{Cluster, TestRoom};
use gaggle::{JoinTarget, RoomConfig, TimelineConfig};
use gaggle_link::sim::Conditions;

fn delay(cluster: &mut Cluster, index: usize) -> u32 {
    cluster.room(index).stats().input_delay_frames
}

/// A peer alone, then two distant peers, then one alone again.
fn alone_together_alone(session: &TimelineConfig, among: std::ops::RangeInclusive<u32>) {
    let config = |index| TestRoom::peer_config(index).with_engine(session.clone());
    let mut cluster = Cluster::of(2);
    cluster.weather(Conditions::latency_ms(160));
    cluster.open_with(0, config(0)).run_ms(1_000);
    assert_eq!(delay(&mut cluster, 0), 0, "{}", cluster.describe());
    cluster.open_with(1, config(1)).run_until("both are in", 5_000, |cluster| cluster.is_together(1));
    cluster.run_ms(2_000);
    for index in 0..2 {
        let delay = delay(&mut cluster, index);
        assert!(among.contains(&delay), "{index}: {delay}\n{}", cluster.describe());
    }
    cluster.room(1).leave();
    cluster.step();
    cluster.crash(1).run_ms(2_000);
    assert_eq!(delay(&mut cluster, 0), 0, "{}", cluster.describe());
}

#[test]
fn rollback_input_delay_is_zero_alone() {
    alone_together_alone(&TimelineConfig::rollback(10), 1..=6);
}

#[test]
fn lockstep_input_delay_is_zero_alone() {
    alone_together_alone(&TimelineConfig::lockstep(), 5..=15);
}

#[test]
fn chosen_input_delay_stays_alone_and_together() {
    let mut cluster = Cluster::of(2);
    cluster.open(0).run_ms(500);
    cluster.room(0).set_input_delay(Some(3)).expect("within the limits");
    cluster.run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 3);
    cluster.open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 3);
    // Joins another match, and then returns to the first.
    cluster.room(0).suspend();
    cluster.run_ms(1_000).room(0).resume();
    cluster.run_until("it is back", 3_000, |cluster| cluster.is_together(0)).run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 3);
    cluster.room(0).leave();
    cluster.run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 3);
    // Another game and another room.
    let frame = cluster.room(0).session().current_frame();
    cluster
        .room(0)
        .restart(presses::Presses { frame: 0, here: 0, counts: [0; 4] }, 1, JoinTarget::Matchmake)
        .expect("in range");
    assert!(cluster.room(0).session().current_frame() < frame, "{}", cluster.describe());
    cluster.run_until("both are in", 3_000, |cluster| cluster.is_together(0)).run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 3);
    cluster.room(0).leave();
    cluster.run_ms(500);
    cluster.room(0).set_input_delay(None).expect("always possible");
    cluster.run_ms(500);
    assert_eq!(delay(&mut cluster, 0), 0);
    let _: &RoomConfig = cluster.room(0).config();
}

/// When another peer joins, no player waits for an input delay that is not reached yet.
#[test]
fn joiner_finds_input_delay_that_fits() {
    let mut cluster = Cluster::of(2);
    cluster.weather(Conditions::latency_ms(120)).open(0).run_ms(1_000);
    cluster.open(1).run_until("both are in", 3_000, |cluster| cluster.is_together(1));
    cluster.run_ms(2_000);
    assert_eq!(cluster.room(0).stats().stalled_ticks, 0, "{}", cluster.describe());
}
