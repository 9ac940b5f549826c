//! Peers with clocks of their own: each ticks by its clock, at the speed its session asks for, and
//! reads its socket only then. Gaggle alone, because other libraries leave time to the game.
//!
//! `rows::time` runs it. Absent: what is judged.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::{Input, Micros, Slot, State};
use gaggle_link::Endpoint;
use gaggle_timeline::{Driver, Game, Inputs, Session, Tick, TickClock, Timeline, TimelineConfig};

use crate::chance::happens;
use crate::gaggle::session;
use crate::link::{Wire, link};
use crate::network::{NetConditions, Network, Socket};

/// Resolution of the simulated time.
const STEP_US: u64 = 1_000;

/// Frames a peer that slept may catch up at once.
const MAKE_UP_TICKS_MAX: u32 = 4;

/// Least distance between two taps of a player, in ticks: two taps in one frame are one for any
/// library.
const TAP_TICKS_MIN: u64 = 10;

/// A held direction, and a button pressed and released between two ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
pub struct Pad {
    /// The held direction.
    pub held: u8,
    /// Whether the button was tapped.
    #[input(one_shot)]
    pub tap: bool,
}

/// Actions of one player as the game saw them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, State)]
pub struct Seen {
    held: u8,
    /// Changes of the held direction.
    pub changes: u32,
    /// Taps of the button.
    pub taps: u32,
}

/// A game that counts its inputs, to show lost and doubled ones.
#[derive(Clone, PartialEq, Eq, Default, Debug, State)]
pub struct Ledger {
    seen: [Seen; 4],
}

impl Ledger {
    /// Actions of this player.
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
    /// It does nothing before this time.
    pub asleep_until_us: u64,
    ticks: u64,
    pressed: Seen,
    tapped_at: u64,
    /// Ticks in which the match did not advance.
    pub stalled: u64,
    /// Largest deviation of its speed from 1 so far, in millionths.
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

    /// Actions its player really made.
    pub fn pressed(&self) -> Seen {
        self.pressed
    }

    /// Position in the match, in frames.
    pub fn position(&self) -> f64 {
        let frame = f64::from(self.session().current_frame().number());
        frame + f64::from(self.pace.alpha_permille()) / 1_000.0
    }

    /// Its clock does not count the time it slept, like that of a suspended page.
    fn wake(&mut self, now: Micros) {
        self.pace = TickClock::new(60, now);
    }
}

/// Peers on a network.
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
    /// Connected peers with exact clocks, one player each.
    ///
    /// # Panics
    /// If they are not connected within ten seconds.
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

    /// The network, to change its conditions.
    pub fn network(&self) -> std::cell::RefMut<'_, Network<Vec<u8>>> {
        self.network.borrow_mut()
    }

    /// True time, in microseconds.
    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// Runs for this many seconds; `watch` is called at every step.
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
            session.set_input(slot, Pad { held, tap: true }).expect("the peer's own slot is local");
        }
        // Released before the tick samples it.
        session.set_input(slot, Pad { held, tap: false }).expect("the peer's own slot is local");
    }
}
