//! Help pages: short scenes of the real game from a prepared state, with a gosling that plays them.
//!
//! Shown by pages of the game. Absent: rules.

use gaggle_kit::{Frame, SlotSet};
use gaggle_scene::Scene;
use gaggle_timeline::{Game, Inputs};

use crate::cue::{Kind, Marks};
use crate::reed::Reed;
use crate::stage::{Audience, Stage};
use crate::water::{NOWHERE, Swimmer, Way, ways};
use crate::{Chick, Gosling, PIKES, Pike, SEATS, Setup, Swim, Wish};

/// One help page.
#[derive(Clone, Copy)]
pub struct Page {
    /// Heading, one word.
    pub title: &'static str,
    /// Explanation in one or two sentences.
    pub line: &'static str,
    /// Frames until it starts again.
    frames: u32,
    begin: fn(&mut Gosling, &Reed),
    /// Whether the scene has shown what the page says.
    #[cfg_attr(not(test), allow(dead_code))] // Pages are only checked in tests.
    proof: fn(&Gosling) -> bool,
}

/// All help pages.
pub const PAGES: [Page; 5] = [
    Page {
        title: "Swim",
        line: "You swim by yourself. Choose the way at the next pad.",
        frames: 300,
        begin: |game, reed| place(game, 0, swimmer(reed, 5), 0),
        proof: |game| game.chicks[0].turned > 0,
    },
    Page {
        title: "Crumbs",
        line: "Carry up to twelve. Heavy goslings are slow.",
        frames: 300,
        begin: |game, reed| {
            game.crumbs = crate::crumb::Crumbs::everywhere(reed);
            place(game, 0, swimmer(reed, 5), 4);
        },
        proof: |game| game.chicks[0].load == 12,
    },
    Page {
        title: "Home",
        line: "Only what is in the nest counts.",
        frames: 200,
        begin: |game, reed| {
            let nest = reed.nests()[0];
            place(game, 0, Swimmer::at(reed.next(reed.next(nest, 0), 0), 2), 12);
        },
        proof: |game| game.marks.recent(game.frame, 1).any(|mark| mark.kind == Kind::Bank),
    },
    Page {
        title: "Pikes",
        line: "They dash when they see you. Bend away.",
        frames: 240,
        begin: |game, reed| {
            let at = long_water(reed);
            let ahead = reed.next(at.cell, at.heading);
            place(game, 0, Swimmer { way: 4_000, ..Swimmer::at(ahead, at.heading) }, 3);
            game.pikes[0] = Pike { is_out: true, at, ..Pike::default() };
        },
        proof: |game| game.marks.recent(game.frame, 1).any(|mark| mark.kind == Kind::Dash),
    },
    Page {
        title: "Feather",
        line: "Eight seconds of being the goose.",
        frames: 240,
        begin: |game, reed| {
            let at = long_water(reed);
            let ahead = reed.next(at.cell, at.heading);
            game.feathers.list[0].cell = ahead;
            place(game, 0, at, 2);
            let there = reed.next(ahead, at.heading);
            let pike = Swimmer { way: 6_000, ..Swimmer::at(there, at.heading) };
            game.pikes[0] = Pike { is_out: true, at: pike, ..Pike::default() };
        },
        proof: |game| game.marks.recent(game.frame, 1).any(|mark| mark.kind == Kind::SentHome),
    },
];

/// A junction of the left half and a way from it.
fn swimmer(reed: &Reed, nth: usize) -> Swimmer {
    let left = reed.junctions().iter().filter(|cell| reed.spot(**cell).0 < reed.size().0 / 2 - 2);
    let cell = left.copied().nth(nth * 5).unwrap_or(0);
    Swimmer::at(cell, ways(reed.exits(cell)).next().unwrap_or(0))
}

/// A cell, and a way from it in which four cells are straight ahead.
fn long_water(reed: &Reed) -> Swimmer {
    let is_long = |cell: u16, way: Way| {
        let quiet = |cell: u16| reed.nest_at(cell).is_none() && !reed.den().contains(&cell);
        let mut at = cell;
        (0..4).all(|_| {
            let next = reed.next(at, way);
            let is_open = next != at && quiet(next);
            at = next;
            is_open
        })
    };
    let cells = reed.size().0 * reed.size().1;
    let found =
        (0..cells as u16).flat_map(|cell| [(cell, 0), (cell, 1)]).find(|(cell, way)| is_long(*cell, *way));
    found.map_or(Swimmer::default(), |(cell, way)| Swimmer::at(cell, way))
}

fn place(game: &mut Gosling, slot: usize, at: Swimmer, load: u8) {
    let chick = game.chicks[slot];
    game.chicks[slot] = Chick { swim: Swim::Swimming, at, load, safe: 0, ..chick };
}

/// The running scene of a page.
#[derive(Debug, Clone)]
pub struct HowTo {
    page: usize,
    at: u32,
    game: Gosling,
    before: Gosling,
    wish: Wish,
}

impl HowTo {
    /// Begins the scene of a page. After the last number comes the first page again.
    pub fn new(page: usize) -> HowTo {
        let page = page % PAGES.len();
        let mut game = Gosling::new(Setup { fill: 0, ..Setup::default() }, 7);
        game.tick(&Inputs::confirmed(Frame::new(1), &[], SlotSet::first(1)));
        game.pikes = std::array::from_fn::<_, PIKES, _>(|_| Pike { timer: u16::MAX, ..Pike::default() });
        game.crumbs = crate::crumb::Crumbs::default();
        for feather in &mut game.feathers.list {
            (feather.cell, feather.timer) = (NOWHERE, u16::MAX);
        }
        game.marks = Marks::default();
        let reed = game.reed();
        (PAGES[page].begin)(&mut game, &reed);
        HowTo { page, at: 0, before: game.clone(), game, wish: Wish::default() }
    }

    /// State of the scene.
    pub fn game(&self) -> &Gosling {
        &self.game
    }

    /// Plays one frame.
    pub fn step(&mut self) {
        if self.at >= PAGES[self.page].frames {
            *self = HowTo::new(self.page);
        }
        self.before.clone_from(&self.game);
        let reed = self.game.reed();
        let at = self.game.chicks[0].at;
        // The gosling turns at each junction, except on its way home.
        let ahead = reed.next(at.cell, at.heading);
        let side = ways(reed.exits(ahead)).find(|way| way & 1 != at.heading & 1);
        if let Some(way) = side.filter(|_| self.page != 2 && self.page != 4 && self.at > 20) {
            self.wish = Wish::to(way);
        }
        let wishes = [self.wish; SEATS];
        let frame = Frame::new(self.game.frame.wrapping_add(1));
        self.game.tick(&Inputs::confirmed(frame, &wishes, SlotSet::first(1)));
        self.at += 1;
    }

    /// Draws the scene.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience = Audience { own: 1, wish: self.wish, calm, bare: true, ..Audience::default() };
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
            let seen = (0..page.frames).any(|_| {
                howto.step();
                (page.proof)(howto.game())
            });
            assert!(seen, "{} does not show it", page.title);
        }
    }

    #[test]
    fn page_begins_again_after_its_end() {
        let mut howto = HowTo::new(1);
        (0..=PAGES[1].frames).for_each(|_| howto.step());
        assert_eq!(howto.at, 1);
    }
}
