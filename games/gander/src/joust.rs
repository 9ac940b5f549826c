//! Meetings of knights, riders, Herns and eggs: the higher lance wins.
//!
//! All meetings of a frame are judged on the same positions before any of them changes the state,
//! so that no slot has an advantage. Called by `tick.rs` at the end of a frame. Absent: movement.

use crate::arena::{DROWN, PX, apart, row};
use crate::cue::{Kind, Mark, NO_SLOT};
use crate::egg::{EGG_FRESH, EGG_TALL, EGGS, Egg, EggPhase, wait_frames};
use crate::hern::{HERN_POINTS, HERNS, Hern, Meeting};
use crate::mover::{Mover, TALL};
use crate::player::{Player, SEATS, Seat, WAIT_FRAMES};
use crate::rider::{RIDERS, Rider};
use crate::score::{BONUS_POINTS, EGG_POINTS, ENDLESS, FALL_POINTS, KNIGHT_POINTS, MIDAIR_POINTS, Reason};
use crate::waves::WaveKind;
use crate::{Gander, Mode};

/// Horizontal distance below which two geese touch, in sub-pixels.
const REACH: i32 = 16 * PX;
/// Least horizontal step after a bounce.
const BOUNCE_SPEED: i8 = 2;
/// Upward speed a bounce off the lower goose adds, in sub-pixels a frame.
const BOUNCE_LIFT: i32 = 48;

/// The first lance compared with the second, in whole rows of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Height {
    Above,
    Level,
    Below,
}

fn compare(a: &Mover, b: &Mover) -> Height {
    match row(a.lance()).cmp(&row(b.lance())) {
        std::cmp::Ordering::Less => Height::Above,
        std::cmp::Ordering::Equal => Height::Level,
        std::cmp::Ordering::Greater => Height::Below,
    }
}

fn touch(a: &Mover, b: &Mover) -> bool {
    (a.y - b.y).abs() < TALL && apart(a.x, b.x).abs() < REACH
}

/// Results of all meetings of a frame, before any is executed.
#[derive(Debug, Clone, Copy, Default)]
struct Verdict {
    /// Slots that unseat each rider, one bit each.
    riders: [u8; RIDERS],
    /// Slots that unseat each knight, one bit each.
    knights: [u8; SEATS],
    /// Slots that kill each Hern, one bit each.
    herns: [u8; HERNS],
    /// Knights that fall, for any reason.
    falls: [bool; SEATS],
    /// Falls that are in the fire.
    burns: [bool; SEATS],
}

impl Gander {
    /// Judges all meetings of this frame, then executes them: points first, falls last.
    pub(crate) fn meet(&mut self) {
        let verdict = self.judge();
        self.rebound();
        for number in 0..RIDERS {
            if verdict.riders[number] != 0 {
                self.unseat_rider(number, verdict.riders[number]);
            } else if self.riders[number].live && self.riders[number].mover.y > DROWN * PX {
                self.drown_rider(number);
            }
        }
        for number in 0..HERNS {
            if verdict.herns[number] != 0 {
                self.kill_hern(number, verdict.herns[number]);
            }
        }
        self.take_eggs();
        for seat in 0..SEATS {
            self.reward_duel(seat, verdict.knights[seat]);
        }
        for seat in 0..SEATS {
            if verdict.falls[seat] {
                self.fall(seat, verdict.burns[seat]);
            }
        }
    }

    fn judge(&self) -> Verdict {
        let mut verdict = Verdict::default();
        for (seat, knight) in self.players.iter().enumerate().filter(|(_, knight)| knight.riding()) {
            if knight.mover.y > DROWN * PX {
                verdict.falls[seat] = true;
                verdict.burns[seat] = true;
            }
            if !knight.tangible() {
                continue;
            }
            for (number, rider) in self.riders.iter().enumerate() {
                if rider.tangible() && touch(&knight.mover, &rider.mover) {
                    match compare(&knight.mover, &rider.mover) {
                        Height::Above => verdict.riders[number] |= 1 << seat,
                        Height::Below => verdict.falls[seat] = true,
                        Height::Level => {}
                    }
                }
            }
            for (number, hern) in self.herns.iter().enumerate() {
                match hern.meets(&knight.mover) {
                    Some(Meeting::Killed) => verdict.herns[number] |= 1 << seat,
                    Some(Meeting::Struck) => verdict.falls[seat] = true,
                    None => {}
                }
            }
            if self.setup.mode == Mode::Versus {
                self.judge_duels(seat, &mut verdict);
            }
        }
        verdict
    }

    /// Records which rivals unseat the knight in `seat`.
    fn judge_duels(&self, seat: usize, verdict: &mut Verdict) {
        let knight = &self.players[seat];
        for (other, rival) in self.players.iter().enumerate() {
            if other != seat
                && rival.tangible()
                && touch(&knight.mover, &rival.mover)
                && compare(&rival.mover, &knight.mover) == Height::Above
            {
                verdict.knights[seat] |= 1 << other;
                verdict.falls[seat] = true;
            }
        }
    }

    /// Bounces every pair that touches and in which neither wins.
    fn rebound(&mut self) {
        for a in 0..SEATS + RIDERS {
            if !self.tangible(a) {
                continue;
            }
            for b in a + 1..SEATS + RIDERS {
                if !self.tangible(b) {
                    continue;
                }
                let (first, second) = (*self.mover(a), *self.mover(b));
                if !touch(&first, &second) {
                    continue;
                }
                let allies = match (a < SEATS, b < SEATS) {
                    (true, true) => self.setup.mode == Mode::Team,
                    (false, false) => true,
                    _ => false,
                };
                if !allies && compare(&first, &second) != Height::Level {
                    continue;
                }
                let (mut first, mut second) = (first, second);
                if bounce(&mut first, &mut second) {
                    *self.mover_mut(a) = first;
                    *self.mover_mut(b) = second;
                    // Two riders bump into each other all the time: only a knight's bounce makes a
                    // sound.
                    if a < SEATS {
                        let x = first.x + apart(first.x, second.x) / 2;
                        let who = a * (SEATS + RIDERS) + b;
                        self.mark(Mark::at(Kind::Bounce, who, x, first.lance()));
                    }
                }
            }
        }
        for a in 0..HERNS {
            let (front, back) = self.herns.split_at_mut(a + 1);
            for other in back {
                front[a].bounce(other);
            }
        }
    }

    /// Whether body `n` can be touched. Knights are 0 to 3, riders follow.
    fn tangible(&self, n: usize) -> bool {
        if n < SEATS { self.players[n].tangible() } else { self.riders[n - SEATS].tangible() }
    }

    pub(crate) fn mover(&self, n: usize) -> &Mover {
        if n < SEATS { &self.players[n].mover } else { &self.riders[n - SEATS].mover }
    }

    pub(crate) fn mover_mut(&mut self, n: usize) -> &mut Mover {
        if n < SEATS { &mut self.players[n].mover } else { &mut self.riders[n - SEATS].mover }
    }

    fn unseat_rider(&mut self, number: usize, by: u8) {
        let rider = self.riders[number];
        let (x, y) = (rider.mover.x, rider.mover.y);
        for seat in seats(by) {
            self.players[seat].tally.jousts = self.players[seat].tally.jousts.saturating_add(1);
            self.players[seat].deeds.jousts = self.players[seat].deeds.jousts.saturating_add(1);
            let who = Reason::Rider.id(number, seat);
            self.award(seat, rider.class.points(), Mark::at(Kind::Points, who, x, y - TALL));
        }
        let winner = by.trailing_zeros() as u8;
        self.mark(Mark {
            by: winner,
            look: SEATS as u8 + rider.class as u8,
            left: rider.mover.left,
            ..Mark::at(Kind::Clang, SEATS + number, x, y)
        });
        self.riders[number] = Rider::default();
        if rider.eggs > 0 {
            self.drop_egg(&rider);
        }
    }

    fn drop_egg(&mut self, rider: &Rider) {
        let wait = wait_frames(self.wave.number);
        let Some(egg) = self.eggs.iter_mut().find(|egg| egg.phase == EggPhase::None) else { return };
        *egg = Egg {
            phase: EggPhase::Falling,
            class: rider.class,
            eggs: rider.eggs - 1,
            x: rider.mover.x,
            y: rider.mover.y - 6 * PX,
            vx: rider.mover.vx() as i16,
            vy: rider.mover.vy,
            fresh: EGG_FRESH,
            wait,
            ..Egg::default()
        };
    }

    fn drown_rider(&mut self, number: usize) {
        let rider = self.riders[number];
        self.mark(Mark {
            look: SEATS as u8 + rider.class as u8,
            ..Mark::at(Kind::Splash, SEATS + number, rider.mover.x, rider.mover.y)
        });
        self.riders[number] = Rider::default();
    }

    fn kill_hern(&mut self, number: usize, by: u8) {
        let Hern { x, y, left, .. } = self.herns[number];
        for seat in seats(by) {
            self.players[seat].tally.jousts = self.players[seat].tally.jousts.saturating_add(1);
            let who = Reason::Hern.id(number, seat);
            self.award(seat, HERN_POINTS, Mark::at(Kind::Points, who, x, y - 10 * PX));
        }
        self.mark(Mark { by: by.trailing_zeros() as u8, left, ..Mark::at(Kind::HernDown, number, x, y) });
        self.herns[number] = Hern::default();
    }

    /// Gives every egg to the nearest knight in reach; two at the same distance both get the
    /// points.
    fn take_eggs(&mut self) {
        for number in 0..EGGS {
            let egg = self.eggs[number];
            if !egg.takeable() {
                continue;
            }
            let reach = |knight: &Player| {
                let dx = apart(egg.x, knight.mover.x).abs();
                let near = dx < 11 * PX && egg.y > knight.mover.y - TALL && egg.y - EGG_TALL < knight.mover.y;
                (knight.riding() && !knight.appearing() && near)
                    .then(|| dx + (egg.y - EGG_TALL / 2 - (knight.mover.y - TALL / 2)).abs())
            };
            let Some(nearest) = self.players.iter().filter_map(reach).min() else { continue };
            for seat in 0..SEATS {
                if reach(&self.players[seat]) == Some(nearest) {
                    self.take_egg(number, seat);
                }
            }
            self.eggs[number] = Egg::default();
        }
    }

    fn take_egg(&mut self, number: usize, seat: usize) {
        let egg = self.eggs[number];
        let knight = &mut self.players[seat];
        let step = usize::from(knight.run).min(EGG_POINTS.len() - 1);
        knight.run = knight.run.saturating_add(1);
        knight.tally.eggs = knight.tally.eggs.saturating_add(1);
        let points = EGG_POINTS[step] + if egg.landed { 0 } else { MIDAIR_POINTS };
        let who = number * SEATS + seat;
        self.award(
            seat,
            points,
            Mark { look: step as u8, ..Mark::at(Kind::EggTaken, who, egg.x, egg.y - EGG_TALL) },
        );
    }

    /// Points for the knights that unseat the one in `seat`, and the bounty of the wave.
    fn reward_duel(&mut self, seat: usize, by: u8) {
        let (x, y) = (self.players[seat].mover.x, self.players[seat].mover.y - TALL);
        for winner in seats(by) {
            self.players[winner].tally.jousts = self.players[winner].tally.jousts.saturating_add(1);
            let who = Reason::Knight.id(seat, winner);
            self.award(winner, KNIGHT_POINTS, Mark::at(Kind::Points, who, x, y));
            self.wave.struck = true;
        }
        if by != 0 && self.wave.kind == WaveKind::Gladiator && !self.wave.bounty_paid {
            self.wave.bounty_paid = true;
            for winner in seats(by) {
                let who = Reason::Bounty.id(seat, winner);
                self.award(winner, BONUS_POINTS, Mark::at(Kind::Points, who, x, y - 10 * PX));
            }
        }
    }

    /// Takes the goose from the knight in `seat`. The picture lets it fly off.
    pub(crate) fn fall(&mut self, seat: usize, burnt: bool) {
        let (x, y, left) = {
            let mover = &self.players[seat].mover;
            (mover.x, mover.y, mover.left)
        };
        let kind = if burnt { Kind::Splash } else { Kind::Unseated };
        self.mark(Mark { left, ..Mark::at(kind, seat, x, y) });
        self.award(seat, FALL_POINTS, Mark::at(Kind::Points, Reason::Fall.id(0, seat), x, y - TALL));
        let endless = self.setup.mounts == ENDLESS;
        let player = &mut self.players[seat];
        player.tally.falls = player.tally.falls.saturating_add(1);
        player.tally.burns = player.tally.burns.saturating_add(u16::from(burnt));
        player.deeds.fell = true;
        player.run = 0;
        if !endless {
            player.mounts = player.mounts.saturating_sub(1);
        }
        player.seat = if player.mounts > 0 { Seat::Waiting } else { Seat::Out };
        player.wait = WAIT_FRAMES;
        player.mover = Mover::default();
        if usize::from(self.clutch.prey) == seat && self.clutch.prey != NO_SLOT {
            self.clutch.sink();
        }
    }
}

/// Turns both away from each other. False if they were already moving apart.
fn bounce(a: &mut Mover, b: &mut Mover) -> bool {
    let dx = apart(a.x, b.x);
    let side: i8 = if dx < 0 { -1 } else { 1 };
    let closing = (b.vx() - a.vx()) * i32::from(side) < 0;
    if closing {
        a.speed = -side * a.speed.abs().max(BOUNCE_SPEED);
        b.speed = side * b.speed.abs().max(BOUNCE_SPEED);
    }
    let dy = b.y - a.y;
    let falling_onto = dy.abs() > TALL / 2 && (i32::from(b.vy) - i32::from(a.vy)) * dy.signum() < 0;
    if falling_onto {
        let (upper, lower) = if dy > 0 { (&mut *a, &mut *b) } else { (&mut *b, &mut *a) };
        let force = (i32::from(upper.vy).abs().max(i32::from(lower.vy).abs()) / 2 + BOUNCE_LIFT) as i16;
        if !upper.grounded {
            upper.vy = -force;
        }
        if !lower.grounded {
            lower.vy = force;
        }
    }
    let bounced = closing || falling_onto;
    if bounced {
        a.since.bump = 0;
        b.since.bump = 0;
    }
    bounced
}

/// Slots in a set of one bit each.
fn seats(set: u8) -> impl Iterator<Item = usize> {
    (0..SEATS).filter(move |seat| set & 1 << seat != 0)
}
