//! The handle on a room: solo at once, in a match as soon as other peers are there, solo again when
//! they leave.
//!
//! Applications call it; everything here is the same for every [`Engine`]. Absent: how a match is
//! played, joined and left, which is the engine's; reservation, mesh and members ([`LobbyRoom`]).

mod timeline;
mod world;

use std::fmt;

use gaggle_kit::{Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_link::SendError;
use gaggle_lobby::Label;
use gaggle_lobby::client::{Client, RequestId};
use gaggle_lobby::view::RawJson;

use crate::config::{JoinTarget, RoomConfig};
use crate::engine::Engine;
use crate::event::RoomEvent;
use crate::input_context::InputContext;
use crate::lobby_room::{HostCommand, LobbyRoom, Member, NotHost};
use crate::phase::{Phase, Stall};
use crate::platform::Platform;

pub use timeline::{GameRoom, RequestRoom};
pub use world::WorldRoom;

/// An online game from start to end, behind one object.
///
/// Pass it the local players' input and the time, once per displayed frame, and draw the match it
/// shows. It plays solo at once, finds a room, joins the match there without a pause for the
/// others, and goes on solo when they have left or the network is gone. Open it as a [`GameRoom`]
/// or a
/// [`WorldRoom`].
///
/// It does no I/O by itself: sockets are behind [`Platform`], which `gaggle-native` and
/// `gaggle-browser` provide. Here is one without any, as in a test:
///
/// ```
/// use gaggle::{Game, GameRoom, Input, Inputs, Micros, NoNetwork, RoomConfig, Slot, State};
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
/// let (platform, game) = (NoNetwork::default(), Runner { x: 0, jumps: 0 });
/// let mut room = GameRoom::open(Micros::ZERO, config, platform, game, 7)?;
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
pub struct Room<E: Engine, P: Platform> {
    lobby_room: LobbyRoom<E::Config, P>,
    engine: E,
}

impl<E: Engine, P: Platform> fmt::Debug for Room<E, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("reservation", &self.lobby_room.reservation)
            .field("phase", &self.engine.phase())
            .finish_non_exhaustive()
    }
}

impl<E: Engine, P: Platform> Room<E, P> {
    /// Starts to play `content` solo, and requests the room that `config` names from the lobby. For
    /// a timeline, `content` is the initial game state and must be equal on all peers. The seed
    /// should be random.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it.
    pub fn open(
        now: Micros,
        config: RoomConfig<E::Config>,
        platform: P,
        content: E::Content,
        seed: u64,
    ) -> Result<Room<E, P>, E::Error> {
        let mut rng = Prng::new(seed);
        let engine = E::create(now, &config, content, &mut rng)?;
        let (build_id, has_referee) = (engine.build_id(&config), E::has_referee(&config));
        let mut lobby_room = LobbyRoom::new(now, config, build_id, platform, rng);
        lobby_room.has_referee = has_referee;
        lobby_room.look_for_others(false);
        Ok(Room { lobby_room, engine })
    }

    /// Starts to play other content solo and joins `target`. The shown match ends; the reservation
    /// is given up if it does not fit the target.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it, and nothing has changed.
    pub fn restart(
        &mut self,
        content: E::Content,
        local_players: usize,
        target: JoinTarget,
    ) -> Result<(), E::Error> {
        let LobbyRoom { config, rng, now, .. } = &mut self.lobby_room;
        let before = std::mem::replace(&mut config.local_players, local_players);
        let created = E::create(*now, config, content, rng);
        config.local_players = before;
        let mut engine = created?;
        self.leave();
        engine.keep_choices_of(&self.engine);
        self.engine = engine;
        let config = &mut self.lobby_room.config;
        (config.local_players, config.join) = (local_players, target);
        self.lobby_room.look_for_others(true);
        Ok(())
    }

    /// Joins another room. The shown match goes on until the new one is ready.
    pub fn join(&mut self, target: JoinTarget) {
        self.lobby_room.config.join = target;
        self.lobby_room.look_for_others(true);
    }

    /// The mode of the game that the next [`Room::restart`] requests.
    pub fn set_mode(&mut self, mode: Label) {
        self.lobby_room.config.mode = mode;
    }

    /// The slot, and with it the palette, that the next [`Room::restart`] asks for.
    pub fn set_preferred_slot(&mut self, slot: Option<Slot>) {
        self.lobby_room.config.preferred_slot = slot;
    }

    /// The display name of the local player.
    pub fn set_name(&mut self, name: &str) {
        self.lobby_room.set_name(name);
    }

    /// Signs in with a token of the server's issuer, or out with `None`.
    /// [`ClientConfig::token`](crate::ClientConfig::token) signs in at the start. Another identity
    /// is another player: this peer leaves the room; call [`Room::join`] for the next one.
    /// [`RoomEvent::SignedIn`] or [`RoomEvent::SignInRejected`] follows.
    pub fn set_token(&mut self, token: Option<String>) {
        self.leave();
        self.lobby_room.set_token(token);
    }

    /// The settings the room was opened with, with later changes.
    pub fn config(&self) -> &RoomConfig<E::Config> {
        &self.lobby_room.config
    }

    /// Sets the input of a local player, counted from 0; inputs of players beyond
    /// [`RoomConfig::local_players`] are dropped. It counts until the next call. A press that is
    /// [`one_shot`](gaggle_kit::Input) counts exactly once, however long the key is down and at any
    /// display rate; it counts again after an input without it.
    pub fn set_input(&mut self, player: usize, input: E::Input) {
        self.engine.set_input(player, input);
    }

    /// Sends a message beside the match to one peer, or to all connected peers: chat, emotes,
    /// readiness. It arrives once and in order: see [`Room::poll_message`].
    ///
    /// # Errors
    /// If it is larger than [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX), or a peer is not
    /// connected or does not keep up. Without other peers it is dropped.
    pub fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        self.lobby_room.send_message(to, bytes)
    }

    /// The next [message](Room::send_message) and its sender. Any member may send any bytes: decode
    /// them as untrusted input.
    pub fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        self.lobby_room.inbox.messages.next()
    }

    /// Sets a value of this member for all others to read: a vehicle, a team, a vote. The last
    /// write wins, and members that join later get it. It is kept from one room to the next; an
    /// empty value removes the key. Needs the feature `values`, which is on by default.
    ///
    /// # Errors
    /// If this member's values together are larger than
    /// [`VALUES_BYTES_MAX`](crate::VALUES_BYTES_MAX).
    #[cfg(feature = "values")]
    pub fn set_value(&mut self, key: u8, value: &[u8]) -> Result<(), SendError> {
        self.lobby_room.inbox.values.set(key, value)
    }

    /// A [value](Room::set_value) of a member, this peer's own included. Any member may set any
    /// bytes: decode them as untrusted input.
    #[cfg(feature = "values")]
    pub fn value(&self, peer: PeerId, key: u8) -> Option<&[u8]> {
        self.lobby_room.value(peer, key)
    }

    /// Does everything that is due: receives, runs due ticks, sends. Returns the number of ticks.
    pub fn update(&mut self, now: Micros) -> u32 {
        self.run(now, &mut |_, _| None)
    }

    /// As [`Room::update`], with an input made for each tick from the state before it: for bots,
    /// assisted aim, gestures. It is latched as by [`Room::set_input`].
    ///
    /// ```
    /// # use gaggle::{Game, GameRoom, Inputs, Micros, NoNetwork, RoomConfig, Slot, State};
    /// # #[derive(Clone, State)]
    /// # struct Lift { height: i32 }
    /// # impl Game for Lift {
    /// #     type Input = u8;
    /// #     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
    /// #         self.height += i32::from(inputs.get(Slot::at(0)));
    /// #     }
    /// # }
    /// # let config = RoomConfig::new("lift", 2)?.version("1");
    /// # let platform = NoNetwork::default();
    /// # let mut room = GameRoom::open(Micros::ZERO, config, platform, Lift { height: 0 }, 7)?;
    /// // Rises to 20 and stops there, however many ticks one call plays.
    /// for frame in 1..=10 {
    ///     let now = Micros::from_millis(frame * 100);
    ///     room.update_with(now, |tick| u8::from(tick.game().height < 20));
    /// }
    /// assert_eq!(room.game().height, 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_with(
        &mut self,
        now: Micros,
        mut input: impl FnMut(InputContext<'_, E>) -> E::Input,
    ) -> u32 {
        self.run(now, &mut |engine, player| Some(input(InputContext::new(player, engine))))
    }

    fn run(&mut self, now: Micros, input: &mut dyn FnMut(&E, usize) -> Option<E::Input>) -> u32 {
        let Room { lobby_room, engine } = self;
        lobby_room.now = lobby_room.now.max(now);
        lobby_room.listen();
        while let Some(action) = lobby_room.poll_action() {
            engine.handle_action(lobby_room, action);
        }
        while let Some(peer) = lobby_room.next_leaver() {
            engine.remove_peer(lobby_room, peer);
            lobby_room.remove_link(peer);
        }
        let ticks = engine.update(lobby_room, input);
        lobby_room.run_values();
        ticks
    }

    /// How far the display is between the last two ticks, in thousandths: to interpolate.
    pub fn alpha_permille(&self) -> u32 {
        self.engine.alpha_permille()
    }

    /// The slots of the local players in the shown match.
    pub fn local_slots(&self) -> SlotSet {
        self.engine.local_slots()
    }

    /// Current phase of the room.
    pub fn phase(&self) -> Phase {
        match self.engine.phase() {
            Phase::Suspended => Phase::Suspended,
            phase => self.lobby_room.lobby_phase().unwrap_or(phase),
        }
    }

    /// Peers that the shown match waits for during a stall. A stall of a frame or two needs no
    /// message; after a longer one tell players the reason.
    pub fn stall(&self) -> Option<Stall> {
        self.engine.stall(&self.lobby_room)
    }

    /// Counters since the shown match began.
    pub fn stats(&self) -> E::Stats {
        self.engine.stats()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<RoomEvent> {
        self.lobby_room.poll_event()
    }

    /// Identity by which the lobby matches peers: a hash of the game's version, the fields of its
    /// state and input, and the engine's settings.
    pub fn build_id(&self) -> &Label {
        &self.lobby_room.build_id
    }

    /// The members of the room, as far as the lobby has reported.
    pub fn members(&self) -> Vec<Member> {
        let slots_of = |peer| self.engine.slots_of(&self.lobby_room, peer);
        self.lobby_room.members(slots_of, self.leader())
    }

    /// The peer that has been in the match longest; none while solo. It admits joiners, and has
    /// authority over objects without an owner.
    pub fn leader(&self) -> Option<PeerId> {
        self.engine.leader(&self.lobby_room)
    }

    /// Whether this peer is the [leader](Room::leader); never while solo.
    pub fn is_leader(&self) -> bool {
        let leader = self.leader();
        leader.is_some() && leader == self.lobby_room.me()
    }

    /// The member that may change the room; none while solo. Another role than the
    /// [leader](Room::leader): the lobby gives it, and passes it on when the host leaves.
    pub fn host(&self) -> Option<PeerId> {
        self.lobby_room.host()
    }

    /// Whether this peer is the [host](Room::host).
    pub fn is_host(&self) -> bool {
        self.lobby_room.is_host()
    }

    /// Executes a command of the host: kick, transfer the role, change settings and access, start
    /// and end matches. [`RoomEvent::RequestRejected`] reports a command the lobby rejects.
    ///
    /// # Errors
    /// If this peer is not the host.
    pub fn host_command(&mut self, command: HostCommand) -> Result<RequestId, NotHost> {
        self.lobby_room.host_command(command)
    }

    /// Tells the other members whether the local player is ready for the next match: see
    /// [`Member::is_ready`]. The lobby rejects it from spectators and while a match runs, which in
    /// drop-in rooms is always the case until [`HostCommand::EndMatch`]. It clears readiness when
    /// the next match starts.
    pub fn set_ready(&mut self, ready: bool) {
        self.lobby_room.set_ready(ready);
    }

    /// The room's settings, a JSON object that only the game understands: the same for all members,
    /// later joiners included, and kept when the host changes. In solo play those of
    /// [`RoomConfig::room_settings`].
    pub fn settings(&self) -> &RawJson {
        self.lobby_room.settings()
    }

    /// The lobby client, to list rooms and for further requests; none while offline.
    pub fn lobby_client(&mut self) -> Option<&mut Client> {
        self.lobby_room.lobby_client.as_mut()
    }

    /// The platform, for its own methods.
    pub fn platform(&self) -> &P {
        &self.lobby_room.platform
    }

    /// The platform, for its own methods that change it.
    pub fn platform_mut(&mut self) -> &mut P {
        &mut self.lobby_room.platform
    }

    /// The page is hidden: leaves the match to the others, so that they do not wait for this peer.
    /// Keep calling [`Room::update`] as often as possible.
    pub fn suspend(&mut self) {
        self.engine.suspend(&mut self.lobby_room);
    }

    /// The page is visible again: joins the match again with the same slots.
    pub fn resume(&mut self) {
        self.engine.resume(&mut self.lobby_room);
    }

    /// Leaves the room and goes on solo. When the page is closed, call [`Room::close`].
    pub fn leave(&mut self) {
        self.engine.leave(&mut self.lobby_room, false);
    }

    /// The page is closed or reloaded: leaves the match, but the lobby keeps the reservation for 10
    /// s. A room opened with the same [keys](RoomConfig::lobby) in that time gets it back.
    /// This room sends nothing more to the lobby before [`Client::reconnect`].
    pub fn close(&mut self) {
        self.engine.leave(&mut self.lobby_room, true);
        self.lobby_room.hang_up();
    }

    /// Takes the reservation over from another tab: after [`RoomEvent::OpenedElsewhere`].
    pub fn take_over(&mut self) {
        self.lobby_room.take_over();
    }

    /// Reports to the lobby how the match ended: scores by slot, the level reached, a hash of the
    /// final state. Every peer reports, and the result counts when they agree. Of several players
    /// at one peer the first one's score counts. Report once, about a state that all peers have;
    /// after [`RoomEvent::BranchAbandoned`] report again. Returns whether the report was sent.
    #[must_use = "a result that was not sent must be reported again"]
    pub fn report_result(&mut self, scores: &[(Slot, i64)], level: Option<u32>, digest: u64) -> bool {
        let scores = self.engine.scores_by_peer(&self.lobby_room, scores);
        self.engine.is_playing() && self.lobby_room.report_result(&scores, level, digest)
    }

    /// Sets the local player's current score and level: call it whenever they change. The lobby
    /// gets them every 15 s and on leaving, and stores them as this player's claim if no
    /// [report](Room::report_result) names the player.
    pub fn set_score(&mut self, score: i64, level: Option<u32>) {
        if self.engine.is_playing() {
            self.lobby_room.set_score(score, level);
        }
    }

    /// Begins another match in the same room. Every peer may call this; only the room's host tells
    /// the lobby.
    pub fn start_round(&mut self) {
        self.lobby_room.start_round();
    }
}
