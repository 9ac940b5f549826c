//! A dishonest peer among honest ones: a real session whose messages a test may change, withhold or
//! add to.
//!
//! A packet that network damage can explain is dropped and counted. A provable violation ends the
//! link with a named fault. Either way the other peers play on and agree.

mod flooding;
mod forwards;
mod hashes;
mod inputs;
mod joins;
mod roster;
mod spectators;

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet, state_hash};
use gaggle_testkit::{Delivery, PacketScheduler};

use super::Session;
use crate::config::{PeerSlots, Quorum, TimelineConfig};
use crate::event::{PeerFault, SessionEvent};
use crate::packet::{Packet, TAG_MAX};
use crate::roster::{Incarnation, MatchId};
use crate::runs::RunsWriter;
use crate::{Tick, Timeline};

gaggle_testkit::mix_game! { vis: pub(crate), engine: crate, input: u8, slots: 8, stir: |_| {}, disturb: |_| {} }

/// A packet or message on its way.
#[derive(Debug, Clone)]
pub(super) struct Mail {
    pub(super) to: usize,
    pub(super) reliable: bool,
    pub(super) bytes: Vec<u8>,
}

/// Receives everything the dishonest peer sends in a tick, and returns what it sends instead.
type Tamper = Box<dyn FnMut(&mut Session<u8>, Vec<Mail>) -> Vec<Mail>>;

pub(super) struct Cluster {
    pub(super) players: Vec<Timeline<MixGame>>,
    pub(super) events: Vec<Vec<SessionEvent>>,
    pub(super) stalled: Vec<u64>,
    byzantine: usize,
    pub(super) tamper: Tamper,
    linked: Vec<Vec<bool>>,
    net: PacketScheduler<Mail>,
    ticks: u64,
    rng: Prng,
    held: Vec<u8>,
    state_bytes: usize,
    config: TimelineConfig,
    /// Peers that send nothing any more, by index.
    pub(super) dead: Vec<bool>,
    pub(super) compared: u64,
}

/// Ticks a message takes to arrive.
const LATENCY: u64 = 3;
const STATE_BYTES: usize = 20_000;

pub(super) fn time_of(tick: u64) -> Micros {
    Micros::new(tick * 1_000_000 / 60)
}

pub(super) fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

pub(super) fn config() -> TimelineConfig {
    let match_id = MatchId { started_at: 9, nonce: 9 };
    TimelineConfig { slot_count: 8, match_id, ..TimelineConfig::default() }
}

impl Cluster {
    /// `seated` peers start together; `liar` is one of them, or joins later.
    pub(super) fn of(seated: usize, liar: usize) -> Cluster {
        Cluster::with_state(seated, liar, STATE_BYTES)
    }

    /// The same with a state of about `state_bytes` bytes.
    pub(super) fn with_state(seated: usize, liar: usize, state_bytes: usize) -> Cluster {
        let mut table = Cluster::configured(seated, liar, state_bytes, &config());
        table.link_all(seated);
        table
    }

    /// `seated` peers start together, under the majority rule.
    pub(super) fn voting(seated: usize, liar: usize) -> Cluster {
        let config = TimelineConfig { quorum: Quorum::Majority, ..config() };
        let mut table = Cluster::configured(seated, liar, STATE_BYTES, &config);
        table.link_all(seated);
        table
    }

    /// `seated` peers start together, and compare checksums every `interval` frames.
    pub(super) fn checking(seated: usize, liar: usize, interval: u32) -> Cluster {
        let config = TimelineConfig { checksum_interval_frames: interval, ..config() };
        let mut table = Cluster::configured(seated, liar, STATE_BYTES, &config);
        table.link_all(seated);
        table
    }

    fn link_all(&mut self, seated: usize) {
        for a in 0..seated {
            (a + 1..seated).for_each(|b| self.link(a, b));
        }
    }

    fn configured(seated: usize, liar: usize, state_bytes: usize, config: &TimelineConfig) -> Cluster {
        let seats: Vec<PeerSlots> =
            (0..seated).map(|index| PeerSlots::new(peer(index), Slot::at(index))).collect();
        let mut table = Cluster {
            players: Vec::new(),
            events: Vec::new(),
            stalled: Vec::new(),
            byzantine: liar,
            tamper: Box::new(|_, mail| mail),
            linked: Vec::new(),
            net: PacketScheduler::default(),
            ticks: 0,
            rng: Prng::new(7),
            held: Vec::new(),
            state_bytes,
            config: config.clone(),
            dead: Vec::new(),
            compared: 0,
        };
        for index in 0..seated {
            let name = Incarnation(100 + index as u32);
            let session = Session::new(config.clone(), peer(index), &seats, name).expect("sound settings");
            table.sit_down(session);
        }
        table
    }

    fn sit_down(&mut self, session: Session<u8>) -> usize {
        let word = |nth: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| (nth * 4 + byte) as u8));
        let game = MixGame::new((0..self.state_bytes / 4).map(word).collect());
        self.players.push(Timeline::new(session, game));
        self.events.push(Vec::new());
        self.stalled.push(0);
        self.held.push(0);
        self.dead.push(false);
        self.linked.push(Vec::new());
        let count = self.players.len();
        self.linked.iter_mut().for_each(|row| row.resize(count, false));
        count - 1
    }

    /// Adds a peer that joins.
    pub(super) fn join(&mut self, via: &[usize]) -> usize {
        let index = self.players.len();
        let name = Incarnation(200 + index as u32);
        let session = Session::join(self.config.clone(), peer(index), 1, name).expect("sound settings");
        self.sit_down(session);
        via.iter().for_each(|other| self.link(index, *other));
        index
    }

    /// Adds a peer that spectates.
    pub(super) fn watch(&mut self, via: &[usize]) -> usize {
        let index = self.players.len();
        let name = Incarnation(200 + index as u32);
        let session = Session::spectate(self.config.clone(), peer(index), name).expect("sound settings");
        self.sit_down(session);
        via.iter().for_each(|other| self.link(index, *other));
        index
    }

    pub(super) fn now(&self) -> Micros {
        time_of(self.ticks)
    }

    pub(super) fn link(&mut self, a: usize, b: usize) {
        let now = self.now();
        for (from, to) in [(a, b), (b, a)] {
            self.linked[from][to] = true;
            self.players[from].session_mut().handle_connected(now, peer(to)).expect("few links");
        }
    }

    fn unlink(&mut self, a: usize, b: usize) {
        let now = self.now();
        for (from, to) in [(a, b), (b, a)] {
            if std::mem::take(&mut self.linked[from][to]) {
                self.players[from].session_mut().handle_disconnected(now, peer(to));
            }
        }
    }

    pub(super) fn session(&self, index: usize) -> &Session<u8> {
        self.players[index].session()
    }

    pub(super) fn run(&mut self, ticks: u64) -> &mut Cluster {
        (0..ticks).for_each(|_| self.step());
        self
    }

    pub(super) fn run_until(
        &mut self,
        what: &str,
        ticks: u64,
        so: impl Fn(&Cluster) -> bool,
    ) -> &mut Cluster {
        for _ in 0..ticks {
            if so(self) {
                return self;
            }
            self.step();
        }
        panic!("{what} does not happen within {ticks} ticks:\n{}", self.describe());
    }

    fn step(&mut self) {
        self.ticks += 1;
        let now = self.now();
        while let Some(packet) = self.net.poll(now) {
            let (from, mail) = (packet.from, packet.message);
            if self.linked[mail.to][from] && !self.dead[mail.to] {
                let session = self.players[mail.to].session_mut();
                match mail.reliable {
                    true => session.handle_message(now, peer(from), &mail.bytes),
                    false => session.handle_packet(now, peer(from), &mail.bytes),
                }
            }
        }
        for index in 0..self.players.len() {
            if !self.dead[index] {
                self.tick(index, now);
            }
        }
    }

    fn tick(&mut self, index: usize, now: Micros) {
        if self.rng.below(8) == 0 {
            self.held[index] = self.rng.below(64) as u8;
        }
        let player = &mut self.players[index];
        for slot in player.session().local_slots() {
            player.session_mut().set_input(slot, self.held[index]).expect("it sits there");
        }
        self.stalled[index] += u64::from(player.tick(now) == Tick::Stalled);
        let session = player.session_mut();
        let mut said = Vec::new();
        while let Some(out) = session.poll_transmit() {
            let to = out.to.to_u128() as usize - 1;
            said.push(Mail { to, reliable: out.is_reliable(), bytes: out.bytes.to_vec() });
        }
        if index == self.byzantine {
            said = (self.tamper)(session, said);
        }
        let at = time_of(self.ticks + LATENCY);
        for mail in said {
            self.net.schedule(at, index, mail.to, Delivery::Datagram, mail);
        }
        let session = self.players[index].session_mut();
        while let Some(event) = session.poll_event() {
            self.events[index].push(event);
        }
        let refused: Vec<PeerId> =
            std::iter::from_fn(|| session.poll_disconnect()).map(|(peer, _)| peer).collect();
        refused.iter().for_each(|peer| self.unlink(index, peer.to_u128() as usize - 1));
    }

    /// Reliable messages sent to a peer in the last tick, with their senders.
    pub(super) fn said_to(&self, index: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let at = time_of(self.ticks + LATENCY);
        let said = self.net.iter().filter(move |packet| packet.at == at && packet.to == index);
        said.filter(|packet| packet.message.reliable).map(|packet| (packet.from, &packet.message.bytes[..]))
    }

    /// Requires that from here on these peers confirm the same inputs, and that all of them go on,
    /// for this many ticks.
    pub(super) fn expect_agreement(&mut self, who: &[usize], ticks: u64) -> &mut Cluster {
        let before: Vec<Frame> = who.iter().map(|index| self.session(*index).confirmed_frame()).collect();
        let mut states: BTreeMap<(u64, Frame), u64> = BTreeMap::new();
        for _ in 0..ticks {
            self.step();
            for index in who {
                let history = self.session(*index).branch_id();
                let Some((frame, pot)) = self.players[*index].confirmed_game() else { continue };
                let hash = state_hash(pot);
                let known = *states.entry((history, frame)).or_insert(hash);
                assert_eq!(known, hash, "{index} differs at {frame}:\n{}", self.describe());
                self.compared += 1;
            }
        }
        let history = self.session(who[0]).branch_id();
        for (index, before) in who.iter().zip(before) {
            let session = self.session(*index);
            assert!(session.is_member() && session.branch_id() == history, "{index}:\n{}", self.describe());
            let went = session.confirmed_frame().since(before);
            assert!(u64::from(went) * 10 > ticks * 9, "{index} went {went} of {ticks}:\n{}", self.describe());
        }
        assert!(self.compared > ticks, "nothing was compared");
        self
    }

    pub(super) fn faults(&self, index: usize) -> Vec<(usize, PeerFault)> {
        let fault = |event: &SessionEvent| match event {
            SessionEvent::PeerFault { peer, fault } => Some((peer.to_u128() as usize - 1, *fault)),
            _ => None,
        };
        self.events[index].iter().filter_map(fault).collect()
    }

    /// Requires that each of these peers found exactly this fault of the dishonest peer, and no
    /// other.
    pub(super) fn expect_fault(&self, who: &[usize], is: impl Fn(&PeerFault) -> bool) -> &Cluster {
        for index in who {
            let faults = self.faults(*index);
            let right = matches!(&faults[..], [(blamed, fault)] if *blamed == self.byzantine && is(fault));
            assert!(right, "{index} found {faults:?}:\n{}", self.describe());
        }
        self
    }

    /// Requires that none of these peers found a fault.
    pub(super) fn expect_no_fault(&self, who: &[usize]) -> &Cluster {
        who.iter().for_each(|index| assert_eq!(self.faults(*index), [], "{}", self.describe()));
        self
    }

    pub(super) fn describe(&self) -> String {
        let line = |index: usize| {
            let session = self.session(index);
            let events = &self.events[index];
            format!(
                "{index}: member {}, at {}, confirmed {}, history {:x}, {:?}\n  {:?}\n  {:?}",
                session.is_member(),
                session.current_frame(),
                session.confirmed_frame(),
                session.branch_id(),
                session.roster(),
                &events[events.len().saturating_sub(6)..],
                session.stats(),
            )
        };
        (0..self.players.len()).map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Changes every packet of the running game and leaves other messages alone.
pub(super) fn reword(
    mail: &mut Mail,
    word: impl FnOnce(&mut Packet<'_>),
    value: impl Fn(u8) -> u8,
) -> Option<()> {
    let tag = Packet::tag_of(&mail.bytes).filter(|tag| *tag <= TAG_MAX && !mail.reliable)?;
    let bytes = mail.bytes.clone();
    let mut packet = Packet::decode(&bytes, 1).ok().filter(|packet| packet.tag == tag)?;
    let mut runs = RunsWriter::default();
    for entry in packet.runs.entries(1) {
        match entry {
            None => runs.repeat(),
            Some(bytes) => runs.change(1, |out| out[0] = value(bytes[0])),
        }
    }
    packet.runs = runs.finish(1);
    word(&mut packet);
    mail.bytes.clear();
    packet.encode(&mut mail.bytes);
    Some(())
}

#[test]
fn byzantine_peer_sending_truth_is_not_faulted() {
    let mut table = Cluster::of(3, 2);
    table.tamper = Box::new(|_, mut mail| {
        mail.iter_mut().for_each(|mail| _ = reword(mail, |_| {}, |value| value));
        mail
    });
    table.run_until("they play", 120, |t| (0..3).all(|index| t.session(index).is_member()));
    table.expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1, 2]);
    assert_eq!(table.session(0).local_slots(), SlotSet::of(Slot::at(0)));
}
