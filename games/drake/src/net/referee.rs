//! What only the lead does: takes in what players tell of their crafts, applies the rules, and tells what came of it.

use gaggle_replica::{Kind, ObjectId, Session, To};

use super::view::{self, ALL, player_of};
use super::watch::Watch;
use super::{Happening, Noise};
use crate::bots::{Bot, Strength};
use crate::field::SEATS;
use crate::mark::What;
use crate::rock::ROCKS;
use crate::shot::SHOTS;
use crate::weapons::{EGGS, HORNETS, PUFFBALLS};
use crate::{Bout, Craft, Drake, Pad, Sitting};

/// What a referee remembers beside the game.
#[derive(Debug, Clone)]
pub(super) struct Referee {
    bots: [Bot; SEATS],
    watches: [Watch; SEATS],
    /// The tick in which each craft was told last, so that news is told from silence.
    heard: [u32; SEATS],
    /// In which life of a seat the watch began.
    lives: [u8; SEATS],
    rocks: [Option<ObjectId>; ROCKS],
    shots: [Option<ObjectId>; SHOTS],
    puffballs: [Option<ObjectId>; PUFFBALLS],
    hornets: [Option<ObjectId>; HORNETS],
    eggs: [Option<ObjectId>; EGGS],
    lanterns: [Option<ObjectId>; SEATS],
    told: Option<Bout>,
    /// The last frame whose marks were told.
    marked: u32,
}

/// Puts the truth about all things of a kind into their places, and remembers which is which.
fn adopt<K: Kind>(session: &mut Session, pool: &mut [Option<K>], ids: &mut [Option<ObjectId>]) {
    let mut all: Vec<(ObjectId, K)> = session.objects::<K>().collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    pool.iter_mut().for_each(|place| *place = None);
    ids.fill(None);
    for (number, (id, thing)) in all.into_iter().enumerate() {
        match (pool.get_mut(number), ids.get_mut(number)) {
            (Some(place), Some(known)) => (*place, *known) = (Some(thing), Some(id)),
            // More than there are places for: from a world that was split.
            _ => _ = session.delete(id),
        }
    }
}

/// Tells what became of all things of a kind.
fn publish<K: Kind>(session: &mut Session, pool: &[Option<K>], ids: &mut [Option<ObjectId>]) {
    for (thing, id) in pool.iter().zip(ids) {
        match (thing, *id) {
            (Some(thing), Some(known)) => {
                // Of a lead that is gone: it is ours as soon as we say so.
                if !session.is_mine(known) && session.touch(known).is_err() && session.holder(known).is_none()
                {
                    *id = None;
                    continue;
                }
                // Refused while somebody else holds it, and then it is his to tell.
                _ = session.set(known, thing);
            }
            (Some(thing), None) => *id = session.spawn(thing).ok(),
            (None, Some(known)) => {
                _ = session.delete(known);
                *id = None;
            }
            (None, None) => {}
        }
    }
}

impl Referee {
    pub(super) fn new(seed: u64) -> Referee {
        Referee {
            bots: std::array::from_fn(|seat| {
                let strength = [Strength::Steady, Strength::Sharp, Strength::Fledgling][seat % 3];
                Bot::new(seat, strength, seed)
            }),
            watches: Default::default(),
            heard: [0; SEATS],
            lives: [0; SEATS],
            rocks: [None; ROCKS],
            shots: [None; SHOTS],
            puffballs: [None; PUFFBALLS],
            hornets: [None; HORNETS],
            eggs: [None; EGGS],
            lanterns: [None; SEATS],
            told: None,
            marked: 0,
        }
    }

    /// Takes over: the truth as far as it is known here, in place of what was drawn.
    pub(super) fn take_over(&mut self, session: &mut Session, game: &mut Drake) {
        adopt(session, &mut game.rocks, &mut self.rocks);
        adopt(session, &mut game.shots, &mut self.shots);
        adopt(session, &mut game.puffballs, &mut self.puffballs);
        adopt(session, &mut game.hornets, &mut self.hornets);
        adopt(session, &mut game.eggs, &mut self.eggs);
        self.adopt_lanterns(session, game);
        for seat in 0..SEATS {
            if let Some((first, standing)) = view::standing_of(session, seat) {
                game.seats[seat] = standing;
                self.lives[seat] = standing.life;
                let others = session
                    .objects::<crate::Standing>()
                    .filter(|(id, other)| usize::from(other.seat) == seat && *id != first);
                let others: Vec<ObjectId> = others.map(|(id, _)| id).collect();
                others.into_iter().for_each(|id| _ = session.delete(id));
            }
            if let Some((_, craft)) = view::craft_of(session, seat) {
                game.crafts[seat] = craft;
            }
            self.watches[seat].forget();
        }
        self.told = session.value::<Bout>(ALL);
        self.marked = game.frame;
    }

    /// Lanterns have the place of their seat.
    fn adopt_lanterns(&mut self, session: &mut Session, game: &mut Drake) {
        let mut pool = [None; SEATS];
        let mut ids = [None; SEATS];
        adopt::<crate::Lantern>(session, &mut pool, &mut ids);
        (game.lanterns, self.lanterns) = ([None; SEATS], [None; SEATS]);
        for (lantern, id) in pool.into_iter().zip(ids) {
            let (Some(lantern), Some(id)) = (lantern, id) else { continue };
            match game.lanterns.get_mut(usize::from(lantern.seat)) {
                Some(place @ None) => {
                    self.lanterns[usize::from(lantern.seat)] = Some(id);
                    *place = Some(lantern);
                }
                _ => _ = session.delete(id),
            }
        }
    }

    /// One frame of the whole game.
    pub(super) fn step(&mut self, session: &mut Session, game: &mut Drake, own: Pad) {
        let mut sitting = [Sitting::Nobody; SEATS];
        for present in session.roster().iter() {
            if let Some(seat) = sitting.get_mut(usize::from(present.player.number())) {
                *seat = Sitting::Player;
            }
        }
        game.seat(&sitting);
        let me = usize::from(session.player().number());
        let mut pads = [Pad::NONE; SEATS];
        for seat in 0..SEATS {
            self.watches[seat].step();
            if seat == me {
                pads[seat] = own;
                game.steer(seat, own);
            } else if sitting[seat] == Sitting::Player {
                pads[seat] = session.take_input::<Pad>(player_of(seat)).unwrap_or_default();
                self.hear_craft(session, game, seat);
            } else {
                self.watches[seat].forget();
                pads[seat] = self.bots[seat].play(game);
                game.steer(seat, pads[seat]);
            }
        }
        game.judge(&pads);
        self.tell(session, game, &sitting, me);
    }

    /// What a player says of his craft, as far as it can be true; in between it goes on as it went.
    fn hear_craft(&mut self, session: &Session, game: &mut Drake, seat: usize) {
        let told =
            view::craft_of(session, seat).filter(|(id, _)| session.holder(*id) == Some(player_of(seat)));
        let tick = told.and_then(|(id, _)| session.version(id)).map(|version| version.tick);
        let standing = game.seats[seat];
        match (told, tick) {
            (Some((_, craft)), Some(tick)) if tick != self.heard[seat] => {
                self.heard[seat] = tick;
                if craft.life != standing.life || !standing.alive() {
                    return;
                }
                let fresh = self.lives[seat] != standing.life;
                if self.watches[seat].allows(&craft, fresh) {
                    game.crafts[seat] = Craft { seat: seat as u8, ..craft };
                } else {
                    game.call_offside(seat);
                }
            }
            _ => game.crafts[seat].coast(),
        }
    }

    fn tell(&mut self, session: &mut Session, game: &Drake, sitting: &[Sitting; SEATS], me: usize) {
        publish(session, &game.rocks, &mut self.rocks);
        publish(session, &game.shots, &mut self.shots);
        publish(session, &game.puffballs, &mut self.puffballs);
        publish(session, &game.hornets, &mut self.hornets);
        publish(session, &game.eggs, &mut self.eggs);
        publish(session, &game.lanterns, &mut self.lanterns);
        for (seat, who) in sitting.iter().enumerate() {
            match view::standing_of(session, seat) {
                Some((id, _)) => publish(session, &[Some(game.seats[seat])], &mut [Some(id)]),
                None => _ = session.spawn(&game.seats[seat]),
            }
            if seat != me && *who == Sitting::Nobody && game.seats[seat].present() {
                tell_craft(session, seat, &game.crafts[seat]);
            }
        }
        let bout = Bout { since: 0, ..game.bout };
        if self.told.map(|told| Bout { since: 0, ..told }) != Some(bout) {
            self.told = Some(game.bout);
            // It cannot fail here but while this machine is no member, and then it is told again.
            if session.set_value(ALL, &game.bout).is_err() {
                self.told = None;
            }
        }
        self.tell_marks(session, game, sitting, me);
    }

    fn tell_marks(&mut self, session: &mut Session, game: &Drake, sitting: &[Sitting; SEATS], me: usize) {
        let frames = game.frame.wrapping_sub(self.marked).min(60);
        self.marked = game.frame;
        for mark in game.marks.recent(game.frame, frames) {
            let seat = usize::from(mark.who);
            match mark.what {
                What::Dash | What::Bump => {
                    let here = seat == me || sitting.get(seat) == Some(&Sitting::Nobody);
                    if here {
                        tell_noise(session, seat, Noise(*mark));
                    }
                }
                What::Fire => tell_noise(session, seat, Noise(*mark)),
                // The most that can go wrong is that a sound is missing.
                _ => _ = session.signal(To::Others, &[], &Happening(*mark)),
            }
        }
    }
}

/// Tells where a craft is, in the name of whoever it belongs to.
pub(super) fn tell_craft(session: &mut Session, seat: usize, craft: &Craft) {
    match view::craft_of(session, seat) {
        Some((id, _)) => {
            if !session.is_mine(id) {
                _ = session.touch(id);
            }
            _ = session.set(id, craft);
        }
        None => _ = session.spawn_for(player_of(seat), craft),
    }
}

/// Tells a small noise, if there is anybody whose it is.
pub(super) fn tell_noise(session: &mut Session, seat: usize, noise: Noise) {
    if let Some((id, _)) = view::craft_of(session, seat) {
        _ = session.signal(To::Others, &[id], &noise);
    }
}
