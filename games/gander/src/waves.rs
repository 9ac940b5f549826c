//! Table of waves: riders, Herns, missing ledges and hunters by wave and number of players.
//!
//! Kinds repeat every 5 waves; after row 90 the last 10 rows repeat. Called by `flow.rs` when a
//! wave begins. Absent: the course of a wave.

use gaggle_kit::State;

use crate::arena::{HIGH_SEDGE, LONG_EYOT, LOW_EYOT};

/// Rows of the table of waves.
pub const WAVES: u16 = 90;
/// Wave in which the bridges start to burn.
pub const BRIDGES_BURN: u16 = 3;
/// First wave in which the Clutch reaches out of the fire.
pub const CLUTCH_WAKES: u16 = 4;
/// Eggs of an egg wave with one or two players.
pub const EGG_WAVE_EGGS: usize = 12;
/// Most riders of a wave with four players.
pub const RIDERS_MAX: usize = 14;

/// Riders, or eggs of an egg wave, added for every player beyond the second.
pub const CROWD: u8 = 2;

/// Bonus or danger of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum WaveKind {
    /// Riders only, no bonus.
    #[default]
    Plain,
    /// A bonus for not falling, or in versus mode for sparing each other.
    Together,
    /// A bounty for unseating another knight.
    Gladiator,
    /// Eggs on all ledges instead of riders.
    Egg,
    /// Herns from the start.
    Hern,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Plan {
    /// Bonus or danger of the wave.
    pub kind: WaveKind,
    /// Knaves, reeves and wraiths. In an egg wave: the class of the eggs, and how many riders may
    /// be up at once.
    pub riders: [u8; 3],
    /// Herns that come in any case; a slow wave calls more.
    pub herns: u8,
    /// Ledges that are missing, one bit each.
    pub gone: u8,
    /// Riders that hunt at the same time; the others roam.
    pub pursuers: u8,
}

const NONE: u8 = 0;
const A: u8 = 1 << HIGH_SEDGE;
const B: u8 = 1 << LONG_EYOT;
const C: u8 = 1 << LOW_EYOT;

/// Knaves, reeves, wraiths, Herns, ledges gone, pursuers.
type Row = (u8, u8, u8, u8, u8, u8);

#[rustfmt::skip]
const TABLE: [Row; WAVES as usize] = [
    (3, 0, 0, 0, NONE, 1),  (4, 0, 0, 0, NONE, 1),  (6, 0, 0, 0, NONE, 2),      (3, 3, 0, 0, NONE, 2),      (6, 0, 0, 0, NONE, 2),
    (3, 3, 0, 0, B, 2),     (2, 4, 0, 0, A | B, 3), (0, 6, 0, 1, A | B, 3),     (0, 6, 0, 0, A | B | C, 3), (8, 0, 0, 0, NONE, 3),
    (3, 5, 0, 0, NONE, 3),  (2, 6, 0, 0, C, 4),     (0, 7, 0, 1, A | B | C, 4), (0, 8, 0, 0, A | B | C, 4), (0, 6, 0, 0, NONE, 4),
    (0, 5, 1, 0, NONE, 4),  (0, 5, 1, 0, NONE, 5),  (0, 5, 1, 2, NONE, 4),      (0, 4, 2, 0, NONE, 5),      (0, 6, 0, 0, NONE, 5),
    (0, 3, 3, 0, A, 5),     (0, 2, 4, 0, A, 5),     (0, 2, 4, 2, A | C, 5),     (0, 2, 4, 0, A | C, 6),     (0, 6, 0, 0, NONE, 6),
    (0, 3, 5, 0, A | B | C, 6), (0, 3, 5, 0, A | B | C, 6), (0, 2, 4, 2, A | B | C, 6), (0, 3, 5, 0, A | B | C, 6), (0, 8, 0, 0, NONE, 6),
    (0, 4, 4, 0, NONE, 7),  (0, 2, 6, 0, NONE, 7),  (0, 2, 4, 2, B, 7),         (0, 2, 6, 0, B, 7),         (0, 0, 6, 0, NONE, 7),
    (0, 2, 6, 0, C, 8),     (0, 0, 8, 0, C, 8),     (0, 0, 6, 2, B | C, 8),     (0, 0, 8, 0, B | C, 8),     (0, 0, 6, 0, NONE, 8),
    (0, 3, 7, 0, NONE, 9),  (0, 0, 10, 0, A, 9),    (0, 0, 7, 3, A | B, 9),     (0, 0, 10, 0, A | B, 9),    (0, 0, 8, 0, NONE, 9),
    (0, 4, 6, 0, C, 9),     (0, 2, 8, 0, C, 10),    (0, 2, 6, 3, A | B | C, 10), (0, 2, 8, 0, A | B | C, 10), (0, 0, 8, 0, NONE, 10),
    (0, 3, 7, 0, NONE, 10), (0, 2, 8, 0, B, 11),    (0, 0, 8, 3, B | C, 11),    (0, 0, 10, 0, B | C, 11),   (0, 0, 8, 0, NONE, 11),
    (0, 2, 8, 0, A, 11),    (0, 0, 10, 0, A | C, 12), (0, 0, 8, 3, A | B | C, 12), (0, 0, 10, 0, A | B | C, 12), (0, 0, 8, 0, NONE, 12),
    (0, 0, 8, 0, NONE, 12), (0, 0, 10, 0, B, 12),   (0, 0, 8, 3, B, 13),        (0, 0, 10, 0, A | B, 13),   (0, 0, 8, 0, NONE, 13),
    (0, 0, 9, 0, C, 13),    (0, 0, 10, 0, A | C, 13), (0, 0, 8, 3, A | C, 13),  (0, 0, 10, 0, A | B | C, 14), (0, 0, 8, 0, NONE, 14),
    (0, 0, 9, 0, A, 14),    (0, 0, 10, 0, A | B, 14), (0, 0, 8, 3, A | B, 14),  (0, 0, 10, 0, B | C, 14),   (0, 0, 8, 0, NONE, 14),
    (0, 0, 9, 0, B, 14),    (0, 0, 10, 0, B | C, 15), (0, 0, 9, 3, A | B | C, 15), (0, 0, 10, 0, A | B | C, 15), (0, 0, 8, 0, NONE, 15),
    (0, 0, 10, 0, C, 15),   (0, 0, 10, 0, A | C, 15), (0, 0, 9, 3, A | B, 15),  (0, 0, 10, 0, A | B | C, 15), (0, 0, 8, 0, NONE, 15),
    (0, 0, 10, 0, A, 15),   (0, 0, 10, 0, A | B, 15), (0, 0, 9, 3, A | B | C, 15), (0, 0, 10, 0, A | B | C, 15), (0, 0, 8, 0, NONE, 15),
];

/// Plan of `wave`, counted from 1, for a number of players.
pub fn plan(wave: u16, players: usize) -> Plan {
    let wave = wave.max(1);
    let line = if wave <= WAVES { wave } else { WAVES - 9 + (wave - WAVES - 1) % 10 };
    let (knaves, reeves, wraiths, herns, gone, pursuers) = TABLE[usize::from(line) - 1];
    let kind = match wave % 5 {
        2 => WaveKind::Together,
        3 if wave >= 8 => WaveKind::Hern,
        4 => WaveKind::Gladiator,
        0 => WaveKind::Egg,
        _ => WaveKind::Plain,
    };
    let mut riders = [knaves, reeves, wraiths];
    // The table is for one and two players; every further one adds riders of the best class.
    let room = RIDERS_MAX as u8 - riders.iter().sum::<u8>();
    let more = CROWD * players.saturating_sub(2).min(2) as u8;
    if let Some(best) = riders.iter_mut().rev().find(|count| **count > 0) {
        *best += more.min(room);
    }
    let pursuers = pursuers + players.saturating_sub(1) as u8;
    Plan { kind, riders, herns, gone, pursuers }
}

impl Plan {
    /// Riders of all classes.
    pub fn total(&self) -> u8 {
        self.riders.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_round_in_fives_and_herns_come_from_wave_eight() {
        use WaveKind::*;
        let kinds: Vec<_> = (1..=10).map(|wave| plan(wave, 1).kind).collect();
        assert_eq!(kinds, [Plain, Together, Plain, Gladiator, Egg, Plain, Together, Hern, Gladiator, Egg]);
        for wave in 1..=WAVES {
            let plan = plan(wave, 1);
            assert_eq!(plan.kind == Hern, plan.herns > 0, "wave {wave}");
        }
    }

    #[test]
    fn table_rows_match_arcade_game() {
        for (wave, riders, herns) in [
            (1, [3, 0, 0], 0),
            (2, [4, 0, 0], 0),
            (3, [6, 0, 0], 0),
            (4, [3, 3, 0], 0),
            (7, [2, 4, 0], 0),
            (8, [0, 6, 0], 1),
            (13, [0, 7, 0], 1),
            (16, [0, 5, 1], 0),
            (18, [0, 5, 1], 2),
            (23, [0, 2, 4], 2),
            (26, [0, 3, 5], 0),
            (33, [0, 2, 4], 2),
            (37, [0, 0, 8], 0),
            (42, [0, 0, 10], 0),
            (43, [0, 0, 7], 3),
        ] {
            let plan = plan(wave, 1);
            assert_eq!((plan.riders, plan.herns), (riders, herns), "wave {wave}");
        }
        for (wave, gone) in [
            (5, 0),
            (6, B),
            (8, A | B),
            (9, A | B | C),
            (12, C),
            (15, 0),
            (22, A),
            (24, A | C),
            (29, A | B | C),
            (39, B | C),
        ] {
            assert_eq!(plan(wave, 1).gone, gone, "wave {wave}");
        }
        assert!(
            (61..=WAVES).all(|wave| plan(wave, 1).riders[..2] == [0, 0]),
            "every rider from wave 61 on is a wraith"
        );
    }

    #[test]
    fn waves_after_last_row_repeat_last_ten() {
        for wave in WAVES + 1..WAVES + 40 {
            assert_eq!(plan(wave, 2), plan(wave - 10, 2), "wave {wave}");
        }
        plan(u16::MAX, 4);
        assert_eq!(plan(0, 1), plan(1, 1));
    }

    #[test]
    fn player_beyond_second_adds_two_riders_of_best_class() {
        assert_eq!(plan(4, 2).riders, [3, 3, 0]);
        assert_eq!(plan(4, 3).riders, [3, 5, 0]);
        assert_eq!(plan(4, 4).riders, [3, 7, 0]);
        for wave in 1..=WAVES {
            assert!(usize::from(plan(wave, 4).total()) <= RIDERS_MAX, "wave {wave}");
        }
    }
}
