//! The world with a network: a socket to the lobby, and links by whatever way there is.

use std::fmt;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::sim::Conditions;
use gaggle_link::{LinkStats, Links, LinksConfig, Path, PathChanged, PathConfig, Transport};
use gaggle_lobby::client::{Socket, SocketEvent};
use gaggle_lobby::message::server::IceServer;

use crate::outside::{LinksSetup, LobbyNews, Outside};

/// How links may run. The default is the best way there is, and the network as it is.
///
/// ```
/// use gaggle::OnlineConfig;
/// use gaggle::link::{Path, sim::Conditions};
/// let hidden = OnlineConfig { only: Some(Path::Relay), ..OnlineConfig::default() };
/// let far_away = OnlineConfig { conditions: Conditions::latency_ms(120), ..OnlineConfig::default() };
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OnlineConfig {
    /// This way and no other: for players who hide their address, and for tests.
    pub only: Option<Path>,
    /// Makes a good network feel like a bad one.
    pub conditions: Conditions,
}

impl OnlineConfig {
    /// What links are made with.
    pub fn links(&self) -> LinksConfig {
        let paths = self.only.map_or_else(PathConfig::default, PathConfig::only);
        LinksConfig { paths, conditions: self.conditions, ..LinksConfig::default() }
    }
}

/// Makes links for a seat in a room.
pub type MakeLinks = Box<dyn FnMut(&LinksSetup<'_>) -> Links>;

/// A lobby behind a socket, and links made for every room anew. `gaggle-native` and `gaggle-browser` have a function that
/// makes one.
pub struct Online<S> {
    socket: S,
    make_links: MakeLinks,
    links: Option<Links>,
}

impl<S> fmt::Debug for Online<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Online").field("links", &self.links).finish_non_exhaustive()
    }
}

impl<S: Socket> Online<S> {
    /// With this socket, and links made like this.
    pub fn new(socket: S, make_links: MakeLinks) -> Online<S> {
        Online { socket, make_links, links: None }
    }
}

impl<S: Socket> Outside for Online<S> {
    type Links = Links;

    fn open_lobby(&mut self, _now: Micros) {
        self.socket.connect();
    }

    fn send_lobby(&mut self, _now: Micros, text: &str) {
        self.socket.send(text);
    }

    fn close_lobby(&mut self, _now: Micros) {
        self.socket.disconnect();
    }

    fn poll_lobby(&mut self, _now: Micros) -> Option<LobbyNews> {
        Some(match self.socket.poll()? {
            SocketEvent::Opened => LobbyNews::Open,
            SocketEvent::Text(text) => LobbyNews::Text(text),
            SocketEvent::Closed => LobbyNews::Closed,
        })
    }

    fn open_links(&mut self, _now: Micros, setup: &LinksSetup<'_>) {
        self.links = Some((self.make_links)(setup));
    }

    fn links(&mut self) -> Option<&mut Links> {
        self.links.as_mut()
    }

    fn close_links(&mut self, _now: Micros) {
        self.links = None;
    }

    fn set_ticket(&mut self, now: Micros, ticket: &str) {
        if let Some(links) = &mut self.links {
            links.set_ticket(now, ticket);
        }
    }

    fn set_ice(&mut self, _now: Micros, servers: &[IceServer]) {
        let server = |server: &IceServer| gaggle_link::IceServer {
            urls: server.urls.clone(),
            username: server.username.clone(),
            credential: server.credential.clone(),
        };
        if let Some(links) = &mut self.links {
            links.set_ice(&servers.iter().map(server).collect::<Vec<_>>());
        }
    }

    fn connect(&mut self, now: Micros, peer: PeerId) {
        if let Some(links) = &mut self.links {
            links.peer_up(now, peer);
        }
    }

    fn forget(&mut self, now: Micros, peer: PeerId) {
        if let Some(links) = &mut self.links {
            links.peer_down(now, peer);
        }
    }

    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) {
        if let Some(links) = &mut self.links {
            // Whoever sends what is no signal runs something else; it is counted, and nothing else is to be done about it.
            let _ = links.handle_signal(now, from, text);
        }
    }

    fn next_signal(&mut self) -> Option<(PeerId, String)> {
        self.links.as_mut()?.next_signal()
    }

    fn next_path_change(&mut self) -> Option<PathChanged> {
        self.links.as_mut()?.next_change()
    }

    fn path(&self, peer: PeerId) -> Option<Path> {
        self.links.as_ref()?.path(peer)
    }

    fn link_stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.links.as_ref()?.stats(peer)
    }
}
