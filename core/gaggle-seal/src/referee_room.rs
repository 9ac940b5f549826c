//! A referee with its members: from the first hello of a client to an empty room.
//!
//! A server or a simulated lobby passes links, messages and time to it, writes its records and
//! sends its output. Absent: sockets, files, tickets, the lobby.

mod output;

use std::collections::VecDeque;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{DecodeError, Micros, PeerId, VecMap};

use crate::config::SealConfig;
use crate::hello::Hello;
use crate::journal::{Damage, JournalError, read_journal};
use crate::lineage::Epoch;
use crate::message::Message;
use crate::referee::{ConnectError, LinkId, Referee, RefereeEvent};
use crate::roster::{OutReason, StreamId};
use crate::sealer::Fault;
use crate::shape::StreamSlots;

/// Time in which a connected peer has to say hello.
const HELLO_TIMEOUT: Micros = Micros::from_secs(5);
/// Time after which a room without connected peers closes.
const EMPTY_TIMEOUT: Micros = Micros::from_secs(60);
/// First stream whose messages are the application's: they are forwarded.
pub const FORWARD_STREAM_MIN: u8 = 16;
/// Bytes of a forwarded message, its recipient included.
const FORWARD_BYTES_MAX: usize = 16 << 10;
/// Bytes of a message to all members, in rooms of more than [`CROWD`] members.
const CROWD_BYTES_MAX: usize = 1 << 10;
const CROWD: usize = 64;
/// Bytes forwarded for one member to all its recipients together.
pub const FORWARD_RATE: RateLimit = RateLimit::per_second(256 << 10, 1 << 20);
/// Most forwarded messages that wait to be sent.
const FORWARDS_MAX: usize = 8_192;
/// Most events that wait to be polled.
const EVENTS_MAX: usize = 1_024;

/// What a room begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A new match.
    Found,
    /// A match whose journal survived the process.
    Journal(Vec<u8>),
    /// A match whose journal is lost: clients are asked for their logs.
    Ask,
}

/// A room as the server sets it up. Rules of the match are in the first client's hello.
#[derive(Debug, Clone)]
pub struct RoomSetup {
    /// Identity of the match.
    pub match_id: u64,
    /// Number of this start of the room's referee, higher with each.
    pub epoch: Epoch,
    /// Fingerprint of the build that plays here; `None` takes that of the first client.
    pub build: Option<u64>,
    /// What the match begins with.
    pub origin: Origin,
    /// Settings of the referee alone: rates, numbers of clients, the journal, spectators' delay.
    pub server: SealConfig,
    /// Most slots that a client's rules may ask for.
    pub slots_max: usize,
    /// Largest tick rate that they may ask for.
    pub tick_rate_max: u32,
    /// Most kept frames that they may ask for.
    pub history_frames_max: u32,
}

impl Default for RoomSetup {
    fn default() -> RoomSetup {
        RoomSetup {
            match_id: 0,
            epoch: Epoch(1),
            build: None,
            origin: Origin::Found,
            server: SealConfig::default(),
            slots_max: crate::SLOTS_MAX,
            tick_rate_max: 128,
            history_frames_max: 1_200,
        }
    }
}

/// What the lobby lets a peer do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admission {
    /// Slots it plays in; `None` for a spectator.
    pub slots: Option<StreamSlots>,
}

/// Why a peer's link is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// It plays another build, other rules or another version of the protocol.
    #[error("another build or other settings than the room's")]
    Incompatible,
    /// Its rules are invalid, or beyond what the server allows.
    #[error("settings beyond what the server allows")]
    Settings,
    /// It said no hello in time.
    #[error("no hello within 5 seconds")]
    Silent,
    /// It broke the protocol.
    #[error(transparent)]
    Fault(Fault),
    /// The match has no place for it.
    #[error(transparent)]
    Rejected(ConnectError),
}

/// Phase of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomPhase {
    /// No client has said hello.
    Gathering,
    /// The referee runs.
    Running,
    /// It was empty for a minute, or its referee has drained.
    Closed,
}

/// An event in a room.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields named after their types")]
pub enum RoomEvent {
    /// An event of the referee.
    Referee(RefereeEvent),
    /// The match goes on from its journal, which may be damaged behind this frame.
    Recovered { frame: gaggle_kit::Frame, damage: Option<Damage> },
    /// The journal is unusable: clients are asked for their logs.
    JournalRejected(JournalError),
    /// A peer's link is closed for this reason.
    Closed { peer: PeerId, reason: CloseReason },
}

#[derive(Debug)]
struct Member {
    admission: Admission,
    connected_at: Micros,
    /// `None` before its hello.
    link: Option<LinkId>,
    forwards: RateLimiter,
}

/// A message from one member to others.
#[derive(Debug)]
struct Forward {
    to: PeerId,
    stream: u8,
    bytes: Vec<u8>,
}

/// A packet or message to send to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoomTransmit<'a> {
    /// Peer it is for.
    pub peer: PeerId,
    /// Stream of a reliable message; `None` for an unreliable packet.
    pub stream: Option<u8>,
    /// Bytes of the packet or message.
    pub bytes: &'a [u8],
}

/// One room of a referee server.
#[derive(Debug)]
pub struct RefereeRoom {
    setup: RoomSetup,
    referee: Option<Referee>,
    members: VecMap<PeerId, Member>,
    /// Members that a referee without a journal waits for.
    expected: Vec<PeerId>,
    forwards: VecDeque<Forward>,
    forwarded: Vec<u8>,
    closes: VecDeque<(PeerId, CloseReason)>,
    events: VecDeque<RoomEvent>,
    dropped: u64,
    now: Micros,
    empty_since: Option<Micros>,
    is_closed: bool,
}

impl RefereeRoom {
    /// A room that waits for its first client.
    pub const fn new(now: Micros, setup: RoomSetup) -> RefereeRoom {
        RefereeRoom {
            setup,
            referee: None,
            members: VecMap::new(),
            expected: Vec::new(),
            forwards: VecDeque::new(),
            forwarded: Vec::new(),
            closes: VecDeque::new(),
            events: VecDeque::new(),
            dropped: 0,
            now,
            empty_since: Some(now),
            is_closed: false,
        }
    }

    /// Current phase of the room.
    pub const fn phase(&self) -> RoomPhase {
        match (&self.referee, self.is_closed) {
            (_, true) => RoomPhase::Closed,
            (Some(_), _) => RoomPhase::Running,
            (None, _) => RoomPhase::Gathering,
        }
    }

    /// The referee, once a client has said hello.
    pub const fn referee(&self) -> Option<&Referee> {
        self.referee.as_ref()
    }

    /// Number of connected peers.
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// Number of this start of the referee.
    pub const fn epoch(&self) -> Epoch {
        self.setup.epoch
    }

    /// Forwarded messages dropped because their sender exceeded its rate or a size.
    pub const fn forwards_dropped(&self) -> u64 {
        self.dropped
    }

    /// Sets the members that a referee without a journal waits for: those that can still answer.
    pub fn expect_answers(&mut self, peers: impl Iterator<Item = PeerId>) {
        self.expected = peers.collect();
        if let Some(referee) = &mut self.referee {
            referee.expect_answers(self.expected.iter().copied());
        }
    }

    /// Handles a new link of a peer that the lobby admitted. An older link of it is void.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId, admission: Admission) {
        self.now = self.now.max(now);
        self.empty_since = None;
        let (connected_at, forwards) = (self.now, RateLimiter::default());
        self.members.insert(peer, Member { admission, connected_at, link: None, forwards });
    }

    /// Handles a closed link: the peer's rows end for this reason.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId, why: OutReason) {
        self.now = self.now.max(now);
        let member = self.members.remove(&peer);
        if let (Some(referee), Some(link)) = (&mut self.referee, member.and_then(|member| member.link)) {
            referee.handle_disconnected(self.now, link, why);
        }
        if self.members.is_empty() {
            self.empty_since = Some(self.now);
        }
    }

    /// Ends the rows of a peer that the lobby removed. It may stay as a spectator.
    pub fn remove(&mut self, peer: PeerId) {
        let link = self.members.get(&peer).and_then(|member| member.link);
        if let (Some(referee), Some(link)) = (&mut self.referee, link) {
            referee.remove(link);
        }
    }

    /// Handles an unreliable packet of a peer.
    pub fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        self.now = self.now.max(now);
        let link = self.members.get(&peer).and_then(|member| member.link);
        // Packets may overtake the hello.
        let (Some(referee), Some(link)) = (&mut self.referee, link) else { return };
        if let Err(fault) = referee.handle_packet(self.now, link, bytes) {
            self.close(peer, CloseReason::Fault(fault));
        }
    }

    /// Handles a reliable message of a peer.
    pub fn handle_message(&mut self, now: Micros, peer: PeerId, stream: u8, bytes: &[u8]) {
        self.now = self.now.max(now);
        let Some(member) = self.members.get(&peer) else { return };
        let result = match (member.link, &mut self.referee) {
            (Some(_), _) if stream >= FORWARD_STREAM_MIN => {
                self.forward(peer, stream, bytes);
                return;
            }
            // Streams are independent: it overtook the hello.
            (None, _) if stream >= FORWARD_STREAM_MIN => return,
            (Some(link), Some(referee)) => {
                referee.handle_message(self.now, link, bytes).map_err(CloseReason::Fault)
            }
            _ => self.greet(peer, bytes),
        };
        if let Err(reason) = result {
            self.close(peer, reason);
        }
    }

    /// Takes a peer's hello, and founds the referee with the first one.
    fn greet(&mut self, peer: PeerId, bytes: &[u8]) -> Result<(), CloseReason> {
        let hello = match Message::read(bytes) {
            Ok(Message::Hello(hello)) => hello,
            Err(DecodeError::Unknown { what: "version", .. }) => return Err(CloseReason::Incompatible),
            _ => return Err(CloseReason::Fault(Fault::NoHello)),
        };
        let build = hello.build.fingerprint(&hello.rules);
        if self.setup.build.is_some_and(|expected| expected != build) {
            return Err(CloseReason::Incompatible);
        }
        if self.referee.is_none() {
            self.found(&hello)?;
        }
        self.setup.build = Some(build);
        let Some(member) = self.members.get_mut(&peer) else { return Ok(()) };
        let Some(referee) = &mut self.referee else { return Ok(()) };
        let slots = member.admission.slots.filter(|_| !hello.is_spectator);
        let stream = StreamId { peer, incarnation: hello.incarnation };
        let link = referee.handle_connected(self.now, stream, slots).map_err(CloseReason::Rejected)?;
        member.link = Some(link);
        Ok(())
    }

    /// Settings of a referee: rules from the client, all others from the server.
    fn config_of(&self, hello: &Hello) -> Result<SealConfig, CloseReason> {
        let (rules, server) = (&hello.rules, &self.setup.server);
        let is_within = rules.slot_count <= self.setup.slots_max
            && rules.tick_rate <= self.setup.tick_rate_max
            && rules.history_frames <= self.setup.history_frames_max;
        let config = SealConfig {
            spectator_interval: server.spectator_interval,
            spectator_delay_frames: server.spectator_delay_frames.min(rules.history_frames / 2),
            spectators_max: server.spectators_max,
            full_bytes: server.full_bytes,
            client_rate: server.client_rate,
            state_rate: server.state_rate,
            packet_rate: server.packet_rate,
            resume_timeout: server.resume_timeout,
            clients_max: server.clients_max,
            journal: server.journal,
            ..rules.clone()
        };
        if !is_within || config.check().is_err() { Err(CloseReason::Settings) } else { Ok(config) }
    }

    fn found(&mut self, hello: &Hello) -> Result<(), CloseReason> {
        let config = self.config_of(hello)?;
        let (now, match_id, epoch) = (self.now, self.setup.match_id, self.setup.epoch);
        let recovered = match std::mem::replace(&mut self.setup.origin, Origin::Ask) {
            Origin::Found => None,
            Origin::Ask => Some(Err(None)),
            Origin::Journal(bytes) => Some(read_journal(&bytes, &config, |_| {}).map_err(Some)),
        };
        let referee = match recovered {
            None => Referee::found(now, config, match_id, epoch),
            Some(Ok(recovered)) => {
                let (frame, damage) = (recovered.log.sealed(), recovered.damage);
                self.event(RoomEvent::Recovered { frame, damage });
                Referee::resume(now, config, epoch, recovered)
            }
            Some(Err(error)) => {
                if let Some(error) = error {
                    self.event(RoomEvent::JournalRejected(error));
                }
                Referee::ask(now, config, match_id, epoch)
            }
        };
        let mut referee = referee.map_err(|_| CloseReason::Settings)?;
        // The old journal may be damaged behind what was read: the new one stands alone.
        referee.rewrite_journal();
        if !self.expected.is_empty() {
            referee.expect_answers(self.expected.iter().copied());
        }
        self.referee = Some(referee);
        Ok(())
    }

    /// Passes a message of the application on: its first 16 bytes name the recipient, or are 0 for
    /// all; the recipient gets the sender's name there.
    fn forward(&mut self, from: PeerId, stream: u8, bytes: &[u8]) {
        let Some((to, content)) = bytes.split_first_chunk::<16>() else {
            return self.close(from, CloseReason::Fault(Fault::NoHello));
        };
        let is_to_all = *to == [0; 16];
        let crowd = self.members.len();
        let most = if is_to_all && crowd > CROWD { CROWD_BYTES_MAX } else { FORWARD_BYTES_MAX };
        let to = PeerId::from_bytes(*to);
        let recipients: Vec<PeerId> = if is_to_all {
            self.members.keys().copied().filter(|peer| *peer != from).collect()
        } else {
            self.members.keys().copied().filter(|peer| *peer == to).collect()
        };
        let cost = (bytes.len() * recipients.len().max(1)) as u64;
        let Some(member) = self.members.get_mut(&from) else { return };
        let is_over = member.forwards.try_acquire(self.now, &FORWARD_RATE, cost).is_err();
        if bytes.len() > most || self.forwards.len() + recipients.len() > FORWARDS_MAX || is_over {
            self.dropped += 1;
            return;
        }
        for to in recipients {
            let bytes = [&from.as_bytes()[..], content].concat();
            self.forwards.push_back(Forward { to, stream, bytes });
        }
    }

    fn close(&mut self, peer: PeerId, reason: CloseReason) {
        self.handle_disconnected(self.now, peer, OutReason::Removed);
        self.closes.push_back((peer, reason));
        self.event(RoomEvent::Closed { peer, reason });
    }

    fn event(&mut self, event: RoomEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
