//! Whole matches of many machines in virtual time, by the game that asks and by its twin that reads
//! every wish in every frame: what questions save.
//!
//! Called by tests and by the bench. Absent: rooms, loss, judgment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::{Micros, PeerId, Slot, State, state_hash};
use gaggle_timeline::{Game, Incarnation, Inputs, PeerSlots, Session, Tick, TickClock, Timeline};

use crate::press::{Manner, Presser};
use crate::{Gosling, Mode, Setup, Wish, rollback};

/// Frames from one recorded state to the next.
const RECORDED: u32 = 4;

/// The game by the same rules, for an engine that is told of every wish in every frame.
#[derive(Debug, Clone, State)]
pub struct Reading {
    /// The match that is played.
    pub game: Gosling,
}

impl Game for Reading {
    type Input = Wish;

    fn tick(&mut self, inputs: &Inputs<'_, Wish>) {
        for slot in inputs.present_slots() {
            inputs.get(slot);
        }
        self.game.tick(inputs);
    }
}

/// A game whose players see goslings.
trait Shows: Game<Input = Wish> + Clone {
    fn of(game: Gosling) -> Self;
    fn shown(&self) -> &Gosling;
}

impl Shows for Gosling {
    fn of(game: Gosling) -> Gosling {
        game
    }

    fn shown(&self) -> &Gosling {
        self
    }
}

impl Shows for Reading {
    fn of(game: Gosling) -> Reading {
        Reading { game }
    }

    fn shown(&self) -> &Gosling {
        &self.game
    }
}

/// A match to play.
#[derive(Debug, Clone, Copy)]
pub struct Play {
    /// Mode of the match.
    pub mode: Mode,
    /// Machines, one player each, in a mesh.
    pub machines: usize,
    /// How the players press.
    pub manner: Manner,
    /// Frames between a press and its effect.
    pub delay: u32,
    /// Time a packet takes.
    pub latency: Micros,
    /// Virtual time of the match.
    pub span: Micros,
    /// Seed of the match and of the players.
    pub seed: u64,
}

/// What a match came to, all machines together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Frames simulated for the first time.
    pub frames: u64,
    /// Frames simulated again.
    pub again: u64,
    /// Times a machine went back.
    pub rollbacks: u64,
    /// Frames of the deepest rollback.
    pub deepest: u32,
    /// Corrections of wishes that changed no answer.
    pub harmless: u64,
    /// Ticks in which a machine waited.
    pub stalled: u64,
    /// Bytes of all packets.
    pub bytes: u64,
    /// Hashes of confirmed states, by frame: one a frame if the machines agree.
    pub confirmed: BTreeMap<u32, BTreeSet<u64>>,
}

impl Outcome {
    /// Frames simulated again for each thousand that are simulated once.
    pub fn again_permille(&self) -> u64 {
        self.again * 1_000 / self.frames.max(1)
    }

    /// Frames a rollback goes back on average, in thousandths.
    pub fn depth_permille(&self) -> u64 {
        self.again * 1_000 / self.rollbacks.max(1)
    }
}

/// The same match by the game, and by its twin.
pub fn compare(play: Play) -> [Outcome; 2] {
    [run::<Gosling>(play), run::<Reading>(play)]
}

struct Machine<G: Game> {
    timeline: Timeline<G>,
    clock: TickClock,
    presser: Presser,
    seen: u32,
}

/// A packet on its way: when it arrives, from, to, whether it is a message.
type Sent = (Micros, usize, usize, bool, Vec<u8>);

fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

fn machine<G: Shows>(play: Play, index: usize) -> Machine<G> {
    let config = gaggle_timeline::TimelineConfig {
        // What is predicted depends on the latency alone.
        input_delay_frames: play.delay,
        input_delay_range: (play.delay, play.delay),
        ..rollback::timeline_config(play.mode)
    };
    let seats: Vec<PeerSlots> =
        (0..play.machines).map(|nth| PeerSlots::new(peer(nth), Slot::at(nth))).collect();
    let incarnation = Incarnation(index as u32 + 100);
    let mut session =
        Session::new(config, peer(index), &seats, incarnation).expect("the settings are in range");
    for other in (0..play.machines).filter(|other| *other != index) {
        session.handle_connected(Micros::ZERO, peer(other)).expect("it is in the match");
    }
    // Screens are not in step.
    let phase = Micros::new((index * 7_919 % 33_000) as u64);
    let game = Gosling::new(Setup::of(play.mode), play.seed);
    Machine {
        timeline: Timeline::new(session, G::of(game)),
        clock: TickClock::new(rollback::TICK_RATE, phase),
        presser: Presser::new(index, play.manner, play.seed),
        seen: 0,
    }
}

impl<G: Shows> Machine<G> {
    /// Ticks that are due, with what its player presses.
    fn run(&mut self, now: Micros, slot: Slot, outcome: &mut Outcome) -> bool {
        let due = self.clock.ticks_due(now, self.timeline.session().speed_ppm());
        for _ in 0..due {
            let game = self.timeline.game().shown();
            let wish = self.presser.press(game, &game.reed());
            self.timeline.session_mut().set_input(slot, wish).expect("the slot is its own");
            outcome.stalled += u64::from(self.timeline.tick(now) == Tick::Stalled);
            while self.timeline.session_mut().poll_event().is_some() {}
        }
        if due > 0
            && let Some((frame, game)) = self.timeline.confirmed_game()
            && frame.number() != self.seen
            && frame.number().is_multiple_of(RECORDED)
        {
            self.seen = frame.number();
            outcome.confirmed.entry(self.seen).or_default().insert(state_hash(game.shown()));
        }
        due > 0
    }
}

fn run<G: Shows>(play: Play) -> Outcome {
    const STEP: Micros = Micros::from_millis(1);
    let mut machines: Vec<Machine<G>> = (0..play.machines).map(|index| machine(play, index)).collect();
    let mut sent: VecDeque<Sent> = VecDeque::new();
    let (mut now, mut outcome) = (Micros::ZERO, Outcome::default());
    while now < play.span {
        now += STEP;
        while sent.front().is_some_and(|sent| sent.0 <= now) {
            let Some((_, from, to, is_message, bytes)) = sent.pop_front() else { break };
            let session = machines[to].timeline.session_mut();
            match is_message {
                true => session.handle_message(now, peer(from), &bytes),
                false => session.handle_packet(now, peer(from), &bytes),
            }
        }
        for (index, machine) in machines.iter_mut().enumerate() {
            if !machine.run(now, Slot::at(index), &mut outcome) {
                continue;
            }
            while let Some(packet) = machine.timeline.session_mut().poll_transmit() {
                let to = packet.to.to_u128() as usize - 1;
                sent.push_back((now + play.latency, index, to, packet.is_reliable(), packet.bytes.to_vec()));
            }
        }
    }
    for machine in &machines {
        let stats = machine.timeline.session().stats();
        outcome.frames += stats.frames;
        outcome.again += stats.frames_resimulated;
        outcome.rollbacks += stats.rollbacks;
        outcome.deepest = outcome.deepest.max(stats.rollback_frames_max);
        outcome.harmless += stats.corrections_without_rollback;
        outcome.bytes += stats.bytes_sent;
    }
    outcome
}
