//! Narrower questions cause fewer resimulations and give the same states.

use crate::world::{NetConditions, World, peer};
use gaggle_kit::{Frame, Slot, SlotSet, State};
use gaggle_timeline::{Game, Inputs, TimelineConfig};

const SIDE: i32 = 16;
/// Steps through a corridor before the next junction.
const CORRIDOR: u8 = 12;

/// Runners in a maze of corridors: a direction matters only at junctions.
#[derive(Clone, Debug, State)]
struct Maze {
    runners: [Runner; 4],
    asks: bool,
}

#[derive(Clone, Copy, Debug, Default, State)]
struct Runner {
    x: i32,
    y: i32,
    heading: u8,
    until_junction: u8,
    turns: u32,
}

impl Maze {
    fn new(asks: bool) -> Maze {
        let mut runners = [Runner::default(); 4];
        for (nth, runner) in runners.iter_mut().enumerate() {
            // Runners reach their junctions in different frames.
            runner.until_junction = 3 * nth as u8;
        }
        Maze { runners, asks }
    }
}

/// Turn of a player at a junction: the wanted direction unless it leads back, else straight on.
fn choose(wanted: u8, heading: u8) -> u8 {
    let wanted = wanted & 3;
    if wanted == (heading + 2) & 3 { heading } else { wanted }
}

impl Game for Maze {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for (nth, runner) in self.runners.iter_mut().enumerate() {
            let slot = Slot::at(nth);
            let wanted = if self.asks { None } else { Some(inputs.get(slot)) };
            if runner.until_junction > 0 {
                runner.until_junction -= 1;
                continue;
            }
            runner.until_junction = CORRIDOR;
            let heading = runner.heading;
            runner.heading = match wanted {
                Some(wanted) => choose(wanted, heading),
                None => inputs.ask(slot, heading, choose),
            };
            runner.turns += u32::from(runner.heading != heading);
            let (dx, dy) = [(1, 0), (0, 1), (-1, 0), (0, -1)][usize::from(runner.heading)];
            runner.x = (runner.x + dx).rem_euclid(SIDE);
            runner.y = (runner.y + dy).rem_euclid(SIDE);
        }
    }
}

fn run_maze(asks: bool) -> World<Maze> {
    let config =
        TimelineConfig { input_delay_frames: 0, input_delay_range: (0, 0), ..TimelineConfig::default() };
    let mut world = World::with(4, 77, &config, |_| Maze::new(asks));
    world.conditions(NetConditions::latency_ms(67)).run_to_frame(3_600);
    world.settle().expect_agreement();
    world
}

#[test]
fn asking_maze_resimulates_sixth_of_reading_one() {
    let again =
        |world: &World<Maze>| (0..4).map(|i| world.session(i).stats().frames_resimulated).sum::<u64>();
    let (reads, asks) = (run_maze(false), run_maze(true));
    assert!(
        asks.machines[0].timeline.game().runners.iter().all(|runner| runner.turns > 20),
        "no runner turned"
    );
    let harmless = asks.session(0).stats().corrections_without_rollback;
    let (reads, asks) = (again(&reads), again(&asks));
    assert!(harmless > 100, "no wrong guess was harmless");
    assert!(asks > 100, "questions whose answers never change prove nothing: {asks}");
    assert!(asks * 6 <= reads, "{asks} frames again by asking, {reads} by reading");
}

/// Reads which slots are present.
#[derive(Clone, Debug, State)]
struct Roll {
    present: u32,
    asks: bool,
}

impl Game for Roll {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        if self.asks {
            self.present = self.present.wrapping_mul(3) + u32::from(inputs.is_present(Slot::at(1)));
        }
    }
}

#[test]
fn past_leave_rolls_back_only_presence_questions() {
    for asks in [true, false] {
        let mut world = World::with(2, 3, &TimelineConfig::default(), |_| Roll { present: 0, asks });
        world.compare_with_straight = false;
        world.run_seconds(2);
        let session = world.machines[0].timeline.session_mut();
        let known = session.confirmed_frame();
        assert!(session.current_frame() > known, "something must be guessed");
        session.evict(peer(1)).expect("seated");
        let before = session.stats().rollbacks;
        world.run(gaggle_kit::Micros::from_millis(100));
        assert_eq!(world.session(0).stats().rollbacks - before, u64::from(asks));
        assert_eq!(world.session(0).slots_at(world.session(0).current_frame()), SlotSet::of(Slot::at(0)));
    }
}

#[test]
fn idle_player_costs_no_rollback() {
    let mut world = World::of(2, 5);
    world.players_press(
        |rng, index, _| if index == 0 && rng.below(10) == 0 { 1 + rng.below(200) as u8 } else { 0 },
    );
    world.run_seconds(10);
    assert_eq!(world.session(0).stats().rollbacks, 0, "the other never did anything");
    assert!(world.session(1).stats().rollbacks > 20);
    assert!(world.session(0).confirmed_frame() > Frame::new(500));
}
