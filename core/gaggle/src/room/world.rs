//! Methods of rooms with a replicated world. Applications call them. Absent: methods of rooms with
//! any engine, rules of authority.

use gaggle_kit::{PeerId, Slot};
use gaggle_replica::Session;

use super::Room;
use crate::engine::WorldEngine;
use crate::platform::Platform;
use crate::world::World;

/// A [`Room`] whose peers send the state of the objects they have authority over.
///
/// ```
/// use gaggle::replica::{Kind, Kinds, AuthorityPolicy, Session};
/// use gaggle::{Micros, NoNetwork, RoomConfig, WorldRoom, World};
///
/// #[derive(Debug, Clone, PartialEq, Kind)]
/// struct Counter {
///     presses: u32,
/// }
///
/// struct Clicks;
///
/// impl World for Clicks {
///     type Input = u8;
///
///     fn kinds() -> Kinds {
///         Kinds::new().with::<Counter>()
///     }
///
///     fn populate(&mut self, _: &mut Session) {}
///
///     fn on_enter(&mut self, session: &mut Session) {
///         if session.iter_owned::<Counter>(session.local_slot()).next().is_none() {
///             let _ = session.spawn_owned(session.local_slot(), &Counter { presses: 0 });
///         }
///     }
///
///     fn step(&mut self, session: &mut Session) {
///         let pressed = session.input::<u8>(session.local_slot()).unwrap_or_default();
///         let own = session.iter_authoritative::<Counter>().next();
///         if let Some(own) = own {
///             let count = |counter: &mut Counter| counter.presses += u32::from(pressed);
///             let _ = session.modify(own, count);
///         }
///     }
/// }
///
/// // Each player has a counter; an object without an owner would be the leader's.
/// let config = RoomConfig::world("clicks", 4, AuthorityPolicy::OwnerOrLeader)?.version("1");
/// let mut room = WorldRoom::open(Micros::ZERO, config, NoNetwork::default(), Clicks, 7)?;
/// for frame in 1..=60 {
///     room.set_input(0, 1);
///     room.update(Micros::from_millis(frame * 17));
/// }
/// assert!(room.session().iter::<Counter>().any(|(_, counter)| counter.presses > 50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type WorldRoom<W, P> = Room<WorldEngine<W>, P>;

impl<W: World, P: Platform> Room<WorldEngine<W>, P> {
    /// This peer's own data beside the objects.
    pub fn world(&self) -> &W {
        self.engine.world()
    }

    /// This peer's own data beside the objects, mutable.
    pub fn world_mut(&mut self) -> &mut W {
        self.engine.world_mut()
    }

    /// The shown objects and players, best drawn [interpolated](Session::interpolated).
    pub fn session(&self) -> &Session {
        self.engine.session()
    }

    /// The shown objects and players, to change them between two ticks.
    pub fn session_mut(&mut self) -> &mut Session {
        self.engine.session_mut()
    }

    /// Slot of the local player; of several, the first. It may change with the reservation.
    pub fn local_slot(&self) -> Slot {
        self.session().local_slot()
    }

    /// The player of the [leader](Room::leader).
    pub fn leader_slot(&self) -> Option<Slot> {
        self.session().roster().leader().map(|leader| leader.slot)
    }

    /// Slot reserved for the player at a peer; of several, the first.
    pub fn slot_of(&self, peer: PeerId) -> Option<Slot> {
        self.lobby_room.slots_of(peer).lowest()
    }
}
