//! Every limit, lowered until somebody runs into it: they are told which kind it is, and whoever else is there is served.

use gaggle_lobby::message::server::SeatState;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::rules::{Rate, Rates, Rules};
use gaggle_lobby::{RefusalCode, ServerMessage};

use crate::server::{CREATE, Server, hello, join, seat, welcome};
use crate::signals_and_results::peer;

/// Everybody who does harm here comes from this address.
const THERE: &str = "10.66.6.6";
/// So many, and for as long as a story takes no more.
const TWO: Rate = Rate::per_secs(2, 2_000);
const TOUCH: &str = r#"{"type":"touch"}"#;
const GUESS: &str = r#"{"type":"join","code":"BCDFGH"}"#;
const REPORT: &str = r#"{"type":"report","round":1,"scores":[]}"#;

/// A limit: its name, how it is lowered, what is done until it is reached, and what is said then.
type Limit = (&'static str, fn(&mut Rules), fn(&mut Server) -> Option<RefusalCode>, RefusalCode);

#[rustfmt::skip]
const LIMITS: &[Limit] = &[
    ("rooms_max", |rules| rules.rooms_max = 3, |server| each_says(server, CREATE), RefusalCode::ServerFull),
    ("connections_max", |rules| rules.connections_max = 3, three_connect, RefusalCode::ServerFull),
    ("connections_per_address_max", |rules| rules.connections_per_address_max = 2, three_connect, RefusalCode::TooMany),
    ("connections_per_player_max", |rules| rules.connections_per_player_max = 2, three_tabs, RefusalCode::TooMany),
    ("seats_per_player_max", |rules| rules.seats_per_player_max = 2, three_tabs_play, RefusalCode::TooMany),
    ("watchers_max", |rules| rules.watchers_max = 2, three_watch, RefusalCode::RoomFull),
    ("settings_bytes_max", |rules| rules.settings_bytes_max = 30, settings_grow, RefusalCode::BadSettings),
    ("signal_bytes_max", |rules| rules.signal_bytes_max = 250, signals_grow, RefusalCode::TooLarge),
    ("connect", |rules| rules.rates.connect = TWO, three_connect, RefusalCode::TooFast),
    ("message", |rules| rules.rates.message = Rate::per_secs(4, 4_000), one_talks, RefusalCode::TooFast),
    ("message_per_address", |rules| rules.rates.message_per_address = Rate::per_secs(5, 5_000), |server| each_says(server, TOUCH), RefusalCode::TooFast),
    ("find", |rules| rules.rates.find = TWO, |server| one_says(server, &|nth| switching("find", nth)), RefusalCode::TooFast),
    ("create", |rules| rules.rates.create = TWO, |server| one_says(server, &|nth| switching("create", nth)), RefusalCode::TooFast),
    ("create_per_address", |rules| rules.rates.create_per_address = TWO, |server| each_says(server, CREATE), RefusalCode::TooFast),
    ("join", |rules| rules.rates.join = TWO, |server| one_says(server, &|_| GUESS.into()), RefusalCode::TooFast),
    ("join_per_address", |rules| rules.rates.join_per_address = TWO, |server| each_says(server, GUESS), RefusalCode::TooFast),
    ("take_over", |rules| rules.rates.take_over = TWO, |server| one_says(server, &|_| r#"{"type":"take_over"}"#.into()), RefusalCode::TooFast),
    ("change", |rules| rules.rates.change = TWO, |server| one_says(server, &|nth| format!(r#"{{"type":"profile","palette":{nth}}}"#)), RefusalCode::TooFast),
    ("signal", |rules| rules.rates.signal = TWO, signals_grow, RefusalCode::TooFast),
    ("signal_bytes", |rules| rules.rates.signal_bytes = Rate::per_secs(500, 500_000), signals_grow, RefusalCode::TooFast),
    ("signal_bytes_to_one", |rules| rules.rates.signal_bytes_to_one = Rate::per_secs(500, 500_000), signals_grow, RefusalCode::TooFast),
    ("look", |rules| rules.rates.look = TWO, |server| one_says(server, &|_| TOUCH.into()), RefusalCode::TooFast),
    ("report", |rules| rules.rates.report = TWO, |server| one_says(server, &|_| REPORT.into()), RefusalCode::TooFast),
    ("report_per_address", |rules| rules.rates.report_per_address = TWO, |server| each_says(server, REPORT), RefusalCode::TooFast),
];

#[test]
fn whoever_reaches_a_limit_is_told_so_and_nobody_else_is_bothered() {
    for (name, lower, offend, expected) in LIMITS {
        let mut rules = Rules { rates: Rates::unlimited(), ..Rules::default() };
        lower(&mut rules);
        let is_room_for_more = rules.connections_max > 3;
        let mut server = Server::with_rules(rules);
        let bystander = server.guest(1);
        let made = seat(&server.say(bystander, CREATE));
        assert_eq!(offend(&mut server), Some(*expected), "{name}");
        let touched = server.say(bystander, TOUCH);
        assert!(matches!(touched[..], [ServerMessage::Done(_)]), "{name}: {touched:?}");
        assert_eq!(server.room_of(bystander).id, made.room.id, "{name}");
        // Also who comes only now, from elsewhere, as somebody else.
        if is_room_for_more {
            let newcomer = server.guest(2);
            assert_eq!(seat(&server.say(newcomer, &join(made.room.code))).room.id, made.room.id, "{name}");
        }
    }
}

#[test]
fn a_limit_is_none_for_whoever_stays_below_it() {
    for (name, _, offend, _) in LIMITS {
        let mut server = Server::new();
        let refused = offend(&mut server);
        // What was wrong about it is told as ever.
        let is_wrong = matches!(refused, Some(RefusalCode::NoSuchRoom | RefusalCode::NotInRoom));
        assert!(refused.is_none() || is_wrong, "{name}: {refused:?}");
    }
}

#[test]
fn a_client_that_resumes_takes_the_place_of_its_older_connection() {
    let rules = Rules { connections_per_player_max: 1, rates: Rates::unlimited(), ..Rules::default() };
    let mut server = Server::with_rules(rules);
    let older = server.connect();
    let resume = welcome(&server.say(older, &hello(1))).resume;
    // Whoever does not show that it is the same has to wait until the older one is gone.
    let other = server.connect();
    server.say(other, &hello(1));
    assert_eq!((server.closed(other), server.closed(older)), (Some(RefusalCode::TooMany), None));
    let newer = server.connect();
    let text = hello(1).replace('}', &format!(r#","resume":"{resume}"}}"#));
    assert_eq!(welcome(&server.say(newer, &text)).seat, SeatState::None);
    assert_eq!(server.closed(older), Some(RefusalCode::Replaced));
    server.close(newer);
    let again = server.connect();
    assert_eq!(welcome(&server.say(again, &hello(1))).seat, SeatState::None);
}

/// Somebody there, who has said hello.
fn offender(server: &mut Server, number: u32) -> ConnectionId {
    let connection = server.connect_from(THERE);
    server.say(connection, &hello(100 + number));
    connection
}

/// Why somebody was refused or shown out, if they were.
fn objection(server: &Server, connection: ConnectionId, heard: &[ServerMessage]) -> Option<RefusalCode> {
    let refused = heard.iter().find_map(|message| match message {
        ServerMessage::Refused(refused) => Some(refused.code),
        _ => None,
    });
    refused.or(server.closed(connection))
}

/// What the third is told. The first two have nothing to complain about but what the third would hear in any case.
fn third(mut told: impl FnMut(u32) -> Option<RefusalCode>) -> Option<RefusalCode> {
    let told = [0, 1, 2].map(&mut told);
    assert_eq!(told[0], told[1]);
    assert!(!matches!(told[0], Some(RefusalCode::TooFast | RefusalCode::TooMany)), "{told:?}");
    told[2]
}

/// One connection says three things, after its hello.
fn one_says(server: &mut Server, what: &dyn Fn(u32) -> String) -> Option<RefusalCode> {
    let connection = offender(server, 0);
    third(|nth| {
        let heard = server.say(connection, &what(nth));
        objection(server, connection, &heard)
    })
}

/// One connection says four things, after its hello.
fn one_talks(server: &mut Server) -> Option<RefusalCode> {
    let connection = offender(server, 0);
    server.say(connection, TOUCH);
    third(|_| {
        let heard = server.say(connection, TOUCH);
        objection(server, connection, &heard)
    })
}

/// Three people say one thing each, after their hello.
fn each_says(server: &mut Server, what: &str) -> Option<RefusalCode> {
    third(|nth| {
        let connection = offender(server, nth);
        let heard = server.say(connection, what);
        objection(server, connection, &heard)
    })
}

fn three_connect(server: &mut Server) -> Option<RefusalCode> {
    third(|_| {
        let connection = server.connect_from(THERE);
        server.closed(connection)
    })
}

/// A tab of one and the same person.
fn tab(server: &mut Server, nth: u32) -> (ConnectionId, Vec<ServerMessage>) {
    let connection = server.connect_from(THERE);
    let heard = server.say(connection, &hello(100).replace('}', &format!(r#","seat":"tab-{nth}"}}"#)));
    (connection, heard)
}

fn three_tabs(server: &mut Server) -> Option<RefusalCode> {
    third(|nth| {
        let (connection, heard) = tab(server, nth);
        objection(server, connection, &heard)
    })
}

fn three_tabs_play(server: &mut Server) -> Option<RefusalCode> {
    third(|nth| {
        let (connection, _) = tab(server, nth);
        let heard = server.say(connection, CREATE);
        objection(server, connection, &heard)
    })
}

fn three_watch(server: &mut Server) -> Option<RefusalCode> {
    let host = offender(server, 10);
    let code = seat(&server.say(host, CREATE)).room.code;
    each_says(server, &format!(r#"{{"type":"join","code":"{code}","watch":true}}"#))
}

fn settings_grow(server: &mut Server) -> Option<RefusalCode> {
    one_says(server, &|nth| {
        let settings = format!(r#"{{"a":"{}"}}"#, "x".repeat(10 * nth as usize + 3));
        switching("create", nth).replace('}', &format!(r#","settings":{settings}}}"#))
    })
}

/// Three signals to another member, each longer than the one before: of 100, 200 and 300 bytes.
fn signals_grow(server: &mut Server) -> Option<RefusalCode> {
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

/// A wish for another room than the one before.
fn switching(kind: &str, nth: u32) -> String {
    format!(r#"{{"type":"{kind}","game":"gander","mode":"m{nth}","switch":true}}"#)
}
