//! The UDP socket and its addresses.
//!
//! Opened by the owner of a relay, used by [`Port`](super::Port). Absent: content of datagrams.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket as StdUdpSocket};

use tokio::net::UdpSocket;

/// Kernel buffers for times when the thread is busy: about 1,300 datagrams. With more, datagrams
/// would only be read later.
const KERNEL_BYTES: usize = 1 << 20;

/// UDP port for channels.
#[derive(Debug)]
pub struct UdpPort {
    pub(super) socket: StdUdpSocket,
    pub(super) addresses: Vec<SocketAddr>,
}

impl UdpPort {
    /// Opens the port. `told` are its public addresses; if empty, the bound address, or for an
    /// unspecified one this machine's outward addresses.
    ///
    /// # Errors
    /// If the port cannot be opened.
    pub fn bind(listen: SocketAddr, told: &[SocketAddr]) -> io::Result<UdpPort> {
        let socket = StdUdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        // A smaller buffer still works.
        let buffers = socket2::SockRef::from(&socket);
        let _ = buffers.set_recv_buffer_size(KERNEL_BYTES);
        let _ = buffers.set_send_buffer_size(KERNEL_BYTES);
        let bound = socket.local_addr()?;
        let addresses = match told {
            [] if bound.ip().is_unspecified() => outward(bound),
            [] => vec![bound],
            told => told.to_vec(),
        };
        Ok(UdpPort { socket, addresses })
    }

    /// Addresses sent to members.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Outward addresses of this machine, of both families for an IPv6 port. Nothing is sent to find
/// them.
fn outward(bound: SocketAddr) -> Vec<SocketAddr> {
    let v6 = (Ipv6Addr::UNSPECIFIED.into(), ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into());
    let v4 = (std::net::Ipv4Addr::UNSPECIFIED.into(), ([192, 0, 2, 1], 9).into());
    let kinds: &[(IpAddr, SocketAddr)] = if bound.is_ipv4() { &[v4] } else { &[v6, v4] };
    let find = |(here, far): &(IpAddr, SocketAddr)| {
        let socket = StdUdpSocket::bind((*here, 0)).ok()?;
        socket.connect(far).ok()?;
        Some(SocketAddr::new(socket.local_addr().ok()?.ip(), bound.port()))
    };
    let found: Vec<SocketAddr> = kinds.iter().filter_map(find).collect();
    if found.is_empty() {
        return vec![SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), bound.port())];
    }
    found
}

/// The UDP socket. An IPv6 socket may receive from IPv4 addresses, which are then shown as such.
pub(super) struct Socket {
    pub(super) socket: UdpSocket,
    pub(super) is_ipv6: bool,
}

impl Socket {
    pub(super) fn new(socket: StdUdpSocket) -> io::Result<Socket> {
        let is_ipv6 = socket.local_addr()?.is_ipv6();
        Ok(Socket { socket: UdpSocket::from_std(socket)?, is_ipv6 })
    }

    pub(super) fn try_receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.socket.try_recv_from(buffer)?;
        Ok((length, SocketAddr::new(from.ip().to_canonical(), from.port())))
    }

    /// Sends a datagram. If the kernel has no space for it, it is lost, as on the network.
    pub(super) fn send(&self, bytes: &[u8], to: SocketAddr) {
        let to = match to.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        };
        let _ = self.socket.try_send_to(bytes, to);
    }
}
