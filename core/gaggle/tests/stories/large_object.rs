//! An object larger than a packet changes repeatedly while many small ones move.

#![allow(clippy::float_arithmetic, reason = "places")]

use crate::cluster;
use crate::cluster::{Cluster, SimPlatform, Subject};
use gaggle::replica::{AuthorityPolicy, Blob, Kind, Kinds, ObjectId, Session};
use gaggle::{AnyRoom, RoomConfig, RoomEvent, World, WorldConfig, WorldRoom};
use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::Conditions;

/// Small objects that move all the time.
const MOVERS: usize = 100;
/// Bytes of the large object: forty packets.
const GROUND_BYTES: usize = 40_000;
/// Steps between two changes of it.
const GROUND_STEPS: u32 = 180;

#[derive(Debug, Clone, PartialEq, Kind)]
struct Mover {
    #[kind(range = 0.0..=1000.0, precision = 0.1, moved_by = velocity)]
    place: [f32; 2],
    #[kind(range = -200.0..=200.0, precision = 0.5)]
    velocity: [f32; 2],
    /// The leader's step in which it was moved.
    #[kind(range = 0..=1_000_000)]
    step: u32,
}

/// The large object: its bytes do not fit into a packet, so it has the name of a blob.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Map {
    ground: Blob,
    #[kind(range = 0..=1_000)]
    number: u16,
}

struct Land {
    random: Prng,
    steps: u32,
    /// Numbers of the maps that this peer has received completely.
    had: Vec<u16>,
}

impl Land {
    fn draw_ground(&mut self, session: &mut Session) -> Blob {
        let bytes: Vec<u8> = (0..GROUND_BYTES).map(|_| self.random.next_u32() as u8).collect();
        session.store_blob(&bytes).expect("there is room for a few")
    }

    fn change_map(&mut self, session: &mut Session, id: ObjectId, before: &Map) {
        let ground = self.draw_ground(session);
        session.set(id, &Map { ground, number: before.number + 1 }).expect("it is the host's");
        session.remove_blob(before.ground);
    }
}

impl World for Land {
    type Input = u8;

    fn kinds() -> Kinds {
        Kinds::new().with::<Mover>().with::<Map>()
    }

    fn populate(&mut self, session: &mut Session) {
        for _ in 0..MOVERS {
            let place = [0; 2].map(|_: i32| self.random.range(0..=1_000) as f32);
            session.spawn(&Mover { place, velocity: [0.0; 2], step: 0 }).expect("there is room");
        }
        let ground = self.draw_ground(session);
        session.spawn(&Map { ground, number: 0 }).expect("there is room");
    }

    fn step(&mut self, session: &mut Session) {
        self.steps += 1;
        let Some((id, map)) = session.iter::<Map>().next() else { return };
        if session.blob(map.ground).is_none() {
            let _ = session.fetch_blob(id, map.ground);
        } else if self.had.last() != Some(&map.number) {
            self.had.push(map.number);
        }
        if !session.is_leader() {
            return;
        }
        if self.steps.is_multiple_of(GROUND_STEPS) {
            self.change_map(session, id, &map);
        }
        let movers: Vec<(ObjectId, Mover)> = session.iter::<Mover>().collect();
        for (id, mover) in movers {
            let velocity =
                mover.velocity.map(|part| (part + self.random.range(-20..=20) as f32).clamp(-150.0, 150.0));
            let place = [0, 1].map(|axis| (mover.place[axis] + velocity[axis] / 60.0).clamp(0.0, 1_000.0));
            session.set(id, &Mover { place, velocity, step: self.steps }).expect("it is the host's");
        }
    }
}

type TestRoom = WorldRoom<Land, SimPlatform>;

impl Subject for TestRoom {
    type Config = WorldConfig;

    fn peer_config(index: usize) -> WorldConfig {
        let client = cluster::client_config(index);
        RoomConfig {
            lobby: client,
            ..RoomConfig::world("land", 4, AuthorityPolicy::Leader).expect("a label")
        }
    }

    fn open_peer(now: Micros, config: WorldConfig, platform: SimPlatform, seed: u64) -> TestRoom {
        let land = Land { random: Prng::new(seed), steps: 0, had: Vec::new() };
        WorldRoom::open(now, config, platform, land, seed).expect("settings that can be")
    }

    fn update_peer(&mut self, now: Micros, _: usize) -> Vec<RoomEvent> {
        self.update(now);
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self
    }

    fn describe(&mut self) -> String {
        format!("{:?}, maps {:?}", self.stats(), self.world().had)
    }
}

#[test]
fn large_object_changes_and_others_stay_within_150_ms() {
    let mut cluster: Cluster<TestRoom> = Cluster::of(3);
    cluster.weather(Conditions { jitter: Micros::from_millis(10), ..Conditions::latency_ms(25) });
    for index in 0..3 {
        cluster.open(index);
        cluster.run_until("it is in", 5_000, move |cluster| cluster.is_together(index));
    }
    cluster.run_ms(4_000);
    let before: Vec<usize> = (0..3).map(|index| cluster.room(index).world().had.len()).collect();
    let mut ages: Vec<u64> = Vec::new();
    for _ in 0..60 * 20 {
        cluster.step();
        let steps = cluster.room(0).world().steps;
        for index in 1..3 {
            let movers = cluster.room(index).session().iter::<Mover>();
            ages.extend(movers.map(|(_, mover)| u64::from(steps - mover.step) * 1_000 / 60));
        }
    }
    assert_eq!(ages.len(), 60 * 20 * 2 * MOVERS);
    ages.sort_unstable();
    let (middle, worst) = (ages[ages.len() / 2], ages[ages.len() - 1]);
    println!("age: median {middle} ms, worst {worst} ms");
    for (index, before) in before.into_iter().enumerate() {
        let changes = cluster.room(index).world().had.len() - before;
        assert!(changes >= 5, "peer {index} had {changes} contents of the map whole\n{}", cluster.describe());
    }
    assert!(worst <= 150, "an object was {worst} ms old, the median {middle} ms");
}
