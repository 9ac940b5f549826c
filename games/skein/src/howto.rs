//! How to play, as short scenes: the real game, a prepared start, and scripted pads.
//!
//! Called by the help pages. Absent: rules.

use gaggle_scene::Scene;

use crate::cue::Kind;
use crate::ember::Shot;
use crate::enemy::{Foe, Path};
use crate::goose::{BREATH_MAX, Flight, Goose};
use crate::pad::Pad;
use crate::sky::{PX, aim, at};
use crate::stage::{Audience, Stage};
use crate::{SEATS, Seat, Setup, Skein};

/// A page of the help.
#[derive(Clone, Copy)]
pub struct Page {
    /// Title of the page.
    pub title: &'static str,
    /// Text of the page, one line.
    pub line: &'static str,
    /// Frames until it starts again.
    frames: u32,
    begin: fn(&mut Skein),
    /// Runs before each frame: changes the state and returns the pads.
    show: fn(&mut Skein, u32) -> [Pad; SEATS],
    /// Game event that occurs if the scene shows what its text says.
    #[cfg_attr(not(test), allow(dead_code))] // Pages are only checked in tests.
    proof: Kind,
}

/// All pages of the help.
pub const PAGES: [Page; 5] = [
    Page {
        title: "Fly",
        line: "Fire is automatic. Orange hurts.",
        frames: 300,
        begin: |game| place(game, 0, 150, 180),
        show: |game, frame| {
            if frame % 50 == 10 {
                let difficulty = game.course.difficulty();
                for (nth, row) in [120, 150, 180, 210, 240].into_iter().enumerate() {
                    game.enemies.send(Foe::Starling, Path::Straight, row, nth as u8, difficulty);
                }
                for row in [104, 256] {
                    game.embers.fire(Shot::Ember, at(620, row), gaggle_kit::Angle::HALF);
                }
            }
            pads([(0, Pad::flying(0, [0, -1, 1, 0, 1, -1][(frame / 25 % 6) as usize]))])
        },
        proof: Kind::Kill,
    },
    Page {
        title: "The wake",
        line: "Fly behind a wing. It gives you breath.",
        frames: 260,
        begin: |game| {
            place(game, 0, 90, 260);
            place(game, 1, 230, 160);
            game.geese[0].breath = 100;
        },
        show: |game, _| {
            let (me, leader) = (game.geese[0].spot(), game.geese[1].spot());
            let goal = (leader.0 - 50 * PX, leader.1 + 29 * PX);
            let axis = |way: i32| if way.abs() < 4 * PX { 0 } else { way.signum() };
            pads([(0, Pad::flying(axis(goal.0 - me.0), axis(goal.1 - me.1)).and(Pad::TUCK))])
        },
        proof: Kind::Wake,
    },
    Page {
        title: "The point",
        line: "The one in front fires for all, and tires. Take turns.",
        frames: 320,
        begin: |game| {
            place(game, 0, 150, 209);
            place(game, 1, 200, 180);
            place(game, 2, 150, 151);
            game.geese[1].breath = 60;
            game.geese[0].breath = BREATH_MAX;
        },
        show: |game, frame| {
            let is_ahead = game.geese[0].x > game.geese[1].x + 46 * PX;
            let go = if frame > 120 && !is_ahead { Pad::flying(1, 0) } else { Pad::NONE };
            let back = if is_ahead && frame < 200 { Pad::flying(-1, 0).and(Pad::TUCK) } else { Pad::NONE };
            pads([(0, go), (1, back)])
        },
        proof: Kind::Winded,
    },
    Page {
        title: "Honk",
        line: "A third of your breath clears the air.",
        frames: 240,
        begin: |game| place(game, 0, 150, 180),
        show: |game, frame| {
            if frame == 20 || frame == 34 {
                let goose = game.geese[0].spot();
                for nth in -9..=9 {
                    let angle = gaggle_kit::Angle::from_bits((nth * 1_400) as u16);
                    let (x, y) = crate::sky::polar(angle, 190 * PX);
                    let from = (goose.0 + x, goose.1 + y);
                    game.embers.fire(Shot::Ember, from, aim(from, goose));
                }
            }
            // The ring opens just before the first of them is there.
            let me = game.geese[0].spot();
            let near = game.embers.iter().any(|ember| crate::sky::within(ember.spot(), me, 34));
            pads([(0, Pad::NONE.with(Pad::HONK, near))])
        },
        proof: Kind::Honk,
    },
    Page {
        title: "Catch",
        line: "A goose that falls can be caught.",
        frames: 240,
        begin: |game| {
            place(game, 0, 130, 250);
            place(game, 1, 160, 100);
        },
        show: |game, frame| {
            if frame == 50 {
                game.embers.fire(Shot::Coal, game.geese[1].spot(), gaggle_kit::Angle::HALF);
            }
            let (me, other) = (game.geese[0].spot(), game.geese[1].spot());
            let goal = if game.geese[1].flight == Flight::Falling { (other.0, me.1) } else { me };
            let axis = |way: i32| if way.abs() < 3 * PX { 0 } else { way.signum() };
            pads([(0, Pad::flying(axis(goal.0 - me.0), 0))])
        },
        proof: Kind::Caught,
    },
];

fn place(game: &mut Skein, seat: usize, x: i32, y: i32) {
    let (x, y) = at(x, y);
    let flight = Flight::Flying;
    game.geese[seat] = Goose { seat: Seat::Person, flight, x, y, breath: 480, ..Goose::default() };
}

fn pads<const N: usize>(held: [(usize, Pad); N]) -> [Pad; SEATS] {
    let mut pads = [Pad::NONE; SEATS];
    held.into_iter().for_each(|(seat, pad)| pads[seat] = pad);
    pads
}

/// A page at play.
#[derive(Debug, Clone)]
pub struct HowTo {
    page: usize,
    at: u32,
    game: Skein,
    before: Skein,
}

impl HowTo {
    /// A page from its start. Numbers wrap after the last.
    pub fn new(page: usize) -> HowTo {
        let page = page % PAGES.len();
        let mut game = Skein::new(Setup::default(), 7);
        game.step(&[Pad::NONE; SEATS], std::array::from_fn(|seat| seat < 3));
        game.geese.fill(Goose::default());
        game.marks = crate::cue::Marks::default();
        (PAGES[page].begin)(&mut game);
        HowTo { page, at: 0, game, before: game }
    }

    /// The game of the page.
    pub fn game(&self) -> &Skein {
        &self.game
    }

    /// One frame of it.
    pub fn step(&mut self) {
        let page = &PAGES[self.page];
        if self.at >= page.frames {
            *self = HowTo::new(self.page);
        }
        // No wave is sent while something is shown.
        self.game.course.age = 5;
        self.before = self.game;
        let pads = (page.show)(&mut self.game, self.at);
        let present = std::array::from_fn(|seat| self.game.geese[seat].is_person());
        self.game.step(&pads, present);
        self.at += 1;
    }

    /// The page as a picture.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let own = std::array::from_fn(|seat| seat == 0);
        let audience = Audience { own, calm, bare: true, ..Audience::default() };
        stage.draw(&self.game, &self.before, between, &audience, scene);
        scene.cues.clear();
        let page = &PAGES[self.page];
        scene.caption(stage.view(), 17, page.title, page.line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_shows_what_it_says() {
        for (number, page) in PAGES.iter().enumerate() {
            let mut howto = HowTo::new(number);
            let mut seen = false;
            for _ in 0..page.frames {
                howto.step();
                let game = howto.game();
                seen |= game.marks.recent(game.frame, 1).any(|mark| mark.kind == page.proof);
                assert_eq!(game.geese[0].flight, Flight::Flying, "{} teaches falling", page.title);
            }
            assert!(seen, "{} does not show {:?}", page.title, page.proof);
        }
    }

    #[test]
    fn page_begins_again_after_its_end() {
        let mut howto = HowTo::new(1);
        (0..=PAGES[1].frames).for_each(|_| howto.step());
        assert_eq!(howto.at, 1);
    }
}
