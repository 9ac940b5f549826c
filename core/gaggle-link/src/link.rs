//! Links to all peers of a carrier: the [`Transport`] that everything else builds on.
//!
//! It performs handshakes, passes packets to the links they belong to, sends what links produce,
//! and emits events. Applications and meshes own it. Absent: behavior within one link
//! (`link/session.rs`).

mod acks;
mod congestion;
mod handshake;
mod heartbeat;
mod pacer;
mod packet;
mod ranges;
mod received;
mod rtt;
mod sent;
mod session;
mod shrink;
mod stream_in;
mod stream_out;
mod streams_in;
mod streams_out;
mod transport;
mod unreliable_queue;

use std::collections::VecDeque;
use std::ops::Range;

use gaggle_kit::{ByteWriter, Micros, PeerId, Prng};

use self::handshake::{Answer, Handshake, Remote};
use self::packet::{Hello, Label, Packet, Peek};
use self::session::{Handled, Link, Silence};
use self::stream_out::StreamOut;
use crate::{
    Carrier, CarrierEvent, Channel, CloseCode, DATAGRAM_BYTES_MAX, DisconnectReason, LinkConfig, PeerFault,
    SendError, Transport,
};

/// Datagrams processed per value of `now`, so that a flood does not delay the caller's next frame.
const DATAGRAMS_PER_POLL_MAX: u32 = 4_096;

/// Copies of a close packet, which is not acknowledged.
const GOODBYES: u32 = 3;

/// Links to all peers a carrier reaches.
///
/// ```
/// use gaggle_kit::Micros;
/// use gaggle_link::sim::{Conditions, SimNet};
/// use gaggle_link::{Channel, TransportEvent, Endpoint, LinkConfig, Transport};
///
/// let mut world = SimNet::new(2, 7);
/// world.set_all(Conditions::latency_ms(50));
/// let mut links =
///     [0, 1].map(|i| Endpoint::new(world.carrier(i), LinkConfig::default(), i as u64));
///
/// let mut arrived_at = None;
/// world.run_for(Micros::from_secs(1), |peer, now| {
///     let mut joined = None;
///     while let Some(event) = links[peer].poll(now) {
///         match event {
///             TransportEvent::Connected { peer } => joined = Some(peer),
///             TransportEvent::Message { bytes: b"hello", .. } => arrived_at = Some(now),
///             _ => {}
///         }
///     }
///     if let (0, Some(other)) = (peer, joined) {
///         links[0].send(now, other, Channel::Reliable(0), b"hello").unwrap();
///     }
///     links[peer].poll_timeout()
/// });
/// // One round trip for the handshake, half of one for the message.
/// assert_eq!(arrived_at, Some(Micros::from_millis(150)));
/// ```
#[derive(Debug)]
pub struct Endpoint<C> {
    carrier: C,
    config: LinkConfig,
    random: Prng,
    /// Sorted by peer id.
    peers: Vec<Peer>,
    /// Index of the peer that the next packet is probably for or from.
    next_peer: usize,
    joined: Vec<PeerId>,
    news: VecDeque<News>,
    /// Buffer of the current datagram.
    datagram: Vec<u8>,
    packet: Box<[u8]>,
    /// Index of the peer whose streams may have more messages.
    reading: Option<usize>,
    now: Micros,
    datagrams_left: u32,
}

#[derive(Debug)]
struct Peer {
    id: PeerId,
    /// Handshake in progress: before there is a link, or when the other side seems to have
    /// restarted.
    handshake: Option<Handshake>,
    session: Option<Box<Link>>,
    /// When a timer is due.
    wake_at: Micros,
}

#[derive(Debug, Clone, Copy)]
enum News {
    Joined(PeerId),
    Left(PeerId, DisconnectReason),
}

enum Found {
    News(News),
    /// Peer by index: its id is copied only into the event.
    Unreliable(usize, Range<usize>),
    Reliable {
        peer: usize,
        stream: u8,
        index: usize,
        range: Range<usize>,
    },
}

impl<C: Carrier> Endpoint<C> {
    /// Links on this carrier. The seed must differ from that of any earlier link under the same
    /// peer id: draw it from the system's entropy where possible.
    pub fn new(carrier: C, config: LinkConfig, seed: u64) -> Endpoint<C> {
        Endpoint {
            carrier,
            config,
            random: Prng::new(seed),
            peers: Vec::new(),
            next_peer: 0,
            joined: Vec::new(),
            news: VecDeque::new(),
            datagram: Vec::new(),
            packet: vec![0; DATAGRAM_BYTES_MAX].into_boxed_slice(),
            reading: None,
            now: Micros::ZERO,
            datagrams_left: DATAGRAMS_PER_POLL_MAX,
        }
    }

    /// Carrier of these links.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Carrier of these links, for example to connect to peers.
    pub fn carrier_mut(&mut self) -> &mut C {
        &mut self.carrier
    }

    /// Closes everything with this peer, connected or not. A connected one is notified, and
    /// [`crate::TransportEvent::Disconnected`] follows.
    pub fn drop_peer(&mut self, now: Micros, peer: PeerId) {
        self.disconnect(now, peer, CloseCode::LEAVING);
        if let Ok(index) = self.find(peer) {
            self.peers.remove(index);
            self.reading = None;
        }
        self.carrier.close(now.max(self.now), peer);
    }

    fn find(&self, peer: PeerId) -> Result<usize, usize> {
        self.peers.binary_search_by_key(&peer, |peer| peer.id)
    }

    /// Like [`find`](Endpoint::find), starting at the next peer: packets of a frame mostly come in
    /// peer order.
    fn find_next(&mut self, peer: PeerId) -> Result<usize, usize> {
        let index = match self.peers.get(self.next_peer) {
            Some(next) if next.id == peer => self.next_peer,
            _ => self.find(peer)?,
        };
        self.next_peer = if index + 1 < self.peers.len() { index + 1 } else { 0 };
        Ok(index)
    }

    fn next(&mut self, now: Micros) -> Option<Found> {
        self.notice_time(now);
        loop {
            if let Some(news) = self.news.pop_front() {
                return Some(Found::News(news));
            }
            if let Some(found) = self.read_on(now) {
                return Some(found);
            }
            if !self.news.is_empty() {
                continue;
            }
            let event =
                if self.datagrams_left > 0 { self.carrier.poll(now, &mut self.datagram) } else { None };
            let Some(event) = event else {
                self.maintain(now);
                return self.news.pop_front().map(Found::News);
            };
            self.datagrams_left -= 1;
            match event {
                CarrierEvent::Opened { peer } => self.handle_opened(now, peer),
                CarrierEvent::Closed { peer } => self.handle_closed(peer),
                CarrierEvent::Rerouted { peer } => {
                    if let Ok(index) = self.find(peer) {
                        self.peers[index].wake_at = now;
                        self.peers[index].session.iter_mut().for_each(|session| session.handle_reroute(now));
                    }
                }
                CarrierEvent::Datagram { peer } => {
                    if let Ok(index) = self.find_next(peer)
                        && let Some(found) = self.handle_datagram(now, index)
                    {
                        return Some(found);
                    }
                }
            }
        }
    }

    fn notice_time(&mut self, now: Micros) {
        if now <= self.now {
            return;
        }
        let since_last = if self.now == Micros::ZERO { Micros::ZERO } else { now.since(self.now) };
        let absence = since_last.since(self.config.heartbeat_interval);
        for session in self.peers.iter_mut().filter_map(|peer| peer.session.as_mut()) {
            session.handle_poll(now, since_last);
            session.handle_absence(absence);
        }
        self.now = now;
        self.datagrams_left = DATAGRAMS_PER_POLL_MAX;
    }

    fn handle_opened(&mut self, now: Micros, peer: PeerId) {
        self.handle_closed(peer);
        let handshake = Some(Handshake::new(now, &mut self.random));
        let index = self.find(peer).unwrap_or_else(|index| index);
        self.peers.insert(index, Peer { id: peer, handshake, session: None, wake_at: now });
    }

    fn handle_closed(&mut self, peer: PeerId) {
        if let Ok(index) = self.find(peer) {
            self.end_session(index, DisconnectReason::CarrierClosed);
            self.peers.remove(index);
        }
    }

    fn handle_datagram(&mut self, now: Micros, index: usize) -> Option<Found> {
        match packet::peek(&self.datagram) {
            Peek::Unreliable => {
                let session = self.peers[index].session.as_mut()?;
                let range = session.handle_unreliable(now, &self.datagram)?;
                return Some(Found::Unreliable(index, range));
            }
            Peek::Hello => {
                if let Ok(Packet::Hello(hello)) = Packet::read(&self.datagram) {
                    self.handle_hello(now, index, &hello);
                }
                return None;
            }
            Peek::Labeled(label) => self.recognize(now, index, label),
        }
        let peer = &mut self.peers[index];
        let session = peer.session.as_mut()?;
        match session.handle(now, &self.datagram, &self.config) {
            Ok(Handled::Other) => {
                peer.wake_at = now;
                self.reading = Some(index);
            }
            Ok(Handled::Refused) => {}
            Ok(Handled::Bye(goodbye)) => self.part(now, index, DisconnectReason::Remote(goodbye)),
            Err(fault) => self.fail(now, index, fault),
        }
        None
    }

    fn handle_hello(&mut self, now: Micros, index: usize, hello: &Hello) {
        let grant = self.config.receive_bytes_max;
        let peer = &mut self.peers[index];
        if let Some(session) = peer.session.as_mut().filter(|session| session.remote().nonce == hello.nonce) {
            if hello.echo == session.nonce() {
                session.handle_greeting(now);
                peer.wake_at = now;
            } else if hello.echo == 0 {
                let answer = Hello { nonce: session.nonce(), echo: hello.nonce, grant };
                self.send_hello(now, index, &answer);
            }
            return;
        }
        let random = &mut self.random;
        let handshake = peer.handshake.get_or_insert_with(|| Handshake::new(now, random));
        match handshake.handle(hello) {
            Answer::Ignore => {}
            Answer::Greet => {
                let answer = handshake.hello(grant);
                self.send_hello(now, index, &answer);
            }
            Answer::Establish(remote) => self.establish(now, index, remote),
        }
    }

    /// A packet may be the first proof that the handshake is complete.
    fn recognize(&mut self, now: Micros, index: usize, found: Label) {
        let peer = &self.peers[index];
        if peer.session.as_ref().is_some_and(|session| session.owns(found)) {
            return;
        }
        if let Some(remote) = peer.handshake.as_ref().and_then(|handshake| handshake.proven_by(found)) {
            self.establish(now, index, remote);
        }
    }

    fn establish(&mut self, now: Micros, index: usize, remote: Remote) {
        self.end_session(index, DisconnectReason::Restarted);
        let peer = &mut self.peers[index];
        let Some(handshake) = peer.handshake.take() else { return };
        peer.session = Some(Box::new(Link::new(now, handshake.nonce(), remote)));
        peer.wake_at = now;
        let id = peer.id;
        if let Err(place) = self.joined.binary_search(&id) {
            self.joined.insert(place, id);
        }
        self.news.push_back(News::Joined(id));
    }

    /// Ends the link; the carrier's connection stays open.
    fn end_session(&mut self, index: usize, reason: DisconnectReason) {
        let peer = &mut self.peers[index];
        if peer.session.take().is_none() {
            return;
        }
        self.reading = None;
        if let Ok(place) = self.joined.binary_search(&peer.id) {
            self.joined.remove(place);
        }
        self.news.push_back(News::Left(peer.id, reason));
    }

    /// Ends the link and the carrier's connection.
    fn part(&mut self, now: Micros, index: usize, reason: DisconnectReason) {
        self.end_session(index, reason);
        let peer = self.peers.remove(index);
        self.carrier.close(now, peer.id);
    }

    fn fail(&mut self, now: Micros, index: usize, fault: PeerFault) {
        self.say_goodbye(now, index, CloseCode::PROTOCOL_ERROR);
        self.part(now, index, DisconnectReason::Fault(fault));
    }

    fn say_goodbye(&mut self, now: Micros, index: usize, goodbye: CloseCode) {
        let peer = &mut self.peers[index];
        let Some(session) = &mut peer.session else { return };
        for _ in 0..GOODBYES {
            let bytes = session.bye(now, &mut self.packet, goodbye);
            // If the carrier is busy, the other side notices by timeout.
            _ = self.carrier.send(now, peer.id, &self.packet[..bytes]);
        }
    }

    fn send_hello(&mut self, now: Micros, index: usize, hello: &Hello) {
        let mut w = ByteWriter::new(&mut self.packet);
        hello.write(&mut w).expect("a handshake fits into a packet");
        let bytes = w.written();
        // If the carrier is busy, the next handshake packet will do.
        _ = self.carrier.send(now, self.peers[index].id, &self.packet[..bytes]);
    }

    /// The next message of a stream that received data.
    fn read_on(&mut self, now: Micros) -> Option<Found> {
        let peer = self.reading?;
        let session = self.peers[peer].session.as_mut()?;
        match session.next_message(&self.config) {
            Ok(Some((stream, index, range))) => return Some(Found::Reliable { peer, stream, index, range }),
            Ok(None) => self.reading = None,
            Err(fault) => self.fail(now, peer, fault),
        }
        None
    }

    fn maintain(&mut self, now: Micros) {
        for index in 0..self.peers.len() {
            if self.peers[index].wake_at <= now {
                self.service(now, index);
            }
        }
    }

    /// Performs what is due for one peer, and schedules the next time.
    fn service(&mut self, now: Micros, index: usize) {
        let peer = &mut self.peers[index];
        if let Some(session) = &mut peer.session {
            if session.handle_timeout(now, &self.config) == Silence::Fine {
                while let Some(outgoing) = session.next_packet(now, &mut self.packet, &self.config) {
                    let taken = self.carrier.send(now, peer.id, &self.packet[..outgoing.bytes]).is_ok();
                    session.transmitted(now, outgoing, taken);
                }
                session.finish_packets();
                peer.wake_at = session.timeout(&self.config);
                return;
            }
            // The carrier may still be open: a peer that is heard again connects again.
            self.end_session(index, DisconnectReason::Timeout);
        }
        let (peer, random) = (&mut self.peers[index], &mut self.random);
        let handshake = peer.handshake.get_or_insert_with(|| Handshake::new(now, random));
        if handshake.next_at() <= now {
            handshake.greeted(now);
            let hello = handshake.hello(self.config.receive_bytes_max);
            peer.wake_at = handshake.next_at();
            self.send_hello(now, index, &hello);
        } else {
            peer.wake_at = handshake.next_at();
        }
    }

    fn send_unreliable(&mut self, now: Micros, index: usize, message: &[u8]) -> Result<(), SendError> {
        if message.len() > Channel::UNRELIABLE_BYTES_MAX {
            return Err(SendError::TooLarge { bytes: message.len(), max: Channel::UNRELIABLE_BYTES_MAX });
        }
        let peer = &mut self.peers[index];
        let Some(session) = &mut peer.session else { return Err(SendError::NotConnected { peer: peer.id }) };
        if let Some(bytes) = session.unreliable(&mut self.packet, message)
            && self.carrier.send(now, peer.id, &self.packet[..bytes]).is_ok()
        {
            if session.unreliable_sent(now, bytes) {
                self.service(now, index);
            }
            return Ok(());
        }
        session.queue_unreliable(message, &self.config);
        self.service(now, index);
        Ok(())
    }

    fn send_reliable(
        &mut self,
        now: Micros,
        index: usize,
        stream: u8,
        message: &[u8],
    ) -> Result<(), SendError> {
        let peer = &mut self.peers[index];
        let Some(session) = &mut peer.session else { return Err(SendError::NotConnected { peer: peer.id }) };
        let (max, queued) = session.reliable_room(&self.config);
        let bytes = StreamOut::bytes_of(message);
        if bytes > max {
            return Err(SendError::TooLarge { bytes: message.len(), max: StreamOut::message_bytes_max(max) });
        }
        if queued + bytes > max {
            return Err(SendError::Backpressure { peer: peer.id, queued, max });
        }
        session.push(stream, message);
        self.service(now, index);
        Ok(())
    }
}
