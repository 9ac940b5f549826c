//! A small world of shared objects, for any policy: everybody has a boat, and there are rocks.

use gaggle::replica::{
    Event as WorldEvent, Kind, Kinds, ObjectId, Player, Policy, Session, Signal, SignalRules, To,
};
use gaggle::{Event, Input, RoomConfig, SharedConfig, SharedRoom, Stage, State, World};
use gaggle_kit::Micros;

use crate::town::{self, Doorstep, FRAME, Resident};

pub(crate) const ROCKS: usize = 12;

/// Whoever moves it counts its pushes.
#[derive(Debug, Clone, PartialEq, Kind)]
pub(crate) struct Rock {
    #[kind(range = 0..=1_000_000)]
    pub(crate) pushes: u32,
}

/// A player's own.
#[derive(Debug, Clone, PartialEq, Kind)]
pub(crate) struct Boat {
    #[kind(range = 0..=1_000_000)]
    pub(crate) strokes: u32,
    #[kind(constant)]
    pub(crate) sailor: u8,
}

/// Somebody shouts.
#[derive(Debug, Clone, PartialEq, State)]
pub(crate) struct Shout {
    pub(crate) word: u8,
}

/// What a player does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
pub(crate) struct Oars {
    pub(crate) row: bool,
    #[input(one_shot)]
    pub(crate) splash: bool,
}

/// What a house keeps beside the objects.
#[derive(Debug, Default)]
pub(crate) struct Pond {
    pub(crate) steps: u32,
    /// How often this machine came into a world.
    pub(crate) entered: u32,
    /// Nobody does anything, so that all can be compared.
    pub(crate) still: bool,
    pub(crate) shouts: Vec<(Player, u8)>,
    pub(crate) gained: Vec<ObjectId>,
}

impl Pond {
    fn boat_of(session: &Session, player: Player) -> Option<ObjectId> {
        let own = |boat: &Boat| boat.sailor == player.number();
        session.objects::<Boat>().find(|(_, boat)| own(boat)).map(|(id, _)| id)
    }

    /// The player strikes out with its oar: its boat moves, and sometimes a rock.
    fn strike(&self, session: &mut Session, player: Player, oars: Oars) {
        let strokes = u8::from(oars.row) + u8::from(oars.splash);
        let boat = Pond::boat_of(session, player).filter(|boat| session.is_mine(*boat));
        if let Some(boat) = boat.filter(|_| strokes > 0) {
            session.update(boat, |boat: &mut Boat| boat.strokes += u32::from(strokes)).expect("it is ours");
        }
        if strokes == 0 || self.steps % 41 != u32::from(player.number()) {
            return;
        }
        let mut rocks: Vec<ObjectId> = session.objects::<Rock>().map(|(id, _)| id).collect();
        rocks.sort_unstable();
        let nth = self.steps as usize / 41 + usize::from(player.number());
        if let Some(&rock) = rocks.get(nth % rocks.len().max(1))
            && session.touch(rock).is_ok()
        {
            session.update(rock, |rock: &mut Rock| rock.pushes += 1).expect("it is ours");
        }
    }
}

impl World for Pond {
    type Input = Oars;

    fn kinds() -> Kinds {
        let rules = SignalRules::FREE;
        Kinds::new().with::<Rock>().with::<Boat>().with_signal::<Shout>("shout", rules)
    }

    fn found(&mut self, session: &mut Session) {
        for _ in 0..ROCKS {
            session.spawn(&Rock { pushes: 0 }).expect("there is room");
        }
    }

    fn enter(&mut self, session: &mut Session) {
        self.entered += 1;
        let me = session.player();
        let hosted = matches!(session.config().policy, Policy::Host);
        if !hosted && session.owned::<Boat>(me).next().is_none() {
            session.spawn_for(me, &Boat { strokes: 0, sailor: me.number() }).expect("everybody may have one");
        }
    }

    fn step(&mut self, session: &mut Session) {
        self.steps += 1;
        if !matches!(session.config().policy, Policy::Host) {
            let oars = session.take_input(session.player()).unwrap_or_default();
            return self.strike(session, session.player(), oars);
        }
        let players: Vec<Player> = session.roster().iter().map(|present| present.player).collect();
        if !session.is_lead() {
            return;
        }
        for player in players {
            if Pond::boat_of(session, player).is_none() {
                let _ = session.spawn(&Boat { strokes: 0, sailor: player.number() });
            }
            let oars = session.take_input(player).unwrap_or_default();
            self.strike(session, player, oars);
        }
    }

    fn hear(&mut self, _: &mut Session, event: &WorldEvent) {
        if let WorldEvent::Gained { id, .. } = event {
            self.gained.push(*id);
        }
    }

    fn signal(&mut self, _: &mut Session, signal: &Signal) {
        if let Some(shout) = signal.get::<Shout>() {
            self.shouts.push((signal.from, shout.word));
        }
    }
}

pub(crate) type House = SharedRoom<Pond, Doorstep>;
pub(crate) type Town = town::Town<House>;

/// The settings of a house, with another policy.
pub(crate) fn with_policy(house: usize, policy: Policy) -> SharedConfig {
    let client = town::client_config(house);
    RoomConfig { client, ..RoomConfig::shared("pond", 4, policy).expect("a label") }
}

impl Resident for House {
    type Config = SharedConfig;

    fn settings(house: usize) -> SharedConfig {
        with_policy(house, Policy::Mixed)
    }

    fn move_in(now: Micros, config: SharedConfig, doorstep: Doorstep, seed: u64) -> House {
        SharedRoom::open(now, config, doorstep, Pond::default(), seed).expect("settings that can be")
    }

    fn play(&mut self, now: Micros, house: usize) {
        let beat = now.get() / FRAME.get() / (3 + house as u64);
        let row = !self.world().still && beat % 2 == 1;
        self.set_input(Oars { row, splash: false });
        self.update(now);
    }

    fn next_told(&mut self) -> Option<Event> {
        self.next_event()
    }

    fn where_it_is(&self) -> Stage {
        self.stage()
    }

    fn describe(&mut self) -> String {
        let people: Vec<_> = self.people().into_iter().map(|person| (person.name, person.slots)).collect();
        let (session, stats) = (self.session(), self.stats());
        let boats: Vec<_> = boats(session);
        format!(
            "{:?} of {:?}, {:?}\n  {boats:?}\n  people {people:?} {stats:?}",
            session.player(),
            session.roster(),
            self.world()
        )
    }
}

/// Every boat, and who holds it.
pub(crate) fn boats(session: &Session) -> Vec<(ObjectId, Boat, Option<Player>)> {
    let mut all: Vec<_> =
        session.objects::<Boat>().map(|(id, boat)| (id, boat, session.holder(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// Every rock, and who holds it.
pub(crate) fn rocks(session: &Session) -> Vec<(ObjectId, Rock, Option<Player>)> {
    let mut all: Vec<_> =
        session.objects::<Rock>().map(|(id, rock)| (id, rock, session.holder(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// Everybody named is in one world, and after a moment of stillness it is the same for all: rocks, boats, holders, lead.
pub(crate) fn expect_one_world(town: &mut Town, houses: &[usize]) {
    for &house in houses {
        town.room(house).world_mut().still = true;
    }
    town.run_ms(2_500);
    let first = town.room(houses[0]);
    let (lead, all) = (first.host(), (rocks(first.session()), boats(first.session())));
    assert_eq!(all.0.len(), ROCKS, "{}", town.describe());
    for &house in houses {
        let room = town.room(house);
        let same = (rocks(room.session()), boats(room.session())) == all && room.host() == lead;
        let here = room.session().roster().len();
        let stage = room.stage();
        assert!(
            same && here == houses.len() && stage == Stage::Together,
            "house {house}\n{}",
            town.describe()
        );
        town.room(house).world_mut().still = false;
    }
}

/// What a player has done, as a house sees it.
pub(crate) fn strokes(town: &mut Town, house: usize, player: Player) -> u32 {
    let boats = boats(town.room(house).session());
    boats.iter().filter(|(_, boat, _)| boat.sailor == player.number()).map(|(_, boat, _)| boat.strokes).sum()
}

/// How often rocks were pushed, as a house sees it.
pub(crate) fn pushes(town: &mut Town, house: usize) -> u32 {
    rocks(town.room(house).session()).iter().map(|(_, rock, _)| rock.pushes).sum()
}

/// A word to everybody.
pub(crate) fn shout(town: &mut Town, house: usize, word: u8) {
    town.room(house).session_mut().signal(To::All, &[], &Shout { word }).expect("nobody shouted before");
}
