//! Methods of rooms on the timeline engine: `GameRoom` owns the game, `RequestRoom` leaves its
//! state to the caller. Applications call them. Absent: methods of rooms with any engine, sessions.

use gaggle_kit::{Frame, Input};
use gaggle_timeline::{DesyncBundle, Game, Match, Request, SessionError, SlowPolicy};

use super::Room;
use crate::engine::{GameEngine, Requests};
use crate::input_context::InputContext;
use crate::platform::Platform;

/// A [`Room`] whose peers send inputs and simulate the same [`Game`].
pub type GameRoom<G, P> = Room<GameEngine<G>, P>;

impl<G: Game + Clone, P: Platform> Room<GameEngine<G>, P> {
    /// The game to draw.
    pub fn game(&self) -> &G {
        self.engine.game()
    }

    /// The game one frame ago, to interpolate: see [`Room::alpha_permille`].
    pub fn previous_game(&self) -> &G {
        self.engine.previous_game()
    }

    /// The latest game without predicted input, the same on all peers: for results. None if that
    /// frame is no longer held.
    pub fn confirmed(&self) -> Option<(Frame, &G)> {
        self.engine.confirmed()
    }

    /// After a [`RoomEvent::DesyncRecovered`](crate::RoomEvent::DesyncRecovered) of this peer: its
    /// replaced state, the one it took, and the inputs between. Write [`DesyncBundle::encode`] to a
    /// file, or list the fields that [differ](DesyncBundle::diff). Returned once; a spectator has
    /// none.
    pub fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.engine.take_desync_bundle()
    }

    /// Sets the input delay in frames, solo and in matches; `None` lets it adapt to the network
    /// again, which makes it 0 in solo play.
    ///
    /// # Errors
    /// If it is outside
    /// [`TimelineConfig::input_delay_range`](gaggle_timeline::TimelineConfig::input_delay_range).
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.engine.set_input_delay(frames)
    }

    /// Sets whether a local player only looks on, in a match that a referee seals: once all local
    /// players do, no input of them is sent or waited for, and it is neutral. Their slots stay
    /// theirs. No effect in other matches.
    pub fn set_passive(&mut self, player: usize, is_passive: bool) {
        self.engine.set_passive(player, is_passive);
    }

    /// What matches in this room do about slow peers from now on. The host decides, by
    /// [`settings`](Room::settings) for instance, and every peer sets the same.
    ///
    /// # Errors
    /// If it loosens by more than
    /// [`TimelineConfig::loosen_frames_max`](gaggle_timeline::TimelineConfig::loosen_frames_max).
    pub fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.engine.set_slow_policy(policy)
    }

    /// The match on the screen as a replay file, from where this peer joined to the last frame that
    /// is final. Recording goes on. None unless
    /// [`RoomConfig::record_replay`](crate::RoomConfig::record_replay) is set.
    pub fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.engine.replay_bytes()
    }

    /// Hashes of settled states, one per second, the latest last: equal frames of one match have
    /// equal hashes on all peers. Empty unless
    /// [`RoomConfig::record_replay`](crate::RoomConfig::record_replay) is set.
    pub fn checksums(&self) -> Vec<(Frame, u64)> {
        self.engine.checksums()
    }

    /// The session of the shown match.
    pub fn session(&self) -> &Match<G::Input> {
        self.engine.session()
    }
}

/// A [`Room`] whose peers send inputs and simulate the same game, whose state the caller keeps: in
/// an ECS, a script, a C program. It has everything a [`GameRoom`] has except replays and desync
/// bundles, which need a [`Game`]; both kinds of rooms can be in one match.
///
/// The caller fulfills [`Request`]s after each [`Room::update`] until
/// [`poll_request`](Room::poll_request) returns none. [`SavedStates`](crate::SavedStates) does it
/// for any state that can be saved, loaded and advanced, as here; fulfill them yourself where
/// several states can be simulated beside each other, or saving needs care.
///
/// ```
/// use gaggle::timeline::{Inputs, MatchStart};
/// use gaggle::{Micros, NoNetwork, RequestRoom, RoomConfig, Slot};
/// use gaggle::{SavedStates, Simulate, StateShape};
///
/// /// State without a `Game`: here two numbers of a script.
/// #[derive(Default)]
/// struct Script { x: i32, ticks: u32 }
///
/// impl Simulate<u8> for Script {
///     type Saved = [u8; 8];
///
///     fn start(&mut self, _: &MatchStart<'_>) {
///         *self = Script::default();
///     }
///     fn advance(&mut self, inputs: &Inputs<'_, u8>) {
///         self.x += i32::from(inputs.get(Slot::at(0))) - i32::from(inputs.get(Slot::at(1)));
///         self.ticks += 1;
///     }
///     fn save(&mut self) -> [u8; 8] {
///         let [x, ticks] = [self.x.to_le_bytes(), self.ticks.to_le_bytes()];
///         [x, ticks].concat().try_into().expect("8 bytes")
///     }
///     fn load(&mut self, saved: &[u8; 8]) {
///         let (x, ticks) = saved.split_at(4);
///         self.x = i32::from_le_bytes(x.try_into().expect("4 bytes"));
///         self.ticks = u32::from_le_bytes(ticks.try_into().expect("4 bytes"));
///     }
///     fn encode(&self, saved: &[u8; 8]) -> Vec<u8> {
///         saved.to_vec()
///     }
///     fn decode(&self, bytes: &[u8]) -> Option<[u8; 8]> {
///         bytes.try_into().ok()
///     }
/// }
///
/// let config = RoomConfig::new("tug-of-war", 2)?.version("1.0");
/// let mut saved = SavedStates::new(&config.engine);
/// let mut script = Script::default();
/// // Raise the number when the saved bytes change: peers with other bytes are never matched.
/// let shape = StateShape::new(1);
/// let mut room = RequestRoom::open(Micros::ZERO, config, NoNetwork::default(), shape, 7)?;
/// for frame in 1..=60 {
///     room.set_input(0, 1);
///     room.update(Micros::from_millis(frame * 17));
///     saved.run(&mut room, &mut script);
///     while let Some(event) = room.poll_event() {
///         println!("{event}");
///     }
/// }
/// assert_eq!(script.x, 61);
/// assert_eq!(script.ticks, room.session().current_frame().number());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type RequestRoom<I, P> = Room<Requests<I>, P>;

impl<I: Input, P: Platform> Room<Requests<I>, P> {
    /// The next request about the game's state; none when all ticks of the last
    /// [`update`](Room::update) are done and its packets are sent.
    ///
    /// Nothing is simulated and nothing is sent by `update` itself. An update before the requests
    /// of the last one are drained is harmless: its ticks follow later.
    /// [`update_with`](Room::update_with) asks for inputs once per update, not once per tick:
    /// [`poll_request_with`](Room::poll_request_with) does that.
    ///
    /// A [`Request::Advance`] of [`SimId::Live`](gaggle_timeline::SimId::Live) with the highest
    /// frame so far is a new tick, the others resimulate: keep the state before it to interpolate
    /// from, by [`alpha_permille`](Room::alpha_permille).
    pub fn poll_request(&mut self) -> Option<Request<'_, I>> {
        self.engine.poll_request(&mut self.lobby_room, &mut |_, _| None)
    }

    /// As [`poll_request`](Room::poll_request), with an input made for each tick and local player
    /// from the state before it: when it is asked, every request before that tick is fulfilled. It
    /// is latched as by [`set_input`](Room::set_input).
    pub fn poll_request_with(
        &mut self,
        mut input: impl FnMut(InputContext<'_, Requests<I>>) -> I,
    ) -> Option<Request<'_, I>> {
        let input = &mut |engine: &Requests<I>, player| Some(input(InputContext::new(player, engine)));
        self.engine.poll_request(&mut self.lobby_room, input)
    }

    /// Whether [`poll_request_with`](Room::poll_request_with) may ask for inputs.
    pub(crate) fn has_tick_due(&self) -> bool {
        self.engine.has_tick_due()
    }

    /// Sets the input delay in frames, as in a [`GameRoom`]; `None` lets it adapt to the network
    /// again, which makes it 0 in solo play.
    ///
    /// # Errors
    /// If it is outside
    /// [`TimelineConfig::input_delay_range`](gaggle_timeline::TimelineConfig::input_delay_range).
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.engine.set_input_delay(frames)
    }

    /// Sets whether a local player only looks on, in a match that a referee seals: once all local
    /// players do, no input of them is sent or waited for, and it is neutral. Their slots stay
    /// theirs. No effect in other matches.
    pub fn set_passive(&mut self, player: usize, is_passive: bool) {
        self.engine.set_passive(player, is_passive);
    }

    /// What matches in this room do about slow peers from now on. The host decides, by
    /// [`settings`](Room::settings) for instance, and every peer sets the same.
    ///
    /// # Errors
    /// If it loosens by more than
    /// [`TimelineConfig::loosen_frames_max`](gaggle_timeline::TimelineConfig::loosen_frames_max).
    pub fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.engine.set_slow_policy(policy)
    }

    /// The session of the match on the screen: frames, slots, statistics.
    pub fn session(&self) -> &Match<I> {
        self.engine.session()
    }
}
