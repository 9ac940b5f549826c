//! Three peers and ten crates that every player may push, over a network with delay and loss.
//! The leader's process then ends and the others go on. The example runs in virtual time: it takes
//! a moment and its output is always the same.
//!
//! `cargo run -p gaggle-replica --example push_about`

use gaggle_kit::{Micros, Prng, Slot};
use gaggle_link::sim::{Chance, Conditions, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_replica::{
    AuthorityPolicy, Driver, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session, SessionError,
    SessionEvent,
};

const WIDTH: i32 = 30;
const HEIGHT: i32 = 7;

/// The shared object. The ranges set how few bits a position takes. Crates pushed by other players
/// are interpolated a few ticks behind, only through positions they have had.
#[derive(Debug, Clone, PartialEq, Kind)]
#[kind(interpolation = buffered)]
struct Crate {
    #[kind(range = 0..=29)]
    x: i32,
    #[kind(range = 0..=6)]
    y: i32,
    #[kind(constant)]
    mark: u8,
}

/// One peer: a session, links to the others, and the position of its player.
struct Machine {
    session: Session,
    link: Endpoint<SimCarrier>,
    at: (i32, i32),
    chance: Prng,
}

impl Machine {
    fn new(world: &SimNet, me: usize) -> Result<Machine, SessionError> {
        let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..ReplicaConfig::default() };
        let entry = if me == 0 { JoinMode::Create } else { JoinMode::Join };
        let session =
            Session::new(config, Kinds::new().with::<Crate>(), Slot::at(me), entry, 100 + me as u64)?;
        let link = Endpoint::new(world.carrier(me), LinkConfig::default(), me as u64);
        Ok(Machine { session, link, at: (10 * me as i32 + 3, 3), chance: Prng::new(me as u64 + 7) })
    }

    /// What a program does in every frame: receive, play, send.
    fn frame(&mut self, now: Micros) {
        Driver.receive(now, &mut self.link, &mut self.session);
        self.wander();
        self.session.tick(now);
        Driver.send(now, &mut self.link, &mut self.session);
        while let Some(event) = self.session.poll_event() {
            if let SessionEvent::LeaderChanged { player } = event {
                println!("  {}: {player} leads from now on", self.session.local_slot());
            }
        }
    }

    /// Takes a few steps a second and pushes the crate in the way.
    fn wander(&mut self) {
        if !self.chance.chance(1, 12) {
            return;
        }
        let step = [(1, 0), (-1, 0), (0, 1), (0, -1)][self.chance.below(4) as usize];
        let to = (self.at.0 + step.0, self.at.1 + step.1);
        if !inside(to) {
            return;
        }
        let in_the_way: Option<(ObjectId, Crate)> =
            self.session.iter::<Crate>().find(|(_, there)| (there.x, there.y) == to);
        if let Some((id, there)) = in_the_way {
            let beyond = (there.x + step.0, there.y + step.1);
            // A peer that claims an object has authority over it and sets its position afterwards.
            if !inside(beyond) || self.session.claim(id).is_err() {
                return;
            }
            let pushed = Crate { x: beyond.0, y: beyond.1, ..there };
            self.session.set(id, &pushed).expect("the claim succeeded");
        }
        self.at = to;
    }

    fn rows(&self) -> Vec<String> {
        let mut rows = vec![vec!['·'; WIDTH as usize]; HEIGHT as usize];
        // Drawing uses the shown values; game rules use `iter` and `get`.
        for (_, there) in self.session.shown_all::<Crate>() {
            rows[there.y as usize][there.x as usize] = char::from(there.mark);
        }
        rows.into_iter().map(String::from_iter).collect()
    }
}

fn inside((x, y): (i32, i32)) -> bool {
    (0..WIDTH).contains(&x) && (0..HEIGHT).contains(&y)
}

fn run(world: &mut SimNet, machines: &mut [Option<Machine>], seconds: u64) {
    world.run_for(Micros::from_secs(seconds), |me, now| {
        if let Some(machine) = &mut machines[me] {
            machine.frame(now);
        }
        now + Micros::from_millis(16)
    });
}

fn main() -> Result<(), SessionError> {
    let mut world = SimNet::new(3, 2026);
    let bad_wifi = Conditions {
        jitter: Micros::from_millis(20),
        loss: Chance::percent(5),
        ..Conditions::latency_ms(60)
    };
    world.set_all(bad_wifi);
    let mut machines = Vec::new();
    for me in 0..3 {
        machines.push(Some(Machine::new(&world, me)?));
    }
    let host = machines[0].as_mut().expect("peer 0 was just created");
    for (nth, mark) in (b'A'..=b'J').enumerate() {
        let there = Crate { x: 2 + 3 * nth as i32 % WIDTH, y: nth as i32 * 5 % HEIGHT, mark };
        host.session.spawn(&there).expect("ten objects are below the limit");
    }
    println!(
        "Three peers, 120 ms round trip, 5 % packet loss. After 30 seconds the first peer's process ends."
    );
    run(&mut world, &mut machines, 30);
    machines[0] = None;
    run(&mut world, &mut machines, 30);

    let [one, other] = [1, 2].map(|me| machines[me].as_ref().expect("peers 1 and 2 are running"));
    println!("\n  {:34}peer 2 shows", "peer 1 shows");
    for (left, right) in one.rows().iter().zip(other.rows()) {
        println!("  {left:34}{right}");
    }
    for machine in [one, other] {
        let stats = machine.session.stats();
        let mine = machine.session.iter_authoritative::<Crate>().count();
        println!(
            "  {}: has authority over {mine} crates after {} claims, {} inherited; sent {} updates in {} bytes",
            machine.session.local_slot(),
            stats.claims,
            stats.inherited,
            stats.updates_sent,
            stats.bytes_sent
        );
    }
    Ok(())
}
