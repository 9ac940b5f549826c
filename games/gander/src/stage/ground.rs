//! Pictures of ledges, bridges and pads in their present state.
//!
//! Called by `stage.rs`. Absent: their images (`turf.rs`), their rules.

use gaggle_scene::palette;

use super::{Painter, copies, turf};
use crate::Gander;
use crate::arena::{self, LEDGE, LEDGES, PAD, PX};
use crate::cue::Kind;
use crate::ledges::{LEDGE_FRAMES, LedgePhase};
use crate::mover::Mover;
use crate::pits::{self, BURN_FRAMES, PLANK};
use crate::player::{GRACE_FRAMES, SEATS};

impl Painter<'_> {
    pub(super) fn ledges(&mut self, game: &Gander) {
        for (number, ledge) in LEDGE[..LEDGES - 1].iter().enumerate() {
            let state = &game.ledges.state[number];
            let left = f32::from(state.left) - self.between;
            let (drop, shown) = match state.phase {
                LedgePhase::There => (0.0, 16),
                LedgePhase::Gone => (self.falling(game, number), 16),
                LedgePhase::Leaving => {
                    let tremble = if self.calm { 0.0 } else { ((left / 3.0) as i32 % 2) as f32 };
                    self.ledge_dust(number, f32::from(LEDGE_FRAMES) - left, f32::from(LEDGE_FRAMES));
                    (1.0 + tremble, 16)
                }
                LedgePhase::Returning => {
                    let part = 1.0 - left / f32::from(LEDGE_FRAMES);
                    ((1.0 - part) * 10.0, (part * 16.0) as u8)
                }
            };
            if drop < 200.0 {
                let y = (ledge.top - turf::MARGIN.1) as f32 + drop.floor();
                for x in copies((ledge.x - turf::MARGIN.0) as f32, ledge.width as f32 + 6.0, self.view) {
                    self.push(self.turf.ledges[number], x, y, false, shown, None);
                }
            }
        }
    }

    /// Pixels that a ledge has fallen since it dropped.
    fn falling(&self, game: &Gander, number: usize) -> f32 {
        let drop = game
            .marks
            .recent(game.frame, 60)
            .find(|mark| mark.kind == Kind::LedgeDrop && usize::from(mark.who) == number);
        drop.map_or(f32::MAX, |mark| {
            let age = game.frame.wrapping_sub(mark.frame) as f32 + self.between;
            age * age * 0.08
        })
    }

    pub(super) fn bridges(&mut self, game: &Gander) {
        let bridges = &game.bridges;
        let burnt = f32::from(bridges.burnt);
        if bridges.burnt >= BURN_FRAMES {
            return;
        }
        let rock = &LEDGE[arena::HEARTHSTONE];
        let mut along = 0;
        while along < arena::WIDTH - rock.width {
            let x = (rock.x + rock.width + along) % arena::WIDTH;
            let y = (pits::hang(x * PX) as f32 / PX as f32).floor();
            let there = bridges.plank(x);
            let fell = plank_age(x, burnt);
            let soon = bridges.burnt > 0 && fell > -16.0;
            let drop = if there { 0.0 } else { fell * fell * 0.12 };
            if drop < 24.0 {
                for x in copies(x as f32, PLANK as f32, self.view) {
                    self.push(self.turf.planks[usize::from(soon)], x, y + drop, false, 16, None);
                    if there {
                        self.rope(x, y, along);
                    }
                }
            }
            if soon && fell < 14.0 && along % (2 * PLANK) == 0 {
                let height = 4 + (fell + 16.0) as i32 / 6;
                self.flame(x as f32 + 1.0, y + drop.min(8.0), height, along as f32 * 7.0);
            }
            along += PLANK;
        }
    }

    fn rope(&mut self, x: f32, y: f32, along: i32) {
        let (post, slack) = (along % 12 == 0, along % 12 == 4);
        let rope = palette::PEAT[3].mix(palette::PEAT[4], 0.3);
        let rise = if slack { 5.0 } else { 6.0 };
        self.scene.blend(x, y - rise, 4.0, 1.0, rope, 1.0);
        if post {
            self.scene.blend(x, y - 7.0, 1.0, 7.0, palette::PEAT[4], 1.0);
            self.scene.dot(x, y - 7.0, palette::SEDGE[4]);
        }
    }

    /// Draws pads, and light where a knight or rider appears.
    pub(super) fn pads(&mut self, game: &Gander) {
        let solid = game.ledges.solid();
        for (seat, pad) in PAD.iter().enumerate() {
            if solid & 1 << pad.ledge == 0 || game.ledges.state[pad.ledge].phase == LedgePhase::Leaving {
                continue;
            }
            let (x, y) = (pad.x, LEDGE[pad.ledge].top);
            let stone = palette::PEAT[4].mix(palette::MIST[1], 0.25);
            self.scene.fill(x - 12, y, 25, 2, stone);
            self.scene.fill(x - 11, y - 1, 23, 1, stone.mix(palette::MOON, 0.3));
            let color = palette::SEAT[seat]
                .mix(palette::PEAT[3], if game.players[seat].present() { 0.3 } else { 0.75 });
            for stud in -2..=2 {
                self.scene.fill(x + stud * 5 - 1, y, 2, 1, color);
            }
        }
        for (seat, player) in game.players.iter().enumerate() {
            if player.riding() && player.safe > GRACE_FRAMES {
                self.column(&player.mover, seat);
            }
        }
        for rider in game.riders.iter().filter(|rider| rider.live && rider.emerging > 0) {
            self.column(&rider.mover, SEATS);
        }
    }

    fn column(&mut self, mover: &Mover, seat: usize) {
        let (x, y) = ((mover.x / PX) as f32, (mover.y / PX) as f32);
        self.scene.image(self.creatures.columns[seat], x - 14.0, y - 34.0);
    }
}

/// Frames since the plank at pixel `x` fell; negative before.
fn plank_age(x: i32, burnt: f32) -> f32 {
    let (middle, reach) = pits::BRIDGE[usize::from(x > arena::WIDTH / 2)];
    let far = ((x.div_euclid(PLANK) * PLANK + PLANK / 2) - middle).abs();
    burnt - (far * i32::from(BURN_FRAMES)) as f32 / (reach + PLANK) as f32
}
