//! Peers that do not play by the rules. A liar is the real machine with its hands on its own
//! memory: it says what it should not in packets that are well made. The others lose at most their
//! link to it.

#[path = "../../tests/world/mod.rs"]
pub(super) mod world;

use gaggle_kit::{Micros, PeerId, Prng, State};

use crate::event::PeerFault;
use crate::message::{Message, SignalMessage, ValueMessage};
use crate::{
    AuthorityPolicy, EventOptions, JoinMode, Kind, Kinds, MemberId, MemberTag, ObjectId, RejectReason,
    ReplicaConfig, Session, SessionEvent, Target, ValueWriter,
};
use world::{NetConditions, World, peer, player};

#[derive(Debug, Clone, PartialEq, Kind)]
pub(super) struct Cube {
    #[kind(range = 0..=1_000)]
    pub(super) place: u32,
}

#[derive(Debug, Clone, PartialEq, State)]
struct Bang(u8);

#[derive(Debug, Clone, PartialEq, State)]
struct Name(u8);

#[derive(Debug, Clone, PartialEq, State)]
struct Score(u8);

pub(super) fn cube(place: u32) -> Cube {
    Cube { place }
}

pub(super) fn kinds() -> Kinds {
    Kinds::new()
        .with::<Cube>()
        .with_event::<Bang>("bang", EventOptions::DIRECT)
        .with_value::<Name>("name", ValueWriter::Player)
        .with_value::<Score>("score", ValueWriter::Leader)
}

pub(super) fn world(count: usize, policy: AuthorityPolicy) -> World {
    World::of(count, 41, ReplicaConfig { authority: policy, ..ReplicaConfig::default() }, kinds())
}

/// The last machine; all others are honest.
pub(super) fn liar(world: &mut World) -> &mut Session {
    let last = world.machines.len() - 1;
    world.session(last)
}

fn faults(world: &World, index: usize) -> Vec<PeerFault> {
    let fault = |event: &SessionEvent| match event {
        SessionEvent::PeerFault { fault, .. } => Some(*fault),
        _ => None,
    };
    world.machines[index].events.iter().filter_map(fault).collect()
}

/// The honest machines know the same, and go on to.
fn expect_the_honest_agree(world: &mut World, ids: &[ObjectId]) {
    let honest = world.machines.len() - 1;
    for id in ids {
        let first = (world.session(0).get::<Cube>(*id), world.session(0).authority(*id));
        for index in 1..honest {
            let session = world.session(index);
            assert_eq!((session.get::<Cube>(*id), session.authority(*id)), first, "{id:?} at {index}");
        }
    }
}

#[test]
fn a_jump_of_the_count_locks_nothing_for_long() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    let ids: Vec<ObjectId> = (0..2).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(1_000);
    // One far beyond anything that can have happened, one just at the limit.
    let limit = world.session(0).claims_max();
    for (id, seq) in ids.iter().zip([u32::MAX, limit]) {
        let session = liar(&mut world);
        session.claim(*id).unwrap();
        let place = session.store.find(*id).unwrap();
        let mut record = session.store[place].record.unwrap();
        record.version.claim_seq = seq;
        session.store.set_record(place, Some(record));
        session.change_stamp(place);
        session.set(*id, &cube(500)).unwrap();
    }
    world.run_ms(500);
    assert_eq!(world.session(1).get(ids[0]), Some(cube(0)), "not before it can be true");
    world.session(1).claim(ids[0]).unwrap();
    world.session(1).claim(ids[1]).unwrap();
    world.session(1).set(ids[1], &cube(7)).unwrap();
    world.run_ms(1_000);
    expect_the_honest_agree(&mut world, &ids);
    assert_eq!(world.session(2).get(ids[1]), Some(cube(7)));
    // Without the liar all is as if it had never been.
    world.kill(3);
    world.run_ms(2_000);
    expect_the_honest_agree(&mut world, &ids);
}

#[test]
fn a_flood_of_objects_ends_the_flooders_link_alone() {
    let config = ReplicaConfig {
        authority: AuthorityPolicy::Anyone,
        objects_per_peer_max: 500,
        bytes_per_second: 1_000_000,
        ..ReplicaConfig::default()
    };
    let mut world = World::of(3, 5, config, kinds());
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(300);
    for place in 0..800 {
        liar(&mut world).spawn(&cube(place)).unwrap();
    }
    world.run_ms(2_000);
    for index in 0..2 {
        assert_eq!(faults(&world, index), [PeerFault::TooManyObjects { max: 500 }], "at {index}");
        assert!(!world.is_linked(index, 2) && world.session(index).store.len() <= 502);
    }
    world.session(1).claim(id).unwrap();
    world.run_ms(500);
    assert_eq!(world.session(0).authority(id), Some(player(1)));
    // What it brought goes with it, and beginning anew gives it no more room.
    world.run_ms(2_000);
    for _ in 0..3 {
        for index in 0..2 {
            assert_eq!(world.session(index).iter::<Cube>().count(), 1, "at {index}");
            assert!(world.session(index).store.len() <= 502);
            world.link(2, index);
        }
        world.run_ms(2_000);
    }
    assert_eq!(faults(&world, 0).len(), 4);
}

#[test]
fn when_there_is_no_room_nobody_is_blamed_and_it_goes_on_when_there_is() {
    let config = ReplicaConfig {
        authority: AuthorityPolicy::Anyone,
        objects_max: 100,
        tombstone_ttl: Micros::from_secs(60),
        ..ReplicaConfig::default()
    };
    let mut world = World::of(2, 5, config, kinds());
    let mine: Vec<ObjectId> = (0..60).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(50);
    let theirs: Vec<ObjectId> =
        (0..60).filter_map(|place| world.session(1).spawn(&cube(place)).ok()).collect();
    assert!(theirs.len() >= 40);
    world.run_ms(2_000);
    world.expect_peace();
    assert!(world.session(0).store.len() <= 160 && world.session(1).store.len() <= 160);
    for id in &mine[..30] {
        world.session(0).despawn(*id).unwrap();
    }
    world.run_ms(180_000);
    assert!(theirs.iter().all(|id| world.session(0).get::<Cube>(*id).is_some()), "there is room again");
}

#[test]
fn whoever_never_acknowledges_costs_no_memory() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let ids: Vec<ObjectId> = (0..100).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(500);
    world.blocked[1][0] = true;
    let mut number = 0;
    world.play(Micros::from_secs(60), |session, index, _| {
        if index == 0 {
            number += 1;
            for id in &ids {
                session.set(*id, &cube(number % 1_000)).unwrap();
            }
        }
    });
    let (packets, records) = world.session(0).links[0].sent.kept();
    assert!(packets <= 1_000 && records <= 120_000, "{packets} packets with {records} records");
    assert!(world.session(0).messages.is_empty());
    world.blocked[1][0] = false;
    world.run_ms(2_000);
    assert_eq!(world.session(1).get(ids[3]), Some(cube(number % 1_000)), "what was told it has");
    world.expect_peace();
}

#[test]
fn whoever_acknowledges_later_and_later_costs_no_memory() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(500);
    // It acknowledges every packet, but two of three seconds late after three, twenty of thirty
    // after thirty.
    let mut acks: Vec<[u8; 2]> = Vec::new();
    world.tamper = Box::new(move |from, _, bytes| {
        if from == 1 && bytes.len() == 18 {
            acks.push([bytes[9], bytes[10]]);
            bytes[9..11].copy_from_slice(&acks[acks.len() * 2 / 3]);
            bytes[11] = 0;
            bytes[14..].fill(0);
        }
    });
    let mut number = 0;
    world.play(Micros::from_secs(120), |session, index, _| {
        if index == 0 {
            number += 1;
            ids.iter().for_each(|id| session.set(*id, &cube(number % 1_000)).unwrap());
        }
    });
    let (packets, records) = world.session(0).links[0].sent.kept();
    assert!(packets <= 300, "{packets} packets with {records} records");
    world.expect_peace();
}

#[test]
fn asking_again_and_again_who_one_is_ends_the_link() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(200);
    let now = world.now;
    let mut bytes = world.session(1).hello_to(peer(0));
    bytes[15..19].fill(0);
    for _ in 0..100 {
        world.session(0).handle_message(now, peer(1), &bytes);
    }
    world.collect(0);
    assert_eq!(faults(&world, 0), [PeerFault::TooManyRestarts { max: 32 }]);
}

#[test]
fn what_is_kept_from_somebody_it_does_not_learn_by_asking() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let id = world.session(0).spawn(&cube(5)).unwrap();
    let mut asked = false;
    let told = std::rc::Rc::new(std::cell::Cell::new(0));
    for _ in 0..200 {
        world.now += Micros::from_millis(10);
        world.deliver();
        let now = world.now;
        for index in 0..2 {
            world.session(index).tick_with(
                now,
                Some(&mut |receiver: &crate::Receiver, _: &crate::ObjectRef<'_>| {
                    (receiver.peer != peer(2)).then_some(crate::Relevance::ONE)
                }),
            );
        }
        liar(&mut world).tick(now);
        (0..3).for_each(|index| world.collect(index));
        if now > Micros::from_millis(1_500) && !asked {
            asked = true;
            assert_eq!(world.session(1).get(id), Some(cube(5)));
            say_to(&mut world, 0, &Message::Ask(id));
            say_to(&mut world, 1, &Message::Ask(id));
            // Nor does it by telling something older of it.
            let session = liar(&mut world);
            let place = session.place_of(id);
            let holder = MemberId { join_order: 9, tag: MemberTag(9) };
            let version = crate::version::Version { lock_seq: 0, claim_seq: 0, authority: holder, tick: 1 };
            let record = crate::version::Record {
                version,
                player: player(2),
                held: false,
                owner_claim: None,
                home: None,
                gone: false,
                kind: 0,
            };
            session.store.set_record(place, Some(record));
            for link in 0..session.links.len() {
                session.set_owed(link, place, true);
                session.refresh_link(link, place);
            }
        }
        told.set(world.session(0).stats().corrections_sent);
    }
    assert!(asked);
    let heard = |session: &Session| {
        let tables = session.links.iter().flat_map(|link| &link.table);
        tables.filter(|incoming| incoming.is_open()).count()
    };
    assert_eq!(heard(liar(&mut world)), 0, "answered {} times", told.get());
}

#[test]
fn acknowledging_what_was_never_sent_is_a_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(300);
    world.tamper = Box::new(|from, _, bytes| {
        if from == 1 && bytes.len() > 14 {
            let ack = u16::from_le_bytes([bytes[9], bytes[10]]).wrapping_add(500);
            bytes[9..11].copy_from_slice(&ack.to_le_bytes());
        }
    });
    world.run_ms(2_000);
    assert!(matches!(faults(&world, 0)[..], [PeerFault::AckBeyondSent { .. }]), "{:?}", faults(&world, 0));
}

#[test]
fn no_bytes_do_more_harm_than_to_end_a_link() {
    let mut random = Prng::new(12);
    let mut harmed = 0;
    for round in 0..60 {
        let mut world = world(3, AuthorityPolicy::Anyone);
        world.weather = NetConditions::rough(60, 20);
        let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
        world.run_ms(600);
        let mut dice = Prng::new(round);
        world.tamper = Box::new(move |from, _, bytes| {
            if from == 2 && dice.chance(1, 4) && !bytes.is_empty() {
                for _ in 0..=dice.below(3) {
                    let at = dice.below(bytes.len() as u32) as usize;
                    match dice.below(3) {
                        0 => bytes[at] ^= 1 << dice.below(8),
                        1 => bytes.truncate(at),
                        _ => bytes.insert(at, dice.next_u32() as u8),
                    }
                    if bytes.is_empty() {
                        break;
                    }
                }
            }
        });
        world.play(Micros::from_secs(2), |session, index, _| {
            let id = ids[random.below(20) as usize];
            if session.claim(id).is_ok() {
                session.set(id, &cube(index as u32)).ok();
            }
        });
        harmed += faults(&world, 0).len() + faults(&world, 1).len();
        world.kill(2);
        world.run_ms(3_000);
        expect_the_honest_agree(&mut world, &ids);
    }
    assert!(harmed > 40, "only {harmed} links ended");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Prng::new(9);
    for round in 0..3_000 {
        let mut session =
            Session::new(ReplicaConfig::default(), kinds(), player(0), JoinMode::Create, round).unwrap();
        session.handle_connected(Micros::ZERO, peer(1));
        for _ in 0..4 {
            let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.next_u32() as u8).collect();
            session.handle_packet(Micros::from_millis(1), peer(1), &bytes);
            session.handle_message(Micros::from_millis(1), peer(1), &bytes);
        }
    }
}

/// Gives the first machine a message from the last one.
fn say(world: &mut World, message: &Message<'_>) {
    say_to(world, 0, message);
}

fn say_to(world: &mut World, index: usize, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    let (now, last) = (world.now, world.machines.len() - 1);
    world.session(index).handle_message(now, peer(last), &bytes);
    world.collect(index);
}

fn bang(origin: usize, tag: u32) -> SignalMessage<'static> {
    let origin = player(origin);
    SignalMessage {
        kind: 0,
        to: Target::All,
        origin,
        tag,
        number: 0,
        tick: 0,
        objects: Vec::new(),
        bytes: &[1],
    }
}

#[test]
fn signals_and_values_in_another_name_are_faults() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let tag = world.session(1).local_member().tag.0;
    say(&mut world, &Message::RemoteEvent(bang(1, tag)));
    assert_eq!(faults(&world, 0), [PeerFault::Impersonation]);

    let mut world = self::world(3, AuthorityPolicy::Leader);
    let writer = liar(&mut world).local_member();
    let value = ValueMessage { player: player(1), key: 0, rev: 3, writer, bytes: &[5] };
    say(&mut world, &Message::Value(value));
    assert_eq!(faults(&world, 0), [PeerFault::Impersonation]);

    let mut world = self::world(3, AuthorityPolicy::Leader);
    say(&mut world, &Message::RemoteEvent(SignalMessage { kind: 9, ..bang(2, 0) }));
    assert_eq!(faults(&world, 0), [PeerFault::UnknownEvent]);
}

#[test]
fn values_that_are_not_ones_own_to_write_are_not_taken() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let writer = liar(&mut world).local_member();
    // The host's to write: what anybody else says counts for nothing while the host has something
    // to say.
    world.session(0).set_value(player(2), &Score(3)).unwrap();
    say(
        &mut world,
        &Message::Value(ValueMessage { player: player(2), key: 1, rev: 50, writer, bytes: &[99] }),
    );
    world.run_ms(300);
    for index in 0..2 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(3)), "at {index}");
    }
    // In the name of a member who is here: that one speaks for itself.
    let writer = world.session(1).local_member();
    say(
        &mut world,
        &Message::Value(ValueMessage { player: player(1), key: 0, rev: 50, writer, bytes: &[99] }),
    );
    assert_eq!(world.session(0).value::<Name>(player(1)), None);
    // Of somebody long gone, with a count nobody can have reached.
    let writer = MemberId { join_order: 9, tag: MemberTag(9) };
    let value = ValueMessage { player: player(9), key: 0, rev: u32::MAX, writer, bytes: &[99] };
    say(&mut world, &Message::Value(value));
    assert_eq!(world.session(0).value::<Name>(player(9)), None);
    world.expect_peace();
}

#[test]
fn values_under_an_invented_name_are_contradicted_by_those_they_belong_to() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.session(0).set_value(player(2), &Score(3)).unwrap();
    world.session(1).set_value(player(1), &Name(7)).unwrap();
    world.run_ms(2_000);
    let writer = MemberId { join_order: 5, tag: MemberTag(0xdead) };
    for rev in 2..40 {
        for key in [0, 1] {
            let player = player(2 - usize::from(key == 0));
            let value = ValueMessage { player, key, rev, writer, bytes: &[99] };
            for told in 0..2 {
                say_to(&mut world, told, &Message::Value(value));
            }
        }
        world.run_ms(20);
    }
    for index in 0..3 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(3)), "at {index}");
        assert_eq!(world.session(index).value(player(1)), Some(Name(7)), "at {index}");
    }
    // Contradicting leaves room for what comes next.
    world.session(0).set_value(player(2), &Score(4)).unwrap();
    world.session(1).set_value(player(1), &Name(8)).unwrap();
    world.run_ms(200);
    for index in 0..3 {
        assert_eq!(world.session(index).value(player(2)), Some(Score(4)), "at {index}");
        assert_eq!(world.session(index).value(player(1)), Some(Name(8)), "at {index}");
    }
    world.expect_peace();
}

#[test]
fn hearsay_without_end_is_not_passed_on_without_end() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    world.run_ms(2_000);
    let refused = world.session(0).stats().records_rejected;
    let writer = MemberId { join_order: 5, tag: MemberTag(0xdead) };
    for number in 0..20_000_u32 {
        let (player, rev) = (player(10 + number as usize % 200), 1 + number / 200);
        let value = ValueMessage { player, key: 0, rev, writer, bytes: &[number as u8] };
        say(&mut world, &Message::Value(value));
    }
    assert!(world.session(0).stats().records_rejected - refused > 17_000);
}

#[test]
fn a_flood_of_signals_is_cut_off_and_counted() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let tag = liar(&mut world).local_member().tag.0;
    for _ in 0..5_000 {
        say(&mut world, &Message::RemoteEvent(bang(2, tag)));
    }
    let heard = std::iter::from_fn(|| world.session(0).poll_remote_event()).count();
    assert!(heard <= 512 && world.session(0).stats().remote_events_dropped >= 4_400, "{heard} heard");
}

#[test]
fn who_is_not_who_it_says_is_refused() {
    let mut world = world(1, AuthorityPolicy::Leader);
    world.machines.push(world::Machine::new(2));
    world.grow();
    world.start(1, JoinMode::Join);
    world.session(0).vouch(peer(1), player(7));
    world.link(0, 1);
    world.run_ms(300);
    let refused = SessionEvent::Rejected {
        peer: peer(1),
        reason: RejectReason::SlotMismatch { said: player(1), is: player(7) },
    };
    assert_eq!(world.count_events(0, |event| *event == refused), 1);
    assert_eq!(world.session(0).roster().len(), 1);
}

#[test]
fn nobody_is_a_player_that_somebody_else_is_known_to_be() {
    let mut world = world(1, AuthorityPolicy::Leader);
    world.machines.push(world::Machine::new(2));
    world.grow();
    world.start(1, JoinMode::Join);
    world.session(0).vouch(peer(9), player(1));
    world.link(0, 1);
    world.run_ms(300);
    let refused = SessionEvent::Rejected { peer: peer(1), reason: RejectReason::TagTaken };
    assert_eq!(world.count_events(0, |event| *event == refused), 1);
    assert_eq!(world.session(0).roster().len(), 1);
    // The seat was given to another meanwhile.
    world.session(0).vouch(peer(1), player(1));
    world.unlink(0, 1);
    world.start(1, JoinMode::Join);
    world.link(0, 1);
    world.run_ms(300);
    assert_eq!(world.session(0).roster().len(), 2);
}

#[test]
fn who_turns_out_to_be_another_is_sent_away() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(300);
    assert_eq!(world.session(0).roster().len(), 2);
    world.session(0).vouch(peer(1), player(1));
    assert_eq!(world.session(0).roster().len(), 2, "it is who it says");
    world.session(0).vouch(peer(1), player(7));
    assert_eq!(world.session(0).roster().len(), 1);
    assert_eq!(world.session(0).poll_disconnect(), Some(peer(1)));
}

#[test]
fn starting_anew_again_and_again_is_a_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(200);
    let peers: Vec<PeerId> = vec![peer(0)];
    for _ in 0..40 {
        let now = world.now;
        liar(&mut world).handle_connected(now, peers[0]);
        world.run_ms(100);
    }
    assert_eq!(faults(&world, 0), [PeerFault::TooManyRestarts { max: 16 }]);
}

#[test]
fn who_looks_on_and_speaks_loses_its_link() {
    for lie in 0..4 {
        let mut world = world(3, AuthorityPolicy::Anyone);
        let id = world.session(0).spawn(&cube(1)).unwrap();
        world.kill(2);
        world.start(2, JoinMode::Spectate);
        world.link(2, 0);
        world.link(2, 1);
        world.run_ms(500);
        assert_eq!(liar(&mut world).get::<Cube>(id), Some(cube(1)));
        let now = world.now;
        let tag = liar(&mut world).me.id.tag;
        match lie {
            // Holds things nobody gave it.
            0 => {
                let eye = liar(&mut world);
                eye.spectator = false;
                eye.admit(9);
                eye.claim(id).unwrap();
            }
            1 => {
                let mut bytes = Vec::new();
                let signal = SignalMessage {
                    kind: 0,
                    to: Target::All,
                    origin: player(2),
                    tag: tag.0,
                    number: 0,
                    tick: 0,
                    objects: Vec::new(),
                    bytes: &[7],
                };
                Message::RemoteEvent(signal).encode(&mut bytes);
                world.session(0).handle_message(now, peer(2), &bytes);
            }
            2 => {
                let mut bytes = Vec::new();
                let writer = MemberId { join_order: u32::MAX, tag };
                let value = ValueMessage { player: player(2), key: 0, rev: 1, writer, bytes: &[7] };
                Message::Value(value).encode(&mut bytes);
                world.session(0).handle_message(now, peer(2), &bytes);
            }
            _ => {
                // The lobby said it may only look on, and it comes as a member.
                world.session(0).vouch_onlooker(peer(2));
                world.kill(2);
                world.start(2, JoinMode::Join);
                world.link(2, 0);
            }
        }
        world.run_ms(500);
        let refused = |event: &SessionEvent| {
            matches!(event, SessionEvent::Rejected { reason: RejectReason::NotAPlayer, .. })
        };
        if lie == 3 {
            assert_eq!(world.count_events(0, refused), 1);
        } else {
            let fault = faults(&world, 0);
            let expected = if lie == 0 { PeerFault::IdentityChanged } else { PeerFault::SpectatorWrote };
            assert_eq!(fault, [expected], "lie {lie}");
        }
        assert_eq!(world.session(0).roster().len(), 2);
        assert_eq!(world.session(1).authority(id), Some(player(0)));
    }
}
