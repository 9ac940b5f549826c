//! Tutorial pages: prepared scenes of the real game with scripted buttons.
//!
//! The arcade shows them. Absent: rules, which are those of the game.

use gaggle_kit::Angle;
use gaggle_scene::Scene;

use crate::boat::Boat;
use crate::keeper::Keeper;
use crate::ledger::PADDLES;
use crate::pad::Pad;
use crate::pond::{Alone, Pond};
use crate::stage::{Audience, Stage};
use crate::thing::{Sort, Thing};
use crate::water;

/// One page of the tutorial.
#[derive(Clone, Copy)]
pub struct Page {
    /// Title of the page.
    pub title: &'static str,
    /// Instruction below the title.
    pub line: &'static str,
    frames: u32,
    begin: fn(&mut Pond, &mut Alone),
    /// Buttons of the two boats, by the frame of the scene.
    show: fn(&Pond, u32) -> [Pad; 2],
}

const UP: Pad = Pad { up: true, ..Pad::NONE };
const HAND: Pad = Pad { hand: true, ..Pad::NONE };

/// Pages of the tutorial, in order.
pub const PAGES: [Page; 4] = [
    Page {
        title: "Row and push",
        line: "What you touch is yours until it lies still.",
        frames: 240,
        begin: |pond, hands| {
            boat(pond, 0, 400, 360, 0);
            for (x, y) in [(460, 360), (500, 352), (520, 372)] {
                pond.put(Thing::new(Sort::Log, water::at(x, y)), hands);
            }
        },
        show: |_, frame| [if frame < 150 { UP } else { Pad::NONE }, Pad::NONE],
    },
    Page {
        title: "Tow",
        line: "Take what is behind you in tow. Then it stays yours.",
        frames: 300,
        begin: |pond, hands| {
            boat(pond, 0, 400, 360, 0);
            pond.put(Thing::new(Sort::Barrel, water::at(376, 360)), hands);
        },
        show: |_, frame| {
            [
                if frame == 20 {
                    HAND
                } else if frame > 40 {
                    UP
                } else {
                    Pad::NONE
                },
                Pad::NONE,
            ]
        },
    },
    Page {
        title: "Stack",
        line: "Let go of a crate beside another and it stands on top.",
        frames: 260,
        begin: |pond, hands| {
            boat(pond, 0, 400, 360, 0);
            pond.put(Thing::new(Sort::Crate, water::at(376, 360)), hands);
            pond.put(Thing { count: 2, ..Thing::new(Sort::Crate, water::at(460, 376)) }, hands);
        },
        show: |pond, frame| {
            let stack = pond.floating.iter().any(|floating| floating.thing.count > 2);
            let towed = pond.boats[0].and_then(|boat| boat.tow).and_then(|id| pond.find(id));
            let there =
                towed.is_some_and(|towed| water::is_within(towed.thing.place, water::at(460, 376), 18));
            [
                match frame {
                    20 => HAND,
                    _ if stack || frame < 30 => Pad::NONE,
                    _ if there => HAND,
                    _ => UP,
                },
                Pad::NONE,
            ]
        },
    },
    Page {
        title: "Together",
        line: "The bell and the sluice take two. The jetties pay in kind.",
        frames: 240,
        begin: |pond, _| {
            boat(pond, 0, PADDLES[0].0 + 30, PADDLES[0].1, 32_768);
            boat(pond, 1, PADDLES[1].0 + 30, PADDLES[1].1, 32_768);
        },
        // A few strokes; then the boats glide.
        show: |_, frame| [if frame < 14 { UP } else { Pad::NONE }; 2],
    },
];

fn boat(pond: &mut Pond, seat: usize, x: i32, y: i32, heading: u16) {
    let heading = Angle::from_bits(heading);
    pond.boats[seat] = Some(Boat { place: water::at(x, y), heading, ..Boat::moored(seat) });
}

/// The running scene of one page.
#[derive(Clone)]
pub struct HowTo {
    page: usize,
    frame: u32,
    pond: Pond,
    hands: Alone,
    keeper: Keeper,
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
    /// Starts a page; numbers beyond the last wrap.
    pub fn new(page: usize) -> HowTo {
        let page = page % PAGES.len();
        let (mut pond, mut hands) = (Pond::new(1), Alone::default());
        // After the first gust, which would move the things.
        pond.frame = 400;
        for thing in Pond::litter(&mut pond.random).into_iter().filter(|thing| thing.sort == Sort::Lily) {
            pond.put(thing, &mut hands);
        }
        (PAGES[page].begin)(&mut pond, &mut hands);
        HowTo { page, frame: 0, pond, hands, keeper: Keeper::default() }
    }

    /// The page being shown.
    pub fn page(&self) -> &'static Page {
        &PAGES[self.page]
    }

    /// State of the scene.
    pub fn pond(&self) -> &Pond {
        &self.pond
    }

    /// Advances by one frame; after its last frame the scene starts again.
    pub fn step(&mut self) {
        if self.frame >= self.page().frames {
            *self = HowTo::new(self.page);
        }
        let pads = (self.page().show)(&self.pond, self.frame);
        self.pond.frame += 1;
        for (seat, pad) in pads.into_iter().enumerate() {
            self.pond.row(seat, pad, &mut self.hands);
        }
        self.pond.float(&mut self.hands);
        self.keeper.step(&mut self.pond, &mut self.hands, |_| true);
        self.frame += 1;
    }

    /// Draws the scene with its title and instruction.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let mut audience = Audience { calm, plain: true, ..Audience::default() };
        audience.own[0] = true;
        stage.draw(&self.pond, between, &audience, scene);
        let Page { title, line, .. } = self.page();
        scene.caption(stage.view(), 19, title, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::What;

    #[test]
    fn each_page_shows_its_events() {
        for (page, what) in [What::Bump, What::Tow, What::Stack, What::Sluice].into_iter().enumerate() {
            let mut howto = HowTo::new(page);
            let seen = (0..PAGES[page].frames).any(|_| {
                howto.step();
                let pond = howto.pond();
                pond.marks.recent(pond.frame, 1).any(|mark| mark.what == what)
            });
            assert!(seen, "{} does not show {what:?}", PAGES[page].title);
        }
    }
}
