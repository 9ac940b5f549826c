//! Engine of a [`WorldRoom`](crate::WorldRoom): the shown objects, and the attempt to join other
//! peers' world beside them.
//!
//! `world/joining.rs` has the join attempt, identities and session events. Absent: lobby protocol,
//! rules of authority.

mod joining;

use gaggle_kit::{Micros, OutOfRange, PeerId, Prng, Slot, SlotSet};
use gaggle_link::{CloseCode, Transport};
use gaggle_lobby::Label;
use gaggle_replica::{Driver, JoinMode, ReplicaConfig, Session, SessionError, SessionStats};
use gaggle_timeline::TickClock;

use crate::config::RoomConfig;
use crate::engine::input_latch::InputLatch;
use crate::engine::state::{Cause, State};
use crate::engine::transitions::Transitions;
use crate::engine::{Engine, first_scores, sealed};
use crate::lobby_room::{LobbyAction, LobbyRoom};
use crate::phase::Phase;
use crate::platform::Platform;
use crate::world::World;

use joining::Joining;

type Lobby<P> = LobbyRoom<ReplicaConfig, P>;

/// Plays a [`World`] of replicated objects. Use it as a [`WorldRoom`](crate::WorldRoom).
#[expect(missing_debug_implementations, reason = "a world need not be `Debug`; `Room` is")]
pub struct WorldEngine<W: World> {
    world: W,
    /// The shown session.
    session: Session,
    clock: TickClock,
    state: State,
    /// Members that were in the room before this peer entered its match, and have been since.
    predecessors: Vec<PeerId>,
    /// The world being joined, in [`State::Joining`] only.
    joining: Option<Joining>,
    /// One for each local player, in the order of their slots.
    inputs: Vec<InputLatch<W::Input>>,
}

impl<W: World> sealed::Sealed for WorldEngine<W> {}

impl<W: World> Engine for WorldEngine<W> {
    type Config = ReplicaConfig;
    type Content = W;
    type Input = W::Input;
    type Stats = SessionStats;
    type Error = SessionError;

    fn create(
        now: Micros,
        config: &RoomConfig<ReplicaConfig>,
        world: W,
        rng: &mut Prng,
    ) -> Result<Self, SessionError> {
        let (local_players, max_players) = (config.local_players as u64, u64::from(config.max_players));
        let slots = SlotSet::COUNT_MAX as u64;
        for (setting, value, max) in
            [("local_players", local_players, max_players.min(slots)), ("max_players", max_players, slots)]
        {
            OutOfRange::check(setting, value, 1, max)?;
        }
        let slots = config.first_slots(config.local_players);
        let session = new_session::<W>(config, slots, JoinMode::Create, rng)?;
        let mut engine = WorldEngine {
            world,
            session,
            clock: TickClock::new(W::TICK_RATE, now),
            state: State::Solo,
            predecessors: Vec::new(),
            joining: None,
            inputs: vec![InputLatch::default(); config.local_players],
        };
        engine.begin(now);
        Ok(engine)
    }

    fn build_id(&self, config: &RoomConfig<ReplicaConfig>) -> Label {
        // Peers with different tick rates would move the same objects at different speeds.
        let rate = u64::from(W::TICK_RATE).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        config.build_label(self.session.fingerprint() ^ rate)
    }

    fn keep_choices_of(&mut self, _previous: &Self) {}

    fn set_input(&mut self, player: usize, input: W::Input) {
        if let Some(latch) = self.inputs.get_mut(player) {
            latch.set(input);
        }
    }

    fn handle_action<P: Platform>(&mut self, room: &mut Lobby<P>, action: LobbyAction) {
        self.carry_out(room, action);
    }

    fn remove_peer<P: Platform>(&mut self, room: &mut Lobby<P>, peer: PeerId) {
        self.session.handle_disconnected(room.now, peer);
        if let Some(joining) = &mut self.joining {
            joining.session.handle_disconnected(room.now, peer);
        }
    }

    fn update<P: Platform>(
        &mut self,
        room: &mut Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<W::Input>,
    ) -> u32 {
        self.receive(room);
        self.handle_events(room);
        let ticks = if self.state.is_suspended() {
            self.skip_time(room.now);
            0
        } else {
            self.clock.ticks_due(room.now, 1_000_000)
        };
        for _ in 0..ticks {
            for player in 0..self.inputs.len() {
                if let Some(input) = input(self, player) {
                    self.inputs[player].set(input);
                }
            }
            // A spectator has one slot in its session, and its input does not count.
            let players = self.session.local_slots().count();
            let inputs: Vec<W::Input> = self.inputs.iter_mut().take(players).map(InputLatch::take).collect();
            self.session.set_inputs(&inputs);
            self.world.step(&mut self.session);
        }
        self.session.tick_with(room.now, self.world.interest());
        self.follow_joining(room);
        self.send_packets(room);
        self.hand_over(room);
        ticks
    }

    fn suspend<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.pause_match(room);
    }

    fn resume<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.resume_match(room);
    }

    fn leave<P: Platform>(&mut self, room: &mut Lobby<P>, is_reload: bool) {
        self.leave_room(room, is_reload);
    }

    fn phase(&self) -> Phase {
        self.current_phase()
    }

    fn is_playing(&self) -> bool {
        self.takes_part()
    }

    fn alpha_permille(&self) -> u32 {
        self.clock.alpha_permille()
    }

    fn stats(&self) -> SessionStats {
        self.session.stats()
    }

    fn local_slots(&self) -> SlotSet {
        match self.is_spectating() {
            true => SlotSet::EMPTY,
            false => self.session.local_slots().collect(),
        }
    }

    fn slots_of<P: Platform>(&self, room: &Lobby<P>, peer: PeerId) -> SlotSet {
        let present =
            |slot: &Slot| self.state.is_in_match() && self.session.roster().by_slot(*slot).is_some();
        room.slots_of(peer).iter().filter(present).collect()
    }

    fn leader<P: Platform>(&self, room: &Lobby<P>) -> Option<PeerId> {
        let leader = self.session.roster().leader().filter(|_| self.state.is_in_match());
        leader.and_then(|leader| room.peer_of(leader.slot))
    }

    fn scores_by_peer<P: Platform>(&self, room: &Lobby<P>, scores: &[(Slot, i64)]) -> Vec<(PeerId, i64)> {
        first_scores(scores, room.all_reservations())
    }
}

impl<W: World> WorldEngine<W> {
    pub(crate) fn world(&self) -> &W {
        &self.world
    }

    pub(crate) fn world_mut(&mut self) -> &mut W {
        &mut self.world
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Begins a session with this peer alone.
    fn begin(&mut self, now: Micros) {
        self.clock = TickClock::new(W::TICK_RATE, now);
        self.session.tick(now);
        self.world.populate(&mut self.session);
        self.world.on_enter(&mut self.session);
    }

    fn receive<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.is_beside(room) {
            return room.receive_beside_match();
        }
        let LobbyRoom { mesh: Some(mesh), inbox, now, .. } = room else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        Driver.receive_with(*now, mesh, session, |peer, stream, bytes| inbox.receive(peer, stream, bytes));
    }

    fn send_packets<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.is_beside(room) {
            return;
        }
        let Some(mesh) = room.mesh.as_mut() else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        Driver.send(room.now, mesh, session);
    }

    /// Whether the room waits for its host, and the shown world is this peer's own.
    fn is_beside<P: Platform>(&self, room: &Lobby<P>) -> bool {
        room.is_waiting() && !self.state.is_in_match() && self.joining.is_none()
    }

    /// Drops the links of the shown session: this peer will take over the others' objects soon.
    fn drop_links(&mut self, now: Micros) {
        let connected: Vec<PeerId> = self.session.connected_peers().collect();
        for peer in connected {
            self.session.handle_disconnected(now, peer);
        }
    }

    /// No player is left to spectate: starts a world of this peer.
    fn begin_solo<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let slots = room.own_slots().unwrap_or_else(|| room.config.first_slots(room.config.local_players));
        let LobbyRoom { config, rng, now, .. } = room;
        self.session = new_session::<W>(config, slots, JoinMode::Create, rng)
            .expect("the settings held for the world before");
        self.begin(*now);
    }
}

impl<W: World> Transitions for WorldEngine<W> {
    /// Links that are closed say all there is to say.
    const GOODBYE: Micros = Micros::ZERO;

    fn state(&self) -> State {
        self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn percent(&self) -> Option<u8> {
        self.joining.as_ref().filter(|joining| !joining.is_quiet()).map(Joining::percent)
    }

    fn is_spectating(&self) -> bool {
        self.session.is_spectator()
    }

    fn has_peers(&self) -> bool {
        self.state.is_in_match() && self.session.roster().len() > 1
    }

    fn are_peers_complete(&self) -> bool {
        self.session.connected_peers().all(|peer| self.session.is_synced_to(peer))
    }

    fn skip_time(&mut self, now: Micros) {
        self.clock = TickClock::new(W::TICK_RATE, now);
    }

    fn release_inputs(&mut self) {
        self.inputs.iter_mut().for_each(InputLatch::let_go);
    }

    fn drop_attempt(&mut self) {
        self.joining = None;
    }

    /// The others do not wait for this peer to come back.
    fn say_goodbye<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if let Some(mesh) = room.mesh.as_mut() {
            while let Some(&peer) = mesh.peers().first() {
                mesh.disconnect(room.now, peer, CloseCode::LEAVING);
            }
        }
        self.drop_links(room.now);
    }

    fn open_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.open_world(room);
    }

    fn begin_joining<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.join_world(room);
    }

    fn go_solo<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.drop_links(room.now);
        self.joining = None;
        self.change(room, Cause::GoSolo);
        if self.is_spectating() {
            self.begin_solo(room);
        }
    }

    fn start_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.start_together(room);
    }

    fn handle_members<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.follow_members(room);
    }
}

fn new_session<W: World>(
    config: &RoomConfig<ReplicaConfig>,
    slots: SlotSet,
    mode: JoinMode,
    rng: &mut Prng,
) -> Result<Session, SessionError> {
    let kinds = W::kinds().with_input::<W::Input>();
    let first = slots.lowest().unwrap_or_default();
    let mut session = Session::new(config.engine.clone(), kinds, first, mode, rng.next_u64())?;
    if slots.len() > 1 {
        session.set_local_slots(slots)?;
    }
    Ok(session)
}

impl<P: Platform> Lobby<P> {
    /// Slots reserved for the players at a peer.
    pub(crate) fn slots_of(&self, peer: PeerId) -> SlotSet {
        let reserved = self.all_reservations().find(|(other, _)| *other == peer);
        reserved.map_or(SlotSet::EMPTY, |(_, slots)| slots)
    }

    /// The peer a slot is reserved for.
    fn peer_of(&self, slot: Slot) -> Option<PeerId> {
        self.all_reservations().find(|(_, slots)| slots.contains(slot)).map(|(peer, _)| peer)
    }

    /// Slots reserved for the local players, if this peer has a reservation.
    fn own_slots(&self) -> Option<SlotSet> {
        Some(self.slots_of(self.me()?)).filter(|slots| !slots.is_empty())
    }
}
