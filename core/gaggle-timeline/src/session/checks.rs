//! Comparing confirmed states with the others, and finding out where they part.
//!
//! Only confirmed frames are hashed, after every correction has been simulated: what is not final
//! is never a desync. When hashes differ, an *inquest* simulates the stretch since the last
//! agreement again beside the game, and both sides tell each other every hash of it.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};

use super::Session;
use crate::announce::{FINDINGS_FRAMES_MAX, Findings, Message};
use crate::config::TimelineConfig;
use crate::driver::MESSAGE_STREAM;
use crate::event::{DesyncCause, SessionEvent};
use crate::membership::Relation;
use crate::packet::CheckBlock;
use crate::remote::{Liveness, OwnCheck, Peer, RemoteCheck};
use crate::request::{Request, SimId};
use crate::roster::RosterEntry;

/// Own hashes kept to compare with: others may be this many checks behind or ahead.
const OWN_CHECKS: usize = 4;
/// So long the other side has to tell what it found.
const INQUEST_PATIENCE: Micros = Micros::from_secs(8);
/// Frames an inquest simulates again in one tick: the game must stay smooth.
const INQUEST_FRAMES_PER_TICK: u32 = 8;

/// Own hashes, and what is due.
#[derive(Debug)]
pub(super) struct Checks {
    interval: u32,
    /// Hash of all confirmed inputs.
    inputs: u64,
    /// That hash and who was present, by frame: those who come in are told the one, and what lies
    /// back a little is simulated with the other.
    past: Vec<(Frame, u64, SlotSet)>,
    /// That hash at the last frames to check.
    inputs_at: [(Frame, u64); OWN_CHECKS],
    /// The next frame whose state must be hashed.
    next: Frame,
    own: [Option<OwnCheck>; OWN_CHECKS],
    newest: Option<OwnCheck>,
    keep: Option<Frame>,
    /// Where we began, and the hash of the inputs up to there.
    origin: Frame,
    origin_inputs: u64,
    /// Where what was set aside begins: with the state we began with, or the one that replaced a
    /// wrong one.
    base: Frame,
    inquest: Option<Audit>,
    /// Frames an inquest may still simulate in this tick.
    inquest_budget: u32,
    scratch: Vec<u8>,
}

/// A stretch being simulated again.
#[derive(Debug)]
struct Audit {
    with: PeerId,
    from: Frame,
    to: Frame,
    live_hash: u32,
    hashes: Vec<u32>,
    /// What everybody did in it, as far as it was still held when it was opened: by the time the
    /// other side has told what it found, others' entries may lie where these were.
    streams: Vec<(PeerId, u32)>,
    loaded: bool,
    frames_left: u32,
    /// The current frame was simulated and is to be hashed.
    hash_next: bool,
    told: bool,
    opened_at: Micros,
}

/// What an inquest wants next.
#[derive(Debug, Clone, Copy)]
pub(super) enum InquestStep {
    Load(Frame),
    Advance(Frame),
    Hash(Frame),
}

impl Checks {
    pub(super) fn new(config: &TimelineConfig, table_frames: usize) -> Self {
        Checks {
            interval: config.checksum_interval_frames,
            inputs: 0,
            past: vec![(Frame::NEVER, 0, SlotSet::EMPTY); table_frames],
            inputs_at: [(Frame::START, 0); OWN_CHECKS],
            next: Frame::new(config.checksum_interval_frames),
            own: [None; OWN_CHECKS],
            newest: None,
            keep: (config.checksum_interval_frames > 0).then_some(Frame::START),
            origin: Frame::START,
            origin_inputs: 0,
            base: Frame::START,
            inquest: None,
            inquest_budget: 0,
            scratch: Vec::new(),
        }
    }

    /// A tick begins.
    pub(super) fn begin_tick(&mut self) {
        self.inquest_budget = INQUEST_FRAMES_PER_TICK;
    }

    /// A frame's inputs are final. An empty slot's cell may hold anything: it is left out.
    #[inline]
    pub(super) fn confirm<I: Input>(&mut self, frame: Frame, row: &[I], present: SlotSet) {
        for slot in present {
            self.inputs = mix(self.inputs, &row[slot.index()], &mut self.scratch);
        }
        let place = frame.number() as usize & (self.past.len() - 1);
        self.past[place] = (frame, self.inputs, present);
        if self.is_check_frame(frame) {
            self.inputs_at[self.place(frame)] = (frame, self.inputs);
        }
    }

    /// Hash of all inputs up to a confirmed frame that is not too long ago.
    pub(super) fn inputs_at(&self, frame: Frame) -> Option<u64> {
        let (at, hash, _) = self.past[frame.number() as usize & (self.past.len() - 1)];
        match frame {
            frame if at == frame => Some(hash),
            Frame::START => Some(0),
            frame => (frame == self.origin).then_some(self.origin_inputs),
        }
    }

    /// Who was present in a confirmed frame that is not too long ago.
    pub(super) fn present_at(&self, frame: Frame) -> SlotSet {
        let (at, _, present) = self.past[frame.number() as usize & (self.past.len() - 1)];
        if at == frame { present } else { SlotSet::EMPTY }
    }

    /// Begins anew with the state of `frame`, to which inputs with this hash led.
    pub(super) fn restart(&mut self, frame: Frame, inputs: u64) {
        self.inputs = inputs;
        self.origin = frame;
        self.origin_inputs = inputs;
        self.base = frame;
        self.past.fill((Frame::NEVER, 0, SlotSet::EMPTY));
        self.inputs_at = [(Frame::START, 0); OWN_CHECKS];
        let interval = self.interval.max(1);
        self.next = Frame::new((frame.number() / interval + 1).saturating_mul(interval));
        self.own = [None; OWN_CHECKS];
        self.newest = None;
        self.keep = Some(frame);
        self.inquest = None;
    }

    /// States after this frame were wrong: they are hashed anew. The last frame a wrong hash may
    /// have been told of.
    pub(super) fn forget_after(&mut self, frame: Frame) -> Frame {
        let through = self.newest.map_or(frame, |own| own.frame.max(frame));
        self.base = frame;
        let interval = self.interval.max(1);
        self.next = Frame::new((frame.number() / interval + 1).saturating_mul(interval));
        self.own = [None; OWN_CHECKS];
        self.newest = None;
        self.keep = Some(frame);
        self.inquest = None;
        through
    }

    /// The last frame up to this one whose state is set aside, as far as nothing since was compared
    /// with anybody: frames that are compared are, and the one what is set aside begins with.
    pub(super) fn look_back(&self, agreed: Frame) -> Frame {
        let compared = agreed.number() / self.interval.max(1) * self.interval.max(1);
        Frame::new(compared).max(self.base)
    }

    /// Whether this state is to be set aside.
    pub(super) fn keeps(&self, frame: Frame) -> bool {
        self.keep == Some(frame)
    }

    #[inline]
    pub(super) fn is_check_frame(&self, frame: Frame) -> bool {
        // Dividing is the slowest thing in a calm tick, and nearly all frames asked about are near
        // the next one to check.
        let near = self.next.number().abs_diff(frame.number());
        match self.interval {
            0 => false,
            interval if near < interval => near == 0,
            interval => frame.number().is_multiple_of(interval),
        }
    }

    /// A frame that should be hashed, once everything up to `finished` is final and simulated.
    #[inline]
    pub(super) fn hash_due(&self, finished: Frame) -> Option<Frame> {
        (self.interval > 0 && self.next <= finished).then_some(self.next)
    }

    /// Whether the state we began with, or that replaced a wrong one, is to be set aside now.
    #[inline]
    pub(super) fn keep_base(&mut self, current: Frame) -> bool {
        let base = self.base;
        self.keep.take_if(|frame| *frame == current && *frame == base).is_some()
    }

    /// A state to be set aside that was saved to be hashed.
    #[inline]
    pub(super) fn keep_due(&mut self) -> Option<Frame> {
        let base = self.base;
        // That one is saved with the next tick.
        self.keep.take_if(|frame| *frame != base)
    }

    /// The newest own hashes.
    pub(super) fn newest(&self) -> Option<OwnCheck> {
        self.newest
    }

    fn own(&self, frame: Frame) -> Option<OwnCheck> {
        self.own[self.place(frame)].filter(|own| own.frame == frame)
    }

    fn place(&self, frame: Frame) -> usize {
        (frame.number() / self.interval.max(1)) as usize % OWN_CHECKS
    }
}

impl<I: Input> Session<I> {
    /// Whether a state hash of every other peer in the match was compared with ours since that peer
    /// came in. False for a peer that is alone: nothing was compared.
    pub fn is_compared(&self) -> bool {
        let mut others = self.remotes.iter().filter(|remote| remote.is_open).peekable();
        others.peek().is_some() && others.all(|remote| remote.is_compared)
    }

    /// The last frame whose hashes everybody had equal.
    pub(super) fn agreed_by_all(&self) -> Frame {
        self.remotes
            .iter()
            .filter(|remote| remote.is_open)
            .map(|remote| remote.agreed)
            .min()
            .unwrap_or(Frame::START)
    }

    /// The last frame whose hashes everybody had equal who is here, or that we have hashed if we
    /// are alone.
    pub(super) fn agreed_lately(&self) -> Frame {
        match self.remotes.iter().any(|remote| remote.is_open) {
            true => self.agreed_by_all(),
            false => self.checks.newest().map_or(Frame::START, |own| own.frame),
        }
    }

    pub(super) fn take_own_hash(&mut self, frame: Frame, hash: Option<u64>) {
        let place = self.checks.place(frame);
        self.checks.next = frame.saturating_add(self.checks.interval);
        let (Some(hash), (at, inputs)) = (hash, self.checks.inputs_at[place]) else { return };
        if at != frame {
            return;
        }
        let own = OwnCheck { frame, state_hash: fold(hash), inputs_hash: fold(inputs) };
        self.checks.own[place] = Some(own);
        self.checks.newest = Some(own);
        self.checks.keep = Some(frame);
        for index in 0..self.remotes.len() {
            for nth in 0..2 {
                let waiting = self.remotes[index].checks[nth];
                if let Some(check) = waiting.filter(|check| check.frame <= frame) {
                    self.remotes[index].checks[nth] = None;
                    self.compare(index, check);
                }
            }
        }
    }

    pub(super) fn take_check(&mut self, index: usize, frame: Frame, block: CheckBlock) {
        let check = RemoteCheck { frame, block };
        if !self.checks.is_check_frame(frame) || frame == Frame::START {
            return;
        }
        if self.remotes[index].told_check(frame).is_some() {
            // Told again, in case it had been lost: what came of it is known.
            return;
        }
        self.remotes[index].note_told_check(check);
        if frame < self.checks.next {
            self.compare(index, check);
        } else {
            // Ours is still to come. Two can be under way; a third replaces the older.
            let waiting = &mut self.remotes[index].checks;
            let place = waiting.iter().position(Option::is_none).unwrap_or(0);
            waiting[place] = Some(check);
        }
    }

    fn compare(&mut self, index: usize, check: RemoteCheck) {
        let (Some(own), remote) = (self.checks.own(check.frame), &mut self.remotes[index]) else { return };
        if remote.differs || check.frame <= remote.agreed {
            return;
        }
        remote.is_compared = true;
        let peer = remote.peer;
        if (own.inputs_hash, own.state_hash) != (check.block.inputs_hash, check.block.state_hash) {
            self.quiescent_until = Micros::ZERO;
        }
        if own.inputs_hash != check.block.inputs_hash {
            remote.differs = true;
            remote.difference = Some(own).filter(|_| !self.spectates);
            self.recovery.note_difference(check.frame, self.now);
            self.events.push(SessionEvent::InputsDiverged { peer, frame: check.frame, suspect: None });
        } else if own.state_hash != check.block.state_hash {
            remote.differs = true;
            // Whoever watches takes what those have who play, and keeps nobody busy with the
            // reason.
            remote.difference = Some(own).filter(|_| !self.spectates);
            self.recovery.note_difference(check.frame, self.now);
            self.tell_desync(index, own, check.block.state_hash);
        } else {
            remote.agreed = check.frame;
        }
    }

    fn tell_desync(&mut self, index: usize, own: OwnCheck, theirs: u32) {
        let remote = &mut self.remotes[index];
        remote.differed_at = own.frame;
        let (peer, frame, agreed) = (remote.peer, own.frame, remote.agreed);
        self.events.push(SessionEvent::DesyncDetected {
            peer,
            frame,
            local: own.state_hash,
            remote: theirs,
            agreed,
        });
    }

    /// Our own hashes of a frame that was compared lately.
    pub(super) fn own_check(&self, frame: Frame) -> Option<OwnCheck> {
        self.checks.own(frame)
    }

    /// Whether a difference is still being looked into.
    pub(super) fn is_inquest_open(&self) -> bool {
        self.checks.inquest.is_some() || self.remotes.iter().any(|remote| remote.difference.is_some())
    }

    /// Looks into one difference after the other, and into none for ever.
    pub(super) fn watch_inquest(&mut self) {
        if let Some(inquest) = &self.checks.inquest {
            let with = self.remotes.iter().find(|remote| remote.peer == inquest.with);
            let there = with.is_some_and(|remote| remote.is_trusted() && remote.liveness != Liveness::Gone);
            if there && self.now.since(inquest.opened_at) < INQUEST_PATIENCE {
                return;
            }
            let peer = inquest.with;
            self.checks.inquest = None;
            self.events.push(SessionEvent::DesyncLocated { peer, cause: DesyncCause::Unknown });
        }
        let next = self.remotes.iter().position(|remote| remote.difference.is_some() && remote.is_trusted());
        if let Some(index) = next
            && let Some(own) = self.remotes[index].difference.take()
        {
            self.open_inquest(index, own);
        }
    }

    fn open_inquest(&mut self, index: usize, own: OwnCheck) {
        let remote = &self.remotes[index];
        // A peer that joined or was repaired agrees from a frame on whose state only it has set
        // aside.
        let (from, to) = (self.checks.look_back(remote.agreed), own.frame);
        if from >= to {
            return;
        }
        let reachable = self.is_kept(from.next()) && to.since(from) <= FINDINGS_FRAMES_MAX;
        let (with, from) = (remote.peer, if reachable { from } else { to.previous() });
        self.checks.inquest = Some(Audit {
            with,
            from,
            to,
            live_hash: own.state_hash,
            hashes: Vec::new(),
            streams: self.stream_hashes(from, to),
            // What cannot be reached cannot be simulated: only the inputs are compared.
            loaded: !reachable,
            frames_left: if reachable { to.since(from) } else { 0 },
            hash_next: false,
            told: false,
            opened_at: self.now,
        });
    }

    /// The next step of a running inquest, a few per tick.
    pub(super) fn inquest_step(&mut self) -> Option<InquestStep> {
        let budget = &mut self.checks.inquest_budget;
        let inquest = self.checks.inquest.as_mut()?;
        if !inquest.loaded {
            inquest.loaded = true;
            return Some(InquestStep::Load(inquest.from));
        }
        let done = inquest.hashes.len() as u32;
        let frame = inquest.from.saturating_add(done + 1);
        if inquest.hash_next {
            inquest.hash_next = false;
            return Some(InquestStep::Hash(frame));
        }
        if inquest.frames_left > 0 {
            *budget = budget.checked_sub(1)?;
            inquest.frames_left -= 1;
            inquest.hash_next = true;
            return Some(InquestStep::Advance(frame));
        }
        if !inquest.told {
            self.tell_findings();
        }
        None
    }

    pub(super) fn inquest_request(&mut self, step: InquestStep) -> Request<'_, I> {
        match step {
            InquestStep::Load(frame) => Request::Load { sim: SimId::Audit, frame },
            InquestStep::Advance(frame) => {
                Request::Advance { sim: SimId::Audit, inputs: self.past_inputs(frame) }
            }
            InquestStep::Hash(frame) => self.ask_inquest_hash(frame),
        }
    }

    pub(super) fn take_inquest_hash(&mut self, _: Frame, hash: Option<u64>) {
        if let Some(inquest) = &mut self.checks.inquest {
            match hash {
                Some(hash) => inquest.hashes.push(fold(hash)),
                // Whoever holds the state could not answer: what is left are the inputs.
                None => {
                    inquest.hashes.clear();
                    inquest.frames_left = 0;
                }
            }
        }
    }

    fn tell_findings(&mut self) {
        let Some(inquest) = &self.checks.inquest else { return };
        let (from, to, with) = (inquest.from, inquest.to, inquest.with);
        let complete = inquest.hashes.len() as u32 == to.since(from);
        let findings = Findings {
            from,
            to,
            live_hash: inquest.live_hash,
            hashes: if complete { inquest.hashes.clone() } else { Vec::new() },
            streams: inquest.streams.clone(),
        };
        Message::Findings(findings).encode(self.outbox.letter(with, MESSAGE_STREAM));
        if let Some(inquest) = &mut self.checks.inquest {
            inquest.told = true;
        }
        self.conclude();
    }

    pub(super) fn take_findings(&mut self, index: usize, findings: Findings) {
        let Peer { peer, is_open, .. } = self.remotes[index];
        if self.membership.relation_of(peer) != Some(Relation::Same) || !is_open {
            // Elsewhere other inputs count; and whoever does not play accuses nobody.
            return;
        }
        let Peer { differs, agreed, differed_at, .. } = self.remotes[index];
        // What was forgotten since it was told is no other difference: the next check tells whether
        // there is one.
        let is_new = !differs && findings.to > agreed.max(differed_at);
        let own = self.checks.own(findings.to).filter(|own| is_new && self.is_apart(own, &findings));
        if let Some(own) = own {
            // It noticed first: our hashes reached it, its own did not reach us.
            self.remotes[index].differs = true;
            self.remotes[index].difference = Some(own);
            self.recovery.note_difference(findings.to, self.now);
            if own.state_hash != findings.live_hash {
                self.tell_desync(index, own, findings.live_hash);
            }
        }
        self.remotes[index].findings = Some(findings);
        self.conclude();
    }

    /// Whether somebody found another state or other inputs than ours. What it found may be late:
    /// whoever was made good meanwhile has the same.
    fn is_apart(&self, own: &OwnCheck, findings: &Findings) -> bool {
        let streams = || self.stream_hashes(findings.from, findings.to);
        own.state_hash != findings.live_hash || told_differently(&streams(), &findings.streams).is_some()
    }

    /// Once both sides have told what they found.
    fn conclude(&mut self) {
        let Some(inquest) = self.checks.inquest.take_if(|inquest| inquest.told) else { return };
        let peer = inquest.with;
        let told = self.remotes.iter_mut().find(|remote| remote.peer == peer);
        let Some(theirs) = told.and_then(|remote| remote.findings.take_if(|found| found.to == inquest.to))
        else {
            self.checks.inquest = Some(inquest);
            return;
        };
        if theirs.from == inquest.from
            && let Some(liar) = told_differently(&inquest.streams, &theirs.streams)
        {
            let frame = inquest.to;
            self.events.push(SessionEvent::InputsDiverged { peer, frame, suspect: Some(liar) });
            self.accuse(peer, liar, frame);
            return;
        }
        let cause = cause(&inquest, &theirs);
        let again = inquest.hashes.last().copied();
        let both_changed = again != Some(inquest.live_hash) && again != Some(theirs.live_hash);
        self.recovery.note_cause(peer, cause, both_changed);
        self.events.push(SessionEvent::DesyncLocated { peer, cause });
    }

    /// For everybody who was there all the time, a hash of what it did after `from` up to `to`, in
    /// the order of peers. Of those who came or went meanwhile the two sides may have forgotten
    /// different parts.
    fn stream_hashes(&self, from: Frame, to: Frame) -> Vec<(PeerId, u32)> {
        if !self.is_kept(from.next()) {
            return Vec::new();
        }
        let mut scratch = Vec::new();
        let stayed = |row: &&RosterEntry| row.first_frame <= from.next() && row.last_frame >= to;
        let mut hash_of = |row: &RosterEntry| {
            let mut hash = 0;
            for frame in (from.number() + 1..=to.number()).map(Frame::new) {
                for slot in row.slots {
                    hash = mix(hash, &self.ledger.cell(frame, slot), &mut scratch);
                }
            }
            (row.stream.peer, fold(hash))
        };
        let rows = self.membership.rows().iter().filter(stayed);
        let mut streams: Vec<(PeerId, u32)> = rows.map(&mut hash_of).collect();
        gaggle_kit::insertion_sort(&mut streams, |stream| *stream);
        streams
    }
}

/// Of whom two machines hold different inputs.
fn told_differently(ours: &[(PeerId, u32)], theirs: &[(PeerId, u32)]) -> Option<PeerId> {
    let differs = |(who, hash): &&(PeerId, u32)| theirs.iter().any(|(w, h)| w == who && h != hash);
    ours.iter().find(differs).map(|(who, _)| *who)
}

fn cause(ours: &Audit, theirs: &Findings) -> DesyncCause {
    if ours.hashes.is_empty() || theirs.hashes.is_empty() {
        return DesyncCause::Unknown;
    }
    let hash_at = |from: Frame, hashes: &[u32], frame: Frame| {
        let nth = frame.number().checked_sub(from.number() + 1)?;
        hashes.get(nth as usize).copied()
    };
    let first = ours.from.max(theirs.from).number() + 1;
    for frame in (first..=ours.to.number()).map(Frame::new) {
        let (our_hash, their_hash) =
            (hash_at(ours.from, &ours.hashes, frame), hash_at(theirs.from, &theirs.hashes, frame));
        if our_hash != their_hash {
            return DesyncCause::NondeterministicTick { frame };
        }
    }
    let replayed = ours.hashes.last().copied();
    match () {
        () if replayed != Some(ours.live_hash) => DesyncCause::LocalStateCorrupted { frame: ours.to },
        () if replayed != Some(theirs.live_hash) => DesyncCause::RemoteStateCorrupted { frame: ours.to },
        () => DesyncCause::Unknown,
    }
}

/// Adds one input to a hash. `scratch` is grown once.
fn mix<I: Input>(hash: u64, input: &I, scratch: &mut Vec<u8>) -> u64 {
    if I::SIZE <= 8 {
        // Nearly every game's, and every frame's of everybody.
        let mut word = [0; 8];
        input.write(&mut word[..I::SIZE]);
        return if I::SIZE == 0 { hash } else { mix_word(hash, word) };
    }
    scratch.resize(I::SIZE.next_multiple_of(8), 0);
    input.write(&mut scratch[..I::SIZE]);
    scratch
        .chunks_exact(8)
        .fold(hash, |hash, chunk| mix_word(hash, chunk.try_into().expect("chunks of eight")))
}

fn mix_word(hash: u64, word: [u8; 8]) -> u64 {
    (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Hashes travel in 32 bits.
fn fold(hash: u64) -> u32 {
    (hash >> 32) as u32 ^ hash as u32
}
