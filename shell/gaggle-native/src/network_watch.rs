//! Notices that this machine has left the network a connection was made in, of which TCP itself
//! learns minutes later.

use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks now and then whether a connection has a future.
#[derive(Debug, Default)]
pub(crate) struct NetworkWatch {
    looked_at: Option<Instant>,
}

impl NetworkWatch {
    /// Whether the address a connection runs from is no longer this machine's.
    pub(crate) fn has_moved(&mut self, tcp: &TcpStream) -> bool {
        let now = Instant::now();
        if self.looked_at.is_some_and(|at| now.duration_since(at) < LOOK_EVERY) {
            return false;
        }
        self.looked_at = Some(now);
        tcp.local_addr().is_ok_and(|local| !is_ours(local.ip()))
    }
}

/// Whether this machine has this address. Only such a one can be bound to; nothing is sent.
fn is_ours(ip: IpAddr) -> bool {
    !UdpSocket::bind((ip, 0)).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_machine_that_stays_has_not_moved() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut watch = NetworkWatch::default();
        assert!(!watch.has_moved(&tcp) && !watch.has_moved(&tcp));
        assert!(watch.looked_at.is_some());
    }

    #[test]
    fn an_address_of_another_machine_is_not_ours() {
        assert!(is_ours(IpAddr::from([127, 0, 0, 1])));
        // Kept for examples (RFC 5737), so nobody has it.
        assert!(!is_ours(IpAddr::from([192, 0, 2, 1])));
    }
}
