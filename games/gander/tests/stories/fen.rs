//! A match in which stories place knights, riders and eggs, and read the outcome.

use gander::arena::{LEDGE, PX};
use gander::cue::{Kind, Mark};
use gander::egg::EggPhase;
use gander::player::SAFE_FRAMES;
use gander::rider::EGGS_EACH;
use gander::{Class, Egg, Gander, Mode, Mover, Pad, Phase, Rider, SEATS, Setup};

pub(crate) struct Fen {
    pub(crate) game: Gander,
    pub(crate) pads: [Pad; SEATS],
    pub(crate) present: [bool; SEATS],
    /// The wave neither sends riders nor ends.
    pub(crate) hold: bool,
}

impl Fen {
    /// Knights that unseat each other, all on geese, in a fen without riders.
    pub(crate) fn versus(players: usize) -> Fen {
        Fen::new(Setup { mode: Mode::Versus, ..Setup::default() }, players)
    }

    /// Knights that bounce off each other, in a fen without riders.
    pub(crate) fn team(players: usize) -> Fen {
        Fen::new(Setup::default(), players)
    }

    pub(crate) fn new(setup: Setup, players: usize) -> Fen {
        let mut fen = Fen::starting(setup, players);
        fen.hold = true;
        fen.step(120);
        fen.game.wave.phase = Phase::Play;
        fen.game.riders = Default::default();
        fen.game.players.iter_mut().for_each(|player| player.safe = 0);
        fen
    }

    /// First frame of a match with the rules of waves in force.
    pub(crate) fn starting(setup: Setup, players: usize) -> Fen {
        let mut present = [false; SEATS];
        present[..players].fill(true);
        Fen { game: Gander::new(setup, 11), pads: [Pad::NONE; SEATS], present, hold: false }
    }

    pub(crate) fn step(&mut self, frames: u32) -> &mut Fen {
        for _ in 0..frames {
            if self.hold {
                self.game.wave.queue = [1, 0, 0];
                self.game.wave.send_in = u8::MAX;
            }
            self.game.step(&self.pads, self.present);
        }
        self
    }

    /// Steps until `so` is true, at most `frames` times. False if it never is.
    pub(crate) fn until(&mut self, frames: u32, so: impl Fn(&Gander) -> bool) -> bool {
        (0..frames).any(|_| {
            self.step(1);
            so(&self.game)
        })
    }

    pub(crate) fn press(&mut self, seat: usize, pad: Pad) -> &mut Fen {
        self.pads[seat] = pad;
        self
    }

    /// Flaps for `frames` frames, as fast as a thumb can.
    pub(crate) fn flap(&mut self, seat: usize, frames: u32) -> &mut Fen {
        for frame in 0..frames {
            self.pads[seat].flap = frame % 8 < 4;
            self.step(1);
        }
        self.pads[seat].flap = false;
        self
    }

    /// Puts a knight into the air, at rest, with its feet at this pixel.
    pub(crate) fn fly(&mut self, seat: usize, x: i32, y: i32) -> &mut Mover {
        let mover = &mut self.game.players[seat].mover;
        *mover = Mover { x: x * PX, y: y * PX, ..Mover::default() };
        mover
    }

    /// Puts a knight at rest on a ledge.
    pub(crate) fn stand(&mut self, seat: usize, x: i32, ledge: usize) -> &mut Mover {
        let mover = &mut self.game.players[seat].mover;
        *mover = Mover::standing(x * PX, LEDGE[ledge].top * PX, false);
        mover
    }

    /// Adds a rider in the air and returns its number.
    pub(crate) fn rider(&mut self, class: Class, x: i32, y: i32) -> usize {
        let number = self.game.riders.iter().position(|rider| !rider.live).expect("a free place");
        let mover = Mover { x: x * PX, y: y * PX, ..Mover::default() };
        self.game.riders[number] = Rider { live: true, class, eggs: EGGS_EACH, mover, ..Rider::default() };
        // It glides on: its next decision comes after the story.
        self.game.riders[number].mind.rest = u8::MAX;
        self.game.riders[number].mind.lane = 182;
        number
    }

    /// Adds an egg at rest and returns its number.
    pub(crate) fn egg(&mut self, x: i32, y: i32) -> usize {
        let number = self.game.eggs.iter().position(|egg| egg.phase == EggPhase::None).expect("a free place");
        self.game.eggs[number] = Egg {
            phase: EggPhase::Resting,
            eggs: EGGS_EACH,
            x: x * PX,
            y: y * PX,
            landed: true,
            wait: 1000,
            ..Egg::default()
        };
        number
    }

    pub(crate) fn score(&self, seat: usize) -> u32 {
        self.game.players[seat].score
    }

    pub(crate) fn safe_again(&mut self, seat: usize) {
        self.game.players[seat].safe = SAFE_FRAMES;
    }

    /// Events of this kind in the last `frames` frames.
    pub(crate) fn marks(&self, kind: Kind, frames: u32) -> Vec<Mark> {
        self.game.marks.recent(self.game.frame, frames).filter(|mark| mark.kind == kind).copied().collect()
    }

    pub(crate) fn riders(&self) -> usize {
        self.game.riders.iter().filter(|rider| rider.live).count()
    }

    pub(crate) fn eggs(&self) -> usize {
        self.game.eggs.iter().filter(|egg| egg.phase != EggPhase::None).count()
    }
}
