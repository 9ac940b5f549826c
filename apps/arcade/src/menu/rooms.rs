//! The list of open rooms, in an order that stays stable while a player aims at a row. `Arcade`
//! updates it. Absent: drawing.

/// One open room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoomLine {
    /// Code of six letters.
    pub code: String,
    /// Mode and progress: `team, wave 3`.
    pub mode: String,
    /// Slots with a player.
    pub players: u8,
    /// Number of slots.
    pub seats: u8,
    /// Number of spectators.
    pub watchers: u8,
    /// Whether a player can join.
    pub open: bool,
}

/// Updates the list: existing rooms keep their order, new ones come last.
pub fn keep_places(lines: &mut Vec<RoomLine>, mut fresh: Vec<RoomLine>) {
    lines.retain_mut(|line| {
        let found = fresh.iter().position(|room| room.code == line.code);
        found.map(|nth| *line = fresh.remove(nth)).is_some()
    });
    lines.append(&mut fresh);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(codes: &[(&str, u8)]) -> Vec<RoomLine> {
        let line = |&(code, players): &(&str, u8)| RoomLine {
            code: code.to_string(),
            players,
            ..RoomLine::default()
        };
        codes.iter().map(line).collect()
    }

    #[test]
    fn rooms_stay_in_their_rows_and_new_ones_come_last() {
        let mut lines = rooms(&[("BBBBBB", 1), ("CCCCCC", 2), ("DDDDDD", 3)]);
        keep_places(&mut lines, rooms(&[("FFFFFF", 1), ("DDDDDD", 4), ("BBBBBB", 2)]));
        assert_eq!(lines, rooms(&[("BBBBBB", 2), ("DDDDDD", 4), ("FFFFFF", 1)]));
        keep_places(&mut lines, vec![]);
        assert!(lines.is_empty());
    }
}
