//! Summary of many runs of a crew, and comparison with the targets of the game's balance.
//!
//! Used by `examples/balance.rs`, tests and the lab. Absent: playing of runs.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

use super::{Crew, Run, median};
use crate::bots::Strength;

/// Crews whose runs are compared with targets, and their names.
pub const CREWS: [(&str, Crew); 4] = [
    ("one steady", Crew { players: 1, strength: Strength::Steady, in_formation: true }),
    ("four steady", Crew { players: 4, strength: Strength::Steady, in_formation: true }),
    ("six sharp", Crew { players: 6, strength: Strength::Sharp, in_formation: true }),
    ("four steady, apart", Crew { players: 4, strength: Strength::Steady, in_formation: false }),
];

/// Frames of a second.
const SECOND: u32 = 60;

/// Figures of the runs of one crew.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Number of runs.
    pub runs: u32,
    /// Share that reached a stage, 1 to 5 and dawn, in percent.
    pub reached: [u32; 6],
    /// Median of the last stage begun; 6 is dawn.
    pub stage_median: u32,
    /// Mean of the last stage begun, in hundredths.
    pub stage_mean: u32,
    /// Median length in seconds, of all runs and of those that reached dawn.
    pub length: (u32, u32),
    /// Geese of players lost in a stage by those that began it, in hundredths.
    pub lost: [u32; 5],
    /// Falls by cause, in percent: embers, bodies, lightning.
    pub causes: [u32; 3],
    /// Geese caught of those that fell, in percent.
    pub caught: u32,
    /// Seconds for the boss of a stage: the median, and the longest.
    pub bosses: [(u32, u32); 5],
    /// The same for all bosses together.
    pub boss: (u32, u32),
    /// Changes of the point a minute, in tenths.
    pub point_changes: u32,
    /// Share of the score that the best player has, in percent.
    pub best_share: u32,
    /// Embers in the air in the fourth stage: the median, and the most.
    pub embers: (u32, u32),
}

impl Summary {
    /// Summary of these runs.
    pub fn of(runs: &[Run]) -> Summary {
        let count = (runs.len() as u32).max(1);
        let at_dawn = || runs.iter().filter(|run| run.is_dawn());
        let sum = |of: &dyn Fn(&Run) -> u32| runs.iter().map(of).sum::<u32>();
        let causes = [0, 1, 2].map(|cause| sum(&|run| run.causes[cause]));
        let hit = causes.iter().sum::<u32>().max(1);
        let share = |run: &Run| {
            let all: u64 = run.scores.iter().map(|score| u64::from(*score)).sum();
            let best = run.scores.iter().max().copied().unwrap_or(0);
            (u64::from(best) * 100 / all.max(1)) as u32
        };
        let embers = || runs.iter().flat_map(|run| run.embers.iter().map(|count| u32::from(*count)));
        let times = |stage: usize| beaten(runs, stage).map(move |run| run.bosses[stage] / SECOND);
        let pair = |all: Vec<u32>| (median(all.iter().copied()), all.iter().max().copied().unwrap_or(0));
        Summary {
            runs: runs.len() as u32,
            reached: std::array::from_fn(|stage| {
                runs.iter().filter(|run| usize::from(run.stage) > stage).count() as u32 * 100 / count
            }),
            stage_median: median(runs.iter().map(|run| run.stage.into())),
            stage_mean: sum(&|run| run.stage.into()) * 100 / count,
            length: (
                median(runs.iter().map(|run| run.frames)) / SECOND,
                median(at_dawn().map(|run| run.frames)) / SECOND,
            ),
            lost: std::array::from_fn(|stage| {
                let there: Vec<u32> = begun(runs, stage).map(|run| run.lost[stage]).collect();
                there.iter().sum::<u32>() * 100 / (there.len() as u32).max(1)
            }),
            causes: causes.map(|cause| cause * 100 / hit),
            caught: sum(&|run| run.caught) * 100 / sum(&|run| run.falls).max(1),
            bosses: std::array::from_fn(|stage| pair(times(stage).collect())),
            boss: pair((0..5).flat_map(times).collect()),
            point_changes: {
                let minutes_of_frames = (sum(&|run| run.frames / 10)).max(1);
                sum(&|run| run.point_changes) * 3_600 / minutes_of_frames
            },
            best_share: median(runs.iter().map(share)),
            embers: (median(embers()), embers().max().unwrap_or(0)),
        }
    }
}

fn begun(runs: &[Run], stage: usize) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |run| usize::from(run.stage) > stage)
}

fn beaten(runs: &[Run], stage: usize) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |run| usize::from(run.stage) > stage + 1)
}

/// Unit of a number, for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// As it is.
    Plain,
    /// In percent of all.
    Percent,
    /// As minutes and seconds.
    Time,
    /// In tenths of one.
    Tenths,
    /// In hundredths of one.
    Hundredths,
}

impl Unit {
    /// The number as text in a table.
    pub fn say(self, value: u32) -> String {
        match self {
            Unit::Plain => value.to_string(),
            Unit::Percent => format!("{value} %"),
            Unit::Time => format!("{}:{:02}", value / 60, value % 60),
            Unit::Tenths => format!("{}.{}", value / 10, value % 10),
            Unit::Hundredths => format!("{}.{:02}", value / 100, value % 100),
        }
    }
}

/// A figure compared with its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Crew, and what was counted.
    pub what: String,
    /// Value that was measured.
    pub value: u32,
    /// Range in which the value should be.
    pub target: RangeInclusive<u32>,
    /// Unit of both.
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
        let (least, most) = (*self.target.start(), *self.target.end());
        let target = match (least, most) {
            (0, most) => format!("at most {}", self.unit.say(most)),
            (least, u32::MAX) => format!("at least {}", self.unit.say(least)),
            (least, most) if least == most => self.unit.say(least),
            (least, most) => format!("{} to {}", self.unit.say(least), self.unit.say(most)),
        };
        let verdict = if self.is_met() { "met" } else { "missed" };
        write!(out, "{:<44} {:>8}   {target:<18} {verdict}", self.what, self.unit.say(self.value))
    }
}

/// Compares summaries of the crews of [`CREWS`], in that order, with the targets.
pub fn judge(of: &[Summary; 4]) -> Vec<Finding> {
    let [alone, four, six, apart] = of;
    let mut found = Vec::new();
    let mut find = |what: &str, value, target, unit| {
        found.push(Finding { what: what.to_string(), value, target, unit });
    };
    use Unit::{Hundredths, Percent, Plain, Tenths, Time};
    find("one steady: median stage", alone.stage_median, 3..=3, Plain);
    find("one steady: reach dawn", alone.reached[5], 8..=15, Percent);
    find("one steady: run, median", alone.length.0, 420..=540, Time);
    find("four steady: median stage", four.stage_median, 4..=4, Plain);
    find("four steady: reach dawn", four.reached[5], 25..=40, Percent);
    find("four steady: run, median", four.length.0, 420..=540, Time);
    find("four steady: run to dawn, median", four.length.1, 690..=870, Time);
    find("six sharp: reach dawn", six.reached[5], 75..=90, Percent);
    for (stage, wanted) in [60, 120, 180, 260, 320].into_iter().enumerate() {
        let what = format!("four steady: lost in stage {}", stage + 1);
        find(&what, four.lost[stage], wanted * 6 / 10..=wanted * 14 / 10, Hundredths);
    }
    let causes = [("embers", 75..=85), ("bodies", 10..=18), ("lightning", 3..=8)];
    for ((cause, target), value) in causes.into_iter().zip(four.causes) {
        find(&format!("four steady: falls by {cause}"), value, target, Percent);
    }
    find("four steady: caught of fallen", four.caught, 35..=55, Percent);
    find("four steady: boss, median", four.boss.0, 35..=55, Time);
    find("four steady: boss, longest", four.boss.1, 0..=120, Time);
    let worth = four.stage_mean.saturating_sub(apart.stage_mean);
    find("four steady: stages the V is worth", worth, 100..=200, Hundredths);
    find("four steady: point changes a minute", four.point_changes, 30..=80, Tenths);
    find("four steady: share of the best", four.best_share, 0..=39, Percent);
    find("four steady: embers in stage 4, median", four.embers.0, 120..=220, Plain);
    find("four steady: embers in stage 4, most", four.embers.1, 0..=480, Plain);
    found
}

/// Summary of a crew as lines of a table.
pub fn table(name: &str, of: &Summary) -> String {
    let all = |numbers: &[u32], unit: Unit| {
        numbers.iter().map(|number| unit.say(*number)).collect::<Vec<_>>().join(", ")
    };
    let bosses = of.bosses.map(|(middle, longest)| format!("{middle} s (longest {longest})")).join(", ");
    format!(
        "{name}, {} runs\n  reach stages 1 to 5 and dawn: {}; median {}, mean {}\n  \
         length, median {}, of those at dawn {}\n  lost by stage: {}\n  bosses: {bosses}\n  \
         falls by embers, bodies, lightning: {}; caught {} %\n  \
         point changes a minute {}, share of the best {} %, embers in stage 4 {}, at most {}\n",
        of.runs,
        all(&of.reached, Unit::Percent),
        of.stage_median,
        Unit::Hundredths.say(of.stage_mean),
        Unit::Time.say(of.length.0),
        Unit::Time.say(of.length.1),
        all(&of.lost, Unit::Hundredths),
        all(&of.causes, Unit::Percent),
        of.caught,
        Unit::Tenths.say(of.point_changes),
        of.best_share,
        of.embers.0,
        of.embers.1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_to_numbers() {
        let dawn = Run {
            stage: 6,
            frames: 48_000,
            lost: [1, 0, 2, 3, 4],
            causes: [7, 2, 1],
            falls: 10,
            caught: 4,
            bosses: [2_400; 5],
            point_changes: 40,
            scores: [100, 300, 0, 0, 0, 0],
            embers: vec![100, 200, 300],
        };
        let early = Run {
            stage: 2,
            frames: 12_000,
            lost: [2, 1, 0, 0, 0],
            bosses: [1_200, 600, 0, 0, 0],
            ..Run::default()
        };
        let of = Summary::of(&[dawn, early]);
        assert_eq!(of.reached, [100, 100, 50, 50, 50, 50]);
        assert_eq!((of.stage_mean, of.length), (400, (800, 800)));
        assert_eq!(of.lost, [150, 50, 200, 300, 400]);
        assert_eq!((of.causes, of.caught), ([70, 20, 10], 40));
        // The boss of the run that ended in stage 2 is not one that was beaten.
        assert_eq!((of.bosses[0], of.bosses[1]), ((40, 40), (40, 40)));
        assert_eq!((of.point_changes, of.embers), (24, (200, 300)));
    }

    #[test]
    fn finding_says_whether_target_is_met() {
        let find = |value| Finding { what: "x".to_string(), value, target: 35..=55, unit: Unit::Time };
        assert!(find(55).is_met() && !find(56).is_met());
        assert!(find(56).to_string().ends_with("0:35 to 0:55       missed"), "{}", find(56));
        assert_eq!(judge(&std::array::from_fn(|_| Summary::default())).len(), 24);
    }
}
