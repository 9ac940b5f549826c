//! Checksums of confirmed frames, and the audit of one difference at a time.
//!
//! `Session` feeds it with confirmed inputs, checksums and findings. An audit resimulates the
//! frames since the last agreement beside the game, and both peers exchange every checksum of them.
//! Absent: transfers, links, why peers are in the roster.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};

use super::peer_audit::{Difference, OwnCheck, PeerAudit, RemoteCheck};
use crate::announce::{FINDINGS_FRAMES_MAX, Findings};
use crate::config::TimelineConfig;
use crate::event::DesyncCause;
use crate::input_log::InputLog;
use crate::packet::CheckBlock;
use crate::roster::RosterEntry;
use crate::scheduler::StateSchedule;

/// Own checksums kept for comparison: other peers may be this many checks behind or ahead.
const OWN_CHECKS: usize = 4;
/// Time the other peer has to send its findings.
const AUDIT_TIMEOUT: Micros = Micros::from_secs(8);

/// Own checksums, the frames to hash next, and the difference under audit.
#[derive(Debug)]
pub(crate) struct DesyncAudit {
    interval: u32,
    /// Hash of all confirmed inputs so far.
    inputs: u64,
    /// Input hash and present slots by frame: joiners are sent the hash, and resimulation needs the
    /// slots.
    past: Vec<(Frame, u64, SlotSet)>,
    /// Input hash at the last frames that were compared.
    inputs_at: [(Frame, u64); OWN_CHECKS],
    /// Next frame whose state must be hashed.
    next: Frame,
    own: [Option<OwnCheck>; OWN_CHECKS],
    newest: Option<OwnCheck>,
    keep: Option<Frame>,
    /// First frame of this peer's stay, and the hash of all inputs up to it.
    origin: Frame,
    origin_inputs: u64,
    /// Frame of the oldest retained state: the one this peer began with, or one that replaced a
    /// wrong state.
    base: Frame,
    audit: Option<Audit>,
    scratch: Vec<u8>,
}

/// Result of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Conclusion {
    /// The two peers hold different inputs of `suspect`.
    Inputs { with: PeerId, suspect: PeerId, frame: Frame },
    /// Inputs are equal. If both states were changed, neither is right.
    Cause { with: PeerId, cause: DesyncCause, both_changed: bool },
}

/// A range of frames that is resimulated.
#[derive(Debug)]
struct Audit {
    with: PeerId,
    from: Frame,
    to: Frame,
    live_hash: u32,
    hashes: Vec<u32>,
    /// Hashes of all peers' inputs in the range, computed when the audit was opened: by the time
    /// the other peer has sent its findings, newer entries may have replaced the inputs.
    streams: Vec<(PeerId, u32)>,
    is_told: bool,
    opened_at: Micros,
}

impl DesyncAudit {
    pub(crate) fn new(config: &TimelineConfig, table_frames: usize) -> Self {
        DesyncAudit {
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
            audit: None,
            scratch: Vec::new(),
        }
    }

    /// Takes a frame's final inputs. Inputs of empty slots are arbitrary and not hashed.
    #[inline]
    pub(crate) fn confirm<I: Input>(&mut self, frame: Frame, row: &[I], present: SlotSet) {
        for slot in present {
            self.inputs = mix(self.inputs, &row[slot.index()], &mut self.scratch);
        }
        let place = frame.number() as usize & (self.past.len() - 1);
        self.past[place] = (frame, self.inputs, present);
        if self.is_check_frame(frame) {
            self.inputs_at[self.place(frame)] = (frame, self.inputs);
        }
    }

    /// Hash of all inputs up to a recently confirmed frame.
    pub(crate) fn inputs_at(&self, frame: Frame) -> Option<u64> {
        let (at, hash, _) = self.past[frame.number() as usize & (self.past.len() - 1)];
        match frame {
            frame if at == frame => Some(hash),
            Frame::START => Some(0),
            frame => (frame == self.origin).then_some(self.origin_inputs),
        }
    }

    /// Slots present in a recently confirmed frame.
    pub(crate) fn present_at(&self, frame: Frame) -> SlotSet {
        let (at, _, present) = self.past[frame.number() as usize & (self.past.len() - 1)];
        if at == frame { present } else { SlotSet::EMPTY }
    }

    /// Restarts with the state of `frame`; `inputs` is the hash of all inputs up to it.
    pub(crate) fn restart(&mut self, frame: Frame, inputs: u64) {
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
        self.audit = None;
    }

    /// States after this frame were wrong and are hashed again. Returns the last frame whose wrong
    /// checksum may have been sent.
    pub(crate) fn forget_after(&mut self, frame: Frame) -> Frame {
        let through = self.newest.map_or(frame, |own| own.frame.max(frame));
        self.base = frame;
        let interval = self.interval.max(1);
        self.next = Frame::new((frame.number() / interval + 1).saturating_mul(interval));
        self.own = [None; OWN_CHECKS];
        self.newest = None;
        self.keep = Some(frame);
        self.audit = None;
        through
    }

    /// Last frame up to `agreed` whose state is retained, if nothing later was compared: compared
    /// frames are retained, and so is the first one.
    pub(crate) fn look_back(&self, agreed: Frame) -> Frame {
        let compared = agreed.number() / self.interval.max(1) * self.interval.max(1);
        Frame::new(compared).max(self.base)
    }

    /// The newest own checksums.
    pub(crate) fn newest(&self) -> Option<OwnCheck> {
        self.newest
    }

    /// Own checksums of a frame that was compared lately.
    pub(crate) fn own(&self, frame: Frame) -> Option<OwnCheck> {
        self.own[self.place(frame)].filter(|own| own.frame == frame)
    }

    fn place(&self, frame: Frame) -> usize {
        (frame.number() / self.interval.max(1)) as usize % OWN_CHECKS
    }

    /// Takes the checksum of an own state, so that remote ones that waited for it can be compared.
    pub(crate) fn take_own_hash(&mut self, frame: Frame, hash: Option<u64>) -> bool {
        let place = self.place(frame);
        self.next = frame.saturating_add(self.interval);
        let (Some(hash), (at, inputs)) = (hash, self.inputs_at[place]) else { return false };
        if at != frame {
            return false;
        }
        let own = OwnCheck { frame, state_hash: fold(hash), inputs_hash: fold(inputs) };
        self.own[place] = Some(own);
        self.newest = Some(own);
        self.keep = Some(frame);
        true
    }

    /// Takes a peer's checksums of a frame.
    pub(crate) fn handle_checksum(
        &self,
        audit: &mut PeerAudit,
        peer: PeerId,
        (frame, block): (Frame, CheckBlock),
        is_audited: bool,
    ) -> Option<Difference> {
        let check = RemoteCheck { frame, block };
        // The check is repeated in case it was lost: this one was compared already.
        if !self.is_check_frame(frame) || frame == Frame::START || audit.told(frame).is_some() {
            return None;
        }
        audit.note_told(check);
        if frame >= self.next {
            audit.keep_waiting(check);
            return None;
        }
        self.compare(audit, peer, check, is_audited)
    }

    /// Compares a peer's checksums with the own ones of the same frame.
    pub(crate) fn compare(
        &self,
        audit: &mut PeerAudit,
        peer: PeerId,
        check: RemoteCheck,
        is_audited: bool,
    ) -> Option<Difference> {
        audit.compare(peer, self.own(check.frame)?, check, is_audited)
    }

    /// Whether an audit is running.
    pub(crate) fn is_open(&self) -> bool {
        self.audit.is_some()
    }

    /// Gives up an audit whose other peer is not `there` any more or has not answered in time.
    /// Returns that peer.
    #[must_use]
    pub(crate) fn tick(&mut self, now: Micros, there: impl Fn(PeerId) -> bool) -> Option<PeerId> {
        let is_over = |audit: &mut Audit| !there(audit.with) || now.since(audit.opened_at) >= AUDIT_TIMEOUT;
        self.audit.take_if(is_over).map(|audit| audit.with)
    }

    /// Opens the audit of a difference, and determines the frames to resimulate. Inputs that are
    /// not `kept` any more are known to be equal; `streams` hashes the others.
    #[must_use]
    pub(crate) fn open(
        &mut self,
        now: Micros,
        (with, theirs): (PeerId, &PeerAudit),
        own: OwnCheck,
        kept: impl Fn(Frame) -> bool,
        streams: impl Fn(Frame, Frame) -> Vec<(PeerId, u32)>,
    ) -> Option<(Frame, Frame)> {
        // A peer that joined or recovered agrees from a frame on whose state only it has retained.
        let (from, to) = (self.look_back(theirs.agreed()), own.frame);
        if from >= to {
            return None;
        }
        let reachable = kept(from.next()) && to.since(from) <= FINDINGS_FRAMES_MAX;
        let from = if reachable { from } else { to.previous() };
        self.audit = Some(Audit {
            with,
            from,
            to,
            live_hash: own.state_hash,
            hashes: Vec::new(),
            streams: streams(from, to),
            is_told: false,
            opened_at: now,
        });
        Some((from, if reachable { to } else { from }))
    }

    /// Takes the hash of a resimulated frame. False if there is none, and only the inputs are
    /// compared.
    #[must_use]
    pub(crate) fn take_side_hash(&mut self, hash: Option<u64>) -> bool {
        let Some(audit) = &mut self.audit else { return true };
        match hash {
            Some(hash) => audit.hashes.push(fold(hash)),
            None => audit.hashes.clear(),
        }
        hash.is_some()
    }

    /// Findings to send, once the range was resimulated.
    #[must_use]
    pub(crate) fn findings(&mut self) -> Option<(PeerId, Findings)> {
        let audit = self.audit.as_mut()?;
        audit.is_told = true;
        let is_complete = audit.hashes.len() as u32 == audit.to.since(audit.from);
        let findings = Findings {
            from: audit.from,
            to: audit.to,
            live_hash: audit.live_hash,
            hashes: if is_complete { audit.hashes.clone() } else { Vec::new() },
            streams: audit.streams.clone(),
        };
        Some((audit.with, findings))
    }

    /// Takes the other peer's findings. They may report a difference this peer has not noticed yet.
    /// Late findings of a peer that recovered meanwhile are ignored.
    pub(crate) fn handle_findings(
        &self,
        audit: &mut PeerAudit,
        peer: PeerId,
        findings: Findings,
        streams: impl Fn(Frame, Frame) -> Vec<(PeerId, u32)>,
    ) -> Option<Difference> {
        let own = self.own(findings.to).filter(|own| {
            let ours = || streams(findings.from, findings.to);
            let is_apart = || {
                own.state_hash != findings.live_hash || told_differently(&ours(), &findings.streams).is_some()
            };
            audit.is_news(findings.to) && is_apart()
        });
        let difference = own.map(|own| audit.note_noticed(peer, own, findings.live_hash));
        audit.set_findings(findings);
        difference
    }

    /// Peer whose findings the audit waits for.
    pub(crate) fn awaited(&self) -> Option<PeerId> {
        self.audit.as_ref().filter(|audit| audit.is_told).map(|audit| audit.with)
    }

    /// Concludes once both peers have sent findings.
    pub(crate) fn conclude(&mut self, theirs: &mut PeerAudit) -> Option<Conclusion> {
        let theirs = theirs.take_findings(self.audit.as_ref()?.to)?;
        let audit = self.audit.take()?;
        let with = audit.with;
        if theirs.from == audit.from
            && let Some(suspect) = told_differently(&audit.streams, &theirs.streams)
        {
            return Some(Conclusion::Inputs { with, suspect, frame: audit.to });
        }
        let again = audit.hashes.last().copied();
        let both_changed = again != Some(audit.live_hash) && again != Some(theirs.live_hash);
        Some(Conclusion::Cause { with, cause: cause(&audit, &theirs), both_changed })
    }
}

impl StateSchedule for DesyncAudit {
    /// Whether the state of this frame must be retained.
    fn keeps(&self, frame: Frame) -> bool {
        self.keep == Some(frame)
    }

    #[inline]
    fn is_check_frame(&self, frame: Frame) -> bool {
        // Division is the slowest operation of a quiescent tick, and nearly all frames asked about
        // are close to the next check.
        let near = self.next.number().abs_diff(frame.number());
        match self.interval {
            0 => false,
            interval if near < interval => near == 0,
            interval => frame.number().is_multiple_of(interval),
        }
    }

    /// Frame to hash, once everything up to `finished` is final and simulated.
    #[inline]
    fn hash_due(&self, finished: Frame) -> Option<Frame> {
        (self.interval > 0 && self.next <= finished).then_some(self.next)
    }

    /// Whether to retain now the state this peer began with, or the one that replaced a wrong one.
    #[inline]
    fn keep_base(&mut self, current: Frame) -> bool {
        let base = self.base;
        self.keep.take_if(|frame| *frame == current && *frame == base).is_some()
    }

    /// Frame of a state that was saved to be hashed and must also be retained.
    #[inline]
    fn keep_due(&mut self) -> Option<Frame> {
        let base = self.base;
        // The base state is saved with the next tick.
        self.keep.take_if(|frame| *frame != base)
    }
}

/// For each of these peers that was present in all frames after `from` up to `to`, a hash of its
/// inputs, in the order of peers. Inputs of peers that joined or left in between are left out,
/// because each side may have dropped different parts of them.
pub(crate) fn stream_hashes<'a, I: Input>(
    log: &InputLog<I>,
    rows: impl Iterator<Item = &'a RosterEntry>,
    from: Frame,
    to: Frame,
) -> Vec<(PeerId, u32)> {
    let mut scratch = Vec::new();
    let mut hash_of = |row: &RosterEntry| {
        let mut hash = 0;
        for frame in (from.number() + 1..=to.number()).map(Frame::new) {
            for slot in row.slots {
                hash = mix(hash, &log.past().cell(frame, slot), &mut scratch);
            }
        }
        (row.stream.peer, fold(hash))
    };
    let stayed = rows.filter(|row| row.first_frame <= from.next() && row.last_frame >= to);
    let mut streams: Vec<(PeerId, u32)> = stayed.map(&mut hash_of).collect();
    gaggle_kit::insertion_sort(&mut streams, |stream| *stream);
    streams
}

/// Peer of which the two sides hold different inputs.
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

/// Adds one input to a hash. `scratch` is reused between calls.
fn mix<I: Input>(hash: u64, input: &I, scratch: &mut Vec<u8>) -> u64 {
    if I::SIZE <= 8 {
        // Fast path: nearly every game has inputs of this size, in every frame.
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

/// Folds a checksum to 32 bits for packets.
fn fold(hash: u64) -> u32 {
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerId = PeerId::from_u128(2);

    fn frame(number: u32) -> Frame {
        Frame::new(number)
    }

    /// An audit with checks every four frames that has hashed frame 4, with all inputs 7.
    fn audit() -> DesyncAudit {
        let config = TimelineConfig { checksum_interval_frames: 4, ..TimelineConfig::default() };
        let mut audit = DesyncAudit::new(&config, 64);
        (1..=8).for_each(|number| audit.confirm(frame(number), &[7u8], SlotSet::first(1)));
        assert_eq!(audit.hash_due(frame(8)), Some(frame(4)));
        assert!(audit.take_own_hash(frame(4), Some(99)));
        audit
    }

    fn block(audit: &DesyncAudit, state_hash: u32) -> CheckBlock {
        let inputs_hash = audit.newest().expect("hashed").inputs_hash;
        CheckBlock { age_frames: 0, state_hash, inputs_hash }
    }

    #[test]
    fn hash_is_due_once_per_interval_and_state_is_kept() {
        let mut audit = audit();
        assert_eq!(audit.hash_due(frame(7)), None);
        assert_eq!(audit.hash_due(frame(8)), Some(frame(8)));
        assert!(audit.keeps(frame(4)));
        assert_eq!((audit.keep_due(), audit.keep_due()), (Some(frame(4)), None));
    }

    /// Hash of two slots; the second is empty in the second frame.
    fn hash_vector<I: Input>(rows: [[I; 2]; 2]) -> Vec<u8> {
        let present = [SlotSet::from_bits(0b11), SlotSet::from_bits(0b01)];
        let mut audit = DesyncAudit::new(&TimelineConfig::default(), 64);
        let mut bytes = vec![I::SIZE as u8, 2];
        for (number, (row, present)) in (1..).zip(rows.iter().zip(present)) {
            audit.confirm(frame(number), row, present);
            bytes.extend(present.bits().to_le_bytes());
            for slot in present {
                let at = bytes.len();
                bytes.resize(at + I::SIZE, 0);
                row[slot.index()].write(&mut bytes[at..]);
            }
        }
        let hash = audit.inputs_at(frame(2)).expect("it was confirmed just now");
        bytes.extend(hash.to_le_bytes());
        bytes.extend(fold(hash).to_le_bytes());
        bytes
    }

    #[test]
    fn hashes_of_inputs_match_their_vector() {
        let wide = |first: u8| std::array::from_fn::<u8, 12, _>(|nth| first + nth as u8);
        let bytes = [
            hash_vector([[7_u8, 9], [8, 255]]),
            hash_vector([[wide(0x10), wide(0x20)], [wide(0x30), wide(0x40)]]),
        ];
        let vector = crate::packet::tests::hex(include_str!("../../vectors/inputs_hash.hex"));
        assert_eq!(vector, bytes.concat());
    }

    #[test]
    fn early_remote_checksums_wait_for_local_ones() {
        let (mut audit, mut peer) = (audit(), PeerAudit::default());
        let told = block(&audit, fold(5));
        assert_eq!(audit.handle_checksum(&mut peer, PEER, (frame(8), told), true), None);
        assert!(audit.take_own_hash(frame(8), Some(99)));
        let waiting = peer.take_waiting(frame(8))[0].expect("it waits");
        assert!(audit.compare(&mut peer, PEER, waiting, true).is_some());
    }

    #[test]
    fn frame_that_is_not_compared_is_ignored() {
        let (audit, mut peer) = (audit(), PeerAudit::default());
        let told = block(&audit, 1);
        assert_eq!(audit.handle_checksum(&mut peer, PEER, (frame(3), told), true), None);
        assert_eq!(peer.told(frame(3)), None);
    }

    /// Both peers resimulate frames 1 to 4; the other peer's findings are the local ones plus
    /// `change`.
    fn concluded(change: impl Fn(&mut Findings)) -> Option<Conclusion> {
        let (mut audit, mut peer) = (audit(), PeerAudit::default());
        let told = block(&audit, 1);
        let found = audit.handle_checksum(&mut peer, PEER, (frame(4), told), true);
        assert_eq!(found.map(|found| found.frame), Some(frame(4)));
        let own = peer.take_difference().expect("to be looked into");
        let streams = |_, _| vec![(PEER, 3)];
        let range = audit.open(Micros::ZERO, (PEER, &peer), own, |_| true, streams);
        assert_eq!(range, Some((frame(0), frame(4))));
        (1..=4).for_each(|nth| assert!(audit.take_side_hash(Some(95 + nth))));
        let (with, mut findings) = audit.findings().expect("it is open");
        assert_eq!((with, audit.awaited()), (PEER, Some(PEER)));
        assert_eq!(audit.conclude(&mut peer), None, "the other side has not told");
        change(&mut findings);
        assert_eq!(audit.handle_findings(&mut peer, PEER, findings, streams), None, "known");
        audit.conclude(&mut peer)
    }

    #[test]
    fn audit_finds_tick_inputs_and_changed_states() {
        let cause = |change: &dyn Fn(&mut Findings)| match concluded(change) {
            Some(Conclusion::Cause { cause, both_changed: false, .. }) => cause,
            other => panic!("{other:?}"),
        };
        let tick = DesyncCause::NondeterministicTick { frame: frame(3) };
        assert_eq!(cause(&|found| found.hashes[2] = 0), tick);
        let theirs = DesyncCause::RemoteStateCorrupted { frame: frame(4) };
        assert_eq!(cause(&|found| found.live_hash = 1), theirs);
        assert_eq!(cause(&|found| found.hashes.clear()), DesyncCause::Unknown);
        let inputs = Conclusion::Inputs { with: PEER, suspect: PEER, frame: frame(4) };
        assert_eq!(concluded(|found| found.streams[0].1 = 4), Some(inputs));
    }

    #[test]
    fn audit_ends_when_other_side_is_gone_or_silent() {
        let (mut audit, peer) = (audit(), PeerAudit::default());
        let own = audit.newest().expect("hashed");
        let mut open = || {
            _ = audit.open(Micros::ZERO, (PEER, &peer), own, |_| false, |_, _| Vec::new());
            let early = audit.tick(Micros::from_secs(1), |_| true);
            (early, audit.tick(Micros::from_secs(1), |_| false))
        };
        assert_eq!(open(), (None, Some(PEER)));
        _ = audit.open(Micros::ZERO, (PEER, &peer), own, |_| true, |_, _| Vec::new());
        assert_eq!(audit.tick(AUDIT_TIMEOUT, |_| true), Some(PEER));
        assert!(!audit.is_open());
    }
}
