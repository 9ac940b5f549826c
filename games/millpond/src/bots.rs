//! Bots: buttons computed from the pond a player would see.
//!
//! The leader, `attract` and tests call [`Bot::play`]. Absent: state other players do not see.

use gaggle_kit::{Angle, Prng};

use crate::boat::Boat;
use crate::ledger::{PADDLES, WISHES};
use crate::pad::Pad;
use crate::pond::{Floating, Pond};
use crate::thing::Sort;
use crate::water::{self, SEATS, Vec2};

/// Decisions of the bot of one seat.
#[derive(Debug, Clone)]
pub struct Bot {
    seat: usize,
    random: Prng,
    /// Frames until it presses the hand button again.
    patience: u16,
    /// Frames it rows back from an obstacle.
    back: u16,
    /// Position at its last check for progress.
    was: Vec2,
    think: u16,
    /// Which of the deliveries to make it works on.
    errand: u8,
}

impl Bot {
    /// A bot for a seat; equal seeds play equally.
    pub fn new(seat: usize, seed: u64) -> Bot {
        let random = Prng::stream(seed, seat as u64);
        Bot {
            seat: seat % SEATS,
            random,
            patience: 0,
            back: 0,
            was: water::at(0, 0),
            think: 0,
            errand: seat as u8,
        }
    }

    /// Buttons for the next frame.
    pub fn play(&mut self, pond: &Pond) -> Pad {
        let Some(boat) = pond.boats[self.seat] else { return Pad::NONE };
        self.patience = self.patience.saturating_sub(1);
        self.reconsider(&boat);
        if self.back > 0 {
            self.back -= 1;
            return Pad {
                down: true,
                right: self.seat.is_multiple_of(2),
                left: !self.seat.is_multiple_of(2),
                ..Pad::NONE
            };
        }
        if let Some(towed) = boat.tow.and_then(|id| pond.find(id)) {
            return self.deliver(pond, &boat, towed);
        }
        if let Some(bell) = self.bell_to_help_with(pond) {
            return row_to(&boat, bell, 40);
        }
        if !pond.ledger.sluiced && self.errand.is_multiple_of(2) {
            let (x, y) = PADDLES[self.seat / 2 % 2];
            return row_to(&boat, water::at(x, y), 9);
        }
        self.fetch(pond, &boat)
    }

    /// Checks progress every 150 frames: rows back from an obstacle, or picks another errand.
    fn reconsider(&mut self, boat: &Boat) {
        self.think += 1;
        if self.think >= 150 {
            self.think = 0;
            if boat.rows && water::is_within(boat.place, self.was, 14) {
                self.back = 40;
            }
            self.was = boat.place;
            if self.random.chance(1, 12) {
                self.errand = self.random.below(4) as u8;
            }
        }
    }

    /// The bell in another boat's tow, if it is nearly still.
    fn bell_to_help_with(&self, pond: &Pond) -> Option<Vec2> {
        let bell = pond.floating.iter().find(|floating| floating.thing.sort == Sort::Bell)?;
        let others = pond.boats.iter().flatten().filter(|boat| usize::from(boat.seat) != self.seat);
        let towed = others.into_iter().any(|boat| boat.tow == Some(bell.id));
        towed.then_some(bell.thing.place)
    }

    fn wish(&self, pond: &Pond) -> Option<usize> {
        let open = (0..WISHES.len()).filter(|wish| pond.ledger.wanted(*wish) > 0);
        let all: Vec<usize> = open.collect();
        all.get(usize::from(self.errand) % all.len().max(1)).copied()
    }

    fn fetch(&mut self, pond: &Pond, boat: &Boat) -> Pad {
        let Some(wish) = self.wish(pond) else { return Pad { up: true, right: true, ..Pad::NONE } };
        let sort = WISHES[wish].sort;
        let free = pond.floating.iter().filter(|floating| floating.thing.sort == sort && !floating.held);
        let nearest =
            free.min_by_key(|floating| water::length(water::offset(boat.place, floating.thing.place)));
        let Some(target) = nearest else { return Pad::NONE };
        let place = target.thing.place;
        let reach = 22 + sort.radius();
        if water::is_within(boat.stern(), place, reach - 4) && self.patience == 0 {
            self.patience = 30;
            return Pad { hand: true, ..Pad::NONE };
        }
        if water::is_within(boat.place, place, reach + 4) {
            // Row past it, so that it comes to lie astern.
            return Pad { up: true, ..Pad::NONE };
        }
        row_to(boat, place, 12)
    }

    fn deliver(&mut self, pond: &Pond, boat: &Boat, towed: &Floating) -> Pad {
        let wanted = (0..WISHES.len())
            .find(|wish| WISHES[*wish].sort == towed.thing.sort && pond.ledger.wanted(*wish) > 0);
        let Some(wish) = wanted else { return self.drop_it() };
        let jetty = WISHES[wish].place();
        if water::is_within(towed.thing.place, jetty, 28) {
            return self.drop_it();
        }
        row_to(boat, jetty, 6)
    }

    fn drop_it(&mut self) -> Pad {
        if self.patience > 0 {
            return Pad::NONE;
        }
        self.patience = 90;
        Pad { hand: true, ..Pad::NONE }
    }
}

/// Buttons that row to a place and stop there.
fn row_to(boat: &Boat, place: Vec2, near: i32) -> Pad {
    if water::is_within(boat.place, place, near) {
        return Pad::NONE;
    }
    let there: Angle = water::direction(water::offset(boat.place, place));
    let off = boat.heading.delta_to(there);
    let (left, right) = (off < -1_400, off > 1_400);
    Pad { left, right, up: off.unsigned_abs() < 7_000, ..Pad::NONE }
}
