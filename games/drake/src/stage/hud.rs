//! Texts of the picture: plaques, names, countdown, results.
//!
//! `Stage` draws them after the world unless the audience leaves them out. Absent: rules.

use gaggle_scene::{ImageId, fitted, font, palette};
use palette::{BONE, DIM, FAINT, FIRE, INK, NIGHT, PEAT, SEATS_SIX, TEXT};

use super::{Audience, Painter, pixels};
use crate::bout::{OVER_FRAMES_MIN, Phase, ROUND_FRAMES};
use crate::field::{self, WIDTH};
use crate::mark::What;
use crate::standing::{Form, Load, PEAS};
use crate::{Drake, Standing};

/// Columns from one plaque to the next; six fit between the ropes.
const STEP: i32 = 61;
const WIDE: i32 = 59;
const HIGH: i32 = 13;
/// Rows above the world that a name above a plaque needs.
const NAME_ROWS: i32 = 9;
/// Column of the first plaque.
const LEFT_MOST: i32 = 9;
/// Column of the picture's center.
const MIDDLE: f32 = (WIDTH / 2) as f32;

/// Frames the cause of a down is shown.
const FATE_FRAMES: u32 = 180;

/// Name of a seat's player in a sentence.
fn called<'a>(audience: &Audience<'a>, seat: usize) -> &'a str {
    match audience.names.get(seat).copied().unwrap_or_default() {
        "" => "A drake",
        name => name,
    }
}

impl Painter<'_> {
    /// Six plaques above the coop: emblem, points, rounds won, load, peas.
    pub(super) fn plaques(&mut self, game: &Drake, audience: &Audience<'_>) {
        for (seat, standing) in game.seats.iter().enumerate() {
            let (x, y) = (LEFT_MOST + seat as i32 * STEP, 2);
            let color = SEATS_SIX[seat];
            if !standing.present() {
                self.scene.panel((x, y, WIDE, HIGH), INK, 0.3, None);
                self.scene.text("free seat", (x + 7) as f32, (y + 3) as f32, FAINT);
                continue;
            }
            let edge = if audience.own[seat] { color } else { color.mix(NIGHT[1], 0.62) };
            // Without rows above the world the name is on the plaque.
            let high = if self.view.top >= NAME_ROWS { HIGH } else { HIGH + 10 };
            self.scene.panel((x, y, WIDE, high), INK, 0.78, Some(edge));
            self.scene.image(self.emblems[seat], (x + 4) as f32, (y + 3) as f32);
            let out = matches!(standing.form, Form::Out) && game.bout.phase == Phase::Play;
            let points = standing.score.to_string();
            self.scene.text(&points, (x + 14) as f32, (y + 3) as f32, if out { FAINT } else { TEXT });
            self.pips(game, standing, x + WIDE - 4, y + 3);
            if standing.load != Load::None && !out {
                self.scene.image(self.things.icon(standing.load), (x + 28) as f32, (y + 4) as f32);
            }
            self.crop(standing, x + 28, y + HIGH - 1, out);
            self.name_above(audience, seat, x, y);
        }
        self.clock(game);
    }

    /// Rounds won out of those needed.
    fn pips(&mut self, game: &Drake, standing: &Standing, right: i32, y: i32) {
        for pip in 0..i32::from(game.setup.wins.min(5)) {
            let won = pip < i32::from(standing.wins);
            self.scene.fill(right - 4 - pip * 5, y + 2, 3, 3, if won { FIRE[5] } else { PEAT[2] });
        }
    }

    /// Peas left, on the lower edge of a plaque.
    fn crop(&mut self, standing: &Standing, x: i32, y: i32, out: bool) {
        if standing.form != Form::Drake || out {
            return;
        }
        for pea in 0..i32::from(PEAS) {
            let full = pea < i32::from(standing.peas);
            self.scene.fill(x + pea * 4, y - 1, 3, 2, if full { palette::SEDGE[3] } else { PEAT[2] });
        }
    }

    /// A name above or on its plaque, cut to its width.
    fn name_above(&mut self, audience: &Audience<'_>, seat: usize, x: i32, y: i32) {
        let name = audience.names[seat];
        if name.is_empty() {
            return;
        }
        let room = if audience.bars[seat].is_some() { WIDE - 12 } else { WIDE - 3 };
        let short = fitted(name, room, false);
        // On the plaque: below the points.
        let y = if self.view.top >= NAME_ROWS { y } else { y + HIGH + 11 };
        let (left, top) = ((x + 3) as f32, (y - 10) as f32);
        let color = if audience.own[seat] { SEATS_SIX[seat] } else { DIM };
        self.scene.text(&short, left, top, color).outlined(INK);
        if let Some(strength) = audience.bars[seat] {
            let beside = x + 3 + font::width(&short, false, 0) + 3;
            for bar in 0..3_i32 {
                let lit = bar < i32::from(strength);
                let color = match (lit, strength) {
                    (false, _) => PEAT[3],
                    (true, 3..) => palette::MIST[2],
                    (true, _) => palette::WARN,
                };
                self.scene.fill(beside + bar * 2, y - 6 - bar * 2, 1, 4 + bar * 2, color);
            }
        }
    }

    /// Seconds left, during the last 20 seconds of a round.
    fn clock(&mut self, game: &Drake) {
        let left = game.bout.seconds_left();
        if game.bout.phase == Phase::Play && game.bout.since + 1_200 >= ROUND_FRAMES {
            self.scene.text(&left.to_string(), MIDDLE, 30.0, palette::WARN).centered().outlined(INK);
        }
    }

    /// Names beside nests before a round, and above fresh drakes.
    pub(super) fn names(&mut self, game: &Drake, audience: &Audience<'_>) {
        for (seat, color) in SEATS_SIX.into_iter().enumerate() {
            let name = audience.names[seat];
            if name.is_empty() || !game.seats[seat].present() || game.bout.phase != Phase::Countdown {
                continue;
            }
            let [x, y] = field::nest(seat).map(pixels);
            let color = color.mix(TEXT, 0.3);
            let down = if y > 180.0 { -22.0 } else { 14.0 };
            let name = fitted(name, 110, false);
            let half = font::width(&name, false, 0) as f32 / 2.0;
            let x = x.clamp(half + 16.0, WIDTH as f32 - half - 16.0);
            self.scene.text(&name, x, y + down, color).centered().outlined(INK);
        }
    }

    pub(super) fn captions(&mut self, game: &Drake, audience: &Audience<'_>) {
        let turn = if game.bout.clockwise { "Turning right" } else { "Turning left" };
        match game.bout.phase {
            Phase::Countdown => {
                let count = usize::from(game.bout.count().clamp(1, 3));
                self.big(self.numbers[count - 1], 84.0);
                let line = format!("Round {} · {turn}", game.bout.round);
                self.line(&line, 134.0);
            }
            Phase::Play if game.bout.since < 40 => self.big(self.letters.go, 88.0),
            Phase::Play => {
                self.fate(game, audience);
                if game.marks.recent(game.frame, 90).any(|mark| mark.what == What::Whirl) {
                    // Below the upper middle nest.
                    self.line(turn, 58.0);
                }
            }
            Phase::Result => match game.bout.winner {
                Some(seat) => {
                    self.big(self.letters.won, 78.0);
                    let name = called(audience, usize::from(seat));
                    let line = format!("{name} takes round {}", game.bout.round);
                    self.line(&line, 108.0);
                }
                None => {
                    self.big(self.letters.draw, 78.0);
                    self.line("They all went down together.", 108.0);
                }
            },
            Phase::Over => {
                self.big(self.letters.over, 54.0);
                self.table(game, audience);
            }
            Phase::Empty => self.line("An empty coop.", 108.0),
        }
    }

    fn big(&mut self, image: ImageId, y: f32) {
        let width = self.album.image(image).width() as f32;
        self.scene.image(image, (MIDDLE - width / 2.0).floor(), y);
    }

    fn line(&mut self, text: &str, y: f32) {
        self.scene.text(text, MIDDLE, y, BONE).centered().outlined(INK);
    }

    /// For a local player who is down: who did it, and what to do now.
    fn fate(&mut self, game: &Drake, audience: &Audience<'_>) {
        let Some(seat) = audience.own.iter().position(|own| *own) else { return };
        let (what, words) = match game.seats[seat].form {
            Form::Duckling => (What::Down, "Run home to your nest!"),
            Form::Out => (What::Caught, "You hatch again next round."),
            Form::Empty | Form::Drake => return,
        };
        let told = game.marks.recent(game.frame, FATE_FRAMES);
        let mine = told.filter(|mark| mark.what == what && usize::from(mark.who) == seat);
        let by = mine.max_by_key(|mark| mark.frame).map(|mark| usize::from(mark.by));
        let line = match by {
            Some(by) if by == seat => format!("Your own doing. {words}"),
            Some(by) if by < field::SEATS => format!("{} got you. {words}", called(audience, by)),
            _ => words.to_string(),
        };
        self.line(&line, 164.0);
    }

    /// Table of the match: one row per seat, the best first, and a comment.
    fn table(&mut self, game: &Drake, audience: &Audience<'_>) {
        let mut order: Vec<&Standing> = game.seats.iter().filter(|standing| standing.present()).collect();
        order.sort_by_key(|standing| (std::cmp::Reverse((standing.wins, standing.score)), standing.seat));
        let height = 16 + 11 * order.len() as i32 + 12;
        self.scene.panel((112, 84, 160, height), INK, 0.86, Some(palette::MIST[0]));
        for (row, standing) in (0..).zip(&order) {
            let seat = usize::from(standing.seat);
            let y = 91 + row * 11;
            self.scene.image(self.emblems[seat], 120.0, y as f32);
            let score = standing.score.to_string();
            let name = fitted(called(audience, seat), 226 - 132 - 6 - font::width(&score, false, 0), false);
            let color = if audience.own[seat] { SEATS_SIX[seat] } else { TEXT };
            self.scene.text(&name, 132.0, y as f32, color);
            self.scene.text(&score, 226.0, y as f32, DIM).right();
            self.pips(game, standing, 266, y);
        }
        let line = match order.first() {
            Some(best) if best.score == 0 => "Won without a pea. It counts.",
            Some(best) if order.iter().all(|other| other.score <= best.score) => "Not a quack of protest.",
            _ => "Not the best shot. The last one up.",
        };
        let y = (84 + height - 13) as f32;
        self.scene.text(line, MIDDLE, y, FAINT).centered();
        if game.bout.since >= OVER_FRAMES_MIN {
            self.line("Fire to brawl again", (84 + height + 6) as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_scene::{Item, Scene, View};

    use super::*;
    use crate::field::{HEIGHT, SEATS, TOP};
    use crate::stage::Stage;
    use crate::{Pad, Setup, Sitting};

    #[test]
    fn long_names_fit_their_plaques_on_all_screens() {
        let mut game = Drake::new(Setup::default(), 1);
        game.step(&[Pad::NONE; SEATS], &[Sitting::Player; SEATS]);
        assert!(game.seats.iter().all(Standing::present));
        let views = [(1_920, 1_080, 5, 3), (1_280, 720, 3, 2), (800, 450, 2, 2), (1_688, 780, 3, 4)];
        for ((width, height, scale, words), bars) in
            views.into_iter().flat_map(|view| [(view, None), (view, Some(2))])
        {
            let view = View::at_scale(width, height, WIDTH, HEIGHT, scale, words);
            let names = ["Bartholomew of the Long Eyot"; SEATS];
            let audience = Audience { names, bars: [bars; SEATS], plain: true, ..Audience::default() };
            let mut scene = Scene::default();
            Stage::new(view).draw(&game, 1.0, &audience, &mut scene);
            let mut seen = 0;
            for item in &scene.art {
                let Item::Text { words, x, y, .. } = *item else { continue };
                let text = scene.text_of(words);
                if !text.ends_with('…') || y as i32 >= TOP {
                    continue;
                }
                let (left, wide) = (x as i32 - LEFT_MOST, font::width(text, false, 0));
                let seat = left / STEP;
                assert!(
                    left % STEP + wide + if bars.is_some() { 9 } else { 0 } <= WIDE,
                    "{text} on {width}×{height}"
                );
                assert!(y as i32 + view.top >= 0 && y as i32 + 7 <= TOP, "{text} at {y} on {width}×{height}");
                assert_eq!(seat, seen);
                seen += 1;
            }
            assert_eq!(seen as usize, SEATS, "{width}×{height}");
        }
    }
}
