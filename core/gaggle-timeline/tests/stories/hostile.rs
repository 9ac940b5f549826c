//! A dishonest peer can lose its own links, and never stops the game of the others.

use crate::timeline;
use crate::world;
use crate::world::{NetConditions, World, peer};
use gaggle_kit::{Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_timeline::{
    Incarnation, LatePolicy, PeerFault, PeerSlots, RejectReason, Session, SessionError, SessionEvent,
    TimelineConfig,
};

fn two_seats() -> [PeerSlots; 2] {
    [PeerSlots::new(peer(0), Slot::at(0)), PeerSlots::new(peer(1), Slot::at(1))]
}

fn faults(world: &World<world::MixGame>, index: usize) -> Vec<PeerFault> {
    let fault = |event: &SessionEvent| match event {
        SessionEvent::PeerFault { fault, .. } => Some(*fault),
        _ => None,
    };
    world.machines[index].events.iter().filter_map(fault).collect()
}

#[test]
fn damaged_packets_harm_only_their_sender() {
    let mut caught = 0;
    for seed in 0..60 {
        let mut world = World::of(3, seed);
        let mut rng = Prng::new(seed);
        world.tamper = Box::new(move |from, _, bytes| {
            if from != 2 || bytes.is_empty() || rng.below(20) > 0 {
                return;
            }
            match rng.below(4) {
                0 => bytes.truncate(rng.below(bytes.len() as u32) as usize),
                1 => bytes.iter_mut().for_each(|byte| *byte = rng.below(256) as u8),
                2 => bytes.extend((0..rng.below(40)).map(|_| 7)),
                _ => {
                    let at = rng.below(bytes.len() as u32) as usize;
                    bytes[at] ^= 1 << rng.below(8);
                }
            }
        });
        world.compare_with_straight = false;
        world.conditions(NetConditions::latency_ms(30)).run_seconds(5);
        for honest in 0..2 {
            let blamed = world.count_events(
                honest,
                |event| matches!(event, SessionEvent::PeerFault { peer: who, .. } if *who == peer(1 - honest)),
            );
            assert_eq!(
                blamed, 0,
                "seed {seed}: an honest peer was blamed: {:?}",
                world.machines[honest].events
            );
            assert!(faults(&world, honest).len() <= 1, "seed {seed}: told once");
            caught += faults(&world, honest).len();
        }
    }
    assert!(caught > 100, "only {caught} of 120 honest peers saw damage");
}

#[test]
fn any_lie_at_any_time_is_survived() {
    // Each run begins in a running match, and restarts whenever the peer is detected, so that its
    // messages are read.
    let mut rng = Prng::new(3);
    let mut all = timeline::Tally::default();
    for round in 0..400 {
        let length = 40 + rng.below(400) as usize;
        // Mostly honest bytes with one lie, or mostly lies.
        let script: Vec<u8> = (0..length)
            .map(|_| if round % 4 > 0 && rng.below(12) > 0 { 0 } else { rng.below(256) as u8 })
            .collect();
        let timeline::Tally { lies, faults, frames } = timeline::play(&script);
        all = timeline::Tally {
            lies: all.lies + lies,
            faults: all.faults + faults,
            frames: all.frames + frames,
        };
    }
    assert!(all.lies > 2_000 && all.faults > 1_000 && all.frames > 10_000, "{all:?}");
}

#[test]
fn unsound_state_is_declined() {
    let seats = two_seats();
    let mut sessions = [0, 1].map(|index| {
        let config = TimelineConfig::default();
        let mut session = Session::<u8>::new(config, peer(index), &seats, Incarnation(9)).unwrap();
        session.handle_connected(Micros::ZERO, peer(1 - index)).unwrap();
        session
    });
    let mut declined = 0;
    for tick in 1..=120u64 {
        let now = Micros::from_millis(tick * 16);
        if tick == 60 {
            assert!(sessions[0].is_member());
            sessions[0].handle_message(now, peer(1), &[0x1a]);
        }
        for from in 0..2 {
            sessions[from].tick(now);
            // `Export` is never fulfilled: a game may behave so.
            let requests = (0..1_000).take_while(|_| sessions[from].poll_request().is_some()).count();
            assert!(requests < 1_000, "it is asked for again and again");
            let mut packets = vec![];
            while let Some(packet) = sessions[from].poll_transmit() {
                packets.push((packet.is_reliable(), packet.bytes.to_vec()));
            }
            for (reliable, bytes) in packets {
                declined += u32::from(reliable && bytes == [0x23, 0]);
                match reliable {
                    true => sessions[1 - from].handle_message(now, peer(from), &bytes),
                    false => sessions[1 - from].handle_packet(now, peer(from), &bytes),
                }
            }
        }
    }
    assert_eq!(declined, 1, "the peer that asked is told");
    assert!(sessions[0].confirmed_frame().number() > 80, "and they play on");
}

#[test]
fn those_who_were_refused_make_room_for_others() {
    let mut session =
        Session::<u8>::new(TimelineConfig::default(), peer(0), &two_seats(), Incarnation(1)).unwrap();
    let outdated = TimelineConfig { game_fingerprint: 5, slot_count: 4, ..TimelineConfig::default() };
    let stranger = |number: u128| PeerId::from_u128(1_000 + number);
    let refuse = |session: &mut Session<u8>, number: u128| {
        let now = Micros::from_millis(number as u64);
        session.handle_connected(now, stranger(number))?;
        let mut theirs = Session::<u8>::join(outdated.clone(), stranger(number), 1, Incarnation(2))?;
        theirs.handle_connected(now, peer(0))?;
        let announce = theirs.poll_transmit().expect("it says who it is").bytes.to_vec();
        session.handle_message(now, stranger(number), &announce);
        let (refused, _) = session.poll_disconnect().expect("it is refused");
        assert_eq!(refused, stranger(number));
        Ok::<(), SessionError>(())
    };
    for number in 0..600 {
        refuse(&mut session, number).unwrap_or_else(|error| panic!("{number}: {error}"));
        session.handle_disconnected(Micros::from_millis(number as u64), stranger(number));
    }
    // Recently rejected peers are remembered; open links take their places.
    session.handle_connected(Micros::from_secs(1), stranger(599)).unwrap();
    assert!(session.poll_transmit().is_none_or(|packet| packet.to != stranger(599)), "nothing is said to it");
    let full = (1_000..2_000).find(|number| refuse(&mut session, *number).is_err());
    assert!(full.is_some(), "links that are up are not forgotten");
}

#[test]
fn second_value_for_frame_is_fault() {
    let mut world = World::of(2, 8);
    world.run_seconds(1);
    world.tamper = Box::new(|from, _, bytes| {
        // Changes the last value of a sparse packet: later packets contradict it.
        if from == 1 && bytes.len() == 9 && bytes[1] == 1 {
            bytes[8] ^= 0x55;
        }
    });
    world.compare_with_straight = false;
    world.run_seconds(3);
    assert!(matches!(faults(&world, 0)[..], [PeerFault::InputChanged { .. }]), "{:?}", faults(&world, 0));
}

#[test]
fn future_inputs_are_fault_with_numbers() {
    let mut world = World::of(2, 8);
    world.run_seconds(1);
    world.tamper = Box::new(|from, _, bytes| {
        if from == 1 && bytes.len() >= 7 && bytes[2] < 150 {
            // Moves it a hundred frames later, with the same acknowledgement.
            bytes[2] += 100;
            bytes[5] -= 100;
        }
    });
    world.compare_with_straight = false;
    world.run_seconds(2);
    let faults = faults(&world, 0);
    assert!(matches!(faults[..], [PeerFault::InputTooFarAhead { .. }]), "{faults:?}");
    let text = faults[0].to_string();
    assert!(text.contains("although no input after f"), "{text}");
}

#[test]
fn peers_with_other_settings_are_rejected_with_reason() {
    let base = TimelineConfig::default();
    type Expected = fn(&RejectReason) -> bool;
    let cases: [(TimelineConfig, Expected); 3] = [
        (TimelineConfig { game_fingerprint: 5, ..base.clone() }, |r| matches!(r, RejectReason::Game { .. })),
        (TimelineConfig { tick_rate: 30, ..base.clone() }, |r| matches!(r, RejectReason::Settings)),
        (TimelineConfig { late_policy: LatePolicy::Stall { prediction_frames: 0 }, ..base.clone() }, |r| {
            matches!(r, RejectReason::Settings)
        }),
    ];
    for (other, expected) in cases {
        let mut ours = Session::<u8>::new(base.clone(), peer(0), &two_seats(), Incarnation(1)).unwrap();
        let mut theirs = Session::<u8>::new(other, peer(1), &two_seats(), Incarnation(2)).unwrap();
        ours.handle_connected(Micros::ZERO, peer(1)).unwrap();
        theirs.handle_connected(Micros::ZERO, peer(0)).unwrap();
        let announce = theirs.poll_transmit().expect("it says who it is");
        assert!(announce.is_reliable());
        ours.handle_message(Micros::ZERO, peer(1), announce.bytes);
        let refused = std::iter::from_fn(|| ours.poll_event()).find_map(|event| match event {
            SessionEvent::Rejected { reason, .. } => Some(reason),
            _ => None,
        });
        assert!(refused.as_ref().is_some_and(expected), "{refused:?}");
    }
}

#[test]
fn invalid_settings_say_what_to_change() {
    let new = |config: TimelineConfig, seats: &[PeerSlots]| {
        Session::<u8>::new(config, peer(0), seats, Incarnation(1))
            .map(|_| ())
            .expect_err("cannot be")
            .to_string()
    };
    let base = TimelineConfig::default();
    let cases = [
        (
            new(
                TimelineConfig { late_policy: LatePolicy::Stall { prediction_frames: 61 }, ..base.clone() },
                &two_seats(),
            ),
            "prediction_frames is 61; choose 0 to 60",
        ),
        (
            new(TimelineConfig { tick_rate: 0, ..base.clone() }, &two_seats()),
            "tick_rate is 0; choose 1 to 1000",
        ),
        (
            new(TimelineConfig { input_delay_range: (4, 2), ..base.clone() }, &two_seats()),
            "input_delay_range.0 is 4; choose 0 to 2",
        ),
        (
            new(base.clone(), &[PeerSlots::new(peer(0), Slot::at(0)), PeerSlots::new(peer(1), Slot::at(0))]),
            "slot 0 is given to two peers; give it to one",
        ),
        (
            new(base.clone(), &two_seats()[1..]),
            "peer:1, the local peer, is not among the peers that start; add it",
        ),
    ];
    for (said, expected) in cases {
        assert_eq!(said, expected);
    }
    let seat = PeerSlots { peer: peer(0), slots: SlotSet::first(64) };
    let large = Session::<[u64; 16]>::new(base, peer(0), &[seat], Incarnation(1)).map(|_| ());
    assert!(
        matches!(large, Err(SessionError::InputTooLarge { slots: 64, input_bytes: 128, .. })),
        "{large:?}"
    );
}

#[test]
fn packet_size_must_hold_one_entry() {
    let seats = two_seats();
    let smallest = (64..200).find(|bytes| {
        let config = TimelineConfig { packet_bytes_max: *bytes, ..TimelineConfig::default() };
        Session::<[u64; 6]>::new(config, peer(0), &seats, Incarnation(1)).is_ok()
    });
    let packet_bytes_max = smallest.expect("some size is enough");
    let config = TimelineConfig { packet_bytes_max, ..TimelineConfig::default() };
    let mut sessions = [0, 1].map(|index| {
        let mut session =
            Session::<[u64; 6]>::new(config.clone(), peer(index), &seats, Incarnation(9)).unwrap();
        session.handle_connected(Micros::ZERO, peer(1 - index)).unwrap();
        session
    });
    for tick in 1..=200u64 {
        let now = Micros::from_millis(tick * 16);
        for (index, session) in sessions.iter_mut().enumerate() {
            session.set_input(Slot::at(index), [tick; 6]).unwrap();
            session.tick(now);
            while session.poll_request().is_some() {}
        }
        for from in 0..2 {
            let mut packets = vec![];
            while let Some(packet) = sessions[from].poll_transmit() {
                assert!(packet.bytes.len() <= packet_bytes_max, "{} bytes", packet.bytes.len());
                packets.push((packet.is_reliable(), packet.bytes.to_vec()));
            }
            for (reliable, bytes) in packets {
                if reliable {
                    sessions[1 - from].handle_message(now, peer(from), &bytes);
                } else {
                    sessions[1 - from].handle_packet(now, peer(from), &bytes);
                }
            }
        }
    }
    assert!(sessions[0].confirmed_frame().number() > 100, "stands at {}", sessions[0].confirmed_frame());
}
