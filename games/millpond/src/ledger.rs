//! What is wanted on the pond, and what of it is done. Kept by whoever leads.

use gaggle_kit::State;

use crate::thing::Sort;
use crate::water::{self, Vec2};

/// Somebody on the shore who wants something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Name of the customer.
    pub who: &'static str,
    /// Kind of thing wanted.
    pub sort: Sort,
    /// Number of things wanted.
    pub count: u8,
    /// Where the jetty is.
    pub x: i32,
    /// Where the jetty is.
    pub y: i32,
    /// What is given for it.
    pub gift: Sort,
}

/// All that is wanted in a day.
pub const WISHES: [Wish; 4] = [
    Wish { who: "Mill", sort: Sort::Crate, count: 6, x: 930, y: 60, gift: Sort::Cheese },
    Wish { who: "Tavern", sort: Sort::Barrel, count: 4, x: 90, y: 500, gift: Sort::Lantern },
    Wish { who: "Dairy", sort: Sort::Cheese, count: 3, x: 520, y: 530, gift: Sort::Decoy },
    Wish { who: "Chapel", sort: Sort::Bell, count: 1, x: 930, y: 500, gift: Sort::Lantern },
];

/// Which of them is the chapel's.
pub(crate) const BELL: usize = 3;

/// Pixels from a jetty at which something counts as brought.
pub const JETTY_REACH: i32 = 34;
/// The two paddles of the sluice, on either side of the race.
pub const PADDLES: [(i32, i32); 2] = [(180, water::RACE - 76), (180, water::RACE + 76)];
/// Pixels from a paddle at which a boat can hold it.
pub const PADDLE_REACH: i32 = 18;
/// Frames both must be held.
pub const PADDLE_FRAMES: u8 = 60;
/// Frames the sluice stays open.
pub const SLUICE_FRAMES: u16 = 1_200;
/// Frames a finished day is celebrated.
pub const DAY_FRAMES: u16 = 480;

impl Wish {
    /// Where its jetty is.
    pub const fn place(&self) -> Vec2 {
        water::at(self.x, self.y)
    }
}

/// What of it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Ledger {
    /// Which day, from 0.
    pub day: u16,
    /// What was brought, by wish.
    pub brought: [u8; WISHES.len()],
    /// Whether the sluice was opened today.
    pub sluiced: bool,
    /// Whether it is open now.
    pub open: bool,
    /// Whether everything is done.
    pub done: bool,
    /// What the boat of each seat has brought, ever.
    pub credit: [u8; water::SEATS],
}

impl Ledger {
    /// How many of a wish are still wanted.
    pub fn wanted(&self, wish: usize) -> u8 {
        WISHES[wish].count.saturating_sub(self.brought[wish])
    }

    /// Whether everything on the list is done.
    pub fn complete(&self) -> bool {
        self.sluiced && (0..WISHES.len()).all(|wish| self.wanted(wish) == 0)
    }
}
