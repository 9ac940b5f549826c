//! State of one connection: its peer, its current procedure, its liveness.
//!
//! Owned by [`Node`](super::Node). Absent: other connections, sending, what messages mean.

use std::collections::VecDeque;
use std::net::IpAddr;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{Micros, PeerId};

use super::entering::Entering;
use super::signals::Signals;
use super::{ConnectionId, LobbyLimit};
use crate::directory::command::{Attach, Caller, ShownTicket};
use crate::id::{NodeId, PlayerId, ResumeId, RoomId};
use crate::label::DisplayName;
use crate::message::client::Hello;
use crate::message::{ClientMessage, Envelope, MESSAGE_BYTES_MAX, Rejection, RejectionCode};
use crate::room::{Attachment, Displace, Source};
use crate::rules::{Limits, Rules};

/// Messages that wait behind a running procedure; their bytes are limited to two of the longest.
const WAITING_MAX: usize = 32;
const WAITING_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
/// Offenses per time that no correct client commits; more end the connection.
const STRIKES: RateLimit = RateLimit::every(Micros::from_millis(500), 20);

/// Pings and pongs per time: some clients send one a second, none a hundred.
const BEATS: RateLimit = RateLimit::every(Micros::from_millis(100), 100);

/// State of one connection.
#[derive(Debug)]
pub(super) struct Connection {
    address: IpAddr,
    /// It uses one of the reserved connections.
    in_reserve: bool,
    since: Micros,
    phase: Phase,
    heard_at: Micros,
    pinged_at: Option<Micros>,
    messages: RateLimiter,
    bytes: RateLimiter,
    strikes: RateLimiter,
    /// Limits pings and pongs.
    beats: RateLimiter,
    /// Running procedure; messages wait until it ends.
    procedure: Procedure,
    waiting: VecDeque<Waiting>,
    /// Connections that wait to learn whether this one is alive.
    probed_by: Vec<Prober>,
}

/// A waiting message and its length in bytes.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) envelope: Envelope<ClientMessage>,
    pub(super) bytes: usize,
}

/// What a connection waits for, and what follows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Procedure {
    /// Waits for nothing.
    Idle,
    /// Waits for its reservation after `hello`.
    Greet,
    /// Waits for the reply to a command; nothing follows.
    Command,
    /// Waits to take the reservation over, then perhaps joins another room.
    TakeOver { then: Option<Box<Entering>> },
    /// Waits to leave its room, then searches for players of similar skill.
    LeaveThenSearch(Box<Entering>),
}

/// A connection that probes another one of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prober {
    /// A connection of this node.
    Here(ConnectionId),
    /// A connection of another node.
    There(NodeId, ConnectionId),
}

/// Progress of a connection's identification.
#[derive(Debug)]
pub(super) enum Phase {
    /// `hello` has not arrived.
    New,
    /// `hello` has arrived; its token is being checked.
    Verifying(Option<u64>, Box<Hello>),
    /// The peer is identified.
    Known(Box<Session>),
}

/// The peer behind a connection.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) player: PlayerId,
    pub(super) source: Source,
    pub(super) peer: PeerId,
    pub(super) name: DisplayName,
    pub(super) link: Attachment,
    pub(super) resume: String,
    pub(super) stage: Stage,
    pub(super) room: Option<RoomId>,
    pub(super) signals: Signals,
    /// When the client last sent a message; pongs do not count.
    pub(super) touched_at: Micros,
}

impl Session {
    /// The command that requests the peer's reservation.
    pub(super) fn attach(&self, displace: Displace) -> Attach {
        let caller = Caller { peer: self.peer, player: self.player, link: self.link, source: self.source };
        let (resume, ticket) = match &self.stage {
            Stage::Greeting(greeting) => (greeting.resume, greeting.ticket.clone()),
            _ => (None, None),
        };
        Attach { caller, name: self.name.clone(), resume, displace, ticket }
    }
}

/// Progress of a session after identification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// `welcome` is not sent yet.
    Greeting(Box<Greeting>),
    /// It speaks for its peer.
    Home,
    /// Another connection speaks for its peer.
    Elsewhere,
}

/// Data of a `hello` that is needed until `welcome`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) id: Option<u64>,
    /// The client sent a display name.
    pub(super) is_named: bool,
    /// Key created for a guest without one.
    pub(super) key: Option<String>,
    pub(super) resume: Option<ResumeId>,
    pub(super) seen: Option<u64>,
    pub(super) ticket: Option<ShownTicket>,
    /// Until when an older connection may prove that it is alive.
    pub(super) probe_until: Option<Micros>,
    /// The older connection, if it is at another node.
    pub(super) probed: Option<ResumeId>,
    /// Signal numbering continues from the previous connection.
    pub(super) resumed: bool,
}

impl Connection {
    pub(super) fn new(now: Micros, address: IpAddr) -> Connection {
        Connection {
            address,
            in_reserve: false,
            since: now,
            phase: Phase::New,
            heard_at: now,
            pinged_at: None,
            messages: RateLimiter::default(),
            bytes: RateLimiter::default(),
            strikes: RateLimiter::default(),
            beats: RateLimiter::default(),
            procedure: Procedure::Idle,
            waiting: VecDeque::new(),
            probed_by: Vec::new(),
        }
    }

    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether it uses one of the reserved connections.
    pub(super) fn is_in_reserve(&self) -> bool {
        self.in_reserve
    }

    /// Whether it uses one of the reserved connections from now on.
    pub(super) fn set_in_reserve(&mut self, in_reserve: bool) {
        self.in_reserve = in_reserve;
    }

    /// When anything was last received.
    pub(super) fn heard_at(&self) -> Micros {
        self.heard_at
    }

    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The session, once the peer is identified.
    pub(super) fn session(&self) -> Option<&Session> {
        match &self.phase {
            Phase::Known(session) => Some(session),
            _ => None,
        }
    }

    /// The session, to change it.
    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        match &mut self.phase {
            Phase::Known(session) => Some(session),
            _ => None,
        }
    }

    /// Ends the connection: its session, and the connections that wait to learn whether it is
    /// alive.
    pub(super) fn end(self) -> (Option<Session>, Vec<Prober>) {
        let session = match self.phase {
            Phase::Known(session) => Some(*session),
            _ => None,
        };
        (session, self.probed_by)
    }

    /// `hello` has arrived, and its token is checked.
    pub(super) fn begin_verifying(&mut self, id: Option<u64>, hello: Hello) {
        self.phase = Phase::Verifying(id, Box::new(hello));
    }

    /// The check of the token is over: the `hello` that waited for it.
    #[must_use]
    pub(super) fn end_verifying(&mut self) -> Option<(Option<u64>, Hello)> {
        match std::mem::replace(&mut self.phase, Phase::New) {
            Phase::Verifying(id, hello) => Some((id, *hello)),
            phase => {
                self.phase = phase;
                None
            }
        }
    }

    /// The peer is identified, and waits for its reservation.
    pub(super) fn identify(&mut self, session: Session) {
        self.phase = Phase::Known(Box::new(session));
        self.procedure = Procedure::Greet;
    }

    /// Starts a procedure: messages wait until it ends.
    pub(super) fn begin(&mut self, procedure: Procedure) {
        self.procedure = procedure;
    }

    /// Ends the procedure and returns it.
    pub(super) fn end_procedure(&mut self) -> Procedure {
        std::mem::replace(&mut self.procedure, Procedure::Idle)
    }

    /// Ends taking over a reservation, if that runs. Returns what follows.
    #[must_use]
    pub(super) fn end_take_over(&mut self) -> Option<Option<Box<Entering>>> {
        match self.end_procedure() {
            Procedure::TakeOver { then } => Some(then),
            procedure => {
                self.procedure = procedure;
                None
            }
        }
    }

    /// The client was heard.
    pub(super) fn note_heard(&mut self, now: Micros) {
        self.heard_at = now;
    }

    /// A ping or pong arrived. Returns false if there are too many.
    #[must_use]
    pub(super) fn note_beat(&mut self, now: Micros) -> bool {
        let is_permitted = self.beats.try_acquire(now, &BEATS, 1).is_ok();
        if is_permitted {
            self.heard_at = now;
        }
        is_permitted
    }

    /// Counts a message of any kind, or returns the limit it exceeds and how long to wait.
    pub(super) fn take_message(
        &mut self,
        now: Micros,
        limits: &Limits,
        bytes: u64,
    ) -> Result<(), (LobbyLimit, Micros)> {
        let message = self.messages.try_acquire(now, &limits.message, 1);
        message.map_err(|wait| (LobbyLimit::Message, wait))?;
        let taken = self.bytes.try_acquire(now, &limits.message_bytes, bytes);
        taken.map_err(|wait| (LobbyLimit::MessageBytes, wait))
    }

    /// Counts a rejection. True if the connection must be closed.
    pub(super) fn strike(&mut self, now: Micros, code: RejectionCode) -> bool {
        use RejectionCode::{BadMessage, OutOfOrder, TooFast, TooLarge};
        // Rejections that correct clients can meet do not count, such as a full room.
        let is_offense = matches!(code, BadMessage | OutOfOrder | TooFast | TooLarge);
        is_offense && self.strikes.try_acquire(now, &STRIKES, 1).is_err()
    }

    /// Whether new messages wait behind a running procedure.
    pub(super) fn must_wait(&self) -> bool {
        self.procedure != Procedure::Idle || matches!(self.phase, Phase::Verifying(..))
    }

    /// Queues a message until the procedure ends.
    pub(super) fn wait(&mut self, envelope: Envelope<ClientMessage>, bytes: usize) -> Result<(), Rejection> {
        let waiting_bytes: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        if self.waiting.len() >= WAITING_MAX || waiting_bytes + bytes > WAITING_BYTES_MAX {
            let text = format!("more than {WAITING_MAX} messages, or long ones, are waiting for an answer");
            return Err(Rejection {
                retry_after_ms: Some(100),
                ..Rejection::new(RejectionCode::TooFast, text)
            });
        }
        self.waiting.push_back(Waiting { envelope, bytes });
        Ok(())
    }

    /// The next waiting message, once the procedure has ended.
    #[must_use]
    pub(super) fn pop_waiting(&mut self) -> Option<Waiting> {
        if self.must_wait() { None } else { self.waiting.pop_front() }
    }

    /// Checks the deadlines of the connection.
    pub(super) fn check(&mut self, now: Micros, rules: &Rules) -> Check {
        match &self.phase {
            Phase::New | Phase::Verifying(..) => return Check::Dead("no `hello` was received"),
            Phase::Known(session) => match &session.stage {
                Stage::Greeting(greeting) => match greeting.probe_until {
                    Some(until) if until <= now => return Check::ProbeOver,
                    Some(until) => return Check::Wait(until),
                    None => {}
                },
                Stage::Home | Stage::Elsewhere => {}
            },
        }
        match self.pinged_at.filter(|at| self.heard_at < *at) {
            Some(at) if at + rules.pong_timeout <= now => Check::Dead(
                "nothing was received for too \
             long",
            ),
            Some(at) => Check::Wait(at + rules.pong_timeout),
            None if self.heard_at + rules.ping_interval <= now => {
                self.pinged_at = Some(now);
                Check::Ping(now + rules.pong_timeout)
            }
            None => Check::Alive(self.heard_at + rules.ping_interval),
        }
    }

    /// Whether the connection has been a member long enough to prove its network: a peer that joins
    /// and leaves at once proves nothing.
    pub(super) fn is_proof(&self, now: Micros, rules: &Rules) -> bool {
        let has_room = matches!(&self.phase, Phase::Known(session) if session.room.is_some());
        has_room && now.since(self.since) >= rules.ping_interval && self.heard_at > self.since
    }

    /// Records a probe by a connection that claims to be the same peer.
    pub(super) fn probe(&mut self, now: Micros, prober: Prober) {
        self.probed_by.push(prober);
        self.pinged_at = Some(now);
    }

    /// Whether connections wait to learn whether this one is alive.
    pub(super) fn is_probed(&self) -> bool {
        !self.probed_by.is_empty()
    }

    /// Connections that waited to learn whether this one is alive; they wait no more.
    #[must_use]
    pub(super) fn take_probers(&mut self) -> Vec<Prober> {
        std::mem::take(&mut self.probed_by)
    }
}

/// Result of a check, with the time of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Check {
    /// Close it, for this reason.
    Dead(&'static str),
    /// The older connection of its peer has not proven that it is alive.
    ProbeOver,
    /// Wait until this time.
    Wait(Micros),
    /// Send a ping and wait until this time.
    Ping(Micros),
    /// Alive; check again at this time.
    Alive(Micros),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    fn known(rules: &Rules) -> Connection {
        let mut connection = Connection::new(Micros::ZERO, "10.0.0.1".parse().unwrap());
        assert_eq!(connection.check(rules.hello_timeout, rules), Check::Dead("no `hello` was received"));
        connection.phase = Phase::Known(Box::new(Session {
            player: PlayerId::from_bytes([1; 16]),
            source: Source { network: crate::id::NetworkId(1), signed_in: false },
            peer: PeerId::from_bytes([1; 16]),
            name: "Nia".parse().unwrap(),
            link: Attachment { node: NodeId(1), epoch: 1, session: ResumeId(1) },
            resume: String::new(),
            stage: Stage::Home,
            room: None,
            signals: Signals::default(),
            touched_at: Micros::ZERO,
        }));
        connection
    }

    #[test]
    fn quiet_connection_is_pinged_and_then_dead() {
        let rules = Rules::default();
        let mut connection = known(&rules);
        let at = rules.ping_interval;
        let until = at + rules.pong_timeout;
        assert_eq!(connection.check(Micros::from_secs(1), &rules), Check::Alive(at));
        assert_eq!(connection.check(at, &rules), Check::Ping(until));
        assert_eq!(connection.check(at + Micros::new(1), &rules), Check::Wait(until));
        assert_eq!(connection.check(until, &rules), Check::Dead("nothing was received for too long"));
        connection.heard_at = until;
        assert_eq!(connection.check(until, &rules), Check::Alive(until + rules.ping_interval));
    }

    #[test]
    fn waiting_messages_are_bounded() {
        let mut connection = known(&Rules::default());
        connection.procedure = Procedure::Command;
        assert!(connection.must_wait());
        let message = || Envelope { id: None, message: crate::message::client::KeepAlive {}.into() };
        for _ in 0..WAITING_MAX {
            assert!(connection.wait(message(), 10).is_ok());
        }
        assert_eq!(connection.wait(message(), 10).unwrap_err().code, RejectionCode::TooFast);
        connection.waiting.clear();
        assert!(connection.wait(message(), WAITING_BYTES_MAX + 1).is_err());
    }

    #[test]
    fn only_offenses_count_as_strikes() {
        let mut connection = known(&Rules::default());
        assert!((0..100).all(|_| !connection.strike(Micros::ZERO, RejectionCode::RoomFull)));
        let offenses = (0..100).filter(|_| connection.strike(Micros::ZERO, RejectionCode::BadMessage));
        assert_eq!(offenses.count(), 80);
    }
}
