//! Every event is reported, and reported once.

use crate::world;
use crate::world::{NetConditions, World, peer};
use gaggle_kit::{Micros, SlotSet};
use gaggle_timeline::SessionEvent;

fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

#[test]
fn handshake_is_reported_step_by_step() {
    let mut world = World::of(2, 1);
    world.run_seconds(1);
    let (peer, total) = (peer(1), 2);
    assert_eq!(
        world.machines[0].events[..5],
        [
            SessionEvent::Synchronizing { peer, count: 0, total },
            SessionEvent::Synchronizing { peer, count: 1, total },
            SessionEvent::Synchronizing { peer, count: 2, total },
            SessionEvent::Synchronized { peer },
            SessionEvent::Started,
        ]
    );
}

#[test]
fn game_starts_when_all_are_synchronized() {
    let mut world = World::of(3, 1);
    world.machines[2].asleep_until = ms(2_000);
    world.run(ms(1_900));
    assert!((0..2).all(|index| !world.session(index).is_running()));
    world.run_seconds(1);
    assert!((0..3).all(|index| world.session(index).is_running()));
}

#[test]
fn silence_is_told_as_interrupted_then_gone_then_left() {
    let mut world = World::of(2, 1);
    world.conditions(NetConditions::latency_ms(20)).run_seconds(2);
    world.machines.iter_mut().for_each(|machine| machine.events.clear());
    world.set_cut(1, 0, true);
    world.run(ms(1_400));
    let told = |world: &World<world::MixGame>| {
        let stall = |event: &&SessionEvent| {
            !matches!(event, SessionEvent::Stalled { .. } | SessionEvent::StallEnded { .. })
        };
        world.machines[0].events.iter().filter(stall).cloned().collect::<Vec<_>>()
    };
    let peer = peer(1);
    assert_eq!(told(&world), []);
    world.run(ms(300));
    assert_eq!(told(&world), [SessionEvent::Interrupted { peer }]);
    world.run(ms(3_000));
    let events = told(&world);
    assert_eq!(events[..2], [SessionEvent::Interrupted { peer }, SessionEvent::TimedOut { peer }]);
    assert!(
        matches!(
            events[2..],
            [SessionEvent::Left { peer: who, .. }, SessionEvent::ViewChanged { .. }] if who == peer
        ),
        "{events:?}"
    );
    assert_eq!(
        world.machines[0].events[0],
        SessionEvent::Stalled { waiting_for: SlotSet::from_bits(0b10) },
        "a stall says for whom"
    );
}

#[test]
fn peer_back_in_time_is_reported_as_resumed() {
    let mut world = World::of(2, 1);
    world.conditions(NetConditions::latency_ms(20)).run_seconds(2);
    world.machines.iter_mut().for_each(|machine| machine.events.clear());
    world.set_cut(1, 0, true);
    world.run(ms(2_500));
    world.set_cut(1, 0, false);
    world.run(ms(500));
    let peer = peer(1);
    let liveness = |event: &&SessionEvent| {
        matches!(event, SessionEvent::Interrupted { .. } | SessionEvent::Resumed { .. })
    };
    let told: Vec<&SessionEvent> = world.machines[0].events.iter().filter(liveness).collect();
    assert_eq!(told, [&SessionEvent::Interrupted { peer }, &SessionEvent::Resumed { peer }]);
    world.settle().expect_agreement();
}

#[test]
fn sleeping_peer_blames_no_other() {
    let mut world = World::of(2, 1);
    world.conditions(NetConditions::latency_ms(20)).run_seconds(2);
    world.machines[0].asleep_until = world.now + Micros::from_secs(20);
    world.run_seconds(22);
    println!("{:?}\n{:?}", world.machines[0].events, world.machines[1].events);
    assert_eq!(
        world.count_events(0, |event| matches!(
            event,
            SessionEvent::Interrupted { .. } | SessionEvent::TimedOut { .. }
        )),
        0
    );
    assert_eq!(world.count_events(1, |event| matches!(event, SessionEvent::TimedOut { .. })), 1);
}

#[test]
fn two_players_go_on_alone_after_other_left() {
    let mut world = World::of(2, 1);
    world.conditions(NetConditions::latency_ms(20)).run_seconds(2);
    world.machines[1].asleep_until = Micros::from_secs(1_000);
    world.run_seconds(5);
    let frame = world.session(0).current_frame();
    world.run_seconds(1);
    assert!(world.session(0).current_frame().since(frame) >= 55);
    assert_eq!(world.count_events(0, |event| matches!(event, SessionEvent::Left { .. })), 1);
}
