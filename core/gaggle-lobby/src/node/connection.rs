//! One connection: the peer behind it, what is under way for it, and whether it still lives.
//!
//! Absent: other connections, sending, what messages mean.

use std::collections::VecDeque;
use std::net::IpAddr;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{Micros, PeerId};

use super::ConnectionId;
use super::entering::Entering;
use super::signals::Signals;
use crate::directory::command::{Attach, Caller, ShownTicket};
use crate::id::{NodeId, PlayerId, ResumeId, RoomId};
use crate::label::DisplayName;
use crate::message::client::Hello;
use crate::message::{ClientMessage, Envelope, MESSAGE_BYTES_MAX, Rejection, RejectionCode};
use crate::room::{Attachment, Displace, Source};
use crate::rules::Rules;

/// Messages that wait while the directory is asked for the one before, and their bytes: two of the
/// longest.
const WAITING_MAX: usize = 32;
const WAITING_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
/// What nobody does by accident, so often in a row, ends a connection.
const STRIKES: RateLimit = RateLimit::every(Micros::from_millis(500), 20);

/// Pings and pongs: some clients send one a second, none a hundred.
pub(super) const BEATS: RateLimit = RateLimit::every(Micros::from_millis(100), 100);

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) address: IpAddr,
    /// It has one of the last places.
    pub(super) in_reserve: bool,
    since: Micros,
    pub(super) phase: Phase,
    pub(super) heard_at: Micros,
    pinged_at: Option<Micros>,
    pub(super) messages: RateLimiter,
    pub(super) bytes: RateLimiter,
    strikes: RateLimiter,
    /// Pings and pongs.
    pub(super) beats: RateLimiter,
    /// What is under way for this connection; what it says meanwhile waits.
    pub(super) procedure: Procedure,
    pub(super) waiting: VecDeque<Waiting>,
    /// Who wants to know whether this connection lives.
    pub(super) probed_by: Vec<Prober>,
}

/// Something that was said, and how long it was.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) envelope: Envelope<ClientMessage>,
    pub(super) bytes: usize,
}

/// What a connection waits for, and what follows from it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Procedure {
    /// Nothing.
    Idle,
    /// Its reservation, after `hello`.
    Greet,
    /// The reply to a command, after which nothing follows.
    Command,
    /// The reservation of another connection of its peer, perhaps to be in a room afterwards.
    TakeOver { then: Option<Box<Entering>> },
    /// To be out of its room, to search for players of its skill afterwards.
    LeaveThenSearch(Box<Entering>),
}

/// Somebody with the same key as a connection that may be dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prober {
    /// A connection here.
    Here(ConnectionId),
    /// A connection at another node.
    There(NodeId, ConnectionId),
}

/// How far a connection has come.
#[derive(Debug)]
pub(super) enum Phase {
    /// It has not said hello.
    New,
    /// It has, with a token that is being checked.
    Verifying(Option<u64>, Box<Hello>),
    /// It is known who it is.
    Known(Box<Session>),
}

/// Who is behind a connection.
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
    /// When it last said something itself, be it only `touch`.
    pub(super) touched_at: Micros,
}

impl Session {
    /// The command for the reservation of its peer.
    pub(super) fn attach(&self, displace: Displace) -> Attach {
        let caller = Caller { peer: self.peer, player: self.player, link: self.link, source: self.source };
        let (resume, ticket) = match &self.stage {
            Stage::Greeting(greeting) => (greeting.resume, greeting.ticket.clone()),
            _ => (None, None),
        };
        Attach { caller, name: self.name.clone(), resume, displace, ticket }
    }
}

/// How far a session has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// On the way to `welcome`.
    Greeting(Box<Greeting>),
    /// It speaks for its machine.
    Home,
    /// Another connection speaks for its machine.
    Elsewhere,
}

/// What a `hello` brought that is needed until `welcome`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) id: Option<u64>,
    /// It said what to be called.
    pub(super) is_named: bool,
    /// A key made for somebody who had none.
    pub(super) key: Option<String>,
    pub(super) resume: Option<ResumeId>,
    pub(super) seen: Option<u64>,
    pub(super) ticket: Option<ShownTicket>,
    /// Until when an older connection may show that it lives.
    pub(super) probe_until: Option<Micros>,
    /// That connection, if it is at another node.
    pub(super) probed: Option<ResumeId>,
    /// The signals of the connection before go on.
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

    /// Counts something refused. True if it was one too many.
    pub(super) fn strike(&mut self, now: Micros, code: RejectionCode) -> bool {
        use RejectionCode::{BadMessage, OutOfOrder, TooFast, TooLarge};
        // What happens to honest clients is no offence: a room is full, a host has changed.
        let is_offence = matches!(code, BadMessage | OutOfOrder | TooFast | TooLarge);
        is_offence && self.strikes.try_acquire(now, &STRIKES, 1).is_err()
    }

    /// Whether what it says has to wait, because something it said before is not decided yet.
    pub(super) fn must_wait(&self) -> bool {
        self.procedure != Procedure::Idle || matches!(self.phase, Phase::Verifying(..))
    }

    /// Keeps a message until the one before is done.
    pub(super) fn wait(&mut self, envelope: Envelope<ClientMessage>, bytes: usize) -> Result<(), Rejection> {
        let waiting_bytes: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        if self.waiting.len() >= WAITING_MAX || waiting_bytes + bytes > WAITING_BYTES_MAX {
            let text =
                format!("more than {WAITING_MAX} messages, or long ones, are waiting for an answer already");
            return Err(Rejection {
                retry_after_ms: Some(100),
                ..Rejection::new(RejectionCode::TooFast, text)
            });
        }
        self.waiting.push_back(Waiting { envelope, bytes });
        Ok(())
    }

    /// Whether the connection is overdue with anything.
    pub(super) fn check(&mut self, now: Micros, rules: &Rules) -> Check {
        match &self.phase {
            Phase::New | Phase::Verifying(..) => return Check::Dead("nobody said hello"),
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
            Some(at) if at + rules.pong_timeout <= now => Check::Dead("no sign of life"),
            Some(at) => Check::Wait(at + rules.pong_timeout),
            None if self.heard_at + rules.ping_interval <= now => {
                self.pinged_at = Some(now);
                Check::Ping(now + rules.pong_timeout)
            }
            None => Check::Alive(self.heard_at + rules.ping_interval),
        }
    }

    /// Whether a member of a room is there: one that comes for a slot and goes at once proves
    /// nothing.
    pub(super) fn is_proof(&self, now: Micros, rules: &Rules) -> bool {
        let has_room = matches!(&self.phase, Phase::Known(session) if session.room.is_some());
        has_room && now.since(self.since) >= rules.ping_interval && self.heard_at > self.since
    }

    /// It is asked for a sign of life, because another one claims to be the same peer.
    pub(super) fn probe(&mut self, now: Micros, prober: Prober) {
        self.probed_by.push(prober);
        self.pinged_at = Some(now);
    }
}

/// What a check of a connection says, and when to check again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Check {
    /// It is to be ended, and why.
    Dead(&'static str),
    /// The older connection of its peer has not shown that it lives.
    ProbeOver,
    /// It has until then.
    Wait(Micros),
    /// It is to be pinged, and has until then.
    Ping(Micros),
    /// It was heard lately.
    Alive(Micros),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    fn known(rules: &Rules) -> Connection {
        let mut connection = Connection::new(Micros::ZERO, "10.0.0.1".parse().unwrap());
        assert_eq!(connection.check(rules.hello_timeout, rules), Check::Dead("nobody said hello"));
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
        assert_eq!(connection.check(until, &rules), Check::Dead("no sign of life"));
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
    fn only_offences_count_as_strikes() {
        let mut connection = known(&Rules::default());
        assert!((0..100).all(|_| !connection.strike(Micros::ZERO, RejectionCode::RoomFull)));
        let offences = (0..100).filter(|_| connection.strike(Micros::ZERO, RejectionCode::BadMessage));
        assert_eq!(offences.count(), 80);
    }
}
