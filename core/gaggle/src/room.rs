//! Your handle on a room: solo at once, together as soon as somebody is there, alone again when they leave.
//!
//! This file owns what is played and when. `room/lobby.rs` has what the lobby says, `room/company.rs` what the match
//! says and who is who.

mod company;
mod lobby;
mod results;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_link::Transport;
use gaggle_lobby::client::Client;
use gaggle_lobby::message::client::{Leave, Profile};
use gaggle_lobby::{Label, RoomId};
use gaggle_timeline::{Game, Incarnation, MatchId, Seat, Session, SessionConfig, SessionError, SessionStats};

use crate::config::{RoomConfig, Wish};
use crate::event::Event;
use crate::outside::{LinksSetup, Outside};
use crate::play::Play;
use crate::recording::Recording;

pub use company::Person;

/// Events kept for a game that does not fetch them.
const EVENTS_MAX: usize = 256;

/// Where a room is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Alone at this machine; the lobby may or may not know.
    Solo,
    /// Still alone on the screen, coming into the match of others.
    Joining {
        /// How far it is, in percent.
        percent: u8,
    },
    /// In the match of the room, perhaps as the first.
    Together,
    /// Stood up for a while, because nobody looks: see [`Room::rest`].
    Resting,
}

/// An attempt to come into a running match, while the game at hand goes on.
struct Joining<G: Game> {
    play: Play<G>,
    give_up_at: Micros,
    percent: u8,
}

/// The whole life of being online, behind one object.
///
/// Give it the players' input and the time, once per displayed frame; draw [`game`](Room::game). It plays solo at once,
/// finds a room, comes into the match there without anybody pausing, and goes on alone when everybody has left or the
/// network is gone.
///
/// It does nothing by itself: sockets are behind [`Outside`], which `gaggle-native` and `gaggle-browser` provide.
pub struct Room<G: Game, O: Outside> {
    config: RoomConfig,
    outside: O,
    client: Option<Client>,
    rng: Prng,
    /// What is on the screen.
    shown: Play<G>,
    /// The game a frame ago, for drawing in between.
    before: G,
    /// What is on the screen is the match of the room.
    together: bool,
    joining: Option<Joining<G>>,
    resting: bool,
    /// We left the match on the screen, to come back.
    stood_up: bool,
    recording: Option<Recording<G>>,
    inputs: Vec<G::Input>,
    /// The room we have a seat in, and who we are there.
    seat: Option<(RoomId, PeerId)>,
    server_lost: bool,
    /// Those who left the room, and when to let go of them.
    leaving: Vec<(Micros, PeerId)>,
    names: BTreeMap<PeerId, String>,
    /// Those in the match of whom nothing is heard at the moment.
    silent: BTreeSet<PeerId>,
    events: VecDeque<Event>,
    now: Micros,
}

impl<G: Game, O: Outside> fmt::Debug for Room<G, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = self.shown.session().current_frame();
        f.debug_struct("Room").field("seat", &self.seat).field("frame", &frame).finish_non_exhaustive()
    }
}

impl<G: Game + Clone, O: Outside> Room<G, O> {
    /// Begins to play this game alone, and looks for others. The seed should be random; the game must be what everybody
    /// would begin with.
    ///
    /// # Errors
    /// Says which setting cannot be.
    pub fn open(
        now: Micros,
        config: RoomConfig,
        outside: O,
        game: G,
        seed: u64,
    ) -> Result<Room<G, O>, SessionError> {
        let mut rng = Prng::new(seed);
        let nobody = PeerId::from_u128(rng.next_u64().into());
        let slots = (0..config.local_players).map(Slot::at).collect();
        let session = solo_session(&config.session, nobody, slots, 0, &mut rng)?;
        let mut room = Room {
            client: None,
            before: game.clone(),
            shown: Play::new(now, session, game),
            together: false,
            joining: None,
            resting: false,
            stood_up: false,
            recording: None,
            inputs: vec![G::Input::default(); config.local_players],
            seat: None,
            server_lost: false,
            leaving: Vec::new(),
            names: BTreeMap::new(),
            silent: BTreeSet::new(),
            events: VecDeque::new(),
            config,
            outside,
            rng,
            now,
        };
        if room.config.wish != Wish::Offline {
            room.client = Some(Client::new(now, room.config.client.clone(), room.rng.next_u64()));
            room.ask_for_seat(false);
        }
        Ok(room)
    }

    /// Begins another game alone and looks for others as wished. What was on the screen is over; a seat we had is given
    /// up if it is not as wished.
    ///
    /// # Errors
    /// Says which setting cannot be; then nothing has changed.
    pub fn start(&mut self, game: G, local_players: usize, wish: Wish) -> Result<(), SessionError> {
        let nobody = PeerId::from_u128(self.rng.next_u64().into());
        let slots = (0..local_players).map(Slot::at).collect();
        let session = solo_session(&self.config.session, nobody, slots, 0, &mut self.rng)?;
        self.leave();
        (self.config.local_players, self.config.wish) = (local_players, wish);
        self.inputs = vec![G::Input::default(); local_players];
        self.show(Play::new(self.now, session, game));
        if self.config.wish != Wish::Offline && self.client.is_none() {
            self.client = Some(Client::new(self.now, self.config.client.clone(), self.rng.next_u64()));
        }
        self.ask_for_seat(true);
        Ok(())
    }

    /// Looks for others as wished, while the game on the screen goes on.
    pub fn seek(&mut self, wish: Wish) {
        self.config.wish = wish;
        self.ask_for_seat(true);
    }

    /// Which mode of the game is looked for from the next [`Room::start`] on.
    pub fn set_mode(&mut self, mode: Label) {
        self.config.mode = mode;
    }

    /// The colours to ask for from the next [`Room::start`] on.
    pub fn set_palette(&mut self, palette: Option<u8>) {
        self.config.palette = palette;
    }

    /// What we are called from now on.
    pub fn set_name(&mut self, name: &str) {
        self.config.client.name = Some(name.to_string());
        if let Some(client) = &mut self.client {
            client.set_profile(Profile { name: Some(name.to_string()), palette: None });
        }
    }

    /// The settings.
    pub fn config(&self) -> &RoomConfig {
        &self.config
    }

    /// What a player at this machine does from now on. Players are counted from 0.
    pub fn set_input(&mut self, player: usize, input: G::Input) {
        if let Some(held) = self.inputs.get_mut(player) {
            *held = input;
        }
    }

    /// Does everything that is due: hears the others, plays the frames whose time has come, answers. Returns how many
    /// frames were played.
    pub fn update(&mut self, now: Micros) -> u32 {
        self.now = self.now.max(now);
        self.talk_to_lobby();
        self.forget_leavers();
        self.receive();
        let ticks = self.tick();
        self.hear_session();
        if self.resting && !self.stood_up {
            self.stand_up();
        }
        self.send();
        Recording::keep_up(&mut self.recording, &self.shown.timeline);
        ticks
    }

    /// The game to draw.
    pub fn game(&self) -> &G {
        self.shown.timeline.game()
    }

    /// The game a frame ago, to draw in between: see [`Room::thousandths`].
    pub fn before(&self) -> &G {
        &self.before
    }

    /// The game as everybody has it, and nothing guessed: for results. None if that frame is not held any more.
    pub fn confirmed_game(&self) -> Option<(Frame, &G)> {
        self.shown.timeline.confirmed_game()
    }

    /// The match on the screen as a replay file, from where we came in to about a second ago.
    pub fn replay(&self) -> Option<&[u8]> {
        self.recording.as_ref().map(Recording::bytes).filter(|bytes| !bytes.is_empty())
    }

    /// Hashes of final states, one a second, the latest last: equal frames of one match have equal hashes everywhere.
    pub fn marks(&self) -> Vec<(Frame, u64)> {
        self.recording.iter().flat_map(Recording::marks).collect()
    }

    /// How far the display is from the frame before to the next, in thousandths.
    pub fn thousandths(&self) -> u32 {
        self.shown.thousandths()
    }

    /// The slots of the players at this machine.
    pub fn own_slots(&self) -> SlotSet {
        self.shown.session().local_slots()
    }

    /// Where we are.
    pub fn stage(&self) -> Stage {
        match &self.joining {
            _ if self.resting => Stage::Resting,
            Some(joining) => Stage::Joining { percent: joining.percent },
            None if self.together => Stage::Together,
            None => Stage::Solo,
        }
    }

    /// What the match on the screen cost so far.
    pub fn stats(&self) -> SessionStats {
        self.shown.session().stats()
    }

    /// The session of the match on the screen, to look at.
    pub fn session(&self) -> &Session<G::Input> {
        self.shown.session()
    }

    /// What happened next.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The lobby, to look at rooms and to ask for more; none while offline.
    pub fn lobby(&mut self) -> Option<&mut Client> {
        self.client.as_mut()
    }

    /// The world outside.
    pub fn outside(&self) -> &O {
        &self.outside
    }

    /// The world outside.
    pub fn outside_mut(&mut self) -> &mut O {
        &mut self.outside
    }

    /// Nobody looks for a while: stands up, so that nobody has to wait for us. Keep calling [`Room::update`] as often as
    /// possible.
    pub fn rest(&mut self) {
        if self.resting {
            return;
        }
        self.resting = true;
        self.joining = None;
        self.stand_up();
    }

    /// Somebody looks again: sits down where we were.
    pub fn wake(&mut self) {
        if !std::mem::take(&mut self.resting) {
            return;
        }
        self.shown.skip_time(self.now);
        if std::mem::take(&mut self.stood_up) {
            // Links know the part that ended: a new one begins with new links.
            self.outside.close_links(self.now);
            self.open_links();
            self.begin_joining();
        }
    }

    /// Leaves the room and goes on alone. Say this when the page is closed, too: then nobody waits.
    pub fn leave(&mut self) {
        self.stand_up();
        self.resting = false;
        self.config.wish = Wish::Look;
        if self.seat.take().is_some() {
            if let Some(client) = &mut self.client {
                client.leave(Leave {});
            }
            self.talk_to_lobby();
            self.outside.close_links(self.now);
            self.go_solo();
        }
    }

    /// Takes the seat over from another tab: after [`Event::Elsewhere`].
    pub fn take_over(&mut self) {
        if let Some(client) = &mut self.client {
            client.take_over(self.now);
        }
    }

    /// Says goodbye to those we play with, if there are any.
    fn stand_up(&mut self) {
        if self.has_company() {
            self.stood_up = true;
            self.shown.session_mut().leave();
            self.shown.tick(self.now, &self.inputs);
            self.send();
        }
    }

    fn receive(&mut self) {
        let Some(links) = self.outside.links() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.receive(self.now, links),
            None => self.shown.receive(self.now, links),
        }
    }

    fn send(&mut self) {
        let Some(links) = self.outside.links() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.send(self.now, links),
            None => self.shown.send(self.now, links),
        }
    }

    fn tick(&mut self) -> u32 {
        // Who stood up has its last frames to confirm, and whoever knocks must be let in; who rests alone has
        // nothing to do.
        let is_needed = self.stood_up || self.outside.links().is_some_and(|links| !links.peers().is_empty());
        let ticks = if self.resting && !is_needed {
            self.shown.skip_time(self.now);
            0
        } else {
            self.shown.ticks_due(self.now)
        };
        for _ in 0..ticks {
            self.before.copy_from(self.shown.timeline.game());
            self.shown.tick(self.now, &self.inputs);
        }
        if let Some(joining) = &mut self.joining {
            for _ in 0..joining.play.ticks_due(self.now) {
                joining.play.tick(self.now, &self.inputs);
            }
        }
        ticks
    }

    /// Comes into the match others play in the room, while the game at hand goes on.
    fn begin_joining(&mut self) {
        let Some((_, peer)) = self.seat else { return };
        let incarnation = Incarnation(self.rng.next_u32());
        let players = self.config.local_players;
        let session = Session::join(self.config.session.clone(), peer, players, incarnation)
            .expect("the settings held for the match alone");
        let give_up_at = self.now + self.config.join_within;
        let play = Play::new(self.now, session, self.shown.timeline.game().clone());
        self.joining = Some(Joining { play, give_up_at, percent: 0 });
        self.push(Event::Joining { percent: 0 });
    }

    /// Makes what is on the screen the match of the room, into which others come.
    fn found(&mut self) {
        let Some((_, peer)) = self.seat else { return };
        let born = self.client.as_ref().map_or(0, |client| client.server_unix_seconds(self.now));
        self.start_over_as(peer, born);
        self.together = true;
        self.push(Event::Together);
    }

    /// Goes on with the game on the screen, but without the others.
    fn go_solo(&mut self) {
        let nobody = PeerId::from_u128(self.rng.next_u64().into());
        self.together = false;
        self.stood_up = false;
        self.joining = None;
        self.start_over_as(nobody, 0);
    }

    fn start_over_as(&mut self, peer: PeerId, born: u64) {
        let slots = self.own_slots_or_first();
        let session = solo_session(&self.config.session, peer, slots, born, &mut self.rng)
            .expect("the settings held before");
        let game = self.shown.timeline.game().clone();
        self.show(Play::new(self.now, session, game));
    }

    /// Puts another match on the screen.
    fn show(&mut self, play: Play<G>) {
        self.before = play.timeline.game().clone();
        self.recording = None;
        self.silent.clear();
        self.shown = play;
    }

    fn own_slots_or_first(&self) -> SlotSet {
        let own = self.own_slots();
        if own.is_empty() { (0..self.config.local_players).map(Slot::at).collect() } else { own }
    }

    fn open_links(&mut self) {
        let (Some(client), Some((_, local))) = (&self.client, self.seat) else { return };
        let setup = LinksSetup {
            local,
            ticket: client.ticket().unwrap_or_default(),
            ice: client.ice(),
            relay: client.relay(),
            seed: self.rng.next_u64(),
        };
        self.outside.open_links(self.now, &setup);
        self.leaving.clear();
        self.connect_to_all();
    }

    /// Others are in the match on the screen.
    fn has_company(&self) -> bool {
        self.together && self.shown.session().roster().iter().filter(|row| row.is_open()).count() > 1
    }

    fn push(&mut self, event: Event) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

/// A session for one, into which others may come.
fn solo_session<I: gaggle_kit::Input>(
    config: &SessionConfig,
    peer: PeerId,
    slots: SlotSet,
    born: u64,
    rng: &mut Prng,
) -> Result<Session<I>, SessionError> {
    let match_id = MatchId { born, number: rng.next_u64() };
    let config = SessionConfig { match_id, ..config.clone() };
    Session::new(config, peer, &[Seat { peer, slots }], Incarnation(rng.next_u32()))
}
