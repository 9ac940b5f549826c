//! Your handle on a room: solo at once, together as soon as somebody is there, alone again when they leave.
//!
//! This file owns what is played and when; `room/company.rs` has what the match says. The seat, the links and the people
//! are the [`LobbyRoom`]'s.

mod events;

use std::fmt;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet, VecSet};
use gaggle_link::{SendError, Transport};
use gaggle_lobby::Label;
use gaggle_lobby::client::Client;
use gaggle_timeline::{
    DesyncBundle, Game, Incarnation, MatchId, PeerSlots, Session, SessionError, SessionStats, Tick,
    TimelineConfig,
};

use crate::config::{JoinTarget, RoomConfig};
use crate::event::RoomEvent;
use crate::input_latch::InputLatch;
use crate::lobby_room::{LobbyAction, LobbyRoom};
use crate::messages::MessageQueue;
use crate::platform::Platform;
use crate::play::Play;
use crate::recording::Recording;

/// Where a room is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Alone at this machine; the lobby may or may not know.
    Solo,
    /// Still alone on the screen, coming into the match of others.
    Joining {
        /// How far it is, in percent.
        percent: u8,
    },
    /// In the match of the room, perhaps as the first.
    Playing,
    /// Looking on at the match of the room, without a seat in it: see [`JoinTarget::Spectate`].
    Spectating,
    /// Stood up for a while, because nobody looks: see [`Room::suspend`].
    Suspended,
}

/// The game on the screen stands still, because the others' input is missing: see [`Room::stall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// Since when.
    pub since: Micros,
    /// Those who are waited for.
    pub waiting_for: Vec<PeerId>,
    /// Nothing is heard of anybody: it may be ourselves who are cut off.
    pub is_isolated: bool,
}

/// While we rest: whoever comes in has everything by then, and whoever was left to play has heard our goodbye.
const LET_GO_AFTER: Micros = Micros::from_secs(1);

/// An attempt to come into a running match, while the game at hand goes on.
struct Joining<G: Game> {
    play: Play<G>,
    /// When it began, or last came farther than before.
    progress_at: Micros,
    /// Since when nobody in the room plays and it is ours to begin.
    alone_since: Option<Micros>,
    percent: u8,
    /// The farthest it ever was, in percent.
    best: u8,
    /// Those whose links were closed for good.
    rejected: VecSet<PeerId>,
    /// It can never work.
    hopeless: bool,
}

/// The whole life of being online, behind one object.
///
/// Give it the players' input and the time, once per displayed frame; draw [`game`](Room::game). It plays solo at once,
/// finds a room, comes into the match there without anybody pausing, and goes on alone when everybody has left or the
/// network is gone.
///
/// It does nothing by itself: sockets are behind [`Platform`], which `gaggle-native` and `gaggle-browser` provide. Here is one
/// without any, as in a test:
///
/// ```
/// use gaggle::{Game, Input, Inputs, Micros, NoNetwork, Room, RoomConfig, Slot, State};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Input)]
/// struct Pad { right: bool, #[input(one_shot)] jump: bool }
///
/// #[derive(Clone, State)]
/// struct Runner { x: i32, jumps: u32 }
///
/// impl Game for Runner {
///     type Input = Pad;
///     fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
///         let pad = inputs.get(Slot::at(0));
///         self.x += i32::from(pad.right) * 10;
///         self.jumps += u32::from(pad.jump);
///     }
/// }
///
/// let config = RoomConfig::new("runner", 2)?.version("1.0");
/// let mut room = Room::open(Micros::ZERO, config, NoNetwork::default(), Runner { x: 0, jumps: 0 }, 7)?;
/// for shown in 1..=144 {
///     // A display of 144 Hz, and a jump in one of its frames.
///     room.set_input(0, Pad { right: true, jump: shown == 70 });
///     room.update(Micros::new(shown * 1_000_000 / 144));
///     while let Some(event) = room.poll_event() {
///         println!("{event}");
///     }
///     // Between two frames of the game the display shows something in between.
///     let (before, now) = (room.previous_game().x, room.game().x);
///     let drawn_at = before + (now - before) * room.alpha_permille() as i32 / 1_000;
///     assert!((before..=now).contains(&drawn_at));
/// }
/// assert_eq!(room.game().jumps, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Room<G: Game, P: Platform> {
    lounge: LobbyRoom<TimelineConfig, P>,
    /// What is on the screen.
    shown: Play<G>,
    /// The game a frame ago, for drawing in between.
    before: G,
    /// What is on the screen is the match of the room.
    together: bool,
    /// It is one of our own, because we did not get into that of the others, and no peer has joined it yet.
    apart: bool,
    joining: Option<Joining<G>>,
    resting: bool,
    /// We left the match on the screen, to come back.
    stood_up: bool,
    /// While we rest: since when others are there, or since when we have left the match to them.
    knocked: Option<Micros>,
    recording: Option<Recording<G>>,
    players: Vec<InputLatch<G::Input>>,
    /// Those in the match of whom nothing is heard at the moment.
    silent: VecSet<PeerId>,
    /// Since when the game on the screen stands still.
    still_since: Option<Micros>,
    mailbox: MessageQueue,
    /// Where we sat in the match of this room before we stood up.
    old_slots: Option<SlotSet>,
    /// The input delay the player chose.
    input_delay: Option<u32>,
}

impl<G: Game, P: Platform> fmt::Debug for Room<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = self.shown.session().current_frame();
        f.debug_struct("Room").field("seat", &self.lounge.seat).field("frame", &frame).finish_non_exhaustive()
    }
}

impl<G: Game + Clone, P: Platform> Room<G, P> {
    /// Begins to play this game alone, and looks for others. The seed should be random; the game must be what everybody
    /// would begin with.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it.
    pub fn open(
        now: Micros,
        config: RoomConfig,
        platform: P,
        game: G,
        seed: u64,
    ) -> Result<Room<G, P>, SessionError> {
        check_seats(&config, config.local_players)?;
        let mut rng = Prng::new(seed);
        let nobody = PeerId::from_u128(rng.next_u64().into());
        let slots = config.first_slots(config.local_players);
        let session = solo_session(&config.engine, nobody, slots, 0, &mut rng)?;
        let build = config.build_id::<G>();
        let mut room = Room {
            before: game.clone(),
            shown: Play::new(now, session, game),
            together: false,
            apart: false,
            joining: None,
            resting: false,
            stood_up: false,
            knocked: None,
            recording: None,
            players: vec![InputLatch::default(); config.local_players],
            mailbox: MessageQueue::default(),
            old_slots: None,
            input_delay: None,
            silent: VecSet::new(),
            still_since: None,
            lounge: LobbyRoom::new(now, config, build, platform, rng),
        };
        room.lounge.look_for_others(false);
        Ok(room)
    }

    /// Begins another game alone and looks for others as wished. What was on the screen is over; a seat we had is given
    /// up if it is not as wished.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it, and nothing has changed.
    pub fn restart(&mut self, game: G, local_players: usize, wish: JoinTarget) -> Result<(), SessionError> {
        let LobbyRoom { config, rng, .. } = &mut self.lounge;
        check_seats(config, local_players)?;
        let nobody = PeerId::from_u128(rng.next_u64().into());
        let slots = config.first_slots(local_players);
        let session = solo_session(&config.engine, nobody, slots, 0, rng)?;
        self.leave();
        (self.lounge.config.local_players, self.lounge.config.join) = (local_players, wish);
        self.players = vec![InputLatch::default(); local_players];
        self.show(Play::new(self.lounge.now, session, game));
        self.lounge.look_for_others(true);
        Ok(())
    }

    /// Looks for others as wished, while the game on the screen goes on.
    pub fn join(&mut self, wish: JoinTarget) {
        self.lounge.config.join = wish;
        self.lounge.look_for_others(true);
    }

    /// Which mode of the game is looked for from the next [`Room::restart`] on.
    pub fn set_mode(&mut self, mode: Label) {
        self.lounge.config.mode = mode;
    }

    /// The colours to ask for from the next [`Room::restart`] on.
    pub fn set_preferred_slot(&mut self, palette: Option<u8>) {
        self.lounge.config.preferred_slot = palette;
    }

    /// What we are called from now on.
    pub fn set_name(&mut self, name: &str) {
        self.lounge.set_name(name);
    }

    /// The settings.
    pub fn config(&self) -> &RoomConfig {
        &self.lounge.config
    }

    /// What a player at this machine does now; players are counted from 0, and of others than
    /// [`RoomConfig::local_players`] nothing is heard. It counts until something else is done. A press that is
    /// [`one_shot`](gaggle_kit::Input) counts exactly once, however short or long the key is down and whatever the display's rate:
    /// it counts again when it was not in the input in between.
    pub fn set_input(&mut self, player: usize, input: G::Input) {
        if let Some(held) = self.players.get_mut(player) {
            held.set(input);
        }
    }

    /// Sends something to one of the others, or to everybody there is a link to: chat, emotes, readiness, whatever is no part
    /// of the match. It arrives once and in order, and means what the game makes of it: see [`Room::poll_message`].
    ///
    /// # Errors
    /// If it is larger than [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX), or a peer is not linked or does not keep up. Alone
    /// there is nobody to refuse it.
    pub fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        self.lounge.send_message(to, bytes)
    }

    /// The next thing somebody [sent](Room::send_message), and who. Anybody in the room may send anything: read it with care.
    pub fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        self.mailbox.next()
    }

    /// Does everything that is due: hears the others, plays the frames whose time has come, answers. Returns how many
    /// frames were played.
    pub fn update(&mut self, now: Micros) -> u32 {
        self.lounge.now = self.lounge.now.max(now);
        self.talk_to_lobby();
        self.forget_leavers();
        self.receive();
        let ticks = self.tick();
        self.hear_session();
        if self.resting {
            self.leave_to_others();
        }
        self.send_packets();
        if self.lounge.config.record_replay {
            Recording::keep_up(&mut self.recording, &self.shown.timeline);
        }
        ticks
    }

    /// The game to draw.
    pub fn game(&self) -> &G {
        self.shown.timeline.game()
    }

    /// The game a frame ago, to draw in between: see [`Room::alpha_permille`].
    pub fn previous_game(&self) -> &G {
        &self.before
    }

    /// The game as everybody has it, and nothing guessed: for results. None if that frame is not held any more.
    pub fn confirmed(&self) -> Option<(Frame, &G)> {
        self.shown.timeline.confirmed_game()
    }

    /// After an [`RoomEvent::DesyncRecovered`] of this machine: what it had, what it took over, and the inputs between. Write
    /// [`DesyncBundle::encode`] to a file, or [look](DesyncBundle::diff) at once which fields differ. Told once; whoever watches has
    /// none.
    pub fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.shown.timeline.take_desync_bundle()
    }

    /// The input delay from now on, in frames, alone and with others; `None` lets it adapt to the network again, and be 0 alone.
    ///
    /// # Errors
    /// If it is outside [`TimelineConfig::input_delay_range`].
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.shown.session_mut().set_input_delay(frames)?;
        self.input_delay = frames;
        Ok(())
    }

    /// The match on the screen as a whole replay file, from where we came in to the last frame that is final. Recording goes
    /// on. None unless [`RoomConfig::record_replay`] is set.
    pub fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.recording.as_ref().and_then(Recording::file)
    }

    /// Hashes of final states, one a second, the latest last: equal frames of one match have equal hashes everywhere. None
    /// unless [`RoomConfig::record_replay`] is set.
    pub fn checksums(&self) -> Vec<(Frame, u64)> {
        self.recording.iter().flat_map(Recording::marks).collect()
    }

    /// How far the display is from [the frame before](Room::previous_game) to [this one](Room::game), in thousandths: for interpolation.
    pub fn alpha_permille(&self) -> u32 {
        self.shown.alpha_permille()
    }

    /// The slots of the players at this machine.
    pub fn local_slots(&self) -> SlotSet {
        self.shown.session().local_slots()
    }

    /// Where we are.
    pub fn phase(&self) -> Phase {
        match &self.joining {
            _ if self.resting => Phase::Suspended,
            Some(joining) => Phase::Joining { percent: joining.percent },
            None if self.is_watching() => Phase::Spectating,
            None if self.together && !self.apart => Phase::Playing,
            None => Phase::Solo,
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
    pub fn poll_event(&mut self) -> Option<RoomEvent> {
        self.lounge.poll_event()
    }

    /// What machines must have in common to meet, as the lobby calls it: the version of the game, the fields of its state and
    /// input, and the settings of the match.
    pub fn build_id(&self) -> &Label {
        &self.lounge.build_id
    }

    /// The lobby, to look at rooms and to ask for more; none while offline.
    pub fn lobby_client(&mut self) -> Option<&mut Client> {
        self.lounge.lobby_client.as_mut()
    }

    /// The platform, for what only it can do.
    pub fn platform(&self) -> &P {
        &self.lounge.platform
    }

    /// The platform, for what only it can do.
    pub fn platform_mut(&mut self) -> &mut P {
        &mut self.lounge.platform
    }

    /// Nobody looks for a while: stands up, so that nobody has to wait for us. Keep calling [`Room::update`] as often as
    /// possible.
    pub fn suspend(&mut self) {
        // Nobody waits for those who look on.
        if self.resting || self.is_watching() {
            return;
        }
        self.resting = true;
        self.players.iter_mut().for_each(InputLatch::let_go);
        self.joining = None;
        self.lounge.joins = false;
        self.knocked = None;
        self.stand_up();
        self.lounge.set_resting(true);
    }

    /// Somebody looks again: sits down where we were.
    pub fn resume(&mut self) {
        if !std::mem::take(&mut self.resting) {
            return;
        }
        self.lounge.set_resting(false);
        self.shown.skip_time(self.lounge.now);
        let came_in = self.together || self.joining.is_some() || self.lounge.seat.is_none();
        if std::mem::take(&mut self.stood_up) || !came_in {
            // Links know the part that ended: a new one begins with new links.
            self.lounge.renew_links();
            self.begin_joining();
        }
    }

    /// Leaves the room and goes on alone. When the page is closed, say [`Room::close`].
    pub fn leave(&mut self) {
        self.part(false);
    }

    /// The page is closed, or loaded again: leaves the room, so that nobody waits, but has the seat kept for a moment. Whoever
    /// opens a room with the same [key and seat](RoomConfig::lobby) within 10 s has it again.
    /// The lobby hears nothing more of this one before [`Client::reconnect`].
    pub fn close(&mut self) {
        self.part(true);
        self.lounge.hang_up();
    }

    /// Takes the seat over from another tab: after [`RoomEvent::OpenedElsewhere`].
    pub fn take_over(&mut self) {
        self.lounge.take_over();
    }

    /// Tells the lobby how the match ended: points by slot, how far it went, a hash of the final state. Everybody tells
    /// it, and it counts when they agree. Of several players at one machine the first one's points count: the lobby knows whose
    /// machine it is, not who sits beside them. Say it once, of a [confirmed](Room::confirmed) state; if a part of the match is lost
    /// in a split ([`RoomEvent::BranchAbandoned`]), say it again. Whether it could be told: alone without a server there is
    /// nobody to tell.
    #[must_use = "what could not be told must be said again"]
    pub fn report_result(&mut self, points: &[(Slot, i64)], level: Option<u32>, digest: u64) -> bool {
        let session = self.shown.session();
        // The lobby knows one person at each machine, whoever else plays there: what the first player has is theirs.
        let first = |slots: SlotSet| {
            points.iter().filter(|(slot, _)| slots.contains(*slot)).min_by_key(|(slot, _)| *slot)
        };
        let rows = session.roster().iter().filter(|row| row.is_active());
        let owners: Vec<(PeerId, i64)> =
            rows.filter_map(|row| Some((row.stream.peer, first(row.slots)?.1))).collect();
        self.together && !self.is_watching() && self.lounge.report_result(&owners, level, digest)
    }

    /// Tells the lobby our points so far and how far we came: call it as often as they change, it is said every 15 s and when we leave. They are
    /// kept as our claim if no [report](Room::report_result) names us.
    pub fn set_score(&mut self, points: i64, level: Option<u32>) {
        if self.together && !self.is_watching() {
            self.lounge.set_score(points, level);
        }
    }

    /// Another match begins in the same room. Everybody may call this; only the host of the room tells the lobby.
    pub fn start_round(&mut self) {
        self.lounge.start_round();
    }

    /// Does what the lobby's news ask for.
    fn talk_to_lobby(&mut self) {
        self.lounge.listen();
        while let Some(errand) = self.lounge.poll_action() {
            match errand {
                LobbyAction::OpenMatch => self.found(),
                LobbyAction::JoinMatch => self.begin_joining(),
                LobbyAction::GoSolo => self.go_solo(),
                LobbyAction::MembersChanged => {}
                LobbyAction::Resumed => self.rejoin_others(),
            }
        }
    }

    /// Lets go of those who left a while ago.
    fn forget_leavers(&mut self) {
        while let Some(peer) = self.lounge.next_leaver() {
            // Whoever is not in the room has no place in the match either. Most have said goodbye there already.
            if !self.is_watching() {
                let _ = self.shown.session_mut().evict(peer);
            }
            self.lounge.remove_link(peer);
        }
    }

    fn part(&mut self, back: bool) {
        self.stand_up();
        self.old_slots = None;
        self.resting = false;
        if self.lounge.give_up_seat(back) {
            self.go_solo();
        }
    }

    /// Says goodbye to those we play with, if there are any.
    fn stand_up(&mut self) {
        if self.has_company() && !self.is_watching() {
            self.stood_up = true;
            self.knocked = Some(self.lounge.now);
            self.old_slots = Some(self.local_slots()).filter(|slots| !slots.is_empty());
            self.shown.session_mut().leave();
            self.shown.tick(self.lounge.now, &mut self.players);
            self.send_packets();
        }
    }

    /// While we rest: stands up for those who have come in, and lets go of those who need nothing of us any more.
    fn leave_to_others(&mut self) {
        if !self.stood_up && self.has_company() {
            self.stand_up();
        } else if self.stood_up || self.lounge.has_others_awake() {
            let since = *self.knocked.get_or_insert(self.lounge.now);
            if self.lounge.now.since(since) >= LET_GO_AFTER && self.lounge.mesh.as_mut().is_some() {
                self.stood_up = true;
                self.lounge.mesh = None;
            }
        } else {
            self.knocked = None;
        }
    }

    /// We are back, and the lobby knows. Those who came while we rested and are not in our match play another.
    fn rejoin_others(&mut self) {
        let plays_alone = self.together && self.joining.is_none() && !self.has_company();
        if plays_alone && !self.resting && !self.is_watching() && self.lounge.has_others_awake() {
            self.lounge.renew_links();
            self.begin_joining();
        }
    }

    fn receive(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.receive(self.lounge.now, links, &mut self.mailbox),
            None if self.together => self.shown.receive(self.lounge.now, links, &mut self.mailbox),
            // Hidden before we were in: their match is not the one on the screen.
            None => while links.poll(self.lounge.now).is_some() {},
        }
    }

    fn send_packets(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.send(self.lounge.now, links),
            None if self.together => self.shown.send(self.lounge.now, links),
            None => {}
        }
    }

    fn tick(&mut self) -> u32 {
        // Who stood up has its last frames to confirm, and whoever knocks must be let in; who rests alone has
        // nothing to do.
        let is_linked = |links: &mut P::Mesh| self.stood_up || !links.peers().is_empty();
        let is_needed = self.lounge.mesh.as_mut().is_some_and(is_linked);
        let ticks = if self.resting && !is_needed {
            self.shown.skip_time(self.lounge.now);
            0
        } else {
            self.shown.ticks_due(self.lounge.now)
        };
        for _ in 0..ticks {
            self.before.copy_from(self.shown.timeline.game());
            let tick = self.shown.tick(self.lounge.now, &mut self.players);
            let since = self.still_since.unwrap_or(self.lounge.now);
            self.still_since = (tick == Tick::Stalled).then_some(since);
        }
        if let Some(joining) = &mut self.joining {
            for _ in 0..joining.play.ticks_due(self.lounge.now) {
                // What is pressed now is pressed in the game on the screen.
                joining.play.tick(self.lounge.now, &mut []);
            }
        }
        ticks
    }

    /// Comes into the match others play in the room, while the game at hand goes on.
    fn begin_joining(&mut self) {
        let Some(peer) = self.lounge.me() else { return };
        self.lounge.joins = !self.resting;
        if self.resting {
            // Nobody looks: it is begun when somebody does.
            self.together = false;
            return;
        }
        let wanted = self.wanted_slots();
        let LobbyRoom { config, rng, now, .. } = &mut self.lounge;
        let incarnation = Incarnation(rng.next_u32());
        let session = match (&config.join, wanted) {
            (JoinTarget::Spectate(_), _) => Session::spectate(config.engine.clone(), peer, incarnation),
            (_, Some(slots)) => Session::rejoin(config.engine.clone(), peer, slots, incarnation),
            _ => Session::join(config.engine.clone(), peer, config.local_players, incarnation),
        };
        let Ok(session) = session else { unreachable!("the settings held for the match alone") };
        let play = Play::new(*now, session, self.shown.timeline.game().clone());
        self.joining = Some(Joining {
            play,
            progress_at: *now,
            alone_since: None,
            percent: 0,
            best: 0,
            rejected: VecSet::new(),
            hopeless: false,
        });
        self.lounge.push(RoomEvent::Joining { percent: 0 });
    }

    /// Makes what is on the screen the match of the room, into which others come.
    fn found(&mut self) {
        if self.found_match() {
            self.apart = false;
            self.lounge.push(RoomEvent::MatchJoined);
        }
    }

    /// Goes on alone in a room whose match we did not get into. If the others can be reached later, the two matches become one.
    fn found_apart(&mut self) {
        self.apart = self.found_match();
    }

    /// In a room whose match we did not get into: whether we are in one match with others now.
    fn hear_others(&mut self) {
        if self.apart && self.has_company() {
            self.apart = false;
            self.lounge.push(RoomEvent::MatchJoined);
        }
    }

    fn found_match(&mut self) -> bool {
        let Some(peer) = self.lounge.me() else { return false };
        // Nobody ever sat in a match of our own.
        self.lounge.reused_slots = SlotSet::EMPTY;
        self.lounge.joins = false;
        let lobby = self.lounge.lobby_client.as_ref();
        let born = lobby.map_or(0, |client| client.server_unix_seconds(self.lounge.now));
        self.start_over_as(peer, born);
        self.together = true;
        true
    }

    /// Goes on with the game on the screen, but without the others.
    fn go_solo(&mut self) {
        let nobody = PeerId::from_u128(self.lounge.rng.next_u64().into());
        self.together = false;
        self.apart = false;
        self.stood_up = false;
        self.old_slots = None;
        self.joining = None;
        self.lounge.joins = false;
        self.mailbox.clear();
        self.start_over_as(nobody, 0);
    }

    fn start_over_as(&mut self, peer: PeerId, born: u64) {
        let slots = self.own_slots_or_first();
        let LobbyRoom { config, rng, now, .. } = &mut self.lounge;
        let Ok(session) = solo_session(&config.engine, peer, slots, born, rng) else {
            unreachable!("the settings held before")
        };
        let play = Play::new(*now, session, self.shown.timeline.game().clone());
        self.show(play);
    }

    /// Puts another match on the screen.
    fn show(&mut self, mut play: Play<G>) {
        // The limits are those under which it was chosen.
        let _ = play.session_mut().set_input_delay(self.input_delay);
        self.before = play.timeline.game().clone();
        self.recording = None;
        self.silent.clear();
        self.still_since = None;
        self.shown = play;
    }

    /// Where we sat before, or else where the lobby gave us chairs: it keeps them for whoever crashed or reloaded, and gives
    /// newcomers those nobody has left lately.
    fn wanted_slots(&self) -> Option<SlotSet> {
        let config = &self.lounge.config;
        let fits = |slots: &SlotSet| {
            slots.len() == config.local_players
                && slots.iter().all(|slot| slot.index() < config.engine.slot_count)
        };
        self.old_slots.filter(fits).or(Some(self.lounge.own_reserved_slots()).filter(fits))
    }

    fn own_slots_or_first(&self) -> SlotSet {
        let own = self.local_slots();
        let config = &self.lounge.config;
        if own.is_empty() { config.first_slots(config.local_players) } else { own }
    }

    fn is_watching(&self) -> bool {
        self.shown.session().is_spectating()
    }

    /// Others are in the match on the screen.
    fn has_company(&self) -> bool {
        self.together && self.shown.session().roster().iter().filter(|row| row.is_active()).count() > 1
    }
}

/// Whether the players of a room, and those at this machine, have slots in the match.
fn check_seats(config: &RoomConfig, local_players: usize) -> Result<(), SessionError> {
    let slots = config.engine.slot_count;
    let too_few = |setting, value: usize, min: u64, max: usize| {
        Err(SessionError::OutOfRange { setting, value: value as u64, min, max: max as u64 })
    };
    if slots < usize::from(config.max_players) {
        return too_few("session.slots", slots, config.max_players.into(), Slot::COUNT_MAX);
    }
    if !(1..=slots).contains(&local_players) {
        return too_few("local_players", local_players, 1, slots);
    }
    Ok(())
}

/// A session for one, into which others may come.
fn solo_session<I: gaggle_kit::Input>(
    config: &TimelineConfig,
    peer: PeerId,
    slots: SlotSet,
    born: u64,
    rng: &mut Prng,
) -> Result<Session<I>, SessionError> {
    let match_id = MatchId { started_at: born, nonce: rng.next_u64() };
    let config = TimelineConfig { match_id, ..config.clone() };
    Session::new(config, peer, &[PeerSlots { peer, slots }], Incarnation(rng.next_u32()))
}
