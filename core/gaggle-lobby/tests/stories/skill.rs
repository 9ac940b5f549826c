//! Modes that match players by skill.

use gaggle_lobby::message::server::Searching;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::rules::{GameRules, Limits, ModeConfig, Rules};
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{LEAVE, Server, code, hello, seat, welcome};

const FIND: &str = r#"{"type":"find","id":5,"game":"gander","mode":"duel"}"#;

#[test]
fn players_of_similar_skill_meet_and_others_wait() {
    let mut server = ranked(2);
    let strong = search(&mut server, 1, 2_000);
    let weak = search(&mut server, 2, 1_200);
    let also_strong = seeker(&mut server, 3, 2_050);
    let made = seat(&server.say(also_strong, FIND));
    assert!(made.created);
    assert_eq!(made.room.members.len(), 2);
    // The other one learns of it when its node asks next.
    server.wait_secs(1);
    let found = seat(&server.hear(strong));
    assert_eq!((found.room.id, found.returned), (made.room.id, false));
    assert_ne!(found.slot, made.slot);
    assert_eq!(told(&server.hear(weak)).last().map(|told| told.waiting), Some(1));
}

#[test]
fn search_widens_until_player_is_found() {
    let mut server = ranked(2);
    let strong = search(&mut server, 1, 1_900);
    let weak = search(&mut server, 2, 1_500);
    // 400 apart; the range is 100 at first and grows by 20 a second.
    server.wait_secs(14);
    let ranges: Vec<u32> = told(&server.hear(strong)).iter().map(|told| told.range).collect();
    assert!(ranges.is_sorted() && ranges.len() > 10, "{ranges:?}");
    server.wait_secs(3);
    let (one, other) = (seat(&server.hear(strong)), seat(&server.hear(weak)));
    assert_eq!(one.room.id, other.room.id);
}

#[test]
fn patient_search_accepts_fewer_players() {
    let mut server = ranked(4);
    let all: Vec<ConnectionId> = (1..=3).map(|number| search(&mut server, number, 1_500)).collect();
    server.wait_secs(18);
    for guest in &all {
        assert!(server.hear(*guest).iter().all(|message| matches!(message, ServerMessage::Searching(_))));
    }
    server.wait_secs(4);
    let rooms: Vec<_> = all.iter().map(|guest| seat(&server.hear(*guest)).room).collect();
    assert!(rooms.iter().all(|room| room.id == rooms[0].id));
    let first = server.room_of(all[0]);
    assert_eq!(first.members.len(), 3);
}

#[test]
fn ended_search_matches_no_player() {
    let mut server = ranked(2);
    let left = search(&mut server, 1, 1_500);
    let heard = server.say(left, r#"{"type":"join","id":6,"code":"BCDFGH"}"#);
    assert_eq!(code(&heard), RejectionCode::AlreadyInRoom);
    // The request is answered, so that a client does not repeat it.
    let heard = server.say(left, LEAVE);
    assert!(
        matches!(&heard[..], [ServerMessage::Refused(no), ServerMessage::Done(_)] if no.code == RejectionCode::NotInRoom)
    );
    let closed = search(&mut server, 2, 1_500);
    server.close(closed);
    search(&mut server, 3, 1_500);
    // Two devices of one player do not match.
    let tab = server.connect();
    server.say(tab, &hello(3).replace('}', r#","seat":"tab-2"}"#));
    assert!(matches!(server.say(tab, FIND)[0], ServerMessage::Searching(_)));
    server.wait_secs(30);
    assert_eq!(server.directory.rooms().count(), 0);
}

#[test]
fn reservation_found_for_lost_connection_is_kept() {
    let mut server = ranked(2);
    let gone = search(&mut server, 1, 1_500);
    let found = seeker(&mut server, 2, 1_500);
    let room = seat(&server.say(found, FIND)).room;
    // The room is created before the first one is notified.
    server.close(gone);
    assert!(server.room_of(found).members.iter().any(|member| member.away));
    let back = server.connect();
    let heard = server.say(back, &hello(1));
    assert_eq!(seat(&heard).room.id, room.id);
    // A player who leaves at that moment gives the reservation up.
    let mut server = ranked(2);
    let leaving = search(&mut server, 1, 1_500);
    let found = seeker(&mut server, 2, 1_500);
    server.say(found, FIND);
    server.say(leaving, LEAVE);
    assert_eq!(server.room_of(found).members.len(), 1);
}

#[test]
fn players_without_match_hide_no_others() {
    let mut server = ranked(4);
    // Four local players fill a room alone and never match; neither do devices of one player.
    let idle = r#"{"type":"find","game":"gander","mode":"duel","players":4}"#;
    for number in 0..600 {
        let connection = seeker(&mut server, 1_000 + number, 1_510);
        let heard = server.say(connection, idle);
        assert!(matches!(heard[0], ServerMessage::Searching(_)), "{heard:?}");
    }
    let ratings = [1_500, 1_530, 1_535, 1_540];
    let honest: Vec<ConnectionId> =
        (1..).zip(ratings).map(|(number, rating)| seeker(&mut server, number, rating)).collect();
    honest.iter().for_each(|player| drop(server.say(*player, FIND)));
    server.wait_secs(15);
    let rooms: Vec<_> = honest.iter().map(|player| server.room_of(*player).id).collect();
    assert!(rooms.iter().all(|room| *room == rooms[0]), "{rooms:?}");
}

/// A server with a ranked mode of this many slots.
fn ranked(seats: u8) -> Server {
    let mode = ModeConfig {
        players_default: seats,
        players_min: seats,
        players_max: seats,
        skill: true,
        ..ModeConfig::default()
    };
    let mut game = GameRules::default();
    game.modes.insert("duel".parse().unwrap(), mode);
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.games.insert("gander".parse().unwrap(), game);
    Server::with_rules(rules)
}

/// An identified client with this rating.
fn seeker(server: &mut Server, number: u32, rating: i64) -> ConnectionId {
    let connection = server.connect();
    let player = welcome(&server.say(connection, &hello(number))).player;
    server.ratings.insert(player, rating);
    connection
}

/// A client with this rating that searches and finds no match yet.
fn search(server: &mut Server, number: u32, rating: i64) -> ConnectionId {
    let connection = seeker(server, number, rating);
    let heard = server.say(connection, FIND);
    assert!(
        matches!(&heard[..], [ServerMessage::Searching(told)] if told.rating == rating && told.range == 100),
        "{heard:?}"
    );
    connection
}

fn told(heard: &[ServerMessage]) -> Vec<Searching> {
    let told = heard.iter().filter_map(|message| match message {
        ServerMessage::Searching(searching) => Some(searching.clone()),
        _ => None,
    });
    told.collect()
}
