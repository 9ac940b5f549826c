//! Places where bodies enter the fen: knights and riders on pads, eggs of an egg wave on ledges.
//!
//! Called by `flow.rs` and `tick.rs`. Absent: when they enter.

use crate::Gander;
use crate::arena::{LEDGE, LEDGES, PAD, PADS, PX, apart, wrap};
use crate::cue::{Kind, Mark};
use crate::egg::{EGGS, Egg, EggPhase, wait_frames};
use crate::ledges::Ground;
use crate::mind::Mind;
use crate::mover::Mover;
use crate::player::{SAFE_FRAMES, SEATS, Seat};
use crate::rider::{Class, EGGS_EACH, EMERGE_FRAMES, Rider};
use crate::waves::EGG_WAVE_EGGS;

/// Distance below which a knight or rider occupies a pad, in sub-pixels.
const PAD_ROOM: i32 = 26 * PX;
/// Distance from every knight at which a rider should appear, in sub-pixels.
const RIDER_ROOM: i32 = 90 * PX;
/// Pixels between two places for eggs on a ledge.
const EGG_PITCH: i32 = 8;

impl Gander {
    /// Puts a knight on its own pad or the next free one, safe until it moves.
    pub(crate) fn seat_knight(&mut self, seat: usize, ground: &Ground) {
        let preference = (0..PADS).map(|n| (seat + n) % PADS);
        let free = |&pad: &usize| ground.bears(PAD[pad].ledge) && self.pad_is_free(pad, seat);
        let pad = preference
            .clone()
            .find(free)
            .or_else(|| preference.clone().find(|&pad| ground.bears(PAD[pad].ledge)));
        let spot = &PAD[pad.unwrap_or(0)];
        let (x, y) = (spot.x * PX, LEDGE[spot.ledge].top * PX);
        let player = &mut self.players[seat];
        player.seat = Seat::Riding;
        player.safe = SAFE_FRAMES;
        player.mover = Mover::standing(x, y, spot.x > 200);
        self.mark(Mark { by: seat as u8, ..Mark::at(Kind::Appear, seat, x, y) });
    }

    /// Whether neither a rider nor a knight other than `seat` is at the pad.
    fn pad_is_free(&self, pad: usize, seat: usize) -> bool {
        let (x, y) = (PAD[pad].x * PX, LEDGE[PAD[pad].ledge].top * PX);
        let near = |mover: &Mover| apart(x, mover.x).abs() < PAD_ROOM && (mover.y - y).abs() < PAD_ROOM;
        let knights = self
            .players
            .iter()
            .enumerate()
            .any(|(n, knight)| n != seat && knight.riding() && near(&knight.mover));
        !knights && !self.riders.iter().any(|rider| rider.live && near(&rider.mover))
    }

    /// Whether a knight that cannot be touched, or an appearing rider, is at the pad.
    fn pad_is_sacred(&self, pad: usize) -> bool {
        let (x, y) = (PAD[pad].x * PX, LEDGE[PAD[pad].ledge].top * PX);
        let near = |mover: &Mover| apart(x, mover.x).abs() < PAD_ROOM && (mover.y - y).abs() < PAD_ROOM;
        self.players.iter().any(|knight| knight.riding() && knight.safe > 0 && near(&knight.mover))
            || self.riders.iter().any(|rider| rider.live && rider.emerging > 0 && near(&rider.mover))
    }

    /// Lets a rider of the wave's queue appear. False if there is no place or pad for it.
    pub(crate) fn send_rider(&mut self, class: Class, ground: &Ground) -> bool {
        let Some(number) = self.riders.iter().position(|rider| !rider.live) else { return false };
        let Some(pad) = self.choose_pad(ground) else { return false };
        let (x, y) = (PAD[pad].x * PX, LEDGE[PAD[pad].ledge].top * PX);
        let dir = if self.random.chance(1, 2) { -1 } else { 1 };
        self.riders[number] = Rider {
            live: true,
            class,
            eggs: EGGS_EACH,
            emerging: EMERGE_FRAMES,
            mover: Mover::standing(x, y, dir < 0),
            mind: Mind { dir, lane: (LEDGE[PAD[pad].ledge].top - 20).max(38) as u8, ..Mind::default() },
        };
        let look = SEATS as u8 + class as u8;
        self.mark(Mark { look, ..Mark::at(Kind::Appear, SEATS + number, x, y) });
        true
    }

    /// A free pad for a rider: a random one far from all knights, or else the farthest.
    fn choose_pad(&mut self, ground: &Ground) -> Option<usize> {
        let distance = |pad: usize| {
            let (x, y) = (PAD[pad].x * PX, LEDGE[PAD[pad].ledge].top * PX);
            let far = |mover: &Mover| apart(x, mover.x).abs() + (mover.y - y).abs();
            self.players
                .iter()
                .filter(|knight| knight.riding())
                .map(|knight| far(&knight.mover))
                .min()
                .unwrap_or(i32::MAX)
        };
        let free = |pad: &usize| ground.bears(PAD[*pad].ledge) && self.pad_is_free(*pad, SEATS);
        // With all pads occupied, those of knights that can be touched are used: standing on a pad
        // must not keep riders away for ever.
        let spare = |pad: &usize| ground.bears(PAD[*pad].ledge) && !self.pad_is_sacred(*pad);
        let any_free = (0..PADS).any(|pad| free(&pad));
        let usable = |pad: &usize| if any_free { free(pad) } else { spare(pad) };
        let mut far = [0; PADS];
        let mut count = 0;
        let mut farthest = None;
        for pad in (0..PADS).filter(usable) {
            if distance(pad) >= RIDER_ROOM {
                far[count] = pad;
                count += 1;
            }
            if farthest.is_none_or(|other| distance(pad) > distance(other)) {
                farthest = Some(pad);
            }
        }
        if count > 0 { Some(far[self.random.below(count as u32) as usize]) } else { farthest }
    }

    /// Lays the eggs of an egg wave: one on each ledge first, then on random ledges, never two in
    /// one place.
    pub(crate) fn lay_eggs(&mut self, class: Class, players: usize, extra: usize) {
        let wait = wait_frames(self.wave.number) / if players > 1 { 2 } else { 1 };
        let count = (EGG_WAVE_EGGS + extra).min(EGGS);
        for number in 0..count {
            let ledge = if number < LEDGES { number } else { self.random.below(LEDGES as u32) as usize };
            let Some((x, y)) = self.free_egg_place(ledge) else { continue };
            // Two eggs hatch early, so that players cannot collect all in peace.
            let wait = if number < 2 { wait / 2 } else { wait + self.random.below(240) as u16 };
            self.eggs[number] = Egg {
                phase: EggPhase::Resting,
                class,
                eggs: EGGS_EACH,
                x,
                y,
                landed: true,
                wait,
                ..Egg::default()
            };
        }
    }

    /// A random place of this ledge without an egg.
    fn free_egg_place(&mut self, ledge: usize) -> Option<(i32, i32)> {
        let ledge = &LEDGE[ledge];
        let places = (ledge.width - 8) / EGG_PITCH;
        let first = self.random.below(places as u32) as i32;
        (0..places)
            .map(|n| wrap((ledge.x + 8 + (first + n) % places * EGG_PITCH) * PX))
            .find(|&x| {
                self.eggs.iter().all(|egg| {
                    egg.phase == EggPhase::None
                        || egg.y != ledge.top * PX
                        || apart(egg.x, x).abs() >= EGG_PITCH * PX
                })
            })
            .map(|x| (x, ledge.top * PX))
    }

    /// Turns a hatchling into a rider. False if there is no place for it.
    pub(crate) fn mount(&mut self, egg: usize) -> bool {
        let Some(number) = self.riders.iter().position(|rider| !rider.live) else { return false };
        let Egg { class, eggs, x, y, bird, .. } = self.eggs[egg];
        let dir = if bird.left { -1 } else { 1 };
        self.riders[number] = Rider {
            live: true,
            class,
            eggs,
            emerging: 0,
            mover: Mover::standing(x, y, bird.left),
            mind: Mind { dir, lane: ((y / PX) - 20).clamp(38, 182) as u8, ..Mind::default() },
        };
        self.eggs[egg] = Egg::default();
        let look = SEATS as u8 + class as u8;
        self.mark(Mark { look, ..Mark::at(Kind::Mounted, SEATS + number, x, y) });
        true
    }

    /// Riders up, including those still appearing.
    pub(crate) fn riders_up(&self) -> usize {
        self.riders.iter().filter(|rider| rider.live).count()
    }
}
