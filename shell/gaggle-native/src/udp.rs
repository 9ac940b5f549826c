//! Links over a UDP socket: connecting by address and room key, encrypted datagrams.
//!
//! This file has the socket; `udp/endpoint.rs` decides. Only peers with the room's key get any
//! answer. A peer must prove that it receives at its address before any state is kept for it, and
//! gets no more bytes than it sent until then. Absent: lobby, relay.

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

/// Longest datagram sent: within the 1,200 bytes that every path carries.
const SENT_BYTES_MAX: usize = HEADER_BYTES + DATAGRAM_BYTES_MAX + TAG_BYTES;

/// Longer than any valid datagram, so that a truncated one is noticed.
const RECEIVED_BYTES_MAX: usize = 2_048;

/// Settings of a [`UdpCarrier`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpConfig {
    /// Most connected peers.
    pub peers_max: usize,
    /// Most sessions that were started and not used yet.
    pub pending_max: usize,
    /// A connection without received datagrams is closed after this time. Longer than a link's
    /// timeout, so that a peer that returns soon finds it open.
    pub timeout: Micros,
    /// A started session must be used within this time.
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

/// Counters of a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UdpStats {
    /// Datagrams received, of any kind.
    pub received: u64,
    /// Datagrams rejected: not authentic, of another room, or repeated.
    pub rejected: u64,
    /// Members of the room rejected by [`UdpConfig::peers_max`] or [`UdpConfig::pending_max`].
    pub dropped: u64,
}

/// A UDP socket as a carrier. Peers with the room key that know the address can connect.
pub struct UdpCarrier {
    socket: UdpSocket,
    endpoint: Endpoint,
    received: Box<[u8]>,
    /// A datagram for the link in `received` that opened a connection: the opening is reported
    /// first.
    held: Option<(PeerId, Range<usize>)>,
    sealed: Box<[u8]>,
    /// Datagrams read at this time.
    taken: (Micros, usize),
    /// Known addresses of peers, for [`ConnectCarrier::connect`].
    addresses: Vec<(PeerId, SocketAddr)>,
}

impl UdpCarrier {
    /// Opens a socket at this address (port 0 for any) for peers with the key.
    ///
    /// # Errors
    /// If the socket can't be opened, or the operating system provides no random bytes.
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

    /// Connects to the peer at this address: repeats until it answers, and again after a loss.
    pub fn connect(&mut self, address: SocketAddr) {
        self.endpoint.connect(address, None);
    }

    /// Adds an address of a peer for [`ConnectCarrier::connect`]. A peer may have several.
    pub fn add_address(&mut self, peer: PeerId, address: SocketAddr) {
        if self.addresses.len() < 1_024 && !self.addresses.contains(&(peer, address)) {
            self.addresses.push((peer, address));
        }
    }

    /// Address of this socket with its actual port.
    ///
    /// # Errors
    /// If the operating system does not report it.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Current address of a connected peer.
    pub fn address_of(&self, peer: PeerId) -> Option<SocketAddr> {
        self.endpoint.address(peer)
    }

    /// Counters since the start.
    pub fn stats(&self) -> UdpStats {
        self.endpoint.totals()
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
            // Unreachable at the moment, or rejected: lost on the network, as far as a link is
            // concerned.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let socket = &self.socket;
        // Handshake datagrams are repeated if lost.
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
            // A flood must not delay the caller: the rest waits until the clock advances.
            if self.taken == (now, DATAGRAMS_AT_ONCE) {
                break;
            }
            let (size, from) = match socket.recv_from(&mut self.received) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Some systems report delivery failures of earlier datagrams here.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::Interrupted) => {
                    continue;
                }
                Err(_) => break,
            };
            self.taken = (now, if self.taken.0 == now { self.taken.1 + 1 } else { 1 });
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
