//! Consequences of what a client learns: sealed frames, states, requests to the game.
//!
//! `sealed.rs` calls it after packets and ticks. Absent: time, links, rules of any part.

use gaggle_kit::{Frame, Input};
use gaggle_seal::{ClientEvent, ClientPhase};

use super::states::Checked;
use super::{MERGE_AGE, Sealed};
use crate::event::SessionEvent;
use crate::request::{Due, Request, RequestStep, SimId};
use crate::scheduler::{Answer, SimNeeds, Step};
use crate::snapshots::SNAPSHOTS_EXTRA;
use crate::transfer::STATE_BYTES_MAX;

impl<I: Input> Sealed<I> {
    pub(super) fn follow(&mut self) {
        while let Some(event) = self.client.poll_event() {
            self.take_event(event);
        }
        if !self.is_running || self.client.phase() != ClientPhase::Following {
            return;
        }
        let own = self.local.span();
        if self.settled.take(self.client.log(), &mut self.past, own).is_err() {
            self.enter_anew();
            return;
        }
        self.roster.observe(self.client.log(), &mut self.events);
    }

    fn take_event(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::SnapshotReceived { frame, state, state_hash } => {
                if state.is_empty() && frame > Frame::START {
                    // Only the first state of a match is the one the game begins with.
                    self.enter_anew();
                } else if state.is_empty() {
                    self.begin_at(frame, None);
                } else {
                    self.states.receive(frame, state, state_hash);
                }
            }
            ClientEvent::StateWanted { number, frame } => self.states.want(number, frame),
            ClientEvent::Desync { frame } => {
                let agreed = self.states.agreed_before(frame);
                self.states.note_outvoted();
                self.events.push(SessionEvent::StateOutvoted { frame, agreed });
            }
            ClientEvent::RefereeLost => self.events.push(SessionEvent::TimedOut { peer: self.referee }),
            ClientEvent::Refused { frame } => {
                self.stats.inputs_refused += 1;
                self.share.note_refused();
                let age_max = (MERGE_AGE.get() / self.config.frame_duration().get().max(1)) as u32;
                self.local.note_refused(frame, self.seal.refused, age_max);
                self.events.push(SessionEvent::InputRefused { frame });
            }
            ClientEvent::TermChanged { kept, .. } => self.take_back(kept),
            ClientEvent::Reset => {
                self.events.push(SessionEvent::BranchAbandoned { frame: self.settled.frame() });
                self.states.drop_incoming();
                self.stop();
            }
            ClientEvent::Over { .. } => {
                self.link.is_closed = true;
                self.stop();
            }
        }
    }

    /// Waits for another state: the shown one stays until then.
    fn stop(&mut self) {
        self.is_running = false;
        self.local.close();
    }

    fn enter_anew(&mut self) {
        self.stats.rejoins += 1;
        self.states.drop_incoming();
        self.stop();
        self.client.enter_anew();
    }

    /// The game has the state of this frame.
    fn begin_at(&mut self, frame: Frame, hash: Option<u64>) {
        let is_first = self.stats.frames == 0 && self.sim.origin() == Frame::START;
        self.past.restart(frame);
        self.settled.restart(frame, self.client.log());
        self.local.restore(frame, &mut self.past);
        self.pace.restart();
        self.states.begin_at(frame, hash);
        self.unsaved = Frame::START;
        self.sim.begin_stay(frame);
        self.sim.set_target(frame);
        self.is_running = true;
        if is_first {
            self.events.push(SessionEvent::Started);
        }
        self.roster.restart(frame, self.client.log(), &mut self.events);
    }

    /// Another start of the referee continues from `kept`.
    fn take_back(&mut self, kept: Frame) {
        if !self.is_running || kept >= self.settled.frame() {
            return;
        }
        let frame = self.settled.frame();
        let is_near = self.past.current().since(kept) < self.config.prediction_frames() + SNAPSHOTS_EXTRA;
        // What was caught up with or settled in one burst was simulated without saving it.
        let is_saved = is_near && kept >= self.unsaved;
        if !is_saved || !self.client.log().keeps(kept) || kept < self.sim.origin() {
            self.enter_anew();
            return;
        }
        self.events.push(SessionEvent::FramesTakenBack { kept, sealed: frame });
        self.settled.take_back(kept, self.client.log(), &mut self.past);
        self.local.restore(kept, &mut self.past);
        self.states.take_back(kept);
        self.roster.restart(kept, self.client.log(), &mut self.events);
    }

    /// The next request, in the order in which they must be fulfilled. Drain it after
    /// [`tick`](Sealed::tick).
    pub fn poll_request(&mut self) -> Option<Request<'_, I>> {
        let step = self.poll_step()?;
        self.request(step, SimId::Live)
    }

    /// As [`poll_request`](Sealed::poll_request) in two calls: pass the step to
    /// [`request`](Sealed::request) at once.
    pub fn poll_step(&mut self) -> Option<RequestStep> {
        if self.sim.is_answer_due() {
            self.take_answer();
        }
        if self.states.incoming().is_some() {
            return Some(RequestStep(Due::Import));
        }
        if !self.is_running {
            return None;
        }
        let sealed = self.settled.frame();
        let kept = self.config.prediction_frames() + SNAPSHOTS_EXTRA;
        let needs = SimNeeds {
            // A new referee may take sealed frames back, so states of the newest ones are saved.
            sure: self.client.log().sealed().saturating_sub(kept),
            confirmed: sealed,
            export_at: self.states.export_at(),
        };
        let step = self.sim.next_step(&mut self.past, &mut self.states, &mut self.stats, needs)?;
        if let Step::Advance(frame) = step
            && frame <= needs.sure.min(needs.confirmed)
        {
            self.unsaved = self.unsaved.max(frame);
        }
        Some(RequestStep(Due::Step(step)))
    }

    /// Hands a [step](Sealed::poll_step) out, with `sim` as the id of this session's simulation.
    pub fn request(&mut self, step: RequestStep, sim: SimId) -> Option<Request<'_, I>> {
        let step = match step.0 {
            Due::Import => {
                let incoming = self.states.incoming()?;
                let (frame, is_repair) = (incoming.frame, incoming.is_repair);
                let accepted = self.sim.lend_accepted();
                return Some(Request::Import { sim, frame, state: &incoming.bytes, is_repair, accepted });
            }
            Due::Step(step) => step,
        };
        let (past, settled, own) = (&mut self.past, &mut self.settled, self.local.span());
        Some(self.sim.request(step, sim, Frame::START, |frame, _| settled.inputs(frame, past, own)))
    }

    fn take_answer(&mut self) {
        match self.sim.take_answer() {
            Some(Answer::Hash { frame, hash, .. }) => match self.states.take_hash(frame, hash) {
                Checked::Report(hash) => {
                    let depth = self.past.current().since(self.settled.frame());
                    self.client.report(frame, hash, depth);
                }
                Checked::WrongState => self.enter_anew(),
                Checked::Nothing => {}
            },
            Some(Answer::Exported { frame, state }) => self.take_export(frame, &state),
            Some(Answer::Imported { is_accepted }) => self.take_import(is_accepted),
            None => {}
        }
    }

    fn take_export(&mut self, frame: Frame, state: &[u8]) {
        let wanted = self.states.take_wanted(frame);
        if state.is_empty() {
            self.events.push(SessionEvent::StateNotDecodable { frame });
        } else if state.len() > gaggle_seal::STATE_BYTES_MAX {
            let (bytes, max) = (state.len() as u64, STATE_BYTES_MAX.min(gaggle_seal::STATE_BYTES_MAX as u64));
            let peer = self.client.stream().peer;
            self.events.push(SessionEvent::StateTooLarge { peer, bytes, max });
        } else if let Some((number, hash)) = wanted {
            self.stats.snapshots_sent += 1;
            self.client.offer_state(number, frame, hash, state);
        }
    }

    fn take_import(&mut self, is_accepted: bool) {
        let Some(incoming) = self.states.take_incoming() else { return };
        if !is_accepted || !self.client.log().keeps(incoming.frame) {
            self.enter_anew();
            return;
        }
        self.stats.snapshots_received += 1;
        if incoming.is_repair {
            self.stats.recoveries += 1;
            let (peer, frame) = (self.client.stream().peer, self.settled.frame());
            self.events.push(SessionEvent::DesyncRecovered { peer, frame });
        }
        self.begin_at(incoming.frame, Some(incoming.hash));
        self.follow();
        let now = self.past.current();
        self.sim.begin_tick(now);
    }
}
