//! Peers whose host starts the matches, with a game and a world that keep the parameters of their
//! start.

use gaggle::link::sim::Conditions;
use gaggle::lobby::Label;
use gaggle::lobby::client::RequestId;
use gaggle::lobby::rules::{GameRules, Limits, ModeConfig, Rules};
use gaggle::replica::{AuthorityPolicy, Kind, Kinds, Session};
use gaggle::testing::{SimLobby, SimPlatform};
use gaggle::{
    Engine, Game, GameEngine, HostCommand, Inputs, JoinTarget, MatchStart, Phase, RawJson, Requests, Room,
    RoomCode, RoomConfig, RoomEvent, SavedStates, Slot, StartMode, State, StateShape, TimelineConfig, World,
    WorldEngine,
};
use gaggle_kit::Micros;

use crate::callers::Held;

const SETTINGS: &str = r#"{"map":"fen"}"#;
/// Mode whose rooms wait for their host, though `find` makes them.
const LEAGUE: &str = "league";

/// Start parameters that a match of either engine keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) seed: u64,
    pub(crate) round: u32,
    pub(crate) players: u32,
}

#[derive(Debug, Clone, Copy, Default, State)]
pub(crate) struct Race {
    pub(crate) seed: u64,
    pub(crate) round: u32,
    pub(crate) players: u32,
    pub(crate) steps: u32,
    pub(crate) pressed: [u32; 6],
}

impl Race {
    fn begun(&self) -> Begun {
        Begun { seed: self.seed, round: self.round, players: self.players }
    }
}

impl Game for Race {
    type Input = u8;

    fn on_start(&mut self, start: &MatchStart<'_>) {
        assert_eq!((self.steps, start.settings), (0, SETTINGS), "a start begins with what was opened");
        (self.seed, self.round, self.players) = (start.seed, start.round, start.slots.len() as u32);
    }

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.steps += 1;
        for nth in 0..6 {
            self.pressed[nth] += u32::from(inputs.get(Slot::at(nth)));
        }
    }
}

/// The same in lockstep.
#[derive(Debug, Clone, Copy, Default, State)]
pub(crate) struct Drill {
    pub(crate) race: Race,
}

impl Game for Drill {
    type Input = u8;

    fn on_start(&mut self, start: &MatchStart<'_>) {
        self.race.on_start(start);
    }

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.race.tick(inputs);
    }
}

/// Spawned once by the peer that makes the world.
#[derive(Debug, Clone, PartialEq, Kind)]
pub(crate) struct Flag {
    #[kind(constant)]
    pub(crate) seed: u64,
    #[kind(constant)]
    pub(crate) round: u32,
    #[kind(constant)]
    pub(crate) players: u32,
}

#[derive(Default)]
pub(crate) struct Field {
    pub(crate) start: Option<(u64, u32, u32)>,
}

impl World for Field {
    type Input = u8;

    fn kinds() -> Kinds {
        Kinds::new().with::<Flag>()
    }

    fn on_start(&mut self, start: &MatchStart<'_>) {
        assert_eq!(start.settings, SETTINGS);
        self.start = Some((start.seed, start.round, start.slots.len() as u32));
    }

    fn populate(&mut self, session: &mut Session) {
        let (seed, round, players) = self.start.unwrap_or_default();
        session.spawn(&Flag { seed, round, players }).expect("there is room");
    }

    fn step(&mut self, _session: &mut Session) {}
}

pub(crate) trait Subject: Engine<Input = u8> + Sized {
    /// State that the caller of a room keeps, where the room does not.
    type Caller: Default;

    fn config() -> RoomConfig<Self::Config>;
    fn content() -> Self::Content;
    fn begun(room: &Room<Self, SimPlatform>, caller: &Self::Caller) -> Begun;

    fn run(room: &mut Room<Self, SimPlatform>, caller: &mut Self::Caller, now: Micros) {
        let _ = caller;
        room.update(now);
    }
}

impl Subject for GameEngine<Race> {
    type Caller = ();

    fn config() -> RoomConfig {
        RoomConfig::new("race", 6).expect("a label").version("1")
    }

    fn content() -> Race {
        Race::default()
    }

    fn begun(room: &Room<Self, SimPlatform>, (): &()) -> Begun {
        room.game().begun()
    }
}

impl Subject for GameEngine<Drill> {
    type Caller = ();

    fn config() -> RoomConfig {
        let config = RoomConfig::new("drill", 6).expect("a label").version("1");
        config.with_engine(TimelineConfig::lockstep())
    }

    fn content() -> Drill {
        Drill::default()
    }

    fn begun(room: &Room<Self, SimPlatform>, (): &()) -> Begun {
        room.game().race.begun()
    }
}

/// The state of a request room's caller.
pub(crate) struct RaceCaller {
    saved: SavedStates<Race>,
    held: Held<Race>,
}

impl Default for RaceCaller {
    fn default() -> RaceCaller {
        let config = <Requests<u8> as Subject>::config();
        RaceCaller { saved: SavedStates::new(&config.engine), held: Held::new(Race::default()) }
    }
}

impl Subject for Requests<u8> {
    type Caller = RaceCaller;

    fn config() -> RoomConfig {
        <GameEngine<Race> as Subject>::config()
    }

    fn content() -> StateShape {
        StateShape::of::<Race>()
    }

    fn begun(_: &Room<Self, SimPlatform>, caller: &RaceCaller) -> Begun {
        caller.held.game.begun()
    }

    fn run(room: &mut Room<Self, SimPlatform>, caller: &mut RaceCaller, now: Micros) {
        room.update(now);
        caller.saved.run(room, &mut caller.held);
    }
}

impl Subject for WorldEngine<Field> {
    type Caller = ();

    fn config() -> RoomConfig<Self::Config> {
        RoomConfig::world("field", 6, AuthorityPolicy::Leader).expect("a label").version("1")
    }

    fn content() -> Field {
        Field::default()
    }

    fn begun(room: &Room<Self, SimPlatform>, (): &()) -> Begun {
        let flags: Vec<Flag> = room.session().iter::<Flag>().map(|(_, flag)| flag).collect();
        let [Flag { seed, round, players }] = flags[..] else { panic!("{} flags", flags.len()) };
        Begun { seed, round, players }
    }
}

/// Peers with a room each. Peer 0 creates it.
pub(crate) struct Cluster<E: Subject> {
    pub(crate) net: SimLobby,
    pub(crate) rooms: Vec<Option<Room<E, SimPlatform>>>,
    callers: Vec<E::Caller>,
    pub(crate) events: Vec<Vec<RoomEvent>>,
    pub(crate) asleep: Option<usize>,
}

impl<E: Subject> Cluster<E> {
    fn on(net: SimLobby) -> Cluster<E> {
        Cluster {
            net,
            rooms: (0..5).map(|_| None).collect(),
            callers: (0..5).map(|_| E::Caller::default()).collect(),
            events: vec![Vec::new(); 5],
            asleep: None,
        }
    }

    fn net() -> SimLobby {
        SimLobby::new(5, 11, Conditions::latency_ms(40))
    }

    /// A room of peer 0 that `others` peers have joined.
    pub(crate) fn new(start: StartMode, others: usize) -> Cluster<E> {
        let mut cluster = Cluster::on(Self::net());
        cluster.open(0, JoinTarget::CreatePrivate, start);
        cluster.run_ms(500);
        for peer in 1..=others {
            cluster.open(peer, JoinTarget::Code(cluster.code(0)), StartMode::DropIn);
        }
        cluster.run_ms(1_000);
        cluster
    }

    /// A room that matchmaking makes for these peers, in a mode without drop-in.
    pub(crate) fn matched(peers: usize) -> Cluster<E> {
        let mode: Label = LEAGUE.parse().expect("a label");
        let modes = [(mode.clone(), ModeConfig { drop_in: false, ..ModeConfig::default() })].into();
        let games = [(E::config().game, GameRules { modes })].into();
        let limits = Limits::unlimited();
        let rules = Rules { games, unlisted_games: None, limits, ..Rules::default() };
        let mut cluster = Cluster::on(Self::net().with_rules(rules));
        for peer in 0..peers {
            let config = RoomConfig { mode: mode.clone(), ..E::config() };
            cluster.open_with(peer, JoinTarget::Matchmake, StartMode::DropIn, config);
            cluster.run_ms(500);
        }
        cluster.run_ms(1_000);
        cluster
    }

    pub(crate) fn open(&mut self, peer: usize, join: JoinTarget, start: StartMode) {
        self.open_with(peer, join, start, E::config());
    }

    /// Opens another room of the player at `player`, as a second tab does.
    pub(crate) fn open_tab_of(&mut self, player: usize, peer: usize) {
        let (lobby, now) = (SimLobby::client_config(player), self.net.now());
        let config = RoomConfig { join: JoinTarget::Browse, lobby, ..E::config() };
        let room = Room::open(now, config, self.net.platform(peer), E::content(), peer as u64);
        self.rooms[peer] = Some(room.unwrap_or_else(|error| panic!("{error}")));
    }

    fn open_with(&mut self, peer: usize, join: JoinTarget, start: StartMode, base: RoomConfig<E::Config>) {
        let room_settings = RawJson::new(SETTINGS).expect("an object");
        let lobby = SimLobby::client_config(peer);
        let config = RoomConfig { join, start, room_settings, lobby, ..base };
        let (now, platform) = (self.net.now(), self.net.platform(peer));
        let room = Room::open(now, config, platform, E::content(), peer as u64);
        self.rooms[peer] = Some(room.unwrap_or_else(|error| panic!("{error}")));
        self.callers[peer] = E::Caller::default();
        self.events[peer].clear();
    }

    pub(crate) fn code(&self, host: usize) -> RoomCode {
        let code = |event: &RoomEvent| match event {
            RoomEvent::RoomJoined { code, .. } => Some(*code),
            _ => None,
        };
        self.events[host].iter().find_map(code).expect("a room")
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        let Cluster { net, rooms, callers, events, asleep } = self;
        net.run_for(Micros::from_millis(ms), |peer, now| {
            let Some(room) = rooms[peer].as_mut().filter(|_| *asleep != Some(peer)) else { return };
            room.set_input(0, 1);
            E::run(room, &mut callers[peer], now);
            events[peer].extend(std::iter::from_fn(|| room.poll_event()));
        });
    }

    pub(crate) fn room(&mut self, peer: usize) -> &mut Room<E, SimPlatform> {
        self.rooms[peer].as_mut().expect("an open room")
    }

    pub(crate) fn begun(&self, peer: usize) -> Begun {
        E::begun(self.rooms[peer].as_ref().expect("an open room"), &self.callers[peer])
    }

    pub(crate) fn phases(&self) -> Vec<Phase> {
        self.rooms.iter().flatten().map(|room| room.phase()).collect()
    }

    pub(crate) fn start(&mut self, countdown_ms: u64) -> RequestId {
        let countdown = Micros::from_millis(countdown_ms);
        self.room(0).host_command(HostCommand::Start { countdown }).expect("it is the host")
    }

    pub(crate) fn all_ready(&mut self, peers: usize) {
        (0..peers).for_each(|peer| self.room(peer).set_ready(true));
        self.run_ms(300);
    }

    pub(crate) fn count(&self, peer: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
        self.events[peer].iter().filter(|event| what(event)).count()
    }

    /// Asserts that all of these play in one match. Returns its start parameters.
    pub(crate) fn expect_one_match(&mut self, peers: &[usize]) -> Begun {
        let begun: Vec<Begun> = peers.iter().map(|&peer| self.begun(peer)).collect();
        assert!(begun.iter().all(|other| *other == begun[0]), "{begun:?} {:?}", self.events);
        for &peer in peers {
            assert_eq!(self.room(peer).phase(), Phase::Playing, "peer {peer}: {:?}", self.events[peer]);
            let members = self.room(peer).members();
            let playing = members.iter().filter(|member| !member.slots.is_empty()).count();
            assert_eq!(playing, peers.len(), "peer {peer}: {members:?}");
        }
        begun[0]
    }
}
