//! Effects: glints, foam, wheel, paddles, signs, ripples; functions of the frame and of game events
//! (`Mark`).
//!
//! `Painter` draws them in each frame. Absent: state of their own.

use gaggle_scene::{chance, font, noise, palette, sine};
use palette::{BONE, FIRE, INK, MIST, MOON, PEAT, SEATS_SIX, TEXT};

use super::{Audience, Painter, hud, pixels};
use crate::ledger::{JETTY_REACH, PADDLE_REACH, PADDLES, WISHES};
use crate::mark::What;
use crate::pond::Pond;
use crate::thing::Sort;
use crate::water::{self, RACE, RACE_HALF, WHEEL, WIDTH};

const QUARTER: f32 = std::f32::consts::FRAC_PI_2;

impl Painter<'_> {
    /// Reflections of the moon that move with the window; gusts darken them.
    pub(super) fn glints(&mut self, pond: &Pond) {
        let (left, top) = (self.view.left as f32, self.view.top as f32);
        let drift = if self.calm { 0.0 } else { self.time };
        for glint in 0..70 {
            let own = |purpose| chance(glint, 5, purpose);
            let y = own(1) * 190.0 + 6.0;
            let spread = 10.0 + y * 0.16;
            let x = 268.0 + (own(2) - 0.5) * spread * 2.0 + sine(drift * 0.03 + own(3) * 9.0) * 3.0;
            let lit = sine(drift * (0.02 + own(4) * 0.05) + own(5) * 12.0);
            let deep = (self.camera.0 + x, self.camera.1 + y);
            let afloat = (40.0..WIDTH as f32 - 40.0).contains(&deep.0)
                && (40.0..(water::HEIGHT - 40) as f32).contains(&deep.1);
            if lit > 0.1 && afloat {
                let wide = 2.0 + own(6) * 5.0;
                self.scene.blend(x, y, wide, 1.0, MOON, 0.16 + lit * 0.34);
            }
        }
        let wind = water::wind(pond.frame).map(pixels);
        if wind != [0.0, 0.0] && !self.calm {
            for streak in 0..36 {
                let own = |purpose| chance(streak, 9, purpose);
                let run = self.time * 1.6;
                let x = (own(1) * 500.0 + wind[0] * run).rem_euclid(480.0) - left - 30.0;
                let y = (own(2) * 300.0 + wind[1] * run).rem_euclid(280.0) - top - 20.0;
                for step in 0..7 {
                    self.scene.blend(
                        x + wind[0] * step as f32 * 3.0,
                        y + wind[1] * step as f32 * 3.0,
                        2.0,
                        1.0,
                        MIST[1],
                        0.3,
                    );
                }
            }
        }
    }

    /// Foam that moves with the race.
    pub(super) fn race(&mut self, pond: &Pond) {
        let pace = if pond.ledger.open { 0.34 } else { 0.17 };
        for fleck in 0..120 {
            let own = |purpose| chance(fleck, 21, purpose);
            let aside = (own(1) - 0.5) * 2.0;
            let speed = (1.0 - aside.abs()) * pace * if self.calm { 0.0 } else { 1.0 };
            let x = (own(2) * WHEEL.0 as f32 + self.time * speed).rem_euclid(WHEEL.0 as f32);
            let at = self.on_screen(x, RACE as f32 + aside * (RACE_HALF - 4) as f32);
            if self.sees(at, 8.0) {
                let wide = 3.0 + own(3) * 7.0;
                self.scene.blend(
                    at.0,
                    at.1,
                    wide,
                    1.0,
                    if pond.ledger.open { MIST[2] } else { MIST[1] },
                    0.4,
                );
            }
        }
    }

    /// The wheel: once around in eight seconds, faster while the sluice is open.
    pub(super) fn wheel(&mut self, pond: &Pond) {
        let center = self.on_screen(WHEEL.0 as f32 + 6.0, WHEEL.1 as f32);
        if !self.sees(center, 60.0) {
            return;
        }
        let pace = if self.calm {
            0.0
        } else if pond.ledger.open || pond.ledger.done {
            0.05
        } else {
            0.013
        };
        for spoke in 0..12 {
            let angle = self.time * pace + spoke as f32 * std::f32::consts::TAU / 12.0;
            let height = sine(angle) * 44.0;
            let near = sine(angle + QUARTER) > -0.2;
            if near {
                let (x, y) = (center.0 - 18.0, center.1 + height);
                self.scene.blend(x - 1.0, y - 2.0, 30.0, 6.0, INK, 1.0);
                self.scene.blend(x, y - 1.0, 28.0, 4.0, PEAT[4], 1.0);
                self.scene.blend(x, y - 1.0, 28.0, 1.0, MOON.mix(PEAT[4], 0.4), 1.0);
            }
        }
        for rim in [-20.0, 11.0] {
            self.scene.blend(center.0 + rim, center.1 - 48.0, 4.0, 96.0, INK, 1.0);
            self.scene.blend(center.0 + rim + 1.0, center.1 - 47.0, 2.0, 94.0, PEAT[3], 1.0);
        }
    }

    /// Paddles of the sluice, bright while a boat is at them.
    pub(super) fn paddles(&mut self, pond: &Pond) {
        for (x, y) in PADDLES {
            let at = self.on_screen(x as f32, y as f32);
            if !self.sees(at, 30.0) {
                continue;
            }
            let held = pond
                .boats
                .iter()
                .flatten()
                .any(|boat| water::is_within(boat.place, water::at(x, y), PADDLE_REACH));
            let color = if held || pond.ledger.open { FIRE[5] } else { MIST[2] };
            self.ring(at, PADDLE_REACH as f32, 22, color);
            self.scene.blend(at.0 - 4.0, at.1 - 12.0, 8.0, 14.0, INK, 1.0);
            self.scene.blend(at.0 - 3.0, at.1 - 11.0, 6.0, 12.0, PEAT[4], 1.0);
            self.scene.blend(at.0 - 7.0, at.1 - 12.0, 14.0, 3.0, INK, 1.0);
            self.scene.blend(at.0 - 6.0, at.1 - 12.0, 12.0, 2.0, BONE, 1.0);
        }
        let gate = self.on_screen(PADDLES[0].0 as f32 - 60.0, RACE as f32);
        if self.sees(gate, 60.0) && !pond.ledger.open {
            for board in 0..7 {
                let y = gate.1 - 40.0 + board as f32 * 12.0;
                self.scene.blend(gate.0 - 3.0, y, 7.0, 9.0, INK, 0.8);
                self.scene.blend(gate.0 - 2.0, y, 5.0, 8.0, PEAT[3], 1.0);
                self.scene.blend(gate.0 - 2.0, y, 5.0, 1.0, MOON.mix(PEAT[4], 0.5), 1.0);
            }
        }
    }

    /// Signs with what each jetty wants.
    pub(super) fn jetties(&mut self, pond: &Pond, audience: &Audience<'_>) {
        for (number, wish) in WISHES.iter().enumerate() {
            let (x, y) = self.on_screen(wish.x as f32, wish.y as f32);
            if !self.sees((x, y), 70.0) {
                continue;
            }
            let wanted = pond.ledger.wanted(number);
            let color = if wanted > 0 { FIRE[5] } else { palette::OK };
            self.ring((x, y), JETTY_REACH as f32, 34, color.mix(PEAT[3], 0.35));
            let text = if wanted > 0 {
                format!("{} wants {wanted}", wish.who)
            } else {
                format!("{} thanks you", wish.who)
            };
            let wide = font::width(&text, false, 0) + 22;
            let top = if wish.y > water::HEIGHT / 2 {
                y as i32 - JETTY_REACH - 20
            } else {
                y as i32 + JETTY_REACH + 6
            };
            let left = (x as i32 - wide / 2).clamp(4, 380 - wide);
            let top = hud::clear_of_panels(audience, (left, top, wide, 15));
            self.scene.panel((left, top, wide, 15), PEAT[0], 0.92, Some(PEAT[3]));
            self.scene.image(self.flotsam.icon(wish.sort), (left + 4) as f32, (top + 3) as f32);
            self.scene.text(&text, (left + 17) as f32, (top + 4) as f32, color);
        }
    }

    fn ring(&mut self, (x, y): (f32, f32), radius: f32, dots: i32, color: gaggle_scene::Color) {
        for dot in 0..dots {
            let angle = dot as f32 * std::f32::consts::TAU / dots as f32;
            self.scene.dot(
                (x + sine(angle + QUARTER) * radius).floor(),
                (y + sine(angle) * radius * 0.8).floor(),
                color,
            );
        }
    }

    pub(super) fn effects(&mut self, pond: &Pond) {
        for mark in pond.marks.recent(pond.frame, 90) {
            let age = pond.frame.wrapping_sub(mark.frame) as f32 + self.between;
            let (x, y) = self.on_screen(f32::from(mark.x), f32::from(mark.y));
            let color = SEATS_SIX.get(usize::from(mark.who)).copied().unwrap_or(TEXT);
            if !self.sees((x, y), 60.0) {
                continue;
            }
            let name = Sort::ALL.get(usize::from(mark.value)).map_or("", |sort| sort.name());
            match mark.what {
                What::Bump => self.splash(x, y, age, mark.frame as i32),
                What::Drop | What::Unstack => self.splash(x, y, age * 1.3, mark.frame as i32),
                What::Tow => self.says(name, x, y, color, age),
                What::Refused => self.says("taken", x, y, palette::WARN, age),
                What::Stack => self.says(
                    ["", "one", "two", "three", "four"][usize::from(mark.value.min(4))],
                    x,
                    y,
                    color,
                    age,
                ),
                What::Delivered | What::Bell => {
                    self.says(name, x, y, color, age * 0.6);
                    for spark in 0..10 {
                        let angle = spark as f32 * std::f32::consts::TAU / 10.0;
                        let far = 6.0 + age * 0.9;
                        if age < 24.0 {
                            self.scene.dot(
                                x + sine(angle + QUARTER) * far,
                                y + sine(angle) * far,
                                if age < 10.0 { FIRE[6] } else { color },
                            );
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn splash(&mut self, x: f32, y: f32, age: f32, seed: i32) {
        if age >= 22.0 {
            return;
        }
        for drop in 0..8 {
            let own = |purpose| chance(drop, seed, purpose);
            let (vx, vy) = ((own(1) - 0.5) * 1.4, 0.4 + own(2) * 0.9);
            self.scene.dot(
                x + vx * age,
                y - vy * age + 0.06 * age * age,
                if drop % 2 == 0 { MIST[2] } else { MOON },
            );
        }
        let wobble = noise(age / 7.0, seed);
        self.ring((x, y), 5.0 + age * 0.6 + wobble, 14, MIST[1]);
    }

    fn says(&mut self, words: &str, x: f32, y: f32, color: gaggle_scene::Color, age: f32) {
        if age < 50.0 {
            self.scene.text(words, x, y - 16.0 - age * 0.2, color.mix(TEXT, 0.4)).centered().outlined(INK);
        }
    }
}
