//! A whole online game in one file: two geese on a pond, each on its own peer, over a bad network.
//! Everything happens in virtual time, so it runs briefly and always ends the same.
//!
//! `cargo run --example two_peers_in_memory`

use gaggle_kit::{Input, Micros, Prng, Slot, State};
use gaggle_link::sim::{Chance, Conditions, SimNet};
use gaggle_link::{Carrier, Endpoint, LinkConfig};
use gaggle_timeline::{
    Driver, Game, Incarnation, Inputs, PeerSlots, Session, TickClock, Timeline, TimelineConfig,
};

const WIDTH: i32 = 36;
const HEIGHT: i32 = 10;

/// Input of a player in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Input)]
enum Paddle {
    #[default]
    Rest,
    Toward(i8, i8),
}

/// The state of the game ...
#[derive(Clone, Debug, State)]
struct Pond {
    geese: [(i32, i32); 2],
    bread: (i32, i32),
    eaten: [u32; 2],
    chance: Prng,
}

/// ... and its tick.
impl Game for Pond {
    type Input = Paddle;

    fn tick(&mut self, inputs: &Inputs<'_, Paddle>) {
        // A goose strokes in every sixth frame; input of other frames is not asked about.
        if !inputs.frame().number().is_multiple_of(6) {
            return;
        }
        for nth in 0..2 {
            if let Paddle::Toward(x, y) = inputs.get(Slot::at(nth)) {
                let goose = &mut self.geese[nth];
                goose.0 = (goose.0 + i32::from(x.signum())).rem_euclid(WIDTH);
                goose.1 = (goose.1 + i32::from(y.signum())).rem_euclid(HEIGHT);
            }
            if self.geese[nth] == self.bread {
                self.eaten[nth] += 1;
                self.bread =
                    (self.chance.below(WIDTH as u32) as i32, self.chance.below(HEIGHT as u32) as i32);
            }
        }
    }
}

impl Pond {
    fn new(seed: u64) -> Pond {
        Pond { geese: [(3, 2), (32, 7)], bread: (18, 5), eaten: [0, 0], chance: Prng::new(seed) }
    }

    /// Direction in which a player paddles: toward the bread, first along the longer axis.
    fn wish(&self, nth: usize) -> Paddle {
        let (goose, bread) = (self.geese[nth], self.bread);
        let (x, y) = ((bread.0 - goose.0).signum() as i8, (bread.1 - goose.1).signum() as i8);
        if nth == 0 && y != 0 { Paddle::Toward(0, y) } else { Paddle::Toward(x, if x == 0 { y } else { 0 }) }
    }

    fn rows(&self) -> Vec<String> {
        let glyph = |at: (i32, i32)| match at {
            at if at == self.geese[0] => 'A',
            at if at == self.geese[1] => 'B',
            at if at == self.bread => '*',
            _ => '·',
        };
        (0..HEIGHT).map(|y| (0..WIDTH).map(|x| glyph((x, y))).collect()).collect()
    }
}

/// One peer: a game on a session, and a link to the others.
struct Machine<C: Carrier> {
    timeline: Timeline<Pond>,
    link: Endpoint<C>,
    exchange: Driver,
    pace: TickClock,
}

impl<C: Carrier> Machine<C> {
    /// Loop of a program at each wake-up: receive, tick as often as time requires, send.
    fn frame(&mut self, now: Micros, me: usize) {
        self.exchange.receive(now, &mut self.link, self.timeline.session_mut());
        for _ in 0..self.pace.ticks_due(now, self.timeline.session().speed_ppm()) {
            self.timeline.set_input_with(Slot::at(me), |pond| pond.wish(me)).expect("our own slot");
            self.timeline.tick(now);
        }
        self.exchange.send(now, &mut self.link, self.timeline.session_mut());
    }
}

fn main() {
    let mut world = SimNet::new(2, 2026);
    let bad_wifi = Conditions {
        jitter: Micros::from_millis(30),
        loss: Chance::percent(5),
        ..Conditions::latency_ms(90)
    };
    world.set_all(bad_wifi);
    let seats = [PeerSlots::new(world.id(0), Slot::at(0)), PeerSlots::new(world.id(1), Slot::at(1))];
    let mut machines = [0, 1].map(|me| {
        let incarnation = Incarnation(me as u32);
        let session =
            Session::new(TimelineConfig::default(), world.id(me), &seats, incarnation).expect("sensible");
        Machine {
            timeline: Timeline::new(session, Pond::new(7)),
            link: Endpoint::new(world.carrier(me), LinkConfig::default(), me as u64),
            exchange: Driver::default(),
            pace: TickClock::new(60, Micros::ZERO),
        }
    });
    println!("Two machines, 180 ms of round trip, 5 % of the packets lost. A minute of their lives:\n");
    for _ in 0..4 {
        world.run_for(Micros::from_secs(15), |me, now| {
            machines[me].frame(now, me);
            now + Micros::from_millis(4)
        });
        let [one, other] = [0, 1].map(|me| machines[me].timeline.game());
        let column = WIDTH as usize + 4;
        println!("  {:column$}machine B sees", "machine A sees");
        for (left, right) in one.rows().iter().zip(other.rows()) {
            println!("  {left:column$}{right}");
        }
        let eaten = |pond: &Pond| format!("A ate {}, B ate {}", pond.eaten[0], pond.eaten[1]);
        println!("  {:column$}{}\n", eaten(one), eaten(other));
    }
    for (me, machine) in machines.iter().enumerate() {
        let (stats, name) = (machine.timeline.session().stats(), ["A", "B"][me]);
        let confirmed = machine.timeline.session().confirmed_frame();
        println!(
            "machine {name}: {} frames, {} rollbacks ({} frames again), delay {}, {} kB sent; confirmed up to {confirmed}",
            stats.frames,
            stats.rollbacks,
            stats.frames_resimulated,
            stats.input_delay_frames,
            stats.bytes_sent / 1_000,
        );
    }
}
