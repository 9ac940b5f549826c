//! Random runs of one referee and its clients with every fault, and then a healed network.
//!
//! Packets are lost, duplicated and reordered; processes crash, freeze, restart, leave and turn
//! passive; links are cut; the referee restarts with its journal or without. Rules of `ablation.rs`
//! can be switched off one at a time. Absent: real time, sockets, games.

mod checks;
mod runs;

use std::collections::BTreeMap;

use gaggle_kit::rate_limit::RateLimit;
use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot};
use gaggle_testkit::PacketPool;

use crate::ablation::Rule;
use crate::client::{Client, ClientEvent, ClientPhase};
use crate::config::SealConfig;
use crate::journal::read_journal;
use crate::lineage::Epoch;
use crate::log::Cell;
use crate::referee::{LinkId, Referee, RefereeEvent, RefereePhase};
use crate::roster::StreamId;
use crate::shape::StreamSlots;
use checks::Checks;

const VALUE_BYTES: usize = 4;
const FRAME: Micros = Micros::from_millis(250);
const MATCH: u64 = 0x5ea1;

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Machine 0 is the referee.
    machines: usize,
    window: u32,
    delay: u32,
    /// Whether the referee and the last client are never disturbed.
    steady: bool,
    journal: bool,
    steps: u32,
    rule: Option<Rule>,
}

struct Peer {
    client: Client,
    is_alive: bool,
    is_frozen: bool,
    is_leaving: bool,
    wants_passive: bool,
    clock: Frame,
    /// Least number of frames its clock is ahead of the sealed one; raised after each missed frame.
    lead: u32,
    newest: Frame,
}

#[derive(Clone)]
struct Packet {
    is_reliable: bool,
    /// Epoch of the referee that sent it.
    epoch: u32,
    /// Stream of the client that sent it.
    stream: StreamId,
    bytes: Vec<u8>,
}

struct World {
    run: Run,
    config: SealConfig,
    random: Prng,
    now: Micros,
    referee: Option<Referee>,
    referee_frozen: bool,
    epoch: u32,
    match_id: u64,
    /// The journal's file, which survives crashes.
    file: Vec<u8>,
    links: BTreeMap<usize, (StreamId, LinkId)>,
    peers: Vec<Peer>,
    net: PacketPool<Packet>,
    counter: u32,
    checks: Checks,
}

fn stream(index: usize, incarnation: u32) -> StreamId {
    StreamId { peer: PeerId::from_u128(index as u128), incarnation }
}

impl World {
    fn new(run: Run, seed: u64) -> World {
        let mut random = Prng::new(seed ^ 0xd1b5_4a32_d192_ed03);
        let config = SealConfig {
            slot_count: run.machines - 1,
            value_bytes: VALUE_BYTES,
            tick_rate: 4,
            accept_frames: random.below(3),
            window_frames: run.window,
            input_delay_max: 2,
            early_frames: run.window,
            out_after_frames: 4 + random.below(20),
            history_frames: 12 + random.below(30),
            send_interval: Micros::ZERO,
            full_bytes: if random.chance(1, 2) { 96 } else { 0 },
            client_rate: RateLimit::UNLIMITED,
            packet_rate: RateLimit::UNLIMITED,
            resume_timeout: Micros::MAX,
            silence_timeout: Micros::from_secs(8),
            journal: run.journal,
            ..SealConfig::default()
        };
        let mut world = World {
            run,
            config,
            random,
            now: Micros::ZERO,
            referee: None,
            referee_frozen: false,
            epoch: 0,
            match_id: MATCH,
            file: Vec::new(),
            links: BTreeMap::new(),
            peers: Vec::new(),
            net: PacketPool::default(),
            counter: 0,
            checks: Checks::new(run),
        };
        world.start_referee();
        for index in 1..run.machines {
            let peer = world.process(index, 0);
            world.peers.push(peer);
        }
        world
    }

    fn process(&mut self, index: usize, incarnation: u32) -> Peer {
        let slots = StreamSlots::one(index - 1);
        let ablation = crate::ablation::Ablation { rule: self.run.rule };
        let config = self.config.clone();
        let mut client = Client::with_ablation(config, stream(index, incarnation), slots, ablation).unwrap();
        client.handle_connected(self.now);
        self.checks.begin(index);
        Peer {
            client,
            is_alive: true,
            is_frozen: false,
            is_leaving: false,
            wants_passive: false,
            clock: Frame::START,
            lead: 0,
            newest: Frame::START,
        }
    }

    fn start_referee(&mut self) {
        self.epoch += 1;
        let (now, config, epoch) = (self.now, self.config.clone(), Epoch(self.epoch));
        // If the file is cut in its first record, no client was told any frame.
        let recovered = read_journal(&self.file, &config, |_| {}).ok();
        self.file.truncate(recovered.as_ref().map_or(0, |recovered| recovered.whole_bytes));
        let mut referee = if let Some(recovered) = recovered {
            Referee::resume(now, config, epoch, recovered).unwrap()
        } else if self.epoch == 1 {
            Referee::found(now, config, self.match_id, epoch).unwrap()
        } else {
            Referee::ask(now, config, self.match_id, epoch).unwrap()
        };
        referee.set_ablation(crate::ablation::Ablation { rule: self.run.rule });
        self.checks.restart(referee.log().sealed(), self.run.journal);
        self.referee = Some(referee);
        self.links.clear();
        // Some links are restored at once, others when their client sends something.
        for index in 1..=self.peers.len() {
            let stream = self.peers[index - 1].client.stream();
            let slots = Some(StreamSlots::one(index - 1));
            if self.peers[index - 1].is_alive
                && self.random.chance(3, 4)
                && let Some(referee) = self.referee.as_mut()
                && let Ok(link) = referee.handle_connected(self.now, stream, slots)
            {
                self.links.insert(index, (stream, link));
            }
        }
    }

    fn crash_referee(&mut self) {
        let Some(referee) = self.referee.take() else { return };
        // The write may have been under way at the crash.
        if self.run.journal && self.run.rule != Some(Rule::JournalComesFirst) {
            let pending = referee.records();
            let torn = self.random.below(pending.len() as u32 + 1) as usize;
            self.file.extend_from_slice(&pending[..torn]);
        }
        self.referee_frozen = false;
    }

    fn crash(&mut self, machine: usize) {
        match machine {
            0 => self.crash_referee(),
            _ => self.peers[machine - 1].is_alive = false,
        }
    }

    fn is_alive(&self, machine: usize) -> bool {
        if machine == 0 { self.referee.is_some() } else { self.peers[machine - 1].is_alive }
    }

    fn restart(&mut self, machine: usize) {
        if machine == 0 {
            return self.start_referee();
        }
        let renew = u32::from(self.run.rule != Some(Rule::RestartsAreNew));
        let incarnation = self.peers[machine - 1].client.stream().incarnation + renew;
        self.peers[machine - 1] = self.process(machine, incarnation);
    }

    fn tick(&mut self, machine: usize) {
        if machine == 0 { self.tick_referee() } else { self.tick_peer(machine) }
    }

    fn tick_referee(&mut self) {
        let living: Vec<PeerId> = self
            .peers
            .iter()
            .filter(|peer| peer.is_alive && peer.client.phase() == ClientPhase::Following)
            .map(|peer| peer.client.stream().peer)
            .collect();
        let Some(referee) = self.referee.as_mut().filter(|_| !self.referee_frozen) else { return };
        let is_late = self.run.rule == Some(Rule::JournalComesFirst);
        if is_late {
            self.file.extend_from_slice(referee.records());
            referee.mark_records_written();
        }
        referee.expect_answers(living.into_iter());
        referee.tick(self.now);
        if referee.phase() == RefereePhase::Running {
            self.match_id = referee.lineage().match_id();
        }
        // Records that are not written yet are told to no client.
        if !is_late && !self.random.chance(1, 4) {
            self.file.extend_from_slice(referee.records());
            referee.mark_records_written();
        }
        let (stream, epoch) = (stream(0, 0), self.epoch);
        while let Some(sent) = referee.poll_transmit() {
            let to = self.links.iter().find(|(_, (_, link))| *link == sent.link).map(|(index, _)| *index);
            let Some(to) = to else { continue };
            let (is_reliable, bytes) = (sent.is_reliable, sent.bytes.to_vec());
            self.net.send(0, to, Packet { is_reliable, epoch, stream, bytes });
        }
        self.checks.seal(referee);
        self.poll_referee();
    }

    fn poll_referee(&mut self) {
        while let Some(event) = self.referee.as_mut().and_then(Referee::poll_event) {
            match event {
                RefereeEvent::Resumed { base, is_anew, .. } => self.checks.resumed(base, is_anew),
                RefereeEvent::SnapshotWanted => self.donate(),
                RefereeEvent::Joined { .. } => self.checks.stats.joins += 1,
                RefereeEvent::Left { .. } => self.checks.stats.outs += 1,
                RefereeEvent::Desync { .. } => {}
            }
        }
    }

    /// Lets any client donate the state of its last sealed frame.
    fn donate(&mut self) {
        let Some(referee) = self.referee.as_mut() else { return };
        for index in 1..self.run.machines {
            let peer = &self.peers[index - 1];
            let epoch = peer.client.lineage().map(crate::lineage::Lineage::epoch);
            if !peer.is_alive || epoch != Some(Epoch(self.epoch)) {
                continue;
            }
            if let Some((frame, state)) = self.checks.state(index)
                && referee.put_snapshot(frame, 0, state.to_le_bytes().to_vec())
            {
                return;
            }
        }
        // If all clients wait for a state, the application gives one, as if it had stored it.
        let sealed = referee.log().sealed();
        if let Some(state) = self.checks.straight(referee.lineage().match_id(), sealed) {
            referee.put_snapshot(sealed, 0, state.to_le_bytes().to_vec());
        }
    }

    fn tick_peer(&mut self, machine: usize) {
        let peer = &mut self.peers[machine - 1];
        if !peer.is_alive || peer.is_frozen {
            return;
        }
        if let ClientPhase::Over(_) = peer.client.phase() {
            return self.restart(machine);
        }
        let sealed = peer.client.log().sealed();
        let is_late = matches!(peer.client.log().cell(sealed, Slot::at(machine - 1)), Cell::Missed { .. });
        peer.lead = (peer.lead + u32::from(is_late)).min(self.run.window);
        peer.clock = peer.clock.next().max(sealed + peer.lead).min(sealed + self.run.window);
        if peer.client.phase() == ClientPhase::Following {
            // Frames during a suspension never get an entry.
            peer.newest = peer.newest.max(sealed);
            while peer.newest < peer.clock + self.run.delay {
                peer.newest = peer.newest.next();
                self.counter += 1;
                let repeats = self.random.chance(1, 3) && self.checks.has_value(peer.client.stream());
                let value = self.counter.to_le_bytes();
                let given = if peer.wants_passive {
                    peer.client.set_passive(peer.newest)
                } else {
                    peer.client.set_entry(peer.newest, &[(!repeats).then_some(&value[..])])
                };
                if given.is_ok() {
                    let value = (!repeats).then_some(self.counter);
                    self.checks.entry(peer.client.stream(), peer.newest, value, peer.wants_passive);
                }
            }
        }
        peer.client.set_ready(true);
        if peer.is_leaving {
            peer.client.leave();
        }
        peer.client.tick(self.now);
        let stream = peer.client.stream();
        while let Some(sent) = peer.client.poll_transmit() {
            let (is_reliable, bytes) = (sent.is_reliable, sent.bytes.to_vec());
            self.net.send(machine, 0, Packet { is_reliable, epoch: 0, stream, bytes });
        }
    }

    fn deliver(&mut self, (from, to, packet): (usize, usize, Packet)) {
        if to == 0 { self.deliver_to_referee(from, &packet) } else { self.deliver_to_peer(to, &packet) }
    }

    fn deliver_to_referee(&mut self, from: usize, packet: &Packet) {
        let Some(referee) = self.referee.as_mut().filter(|_| !self.referee_frozen) else { return };
        let known = self.links.get(&from).copied();
        let link = match known {
            Some((stream, link)) if stream == packet.stream => link,
            _ => {
                let slots = Some(StreamSlots::one(from - 1));
                let Ok(link) = referee.handle_connected(self.now, packet.stream, slots) else { return };
                self.links.insert(from, (packet.stream, link));
                link
            }
        };
        let result = if packet.is_reliable {
            referee.handle_message(self.now, link, &packet.bytes)
        } else {
            referee.handle_packet(self.now, link, &packet.bytes)
        };
        match result {
            Ok(()) | Err(crate::sealer::Fault::Flood) => {}
            Err(fault) => self.checks.fail(format!("FAULT p{}: {fault}", from)),
        }
    }

    fn deliver_to_peer(&mut self, to: usize, packet: &Packet) {
        let peer = &mut self.peers[to - 1];
        if !peer.is_alive || peer.is_frozen {
            return;
        }
        // A link begins with a handshake: no client uses packets of a crashed referee.
        let is_current = self.referee.is_some() && packet.epoch == self.epoch;
        if packet.is_reliable && !is_current && peer.client.phase() == ClientPhase::Entering {
            return;
        }
        let result = if packet.is_reliable {
            peer.client.handle_message(self.now, &packet.bytes)
        } else {
            peer.client.handle_packet(self.now, &packet.bytes)
        };
        if let Err(error) = result {
            self.checks.fail(format!("FAULT referee at p{}: {error}", to));
        }
        while let Some(event) = self.peers[to - 1].client.poll_event() {
            self.note(to, &event);
        }
        let is_witness = self.run.steady && to + 1 == self.run.machines && !packet.is_reliable;
        let peer = &self.peers[to - 1];
        self.checks.follow(to, &peer.client);
        if is_witness && is_current {
            self.checks.witness(&peer.client, &packet.bytes);
        }
    }

    fn note(&mut self, index: usize, event: &ClientEvent) {
        match event {
            ClientEvent::SnapshotReceived { frame, state, .. } => {
                let state = state.as_slice().try_into().map_or(0, u64::from_le_bytes);
                self.checks.boot(index, *frame, state);
                let peer = &mut self.peers[index - 1];
                let newest = peer.client.newest_entry();
                (peer.clock, peer.newest) = (peer.clock.max(*frame), newest.max(*frame));
            }
            ClientEvent::Refused { frame } => self.checks.refused(index, *frame),
            ClientEvent::TermChanged { kept, sealed, epoch } => {
                self.checks.term_changed(index, *kept, *sealed, *epoch);
            }
            ClientEvent::Reset => {
                let stream = self.peers[index - 1].client.stream();
                self.checks.reset(index, stream);
                self.peers[index - 1].clock = Frame::START;
            }
            ClientEvent::Over { .. }
            | ClientEvent::StateWanted { .. }
            | ClientEvent::Desync { .. }
            | ClientEvent::RefereeLost => {}
        }
    }
}
