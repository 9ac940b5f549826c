//! The relay of a server: admission and metrics.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use gaggle_lobby::ServerMessage;
use gaggle_server::config::{List, Secret};
use tungstenite::{Message, WebSocket};

use crate::guest::{CREATE, FIND, PATIENCE, TestServer};
use crate::http::get;

/// First bytes of relay frames (docs/protocol/7-paths-and-relay.md).
const PROVEN: u8 = 7;
const REFUSED: u8 = 11;
const OLD_EPOCH: u8 = 2;

fn connect(server: &TestServer) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    tungstenite::client(format!("ws://{}/relay", server.address), stream).unwrap().0
}

/// Shows a ticket and returns the first answer.
fn prove(server: &TestServer, ticket: &str) -> (WebSocket<TcpStream>, Vec<u8>) {
    let mut socket = connect(server);
    socket.send(Message::Binary([&[1, 1][..], ticket.as_bytes()].concat().into())).unwrap();
    let answer = socket.read().unwrap().into_data().to_vec();
    (socket, answer)
}

/// One of the relay's metrics.
fn counted(server: &TestServer, name: &str) -> u64 {
    let (status, text) = get(server.address, "/metrics", "");
    assert_eq!(status, 200);
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("gaggle_relay_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

fn expect_count(server: &TestServer, name: &str, expected: u64) {
    let began = Instant::now();
    while counted(server, name) < expected {
        assert!(began.elapsed() < PATIENCE, "{name} is {}", counted(server, name));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(counted(server, name), expected, "{name}");
}

#[test]
fn removed_member_is_rejected_with_old_ticket() {
    let server = TestServer::start();
    let (mut host, mut other) = (server.guest(), server.guest());
    host.hello(1);
    let made = host.seat(CREATE);
    other.hello(2);
    let seat = other.seat(&format!(r#"{{"type":"join","code":"{}"}}"#, made.room.code));
    host.say(&format!(r#"{{"type":"kick","peer":"{}"}}"#, seat.peer));
    let newer = host.hear_until(|message| match message {
        ServerMessage::TicketRenewed(ticket) => Some(ticket.ticket.clone()),
        _ => None,
    });
    // No member has shown the relay a newer ticket yet.
    assert_eq!(prove(&server, &seat.ticket).1, [REFUSED, OLD_EPOCH]);
    assert_eq!(prove(&server, &newer).1[0], PROVEN);
    expect_count(&server, "refused_old_total", 1);
    expect_count(&server, "proven_total", 1);
}

#[test]
fn rejected_requests_are_counted_in_metrics() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.hello(1);
    let seat = guest.seat(FIND);
    let (mut member, answer) = prove(&server, &seat.ticket);
    assert_eq!(answer[0], PROVEN);
    expect_count(&server, "members", 1);
    // An empty offer, and those beyond the burst of eight.
    let offer = Message::Binary([&[6][..], b"v=0"].concat().into());
    (0..8).for_each(|_| member.send(offer.clone()).unwrap());
    let began = Instant::now();
    while counted(&server, "offers_refused_total") == 0 {
        assert!(began.elapsed() < PATIENCE, "malformed descriptions are counted");
    }
    (0..20).for_each(|_| member.send(offer.clone()).unwrap());
    let began = Instant::now();
    while counted(&server, "offers_refused_total") < 15 {
        assert!(began.elapsed() < PATIENCE, "{}", counted(&server, "offers_refused_total"));
    }
    assert_eq!(counted(&server, "strays_refused_total"), 0, "nothing arrived by UDP");
    // Text, and a message longer than any frame.
    connect(&server).send(Message::text("hello")).unwrap();
    connect(&server).send(Message::Binary(vec![4; 20_000].into())).unwrap();
    expect_count(&server, "malformed_total", 2);
    expect_count(&server, "channels_crashed_total", 0);
}

#[test]
fn relay_port_is_stun_server_unless_another_is_named() {
    let told = |named: &[&str]| {
        let server = TestServer::with(|config| {
            config.ice = List(named.iter().map(ToString::to_string).collect());
            config.turn_secret = Some(Secret("north".into()));
        });
        let mut guest = server.guest();
        guest.hello(1);
        let urls: Vec<String> = guest.seat(FIND).ice.into_iter().flat_map(|server| server.urls).collect();
        (urls, format!("stun:{}", server.address))
    };
    let (urls, own) = told(&[]);
    assert_eq!(urls, [own]);
    let (urls, own) = told(&["turn:turn.example"]);
    assert_eq!(urls, [own.as_str(), "turn:turn.example"], "native peers cannot use a TURN server");
    assert_eq!(told(&["stun:a.example", "turn:b.example"]).0, ["stun:a.example", "turn:b.example"]);
}

#[test]
fn exceeded_limit_of_relay_is_in_metrics() {
    let server = TestServer::start();
    let limited = |name: &str| counted(&server, &format!("limited_total{{limit=\"{name}\"}}"));
    assert_eq!((limited("unauthenticated"), limited("member_frames")), (0, 0));
    // One more than a network may have unauthenticated.
    let silent: Vec<WebSocket<TcpStream>> = (0..64).map(|_| connect(&server)).collect();
    expect_count(&server, "limited_total{limit=\"unauthenticated\"}", 1);
    assert_eq!(limited("member_frames"), 0);
    drop(silent);
}
