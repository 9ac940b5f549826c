//! Difficulty by number of players: hit points, counts, intervals and limits.
//!
//! Read by the script, enemies and bosses; the number is taken at the start of each wave and boss.
//! Absent: what comes when.

/// Hit points of bosses, in percent of those for one player.
const HURTS: [u32; 6] = [100, 150, 200, 270, 310, 350];
/// Hit points of large enemies, in percent.
const LARGE: [u32; 6] = [105, 110, 120, 150, 200, 270];
/// Enemies of a wave, in percent.
const COUNTS: [u32; 6] = [100, 110, 120, 135, 150, 160];
/// Frames between shots, in percent.
const INTERVALS: [u32; 6] = [68, 74, 76, 78, 72, 64];
/// Most embers in the air.
const LIMITS: [u16; 6] = [300, 360, 420, 480, 540, 600];

/// Difficulty for a number of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difficulty {
    place: usize,
}

impl Difficulty {
    /// Difficulty for this many players, 1 to 6.
    pub fn of(crew: u8) -> Difficulty {
        Difficulty { place: usize::from(crew.clamp(1, 6)) - 1 }
    }

    /// Hit points of a boss that has `alone` for one player.
    pub fn hurts(self, alone: u32) -> u32 {
        alone * HURTS[self.place] / 100
    }

    /// Hit points of a large enemy that has `alone` for one player.
    pub fn large(self, alone: u32) -> u32 {
        alone * LARGE[self.place] / 100
    }

    /// Number of enemies where one player meets `alone`; 1 stays 1.
    pub fn count(self, alone: u32) -> u32 {
        alone * COUNTS[self.place] / 100
    }

    /// Frames between shots where they are `alone` for one player.
    pub fn interval(self, alone: u32) -> u32 {
        (alone * INTERVALS[self.place] / 100).max(1)
    }

    /// Most embers in the air.
    pub fn embers(self) -> u16 {
        LIMITS[self.place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_players_meet_more_of_everything() {
        let all: Vec<Difficulty> = (1..=6).map(Difficulty::of).collect();
        assert!(all.windows(2).all(|two| two[0].hurts(900) < two[1].hurts(900)));
        assert!(all.windows(2).all(|two| two[0].embers() < two[1].embers()));
        assert_eq!((all[5].hurts(900), all[5].count(24), all[5].embers()), (3150, 38, 600));
        assert_eq!(Difficulty::of(0), Difficulty::of(1));
        assert_eq!(Difficulty::of(9), Difficulty::of(6));
    }
}
