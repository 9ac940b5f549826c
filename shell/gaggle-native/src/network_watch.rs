//! Detection that this machine has left the network of a connection, which TCP itself notices
//! minutes later.
//!
//! Used by `relay.rs` and `lobby.rs`. Absent: reconnecting.

use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Interval of checks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks at intervals whether a connection's local address still exists.
#[derive(Debug, Default)]
pub(crate) struct NetworkWatch {
    looked_at: Option<Instant>,
}

impl NetworkWatch {
    /// Whether the local address of a connection is no longer this machine's.
    pub(crate) fn has_moved(&mut self, tcp: &TcpStream) -> bool {
        let now = Instant::now();
        if self.looked_at.is_some_and(|at| now.duration_since(at) < LOOK_EVERY) {
            return false;
        }
        self.looked_at = Some(now);
        tcp.local_addr().is_ok_and(|local| !is_ours(local.ip()))
    }
}

/// Whether this machine has this address, found by binding to it; nothing is sent.
fn is_ours(ip: IpAddr) -> bool {
    !UdpSocket::bind((ip, 0)).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn machine_that_stays_has_not_moved() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut watch = NetworkWatch::default();
        assert!(!watch.has_moved(&tcp) && !watch.has_moved(&tcp));
        assert!(watch.looked_at.is_some());
    }

    #[test]
    fn foreign_address_is_not_local() {
        assert!(is_ours(IpAddr::from([127, 0, 0, 1])));
        // Reserved for documentation (RFC 5737).
        assert!(!is_ours(IpAddr::from([192, 0, 2, 1])));
    }
}
