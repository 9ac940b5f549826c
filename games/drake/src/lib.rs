//! Drakes in a wicker coop: rules, pictures and bots of the game.
//!
#![doc = include_str!("../README.md")]

pub mod attract;
pub mod bots;
pub mod bout;
pub mod craft;
pub mod field;
mod hits;
pub mod howto;
pub mod mark;
pub mod net;
pub mod pad;
mod pool;
mod referee;
pub mod rock;
pub mod shot;
pub mod stage;
pub mod standing;
pub mod weapons;

use gaggle_kit::{Prng, State};

pub use bout::{Bout, Phase};
pub use craft::{Craft, Deed, Hands};
pub use field::SEATS;
pub use mark::{Mark, Marks, What};
pub use pad::Pad;
pub use rock::Rock;
pub use shot::Shot;
pub use standing::{Form, Load, Standing};
pub use weapons::{Egg, Hornet, Lantern, Puffball};

/// Which rules these are: peers with another number play another game.
pub const FINGERPRINT: u64 = gaggle_kit::fnv1a_64(b"drake 1");

/// What is settled before a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// Seats that are played in any case, by bots if by nobody else.
    pub fill: u8,
    /// Rounds to win the match.
    pub wins: u8,
}

impl Setup {
    /// The same, with what no match can be played by put right.
    #[must_use]
    pub fn clamped(self) -> Setup {
        Setup { fill: self.fill.min(SEATS as u8), wins: self.wins.max(1) }
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { fill: 4, wins: 3 }
    }
}

/// Who sits in a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Sitting {
    /// Nobody: a bot, where one is wanted.
    #[default]
    Nobody,
    /// Slot of a player.
    Player,
}

/// A whole match at one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Drake {
    /// What was settled beforehand.
    pub setup: Setup,
    /// The frame this is the state of.
    pub frame: u32,
    /// All chance of the match.
    pub random: Prng,
    /// Where the match stands.
    pub bout: Bout,
    /// What the rules say of the seats.
    pub seats: [Standing; SEATS],
    /// What sits in them, moved by those who steer.
    pub crafts: [Craft; SEATS],
    /// The hands that steer.
    pub hands: [Hands; SEATS],
    /// Which firing buttons were down in the last frame.
    pub triggers: [bool; SEATS],
    /// Crumbs of the moon.
    pub rocks: [Option<Rock>; rock::ROCKS],
    /// Peas in the air.
    pub shots: [Option<Shot>; shot::SHOTS],
    /// Puffballs by number.
    pub puffballs: [Option<Puffball>; weapons::PUFFBALLS],
    /// Hornets by number.
    pub hornets: [Option<Hornet>; weapons::HORNETS],
    /// Lanterns, at most one for each seat.
    pub lanterns: [Option<Lantern>; SEATS],
    /// Eggs by number.
    pub eggs: [Option<Egg>; weapons::EGGS],
    /// Frames until the next egg.
    pub egg_in: u16,
    /// What is worth seeing and hearing.
    pub marks: Marks,
}

impl Drake {
    /// An empty coop. A match begins when somebody sits down.
    pub fn new(setup: Setup, seed: u64) -> Drake {
        Drake {
            setup: setup.clamped(),
            frame: 0,
            random: Prng::new(seed),
            bout: Bout::default(),
            seats: std::array::from_fn(|seat| Standing { seat: seat as u8, ..Standing::default() }),
            crafts: std::array::from_fn(|seat| Craft::hatched(seat, 0)),
            hands: Default::default(),
            triggers: [false; SEATS],
            rocks: [None; rock::ROCKS],
            shots: [None; shot::SHOTS],
            puffballs: [None; weapons::PUFFBALLS],
            hornets: [None; weapons::HORNETS],
            lanterns: [None; SEATS],
            eggs: [None; weapons::EGGS],
            egg_in: 0,
            marks: Marks::default(),
        }
    }

    /// One frame of a match that is played on one machine.
    pub fn step(&mut self, pads: &[Pad; SEATS], sitting: &[Sitting; SEATS]) {
        self.frame = self.frame.wrapping_add(1);
        self.seat(sitting);
        for (seat, pad) in pads.iter().enumerate() {
            self.steer(seat, *pad);
        }
        self.judge(pads);
    }

    /// Moves what sits in a seat, as its player wants it. Returns what he did, if there is anything
    /// to move.
    pub fn steer(&mut self, seat: usize, pad: Pad) -> Option<Deed> {
        let standing = &self.seats[seat];
        if !standing.alive() {
            return None;
        }
        let (craft, hands) = (&mut self.crafts[seat], &mut self.hands[seat]);
        if craft.life != standing.life {
            *craft = Craft::hatched(seat, standing.life);
            *hands = Hands::default();
        }
        let clockwise = self.bout.clockwise;
        if self.bout.phase == Phase::Countdown {
            craft.wait(hands, pad, clockwise);
            return Some(Deed::default());
        }
        let deed = craft.step(hands, pad, standing.form, clockwise, &self.rocks);
        let (place, seat) = (craft.place, seat as u8);
        if deed.dash {
            self.mark(Mark::at(What::Dash, seat, place));
        }
        if deed.bump {
            self.mark(Mark::at(What::Bump, seat, place));
        }
        Some(deed)
    }

    /// What is there in a seat, if anything is.
    pub fn body(&self, seat: usize) -> Option<&Craft> {
        let (standing, craft) = (self.seats.get(seat)?, &self.crafts[seat]);
        (standing.alive() && craft.life == standing.life).then_some(craft)
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
