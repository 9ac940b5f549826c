//! Some machines and a network between them, each played by a bot.
#![allow(dead_code, reason = "each test file uses its part")]

use drake::bots::{Bot, Strength};
use drake::net::{self, Coop, Rules};
use drake::{Drake, Egg, Hornet, Lantern, Mark, Pad, Phase, Puffball, Rock, SEATS, Setup, Shot, Standing};
use gaggle_kit::Micros;
use gaggle_link::sim::{Chance, Change, Conditions, SimCarrier, World};
use gaggle_link::{Link, LinkConfig};
use gaggle_replica::{
    Entry, Event, Exchange, Facts, Player, Policy, PolicyRules, Present, Roster, Session, SessionConfig,
};

/// A frame.
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
    link: Link<SimCarrier>,
    pub(crate) coop: Coop,
    bot: Bot,
    pressed: Option<Pad>,
    /// How often the lead refused what this machine asked for.
    pub(crate) denied: u32,
}

/// The rules of somebody who keeps to none, and does not say so.
#[derive(Debug)]
struct NoRules;

impl PolicyRules for NoRules {
    fn fingerprint(&self) -> u32 {
        Rules.fingerprint()
    }

    fn may(&self, _: Present, _: &Facts, _: &Roster) -> bool {
        true
    }

    fn heir(&self, object: &Facts, roster: &Roster) -> Option<Present> {
        Rules.heir(object, roster)
    }
}

/// What somebody does to his own session when he does not play fair.
pub(crate) type Cheat = fn(&mut Session);

pub(crate) struct Company {
    world: World,
    machines: Vec<Option<Machine>>,
    lives: Vec<u64>,
    seed: u64,
    config: SessionConfig,
    /// What each machine would play by if it began the match.
    setups: Vec<Setup>,
    still: bool,
    liar: Option<usize>,
    pub(crate) cheat: Option<(usize, Cheat)>,
}

impl Company {
    pub(crate) fn of(peers: usize, seed: u64, conditions: Conditions) -> Company {
        Company::begin(vec![SETUP; peers], seed, conditions, net::config(), None)
    }

    /// Machines that were set up differently.
    pub(crate) fn with_setups(setups: Vec<Setup>, seed: u64) -> Company {
        Company::begin(setups, seed, bad_wifi(), net::config(), None)
    }

    /// With other settings than the game's.
    pub(crate) fn with_config(peers: usize, seed: u64, config: SessionConfig) -> Company {
        Company::begin(vec![SETUP; peers], seed, bad_wifi(), config, None)
    }

    /// One of them has a session that lets him do anything.
    pub(crate) fn with_liar(peers: usize, seed: u64, liar: usize) -> Company {
        Company::begin(vec![SETUP; peers], seed, Conditions::latency_ms(30), net::config(), Some(liar))
    }

    fn begin(
        setups: Vec<Setup>,
        seed: u64,
        conditions: Conditions,
        config: SessionConfig,
        liar: Option<usize>,
    ) -> Company {
        let peers = setups.len();
        let mut world = World::of(peers, seed);
        // A frame is a frame: what arrives waits for the next one.
        world.set_arrivals_wake(false);
        world.everywhere(conditions);
        let (machines, lives) = (Vec::new(), vec![0; peers]);
        let mut company =
            Company { world, machines, lives, seed, config, setups, still: false, liar, cheat: None };
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
        let entry = if me == 0 && first { Entry::Found } else { Entry::Join };
        let mut config = self.config.clone();
        if self.liar == Some(me) {
            (config.policy, config.objects_max) = (Policy::Custom(std::sync::Arc::new(NoRules)), 1 << 20);
        }
        let session = Session::new(config, net::kinds_with_input(), Player::at(me as u8), entry, seed);
        self.machines[me] = Some(Machine {
            session: session.expect("settings that make sense"),
            link: Link::new(carrier, LinkConfig::default(), seed),
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

    /// Nobody hears anything of the other side, or everybody of everybody again.
    pub(crate) fn split(&mut self, sides: Option<Vec<Vec<usize>>>) {
        self.world.apply(&sides.map_or(Change::Heal, Change::Partition));
    }

    /// One frame on every machine.
    pub(crate) fn frame(&mut self) {
        let (machines, still, cheat) = (&mut self.machines, self.still, self.cheat);
        self.world.run_for(FRAME, |me, now| {
            if let Some(machine) = &mut machines[me] {
                Exchange.receive(now, &mut machine.link, &mut machine.session);
                let played = if still { Pad::NONE } else { machine.bot.play(machine.coop.game()) };
                machine.session.sample_input(machine.pressed.unwrap_or(played));
                machine.coop.step(&mut machine.session);
                if let Some((who, cheat)) = cheat
                    && who == me
                {
                    cheat(&mut machine.session);
                }
                machine.session.tick(now);
                Exchange.send(now, &mut machine.link, &mut machine.session);
                while let Some(event) = machine.session.next_event() {
                    machine.denied += u32::from(matches!(event, Event::Denied { .. }));
                    machine.coop.hear(&event);
                }
                while let Some(signal) = machine.session.next_signal() {
                    machine.coop.signal(&machine.session, &signal);
                }
                while let Some(petition) = machine.session.next_petition() {
                    match machine.coop.judge(&petition) {
                        true => machine.session.grant(petition),
                        false => machine.session.deny(petition),
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

    /// Nobody presses anything: what is on its way arrives.
    pub(crate) fn still_secs(&mut self, secs: u32) {
        self.still = true;
        self.run_secs(secs);
        self.still = false;
    }

    #[track_caller]
    pub(crate) fn run_until(&mut self, done: impl Fn(&Company) -> bool) {
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
    pub(crate) fn lead(&self) -> Option<usize> {
        let leads = |machine: &Option<Machine>| machine.as_ref().is_some_and(|it| it.session.is_lead());
        self.machines.iter().position(leads)
    }

    /// Who will lead after whoever does now.
    pub(crate) fn heir(&self, me: usize) -> usize {
        let heir = self.session(me).roster().iter().nth(1).expect("somebody else");
        usize::from(heir.player.number())
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
        let lead = self.machines.iter().flatten().find(|machine| machine.session.is_lead());
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

    /// The same, as a session has it: whatever anybody made.
    pub(crate) fn objects(&self, me: usize) -> [usize; 6] {
        let session = self.session(me);
        [
            session.objects::<Rock>().count(),
            session.objects::<Shot>().count(),
            session.objects::<Puffball>().count(),
            session.objects::<Hornet>().count(),
            session.objects::<Lantern>().count(),
            session.objects::<Egg>().count(),
        ]
    }

    /// What a machine knows of the standings, as the session has it.
    pub(crate) fn truth(&self, me: usize) -> Vec<Option<Standing>> {
        (0..SEATS)
            .map(|seat| {
                let all = self.session(me).objects::<Standing>();
                all.filter(|(_, it)| usize::from(it.seat) == seat).min_by_key(|(id, _)| *id).map(|(_, it)| {
                    // What nobody but the referee counts.
                    Standing { growing: 0, gap: 0, safe: 0, peas: 0, ..it }
                })
            })
            .collect()
    }
}
