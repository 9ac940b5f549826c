//! Results that players of one network report to each other's advantage.

use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{FIND, LEAVE, Server, code, hello, join, seat};
use crate::signals_and_results::report;

const ONE_PLACE: &str = "10.66.66.66";
const PRIVATE: &str = r#"{"type":"create","game":"gander","mode":"team","drop_in":true,"private":true}"#;

#[test]
fn two_keys_of_one_network_only_claim_result() {
    let mut server = Server::new();
    let players = from_one_place(&mut server, 2);
    server.wait_secs(30);
    let said = report(&server, &players, &[20_000, 10]);
    players.iter().for_each(|player| drop(server.say(*player, &said)));
    expect(&server, "claimed", &[20_000, 10]);
}

#[test]
fn players_of_two_networks_agree_on_result() {
    let mut server = Server::new();
    let players = [server.player(1), server.player(2)];
    server.wait_secs(30);
    let said = report(&server, &players, &[20_000, 10]);
    players.iter().for_each(|player| drop(server.say(*player, &said)));
    expect(&server, "agreed", &[20_000, 10]);
}

#[test]
fn three_keys_of_one_network_do_not_outvote_one_player() {
    let mut server = Server::new();
    let victim = server.player(1);
    let mut gang = Vec::new();
    for number in 10..13 {
        let connection = server.connect_from(ONE_PLACE);
        server.say(connection, &hello(number));
        seat(&server.say(connection, FIND));
        gang.push(connection);
    }
    server.wait_secs(30);
    let all = [victim, gang[0], gang[1], gang[2]];
    let forged = report(&server, &all, &[-1_000, 5, 6, 7]);
    let honest = report(&server, &all, &[100, 5, 6, 7]);
    gang.iter().for_each(|member| drop(server.say(*member, &forged)));
    server.say(victim, &honest);
    expect(&server, "disputed", &[]);
}

#[test]
fn score_beyond_default_bounds_is_refused() {
    let mut server = Server::new();
    let players = from_one_place(&mut server, 2);
    server.wait_secs(30);
    for score in [10_000_000, 300_000, -1_000_000_000] {
        let said = report(&server, &players, &[score, 10]);
        assert_eq!(code(&server.say(players[0], &said)), RejectionCode::BadReport, "{score}");
    }
}

#[test]
fn score_is_bounded_by_time_of_player_in_match() {
    let mut server = Server::new();
    let host = server.player(1);
    for _ in 0..20 {
        server.wait_secs(5);
        server.pong(host);
    }
    let late = server.player(2);
    assert_eq!(server.room_of(host).id, server.room_of(late).id);
    server.wait_secs(10);
    let said = |server: &Server, scores: &[i64]| report(server, &[host, late], scores);
    let own = |score: i64| format!(r#"{{"type":"score","round":1,"score":{score}}}"#);
    let forged = said(&server, &[10, 50_000]);
    assert_eq!(code(&server.say(late, &forged)), RejectionCode::BadReport);
    assert_eq!(code(&server.say(late, &own(50_000))), RejectionCode::BadReport);
    server.say(late, &own(9_000));
    // A player who left for a moment keeps what it won before.
    server.say(host, LEAVE);
    seat(&server.say(host, FIND));
    server.wait_secs(5);
    assert_eq!(server.room_of(host).members.len(), 2);
    let honest = said(&server, &[90_000, 9_000]);
    [host, late].iter().for_each(|player| drop(server.say(*player, &honest)));
    expect(&server, "agreed", &[90_000, 9_000]);
}

#[test]
fn report_under_foreign_slot_is_refused() {
    let mut server = Server::new();
    let players = [server.player(1), server.player(2)];
    let said = report(&server, &players, &[10, 20]);
    let swapped = said.replace("\"slot\":0", "\"slot\":9").replace("\"slot\": 0", "\"slot\": 9");
    assert_ne!(said, swapped);
    assert_eq!(code(&server.say(players[0], &swapped)), RejectionCode::BadReport);
}

fn from_one_place(server: &mut Server, count: u32) -> Vec<ConnectionId> {
    let first = server.connect_from(ONE_PLACE);
    server.say(first, &hello(0));
    let made = seat(&server.say(first, PRIVATE));
    let mut players = vec![first];
    for number in 1..count {
        let connection = server.connect_from(ONE_PLACE);
        server.say(connection, &hello(number));
        seat(&server.say(connection, &join(made.room.code)));
        players.push(connection);
    }
    players
}

fn expect(server: &Server, verdict: &str, scores: &[i64]) {
    let [record] = &server.records[..] else { panic!("one decided match, not {:?}", server.records) };
    let kept: Vec<i64> = record.scores.iter().map(|line| line.score).collect();
    assert_eq!((record.verdict.as_str(), &kept[..]), (verdict, scores));
}

#[test]
fn score_sent_before_leaving_is_kept_as_claim() {
    let mut server = Server::new();
    let players = [server.player(1), server.player(2), server.player(3)];
    server.wait_secs(30);
    server.say(players[2], r#"{"type":"score","round":1,"score":900,"level":2}"#);
    server.say(players[2], r#"{"type":"score","round":1,"score":1200,"level":3}"#);
    server.say(players[2], LEAVE);
    // An impossible score is rejected as in a report.
    let absurd = r#"{"type":"score","round":1,"score":9000000}"#;
    assert_eq!(code(&server.say(players[0], absurd)), RejectionCode::BadReport);
    // A level as well: 1 to 1,000 unless the mode's rules say otherwise.
    for (level, is_refused) in [(0, true), (1, false), (1_000, false), (1_001, true)] {
        let said = format!(r#"{{"type":"score","round":1,"score":1,"level":{level}}}"#);
        let heard = server.say(players[0], &said);
        if is_refused {
            assert_eq!(code(&heard), RejectionCode::BadReport, "level {level}");
        } else {
            assert!(matches!(heard[..], [ServerMessage::Done(_)]), "level {level}: {heard:?}");
        }
    }
    let said = report(&server, &players[..2], &[10, 20]);
    players[..2].iter().for_each(|player| drop(server.say(*player, &said)));
    expect(&server, "agreed", &[10, 20, 1_200]);
    let claimed: Vec<bool> = server.records[0].scores.iter().map(|line| line.claimed).collect();
    assert_eq!(claimed, [false, false, true]);
}

#[test]
fn room_left_without_report_keeps_sent_scores() {
    let mut server = Server::new();
    let alone = server.player(1);
    server.wait_secs(30);
    server.say(alone, r#"{"type":"score","round":1,"score":700,"level":4}"#);
    server.say(alone, LEAVE);
    expect(&server, "claimed", &[700]);
    assert_eq!(server.records[0].level, Some(4));
}

#[test]
fn name_is_used_once_per_room() {
    let mut server = Server::new();
    let mut names = Vec::new();
    for number in 0..3 {
        let connection = server.connect();
        server.say(
            connection,
            &hello(number).replace(&format!("Guest {number}"), ["Nia", "nia", "Nia"][number as usize]),
        );
        let seated = seat(&server.say(connection, FIND));
        names.push(seated.room.member(seated.peer).unwrap().name.to_string());
        if number == 2 {
            server.say(connection, r#"{"type":"profile","name":"Nia"}"#);
            let room = server.room_of(connection);
            assert_eq!(room.member(seated.peer).unwrap().name.as_str(), "Nia 3");
        }
    }
    assert_eq!(names, ["Nia", "nia 2", "Nia 3"]);
}
