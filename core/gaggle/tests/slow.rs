//! Rooms in which one machine is slow: players are told, and the host's policy is carried out.

mod presses;
mod town;

use gaggle::{HostCommand, JoinTarget, RoomConfig, RoomEvent, SlowPolicy, TimelineConfig};
use presses::{Cluster, House, expect_one_match};
use town::Subject;

/// Shows three frames a second, with at most ten ticks in each: half of those that are due.
const HALF_SPEED: u64 = 20;

fn config(house: usize, policy: SlowPolicy) -> RoomConfig {
    let engine = TimelineConfig { slow_policy: policy, loosen_frames_max: 3, ..TimelineConfig::lockstep() };
    House::peer_config(house).with_engine(engine)
}

/// Three play in a private room for a while, then the third is slow.
fn slowing(policy: SlowPolicy) -> Cluster {
    let mut town = Cluster::of(3);
    for house in 0..3 {
        let join = match house {
            0 => JoinTarget::CreatePrivate,
            _ => JoinTarget::Code(
                town.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code,
            ),
        };
        town.open_with(house, RoomConfig { join, ..config(house, policy) });
        town.run_until("it is in", 3_000, move |town| town.is_together(house));
    }
    town.run_ms(2_000).throttle(2, HALF_SPEED);
    town
}

fn words(town: &Cluster, house: usize) -> Vec<String> {
    let slow = |event: &&RoomEvent| matches!(event, RoomEvent::SlowPlayer { .. });
    town.told[house].iter().filter(slow).map(RoomEvent::to_string).collect()
}

/// Frames that the first two play in this time, per second.
fn frames_per_second(town: &mut Cluster, seconds: u64) -> u64 {
    let before = [0, 1].map(|house| town.room(house).game().frame);
    town.run_ms(1_000 * seconds);
    let played = [0, 1].map(|house| town.room(house).game().frame - before[house]);
    u64::from(played[0].min(played[1])) / seconds
}

#[test]
fn host_kicks_slow_player_that_was_named() {
    let mut town = slowing(SlowPolicy::Wait);
    town.run_until("all know", 8_000, |town| (0..3).all(|house| !words(town, house).is_empty()));
    let named = "Peer 2's machine is slow, the others wait";
    let told = "your machine is too slow, the others wait for you";
    assert_eq!([0, 1, 2].map(|house| words(&town, house)), [[named], [named], [told]].map(Vec::from));
    let speed = frames_per_second(&mut town, 5);
    assert!(speed < 40, "{speed} frames a second");
    let slow = town.told[0].iter().find_map(|event| match event {
        RoomEvent::SlowPlayer { peer, .. } => Some(*peer),
        _ => None,
    });
    let command = HostCommand::Kick(slow.expect("just seen"));
    town.room(0).host_command(command).expect("it is the host");
    town.run_ms(2_000);
    assert_eq!(town.room(0).game().here.count_ones(), 2, "{}", town.describe());
    assert!(frames_per_second(&mut town, 5) >= 56, "{}", town.describe());
    expect_one_match(&mut town, &[0, 1]);
}

#[test]
fn slow_player_is_taken_off_by_policy() {
    let mut town = slowing(SlowPolicy::TakeOff);
    town.run_until("it is off", 10_000, |town| town.room(0).game().here.count_ones() == 2);
    let speed = frames_per_second(&mut town, 100);
    assert!(speed >= 52, "{speed} frames a second: {}", town.describe());
    assert_eq!(
        words(&town, 2).first().map(String::as_str),
        Some("your machine is too slow, the others wait for you")
    );
}

#[test]
fn host_changes_policy_during_match() {
    let mut town = slowing(SlowPolicy::Wait);
    town.run_ms(8_000);
    assert_eq!(town.room(0).game().here.count_ones(), 3, "it is waited for");
    for house in 0..3 {
        town.room(house).set_slow_policy(SlowPolicy::Loosen { frames: 3 }).expect("up to the maximum");
    }
    town.run_until("it is off", 25_000, |town| town.room(0).game().here.count_ones() == 2);
    assert!(town.room(0).stats().rollbacks > 0, "first the window grew: {}", town.describe());
    let speed = frames_per_second(&mut town, 100);
    assert!(speed >= 50, "{speed} frames a second: {}", town.describe());
    assert!(town.room(0).set_slow_policy(SlowPolicy::Loosen { frames: 4 }).is_err());
}
