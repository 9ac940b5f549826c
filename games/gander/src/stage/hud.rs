//! What is written: plaques with scores, the sign of the wave, names, and what a wave is about.

use gaggle_scene::{Item, Scene, View, font, palette};
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
    /// Four plaques in the rows above the ceiling; on a phone held upright, two by two above the world.
    pub(super) fn plaques(&mut self, game: &Gander, audience: &Audience<'_>) {
        if let Some(top) = room_above(self.view) {
            for seat in 0..SEATS {
                self.plaque_above(game, audience, seat, top);
            }
            return;
        }
        let best = game.players.iter().map(|player| player.score).max().unwrap_or(0);
        for (seat, player) in game.players.iter().enumerate() {
            let (x, y) = (3 + seat as i32 * 95, 1);
            let color = SEAT[seat];
            if !player.present() {
                self.scene.panel((x, y, 93, 13), INK, 0.35, None);
                self.scene.image(self.creatures.emblem_free[seat], (x + 2) as f32, (y + 1) as f32);
                self.scene.text("free seat", (x + 16) as f32, (y + 3) as f32, FAINT);
                continue;
            }
            let own = audience.own[seat];
            self.scene.panel(
                (x, y, 93, 13),
                INK,
                0.72,
                Some(if own { color } else { color.mix(NIGHT[1], 0.62) }),
            );
            self.scene.image(self.creatures.emblems[seat], (x + 2) as f32, (y + 1) as f32);
            let mut score = String::new();
            font::thousands(player.score, &mut score);
            self.scene.text(&score, (x + 16) as f32, (y + 3) as f32, TEXT);
            if player.seat == Seat::Out {
                self.scene.text("out", (x + 89) as f32, (y + 3) as f32, FAINT).right();
            } else {
                self.scene.image(self.creatures.lives[seat], (x + 68) as f32, (y + 1) as f32);
                self.scene.text(&mounts(player), (x + 89) as f32, (y + 3) as f32, TEXT).right();
            }
            if game.setup.mode == Mode::Versus && player.score == best && best > 0 {
                crown(self.scene, x + 62, y + 4);
            }
            self.name_above(audience, seat, x, y);
        }
    }

    /// A plaque for a small screen, in word pixels: art pixels would be too small to read.
    fn plaque_above(&mut self, game: &Gander, audience: &Audience<'_>, seat: usize, top: i32) {
        let (player, color) = (&game.players[seat], SEAT[seat]);
        let half = (self.view.word_width() - 3 * GAP) / 2;
        let (x, y) = (GAP + seat as i32 % 2 * (half + GAP), top + seat as i32 / 2 * (ABOVE + 3));
        let (left, right) = ((x + 19) as f32, (x + half - 5) as f32);
        let (first, second) = ((y + 4) as f32, (y + 15) as f32);
        let image = |image, x: i32, y: i32| {
            let (x, y) = (x as f32, y as f32);
            Item::Image { image, x, y, mirrored: false, shown: 16, flash: None }
        };
        if !player.present() {
            self.scene.word_panel((x, y, half, ABOVE), INK, 0.35, None);
            self.scene.words.push(image(self.creatures.emblem_free[seat], x + 5, y + 8));
            self.scene.word("free seat", left, (y + 10) as f32, FAINT);
            return;
        }
        let edge = if audience.own[seat] { color } else { color.mix(NIGHT[1], 0.62) };
        self.scene.word_panel((x, y, half, ABOVE), INK, 0.72, Some(edge));
        self.scene.words.push(image(self.creatures.emblems[seat], x + 5, y + 8));
        let mut name = audience.names[seat].to_string();
        while font::width(&name, false, 0) > half - 24 {
            name.pop();
        }
        self.scene.word(&name, left, first, color);
        let mut score = String::new();
        font::thousands(player.score, &mut score);
        self.scene.word(&score, left, second, TEXT);
        if player.seat == Seat::Out {
            self.scene.word("out", right, second, FAINT).right();
        } else {
            let mounts = mounts(player);
            self.scene.words.push(image(self.creatures.lives[seat], x + half - 24, y + 13));
            self.scene.word(&mounts, right, second, TEXT).right();
        }
    }

    fn name_above(&mut self, audience: &Audience<'_>, seat: usize, x: i32, y: i32) {
        let name = audience.names[seat];
        if self.view.top < 10 || name.is_empty() {
            return;
        }
        let own = audience.own[seat];
        let (left, top) = ((x + 3) as f32, (y - 9) as f32);
        self.scene.text(name, left, top, if own { SEAT[seat] } else { DIM });
        let beside = left + font::width(name, false, 0) as f32 + 5.0;
        if own {
            self.scene.text("you", beside, top, FAINT);
        } else if let Some(strength) = audience.bars[seat] {
            for bar in 0..3_i32 {
                let lit = bar < i32::from(strength);
                let color = match (lit, strength) {
                    (false, _) => PEAT[3],
                    (true, 3..) => palette::MIST[2],
                    (true, _) => palette::WARN,
                };
                let height = 3 + bar * 2;
                self.scene.fill(beside as i32 + bar * 3, y - 2 - height, 2, height, color);
            }
        }
    }

    /// The sign of the wave, carved in the Hearthstone.
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
        // A new sign glows before it cools.
        let fresh = game.wave.phase == Phase::Intro && game.wave.left % 30 > 15;
        let color = if fresh { FIRE[6] } else { FIRE[5] };
        self.scene
            .text(&text, middle as f32, (rock.top + 5) as f32, color)
            .centred()
            .tracked(1)
            .shadowed(FIRE[if fresh { 3 } else { 2 }]);
    }

    /// What this wave asks for, while its sign is new; what it paid, when it is won; the end, at the end.
    pub(super) fn captions(&mut self, game: &Gander) {
        let middle = (WIDTH / 2) as f32;
        match game.wave.phase {
            Phase::Intro => {
                if let Some(line) = promise(game) {
                    self.scene.text(line, middle, 86.0, palette::BONE).centred().outlined(INK);
                }
            }
            Phase::Over => {
                self.scene.image(self.well_flown, middle - self.well_flown_width / 2.0, 52.0);
                if game.wave.left > OVER_FRAMES {
                    self.scene.text("Flap to fly again", middle, 86.0, palette::BONE).centred().outlined(INK);
                }
            }
            _ => {}
        }
    }

    /// A name over everybody who stands safely on his pad.
    pub(super) fn pad_names(&mut self, game: &Gander, audience: &Audience<'_>) {
        for (seat, player) in game.players.iter().enumerate() {
            let name = audience.names[seat];
            if player.riding() && player.safe > 0 && !name.is_empty() {
                let (x, y) = ((player.mover.x / PX) as f32, (player.mover.y / PX) as f32);
                self.scene.text(name, x, y - 42.0, SEAT[seat].mix(TEXT, 0.3)).centred().outlined(INK);
            }
        }
    }
}

/// Rows of a plaque above the world, and what lies between two.
const ABOVE: i32 = 27;
const GAP: i32 = 5;

/// The first row of plaques above the world, in word pixels, where a screen is held upright and has room for them.
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
        (WaveKind::Plain, _) if game.wave.number == 1 => Some("Higher lance wins."),
        (WaveKind::Together, _) if alone => Some("3000 if you stay in the saddle"),
        (WaveKind::Together, Mode::Team) => Some("3000 each if nobody falls"),
        (WaveKind::Together, Mode::Versus) => Some("3000 each if you spare each other"),
        (WaveKind::Gladiator, Mode::Team) if !alone => Some("3000 for the sharpest lance"),
        (WaveKind::Gladiator, Mode::Versus) if !alone => Some("3000 for the first to unseat a rival"),
        (WaveKind::Egg, _) => Some("Eggs, eggs. Be quick."),
        (WaveKind::Hern, _) => Some("Something hungry is about."),
        _ => None,
    }
}

fn crown(scene: &mut Scene, x: i32, y: i32) {
    scene.fill(x, y, 1, 3, FIRE[5]);
    scene.fill(x + 2, y, 1, 3, FIRE[5]);
    scene.fill(x + 4, y, 1, 3, FIRE[5]);
    scene.fill(x, y + 2, 5, 2, FIRE[5]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaques_are_above_the_world_only_where_there_is_room() {
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
}
