//! Direct carrier to native peers and pages: WebRTC on UDP sockets.
//!
//! Used by `mesh.rs`. Absent: negotiation (`gaggle-link`), WebRTC itself (`gaggle-rtc`).

use std::collections::{BTreeMap, VecDeque};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use gaggle_kit::{DecodeError, Micros, PeerId};
use gaggle_link::{
    Candidate, Carrier, CarrierEvent, ConnectCarrier, NegotiationCommand, Negotiator, Signal,
    SignaledCarrier, WouldBlock,
};
use gaggle_rtc::stun::{self, Stun, TransactionId};
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcChannelError, RtcOutput};

use crate::sockets::{DATAGRAMS_AT_ONCE, Sockets};

/// Requests to a STUN server until it answers, and their interval.
const QUESTIONS_MAX: u32 = 5;
const QUESTION_EVERY: Duration = Duration::from_millis(250);
/// Most STUN servers used: further ones find no other addresses.
const SERVERS_MAX: usize = 3;
/// Polling interval: sockets cannot wake their caller.
const LOOK_AGAIN: Micros = Micros::from_millis(2);
/// Received datagrams queued for polling; beyond that the oldest is dropped.
const MESSAGES_MAX: usize = 1_024;

/// WebRTC data channels as a carrier.
///
/// Signals travel through whatever the peers have in common: see [`SignaledCarrier`].
#[derive(Debug)]
pub struct WebRtcCarrier {
    local: PeerId,
    negotiator: Negotiator,
    certificate: Certificate,
    sockets: Sockets,
    channels: BTreeMap<PeerId, Held>,
    /// Events not polled yet.
    told: VecDeque<CarrierEvent>,
    messages: VecDeque<(PeerId, u32, Vec<u8>)>,
    dropped: u64,
    /// Unusable descriptions and addresses of peers.
    refused: u64,
    finder: Finder,
    now: Micros,
}

#[derive(Debug)]
struct Held {
    attempt: u32,
    channel: RtcChannel,
    timeout: Instant,
}

impl WebRtcCarrier {
    /// For the local peer, with these STUN servers (`stun:example.org:3478`). The seed should be
    /// random.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn new(local: PeerId, servers: &[String], seed: u64) -> Result<WebRtcCarrier, RtcChannelError> {
        Ok(WebRtcCarrier {
            local,
            negotiator: Negotiator::new(local, seed),
            certificate: Certificate::generate()?,
            sockets: Sockets::open(),
            channels: BTreeMap::new(),
            told: VecDeque::new(),
            messages: VecDeque::new(),
            dropped: 0,
            refused: 0,
            finder: Finder::new(servers),
            now: Micros::ZERO,
        })
    }

    /// Carries out the negotiator's commands.
    fn obey(&mut self) {
        let now = Instant::now();
        while let Some((peer, attempt, command)) = self.negotiator.poll_command() {
            let is_theirs = !matches!(command, NegotiationCommand::Offer);
            let done = match command {
                NegotiationCommand::Drop => {
                    self.drop_channel(peer, attempt, now);
                    continue;
                }
                NegotiationCommand::Offer => self.begin(peer, attempt, now, None),
                NegotiationCommand::Answer(offer) => self.begin(peer, attempt, now, Some(&offer)),
                NegotiationCommand::Accept(answer) => match self.held(peer, attempt) {
                    Some(held) => held.channel.accept(&answer),
                    None => continue,
                },
                NegotiationCommand::Candidate(candidate) => {
                    let held = self.held(peer, attempt);
                    let added = held.map_or(Ok(()), |held| held.channel.add_remote(&candidate.candidate));
                    // One bad address does not end the attempt, and the mDNS names of browsers are
                    // expected.
                    self.refused += u64::from(added.is_err() && !candidate.candidate.contains(".local"));
                    Ok(())
                }
            };
            if done.is_err() {
                self.refused += u64::from(is_theirs);
                self.fail(peer, attempt);
            } else {
                self.drain(peer, now);
            }
        }
    }

    fn begin(
        &mut self,
        peer: PeerId,
        attempt: u32,
        now: Instant,
        offer: Option<&str>,
    ) -> Result<(), RtcChannelError> {
        self.sockets.refresh();
        let mut channel = RtcChannel::new(now, Role::Peer, &self.certificate);
        for address in self.sockets.addresses() {
            channel.add_host(address)?;
        }
        for (base, seen) in &self.finder.seen {
            channel.add_reflexive(*seen, *base)?;
        }
        self.finder.ask_again(&self.sockets, now);
        let description = match offer {
            Some(offer) => channel.answer(offer)?,
            None => channel.offer()?,
        };
        self.channels.insert(peer, Held { attempt, channel, timeout: now });
        self.negotiator.handle_description(peer, attempt, description);
        Ok(())
    }

    fn held(&mut self, peer: PeerId, attempt: u32) -> Option<&mut Held> {
        self.channels.get_mut(&peer).filter(|held| held.attempt == attempt)
    }

    fn drop_channel(&mut self, peer: PeerId, attempt: u32, now: Instant) {
        if self.held(peer, attempt).is_some() {
            self.say_goodbye(peer, now);
            self.told.push_back(CarrierEvent::Closed { peer });
        }
    }

    /// Closes a channel and notifies the other side if possible.
    fn say_goodbye(&mut self, peer: PeerId, now: Instant) {
        let Some(mut held) = self.channels.remove(&peer) else { return };
        held.channel.close();
        loop {
            match held.channel.poll(now) {
                RtcOutput::Transmit { from, to, bytes } => self.sockets.send(from, to, &bytes),
                RtcOutput::Timeout(_) | RtcOutput::Closed => return,
                RtcOutput::Open | RtcOutput::Message(_) => {}
            }
        }
    }

    fn fail(&mut self, peer: PeerId, attempt: u32) {
        self.channels.remove(&peer);
        if self.negotiator.handle_failed(peer, attempt) {
            self.told.push_back(CarrierEvent::Closed { peer });
        }
    }

    /// Carries out a channel's outputs until there are none.
    fn drain(&mut self, peer: PeerId, now: Instant) {
        loop {
            let Some(held) = self.channels.get_mut(&peer) else { return };
            let attempt = held.attempt;
            match held.channel.poll(now) {
                RtcOutput::Transmit { from, to, bytes } => self.sockets.send(from, to, &bytes),
                RtcOutput::Open => {
                    if self.negotiator.handle_opened(peer, attempt) {
                        self.told.push_back(CarrierEvent::Opened { peer });
                    }
                }
                RtcOutput::Message(bytes) => {
                    if self.messages.len() == MESSAGES_MAX {
                        self.messages.pop_front();
                        self.dropped += 1;
                    }
                    self.messages.push_back((peer, attempt, bytes));
                }
                RtcOutput::Closed => {
                    self.fail(peer, attempt);
                    return;
                }
                RtcOutput::Timeout(at) => {
                    held.timeout = at;
                    return;
                }
            }
        }
    }

    fn receive(&mut self, now: Instant) {
        for _ in 0..DATAGRAMS_AT_ONCE {
            let Some((to, from, bytes)) = self.sockets.receive() else { return };
            if let Some(Stun::Response(id, seen)) = stun::read(bytes)
                && let Some(base) = self.finder.handle_answer(id, to, seen)
            {
                self.found(base, seen);
                continue;
            }
            let owner = self.channels.iter_mut().find(|(_, held)| held.channel.accepts(now, from, to, bytes));
            let Some((peer, held)) = owner else { continue };
            let (peer, attempt) = (*peer, held.attempt);
            match held.channel.handle(now, from, to, bytes) {
                Ok(()) => self.drain(peer, now),
                Err(_) => self.fail(peer, attempt),
            }
        }
    }

    /// Sends a newly found public address to all peers being connected.
    fn found(&mut self, base: SocketAddr, seen: SocketAddr) {
        for (peer, held) in &mut self.channels {
            if let Ok(candidate) = held.channel.add_reflexive(seen, base) {
                let candidate = Candidate { line: 0, mid: held.channel.mid().to_string(), candidate };
                self.negotiator.handle_candidate(*peer, held.attempt, candidate);
            }
        }
        let now = Instant::now();
        let peers: Vec<PeerId> = self.channels.keys().copied().collect();
        peers.into_iter().for_each(|peer| self.drain(peer, now));
    }

    fn advance(&mut self) {
        let now = Instant::now();
        self.receive(now);
        self.finder.handle_timeout(&self.sockets, now);
        let due: Vec<(PeerId, u32)> = self
            .channels
            .iter()
            .filter(|(_, held)| held.timeout <= now)
            .map(|(peer, held)| (*peer, held.attempt))
            .collect();
        for (peer, attempt) in due {
            match self.held(peer, attempt).map(|held| held.channel.handle_timeout(now)) {
                Some(Ok(())) => self.drain(peer, now),
                Some(Err(_)) => self.fail(peer, attempt),
                None => {}
            }
        }
        self.obey();
    }
}

impl SignaledCarrier for WebRtcCarrier {
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        let taken = self.negotiator.handle_signal(now, from, text);
        self.obey();
        taken
    }

    fn poll_signal(&mut self) -> Option<(PeerId, Signal)> {
        self.negotiator.poll_signal()
    }

    fn malformed_signals(&self) -> u64 {
        self.refused
    }
}

impl ConnectCarrier for WebRtcCarrier {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        self.negotiator.connect(now, peer);
        self.obey();
    }
}

impl Carrier for WebRtcCarrier {
    fn local_id(&self) -> PeerId {
        self.local
    }

    fn send(&mut self, _: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let Some(held) = self.channels.get_mut(&to) else { return Ok(()) };
        held.channel.write(datagram)?;
        self.drain(to, Instant::now());
        Ok(())
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.now = now;
        loop {
            if let Some(event) = self.told.pop_front() {
                return Some(event);
            }
            while let Some((peer, attempt, bytes)) = self.messages.pop_front() {
                if self.held(peer, attempt).is_some() {
                    *datagram = bytes;
                    return Some(CarrierEvent::Datagram { peer });
                }
            }
            self.advance();
            if self.told.is_empty() && self.messages.is_empty() {
                return None;
            }
        }
    }

    fn poll_timeout(&self) -> Micros {
        if self.channels.is_empty() { Micros::MAX } else { self.now + LOOK_AGAIN }
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }

    fn close(&mut self, _: Micros, peer: PeerId) {
        self.negotiator.remove(peer);
        let now = Instant::now();
        while let Some((peer, attempt, command)) = self.negotiator.poll_command() {
            if command == NegotiationCommand::Drop && self.held(peer, attempt).is_some() {
                self.say_goodbye(peer, now);
            }
        }
        self.told.retain(|event| !matches!(event, CarrierEvent::Opened { peer: other } if *other == peer));
    }
}

/// Finds the public addresses of the sockets.
#[derive(Debug)]
struct Finder {
    servers: Vec<SocketAddr>,
    /// Servers whose names are being resolved.
    names: Option<Receiver<SocketAddr>>,
    /// Open requests: id, socket, server.
    asked: Vec<(TransactionId, SocketAddr, SocketAddr)>,
    times: u32,
    next_at: Option<Instant>,
    /// Local and public address of each socket.
    seen: Vec<(SocketAddr, SocketAddr)>,
}

impl Finder {
    fn new(urls: &[String]) -> Finder {
        let hosts: Vec<String> = urls.iter().filter_map(|url| stun_host(url)).take(SERVERS_MAX).collect();
        let (told, names) = channel();
        // Names are resolved in a thread: the system offers no non-blocking way.
        let wanted = !hosts.is_empty();
        if wanted {
            std::thread::spawn(move || {
                for address in hosts.iter().filter_map(|host| host.to_socket_addrs().ok()).flatten() {
                    if told.send(address).is_err() {
                        return;
                    }
                }
            });
        }
        Finder {
            servers: Vec::new(),
            names: wanted.then_some(names),
            asked: Vec::new(),
            times: 0,
            next_at: None,
            seen: Vec::new(),
        }
    }

    /// A new connection starts: repeats the requests. Addresses behind a router change with time.
    fn ask_again(&mut self, sockets: &Sockets, now: Instant) {
        if self.next_at.is_none() {
            self.times = 0;
            self.next_at = Some(now);
        }
        self.handle_timeout(sockets, now);
    }

    fn handle_timeout(&mut self, sockets: &Sockets, now: Instant) {
        let known = self.servers.len();
        if let Some(names) = &self.names {
            self.servers.extend(names.try_iter().take(SERVERS_MAX - known));
        }
        // A name was resolved late: a connecting peer must not wait longer for its answer.
        if self.servers.len() > known && self.times > 0 {
            self.times = 0;
            self.next_at = Some(now);
        }
        if self.next_at.is_none_or(|at| now < at) {
            return;
        }
        self.times += 1;
        self.next_at = (self.times < QUESTIONS_MAX).then_some(now + QUESTION_EVERY);
        let bases = sockets.addresses().filter(|base| !base.ip().is_loopback());
        for base in bases {
            for server in self.servers.iter().filter(|server| server.is_ipv4() == base.is_ipv4()) {
                let known = self.asked.iter().find(|(_, from, to)| (from, to) == (&base, server));
                let id = known.map(|(id, _, _)| *id).or_else(transaction);
                let Some(id) = id else { return };
                if known.is_none() {
                    self.asked.push((id, base, *server));
                }
                sockets.send(base, *server, &stun::request(id));
            }
        }
    }

    /// Handles an answer. Returns the socket with a new public address, if any.
    fn handle_answer(&mut self, id: TransactionId, at: SocketAddr, seen: SocketAddr) -> Option<SocketAddr> {
        let index = self.asked.iter().position(|(asked, base, _)| *asked == id && *base == at)?;
        let (_, base, _) = self.asked.swap_remove(index);
        let news = seen != base && !self.seen.contains(&(base, seen));
        if news {
            // One public address per socket is enough: the newest.
            self.seen.retain(|(known, _)| *known != base);
            self.seen.push((base, seen));
        }
        news.then_some(base)
    }
}

fn transaction() -> Option<TransactionId> {
    let mut id = TransactionId::default();
    getrandom::fill(&mut id).ok().map(|()| id)
}

/// `host:port` of a STUN server's address; none for TURN, which needs more than a request.
fn stun_host(url: &str) -> Option<String> {
    let host = url.strip_prefix("stun:")?.split('?').next()?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(if has_port { host.to_string() } else { format!("{host}:3478") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_addresses_are_read_as_people_write_them() {
        assert_eq!(stun_host("stun:example.org").as_deref(), Some("example.org:3478"));
        assert_eq!(stun_host("stun:192.0.2.1:5000").as_deref(), Some("192.0.2.1:5000"));
        assert_eq!(stun_host("stun:[2001:db8::1]:5000").as_deref(), Some("[2001:db8::1]:5000"));
        assert_eq!(stun_host("turn:example.org"), None);
    }

    #[test]
    fn late_resolved_server_is_asked_at_once_up_to_limit() {
        let sockets = Sockets::open();
        let bases = sockets.addresses().filter(|base| base.is_ipv4() && !base.ip().is_loopback()).count();
        assert_ne!(bases, 0, "no socket to ask from");
        let mut finder = Finder::new(&[]);
        let (told, names) = channel();
        finder.names = Some(names);
        let began = Instant::now();
        finder.ask_again(&sockets, began);
        let questions = (1..=2 * QUESTIONS_MAX).map(|nth| began + QUESTION_EVERY * nth);
        questions.for_each(|now| finder.handle_timeout(&sockets, now));
        assert_eq!((finder.asked.len(), finder.next_at), (0, None), "no name is resolved yet");
        let late = began + 3 * QUESTIONS_MAX * QUESTION_EVERY;
        for port in 1..=2 * SERVERS_MAX {
            let port = u16::try_from(port).unwrap();
            told.send(SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
        }
        finder.handle_timeout(&sockets, late);
        assert_eq!(finder.asked.len(), bases * SERVERS_MAX);
        finder.handle_timeout(&sockets, late);
        assert_eq!(finder.asked.len(), bases * SERVERS_MAX, "further servers do not help");
        assert_eq!(finder.next_at, Some(late + QUESTION_EVERY));
    }

    #[test]
    fn unrequested_answers_are_ignored() {
        let mut finder = Finder::new(&[]);
        let (base, seen) = ("10.0.0.1:5".parse().unwrap(), "192.0.2.7:9".parse().unwrap());
        assert_eq!(finder.handle_answer([1; 12], base, seen), None);
        finder.asked.push(([1; 12], base, seen));
        assert_eq!(finder.handle_answer([1; 12], seen, seen), None, "it arrived at another socket");
        assert_eq!(finder.handle_answer([1; 12], base, seen), Some(base));
        assert_eq!(finder.handle_answer([1; 12], base, seen), None, "an answer counts once");
    }
}
