//! Enemies: six kinds, how each flies and what it fires.
//!
//! Sent by `script`, moved by `step`, hit through `strike`. Absent: bosses, scores, times of
//! arrival.

use gaggle_kit::bytemuck::{Pod, Zeroable};
use gaggle_kit::{Angle, Prng, State};

use crate::difficulty::Difficulty;
use crate::ember::{Embers, HIT_HALF, Shot, turned};
use crate::goose::{FLOCK, Goose};
use crate::quill::Quills;
use crate::sky::{BOTTOM, PX, Spot, TOP, WIDTH, aim, at, boxed, toward};

/// Most enemies in the air.
pub const ENEMIES: usize = 96;
/// Width of the columns by which quills find enemies, in units.
const COLUMN: i32 = 32 * PX;
/// Number of columns, from the left edge.
const COLUMNS: usize = 22;
/// Height and period of a ribbon, in pixels.
const RIBBON: (i32, i32) = (34, 220);
/// Frames for which a struck enemy is drawn bright.
const HURT_FRAMES: u8 = 4;
/// Speed at which the remaining ones flee before a boss, in units per frame.
const FLEE: i32 = 704;

/// A kind of enemy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Foe {
    /// A starling of a ribbon.
    Starling = 1,
    /// A moth: flies at the goose with the most breath.
    Moth = 2,
    /// A lantern: hangs and turns.
    Lantern = 3,
    /// A kite: dives once, fires fans.
    Kite = 4,
    /// An owl: silent, fires rings.
    Owl = 5,
    /// A stormcock: stands on a roof, fires rows.
    Stormcock = 6,
}

/// Properties of a kind of enemy.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// Hit points of a new one.
    pub hp: u16,
    /// Points for destroying it.
    pub points: u32,
    /// Half the width and height of its body, in pixels.
    pub half: (i32, i32),
}

impl Foe {
    /// The kind by its number in the state.
    pub const fn of(number: u8) -> Option<Foe> {
        match number {
            1 => Some(Foe::Starling),
            2 => Some(Foe::Moth),
            3 => Some(Foe::Lantern),
            4 => Some(Foe::Kite),
            5 => Some(Foe::Owl),
            6 => Some(Foe::Stormcock),
            _ => None,
        }
    }

    /// Properties of this kind.
    pub const fn traits(self) -> Traits {
        let (hp, points, half) = match self {
            Foe::Starling => (1, 50, (6, 3)),
            Foe::Moth => (3, 100, (5, 4)),
            Foe::Lantern => (40, 400, (7, 9)),
            Foe::Kite => (28, 300, (12, 5)),
            Foe::Owl => (64, 600, (10, 10)),
            Foe::Stormcock => (52, 700, (9, 10)),
        };
        Traits { hp, points, half }
    }
}

/// The way an enemy flies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Path {
    /// Straight to the left.
    Straight = 0,
    /// Up and down around its lane.
    Ribbon = 1,
    /// In, up or down, and out again.
    Hook = 2,
}

/// One enemy in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable, State)]
#[bytemuck(crate = "gaggle_kit::bytemuck")]
#[repr(C)]
#[state(pod)]
pub struct Enemy {
    /// Column of its center, in units.
    pub x: i32,
    /// Row of its center, in units.
    pub y: i32,
    /// Hit points left.
    pub hp: u16,
    /// Frames since it entered.
    pub age: u16,
    /// Memory of its kind: an angle, or a row in pixels.
    pub aux: u16,
    /// Row of its lane, in pixels.
    pub lane: i16,
    /// Kind as the number of a [`Foe`]; 0 is a free entry.
    pub kind: u8,
    /// Path as the number of a [`Path`].
    pub path: u8,
    /// Its number within its group.
    pub nth: u8,
    /// Frames left in which it is drawn bright.
    pub hurt: u8,
}

impl Enemy {
    /// Its center, in units.
    pub const fn spot(&self) -> Spot {
        (self.x, self.y)
    }
}

/// The enemies in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Enemies {
    /// Entries; free ones have kind 0.
    list: [Enemy; ENEMIES],
}

impl Default for Enemies {
    fn default() -> Enemies {
        Enemies { list: [Enemy::default(); ENEMIES] }
    }
}

/// What enemies read and change in a frame.
pub struct Air<'a> {
    /// The whole flock of geese.
    pub geese: &'a [Goose; FLOCK],
    /// Embers, to which they add.
    pub embers: &'a mut Embers,
    /// Random numbers of the run.
    pub random: &'a mut Prng,
    /// Difficulty of the wave.
    pub difficulty: Difficulty,
    /// Whether a boss is near, so that enemies flee.
    pub is_fleeing: bool,
}

impl Air<'_> {
    /// Place of the flying goose nearest to a place.
    pub fn nearest(&self, spot: Spot) -> Option<Spot> {
        let spots = self.geese.iter().filter(|goose| goose.is_flying()).map(Goose::spot);
        spots.min_by_key(|goose| (goose.0 - spot.0).abs() + (goose.1 - spot.1).abs())
    }

    /// Place of the flying goose with the most breath.
    fn breathiest(&self) -> Option<Spot> {
        let flying = self.geese.iter().filter(|goose| goose.is_flying());
        flying.max_by_key(|goose| goose.breath).map(Goose::spot)
    }
}

/// An enemy that was destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Struck {
    /// Kind of the enemy.
    pub foe: Foe,
    /// Place of the enemy.
    pub spot: Spot,
    /// Goose that destroyed it.
    pub by: usize,
    /// Its index in the list.
    pub place: usize,
}

impl Enemies {
    /// The enemies in the air.
    pub fn iter(&self) -> impl Iterator<Item = &Enemy> {
        self.list.iter().filter(|enemy| enemy.kind != 0)
    }

    /// Sends one in from the right, if an entry is free.
    pub fn send(&mut self, foe: Foe, path: Path, lane: i32, nth: u8, difficulty: Difficulty) {
        let Some(free) = self.list.iter_mut().find(|enemy| enemy.kind == 0) else { return };
        let row = if foe == Foe::Stormcock { 296 } else { lane };
        let (x, y) = at(WIDTH + 16, row);
        let alone = u32::from(foe.traits().hp);
        // A larger V fires more, so large enemies have more hit points.
        let hp = if alone < 10 { alone } else { difficulty.large(alone) } as u16;
        let lane = row as i16;
        *free = Enemy { x, y, hp, lane, nth, kind: foe as u8, path: path as u8, ..Enemy::default() };
    }

    /// Damages the enemies at places that `reached` accepts. Returns those destroyed.
    pub fn blast(&mut self, by: usize, hurts: u16, mut reached: impl FnMut(Spot) -> bool) -> Vec<Struck> {
        let mut gone = Vec::new();
        for (place, enemy) in self.list.iter_mut().enumerate().filter(|(_, enemy)| enemy.kind != 0) {
            if reached(enemy.spot()) {
                gone.extend(hurt(enemy, place, hurts, by));
            }
        }
        gone
    }

    /// Lets quills hit. Returns the enemies destroyed.
    pub fn strike(&mut self, quills: &mut Quills) -> Vec<Struck> {
        let mut columns = [0_u128; COLUMNS];
        for (place, enemy) in self.list.iter().enumerate().filter(|(_, enemy)| enemy.kind != 0) {
            let half = Foe::of(enemy.kind).map_or(0, |foe| foe.traits().half.0) * PX + 8 * PX;
            let column = |x: i32| (x.max(0) / COLUMN).min(COLUMNS as i32 - 1) as usize;
            for column in &mut columns[column(enemy.x - half)..=column(enemy.x + half)] {
                *column |= 1 << place;
            }
        }
        let mut gone = Vec::new();
        for quill in quills.iter_mut() {
            let mut bits = columns[(quill.x.max(0) / COLUMN).min(COLUMNS as i32 - 1) as usize];
            while bits != 0 {
                let place = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let enemy = &mut self.list[place];
                let Some(foe) = Foe::of(enemy.kind) else { continue };
                let (across, down) = foe.traits().half;
                // A quill is eight pixels long: its shaft hits as well.
                if boxed((quill.x - 4 * PX, quill.y), enemy.spot(), (across + 4) * PX, (down + 1) * PX) {
                    quill.kind = 0;
                    gone.extend(hurt(enemy, place, 1, usize::from(quill.seat)));
                    break;
                }
            }
        }
        gone
    }

    /// Calls with each goose that touches a body.
    pub fn touch(&self, geese: &[Goose; FLOCK], mut touched: impl FnMut(usize)) {
        for (which, goose) in geese.iter().enumerate().filter(|(_, goose)| goose.is_exposed()) {
            let hits = |enemy: &&Enemy| {
                let (across, down) = Foe::of(enemy.kind).map_or((0, 0), |foe| foe.traits().half);
                boxed(goose.spot(), enemy.spot(), across * PX + HIT_HALF, down * PX + HIT_HALF)
            };
            if self.iter().any(|enemy| hits(&enemy)) {
                touched(which);
            }
        }
    }

    /// The places by their numbers; free ones have kind 0.
    pub fn places(&self) -> &[Enemy; ENEMIES] {
        &self.list
    }

    /// Calls with each enemy that begins to warn in this frame: an owl whose eyes light up.
    pub(crate) fn warnings(&self, difficulty: Difficulty, mut each: impl FnMut(usize, Spot)) {
        for (place, owl) in self.list.iter().enumerate().filter(|(_, enemy)| enemy.kind == Foe::Owl as u8) {
            let turn = u32::from(owl.age) % difficulty.interval(OWL_TURN);
            if turn == OWL_LIT.start && owl.x <= OWL_FIRES * PX {
                each(place, owl.spot());
            }
        }
    }

    /// Moves all and lets them fire.
    pub fn step(&mut self, air: &mut Air<'_>) {
        for place in 0..ENEMIES {
            let mut enemy = self.list[place];
            let Some(foe) = Foe::of(enemy.kind) else { continue };
            enemy.age = enemy.age.saturating_add(1);
            enemy.hurt = enemy.hurt.saturating_sub(1);
            if air.is_fleeing {
                enemy.x -= FLEE;
            } else {
                match foe {
                    Foe::Starling => starling(&mut enemy, air),
                    Foe::Moth => moth(&mut enemy, air),
                    Foe::Lantern => lantern(&mut enemy, air),
                    Foe::Kite => kite(&mut enemy, air),
                    Foe::Owl => owl(&mut enemy, air),
                    Foe::Stormcock => stormcock(&mut enemy, air),
                }
            }
            let left = enemy.x < -40 * PX || (enemy.age > 60 && enemy.x > (WIDTH + 40) * PX);
            self.list[place] = if left { Enemy::default() } else { enemy };
        }
    }
}

fn hurt(enemy: &mut Enemy, place: usize, hurts: u16, by: usize) -> Option<Struck> {
    let foe = Foe::of(enemy.kind)?;
    enemy.hp = enemy.hp.saturating_sub(hurts);
    enemy.hurt = HURT_FRAMES;
    let spot = enemy.spot();
    let is_gone = enemy.hp == 0;
    if is_gone {
        *enemy = Enemy::default();
    }
    is_gone.then_some(Struck { foe, spot, by, place })
}

/// Height of a wave of this amplitude at this phase, of which 65,536 are a period.
fn swing(height: i32, phase: i32) -> i32 {
    crate::sky::polar(Angle::from_bits(phase as u16), height * PX).1
}

fn starling(enemy: &mut Enemy, air: &mut Air<'_>) {
    enemy.x -= 448;
    let (height, period) = RIBBON;
    let lane = i32::from(enemy.lane) * PX;
    match enemy.path {
        path if path == Path::Ribbon as u8 => {
            enemy.y = lane + swing(height, enemy.x / PX * 65_536 / period);
        }
        path if path == Path::Hook as u8 => {
            let side = if enemy.lane < 170 { 1 } else { -1 };
            match enemy.age {
                ..130 => {}
                130..170 => (enemy.x, enemy.y) = (enemy.x + 448, enemy.y + side * 384),
                _ => enemy.x += 896,
            }
        }
        _ => enemy.y = lane + swing(6, i32::from(enemy.age) * 900),
    }
    let due = [580, 400].get(usize::from(enemy.aux)).is_some_and(|x| enemy.x < x * PX);
    let fires = enemy.nth % 3 == 2 && due && enemy.x > 240 * PX;
    if fires && let Some(goose) = air.nearest(enemy.spot()) {
        enemy.aux += 1;
        air.embers.fire(Shot::Spark, enemy.spot(), aim(enemy.spot(), goose));
    }
}

fn moth(enemy: &mut Enemy, air: &mut Air<'_>) {
    enemy.x -= 160 + i32::from(enemy.age.min(240));
    let row = air.breathiest().map_or(enemy.y, |goose| goose.1);
    let lane = toward(i32::from(enemy.lane) * PX, row, 120);
    enemy.lane = (lane / PX) as i16;
    // The lane is in whole pixels, so it moves by one in every second frame.
    if enemy.age.is_multiple_of(2) {
        enemy.lane += ((row / PX) - i32::from(enemy.lane)).signum() as i16;
    }
    enemy.y = i32::from(enemy.lane) * PX + swing(24, i32::from(enemy.age) * 1_024);
}

fn lantern(enemy: &mut Enemy, air: &mut Air<'_>) {
    let stop = (470 + (i32::from(enemy.nth) * 67 % 192) - 96) * PX;
    if enemy.age < 700 && enemy.x > stop {
        enemy.x -= 288;
        return;
    }
    if enemy.age > 760 {
        enemy.x -= 224;
    }
    enemy.y = i32::from(enemy.lane) * PX + swing(5, i32::from(enemy.age) * 300);
    if u32::from(enemy.age).is_multiple_of(air.difficulty.interval(13)) {
        enemy.aux = enemy.aux.wrapping_add(1_820);
        for arm in 0..5 {
            air.embers.fire(
                Shot::Ember,
                enemy.spot(),
                Angle::from_bits(enemy.aux.wrapping_add(arm * 13_107)),
            );
        }
    }
}

fn kite(enemy: &mut Enemy, air: &mut Air<'_>) {
    enemy.x -= 288;
    if enemy.aux == 0 && enemy.x < 540 * PX {
        let row = air.nearest(enemy.spot()).map_or(enemy.y, |goose| goose.1) / PX;
        enemy.aux = row.clamp(TOP, BOTTOM) as u16;
    }
    if enemy.aux != 0 {
        enemy.y = toward(enemy.y, i32::from(enemy.aux) * PX, 288);
    }
    let is_due = (u32::from(enemy.age) + 40).is_multiple_of(air.difficulty.interval(64));
    if is_due
        && enemy.x < 620 * PX
        && enemy.x > 200 * PX
        && let Some(goose) = air.nearest(enemy.spot())
    {
        air.embers.fan(Shot::Dart, enemy.spot(), aim(enemy.spot(), goose), 9, 1_100);
    }
}

/// Frames of the cycle of an owl: silence, lit eyes, three rings.
const OWL_TURN: u32 = 176;
/// The column in pixels from which on it fires.
const OWL_FIRES: i32 = 560;

fn owl(enemy: &mut Enemy, air: &mut Air<'_>) {
    if enemy.x > 500 * PX {
        enemy.x -= 384;
    } else if enemy.age > 900 {
        enemy.x -= 320;
    }
    enemy.y = i32::from(enemy.lane) * PX + swing(14, i32::from(enemy.age) * 260);
    let turn = u32::from(enemy.age) % air.difficulty.interval(OWL_TURN);
    if enemy.x <= OWL_FIRES * PX && [100, 126, 152].contains(&turn) {
        let open = enemy.aux;
        enemy.aux = (enemy.aux + 3) % 22;
        ring(air.embers, enemy.spot(), open.into(), 22, 2);
    }
}

/// Fires a ring of `count` embers, with a gap of `gap` at `open`.
pub(crate) fn ring(embers: &mut Embers, from: Spot, open: u32, count: u32, gap: u32) {
    for nth in (0..count).filter(|nth| (nth + count - open % count) % count >= gap) {
        embers.fire(Shot::Ember, from, turned(Angle::HALF, (nth * 65_536 / count) as i32));
    }
}

/// Frames of an owl's turn in which its eyes are lit: from 40 before it fires.
const OWL_LIT: std::ops::Range<u32> = 60..156;

/// Whether the eyes of an owl are lit: it fires within 40 frames.
pub fn is_owl_lit(age: u16, difficulty: Difficulty) -> bool {
    OWL_LIT.contains(&(u32::from(age) % difficulty.interval(OWL_TURN)))
}

fn stormcock(enemy: &mut Enemy, air: &mut Air<'_>) {
    enemy.x -= 128;
    let turn = u32::from(enemy.age) % air.difficulty.interval(104);
    let can_fire = enemy.x < 630 * PX && enemy.x > 160 * PX;
    if !can_fire || !(60..=100).contains(&turn) || !turn.is_multiple_of(8) {
        return;
    }
    if turn == 64 {
        let goose = air.nearest(enemy.spot()).unwrap_or((0, enemy.y));
        enemy.aux = aim(enemy.spot(), goose).to_bits();
    }
    air.embers.fan(Shot::Coal, (enemy.x, enemy.y - 8 * PX), Angle::from_bits(enemy.aux), 3, 2_600);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::{Flight, Seat};

    fn fly(enemies: &mut Enemies, embers: &mut Embers, frames: u32) {
        let mut geese = [Goose::default(); FLOCK];
        let (x, y) = at(200, 180);
        geese[0] = Goose { seat: Seat::Person, flight: Flight::Flying, x, y, ..Goose::default() };
        let mut random = Prng::new(1);
        for _ in 0..frames {
            let difficulty = Difficulty::of(1);
            let air = &mut Air { geese: &geese, embers, random: &mut random, difficulty, is_fleeing: false };
            enemies.step(air);
        }
    }

    #[test]
    fn every_kind_comes_and_leaves() {
        for number in 1..=6 {
            let foe = Foe::of(number).expect("a kind");
            for path in [Path::Straight, Path::Ribbon, Path::Hook] {
                let mut enemies = Enemies::default();
                enemies.send(foe, path, 120, 0, Difficulty::of(1));
                fly(&mut enemies, &mut Embers::default(), 200);
                assert_eq!(enemies.iter().count(), 1, "{foe:?} {path:?}");
                fly(&mut enemies, &mut Embers::default(), 1_900);
                assert_eq!(enemies.iter().count(), 0, "{foe:?} {path:?}");
            }
        }
    }

    #[test]
    fn kinds_that_fire_do() {
        for foe in [Foe::Lantern, Foe::Kite, Foe::Owl, Foe::Stormcock] {
            let (mut enemies, mut embers) = (Enemies::default(), Embers::default());
            enemies.send(foe, Path::Straight, 170, 0, Difficulty::of(1));
            fly(&mut enemies, &mut embers, 400);
            assert!(embers.count() >= 5, "{foe:?} {}", embers.count());
        }
    }

    #[test]
    fn every_third_starling_fires_two_sparks() {
        let (mut enemies, mut embers) = (Enemies::default(), Embers::default());
        (0..9).for_each(|nth| enemies.send(Foe::Starling, Path::Ribbon, 170, nth, Difficulty::of(1)));
        fly(&mut enemies, &mut embers, 60);
        assert_eq!(embers.count(), 3);
    }

    #[test]
    fn quill_hurts_one_enemy_and_is_spent() {
        let (mut enemies, mut quills) = (Enemies::default(), Quills::default());
        (0..2).for_each(|nth| enemies.send(Foe::Moth, Path::Straight, 100, nth, Difficulty::of(1)));
        for _ in 0..3 {
            quills.throw(4, at(WIDTH + 16, 100), 0);
        }
        let gone = enemies.strike(&mut quills);
        assert_eq!(gone.len(), 1);
        assert_eq!((gone[0].by, gone[0].foe), (4, Foe::Moth));
        assert_eq!((quills.iter().count(), enemies.iter().count()), (0, 1));
    }
}
