//! Engine of a [`RequestRoom`](crate::RequestRoom): sessions of the shown match and of one being
//! joined, without the game's state.
//!
//! [`GameEngine`](crate::GameEngine) adds a game. `play.rs` has one match, `turn.rs` remaining
//! work, `events.rs` session events, `start.rs` matches started together. Absent: game state.

mod engine;
mod events;
mod joining;
mod play;
mod shape;
mod star;
mod start;
mod turn;

use gaggle_kit::{Input, Micros, PeerId, Prng, SlotSet, VecSet};
use gaggle_link::Transport;
use gaggle_timeline::{
    Incarnation, Match, MatchId, PeerSlots, Request, Session, SessionError, SimId, SlowPolicy, Tick,
    TimelineConfig,
};

use crate::config::JoinTarget;
use crate::engine::input_latch::InputLatch;
use crate::engine::state::{Cause, State, Suspension};
use crate::engine::transitions::Transitions;
use crate::engine::{Engine, sealed};
use crate::event::RoomEvent;
use crate::lobby_room::{LobbyRoom, Start};
use crate::platform::Platform;

use joining::Joining;
use play::Play;
use turn::Turn;

pub use shape::StateShape;
pub(crate) use turn::{Notice, Work};

type Lobby<P> = LobbyRoom<TimelineConfig, P>;

/// Plays one game on all peers, which exchange inputs; the caller keeps the state and saves, loads
/// and advances it. Use it as a [`RequestRoom`](crate::RequestRoom).
#[expect(missing_debug_implementations, reason = "`Room` is")]
pub struct Requests<I: Input> {
    shape: StateShape,
    /// The shown match.
    shown: Play<I>,
    state: State,
    /// The match being joined, in [`State::Joining`] only.
    joining: Option<Joining<I>>,
    /// Start of the match being joined, if all peers start it together.
    starting: Option<Start>,
    players: Vec<InputLatch<I>>,
    /// Peers of the match that are silent at the moment.
    silent: VecSet<PeerId>,
    /// Since when the shown match stalls.
    stalled_since: Option<Micros>,
    /// The slots this peer had in the room's match before it left.
    old_slots: Option<SlotSet>,
    /// The input delay the player chose.
    input_delay: Option<u32>,
    /// What the host chose to do about slow peers.
    slow_policy: SlowPolicy,
    /// What a match at a referee needs beside its session.
    star: star::Star,
    /// What is left to do of this update.
    turn: Turn,
    /// Whether a branch of the match was abandoned since the last `take_abandoned`.
    has_abandoned: bool,
}

impl<I: Input> sealed::Sealed for Requests<I> {}

impl<I: Input> Requests<I> {
    pub(crate) fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.shown.session_mut().set_input_delay(frames)?;
        self.input_delay = frames;
        Ok(())
    }

    pub(crate) fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.shown.session_mut().set_slow_policy(policy)?;
        self.slow_policy = policy;
        Ok(())
    }

    pub(crate) fn session(&self) -> &Match<I> {
        self.shown.session()
    }

    /// The session of the match being joined, or of the shown one.
    pub(crate) fn session_of(&self, is_joining: bool) -> &Match<I> {
        let joining = self.joining.as_ref().filter(|_| is_joining);
        joining.map_or(&self.shown, |joining| &joining.play).session()
    }

    /// Whether a branch of the shown match was abandoned since the last call.
    #[must_use]
    pub(crate) fn take_abandoned(&mut self) -> bool {
        std::mem::take(&mut self.has_abandoned)
    }

    /// Receives packets, and counts the ticks that are due. Then drain [`Requests::poll_work`], or
    /// [`Requests::poll_request`].
    pub(crate) fn begin_update<P: Platform>(&mut self, room: &mut Lobby<P>) -> u32 {
        self.receive(room);
        // A suspended peer keeps ticking while frames are unconfirmed or a joiner is connected.
        let is_leaving = matches!(self.state, State::Suspended(Suspension::Leaving { .. }));
        let is_needed = room.mesh.as_ref().is_some_and(|mesh| is_leaving || !mesh.peers().is_empty());
        let ticks = if self.state.is_suspended() && !is_needed {
            self.shown.skip_time(room.now);
            0
        } else {
            self.shown.ticks_due(room.now)
        };
        let joining_ticks = self.joining.as_mut().map_or(0, |joining| joining.play.ticks_due(room.now));
        self.turn.begin(ticks, joining_ticks);
        ticks
    }

    /// The next request of this update; none when all its ticks are done and packets are sent.
    /// `input` is asked before each tick, for each local player.
    pub(crate) fn poll_request<P: Platform>(
        &mut self,
        room: &mut Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<I>,
    ) -> Option<Request<'_, I>> {
        loop {
            if let Some(work) = self.poll_work() {
                return self.request(work);
            }
            if self.has_tick_due() {
                self.ask_for_inputs(input);
                self.tick(room.now);
            } else if !self.advance(room) {
                return None;
            }
        }
    }

    pub(crate) fn ask_for_inputs(&mut self, input: &mut dyn FnMut(&Self, usize) -> Option<I>) {
        for player in 0..self.players.len() {
            if let Some(input) = input(self, player) {
                self.set_input(player, input);
            }
        }
    }

    /// What has to be done before the next tick.
    pub(crate) fn poll_work(&mut self) -> Option<Work> {
        if let Some(notice) = self.turn.poll_notice() {
            return Some(Work::Notice(notice));
        }
        if self.turn.drains_live {
            if let Some(step) = self.shown.session_mut().poll_step() {
                return Some(Work::Step(SimId::Live, step));
            }
            self.turn.drains_live = false;
        }
        while let Some(joining) = self.joining.as_mut().filter(|_| self.turn.drains_joining) {
            let session = joining.play.session_mut();
            let Some(step) = session.poll_step() else {
                self.turn.drains_joining = false;
                break;
            };
            if !step.is_audit() {
                return Some(Work::Step(SimId::Joining, step));
            }
            // Only the shown match can be audited with the caller's state. This audit ends without
            // an answer.
            let _ = session.request(step, SimId::Joining);
        }
        None
    }

    /// Converts work into a request, and lends the buffer for its answer.
    pub(crate) fn request(&mut self, work: Work) -> Option<Request<'_, I>> {
        let sim = SimId::Joining;
        Some(match work {
            Work::Step(SimId::Live, step) => return self.shown.session_mut().request(step, SimId::Live),
            Work::Step(_, step) => return self.joining.as_mut()?.play.session_mut().request(step, sim),
            Work::Notice(Notice::Renumber) => Request::Renumber { sim: SimId::Live },
            Work::Notice(Notice::Start) => Request::Start { sim, start: self.starting.as_ref()?.facts() },
            Work::Notice(Notice::Show) => Request::Show { sim },
            Work::Notice(Notice::Discard) => Request::Discard { sim },
        })
    }

    /// Whether the shown match has to [tick](Requests::tick) before anything else.
    pub(crate) fn has_tick_due(&self) -> bool {
        self.turn.has_tick_due()
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        self.turn.begin_tick();
        let tick = self.shown.tick(now, &mut self.players);
        let since = self.stalled_since.unwrap_or(now);
        self.stalled_since = (tick == Tick::Stalled).then_some(since);
    }

    /// Continues after the ticks of the shown match: ticks the one being joined, then handles
    /// events and sends. False when the update is done.
    #[must_use]
    pub(crate) fn advance<P: Platform>(&mut self, room: &mut Lobby<P>) -> bool {
        if self.turn.begin_joining_tick() {
            if let Some(joining) = &mut self.joining {
                // Local input belongs to the shown match.
                joining.play.tick(room.now, &mut []);
            }
            return true;
        }
        if !std::mem::take(&mut self.turn.is_open) {
            return false;
        }
        self.handle_events(room);
        self.hand_over(room);
        self.send_packets(room);
        true
    }

    fn drop_joining(&mut self) {
        if self.joining.take().is_some() {
            self.starting = None;
            self.turn.note(Notice::Discard);
        }
    }

    fn receive<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(mesh) = room.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.receive(room.now, mesh, &mut room.inbox),
            None if self.state.is_in_match() => self.shown.receive(room.now, mesh, &mut room.inbox),
            None => room.receive_beside_match(),
        }
    }

    fn send_packets<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(mesh) = room.mesh.as_mut() else { return };
        match &mut self.joining {
            Some(joining) => joining.play.send(room.now, mesh),
            None if self.state.is_in_match() => self.shown.send(room.now, mesh),
            None => {}
        }
    }

    /// Goes on alone in a room whose match could not be joined. The two matches merge when the
    /// peers reach each other.
    fn open_separate_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.own_match(room) {
            self.change(room, Cause::OpenSeparate);
        }
    }

    /// Reports a separate match that has merged with the others'.
    fn note_reunion<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.state == State::Separate && self.has_peers() {
            self.change(room, Cause::PeersMet);
            room.push(RoomEvent::MatchJoined);
        }
    }

    fn own_match<P: Platform>(&mut self, room: &mut Lobby<P>) -> bool {
        let Some(peer) = room.me() else { return false };
        self.drop_joining();
        // No other player ever had a slot in a match this peer created.
        room.reused_slots = SlotSet::EMPTY;
        let client = room.lobby_client.as_ref();
        let started_at = client.map_or(0, |client| client.server_unix_seconds(room.now));
        self.continue_as(room, peer, started_at);
        true
    }

    fn continue_as<P: Platform>(&mut self, room: &mut Lobby<P>, peer: PeerId, started_at: u64) {
        let own = self.local_slots();
        let LobbyRoom { config, rng, now, .. } = room;
        let slots = if own.is_empty() { config.first_slots(config.local_players) } else { own };
        let Ok(session) = solo_session(&config.engine, peer, slots, started_at, rng) else {
            unreachable!("the settings held before")
        };
        let play = Play::new(*now, session, self.shape.0);
        self.turn.note(Notice::Renumber);
        self.show(play);
    }

    /// Shows another match.
    fn show(&mut self, mut play: Play<I>) {
        // Cannot fail: the limits are those under which the delay was chosen.
        let _ = play.session_mut().set_input_delay(self.input_delay);
        let _ = play.session_mut().set_slow_policy(self.slow_policy);
        play.session_mut().set_passive(self.star.is_passive());
        self.silent.clear();
        self.stalled_since = None;
        self.shown = play;
    }

    /// The slots this peer had, or else those the lobby reserved: it keeps them for peers that
    /// crashed or reloaded, and prefers slots that no player has left recently.
    fn wanted_slots<P: Platform>(&self, room: &Lobby<P>) -> Option<SlotSet> {
        let config = &room.config;
        let fits = |slots: &SlotSet| {
            slots.len() == config.local_players
                && slots.iter().all(|slot| slot.index() < config.engine.slot_count)
        };
        self.old_slots.filter(fits).or(Some(room.own_reserved_slots()).filter(fits))
    }
}

impl<I: Input> Transitions for Requests<I> {
    /// By then joiners have the state, and the others know that this peer leaves.
    const GOODBYE: Micros = Micros::from_secs(1);

    fn state(&self) -> State {
        self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn percent(&self) -> Option<u8> {
        self.joining.as_ref().map(|joining| joining.percent)
    }

    fn is_spectating(&self) -> bool {
        self.shown.session().is_spectating()
    }

    fn has_peers(&self) -> bool {
        if self.shown.session().is_sealed() {
            // The referee has the match, also for players who come later.
            return self.state.is_in_match();
        }
        let rows = self.shown.session().roster().iter().filter(|row| row.is_active());
        self.state.is_in_match() && rows.count() > 1
    }

    /// Only peers that have the state are in the roster.
    fn are_peers_complete(&self) -> bool {
        true
    }

    fn skip_time(&mut self, now: Micros) {
        self.shown.skip_time(now);
    }

    fn release_inputs(&mut self) {
        self.players.iter_mut().for_each(InputLatch::let_go);
    }

    fn drop_attempt(&mut self) {
        self.drop_joining();
    }

    fn say_goodbye<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.has_peers() && !self.is_spectating() {
            self.old_slots = Some(self.local_slots()).filter(|slots| !slots.is_empty());
            self.shown.session_mut().leave();
            self.shown.tick(room.now, &mut self.players);
            self.turn.drains_live = true;
            self.send_packets(room);
        }
    }

    fn open_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if room.has_referee {
            return self.begin_joining(room);
        }
        if self.own_match(room) {
            self.change(room, Cause::OpenMatch);
            room.push(RoomEvent::MatchJoined);
        }
    }

    fn begin_joining<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(peer) = room.me() else { return };
        if self.state.is_suspended() {
            return self.change(room, Cause::BeginJoin);
        }
        if room.has_referee {
            return self.join_referee(room, peer);
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
        let (now, play) = (*now, Play::new(*now, session, self.shape.0));
        self.drop_joining();
        self.joining = Some(Joining::new(now, play, None));
        self.change(room, Cause::BeginJoin);
        room.push(RoomEvent::Joining { percent: 0 });
    }

    fn go_solo<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let unknown = PeerId::from_u128(room.rng.next_u64().into());
        self.change(room, Cause::GoSolo);
        self.old_slots = None;
        self.drop_joining();
        room.inbox.messages.clear();
        self.continue_as(room, unknown, 0);
    }

    fn start_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if room.has_referee {
            self.prepare_start(room);
            // There is no link to the referee before the start.
            room.renew_links();
            return self.begin_joining(room);
        }
        self.start_together(room);
    }

    fn handle_members<P: Platform>(&mut self, _room: &mut Lobby<P>) {}
}

/// A session of one peer, which others may join.
fn solo_session<I: Input>(
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
