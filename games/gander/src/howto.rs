//! Pages that teach the game: the real rules, a prepared state and a scripted player.
//!
//! Called by pages of the game. Absent: input and sound.

use gaggle_scene::Scene;

use crate::arena::{FIRE, HEARTHSTONE, LEDGE, LONG_EYOT, LOW_EYOT, PX, apart};
use crate::clutch::{Clutch, ClutchPhase};
use crate::egg::{Egg, EggPhase};
use crate::flow::Phase;
use crate::hern::{Hern, HernPhase};
use crate::mover::{LANCE, Mover};
use crate::pad::Pad;
use crate::pilot::Pilot;
use crate::pits::Bridges;
use crate::player::SEATS;
use crate::rider::{Class, EGGS_EACH, Rider};
use crate::stage::{Audience, Stage};
use crate::{Gander, Seat, Setup};

/// One lesson of the game.
#[derive(Clone, Copy)]
pub struct Page {
    /// Heading of the page.
    pub title: &'static str,
    /// Text below the heading.
    pub line: &'static str,
    /// Frames until it starts again.
    frames: u32,
    begin: fn(&mut Gander),
    /// Pad of the scripted player in a frame of the page.
    show: fn(&Gander, u32) -> Pad,
}

/// All pages, in the order they are read.
pub const PAGES: [Page; 6] = [
    Page {
        title: "Fly",
        line: "Tap to flap. Tap fast to climb, lean to steer.",
        frames: 260,
        begin: |game| stand(game, 130, HEARTHSTONE),
        show: |game, frame| {
            let dir = if frame < 170 { 1 } else { -1 };
            Pilot { gap: 4, top: 3 }.fly(
                knight(game),
                if frame < 110 { 100 } else { 150 },
                dir,
                &game.ground(),
            )
        },
    },
    Page {
        title: "Joust",
        line: "The higher lance wins. Level lances bounce.",
        frames: 200,
        begin: |game| {
            fly(game, 110, 90);
            rider(game, 0, Class::Knave, 230, 120);
        },
        show: |game, _| {
            let rider = &game.riders[0];
            let lane = if rider.live { rider.mover.y / PX - 12 } else { 110 };
            Pilot { gap: 3, top: 3 }.fly(knight(game), lane, 1, &game.ground())
        },
    },
    Page {
        title: "Eggs",
        line: "Take the egg before it hatches. In a row they are worth more; in mid-air, more still.",
        frames: 240,
        begin: |game| {
            stand(game, 90, HEARTHSTONE);
            for (number, x) in [(0, 140), (1, 180), (2, 220)] {
                egg(game, number, x, LEDGE[HEARTHSTONE].top);
            }
            egg(game, 3, 174, LEDGE[LOW_EYOT].top);
            game.eggs[3].phase = EggPhase::Hatchling;
            game.eggs[3].class = Class::Reeve;
        },
        show: |game, _| Pad::leaning(i8::from(knight(game).x < 240 * PX)),
    },
    Page {
        title: "Land",
        line: "On the ground you run, and skid when you turn. You are safe on your stone until you move.",
        frames: 240,
        begin: |game| {
            stand(game, 130, LONG_EYOT);
            game.players[0].safe = 300;
        },
        show: |_, frame| match frame {
            0..60 => Pad::NONE,
            60..95 => Pad::RIGHT,
            95..140 => Pad::LEFT,
            _ => Pad::NONE,
        },
    },
    Page {
        title: "The fire",
        line: "From the fourth wave on, something in the fire reaches for low flyers. Flap for your life.",
        frames: 220,
        begin: |game| {
            game.wave.number = 4;
            game.bridges = Bridges::GONE;
            fly(game, 346, 188);
            game.clutch = Clutch { phase: ClutchPhase::Rising, left: 26, x: 346 * PX, prey: 0, held: 0 };
        },
        show: |game, frame| {
            if game.clutch.phase == ClutchPhase::Grip {
                // As fast as a thumb can tap.
                return Pad::NONE.flapping(frame % 6 < 3);
            }
            let safe = matches!(game.clutch.phase, ClutchPhase::Sinking | ClutchPhase::Hidden);
            if safe { hover(game, 140) } else { dip(game, FIRE - 12) }
        },
    },
    Page {
        title: "The Hern",
        line: "It comes when a wave drags. Wait above its height, face it, and sink your lance into its throat.",
        frames: 230,
        begin: |game| {
            fly(game, 250, 92);
            game.players[0].mover.left = true;
            let y = 88 * PX;
            game.herns[0] = Hern { phase: HernPhase::Leaving, x: -40 * PX, y, ..Hern::default() };
        },
        show: |game, _| {
            let hern = &game.herns[0];
            if !hern.tangible() {
                return hover(game, 110);
            }
            // Waits a little above it and sinks as it strikes: with the beak open it hardly
            // corrects.
            let level = (hern.y + LANCE) / PX;
            let near = apart(hern.x, knight(game).x).abs() < 80 * PX;
            let pad = if near { dip(game, level + 1) } else { hover(game, 94) };
            Pad { left: !knight(game).left, ..pad }
        },
    },
];

fn knight(game: &Gander) -> &Mover {
    &game.players[0].mover
}

fn hover(game: &Gander, lane: i32) -> Pad {
    Pilot { gap: 3, top: 0 }.fly(knight(game), lane, 0, &game.ground())
}

/// Hovers at any row, also where the pilot would flee the fire.
fn dip(game: &Gander, lane: i32) -> Pad {
    let mover = knight(game);
    let low = mover.y + i32::from(mover.vy) * 4 > lane * PX;
    let beat = if mover.wings_down { mover.since_wings < 2 } else { low && mover.since_wings >= 4 };
    Pad::NONE.flapping(beat)
}

fn stand(game: &mut Gander, x: i32, ledge: usize) {
    game.players[0].mover = Mover::standing(x * PX, LEDGE[ledge].top * PX, false);
}

fn fly(game: &mut Gander, x: i32, y: i32) {
    game.players[0].mover = Mover { x: x * PX, y: y * PX, ..Mover::default() };
}

fn rider(game: &mut Gander, number: usize, class: Class, x: i32, y: i32) {
    let mover = Mover { x: x * PX, y: y * PX, left: true, speed: -2, ..Mover::default() };
    game.riders[number] = Rider { live: true, class, eggs: EGGS_EACH, mover, ..Rider::default() };
    let mind = &mut game.riders[number].mind;
    (mind.dir, mind.lane, mind.rest) = (-1, y as u8, u8::MAX);
}

fn egg(game: &mut Gander, number: usize, x: i32, y: i32) {
    game.eggs[number] = Egg {
        phase: EggPhase::Resting,
        eggs: EGGS_EACH,
        x: x * PX,
        y: y * PX,
        landed: true,
        wait: 600,
        waited: 300,
        ..Egg::default()
    };
}

/// One page in progress, played over and over.
#[derive(Clone)]
pub struct HowTo {
    page: usize,
    frame: u32,
    game: Gander,
    before: Gander,
}

impl std::fmt::Debug for HowTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HowTo")
            .field("page", &self.page().title)
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

impl HowTo {
    /// Starts a page; numbers beyond the last start over at the first.
    pub fn new(page: usize) -> HowTo {
        let page = page % PAGES.len();
        let mut game = Gander::new(Setup::default(), 1);
        game.step(&[Pad::NONE; SEATS], [true, false, false, false]);
        game.wave.phase = Phase::Play;
        game.players[0].seat = Seat::Riding;
        game.players[0].safe = 0;
        game.marks = Default::default();
        (PAGES[page].begin)(&mut game);
        HowTo { page, frame: 0, game, before: game }
    }

    /// Page in progress.
    pub fn page(&self) -> &'static Page {
        &PAGES[self.page]
    }

    /// State of the scene.
    pub fn game(&self) -> &Gander {
        &self.game
    }

    /// Advances by one frame; at its end the page starts again.
    pub fn step(&mut self) {
        if self.frame >= self.page().frames {
            *self = HowTo::new(self.page);
        }
        let pad = (self.page().show)(&self.game, self.frame);
        // The queue stays full, so that the wave neither sends riders nor ends.
        self.game.wave.queue = [1, 0, 0];
        self.game.wave.send_in = u8::MAX;
        self.before = self.game;
        self.game.step(&[pad, Pad::NONE, Pad::NONE, Pad::NONE], [true, false, false, false]);
        self.frame += 1;
    }

    /// Draws the scene with its heading and text.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience =
            Audience { calm, plain: true, own: [true, false, false, false], ..Audience::default() };
        stage.draw(&self.game, &self.before, between, &audience, scene);
        let Page { title, line, .. } = self.page();
        scene.caption(stage.view(), 17, title, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cue::Kind;

    /// Plays a page to its end and tells whether it had an event of this kind. The knight must not
    /// fall.
    fn shows(page: usize, kind: Kind) -> bool {
        let mut howto = HowTo::new(page);
        let mut seen = false;
        for _ in 0..PAGES[page].frames {
            howto.step();
            let game = howto.game();
            let recent = |kind| {
                game.marks.recent(game.frame, 1).any(|mark| mark.kind == kind)
                    || game.murmurs.recent(game.frame, 1).any(|noise| noise.kind == kind)
            };
            seen |= recent(kind);
            assert_eq!(game.players[0].tally.falls, 0, "the knight falls in {}", PAGES[page].title);
        }
        seen
    }

    #[test]
    fn every_page_shows_what_its_text_says() {
        for (page, kind) in [Kind::Flap, Kind::Clang, Kind::EggTaken, Kind::Skid, Kind::Free, Kind::HernDown]
            .into_iter()
            .enumerate()
        {
            assert!(shows(page, kind), "{} does not show {kind:?}", PAGES[page].title);
        }
    }

    #[test]
    fn flapping_goose_climbs() {
        let mut howto = HowTo::new(0);
        let highest = (0..200).map(|_| {
            howto.step();
            howto.game().players[0].mover.y / PX
        });
        assert!(highest.min().is_some_and(|y| y < 120));
    }

    #[test]
    fn page_restarts_after_its_end() {
        let mut howto = HowTo::new(1);
        (0..PAGES[1].frames + 1).for_each(|_| howto.step());
        assert!(howto.game().riders[0].live);
    }
}
