//! Course of a match: start, waves and their riders, bonuses, end and restart.
//!
//! Called by `tick.rs` once a frame, before anything moves. Absent: the table of waves
//! (`waves.rs`), where riders appear (`spawn.rs`).

use gaggle_kit::State;

use crate::Gander;
use crate::arena::{PX, WIDTH};
use crate::cue::{Kind, Mark};
use crate::egg::{Egg, EggPhase};
use crate::hern::{CRY_FRAMES, HERN_APART, Hern};
use crate::ledges::{Ground, LedgePhase};
use crate::pad::Pad;
use crate::pits::{BRIDGE, hang};
use crate::player::{Deeds, Player, SEATS, Seat};
use crate::rider::{Class, Rider};
use crate::score::{BONUS_POINTS, Reason};
use crate::waves::{BRIDGES_BURN, CROWD, WaveKind, plan};
use crate::{Clutch, Mode};

/// Frames from the announcement of a wave to its first rider.
pub const INTRO_FRAMES: u16 = 90;
/// Frames from the last egg of a wave to the next announcement.
pub const CLEAR_FRAMES: u16 = 120;
/// Frames the final table is shown before a player can start the next match.
pub const OVER_FRAMES: u16 = 150;
/// Frames between two riders of a wave.
const SEND_APART: u8 = 40;
/// Seconds until each Hern that hurries a wave along; the last interval repeats.
const BAIT_SECONDS: [u16; 9] = [60, 45, 30, 15, 15, 7, 5, 3, 1];
/// Frames of a wave after which riders get one step hastier, and one more of them hunts.
const HASTE_FRAMES: u16 = 900;

/// Phase of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// No player is present.
    #[default]
    Empty,
    /// A new wave is announced; no rider has come yet.
    Intro,
    /// Riders come and fight.
    Play,
    /// The wave is won; a pause before the next.
    Clear,
    /// No player has a goose left.
    Over,
}

/// State of the current wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Wave {
    /// Number of the wave, counted from 1.
    pub number: u16,
    /// Bonus or danger of the wave.
    pub kind: WaveKind,
    /// Phase of the match.
    pub phase: Phase,
    /// Frames left of `Intro` and `Clear`; in `Over`, frames so far.
    pub left: u16,
    /// Knaves, reeves and wraiths still to come.
    pub queue: [u8; 3],
    /// Frames until the next rider may appear.
    pub send_in: u8,
    /// An egg hatches only while fewer riders than this are in the air or standing.
    pub limit: u8,
    /// Riders that hunt at the same time; each step of haste adds one.
    pub pursuers: u8,
    /// Herns of the plan still to come.
    pub herns: u8,
    /// Frames until the next of `herns`.
    pub hern_in: u16,
    /// Frames until the next Hern that hurries the wave along.
    pub bait_in: u16,
    /// Index in `BAIT_SECONDS` of the interval that `bait_in` counts down.
    #[state(range = 0..=BAIT_SECONDS.len() as u8 - 1)]
    pub bait_step: u8,
    /// Frames of `Play` so far, at most 65,535.
    pub age: u16,
    /// Players present when it began.
    pub players: u8,
    /// Whether a knight has unseated another knight.
    pub struck: bool,
    /// Whether the bounty of a gladiator wave is paid.
    pub bounty_paid: bool,
}

impl Wave {
    /// Steps of haste so far, one per 900 frames of play.
    pub const fn haste(&self) -> u8 {
        (self.age / HASTE_FRAMES) as u8
    }
}

impl Gander {
    /// Advances the phase, sends riders and Herns, and lets waiting knights appear.
    pub(crate) fn flow(&mut self, pads: &[Pad; SEATS], ground: &Ground) {
        let on = matches!(self.wave.phase, Phase::Intro | Phase::Play | Phase::Clear);
        if on && !self.players.iter().any(Player::playing) {
            self.end_match();
        }
        match self.wave.phase {
            Phase::Empty => {
                if self.players.iter().any(Player::present) {
                    self.start_match();
                }
            }
            Phase::Intro => {
                self.wave.left = self.wave.left.saturating_sub(1);
                if self.wave.left == 0 {
                    self.wave.phase = Phase::Play;
                }
            }
            Phase::Play => self.play(ground),
            Phase::Clear => {
                self.wave.left = self.wave.left.saturating_sub(1);
                if self.wave.left == 0 {
                    self.start_wave(self.wave.number.saturating_add(1));
                }
            }
            Phase::Over => self.wait_for_another(pads),
        }
        self.seat_waiting(ground);
    }

    /// Restarts the match when a present player presses flap anew, [`OVER_FRAMES`] after the end.
    fn wait_for_another(&mut self, pads: &[Pad; SEATS]) {
        self.wave.left = self.wave.left.saturating_add(1);
        if self.wave.left < OVER_FRAMES {
            return;
        }
        let mut asked = false;
        for (player, pad) in self.players.iter_mut().zip(pads).filter(|(player, _)| player.present()) {
            asked |= pad.flap && player.let_go;
            player.let_go |= !pad.flap;
        }
        if asked {
            self.start_match();
        }
    }

    /// Resets everything but the roster, and begins the first wave.
    pub(crate) fn start_match(&mut self) {
        self.riders = Default::default();
        self.eggs = Default::default();
        self.herns = Default::default();
        self.clutch = Clutch::default();
        self.bridges = Default::default();
        for player in &mut self.players {
            *player = if player.present() { Player::arriving(self.setup.mounts) } else { Player::default() };
        }
        self.start_wave(self.setup.first_wave.max(1));
    }

    fn start_wave(&mut self, number: u16) {
        let players = self.players.iter().filter(|player| player.present()).count();
        let plan = plan(number, players);
        self.wave = Wave {
            number,
            kind: plan.kind,
            phase: Phase::Intro,
            left: INTRO_FRAMES,
            limit: plan.total(),
            pursuers: plan.pursuers,
            herns: plan.herns,
            hern_in: 2 * HERN_APART,
            bait_step: (number - 1).min(2) as u8,
            players: players as u8,
            ..Wave::default()
        };
        self.wave.bait_in = 60 * BAIT_SECONDS[usize::from(self.wave.bait_step)];
        self.arrange_ledges(plan.gone);
        if number >= BRIDGES_BURN && self.bridges.burnt == 0 {
            self.bridges.ignite();
            for (side, (middle, _)) in BRIDGE.into_iter().enumerate() {
                self.mark(Mark::at(Kind::Burn, side, middle * PX, hang(middle * PX)));
            }
        }
        for player in &mut self.players {
            player.run = 0;
            player.deeds = Deeds { whole: player.present(), ..Deeds::default() };
            // Every fifth wave gives a player without geese one more.
            if plan.kind == WaveKind::Egg && player.seat == Seat::Out {
                player.mounts = 1;
                player.seat = Seat::Waiting;
                player.wait = 1;
            }
        }
        if plan.kind == WaveKind::Egg {
            let class = plan.riders.iter().position(|&count| count > 0).map_or(Class::Knave, Class::nth);
            self.lay_eggs(class, players, usize::from(CROWD) * players.saturating_sub(2));
        } else {
            self.wave.queue = plan.riders;
        }
        self.mark(Mark::at(Kind::Wave, 0, WIDTH * PX / 2, 0));
    }

    fn arrange_ledges(&mut self, gone: u8) {
        let before = self.ledges;
        self.ledges.arrange(gone);
        for (number, ledge) in crate::arena::LEDGE.iter().enumerate() {
            if self.ledges.state[number].phase != before.state[number].phase {
                let leaving = self.ledges.state[number].phase == LedgePhase::Leaving;
                let kind = if leaving { Kind::LedgeShake } else { Kind::LedgeRise };
                self.mark(Mark::at(kind, number, ledge.middle(), ledge.top * PX));
            }
        }
    }

    fn play(&mut self, ground: &Ground) {
        self.wave.age = self.wave.age.saturating_add(1);
        self.send_riders(ground);
        self.send_herns();
        let eggs_left = self.eggs.iter().any(|egg| egg.phase != EggPhase::None);
        if self.wave.queue == [0; 3] && self.riders_up() == 0 && !eggs_left {
            self.end_wave();
        }
    }

    fn end_match(&mut self) {
        self.wave.phase = Phase::Over;
        self.wave.left = 0;
        self.herns.iter_mut().for_each(Hern::dismiss);
        self.mark(Mark::at(Kind::GameOver, 0, WIDTH * PX / 2, 0));
    }

    fn send_riders(&mut self, ground: &Ground) {
        self.wave.send_in = self.wave.send_in.saturating_sub(1);
        let left = self.wave.queue.iter().map(|&count| u32::from(count)).sum();
        if self.wave.send_in > 0 || left == 0 {
            return;
        }
        // A draw weighted by what is left has the same odds as a queue shuffled beforehand.
        let mut pick = self.random.below(left);
        for class in 0..3 {
            let count = u32::from(self.wave.queue[class]);
            if pick < count {
                if self.send_rider(Class::nth(class), ground) {
                    self.wave.queue[class] -= 1;
                }
                break;
            }
            pick -= count;
        }
        self.wave.send_in = SEND_APART;
    }

    fn send_herns(&mut self) {
        if self.wave.herns > 0 {
            self.wave.hern_in = self.wave.hern_in.saturating_sub(1);
            if self.wave.hern_in == 0 && self.call_hern() {
                self.wave.herns -= 1;
                self.wave.hern_in = HERN_APART;
            }
        }
        // The interval runs only once all riders of the wave have come.
        if self.wave.queue == [0; 3] {
            self.wave.bait_in = self.wave.bait_in.saturating_sub(1);
        }
        if self.wave.bait_in == 0 {
            self.call_hern();
            let last = BAIT_SECONDS.len() as u8 - 1;
            self.wave.bait_step = (self.wave.bait_step + 1).min(last);
            self.wave.bait_in = 60 * BAIT_SECONDS[usize::from(self.wave.bait_step)];
        }
    }

    /// Lets a Hern cry at the edge, to arrive `CRY_FRAMES` later. False if all places are taken.
    fn call_hern(&mut self) -> bool {
        let Some(number) = self.herns.iter().position(|hern| !hern.live()) else { return false };
        let from_left = self.random.chance(1, 2);
        let y = self.random.range(40..=170) * PX;
        self.herns[number] = Hern::arriving(from_left, y, CRY_FRAMES as u8);
        let x = if from_left { 0 } else { (WIDTH - 1) * PX };
        self.mark(Mark { left: !from_left, ..Mark::at(Kind::Cry, number, x, y) });
        true
    }

    fn end_wave(&mut self) {
        self.wave.phase = Phase::Clear;
        self.wave.left = CLEAR_FRAMES;
        self.herns.iter_mut().for_each(Hern::dismiss);
        self.mark(Mark::at(Kind::Clear, 0, WIDTH * PX / 2, 0));
        match self.wave.kind {
            WaveKind::Together => self.pay_together(),
            WaveKind::Gladiator if self.setup.mode == Mode::Team => self.pay_sharpest(),
            _ => {}
        }
    }

    /// Pays the bonus of a `Together` wave: with one player or in team mode if no player fell, in
    /// versus mode if no knight was unseated by another.
    fn pay_together(&mut self) {
        let alone = self.wave.players <= 1;
        let any_fell = self.players.iter().any(|player| player.present() && player.deeds.fell);
        let earned = if alone || self.setup.mode == Mode::Team { !any_fell } else { !self.wave.struck };
        for seat in 0..SEATS {
            let player = &self.players[seat];
            if earned && player.playing() && player.deeds.whole {
                self.pay_bonus(seat);
            }
        }
    }

    /// Pays the bounty in team mode, where knights cannot unseat each other: to the most jousts
    /// won.
    fn pay_sharpest(&mut self) {
        let most =
            self.players.iter().filter(|player| player.present()).map(|player| player.deeds.jousts).max();
        for seat in 0..SEATS {
            let player = &self.players[seat];
            if self.wave.players > 1
                && player.present()
                && player.deeds.jousts > 0
                && Some(player.deeds.jousts) == most
            {
                self.pay_bonus(seat);
            }
        }
        self.wave.bounty_paid = true;
    }

    fn pay_bonus(&mut self, seat: usize) {
        let player = &self.players[seat];
        let (x, y) = (player.mover.x, player.mover.y - 20 * PX);
        self.award(seat, BONUS_POINTS, Mark::at(Kind::Points, Reason::Bonus.id(0, seat), x, y));
    }

    /// Counts down the waiting players and puts those who are due on their pads.
    fn seat_waiting(&mut self, ground: &Ground) {
        if self.wave.phase == Phase::Over {
            return;
        }
        for seat in 0..SEATS {
            let player = &mut self.players[seat];
            if player.seat == Seat::Waiting {
                let doubted = player.doubted();
                if !doubted {
                    player.wait = player.wait.saturating_sub(1);
                }
                if doubted || player.wait == 0 {
                    self.seat_knight(seat, ground);
                }
            }
        }
    }

    /// Clears the fen when the last player has left.
    pub(crate) fn empty(&mut self) {
        self.wave = Wave::default();
        self.riders = [Rider::default(); crate::rider::RIDERS];
        self.eggs = [Egg::default(); crate::egg::EGGS];
        self.herns = Default::default();
        self.clutch = Clutch::default();
    }
}
