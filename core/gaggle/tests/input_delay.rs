//! Input delay: none solo, as much as the network needs in a match, and none again afterwards.

#[allow(dead_code, reason = "other stories use more of it")]
mod presses;
mod town;

use gaggle::{JoinTarget, RoomConfig, TimelineConfig};
use gaggle_link::sim::Conditions;
use presses::{Cluster, House};
use town::Subject;

fn delay(town: &mut Cluster, house: usize) -> u32 {
    town.room(house).stats().input_delay_frames
}

/// A peer alone, then two distant peers, then one alone again.
fn alone_together_alone(session: &TimelineConfig, among: std::ops::RangeInclusive<u32>) {
    let config = |house| House::peer_config(house).with_engine(session.clone());
    let mut town = Cluster::of(2);
    town.weather(Conditions::latency_ms(160));
    town.open_with(0, config(0)).run_ms(1_000);
    assert_eq!(delay(&mut town, 0), 0, "{}", town.describe());
    town.open_with(1, config(1)).run_until("both are in", 5_000, |town| town.is_together(1));
    town.run_ms(2_000);
    for house in 0..2 {
        let delay = delay(&mut town, house);
        assert!(among.contains(&delay), "{house}: {delay}\n{}", town.describe());
    }
    town.room(1).leave();
    town.step();
    town.crash(1).run_ms(2_000);
    assert_eq!(delay(&mut town, 0), 0, "{}", town.describe());
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
    let mut town = Cluster::of(2);
    town.open(0).run_ms(500);
    town.room(0).set_input_delay(Some(3)).expect("within the limits");
    town.run_ms(500);
    assert_eq!(delay(&mut town, 0), 3);
    town.open(1).run_until("both are in", 3_000, |town| town.is_together(1));
    town.run_ms(500);
    assert_eq!(delay(&mut town, 0), 3);
    // Joins another match, and then returns to the first.
    town.room(0).suspend();
    town.run_ms(1_000).room(0).resume();
    town.run_until("it is back", 3_000, |town| town.is_together(0)).run_ms(500);
    assert_eq!(delay(&mut town, 0), 3);
    town.room(0).leave();
    town.run_ms(500);
    assert_eq!(delay(&mut town, 0), 3);
    // Another game and another room.
    let frame = town.room(0).session().current_frame();
    town.room(0)
        .restart(presses::Presses { frame: 0, here: 0, counts: [0; 4] }, 1, JoinTarget::Matchmake)
        .expect("in range");
    assert!(town.room(0).session().current_frame() < frame, "{}", town.describe());
    town.run_until("both are in", 3_000, |town| town.is_together(0)).run_ms(500);
    assert_eq!(delay(&mut town, 0), 3);
    town.room(0).leave();
    town.run_ms(500);
    town.room(0).set_input_delay(None).expect("always possible");
    town.run_ms(500);
    assert_eq!(delay(&mut town, 0), 0);
    let _: &RoomConfig = town.room(0).config();
}

/// When another peer joins, no player waits for an input delay that is not reached yet.
#[test]
fn joiner_finds_input_delay_that_fits() {
    let mut town = Cluster::of(2);
    town.weather(Conditions::latency_ms(120)).open(0).run_ms(1_000);
    town.open(1).run_until("both are in", 3_000, |town| town.is_together(1));
    town.run_ms(2_000);
    assert_eq!(town.room(0).stats().stalled_ticks, 0, "{}", town.describe());
}
