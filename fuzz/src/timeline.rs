//! Sessions of `gaggle-timeline` that play with somebody whose every word a fuzzer may change.

use gaggle_kit::{Frame, Micros, PeerId, Slot};
use gaggle_timeline::{Event, Incarnation, Request, Seat, Session, SessionConfig};

/// A name and what is done with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 1] = [("timeline_session", session)];

/// Somebody who plays, the liar, and somebody who comes in by the liar.
const PEERS: [PeerId; 3] = [PeerId::from_u128(1), PeerId::from_u128(2), PeerId::from_u128(3)];
const LIAR: usize = 1;
const JOINER: usize = 2;
/// Numbers at which something may go wrong.
const EXTREMES: [u32; 8] = [0, 1, 0x7fff_ffff, 0x7fff_fffe, 0x8000_0000, u32::MAX, u32::MAX - 1, 0x0100_0000];
/// Bytes of the state that is given to whoever comes in.
const STATE: [u8; 40] = [7; 40];
/// Ticks of one run at most.
const TICKS_MAX: u32 = 400;

/// What became of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Words the fuzzer changed.
    pub lies: u32,
    /// Times somebody saw through the liar, and everybody began anew.
    pub faults: u32,
    /// Frames that were confirmed with the liar at the table.
    pub frames: u32,
}

/// Something said: by whom and to whom, on which channel.
struct Mail {
    from: usize,
    to: usize,
    reliable: bool,
    bytes: Vec<u8>,
}

/// What the fuzzer wants, byte by byte.
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

    /// Changes something the liar says. False if it is left as it is, nothing if it is held back.
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

/// Writes over what is there, wherever that is.
fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    let at = at % bytes.len().max(1);
    bytes.iter_mut().skip(at).zip(value).for_each(|(byte, new)| *byte = *new);
}

/// Everybody at the table.
struct Cast {
    sessions: Vec<Session<u16>>,
    mail: Vec<Mail>,
    now: Micros,
    faulty: bool,
}

impl Cast {
    /// Two play for a moment, and a third knows only one of them.
    fn new() -> Cast {
        let seats = [Seat::new(PEERS[0], Slot::at(0)), Seat::new(PEERS[LIAR], Slot::at(1))];
        let config = SessionConfig { check_interval_frames: 4, slots: 4, ..SessionConfig::default() };
        let seated = |index: usize| {
            Session::new(config.clone(), PEERS[index], &seats, Incarnation(index as u32)).expect("sensible")
        };
        let joiner = Session::join(config.clone(), PEERS[JOINER], 1, Incarnation(9)).expect("sensible");
        let sessions = vec![seated(0), seated(LIAR), joiner];
        let mut cast = Cast { sessions, mail: Vec::new(), now: Micros::ZERO, faulty: false };
        cast.link(0, LIAR);
        (0..12).for_each(|_| cast.tick(|_| Some(false)));
        let victim = &cast.sessions[0];
        assert!(victim.is_running() && victim.confirmed_frame() > Frame::START, "the match runs");
        cast.link(LIAR, JOINER);
        cast
    }

    fn link(&mut self, one: usize, other: usize) {
        self.sessions[one].handle_linked(self.now, PEERS[other]).expect("few links");
        self.sessions[other].handle_linked(self.now, PEERS[one]).expect("few links");
    }

    /// Everybody hears what was said, ticks, does as told and says something. What the liar says passes by `change`.
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
            while let Some(request) = session.next_request() {
                requests += 1;
                assert!(requests < 10_000, "the game is asked for ever");
                match request {
                    Request::Hash { hash, frame, .. } => *hash = Some(frame.number().into()),
                    Request::Export { state, .. } => state.extend_from_slice(&STATE),
                    Request::Import { taken, .. } => *taken = true,
                    _ => {}
                }
            }
            while let Some(event) = session.next_event() {
                self.faulty |= from != LIAR && matches!(event, Event::Fault { .. } | Event::Refused { .. });
            }
            while let Some(packet) = session.next_packet() {
                let to = PEERS.iter().position(|peer| *peer == packet.to).expect("one of them");
                let (reliable, bytes) = (packet.is_reliable(), packet.bytes.to_vec());
                self.mail.push(Mail { from, to, reliable, bytes });
            }
        }
        let victim = &self.sessions[0];
        let (current, confirmed) = (victim.current_frame(), victim.confirmed_frame());
        let ahead = current.since(confirmed);
        assert!(
            ahead <= victim.config().window_frames(),
            "{current} was simulated with {confirmed} confirmed"
        );
    }
}

/// An honest pair plays for a moment, and a third wants to come in; then every word of one of the pair falls into the
/// fuzzer's hands. Whenever somebody sees through it, everybody begins anew with what is left of the script.
pub fn session(data: &[u8]) {
    play(data);
}

/// The same, and what became of it.
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
    // Whatever it led to, it can go on.
    (0..4).for_each(|_| cast.tick(|_| Some(false)));
    tally
}
