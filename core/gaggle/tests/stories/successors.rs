//! Slots that another player had: a new player's inputs say so, a returning player's never do.

use crate::cluster;
use crate::cluster::{SimPlatform, Subject};
use gaggle::{AnyRoom, Game, GameRoom, Input, Inputs, Micros, Phase, RoomConfig, RoomEvent, State};
use gaggle_kit::{Slot, SlotSet};
use gaggle_link::sim::{Chance, Conditions};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Input)]
struct Hand {
    earn: bool,
    #[input(new_player)]
    new: bool,
}

/// Every player earns in every frame, and each slot keeps the earnings.
#[derive(Debug, Clone, PartialEq, Eq, State)]
struct Purses {
    here: u64,
    purse: [u32; 4],
    /// Frames whose input was marked as a new player's.
    new: [u32; 4],
    /// Frames since a player joined in the slot.
    stay: [u32; 4],
    /// Frames of a stay before the first mark.
    late: [u32; 4],
}

impl Game for Purses {
    type Input = Hand;

    fn tick(&mut self, inputs: &Inputs<'_, Hand>) {
        self.here = 0;
        for nth in 0..4 {
            self.stay[nth] = if inputs.is_present(Slot::at(nth)) { self.stay[nth] + 1 } else { 0 };
            if inputs.is_present(Slot::at(nth)) {
                let Hand { earn, new } = inputs.get(Slot::at(nth));
                self.here |= 1 << nth;
                if new && self.new[nth] == 0 {
                    self.late[nth] = self.stay[nth];
                }
                self.new[nth] += u32::from(new);
                self.purse[nth] = if new { 0 } else { self.purse[nth] + u32::from(earn) };
            }
        }
    }
}

type TestRoom = GameRoom<Purses, SimPlatform>;
type Cluster = cluster::Cluster<TestRoom>;

impl Subject for TestRoom {
    type Config = RoomConfig;

    fn peer_config(index: usize) -> RoomConfig {
        RoomConfig { lobby: cluster::client_config(index), ..RoomConfig::new("purses", 4).expect("a label") }
    }

    fn open_peer(now: Micros, config: RoomConfig, platform: SimPlatform, seed: u64) -> TestRoom {
        let game = Purses { here: 0, purse: [0; 4], new: [0; 4], stay: [0; 4], late: [0; 4] };
        GameRoom::open(now, config, platform, game, seed).expect("settings that can be")
    }

    fn update_peer(&mut self, now: Micros, _house: usize) -> Vec<RoomEvent> {
        for player in 0..self.config().local_players {
            self.set_input(player, Hand { earn: true, new: false });
        }
        self.update(now);
        std::iter::from_fn(|| self.poll_event()).collect()
    }

    fn any_room(&self) -> &dyn AnyRoom {
        self
    }

    fn describe(&mut self) -> String {
        format!("{:?}, {:?}", self.game(), self.local_slots())
    }
}

/// Opens a peer's room, and waits until it plays.
fn come(cluster: &mut Cluster, index: usize) {
    cluster.open(index).run_until("it is in", 5_000, |cluster| cluster.is_together(index));
}

/// `all` peers in one match for a while, each in the slot of its number.
fn together(count: usize, all: usize) -> Cluster {
    let mut cluster = Cluster::of(all);
    for index in 0..count {
        come(&mut cluster, index);
        assert_eq!(cluster.room(index).local_slots(), SlotSet::of(Slot::at(index)));
    }
    cluster.run_ms(5_000);
    cluster
}

fn leave(cluster: &mut Cluster, index: usize) {
    cluster.room(index).leave();
    cluster.step();
    cluster.crash(index).run_ms(1_000);
}

/// The confirmed state of a peer after a while.
fn purses(cluster: &mut Cluster, index: usize) -> Purses {
    cluster.run_ms(1_500);
    cluster.room(index).confirmed().map(|(_, game)| game.clone()).expect("confirmed")
}

#[test]
fn player_in_reused_slot_does_not_get_what_other_left() {
    let mut cluster = together(4, 5);
    leave(&mut cluster, 2);
    let kept = purses(&mut cluster, 0).purse[2];
    assert!(kept > 200);
    come(&mut cluster, 4);
    assert_eq!(cluster.room(4).local_slots(), SlotSet::of(Slot::at(2)));
    for index in [0, 4] {
        let Purses { purse, new, .. } = purses(&mut cluster, index);
        assert!((1..200).contains(&purse[2]), "{kept}, and then {purse:?}");
        assert!((1..60).contains(&new[2]) && new.iter().sum::<u32>() == new[2], "{new:?}");
        assert!(purse[0] > 200 && purse[1] > 200 && purse[3] > 200, "{purse:?}");
    }
    // What the new player earns is its own.
    let new = purses(&mut cluster, 0).new;
    cluster.room(4).suspend();
    cluster.run_ms(3_000).room(4).resume();
    cluster.run_until("it sits again", 3_000, |cluster| cluster.is_together(4));
    reload(&mut cluster, 4);
    assert_eq!(purses(&mut cluster, 0).new, new);
}

fn reload(cluster: &mut Cluster, index: usize) {
    cluster.room(index).close();
    cluster.step();
    cluster.crash(index).run_ms(900);
    come(cluster, index);
}

#[test]
fn joiner_hidden_while_joining_is_new_player_later() {
    let mut cluster = together(4, 5);
    leave(&mut cluster, 2);
    cluster.slow_links(800).open(4);
    cluster.run_until("it is coming in", 1_000, |cluster| {
        matches!(cluster.room(4).phase(), Phase::Joining { .. })
    });
    cluster.room(4).suspend();
    cluster.run_ms(3_000).room(4).resume();
    cluster.run_until("it is in", 5_000, |cluster| cluster.is_together(4));
    let Purses { purse, new, .. } = purses(&mut cluster, 0);
    assert!(new[2] > 0 && purse[2] < 200, "{new:?} {purse:?}");
}

#[test]
fn new_player_is_marked_within_second_on_lossy_link() {
    for (ms, loss) in [(5, 0), (100, 10), (250, 5)] {
        let mut cluster = together(4, 5);
        leave(&mut cluster, 2);
        let jitter = Micros::from_millis(ms / 5);
        cluster.weather(Conditions { jitter, loss: Chance::percent(loss), ..Conditions::latency_ms(ms) });
        cluster.open(4).run_until("it is in", 20_000, |cluster| cluster.is_together(4));
        let Purses { new, late, .. } = purses(&mut cluster, 4);
        assert!(new[2] > 0 && (1..60).contains(&late[2]), "{ms} ms: {new:?} {late:?}");
    }
}

#[test]
fn returning_player_has_what_was_kept() {
    let mut cluster = together(4, 4);
    let before = purses(&mut cluster, 0).purse[2];
    let expect_kept = |cluster: &mut Cluster, how: &str| {
        let Purses { here, purse, new, .. } = purses(cluster, 0);
        assert_eq!((new, here), ([0; 4], 0b1111), "{how}");
        assert!(purse[2] >= before, "{how}: {purse:?}");
    };
    leave(&mut cluster, 2);
    come(&mut cluster, 2);
    expect_kept(&mut cluster, "after leaving");
    reload(&mut cluster, 2);
    expect_kept(&mut cluster, "after a reload");
    cluster.crash(2).run_ms(700);
    come(&mut cluster, 2);
    expect_kept(&mut cluster, "after a crash");
    cluster.room(2).suspend();
    cluster.run_ms(3_000).room(2).resume();
    cluster.run_until("it sits again", 3_000, |cluster| cluster.is_together(2));
    expect_kept(&mut cluster, "after a rest");
    cluster.set_lobby_up(false).run_ms(2_000).set_lobby_up(true).run_ms(20_000);
    expect_kept(&mut cluster, "after a restart of the server");
    reload(&mut cluster, 2);
    expect_kept(&mut cluster, "after a reload that follows");
}

#[test]
fn player_cut_off_briefly_is_no_new_player() {
    let mut cluster = together(3, 3);
    for seconds in [3, 12] {
        cluster.weather(Conditions { is_cut: true, ..Conditions::default() }).run_ms(seconds * 1_000);
        cluster.weather(Conditions::latency_ms(40)).run_ms(10_000);
        let Purses { here, new, .. } = purses(&mut cluster, 0);
        assert_eq!((new, here), ([0; 4], 0b0111), "after {seconds} s\n{}", cluster.describe());
    }
}

#[test]
fn two_local_players_return_to_both_slots() {
    let mut cluster = Cluster::of(4);
    let couch = |index| RoomConfig { local_players: 2, ..TestRoom::peer_config(index) };
    cluster.open_with(0, couch(0)).run_ms(500);
    come(&mut cluster, 1);
    come(&mut cluster, 2);
    cluster.run_ms(5_000);
    leave(&mut cluster, 0);
    cluster.open_with(0, couch(0)).run_until("they are back", 5_000, |cluster| cluster.is_together(0));
    let Purses { here, purse, new, .. } = purses(&mut cluster, 1);
    assert_eq!((new, here), ([0; 4], 0b1111));
    assert!(purse[0] > 200 && purse[1] > 200, "{purse:?}");
    leave(&mut cluster, 0);
    come(&mut cluster, 3);
    let Purses { purse, new, .. } = purses(&mut cluster, 1);
    assert_eq!(cluster.room(3).local_slots(), SlotSet::of(Slot::at(0)));
    assert!(new[0] > 0 && new[1..] == [0; 3], "{new:?}");
    assert!(purse[0] < 200 && purse[1] > 200, "{purse:?}");
}
