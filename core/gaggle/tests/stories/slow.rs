//! Rooms in which one machine is slow: players are told, and the host's policy is carried out.

use crate::cluster::Subject;
use crate::presses::{Cluster, TestRoom, expect_one_match};
use gaggle::{HostCommand, JoinTarget, RoomConfig, RoomEvent, SlowPolicy, TimelineConfig};

/// Shows three frames a second, with at most ten ticks in each: half of those that are due.
const HALF_SPEED: u64 = 20;

fn config(index: usize, policy: SlowPolicy) -> RoomConfig {
    let engine = TimelineConfig { slow_policy: policy, loosen_frames_max: 3, ..TimelineConfig::lockstep() };
    TestRoom::peer_config(index).with_engine(engine)
}

/// Three play in a private room for a while, then the third is slow.
fn slowing(policy: SlowPolicy) -> Cluster {
    let mut cluster = Cluster::of(3);
    for index in 0..3 {
        let join = match index {
            0 => JoinTarget::CreatePrivate,
            _ => JoinTarget::Code(
                cluster.room(0).lobby_client().and_then(|lobby| lobby.room()).expect("a room").code,
            ),
        };
        cluster.open_with(index, RoomConfig { join, ..config(index, policy) });
        cluster.run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(2_000).throttle(2, HALF_SPEED);
    cluster
}

fn words(cluster: &Cluster, index: usize) -> Vec<String> {
    let slow = |event: &&RoomEvent| matches!(event, RoomEvent::SlowPlayer { .. });
    cluster.told[index].iter().filter(slow).map(RoomEvent::to_string).collect()
}

/// Frames that the first two play in this time, per second.
fn frames_per_second(cluster: &mut Cluster, seconds: u64) -> u64 {
    let before = [0, 1].map(|index| cluster.room(index).game().frame);
    cluster.run_ms(1_000 * seconds);
    let played = [0, 1].map(|index| cluster.room(index).game().frame - before[index]);
    u64::from(played[0].min(played[1])) / seconds
}

#[test]
fn host_kicks_slow_player_that_was_named() {
    let mut cluster = slowing(SlowPolicy::Wait);
    cluster.run_until("all know", 8_000, |cluster| (0..3).all(|index| !words(cluster, index).is_empty()));
    let named = "Peer 2's machine is slow, the others wait";
    let told = "your machine is too slow, the others wait for you";
    assert_eq!([0, 1, 2].map(|index| words(&cluster, index)), [[named], [named], [told]].map(Vec::from));
    let speed = frames_per_second(&mut cluster, 5);
    assert!(speed < 40, "{speed} frames a second");
    let slow = cluster.told[0].iter().find_map(|event| match event {
        RoomEvent::SlowPlayer { peer, .. } => Some(*peer),
        _ => None,
    });
    let command = HostCommand::Kick(slow.expect("just seen"));
    cluster.room(0).host_command(command).expect("it is the host");
    cluster.run_ms(2_000);
    assert_eq!(cluster.room(0).game().here.count_ones(), 2, "{}", cluster.describe());
    assert!(frames_per_second(&mut cluster, 5) >= 56, "{}", cluster.describe());
    expect_one_match(&mut cluster, &[0, 1]);
}

#[test]
fn slow_player_is_taken_off_by_policy() {
    let mut cluster = slowing(SlowPolicy::TakeOff);
    cluster.run_until("it is off", 10_000, |cluster| cluster.room(0).game().here.count_ones() == 2);
    let speed = frames_per_second(&mut cluster, 100);
    assert!(speed >= 52, "{speed} frames a second: {}", cluster.describe());
    assert_eq!(
        words(&cluster, 2).first().map(String::as_str),
        Some("your machine is too slow, the others wait for you")
    );
}

#[test]
fn host_changes_policy_during_match() {
    let mut cluster = slowing(SlowPolicy::Wait);
    cluster.run_ms(8_000);
    assert_eq!(cluster.room(0).game().here.count_ones(), 3, "it is waited for");
    for index in 0..3 {
        cluster.room(index).set_slow_policy(SlowPolicy::Loosen { frames: 3 }).expect("up to the maximum");
    }
    cluster.run_until("it is off", 25_000, |cluster| cluster.room(0).game().here.count_ones() == 2);
    assert!(cluster.room(0).stats().rollbacks > 0, "first the window grew: {}", cluster.describe());
    let speed = frames_per_second(&mut cluster, 100);
    assert!(speed >= 50, "{speed} frames a second: {}", cluster.describe());
    assert!(cluster.room(0).set_slow_policy(SlowPolicy::Loosen { frames: 4 }).is_err());
}
