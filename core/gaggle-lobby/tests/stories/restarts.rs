//! A server that lost its memory: rooms are restored as they were, and returning first brings no
//! advantage.

use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::view::{RoomView, Status, Verdict};
use gaggle_lobby::{Claims, RejectionCode, ServerMessage, TicketFlags};

use crate::server::{CREATE, LEAVE, Server, code, event_kinds, hello, join, refusal, seat};
use crate::signals_and_results::{peer, report};

#[test]
fn tickets_are_renewed_with_every_change_they_contain() {
    let mut server = Server::new();
    let [host, guest] = server.gathered(1..3).try_into().unwrap();
    let guest_peer = peer(&server, guest);
    server.hear(guest);
    let hand_over = format!(r#"{{"type":"host","peer":"{guest_peer}"}}"#);
    for (act, says) in [
        (r#"{"type":"access","private":true,"locked":true,"seats":3}"#, (true, true, 3, true, false)),
        (r#"{"type":"settings","settings":{"lava":true}}"#, (true, true, 3, true, false)),
        (r#"{"type":"finish"}"#, (true, true, 3, false, false)),
        (hand_over.as_str(), (true, true, 3, false, true)),
    ] {
        server.say(host, act);
        let claims = new_claims(&mut server, guest).unwrap_or_else(|| panic!("no new ticket after {act}"));
        let Claims { max_players, flags, .. } = claims;
        let TicketFlags { private, locked, playing, host: is_host, .. } = flags;
        assert_eq!((private, locked, max_players, playing, is_host), says, "{act}");
        assert_eq!(claims.settings, Claims::digest(&server.room_of(guest).settings), "{act}");
    }
}

#[test]
fn room_is_restored_by_latest_ticket_in_any_order() {
    let (before, tickets) = {
        let mut server = Server::new();
        let host = server.guest(1);
        let drop_in = CREATE.replace('}', r#","drop_in":true}"#);
        let door = seat(&server.say(host, &drop_in)).room.code;
        let guest = server.guest(2);
        let old = seat(&server.say(guest, &join(door))).ticket;
        server.wait_secs(2);
        server.say(host, r#"{"type":"settings","settings":{"lava":true}}"#);
        server.say(host, r#"{"type":"access","private":true,"locked":true,"seats":3}"#);
        let new = ticket(&mut server, host);
        (server.room_of(host), [new, old])
    };
    assert_eq!((before.private, before.locked, before.max_players), (true, true, 3));
    let look =
        |room: &RoomView| (room.private, room.locked, room.max_players, room.settings.clone(), room.host);
    for first_is_host in [false, true] {
        let mut server = Server::new();
        server.wait_secs(3);
        let mut come = |number: usize| {
            let settings = if number == 0 { r#"{"lava":true}"# } else { "{}" };
            back(&mut server, number as u32 + 1, &tickets[number], settings)
        };
        let order = if first_is_host { [0, 1] } else { [1, 0] };
        let here = order.map(&mut come);
        assert_eq!(look(&server.room_of(here[0])), look(&before), "host first: {first_is_host}");
        // Changes by the host override any ticket.
        let host = here[if first_is_host { 0 } else { 1 }];
        server.say(host, r#"{"type":"access","locked":false}"#);
        let guest = here[if first_is_host { 1 } else { 0 }];
        server.close(guest);
        back(&mut server, 2, &tickets[1], "{}");
        assert!(!server.room_of(host).locked);
    }
}

#[test]
fn first_to_return_is_host_until_host_returns() {
    let tickets = tickets_of(3);
    let mut server = Server::new();
    let first = back(&mut server, 1, &tickets[1], "{}");
    let first_peer = peer(&server, first);
    assert_eq!(server.room_of(first).host.to_string(), first_peer);
    server.wait_secs(5);
    server.hear(first);
    let host = back(&mut server, 0, &tickets[0], "{}");
    assert_eq!(server.room_of(host).host.to_string(), peer(&server, host));
    assert!(event_kinds(&server.hear(first)).contains(&"host"));
    // And only for a limited time.
    let mut server = Server::new();
    let first = back(&mut server, 1, &tickets[1], "{}");
    server.wait_secs(11);
    back(&mut server, 0, &tickets[0], "{}");
    assert_eq!(server.room_of(first).host.to_string(), first_peer);
}

#[test]
fn match_is_not_decided_before_players_can_return() {
    let tickets = tickets_of(3);
    // A single returned player cannot decide by ending the room.
    for end in [LEAVE, r#"{"type":"start"}"#, r#"{"type":"finish"}"#] {
        let mut server = Server::new();
        let first = back(&mut server, 1, &tickets[1], "{}");
        let forged = report(&server, &[first], &[999]);
        server.say(first, &forged);
        server.say(first, end);
        assert_eq!(server.records, [], "{end}");
    }
    let mut server = Server::new();
    let first = back(&mut server, 1, &tickets[1], "{}");
    server.wait_secs(3);
    let others = [0, 2].map(|number: u32| back(&mut server, number, &tickets[number as usize], "{}"));
    let honest = report(&server, &[others[0], first, others[1]], &[10, 20, 30]);
    let all = [first, others[0], others[1]];
    all.iter().for_each(|player| drop(server.say(*player, &honest)));
    stay(&mut server, &all, 50);
    assert_eq!(server.records, []);
    stay(&mut server, &all, 20);
    assert_eq!(server.records.iter().map(|record| record.verdict).collect::<Vec<_>>(), [Verdict::Agreed]);
}

#[test]
fn match_that_ended_before_crash_is_reported_to_next_server() {
    for end in [r#"{"type":"touch"}"#, r#"{"type":"finish"}"#] {
        let mut before = Server::new();
        let players: Vec<ConnectionId> = (0..2).map(|number| before.player(number)).collect();
        before.say(players[0], end);
        let honest = report(&before, &players, &[10, 20]);
        let tickets: Vec<String> = players.iter().map(|player| ticket(&mut before, *player)).collect();
        before.say(players[0], &honest);
        assert_eq!(before.records, [], "one reported it, and it is only in memory");
        let mut server = Server::new();
        let first = back(&mut server, 0, &tickets[0], "{}");
        // The server does not know a player that has not returned yet.
        let refused = refusal(&server.say(first, &honest));
        assert_eq!((refused.code, refused.retry_ms), (RejectionCode::Unavailable, Some(5_000)), "{end}");
        let second = back(&mut server, 1, &tickets[1], "{}");
        for who in [first, second] {
            let heard = server.say(who, &honest);
            assert!(matches!(&heard[..], [ServerMessage::MatchResult(_)]), "{end}: {heard:?}");
        }
        stay(&mut server, &[first, second], 70);
        let verdicts: Vec<Verdict> = server.records.iter().map(|record| record.verdict).collect();
        assert_eq!(verdicts, [Verdict::Agreed], "{end}");
        // A player that does not return at all is left out in the end.
        let mut server = Server::new();
        let first = back(&mut server, 0, &tickets[0], "{}");
        stay(&mut server, &[first], 70);
        assert_eq!(code(&server.say(first, &honest)), RejectionCode::BadReport, "{end}");
    }
}

#[test]
fn match_counts_once_no_player_can_be_missing() {
    let tickets = tickets_of(4);
    let next = r#"{"type":"start"}"#;
    let mut server = Server::new();
    let players: Vec<ConnectionId> =
        (0..4).map(|number| back(&mut server, number, &tickets[number as usize], "{}")).collect();
    let honest = report(&server, &players, &[10, 20, 30, 40]);
    players[..3].iter().for_each(|player| drop(server.say(*player, &honest)));
    assert_eq!(server.records, [], "one has not reported");
    server.say(players[3], &honest);
    assert_eq!(server.records.iter().map(|record| record.verdict).collect::<Vec<_>>(), [Verdict::Agreed]);

    // Nor is it lost when the next match begins before all have reported.
    let mut server = Server::new();
    let players: Vec<ConnectionId> =
        (0..4).map(|number| back(&mut server, number, &tickets[number as usize], "{}")).collect();
    players[..3].iter().for_each(|player| drop(server.say(*player, &honest)));
    server.say(players[0], r#"{"type":"finish"}"#);
    server.say(players[0], next);
    assert_eq!(server.records.iter().map(|record| record.verdict).collect::<Vec<_>>(), [Verdict::Agreed]);

    // A friend on the last slot does not stand in for a missing player.
    let mut server = Server::new();
    let players: Vec<ConnectionId> =
        (0..3).map(|number| back(&mut server, number, &tickets[number as usize], "{}")).collect();
    server.player(9);
    assert_eq!(server.room_of(players[0]).free_slots(), 0);
    let forged = report(&server, &players, &[10, 20, 999]);
    players.iter().for_each(|player| drop(server.say(*player, &forged)));
    server.say(players[0], r#"{"type":"finish"}"#);
    server.say(players[0], next);
    assert_eq!(server.records, []);
}

fn tickets_of(count: u32) -> Vec<String> {
    let mut server = Server::new();
    let players: Vec<ConnectionId> = (0..count).map(|number| server.player(number)).collect();
    players.into_iter().map(|player| ticket(&mut server, player)).collect()
}

/// Returns to the server with a ticket.
fn back(server: &mut Server, number: u32, ticket: &str, settings: &str) -> ConnectionId {
    let connection = server.connect();
    let extra = format!(r#","ticket":"{ticket}","settings":{settings}}}"#);
    assert!(seat(&server.say(connection, &hello(number).replace('}', &extra))).returned);
    connection
}

fn stay(server: &mut Server, connections: &[ConnectionId], secs: u64) {
    for _ in 0..secs / 10 {
        server.wait_secs(10);
        connections.iter().for_each(|who| drop(server.say(*who, r#"{"type":"touch"}"#)));
    }
}

pub(crate) fn ticket(server: &mut Server, connection: ConnectionId) -> String {
    match &server.say(connection, r#"{"type":"ticket"}"#)[..] {
        [.., ServerMessage::TicketRenewed(new)] => new.ticket.clone(),
        other => panic!("no ticket: {other:?}"),
    }
}

fn new_claims(server: &mut Server, connection: ConnectionId) -> Option<Claims> {
    let heard = server.hear(connection);
    let ticket = heard.iter().rev().find_map(|message| match message {
        ServerMessage::TicketRenewed(new) => Some(new.ticket.clone()),
        _ => None,
    });
    ticket.map(|ticket| server.ticket_key().open(&ticket, server.now.get() / 1_000_000).unwrap())
}

#[test]
fn host_started_room_waits_admits_late_and_survives_restart() {
    let (before, tickets) = {
        let mut server = Server::new();
        let host = server.guest(1);
        let create = CREATE.replace('}', r#","drop_in":true,"host_starts":true}"#);
        let made = seat(&server.say(host, &create)).room;
        assert_eq!((made.status, made.round, made.starts_together()), (Status::Waiting, 0, true));
        let guest = server.guest(2);
        server.say(guest, &join(made.code));
        // Players may join late, so none needs to be ready.
        server.say(host, r#"{"type":"start"}"#);
        assert_eq!(server.room_of(guest).status, Status::Playing);
        let late = server.guest(3);
        assert_eq!(seat(&server.say(late, &join(made.code))).room.status, Status::Playing);
        let tickets = [ticket(&mut server, host), ticket(&mut server, guest)];
        (server.room_of(host), tickets)
    };
    let mut server = Server::new();
    let host = back(&mut server, 1, &tickets[0], "{}");
    let room = server.room_of(host);
    assert_eq!((room.host_starts, room.drop_in, room.max_players), (true, true, before.max_players));
    assert_eq!((room.status, room.round), (Status::Playing, before.round));
}
