//! UDP sockets for WebRTC: one per outward address of this machine, so that the receiving address
//! of a datagram is known.
//!
//! Used by both WebRTC users of this crate. Absent: content of datagrams.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Receive buffer, longer than any valid datagram.
const DATAGRAM_BYTES_MAX: usize = 2_048;
/// Datagrams read per poll, so that a flood does not delay the caller.
pub(crate) const DATAGRAMS_AT_ONCE: usize = 1_024;

/// One socket per address.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: Vec<(SocketAddr, UdpSocket)>,
    buffer: Box<[u8]>,
}

impl Sockets {
    /// Opens a socket for each address.
    pub(crate) fn open() -> Sockets {
        let mut sockets = Sockets { sockets: vec![], buffer: vec![0; DATAGRAM_BYTES_MAX].into_boxed_slice() };
        sockets.refresh();
        sockets
    }

    /// Opens sockets for addresses added since: after a change of networks, for example.
    pub(crate) fn refresh(&mut self) {
        for ip in addresses() {
            if self.sockets.iter().any(|(address, _)| address.ip() == ip) {
                continue;
            }
            let opened = UdpSocket::bind((ip, 0)).and_then(|socket| {
                socket.set_nonblocking(true)?;
                Ok((socket.local_addr()?, socket))
            });
            // An address that has disappeared again is not needed.
            self.sockets.extend(opened);
        }
    }

    /// Addresses of all sockets.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.sockets.iter().map(|(address, _)| *address)
    }

    /// Sends a datagram from one of the addresses. On failure it is lost, as on the network.
    pub(crate) fn send(&self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        if let Some((_, socket)) = self.sockets.iter().find(|(address, _)| *address == from) {
            let _ = socket.send_to(bytes, to);
        }
    }

    /// Next datagram: receiving address, sender, content.
    pub(crate) fn receive(&mut self) -> Option<(SocketAddr, SocketAddr, &[u8])> {
        for (address, socket) in &self.sockets {
            loop {
                match socket.recv_from(&mut self.buffer) {
                    Ok((length, from)) => return Some((*address, from, &self.buffer[..length])),
                    // Some systems report delivery failures of earlier datagrams here.
                    Err(error)
                        if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::Interrupted) => {}
                    Err(_) => break,
                }
            }
        }
        None
    }
}

/// Outward addresses of this machine, and loopback for peers on the same machine.
fn addresses() -> Vec<IpAddr> {
    let far: [SocketAddr; 2] =
        [(Ipv4Addr::new(192, 0, 2, 1), 9).into(), (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into()];
    let here: [SocketAddr; 2] = [(Ipv4Addr::UNSPECIFIED, 0).into(), (Ipv6Addr::UNSPECIFIED, 0).into()];
    // Connecting a socket selects the address; nothing is sent.
    let outward = here.into_iter().zip(far).filter_map(|(here, far)| {
        let socket = UdpSocket::bind(here).ok()?;
        socket.connect(far).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    });
    let mut found: Vec<IpAddr> = outward.filter(|ip| !ip.is_unspecified() && !ip.is_loopback()).collect();
    found.push(Ipv4Addr::LOCALHOST.into());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagram_is_received_with_its_local_address() {
        let (a, mut b) = (Sockets::open(), Sockets::open());
        let loopback = |sockets: &Sockets| sockets.addresses().find(|address| address.ip().is_loopback());
        let (from, to) = (loopback(&a).unwrap(), loopback(&b).unwrap());
        a.send(from, to, b"honk");
        let received = (0..1_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            b.receive().map(|(at, from, bytes)| (at, from, bytes.to_vec()))
        });
        assert_eq!(received, Some((to, from, b"honk".to_vec())));
        let before = b.addresses().count();
        b.refresh();
        assert_eq!(b.addresses().count(), before, "known addresses need no second socket");
    }
}
