//! Excluded players that try to return, and the cost of many requests at once.

use gaggle_lobby::directory::Command;
use gaggle_lobby::rules::{GameRules, Limits, ModeConfig, Rules};
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{LEAVE, Server, code, hello, join, seat};
use crate::signals_and_results::peer;

const PRIVATE: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true,"private":true}"#;

#[test]
fn locked_room_admits_no_spectator() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, PRIVATE));
    server.say(host, r#"{"type":"access","locked":true}"#);
    let curious = server.guest(2);
    let watch = join(made.room.code).replace('}', r#","watch":true}"#);
    assert_eq!(code(&server.say(curious, &watch)), RejectionCode::RoomLocked);
    server.say(host, r#"{"type":"access","locked":false}"#);
    seat(&server.say(curious, &watch));
}

#[test]
fn removed_player_returns_neither_by_new_key_nor_to_watch() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, PRIVATE));
    let rude = server.connect_from("10.66.66.66");
    server.say(rude, &hello(2));
    seat(&server.say(rude, &join(made.room.code)));
    let target = peer(&server, rude);
    server.say(host, &format!(r#"{{"type":"kick","peer":"{target}"}}"#));
    let watch = join(made.room.code).replace('}', r#","watch":true}"#);
    server.hear(rude);
    for (number, wish) in [(2, &watch), (3, &join(made.room.code)), (4, &watch)] {
        let back = server.connect_from("10.66.66.66");
        server.say(back, &hello(number).replace('}', r#","seat":"new"}"#));
        assert_eq!(code(&server.say(back, wish)), RejectionCode::Kicked, "key {number}");
    }
    // A network shared with the host or another member is not banned.
    let sibling = server.connect_from("10.1.0.1");
    server.say(sibling, &hello(5));
    seat(&server.say(sibling, &join(made.room.code)));
    let target = peer(&server, sibling);
    server.say(host, &format!(r#"{{"type":"kick","peer":"{target}"}}"#));
    let other = server.connect_from("10.1.0.1");
    server.say(other, &hello(6));
    seat(&server.say(other, &join(made.room.code)));
}

#[test]
fn ended_room_is_not_revived_by_ticket() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, PRIVATE));
    let rude = server.guest(2);
    let ticket = seat(&server.say(rude, &join(made.room.code))).ticket;
    let target = peer(&server, rude);
    server.say(host, &format!(r#"{{"type":"kick","peer":"{target}"}}"#));
    server.say(host, LEAVE);
    assert_eq!(server.directory.rooms().count(), 0);
    server.close(rude);
    server.wait_secs(3_600);
    let back = server.connect();
    let heard = server.say(back, &hello(2).replace('}', &format!(r#","ticket":"{ticket}"}}"#)));
    assert!(
        matches!(&heard[0], ServerMessage::Refused(no) if no.code == RejectionCode::BadTicket),
        "{heard:?}"
    );
    assert_eq!(server.directory.rooms().count(), 0);
    // Snapshots contain it, too, for nodes that start from one.
    let text = server.directory.snapshot().to_text();
    assert!(text.contains(&made.room.id.to_string()), "{text}");
}

#[test]
fn many_searching_players_ask_directory_rarely() {
    let mut game = GameRules::default();
    let mode = ModeConfig {
        players_default: 2,
        players_min: 2,
        players_max: 2,
        skill: true,
        ..ModeConfig::default()
    };
    game.modes.insert("duel".parse().unwrap(), mode);
    let mut rules = Rules {
        limits: Limits::unlimited(),
        connections_max: 10_000,
        connections_per_player_max: 10_000,
        rooms_per_player_max: 10_000,
        ..Rules::default()
    };
    rules.games.insert("gander".parse().unwrap(), game);
    let mut server = Server::with_rules(rules);
    let find = r#"{"type":"find","game":"gander","mode":"duel"}"#;
    let count = 4_000;
    for number in 0..count {
        let connection = server.connect();
        // Devices of one player never match, and keep searching.
        let said = hello(1).replace('}', &format!(r#","seat":"tab-{number}"}}"#));
        let player = crate::server::welcome(&server.say(connection, &said)).player;
        server.ratings.insert(player, 1_500);
        assert!(matches!(server.say(connection, find)[0], ServerMessage::Searching(_)));
    }
    server.asked.clear();
    server.wait_secs(10);
    let asked = server.asked.iter().filter(|entry| matches!(entry.command, Command::Find(_))).count();
    assert!((count..=3 * count).contains(&asked), "{asked} lookups in 10 s");
}
