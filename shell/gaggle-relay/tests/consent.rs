//! A member that lets somebody else's address seem to be its own.

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

/// Somebody in the room who talks to the member all the time.
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

/// Somebody who has nothing to do with it. What a forger sends under its address comes from its own
/// socket here: the relay cannot tell.
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

    /// What came since the last look.
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
fn no_stream_goes_where_nobody_agreed() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let mut friend = Friend::of(&relay, &hostile);
    // One never answers; one is a server of STUN, which answers whatever it is asked.
    let (mut silent, mut server) = (Stranger::new(), Stranger::new());
    let began = Instant::now();
    while hostile.heard < 30 || silent.got.len() < 5 || server.got.len() < 5 {
        let is_late = began.elapsed() > PATIENCE;
        assert!(!is_late, "{} heard, {} and {} asked", hostile.heard, silent.got.len(), server.got.len());
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
            assert!(stranger.got.iter().all(is_question), "nothing but questions");
        }
    }
}

#[test]
fn a_member_that_moves_is_found_where_it_answers() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let mut friend = Friend::of(&relay, &hostile);
    let mut elsewhere = Stranger::new();
    let began = Instant::now();
    // DTLS, as RFC 7983 tells it.
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
fn nobody_keeps_an_address_that_is_not_theirs() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    // Its checks come from the address of somebody who is about to open a channel, before and all
    // the while.
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
        assert!(began.elapsed() < PATIENCE, "the victim heard {}", victim.heard);
        forged.send_to(&hostile.nomination(), relay.address()).unwrap();
        friend.talk(&victim);
        victim.step();
        hostile.step();
    }
}

#[test]
fn whoever_seems_to_be_everywhere_has_questions_asked_at_its_own_rate_only() {
    let config = RelayConfig { frames_per_second: 10, frames_burst: 50, ..RelayConfig::default() };
    let relay = Loopback::start(config).unwrap();
    let mut hostile = Hostile::come(&relay, &[0]);
    hostile.run_until("a channel", |hostile| !hostile.open.is_empty());
    let began = Instant::now();
    // More than are remembered, so that each is asked as if it had never been.
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
    // Two datagrams for each that a member may hand in.
    let may = 2 * (50 + 10 * (1 + began.elapsed().as_secs() as usize));
    assert!((10..=may).contains(&asked) && is_counted(), "{asked} questions, of {may}");
}
