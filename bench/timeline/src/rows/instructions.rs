//! Instructions per frame and peer, net of the game: independent of other load on the machine.
//!
//! Valgrind counts them in this program, started again for one match. Two lengths of it differ by
//! frames alone; a match whose calls are repeated on games once or twice differs by the game's
//! part. Called by `main.rs`. Absent: time.

use bench_report::{CountedRun, Report, Row, parallel};

use crate::contest::Setup;
use crate::cost::{Course, Meter};
use crate::fortress::Fortress;
use crate::gaggle::Gaggle;
use crate::game::Arena;
use crate::ggrs::Ggrs;
use crate::network::NetConditions;

const FLAG: &str = "--count-instructions";

/// Frames counted; every sixtieth takes a checksum.
const FRAMES: u64 = 240;

/// Libraries, as named on the command line.
const LIBRARIES: [&str; 3] = ["gaggle", "ggrs", "fortress"];

/// Kinds of matches.
#[derive(Clone, Copy)]
enum Shape {
    /// The input delay covers the latency.
    Covered,
    /// Every change of input is a rollback.
    Guessing,
}

impl Shape {
    const ALL: [Shape; 2] = [Shape::Covered, Shape::Guessing];

    fn name(self) -> &'static str {
        match self {
            Shape::Covered => "no rollback",
            Shape::Guessing => "rollback",
        }
    }
}

/// A run under valgrind.
pub struct Counted {
    course: Box<dyn Meter>,
    frames: u64,
    replays: u64,
}

impl Counted {
    /// The run that the command line asks for, if it is a counted one.
    pub fn asked_for() -> Option<Counted> {
        let arguments: Vec<String> = std::env::args().collect();
        let [_, flag, library, shape, players, frames, replays] = arguments.as_slice() else { return None };
        if flag != FLAG {
            return None;
        }
        let shape = Shape::ALL.into_iter().find(|known| known.name() == shape)?;
        let course = course(library, shape, players.parse().ok()?)?;
        Some(Counted { course, frames: frames.parse().ok()?, replays: replays.parse().ok()? })
    }

    /// Plays the frames to count.
    pub fn run(&self) {
        self.course.exercise(self.frames, self.replays);
    }
}

fn course(library: &str, shape: Shape, players: usize) -> Option<Box<dyn Meter>> {
    let setup = Setup::players(players);
    let (setup, weather) = match shape {
        Shape::Covered => (setup.delay(2), NetConditions::latency(1)),
        Shape::Guessing => (setup, NetConditions::latency(4)),
    };
    Some(match library {
        "gaggle" => Course::<Gaggle<Arena>>::meter(&setup, weather, FRAMES),
        "ggrs" => Course::<Ggrs<Arena>>::meter(&setup, weather, FRAMES),
        "fortress" => Course::<Fortress<Arena>>::meter(&setup, weather, FRAMES),
        _ => return None,
    })
}

/// Matches of the first part of the report, counted instead of timed.
pub fn rows(report: &mut Report) {
    report.section("Instructions per frame and peer, net of the game's calls");
    // Counting takes a hundred times as long as running, so no 16 players.
    for players in [2, 4, 8] {
        for shape in Shape::ALL {
            let counted = parallel(LIBRARIES.to_vec(), |library| net(library, shape, players));
            let [Some(gaggle), Some(ggrs), Some(fortress)] = counted[..] else {
                report.note("valgrind did not say how many instructions were run");
                return;
            };
            let row = || Row::new(format!("{}, {players} players", shape.name()), "").gaggle(gaggle);
            report.row(row().other("ggrs", ggrs));
            report.row(row().other("fortress", fortress));
        }
    }
}

/// Instructions of a library per frame and peer.
fn net(library: &str, shape: Shape, players: usize) -> Option<f64> {
    let count = |frames, replays| count(library, shape, players, frames, replays);
    let played = count(2 * FRAMES, 0)?.checked_sub(count(FRAMES, 0)?)?;
    let game = count(FRAMES, 2)?.checked_sub(count(FRAMES, 1)?)?;
    Some(played.checked_sub(game)? as f64 / (FRAMES * players as u64) as f64)
}

fn count(library: &str, shape: Shape, players: usize, frames: u64, replays: u64) -> Option<u64> {
    let what = [FLAG, library, shape.name()].map(str::to_owned);
    let numbers = [players as u64, frames, replays].map(|number| number.to_string());
    Some(CountedRun::of(None, &[&what[..], &numbers[..]].concat())?.instructions)
}
