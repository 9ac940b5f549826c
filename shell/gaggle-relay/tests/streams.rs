//! A member that opens more streams on its channel than the one there is.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use gaggle_link::relay::{RelayFrame, RelayRefusal};
use gaggle_native::random_peer;
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;
use str0m::change::SdpAnswer;
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use tungstenite::{Message, WebSocket};

/// How long anything may take on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A member that proves who it is, and speaks WebRTC in its own way.
struct Hostile {
    words: WebSocket<TcpStream>,
    socket: UdpSocket,
    rtc: Rtc,
    open: Vec<ChannelId>,
}

impl Hostile {
    fn come(relay: &Loopback) -> Hostile {
        let stream = TcpStream::connect(relay.address()).unwrap();
        let (mut words, _) = tungstenite::client(relay.url(), stream).unwrap();
        let ticket = relay.ticket(1, random_peer().unwrap());
        words.send(Message::Binary(RelayFrame::Prove { ticket: &ticket }.to_bytes().into())).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let mut rtc = RtcConfig::new().clear_codecs().build(Instant::now());
        rtc.add_local_candidate(Candidate::host(socket.local_addr().unwrap(), "udp").unwrap());
        let mut change = rtc.sdp_api();
        for stream in [0, 77] {
            change.add_channel_with_config(ChannelConfig {
                ordered: false,
                reliability: Reliability::MaxRetransmits { retransmits: 0 },
                negotiated: Some(stream),
                ..ChannelConfig::default()
            });
        }
        let (offer, pending) = change.apply().unwrap();
        let description = offer.to_sdp_string();
        let offer = RelayFrame::Offer { description: &description }.to_bytes();
        words.send(Message::Binary(offer.into())).unwrap();
        let mut hostile = Hostile { words, socket, rtc, open: Vec::new() };
        let answer = hostile.word(|frame| match frame {
            RelayFrame::Answer { description } => Some((*description).to_string()),
            _ => None,
        });
        let answer = SdpAnswer::from_sdp_string(&answer).unwrap();
        hostile.rtc.sdp_api().accept_answer(pending, answer).unwrap();
        hostile
    }

    /// The first word of its socket that is wanted.
    fn word<T>(&mut self, wanted: impl Fn(&RelayFrame<'_>) -> Option<T>) -> T {
        loop {
            let message = self.words.read().unwrap();
            let Message::Binary(bytes) = message else { continue };
            if let Some(found) = RelayFrame::read(&bytes).ok().as_ref().and_then(&wanted) {
                return found;
            }
        }
    }

    /// Lets it talk until something is so.
    fn run_until(&mut self, what: &str, is_so: impl Fn(&Hostile) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "{what}");
            loop {
                match self.rtc.poll_output().unwrap() {
                    Output::Timeout(_) => break,
                    Output::Transmit(sent) => _ = self.socket.send_to(&sent.contents, sent.destination),
                    Output::Event(Event::ChannelOpen(id, _)) => self.open.push(id),
                    Output::Event(_) => {}
                }
            }
            let mut buffer = [0; 2_048];
            let input = match self.socket.recv_from(&mut buffer) {
                Ok((length, source)) => {
                    let destination = self.socket.local_addr().unwrap();
                    let contents = buffer[..length].try_into().unwrap();
                    Input::Receive(
                        Instant::now(),
                        Receive { proto: Protocol::Udp, source, destination, contents },
                    )
                }
                Err(_) => Input::Timeout(Instant::now()),
            };
            self.rtc.handle_input(input).unwrap();
        }
    }

    fn write(&mut self, nth: usize, bytes: &[u8]) {
        self.rtc.channel(self.open[nth]).unwrap().write(true, bytes).unwrap();
    }
}

#[test]
fn whoever_opens_another_stream_is_shown_out() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    let mut hostile = Hostile::come(&relay);
    hostile.run_until("two streams on its side", |hostile| hostile.open.len() == 2);
    // What it says on the one there is counts, and nothing happens to it.
    let totals = || relay.server().totals();
    hostile.write(0, &RelayFrame::Everyone { datagram: b"hello" }.to_bytes());
    hostile.run_until("a datagram handed in", |_| totals().received == 1);
    assert_eq!((totals().members, totals().malformed), (1, 0));
    hostile.write(1, b"hello");
    hostile.run_until("shown out", |_| totals().members == 0);
    assert_eq!(totals().malformed, 1);
    let reason = hostile.word(|frame| match frame {
        RelayFrame::Refused { reason } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, RelayRefusal::Malformed, "it is told why");
}
