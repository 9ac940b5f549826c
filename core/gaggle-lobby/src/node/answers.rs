//! What to do when the directory answers: every question remembers who it was for.

use gaggle_kit::{Micros, PeerId, Slot};

use super::connection::Stage;
use super::limits::RoomCharge;
use super::lists::ListKey;
use super::signals::Signals;
use super::{AuditEvent, ConnectionId, Node, RejectionCode};
use crate::directory::{Command, JoinedReply, QueuedSignal, Reply, RoomCopy};
use crate::id::RoomId;
use crate::message::server::{Done, JoinedRoom, MatchResult, MembershipState, Removed, SignalReceived};
use crate::message::{ClientMessage, Envelope, Rejection};
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom};
use crate::view::{LeaveReason, RoomView, Verdict};

/// Who asked, and why.
#[derive(Debug)]
pub(super) enum Asked {
    /// The node itself, to stay alive.
    Lease,
    /// Nobody waits for it.
    Nothing,
    /// A connection that said hello.
    Attach { connection: ConnectionId, peer: PeerId, link: Attachment },
    /// A connection that lost its seat because the node was taken for dead.
    AttachAgain { connection: ConnectionId, peer: PeerId, link: Attachment },
    /// A connection that wants the seat another one has, perhaps to do something with it.
    TakeOver {
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: Attachment,
        then: Option<Box<Envelope<ClientMessage>>>,
    },
    /// A connection that wants to be in a room, with the room that may have to be made for it if it
    /// did not ask for a new one.
    Enter {
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: Attachment,
        aside: Option<RoomCharge>,
    },
    /// A connection that leaves its room to look for people of its skill.
    Seek { connection: ConnectionId, id: Option<u64>, then: Box<(JoinRequest, NewRoom)> },
    /// A member that does something. With the match it reported, if it did.
    Act { connection: ConnectionId, id: Option<u64>, round: Option<u32> },
    /// A member that leaves its room and may be back in a moment.
    StepOut { connection: ConnectionId, id: Option<u64>, room: RoomId },
    /// A room some change of which did not arrive.
    Look { room: RoomId },
    /// A list.
    List(ListKey),
    /// A connection that looks for people of its skill.
    Search {
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: Attachment,
        aside: Option<RoomCharge>,
    },
    /// Storage was asked for the rating of somebody who begins to.
    Rating { connection: ConnectionId },
    /// Storage was asked.
    Query { connection: ConnectionId, id: Option<u64> },
}

impl Asked {
    /// Whether the answer may be a room this node has no copy of yet.
    pub(super) fn may_bring_room(&self) -> bool {
        matches!(
            self,
            Asked::Attach { .. }
                | Asked::AttachAgain { .. }
                | Asked::TakeOver { .. }
                | Asked::Enter { .. }
                | Asked::Search { .. }
        )
    }

    /// The room that was counted in case one had to be made.
    fn take_aside(&mut self) -> Option<RoomCharge> {
        match self {
            Asked::Enter { aside, .. } | Asked::Search { aside, .. } => aside.take(),
            _ => None,
        }
    }
}

impl Node {
    pub(super) fn take_reply(&mut self, now: Micros, ask: super::AskId, reply: Reply) {
        let Some(mut asked) = self.asked.remove(&ask) else { return };
        let has_made_room = matches!(&reply, Reply::Joined { seated, .. } if seated.created);
        if let Some(aside) = asked.take_aside().filter(|_| !has_made_room) {
            self.limits.give_room_back(aside, &self.rules);
        }
        let may_bring_room = asked.may_bring_room();
        self.take_answer(now, asked, reply);
        if may_bring_room {
            self.stop_expecting(ask);
        }
    }

    fn take_answer(&mut self, now: Micros, asked: Asked, reply: Reply) {
        match asked {
            Asked::Nothing | Asked::Query { .. } | Asked::Rating { .. } => {}
            Asked::Search { connection, id, peer, link, .. } => {
                self.searched(now, connection, id, peer, link, reply);
            }
            Asked::Lease => self.leased(now, &reply),
            Asked::Look { room } => {
                if let Reply::Room(copy) = reply {
                    self.looked(now, room, copy.map(|copy| *copy));
                }
            }
            Asked::List(key) => match reply {
                Reply::Listings { stamp, rooms } => self.take_list(&key, stamp, rooms),
                _ => self.list_failed(&key),
            },
            Asked::Attach { connection, peer, link } => self.attached(now, connection, peer, link, reply),
            Asked::AttachAgain { connection, peer, link } => {
                self.attached_again(now, connection, peer, link, reply);
            }
            Asked::TakeOver { connection, id, peer, link, then } => {
                self.taken_over(now, connection, id, peer, link, then, reply);
            }
            Asked::Enter { connection, id, peer, link, .. } => {
                match reply {
                    Reply::Joined { room, seated } => {
                        self.seat(now, connection, id, peer, link, *room, seated);
                    }
                    Reply::Rejected(refusal) => self.refuse(now, connection, id, refusal),
                    _ => {}
                }
                self.go_on(now, connection);
            }
            Asked::Seek { connection, id, then } => {
                let (newcomer, new) = *then;
                // Whatever came of leaving, the directory says once more who may look.
                if self.session(connection).is_some() {
                    self.begin_search(now, connection, id, &newcomer, new);
                }
                self.go_on(now, connection);
            }
            Asked::StepOut { connection, id, room } => {
                match reply {
                    Reply::Rejected(refusal) => self.refuse(now, connection, id, refusal),
                    _ => self.stepped_out(connection, id, room),
                }
                self.go_on(now, connection);
            }
            Asked::Act { connection, id, round } => {
                match (reply, round) {
                    (Reply::Rejected(refusal), _) => self.refuse(now, connection, id, refusal),
                    (Reply::Done { verdict, .. }, Some(round)) => {
                        let verdict = verdict.unwrap_or(Verdict::Pending);
                        self.send(connection, id, MatchResult { round, verdict });
                    }
                    _ => self.send(connection, id, Done {}),
                }
                self.go_on(now, connection);
            }
        }
    }

    /// The seat waits for another connection: this one has none any more, and does not speak for
    /// the machine.
    fn stepped_out(&mut self, connection: ConnectionId, id: Option<u64>, room: RoomId) {
        let Some(session) = self.session_mut(connection) else { return };
        let peer = session.peer;
        let had_seat = session.room == Some(room);
        if had_seat {
            self.leave_copy(connection, peer);
        } else {
            self.forget_local(room, peer, connection);
        }
        if self.by_peer.get(&peer) == Some(&connection) {
            self.by_peer.remove(&peer);
        }
        self.send(connection, id, Done {});
    }

    /// Somebody has left the room they are in as far as is known here: they are told, and so is the
    /// log.
    fn leave_copy(&mut self, connection: ConnectionId, peer: PeerId) {
        let Some(room) = self.session_mut(connection).and_then(|session| session.room.take()) else { return };
        self.forget_local(room, peer, connection);
        self.note_in(connection, Some(room), AuditEvent::Left(LeaveReason::Left));
        self.send(connection, None, Removed { room, reason: LeaveReason::Left });
    }

    fn attached(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        peer: PeerId,
        link: Attachment,
        reply: Reply,
    ) {
        match reply {
            Reply::Joined { room, seated } => {
                if let Attached::Resumed { next_signal, got } = seated.attached
                    && let Some(session) = self.session_mut(connection)
                    && let Stage::Greeting(greeting) = &mut session.stage
                    && !greeting.resumed
                {
                    greeting.resumed = true;
                    session.signals = Signals::resumed(next_signal, got);
                }
                if let Some(member) = room.view.member(peer) {
                    self.keep_name(connection, &member.name.clone());
                }
                let seen = self.session(connection).and_then(|session| match &session.stage {
                    Stage::Greeting(greeting) => greeting.seen,
                    _ => None,
                });
                self.welcome(now, connection, MembershipState::Yours, None);
                let unseen = self.seat(now, connection, None, peer, link, *room, seated);
                self.send_unseen(now, connection, seen.unwrap_or(0), unseen);
                self.go_on(now, connection);
            }
            Reply::Elsewhere { link: current, code } => self.probe_elsewhere(now, connection, current, code),
            Reply::Rejected(refusal) => {
                // The directory cannot be asked at the moment: nobody can be let in.
                self.disconnect(now, connection, refusal);
            }
            reply => {
                // Who has no seat by their ticket is told, and welcome all the same.
                if let Reply::NotInRoom { why: Some(refusal) } = reply {
                    self.refuse(now, connection, None, refusal);
                }
                self.welcome(now, connection, MembershipState::None, None);
            }
        }
    }

    /// Puts somebody into the copy of a room and tells them. Gives back the signals that waited for
    /// them.
    #[expect(clippy::too_many_arguments, reason = "who, where and how")]
    pub(super) fn seat(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: Attachment,
        room: RoomCopy,
        seated: JoinedReply,
    ) -> Vec<QueuedSignal> {
        let JoinedReply { created, returned, inherited, mail, .. } = seated;
        let room_id = room.view.id;
        let is_current = self.session(connection).is_some_and(|session| session.link == link);
        if !is_current {
            // Gone while the directory was asked: the seat waits for them as for anybody whose
            // connection broke.
            let request = Command::Detach { room: room_id, peer, link, next_signal: 1, got: None, mail };
            self.ask(Asked::Nothing, request);
            return Vec::new();
        }
        self.by_peer.insert(peer, connection);
        // Whoever switched has left before, whether or not the news of that have come.
        if self.session(connection).is_some_and(|session| session.room != Some(room_id)) {
            self.leave_copy(connection, peer);
        }
        let Some(view) = self.add_local(now, room, peer, connection).cloned() else {
            // What took it again is known here already, and was not passed on to them.
            if returned {
                self.send(connection, None, Removed { room: room_id, reason: LeaveReason::Closed });
            }
            if id.is_some() {
                let text = "the seat was lost again at once";
                self.refuse(now, connection, id, Rejection::new(RejectionCode::NotInRoom, text));
            }
            return Vec::new();
        };
        self.tally.rooms_created += u64::from(created);
        *(if returned { &mut self.tally.returned } else { &mut self.tally.joined }) += 1;
        self.note(connection, AuditEvent::Joined { created, returned });
        self.tell_seat(now, connection, id, view, (created, returned), inherited);
        self.catch_up(now, room_id);
        mail
    }

    /// Tells somebody which seat they have.
    pub(super) fn tell_seat(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        room: RoomView,
        (created, returned): (bool, bool),
        inherited: Vec<Slot>,
    ) {
        let Some(peer) = self.session(connection).map(|session| session.peer) else { return };
        let Some(member) = room.member(peer) else { return };
        let (slot, player) = (member.slot, member.player);
        let (ticket, expires) = self.ticket_for(now, connection).unwrap_or_default();
        let (ice, relay) = (self.ice.servers(now, player), self.ice.relay());
        let seated =
            JoinedRoom { created, returned, peer, slot, inherited, ticket, expires, room, ice, relay };
        self.send(connection, id, seated);
    }

    /// Sends what was sent to an earlier connection and not seen, then what waited meanwhile.
    fn send_unseen(&mut self, now: Micros, connection: ConnectionId, seen: u64, mail: Vec<QueuedSignal>) {
        let remembered = self.session(connection).map(|session| session.signals.unseen(seen));
        for (n, from, data) in remembered.unwrap_or_default() {
            self.send(connection, None, SignalReceived { from, n, data });
        }
        for QueuedSignal { from, n, data } in mail {
            match n {
                Some(n) if n <= seen => {}
                Some(n) => self.send(connection, None, SignalReceived { from, n, data }),
                None => self.send_signal(now, connection, from, data),
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "who wanted what, and the answer")]
    fn taken_over(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: Attachment,
        then: Option<Box<Envelope<ClientMessage>>>,
        reply: Reply,
    ) {
        match reply {
            Reply::Elsewhere { .. } => {
                let text = "another tab or machine with the same key has the seat: take over or close it";
                self.refuse(now, connection, id, Rejection::new(RejectionCode::AlreadyPlaying, text));
            }
            Reply::Rejected(refusal) => self.refuse(now, connection, id, refusal),
            reply => {
                // Another connection without a seat may still speak for the machine.
                if let Some(older) = self.by_peer.get(&peer).copied().filter(|older| *older != connection) {
                    let text = "another tab or machine with the same key took over";
                    self.say_bye(older, Rejection::new(RejectionCode::Replaced, text), false);
                    self.forget_connection(now, older);
                }
                if let Some(session) = self.session_mut(connection) {
                    session.stage = Stage::Home;
                    self.by_peer.insert(peer, connection);
                }
                match (reply, then) {
                    (Reply::Joined { room, seated }, _) => {
                        let mail = self.seat(now, connection, id, peer, link, *room, seated);
                        self.send_unseen(now, connection, 0, mail);
                    }
                    (_, Some(then)) => {
                        if let Some(known) = self.connections.get_mut(&connection) {
                            known.put_first(*then);
                        }
                    }
                    (_, None) => self.send(connection, id, Done {}),
                }
            }
        }
        self.go_on(now, connection);
    }

    /// The directory took this node for dead: begins a new life and asks for everybody's seat
    /// again.
    fn leased(&mut self, now: Micros, reply: &Reply) {
        match reply {
            Reply::LeaseExpired => {
                self.epoch += 1;
                self.renew_lease(now);
            }
            Reply::LeaseStarted if self.epoch > 1 => self.attach_all_again(),
            _ => {}
        }
    }

    fn attach_all_again(&mut self) {
        let connections: Vec<ConnectionId> = self.connections.keys().copied().collect();
        let epoch = self.epoch;
        for connection in connections {
            let Some(session) = self.session_mut(connection) else { continue };
            session.link.epoch = epoch;
            let (origin, peer, link, name) =
                (session.origin(), session.peer, session.link, session.name.clone());
            if let Some(room) = session.room {
                self.forget_local(room, peer, connection);
                let request =
                    Command::Attach { origin, name, resume: None, displace: Displace::Never, ticket: None };
                self.ask(Asked::AttachAgain { connection, peer, link }, request);
            }
        }
    }

    fn attached_again(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        peer: PeerId,
        link: Attachment,
        reply: Reply,
    ) {
        let Some(session) = self.session_mut(connection) else {
            if let Reply::Joined { room, seated } = reply {
                self.seat(now, connection, None, peer, link, *room, seated);
            }
            return;
        };
        let room = session.room.take();
        match reply {
            Reply::Joined { room, seated } => {
                session.signals = Signals::default();
                let mail = self.seat(now, connection, None, peer, link, *room, seated);
                self.send_unseen(now, connection, 0, mail);
            }
            Reply::Elsewhere { .. } => {
                let text = "another tab or machine with the same key took the seat over";
                self.say_bye(connection, Rejection::new(RejectionCode::Replaced, text), false);
                self.forget_connection(now, connection);
            }
            _ => {
                if let Some(room) = room {
                    self.note_in(connection, Some(room), AuditEvent::Left(LeaveReason::ConnectionLost));
                    self.send(connection, None, Removed { room, reason: LeaveReason::ConnectionLost });
                }
            }
        }
    }
}
