//! A platform with a network: a socket to the lobby, and a mesh over the best paths there are.
//! `gaggle-native` and `gaggle-browser` make it of their sockets. Absent: sockets, how paths are
//! chosen.

use std::fmt;

use gaggle_kit::Micros;
use gaggle_link::sim::Conditions;
use gaggle_link::{Mesh, MeshConfig, Path, PathConfig};
use gaggle_lobby::client::LobbySocket;

use super::{MeshSetup, Platform};

/// How links may run. The default is the best path there is, and the network as it is.
///
/// ```
/// use gaggle::OnlineConfig;
/// use gaggle::link::{Path, sim::Conditions};
/// let hidden = OnlineConfig { only_path: Some(Path::Relay), ..OnlineConfig::default() };
/// let conditions = Conditions::latency_ms(120);
/// let far_away = OnlineConfig { conditions, ..OnlineConfig::default() };
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OnlineConfig {
    /// This path and no other: for players who hide their address, and for tests.
    pub only_path: Option<Path>,
    /// Makes a good network feel like a bad one.
    pub conditions: Conditions,
}

impl OnlineConfig {
    /// What a mesh is made with.
    pub fn mesh(&self) -> MeshConfig {
        let paths = self.only_path.map_or_else(PathConfig::default, PathConfig::only);
        MeshConfig { paths, conditions: self.conditions, ..MeshConfig::default() }
    }
}

/// Opens meshes of one type. A type of its own, and no boxed closure, so that rooms are `Send`
/// where it is.
pub trait ConnectMesh {
    /// What it opens.
    type Mesh: Mesh;

    /// Opens a mesh for a room.
    fn open_mesh(&mut self, now: Micros, setup: &MeshSetup<'_>) -> Self::Mesh;
}

/// A lobby behind a socket, and a new mesh for every room. `gaggle-native` and `gaggle-browser`
/// have functions that make one.
pub struct Online<S, C> {
    socket: S,
    connect: C,
}

impl<S, C> fmt::Debug for Online<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Online").finish_non_exhaustive()
    }
}

impl<S: LobbySocket, C: ConnectMesh> Online<S, C> {
    /// With this socket, and meshes opened by `connect`.
    pub fn new(socket: S, connect: C) -> Online<S, C> {
        Online { socket, connect }
    }
}

impl<S: LobbySocket, C: ConnectMesh> Platform for Online<S, C> {
    type Lobby = S;
    type Mesh = C::Mesh;

    fn lobby(&mut self) -> &mut S {
        &mut self.socket
    }

    fn open_mesh(&mut self, now: Micros, setup: &MeshSetup<'_>) -> C::Mesh {
        self.connect.open_mesh(now, setup)
    }
}
