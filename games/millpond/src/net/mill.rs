//! One peer's part of the game: its boat and things, the view of the others, the leader's rules.
//!
//! The room or a test calls [`Mill::step`] each frame and hands it events. Absent: pictures,
//! packets.

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

/// Slot of the shared values, which only the leader writes.
const ALL: Slot = Slot::at(0);
/// Boats at least, by bots if players are fewer: the bell takes two.
const BOATS_MIN: usize = 3;
/// Frames after taking over in which unknown things of absent peers are believed: the last leader
/// may have known them.
const ARRIVALS: u32 = 600;
/// Forged things removed per frame at most: a peer may have spawned thousands.
const UNDONE_MAX: usize = 64;
/// Frames between two checks that enough things are afloat.
const RESTOCK_EVERY: u32 = 60;

/// [`Hands`] that ask the session.
struct Reach<'a>(&'a mut Session);

impl Hands for Reach<'_> {
    fn touch(&mut self, id: ObjectId) -> bool {
        self.0.claim(id).is_ok()
    }

    fn grab(&mut self, id: ObjectId) -> bool {
        self.0.lock(id).is_ok()
    }

    fn release(&mut self, id: ObjectId) {
        // Fails if another peer has claimed it meanwhile.
        _ = self.0.release(id);
    }

    fn delete(&mut self, id: ObjectId) -> bool {
        self.0.despawn(id).is_ok()
    }

    fn spawn(&mut self, thing: &Thing) -> Option<ObjectId> {
        self.0.spawn(thing).ok()
    }
}

/// State of the game at one peer.
#[derive(Debug, Clone)]
pub struct Mill {
    pond: Pond,
    keeper: Keeper,
    bots: [Bot; SEATS],
    /// Checks reported positions; used at the leader only.
    watch: Watch,
    /// Frame in which this peer began to lead; none while it does not.
    leads_since: Option<u32>,
    undone: u32,
    told: Option<Ledger>,
    nearness: Nearness,
}

impl Mill {
    /// A peer outside a match. `seed` is for its random decisions.
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

    /// The pond to draw.
    pub fn pond(&self) -> &Pond {
        &self.pond
    }

    /// Interest of the receivers, for the session's next tick.
    pub fn nearness(&mut self) -> &mut Nearness {
        &mut self.nearness
    }

    /// Forged things this peer removed or put back while it led.
    pub fn undone(&self) -> u32 {
        self.undone
    }

    /// Fills the pond of a new match; called at the creating peer only.
    pub fn found(&mut self, session: &mut Session) {
        for thing in Pond::litter(&mut self.pond.random) {
            // A session that is full ends the filling; the pond has fewer things then.
            _ = session.spawn(&thing);
        }
    }

    /// Resets for another match.
    pub fn enter(&mut self) {
        let frame = self.pond.frame;
        *self = Mill::new(self.pond.random.next_u64());
        // Sounds are told apart by their frame, so it never goes back.
        self.pond.frame = frame;
    }

    /// Seat of the local player; none of a spectator.
    pub fn seat(&self, session: &Session) -> Option<usize> {
        let plays = !session.is_spectator();
        Some(session.local_slot().index()).filter(|seat| plays && *seat < SEATS)
    }

    /// Plays one frame. The session already has this peer's input.
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

    /// Whether a bot rows the boat of a free seat: as many bots as players are missing.
    fn is_bot(&self, session: &Session, seat: usize) -> bool {
        let taken = |seat: usize| session.roster().by_slot(Slot::at(seat)).is_some();
        let bots = BOATS_MIN.saturating_sub(session.roster().len());
        !taken(seat) && (0..seat).filter(|seat| !taken(*seat)).count() < bots
    }

    /// Reads the session. Local things keep their exact state; all others are interpolated, so that
    /// a boat collides with what its player sees, and a claimed thing continues from there.
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

    /// The leader's frame: checks reports, applies the rules.
    fn keep(&mut self, session: &mut Session) {
        let since = *self.leads_since.get_or_insert(self.pond.frame);
        let led = self.pond.frame.wrapping_sub(since);
        let all = self.pond.floating.iter().map(|Floating { id, thing, mine, .. }| Said {
            id: *id,
            // The last report, because the interpolated place lags and hides a leap.
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
            // A remote peer must name its own boat as the mover of what it holds.
            Word::Mover(floating) => floating.mine || floating.thing.by == floating.holder,
        };
        self.keeper.step(&mut self.pond, &mut Reach(session), honest);
        if led > ARRIVALS && led.is_multiple_of(RESTOCK_EVERY) {
            self.keeper.restock(&mut self.pond, &mut Reach(session));
        }
        // A thing that the rules deleted is not suspicious when it is gone.
        all.iter().filter(|said| self.pond.find(said.id).is_none()).for_each(|said| self.watch.drop(said.id));
    }

    /// Deletes things that are not believed, and respawns them where they should be.
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

    /// Boats as their peers reported them last, and local ones as they are.
    fn boats_said(&self, session: &Session) -> [Option<Boat>; SEATS] {
        std::array::from_fn(|seat| {
            let here = self.pond.boats[seat]?;
            let told = boat_of(session, seat).filter(|id| !session.has_authority(*id));
            Some(told.and_then(|id| session.get::<Boat>(id)).unwrap_or(here))
        })
    }

    fn tell(&mut self, session: &mut Session, rowed: &[usize], leads: bool) {
        for Floating { id, thing, .. } in self.pond.floating.iter().filter(|floating| floating.mine) {
            // Rejected if another peer has claimed it in this frame; that peer then writes it.
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
                // The leader deletes the boats of absent players.
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
                // A lost event costs one sound.
                boat.into_iter().for_each(|id| _ = session.send_event(Target::Others, &[id], &Noise(*mark)));
            } else if leads {
                _ = session.send_event(Target::Others, &[], &Happening(*mark));
            }
        }
    }

    /// Takes an event of another peer: noises from the peer whose boat makes them, all others only
    /// from the leader.
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

/// Whether a thing was spawned by a peer that is gone, by the tag in its id.
fn is_left_behind(session: &Session, id: ObjectId) -> bool {
    session.roster().iter().all(|present| present.id.tag != id.creator())
}

/// Whether an event is a noise of a boat, not a mark of the rules.
fn is_small(what: What) -> bool {
    matches!(
        what,
        What::Stroke | What::Bump | What::Tow | What::Drop | What::Refused | What::Stack | What::Unstack
    )
}

/// The boat of a seat. Of the boats its player owns, that under the authority of the player's peer,
/// or else of the leader or of a peer that is gone; none under that of another peer.
fn boat_of(session: &Session, seat: usize) -> Option<ObjectId> {
    let (player, lead) = (Slot::at(seat), session.roster().leader().map(|lead| lead.slot));
    let boats = session
        .iter::<Boat>()
        .filter(|(id, boat)| usize::from(boat.seat) == seat && session.owner(*id) == Some(player));
    let trusted = boats.filter_map(|(id, _)| {
        let holder = session.authority(id);
        let own = holder == Some(player);
        // A peer that is gone may have held it rightfully.
        let left = session.version(id).is_some_and(|version| !session.roster().contains(version.authority));
        (own || holder == lead || left).then_some((!own, id))
    });
    trusted.min().map(|(_, id)| id)
}

/// Deletes boats that are not their seat's: forged by another peer, or of another branch.
fn scrap_boats(session: &mut Session, leads: bool) {
    let rowed: Vec<ObjectId> = (0..SEATS).filter_map(|seat| boat_of(session, seat)).collect();
    let idle = session.iter::<Boat>().map(|(id, _)| id).filter(|id| !rowed.contains(id));
    let idle: Vec<ObjectId> = idle
        .filter(|id| leads || session.owner(*id) == Some(session.local_slot()))
        .take(UNDONE_MAX)
        .collect();
    // Rejected for an object of a present peer, which deletes it itself.
    idle.into_iter().for_each(|id| _ = session.despawn(id));
}
