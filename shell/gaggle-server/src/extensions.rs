//! Extensions of a server: files, metrics, another storage, WebSockets at other paths.
//!
//! Programs pass them to [`Server::start_with`](crate::Server::start_with); the relay is one.
//! Absent: lobby rules.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use gaggle_kit::PeerId;
use gaggle_lobby::message::server::Relay;
use gaggle_lobby::{RoomId, TicketKey};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;

use crate::assets::{Assets, NoAssets};
use crate::dispatcher::Dispatcher;
use crate::metrics::MetricsSource;
use crate::storage::Storage;

/// A WebSocket after its opening handshake: frames follow. Reads and writes like a tokio stream.
pub type UpgradedStream = TokioIo<Upgraded>;

/// Handler of WebSockets at one path.
pub trait Upgrade: fmt::Debug + Send + Sync {
    /// Path such as `/relay`.
    fn path(&self) -> &str;

    /// Called once before the first connection, with access to lobby state.
    fn started(&self, lobby: Lobby) {
        let _ = lobby;
    }

    /// Serves one connection until it ends. The address is the client's, also behind a proxy.
    fn serve(
        self: Arc<Self>,
        stream: UpgradedStream,
        address: IpAddr,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Optional parts of a server.
#[derive(Debug)]
pub struct Extensions {
    /// Storage of results; by default the database in the data folder.
    pub storage: Option<Box<dyn Storage>>,
    /// Files to serve under `/`. The setting `files` overrides it.
    pub assets: Arc<dyn Assets>,
    /// Further metrics for `/metrics`.
    pub metrics: Vec<Arc<dyn MetricsSource>>,
    /// Further WebSocket handlers.
    pub upgrades: Vec<Arc<dyn Upgrade>>,
    /// Relay sent to members.
    pub relay: Option<Relay>,
}

impl Default for Extensions {
    fn default() -> Extensions {
        let (metrics, upgrades) = (Vec::new(), Vec::new());
        Extensions { storage: None, assets: Arc::new(NoAssets), metrics, upgrades, relay: None }
    }
}

/// Lobby state that a relay needs.
#[derive(Debug, Clone)]
pub struct Lobby {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) ticket_key: TicketKey,
}

impl Lobby {
    /// Public key that checks tickets.
    pub fn ticket_key(&self) -> TicketKey {
        self.ticket_key
    }

    /// Server clock in Unix seconds, to check tickets.
    pub fn unix_seconds(&self) -> u64 {
        self.dispatcher.now().get() / 1_000_000
    }

    /// Epoch of a room, if this node knows the room. Tickets of lower epochs are invalid.
    pub fn epoch_of(&self, room: RoomId) -> Option<u32> {
        self.dispatcher.epoch_of(room)
    }

    /// Whether a peer is a member of the room, if this node knows the room. Rooms with members on
    /// other nodes only are unknown; the ticket is the proof that counts.
    pub fn is_member(&self, room: RoomId, peer: PeerId) -> bool {
        self.dispatcher.is_member(room, peer)
    }
}
