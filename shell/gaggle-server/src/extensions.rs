//! What others add to a server: files, numbers, another storage, WebSockets at other paths. A relay
//! is made of numbers and WebSockets.

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

/// A WebSocket on which the opening handshake is done: frames follow. Readable and writable as
/// tokio has it.
pub type UpgradedStream = TokioIo<Upgraded>;

/// Serves WebSockets at a path of its own.
pub trait Upgrade: fmt::Debug + Send + Sync {
    /// The path, as `/relay`.
    fn path(&self) -> &str;

    /// The server has started: whom to ask about tickets and rooms. Called once, before the first
    /// connection.
    fn started(&self, lobby: Lobby) {
        let _ = lobby;
    }

    /// Serves one connection until it ends. The address is that of the client, also behind a proxy.
    fn serve(
        self: Arc<Self>,
        stream: UpgradedStream,
        address: IpAddr,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What others add to a server.
#[derive(Debug)]
pub struct Extensions {
    /// Where results are kept, if not in the database of the data folder.
    pub storage: Option<Box<dyn Storage>>,
    /// Files to serve under `/`. The setting `files` wins over it.
    pub assets: Arc<dyn Assets>,
    /// More numbers for `/metrics`.
    pub metrics: Vec<Arc<dyn MetricsSource>>,
    /// More WebSockets.
    pub upgrades: Vec<Arc<dyn Upgrade>>,
    /// What members are told about the relay.
    pub relay: Option<Relay>,
}

impl Default for Extensions {
    fn default() -> Extensions {
        let (metrics, upgrades) = (Vec::new(), Vec::new());
        Extensions { storage: None, assets: Arc::new(NoAssets), metrics, upgrades, relay: None }
    }
}

/// What a relay needs to know about the lobby.
#[derive(Debug, Clone)]
pub struct Lobby {
    pub(crate) hub: Arc<Dispatcher>,
    pub(crate) ticket_key: TicketKey,
}

impl Lobby {
    /// What tickets are checked with.
    pub fn ticket_key(&self) -> TicketKey {
        self.ticket_key
    }

    /// The server's clock, in Unix seconds, to check tickets by.
    pub fn unix_seconds(&self) -> u64 {
        self.hub.now().get() / 1_000_000
    }

    /// The epoch of a room, as far as this node knows the room. A ticket of a lower epoch is worth
    /// nothing.
    pub fn epoch_of(&self, room: RoomId) -> Option<u32> {
        self.hub.epoch_of(room)
    }

    /// Whether this machine is a member of the room, as far as this node knows: of rooms whose
    /// members are connected to other nodes only, it does not. A ticket is the proof that counts.
    pub fn is_member(&self, room: RoomId, peer: PeerId) -> bool {
        self.hub.is_member(room, peer)
    }
}
