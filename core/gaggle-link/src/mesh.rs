//! What a room needs of the links to its members, whatever they run over.
//!
//! `gaggle::Room` calls it; [`MultipathMesh`](crate::MultipathMesh) implements it over real paths,
//! tests over
//! simulated ones. Absent: rooms, games, and how signals reach the other side.

use gaggle_kit::{DecodeError, IceServer, Micros, PeerId};

use crate::{Path, PathChanged, Transport};

/// A [`Transport`] to the members of one room, which finds paths to them with the help of signals.
///
/// - Say who is a member with [`add_peer`](Mesh::add_peer) and [`remove_peer`](Mesh::remove_peer).
/// - Pass signals: what the lobby brings from a peer goes into
///   [`handle_signal`](Mesh::handle_signal), what [`poll_signal`](Mesh::poll_signal) returns goes
///   to the lobby. Drain it after polling.
///
/// Losing the lobby ends no link; signals wait.
pub trait Mesh: Transport {
    /// This peer is a member, or is one again: connects to it. No effect on a link that stands.
    fn add_peer(&mut self, now: Micros, peer: PeerId);

    /// This peer is no member any more: its link ends, and it is not let in again.
    fn remove_peer(&mut self, now: Micros, peer: PeerId);

    /// A member sent this signal through the lobby.
    ///
    /// # Errors
    /// If it is not a signal: the sender runs other software.
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError>;

    /// The next signal for the lobby to pass on, and to which member.
    fn poll_signal(&mut self) -> Option<(PeerId, String)>;

    /// From now on the relay is shown this ticket.
    fn set_ticket(&mut self, now: Micros, ticket: &str) {
        let _ = (now, ticket);
    }

    /// Whether to ask the lobby for a newer ticket now: the relay has no place for the one it was
    /// shown. True once for each time.
    fn wants_ticket(&mut self, now: Micros) -> bool {
        let _ = now;
        false
    }

    /// From now on these servers help to find direct paths. Links that stand are not touched.
    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        let _ = servers;
    }

    /// How the link to a peer runs now.
    fn path(&self, peer: PeerId) -> Option<Path>;

    /// The next change of a path, and why.
    fn poll_path_change(&mut self) -> Option<PathChanged> {
        None
    }
}
