//! Fuzz targets of sealed input: a byzantine client, a byzantine referee, and journals.
//!
//! Called by `fuzz_targets/` and by the tests of gaggle-seal. Absent: the fuzzer and its corpora.

use gaggle_kit::{ByteReader, ByteSink, Frame, Micros, PeerId, Slot, StateHasher};
use gaggle_seal::{
    Client, Epoch, LinkId, OutReason, Referee, SealConfig, StreamId, StreamSlots, read_journal,
};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of sealed input.
pub const TARGETS: [Target; 3] =
    [("seal_referee", referee), ("seal_client", client), ("seal_journal", journal)];

/// Most ticks of a run.
const TICKS_MAX: u64 = 200;
/// Ticks before the first change, so that both clients play.
const TICKS_BEFORE: u64 = 12;
/// Client whose packets are changed, in one direction or the other.
const VICTIM: usize = 1;
/// Bytes of a journal's header.
const HEAD: usize = 11;

/// The fuzzer's bytes, read one after another; 0 after the end.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    /// Changes a packet or message. False if it is dropped.
    fn change(&mut self, is_reliable: &mut bool, bytes: &mut Vec<u8>) -> bool {
        match self.byte() % 8 {
            0..=2 => {}
            3 => return false,
            4 => {
                let (at, bit) = (self.byte(), self.byte());
                let at = usize::from(at) % bytes.len().max(1);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (bit % 8));
            }
            5 => {
                let (at, length) = (self.byte(), self.byte() % 9);
                let new = self.take(length.into());
                let at = usize::from(at) % bytes.len().max(1);
                bytes.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = new);
            }
            6 => {
                let length = usize::from(self.byte()) % (bytes.len() + 1);
                bytes.truncate(length);
            }
            _ => {
                let (reliable, length) = (self.byte(), self.byte());
                *is_reliable = reliable % 2 == 1;
                *bytes = self.take(length.into());
            }
        }
        true
    }
}

struct Room {
    referee: Referee,
    clients: Vec<(Client, Option<LinkId>)>,
    ticks: u64,
    config: SealConfig,
}

fn stream(index: usize, incarnation: u32) -> StreamId {
    StreamId { peer: PeerId::from_u128(index as u128 + 1), incarnation }
}

impl Room {
    fn new() -> Room {
        let config = SealConfig {
            slot_count: 3,
            value_bytes: 2,
            history_frames: 40,
            out_after_frames: 30,
            journal: false,
            ..SealConfig::default()
        };
        let referee = Referee::found(Micros::ZERO, config.clone(), 5, Epoch(1)).expect("valid settings");
        let mut room = Room { referee, clients: Vec::new(), ticks: 0, config };
        for index in 0..2 {
            let client = room.process(index, 0);
            room.clients.push(client);
        }
        room
    }

    fn now(&self) -> Micros {
        Micros::from_millis(self.ticks * 17)
    }

    fn process(&mut self, index: usize, incarnation: u32) -> (Client, Option<LinkId>) {
        let slots = StreamSlots::new(&[Slot::at(index)]).expect("one slot");
        let stream = stream(index, incarnation);
        let mut client = Client::new(self.config.clone(), stream, slots).expect("valid settings");
        let now = self.now();
        client.handle_connected(now);
        let link = self.referee.handle_connected(now, stream, Some(slots)).expect("a free link");
        (client, Some(link))
    }

    /// One frame. `changes_up`: change what the victim sends, else what it receives.
    fn tick(&mut self, script: &mut Script<'_>, changes_up: bool) {
        self.ticks += 1;
        let now = self.now();
        let is_quiet = self.ticks < TICKS_BEFORE;
        for index in 0..self.clients.len() {
            let (client, link) = &mut self.clients[index];
            client.set_ready(true);
            let frame = Frame::new(self.ticks as u32 + 1);
            let _ = client.set_entry(frame, &[Some(&[self.ticks as u8 / 3, index as u8])]);
            client.tick(now);
            let mut lost = false;
            while let Some(sent) = client.poll_transmit() {
                let (mut reliable, mut bytes) = (sent.is_reliable, sent.bytes.to_vec());
                let Some(link) = *link else { continue };
                let is_changed = changes_up && index == VICTIM && !is_quiet;
                if is_changed && !script.change(&mut reliable, &mut bytes) {
                    continue;
                }
                let result = match reliable {
                    true => self.referee.handle_message(now, link, &bytes),
                    false => self.referee.handle_packet(now, link, &bytes),
                };
                if result.is_err() {
                    assert_eq!(index, VICTIM, "a fault of an honest client: {result:?}");
                    self.referee.handle_disconnected(now, link, OutReason::Removed);
                    lost = true;
                    break;
                }
            }
            if lost {
                let incarnation = self.clients[index].0.stream().incarnation + 1;
                self.clients[index] = self.process(index, incarnation);
            }
            while self.clients[index].0.poll_event().is_some() {}
        }
        self.referee.tick(now);
        while let Some(sent) = self.referee.poll_transmit() {
            let (mut reliable, mut bytes) = (sent.is_reliable, sent.bytes.to_vec());
            let found = self.clients.iter().position(|(_, link)| *link == Some(sent.link));
            let Some(index) = found else { continue };
            let is_changed = !changes_up && index == VICTIM && !is_quiet;
            if is_changed && !script.change(&mut reliable, &mut bytes) {
                continue;
            }
            let client = &mut self.clients[index].0;
            let result = match reliable {
                true => client.handle_message(now, &bytes),
                false => client.handle_packet(now, &bytes),
            };
            assert!(result.is_ok() || index == VICTIM && !changes_up, "{result:?}");
        }
        while self.referee.poll_event().is_some() {}
    }

    /// Panics unless the honest client has nearly all that the referee sealed, and the same.
    fn expect_agreement(&self) {
        let (own, log) = (self.referee.log(), self.clients[0].0.log());
        assert!(own.sealed() - log.sealed() <= 12, "{} of {}", log.sealed(), own.sealed());
        assert_eq!(own.hash(log.sealed()), log.hash(log.sealed()));
    }
}

/// Two clients, of which one sends what the fuzzer chooses.
pub fn referee(bytes: &[u8]) {
    run(bytes, true);
}

/// Two clients, of which one receives what the fuzzer chooses.
pub fn client(bytes: &[u8]) {
    run(bytes, false);
}

fn run(bytes: &[u8], changes_up: bool) {
    let (mut room, mut script) = (Room::new(), Script(bytes));
    while room.ticks < TICKS_BEFORE || !script.0.is_empty() && room.ticks < TICKS_MAX {
        room.tick(&mut script, changes_up);
    }
    room.expect_agreement();
}

/// A journal as it is, and with corrected checksums.
pub fn journal(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), resealed(bytes)] {
        for slot_count in [2, 3] {
            let config = SealConfig { slot_count, history_frames: 30, ..SealConfig::default() };
            if let Ok(recovered) = read_journal(&bytes, &config, |_| {}) {
                assert!(recovered.whole_bytes <= bytes.len());
                let now = Micros::from_secs(1);
                let mut referee = Referee::resume(now, config, Epoch(9), recovered).expect("valid settings");
                referee.tick(now + Micros::from_secs(1));
            }
        }
    }
}

/// The same records with correct checksums, as far as records can be told apart.
pub fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = HEAD;
    while let Some(end) = bytes.get(at..).and_then(record_end) {
        let end = at + end;
        if bytes.len() < end + 4 {
            break;
        }
        let mut r = ByteReader::new(&bytes[at..end]);
        let kind = r.u8("kind").unwrap_or(0);
        let body = r.counted("record", bytes.len()).unwrap_or(&[]);
        let mut hasher = StateHasher::new();
        hasher.put(&[kind]);
        hasher.put(body);
        let checksum = (hasher.finish() as u32).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&checksum);
        at = end + 4;
    }
    bytes
}

/// End of the first record of these bytes, before its checksum.
fn record_end(bytes: &[u8]) -> Option<usize> {
    let mut r = ByteReader::new(bytes);
    r.u8("kind").ok()?;
    r.counted("record", bytes.len()).ok()?;
    Some(bytes.len() - r.remaining())
}
