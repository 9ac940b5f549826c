//! What a game of shared objects is, for a [`WorldRoom`](crate::WorldRoom).

use gaggle_kit::Input;
use gaggle_replica::{EventRequest, Interest, Kinds, RemoteEvent, Session, SessionEvent};
use gaggle_timeline::MatchStart;

/// A world of shared objects, as one machine plays it.
///
/// The objects are in the [`Session`], the same for everybody; the value that has this trait is
/// what this machine keeps beside them: caches, a camera, ids of its own things. Only whoever holds
/// an object moves it; everybody draws all of them.
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
///         // Whoever pushes a leaf holds it.
///         if let Some((id, _)) = leaf.filter(|(id, _)| pushed > 0 && session.claim(*id).is_ok()) {
///             let _ = session.modify(id, |leaf: &mut Leaf| leaf.place[0] += 0.1);
///         }
///     }
/// }
/// ```
pub trait World {
    /// What a player does, in at most 32 bytes.
    type Input: Input;

    /// Steps in a second of play.
    const TICK_RATE: u32 = 60;

    /// Everything that travels, named alike on all machines. The input is added by the room.
    fn kinds() -> Kinds;

    /// Nobody was here before: makes what a world begins with. What belongs to a player is made in
    /// [`on_enter`](World::on_enter).
    fn populate(&mut self, session: &mut Session);

    /// All players start a match together, in a world that is made anew:
    /// [`populate`](World::populate) follows on one peer, [`on_enter`](World::on_enter) on all of
    /// them. Peers that join later are not told.
    fn on_start(&mut self, start: &MatchStart<'_>) {
        let _ = start;
    }

    /// This machine is in a world from now on: its own, after [`populate`](World::populate), or
    /// that of others, with all that is in it. Ids from a world before mean nothing here. Whoever
    /// has been here before has its things again: see [`Session::iter_owned`]. Whoever
    /// [only looks on](Session::is_spectator) gets nothing: everything it would make is refused.
    fn on_enter(&mut self, session: &mut Session) {
        let _ = session;
    }

    /// One step of play: moves what is ours. What players do is asked for by [`Session::input`],
    /// once a step and player: the one at this machine always, others where this machine leads.
    fn step(&mut self, session: &mut Session);

    /// Something happened to objects or players.
    fn on_event(&mut self, session: &mut Session, event: &SessionEvent) {
        let _ = (session, event);
    }

    /// A game elsewhere, or this one to all, said that something happened.
    fn on_remote_event(&mut self, session: &mut Session, signal: &RemoteEvent) {
        let _ = (session, signal);
    }

    /// This machine leads, and somebody wants to have a
    /// [checked](gaggle_replica::EventOptions::needs_approval) signal granted. Where a world does
    /// not say, none is.
    fn approve(&mut self, session: &mut Session, petition: &EventRequest) -> bool {
        let _ = (session, petition);
        false
    }

    /// What matters to whom, where not everything does to everybody.
    fn interest(&mut self) -> Option<&mut dyn Interest> {
        None
    }
}
