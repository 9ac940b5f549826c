//! Tutorial pages: prepared scenes of the real game with scripted buttons.
//!
//! The arcade shows them. Absent: rules, which are those of the game.

use gaggle_kit::{Angle, Fixed16};
use gaggle_scene::Scene;

use crate::craft::Craft;
use crate::field::{self, SEATS, Vec2};
use crate::pad::Pad;
use crate::rock::{Rock, Size};
use crate::stage::{Audience, Stage};
use crate::standing::{Form, Load};
use crate::weapons::Egg;
use crate::{Drake, Phase, Setup, Sitting};

/// One page of the tutorial.
#[derive(Clone, Copy)]
pub struct Page {
    /// Title of the page.
    pub title: &'static str,
    /// Instruction below the title.
    pub line: &'static str,
    /// Frames until the scene starts again.
    frames: u32,
    begin: fn(&mut Drake),
    /// Buttons of the next frame, by the frame of the scene.
    show: fn(&Drake, u32) -> Pad,
}

/// Pages of the tutorial, in order.
pub const PAGES: [Page; 5] = [
    Page {
        title: "Two buttons",
        line: "One turns, always the same way around. The other flies and spits peas.",
        frames: 260,
        begin: |game| put(game, 0, 120, 120, 0),
        show: |_, frame| Pad { turn: frame % 80 < 16, fire: frame % 80 > 24 },
    },
    Page {
        title: "Dash",
        line: "Tap the turning button twice.",
        frames: 160,
        begin: |game| put(game, 0, 70, 130, 0),
        show: |_, frame| Pad {
            turn: [30, 31, 38, 39, 110, 111, 118, 119].contains(&frame),
            fire: frame > 60 && frame < 100,
        },
    },
    Page {
        title: "Bring them down",
        line: "A hit drake leaves a duckling. Fly over it before it is home.",
        frames: 190,
        begin: |game| {
            put(game, 0, 110, 130, 0);
            put(game, 1, 210, 130, 32_768);
        },
        show: |game, frame| {
            let down = game.seats[1].form != Form::Drake;
            Pad { turn: false, fire: if down { game.seats[1].safe == 0 } else { frame > 8 } }
        },
    },
    Page {
        title: "Get home",
        line: "As a duckling, paddle to your nest. A new drake waits there.",
        frames: 230,
        begin: |game| {
            put(game, 0, 90, 96, 0);
            game.seats[0].form = Form::Duckling;
        },
        show: |game, _| {
            let craft = &game.crafts[0];
            let there = field::direction(field::offset(craft.place, field::nest(0)));
            let aligned = craft.heading.delta_to(there).unsigned_abs() < 2_000;
            Pad { turn: !aligned, fire: aligned }
        },
    },
    Page {
        title: "Eggs",
        line: "Scatter, puffball, hornet, lantern, shell; and one that reverses how all turn.",
        frames: 200,
        begin: |game| {
            put(game, 0, 80, 130, 0);
            put(game, 1, 320, 130, 16_384);
            game.eggs[0] = Some(Egg { place: at(130, 130), load: Load::Lantern, ..Egg::default() });
            game.rocks[0] =
                Some(Rock { place: at(220, 90), size: Size::Middling, look: 3, ..Rock::default() });
        },
        show: |_, frame| Pad { turn: false, fire: frame < 60 || frame == 90 },
    },
];

fn at(x: i32, y: i32) -> Vec2 {
    [Fixed16::from_int(x), Fixed16::from_int(y)]
}

fn put(game: &mut Drake, seat: usize, x: i32, y: i32, heading: u16) {
    game.seats[seat].hatch(0);
    let life = game.seats[seat].life;
    game.crafts[seat] =
        Craft { place: at(x, y), heading: Angle::from_bits(heading), ..Craft::hatched(seat, life) };
}

/// The running scene of one page.
#[derive(Clone)]
pub struct HowTo {
    page: usize,
    frame: u32,
    game: Drake,
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
        let mut game = Drake::new(Setup { fill: 2, wins: 3 }, 1);
        game.bout.clockwise = true;
        game.bout.phase = Phase::Play;
        // A second drake far away keeps the round from ending.
        put(&mut game, 0, 0, 0, 0);
        put(&mut game, 1, 350, 190, 0);
        (PAGES[page].begin)(&mut game);
        HowTo { page, frame: 0, game }
    }

    /// The page being shown.
    pub fn page(&self) -> &'static Page {
        &PAGES[self.page]
    }

    /// State of the scene.
    pub fn game(&self) -> &Drake {
        &self.game
    }

    /// Advances by one frame; after its last frame the scene starts again.
    pub fn step(&mut self) {
        if self.frame >= self.page().frames {
            *self = HowTo::new(self.page);
        }
        let mut pads = [Pad::NONE; SEATS];
        pads[0] = (self.page().show)(&self.game, self.frame);
        self.game.egg_in = u16::MAX;
        self.game.bout.since = 1;
        let mut sitting = [Sitting::Nobody; SEATS];
        sitting[0] = Sitting::Player;
        self.game.step(&pads, &sitting);
        self.frame += 1;
    }

    /// Draws the scene with its title and instruction.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let mut audience = Audience { calm, plain: true, ..Audience::default() };
        audience.own[0] = true;
        stage.draw(&self.game, between, &audience, scene);
        let Page { title, line, .. } = self.page();
        scene.caption(stage.view(), 17, title, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::What;

    #[test]
    fn each_page_shows_its_events() {
        for (page, whats) in [
            vec![What::Fire],
            vec![What::Dash],
            vec![What::Down, What::Caught],
            vec![What::Home],
            vec![What::Egg, What::Beam],
        ]
        .into_iter()
        .enumerate()
        {
            let mut howto = HowTo::new(page);
            let mut seen = Vec::new();
            for _ in 0..PAGES[page].frames {
                howto.step();
                let game = howto.game();
                seen.extend(game.marks.recent(game.frame, 1).map(|mark| mark.what));
            }
            for what in whats {
                assert!(seen.contains(&what), "{} does not show {what:?}", PAGES[page].title);
            }
        }
    }

    #[test]
    fn page_restarts_after_its_last_frame() {
        let mut howto = HowTo::new(1);
        (0..PAGES[1].frames + 1).for_each(|_| howto.step());
        assert_eq!(howto.frame, 1);
    }
}
