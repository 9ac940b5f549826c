//! `find` while an attacker holds idle connections in open rooms.

use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::view::{RoomView, Status};
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{FIND, LEAVE, Server, code, event_kinds, hello, join, seat, welcome};
use crate::signals_and_results::{peer, report};

const ATTACKER: &str = "10.66.66.66";
const CREATE_OPEN: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true}"#;
const CREATE_FOR_TWO: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true,"players":2}"#;
const CREATE_OF_TWO: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true,"seats":2}"#;
const FIND_OF_TWO: &str = r#"{"type":"find","game":"gander","mode":"team","seats":2}"#;

#[test]
fn hosts_of_eight_idle_rooms_keep_no_players_apart() {
    let mut server = Server::new();
    let idle: Vec<ConnectionId> =
        (0..8).map(|number| attacker(&mut server, 900 + number, CREATE_FOR_TWO)).collect();
    let honest: Vec<ConnectionId> = (0..6).map(|number| server.guest(number)).collect();
    for _ in 0..10 {
        for player in &honest {
            // A removed player searches again, as clients do.
            if no_room(&mut server, *player) {
                seat(&server.say(*player, FIND));
            }
            // Every host removes all it can.
            for host in &idle {
                for member in server.room_of(*host).members {
                    server.say(*host, &kick(member.peer));
                }
            }
        }
    }
    expect_company(&mut server, &honest);
}

#[test]
fn host_of_matched_room_cannot_lock_it() {
    let mut server = Server::new();
    let host = attacker(&mut server, 900, CREATE_OPEN);
    let guest = server.player(1);
    assert_eq!(server.room_of(host).id, server.room_of(guest).id);
    for access in [
        r#"{"type":"access","locked":true}"#,
        r#"{"type":"access","private":true}"#,
        r#"{"type":"access","seats":2}"#,
    ] {
        assert_eq!(code(&server.say(host, access)), RejectionCode::WrongStatus, "{access}");
    }
    let second = server.player(2);
    assert_eq!(server.room_of(second).id, server.room_of(guest).id);
}

#[test]
fn players_of_matched_room_vote_one_out() {
    let mut server = Server::new();
    let players: Vec<ConnectionId> = (0..4).map(|number| server.player(number)).collect();
    let rude = peer(&server, players[3]);
    players.iter().for_each(|player| drop(server.hear(*player)));
    // The host alone does not decide, however often it votes.
    for _ in 0..3 {
        server.say(players[0], &kick(&rude));
    }
    assert_eq!(server.room_of(players[0]).members.len(), 4);
    server.hear(players[2]);
    server.say(players[1], &kick(&rude));
    assert_eq!(server.room_of(players[0]).members.len(), 3);
    assert!(event_kinds(&server.hear(players[2])).contains(&"left"));
    let room = server_code(&mut server, players[0]);
    server.hear(players[3]);
    assert_eq!(code(&server.say(players[3], &join(room))), RejectionCode::Kicked);
}

#[test]
fn votes_from_one_network_count_once() {
    let mut server = Server::new();
    let victim = server.player(1);
    let gang: Vec<ConnectionId> = (0..2).map(|number| attacker(&mut server, 900 + number, FIND)).collect();
    let target = peer(&server, victim);
    gang.iter().for_each(|member| drop(server.say(*member, &kick(&target))));
    assert_eq!(server.room_of(victim).members.len(), 3);
}

#[test]
fn rooms_filled_by_one_network_attract_no_strangers() {
    let mut server = Server::new();
    // Two rooms with one free slot each, and one with two slots: traps for a single player.
    for room in 0..2 {
        let first = attacker(&mut server, 900 + 10 * room, CREATE_OPEN);
        let code = server_code(&mut server, first);
        for number in 1..3 {
            attacker(&mut server, 900 + 10 * room + number, &join(code));
        }
    }
    attacker(&mut server, 990, CREATE_OF_TWO);
    let honest: Vec<ConnectionId> = (0..4).map(|number| server.player(number)).collect();
    let room = server.room_of(honest[0]);
    assert_eq!(room.members.len(), 4);
    assert!(honest.iter().all(|player| server.room_of(*player).id == room.id));
    // Players of that network still find each other.
    let friend = attacker(&mut server, 999, FIND);
    assert_eq!(server.room_of(friend).members.len(), 4);
}

#[test]
fn one_network_owns_few_of_found_rooms() {
    let mut server = Server::new();
    for number in 0..12 {
        attacker(&mut server, 900 + number, CREATE_OPEN);
    }
    // A stranger who leaves an idle room for another one is not sent back to it.
    let player = server.guest(1);
    let mut visited = Vec::new();
    for _ in 0..12 {
        visited.push(seat(&server.say(player, FIND)).room.id);
        server.say(player, LEAVE);
    }
    visited.sort();
    visited.dedup();
    assert_eq!(visited.len(), 4, "the share of one network");
}

#[test]
fn rooms_opened_later_count_for_share_of_network() {
    let (hidden, shown) = (r#"{"type":"access","private":true}"#, r#"{"type":"access","private":false}"#);
    let (locked, unlocked) = (r#"{"type":"access","locked":true}"#, r#"{"type":"access","locked":false}"#);
    for (shut, open) in [(hidden, shown), (locked, unlocked)] {
        let mut server = Server::new();
        let mut hosts = Vec::new();
        for number in 0..12 {
            let host = attacker(&mut server, 900 + number, CREATE_OPEN);
            server.say(host, shut);
            hosts.push(host);
        }
        hosts.iter().for_each(|host| drop(server.say(*host, open)));
        assert_eq!(rooms_visited(&mut server, 12), 4, "the share of one network, after {open}");
    }
}

#[test]
fn room_of_strangers_stays_open_beyond_share_of_founder() {
    let mut server = Server::new();
    let founder = attacker(&mut server, 900, CREATE_OPEN);
    let guests: Vec<ConnectionId> = (0..3).map(|number| server.player(number)).collect();
    for number in 1..5 {
        attacker(&mut server, 900 + number, CREATE_OPEN);
    }
    server.say(guests[0], LEAVE);
    let next = server.player(7);
    assert_eq!(server.room_of(next).id, server.room_of(founder).id);
}

#[test]
fn rooms_player_was_removed_from_hide_no_other() {
    let mut server = Server::new();
    let victim = server.guest(1);
    for number in 0..130 {
        let host = server.guest(900 + number);
        let made = seat(&server.say(host, CREATE_OF_TWO));
        seat(&server.say(victim, &join(made.room.code)));
        server.say(host, &kick(peer(&server, victim)));
        server.hear(victim);
    }
    let honest = server.guest(2);
    let made = seat(&server.say(honest, CREATE_OF_TWO));
    let found = seat(&server.say(victim, FIND_OF_TWO));
    assert_eq!(found.room.id, made.room.id);
}

#[test]
fn room_that_voted_player_out_is_found_last() {
    let mut server = Server::new();
    let gang = [server.player(900), server.player(901)];
    let room = server.room_of(gang[0]).id;
    let victim = server.player(1);
    let target = peer(&server, victim);
    gang.iter().for_each(|member| drop(server.say(*member, &kick(&target))));
    server.hear(victim);
    // The fullest room, and yet an empty one comes first.
    let honest = server.guest(2);
    let made = seat(&server.say(honest, CREATE_OPEN));
    let next = server.player(3);
    assert_eq!(server.room_of(next).id, made.room.id);
    // Without an alternative it is found all the same.
    server.say(next, LEAVE);
    server.say(honest, LEAVE);
    let other = server.player(4);
    assert_eq!(server.room_of(other).id, room);
}

#[test]
fn returning_members_count_for_network_they_return_from() {
    // After a lost connection, and after another connection at the same node.
    for is_lost in [true, false] {
        let mut server = Server::new();
        let members: Vec<ConnectionId> = (0..3).map(|_| server.connect()).collect();
        let mut resumes = Vec::new();
        for (number, member) in members.iter().enumerate() {
            resumes.push(welcome(&server.say(*member, &hello(number as u32))).resume);
            seat(&server.say(*member, FIND));
        }
        let trap = server.room_of(members[0]).id;
        for (number, resume) in resumes.iter().enumerate() {
            if is_lost {
                server.close(members[number]);
            }
            let back = server.connect_from(ATTACKER);
            let resumed = format!(r#","resume":"{resume}"}}"#);
            server.say(back, &hello(number as u32).replace('}', &resumed));
            assert_eq!(server.room_of(back).id, trap);
        }
        let stranger = server.player(7);
        assert_ne!(server.room_of(stranger).id, trap, "one network has three of four slots");
    }
}

#[test]
fn host_of_matched_room_cannot_end_match_in_progress() {
    let mut server = Server::new();
    let players: Vec<ConnectionId> = (0..3).map(|number| server.player(number)).collect();
    let (finish, start) = (r#"{"type":"finish"}"#, r#"{"type":"start"}"#);
    server.wait_secs(10);
    let own = r#"{"type":"score","round":1,"score":500}"#;
    players.iter().for_each(|player| drop(server.say(*player, own)));
    let forged = report(&server, &players, &[900, 0, 0]);
    server.say(players[0], &forged);
    for end in [finish, start] {
        assert_eq!(code(&server.say(players[0], end)), RejectionCode::WrongStatus, "{end}");
    }
    assert_eq!(server.records, []);
    // It ends when those who played report it; a silent player delays none.
    let honest = report(&server, &players, &[500, 500, 500]);
    players[..2].iter().for_each(|player| drop(server.say(*player, &honest)));
    for end in [finish, start] {
        let heard = server.say(players[0], end);
        assert!(!heard.iter().any(|message| matches!(message, ServerMessage::Refused(_))), "{heard:?}");
    }
    assert_eq!(server.room_of(players[0]).round, 2);
    // A player that stops sending scores is not playing.
    players.iter().for_each(|player| drop(server.say(*player, &own.replace("1,", "2,"))));
    assert_eq!(code(&server.say(players[0], finish)), RejectionCode::WrongStatus);
    for _ in 0..9 {
        server.wait_secs(5);
        players.iter().for_each(|player| server.pong(*player));
    }
    server.say(players[0], finish);
    assert_eq!(server.room_of(players[0]).status, Status::Finished);
}

/// Number of rooms a stranger joins that leaves each of them.
fn rooms_visited(server: &mut Server, times: usize) -> usize {
    let player = server.guest(1);
    let mut visited = Vec::new();
    for _ in 0..times {
        visited.push(seat(&server.say(player, FIND)).room.id);
        server.say(player, LEAVE);
    }
    visited.sort();
    visited.dedup();
    visited.len()
}

#[test]
fn find_with_switch_keeps_host_role_in_own_room() {
    let mut server = Server::new();
    let host = server.player(1);
    let guest = server.player(2);
    let before = server.room_of(host);
    let switch = FIND.replace('}', r#","switch":true}"#);
    let again = seat(&server.say(host, &switch));
    assert_eq!((again.room.id, again.room.host, again.created), (before.id, before.host, false));
    let heard = server.hear(guest);
    assert!(!event_kinds(&heard).contains(&"host"), "{heard:?}");
    // If there is another room, that one is found.
    let other = server.guest(3);
    let made = seat(&server.say(other, CREATE_OPEN));
    assert_eq!(seat(&server.say(host, &switch)).room.id, made.room.id);
}

fn attacker(server: &mut Server, number: u32, wish: &str) -> ConnectionId {
    let connection = server.connect_from(ATTACKER);
    server.say(connection, &hello(number));
    seat(&server.say(connection, wish));
    connection
}

fn kick(peer: impl std::fmt::Display) -> String {
    format!(r#"{{"type":"kick","peer":"{peer}"}}"#)
}

fn server_code(server: &mut Server, connection: ConnectionId) -> gaggle_lobby::RoomCode {
    server.room_of(connection).code
}

fn no_room(server: &mut Server, connection: ConnectionId) -> bool {
    let heard = server.say(connection, r#"{"type":"look"}"#);
    !heard.iter().any(|message| matches!(message, ServerMessage::Room(_)))
}

/// Every given player shares a room with another one.
fn expect_company(server: &mut Server, honest: &[ConnectionId]) {
    let rooms: Vec<RoomView> = honest.iter().map(|player| server.room_of(*player)).collect();
    for room in &rooms {
        assert!(
            rooms.iter().filter(|other| other.id == room.id).count() > 1,
            "one player is alone: {rooms:?}"
        );
    }
}
