//! Thousands of clients, reconnects and crashing nodes in virtual time, with all invariants checked
//! after every step.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

mod silence;
mod world;

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_lobby::directory::command::{self, Lease};
use gaggle_lobby::directory::{Directory, LogEntry, Reply};
use gaggle_lobby::message::client::{
    Create, Find, Finish, Join, Kick, Leave, Ready, Report, Score, Start, SubscribeRooms,
};
use gaggle_lobby::room::{Attachment, JoinRequest, NewRoom, Source};
use gaggle_lobby::view::{Member, RawJson};
use gaggle_lobby::{
    LocalPlayers, NetworkId, NodeId, PlayerId, RejectionCode, ResumeId, RoomCode, RoomId, Seed,
};

use world::checker::Checker;
use world::rude::RudeTally;
use world::{Delays, SECOND, World, guest};

#[test]
fn packing_is_exact_for_hundred_thousand_joins() {
    let mut directory = Directory::new(world::generous());
    let link = link(1);
    let lease = Lease { node: link.node, epoch: 1, ttl: Micros::MAX };
    let _ = directory.apply(Micros::ZERO, &LogEntry::new(lease));
    let mut prng = Prng::new(1);
    let mut created = 0;
    for number in 0..100_000 {
        let find = LogEntry::new(find_command(number, link, &mut prng));
        let reply = directory.apply(Micros::new(number), &find);
        let Reply::Joined { seated, .. } = reply else { panic!("{reply:?}") };
        created += u32::from(seated.created);
        while directory.poll_notice().is_some() {}
    }
    assert_eq!(created, 25_000);
    assert_eq!(directory.rooms().count(), 25_000);
    assert!(directory.rooms().all(|room| room.view().free_slots() == 0));
}

#[test]
fn storm_of_clients_and_crashes_breaks_no_invariant() {
    // LOBBY_SEEDS=1..200 runs more seeds.
    let seeds = std::env::var("LOBBY_SEEDS").unwrap_or("1..7".into());
    let (first, end) = seeds.split_once("..").expect("LOBBY_SEEDS is FIRST..END");
    for seed in first.parse().unwrap()..end.parse().unwrap() {
        storm(seed, 400, 120);
    }
}

#[test]
fn thousands_of_clients_survive_crash_of_every_node() {
    let world = storm(77, 3_000, 40);
    assert!(world.checker.returns > 1_000, "{}", world.checker.returns);
    assert!(world.crashes.iter().all(|crashes| *crashes > 0), "{:?}", world.crashes);
}

/// Number of misbehaving clients.
const RUDE: usize = 12;

/// Clients join, leave, vanish and return while nodes crash and restart; then everything settles
/// and must be right.
fn storm(seed: u64, clients: usize, rounds: usize) -> World {
    let delays = Delays { socket: Micros::from_millis(80), directory: Micros::from_millis(10) };
    let mut world = World::new(seed, 3, delays);
    for _ in 0..clients {
        world.add_guest();
    }
    (0..RUDE).for_each(|_| world.add_rude());
    for round in 0..rounds {
        for _ in 0..clients / 10 {
            let client = world.prng.below(clients as u32) as usize;
            disturb(&mut world, client);
        }
        (0..RUDE).for_each(|number| world.misbehave(number));
        Checker::check_bounds(&world.directory, &world.rules);
        if round % 10 == 5 {
            // In turn, so that every node crashes.
            let slot = (round / 10 + seed as usize) % 3;
            if world.is_node_up(slot) {
                world.crash_node(slot);
            }
        }
        if round % 10 == 3 {
            // Longer than the lease of a node: it expires, and the node comes back.
            let slot = world.prng.below(3) as usize;
            world.partition_node(slot, Micros::from_secs(9));
        }
        if round % 10 == 8 {
            (0..3).filter(|slot| !world.is_node_up(*slot)).collect::<Vec<_>>().into_iter().for_each(|slot| {
                world.start_node(slot);
            });
        }
        let pause = Micros::from_millis(u64::from(world.prng.below(2_000)));
        world.run_for(pause);
    }
    for slot in 0..3 {
        if !world.is_node_up(slot) {
            world.start_node(slot);
        }
    }
    world.send_rude_away();
    // Longer than any grace time, backoff or pong timeout.
    world.run_for(Micros::from_secs(150));
    let machines: Vec<_> = world.running_clients();
    world.checker.settled(&world.directory, &machines);
    let seated = machines.iter().filter(|(_, machine)| machine.room().is_some()).count();
    println!(
        "seed {seed}: {} steps, {seated} members in {} rooms, {} rooms created, {} returns, {} \
         reservations expired, {} hosts",
        world.steps,
        world.directory.rooms().count(),
        world.checker.rooms_created,
        world.checker.returns,
        world.checker.seats_given_up,
        world.checker.host_changes,
    );
    // The run must have exercised all of it.
    assert!(machines.iter().all(|(_, machine)| machine.is_online()));
    assert!(seated > clients / 4);
    assert!(world.checker.returns > clients as u64 / 4);
    assert!(world.checker.kept > clients as u64 / 8, "{} resumed their reservations", world.checker.kept);
    assert!(world.checker.list_count() > clients / 20, "{} subscribe to a list", world.checker.list_count());
    assert!(world.checker.seats_given_up > 10);
    assert!(world.checker.host_changes > 10);
    assert!(world.checker.records.len() > 3, "{} matches were decided", world.checker.records.len());
    println!("  {:?}", world.rude_tally);
    let RudeTally { seats, seats_by_ticket, tokens, searches, refused } = &world.rude_tally;
    assert!(*seats > 10 && *seats_by_ticket > 3 && *tokens > 10 && *searches > 3);
    for code in [RejectionCode::BadToken, RejectionCode::BadTicket, RejectionCode::BadMessage] {
        assert!(refused.contains_key(&code), "no client was rejected with {code}: {refused:?}");
    }
    world
}

fn disturb(world: &mut World, client: usize) {
    let running = world.clients[client].running;
    match world.prng.below(100) {
        0..30 if !running => world.reload_client(client, guest(client)),
        _ if !running => {}
        30..35 => look_at_rooms(world, client),
        0..50 => {
            let mode = ["team", "versus"][world.prng.below(2) as usize].parse().unwrap();
            let players = LocalPlayers::new(1 + world.prng.below(6) as u8 / 4).unwrap();
            let game = "gander".parse().unwrap();
            let find = Find { game, mode, max_players: Some(4), players, ..Find::default() };
            world.with_client(client, |machine, _| machine.find(find));
        }
        50..55 => {
            let private = world.prng.chance(1, 2);
            let create =
                Create { game: "gander".parse().unwrap(), private, drop_in: true, ..Create::default() };
            world.with_client(client, |machine, _| machine.create(create));
        }
        55..60 => {
            let rooms: Vec<RoomCode> =
                world.directory.rooms().take(50).map(|room| room.view().code).collect();
            if let Some(&code) = world.prng.pick(&rooms) {
                let spectate = world.prng.chance(1, 3);
                let join = Join { code: Some(code), spectate, leave_current: true, ..Join::default() };
                world.with_client(client, |machine, _| machine.join(join));
            }
        }
        60..70 => {
            let _ = world
                .with_client(client, |machine, _| machine.leave(Leave { keep_reservation: client % 2 == 1 }));
        }
        70..72 => drop(world.with_client(client, |machine, _| machine.ready(Ready { ready: true }))),
        72..75 => play_on(world, client),
        75..88 => world.lose_connection(client),
        88..94 => world.reload_client(client, guest(client)),
        _ => world.stop_client(client),
    }
}

/// Subscribes to a list of rooms, to another one, or to none.
fn look_at_rooms(world: &mut World, client: usize) {
    let mode = ["", "team", "versus"][world.prng.below(3) as usize].parse().unwrap();
    let list = SubscribeRooms {
        game: "gander".parse().unwrap(),
        mode,
        all: world.prng.chance(1, 2),
        ..SubscribeRooms::default()
    };
    let list = world.prng.chance(5, 6).then_some(list);
    world.checker.room_list(client, list.clone());
    let _ = world.with_client(client, |machine, _| match list {
        Some(list) => machine.subscribe_rooms(list),
        None => machine.unsubscribe_rooms(),
    });
}

/// Events of a match: start, end, reports, and sometimes a removed member.
fn play_on(world: &mut World, client: usize) {
    let (choice, score) = (world.prng.below(8), i64::from(world.prng.below(3)));
    let Some(room) = world.clients[client].machine.room().cloned() else { return };
    let Some(last) = room.players().last() else { return };
    let line = |member: &Member| Some(Score { peer: member.peer, slot: member.slot?, score, place: None });
    let scores = room.players().filter_map(line).collect();
    let (round, peer) = (room.round, last.peer);
    let _ = world.with_client(client, |machine, _| match choice {
        0..2 => machine.start(Start { countdown_ms: Some(1_000) }),
        2 => machine.finish(Finish {}),
        3 => machine.kick(Kick { peer }),
        _ => machine.report(Report { round, scores, level: None, digest: None }),
    });
}

#[test]
fn server_without_memory_restores_members_by_tickets() {
    let delays = Delays { socket: Micros::from_millis(20), directory: Micros::ZERO };
    let mut world = World::new(5, 1, delays);
    for _ in 0..40 {
        let client = world.add_guest();
        let find = Find { game: "gander".parse().unwrap(), ..Find::default() };
        world.with_client(client, |machine, _| machine.find(find));
    }
    world.run_for(SECOND);
    let seats: Vec<_> = seats(&world);
    assert!(seats.iter().all(Option::is_some));
    world.crash_node(0);
    world.forget_rooms();
    world.run_for(SECOND);
    world.start_node(0);
    world.run_for(Micros::from_secs(30));
    assert_eq!(self::seats(&world), seats);
    assert_eq!(world.directory.rooms().count(), 10);
    world.checker.settled(&world.directory, &world.running_clients());
}

/// Room, slot, and the current match of a client.
type Place = (RoomId, Option<u16>, Seed, u32);

/// Room and slot of every client.
fn seats(world: &World) -> Vec<Option<Place>> {
    let seat = |client: &world::SimClient| {
        let room = client.machine.room()?;
        Some((room.id, client.machine.slot().map(|slot| slot.number()), room.seed, room.epoch))
    };
    world.clients.iter().map(seat).collect()
}

fn find_command(number: u64, link: Attachment, prng: &mut Prng) -> command::Find {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    let joiner = JoinRequest {
        peer: PeerId::from_bytes(bytes),
        player: PlayerId::from_bytes(bytes),
        name: "Nia".parse().unwrap(),
        preferred_slot: 0,
        spectate: false,
        players: LocalPlayers::ONE,
        leave_current: false,
        source: Source { network: NetworkId(number), signed_in: false },
    };
    let mut id = [0; 16];
    prng.fill(&mut id);
    let new = NewRoom {
        id: RoomId::from_bytes(id),
        code: RoomCode::from_number(prng.next_u64()),
        seed: Seed(prng.next_u64()),
        game: "gander".parse().unwrap(),
        mode: "team".parse().unwrap(),
        build: "".parse().unwrap(),
        max_players: 4,
        private: false,
        drop_in: true,
        host_starts: false,
        matched: true,
        settings: RawJson::default(),
    };
    command::Find { joiner, link, new, may_create: true, skill: None }
}

fn link(session: u64) -> Attachment {
    Attachment { node: NodeId(1), epoch: 1, session: ResumeId(session) }
}
