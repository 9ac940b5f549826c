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

#[cfg(all(test, feature = "testing"))]
mod tests {
    use gaggle_kit::Micros;
    use gaggle_link::sim::Conditions;
    use gaggle_replica::{AuthorityPolicy, Kinds};

    use super::*;
    use crate::config::RoomConfig;
    use crate::phase::Phase;
    use crate::testing::{SimLobby, SimPlatform};

    struct Nothing;

    impl World for Nothing {
        type Input = u8;

        fn kinds() -> Kinds {
            Kinds::new()
        }

        fn populate(&mut self, _: &mut Session) {}

        fn step(&mut self, _: &mut Session) {}
    }

    type Rooms = [Option<WorldRoom<Nothing, SimPlatform>>; 3];

    fn open(net: &SimLobby, rooms: &mut Rooms, peer: usize) {
        let config = RoomConfig::world("nothing", 4, AuthorityPolicy::OwnerOrLeader).expect("a label");
        let config = RoomConfig { lobby: SimLobby::client_config(peer), ..config };
        let room = WorldRoom::open(net.now(), config, net.platform(peer), Nothing, net.now().get());
        rooms[peer] = Some(room.expect("in range"));
    }

    fn run(net: &mut SimLobby, rooms: &mut Rooms, seconds: u64) {
        net.run_for(Micros::from_secs(seconds), |peer, now| {
            if let Some(room) = &mut rooms[peer] {
                room.update(now);
            }
        });
    }

    /// For each peer, whether this one holds it for a later joiner.
    fn later(rooms: &mut Rooms, peer: usize) -> [bool; 3] {
        let ids = rooms.each_ref().map(|room| room.as_ref().and_then(|room| room.lobby_room.me()));
        let Room { lobby_room, engine } = rooms[peer].as_mut().expect("open");
        let later = engine.later_joiners(lobby_room);
        ids.map(|id| later.contains(&id.expect("a member")))
    }

    #[test]
    fn lobby_tells_who_joined_later() {
        let mut net = SimLobby::new(3, 7, Conditions::latency_ms(40));
        let mut rooms = [None, None, None];
        for peer in 0..2 {
            open(&net, &mut rooms, peer);
            run(&mut net, &mut rooms, 3);
        }
        // The peers know the third one only through the lobby.
        net.set_isolated(2, true);
        open(&net, &mut rooms, 2);
        run(&mut net, &mut rooms, 3);
        assert_eq!([0, 1].map(|peer| later(&mut rooms, peer)), [[false, true, true], [false, false, true]]);
        let playing = rooms.iter().flatten().filter(|room| room.phase() == Phase::Playing).count();
        assert_eq!(playing, 2, "only members of a match know who came later");
        // A server that has lost its state changes nothing about that.
        net.set_lobby_up(false);
        run(&mut net, &mut rooms, 3);
        net.set_lobby_up(true);
        run(&mut net, &mut rooms, 10);
        assert_eq!(later(&mut rooms, 0), [false, true, true]);
        net.crash(1, rooms[1].take());
        run(&mut net, &mut rooms, 60);
        open(&net, &mut rooms, 1);
        run(&mut net, &mut rooms, 5);
        assert!(!later(&mut rooms, 1)[0] && later(&mut rooms, 0)[1]);
    }
}
