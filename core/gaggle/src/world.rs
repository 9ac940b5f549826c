//! The trait of worlds of replicated objects, for a [`WorldRoom`](crate::WorldRoom). Games
//! implement it, the room calls it. Absent: when a peer joins which world.

use gaggle_kit::Input;
use gaggle_replica::{EventRequest, Interest, Kinds, RemoteEvent, Session, SessionEvent};
use gaggle_timeline::MatchStart;

/// A world of replicated objects, as one peer plays it.
///
/// The objects are in the [`Session`], the same on all peers; the value with this trait is this
/// peer's own data beside them: caches, a camera, its own ids. Only the peer with authority moves
/// an object; all peers draw it.
///
/// ```
/// use gaggle::replica::{Kind, Kinds, Session};
/// use gaggle::World;
///
/// #[derive(Debug, Clone, PartialEq, Kind)]
/// struct Leaf {
///     #[kind(range = 0.0..=100.0, precision = 0.01)]
///     place: [f32; 2],
/// }
///
/// struct Pond;
///
/// impl World for Pond {
///     type Input = u8;
///
///     fn kinds() -> Kinds {
///         Kinds::new().with::<Leaf>()
///     }
///
///     fn populate(&mut self, session: &mut Session) {
///         let _ = session.spawn(&Leaf { place: [50.0, 50.0] });
///     }
///
///     fn step(&mut self, session: &mut Session) {
///         let pushed = session.input::<u8>(session.local_slot()).unwrap_or_default();
///         let leaf = session.iter::<Leaf>().next();
///         // A peer that pushes a leaf gets authority over it.
///         if let Some((id, _)) = leaf.filter(|(id, _)| pushed > 0 && session.claim(*id).is_ok()) {
///             let _ = session.modify(id, |leaf: &mut Leaf| leaf.place[0] += 0.1);
///         }
///     }
/// }
/// ```
pub trait World {
    /// Input of a player in one step, at most 32 bytes.
    type Input: Input;

    /// Steps per second of play. Default 60.
    const TICK_RATE: u32 = 60;

    /// All kinds of objects, values and events, with equal names on all peers. The room adds the
    /// input type.
    fn kinds() -> Kinds;

    /// This peer creates the world: spawn its initial objects here. Spawn a player's objects in
    /// [`on_enter`](World::on_enter).
    fn populate(&mut self, session: &mut Session);

    /// All players start a match together, in a new world: [`populate`](World::populate) follows on
    /// one peer, [`on_enter`](World::on_enter) on all of them. Not called on peers that join later.
    fn on_start(&mut self, start: &MatchStart<'_>) {
        let _ = start;
    }

    /// This peer is in a world from now on: its own, after [`populate`](World::populate), or that
    /// of other peers, with all its objects. Ids of a previous world are invalid. A player that
    /// rejoins has its objects again: see [`Session::iter_owned`]. A
    /// [spectator](Session::is_spectator) must not spawn: the others reject its objects.
    fn on_enter(&mut self, session: &mut Session) {
        let _ = session;
    }

    /// Simulates one step: move the objects under this peer's authority. Read players' inputs with
    /// [`Session::input`], once per step and player: the local players' inputs always, others' if
    /// this peer leads.
    fn step(&mut self, session: &mut Session);

    /// An event about objects or players occurred.
    fn on_event(&mut self, session: &mut Session, event: &SessionEvent) {
        let _ = (session, event);
    }

    /// A remote event of another peer arrived, or one of this peer that is for all.
    fn on_remote_event(&mut self, session: &mut Session, signal: &RemoteEvent) {
        let _ = (session, signal);
    }

    /// Decides about a remote event that [needs
    /// approval](gaggle_replica::EventOptions::needs_approval), if this peer leads. By default
    /// every one is rejected.
    fn approve(&mut self, session: &mut Session, petition: &EventRequest) -> bool {
        let _ = (session, petition);
        false
    }

    /// Relevance of objects to peers, if not every object matters to every peer.
    fn interest(&mut self) -> Option<&mut dyn Interest> {
        None
    }
}
