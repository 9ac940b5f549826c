//! Engine of a [`GameRoom`](crate::GameRoom): the match on the screen, and the attempt to join
//! another one beside it.
//!
//! `game/events.rs` has what the session reports, `game/start.rs` matches all peers start together,
//! `game/play.rs` one match, `game/recording.rs` its replay.

mod events;
mod play;
mod recording;
mod start;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet, VecSet};
use gaggle_link::Transport;
use gaggle_lobby::Label;
use gaggle_timeline::{
    DesyncBundle, Game, Incarnation, MatchId, PeerSlots, Session, SessionError, SessionStats, Tick,
    TimelineConfig,
};

use crate::config::{JoinTarget, RoomConfig};
use crate::engine::input_latch::InputLatch;
use crate::engine::{Engine, sealed};
use crate::event::RoomEvent;
use crate::lobby_room::{HOST_STARTS, LobbyAction, LobbyRoom};
use crate::phase::{Phase, Stall};
use crate::platform::Platform;

use play::Play;
use recording::Recording;

/// How long a suspended peer serves those it left the match to: joiners have the state by then, and
/// the others have received that it leaves.
const HAND_OVER: Micros = Micros::from_secs(1);

type Lobby<P> = LobbyRoom<TimelineConfig, P>;

/// An attempt to join a running match, while the match on the screen goes on.
struct Joining<G: Game> {
    play: Play<G>,
    /// Peers that start it together and have not answered; none if it is a running one.
    awaited: Option<Vec<PeerId>>,
    /// When it began, or last made progress.
    progress_at: Micros,
    /// Since when no member plays and this peer is the one to open the match.
    alone_since: Option<Micros>,
    percent: u8,
    /// The most progress so far, in percent.
    best: u8,
    /// Peers whose links were closed for good.
    rejected: VecSet<PeerId>,
    /// It can never succeed.
    hopeless: bool,
}

impl<G: Game> Joining<G> {
    fn new(now: Micros, play: Play<G>, awaited: Option<Vec<PeerId>>) -> Joining<G> {
        Joining {
            play,
            awaited,
            progress_at: now,
            alone_since: None,
            percent: 0,
            best: 0,
            rejected: VecSet::new(),
            hopeless: false,
        }
    }
}

/// Plays one [`Game`] on all peers: inputs travel. Use it as a [`GameRoom`](crate::GameRoom).
#[expect(missing_debug_implementations, reason = "a game need not be `Debug`; `Room` is")]
pub struct GameEngine<G: Game> {
    /// What matches that all peers start together begin with.
    initial: G,
    /// The match on the screen.
    shown: Play<G>,
    /// The game one frame ago, to interpolate.
    previous: G,
    /// The match on the screen is the room's.
    in_match: bool,
    /// It is this peer's own, because joining the others' failed, and no peer has joined it yet.
    is_separate: bool,
    joining: Option<Joining<G>>,
    suspended: bool,
    /// This peer left the match on the screen, to rejoin.
    has_left: bool,
    /// While suspended: since when other members are present, or since when this peer has left the
    /// match to them.
    hand_over_since: Option<Micros>,
    recording: Option<Recording<G>>,
    players: Vec<InputLatch<G::Input>>,
    /// Peers of the match that are silent at the moment.
    silent: VecSet<PeerId>,
    /// Since when the match on the screen stalls.
    stalled_since: Option<Micros>,
    /// The slots this peer had in the room's match before it left.
    old_slots: Option<SlotSet>,
    /// The input delay the player chose.
    input_delay: Option<u32>,
}

impl<G: Game> sealed::Sealed for GameEngine<G> {}

impl<G: Game + Clone> Engine for GameEngine<G> {
    type Config = TimelineConfig;
    type Content = G;
    type Input = G::Input;
    type Stats = SessionStats;
    type Error = SessionError;

    fn create(now: Micros, config: &RoomConfig, game: G, rng: &mut Prng) -> Result<Self, SessionError> {
        check_slots(config)?;
        let unknown = PeerId::from_u128(rng.next_u64().into());
        let slots = config.first_slots(config.local_players);
        let session = solo_session(&config.engine, unknown, slots, 0, rng)?;
        Ok(GameEngine {
            initial: game.clone(),
            previous: game.clone(),
            shown: Play::new(now, session, game),
            in_match: false,
            is_separate: false,
            joining: None,
            suspended: false,
            has_left: false,
            hand_over_since: None,
            recording: None,
            players: vec![InputLatch::default(); config.local_players],
            old_slots: None,
            input_delay: None,
            silent: VecSet::new(),
            stalled_since: None,
        })
    }

    fn build_id(&self, config: &RoomConfig) -> Label {
        config.build_id::<G>()
    }

    fn keep_choices_of(&mut self, previous: &Self) {
        // The limits are those under which it was chosen.
        let _ = self.set_input_delay(previous.input_delay);
    }

    fn set_input(&mut self, player: usize, input: G::Input) {
        if let Some(latch) = self.players.get_mut(player) {
            latch.set(input);
        }
    }

    fn handle_action<P: Platform>(&mut self, room: &mut Lobby<P>, action: LobbyAction) {
        match action {
            LobbyAction::OpenMatch => self.open_match(room),
            LobbyAction::JoinMatch => self.begin_joining(room),
            LobbyAction::EnterLobby | LobbyAction::GoSolo => self.go_solo(room),
            LobbyAction::PrepareStart if HOST_STARTS => self.prepare_start(room),
            LobbyAction::StartMatch if HOST_STARTS => self.start_match(room),
            LobbyAction::PrepareStart | LobbyAction::StartMatch => {}
            LobbyAction::MembersChanged => {}
            LobbyAction::Resumed => self.rejoin_others(room),
        }
    }

    fn remove_peer<P: Platform>(&mut self, _room: &mut Lobby<P>, peer: PeerId) {
        // A peer that is not in the room has no slot in the match either. Most have left it
        // already.
        if !self.is_spectating() {
            let _ = self.shown.session_mut().evict(peer);
        }
        if let Some(joining) = self.joining.as_mut().filter(|joining| joining.awaited.is_some()) {
            let _ = joining.play.session_mut().evict(peer);
        }
    }

    fn update<P: Platform>(
        &mut self,
        room: &mut Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<G::Input>,
    ) -> u32 {
        self.receive(room);
        let ticks = self.tick(room, input);
        self.handle_events(room);
        if self.suspended {
            self.hand_over(room);
        }
        self.send_packets(room);
        if room.config.record_replay {
            Recording::keep_up(&mut self.recording, &self.shown.timeline);
        }
        ticks
    }

    fn suspend<P: Platform>(&mut self, room: &mut Lobby<P>) {
        // Nothing waits for a spectator.
        if self.suspended || self.is_spectating() {
            return;
        }
        self.suspended = true;
        self.players.iter_mut().for_each(InputLatch::let_go);
        self.joining = None;
        room.joins = false;
        self.hand_over_since = None;
        self.leave_match(room);
        room.set_resting(true);
    }

    fn resume<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if !std::mem::take(&mut self.suspended) {
            return;
        }
        room.set_resting(false);
        self.shown.skip_time(room.now);
        let needs_no_match = self.in_match || self.joining.is_some() || room.seat.is_none();
        if std::mem::take(&mut self.has_left) || !needs_no_match {
            // The links belong to the match that was left: a join begins with new ones.
            room.renew_links();
            if !room.is_waiting() {
                self.begin_joining(room);
            }
        }
    }

    fn leave<P: Platform>(&mut self, room: &mut Lobby<P>, is_reload: bool) {
        self.leave_match(room);
        self.old_slots = None;
        self.suspended = false;
        if room.give_up_seat(is_reload) {
            self.go_solo(room);
        }
    }

    fn phase(&self) -> Phase {
        match &self.joining {
            _ if self.suspended => Phase::Suspended,
            Some(joining) => Phase::Joining { percent: joining.percent },
            None if self.is_spectating() => Phase::Spectating,
            None if self.in_match && !self.is_separate => Phase::Playing,
            None => Phase::Solo,
        }
    }

    fn is_playing(&self) -> bool {
        self.in_match && !self.is_spectating()
    }

    fn alpha_permille(&self) -> u32 {
        self.shown.alpha_permille()
    }

    fn stats(&self) -> SessionStats {
        self.shown.session().stats()
    }

    fn local_slots(&self) -> SlotSet {
        self.shown.session().local_slots()
    }

    fn slots_of<P: Platform>(&self, _room: &Lobby<P>, peer: PeerId) -> SlotSet {
        let roster = self.shown.session().roster().iter();
        let rows = roster.filter(|row| row.stream.peer == peer && row.is_active());
        rows.fold(SlotSet::EMPTY, |slots, row| slots.union(row.slots))
    }

    fn leader<P: Platform>(&self, _room: &Lobby<P>) -> Option<PeerId> {
        let session = self.shown.session();
        session.leader_at(session.current_frame()).filter(|_| self.in_match)
    }

    fn scores_by_peer<P: Platform>(&self, _room: &Lobby<P>, scores: &[(Slot, i64)]) -> Vec<(PeerId, i64)> {
        // The lobby knows one person at each peer: the first player's score is theirs.
        let first = |slots: SlotSet| {
            scores.iter().filter(|(slot, _)| slots.contains(*slot)).min_by_key(|(slot, _)| *slot)
        };
        let rows = self.shown.session().roster().iter().filter(|row| row.is_active());
        rows.filter_map(|row| Some((row.stream.peer, first(row.slots)?.1))).collect()
    }

    fn stall<P: Platform>(&self, room: &Lobby<P>) -> Option<Stall> {
        self.current_stall(room)
    }
}

impl<G: Game + Clone> GameEngine<G> {
    pub(crate) fn game(&self) -> &G {
        self.shown.timeline.game()
    }

    pub(crate) fn previous_game(&self) -> &G {
        &self.previous
    }

    pub(crate) fn confirmed(&self) -> Option<(Frame, &G)> {
        self.shown.timeline.confirmed_game()
    }

    pub(crate) fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.shown.timeline.take_desync_bundle()
    }

    pub(crate) fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.shown.session_mut().set_input_delay(frames)?;
        self.input_delay = frames;
        Ok(())
    }

    pub(crate) fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.recording.as_ref().and_then(Recording::file)
    }

    pub(crate) fn checksums(&self) -> Vec<(Frame, u64)> {
        self.recording.iter().flat_map(Recording::marks).collect()
    }

    pub(crate) fn session(&self) -> &Session<G::Input> {
        self.shown.session()
    }

    /// Leaves the match, if other peers are in it.
    fn leave_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.has_peers() && !self.is_spectating() {
            self.has_left = true;
            self.hand_over_since = Some(room.now);
            self.old_slots = Some(self.local_slots()).filter(|slots| !slots.is_empty());
            self.shown.session_mut().leave();
            self.shown.tick(room.now, &mut self.players);
            self.send_packets(room);
        }
    }

    /// While suspended: leaves the match to peers that have joined, and closes the links once they
    /// need nothing more.
    fn hand_over<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if !self.has_left && self.has_peers() {
            self.leave_match(room);
        } else if self.has_left || room.has_others_awake() {
            let since = *self.hand_over_since.get_or_insert(room.now);
            if room.now.since(since) >= HAND_OVER && room.mesh.is_some() {
                self.has_left = true;
                room.mesh = None;
            }
        } else {
            self.hand_over_since = None;
        }
    }

    /// The lobby knows that this peer is back. Members that came meanwhile and are not in its match
    /// play another.
    fn rejoin_others<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let plays_alone = self.in_match && self.joining.is_none() && !self.has_peers();
        if plays_alone && !self.suspended && !self.is_spectating() && room.has_others_awake() {
            room.renew_links();
            self.begin_joining(room);
        }
    }

    fn receive<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(mesh) = room.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.receive(room.now, mesh, &mut room.inbox),
            None if self.in_match => self.shown.receive(room.now, mesh, &mut room.inbox),
            None => room.receive_beside_match(),
        }
    }

    fn send_packets<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(mesh) = room.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.send(room.now, mesh),
            None if self.in_match => self.shown.send(room.now, mesh),
            None => {}
        }
    }

    fn tick<P: Platform>(
        &mut self,
        room: &Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<G::Input>,
    ) -> u32 {
        // A suspended peer keeps ticking while frames are unconfirmed or a joiner is connected.
        let is_needed = room.mesh.as_ref().is_some_and(|mesh| self.has_left || !mesh.peers().is_empty());
        let ticks = if self.suspended && !is_needed {
            self.shown.skip_time(room.now);
            0
        } else {
            self.shown.ticks_due(room.now)
        };
        for _ in 0..ticks {
            for player in 0..self.players.len() {
                if let Some(input) = input(self, player) {
                    self.players[player].set(input);
                }
            }
            self.previous.copy_from(self.shown.timeline.game());
            let tick = self.shown.tick(room.now, &mut self.players);
            let since = self.stalled_since.unwrap_or(room.now);
            self.stalled_since = (tick == Tick::Stalled).then_some(since);
        }
        if let Some(joining) = &mut self.joining {
            for _ in 0..joining.play.ticks_due(room.now) {
                // Local input belongs to the match on the screen.
                joining.play.tick(room.now, &mut []);
            }
        }
        ticks
    }

    /// Joins the room's match, while the one on the screen goes on.
    fn begin_joining<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(peer) = room.me() else { return };
        room.joins = !self.suspended;
        if self.suspended {
            // It begins on resume.
            self.in_match = false;
            return;
        }
        let wanted = self.wanted_slots(room);
        let LobbyRoom { config, rng, now, .. } = room;
        let incarnation = Incarnation(rng.next_u32());
        let session = match (&config.join, wanted) {
            (JoinTarget::Spectate(_), _) => Session::spectate(config.engine.clone(), peer, incarnation),
            (_, Some(slots)) => Session::rejoin(config.engine.clone(), peer, slots, incarnation),
            _ => Session::join(config.engine.clone(), peer, config.local_players, incarnation),
        };
        let Ok(session) = session else { unreachable!("the settings held for the solo session") };
        let play = Play::new(*now, session, self.shown.timeline.game().clone());
        self.joining = Some(Joining::new(*now, play, None));
        room.push(RoomEvent::Joining { percent: 0 });
    }

    /// Makes the match on the screen the room's, for others to join.
    fn open_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.own_match(room) {
            self.is_separate = false;
            room.push(RoomEvent::MatchJoined);
        }
    }

    /// Goes on alone in a room whose match could not be joined. The two become one when the peers
    /// reach each other.
    fn open_separate_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.is_separate = self.own_match(room);
    }

    /// Reports a separate match that has become one with the others'.
    fn note_reunion<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.is_separate && self.has_peers() {
            self.is_separate = false;
            room.push(RoomEvent::MatchJoined);
        }
    }

    fn own_match<P: Platform>(&mut self, room: &mut Lobby<P>) -> bool {
        let Some(peer) = room.me() else { return false };
        // No other player ever had a slot in a match of this peer.
        room.reused_slots = SlotSet::EMPTY;
        room.joins = false;
        let client = room.lobby_client.as_ref();
        let started_at = client.map_or(0, |client| client.server_unix_seconds(room.now));
        self.continue_as(room, peer, started_at);
        self.in_match = true;
        true
    }

    /// Goes on with the game on the screen, without the others.
    fn go_solo<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let unknown = PeerId::from_u128(room.rng.next_u64().into());
        self.in_match = false;
        self.is_separate = false;
        self.has_left = false;
        self.old_slots = None;
        self.joining = None;
        room.joins = false;
        room.inbox.messages.clear();
        self.continue_as(room, unknown, 0);
    }

    fn continue_as<P: Platform>(&mut self, room: &mut Lobby<P>, peer: PeerId, started_at: u64) {
        let own = self.local_slots();
        let LobbyRoom { config, rng, now, .. } = room;
        let slots = if own.is_empty() { config.first_slots(config.local_players) } else { own };
        let Ok(session) = solo_session(&config.engine, peer, slots, started_at, rng) else {
            unreachable!("the settings held before")
        };
        let play = Play::new(*now, session, self.shown.timeline.game().clone());
        self.show(play);
    }

    /// Puts another match on the screen.
    fn show(&mut self, mut play: Play<G>) {
        // The limits are those under which it was chosen.
        let _ = play.session_mut().set_input_delay(self.input_delay);
        self.previous = play.timeline.game().clone();
        self.recording = None;
        self.silent.clear();
        self.stalled_since = None;
        self.shown = play;
    }

    /// The slots this peer had, or else those the lobby reserved: it keeps them for peers that
    /// crashed or reloaded, and prefers slots no player has left lately.
    fn wanted_slots<P: Platform>(&self, room: &Lobby<P>) -> Option<SlotSet> {
        let config = &room.config;
        let fits = |slots: &SlotSet| {
            slots.len() == config.local_players
                && slots.iter().all(|slot| slot.index() < config.engine.slot_count)
        };
        self.old_slots.filter(fits).or(Some(room.own_reserved_slots()).filter(fits))
    }

    fn is_spectating(&self) -> bool {
        self.shown.session().is_spectating()
    }

    /// Other peers are in the match on the screen.
    fn has_peers(&self) -> bool {
        self.in_match && self.shown.session().roster().iter().filter(|row| row.is_active()).count() > 1
    }
}

/// Checks that the room's players, and the local ones, have slots in the match.
fn check_slots(config: &RoomConfig) -> Result<(), SessionError> {
    let (slots, local_players) = (config.engine.slot_count, config.local_players);
    let out_of_range = |setting, value: usize, min: u64, max: usize| {
        Err(SessionError::OutOfRange { setting, value: value as u64, min, max: max as u64 })
    };
    if slots < usize::from(config.max_players) {
        return out_of_range("engine.slot_count", slots, config.max_players.into(), SlotSet::COUNT_MAX);
    }
    if !(1..=slots).contains(&local_players) {
        return out_of_range("local_players", local_players, 1, slots);
    }
    Ok(())
}

/// A session of one peer, which others may join.
fn solo_session<I: gaggle_kit::Input>(
    config: &TimelineConfig,
    peer: PeerId,
    slots: SlotSet,
    started_at: u64,
    rng: &mut Prng,
) -> Result<Session<I>, SessionError> {
    let match_id = MatchId { started_at, nonce: rng.next_u64() };
    let config = TimelineConfig { match_id, ..config.clone() };
    Session::new(config, peer, &[PeerSlots { peer, slots }], Incarnation(rng.next_u32()))
}
