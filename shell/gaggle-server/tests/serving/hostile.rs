//! Attacks: each is rejected, limited or disconnected, and other clients are not affected.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::{RejectionCode, ServerMessage};
use gaggle_server::config::Duration as Setting;
use tungstenite::Message;

use crate::guest::{FIND, Guest, PATIENCE, TestServer};

/// More than the 5 s that silent connections have, on a busy machine too, and much less than the
/// next limit.
pub(crate) const NOT_WAITED_FOR: Duration = Duration::from_secs(30);

#[test]
fn too_long_message_closes_connection_with_reason() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.hello(1);
    guest.say(&format!(r#"{{"type":"hello","name":"{}"}}"#, "x".repeat(70_000)));
    assert_eq!(guest.hear_bye(), RejectionCode::TooLarge);
    // Announcing the length is enough; nothing is stored for it.
    let mut guest = server.guest();
    let announced = [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4];
    guest.socket.get_mut().write_all(&announced).unwrap();
    assert_eq!(guest.hear_bye(), RejectionCode::TooLarge);
    // In fragments that are small each.
    let mut guest = server.guest();
    let mut piece = vec![0x01, 0xfe, 0xff, 0xff, 0, 0, 0, 0];
    piece.resize(8 + 0xffff, b' ');
    guest.socket.get_mut().write_all(&piece).unwrap();
    piece[0] = 0x00;
    guest.socket.get_mut().write_all(&piece).unwrap();
    assert_eq!(guest.hear_bye(), RejectionCode::TooLarge);
}

#[test]
fn flooding_client_gets_one_share_like_all_others() {
    let server = TestServer::with(|config| config.threads = 1);
    let mut other = server.guest();
    other.hello(1);
    let mut flooder = server.guest();
    flooder.hello(2);
    let raw = flooder.socket.get_mut().try_clone().unwrap();
    // As fast as the server reads; a client that reads the answers is not too slow.
    let text = br#"{"type":"touch"}"#;
    let texts = [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], &text[..]].concat().repeat(1_000);
    let (mut out, mut answers) = (raw.try_clone().unwrap(), raw.try_clone().unwrap());
    let reader = std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
    let flood = std::thread::spawn(move || {
        let mut sent = 0_usize;
        while out.write_all(&texts).is_ok() {
            sent += texts.len();
        }
        sent
    });
    let began = Instant::now();
    let mut waits = Vec::new();
    while began.elapsed() < Duration::from_secs(3) {
        let said = Instant::now();
        other.say(r#"{"type":"touch","id":7}"#);
        assert!(matches!(other.hear(), ServerMessage::Done(_)));
        waits.push(said.elapsed());
    }
    let _ = raw.shutdown(std::net::Shutdown::Both);
    let sent = flood.join().unwrap();
    let _ = reader.join().unwrap();
    assert!(sent > 1_000_000, "only {sent} bytes were sent");
    waits.sort_unstable();
    assert!(waits.len() > 30, "{} answers, the slowest after {:?}", waits.len(), waits.last());
}

#[test]
fn endless_empty_fragments_close_connection_with_reason() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.hello(1);
    let raw = guest.socket.get_mut();
    raw.write_all(&[0x01, 0x80, 0, 0, 0, 0]).unwrap();
    // Pings in between change nothing.
    let pieces = [[0x00, 0x80, 0, 0, 0, 0].repeat(10_000), vec![0x89, 0x80, 0, 0, 0, 0]].concat();
    (0..12).for_each(|_| raw.write_all(&pieces).unwrap());
    assert_eq!(guest.hear_bye(), RejectionCode::TooLarge);
}

#[test]
fn protocol_violations_close_connection_with_reason() {
    let server = TestServer::start();
    for (frame, what) in [
        (&[0x81, 0x02, b'{', b'}'][..], "not masked"),
        (&[0x81, 0x81, 0, 0, 0, 0, 0xff], "not UTF-8"),
        (&[0x82, 0x81, 0, 0, 0, 0, 1], "binary"),
        (&[0xf1, 0x80, 0, 0, 0, 0], "reserved bits"),
        (&[0x83, 0x80, 0, 0, 0, 0], "an unknown kind"),
        (&[0x80, 0x80, 0, 0, 0, 0], "a continuation of nothing"),
        (&[0x09, 0x80, 0, 0, 0, 0], "a fragmented ping"),
    ] {
        let mut guest = server.guest();
        guest.socket.get_mut().write_all(frame).unwrap();
        assert_eq!(guest.hear_bye(), RejectionCode::BadMessage, "{what}");
    }
}

#[test]
fn invalid_messages_are_answered_until_connection_closes() {
    let server = TestServer::start();
    let mut bystander = server.local_slot(1);
    let mut guest = server.guest();
    guest.hello(2);
    for nonsense in
        ["", "{", "[]", "null", r#"{"type":"fly"}"#, r#"{"type":7}"#, "\u{0}", "{\"type\":\"find\""]
    {
        guest.say(nonsense);
        let refused = guest.hear();
        assert!(
            matches!(&refused, ServerMessage::Refused(r) if r.code == RejectionCode::BadMessage),
            "{refused:?}"
        );
    }
    for _ in 0..30 {
        let _ = guest.socket.send(Message::text("nonsense"));
    }
    assert_eq!(guest.hear_bye(), RejectionCode::BadMessage);
    bystander.say(r#"{"type":"touch"}"#);
    assert!(matches!(bystander.hear(), ServerMessage::Done(_)));
}

#[test]
fn silent_connection_is_closed() {
    let server = TestServer::with(|config| config.hello_timeout = Setting(Micros::from_millis(300)));
    // Half a request, and then nothing.
    let mut half = TcpStream::connect(server.address).unwrap();
    half.set_read_timeout(Some(PATIENCE)).unwrap();
    half.write_all(b"GET /lobby HTTP/1.1\r\nHost: ").unwrap();
    let start = Instant::now();
    // A WebSocket, and then nothing.
    let mut silent = server.guest();
    assert_eq!(silent.hear_bye(), RejectionCode::Silent);
    let mut rest = Vec::new();
    half.read_to_end(&mut rest).unwrap();
    // Requests have 5 s; any HTTP connection ends after two minutes.
    assert!(start.elapsed() < NOT_WAITED_FOR, "{:?}", start.elapsed());
}

#[test]
fn endless_pings_close_connection_with_reason() {
    let server = TestServer::start();
    let mut guest = server.guest();
    guest.hello(1);
    let (ping, pong) = ([0x89, 0x80, 0, 0, 0, 0], [0x8a, 0x80, 0, 0, 0, 0]);
    guest.socket.get_mut().write_all(&ping.repeat(50)).unwrap();
    guest.say(r#"{"type":"touch"}"#);
    assert!(matches!(guest.hear(), ServerMessage::Done(_)), "a few are permitted");
    let _ = guest.socket.get_mut().write_all(&pong.repeat(5_000));
    assert_eq!(guest.hear_bye(), RejectionCode::TooFast);
}

#[test]
fn thousand_silent_sockets_keep_no_client_out() {
    let server = TestServer::with(|config| config.hello_timeout = Setting(Micros::from_secs(60)));
    let come = |number: u32| {
        let start = Instant::now();
        let stream = from_other_address(server.address);
        let (socket, _) = tungstenite::client(format!("ws://{}/lobby", server.address), stream).unwrap();
        let mut guest = Guest { socket, me: None };
        guest.hello(number);
        guest.seat(FIND);
        start.elapsed()
    };
    let quiet = (0..9).map(come).collect();
    let mut lurkers = Vec::new();
    for _ in 0..1_000 {
        let Ok(stream) = TcpStream::connect(server.address) else { break };
        let mut stream = stream;
        let _ = stream.write_all(b"GET /");
        lurkers.push(stream);
    }
    // All from one address: a few of them are served, and other addresses are not affected.
    assert_in_peace(quiet, (10..19).map(come).collect());
    // The others are closed at once, without waiting.
    let is_out = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).unwrap();
        !matches!(stream.read(&mut [0; 64]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let out = lurkers.iter_mut().map(is_out).filter(|is_out| *is_out).count();
    assert!(out + 64 >= lurkers.len(), "only {out} of {} were closed", lurkers.len());
}

#[test]
fn client_that_reads_nothing_is_dropped_and_slows_no_other() {
    let server = TestServer::start();
    let mut talker = server.local_slot(1);
    let mut deaf = server.guest();
    let deaf_peer = deaf.hello(2).peer;
    deaf.seat(FIND);
    let mut listener = server.local_slot(3);
    let data = "x".repeat(16_000);
    let signal = format!(r#"{{"type":"signal","to":"{deaf_peer}","data":"{data}"}}"#);
    let quiet = (0..9).map(|_| touch(&mut listener)).collect();
    // Kernel and server buffer some megabytes per socket, which takes a while to fill.
    let (mut loud, start) = (Vec::new(), Instant::now());
    let mut is_gone = false;
    while !is_gone {
        for _ in 0..100 {
            talker.say(&signal);
        }
        let asked = Instant::now();
        listener.say(r#"{"type":"touch"}"#);
        is_gone = listener.hear_until(|message| match message {
            ServerMessage::Done(_) => Some(false),
            ServerMessage::Change(change) => change.events.iter().any(|e| e.kind() == "away").then_some(true),
            _ => None,
        });
        loud.push(asked.elapsed());
        assert!(start.elapsed() < PATIENCE, "the client that reads nothing is still connected");
    }
    assert_in_peace(quiet, loud);
    let (_, numbers) = crate::http::get(server.address, "/metrics", "");
    let counted = "gaggle_connections_ended_total{code=\"too-slow\"} 1\n";
    assert!(numbers.contains(counted), "{counted} is not in\n{numbers}");
}

#[test]
fn storm_of_attackers_leaves_other_clients_undisturbed() {
    // With default limits.
    let server = TestServer::with(|config| config.rate_limits = true);
    let mut bystander = server.local_slot(1);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut ask = || {
        let start = Instant::now();
        bystander.say(r#"{"type":"ready","ready":true}"#);
        bystander.hear_until(|message| matches!(message, ServerMessage::Refused(_)).then_some(()));
        start.elapsed()
    };
    let quiet = (0..9).map(|_| ask()).collect();
    let (mut loud, begin) = (Vec::new(), Instant::now());
    std::thread::scope(|scope| {
        for attacker in 0..3 {
            let (stop, address) = (&stop, server.address);
            scope.spawn(move || attack(address, attacker, stop));
        }
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            loud.push(ask());
            std::thread::sleep(Duration::from_millis(600));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_in_peace(quiet, loud);
    // Sixty rooms at once from one address, then one a second, however many connections request
    // them.
    let (_, numbers) = crate::http::get(server.address, "/metrics", "");
    let made = numbers.lines().find_map(|line| line.strip_prefix("gaggle_rooms_created_total "));
    let made: u64 = made.unwrap().parse().unwrap();
    let most = 1 + 60 + begin.elapsed().as_secs() + 1;
    assert!((2..=most).contains(&made), "{made} rooms, not more than {most}");
    let counts = numbers.lines().filter_map(|line| line.strip_prefix("gaggle_lobby_limited_total{limit="));
    let exceeded: Vec<&str> = counts.filter(|line| !line.ends_with(" 0")).collect();
    assert!(!exceeded.is_empty(), "attackers exceeded no limit:\n{numbers}");
    bystander.say(r#"{"type":"look"}"#);
    let members = bystander.hear_until(|message| match message {
        ServerMessage::Room(room) => Some(room.room.members.len()),
        _ => None,
    });
    assert_eq!(members, 1, "attackers must not join: they search for other games");
}

const TOKEN: &str = r#"{"type":"hello","token":"x"}"#;

/// Connects and sends harmful messages as fast as possible.
fn attack(address: std::net::SocketAddr, attacker: u32, stop: &std::sync::atomic::AtomicBool) {
    let mut number = attacker * 1_000_000;
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let Ok(mut guest) = Guest::try_connect(address) else { continue };
        guest.socket.get_ref().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        number += 1;
        // All at once, before any token can have been checked.
        for text in [TOKEN, TOKEN, r#"{"type":"touch"}"#, TOKEN] {
            let _ = guest.socket.write(Message::text(text));
        }
        let says = [
            crate::guest::hello(number),
            format!(r#"{{"type":"create","game":"attack","mode":"m{number}"}}"#),
            r#"{"type":"join","code":"BCDFGH"}"#.into(),
            r#"{"type":"kick","peer":"00000000000000000000000000000000"}"#.into(),
            r#"{"type":"report","round":1,"scores":[]}"#.into(),
            "[[[[[[[[[[[[[[[[[[[[[[[[".into(),
            format!(r#"{{"type":"settings","settings":{{"a":"{}"}}}}"#, "x".repeat(60_000)),
            format!(r#"{{"type":"settings","settings":{{"a":{}{}}}}}"#, "[".repeat(14), "]".repeat(14)),
            r#"{"type":"start"}"#.into(),
            r#"{"type":"ticket"}"#.into(),
            r#"{"type":"leave"}"#.into(),
        ];
        for text in says.iter().cycle().take(60) {
            if guest.socket.send(Message::text(text.as_str())).is_err() {
                break;
            }
        }
        let mut tickets = Vec::new();
        while let Ok(message) = guest.socket.read() {
            let text = message.into_text().unwrap_or_default();
            tickets.extend(
                text.split("\"ticket\":\"").nth(1).and_then(|rest| rest.split('"').next()).map(String::from),
            );
        }
        // A client with a ticket shows it again, whatever became of the room.
        let Ok(mut again) = Guest::try_connect(address) else { continue };
        let hello = crate::guest::hello(number);
        for ticket in tickets.iter().take(3) {
            let shown = hello.replace('}', &format!(r#","ticket":"{ticket}"}}"#));
            let _ = again.socket.send(Message::text(shown));
        }
    }
}

/// Time until a request is answered.
fn touch(guest: &mut Guest) -> Duration {
    let start = Instant::now();
    guest.say(r#"{"type":"touch"}"#);
    guest.hear_until(|message| matches!(message, ServerMessage::Done(_)).then_some(()));
    start.elapsed()
}

/// Compares answer times without and with an attack, both measured on the same machine; the medians
/// count.
fn assert_in_peace(quiet: Vec<Duration>, loud: Vec<Duration>) {
    let middle = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (quiet, loud) = (middle(quiet), middle(loud));
    assert!(loud < 10 * quiet + Duration::from_millis(300), "{loud:?} instead of {quiet:?}");
}

/// Connects from another loopback address, which counts as another network.
fn from_other_address(address: std::net::SocketAddr) -> TcpStream {
    use std::net::{IpAddr, SocketAddr};
    // The standard library cannot bind a client socket; tokio can.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(IpAddr::from([127, 0, 0, 2]), 0)).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}
