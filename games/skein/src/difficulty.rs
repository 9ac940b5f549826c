//! How hard a run is, by the number of players: hurts, counts, intervals and limits.
//!
//! Read by the script, enemies and bosses; the number is taken at the beginning of each wave and
//! boss. Absent: what comes when.

/// Hurts of enemies and bosses, in percent of those for one player.
const HURTS: [u32; 6] = [100, 150, 200, 270, 310, 350];
/// Hurts of large enemies, in percent.
const LARGE: [u32; 6] = [105, 110, 120, 150, 200, 270];
/// Enemies of a wave, in percent.
const COUNTS: [u32; 6] = [100, 110, 120, 135, 150, 160];
/// Frames between shots, in percent.
const INTERVALS: [u32; 6] = [68, 74, 76, 78, 72, 64];
/// Embers in the air at most.
const LIMITS: [u16; 6] = [300, 360, 420, 480, 540, 600];

/// The numbers for a crew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difficulty {
    place: usize,
}

impl Difficulty {
    /// For so many players; 1 to 6 count.
    pub fn of(crew: u8) -> Difficulty {
        Difficulty { place: usize::from(crew.clamp(1, 6)) - 1 }
    }

    /// Hurts a boss takes that takes so many from one player.
    pub fn hurts(self, alone: u32) -> u32 {
        alone * HURTS[self.place] / 100
    }

    /// Hurts a large enemy takes that takes so many from one player.
    pub fn large(self, alone: u32) -> u32 {
        alone * LARGE[self.place] / 100
    }

    /// Enemies where one player meets so many; a single one stays one.
    pub fn count(self, alone: u32) -> u32 {
        alone * COUNTS[self.place] / 100
    }

    /// Frames between shots where one player has so many.
    pub fn interval(self, alone: u32) -> u32 {
        (alone * INTERVALS[self.place] / 100).max(1)
    }

    /// Embers in the air at most.
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
