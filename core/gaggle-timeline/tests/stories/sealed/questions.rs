//! What a game asks of inputs decides what is simulated again.

use gaggle_kit::{Slot, SlotSet, State, state_hash};
use gaggle_testkit::NetConditions;
use gaggle_timeline::{Game, Inputs, RefusedInput, SealConfig, SessionEvent, TimelineConfig};

use super::world::{Condition, SLOTS, World, config};

/// A game that asks for one bit of each input, and how long players were missed.
#[derive(Clone, Default, State)]
struct Picky {
    presses: [u32; SLOTS],
    missed: [u32; SLOTS],
    longest: u32,
    asks_missed: bool,
}

impl Game for Picky {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in (0..SLOTS).map(Slot::at) {
            let is_pressed = inputs.ask(slot, (), |input, ()| input >= 250);
            self.presses[slot.index()] += u32::from(is_pressed);
            if self.asks_missed {
                let run = inputs.missed(slot);
                self.missed[slot.index()] += u32::from(run > 0);
                self.longest = self.longest.max(run);
            }
        }
    }
}

fn world(seed: u64, asks_missed: bool) -> World<Picky> {
    let mut world = World::<Picky>::empty(seed, NetConditions::latency_ms(30)).without_straight_run();
    (0..4).for_each(|slot| world.join(SlotSet::of(Slot::at(slot))));
    // All games are the same from the beginning.
    world.change_games(|game| game.asks_missed = asks_missed);
    world.settle();
    world
}

fn expect_equal_states(world: &mut World<Picky>) {
    let mut states = std::collections::BTreeMap::new();
    let mut compared = 0;
    world.run_until(3_000, |world| {
        for player in world.players.iter().filter(|player| player.condition == Condition::Awake) {
            let Some((frame, game)) = player.timeline.confirmed_game() else { continue };
            let hash = state_hash(game);
            compared += u32::from(states.contains_key(&frame));
            assert_eq!(*states.entry(frame).or_insert(hash), hash, "{frame}");
        }
        false
    });
    assert!(compared > 300, "{compared}");
}

#[test]
fn correction_that_changes_no_answer_is_not_simulated_again() {
    let mut world = world(31, false);
    world.run_ms(10_000);
    for player in &world.players {
        let stats = player.session().stats();
        assert!(stats.corrections_without_rollback > 100, "{stats:?}");
        let corrected = stats.corrections_without_rollback + stats.rollbacks;
        assert!(stats.rollbacks * 5 < corrected, "{stats:?}");
    }
    expect_equal_states(&mut world);
}

#[test]
fn missed_frames_are_equal_on_all_peers() {
    let mut world = world(32, true);
    world.run_ms(2_000);
    world.players[3].condition = Condition::Frozen;
    world.run_ms(1_500);
    world.players[3].condition = Condition::Awake;
    world.run_ms(3_000);
    expect_equal_states(&mut world);
    for player in &world.players {
        let (_, game) = player.timeline.confirmed_game().expect("it plays");
        assert!((70..150).contains(&game.missed[3]), "{:?}", game.missed);
        assert!((70..120).contains(&game.longest), "{}", game.longest);
        assert!(game.missed[..3].iter().all(|missed| *missed < 40), "{:?}", game.missed);
    }
}

#[test]
fn refused_input_is_merged_if_game_wants_it() {
    let refused = |rule| {
        let seal = SealConfig { refused: rule, accept_frames: 0, ..SealConfig::default() };
        let config = TimelineConfig { late_policy: gaggle_timeline::LatePolicy::Seal(seal), ..config() };
        let conditions =
            NetConditions { jitter: gaggle_kit::Micros::from_millis(60), ..NetConditions::latency_ms(30) };
        let mut world = World::<Picky>::with(33, conditions, config).without_straight_run();
        (0..4).for_each(|slot| world.join(SlotSet::of(Slot::at(slot))));
        world.settle();
        world.run_ms(15_000);
        expect_equal_states(&mut world);
        let told = |event: &SessionEvent| matches!(event, SessionEvent::InputRefused { .. });
        world.players.iter().map(|player| player.told(told)).sum::<usize>()
    };
    assert!(refused(RefusedInput::Drop) > 20);
    assert!(refused(RefusedInput::Merge) > 20);
}
