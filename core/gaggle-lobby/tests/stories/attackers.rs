//! Attacks on other players' reservations, on results, and on the server's resources.

use std::collections::VecDeque;

use gaggle_kit::Micros;
use gaggle_lobby::directory::{Command, Directory, LogEntry, Snapshot};
use gaggle_lobby::message::client::Find;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::rules::{GameRules, Limits, ModeConfig, RateLimit, Rules};
use gaggle_lobby::{Rejection, RejectionCode, ServerMessage};

use crate::server::{CREATE, LEAVE, Ours, Server, code, hello, join, seat, welcome};
use crate::signals_and_results::{peer, report};

const FIND_DUEL: &str = r#"{"type":"find","id":5,"game":"ranked","mode":"duel"}"#;
const START: &str = r#"{"type":"start"}"#;

#[test]
fn hellos_sent_at_once_are_handled_one_by_one() {
    let mut server = Server::new();
    let connection = server.connect();
    let token = r#"{"type":"hello","token":"x"}"#;
    for text in [token, token, r#"{"type":"touch"}"#, token] {
        assert!(server.say(connection, text).is_empty());
    }
    let refused = || Err(Rejection::new(RejectionCode::BadToken, "no"));
    server.verified(connection, refused());
    assert_eq!(code(&server.hear(connection)), RejectionCode::BadToken);
    // The second one is being verified, and the rest still waits.
    server.verified(connection, refused());
    let heard = server.hear(connection);
    assert!(
        matches!(&heard[..], [ServerMessage::Refused(token), ServerMessage::Refused(touch)]
            if token.code == RejectionCode::BadToken && touch.code == RejectionCode::OutOfOrder),
        "{heard:?}"
    );
    server.verified(connection, refused());
    assert_eq!(code(&server.hear(connection)), RejectionCode::BadToken);
    welcome(&server.say(connection, &hello(1)));
}

#[test]
fn different_lists_per_address_are_limited() {
    let mut server = Server::new();
    let list = |build: usize| format!(r#"{{"type":"list","game":"gander","build":"b{build}"}}"#);
    let mut watchers = Vec::new();
    for number in 0..40 {
        let watcher = server.connect_from("10.7.7.7");
        server.say(watcher, &hello(number));
        watchers.push(watcher);
    }
    for (number, watcher) in watchers.iter().enumerate() {
        let heard = server.say(*watcher, &list(number));
        match number {
            0..32 => assert!(matches!(&heard[..], [ServerMessage::Rooms(_)]), "{number}: {heard:?}"),
            _ => assert_eq!(code(&heard), RejectionCode::TooMany, "{number}"),
        }
    }
    // A list that is subscribed to already stays available, also to a connection that gives up its
    // own.
    let is_shown = |heard: Vec<ServerMessage>| matches!(&heard[..], [ServerMessage::Rooms(_)]);
    assert!(is_shown(server.say(watchers[39], &list(0))));
    assert!(is_shown(server.say(watchers[1], &list(99))));
    assert_eq!(
        code(&server.say(watchers[0], &list(100))),
        RejectionCode::TooMany,
        "two connections share that \
     list"
    );
    // Closed and unsubscribed connections free their share.
    server.close(watchers[2]);
    assert!(is_shown(server.say(watchers[38], &list(38))));
    server.say(watchers[3], r#"{"type":"unlist"}"#);
    assert!(is_shown(server.say(watchers[37], &list(37))));
    assert_eq!(code(&server.say(watchers[36], &list(36))), RejectionCode::TooMany);
    // Other addresses are not affected.
    let elsewhere = server.guest(100);
    assert!(is_shown(server.say(elsewhere, &list(36))));
}

#[test]
fn waiting_messages_are_bounded_in_bytes() {
    let mut server = Server::new();
    let connection = server.connect();
    server.say(connection, r#"{"type":"hello","token":"x"}"#);
    let long = format!(r#"{{"type":"find","game":"gander","settings":{{"a":"{}"}}}}"#, "x".repeat(60_000));
    assert!(server.say(connection, &long).is_empty() && server.say(connection, &long).is_empty());
    assert_eq!(code(&server.say(connection, &long)), RejectionCode::TooFast);
    assert!(server.say(connection, r#"{"type":"touch"}"#).is_empty(), "short ones fit");
}

#[test]
fn passing_host_role_around_renews_no_more_tickets() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.change = Limits::default().change;
    let mut server = Server::with_rules(rules);
    let players: Vec<ConnectionId> = (0..8)
        .map(|number| {
            let player = server.guest(number);
            server.say(player, r#"{"type":"find","game":"gander","seats":8}"#);
            player
        })
        .collect();
    let peers: Vec<String> = players.iter().map(|player| peer(&server, *player)).collect();
    let watcher = players[7];
    server.hear(watcher);
    let mut refused = 0;
    let mut host = 0;
    for _ in 0..30 {
        let next = (host + 1) % 7;
        let hand_over = format!(r#"{{"type":"host","peer":"{}"}}"#, peers[next]);
        match &server.say(players[host], &hand_over)[..] {
            [ServerMessage::Refused(no)] => {
                assert_eq!(no.code, RejectionCode::TooFast);
                refused += 1;
            }
            _ => host = next,
        }
    }
    let heard = server.hear(watcher);
    let tickets = heard.iter().filter(|message| matches!(message, ServerMessage::TicketRenewed(_))).count();
    assert_eq!((tickets, refused), (20, 10));
    // Rejected requests of other members cost the host nothing.
    server.wait_secs(11);
    for _ in 0..20 {
        assert_eq!(code(&server.say(watcher, START)), RejectionCode::NotHost);
    }
    server.say(players[host], r#"{"type":"settings","settings":{"lava":true}}"#);
    assert_eq!(server.room_of(watcher).settings.as_str(), r#"{"lava":true}"#);
}

#[test]
fn stored_results_per_address_are_limited() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.report_per_address = Limits::default().report_per_address;
    let mut server = Server::with_rules(rules);
    let stored = (0..300).filter(|number| {
        let alone = server.connect_from("10.7.7.7");
        server.say(alone, &hello(*number));
        server.say(alone, r#"{"type":"create","game":"gander","drop_in":true}"#);
        let report = report(&server, &[alone], &[5]);
        let heard = server.say(alone, &report);
        server.close(alone);
        !heard.iter().any(|message| matches!(message, ServerMessage::Refused(_)))
    });
    assert_eq!(stored.count(), 200);
    assert_eq!(server.records.len(), 200);
}

#[test]
fn spectators_newer_ticket_ends_no_room() {
    let mut server = Server::new();
    let player = server.guest(1);
    let made = seat(&server.say(player, CREATE));
    let watcher = server.guest(2);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, made.room.code);
    seat(&server.say(watcher, &watch));
    server.say(player, START);
    let newer = ticket_in(&server.hear(watcher));
    let mut server = server.restarted();
    let player = server.connect();
    let returned = seat(&server.say(player, &with_ticket(1, "", &made.ticket)));
    assert_eq!((returned.room.id, returned.room.epoch), (made.room.id, 1));
    let watcher = server.connect();
    let watching = seat(&server.say(watcher, &with_ticket(2, "", &newer)));
    assert_eq!((watching.slot, watching.room.epoch), (None, 1));
    assert_eq!(server.room_of(player).members.len(), 2);
}

#[test]
fn departed_player_returns_by_ticket_only_where_joiners_may() {
    let mut server = Server::new();
    let host = server.guest(1);
    let code = seat(&server.say(host, CREATE)).room.code;
    let guest = server.guest(2);
    let ticket = seat(&server.say(guest, &join(code))).ticket;
    server.say(guest, LEAVE);
    server.close(guest);
    server.say(host, r#"{"type":"access","locked":true}"#);
    let guest = server.connect();
    assert_eq!(ticket_refusal(&server.say(guest, &with_ticket(2, "", &ticket))), LOCKED);
    server.close(guest);
    server.say(host, r#"{"type":"access","locked":false}"#);
    let guest = server.connect();
    assert!(seat(&server.say(guest, &with_ticket(2, "", &ticket))).returned);
}

#[test]
fn flooding_client_keeps_no_other_from_staying_alive() {
    for silent_after in [Micros::from_secs(300), Micros::from_secs(8)] {
        let mut server = Server::with_rules(Rules {
            limits: Limits::unlimited(),
            idle_timeout: silent_after,
            ..Rules::default()
        });
        let mut quiet = Ours::connect(&mut server, 1);
        quiet.client.find(Find {
            game: "gander".parse().unwrap(),
            mode: "team".parse().unwrap(),
            ..Find::default()
        });
        quiet.pump(&mut server);
        assert!(quiet.client.room().is_some());
        let talker = server.player(2);
        for second in 0..400 {
            if second % 2 == 0 {
                server.say(talker, &format!(r#"{{"type":"profile","palette":{}}}"#, second / 2 % 2 + 4));
            }
            server.wait_secs(1);
            quiet.pump(&mut server);
        }
        assert_eq!(server.room_of(talker).players().count(), 2, "{silent_after:?}: {:?}", quiet.told.last());
    }
}

#[test]
fn room_of_many_spectators_can_be_stored() {
    let mut server = Server::new();
    let host = server.guest(1);
    let room = seat(&server.say(host, CREATE)).room;
    server.say(host, START);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, room.code);
    for tab in 0..300 {
        let guest = server.connect();
        server.say(guest, &with_ticket(2, &format!("tab-{tab}"), ""));
        seat(&server.say(guest, &watch));
        server.say(guest, LEAVE);
        server.close(guest);
    }
    let text = server.directory.snapshot().to_text();
    let read = Snapshot::from_text(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.to_text(), text);
}

#[test]
fn leaving_match_is_final_and_losing_connection_is_not() {
    let mut server = Server::new();
    let host = server.guest(1);
    let door = seat(&server.say(host, CREATE)).room.code;
    let guests: Vec<ConnectionId> = (2..4).map(|number| server.guest(number)).collect();
    for guest in &guests {
        seat(&server.say(*guest, &join(door)));
        server.say(*guest, r#"{"type":"ready","ready":true}"#);
    }
    server.say(host, START);
    let tickets: Vec<String> = guests.iter().map(|guest| new_ticket(&mut server, *guest)).collect();
    server.say(guests[0], LEAVE);
    guests.iter().for_each(|guest| server.close(*guest));
    for _ in 0..7 {
        server.wait_secs(10);
        server.say(host, r#"{"type":"touch"}"#);
    }
    assert_eq!(server.room_of(host).members.len(), 1);

    let left = server.connect();
    let refused = ticket_refusal(&server.say(left, &with_ticket(2, "", &tickets[0])));
    assert_eq!(refused, "the ticket is not valid for a room: the match has started");
    let lost = server.connect();
    let back = seat(&server.say(lost, &with_ticket(3, "", &tickets[1])));
    assert!(back.returned && back.room.members.len() == 2);
    // In the next match they are admitted again, if it admits joiners.
    server.say(host, r#"{"type":"finish"}"#);
    assert_eq!(code(&server.say(left, &join(door))), RejectionCode::RoomFinished);
}

#[test]
fn settings_not_signed_with_ticket_are_ignored() {
    let mut server = Server::new();
    let host = server.guest(1);
    let create = CREATE.replace('}', r#","settings":{"lava":true}}"#);
    let ticket = seat(&server.say(host, &create)).ticket;
    let mut server = server.restarted();
    let come = |server: &mut Server, settings: &str| {
        let connection = server.connect();
        let text = with_ticket(1, "", &ticket).replace('}', &format!(r#","settings":{settings}}}"#));
        let room = seat(&server.say(connection, &text)).room;
        room.settings.as_str().to_string()
    };
    server.asked.clear();
    assert_eq!(come(&mut server, &format!(r#"{{"a":"{}"}}"#, "x".repeat(40_000))), "{}");
    let shows_ticket =
        |entry: &LogEntry| matches!(&entry.command, Command::Attach(attach) if attach.ticket.is_some());
    assert!(server.asked.iter().any(shows_ticket));
    for entry in &server.asked {
        let text = entry.to_text();
        assert!(text.len() < 2_000, "{} bytes", text.len());
    }
    let mut server = server.restarted();
    assert_eq!(come(&mut server, r#"{ "lava": true }"#), r#"{"lava":true}"#);
}

const LOCKED: &str = "the ticket is not valid for a room: the host has locked this room";

#[test]
fn locked_room_readmits_members_for_while_after_restart() {
    let mut server = Server::new();
    let host = server.guest(1);
    let code = seat(&server.say(host, CREATE)).room.code;
    let guests: Vec<ConnectionId> = (2..4).map(|number| server.guest(number)).collect();
    guests.iter().for_each(|guest| drop(seat(&server.say(*guest, &join(code)))));
    server.say(host, r#"{"type":"access","locked":true}"#);
    let tickets: Vec<String> =
        [host, guests[0], guests[1]].iter().map(|who| new_ticket(&mut server, *who)).collect();
    let mut server = server.restarted();
    let back = |server: &mut Server, number: u32| {
        let connection = server.connect();
        let heard = server.say(connection, &with_ticket(number, "", &tickets[number as usize - 1]));
        server.say(connection, r#"{"type":"touch"}"#);
        heard
    };
    assert!(seat(&back(&mut server, 1)).room.locked);
    assert_eq!(seat(&back(&mut server, 2)).room.members.len(), 2);
    server.wait_secs(61);
    assert_eq!(ticket_refusal(&back(&mut server, 3)), LOCKED);
}

#[test]
fn tickets_restore_no_excess_spectators() {
    let mut server = Server::new();
    let host = server.guest(0);
    let code = seat(&server.say(host, CREATE)).room.code;
    let watch = format!(r#"{{"type":"join","code":"{code}","watch":true}}"#);
    let tickets: Vec<String> = (1..=40)
        .map(|number| {
            let watcher = server.guest(number);
            let ticket = seat(&server.say(watcher, &watch)).ticket;
            server.say(watcher, LEAVE);
            server.close(watcher);
            ticket
        })
        .collect();
    let mut refused = 0;
    for (number, ticket) in (1..).zip(&tickets) {
        let connection = server.connect();
        let heard = server.say(connection, &with_ticket(number, "", ticket));
        refused += usize::from(matches!(heard[0], ServerMessage::Refused(_)));
    }
    assert_eq!(refused, 8);
    assert_eq!(server.room_of(host).members.len(), 33);
}

#[test]
fn tickets_restore_no_more_rooms_than_player_may_have() {
    let mut server = Server::new();
    let tickets: Vec<String> = (0..12)
        .map(|tab| {
            let connection = server.connect();
            server.say(connection, &with_ticket(1, &format!("tab-{tab}"), ""));
            let ticket = seat(&server.say(connection, CREATE)).ticket;
            server.say(connection, LEAVE);
            server.close(connection);
            ticket
        })
        .collect();
    let mut server = server.restarted();
    let refusals: Vec<String> = tickets
        .iter()
        .enumerate()
        .map(|(tab, ticket)| {
            let connection = server.connect();
            server.say(connection, &with_ticket(1, &format!("tab-{tab}"), ticket))
        })
        .filter(|heard| matches!(heard[0], ServerMessage::Refused(_)))
        .map(|heard| ticket_refusal(&heard))
        .collect();
    assert_eq!(
        refusals,
        ["the ticket is not valid for a room: you are in 8 rooms already; leave one \
     of them first"; 4]
    );
    assert_eq!(server.directory.room_count(), 8);
}

#[test]
fn rejected_searching_player_joins_no_second_room() {
    let mut server = Server::with_rules(ranked());
    let seeker = tab(&mut server, 1, 0);
    assert!(matches!(server.say(seeker, FIND_DUEL)[..], [ServerMessage::Searching(_)]));
    let others: Vec<ConnectionId> = (1..=8).map(|number| tab(&mut server, 1, number)).collect();
    others.iter().for_each(|other| drop(seat(&server.say(*other, CREATE))));
    server.wait_secs(1);
    assert_eq!(code(&server.hear(seeker)), RejectionCode::TooMany);
    server.say(others[0], LEAVE);
    let made = seat(&server.say(seeker, CREATE));

    let other = tab(&mut server, 2, 0);
    assert!(matches!(server.say(other, FIND_DUEL)[..], [ServerMessage::Searching(_)]));
    assert_eq!(server.room_of(seeker).id, made.room.id);
    assert_eq!(server.directory.room_count(), 8);
}

#[test]
fn player_with_all_rooms_taken_is_not_matched() {
    let mut server = Server::with_rules(ranked());
    let seeker = tab(&mut server, 1, 0);
    assert!(matches!(server.say(seeker, FIND_DUEL)[..], [ServerMessage::Searching(_)]));
    for number in 1..=8 {
        let other = tab(&mut server, 1, number);
        seat(&server.say(other, CREATE));
    }
    // Before the searching one repeats its request.
    let other = tab(&mut server, 2, 0);
    assert!(matches!(server.say(other, FIND_DUEL)[..], [ServerMessage::Searching(_)]));
}

#[test]
fn skill_search_creates_no_excess_rooms_per_address() {
    let mut rules = ranked();
    rules.limits.create_per_address = RateLimit::per_secs(3, 3_000);
    let mut server = Server::with_rules(rules);
    let look = |server: &mut Server, number: u32, address: &str| {
        let connection = server.connect_from(address);
        let player = welcome(&server.say(connection, &hello(number))).player;
        server.ratings.insert(player, 1_500);
        server.say(connection, FIND_DUEL);
        connection
    };
    for number in (0..20).step_by(2) {
        let pair = [number, number + 1].map(|number| look(&mut server, number, "10.9.9.9"));
        server.wait_secs(2);
        pair.iter().for_each(|who| server.close(*who));
    }
    assert_eq!(server.directory.room_count(), 3);
    // A player who may not create rooms is found by those who may.
    let (limited, other) = (look(&mut server, 100, "10.9.9.9"), look(&mut server, 101, "10.8.8.8"));
    server.wait_secs(2);
    assert_eq!(server.directory.room_count(), 4);
    assert_eq!(server.room_of(limited).id, server.room_of(other).id);
}

#[test]
fn simultaneous_searches_create_no_excess_rooms_per_address() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.create_per_address = RateLimit::per_secs(3, 3_000);
    let mut server = Server::with_rules(rules);
    server.held = Some(VecDeque::new());
    let look = |server: &mut Server, number: u32, build: u32| {
        let connection = server.connect_from("10.9.9.9");
        server.say(connection, &hello(number));
        let find = format!(r#"{{"type":"find","game":"gander","mode":"team","build":"{build}"}}"#);
        assert!(server.say(connection, &find).is_empty(), "the directory's replies are held back");
        connection
    };
    // Three of one build need one room and refund the other two charges.
    let first: Vec<_> = (0..3).map(|number| look(&mut server, number, 0)).collect();
    first.iter().for_each(|_| server.answer_held());
    first.iter().for_each(|who| drop(seat(&server.hear(*who))));
    assert_eq!(server.directory.room_count(), 1);
    // A connection closed before the reply has created a room all the same.
    let others: Vec<_> = (1..20).map(|number| look(&mut server, 100 + number, number)).collect();
    server.close(others[0]);
    others.iter().for_each(|_| server.answer_held());
    assert_eq!(server.directory.room_count(), 3);
    seat(&server.hear(others[1]));
    assert!(others[2..].iter().all(|who| code(&server.hear(*who)) == RejectionCode::TooFast));
    let late = look(&mut server, 999, 99);
    server.answer_held();
    assert_eq!(code(&server.hear(late)), RejectionCode::TooFast);
}

#[test]
fn rooms_left_by_all_are_forgotten_under_load() {
    let mut server = Server::new();
    server.held = Some(VecDeque::new());
    let mut creator = server.guest(0);
    server.say(creator, CREATE);
    for number in 1..50 {
        // There is never a moment without a pending command.
        let next = server.guest(number);
        server.say(next, CREATE);
        server.answer_held();
        seat(&server.hear(creator));
        server.say(creator, LEAVE);
        let known = server.node.rooms().count();
        assert!(known <= 2, "{known} rooms are known after {number} were left");
        creator = next;
    }
    server.answer_held();
    seat(&server.hear(creator));
    assert_eq!(server.node.rooms().count(), 1);
}

#[test]
fn any_settings_and_signals_survive_log() {
    let mut server = Server::new();
    let host = server.guest(1);
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let create = |settings: &str| {
        format!(r#"{{"type":"create","game":"gander","mode":"team","settings":{settings}}}"#)
    };
    let refused = server.say(host, &create(&deep(15)));
    assert!(
        matches!(&refused[..], [ServerMessage::Refused(refused)] if refused.code == RejectionCode::BadMessage
            && refused.text == "field settings must be a value of at most 12 levels"),
        "{refused:?}"
    );
    let made = seat(&server.say(host, &create(&deep(12))));
    let guest = server.guest(2);
    let host_peer = made.peer;
    seat(&server.say(guest, &join(made.room.code)));
    server.say(host, "{\"type\":\"settings\",\"settings\":{ \"a\" :\n\t[ 1 ] }}");
    assert_eq!(server.room_of(guest).settings.as_str(), r#"{"a":[1]}"#);
    server.close(host);
    let signal = |data: &str| format!(r#"{{"type":"signal","to":"{host_peer}","data":{data}}}"#);
    assert_eq!(code(&server.say(guest, &signal(&deep(13)))), RejectionCode::BadMessage);
    assert!(server.say(guest, &signal(&deep(12))).is_empty());
    assert!(server.say(guest, &signal("[ 1,\n\t2 ]")).is_empty());
    let snapshot = server.directory.snapshot();
    assert_eq!(Snapshot::from_text(&snapshot.to_text()).as_ref(), Ok(&snapshot));
    let restored = Directory::from_snapshot(Rules::default(), snapshot.clone());
    assert_eq!(restored.snapshot(), snapshot);
    assert!(server.asked.len() > 5, "requests are recorded");
    for entry in &server.asked {
        assert_eq!(LogEntry::from_text(&entry.to_text()).as_ref(), Ok(entry));
    }
}

#[test]
fn flood_of_large_signals_is_limited_before_socket_fills() {
    let mut server = Server::with_rules(Rules::default());
    let (victim, other) = (server.player(1), server.player(2));
    let rude = server.player(3);
    let peer_of = |server: &Server, who| server.node.peer_of(who).unwrap().0;
    let (to, to_other) = (peer_of(&server, victim), peer_of(&server, other));
    let data = "x".repeat(16_000);
    let signal = |to| format!(r#"{{"type":"signal","to":"{to}","data":"{data}"}}"#);
    let refusals: Vec<_> = (0..6).flat_map(|_| server.say(rude, &signal(to))).collect();
    assert_eq!(refusals.len(), 2, "four fit: {refusals:?}");
    let ServerMessage::Refused(refused) = &refusals[0] else { panic!("{refusals:?}") };
    assert_eq!(refused.code, RejectionCode::TooFast);
    let wait = refused.retry_ms.expect("a retry time");
    assert!((900..1_100).contains(&wait), "{wait}");
    // Other receivers are not affected; after that time the same one works, too.
    assert!(server.say(rude, &signal(to_other)).is_empty());
    server.wait(Micros::from_millis(wait));
    assert!(server.say(rude, &signal(to)).is_empty());
    let signals = |heard: Vec<ServerMessage>| {
        heard.iter().filter(|message| matches!(message, ServerMessage::SignalReceived(_))).count()
    };
    assert_eq!((signals(server.hear(victim)), signals(server.hear(other))), (5, 1));
}

#[test]
fn joiner_of_full_room_can_signal_all_members() {
    let mut server = Server::with_rules(Rules::default());
    let host = server.guest(0);
    let create = CREATE.replace('}', r#","seats":64,"drop_in":true}"#);
    let code = seat(&server.say(host, &create)).room.code;
    for number in 1..63 {
        let guest = server.guest(number);
        seat(&server.say(guest, &join(code)));
    }
    let joiner = server.guest(63);
    let room = seat(&server.say(joiner, &join(code))).room;
    assert_eq!(room.members.len(), 64);
    let me = server.node.peer_of(joiner).unwrap().0;
    let (offer, candidate) = ("o".repeat(3_000), "c".repeat(200));
    for member in room.members.iter().filter(|member| member.peer != me) {
        for data in std::iter::once(&offer).chain(std::iter::repeat_n(&candidate, 12)) {
            let signal = format!(r#"{{"type":"signal","to":"{}","data":"{data}"}}"#, member.peer);
            assert!(server.say(joiner, &signal).is_empty());
        }
    }
}

/// Rules with a ranked mode for two.
fn ranked() -> Rules {
    let mode = ModeConfig { players_default: 2, players_max: 2, skill: true, ..ModeConfig::default() };
    let mut game = GameRules::default();
    game.modes.insert("duel".parse().unwrap(), mode);
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.games.insert("ranked".parse().unwrap(), game);
    rules
}

/// A device of a player; all have the same rating.
fn tab(server: &mut Server, number: u32, tab: u32) -> ConnectionId {
    let connection = server.connect();
    let player = welcome(&server.say(connection, &with_ticket(number, &format!("tab-{tab}"), ""))).player;
    server.ratings.insert(player, 1_500);
    connection
}

/// A `hello` with optional device key and ticket.
fn with_ticket(number: u32, tab: &str, ticket: &str) -> String {
    let mut text = hello(number);
    text.pop();
    if !tab.is_empty() {
        text.push_str(&format!(r#","seat":"{tab}""#));
    }
    if !ticket.is_empty() {
        text.push_str(&format!(r#","ticket":"{ticket}""#));
    }
    text.push('}');
    text
}

fn ticket_in(heard: &[ServerMessage]) -> String {
    let ticket = heard.iter().find_map(|message| match message {
        ServerMessage::TicketRenewed(new) => Some(new.ticket.clone()),
        _ => None,
    });
    ticket.unwrap_or_else(|| panic!("no ticket: {heard:?}"))
}

fn new_ticket(server: &mut Server, connection: ConnectionId) -> String {
    ticket_in(&server.say(connection, r#"{"type":"ticket"}"#))
}

/// Why a ticket restored no reservation, for a client that is welcomed all the same.
fn ticket_refusal(heard: &[ServerMessage]) -> String {
    match heard {
        [ServerMessage::Refused(refused), ServerMessage::Welcome(_)]
            if refused.code == RejectionCode::BadTicket =>
        {
            refused.text.clone()
        }
        other => panic!("the ticket was not rejected: {other:?}"),
    }
}
