//! Attack with TLS handshakes that end after the server's first flight. Absent: honest clients.

use std::io::{Read, Write};
use std::net::SocketAddr;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, RootCertStore};

use super::{Hits, Strength, spread};
use crate::client::{hostile, tcp};
use crate::server::client_config;

const THREADS: usize = 16;
const ADDRESSES: usize = 128;

pub(super) fn half_handshakes(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let name = ServerName::try_from("localhost").map_err(|error| text(&error))?;
    let config = client_config(RootCertStore::empty());
    let mut session = ClientConnection::new(config, name).map_err(|error| text(&error))?;
    // The same hello serves every time, because the server computes its answer anew.
    let mut greeting = Vec::new();
    session.write_tls(&mut greeting).map_err(|error| text(&error))?;
    spread(THREADS, strength, 1, hits, |thread| {
        let (greeting, mut nth) = (greeting.clone(), thread);
        Box::new(move || {
            nth += THREADS;
            let Ok(mut stream) = tcp(hostile(nth % ADDRESSES), at) else { return 0 };
            // Reset at once instead of waiting for an orderly close.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO));
            if stream.write_all(&greeting).is_err() {
                return 0;
            }
            let _ = stream.read(&mut [0; 1_024]);
            1
        })
    });
    Ok(())
}
