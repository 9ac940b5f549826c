//! Pictures of all creatures: place between two frames, pose and light.
//!
//! Called by `stage.rs`, back to front. Absent: events (`effects.rs`), ground (`ground.rs`).

use gaggle_scene::{Color, sine};

use super::creatures::{HERN_CENTER, HERN_THROAT, HERN_WIDTH};
use super::poses::{Pose, light};
use super::{CUT, Eased, NOTICEABLE, Painter, copies, goose_shown, pixels};
use crate::arena;
use crate::clutch::{ClutchPhase, RISE_FRAMES, SINK_FRAMES};
use crate::egg::{Egg, EggPhase};
use crate::hern::{Hern, HernPhase};
use crate::mover::Mover;
use crate::player::{APPEAR_FRAMES, GRACE_FRAMES, SAFE_FRAMES, SEATS};
use crate::rider::{EMERGE_FRAMES, RIDERS};
use crate::{Gander, Phase};

/// Frames over which riders fade after the end of a match.
const END_FRAMES: u32 = 48;

/// Frames since the end of the match, 0 before it.
fn after_the_end(game: &Gander) -> u32 {
    if game.wave.phase == Phase::Over { game.wave.left.into() } else { 0 }
}

/// Whether the match is over and its riders have faded.
pub(super) fn is_calm(game: &Gander) -> bool {
    after_the_end(game) >= END_FRAMES
}

impl Painter<'_> {
    pub(super) fn knights(&mut self, now: &Gander, before: &Gander) {
        for seat in 0..SEATS {
            let player = &now.players[seat];
            if !player.riding() {
                continue;
            }
            let was = &before.players[seat];
            let (x, y) = self.place(seat, now.frame, &player.mover, was.riding().then_some(&was.mover));
            let appearing = player.safe.saturating_sub(SAFE_FRAMES - APPEAR_FRAMES);
            let shown = 16 - (u32::from(appearing) * 16 / u32::from(APPEAR_FRAMES)) as u8;
            // The last frames of safety flicker, at most twice a second.
            let fading = player.safe > 0 && player.safe <= GRACE_FRAMES && player.safe % 30 > 15;
            let shown = if fading { 11 } else { shown };
            let image = self.geese.ridden(seat, Pose::of(&player.mover), light(y));
            self.goose(image, x, y, player.mover.left, shown);
            self.tracks(&player.mover, x, y);
        }
    }

    pub(super) fn riders(&mut self, now: &Gander, before: &Gander) {
        if is_calm(now) {
            return;
        }
        let seen = 16 - (after_the_end(now) * 16 / END_FRAMES) as u8;
        for number in 0..RIDERS {
            let rider = &now.riders[number];
            if !rider.live {
                continue;
            }
            let was = &before.riders[number];
            let same = was.live && was.class == rider.class;
            let (x, y) = self.place(SEATS + number, now.frame, &rider.mover, same.then_some(&was.mover));
            let emerged = u32::from(EMERGE_FRAMES - rider.emerging.min(EMERGE_FRAMES));
            let shown = seen.min((1 + emerged * 15 / u32::from(EMERGE_FRAMES)) as u8);
            let image = self.geese.ridden(SEATS + rider.class as usize, Pose::of(&rider.mover), light(y));
            self.goose(image, x, y, rider.mover.left, shown);
            self.tracks(&rider.mover, x, y);
        }
    }

    /// Draws riderless geese on the rock after the end of a match, one for each player.
    pub(super) fn idlers(&mut self, now: &Gander) {
        const PLACES: [f32; SEATS] = [109.0, 155.0, 239.0, 285.0];
        let since = after_the_end(now).saturating_sub(END_FRAMES);
        let shown = (since / 2).min(16) as u8;
        let y = arena::LEDGE[arena::HEARTHSTONE].top as f32;
        let here = PLACES.into_iter().enumerate().filter(|(seat, _)| now.players[*seat].present());
        for (seat, x) in here {
            // Now and then one turns its head, and one honks.
            let beat = if self.calm { 1 } else { (since as usize / 24 + 5 * seat) % 16 };
            let pose = match (beat, seat) {
                (0, 3) => Pose::Skid,
                (0 | 7, _) => Pose::Turn,
                _ => Pose::Stand,
            };
            let image = self.geese.bare(seat, pose, light(y));
            self.goose_once(image, x, y, seat >= SEATS / 2, shown);
        }
    }

    /// Draws dust where a goose skids or has landed.
    fn tracks(&mut self, mover: &Mover, x: f32, y: f32) {
        if mover.skidding {
            let behind = -f32::from(mover.speed.signum()) * 6.0;
            self.dust(x - behind * 0.3, y, f32::from(mover.gait) * 2.0 + self.between);
        } else if mover.since.land < 12 && mover.grounded {
            self.dust(x, y, f32::from(mover.since.land) + self.between);
        }
    }

    /// Place of a goose between the frames, with the offset of a correction.
    fn place(&mut self, body: usize, frame: u32, now: &Mover, before: Option<&Mover>) -> (f32, f32) {
        let (x, y) = (pixels(now.x), pixels(now.y));
        let eased = &mut self.eased[body];
        let Some(before) = before else {
            *eased = Eased { frame, ..Eased::default() };
            return (x, y);
        };
        let (dx, dy) = (pixels(arena::apart(before.x, now.x)), pixels(now.y - before.y));
        let missed = (dx - pixels(now.vx()), dy - pixels(i32::from(now.vy)));
        let off = missed.0.abs().max(missed.1.abs());
        if eased.frame != frame {
            let frames = frame.wrapping_sub(eased.frame).min(8);
            *eased = Eased { x: eased.x / (1 << frames) as f32, y: eased.y / (1 << frames) as f32, frame };
            if off > NOTICEABLE && off <= CUT {
                eased.x -= missed.0;
                eased.y -= missed.1;
            }
        }
        // A correction or cut is not drawn between the frames.
        let back = if off > NOTICEABLE { 0.0 } else { 1.0 - self.between };
        (x - dx * back + eased.x, y - dy * back + eased.y)
    }

    pub(super) fn eggs(&mut self, now: &Gander, before: &Gander) {
        for (egg, was) in now.eggs.iter().zip(&before.eggs) {
            if egg.phase == EggPhase::None {
                continue;
            }
            let back = if was.phase == egg.phase { 1.0 - self.between } else { 0.0 };
            let dx = pixels(arena::apart(was.x, egg.x));
            let dy = pixels(egg.y - was.y);
            let near = dx.abs() < 8.0 && dy.abs() < 8.0;
            let back = if near { back } else { 0.0 };
            let (x, y) = (pixels(egg.x) - dx * back, pixels(egg.y) - dy * back);
            self.egg(egg, x, y);
            if egg.bird.coming && !is_calm(now) {
                self.fetcher(egg, was);
            }
        }
    }

    fn egg(&mut self, egg: &Egg, x: f32, y: f32) {
        let light = light(y);
        if egg.phase == EggPhase::Hatchling {
            let waving = (self.time / 16.0) as i32 % 2 == 1;
            let image = self.creatures.hatchling(egg.class as usize, waving, light);
            for x in copies(x - 4.0, 9.0, self.view) {
                self.push(image, x, y - 12.0, false, 16, None);
            }
            return;
        }
        let waited = i32::from(egg.waited);
        let restless = egg.phase == EggPhase::Resting && egg.waited > egg.wait / 2;
        let wobble = if restless { [0.0, 1.0, 0.0, -1.0][(waited / 12) as usize % 4] } else { 0.0 };
        let tap = if egg.cracked() && waited % 8 < 2 { 1.0 } else { 0.0 };
        let image = self.creatures.egg(egg.cracked(), light);
        for x in copies(x - 4.0 + wobble, 9.0, self.view) {
            self.push(image, x, y - 9.0 - tap, false, 16, None);
        }
    }

    fn fetcher(&mut self, egg: &Egg, was: &Egg) {
        let bird = &egg.bird;
        let back = if was.bird.coming { 1.0 - self.between } else { 0.0 };
        let (dx, dy) = (pixels(bird.x - was.bird.x), pixels(bird.y - was.bird.y));
        let (x, y) = (pixels(bird.x) - dx * back, pixels(bird.y) - dy * back);
        let pose = [Pose::Up, Pose::Down, Pose::Mid][(self.time / 5.0) as usize % 3];
        let image = self.geese.bare(SEATS + egg.class as usize, pose, light(y));
        self.goose_once(image, x, y, bird.left, goose_shown(x));
    }

    pub(super) fn herns(&mut self, now: &Gander, before: &Gander) {
        for (hern, was) in now.herns.iter().zip(&before.herns) {
            if matches!(hern.phase, HernPhase::None | HernPhase::Away) {
                continue;
            }
            let back = if was.tangible() && was.left == hern.left { 1.0 - self.between } else { 0.0 };
            let x = pixels(hern.x) - pixels(hern.x - was.x) * back;
            let y = pixels(hern.y) - pixels(hern.y - was.y) * back;
            self.hern_at(hern, x, y, 16, None);
        }
    }

    pub(super) fn hern_at(&mut self, hern: &Hern, x: f32, y: f32, shown: u8, flash: Option<Color>) {
        let image = self.creatures.hern(hern.beat, hern.open, light(y + 10.0));
        let center = if hern.left { HERN_WIDTH - 1 - HERN_CENTER } else { HERN_CENTER };
        // One row higher than its throat, as lances are drawn, so equal heights in the rules are
        // equal in the picture.
        self.push(image, x - center as f32, y - (HERN_THROAT + 1) as f32, hern.left, shown, flash);
    }

    pub(super) fn hand_behind(&mut self, game: &Gander) {
        let hand = &game.clutch;
        let x = pixels(hand.x);
        let fire = arena::FIRE as f32;
        let left = f32::from(hand.left) - self.between;
        match hand.phase {
            ClutchPhase::Hidden => {}
            ClutchPhase::Rising => {
                let part = (1.0 - left / f32::from(RISE_FRAMES)).clamp(0.0, 1.0);
                if part < 0.5 {
                    self.everywhere(self.creatures.hand_tips, x - 10.0, fire - 3.0 - part * 6.0, 20.0);
                } else {
                    self.everywhere(self.creatures.hand, x - 12.0, fire - 5.0 - (part - 0.5) * 44.0, 25.0);
                }
            }
            ClutchPhase::Open => {
                let reach = sine(self.time * 0.25) * 1.5;
                self.everywhere(self.creatures.hand, x - 12.0, fire - 27.0 + reach, 25.0);
            }
            ClutchPhase::Grip => {
                let feet = self.held_feet(game).unwrap_or(fire - 10.0);
                let top = feet - 7.0;
                let mut y = top + 14.0;
                while y < fire + 8.0 {
                    self.everywhere(self.creatures.arm, x - 6.0, y, 13.0);
                    y += 6.0;
                }
                self.everywhere(self.creatures.fist, x - 11.0, top, 22.0);
            }
            ClutchPhase::Sinking => {
                let part = (1.0 - left / f32::from(SINK_FRAMES)).clamp(0.0, 1.0);
                self.everywhere(self.creatures.fist, x - 11.0, fire - 18.0 + part * 22.0, 22.0);
            }
        }
    }

    /// Draws fingers in front of what the Clutch holds.
    pub(super) fn hand_in_front(&mut self, game: &Gander) {
        if let Some(feet) = self.held_feet(game) {
            let x = pixels(game.clutch.x);
            self.everywhere(self.creatures.fingers, x - 11.0, feet - 8.0, 23.0);
        }
    }

    fn held_feet(&self, game: &Gander) -> Option<f32> {
        let body = game.clutch.holds()?;
        (body < SEATS + RIDERS).then(|| pixels(game.mover(body).y))
    }
}

#[cfg(test)]
mod tests {
    use gaggle_scene::{ImageId, Item, LIGHTS, Scene, View};

    use super::*;
    use crate::Setup;
    use crate::player::Seat;
    use crate::stage::{Audience, Stage};

    /// Counts knaves and riderless geese in the picture of a match of two, `left` frames after its
    /// end.
    fn seen(left: u16) -> (usize, usize) {
        let mut game = Gander::new(Setup::default(), 1);
        (game.wave.phase, game.wave.left) = (Phase::Over, left);
        game.riders[0].live = true;
        // In the middle: near the edge it would be drawn twice.
        game.riders[0].mover.x = arena::WIDTH * arena::PX / 2;
        game.players[..2].iter_mut().for_each(|player| player.seat = Seat::Out);
        let mut stage = Stage::new(View::fit(640, 360, arena::WIDTH, arena::HEIGHT));
        let mut scene = Scene::default();
        stage.draw(&game, &game, 1.0, &Audience::default(), &mut scene);
        let shown: Vec<ImageId> = scene
            .art
            .iter()
            .filter_map(|item| if let Item::Image { image, .. } = item { Some(*image) } else { None })
            .collect();
        let count = |of: &dyn Fn(Pose, usize) -> ImageId| {
            let poses = [Pose::Stand, Pose::Turn, Pose::Up, Pose::Mid, Pose::Beat, Pose::TurnAir];
            let images = poses.into_iter().flat_map(|pose| (0..LIGHTS).map(move |light| of(pose, light)));
            images.map(|wanted| shown.iter().filter(|image| **image == wanted).count()).sum()
        };
        let geese = &stage.geese;
        (
            count(&|pose, light| geese.ridden(SEATS, pose, light)),
            count(&|pose, light| geese.bare(0, pose, light)),
        )
    }

    #[test]
    fn match_end_removes_riders_and_leaves_geese_standing() {
        assert_eq!(seen(0), (1, 0));
        assert_eq!(seen(END_FRAMES as u16 + 60), (0, 2), "one goose for each player");
    }
}
