//! Rules, pictures, bots and networking of the game drake; the arcade runs it.
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

/// Peers with another fingerprint play by other rules and are rejected.
pub const FINGERPRINT: u64 = gaggle_kit::fnv1a_64(b"drake 1");

/// Settings of a match, agreed before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// Seats played at least, 0 to 6: bots fill what players leave free.
    pub fill: u8,
    /// Rounds to win the match, at least 1.
    pub wins: u8,
}

impl Setup {
    /// The same settings with every value in its range.
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

/// Who plays a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Sitting {
    /// No player: a bot plays it if [`Setup::fill`] asks for one.
    #[default]
    Nobody,
    /// A player, whose slot has the seat's number.
    Player,
}

/// State of a match at one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Drake {
    /// Settings of this match, clamped.
    pub setup: Setup,
    /// Number of the frame, wrapping.
    pub frame: u32,
    /// Source of all randomness in the match.
    pub random: Prng,
    /// Phase, round and winner.
    pub bout: Bout,
    /// What the leader decides about each seat.
    pub seats: [Standing; SEATS],
    /// Crafts by seat, each moved by its player's peer.
    pub crafts: [Craft; SEATS],
    /// Button history of each seat.
    pub hands: [Hands; SEATS],
    /// By seat: whether the fire button was down in the last frame.
    pub triggers: [bool; SEATS],
    /// Rocks, which peas break.
    pub rocks: [Option<Rock>; rock::ROCKS],
    /// Peas in flight.
    pub shots: [Option<Shot>; shot::SHOTS],
    /// Puffballs on the field.
    pub puffballs: [Option<Puffball>; weapons::PUFFBALLS],
    /// Hornets in flight.
    pub hornets: [Option<Hornet>; weapons::HORNETS],
    /// Lanterns, one per seat at most.
    pub lanterns: [Option<Lantern>; SEATS],
    /// Eggs that wait to be taken.
    pub eggs: [Option<Egg>; weapons::EGGS],
    /// Frames until the next egg.
    pub egg_in: u16,
    /// Recent events, for pictures and sounds.
    pub marks: Marks,
}

impl Drake {
    /// An empty field. A match begins when the first seat is taken.
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

    /// One frame of a match without a network.
    pub fn step(&mut self, pads: &[Pad; SEATS], sitting: &[Sitting; SEATS]) {
        self.frame = self.frame.wrapping_add(1);
        self.seat(sitting);
        for (seat, pad) in pads.iter().enumerate() {
            self.steer(seat, *pad);
        }
        self.judge(pads);
    }

    /// Moves the craft of a seat by its buttons. Returns what others should hear of, or `None` if
    /// the seat has no craft.
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

    /// The craft that flies for a seat, if it belongs to the seat's present life.
    pub fn body(&self, seat: usize) -> Option<&Craft> {
        let (standing, craft) = (self.seats.get(seat)?, &self.crafts[seat]);
        (standing.alive() && craft.life == standing.life).then_some(craft)
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
