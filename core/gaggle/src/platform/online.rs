//! A platform with a network: a socket to the lobby, and a mesh over the best available paths.
//! `gaggle-native` and `gaggle-browser` build it from their sockets. Absent: sockets, how paths are
//! chosen.

use std::fmt;

use gaggle_kit::Micros;
use gaggle_link::sim::Conditions;
use gaggle_link::{Mesh, MeshConfig, Path, PathConfig};
use gaggle_lobby::client::LobbySocket;

use super::{MeshSetup, Platform};

/// Restrictions of links. By default the best available path is used, without impairment.
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
    /// Impairment of the network, for tests on a good one.
    pub conditions: Conditions,
}

impl OnlineConfig {
    /// The settings of a mesh with these restrictions.
    pub fn mesh(&self) -> MeshConfig {
        let paths = self.only_path.map_or_else(PathConfig::default, PathConfig::only);
        MeshConfig { paths, conditions: self.conditions, ..MeshConfig::default() }
    }
}

/// Opens meshes of one type. A trait instead of a boxed closure, so that rooms are `Send` if it is.
pub trait ConnectMesh {
    /// Type of the meshes it opens.
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
    /// A platform with this socket, and meshes opened by `connect`.
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
