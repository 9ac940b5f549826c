//! Everything worth telling is told, and told once.

mod world;

use gaggle_kit::{Micros, SlotSet};
use gaggle_timeline::Event;
use world::{Weather, World, peer};

fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

#[test]
fn a_hand_shake_is_told_step_by_step() {
    let mut world = World::of(2, 1);
    world.run_seconds(1);
    let (peer, total) = (peer(1), 2);
    assert_eq!(
        world.machines[0].events[..5],
        [
            Event::Synchronizing { peer, count: 0, total },
            Event::Synchronizing { peer, count: 1, total },
            Event::Synchronizing { peer, count: 2, total },
            Event::Synchronized { peer },
            Event::Started,
        ]
    );
}

#[test]
fn the_game_starts_when_everybody_is_there() {
    let mut world = World::of(3, 1);
    world.machines[2].asleep_until = ms(2_000);
    world.run(ms(1_900));
    assert!((0..2).all(|index| !world.session(index).is_running()));
    world.run_seconds(1);
    assert!((0..3).all(|index| world.session(index).is_running()));
}

#[test]
fn silence_is_told_as_interrupted_then_gone_then_resumed() {
    let mut world = World::of(2, 1);
    world.weather(Weather::calm(20)).run_seconds(2);
    world.machines.iter_mut().for_each(|machine| machine.events.clear());
    world.blocked[1][0] = true;
    world.run(ms(1_400));
    let told = |world: &World<world::Stew>| {
        let stall = |event: &&Event| !matches!(event, Event::Stalled { .. } | Event::Unstalled { .. });
        world.machines[0].events.iter().filter(stall).cloned().collect::<Vec<_>>()
    };
    let peer = peer(1);
    assert_eq!(told(&world), []);
    world.run(ms(300));
    assert_eq!(told(&world), [Event::Interrupted { peer }]);
    world.run(ms(3_000));
    assert_eq!(told(&world), [Event::Interrupted { peer }, Event::Gone { peer }]);
    world.blocked[1][0] = false;
    world.run(ms(500));
    assert_eq!(told(&world), [Event::Interrupted { peer }, Event::Gone { peer }, Event::Resumed { peer }]);
    assert_eq!(
        world.machines[0].events[0],
        Event::Stalled { waiting_for: SlotSet::from_bits(0b10) },
        "a stall says for whom"
    );
    world.settle().expect_agreement();
}

#[test]
fn who_slept_itself_does_not_blame_the_others() {
    let mut world = World::of(2, 1);
    world.weather(Weather::calm(20)).run_seconds(2);
    world.machines[0].asleep_until = world.now + Micros::from_secs(20);
    world.run_seconds(22);
    assert_eq!(
        world.count_events(0, |event| matches!(event, Event::Interrupted { .. } | Event::Gone { .. })),
        0
    );
    assert_eq!(world.count_events(1, |event| matches!(event, Event::Gone { .. })), 1);
    assert_eq!(world.count_events(1, |event| matches!(event, Event::Resumed { .. })), 1);
    world.settle().expect_agreement();
}

#[test]
fn two_players_may_go_on_alone_when_the_other_is_gone() {
    let mut world = World::of(2, 1);
    world.compare_with_straight = false;
    world.weather(Weather::calm(20)).run_seconds(2);
    world.machines[1].asleep_until = Micros::from_secs(1_000);
    world.run_seconds(5);
    let stuck_at = world.session(0).current_frame();
    world.machines[0].timeline.session_mut().end_stream(peer(1), None).expect("seated");
    world.run_seconds(1);
    assert!(world.session(0).current_frame().since(stuck_at) >= 55);
    assert_eq!(world.count_events(0, |event| matches!(event, Event::Left { .. })), 1);
}
