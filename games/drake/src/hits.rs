//! Hit rules: what each pea, weapon and craft hits, and what follows.
//!
//! Called once a frame by `referee`, at the leader only, on the positions players report.
//! Absent: motion, seats, rounds.

use crate::craft::{Craft, DRAKE_RADIUS, DUCKLING_RADIUS};
use crate::field::{self, SEATS, Vec2};
use crate::mark::{Mark, NOBODY, What};
use crate::standing::{Form, Load};
use crate::weapons::{Egg, PUFFBALL_BLAST, PUFFBALL_REACH};
use crate::{Drake, pool};

/// Pixels from a pea's center to its edge.
const PEA: i32 = 2;
const HORNET: i32 = 3;
const EGG: i32 = 5;
/// Pixels from a nest's center within which a duckling is home.
const NEST: i32 = 9;
/// Frames without hits after bailing out or losing a shell.
const BAIL_SAFE: u8 = 50;
const SHELL_SAFE: u8 = 40;
/// Frames without hits for a duckling that became a drake at its nest.
const HOME_SAFE: u8 = 80;

impl Drake {
    pub(crate) fn hits(&mut self) {
        self.peas();
        self.stings();
        self.bursts();
        self.beams();
        self.catches();
        self.finds();
        self.homecomings();
    }

    /// First seat except `but` whose craft is within `reach`.
    fn seats_near(&self, place: Vec2, reach: i32, but: u8) -> Option<usize> {
        (0..SEATS).filter(|seat| *seat != usize::from(but) && self.seats[*seat].safe == 0).find(|seat| {
            self.body(*seat).is_some_and(|craft| {
                field::is_within(craft.place, place, reach + Craft::radius(self.seats[*seat].form))
            })
        })
    }

    fn peas(&mut self) {
        for number in 0..self.shots.len() {
            let Some(shot) = self.shots[number] else { continue };
            if let Some(rock) = self.rock_at(shot.place, PEA) {
                self.shots[number] = None;
                self.crack(rock, shot.velocity);
            } else if let Some(hornet) = self.hornets.iter().position(|hornet| {
                hornet.is_some_and(|it| {
                    it.seat != shot.seat && field::is_within(it.place, shot.place, PEA + HORNET + 1)
                })
            }) {
                (self.shots[number], self.hornets[hornet]) = (None, None);
                self.mark(Mark::at(What::Tick, NOBODY, shot.place));
            } else if let Some(puffball) = self.puffballs.iter().position(|puffball| {
                puffball.is_some_and(|it| field::is_within(it.place, shot.place, PEA + 4))
            }) {
                self.shots[number] = None;
                self.burst(puffball, shot.seat);
            } else if let Some(seat) = self.seats_near(shot.place, PEA, shot.seat) {
                self.shots[number] = None;
                self.hit(seat, shot.seat);
            }
        }
    }

    fn rock_at(&self, place: Vec2, radius: i32) -> Option<usize> {
        self.rocks.iter().position(|rock| {
            rock.is_some_and(|rock| field::is_within(rock.place, place, radius + rock.size.radius()))
        })
    }

    fn crack(&mut self, number: usize, hit: Vec2) {
        let Some(rock) = self.rocks[number].take() else { return };
        self.mark(Mark::at(What::Crack, NOBODY, rock.place).value(rock.size.radius() as u8));
        for half in rock.halves(hit, &mut self.random).into_iter().flatten() {
            pool::put(&mut self.rocks, half);
        }
        if rock.size.smaller().is_none() && self.random.chance(1, 3) {
            let egg = Egg::at(rock.place, &mut self.random);
            pool::put(&mut self.eggs, egg);
        }
    }

    fn stings(&mut self) {
        for number in 0..self.hornets.len() {
            let Some(hornet) = self.hornets[number] else { continue };
            if let Some(seat) = self.seats_near(hornet.place, HORNET, hornet.seat) {
                self.hornets[number] = None;
                self.hit(seat, hornet.seat);
            } else if let Some(rock) = self.rock_at(hornet.place, HORNET - 1) {
                self.hornets[number] = None;
                self.crack(rock, hornet.velocity);
            }
        }
    }

    fn bursts(&mut self) {
        for number in 0..self.puffballs.len() {
            let Some(puffball) = self.puffballs[number] else { continue };
            if puffball.armed && self.seats_near(puffball.place, PUFFBALL_REACH, NOBODY).is_some() {
                self.burst(number, puffball.seat);
            }
        }
    }

    fn burst(&mut self, number: usize, by: u8) {
        let Some(puffball) = self.puffballs[number].take() else { return };
        self.mark(Mark::at(What::Burst, puffball.seat, puffball.place));
        for seat in 0..SEATS {
            let caught = self.seats[seat].safe == 0
                && self
                    .body(seat)
                    .is_some_and(|craft| field::is_within(craft.place, puffball.place, PUFFBALL_BLAST));
            if caught {
                self.hit(seat, by);
            }
        }
        for rock in 0..self.rocks.len() {
            let Some(there) = self.rocks[rock] else { continue };
            if field::is_within(there.place, puffball.place, PUFFBALL_BLAST) {
                self.crack(rock, field::offset(puffball.place, there.place));
            }
        }
    }

    fn beams(&mut self) {
        for lantern in self.lanterns.into_iter().flatten().filter(|lantern| lantern.burns()) {
            for seat in 0..SEATS {
                let safe = seat == usize::from(lantern.seat) || self.seats[seat].safe > 0;
                let radius = Craft::radius(self.seats[seat].form);
                if !safe && self.body(seat).is_some_and(|craft| lantern.meets(craft.place, radius)) {
                    self.hit(seat, lantern.seat);
                }
            }
        }
    }

    /// Drakes catch ducklings by flying over them.
    fn catches(&mut self) {
        for seat in 0..SEATS {
            if self.seats[seat].form != Form::Duckling || self.seats[seat].safe > 0 {
                continue;
            }
            let Some(duckling) = self.body(seat).copied() else { continue };
            let catcher = (0..SEATS).find(|other| {
                self.seats[*other].form == Form::Drake
                    && self.body(*other).is_some_and(|craft| {
                        field::is_within(craft.place, duckling.place, DRAKE_RADIUS + DUCKLING_RADIUS)
                    })
            });
            if let Some(catcher) = catcher {
                self.hit(seat, catcher as u8);
            }
        }
    }

    fn finds(&mut self) {
        for number in 0..self.eggs.len() {
            let Some(egg) = self.eggs[number] else { continue };
            let finder = (0..SEATS).find(|seat| {
                self.seats[*seat].form == Form::Drake
                    && self
                        .body(*seat)
                        .is_some_and(|craft| field::is_within(craft.place, egg.place, DRAKE_RADIUS + EGG))
            });
            if let Some(seat) = finder {
                self.eggs[number] = None;
                self.take(seat, egg.load);
                self.mark(Mark::at(What::Egg, seat as u8, egg.place).value(egg.load as u8));
            }
        }
    }

    fn take(&mut self, seat: usize, load: Load) {
        let standing = &mut self.seats[seat];
        match load {
            Load::Shell => standing.shell = true,
            Load::Whirl => {
                self.bout.clockwise = !self.bout.clockwise;
                self.mark(Mark::at(What::Whirl, seat as u8, field::MIDDLE));
            }
            _ => {
                standing.load = load;
                standing.uses = match load {
                    Load::Scatter => 3,
                    Load::Puffball => 2,
                    _ => 1,
                };
            }
        }
    }

    fn homecomings(&mut self) {
        for seat in 0..SEATS {
            let home = self.seats[seat].form == Form::Duckling
                && self
                    .body(seat)
                    .is_some_and(|craft| field::is_within(craft.place, field::nest(seat), NEST));
            if home {
                self.seats[seat].hatch(HOME_SAFE);
                self.mark(Mark::at(What::Home, seat as u8, field::nest(seat)));
            }
        }
    }

    /// Applies a hit to a seat: its shell breaks, its drake becomes a duckling, or its duckling is
    /// out.
    fn hit(&mut self, seat: usize, by: u8) {
        let Some(place) = self.body(seat).map(|craft| craft.place) else { return };
        let standing = &mut self.seats[seat];
        let what = if standing.shell && standing.form == Form::Drake {
            (standing.shell, standing.safe) = (false, SHELL_SAFE);
            What::ShellBroke
        } else if standing.form == Form::Drake {
            (standing.form, standing.safe) = (Form::Duckling, BAIL_SAFE);
            (standing.load, standing.uses) = (Load::None, 0);
            What::Down
        } else {
            standing.form = Form::Out;
            What::Caught
        };
        self.mark(Mark::at(what, seat as u8, place).by(by));
        if what != What::ShellBroke
            && usize::from(by) != seat
            && let Some(winner) = self.seats.get_mut(usize::from(by))
        {
            winner.downs = winner.downs.saturating_add(1);
            winner.score = winner.score.saturating_add(1);
        }
    }
}
