//! One machine's part in the game.

use gaggle_kit::Slot;
use gaggle_replica::{ObjectId, RemoteEvent, Session, Target};

use super::watch::{Said, Watch};
use super::{Happening, Nearness, Noise};
use crate::boat::Boat;
use crate::bots::Bot;
use crate::keeper::{Keeper, Word};
use crate::ledger::Ledger;
use crate::mark::{NOBODY, What};
use crate::pad::Pad;
use crate::pond::{Floating, Hands, Pond};
use crate::thing::Thing;
use crate::water::SEATS;

/// Whose value the ledger is: everybody's.
const ALL: Slot = Slot::at(0);
/// Boats on the water at least: alone, one would never get the bell anywhere.
const BOATS_MIN: usize = 3;
/// Frames after this machine begins to lead in which what it did not know may still turn up: others
/// knew it.
const ARRIVALS: u32 = 600;
/// Things undone in a frame at most: somebody could send thousands.
const UNDONE_MAX: usize = 64;
/// Frames between two looks at whether enough is afloat.
const RESTOCK_EVERY: u32 = 60;

/// The hands of a machine among others.
struct Reach<'a>(&'a mut Session);

impl Hands for Reach<'_> {
    fn touch(&mut self, id: ObjectId) -> bool {
        self.0.claim(id).is_ok()
    }

    fn grab(&mut self, id: ObjectId) -> bool {
        self.0.lock(id).is_ok()
    }

    fn release(&mut self, id: ObjectId) {
        // Somebody else's by now, if it fails.
        _ = self.0.release(id);
    }

    fn delete(&mut self, id: ObjectId) -> bool {
        self.0.despawn(id).is_ok()
    }

    fn spawn(&mut self, thing: &Thing) -> Option<ObjectId> {
        self.0.spawn(thing).ok()
    }
}

/// The pond on one machine.
#[derive(Debug, Clone)]
pub struct Mill {
    pond: Pond,
    keeper: Keeper,
    bots: [Bot; SEATS],
    /// What is believed of all that is said: only the keeper asks.
    watch: Watch,
    /// Since when this machine leads, if it does.
    leads_since: Option<u32>,
    undone: u32,
    told: Option<Ledger>,
    nearness: Nearness,
}

impl Mill {
    /// A machine's part. The seed is for what it decides.
    pub fn new(seed: u64) -> Mill {
        Mill {
            pond: Pond::new(seed),
            keeper: Keeper::default(),
            bots: std::array::from_fn(|seat| Bot::new(seat, seed)),
            watch: Watch::default(),
            leads_since: None,
            undone: 0,
            told: None,
            nearness: Nearness::default(),
        }
    }

    /// The pond as it should be drawn here.
    pub fn pond(&self) -> &Pond {
        &self.pond
    }

    /// What matters to whom.
    pub fn nearness(&mut self) -> &mut Nearness {
        &mut self.nearness
    }

    /// Things this machine did not believe and put right, while it led.
    pub fn undone(&self) -> u32 {
        self.undone
    }

    /// A pond begins: whoever is first fills it.
    pub fn found(&mut self, session: &mut Session) {
        for thing in Pond::litter(&mut self.pond.random) {
            // Beyond what a session holds there is no pond worth having.
            _ = session.spawn(&thing);
        }
    }

    /// Another world begins: what was known of the one before does not count.
    pub fn enter(&mut self) {
        let frame = self.pond.frame;
        *self = Mill::new(self.pond.random.next_u64());
        // Sounds are told apart by their frame: it never goes back.
        self.pond.frame = frame;
    }

    /// The seat played here, if this is no onlooker.
    pub fn seat(&self, session: &Session) -> Option<usize> {
        let plays = !session.is_spectator();
        Some(session.local_slot().index()).filter(|seat| plays && *seat < SEATS)
    }

    /// One frame. The session has the input of this machine's player already.
    pub fn step(&mut self, session: &mut Session) {
        self.pond.frame = self.pond.frame.wrapping_add(1);
        let pad = session.input::<Pad>(session.local_slot()).unwrap_or_default();
        self.look(session);
        let leads = session.is_leader();
        let own = self.seat(session).filter(|_| session.is_member());
        let rowed: Vec<usize> =
            (0..SEATS).filter(|seat| Some(*seat) == own || leads && self.is_bot(session, *seat)).collect();
        for &seat in &rowed {
            self.pond.boats[seat].get_or_insert_with(|| Boat::moored(seat));
            let pad = if Some(seat) == own { pad } else { self.bots[seat].play(&self.pond) };
            self.pond.row(seat, pad, &mut Reach(session));
        }
        self.pond.float(&mut Reach(session));
        if leads {
            self.keep(session);
        } else if self.leads_since.take().is_some() {
            self.watch.forget();
        }
        self.tell(session, &rowed, leads);
        self.nearness = Nearness::of(&self.pond);
    }

    /// Whether a bot rows there: as many as are missing, in the seats nobody has.
    fn is_bot(&self, session: &Session, seat: usize) -> bool {
        let taken = |seat: usize| session.roster().by_slot(Slot::at(seat)).is_some();
        let bots = BOATS_MIN.saturating_sub(session.roster().len());
        !taken(seat) && (0..seat).filter(|seat| !taken(*seat)).count() < bots
    }

    /// What the session tells. What is moved here stays as finely as it is moved; everything else
    /// is as it is shown, so that what one bumps into is what one sees, and goes on from there.
    fn look(&mut self, session: &Session) {
        let mut ids: Vec<ObjectId> = session.iter::<Thing>().map(|(id, _)| id).collect();
        ids.sort_unstable();
        let mut floating = Vec::with_capacity(ids.len());
        for id in ids {
            let mine = session.has_authority(id);
            let before = self.pond.find(id).filter(|before| mine && before.mine).map(|before| before.thing);
            let Some(thing) = before.or_else(|| session.interpolated::<Thing>(id)) else { continue };
            let holder = session.authority(id).map_or(NOBODY, Slot::byte);
            floating.push(Floating { id, thing, mine, holder, held: session.is_locked(id) });
        }
        self.pond.floating = floating;
        for seat in 0..SEATS {
            match boat_of(session, seat) {
                Some(id) if session.has_authority(id) && self.pond.boats[seat].is_some() => {}
                Some(id) => self.pond.boats[seat] = session.interpolated::<Boat>(id),
                None => self.pond.boats[seat] = None,
            }
        }
        if !session.is_leader() || self.told.is_none() {
            self.told = session.value::<Ledger>(ALL);
            self.pond.ledger = self.told.unwrap_or_default();
        }
    }

    /// What the lead sees to.
    fn keep(&mut self, session: &mut Session) {
        let since = *self.leads_since.get_or_insert(self.pond.frame);
        let led = self.pond.frame.wrapping_sub(since);
        let all = self.pond.floating.iter().map(|Floating { id, thing, mine, .. }| Said {
            id: *id,
            // Where it was said to be: what is shown is behind, and hides a leap.
            thing: if *mine { *thing } else { session.get::<Thing>(*id).unwrap_or(*thing) },
            here: *mine,
            known: led == 0
                || *mine && id.creator() == session.local_member().tag
                || led < ARRIVALS && is_left_behind(session, *id),
        });
        let all: Vec<Said> = all.collect();
        self.watch.step(&all, &self.boats_said(session));
        self.undo(session);
        let watch = &self.watch;
        let honest = |word: Word<'_>| match word {
            Word::Thing(floating) => watch.believes(floating.id),
            Word::Boat(seat) => watch.believes_boat(seat),
            // Bots' boats are rowed here; every other player moves what it holds with its own.
            Word::Mover(floating) => floating.mine || floating.thing.by == floating.holder,
        };
        self.keeper.step(&mut self.pond, &mut Reach(session), honest);
        if led > ARRIVALS && led.is_multiple_of(RESTOCK_EVERY) {
            self.keeper.restock(&mut self.pond, &mut Reach(session));
        }
        // What the keeper took is nobody's to find.
        all.iter().filter(|said| self.pond.find(said.id).is_none()).for_each(|said| self.watch.drop(said.id));
    }

    /// Takes away what nobody believes, and puts back what should be there.
    fn undo(&mut self, session: &mut Session) {
        for (id, instead) in self.watch.wrongs().into_iter().take(UNDONE_MAX) {
            if session.despawn(id).is_err() {
                continue;
            }
            self.undone += 1;
            self.watch.drop(id);
            self.pond.floating.retain(|floating| floating.id != id);
            if let Some(thing) = instead {
                self.pond.put(thing, &mut Reach(session));
            }
        }
    }

    /// Where boats are said to be: those rowed here are where they are.
    fn boats_said(&self, session: &Session) -> [Option<Boat>; SEATS] {
        std::array::from_fn(|seat| {
            let here = self.pond.boats[seat]?;
            let told = boat_of(session, seat).filter(|id| !session.has_authority(*id));
            Some(told.and_then(|id| session.get::<Boat>(id)).unwrap_or(here))
        })
    }

    fn tell(&mut self, session: &mut Session, rowed: &[usize], leads: bool) {
        for Floating { id, thing, .. } in self.pond.floating.iter().filter(|floating| floating.mine) {
            // Refused if somebody has claimed it in this very frame: then it is his to tell.
            _ = session.set(*id, thing);
        }
        for seat in 0..SEATS {
            match (boat_of(session, seat), rowed.contains(&seat)) {
                (Some(id), true) => {
                    if !session.has_authority(id) {
                        _ = session.claim(id);
                    }
                    if let Some(boat) = self.pond.boats[seat] {
                        _ = session.set(id, &boat);
                    }
                }
                (None, true) => {
                    if let Some(boat) = self.pond.boats[seat] {
                        _ = session.spawn_owned(Slot::at(seat), &boat);
                    }
                }
                // A boat nobody rows is taken ashore.
                (Some(id), false) if leads && session.roster().by_slot(Slot::at(seat)).is_none() => {
                    _ = session.despawn(id);
                }
                _ => {}
            }
        }
        scrap_boats(session, leads);
        if leads && self.told != Some(self.pond.ledger) && session.set_value(ALL, &self.pond.ledger).is_ok() {
            self.told = Some(self.pond.ledger);
        }
        self.tell_marks(session, leads);
    }

    fn tell_marks(&mut self, session: &mut Session, leads: bool) {
        for mark in self.pond.marks.recent(self.pond.frame, 1) {
            if is_small(mark.what) {
                let boat = boat_of(session, usize::from(mark.who));
                // The most that can go wrong is that a sound is missing.
                boat.into_iter().for_each(|id| _ = session.send_event(Target::Others, &[id], &Noise(*mark)));
            } else if leads {
                _ = session.send_event(Target::Others, &[], &Happening(*mark));
            }
        }
    }

    /// Something happened elsewhere. Of noises each may make his own; everything else is the lead's
    /// word or none.
    pub fn signal(&mut self, session: &Session, signal: &RemoteEvent) {
        let from_lead = session.roster().leader().is_some_and(|lead| lead.slot == signal.from);
        let noise = signal.get::<Noise>().map(|Noise(mark)| mark);
        let noise = noise.filter(|mark| is_small(mark.what) && (from_lead || mark.who == signal.from.byte()));
        let happening = signal.get::<Happening>().map(|Happening(mark)| mark).filter(|_| from_lead);
        if let Some(mark) = noise.or(happening) {
            self.pond.mark(mark);
        }
    }
}

/// Whether something was made by somebody who is not here any more, as far as its number says.
fn is_left_behind(session: &Session, id: ObjectId) -> bool {
    session.roster().iter().all(|present| present.id.tag != id.creator())
}

/// What boats do by themselves, as opposed to what is counted.
fn is_small(what: What) -> bool {
    matches!(
        what,
        What::Stroke | What::Bump | What::Tow | What::Drop | What::Refused | What::Stack | What::Unstack
    )
}

/// The boat of a seat: of several that were made in its name his own, or the lead's, never a
/// stranger's.
fn boat_of(session: &Session, seat: usize) -> Option<ObjectId> {
    let (player, lead) = (Slot::at(seat), session.roster().leader().map(|lead| lead.slot));
    let boats = session
        .iter::<Boat>()
        .filter(|(id, boat)| usize::from(boat.seat) == seat && session.owner(*id) == Some(player));
    let trusted = boats.filter_map(|(id, _)| {
        let holder = session.authority(id);
        let own = holder == Some(player);
        // Of somebody who is gone it may have been rightfully.
        let left = session.version(id).is_some_and(|version| !session.roster().contains(version.authority));
        (own || holder == lead || left).then_some((!own, id))
    });
    trusted.min().map(|(_, id)| id)
}

/// Deletes boats nobody rows: made in this player's name by somebody else, or left of the other
/// half of a split.
fn scrap_boats(session: &mut Session, leads: bool) {
    let rowed: Vec<ObjectId> = (0..SEATS).filter_map(|seat| boat_of(session, seat)).collect();
    let idle = session.iter::<Boat>().map(|(id, _)| id).filter(|id| !rowed.contains(id));
    let idle: Vec<ObjectId> = idle
        .filter(|id| leads || session.owner(*id) == Some(session.local_slot()))
        .take(UNDONE_MAX)
        .collect();
    // What is somebody's who is present is his to delete.
    idle.into_iter().for_each(|id| _ = session.despawn(id));
}
