//! Two channels connected in memory and virtual time: number of datagrams, and reactions to
//! forbidden streams and to forged packets that would make the other side keep state.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod forged;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gaggle_rtc::stun::{self, Stun};
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcOutput};
use str0m::change::{SdpAnswer, SdpPendingOffer};
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};

const MS: Duration = Duration::from_millis(1);

fn address(nth: u16) -> SocketAddr {
    ([127, 0, 0, 1], 4_000 + nth).into()
}

/// One side: messages sent and received.
trait Side {
    fn poll(&mut self, now: Instant) -> Vec<Vec<u8>>;
    fn handle(&mut self, now: Instant, from: SocketAddr, to: SocketAddr, bytes: &[u8]);
    fn pass_time(&mut self, now: Instant);
}

/// A side that follows the protocol.
struct Honest {
    channel: RtcChannel,
    heard: usize,
    closed: bool,
}

impl Honest {
    fn new(now: Instant, role: Role, nth: u16) -> Honest {
        let mut channel = RtcChannel::new(now, role, &Certificate::generate().unwrap());
        channel.add_host(address(nth)).unwrap();
        Honest { channel, heard: 0, closed: false }
    }
}

impl Side for Honest {
    fn poll(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        loop {
            match self.channel.poll(now) {
                RtcOutput::Transmit { bytes, .. } => datagrams.push(bytes),
                RtcOutput::Message(_) => self.heard += 1,
                RtcOutput::Closed => self.closed = true,
                RtcOutput::Open => {}
                RtcOutput::Timeout(_) => return datagrams,
            }
        }
    }

    fn handle(&mut self, now: Instant, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.channel.handle(now, from, to, bytes).unwrap();
    }

    fn pass_time(&mut self, now: Instant) {
        self.channel.handle_timeout(now).unwrap();
    }
}

/// A side that speaks WebRTC and opens any streams.
struct Hostile {
    rtc: Rtc,
    pending: Option<SdpPendingOffer>,
    open: Vec<ChannelId>,
}

impl Hostile {
    /// With an offer of the permitted channel, and of others.
    fn new(now: Instant, others: &[Option<u16>]) -> (Hostile, String) {
        let mut rtc = RtcConfig::new().set_crypto_provider(forged::provider()).clear_codecs().build(now);
        rtc.add_local_candidate(Candidate::host(address(1), "udp").unwrap());
        let mut change = rtc.sdp_api();
        for negotiated in [Some(0)].iter().chain(others) {
            change.add_channel_with_config(ChannelConfig {
                ordered: false,
                reliability: Reliability::MaxRetransmits { retransmits: 0 },
                negotiated: *negotiated,
                ..ChannelConfig::default()
            });
        }
        let (offer, pending) = change.apply().unwrap();
        (Hostile { rtc, pending: Some(pending), open: Vec::new() }, offer.to_sdp_string())
    }

    fn write(&mut self, nth: usize, bytes: &[u8]) {
        self.rtc.channel(self.open[nth]).unwrap().write(true, bytes).unwrap();
    }
}

impl Side for Hostile {
    fn poll(&mut self, _: Instant) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        while self.rtc.is_alive() {
            match self.rtc.poll_output().unwrap() {
                Output::Timeout(_) => break,
                Output::Transmit(transmit) => datagrams.push(transmit.contents.into()),
                Output::Event(Event::ChannelOpen(id, _)) => self.open.push(id),
                Output::Event(_) => {}
            }
        }
        datagrams
    }

    fn handle(&mut self, now: Instant, source: SocketAddr, destination: SocketAddr, bytes: &[u8]) {
        let receive =
            Receive { proto: Protocol::Udp, source, destination, contents: bytes.try_into().unwrap() };
        self.rtc.handle_input(Input::Receive(now, receive)).unwrap();
    }

    fn pass_time(&mut self, now: Instant) {
        self.rtc.handle_input(Input::Timeout(now)).unwrap();
    }
}

/// Carries datagrams between two sides for a millisecond; returns their number.
fn carry(now: Instant, server: &mut impl Side, client: &mut impl Side) -> usize {
    let mut count = 0;
    server.pass_time(now);
    client.pass_time(now);
    loop {
        let (down, up) = (server.poll(now), client.poll(now));
        if down.is_empty() && up.is_empty() {
            return count;
        }
        count += down.len() + up.len();
        down.iter().for_each(|bytes| client.handle(now, address(0), address(1), bytes));
        up.iter().for_each(|bytes| server.handle(now, address(1), address(0), bytes));
    }
}

/// Two connected honest sides.
fn pair(now: &mut Instant) -> (Honest, Honest) {
    let (mut server, mut client) = (Honest::new(*now, Role::Server, 0), Honest::new(*now, Role::Peer, 1));
    let answer = server.channel.answer(&client.channel.offer().unwrap()).unwrap();
    client.channel.accept(&answer).unwrap();
    for _ in 0..5_000 {
        *now += MS;
        carry(*now, &mut server, &mut client);
        if server.channel.is_open() && client.channel.is_open() {
            return (server, client);
        }
    }
    panic!("no channel opened");
}

#[test]
fn acks_of_game_travel_with_its_messages() {
    let mut now = Instant::now();
    let (mut server, mut client) = pair(&mut now);
    (0..300).for_each(|_| {
        now += MS;
        carry(now, &mut server, &mut client);
    });
    let mut datagrams = 0;
    for tick in 0..1_000 {
        now += MS;
        if tick % 16 == 0 {
            client.channel.write(&[1; 100]).unwrap();
        }
        if tick % 16 == 9 {
            server.channel.write(&[2; 100]).unwrap();
        }
        datagrams += carry(now, &mut server, &mut client);
    }
    let messages = server.heard + client.heard;
    assert_eq!(messages, 125, "every message arrives");
    // The rest are occasional ICE checks.
    assert!(datagrams <= messages + 10, "{datagrams} datagrams for {messages} messages");
}

#[test]
fn longest_message_is_one_datagram() {
    let mut now = Instant::now();
    let (mut server, mut client) = pair(&mut now);
    // A frame of the relay: kind, peer, and a link's longest datagram.
    client.channel.write(&[1; 1 + 16 + 1_100]).unwrap();
    server.channel.write(&[1; 1 + 16 + 1_100]).unwrap();
    (0..100).for_each(|_| {
        now += MS;
        carry(now, &mut server, &mut client);
    });
    assert_eq!((server.heard, client.heard), (1, 1));
    assert!(!server.channel.is_faulty() && !client.channel.is_faulty());
}

#[test]
fn receiving_side_acknowledges_in_time() {
    let mut now = Instant::now();
    let (mut server, mut client) = pair(&mut now);
    // More than may be in flight unacknowledged; nothing is retransmitted, nothing may be lost.
    for tick in 0..4_000 {
        now += MS;
        if tick % 2 == 0 {
            client.channel.write(&[1; 1_100]).unwrap();
        }
        carry(now, &mut server, &mut client);
    }
    assert_eq!(server.heard, 2_000);
    // Then occasional messages, each alone.
    for tick in 0..10_000 {
        now += MS;
        if tick % 500 == 0 {
            client.channel.write(&[1; 50]).unwrap();
        }
        carry(now, &mut server, &mut client);
    }
    assert_eq!(server.heard, 2_020);
}

/// A connected honest side and a hostile one.
fn hostile_pair(now: &mut Instant, others: &[Option<u16>]) -> (Honest, Hostile) {
    let mut server = Honest::new(*now, Role::Server, 0);
    let (mut hostile, offer) = Hostile::new(*now, others);
    let answer = server.channel.answer(&offer).unwrap();
    let pending = hostile.pending.take().unwrap();
    hostile.rtc.sdp_api().accept_answer(pending, SdpAnswer::from_sdp_string(&answer).unwrap()).unwrap();
    for _ in 0..5_000 {
        *now += MS;
        carry(*now, &mut server, &mut hostile);
        if hostile.open.len() == 1 + others.len() && server.channel.is_open() {
            break;
        }
    }
    (server, hostile)
}

#[test]
fn side_that_opens_another_stream_is_disconnected() {
    // One that requests it, and one that just uses it.
    for other in [None, Some(77)] {
        let mut now = Instant::now();
        let (mut server, mut hostile) = hostile_pair(&mut now, &[other]);
        if other.is_some() {
            assert!(!server.channel.is_faulty(), "it has sent nothing yet");
            hostile.write(0, b"honest");
            carry(now, &mut server, &mut hostile);
            assert!(!server.closed && server.heard == 1);
            hostile.write(1, b"hostile");
            carry(now, &mut server, &mut hostile);
        }
        assert!(server.channel.is_faulty() && server.closed, "{other:?}");
    }
}

#[test]
fn only_other_side_answers_request() {
    let mut now = Instant::now();
    let (server, mut client) = pair(&mut now);
    let (mut other_server, _) = pair(&mut now);
    let question = server.channel.request([7; 12]).unwrap();
    now += MS;
    client.poll(now);
    client.handle(now, address(0), address(1), &question);
    let answers = client.poll(now);
    let answer = answers.iter().find(|bytes| server.channel.is_response(bytes)).expect("it answers");
    assert!(matches!(stun::read(answer), Some(Stun::Response(id, _)) if id == [7; 12]), "to this request");
    assert!(!other_server.channel.is_response(answer), "another channel has another secret");
    // As a STUN server answers, which ignores the signature.
    assert!(!server.channel.is_response(&stun::answer([7; 12], address(0))));
    for at in 0..answer.len() {
        let mut damaged = answer.clone();
        damaged[at] ^= 1;
        // Bytes after the signature are not signed; the fingerprint is public.
        assert!(!server.channel.is_response(&damaged) || at + 8 >= answer.len(), "{at}");
    }
    // No other channel answers.
    other_server.poll(now);
    other_server.handle(now, address(1), address(0), &question);
    assert!(other_server.poll(now).is_empty());
}

#[test]
fn request_is_no_longer_than_any_check() {
    let mut now = Instant::now();
    let mut server = Honest::new(now, Role::Server, 0);
    let mut client = Honest::new(now, Role::Peer, 1);
    assert_eq!(server.channel.request([7; 12]), None, "no offer was answered yet");
    let answer = server.channel.answer(&client.channel.offer().unwrap()).unwrap();
    client.channel.accept(&answer).unwrap();
    let question = server.channel.request([7; 12]).unwrap();
    let mut checks = 0;
    for _ in 0..1_000 {
        now += MS;
        client.pass_time(now);
        for bytes in client.poll(now) {
            assert!(matches!(stun::read(&bytes), Some(Stun::ConnectivityCheck { .. })));
            assert!(question.len() <= bytes.len(), "{} bytes for {}", question.len(), bytes.len());
            checks += 1;
        }
    }
    assert!(checks > 0);
}

#[test]
fn side_that_sends_endless_fragments_is_disconnected() {
    // First fragments of ever new messages; middle fragments without a first; empty messages.
    for (flags, bytes) in [(0b110, &b"x"[..]), (0b100, b"x"), (0b101, b"x"), (0b010, b"x"), (0b111, b"")] {
        let mut now = Instant::now();
        let (mut server, mut hostile) = hostile_pair(&mut now, &[]);
        hostile.write(0, b"honest");
        carry(now, &mut server, &mut hostile);
        assert_eq!(server.heard, 1);
        let next = forged::last_number() + 1;
        let pieces: Vec<_> = (0..40).map(|nth| forged::data(flags, next + nth, bytes)).collect();
        forged::say(&pieces);
        carry(now + MS, &mut server, &mut hostile);
        assert!(server.channel.is_faulty() && server.closed, "{flags:b}");
    }
}

#[test]
fn data_after_gap_is_bounded() {
    let mut now = Instant::now();
    let (mut server, mut hostile) = hostile_pair(&mut now, &[]);
    hostile.write(0, b"honest");
    carry(now, &mut server, &mut hostile);
    // One is missing, and it is not given up.
    let mut next = forged::last_number() + 2;
    for _ in 0..200 {
        now += MS;
        let messages: Vec<_> = (0..40).map(|nth| forged::data(0b111, next + nth, b"x")).collect();
        next += 40;
        forged::say(&messages);
        carry(now, &mut server, &mut hostile);
    }
    assert!(server.heard > 500, "a gap alone delays nothing: {}", server.heard);
    assert!(server.heard <= 1_024, "{} messages are buffered", server.heard);
    assert!(!server.closed, "losses are permitted");
    // Once it is given up everything continues.
    let heard = server.heard;
    forged::say(&[forged::forward(next - 1)]);
    // The longest delay of an acknowledgement.
    (0..300).for_each(|_| {
        now += MS;
        carry(now, &mut server, &mut hostile);
    });
    forged::say(&[forged::data(0b111, next, b"x")]);
    carry(now, &mut server, &mut hostile);
    assert_eq!(server.heard, heard + 1);
}

#[test]
fn full_room_on_lossy_network_is_received() {
    let mut now = Instant::now();
    let (mut server, mut client) = pair(&mut now);
    let (mut sent, mut chance) = (0, 1_u32);
    for tick in 0..8_000 {
        now += MS;
        // For four seconds; then queued messages may still be sent.
        if tick % 16 == 0 && tick < 4_000 {
            // Small ones for every other member of a room of 64, as long as the buffer has space.
            sent += (0..63).filter(|_| client.channel.write(&[1; 60]).is_ok()).count();
        }
        server.pass_time(now);
        client.pass_time(now);
        // One of ten datagrams is lost, in both directions.
        let mut is_lost = || {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 16) % 10 == 0
        };
        let (down, up) = (server.poll(now), client.poll(now));
        down.iter()
            .filter(|_| !is_lost())
            .for_each(|bytes| client.handle(now, address(0), address(1), bytes));
        up.iter().filter(|_| !is_lost()).for_each(|bytes| server.handle(now, address(1), address(0), bytes));
    }
    assert!(!server.closed && !server.channel.is_faulty());
    assert!(sent > 1_000, "only {sent} were sent");
    assert!(server.heard * 10 > sent * 8, "{} of {sent} were received", server.heard);
}
