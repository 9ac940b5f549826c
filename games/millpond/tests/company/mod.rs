//! Peers of millpond on a simulated network, each rowed by a bot.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

use gaggle_kit::{Micros, Slot};
use gaggle_link::sim::{Chance, Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_replica::{Driver, JoinMode, ObjectId, Session};
use millpond::bots::Bot;
use millpond::net::{self, Mill};
use millpond::{Pad, Pond, Thing};

/// Duration of one frame.
pub(crate) const FRAME: Micros = Micros::new(16_667);
/// Frames after which [`Cluster::run_until`] fails.
const PATIENCE: u32 = 60 * 90;

/// 60 ms each way, 20 ms of jitter, 5 % loss.
pub(crate) fn bad_wifi() -> Conditions {
    Conditions { jitter: Micros::from_millis(20), loss: Chance::percent(5), ..Conditions::latency_ms(60) }
}

pub(crate) struct Machine {
    pub(crate) session: Session,
    link: Endpoint<SimCarrier>,
    pub(crate) mill: Mill,
    bot: Bot,
    pub(crate) pressed: Option<Pad>,
    loot: Loot,
}

/// Actions of a cheater on its session in every frame, between the game's writes and the send.
/// `Loot` keeps its reports for the next frame, because the game would overwrite them.
pub(crate) type Cheat = fn(&mut Session, &mut Loot);
/// Things as a cheater reports them.
pub(crate) type Loot = BTreeMap<ObjectId, Thing>;

pub(crate) struct Cluster {
    world: SimNet,
    machines: Vec<Option<Machine>>,
    lives: Vec<u64>,
    seed: u64,
    /// Peer that cheats, and how.
    pub(crate) cheat: Option<(usize, Cheat)>,
    /// Second peer with the same cheat.
    pub(crate) accomplice: Option<usize>,
}

impl Cluster {
    pub(crate) fn of(peers: usize, seed: u64, conditions: Conditions) -> Cluster {
        let mut world = SimNet::new(peers, seed);
        // Packets wait for the next frame instead of waking a peer.
        world.set_wake_on_arrival(false);
        world.set_all(conditions);
        let machines = (0..peers).map(|_| None).collect();
        let mut company =
            Cluster { world, machines, lives: vec![0; peers], seed, cheat: None, accomplice: None };
        (0..peers).for_each(|me| company.start(me));
        company
    }

    pub(crate) fn start(&mut self, me: usize) {
        self.lives[me] += 1;
        let first = self.lives[me] == 1;
        let carrier = if first { self.world.carrier(me) } else { self.world.restarted_carrier(me) };
        let seed = self.seed * 1_000 + me as u64 * 10 + self.lives[me];
        let entry = if me == 0 && first { JoinMode::Create } else { JoinMode::Join };
        let session = Session::new(net::config(), net::kinds_with_input(), Slot::at(me), entry, seed);
        let mut session = session.expect("the settings of the game are valid");
        let mut mill = Mill::new(seed);
        if me == 0 && first {
            mill.found(&mut session);
        }
        let link = Endpoint::new(carrier, LinkConfig::default(), seed);
        let (bot, loot) = (Bot::new(me, seed), Loot::new());
        self.machines[me] = Some(Machine { session, link, mill, bot, pressed: None, loot });
    }

    pub(crate) fn kill(&mut self, me: usize) {
        self.machines[me] = None;
    }

    /// Runs one frame at all peers.
    pub(crate) fn frame(&mut self) {
        let (machines, cheat, accomplice) = (&mut self.machines, self.cheat, self.accomplice);
        self.world.run_for(FRAME, |me, now| {
            if let Some(machine) = &mut machines[me] {
                Driver.receive(now, &mut machine.link, &mut machine.session);
                let played = machine.bot.play(machine.mill.pond());
                machine.session.set_input(machine.pressed.unwrap_or(played));
                machine.mill.step(&mut machine.session);
                if let Some((_, cheat)) = cheat.filter(|(who, _)| *who == me || accomplice == Some(me)) {
                    cheat(&mut machine.session, &mut machine.loot);
                }
                machine.session.tick_with(now, Some(machine.mill.nearness()));
                Driver.send(now, &mut machine.link, &mut machine.session);
                while machine.session.poll_event().is_some() {}
                while let Some(signal) = machine.session.poll_remote_event() {
                    machine.mill.signal(&machine.session, &signal);
                }
            }
            // The span of one frame calls each peer at its start; no further call is needed.
            Micros::MAX
        });
    }

    pub(crate) fn run_secs(&mut self, secs: u32) {
        (0..secs * 60).for_each(|_| self.frame());
    }

    /// Runs until the condition is met. Returns the frames.
    #[track_caller]
    pub(crate) fn run_until(&mut self, done: impl Fn(&Cluster) -> bool) -> u32 {
        for frames in 0..PATIENCE {
            if done(self) {
                return frames;
            }
            self.frame();
        }
        panic!("the condition was not met in 90 seconds");
    }

    pub(crate) fn machine(&mut self, me: usize) -> &mut Machine {
        self.machines[me].as_mut().expect("the peer is running")
    }

    pub(crate) fn session(&self, me: usize) -> &Session {
        &self.machines[me].as_ref().expect("the peer is running").session
    }

    pub(crate) fn pond(&self, me: usize) -> &Pond {
        self.machines[me].as_ref().expect("the peer is running").mill.pond()
    }

    /// Number of things the leader corrected.
    pub(crate) fn undone(&self) -> u32 {
        self.machines.iter().flatten().map(|machine| machine.mill.undone()).sum()
    }

    /// Partitions the network into sides, or heals it.
    pub(crate) fn split(&mut self, sides: Option<Vec<Vec<usize>>>) {
        self.world.apply(&sides.map_or(NetChange::Heal, NetChange::Partition));
    }

    pub(crate) fn press_all(&mut self, pad: Option<Pad>) {
        self.machines.iter_mut().flatten().for_each(|machine| machine.pressed = pad);
    }

    /// All things in a peer's session, ascending by id.
    pub(crate) fn things(&self, me: usize) -> Vec<(ObjectId, Thing)> {
        let mut all: Vec<(ObjectId, Thing)> = self.session(me).iter::<Thing>().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }
}
