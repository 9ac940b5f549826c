//! The session: local input, packets and time in; requests, packets and events out.
//!
//! This file owns the state and what a tick does; its neighbours own one thing each: `receive.rs`
//! what comes in, `send.rs` what goes out, `requests.rs` what the game must do, `checks.rs`
//! comparing states, `recovery.rs` making a wrong one good, `presence.rs` what follows from who is
//! there, `standing.rs` what others are told of us, `joining.rs` coming in, `donating.rs` helping
//! others in, `watching.rs` only looking on, `liveness.rs` who is heard, `pacing.rs` which frame to
//! be at and how fast to run, `relaying.rs` those who cannot hear each other.

mod checks;
mod donor;
mod entry;
mod feed_progress;
mod gossip;
#[cfg(test)]
mod hostile;
mod joining;
mod liveness;
mod pacing;
mod presence;
mod receive;
mod recovery;
mod requests;
mod roster_events;
mod send;
mod stall_eviction;
mod status;
mod watching;

use gaggle_kit::{Frame, Input, Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_link::CloseCode;

use crate::config::{PeerSlots, SessionError, TimelineConfig};
use crate::delay::DelayControl;
use crate::event::{Events, SessionEvent};
use crate::input_log::InputLog;
use crate::membership::{self, Membership, Mode, Settings};
use crate::remote::{Handshake, Peer};
use crate::roster::{Incarnation, RosterEntry, StreamId};
use crate::stats::{PeerStats, SessionStats};
use crate::time_sync::{FRAME_Q16, Speed};

use checks::Checks;
use donor::Donations;
use gossip::Relaying;
use joining::Joining;
use pacing::CatchUp;
use recovery::Recovery;
use requests::SimScheduler;
use send::Outbox;

pub use send::Transmit;

/// Steps of a hand-shake: each side's announcement, and the time between.
const HANDSHAKE_STEPS: u32 = 2;
/// Links a session keeps up with.
const LINKS_MAX: usize = 256;
/// Frames that may be simulated in one tick to catch up.
const CATCH_UP_FRAMES: u32 = 12;
/// Suspicions are gathered for so long before anybody is asked, while more may follow.
const GATHER: Micros = Micros::from_millis(200);
/// A joiner that lags is admitted all the same after so long.
const PATIENCE: Micros = Micros::from_secs(2);
/// Without progress for so long a joiner starts over.
const FEED_TIMEOUT: Micros = Micros::from_secs(3);
/// Whoever has left stays for so long at most, for those who have not read its last entry.
const LINGER: Micros = Micros::from_secs(1);
/// Whoever cannot say goodbye for so long, because a change of the roster is under way, goes
/// without.
const GOODBYE_PATIENCE: Micros = Micros::from_secs(4);
/// What was not answered is said again after so long: no less than a bad round trip.
const REPEAT_AFTER: Micros = Micros::from_millis(250);

/// One machine's part in a match.
///
/// A pure state machine: give it input, packets and the time, then drain what it wants.
///
/// 1. [`handle_connected`](Session::handle_connected) / [`handle_packet`](Session::handle_packet) /
///    [`handle_message`](Session::handle_message) /
///    [`handle_disconnected`](Session::handle_disconnected): what the links bring;
/// 2. [`set_input`](Session::set_input) for every local player, then [`tick`](Session::tick), once
///    a frame;
/// 3. [`poll_request`](Session::poll_request) until it is empty: save, load, advance;
/// 4. [`poll_transmit`](Session::poll_transmit) until it is empty: what to send;
/// 5. [`poll_event`](Session::poll_event) until it is empty: what to tell people.
///
/// [`Timeline`](crate::Timeline) does 2 and 3 for a [`Game`](crate::Game),
/// [`Driver`](crate::Driver) 1 and 4 for a transport.
///
/// Who plays may change at any frame: others [join](Session::join), [leave](Session::leave) or fall
/// silent, and nobody waits for the first two.
#[derive(Debug)]
pub struct Session<I: Input> {
    config: TimelineConfig,
    settings_fingerprint: u64,
    /// What the bytes of the game's state mean; 0 if the session was not told.
    shape: u64,
    slot_count: usize,
    local_peer: PeerId,
    /// Everybody the match starts with, until it does.
    seats: Vec<PeerSlots>,
    /// Everybody it started with.
    founders: Vec<PeerSlots>,
    membership: Membership,
    ledger: InputLog<I>,
    /// The ledger holds entries the membership machine has not been told of.
    held_news: bool,
    /// Sorted by peer, as everything every machine must do in the same order.
    remotes: Vec<Peer>,
    /// Whose packet probably comes next.
    next_sender: usize,
    rng: Prng,
    /// Up to which frame everybody else's input is held, as far as the last tick knew.
    received_frame: Frame,
    running: bool,
    /// The frame whose state this stay began with.
    origin: Frame,
    /// Who is present, as far as events told, and who was when this stay began.
    present_told: Vec<RosterEntry>,
    /// The slots present in every frame until the roster changes next.
    everybody: Option<SlotSet>,
    leader: Option<PeerId>,
    /// Before this nobody can have been silent for long, and everybody knows how we stand.
    quiescent_until: Micros,
    /// The history people were told of last.
    reported_branch: Option<membership::History>,
    /// The frame we would be at if we were in step with the others, while we come in.
    pace_frame: Frame,
    /// We are behind our own entries, having just come in.
    catching_up: bool,
    /// We only watch.
    spectates: bool,
    /// How far the newest local entry is ahead of the frame being simulated.
    input_delay: u32,
    /// The newest local entry that says something new.
    newest_change: Frame,
    /// The frame to simulate for which local entries were last written.
    told_for: Frame,
    /// How long a frame takes.
    frame: Micros,
    /// A peer silent for longer makes us send every frame.
    silence_max: Micros,
    /// Ticks since the session began, stalled ones included.
    ticks: u64,
    /// Stalled ticks in a row.
    stalled_ticks: u32,
    /// When it was last looked at for whom everybody waits.
    standstill_looked_at: Micros,
    speed: Speed,
    delay: DelayControl,
    catch_up: CatchUp,
    plan: SimScheduler,
    outbox: Outbox,
    checks: Checks,
    recovery: Recovery,
    joining: Joining,
    donations: Donations,
    relaying: Relaying,
    /// When the goodbye was written.
    left_at: Option<Micros>,
    /// When the local players wished to go.
    leaving_since: Option<Micros>,
    over: bool,
    /// Peers whose links should end, at most one entry each.
    refused: Vec<(PeerId, CloseCode)>,
    events: Events,
    stats: SessionStats,
    now: Micros,
    ticked_at: Micros,
}

/// How a tick went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// Nothing is simulated: the hand-shake is not over, no state to join with has arrived yet, or
    /// we have left.
    Waiting,
    /// A new frame is simulated.
    Advanced,
    /// The window is used up: no new frame until others' input arrives. What local players do
    /// meanwhile is kept.
    Stalled,
}

impl<I: Input> Session<I> {
    fn with(
        config: TimelineConfig,
        local: PeerId,
        slot_count: usize,
        players: usize,
        wanted: SlotSet,
        incarnation: Incarnation,
    ) -> Self {
        let me = StreamId { peer: local, incarnation };
        let frames = config.table_frames();
        let settings = Settings {
            lookahead_frames: config.reach_frames(),
            slot_count,
            majority: config.majority,
            circle_min: config.quorum_min,
            tip_links: membership::TIP_LINKS as u32,
            repeat_after: REPEAT_AFTER,
            gather: GATHER,
            patience: PATIENCE,
            feed_timeout: FEED_TIMEOUT,
            hold_up: config.evict_stalled_after,
            sleep_after: config.timeout,
        };
        let seed = local.to_u128() as u64 ^ (local.to_u128() >> 64) as u64;
        Session {
            settings_fingerprint: config.settings_fingerprint::<I>(slot_count),
            shape: 0,
            slot_count,
            local_peer: local,
            seats: Vec::new(),
            founders: Vec::new(),
            membership: Membership::out(settings, me, players as u8, wanted),
            ledger: InputLog::new(me, players, frames, slot_count),
            held_news: false,
            remotes: Vec::new(),
            next_sender: 0,
            rng: Prng::stream(seed, incarnation.0.into()),
            received_frame: Frame::START,
            running: false,
            origin: Frame::START,
            present_told: Vec::new(),
            everybody: None,
            leader: None,
            quiescent_until: Micros::ZERO,
            reported_branch: None,
            pace_frame: Frame::START,
            catching_up: false,
            spectates: false,
            input_delay: 0,
            newest_change: Frame::START,
            told_for: Frame::START,
            frame: config.frame_duration(),
            silence_max: Micros::new((send::INTERVAL_TICKS_MAX + 2) * config.frame_duration().get()),
            ticks: 0,
            stalled_ticks: 0,
            standstill_looked_at: Micros::ZERO,
            speed: Speed::new(config.tick_rate, pacing::TIME_TICKS as u32),
            delay: DelayControl::new(
                config.input_delay_frames,
                config.input_delay_range,
                config.frame_duration(),
                config.guessing_quarters(),
            ),
            catch_up: CatchUp::default(),
            plan: SimScheduler::default(),
            outbox: Outbox::new(config.packet_bytes_max),
            checks: Checks::new(&config, frames),
            recovery: Recovery::default(),
            joining: Joining::default(),
            donations: Donations::default(),
            relaying: Relaying::default(),
            left_at: None,
            leaving_since: None,
            over: false,
            refused: Vec::new(),
            events: Events::default(),
            stats: SessionStats::default(),
            now: Micros::ZERO,
            ticked_at: Micros::ZERO,
            config,
        }
    }

    /// What the bytes of the game's state mean: see [`shape_of`](crate::shape_of). Peers whose
    /// number differs are refused. A [`Timeline`](crate::Timeline) says it; a game that is driven
    /// without one says it before there are links, or not at all.
    pub fn set_shape(&mut self, shape: u64) {
        self.shape = shape;
    }

    /// A link to a peer is up: we say who we are. It may be anybody: those without a seat may want
    /// to join.
    ///
    /// # Errors
    /// If there are too many.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) -> Result<(), SessionError> {
        self.now = self.now.max(now);
        if self.links() >= LINKS_MAX && self.remote_index(peer).is_none() {
            self.forget_refused();
        }
        let index = match self.remotes.binary_search_by(|remote| remote.peer.cmp(&peer)) {
            Ok(index) => index,
            Err(_) if self.links() >= LINKS_MAX || peer == self.local_peer => {
                return Err(SessionError::TooManyLinks { max: LINKS_MAX });
            }
            Err(index) => {
                self.remotes.insert(index, Peer::new(peer));
                self.outbox.close();
                index
            }
        };
        let remote = &mut self.remotes[index];
        remote.is_up = true;
        if remote.handshake == Handshake::Refused {
            return Ok(());
        }
        remote.handshake = Handshake::Linked;
        self.quiescent_until = Micros::ZERO;
        remote.told.forget();
        // It may have forgotten us meanwhile: what it holds it will say.
        remote.acked = None;
        remote.heard_at = now;
        (remote.slow_since, remote.slow_told) = (None, false);
        self.events.push(SessionEvent::Synchronizing { peer, count: 0, total: HANDSHAKE_STEPS });
        self.say_hello(peer);
        Ok(())
    }

    /// The link to a peer ended. It may come back; if it is in the roster and nobody else hears it
    /// either, the others soon agree on its last frame.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        self.now = self.now.max(now);
        let Some(index) = self.remote_index(peer) else { return };
        let remote = &mut self.remotes[index];
        remote.is_up = false;
        if remote.handshake != Handshake::Refused {
            remote.handshake = Handshake::Unlinked;
        }
        remote.told.forget();
        self.quiescent_until = Micros::ZERO;
        if !self.is_heard_via(index) {
            self.set_gone(index);
        }
        self.donations.forget(peer);
        self.forget_idle_remote(index);
    }

    /// The link saw packets of this peer get lost: both sides now tell more often.
    pub fn handle_packet_loss(&mut self, now: Micros, peer: PeerId) {
        self.now = self.now.max(now);
        if let Some(index) = self.remote_index(peer) {
            let until = now + send::LOSS_MEMORY;
            self.remotes[index].lossy_until = until;
            self.remotes[index].missing_until = until;
        }
    }

    /// What a local player does from now on. Taps between two ticks are merged, so none is lost.
    ///
    /// # Errors
    /// If the slot is not local. While coming in nobody has a slot: see
    /// [`local_slots`](Session::local_slots).
    pub fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
        if self.ledger.local.sample(slot, input) {
            Ok(())
        } else {
            Err(SessionError::SlotNotLocal { slot, local: self.local_slots() })
        }
    }

    /// One frame's time has passed: decides whether a frame can be simulated, and what else is due.
    /// Call it [`tick_rate`](TimelineConfig::tick_rate) times a second, bent by
    /// [`speed_ppm`](Session::speed_ppm), then drain requests and packets.
    pub fn tick(&mut self, now: Micros) -> Tick {
        if now.since(self.ticked_at) > self.config.interrupted_after {
            // It was us who slept: silence during that time says nothing about the others.
            self.remotes.iter_mut().for_each(|remote| remote.heard_at = now);
            self.joining.brought_on_at = now;
        }
        self.ticked_at = now;
        self.now = self.now.max(now);
        self.ticks += 1;
        if self.is_quiescent() {
            self.tick_membership();
            self.feed_all();
        } else {
            self.watch_liveness();
            self.watch_inquest();
            self.watch_recovery();
            self.tick_membership();
            self.set_lags();
            self.tend_joining();
            self.tend_donations();
            self.tend_relaying();
            self.tell_standing();
            self.find_quiescence();
        }
        self.outbox.open(self.remotes.len());
        if !self.spectates && !self.over {
            self.watch_lines();
        }
        if !self.running || self.over {
            return Tick::Waiting;
        }
        if self.spectates {
            return self.tick_watching();
        }
        self.keep_time();
        let next = self.ledger.current.next();
        let limit = self.sure().saturating_add(self.config.prediction_frames());
        let waits = next > limit;
        let goal = self.pace(next, waits);
        let target = if waits {
            self.note_stall();
            self.ledger.current
        } else {
            self.note_progress();
            let most = self.ledger.current.saturating_add(CATCH_UP_FRAMES);
            goal.max(next).min(limit).min(most)
        };
        self.plan.begin(target);
        self.checks.begin_tick();
        if target >= next { Tick::Advanced } else { Tick::Stalled }
    }

    /// The local players leave: their last input is the next one, and everybody knows it is. Go on
    /// ticking and sending until [`is_closed`](Session::is_closed).
    pub fn leave(&mut self) {
        if self.membership.mode() == Mode::Member {
            self.leaving_since.get_or_insert(self.now);
            self.membership.leave();
        } else {
            self.over = true;
            self.membership.quit();
        }
    }

    /// Whether the goodbye is done: the links may be closed.
    pub fn is_closed(&self) -> bool {
        self.over
    }

    /// Removes a peer: before the match starts its seat, afterwards its part, as soon as the others
    /// agree.
    ///
    /// # Errors
    /// If the peer is not part of the session.
    pub fn evict(&mut self, peer: PeerId) -> Result<(), SessionError> {
        if !self.running && self.seats.iter().any(|seat| seat.peer == peer && peer != self.local_peer) {
            self.seats.retain(|seat| seat.peer != peer);
            self.start_when_ready();
            return Ok(());
        }
        let row = self.membership.known().iter().find(|row| row.stream.peer == peer && row.is_active());
        let stream = row.map(|row| row.stream).ok_or(SessionError::UnknownPeer { peer })?;
        self.membership.condemn(stream);
        Ok(())
    }

    /// The next thing to tell people.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop()
    }

    /// The next peer whose link should be closed, and what to tell it: it plays by other rules or
    /// broke them.
    pub fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
        self.refused.pop()
    }

    /// The state the live simulation is at, after the requests are drained.
    pub fn current_frame(&self) -> Frame {
        self.ledger.current
    }

    /// The last frame for which everybody's input was known at the last tick.
    pub fn confirmed_frame(&self) -> Frame {
        self.membership.confirmed()
    }

    /// The newest frame for which the local players' input is decided: what they do now counts
    /// after it.
    pub fn local_input_frame(&self) -> Frame {
        self.ledger.local.newest()
    }

    /// The last frame everybody present said they confirmed: results may rest on it.
    pub fn settled_frame(&self) -> Frame {
        self.membership.settled()
    }

    /// The frame whose state this machine began with: 0 for who was there from the start, else the
    /// frame of the state it took over last.
    pub fn start_frame(&self) -> Frame {
        self.origin
    }

    /// The local machine.
    pub fn local_peer(&self) -> PeerId {
        self.local_peer
    }

    /// The slots of the players at this machine. Empty until they are in the roster.
    pub fn local_slots(&self) -> SlotSet {
        match self.ledger.own() {
            Some(row) => row.slots,
            None => self.seats.iter().find(|s| s.peer == self.local_peer).map_or(SlotSet::EMPTY, |s| s.slots),
        }
    }

    /// How many slots the game has to think of.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Everybody who is, was lately, or will be there, as far as is known.
    pub fn roster(&self) -> &[RosterEntry] {
        self.membership.known()
    }

    /// Whose agreement it takes to go on without somebody who fell silent, longest present first:
    /// with [`TimelineConfig::majority`] more than half of these, or half with the first. Whoever
    /// came in lately has a vote from the next change on. While too few of them are heard everybody
    /// waits: the application may [leave](Session::leave) for a match of its own.
    pub fn quorum_members(&self) -> Vec<StreamId> {
        self.membership.voters()
    }

    /// The slots present at a frame.
    pub fn slots_at(&self, frame: Frame) -> SlotSet {
        self.ledger.present_at(frame)
    }

    /// The peer present longest at a frame.
    pub fn leader_at(&self, frame: Frame) -> Option<PeerId> {
        membership::lead_at(self.membership.known(), frame).map(|row| row.stream.peer)
    }

    /// A name for the history this machine is in: those who have the same one agree on everything
    /// they confirm. It changes when somebody falls silent and the others go on without it.
    pub fn branch_id(&self) -> u64 {
        self.membership.lineage().history().0
    }

    /// Whether there is a match here: the hand-shake is over, or a state to join with arrived.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Whether the local players are in the roster.
    pub fn is_member(&self) -> bool {
        self.running && self.membership.mode() == Mode::Member
    }

    /// The settings.
    pub fn config(&self) -> &TimelineConfig {
        &self.config
    }

    /// What happened so far.
    pub fn stats(&self) -> SessionStats {
        SessionStats {
            input_delay_frames: self.input_delay,
            frame_advantage_permille: (self.speed.apart() * 1_000 / FRAME_Q16) as i32,
            events_dropped: self.events.lost(),
            corrections_without_rollback: self.ledger.harmless,
            entries_buffered_max: self.membership.entries_held_most(),
            ..self.stats
        }
    }

    /// What is known about a peer.
    pub fn peer_stats(&self, peer: PeerId) -> Option<PeerStats> {
        let index = self.remote_index(peer)?;
        let remote = &self.remotes[index];
        let acked = remote.acked.unwrap_or(self.ledger.local.newest());
        Some(PeerStats {
            rtt: remote.clock.rtt(),
            received_frame: self.have_of(index),
            acked_frame: acked,
            confirmed_frame: remote.confirmed,
            input_delay_frames: remote.delay_frames,
            frame_advantage_permille: remote
                .advantage
                .apart()
                .map(|apart| (apart * 1_000 / FRAME_Q16) as i32),
            unacked_frames: self.ledger.local.newest().since(acked),
        })
    }

    /// As [`remote_index`](Session::remote_index), for packets: those of one frame mostly come in
    /// the order of their senders, so the next one is looked at first.
    fn sender_index(&mut self, peer: PeerId) -> Option<usize> {
        let index = match self.remotes.get(self.next_sender) {
            Some(remote) if remote.peer == peer => self.next_sender,
            _ => self.remote_index(peer)?,
        };
        self.next_sender = if index + 1 < self.remotes.len() { index + 1 } else { 0 };
        Some(index)
    }

    fn remote_index(&self, peer: PeerId) -> Option<usize> {
        // Few enough that looking at all of them is faster than searching.
        self.remotes.iter().position(|remote| remote.peer == peer)
    }

    /// Up to which frame everything is certain: nothing before it can turn out otherwise.
    fn sure(&self) -> Frame {
        match self.membership.mode() {
            Mode::Member => self.received_frame,
            _ => self.membership.confirmed(),
        }
    }

    /// Writes the local entries this frame calls for, once.
    fn emit(&mut self, next: Frame) {
        if self.told_for == next || self.membership.own_end().is_some() {
            return;
        }
        self.told_for = next;
        let before = self.ledger.local.newest();
        self.ledger.emit(next, self.delay.target());
        self.write_own(before);
        let newest = self.ledger.local.newest();
        self.input_delay = newest.since(next);
        if self.ledger.local.is_change(newest) {
            self.newest_change = newest;
        }
        self.update_confirmed();
    }

    /// Entries after `before` are written: what they say besides inputs is decided now.
    #[inline]
    fn write_own(&mut self, before: Frame) {
        if self.membership.is_at_rest() {
            // Nothing is said besides inputs, and nobody asks: it learns of these entries when it
            // wakes.
            self.held_news = true;
        } else {
            self.say_own(before);
        }
    }

    #[inline(never)]
    fn say_own(&mut self, before: Frame) {
        self.sync_held();
        let may_say = self.membership.may_say();
        for number in before.number() + 1..=self.ledger.local.newest().number() {
            let frame = Frame::new(number);
            let extras = if may_say && self.membership.own_end().is_none() {
                self.sync_held();
                self.membership.extras_due(self.now, frame)
            } else {
                membership::EntryControl::NONE
            };
            self.membership.push_own(frame, extras);
            if extras.is_some() {
                self.newest_change = frame;
                self.left_at = if extras.end { Some(self.now) } else { self.left_at };
                self.sync_roster();
            }
        }
    }

    fn start_when_ready(&mut self) {
        if self.running || self.seats.is_empty() {
            return;
        }
        let mut rows = Vec::with_capacity(self.seats.len());
        for seat in &self.seats {
            let incarnation = if seat.peer == self.local_peer {
                Some(self.membership.me().incarnation)
            } else {
                let remote = self.remote_index(seat.peer).map(|index| &self.remotes[index]);
                remote.filter(|r| r.handshake == Handshake::Synchronized).and_then(|r| r.incarnation)
            };
            let Some(incarnation) = incarnation else { return };
            let stream = StreamId { peer: seat.peer, incarnation };
            rows.push(RosterEntry {
                stream,
                slots: seat.slots,
                first_frame: Frame::new(1),
                last_frame: Frame::NEVER,
            });
        }
        let company = self.cohort();
        self.founders = std::mem::take(&mut self.seats);
        self.membership.start_together(self.config.match_id, rows);
        self.imply_standings(company);
        self.begin_running();
        self.remotes.iter_mut().for_each(|remote| remote.acked = Some(Frame::START));
        let before = self.ledger.local.newest();
        self.ledger.emit_neutral(self.delay.target());
        self.write_own(before);
        self.input_delay = self.delay.target();
        self.leader = self.leader_at(Frame::new(1));
        self.reported_branch = Some(self.membership.lineage().history());
        self.begin_with_present();
        self.update_confirmed();
        self.events.push(SessionEvent::Started);
    }

    /// There is a match here from now on.
    fn begin_running(&mut self) {
        self.running = true;
        self.note_progress();
        self.told_for = Frame::START;
        self.delay.start(self.rtt_worst());
        if self.is_alone() {
            self.delay.be_alone();
        }
        self.sync_roster();
    }

    /// Machines that are in the roster, or will be when the match starts.
    fn members(&self) -> impl Iterator<Item = &Peer> {
        let gathering = !self.seats.is_empty();
        self.remotes.iter().filter(move |remote| gathering || remote.is_open)
    }
}
