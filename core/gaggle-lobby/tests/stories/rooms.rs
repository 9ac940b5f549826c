//! Rooms: finding, joining, hosting, starting, leaving.

use gaggle_kit::{Micros, Slot};
use gaggle_lobby::directory::Lookup;
use gaggle_lobby::node::AuditEvent;
use gaggle_lobby::rules::{Limits, ModeConfig, RateLimit, Rules};
use gaggle_lobby::view::{LeaveReason, RoomUpdate, RoomView, Status};
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{
    CREATE, FIND, LEAVE, STEP_OUT, Server, code, event_kinds, events, hello, join, refusal, seat,
};

#[test]
fn strangers_who_search_same_game_meet() {
    let mut server = Server::new();
    let first = server.guest(1);
    let made = seat(&server.say(first, FIND));
    assert!(made.created);
    assert_eq!((made.slot, made.room.status, made.room.round), (Some(Slot::at(0)), Status::Playing, 1));
    let second = server.guest(2);
    let found = seat(&server.say(second, FIND));
    assert!(!found.created);
    assert_eq!((found.slot, found.room.id), (Some(Slot::at(1)), made.room.id));
    assert_eq!((found.room.seed, found.room.host), (made.room.seed, made.peer));
    assert_eq!(event_kinds(&server.hear(first)), ["joined"]);
}

#[test]
fn fullest_room_with_free_slot_comes_first() {
    let mut server = Server::new();
    let full: Vec<_> = (0..4).map(|number| server.player(number)).collect();
    let roomy: Vec<_> = (4..8).map(|number| server.player(number)).collect();
    // One leaves the first room, two leave the second.
    server.say(full[3], LEAVE);
    server.say(roomy[2], LEAVE);
    server.say(roomy[3], LEAVE);
    let next = server.guest(8);
    assert_eq!(seat(&server.say(next, FIND)).room.id, server.room_of(full[0]).id);
    let after = server.guest(9);
    assert_eq!(seat(&server.say(after, FIND)).room.id, server.room_of(roomy[0]).id);
}

#[test]
fn other_modes_builds_and_games_are_other_rooms() {
    let mut server = Server::new();
    let first = server.player(1);
    let room = server.room_of(first).id;
    for (number, other) in [
        r#"{"type":"find","game":"gander","mode":"versus"}"#,
        r#"{"type":"find","game":"gander","mode":"team","build":"2"}"#,
        r#"{"type":"find","game":"drake","mode":"team"}"#,
    ]
    .iter()
    .enumerate()
    {
        let guest = server.guest(10 + number as u32);
        let found = seat(&server.say(guest, other));
        assert!(found.created && found.room.id != room);
    }
}

#[test]
fn friend_joins_by_room_code() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, r#"{"type":"create","game":"gander","private":true,"seats":2}"#));
    assert_eq!((made.room.status, made.room.private), (Status::Waiting, true));
    // `find` does not return it.
    let stranger = server.guest(2);
    assert_ne!(seat(&server.say(stranger, r#"{"type":"find","game":"gander"}"#)).room.id, made.room.id);
    let friend = server.guest(3);
    let joined = seat(&server.say(friend, &join(made.room.code.as_str().to_lowercase())));
    assert_eq!(joined.room.id, made.room.id);
    let third = server.guest(4);
    assert_eq!(code(&server.say(third, &join(made.room.code))), RejectionCode::RoomFull);
    assert_eq!(code(&server.say(third, &join("ZZZZZZ"))), RejectionCode::NoSuchRoom);
    assert_eq!(code(&server.say(third, r#"{"type":"join"}"#)), RejectionCode::BadMessage);
}

#[test]
fn room_of_another_build_refuses_with_both_versions_named() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, r#"{"type":"create","game":"gander","build":"1.7-00ab"}"#));
    let friend = server.guest(2);
    let join = join(made.room.code).replace('}', r#","build":"1.6-00cd"}"#);
    let refused = refusal(&server.say(friend, &join));
    assert_eq!(refused.code, RejectionCode::BadGame);
    assert_eq!(refused.text, "this room plays gander 1.7, you have 1.6; get the same version");
    assert_eq!(refused.game, Some("gander".parse().expect("a label")));
}

#[test]
fn switching_is_required_to_change_rooms() {
    let mut server = Server::new();
    let first = server.player(1);
    let before = server.room_of(first).id;
    let refused = refusal(&server.say(first, CREATE));
    assert_eq!(refused.code, RejectionCode::AlreadyInRoom);
    let switch = r#"{"type":"create","game":"gander","mode":"team","switch":true}"#;
    let heard = server.say(first, switch);
    assert!(matches!(&heard[0], ServerMessage::Removed(left) if left.room == before));
    assert!(seat(&heard).created);
    assert_eq!(server.directory.rooms().count(), 1);
}

#[test]
fn switching_to_own_room_changes_nothing() {
    let mut server = Server::new();
    let players: Vec<_> = (0..2).map(|number| server.player(number)).collect();
    let room = server.room_of(players[1]);
    players.iter().for_each(|player| drop(server.hear(*player)));
    let again = format!(r#"{{"type":"join","id":9,"code":"{}","switch":true}}"#, room.code);
    let heard = server.say(players[1], &again);
    let [ServerMessage::JoinedRoom(seat)] = &heard[..] else { panic!("{heard:?}") };
    assert!(seat.returned && !seat.created);
    assert_eq!((seat.room.id, seat.slot), (room.id, room.members[1].slot));
    assert_eq!(event_kinds(&server.hear(players[0])), [""; 0], "no member left or joined");
    // Spectating is a different role, so it is a change.
    let watch = again.replace("\"switch\"", "\"watch\":true,\"switch\"");
    let heard = server.say(players[1], &watch);
    assert!(matches!(&heard[0], ServerMessage::Removed(left) if left.room == room.id));
}

#[test]
fn failed_switch_keeps_reservation() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.create_per_address = RateLimit::every(Micros::from_secs(1_000), 1);
    let mut server = Server::with_rules(rules);
    let (host, guest) = (server.player(1), server.player(2));
    let before = server.room_of(guest);
    let elsewhere = server.guest(3);
    let made = seat(&server.say(elsewhere, &CREATE.replace('}', r#","seats":2,"build":"7"}"#))).room.code;
    let to_made = format!(r#"{{"type":"join","id":9,"build":"7","code":"{made}","switch":true}}"#);
    let refused = |server: &mut Server, text: &str, expected: RejectionCode| {
        let heard = server.say(guest, text);
        let [ServerMessage::Refused(refused)] = &heard[..] else { panic!("{text}: {heard:?}") };
        assert_eq!(refused.code, expected, "{text}");
        assert_eq!(server.room_of(guest), before, "{text}");
        assert_eq!(event_kinds(&server.hear(host)), [""; 0], "{text}");
    };
    server.hear(host);
    // Mistyped, of another build, locked, full, too small.
    let mistyped = to_made.replace(&made.to_string(), "ZZZZZZ");
    refused(&mut server, &mistyped, RejectionCode::NoSuchRoom);
    refused(&mut server, &to_made.replace("\"7\"", "\"8\""), RejectionCode::BadGame);
    server.say(elsewhere, r#"{"type":"access","locked":true}"#);
    refused(&mut server, &to_made, RejectionCode::RoomLocked);
    server.say(elsewhere, r#"{"type":"access","locked":false}"#);
    let full = server.guest(4);
    server.say(full, &to_made);
    refused(&mut server, &to_made, RejectionCode::RoomFull);
    let crowd = r#"{"type":"create","game":"gander","seats":2,"players":3,"switch":true}"#;
    refused(&mut server, crowd, RejectionCode::RoomFull);
    // This network may not create rooms for a while, and there is none to be found.
    let maker = server.connect_from("10.9.9.9");
    server.say(maker, &hello(5));
    server.say(maker, CREATE);
    server.say(maker, &join(before.code).replace('}', r#","switch":true}"#));
    let looking = r#"{"type":"find","game":"gander","mode":"duel","switch":true}"#;
    let heard = server.say(maker, looking);
    assert!(
        matches!(&heard[..], [ServerMessage::Refused(refused)] if refused.code == RejectionCode::TooFast)
    );
    assert_eq!(server.room_of(maker).id, before.id);
    server.say(maker, LEAVE);
    // Into a room that admits it.
    let before = server.room_of(guest);
    server.say(full, LEAVE);
    let heard = server.say(guest, &to_made);
    assert!(matches!(&heard[0], ServerMessage::Removed(left) if left.room == before.id));
    assert_eq!(seat(&heard).room.code, made);
}

#[test]
fn rate_limited_or_lone_player_keeps_reservation() {
    let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
    rules.limits.join = RateLimit::every(Micros::from_secs(1_000), 2);
    let mut server = Server::with_rules(rules);
    let alone = server.player(1);
    let room = server.room_of(alone);
    let watch = join(room.code).replace('}', r#","watch":true,"switch":true}"#);
    assert_eq!(code(&server.say(alone, &watch)), RejectionCode::NoSuchRoom);
    assert_eq!(server.room_of(alone), room);
    // With another player in it, one may watch and play again.
    server.player(2);
    let heard = server.say(alone, &watch);
    assert!(matches!(&heard[0], ServerMessage::Removed(left) if left.room == room.id));
    assert_eq!(seat(&heard).slot, None);
    let play = join(room.code).replace('}', r#","switch":true}"#);
    assert_eq!(code(&server.say(alone, &play)), RejectionCode::TooFast);
    assert_eq!(server.room_of(alone).spectators().count(), 1);
}

#[test]
fn player_who_left_and_mistypes_finds_slot_kept() {
    let mut server = Server::new();
    let (host, guest) = (server.player(1), server.player(2));
    let before = server.room_of(guest).members[1].slot;
    server.say(guest, STEP_OUT);
    let room = server.room_of(host);
    assert_eq!(code(&server.say(guest, &join("ZZZZZZ"))), RejectionCode::NoSuchRoom);
    assert_eq!(server.room_of(host), room, "the slot is kept");
    let again = server.connect();
    let seat = seat(&server.say(again, &hello(2)));
    assert_eq!((seat.returned, seat.slot), (true, before));
}

#[test]
fn leaving_with_reservation_kept_is_audited() {
    let mut server = Server::new();
    let (_, guest) = (server.player(1), server.player(2));
    let room = server.room_of(guest).id;
    server.notes.clear();
    server.say(guest, STEP_OUT);
    let left: Vec<_> = server.notes.iter().map(|note| (note.room, note.happening.clone())).collect();
    assert_eq!(left, [(Some(room), AuditEvent::Left(LeaveReason::Left))]);
}

#[test]
fn host_role_passes_to_longest_present_member() {
    let mut server = Server::new();
    let players: Vec<_> = (0..3).map(|number| server.player(number)).collect();
    let room = server.room_of(players[0]);
    assert_eq!(room.host, room.members[0].peer);
    let second = room.members[1].peer;
    players.iter().for_each(|player| drop(server.hear(*player)));
    let heard = server.say(players[0], LEAVE);
    assert!(
        matches!(&heard[..], [ServerMessage::Removed(left), ServerMessage::Done(_)]
        if left.reason == LeaveReason::Left),
        "{heard:?}"
    );
    assert_eq!(event_kinds(&server.hear(players[2])), ["left", "host"]);
    assert_eq!(server.room_of(players[2]).host, second);
    // A joiner takes the free slot but not the role.
    let joiner = server.player(9);
    let room = server.room_of(joiner);
    assert_eq!((room.members[2].name.as_str(), room.host), ("Guest 9", second));
}

#[test]
fn vanished_host_keeps_slot_and_loses_role() {
    let mut server = Server::new();
    let host = server.player(1);
    let other = server.player(2);
    let room = server.room_of(host);
    server.close(host);
    assert_eq!(event_kinds(&server.hear(other)), ["away"]);
    server.wait_secs(9);
    server.pong(other);
    assert_eq!(server.room_of(other).host, room.host);
    server.wait_secs(2);
    assert_eq!(event_kinds(&server.hear(other)), ["host"]);
    // Back within the grace time: the same slot, without the role.
    let again = server.guest(1);
    let room = server.room_of(again);
    assert_eq!(room.players().count(), 2);
    assert_eq!(room.host, room.members[1].peer);
}

#[test]
fn absent_member_loses_slot_after_grace_time() {
    let mut server = Server::new();
    let gone = server.player(1);
    let other = server.player(2);
    server.close(gone);
    server.hear(other);
    for _ in 0..6 {
        server.wait_secs(10);
        server.pong(other);
    }
    server.wait_secs(1);
    let heard = server.hear(other);
    let last = events(&heard).pop();
    assert!(
        matches!(last, Some(RoomUpdate::Left(left)) if left.reason == LeaveReason::ConnectionLost),
        "{heard:?}"
    );
    assert_eq!(server.room_of(other).players().count(), 1);
}

#[test]
fn room_ends_with_last_player_and_removes_spectators() {
    let mut server = Server::new();
    let player = server.player(1);
    let room = server.room_of(player);
    let watcher = server.guest(2);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, room.code);
    assert_eq!(seat(&server.say(watcher, &watch)).slot, None);
    assert_eq!(server.room_of(player).free_slots(), 3);
    server.hear(watcher);
    server.say(player, LEAVE);
    let heard = server.hear(watcher);
    assert!(
        matches!(&heard[..], [ServerMessage::Removed(left)] if left.reason == LeaveReason::Closed),
        "{heard:?}"
    );
    assert_eq!(server.directory.rooms().count(), 0);
}

#[test]
fn resting_player_is_marked_until_back_or_replaced() {
    let mut server = Server::new();
    let first = server.player(1);
    let second = server.player(2);
    server.hear(first);
    let rests = |server: &mut Server, of: gaggle_kit::PeerId, seen_by| {
        server.room_of(seen_by).member(of).map(|member| member.resting)
    };
    let peer = server.room_of(second).members[1].peer;
    for resting in [true, true, false, true] {
        let before = rests(&mut server, peer, first);
        server.say(second, &format!(r#"{{"type":"rest","resting":{resting}}}"#));
        let told = if before == Some(resting) { &[][..] } else { &["rest"][..] };
        assert_eq!(event_kinds(&server.hear(first)), told);
        assert_eq!(rests(&mut server, peer, first), Some(resting));
    }
    // Another page with the same reservation is not resting.
    server.close(second);
    server.hear(first);
    let again = server.connect();
    server.say(again, &hello(2));
    assert_eq!(event_kinds(&server.hear(first)), ["returned", "rest"]);
    assert_eq!(rests(&mut server, peer, first), Some(false));
}

#[test]
fn match_starts_when_all_are_ready_and_another_follows() {
    let mut server = Server::new();
    let host = server.guest(1);
    let made = seat(&server.say(host, CREATE));
    let other = server.guest(2);
    server.say(other, &join(made.room.code));
    server.hear(host);
    assert_eq!(code(&server.say(other, r#"{"type":"start"}"#)), RejectionCode::NotHost);
    let refused = refusal(&server.say(host, r#"{"type":"start"}"#));
    assert_eq!((refused.code, refused.text.as_str()), (RejectionCode::NotReady, "Guest 2 is not ready"));
    server.say(other, r#"{"type":"ready","ready":true}"#);
    assert_eq!(event_kinds(&server.hear(host)), ["ready"]);
    server.say(host, r#"{"type":"start","countdown_ms":3000}"#);
    let room = server.room_of(other);
    assert_eq!((room.status, room.round, room.epoch), (Status::Starting, 1, 2));
    assert_eq!(room.starts_at, Some(server.now.as_millis() + 3_000));
    assert!(room.members.iter().all(|member| !member.ready));
    server.hear(other);
    server.wait(Micros::from_millis(3_100));
    assert_eq!(event_kinds(&server.hear(other)), ["status"]);
    assert_eq!(server.room_of(other).status, Status::Playing);
    // Without drop-in: joiners are rejected now.
    let late = server.guest(3);
    assert_eq!(code(&server.say(late, &join(made.room.code))), RejectionCode::RoomStarted);
    server.say(host, r#"{"type":"finish"}"#);
    assert_eq!(code(&server.say(late, &join(made.room.code))), RejectionCode::RoomFinished);
    server.say(other, r#"{"type":"ready","ready":true}"#);
    server.say(host, r#"{"type":"start"}"#);
    let again = server.room_of(other);
    assert_eq!((again.status, again.round, again.epoch), (Status::Playing, 2, 3));
    assert_ne!(again.seed, room.seed);
}

#[test]
fn all_members_get_new_ticket_when_match_starts() {
    let mut server = Server::new();
    let host = server.guest(1);
    let old = seat(&server.say(host, CREATE)).ticket;
    let heard = server.say(host, r#"{"type":"start"}"#);
    let new = heard.iter().find_map(|message| match message {
        ServerMessage::TicketRenewed(new) => Some(new.ticket.clone()),
        _ => None,
    });
    let open = |ticket: &str| server.ticket_key().open(ticket, 1_800_000_000).unwrap();
    assert_eq!((open(&old).epoch, open(&new.expect("a new ticket")).epoch), (1, 2));
}

#[test]
fn host_can_lock_hide_and_resize_room() {
    let mut server = Server::new();
    let host = server.player(1);
    let room = server.room_of(host);
    server.say(host, r#"{"type":"access","locked":true}"#);
    let other = server.guest(2);
    assert_eq!(code(&server.say(other, &join(room.code))), RejectionCode::RoomLocked);
    assert!(seat(&server.say(other, FIND)).created);
    server.say(other, LEAVE);
    server.say(host, r#"{"type":"access","locked":false,"private":true,"seats":2}"#);
    assert!(seat(&server.say(other, FIND)).created);
    server.say(other, LEAVE);
    seat(&server.say(other, &join(room.code)));
    let third = server.guest(3);
    assert_eq!(code(&server.say(third, &join(room.code))), RejectionCode::RoomFull);
    assert_eq!(code(&server.say(host, r#"{"type":"access","seats":1}"#)), RejectionCode::BadSettings);
    assert_eq!(code(&server.say(host, r#"{"type":"access","seats":65}"#)), RejectionCode::BadSettings);
    assert_eq!(code(&server.say(other, r#"{"type":"access","locked":true}"#)), RejectionCode::NotHost);
}

#[test]
fn resizing_removes_no_occupied_slot() {
    let mut server = Server::new();
    let players = server.gathered(0..3);
    assert_eq!(code(&server.say(players[0], r#"{"type":"access","seats":2}"#)), RejectionCode::BadSettings);
    server.say(players[2], LEAVE);
    assert!(matches!(
        server.say(players[0], r#"{"type":"access","seats":2}"#)[..],
        [ServerMessage::Change(_), ServerMessage::TicketRenewed(_), ServerMessage::Done(_)]
    ));
}

#[test]
fn kicked_player_stays_out() {
    let mut server = Server::new();
    let [host, rude] = server.gathered(1..3).try_into().unwrap();
    let room = server.room_of(host);
    let target = room.members[1].peer;
    let ticket = seat_ticket(&mut server, rude);
    server.hear(rude);
    let kick = format!(r#"{{"type":"kick","peer":"{target}"}}"#);
    assert_eq!(code(&server.say(rude, &kick)), RejectionCode::NotHost);
    server.say(host, &kick);
    let heard = server.hear(rude);
    assert!(
        matches!(&heard[..], [ServerMessage::Removed(left)] if left.reason == LeaveReason::Kicked),
        "{heard:?}"
    );
    assert_eq!(code(&server.say(rude, &join(room.code))), RejectionCode::Kicked);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, room.code);
    assert_eq!(code(&server.say(rude, &watch)), RejectionCode::Kicked);
    // Neither by `find` nor by the ticket it still has.
    assert_ne!(seat(&server.say(rude, FIND)).room.id, room.id);
    let claims = server.ticket_key().open(&ticket, 1_800_000_000).unwrap();
    assert!(claims.admit(room.id, server.room_of(host).epoch).is_err());
    let unknown = r#"{"type":"kick","peer":"00000000000000000000000000000000"}"#;
    assert_eq!(code(&server.say(host, unknown)), RejectionCode::NoSuchMember);
}

#[test]
fn few_lists_are_made_at_once_and_all_in_time() {
    let mut server = Server::new();
    let watchers: Vec<_> = (0..100)
        .map(|number| {
            let watcher = server.guest(number);
            server.say(watcher, &format!(r#"{{"type":"list","game":"pond","mode":"m{number}"}}"#));
            watcher
        })
        .collect();
    for number in 0..100 {
        let maker = server.guest(1_000 + number);
        server.say(maker, &format!(r#"{{"type":"create","game":"pond","mode":"m{number}"}}"#));
    }
    watchers.iter().for_each(|watcher| drop(server.hear(*watcher)));
    let mut told = 0;
    for _ in 0..20 {
        server.lookups.clear();
        server.wait(Micros::from_millis(100));
        let count = server.lookups.iter().filter(|lookup| matches!(lookup, Lookup::List { .. })).count();
        assert!(count <= 16, "{count} at once");
        let heard = |watcher: &_| server.hear(*watcher).len();
        told += watchers.iter().map(heard).sum::<usize>();
    }
    assert_eq!(told, 100, "every subscriber gets one room once");
}

#[test]
fn audit_records_name_connection_player_and_room() {
    let mut server = Server::new();
    let [host, rude, other] = server.gathered(1..4).try_into().unwrap();
    let room = server.room_of(host);
    let [host_is, rude_is, other_is] = [0, 1, 2].map(|at: usize| room.members[at].player);
    server.say(rude, r#"{"type":"finish"}"#);
    server.say(host, &format!(r#"{{"type":"kick","peer":"{}"}}"#, room.members[1].peer));
    server.say(host, LEAVE);
    server.close(other);
    let stranger = server.connect();
    server.say(stranger, FIND);
    let noted: Vec<_> = server.notes.iter().map(|note| (note.connection, note.player, note.room)).collect();
    let id = room.id;
    let (a, b, c) =
        ((host, Some(host_is), Some(id)), (rude, Some(rude_is), Some(id)), (other, Some(other_is), Some(id)));
    assert_eq!(noted, [a, b, c, b, b, a, c, c, (stranger, None, None)]);
    let what: Vec<_> = server.notes.iter().map(|note| &note.happening).collect();
    let seated = |created| AuditEvent::Joined { created, returned: false };
    assert_eq!(what[..3], [&seated(true), &seated(false), &seated(false)]);
    assert!(matches!(what[3], AuditEvent::Rejected(refusal) if refusal.code == RejectionCode::NotHost));
    assert_eq!(what[4], &AuditEvent::Left(LeaveReason::Kicked));
    assert_eq!(what[5], &AuditEvent::Left(LeaveReason::Left));
    assert_eq!(what[6..8], [&AuditEvent::BecameHost, &AuditEvent::Away]);
    assert!(matches!(what[8], AuditEvent::Rejected(refusal) if refusal.code == RejectionCode::OutOfOrder));
}

#[test]
fn host_role_can_pass_to_player_but_not_spectator() {
    let mut server = Server::new();
    let host = server.player(1);
    let other = server.player(2);
    let watcher = server.guest(3);
    let room = server.room_of(host);
    let watching =
        seat(&server.say(watcher, &format!(r#"{{"type":"join","code":"{}","watch":true}}"#, room.code)));
    let to = |peer| format!(r#"{{"type":"host","peer":"{peer}"}}"#);
    assert_eq!(code(&server.say(host, &to(watching.peer))), RejectionCode::NoSuchMember);
    server.say(host, &to(room.members[1].peer));
    assert_eq!(server.room_of(other).host, room.members[1].peer);
    assert_eq!(code(&server.say(host, &to(room.members[0].peer))), RejectionCode::NotHost);
}

#[test]
fn settings_are_uninterpreted_and_reach_all_members() {
    let mut server = Server::new();
    let host = server.player(1);
    let other = server.player(2);
    server.say(host, r#"{"type":"settings","settings":{"lava": true, "waves":[1,2.5e3]}}"#);
    assert_eq!(server.room_of(other).settings.as_str(), r#"{"lava":true,"waves":[1,2.5e3]}"#);
    assert_eq!(code(&server.say(host, r#"{"type":"settings","settings":[1]}"#)), RejectionCode::BadSettings);
    let large = format!(r#"{{"type":"settings","settings":{{"a":"{}"}}}}"#, "x".repeat(5_000));
    assert_eq!(code(&server.say(host, &large)), RejectionCode::BadSettings);
}

#[test]
fn no_two_players_have_same_color() {
    let mut server = Server::new();
    let wish = r#"{"type":"find","game":"gander","mode":"team","palette":2}"#;
    let palettes: Vec<u8> = (0..3)
        .map(|number| {
            let guest = server.guest(number);
            let seat = seat(&server.say(guest, wish));
            seat.room.member(seat.peer).unwrap().palette
        })
        .collect();
    assert_eq!(palettes, [2, 0, 1]);
}

#[test]
fn new_name_is_seen_by_all() {
    let mut server = Server::new();
    let first = server.player(1);
    let second = server.player(2);
    server.hear(second);
    server.say(first, r#"{"type":"profile","name":"Nia","palette":3}"#);
    assert_eq!(event_kinds(&server.hear(second)), ["profile"]);
    let room = server.room_of(second);
    assert_eq!((room.members[0].name.as_str(), room.members[0].palette), ("Nia", 3));
    let refused = refusal(&server.say(first, r#"{"type":"profile","name":"a\u202eb"}"#));
    assert_eq!(
        (refused.code, refused.text.as_str()),
        (RejectionCode::BadName, "a name cannot contain U+202E")
    );
}

#[test]
fn rooms_have_two_to_sixty_four_slots() {
    let mut server = Server::new();
    let create = |seats: u32| format!(r#"{{"type":"create","game":"skein","seats":{seats},"drop_in":true}}"#);
    let host = server.guest(1_000);
    for seats in [0, 1, 65, 255] {
        assert_eq!(code(&server.say(host, &create(seats))), RejectionCode::BadSettings, "{seats}");
    }
    let made = seat(&server.say(host, &create(64)));
    for number in 0..63 {
        let guest = server.guest(number);
        seat(&server.say(guest, &join(made.room.code)));
    }
    assert_eq!(event_kinds(&server.hear(host)).len(), 63);
    let late = server.guest(2_000);
    assert_eq!(code(&server.say(late, &join(made.room.code))), RejectionCode::RoomFull);
    assert_eq!(server.room_of(host).players().count(), 64);
}

#[test]
fn unlisted_games_are_rejected_if_there_is_list() {
    let mut rules = Rules { unlisted_games: None, ..Rules::default() };
    let modes = [("team", 4), ("duel", 2)].map(|(name, seats)| {
        (
            name.parse().unwrap(),
            ModeConfig {
                players_min: seats,
                players_max: seats,
                players_default: seats,
                ..ModeConfig::default()
            },
        )
    });
    rules.games.entry("gander".parse().unwrap()).or_default().modes = modes.into();
    let mut server = Server::with_rules(rules);
    let guest = server.guest(1);
    for refused in [
        r#"{"type":"find","game":"drake"}"#,
        r#"{"type":"find","game":"gander"}"#,
        r#"{"type":"find","game":"gander","mode":"chaos"}"#,
        r#"{"type":"find"}"#,
    ] {
        assert_eq!(code(&server.say(guest, refused)), RejectionCode::BadGame, "{refused}");
    }
    let duel = seat(&server.say(guest, r#"{"type":"find","game":"gander","mode":"duel"}"#));
    assert_eq!(duel.room.max_players, 2);
}

const FIND_FOR_TWO: &str = r#"{"type":"find","game":"gander","mode":"team","players":2}"#;

#[test]
fn local_players_get_slot_each_or_other_room() {
    let mut server = Server::new();
    let couch = |server: &mut Server, number| {
        let connection = server.guest(number);
        (connection, seat(&server.say(connection, FIND_FOR_TWO)))
    };
    let (first, made) = couch(&mut server, 1);
    let (_, found) = couch(&mut server, 2);
    assert_eq!(found.room.id, made.room.id);
    let slots = |room: &RoomView| room.players().map(|member| member.slots().bits()).collect::<Vec<_>>();
    assert_eq!(slots(&found.room), [0b0011, 0b1100]);
    assert_eq!((found.slot, found.room.free_slots()), (Some(Slot::at(2)), 0));
    let looker = server.guest(9);
    let listed = server.say(looker, r#"{"type":"list","game":"gander","all":true}"#);
    let ServerMessage::Rooms(list) = &listed[0] else { panic!("{listed:?}") };
    assert_eq!((list.rooms[0].players, list.rooms[0].max_players, list.rooms[0].open), (4, 4, false));
    assert_eq!(code(&server.say(looker, &join(made.room.code))), RejectionCode::RoomFull);
    let third = server.player(3);
    assert_ne!(server.room_of(third).id, made.room.id);
    // One slot is not enough for two, but for one.
    server.say(first, LEAVE);
    let fourth = server.guest(4);
    seat(&server.say(fourth, &join(made.room.code)));
    let (_, fifth) = couch(&mut server, 5);
    assert_eq!(fifth.room.id, server.room_of(third).id);
    let sixth = server.guest(6);
    let for_two = join(made.room.code).replace('}', r#","players":2}"#);
    assert_eq!(code(&server.say(sixth, &for_two)), RejectionCode::RoomFull);
    assert_eq!(seat(&server.say(sixth, &join(made.room.code))).room.free_slots(), 0);
}

#[test]
fn no_room_too_small_for_local_players_is_created() {
    let mut server = Server::new();
    let crowd = server.guest(1);
    for text in [FIND_FOR_TWO, CREATE] {
        let text = text.replace(",\"players\":2", "").replace('}', r#","players":3,"seats":2}"#);
        assert_eq!(code(&server.say(crowd, &text)), RejectionCode::RoomFull, "{text}");
    }
    let text = FIND_FOR_TWO.replace("\"players\":2", "\"players\":9");
    assert_eq!(code(&server.say(crowd, &text)), RejectionCode::BadMessage);
    assert_eq!(server.directory.rooms().count(), 0);
}

#[test]
fn joiner_gets_longest_free_slot_and_returner_its_own() {
    let mut server = Server::new();
    let players: Vec<_> = (0..4).map(|number| server.player(number)).collect();
    let door = server.room_of(players[0]).code;
    let come = |server: &mut Server, number: u32| {
        let connection = server.guest(number);
        (connection, seat(&server.say(connection, &join(door))).slot.map(|slot| slot.number()))
    };
    for left in [2, 1] {
        server.wait_secs(1);
        server.say(players[left], LEAVE);
        server.close(players[left]);
    }
    let (stranger, slot) = come(&mut server, 10);
    assert_eq!(slot, Some(2), "freed before the lower one");
    assert_eq!(come(&mut server, 1).1, Some(1));
    server.say(stranger, LEAVE);
    assert_eq!(come(&mut server, 2).1, Some(2));

    // An unused slot is better than any.
    let mut server = Server::new();
    let players: Vec<_> = (0..3).map(|number| server.player(number)).collect();
    server.say(players[0], LEAVE);
    let stranger = server.player(10);
    let room = server.room_of(stranger);
    assert_eq!(room.occupied_slots().bits(), 0b1110);
}

#[test]
fn among_unused_slots_joiner_gets_preferred_color() {
    let mut server = Server::new();
    let likes = |text: &str, palette: u8| text.replace('}', &format!(r#","palette":{palette}}}"#));
    let host = server.guest(0);
    assert_eq!(seat(&server.say(host, &likes(CREATE, 2))).slot.map(Slot::number), Some(2));
    let door = server.room_of(host).code;
    let come = |server: &mut Server, number: u32, palette: u8| {
        let connection = server.guest(number);
        let heard = server.say(connection, &likes(&join(door), palette));
        (connection, seat(&heard).slot.map(Slot::number))
    };
    assert_eq!(come(&mut server, 1, 2).1, Some(0), "that one is taken");
    let (third, slot) = come(&mut server, 2, 3);
    assert_eq!(slot, Some(3));
    // A freed slot is not preferred for its color: its state belongs to its last player.
    server.wait_secs(1);
    server.say(third, LEAVE);
    server.close(third);
    assert_eq!(come(&mut server, 4, 3).1, Some(1));
    assert_eq!(come(&mut server, 2, 0).1, Some(3), "and the own slot is kept");
}

#[test]
fn finished_room_is_closed_after_while() {
    let mut server = Server::new();
    let host = server.player(1);
    server.say(host, r#"{"type":"finish"}"#);
    for _ in 0..31 {
        server.wait_secs(10);
        server.say(host, r#"{"type":"touch"}"#);
    }
    assert_eq!(server.directory.rooms().count(), 0);
}

#[test]
fn silent_member_is_removed() {
    let mut server = Server::new();
    let silent = server.player(1);
    let alive = server.player(2);
    for _ in 0..40 {
        server.wait_secs(10);
        server.say(alive, r#"{"type":"touch"}"#);
        // The socket is alive and answers pings; the client behind it is not.
        server.pong(silent);
    }
    let heard = server.hear(silent);
    assert!(
        matches!(heard.last(), Some(ServerMessage::Removed(left)) if left.reason == LeaveReason::IdleTimeout),
        "{heard:?}"
    );
    assert_eq!(server.room_of(alive).players().count(), 1);
}

#[test]
fn list_of_open_rooms_follows_changes() {
    let mut server = Server::new();
    let host = server.gathered(1..2)[0];
    let room = server.room_of(host);
    let watcher = server.guest(2);
    let heard = server.say(watcher, r#"{"type":"list","game":"gander"}"#);
    let ServerMessage::Rooms(rooms) = &heard[0] else { panic!("{heard:?}") };
    assert!(rooms.whole && rooms.rooms.len() == 1);
    assert_eq!((rooms.rooms[0].code, rooms.rooms[0].players), (room.code, 1));
    assert_eq!(rooms.rooms[0].host.as_str(), "Guest 1");
    // A player joins: one update, a moment later.
    let other = server.guest(3);
    seat(&server.say(other, &join(room.code)));
    server.wait_secs(1);
    let heard = server.hear(watcher);
    let [ServerMessage::Rooms(change)] = &heard[..] else { panic!("{heard:?}") };
    assert!(!change.whole && change.rooms[0].players == 2);
    // Private: removed from the list.
    server.say(host, r#"{"type":"access","private":true}"#);
    server.wait_secs(1);
    let heard = server.hear(watcher);
    assert!(matches!(&heard[..], [ServerMessage::Rooms(change)] if change.gone == [room.id]), "{heard:?}");
    // No change, no update; and none after `unlist`.
    server.wait_secs(5);
    assert!(server.hear(watcher).is_empty());
    server.say(watcher, r#"{"type":"unlist"}"#);
    server.say(host, r#"{"type":"access","private":false}"#);
    server.wait_secs(1);
    assert!(server.hear(watcher).is_empty());
    server.say(other, LEAVE);
}

#[test]
fn full_rooms_are_listed_for_spectators() {
    let mut server = Server::new();
    for number in 0..4 {
        server.player(number);
    }
    let watcher = server.guest(9);
    let list = |server: &mut Server, text: &str| match &server.say(watcher, text)[..] {
        [ServerMessage::Rooms(rooms)] => rooms.rooms.iter().map(|room| room.open).collect::<Vec<bool>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(list(&mut server, r#"{"type":"list","game":"gander"}"#), []);
    assert_eq!(list(&mut server, r#"{"type":"list","game":"gander","all":true}"#), [false]);
}

#[test]
fn new_client_plays_after_two_lines_of_json() {
    let mut server = Server::new();
    let guest = server.connect();
    let welcome = crate::server::welcome(&server.say(guest, r#"{"type":"hello"}"#));
    assert!(welcome.key.is_some_and(|key| key.len() >= 16));
    assert!(welcome.name.as_str().starts_with("Goose "));
    assert!(seat(&server.say(guest, FIND)).created);
}

fn seat_ticket(server: &mut Server, connection: gaggle_lobby::node::ConnectionId) -> String {
    match &server.say(connection, r#"{"type":"ticket"}"#)[..] {
        [.., ServerMessage::TicketRenewed(new)] => new.ticket.clone(),
        other => panic!("{other:?}"),
    }
}
