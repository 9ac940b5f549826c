//! Some machines and a network between them, each played by a bot.
#![allow(dead_code, reason = "each test file uses its part")]

use drake::bots::{Bot, Strength};
use drake::net::{self, Coop, Rules};
use drake::{Drake, Egg, Hornet, Lantern, Mark, Pad, Phase, Puffball, Rock, SEATS, Setup, Shot, Standing};
use gaggle_kit::{Micros, Slot};
use gaggle_link::sim::{Chance, Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_replica::{
    AuthorityPolicy, AuthorityRules, Driver, JoinMode, ObjectInfo, ReplicaConfig, Roster, RosterMember,
    Session, SessionEvent,
};

/// Duration of one frame.
pub(crate) const FRAME: Micros = Micros::new(16_667);
/// What a match is played by where a test says nothing else.
const SETUP: Setup = Setup { fill: 4, wins: 3 };
/// Frames after which something that should happen has not.
const PATIENCE: u32 = 60 * 120;

/// 60 ms each way, 20 ms of jitter, one packet in twenty lost.
pub(crate) fn bad_wifi() -> Conditions {
    Conditions { jitter: Micros::from_millis(20), loss: Chance::percent(5), ..Conditions::latency_ms(60) }
}

pub(crate) struct Machine {
    pub(crate) session: Session,
    link: Endpoint<SimCarrier>,
    pub(crate) coop: Coop,
    bot: Bot,
    pressed: Option<Pad>,
    /// How often the lead refused what this machine asked for.
    pub(crate) denied: u32,
}

/// Authority rules of a cheating player that allows itself everything.
#[derive(Debug)]
struct NoRules;

impl AuthorityRules for NoRules {
    fn fingerprint(&self) -> u32 {
        Rules.fingerprint()
    }

    fn may_hold(&self, _: RosterMember, _: &ObjectInfo, _: &Roster) -> bool {
        true
    }

    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        Rules.successor(object, roster)
    }
}

/// What a cheating player does to its own session.
pub(crate) type Cheat = fn(&mut Session);

pub(crate) struct Cluster {
    world: SimNet,
    machines: Vec<Option<Machine>>,
    lives: Vec<u64>,
    seed: u64,
    config: ReplicaConfig,
    /// What each machine would play by if it began the match.
    setups: Vec<Setup>,
    still: bool,
    liar: Option<usize>,
    pub(crate) cheat: Option<(usize, Cheat)>,
}

impl Cluster {
    pub(crate) fn of(peers: usize, seed: u64, conditions: Conditions) -> Cluster {
        Cluster::begin(vec![SETUP; peers], seed, conditions, net::config(), None)
    }

    /// Machines that were set up differently.
    pub(crate) fn with_setups(setups: Vec<Setup>, seed: u64) -> Cluster {
        Cluster::begin(setups, seed, bad_wifi(), net::config(), None)
    }

    /// With other settings than the game's.
    pub(crate) fn with_config(peers: usize, seed: u64, config: ReplicaConfig) -> Cluster {
        Cluster::begin(vec![SETUP; peers], seed, bad_wifi(), config, None)
    }

    /// One of them has a session that lets him do anything.
    pub(crate) fn with_liar(peers: usize, seed: u64, liar: usize) -> Cluster {
        Cluster::begin(vec![SETUP; peers], seed, Conditions::latency_ms(30), net::config(), Some(liar))
    }

    fn begin(
        setups: Vec<Setup>,
        seed: u64,
        conditions: Conditions,
        config: ReplicaConfig,
        liar: Option<usize>,
    ) -> Cluster {
        let peers = setups.len();
        let mut world = SimNet::new(peers, seed);
        // A frame is a frame: what arrives waits for the next one.
        world.set_wake_on_arrival(false);
        world.set_all(conditions);
        let (machines, lives) = (Vec::new(), vec![0; peers]);
        let mut company =
            Cluster { world, machines, lives, seed, config, setups, still: false, liar, cheat: None };
        for me in 0..peers {
            company.machines.push(None);
            company.start(me);
        }
        company
    }

    fn start(&mut self, me: usize) {
        self.lives[me] += 1;
        let first = self.lives[me] == 1;
        let carrier = if first { self.world.carrier(me) } else { self.world.restarted_carrier(me) };
        let seed = self.seed * 1_000 + me as u64 * 10 + self.lives[me];
        let entry = if me == 0 && first { JoinMode::Create } else { JoinMode::Join };
        let mut config = self.config.clone();
        if self.liar == Some(me) {
            (config.authority, config.objects_max) =
                (AuthorityPolicy::Custom(std::sync::Arc::new(NoRules)), 1 << 20);
        }
        let session = Session::new(config, net::kinds_with_input(), Slot::at(me), entry, seed);
        self.machines[me] = Some(Machine {
            session: session.expect("settings that make sense"),
            link: Endpoint::new(carrier, LinkConfig::default(), seed),
            coop: Coop::new(self.setups[me], seed),
            bot: Bot::new(me, Strength::Sharp, seed),
            pressed: None,
            denied: 0,
        });
    }

    pub(crate) fn restart(&mut self, me: usize) {
        self.start(me);
    }

    pub(crate) fn kill(&mut self, me: usize) {
        self.machines[me] = None;
    }

    /// Partitions the network into sides, or heals it.
    pub(crate) fn split(&mut self, sides: Option<Vec<Vec<usize>>>) {
        self.world.apply(&sides.map_or(NetChange::Heal, NetChange::Partition));
    }

    /// One frame on every machine.
    pub(crate) fn frame(&mut self) {
        let (machines, still, cheat) = (&mut self.machines, self.still, self.cheat);
        self.world.run_for(FRAME, |me, now| {
            if let Some(machine) = &mut machines[me] {
                Driver.receive(now, &mut machine.link, &mut machine.session);
                let played = if still { Pad::NONE } else { machine.bot.play(machine.coop.game()) };
                machine.session.set_input(machine.pressed.unwrap_or(played));
                machine.coop.step(&mut machine.session);
                if let Some((who, cheat)) = cheat
                    && who == me
                {
                    cheat(&mut machine.session);
                }
                machine.session.tick(now);
                Driver.send(now, &mut machine.link, &mut machine.session);
                while let Some(event) = machine.session.poll_event() {
                    machine.denied += u32::from(matches!(event, SessionEvent::EventRejected { .. }));
                    machine.coop.hear(&event);
                }
                while let Some(signal) = machine.session.poll_remote_event() {
                    machine.coop.signal(&machine.session, &signal);
                }
                while let Some(petition) = machine.session.poll_event_request() {
                    match machine.coop.judge(&petition) {
                        true => machine.session.approve(petition),
                        false => machine.session.reject(petition),
                    }
                }
            }
            // Everybody is called when a span begins, and that is once a frame.
            Micros::MAX
        });
    }

    pub(crate) fn run_secs(&mut self, secs: u32) {
        (0..secs * 60).for_each(|_| self.frame());
    }

    /// Runs without input until packets under way have arrived.
    pub(crate) fn still_secs(&mut self, secs: u32) {
        self.still = true;
        self.run_secs(secs);
        self.still = false;
    }

    #[track_caller]
    pub(crate) fn run_until(&mut self, done: impl Fn(&Cluster) -> bool) {
        for _ in 0..PATIENCE {
            if done(self) {
                return;
            }
            self.frame();
        }
        panic!("it never happened");
    }

    /// Until a round is played in which this machine's craft flies.
    pub(crate) fn run_until_playing(&mut self, me: usize) {
        self.run_until(|company| {
            let game = company.game(me);
            let seat = &game.seats[me];
            let moved = game.bout.phase == Phase::Play && game.bout.since > 30;
            moved && seat.alive() && game.body(me).is_some() && !seat.bot
        });
    }

    /// Who leads, as he sees it himself.
    pub(crate) fn leader(&self) -> Option<usize> {
        let leads = |machine: &Option<Machine>| machine.as_ref().is_some_and(|it| it.session.is_leader());
        self.machines.iter().position(leads)
    }

    /// Peer that leads after the present leader.
    pub(crate) fn successor(&self, me: usize) -> usize {
        let successor = self.session(me).roster().iter().nth(1).expect("another player");
        successor.slot.index()
    }

    pub(crate) fn press(&mut self, me: usize, pad: Pad) {
        self.machine_mut(me).pressed = Some(pad);
    }

    pub(crate) fn machine(&self, me: usize) -> &Machine {
        self.machines[me].as_ref().expect("it is alive")
    }

    pub(crate) fn machine_mut(&mut self, me: usize) -> &mut Machine {
        self.machines[me].as_mut().expect("it is alive")
    }

    pub(crate) fn session(&self, me: usize) -> &Session {
        &self.machine(me).session
    }

    pub(crate) fn game(&self, me: usize) -> &Drake {
        self.machine(me).coop.game()
    }

    pub(crate) fn now(&self) -> Micros {
        self.world.now()
    }

    pub(crate) fn alive(&self) -> usize {
        self.machines.iter().flatten().count()
    }

    /// Points and rounds of every seat, as a machine knows them.
    pub(crate) fn scores(&self, me: usize) -> Vec<(u16, u8)> {
        self.game(me).seats.iter().map(|seat| (seat.score, seat.wins)).collect()
    }

    /// What the referee's standings come to, over all that was ever won.
    pub(crate) fn downs(&self) -> u32 {
        let lead = self.machines.iter().flatten().find(|machine| machine.session.is_leader());
        lead.map_or(0, |machine| machine.coop.game().seats.iter().map(|seat| u32::from(seat.score)).sum())
    }

    pub(crate) fn marks(&self, me: usize) -> impl Iterator<Item = &Mark> {
        let game = self.game(me);
        game.marks.recent(game.frame, 600)
    }

    /// How many things of each kind only a referee makes there are in a game.
    pub(crate) fn things(&self, me: usize) -> [usize; 6] {
        let game = self.game(me);
        [
            game.rocks.iter().flatten().count(),
            game.shots.iter().flatten().count(),
            game.puffballs.iter().flatten().count(),
            game.hornets.iter().flatten().count(),
            game.lanterns.iter().flatten().count(),
            game.eggs.iter().flatten().count(),
        ]
    }

    /// The same as the session has it, forged objects included.
    pub(crate) fn iter(&self, me: usize) -> [usize; 6] {
        let session = self.session(me);
        [
            session.iter::<Rock>().count(),
            session.iter::<Shot>().count(),
            session.iter::<Puffball>().count(),
            session.iter::<Hornet>().count(),
            session.iter::<Lantern>().count(),
            session.iter::<Egg>().count(),
        ]
    }

    /// What a machine knows of the standings, as the session has it.
    pub(crate) fn truth(&self, me: usize) -> Vec<Option<Standing>> {
        (0..SEATS)
            .map(|seat| {
                let all = self.session(me).iter::<Standing>();
                all.filter(|(_, it)| usize::from(it.seat) == seat).min_by_key(|(id, _)| *id).map(|(_, it)| {
                    // Fields only the referee counts.
                    Standing { growing: 0, gap: 0, safe: 0, peas: 0, ..it }
                })
            })
            .collect()
    }
}
