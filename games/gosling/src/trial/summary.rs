//! Many rounds in few numbers, and how they stand against the targets of the balance.
//!
//! Made by tests and by the lab. Absent: how rounds are played.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

use super::{Crew, Run, median, quantile, run};
use crate::Mode;
use crate::bots::Strength;

/// Twelve steady bots.
const STEADY: Crew =
    Crew { mode: Mode::Broods, strength: Some(Strength::Steady), pressers: 0, is_idle: false };
/// Rounds in which questions are counted: they hardly differ.
const ASKED_RUNS: u64 = 4;

/// The rounds that are judged: of steady bots, of all strengths together, of steady bots beside a
/// player who never presses, and of 16 and 64 players.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// Steady bots only.
    pub steady: Vec<Run>,
    /// Bots of all strengths.
    pub mixed: Vec<Run>,
    /// One player who never presses, and steady bots.
    pub idle: Vec<Run>,
    /// Players who press, 16 in the common reed.
    pub sixteen: Vec<Run>,
    /// Players who press, 64 in the great reed.
    pub sixty_four: Vec<Run>,
}

impl Rounds {
    /// So many rounds of each crew of bots.
    pub fn play(runs: u64) -> Rounds {
        let all = |crew: Crew, runs: u64| (0..runs).map(|seed| run(crew, seed)).collect();
        let asked = runs.min(ASKED_RUNS);
        Rounds {
            steady: all(STEADY, runs),
            mixed: all(Crew { strength: None, ..STEADY }, runs),
            idle: all(Crew { is_idle: true, ..STEADY }, runs),
            sixteen: all(Crew { pressers: 16, ..STEADY }, asked),
            sixty_four: all(Crew { mode: Mode::Great, pressers: 64, ..STEADY }, asked),
        }
    }
}

/// Judged rounds in numbers; shares in percent unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Rounds of each crew.
    pub runs: u32,
    /// Points of one steady bot: lower quartile, median, upper quartile.
    pub banked: [u32; 3],
    /// Median points by strength, in percent of a steady bot's.
    pub strengths: [u32; 3],
    /// Times a bot of each strength is caught in a round, in hundredths.
    pub caught: [u32; 3],
    /// Median load when a pike catches a gosling.
    pub lost_load: u32,
    /// Median load that is brought home, and the share of dozens.
    pub home_load: (u32, u32),
    /// Loads that pikes take, of all that are lost.
    pub by_pikes: u32,
    /// Time as a goose, in thousandths.
    pub goose: u32,
    /// Pikes sent home by a feather, in hundredths.
    pub sent: u32,
    /// Median lead at the end in thousandths of the better brood's points.
    pub margin: u32,
    /// Rounds the left brood wins.
    pub left: u32,
    /// Median changes of the lead in the second half.
    pub leads: u32,
    /// Median share of crumbs that are not eaten in the middle of a round.
    pub uneaten: u32,
    /// Median points of the player who never presses.
    pub idle: u32,
    /// Questions a frame with 16 and with 64 players, in hundredths.
    pub questions: [u32; 2],
}

const STRENGTHS: [Strength; 3] = [Strength::Fledgling, Strength::Steady, Strength::Sharp];

/// Points of the bots of a strength.
pub fn banked(runs: &[Run], strength: Strength) -> Vec<u32> {
    let shares = runs.iter().flat_map(|run| &run.shares);
    shares.filter(|share| share.strength == strength).map(|share| share.banked.into()).collect()
}

/// Loads that were lost, also empty ones: 0 to pikes, 1 to geese.
pub fn lost(runs: &[Run], to: usize) -> Vec<u32> {
    runs.iter().flat_map(|run| &run.lost[to]).map(|load| u32::from(*load)).collect()
}

/// Loads that were brought home.
pub fn homes(runs: &[Run]) -> Vec<u32> {
    runs.iter().flat_map(|run| &run.homes).map(|load| u32::from(*load)).collect()
}

fn caught(runs: &[Run], strength: Strength) -> u32 {
    let shares = || runs.iter().flat_map(|run| &run.shares).filter(|share| share.strength == strength);
    shares().map(|share| u32::from(share.caught)).sum::<u32>() * 100 / (shares().count() as u32).max(1)
}

fn part(some: u32, all: u32, of: u32) -> u32 {
    (u64::from(some) * u64::from(of) / u64::from(all.max(1))) as u32
}

fn margin(run: &Run) -> u32 {
    let [left, right, ..] = run.scores;
    part(left.abs_diff(right).into(), left.max(right).into(), 1_000)
}

impl Summary {
    /// The numbers of these rounds.
    pub fn of(rounds: &Rounds) -> Summary {
        let Rounds { steady, mixed, idle, sixteen, sixty_four } = rounds;
        let own = banked(steady, Strength::Steady);
        let sum = |of: &dyn Fn(&Run) -> u32| mixed.iter().map(of).sum::<u32>();
        let middle = median(banked(mixed, Strength::Steady).into_iter());
        let homes = homes(mixed);
        let dozens = homes.iter().filter(|load| **load == crate::chick::LOAD_MAX.into()).count() as u32;
        let [pikes, geese] = [0, 1].map(|to| lost(mixed, to).iter().filter(|load| **load > 0).count() as u32);
        let asked = |runs: &[Run]| {
            let sum = |of: fn(&Run) -> u32| runs.iter().map(of).sum::<u32>();
            part(sum(|run| run.questions), sum(|run| run.frames), 100)
        };
        let left = steady.iter().filter(|run| run.scores[0] > run.scores[1]).count() as u32;
        Summary {
            runs: steady.len() as u32,
            banked: [25, 50, 75].map(|percent| quantile(own.iter().copied(), percent)),
            strengths: STRENGTHS.map(|of| part(median(banked(mixed, of).into_iter()), middle, 100)),
            caught: [
                caught(mixed, Strength::Fledgling),
                caught(steady, Strength::Steady),
                caught(mixed, Strength::Sharp),
            ],
            lost_load: median(lost(mixed, 0).into_iter()),
            home_load: (median(homes.iter().copied()), part(dozens, homes.len() as u32, 100)),
            by_pikes: part(pikes, pikes + geese, 100),
            goose: part(
                sum(&|run| run.shares.iter().map(|share| u32::from(share.goose)).sum()),
                sum(&|run| run.frames * run.shares.len() as u32),
                1_000,
            ),
            sent: part(sum(&|run| run.sent), sum(&|run| run.feathers), 100),
            margin: median(steady.iter().map(margin)),
            left: part(left, steady.len() as u32, 100),
            leads: median(mixed.iter().map(|run| run.late_leads)),
            uneaten: median(mixed.iter().map(|run| run.uneaten)),
            idle: median(idle.iter().map(|run| run.idle.into())),
            questions: [asked(sixteen), asked(sixty_four)],
        }
    }
}

/// How a number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// As it is.
    Plain,
    /// In percent of all.
    Percent,
    /// In tenths of a percent.
    Permille,
    /// In hundredths of one.
    Hundredths,
}

impl Unit {
    /// The number as it is read.
    pub fn say(self, value: u32) -> String {
        match self {
            Unit::Plain => value.to_string(),
            Unit::Percent => format!("{value} %"),
            Unit::Permille => format!("{}.{} %", value / 10, value % 10),
            Unit::Hundredths => format!("{}.{:02}", value / 100, value % 100),
        }
    }
}

/// One number against its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was counted.
    pub what: &'static str,
    /// What came out.
    pub value: u32,
    /// What is wanted.
    pub target: RangeInclusive<u32>,
    /// How both are read.
    pub unit: Unit,
}

impl Finding {
    /// Whether the target is met.
    pub fn is_met(&self) -> bool {
        self.target.contains(&self.value)
    }
}

impl Display for Finding {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let target = match (*self.target.start(), *self.target.end()) {
            (0, most) => format!("at most {}", self.unit.say(most)),
            (least, u32::MAX) => format!("at least {}", self.unit.say(least)),
            (least, most) => format!("{} to {}", self.unit.say(least), self.unit.say(most)),
        };
        let verdict = if self.is_met() { "met" } else { "missed" };
        write!(out, "{:<46} {:>8}   {target:<18} {verdict}", self.what, self.unit.say(self.value))
    }
}

/// The numbers against the targets.
pub fn judge(of: &Summary) -> Vec<Finding> {
    use Unit::{Hundredths, Percent, Permille, Plain};
    let [lower, middle, upper] = of.banked;
    let found = [
        ("points of a steady bot, median", middle, 38..=52, Plain),
        ("points of a steady bot, lower quartile", lower, 29..=39, Plain),
        ("points of a steady bot, upper quartile", upper, 48..=64, Plain),
        ("points of a fledgling beside a steady bot", of.strengths[0], 47..=63, Percent),
        ("points of a sharp beside a steady bot", of.strengths[2], 119..=161, Percent),
        ("caught in a round, steady", of.caught[1], 250..=400, Hundredths),
        ("caught in a round, sharp", of.caught[2], 100..=200, Hundredths),
        ("load when caught, median", of.lost_load, 4..=7, Plain),
        ("load brought home, median", of.home_load.0, 7..=9, Plain),
        ("dozens of all loads brought home", of.home_load.1, 15..=25, Percent),
        ("loads lost to pikes", of.by_pikes, 70..=80, Percent),
        ("time as a goose", of.goose, 40..=70, Permille),
        ("pikes sent home by a feather", of.sent, 100..=200, Hundredths),
        ("lead at the end, median", of.margin, 0..=120, Permille),
        ("rounds won by the left brood", of.left, 45..=55, Percent),
        ("changes of the lead in the second half, median", of.leads, 1..=u32::MAX, Plain),
        ("crumbs not eaten in the middle, median", of.uneaten, 35..=60, Percent),
        ("points without any press, median", of.idle, 0..=4, Plain),
        ("questions a frame, 16 players", of.questions[0], 0..=150, Hundredths),
        ("questions a frame, 64 players", of.questions[1], 0..=600, Hundredths),
    ];
    found.into_iter().map(|(what, value, target, unit)| Finding { what, value, target, unit }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Share;

    #[test]
    fn rounds_come_to_numbers() {
        let share = |strength, banked, caught| Share { strength, banked, caught, goose: 270 };
        let run = Run {
            shares: vec![
                share(Strength::Fledgling, 20, 3),
                share(Strength::Steady, 40, 2),
                share(Strength::Sharp, 60, 1),
            ],
            scores: [100, 80, 0, 0],
            lost: [vec![0, 5, 6, 7], vec![4]],
            homes: vec![12, 8, 8, 7],
            feathers: 4,
            sent: 5,
            late_leads: 2,
            uneaten: 50,
            idle: 3,
            questions: 5_400,
            frames: 5_400,
        };
        let all = vec![run];
        let rounds = Rounds {
            steady: all.clone(),
            mixed: all.clone(),
            idle: all.clone(),
            sixteen: all.clone(),
            sixty_four: all,
        };
        let of = Summary::of(&rounds);
        assert_eq!((of.banked, of.strengths), ([40, 40, 40], [50, 100, 150]));
        assert_eq!((of.caught, of.lost_load, of.by_pikes), ([300, 200, 100], 6, 75));
        assert_eq!((of.home_load, of.goose, of.sent), ((8, 25), 50, 125));
        assert_eq!((of.margin, of.left, of.leads), (200, 100, 2));
        assert_eq!((of.uneaten, of.idle, of.questions), (50, 3, [100, 100]));
        let missed: Vec<&str> =
            judge(&of).iter().filter(|finding| !finding.is_met()).map(|finding| finding.what).collect();
        assert_eq!(
            missed,
            [
                "points of a steady bot, lower quartile",
                "points of a steady bot, upper quartile",
                "caught in a round, steady",
                "lead at the end, median",
                "rounds won by the left brood"
            ]
        );
        assert_eq!(
            judge(&of)[13].to_string(),
            "lead at the end, median                          20.0 %   at most 12.0 %     missed"
        );
    }
}
