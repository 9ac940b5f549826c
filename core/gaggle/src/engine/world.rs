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
use crate::engine::{Engine, first_scores, sealed};
use crate::lobby_room::{HOST_STARTS, LobbyAction, LobbyRoom};
use crate::phase::Phase;
use crate::platform::Platform;
use crate::world::World;

use joining::Joining;

/// Longest time a suspended peer admits joiners before it leaves the world to them: after it they
/// give up.
const HAND_OVER: Micros = Micros::from_secs(1);

type Lobby<P> = LobbyRoom<ReplicaConfig, P>;

/// Plays a [`World`] of replicated objects. Use it as a [`WorldRoom`](crate::WorldRoom).
#[expect(missing_debug_implementations, reason = "a world need not be `Debug`; `Room` is")]
pub struct WorldEngine<W: World> {
    world: W,
    /// The shown session.
    session: Session,
    clock: TickClock,
    /// Whether the shown session is the room's.
    in_match: bool,
    /// Members that were in the room before this peer entered its match, and have been since.
    predecessors: Vec<PeerId>,
    joining: Option<Joining>,
    suspended: bool,
    /// Whether this peer left the shown world, to rejoin.
    has_left: bool,
    /// While suspended: since when other members are present.
    hand_over_since: Option<Micros>,
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
            in_match: false,
            predecessors: Vec::new(),
            joining: None,
            suspended: false,
            has_left: false,
            hand_over_since: None,
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
        match action {
            LobbyAction::OpenMatch => self.open_match(room),
            LobbyAction::JoinMatch => self.begin_joining(room),
            LobbyAction::EnterLobby | LobbyAction::GoSolo => self.go_solo(room),
            LobbyAction::PrepareStart if HOST_STARTS => self.prepare_start(room),
            LobbyAction::StartMatch if HOST_STARTS => self.start_match(room),
            LobbyAction::PrepareStart | LobbyAction::StartMatch => {}
            LobbyAction::MembersChanged => self.handle_members(room),
            LobbyAction::Resumed => self.rejoin_others(room),
        }
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
        let ticks = if self.suspended {
            self.clock = TickClock::new(W::TICK_RATE, room.now);
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
        // No peer waits for a spectator.
        if !self.is_spectating() && !std::mem::replace(&mut self.suspended, true) {
            room.joins = false;
            if self.joining.take().is_some() || self.has_peers() {
                self.leave_world(room);
            }
            room.set_resting(true);
        }
    }

    fn resume<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if !std::mem::take(&mut self.suspended) {
            return;
        }
        room.set_resting(false);
        self.hand_over_since = None;
        self.clock = TickClock::new(W::TICK_RATE, room.now);
        if std::mem::take(&mut self.has_left) || !self.in_match {
            self.rejoin(room);
        }
    }

    fn leave<P: Platform>(&mut self, room: &mut Lobby<P>, is_reload: bool) {
        self.disconnect(room);
        self.suspended = false;
        if room.give_up_seat(is_reload) {
            self.go_solo(room);
        }
    }

    fn phase(&self) -> Phase {
        match &self.joining {
            _ if self.suspended => Phase::Suspended,
            Some(joining) if !joining.is_quiet() => Phase::Joining { percent: joining.percent() },
            _ if self.is_spectating() => Phase::Spectating,
            _ if self.in_match => Phase::Playing,
            _ => Phase::Solo,
        }
    }

    fn is_playing(&self) -> bool {
        self.in_match && !self.is_spectating()
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
        let present = |slot: &Slot| self.in_match && self.session.roster().by_slot(*slot).is_some();
        room.slots_of(peer).iter().filter(present).collect()
    }

    fn leader<P: Platform>(&self, room: &Lobby<P>) -> Option<PeerId> {
        let leader = self.session.roster().leader().filter(|_| self.in_match);
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
        room.is_waiting() && !self.in_match && self.joining.is_none()
    }

    /// Whether other peers are in the shown world.
    fn has_peers(&self) -> bool {
        self.in_match && self.session.roster().len() > 1
    }

    /// Whether the shown world is that of other peers, and this peer has no slot in it.
    fn is_spectating(&self) -> bool {
        self.session.is_spectator()
    }

    /// Lets a suspended peer admit joiners. Once they have all objects, it leaves the world to
    /// them.
    fn hand_over<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if !self.suspended || self.has_left {
            return;
        }
        if !self.has_peers() && !room.has_others_awake() {
            self.hand_over_since = None;
            return;
        }
        let since = *self.hand_over_since.get_or_insert(room.now);
        let is_synced =
            self.has_peers() && self.session.connected_peers().all(|peer| self.session.is_synced_to(peer));
        if is_synced || room.now.since(since) >= HAND_OVER {
            self.leave_world(room);
        }
    }

    /// Leaves the shown world to the others, to rejoin later.
    fn leave_world<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.disconnect(room);
        self.has_left = true;
        self.hand_over_since = None;
        room.mesh = None;
    }

    /// Tells the other peers that this one leaves, so that they do not wait for it to come back.
    fn disconnect<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if let Some(mesh) = room.mesh.as_mut() {
            while let Some(&peer) = mesh.peers().first() {
                mesh.disconnect(room.now, peer, CloseCode::LEAVING);
            }
        }
        self.drop_links(room.now);
    }

    /// Drops the links of the shown session: this peer will take over the others' objects soon.
    fn drop_links(&mut self, now: Micros) {
        let connected: Vec<PeerId> = self.session.connected_peers().collect();
        for peer in connected {
            self.session.handle_disconnected(now, peer);
        }
    }

    fn go_solo<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.drop_links(room.now);
        self.in_match = false;
        self.has_left = false;
        self.joining = None;
        room.joins = false;
        if self.is_spectating() {
            self.begin_solo(room);
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

    /// Whether this peer is in the room without a reservation.
    fn is_spectator_here(&self) -> bool {
        self.me().is_some_and(|me| self.is_spectator(me))
    }
}
