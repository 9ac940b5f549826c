//! Layout of the menu in text pixels: one for large screens, one for phones held upright, and one
//! for small screens. `Menu` uses it. Absent: drawing.

use gaggle_scene::View;

use super::Choice;
use crate::pen::{Rect, in_art};

/// A layout of the menu.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    /// The lettering GAGGLE: which of the three sizes, and its left and top.
    pub(crate) title: Option<(usize, i32, i32)>,
    /// The line under it.
    pub(crate) tagline: Option<Rect>,
    /// Where cabinets stand; its lower edge is the turf.
    pub(crate) cabinets: Option<Rect>,
    /// Whether turf extends over the whole width.
    pub(crate) floor: bool,
    /// Other cabinets as a strip of signs.
    pub(crate) strip: Option<Rect>,
    pub(crate) play: Rect,
    pub(crate) mode: Rect,
    pub(crate) play_two: Rect,
    pub(crate) private: Rect,
    pub(crate) name: Rect,
    /// The list of rooms with its heading.
    pub(crate) rooms: Rect,
    /// Height above the first room.
    pub(crate) rooms_head: i32,
    /// Offset from one room to the next.
    pub(crate) room_step: i32,
    /// Number of visible rooms.
    pub(crate) rooms_seen: usize,
    pub(crate) code: Rect,
    pub(crate) replay: Rect,
    pub(crate) help: Rect,
    /// The leaderboard button; zero columns wide where there is no room.
    pub(crate) board: Rect,
    /// The full-screen button, at the right of the leaderboard button.
    pub(crate) fill: Rect,
    pub(crate) sound: Rect,
    /// Whether everything is centered, as on a phone.
    pub(crate) upright: bool,
}

/// Width and height of the lettering in world pixels: large and dense, large, small.
const TITLE: [(i32, i32); 3] = [(160, 50), (180, 50), (92, 28)];

/// Least width of a row of cabinets.
const ROW: i32 = 262;

impl Layout {
    /// The layout for a screen, with or without a button for two players at one keyboard.
    pub(crate) fn of(view: View, two: bool) -> Layout {
        let (wide, tall) = (view.word_width(), view.word_height());
        let mut layout = match (wide, tall) {
            (560.., 320..) => roomy(wide, tall, in_art(view)),
            (170.., 290..) if wide < tall => upright(wide, tall),
            _ => small(wide, tall),
        };
        if !two {
            // The neighboring button gets its place as well.
            let Rect { x, y, tall, .. } = layout.play_two;
            layout.private = Rect::new(x, y, layout.private.right() - x, tall);
            layout.play_two = Rect::default();
        }
        for rect in [
            &mut layout.play,
            &mut layout.mode,
            &mut layout.play_two,
            &mut layout.private,
            &mut layout.name,
            &mut layout.rooms,
            &mut layout.code,
            &mut layout.replay,
            &mut layout.help,
            &mut layout.board,
            &mut layout.fill,
            &mut layout.sound,
        ] {
            *rect = rect.within(view);
        }
        layout
    }

    /// The place of a visible room.
    pub(crate) fn room(&self, nth: usize) -> Rect {
        let y = self.rooms.y + self.rooms_head + nth as i32 * self.room_step;
        let inset = if self.rooms_head > 14 { 4 } else { 0 };
        Rect::new(self.rooms.x + inset, y, self.rooms.wide - 2 * inset, self.room_step - 3)
    }

    /// The part of a room's row that spectates.
    pub(crate) fn eye(&self, nth: usize) -> Rect {
        let row = self.room(nth);
        let wide = 24.min(row.wide / 3);
        Rect::new(row.right() - wide, row.y, wide, row.tall)
    }

    /// Button that shows further rooms.
    pub(crate) fn pager(&self) -> Rect {
        let wide = self.rooms.wide / 2;
        Rect::new(self.rooms.right() - wide, self.rooms.y, wide, self.rooms_head)
    }

    /// Places of all entries except rooms.
    pub(crate) fn places(&self) -> [(Choice, Rect); 12] {
        let wide = 21.min(self.name.wide / 3);
        let name = Rect::new(self.name.x + wide, self.name.y, self.name.wide - wide, self.name.tall);
        [
            (Choice::Palette, Rect { wide, ..self.name }),
            (Choice::Play, self.play),
            (Choice::Mode, self.mode),
            (Choice::PlayTwo, self.play_two),
            (Choice::Private, self.private),
            (Choice::Name, name),
            (Choice::Code, self.code),
            (Choice::Replay, self.replay),
            (Choice::Help, self.help),
            (Choice::Board, self.board),
            (Choice::Fill, self.fill),
            (Choice::Sound, self.sound),
        ]
    }

    /// Gives the place of the missing full-screen button to the leaderboard button.
    pub(crate) fn drop_fill(&mut self) {
        self.board.wide = (self.fill.right() - self.board.x).max(0);
        self.fill = Rect::default();
    }

    /// Puts as many rooms into the list as it can hold.
    fn fill_rooms(&mut self, head: i32, step: i32, foot: i32) {
        self.rooms_head = head;
        self.room_step = step;
        self.rooms_seen = ((self.rooms.tall - head - foot) / step.max(1)).max(0) as usize;
    }
}

fn roomy(wide: i32, tall: i32, in_art: bool) -> Layout {
    let column = (wide * 23 / 100).clamp(150, 190);
    let x = wide - 12 - column;
    let bar = tall - 46;
    let code = Rect::new(x, bar - 70, column, 64);
    let [help, replay, board, fill, sound] = Rect::new(x, bar, column, 32).columns([32, 48, 22, 22, 22], 3);
    let [play, mode, play_two, private] = Rect::new(28, bar, x - 8 - 28, 32).columns([122, 104, 76, 116], 8);
    let mut layout = Layout {
        title: Some(if in_art { (0, 18, 5) } else { (1, 20, 10) }),
        tagline: Some(Rect::new(30, 74, x - 46, 9)),
        cabinets: Some(Rect::new(28, 90, x - 6 - 28, tall - 62 - 90)),
        floor: true,
        play,
        mode,
        play_two,
        private,
        name: Rect::new(x, 14, column, 30),
        rooms: Rect::new(x, 50, column, code.y - 6 - 50),
        code,
        replay,
        help,
        board,
        fill,
        sound,
        ..Layout::default()
    };
    layout.fill_rooms(24, 34, 16);
    layout
}

fn upright(wide: i32, tall: i32) -> Layout {
    let (left, room) = (8, wide - 16);
    let which = if wide < TITLE[1].0 + 8 || tall < 400 { 2 } else { 1 };
    let (title_wide, title_tall) = TITLE[which];
    let title = Rect::new((wide - title_wide) / 2, 27, title_wide, title_tall);
    let row = |y, tall| Rect::new(left, y, room, tall);
    let strip_tall = if tall >= 410 { 38 } else { 18 };
    let rooms = match tall {
        480.. => 3,
        380.. => 2,
        _ => 1,
    };
    let rooms_tall = 13 + 30 * rooms;
    // From the bottom upwards, so that thumbs reach it; the remaining height is for the cabinet.
    let strip = row(tall - 8 - strip_tall, strip_tall);
    let rooms = row(strip.y - 3 - rooms_tall, rooms_tall);
    let code = row(rooms.y - 33, 30);
    let [play_two, private, replay] = row(code.y - 24, 20).columns([1, 1, 1], 4);
    let mode = row(play_two.y - 24, 20);
    let play = row(mode.y - 32, 28);
    let [name, help, board, fill, sound] = row(6, 18).columns([room - 88, 22, 22, 22, 22], 3);
    // The lettering has no descenders, so its last rows are free.
    let tagline = title.bottom() - if which == 1 { 9 } else { 4 };
    let below = tagline + 15;
    let stage = Rect::new(left, below, room, play.y - 8 - below);
    let mut layout = Layout {
        title: Some((which, title.x, title.y)),
        tagline: Some(Rect::new(left, tagline, room, 9)),
        cabinets: (stage.tall >= 64).then_some(stage),
        floor: true,
        strip: Some(strip),
        play,
        mode,
        play_two,
        private,
        name,
        rooms,
        code,
        replay,
        help,
        board,
        fill,
        sound,
        upright: true,
        ..Layout::default()
    };
    layout.fill_rooms(13, 30, 0);
    layout
}

fn small(wide: i32, tall: i32) -> Layout {
    let gap = if tall >= 150 { 4 } else { 2 };
    let margin = if tall >= 150 { 8 } else { 2 };
    let all = Rect::new(margin, margin, wide - 2 * margin, tall - 2 * margin);
    let [mut left, right] = all.columns([1, 1], margin.max(4));
    let mut layout = Layout::default();
    if tall >= 150 && left.wide >= TITLE[2].0 {
        layout.title = Some((2, left.x, left.y));
        left = Rect::new(left.x, left.y + 32, left.wide, left.tall - 32);
    }
    // Four rows of buttons at the bottom; a cabinet above them if there is room for one.
    let step = ((left.tall + gap) / 4).clamp(gap + 1, 34);
    let top = left.bottom() + gap - 4 * step;
    let row = |nth: i32| Rect::new(left.x, top + nth * step, left.wide, step - gap);
    if top - left.y > 90 {
        layout.cabinets = Some(Rect::new(left.x, left.y, left.wide, top - left.y - 8));
    }
    if let Some((_, x, y)) = layout.title.filter(|_| layout.cabinets.is_none() || left.wide < ROW) {
        // No room for a row of cabinets: the other games are signs beside the lettering.
        let beside = x + TITLE[2].0 + 4;
        layout.strip = Some(Rect::new(beside, y + 1, left.right() - beside, 24));
    }
    (layout.play, layout.mode) = (row(0), row(1));
    [layout.play_two, layout.private] = row(2).columns([1, 1], gap);
    if left.wide >= 120 {
        [layout.help, layout.replay, layout.board, layout.fill, layout.sound] =
            row(3).columns([5, 5, 3, 3, 3], gap);
    } else {
        [layout.help, layout.replay, layout.sound] = row(3).columns([1, 1, 1], gap);
    }
    let field = ((right.tall - 2 * gap) / 3).clamp(1, 26);
    layout.name = Rect::new(right.x, right.y, right.wide, field.min(22));
    layout.code = Rect::new(right.x, right.bottom() - field, right.wide, field);
    let below = layout.name.bottom() + gap;
    layout.rooms = Rect::new(right.x, below, right.wide, layout.code.y - gap - below);
    match layout.rooms.tall {
        80.. => layout.fill_rooms(18, 32, 0),
        44.. => layout.fill_rooms(13, 29, 0),
        _ => layout.fill_rooms(9, (layout.rooms.tall - 9).clamp(1, 29), 0),
    }
    layout
}
