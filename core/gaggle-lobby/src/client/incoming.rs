//! Handling of server messages.
//!
//! Called by [`Client::handle_text`](super::Client::handle_text). Absent: timers, sockets.

use gaggle_kit::Micros;

use super::{Client, ClientEvent, OwnReservation, RequestId, State};
use crate::message::server::{Closing, Done, JoinedRoom, MembershipState, Rooms, Welcome};
use crate::message::{ClientMessage, Envelope, Rejection, RejectionCode, ServerMessage};
use crate::view::{LeaveReason, RoomUpdate};

/// Shortest keepalive interval in milliseconds, whatever a server asks for.
const TOUCH_MS_MIN: u64 = 500;

impl Client {
    pub(super) fn take(&mut self, now: Micros, envelope: Envelope<ServerMessage>) {
        let Envelope { id, message } = envelope;
        match message {
            ServerMessage::Welcome(welcome) => self.welcomed(now, welcome),
            ServerMessage::JoinedRoom(seated) => self.seated(now, id, seated),
            ServerMessage::Room(message) => {
                if let Some(seat) = self.seat.as_mut().filter(|seat| seat.room.id == message.room.id) {
                    let events = seat.room.changes_to(&message.room);
                    seat.room = message.room;
                    self.events.extend(events.into_iter().map(ClientEvent::RoomUpdated));
                }
            }
            ServerMessage::Change(change) => {
                let Some(seat) = &mut self.seat else { return };
                for event in change.events {
                    if let RoomUpdate::ResultDecided(result) = &event {
                        self.reports.decided(result.round);
                    }
                    seat.room.apply(&event);
                    self.events.push_back(ClientEvent::RoomUpdated(event));
                }
                seat.room.version = change.version;
            }
            ServerMessage::Removed(removed) => {
                if self.seat.as_ref().is_some_and(|seat| seat.room.id == removed.room) {
                    self.lose_seat(removed.reason);
                }
                // A promised reservation that was lost before `joined`: stops waiting for it.
                self.send_rest();
            }
            ServerMessage::SignalReceived(signal) => {
                // After a resume the server may repeat signals that were on their way.
                if signal.n > self.signals.seen {
                    self.signals.seen = signal.n;
                    self.events.push_back(ClientEvent::Signal { from: signal.from, data: signal.data });
                }
            }
            ServerMessage::TicketRenewed(ticket) => {
                self.set_ticket(now, ticket.ticket, ticket.expires);
                self.events.push_back(ClientEvent::TicketRenewed);
            }
            ServerMessage::Rooms(rooms) => {
                // Updates sent before the subscription ended are ignored.
                if self.list.subscription.is_some() {
                    self.take_rooms(rooms.clone());
                    self.events.push_back(ClientEvent::RoomListChanged);
                }
                self.answer(id, rooms.into());
            }
            ServerMessage::Refused(refused) if self.is_token_refused(&refused.code) => {
                self.go_on_as_guest(now, refused.into());
            }
            ServerMessage::Refused(refused) if self.report_refused(now, id, &refused.clone().into()) => {}
            ServerMessage::Refused(refused) => match id.and_then(|id| self.pending.take(id).map(|_| id)) {
                Some(id) => {
                    self.events
                        .push_back(ClientEvent::Rejected { request: RequestId(id), refusal: refused.into() });
                }
                // An answered request is no longer pending; a rejection without number becomes a
                // notice.
                None if id.is_none() => self.events.push_back(ClientEvent::Notice(refused.into())),
                None => {}
            },
            ServerMessage::Draining(drain) => {
                // Every client receives this at the same moment, so reconnects are spread over the
                // given time.
                let spread = drain.reconnect_ms.min(u64::from(u32::MAX)) as u32;
                let wait = Micros::from_millis(u64::from(self.prng.below(spread.max(1))));
                self.outputs.push_back(super::ClientOutput::Disconnect);
                self.go_offline(now, Some(wait));
            }
            ServerMessage::Closing(bye) => self.said_bye(now, bye),
            ServerMessage::IceServers(servers) => {
                if let Some(seat) = &mut self.seat {
                    seat.ice_servers.clone_from(&servers.servers);
                    seat.relay.clone_from(&servers.relay);
                }
                self.answer(id, servers.into());
            }
            ServerMessage::MatchResult(result) => self.reported(now, id, result),
            // Progress only; the answer is the reservation.
            ServerMessage::Searching(searching) => {
                self.events.push_back(ClientEvent::Notice(searching.into()));
            }
            message => self.answer(id, message),
        }
    }

    fn is_token_refused(&self, code: &RejectionCode) -> bool {
        self.connection.state == State::Greeting
            && *code == RejectionCode::BadToken
            && self.config.token.is_some()
    }

    fn go_on_as_guest(&mut self, now: Micros, rejection: Rejection) {
        self.config.token = None;
        self.events.push_back(ClientEvent::SignInRejected(rejection));
        self.connection.overdue_at = Some(now + self.config.response_timeout);
        let hello = self.hello();
        self.transmit(None, hello);
    }

    fn welcomed(&mut self, now: Micros, welcome: Welcome) {
        self.connection.state = State::Online;
        self.connection.attempts = 0;
        self.keepalive.interval =
            self.config.keepalive_interval.min(Micros::from_millis(welcome.touch_ms.max(TOUCH_MS_MIN)));
        self.keepalive.at = Some(now + self.keepalive.interval);
        self.clock_ahead_ms = welcome.now as i64 - now.as_millis() as i64;
        let had_resume = self.resume.replace(welcome.resume).is_some();
        if welcome.key.is_some() {
            self.config.guest_key.clone_from(&welcome.key);
        }
        self.identity = Some((welcome.player, welcome.peer));
        self.events.push_back(ClientEvent::Connected {
            player: welcome.player,
            peer: welcome.peer,
            key: welcome.key,
            name: welcome.name,
            signed_in: self.config.token.is_some(),
        });
        self.sign_in_url = welcome.sign_in;
        let seen = welcome.got.unwrap_or(0);
        if welcome.resumed {
            let unseen: Vec<_> =
                self.signals.kept.iter().filter(|signal| signal.n > Some(seen)).cloned().collect();
            unseen.into_iter().for_each(|signal| self.transmit(None, signal.into()));
        } else {
            self.signals.seen = 0;
            self.signals.sent = 0;
            self.signals.kept.clear();
            if had_resume && self.seat.is_some() {
                self.events.push_back(ClientEvent::SignalsLost);
            }
        }
        match welcome.seat {
            // `joined` follows; the queued messages are sent then.
            MembershipState::Yours => return,
            MembershipState::None => {
                if self.seat.is_some() {
                    self.lose_seat(LeaveReason::ConnectionLost);
                }
                for request in self.pending.take_leaving() {
                    self.events.push_back(ClientEvent::Replied { request, answer: Done {}.into() });
                }
            }
            MembershipState::Elsewhere if self.wants_take_over => self.send_take_over(),
            MembershipState::Elsewhere => {
                self.events.push_back(ClientEvent::OpenedElsewhere { code: welcome.code });
            }
        }
        self.send_rest();
    }

    fn seated(&mut self, now: Micros, id: Option<u64>, seated: JoinedRoom) {
        let JoinedRoom { created, returned, slot, reused_slots, ticket, expires, room, ice, relay, .. } =
            seated;
        let changes = match self.seat.take() {
            Some(before) if before.room.id == room.id => before.room.changes_to(&room),
            Some(before) => {
                self.events
                    .push_back(ClientEvent::RoomLeft { room: before.room.id, reason: LeaveReason::Left });
                Vec::new()
            }
            None => Vec::new(),
        };
        self.reports.keep_only(Some(room.id));
        self.reports.restart(now, &self.pending);
        self.seat = Some(OwnReservation { slot, reused_slots, room, ice_servers: ice, relay });
        self.set_ticket(now, ticket, expires);
        let answered = id.filter(|id| self.pending.take(*id).is_some()).map(RequestId);
        let mut requests = if returned { self.pending.take_entering() } else { Vec::new() };
        requests.extend(answered);
        if requests.is_empty() {
            self.events.push_back(ClientEvent::RoomJoined { request: None, created, returned });
        }
        for request in requests {
            self.events.push_back(ClientEvent::RoomJoined { request: Some(request), created, returned });
        }
        self.events.extend(changes.into_iter().map(ClientEvent::RoomUpdated));
        let own = self.identity.and_then(|(_, peer)| self.room()?.member(peer));
        self.rest.is_acknowledged = own.is_some_and(|member| member.resting);
        self.say_resting();
        self.send_rest();
    }

    /// Sends messages that waited for `welcome`.
    fn send_rest(&mut self) {
        if self.connection.state != State::Online {
            return;
        }
        let unsent = self.pending.unsent();
        let is_listing =
            |envelope: &Envelope<ClientMessage>| matches!(envelope.message, ClientMessage::SubscribeRooms(_));
        if let Some(list) =
            self.list.subscription.clone().filter(|_| !unsent.iter().any(is_listing) && self.list.is_lost)
        {
            self.transmit(None, list.into());
        }
        self.list.is_lost = false;
        unsent.into_iter().for_each(|envelope| self.transmit_envelope(&envelope));
    }

    fn set_ticket(&mut self, now: Micros, ticket: String, expires: u64) {
        self.ticket = Some(ticket);
        let left = expires.saturating_sub(self.server_unix_seconds(now));
        self.renew_at = Some(now + Micros::from_secs(left / 2));
    }

    pub(super) fn lose_seat(&mut self, reason: LeaveReason) {
        self.ticket = None;
        self.config.ticket = None;
        self.renew_at = None;
        self.reports.keep_only(None);
        if let Some(seat) = self.seat.take() {
            self.events.push_back(ClientEvent::RoomLeft { room: seat.room.id, reason });
        }
    }

    fn take_rooms(&mut self, rooms: Rooms) {
        if rooms.whole {
            self.list.rooms.clear();
        }
        rooms.gone.iter().for_each(|room| drop(self.list.rooms.remove(room)));
        rooms.rooms.into_iter().for_each(|listing| drop(self.list.rooms.insert(listing.id, listing)));
    }

    fn said_bye(&mut self, now: Micros, bye: Closing) {
        let Closing { code, text, reconnect } = bye;
        if reconnect {
            self.outputs.push_back(super::ClientOutput::Disconnect);
            self.go_offline(now, None);
            return;
        }
        self.close();
        self.events.push_back(ClientEvent::Closed(Rejection::new(code, text)));
    }

    fn answer(&mut self, id: Option<u64>, answer: ServerMessage) {
        match id {
            Some(id) => {
                if self.pending.take(id).is_some() {
                    self.events.push_back(ClientEvent::Replied { request: RequestId(id), answer });
                }
            }
            // The game needs no event for answers to own keepalives and to list updates.
            None if matches!(answer, ServerMessage::Done(_) | ServerMessage::Rooms(_)) => {}
            None => self.events.push_back(ClientEvent::Notice(answer)),
        }
    }
}
