//! Every limit, lowered until a client reaches it: the client learns which one it is, and all other
//! clients are served.

use gaggle_kit::Micros;
use gaggle_lobby::message::server::MembershipState;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::rules::{Limits, RateLimit, Rules};
use gaggle_lobby::{RejectionCode, ServerMessage};

use crate::server::{CREATE, LEAVE, Server, hello, join, seat, welcome};
use crate::signals_and_results::peer;

/// Address of every offending client.
const THERE: &str = "10.66.6.6";
/// Two at once, and none again within a test.
const TWO: RateLimit = RateLimit::per_secs(2, 2_000);
const TOUCH: &str = r#"{"type":"touch"}"#;
const GUESS: &str = r#"{"type":"join","code":"BCDFGH"}"#;
const REPORT: &str = r#"{"type":"report","round":1,"scores":[]}"#;

/// A limit: name, how it is lowered, what reaches it, and the expected rejection.
type Limit = (&'static str, fn(&mut Rules), fn(&mut Server) -> Option<RejectionCode>, RejectionCode);

#[rustfmt::skip]
const LIMITS: &[Limit] = &[
    ("rooms_max", |rules| rules.rooms_max = 3, |server| each_says(server, CREATE), RejectionCode::ServerFull),
    ("connections_max", |rules| rules.connections_max = 3, three_connect, RejectionCode::ServerFull),
    ("connections_per_address_max", |rules| rules.connections_per_address_max = 2, three_connect, RejectionCode::TooMany),
    ("connections_per_player_max", |rules| rules.connections_per_player_max = 2, three_tabs, RejectionCode::TooMany),
    ("seats_per_player_max", |rules| rules.rooms_per_player_max = 2, three_tabs_play, RejectionCode::TooMany),
    ("watchers_max", |rules| rules.spectators_max = 2, three_watch, RejectionCode::RoomFull),
    ("settings_bytes_max", |rules| rules.settings_bytes_max = 30, settings_grow, RejectionCode::BadSettings),
    ("signal_bytes_max", |rules| rules.signal_bytes_max = 250, signals_grow, RejectionCode::TooLarge),
    ("connect", |rules| rules.limits.connect = TWO, three_connect, RejectionCode::TooFast),
    ("message", |rules| rules.limits.message = RateLimit::per_secs(4, 4_000), one_talks, RejectionCode::TooFast),
    ("message_per_address", |rules| rules.limits.message_per_address = RateLimit::per_secs(5, 5_000), |server| each_says(server, TOUCH), RejectionCode::TooFast),
    ("find", |rules| rules.limits.find = TWO, |server| one_says(server, &|nth| switching("find", nth)), RejectionCode::TooFast),
    ("create", |rules| rules.limits.create = TWO, |server| one_says(server, &|nth| switching("create", nth)), RejectionCode::TooFast),
    ("create_per_address", |rules| rules.limits.create_per_address = TWO, |server| each_says(server, CREATE), RejectionCode::TooFast),
    ("join", |rules| rules.limits.join = TWO, |server| one_says(server, &|_| GUESS.into()), RejectionCode::TooFast),
    ("join_per_address", |rules| rules.limits.join_per_address = TWO, |server| each_says(server, GUESS), RejectionCode::TooFast),
    ("take_over", |rules| rules.limits.take_over = TWO, |server| one_says(server, &|_| r#"{"type":"take_over"}"#.into()), RejectionCode::TooFast),
    ("change", |rules| rules.limits.change = TWO, |server| one_says(server, &|nth| format!(r#"{{"type":"profile","palette":{nth}}}"#)), RejectionCode::TooFast),
    ("signal", |rules| rules.limits.signal = TWO, signals_grow, RejectionCode::TooFast),
    ("signal_bytes", |rules| rules.limits.signal_bytes = RateLimit::per_secs(500, 500_000), signals_grow, RejectionCode::TooFast),
    ("signal_bytes_to_one", |rules| rules.limits.signal_bytes_to_one = RateLimit::per_secs(500, 500_000), signals_grow, RejectionCode::TooFast),
    ("look", |rules| rules.limits.look = TWO, |server| one_says(server, &|_| TOUCH.into()), RejectionCode::TooFast),
    ("report", |rules| rules.limits.report = TWO, |server| one_says(server, &|_| REPORT.into()), RejectionCode::TooFast),
    ("report_per_address", |rules| rules.limits.report_per_address = TWO, |server| each_says(server, REPORT), RejectionCode::TooFast),
];

#[test]
fn reserve_is_for_clients_with_tickets() {
    let rules = Rules { connections_max: 64, limits: Limits::unlimited(), ..Rules::default() };
    let mut server = Server::with_rules(rules);
    let away = server.guest(1);
    let ticket = seat(&server.say(away, CREATE)).ticket;
    server.close(away);
    // Players in rooms are not closed for others.
    let players: Vec<ConnectionId> = (2..64).map(|number| server.guest(number)).collect();
    players.iter().for_each(|player| drop(seat(&server.say(*player, CREATE))));
    let stranger = server.connect();
    server.say(stranger, &hello(100));
    assert_eq!(server.closed(stranger), Some(RejectionCode::ServerFull));
    let back = server.connect();
    let shown = hello(1).replace('}', &format!(r#","ticket":"{ticket}"}}"#));
    welcome(&server.say(back, &shown));
    assert!(players.iter().all(|player| server.closed(*player).is_none()));
    server.close(players[0]);
    server.close(players[1]);
    let stranger = server.connect();
    welcome(&server.say(stranger, &hello(100)));
}

#[test]
fn proven_address_uses_reserve_without_ticket() {
    // A reserve of four, two of them for proven addresses.
    let rules = Rules { connections_max: 128, limits: Limits::unlimited(), ..Rules::default() };
    let mut server = Server::with_rules(rules);
    let (home, passing) = ("192.0.2.1", "192.0.2.2");
    let played = server.connect_from(home);
    server.say(played, &hello(1));
    seat(&server.say(played, CREATE));
    for _ in 0..6 {
        server.wait_secs(10);
        server.say(played, TOUCH);
    }
    server.close(played);
    // A reservation given up at once proves nothing.
    let brief = server.connect_from(passing);
    server.say(brief, &hello(2));
    seat(&server.say(brief, CREATE));
    server.close(brief);
    for number in 10..134 {
        let player = server.guest(number);
        seat(&server.say(player, CREATE));
    }
    for address in ["198.51.100.1", passing] {
        let stranger = server.connect_from(address);
        server.say(stranger, &hello(200));
        assert_eq!(server.closed(stranger), Some(RejectionCode::ServerFull), "{address}");
    }
    let mut come = |number: u32| {
        let back = server.connect_from(home);
        server.say(back, &hello(number));
        seat(&server.say(back, CREATE));
        server.closed(back)
    };
    assert_eq!((come(300), come(301)), (None, None));
    let last = server.connect_from(home);
    server.say(last, &hello(302));
    assert_eq!(
        server.closed(last),
        Some(RejectionCode::ServerFull),
        "the rest is for clients with \
     tickets"
    );
}

#[test]
fn tickets_of_one_network_leave_reserve_to_others() {
    let rules = Rules { connections_max: 128, limits: Limits::unlimited(), ..Rules::default() };
    let mut server = Server::with_rules(rules);
    let (collector, home) = ("192.0.2.1", "192.0.2.2");
    let mut tickets = Vec::new();
    for number in 0..5 {
        let member = server.guest(number);
        tickets.push(seat(&server.say(member, CREATE)).ticket);
        server.say(member, LEAVE);
        server.close(member);
    }
    let players: Vec<ConnectionId> = (10..134).map(|number| server.guest(number)).collect();
    players.iter().for_each(|player| drop(seat(&server.say(*player, CREATE))));
    let mut come = |number: usize, address: &str| {
        let back = server.connect_from(address);
        let ticket = format!(r#","ticket":"{}"}}"#, tickets[number]);
        server.say(back, &hello(number as u32).replace('}', &ticket));
        server.say(back, CREATE);
        (server.closed(back), back)
    };
    let first = come(0, collector);
    assert_eq!((first.0, come(1, collector).0), (None, None));
    assert_eq!(come(2, collector).0, Some(RejectionCode::ServerFull), "two of four in the reserve");
    assert_eq!((come(3, home).0, come(4, home).0), (None, None));
}

#[test]
fn prefix_of_one_customer_shares_every_rate() {
    type Case = (&'static str, fn(&mut Rules), &'static str);
    let cases: [Case; 4] = [
        ("join", |rules| rules.limits.join_per_address = TWO, GUESS),
        ("report", |rules| rules.limits.report_per_address = TWO, REPORT),
        // Each sends two: `hello` and a keepalive.
        ("message", |rules| rules.limits.message_per_address = RateLimit::per_secs(4, 4_000), TOUCH),
        ("connect", |rules| rules.limits.connect = TWO, TOUCH),
    ];
    for (name, lower, said) in cases {
        let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
        lower(&mut rules);
        let mut server = Server::with_rules(rules);
        let mut act = |address: String, number: u32| {
            let connection = server.connect_from(&address);
            if server.closed(connection).is_some() {
                return false;
            }
            let greeted = server.say(connection, &hello(number));
            let heard = server.say(connection, said);
            let is_limited = |message: &ServerMessage| matches!(message, ServerMessage::Refused(refused) if refused.code == RejectionCode::TooFast);
            !greeted.iter().chain(&heard).any(is_limited)
        };
        // 64 networks of one /56, then 64 of one /48.
        let of_56 = (0..64).filter(|nth| act(format!("2001:db8:0:{nth:x}::1"), *nth)).count();
        let of_48 = (1..64).filter(|nth| act(format!("2001:db8:0:{:x}::1", nth << 8), 100 + nth)).count();
        assert_eq!((of_56, of_48), (4, 4), "{name}");
        assert!(act("198.51.100.1".into(), 1_000), "{name}: another customer");
    }
}

#[test]
fn prefix_of_one_customer_creates_few_rooms() {
    let mut rates = Limits::unlimited();
    rates.create_per_address = TWO;
    let mut server = Server::with_rules(Rules { limits: rates, ..Rules::default() });
    let mut made = 0;
    for nth in 0..256 {
        let connection = server.connect_from(&format!("2001:db8:0:{nth:x}::1"));
        server.say(connection, &hello(nth));
        let heard = server.say(connection, CREATE);
        made += usize::from(heard.iter().any(|message| matches!(message, ServerMessage::JoinedRoom(_))));
    }
    assert_eq!(made, 4, "two shares for a /56");
    let other = server.guest(1_000);
    seat(&server.say(other, CREATE));
}

#[test]
fn idle_connections_of_heaviest_network_close_first() {
    let rules = Rules {
        connections_max: 64,
        connections_per_address_max: 20,
        limits: Limits::unlimited(),
        ..Rules::default()
    };
    let mut server = Server::with_rules(rules);
    let player = server.guest(1);
    seat(&server.say(player, CREATE));
    let lone: Vec<ConnectionId> = (0..20).map(|_| server.connect()).collect();
    // A customer with a /56 counts as two addresses, not as 256.
    let greedy: Vec<ConnectionId> =
        (0..256).map(|nth| server.connect_from(&format!("2001:db8:0:{nth:x}::1"))).collect();
    let stays =
        |server: &Server, of: &[ConnectionId]| of.iter().filter(|id| server.closed(**id).is_none()).count();
    assert_eq!(stays(&server, &greedy), 40);
    let joiners: Vec<ConnectionId> = (0..30).map(|_| server.connect()).collect();
    for (joiner, number) in joiners.iter().zip(100..) {
        welcome(&server.say(*joiner, &hello(number)));
    }
    assert_eq!((stays(&server, &lone), stays(&server, &joiners)), (20, 30));
    assert!(stays(&server, &greedy) < 15 && server.closed(player).is_none());
}

#[test]
fn client_at_limit_is_told_and_others_are_served() {
    for (name, lower, offend, expected) in LIMITS {
        let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
        lower(&mut rules);
        let is_room_for_more = rules.connections_max > 3;
        let mut server = Server::with_rules(rules);
        let bystander = server.guest(1);
        let made = seat(&server.say(bystander, CREATE));
        assert_eq!(offend(&mut server), Some(*expected), "{name}");
        let touched = server.say(bystander, TOUCH);
        assert!(matches!(touched[..], [ServerMessage::Done(_)]), "{name}: {touched:?}");
        assert_eq!(server.room_of(bystander).id, made.room.id, "{name}");
        // Also a later client from another address with another key.
        if is_room_for_more {
            let joiner = server.guest(2);
            assert_eq!(seat(&server.say(joiner, &join(made.room.code))).room.id, made.room.id, "{name}");
        }
    }
}

#[test]
fn limit_does_not_affect_clients_below_it() {
    for (name, _, offend, _) in LIMITS {
        let mut server = Server::new();
        let refused = offend(&mut server);
        // Other errors of the request are still reported.
        let is_wrong = matches!(refused, Some(RejectionCode::NoSuchRoom | RejectionCode::NotInRoom));
        assert!(refused.is_none() || is_wrong, "{name}: {refused:?}");
    }
}

#[test]
fn resuming_client_replaces_its_older_connection() {
    let rules = Rules { connections_per_player_max: 1, limits: Limits::unlimited(), ..Rules::default() };
    let mut server = Server::with_rules(rules);
    let older = server.connect();
    let resume = welcome(&server.say(older, &hello(1))).resume;
    // Without proof of identity it must wait until the older connection is closed.
    let other = server.connect();
    server.say(other, &hello(1));
    assert_eq!((server.closed(other), server.closed(older)), (Some(RejectionCode::TooMany), None));
    let newer = server.connect();
    let text = hello(1).replace('}', &format!(r#","resume":"{resume}"}}"#));
    assert_eq!(welcome(&server.say(newer, &text)).seat, MembershipState::None);
    assert_eq!(server.closed(older), Some(RejectionCode::Replaced));
    server.close(newer);
    let again = server.connect();
    assert_eq!(welcome(&server.say(again, &hello(1))).seat, MembershipState::None);
}

/// An identified client at the offending address.
fn offender(server: &mut Server, number: u32) -> ConnectionId {
    let connection = server.connect_from(THERE);
    server.say(connection, &hello(100 + number));
    connection
}

/// Why a client was rejected or closed, if it was.
fn objection(server: &Server, connection: ConnectionId, heard: &[ServerMessage]) -> Option<RejectionCode> {
    let refused = heard.iter().find_map(|message| match message {
        ServerMessage::Refused(refused) => Some(refused.code),
        _ => None,
    });
    refused.or(server.closed(connection))
}

/// Rejection of the third request; the first two may only be rejected for the same unrelated
/// reason.
fn third(mut told: impl FnMut(u32) -> Option<RejectionCode>) -> Option<RejectionCode> {
    let told = [0, 1, 2].map(&mut told);
    assert_eq!(told[0], told[1]);
    assert!(!matches!(told[0], Some(RejectionCode::TooFast | RejectionCode::TooMany)), "{told:?}");
    told[2]
}

/// One connection sends three messages after `hello`.
fn one_says(server: &mut Server, what: &dyn Fn(u32) -> String) -> Option<RejectionCode> {
    let connection = offender(server, 0);
    third(|nth| {
        let heard = server.say(connection, &what(nth));
        objection(server, connection, &heard)
    })
}

/// One connection sends four messages after `hello`.
fn one_talks(server: &mut Server) -> Option<RejectionCode> {
    let connection = offender(server, 0);
    server.say(connection, TOUCH);
    third(|_| {
        let heard = server.say(connection, TOUCH);
        objection(server, connection, &heard)
    })
}

/// Three players send one message each after `hello`.
fn each_says(server: &mut Server, what: &str) -> Option<RejectionCode> {
    third(|nth| {
        let connection = offender(server, nth);
        let heard = server.say(connection, what);
        objection(server, connection, &heard)
    })
}

fn three_connect(server: &mut Server) -> Option<RejectionCode> {
    third(|_| {
        let connection = server.connect_from(THERE);
        server.closed(connection)
    })
}

/// One of several devices of the same player.
fn tab(server: &mut Server, nth: u32) -> (ConnectionId, Vec<ServerMessage>) {
    let connection = server.connect_from(THERE);
    let heard = server.say(connection, &hello(100).replace('}', &format!(r#","seat":"tab-{nth}"}}"#)));
    (connection, heard)
}

fn three_tabs(server: &mut Server) -> Option<RejectionCode> {
    third(|nth| {
        let (connection, heard) = tab(server, nth);
        objection(server, connection, &heard)
    })
}

fn three_tabs_play(server: &mut Server) -> Option<RejectionCode> {
    third(|nth| {
        let (connection, _) = tab(server, nth);
        let heard = server.say(connection, CREATE);
        objection(server, connection, &heard)
    })
}

fn three_watch(server: &mut Server) -> Option<RejectionCode> {
    let host = offender(server, 10);
    let code = seat(&server.say(host, CREATE)).room.code;
    each_says(server, &format!(r#"{{"type":"join","code":"{code}","watch":true}}"#))
}

fn settings_grow(server: &mut Server) -> Option<RejectionCode> {
    one_says(server, &|nth| {
        let settings = format!(r#"{{"a":"{}"}}"#, "x".repeat(10 * nth as usize + 3));
        switching("create", nth).replace('}', &format!(r#","settings":{settings}}}"#))
    })
}

/// Three signals to another member, of 100, 200 and 300 bytes.
fn signals_grow(server: &mut Server) -> Option<RejectionCode> {
    let (host, guest) = (offender(server, 10), offender(server, 11));
    let code = seat(&server.say(host, CREATE)).room.code;
    seat(&server.say(guest, &join(code)));
    let to = peer(server, host);
    third(|nth| {
        let data = "x".repeat(100 * (nth as usize + 1));
        let heard = server.say(guest, &format!(r#"{{"type":"signal","to":"{to}","data":"{data}"}}"#));
        objection(server, guest, &heard)
    })
}

/// A request for another room than the previous one.
fn switching(kind: &str, nth: u32) -> String {
    format!(r#"{{"type":"{kind}","game":"gander","mode":"m{nth}","switch":true}}"#)
}

#[test]
fn message_bytes_are_limited_per_connection_and_address() {
    let few = RateLimit::every(Micros::new(8), 200_000);
    let long = format!(r#"{{"type":"touch","id":1,"more":"{}"}}"#, "x".repeat(50_000));
    for is_of_address in [false, true] {
        let mut rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
        match is_of_address {
            true => {
                rules.limits.message_per_address = Limits::default().message_per_address;
                rules.limits.message_bytes_per_address = few;
            }
            false => rules.limits.message_bytes = few,
        }
        let mut server = Server::with_rules(rules);
        let mut passed = 0;
        for number in 0..2 {
            let connection = server.connect_from("10.7.7.7");
            server.say(connection, &hello(number));
            let passes = |_: &u32| !matches!(server.say(connection, &long)[..], [ServerMessage::Refused(_)]);
            passed += (0..10).filter(passes).count();
        }
        assert_eq!(passed, if is_of_address { 3 } else { 6 }, "per address: {is_of_address}");
    }
}
