//! Desyncs are detected and located with their cause; differences in frames that are not final are
//! never reported.

use std::cell::Cell;

use crate::world::{MixGame, NetConditions, World, peer};
use gaggle_kit::{Frame, Micros, Slot, SlotSet, State};
use gaggle_timeline::{
    DesyncCause, Game, Incarnation, Inputs, LatePolicy, PeerSlots, Request, Session, SessionEvent,
    TimelineConfig,
};

thread_local! {
    /// A value outside the state, which a correct game would not read.
    static OUTSIDE: Cell<u32> = const { Cell::new(0) };
}

/// A game that reads a value outside its state in some frames.
#[derive(Clone, Debug, State)]
struct Pinched {
    stew: MixGame,
    from: u32,
    to: u32,
}

impl Pinched {
    fn new(from: u32, to: u32) -> Pinched {
        Pinched { stew: MixGame::new(Vec::new()), from, to }
    }
}

impl Game for Pinched {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.stew.tick(inputs);
        if (self.from..=self.to).contains(&inputs.frame().number()) {
            self.stew.mixed = self.stew.mixed.wrapping_add(OUTSIDE.get());
        }
    }
}

/// A large state of which only the last element changes, and only in its lowest bit.
#[derive(Clone, Debug, State)]
struct Crowd {
    stew: MixGame,
    people: [u16; CROWD],
}

const CROWD: usize = 1_000;

impl Game for Crowd {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.stew.tick(inputs);
        if inputs.frame().number() == 137 {
            self.people[CROWD - 1] ^= OUTSIDE.get() as u16;
        }
    }
}

fn desyncs(world: &World<impl Game<Input = u8>>, index: usize) -> Vec<SessionEvent> {
    let wanted = |event: &&SessionEvent| {
        matches!(
            event,
            SessionEvent::DesyncDetected { .. }
                | SessionEvent::DesyncLocated { .. }
                | SessionEvent::InputsDiverged { .. }
        )
    };
    world.machines[index].events.iter().filter(wanted).cloned().collect()
}

#[test]
fn nondeterministic_tick_is_located_to_frame() {
    let mut world = World::with(2, 1, &TimelineConfig::default(), |_| Pinched::new(137, 137));
    world.before_tick = Box::new(|index, _| OUTSIDE.set(index as u32));
    world.compare_with_straight = false;
    world.run_seconds(6);
    for index in 0..2 {
        let events = desyncs(&world, index);
        assert_eq!(events.len(), 2, "each is told once: {events:?}");
        let at = |frame: Frame, number| frame.number() == number;
        assert!(
            matches!(events[0], SessionEvent::DesyncDetected { frame, agreed, .. } if at(frame, 180) && at(agreed, 120)),
            "{events:?}"
        );
        assert!(
            matches!(events[1], SessionEvent::DesyncLocated { cause: DesyncCause::NondeterministicTick { frame }, .. } if at(frame, 137)),
            "{events:?}"
        );
    }
}

#[test]
fn single_bit_difference_is_detected_by_both() {
    let crowd = |_| Crowd { stew: MixGame::new(Vec::new()), people: [7; CROWD] };
    let mut world = World::with(2, 1, &TimelineConfig::default(), crowd);
    world.before_tick = Box::new(|index, _| OUTSIDE.set(index as u32));
    world.compare_with_straight = false;
    world.run_seconds(6);
    for index in 0..2 {
        let located = |event: &SessionEvent| matches!(event, SessionEvent::DesyncLocated { cause: DesyncCause::NondeterministicTick { frame }, .. } if frame.number() == 137);
        let events = desyncs(&world, index);
        assert!(events.iter().any(located), "machine {index}: {events:?}");
    }
    let bundle = world.machines[1]
        .timeline
        .take_desync_bundle()
        .expect("the one that took the other's state explains it");
    let view = bundle.diff::<Crowd>().expect("it is of this game");
    assert_eq!(view.differences.len(), 1, "{view:?}");
    assert!(view.differences[0].starts_with("people[999]: "), "{view:?}");
}

#[test]
fn different_starts_are_found_in_first_frame() {
    let mut world = World::with(2, 1, &TimelineConfig::default(), |index| Pinched::new(index as u32, 0));
    world.compare_with_straight = false;
    world.run_seconds(4);
    for index in 0..2 {
        let events = desyncs(&world, index);
        let first = |cause: DesyncCause| matches!(cause, DesyncCause::NondeterministicTick { frame } if frame == Frame::new(1));
        assert!(matches!(events[1], SessionEvent::DesyncLocated { cause, .. } if first(cause)), "{events:?}");
    }
}

#[test]
fn state_changed_outside_tick_is_told_from_differing_tick() {
    let mut world = World::with(2, 3, &TimelineConfig::default(), |_| Pinched::new(0, u32::MAX));
    world.compare_with_straight = false;
    // For half a second bits flip on peer 0, but not when the frames are resimulated.
    world.before_tick =
        Box::new(|index, tick| OUTSIDE.set(u32::from(index == 0 && (150..180).contains(&tick))));
    world.run_seconds(6);
    let cause = |index: usize| {
        desyncs(&world, index).into_iter().find_map(|event| match event {
            SessionEvent::DesyncLocated { cause, .. } => Some(cause),
            _ => None,
        })
    };
    assert!(matches!(cause(0), Some(DesyncCause::LocalStateCorrupted { .. })), "{:?}", cause(0));
    assert!(matches!(cause(1), Some(DesyncCause::RemoteStateCorrupted { .. })), "{:?}", cause(1));
}

#[test]
fn guesses_that_are_wrong_for_long_are_no_desync() {
    let mut world = World::of(4, 9);
    world.conditions(NetConditions {
        latency: Micros::from_millis(110),
        jitter: Micros::from_millis(60),
        loss: 100,
        ..NetConditions::default()
    });
    world.run_seconds(40);
    world.expect_rollbacks(100).expect_agreement();
    let compared = (0..4).map(|index| world.session(index).confirmed_frame().number() / 60).min();
    assert!(compared > Some(20), "too little was compared");
}

/// Changes every input of a packet in the same way, whenever it is sent.
fn lie(packet: &mut [u8]) {
    let (flags, carried) = (packet[1], usize::from(packet[4]));
    let mut at = 7;
    at += if packet[5] == 255 { 2 } else { 0 };
    at += if flags & 0x10 != 0 { 7 } else { 0 };
    at += if flags & 0x20 != 0 { 9 } else { 0 };
    if flags & 0x08 != 0 {
        at += carried.div_ceil(8);
        packet[at..].iter_mut().for_each(|value| *value |= 0x80);
    } else {
        at += if flags & 7 == 7 { 1 } else { 0 };
        packet[at..].chunks_exact_mut(2).for_each(|change| change[1] |= 0x80);
    }
}

#[test]
fn equivocating_peer_is_named() {
    let mut world = World::of(3, 17);
    world.players_press(|rng, _, _| if rng.below(10) == 0 { 1 + rng.below(127) as u8 } else { 0 });
    world.compare_with_straight = false;
    // Peer 2 is honest to peer 0 and lies to peer 1, so that it cannot be caught in a
    // contradiction.
    world.tamper = Box::new(|from, to, bytes| {
        let running_game = bytes.len() >= 7 && bytes[0] & 0x3f == 0;
        if (from, to) == (2, 1) && running_game {
            lie(bytes);
        }
    });
    world.run_seconds(8);
    for index in 0..2 {
        let events = desyncs(&world, index);
        let named = |event: &SessionEvent| matches!(event, SessionEvent::InputsDiverged { suspect: Some(liar), .. } if *liar == peer(2));
        assert!(events.iter().any(named), "machine {index}: {events:?}");
        assert!(
            !events.iter().any(|event| matches!(event, SessionEvent::DesyncDetected { .. })),
            "the game is not to blame"
        );
    }
}

/// A match of three players on one peer against one, with large inputs that change in every frame
/// and packets that hold only a few of them. Returns the events about faults and desyncs.
fn crowded_match(packet_bytes_max: usize) -> (Vec<SessionEvent>, Frame) {
    let seats = [PeerSlots { peer: peer(0), slots: SlotSet::first(3) }, PeerSlots::new(peer(1), Slot::at(3))];
    let config = TimelineConfig {
        late_policy: LatePolicy::Stall { prediction_frames: 20 },
        checksum_interval_frames: 1,
        packet_bytes_max,
        ..TimelineConfig::default()
    };
    let mut sessions = [0, 1].map(|index| {
        let mut session =
            Session::<[u64; 3]>::new(config.clone(), peer(index), &seats, Incarnation(9)).expect("fits");
        session.handle_connected(Micros::ZERO, peer(1 - index)).expect("seated");
        session
    });
    let (mut complaints, mut flying) = (vec![], Vec::<(u64, usize, bool, Vec<u8>)>::new());
    for tick in 1..=600u64 {
        let now = Micros::from_millis(tick * 16);
        for (index, session) in sessions.iter_mut().enumerate() {
            for slot in session.local_slots() {
                session.set_input(slot, [tick, slot.number().into(), tick / 3]).expect("local");
            }
            session.tick(now);
            while let Some(request) = session.poll_request() {
                if let Request::Hash { frame, hash, .. } = request {
                    *hash = Some(frame.number().into());
                }
            }
            while let Some(packet) = session.poll_transmit() {
                // Periodically all packets of one direction are lost for a while.
                let outage = index == 1 && tick % 60 > 35;
                if packet.is_reliable() || !outage {
                    flying.push((tick + 3, 1 - index, packet.is_reliable(), packet.bytes.to_vec()));
                }
            }
            while let Some(event) = session.poll_event() {
                if matches!(
                    event,
                    SessionEvent::DesyncDetected { .. }
                        | SessionEvent::InputsDiverged { .. }
                        | SessionEvent::PeerFault { .. }
                ) {
                    complaints.push(event);
                }
            }
        }
        for (_, to, reliable, bytes) in flying.extract_if(.., |packet| packet.0 <= tick) {
            let session = &mut sessions[to];
            if reliable {
                session.handle_message(now, peer(1 - to), &bytes);
            } else {
                session.handle_packet(now, peer(1 - to), &bytes);
            }
        }
    }
    (complaints, sessions[0].confirmed_frame())
}

#[test]
fn checksums_beyond_packet_are_sent_later_and_right() {
    for packet_bytes_max in [180, 240, 300, 340] {
        let (complaints, confirmed) = crowded_match(packet_bytes_max);
        assert_eq!(complaints, [], "with packets of {packet_bytes_max} bytes");
        assert!(confirmed > Frame::new(50), "{confirmed} with packets of {packet_bytes_max} bytes");
    }
}

#[test]
fn unanswered_audit_does_not_block_next_one() {
    let mut world = World::with(3, 1, &TimelineConfig::default(), |_| Pinched::new(137, 137));
    world.compare_with_straight = false;
    world.before_tick = Box::new(|index, _| OUTSIDE.set(index as u32));
    // Peer 1 never sends its findings, and no peer gets another's state before the next audit,
    // because requests for a state are changed to requests for a path.
    world.tamper = Box::new(|from, _, bytes| {
        if *bytes == [0x1a] {
            bytes[0] = 0x11;
        }
        if from == 1 && bytes.first() == Some(&2) && bytes.len() > 40 {
            bytes.clear();
            bytes.extend_from_slice(&[2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
    });
    world.run_seconds(25);
    let located = |event: &SessionEvent| matches!(event, SessionEvent::DesyncLocated { peer: with, .. } if *with == peer(2));
    assert!(desyncs(&world, 0).iter().any(located), "{:?}", desyncs(&world, 0));
}
