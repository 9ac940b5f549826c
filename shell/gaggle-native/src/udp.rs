//! Links over a UDP socket: rendezvous by address and room key, sealed datagrams, no answer for
//! strangers.
//!
//! This file has the socket; `udp/endpoint.rs` decides. No peer without the room's key gets any
//! answer. Who has it must show that it receives what is sent to its address before anything is
//! kept about it, and gets no more bytes than it sent until then.

mod endpoint;
mod keys;
mod packet;
mod replay;
mod session;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Carrier, CarrierEvent, ConnectCarrier, DATAGRAM_BYTES_MAX, WouldBlock};

use self::endpoint::Endpoint;
pub use self::keys::RoomKey;
use self::keys::TAG_BYTES;
use self::packet::HEADER_BYTES;
use crate::sockets::DATAGRAMS_AT_ONCE;

/// The longest datagram that is sent: within the 1,200 bytes that pass everywhere.
const SENT_BYTES_MAX: usize = HEADER_BYTES + DATAGRAM_BYTES_MAX + TAG_BYTES;

/// Longer than any datagram we understand, so that one that was cut is not taken for a whole one.
const RECEIVED_BYTES_MAX: usize = 2_048;

/// Settings of a [`UdpCarrier`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpConfig {
    /// Peers that are let in.
    pub peers_max: usize,
    /// Sessions that were begun and not used yet.
    pub pending_max: usize,
    /// A connection on which nothing came for this long is closed. Longer than a link's patience,
    /// so that who comes back from a tunnel finds it still there.
    pub timeout: Micros,
    /// A session that was begun must be used within this time.
    pub handshake_timeout: Micros,
}

impl Default for UdpConfig {
    fn default() -> UdpConfig {
        UdpConfig {
            peers_max: 64,
            pending_max: 64,
            timeout: Micros::from_secs(30),
            handshake_timeout: Micros::from_secs(5),
        }
    }
}

/// What a carrier met so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UdpStats {
    /// Datagrams received, of any kind.
    pub received: u64,
    /// Datagrams that were not genuine, not for us, or seen before.
    pub rejected: u64,
    /// Members of the room that were not let in because there was no room.
    pub dropped: u64,
}

/// A UDP socket as a carrier. Whoever has the same room key and knows the address can connect.
pub struct UdpCarrier {
    socket: UdpSocket,
    endpoint: Endpoint,
    received: Box<[u8]>,
    /// A datagram for the link in `received` that opened a connection: that is told first.
    held: Option<(PeerId, Range<usize>)>,
    sealed: Box<[u8]>,
    /// How many datagrams were taken from the socket at this time.
    taken: (Micros, usize),
    /// Addresses at which peers are to be found, for [`ConnectCarrier::connect`].
    addresses: Vec<(PeerId, SocketAddr)>,
}

impl UdpCarrier {
    /// Opens a socket at this address (port 0 for any) and lets in whoever has the key.
    ///
    /// # Errors
    /// If the socket can't be opened, or the operating system gives no entropy.
    pub fn bind(
        address: SocketAddr,
        local: PeerId,
        key: &RoomKey,
        config: UdpConfig,
    ) -> io::Result<UdpCarrier> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(UdpCarrier {
            socket,
            endpoint: Endpoint::new(local, key, config)?,
            received: vec![0; RECEIVED_BYTES_MAX].into_boxed_slice(),
            held: None,
            sealed: vec![0; SENT_BYTES_MAX].into_boxed_slice(),
            taken: (Micros::ZERO, 0),
            addresses: Vec::new(),
        })
    }

    /// Reaches for the peer at this address, again and again until it answers, and again if it
    /// was lost.
    pub fn connect(&mut self, address: SocketAddr) {
        self.endpoint.connect(address, None);
    }

    /// Tells where a peer may be found, for [`ConnectCarrier::connect`]. A peer may have several
    /// addresses.
    pub fn add_address(&mut self, peer: PeerId, address: SocketAddr) {
        if self.addresses.len() < 1_024 && !self.addresses.contains(&(peer, address)) {
            self.addresses.push((peer, address));
        }
    }

    /// The address of this socket, with the port it got.
    ///
    /// # Errors
    /// If the operating system does not say.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Where a connected peer is.
    pub fn address_of(&self, peer: PeerId) -> Option<SocketAddr> {
        self.endpoint.address(peer)
    }

    /// What came in so far.
    pub fn stats(&self) -> UdpStats {
        self.endpoint.totals
    }

    /// The socket, to wait on it.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }
}

impl Carrier for UdpCarrier {
    fn local_id(&self) -> PeerId {
        self.endpoint.local()
    }

    fn send(&mut self, _now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        if datagram.len() > DATAGRAM_BYTES_MAX {
            return Ok(());
        }
        let Some((address, size)) = self.endpoint.seal(to, datagram, &mut self.sealed) else { return Ok(()) };
        match self.socket.send_to(&self.sealed[..size], address) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(WouldBlock),
            // Unreachable at the moment, or refused by the other machine: lost on the way, as far
            // as a link is concerned.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let socket = &self.socket;
        // What a session has to say for itself is said again if it gets lost.
        let mut transmit = |to: SocketAddr, bytes: &[u8]| _ = socket.send_to(bytes, to);
        loop {
            if let Some(news) = self.endpoint.pop_news() {
                return Some(news);
            }
            if let Some((peer, range)) = self.held.take() {
                datagram.clear();
                datagram.extend_from_slice(&self.received[range]);
                return Some(CarrierEvent::Datagram { peer });
            }
            // A flood must not keep the caller from everything else: the rest waits for its next
            // look at the clock.
            if self.taken == (now, DATAGRAMS_AT_ONCE) {
                break;
            }
            let (size, from) = match socket.recv_from(&mut self.received) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Some systems report here that an earlier datagram could not be delivered.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::Interrupted) => {
                    continue;
                }
                Err(_) => break,
            };
            self.taken = (now, if self.taken.0 == now { self.taken.1 + 1 } else { 1 });
            self.endpoint.totals.received += 1;
            let bytes = &mut self.received[..size];
            self.held = self.endpoint.handle(now, from, bytes, &mut transmit);
        }
        self.endpoint.handle_timeout(now, &mut transmit);
        self.endpoint.pop_news()
    }

    fn poll_timeout(&self) -> Micros {
        self.endpoint.timeout()
    }

    fn close(&mut self, _now: Micros, peer: PeerId) {
        self.endpoint.close(peer);
    }
}

impl ConnectCarrier for UdpCarrier {
    fn connect(&mut self, _now: Micros, peer: PeerId) {
        for (_, address) in self.addresses.iter().filter(|(other, _)| *other == peer) {
            self.endpoint.connect(*address, Some(peer));
        }
    }
}

impl std::fmt::Debug for UdpCarrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UdpCarrier").field("socket", &self.socket).field("local", &self.local_id()).finish()
    }
}
