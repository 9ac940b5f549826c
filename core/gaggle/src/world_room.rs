//! Your handle on a room of shared objects: the life of a [`Room`](crate::Room), where state travels instead of inputs.
//!
//! This file owns what is played and when; `shared/company.rs` has coming into the world of others, and what it says. The
//! seat, the links and the people are the [`LobbyRoom`]'s.

mod events;

use std::fmt;

use gaggle_kit::{Micros, PeerId, Prng, Slot};
use gaggle_link::{CloseCode, SendError, Transport};
use gaggle_lobby::Label;
use gaggle_lobby::client::Client;
use gaggle_replica::{Driver, JoinMode, Player, ReplicaConfig, Session, SessionError, SessionStats};
use gaggle_timeline::TickClock;

use crate::config::{JoinTarget, SharedConfig, build_label};
use crate::event::RoomEvent;
use crate::input_latch::InputLatch;
use crate::lobby_room::{LobbyAction, LobbyRoom};
use crate::messages::MessageQueue;
use crate::platform::Platform;
use crate::room::Phase;
use crate::world::World;

use events::Joining;

/// Whoever rests lets in who knocks, and goes when it has told all; at the latest after this, when the other has given up.
const HAND_OVER: Micros = Micros::from_secs(1);

/// The whole life of being online with shared objects, behind one object.
///
/// Give it the player's input and the time, once per displayed frame; draw what [`session`](WorldRoom::session) has, best as it is
/// [`interpolated`](Session::interpolated). It plays alone at once, finds a room, comes into the world there without anybody pausing, and goes
/// on alone when everybody has left or the network is gone.
///
/// ```
/// use gaggle::replica::{Kind, Kinds, AuthorityPolicy, Session};
/// use gaggle::{Micros, NoNetwork, RoomConfig, WorldRoom, World};
///
/// #[derive(Debug, Clone, PartialEq, Kind)]
/// struct Counter {
///     presses: u32,
/// }
///
/// struct Clicks;
///
/// impl World for Clicks {
///     type Input = u8;
///
///     fn kinds() -> Kinds {
///         Kinds::new().with::<Counter>()
///     }
///
///     fn populate(&mut self, _: &mut Session) {}
///
///     fn on_enter(&mut self, session: &mut Session) {
///         if session.iter_owned::<Counter>(session.local_slot()).next().is_none() {
///             let _ = session.spawn_owned(session.local_slot(), &Counter { presses: 0 });
///         }
///     }
///
///     fn step(&mut self, session: &mut Session) {
///         let pressed = session.input::<u8>(session.local_slot()).unwrap_or_default();
///         let own = session.iter_authoritative::<Counter>().next();
///         if let Some(own) = own {
///             let _ = session.modify(own, |counter: &mut Counter| counter.presses += u32::from(pressed));
///         }
///     }
/// }
///
/// // Everybody has a counter of its own; what nobody owns would be the host's.
/// let config = RoomConfig::world("clicks", 4, AuthorityPolicy::OwnerOrLeader)?.version("1");
/// let mut room = WorldRoom::open(Micros::ZERO, config, NoNetwork::default(), Clicks, 7)?;
/// for frame in 1..=60 {
///     room.set_input(1);
///     room.update(Micros::from_millis(frame * 17));
/// }
/// assert!(room.session().iter::<Counter>().any(|(_, counter)| counter.presses > 50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WorldRoom<W: World, P: Platform> {
    lounge: LobbyRoom<ReplicaConfig, P>,
    world: W,
    /// What is on the screen.
    session: Session,
    pace: TickClock,
    /// What is on the screen is the world of the room.
    together: bool,
    /// Who was in the room when it became so, and has been since.
    predecessors: Vec<PeerId>,
    joining: Option<Joining>,
    resting: bool,
    /// We left the world on the screen, to come back.
    stood_up: bool,
    /// Somebody is here although we rest, since when.
    knocked: Option<Micros>,
    held: InputLatch<W::Input>,
    mailbox: MessageQueue,
}

impl<W: World, P: Platform> fmt::Debug for WorldRoom<W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let player = self.session.local_slot();
        f.debug_struct("SharedRoom")
            .field("seat", &self.lounge.seat)
            .field("player", &player)
            .finish_non_exhaustive()
    }
}

impl<W: World, P: Platform> WorldRoom<W, P> {
    /// Begins this world alone, and looks for others. The seed should be random.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it.
    pub fn open(
        now: Micros,
        config: SharedConfig,
        platform: P,
        world: W,
        seed: u64,
    ) -> Result<WorldRoom<W, P>, SessionError> {
        let (players, seats) = (config.local_players as u64, u64::from(config.max_players));
        for (setting, value, max) in [("local_players", players, 1), ("seats", seats, Slot::COUNT_MAX as u64)]
        {
            if !(1..=max).contains(&value) {
                return Err(SessionError::Setting { setting, value, min: 1, max });
            }
        }
        let mut rng = Prng::new(seed);
        let session = new_session::<W>(&config, first_player(&config), JoinMode::Create, &mut rng)?;
        // Machines that step at different rates would drive the same objects at different speeds.
        let rate = u64::from(W::TICK_RATE).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let build = build_label(session.fingerprint() ^ rate);
        let mut room = WorldRoom {
            lounge: LobbyRoom::new(now, config, build, platform, rng),
            world,
            session,
            pace: TickClock::new(W::TICK_RATE, now),
            together: false,
            predecessors: Vec::new(),
            joining: None,
            resting: false,
            stood_up: false,
            knocked: None,
            held: InputLatch::default(),
            mailbox: MessageQueue::default(),
        };
        room.begin();
        room.lounge.look_for_others(false);
        Ok(room)
    }

    /// Begins another world alone and looks for others as wished. What was on the screen is over; a seat we had is given up if
    /// it is not as wished.
    ///
    /// # Errors
    /// If a setting is out of its range; the error names it, and nothing has changed.
    pub fn restart(&mut self, world: W, wish: JoinTarget) -> Result<(), SessionError> {
        let LobbyRoom { config, rng, .. } = &mut self.lounge;
        let session = new_session::<W>(config, first_player(config), JoinMode::Create, rng)?;
        self.leave();
        self.lounge.config.join = wish;
        (self.world, self.session) = (world, session);
        self.held.let_go();
        self.begin();
        self.lounge.look_for_others(true);
        Ok(())
    }

    /// Looks for others as wished, while the world on the screen goes on.
    pub fn join(&mut self, wish: JoinTarget) {
        self.lounge.config.join = wish;
        self.lounge.look_for_others(true);
    }

    /// Which mode of the game is looked for from the next [`WorldRoom::restart`] on.
    pub fn set_mode(&mut self, mode: Label) {
        self.lounge.config.mode = mode;
    }

    /// The colours to ask for from the next [`WorldRoom::restart`] on.
    pub fn set_preferred_slot(&mut self, palette: Option<u8>) {
        self.lounge.config.preferred_slot = palette;
    }

    /// What we are called from now on.
    pub fn set_name(&mut self, name: &str) {
        self.lounge.set_name(name);
    }

    /// The settings.
    pub fn config(&self) -> &SharedConfig {
        &self.lounge.config
    }

    /// What the player does now. It counts until something else is done; a press in between is not lost, however short. One that
    /// is [`one_shot`](gaggle_kit::Input) counts once, however long the key is down.
    pub fn set_input(&mut self, input: W::Input) {
        self.held.set(input);
    }

    /// As [`Room::send_message`](crate::Room::send_message): chat, emotes, whatever is no part of the world. What the world's authority should
    /// judge is a [signal](gaggle_replica::Session::send_event) instead.
    ///
    /// # Errors
    /// If it is larger than [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX), or a peer is not linked or does not keep up.
    pub fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        self.lounge.send_message(to, bytes)
    }

    /// As [`Room::poll_message`](crate::Room::poll_message).
    pub fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        self.mailbox.next()
    }

    /// Does everything that is due: hears the others, plays the steps whose time has come, answers. Returns how many steps
    /// were played.
    pub fn update(&mut self, now: Micros) -> u32 {
        self.lounge.now = self.lounge.now.max(now);
        let now = self.lounge.now;
        self.talk_to_lobby();
        self.forget_leavers();
        self.receive();
        self.hear();
        let steps = if self.resting {
            self.pace = TickClock::new(W::TICK_RATE, now);
            0
        } else {
            self.pace.ticks_due(now, 1_000_000)
        };
        for _ in 0..steps {
            self.session.set_input(self.held.take());
            self.world.step(&mut self.session);
        }
        self.session.tick_with(now, self.world.interest());
        self.follow_joining();
        self.send_packets();
        self.leave_to_others();
        steps
    }

    /// What this machine keeps beside the objects.
    pub fn world(&self) -> &W {
        &self.world
    }

    /// What this machine keeps beside the objects.
    pub fn world_mut(&mut self) -> &mut W {
        &mut self.world
    }

    /// The objects and players on the screen.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The objects and players on the screen, to do something to them between two steps.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Which build peers must have in common, as the lobby calls it.
    pub fn build_id(&self) -> Label {
        self.lounge.build_id.clone()
    }

    /// How far the display is into the next step, in thousandths.
    pub fn alpha_permille(&self) -> u32 {
        self.pace.alpha_permille()
    }

    /// The player at this machine. The number may change when we get a seat.
    pub fn local_slot(&self) -> Player {
        self.session.local_slot()
    }

    /// Who leads: the host, where there is one.
    pub fn leader(&self) -> Option<Player> {
        self.session.roster().leader().map(|lead| lead.slot)
    }

    /// Whether this machine leads.
    pub fn is_leader(&self) -> bool {
        self.session.is_leader()
    }

    /// Where we are.
    pub fn phase(&self) -> Phase {
        match &self.joining {
            _ if self.resting => Phase::Suspended,
            Some(joining) if !joining.is_quiet() => Phase::Joining { percent: joining.percent() },
            _ if self.is_watching() => Phase::Spectating,
            _ if self.together => Phase::Playing,
            _ => Phase::Solo,
        }
    }

    /// What happened on the screen so far.
    pub fn stats(&self) -> SessionStats {
        self.session.stats()
    }

    /// What happened next, for players to know. What happens to objects is told to the [`World`].
    pub fn poll_event(&mut self) -> Option<RoomEvent> {
        self.lounge.poll_event()
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

    /// Nobody looks for a while: leaves everything to the others, so that nothing stands still because of us. Keep calling
    /// [`WorldRoom::update`] as often as possible.
    pub fn suspend(&mut self) {
        // Nobody waits for who looks on.
        if !self.is_watching() && !std::mem::replace(&mut self.resting, true) {
            self.lounge.joins = false;
            if self.joining.take().is_some() || self.has_company() {
                self.stand_up();
            }
            self.lounge.set_resting(true);
        }
    }

    /// Somebody looks again: comes back to where we were.
    pub fn resume(&mut self) {
        if !std::mem::take(&mut self.resting) {
            return;
        }
        self.lounge.set_resting(false);
        self.knocked = None;
        self.pace = TickClock::new(W::TICK_RATE, self.lounge.now);
        if std::mem::take(&mut self.stood_up) || !self.together {
            self.return_to_seat();
        }
    }

    /// Leaves the room and goes on alone. When the page is closed, say [`WorldRoom::close`].
    pub fn leave(&mut self) {
        self.part(false);
    }

    /// The page is closed, or loaded again: leaves the room, so that nobody waits, but has the seat kept for a moment. Whoever
    /// opens a room with the same [key and seat](crate::RoomConfig::lobby) within 10 s has it again.
    pub fn close(&mut self) {
        self.part(true);
        self.lounge.hang_up();
    }

    /// Takes the seat over from another tab: after [`RoomEvent::OpenedElsewhere`].
    pub fn take_over(&mut self) {
        self.lounge.take_over();
    }

    /// Tells the lobby how a match ended: points by player, how far it went, a hash of how it ended. Everybody tells it, and it
    /// counts when they agree. Whether it could be told: alone without a server there is nobody to tell.
    pub fn report_result(&mut self, points: &[(Player, i64)], level: Option<u32>, digest: u64) -> bool {
        let owner = |player: Player| self.peer_of(player);
        let owners: Vec<(PeerId, i64)> =
            points.iter().filter_map(|&(player, score)| Some((owner(player)?, score))).collect();
        self.together && !self.is_watching() && self.lounge.report_result(&owners, level, digest)
    }

    /// Tells the lobby our points so far and how far we came: call it as often as they change, it is said every 15 s and when we leave. They are
    /// kept as our claim if no [report](WorldRoom::report_result) names us.
    pub fn set_score(&mut self, points: i64, level: Option<u32>) {
        if self.together && !self.is_watching() {
            self.lounge.set_score(points, level);
        }
    }

    /// Another match begins in the same room: whoever is host tells the lobby so, which everybody may call.
    pub fn start_round(&mut self) {
        self.lounge.start_round();
    }

    /// A session of our own begins.
    fn begin(&mut self) {
        self.pace = TickClock::new(W::TICK_RATE, self.lounge.now);
        self.session.tick(self.lounge.now);
        self.world.populate(&mut self.session);
        self.world.on_enter(&mut self.session);
    }

    fn talk_to_lobby(&mut self) {
        self.lounge.listen();
        while let Some(errand) = self.lounge.poll_action() {
            match errand {
                LobbyAction::OpenMatch => self.found(),
                LobbyAction::JoinMatch => self.begin_joining(),
                LobbyAction::GoSolo => self.go_solo(),
                LobbyAction::MembersChanged => self.regard_others(),
                LobbyAction::Resumed => self.rejoin_others(),
            }
        }
    }

    /// Lets go of those who left the room a while ago. Most have said goodbye already.
    fn forget_leavers(&mut self) {
        while let Some(peer) = self.lounge.next_leaver() {
            let now = self.lounge.now;
            self.session.handle_disconnected(now, peer);
            if let Some(joining) = &mut self.joining {
                joining.session.handle_disconnected(now, peer);
            }
            self.lounge.remove_link(peer);
        }
    }

    fn receive(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        let other = |peer, stream, bytes: &[u8]| self.mailbox.receive(peer, stream, bytes);
        Driver.receive_with(self.lounge.now, links, session, other);
    }

    fn send_packets(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        Driver.send(self.lounge.now, links, session);
    }

    /// Others are in the world on the screen.
    fn has_company(&self) -> bool {
        self.together && self.session.roster().len() > 1
    }

    /// What is on the screen is the world of others, in which we have no seat.
    fn is_watching(&self) -> bool {
        self.session.is_spectator()
    }

    fn part(&mut self, back: bool) {
        self.say_goodbye();
        self.resting = false;
        if self.lounge.give_up_seat(back) {
            self.go_solo();
        }
    }

    /// Whoever rests lets others in all the same. Once they have everything, they go on without us.
    fn leave_to_others(&mut self) {
        if !self.resting || self.stood_up {
            return;
        }
        if !self.has_company() && !self.lounge.has_others_awake() {
            self.knocked = None;
            return;
        }
        let since = *self.knocked.get_or_insert(self.lounge.now);
        let is_told =
            self.has_company() && self.session.connected_peers().all(|peer| self.session.is_synced_to(peer));
        if is_told || self.lounge.now.since(since) >= HAND_OVER {
            self.stand_up();
        }
    }

    /// Leaves the world on the screen to the others, to come back later.
    fn stand_up(&mut self) {
        self.say_goodbye();
        self.stood_up = true;
        self.knocked = None;
        self.lounge.mesh = None;
    }

    /// Tells the others that we go, so that nobody waits for us to come back.
    fn say_goodbye(&mut self) {
        let now = self.lounge.now;
        if let Some(links) = self.lounge.mesh.as_mut() {
            while let Some(&peer) = links.peers().first() {
                links.disconnect(now, peer, CloseCode::LEAVING);
            }
        }
        self.unlink();
    }

    /// The links of the session on the screen are gone: what others held is ours before long.
    fn unlink(&mut self) {
        let linked: Vec<PeerId> = self.session.connected_peers().collect();
        for peer in linked {
            self.session.handle_disconnected(self.lounge.now, peer);
        }
    }

    fn go_solo(&mut self) {
        self.unlink();
        self.together = false;
        self.stood_up = false;
        self.joining = None;
        self.lounge.joins = false;
        if self.is_watching() {
            self.begin_alone();
        }
    }

    /// There is nothing more to look on at: a world of our own.
    fn begin_alone(&mut self) {
        let LobbyRoom { config, rng, .. } = &mut self.lounge;
        self.session = new_session::<W>(config, first_player(config), JoinMode::Create, rng)
            .expect("the settings held for the world before");
        self.begin();
    }
}

/// Who we are alone: by the colours we wish for.
fn first_player(config: &SharedConfig) -> Player {
    let slot = config.first_slots(1).lowest().map_or(0, |slot| slot.index() as u8);
    Player::at(slot)
}

fn new_session<W: World>(
    config: &SharedConfig,
    player: Player,
    entry: JoinMode,
    rng: &mut Prng,
) -> Result<Session, SessionError> {
    let kinds = W::kinds().with_input::<W::Input>();
    Session::new(config.engine.clone(), kinds, player, entry, rng.next_u64())
}
