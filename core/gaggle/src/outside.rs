//! What a room needs of the world: a socket to the lobby, and links to the others.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{LinkStats, Path, PathChanged, Transport};
use gaggle_lobby::message::server::{IceServer, Relay};

/// What the socket to the lobby brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LobbyNews {
    /// It is open.
    Open,
    /// The server said this.
    Text(String),
    /// It is closed, or could not be opened.
    Closed,
}

/// What links are made with.
#[derive(Debug, Clone, Copy)]
pub struct LinksSetup<'a> {
    /// Who we are.
    pub local: PeerId,
    /// Proves to relays that we may be in the room.
    pub ticket: &'a str,
    /// Servers that help to find a way.
    pub ice: &'a [IceServer],
    /// The server's relay, if it has one.
    pub relay: Option<&'a Relay>,
    /// A random number.
    pub seed: u64,
}

/// The world outside, natively or in a browser. [`Room`](crate::Room) decides, this only carries out: nothing in it
/// waits, and what happened is fetched by polling.
pub trait Outside {
    /// Moves messages between the machines of a room.
    type Links: Transport;

    /// Connect to the lobby; [`LobbyNews::Open`] or [`LobbyNews::Closed`] tells how it went.
    fn open_lobby(&mut self, now: Micros);

    /// Send this text to the lobby.
    fn send_lobby(&mut self, now: Micros, text: &str);

    /// Close the connection to the lobby. Nothing more is heard of it.
    fn close_lobby(&mut self, now: Micros);

    /// What the lobby's socket brought next.
    fn poll_lobby(&mut self, now: Micros) -> Option<LobbyNews>;

    /// Get ready to make links. There were none, or they were [closed](Outside::close_links).
    fn open_links(&mut self, now: Micros, setup: &LinksSetup<'_>);

    /// The links, while they are open.
    fn links(&mut self) -> Option<&mut Self::Links>;

    /// Let go of all links.
    fn close_links(&mut self, now: Micros);

    /// There is a newer ticket for relays.
    fn set_ticket(&mut self, now: Micros, ticket: &str) {
        let _ = (now, ticket);
    }

    /// These servers help to find a way from now on.
    fn set_ice(&mut self, now: Micros, servers: &[IceServer]) {
        let _ = (now, servers);
    }

    /// Try to reach this member of the room.
    fn connect(&mut self, now: Micros, peer: PeerId);

    /// This one is no member any more.
    fn forget(&mut self, now: Micros, peer: PeerId) {
        let _ = (now, peer);
    }

    /// A member handed us this through the lobby.
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str);

    /// What to hand to a member through the lobby.
    fn next_signal(&mut self) -> Option<(PeerId, String)>;

    /// The next change of how links run, and why.
    fn next_path_change(&mut self) -> Option<PathChanged> {
        None
    }

    /// How the link to a member runs.
    fn path(&self, peer: PeerId) -> Option<Path>;

    /// What is known about the link to a member.
    fn link_stats(&self, peer: PeerId) -> Option<LinkStats>;
}
