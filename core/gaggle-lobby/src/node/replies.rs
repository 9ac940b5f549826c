//! Replies to commands: what a connection is sent once its command is applied.
//!
//! The origin of an entry names the connection and its request; the command and the procedure of
//! the connection say what the reply means. Absent: how commands are made (`commands.rs`).

use gaggle_kit::{Micros, PeerId, Slot};

use super::connection::{Procedure, Stage};
use super::entering::Entering;
use super::pending_changes::Step;
use super::room_copies::Passed;
use super::signals::Signals;
use super::{AuditEvent, ConnectionId, Node, RejectionCode};
use crate::directory::command::{self, Act, Attach, Detach, QueueSignal};
use crate::directory::{Command, JoinedReply, LogEntry, QueuedSignal, Reply, RoomCopy};
use crate::id::RoomId;
use crate::message::server::{
    Done, JoinedRoom, MatchResult, MembershipState, Removed, SignalReceived, TicketRenewed,
};
use crate::message::{Rejection, ServerMessage};
use crate::room::{Attached, Attachment, Displace, RoomAction};
use crate::ticket::Claims;
use crate::view::{LeaveReason, Member, RawJson, RoomView, Verdict};

impl Node {
    pub(super) fn take_reply(&mut self, now: Micros, entry: &LogEntry, reply: Reply) {
        if let Command::Lease(lease) = &entry.command {
            if self.lease.is_answered(lease) {
                self.leased(now, &reply);
            }
            return;
        }
        let Some(origin) = entry.origin.filter(|origin| origin.node == self.lease.node()) else { return };
        let (connection, id) = (ConnectionId(origin.connection), origin.request);
        if let Command::Find(find) = &entry.command
            && find.may_create
        {
            let is_created = matches!(&reply, Reply::Joined { seated, .. } if seated.created);
            self.settle_charge(connection, is_created);
        }
        match &entry.command {
            Command::Find(find) if find.skill.is_some() => self.searched(now, connection, id, find, reply),
            Command::Attach(attach) => self.attach_applied(now, connection, id, attach, reply),
            Command::Find(command::Find { joiner, link, .. })
            | Command::Create(command::Create { joiner, link, .. })
            | Command::Join(command::Join { joiner, link, .. }) => {
                self.end_procedure(connection);
                match reply {
                    Reply::Joined { room, seated } => {
                        self.join_copy(now, connection, id, (joiner.peer, *link), *room, seated);
                    }
                    Reply::Rejected(refusal) => self.refuse(now, connection, id, refusal),
                    _ => {}
                }
                self.handle_waiting(now, connection);
            }
            Command::Act(act) => {
                match (self.end_procedure(connection), reply) {
                    // Leaving is not retried: with a full log that would never end.
                    (Procedure::LeaveThenSearch(then), reply) if !matches!(reply, Reply::Rejected(_)) => {
                        self.begin_search(now, connection, id, *then);
                    }
                    (_, reply) => self.acted(now, connection, id, act, reply),
                }
                self.handle_waiting(now, connection);
            }
            _ => {}
        }
    }

    /// Ends the procedure of a connection.
    pub(super) fn end_procedure(&mut self, connection: ConnectionId) -> Procedure {
        let known = self.connections.get_mut(connection);
        known.map_or(Procedure::Idle, super::Connection::end_procedure)
    }

    fn acted(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>, act: &Act, reply: Reply) {
        match (reply, &act.action) {
            (Reply::Rejected(refusal), _) => self.refuse(now, connection, id, refusal),
            (_, RoomAction::LeaveKeepingSlot(_)) => self.stepped_out(connection, id, act.room),
            (Reply::Done { verdict }, RoomAction::Report(report)) => {
                let (round, verdict) = (report.round, verdict.unwrap_or(Verdict::Pending));
                self.send(connection, id, MatchResult { round, verdict });
            }
            _ => self.send(connection, id, Done {}),
        }
    }

    fn attach_applied(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        attach: &Attach,
        reply: Reply,
    ) {
        let member = (attach.caller.peer, attach.caller.link);
        let Some(session) = self.session(connection) else {
            // Closed meanwhile: the reservation is kept as after any lost connection.
            if let Reply::Joined { room, seated } = reply {
                self.join_copy(now, connection, id, member, *room, seated);
            }
            return;
        };
        if matches!(session.stage, Stage::Greeting(_)) {
            return self.attached(now, connection, member, reply);
        }
        match self.connections.get_mut(connection).and_then(super::Connection::end_take_over) {
            Some(then) => {
                self.taken_over(now, connection, id, member, then, reply);
                self.handle_waiting(now, connection);
            }
            None => self.attached_again(now, connection, member, reply),
        }
    }

    /// Takes a searching player's rating from storage, if there is one.
    pub(super) fn rated(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        answer: Result<ServerMessage, Rejection>,
    ) {
        match answer {
            Ok(ServerMessage::MyStats(mine)) => {
                self.searches.set_rating(connection, mine.rating);
                self.ask_for_others(now, connection);
            }
            Ok(_) => {}
            Err(refusal) => {
                if let Some(id) = self.searches.remove(connection) {
                    self.refuse(now, connection, id, refusal);
                }
            }
        }
    }

    /// Handles a reply to a search. If the search has ended, the directory knows and takes back
    /// what it found.
    fn searched(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        find: &command::Find,
        reply: Reply,
    ) {
        if !self.searches.is_of(connection, id) {
            return;
        }
        match reply {
            Reply::Searching { waiting } => {
                let told = self.searches.wait(now, connection, waiting, &self.rules.search);
                told.into_iter().for_each(|told| self.send(connection, id, told));
            }
            Reply::Joined { room, seated } => {
                self.searches.remove(connection);
                self.join_copy(now, connection, id, (find.joiner.peer, find.link), *room, seated);
            }
            Reply::Rejected(refusal) => {
                self.searches.remove(connection);
                self.refuse(now, connection, id, refusal);
            }
            _ => {}
        }
    }

    /// Delivers a signal of another node to a member connected here.
    pub(super) fn deliver(&mut self, now: Micros, queue: QueueSignal) {
        let copy = self.rooms.get(queue.room);
        match copy.and_then(|copy| copy.local(queue.to)) {
            Some(target) => self.send_signal(now, target, queue.signal.from, queue.signal.data),
            // Disconnected a moment ago: queued like all signals for members that are away.
            None if copy.is_none_or(|copy| copy.link_of(queue.to).is_none()) => self.append(None, queue),
            None => {}
        }
    }

    pub(super) fn send_signal(&mut self, now: Micros, target: ConnectionId, from: PeerId, data: RawJson) {
        let Some(session) = self.connections.session_mut(target) else { return };
        let n = session.signals.number();
        let data = self.outbox.send_signal(target, from, n, data);
        session.signals.remember(now, from, data);
    }

    /// The reservation is kept for another connection: this one loses it and does not speak for the
    /// peer.
    fn stepped_out(&mut self, connection: ConnectionId, id: Option<u64>, room: RoomId) {
        let Some(session) = self.session_mut(connection) else { return };
        let peer = session.peer;
        let was_in_room = session.room == Some(room);
        if was_in_room {
            self.leave_copy(connection, peer);
        } else {
            self.rooms.remove_local(room, peer, connection);
        }
        self.connections.remove_speaker(peer, connection);
        self.send(connection, id, Done {});
    }

    /// Removes a peer from the local copy of its room, with a message and an audit record.
    fn leave_copy(&mut self, connection: ConnectionId, peer: PeerId) {
        let Some(room) = self.session_mut(connection).and_then(|session| session.room.take()) else { return };
        self.rooms.remove_local(room, peer, connection);
        self.note_in(connection, Some(room), AuditEvent::Left(LeaveReason::Left));
        self.send(connection, None, Removed { room, reason: LeaveReason::Left });
    }

    fn attached(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        (peer, link): (PeerId, Attachment),
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
                let unseen = self.join_copy(now, connection, None, (peer, link), *room, seated);
                self.send_unseen(now, connection, seen.unwrap_or(0), unseen);
                self.end_procedure(connection);
                self.handle_waiting(now, connection);
            }
            Reply::Elsewhere { link: current, code } => self.probe_other_node(now, connection, current, code),
            Reply::Rejected(refusal) => {
                // The directory is unreachable: no client can be admitted.
                self.disconnect(now, connection, refusal);
            }
            reply => {
                // An invalid ticket is reported; the client is welcomed all the same.
                if let Reply::NotInRoom { why: Some(refusal) } = reply {
                    self.refuse(now, connection, None, refusal);
                }
                self.welcome(now, connection, MembershipState::None, None);
            }
        }
    }

    /// Adds a peer to the copy of a room and sends it the room. Returns the signals queued for it.
    pub(super) fn join_copy(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        (peer, link): (PeerId, Attachment),
        room: RoomCopy,
        seated: JoinedReply,
    ) -> Vec<QueuedSignal> {
        let JoinedReply { created, returned, reused_slots, mail, .. } = seated;
        let room_id = room.view.id;
        let is_current = self.session(connection).is_some_and(|session| session.link == link);
        if !is_current {
            // Closed while the directory was asked: the reservation is kept as after any lost
            // connection.
            self.append(None, Detach { room: room_id, peer, link, next_signal: 1, got: None, mail });
            return Vec::new();
        }
        self.connections.set_speaker(peer, connection);
        // A peer that switched has left its old room, whether or not that change has arrived here.
        if self.session(connection).is_some_and(|session| session.room != Some(room_id)) {
            self.leave_copy(connection, peer);
        }
        let passed = self.rooms.absorb(now, room);
        self.pass_on(now, passed);
        let Some(view) = self.rooms.add_local(room_id, peer, connection).cloned() else {
            // The removal is known here already and was not passed on to this connection.
            if returned {
                self.send(connection, None, Removed { room: room_id, reason: LeaveReason::Closed });
            }
            if id.is_some() {
                let text = "the reservation was lost again at once; try again";
                self.refuse(now, connection, id, Rejection::new(RejectionCode::NotInRoom, text));
            }
            return Vec::new();
        };
        if let Some(session) = self.session_mut(connection) {
            session.room = Some(room_id);
        }
        self.outbox.count(|stats| {
            stats.rooms_created += u64::from(created);
            *(if returned { &mut stats.returned } else { &mut stats.joined }) += 1;
        });
        self.note(connection, AuditEvent::Joined { created, returned });
        self.tell_joined(now, connection, id, view, (created, returned), reused_slots);
        // Early changes may apply to the copy now.
        let early = self.rooms.take_early(room_id);
        self.pass_on(now, early);
        self.rooms.drop_unused(room_id);
        mail
    }

    /// Handles the directory's notice of a change in a room.
    pub(super) fn room_changed(&mut self, now: Micros, room: RoomId, version: u64, step: Step) {
        if let Some(passed) = self.rooms.change(now, room, version, step) {
            self.pass_on(now, Some(passed));
            self.rooms.drop_unused(room);
        }
    }

    /// Takes a whole room, or its absence.
    pub(super) fn looked(&mut self, now: Micros, room: RoomId, copy: Option<RoomCopy>) {
        if let Some(copy) = copy {
            self.rooms.has_whole(room, copy.view.version);
            let passed = self.rooms.absorb(now, copy);
            self.pass_on(now, passed);
            self.rooms.drop_unused(room);
            return;
        }
        for connection in self.rooms.remove(room) {
            self.note(connection, AuditEvent::Left(LeaveReason::Closed));
            self.leave_room(connection, room, LeaveReason::Closed);
        }
    }

    /// Sends members here an applied change and those that waited for it.
    fn pass_on(&mut self, now: Micros, mut passed: Option<Passed>) {
        while let Some(Passed { room, members, change, gone, hosts, changes_tickets }) = passed {
            if !change.events.is_empty() {
                self.outbox.send_all(members.iter().copied(), change);
            }
            for (connection, reason) in gone {
                self.note_in(connection, Some(room), AuditEvent::Left(reason));
                self.leave_room(connection, room, reason);
            }
            hosts.into_iter().for_each(|connection| self.note(connection, AuditEvent::BecameHost));
            if changes_tickets {
                members.iter().for_each(|connection| self.send_ticket(now, *connection, None));
            }
            passed = self.rooms.take_early(room);
        }
    }

    /// Tells a connection that it has left a room.
    fn leave_room(&mut self, connection: ConnectionId, room: RoomId, reason: LeaveReason) {
        if let Some(session) = self.session_mut(connection).filter(|session| session.room == Some(room)) {
            session.room = None;
        }
        self.send(connection, None, Removed { room, reason });
    }

    /// Sends a member a fresh ticket.
    pub(super) fn send_ticket(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) {
        let Some(session) = self.session(connection) else { return };
        let Some(view) = session.room.and_then(|room| self.room(room)) else { return };
        let Some(member) = view.member(session.peer) else { return };
        let (ticket, expires) = self.ticket_for(now, view, member);
        self.send(connection, id, TicketRenewed { ticket, expires });
    }

    /// A ticket for a member of a room, with its expiry.
    fn ticket_for(&self, now: Micros, view: &RoomView, member: &Member) -> (String, u64) {
        let claims = Claims::of_member(now, self.rules.ticket_ttl, view, member);
        (self.signer.sign(&claims), claims.expires)
    }

    /// Sends a peer its reservation and room.
    pub(super) fn tell_joined(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        room: RoomView,
        (created, returned): (bool, bool),
        reused_slots: Vec<Slot>,
    ) {
        let Some(peer) = self.session(connection).map(|session| session.peer) else { return };
        let Some(member) = room.member(peer) else { return };
        let (slot, player) = (member.slot, member.player);
        let (ticket, expires) = self.ticket_for(now, &room, member);
        let (ice, relay) = (self.ice.servers(now, player), self.ice.relay());
        let seated =
            JoinedRoom { created, returned, peer, slot, reused_slots, ticket, expires, room, ice, relay };
        self.send(connection, id, seated);
    }

    /// Sends unacknowledged signals of the previous connection, then the queued ones.
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

    fn taken_over(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        (peer, link): (PeerId, Attachment),
        then: Option<Box<Entering>>,
        reply: Reply,
    ) {
        match reply {
            Reply::Elsewhere { .. } => {
                let text = "you are playing on another device; take over here or close it there";
                self.refuse(now, connection, id, Rejection::new(RejectionCode::AlreadyPlaying, text));
            }
            Reply::Rejected(refusal) => self.refuse(now, connection, id, refusal),
            reply => {
                // Another connection without a reservation may still speak for the peer.
                if let Some(older) = self.connections.speaker(peer).filter(|older| *older != connection) {
                    let text = "another device of yours took over";
                    self.say_bye(older, Rejection::new(RejectionCode::Replaced, text), false);
                    self.forget_connection(now, older);
                }
                if let Some(session) = self.session_mut(connection) {
                    session.stage = Stage::Home;
                    self.connections.set_speaker(peer, connection);
                }
                match (reply, then) {
                    (Reply::Joined { room, seated }, _) => {
                        let mail = self.join_copy(now, connection, id, (peer, link), *room, seated);
                        self.send_unseen(now, connection, 0, mail);
                    }
                    (_, Some(then)) => self.enter(now, connection, id, *then),
                    (_, None) => self.send(connection, id, Done {}),
                }
            }
        }
    }

    /// The lease had expired: starts a new epoch and requests all reservations again.
    fn leased(&mut self, now: Micros, reply: &Reply) {
        match reply {
            Reply::LeaseExpired => {
                self.lease.restart();
                self.renew_lease(now);
            }
            Reply::LeaseStarted if self.lease.epoch() > 1 => self.attach_all_again(),
            _ => {}
        }
    }

    fn attach_all_again(&mut self) {
        let connections: Vec<ConnectionId> = self.connections.ids().collect();
        let epoch = self.lease.epoch();
        for connection in connections {
            let Some(session) = self.session_mut(connection) else { continue };
            session.link.epoch = epoch;
            if let Some(room) = session.room {
                let (peer, attach) = (session.peer, session.attach(Displace::Never));
                self.rooms.remove_local(room, peer, connection);
                self.append(self.origin(connection, None), attach);
            }
        }
    }

    fn attached_again(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        member: (PeerId, Attachment),
        reply: Reply,
    ) {
        let Some(session) = self.session_mut(connection) else { return };
        let room = session.room.take();
        match reply {
            Reply::Joined { room, seated } => {
                session.signals = Signals::default();
                let mail = self.join_copy(now, connection, None, member, *room, seated);
                self.send_unseen(now, connection, 0, mail);
            }
            Reply::Elsewhere { .. } => {
                let text = "another device of yours took over";
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
