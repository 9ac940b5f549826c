//! Fuzz targets of gaggle-timeline: sessions with a byzantine peer, replays and bundles.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Absent: the fuzzer and its corpora.

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet, State, StateHasher, state_hash};
use gaggle_timeline::{
    DesyncBundle, Game, Incarnation, Inputs, PeerSlots, Replay, Request, Session, SessionEvent,
    TimelineConfig,
};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-timeline.
pub const TARGETS: [Target; 3] =
    [("timeline_session", session), ("timeline_replay", replay), ("timeline_bundle", bundle)];

/// An honest player, the byzantine peer, and a joiner whose donor is the byzantine peer.
const PEERS: [PeerId; 3] = [PeerId::from_u128(1), PeerId::from_u128(2), PeerId::from_u128(3)];
const LIAR: usize = 1;
const JOINER: usize = 2;
/// Numbers at which arithmetic may fail.
const EXTREMES: [u32; 8] = [0, 1, 0x7fff_ffff, 0x7fff_fffe, 0x8000_0000, u32::MAX, u32::MAX - 1, 0x0100_0000];
/// State of the match, which a joiner is sent.
const STATE: [u8; 40] = [7; 40];
/// Most ticks of a run.
const TICKS_MAX: u32 = 400;

/// Statistics of a run, for tests of the corpus.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Packets that the fuzzer changed or dropped.
    pub lies: u32,
    /// Faults detected, each of which restarts all sessions.
    pub faults: u32,
    /// Frames confirmed while the byzantine peer was a member.
    pub frames: u32,
}

/// A packet on its way: sender, receiver, channel and bytes.
struct Mail {
    from: usize,
    to: usize,
    reliable: bool,
    bytes: Vec<u8>,
}

/// The fuzzer's bytes, read one after another; 0 after the end.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Changes a packet. True if changed, false if sent unchanged, none if dropped.
    fn change(&mut self, mail: &mut Mail) -> Option<bool> {
        match self.byte() % 8 {
            0..=2 => return Some(false),
            3 => return None,
            4 => {
                let (at, value) = (self.number(), EXTREMES[usize::from(self.byte()) % EXTREMES.len()]);
                put(&mut mail.bytes, at, &value.to_le_bytes());
            }
            5 => {
                let (at, length) = (self.number(), usize::from(self.byte() % 9));
                let bytes = self.take(length).to_vec();
                put(&mut mail.bytes, at, &bytes);
            }
            6 => {
                let length = self.number() % (mail.bytes.len() + 1);
                mail.bytes.truncate(length);
            }
            _ => {
                let (reliable, length) = (self.byte(), self.number() % 2_048);
                mail.reliable = reliable % 2 == 1;
                mail.bytes = self.take(length).to_vec();
            }
        }
        Some(true)
    }
}

/// Writes a value at a place, clipped to the packet.
fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    let at = at % bytes.len().max(1);
    bytes.iter_mut().skip(at).zip(value).for_each(|(byte, new)| *byte = *new);
}

/// All sessions of a run.
struct Cast {
    sessions: Vec<Session<u16>>,
    mail: Vec<Mail>,
    now: Micros,
    faulty: bool,
}

impl Cast {
    /// Two peers play; a third has a link to only one of them.
    fn new() -> Cast {
        let seats = [PeerSlots::new(PEERS[0], Slot::at(0)), PeerSlots::new(PEERS[LIAR], Slot::at(1))];
        let config =
            TimelineConfig { checksum_interval_frames: 4, slot_count: 4, ..TimelineConfig::default() };
        let seated = |index: usize| {
            Session::new(config.clone(), PEERS[index], &seats, Incarnation(index as u32)).expect("sensible")
        };
        let joiner = Session::join(config.clone(), PEERS[JOINER], 1, Incarnation(9)).expect("sensible");
        let sessions = vec![seated(0), seated(LIAR), joiner];
        let mut cast = Cast { sessions, mail: Vec::new(), now: Micros::ZERO, faulty: false };
        cast.link(0, LIAR);
        (0..12).for_each(|_| cast.tick(|_| Some(false)));
        let victim = &cast.sessions[0];
        assert!(victim.is_running() && victim.confirmed_frame() > Frame::START, "the match does not run");
        cast.link(LIAR, JOINER);
        cast
    }

    fn link(&mut self, one: usize, other: usize) {
        self.sessions[one].handle_connected(self.now, PEERS[other]).expect("few links");
        self.sessions[other].handle_connected(self.now, PEERS[one]).expect("few links");
    }

    /// Delivers all packets, ticks all sessions and serves their requests. Packets of the byzantine
    /// peer pass through `change`.
    fn tick(&mut self, mut change: impl FnMut(&mut Mail) -> Option<bool>) {
        self.now += Micros::from_millis(16);
        for mut mail in std::mem::take(&mut self.mail) {
            if mail.from == LIAR && change(&mut mail).is_none() {
                continue;
            }
            let session = &mut self.sessions[mail.to];
            match mail.reliable {
                true => session.handle_message(self.now, PEERS[mail.from], &mail.bytes),
                false => session.handle_packet(self.now, PEERS[mail.from], &mail.bytes),
            }
        }
        for (from, session) in self.sessions.iter_mut().enumerate() {
            session.tick(self.now);
            let mut requests = 0;
            while let Some(request) = session.poll_request() {
                requests += 1;
                assert!(requests < 10_000, "more than 10,000 requests in a tick");
                match request {
                    Request::Hash { hash, frame, .. } => *hash = Some(frame.number().into()),
                    Request::Export { state, .. } => state.extend_from_slice(&STATE),
                    Request::Import { accepted: taken, .. } => *taken = true,
                    _ => {}
                }
            }
            while let Some(event) = session.poll_event() {
                self.faulty |= from != LIAR
                    && matches!(event, SessionEvent::PeerFault { .. } | SessionEvent::Rejected { .. });
            }
            while let Some(packet) = session.poll_transmit() {
                let to = PEERS.iter().position(|peer| *peer == packet.to).expect("a known peer");
                let (reliable, bytes) = (packet.is_reliable(), packet.bytes.to_vec());
                self.mail.push(Mail { from, to, reliable, bytes });
            }
        }
        let victim = &self.sessions[0];
        let (current, confirmed) = (victim.current_frame(), victim.confirmed_frame());
        let ahead = current.since(confirmed);
        assert!(
            ahead <= victim.config().prediction_frames(),
            "{current} was simulated with {confirmed} confirmed"
        );
    }
}

/// An honest pair plays and a third peer joins; then the fuzzer changes packets of one of the pair.
/// Whenever a peer detects a fault, all sessions restart with the rest of the script.
pub fn session(data: &[u8]) {
    play(data);
}

/// Runs [`session`] and returns its statistics.
pub fn play(data: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let mut script = Script(data);
    let mut cast = Cast::new();
    for _ in 0..TICKS_MAX {
        if script.0.is_empty() {
            break;
        }
        let before = cast.sessions[0].confirmed_frame();
        cast.tick(|mail| {
            let changed = script.change(mail);
            tally.lies += u32::from(changed != Some(false));
            changed
        });
        tally.frames += cast.sessions[0].confirmed_frame().since(before);
        if cast.faulty {
            tally.faults += 1;
            cast = Cast::new();
        }
    }
    // Whatever happened, a tick without changes succeeds.
    (0..4).for_each(|_| cast.tick(|_| Some(false)));
    tally
}

/// Id of the game whose files are read.
pub const GAME: u64 = 77;

/// Input of one player, with a range and a one-shot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
pub struct Pad {
    /// Limited, so that some values do not decode.
    #[input(range = -1..=1)]
    pub steer: i8,
    /// Not repeated by prediction.
    #[input(one_shot)]
    pub dash: bool,
}

/// A game in which every input changes the state.
#[derive(Clone, PartialEq, Eq, Default, Debug, State)]
pub struct Log {
    total: u64,
    present: u64,
    /// A list of any length up to that of the file.
    notes: Vec<u32>,
}

impl Game for Log {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        self.present = inputs.present_slots().bits();
        for slot in inputs.present_slots() {
            let Pad { steer, dash } = inputs.get(slot);
            let done = 2 * i64::from(steer) + i64::from(dash);
            self.total = self.total.wrapping_mul(31).wrapping_add_signed(done);
        }
        if self.notes.len() < 3 {
            self.notes.push(inputs.frame().number());
        }
    }
}

/// A replay as it is, and with corrected hashes, without which nearly all would be rejected early.
pub fn replay(data: &[u8]) {
    show(data);
    show(&resealed_replay(data));
}

/// The same chunks with correct hashes.
pub fn resealed_replay(data: &[u8]) -> Vec<u8> {
    let (beginning, mut rest) = data.split_at(data.len().min(8));
    let mut file = beginning.to_vec();
    while let Some((head, after)) = rest.split_first_chunk::<5>()
        && let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]])
        && let Some((content, after)) = after.split_at_checked(length as usize)
    {
        file.extend_from_slice(head);
        file.extend_from_slice(content);
        let hash = StateHasher::of(content) ^ u64::from(head[0]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        file.extend_from_slice(&((hash >> 32) as u32 ^ hash as u32).to_le_bytes());
        rest = after.get(4..).unwrap_or_default();
    }
    file.extend_from_slice(rest);
    file
}

/// Plays a replay forward, backward and in jumps. True if it is whole and verifies.
pub fn show(file: &[u8]) -> bool {
    let Ok(replay) = Replay::<Log>::read(file, GAME) else { return false };
    let last = replay.last_frame();
    assert!(last.number() as usize <= file.len(), "{last} in {} bytes", file.len());
    if let Some(damage) = replay.damage() {
        let whole = Replay::<Log>::read(&file[..damage.byte_offset], GAME).expect("the undamaged part reads");
        assert_eq!((damage.valid_through, whole.last_frame()), (last, last));
    }
    let mut playback = replay.play();
    let mut hashes = vec![state_hash(playback.game())];
    while playback.step() {
        hashes.push(state_hash(playback.game()));
    }
    assert_eq!((playback.frame(), hashes.len()), (last, last.number() as usize + 1));
    let verified = replay.verify().is_ok();
    let near = [last.next(), last, last.previous(), Frame::START];
    for frame in (0..=last.number()).rev().step_by(7).map(Frame::new).chain(near) {
        playback.seek(frame);
        let shown = playback.frame();
        assert_eq!(shown, frame.min(last));
        if verified {
            assert_eq!(state_hash(playback.game()), hashes[shown.number() as usize], "at {shown}");
        }
    }
    verified && replay.damage().is_none()
}

/// A desync bundle as it is, and with a corrected hash.
pub fn bundle(data: &[u8]) {
    look(data);
    look(&resealed_bundle(data));
}

/// The same bytes with a correct hash.
pub fn resealed_bundle(data: &[u8]) -> Vec<u8> {
    let body = data.split_last_chunk::<8>().map_or(data, |(body, _)| body);
    [body, &StateHasher::of(body).to_le_bytes()].concat()
}

/// Reads everything in a bundle. True if it is one of this game.
pub fn look(bytes: &[u8]) -> bool {
    let Ok(bundle) = DesyncBundle::decode(bytes) else { return false };
    assert_eq!(bundle.encode(), bytes, "a bundle has two encodings");
    let ((theirs, _), (ours, _)) = (&bundle.remote, &bundle.local);
    let mut at = *theirs;
    for (frame, present, inputs) in bundle.rows() {
        at = at.next();
        let slots = inputs.len().checked_div(bundle.input_bytes()).unwrap_or(SlotSet::COUNT_MAX);
        assert!(
            frame == at
                && slots <= SlotSet::COUNT_MAX
                && present.difference(SlotSet::first(slots)).is_empty()
        );
    }
    assert_eq!(at, *ours, "a frame without a row");
    let Ok(view) = bundle.diff::<Log>() else { return false };
    assert_eq!(view.frame, *ours);
    true
}
