//! Identity of clients: keys, devices, reloads, crashes, take-overs, tickets, tokens.

use gaggle_kit::Micros;
use gaggle_lobby::message::server::MembershipState;
use gaggle_lobby::node::{ConnectionId, Identity};
use gaggle_lobby::rules::{Limits, Rules};
use gaggle_lobby::view::{LeaveReason, RoomUpdate, RoomView};
use gaggle_lobby::{Rejection, RejectionCode, ServerMessage};

use crate::server::{
    CREATE, FIND, LEAVE, STEP_OUT, Server, code, event_kinds, events, hello, join, refusal, seat, welcome,
};
use crate::signals_and_results::peer;

#[test]
fn reloaded_page_resumes_its_slot_at_once() {
    let mut server = Server::new();
    let other = server.player(1);
    let page = server.player(2);
    let before = seat_of(&mut server, page);
    server.hear(other);
    server.close(page);
    let again = server.connect();
    let heard = server.say(again, &hello(2));
    assert_eq!(welcome(&heard).seat, MembershipState::Yours);
    let seat = seat(&heard);
    assert!(seat.returned && !seat.created);
    assert_eq!((seat.peer, seat.slot, seat.room.id), before);
    assert_eq!(event_kinds(&server.hear(other)), ["away", "returned"]);
}

#[test]
fn reloaded_page_gets_its_own_slot_not_lowest() {
    let mut server = Server::new();
    let first = server.player(1);
    let other = server.player(2);
    let page = server.player(3);
    let before = seat_of(&mut server, page);
    server.say(first, LEAVE);
    server.hear(other);
    let heard = server.say(page, STEP_OUT);
    assert!(matches!(&heard[..], [.., ServerMessage::Removed(_), ServerMessage::Done(_)]), "{heard:?}");
    assert!(matches!(&events(&server.hear(other))[..], [RoomUpdate::Away(away)] if away.intentional));
    // Its socket may outlive the page a little, while others join.
    let third = server.player(4);
    assert_ne!(seat_of(&mut server, third).1, before.1);
    server.wait_secs(5);
    let again = server.connect();
    let heard = server.say(again, &hello(3));
    assert!(seat(&heard).returned);
    assert_eq!(seat_of(&mut server, again), before);
    server.close(page);
    assert_eq!(seat_of(&mut server, again), before);
    server.wait_secs(20);
    assert_eq!(server.room_of(other).players().count(), 3);
}

#[test]
fn closed_page_keeps_hidden_slot_for_moment() {
    let mut server = Server::new();
    let (page, other) = (server.player(1), server.player(2));
    server.hear(other);
    server.say(page, STEP_OUT);
    server.close(page);
    let looker = server.guest(9);
    let listed = server.say(looker, r#"{"type":"list","game":"gander"}"#);
    assert!(matches!(&listed[..], [ServerMessage::Rooms(list)] if list.rooms[0].players == 1), "{listed:?}");
    server.wait_secs(9);
    assert_eq!(server.room_of(other).players().count(), 2);
    server.hear(other);
    server.wait_secs(2);
    let told = events(&server.hear(other));
    assert!(
        matches!(&told[..], [RoomUpdate::Left(left), ..] if left.reason == LeaveReason::Left),
        "{told:?}"
    );
    assert_eq!(server.room_of(other).players().count(), 1);
}

#[test]
fn room_of_reloading_page_stays_but_is_not_found() {
    let mut server = Server::new();
    let page = server.player(1);
    let room = server.room_of(page).id;
    server.say(page, STEP_OUT);
    server.close(page);
    let stranger = server.player(2);
    assert_ne!(server.room_of(stranger).id, room);
    let again = server.connect();
    assert_eq!(seat(&server.say(again, &hello(1))).room.id, room);
    // It is closed if the page does not return.
    server.say(again, STEP_OUT);
    server.close(again);
    server.wait_secs(11);
    assert_eq!(server.directory.rooms().count(), 1);
}

#[test]
fn player_who_left_and_plays_elsewhere_does_not_return() {
    let mut server = Server::new();
    let (page, other) = (server.player(1), server.player(2));
    let room = server.room_of(other).id;
    server.say(page, STEP_OUT);
    assert_eq!(code(&server.say(page, STEP_OUT)), RejectionCode::NotInRoom);
    assert_ne!(seat(&server.say(page, CREATE)).room.id, room);
    assert_eq!(server.room_of(other).members.len(), 1);
    // A spectator has no reservation to keep.
    let watcher = server.guest(3);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, server.room_of(other).code);
    seat(&server.say(watcher, &watch));
    server.say(watcher, STEP_OUT);
    assert_eq!(server.room_of(other).members.len(), 1);
}

#[test]
fn two_local_players_return_to_restarted_server_with_two_slots() {
    let mut server = Server::new();
    let page = server.guest(1);
    let for_two = r#"{"type":"find","game":"gander","mode":"team","players":2}"#;
    server.player(9);
    let before = seat(&server.say(page, for_two));
    let mut server = Server::new();
    let again = server.connect();
    let back =
        seat(&server.say(again, &hello(1).replace('}', &format!(r#","ticket":"{}"}}"#, before.ticket))));
    let slots = |room: &RoomView| room.members.iter().map(|member| member.slots().bits()).collect::<Vec<_>>();
    assert_eq!((back.room.id, back.slot), (before.room.id, before.slot));
    assert_eq!(slots(&back.room), [0b0110]);
    let stranger = server.guest(2);
    let watch = format!(r#"{{"type":"join","code":"{}"}}"#, back.room.code);
    assert_eq!(seat(&server.say(stranger, &watch)).room.free_slots(), 1);
}

#[test]
fn crashed_page_resumes_once_old_connection_is_dead() {
    let mut server = Server::new();
    let page = server.player(1);
    let before = seat_of(&mut server, page);
    // The server does not know yet that the page is gone.
    let again = server.connect();
    assert!(server.say(again, &hello(1)).is_empty());
    assert_eq!(server.pings, [page]);
    server.wait_secs(2);
    let heard = server.hear(again);
    assert_eq!(welcome(&heard).seat, MembershipState::Yours);
    assert_eq!(seat_of(&mut server, again), before);
    assert_eq!(server.closed(page), Some(RejectionCode::Replaced));
}

#[test]
fn duplicated_tab_is_asked_before_it_takes_over() {
    let mut server = Server::new();
    let tab = server.player(1);
    let before = seat_of(&mut server, tab);
    let copy = server.connect();
    server.say(copy, &hello(1));
    server.pong(tab);
    let greeting = welcome(&server.hear(copy));
    assert_eq!(greeting.seat, MembershipState::Elsewhere);
    assert_eq!(greeting.code, Some(server.room_of(tab).code));
    for busy in [FIND, r#"{"type":"create","game":"gander"}"#, r#"{"type":"join","code":"BCDFGH"}"#, LEAVE] {
        assert_eq!(code(&server.say(copy, busy)), RejectionCode::AlreadyPlaying, "{busy}");
    }
    let heard = server.say(copy, r#"{"type":"take_over"}"#);
    assert!(seat(&heard).returned);
    assert_eq!(seat_of(&mut server, copy), before);
    let heard = server.hear(tab);
    assert!(
        matches!(heard.last(), Some(ServerMessage::Closing(bye)) if bye.code == RejectionCode::Replaced && !bye.reconnect)
    );
    assert_eq!(server.closed(tab), Some(RejectionCode::Replaced));
}

#[test]
fn duplicated_tab_plays_once_other_is_closed() {
    let mut server = Server::new();
    let tab = server.guest(1);
    let copy = server.connect();
    server.say(copy, &hello(1));
    server.pong(tab);
    assert_eq!(welcome(&server.hear(copy)).seat, MembershipState::Elsewhere);
    server.close(tab);
    assert!(seat(&server.say(copy, FIND)).created);
    // A device without a room can be taken over, too.
    let third = server.connect();
    server.say(third, &hello(2));
    let fourth = server.connect();
    server.say(fourth, &hello(2));
    server.pong(third);
    server.hear(fourth);
    assert!(matches!(server.say(fourth, r#"{"type":"take_over"}"#)[..], [ServerMessage::Done(_)]));
    assert_eq!(server.closed(third), Some(RejectionCode::Replaced));
}

#[test]
fn take_over_without_other_connection_is_rejected() {
    let mut server = Server::new();
    let alone = server.guest(1);
    assert_eq!(code(&server.say(alone, r#"{"type":"take_over"}"#)), RejectionCode::NotInRoom);
    // Also for a client with a reservation of its own.
    let before = seat(&server.say(alone, FIND)).room.id;
    assert_eq!(code(&server.say(alone, r#"{"type":"take_over"}"#)), RejectionCode::NotInRoom);
    assert_eq!(server.room_of(alone).id, before);
}

#[test]
fn resumed_client_without_name_keeps_its_name() {
    let mut server = Server::new();
    let page = server.connect();
    let named = r#"{"type":"hello","key":"key-of-guest-number-2","name":"Nia"}"#;
    let token = welcome(&server.say(page, named)).resume;
    server.say(page, FIND);
    let resume =
        |token: &str| format!(r#"{{"type":"hello","key":"key-of-guest-number-2","resume":"{token}"}}"#);
    let own_name = |server: &mut Server, page| {
        let room = server.room_of(page);
        room.players().next().map(|member| member.name.to_string())
    };
    // While the server still has the older connection, and after it was lost.
    let again = server.connect();
    let greeting = welcome(&server.say(again, &resume(&token)));
    assert_eq!((greeting.name.as_str(), own_name(&mut server, again).as_deref()), ("Nia", Some("Nia")));
    server.close(again);
    let third = server.connect();
    let greeting = welcome(&server.say(third, &resume(&greeting.resume)));
    assert_eq!((greeting.name.as_str(), own_name(&mut server, third).as_deref()), ("Nia", Some("Nia")));
    // A new name changes in both records or in none.
    server.say(third, r#"{"type":"profile","name":"Nia the Bold"}"#);
    server.close(third);
    let fourth = server.connect();
    let greeting = welcome(&server.say(fourth, &resume(&greeting.resume)));
    assert_eq!(own_name(&mut server, fourth).as_deref(), Some(greeting.name.as_str()));
    assert_eq!(greeting.name.as_str(), "Nia the Bold");
}

#[test]
fn two_tabs_of_one_browser_are_two_peers_of_one_player() {
    let mut server = Server::new();
    let mut tab = |seat: &str| {
        let connection = server.connect();
        let hello = format!(r#"{{"type":"hello","key":"key-of-one-person","seat":"{seat}"}}"#);
        let welcome = welcome(&server.say(connection, &hello));
        server.say(connection, FIND);
        (connection, welcome)
    };
    let (first, first_welcome) = tab("tab-1");
    let (_, second_welcome) = tab("tab-2");
    assert_eq!(first_welcome.player, second_welcome.player);
    assert_ne!(first_welcome.peer, second_welcome.peer);
    assert_eq!(server.room_of(first).players().count(), 2);
}

#[test]
fn rooms_per_player_are_limited() {
    let mut server = Server::new();
    for tab in 0..9 {
        let connection = server.connect();
        server
            .say(connection, &format!(r#"{{"type":"hello","key":"key-of-one-person","seat":"tab-{tab}"}}"#));
        let heard = server.say(connection, FIND);
        if tab < 8 {
            seat(&heard);
        } else {
            assert_eq!(code(&heard), RejectionCode::TooMany);
        }
    }
}

#[test]
fn resuming_client_returns_unnoticed_by_members() {
    let mut server = Server::new();
    let other = server.player(1);
    let phone = server.connect();
    let token = welcome(&server.say(phone, &hello(2))).resume;
    server.say(phone, FIND);
    server.hear(other);
    // The client changed networks: the old socket is dead, the server does not know yet.
    let again = server.connect();
    let resume = format!(r#"{{"type":"hello","key":"key-of-guest-number-2","resume":"{token}"}}"#);
    let greeting = welcome(&server.say(again, &resume));
    assert!(greeting.resumed);
    assert_eq!(greeting.seat, MembershipState::Yours);
    assert!(server.hear(other).is_empty());
    assert_eq!(server.closed(phone), Some(RejectionCode::Replaced));
    // Only the last resume token is valid.
    let forged = server.connect();
    let heard = server.say(forged, &resume);
    assert!(heard.is_empty(), "it is probed like any client with the key: {heard:?}");
}

#[test]
fn client_without_key_gets_no_reservation() {
    let mut server = Server::new();
    let owner = server.player(1);
    let room = server.room_of(owner);
    let thief = server.guest(666);
    for attempt in [r#"{"type":"take_over"}"#, LEAVE, r#"{"type":"look"}"#, r#"{"type":"ticket"}"#] {
        server.say(thief, attempt);
    }
    let ticket = ticket_of(&mut server, owner);
    let with_ticket = server.connect();
    let stolen = format!(r#"{{"type":"hello","key":"key-of-guest-number-666","ticket":"{ticket}"}}"#);
    // The attacker is connected already: its connection must be found dead first.
    server.close(thief);
    let heard = server.say(with_ticket, &stolen);
    let refused = heard.iter().find_map(|message| match message {
        ServerMessage::Refused(refused) => Some((refused.code, refused.text.clone())),
        _ => None,
    });
    assert_eq!(refused, Some((RejectionCode::BadTicket, "the ticket belongs to another player".into())));
    assert!(
        heard
            .iter()
            .any(|message| matches!(message, ServerMessage::Welcome(w) if w.seat == MembershipState::None))
    );
    assert_eq!(server.room_of(owner).members, room.members);
}

#[test]
fn altered_or_expired_ticket_is_reported_and_restores_nothing() {
    let mut server = Server::new();
    let player = server.player(1);
    let ticket = ticket_of(&mut server, player);
    server.say(player, LEAVE);
    server.close(player);
    let flipped = if ticket.starts_with('A') {
        ticket.replacen('A', "B", 1)
    } else {
        ticket.replacen(&ticket[..1], "A", 1)
    };
    let try_ticket = |server: &mut Server, ticket: &str| {
        let connection = server.connect();
        let hello = format!(r#"{{"type":"hello","key":"key-of-guest-number-1","ticket":"{ticket}"}}"#);
        let heard = server.say(connection, &hello);
        server.close(connection);
        match &heard[0] {
            ServerMessage::Refused(refused) => format!("{}: {}", refused.code, refused.text),
            other => format!("{other:?}").chars().take(7).collect(),
        }
    };
    assert!(try_ticket(&mut server, &flipped).starts_with("bad-ticket"));
    assert!(try_ticket(&mut server, "nonsense").starts_with("bad-ticket"));
    // The valid one restores the room on a server that lost it.
    let mut server = server.restarted();
    assert_eq!(try_ticket(&mut server, &ticket), "Welcome");
    server.wait(Micros::from_secs(7_200));
    assert!(try_ticket(&mut server, &ticket).contains("expired"));
}

#[test]
fn external_token_names_same_player_everywhere() {
    let mut server = Server::new();
    let mut login = |subject: &str| {
        let connection = server.connect();
        assert!(server.say(connection, r#"{"type":"hello","token":"a.b.c"}"#).is_empty());
        // Sent before the token is checked: it waits.
        assert!(server.say(connection, FIND).is_empty());
        let identity = Identity {
            issuer: "https://id.example".into(),
            subject: subject.into(),
            name: Some("Nia".into()),
        };
        server.verified(connection, Ok(identity));
        let heard = server.hear(connection);
        seat(&heard);
        let welcome = welcome(&heard);
        server.say(connection, LEAVE);
        server.close(connection);
        (welcome.player, welcome.name.to_string())
    };
    let first = login("alice");
    assert_eq!(first.1, "Nia");
    assert_eq!(login("alice"), first);
    assert_ne!(login("bob").0, first.0);
}

#[test]
fn bad_token_is_rejected_and_another_hello_may_follow() {
    let mut server = Server::new();
    let connection = server.connect();
    server.say(connection, r#"{"type":"hello","token":"a.b.c"}"#);
    server.verified(connection, Err(Rejection::new(RejectionCode::BadToken, "the token has expired")));
    assert_eq!(code(&server.hear(connection)), RejectionCode::BadToken);
    assert_eq!(welcome(&server.say(connection, &hello(1))).seat, MembershipState::None);
}

#[test]
fn hello_must_be_first_single_and_well_formed() {
    let mut server = Server::new();
    let connection = server.connect();
    assert_eq!(code(&server.say(connection, FIND)), RejectionCode::OutOfOrder);
    for (bad, why) in [
        (r#"{"type":"hello","version":2}"#, RejectionCode::BadVersion),
        (r#"{"type":"hello","key":"short"}"#, RejectionCode::BadKey),
        (r#"{"type":"hello","key":"spaces are not allowed"}"#, RejectionCode::BadKey),
        (r#"{"type":"hello","seat":"a/b"}"#, RejectionCode::BadKey),
        (r#"{"type":"hello","name":""}"#, RejectionCode::BadName),
        (r#"{"type":"hello","name":"a\u0000b"}"#, RejectionCode::BadName),
        (r#"{"type":"hello","name":7}"#, RejectionCode::BadMessage),
    ] {
        assert_eq!(code(&server.say(connection, bad)), why, "{bad}");
    }
    welcome(&server.say(connection, &hello(1)));
    assert_eq!(code(&server.say(connection, &hello(1))), RejectionCode::OutOfOrder);
}

#[test]
fn silent_connection_is_closed() {
    let mut server = Server::new();
    let lurker = server.connect();
    server.wait_secs(11);
    assert_eq!(server.closed(lurker), Some(RejectionCode::Silent));
    let guest = server.guest(1);
    server.wait_secs(26);
    assert_eq!(server.pings, [guest]);
    server.pong(guest);
    server.wait_secs(26);
    assert_eq!(server.closed(guest), None);
    server.wait_secs(20);
    assert_eq!(server.closed(guest), Some(RejectionCode::Silent));
}

#[test]
fn rate_limited_request_is_rejected_with_retry_time() {
    let mut server = Server::with_rules(Rules::default());
    let guest = server.guest(1);
    for _ in 0..5 {
        seat(&server.say(guest, FIND));
        server.say(guest, LEAVE);
    }
    let refused = refusal(&server.say(guest, FIND));
    assert_eq!(refused.code, RejectionCode::TooFast);
    let wait = refused.retry_ms.expect("a retry time");
    assert!((1..=2_001).contains(&wait), "{wait}");
    // Another connection of the same player shares the limit.
    server.close(guest);
    let again = server.guest(1);
    assert_eq!(code(&server.say(again, FIND)), RejectionCode::TooFast);
    server.wait(Micros::from_millis(wait));
    seat(&server.say(again, FIND));
}

#[test]
fn client_that_keeps_sending_nonsense_is_closed() {
    let mut server = Server::new();
    let guest = server.guest(1);
    let bystander = server.player(2);
    let mut refused = 0;
    while server.closed(guest).is_none() {
        server.say(guest, "{\"type\":\"find\",");
        refused += 1;
        assert!(refused < 50, "never closed");
    }
    assert_eq!(refused, 21);
    assert_eq!(server.closed(bystander), None);
    assert_eq!(server.room_of(bystander).players().count(), 1);
}

#[test]
fn one_guest_cannot_create_thousand_rooms() {
    let mut server = Server::with_rules(Rules { connections_per_address_max: 2_000, ..Rules::default() });
    let mut made = 0;
    for number in 0..1_000 {
        let connection = server.connect_from("10.9.9.9");
        if server.closed(connection).is_some() {
            continue;
        }
        server.say(connection, &hello(number));
        // A different mode each time, so that no room can be shared.
        let find = format!(r#"{{"type":"find","game":"gander","mode":"m{number}"}}"#);
        let heard = server.say(connection, &find);
        made += usize::from(matches!(heard.first(), Some(ServerMessage::JoinedRoom(_))));
    }
    assert!((50..=70).contains(&made), "{made}");
    // Another client is not affected.
    let other = server.guest(5_000);
    seat(&server.say(other, FIND));
}

#[test]
fn excess_connections_per_address_are_rejected() {
    let mut server = Server::with_rules(Rules {
        limits: Limits::unlimited(),
        connections_per_address_max: 3,
        ..Rules::default()
    });
    let connections: Vec<_> = (0..4).map(|_| server.connect_from("10.0.0.1")).collect();
    assert_eq!(server.closed(connections[2]), None);
    assert_eq!(server.closed(connections[3]), Some(RejectionCode::TooMany));
    assert!(matches!(&server.hear(connections[3])[..], [ServerMessage::Closing(bye)] if bye.reconnect));
    let elsewhere = server.connect_from("10.0.0.2");
    assert_eq!(server.closed(elsewhere), None);
    server.close(connections[0]);
    let again = server.connect_from("10.0.0.1");
    assert_eq!(server.closed(again), None);
}

#[test]
fn draining_server_says_so_and_admits_no_client() {
    let mut server = Server::new();
    let player = server.player(1);
    let guest = server.guest(2);
    server.drain_connections(3_000);
    assert!(
        matches!(&server.hear(player)[..], [ServerMessage::Draining(drain)] if drain.reconnect_ms == 3_000)
    );
    assert_eq!(code(&server.say(guest, FIND)), RejectionCode::Draining);
    let late = server.connect();
    assert_eq!(server.closed(late), Some(RejectionCode::Draining));
    // Players can still send messages.
    assert!(matches!(server.say(player, LEAVE)[..], [ServerMessage::Removed(_), ServerMessage::Done(_)]));
}

#[test]
fn leaving_while_away_ends_with_room_closed() {
    let mut server = Server::new();
    let first = server.player(1);
    let second = server.player(2);
    server.close(first);
    server.close(second);
    server.wait_secs(61);
    assert_eq!(server.directory.rooms().count(), 0);
    let again = server.guest(1);
    assert_eq!(code(&server.say(again, r#"{"type":"look"}"#)), RejectionCode::NotInRoom);
}

fn seat_of(
    server: &mut Server,
    connection: ConnectionId,
) -> (gaggle_kit::PeerId, Option<gaggle_kit::Slot>, gaggle_lobby::RoomId) {
    let room = server.room_of(connection);
    let (peer, _) = server.node.peer_of(connection).expect("it is identified");
    (peer, room.member(peer).expect("it is in its room").slot, room.id)
}

fn ticket_of(server: &mut Server, connection: ConnectionId) -> String {
    match &server.say(connection, r#"{"type":"ticket"}"#)[..] {
        [.., ServerMessage::TicketRenewed(new)] => new.ticket.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn equal_names_in_room_get_numbers() {
    let mut server = Server::new();
    let host = server.guest(0);
    let made = seat(&server.say(host, &CREATE.replace('}', r#","drop_in":true}"#)));
    let rename = |name: &str| format!(r#"{{"type":"profile","name":"{name}"}}"#);
    let (long, shortened) = ("x".repeat(24), format!("{} 2", "x".repeat(22)));
    let name = |server: &mut Server, connection| {
        let own = peer(server, connection);
        server
            .room_of(host)
            .members
            .iter()
            .find(|member| member.peer.to_string() == own)
            .unwrap()
            .name
            .to_string()
    };
    // In either case, for spectators too, by joining and by renaming. No letters of these look
    // alike.
    for (number, wished, shown) in [(1, "Eva", "Eva"), (2, "eva", "eva 2"), (3, "EVA", "EVA 3")] {
        let member = server.connect();
        server.say(member, &hello(number).replace(&format!("Guest {number}"), wished));
        let watch = if number == 3 { r#","watch":true}"# } else { "}" };
        seat(&server.say(member, &join(made.room.code).replace('}', watch)));
        assert_eq!(name(&mut server, member), shown);
        server.say(member, &rename(wished));
        assert_eq!(name(&mut server, member), shown, "it keeps its name");
    }
    server.say(host, &rename("Eva"));
    assert_eq!(name(&mut server, host), "Eva 4");
    let other = server.player(4);
    for (member, shown) in [(other, &long), (host, &shortened)] {
        server.say(member, &rename(&long));
        assert_eq!(name(&mut server, member), *shown);
    }
}

#[test]
fn every_device_of_guest_has_own_stable_name() {
    let name = |server: &mut Server, seat: &str| {
        let tab = server.connect();
        let hello = format!(r#"{{"type":"hello","key":"a-secret-of-some-length","seat":"{seat}"}}"#);
        welcome(&server.say(tab, &hello)).name.as_str().to_string()
    };
    let mut server = Server::new();
    let [first, second] = ["one", "two"].map(|seat| name(&mut server, seat));
    let again = name(&mut Server::new(), "one");
    assert!(first.starts_with("Goose ") && second.starts_with("Goose "), "{first}, {second}");
    assert_ne!(first, second);
    assert_eq!(first, again);
}
