//! Ticks and requests of a session: pace, local entries, simulation, liveness.
//!
//! `Session::tick` and its poll methods lead here. Absent: rules of any part.

use gaggle_kit::{Frame, Input, OutOfRange, PeerId, SlotSet};
use gaggle_link::Channel;

use super::{Session, Transmit};
use crate::desync::RemoteCheck;
use crate::gossip::SILENCE;
use crate::membership::{self, Mode, Relation};
use crate::packet::CheckBlock;
use crate::peers::{Handshake, LivenessView, Peer, ReachChange};
use crate::request::{Due, Request, RequestStep, SimId};
use crate::scheduler::{Answer, SimNeeds};
use crate::time_sync::{FRAME_Q16, StalledTick};
use crate::wire::{SendView, Tell, is_due};
use crate::{Inputs, PeerStats, SessionError, SessionEvent, SlowPolicy};

impl<I: Input> Session<I> {
    /// Sets the input delay; `None` lets it adapt again. The change causes no stall and neither
    /// loses nor doubles a press.
    ///
    /// # Errors
    /// If it is outside
    /// [`TimelineConfig::input_delay_range`](crate::TimelineConfig::input_delay_range), which all
    /// peers rely on.
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.cx.config.validate_input_delay(frames)?;
        self.time.fix_delay(frames);
        Ok(())
    }

    /// Sets what the match does about slow peers: the room's host decides, and all peers should be
    /// told the same. A loosened window closes again.
    ///
    /// # Errors
    /// If it loosens by more than
    /// [`TimelineConfig::loosen_frames_max`](crate::TimelineConfig::loosen_frames_max).
    pub fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.cx.config.validate_slow_policy(policy)?;
        if self.cx.config.slow_policy != policy {
            self.cx.config.slow_policy = policy;
            self.time.tighten();
        }
        Ok(())
    }

    /// Sets how many frames may be simulated on predicted input from now on; 0 is lockstep. Each
    /// peer may choose for itself.
    ///
    /// # Errors
    /// If it is more than
    /// [`TimelineConfig::prediction_frames_max`](crate::TimelineConfig::prediction_frames_max).
    pub fn set_prediction_frames(&mut self, frames: u32) -> Result<(), SessionError> {
        let max = self.cx.config.prediction_frames_max();
        if frames > max {
            let (value, max) = (frames.into(), max.into());
            return Err(OutOfRange { setting: "prediction_frames", value, min: 0, max }.into());
        }
        self.time.set_prediction_frames(frames);
        Ok(())
    }

    /// Frames that may be simulated on predicted input at the moment.
    pub fn prediction_frames(&self) -> u32 {
        self.time.prediction_frames()
    }

    /// Speed to run at, in millionths of the game's own: 950,000 to 1,050,000.
    pub fn speed_ppm(&self) -> u32 {
        self.time.speed_ppm()
    }

    /// Ticks to run now in addition to the regular ones, at most `limit`, because this peer was
    /// suspended and is far behind all others. Usually 0.
    pub fn take_catch_up_ticks(&mut self, limit: u32) -> u32 {
        let ticks = self.time.take_ticks_owed(self.cx.now, limit);
        if ticks > 0 {
            self.peers.iter_mut().for_each(|remote| remote.time.advantage_mut().shift(ticks.into()));
        }
        ticks
    }

    /// Slots whose input is missing, while the match stalls for it.
    pub fn stalled_on(&self) -> Option<SlotSet> {
        (self.time.stalled_ticks() > 0).then(|| self.log.waiting_for())
    }

    /// Writes local entries and returns the frame to reach in this tick.
    pub(super) fn pace(&mut self, next: Frame, waits: bool) -> Frame {
        let observes = self.membership.mode() != Mode::Member;
        if !observes && !self.time.is_catching_up() {
            // The entry for the next frame is sent even while this peer waits for it: with neither
            // window nor delay all peers would wait for each other.
            if !waits || self.log.local().newest() < next {
                self.emit(next);
            }
            return next;
        }
        // An observer learns late which frames are confirmed, but holds the entries that will
        // confirm them.
        let until = match observes {
            true => {
                let (confirmed, lookahead) = (self.membership.confirmed(), self.cx.config.lookahead_frames());
                let held = self.log.received().clamp(confirmed, confirmed.saturating_add(3 * lookahead));
                held.saturating_add(lookahead)
            }
            false => self.membership.emit_until(),
        };
        let goal = self.time.follow(next, self.present_frame(), until);
        if !observes || self.joiner.has_begun() {
            self.emit(goal);
        }
        self.time.set_catching_up(!observes && next < goal);
        goal
    }

    /// Adjusts speed and input delay to the measurements.
    pub(super) fn keep_time(&mut self) {
        if !self.time.is_adjustment_due(self.cx.ticks) {
            return;
        }
        let is_alone = self.is_alone();
        let rtt = if is_alone {
            None
        } else {
            self.peers.rtt_worst(self.life.is_gathering()).or_else(|| self.peers.rtt_of_joiners())
        };
        let apart = self.peers.open().filter_map(|remote| remote.time.advantage().apart());
        // With a window, entries that come late are predicted: more delay would gain little.
        let late_percent = match self.cx.config.prediction_frames() {
            0 => self.peers.late_percent(self.cx.now),
            _ => 0,
        };
        self.time.adjust(self.cx.now, apart, || rtt.map(|rtt| (rtt, late_percent)), is_alone);
        let counts = !is_alone && self.membership.mode() == Mode::Member;
        let Session { cx, peers, time, .. } = self;
        let now = cx.now;
        time.watch_pace(cx, counts, || {
            peers.iter_mut().all(|remote| !remote.is_open || remote.presence.hold_meter_mut().is_fast(now))
        });
    }

    /// Counts a tick without a new frame against the peers whose input is missing.
    pub(super) fn note_stalled_tick(&mut self) {
        self.cx.stats.stalled_ticks += 1;
        if self.membership.mode() != Mode::Member || self.time.is_catching_up() {
            return;
        }
        let Session { cx, log, peers, time, membership, .. } = self;
        let (mut tick, mut overdue) = (StalledTick::new(cx, time), Vec::new());
        for stream in log.awaited().map(|track| track.row.stream) {
            let Some(owner) = peers.get_mut(stream.peer) else { continue };
            let is_near = cx.now.since(owner.presence.heard_at()) < SILENCE;
            let waited = tick.count(&mut cx.events, stream.peer, is_near, owner.presence.hold_meter_mut());
            overdue.extend(waited.map(|waited| (stream, waited)));
        }
        tick.end(time);
        for (stream, waited) in overdue {
            membership.take_off(cx.now, stream, waited, cx.config.take_off_after);
        }
    }

    /// Last frame that cannot change any more.
    pub(super) fn sure(&self) -> Frame {
        match self.membership.mode() {
            Mode::Member => self.log.received(),
            _ => self.membership.confirmed(),
        }
    }

    /// Writes the local entries this frame needs, once.
    pub(super) fn emit(&mut self, next: Frame) {
        if self.log.local().is_recorded(next) || self.membership.own_end().is_some() {
            return;
        }
        let before = self.log.record_local(next, self.time.delay());
        self.write_own(before);
        self.update_confirmed();
    }

    /// Decides the controls of the entries written after `before`.
    #[inline]
    pub(super) fn write_own(&mut self, before: Frame) {
        if self.membership.is_at_rest() {
            // No control is due, and no peer waits for one: membership learns of these entries when
            // it is called again.
            self.log.note_news();
        } else {
            self.say_own(before);
        }
    }

    #[inline(never)]
    fn say_own(&mut self, before: Frame) {
        self.sync_held();
        let may_say = self.membership.may_say();
        for number in before.number() + 1..=self.log.local().newest().number() {
            let frame = Frame::new(number);
            let extras = if may_say && self.membership.own_end().is_none() {
                self.sync_held();
                self.membership.extras_due(self.cx.now, frame)
            } else {
                membership::EntryControl::NONE
            };
            self.membership.push_own(frame, extras);
            if extras.is_some() {
                self.log.local_mut().note_change(frame);
                if extras.end {
                    self.life.note_goodbye(self.cx.now);
                }
                self.sync_roster();
            }
        }
    }

    pub(super) fn start_when_ready(&mut self) {
        let ready = |peer: PeerId| {
            if peer == self.cx.local_peer {
                return Some(self.membership.me().incarnation);
            }
            let remote = self.peers.get(peer)?;
            remote.hello.ready_as()
        };
        let Some(rows) = self.life.roster_when(ready) else { return };
        let cohort = self.life.cohort(self.cx.config.match_id);
        self.life.found();
        self.membership.start_together(self.cx.config.match_id, rows);
        self.imply_statuses(cohort);
        self.begin_running();
        self.peers.iter_mut().for_each(|remote| remote.stream.begin_sending(Frame::START));
        let before = self.log.record_neutral(self.time.delay());
        self.write_own(before);
        self.log.local_mut().set_input_delay(self.time.delay());
        let branch = self.membership.lineage().history();
        self.roster_events.begin(self.membership.rows(), self.membership.confirmed(), branch);
        self.update_confirmed();
        self.cx.events.push(SessionEvent::Started);
    }

    /// Notes that the session has a running match from now on.
    pub(super) fn begin_running(&mut self) {
        self.life.run();
        self.time.note_progress(&mut self.cx.events);
        self.log.local_mut().record_anew();
        let rtt = self.peers.rtt_worst(self.life.is_gathering());
        self.time.start_delay(rtt, self.is_alone());
        self.sync_roster();
    }

    /// The next request, in the order in which they must be fulfilled. Drain it after
    /// [`tick`](Session::tick).
    #[inline]
    pub fn poll_request(&mut self) -> Option<Request<'_, I>> {
        let step = self.poll_step()?;
        self.request(step, SimId::Live)
    }

    /// As [`poll_request`](Session::poll_request) in two calls, for a caller that chooses between
    /// sessions: pass the step to [`request`](Session::request) at once.
    #[inline]
    pub fn poll_step(&mut self) -> Option<RequestStep> {
        if self.sim.is_answer_due() {
            self.take_answer();
        }
        if self.import_due() {
            return Some(RequestStep(Due::Import));
        }
        if !self.life.is_running() {
            return None;
        }
        let needs = self.sim_needs();
        let step = self.sim.next_step(self.log.past_mut(), &mut self.audit, &mut self.cx.stats, needs);
        if step.is_none() && self.sim.take_side_done() {
            self.tell_findings();
        }
        step.map(|step| RequestStep(Due::Step(step)))
    }

    #[inline]
    fn sim_needs(&self) -> SimNeeds {
        let exports = self.donor.export_due() && self.membership.may_donate();
        let (sure, confirmed) = (self.sure(), self.membership.confirmed());
        SimNeeds { sure, confirmed, export_at: exports.then_some(Frame::NEVER) }
    }

    /// Hands a [step](Session::poll_step) out, with `sim` as the id of this session's live
    /// simulation. None only if the step is not the latest.
    #[inline]
    pub fn request(&mut self, step: RequestStep, sim: SimId) -> Option<Request<'_, I>> {
        let step = match step.0 {
            Due::Import => {
                let is_repair = self.import_repairs();
                let (offer, state) = self.joiner.complete()?;
                let (frame, accepted) = (offer.join_context.confirmed, self.sim.lend_accepted());
                return Some(Request::Import { sim, frame, state, is_repair, accepted });
            }
            Due::Step(step) => step,
        };
        let (log, audit, confirmed) = (&mut self.log, &self.audit, self.membership.confirmed());
        let look_back = audit.look_back(self.peers.agreed_by_all());
        Some(self.sim.request(step, sim, look_back, |frame, of| match of {
            // Confirmed inputs cannot change, so questions about them need not be remembered.
            SimId::Live if frame > confirmed => log.live_inputs(frame, confirmed),
            _ => log.past().confirmed(frame, audit.present_at(frame)),
        }))
    }

    /// Inputs of a recently confirmed frame, for recordings, spectators and checks. `None` if it is
    /// not confirmed yet or already forgotten.
    pub fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
        let (origin, confirmed) = (self.sim.origin(), self.membership.confirmed());
        let is_kept = self.log.is_kept(frame, confirmed, self.cx.config.lookahead_frames());
        let known = origin < frame && frame <= confirmed && is_kept;
        known.then(|| self.log.past().confirmed(frame, self.audit.present_at(frame)))
    }

    // Rarely needed and long, so it stays out of the code that runs in every tick.
    #[cold]
    fn take_answer(&mut self) {
        match self.sim.take_answer() {
            Some(Answer::Hash { sim: SimId::Live, frame, hash }) => self.take_own_hash(frame, hash),
            Some(Answer::Hash { hash, .. }) => self.take_side_hash(hash),
            Some(Answer::Exported { frame, state }) => self.take_export(frame, &state),
            Some(Answer::Imported { is_accepted }) => {
                let repairs = self.import_repairs();
                self.import_done(is_accepted);
                if !(is_accepted && repairs) {
                    self.sim.set_target(self.log.past().current());
                }
            }
            None => {}
        }
    }

    /// Next packet or message to send, if any is left in this tick.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        if !self.cx.outbox.is_empty() {
            if self.cx.outbox.is_last() {
                self.joiner.note_acknowledged();
            }
            let (to, channel, bytes) = self.cx.outbox.pop()?;
            return Some(Transmit { to, channel, bytes });
        }
        if self.life.is_closed() {
            return None;
        }
        let view = SendView {
            is_running: self.life.is_running(),
            is_gathering: self.life.is_gathering(),
            is_stalled: self.time.stalled_ticks() > 0,
            newest_change: self.log.local().newest_change(),
            input_delay: self.log.local().input_delay(),
        };
        loop {
            let index = self.sender.next_index()?;
            if is_due(&self.cx, &self.peers[index], &view) {
                self.write_packet(index);
                let (to, bytes) = (self.peers[index].peer, self.sender.bytes());
                return Some(Transmit { to, channel: Channel::Unreliable, bytes });
            }
        }
    }

    fn write_packet(&mut self, index: usize) {
        let (have, check) = (self.have_of(index), self.audit.newest());
        let tell = Tell::of(&self.membership, have, self.log.past().current(), check);
        self.sender.write(&mut self.cx, &mut self.peers[index], self.log.local(), &tell);
    }

    /// Whether no peer must be checked, asked or sent anything in this tick.
    pub(super) fn is_quiescent(&self) -> bool {
        self.peers.is_quiescent(self.cx.now) && self.time.stalled_ticks() == 0 && self.membership.is_at_rest()
    }

    pub(super) fn find_quiescence(&mut self) {
        let may_rest = self.life.is_running()
            && self.membership.is_at_rest()
            && !self.joiner.is_busy()
            && self.donor.only_feed()
            && !self.recovery.is_open()
            && !self.is_audit_open();
        self.peers.find_quiescence(may_rest, SILENCE.min(self.cx.config.interrupted_after));
    }

    fn liveness_view(&self) -> LivenessView {
        let is_shown = self.cx.spectates && self.sees_play_go_on();
        LivenessView { is_shown, is_gathering: self.life.is_gathering() }
    }

    pub(super) fn tick_liveness(&mut self) {
        let view = self.liveness_view();
        for change in self.peers.tick_liveness(&mut self.cx, view) {
            self.note_reach(Some(change));
        }
    }

    /// Tells membership which peers are reachable.
    pub(super) fn note_reach(&mut self, change: ReachChange) {
        if let Some((peer, reachable)) = change {
            self.membership.set_reachable(peer, reachable);
        }
    }

    pub(super) fn set_gone(&mut self, index: usize) {
        let view = self.liveness_view();
        let change = self.peers.set_gone(index, &mut self.cx, view);
        self.note_reach(change);
    }

    pub(super) fn set_heard(&mut self, index: usize) {
        let view = self.liveness_view();
        let change = self.peers.set_heard(index, &mut self.cx, view);
        self.note_reach(change);
    }

    /// Whether no other peer is in the match or joining it.
    pub(super) fn is_alone(&self) -> bool {
        self.membership.mode() == Mode::Member && self.peers.is_empty_match(self.life.is_gathering())
    }

    /// Index of a peer, inserted if it was unknown.
    pub(super) fn know(&mut self, peer: PeerId) -> usize {
        let (index, is_new) = self.peers.find_or_insert(peer);
        if is_new {
            self.sender.close();
        }
        index
    }

    /// Forgets a peer without a link that is in no roster: otherwise all that ever fell silent
    /// would stay known, and all that a dishonest peer made up.
    pub(super) fn forget_absent(&mut self) {
        for index in (0..self.peers.len()).rev() {
            let remote = &self.peers[index];
            if remote.is_idle() && !self.membership.is_wary_of(self.cx.now, remote.peer) {
                self.forget_remote(index);
            }
        }
    }

    /// Forgets a peer without a link if it is no longer needed. A rejected one is remembered,
    /// because it must not be taken for a new one.
    pub(super) fn forget_unlinked(&mut self, index: usize) {
        if self.peers[index].hello.handshake() != Handshake::Refused {
            self.forget_remote(index);
        }
    }

    /// Whether a peer has slots, or is in the roster.
    pub(super) fn is_awaited(&self, peer: PeerId) -> bool {
        let mut known = self.membership.known().iter();
        self.life.seat_of(peer).is_some() || known.any(|row| row.stream.peer == peer)
    }

    pub(super) fn forget_remote(&mut self, index: usize) {
        let peer = self.peers[index].peer;
        if !self.is_awaited(peer) {
            self.peers.remove(index);
            self.sender.close();
            self.membership.forget_peer(peer);
        }
    }

    /// Takes checksums of a peer that does not play. Among spectators they show which one has the
    /// right state to send; they decide whether the local state is right only while no member is
    /// heard.
    pub(super) fn take_check_spectating(&mut self, index: usize, frame: Frame, block: CheckBlock) {
        let Peer { peer, watches, .. } = self.peers[index];
        if !self.cx.spectates || !watches || self.membership.relation_of(peer) != Some(Relation::Same) {
            return;
        }
        if self.peers.iter().any(|remote| remote.is_open && remote.presence.is_reachable()) {
            self.peers[index].audit.note_told(RemoteCheck { frame, block });
        } else {
            self.take_check(index, frame, block);
        }
    }

    /// Measurements of a peer, for overlays and logs.
    pub fn peer_stats(&self, peer: PeerId) -> Option<PeerStats> {
        let index = self.peers.index_of(peer)?;
        let remote = &self.peers[index];
        let acked = remote.stream.acked().unwrap_or(self.log.local().newest());
        Some(PeerStats {
            rtt: remote.time.clock().rtt(),
            received_frame: self.have_of(index),
            acked_frame: acked,
            confirmed_frame: remote.stream.confirmed(),
            input_delay_frames: remote.time.delay_frames(),
            frame_advantage_permille: remote
                .time
                .advantage()
                .apart()
                .map(|apart| (apart * 1_000 / FRAME_Q16) as i32),
            unacked_frames: self.log.local().newest().since(acked),
        })
    }
}
