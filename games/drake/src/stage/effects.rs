//! Effects: trails, flashes, feathers, smoke, and short texts, each a function of a game event
//! (`Mark`) and its age.
//!
//! `Painter` draws them in each frame. Absent: state of their own.

use gaggle_scene::{Color, chance, palette, sine};
use palette::{FIRE, INK, MIST, MOON, MOON_SHADE, SEATS_SIX, SEDGE, TEXT};

use super::{Painter, pixels};
use crate::mark::{Mark, What};
use crate::standing::{Form, Load};
use crate::{Drake, Phase};

/// Longest life of an effect, in frames.
const LONGEST: u32 = 100;
const QUARTER: f32 = std::f32::consts::FRAC_PI_2;

impl Painter<'_> {
    /// Fire under thrust, streaks of a dash, wakes of ducklings.
    pub(super) fn trails(&mut self, game: &Drake) {
        for (seat, color) in SEATS_SIX.into_iter().enumerate() {
            let Some(craft) = game.body(seat) else { continue };
            let (x, y) = self.shown(craft.place, craft.velocity);
            let (cos, sin) = (pixels(craft.heading.cos()), pixels(craft.heading.sin()));
            let duckling = game.seats[seat].form == Form::Duckling;
            if craft.dash > 0 && !duckling {
                for streak in [-4.0, 0.0, 4.0] {
                    for step in 0..9 {
                        let far = 8.0 + step as f32 * 2.0;
                        let (px, py) = (x - cos * far - sin * streak, y - sin * far + cos * streak);
                        self.scene.blend(px, py, 1.0, 1.0, color.mix(MOON, 0.4), 0.9 - step as f32 * 0.09);
                    }
                }
            } else if craft.thrust && game.bout.phase == Phase::Play {
                let length = if duckling { 3 } else { 7 };
                for step in 0..length {
                    let wobble = (chance(step, self.time as i32, seat as i32) - 0.5) * step as f32 * 0.5;
                    let far = if duckling { 5.0 } else { 9.0 } + step as f32 * 1.1;
                    let (px, py) = (x - cos * far - sin * wobble, y - sin * far + cos * wobble);
                    let color = if duckling {
                        MIST[2]
                    } else {
                        [FIRE[6], FIRE[5], FIRE[5], FIRE[4], FIRE[3], FIRE[2], FIRE[1]][step as usize]
                    };
                    let size = if step < 3 && !duckling { 2.0 } else { 1.0 };
                    self.scene.blend(px - size / 2.0, py - size / 2.0, size, size, color, 1.0);
                }
            }
        }
    }

    pub(super) fn effects(&mut self, game: &Drake) {
        for mark in game.marks.recent(game.frame, LONGEST) {
            let age = game.frame.wrapping_sub(mark.frame) as f32 + self.between;
            let seat = usize::from(mark.who);
            let color = SEATS_SIX.get(seat).copied().unwrap_or(TEXT);
            let (x, y) = (f32::from(mark.x), f32::from(mark.y));
            match mark.what {
                What::Fire => self.flash(x, y, 3.0, age * 2.0),
                What::Tick => self.flash(x, y, 4.0, age),
                What::Crack => self.chips(mark, age),
                What::Down => {
                    self.flash(x, y, 11.0, age);
                    self.smoke(mark, age);
                    self.feathers(mark, color, age);
                }
                What::Caught => {
                    self.flash(x, y, 7.0, age);
                    self.feathers(mark, palette::BONE, age);
                    self.says("caught", x, y, color, age);
                }
                What::ShellBroke => {
                    self.ring(x, y, 11.0 + age * 0.8, 24, MOON, age < 14.0);
                    self.flash(x, y, 8.0, age);
                }
                What::Home => {
                    self.ring(x, y, 8.0 + age * 0.7, 20, color, age < 24.0);
                    self.says("home", x, y - 6.0, color, age);
                }
                What::Egg => self.says(egg_words(mark.value), x, y - 6.0, color, age),
                What::Burst => self.spores(mark, color, age),
                What::Bump if age < 6.0 => self.flash(x, y, 2.5, age * 1.5),
                What::Join => self.ring(x, y, 10.0 + age * 0.5, 24, color, age < 30.0),
                What::Offside => {
                    self.says("no drake flies that fast", x.clamp(60.0, 320.0), y, color, age * 0.5);
                }
                _ => {}
            }
        }
    }

    fn flash(&mut self, x: f32, y: f32, radius: f32, age: f32) {
        if age >= 9.0 {
            return;
        }
        let reach = radius * (0.5 + age / 9.0);
        for ray in 0..8 {
            let angle = ray as f32 * std::f32::consts::FRAC_PI_4 + 0.2;
            let (dx, dy) = (sine(angle + QUARTER), sine(angle));
            let end = if ray % 2 == 0 { reach } else { reach * 0.6 };
            let mut along = 1.0 + age * 0.7;
            while along < end {
                self.scene.dot(
                    x + dx * along,
                    y + dy * along,
                    if along > end * 0.6 { FIRE[4] } else { FIRE[6] },
                );
                along += 1.0;
            }
        }
        if age < 3.0 {
            self.scene.blend(x - 1.0, y - 1.0, 3.0, 3.0, MOON, 1.0);
        }
    }

    fn ring(&mut self, x: f32, y: f32, radius: f32, dots: i32, color: Color, there: bool) {
        for dot in 0..if there { dots } else { 0 } {
            let angle = dot as f32 * std::f32::consts::TAU / dots as f32;
            self.scene.dot(x + sine(angle + QUARTER) * radius, y + sine(angle) * radius, color);
        }
    }

    /// Splinters of a rock.
    fn chips(&mut self, mark: &Mark, age: f32) {
        if age >= 34.0 {
            return;
        }
        let size = f32::from(mark.value);
        for chip in 0..4 + i32::from(mark.value) / 2 {
            let own = |purpose| chance(chip, mark.frame as i32, purpose);
            let (angle, speed) = (own(1) * std::f32::consts::TAU, 0.3 + own(2) * 0.8);
            let far = size * 0.5 + speed * age * (1.0 - age / 90.0);
            let (x, y) =
                (f32::from(mark.x) + sine(angle + QUARTER) * far, f32::from(mark.y) + sine(angle) * far);
            if age < 20.0 + own(3) * 14.0 {
                let wide = if own(4) > 0.6 { 2.0 } else { 1.0 };
                self.scene.blend(x, y, wide, wide, if chip % 2 == 0 { MOON_SHADE } else { MIST[1] }, 1.0);
            }
        }
    }

    fn smoke(&mut self, mark: &Mark, age: f32) {
        if age >= 46.0 {
            return;
        }
        for puff in 0..9 {
            let own = |purpose| chance(puff, mark.frame as i32, purpose + 20);
            let x = f32::from(mark.x) + (own(1) - 0.5) * (10.0 + age * 0.5);
            let y = f32::from(mark.y) + (own(2) - 0.5) * 10.0 - age * (0.1 + own(3) * 0.25);
            let size = (5.0 - age * 0.08).max(1.0).floor();
            let color = if age < 8.0 { FIRE[4 - (age / 3.0) as usize] } else { palette::PEAT[3] };
            self.scene.blend(
                x - size / 2.0,
                y - size / 2.0,
                size,
                size,
                color,
                (0.85 - age * 0.017).max(0.0),
            );
        }
    }

    fn feathers(&mut self, mark: &Mark, color: Color, age: f32) {
        if age >= 90.0 || self.calm {
            return;
        }
        for feather in 0..8 {
            let own = |purpose| chance(feather, mark.frame as i32 ^ i32::from(mark.who) << 8, purpose);
            let thrown = 1.0 - 1.0 / (1.0 + age * 0.18);
            let x =
                f32::from(mark.x) + (own(1) - 0.5) * 56.0 * thrown + sine(age * 0.07 + own(2) * 6.0) * 4.0;
            let y = f32::from(mark.y) + (own(3) - 0.6) * 40.0 * thrown + age * 0.2;
            if age > 54.0 + own(4) * 36.0 {
                continue;
            }
            let shade = if feather % 3 == 0 { color } else { TEXT };
            let flat = (age * 0.08 + own(5) * 4.0) as i32 % 2 == 0;
            let (wide, high) = if flat { (3.0, 1.0) } else { (1.0, 2.0) };
            self.scene.blend(x, y, wide, high, shade, 1.0);
        }
    }

    /// A ring of spores and a thinning cloud.
    fn spores(&mut self, mark: &Mark, color: Color, age: f32) {
        if age >= 40.0 {
            return;
        }
        let (x, y) = (f32::from(mark.x), f32::from(mark.y));
        let reach = 28.0 * (1.0 - 1.0 / (1.0 + age * 0.5));
        for spore in 0..70 {
            let own = |purpose| chance(spore, mark.frame as i32, purpose);
            let angle = own(1) * std::f32::consts::TAU;
            let far = reach * own(2).sqrt();
            if own(3) * 40.0 < age {
                continue;
            }
            let shade = match own(4) {
                part if part < 0.2 => color,
                part if part < 0.5 => palette::BONE,
                _ if age < 6.0 => FIRE[5],
                _ => SEDGE[3],
            };
            let size = if age < 10.0 { 2.0 } else { 1.0 };
            self.scene.blend(x + sine(angle + QUARTER) * far, y + sine(angle) * far, size, size, shade, 0.9);
        }
        self.ring(x, y, reach, 40, FIRE[5], age < 8.0);
    }

    /// A rising short text.
    fn says(&mut self, words: &str, x: f32, y: f32, color: Color, age: f32) {
        if age < 46.0 {
            let y = (y - 12.0 - age * 0.26).max(20.0);
            self.scene.text(words, x.clamp(36.0, 348.0), y, color.mix(TEXT, 0.4)).centered().outlined(INK);
        }
    }
}

fn egg_words(load: u8) -> &'static str {
    Load::ALL.iter().find(|known| **known as u8 == load).map_or("", |load| load.name())
}
