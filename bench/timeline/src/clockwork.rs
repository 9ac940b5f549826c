//! Peers with clocks of their own, each of which ticks when its clock is due, at its session's
//! speed.
//!
//! A peer reads its socket only then. Gaggle alone: the other libraries leave time to the game.
//! Called by `rows/time.rs`. Absent: figures of the report.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::{Input, Micros, Slot, State};
use gaggle_link::Endpoint;
use gaggle_timeline::{Driver, Game, Inputs, Session, Tick, TickClock, Timeline, TimelineConfig};

use crate::chance::happens;
use crate::gaggle::session;
use crate::link::{Wire, link};
use crate::network::{NetConditions, Network, Socket};

/// Virtual time between two steps of all peers.
const STEP_US: u64 = 1_000;

/// Most frames that a peer catches up at once.
const MAKE_UP_TICKS_MAX: u32 = 4;

/// Least distance of two taps of one player, in ticks: two taps in one frame are one, which no
/// library can tell apart.
const TAP_TICKS_MIN: u64 = 10;

/// A held number, and a button that is pressed and released between two ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
pub struct Pad {
    /// What is held; changes are counted.
    pub held: u8,
    /// Whether the button was tapped.
    #[input(one_shot)]
    pub tap: bool,
}

/// What one player did, as counted by the game.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, State)]
pub struct Seen {
    held: u8,
    /// Changes of what is held.
    pub changes: u32,
    /// Taps of the button.
    pub taps: u32,
}

/// A game that counts its inputs, so that a lost or repeated one shows.
#[derive(Clone, PartialEq, Eq, Default, Debug, State)]
pub struct Ledger {
    seen: [Seen; 4],
}

impl Ledger {
    /// What a player did, as this game saw it.
    pub fn seen(&self, player: usize) -> Seen {
        self.seen[player]
    }
}

impl Game for Ledger {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        for (player, seen) in self.seen.iter_mut().enumerate() {
            let pad = inputs.get(Slot::at(player));
            seen.changes += u32::from(pad.held != seen.held);
            seen.held = pad.held;
            seen.taps += u32::from(pad.tap);
        }
    }
}

/// One peer with its game and its clock.
pub struct Machine {
    timeline: Timeline<Ledger>,
    exchange: Driver,
    link: Endpoint<Wire>,
    pace: TickClock,
    /// Speed of its clock, in millionths.
    pub clock_ppm: u64,
    /// True time before which it does nothing, in microseconds.
    pub asleep_until_us: u64,
    ticks: u64,
    pressed: Seen,
    tapped_at: u64,
    /// Ticks without a new frame.
    pub stalled: u64,
    /// Largest deviation of its speed from 1, in millionths.
    pub bend_ppm_max: u32,
}

impl Machine {
    /// Session of this peer.
    pub fn session(&self) -> &Session<Pad> {
        self.timeline.session()
    }

    /// Game of this peer.
    pub fn game(&self) -> &Ledger {
        self.timeline.game()
    }

    /// What its player really did.
    pub fn pressed(&self) -> Seen {
        self.pressed
    }

    /// Its position in the match, in frames and fractions.
    pub fn position(&self) -> f64 {
        let frame = f64::from(self.session().current_frame().number());
        frame + f64::from(self.pace.alpha_permille()) / 1_000.0
    }

    /// Restarts its clock: time asleep is lost, as to a suspended page.
    fn wake(&mut self, now: Micros) {
        self.pace = TickClock::new(60, now);
    }
}

/// All peers, and the network between them.
pub struct Clockwork {
    network: Rc<RefCell<Network<Vec<u8>>>>,
    /// Peers, by slot.
    pub machines: Vec<Machine>,
    now_us: u64,
    seed: u64,
    /// Whether players press buttons.
    pub pressing: bool,
}

impl Clockwork {
    /// Peers with perfect clocks and one player each, in a running match.
    ///
    /// # Panics
    /// If the handshake takes more than ten seconds.
    pub fn new(players: usize, config: &TimelineConfig, weather: NetConditions, seed: u64) -> Clockwork {
        let clear = NetConditions { jitter_us: 0, loss: 0.0, ..weather };
        let network = Rc::new(RefCell::new(Network::new(players, clear, seed)));
        let machines = (0..players).map(|me| Machine {
            timeline: Timeline::new(session(config.clone(), players, me), Ledger::default()),
            exchange: Driver::default(),
            link: link(Socket::new(&network, me), me, players),
            pace: TickClock::new(60, Micros::ZERO),
            clock_ppm: 1_000_000,
            asleep_until_us: 0,
            ticks: 0,
            pressed: Seen::default(),
            tapped_at: 0,
            stalled: 0,
            bend_ppm_max: 0,
        });
        let machines = machines.collect();
        let mut clockwork = Clockwork { network, machines, now_us: 0, seed, pressing: false };
        while !clockwork.machines.iter().all(|machine| machine.session().is_running()) {
            clockwork.step();
            assert!(clockwork.now_us < 10_000_000, "the handshake takes more than ten seconds");
        }
        clockwork.network.borrow_mut().set_weather(weather);
        clockwork.pressing = true;
        clockwork
    }

    /// Network, to change its conditions.
    pub fn network(&self) -> std::cell::RefMut<'_, Network<Vec<u8>>> {
        self.network.borrow_mut()
    }

    /// True time in microseconds, which no peer sees.
    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// Runs for some seconds of true time; `watch` sees every step.
    pub fn run(&mut self, seconds: f64, mut watch: impl FnMut(&Clockwork)) {
        let end_us = self.now_us + (seconds * 1e6) as u64;
        while self.now_us < end_us {
            self.step();
            watch(self);
        }
    }

    fn step(&mut self) {
        self.now_us += STEP_US;
        self.network.borrow_mut().set_now(self.now_us);
        for player in 0..self.machines.len() {
            self.step_machine(player);
        }
    }

    fn step_machine(&mut self, player: usize) {
        let (now_us, seed, pressing) = (self.now_us, self.seed, self.pressing);
        let machine = &mut self.machines[player];
        let now = Micros::new((u128::from(now_us) * u128::from(machine.clock_ppm) / 1_000_000) as u64);
        if now_us < machine.asleep_until_us {
            machine.wake(now);
            return;
        }
        let session = machine.timeline.session_mut();
        let speed_ppm = session.speed_ppm();
        let mut due = machine.pace.ticks_due(now, speed_ppm);
        if due == 0 {
            return;
        }
        machine.exchange.receive(now, &mut machine.link, session);
        due += session.take_catch_up_ticks(MAKE_UP_TICKS_MAX);
        machine.bend_ppm_max = machine.bend_ppm_max.max(speed_ppm.abs_diff(1_000_000));
        for _ in 0..due {
            if pressing {
                machine.press(player, seed);
            }
            if machine.timeline.tick(now) == Tick::Stalled {
                machine.stalled += 1;
            }
            machine.exchange.send(now, &mut machine.link, machine.timeline.session_mut());
        }
        while machine.timeline.session_mut().poll_event().is_some() {}
    }
}

impl Machine {
    fn press(&mut self, player: usize, seed: u64) {
        self.ticks += 1;
        let slot = Slot::at(player);
        let drawn = |what: u64| [player as u64, self.ticks, what];
        let session = self.timeline.session_mut();
        if happens(0.1, seed, drawn(1)) {
            self.pressed.held = self.pressed.held.wrapping_add(1);
            self.pressed.changes += 1;
        }
        let held = self.pressed.held;
        if happens(0.05, seed, drawn(2)) && self.ticks >= self.tapped_at + TAP_TICKS_MIN {
            self.tapped_at = self.ticks;
            self.pressed.taps += 1;
            session.set_input(slot, Pad { held, tap: true }).expect("a local slot");
        }
        // Released before the tick samples it.
        session.set_input(slot, Pad { held, tap: false }).expect("a local slot");
    }
}
