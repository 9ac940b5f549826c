//! Tests of what travels beside the objects: inputs, events, values and rounds.

#![allow(clippy::unwrap_used, reason = "a failed step ends the test")]

use crate::world;
use crate::world::{World, peer, player};
use gaggle_kit::{Input, Micros, State};
use gaggle_replica::{
    AuthorityPolicy, EventError, EventOptions, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, RoundConfig,
    RoundPhase, Rounds, Session, SessionEvent, Target, ValueError, ValueWriter,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
struct Pad {
    #[input(range = -1..=1)]
    steer: i8,
    #[input(one_shot)]
    dash: bool,
}

#[derive(Debug, Clone, PartialEq, State)]
struct Bang(u32);

#[derive(Debug, Clone, PartialEq, State)]
struct Pickup(u32);

#[derive(Debug, Clone, PartialEq, State)]
struct Name(#[state(max = 24)] String);

#[derive(Debug, Clone, PartialEq, State)]
struct Score(u32);

#[derive(Debug, Clone, PartialEq, Kind)]
struct Crate {
    #[kind(range = 0.0..=100.0, precision = 0.1)]
    place: [f32; 2],
}

fn kinds() -> Kinds {
    let kinds = Kinds::new()
        .with::<Crate>()
        .with_input::<Pad>()
        .with_event::<Bang>("bang", EventOptions::DIRECT)
        .with_event::<Pickup>("pickup", EventOptions::APPROVED.with_min_interval(Micros::from_millis(120)))
        .with_value::<Name>("name", ValueWriter::Player)
        .with_value::<Score>("score", ValueWriter::Leader);
    Rounds::register(kinds)
}

fn world(count: usize, policy: AuthorityPolicy) -> World {
    World::of(count, 17, ReplicaConfig { authority: policy, ..ReplicaConfig::default() }, kinds())
}

/// The bangs each peer received.
fn bangs(session: &mut Session) -> Vec<u32> {
    std::iter::from_fn(|| session.poll_remote_event())
        .filter_map(|signal| signal.get::<Bang>())
        .map(|b| b.0)
        .collect()
}

fn pickups(session: &mut Session) -> Vec<u32> {
    let heard = std::iter::from_fn(|| session.poll_remote_event());
    heard.filter_map(|signal| signal.get::<Pickup>()).map(|pickup| pickup.0).collect()
}

/// The most frames without a tap: four packets lost in a row, which happens about once in the
/// time of the run.
const LONGEST_GAP: u32 = 12 + 4 * 3 + 4;

#[test]
fn tap_on_bad_network_is_neither_lost_nor_doubled() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.conditions = world::rough(100, 200);
    world.frame = Micros::new(16_667);
    let (mut tapped, mut seen, mut longest_gap) = (0, 0, 0);
    let mut steered = Vec::new();
    let (mut frame, mut silent) = (0_u32, 0);
    let mut run = |world: &mut World, seconds: u64, hammering: bool| {
        world.play(Micros::from_secs(seconds), |session, index, _| match index {
            0 => {
                let pad: Pad = session.input(player(1)).unwrap_or_default();
                seen += u32::from(pad.dash);
                silent = if pad.dash { 0 } else { silent + 1 };
                longest_gap = longest_gap.max(silent);
                if steered.last() != Some(&pad.steer) {
                    steered.push(pad.steer);
                }
            }
            1 => {
                frame += 1;
                // A press of one frame, far shorter than an interval; directions in a cycle.
                let dash = hammering && frame % 12 == 5;
                tapped += u32::from(dash);
                session.set_input(Pad { steer: (frame / 45 % 3) as i8 - 1, dash });
            }
            _ => {}
        });
        (tapped, seen, longest_gap)
    };
    let (_, _, longest_gap) = run(&mut world, 20, true);
    let (tapped, seen, _) = run(&mut world, 2, false);
    assert!(tapped > 90);
    assert_eq!(seen, tapped, "every tap arrives once");
    // A tap every 12 frames; the content of a lost packet comes in the next, three frames later.
    assert!((12..=LONGEST_GAP).contains(&longest_gap), "{longest_gap} frames without a tap");
    for pair in steered[1..].windows(2) {
        assert_eq!(i32::from(pair[1]), if pair[0] == 1 { -1 } else { i32::from(pair[0]) + 1 }, "in order");
    }
    world.expect_peace();
}

#[test]
fn input_held_at_leader_change_is_known_and_not_repeated() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.frame = Micros::new(16_667);
    let mut presses = [0; 3];
    let mut frame = 0;
    let mut held_at_the_new = None;
    let mut play = |world: &mut World, millis: u64| {
        world.play(Micros::from_millis(millis), |session, index, _| {
            if index == 2 {
                frame += 1;
                session.set_input(Pad { steer: 1, dash: frame == 10 });
            }
            if session.is_leader() && index < 2 {
                let pad: Option<Pad> = session.input(player(2));
                presses[index] += u32::from(pad.is_some_and(|pad| pad.dash));
                if index == 1 {
                    held_at_the_new = pad.or(held_at_the_new);
                }
            }
        });
    };
    play(&mut world, 1_000);
    world.kill(0);
    play(&mut world, 1_000);
    assert_eq!(presses, [1, 0, 0]);
    assert_eq!(held_at_the_new, Some(Pad { steer: 1, dash: false }));
}

#[test]
fn leader_receives_input_of_own_player_at_once() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let session = world.session(0);
    assert_eq!(session.input::<Pad>(player(0)), None);
    session.set_input(Pad { steer: -1, dash: true });
    assert_eq!(session.input::<Pad>(player(0)), Some(Pad { steer: -1, dash: true }));
    assert_eq!(session.input::<Pad>(player(0)), Some(Pad { steer: -1, dash: false }));
}

#[test]
fn event_reaches_its_targets_in_order() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    world.conditions = world::rough(80, 100);
    for number in 0..50 {
        let session = world.session(1);
        session.send_event(Target::All, &[], &Bang(number)).unwrap();
        session.send_event(Target::Others, &[], &Bang(1_000 + number)).unwrap();
        session.send_event(Target::Leader, &[], &Bang(2_000 + number)).unwrap();
        session.send_event(Target::Slot(player(3)), &[], &Bang(3_000 + number)).unwrap();
    }
    world.run_ms(1_000);
    let expect = |parts: &[u32]| -> Vec<u32> {
        (0..50).flat_map(|number| parts.iter().map(move |part| part * 1_000 + number)).collect()
    };
    assert_eq!(bangs(world.session(0)), expect(&[0, 1, 2]));
    assert_eq!(bangs(world.session(1)), expect(&[0]));
    assert_eq!(bangs(world.session(2)), expect(&[0, 1]));
    assert_eq!(bangs(world.session(3)), expect(&[0, 1, 3]));
    world.expect_peace();
}

#[test]
fn event_about_unknown_object_waits_up_to_one_second() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.conditions.latency = Micros::from_millis(50);
    world.set_cut(0, 1, false);
    let id = world.session(0).spawn(&Crate { place: [1.0; 2] }).unwrap();
    // Packets are held back, messages are not.
    world.conditions.loss = 1_000;
    world.session(0).send_event(Target::Others, &[id], &Bang(1)).unwrap();
    world.session(0).send_event(Target::Others, &[], &Bang(2)).unwrap();
    world.run_ms(400);
    assert_eq!(bangs(world.session(1)), [], "later events wait too: the sender's order is kept");
    world.conditions.loss = 0;
    world.run_ms(400);
    assert_eq!(bangs(world.session(1)), [1, 2]);

    let never = ObjectId::from_bits(77);
    world.session(0).send_event(Target::Others, &[never], &Bang(3)).unwrap();
    world.session(0).send_event(Target::Others, &[], &Bang(4)).unwrap();
    world.run_ms(900);
    assert_eq!(bangs(world.session(1)), []);
    world.run_ms(300);
    assert_eq!(bangs(world.session(1)), [4], "dropped after a second");

    world.session(1).send_event(Target::Others, &[id], &Bang(5)).unwrap();
    world.session(0).despawn(id).unwrap();
    world.run_ms(100);
    assert_eq!(bangs(world.session(0)), [], "an event about a deleted object is dropped at once");
    assert_eq!(world.session(0).stats().remote_events_dropped, 1);
}

#[test]
fn approved_events_have_one_order_and_rejected_vanish() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.conditions = world::rough(90, 50);
    let mut heard: [Vec<u32>; 4] = Default::default();
    let mut number = 0;
    world.play(Micros::from_secs(6), |session, index, now| {
        // Every peer requests an event now and then; odd numbers are to be rejected.
        if index > 0 && now.get() / 10_000 % 20 == index as u64 && now < Micros::from_secs(5) {
            number += 1;
            session.send_event(Target::All, &[], &Pickup(number)).unwrap();
        }
        heard[index].extend(pickups(session));
        while let Some(petition) = session.poll_event_request() {
            assert_eq!(index, 0, "only the leader approves");
            let Pickup(asked) = petition.event.get().unwrap();
            if asked % 2 == 0 { session.approve(petition) } else { session.reject(petition) }
        }
    });
    assert!(heard[0].len() > 20 && heard[0].iter().all(|number| number % 2 == 0), "{:?}", heard[0]);
    for index in 1..4 {
        assert_eq!(heard[index], heard[0], "the same order at {index}");
        assert!(
            world.count_events(index, |event| *event == SessionEvent::EventRejected { event: "pickup" }) > 3
        );
    }
    world.expect_peace();
}

#[test]
fn request_to_departed_leader_is_approved_once_by_next() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let judge = |world: &mut World, lead: usize| {
        let session = world.session(lead);
        let heard = pickups(session);
        let mut judged = 0;
        while let Some(petition) = session.poll_event_request() {
            judged += 1;
            session.approve(petition);
        }
        (heard, judged)
    };
    // The leader approves it and tells peer 1 alone before it leaves; peer 2 requested it.
    world.session(2).send_event(Target::All, &[], &Pickup(1)).unwrap();
    world.run_ms(60);
    assert_eq!(judge(&mut world, 0).1, 1);
    world.set_cut(0, 2, true);
    world.run_ms(60);
    assert_eq!(pickups(world.session(1)), [1]);
    // The second request never reaches the leader.
    world.set_cut(2, 0, true);
    world.run_ms(120);
    world.session(2).send_event(Target::All, &[], &Pickup(2)).unwrap();
    world.run_ms(30);
    world.kill(0);
    world.run_ms(200);
    let (heard, judged) = judge(&mut world, 1);
    assert_eq!((heard, judged), (vec![], 1), "the first was approved before, the second is approved now");
    world.run_ms(100);
    assert_eq!(pickups(world.session(1)), [2]);
    assert_eq!(pickups(world.session(2)), [2]);
}

#[test]
fn events_within_minimum_interval_are_rejected() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let id = world.session(0).spawn(&Crate { place: [1.0; 2] }).unwrap();
    let session = world.session(0);
    session.send_event(Target::All, &[id], &Pickup(1)).unwrap();
    assert_eq!(session.send_event(Target::All, &[id], &Pickup(2)), Err(EventError::RateLimited));
    session.send_event(Target::All, &[], &Pickup(3)).unwrap();
    world.run_ms(130);
    world.session(0).send_event(Target::All, &[id], &Pickup(4)).unwrap();
    world.run_ms(100);
    assert_eq!(pickups(world.session(1)), [1, 3, 4]);
}

#[test]
fn value_reaches_every_peer_and_later_joiners() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.session(1).set_value(player(1), &Name("Ada".into())).unwrap();
    world.session(0).set_value(player(1), &Score(3)).unwrap();
    assert_eq!(world.session(1).set_value(player(1), &Score(99)), Err(ValueError::NotWriter));
    assert_eq!(world.session(0).set_value(player(1), &Name("Bob".into())), Err(ValueError::NotWriter));
    world.run_ms(100);
    let named = SessionEvent::ValueChanged { player: player(1), value: "name" };
    assert_eq!(world.count_events(2, |event| *event == named), 1);
    world.kill(1);
    world.machines.push(world::Machine::new(3));
    world.grow();
    world.start(3, JoinMode::Join);
    world.link(3, 0);
    world.link(3, 2);
    world.run_ms(300);
    for index in [0, 2, 3] {
        assert_eq!(world.session(index).value(player(1)), Some(Name("Ada".into())), "at {index}");
        assert_eq!(world.session(index).value(player(1)), Some(Score(3)));
    }
    // The player comes back and continues from there.
    world.start(1, JoinMode::Join);
    [0, 2, 3].into_iter().for_each(|other| world.link(1, other));
    world.run_ms(300);
    assert_eq!(world.session(1).value(player(1)), Some(Score(3)));
    world.session(1).set_value(player(1), &Name("Ida".into())).unwrap();
    world.run_ms(100);
    assert_eq!(world.session(3).value(player(1)), Some(Name("Ida".into())));
    world.expect_peace();
}

#[test]
fn value_known_to_one_peer_after_writer_left_is_shared() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.set_cut(0, 2, true);
    world.session(0).set_value(player(2), &Score(8)).unwrap();
    world.run_ms(50);
    assert_eq!(world.session(2).value::<Score>(player(2)), None);
    world.kill(0);
    world.run_ms(50);
    assert_eq!(world.session(2).value(player(2)), Some(Score(8)));
}

#[test]
fn value_of_departed_player_reaches_peer_that_notices_last() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.set_cut(2, 0, true);
    world.session(2).set_value(player(2), &Name("Eve".into())).unwrap();
    world.run_ms(50);
    assert_eq!(world.session(0).value::<Name>(player(2)), None);
    world.unlink(1, 2);
    world.run_ms(200);
    assert_eq!(world.session(0).value::<Name>(player(2)), None, "only a present member may report its value");
    world.kill(2);
    world.run_ms(200);
    for index in 0..2 {
        assert_eq!(world.session(index).value(player(2)), Some(Name("Eve".into())), "at {index}");
    }
    world.expect_peace();
}

#[test]
fn value_conflict_after_partition_is_won_by_leader_side() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.session(0).set_value(player(0), &Score(1)).unwrap();
    world.run_ms(100);
    world.split(&[&[0, 1], &[2, 3]]);
    world.run_ms(100);
    world.session(0).set_value(player(0), &Score(2)).unwrap();
    for score in 10..20 {
        world.session(2).set_value(player(0), &Score(score)).unwrap();
    }
    world.session(2).set_value(player(3), &Score(77)).unwrap();
    world.run_ms(200);
    assert_eq!(world.session(3).value(player(0)), Some(Score(19)));
    world.heal();
    world.run_ms(300);
    for index in 0..4 {
        assert_eq!(world.session(index).value(player(0)), Some(Score(2)), "at {index}");
        assert_eq!(
            world.session(index).value(player(3)),
            Some(Score(77)),
            "a value known to one side is kept"
        );
    }
    world.session(0).set_value(player(0), &Score(3)).unwrap();
    world.run_ms(100);
    assert_eq!(world.session(3).value(player(0)), Some(Score(3)));
    world.expect_peace();
}

#[test]
fn round_goes_on_when_leader_leaves() {
    let rounds = Rounds::new(RoundConfig::default());
    let mut world = world(3, AuthorityPolicy::Leader);
    let play = |world: &mut World, millis: u64| {
        world.play(Micros::from_millis(millis), |session, _, _| rounds.tick(session));
    };
    play(&mut world, 1_000);
    let before = rounds.remaining(world.session(2)).unwrap();
    world.kill(0);
    play(&mut world, 1_000);
    let after = rounds.remaining(world.session(2)).unwrap();
    assert_eq!(rounds.state(world.session(2)).phase, RoundPhase::Countdown);
    let passed = before.since(after);
    assert!(
        passed > Micros::from_millis(950) && passed < Micros::from_millis(1_050),
        "{passed:?} of 1 s passed"
    );
    play(&mut world, 3_000);
    assert_eq!(rounds.state(world.session(2)).phase, RoundPhase::Playing);
    rounds.finish(world.session(2), Some(player(2)));
    assert_eq!(
        rounds.state(world.session(2)).phase,
        RoundPhase::Playing,
        "only the leader declares the winner"
    );
    rounds.finish(world.session(1), Some(player(2)));
    play(&mut world, 200);
    for index in 1..3 {
        let state = rounds.state(world.session(index));
        assert_eq!(
            (state.phase, state.winner(), state.wins(player(2))),
            (RoundPhase::Result, Some(player(2)), 1)
        );
    }
}

#[test]
fn round_trip_time_is_measured_not_guessed() {
    for rtt in [20, 100, 300] {
        let mut world = world(2, AuthorityPolicy::Leader);
        world.conditions.latency = Micros::from_millis(rtt / 2);
        world.run_ms(5_000);
        let measured = world.session(1).rtt(peer(0)).unwrap().as_millis();
        // A frame of 10 ms passes before a peer notices that an answer is due.
        assert!(measured >= rtt && measured <= rtt + 20, "{measured} of {rtt} ms");
    }
}
