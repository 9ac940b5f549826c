//! Your handle on a room of shared objects: the life of a [`Room`](crate::Room), where state travels instead of inputs.
//!
//! This file owns what is played and when; `shared/company.rs` has coming into the world of others, and what it says. The
//! seat, the links and the people are the [`Lounge`]'s.

mod company;

use std::fmt;

use gaggle_kit::{Micros, PeerId, Prng, Slot};
use gaggle_link::{Goodbye, SendError, Transport};
use gaggle_lobby::Label;
use gaggle_lobby::client::Client;
use gaggle_replica::{Entry, Exchange, Player, Session, SessionConfig, SessionError, SessionStats};
use gaggle_timeline::Pace;

use crate::config::{SharedConfig, Wish, build_label};
use crate::event::Event;
use crate::held::Held;
use crate::lounge::{Errand, Lounge};
use crate::mailbox::Mailbox;
use crate::platform::Platform;
use crate::room::Stage;
use crate::world::World;

use company::Joining;

/// Whoever rests lets in who knocks, and goes when it has told all; at the latest after this, when the other has given up.
const HAND_OVER: Micros = Micros::from_secs(1);

/// The whole life of being online with shared objects, behind one object.
///
/// Give it the player's input and the time, once per displayed frame; draw what [`session`](SharedRoom::session) has, best as it is
/// [`shown`](Session::shown). It plays alone at once, finds a room, comes into the world there without anybody pausing, and goes
/// on alone when everybody has left or the network is gone.
///
/// ```
/// use gaggle::replica::{Kind, Kinds, Policy, Session};
/// use gaggle::{Micros, NoNetwork, RoomConfig, SharedRoom, World};
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
///     fn found(&mut self, _: &mut Session) {}
///
///     fn enter(&mut self, session: &mut Session) {
///         if session.owned::<Counter>(session.player()).next().is_none() {
///             let _ = session.spawn_for(session.player(), &Counter { presses: 0 });
///         }
///     }
///
///     fn step(&mut self, session: &mut Session) {
///         let pressed = session.take_input::<u8>(session.player()).unwrap_or_default();
///         let own = session.mine::<Counter>().next();
///         if let Some(own) = own {
///             let _ = session.update(own, |counter: &mut Counter| counter.presses += u32::from(pressed));
///         }
///     }
/// }
///
/// // Everybody has a counter of its own; what nobody owns would be the host's.
/// let config = RoomConfig::shared("clicks", 4, Policy::Mixed)?.version("1");
/// let mut room = SharedRoom::open(Micros::ZERO, config, NoNetwork::default(), Clicks, 7)?;
/// for frame in 1..=60 {
///     room.set_input(1);
///     room.update(Micros::from_millis(frame * 17));
/// }
/// assert!(room.session().objects::<Counter>().any(|(_, counter)| counter.presses > 50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedRoom<W: World, P: Platform> {
    lounge: Lounge<SessionConfig, P>,
    world: W,
    /// What is on the screen.
    session: Session,
    pace: Pace,
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
    held: Held<W::Input>,
    mailbox: Mailbox,
}

impl<W: World, P: Platform> fmt::Debug for SharedRoom<W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let player = self.session.player();
        f.debug_struct("SharedRoom")
            .field("seat", &self.lounge.seat)
            .field("player", &player)
            .finish_non_exhaustive()
    }
}

impl<W: World, P: Platform> SharedRoom<W, P> {
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
    ) -> Result<SharedRoom<W, P>, SessionError> {
        let (players, seats) = (config.local_players as u64, u64::from(config.seats));
        for (setting, value, max) in [("local_players", players, 1), ("seats", seats, Slot::COUNT_MAX as u64)]
        {
            if !(1..=max).contains(&value) {
                return Err(SessionError::Setting { setting, value, min: 1, max });
            }
        }
        let mut rng = Prng::new(seed);
        let session = new_session::<W>(&config, first_player(&config), Entry::Found, &mut rng)?;
        // Machines that step at different rates would drive the same objects at different speeds.
        let rate = u64::from(W::STEPS_PER_SECOND).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let build = build_label(session.fingerprint() ^ rate);
        let mut room = SharedRoom {
            lounge: Lounge::new(now, config, build, platform, rng),
            world,
            session,
            pace: Pace::new(W::STEPS_PER_SECOND, now),
            together: false,
            predecessors: Vec::new(),
            joining: None,
            resting: false,
            stood_up: false,
            knocked: None,
            held: Held::default(),
            mailbox: Mailbox::default(),
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
    pub fn start(&mut self, world: W, wish: Wish) -> Result<(), SessionError> {
        let Lounge { config, rng, .. } = &mut self.lounge;
        let session = new_session::<W>(config, first_player(config), Entry::Found, rng)?;
        self.leave();
        self.lounge.config.wish = wish;
        (self.world, self.session) = (world, session);
        self.held.let_go();
        self.begin();
        self.lounge.look_for_others(true);
        Ok(())
    }

    /// Looks for others as wished, while the world on the screen goes on.
    pub fn seek(&mut self, wish: Wish) {
        self.lounge.config.wish = wish;
        self.lounge.look_for_others(true);
    }

    /// Which mode of the game is looked for from the next [`SharedRoom::start`] on.
    pub fn set_mode(&mut self, mode: Label) {
        self.lounge.config.mode = mode;
    }

    /// The colours to ask for from the next [`SharedRoom::start`] on.
    pub fn set_palette(&mut self, palette: Option<u8>) {
        self.lounge.config.palette = palette;
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

    /// As [`Room::send`](crate::Room::send): chat, emotes, whatever is no part of the world. What the world's authority should
    /// judge is a [signal](gaggle_replica::Session::signal) instead.
    ///
    /// # Errors
    /// If it is larger than [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX), or a peer is not linked or does not keep up.
    pub fn send(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        self.lounge.send_message(to, bytes)
    }

    /// As [`Room::next_message`](crate::Room::next_message).
    pub fn next_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
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
            self.pace = Pace::new(W::STEPS_PER_SECOND, now);
            0
        } else {
            self.pace.ticks_due(now, 1_000_000)
        };
        for _ in 0..steps {
            self.session.sample_input(self.held.take());
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
    pub fn build(&self) -> Label {
        self.lounge.build.clone()
    }

    /// How far the display is into the next step, in thousandths.
    pub fn thousandths(&self) -> u32 {
        self.pace.thousandths()
    }

    /// The player at this machine. The number may change when we get a seat.
    pub fn player(&self) -> Player {
        self.session.player()
    }

    /// Who leads: the host, where there is one.
    pub fn host(&self) -> Option<Player> {
        self.session.roster().lead().map(|lead| lead.player)
    }

    /// Whether this machine leads.
    pub fn is_host(&self) -> bool {
        self.session.is_lead()
    }

    /// Where we are.
    pub fn stage(&self) -> Stage {
        match &self.joining {
            _ if self.resting => Stage::Resting,
            Some(joining) if !joining.is_quiet() => Stage::Joining { percent: joining.percent() },
            _ if self.is_watching() => Stage::Watching,
            _ if self.together => Stage::Together,
            _ => Stage::Solo,
        }
    }

    /// What happened on the screen so far.
    pub fn stats(&self) -> SessionStats {
        self.session.stats()
    }

    /// What happened next, for players to know. What happens to objects is told to the [`World`].
    pub fn next_event(&mut self) -> Option<Event> {
        self.lounge.next_event()
    }

    /// The lobby, to look at rooms and to ask for more; none while offline.
    pub fn lobby(&mut self) -> Option<&mut Client> {
        self.lounge.client.as_mut()
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
    /// [`SharedRoom::update`] as often as possible.
    pub fn rest(&mut self) {
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
    pub fn wake(&mut self) {
        if !std::mem::take(&mut self.resting) {
            return;
        }
        self.lounge.set_resting(false);
        self.knocked = None;
        self.pace = Pace::new(W::STEPS_PER_SECOND, self.lounge.now);
        if std::mem::take(&mut self.stood_up) || !self.together {
            self.return_to_seat();
        }
    }

    /// Leaves the room and goes on alone. When the page is closed, say [`SharedRoom::close`].
    pub fn leave(&mut self) {
        self.part(false);
    }

    /// The page is closed, or loaded again: leaves the room, so that nobody waits, but has the seat kept for a moment. Whoever
    /// opens a room with the same [key and seat](crate::RoomConfig::client) within 10 s has it again.
    pub fn close(&mut self) {
        self.part(true);
        self.lounge.hang_up();
    }

    /// Takes the seat over from another tab: after [`Event::Elsewhere`].
    pub fn take_over(&mut self) {
        self.lounge.take_over();
    }

    /// Tells the lobby how a match ended: points by player, how far it went, a hash of how it ended. Everybody tells it, and it
    /// counts when they agree. Whether it could be told: alone without a server there is nobody to tell.
    pub fn report(&mut self, points: &[(Player, i64)], level: Option<u32>, digest: u64) -> bool {
        let owner = |player: Player| self.peer_of(player);
        let owners: Vec<(PeerId, i64)> =
            points.iter().filter_map(|&(player, score)| Some((owner(player)?, score))).collect();
        self.together && !self.is_watching() && self.lounge.report(&owners, level, digest)
    }

    /// Tells the lobby our points so far and how far we came: call it as often as they change, it is said every 15 s and when we leave. They are
    /// kept as our claim if no [report](SharedRoom::report) names us.
    pub fn set_score(&mut self, points: i64, level: Option<u32>) {
        if self.together && !self.is_watching() {
            self.lounge.set_score(points, level);
        }
    }

    /// Another match begins in the same room: whoever is host tells the lobby so, which everybody may call.
    pub fn begin_round(&mut self) {
        self.lounge.begin_round();
    }

    /// A session of our own begins.
    fn begin(&mut self) {
        self.pace = Pace::new(W::STEPS_PER_SECOND, self.lounge.now);
        self.session.tick(self.lounge.now);
        self.world.found(&mut self.session);
        self.world.enter(&mut self.session);
    }

    fn talk_to_lobby(&mut self) {
        self.lounge.listen();
        while let Some(errand) = self.lounge.next_errand() {
            match errand {
                Errand::Found => self.found(),
                Errand::Join => self.begin_joining(),
                Errand::GoSolo => self.go_solo(),
                Errand::Regard => self.regard_others(),
                Errand::Woken => self.rejoin_others(),
            }
        }
    }

    /// Lets go of those who left the room a while ago. Most have said goodbye already.
    fn forget_leavers(&mut self) {
        while let Some(peer) = self.lounge.next_leaver() {
            let now = self.lounge.now;
            self.session.handle_unlinked(now, peer);
            if let Some(joining) = &mut self.joining {
                joining.session.handle_unlinked(now, peer);
            }
            self.lounge.remove_link(peer);
        }
    }

    fn receive(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        let other = |peer, stream, bytes: &[u8]| self.mailbox.receive(peer, stream, bytes);
        Exchange.receive_with(self.lounge.now, links, session, other);
    }

    fn send_packets(&mut self) {
        let Some(links) = self.lounge.mesh.as_mut() else { return };
        let session = self.joining.as_mut().map_or(&mut self.session, |joining| &mut joining.session);
        Exchange.send(self.lounge.now, links, session);
    }

    /// Others are in the world on the screen.
    fn has_company(&self) -> bool {
        self.together && self.session.roster().len() > 1
    }

    /// What is on the screen is the world of others, in which we have no seat.
    fn is_watching(&self) -> bool {
        self.session.is_onlooker()
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
        let is_told = self.has_company() && self.session.linked().all(|peer| self.session.has_told_all(peer));
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
                links.disconnect(now, peer, Goodbye::LEAVING);
            }
        }
        self.unlink();
    }

    /// The links of the session on the screen are gone: what others held is ours before long.
    fn unlink(&mut self) {
        let linked: Vec<PeerId> = self.session.linked().collect();
        for peer in linked {
            self.session.handle_unlinked(self.lounge.now, peer);
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
        let Lounge { config, rng, .. } = &mut self.lounge;
        self.session = new_session::<W>(config, first_player(config), Entry::Found, rng)
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
    entry: Entry,
    rng: &mut Prng,
) -> Result<Session, SessionError> {
    let kinds = W::kinds().with_input::<W::Input>();
    Session::new(config.session.clone(), kinds, player, entry, rng.next_u64())
}
