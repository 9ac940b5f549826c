//! The course of a match: waves begin, send their riders, drag on, end and pay; the match ends when
//! nobody has a goose left, and begins again when somebody asks for it.

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

/// Frames from the sign to the first rider.
pub const INTRO_FRAMES: u16 = 90;
/// Frames from the last egg to the next sign.
pub const CLEAR_FRAMES: u16 = 120;
/// Frames the end of a match is shown before anybody can start another.
pub const OVER_FRAMES: u16 = 150;
/// Frames between two riders of a wave.
const SEND_APART: u8 = 40;
/// Seconds until a Hern comes to hurry a wave along, one after the other; the last repeats.
const BAIT_SECONDS: [u16; 9] = [60, 45, 30, 15, 15, 7, 5, 3, 1];
/// Every so many frames of a wave riders grow more hasty, and one more of them hunts.
const HASTE_FRAMES: u16 = 900;

/// Where a match stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// Nobody is here.
    #[default]
    Empty,
    /// The sign of a new wave is up.
    Intro,
    /// The wave is being fought.
    Play,
    /// The wave is won.
    Clear,
    /// Nobody has a goose left.
    Over,
}

/// The wave that is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Wave {
    /// Counted from 1.
    pub number: u16,
    /// What it is about.
    pub kind: WaveKind,
    /// Where it stands.
    pub phase: Phase,
    /// Frames left of an intro or a clear; frames of an end so far.
    pub left: u16,
    /// Knaves, reeves and wraiths still to come.
    pub queue: [u8; 3],
    /// Frames until the next of them.
    pub send_in: u8,
    /// Most riders in the saddle at once for another egg to hatch.
    pub limit: u8,
    /// How many riders hunt.
    pub pursuers: u8,
    /// Herns of the wave still to come.
    pub herns: u8,
    /// Frames until the next of them.
    pub hern_in: u16,
    /// Frames until the next Hern that hurries things along.
    pub bait_in: u16,
    /// Which interval comes after that.
    #[state(range = 0..=BAIT_SECONDS.len() as u8 - 1)]
    pub bait_step: u8,
    /// Frames of jousting so far, at most 65 535.
    pub age: u16,
    /// Knights that took part when it began.
    pub players: u8,
    /// A knight has unseated another.
    pub struck: bool,
    /// The bounty is gone.
    pub bounty_paid: bool,
}

impl Wave {
    /// How hasty riders have become.
    pub const fn haste(&self) -> u8 {
        (self.age / HASTE_FRAMES) as u8
    }
}

impl Gander {
    /// One frame of the match's course. `pads` is what everybody does, `ground` what bears.
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

    /// After a moment, whoever presses flap anew starts another match for all.
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

    /// Everything anew, with the same people.
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
            // Every fifth wave those who are out get another chance.
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
        // Any of those still to come, each equally likely: the same as shuffling them beforehand.
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
        // A wave can only drag once everybody has come.
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

    /// A Hern cries beyond the edge and will be here soon, unless there are enough.
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

    /// Alone, for staying in the saddle. In a team, for everybody staying in the saddle. In versus,
    /// for leaving each other in it.
    fn pay_together(&mut self) {
        let alone = self.wave.players <= 1;
        let somebody_fell = self.players.iter().any(|player| player.present() && player.deeds.fell);
        let earned = if alone || self.setup.mode == Mode::Team { !somebody_fell } else { !self.wave.struck };
        for seat in 0..SEATS {
            let player = &self.players[seat];
            if earned && player.playing() && player.deeds.whole {
                self.pay_bonus(seat);
            }
        }
    }

    /// In a team nobody can be unseated for the bounty: it goes to the sharpest lance of the wave.
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

    /// Knights whose time has come appear.
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

    /// Nobody is left: the fen waits for the next guest.
    pub(crate) fn empty(&mut self) {
        self.wave = Wave::default();
        self.riders = [Rider::default(); crate::rider::RIDERS];
        self.eggs = [Egg::default(); crate::egg::EGGS];
        self.herns = Default::default();
        self.clutch = Clutch::default();
    }
}
