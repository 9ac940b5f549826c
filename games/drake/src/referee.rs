//! Rules of the match, frame by frame: seats, shots, rounds; hits are in `hits`.
//!
//! The leader's `net::referee` and games without a network call them. Absent: steering, network.

use crate::bots::LEVEL_MAX;
use crate::bout::{COUNTDOWN_FRAMES, OVER_FRAMES, OVER_FRAMES_MIN, Phase, RESULT_FRAMES, ROUND_FRAMES};
use crate::craft::Craft;
use crate::field::{self, SEATS};
use crate::mark::{Mark, NOBODY, What};
use crate::pad::Pad;
use crate::rock::{ROCKS, Rock, Size};
use crate::shot::Shot;
use crate::standing::{Form, Load, Standing};
use crate::weapons::{Egg, Hornet, LANTERN_FRAMES, LANTERN_WARMS, Lantern, Puffball};
use crate::{Drake, Sitting, pool};

/// Frames without hits after hatching.
const SAFE_FRAMES: u8 = 90;
/// Rocks at the start of a round, and the count below which more appear.
const CRAGS: usize = 4;
const BOULDERS: usize = 4;
const ROCKS_MIN: usize = 6;
/// Frames between two eggs.
const EGG_EVERY: core::ops::RangeInclusive<i32> = 220..=420;
/// Angle of a scatter's outer peas: 11 degrees.
const SCATTER: i16 = 2_000;

impl Drake {
    /// Assigns the seats. A player takes over a bot's seat, and a bot the seat a player leaves,
    /// with its score.
    pub fn seat(&mut self, sitting: &[Sitting; SEATS]) {
        let players = sitting.iter().filter(|who| **who == Sitting::Player).count();
        let mut bots = usize::from(self.setup.fill).saturating_sub(players);
        if players == 0 && self.setup.fill == 0 {
            bots = 0;
        }
        for (seat, who) in sitting.iter().enumerate() {
            let standing = self.seats[seat];
            match who {
                Sitting::Player if !standing.present() => self.sit_down(seat, false),
                Sitting::Player if standing.bot => {
                    self.seats[seat].bot = false;
                    self.mark(Mark::at(What::Join, seat as u8, field::nest(seat)));
                }
                Sitting::Player => {}
                Sitting::Nobody if bots > 0 => {
                    bots -= 1;
                    if !standing.present() {
                        self.sit_down(seat, true);
                    } else if !standing.bot {
                        self.seats[seat].bot = true;
                        self.mark(Mark::at(What::Leave, seat as u8, field::nest(seat)));
                    }
                }
                Sitting::Nobody if standing.present() => {
                    self.seats[seat] =
                        Standing { seat: seat as u8, life: standing.life, ..Standing::default() };
                    self.mark(Mark::at(What::Leave, seat as u8, field::nest(seat)));
                }
                Sitting::Nobody => {}
            }
        }
    }

    fn sit_down(&mut self, seat: usize, bot: bool) {
        let life = self.seats[seat].life;
        self.seats[seat] = Standing { seat: seat as u8, life, form: Form::Out, bot, ..Standing::default() };
        // A young round can be joined; later a fresh drake would have an advantage.
        let young = self.bout.phase == Phase::Play && self.bout.since < ROUND_FRAMES / 6;
        if young || self.bout.phase == Phase::Countdown {
            self.seats[seat].hatch(SAFE_FRAMES);
        }
        if !bot {
            self.mark(Mark::at(What::Join, seat as u8, field::nest(seat)));
        }
    }

    /// One frame of all rules except steering.
    pub fn judge(&mut self, pads: &[Pad; SEATS]) {
        self.bout.since = self.bout.since.saturating_add(1);
        let before = self.triggers;
        self.triggers = pads.map(|pad| pad.fire);
        self.drift();
        match self.bout.phase {
            Phase::Empty => self.begin_if_anybody(),
            Phase::Countdown => self.count_down(),
            Phase::Play => {
                for seat in 0..SEATS {
                    self.seats[seat].step();
                    self.shoot(seat, pads[seat].fire, pads[seat].fire && !before[seat]);
                }
                self.hits();
                self.lay_eggs();
                self.end_round_if_decided();
            }
            Phase::Result if self.bout.since >= RESULT_FRAMES => self.after_result(),
            Phase::Over => {
                let pressed = (0..SEATS).any(|seat| pads[seat].fire && !before[seat]);
                if self.bout.since >= OVER_FRAMES || pressed && self.bout.since >= OVER_FRAMES_MIN {
                    self.begin_match();
                }
            }
            Phase::Result => {}
        }
        if self.bout.phase != Phase::Empty && !self.seats.iter().any(Standing::present) {
            self.bout.turn_to(Phase::Empty);
        }
    }

    fn begin_if_anybody(&mut self) {
        if self.seats.iter().any(Standing::present) {
            self.begin_match();
        }
    }

    fn begin_match(&mut self) {
        for standing in &mut self.seats {
            (standing.score, standing.wins) = (0, 0);
        }
        self.bout.number = self.bout.number.wrapping_add(1);
        self.bout.round = 0;
        self.bout.winner = None;
        self.prepare_round();
    }

    /// Clears the field, scatters rocks, puts all crafts into their nests.
    fn prepare_round(&mut self) {
        self.bout.round = self.bout.round.wrapping_add(1);
        self.bout.turn_to(Phase::Countdown);
        self.bout.clockwise = self.bout.round % 2 == 1;
        self.shots.fill(None);
        self.puffballs.fill(None);
        self.hornets.fill(None);
        self.lanterns.fill(None);
        self.eggs.fill(None);
        self.rocks = [None; ROCKS];
        for number in 0..CRAGS + BOULDERS {
            let size = if number < CRAGS { Size::Large } else { Size::Middling };
            self.rocks[number] = Some(Rock::scattered(size, &mut self.random));
        }
        for standing in self.seats.iter_mut().filter(|standing| standing.present()) {
            standing.downs = 0;
            standing.hatch(SAFE_FRAMES);
        }
        self.egg_in = 150;
    }

    fn count_down(&mut self) {
        if self.bout.since % 60 == 1 && self.bout.since < COUNTDOWN_FRAMES {
            let count = self.bout.count();
            self.mark(Mark::at(What::Count, NOBODY, field::MIDDLE).value(count));
        }
        if self.bout.since >= COUNTDOWN_FRAMES {
            self.bout.turn_to(Phase::Play);
            self.mark(Mark::at(What::Begin, NOBODY, field::MIDDLE));
        }
    }

    fn after_result(&mut self) {
        let decided = self.seats.iter().find(|standing| standing.wins >= self.setup.wins);
        if let Some(champion) = decided.map(|standing| standing.seat) {
            self.bout.turn_to(Phase::Over);
            self.bout.winner = Some(champion);
            let level = self.bout.level;
            self.bout.level = match self.seats[usize::from(champion)].bot {
                true => level.saturating_sub(1),
                false => level.saturating_add(1).min(LEVEL_MAX),
            };
            self.mark(Mark::at(What::Over, champion, field::MIDDLE));
        } else {
            self.prepare_round();
        }
    }

    /// Moves rocks, peas, weapons and eggs.
    fn drift(&mut self) {
        let clockwise = self.bout.clockwise;
        for rock in self.rocks.iter_mut().flatten() {
            rock.step(clockwise);
        }
        pool::step(&mut self.shots, Shot::step);
        pool::step(&mut self.puffballs, Puffball::step);
        pool::step(&mut self.eggs, Egg::step);
        for number in 0..self.hornets.len() {
            let Some(mut hornet) = self.hornets[number] else { continue };
            let prey = self.nearest_to(hornet.place, usize::from(hornet.seat));
            self.hornets[number] = hornet.step(prey).then_some(hornet);
        }
        for seat in 0..SEATS {
            self.burn(seat);
        }
    }

    /// Position of the nearest vulnerable craft of another seat.
    fn nearest_to(&self, place: field::Vec2, but: usize) -> Option<field::Vec2> {
        let others = (0..SEATS).filter(|seat| *seat != but && self.seats[*seat].safe == 0);
        let places = others.filter_map(|seat| self.body(seat)).map(|craft| craft.place);
        places.min_by_key(|there| field::length(field::offset(place, *there)))
    }

    /// Moves the lantern of a seat with its drake, and ends it.
    fn burn(&mut self, seat: usize) {
        let Some(mut lantern) = self.lanterns[seat] else { return };
        lantern.age += 1;
        let carried = self.seats[seat].form == Form::Drake;
        if let Some(craft) = self.body(seat) {
            (lantern.place, lantern.heading) = (craft.bill(), craft.heading);
        }
        if lantern.age == LANTERN_WARMS {
            self.mark(Mark::at(What::Beam, seat as u8, lantern.place));
        }
        self.lanterns[seat] = (carried && lantern.age < LANTERN_FRAMES).then_some(lantern);
    }

    fn shoot(&mut self, seat: usize, held: bool, pressed: bool) {
        let (standing, Some(&craft)) = (self.seats[seat], self.body(seat)) else { return };
        if standing.form != Form::Drake || !held || standing.gap > 0 {
            return;
        }
        let armed = !matches!(standing.load, Load::None | Load::Shell | Load::Whirl);
        if armed && !pressed {
            return;
        }
        // A shot ends the time without hits.
        self.seats[seat].safe = 0;
        if armed {
            self.seats[seat].spend_load();
            self.use_load(seat, standing.load, &craft);
        } else if self.seats[seat].spend_pea() {
            pool::put(&mut self.shots, Shot::from(&craft, 0));
            self.mark(Mark::at(What::Fire, seat as u8, craft.bill()));
        }
    }

    fn use_load(&mut self, seat: usize, load: Load, craft: &Craft) {
        let who = seat as u8;
        match load {
            Load::Scatter => {
                for aside in [-SCATTER, 0, SCATTER] {
                    pool::put(&mut self.shots, Shot::from(craft, aside));
                }
                self.mark(Mark::at(What::Fire, who, craft.bill()));
            }
            Load::Puffball => {
                pool::put(&mut self.puffballs, Puffball::behind(craft));
                self.mark(Mark::at(What::Laid, who, craft.place));
            }
            Load::Hornet => {
                pool::put(&mut self.hornets, Hornet::from(craft));
                self.mark(Mark::at(What::Hornet, who, craft.bill()));
            }
            Load::Lantern => {
                let (place, heading) = (craft.bill(), craft.heading);
                self.lanterns[seat] = Some(Lantern { place, heading, seat: who, age: 0 });
                self.mark(Mark::at(What::Glow, who, craft.bill()));
            }
            Load::None | Load::Shell | Load::Whirl => {}
        }
    }

    fn lay_eggs(&mut self) {
        self.egg_in = self.egg_in.saturating_sub(1);
        if self.egg_in == 0 {
            self.egg_in = self.random.range(EGG_EVERY) as u16;
            let place = Rock::scattered(Size::Small, &mut self.random).place;
            let egg = Egg::at(place, &mut self.random);
            pool::put(&mut self.eggs, egg);
        }
        if self.bout.since.is_multiple_of(240) && self.rocks.iter().flatten().count() < ROCKS_MIN {
            let rock = Rock::scattered(Size::Middling, &mut self.random);
            pool::put(&mut self.rocks, rock);
        }
    }

    fn end_round_if_decided(&mut self) {
        let present = self.seats.iter().filter(|standing| standing.present()).count();
        let mut alive = self.seats.iter().filter(|standing| standing.alive());
        let (first, second) = (alive.next().map(|standing| standing.seat), alive.next());
        let late = self.bout.since >= ROUND_FRAMES;
        if second.is_some() && !late || present == 1 && first.is_some() && !late {
            return;
        }
        let winner = if second.is_none() { first.filter(|_| present > 1) } else { self.most_downs() };
        self.bout.turn_to(Phase::Result);
        self.bout.winner = winner;
        if let Some(seat) = winner {
            let standing = &mut self.seats[usize::from(seat)];
            standing.wins = standing.wins.saturating_add(1);
        }
        self.mark(Mark::at(What::Won, winner.unwrap_or(NOBODY), field::MIDDLE));
    }

    /// Seat with the most downs; none if several share it.
    fn most_downs(&self) -> Option<u8> {
        let most =
            self.seats.iter().filter(|standing| standing.present()).map(|standing| standing.downs).max()?;
        let mut best = self.seats.iter().filter(|standing| standing.present() && standing.downs == most);
        let first = best.next()?;
        best.next().is_none().then_some(first.seat)
    }

    /// Takes a seat whose craft moved impossibly out of the round.
    pub fn call_offside(&mut self, seat: usize) {
        if self.seats[seat].alive() {
            self.seats[seat].form = Form::Out;
            let place = field::nest(seat);
            self.mark(Mark::at(What::Offside, seat as u8, place));
        }
    }
}
