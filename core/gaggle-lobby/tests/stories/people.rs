//! Stories about who somebody is: keys, tabs, reloads, crashes, take-overs, tickets, tokens.

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
fn a_reloaded_page_has_its_seat_again_at_once() {
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
fn a_page_that_is_loaded_again_has_its_own_seat_and_not_the_lowest() {
    let mut server = Server::new();
    let first = server.player(1);
    let other = server.player(2);
    let page = server.player(3);
    let before = seat_of(&mut server, page);
    server.say(first, LEAVE);
    server.hear(other);
    let heard = server.say(page, STEP_OUT);
    assert!(matches!(&heard[..], [.., ServerMessage::Removed(_), ServerMessage::Done(_)]), "{heard:?}");
    assert!(matches!(&events(&server.hear(other))[..], [RoomUpdate::Away(away)] if away.left));
    // Its socket may live a little longer than the page, and others come meanwhile.
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
fn a_page_that_was_closed_keeps_its_seat_for_a_moment_and_is_shown_to_nobody() {
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
fn a_room_whose_only_page_is_loaded_again_is_still_there_but_nobody_is_sent_to_it() {
    let mut server = Server::new();
    let page = server.player(1);
    let room = server.room_of(page).id;
    server.say(page, STEP_OUT);
    server.close(page);
    let stranger = server.player(2);
    assert_ne!(server.room_of(stranger).id, room);
    let again = server.connect();
    assert_eq!(seat(&server.say(again, &hello(1))).room.id, room);
    // Without a page that comes back it is closed.
    server.say(again, STEP_OUT);
    server.close(again);
    server.wait_secs(11);
    assert_eq!(server.directory.rooms().count(), 1);
}

#[test]
fn whoever_stepped_out_and_plays_elsewhere_does_not_come_back() {
    let mut server = Server::new();
    let (page, other) = (server.player(1), server.player(2));
    let room = server.room_of(other).id;
    server.say(page, STEP_OUT);
    assert_eq!(code(&server.say(page, STEP_OUT)), RejectionCode::NotInRoom);
    assert_ne!(seat(&server.say(page, CREATE)).room.id, room);
    assert_eq!(server.room_of(other).members.len(), 1);
    // Whoever only watches has nothing to be kept.
    let watcher = server.guest(3);
    let watch = format!(r#"{{"type":"join","code":"{}","watch":true}}"#, server.room_of(other).code);
    seat(&server.say(watcher, &watch));
    server.say(watcher, STEP_OUT);
    assert_eq!(server.room_of(other).members.len(), 1);
}

#[test]
fn two_at_one_machine_return_to_a_server_that_forgot_them_and_take_two_seats() {
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
fn a_crashed_page_has_its_seat_again_as_soon_as_its_old_connection_is_found_dead() {
    let mut server = Server::new();
    let page = server.player(1);
    let before = seat_of(&mut server, page);
    // Nobody told the server that the page is gone.
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
fn a_duplicated_tab_is_asked_before_it_takes_over() {
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
fn a_duplicated_tab_plays_once_the_other_is_closed() {
    let mut server = Server::new();
    let tab = server.guest(1);
    let copy = server.connect();
    server.say(copy, &hello(1));
    server.pong(tab);
    assert_eq!(welcome(&server.hear(copy)).seat, MembershipState::Elsewhere);
    server.close(tab);
    assert!(seat(&server.say(copy, FIND)).created);
    // And a tab without a room can be taken over too.
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
fn take_over_with_nothing_to_take_is_refused() {
    let mut server = Server::new();
    let alone = server.guest(1);
    assert_eq!(code(&server.say(alone, r#"{"type":"take_over"}"#)), RejectionCode::NotInRoom);
    // Nor has anybody else the seat one has.
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
    // While the server still has the older connection, and when it knows that it is lost.
    let again = server.connect();
    let greeting = welcome(&server.say(again, &resume(&token)));
    assert_eq!((greeting.name.as_str(), own_name(&mut server, again).as_deref()), ("Nia", Some("Nia")));
    server.close(again);
    let third = server.connect();
    let greeting = welcome(&server.say(third, &resume(&greeting.resume)));
    assert_eq!((greeting.name.as_str(), own_name(&mut server, third).as_deref()), ("Nia", Some("Nia")));
    // Whoever says another name is called by that in both places or in none.
    server.say(third, r#"{"type":"profile","name":"Nia the Bold"}"#);
    server.close(third);
    let fourth = server.connect();
    let greeting = welcome(&server.say(fourth, &resume(&greeting.resume)));
    assert_eq!(own_name(&mut server, fourth).as_deref(), Some(greeting.name.as_str()));
    assert_eq!(greeting.name.as_str(), "Nia the Bold");
}

#[test]
fn two_tabs_of_one_browser_are_two_players_of_one_person() {
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
fn one_person_cannot_take_all_the_seats() {
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
fn a_client_that_resumes_takes_its_place_without_anybody_noticing() {
    let mut server = Server::new();
    let other = server.player(1);
    let phone = server.connect();
    let token = welcome(&server.say(phone, &hello(2))).resume;
    server.say(phone, FIND);
    server.hear(other);
    // From one network to another: the old socket is dead, the server does not know yet.
    let again = server.connect();
    let resume = format!(r#"{{"type":"hello","key":"key-of-guest-number-2","resume":"{token}"}}"#);
    let greeting = welcome(&server.say(again, &resume));
    assert!(greeting.resumed);
    assert_eq!(greeting.seat, MembershipState::Yours);
    assert!(server.hear(other).is_empty());
    assert_eq!(server.closed(phone), Some(RejectionCode::Replaced));
    // A token that is not the last one resumes nothing.
    let forged = server.connect();
    let heard = server.say(forged, &resume);
    assert!(heard.is_empty(), "it is probed like any stranger with the key: {heard:?}");
}

#[test]
fn whoever_has_not_the_key_has_not_the_seat() {
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
    // The thief has a connection already: let it be found dead first.
    server.close(thief);
    let heard = server.say(with_ticket, &stolen);
    let refused = heard.iter().find_map(|message| match message {
        ServerMessage::Refused(refused) => Some((refused.code, refused.text.clone())),
        _ => None,
    });
    assert_eq!(refused, Some((RejectionCode::BadTicket, "the ticket is somebody else's".into())));
    assert!(
        heard
            .iter()
            .any(|message| matches!(message, ServerMessage::Welcome(w) if w.seat == MembershipState::None))
    );
    assert_eq!(server.room_of(owner).members, room.members);
}

#[test]
fn a_ticket_that_is_altered_or_expired_brings_no_seat_and_says_so() {
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
    // The right one recreates the room of somebody whom the server has forgotten.
    let mut server = server.restarted();
    assert_eq!(try_ticket(&mut server, &ticket), "Welcome");
    server.wait(Micros::from_secs(7_200));
    assert!(try_ticket(&mut server, &ticket).contains("expired"));
}

#[test]
fn a_token_from_outside_makes_a_person_that_is_the_same_everywhere() {
    let mut server = Server::new();
    let mut login = |subject: &str| {
        let connection = server.connect();
        assert!(server.say(connection, r#"{"type":"hello","token":"a.b.c"}"#).is_empty());
        // Said before the token is checked: it waits.
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
fn a_bad_token_is_refused_and_another_hello_may_follow() {
    let mut server = Server::new();
    let connection = server.connect();
    server.say(connection, r#"{"type":"hello","token":"a.b.c"}"#);
    server.verified(connection, Err(Rejection::new(RejectionCode::BadToken, "the token has expired")));
    assert_eq!(code(&server.hear(connection)), RejectionCode::BadToken);
    assert_eq!(welcome(&server.say(connection, &hello(1))).seat, MembershipState::None);
}

#[test]
fn hello_comes_first_and_once_and_properly() {
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
fn a_connection_that_says_nothing_is_closed() {
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
fn what_is_done_too_often_is_refused_with_the_time_to_wait() {
    let mut server = Server::with_rules(Rules::default());
    let guest = server.guest(1);
    for _ in 0..5 {
        seat(&server.say(guest, FIND));
        server.say(guest, LEAVE);
    }
    let refused = refusal(&server.say(guest, FIND));
    assert_eq!(refused.code, RejectionCode::TooFast);
    let wait = refused.retry_ms.expect("a time to wait");
    assert!((1..=2_001).contains(&wait), "{wait}");
    // Another connection of the same person does not help.
    server.close(guest);
    let again = server.guest(1);
    assert_eq!(code(&server.say(again, FIND)), RejectionCode::TooFast);
    server.wait(Micros::from_millis(wait));
    seat(&server.say(again, FIND));
}

#[test]
fn who_keeps_talking_nonsense_is_shown_out() {
    let mut server = Server::new();
    let guest = server.guest(1);
    let bystander = server.player(2);
    let mut refused = 0;
    while server.closed(guest).is_none() {
        server.say(guest, "{\"type\":\"find\",");
        refused += 1;
        assert!(refused < 50, "never shown out");
    }
    assert_eq!(refused, 21);
    assert_eq!(server.closed(bystander), None);
    assert_eq!(server.room_of(bystander).players().count(), 1);
}

#[test]
fn a_thousand_rooms_by_one_guest_do_not_happen() {
    let mut server = Server::with_rules(Rules { connections_per_address_max: 2_000, ..Rules::default() });
    let mut made = 0;
    for number in 0..1_000 {
        let connection = server.connect_from("10.9.9.9");
        if server.closed(connection).is_some() {
            continue;
        }
        server.say(connection, &hello(number));
        // A mode of its own each time, so that no room can be shared.
        let find = format!(r#"{{"type":"find","game":"gander","mode":"m{number}"}}"#);
        let heard = server.say(connection, &find);
        made += usize::from(matches!(heard.first(), Some(ServerMessage::JoinedRoom(_))));
    }
    assert!((50..=70).contains(&made), "{made}");
    // Somebody else is not bothered.
    let other = server.guest(5_000);
    seat(&server.say(other, FIND));
}

#[test]
fn too_many_connections_from_one_place_are_refused_elsewhere_they_are_not() {
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
fn a_server_that_drains_says_so_and_lets_nobody_in() {
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
    // Those who play can go on saying things.
    assert!(matches!(server.say(player, LEAVE)[..], [ServerMessage::Removed(_), ServerMessage::Done(_)]));
}

#[test]
fn leaving_while_away_ends_with_the_room_closed() {
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
    let (peer, _) = server.node.peer_of(connection).expect("it has said hello");
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
    // In either case, to watch as well, by joining and by renaming. No letter of these looks like
    // another one.
    for (number, wished, shown) in [(1, "Eva", "Eva"), (2, "eva", "eva 2"), (3, "EVA", "EVA 3")] {
        let member = server.connect();
        server.say(member, &hello(number).replace(&format!("Guest {number}"), wished));
        let watch = if number == 3 { r#","watch":true}"# } else { "}" };
        seat(&server.say(member, &join(made.room.code).replace('}', watch)));
        assert_eq!(name(&mut server, member), shown);
        server.say(member, &rename(wished));
        assert_eq!(name(&mut server, member), shown, "it keeps what it has");
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
fn every_tab_of_a_guest_has_a_name_of_its_own_and_keeps_it() {
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
