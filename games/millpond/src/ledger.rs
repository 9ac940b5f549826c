//! The ledger: what the jetties want and what was delivered, sent as a value.
//!
//! `keeper` writes it at the leader; `goal`, bots and pictures read it. Absent: how things move.

use gaggle_kit::State;

use crate::thing::Sort;
use crate::water::{self, Vec2};

/// Demand of one customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Name of the customer, shown to players.
    pub who: &'static str,
    /// Sort of thing wanted.
    pub sort: Sort,
    /// Number wanted per day.
    pub count: u8,
    /// Column of the jetty.
    pub x: i32,
    /// Row of the jetty.
    pub y: i32,
    /// Sort of thing given in return.
    pub gift: Sort,
}

/// All wishes of a day.
pub const WISHES: [Wish; 4] = [
    Wish { who: "Mill", sort: Sort::Crate, count: 6, x: 930, y: 60, gift: Sort::Cheese },
    Wish { who: "Tavern", sort: Sort::Barrel, count: 4, x: 90, y: 500, gift: Sort::Lantern },
    Wish { who: "Dairy", sort: Sort::Cheese, count: 3, x: 520, y: 530, gift: Sort::Decoy },
    Wish { who: "Chapel", sort: Sort::Bell, count: 1, x: 930, y: 500, gift: Sort::Lantern },
];

/// Index of the wish for the bell.
pub(crate) const BELL: usize = 3;

/// Distance from a jetty at which a thing is delivered, in pixels.
pub const JETTY_REACH: i32 = 34;
/// Paddles of the sluice, one on each side of the race.
pub const PADDLES: [(i32, i32); 2] = [(180, water::RACE - 76), (180, water::RACE + 76)];
/// Distance from a paddle at which a boat holds it, in pixels.
pub const PADDLE_REACH: i32 = 18;
/// Frames both paddles must be held.
pub const PADDLE_FRAMES: u8 = 60;
/// Frames the sluice stays open.
pub const SLUICE_FRAMES: u16 = 1_200;
/// Frames from the last delivery to the next day.
pub const DAY_FRAMES: u16 = 480;

impl Wish {
    /// Position of the jetty.
    pub const fn place(&self) -> Vec2 {
        water::at(self.x, self.y)
    }
}

/// Progress of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Ledger {
    /// Number of the day, from 0.
    pub day: u16,
    /// Things delivered, by wish.
    pub brought: [u8; WISHES.len()],
    /// Whether the sluice was opened today.
    pub sluiced: bool,
    /// Whether the sluice is open now.
    pub open: bool,
    /// Whether all wishes are fulfilled.
    pub done: bool,
    /// Things delivered by the boat of each seat, over all days.
    pub credit: [u8; water::SEATS],
}

impl Ledger {
    /// Things of a wish that are still wanted.
    pub fn wanted(&self, wish: usize) -> u8 {
        WISHES[wish].count.saturating_sub(self.brought[wish])
    }

    /// Whether all wishes are fulfilled and the sluice was opened.
    pub fn complete(&self) -> bool {
        self.sluiced && (0..WISHES.len()).all(|wish| self.wanted(wish) == 0)
    }
}
