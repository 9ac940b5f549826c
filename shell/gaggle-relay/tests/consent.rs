//! A member that tries to direct traffic at another host's address.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod hostile;

use std::net::{TcpStream, UdpSocket};
use std::time::Instant;

use gaggle_link::relay::RelayFrame;
use gaggle_native::random_peer_id;
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;
use gaggle_rtc::stun::{self, Stun};
use tungstenite::WebSocket;

use hostile::{Hostile, PATIENCE, prove, say};

/// A member of the room that sends to the attacker all the time.
struct Friend {
    words: WebSocket<TcpStream>,
}

impl Friend {
    fn of(relay: &Loopback, hostile: &Hostile) -> Friend {
        let mut words = prove(relay, random_peer_id().unwrap());
        say(&mut words, RelayFrame::Open { peer: hostile.peer });
        Friend { words }
    }

    fn talk(&mut self, hostile: &Hostile) {
        say(&mut self.words, RelayFrame::Data { peer: hostile.peer, datagram: &[7; 900] });
    }
}

/// A host outside the room. Packets forged in its name are sent from its own socket, which looks
/// the same to the relay.
struct Stranger {
    socket: UdpSocket,
    sent_bytes: usize,
    got: Vec<Vec<u8>>,
}

impl Stranger {
    fn new() -> Stranger {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Stranger { socket, sent_bytes: 0, got: Vec::new() }
    }

    fn send(&mut self, relay: &Loopback, bytes: &[u8]) {
        self.sent_bytes += self.socket.send_to(bytes, relay.address()).unwrap_or(0);
    }

    /// Datagrams received since the last call.
    fn look(&mut self) -> Vec<Vec<u8>> {
        let mut buffer = [0; 2_048];
        let came: Vec<_> =
            std::iter::from_fn(|| self.socket.recv(&mut buffer).ok().map(|length| buffer[..length].to_vec()))
                .collect();
        self.got.extend(came.iter().cloned());
        came
    }

    fn got_bytes(&self) -> usize {
        self.got.iter().map(Vec::len).sum()
    }
}

#[test]
fn no_stream_reaches_address_without_consent() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let mut friend = Friend::of(&relay, &hostile);
    // One never answers; one is a STUN server, which answers any request.
    let (mut silent, mut server) = (Stranger::new(), Stranger::new());
    let began = Instant::now();
    while hostile.heard < 30 || silent.got.len() < 5 || server.got.len() < 5 {
        let is_late = began.elapsed() > PATIENCE;
        assert!(
            !is_late,
            "{} received, {} and {} requested",
            hostile.heard,
            silent.got.len(),
            server.got.len()
        );
        for stranger in [&mut silent, &mut server] {
            let nomination = hostile.nomination();
            stranger.send(&relay, &nomination);
        }
        friend.talk(&hostile);
        hostile.step();
        silent.look();
        for question in server.look() {
            if let Ok(id) = <[u8; 12]>::try_from(&question[8..20]) {
                server.send(&relay, &stun::answer(id, relay.address()));
            }
        }
        for stranger in [&silent, &server] {
            let (got, sent) = (stranger.got_bytes(), stranger.sent_bytes);
            assert!(got <= sent, "{got} bytes for {sent}");
            let is_question =
                |bytes: &Vec<u8>| matches!(stun::read(bytes), Some(Stun::ConnectivityCheck { .. }));
            assert!(stranger.got.iter().all(is_question), "nothing but requests");
        }
    }
}

#[test]
fn moving_member_is_served_where_it_answers() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let mut friend = Friend::of(&relay, &hostile);
    let mut elsewhere = Stranger::new();
    let began = Instant::now();
    // DTLS, as RFC 7983 distinguishes it.
    while !elsewhere.got.iter().any(|bytes| (20..64).contains(&bytes[0])) {
        assert!(began.elapsed() < PATIENCE, "nothing but {} datagrams", elsewhere.got.len());
        let nomination = hostile.nomination();
        elsewhere.send(&relay, &nomination);
        friend.talk(&hostile);
        hostile.step();
        for question in elsewhere.look() {
            if matches!(stun::read(&question), Some(Stun::ConnectivityCheck { .. })) {
                let answer = hostile.answer(&question, relay.address());
                elsewhere.send(&relay, &answer);
            }
        }
    }
}

#[test]
fn forged_address_does_not_displace_owner() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    // Checks forged from the address of a member that is about to open a channel, before and during
    // that.
    let mut victim = Hostile::come(&relay, &[0]);
    let forged = victim.socket.try_clone().unwrap();
    let began = Instant::now();
    while victim.open.is_empty() {
        assert!(began.elapsed() < PATIENCE, "the victim has no channel");
        forged.send_to(&hostile.nomination(), relay.address()).unwrap();
        victim.step();
        hostile.step();
    }
    let mut friend = Friend::of(&relay, &victim);
    while victim.heard < 10 {
        assert!(began.elapsed() < PATIENCE, "the victim received {}", victim.heard);
        forged.send_to(&hostile.nomination(), relay.address()).unwrap();
        friend.talk(&victim);
        victim.step();
        hostile.step();
    }
}

#[test]
fn forged_addresses_cause_requests_within_rate_limit() {
    let config = RelayConfig { frames_per_second: 10, frames_burst: 50, ..RelayConfig::default() };
    let relay = Loopback::start(config).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let began = Instant::now();
    // More than are tracked, so that each is treated as new.
    let mut strangers: Vec<Stranger> = (0..8).map(|_| Stranger::new()).collect();
    for _ in 0..100 {
        for stranger in &mut strangers {
            let nomination = hostile.nomination();
            stranger.send(&relay, &nomination);
        }
        hostile.step();
        strangers.iter_mut().for_each(|stranger| drop(stranger.look()));
    }
    let is_counted = || relay.server().totals().dropped_rate > 100;
    while !is_counted() && began.elapsed() < PATIENCE {
        hostile.step();
    }
    strangers.iter_mut().for_each(|stranger| drop(stranger.look()));
    let asked: usize = strangers.iter().map(|stranger| stranger.got.len()).sum();
    // Two datagrams for each frame a member may send.
    let may = 2 * (50 + 10 * (1 + began.elapsed().as_secs() as usize));
    assert!((10..=may).contains(&asked) && is_counted(), "{asked} requests, of {may}");
}
