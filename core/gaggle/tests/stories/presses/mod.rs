//! The smallest game on one timeline, and assertions about its peers.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use gaggle::{AnyRoom, GameRoom, Phase, RoomConfig, RoomEvent, State};
use gaggle_kit::{Micros, Slot, state_hash};
use gaggle_timeline::{Game, Inputs};

use crate::cluster::{self, FRAME, SimPlatform, Subject};

/// Every player has a counter that rises while the player presses.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub(crate) struct Presses {
    pub(crate) frame: u32,
    pub(crate) here: u64,
    pub(crate) counts: [u32; 4],
}

thread_local! {
    /// The peer that computes a wrong state.
    pub(crate) static BROKEN: Cell<Option<usize>> = const { Cell::new(None) };
    /// The peer that computes at the moment.
    static COMPUTING: Cell<usize> = const { Cell::new(0) };
}

impl Game for Presses {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.frame += 1;
        self.here = 0;
        if BROKEN.get() == Some(COMPUTING.get()) {
            self.counts[3] += 1_000;
        }
        for (index, count) in self.counts.iter_mut().enumerate() {
            if inputs.is_present(Slot::at(index)) {
                self.here |= 1 << index;
                *count += u32::from(inputs.get(Slot::at(index)));
            }
        }
    }
}

pub(crate) type TestRoom = GameRoom<Presses, SimPlatform>;
pub(crate) type Cluster = cluster::Cluster<TestRoom>;

impl Subject for TestRoom {
    type Config = RoomConfig;

    fn peer_config(index: usize) -> RoomConfig {
        let client = cluster::client_config(index);
        RoomConfig { lobby: client, record_replay: true, ..RoomConfig::new("presses", 4).expect("a label") }
    }

    fn open_peer(now: Micros, config: RoomConfig, platform: SimPlatform, seed: u64) -> TestRoom {
        let game = Presses { frame: 0, here: 0, counts: [0; 4] };
        GameRoom::open(now, config, platform, game, seed).expect("settings that can be")
    }

    /// Every player presses in every other frame, at an offset of its own.
    fn update_peer(&mut self, now: Micros, index: usize) -> Vec<RoomEvent> {
        let beat = now.get() / FRAME.get() / (3 + index as u64);
        self.set_input(0, (beat % 2) as u8);
        COMPUTING.set(index);
        self.update(now);
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self
    }

    fn describe(&mut self) -> String {
        let people: Vec<_> = self.members().into_iter().map(|person| (person.name, person.slots)).collect();
        let (session, stats) = (self.session(), self.stats());
        format!(
            "{:?}, {:?} {:?} {stats:?}\n  people {people:?}",
            self.game(),
            session.roster(),
            session.confirmed_frame()
        )
    }
}

/// Asserts that these peers play one match, with the same confirmed states.
pub(crate) fn expect_one_match(cluster: &mut Cluster, indices: &[usize]) {
    cluster.run_ms(500);
    for &index in indices {
        let (stage, here) = (cluster.room(index).phase(), cluster.room(index).game().here);
        let present = here.count_ones() as usize;
        assert!(stage == Phase::Playing && present == indices.len(), "peer {index}\n{}", cluster.describe());
    }
    let frames: Vec<_> =
        indices.iter().map(|&index| cluster.room(index).session().confirmed_frame()).collect();
    let histories: BTreeSet<u64> =
        indices.iter().map(|&index| cluster.room(index).session().branch_id()).collect();
    assert_eq!(histories.len(), 1, "{frames:?}\n{}", cluster.describe());
    let mut hashes: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for _ in 0..120 {
        for &index in indices {
            if let Some((_, game)) = cluster.room(index).confirmed() {
                hashes.entry(game.frame).or_default().insert(state_hash(game));
            }
        }
        cluster.step();
    }
    let compared = hashes.len();
    assert!(hashes.values().all(|states| states.len() == 1), "states differ\n{}", cluster.describe());
    assert!(compared > 20, "only {compared} frames were compared\n{}", cluster.describe());
}
