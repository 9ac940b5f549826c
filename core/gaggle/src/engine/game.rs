//! Engine of a [`GameRoom`](crate::GameRoom): the sessions of [`Requests`], and games that fulfill
//! their requests.
//!
//! `game/recording.rs` records the shown match as a replay. Absent: which match is shown, the
//! lobby, packets.

mod recording;

use gaggle_kit::{Frame, PeerId, Prng, Slot, SlotSet};
use gaggle_lobby::Label;
use gaggle_timeline::{
    DesyncBundle, Game, Match, SessionError, SessionStats, SimId, Simulation, SlowPolicy, TimelineConfig,
};

use crate::config::RoomConfig;
use crate::engine::requests::{Notice, Requests, StateShape, Work};
use crate::engine::{Engine, sealed};
use crate::lobby_room::{LobbyAction, LobbyRoom};
use crate::phase::{Phase, Stall};
use crate::platform::Platform;
use gaggle_kit::Micros;

use recording::Recording;

type Lobby<P> = LobbyRoom<TimelineConfig, P>;

/// Plays one [`Game`] on all peers, which exchange inputs. Use it as a
/// [`GameRoom`](crate::GameRoom).
#[expect(missing_debug_implementations, reason = "a game need not be `Debug`; `Room` is")]
pub struct GameEngine<G: Game> {
    requests: Requests<G::Input>,
    /// Initial game of matches that all peers start together.
    initial: G,
    /// The shown match.
    live: Simulation<G>,
    /// The match that is being joined.
    joining: Option<Simulation<G>>,
    /// The game one frame ago, to interpolate.
    previous: G,
    recording: Option<Recording<G>>,
}

impl<G: Game> sealed::Sealed for GameEngine<G> {}

impl<G: Game + Clone> Engine for GameEngine<G> {
    type Config = TimelineConfig;
    type Content = G;
    type Input = G::Input;
    type Stats = SessionStats;
    type Error = SessionError;

    fn create(now: Micros, config: &RoomConfig, game: G, rng: &mut Prng) -> Result<Self, SessionError> {
        Ok(GameEngine {
            requests: Requests::create(now, config, StateShape::of::<G>(), rng)?,
            initial: game.clone(),
            previous: game.clone(),
            live: Simulation::new(&config.engine, game),
            joining: None,
            recording: None,
        })
    }

    fn build_id(&self, config: &RoomConfig) -> Label {
        self.requests.build_id(config)
    }

    fn has_referee(config: &RoomConfig) -> bool {
        Requests::<G::Input>::has_referee(config)
    }

    fn keep_choices_of(&mut self, previous: &Self) {
        self.requests.keep_choices_of(&previous.requests);
    }

    fn set_input(&mut self, player: usize, input: G::Input) {
        self.requests.set_input(player, input);
    }

    fn handle_action<P: Platform>(&mut self, room: &mut Lobby<P>, action: LobbyAction) {
        self.requests.handle_action(room, action);
    }

    fn remove_peer<P: Platform>(&mut self, room: &mut Lobby<P>, peer: PeerId) {
        self.requests.remove_peer(room, peer);
    }

    fn update<P: Platform>(
        &mut self,
        room: &mut Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<G::Input>,
    ) -> u32 {
        let ticks = self.requests.begin_update(room);
        loop {
            while let Some(work) = self.requests.poll_work() {
                self.fulfill(work);
            }
            if self.requests.has_tick_due() {
                for player in 0..room.config.local_players {
                    if let Some(input) = input(self, player) {
                        self.requests.set_input(player, input);
                    }
                }
                self.previous.copy_from(self.live.game());
                self.requests.tick(room.now);
            } else if !self.requests.advance(room) {
                break;
            }
        }
        if self.requests.take_abandoned() {
            self.recording = None;
        }
        if room.config.record_replay {
            let confirmed = self.live.confirmed_game(self.requests.session());
            Recording::keep_up(&mut self.recording, self.requests.session(), confirmed);
        }
        ticks
    }

    fn suspend<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.requests.suspend(room);
    }

    fn resume<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.requests.resume(room);
    }

    fn leave<P: Platform>(&mut self, room: &mut Lobby<P>, is_reload: bool) {
        self.requests.leave(room, is_reload);
    }

    fn phase(&self) -> Phase {
        self.requests.phase()
    }

    fn is_playing(&self) -> bool {
        self.requests.is_playing()
    }

    fn alpha_permille(&self) -> u32 {
        self.requests.alpha_permille()
    }

    fn stats(&self) -> SessionStats {
        self.requests.stats()
    }

    fn local_slots(&self) -> SlotSet {
        self.requests.local_slots()
    }

    fn slots_of<P: Platform>(&self, room: &Lobby<P>, peer: PeerId) -> SlotSet {
        self.requests.slots_of(room, peer)
    }

    fn leader<P: Platform>(&self, room: &Lobby<P>) -> Option<PeerId> {
        self.requests.leader(room)
    }

    fn scores_by_peer<P: Platform>(&self, room: &Lobby<P>, scores: &[(Slot, i64)]) -> Vec<(PeerId, i64)> {
        self.requests.scores_by_peer(room, scores)
    }

    fn stall<P: Platform>(&self, room: &Lobby<P>) -> Option<Stall> {
        self.requests.stall(room)
    }
}

impl<G: Game + Clone> GameEngine<G> {
    pub(crate) fn game(&self) -> &G {
        self.live.game()
    }

    pub(crate) fn previous_game(&self) -> &G {
        &self.previous
    }

    pub(crate) fn confirmed(&self) -> Option<(Frame, &G)> {
        self.live.confirmed_game(self.requests.session())
    }

    pub(crate) fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.live.take_desync_bundle()
    }

    pub(crate) fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.requests.set_input_delay(frames)
    }

    pub(crate) fn set_passive(&mut self, player: usize, is_passive: bool) {
        self.requests.set_passive(player, is_passive);
    }

    pub(crate) fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.requests.set_slow_policy(policy)
    }

    pub(crate) fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.recording.as_ref().and_then(Recording::file)
    }

    pub(crate) fn checksums(&self) -> Vec<(Frame, u64)> {
        self.recording.iter().flat_map(Recording::marks).collect()
    }

    pub(crate) fn session(&self) -> &Match<G::Input> {
        self.requests.session()
    }

    fn fulfill(&mut self, work: Work) {
        let config = self.requests.session().config();
        let is_joining = match work {
            Work::Notice(notice) => {
                match notice {
                    Notice::Start => self.joining = Some(Simulation::new(config, self.initial.clone())),
                    Notice::Show => {
                        if let Some(joining) = self.joining.take() {
                            self.live = joining;
                        }
                    }
                    Notice::Discard => self.joining = None,
                    Notice::Renumber => {}
                }
                if matches!(notice, Notice::Show | Notice::Renumber) {
                    self.previous = self.live.game().clone();
                    self.recording = None;
                }
                notice == Notice::Start
            }
            Work::Step(sim, _) => sim == SimId::Joining,
        };
        let simulation = match is_joining {
            // A running match replaces this state with its own first.
            true => {
                let copy = || Simulation::new(config, self.live.game().clone());
                self.joining.get_or_insert_with(copy)
            }
            false => &mut self.live,
        };
        let Some(request) = self.requests.request(work) else { return };
        if let Some(imported) = simulation.fulfill(request) {
            simulation.take_over(imported, self.requests.session_of(is_joining));
        }
    }
}
