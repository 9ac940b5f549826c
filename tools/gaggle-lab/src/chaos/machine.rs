//! One machine of a match: a session over a real link on the simulated network, its player, and a second game that only
//! ever sees what is confirmed.

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, Prng, Slot, State, state_hash};
use gaggle_link::sim::SimCarrier;
use gaggle_link::{Link, LinkConfig};
use gaggle_timeline::{Event, Exchange, Pace, Session, Tick, Timeline};

use super::broth::{self, Broth, Press, SLOTS};
use super::presses::Presses;

/// A player changes its mind at most every so many ticks: two changes in one tick would count as one.
const PRESS_TICKS_MIN: u64 = 4;

/// What a machine has been through.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) frames: u64,
    pub(super) rollbacks: u64,
    pub(super) joins: u64,
    pub(super) leaves: u64,
    pub(super) lead_changes: u64,
    pub(super) histories: u64,
    pub(super) yields: u64,
    pub(super) desyncs: u64,
    pub(super) recoveries: u64,
    pub(super) compared: u64,
    pub(super) starts_over: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.frames += other.frames;
        self.rollbacks += other.rollbacks;
        self.joins += other.joins;
        self.leaves += other.leaves;
        self.lead_changes += other.lead_changes;
        self.histories += other.histories;
        self.yields += other.yields;
        self.desyncs += other.desyncs;
        self.recoveries += other.recoveries;
        self.compared += other.compared;
        self.starts_over += other.starts_over;
    }
}

/// What was confirmed, by history and frame, and by whom first.
pub(super) type Confirmed = BTreeMap<(u64, Frame), (usize, u64)>;

pub(super) struct Machine {
    pub(super) timeline: Timeline<Broth>,
    exchange: Exchange,
    link: Link<SimCarrier>,
    pace: Pace,
    pub(super) on: bool,
    pub(super) leaving: bool,
    pub(super) asleep_until: Micros,
    pub(super) tally: Tally,
    pub(super) events: Vec<Event>,
    ticks: u64,
    pressed_at: u64,
    advanced: bool,
    held: Press,
    /// The stay in which it is held: the state it began with, how many were taken, how often it was lost.
    held_of: (Frame, u64, u64),
    straight: Broth,
    straight_at: Frame,
    straight_of: Option<u64>,
    last_seen: [Press; SLOTS],
    /// The state was damaged at this frame; until it is made good it differs.
    pub(super) damaged: Option<Frame>,
    flip_next: bool,
}

impl Machine {
    pub(super) fn new(
        session: Session<Press>,
        broth: Broth,
        carrier: SimCarrier,
        now: Micros,
        seed: u64,
    ) -> Machine {
        let frames_per_second = session.config().frames_per_second;
        Machine {
            straight: broth.clone(),
            timeline: Timeline::new(session, broth),
            exchange: Exchange::default(),
            link: Link::new(carrier, LinkConfig::default(), seed),
            pace: Pace::new(frames_per_second, now),
            on: true,
            leaving: false,
            asleep_until: Micros::ZERO,
            tally: Tally::default(),
            events: Vec::new(),
            ticks: 0,
            pressed_at: 0,
            advanced: false,
            held: Press::default(),
            held_of: (Frame::START, 0, 0),
            straight_at: Frame::START,
            straight_of: None,
            last_seen: [Press::default(); SLOTS],
            damaged: None,
            flip_next: false,
        }
    }

    /// A bit of the state changes by itself.
    pub(super) fn flip_a_bit(&mut self) {
        self.damaged = Some(self.session().current_frame());
        self.flip_next = true;
    }

    pub(super) fn session(&self) -> &Session<Press> {
        self.timeline.session()
    }

    /// Whether it plays, as far as it knows.
    pub(super) fn plays(&self) -> bool {
        self.on && self.session().is_member()
    }

    /// Runs whatever is due.
    pub(super) fn step(
        &mut self,
        index: usize,
        now: Micros,
        rng: &mut Prng,
        presses: &mut Presses,
        confirmed: &mut Confirmed,
    ) -> Result<(), String> {
        let due = self.pace.ticks_due(now, self.session().speed_ppm());
        if due == 0 {
            return Ok(());
        }
        self.exchange.receive(now, &mut self.link, self.timeline.session_mut());
        let due = due + self.timeline.session_mut().take_ticks_to_make_up(4);
        for _ in 0..due {
            self.press(index, rng, presses);
            self.ticks += 1;
            if self.flip_next {
                self.flip_next = false;
                broth::flip_a_bit();
            }
            self.advanced = self.timeline.tick(now) == Tick::Advanced;
            self.exchange.send(now, &mut self.link, self.timeline.session_mut());
            self.read_events();
            self.follow(index, presses, confirmed)?;
        }
        let stats = self.session().stats();
        self.tally.frames = stats.frames;
        self.tally.rollbacks = stats.rollbacks;
        self.tally.starts_over = stats.starts_over;
        self.tally.recoveries = stats.recoveries;
        Ok(())
    }

    fn press(&mut self, index: usize, rng: &mut Prng, presses: &mut Presses) {
        let session = self.timeline.session_mut();
        let slots = session.local_slots();
        let stats = session.stats();
        let stay = (session.origin_frame(), stats.states_taken, stats.starts_over);
        if self.held_of != stay {
            self.held_of = stay;
            self.held = Press::default();
            presses.begin(index);
        }
        if self.advanced
            && !slots.is_empty()
            && self.ticks >= self.pressed_at + PRESS_TICKS_MIN
            && rng.below(6) == 0
        {
            self.pressed_at = self.ticks;
            self.held = presses.press(index, session.origin_frame(), session.current_frame());
        }
        for slot in slots {
            // A seat may be lost in this very tick; then nobody presses.
            let _ = session.set_input(slot, self.held);
        }
    }

    fn read_events(&mut self) {
        while let Some(event) = self.timeline.session_mut().next_event() {
            match &event {
                Event::Joined { .. } => self.tally.joins += 1,
                Event::Left { .. } => self.tally.leaves += 1,
                Event::LeadChanged { .. } => self.tally.lead_changes += 1,
                Event::HistoryChanged { ours_lost, .. } => {
                    self.tally.histories += 1;
                    self.tally.yields += u64::from(*ours_lost);
                }
                Event::Desync { .. } => self.tally.desyncs += 1,
                _ => {}
            }
            self.events.push(event);
        }
    }

    /// The second game follows what is confirmed, and whatever the machine holds must equal it.
    fn follow(
        &mut self,
        index: usize,
        presses: &mut Presses,
        confirmed: &mut Confirmed,
    ) -> Result<(), String> {
        let session = self.timeline.session();
        if !session.is_running() {
            return Ok(());
        }
        let stay = u64::from(session.origin_frame().number()) << 32 | session.stats().states_taken;
        if self.straight_of != Some(stay) {
            let Some((frame, game)) = self.timeline.confirmed_game() else { return Ok(()) };
            if self.straight_of.is_some() || frame > Frame::START {
                self.straight.copy_from(game);
                self.straight_at = frame;
            }
            self.straight_of = Some(stay);
            self.last_seen = [Press::default(); SLOTS];
            self.damaged = None;
        }
        let history = session.history();
        while self.straight_at < session.confirmed_frame() {
            let frame = self.straight_at.next();
            let Some(inputs) = session.confirmed_inputs(frame) else {
                return Err(format!("machine {index}: {frame} was confirmed and is already forgotten"));
            };
            for slot in (0..SLOTS).map(Slot::at) {
                let press = inputs.get(slot);
                presses.check(index, frame, self.last_seen[slot.index()], press)?;
                self.last_seen[slot.index()] = press;
            }
            self.straight.tick_with(&inputs);
            self.straight_at = frame;
            let hash = state_hash(&self.straight);
            let (other, known) = confirmed.entry((history, frame)).or_insert((index, hash));
            if *known != hash {
                return Err(format!("machines {other} and {index} confirmed different states for {frame}"));
            }
        }
        if let Some((frame, game)) = self.timeline.confirmed_game()
            && let Some((_, straight)) = confirmed.get(&(history, frame))
        {
            let equal = state_hash(game) == *straight;
            match self.damaged {
                None if !equal => {
                    return Err(format!("machine {index}: rolled back and straight run differ at {frame}"));
                }
                // Simulated again without the damage, or made good with somebody else's state.
                Some(at) if equal && frame > at => self.damaged = None,
                _ => {}
            }
            self.tally.compared += 1;
        }
        Ok(())
    }
}
