//! One connection: what is known about who is behind it, and whether it still lives.

use std::collections::VecDeque;
use std::net::IpAddr;

use gaggle_kit::{Micros, PeerId};

use super::signals::Signals;
use super::{AuditEvent, ConnectionId, Node, NodeOutput};
use crate::directory::{Command, Origin};
use crate::id::{NodeId, PlayerId, ResumeId, RoomId};
use crate::label::DisplayName;
use crate::message::client::Hello;
use crate::message::{ClientMessage, Envelope, MESSAGE_BYTES_MAX, Rejection, RejectionCode};
use crate::rate::RateLimiter;
use crate::room::{Attachment, RoomAction, Source};
use crate::rules::RateLimit;
use crate::ticket::Claims;
use crate::view::RawJson;

/// Messages that wait while the directory is asked for the one before, and their bytes: two of the
/// longest.
const WAITING_MAX: usize = 32;
const WAITING_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
/// What nobody does by accident, so often in a row, ends a connection.
const STRIKES: RateLimit = RateLimit { burst: 20, per: Micros::from_millis(500) };

/// Pings and pongs: some clients send one a second, none a hundred.
pub(super) const BEATS: RateLimit = RateLimit { burst: 100, per: Micros::from_millis(100) };

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
    /// The directory is being asked for this connection; what it says meanwhile waits.
    pub(super) busy: bool,
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
    /// Who asks, for the directory.
    pub(super) fn origin(&self) -> Origin {
        Origin { peer: self.peer, player: self.player, link: self.link, source: self.source }
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
    pub(super) ticket: Option<(Claims, RawJson)>,
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
            busy: false,
            waiting: VecDeque::new(),
            probed_by: Vec::new(),
        }
    }

    /// Counts something refused. True if it was one too many.
    pub(super) fn strike(&mut self, now: Micros, code: RejectionCode) -> bool {
        use RejectionCode::{BadMessage, OutOfOrder, TooFast, TooLarge};
        // What happens to honest clients is no offence: a room is full, a host has changed.
        let is_offence = matches!(code, BadMessage | OutOfOrder | TooFast | TooLarge);
        is_offence && self.strikes.take(now, STRIKES).is_err()
    }

    /// Whether what it says has to wait, because something it said before is not decided yet.
    pub(super) fn must_wait(&self) -> bool {
        self.busy || matches!(self.phase, Phase::Verifying(..))
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

    /// Takes this up before everything else that waits: it was its turn before.
    pub(super) fn put_first(&mut self, envelope: Envelope<ClientMessage>) {
        self.waiting.push_front(Waiting { envelope, bytes: 0 });
    }
}

impl Node {
    /// Looks whether a connection is overdue with anything, and when to look again.
    pub(super) fn check_connection(&mut self, now: Micros, connection: ConnectionId) {
        let rules = &self.rules;
        let Some(known) = self.connections.get_mut(&connection) else { return };
        let probe_until = match &known.phase {
            Phase::New | Phase::Verifying(..) => {
                let text = "nobody said hello";
                self.disconnect(now, connection, Rejection::new(RejectionCode::Silent, text));
                return;
            }
            Phase::Known(session) => match &session.stage {
                Stage::Greeting(greeting) => greeting.probe_until,
                _ => None,
            },
        };
        if let Some(until) = probe_until {
            if until <= now {
                self.probed(now, connection, false);
                self.deadlines.insert((now + self.rules.ping_interval, connection));
            } else {
                self.deadlines.insert((until, connection));
            }
            return;
        }
        // A connection that comes for a seat and goes at once proves nothing.
        let has_room = matches!(&known.phase, Phase::Known(session) if session.room.is_some());
        if has_room && now.since(known.since) >= rules.ping_interval && known.heard_at > known.since {
            self.limits.prove(now, known.address);
        }
        match known.pinged_at.filter(|at| known.heard_at < *at) {
            Some(at) if at + rules.pong_timeout <= now => {
                let text = "no sign of life";
                self.disconnect(now, connection, Rejection::new(RejectionCode::Silent, text));
            }
            Some(at) => {
                let due = at + rules.pong_timeout;
                self.deadlines.insert((due, connection));
            }
            None => {
                let quiet_until = known.heard_at + rules.ping_interval;
                if quiet_until <= now {
                    known.pinged_at = Some(now);
                    self.deadlines.insert((now + rules.pong_timeout, connection));
                    self.outputs.push_back(NodeOutput::Ping { connection });
                } else {
                    self.deadlines.insert((quiet_until, connection));
                }
                self.check_silence(now, connection);
            }
        }
    }

    /// Takes somebody out of their room who lets the socket answer and says nothing.
    fn check_silence(&mut self, now: Micros, connection: ConnectionId) {
        let silent_after = self.rules.idle_timeout;
        let Some(session) = self.session(connection) else { return };
        if let Some(room) = session.room
            && session.touched_at + silent_after <= now
        {
            let (peer, link) = (session.peer, session.link);
            let request = Command::Act { room, peer, link, act: RoomAction::IdleTimeout };
            self.ask(super::Asked::Nothing, request);
        }
    }

    /// Pings a connection at once, because somebody else claims to be the same.
    pub(super) fn probe(&mut self, now: Micros, connection: ConnectionId, prober: Prober) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        known.probed_by.push(prober);
        known.pinged_at = Some(now);
        self.outputs.push_back(NodeOutput::Ping { connection });
    }

    /// A connection that was asked whether it lives has shown that it does.
    pub(super) fn answer_probe(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        for prober in std::mem::take(&mut known.probed_by) {
            self.tell_prober(now, prober, true);
        }
    }

    pub(super) fn tell_prober(&mut self, now: Micros, prober: Prober, alive: bool) {
        match prober {
            Prober::Here(connection) => self.probed(now, connection, alive),
            Prober::There(node, connection) => {
                let message = super::NodeMessage::ProbeResult { connection, alive };
                self.outputs.push_back(NodeOutput::Tell { node, message });
            }
        }
    }

    /// Forgets a connection, whoever ended it. The seat behind it stays.
    pub(super) fn forget_connection(&mut self, now: Micros, connection: ConnectionId) {
        self.stop_search(connection, false);
        if self.session(connection).is_some_and(|session| session.room.is_some()) {
            self.note(connection, AuditEvent::Away);
        }
        let Some(known) = self.connections.remove(&connection) else { return };
        self.limits.disconnect(known.address, known.in_reserve);
        self.lists.remove(connection);
        if let Phase::Known(session) = known.phase {
            let Session { player, peer, link, room, signals, .. } = *session;
            self.limits.forget_identity(player);
            if self.by_peer.get(&peer) == Some(&connection) {
                self.by_peer.remove(&peer);
            }
            if let Some(room) = room {
                self.forget_local(room, peer, connection);
                let (next_signal, got, mail) = signals.into_mail(now);
                let request = Command::Detach { room, peer, link, next_signal, got, mail };
                self.ask(super::Asked::Nothing, request);
            }
        }
        for prober in known.probed_by {
            self.tell_prober(now, prober, false);
        }
    }
}
