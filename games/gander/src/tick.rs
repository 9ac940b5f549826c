//! One frame of a match: the parts in the order in which they act.
//!
//! Called by `game.rs`, by bots' matches and by tests. Absent: what a part decides, which is in its
//! own file; pictures.

use crate::Gander;
use crate::arena::{DROWN, HEARTHSTONE, LEDGE, PX, apart, wrap};
use crate::clutch::{ClutchEvent, FREE_POINTS, pull, tempting};
use crate::cue::{Kind, Mark, Murmur};
use crate::egg::{EGGS, EggEvent, EggPhase};
use crate::ledges::Ground;
use crate::mind::{Quarry, nearest};
use crate::mover::{Heard, TALL};
use crate::pad::Pad;
use crate::player::{GRACE_FRAMES, SEATS};
use crate::rider::RIDERS;
use crate::score::Reason;
use crate::waves::CLUTCH_WAKES;

impl Gander {
    /// Simulates one frame. `present` and `pads` are by slot; the pad of an absent player is
    /// ignored.
    pub fn step(&mut self, pads: &[Pad; SEATS], present: [bool; SEATS]) {
        self.frame = self.frame.wrapping_add(1);
        self.roll_call(pads, present);
        self.change_ground();
        let ground = self.ground();
        self.flow(pads, &ground);
        self.move_clutch();
        self.move_knights(pads, &ground);
        self.move_riders(&ground);
        self.move_herns(&ground);
        self.move_eggs(&ground);
        self.meet();
    }

    /// Ledges and bridge tiles that bear weight in this frame.
    pub fn ground(&self) -> Ground {
        Ground { solid: self.ledges.solid(), bridges: self.bridges }
    }

    fn change_ground(&mut self) {
        self.bridges.step();
        let changes = self.ledges.step();
        for (number, ledge) in LEDGE.iter().enumerate() {
            if changes.dropped & 1 << number != 0 {
                self.mark(Mark::at(Kind::LedgeDrop, number, ledge.middle(), ledge.top * PX));
            }
        }
    }

    fn move_clutch(&mut self) {
        if self.wave.number < CLUTCH_WAKES {
            return;
        }
        let prey = usize::from(self.clutch.prey);
        let there = match prey {
            0..SEATS => self.players[prey].tangible(),
            SEATS.. if prey < SEATS + RIDERS => self.riders[prey - SEATS].tangible(),
            _ => false,
        };
        let tempted = (0..SEATS + RIDERS)
            .filter(
                |&n| if n < SEATS { self.players[n].tangible() } else { self.riders[n - SEATS].tangible() },
            )
            .map(|n| (n, *self.mover(n)))
            .find(|(_, bird)| tempting(bird))
            .map(|(n, bird)| (n, bird.x));
        let mut clutch = self.clutch;
        let event = clutch.step(there.then(|| self.mover_mut(prey)), tempted);
        self.clutch = clutch;
        let y = crate::arena::FIRE * PX;
        match event {
            Some(ClutchEvent::Rose) => self.mark(Mark::at(Kind::Rise, 0, clutch.x, y)),
            Some(ClutchEvent::Gripped) => self.mark(Mark::at(Kind::Grip, prey, clutch.x, y)),
            Some(ClutchEvent::Lost) => {
                self.mark(Mark::at(Kind::Free, prey, clutch.x, y));
                if prey < SEATS {
                    let at = Mark::at(Kind::Points, Reason::Free.id(0, prey), clutch.x, y - 30 * PX);
                    self.award(prey, FREE_POINTS, at);
                }
            }
            None => {}
        }
    }

    /// Vertical pull on body `n`, while the Clutch holds it.
    fn pull_on(&self, n: usize) -> Option<i32> {
        (self.clutch.holds() == Some(n)).then(|| pull(self.wave.number, self.clutch.held))
    }

    fn move_knights(&mut self, pads: &[Pad; SEATS], ground: &Ground) {
        for (seat, &pad) in pads.iter().enumerate() {
            if !self.players[seat].riding() {
                continue;
            }
            let pad = if self.players[seat].appearing() { Pad::NONE } else { pad };
            let pull = self.pull_on(seat);
            let player = &mut self.players[seat];
            if player.safe > 0 {
                player.safe -= 1;
                if pad.any() {
                    player.safe = player.safe.min(GRACE_FRAMES);
                }
            }
            let heard = player.mover.step(pad, ground, pull);
            self.hear(seat, heard);
        }
    }

    fn move_riders(&mut self, ground: &Ground) {
        let pursuers = self.wave.pursuers.saturating_add(self.wave.haste());
        let mut hunters = 0;
        for number in 0..RIDERS {
            let mut rider = self.riders[number];
            if !rider.live {
                continue;
            }
            if rider.emerging > 0 {
                self.riders[number].emerging -= 1;
                continue;
            }
            let hunt = if hunters < pursuers { nearest(&rider.mover, self.quarries()) } else { None };
            hunters += u8::from(hunt.is_some());
            rider.mind.think(rider.class, &rider.mover, hunt, self.wave.haste(), &mut self.random);
            let pad = rider.mind.steer(rider.class, &rider.mover, ground);
            let heard = rider.mover.step(pad, ground, self.pull_on(SEATS + number));
            self.riders[number] = rider;
            self.hear(SEATS + number, heard);
        }
    }

    /// Knights that riders may hunt.
    fn quarries(&self) -> impl Iterator<Item = Quarry> {
        self.players.iter().filter(|player| player.tangible()).map(|player| Quarry {
            x: player.mover.x,
            y: player.mover.y,
            vy: i32::from(player.mover.vy),
        })
    }

    fn move_herns(&mut self, ground: &Ground) {
        for number in 0..self.herns.len() {
            if self.herns[number].live() {
                let from = wrap(self.herns[number].x);
                // A knight below the rock's surface is left to the fire.
                let quarry = self
                    .players
                    .iter()
                    .filter(|player| player.tangible() && player.mover.y <= LEDGE[HEARTHSTONE].top * PX)
                    .map(|player| (player.mover.x, player.mover.y))
                    .min_by_key(|&(x, _)| apart(from, x).abs());
                self.herns[number].step(quarry, self.wave.number, ground);
            }
        }
    }

    fn move_eggs(&mut self, ground: &Ground) {
        let standing = self.eggs.iter().filter(|egg| egg.phase == EggPhase::Hatchling).count();
        let mut up = self.riders_up() + standing;
        for number in 0..EGGS {
            let may_hatch = up < usize::from(self.wave.limit).max(1);
            let event = self.eggs[number].step(ground, may_hatch);
            let egg = self.eggs[number];
            let look = SEATS as u8 + egg.class as u8;
            let mark = |kind| Mark { look, ..Mark::at(kind, number, egg.x, egg.y) };
            match event {
                None => {}
                Some(EggEvent::Landed) => self.murmur(Kind::EggDown, SEATS + RIDERS + number, egg.x, egg.y),
                Some(EggEvent::Cracked) => self.mark(mark(Kind::Crack)),
                Some(EggEvent::Hatched) => {
                    up += 1;
                    self.mark(mark(Kind::Hatch));
                }
                Some(EggEvent::Drowned) => {
                    let who = SEATS + RIDERS + number;
                    self.mark(Mark { look, ..Mark::at(Kind::Splash, who, egg.x, DROWN * PX) });
                    self.eggs[number] = crate::Egg::default();
                }
                Some(EggEvent::Fetched) => {
                    self.mount(number);
                }
            }
        }
    }

    fn hear(&mut self, who: usize, heard: Heard) {
        let mover = *self.mover(who);
        let noises = [
            (heard.flap, Kind::Flap),
            (heard.step && who < SEATS, Kind::Step),
            (heard.skid, Kind::Skid),
            (heard.thud, Kind::Thud),
        ];
        for (happened, kind) in noises {
            if happened {
                self.murmur(kind, who, mover.x, mover.y - TALL / 2);
            }
        }
    }

    fn murmur(&mut self, kind: Kind, who: usize, x: i32, y: i32) {
        let (x, y) = ((x / PX) as i16, (y / PX) as i16);
        self.murmurs.push(Murmur { frame: self.frame, kind, who: who as u8, x, y });
    }
}
