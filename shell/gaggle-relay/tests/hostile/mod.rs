//! An authenticated member with its own, possibly malicious WebRTC behavior.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;
use gaggle_native::random_peer_id;
use gaggle_relay::loopback::Loopback;
use str0m::change::SdpAnswer;
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::ice::{IceCreds, StunMessage, TransId};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use tungstenite::{Message, WebSocket};

/// Upper bound of every wait, for the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Default loopback address of members.
const HERE: [u8; 4] = [127, 0, 0, 1];

/// WebSocket of an authenticated member of the first room.
pub(crate) fn prove(relay: &Loopback, peer: PeerId) -> WebSocket<TcpStream> {
    prove_from(HERE, relay, peer)
}

/// WebSocket of an authenticated member, from this loopback address.
pub(crate) fn prove_from(from: [u8; 4], relay: &Loopback, peer: PeerId) -> WebSocket<TcpStream> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&relay.address().into()).unwrap();
    let stream = TcpStream::from(socket);
    let (mut words, _) = tungstenite::client(relay.url(), stream).unwrap();
    say(&mut words, RelayFrame::Authenticate { ticket: &relay.ticket(1, peer) });
    words
}

pub(crate) fn say(words: &mut WebSocket<TcpStream>, frame: RelayFrame<'_>) {
    words.send(Message::Binary(frame.to_bytes().into())).unwrap();
}

/// First frame on the WebSocket for which `wanted` returns a value.
pub(crate) fn word<T>(words: &mut WebSocket<TcpStream>, wanted: impl Fn(&RelayFrame<'_>) -> Option<T>) -> T {
    loop {
        let Message::Binary(bytes) = words.read().unwrap() else { continue };
        if let Some(found) = RelayFrame::read(&bytes).ok().as_ref().and_then(&wanted) {
            return found;
        }
    }
}

/// The hostile member.
pub(crate) struct Hostile {
    pub(crate) peer: PeerId,
    pub(crate) words: WebSocket<TcpStream>,
    pub(crate) socket: UdpSocket,
    pub(crate) rtc: Rtc,
    pub(crate) open: Vec<ChannelId>,
    /// Number of messages received.
    pub(crate) heard: usize,
    /// User name and password of the relay's side of the channel.
    relay: IceCreds,
}

impl Hostile {
    /// A member whose offer with these streams was answered; nothing was sent by UDP yet.
    pub(crate) fn come(relay: &Loopback, streams: &[u16]) -> Hostile {
        Hostile::come_from(HERE, relay, streams)
    }

    /// Like [`Hostile::come`], from this loopback address.
    pub(crate) fn come_from(from: [u8; 4], relay: &Loopback, streams: &[u16]) -> Hostile {
        let peer = random_peer_id().unwrap();
        let mut words = prove_from(from, relay, peer);
        let socket = UdpSocket::bind(SocketAddr::from((from, 0))).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let mut rtc = RtcConfig::new().clear_codecs().build(Instant::now());
        rtc.add_local_candidate(Candidate::host(socket.local_addr().unwrap(), "udp").unwrap());
        let mut change = rtc.sdp_api();
        for stream in streams {
            change.add_channel_with_config(ChannelConfig {
                ordered: false,
                reliability: Reliability::MaxRetransmits { retransmits: 0 },
                negotiated: Some(*stream),
                ..ChannelConfig::default()
            });
        }
        let (offer, pending) = change.apply().unwrap();
        say(&mut words, RelayFrame::Offer { description: &offer.to_sdp_string() });
        let answer = word(&mut words, |frame| match frame {
            RelayFrame::Answer { description } => Some((*description).to_string()),
            _ => None,
        });
        let line =
            |begin: &str| answer.lines().find_map(|line| line.strip_prefix(begin)).unwrap().to_string();
        let creds = IceCreds { ufrag: line("a=ice-ufrag:"), pass: line("a=ice-pwd:") };
        rtc.sdp_api().accept_answer(pending, SdpAnswer::from_sdp_string(&answer).unwrap()).unwrap();
        Hostile { peer, words, socket, rtc, open: Vec::new(), heard: 0, relay: creds }
    }

    /// Runs it until the condition holds.
    pub(crate) fn run_until(&mut self, what: &str, is_so: impl Fn(&Hostile) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "{what}");
            self.step();
        }
    }

    /// Runs it for a moment.
    pub(crate) fn step(&mut self) {
        loop {
            match self.rtc.poll_output().unwrap() {
                Output::Timeout(_) => break,
                Output::Transmit(sent) => _ = self.socket.send_to(&sent.contents, sent.destination),
                Output::Event(Event::ChannelOpen(id, _)) => self.open.push(id),
                Output::Event(Event::ChannelData(_)) => self.heard += 1,
                Output::Event(_) => {}
            }
        }
        let mut buffer = [0; 2_048];
        let input = match self.socket.recv_from(&mut buffer) {
            Ok((length, source)) => {
                let destination = self.socket.local_addr().unwrap();
                let contents = buffer[..length].try_into().unwrap();
                let receive = Receive { proto: Protocol::Udp, source, destination, contents };
                Input::Receive(Instant::now(), receive)
            }
            Err(_) => Input::Timeout(Instant::now()),
        };
        self.rtc.handle_input(input).unwrap();
    }

    pub(crate) fn write(&mut self, nth: usize, bytes: &[u8]) {
        self.rtc.channel(self.open[nth]).unwrap().write(true, bytes).unwrap();
    }

    /// A check that nominates its source address for all traffic.
    pub(crate) fn nomination(&mut self) -> Vec<u8> {
        let own = self.rtc.direct_api().local_ice_credentials();
        let names = format!("{}:{}", self.relay.ufrag, own.ufrag);
        let check = StunMessage::binding_request(&names, TransId::new(), true, 7, (1 << 31) - 1, true);
        signed(check, &self.relay.pass)
    }

    /// Answer to a consent request.
    pub(crate) fn answer(&mut self, question: &[u8], seen: SocketAddr) -> Vec<u8> {
        let own = self.rtc.direct_api().local_ice_credentials();
        let question = StunMessage::parse(question).unwrap();
        signed(StunMessage::binding_reply(question.trans_id(), seen), &own.pass)
    }
}

fn signed(message: StunMessage<'_>, password: &str) -> Vec<u8> {
    let crypto = str0m::crypto::from_feature_flags();
    let mut bytes = vec![0; 512];
    let sign = |key: &[u8], parts: &[&[u8]]| crypto.sha1_hmac_provider.sha1_hmac(key, parts);
    let length = message.to_bytes(Some(password.as_bytes()), &mut bytes, sign).unwrap();
    bytes.truncate(length);
    bytes
}
