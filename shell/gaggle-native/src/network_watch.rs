//! Notices that this machine has left the network a connection was made in, of which TCP itself learns minutes later.

use std::io::ErrorKind;
use std::net::{TcpStream, UdpSocket};
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
        let Ok(local) = tcp.local_addr() else { return false };
        // Only an address of this machine can be bound to; nothing is sent.
        UdpSocket::bind((local.ip(), 0)).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
    }
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
}
