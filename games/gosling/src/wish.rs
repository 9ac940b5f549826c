//! What a player wants, and the questions the game asks about it.
//!
//! Called by the tick at cells, by pages that show what a gosling will do. Absent: goslings.

use gaggle_kit::Input;

use crate::water::{Way, is_open, opposite};

/// One player's input: the way last pressed. It changes with a press only, so peers predict it as
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Input)]
pub struct Wish {
    /// 0 right, 1 down, 2 left, 3 up, 4 none yet. Bit 3 flips when the same way is pressed again.
    pub way: u8,
    /// Held while the result is shown: the player wants the next round.
    pub again: bool,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish { way: Wish::NO_WAY, again: false }
    }
}

/// A wish to ignore, as its byte plus one; 0 for none. A wish is stale when its way means "back"
/// only because the water bent: the player pressed it before, to go on.
pub type Stale = u8;

impl Wish {
    /// The way of a player who has not pressed any.
    pub const NO_WAY: u8 = 4;
    /// Bit that flips when the same way is pressed again.
    const ONCE_MORE: u8 = 8;

    /// A wish for a way.
    pub const fn to(way: Way) -> Wish {
        Wish { way, again: false }
    }

    /// This wish after a press: another way, or the same once more.
    #[must_use]
    pub const fn pressed(self, way: Way) -> Wish {
        let once_more =
            if self.direction() == way { self.way & Wish::ONCE_MORE ^ Wish::ONCE_MORE } else { 0 };
        Wish { way: way | once_more, ..self }
    }

    /// The way that is wished, 4 for none.
    pub const fn direction(self) -> Way {
        let way = self.way & !Wish::ONCE_MORE;
        if way < 4 { way } else { Wish::NO_WAY }
    }

    const fn stale(self) -> Stale {
        1 + (self.way & 15)
    }
}

/// What a gosling does at a cell: its new heading, and the wish that is stale from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
pub struct Turn {
    /// The new heading.
    pub heading: Way,
    /// The wish to ignore from now on.
    pub stale: Stale,
}

/// Question at a junction: the wished exit if it is open and the wish is not stale, else straight
/// on, else right, else left.
pub fn turn(wish: Wish, (exits, heading, stale): (u8, Way, Stale)) -> Turn {
    let way = wish.direction();
    let is_old = way == opposite(heading) && stale == wish.stale();
    if is_open(exits, way) && !is_old {
        return Turn { heading: way, stale: 0 };
    }
    let ahead = [heading, (heading + 1) & 3, (heading + 3) & 3, opposite(heading)];
    let ahead = ahead.into_iter().find(|way| is_open(exits, *way)).unwrap_or(heading);
    Turn { heading: ahead, stale: if is_old && ahead == heading { stale } else { 0 } }
}

/// Question at a cell with two exits: turn back if that is wished, else go on to `ahead`. All other
/// wishes have one answer, so a wrong prediction among them causes no rollback.
pub fn pass(wish: Wish, (heading, ahead, stale): (Way, Way, Stale)) -> Turn {
    let way = wish.direction();
    if way == opposite(heading) {
        return match stale == wish.stale() {
            true => Turn { heading: ahead, stale },
            false => Turn { heading: way, stale: 0 },
        };
    }
    Turn { heading: ahead, stale: if way == opposite(ahead) { wish.stale() } else { 0 } }
}

/// Question in the nest: the exit to leave by, or 4 to wait.
pub fn out(wish: Wish, exits: u8) -> u8 {
    if is_open(exits, wish.direction()) { wish.direction() } else { Wish::NO_WAY }
}

/// Question while the result is shown: whether the player wants the next round.
pub fn again(wish: Wish, (): ()) -> bool {
    wish.again
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Way = 0;
    const DOWN: Way = 1;
    const LEFT: Way = 2;
    const UP: Way = 3;

    #[test]
    fn wish_is_kept_until_its_exit_is_open() {
        let wish = Wish::to(DOWN);
        assert_eq!(turn(wish, (0b1101, RIGHT, 0)).heading, RIGHT);
        assert_eq!(turn(wish, (0b1111, RIGHT, 0)).heading, DOWN);
        assert_eq!(turn(Wish::default(), (0b1110, RIGHT, 0)).heading, DOWN, "right hand");
        assert_eq!(turn(wish, (0b1100, RIGHT, 0)).heading, UP, "left hand");
    }

    #[test]
    fn junction_accepts_wish_to_go_back() {
        assert_eq!(turn(Wish::to(LEFT), (0b1111, RIGHT, 0)), Turn { heading: LEFT, stale: 0 });
    }

    #[test]
    fn bends_never_make_old_wish_turn_back() {
        // Left, up, right: the wish is still left.
        let wish = Wish::to(LEFT);
        let bend = pass(wish, (LEFT, UP, 0));
        assert_eq!(bend, Turn { heading: UP, stale: 0 });
        let second = pass(wish, (UP, RIGHT, bend.stale));
        assert_eq!(second.heading, RIGHT);
        let straight = pass(wish, (RIGHT, RIGHT, second.stale));
        assert_eq!(straight.heading, RIGHT);
        let junction = turn(wish, (0b1111, RIGHT, straight.stale));
        assert_eq!(junction.heading, RIGHT);
        assert_eq!(pass(wish, (RIGHT, RIGHT, junction.stale)).heading, RIGHT);
        // Pressed once more it counts.
        let pressed = wish.pressed(LEFT);
        assert_eq!(pass(pressed, (RIGHT, RIGHT, junction.stale)).heading, LEFT);
        assert_eq!(turn(pressed, (0b1111, RIGHT, junction.stale)).heading, LEFT);
    }

    #[test]
    fn press_of_other_way_is_plain() {
        assert_eq!(Wish::default().pressed(3), Wish::to(3));
        assert_eq!(Wish::to(3).pressed(3).pressed(3), Wish::to(3));
        assert_eq!(Wish::to(3).pressed(3).direction(), 3);
        assert_eq!(Wish { way: 200, again: false }.direction(), Wish::NO_WAY);
    }

    #[test]
    fn nest_is_left_by_open_exit_only() {
        assert_eq!(out(Wish::to(2), 0b0100), 2);
        assert_eq!((out(Wish::to(1), 0b0100), out(Wish::default(), 0b1111)), (4, 4));
    }
}
