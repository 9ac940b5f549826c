//! A small world for any policy: every player has a boat, and there are rocks.

use gaggle::replica::{
    AuthorityPolicy, EventOptions, Kind, Kinds, ObjectId, RemoteEvent, Session, SessionEvent, Target,
};
use gaggle::{AnyRoom, Input, Phase, RoomConfig, RoomEvent, State, World, WorldConfig, WorldRoom};
use gaggle_kit::{Micros, Slot};

use crate::cluster::{self, FRAME, SimPlatform, Subject};

pub(crate) const ROCKS: usize = 12;

/// A rock counts its pushes.
#[derive(Debug, Clone, PartialEq, Kind)]
pub(crate) struct Rock {
    #[kind(range = 0..=1_000_000)]
    pub(crate) pushes: u32,
}

/// A boat of one player.
#[derive(Debug, Clone, PartialEq, Kind)]
pub(crate) struct Boat {
    #[kind(range = 0..=1_000_000)]
    pub(crate) strokes: u32,
    #[kind(constant)]
    pub(crate) sailor: u8,
}

/// A remote event to all peers.
#[derive(Debug, Clone, PartialEq, State)]
pub(crate) struct Shout {
    pub(crate) word: u8,
}

/// Input of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
pub(crate) struct Oars {
    pub(crate) row: bool,
    #[input(one_shot)]
    pub(crate) splash: bool,
}

/// A peer's own data beside the objects.
#[derive(Debug, Default)]
pub(crate) struct Pond {
    pub(crate) steps: u32,
    /// How often this peer entered a world.
    pub(crate) entered: u32,
    /// Whether all input has stopped, so that worlds can be compared.
    pub(crate) still: bool,
    pub(crate) shouts: Vec<(Slot, u8)>,
    pub(crate) gained: Vec<ObjectId>,
}

impl Pond {
    fn boat_of(session: &Session, player: Slot) -> Option<ObjectId> {
        let own = |boat: &Boat| boat.sailor == player.byte();
        session.iter::<Boat>().find(|(_, boat)| own(boat)).map(|(id, _)| id)
    }

    /// A player's stroke: its boat moves, and sometimes a rock.
    fn strike(&self, session: &mut Session, player: Slot, oars: Oars) {
        let strokes = u8::from(oars.row) + u8::from(oars.splash);
        let boat = Pond::boat_of(session, player).filter(|boat| session.has_authority(*boat));
        if let Some(boat) = boat.filter(|_| strokes > 0) {
            session.modify(boat, |boat: &mut Boat| boat.strokes += u32::from(strokes)).expect("it is ours");
        }
        if strokes == 0 || self.steps % 41 != u32::from(player.byte()) {
            return;
        }
        let mut rocks: Vec<ObjectId> = session.iter::<Rock>().map(|(id, _)| id).collect();
        rocks.sort_unstable();
        let nth = self.steps as usize / 41 + usize::from(player.byte());
        if let Some(&rock) = rocks.get(nth % rocks.len().max(1))
            && session.claim(rock).is_ok()
        {
            session.modify(rock, |rock: &mut Rock| rock.pushes += 1).expect("it is ours");
        }
    }
}

impl World for Pond {
    type Input = Oars;

    fn kinds() -> Kinds {
        let rules = EventOptions::DIRECT;
        Kinds::new().with::<Rock>().with::<Boat>().with_event::<Shout>("shout", rules)
    }

    fn populate(&mut self, session: &mut Session) {
        for _ in 0..ROCKS {
            session.spawn(&Rock { pushes: 0 }).expect("there is room");
        }
    }

    fn on_enter(&mut self, session: &mut Session) {
        self.entered += 1;
        let hosted = matches!(session.config().authority, AuthorityPolicy::Leader);
        for me in session.local_slots() {
            if !hosted && session.iter_owned::<Boat>(me).next().is_none() {
                let boat = Boat { strokes: 0, sailor: me.byte() };
                session.spawn_owned(me, &boat).expect("every player may have one");
            }
        }
    }

    fn step(&mut self, session: &mut Session) {
        self.steps += 1;
        if !matches!(session.config().authority, AuthorityPolicy::Leader) {
            for player in session.local_slots() {
                let oars = session.input(player).unwrap_or_default();
                self.strike(session, player, oars);
            }
            return;
        }
        let players: Vec<Slot> = session.roster().iter().flat_map(|present| present.slots()).collect();
        if !session.is_leader() {
            return;
        }
        for player in players {
            if Pond::boat_of(session, player).is_none() {
                let _ = session.spawn(&Boat { strokes: 0, sailor: player.byte() });
            }
            let oars = session.input(player).unwrap_or_default();
            self.strike(session, player, oars);
        }
    }

    fn on_event(&mut self, _: &mut Session, event: &SessionEvent) {
        if let SessionEvent::AuthorityGained { id, .. } = event {
            self.gained.push(*id);
        }
    }

    fn on_remote_event(&mut self, _: &mut Session, signal: &RemoteEvent) {
        if let Some(shout) = signal.get::<Shout>() {
            self.shouts.push((signal.from, shout.word));
        }
    }
}

pub(crate) type TestRoom = WorldRoom<Pond, SimPlatform>;
pub(crate) type Cluster = cluster::Cluster<TestRoom>;

/// The settings of a peer, with another policy.
pub(crate) fn with_policy(index: usize, policy: AuthorityPolicy) -> WorldConfig {
    let client = cluster::client_config(index);
    RoomConfig { lobby: client, ..RoomConfig::world("pond", 4, policy).expect("a label") }
}

impl Subject for TestRoom {
    type Config = WorldConfig;

    fn peer_config(index: usize) -> WorldConfig {
        with_policy(index, AuthorityPolicy::OwnerOrLeader)
    }

    fn open_peer(now: Micros, config: WorldConfig, platform: SimPlatform, seed: u64) -> TestRoom {
        WorldRoom::open(now, config, platform, Pond::default(), seed).expect("settings that can be")
    }

    fn update_peer(&mut self, now: Micros, index: usize) -> Vec<RoomEvent> {
        let beat = now.get() / FRAME.get() / (3 + index as u64);
        let row = !self.world().still && beat % 2 == 1;
        self.set_input(0, Oars { row, splash: false });
        // A second player at this peer rows more slowly.
        let row = !self.world().still && now.get() / FRAME.get() / 20 % 2 == 1;
        self.set_input(1, Oars { row, splash: false });
        self.update(now);
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self
    }

    fn describe(&mut self) -> String {
        let people: Vec<_> = self.members().into_iter().map(|person| (person.name, person.slots)).collect();
        let (session, stats) = (self.session(), self.stats());
        let boats: Vec<_> = boats(session);
        format!(
            "{:?} of {:?}, {:?}\n  {boats:?}\n  people {people:?} {stats:?}",
            session.local_slot(),
            session.roster(),
            self.world()
        )
    }
}

/// Every boat and its authority.
pub(crate) fn boats(session: &Session) -> Vec<(ObjectId, Boat, Option<Slot>)> {
    let mut all: Vec<_> =
        session.iter::<Boat>().map(|(id, boat)| (id, boat, session.authority(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// Every rock and its authority.
pub(crate) fn rocks(session: &Session) -> Vec<(ObjectId, Rock, Option<Slot>)> {
    let mut all: Vec<_> =
        session.iter::<Rock>().map(|(id, rock)| (id, rock, session.authority(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// Asserts that these peers are in one world, which is the same for all after input stops: rocks,
/// boats, authority, leader.
pub(crate) fn expect_one_world(cluster: &mut Cluster, indices: &[usize]) {
    for &index in indices {
        cluster.room(index).world_mut().still = true;
    }
    cluster.run_ms(2_500);
    let first = cluster.room(indices[0]);
    let (lead, all) = (first.leader(), (rocks(first.session()), boats(first.session())));
    assert_eq!(all.0.len(), ROCKS, "{}", cluster.describe());
    for &index in indices {
        let room = cluster.room(index);
        let same = (rocks(room.session()), boats(room.session())) == all && room.leader() == lead;
        let here = room.session().roster().len();
        let stage = room.phase();
        assert!(
            same && here == indices.len() && stage == Phase::Playing,
            "peer {index}\n{}",
            cluster.describe()
        );
        cluster.room(index).world_mut().still = false;
    }
}

/// Strokes of a player, according to a peer.
pub(crate) fn strokes(cluster: &mut Cluster, index: usize, player: Slot) -> u32 {
    let boats = boats(cluster.room(index).session());
    boats.iter().filter(|(_, boat, _)| boat.sailor == player.byte()).map(|(_, boat, _)| boat.strokes).sum()
}

/// Pushes of all rocks, according to a peer.
pub(crate) fn pushes(cluster: &mut Cluster, index: usize) -> u32 {
    rocks(cluster.room(index).session()).iter().map(|(_, rock, _)| rock.pushes).sum()
}

/// Sends an event to all peers.
pub(crate) fn shout(cluster: &mut Cluster, index: usize, word: u8) {
    cluster
        .room(index)
        .session_mut()
        .send_event(Target::All, &[], &Shout { word })
        .expect("the first one is not rate limited");
}
