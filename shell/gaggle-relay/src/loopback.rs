//! A relay on loopback with its own ticket key, for tests and examples.
//!
//! Tests and examples start it. A real server issues tickets to members of its rooms; this one
//! issues them on request. Absent: lobby, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use gaggle_kit::PeerId;
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_websocket::{Accepted, handshake};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::{RelayConfig, RelayServer, UdpPort};

/// Lifetime of a ticket in seconds.
const TICKET_SECONDS: u64 = 3_600;
/// Port numbers tried.
const BIND_ATTEMPTS: usize = 16;

/// A relay with its own listener. Stops when dropped.
#[derive(Debug)]
pub struct Loopback {
    server: Arc<RelayServer>,
    address: SocketAddr,
    signer: TicketSigner,
    runtime: Option<Runtime>,
}

impl Loopback {
    /// Starts a relay on a free port of 127.0.0.1, for TCP and UDP.
    ///
    /// # Errors
    /// If a port, thread or random bytes are unavailable.
    pub fn start(config: RelayConfig) -> io::Result<Loopback> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        Loopback::at(([127, 0, 0, 1], 0).into(), config, TicketSigner::from_secret(&secret))
    }

    /// Starts a relay at this address with this key.
    ///
    /// # Errors
    /// If the port, a thread or random bytes are unavailable.
    pub fn at(address: SocketAddr, config: RelayConfig, signer: TicketSigner) -> io::Result<Loopback> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (server, address) = runtime.block_on(async {
            let (listener, udp) = bind(address).await?;
            let address = listener.local_addr()?;
            let server = RelayServer::start(signer.key(), config, Some(udp))?;
            tokio::spawn(listen(listener, Arc::clone(&server)));
            io::Result::Ok((server, address))
        })?;
        Ok(Loopback { server, address, signer, runtime: Some(runtime) })
    }

    /// Notifies all clients and releases the ports.
    pub fn stop(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.block_on(self.server.stop());
            runtime.shutdown_timeout(std::time::Duration::from_secs(1));
        }
    }

    /// WebSocket URL of the relay.
    pub fn url(&self) -> String {
        format!("ws://{}/relay", self.address)
    }

    /// Address of both ports.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The running relay, for its counters.
    pub fn server(&self) -> &Arc<RelayServer> {
        &self.server
    }

    /// Signer of its tickets.
    pub fn signer(&self) -> &TicketSigner {
        &self.signer
    }

    /// A ticket valid for an hour from now.
    pub fn ticket(&self, room: u64, peer: PeerId) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.signer.sign(&Claims::bare(room, peer, 1, now + TICKET_SECONDS))
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Opens both ports. If any number will do, chooses one that is free for both.
async fn bind(address: SocketAddr) -> io::Result<(TcpListener, UdpPort)> {
    let mut attempts = if address.port() == 0 { BIND_ATTEMPTS } else { 1 };
    loop {
        let listener = TcpListener::bind(address).await?;
        match UdpPort::bind(listener.local_addr()?, &[]) {
            Ok(udp) => return Ok((listener, udp)),
            Err(_) if attempts > 1 => attempts -= 1,
            Err(error) => return Err(error),
        }
    }
}

async fn listen(listener: TcpListener, server: Arc<RelayServer>) {
    while let Ok((stream, remote)) = listener.accept().await {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            if let Some(stream) = accept(stream, remote.ip()).await {
                server.serve(stream);
            }
        });
    }
}

/// Performs the opening handshake of a WebSocket.
async fn accept(stream: TcpStream, address: IpAddr) -> Option<Accepted> {
    let mut stream = stream.into_std().ok()?;
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    let accepted = tokio::task::spawn_blocking(move || {
        let read = handshake::accept(&mut stream).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(Accepted { stream, tls: None, read, address })
    });
    accepted.await.ok()?
}
