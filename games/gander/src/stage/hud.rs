//! Text of the picture: plaques with scores, the wave's sign, captions and names.
//!
//! Called by `stage.rs`. Absent: texts of pages around the game.

use gaggle_scene::{Color, Item, View, fitted, font, palette};
use palette::{DIM, FAINT, FIRE, INK, NIGHT, PEAT, SEAT, TEXT};

use super::effects::number;
use super::{Audience, Painter};
use crate::arena::{HEARTHSTONE, LEDGE, PX, WIDTH};
use crate::flow::{OVER_FRAMES, Phase};
use crate::player::{Player, SEATS, Seat};
use crate::score::ENDLESS;
use crate::waves::WaveKind;
use crate::{Gander, Mode};

impl Painter<'_> {
    /// Draws the plaques of all players: in one row above the ceiling, or two by two above the
    /// world on an upright phone. The name of a player is above its plaque where there is room,
    /// else on it.
    pub(super) fn plaques(&mut self, game: &Gander, audience: &Audience<'_>) {
        if let Some(top) = room_above(self.view) {
            let half = (self.view.word_width() - 3 * GAP) / 2;
            for (nth, seat) in (0..).zip(0..SEATS) {
                let (x, y) = (GAP + nth % 2 * (half + GAP), top + nth / 2 * (ABOVE + 3));
                self.word_plaque(game, audience, seat, (x, y, half, ABOVE));
            }
            return;
        }
        let is_named_above = self.view.top >= NAME_ROWS;
        for (seat, player) in game.players.iter().enumerate() {
            let (x, y) = (3 + seat as i32 * 95, 1);
            if !is_named_above && let Some(tall) = word_rows(self.view) {
                let words = |art: i32| art * self.view.scale / self.view.word_scale;
                let (left, top) = (words(x + self.view.left), words(y + self.view.top));
                self.word_plaque(game, audience, seat, (left, top, words(PLAQUE), tall));
                continue;
            }
            let color = SEAT[seat];
            if !player.present() {
                self.scene.panel((x, y, PLAQUE, 13), INK, 0.35, None);
                self.scene.image(self.creatures.emblem_free[seat], (x + 2) as f32, (y + 1) as f32);
                self.scene.text("free seat", (x + 16) as f32, (y + 3) as f32, FAINT);
                continue;
            }
            let own = audience.own[seat];
            self.scene.panel(
                (x, y, PLAQUE, 13),
                INK,
                0.72,
                Some(if own { color } else { color.mix(NIGHT[1], 0.62) }),
            );
            self.scene.image(self.creatures.emblems[seat], (x + 2) as f32, (y + 1) as f32);
            let mut score = String::new();
            font::thousands(player.score, &mut score);
            if is_named_above {
                self.scene.text(&score, (x + 16) as f32, (y + 3) as f32, TEXT);
                self.name_above(audience, seat, x, y);
            } else {
                // Everything in one row: the number of geese has no image.
                let out = if player.seat == Seat::Out { 10 } else { 0 };
                let name = fitted(audience.names[seat], 59 - out - font::width(&score, false, 0), false);
                self.scene.text(&name, (x + 16) as f32, (y + 3) as f32, color);
                self.scene.text(&score, (x + 79 - out) as f32, (y + 3) as f32, TEXT).right();
            }
            if player.seat == Seat::Out {
                self.scene.text("out", (x + 89) as f32, (y + 3) as f32, FAINT).right();
            } else {
                self.scene.text(&mounts(player), (x + 89) as f32, (y + 3) as f32, TEXT).right();
            }
            if is_named_above && player.seat != Seat::Out {
                self.scene.image(self.creatures.lives[seat], (x + 68) as f32, (y + 1) as f32);
            }
            if is_named_above && is_crowned(game, seat) {
                crown(&mut self.scene.art, x + 62, y + 4);
            }
        }
    }

    /// Draws a plaque of two lines in text pixels, where art pixels are too small to read or too
    /// large for two lines. `place` is left, top, width, height.
    fn word_plaque(
        &mut self,
        game: &Gander,
        audience: &Audience<'_>,
        seat: usize,
        place: (i32, i32, i32, i32),
    ) {
        let (x, y, wide, tall) = place;
        let (player, color) = (&game.players[seat], SEAT[seat]);
        let (left, right) = (x + 19, x + wide - 5);
        let step = if tall < ABOVE { 9 } else { 11 };
        let first = y + (tall - 6 - step) / 2;
        let second = first + step;
        let image = |image, x: i32, y: i32| {
            let (x, y) = (x as f32, y as f32);
            Item::Image { image, x, y, mirrored: false, shown: 16, flash: None }
        };
        let emblem_top = y + (tall - 11) / 2;
        if !player.present() {
            self.scene.word_panel(place, INK, 0.35, None);
            self.scene.words.push(image(self.creatures.emblem_free[seat], x + 5, emblem_top));
            self.scene.word("free seat", left as f32, (y + (tall - 7) / 2) as f32, FAINT);
            return;
        }
        let edge = if audience.own[seat] { color } else { color.mix(NIGHT[1], 0.62) };
        self.scene.word_panel(place, INK, 0.72, Some(edge));
        self.scene.words.push(image(self.creatures.emblems[seat], x + 5, emblem_top));
        let bars = audience.bars[seat].map_or(0, |_| 11);
        let name = fitted(audience.names[seat], right - left - bars, false);
        self.scene.word(&name, left as f32, first as f32, color);
        if let Some(strength) = audience.bars[seat] {
            signal(&mut self.scene.words, right - 8, first + 7, strength);
        }
        let mut score = String::new();
        font::thousands(player.score, &mut score);
        self.scene.word(&score, left as f32, second as f32, TEXT);
        if player.seat == Seat::Out {
            self.scene.word("out", right as f32, second as f32, FAINT).right();
        } else {
            let mounts = mounts(player);
            self.scene.words.push(image(self.creatures.lives[seat], right - 19, second - 2));
            self.scene.word(&mounts, right as f32, second as f32, TEXT).right();
        }
        if is_crowned(game, seat) {
            crown(&mut self.scene.words, right - 26, second + 1);
        }
    }

    /// Draws a name above its plaque and no wider, with `you` or the bars of the link beside it.
    fn name_above(&mut self, audience: &Audience<'_>, seat: usize, x: i32, y: i32) {
        let own = audience.own[seat];
        let beside = match (own, audience.bars[seat]) {
            (true, _) => font::width("you", false, 0) + 5,
            (false, Some(_)) => 13,
            (false, None) => 0,
        };
        let name = fitted(audience.names[seat], PLAQUE - 5 - beside, false);
        if name.is_empty() {
            return;
        }
        let (left, top) = ((x + 3) as f32, (y - 9) as f32);
        self.scene.text(&name, left, top, if own { SEAT[seat] } else { DIM });
        let beside = x + 8 + font::width(&name, false, 0);
        if own {
            self.scene.text("you", beside as f32, top, FAINT);
        } else if let Some(strength) = audience.bars[seat] {
            signal(&mut self.scene.art, beside, y - 2, strength);
        }
    }

    /// Draws the name of the wave, carved in the Hearthstone.
    pub(super) fn sign(&mut self, game: &Gander) {
        if game.wave.phase == Phase::Empty {
            return;
        }
        let rock = &LEDGE[HEARTHSTONE];
        let mut text = format!("WAVE {}", game.wave.number);
        let kind = kind_name(game);
        if !kind.is_empty() {
            text.push_str(" · ");
            text.push_str(kind);
        }
        let width = font::width(&text, false, 1);
        let middle = rock.x + rock.width / 2;
        self.scene.panel((middle - width / 2 - 7, rock.top + 3, width + 13, 11), PEAT[0], 1.0, Some(PEAT[3]));
        // A new sign glows for a moment.
        let fresh = game.wave.phase == Phase::Intro && game.wave.left % 30 > 15;
        let color = if fresh { FIRE[6] } else { FIRE[5] };
        self.scene
            .text(&text, middle as f32, (rock.top + 5) as f32, color)
            .centered()
            .tracked(1)
            .shadowed(FIRE[if fresh { 3 } else { 2 }]);
    }

    /// Draws the caption of a new wave's bonus, or of the end of a match.
    pub(super) fn captions(&mut self, game: &Gander) {
        let middle = (WIDTH / 2) as f32;
        match game.wave.phase {
            Phase::Intro => {
                if let Some(line) = promise(game) {
                    self.scene.text(line, middle, 86.0, palette::BONE).centered().outlined(INK);
                }
            }
            Phase::Over => {
                self.scene.image(self.well_flown, middle - self.well_flown_width / 2.0, 52.0);
                if game.wave.left > OVER_FRAMES {
                    self.scene
                        .text("Flap to fly again", middle, 86.0, palette::BONE)
                        .centered()
                        .outlined(INK);
                }
            }
            _ => {}
        }
    }

    /// Draws the name of every knight that is safe on its pad.
    pub(super) fn pad_names(&mut self, game: &Gander, audience: &Audience<'_>) {
        for (seat, player) in game.players.iter().enumerate() {
            let name = audience.names[seat];
            if player.riding() && player.safe > 0 && !name.is_empty() {
                let (x, y) = ((player.mover.x / PX) as f32, (player.mover.y / PX) as f32);
                let name = fitted(name, PLAQUE, false);
                self.scene.text(&name, x, y - 42.0, SEAT[seat].mix(TEXT, 0.3)).centered().outlined(INK);
            }
        }
    }
}

/// Width of a plaque, in art pixels.
const PLAQUE: i32 = 93;
/// Rows above the world that names above plaques need, in art pixels.
const NAME_ROWS: i32 = 9;
/// Height of a plaque above the world and gap between two, in text pixels.
const ABOVE: i32 = 27;
const GAP: i32 = 5;

/// First row of plaques above the world in text pixels, on an upright screen with room for them.
fn room_above(view: View) -> Option<i32> {
    let world = view.top * view.scale / view.word_scale;
    let top = world - 2 * (ABOVE + 3) - 3;
    (view.word_width() < view.word_height() && view.word_width() >= 150 && top >= 4).then_some(top)
}

fn mounts(player: &Player) -> String {
    if player.mounts == ENDLESS { "…".to_string() } else { number(player.mounts) }
}

fn kind_name(game: &Gander) -> &'static str {
    let alone = game.wave.players <= 1;
    match game.wave.kind {
        WaveKind::Plain => "",
        WaveKind::Together if alone => "ALONE",
        WaveKind::Together => "TEAM",
        WaveKind::Gladiator if alone => "",
        WaveKind::Gladiator => "BOUNTY",
        WaveKind::Egg => "EGGS",
        WaveKind::Hern => "HERN",
    }
}

fn promise(game: &Gander) -> Option<&'static str> {
    let alone = game.wave.players <= 1;
    match (game.wave.kind, game.setup.mode) {
        (WaveKind::Plain, Mode::Versus) if game.wave.number == 1 && !alone => {
            Some("Versus. Every lance for itself.")
        }
        (WaveKind::Plain, Mode::Team) if game.wave.number == 1 && !alone => Some("Team. Higher lance wins."),
        (WaveKind::Plain, _) if game.wave.number == 1 => Some("Higher lance wins."),
        (WaveKind::Together, _) if alone => Some("3000 if you stay in the saddle"),
        (WaveKind::Together, Mode::Team) => Some("3000 each if all stay in the saddle"),
        (WaveKind::Together, Mode::Versus) => Some("3000 each if you spare each other"),
        (WaveKind::Gladiator, Mode::Team) if !alone => Some("3000 for the sharpest lance"),
        (WaveKind::Gladiator, Mode::Versus) if !alone => Some("3000 for the first to unseat a rival"),
        (WaveKind::Egg, _) => Some("Eggs, eggs. Be quick."),
        (WaveKind::Hern, _) => Some("Something hungry is about."),
        _ => None,
    }
}

/// Height of a plaque above the ceiling in text pixels, if two lines fit.
fn word_rows(view: View) -> Option<i32> {
    let rows = 13 * view.scale / view.word_scale;
    (rows >= 17).then_some(rows.max(20))
}

/// Whether a player has the best score of a versus match.
fn is_crowned(game: &Gander, seat: usize) -> bool {
    let best = game.players.iter().map(|player| player.score).max().unwrap_or(0);
    game.setup.mode == Mode::Versus && best > 0 && game.players[seat].score == best
}

fn fill(items: &mut Vec<Item>, (x, y, width, height): (i32, i32, i32, i32), color: Color) {
    let (x, y, width, height) = (x as f32, y as f32, width as f32, height as f32);
    items.push(Item::Fill { x, y, width, height, color, share: 256 });
}

/// Draws three bars on row `bottom` for the quality of a link, 0 to 3.
fn signal(items: &mut Vec<Item>, x: i32, bottom: i32, strength: u8) {
    for bar in 0..3 {
        let color = match (bar < i32::from(strength), strength) {
            (false, _) => PEAT[3],
            (true, 3..) => palette::MIST[2],
            (true, _) => palette::WARN,
        };
        let height = 3 + bar * 2;
        fill(items, (x + bar * 3, bottom - height, 2, height), color);
    }
}

fn crown(items: &mut Vec<Item>, x: i32, y: i32) {
    for right in [0, 2, 4] {
        fill(items, (x + right, y, 1, 3), FIRE[5]);
    }
    fill(items, (x, y + 2, 5, 2), FIRE[5]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use gaggle_scene::{Align, Scene};

    #[test]
    fn plaques_are_above_world_only_where_there_is_room() {
        for (width, height, words, above) in [
            (1280, 720, 2, false),
            (780, 1688, 4, true),
            (1688, 780, 4, false),
            (768, 1024, 2, true),
            (390, 450, 2, false),
        ] {
            let scale = View::fit(width, height, WIDTH, crate::arena::HEIGHT).scale;
            let view = View::at_scale(width, height, WIDTH, crate::arena::HEIGHT, scale, words);
            let top = room_above(view);
            assert_eq!(top.is_some(), above, "{width}×{height}");
            if let Some(top) = top {
                let bottom = top + 2 * ABOVE + 3;
                assert!(top >= 0 && bottom <= view.top * view.scale / view.word_scale, "{width}×{height}");
            }
        }
    }

    /// Left, right, row and text of everything written, in screen pixels.
    fn written(scene: &Scene, view: View) -> Vec<(i32, i32, i32, String)> {
        let texts = |items: &[Item], scale: i32, offset: (i32, i32)| {
            let mut found = Vec::new();
            for item in items {
                let Item::Text { words, x, y, align, .. } = *item else { continue };
                let text = scene.text_of(words).to_string();
                let wide = font::width(&text, false, 0) as f32;
                let left = match align {
                    Align::Left => x,
                    Align::Center => x - wide / 2.0,
                    Align::Right => x - wide,
                };
                let across = |x: f32| ((x + offset.0 as f32) * scale as f32) as i32;
                found.push((across(left), across(left + wide), (y as i32 + offset.1) * scale, text));
            }
            found
        };
        let mut all = texts(&scene.art, view.scale, (view.left, view.top));
        all.extend(texts(&scene.words, view.word_scale, (0, 0)));
        all
    }

    #[test]
    fn names_fit_their_plaques_on_every_screen() {
        let mut game = Gander::new(Setup { mode: Mode::Versus, ..Setup::default() }, 1);
        (0..4).for_each(|_| game.step(&[crate::Pad::NONE; SEATS], [true; SEATS]));
        game.players.iter_mut().for_each(|player| player.safe = 0);
        let long = "Bartholomew of the Long Eyot";
        for score in [0, 57_250] {
            game.players.iter_mut().for_each(|player| player.score = score);
            for (width, height, top, scale, words) in [
                (1_920, 1_080, 0, 5, 3),
                (3_840, 2_160, 0, 10, 7),
                (1_536, 864, 0, 4, 3),
                (1_280, 720, 12, 3, 2),
                (800, 450, 9, 2, 2),
                (768, 432, 0, 2, 2),
                (1_688, 780, 22, 3, 4),
                (2_532, 1_170, 9, 5, 5),
                (780, 1_688, 314, 2, 4),
                (1_170, 2_532, 314, 3, 5),
            ] {
                let view = View { top, ..View::at_scale(width, height, WIDTH, 216, scale, words) };
                for name in ["Wren", long] {
                    let (names, own) = ([name; SEATS], [true, false, false, false]);
                    let bars = [None, Some(3), Some(1), None];
                    let audience = Audience { names, own, bars, plain: true, ..Audience::default() };
                    let mut scene = Scene::default();
                    super::super::Stage::new(view).draw(&game, &game, 1.0, &audience, &mut scene);
                    let said = written(&scene, view);
                    let is_name = |text: &str| text == name || text.ends_with('…') && text.starts_with("Bar");
                    let seen: Vec<_> = said.iter().filter(|(.., text)| is_name(text)).collect();
                    assert_eq!(seen.len(), SEATS, "{name} on {width}×{height}: {said:?}");
                    for (left, right, y, text) in &seen {
                        assert!(*left >= 0 && *right <= width, "{text} on {width}×{height}");
                        let others = said.iter().filter(|other| (&other.0, &other.3) != (left, text));
                        for (from, to, down, other) in
                            others.filter(|other| (other.2 - y).abs() < 7 * scale.min(words))
                        {
                            let apart = *right <= *from || *to <= *left;
                            assert!(apart, "{text} over {other} on {width}×{height}, {y} and {down}");
                        }
                    }
                }
            }
        }
    }
}
