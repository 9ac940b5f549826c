//! A platform without a network: for solo play, and for trying out a game. Rooms run on it. Absent:
//! everything that needs other peers.

use gaggle_kit::{DecodeError, Micros, PeerId};
use gaggle_link::{Channel, CloseCode, LinkStats, Mesh, Path, SendError, Transport, TransportEvent};
use gaggle_lobby::client::{LobbySocket, SocketEvent};

use super::{MeshSetup, Platform};

/// No server, no links. A [`Room`](crate::Room) on it plays solo.
///
/// ```
/// use gaggle::{Game, Inputs, Micros, NoNetwork, Room, RoomConfig, Slot, State};
///
/// #[derive(Clone, State)]
/// struct Counter { presses: u32 }
///
/// impl Game for Counter {
///     type Input = u8;
///     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
///         self.presses += u32::from(inputs.get(Slot::at(0)));
///     }
/// }
///
/// let config = RoomConfig::new("counter", 2)?;
/// let (platform, game) = (NoNetwork::default(), Counter { presses: 0 });
/// let mut room = Room::open(Micros::ZERO, config, platform, game, 7)?;
/// room.set_input(0, 1);
/// for frame in 1..=60 {
///     room.update(Micros::from_millis(frame * 17));
/// }
/// assert!(room.game().presses > 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct NoNetwork(NoLobby);

/// A socket that never opens.
#[derive(Debug, Default)]
pub struct NoLobby {
    /// Whether a connection was requested, and its end is not reported yet.
    is_asked: bool,
}

impl LobbySocket for NoLobby {
    fn connect(&mut self) {
        self.is_asked = true;
    }

    fn send(&mut self, _text: &str) {}

    fn disconnect(&mut self) {
        self.is_asked = false;
    }

    fn poll(&mut self) -> Option<SocketEvent> {
        std::mem::take(&mut self.is_asked).then_some(SocketEvent::Closed)
    }
}

/// A mesh without peers.
#[derive(Debug)]
pub struct NoMesh(PeerId);

impl Transport for NoMesh {
    fn local_id(&self) -> PeerId {
        self.0
    }

    fn peers(&self) -> &[PeerId] {
        &[]
    }

    fn send(&mut self, _now: Micros, to: PeerId, _channel: Channel, _bytes: &[u8]) -> Result<(), SendError> {
        Err(SendError::NotConnected { peer: to })
    }

    fn poll(&mut self, _now: Micros) -> Option<TransportEvent<'_>> {
        None
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }

    fn disconnect(&mut self, _now: Micros, _peer: PeerId, _goodbye: CloseCode) {}

    fn stats(&self, _peer: PeerId) -> Option<LinkStats> {
        None
    }
}

impl Mesh for NoMesh {
    fn add_peer(&mut self, _now: Micros, _peer: PeerId) {}

    fn remove_peer(&mut self, _now: Micros, _peer: PeerId) {}

    fn handle_signal(&mut self, _now: Micros, _from: PeerId, _text: &str) -> Result<(), DecodeError> {
        Ok(())
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        None
    }

    fn path(&self, _peer: PeerId) -> Option<Path> {
        None
    }
}

impl Platform for NoNetwork {
    type Lobby = NoLobby;
    type Mesh = NoMesh;

    fn lobby(&mut self) -> &mut NoLobby {
        &mut self.0
    }

    fn open_mesh(&mut self, _now: Micros, setup: &MeshSetup<'_>) -> NoMesh {
        NoMesh(setup.local_id)
    }
}
