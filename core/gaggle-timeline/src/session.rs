//! The session: local input, packets and time in; requests, packets and events out.
//!
//! This file owns the state and what a tick does; its neighbours own one direction each:
//! `receive.rs` what comes in, `send.rs` what goes out, `requests.rs` what the game must do,
//! `checks.rs` comparing states.

mod checks;
mod receive;
mod requests;
mod send;

use std::collections::VecDeque;

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::Goodbye;

use crate::announce::{Announce, Message, PROTOCOL_VERSION};
use crate::config::{Seat, SessionConfig, SessionError};
use crate::delay::DelayControl;
use crate::event::{Event, Events};
use crate::local::LocalStream;
use crate::question_log::QuestionLog;
use crate::remote::{Handshake, Liveness, Remote};
use crate::roster::{self, Incarnation, Row};
use crate::stats::{PeerStats, SessionStats};
use crate::table::InputTable;
use crate::time_sync::{FRAME_Q16, Speed, frames_to_make_up};

use checks::Checks;
use requests::Plan;
use send::Outbox;

pub use send::Outgoing;

/// Steps of a hand-shake: each side's announcement, and the time between.
const HANDSHAKE_STEPS: u32 = 2;

/// One machine's part in a match with a fixed set of players.
///
/// A pure state machine: give it input, packets and the time, then drain what it wants.
///
/// 1. [`handle_linked`](Session::handle_linked) / [`handle_packet`](Session::handle_packet) /
///    [`handle_unlinked`](Session::handle_unlinked): what the links bring;
/// 2. [`set_input`](Session::set_input) for every local player, then [`tick`](Session::tick), once a frame;
/// 3. [`next_request`](Session::next_request) until it is empty: save, load, advance;
/// 4. [`next_packet`](Session::next_packet) until it is empty: what to send;
/// 5. [`next_event`](Session::next_event) until it is empty: what to tell people.
///
/// [`Timeline`](crate::Timeline) does 2 and 3 for a [`Game`](crate::Game).
#[derive(Debug)]
pub struct Session<I: Input> {
    config: SessionConfig,
    me: Row,
    incarnation: Incarnation,
    settings_fingerprint: u64,
    slot_count: usize,
    /// Sorted by peer, as everything every machine must do in the same order.
    remotes: Vec<Remote>,
    local: LocalStream<I>,
    table: InputTable<I>,
    log: QuestionLog<I>,
    /// The state the live simulation is at.
    current: Frame,
    /// The first simulated frame whose outcome a correction changed; [`Frame::NEVER`] if none.
    changed: Frame,
    /// Up to which frame everybody else's input is held, as far as the last tick knew.
    horizon: Frame,
    /// Something came that may extend it: looked at once a tick, not once a packet.
    horizon_outdated: bool,
    confirmed: Frame,
    running: bool,
    /// How far the newest local entry is ahead of the frame being simulated.
    input_delay: u32,
    /// The newest local entry that says something new.
    newest_change: Frame,
    /// The frame to simulate for which local entries were last written.
    told_for: Frame,
    /// A peer silent for longer makes us send every frame.
    silence_max: Micros,
    /// Everybody's slots, while nobody's part has ended.
    everybody: Option<SlotSet>,
    /// Ticks since the session began, stalled ones included.
    ticks: u64,
    /// Stalled ticks in a row.
    stalled_ticks: u32,
    speed: Speed,
    delay: DelayControl,
    wait_told_at: Option<Micros>,
    make_up: MakeUp,
    plan: Plan,
    outbox: Outbox,
    checks: Checks,
    messages: VecDeque<(PeerId, Message)>,
    /// Peers whose links should end, at most one entry each.
    refused: Vec<(PeerId, Goodbye)>,
    events: Events,
    stats: SessionStats,
    now: Micros,
    ticked_at: Micros,
}

/// Ticks this machine has to make up for.
#[derive(Debug, Default)]
struct MakeUp {
    owed: u32,
    /// What others say of us is worth nothing before this: it was measured before we caught up.
    measure_from: Micros,
}

/// After catching up, reports made before it are still under way for about so long.
const MAKE_UP_PAUSE: Micros = Micros::from_millis(500);

/// How a tick went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// The hand-shake is not over: nothing is simulated yet.
    Waiting,
    /// A new frame is simulated.
    Advanced,
    /// The window is used up: no new frame until others' input arrives. What local players do
    /// meanwhile is kept.
    Stalled,
}

impl<I: Input> Session<I> {
    /// A session of `local` with everybody in `seats`. `incarnation` is a random number the caller
    /// draws: it tells this stay from earlier ones of the same machine.
    ///
    /// # Errors
    /// Says which setting or seat cannot be and what to change.
    pub fn new(
        config: SessionConfig,
        local: PeerId,
        seats: &[Seat],
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate::<I>(local, seats)?;
        let slot_count =
            seats.iter().flat_map(|seat| seat.slots).map(|slot| slot.index() + 1).max().unwrap_or(0);
        let mut rows: Vec<Row> = seats.iter().map(|seat| Row::from_start(seat.peer, seat.slots)).collect();
        rows.sort_by_key(|row| row.peer);
        let me = *rows.iter().find(|row| row.peer == local).expect("validated: the local peer has a seat");
        let remotes: Vec<Remote> =
            rows.into_iter().filter(|row| row.peer != local).map(Remote::new).collect();
        let frames = config.table_frames();
        let mut session = Session {
            settings_fingerprint: config.settings_fingerprint::<I>(slot_count),
            slot_count,
            local: LocalStream::new(me.slots, frames),
            table: InputTable::new(frames, slot_count),
            log: QuestionLog::new(frames),
            current: Frame::START,
            changed: Frame::NEVER,
            horizon: Frame::START,
            horizon_outdated: false,
            confirmed: Frame::START,
            running: false,
            input_delay: 0,
            newest_change: Frame::START,
            told_for: Frame::START,
            silence_max: Micros::new((send::INTERVAL_TICKS_MAX + 2) * config.frame_micros().get()),
            everybody: Some(remotes.iter().fold(me.slots, |set, remote| set.union(remote.row.slots))),
            ticks: 0,
            stalled_ticks: 0,
            speed: Speed::new(config.frames_per_second),
            delay: DelayControl::new(
                config.input_delay_frames,
                config.input_delay_limits,
                config.frame_micros(),
                config.guessed_quarters,
            ),
            wait_told_at: None,
            make_up: MakeUp::default(),
            plan: Plan::default(),
            outbox: Outbox::new(config.packet_bytes_max, remotes.len()),
            checks: Checks::new(&config, frames),
            messages: VecDeque::new(),
            refused: Vec::new(),
            events: Events::default(),
            stats: SessionStats::default(),
            now: Micros::ZERO,
            ticked_at: Micros::ZERO,
            me,
            incarnation,
            remotes,
            config,
        };
        session.update_horizon();
        session.start_when_ready();
        Ok(session)
    }

    /// A link to a peer is up: we say who we are.
    ///
    /// # Errors
    /// If the peer has no seat; its link is not ours to use.
    pub fn handle_linked(&mut self, now: Micros, peer: PeerId) -> Result<(), SessionError> {
        self.now = self.now.max(now);
        let index = self.remote_index(peer).ok_or(SessionError::UnknownPeer { peer })?;
        let remote = &mut self.remotes[index];
        if remote.handshake == Handshake::Refused {
            return Ok(());
        }
        if remote.handshake == Handshake::Unlinked {
            remote.handshake =
                if remote.incarnation.is_some() { Handshake::Announced } else { Handshake::Linked };
        }
        remote.heard_at = now;
        self.events.push(Event::Synchronizing { peer, count: 0, total: HANDSHAKE_STEPS });
        let announce = Message::Announce(Announce {
            version: PROTOCOL_VERSION,
            game_fingerprint: self.config.game_fingerprint,
            settings_fingerprint: self.settings_fingerprint,
            incarnation: self.incarnation,
            slots: self.me.slots,
        });
        self.messages.push_back((peer, announce));
        Ok(())
    }

    /// The link to a peer ended. Its seat stays: it may come back, or be [ended](Session::end_stream).
    pub fn handle_unlinked(&mut self, now: Micros, peer: PeerId) {
        self.now = self.now.max(now);
        let Some(index) = self.remote_index(peer) else { return };
        let remote = &mut self.remotes[index];
        if remote.handshake != Handshake::Refused {
            remote.handshake = Handshake::Unlinked;
        }
        self.set_gone(index);
    }

    /// The link saw packets of this peer get lost: both sides now tell more often.
    pub fn handle_loss(&mut self, now: Micros, peer: PeerId) {
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
    /// If the slot is not local.
    pub fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
        if self.local.sample(slot, input) {
            Ok(())
        } else {
            Err(SessionError::NotLocal { slot, local: self.me.slots })
        }
    }

    /// One frame's time has passed: decides whether a frame can be simulated, and what else is due.
    /// Call it [`frames_per_second`](SessionConfig::frames_per_second) times a second, bent by
    /// [`speed_ppm`](Session::speed_ppm), then drain requests and packets.
    pub fn tick(&mut self, now: Micros) -> Tick {
        if now.since(self.ticked_at) > self.config.interrupted_after {
            // It was us who slept: silence during that time says nothing about the others.
            self.remotes.iter_mut().for_each(|remote| remote.heard_at = now);
        }
        self.ticked_at = now;
        self.now = self.now.max(now);
        self.ticks += 1;
        self.watch_liveness();
        self.watch_inquest();
        if !self.running {
            self.outbox.open();
            return Tick::Waiting;
        }
        self.keep_time();
        if self.horizon_outdated {
            self.update_horizon();
        }
        let next = self.current.next();
        let waits = next.number() > self.horizon.number().saturating_add(self.config.window_frames());
        // What we do in the next frame is told even while we wait for it: with neither window nor
        // delay everybody would wait for everybody.
        if !waits || self.local.newest() < next {
            self.emit(next);
        }
        let target = if waits {
            self.note_stall();
            self.current
        } else {
            self.note_progress();
            next
        };
        self.plan.begin(target);
        self.checks.begin_tick();
        self.outbox.open();
        if target == next { Tick::Advanced } else { Tick::Stalled }
    }

    /// Ends a peer's part after `last`, as all others do at the same frame: agreeing on it is the
    /// caller's. Frames after it no longer wait for the peer, and its slots are empty. With `None`
    /// it ends after what was received, which two players need not agree on.
    ///
    /// # Errors
    /// If the peer has no seat, or if `last` would contradict what is confirmed or lie beyond what was received.
    pub fn end_stream(&mut self, peer: PeerId, last: Option<Frame>) -> Result<(), SessionError> {
        let index = self.remote_index(peer).ok_or(SessionError::UnknownPeer { peer })?;
        let remote = &mut self.remotes[index];
        if !remote.is_open() {
            return Ok(());
        }
        let newest = remote.have.max(remote.row.first.previous());
        let last = last.unwrap_or(newest);
        if last < self.confirmed.min(newest) || last > newest {
            let confirmed = self.confirmed.min(newest);
            return Err(SessionError::AlreadyConfirmed { peer, last, confirmed, newest });
        }
        remote.row.last = last;
        self.everybody = None;
        remote.have = remote.have.min(last);
        let slots = remote.row.slots;
        for number in last.number() + 1..=self.current.number() {
            let frame = Frame::new(number);
            let reads_input = slots.iter().any(|slot| {
                *self.table.cell_mut(frame, slot) = I::default();
                self.log.input_matters(frame, slot, I::default())
            });
            if frame < self.changed && (reads_input || self.log.presence_matters(frame, slots)) {
                self.changed = frame;
            }
        }
        self.events.push(Event::Left { peer, last });
        self.update_horizon();
        self.start_when_ready();
        Ok(())
    }

    /// The input delay from now on; `None` lets it adapt again. Changes without a stall and without
    /// losing or doubling a press.
    ///
    /// # Errors
    /// If it is outside [`SessionConfig::input_delay_limits`], which all peers rely on.
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        let (min, max) = self.config.input_delay_limits;
        let max = max.max(self.config.input_delay_frames);
        if let Some(frames) = frames
            && !(min.min(self.config.input_delay_frames)..=max).contains(&frames)
        {
            let (min, max) = (min.into(), max.into());
            return Err(SessionError::Setting { setting: "input delay", value: frames.into(), min, max });
        }
        self.delay.fix(frames);
        Ok(())
    }

    /// The next thing to tell people.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The next peer whose link should be closed, and what to tell it: it plays by other rules or broke them.
    pub fn next_refused(&mut self) -> Option<(PeerId, Goodbye)> {
        self.refused.pop()
    }

    /// How fast to run, in millionths of the game's own pace: 950,000 to 1,050,000.
    pub fn speed_ppm(&self) -> u32 {
        self.speed.ppm()
    }

    /// Ticks to make now besides those that are due, at most `limit`: this machine slept and is far
    /// behind everybody. 0 as a rule.
    pub fn take_ticks_to_make_up(&mut self, limit: u32) -> u32 {
        let ticks = self.make_up.owed.min(limit);
        self.make_up.owed -= ticks;
        if ticks > 0 {
            self.remotes.iter_mut().for_each(|remote| remote.advantage.shift(ticks.into()));
            self.make_up.measure_from = self.now + MAKE_UP_PAUSE;
        }
        ticks
    }

    /// The state the live simulation is at, after the requests are drained.
    pub fn current_frame(&self) -> Frame {
        self.current
    }

    /// The last frame for which everybody's input was known at the last tick.
    pub fn confirmed_frame(&self) -> Frame {
        self.confirmed
    }

    /// The last frame everybody present said they confirmed: results may rest on it.
    pub fn settled_frame(&self) -> Frame {
        let others = self.remotes.iter().filter(|remote| remote.is_open()).map(|remote| remote.confirmed);
        others.fold(self.confirmed, Frame::min)
    }

    /// The local machine.
    pub fn local_peer(&self) -> PeerId {
        self.me.peer
    }

    /// The slots of the players at this machine.
    pub fn local_slots(&self) -> SlotSet {
        self.me.slots
    }

    /// How many slots the game has to think of: the highest seat plus one.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// The slots present at a frame.
    pub fn present_at(&self, frame: Frame) -> SlotSet {
        roster::present_at(self.rows(), frame)
    }

    /// The peer present longest at a frame.
    pub fn lead_at(&self, frame: Frame) -> Option<PeerId> {
        roster::lead_at(self.rows(), frame)
    }

    /// Whether the hand-shake is over.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// The settings.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// What happened so far.
    pub fn stats(&self) -> SessionStats {
        SessionStats {
            input_delay_frames: self.input_delay,
            apart_thousandths: (self.speed.apart() * 1_000 / FRAME_Q16) as i32,
            events_lost: self.events.lost(),
            ..self.stats
        }
    }

    /// What is known about a peer.
    pub fn peer_stats(&self, peer: PeerId) -> Option<PeerStats> {
        let remote = &self.remotes[self.remote_index(peer)?];
        Some(PeerStats {
            rtt: remote.clock.rtt(),
            have: remote.have,
            acked: remote.acked,
            confirmed: remote.confirmed,
            input_delay_frames: remote.delay_frames,
            ahead_thousandths: remote.advantage.apart().map(|apart| (apart * 1_000 / FRAME_Q16) as i32),
            unacked_frames: self.local.newest().since(remote.acked),
        })
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        std::iter::once(&self.me).chain(self.remotes.iter().map(|remote| &remote.row))
    }

    fn remote_index(&self, peer: PeerId) -> Option<usize> {
        // Few enough that looking at all of them is faster than searching.
        self.remotes.iter().position(|remote| remote.row.peer == peer)
    }

    /// Writes the local entries this frame calls for, once.
    fn emit(&mut self, next: Frame) {
        if self.told_for == next {
            return;
        }
        self.told_for = next;
        let (table, slots) = (&mut self.table, self.me.slots);
        self.local.emit(next, self.delay.target(), |frame, entry| {
            for (slot, input) in slots.iter().zip(entry) {
                *table.cell_mut(frame, slot) = *input;
            }
        });
        self.input_delay = self.local.newest().since(next);
        if self.local.is_change(self.local.newest()) {
            self.newest_change = self.local.newest();
        }
        self.update_confirmed();
    }

    fn update_horizon(&mut self) {
        self.horizon_outdated = false;
        self.horizon = self.remotes.iter().map(Remote::horizon).min().unwrap_or(Frame::NEVER);
        self.update_confirmed();
    }

    fn update_confirmed(&mut self) {
        let to = self.horizon.min(self.local.newest());
        while self.confirmed < to {
            self.confirmed = self.confirmed.next();
            let present = self.everybody.unwrap_or_else(|| roster::present_at(self.rows(), self.confirmed));
            self.checks.confirm(self.confirmed, self.table.row(self.confirmed), present);
        }
    }

    fn start_when_ready(&mut self) {
        let ready = |remote: &Remote| !remote.is_open() || remote.handshake == Handshake::Synchronized;
        if self.running || !self.remotes.iter().all(ready) {
            return;
        }
        self.running = true;
        self.delay.start(self.rtt_worst());
        let (table, slots) = (&mut self.table, self.me.slots);
        self.local.fill_neutral(self.delay.target(), |frame, entry| {
            for (slot, input) in slots.iter().zip(entry) {
                *table.cell_mut(frame, slot) = *input;
            }
        });
        self.input_delay = self.delay.target();
        self.update_confirmed();
        self.events.push(Event::Started);
    }

    fn rtt_worst(&self) -> Option<Micros> {
        self.remotes.iter().filter(|remote| remote.is_open()).filter_map(|r| r.clock.rtt_high()).max()
    }

    /// Speed and input delay follow what was measured.
    fn keep_time(&mut self) {
        let apart =
            || self.remotes.iter().filter(|remote| remote.is_open()).filter_map(|r| r.advantage.apart());
        let off = if self.speed.tick(apart()) { frames_to_make_up(apart()) } else { 0 };
        if off > 0 && self.make_up.owed == 0 && self.now >= self.make_up.measure_from {
            self.make_up.owed = off as u32;
        }
        let skip = -off;
        if skip > 0 && self.wait_told_at.is_none_or(|at| self.now.since(at) >= Micros::from_secs(1)) {
            self.wait_told_at = Some(self.now);
            self.events.push(Event::WaitRecommendation { ticks: skip as u32 });
        }
        // Ten samples a second come in; looking more often finds nothing new.
        if self.ticks.is_multiple_of(4) {
            self.delay.tick(self.now, self.rtt_worst());
        }
    }

    fn note_stall(&mut self) {
        if self.stalled_ticks == 0 {
            let late = self.remotes.iter().filter(|remote| remote.horizon() == self.horizon);
            let waiting_for = late.fold(SlotSet::EMPTY, |set, remote| set.union(remote.row.slots));
            self.events.push(Event::Stalled { waiting_for });
        }
        self.stalled_ticks += 1;
        self.stats.stalled_ticks += 1;
    }

    fn note_progress(&mut self) {
        if self.stalled_ticks > 0 {
            self.events.push(Event::Unstalled { ticks: self.stalled_ticks });
            self.stalled_ticks = 0;
        }
    }

    fn watch_liveness(&mut self) {
        for index in 0..self.remotes.len() {
            let remote = &mut self.remotes[index];
            if !remote.is_open() || !remote.is_trusted() {
                continue;
            }
            let silent = self.now.since(remote.heard_at);
            if remote.liveness == Liveness::Heard && silent >= self.config.interrupted_after {
                remote.liveness = Liveness::Interrupted;
                self.events.push(Event::Interrupted { peer: remote.row.peer });
            }
            if remote.liveness == Liveness::Interrupted && silent >= self.config.dead_after {
                self.set_gone(index);
            }
        }
    }

    fn set_gone(&mut self, index: usize) {
        let remote = &mut self.remotes[index];
        if remote.liveness != Liveness::Gone && remote.is_open() {
            remote.liveness = Liveness::Gone;
            self.events.push(Event::Gone { peer: remote.row.peer });
        }
    }
}
