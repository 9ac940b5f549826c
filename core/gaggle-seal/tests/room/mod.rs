//! One referee, its clients, and a network between them with a latency and nothing else wrong.
//!
//! Shared by the tests of this folder. Absent: random faults, which the crate's harness has.
#![allow(dead_code, missing_docs, reason = "each test program uses its own part")]

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot};
use gaggle_seal::{
    Client, ClientEvent, Epoch, Fault, LinkId, Referee, RefereeEvent, SealConfig, StreamId, StreamSlots,
};

/// Packets under way, in memory that stays.
#[derive(Default)]
struct Pipe {
    used: usize,
    packets: Vec<(bool, Vec<u8>)>,
}

impl Pipe {
    /// Room for so many packets at once before it takes more memory.
    fn with_packets(count: usize) -> Pipe {
        let packets = (0..count).map(|_| (false, Vec::with_capacity(1_200))).collect();
        Pipe { used: 0, packets }
    }

    fn push(&mut self, reliable: bool, bytes: &[u8]) {
        if self.used == self.packets.len() {
            self.packets.push((reliable, Vec::with_capacity(1_200)));
        }
        let (is_reliable, packet) = &mut self.packets[self.used];
        *is_reliable = reliable;
        packet.clear();
        packet.extend_from_slice(bytes);
        self.used += 1;
    }
}

pub struct Player {
    pub client: Client,
    pub link: Option<LinkId>,
    pub refused: Vec<Frame>,
    pub events: Vec<ClientEvent>,
    /// Gives entries and acknowledges.
    pub is_awake: bool,
    /// Percent of frames whose input changes.
    pub change_percent: u32,
    /// What the player does instead of an honest entry.
    pub entry: fn(&mut Client, Frame, u8, bool),
    value: u8,
    up: Vec<Pipe>,
    down: Vec<Pipe>,
}

/// A packet or message that was sent, for tests that look at bytes.
pub struct Tapped {
    pub tick: u64,
    pub player: usize,
    pub is_up: bool,
    pub is_reliable: bool,
    pub bytes: Vec<u8>,
}

pub struct Room {
    /// Everything sent, if a test asks for it.
    pub tap: Option<Vec<Tapped>>,
    tick_rate: u64,
    pub referee: Referee,
    pub players: Vec<Player>,
    pub ticks: u64,
    pub latency: usize,
    pub journal: Vec<u8>,
    pub faults: Vec<(usize, Fault)>,
    pub events: Vec<RefereeEvent>,
    pub down_bytes: u64,
    pub down_packets: u64,
    random: Prng,
}

pub fn stream(index: usize) -> StreamId {
    StreamId { peer: PeerId::from_u128(index as u128 + 1), incarnation: 1 }
}

pub fn slots(index: usize) -> StreamSlots {
    StreamSlots::new(&[Slot::at(index)]).expect("one slot")
}

/// An entry every frame: a value, or the repetition of the one before.
pub fn honest(client: &mut Client, frame: Frame, value: u8, changes: bool) {
    let changes = changes || client.newest_entry() == Frame::START;
    let (bytes, size) = ([value; 64], client.shape().value_bytes());
    let _ = client.set_entry(frame, &[changes.then_some(&bytes[..size])]);
}

impl Room {
    pub fn new(config: &SealConfig, players: usize, latency: usize) -> Room {
        let referee = Referee::found(Micros::ZERO, config.clone(), 7, Epoch(1)).expect("sensible");
        // A thousand logs in one process: each keeps only what the tests look at.
        let kept = if players > 100 { 8 } else { config.history_frames };
        let window_frames = if players > 100 { 4 } else { config.window_frames };
        let own = SealConfig { history_frames: kept, window_frames, input_delay_max: 0, ..config.clone() };
        let kept_packets = if players > 100 { 0 } else { 8 };
        let players = (0..players)
            .map(|index| Player {
                client: Client::new(own.clone(), stream(index), slots(index)).expect("sensible"),
                link: None,
                refused: Vec::new(),
                events: Vec::new(),
                is_awake: true,
                change_percent: 10,
                entry: honest,
                value: index as u8,
                up: (0..=latency).map(|_| Pipe::with_packets(kept_packets)).collect(),
                down: (0..=latency).map(|_| Pipe::with_packets(kept_packets)).collect(),
            })
            .collect();
        let mut room = Room {
            tap: None,
            tick_rate: config.tick_rate.into(),
            referee,
            players,
            ticks: 0,
            latency,
            journal: Vec::new(),
            faults: Vec::new(),
            events: Vec::new(),
            down_bytes: 0,
            down_packets: 0,
            random: Prng::new(7),
        };
        (0..room.players.len()).for_each(|index| room.connect(index));
        room
    }

    pub fn connect(&mut self, index: usize) {
        let now = self.now();
        let link = self.referee.handle_connected(now, stream(index), Some(slots(index)));
        self.players[index].link = Some(link.expect("there is room"));
        self.players[index].client.handle_connected(now);
    }

    pub fn now(&self) -> Micros {
        Micros::new(self.ticks * 1_000_000 / self.tick_rate)
    }

    pub fn run(&mut self, ticks: u64) {
        (0..ticks).for_each(|_| self.tick());
    }

    pub fn tick(&mut self) {
        self.ticks += 1;
        let now = self.now();
        for index in 0..self.players.len() {
            self.tick_player(index, now);
        }
        self.referee.tick(now);
        self.journal.extend_from_slice(self.referee.records());
        self.referee.mark_records_written();
        let at = (self.ticks as usize) % (self.latency + 1);
        while let Some(sent) = self.referee.poll_transmit() {
            let found = self.players.iter().position(|player| player.link == Some(sent.link));
            if let Some(index) = found {
                self.players[index].down[at].push(sent.is_reliable, sent.bytes);
                if let Some(tap) = &mut self.tap {
                    let (is_reliable, bytes) = (sent.is_reliable, sent.bytes.to_vec());
                    tap.push(Tapped { tick: self.ticks, player: index, is_up: false, is_reliable, bytes });
                }
            }
            if !sent.is_reliable {
                self.down_bytes += sent.bytes.len() as u64;
                self.down_packets += 1;
            }
        }
        while let Some(event) = self.referee.poll_event() {
            self.events.push(event);
        }
    }

    fn tick_player(&mut self, index: usize, now: Micros) {
        let arrived = (self.ticks as usize + 1) % (self.latency + 1);
        let player = &mut self.players[index];
        let mut down = std::mem::take(&mut player.down[arrived]);
        for (is_reliable, bytes) in &down.packets[..down.used] {
            let result = match *is_reliable {
                true => player.client.handle_message(now, bytes),
                false => player.client.handle_packet(now, bytes),
            };
            result.expect("an honest referee");
        }
        down.used = 0;
        player.down[arrived] = down;
        while let Some(event) = player.client.poll_event() {
            match event {
                ClientEvent::Refused { frame } => player.refused.push(frame),
                event => player.events.push(event),
            }
        }
        if player.is_awake {
            player.client.set_ready(true);
            // Just early enough to be in time.
            let frame = Frame::new(self.ticks as u32 + self.latency as u32 + 1);
            let changes = self.random.below(100) < player.change_percent;
            player.value = player.value.wrapping_add(u8::from(changes) * 37);
            (player.entry)(&mut player.client, frame, player.value, changes);
            player.client.tick(now);
            let sent_at = (self.ticks as usize) % (self.latency + 1);
            while let Some(sent) = player.client.poll_transmit() {
                player.up[sent_at].push(sent.is_reliable, sent.bytes);
            }
        }
        let mut up = std::mem::take(&mut player.up[arrived]);
        for (is_reliable, bytes) in &up.packets[..up.used] {
            if let Some(tap) = &mut self.tap {
                let (is_reliable, bytes) = (*is_reliable, bytes.clone());
                tap.push(Tapped { tick: self.ticks, player: index, is_up: true, is_reliable, bytes });
            }
            if let Some(link) = self.players[index].link {
                let result = match *is_reliable {
                    true => self.referee.handle_message(now, link, bytes),
                    false => self.referee.handle_packet(now, link, bytes),
                };
                if let Err(fault) = result {
                    self.faults.push((index, fault));
                    self.players[index].link = None;
                    self.referee.handle_disconnected(now, link, gaggle_seal::OutReason::Removed);
                }
            }
        }
        up.used = 0;
        self.players[index].up[arrived] = up;
    }
}
