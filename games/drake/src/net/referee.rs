//! The leader's part of a frame: checks reported crafts, applies the rules, publishes the result.
//!
//! `Coop` calls it at the leader, first [`Referee::take_over`]. Absent: local input, pictures.

use gaggle_replica::{Kind, MemberId, ObjectId, RemoteEvent, Session, Target};

use super::census::{self, Census};
use super::view::{ALL, player_of};
use super::watch::Watch;
use super::{Bumped, Dashed, Fired, Happening};
use crate::bots::{Bot, Strength};
use crate::field::SEATS;
use crate::mark::{Mark, What};
use crate::rock::ROCKS;
use crate::shot::SHOTS;
use crate::weapons::{EGGS, HORNETS, PUFFBALLS};
use crate::{Bout, Craft, Drake, Lantern, Pad, Phase, Setup, Sitting, Standing};

/// Unknown objects deleted per frame at most: a peer may have spawned thousands.
const BURIED_MAX: usize = 64;

/// State of the leader besides the game.
#[derive(Debug, Clone)]
pub(super) struct Referee {
    bots: [Bot; SEATS],
    watches: [Watch; SEATS],
    /// By seat: tick of the craft version last read, to tell news from silence.
    heard: [u32; SEATS],
    /// By seat: life for which the watch was started.
    lives: [u8; SEATS],
    standings: [Option<ObjectId>; SEATS],
    rocks: [Option<ObjectId>; ROCKS],
    shots: [Option<ObjectId>; SHOTS],
    puffballs: [Option<ObjectId>; PUFFBALLS],
    hornets: [Option<ObjectId>; HORNETS],
    eggs: [Option<ObjectId>; EGGS],
    lanterns: [Option<ObjectId>; SEATS],
    told: Option<Bout>,
    /// Settings as published to the session.
    settled: Option<Setup>,
    /// Last frame whose marks were sent.
    marked: u32,
}

/// Objects of a kind written by past leaders, the latest leader's first. Objects of other peers are
/// forged and left out.
fn inheritance<K: Kind>(session: &Session, ids: &[ObjectId], led: &[MemberId]) -> Vec<(ObjectId, K)> {
    let said_by = |id: &ObjectId| {
        let holder = session.version(*id)?.authority;
        led.iter().rev().position(|member| *member == holder)
    };
    let mut all: Vec<(usize, ObjectId)> =
        ids.iter().filter_map(|id| said_by(id).map(|rank| (rank, *id))).collect();
    all.sort_unstable();
    all.into_iter().filter_map(|(_, id)| Some((id, session.get::<K>(id)?))).collect()
}

/// Fills a pool with inherited objects and remembers their ids. What does not fit is deleted later;
/// it comes from another branch.
fn adopt<K: Kind>(all: Vec<(ObjectId, K)>, pool: &mut [Option<K>], ids: &mut [Option<ObjectId>]) {
    pool.iter_mut().for_each(|place| *place = None);
    ids.fill(None);
    for ((id, thing), (place, known)) in all.into_iter().zip(pool.iter_mut().zip(ids)) {
        (*place, *known) = (Some(thing), Some(id));
    }
}

/// [`adopt`] for kinds with one object per seat.
fn adopt_by_seat<K: Kind>(
    all: Vec<(ObjectId, K)>,
    ids: &mut [Option<ObjectId>; SEATS],
    seat: impl Fn(&K) -> u8,
    mut put: impl FnMut(usize, K),
) {
    ids.fill(None);
    for (id, thing) in all {
        let seat = usize::from(seat(&thing));
        if let Some(known @ None) = ids.get_mut(seat) {
            *known = Some(id);
            put(seat, thing);
        }
    }
}

/// Spawns, updates and deletes the objects of a kind to match the pool.
fn publish<K: Kind>(session: &mut Session, pool: &[Option<K>], ids: &mut [Option<ObjectId>]) {
    for (thing, id) in pool.iter().zip(ids) {
        match (thing, *id) {
            (Some(thing), Some(known)) => {
                // The authority of a past leader's object moves with the first write.
                if !session.has_authority(known)
                    && session.claim(known).is_err()
                    && session.authority(known).is_none()
                {
                    *id = None;
                    continue;
                }
                // Rejected while another peer holds it; that peer then writes it.
                _ = session.set(known, thing);
            }
            (Some(thing), None) => *id = session.spawn(thing).ok(),
            (None, Some(known)) => {
                _ = session.despawn(known);
                *id = None;
            }
            (None, None) => {}
        }
    }
}

impl Referee {
    pub(super) fn new(seed: u64) -> Referee {
        Referee {
            bots: std::array::from_fn(|seat| Bot::new(seat, Strength::at(0, seat), seed)),
            watches: Default::default(),
            heard: [0; SEATS],
            lives: [0; SEATS],
            standings: [None; SEATS],
            rocks: [None; ROCKS],
            shots: [None; SHOTS],
            puffballs: [None; PUFFBALLS],
            hornets: [None; HORNETS],
            eggs: [None; EGGS],
            lanterns: [None; SEATS],
            told: None,
            settled: None,
            marked: 0,
        }
    }

    /// Takes over from the last leader: the received state replaces the drawn one. `led` are the
    /// past leaders, the latest last.
    pub(super) fn take_over(
        &mut self,
        session: &Session,
        census: &Census,
        game: &mut Drake,
        led: &[MemberId],
    ) {
        adopt(inheritance(session, census.of(census::ROCK), led), &mut game.rocks, &mut self.rocks);
        adopt(inheritance(session, census.of(census::SHOT), led), &mut game.shots, &mut self.shots);
        adopt(
            inheritance(session, census.of(census::PUFFBALL), led),
            &mut game.puffballs,
            &mut self.puffballs,
        );
        adopt(inheritance(session, census.of(census::HORNET), led), &mut game.hornets, &mut self.hornets);
        adopt(inheritance(session, census.of(census::EGG), led), &mut game.eggs, &mut self.eggs);
        game.lanterns = [None; SEATS];
        let lanterns = inheritance(session, census.of(census::LANTERN), led);
        let seat_of = |lantern: &Lantern| lantern.seat;
        adopt_by_seat(lanterns, &mut self.lanterns, seat_of, |seat, it| game.lanterns[seat] = Some(it));
        let standings = inheritance(session, census.of(census::STANDING), led);
        let seat_of = |standing: &Standing| standing.seat;
        adopt_by_seat(standings, &mut self.standings, seat_of, |seat, it| game.seats[seat] = it);
        for seat in 0..SEATS {
            self.lives[seat] = game.seats[seat].life;
            if let Some((_, craft)) = census.crafts[seat] {
                game.crafts[seat] = craft;
            }
            self.watches[seat].forget();
        }
        self.told = session.value::<Bout>(ALL);
        // The match keeps the settings it began with.
        self.settled = session.value::<Setup>(ALL);
        game.setup = self.settled.unwrap_or(game.setup).clamped();
        self.marked = game.frame;
    }

    /// Plays one frame of the whole game.
    pub(super) fn step(
        &mut self,
        session: &mut Session,
        census: &Census,
        game: &mut Drake,
        own: &[Pad; SEATS],
    ) {
        let mut sitting = [Sitting::Nobody; SEATS];
        for present in session.roster().iter() {
            for slot in present.slots() {
                if let Some(seat) = sitting.get_mut(slot.index()) {
                    *seat = Sitting::Player;
                }
            }
        }
        game.seat(&sitting);
        let mut is_local = [false; SEATS];
        for slot in session.local_slots().filter(|slot| slot.index() < SEATS) {
            is_local[slot.index()] = true;
        }
        let mut pads = [Pad::NONE; SEATS];
        for seat in 0..SEATS {
            let waits = game.bout.phase == Phase::Countdown;
            self.watches[seat].step(game.seats[seat].form, waits, game.bout.clockwise);
            if is_local[seat] {
                pads[seat] = own[seat];
                game.steer(seat, own[seat]);
            } else if sitting[seat] == Sitting::Player {
                pads[seat] = session.input::<Pad>(player_of(seat)).unwrap_or_default();
                self.hear_craft(session, census, game, seat);
            } else {
                self.watches[seat].forget();
                self.bots[seat].set_strength(Strength::at(game.bout.level, seat));
                pads[seat] = self.bots[seat].play(game);
                game.steer(seat, pads[seat]);
            }
        }
        game.judge(&pads);
        self.tell(session, census, game, &sitting, &is_local);
        self.bury_strangers(session, census);
    }

    /// Moves a remote craft as its player reports, if the watch allows it; without news it coasts.
    /// A new life begins at the nest also without a report: otherwise a silent player could not be
    /// hit.
    fn hear_craft(&mut self, session: &Session, census: &Census, game: &mut Drake, seat: usize) {
        let standing = game.seats[seat];
        if standing.alive() && game.crafts[seat].life != standing.life {
            game.crafts[seat] = Craft::hatched(seat, standing.life);
            if self.lives[seat] != standing.life {
                self.watches[seat].begin(&game.crafts[seat]);
            }
        }
        let told = census.crafts[seat].filter(|(id, _)| session.authority(*id) == Some(player_of(seat)));
        let tick = told.and_then(|(id, _)| session.version(id)).map(|version| version.tick);
        match (told, tick) {
            (Some((_, craft)), Some(tick)) if tick != self.heard[seat] => {
                self.heard[seat] = tick;
                if craft.life != standing.life || !standing.alive() {
                    return;
                }
                if self.watches[seat].allows(&craft) {
                    game.crafts[seat] = Craft { seat: seat as u8, ..craft };
                } else {
                    game.call_offside(seat);
                }
            }
            _ => game.crafts[seat].coast(),
        }
    }

    fn tell(
        &mut self,
        session: &mut Session,
        census: &Census,
        game: &Drake,
        sitting: &[Sitting; SEATS],
        is_local: &[bool; SEATS],
    ) {
        publish(session, &game.seats.map(Some), &mut self.standings);
        publish(session, &game.rocks, &mut self.rocks);
        publish(session, &game.shots, &mut self.shots);
        publish(session, &game.puffballs, &mut self.puffballs);
        publish(session, &game.hornets, &mut self.hornets);
        publish(session, &game.eggs, &mut self.eggs);
        publish(session, &game.lanterns, &mut self.lanterns);
        for (seat, who) in sitting.iter().enumerate() {
            if !is_local[seat] && *who == Sitting::Nobody && game.seats[seat].present() {
                tell_craft(session, census, seat, &game.crafts[seat]);
            }
        }
        let bout = Bout { since: 0, ..game.bout };
        if self.told.map(|told| Bout { since: 0, ..told }) != Some(bout) {
            self.told = Some(game.bout);
            // Fails only while this peer is no member; then it is sent again.
            if session.set_value(ALL, &game.bout).is_err() {
                self.told = None;
            }
        }
        if self.settled != Some(game.setup) && session.set_value(ALL, &game.setup).is_ok() {
            self.settled = Some(game.setup);
        }
        self.tell_marks(session, census, game, sitting, is_local);
    }

    /// Deletes objects this leader neither spawned nor took over: forged ones and those of another
    /// branch.
    fn bury_strangers(&self, session: &mut Session, census: &Census) {
        let known: [(usize, &[Option<ObjectId>]); 7] = [
            (census::STANDING, &self.standings),
            (census::ROCK, &self.rocks),
            (census::SHOT, &self.shots),
            (census::PUFFBALL, &self.puffballs),
            (census::HORNET, &self.hornets),
            (census::LANTERN, &self.lanterns),
            (census::EGG, &self.eggs),
        ];
        let things = known.into_iter().flat_map(|(kind, known)| {
            census.of(kind).iter().copied().filter(|id| !known.contains(&Some(*id)))
        });
        let flies = |id: &ObjectId| census.crafts.iter().flatten().any(|(known, _)| known == id);
        let crafts = census.of(census::CRAFT).iter().copied().filter(|id| !flies(id));
        for id in things.take(BURIED_MAX).chain(crafts.take(BURIED_MAX)) {
            // Rejected for an object of a present peer, which deletes it itself.
            _ = session.despawn(id);
        }
    }

    fn tell_marks(
        &mut self,
        session: &mut Session,
        census: &Census,
        game: &Drake,
        sitting: &[Sitting; SEATS],
        is_local: &[bool; SEATS],
    ) {
        let frames = game.frame.wrapping_sub(self.marked).min(60);
        self.marked = game.frame;
        for mark in game.marks.recent(game.frame, frames) {
            let seat = usize::from(mark.who);
            match mark.what {
                What::Dash | What::Bump => {
                    let here =
                        is_local.get(seat) == Some(&true) || sitting.get(seat) == Some(&Sitting::Nobody);
                    if here {
                        tell_noise(session, census, seat, mark);
                    }
                }
                What::Fire => tell_noise(session, census, seat, mark),
                // A lost event costs one picture or sound.
                _ => _ = session.send_event(Target::Others, &[], &Happening(*mark)),
            }
        }
    }
}

/// Writes the craft of a seat to the session, as its player's object.
pub(super) fn tell_craft(session: &mut Session, census: &Census, seat: usize, craft: &Craft) {
    match census.crafts[seat] {
        Some((id, _)) => {
            if !session.has_authority(id) {
                _ = session.claim(id);
            }
            _ = session.set(id, craft);
        }
        None => _ = session.spawn_owned(player_of(seat), craft),
    }
}

/// Sends a noise of a seat's craft; without a craft it is dropped.
pub(super) fn tell_noise(session: &mut Session, census: &Census, seat: usize, mark: &Mark) {
    let Some((id, _)) = census.crafts.get(seat).copied().flatten() else { return };
    // The leader sends those of bots.
    let is_local = session.local_slots().any(|slot| slot == player_of(seat));
    let from = if is_local { player_of(seat) } else { session.local_slot() };
    // The rate limit may reject it; then one noise is missing.
    _ = match mark.what {
        What::Fire => session.send_event_from(from, Target::Others, &[id], &Fired(*mark)),
        What::Dash => session.send_event_from(from, Target::Others, &[id], &Dashed(*mark)),
        _ => session.send_event_from(from, Target::Others, &[id], &Bumped(*mark)),
    };
}

/// The noise in an event, if its type and its mark agree.
pub(super) fn noise_in(signal: &RemoteEvent) -> Option<Mark> {
    let noises = [
        (What::Fire, signal.get::<Fired>().map(|Fired(mark)| mark)),
        (What::Dash, signal.get::<Dashed>().map(|Dashed(mark)| mark)),
        (What::Bump, signal.get::<Bumped>().map(|Bumped(mark)| mark)),
    ];
    noises.into_iter().find_map(|(what, mark)| mark.filter(|mark| mark.what == what))
}
