//! TCP proxy to the server, which tests can cut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The proxy. It ends with the test.
pub(crate) struct Wire {
    address: SocketAddr,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    gone: Arc<AtomicBool>,
}

impl Wire {
    pub(crate) fn to(server: SocketAddr) -> Wire {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let streams = Arc::<Mutex<Vec<TcpStream>>>::default();
        let gone = Arc::<AtomicBool>::default();
        let (kept, is_gone) = (Arc::clone(&streams), Arc::clone(&gone));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) else { return };
                if is_gone.load(Ordering::Relaxed) {
                    continue;
                }
                let mut kept = kept.lock().unwrap();
                kept.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                carry(client.try_clone().unwrap(), server.try_clone().unwrap());
                carry(server, client);
            }
        });
        Wire { address, streams, gone }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections; later ones are closed at once, as if the server were down.
    pub(crate) fn end(&self) {
        self.gone.store(true, Ordering::Relaxed);
        self.cut();
    }

    /// Ends all connections at once, for both sides. New connections are accepted.
    pub(crate) fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}
