//! One peer of a chaos match: a session over a link, its player, and a second game of confirmed
//! inputs.
//!
//! The state of the session must always equal that of the second game. Called by `company.rs`.
//! Absent: faults.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::{Frame, Micros, PeerId, Prng, State, state_hash};
use gaggle_link::sim::SimCarrier;
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_timeline::{
    Driver, Inputs, RejectReason, RosterEntry, Session, SessionEvent, StreamId, Tick, TickClock, Timeline,
};

use super::broth::{self, MixGame, Press};
use super::chronicle::{self, Chronicle, Place, Seating};
use super::presses::{Presses, held_by, page_of};
use super::told::{Known, Stay, Told};

/// Least ticks between two changes of input: two in one tick would count as one.
const PRESS_TICKS_MIN: u64 = 4;

/// Events of a machine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) frames: u64,
    pub(super) rollbacks: u64,
    pub(super) lead_changes: u64,
    pub(super) histories: u64,
    pub(super) yields: u64,
    pub(super) desyncs: u64,
    pub(super) recoveries: u64,
    pub(super) compared: u64,
    pub(super) starts_over: u64,
    /// Frames shown by spectators, and snapshots that these passed on.
    pub(super) watched: u64,
    pub(super) passed_on: u64,
    /// Recoveries of spectators' states.
    pub(super) recoveries_watching: u64,
    /// Times a peer was reported interrupted and then resumed.
    pub(super) returns: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.frames += other.frames;
        self.rollbacks += other.rollbacks;
        self.lead_changes += other.lead_changes;
        self.histories += other.histories;
        self.yields += other.yields;
        self.desyncs += other.desyncs;
        self.recoveries += other.recoveries;
        self.compared += other.compared;
        self.starts_over += other.starts_over;
        self.watched += other.watched;
        self.passed_on += other.passed_on;
        self.recoveries_watching += other.recoveries_watching;
        self.returns += other.returns;
    }
}

/// Records of a match that all peers share.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) presses: Presses,
    pub(super) chronicle: Chronicle,
    /// Joins and leaves with their frame: each counts once, however many peers report it.
    pub(super) joins: BTreeSet<(PeerId, Frame)>,
    pub(super) leaves: BTreeSet<(PeerId, Frame)>,
    /// Whether the state of a peer is damaged, or was when it was sent to a joiner that may not
    /// have it yet.
    pub(super) damaged: bool,
    /// Joins of peers with two players.
    pub(super) joins_of_two: BTreeSet<(PeerId, Frame)>,
    /// Peer with another build.
    pub(super) stranger: Option<PeerId>,
}

pub(super) struct Machine {
    pub(super) timeline: Timeline<MixGame>,
    exchange: Driver,
    link: Endpoint<SimCarrier>,
    pace: TickClock,
    pub(super) on: bool,
    pub(super) leaving: bool,
    pub(super) asleep_until: Micros,
    pub(super) tally: Tally,
    pub(super) events: VecDeque<SessionEvent>,
    told: Told,
    ticks: u64,
    pressed_at: u64,
    advanced: bool,
    held: Press,
    /// Stream for which `held` is the input.
    held_of: Option<StreamId>,
    straight: MixGame,
    place: Place,
    straight_of: Option<Stay>,
    /// Frame at which the state was damaged. It differs from the right one until it is recovered.
    pub(super) damaged: Option<Frame>,
    flip_next: bool,
    /// Whether it spectates and got a damaged state. Its frames are not compared until it gets
    /// another one.
    pub(super) misled: bool,
    /// Hashes of the states it held lately, by frame, if they are wanted: in one branch and
    /// undamaged.
    pub(super) lately: Option<BTreeMap<Frame, u64>>,
    lately_in: u64,
}

/// Events kept to describe a failure.
const EVENTS_KEPT: usize = 8;

impl Machine {
    pub(super) fn new(
        session: Session<Press>,
        broth: MixGame,
        carrier: SimCarrier,
        now: Micros,
        seed: u64,
    ) -> Machine {
        let tick_rate = session.config().tick_rate;
        Machine {
            straight: broth.clone(),
            timeline: Timeline::new(session, broth),
            exchange: Driver::default(),
            link: Endpoint::new(carrier, LinkConfig::default(), seed),
            pace: TickClock::new(tick_rate, now),
            on: true,
            leaving: false,
            asleep_until: Micros::ZERO,
            tally: Tally::default(),
            events: VecDeque::new(),
            told: Told::default(),
            ticks: 0,
            pressed_at: 0,
            advanced: false,
            held: Press::default(),
            held_of: None,
            place: Place::START,
            straight_of: None,
            damaged: None,
            flip_next: false,
            misled: false,
            lately: None,
            lately_in: 0,
        }
    }

    /// Drops the session. Returns the bytes it held.
    pub(super) fn dispose(self) -> u64 {
        let Machine { timeline, exchange, .. } = self;
        let freed = allocation_counter::measure(|| drop((timeline, exchange)));
        freed.bytes_current.min(0).unsigned_abs()
    }

    /// Damages the state in the next tick.
    pub(super) fn flip_a_bit(&mut self) {
        self.damaged = Some(self.session().current_frame());
        self.flip_next = true;
    }

    pub(super) fn session(&self) -> &Session<Press> {
        self.timeline.session()
    }

    /// Whether it considers itself a member.
    pub(super) fn plays(&self) -> bool {
        self.on && self.session().is_member()
    }

    /// Whether its state is damaged.
    pub(super) fn is_wrong(&self) -> bool {
        self.damaged.is_some() || self.misled
    }

    /// Whether it spectates a running match.
    pub(super) fn shows(&self) -> bool {
        self.on && self.session().is_spectating() && self.session().is_running()
    }

    /// Node of the last frame it has confirmed.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Roster entry of its players, while they have one.
    pub(super) fn own_row(&self) -> Option<RosterEntry> {
        let session = self.session();
        let rows = session.roster().iter().filter(|row| row.stream.peer == session.local_peer());
        rows.max_by_key(|row| row.first_frame).filter(|_| session.is_member()).copied()
    }

    /// Runs the ticks that are due.
    pub(super) fn step(
        &mut self,
        index: usize,
        now: Micros,
        rng: &mut Prng,
        books: &mut Books,
    ) -> Result<(), String> {
        let due = self.pace.ticks_due(now, self.session().speed_ppm());
        if due == 0 {
            return Ok(());
        }
        self.exchange.receive(now, &mut self.link, self.timeline.session_mut());
        let due = due + self.timeline.session_mut().take_catch_up_ticks(4);
        for _ in 0..due {
            let own = self.press(rng, &mut books.presses);
            let decided = self.session().local_input_frame();
            self.ticks += 1;
            if self.flip_next {
                self.flip_next = false;
                broth::flip_a_bit();
            }
            self.advanced = self.timeline.tick(now) == Tick::Advanced;
            if let Some(stream) = own
                && self.own_row().is_some_and(|row| row.stream == stream)
            {
                let page = books.presses.page(stream);
                let frames = (decided.next(), self.session().local_input_frame());
                books.presses.write(page, frames, self.held)?;
            }
            self.exchange.send(now, &mut self.link, self.timeline.session_mut());
            self.read_events(index, books)?;
            self.follow(index, books)?;
        }
        let stats = self.session().stats();
        if self.session().is_spectating() {
            // Spectators' frames are checked on arrival, and count apart from those of players.
            self.tally.watched = stats.frames;
            self.tally.passed_on = stats.snapshots_sent;
            self.tally.recoveries_watching = stats.recoveries;
            return Ok(());
        }
        self.tally.frames = stats.frames;
        self.tally.rollbacks = stats.rollbacks;
        self.tally.starts_over = stats.rejoins;
        self.tally.recoveries = stats.recoveries;
        Ok(())
    }

    /// Changes the player's input now and then. Returns the stream it plays in.
    fn press(&mut self, rng: &mut Prng, presses: &mut Presses) -> Option<StreamId> {
        let own = self.own_row().map(|row| row.stream);
        if self.held_of != own {
            self.held_of = own;
            self.held = Press::default();
        }
        let stream = own?;
        if self.advanced && self.ticks >= self.pressed_at + PRESS_TICKS_MIN && rng.below(6) == 0 {
            self.pressed_at = self.ticks;
            let page = presses.page(stream);
            self.held = presses.press(page);
        }
        let session = self.timeline.session_mut();
        for (nth, slot) in session.local_slots().into_iter().enumerate() {
            // A slot can be lost in this very tick; its input is then dropped.
            let _ = session.set_input(slot, held_by(self.held, nth));
        }
        own
    }

    fn read_events(&mut self, index: usize, books: &mut Books) -> Result<(), String> {
        self.told.begin_stay(self.stay());
        let own = self.session().local_peer();
        while let Some(event) = self.timeline.session_mut().poll_event() {
            if !self.told.is_news(own, &event) {
                return Err(format!("machine {index} got an event twice or without cause: {event:?}"));
            }
            match &event {
                // At the start of a stay differences are reported; no peer joined or left.
                SessionEvent::Joined { .. } | SessionEvent::Left { .. } if self.told.stay_began => {}
                SessionEvent::Joined { peer, first, slots } => {
                    books.joins.insert((*peer, *first));
                    if slots.len() > 1 {
                        books.joins_of_two.insert((*peer, *first));
                    }
                }
                SessionEvent::Left { peer, last } => _ = books.leaves.insert((*peer, *last)),
                SessionEvent::LeaderChanged { .. } => self.tally.lead_changes += 1,
                SessionEvent::ViewChanged { .. } => self.tally.histories += 1,
                SessionEvent::BranchAbandoned { .. } => {
                    self.tally.histories += 1;
                    self.tally.yields += 1;
                }
                SessionEvent::DesyncDetected { .. } => self.tally.desyncs += 1,
                SessionEvent::Rejected { peer, reason: RejectReason::Shape { .. } }
                    if Some(*peer) == books.stranger => {}
                // No peer of this run breaks a rule.
                SessionEvent::PeerFault { .. }
                | SessionEvent::Rejected { .. }
                | SessionEvent::InputsDiverged { .. }
                | SessionEvent::StateNotDecodable { .. } => {
                    return Err(format!("machine {index} blames a peer: {event:?}"));
                }
                _ => {}
            }
            if self.events.len() == EVENTS_KEPT {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
        let (known, recoveries) = (Known::by(self.session()), self.session().stats().recoveries);
        self.told.expect(known, recoveries).map_err(|why| format!("machine {index} {why}"))?;
        let roster = self.timeline.session().roster();
        self.told.forget_absent(|peer| roster.iter().any(|row| row.stream.peer == peer && row.is_active()));
        self.tally.returns = self.told.back;
        if self.session().is_member() {
            self.told.is_in();
        }
        Ok(())
    }

    /// Whether a player was reported interrupted and not resumed.
    pub(super) fn misses_peer(&self) -> bool {
        self.told.misses_peer()
    }

    fn stay(&self) -> Stay {
        Stay { origin: self.session().start_frame(), states_taken: self.session().stats().snapshots_received }
    }

    /// Plays the second game on, with recorded inputs, up to what the session confirmed, and
    /// compares.
    fn follow(&mut self, index: usize, books: &mut Books) -> Result<(), String> {
        if !self.session().is_running() {
            return Ok(());
        }
        self.begin_stay(index, books)?;
        if self.misled {
            return Ok(());
        }
        let session = self.timeline.session();
        let history = session.branch_id();
        let Books { presses, chronicle, .. } = books;
        while chronicle.frame(self.place) < session.confirmed_frame() {
            let frame = chronicle.frame(self.place).next();
            let Some(inputs) = session.confirmed_inputs(frame) else {
                return Err(format!("machine {index}: {frame} was confirmed and is already forgotten"));
            };
            let mut seating = seating(session.roster(), frame, presses);
            if session.is_spectating() && inputs.present_slots() != chronicle::present(&seating) {
                // A burst of frames may include the departure of a peer, whose slot the roster has
                // dropped since; the rosters of other peers had it.
                let seen =
                    chronicle.find(history, self.place, frame).and_then(|place| chronicle.seating(place));
                seating = seen.unwrap_or(seating);
            }
            let (row, present) = (chronicle::row_of(&seating, frame, presses), chronicle::present(&seating));
            if inputs.present_slots() != present {
                let told = inputs.present_slots();
                return Err(format!("machine {index} at {frame}: {told:?} play, the roster has {present:?}"));
            }
            for slot in present {
                let (told, pressed) = (inputs.get(slot), row[slot.index()]);
                if told != pressed {
                    let what = "an input was lost, moved or made up";
                    return Err(format!(
                        "machine {index} at {frame}: {slot} pressed {pressed:?} and {told:?} counts: {what}"
                    ));
                }
            }
            self.straight.tick_with(&Inputs::confirmed(frame, &row, present));
            let digest = self.straight.digest();
            self.place = chronicle.confirm(index, history, self.place, seating, digest)?;
        }
        chronicle.note(history, self.place);
        self.compare(index, chronicle)
    }

    /// Follows a session that has imported a state, which a peer must have confirmed.
    fn begin_stay(&mut self, index: usize, books: &Books) -> Result<(), String> {
        let session = self.timeline.session();
        let stay = self.stay();
        if self.straight_of == Some(stay) {
            return Ok(());
        }
        if stay == Stay::default() {
            // It starts with the first frame, so the second game can follow it.
            self.straight_of = Some(stay);
            return Ok(());
        }
        let at = books.chronicle.frame(self.place);
        if at == session.start_frame() && !books.chronicle.knows(session.branch_id()) {
            // It goes on alone, from its own state.
            self.straight_of = Some(stay);
            return Ok(());
        }
        let Some((frame, game)) = self.timeline.confirmed_game() else { return Ok(()) };
        let Some(place) = books.chronicle.find(session.branch_id(), self.place, frame) else {
            return Err(format!("machine {index} imported a state of {frame} that no peer confirmed"));
        };
        if books.chronicle.digest(place).is_some_and(|digest| digest != game.digest()) {
            if session.is_spectating() && books.damaged {
                // A damaged state cannot be told from a right one on import: it shows later.
                self.misled = true;
                self.straight_of = Some(stay);
                self.lately.iter_mut().for_each(BTreeMap::clear);
                return Ok(());
            }
            return Err(format!("machine {index} imported a wrong state of {frame}"));
        }
        self.straight.copy_from(game);
        self.place = place;
        self.straight_of = Some(stay);
        (self.damaged, self.misled) = (None, false);
        // States held before are not compared, even in the same branch.
        self.lately.iter_mut().for_each(BTreeMap::clear);
        Ok(())
    }

    /// Compares the confirmed state with that of the second game.
    fn compare(&mut self, index: usize, chronicle: &Chronicle) -> Result<(), String> {
        let session = self.timeline.session();
        let Some((frame, game)) = self.timeline.confirmed_game() else { return Ok(()) };
        let equal = if frame == chronicle.frame(self.place) {
            *game == self.straight
        } else {
            let place = chronicle.find(session.branch_id(), self.place, frame);
            let digest = place.and_then(|place| chronicle.digest(place));
            digest.is_none_or(|digest| digest == game.digest())
        };
        match self.damaged {
            None if !equal => {
                return Err(format!("machine {index}: rolled back and straight run differ at {frame}"));
            }
            // Resimulated without the damage, or recovered with another peer's state.
            Some(at) if equal && frame > at => self.damaged = None,
            _ => {}
        }
        self.tally.compared += 1;
        let history = self.timeline.session().branch_id();
        if let Some(lately) = &mut self.lately {
            if self.lately_in != history {
                self.lately_in = history;
                lately.clear();
            }
            if self.damaged.is_none() {
                lately.insert(frame, state_hash(game));
            }
        }
        Ok(())
    }
}

/// Page of the stream in each slot at a frame.
fn seating(roster: &[RosterEntry], frame: Frame, presses: &mut Presses) -> Seating {
    let mut seating = Seating::default();
    for row in roster.iter().filter(|row| row.is_present_at(frame)) {
        let page = presses.page(row.stream);
        for (nth, slot) in row.slots.iter().enumerate() {
            seating[slot.index()] = page_of(page, nth);
        }
    }
    seating
}
