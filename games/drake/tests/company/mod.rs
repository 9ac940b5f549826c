//! Peers of drake on a simulated network, each played by a bot.
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
/// Settings of a match unless a test has its own.
const SETUP: Setup = Setup { fill: 4, wins: 3 };
/// Frames after which [`Cluster::run_until`] fails.
const PATIENCE: u32 = 60 * 120;

/// 60 ms each way, 20 ms of jitter, 5 % loss.
pub(crate) fn bad_wifi() -> Conditions {
    Conditions { jitter: Micros::from_millis(20), loss: Chance::percent(5), ..Conditions::latency_ms(60) }
}

pub(crate) struct Machine {
    pub(crate) session: Session,
    link: Endpoint<SimCarrier>,
    pub(crate) coop: Coop,
    bot: Bot,
    pressed: Option<Pad>,
    /// Requests of this peer that the leader rejected.
    pub(crate) denied: u32,
}

/// Authority rules of a cheater that allow it everything.
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

/// Actions of a cheater on its own session, once a frame.
pub(crate) type Cheat = fn(&mut Session);

pub(crate) struct Cluster {
    world: SimNet,
    machines: Vec<Option<Machine>>,
    lives: Vec<u64>,
    seed: u64,
    config: ReplicaConfig,
    /// Settings of each peer, used if it creates the match.
    setups: Vec<Setup>,
    still: bool,
    liar: Option<usize>,
    pub(crate) cheat: Option<(usize, Cheat)>,
}

impl Cluster {
    pub(crate) fn of(peers: usize, seed: u64, conditions: Conditions) -> Cluster {
        Cluster::begin(vec![SETUP; peers], seed, conditions, net::config(), None)
    }

    /// Peers with different settings.
    pub(crate) fn with_setups(setups: Vec<Setup>, seed: u64) -> Cluster {
        Cluster::begin(setups, seed, bad_wifi(), net::config(), None)
    }

    /// Peers with other session settings than the game's.
    pub(crate) fn with_config(peers: usize, seed: u64, config: ReplicaConfig) -> Cluster {
        Cluster::begin(vec![SETUP; peers], seed, bad_wifi(), config, None)
    }

    /// One peer's session ignores the authority rules.
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
        // Packets wait for the next frame instead of waking a peer.
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
            session: session.expect("the settings of the game are valid"),
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

    /// Runs one frame at all peers.
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
            // The span of one frame calls each peer at its start; no further call is needed.
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
        panic!("the condition was not met in 120 seconds");
    }

    /// Runs until a round is played in which this peer's craft flies.
    pub(crate) fn run_until_playing(&mut self, me: usize) {
        self.run_until(|company| {
            let game = company.game(me);
            let seat = &game.seats[me];
            let moved = game.bout.phase == Phase::Play && game.bout.since > 30;
            moved && seat.alive() && game.body(me).is_some() && !seat.bot
        });
    }

    /// A peer whose session says that it leads.
    pub(crate) fn leader(&self) -> Option<usize> {
        let leads = |machine: &Option<Machine>| machine.as_ref().is_some_and(|it| it.session.is_leader());
        self.machines.iter().position(leads)
    }

    /// Peer that leads after the present leader.
    pub(crate) fn successor(&self, me: usize) -> usize {
        let successor = self.session(me).roster().iter().nth(1).expect("a second member");
        successor.slot.index()
    }

    pub(crate) fn press(&mut self, me: usize, pad: Pad) {
        self.machine_mut(me).pressed = Some(pad);
    }

    pub(crate) fn machine(&self, me: usize) -> &Machine {
        self.machines[me].as_ref().expect("the peer is running")
    }

    pub(crate) fn machine_mut(&mut self, me: usize) -> &mut Machine {
        self.machines[me].as_mut().expect("the peer is running")
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

    /// Points and rounds won by seat, as a peer has them.
    pub(crate) fn scores(&self, me: usize) -> Vec<(u16, u8)> {
        self.game(me).seats.iter().map(|seat| (seat.score, seat.wins)).collect()
    }

    /// Sum of all points, as the leader has them.
    pub(crate) fn downs(&self) -> u32 {
        let lead = self.machines.iter().flatten().find(|machine| machine.session.is_leader());
        lead.map_or(0, |machine| machine.coop.game().seats.iter().map(|seat| u32::from(seat.score)).sum())
    }

    pub(crate) fn marks(&self, me: usize) -> impl Iterator<Item = &Mark> {
        let game = self.game(me);
        game.marks.recent(game.frame, 600)
    }

    /// Counts of each kind that only a leader makes, as shown in a game.
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

    /// The same counts in the session, forged objects included.
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

    /// Standings by seat in a peer's session.
    pub(crate) fn truth(&self, me: usize) -> Vec<Option<Standing>> {
        (0..SEATS)
            .map(|seat| {
                let all = self.session(me).iter::<Standing>();
                all.filter(|(_, it)| usize::from(it.seat) == seat).min_by_key(|(id, _)| *id).map(|(_, it)| {
                    // Without the fields that only the leader counts.
                    Standing { growing: 0, gap: 0, safe: 0, peas: 0, ..it }
                })
            })
            .collect()
    }
}
